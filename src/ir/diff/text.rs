//! Expressions in one layout, so that another layout of the source is no change; and fields under their new names.

use std::collections::BTreeMap;

use crate::ast::expr::{Expr, ExprKind};
use crate::base::FileId;
use crate::diag::Diagnostics;
use crate::{fmt, parse};

/// An expression or a graph in one line, laid out in one way, with the fields of `state` under their new names. What is
/// neither (what a parameter takes) is without blanks that say nothing.
pub(super) fn laid_out(text: &str, fields: &BTreeMap<String, String>) -> String {
    let text = fields_renamed(text, fields);
    fmt::one_line(&text).unwrap_or_else(|| {
        let mut out = String::with_capacity(text.len());
        for part in text.split_whitespace() {
            if out.ends_with(word) && part.starts_with(word) {
                out.push(' ');
            }
            out.push_str(part);
        }
        out
    })
}

fn fields_renamed(text: &str, fields: &BTreeMap<String, String>) -> String {
    let mut out = text.to_owned();
    if fields.is_empty() {
        return out;
    }
    let read = parse::expression(text, FileId(0), &mut Diagnostics::new());
    let mut names = Vec::new();
    let mut open: Vec<&Expr> = read.iter().collect();
    while let Some(expr) = open.pop() {
        if let ExprKind::Select { operand, field, .. } = &expr.kind
            && matches!(&operand.kind, ExprKind::Ident(name) if name == "state")
            && let Some(now) = fields.get(&field.node)
        {
            names.push((field.span, now));
        }
        expr.each_part(|part| open.push(part));
    }
    names.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    for (span, now) in names {
        out.replace_range(span.start as usize..span.end as usize, now);
    }
    out
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A template with the fields of `state` under their new names.
pub(super) fn renamed(text: &str, fields: &BTreeMap<String, String>) -> String {
    const STATE: &str = "state.";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !fields.is_empty()
        && let Some(at) = rest.find(STATE)
    {
        let (ahead, behind) = rest
            .split_at_checked(at + STATE.len())
            .unwrap_or((rest, ""));
        let within = ahead.strip_suffix(STATE).unwrap_or_default();
        let whole = !within.ends_with(|c| word(c) || c == '.');
        out.push_str(ahead);
        let end = behind.find(|c| !word(c)).unwrap_or(behind.len());
        let (name, left) = behind.split_at_checked(end).unwrap_or((behind, ""));
        let now = fields.get(name).filter(|_| whole);
        out.push_str(now.map_or(name, String::as_str));
        rest = left;
    }
    out.push_str(rest);
    out
}
