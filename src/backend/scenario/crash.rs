//! Where a scenario ends the process.

use crate::backend::yaml::{Cursor, Path};

/// An effect whose end is the end of the process: `tool:run_sql#2`, `model:cake_man/editor#1`.
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
}

/// `crash: { after: .. }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// The process ends when this effect has finished and is journaled.
    pub after: CrashPoint,
    /// Where it is written.
    pub at: Path,
}

/// Reads one.
pub fn read(cursor: &Cursor<'_>) -> Option<Crash> {
    let after = cursor.table("`crash`", &["after"])?.require("after")?;
    let text = after.text()?;
    match parse(text) {
        Some(point) => Some(Crash {
            after: point,
            at: after.path().clone(),
        }),
        None => {
            let message = format!("`{text}` is no point to crash at");
            let help = "write `tool:NAME#N` or `model:NODE#N`, N from 1";
            after.report(after.finding(message).help(help));
            None
        }
    }
}

fn parse(text: &str) -> Option<CrashPoint> {
    let (kind, rest) = text.split_once(':')?;
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
