//! What flows need of the outside, as things to try: [`probe`](crate::backend::probe).

use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::llm::{Listing, Provider};
use crate::backend::probe::{Group, Item};
use crate::backend::tool::mcp::server::Server;
use crate::backend::tool::sql::pool::Pool;
use crate::base::FileId;
use crate::diag::Diagnostic;
use crate::ir::{Flow, Model, Tool};
use crate::project::config::{Config, ModelBinding, ToolSpec};
use crate::project::spec::mcp::McpSpec;
use crate::project::tried::What;
use crate::run::memory;
use crate::run::probe::{Probed, Problem};
use crate::store;

use crate::project::lacking::{Declared, Lacking, Seen};
use crate::project::run_secrets::run_secrets;

use super::{Binding, wrong_address};

/// What several flows need. What they share by their settings is tried once.
pub struct Needs {
    /// The store of settings that name none.
    store: &'static str,
    made: BTreeMap<(Option<FileId>, PathBuf), Made>,
}

/// What was made of one settings file.
#[derive(Default)]
struct Made {
    providers: BTreeMap<String, Arc<Provider>>,
    servers: BTreeMap<String, Arc<Server>>,
    databases: BTreeMap<String, Arc<Pool>>,
    /// What was looked at.
    seen: Seen,
    groups: Vec<Group>,
    /// Where the group of a provider is.
    of_provider: BTreeMap<String, (usize, Arc<Listing>)>,
    /// Where the group of an MCP server is.
    of_server: BTreeMap<String, usize>,
    /// Secrets of runs that are among the groups.
    secrets: BTreeSet<String>,
    /// Whether the model of long-term memory is among the groups.
    embeddings: bool,
}

impl Needs {
    /// Nothing so far. `store` is the address of the store where settings name none.
    pub fn new(store: &'static str) -> Self {
        Self {
            store,
            made: BTreeMap::new(),
        }
    }

    /// Adds what a flow needs with these settings, without a scenario. `folder` is that of `graphc.yaml`, `place` says where a
    /// tool or a model is declared.
    pub fn add(&mut self, flow: &Flow, config: &Config, folder: &Path, place: &Declared<'_>) {
        let key = (config.file, folder.to_owned());
        let made = self.made.entry(key).or_default();
        let mut binding = Binding::new(config, None, folder);
        binding.is_tried = true;
        let mut lacking = Lacking::new(config, folder, &wrong_address);
        lacking.declared = Some(place);
        std::mem::swap(&mut lacking.seen, &mut made.seen);
        std::mem::swap(&mut binding.providers, &mut made.providers);
        std::mem::swap(&mut binding.servers, &mut made.servers);
        std::mem::swap(&mut binding.databases, &mut made.databases);
        let mut gather = Gather {
            binding,
            lacking,
            made,
            config,
            seen: BTreeSet::new(),
        };
        gather.store(self.store);
        gather.models(flow);
        for tool in flow.tools.iter().filter(|tool| tool.body.is_none()) {
            gather.tool(flow, tool);
        }
        let Gather {
            binding,
            lacking,
            made,
            ..
        } = gather;
        made.seen = lacking.seen;
        made.providers = binding.providers;
        made.servers = binding.servers;
        made.databases = binding.databases;
    }

    /// All, in the order in which they were added.
    pub fn groups(self) -> Vec<Group> {
        let made = self.made.into_values();
        made.flat_map(|made| made.groups).collect()
    }
}

struct Gather<'a, 'm> {
    binding: Binding<'a>,
    lacking: Lacking<'a>,
    made: &'m mut Made,
    config: &'a Config,
    /// Files of the flows that `graph` tools run, whose models are among the groups.
    seen: BTreeSet<&'a str>,
}

impl<'a> Gather<'a, '_> {
    /// What was found since it was last asked.
    fn found(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.lacking.found)
            .into_iter()
            .collect()
    }

    fn store(&mut self, default: &'static str) {
        if !self.made.groups.is_empty() {
            return;
        }
        let entry = self.config.store.as_ref();
        let url = entry
            .map_or(default, |entry| entry.value.reveal())
            .to_owned();
        let folder = self.binding.folder.to_owned();
        let attempt = async move {
            match store::reach(&url, &folder).await {
                Ok(seen) => Probed::Ok(seen),
                Err(why) => Problem::missing(why).into(),
            }
        };
        self.made.groups.push(Group::of(Item {
            what: What::Store,
            name: String::new(),
            span: entry.and_then(|entry| entry.span),
            found: entry.map_or(Vec::new(), |entry| entry.missing.clone()),
            attempt: Box::pin(attempt),
        }));
    }

    /// Models of a flow, and of the flows that its tools run.
    fn models(&mut self, flow: &'a Flow) {
        for model in &flow.models {
            self.model(flow, model);
        }
        for tool in flow.tools.iter().filter(|tool| tool.body.is_none()) {
            let entry = self.config.tools.get(&tool.name);
            let Some(ToolSpec::Graph(spec)) = entry.map(|entry| &entry.value) else {
                continue;
            };
            if let Some(Ok(inner)) = self.config.flows.get(&spec.file)
                && self.seen.insert(&spec.file)
            {
                // Places are known in the flow that is checked alone.
                let declared = self.lacking.declared.take();
                self.models(inner);
                self.lacking.declared = declared;
            }
        }
    }

    fn model(&mut self, flow: &Flow, model: &Model) {
        let declared = self.lacking.declared;
        let declared = declared.and_then(|place| place(&model.at, &model.name));
        let entry = self.config.model(&model.name);
        let bound = entry.and_then(|entry| entry.span);
        let (provider, id) = match entry.map(|entry| &entry.value) {
            Some(ModelBinding::Scripted) => {
                let why = "scenarios play it".to_owned();
                self.made.groups.push(Group::of(Item {
                    what: What::Model,
                    name: model.name.clone(),
                    span: bound,
                    found: Vec::new(),
                    attempt: Box::pin(ready(Probed::Skipped(why))),
                }));
                return;
            }
            Some(ModelBinding::Other { provider, model }) => (provider, model),
            None => (&model.provider, &model.model),
        };
        let group = self.provider(provider);
        if group.is_none() {
            self.lacking.provider_of(provider, model, bound, flow);
        }
        self.lacking.unsayable(model);
        let (id, listing) = (
            id.clone(),
            group.as_ref().map(|(_, listing)| Arc::clone(listing)),
        );
        let item = Item {
            what: What::Model,
            name: model.name.clone(),
            span: bound.or(declared),
            found: self.found(),
            attempt: Box::pin(async move {
                match listing {
                    Some(listing) => listing.has(&id).await,
                    None => Probed::Skipped("its provider is not described".to_owned()),
                }
            }),
        };
        self.push(group.map(|(at, _)| at), item);
    }

    /// Adds to a group, or as one of its own.
    fn push(&mut self, group: Option<usize>, item: Item) {
        match group.and_then(|at| self.made.groups.get_mut(at)) {
            Some(group) => group.rest.push(item),
            None => self.made.groups.push(Group::of(item)),
        }
    }

    /// The group of a provider; none of one that nothing describes.
    fn provider(&mut self, name: &str) -> Option<(usize, Arc<Listing>)> {
        if let Some((at, listing)) = self.made.of_provider.get(name) {
            return Some((*at, Arc::clone(listing)));
        }
        self.lacking.provider(name);
        let provider = self.binding.provider(name)?;
        let listing = Arc::new(Listing::new(provider));
        let asked = Arc::clone(&listing);
        let head = Item {
            what: What::Provider,
            name: name.to_owned(),
            span: self.config.providers.get(name)?.span,
            found: self.found(),
            attempt: Box::pin(async move { asked.probe().await }),
        };
        let at = self.head(head);
        let known = (at, Arc::clone(&listing));
        self.made.of_provider.insert(name.to_owned(), known);
        Some((at, listing))
    }

    fn head(&mut self, head: Item) -> usize {
        self.made.groups.push(Group {
            head: Some(head),
            ..Group::default()
        });
        self.made.groups.len() - 1
    }

    /// The group of an MCP server, and the place of its entry.
    fn server(&mut self, spec: &McpSpec) -> usize {
        if let Some(at) = self.made.of_server.get(&spec.server) {
            return *at;
        }
        self.lacking.server(spec);
        let server = self.binding.server(spec);
        let span = self
            .config
            .mcp_servers
            .get(&spec.server)
            .and_then(|entry| entry.span);
        let head = Item {
            what: What::McpServer,
            name: spec.server.clone(),
            span: Some(span.unwrap_or(spec.server_at)),
            found: self.found(),
            attempt: Box::pin(async move {
                match server.tools().await {
                    Ok(offered) => Probed::Ok(format!("offers tools: {}", offered.len())),
                    Err(failure) => Problem::missing(failure.message).into(),
                }
            }),
        };
        let at = self.head(head);
        self.made.of_server.insert(spec.server.clone(), at);
        at
    }

    /// The model of long-term memory, once.
    fn embeddings(&mut self) {
        let entry = self.config.memory.as_ref();
        let embed = entry.and_then(|entry| entry.value.embed.as_ref());
        let Some(embed) = embed.filter(|_| !self.made.embeddings) else {
            return;
        };
        self.made.embeddings = true;
        let group = self.provider(&embed.provider);
        self.lacking.memory();
        let listing = group.as_ref().map(|(_, listing)| Arc::clone(listing));
        let model = embed.model.clone();
        let item = Item {
            what: What::Embeddings,
            name: embed.model.clone(),
            span: Some(embed.at),
            found: self.found(),
            attempt: Box::pin(async move {
                match listing {
                    Some(listing) => listing.has(&model).await,
                    None => Probed::Skipped("its provider is not described".to_owned()),
                }
            }),
        };
        self.push(group.map(|(at, _)| at), item);
    }

    fn tool(&mut self, flow: &Flow, tool: &Tool) {
        let Some(entry) = self.config.tools.get(&tool.name) else {
            if tool.is_of(memory::MODULE) {
                self.embeddings();
                return;
            }
            self.lacking.tool(flow, tool);
            let declared = self.lacking.declared;
            let item = Item {
                what: What::Tool,
                name: tool.name.clone(),
                span: declared.and_then(|place| place(&tool.at, &tool.name)),
                found: self.found(),
                attempt: Box::pin(ready(Probed::Skipped("it is bound to nothing".to_owned()))),
            };
            self.made.groups.push(Group::of(item));
            return;
        };
        let group = match &entry.value {
            ToolSpec::Mcp(spec) => Some(self.server(spec)),
            _ => None,
        };
        self.lacking.tool(flow, tool);
        let Some(Some(backend)) = self.binding.tool(flow, tool) else {
            return;
        };
        let asked = Arc::clone(&backend);
        let item = Item {
            what: What::Tool,
            name: tool.name.clone(),
            span: entry.span,
            found: self.found(),
            attempt: Box::pin(async move { asked.probe().await }),
        };
        self.push(group, item);
        let at = group.unwrap_or(self.made.groups.len() - 1);
        if let Some(group) = self.made.groups.get_mut(at) {
            group.tools.push(backend);
        }
        for (tool, name) in run_secrets(self.config, tool) {
            self.secret(tool, name);
        }
    }

    /// A secret that runs are given: by the variable of its name, unless they name a file.
    fn secret(&mut self, tool: &str, name: String) {
        let span = self.config.tools.get(tool).and_then(|entry| entry.span);
        if !self.made.secrets.insert(name.clone()) {
            return;
        }
        let probed = match std::env::var_os(&name) {
            Some(_) => Probed::Ok(format!("the variable is set: `--secret {name}` gives it")),
            None => {
                let message = format!(
                    "each run needs the secret `{name}` for tool `{tool}`, and the variable `{name}` is not set"
                );
                let help = format!(
                    "set it and run with `--secret {name}`, or with `--secret {name}=@FILE`"
                );
                Problem::warning(message).help(help).into()
            }
        };
        self.made.groups.push(Group::of(Item {
            what: What::Secret,
            name,
            span,
            found: Vec::new(),
            attempt: Box::pin(ready(probed)),
        }));
    }
}
