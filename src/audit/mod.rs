//! What a flow can do and cost at worst, before it runs.
//!
//! [`audit`] makes a [`Sheet`] of one graph with all that it calls: its longest path, the calls and tokens of models,
//! the tools in reach, where they ask and what permits them, what leaves the machine. Every figure is an upper bound that no run
//! exceeds, or is said to be unbounded, with the reason: nothing is estimated.
//!
//! Not here: what a provider charges (no price is known), and what happens when a killed process or a person makes the
//! engine ask again.
//!
//! Reading order: [`bound`] (numbers that may have no bound), [`sheet`], [`ends`] (where a run begins
//! and ends), [`mod@graph`] (the control-flow graph, with what bounds it), [`length`] (of lists that sends
//! go over), [`counter`] (loops that a number bounds), [`count`] (how often its blocks are come to), [`cycle`] and [`walk`] (the
//! heaviest way through it), [`weight`] (what a visit of a node costs), [`worst`] (all together), [`reach`] (which graphs and tools, behind which
//! questions), [`permitted`] (where calls ask, and what permits them: the checker's analysis, on the IR), [`widen`] (what a change adds).

pub mod bound;
mod count;
mod counter;
mod cycle;
mod ends;
mod graph;
mod length;
pub mod permitted;
mod reach;
pub mod sheet;
mod walk;
mod weight;
pub mod widen;
mod worst;

use std::collections::BTreeMap;

use crate::ir::{Flow, GraphId, Tool};

pub use bound::Bound;
pub use sheet::Sheet;

/// What serves a tool or a provider, as `graphc.yaml` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    /// `command`, `http`, `script`, `memory`; for a provider its kind. `unbound` where nothing serves it.
    pub kind: String,
    /// Where what it is sent goes to: a host, or a program. `None` where it stays in this process.
    pub to: Option<String>,
    /// Variables of the environment that it needs.
    pub variables: Vec<String>,
}

/// What serves what, under one profile.
#[derive(Debug, Clone, Default)]
pub struct Services {
    /// The profile.
    pub profile: Option<String>,
    /// By tool.
    pub tools: BTreeMap<String, Served>,
    /// What serves the tools of long-term memory: where texts go that are searched by meaning.
    pub memory: Served,
    /// By provider.
    pub providers: BTreeMap<String, Served>,
    /// By model, or `*`: `provider/model` in place of what the flow names, or `scripted`.
    pub models: BTreeMap<String, String>,
}

/// Tools of long-term memory whose arguments become vectors, where something makes them.
const EMBEDDED: [&str; 2] = ["memory_put", "memory_search"];

impl Services {
    /// What serves a tool; `None` where nothing does.
    fn tool(&self, tool: &Tool) -> Option<Served> {
        let bound = self.tools.get(&tool.name).cloned();
        bound.or_else(|| {
            tool.module.as_ref()?;
            let mut served = Served {
                kind: "memory".to_owned(),
                ..Served::default()
            };
            if EMBEDDED.contains(&tool.name.as_str()) {
                served.to.clone_from(&self.memory.to);
                served.variables.clone_from(&self.memory.variables);
            }
            Some(served)
        })
    }
}

/// The sheet of a graph.
pub fn audit(flow: &Flow, graph: GraphId, services: &Services) -> Sheet {
    let reach = reach::ReachableGraphs::of(flow, graph);
    let worst = worst::worst(flow, graph, &reach);
    sheet::fill(flow, graph, services, &reach, worst)
}
