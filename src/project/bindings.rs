//! What serves the tools that scenarios have really called.

use std::path::PathBuf;
use std::sync::Arc;

use super::config::Config;
use crate::base::SourceMap;
use crate::base::secret::{RunSecrets, Secret};

/// Settings, and the folder where their commands run.
#[derive(Debug, Clone)]
pub struct Bindings {
    /// The settings.
    pub config: Config,
    /// The folder of graphc.yaml.
    pub folder: PathBuf,
    /// Where the settings are read from, for places in what is wrong with them.
    pub sources: Arc<SourceMap>,
    /// Secrets that its tools need of a run, as far as there are variables of their names.
    pub secrets: Arc<RunSecrets>,
}

impl Bindings {
    /// Of nothing: for scenarios that have no tool really called.
    pub fn none() -> Self {
        Self {
            config: Config::empty(&|_| None),
            folder: PathBuf::from("."),
            sources: Arc::default(),
            secrets: Arc::default(),
        }
    }

    /// With the secrets that its tools need of a run, by variables of their names.
    pub fn with_secrets(self, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut secrets = RunSecrets::default();
        for part in std::iter::once(&self.config).chain(&self.config.parts) {
            for name in part
                .tools
                .values()
                .flat_map(|tool| tool.value.run_secrets())
            {
                if let Some(value) = env(&name) {
                    secrets.add(name, Secret::new(value));
                }
            }
        }
        let secrets = Arc::new(secrets);
        Self { secrets, ..self }
    }

    /// Those of the profile that a scenario names; `None` where there is no such profile.
    pub fn under(&self, profile: Option<&str>) -> Option<Self> {
        let config = match profile {
            Some(profile) => self.config.under(profile)?,
            None => self.config.clone(),
        };
        Some(Self {
            config,
            folder: self.folder.clone(),
            sources: Arc::clone(&self.sources),
            secrets: Arc::clone(&self.secrets),
        })
    }
}
