//! Constant folding never changes the value of an expression: random well-typed expressions of parameters
//! and of names that are only known in a run are evaluated as they are and after folding.

use graphc::ast::expr::Expr;
use graphc::base::FileId;
use graphc::diag::Diagnostics;
use graphc::expr::eval::compile_unchecked;
use graphc::expr::fold::{Folded, Folder};
use graphc::expr::{Scope, Type, TypeTable};
use graphc::parse;
use graphc::value::Value;
use proptest::prelude::*;
use serde_json::json;

use crate::evaluate::Bound;

/// Numbers, some of which have no value.
fn number() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "1",
        "2",
        "-3",
        "y",
        "params.n",
        "params.n + y",
        "y / 0",
        "1 / 0",
        "[1, 2][y]",
        "size([])",
        "size(params.xs)",
        "params.xs[y]",
        "params.missing",
        "9223372036854775807 + 1",
        "size(params.s)",
    ])
    .prop_map(str::to_owned)
}

/// Conditions, some of which fail.
fn condition() -> impl Strategy<Value = String> {
    let compare = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let compared = (number(), compare, number()).prop_map(|(a, op, b)| format!("{a} {op} {b}"));
    let leaf = prop_oneof![
        2 => prop::sample::select(vec![
            "true", "false", "x", "z", "params.b", "params.s == 'a'", "params.s in ['a', 'b']",
            "y in params.xs", "has(params.s)", "has(params.missing)", "params.b == x",
            "params.unknown", "null == params.s",
        ])
        .prop_map(str::to_owned),
        2 => compared,
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let several = prop::collection::vec(inner.clone(), 2..4);
        let quantifier = prop::sample::select(vec!["all", "exists", "exists_one"]);
        let list = prop::sample::select(vec!["params.xs", "[]", "[y, 2]", "[1, 2, 3]"]);
        prop_oneof![
            4 => several.clone().prop_map(|all| format!("({})", all.join(" && "))),
            4 => several.prop_map(|all| format!("({})", all.join(" || "))),
            2 => inner.clone().prop_map(|a| format!("!({a})")),
            3 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(c, a, b)| format!("(({c}) ? ({a}) : ({b}))")),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) == ({b}))")),
            2 => (inner.clone(), number(), number(), number())
                .prop_map(|(c, a, b, d)| format!("((({c}) ? {a} : {b}) < {d})")),
            1 => (list, quantifier, inner.clone(), number())
                .prop_map(|(xs, all, c, n)| format!("{xs}.{all}(i, i < {n} || ({c}))")),
            // A name that hides the parameters.
            1 => (inner.clone(), inner)
                .prop_map(|(a, b)| format!("[{{'b': {a}}}].all(params, params.b || ({b}))")),
        ]
    })
}

fn parsed(text: &str) -> Expr {
    let mut diags = Diagnostics::default();
    parse::expression(text, FileId(0), &mut diags).unwrap_or_else(|| panic!("{text}: {diags:?}"))
}

/// The parameters, all but `unknown`.
fn params() -> Vec<(String, Option<Value>)> {
    let known = json!({ "b": true, "n": 2, "s": "a", "xs": [1, 2] });
    let known = known.as_object().unwrap().iter();
    let known = known.map(|(name, value)| (name.clone(), Some(Value::from_json(value))));
    known.chain([("unknown".to_owned(), None)]).collect()
}

fn folded(expr: &Expr) -> Folded {
    Folder::new(&TypeTable::default(), Default::default(), params()).fold(expr)
}

fn value(expr: &Expr, x: bool, y: i64) -> Option<Value> {
    let given = json!({ "b": true, "n": 2, "s": "a", "xs": [1, 2], "unknown": !x });
    let mut scope = Scope::default();
    for name in ["params", "x", "y", "z"] {
        scope.declare(name, Type::Json);
    }
    let program = compile_unchecked(expr, &scope, &TypeTable::default()).unwrap();
    let bound = Bound(vec![
        Value::from_json(&given),
        Value::Bool(x),
        Value::Int(y),
        Value::Bool(y > 0),
    ]);
    program.eval(&bound).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keeps_the_value(text in condition()) {
        let expr = parsed(&text);
        let folded = folded(&expr);
        for (x, y) in [(true, 0), (true, 1), (false, -3), (false, 2)] {
            let before = value(&expr, x, y);
            prop_assert_eq!(&value(&folded.expr, x, y), &before, "{} with x {}, y {}", &text, x, y);
            if let Some(constant) = &folded.value {
                prop_assert_eq!(Some(constant), before.as_ref(), "{} with x {}, y {}", &text, x, y);
            }
        }
    }
}

#[test]
fn decides() {
    let cases = [
        ("params.b && x", None),
        ("!params.b && x", Some(false)),
        ("x || params.n == 2", Some(true)),
        ("1 / 0 == 1 || params.b", Some(true)),
        ("1 / 0 == 1 && params.b", None),
        ("y / 0 == 1 && params.s == 'b'", Some(false)),
        ("params.b ? params.n > 1 : x", Some(true)),
        ("x ? params.b : params.b", None),
        ("params.unknown || params.b", Some(true)),
        ("params.unknown && params.b", None),
        ("params.xs.all(i, i > 0)", Some(true)),
        ("params.xs.all(i, i > y)", None),
        ("[y].all(i, i > 0 || params.b)", None),
        ("params == params", None),
        ("size([]) == 0", Some(true)),
        ("(false && x) == false", Some(true)),
        ("!(params.b || x)", Some(false)),
        ("now() > now() && !params.b", Some(false)),
        ("random() > 2.0", None),
        ("stale(state.x) || true", Some(true)),
    ];
    for (text, expected) in cases {
        assert_eq!(folded(&parsed(text)).bool(), expected, "{text}");
    }
}

#[test]
fn takes_out_what_is_decided() {
    let cases = [
        ("params.b && x", "x"),
        ("params.b && x && y > 1", "x && y > 1"),
        ("!params.b || x || params.n > 5", "x"),
        ("params.b ? x : z", "x"),
        ("[params.b ? x : z]", "[x]"),
        ("params.n > y", "params.n > y"),
        ("[1].map(i, params.b ? i : y)", "[1].map(i, i)"),
    ];
    for (text, expected) in cases {
        let (left, right) = (folded(&parsed(text)).expr, parsed(expected));
        assert!(
            graphc::expr::fold::same::same(&left, &right),
            "{text} became {left:?}"
        );
    }
}
