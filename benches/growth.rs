//! How the time of every stage grows with the size of a flow, for flows of many shapes (`benches/shapes`).
//!
//! `cargo bench --bench growth`, with names of shapes behind `--` those only. A shape's size is doubled until it takes
//! `GRAPHC_GROWTH_SECONDS` (1), and the stages whose time grows faster than with the power 1.2 of the size are printed. With
//! `GRAPHC_GROWTH_SIZE=1000` each shape is measured at that size alone, and its three slowest stages are printed. What is
//! measured is the time that the thread had a processor for. How to read it: docs/benchmarks.md.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

mod shapes;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Instant;

use graphc::base::{FileId, SourceMap};
use graphc::diag::{Diagnostics, render};
use graphc::ir::{Flow, GraphId};
use graphc::lint::model::Families;
use graphc::project::scenario;
use graphc::viz::{Drawing, Form};
use graphc::{audit, check, fmt, ir, lint, lower, resolve, run, viz};

use shapes::{FILE, Files, Shape};

/// The program's own: a compiler makes and drops many small values.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    let go_on = || Ok::<_, Infallible>(());
    let Ok(checked) = watch.stage("check", || {
        check::check(&program, &sources, &go_on, &mut diags)
    });
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
            watch.stage("fit", || graphc::project::fit::fit(&suite, flow, None));
        }
    }
}

/// What is small is noise.
const LEAST: f64 = 0.02;

/// Prints what one size of a shape takes.
fn print_size(shape: Shape, n: usize) {
    let (times, _) = measure(shape, n);
    let all: f64 = times.values().sum();
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort_by(|a, b| b.1.total_cmp(&a.1));
    times.truncate(3);
    let stages = times
        .iter()
        .map(|(stage, time)| format!("{stage} {time:.2}"));
    let stages: Vec<String> = stages.collect();
    println!("{all:>7.2} s {shape:<34} {}", stages.join(", "));
}

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

fn main() {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let wanted = |shape: &Shape| asked.is_empty() || asked.iter().any(|name| name == shape.name);
    let size = std::env::var("GRAPHC_GROWTH_SIZE").map(|size| size.parse().unwrap());
    for shape in shapes::all().into_iter().filter(wanted) {
        match size {
            Ok(n) => print_size(shape, n),
            Err(_) => print(shape),
        }
    }
}
