//! `each` over a list that comes from outside and that nothing bounds.

use crate::ast::expr::{Expr, ExprKind};
use crate::base::AccessPath;
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::constraint::Constraints;
use crate::expr::infer::access_path;
use crate::expr::ty::RecordId;
use crate::resolve::program::{Each, Field};

use super::cx::Cx;

/// Names behind which a list stands that came from outside.
const OUTSIDE: [&str; 5] = ["output", "result", "answer", "input", "results"];

impl Cx<'_> {
    /// Notes an `each` over a list that a caller, a model, a tool or a person has made as long as they like.
    pub(super) fn unbounded_fan_out(&mut self, each: &Each) {
        let items = &each.items;
        let Some(list) = access_path(items).filter(|list| self.is_from_outside(list)) else {
            return;
        };
        let declared = match list.as_field_of("state") {
            Some(field) => self.field(field).map(|field| &field.constraints),
            None => self.declared_as(items),
        };
        if declared.is_some_and(|constraints| constraints.len.is_some()) {
            return;
        }
        let message =
            format!("as many tasks as `{list}` has elements run at once, and nothing bounds them");
        let found = Diagnostic::new(&codes::UNBOUNDED_FAN_OUT, message, items.span)
            .label(each.name.span, "one task for each");
        self.report(found.help(format!("take the first ones, `{list}.slice(0, 10)`, or bound the list where it is declared: `@len(0, 10)`")));
    }

    fn is_from_outside(&self, list: &AccessPath) -> bool {
        match list.field_of("state") {
            Some(field) => self.field(field).is_some_and(|field| field.mode.is_in()),
            None => list.root().is_some_and(|root| OUTSIDE.contains(&root)),
        }
    }

    fn field(&self, name: &str) -> Option<&Field> {
        let graph = self.graph?;
        graph.fields.get(graph.field(name)?)
    }

    /// What the field of a record asks of its values that an expression names.
    fn declared_as(&self, expr: &Expr) -> Option<&Constraints> {
        let ExprKind::Select { operand, field, .. } = &expr.kind else {
            return None;
        };
        match self.quiet(operand).without_null() {
            Type::Record(id) => self.constraints_of(id, field),
            _ => None,
        }
    }

    fn constraints_of(&self, record: RecordId, field: &str) -> Option<&Constraints> {
        let program = self.program;
        let declared = program.records.iter().find(|of| of.id == record);
        let mut declared = declared.into_iter().flat_map(|of| &of.fields);
        let declared = declared.find(|of| *of.name.node == *field);
        declared.map(|of| &of.constraints).or_else(|| {
            let called = program.graphs.iter().find(|graph| graph.result == record)?;
            Some(&called.fields.get(called.field(field)?)?.constraints)
        })
    }
}
