//! `graphc.yaml`: which backend serves what, per profile.
//!
//! [`load`] reads the file into a [`Config`]: the base with the chosen profile's entries over it, an
//! entry replacing the base's entry of the same name. [`variables`] fills in the environment; a variable
//! that isn't set counts only once something that needs it is used. [`provider`], [`tool`], [`sql`],
//! [`mcp`], [`model`] and [`memory`] read the entries.

mod family;
mod host;
mod levels;
mod mcp;
mod memory;
mod model;
mod provider;
mod read;
mod secrets;
mod sql;
mod telemetry;
mod tool;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics};
use crate::ir::Flow;

use crate::base::secret::{Secret, Secrets};
use crate::project::spec::http::host::HostRule;
use crate::project::spec::mcp::ServerSpec;
use crate::project::spec::provider::Settings;
use crate::project::spec::telemetry::TelemetrySpec;

pub use family::ModelFamily;
pub use levels::wrong_levels;
pub use mcp::unknown_server;
pub use memory::{EmbedSpec, MemorySpec, no_vectors, unknown_provider};
pub use model::ModelBinding;
pub use provider::KNOWN;
pub use read::load;
pub use tool::{ToolSpec, is_address, is_variable};
pub use variables::fill;

/// What `graphc.yaml` says under one profile. [`Config::empty`] is that of a project without one.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file; `None` where there is none.
    pub file: Option<FileId>,
    /// The profile in use.
    pub profile: Option<String>,
    /// Address of the store. May hold a password.
    pub store: Option<Entry<Secret>>,
    /// How long-term memory works.
    pub memory: Option<Entry<MemorySpec>>,
    /// Where traces and metrics are sent.
    pub telemetry: Option<Entry<TelemetrySpec>>,
    /// Providers by name, the ones known by themselves included.
    pub providers: BTreeMap<String, Entry<Settings>>,
    /// Tools by name.
    pub tools: BTreeMap<String, Entry<ToolSpec>>,
    /// MCP servers by name.
    pub mcp_servers: BTreeMap<String, Entry<ServerSpec>>,
    /// Flows that `graph` tools of any part run, by their files as these are written: what was made of them, or why nothing was. Whoever
    /// reads the settings fills this in, since the compiler is none of theirs.
    pub flows: Arc<BTreeMap<String, Result<Arc<Flow>, String>>>,
    /// Hosts that arguments of `http` tools may lead to.
    pub allow_hosts: Option<Vec<HostRule>>,
    /// Models by name; `*` stands for all that have no entry of their own.
    pub models: BTreeMap<String, Entry<ModelBinding>>,
    /// Levels of lints by code.
    pub lints: BTreeMap<String, Entry<LintLevel>>,
    /// What is known of models, by what their names begin with.
    pub model_families: BTreeMap<String, Entry<ModelFamily>>,
    /// Each part of the file by itself: the base, then the profiles in the order of the file, used or not.
    pub parts: Vec<Config>,
    /// What is doubtful in the file; what is wrong with it leaves no settings.
    pub doubts: Diagnostics,
}

/// Something that the file says.
#[derive(Debug, Clone)]
pub struct Entry<T> {
    /// What it says.
    pub value: T,
    /// Where; `None` for what is known without a file.
    pub span: Option<Span>,
    /// Variables that it needs and that are not set: an error as soon as it is used.
    pub missing: Vec<Diagnostic>,
    /// What of it came from the environment and must not be seen.
    pub secrets: Secrets,
}

impl<T> Entry<T> {
    /// What it says.
    ///
    /// # Errors
    /// The variables that it needs and that are not set.
    pub fn usable(&self) -> Result<&T, Diagnostics> {
        let mut unset = Diagnostics::new();
        self.missing.iter().cloned().for_each(|one| unset.push(one));
        match unset.is_empty() {
            true => Ok(&self.value),
            false => Err(unset),
        }
    }
}

/// What a project does with a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LintLevel {
    /// It is not reported.
    Allow,
    /// It is a note.
    Info,
    /// It is a warning.
    Warn,
    /// It is an error.
    Deny,
}

impl Config {
    /// Without a file: the providers that are known by themselves, nothing else. `env` gives the
    /// environment's variables.
    pub fn empty(env: &dyn Fn(&str) -> Option<String>) -> Config {
        Config {
            file: None,
            profile: None,
            store: None,
            memory: None,
            telemetry: None,
            providers: provider::known(env),
            tools: BTreeMap::new(),
            mcp_servers: BTreeMap::new(),
            flows: Arc::default(),
            allow_hosts: None,
            models: BTreeMap::new(),
            lints: BTreeMap::new(),
            model_families: BTreeMap::new(),
            parts: Vec::new(),
            doubts: Diagnostics::new(),
        }
    }

    /// Takes what a part of the file says over what is here; entries replace those of the same name.
    fn take(&mut self, part: &Config) {
        fn over<T: Clone>(
            here: &mut BTreeMap<String, Entry<T>>,
            part: &BTreeMap<String, Entry<T>>,
        ) {
            let written = part.iter().filter(|(_, entry)| entry.span.is_some());
            here.extend(written.map(|(name, entry)| (name.clone(), entry.clone())));
        }
        if part.store.is_some() {
            self.store.clone_from(&part.store);
        }
        if part.memory.is_some() {
            self.memory.clone_from(&part.memory);
        }
        if part.telemetry.is_some() {
            self.telemetry.clone_from(&part.telemetry);
        }
        if part.allow_hosts.is_some() {
            self.allow_hosts.clone_from(&part.allow_hosts);
        }
        over(&mut self.providers, &part.providers);
        over(&mut self.tools, &part.tools);
        over(&mut self.mcp_servers, &part.mcp_servers);
        over(&mut self.models, &part.models);
        over(&mut self.lints, &part.lints);
        over(&mut self.model_families, &part.model_families);
    }

    /// What the same file says under another profile; `None` where it has none of that name.
    pub fn under(&self, profile: &str) -> Option<Config> {
        let is = |part: &&Config| part.profile.as_deref() == Some(profile);
        let (base, part) = (self.parts.first()?, self.parts.iter().find(is)?);
        let mut config = Config {
            file: self.file,
            profile: part.profile.clone(),
            parts: self.parts.clone(),
            doubts: self.doubts.clone(),
            flows: Arc::clone(&self.flows),
            ..base.clone()
        };
        config.take(part);
        Some(config)
    }

    /// Files of the flows that `graph` tools of any part run, as they are written.
    pub fn flow_files(&self) -> BTreeSet<&str> {
        let parts = self.parts.iter().flat_map(|part| part.tools.values());
        let files = parts.filter_map(|entry| match &entry.value {
            ToolSpec::Graph(spec) => Some(spec.file.as_str()),
            _ => None,
        });
        files.collect()
    }

    /// The names of the profiles that the file has.
    pub fn profiles(&self) -> impl Iterator<Item = &str> + Clone {
        self.parts.iter().filter_map(|part| part.profile.as_deref())
    }

    /// What a model of a flow is bound to, where something is said about it.
    pub fn model(&self, name: &str) -> Option<&Entry<ModelBinding>> {
        self.models.get(name).or_else(|| self.models.get("*"))
    }
}
