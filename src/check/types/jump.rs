//! Routes, jumps and targets: their conditions, values and updates.

use std::collections::HashMap;

use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Home, codes};
use crate::expr::{Type, TypeTable};
use crate::resolve::program::{Jump, Node, Route, Target, TargetKind, Work};

use super::args::Callee;
use super::constant::Decides;
use super::cx::{Computed, Cx, Sent};
use super::flow_state::FlowState;
use super::route;

/// What is known behind each jump of a node, by the jump's span.
pub type JumpStates = HashMap<Span, FlowState>;

impl Cx<'_> {
    /// Types a route. Each arm knows that the conditions before it did not hold.
    pub fn route(&mut self, route: &Route, behind: &mut JumpStates) {
        let entry = self.facts.clone();
        match route {
            Route::Always(jump) => self.jump(jump, behind),
            Route::Arms(arms, span) => {
                let cases = route::Cases::of(self, arms);
                let mut sound = true;
                for (i, arm) in arms.iter().enumerate() {
                    let before = self.facts.clone();
                    if let Some(when) = &arm.when {
                        let verdict = cases.verdict(i);
                        let to = verdict.map(|_| self.leads_to(&arm.jump));
                        let decides = Decides::Arm(to.as_deref().unwrap_or_default());
                        sound &= self.judged(when, decides, verdict);
                        self.assume(when, true);
                    }
                    self.jump(&arm.jump, behind);
                    self.facts = before;
                    if let Some(when) = &arm.when {
                        self.assume(when, false);
                    }
                }
                // What its arms leave is asked of what there is before them.
                self.facts = entry.clone();
                cases.report(arms, *span, sound, self);
            }
        }
        self.facts = entry;
    }

    /// Where a jump leads, for messages.
    pub(super) fn leads_to(&self, jump: &Jump) -> String {
        let name = |target: &Target| match &target.kind {
            TargetKind::End => "end".to_owned(),
            TargetKind::Fail(_) => "fail".to_owned(),
            TargetKind::Parent(name) => format!("parent.{}", name.node),
            TargetKind::Named(name) => name.node.clone(),
            _ => {
                let nodes = self.graph.map(|graph| &graph.nodes);
                let node = target.node().and_then(|id| nodes?.get(id));
                node.map_or_else(|| "..".to_owned(), |node| node.name.node.clone())
            }
        };
        let names: Vec<String> = jump.to.iter().map(name).collect();
        list(names.iter().map(String::as_str))
    }

    /// Types a jump and notes what is known behind it; here, nothing changes.
    pub fn jump(&mut self, jump: &Jump, behind: &mut JumpStates) {
        let entry = self.facts.clone();
        for target in &jump.to {
            self.target(target);
        }
        self.set(&jump.set);
        self.emits(&jump.emits);
        let after = std::mem::replace(&mut self.facts, entry);
        behind.insert(jump.span, after);
    }

    /// Reports a node that is sent values and takes none.
    fn no_input(&mut self, worker: &Node, with: &[NamedArg], place: Span) {
        if self.graph.is_some_and(|graph| graph.broken) {
            return;
        }
        let names = || with.iter().map(|arg| arg.name.node.as_str());
        let name = &worker.name.node;
        let fields: Vec<String> = names().map(|name| format!("{name}: TYPE")).collect();
        let (why, help) = match worker.work {
            Work::Branch => (
                "a `branch` takes nothing",
                format!(
                    "make `{name}` an `update`, with `input {{ {} }}`",
                    fields.join(", ")
                ),
            ),
            _ => (
                "declares no `input`",
                format!("write `input {{ {} }}` in `{name}`", fields.join(", ")),
            ),
        };
        let message = format!("`{name}` is sent {}, but {why}", list(names()));
        self.report(
            Diagnostic::new(&codes::MISSING_PROPERTY, message, worker.name.span)
                .unknown("input", Home::Scope(None))
                .label(place, "sent from here")
                .help(help),
        );
    }

    fn target(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Fail(Some(message)) => {
                self.infer(message, Some(&Type::String));
            }
            TargetKind::Computed(name) => {
                let ty = self.infer(name, None);
                let names = self.computed_names(&ty, name.span);
                let home = match ty {
                    Type::Enum(id) => Some(Home::Enum(id.0)),
                    _ => None,
                };
                self.computed.push(Computed {
                    span: target.span,
                    names,
                    home,
                });
            }
            TargetKind::Each(each) => {
                self.unbounded_fan_out(each);
                let (with, worker_span) = (&each.with, each.name.span);
                let element = self.elements(&each.items);
                let (scope, known) = (self.scope.clone(), self.facts.known.clone());
                let lets = self.lets.clone();
                self.declare(&each.var.node, element);
                match each.worker.and_then(|id| self.graph?.nodes.get(id)) {
                    Some(worker) if worker.input.is_empty() && !with.is_empty() => {
                        for arg in with {
                            self.infer_with_effects(&arg.value, None);
                        }
                        self.no_input(worker, with, worker_span);
                    }
                    Some(worker) => {
                        // What a graph is sent that declares no `input` are its `in` fields.
                        let taker = worker.sent_to().unwrap_or(&worker.name);
                        let callee = Callee {
                            what: format!("the input of `{}`", taker.node),
                            params: &worker.input,
                            span: worker_span,
                            declared: worker.name.span,
                        };
                        self.args(&callee, with);
                    }
                    None => with.iter().for_each(|arg| {
                        self.infer(&arg.value, None);
                    }),
                }
                self.scope = scope;
                self.lets = lets;
                self.facts.known = known;
            }
            TargetKind::NamedEach(each) => {
                let element = self.elements(&each.items);
                let (scope, known) = (self.scope.clone(), self.facts.known.clone());
                self.declare(&each.var.node, element);
                let values = each.with.iter().map(|arg| {
                    let found = self.infer_with_effects(&arg.value, None);
                    (arg.name.clone(), found)
                });
                let with = values.collect();
                self.sends.push(Sent {
                    worker: each.name.clone(),
                    with,
                });
                self.scope = scope;
                self.facts.known = known;
            }
            TargetKind::Fail(None)
            | TargetKind::Node(_)
            | TargetKind::End
            | TargetKind::Parent(_)
            | TargetKind::Named(_)
            | TargetKind::Unknown => {}
        }
    }

    /// The type of the elements of an `each`'s list.
    pub(super) fn elements(&mut self, items: &Expr) -> Type {
        match self.infer(items, None) {
            Type::List(of) => (*of).clone(),
            Type::Error => Type::Error,
            other => self.not_a_list(&other, items.span),
        }
    }

    /// The names that a computed target of this type may give.
    fn computed_names(&mut self, ty: &Type, span: Span) -> Option<Vec<String>> {
        let names = texts(ty, &self.program.types);
        if names.is_none() && !matches!(ty, Type::Error) {
            let message = format!(
                "a computed target must be of an enum or of a union of texts, found {}",
                self.show(ty)
            );
            self.report(
                Diagnostic::new(&codes::COMPUTED_TARGET, message, span)
                    .help("declare an enum whose members are the nodes it may go to"),
            );
        }
        names
    }

    fn not_a_list(&mut self, found: &Type, span: Span) -> Type {
        let message = format!("`each` takes a list, found {}", self.show(found));
        let help = match found {
            Type::Map(_) => Some("name its values or keys: `.values()`, `.keys()`".to_owned()),
            Type::Nullable(_) => {
                Some("guard it, or give it a default: `xs == null ? [] : xs`".to_owned())
            }
            _ => Some("name a list, or write one: `[..]`".to_owned()),
        };
        self.report(Diagnostic::new(&codes::TYPE_MISMATCH, message, span).maybe_help(help));
        Type::Error
    }
}

/// All values of a type that has a fixed set of texts; `None` for other types.
pub fn texts(ty: &Type, types: &TypeTable) -> Option<Vec<String>> {
    match ty {
        Type::Literal(text) => Some(vec![text.to_string()]),
        Type::Enum(id) => {
            let members = &types.enums.get(*id)?.members;
            Some(members.iter().map(|m| m.name.clone()).collect())
        }
        Type::Union(members) => {
            let all: Option<Vec<Vec<String>>> = members.iter().map(|m| texts(m, types)).collect();
            Some(all?.into_iter().flatten().collect())
        }
        _ => None,
    }
}
