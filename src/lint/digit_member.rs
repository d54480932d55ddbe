//! `digit-member`: a text that reads as a number, as one of the words a model may answer.

use crate::ast::graph::Member;
use crate::ast::item::{Item, TypeBody};
use crate::ast::node::PropertyKind;
use crate::ast::ty::{Field, TypeExpr, TypeKind};
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::cx::Cx;

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
            Item::Graph(graph) => graph.members.iter().for_each(|m| member(m, diags)),
            _ => {}
        }
    }
}

fn fields(fields: &[Field], diags: &mut Diagnostics) {
    fields.iter().for_each(|field| check(&field.ty, diags));
}

fn member(member: &Member, diags: &mut Diagnostics) {
    match member {
        Member::State(fields, _) => fields.iter().for_each(|field| check(&field.ty, diags)),
        Member::Node(node) => {
            for property in &node.properties {
                match &property.kind {
                    PropertyKind::Output(ty) | PropertyKind::Expect(ty) => check(ty, diags),
                    PropertyKind::Input(declared) => fields(declared, diags),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn check(ty: &TypeExpr, diags: &mut Diagnostics) {
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        match &ty.kind {
            TypeKind::Generic(_, of) | TypeKind::Optional(of) => open.push(of),
            TypeKind::Union(members) => {
                open.extend(members);
                union(members, diags);
            }
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
        let message =
            format!("`\"{text}\"` is a text that reads as a number: a model answers `{text}`");
        diags.push(
            Diagnostic::new(&codes::DIGIT_MEMBER, message, span)
                .help("name it in a word, or take an `int` with `@min` and `@max`"),
        );
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
