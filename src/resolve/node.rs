//! Nodes of a resolved program.

use std::ops::Range;

use thin_vec::ThinVec;

use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::{Let, NamedArg};
use crate::ast::node::{PermitEach, TemplateText};
use crate::ast::{Doc, Name};
use crate::base::{Span, Spanned};
use crate::expr::ty::{RecordId, Type};
use crate::ir::node::Persist;
use crate::ir::{FieldId, GraphId, JoinId, ModelId, Retry, ToolId};

use super::program::{Param, PromptId, ToolList};
use super::target::{Emit, Jump, Route, SetItem, Target};

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name.
    pub name: Name,
    /// Doc comment.
    pub doc: Doc,
    /// What it does.
    pub work: Work,
    /// Whether a name is given by two of its `let`s, which is reported: one of them was likely meant to give another.
    pub let_twice: bool,
    /// `interrupt x before` and `after` it, in the order written.
    pub stops: ThinVec<Stop>,
    /// Where its kind is written.
    pub kind_span: Span,
    /// Where its first property begins, where it has one: another may be written before it.
    pub body: Option<Span>,
    /// Values that a send gives it.
    pub input: ThinVec<Param>,
    /// The record of `input`: type of that name in the node. `None` where it declares none.
    pub input_record: Option<RecordId>,
    /// `skip when`, in order.
    pub skips: ThinVec<Skip>,
    /// `let` names in the order in which they are computed; which of them are when: [`preparation`](super::preparation).
    pub lets: ThinVec<Let>,
    /// How many of them are computed ahead of the work.
    pub lets_ahead: usize,
    /// Those that are computed with what the work gives, ahead of the `ensure` or `permit` that uses them.
    pub lets_within: Range<usize>,
    /// The first of those that are computed behind the work: some of the others are computed again.
    pub lets_behind: usize,
    /// What must hold before the work, in the order in which it is asked.
    pub requires: ThinVec<Require>,
    /// Writes after the work, of all its `set` blocks.
    pub set: ThinVec<SetItem>,
    /// Events.
    pub emits: ThinVec<Emit>,
    /// Static edges: the one of its head, then those of edge statements, in order.
    pub edges: ThinVec<Jump>,
    /// `goto`, with the place of the property.
    pub goto: Option<Box<Spanned<Route>>>,
    /// Joins that it is a member of.
    pub joins: ThinVec<JoinId>,
    /// `ends [..]`, where it is written.
    pub ends: Option<Box<Ends>>,
    /// Its own policy or the graph's.
    pub retry: Option<Box<Own<Retry>>>,
    /// Its own limit or the graph's, in milliseconds.
    pub timeout_ms: Option<Box<Own<u64>>>,
    /// Its own handler; [`Graph::on_error_of`](super::graph::Graph::on_error_of) gives the one that serves it.
    pub on_error: Option<Box<Route>>,
    /// `max_visits N -> TARGET`
    pub max_visits: Option<Box<MaxVisits>>,
    /// `defer`
    pub defer: bool,
    /// `cache { .. }`
    pub cache: Option<Box<Cache>>,
    /// `tags [..]`
    pub tags: ThinVec<String>,
    /// The whole node.
    pub span: Span,
}

/// `require COND else MESSAGE`
#[derive(Debug, Clone)]
pub struct Require {
    /// Must hold.
    pub condition: Expr,
    /// Text of the error where it doesn't.
    pub message: Option<Expr>,
    /// How many of the `let`s beside it are computed before it is asked: it needs the last of them.
    pub after_lets: usize,
    /// The whole property.
    pub span: Span,
}

impl Node {
    /// The `let`s that are computed ahead of the work.
    pub fn lets_ahead(&self) -> &[Let] {
        self.lets.get(..self.lets_ahead).unwrap_or_default()
    }

    /// The `let`s that an `ensure` or `permit` uses and that read what the work gives.
    pub fn lets_within(&self) -> &[Let] {
        self.lets.get(self.lets_within.clone()).unwrap_or_default()
    }

    /// The `let`s that are computed behind the work.
    pub fn lets_behind(&self) -> &[Let] {
        self.lets.get(self.lets_behind..).unwrap_or_default()
    }

    /// Every target written on it, with what decides between them left out: edges, `goto`, `skip`,
    /// own `on_error`, `max_visits` and an interrupt's `timeout`, in this order, each with those behind its fan-outs.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.jumps().flat_map(|(_, jump)| jump.targets())
    }

    /// The graph that it runs, where what is sent to it are the `in` fields of that.
    pub fn sent_to(&self) -> Option<&Name> {
        match &self.work {
            Work::Subgraph { name, with, .. } if with.iter().any(|pass| pass.sent) => Some(name),
            _ => None,
        }
    }

    /// The graph that it calls, where that is known, and the name by which it does.
    pub fn called(&self) -> Option<(GraphId, &Name)> {
        match &self.work {
            Work::Subgraph { graph, name, .. } => Some(((*graph)?, name)),
            _ => None,
        }
    }

    /// Tools that it may call: its list, or the tool of a `call`.
    pub fn tools(&self) -> Vec<Spanned<ToolId>> {
        if let Work::Call {
            tool: Some(tool),
            name,
            ..
        } = &self.work
        {
            return vec![Spanned::new(*tool, name.span)];
        }
        let tools = self.tool_list().into_iter().flat_map(|list| &list.tools);
        tools
            .map(|used| Spanned::new(used.tool, used.span))
            .collect()
    }

    /// Its `tools [..]`.
    pub fn tool_list(&self) -> Option<&ToolList> {
        match &self.work {
            Work::Llm(call) | Work::Agent { call, .. } => call.tools.as_ref(),
            Work::Tools { tools, .. } => tools.as_ref(),
            _ => None,
        }
    }

    /// The arguments that the flow itself gives a tool: those of a `call`, or those that its list fixes.
    pub fn given(&self, tool: ToolId) -> &[NamedArg] {
        match &self.work {
            Work::Call { args, .. } => args,
            _ => {
                let used = self.tool_list().and_then(|list| list.find(tool));
                used.map_or(&[], |used| &used.fixed)
            }
        }
    }

    /// Tools whose calls it makes itself. An `llm` only asks for calls.
    pub fn called_tools(&self) -> Vec<Spanned<ToolId>> {
        match self.work {
            Work::Llm(_) => Vec::new(),
            _ => self.tools(),
        }
    }
}

/// What a node has of its own, or else from its graph.
#[derive(Debug, Clone)]
pub struct Own<T> {
    /// What it has.
    pub value: T,
    /// Where it is written, where that is the node.
    pub at: Option<Span>,
}

impl<T> Own<T> {
    /// What is the graph's.
    pub(super) fn of_graph(value: Option<T>) -> Option<Self> {
        value.map(|value| Self { value, at: None })
    }
}

/// A node's own work.
#[derive(Debug, Clone)]
pub enum Work {
    /// One model call.
    Llm(Box<ModelCall>),
    /// Model and tools in a loop.
    Agent {
        /// The model call of each turn.
        call: Box<ModelCall>,
        /// Most turns.
        max_turns: u32,
        /// `max_turns params.x`: each instance has its own number.
        turns_by: Option<Box<Expr>>,
        /// `until EXPR`
        until: Option<Box<Expr>>,
        /// Whether the tools of one turn run at the same time.
        parallel: bool,
    },
    /// The tool calls of the last assistant message.
    Tools {
        /// A list of messages; `None` where it is missing, which is reported.
        messages: Option<Box<Expr>>,
        /// Its own list or the graph's.
        tools: Option<ToolList>,
        /// Whether they run at the same time.
        parallel: bool,
    },
    /// One tool call.
    Call {
        /// Which tool.
        tool: Option<ToolId>,
        /// Its name.
        name: Box<Name>,
        /// Its arguments.
        args: ThinVec<NamedArg>,
    },
    /// Pure: `let`, `set`, `emit`, `require`.
    Update,
    /// Pure routing without a super-step.
    Branch,
    /// Waits for a person.
    Interrupt {
        /// What is shown; `None` where it is missing, which is reported.
        ask: Option<Box<Ask>>,
        /// Type of the answer; any JSON where there is none.
        expect: Option<Spanned<Type>>,
        /// Which calls the answer permits.
        permits: ThinVec<Permit>,
        /// `timeout 7d -> TARGET`
        timeout: Option<Box<InterruptTimeout>>,
    },
    /// Runs a graph.
    Subgraph {
        /// Which graph. In a program of instances, which instance.
        graph: Option<GraphId>,
        /// The declared instance that it names, by position in
        /// [`Program::instances`](super::program::Program::instances).
        instance: Option<usize>,
        /// Its name.
        name: Box<Name>,
        /// Values of its parameters, as written.
        args: ThinVec<NamedArg>,
        /// `with`, as written; other `in` fields pass by name.
        with: ThinVec<Pass>,
        /// `into`, as written; other `out` fields go back by name.
        into: ThinVec<Binding>,
        /// How long its state is kept.
        persist: Persist,
    },
    /// A node that the embedding program implements.
    Extern {
        /// The name it is registered under.
        name: Box<Name>,
        /// Fields that it is given, each with the place of its name.
        reads: ThinVec<Spanned<FieldId>>,
        /// Fields that it may write.
        writes: ThinVec<Spanned<FieldId>>,
    },
}

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct ModelCall {
    /// Its own model or the graph's; `None` where there is neither or the name is unknown (reported).
    pub model: Option<ModelId>,
    /// `system`
    pub system: Option<Words>,
    /// `prompt`
    pub prompt: Option<Words>,
    /// `messages`
    pub messages: Option<Expr>,
    /// `output T`
    pub output: Option<Spanned<Type>>,
    /// What a reply must meet beside its type.
    pub ensures: ThinVec<Require>,
    /// `tools [..]`
    pub tools: Option<ToolList>,
    /// `auto`, `none`, `required` or the name of one of its tools.
    pub tool_choice: Option<Name>,
    /// Whether tokens are streamed.
    pub stream: bool,
    /// The event that each piece of a reply is sent as.
    pub stream_as: Option<Box<Emit>>,
}

impl Node {
    /// The event that its replies are sent as, piece by piece.
    pub fn stream_as(&self) -> Option<&Emit> {
        match &self.work {
            Work::Llm(call) | Work::Agent { call, .. } => call.stream_as.as_deref(),
            _ => None,
        }
    }

    /// Whether an `ensure` is asked of whatever the call gives to the rest of the node. It is not asked of an agent that ends
    /// without an output, nor, where no output is wanted, of a reply that calls tools.
    pub fn is_asked_of_all(&self, call: &ModelCall, condition: &Expr) -> bool {
        let lets = self.lets_within().iter().map(|bound| bound.name.as_str());
        match &self.work {
            Work::Agent { .. } => {
                let mut others = ["reply", "state"].into_iter().chain(lets);
                !others.any(|name| names(condition, name))
            }
            _ => call.output.is_some() || call.tools.is_none(),
        }
    }
}

impl Work {
    /// The names of what it gives to the rest of the node.
    pub fn gives(&self) -> &'static [&'static str] {
        match self {
            Work::Llm(_) => &["reply", "output"],
            Work::Agent { .. } => &["reply", "output", "transcript"],
            Work::Tools { .. } => &["results"],
            Work::Call { .. } | Work::Subgraph { .. } => &["result"],
            Work::Interrupt { .. } => &["answer", "answered"],
            Work::Update | Work::Branch | Work::Extern { .. } => &[],
        }
    }
}

/// Whether an expression reads the name.
pub fn names(expr: &Expr, name: &str) -> bool {
    place_of(expr, name).is_some()
}

/// A place of an expression that reads the name.
pub fn place_of(expr: &Expr, name: &str) -> Option<Span> {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if matches!(&expr.kind, ExprKind::Ident(ident) if ident == name) {
            return Some(expr.span);
        }
        expr.each_part(|part| open.push(part));
    }
    None
}

/// What an interrupt shows.
#[derive(Debug, Clone)]
pub enum Ask {
    /// An object.
    Fields(Vec<NamedArg>),
    /// A text.
    Text(Words),
}

/// A text: written where it is used, or that of a named prompt.
#[derive(Debug, Clone)]
pub struct Words {
    /// The text.
    pub text: TemplateText,
    /// Where it is written or named.
    pub at: Span,
    /// The prompt that it is of. Its names are the prompt's parameters then, not those of the place.
    pub from: Option<PromptUse>,
}

impl std::ops::Deref for Words {
    type Target = TemplateText;

    fn deref(&self) -> &TemplateText {
        &self.text
    }
}

/// `greet(name: state.x)`
#[derive(Debug, Clone)]
pub struct PromptUse {
    /// Which prompt; `None` where it is not known: a parameter that nothing gives, or a name that is reported.
    pub prompt: Option<PromptId>,
    /// Its name where it is used.
    pub name: Name,
    /// Values of its parameters, in the scope of the place.
    pub args: Vec<NamedArg>,
}

/// `interrupt NAME before NODE { .. }`: a person is asked before the node does anything, or before it goes on.
#[derive(Debug, Clone)]
pub struct Stop {
    /// Its name: of the interrupt, and of the answer in the node's expressions behind it.
    pub name: Name,
    /// `after`: behind the node's `set` and `emit`, ahead of its way on.
    pub after: bool,
    /// What is shown; `None` where it is missing, which is reported.
    pub ask: Option<Ask>,
    /// Type of the answer; `None` where it is missing, which is reported.
    pub expect: Option<Spanned<Type>>,
    /// Which calls its answer permits.
    pub permits: ThinVec<Permit>,
    /// The whole member.
    pub span: Span,
}

/// `permit TOOL(param: EXPR) when COND` of a question.
#[derive(Debug, Clone)]
pub struct Permit {
    /// Whether it is for one call.
    pub once: bool,
    /// `each d in LIST ->`: a permission for each element.
    pub each: Option<PermitEach>,
    /// Which tool; `None` where the name is unknown (reported).
    pub tool: Option<ToolId>,
    /// Its name.
    pub name: Name,
    /// The arguments that it pins, with those left out at their defaults; `None` where any are permitted.
    pub args: Option<ThinVec<NamedArg>>,
    /// When the answer permits it; always where there is none.
    pub when: Option<Expr>,
    /// The whole property.
    pub span: Span,
}

impl Permit {
    /// Its expressions in the order in which they are evaluated.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let args = self.args.iter().flatten().map(|arg| &arg.value);
        let items = self.each.iter().map(|each| &each.items);
        items.chain(&self.when).chain(args)
    }

    /// The same, to change them.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let args = self.args.iter_mut().flatten().map(|arg| &mut arg.value);
        let items = self.each.iter_mut().map(|each| &mut each.items);
        items.chain(&mut self.when).chain(args)
    }
}

impl Node {
    /// Which calls the answers to its own question and to those around it permit.
    pub fn permits(&self) -> impl Iterator<Item = &Permit> {
        let own = match &self.work {
            Work::Interrupt { permits, .. } => permits.as_slice(),
            _ => &[],
        };
        own.iter()
            .chain(self.stops.iter().flat_map(|stop| &stop.permits))
    }
}

/// `timeout 7d -> TARGET` of an interrupt.
#[derive(Debug, Clone)]
pub struct InterruptTimeout {
    /// Milliseconds.
    pub after_ms: u64,
    /// Where it goes then.
    pub to: Jump,
}

/// An entry of `with` in a subgraph call.
#[derive(Debug, Clone)]
pub struct Pass {
    /// Field of the called graph.
    pub to: Option<FieldId>,
    /// Its name.
    pub name: Name,
    /// Its value, in the caller's scope.
    pub value: Expr,
    /// Whether it is what a send gives, by the same name: then it is written nowhere.
    pub sent: bool,
}

/// An entry of `into` in a subgraph call.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Field of the called graph.
    pub from: Option<FieldId>,
    /// Its name.
    pub from_name: Name,
    /// Field of the caller.
    pub to: Option<FieldId>,
    /// Its name.
    pub to_name: Name,
}

/// `cache { key EXPR, ttl 1h }`
#[derive(Debug, Clone)]
pub struct Cache {
    /// What a result is looked up by; the state and the node's input where it is left out.
    pub key: Option<Expr>,
    /// How long a result holds, in milliseconds; for ever where it is left out.
    pub ttl_ms: Option<u64>,
    /// The whole property.
    pub span: Span,
}

/// `skip when EXPR -> TARGET`
#[derive(Debug, Clone)]
pub struct Skip {
    /// When.
    pub when: Expr,
    /// Where to then; the node's own way on where there is none.
    pub to: Option<Jump>,
    /// All of it.
    pub span: Span,
}

/// `ends [..]`
#[derive(Debug, Clone)]
pub struct Ends {
    /// Its entries in order.
    pub items: Vec<End>,
    /// The whole property.
    pub span: Span,
}

impl Ends {
    /// The entry that a jump's name finds.
    pub fn find(&self, name: &str) -> Option<&End> {
        self.items.iter().find(|end| end.name.node == name)
    }
}

/// One entry of `ends`.
#[derive(Debug, Clone)]
pub struct End {
    /// The name that a computed target, a tool or a leaving subgraph uses; `end` for the end.
    pub name: Name,
    /// What it leads to: `Node`, `End`, `Parent` or `Unknown`.
    pub to: Target,
}

/// `max_visits N -> TARGET`
#[derive(Debug, Clone)]
pub struct MaxVisits {
    /// Entries within one run, at least 1.
    pub limit: u32,
    /// `max_visits params.x -> ..`: each instance has its own number.
    pub limit_by: Option<Expr>,
    /// Where the next entry goes instead.
    pub to: Jump,
    /// The whole property.
    pub span: Span,
}
