//! What `graphc audit` says a flow can cost: `tests/audit/*.graph` have figures worked out by hand in a line
//! `//= steps .., calls .., tokens ..`, and their whole sheet in a snapshot beside them. For small random flows all runs are tried
//! out, and none is longer than the sheet says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use graphc::audit::{Bound, Services, Sheet, audit, widen};
use graphc::compile::compile;
use graphc::diag::render;
use graphc::ir::{Flow, Jump, NodeId, Route, Target};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn compiled(text: &str) -> Result<Flow, String> {
    let files = BTreeMap::from([("case.graph".to_owned(), text.to_owned())]);
    let compiled = compile("case.graph", &files);
    let (found, sources) = (&compiled.diagnostics, &compiled.sources);
    compiled
        .flow
        .ok_or_else(|| render::human(found, sources, render::Style::PLAIN))
}

fn sheet_of(flow: &Flow) -> Sheet {
    audit(flow, flow.entry.unwrap(), &Services::default())
}

fn figure(bound: &Bound) -> String {
    match bound {
        Bound::AtMost(most) => most.to_string(),
        Bound::Unbounded(_) => "UNBOUNDED".to_owned(),
    }
}

#[test]
fn sheets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit");
    let (mut cases, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "graph")
        {
            continue;
        }
        cases += 1;
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let flow = compiled(&text).unwrap_or_else(|found| panic!("{name}\n{found}"));
        let sheet = sheet_of(&flow);
        let figures = format!(
            "steps {}, calls {}, tokens {}",
            figure(&sheet.steps),
            figure(&sheet.model_calls),
            figure(&sheet.output_tokens)
        );
        let expected = text.lines().find_map(|line| line.strip_prefix("//= "));
        if expected != Some(&figures) {
            wrong.push(format!("{name}: {figures}, expected {expected:?}"));
        }
        insta::with_settings!({
            snapshot_path => &folder,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, serde_json::to_string_pretty(&sheet).unwrap());
        });
    }
    assert!(cases > 10, "{cases}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A flow of plain nodes with ways chosen by `choices`.
fn random_flow(choices: &[u8]) -> String {
    let mut choices = choices.iter().copied();
    let mut below = move |limit: usize| usize::from(choices.next().unwrap_or(0)) % limit;
    let count = 2 + below(4);
    let mut text =
        "graph Main {\n  state { in n: int, out done: bool = true }\n  start -> n0\n".to_owned();
    for node in 0..count {
        let arms = 1 + below(2);
        let mut lines = String::new();
        for arm in 0..arms {
            let targets: BTreeSet<usize> = (0..1 + below(6) / 5).map(|_| below(count)).collect();
            let targets: Vec<String> = targets.iter().map(|to| format!("n{to}")).collect();
            lines += &format!(" when state.n == {arm} -> [{}]\n", targets.join(", "));
        }
        let last = match below(3) {
            0 => format!("n{}", below(count)),
            _ => "end".to_owned(),
        };
        let cap = match below(3) {
            0 => String::new(),
            cap => format!(
                "max_visits {cap} -> {}",
                match below(4) {
                    0 => format!("n{}", below(count)),
                    _ => "end".to_owned(),
                }
            ),
        };
        text +=
            &format!("  node n{node}: update {{ {cap}\n goto {{\n{lines} else -> {last} }} }}\n");
    }
    text + "}\n"
}

/// All runs of a flow of plain nodes.
struct Runs<'f> {
    flow: &'f Flow,
    /// Longest from a place on; `None` while it is being tried.
    known: BTreeMap<(BTreeSet<NodeId>, Vec<u32>), Option<u64>>,
    most: usize,
}

impl Runs<'_> {
    /// The super-steps of the longest run; `None` for one that goes on for ever.
    fn longest(&mut self, at: BTreeSet<NodeId>, visits: Vec<u32>) -> Option<u64> {
        if at.is_empty() {
            return Some(0);
        }
        let key = (at.clone(), visits.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        assert!(self.known.len() < self.most, "too many places");
        self.known.insert(key.clone(), None);
        let graph = &self.flow.graphs[self.flow.entry.unwrap()];
        // Every choice of arms of the nodes that run together.
        let mut nexts = vec![(BTreeSet::new(), visits)];
        for node in &at {
            let jumps: Vec<&Jump> = match graph.nodes[*node].next.as_ref().unwrap() {
                Route::Always(jump) => vec![jump],
                Route::Arms(arms) => arms.iter().map(|arm| &arm.jump).collect(),
            };
            nexts = nexts
                .into_iter()
                .flat_map(|(next, visits): (BTreeSet<NodeId>, Vec<u32>)| {
                    let after = jumps.iter().map(move |jump| {
                        let mut next = next.clone();
                        next.extend(jump.to.iter().filter_map(|to| match to {
                            Target::Node(id) => Some(*id),
                            _ => None,
                        }));
                        (next, visits.clone())
                    });
                    after.collect::<Vec<_>>()
                })
                .collect();
        }
        let mut longest = Some(0);
        for (next, visits) in nexts {
            let rest = match self.entered(next, visits) {
                Some((next, visits)) => self.longest(next, visits),
                None => None,
            };
            longest = longest.zip(rest).map(|(a, b)| u64::max(a, b));
        }
        let longest = longest.map(|steps| steps + 1);
        self.known.insert(key, longest);
        longest
    }

    /// The nodes that are entered in place of those that were visited too often. `None` where none ever is.
    fn entered(
        &self,
        wanted: BTreeSet<NodeId>,
        mut visits: Vec<u32>,
    ) -> Option<(BTreeSet<NodeId>, Vec<u32>)> {
        let graph = &self.flow.graphs[self.flow.entry.unwrap()];
        let mut entered = BTreeSet::new();
        for node in wanted {
            let mut waiting = vec![node];
            let mut hops = 0;
            while let Some(node) = waiting.pop() {
                hops += 1;
                if hops > 100 {
                    return None;
                }
                let index = node.0 as usize;
                match &graph.nodes[node].max_visits {
                    Some(most) if visits[index] >= most.limit => {
                        waiting.extend(most.to.to.iter().filter_map(|to| match to {
                            Target::Node(id) => Some(*id),
                            _ => None,
                        }));
                    }
                    Some(_) if entered.contains(&node) => {}
                    Some(_) => {
                        visits[index] += 1;
                        entered.insert(node);
                    }
                    None => {
                        entered.insert(node);
                    }
                }
            }
        }
        Some((entered, visits))
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_260_312),
        max_global_rejects: 100_000,
        ..ProptestConfig::with_cases(400)
    })]

    /// No run is longer than the sheet says, and where it says that nothing bounds a run, one goes on for ever
    /// or a smaller bound could not be shown.
    #[test]
    fn no_run_is_longer(choices in proptest::collection::vec(any::<u8>(), 10..60)) {
        let text = random_flow(&choices);
        let Ok(flow) = compiled(&text) else {
            return Err(TestCaseError::reject("no flow"));
        };
        let count = flow.graphs[flow.entry.unwrap()].nodes.len();
        let mut runs = Runs { flow: &flow, known: BTreeMap::new(), most: 200_000 };
        let start = runs.entered(BTreeSet::from([NodeId(0)]), vec![0; count]);
        let longest = start.and_then(|(at, visits)| runs.longest(at, visits));
        match (sheet_of(&flow).steps, longest) {
            (Bound::AtMost(most), Some(longest)) => {
                prop_assert!(longest <= most, "{} is more than {}\n{}", longest, most, text);
            }
            (Bound::AtMost(most), None) => {
                prop_assert!(false, "a run goes on for ever, not {}\n{}", most, text);
            }
            (Bound::Unbounded(_), _) => {}
        }
    }
}

#[test]
fn a_loop_under_another_name_is_no_wider_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit/uncapped.graph");
    let text = std::fs::read_to_string(path).unwrap();
    let sheet = |text: &str| sheet_of(&compiled(text).unwrap());
    let renamed = sheet(&text.replace("review", "judge"));
    assert_eq!(
        widen::widened(&sheet(&text), &renamed),
        Vec::<String>::new()
    );
    // A loop more is one.
    let twice = text.replace("when state.ok -> end", "when state.ok -> again");
    let twice = twice.trim_end().trim_end_matches('}').to_owned()
        + "  node again: llm { model m, prompt \"a\", set { ok: reply.text == \"ok\" }, goto { when state.ok -> end else -> again } }\n}\n";
    let wider = widen::widened(&sheet(&text), &sheet(&twice));
    assert!(
        wider[0].starts_with("super-steps: UNBOUNDED: loop again"),
        "{wider:?}"
    );
}
