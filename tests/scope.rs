//! Names of a scope: slots, state, enums, records, effects; what is refused when they are compiled.

use std::sync::Arc;

use graphc::base::FileId;
use graphc::diag::Diagnostics;
use graphc::expr::eval::{Effect, Env, ErrorKind, EvalError, compile, compile_unchecked};
use graphc::expr::ty::{EnumMember, EnumType, Record, RecordField};
use graphc::expr::{Scope, Slot, Type, TypeTable};
use graphc::parse;
use graphc::value::Value;
use serde_json::json;

/// `state { count: 3, hero: null, late (no value yet) }`, `output`, `later` (no value yet).
struct World;

impl Env for World {
    fn slot(&self, slot: Slot) -> Option<Value> {
        match slot.0 {
            0 => Some(Value::from_json(
                &json!({ "reply": "hi", "handoff": "cake_man" }),
            )),
            1 => None,
            2 => Some(Value::from("dotted")),
            _ => Some(Value::from_json(&json!({ "member": "a slot's" }))),
        }
    }

    fn field(&self, index: u32) -> Option<Value> {
        match index {
            0 => Some(Value::Int(3)),
            1 => Some(Value::Null),
            _ => None,
        }
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("the clock stands".into())
    }

    fn invalidated_by(&self, index: u32) -> Result<Value, String> {
        Ok(match index {
            1 => Value::from(vec![Value::from("count")]),
            _ => Value::from(Vec::new()),
        })
    }
}

fn scope() -> Scope {
    let mut scope = Scope {
        state: Some(Arc::new(
            [
                ("count".to_owned(), Type::Int),
                ("hero".to_owned(), Type::nullable(Type::String)),
                ("late".to_owned(), Type::String),
            ]
            .into_iter()
            .collect(),
        )),
        ..Scope::default()
    };
    scope.declare("output", Type::Json);
    scope.declare("later", Type::Json);
    scope.declare("a.b", Type::String);
    scope.declare("Hidden", Type::Json);
    scope
}

fn types() -> TypeTable {
    let mut types = TypeTable::default();
    let member = |name: &str| EnumMember {
        name: name.into(),
        doc: String::new(),
        aliases: Vec::new(),
    };
    for name in ["Handoff", "Hidden"] {
        types.enums.push(EnumType {
            name: name.into(),
            doc: String::new(),
            members: vec![member("none"), member("cake_man"), member("member")],
        });
    }
    let field = |name: &str, ty: Type, default: Option<serde_json::Value>| RecordField {
        name: name.into(),
        doc: String::new(),
        ty,
        default,
        constraints: Default::default(),
    };
    types.records.push(Record {
        name: "Doc".into(),
        doc: String::new(),
        fields: vec![
            field("id", Type::String, None),
            field("score", Type::Float, Some(json!(1))),
            field("at", Type::Timestamp, Some(json!("2024-01-01T00:00:00Z"))),
            field("note", Type::nullable(Type::String), None),
        ],
        index: Default::default(),
    });
    types
}

fn eval(text: &str) -> Result<Value, EvalError> {
    let expr = parse::expression(text, FileId(0), &mut Diagnostics::default()).unwrap();
    let program = compile_unchecked(&expr, &scope(), &types()).unwrap();
    program.eval(&World)
}

#[test]
fn names_have_values() {
    let true_ones = [
        "state.count == 3",
        "state == {'count': 3, 'hero': null}",
        "state.?count.orValue(0) == 3 && !state.?late.hasValue() && !state.?hero.hasValue()",
        "has(state.count) && !has(state.hero) && !has(state.late)",
        "[1].all(state, state == 1)",
        "output.handoff == Handoff.cake_man",
        "Handoff.cake_man == 'cake_man'",
        "[{'none': 1}].all(Handoff, Handoff.none == 1)",
        "Hidden.member == \"a slot's\"",
        "a.b == 'dotted' && a.b.size() == 6",
        "later == 1 || true",
        "stale(state.hero) && !stale(state.count)",
        "invalidated_by(state.hero) == ['count']",
        "Doc { id: 'x' }.score == 1.0 && type(Doc { id: 'x', score: 2 }.score) == double",
        "Doc { id: 'x' }.at.getFullYear() == 2024",
        "Doc { id: 'x' } == {'id': 'x', 'score': 1.0, 'at': timestamp('2024-01-01T00:00:00Z'), 'note': null}",
        "Doc { ?id: optional.of('x'), ?score: optional.none() }.score == 1.0",
        "nobody || true",
    ];
    for text in true_ones {
        assert_eq!(
            eval(text).map_err(|e| e.message),
            Ok(Value::Bool(true)),
            "{text}"
        );
    }
}

#[test]
fn failures_have_kinds() {
    let cases = [
        ("later.x", ErrorKind::NoValue, "`later` has no value yet"),
        (
            "state.late",
            ErrorKind::NoValue,
            "`state.late` has no value yet",
        ),
        (
            "state.hero.size",
            ErrorKind::WrongKind,
            "`size` is read of null",
        ),
        ("output.nope", ErrorKind::NoSuchKey, "no such key: `nope`"),
        (
            "[][0]",
            ErrorKind::NoSuchIndex,
            "index 0 is out of range: the list is empty",
        ),
        ("1 / 0", ErrorKind::Arithmetic, "division by zero: `1 / 0`"),
        (
            "required(state.hero)",
            ErrorKind::Function,
            "`required`: the value is null",
        ),
    ];
    for (text, kind, message) in cases {
        let error = eval(text).unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (kind, message),
            "{text}"
        );
    }
}

#[test]
fn a_failed_effect_is_not_absorbed() {
    let mut scope = scope();
    scope.effects = true;
    let text = "now() == now() || true";
    let expr = parse::expression(text, FileId(0), &mut Diagnostics::default()).unwrap();
    let program = compile(&expr, &scope, &types()).unwrap();
    let error = program.eval(&World).unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Effect, "the clock stands")
    );
}

#[test]
fn what_is_unknown_is_refused() {
    let cases = [
        (
            "state.cout",
            "`state` has no field `cout`; did you mean `count`?",
        ),
        (
            "state.?hro",
            "`state` has no field `hro`; did you mean `hero`?",
        ),
        (
            "Handoff.cakeman",
            "enum `Handoff` has no member `cakeman`; did you mean `cake_man`?",
        ),
        ("Handoff", "`Handoff` is an enum; name one of its members"),
        (
            "Doc { id: 'x', scor: 1 }",
            "`Doc` has no field `scor`; did you mean `score`?",
        ),
        ("Doc { id: 'x', id: 'y' }", "field `id` is there twice"),
        ("Doc { score: 1.0 }", "`Doc` needs the field `id`"),
        ("Dok { id: 'x' }", "unknown type `Dok`; did you mean `Doc`?"),
        (
            "outputs.x",
            "unknown name `outputs`; did you mean `output`?",
        ),
        (
            "now()",
            "`now()` may not be called here: the value must be the same each time",
        ),
        (
            "unified_diff('a', 'b')",
            "`unified_diff` must be imported from \"std/text\"",
        ),
        ("stale(state.nope)", "`state` has no field `nope`"),
    ];
    for (text, message) in cases {
        let expr = parse::expression(text, FileId(0), &mut Diagnostics::default()).unwrap();
        let error = compile(&expr, &scope(), &types()).unwrap_err();
        assert_eq!(error.message, message, "{text}");
    }
}

/// As deep as the parser lets an expression be, on a thread with the stack of an async worker.
#[test]
fn depth_does_not_overflow_the_stack() {
    let deepest = [
        "1 + ".repeat(398) + "1",
        "[".repeat(90) + &"]".repeat(90),
        "[0].map(x, ".repeat(100) + "x" + &")".repeat(100),
        "(false && ".repeat(100) + "true" + &")".repeat(100),
        "false ? 1 : ".repeat(390) + "1",
        "!".repeat(380) + "true",
    ];
    let run = move || {
        for text in deepest {
            let mut diags = Diagnostics::default();
            let expr = parse::expression(&text, FileId(0), &mut diags);
            let expr = expr.unwrap_or_else(|| panic!("{}: {diags:?}", &text[..20]));
            let program = compile(&expr, &Scope::default(), &TypeTable::default()).unwrap();
            let _ = program.eval(&World);
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
    thread.unwrap().join().unwrap();
}
