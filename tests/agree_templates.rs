//! The check of templates and their engine agree: what the check takes of operators, filters and tests, with operands of
//! every kind, is rendered.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod declared;
mod evaluate;

use declared::{declared, type_of};
use evaluate::Bound;
use graphc::ast::node::TemplateText;
use graphc::base::{FileId, Span};
use graphc::diag::{Diagnostics, Level};
use graphc::expr::template::{Template, check, filters, tests};
use graphc::expr::{Scope, TypeTable};
use graphc::value::{Map, Value};

/// A scope with a name `k0`, `k1` .. for a value of each kind; none is empty, zero or `json`, so that only the kinds can be wrong.
fn world() -> (Scope, TypeTable, Bound) {
    let types = declared("type Doc { id: string, n: int }").types;
    let list = |items: Vec<Value>| Value::List(items.into_iter().collect());
    let doc = || {
        Value::Map(Map::from_iter([
            ("id", Value::from("d")),
            ("n", Value::Int(1)),
        ]))
    };
    let kinds = [
        ("bool", Value::Bool(true)),
        ("int", Value::Int(2)),
        ("float", Value::Float(1.5)),
        ("string", Value::from("12")),
        ("timestamp", Value::Timestamp(jiff::Timestamp::UNIX_EPOCH)),
        (
            "duration",
            Value::Duration(jiff::SignedDuration::from_secs(90)),
        ),
        ("list<int>", list(vec![Value::Int(1), Value::Int(2)])),
        (
            "list<string>",
            list(vec![Value::from("x"), Value::from("y")]),
        ),
        ("list<Doc>", list(vec![doc()])),
        (
            "map<int>",
            Value::Map(Map::from_iter([("id", Value::Int(1))])),
        ),
        ("Doc", doc()),
    ];
    let mut scope = Scope::default();
    let mut values = Vec::new();
    for (at, (ty, value)) in kinds.into_iter().enumerate() {
        scope.declare(format!("k{at}"), type_of(ty, &types));
        values.push(value);
    }
    (scope, types, Bound(values))
}

/// Why a template that the check takes is not rendered.
fn disagreement(text: &str, (scope, types, values): &(Scope, TypeTable, Bound)) -> Option<String> {
    let template = TemplateText {
        text: text.to_owned(),
        span: Span::new(FileId(0), 0, text.len()),
        anchors: vec![(0, 0)],
    };
    let mut diags = Diagnostics::new();
    check(&template, scope, types, &mut diags);
    if diags.iter().any(|found| found.level == Level::Error) {
        return None;
    }
    let rendered = Template::compile(&template, scope).and_then(|made| made.render(values));
    let error = rendered.err()?;
    let named: Vec<String> = scope
        .names
        .iter()
        .filter(|(name, _)| {
            text.split(|c: char| !c.is_alphanumeric())
                .any(|word| word == name)
        })
        .map(|(name, ty)| format!("{name}: {}", types.show(ty)))
        .collect();
    Some(format!("{text} ({}): {}", named.join(", "), error.message))
}

fn assert_none(seen: usize, least: usize, wrong: &[String]) {
    assert!(seen >= least, "only {seen} were tried");
    assert!(
        wrong.is_empty(),
        "{} of {seen}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn operators() {
    let world = world();
    let count = world.0.names.len();
    let signs = [
        "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in",
        "and", "or",
    ];
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for left in 0..count {
        for right in 0..count {
            for sign in signs {
                seen += 1;
                let text = format!("{{{{ k{left} {sign} k{right} }}}}");
                wrong.extend(disagreement(&text, &world));
            }
        }
        for text in [
            format!("{{{{ -k{left} }}}}"),
            format!("{{{{ not k{left} }}}}"),
        ] {
            wrong.extend(disagreement(&text, &world));
        }
    }
    assert_none(seen, 2_000, &wrong);
}

/// Arguments with which a filter or a test is right for some value.
fn arguments(name: &str) -> &'static [&'static str] {
    match name {
        "attr" => &["(\"id\")"],
        "batch" | "slice" => &["(2)"],
        "groupby" => &["(\"id\")"],
        "indent" => &["(2)"],
        "join" => &["", "(\", \")"],
        "map" => &["(attribute=\"n\")", "(\"string\")"],
        "replace" => &["(\"a\", \"b\")"],
        "select" | "reject" => &["", "(\"defined\")"],
        "selectattr" | "rejectattr" => &["(\"n\")"],
        "sum" => &["", "(attribute=\"n\")", "(attribute=\"id\")"],
        "sort" | "unique" | "min" | "max" => &["", "(attribute=\"n\")"],
        "zip" => &["([1, 2])"],
        "divisibleby" => &["(2)"],
        "endingwith" | "startingwith" => &["(\"a\")"],
        "filter" | "test" => &[],
        "in" => &["([1])", "(\"a\")"],
        "!=" | "<" | "<=" | "==" | ">" | ">=" | "eq" | "equalto" | "ge" | "greaterthan" | "gt"
        | "le" | "lessthan" | "lt" | "ne" | "sameas" => &["(1)", "(\"a\")"],
        _ => &[""],
    }
}

#[test]
fn filters_and_tests() {
    let world = world();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    let applied = filters().map(|name| (" | ", name));
    let asked = tests().iter().map(|name| (" is ", *name));
    let named = |name: &str| name.chars().all(char::is_alphanumeric);
    for (sign, name) in applied.chain(asked.filter(|(_, name)| named(name))) {
        for args in arguments(name) {
            for kind in 0..world.0.names.len() {
                seen += 1;
                let text = format!("{{{{ k{kind}{sign}{name}{args} }}}}");
                wrong.extend(disagreement(&text, &world));
            }
        }
    }
    assert_none(seen, 800, &wrong);
}

/// A text that is written out is filled by the filter and by the method with values of each kind, or refused by the check.
#[test]
fn formatted_texts() {
    let world = world();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for verb in "s d i f e g x o b q".split(' ') {
        for kind in 0..world.0.names.len() {
            for text in [
                format!("{{{{ '%{verb}' | format(k{kind}) }}}}"),
                format!("{{{{ '%5{verb}|%s' | format(k{kind}, k1) }}}}"),
                format!("{{{{ '%{verb} %{verb}' | format(k{kind}) }}}}"),
                format!("{{{{ '%{verb}'.format([k{kind}]) }}}}"),
            ] {
                seen += 1;
                wrong.extend(disagreement(&text, &world));
            }
        }
    }
    assert_none(seen, 400, &wrong);
}
