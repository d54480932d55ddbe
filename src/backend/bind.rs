//! Which backend serves which model and tool of a flow.

mod graph;
mod mcp;
mod memory_settings;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map as JsonMap, Value as Json};
use tokio::sync::Semaphore;

use crate::base::{Span, name};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::node::Work;
use crate::ir::{ErrorKind, Flow, Model, Place, Tool};
use crate::run::backends::Backends;
use crate::run::extern_node::{ExternCall, ExternNode};
use crate::run::memory::{self, MemoryTool};
use crate::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use super::config::{Config, Entry, ModelBinding, ToolSpec};
use super::given::Given;
use super::limit::{Limited, MODEL_TIMEOUT, Places, TOOL_TIMEOUT};
use super::llm::Provider;
use super::mask;
use super::scenario::Script;
use super::tool::command::absent::{Absent, absent};
use super::tool::command::{CommandSpec, CommandTool};
use super::tool::graph::Runnable;
use super::tool::http::host::is_filled_in;
use super::tool::http::{self, HttpTool};
use super::tool::mcp::server::Server;
use super::tool::script::ScriptTool;
use super::tool::sql::pool::Pool;
use super::tool::sql::{SqlSpec, SqlTool, fit};
use super::wire::Wire;
use crate::store;

/// What a flow would lack if it ran with these settings, without a scenario: tools that nothing
/// serves, providers that nothing describes, arguments that a tool hasn't got. `place` says where a tool or a model is declared.
///
/// So are variables that aren't set, and programs and scripts of `command` tools that aren't on this machine. `folder` is
/// that of `graphc.yaml`. Models that are scripted are no lack: scenarios play them.
pub fn lacking(flow: &Flow, config: &Config, folder: &Path, place: &Declared<'_>) -> Diagnostics {
    let mut binding = Binding::new(config, None, folder);
    binding.declared = Some(place);
    if let Some(store) = &config.store {
        binding.variables(&store.missing);
    }
    for model in &flow.models {
        let bound = config.model(&model.name);
        if !bound.is_some_and(|entry| matches!(entry.value, ModelBinding::Scripted)) {
            binding.model(flow, model);
            binding.unsayable(model);
        }
    }
    for tool in &flow.tools {
        binding.tool(flow, tool);
    }
    binding.found
}

/// What the settings bind of a flow's tools, with the place of the binding, as far as it can be made: for asking whether calls would find
/// what they need ([`ToolBackend::probe`]).
pub fn bound_tools(
    flow: &Flow,
    config: &Config,
    folder: &Path,
) -> Vec<(Option<Span>, Arc<dyn ToolBackend>)> {
    let mut binding = Binding::new(config, None, folder);
    let outside = flow.tools.iter().filter(|tool| tool.body.is_none());
    let bound = outside.filter_map(|tool| {
        let entry = config.tools.get(&tool.name)?;
        let made = binding.bound(flow, tool, entry);
        // What is wrong with the settings themselves is `lacking`'s to say.
        let faulty = std::mem::take(&mut binding.found).has_errors();
        let server = match &entry.value {
            ToolSpec::Mcp(spec) => config.mcp_servers.get(&spec.server),
            _ => None,
        };
        let unset = !entry.missing.is_empty() || server.is_some_and(|s| !s.missing.is_empty());
        (!faulty && !unset).then_some((entry.span, made))
    });
    bound.collect()
}

/// Finds a backend for each model and tool of a flow. `folder` is the one of `graphc.yaml`, where
/// commands run.
///
/// A scenario takes the place of what `graphc.yaml` says: all models are played by it, and so are the tools that
/// it has replies for. `graphc.yaml` serves those that it has really called. No other tool without a body is reached: a call of one has no reply.
///
/// # Errors
/// All that is missing at once: providers and tools that nothing says anything about, variables that
/// aren't set. Their place is that in `graphc.yaml`; there is none without a file.
pub fn bind(
    flow: &Flow,
    config: &Config,
    script: Option<&Arc<Script>>,
    folder: &Path,
) -> Result<Backends, Diagnostics> {
    let externs = script.map(|script| externs(flow, script));
    Binding::new(config, script, folder).all(flow, externs.unwrap_or_default())
}

/// The same for a program that brings models and tools of its own: those go before what the settings say. Its `extern` nodes
/// are taken as they are.
///
/// # Errors
/// As [`bind`](fn@bind) has them, of all that it does not bring.
pub fn bind_beside(
    given: &Given,
    flow: &Flow,
    config: &Config,
    folder: &Path,
) -> Result<Backends, Diagnostics> {
    let mut binding = Binding::new(config, None, folder);
    binding.given = Some(given);
    binding.all(flow, given.externs.clone())
}

/// The `extern` nodes that a scenario plays: its `tools` of their names give what they write.
fn externs(flow: &Flow, script: &Arc<Script>) -> BTreeMap<String, Arc<dyn ExternNode>> {
    let nodes = flow.graphs.iter().flat_map(|graph| &graph.nodes);
    let names = nodes.filter_map(|node| match &node.work {
        Work::Extern { name, .. } => Some(name),
        _ => None,
    });
    let played = names.map(|name| {
        let tool = script.tool(name).unwrap_or_else(|| script.absent_tool());
        (name.clone(), Arc::new(Played(tool)) as Arc<dyn ExternNode>)
    });
    played.collect()
}

/// An `extern` node that a scenario plays.
struct Played(Arc<dyn ToolBackend>);

#[async_trait]
impl ExternNode for Played {
    async fn run(
        &self,
        call: ExternCall,
        cx: &CallContext,
    ) -> Result<JsonMap<String, Json>, ToolError> {
        let call = ToolCall {
            tool: call.name,
            args: call.state,
        };
        match self.0.call(call, cx).await? {
            Json::Object(written) => Ok(written),
            other => {
                let message = format!("expected an object of fields, found {other}");
                Err(ToolError::new(ErrorKind::InvalidOutput, message))
            }
        }
    }
}

fn limited(
    tool: Arc<dyn ToolBackend>,
    places: &Arc<Semaphore>,
    (most, timeouts): (Option<usize>, (Option<Duration>, Duration)),
) -> Arc<dyn ToolBackend> {
    Arc::new(Limited::new(tool, places, most, timeouts))
}

/// Where a tool or a model of that name is declared, as far as that is known.
pub type Declared<'a> = dyn Fn(&Place, &str) -> Option<Span> + 'a;

struct Binding<'a> {
    config: &'a Config,
    script: Option<&'a Arc<Script>>,
    given: Option<&'a Given>,
    folder: &'a Path,
    /// Where tools are declared, when a flow is looked at that does not run.
    declared: Option<&'a Declared<'a>>,
    wire: Arc<Wire>,
    places: Places,
    /// Made so far, so that the models of one provider share its bounds.
    providers: BTreeMap<String, Arc<Provider>>,
    /// MCP servers made so far, so that the tools of one share its session.
    servers: BTreeMap<String, Arc<Server>>,
    /// Graphs that tools run, made so far, by file and id; `None` for one that can't be.
    graphs: BTreeMap<(String, u32), Option<Arc<Runnable>>>,
    /// Those that are being made, the outermost first.
    calling: Vec<(String, u32)>,
    /// Connections to PostgreSQL databases, by their addresses.
    databases: BTreeMap<String, Arc<Pool>>,
    /// How long-term memory works, once somebody has asked; the inner `None` stands for an error.
    #[allow(clippy::option_option)]
    memory: Option<Option<Arc<memory::Settings>>>,
    found: Diagnostics,
}

impl<'a> Binding<'a> {
    fn new(config: &'a Config, script: Option<&'a Arc<Script>>, folder: &'a Path) -> Self {
        Self {
            config,
            script,
            given: None,
            folder,
            declared: None,
            wire: Wire::new(),
            places: Places::default(),
            providers: BTreeMap::new(),
            servers: BTreeMap::new(),
            graphs: BTreeMap::new(),
            calling: Vec::new(),
            databases: BTreeMap::new(),
            memory: None,
            found: Diagnostics::new(),
        }
    }

    /// A backend for each model and each tool.
    fn all(
        mut self,
        flow: &Flow,
        externs: BTreeMap<String, Arc<dyn ExternNode>>,
    ) -> Result<Backends, Diagnostics> {
        let models: Vec<_> = flow.models.iter().map(|m| self.model(flow, m)).collect();
        let tools: Vec<_> = flow.tools.iter().map(|t| self.tool(flow, t)).collect();
        let secrets = Arc::new(self.config.secrets());
        let mask = |made: Arc<dyn ToolBackend>| mask::tool(made, &secrets);
        let models = models.into_iter();
        let models: Option<_> = models
            .map(|made| Some(mask::model(made?, &secrets)))
            .collect();
        let tools = tools.into_iter();
        let tools: Option<_> = tools.map(|made| Some(made?.map(mask))).collect();
        match (models, tools) {
            (Some(models), Some(tools)) if !self.found.has_errors() => Ok(Backends {
                models,
                tools,
                externs,
            }),
            _ => {
                self.found.sort();
                Err(self.found)
            }
        }
    }

    fn report(&mut self, span: Option<Span>, message: String, help: String) {
        let finding = self.finding(span, message, help);
        // What two tools share is said once.
        if !self.found.iter().any(|known| *known == finding) {
            self.found.push(finding);
        }
    }

    fn finding(&self, span: Option<Span>, message: String, help: String) -> Diagnostic {
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

    fn model(&mut self, flow: &Flow, model: &Model) -> Option<Arc<dyn ChatModel>> {
        if let Some(given) = self.given.and_then(|given| given.model(&model.name)) {
            return Some(given);
        }
        let Some(script) = self.script else {
            return self.bound_model(flow, model);
        };
        let real = match script.scenario().recorded && script.is_recording() {
            true => Some(self.bound_model(flow, model)?),
            false => None,
        };
        Some(script.model(real))
    }

    /// What graphc.yaml says of a model.
    fn bound_model(&mut self, flow: &Flow, model: &Model) -> Option<Arc<dyn ChatModel>> {
        let Some(entry) = self.config.model(&model.name) else {
            let provider = self.provider(&model.provider, model, None, flow)?;
            return Some(self.bounded(provider, &model.provider));
        };
        match &entry.value {
            ModelBinding::Scripted => {
                let profile = self.config.profile.as_deref();
                let profile = profile.map_or(String::new(), |name| format!(" in profile `{name}`"));
                let message = format!("the models are scripted{profile}, and there is no scenario");
                let help = "run with `--scenario NAME`, or with another `--profile`";
                self.report(entry.span, message, help.to_owned());
                None
            }
            ModelBinding::Other {
                provider,
                model: other,
            } => {
                let renamed = Arc::new(Renamed {
                    provider: self.provider(provider, model, entry.span, flow)?,
                    model: other.clone(),
                });
                Some(self.bounded(renamed, provider))
            }
        }
    }

    /// Reports settings of a model that its provider has no way to say.
    fn unsayable(&mut self, model: &Model) {
        let provider = match self.config.model(&model.name).map(|entry| &entry.value) {
            Some(ModelBinding::Other { provider, .. }) => provider,
            _ => &model.provider,
        };
        let Some(entry) = self.config.providers.get(provider) else {
            return;
        };
        let (kind, name) = (entry.value.kind, &model.name);
        let settings = [
            ("thinking_budget", model.thinking_budget.is_some()),
            ("seed", model.seed.is_some()),
        ];
        for (setting, set) in settings {
            if !set || !kind.lacks().contains(&setting) {
                continue;
            }
            let message = format!(
                "model `{name}` has `{setting}`, which provider `{provider}` (kind `{}`) has no way to say: it is left out",
                kind.word()
            );
            let place = self.declared.and_then(|place| place(&model.at, name));
            let span = place.unwrap_or_default();
            let mut finding = Diagnostic::new(&codes::MODEL_LACKS, message, span);
            if place.is_none() {
                finding.labels.clear();
            }
            self.found.push(finding);
        }
    }

    /// A provider's model, with a place for each of its requests and a bound in time.
    fn bounded(&self, model: Arc<dyn ChatModel>, provider: &str) -> Arc<dyn ChatModel> {
        let entry = self.config.providers.get(provider);
        let own = entry.and_then(|entry| entry.value.timeout);
        let timeouts = (own, MODEL_TIMEOUT);
        Arc::new(Limited::new(model, &self.places.requests, None, timeouts))
    }

    fn provider(
        &mut self,
        name: &str,
        model: &Model,
        span: Option<Span>,
        flow: &Flow,
    ) -> Option<Arc<Provider>> {
        if let Some(made) = self.reached(name) {
            return Some(made);
        }
        if !self.config.providers.contains_key(name) {
            let known = || self.config.providers.keys().map(String::as_str);
            let help = name::did_you_mean(name, known()).unwrap_or_else(|| {
                format!(
                    "describe it under `providers` in graphc.yaml, as in `{name}: {{ kind: openai, base_url: \"https://..\", api_key: \"${{{}_API_KEY}}\" }}`; there is {}",
                    name.to_uppercase().replace('-', "_"),
                    name::list(known())
                )
            });
            let file = flow.files.get(model.at.file as usize);
            let place = match (span, file) {
                (None, Some(file)) if model.at.line > 0 => format!(" ({file}:{})", model.at.line),
                _ => String::new(),
            };
            let model = &model.name;
            let message = format!(
                "nothing says how to reach the provider `{name}` of model `{model}`{place}"
            );
            // A check says it where the provider is named.
            if span.is_none() || self.declared.is_none() {
                self.report(span, message, help);
            }
        }
        None
    }

    /// A provider that the settings describe, made once.
    fn reached(&mut self, name: &str) -> Option<Arc<Provider>> {
        if let Some(made) = self.providers.get(name) {
            return Some(Arc::clone(made));
        }
        let entry = self.config.providers.get(name)?;
        self.variables(&entry.missing);
        let made = Arc::new(Provider::new(entry.value.clone(), Arc::clone(&self.wire)));
        self.providers.insert(name.to_owned(), Arc::clone(&made));
        Some(made)
    }

    /// Reports variables that are not set, where a run needs them.
    fn variables(&mut self, missing: &[Diagnostic]) {
        missing.iter().for_each(|one| self.found.push(one.clone()));
    }

    /// The outer `None` stands for an error, the inner one for the tool's own body.
    #[allow(clippy::option_option)]
    fn tool(&mut self, flow: &Flow, tool: &Tool) -> Option<Option<Arc<dyn ToolBackend>>> {
        if let Some(given) = self.given.and_then(|given| given.tool(&tool.name)) {
            return Some(Some(given));
        }
        if let Some(played) = self.script.and_then(|script| script.tool(&tool.name)) {
            return Some(Some(played));
        }
        if tool.body.is_some() {
            return Some(None);
        }
        if let (true, Some(script)) = (tool.is_of(memory::MODULE), self.script) {
            return Some(Some(script.memory_tool()));
        }
        // A scenario in which a reply was forgotten must not pay, mail or delete.
        if let Some(script) = self.script
            && !script.scenario().is_real(&tool.name)
        {
            match (script.scenario().recorded, script.is_recording()) {
                (false, _) => return Some(Some(script.absent_tool())),
                (true, false) => return Some(Some(script.recorded_tool(None))),
                (true, true) => {}
            }
        }
        let Some(entry) = self.config.tools.get(&tool.name) else {
            if tool.is_of(memory::MODULE) {
                return Some(Some(Arc::new(MemoryTool::new(self.memory()?))));
            }
            self.unbound(flow, tool);
            return None;
        };
        self.variables(&entry.missing);
        let bound = self.bound(flow, tool, entry);
        Some(Some(match self.script {
            Some(script) if script.scenario().is_real(&tool.name) => script.real_tool(bound),
            Some(script) => script.recorded_tool(Some(bound)),
            None => bound,
        }))
    }

    fn bound(&mut self, flow: &Flow, tool: &Tool, entry: &Entry<ToolSpec>) -> Arc<dyn ToolBackend> {
        let span = entry.span;
        match &entry.value {
            ToolSpec::Sql(spec) => {
                self.query(flow, tool, spec, entry);
                let pool = spec.server().and_then(|url| self.database(url, entry));
                Arc::new(SqlTool::new(
                    (**spec).clone(),
                    tool,
                    &flow.types,
                    self.folder,
                    pool,
                ))
            }
            ToolSpec::Graph(spec) => self.graph(flow, tool, spec),
            ToolSpec::Mcp(spec) => {
                let made = self.mcp(flow, tool, spec);
                let most = (None, (spec.timeout, TOOL_TIMEOUT));
                limited(made, &self.places.requests, most)
            }
            ToolSpec::Command(spec) => {
                let runs_it = format!("tool `{}`", tool.name);
                self.program(&runs_it, spec, span);
                let tool = CommandTool::new(spec.clone(), self.folder);
                let most = (spec.max_concurrency, (spec.timeout, TOOL_TIMEOUT));
                limited(Arc::new(tool), &self.places.commands, most)
            }
            ToolSpec::Script(replies) => Arc::new(ScriptTool::new(replies.clone())),
            ToolSpec::Http(spec) => {
                // A text that is no template was refused when the file was read. A check looks at them at their places.
                let used = match self.declared {
                    Some(_) => Vec::new(),
                    None => http::arguments(spec).unwrap_or_default(),
                };
                for (used, text) in used {
                    let known = || tool.params.iter().map(|param| param.name.as_str());
                    if known().any(|name| name == used) {
                        continue;
                    }
                    let help = match name::closest(&used, known()) {
                        Some(near) => format!("did you mean `args.{near}`?"),
                        None => format!("its parameters: {}", name::list(known())),
                    };
                    let name = &tool.name;
                    let message =
                        format!("tool `{name}` has no parameter `{used}`, used in `{text}`");
                    self.report(span, message, help);
                }
                let mut spec = (**spec).clone();
                spec.hosts = self.config.allow_hosts.clone().unwrap_or_default();
                if spec.hosts.is_empty() && entry.missing.is_empty() && is_filled_in(&spec.url) {
                    let name = &tool.name;
                    let message =
                        format!("arguments of tool `{name}` make up the host that it asks");
                    let help = "say which hosts it may reach: `allow_hosts: [api.example.com, \"*.example.org\"]`";
                    self.report(span, message, help.to_owned());
                }
                let most = (spec.max_concurrency, (spec.timeout, TOOL_TIMEOUT));
                let tool = HttpTool::new(spec, Arc::clone(&self.wire));
                limited(Arc::new(tool), &self.places.requests, most)
            }
        }
    }

    /// Connections to a database, shared by all tools that name it.
    fn database(&mut self, url: &str, entry: &Entry<ToolSpec>) -> Option<Arc<Pool>> {
        if !entry.missing.is_empty() {
            return None;
        }
        if let Some(made) = self.databases.get(url) {
            return Some(Arc::clone(made));
        }
        match store::Server::parse(url, self.folder) {
            Ok(server) => {
                let made = Arc::new(Pool::new(server));
                self.databases.insert(url.to_owned(), Arc::clone(&made));
                Some(made)
            }
            Err(error) => {
                let help = "write `postgres://USER:PASSWORD@HOST/DATABASE`";
                self.report(entry.span, error.to_string(), help.to_owned());
                None
            }
        }
    }

    /// Reports what of a query does not fit the tool, which a check looks at at its places, and a file that is not there.
    fn query(&mut self, flow: &Flow, tool: &Tool, spec: &SqlSpec, entry: &Entry<ToolSpec>) {
        let span = entry.span;
        if self.declared.is_none() {
            let params = tool.params.iter();
            let params = params
                .map(|param| (param.name.as_str(), &param.ty))
                .collect();
            let returns = tool.returns.as_ref().map(|ty| (ty, &flow.types));
            for misfit in fit::misfits(spec, &tool.name, &params, returns) {
                self.report(span, misfit.message, misfit.help);
            }
        }
        let file = spec.file().filter(|_| entry.missing.is_empty());
        if let Some(path) = file.filter(|path| !self.folder.join(path).is_file()) {
            let name = &tool.name;
            let message = format!("there is no file `{path}`, which tool `{name}` asks");
            let help = "make it, or correct the path, which is one from the folder of graphc.yaml";
            self.report(span, message, help.to_owned());
        }
    }

    /// Reports a program or its script that is not on this machine; `whose` runs it.
    fn program(&mut self, whose: &str, spec: &CommandSpec, span: Option<Span>) {
        let Some(absent) = absent(spec, self.folder) else {
            return;
        };
        let (message, help) = match &absent {
            Absent::Program(program) => (
                format!("there is no program `{program}`, which {whose} runs"),
                "install it, or correct its name",
            ),
            Absent::Script(script) => (
                format!("there is no file `{script}`, which {whose} runs"),
                "a path is one from the folder of graphc.yaml",
            ),
        };
        let span = spec.at.get(absent.word()).copied().or(span);
        self.report(span, message, help.to_owned());
    }

    fn unbound(&mut self, flow: &Flow, tool: &Tool) {
        let declared = self.declared.and_then(|place| place(&tool.at, &tool.name));
        let file = flow.files.get(tool.at.file as usize);
        let place = match (declared, file) {
            (None, Some(file)) => format!(" ({file}:{})", tool.at.line),
            _ => String::new(),
        };
        let profile = match &self.config.profile {
            Some(profile) => format!(" in profile `{profile}`"),
            None => String::new(),
        };
        let message = format!(
            "tool `{}`{place} has no body and is bound to nothing{profile}",
            tool.name
        );
        // A binding of another tool is not this one's, misspelt.
        let is_other = |name: &&str| flow.tools.iter().any(|other| other.name == **name);
        let known = self.config.tools.keys().map(String::as_str);
        let near = name::closest(&tool.name, known.filter(|name| !is_other(name)));
        let help = match near {
            Some(near) => format!("graphc.yaml binds `{near}`; did you mean that?"),
            None => format!(
                "add `{}: {{ command: [..] }}` under `tools` in graphc.yaml, or run with `--scenario NAME`",
                tool.name
            ),
        };
        // A check says it at the misspelt name.
        let meant = near.is_some_and(|near| name::closest(near, [&*tool.name]).is_some());
        if meant && self.declared.is_some() {
            return;
        }
        let finding = self.finding(declared, message, help);
        let bound = near.and_then(|near| self.config.tools.get(near)?.span);
        self.found.push(match (bound, declared) {
            (Some(bound), Some(_)) => finding.label(bound, "no tool of the flow has this name"),
            _ => finding,
        });
    }
}

/// A model of another name than the flow gives.
struct Renamed {
    provider: Arc<Provider>,
    model: String,
}

#[async_trait]
impl ChatModel for Renamed {
    async fn stream(
        &self,
        mut request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        request.model.clone_from(&self.model);
        self.provider.stream(request, cx).await
    }
}
