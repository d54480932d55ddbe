//! What a node does: its kind, and the own properties of `call`, `interrupt` and `subgraph` nodes.

use crate::ast::Name;
use crate::ast::item::NamedArg;
use crate::ast::node::{self as written, Kind};
use crate::diag::{Diagnostic, Home, codes};
use crate::ir::node::Persist;
use crate::ir::{FieldId, GraphId};

use super::super::Resolver;
use super::super::names::{Seen, has_no};
use super::super::node::{Ask, Binding, InterruptTimeout, Pass, Work};
use super::Inside;
use super::property::{Properties, all, one, placed};

impl Resolver<'_> {
    /// The node's own work.
    pub(super) fn work(&mut self, of: &Properties) -> Work {
        match &of.node.kind {
            Kind::Llm => Work::Llm(Box::new(self.model_call(of))),
            Kind::Agent => self.agent(of),
            Kind::Tools => self.tools_node(of),
            Kind::Call { tool, args } => Work::Call {
                tool: self.tool_named(of.inside.file, tool),
                name: Box::new(tool.clone()),
                args: self.named(of.inside.file, args).into(),
            },
            Kind::Update => Work::Update,
            Kind::Branch => Work::Branch,
            Kind::Interrupt => self.interrupt(of),
            Kind::Subgraph { graph, args } => self.subgraph(of, graph, args),
            Kind::Extern(name) => {
                let reads = one!(of, Reads).map_or(&[][..], Vec::as_slice);
                let writes = one!(of, Writes).map_or(&[][..], Vec::as_slice);
                Work::Extern {
                    name: Box::new(name.clone()),
                    reads: self.extern_fields(of.inside, reads).into(),
                    writes: self.extern_writes(of.inside, writes).into(),
                }
            }
        }
    }

    fn interrupt(&mut self, of: &Properties) -> Work {
        let ask = one!(of, Ask);
        if ask.is_none() {
            let message = format!("interrupt `{}` has no `ask`", of.node.name.node);
            self.missing(of, message, "say what the person is shown: `ask { .. }`");
        }
        Work::Interrupt {
            permits: all!(of, Permit)
                .map(|permit| self.permit(of.inside, permit))
                .collect(),
            ask: ask.and_then(|ask| self.ask(of.inside, ask)).map(Box::new),
            expect: one!(of, Expect)
                .map(|ty| self.answer_type(of.inside.file, ty, &of.node.name.node)),
            timeout: self.interrupt_timeout(of).map(Box::new),
        }
    }

    /// What an interrupt shows.
    pub(super) fn ask(&mut self, inside: &Inside, ask: &written::Ask) -> Option<Ask> {
        match ask {
            written::Ask::Fields(fields) => Some(Ask::Fields(self.named(inside.file, fields))),
            written::Ask::Template(template) => self.template(inside.file, template).map(Ask::Text),
        }
    }

    fn interrupt_timeout(&mut self, of: &Properties) -> Option<InterruptTimeout> {
        let ((after, to), _) = placed!(of, Timeout { after, to } => (*after, to))?;
        let after_ms = self.duration("`timeout`", after);
        let Some(to) = to else {
            let name = &of.node.name.node;
            let message = format!("the `timeout` of interrupt `{name}` leads nowhere");
            let diagnostic = Diagnostic::new(&codes::MISSING_PROPERTY, message, after.span)
                .help("say where the run goes when nobody has answered: `timeout 7d -> NODE`");
            self.diags.push(diagnostic);
            return None;
        };
        let to = self.jump(of.inside, to);
        Some(InterruptTimeout {
            after_ms: after_ms?,
            to,
        })
    }

    fn subgraph(&mut self, of: &Properties, name: &Name, args: &[NamedArg]) -> Work {
        let file = of.inside.file;
        let called = self.called_graph(file, name);
        let (graph, args) = match (called.graph, called.instance) {
            (Some(base), None) => self.specialized(file, base, name, args),
            (graph, _) => (graph, args.to_vec()),
        };
        let mut args = self.named(file, &args);
        if called.instance.is_some() && !args.is_empty() {
            self.values_again(name, &args, "subgraph");
            args.clear();
        }
        let persist = one!(of, Persist)
            .map(|word| self.persist(word))
            .unwrap_or_default();
        let with = self.named(file, one!(of, With).map_or(&[][..], Vec::as_slice));
        let with = with.into_iter().map(|arg| Pass {
            to: graph.and_then(|graph| self.child_field(graph, &arg.name, true)),
            name: arg.name,
            value: arg.value,
            sent: false,
        });
        let with = with.collect();
        let into = one!(of, Into).map_or(&[][..], Vec::as_slice);
        let mut seen = Seen::default();
        for binding in into {
            self.once(&mut seen, "field", &binding.to);
        }
        let into = into
            .iter()
            .map(|binding| self.binding(of.inside, graph, binding));
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
                let fields = graph.fields.entries().filter(|(id, _)| fits(id));
                let known = fields.map(|(_, field)| field.name.node.as_str());
                let home = Home::State(Some(graph.name.span));
                has_no(&graph.name, &format!("`{word}` "), name, home, known)
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
