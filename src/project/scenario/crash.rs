//! Where a scenario ends the process.
//!
//! `crash: { after: "tool:run_sql#2" }`, `crash: { during: "model:cake_man/editor" }`, `crash: { after: "step:3" }`

use crate::project::yaml::{Cursor, Path};

/// A point in a run: `tool:run_sql#2`, `model:cake_man/editor#1`, `step:3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CrashPoint {
    /// A call of a tool.
    Tool {
        /// Its name.
        name: String,
        /// Which call of it, from 1.
        nth: u64,
    },
    /// A call of a model.
    Model {
        /// Path of the node.
        node: String,
        /// Which call of it, from 1.
        nth: u64,
    },
    /// The super-step of that number, from 1, of the run's own graph.
    Step(u64),
}

/// When at its point the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// When the effect has finished and is journaled, the step is committed.
    After,
    /// When the effect has been made and nothing of it is journaled.
    During,
}

/// `crash: { after: .. }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// The point.
    pub point: CrashPoint,
    /// When at that point.
    pub moment: Moment,
    /// Where it is written.
    pub at: Path,
}

/// Reads one.
pub fn read(cursor: &Cursor<'_>) -> Option<Crash> {
    let table = cursor.table("`crash`", &["after", "during"])?;
    let (part, moment) = match (table.get("after"), table.get("during")) {
        (Some(part), None) => (part, Moment::After),
        (None, Some(part)) => (part, Moment::During),
        _ => {
            let message = "`crash` has either `after` or `during`";
            cursor.report(cursor.finding(message));
            return None;
        }
    };
    let text = part.text()?;
    match parse(text) {
        Some(CrashPoint::Step(_)) if moment == Moment::During => {
            let message = "a step can't be stopped within, only an effect";
            part.report(part.finding(message).help("write `after: \"step:N\"`"));
            None
        }
        Some(point) => Some(Crash {
            point,
            moment,
            at: part.path().clone(),
        }),
        None => {
            let message = format!("`{text}` is no point to crash at");
            let help = "write `tool:NAME#N`, `model:NODE#N` or `step:N`, N from 1";
            part.report(part.finding(message).help(help));
            None
        }
    }
}

fn parse(text: &str) -> Option<CrashPoint> {
    let (kind, rest) = text.split_once(':')?;
    if kind == "step" {
        let step = rest.parse().ok().filter(|step| *step > 0)?;
        return Some(CrashPoint::Step(step));
    }
    let (name, nth) = rest.split_once('#').unwrap_or((rest, "1"));
    let nth = nth.parse().ok().filter(|nth| *nth > 0)?;
    if name.is_empty() {
        return None;
    }
    let name = name.to_owned();
    match kind {
        "tool" => Some(CrashPoint::Tool { name, nth }),
        "model" => Some(CrashPoint::Model { node: name, nth }),
        _ => None,
    }
}
