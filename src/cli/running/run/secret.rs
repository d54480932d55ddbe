//! Secrets that one run is given: `--secret`.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::base::secret::{RunSecrets, Secret};
use crate::ir::Flow;
use crate::project::Project;
use crate::project::config::{Config, is_variable};
use crate::project::environment::{Environment, without_line_end};
use crate::project::run_secrets::lacking_secret;

use super::super::{Failure, files, logs};

/// Where a secret comes from. Its value never stands on the command line, where other users of the machine see it.
#[derive(Debug, Clone)]
pub struct SecretArg {
    name: String,
    /// `None` is the variable of its name.
    file: Option<PathBuf>,
}

impl FromStr for SecretArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            None => (text, None),
            Some((name, from)) => match from.strip_prefix('@') {
                Some(path) if !path.is_empty() => (name, Some(PathBuf::from(path))),
                _ => {
                    return Err(format!(
                        "a command line is no place for a secret: write `{name}` and set that variable, or `{name}=@FILE`"
                    ));
                }
            },
        };
        match is_variable(name) {
            true => Ok(Self {
                name: name.to_owned(),
                file,
            }),
            false => Err("its name is one that a variable can have".to_owned()),
        }
    }
}

/// The secrets of a run.
///
/// # Errors
/// Where a variable is not set, or a file can't be read.
pub fn given(args: &[SecretArg], project: &Project) -> Result<Arc<RunSecrets>, Failure> {
    let mut secrets = RunSecrets::default();
    let environment = Environment::of(project.settings.as_deref())?;
    for SecretArg { name, file } in args {
        let value = match file {
            Some(path) => {
                let text = files::read(path)?.text;
                without_line_end(&text).to_owned()
            }
            None => environment.get(name).ok_or_else(|| {
                Failure::unusable(format!("the variable `{name}` of `--secret` is not set"))
                    .help("set it, or write it into `.env` beside graphc.yaml")
            })?,
        };
        secrets.add(name, Secret::new(value));
    }
    logs::hide(secrets.all());
    Ok(Arc::new(secrets))
}

/// Refuses a run whose tools need secrets that it was not given.
pub fn known(flow: &Flow, config: &Config, given: &RunSecrets) -> Result<(), Failure> {
    match lacking_secret(config, &flow.tools, given) {
        None => Ok(()),
        Some((tool, name)) => {
            let message = format!("tool `{tool}` needs the secret `{name}` of the run");
            Err(Failure::unusable(message).help(format!(
                "add `--secret {name}`, which is the variable of that name, or `--secret {name}=@FILE`"
            )))
        }
    }
}
