//! Cases of expressions in `tests/expr/*.yaml`: what the language adds to CEL, and its error texts;
//! and the examples of the function table.
//!
//! A case has `expr`, perhaps `bindings`, and either `value`, or `error` (the whole message) with
//! the part of the expression that it points to as `at`.

use std::fs;

use crate::evaluate;
use graphc::expr::eval::{Effect, Env, compile_text};
use graphc::expr::function::{BuiltinKind, find, forms, functions};
use graphc::expr::scope::StateFields;
use graphc::expr::{Scope, Slot, Type, TypeTable};
use graphc::resolve::stdlib;
use graphc::value::Value;
use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    expr: String,
    #[serde(default)]
    bindings: serde_json::Map<String, Json>,
    #[serde(default)]
    value: Option<Json>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    at: Option<String>,
}

#[test]
fn cases() {
    let mut wrong = Vec::new();
    let mut files: Vec<_> = fs::read_dir("tests/expr")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 3, "only {} files were found", files.len());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let cases: Vec<Case> = serde_yaml::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in cases {
            if let Err(why) = run(&case) {
                wrong.push(format!("{}: {}\n    {why}", path.display(), case.expr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn run(case: &Case) -> Result<(), String> {
    let bindings: Vec<(String, Value)> = case
        .bindings
        .iter()
        .map(|(name, json)| (name.clone(), Value::from_json(json)))
        .collect();
    let (program, env) = evaluate::program(&case.expr, &bindings)?;
    match (program.eval(&env), &case.error) {
        (Ok(value), None) => {
            let expected = case.value.clone().unwrap_or_default();
            let found = value.to_json();
            (found == expected)
                .then_some(())
                .ok_or_else(|| format!("gives {found} instead of {expected}"))
        }
        (Err(error), Some(expected)) if error.message == *expected => {
            let span = error.span.start as usize..error.span.end as usize;
            let place = case.expr.get(span).unwrap_or_default();
            let wanted = case.at.as_deref().unwrap_or(&case.expr);
            (place == wanted)
                .then_some(())
                .ok_or_else(|| format!("points to `{place}` instead of `{wanted}`"))
        }
        (result, expected) => Err(format!(
            "gives {:?} instead of {expected:?}",
            result.map_err(|error| error.message)
        )),
    }
}

#[test]
fn examples_hold() {
    let wrong: Vec<String> = functions()
        .iter()
        .filter_map(|function| {
            let result = evaluate::evaluate(function.example, &[]);
            (result != Ok(Value::Bool(true)))
                .then(|| format!("{}: {} gives {result:?}", function.name, function.example))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_show_their_function() {
    for function in functions() {
        let call = match function.is_method() {
            true => format!(".{}(", function.name),
            false => format!("{}(", function.name),
        };
        assert!(function.example.contains(&call), "{}", function.name);
        assert!(function.doc.ends_with('.'), "{}", function.name);
    }
}

#[test]
fn each_is_found_by_its_name() {
    for function in functions() {
        let found = find(function.name, function.is_method()).unwrap();
        assert!(
            std::ptr::eq(found, function),
            "{} is there twice",
            function.name
        );
    }
}

/// A state whose `draft` was made from an older `topic`.
struct Stale;

impl Env for Stale {
    fn slot(&self, _: Slot) -> Option<Value> {
        None
    }

    fn field(&self, _: u32) -> Option<Value> {
        Some(Value::from("x"))
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("there is none here".to_owned())
    }

    fn invalidated_by(&self, index: u32) -> Result<Value, String> {
        let names = (index == 1).then(|| Value::from("topic"));
        Ok(Value::List(names.into_iter().collect()))
    }
}

#[test]
fn examples_of_macros_hold() {
    let names = ["topic", "draft"].map(|name| (name.to_owned(), Type::String));
    let scope = Scope {
        state: Some(names.into_iter().collect::<StateFields>().into()),
        ..Scope::default()
    };
    for form in forms() {
        let result = match form.kind {
            BuiltinKind::Macro(_) | BuiltinKind::Effect(_) => evaluate::evaluate(form.example, &[]),
            _ => {
                let program = compile_text(form.example, &scope, &TypeTable::default()).unwrap();
                program.eval(&Stale).map_err(|error| error.message)
            }
        };
        assert_eq!(result, Ok(Value::Bool(true)), "{}", form.example);
        let written = form.written();
        let call = written.split('(').next().unwrap();
        let name = call.rsplit('.').next().unwrap();
        assert_eq!(name, form.name, "{written}");
        assert!(
            form.example.contains(&format!("{name}(")),
            "{}",
            form.example
        );
        assert!(form.doc.ends_with('.'), "{written}");
    }
}

/// What a module declares is what the binary has for it.
#[test]
fn every_function_of_a_module_is_declared_in_it() {
    for module in stdlib::names() {
        let text = stdlib::source(module).unwrap();
        let declared = text
            .lines()
            .filter_map(|line| line.strip_prefix("function "));
        let mut declared: Vec<&str> = declared
            .filter_map(|rest| rest.split_once('(').map(|(name, _)| name))
            .collect();
        let built = functions().iter().filter(|f| f.module == module);
        let mut built: Vec<&str> = built.map(|f| f.name).collect();
        declared.sort_unstable();
        built.sort_unstable();
        built.dedup();
        assert_eq!(declared, built, "{module}");
    }
}
