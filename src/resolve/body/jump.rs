//! Routes, jumps, targets, and the writes and events that go with them.

use thin_vec::ThinVec;

use crate::ast::Name;
use crate::ast::node::{Emit as WrittenEmit, Jumps, SetItem as WrittenSet};
use crate::ast::target::{Jump as WrittenJump, Target as WrittenTarget, TargetKind as Written};
use crate::base::name::closest;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Home, codes};
use crate::ir::{FieldId, NodeId};

use super::super::Resolver;
use super::super::names::{Thing, Wanted};
use super::super::target::{Arm, Each, Emit, Jump, Route, SetItem, Target, TargetKind};
use super::Inside;

impl Resolver<'_> {
    /// One jump, or arms.
    pub(super) fn route(&mut self, inside: &Inside, jumps: &Jumps) -> Route {
        match jumps {
            Jumps::Always(jump) => Route::Always(self.jump(inside, jump)),
            Jumps::Arms(arms, span) => {
                let arms = arms.iter().map(|arm| Arm {
                    when: arm.when.as_ref().map(|e| self.expr(inside.file, e)),
                    jump: self.jump(inside, &arm.jump),
                    span: arm.span,
                });
                Route::Arms(arms.collect(), *span)
            }
        }
    }

    /// Targets with their update.
    pub(super) fn jump(&mut self, inside: &Inside, jump: &WrittenJump) -> Jump {
        let to = self.targets(inside, &jump.target);
        self.no_update_behind_then(jump);
        let set = self.set(inside, &jump.set);
        let emits: ThinVec<Emit> = jump
            .emits
            .iter()
            .map(|e| self.emit(inside.file, e))
            .collect();
        self.no_emit_on_start(&emits, "a jump");
        Jump {
            to,
            set,
            emits,
            span: jump.span,
        }
    }

    /// The targets, lists made flat. An empty list is reported.
    pub(super) fn targets(&mut self, inside: &Inside, target: &WrittenTarget) -> ThinVec<Target> {
        // Nearly always it is one.
        let mut to = ThinVec::with_capacity(1);
        self.add_targets(inside, target, &mut to);
        if to.is_empty() {
            self.bad_value("a jump to nowhere, expected a target".into(), target.span);
            to.push(Target {
                kind: TargetKind::Unknown,
                span: target.span,
            });
        }
        to
    }

    fn add_targets(&mut self, inside: &Inside, target: &WrittenTarget, to: &mut ThinVec<Target>) {
        let span = target.span;
        let kind = match &target.kind {
            Written::Node(name) => {
                let name = Name::new(name.clone(), span);
                let doubled = |node: &NodeId| to.iter().any(|t| t.node() == Some(*node));
                match self.node_named(inside, &name) {
                    // What a misspelt name was meant for beside the node itself is another one.
                    Some(node) if inside.nodes.contains_key(&name.node) || !doubled(&node) => {
                        TargetKind::Node(node)
                    }
                    _ => TargetKind::Unknown,
                }
            }
            Written::End => TargetKind::End,
            Written::Fail(message) => {
                let message = message.as_ref().map(|e| self.expr(inside.file, e));
                TargetKind::Fail(message.map(Box::new))
            }
            Written::All(targets) => {
                targets.iter().for_each(|t| self.add_targets(inside, t, to));
                return;
            }
            Written::Computed(expr) => TargetKind::Computed(Box::new(self.expr(inside.file, expr))),
            Written::Each(each) => {
                self.check_local_name(&each.var);
                TargetKind::Each(Box::new(Each {
                    var: each.var.clone(),
                    items: self.expr(inside.file, &each.items),
                    worker: self.node_named(inside, &each.worker),
                    worker_span: each.worker.span,
                    with: self.named(inside.file, &each.with),
                    then: each.then.as_ref().map(|then| {
                        self.then(then, |this, name| match this.node_named(inside, &name) {
                            Some(node) => TargetKind::Node(node),
                            None => TargetKind::Unknown,
                        })
                    }),
                }))
            }
            Written::Parent(name) => TargetKind::Parent(name.clone()),
        };
        to.push(Target { kind, span });
    }

    /// The node that a target names; reported where there is none, and then the one that it was likely meant to name.
    pub(super) fn node_named(&mut self, inside: &Inside, name: &Name) -> Option<NodeId> {
        if let Some(node) = inside.nodes.get(&name.node) {
            return Some(*node);
        }
        if self.is_lost(inside.file, &name.node) || self.is_torn(name) {
            return None;
        }
        let message = match name.node.as_str() {
            "start" => "`start` is where a graph begins, nothing goes there".to_owned(),
            other => format!("`{}` has no node `{other}`", inside.name),
        };
        let near = || inside.nodes.keys().map(String::as_str);
        let near: Vec<&str> = near().chain(["end", "fail"]).collect();
        let diagnostic = Diagnostic::new(&codes::UNKNOWN_TARGET, message, name.span)
            .unknown(&name.node, Home::Nodes(None));
        self.diags.push(match self.elsewhere(inside, name) {
            Some(help) => diagnostic.help(help),
            None => {
                let declare = format!("declare it: `node {}: ..`; there is", name.node);
                diagnostic.meant(name.span, &name.node, near, &declare)
            }
        });
        self.program.graphs[inside.graph].broken = true;
        let meant = closest(&name.node, inside.nodes.keys().map(String::as_str));
        meant.and_then(|meant| inside.nodes.get(meant).copied())
    }

    /// A help for the name of something that is no node of this graph: a graph.
    fn elsewhere(&self, inside: &Inside, name: &Name) -> Option<String> {
        if name.node == "start" {
            return Some("name the node that `start` leads to".to_owned());
        }
        let leaves = &self.program.graphs[inside.graph].leaves;
        if leaves.iter().any(|left| left.node == name.node) {
            return Some(format!(
                "the graph leaves by that name: write `parent.{}`",
                name.node
            ));
        }
        let names = self.names.get(inside.file.0 as usize)?;
        match names.get(&name.node)?.thing {
            Thing::Graph(_) | Thing::Instance(_) => Some(format!(
                "a graph is run by a node: `node {}: subgraph {}`",
                name.node.to_lowercase(),
                name.node,
            )),
            _ => None,
        }
    }

    /// Writes of a `set` block.
    pub(super) fn set(&mut self, inside: &Inside, set: &[WrittenSet]) -> ThinVec<SetItem> {
        let mut items: ThinVec<SetItem> = ThinVec::with_capacity(set.len());
        for item in set {
            let value = self.expr(inside.file, &item.value);
            let first = items
                .iter()
                .find(|known| known.name.node == item.field.node);
            if let Some(first) = first.map(|first| first.name.clone()) {
                self.twice("field", &first, &item.field);
                continue;
            }
            let field = self.field_named(inside, &item.field);
            let near = match field {
                Some(_) => None,
                None => closest(&item.field.node, inside.fields.keys().map(String::as_str)),
            };
            items.push(SetItem {
                field,
                near: near.and_then(|near| inside.fields.get(near).copied()),
                name: item.field.clone(),
                replace: item.replace,
                value,
            });
        }
        items
    }

    /// The field of this graph's state; reported where there is none.
    pub(super) fn field_named(&mut self, inside: &Inside, name: &Name) -> Option<FieldId> {
        if let Some(field) = inside.fields.get(&name.node) {
            return Some(*field);
        }
        if self.is_lost(inside.file, &name.node) {
            return None;
        }
        let message = format!("`{}` has no field `{}`", inside.name, name.node);
        let near: Vec<&str> = inside.fields.keys().map(String::as_str).collect();
        let diagnostic = Diagnostic::new(&codes::UNKNOWN_FIELD, message, name.span)
            .unknown(&name.node, Home::State(None))
            .help(format!("declare it: `state {{ {}: .. }}`", name.node));
        self.diags.push(match closest(&name.node, near.clone()) {
            Some(_) => diagnostic.meant(name.span, &name.node, near, "its fields are"),
            None => diagnostic,
        });
        None
    }

    /// An `emit`.
    pub fn emit(&mut self, file: FileId, emit: &WrittenEmit) -> Emit {
        let event = match self.find(file, &emit.event, Wanted::Event) {
            Some(Thing::Event(event)) => Some(event),
            _ => None,
        };
        Emit {
            event,
            name: emit.event.clone(),
            fields: self.named(file, &emit.fields),
            on_start: emit.on_start,
            when: emit.when.as_ref().map(|e| self.expr(file, e)),
            span: emit.span,
        }
    }

    /// `on start` means the start of a node's work: nothing else has one.
    pub fn no_emit_on_start(&mut self, emits: &[Emit], of: &str) {
        let spans: Vec<Span> = emits
            .iter()
            .filter(|e| e.on_start)
            .map(|e| e.span)
            .collect();
        for span in spans {
            self.bad_value(format!("{of} has no start to emit on"), span);
        }
    }
}
