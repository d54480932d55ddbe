//! `graphc check --online`: tries what the flows need, all at the same time, and shows how far it is.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::backend::group;
use crate::backend::probe::{self, Group};
use crate::project::tried::Row;

use super::run::{process, signals};
use super::{Context, Exit, Failure, screen, storage};

pub use crate::backend::bind::{Needs, wrong_address};

/// Gets what the flows need.
///
/// # Errors
/// Where this build can't try it.
pub fn needs() -> Result<Needs, Failure> {
    Ok(Needs::new(storage::DEFAULT))
}

/// A row for each thing that the flows need. Ctrl-C ends it, and what was started for it.
///
/// # Errors
/// Where no thread can be started, and where it was ended.
pub fn rows(needs: Needs, context: &Context) -> Result<Vec<Row>, Failure> {
    let groups = needs.groups();
    let all: usize = groups.iter().map(Group::count).sum();
    let draws = context.terminal.stderr && !context.quiet;
    let tried = AtomicUsize::new(0);
    let done = || {
        let count = tried.fetch_add(1, Ordering::Relaxed) + 1;
        if draws {
            screen::count(&format!("{count}/{all} tried"));
        }
    };
    let runtime = process::runtime()?;
    let rows = runtime.block_on(async {
        tokio::select! {
            biased;
            _ = signals::wait() => None,
            rows = probe::rows(groups, &done) => Some(rows),
        }
    });
    if draws {
        screen::count("");
    }
    // A name that is being looked up, or a file that is read, is not waited for.
    runtime.shutdown_background();
    rows.ok_or_else(|| {
        group::end_all();
        Failure::silent(Exit::Cancelled)
    })
}
