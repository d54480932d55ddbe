//! What the compiler costs: text to IR and IR to plan, on large flows of several shapes.
//!
//! `cargo bench --bench check`. Each shape is measured at sizes that show how the time grows: a row of ten
//! times the size should cost ten times as much. Targets: docs/runtime.md.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};
use std::sync::Arc;

use divan::Bencher;
use graphc::base::FileId;
use graphc::check::check as check_program;
use graphc::compile::compile;
use graphc::diag::Diagnostics;
use graphc::ir::Flow;
use graphc::lower::lower;
use graphc::parse::parse as parse_text;
use graphc::resolve::resolve as resolve_files;
use graphc::run::plan::plan;

fn main() {
    divan::main();
}

type Files = BTreeMap<String, String>;

const FILE: &str = "bench.graph";

fn files(source: String) -> Files {
    [(FILE.to_owned(), source)].into()
}

fn compiled(files: &Files) -> Flow {
    let compiled = compile(FILE, files);
    let found: Vec<String> = compiled
        .diagnostics
        .iter()
        .map(|d| format!("{} {}", d.code.slug, d.message))
        .take(3)
        .collect();
    assert!(found.is_empty(), "{found:?}");
    compiled.flow.unwrap()
}

/// A flow of about `n` nodes, tools, types or graphs.
#[derive(Clone, Copy)]
enum Shape {
    /// Nodes one after the other.
    Chain,
    /// Each tenth node starts eight side by side, which the next joins.
    Joins,
    /// Nodes that all run side by side, and a join of them.
    Wide,
    /// Nodes that go on by three arms, one of them back.
    Routes,
    /// Tools, each with a record of its own, called one after the other.
    Tools,
    /// Fields of the state, each written and read by a node.
    Fields,
    /// Fields of one record, written out and read one by one.
    Record,
    /// Operands of one expression.
    Expression,
    /// Prompts with placeholders.
    Prompts,
    /// Graphs, each of which calls the next.
    Graphs,
    /// Declarations that nothing but a comment needs.
    Types,
}

impl Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shape::Chain => "chain",
            Shape::Joins => "joins",
            Shape::Wide => "wide",
            Shape::Routes => "routes",
            Shape::Tools => "tools",
            Shape::Fields => "fields",
            Shape::Record => "record",
            Shape::Expression => "expression",
            Shape::Prompts => "prompts",
            Shape::Graphs => "graphs",
            Shape::Types => "types",
        })
    }
}

impl Shape {
    fn source(self, n: usize) -> String {
        match self {
            Shape::Chain => chain(n),
            Shape::Joins => joins(n),
            Shape::Wide => wide(n),
            Shape::Routes => routes(n),
            Shape::Tools => tools(n),
            Shape::Fields => fields(n),
            Shape::Record => record(n),
            Shape::Expression => expression(n),
            Shape::Prompts => prompts(n),
            Shape::Graphs => graphs(n),
            Shape::Types => types(n),
        }
    }
}

/// `n7`, or `end` behind the last.
fn name(i: usize, n: usize) -> String {
    match i < n {
        true => format!("n{i}"),
        false => "end".to_owned(),
    }
}

fn repeated(n: usize, mut line: impl FnMut(&mut String, usize)) -> String {
    let mut text = String::new();
    (0..n).for_each(|i| line(&mut text, i));
    text
}

fn chain(n: usize) -> String {
    let nodes = repeated(n, |text, i| {
        let next = name(i + 1, n);
        let _ = writeln!(
            text,
            "  node n{i}: update -> {next} {{ set {{ n: state.n + 1 }} }}"
        );
    });
    format!("graph Main {{\n  state {{ in out n: int }}\n  start -> n0\n{nodes}}}\n")
}

fn joins(n: usize) -> String {
    const WIDE: usize = 8;
    let groups = n / (WIDE + 2);
    let nodes = repeated(groups, |text, i| {
        let members: Vec<String> = (0..WIDE).map(|j| format!("w{i}_{j}")).collect();
        let members = members.join(", ");
        let next = name(i + 1, groups);
        let _ = writeln!(text, "  node n{i}: update\n  n{i} -> [{members}]");
        for j in 0..WIDE {
            let _ = writeln!(text, "  node w{i}_{j}: update {{ set {{ all: [{j}] }} }}");
        }
        let _ = writeln!(
            text,
            "  node j{i}: update -> {next} {{ set {{ n: state.n + size(state.all) }} }}\n  [{members}] -> j{i}"
        );
    });
    format!(
        "graph Main {{\n  state {{ in out n: int, all: list<int> via append }}\n  start -> n0\n{nodes}}}\n"
    )
}

fn wide(n: usize) -> String {
    let names: Vec<String> = (0..n).map(|i| format!("n{i}")).collect();
    let names = names.join(", ");
    let nodes = repeated(n, |text, i| {
        let _ = writeln!(text, "  node n{i}: update {{ set {{ all: [{i}] }} }}");
    });
    format!(
        "graph Main {{\n  state {{ out all: list<int> via append }}\n  start -> [{names}]\n  [{names}] -> last -> end\n{nodes}  node last: update {{ set {{ all: [size(state.all)] }} }}\n}}\n"
    )
}

fn routes(n: usize) -> String {
    let nodes = repeated(n, |text, i| {
        let (next, back) = (name(i + 1, n), i / 2);
        let _ = writeln!(
            text,
            "  node n{i}: update {{\n    set {{ n: state.n + 1 }}\n    goto {{\n      when state.n < {i} -> n{back}\n      when state.note != null -> end {{ set {{ n: size(state.note) }} }}\n      else -> {next}\n    }}\n  }}"
        );
    });
    format!(
        "graph Main {{\n  state {{ in out n: int, in note: string? }}\n  start -> n0\n{nodes}}}\n"
    )
}

fn tools(n: usize) -> String {
    let declared = repeated(n, |text, i| {
        let _ = writeln!(
            text,
            "type Record{i} {{ id: string, size: int = {i} }}\n/// Does what it does.\ntool tool_{i}(record: Record{i}, note: string?) -> Record{i}"
        );
    });
    let nodes = repeated(n, |text, i| {
        let next = name(i + 1, n);
        let _ = writeln!(
            text,
            "  node n{i}: call tool_{i}(record: Record{i} {{ id: state.id }}) -> {next} {{ set {{ id: result.id }} }}"
        );
    });
    format!("{declared}graph Main {{\n  state {{ in out id: string }}\n  start -> n0\n{nodes}}}\n")
}

fn fields(n: usize) -> String {
    let declared = repeated(n, |text, i| {
        let _ = writeln!(text, "    in out f{i}: int");
    });
    let nodes = repeated(n, |text, i| {
        let next = name(i + 1, n);
        let _ = writeln!(
            text,
            "  node n{i}: update -> {next} {{ set {{ f{i}: state.f{i} + 1 }} }}"
        );
    });
    format!("graph Main {{\n  state {{\n{declared}  }}\n  start -> n0\n{nodes}}}\n")
}

fn record(n: usize) -> String {
    let declared = repeated(n, |text, i| {
        let _ = writeln!(text, "  f{i}: int");
    });
    let given = repeated(n, |text, i| {
        let _ = writeln!(text, "      f{i}: state.all.f{i} + 1,");
    });
    format!(
        "type Large {{\n{declared}}}\ngraph Main {{\n  state {{ in out all: Large }}\n  start -> only\n  node only: update -> end {{\n    set {{ all: Large {{\n{given}    }} }}\n  }}\n}}\n"
    )
}

fn expression(n: usize) -> String {
    let operands = repeated(n, |text, i| {
        let _ = writeln!(text, "      || state.n == {i}");
    });
    format!(
        "graph Main {{\n  state {{ in n: int, out found: bool }}\n  start -> only\n  node only: update -> end {{\n    set {{ found: state.n < 0\n{operands}    }}\n  }}\n}}\n"
    )
}

fn prompts(n: usize) -> String {
    let nodes = repeated(n, |text, i| {
        let next = name(i + 1, n);
        let _ = writeln!(
            text,
            "  node n{i}: llm -> {next} {{\n    model writer\n    prompt \"\"\"\n      Task {i} of {{{{ state.topic }}}}.\n      {{% for note in state.notes %}}- {{{{ note }}}}\n      {{% endfor %}}\n      \"\"\"\n    set {{ notes: [string(reply.content)] }}\n  }}"
        );
    });
    format!(
        "model writer = \"openai/gpt-5.2\"\ngraph Main {{\n  state {{ in topic: string, in out notes: list<string> via append }}\n  start -> n0\n{nodes}}}\n"
    )
}

fn graphs(n: usize) -> String {
    repeated(n, |text, i| {
        let step = match i + 1 < n {
            true => format!("subgraph Graph{}", i + 1),
            false => "update".to_owned(),
        };
        let _ = writeln!(
            text,
            "graph Graph{i} {{\n  state {{ in out n: int }}\n  start -> first -> called -> end\n  node first: update {{ set {{ n: state.n + 1 }} }}\n  node called: {step}\n}}"
        );
    })
}

fn types(n: usize) -> String {
    let declared = repeated(n, |text, i| {
        let fields = match i {
            0 => "done: bool".to_owned(),
            _ => format!("one: Type{j}?, all: list<Kind{j}>", j = i - 1),
        };
        let _ = writeln!(
            text,
            "type Type{i} {{ id: string, {fields} }}\nenum Kind{i} {{ first, second }}"
        );
    });
    let last = n - 1;
    format!(
        "{declared}graph Main {{\n  state {{ in one: Type{last}, in kind: Kind{last}, out id: string }}\n  start -> only\n  node only: update -> end {{ set {{ id: state.kind == Kind{last}.first ? state.one.id : \"\" }} }}\n}}\n"
    )
}

/// Text to IR of a chain of `n` nodes.
#[divan::bench(args = [50, 1_000, 10_000], sample_count = 10)]
fn check(bencher: Bencher<'_, '_>, n: usize) {
    let files = files(chain(n));
    compiled(&files);
    bencher
        .counter(n)
        .bench(|| compile(FILE, &files).flow.unwrap());
}

/// Text to IR of every shape.
#[divan::bench(
    args = [
        Shape::Joins, Shape::Wide, Shape::Routes, Shape::Tools, Shape::Fields, Shape::Record,
        Shape::Expression, Shape::Prompts, Shape::Graphs, Shape::Types,
    ],
    consts = [100, 1_000, 10_000],
    sample_count = 5,
)]
fn check_shape<const N: usize>(bencher: Bencher<'_, '_>, shape: Shape) {
    let files = files(shape.source(N));
    compiled(&files);
    bencher
        .counter(N)
        .bench(|| compile(FILE, &files).flow.unwrap());
}

/// Each stage by itself, on a chain.
mod stage {
    use super::*;

    const SIZES: [usize; 2] = [1_000, 10_000];

    #[divan::bench(args = SIZES, sample_count = 10)]
    fn parse(bencher: Bencher<'_, '_>, n: usize) {
        let source = chain(n);
        bencher
            .counter(n)
            .bench(|| parse_text(&source, FileId(0), &mut Diagnostics::new()));
    }

    /// With the parse, which it does for each file that it meets.
    #[divan::bench(args = SIZES, sample_count = 10)]
    fn parse_and_resolve(bencher: Bencher<'_, '_>, n: usize) {
        let files = files(chain(n));
        bencher
            .counter(n)
            .bench(|| resolve_files(FILE, &files, &mut Diagnostics::new()));
    }

    #[divan::bench(args = SIZES, sample_count = 10)]
    fn check(bencher: Bencher<'_, '_>, n: usize) {
        let (program, sources) = resolve_files(FILE, &files(chain(n)), &mut Diagnostics::new());
        bencher
            .counter(n)
            .bench(|| check_program(&program, &sources, &mut Diagnostics::new()));
    }

    #[divan::bench(args = SIZES, sample_count = 10)]
    fn lower(bencher: Bencher<'_, '_>, n: usize) {
        let mut found = Diagnostics::new();
        let (program, sources) = resolve_files(FILE, &files(chain(n)), &mut found);
        let checked = check_program(&program, &sources, &mut found);
        bencher
            .counter(n)
            .bench(|| super::lower(&program, &checked, &sources));
    }

    #[divan::bench(args = SIZES, sample_count = 10)]
    fn version(bencher: Bencher<'_, '_>, n: usize) {
        let flow = compiled(&files(chain(n)));
        bencher.counter(n).bench(|| flow.version());
    }
}

/// IR to plan, of a chain and of a state of many fields.
#[divan::bench(
    args = [Shape::Chain, Shape::Fields, Shape::Tools, Shape::Prompts],
    consts = [1_000, 10_000],
    sample_count = 5,
)]
fn make_plan<const N: usize>(bencher: Bencher<'_, '_>, shape: Shape) {
    let flow = Arc::new(compiled(&files(shape.source(N))));
    bencher.counter(N).bench(|| plan(flow.clone()).unwrap());
}

/// Megabytes of text, well formed and not: the time must not grow faster than the text.
#[divan::bench(args = [1, 10], sample_count = 3)]
fn parse_megabytes(bencher: Bencher<'_, '_>, megabytes: usize) {
    let source = large(megabytes, "{ set { n: state.n + 1 } }");
    bencher
        .counter(divan::counter::BytesCount::of_str(&source))
        .bench(|| parse_text(&source, FileId(0), &mut Diagnostics::new()));
}

/// The same with a mistake in every node.
#[divan::bench(args = [1, 10], sample_count = 3)]
fn parse_megabytes_of_mistakes(bencher: Bencher<'_, '_>, megabytes: usize) {
    let source = large(megabytes, "{ set { n: state.n + } }");
    bencher
        .counter(divan::counter::BytesCount::of_str(&source))
        .bench(|| parse_text(&source, FileId(0), &mut Diagnostics::new()));
}

fn large(megabytes: usize, body: &str) -> String {
    let line = |i: usize| format!("  node n{i:08}: update -> end {body}\n");
    let n = (megabytes << 20) / line(0).len();
    let nodes = repeated(n, |text, i| text.push_str(&line(i)));
    format!("graph Main {{\n  state {{ in out n: int }}\n  start -> n0\n{nodes}}}\n")
}
