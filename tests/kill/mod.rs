//! Processes that end themselves with `SIGKILL` at each thing that they do to the store: every lease taken and given back,
//! every append of the journal and of a checkpoint, every result that is kept for other runs, before it, in the midst of it and right after it.
//!
//! A process is this test program again, told by its environment to run only [`child::child`]. What it does to the world it notes in
//! a file of its own; another process goes on with the thread. `judge` holds both against a run that nobody disturbed.
//!
//! `GRAPHC_KILL_POINTS=N` sets how many points of each flow are tried on each store under each durability, `GRAPHC_KILL_POINTS=all` tries them all.

mod child;
mod deed;
mod deeds;
mod doom;
mod exit;
mod kept;
mod place;
mod world;

use crate::judge;
use doom::{Ask, Doom};
use place::{Ended, Place};
use serde_json::Value as Json;

/// Fewer things than that lie between the word that a process is to stop and its end.
const AHEAD: u64 = 3;

/// How many things that a process does to the store lie between two kills, at most, where it is killed twice.
const SECOND: u64 = 7;

/// The points to try of so many: `few`, where nothing else is asked for.
fn points(all: usize, few: usize) -> Vec<usize> {
    let most = match std::env::var("GRAPHC_KILL_POINTS").as_deref() {
        Ok("all") => all,
        Ok(number) => number
            .parse()
            .expect("GRAPHC_KILL_POINTS is a number or `all`"),
        Err(_) => few,
    };
    let count = most.min(all);
    // Spread over the whole run.
    (0..count)
        .map(|n| (2 * n + 1) * all / (2 * count))
        .collect()
}

/// How the processes of a thread are killed.
struct Way {
    name: &'static str,
    durability: &'static str,
    /// How they are asked to stop before.
    ask: Option<Ask>,
    /// Points that are tried of it, where nothing else is asked for.
    few: usize,
}

const fn way(name: &'static str, durability: &'static str, few: usize) -> Way {
    Way {
        name,
        durability,
        ask: None,
        few,
    }
}

const WAYS: [Way; 5] = [
    way("sync", "sync", 2),
    way("async", "async", 3),
    way("exit", "exit", 1),
    Way {
        ask: Some(Ask::Drain),
        ..way("drained", "async", 2)
    },
    Way {
        ask: Some(Ask::Cancel),
        ..way("cancelled", "async", 1)
    },
];

fn torment(flow: &str, input: &str, store: &str, url: impl Fn(&Place) -> String) {
    for way in WAYS {
        let name = format!("{flow}-{store}-{}", way.name);
        let calm = Place::new(&format!("{name}-calm"), flow, input, way.durability);
        let Ended::Done { state, done } = calm.process(&calm.job(&url(&calm))) else {
            panic!("nobody has killed it");
        };
        assert!(done >= 3, "{name}: {done}");
        // Each thing that is done to the store, at its three moments.
        let all = done as usize * 3;
        let tried = points(all, way.few);
        for point in &tried {
            strike((&calm, &state), *point, way.ask, &url);
        }
        println!("{name}: {} of {all} points", tried.len());
    }
}

/// Kills a process at a point, and holds what came of its thread against a calm run's state.
fn strike(
    (calm, state): (&Place, &Json),
    point: usize,
    ask: Option<Ask>,
    url: &impl Fn(&Place) -> String,
) {
    let mut doom = Doom::nth(point);
    doom.asked = ask.map(|ask| (ask, point as u64 % AHEAD));
    // Every third is killed once more on its way.
    let again = point.is_multiple_of(3).then(|| Doom {
        at: 1 + point as u64 % SECOND,
        ..Doom::nth(point / 7)
    });
    // What is kept together depends on timing: a run may come to its end with fewer appends than the calm one had, and more so one that
    // was asked to stop.
    loop {
        let place = calm.another(&point.to_string());
        let job = place.job(&url(&place));
        let process = |doom| {
            place.process(&child::Job {
                doom,
                ..job.clone()
            })
        };
        if let Ended::Done { done, state } = process(Some(doom)) {
            match (doom.asked, state) {
                (Some((ask, ahead)), Json::Null) if ahead > 0 => {
                    doom.asked = Some((ask, ahead - 1));
                }
                _ => {
                    assert!(doom.at > done && done > 1, "{doom:?} was passed by");
                    doom.at = done - 1;
                }
            }
            continue;
        }
        let mut next = [again].into_iter();
        let ended = loop {
            if let Ended::Done { state, .. } = process(next.next().flatten()) {
                break state;
            }
        };
        let log = place.log();
        match calm.is_kept_at_its_end() {
            true => exit::judge(&log, &calm.log()),
            false => judge::judge(&log, &calm.log()),
        }
        kept::judge(&log, &calm.log());
        assert_eq!(
            place.to_compare(ended),
            place.to_compare(state.clone()),
            "{doom:?}"
        );
        return;
    }
}

macro_rules! flows {
    ($($name:ident: $flow:literal $input:literal)*) => {
        mod sqlite {
            $(
                #[test]
                fn $name() {
                    crate::kill::torment($flow, $input, "sqlite", crate::kill::Place::sqlite);
                }
            )*
        }
        mod postgres {
            $(
                #[test]
                fn $name() {
                    crate::kill::torment($flow, $input, "postgres", |_| crate::cluster::shared().url());
                }
            )*
        }
    };
}

flows! {
    an_agent_in_a_loop: "loop" "{\"task\": \"step 3 times\"}"
    workers_side_by_side: "fan" "{\"items\": [\"a\", \"b\", \"c\"]}"
    fan_outs_that_lead_on: "then" "{\"items\": [\"a\", \"b\", \"c\"]}"
    graphs_in_graphs: "nested" "{\"task\": \"step 2 times\"}"
    states_that_last: "lasting" "{\"task\": \"words\"}"
    two_questions_at_once: "ask" "{}"
    calls_that_are_permitted: "permit" "{}"
    what_is_remembered: "remember" "{\"names\": [\"a\", \"b\", \"c\"]}"
    tools_that_fail_at_first: "retry" "{\"task\": \"flaky 2 times\"}"
    calls_that_are_made_once: "once" "{}"
    results_that_are_used_again: "cached" "{\"items\": [\"a\", \"b\", \"a\"]}"
}
