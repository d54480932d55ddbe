//! The sites of a resolved program: where its expressions and texts stand, for rules that look at all of them.
//!
//! [`sites_of_node`], [`sites_of_graph`], [`sites_of_tool`] and [`Site::of`] a reducer's body are all that there are, but for the
//! condition of a `where`. The other functions give expressions alone: those of a text are what its prompt is given.

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::ast::node::TemplateText;
use crate::ir::ToolId;

use super::node::Require;
use super::program::{
    Ask, Emit, Graph, Jump, ModelCall, Node, Permit, Program, Route, TargetKind, ToolBody,
    ToolList, Words, Work,
};

/// A place of the program where a value is computed.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// What stands there.
    pub written: Written<'a>,
    /// Who is given the value.
    pub to: Recipient<'a>,
    /// The name in scope of it that stands for each element of a list.
    pub each: Option<(&'a Name, &'a Expr)>,
}

/// What stands at a site.
#[derive(Debug, Clone, Copy)]
pub enum Written<'a> {
    /// An expression.
    Expr(&'a Expr),
    /// A text.
    Text(&'a Words),
}

/// Who is given the value of a site.
#[derive(Debug, Clone, Copy)]
pub enum Recipient<'a> {
    /// The flow itself.
    Flow,
    /// A tool, as the argument of that name.
    Tool(ToolId, &'a str),
    /// A model, as its `system` text.
    System,
    /// A model.
    Model,
    /// A person, by the question of that name; `None` where the node's own asks.
    Person(Option<&'a str>),
    /// A permission, as the argument of that name, and who gives it.
    Permission {
        /// The permission.
        permit: &'a Permit,
        /// The question that gives it; `None` where it is the node's own.
        question: Option<&'a str>,
        /// The argument.
        param: &'a str,
    },
    /// Who reads events of that name.
    Event(&'a str),
    /// The key of a cache.
    CacheKey,
    /// Who reads an error's message.
    Error,
}

impl<'a> Site<'a> {
    /// An expression whose value goes to the flow itself.
    pub fn of(expr: &'a Expr) -> Self {
        Self {
            written: Written::Expr(expr),
            to: Recipient::Flow,
            each: None,
        }
    }

    /// Its expressions: those of a text are what its prompt is given.
    pub fn exprs(&self) -> impl Iterator<Item = &'a Expr> + use<'a> {
        let (one, args) = match self.written {
            Written::Expr(expr) => (Some(expr), [].as_slice()),
            Written::Text(words) => {
                let from = words.from.as_ref();
                (None, from.map_or([].as_slice(), |prompt| &prompt.args))
            }
        };
        one.into_iter().chain(args.iter().map(|arg| &arg.value))
    }
}

/// All sites of a node: `let`s first, then in the order in which they are evaluated.
pub fn sites_of_node(node: &Node) -> Vec<Site<'_>> {
    let mut found = Found::default();
    found.exprs(node.lets.iter().map(|bound| &bound.value));
    for skip in &node.skips {
        found.expr(&skip.when);
        skip.to.iter().for_each(|jump| found.jump(jump));
    }
    found.requires(&node.requires, Recipient::Error);
    let key = node.cache.iter().filter_map(|cache| cache.key.as_ref());
    found.all(key, Recipient::CacheKey);
    for stop in &node.stops {
        let ask = stop.ask.iter();
        ask.for_each(|ask| found.ask(ask, Some(&stop.name.node)));
        let permits = stop.permits.iter();
        permits.for_each(|permit| found.permit(permit, Some(&stop.name.node)));
    }
    found.work(&node.work);
    found.result(&node.work);
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

/// The sites of a graph that are no node's: its jumps and `exit when`.
pub fn sites_of_graph(graph: &Graph) -> Vec<Site<'_>> {
    let mut found = Found::default();
    graph.start.iter().for_each(|start| found.route(start));
    graph.joins.iter().for_each(|join| found.jump(&join.to));
    found.exprs(&graph.exits);
    graph.on_error.iter().for_each(|route| found.route(route));
    found.0
}

/// All sites of a tool's body, `let`s first, those of its jumps' updates included.
pub fn sites_of_tool(body: &ToolBody) -> Vec<Site<'_>> {
    let mut found = Found::default();
    found.exprs(body.lets.iter().map(|bound| &bound.value));
    found.requires(&body.requires, Recipient::Error);
    found.exprs(body.set.iter().map(|item| &item.value));
    body.emits.iter().for_each(|emit| found.emit(emit));
    body.goto.iter().for_each(|route| found.route(route));
    found.exprs(&body.returns);
    found.0
}

/// All sites of a program. Those of a tool's body are there once, whoever runs it.
pub fn sites(program: &Program) -> impl Iterator<Item = Site<'_>> {
    let graphs = program.graphs.iter();
    let nodes = graphs.clone().flat_map(|graph| &graph.nodes);
    let bodies = program.tools.iter().filter_map(|tool| tool.body.as_ref());
    let reducers = program.reducers.iter();
    let reducers = reducers.map(|reducer| Site::of(&reducer.body));
    let graphs = graphs.flat_map(sites_of_graph);
    let nodes = nodes.flat_map(sites_of_node);
    let bodies = bodies.flat_map(sites_of_tool);
    graphs.chain(nodes).chain(bodies).chain(reducers)
}

/// All expressions of a node, in the order of its sites.
pub fn of_node(node: &Node) -> Vec<&Expr> {
    exprs(&sites_of_node(node))
}

/// All expressions of a tool's body, in the order of its sites.
pub fn of_tool(body: &ToolBody) -> Vec<&Expr> {
    exprs(&sites_of_tool(body))
}

/// What is asked of a result as soon as it is there: each `ensure` of a reply, and what an answer permits.
pub fn of_result(work: &Work) -> Vec<&Expr> {
    let mut found = Found::default();
    found.result(work);
    found.into_exprs()
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
    (found.into_exprs(), own.map(|words| &words.text).collect())
}

/// The expressions of an event.
pub fn of_emit(emit: &Emit) -> Vec<&Expr> {
    let mut found = Found::default();
    found.emit(emit);
    found.into_exprs()
}

/// What of a node comes behind its work and names its `let`s, and the texts in it: `set`, events, ways on and questions.
pub fn behind_work(node: &Node) -> (Vec<&Expr>, Vec<&TemplateText>) {
    let mut found = Found::default();
    found.exprs(node.set.iter().map(|item| &item.value));
    let emits = node.emits.iter().filter(|emit| !emit.on_start);
    emits.for_each(|emit| found.emit(emit));
    let asks = node.stops.iter().filter(|stop| stop.after);
    let asks: Vec<&Ask> = asks.filter_map(|stop| stop.ask.as_ref()).collect();
    asks.iter().for_each(|ask| found.ask(ask, None));
    let stops = node.stops.iter().filter(|stop| stop.after);
    let permits = stops.flat_map(|stop| &stop.permits);
    permits.for_each(|permit| found.permit(permit, None));
    node.edges.iter().for_each(|jump| found.jump(jump));
    node.goto.iter().for_each(|goto| found.route(&goto.node));
    let texts = asks.into_iter().filter_map(|ask| match ask {
        Ask::Text(words) if words.from.is_none() => Some(&words.text),
        _ => None,
    });
    (found.into_exprs(), texts.collect())
}

fn exprs<'a>(sites: &[Site<'a>]) -> Vec<&'a Expr> {
    sites.iter().flat_map(Site::exprs).collect()
}

/// Sites found so far.
#[derive(Default)]
struct Found<'a>(Vec<Site<'a>>);

impl<'a> Found<'a> {
    fn into_exprs(self) -> Vec<&'a Expr> {
        exprs(&self.0)
    }

    fn site(&mut self, written: Written<'a>, to: Recipient<'a>) {
        let each = None;
        self.0.push(Site { written, to, each });
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = &'a Expr>, to: Recipient<'a>) {
        for expr in exprs {
            self.site(Written::Expr(expr), to);
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        self.site(Written::Expr(expr), Recipient::Flow);
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) {
        self.all(exprs, Recipient::Flow);
    }

    fn named(&mut self, args: &'a [NamedArg], to: Recipient<'a>) {
        self.all(args.iter().map(|arg| &arg.value), to);
    }

    /// Arguments of a tool.
    fn args(&mut self, tool: Option<ToolId>, args: &'a [NamedArg]) {
        for arg in args {
            let to = tool.map(|tool| Recipient::Tool(tool, &arg.name.node));
            self.all([&arg.value], to.unwrap_or(Recipient::Flow));
        }
    }

    /// What is found meanwhile has the name of a loop in scope.
    fn each(&mut self, each: Option<(&'a Name, &'a Expr)>, find: impl FnOnce(&mut Self)) {
        let begin = self.0.len();
        find(self);
        let within = self.0.get_mut(begin..).unwrap_or_default();
        within.iter_mut().for_each(|site| site.each = each);
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
            Work::Call { tool, args, .. } => self.args(*tool, args),
            Work::Interrupt { ask, timeout, .. } => {
                ask.iter().for_each(|ask| self.ask(ask, None));
                timeout.iter().for_each(|timeout| self.jump(&timeout.to));
            }
            Work::Subgraph { args, with, .. } => {
                self.named(args, Recipient::Flow);
                self.exprs(with.iter().map(|pass| &pass.value));
            }
            Work::Update | Work::Branch | Work::Extern { .. } => {}
        }
    }

    /// What is asked of a result.
    fn result(&mut self, work: &'a Work) {
        match work {
            // A model is told why its reply is refused.
            Work::Llm(call) | Work::Agent { call, .. } => {
                self.requires(&call.ensures, Recipient::Model);
            }
            Work::Interrupt { permits, .. } => {
                permits.iter().for_each(|permit| self.permit(permit, None));
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &'a ModelCall) {
        let (system, prompt) = (call.system.iter(), call.prompt.iter());
        system.for_each(|text| self.site(Written::Text(text), Recipient::System));
        prompt.for_each(|text| self.site(Written::Text(text), Recipient::Model));
        self.all(&call.messages, Recipient::Model);
        call.stream_as.iter().for_each(|emit| self.emit(emit));
        self.fixed(&call.tools);
    }

    fn fixed(&mut self, list: &'a Option<ToolList>) {
        let tools = list.iter().flat_map(|list| &list.tools);
        tools.for_each(|used| self.args(Some(used.tool), &used.fixed));
    }

    fn requires(&mut self, requires: &'a [Require], message: Recipient<'a>) {
        for require in requires {
            self.expr(&require.condition);
            self.all(&require.message, message);
        }
    }

    fn ask(&mut self, ask: &'a Ask, name: Option<&'a str>) {
        let to = Recipient::Person(name);
        match ask {
            Ask::Fields(args) => self.named(args, to),
            Ask::Text(words) => self.site(Written::Text(words), to),
        }
    }

    fn permit(&mut self, permit: &'a Permit, question: Option<&'a str>) {
        let each = permit.each.as_ref().map(|each| (&each.var, &each.items));
        self.exprs(each.map(|(_, items)| items));
        self.each(each, |found| {
            found.exprs(&permit.when);
            for arg in permit.args.iter().flatten() {
                let to = Recipient::Permission {
                    permit,
                    question,
                    param: &arg.name.node,
                };
                found.all([&arg.value], to);
            }
        });
    }

    fn emit(&mut self, emit: &'a Emit) {
        self.named(&emit.fields, Recipient::Event(&emit.name.node));
        self.exprs(&emit.when);
    }

    fn route(&mut self, route: &'a Route) {
        self.exprs(route.conditions());
        route.jumps().for_each(|jump| self.jump(jump));
    }

    fn jump(&mut self, jump: &'a Jump) {
        for target in &jump.to {
            match &target.kind {
                TargetKind::Fail(message) => self.all(message.as_deref(), Recipient::Error),
                TargetKind::Computed(name) => self.expr(name),
                TargetKind::Each(each) | TargetKind::NamedEach(each) => {
                    self.expr(&each.items);
                    self.each(Some((&each.var, &each.items)), |found| {
                        found.named(&each.with, Recipient::Flow);
                    });
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
