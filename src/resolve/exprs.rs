//! The expressions of a resolved program, for rules that look at all of them.
//!
//! Templates hold expressions of their own kind, which are not among them; what a prompt is given is.

use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::ast::node::TemplateText;

use super::node::Require;
use super::program::{
    Ask, Emit, Jump, ModelCall, Node, Permit, Route, TargetKind, ToolBody, ToolList, Words, Work,
};

/// All expressions of a node: `let`s first, then in the order in which they are evaluated.
pub fn of_node(node: &Node) -> Vec<&Expr> {
    let mut found = Found::default();
    found.exprs(node.lets.iter().map(|bound| &bound.value));
    for skip in &node.skips {
        found.expr(&skip.when);
        skip.to.iter().for_each(|jump| found.jump(jump));
    }
    found.requires(&node.requires);
    found.exprs(node.cache.iter().filter_map(|cache| cache.key.as_ref()));
    for stop in &node.stops {
        stop.ask.iter().for_each(|ask| found.ask(ask));
        found.exprs(stop.permits.iter().flat_map(Permit::exprs));
    }
    found.work(&node.work);
    found.exprs(of_result(&node.work));
    found.exprs(node.set.iter().map(|item| &item.value));
    node.emits.iter().for_each(|emit| found.emit(emit));
    node.edges.iter().for_each(|jump| found.jump(jump));
    node.goto.iter().for_each(|goto| found.route(&goto.node));
    node.on_error.iter().for_each(|route| found.route(route));
    if let Some(max) = &node.max_visits {
        found.exprs(&max.limit_by);
        found.jump(&max.to);
    }
    found.0
}

/// What is asked of a result as soon as it is there: each `ensure` of a reply, and what an answer permits.
pub fn of_result(work: &Work) -> Vec<&Expr> {
    let mut found = Found::default();
    match work {
        Work::Llm(call) | Work::Agent { call, .. } => found.requires(&call.ensures),
        Work::Interrupt { permits, .. } => found.exprs(permits.iter().flat_map(Permit::exprs)),
        _ => {}
    }
    found.0
}

/// The expressions of a node's work, and its texts that no prompt has.
pub fn of_work(work: &Work) -> (Vec<&Expr>, Vec<&TemplateText>) {
    let mut found = Found::default();
    found.work(work);
    let words: Vec<&Words> = match work {
        Work::Llm(call) | Work::Agent { call, .. } => {
            call.system.iter().chain(&call.prompt).collect()
        }
        Work::Interrupt { ask, .. } => match ask.as_deref() {
            Some(Ask::Text(words)) => vec![words],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let own = words.into_iter().filter(|words| words.from.is_none());
    (found.0, own.map(|words| &words.text).collect())
}

/// The expressions of an event.
pub fn of_emit(emit: &Emit) -> Vec<&Expr> {
    let mut found = Found::default();
    found.emit(emit);
    found.0
}

/// What of a node comes behind its work and names its `let`s, and the texts in it: `set`, events, ways on and questions.
pub fn behind_work(node: &Node) -> (Vec<&Expr>, Vec<&TemplateText>) {
    let mut found = Found::default();
    found.exprs(node.set.iter().map(|item| &item.value));
    let emits = node.emits.iter().filter(|emit| !emit.on_start);
    emits.for_each(|emit| found.emit(emit));
    let asks = node.stops.iter().filter(|stop| stop.after);
    let asks: Vec<&Ask> = asks.filter_map(|stop| stop.ask.as_ref()).collect();
    asks.iter().for_each(|ask| found.ask(ask));
    let permits = node.stops.iter().filter(|stop| stop.after);
    found.exprs(
        permits
            .flat_map(|stop| &stop.permits)
            .flat_map(Permit::exprs),
    );
    node.edges.iter().for_each(|jump| found.jump(jump));
    node.goto.iter().for_each(|goto| found.route(&goto.node));
    let texts = asks.into_iter().filter_map(|ask| match ask {
        Ask::Text(words) if words.from.is_none() => Some(&words.text),
        _ => None,
    });
    (found.0, texts.collect())
}

/// All expressions of a tool's body, `let`s first, those of its jumps' updates included.
pub fn of_tool(body: &ToolBody) -> Vec<&Expr> {
    let mut found = Found::default();
    found.exprs(body.lets.iter().map(|bound| &bound.value));
    found.requires(&body.requires);
    found.exprs(body.set.iter().map(|item| &item.value));
    body.emits.iter().for_each(|emit| found.emit(emit));
    body.goto.iter().for_each(|route| found.route(route));
    found.exprs(&body.returns);
    found.0
}

/// Expressions found so far.
#[derive(Default)]
struct Found<'a>(Vec<&'a Expr>);

impl<'a> Found<'a> {
    fn expr(&mut self, expr: &'a Expr) {
        self.0.push(expr);
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) {
        self.0.extend(exprs);
    }

    fn named(&mut self, args: &'a [NamedArg]) {
        self.exprs(args.iter().map(|arg| &arg.value));
    }

    fn work(&mut self, work: &'a Work) {
        match work {
            Work::Llm(call) => self.call(call),
            Work::Agent {
                call,
                turns_by,
                until,
                ..
            } => {
                self.call(call);
                self.exprs(turns_by.as_deref());
                self.exprs(until.as_deref());
            }
            Work::Tools {
                messages, tools, ..
            } => {
                self.exprs(messages.as_deref());
                self.fixed(tools);
            }
            Work::Call { args, .. } => self.named(args),
            Work::Interrupt { ask, timeout, .. } => {
                ask.iter().for_each(|ask| self.ask(ask));
                timeout.iter().for_each(|timeout| self.jump(&timeout.to));
            }
            Work::Subgraph { args, with, .. } => {
                self.named(args);
                self.exprs(with.iter().map(|pass| &pass.value));
            }
            Work::Update | Work::Branch | Work::Extern { .. } => {}
        }
    }

    fn call(&mut self, call: &'a ModelCall) {
        self.words(&call.system);
        self.words(&call.prompt);
        self.exprs(&call.messages);
        call.stream_as.iter().for_each(|emit| self.emit(emit));
        self.fixed(&call.tools);
    }

    fn fixed(&mut self, list: &'a Option<ToolList>) {
        let tools = list.iter().flat_map(|list| &list.tools);
        tools.for_each(|used| self.named(&used.fixed));
    }

    fn requires(&mut self, requires: &'a [Require]) {
        for require in requires {
            self.expr(&require.condition);
            self.exprs(&require.message);
        }
    }

    /// What a text's prompt is given; what stands in the text itself are no expressions.
    fn words(&mut self, words: &'a Option<Words>) {
        let from = words.iter().filter_map(|words| words.from.as_ref());
        from.for_each(|prompt| self.named(&prompt.args));
    }

    fn ask(&mut self, ask: &'a Ask) {
        match ask {
            Ask::Fields(args) => self.named(args),
            Ask::Text(words) => words.from.iter().for_each(|from| self.named(&from.args)),
        }
    }

    fn emit(&mut self, emit: &'a Emit) {
        self.named(&emit.fields);
        self.exprs(&emit.when);
    }

    fn route(&mut self, route: &'a Route) {
        if let Route::Arms(arms, _) = route {
            self.exprs(arms.iter().filter_map(|arm| arm.when.as_ref()));
        }
        route.jumps().for_each(|jump| self.jump(jump));
    }

    fn jump(&mut self, jump: &'a Jump) {
        for target in &jump.to {
            match &target.kind {
                TargetKind::Fail(message) => self.exprs(message.as_deref()),
                TargetKind::Computed(name) => self.expr(name),
                TargetKind::Each(each) | TargetKind::NamedEach(each) => {
                    self.expr(&each.items);
                    self.named(&each.with);
                }
                TargetKind::Node(_)
                | TargetKind::End
                | TargetKind::Parent(_)
                | TargetKind::Named(_)
                | TargetKind::Unknown => {}
            }
        }
        self.exprs(jump.set.iter().map(|item| &item.value));
        jump.emits.iter().for_each(|emit| self.emit(emit));
    }
}
