//! `graphc.yaml` of a project, read for a command.

use crate::base::SourceMap;
use crate::diag::codes::Level;
use crate::diag::{Diagnostics, render};
use crate::project::config::{self, Config, LintLevel};

use super::flow::Naming;
use super::running::logs;
use super::{Context, Exit, Failure, files, term};
use crate::embed::flows::load_flows;
use crate::project::Project;
use crate::project::environment::Environment;

/// Reads the settings; what is wrong with them is said on stderr, and nothing can start.
///
/// `sources` gets the file, for places in what is found later.
pub fn load(
    project: &Project,
    context: &Context,
    sources: &mut SourceMap,
) -> Result<Config, Failure> {
    read(project, context, sources)?.map_err(|found| say(&found, sources, context, Exit::Unusable))
}

/// The same, with what is wrong as diagnostics.
pub fn read(
    project: &Project,
    context: &Context,
    sources: &mut SourceMap,
) -> Result<Result<Config, Diagnostics>, Failure> {
    read_in(project, context, sources, &environment(project, &[])?)
}

/// The variables that settings may use; `first` go before those of the environment.
pub fn environment(
    project: &Project,
    first: &[(String, String)],
) -> Result<impl Fn(&str) -> Option<String>, Failure> {
    let environment = Environment::of(project.settings.as_deref())?;
    let first = first.to_vec();
    Ok(move |name: &str| {
        let given = first.iter().rev().find(|(given, _)| given == name);
        given.map_or_else(|| environment.get(name), |(_, value)| Some(value.clone()))
    })
}

/// The same, by an environment.
pub(super) fn read_in(
    project: &Project,
    context: &Context,
    sources: &mut SourceMap,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Result<Config, Diagnostics>, Failure> {
    let profile = context.profile.as_deref();
    let Some(path) = &project.settings else {
        return match profile {
            None => Ok(Ok(Config::empty(env))),
            Some(profile) => Err(Failure::unusable(format!(
                "there is no `graphc.yaml` that could have a profile `{profile}`"
            ))
            .help("name one with `--config FILE`")),
        };
    };
    let text = match files::read(path) {
        Ok(source) => source.text,
        Err(failure) => match files::unreadable(path, &failure, sources) {
            Some(found) => {
                let mut all = Diagnostics::new();
                all.push(found);
                return Ok(Err(all));
            }
            None => return Err(failure),
        },
    };
    let named = context.config.as_deref();
    let name = named.map_or_else(|| Naming::new(false)?.show(path), |p| Ok(files::shown(p)))?;
    let file = sources.add(&name, &text);
    let config = config::load(sources, file, profile, env);
    Ok(config.map(|mut config| {
        logs::hide(&config.secrets());
        load_flows(&mut config, &project.home);
        config
    }))
}

/// Says diagnostics on stderr, without notes unless more is asked for; the failure that ends the command.
pub fn say(found: &Diagnostics, sources: &SourceMap, context: &Context, exit: Exit) -> Failure {
    let mut shown = found.clone();
    if !context.verbose {
        shown.retain(|finding| finding.level > Level::Info);
    }
    term::say(render::human(&shown, sources, context.terminal.style).trim_end());
    Failure::silent(exit)
}

/// Gives findings the levels that the settings want. Errors of the language stay errors.
pub fn apply_levels(config: &Config, found: Diagnostics) -> Diagnostics {
    let mut kept = Diagnostics::new();
    for mut finding in found {
        let wanted = config.lints.get(finding.code.slug);
        match wanted.map(|entry| entry.value) {
            _ if finding.level == Level::Error => {}
            None => {}
            Some(LintLevel::Allow) => continue,
            Some(LintLevel::Info) => finding.level = Level::Info,
            Some(LintLevel::Warn) => finding.level = Level::Warning,
            Some(LintLevel::Deny) => {
                finding.level = Level::Error;
                if let Some(span) = wanted.and_then(|entry| entry.span) {
                    finding = finding.label(span, "an error by this");
                }
            }
        }
        kept.push(finding);
    }
    kept
}
