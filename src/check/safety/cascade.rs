//! What is said of approvals where the conditions on the answer are wrong themselves: nothing yet.

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::diag::{Code, Diagnostics, Level, codes};
use crate::resolve::program::{Graph, Program, Route, TargetKind};

/// Findings that rest on what conditions, and the attributes of a tool, say.
const RESTING: [&Code; 4] = [
    &codes::TAINTED_SINK,
    &codes::UNAPPROVED_TOOL,
    &codes::RUNS_AFTER_REFUSAL,
    &codes::ANSWER_IGNORED,
];

/// Takes out what is found in a graph one of whose conditions has an error, and of a tool with one: mended, it may
/// decide by the answer, or ask a person.
pub fn without(program: &Program, diags: &mut Diagnostics) {
    let rests = |code: &Code| RESTING.contains(&code);
    if !diags.iter().any(|found| rests(found.code)) {
        return;
    }
    let errors = diags
        .iter()
        .filter(|found| found.level == Level::Error && !rests(found.code));
    let mut errors: Vec<Span> = errors.map(|found| found.span()).collect();
    errors.sort();
    let wrong = program.graphs.iter().filter(|graph| {
        let mut conditions = conditions(graph).into_iter();
        conditions.any(|condition| has_one_within(&errors, condition.span))
    });
    let wrong: Vec<Span> = wrong.map(|graph| graph.span).collect();
    let tools = program.tools.iter().map(|tool| tool.span);
    let tools = tools.filter(|tool| has_one_within(&errors, *tool));
    let wrong: Vec<Span> = wrong.into_iter().chain(tools).collect();
    diags.retain(|found| {
        let mut places = found.labels.iter().map(|label| label.span);
        !rests(found.code) || !places.any(|place| wrong.iter().any(|whole| whole.holds(place)))
    });
}

/// Whether one of the sorted places lies within.
fn has_one_within(places: &[Span], whole: Span) -> bool {
    let first = places.partition_point(|at| (at.file, at.start) < (whole.file, whole.start));
    places.get(first).is_some_and(|at| whole.holds(*at))
}

/// Conditions by which a graph's runs go on or not.
fn conditions(graph: &Graph) -> Vec<&Expr> {
    let mut all = Vec::new();
    for node in &graph.nodes {
        all.extend(node.skips.iter().map(|skip| &skip.when));
        all.extend(node.requires.iter().map(|require| &require.condition));
        all.extend(node.goto.iter().flat_map(|goto| of_route(&goto.node)));
    }
    all
}

fn of_route(route: &Route) -> Vec<&Expr> {
    match route {
        Route::Arms(arms, _) => arms.iter().filter_map(|arm| arm.when.as_ref()).collect(),
        Route::Always(jump) => {
            let computed = jump.to.iter().filter_map(|target| match &target.kind {
                TargetKind::Computed(expr) => Some(&**expr),
                _ => None,
            });
            computed.collect()
        }
    }
}
