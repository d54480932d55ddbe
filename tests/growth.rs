//! The time of every stage grows with the size of a flow, and not with its square, whatever its shape.
//!
//! The shapes are those that `cargo bench --bench check` measures (`benches/shapes`). What is judged is the time that the
//! thread had a processor for, of a size and of four times that size. `GRAPHC_GROWTH=NAME,..` looks at some
//! shapes only (`all` for all) and prints, for each stage, its times and the exponent that they grow with.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

#[path = "../benches/shapes/mod.rs"]
mod shapes;

use std::collections::BTreeMap;
use std::time::Instant;

use graphc::backend::scenario;
use graphc::base::{FileId, SourceMap};
use graphc::diag::{Diagnostics, render};
use graphc::ir::{Flow, GraphId};
use graphc::lint::model::Families;
use graphc::viz::{Drawing, Form};
use graphc::{audit, check, fmt, ir, lint, lower, resolve, run, viz};

use shapes::{FILE, Files, Shape};

/// Seconds by stage.
type Times = BTreeMap<&'static str, f64>;

/// Seconds that this thread had a processor for; where the system doesn't tell, seconds.
fn now(begun: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat");
    let told = told.ok().and_then(|text| {
        let first = text.split(' ').next()?;
        first.parse::<f64>().ok()
    });
    told.map_or_else(|| begun.elapsed().as_secs_f64(), |told| told / 1e9)
}

struct Watch {
    begun: Instant,
    times: Times,
}

impl Watch {
    fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let before = now(self.begun);
        let made = work();
        *self.times.entry(name).or_default() += now(self.begun) - before;
        made
    }
}

/// What one size of a shape takes, and how often what was found.
fn measure(shape: Shape, n: usize) -> (Times, BTreeMap<&'static str, usize>) {
    let files = shape.files(n);
    let mut watch = Watch {
        begun: Instant::now(),
        times: Times::new(),
    };
    let (flow, found) = stages(&files, &mut watch);
    if let Some(flow) = &flow {
        after(flow, shape, n, &files, &mut watch);
    }
    (watch.times, found)
}

fn stages(files: &Files, watch: &mut Watch) -> (Option<Flow>, BTreeMap<&'static str, usize>) {
    let mut diags = Diagnostics::new();
    watch.stage("fmt", || {
        fmt::format(&files[FILE], FileId(0), &mut Diagnostics::new())
    });
    let (program, sources) = watch.stage("resolve", || resolve::resolve(FILE, files, &mut diags));
    let checked = watch.stage("check", || check::check(&program, &sources, &mut diags));
    watch.stage("lint", || {
        lint::lint(&program, &sources, &Families::default(), &mut diags);
    });
    let flow = (!diags.has_errors())
        .then(|| watch.stage("lower", || lower::lower(&program, &checked, &sources)));
    watch.stage("sort", || diags.sort());
    watch.stage("human", || {
        render::human(&diags, &sources, render::Style::PLAIN)
    });
    watch.stage("json", || render::json(&diags, &sources));
    watch.stage("sarif", || render::sarif(&diags, &sources));
    watch.stage("github", || render::github(&diags, &sources));
    let mut found = BTreeMap::new();
    for finding in diags.iter() {
        *found.entry(finding.code.slug).or_default() += 1;
    }
    (flow, found)
}

/// What is done with a flow that has no errors.
fn after(flow: &Flow, shape: Shape, n: usize, files: &Files, watch: &mut Watch) {
    let graphs: Vec<GraphId> = flow.graphs.ids().collect();
    let services = audit::Services::default();
    let entry = flow.entry.unwrap_or(GraphId(0));
    watch.stage("audit", || audit::audit(flow, entry, &services));
    for (name, form) in [("mermaid", Form::Mermaid), ("dot", Form::Dot)] {
        watch
            .stage(name, || viz::draw(flow, &graphs, &Drawing::of(form)))
            .unwrap();
    }
    watch.stage("version", || flow.version());
    let shared = std::sync::Arc::new(flow.clone());
    watch
        .stage("plan", || run::plan::plan(shared).map(|_| ()))
        .ok();
    watch.stage("diff", || ir::diff::diff(flow, flow));
    let other = graphc::compile::compile(FILE, &shape.files(n * 3 / 4)).flow;
    if let Some(other) = &other {
        watch.stage("diff", || ir::diff::diff(other, flow));
        watch.stage("diff", || ir::diff::diff(flow, other));
    }
    if let Some(text) = files.get("bench.test.yaml") {
        let mut sources = SourceMap::new();
        let id = sources.add("bench.test.yaml", text);
        if let Ok(suite) = watch.stage("scenarios", || scenario::load(&sources, id)) {
            watch.stage("fit", || graphc::scenario::fit(&suite, flow));
        }
    }
}

/// What is small is noise.
const LEAST: f64 = 0.02;

/// Prints how a shape grows.
fn print(shape: Shape) {
    let most: f64 = std::env::var("GRAPHC_GROWTH_SECONDS").map_or(1.0, |s| s.parse().unwrap());
    let mut n = 125.min(shape.most);
    let mut rows: Vec<(usize, Times)> = Vec::new();
    loop {
        let (times, found) = measure(shape, n);
        let all: f64 = times.values().sum();
        rows.push((n, times));
        if all * 2.5 > most || n >= shape.most.min(20_000) {
            println!("{shape} n={n} {all:.2} s {found:?}");
            break;
        }
        n = (n * 2).min(shape.most);
    }
    let [.., first, _, last] = rows.as_slice() else {
        if let [.., first, last] = rows.as_slice() {
            exponents(shape, first, last);
        }
        return;
    };
    exponents(shape, first, last);
}

fn exponents(shape: Shape, first: &(usize, Times), last: &(usize, Times)) {
    for (stage, time) in &last.1 {
        let before = first.1.get(stage).copied().unwrap_or(0.0).max(1e-5);
        let exponent = (time / before).ln() / (last.0 as f64 / first.0 as f64).ln();
        if *time > LEAST && exponent > 1.2 {
            println!(
                "    {shape:<30} {stage:<10} {before:.3} -> {time:.3} s at {}: n^{exponent:.2}",
                last.0
            );
        }
    }
}

/// Shapes whose time once grew with the square of their size.
const HELD: [&str; 11] = [
    "chain",
    "arms",
    "branches",
    "enum_of_many",
    "fallbacks_in_a_chain",
    "fallbacks_of_each",
    "handlers",
    "null_tests_in_one_route",
    "nulls_one_by_one",
    "unset_fields",
    "wrong_visits",
];

#[test]
fn shapes_grow_with_their_size() {
    if let Ok(names) = std::env::var("GRAPHC_GROWTH") {
        let wanted =
            |shape: &Shape| names == "all" || names.split(',').any(|name| name == shape.name);
        return shapes::all().into_iter().filter(wanted).for_each(print);
    }
    const SMALL: usize = 40;
    const TIMES: usize = 8;
    let checked = |shape: Shape, n: usize| {
        let files = shape.files(n);
        let begun = Instant::now();
        let before = now(begun);
        graphc::compile::compile(FILE, &files);
        now(begun) - before
    };
    for shape in HELD.map(shapes::named) {
        let quotient = || {
            let small: f64 = (0..TIMES).map(|_| checked(shape, SMALL)).sum();
            checked(shape, SMALL * TIMES) / small.max(LEAST)
        };
        // As much as the same work in parts; with the square of the size it would be eight times that. What a machine
        // does beside is not seen three times.
        let least = (0..3).map(|_| quotient()).fold(f64::MAX, f64::min);
        assert!(
            least < 3.5,
            "{shape}: {least:.1} times the time of its parts"
        );
    }
}

/// Each shape is what its writer meant it to be: the right ones have no errors.
#[test]
fn every_shape_is_compiled() {
    for shape in shapes::all() {
        let files = shape.files(6);
        let compiled = graphc::compile::compile(FILE, &files);
        let errors = compiled.diagnostics.has_errors();
        let syntax = compiled.diagnostics.iter().find(|found| {
            found.code.slug == "syntax-error" && !shape.name.starts_with("wrong_syntax")
        });
        assert!(syntax.is_none(), "{shape}: {syntax:?}");
        assert_eq!(compiled.flow.is_some(), !errors, "{shape}");
    }
}
