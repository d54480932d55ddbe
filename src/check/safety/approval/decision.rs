//! What of an answer is the decision: all of it, or the fields of a record that say yes or no.

use crate::ast::expr::{Expr, ExprKind};
use crate::expr::{Type, TypeTable};
use crate::ir::FieldId;
use crate::resolve::program::{Graph, Node, Program, Work};

use super::super::reads::Mention;
use super::answer::said_by;

/// Whether what is mentioned is the decision of one of the node's questions.
pub fn is_decision(program: &Program, node: &Node, mention: Mention<'_>) -> bool {
    let (name, part) = match mention {
        Mention::Name(name) => (name, None),
        Mention::Part(name, part) => (name, Some(part)),
        Mention::Field(_) | Mention::FieldPart(..) => return false,
    };
    questions(node).any(|(asked, expect)| {
        asked == name
            && part.is_none_or(|part| {
                let deciding = expect.map_or_else(Vec::new, |ty| deciding(&program.types, ty));
                deciding.is_empty() || deciding.contains(&part)
            })
    })
}

/// The field that is mentioned, where that reads the decision that it may hold: of a record with a field that says yes or
/// no, the other fields are none.
pub fn mentioned(program: &Program, graph: &Graph, mention: Mention<'_>) -> Option<FieldId> {
    let id = graph.field(mention.field()?)?;
    if let Mention::FieldPart(_, part) = mention {
        let field = graph.fields.get(id)?;
        let deciding = deciding(&program.types, &field.ty.node);
        if !deciding.is_empty() && !deciding.contains(&part) {
            return None;
        }
    }
    Some(id)
}

/// The names by which a node reads what a person said, with the types of the answers.
fn questions(node: &Node) -> impl Iterator<Item = (&str, Option<&Type>)> {
    let own = match &node.work {
        Work::Interrupt { expect, .. } => Some(("answer", expect.as_ref().map(|ty| &ty.node))),
        _ => None,
    };
    let stops = node.stops.iter();
    let stops = stops.map(|stop| {
        let expect = stop.expect.as_ref().map(|ty| &ty.node);
        (stop.name.node.as_str(), expect)
    });
    own.into_iter().chain(stops)
}

/// Whether a node writes the decision of its question somewhere.
pub fn keeps_answer(program: &Program, node: &Node) -> bool {
    let goto = node.goto.iter().flat_map(|goto| goto.node.jumps());
    let jumps = goto.chain(&node.edges).flat_map(|jump| &jump.set);
    let mut written = node.set.iter().chain(jumps).map(|item| &item.value);
    written.any(|value| reads_decision(program, node, value))
}

/// Whether the expression, or a `let` of the node, reads the decision of one of its questions. Of a record without a
/// field that says it, any part does.
pub fn reads_decision(program: &Program, node: &Node, expr: &Expr) -> bool {
    questions(node).any(|(name, expect)| {
        let deciding = expect.map_or_else(Vec::new, |ty| deciding(&program.types, ty));
        let lets = node.lets.iter().map(|bound| &bound.value);
        lets.chain([expr]).any(|expr| reads(expr, name, &deciding))
    })
}

fn reads(expr: &Expr, name: &str, deciding: &[&str]) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Ident(ident) if ident == name => return true,
            ExprKind::Select { operand, field, .. } if matches!(&operand.kind, ExprKind::Ident(ident) if ident == name) => {
                if deciding.is_empty() || deciding.contains(&field.node.as_str()) {
                    return true;
                }
            }
            _ => open.extend(expr.parts()),
        }
    }
    false
}

/// Fields of a record that say yes or no: truth values of such a name, and choices with such a word.
fn deciding<'t>(types: &'t TypeTable, answer: &Type) -> Vec<&'t str> {
    let Type::Record(id) = answer.without_null() else {
        return Vec::new();
    };
    let fields = types
        .records
        .get(id)
        .map_or(&[][..], |record| &record.fields);
    let says = |word: &str| said_by(word).is_some();
    let fields = fields.iter().filter(|field| match field.ty.without_null() {
        Type::Bool => says(&field.name),
        Type::Enum(id) => {
            let members = types
                .enums
                .get(id)
                .map_or(&[][..], |declared| &declared.members);
            members.iter().any(|member| says(&member.name))
        }
        Type::Union(members) => members
            .iter()
            .any(|member| matches!(member, Type::Literal(word) if says(word))),
        _ => false,
    });
    fields.map(|field| field.name.as_str()).collect()
}

/// What of an answer to a node's question decides: `answer.approved`, or its name where all of it does.
pub fn asked_for(program: &Program, node: &Node, question: &str) -> Option<String> {
    let own = match (&node.work, node.name.node == question) {
        (Work::Interrupt { .. }, true) => "answer",
        _ => question,
    };
    let (name, expect) = questions(node).find(|(name, _)| *name == own)?;
    let deciding = expect.map_or_else(Vec::new, |ty| deciding(&program.types, ty));
    Some(match deciding.first() {
        Some(part) => format!("{name}.{part}"),
        None => name.to_owned(),
    })
}
