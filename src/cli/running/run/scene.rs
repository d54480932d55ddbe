//! A scenario in place of the world: finding it, and whether it can be played here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::scenario::{Script, Start};
use crate::backend::service::{Fault, Services};
use crate::base::SourceMap;
use crate::base::name::{did_you_mean, either, list};
use crate::ir::Flow;
use crate::project::config::Config;
use crate::project::fit::fit_one;
use crate::project::scenario::{self, Scenario, Suite};

use super::super::{Context, Exit, Failure, files, scenes, services, settings};
use super::signals;

/// A scenario that is ready to play.
pub struct Scene {
    /// Its play.
    pub script: Arc<Script>,
    suite: Suite,
    /// Text of the file, for places.
    sources: SourceMap,
}

impl Scene {
    /// Starts the services that it needs beside it; none where it has no tool really called.
    ///
    /// # Errors
    /// Why one did not become ready, or that the process was asked to end meanwhile.
    pub async fn services(
        &self,
        folder: &Path,
        context: &Context,
    ) -> Result<Option<Services>, Failure> {
        if !self.script.scenario().calls_for_real(false) || self.suite.services.is_empty() {
            return Ok(None);
        }
        let started = tokio::select! {
            biased;
            _ = signals::wait() => return Err(Failure::silent(Exit::Cancelled)),
            started = Services::start(&self.suite.services, folder) => started,
        };
        started
            .map(Some)
            .map_err(|fault| self.failure(&fault, context))
    }

    /// What is wrong with one of its services.
    pub fn failure(&self, fault: &Fault, context: &Context) -> Failure {
        services::failure(fault, &self.suite, &self.sources, context)
    }
}

/// Finds a scenario of a flow and makes it ready to play.
///
/// Where it doesn't fit the flow, all of that is said and nothing runs.
pub fn load(
    flow: &Path,
    (compiled, config): (&Flow, &Config),
    name: &str,
    start: Start,
    context: &Context,
) -> Result<Scene, Failure> {
    let mut having = Vec::new();
    let mut known = Vec::new();
    let mut wrong = None;
    let paths = scenes::needed(flow)?;
    for path in &paths {
        let source = files::read(path)?;
        let mut sources = SourceMap::new();
        let file = sources.add(&source.name, &source.text);
        match scenario::load(&sources, file) {
            Ok(suite) => {
                known.extend(suite.names().map(str::to_owned));
                if let Some(index) = suite.position(name) {
                    having.push((path, source.name, sources, suite, index));
                }
            }
            Err(found) => {
                wrong.get_or_insert((found, sources));
            }
        }
    }
    if let [first, second, ..] = having.as_slice() {
        let (first, second) = (&first.1, &second.1);
        let message = format!("`{first}` and `{second}` both have a scenario `{name}`");
        return Err(Failure::unusable(message).help("give one of them another name"));
    }
    let (path, _, sources, suite, index) = match (having.pop(), wrong) {
        (Some(one), _) => one,
        (None, Some((found, sources))) => {
            return Err(settings::say(&found, &sources, context, Exit::Unusable));
        }
        (None, None) => return Err(unknown(&paths, name, &known)),
    };
    let misfits = fit_one(&suite, compiled, Some(config), index);
    if misfits.has_errors() {
        return Err(settings::say(&misfits, &sources, context, Exit::Unusable));
    }
    let script = Script::new(&suite, index, start).ok_or_else(|| unknown(&paths, name, &known))?;
    refuse(script.scenario())?;
    if script.scenario().recorded {
        script.play_from_file(path).map_err(Failure::unusable)?;
    }
    Ok(Scene {
        script,
        suite,
        sources,
    })
}

fn unknown(paths: &[PathBuf], name: &str, known: &[String]) -> Failure {
    let names = || known.iter().map(String::as_str);
    let help = did_you_mean(name, names()).unwrap_or_else(|| format!("there is {}", list(names())));
    let files: Vec<String> = paths.iter().map(|path| files::shown(path)).collect();
    let message = match files.as_slice() {
        [file] => format!("`{file}` has no scenario `{name}`"),
        files => {
            let files = either(files.iter().map(String::as_str));
            format!("there is no scenario `{name}` in {files}")
        }
    };
    Failure::unusable(message).help(help)
}

/// What a run outside of `graphc test` can't do is refused, not left out.
fn refuse(scenario: &Scenario) -> Result<(), Failure> {
    if scenario.crash.is_none() {
        return Ok(());
    }
    let message = format!(
        "scenario `{}` ends its process on the way (`crash`)",
        scenario.name
    );
    Err(Failure::unusable(message).help("`graphc test` runs it, or choose another one"))
}
