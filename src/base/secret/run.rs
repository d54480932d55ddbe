//! Secrets that one run is given.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::{Secret, Secrets};

/// Secrets by name that one run is given. They are kept nowhere: a resume is given them anew.
#[derive(Debug, Clone, Default)]
pub struct RunSecrets {
    named: BTreeMap<String, Secret>,
    all: Secrets,
    /// Secrets of the settings that asked first, and these together with them: their search is made once a run.
    beside: OnceLock<(Arc<Secrets>, Arc<Secrets>)>,
}

impl RunSecrets {
    /// Adds one.
    pub fn add(&mut self, name: impl Into<String>, secret: Secret) {
        self.all.add(&secret);
        self.beside = OnceLock::new();
        self.named.insert(name.into(), secret);
    }

    /// The one of a name.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.named.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.named
            .iter()
            .map(|(name, secret)| (name.as_str(), secret))
    }

    /// What a run with settings of these secrets must not tell.
    pub fn beside(&self, settings: &Arc<Secrets>) -> Arc<Secrets> {
        if self.all.is_empty() {
            return Arc::clone(settings);
        }
        let together = || {
            let mut together = Secrets::clone(settings);
            together.add_all(&self.all);
            Arc::new(together)
        };
        let (known, made) = self
            .beside
            .get_or_init(|| (Arc::clone(settings), together()));
        match Arc::ptr_eq(known, settings) {
            true => Arc::clone(made),
            false => together(),
        }
    }

    /// What must not be told.
    pub fn all(&self) -> &Secrets {
        &self.all
    }
}
