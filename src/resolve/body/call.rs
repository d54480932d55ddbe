//! What a node does: its kind, and the own properties of `call`, `interrupt` and `subgraph` nodes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::ast::Name;
use crate::ast::item::NamedArg;
use crate::ast::node::{self as written, Kind, Node as Written, PropertyKind};
use crate::diag::{Diagnostic, Home, codes};
use crate::ir::node::Persist;
use crate::ir::{FieldId, GraphId};

use super::super::Resolver;
use super::super::names::{Thing, Wanted};
use super::super::node::{Ask, Binding, InterruptTimeout, Pass, Work};
use super::Inside;
use super::property::Properties;

impl Resolver<'_> {
    /// The node's own work.
    pub(super) fn work(
        &mut self,
        inside: &Inside,
        node: &Written,
        properties: &Properties,
    ) -> Work {
        match &node.kind {
            Kind::Llm => Work::Llm(Box::new(self.model_call(inside, node, properties))),
            Kind::Agent => self.agent(inside, node, properties),
            Kind::Tools => self.tools_node(inside, node, properties),
            Kind::Call { tool, args } => {
                let found = self.find(inside.file, tool, Wanted::Tool);
                Work::Call {
                    tool: match found {
                        Some(Thing::Tool(tool)) => Some(tool),
                        _ => None,
                    },
                    name: Box::new(tool.clone()),
                    args: self.named(inside.file, args).into(),
                }
            }
            Kind::Update => Work::Update,
            Kind::Branch => Work::Branch,
            Kind::Interrupt => self.interrupt(inside, node, properties),
            Kind::Subgraph { graph, args } => self.subgraph(inside, (graph, args), properties),
            Kind::Extern(name) => Work::Extern {
                name: Box::new(name.clone()),
                reads: self.extern_reads(inside, properties).into(),
                writes: self.extern_writes(inside, properties).into(),
            },
        }
    }

    fn interrupt(&mut self, inside: &Inside, node: &Written, properties: &Properties) -> Work {
        let ask = properties.one(|kind| match kind {
            PropertyKind::Ask(ask) => Some(ask),
            _ => None,
        });
        if ask.is_none() {
            let message = format!("interrupt `{}` has no `ask`", node.name.node);
            self.missing(node, message, "say what the person is shown: `ask { .. }`");
        }
        let expect = properties.one(|kind| match kind {
            PropertyKind::Expect(ty) => Some(ty),
            _ => None,
        });
        let permits = properties.all(|kind| match kind {
            PropertyKind::Permit(permit) => Some(&**permit),
            _ => None,
        });
        Work::Interrupt {
            permits: self.permits(inside, permits),
            ask: ask.and_then(|ask| self.ask(inside, ask)).map(Box::new),
            expect: expect.map(|ty| self.spanned_type(inside.file, ty)),
            timeout: self
                .interrupt_timeout(inside, node, properties)
                .map(Box::new),
        }
    }

    /// What an interrupt shows.
    pub(super) fn ask(&mut self, inside: &Inside, ask: &written::Ask) -> Option<Ask> {
        match ask {
            written::Ask::Fields(fields) => Some(Ask::Fields(self.named(inside.file, fields))),
            written::Ask::Template(template) => self.template(inside.file, template).map(Ask::Text),
        }
    }

    fn interrupt_timeout(
        &mut self,
        inside: &Inside,
        node: &Written,
        properties: &Properties,
    ) -> Option<InterruptTimeout> {
        let (after, to) = properties.one(|kind| match kind {
            PropertyKind::Timeout { after, to } => Some((*after, to)),
            _ => None,
        })?;
        let after_ms = self.duration("`timeout`", after);
        let Some(to) = to else {
            let message = format!(
                "the `timeout` of interrupt `{}` leads nowhere",
                node.name.node
            );
            let diagnostic = Diagnostic::new(&codes::MISSING_PROPERTY, message, after.span)
                .help("say where the run goes when nobody has answered: `timeout 7d -> NODE`");
            self.diags.push(diagnostic);
            return None;
        };
        let to = self.jump(inside, to);
        Some(InterruptTimeout {
            after_ms: after_ms?,
            to,
        })
    }

    fn subgraph(
        &mut self,
        inside: &Inside,
        (name, args): (&Name, &[NamedArg]),
        properties: &Properties,
    ) -> Work {
        let called = self.called_graph(inside.file, name);
        let (graph, args) = match (called.graph, called.instance) {
            (Some(base), None) => self.specialized(inside.file, base, name, args),
            (graph, _) => (graph, args.to_vec()),
        };
        let mut args = self.named(inside.file, &args);
        if called.instance.is_some() && !args.is_empty() {
            self.values_again(name, &args, "subgraph");
            args.clear();
        }
        let with = properties.one(|kind| match kind {
            PropertyKind::With(with) => Some(with),
            _ => None,
        });
        let into = properties.one(|kind| match kind {
            PropertyKind::Into(into) => Some(into),
            _ => None,
        });
        let persist = properties.one(|kind| match kind {
            PropertyKind::Persist(word) => Some(word),
            _ => None,
        });
        let persist = persist.map(|word| self.persist(word)).unwrap_or_default();
        let with = self.named(inside.file, with.map(Vec::as_slice).unwrap_or_default());
        let with = with.into_iter().map(|arg| Pass {
            to: graph.and_then(|graph| self.child_field(graph, &arg.name, true)),
            name: arg.name,
            value: arg.value,
            sent: false,
        });
        let with = with.collect();
        let into: Vec<&written::Binding> = into.into_iter().flatten().collect();
        let mut seen: HashMap<&str, &Name> = HashMap::new();
        for binding in &into {
            match seen.entry(binding.to.node.as_str()) {
                Entry::Occupied(first) => self.twice("field", first.get(), &binding.to),
                Entry::Vacant(new) => _ = new.insert(&binding.to),
            }
        }
        let into = into.into_iter();
        let into = into.map(|binding| self.binding(inside, graph, binding));
        Work::Subgraph {
            graph,
            instance: called.instance,
            name: Box::new(name.clone()),
            args: args.into(),
            with,
            into: into.collect(),
            persist,
        }
    }

    fn binding(
        &mut self,
        inside: &Inside,
        graph: Option<GraphId>,
        binding: &written::Binding,
    ) -> Binding {
        if let Some(swapped) = graph.and_then(|graph| self.swapped(inside, graph, binding)) {
            return swapped;
        }
        Binding {
            from: graph.and_then(|graph| self.child_field(graph, &binding.from, false)),
            from_name: binding.from.clone(),
            to: self.field_named(inside, &binding.to),
            to_name: binding.to.clone(),
        }
    }

    /// A binding of `into` the wrong way round: the called graph has the first name, and this one the second.
    fn swapped(
        &mut self,
        inside: &Inside,
        child: GraphId,
        binding: &written::Binding,
    ) -> Option<Binding> {
        let (own, called) = (
            &self.program.graphs[inside.graph],
            &self.program.graphs[child],
        );
        let (first, second) = (&binding.to, &binding.from);
        if own.field(&first.node).is_some() || called.field(&second.node).is_some() {
            return None;
        }
        let (from, to) = (called.field(&first.node)?, own.field(&second.node)?);
        let gives = called.fields[from].mode.is_out();
        let message = format!(
            "`{}` is what `{}` gives back, and `{}` the field that takes it: the two are swapped",
            first.node, called.name.node, second.node
        );
        let found = Diagnostic::new(&codes::WRONG_BINDING, message, first.span)
            .help(format!("write `{}: {}`", second.node, first.node))
            .fix(first.span, second.node.clone())
            .fix(second.span, first.node.clone());
        gives.then(|| {
            self.diags.push(found);
            Binding {
                from: Some(from),
                from_name: first.clone(),
                to: Some(to),
                to_name: second.clone(),
            }
        })
    }

    /// A field of the called graph that a caller gives (`in`) or gets; reported otherwise.
    fn child_field(&mut self, graph: GraphId, name: &Name, input: bool) -> Option<FieldId> {
        let word = if input { "in" } else { "out" };
        let graph = &self.program.graphs[graph];
        let fits = |id: &FieldId| {
            let mode = graph.fields[*id].mode;
            if input { mode.is_in() } else { mode.is_out() }
        };
        let found = graph.field(&name.node);
        if let Some(field) = found.filter(fits) {
            return Some(field);
        }
        let diagnostic = match found {
            Some(field) => {
                let message = format!(
                    "field `{}` of `{}` is not `{word}`",
                    name.node, graph.name.node
                );
                let declared = graph.fields[field].name.span;
                Diagnostic::new(&codes::UNKNOWN_FIELD, message, name.span)
                    .about(declared)
                    .label(declared, "declared here")
                    .help(format!(
                        "declare it `{word} {}`, or `in out {}`, in `{}`",
                        name.node, name.node, graph.name.node
                    ))
            }
            None => {
                let message = format!("`{}` has no field `{}`", graph.name.node, name.node);
                let fields = graph.fields.entries().filter(|(id, _)| fits(id));
                let near = fields.map(|(_, field)| field.name.node.as_str());
                let near: Vec<&str> = near.collect();
                let there_are = format!("its `{word}` fields are");
                Diagnostic::new(&codes::UNKNOWN_FIELD, message, name.span)
                    .unknown(&name.node, Home::State(Some(graph.name.span)))
                    .meant(name.span, &name.node, near, &there_are)
            }
        };
        if found.is_some() || !self.is_lost(graph.file, &name.node) {
            self.diags.push(diagnostic);
        }
        None
    }

    fn persist(&mut self, word: &Name) -> Persist {
        match word.node.as_str() {
            "call" => Persist::Call,
            "thread" => Persist::Thread,
            "none" => Persist::None,
            _ => {
                self.bad_word("way to persist", word, &["call", "thread", "none"]);
                Persist::Call
            }
        }
    }
}
