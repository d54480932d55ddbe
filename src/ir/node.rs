//! What nodes do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expr::ty::Type;

use super::flow::{Flow, GraphId, ModelId, ToolId};
use super::graph::FieldId;
use super::jump::{Emit, Jump};
use super::text::{Expr, Named, Place, Template};

/// A node's own work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// One model call. Gives `reply` and, with an output type, `output`.
    Llm(Box<ModelCall>),
    /// Model and tools in a loop. Gives `reply`, `output` and `transcript`.
    Agent {
        /// The model call of each turn.
        call: Box<ModelCall>,
        /// Most turns; after the last one the node is done.
        max_turns: u32,
        /// Ends the loop where it holds after a turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Expr>,
        /// Whether the tools of one turn run at the same time.
        parallel: bool,
    },
    /// Runs the tool calls of the last assistant message. Gives `results`.
    Tools {
        /// A list of messages.
        messages: Expr,
        /// Tools that may be called.
        tools: Vec<ToolId>,
        /// Whether they run at the same time.
        parallel: bool,
    },
    /// One tool call. Gives `result`.
    Call {
        /// Which tool.
        tool: ToolId,
        /// Its arguments.
        args: Vec<Named>,
    },
    /// Nothing: `let`, `set`, `emit` and `require` are all there is.
    Update,
    /// Routing without a super-step: followed by whoever goes to it.
    Branch,
    /// Waits for a person. Gives `answer`.
    Interrupt {
        /// What is shown.
        ask: Ask,
        /// Type of the answer; any JSON where there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expect: Option<Type>,
        /// Which calls the answer permits.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        permits: Vec<Permit>,
        /// Gives up after so many milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<InterruptTimeout>,
    },
    /// Runs a graph. Gives `result`, a record of its `out` fields.
    Subgraph {
        /// Which graph.
        graph: GraphId,
        /// `in` fields with their values, in the child's order: written ones and those passed by name.
        with: Vec<Pass>,
        /// `out` fields and the caller's fields that take them.
        into: Vec<Binding>,
        /// How long its state is kept.
        #[serde(default, skip_serializing_if = "Persist::is_call")]
        persist: Persist,
    },
    /// Runs what the embedding program has registered.
    Extern {
        /// Under this name.
        name: String,
        /// Fields that it is given.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reads: Vec<FieldId>,
        /// Fields that it may write.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        writes: Vec<FieldId>,
    },
}

impl Work {
    /// The keyword of the node's kind.
    pub fn keyword(&self) -> &'static str {
        match self {
            Work::Llm(_) => "llm",
            Work::Agent { .. } => "agent",
            Work::Tools { .. } => "tools",
            Work::Call { .. } => "call",
            Work::Update => "update",
            Work::Branch => "branch",
            Work::Interrupt { .. } => "interrupt",
            Work::Subgraph { .. } => "subgraph",
            Work::Extern { .. } => "extern",
        }
    }

    /// The tools that it may call, or shows to a model.
    pub fn tools(&self) -> &[ToolId] {
        match self {
            Work::Llm(call) | Work::Agent { call, .. } => &call.tools,
            Work::Tools { tools, .. } => tools,
            Work::Call { tool, .. } => std::slice::from_ref(tool),
            _ => &[],
        }
    }
}

/// A piece of a reply, in the event of `stream as`.
pub const CHUNK: &str = "chunk";

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelCall {
    /// Which model.
    pub model: ModelId,
    /// System message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Template>,
    /// A user message behind `messages`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Template>,
    /// A list of messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Expr>,
    /// Type of the structured output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Type>,
    /// What a reply must meet: one that doesn't is refused as one that is not of its type. Not asked where there is no
    /// output, though it has a type, nor, without a type, of a reply that calls tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ensures: Vec<Require>,
    /// Tools that the model is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolId>,
    /// `auto`, `none`, `required`, or a tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<String>,
    /// Whether tokens are streamed.
    pub stream: bool,
    /// The event that each piece of a reply is sent as, the piece being `chunk` in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_as: Option<Emit>,
}

/// What an interrupt shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// An object.
    Fields(Vec<Named>),
    /// A text.
    Text(Template),
}

/// How long the state of a called graph is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Persist {
    /// As long as the call, with a checkpoint after each super-step.
    #[default]
    Call,
    /// From call to call on the thread.
    Thread,
    /// Not at all: a call that is cut off begins anew.
    None,
}

impl Persist {
    /// Whether it is the usual way.
    pub fn is_call(&self) -> bool {
        *self == Persist::Call
    }
}

/// `cache { key EXPR, ttl 1h }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// What a result is looked up by; the state and the node's input where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Expr>,
    /// How long a result holds, in milliseconds; for ever where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
}

/// A question around a node: `interrupt NAME before NODE { .. }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// Its name, by which its answer is in scope of what follows in the node.
    pub name: String,
    /// Behind the node's writes and events, ahead of its way on; else ahead of all that it does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after: bool,
    /// What is shown.
    pub ask: Ask,
    /// Type of the answer.
    pub expect: Type,
    /// Which calls the answer permits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permits: Vec<Permit>,
    /// Where it is declared.
    pub at: Place,
}

/// `permit once each d in LIST -> TOOL(param: EXPR) when COND`: calls that the answer to a question permits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Permit {
    /// Of which tool.
    pub tool: ToolId,
    /// One call, not all of the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// A permission for each element of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<PermitEach>,
    /// Every argument of the tool; `None` where any are permitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pins: Option<Vec<Pin>>,
    /// When the answer permits it; always where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// Where it is written.
    pub at: Place,
}

impl Permit {
    /// As it is written, with every argument of the tool.
    pub fn shown(&self, flow: &Flow) -> String {
        let once = if self.once { "once " } else { "" };
        let each = self.each.as_ref();
        let each = each.map(|each| format!("each {} in {} -> ", each.var, each.items.text));
        let tool = flow.tools.get(self.tool).map_or("", |tool| &tool.name);
        let pins = self.pins.as_ref().map(|pins| {
            let pins = pins.iter();
            let pins = pins.map(|pin| format!("{}: {}", pin.name, pin.value.text));
            format!("({})", pins.collect::<Vec<_>>().join(", "))
        });
        let when = self.when.as_ref();
        let when = when.map(|when| format!(" when {}", when.text));
        [
            once,
            &each.unwrap_or_default(),
            tool,
            &pins.unwrap_or_default(),
        ]
        .concat()
            + &when.unwrap_or_default()
    }
}

/// `each d in LIST ->` of a permission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermitEach {
    /// The name of an element.
    pub var: String,
    /// The list.
    pub items: Expr,
    /// Whether the list reads the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_answer: bool,
}

/// An argument that a permission holds a call to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pin {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: Expr,
    /// Whether it reads the answer; else it is computed when the question is asked, and shown with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_answer: bool,
}

/// `timeout 7d -> TARGET` of an interrupt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptTimeout {
    /// How long it waits, in milliseconds.
    pub after_ms: u64,
    /// Where it goes then.
    pub to: Jump,
}

/// How an `in` field of a called graph gets its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// From the caller's field, shared.
    Field {
        /// Field of the called graph.
        to: FieldId,
        /// Field of the caller.
        from: FieldId,
    },
    /// Computed.
    Value {
        /// Field of the called graph.
        to: FieldId,
        /// Its value.
        value: Expr,
    },
    /// What a send gives under the field's name; where it gives none, the field begins as in a call that doesn't name it.
    Sent {
        /// Field of the called graph.
        to: FieldId,
    },
}

/// An `out` field of a called graph and the caller's field that takes what was written to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// Field of the called graph.
    pub from: FieldId,
    /// Field of the caller.
    pub to: FieldId,
}

/// `skip when EXPR -> TARGET`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skip {
    /// When.
    pub when: Expr,
    /// Where to then; the node's own way on where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Jump>,
}

/// `require EXPR else MSG`, `ensure EXPR else MSG`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Require {
    /// Must hold.
    pub condition: Expr,
    /// Text of the error; the condition itself where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Expr>,
    /// How many of the `let`s beside it are computed before it is asked; the others behind it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub after_lets: u32,
    /// Where it is written.
    pub at: Place,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over references"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
