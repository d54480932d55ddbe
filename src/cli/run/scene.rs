//! A scenario in place of the world: finding it, and whether it can be played here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::scenario::{self, Scenario, Script, Start};
use crate::base::{SourceMap, name};
use crate::diag::Diagnostics;
use crate::ir::Flow;
use crate::scenario::fit_one;

use super::super::{Context, Exit, Failure, files, settings};

/// Finds a scenario of a flow and makes it ready to play.
///
/// Where it doesn't fit the flow, all of that is said and nothing runs.
pub fn load(
    flow: &Path,
    compiled: &Flow,
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
    let position = suite.position(name);
    let misfits = position.map(|index| fit_one(&suite, compiled, index));
    if let Some(misfits) = misfits.filter(Diagnostics::has_errors) {
        return Err(settings::say(&misfits, &sources, context, Exit::Unusable));
    }
    let script = position.and_then(|index| Script::new(&suite, index, start));
    let script = script.ok_or_else(|| {
        let help = name::did_you_mean(name, suite.names())
            .unwrap_or_else(|| format!("there is {}", name::list(suite.names())));
        let message = format!("`{}` has no scenario `{name}`", source.name);
        Failure::unusable(message).help(help)
    })?;
    refuse(script.scenario())?;
    Ok(script)
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
