//! Reads that come about only where a condition in the same expression or template holds.

use crate::ast::expr::{Expr, ExprKind, LogicalOp};
use crate::ast::node::TemplateText;
use crate::base::Span;
use crate::expr::template::{self, Guards};
use crate::ir::FieldId;

use super::cx::Cx;
use super::says::Fact;

/// Most places of one expression or template that are looked at.
const PLACES: usize = 64;

impl Cx<'_> {
    /// Notes what must hold for an expression to read a field, where each of its reads is behind a condition.
    pub(super) fn says_guards(&mut self, expr: &Expr, field: FieldId) {
        if let Some(name) = self.asked_name(field) {
            self.keep_guards(guards_of(expr, &name), expr.span, field);
        }
    }

    /// The same of a template.
    pub(super) fn says_guards_of_text(&mut self, text: &TemplateText, field: FieldId) {
        if let Some(name) = self.asked_name(field) {
            self.keep_guards(guards_of_text(text, &name), text.span, field);
        }
    }

    fn asked_name(&self, field: FieldId) -> Option<String> {
        self.saying.as_ref()?;
        let lacks = self.facts.lacking.contains(&field) || self.facts.unsure.contains(&field);
        let declared = self.graph?.fields.get(field).filter(|_| lacks)?;
        Some(declared.name.node.clone())
    }

    fn keep_guards(&mut self, reads: Vec<Guards>, span: Span, field: FieldId) {
        if reads.is_empty() || reads.iter().any(Vec::is_empty) {
            return;
        }
        let mut all: Vec<Vec<Fact>> = Vec::new();
        for guards in &reads {
            let mut facts = Vec::new();
            for (condition, truth) in guards {
                let said = self.says(condition, *truth);
                // What speaks of names that a macro binds is true of one element alone.
                facts.extend(said.into_iter().filter(|fact| !fact.fields.is_empty()));
            }
            all.push(facts);
        }
        if let Some(saying) = &mut self.saying {
            saying.guarded.insert((span, field), all);
        }
    }
}

/// The conditions around each read of a field in a template; none where there are too many.
pub(super) fn guards_of_text(text: &TemplateText, field: &str) -> Vec<Guards> {
    let mut reads = template::guards(text, field);
    if reads.len() > PLACES {
        reads.clear();
    }
    reads
}

/// The conditions around each read of a field in an expression.
pub(super) fn guards_of(expr: &Expr, field: &str) -> Vec<Guards> {
    let mut found = Vec::new();
    let mut open: Vec<(&Expr, Guards)> = vec![(expr, Guards::new())];
    while let Some((expr, guards)) = open.pop() {
        if found.len() >= PLACES {
            return vec![Guards::new()];
        }
        let with = |condition: &Expr, truth: bool| {
            let mut all = guards.clone();
            all.push((condition.clone(), truth));
            all
        };
        match &expr.kind {
            ExprKind::Select {
                operand,
                field: name,
                ..
            } => {
                let is_state = matches!(&operand.kind, ExprKind::Ident(root) if root == "state");
                match is_state && name.node == field {
                    true => found.push(guards),
                    false => open.push((operand, guards)),
                }
            }
            ExprKind::Conditional(condition, yes, no) => {
                open.push((yes, with(condition, true)));
                open.push((no, with(condition, false)));
                open.push((condition, guards));
            }
            ExprKind::Logical(op, operands) => {
                let mut so_far = guards.clone();
                for operand in operands {
                    open.push((operand, so_far.clone()));
                    so_far.push((operand.clone(), *op == LogicalOp::And));
                }
            }
            _ => open.extend(parts(expr).into_iter().map(|part| (part, guards.clone()))),
        }
    }
    found
}

/// The parts of an expression that are evaluated with it.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Index { operand, index, .. } => vec![operand, index],
        ExprKind::Call { target, args, .. } => target.as_deref().into_iter().chain(args).collect(),
        ExprKind::Unary(_, operand) => vec![operand],
        ExprKind::Binary(_, left, right) => vec![left, right],
        ExprKind::List(items) => items.iter().map(|item| &item.value).collect(),
        ExprKind::Map(entries) => {
            let both = entries.iter().flat_map(|entry| [&entry.key, &entry.value]);
            both.collect()
        }
        ExprKind::Record { fields, .. } => fields.iter().map(|field| &field.value).collect(),
        _ => Vec::new(),
    }
}
