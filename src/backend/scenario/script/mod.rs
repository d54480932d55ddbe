//! The play of one scenario: models and tools that say what it says, and a journal of what they were
//! asked.

mod memory;
mod model;
mod real;
mod recorded;
mod tape;
mod tool;
mod turns;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::project::yaml::Path;
use crate::run::model::{CallContext, ChatModel};
use crate::run::tool::ToolBackend;
use crate::run::work::acceptance::refused;

use super::queue::{Order, Queue};
use crate::project::scenario::{Scenario, Suite};

pub use memory::{forget, remembered, seed};
pub use model::ModelRecord;
pub use turns::in_turns;

use recorded::RECORD;
use tape::Tape;
use turns::Turns;

/// What the scenario begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A new run: calls made on the thread before it belong to earlier ones.
    Run,
    /// A run of this scenario that another process began: its calls have used up their replies.
    Resume,
}

/// One scenario as it plays. All of its models and tools share it.
#[derive(Debug)]
pub struct Script {
    scenario: Scenario,
    start: Start,
    /// Calls by node path (models) and by name (tools) that the scenarios before it on its thread
    /// make, one for each reply of theirs.
    earlier: Calls,
    state: Mutex<State>,
    turns: Mutex<Turns>,
    /// Real calls that are under way.
    under_way: AtomicUsize,
}

#[derive(Debug, Default)]
struct Calls {
    models: BTreeMap<String, u64>,
    tools: BTreeMap<String, u64>,
}

#[derive(Debug, Default)]
struct State {
    /// In the order of the scenario's lists.
    models: Vec<Queue>,
    tools: Vec<Queue>,
    journal: Vec<ModelRecord>,
    calls: BTreeMap<String, u64>,
    unmatched: Vec<String>,
    tape: Tape,
}

impl Script {
    /// The play of the scenario at `index`; `None` where there is none.
    pub fn new(suite: &Suite, index: usize, start: Start) -> Option<Arc<Script>> {
        let scenario = suite.scenarios.get(index)?.clone();
        let before = suite.scenarios.get(..index).unwrap_or_default();
        let same = |other: &&Scenario| other.thread.is_some() && other.thread == scenario.thread;
        let mut earlier = Calls::default();
        for other in before.iter().filter(same) {
            count(&other.models, &mut earlier.models);
            count(&other.tools, &mut earlier.tools);
        }
        let models = scenario.models.iter().map(|(node, replies)| {
            let order = match node.as_str() {
                "*" => Order::Pool,
                _ => Order::Visits,
            };
            Queue::new(replies.len(), order)
        });
        let tools = scenario.tools.iter();
        let state = State {
            models: models.collect(),
            tools: tools
                .map(|(_, replies)| Queue::new(replies.len(), Order::Calls))
                .collect(),
            ..State::default()
        };
        Some(Arc::new(Script {
            scenario,
            start,
            earlier,
            state: Mutex::new(state),
            turns: Mutex::default(),
            under_way: AtomicUsize::new(0),
        }))
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The model that plays the models of the flow. `real` is the one that is asked where the scenario is recorded.
    pub fn model(self: &Arc<Self>, real: Option<Arc<dyn ChatModel>>) -> Arc<dyn ChatModel> {
        let script = Arc::clone(self);
        Arc::new(model::ScriptedModel { script, real })
    }

    /// The tool that plays the one of that name, where the scenario has replies for it.
    pub fn tool(self: &Arc<Self>, name: &str) -> Option<Arc<dyn ToolBackend>> {
        let list = self.scenario.tools.iter().position(|(n, _)| n == name)?;
        Some(Arc::new(tool::ScriptedTool {
            script: Arc::clone(self),
            list,
        }))
    }

    /// What serves the tools of long-term memory that the scenario has no replies for: for real, on a memory that is the
    /// thread's own.
    pub fn memory_tool(self: &Arc<Self>) -> Arc<dyn ToolBackend> {
        Arc::new(memory::OwnMemory::new(Arc::clone(self)))
    }

    /// A tool that is really called: `tool` makes the calls, in their turns.
    pub fn real_tool(self: &Arc<Self>, tool: Arc<dyn ToolBackend>) -> Arc<dyn ToolBackend> {
        Arc::new(real::RealTool {
            script: Arc::clone(self),
            tool,
        })
    }

    /// A tool that nothing serves: a call of it fails the scenario.
    pub fn absent_tool(self: &Arc<Self>) -> Arc<dyn ToolBackend> {
        Arc::new(tool::AbsentTool {
            script: Arc::clone(self),
        })
    }

    /// What the models were asked, in the order of the calls.
    pub fn journal(&self) -> Vec<ModelRecord> {
        self.state().journal.clone()
    }

    /// How many calls were made of each tool that has no body of its own or is played.
    pub fn calls(&self) -> BTreeMap<String, u64> {
        self.state().calls.clone()
    }

    /// Counts a call of a tool that is served otherwise.
    fn count_call(&self, tool: &str) {
        *self.state().calls.entry(tool.to_owned()).or_default() += 1;
    }

    /// Replies after which the model was asked again, since they were not of its type: where they are written, and what is
    /// wrong with them.
    pub fn unfit(&self) -> Vec<(Path, String)> {
        let mut before: BTreeMap<(String, Option<u32>), Path> = BTreeMap::new();
        let mut unfit = Vec::new();
        for record in self.journal() {
            let caller = (record.node.clone(), record.send);
            let last = record.messages.iter().last();
            let last = last.and_then(|message| message.get("content")?.as_str().map(str::to_owned));
            if let (Some(at), Some(why)) = (before.get(&caller), last.as_deref().and_then(refused))
            {
                unfit.push((at.clone(), why.to_owned()));
            }
            if let Some(at) = record.reply {
                before.insert(caller, at);
            }
        }
        unfit
    }

    /// Calls that no reply matched, in words.
    pub fn unmatched(&self) -> Vec<String> {
        self.state().unmatched.clone()
    }

    /// Recorded calls that were not made, in words.
    pub fn unplayed(&self) -> Vec<String> {
        let state = self.state();
        // Of a run that has gone another way they say nothing more.
        let left = match &state.tape {
            Tape::Plays(playing) if state.unmatched.is_empty() => playing.left(),
            _ => Vec::new(),
        };
        let unplayed = |call| {
            let name = &self.scenario.name;
            format!("scenario `{name}`: {call} is recorded, and was not made\n{RECORD}")
        };
        left.into_iter().map(unplayed).collect()
    }

    /// Where the replies are written that no call has taken.
    pub fn left_over(&self) -> Vec<Path> {
        let state = self.state();
        let mut left = Vec::new();
        for ((_, replies), queue) in self.scenario.models.iter().zip(&state.models) {
            left.extend(
                queue
                    .left()
                    .filter_map(|i| Some(replies.get(i)?.at.clone())),
            );
        }
        for ((_, replies), queue) in self.scenario.tools.iter().zip(&state.tools) {
            left.extend(
                queue
                    .left()
                    .filter_map(|i| Some(replies.get(i)?.at.clone())),
            );
        }
        left
    }

    /// A thread that panicked while it held the state has left it whole: no update has a middle.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many calls a caller had made on the thread before this scenario.
    fn before(&self, earlier: Option<&u64>, cx: &CallContext) -> u64 {
        match self.start {
            Start::Run => cx.ordinal,
            Start::Resume => earlier.copied().unwrap_or(0),
        }
    }
}

fn count<T>(lists: &[(String, Vec<T>)], into: &mut BTreeMap<String, u64>) {
    for (name, replies) in lists {
        *into.entry(name.clone()).or_default() += replies.len() as u64;
    }
}

/// `model call 3 of `a/b``, and what the scenario has for it.
fn nothing_fits(scenario: &Scenario, call: &str, replies: Option<usize>) -> String {
    let name = &scenario.name;
    match replies {
        None => format!("scenario `{name}` has no replies for {call}"),
        Some(all) => {
            format!("scenario `{name}` has no reply left that fits {call}, of {all} written")
        }
    }
}
