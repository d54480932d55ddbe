//! Nodes: their kinds and properties.

use std::sync::{Arc, OnceLock};

use crate::base::{FileId, Span, Spanned};

use super::expr::Expr;
use super::item::{Duration, Let, NamedArg, Require, ToolRef};
use super::target::{Arm, Jump, Target};
use super::template::Tree;
use super::ty::{Field, TypeExpr};
use super::{Doc, Name};

/// `node NAME: KIND -> TARGET { properties }`
#[derive(Debug, Clone)]
pub struct Node {
    /// Doc comment.
    pub doc: Doc,
    /// Its name.
    pub name: Name,
    /// What it does.
    pub kind: Kind,
    /// The kind's words, without the arrow.
    pub kind_span: Span,
    /// The static edge in its head.
    pub edge: Option<Target>,
    /// Properties in the order written, repeated ones included.
    pub properties: Vec<Property>,
    /// The whole node.
    pub span: Span,
}

/// The kinds of node.
#[derive(Debug, Clone)]
pub enum Kind {
    /// One model call.
    Llm,
    /// Model and tools in a loop.
    Agent,
    /// The tool calls of the last assistant message.
    Tools,
    /// `call TOOL(args)`
    Call {
        /// Which tool.
        tool: Name,
        /// Its arguments.
        args: Vec<NamedArg>,
    },
    /// Pure: `let`, `set`, `emit`, `require`.
    Update,
    /// Pure routing without a super-step.
    Branch,
    /// Waits for a person.
    Interrupt,
    /// `subgraph G(params)`
    Subgraph {
        /// Which graph.
        graph: Name,
        /// Its parameters.
        args: Vec<NamedArg>,
    },
    /// `extern NAME`: implemented by the embedding program.
    Extern(Name),
}

impl Kind {
    /// The keyword that begins it.
    pub fn keyword(&self) -> &'static str {
        match self {
            Kind::Llm => "llm",
            Kind::Agent => "agent",
            Kind::Tools => "tools",
            Kind::Call { .. } => "call",
            Kind::Update => "update",
            Kind::Branch => "branch",
            Kind::Interrupt => "interrupt",
            Kind::Subgraph { .. } => "subgraph",
            Kind::Extern(_) => "extern",
        }
    }
}

/// A property of a node, with its place (keyword to end).
#[derive(Debug, Clone)]
pub struct Property {
    /// Which and what.
    pub kind: PropertyKind,
    /// The keyword, for messages about the property itself.
    pub keyword: Span,
    /// All of it.
    pub span: Span,
}

/// Properties. Which kind of node may have which is the resolver's knowledge, not the grammar's.
#[derive(Debug, Clone)]
pub enum PropertyKind {
    /// `model NAME`
    Model(Name),
    /// `system TEMPLATE`
    System(Template),
    /// `prompt TEMPLATE`
    Prompt(Template),
    /// `messages EXPR`
    Messages(Expr),
    /// `output T`
    Output(TypeExpr),
    /// `tools [a, b where ..]`
    Tools(Vec<ToolRef>),
    /// `tool_choice auto | none | required | NAME`
    ToolChoice(Name),
    /// `stream true`
    Stream(Spanned<bool>),
    /// `stream as X { .. } when EXPR`
    StreamAs(Box<Emit>),
    /// `max_turns EXPR`
    MaxTurns(Expr),
    /// `until EXPR`
    Until(Expr),
    /// `parallel_tools true` (agent) or `parallel true` (tools)
    Parallel(Spanned<bool>),
    /// `ask { name: expr, .. }` or `ask TEMPLATE`
    Ask(Ask),
    /// `expect T`
    Expect(TypeExpr),
    /// `permit TOOL(param: EXPR) when COND`
    Permit(Box<Permit>),
    /// `with { field: expr }` of a subgraph call
    With(Vec<NamedArg>),
    /// `into { parent_field: child_field }` of a subgraph call
    Into(Vec<Binding>),
    /// `persist call | thread | none`
    Persist(Name),
    /// `reads [a]` of an extern node
    Reads(Vec<Name>),
    /// `writes [a]` of an extern node
    Writes(Vec<Name>),
    /// `skip when EXPR -> TARGET`
    Skip {
        /// When to skip.
        condition: Expr,
        /// Where to go then; the node's own way on where left out.
        to: Option<Box<Jump>>,
    },
    /// `let x = EXPR`
    Let(Box<Let>),
    /// `require EXPR else EXPR`
    Require(Box<Require>),
    /// `ensure EXPR else EXPR`
    Ensure(Box<Require>),
    /// `set { .. }`
    Set(Vec<SetItem>),
    /// `emit X { .. }`
    Emit(Box<Emit>),
    /// `goto ..`
    Goto(Jumps),
    /// `ends [..]`
    Ends(Vec<End>),
    /// `retry ..`
    Retry(RetrySpec),
    /// `timeout 30s`, for an interrupt with `-> TARGET`
    Timeout {
        /// How long.
        after: Duration,
        /// Where to go then.
        to: Option<Box<Jump>>,
    },
    /// `cache { key EXPR, ttl 1h }`
    Cache {
        /// What it is looked up by.
        key: Option<Expr>,
        /// How long it holds.
        ttl: Option<Duration>,
    },
    /// `on_error ..`
    OnError(Jumps),
    /// `max_visits N -> TARGET`
    MaxVisits {
        /// How many entries within one run.
        limit: Expr,
        /// Where the next one goes.
        to: Box<Jump>,
    },
    /// `defer`
    Defer,
    /// `tags [a, b]`
    Tags(Vec<Name>),
    /// `input { topic: string }`
    Input(Vec<Field>),
}

/// Where a node goes: one jump, or arms of conditions.
#[derive(Debug, Clone)]
pub enum Jumps {
    /// `goto TARGET {..}`, `on_error -> TARGET`, `start -> TARGET`
    Always(Box<Jump>),
    /// `{ when .. -> .. else -> .. }`
    Arms(Vec<Arm>, Span),
}

/// One name of an `ends` list.
#[derive(Debug, Clone)]
pub struct End {
    /// `name`, `end` or, with `parent`, the name above.
    pub name: Name,
    /// `parent.name`: passed on to the caller's caller.
    pub parent: bool,
    /// `thesis as thesis_review`: the caller's own node for it.
    pub alias: Option<Name>,
}

/// `field: expr` or `field := expr` of a `set`.
#[derive(Debug, Clone)]
pub struct SetItem {
    /// A field of the state.
    pub field: Name,
    /// `:=`, past the reducer.
    pub replace: bool,
    /// The value.
    pub value: Expr,
}

/// `emit X { .. } on start when EXPR`, `stream as X { .. } when EXPR`
#[derive(Debug, Clone)]
pub struct Emit {
    /// Name of the event.
    pub event: Name,
    /// Payload.
    pub fields: Vec<NamedArg>,
    /// `on start`: when the node begins its work, not when it has finished.
    pub on_start: bool,
    /// `when EXPR`
    pub when: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// `parent_field: child_field` of `into`.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Field of the caller.
    pub to: Name,
    /// `out` field of the called graph.
    pub from: Name,
}

/// What an interrupt shows.
#[derive(Debug, Clone)]
pub enum Ask {
    /// `{ summary: expr }`: an object.
    Fields(Vec<NamedArg>),
    /// A text.
    Template(Template),
}

/// `permit once each d in LIST -> TOOL(param: EXPR) when COND`: which calls the answer to a question permits.
#[derive(Debug, Clone)]
pub struct Permit {
    /// Word `once`, where it stands: one call.
    pub once: Option<Span>,
    /// `each d in LIST ->`: a permission for each element.
    pub each: Option<PermitEach>,
    /// Which tool.
    pub tool: Name,
    /// The arguments that it pins; `None` without brackets, where any are permitted.
    pub args: Option<Vec<NamedArg>>,
    /// `when EXPR`; each answer permits where it is left out.
    pub when: Option<Expr>,
    /// The whole property.
    pub span: Span,
}

/// `each d in LIST ->`
#[derive(Debug, Clone)]
pub struct PermitEach {
    /// The name of an element.
    pub var: Name,
    /// The list.
    pub items: Expr,
}

/// A text with Jinja placeholders.
#[derive(Debug, Clone)]
pub enum Template {
    /// Written in place.
    Text(TemplateText),
    /// `file "prompts/x.md"`, relative to the file that names it.
    File(Name),
    /// `greet(name: state.x)`: a `prompt` item.
    Prompt {
        /// Which.
        name: Name,
        /// Its variables.
        args: Vec<NamedArg>,
        /// Name and arguments.
        span: Span,
    },
}

/// The text of a template and how it maps back into the file.
#[derive(Clone)]
pub struct TemplateText {
    /// The text, escapes replaced and, for `"""`, common indentation removed.
    pub text: String,
    /// The literal, quotes included.
    pub span: Span,
    /// Where parts of `text` stand in the file: `(offset in text, offset in file)`, ascending, a new
    /// entry wherever the distance changes.
    pub anchors: Vec<(u32, u32)>,
    /// Its tree, made when it is first asked for.
    pub tree: OnceLock<Arc<Tree>>,
}

/// Without its tree, which says the same.
impl std::fmt::Debug for TemplateText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemplateText")
            .field("text", &self.text)
            .field("span", &self.span)
            .field("anchors", &self.anchors)
            .finish()
    }
}

impl TemplateText {
    /// That text of a file, which is at `span`.
    pub fn new(text: String, span: Span, anchors: Vec<(u32, u32)>) -> Self {
        Self {
            text,
            span,
            anchors,
            tree: OnceLock::new(),
        }
    }

    /// A text that is a whole file.
    pub fn of_file(text: String, file: FileId) -> Self {
        let span = Span::new(file, 0, text.len());
        Self::new(text, span, vec![(0, 0)])
    }

    /// Place in the file of a byte range of the text. A range that cuts characters or goes beyond the text, as the template
    /// engine gives for some mistakes, counts as the one around whole characters.
    pub fn span_of(&self, start: usize, end: usize) -> Span {
        let start = self.text.floor_char_boundary(start);
        let end = self.text.ceil_char_boundary(end);
        let at = |offset: usize| {
            let i = self
                .anchors
                .partition_point(|(text, _)| *text as usize <= offset);
            match i.checked_sub(1).and_then(|i| self.anchors.get(i)) {
                Some((text, file)) => *file as usize + (offset - *text as usize),
                None => self.span.start as usize,
            }
        };
        let start_at = at(start);
        Span::new(
            self.span.file,
            start_at,
            at(end.saturating_sub(1).max(start)) + usize::from(end > start),
        )
    }
}

/// A retry policy as written.
#[derive(Debug, Clone)]
pub enum RetrySpec {
    /// `retry 3`
    Attempts(Spanned<i64>),
    /// `retry patient`
    Named(Name),
    /// `retry { attempts 3, initial 500ms, .. }`
    Block(Vec<RetrySetting>, Span),
}

/// One setting of a retry block.
#[derive(Debug, Clone)]
pub struct RetrySetting {
    /// `attempts`, `initial`, `factor`, `max`, `jitter`, `on`.
    pub key: Name,
    /// Its value.
    pub value: super::item::SettingValue,
}
