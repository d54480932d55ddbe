//! `digit-member`: a text that reads as a number, as one of the words a model may answer.

use crate::ast::item::{Item, TypeBody};
use crate::ast::ty::{Field, TypeExpr, TypeKind};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Type;
use crate::resolve::program::{Graph, Work};

use super::cx::{Cx, call};

/// Warns of unions of texts with a member of digits alone.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for (_, item) in cx.items() {
        match item {
            Item::Type(decl) => match &decl.body {
                TypeBody::Record(declared) => fields(declared, diags),
                TypeBody::Alias(ty) => check(ty, diags),
            },
            Item::Tool(tool) => {
                fields(&tool.params, diags);
                tool.returns.iter().for_each(|ty| check(ty, diags));
            }
            _ => {}
        }
    }
    for declared in &cx.program.graphs {
        graph(cx, declared, diags);
    }
}

fn fields(fields: &[Field], diags: &mut Diagnostics) {
    fields.iter().for_each(|field| check(&field.ty, diags));
}

/// Types that stand in graphs. One that comes of an alias is reported where the alias is declared.
fn graph(cx: &Cx<'_>, graph: &Graph, diags: &mut Diagnostics) {
    let fields = graph.fields.iter().map(|field| &field.ty);
    let nodes = graph.nodes.iter().flat_map(|node| {
        let input = node.input.iter().map(|field| &field.ty);
        let stops = node.stops.iter().filter_map(|stop| stop.expect.as_ref());
        let asked = match &node.work {
            Work::Interrupt { expect, .. } => expect.as_ref(),
            _ => call(node).and_then(|call| call.output.as_ref()),
        };
        input.chain(stops).chain(asked)
    });
    for ty in fields.chain(nodes) {
        let Some(text) = digits(&ty.node) else {
            continue;
        };
        let quoted = format!("\"{text}\"");
        if let Some(at) = cx.sources.text(ty.span).find(&quoted) {
            let start = ty.span.start as usize + at;
            let span = Span::new(ty.span.file, start, start + quoted.len());
            diags.push(finding(&text, span));
        }
    }
}

/// The first text of digits in a union.
fn digits(ty: &Type) -> Option<String> {
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        match ty {
            Type::List(of) | Type::Map(of) | Type::Nullable(of) => open.push(of),
            Type::Union(members) => {
                let found = members.iter().find_map(|member| match member {
                    Type::Literal(text) if is_number(text) => Some(text.to_string()),
                    _ => None,
                });
                if found.is_some() {
                    return found;
                }
                open.extend(members.iter());
            }
            _ => {}
        }
    }
    None
}

fn check(ty: &TypeExpr, diags: &mut Diagnostics) {
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        match &ty.kind {
            TypeKind::Generic(_, of) | TypeKind::Optional(of) => open.push(of),
            TypeKind::Union(members) => {
                open.extend(members.iter());
                union(members, diags);
            }
            TypeKind::Record(fields) => open.extend(fields.iter().map(|field| &field.ty)),
            TypeKind::Name(_) | TypeKind::Literal(_) => {}
        }
    }
}

fn union(members: &[TypeExpr], diags: &mut Diagnostics) {
    let digits = members.iter().find_map(|member| match &member.kind {
        TypeKind::Literal(text) if is_number(text) => Some((member.span, text)),
        _ => None,
    });
    if let Some((span, text)) = digits {
        diags.push(finding(text, span));
    }
}

fn finding(text: &str, span: Span) -> Diagnostic {
    let message =
        format!("`\"{text}\"` is a text that reads as a number: a model answers `{text}`");
    Diagnostic::new(&codes::DIGIT_MEMBER, message, span)
        .help("name it in a word, or take an `int` with `@min` and `@max`")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
