//! What is shown while rows run, and what ends them early.

use std::process::exit;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::backend::group;
use crate::cli::running::run::signals;
use crate::cli::{Exit, screen, term};

/// Counts runs in one line on a terminal, until there are no more.
pub async fn show(mut ended: UnboundedReceiver<bool>, all: usize, draws: bool) {
    let (mut done, mut failed) = (0_usize, 0_usize);
    while let Some(well) = ended.recv().await {
        done += 1;
        failed += usize::from(!well);
        if draws {
            let failed = match failed {
                0 => String::new(),
                count => format!(", {count} failed"),
            };
            screen::count(&format!("{done}/{all} runs{failed}"));
        }
    }
    if draws && done > 0 {
        screen::count("");
    }
}

/// A first signal gives up what runs; a second one ends the process.
pub fn cancelled_by_signals(cancel: CancellationToken) {
    tokio::spawn(async move {
        signals::wait().await;
        cancel.cancel();
        term::say("\ncancelling: what has run is kept (again to stop at once)");
        signals::wait().await;
        group::end_all();
        exit(Exit::Cancelled.status().into());
    });
}
