//! Every example of the function table holds, and the table is well-formed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod evaluate;

use graphc::expr::function::{FUNCTIONS, find};
use graphc::value::Value;

#[test]
fn examples_hold() {
    let wrong: Vec<String> = FUNCTIONS
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
    for function in FUNCTIONS.iter() {
        let call = match function.method {
            true => format!(".{}(", function.name),
            false => format!("{}(", function.name),
        };
        assert!(function.example.contains(&call), "{}", function.name);
        assert!(function.doc.ends_with('.'), "{}", function.name);
    }
}

#[test]
fn each_is_found_by_its_name() {
    for function in FUNCTIONS.iter() {
        let found = find(function.name, function.method).unwrap();
        assert!(
            std::ptr::eq(found, *function),
            "{} is there twice",
            function.name
        );
    }
}
