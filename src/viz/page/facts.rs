//! What is known of a node, as headings and what stands below them.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::ast::node::TemplateText;
use crate::base::{FileId, duration};
use crate::expr::Scope;
use crate::expr::infer::reads;
use crate::expr::template;
use crate::ir::flow::ToolEffect;
use crate::ir::node::{Binding, Pass, Permit};
use crate::ir::text::Named;
use crate::ir::{
    Ask, Emit, Expr, FieldId, Flow, Graph, GraphId, Jump, ModelCall, ModelId, Node, Route, SetItem,
    Target, Template, ToolId, Work,
};

/// A heading and what stands below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The heading.
    pub name: &'static str,
    /// What stands below.
    pub body: Body,
}

/// What stands below a heading.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Source, or a prompt.
    Code(String),
    /// Pieces of source, each with a word on it.
    List(Vec<(String, String)>),
}

/// All that a node is and does.
pub fn facts(flow: &Flow, graph: &Graph, node: &Node) -> Vec<Fact> {
    let mut facts = Facts {
        flow,
        graph,
        found: Vec::new(),
        texts: Vec::new(),
        templates: Vec::new(),
    };
    facts.node(node);
    let (reads, writes) = (facts.reads(node), facts.writes(node));
    facts.list("reads", reads.into_iter().map(|name| (name, String::new())));
    facts.list(
        "writes",
        writes.into_iter().map(|name| (name, String::new())),
    );
    facts.found
}

struct Facts<'a> {
    flow: &'a Flow,
    graph: &'a Graph,
    found: Vec<Fact>,
    /// Expressions seen, for what they read.
    texts: Vec<&'a Expr>,
    templates: Vec<&'a Template>,
}

impl<'a> Facts<'a> {
    fn code(&mut self, name: &'static str, text: &str) {
        if !text.is_empty() {
            let body = Body::Code(text.to_owned());
            self.found.push(Fact { name, body });
        }
    }

    fn list(&mut self, name: &'static str, items: impl Iterator<Item = (String, String)>) {
        let items: Vec<(String, String)> = items.collect();
        if !items.is_empty() {
            let body = Body::List(items);
            self.found.push(Fact { name, body });
        }
    }

    fn expr(&mut self, name: &'static str, expr: &'a Expr) {
        self.texts.push(expr);
        self.code(name, &expr.text);
    }

    fn template(&mut self, name: &'static str, template: &'a Template) {
        self.templates.push(template);
        self.code(name, &template.text);
    }

    fn named(&mut self, name: &'static str, items: &'a [Named]) {
        self.texts.extend(items.iter().map(|item| &item.value));
        let lines = items
            .iter()
            .map(|item| (format!("{}: {}", item.name, item.value.text), String::new()));
        self.list(name, lines);
    }

    fn node(&mut self, node: &'a Node) {
        for skip in &node.skips {
            self.expr("skip when", &skip.when);
        }
        self.list(
            "input",
            node.input.iter().map(|field| {
                let ty = self.flow.types.show(&field.ty);
                (format!("{}: {ty}", field.name), field.doc.clone())
            }),
        );
        self.named("let", &node.lets);
        for require in &node.requires {
            self.expr("require", &require.condition);
        }
        self.named("let within it", &node.lets_within);
        self.work(&node.work);
        for stop in &node.stops {
            self.permits(&stop.permits);
        }
        self.named("let behind it", &node.lets_behind);
        let sets = self.sets(&node.set);
        self.list("set", sets);
        self.emits(node);
        let limits = limits(node);
        self.list(
            "limits",
            limits.into_iter().map(|text| (text, String::new())),
        );
        for route in node.next.iter().chain(&node.on_error) {
            self.route(route);
        }
        self.list(
            "tags",
            node.tags.iter().map(|tag| (tag.clone(), String::new())),
        );
        let file = self.flow.files.get(node.at.file as usize);
        if let Some(file) = file {
            self.list(
                "declared",
                std::iter::once((format!("{file}:{}", node.at.line), String::new())),
            );
        }
    }

    fn work(&mut self, work: &'a Work) {
        match work {
            Work::Llm(call) => self.call(call),
            Work::Agent {
                call,
                until,
                parallel,
                max_turns,
            } => {
                self.call(call);
                if let Some(until) = until {
                    self.expr("until", until);
                }
                let parallel = if *parallel { "at once" } else { "one by one" };
                let turns = format!("at most {max_turns} turns, tools of a turn {parallel}");
                self.list("loop", std::iter::once((String::new(), turns)));
            }
            Work::Tools {
                messages, tools, ..
            } => {
                self.expr("messages", messages);
                self.tools(tools);
            }
            Work::Call { tool, args } => {
                self.tools(std::slice::from_ref(tool));
                self.named("arguments", args);
            }
            Work::Update | Work::Branch => {}
            Work::Interrupt {
                ask,
                expect,
                permits,
                ..
            } => {
                match ask {
                    Ask::Fields(fields) => self.named("asks", fields),
                    Ask::Text(text) => self.template("asks", text),
                }
                if let Some(expect) = expect {
                    self.code("expects", &self.flow.types.describe(expect));
                }
                self.permits(permits);
            }
            Work::Subgraph {
                graph, with, into, ..
            } => self.subgraph(*graph, with, into),
            Work::Extern { reads, writes, .. } => {
                let names = |fields: &[FieldId]| {
                    let names = fields
                        .iter()
                        .map(|id| (self.field(*id).to_owned(), String::new()));
                    names.collect::<Vec<_>>()
                };
                let (reads, writes) = (names(reads), names(writes));
                self.list("reads", reads.into_iter());
                self.list("writes", writes.into_iter());
            }
        }
    }

    fn subgraph(&mut self, graph: GraphId, with: &'a [Pass], into: &'a [Binding]) {
        let Some(callee) = self.flow.graphs.get(graph) else {
            return;
        };
        self.list(
            "runs",
            std::iter::once((callee.name.clone(), callee.doc.clone())),
        );
        let theirs = |id| callee.fields.get(id).map_or("", |field| &*field.name);
        let mut passed = Vec::new();
        for pass in with {
            passed.push(match pass {
                Pass::Field { to, from } => {
                    format!("{}: state.{}", theirs(*to), self.field(*from))
                }
                Pass::Value { to, value } => {
                    self.texts.push(value);
                    format!("{}: {}", theirs(*to), value.text)
                }
                Pass::Sent { to } => format!("{}: as it is sent", theirs(*to)),
            });
        }
        self.list("with", passed.into_iter().map(|text| (text, String::new())));
        let taken: Vec<String> = into
            .iter()
            .map(|binding| {
                format!(
                    "{}: result.{}",
                    self.field(binding.to),
                    theirs(binding.from)
                )
            })
            .collect();
        self.list("into", taken.into_iter().map(|text| (text, String::new())));
    }

    fn call(&mut self, call: &'a ModelCall) {
        self.list("model", std::iter::once(self.model(call.model)));
        if let Some(system) = &call.system {
            self.template("system", system);
        }
        if let Some(messages) = &call.messages {
            self.expr("messages", messages);
        }
        if let Some(prompt) = &call.prompt {
            self.template("prompt", prompt);
        }
        self.tools(&call.tools);
        if let Some(output) = &call.output {
            self.code("output", &self.flow.types.describe(output));
        }
        for ensure in &call.ensures {
            self.expr("ensure", &ensure.condition);
        }
        let said = call.stream_as.iter().map(|emit| self.event(emit));
        let said: Vec<_> = said.collect();
        self.list("streams as", said.into_iter());
    }

    fn model(&self, id: ModelId) -> (String, String) {
        let Some(model) = self.flow.models.get(id) else {
            return (String::new(), String::new());
        };
        let mut words = vec![format!("{}/{}", model.provider, model.model)];
        words.extend(model.temperature.map(|t| format!("temperature {t}")));
        words.extend(model.max_tokens.map(|t| format!("at most {t} tokens")));
        let name = |id: &ModelId| self.flow.models.get(*id).map(|model| model.name.clone());
        let fallback: Vec<String> = model.fallback.iter().filter_map(name).collect();
        if !fallback.is_empty() {
            let on = model.fallback_on.iter().flatten().map(|kind| kind.word());
            let on: Vec<&str> = on.collect();
            let on = match on.is_empty() {
                true => String::new(),
                false => format!(" on {}", on.join(", ")),
            };
            words.push(format!("else {}{on}", fallback.join(", ")));
        }
        (model.name.clone(), words.join(", "))
    }

    /// Calls that the answer permits, as written.
    fn permits(&mut self, permits: &'a [Permit]) {
        for permit in permits {
            let pins = permit.pins.iter().flatten();
            self.texts.extend(pins.map(|pin| &pin.value));
            self.texts
                .extend(permit.each.iter().map(|each| &each.items));
            self.texts.extend(&permit.when);
        }
        let lines = permits.iter();
        let lines = lines.map(|permit| (permit.shown(self.flow), String::new()));
        let lines: Vec<_> = lines.collect();
        self.list("permits", lines.into_iter());
    }

    fn tools(&mut self, tools: &[ToolId]) {
        let flow = self.flow;
        let shown = tools.iter().filter_map(|id| flow.tools.get(*id));
        let lines = shown.map(|tool| {
            let params = tool
                .params
                .iter()
                .map(|field| format!("{}: {}", field.name, flow.types.show(&field.ty)));
            let params = params.collect::<Vec<_>>().join(", ");
            let returns = tool.returns.as_ref();
            let returns = returns.map(|ty| format!(" -> {}", flow.types.show(ty)));
            let signature = format!("{}({params}){}", tool.name, returns.unwrap_or_default());
            let effect = match tool.effect {
                ToolEffect::Read => "",
                ToolEffect::Write => " (writes)",
                ToolEffect::Destructive => " (destructive)",
            };
            let asks = if tool.asks() {
                " (a call asks, unless a person has permitted it)"
            } else {
                ""
            };
            (
                signature,
                format!("{}{effect}{asks}", tool.doc).trim().to_owned(),
            )
        });
        self.list("tools", lines);
    }

    fn sets(&mut self, items: &'a [SetItem]) -> std::vec::IntoIter<(String, String)> {
        self.texts.extend(items.iter().map(|item| &item.value));
        let line = |item: &SetItem| {
            let sign = if item.replace { " :=" } else { ":" };
            let text = format!("{}{sign} {}", self.field(item.field), item.value.text);
            (text, String::new())
        };
        let lines: Vec<(String, String)> = items.iter().map(line).collect();
        lines.into_iter()
    }

    fn emits(&mut self, node: &'a Node) {
        let lines: Vec<_> = node.emits.iter().map(|emit| self.event(emit)).collect();
        self.list("emits", lines.into_iter());
    }

    fn event(&mut self, emit: &'a Emit) -> (String, String) {
        let fields = emit.fields.iter();
        self.texts.extend(fields.clone().map(|field| &field.value));
        self.texts.extend(&emit.when);
        let name = self.flow.events.get(emit.event);
        let name = name.map_or("", |event| &*event.name);
        let fields: Vec<String> = fields
            .map(|field| format!("{}: {}", field.name, field.value.text))
            .collect();
        (format!("{name} {{ {} }}", fields.join(", ")), String::new())
    }

    /// What a route reads; the picture shows where it goes.
    fn route(&mut self, route: &'a Route) {
        match route {
            Route::Always(jump) => self.jump(jump),
            Route::Arms(arms) => {
                for arm in arms {
                    self.texts.extend(&arm.when);
                    self.jump(&arm.jump);
                }
            }
        }
    }

    fn jump(&mut self, jump: &'a Jump) {
        self.texts.extend(jump.set.iter().map(|item| &item.value));
        for target in &jump.to {
            match target {
                Target::Computed { name, .. } => self.texts.push(name),
                Target::Each { items, with, .. } => {
                    self.texts.push(items);
                    self.texts.extend(with.iter().map(|item| &item.value));
                }
                Target::Fail { message, .. } => self.texts.extend(message),
                _ => {}
            }
        }
    }

    fn field(&self, id: FieldId) -> &'a str {
        self.graph
            .fields
            .get(id)
            .map_or("", |field| field.name.as_str())
    }

    /// Fields of the state that expressions, prompts, tools and the called graph read.
    fn reads(&self, node: &Node) -> Vec<String> {
        let fields = self.graph.fields.iter();
        let fields = fields.map(|field| (field.name.clone(), field.ty.clone()));
        let scope = Scope {
            state: Some(std::sync::Arc::new(fields.collect())),
            ..Scope::default()
        };
        let mut found: BTreeSet<u32> = BTreeSet::new();
        for text in &self.texts {
            if let Ok(expr) = text.tree() {
                found.extend(reads(expr, &scope).fields);
            }
        }
        for text in &self.templates {
            let text = TemplateText::of_file(text.text.clone(), FileId(0));
            found.extend(template::reads(&text, &scope).fields);
        }
        if let Work::Subgraph { with, .. } = &node.work {
            found.extend(with.iter().filter_map(|pass| match pass {
                Pass::Field { from, .. } => Some(from.0),
                Pass::Value { .. } | Pass::Sent { .. } => None,
            }));
        }
        let mut names: BTreeSet<String> = found
            .into_iter()
            .map(|index| self.field(FieldId(index)).to_owned())
            .collect();
        let bodies = node
            .work
            .tools()
            .iter()
            .filter_map(|id| self.flow.tools.get(*id)?.body.as_ref());
        names.extend(bodies.flat_map(|body| body.reads.iter().map(|(name, _)| name.clone())));
        names.into_iter().collect()
    }

    fn writes(&self, node: &Node) -> Vec<String> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let field = |item: &SetItem| self.field(item.field).to_owned();
        names.extend(node.set.iter().map(field));
        let jumps = node.jumps();
        names.extend(jumps.flat_map(|(_, jump)| &jump.set).map(field));
        if let Work::Subgraph { into, .. } = &node.work {
            names.extend(into.iter().map(|one| self.field(one.to).to_owned()));
        }
        let bodies = node
            .work
            .tools()
            .iter()
            .filter_map(|id| self.flow.tools.get(*id)?.body.as_ref());
        names.extend(bodies.flat_map(|body| body.set.iter().map(|item| item.field.clone())));
        names.into_iter().collect()
    }
}

fn limits(node: &Node) -> Vec<String> {
    let mut limits = Vec::new();
    let shown = |ms| duration::show(Duration::from_millis(ms));
    limits.extend(node.timeout_ms.map(|ms| format!("timeout {}", shown(ms))));
    let visits = node.max_visits.as_ref();
    limits.extend(visits.map(|visits| format!("max_visits {}", visits.limit)));
    let retry = node.retry.as_ref();
    limits.extend(retry.map(|retry| format!("retry {}", retry.attempts)));
    if node.defer {
        limits.push("defer".to_owned());
    }
    limits
}
