//! Routes, jumps, targets, and the writes and events that go with them.

use thin_vec::ThinVec;

use crate::ast::Name;
use crate::ast::node::{Emit as WrittenEmit, Jumps, SetItem as WrittenSet};
use crate::ast::target::{
    Each as WrittenEach, Jump as WrittenJump, Target as WrittenTarget, TargetKind as Written,
};
use crate::base::FileId;
use crate::base::name::closest;
use crate::diag::{Diagnostic, Home, codes};
use crate::ir::{FieldId, NodeId};

use super::super::Resolver;
use super::super::names::{Definition, Seen, Wanted, has_no};
use super::super::target::{Arm, Each, Emit, Jump, Route, SetItem, Target, TargetKind};
use super::Inside;

/// Where a jump is written: in a graph, whose nodes and fields it names, or in the body of a tool, where these are names alone.
#[derive(Clone, Copy)]
pub(in crate::resolve) enum At<'i> {
    Graph(&'i Inside),
    Tool(FileId),
}

impl<'i> From<&'i Inside> for At<'i> {
    fn from(inside: &'i Inside) -> Self {
        At::Graph(inside)
    }
}

impl At<'_> {
    fn file(self) -> FileId {
        match self {
            At::Graph(inside) => inside.file,
            At::Tool(file) => file,
        }
    }
}

impl Resolver<'_> {
    /// One jump, or arms.
    pub fn route<'i>(&mut self, at: impl Into<At<'i>>, jumps: &Jumps) -> Route {
        let at = at.into();
        match jumps {
            Jumps::Always(jump) => Route::Always(self.jump(at, jump)),
            Jumps::Arms(arms, span) => {
                let arms = arms.iter().map(|arm| Arm {
                    when: arm.when.as_ref().map(|e| self.expr(at.file(), e)),
                    jump: self.jump(at, &arm.jump),
                    span: arm.span,
                });
                Route::Arms(arms.collect(), *span)
            }
        }
    }

    /// Targets with their update.
    pub fn jump<'i>(&mut self, at: impl Into<At<'i>>, jump: &WrittenJump) -> Jump {
        let at = at.into();
        let to = self.targets(at, &jump.target);
        self.no_update_behind_then(jump);
        let set = self.set(at, &jump.set);
        let emits = jump.emits.iter().map(|e| self.emit(at.file(), e));
        let emits: ThinVec<Emit> = emits.collect();
        // `on start` means the start of a node's work: nothing else has one.
        for emit in emits.iter().filter(|emit| emit.on_start) {
            self.bad_value("a jump has no start to emit on".into(), emit.span);
        }
        Jump {
            to,
            set,
            emits,
            span: jump.span,
        }
    }

    /// The targets, lists made flat. An empty list is reported.
    pub(super) fn targets(&mut self, at: At, target: &WrittenTarget) -> ThinVec<Target> {
        // Nearly always it is one.
        let mut to = ThinVec::with_capacity(1);
        self.add_targets(at, target, &mut to);
        if to.is_empty() {
            self.bad_value("a jump to nowhere, expected a target".into(), target.span);
            to.push(Target {
                kind: TargetKind::Unknown,
                span: target.span,
            });
        }
        to
    }

    fn add_targets(&mut self, at: At, target: &WrittenTarget, to: &mut ThinVec<Target>) {
        let span = target.span;
        let kind = match &target.kind {
            Written::Node(name) => {
                let kind = self.target_named(at, &Name::new(name.clone(), span));
                let own = matches!(at, At::Graph(inside) if inside.nodes.contains_key(name));
                match kind {
                    // What a misspelt name was meant for beside the node itself is another one.
                    TargetKind::Node(node) if !own && to.iter().any(|t| t.node() == Some(node)) => {
                        TargetKind::Unknown
                    }
                    kind => kind,
                }
            }
            Written::End => TargetKind::End,
            Written::Fail(message) => {
                let message = message.as_ref().map(|e| self.expr(at.file(), e));
                TargetKind::Fail(message.map(Box::new))
            }
            Written::All(targets) => {
                targets.iter().for_each(|t| self.add_targets(at, t, to));
                return;
            }
            Written::Computed(expr) => TargetKind::Computed(Box::new(self.expr(at.file(), expr))),
            Written::Each(each) => self.each(at, each),
            Written::Parent(name) => TargetKind::Parent(name.clone()),
        };
        to.push(Target { kind, span });
    }

    pub fn target_named(&mut self, at: At, name: &Name) -> TargetKind {
        match at {
            At::Tool(_) => TargetKind::Named(name.clone()),
            At::Graph(inside) => match self.node_named(inside, name) {
                Some(node) => TargetKind::Node(node),
                None => TargetKind::Unknown,
            },
        }
    }

    fn each(&mut self, at: At, each: &WrittenEach) -> TargetKind {
        self.check_local_name(&each.var);
        let made = Box::new(Each {
            var: each.var.clone(),
            items: self.expr(at.file(), &each.items),
            worker: match at {
                At::Graph(inside) => self.node_named(inside, &each.worker),
                At::Tool(_) => None,
            },
            name: each.worker.clone(),
            with: self.named(at.file(), &each.with),
            then: each.then.as_ref().map(|then| self.then(at, then)),
        });
        match at {
            At::Graph(_) => TargetKind::Each(made),
            At::Tool(_) => TargetKind::NamedEach(made),
        }
    }

    /// The node that a target names; reported where there is none, and then the one that it was likely meant to name.
    pub(super) fn node_named(&mut self, inside: &Inside, name: &Name) -> Option<NodeId> {
        if let Some(node) = inside.nodes.get(&name.node) {
            return Some(*node);
        }
        if self.is_lost(inside.file, &name.node) || self.is_cut_off(name) {
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
        inside.closest_node(name)
    }

    /// Reports the name of a node that the graph has not.
    pub(super) fn no_node(&mut self, inside: &Inside, name: &Name) {
        if !self.is_lost(inside.file, &name.node) {
            let known = inside.nodes.keys().map(String::as_str);
            let found = has_no(&inside.name, "", name, Home::Nodes(None), known);
            self.diags.push(found);
        }
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
            Definition::Graph(_) | Definition::Instance(_) => Some(format!(
                "a graph is run by a node: `node {}: subgraph {}`",
                name.node.to_lowercase(),
                name.node,
            )),
            _ => None,
        }
    }

    /// Writes of a `set` block.
    pub fn set<'i>(&mut self, at: impl Into<At<'i>>, set: &[WrittenSet]) -> ThinVec<SetItem> {
        let at = at.into();
        let mut items = ThinVec::with_capacity(set.len());
        let mut seen = Seen::default();
        for item in set {
            let value = self.expr(at.file(), &item.value);
            if !self.once(&mut seen, "field", &item.field) {
                continue;
            }
            let (field, near) = match at {
                At::Tool(_) => (None, None),
                At::Graph(inside) => {
                    let field = self.field_named(inside, &item.field);
                    let near = match field {
                        Some(_) => None,
                        None => closest(&item.field.node, inside.fields.keys().map(String::as_str)),
                    };
                    (
                        field,
                        near.and_then(|near| inside.fields.get(near).copied()),
                    )
                }
            };
            items.push(SetItem {
                field,
                near,
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
        let event = self.find(file, &emit.event, Wanted::Event);
        Emit {
            event: event.and_then(|event| match event {
                Definition::Event(event) => Some(event),
                _ => None,
            }),
            name: emit.event.clone(),
            fields: self.named(file, &emit.fields),
            on_start: emit.on_start,
            when: emit.when.as_ref().map(|e| self.expr(file, e)),
            span: emit.span,
        }
    }
}

impl Inside {
    /// The node that a name was likely meant for.
    pub(super) fn closest_node(&self, name: &Name) -> Option<NodeId> {
        let near = closest(&name.node, self.nodes.keys().map(String::as_str));
        near.and_then(|near| self.nodes.get(near).copied())
    }
}
