//! `untyped-access` and `not-checked`: what is read out of `json`, of which nothing is known.

use std::collections::BTreeMap;

use crate::ast::expr::{Expr, ExprKind};
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Type;
use crate::resolve::exprs::of_node;
use crate::resolve::program::{Graph, Node, Work};

use super::cx::{Cx, call};

/// Notes reads two levels deep into a `json` value, and for each file how many reads of such values could not be
/// checked.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let mut unchecked: BTreeMap<FileId, Vec<Span>> = BTreeMap::new();
    for (graph, node) in cx.nodes() {
        let roots = Roots { graph, node };
        let written = of_node(node);
        for expr in written {
            let mut open = vec![expr];
            while let Some(expr) = open.pop() {
                match depth(expr, &roots) {
                    Some(depth) if depth > 0 => {
                        unchecked.entry(expr.span.file).or_default().push(expr.span);
                        if depth > 1 {
                            diags.push(deep(cx, expr.span));
                        }
                        open.extend(indices(expr));
                    }
                    _ => open.extend(expr.parts()),
                }
            }
        }
    }
    for spans in unchecked.values_mut() {
        spans.sort();
        spans.dedup();
        if let Some(first) = spans.first() {
            let (s, are) = match spans.len() {
                1 => ("", "is"),
                _ => ("s", "are"),
            };
            let message = format!(
                "{} read{s} out of `json` values {are} not checked",
                spans.len()
            );
            let finding = Diagnostic::new(&codes::NOT_CHECKED, message, *first);
            diags.push(finding.help("a declared type in place of `json` has them checked"));
        }
    }
}

fn deep(cx: &Cx<'_>, span: Span) -> Diagnostic {
    let message = format!(
        "`{}` reaches deep into a `json` value: nothing says that it is there",
        cx.sources.text(span)
    );
    Diagnostic::new(&codes::UNTYPED_ACCESS, message, span)
        .help("declare a `type` with what is needed, and take it in place of `json`")
}

/// Where a node gets `json` values from.
struct Roots<'a> {
    graph: &'a Graph,
    node: &'a Node,
}

impl Roots<'_> {
    fn is_json(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Ident(name) => self.name(name),
            ExprKind::Select { operand, field, .. } => match &operand.kind {
                ExprKind::Ident(root) if root == "state" => {
                    let field = self
                        .graph
                        .field(field)
                        .and_then(|id| self.graph.fields.get(id));
                    field.is_some_and(|field| is_json(&field.ty.node))
                }
                ExprKind::Ident(root) if root == "input" => {
                    let mut input = self.node.input.iter();
                    input.any(|param| param.name.node == field.node && is_json(&param.ty.node))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn name(&self, name: &str) -> bool {
        let own = match name {
            "output" => call(self.node).and_then(|call| call.output.as_ref()),
            "answer" => match &self.node.work {
                Work::Interrupt { expect: None, .. } => return true,
                Work::Interrupt { expect, .. } => expect.as_ref(),
                _ => None,
            },
            _ => None,
        };
        own.is_some_and(|ty| is_json(&ty.node))
    }
}

fn is_json(ty: &Type) -> bool {
    matches!(ty.without_null(), Type::Json)
}

/// How many steps lead from a `json` value to the expression.
fn depth(expr: &Expr, roots: &Roots<'_>) -> Option<usize> {
    let (mut at, mut steps) = (expr, 0);
    loop {
        if roots.is_json(at) {
            return Some(steps);
        }
        at = match &at.kind {
            ExprKind::Select { operand, .. } | ExprKind::Index { operand, .. } => operand,
            _ => return None,
        };
        steps += 1;
    }
}

/// The expressions in the brackets of a path.
fn indices(expr: &Expr) -> Vec<&Expr> {
    let (mut at, mut found) = (expr, Vec::new());
    loop {
        at = match &at.kind {
            ExprKind::Select { operand, .. } => operand,
            ExprKind::Index { operand, index, .. } => {
                found.push(&**index);
                operand
            }
            _ => return found,
        };
    }
}
