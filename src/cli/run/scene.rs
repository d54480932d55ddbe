//! A scenario in place of the world: who speaks, what time it is.

use std::future::ready;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::backend::scenario::{self, Scenario, Script, Start};
use crate::base::{SourceMap, name};
use crate::run::ambient::{Ambient, SystemAmbient};

use super::super::{Context, Exit, Failure, files, settings};

/// Finds a scenario of a flow and makes it ready to play.
pub fn load(
    flow: &Path,
    name: &str,
    start: Start,
    context: &Context,
) -> Result<Arc<Script>, Failure> {
    let path = beside(flow)?;
    let source = files::read(&path).map_err(|failure| {
        failure.help(format!(
            "scenarios of a flow are in `{}`",
            files::shown(&path)
        ))
    })?;
    let mut sources = SourceMap::new();
    let file = sources.add(&source.name, &source.text);
    let suite = scenario::load(&sources, file)
        .map_err(|found| settings::say(&found, &sources, context, Exit::Unusable))?;
    let script = suite
        .position(name)
        .and_then(|index| Script::new(&suite, index, start));
    let script = script.ok_or_else(|| {
        let help = match name::closest(name, suite.names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is {}", name::list(suite.names())),
        };
        let message = format!("`{}` has no scenario `{name}`", source.name);
        Failure::unusable(message).help(help)
    })?;
    refuse(script.scenario())?;
    Ok(script)
}

/// What a run outside of `graphc test` can't do is refused, not left out.
fn refuse(scenario: &Scenario) -> Result<(), Failure> {
    let what = match scenario {
        Scenario { crash: Some(_), .. } => "ends its process on the way (`crash`)",
        scenario if !scenario.context.is_empty() => "sets a `context`, which no graph can take",
        _ => return Ok(()),
    };
    let message = format!("scenario `{}` {what}", scenario.name);
    Err(Failure::unusable(message).help("`graphc test` runs it, or choose another one"))
}

/// `desk.test.yaml` for `desk.graph` and for `desk.ir.json`.
fn beside(flow: &Path) -> Result<PathBuf, Failure> {
    let name = flow.file_name().and_then(|name| name.to_str());
    let stem = name.and_then(|name| name.split('.').next());
    match stem {
        Some(stem) if !stem.is_empty() && stem != "-" => {
            Ok(flow.with_file_name(format!("{stem}.test.yaml")))
        }
        _ => Err(Failure::unusable(
            "a flow from stdin has no `.test.yaml` beside it, and so no scenario",
        )),
    }
}

/// The clock and the chance of a scenario: ids count up, nothing waits for a retry.
#[derive(Debug, Clone, Copy)]
pub struct SceneAmbient {
    /// What `now()` gives; the time itself where the scenario sets no clock.
    pub clock: Option<Timestamp>,
}

impl Ambient for SceneAmbient {
    fn now(&self) -> Timestamp {
        self.clock.unwrap_or_else(Timestamp::now)
    }

    fn uuid(&self, ordinal: u64) -> String {
        match ordinal.checked_add(1) {
            // Ids of runs: two runs of one scenario are two runs.
            None => SystemAmbient.uuid(ordinal),
            Some(number) => format!("00000000-0000-4000-8000-{number:012x}"),
        }
    }

    fn random(&self, ordinal: u64) -> f64 {
        // The fractions of the golden ratio's multiples: spread evenly, and the same in every run.
        (ordinal as f64 * 0.618_033_988_749_894_9).fract()
    }

    fn sleep(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(ready(()))
    }
}
