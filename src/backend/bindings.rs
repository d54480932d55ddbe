//! What serves the tools that scenarios have really called.

use std::path::PathBuf;
use std::sync::Arc;

use super::config::Config;
use crate::base::SourceMap;

/// Settings, and the folder where their commands run.
#[derive(Debug, Clone)]
pub struct Bindings {
    /// The settings.
    pub config: Config,
    /// The folder of graphc.yaml.
    pub folder: PathBuf,
    /// Where the settings are read from, for places in what is wrong with them.
    pub sources: Arc<SourceMap>,
}

impl Bindings {
    /// Of nothing: for scenarios that have no tool really called.
    pub fn none() -> Self {
        Self {
            config: Config::empty(&|_| None),
            folder: PathBuf::from("."),
            sources: Arc::default(),
        }
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
        })
    }
}
