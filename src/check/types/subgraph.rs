//! A subgraph's call: what is passed to its `in` fields and what comes back from its `out` fields.

use std::collections::HashSet;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::base::name::{closest, list};
use crate::diag::{Diagnostic, Fact, Home, codes};
use crate::expr::Type;
use crate::expr::infer::{Taker, assignable};
use crate::ir::{FieldId, FieldMode};
use crate::resolve::program::{Binding, Field, Graph, Node, Pass, Work};

use super::cx::Cx;
use super::flow_state::begins_set;
use super::write::takes;

impl Cx<'_> {
    /// `with` values against the `in` fields, fields that pass by name, and what comes back.
    pub(super) fn subgraph(&mut self, node: &Node) {
        let Work::Subgraph {
            graph: Some(child),
            name,
            with,
            into,
            ..
        } = &node.work
        else {
            self.declare("result", Type::Error);
            return;
        };
        let (Some(called), Some(caller)) = (self.program.graphs.get(*child), self.graph) else {
            return;
        };
        for pass in with {
            let field = pass.to.and_then(|id| called.fields.get(id));
            match field {
                Some(field) => {
                    let taker = Taker::named(&field.name);
                    let ty = takes(self.program, field, false);
                    self.written(&pass.value, Some(&ty), Some(taker))
                }
                None => self.infer_with_effects(&pass.value, None),
            };
        }
        self.pass_by_name(name, called, with);
        for binding in into {
            self.binding(called, binding);
        }
        self.back_by_name(name, called, into);
        for (id, always) in self.given_back.clone() {
            if let Some(field) = caller.fields.get(id) {
                self.disturb(id, field);
                if always {
                    self.facts.has_value(id);
                }
            }
        }
        self.declare("result", Type::Record(called.result));
    }

    /// Reports an `in` field for which the caller has one of nearly its name.
    fn nearly_given(&mut self, name: &Name, (called, field): (&Graph, &Field), near: &str) {
        let Some(caller) = self.graph else { return };
        let own = &field.name.node;
        let message = format!(
            "`{}` needs `{own}`, which nothing gives it",
            called.name.node
        );
        let mut found = Diagnostic::new(&codes::WRONG_BINDING, message, name.span)
            .unknown(own, Home::State(Some(caller.name.span)))
            .near(Some(near))
            .about(field.name.span)
            .label(field.name.span, "an `in` field without a default")
            .help(format!(
                "`{}` has `{near}`: name both alike, or give it in `with {{ {own}: state.{near} }}`",
                caller.name.node
            ));
        let fields = caller.field(near).and_then(|id| caller.fields.get(id));
        if let Some(other) = fields {
            found = found.label(other.name.span, "what the caller has");
        }
        self.report(found);
    }

    /// `in` fields that `with` doesn't name take the caller's field of the same name.
    fn pass_by_name(&mut self, name: &Name, called: &Graph, with: &[Pass]) {
        let Some(caller) = self.graph else { return };
        let mut missing = Vec::new();
        let names: HashSet<&str> = with.iter().map(|pass| &*pass.name.node).collect();
        let given = |field: &str| names.contains(field);
        let misspelt: HashSet<&str> = with.iter().filter_map(|p| misspelt(p, called)).collect();
        for field in called
            .fields
            .iter()
            .filter(|f| f.mode.is_in() && !given(&f.name.node))
        {
            match caller.field(&field.name.node) {
                Some(_) if misspelt.contains(&*field.name.node) => {}
                Some(id) => {
                    let state = Expr {
                        kind: ExprKind::Ident("state".to_owned()),
                        span: name.span,
                    };
                    let read = Expr {
                        kind: ExprKind::Select {
                            operand: Box::new(state),
                            field: Name::new(field.name.node.clone(), name.span),
                            optional: false,
                        },
                        span: name.span,
                    };
                    // An `in` field with a value of its own to begin with may be passed before the caller has one.
                    if caller.fields.get(id).is_some_and(begins_set) || field.default.is_none() {
                        self.passed(&read, id, field);
                    }
                }
                // A name in `with` that is none, which is reported, was likely meant for it.
                None if misspelt.contains(&*field.name.node) => {}
                None if field.default.is_none() && !field.ty.node.admits_null() => {
                    missing.push(field);
                }
                None => {}
            }
        }
        // A value under another name is likely what is missing.
        let strange = with.iter().filter(|pass| pass.to.is_none()).count();
        let slips = missing.len();
        let near = |field: &Field| {
            let known = caller.fields.iter().map(|own| own.name.node.as_str());
            closest(&field.name.node, known).map(str::to_owned)
        };
        if missing.len() > strange {
            // What the caller has under nearly that name is a slip of its own.
            missing.retain(|field| match near(field) {
                Some(near) => {
                    self.nearly_given(name, (called, field), &near);
                    false
                }
                None => true,
            });
        }
        if !missing.is_empty() && slips > strange {
            let names = list(missing.iter().map(|f| f.name.node.as_str()));
            let first = missing.first().map_or("", |f| f.name.node.as_str());
            let mut found = Diagnostic::new(
                &codes::WRONG_BINDING,
                format!(
                    "`{}` needs {names}, which nothing gives it",
                    called.name.node
                ),
                name.span,
            )
            .help(format!(
                "give it in `with {{ {first}: .. }}`, or declare a field of that name in `{}`",
                caller.name.node
            ));
            if let [only] = missing.as_slice() {
                let home = Home::State(Some(caller.name.span));
                found = found.unknown(&only.name.node, home).about(only.name.span);
            }
            for field in missing {
                found = found.label(field.name.span, "an `in` field without a default");
            }
            self.report(found);
        }
    }

    fn passed(&mut self, read: &Expr, from: FieldId, to: &Field) {
        let Some(caller) = self.graph else { return };
        let found = self.infer(read, None);
        let ty = takes(self.program, to, false);
        if assignable(&found, &ty, &self.program.types) {
            return;
        }
        let Some(field) = caller.fields.get(from) else {
            return;
        };
        let message = format!(
            "`{}` passes by name, but is {} here and {} there",
            to.name.node,
            self.show(&found),
            self.show(&ty)
        );
        self.report(
            Diagnostic::new(&codes::WRONG_BINDING, message, read.span)
                .label(field.ty.span, "passed from here")
                .label(to.ty.span, "taken here")
                .fact(Fact::Refused {
                    by: Home::Takes(to.name.span),
                    name: Taker::named(&to.name).what,
                    found: self.program.types.show(&found).to_string(),
                })
                .help(format!("give it in `with {{ {}: .. }}`", to.name.node)),
        );
    }

    fn binding(&mut self, called: &Graph, binding: &Binding) {
        let Some(caller) = self.graph else { return };
        let from = binding.from.and_then(|id| called.fields.get(id));
        let to = binding.to.and_then(|id| caller.fields.get(id));
        if let (Some(from), Some(to)) = (from, to) {
            self.comes_back(&binding.to_name, called, from, to);
        }
    }

    /// `out` fields that `into` doesn't name go to the caller's field of the same name, where there is one.
    fn back_by_name(&mut self, name: &Name, called: &Graph, into: &[Binding]) {
        let Some(caller) = self.graph else { return };
        let names: HashSet<&str> = into.iter().map(|b| &*b.from_name.node).collect();
        let bound = |field: &str| names.contains(field);
        for field in called
            .fields
            .iter()
            .filter(|f| f.mode.is_out() && !bound(&f.name.node))
        {
            if let Some(to) = caller
                .field(&field.name.node)
                .and_then(|id| caller.fields.get(id))
                .filter(|to| !self.told_in(field, to))
            {
                self.comes_back(name, called, field, to);
            }
        }
    }

    /// Whether a field that goes in by name is reported already: its type is another one.
    fn told_in(&self, field: &Field, own: &Field) -> bool {
        let mut found = self.diags.iter();
        field.mode.is_in()
            && found.any(|found| {
                let mut places = found.labels.iter().map(|label| label.span);
                found.code == &codes::WRONG_BINDING
                    && places.clone().any(|at| at == field.ty.span)
                    && places.any(|at| at == own.ty.span)
            })
    }

    fn comes_back(&mut self, at: &Name, called: &Graph, from: &Field, to: &Field) {
        let takes = self.takes(to, false);
        if to.mode == FieldMode::In {
            let message = format!(
                "`{}` gives back `{}`, but `{}` is an `in` field and can only be read here",
                called.name.node, from.name.node, to.name.node
            );
            self.report(
                Diagnostic::new(&codes::READ_ONLY_FIELD, message, at.span)
                    .label(to.name.span, "declared `in`")
                    .label(from.name.span, "given back by the subgraph")
                    .help(format!(
                        "declare it `in out {}`, or bind it in `into` to another field",
                        to.name.node
                    )),
            );
        } else if !assignable(&from.ty.node, &takes, &self.program.types) {
            let message = format!(
                "`{}` gives back `{}` as {}, but `{}` takes {}",
                called.name.node,
                from.name.node,
                self.show(&from.ty.node),
                to.name.node,
                self.show(&takes)
            );
            self.report(
                Diagnostic::new(&codes::WRONG_BINDING, message, at.span)
                    .label(from.ty.span, "given back from here")
                    .label(to.ty.span, "taken here")
                    .help("bind it in `into` to a field that takes it"),
            );
        }
    }
}

/// The `in` field that a name of `with` which is none was likely meant for.
fn misspelt<'a>(pass: &Pass, called: &'a Graph) -> Option<&'a str> {
    let fields = called.fields.iter().filter(|field| field.mode.is_in());
    let names = fields.map(|field| field.name.node.as_str());
    match pass.to {
        Some(_) => None,
        None => closest(&pass.name.node, names),
    }
}
