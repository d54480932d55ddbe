//! What a reviewer reads.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::check::cfg::BlockId;
use crate::ir::flow::ToolEffect;
use crate::ir::node::Work;
use crate::ir::{Flow, GraphId, ModelId, Node, ToolId};

use super::bound::Bound;
use super::ends::{begins, exits};
use super::permitted::{Permission, permissions};
use super::reach::{ReachableGraphs, stop_name};
use super::weight::{Cost, product, weigh};
use super::{Served, Services};

/// What a flow can do and cost at worst.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sheet {
    /// The graph that is entered.
    pub graph: String,
    /// The profile of the settings.
    pub profile: Option<String>,
    /// What a caller gives, as `name: type`.
    pub input: Vec<String>,
    /// Nodes that a run may begin at.
    pub entry: Vec<String>,
    /// How a run may end: `end`, `fail at Graph.node`, `parent.name`, `exit when CONDITION`.
    pub exits: Vec<String>,
    /// Super-steps of the longest path, those of called graphs included.
    pub steps: Bound,
    /// What bounds its loops: nodes with `max_visits` that lead back to themselves, and conditions on counters.
    pub bounded_by: Vec<String>,
    /// Super-steps after which a run fails wherever it is; it counts anew after an interrupt.
    pub recursion_limit: Option<u32>,
    /// Calls of models, attempts and fallbacks included.
    pub model_calls: Bound,
    /// Tokens that models write.
    pub output_tokens: Bound,
    /// Nodes that call a model.
    pub models: Vec<ModelUse>,
    /// Tools in reach.
    pub tools: Vec<ToolUse>,
    /// Questions to people.
    pub interrupts: Vec<Question>,
    /// Variables of the environment that are needed, each with what needs it.
    pub secrets: BTreeMap<String, BTreeSet<String>>,
    /// Where data goes, each with what sends it there.
    pub leaves: BTreeMap<String, BTreeSet<String>>,
    /// What sends data to where nobody has said: models of providers that are not described, tools that nothing serves.
    pub leaves_unknown: BTreeSet<String>,
    /// Graphs in reach with the tools that they allow; `None` where they set no scope.
    pub scopes: BTreeMap<String, Option<BTreeSet<String>>>,
}

/// A node that calls a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelUse {
    /// The node, as `Graph.node`.
    pub node: String,
    /// The model, and the ones that it falls back on.
    pub models: Vec<String>,
    /// Calls of one visit.
    pub calls: Bound,
    /// What they are the product of, in words; left out for a single call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// Tokens of one visit.
    pub tokens: Bound,
}

/// A tool in reach.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolUse {
    /// Its name.
    pub tool: String,
    /// `read`, `write`, `destructive`.
    pub effect: &'static str,
    /// What serves it: `body`, a kind of `graphc.yaml`, `memory`, or `unbound`.
    pub served: String,
    /// Longest time of a call, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Where what it is given goes, where that is outside of this process.
    pub to: Option<String>,
    /// Whether a call of it asks a person that nobody has permitted: it is `@approve`, or destructive and not `@unattended`.
    pub asks: bool,
    /// `@approve`
    pub approve: bool,
    /// `@unattended`: nobody has to be asked.
    pub unattended: bool,
    /// Conditions on its arguments, in force in all nodes that may call it.
    pub narrowed: BTreeSet<String>,
    /// Arguments that the flow fixes, `name: value`, in all nodes that may call it.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub fixed: BTreeSet<String>,
    /// Nodes that may call it, each with the interrupts that every way to it passes.
    pub nodes: BTreeMap<String, BTreeSet<String>>,
    /// Nodes where a call of it may ask a person: some way comes there without a permit. Empty where it never asks.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub asks_at: BTreeSet<String>,
    /// What the answers to questions permit of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permitted: Vec<Permission>,
}

impl ToolUse {
    /// Interrupts that every way to every node which may call it passes.
    pub fn passed(&self) -> BTreeSet<String> {
        let mut nodes = self.nodes.values();
        let first = nodes.next().cloned().unwrap_or_default();
        nodes.fold(first, |all, passed| {
            all.intersection(passed).cloned().collect()
        })
    }
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// The node, or the interrupt before or after one, as `Graph.name`.
    pub node: String,
    /// The type of the answer.
    pub expects: String,
    /// When it gives up, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// Fills the sheet.
pub(super) fn fill(
    flow: &Flow,
    entry: GraphId,
    services: &Services,
    reach: &ReachableGraphs,
    worst: Cost,
) -> Sheet {
    let graph = flow.graphs.get(entry);
    let input = graph.into_iter().flat_map(|graph| graph.fields.iter());
    let input = input.filter(|field| field.mode.is_in());
    let context = graph.into_iter().flat_map(|graph| graph.context.iter());
    let context = context.map(|c| format!("context {}: {}", c.name, flow.types.show(&c.ty)));
    let mut sheet = Sheet {
        graph: graph.map_or(String::new(), |graph| graph.name.clone()),
        profile: services.profile.clone(),
        input: input
            .map(|field| format!("{}: {}", field.name, flow.types.show(&field.ty)))
            .chain(context)
            .collect(),
        entry: graph.map_or(Vec::new(), begins),
        exits: graph.map_or(Vec::new(), |graph| exits(flow, entry, graph)),
        steps: worst.steps,
        bounded_by: Vec::new(),
        recursion_limit: graph.and_then(|graph| graph.recursion_limit),
        model_calls: worst.calls,
        output_tokens: worst.tokens,
        models: Vec::new(),
        tools: tools(flow, services, reach),
        interrupts: Vec::new(),
        secrets: BTreeMap::new(),
        leaves: BTreeMap::new(),
        leaves_unknown: BTreeSet::new(),
        scopes: BTreeMap::new(),
    };
    sheet.nodes(flow, services, reach);
    for tool in &sheet.tools {
        let declared = flow
            .tools
            .iter()
            .find(|declared| declared.name == tool.tool);
        let served = declared.and_then(|declared| services.tool(declared));
        let who = format!("tool {}", tool.tool);
        outside(&mut sheet.secrets, &mut sheet.leaves, served.as_ref(), &who);
        if tool.served == UNBOUND {
            let unknown = format!("tool {}, which nothing serves", tool.tool);
            sheet.leaves_unknown.insert(unknown);
        }
    }
    for id in &reach.order {
        if let Some(graph) = flow.graphs.get(*id) {
            let names = graph.tools.as_ref().map(|tools| {
                let names = tools.iter().filter_map(|id| flow.tools.get(*id));
                names.map(|tool| tool.name.clone()).collect()
            });
            sheet.scopes.insert(graph.name.clone(), names);
        }
    }
    sheet
}

impl Sheet {
    fn nodes(&mut self, flow: &Flow, services: &Services, reach: &ReachableGraphs) {
        for (id, graph, node_id, node) in reach.nodes(flow) {
            let name = format!("{}.{}", graph.name, node.name);
            let (block, bounded) = (BlockId::Node(node_id), reach.graphs.get(id));
            if let Some(visits) = &node.max_visits
                && bounded.is_some_and(|bounded| bounded.cfg.goes_round(block))
            {
                self.bounded_by
                    .push(format!("max_visits {} of {name}", visits.limit));
            }
            if let Some(condition) = bounded.and_then(|bounded| bounded.counters.get(&block)) {
                self.bounded_by.push(format!("{condition} at {name}"));
            }
            match &node.work {
                Work::Llm(call) | Work::Agent { call, .. } => {
                    let first = flow.models.get(call.model);
                    let fallback = first.map_or(&[] as &[ModelId], |model| &model.fallback);
                    let ids = std::iter::once(call.model).chain(fallback.iter().copied());
                    let models: Vec<_> = ids.filter_map(|id| flow.models.get(id)).collect();
                    for model in &models {
                        let own = format!("{}/{}", model.provider, model.model);
                        let bound = services
                            .models
                            .get(&model.name)
                            .or(services.models.get("*"));
                        let reference = bound.unwrap_or(&own);
                        let provider = reference.split('/').next().unwrap_or("");
                        let served = services.providers.get(provider);
                        let who = format!("model {}", model.name);
                        if reference == "scripted" {
                            self.leaves_unknown
                                .insert(format!("{who}, which scenarios play under this profile"));
                            continue;
                        }
                        outside(&mut self.secrets, &mut self.leaves, served, &who);
                        if served.is_none() {
                            self.leaves_unknown.insert(format!(
                                "{who}, whose provider `{provider}` is not described"
                            ));
                        }
                    }
                    let weights = weigh(flow, graph, node, &BTreeMap::new());
                    self.models.push(ModelUse {
                        node: name,
                        models: models.iter().map(|model| model.name.clone()).collect(),
                        calls: weights.calls,
                        because: product(flow, node),
                        tokens: weights.tokens,
                    });
                }
                Work::Interrupt {
                    expect, timeout, ..
                } => self.interrupts.push(Question {
                    node: name,
                    expects: expect
                        .as_ref()
                        .map_or("any JSON".to_owned(), |ty| flow.types.show(ty).to_string()),
                    timeout_ms: timeout.as_ref().map(|timeout| timeout.after_ms),
                }),
                Work::Extern { name: program, .. } => {
                    let to = "the embedding program".to_owned();
                    let who = format!("extern {program} at {name}");
                    self.leaves.entry(to).or_default().insert(who);
                }
                _ => {}
            }
            self.interrupts
                .extend(node.stops.iter().map(|stop| Question {
                    node: stop_name(graph, &stop.name),
                    expects: flow.types.show(&stop.expect).to_string(),
                    timeout_ms: None,
                }));
        }
    }
}

/// What serves a tool that nothing serves.
const UNBOUND: &str = "unbound";

/// Notes what something needs and where it sends data.
fn outside(
    secrets: &mut BTreeMap<String, BTreeSet<String>>,
    leaves: &mut BTreeMap<String, BTreeSet<String>>,
    served: Option<&Served>,
    who: &str,
) {
    let Some(served) = served else { return };
    for variable in &served.variables {
        let users = secrets.entry(variable.clone()).or_default();
        users.insert(who.to_owned());
    }
    if let Some(to) = &served.to {
        leaves.entry(to.clone()).or_default().insert(who.to_owned());
    }
}

/// Conditions on the arguments of a tool in a node, and those that are fixed there.
fn narrowed(node: &Node, tool: ToolId) -> [BTreeSet<String>; 2] {
    let own = node.narrowed.iter().find(|own| own.tool == tool);
    let Some(own) = own else {
        return Default::default();
    };
    let conditions = own
        .conditions
        .iter()
        .map(|condition| condition.text.clone());
    let fixed = own
        .fixed
        .iter()
        .map(|arg| format!("{}: {}", arg.name, arg.value.text));
    [conditions.collect(), fixed.collect()]
}

fn tools(flow: &Flow, services: &Services, reach: &ReachableGraphs) -> Vec<ToolUse> {
    let permissions = permissions(flow, reach);
    let mut used: BTreeMap<usize, ToolUse> = BTreeMap::new();
    for (id, graph, node_id, node) in reach.nodes(flow) {
        for tool_id in node.work.tools().iter().copied() {
            let Some(tool) = flow.tools.get(tool_id) else {
                continue;
            };
            let served = match &tool.body {
                Some(_) => Some(("body".to_owned(), None)),
                None => services.tool(tool).map(|served| (served.kind, served.to)),
            };
            let (served, to) = served.unwrap_or((UNBOUND.to_owned(), None));
            let [conditions, fixed] = narrowed(node, tool_id);
            let found = used.entry(tool_id.0 as usize).or_insert_with(|| ToolUse {
                tool: tool.name.clone(),
                effect: ToolEffect::word(tool.effect),
                served,
                timeout_ms: tool.timeout_ms,
                to,
                asks: tool.asks(),
                approve: tool.approve,
                unattended: tool.unattended,
                narrowed: conditions.clone(),
                fixed: fixed.clone(),
                nodes: BTreeMap::new(),
                asks_at: reach.asks.get(&tool_id).cloned().unwrap_or_default(),
                permitted: permissions.get(&tool_id).cloned().unwrap_or_default(),
            });
            let before = reach
                .before
                .get(&(id, node_id))
                .cloned()
                .unwrap_or_default();
            found.narrowed.retain(|known| conditions.contains(known));
            found.fixed.retain(|known| fixed.contains(known));
            let name = format!("{}.{}", graph.name, node.name);
            found.nodes.insert(name, before);
        }
    }
    used.into_values().collect()
}
