//! What the compiler costs: text to IR and IR to plan, on large flows of several shapes.
//!
//! `cargo bench --bench check`. Each shape is measured at sizes that show how the time grows: a row of four
//! times the size should cost four times as much. How to read it: docs/benchmarks.md.
#![allow(clippy::unwrap_used, missing_docs)]

mod shapes;

use std::convert::Infallible;
use std::sync::Arc;

use divan::Bencher;
use graphc::base::{FileId, SourceMap};
use graphc::check::Checked;
use graphc::compile::compile;
use graphc::diag::Diagnostics;
use graphc::ir::Flow;
use graphc::lower::lower;
use graphc::parse::parse as parse_text;
use graphc::resolve::{Program, resolve as resolve_files};
use graphc::run::plan::plan;
use graphc::viz::{Drawing, Form, draw as draw_flow};

use shapes::{FILE, Files, Shape};

fn main() {
    divan::main();
}

fn check_program(program: &Program, sources: &SourceMap) -> Checked {
    let go_on = || Ok::<_, Infallible>(());
    let Ok(checked) = graphc::check::check(program, sources, &go_on, &mut Diagnostics::new());
    checked
}

fn compiled(files: &Files) -> Flow {
    let compiled = compile(FILE, files);
    let found: Vec<String> = compiled
        .diagnostics
        .iter()
        .map(|d| format!("{} {}", d.code.slug, d.message))
        .take(3)
        .collect();
    compiled.flow.unwrap_or_else(|| panic!("{found:?}"))
}

/// A text with `n` repetitions in it, and other texts that stand beside it.
fn made(shape: &str, n: usize) -> Files {
    shapes::named(shape).files(n)
}

/// Text to IR of a chain of `n` nodes.
#[divan::bench(args = [50, 1_000, 10_000], sample_count = 10)]
fn check(bencher: Bencher<'_, '_>, n: usize) {
    let files = made("chain", n);
    compiled(&files);
    bencher
        .counter(n)
        .bench(|| compile(FILE, &files).flow.unwrap());
}

/// All findings of every shape, the wrong ones included, at a size and at four times that size.
#[divan::bench(args = shapes::all(), consts = [500, 2_000], sample_count = 3)]
fn check_shape<const N: usize>(bencher: Bencher<'_, '_>, shape: Shape) {
    let files = shape.files(N);
    bencher
        .counter(N.min(shape.most))
        .bench(|| compile(FILE, &files));
}

/// Each stage by itself, on a chain.
mod stage {
    use super::*;

    const SIZES: [usize; 2] = [1_000, 10_000];

    #[divan::bench(args = SIZES, sample_count = 10)]
    fn parse(bencher: Bencher<'_, '_>, n: usize) {
        let source = made("chain", n).remove(FILE).unwrap();
        bencher
            .counter(n)
            .bench(|| parse_text(&source, FileId(0), &mut Diagnostics::new()));
    }

    /// With the parse, which it does for each file that it meets.
    #[divan::bench(args = SIZES, sample_count = 10)]
    fn parse_and_resolve(bencher: Bencher<'_, '_>, n: usize) {
        let files = made("chain", n);
        bencher
            .counter(n)
            .bench(|| resolve_files(FILE, &files, &mut Diagnostics::new()));
    }

    #[divan::bench(args = SIZES, sample_count = 10)]
    fn check(bencher: Bencher<'_, '_>, n: usize) {
        let (program, sources) = resolve_files(FILE, &made("chain", n), &mut Diagnostics::new());
        bencher
            .counter(n)
            .bench(|| check_program(&program, &sources));
    }

    #[divan::bench(args = SIZES, sample_count = 10)]
    fn lower(bencher: Bencher<'_, '_>, n: usize) {
        let (program, sources) = resolve_files(FILE, &made("chain", n), &mut Diagnostics::new());
        let checked = check_program(&program, &sources);
        bencher
            .counter(n)
            .bench(|| super::lower(&program, &checked, &sources));
    }

    #[divan::bench(args = SIZES, sample_count = 10)]
    fn version(bencher: Bencher<'_, '_>, n: usize) {
        let flow = compiled(&made("chain", n));
        bencher.counter(n).bench(|| flow.version());
    }
}

/// IR to plan, of a chain and of a state of many fields.
#[divan::bench(
    args = ["chain", "fields", "tools", "prompts"],
    consts = [1_000, 10_000],
    sample_count = 5,
)]
fn make_plan<const N: usize>(bencher: Bencher<'_, '_>, shape: &str) {
    let flow = Arc::new(compiled(&made(shape, N)));
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
    let nodes: String = (0..n).map(line).collect();
    format!("graph Main {{\n  state {{ in out n: int }}\n  start -> n0\n{nodes}}}\n")
}

/// Flows that are hard to lay out.
const PICTURES: [&str; 4] = [
    "arms_all_over",
    "arms_near_by",
    "arms_to_each",
    "calls_to_open",
];

/// A picture, laid out: bounded by what is cut, and a matter of seconds at worst.
#[divan::bench(args = PICTURES, consts = [50, 200, 800], sample_count = 1)]
fn draw_svg<const N: usize>(bencher: Bencher<'_, '_>, shape: &str) {
    draw_as(bencher, shape, N, Form::Svg);
}

/// The same for Graphviz, which lays it out itself.
#[divan::bench(args = PICTURES, consts = [200, 800], sample_count = 3)]
fn draw_dot<const N: usize>(bencher: Bencher<'_, '_>, shape: &str) {
    draw_as(bencher, shape, N, Form::Dot);
}

/// With subgraphs opened where there are few.
fn draw_as(bencher: Bencher<'_, '_>, shape: &str, n: usize, form: Form) {
    let flow = compiled(&made(shape, n));
    let main = flow.graph("Main").unwrap();
    let drawing = Drawing {
        // Larger ones are refused in pictures.
        depth: if n > 50 { 0 } else { usize::MAX },
        ..Drawing::of(form)
    };
    bencher
        .counter(n)
        .bench(|| draw_flow(&flow, &[main], &drawing).unwrap());
}
