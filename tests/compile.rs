//! A compilation as a function of its texts: it can be cancelled, and finds the same each time, on any thread.

use std::cell::Cell;
use std::collections::BTreeMap;

use graphc::compile::{Cancelled, analyse, analyse_unless, compile};
use graphc::diag::render;
use graphc::lint::model::Families;

/// A flow of several graphs, each with a misspelt name.
fn wrong() -> BTreeMap<String, String> {
    let graph = |at: usize| {
        format!(
            "graph G{at} {{\n  state {{ in out number: int }}\n  start -> n\n  \
             node n: update -> end {{ set {{ number: state.nunber + 1 }} }}\n}}\n"
        )
    };
    let text: String = (0..4).map(graph).collect();
    BTreeMap::from([("main.graph".to_owned(), text)])
}

fn shown(files: &BTreeMap<String, String>) -> String {
    let compiled = compile("main.graph", files);
    render::human(
        &compiled.diagnostics,
        &compiled.sources,
        render::Style::PLAIN,
    )
}

#[test]
fn the_thousandth_time_finds_what_the_first_did() {
    let files = wrong();
    let first = shown(&files);
    assert_eq!(first.matches("`number`").count(), 4, "{first}");
    for _ in 0..1000 {
        assert_eq!(shown(&files), first);
    }
    let other = std::thread::spawn(move || shown(&files)).join().unwrap();
    assert_eq!(other, first);
}

#[test]
fn it_stops_wherever_it_is_cancelled() {
    let (files, families) = (wrong(), Families::default());
    let asked = Cell::new(0);
    let whole = analyse_unless(
        &|| {
            asked.set(asked.get() + 1);
            false
        },
        "main.graph",
        &files,
        &families,
    );
    let whole = whole.unwrap().diagnostics.len();
    assert_eq!(
        whole,
        analyse("main.graph", &files, &families).diagnostics.len()
    );
    // Once for each graph at least.
    assert!(asked.get() > 4, "{}", asked.get());
    for last in 0..asked.get() {
        let times = Cell::new(0);
        let found = analyse_unless(
            &|| {
                times.set(times.get() + 1);
                times.get() > last
            },
            "main.graph",
            &files,
            &families,
        );
        assert_eq!(found.err(), Some(Cancelled));
        assert_eq!(times.get(), last + 1, "it went on");
    }
}
