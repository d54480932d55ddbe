//! `NAME.test.yaml`: scenarios of a flow, and rows of data sets, which are read as scenarios are.
//!
//! [`load`] reads a file into a [`Suite`]; [`expect`] is what must be true afterwards. What plays a scenario is `backend::scenario`, and
//! running one is the business of `scenario`.

mod answers;
mod crash;
pub mod expect;
mod field;
mod path;
mod read;
mod reply;
mod row;
mod service;
mod when;

use jiff::Timestamp;
use serde_json::{Map as JsonMap, Value as Json};

use crate::base::Span;

use super::spec::script::ToolReply;
use super::yaml::{Document, Path, Step};

pub use answers::{Answer, Answers};
pub use crash::{Crash, CrashPoint, Moment};
pub use expect::{Expect, Written};
pub use path::{PathMismatch, PathStep, compare_path};
pub use read::{load, load_all};
pub use reply::{ModelReply, ReplyBody, ScriptedCall};
pub use row::{DEFAULT_KEYS as ROW_DEFAULTS, Row, rows};
pub use service::Service;
pub use when::{Asked, When, prompt};

/// The scenarios of one file.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The flow's file, relative to this one; `None` for the `.graph` file of the same name.
    pub flow: Option<String>,
    /// Scenarios in the order written.
    pub scenarios: Vec<Scenario>,
    /// Programs that run beside those which have tools really called.
    pub services: Vec<Service>,
    document: Document,
}

impl Suite {
    /// Where a part of the file stands, such as an expectation's.
    pub fn span(&self, at: &[Step]) -> Span {
        self.document.span(at)
    }

    /// Where the key of a part stands; the part itself for an element of a list.
    pub fn key_span(&self, at: &[Step]) -> Span {
        self.document.key_span(at)
    }

    /// A part of the file as it is written.
    pub fn part(&self, at: &[Step]) -> Option<&Json> {
        at.iter()
            .try_fold(&self.document.root, |json, step| match step {
                Step::Key(key) => json.get(key),
                Step::Index(index) => json.get(index),
            })
    }

    /// Where a scenario has a key, or an entry of a map: in itself, else in the defaults of the file.
    pub fn own_or_default(&self, scenario: &Scenario, keys: &[&str]) -> Path {
        let under = |start: Path| -> Path {
            let keys = keys.iter().map(|key| Step::Key((*key).to_owned()));
            start.into_iter().chain(keys).collect()
        };
        let own = under(scenario.at.clone());
        let default = under(vec![Step::Key("defaults".to_owned())]);
        match self.part(&own).is_none() && self.part(&default).is_some() {
            true => default,
            false => own,
        }
    }

    /// Variables of its services as they might be, before any of them has a port.
    pub fn likely_variables(&self) -> Vec<(String, String)> {
        self.services
            .iter()
            .flat_map(|service| service.variables(1))
            .collect()
    }

    /// Position of the scenario of that name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.scenarios.iter().position(|s| s.name == name)
    }

    /// The names of all scenarios.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().map(|s| s.name.as_str())
    }
}

/// One scenario, the file's defaults filled in.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name, once in its file.
    pub name: String,
    /// Where it is written.
    pub at: Path,
    /// The graph that runs; the flow's entry where none is named.
    pub graph: Option<String>,
    /// Input of the run.
    pub input: JsonMap<String, Json>,
    /// Per-run constants.
    pub context: JsonMap<String, Json>,
    /// Thread that it shares with the scenarios of the same name here; one of its own without.
    pub thread: Option<String>,
    /// Replies of models by node path, `*` for any node that isn't named.
    pub models: Vec<(String, Vec<ModelReply>)>,
    /// Replies of tools by name.
    pub tools: Vec<(String, Vec<ToolReply>)>,
    /// Profile of `graphc.yaml` whose bindings serve the tools that are really called.
    pub profile: Option<Written<String>>,
    /// Names of the tools that are really called.
    pub real: Vec<Written<String>>,
    /// Whether calls that it has no replies for are on its cassette.
    pub recorded: bool,
    /// Answers to interrupts.
    pub answers: Answers,
    /// What `now()` gives.
    pub clock: Option<Timestamp>,
    /// What long-term memory holds when it begins.
    pub memory: Vec<Remembered>,
    /// Where the process ends.
    pub crash: Option<Crash>,
    /// What must hold at the end.
    pub expect: Expect,
    /// Whether it has keys that are unknown, which is reported: what it seems to lack may stand under one.
    pub strange: bool,
}

impl Scenario {
    /// Whether calls of a tool are really made.
    pub fn is_real(&self, tool: &str) -> bool {
        self.real.iter().any(|real| real.value == tool)
    }

    /// Whether it needs what graphc.yaml binds: to have tools really called, or, where scenarios are recorded, to make all calls.
    pub fn calls_for_real(&self, record: bool) -> bool {
        !self.real.is_empty() || (record && self.recorded)
    }
}

/// `memory: [{ space: [users, ann], key: tea, value: green }]`
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// Parts of its namespace.
    pub space: Vec<String>,
    /// Its key.
    pub key: String,
    /// The value.
    pub value: Json,
}

/// The name of the file with what was recorded of a scenario: scenarios of like names would share one.
pub fn cassette_name(scenario: &str) -> String {
    let plain = scenario.chars().map(|c| match c.is_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => '_',
    });
    format!("{}.yaml", plain.collect::<String>())
}
