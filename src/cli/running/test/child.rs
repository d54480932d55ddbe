//! `graphc play-scenario JOB`: plays one scenario and tells on stdout what it sees, until it ends, is
//! killed or has its stdin closed. `graphc test` starts it for scenarios with a `crash`.

use std::collections::BTreeMap;

use crate::backend::group;
use crate::cli::running::bindings;
use crate::cli::{Context, Exit, Failure};
use crate::scenario::crash::{Job, play_here};
use crate::scenario::group::{open_store, stage};
use crate::scenario::play::Stage;

use super::load;

/// Ends the process, and the programs of its tools, once whoever started it is gone.
fn end_with_stdin() {
    std::thread::spawn(|| {
        // Nothing is written there: it returns at the end, or with an error that means the same.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        group::end_all();
        std::process::exit(Exit::Cancelled.status().into());
    });
}

const EXAMPLES: &str = "\
Examples:
  graphc play-scenario '{\"file\": \"desk.test.yaml\", \"scenario\": 0, \"store\": \"threads.db\", \"thread\": \"t\"}'";

/// Arguments of `graphc play-scenario`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to play, as JSON
    #[arg(value_name = "JOB")]
    pub job: String,
}

/// Plays it.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::unusable(error.to_string());
    let job: Job = serde_json::from_str(&args.job).map_err(|error| failed(&error))?;
    let file = load::one(&job.file, &mut BTreeMap::new(), context);
    let file = file.map_err(|broken| broken.failure)?;
    let scenario = file.suite.scenarios.get(job.scenario);
    let scenario = scenario.ok_or_else(|| failed(&"there is no such scenario"))?;
    // Services run already: their variables are in the environment.
    let bindings = bindings::load(&file.project, context, &[])?;
    let store = open_store(Some(job.store.clone()));
    let stage = stage(scenario, &file.plan, &bindings, &store);
    let stage = stage.map_err(|finding| failed(&finding.message))?;
    let stage = Stage {
        thread_id: job.thread.clone(),
        ..stage
    };
    end_with_stdin();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(crate::cli::STACK_BYTES)
        .enable_all()
        .build()
        .map_err(|error| failed(&error))?;
    let played = runtime.block_on(play_here(&file.suite, &stage, &job));
    played.map_err(|error| failed(&error))?;
    Ok(Exit::Done)
}
