//! Five shapes of flow, each killed at many points.

use std::time::Duration;

use super::drive::{When, drive};
use super::judge::judge;
use super::place::Place;

/// Kill points of a shape, unless `GRAPHC_KILL_POINTS` gives the number of all shapes together.
const POINTS: usize = 7;

/// Pseudo-random numbers: the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    fn millis(&mut self, limit: usize) -> Duration {
        Duration::from_millis(self.below(limit) as u64)
    }
}

fn points() -> usize {
    let asked = std::env::var("GRAPHC_KILL_POINTS").ok();
    asked.map_or(POINTS, |all| all.parse::<usize>().unwrap().div_ceil(5))
}

/// Kills a thread of the flow at points spread over its calm run.
fn torment(flow: &str, input: &str) {
    let calm = Place::new(&format!("{flow}-calm"), flow, "0.04");
    let way = drive(&calm, input, &[], &[]);
    let (calls, asked) = (calm.count("end", false), calm.count("end", true));
    let (state, log) = (calm.thread(), calm.log());
    let mut dice = Dice(0x5eed_0000 + flow.len() as u64 + u64::from(flow.as_bytes()[0]));
    let (mut planned, mut killed) = (0, 0);
    for number in 0..points() {
        let call = 1 + dice.below(calls);
        let whole = way.took.as_millis() as usize / way.processes;
        let mut kills = vec![match number % 4 {
            0 => When::Begun(call, dice.millis(35)),
            1 => When::Over(call, dice.millis(6)),
            2 if asked > 0 => When::Asked(1 + dice.below(asked), dice.millis(10)),
            _ => When::After(dice.millis(whole)),
        }];
        if number % 3 == 0 {
            kills.push(When::After(
                Duration::from_millis(20) + dice.millis(whole / 2),
            ));
        }
        let place = Place::new(&format!("{flow}-{number}"), flow, "0.04");
        let durability = if number % 2 == 0 { "async" } else { "sync" };
        let went = drive(&place, input, &["--durability", durability], &kills);
        planned += kills.len();
        killed += went.kills;
        println!("{flow} {number}: {durability}, {} of {kills:?}", went.kills);
        judge(&place.log(), &log);
        let thread = place.thread();
        assert_eq!(thread["status"], "done");
        assert_eq!(thread["state"], state["state"]);
    }
    assert!(killed * 3 >= planned * 2, "{killed} of {planned} kills hit");
}

#[test]
fn an_agent_in_a_loop() {
    torment("loop", r#"{"task": "step 3 times"}"#);
}

#[test]
fn workers_side_by_side() {
    torment("fan", r#"{"items": ["a", "b", "c"]}"#);
}

#[test]
fn graphs_in_graphs() {
    torment("nested", r#"{"task": "step 2 times"}"#);
}

#[test]
fn two_questions_at_once() {
    torment("ask", "{}");
}

#[test]
fn tools_that_fail_at_first() {
    torment("retry", r#"{"task": "flaky 2 times"}"#);
}
