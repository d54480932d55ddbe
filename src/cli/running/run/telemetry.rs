//! Traces and metrics of the runs of a command: begun where the environment or the settings say so, sent before it ends.

use tokio::task::spawn_blocking;

use crate::backend::telemetry::settings::TelemetrySettings;
use crate::backend::telemetry::{FLUSH, Telemetry};
use crate::diag::Diagnostics;
use crate::project::Project;
use crate::project::config::Config;
use crate::project::environment::Environment;
use crate::run::observe::Observed;

use super::super::{Failure, logs, term};

/// Begins it; `None` where nobody asks for it.
///
/// # Errors
/// Outside, variables of the settings that are not set; inside, what the environment says that can't be used.
pub fn start(
    project: &Project,
    config: &Config,
) -> Result<Result<Option<Telemetry>, Failure>, Diagnostics> {
    let spec = match &config.telemetry {
        Some(entry) => Some(entry.usable()?),
        None => None,
    };
    Ok(Environment::of(project.settings.as_deref())
        .map_err(Failure::from)
        .and_then(|environment| {
            let found = TelemetrySettings::find(spec, &|name| environment.get(name));
            let Some(mut settings) = found.map_err(Failure::unusable)? else {
                return Ok(None);
            };
            if let Some(warning) = &settings.warning {
                term::say(&format!("warning: {warning}"));
            }
            logs::hide(&settings.secrets);
            settings.secrets.add_all(&config.secrets());
            let started = Telemetry::start(settings)
                .map_err(|error| Failure::unusable(format!("could not start a thread: {error}")))?;
            Ok(Some(started))
        }))
}

/// Who observes the runs of a command: telemetry and logs, as far as they are asked for.
pub fn observed(telemetry: Option<&Telemetry>) -> Option<Observed> {
    let both = telemetry.map(Telemetry::observed).into_iter();
    both.chain(logs::observed()).reduce(Observed::and)
}

/// Sends what is still to be sent, for as long as a process waits for that. What could not be is said, and fails nothing.
pub async fn flush(telemetry: Option<Telemetry>) {
    let Some(telemetry) = telemetry else {
        return;
    };
    let flushed = spawn_blocking(move || telemetry.flush(FLUSH)).await;
    if let Ok(Err(why)) = flushed {
        term::say(&format!("warning: telemetry is not complete: {why}"));
    }
}
