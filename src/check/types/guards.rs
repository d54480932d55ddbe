//! Reads that come about only where a condition in the same expression or template holds.

use crate::ast::expr::{Expr, ExprKind, LogicalOp};
use crate::base::{FileId, Span};
use crate::diag::Diagnostics;
use crate::ir::FieldId;
use crate::parse;

use super::cx::Cx;
use super::says::Fact;

/// Most places of one expression or template that are looked at.
const PLACES: usize = 64;

/// Conditions, each with whether it holds.
type Guards = Vec<(Expr, bool)>;

impl Cx<'_> {
    /// Notes what must hold for an expression to read a field, where each of its reads is behind a condition.
    pub(super) fn says_guards(&mut self, expr: &Expr, field: FieldId) {
        if let Some(name) = self.asked_name(field) {
            self.keep_guards(of_expr(expr, &name), expr.span, field);
        }
    }

    /// The same of a template.
    pub(super) fn says_guards_of_text(&mut self, text: &str, span: Span, field: FieldId) {
        if let Some(name) = self.asked_name(field) {
            self.keep_guards(of_text(text, &name, span.file), span, field);
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

/// The conditions around each read of a field in an expression.
fn of_expr(expr: &Expr, field: &str) -> Vec<Guards> {
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

/// The conditions of `{% if %}` around each read of a field in a template. One that is no expression of the
/// language, but for `and`, `or` and `not`, says nothing.
fn of_text(text: &str, field: &str, file: FileId) -> Vec<Guards> {
    let mut found = Vec::new();
    // For each open `if`: what holds in its present part.
    let mut open: Vec<Vec<(String, bool)>> = Vec::new();
    let name = format!("state.{field}");
    let mut rest = text;
    while let Some(at) = rest.find(['{', 's']) {
        let here = rest.get(at..).unwrap_or_default();
        let mut taken = 1;
        if let Some(tag) = here.strip_prefix("{%") {
            let end = tag.find("%}").unwrap_or(tag.len());
            let inner = tag.get(..end).unwrap_or_default();
            statement(inner.trim_matches(['-', '+']).trim(), &mut open);
            // The condition itself is read where all around it holds, which is more than is said here.
            if reads(inner, &name) {
                found.push(Guards::new());
            }
            taken = (end + 4).min(here.len());
        } else if here.starts_with(name.as_str())
            && reads(here.get(..name.len() + 1).unwrap_or(here), &name)
        {
            let conditions = open.iter().flatten();
            let parsed =
                conditions.filter_map(|(text, truth)| Some((condition(text, file)?, *truth)));
            found.push(parsed.collect());
            taken = name.len();
        }
        rest = here.get(taken..).unwrap_or_default();
        if found.len() >= PLACES {
            return vec![Guards::new()];
        }
    }
    found
}

/// Whether a text names a field, and not a longer one.
fn reads(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let next = text
            .get(at + name.len()..)
            .and_then(|rest| rest.chars().next());
        next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })
}

fn statement(tag: &str, open: &mut Vec<Vec<(String, bool)>>) {
    let (word, rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    match word {
        "if" => open.push(vec![(rest.to_owned(), true)]),
        "elif" | "else" => {
            if let Some(part) = open.last_mut() {
                part.iter_mut().for_each(|(_, truth)| *truth = false);
                part.extend((word == "elif").then(|| (rest.to_owned(), true)));
            }
        }
        // Loops have no conditions, but an `else` of their own.
        "for" => open.push(Vec::new()),
        "endif" | "endfor" => {
            open.pop();
        }
        _ => {}
    }
}

fn condition(text: &str, file: FileId) -> Option<Expr> {
    let words = text.split_whitespace().map(|word| match word {
        "and" => "&&",
        "or" => "||",
        "not" => "!",
        "none" => "null",
        "is" => "==",
        other => other,
    });
    let text = words.collect::<Vec<_>>().join(" ").replace("== !", "!=");
    parse::expression(&text, file, &mut Diagnostics::new())
}
