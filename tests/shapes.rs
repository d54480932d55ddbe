//! Every flow that the benches measure (`benches/shapes`) is what its writer meant it to be: none has a slip in its syntax
//! that is not its point, and those without errors have their IR.

#[path = "../benches/shapes/mod.rs"]
mod benched;

use benched::FILE;
use graphc::compile::compile;

#[test]
fn every_shape_is_what_it_is_meant_to_be() {
    for shape in benched::all() {
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
        let compiled = compile(FILE, &benched::named(name).files(3_000));
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
        let compiled = compile(FILE, &benched::named(name).files(60));
        let found = compiled.diagnostics.iter();
        let errors: Vec<&str> = found
            .filter(|found| found.level == graphc::diag::Level::Error)
            .map(|found| found.code.slug)
            .collect();
        assert_eq!(errors, ["limit-exceeded"], "{name}");
    }
}

/// All of these flows are right, and too large for all of it to be shown: the compiler may say so, in few words, but nothing
/// that it could not look at makes an error.
#[test]
fn what_is_too_much_is_no_error() {
    let right = [
        ("conditions_kept", 500, 0),
        ("conditions_of_arms", 300, 0),
        ("switches_kept", 4, 0),
        ("switches_kept", 40, 0),
        ("switches_together", 5, 0),
        ("switches_together", 12, 0),
        ("beside_many", 800, 0),
    ];
    for (name, n, warnings) in right {
        let compiled = compile(FILE, &benched::named(name).files(n));
        let found = compiled.diagnostics.iter();
        let found = found.filter(|found| found.level > graphc::diag::Level::Info);
        let found: Vec<&String> = found.map(|found| &found.message).collect();
        assert!(compiled.flow.is_some(), "{name} {n}: {found:?}");
        assert_eq!(found.len(), warnings, "{name} {n}: {found:?}");
    }
}

/// Forms of other languages, each of which would take a time that doubles with each level, or a call within a call for each
/// term, if all of it were read: there is a finding, with a help or without.
#[test]
fn long_foreign_forms_are_left_alone() {
    let nested = |open: &str, inside: &str, close: &str, n: usize| {
        format!("{}{inside}{}", open.repeat(n), close.repeat(n))
    };
    let terms = |n: usize| " + 1".repeat(n);
    let forms = [
        nested("Foo(a=", "lambda x: x", ")", 60),
        nested("(1 < ", "state.n if state.n else 1", " < 2)", 40),
        nested("(", "state.n or 1", " or 1)", 35),
        nested("(", "state.n and 'a' or 'b'", " and 'a' or 'b')", 35),
        nested("\"{0}{0}\".format(", "len(state.n)", ")", 200),
        nested("f(", "x ** 2 if state.n else 1", ") ** 2", 35),
        format!("{} or state.n", "state.n or ".repeat(5_000)),
        format!("{} or len(state.n)", "state.n or ".repeat(5_000)),
        format!("state.n if state.n else 1{}", terms(50_000)),
        format!("state.n{} if state.n else 1", terms(50_000)),
        format!("state.n if state.n else x{}", ".f(1)".repeat(300)),
        format!("state.n if state.n else x{}", "[1]".repeat(20_000)),
        format!("state.n if state.n else {}state.n", "- ".repeat(20_000)),
        format!("f\"{}\"", "{len(state.n)}".repeat(20_000)),
        format!("len(state.n){}", ", len(state.n)".repeat(3_000)),
    ];
    for form in forms {
        let text = format!(
            "graph Main {{\n  state {{ in n: int, out a: json = null }}\n  start -> u\n  node u: update -> end {{ set {{ a: {form} }} }}\n}}\n"
        );
        let start: String = form.chars().take(40).collect();
        assert!(!codes_of(&text).is_empty(), "{start}");
    }
}

/// The codes of what is found in a flow but for notes, in order.
fn codes_of(text: &str) -> Vec<&'static str> {
    let files = std::collections::BTreeMap::from([(FILE.to_owned(), text.to_owned())]);
    let compiled = compile(FILE, &files);
    let found = compiled.diagnostics.iter();
    let found = found.filter(|found| found.level > graphc::diag::Level::Info);
    found.map(|found| found.code.slug).collect()
}

/// So many tasks beside each other, of which `own` are written by the test.
fn side_by_side(n: usize, fields: &str, own: &str, names: &str) -> String {
    let others: Vec<String> = (0..n).map(|at| format!("t{at}")).collect();
    let nodes: String = (0..n)
        .map(|at| format!("  node t{at}: update -> end\n"))
        .collect();
    format!(
        "graph Main {{\n  state {{ {fields} }}\n  start -> [{names}, {}]\n{own}{nodes}}}\n",
        others.join(", ")
    )
}

/// What is said of some tasks doesn't depend on how many others run beside them.
#[test]
fn a_thousand_tasks_beside_change_no_verdict() {
    let conflict = |n| {
        let own =
            "  node a: update -> end { set { x: 1 } }\n  node b: update -> end { set { x: 2 } }\n";
        side_by_side(n, "out x: int = 0", own, "a, b")
    };
    let null = |n| {
        let own = "  node a: update -> end { set { x: null } }
  node b: update {
    goto { when state.x != null -> c  else -> end }
  }
  node c: update -> end { set { y: state.x.size() } }\n";
        side_by_side(n, "in out x: string?, out y: int = 0", own, "a, b")
    };
    for (flow, code) in [
        (&conflict as &dyn Fn(usize) -> String, "write-conflict"),
        (&null, "null-not-handled"),
    ] {
        let few = codes_of(&flow(3));
        assert!(few.contains(&code), "{code}: {few:?}");
        assert_eq!(codes_of(&flow(1_500)), few, "{code}");
    }
}

/// What a task beside writes is found at a sink behind another one, however many others run beside them.
#[test]
fn what_eight_hundred_tasks_write_is_looked_at() {
    let flow = |n| {
        let own =
            "  node a: llm -> end { model writer, prompt \"go\", set { command: reply.text } }
  node b: update -> act
  node act: call run(command: state.command) -> end { set { seen: result } }\n";
        let items = "tool run(command: string @sink(shell)) -> string @effect(write)\nmodel writer = \"openai/gpt-5-mini\"\n";
        let fields = "in out command: string, out seen: string = \"\"";
        format!("{items}{}", side_by_side(n, fields, own, "a, b"))
    };
    let few = codes_of(&flow(3));
    assert!(few.contains(&"tainted-sink"), "{few:?}");
    assert_eq!(codes_of(&flow(800)), few);
}

/// A list of computed targets is followed whatever the number of their combinations.
#[test]
fn computed_targets_have_no_bound() {
    let flow = |targets: usize, nodes: usize, own: &str| {
        let names: Vec<String> = (0..nodes).map(|at| format!("n{at}")).collect();
        let fields: Vec<String> = (0..targets).map(|at| format!("in f{at}: Step")).collect();
        let to: Vec<String> = (0..targets).map(|at| format!("(state.f{at})")).collect();
        let others = names.iter().skip(2);
        let others: String = others
            .map(|name| format!("  node {name}: update -> end\n"))
            .collect();
        format!(
            "enum Step {{ {0} }}\ngraph Main {{\n  state {{ {1}, out x: int = 0 }}\n  start -> choose\n  node choose: branch {{\n    ends [{0}]\n    goto {{ else -> [{2}] }}\n  }}\n{own}{others}}}\n",
            names.join(", "),
            fields.join(", "),
            to.join(", ")
        )
    };
    let node = |name, x| format!("  node {name}: update -> end {{ set {{ x: {x} }} }}\n");
    let conflict = format!("{}{}", node("n0", 1), node("n1", 2));
    let right = format!("{}  node n1: update -> end\n", node("n0", 1));
    let none: [&str; 0] = [];
    assert_eq!(codes_of(&flow(100, 100, &right)), none);
    assert_eq!(codes_of(&flow(100, 100, &conflict)), ["write-conflict"]);
}

/// Routes whose arms cover all are found to do so, however many there are.
#[test]
fn many_arms_that_cover_all_are_enough() {
    let route = |fields: &str, types: &str, arms: String| {
        format!(
            "{types}\ngraph Main {{\n  state {{ {fields} }}\n  start -> a\n  node a: update {{\n    goto {{\n{arms}    }}\n  }}\n}}\n"
        )
    };
    let members =
        |letter: char| -> Vec<String> { (0..30).map(|at| format!("{letter}{at}")).collect() };
    let (left, right) = (members('p'), members('q'));
    let both = |skip: usize| {
        let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
        let arm = |(a, b)| format!("      when state.a == A.{a} && state.b == B.{b} -> end\n");
        let arms = pairs.skip(skip).map(arm).collect();
        let types = format!(
            "enum A {{ {} }}\nenum B {{ {} }}",
            left.join(", "),
            right.join(", ")
        );
        route("in a: A, in b: B", &types, arms)
    };
    let bound = |name: &str, at: usize| match at {
        0 => format!("state.{name} < 1"),
        24 => format!("state.{name} >= 24"),
        at => format!("state.{name} >= {at} && state.{name} < {}", at + 1),
    };
    let ranges = (0..25).flat_map(|a| (0..25).map(move |b| (a, b)));
    let arm = |(a, b)| format!("      when {} && {} -> end\n", bound("a", a), bound("b", b));
    let ranges = route("in a: int, in b: int", "", ranges.map(arm).collect());
    let chain = |n: usize| {
        let fields: Vec<String> = (0..n).map(|at| format!("in b{at}: bool")).collect();
        let mut arms = String::new();
        for at in 0..=n {
            let before = (0..at).map(|at| format!("!state.b{at}"));
            let own = (at < n).then(|| format!("state.b{at}"));
            let all: Vec<String> = before.chain(own).collect();
            arms += &format!("      when {} -> end\n", all.join(" && "));
        }
        route(&fields.join(", "), "", arms)
    };
    let none: [&str; 0] = [];
    assert_eq!(codes_of(&both(0)), none, "all pairs of two enums");
    assert_eq!(
        codes_of(&both(1)),
        ["route-not-exhaustive"],
        "all pairs but one"
    );
    assert_eq!(codes_of(&ranges), none, "ranges of two numbers");
    assert_eq!(
        codes_of(&chain(150)),
        none,
        "arms that each deny those before"
    );
}
