//! A thread from its start to its end, through processes that are killed on the way.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::place::{Ended, Place, Process};

/// When a process is killed, counted over all processes of the thread.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// So long after tools have begun so many calls.
    Begun(usize, Duration),
    /// So long after tools have ended so many calls.
    Over(usize, Duration),
    /// So long after the model was asked so often.
    Asked(usize, Duration),
    /// So long after a process was started.
    After(Duration),
}

impl When {
    /// The time for it, where its cause is there.
    fn wait(self, place: &Place, started: Instant) -> Option<Duration> {
        match self {
            When::Begun(count, wait) => (place.count("begin", false) >= count).then_some(wait),
            When::Over(count, wait) => (place.count("end", false) >= count).then_some(wait),
            When::Asked(count, wait) => (place.count("begin", true) >= count).then_some(wait),
            When::After(wait) => (started.elapsed() >= wait).then_some(Duration::ZERO),
        }
    }
}

enum Came {
    Killed,
    Ended(Ended),
}

/// What it took.
pub struct Way {
    /// Kills that came to pass; the others came too late.
    pub kills: usize,
    /// Processes that ended by themselves.
    pub processes: usize,
    pub took: Duration,
}

/// Starts, resumes and answers until the thread is done.
pub fn drive(place: &Place, input: &str, more: &[&str], kills: &[When]) -> Way {
    let begun = Instant::now();
    let mut processes = 0;
    let mut left = kills.iter().copied().peekable();
    let mut child = place.run(input, more);
    // Each process gets the thread on, but for those that are killed.
    for _ in 0..40 {
        let came = watch(place, child, left.peek().copied());
        let ended = match came {
            Came::Killed => {
                left.next();
                child = place.resume(more);
                continue;
            }
            Came::Ended(ended) => ended,
        };
        processes += 1;
        child = match ended.status {
            0 => break,
            2 if ended.stderr.contains("is done") => break,
            // Killed before anything was kept: then nothing was done either.
            2 if ended.stderr.contains("there is no thread") => {
                assert_eq!(place.count("begin", false), 0, "{ended:?}");
                assert_eq!(place.count("begin", true), 0, "{ended:?}");
                place.run(input, more)
            }
            3 => {
                let (id, answer) = answer(&ended.json());
                let args = ["--interrupt", &id, "--answer", &answer];
                place.resume(&[&args[..], more].concat())
            }
            _ => panic!("{ended:?} {:?}", place.log()),
        };
    }
    assert!(processes < 40, "it does not end: {:?}", place.log());
    Way {
        kills: kills.len() - left.count(),
        processes,
        took: begun.elapsed(),
    }
}

/// The answer to the first open interrupt: it depends on the question alone.
fn answer(result: &Json) -> (String, String) {
    let open = &result["interrupts"][0];
    let answer = json!({ "go": true, "note": format!("noted {}", open["ask"]["n"]) });
    (open["id"].as_str().unwrap().to_owned(), answer.to_string())
}

fn watch(place: &Place, mut process: Process, kill: Option<When>) -> Came {
    let started = Instant::now();
    loop {
        if process.child.try_wait().unwrap().is_some() {
            return Came::Ended(Ended::of(process));
        }
        if let Some(wait) = kill.and_then(|kill| kill.wait(place, started)) {
            std::thread::sleep(wait);
            if process.child.try_wait().unwrap().is_some() {
                return Came::Ended(Ended::of(process));
            }
            place.kill(process);
            return Came::Killed;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "it hangs");
        std::thread::sleep(Duration::from_millis(1));
    }
}
