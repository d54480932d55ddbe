//! Every flow that the benches measure (`benches/shapes`) is what its writer meant it to be: none has a slip in its syntax
//! that is not its point, and those without errors have their IR.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "../benches/shapes/mod.rs"]
mod shapes;

use graphc::compile::compile;
use shapes::FILE;

#[test]
fn every_shape_is_what_it_is_meant_to_be() {
    for shape in shapes::all() {
        let compiled = compile(FILE, &shape.files(6));
        let errors = compiled.diagnostics.has_errors();
        let syntax = compiled.diagnostics.iter().find(|found| {
            found.code.slug == "syntax-error" && !shape.name.starts_with("wrong_syntax")
        });
        assert!(syntax.is_none(), "{shape}: {syntax:?}");
        assert_eq!(compiled.flow.is_some(), !errors, "{shape}");
    }
}

/// Declarations that each name the next one: what they come to is found without a call within a call for each. The thread of
/// a test has two megabytes of stack.
#[test]
fn long_chains_of_names_take_no_stack() {
    let chains = [
        "aliases",
        "aliases_backwards",
        "defaults_backwards",
        "defaults_of_defaults",
        "records_backwards",
        "retries_backwards",
        "toolsets_backwards",
    ];
    for name in chains {
        let compiled = compile(FILE, &shapes::named(name).files(3_000));
        let limit = |found: &graphc::diag::Diagnostic| found.code.slug == "limit-exceeded";
        let defaults = name.starts_with("defaults");
        assert_eq!(compiled.diagnostics.iter().any(limit), defaults, "{name}");
        let errors = compiled.diagnostics.iter().map(|found| &found.message);
        let errors: Vec<&String> = errors.take(3).collect();
        assert_eq!(compiled.flow.is_some(), !defaults, "{name}: {errors:?}");
    }
}

/// What doubles with each line, of which some dozens would fill any memory, is refused where it becomes too large, once.
#[test]
fn what_doubles_is_refused_once() {
    for name in ["aliases_that_double", "defaults_that_double"] {
        let compiled = compile(FILE, &shapes::named(name).files(60));
        let found = compiled.diagnostics.iter();
        let errors: Vec<&str> = found
            .filter(|found| found.level == graphc::diag::Level::Error)
            .map(|found| found.code.slug)
            .collect();
        assert_eq!(errors, ["limit-exceeded"], "{name}");
    }
}

/// Expressions within expressions of which each is a value that may be an answer: each is read once.
#[test]
fn what_is_asked_of_answers_is_read_once() {
    for name in ["approval_asked_within", "approval_chosen_within"] {
        let compiled = compile(FILE, &shapes::named(name).files(40));
        let errors = compiled.diagnostics.iter();
        let errors = errors.filter(|found| found.level == graphc::diag::Level::Error);
        let errors: Vec<&str> = errors.map(|found| found.code.slug).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}
