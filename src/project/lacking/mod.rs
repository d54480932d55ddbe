//! What a flow would lack if it ran with some settings: tools that nothing serves, providers that nothing describes, arguments that a tool
//! hasn't got, variables that aren't set, and programs and files that aren't on this machine.
//!
//! [`Lacking`] goes through models and tools one by one and makes nothing of them: what serves them is made by `backend::bind`, which asks here
//! first. Each file is a part of the settings.

mod command;
mod graph;
mod http;
mod mcp;
mod memory;
mod model;
mod sql;
mod tool;

use std::collections::BTreeSet;
use std::path::Path;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{Flow, Place};

use super::config::{Config, ModelBinding};

pub use graph::GraphKey;

/// All that a flow would lack, without a scenario. `place` says where a tool or a model is declared, `folder` is that of `graphc.yaml`, and
/// `address` says what is wrong with an address of PostgreSQL. Models that are scripted are no lack: scenarios play them.
pub fn lacking(
    flow: &Flow,
    config: &Config,
    folder: &Path,
    place: &Declared<'_>,
    address: &WrongAddress<'_>,
) -> Diagnostics {
    let mut lacking = Lacking::new(config, folder, address);
    lacking.declared = Some(place);
    if let Some(store) = &config.store {
        lacking.variables(&store.missing);
    }
    for model in &flow.models {
        let bound = config.model(&model.name);
        if !bound.is_some_and(|entry| matches!(entry.value, ModelBinding::Scripted)) {
            lacking.model(flow, model);
            lacking.unsayable(model);
        }
    }
    for tool in &flow.tools {
        lacking.tool(flow, tool);
    }
    lacking.found
}

/// Where a tool or a model of that name is declared, as far as that is known.
pub type Declared<'a> = dyn Fn(&Place, &str) -> Option<Span> + 'a;

/// What is wrong with an address of a PostgreSQL database; `None` where nothing is, or where that isn't known.
pub type WrongAddress<'a> = dyn Fn(&str, &Path) -> Option<String> + 'a;

/// What a program brings itself, which needs no settings.
pub trait Brings {
    /// Whether it brings the model of that name.
    fn brings_model(&self, name: &str) -> bool;
    /// Whether it brings the tool of that name.
    fn brings_tool(&self, name: &str) -> bool;
    /// Whether it says how long-term memory works.
    fn brings_memory(&self) -> bool;
}

/// What was looked at with some settings, which several flows share.
#[derive(Debug, Default)]
pub struct Seen {
    /// Providers.
    providers: BTreeSet<String>,
    /// MCP servers.
    servers: BTreeSet<String>,
}

/// Looks for what is lacking, and keeps what was found.
pub struct Lacking<'a> {
    config: &'a Config,
    folder: &'a Path,
    address: &'a WrongAddress<'a>,
    /// What a program brings itself.
    pub brings: Option<&'a dyn Brings>,
    /// Where tools are declared, when a flow is looked at that does not run.
    pub declared: Option<&'a Declared<'a>>,
    /// Said once.
    pub seen: Seen,
    /// Graphs that tools run.
    graphs: BTreeSet<GraphKey>,
    /// Those that are being looked at, the outermost first.
    calling: Vec<GraphKey>,
    /// Whether somebody has asked how long-term memory works.
    memory: bool,
    /// What was found.
    pub found: Diagnostics,
}

impl<'a> Lacking<'a> {
    /// Nothing so far.
    pub fn new(config: &'a Config, folder: &'a Path, address: &'a WrongAddress<'a>) -> Self {
        Self {
            config,
            folder,
            address,
            brings: None,
            declared: None,
            seen: Seen::default(),
            graphs: BTreeSet::new(),
            calling: Vec::new(),
            memory: false,
            found: Diagnostics::new(),
        }
    }

    fn report(&mut self, span: Option<Span>, message: String, help: String) {
        let finding = Self::finding(span, message, help);
        // What two tools share is said once.
        if !self.found.iter().any(|known| *known == finding) {
            self.found.push(finding);
        }
    }

    fn finding(span: Option<Span>, message: String, help: String) -> Diagnostic {
        let mut finding = Diagnostic::new(&codes::INVALID_CONFIG, message, Span::default());
        // What no line of the file is about has no place in it.
        match span {
            Some(span) => finding
                .labels
                .iter_mut()
                .for_each(|label| label.span = span),
            None => finding.labels.clear(),
        }
        finding.help(help)
    }

    /// Reports variables that are not set, where a run needs them.
    fn variables(&mut self, missing: &[Diagnostic]) {
        missing.iter().for_each(|one| self.found.push(one.clone()));
    }
}
