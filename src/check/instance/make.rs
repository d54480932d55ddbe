//! All instances of a program: the declared ones, those that calls need, and what those call.

use std::collections::{BTreeSet, HashMap, VecDeque};

use serde_json::Value as Json;

use crate::ast::expr::{ExprKind, Literal};
use crate::ast::item::NamedArg;
use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::fold::lift::literal;
use crate::expr::infer::{default_value, doomed};
use crate::expr::{Scope, Type};
use crate::ir::GraphId;
use crate::resolve::Program;
use crate::resolve::node::Require;
use crate::resolve::program::{Arg, Declared, Graph, Instance, Node, Param, Work};

use super::Instances;
use super::args::Wrong;
use super::fold::Folding;
use super::prune::prune;

/// Most instances of one graph. Values come from a flow's text, but a graph that calls itself can add to them.
const MOST: usize = 100;

/// Most instances of all graphs together: each is checked by itself.
const MOST_IN_ALL: usize = 1_000;

type Args = Vec<Option<Arg>>;

/// A graph of the program to come. Its calls are numbers of other such graphs.
struct InstanceDraft {
    of: GraphId,
    graph: Graph,
    kept: Vec<bool>,
    found: Diagnostics,
}

struct Instantiator<'a> {
    program: &'a Program,
    wrong: &'a Wrong,
    made: Vec<Option<InstanceDraft>>,
    /// What is still to be made, by number.
    open: VecDeque<(usize, GraphId, Option<Instance>)>,
    /// Numbers by graph and values.
    known: HashMap<(GraphId, String), usize>,
    /// Numbers of declared instances, by position.
    declared: Vec<Option<usize>>,
    /// How many instances each graph has.
    counts: HashMap<GraphId, usize>,
    /// Places of values that are reported for being out of bounds.
    beyond: BTreeSet<Span>,
    /// Graphs that are reported for having too many.
    full: BTreeSet<GraphId>,
    diags: &'a mut Diagnostics,
}

/// Makes the instances. `wrong` are places of values that are reported.
pub fn make(program: &Program, wrong: &Wrong, diags: &mut Diagnostics) -> Instances {
    let mut maker = Instantiator {
        program,
        wrong,
        made: Vec::new(),
        open: VecDeque::new(),
        known: HashMap::new(),
        declared: Vec::new(),
        counts: HashMap::new(),
        beyond: BTreeSet::new(),
        full: BTreeSet::new(),
        diags,
    };
    maker.declared();
    for (id, graph) in program.graphs.entries() {
        if graph.params.is_empty() {
            maker.number(id, Args::new());
        }
    }
    maker.settle();
    maker.unused_instances();
    maker.finish()
}

impl Instantiator<'_> {
    fn declared(&mut self) {
        let program = self.program;
        for decl in &program.instances {
            let number = decl.base.map(|base| {
                let args = self.args(base, &decl.args, None);
                if let Some(found) = self.without_value(base, &decl.args, &args) {
                    self.diags.push(found);
                }
                let number = self.reserve();
                let fresh = self.known.entry((base, key(&args)));
                let graph = program.graphs.get(base);
                if graph.is_some_and(has_instances) {
                    fresh.or_insert(number);
                }
                let instance = Instance {
                    of: base,
                    name: decl.name.node.clone(),
                    declared: Some(Declared {
                        name: decl.name.clone(),
                        doc: decl.doc.clone(),
                    }),
                    open: graph.is_some_and(|graph| graph.open),
                    args,
                };
                self.open.push_back((number, base, Some(instance)));
                number
            });
            self.declared.push(number);
        }
    }

    /// Graphs with parameters that nothing makes an instance of: first those that no other names, whose
    /// calls may make instances of the others.
    fn unused_instances(&mut self) {
        let program = self.program;
        let named = program.called_by_others();
        for by_others in [false, true] {
            for (id, graph) in program.graphs.entries() {
                let has_some = self.counts.contains_key(&id);
                if has_some || graph.params.is_empty() || named.contains(&id) != by_others {
                    continue;
                }
                let mut args = self.args(id, &[], None);
                if args.iter().any(Option::is_none) {
                    args = vec![None; graph.params.len()];
                }
                self.number(id, args);
                self.settle();
            }
        }
    }

    fn settle(&mut self) {
        while let Some((number, of, instance)) = self.open.pop_front() {
            let made = self.one(of, instance);
            if let Some(slot) = self.made.get_mut(number) {
                *slot = made;
            }
        }
    }

    fn reserve(&mut self) -> usize {
        self.made.push(None);
        self.made.len() - 1
    }

    /// The number of the instance with these values, which is made where there is none yet.
    fn number(&mut self, of: GraphId, args: Args) -> usize {
        let at = (of, key(&args));
        if let Some(number) = self.known.get(&at) {
            return *number;
        }
        let number = self.reserve();
        self.known.insert(at, number);
        let graph = self.program.graphs.get(of);
        let instance = graph
            .filter(|graph| has_instances(graph))
            .map(|graph| Instance {
                of,
                name: self.name(graph, &args),
                declared: None,
                open: graph.open,
                args,
            });
        self.open.push_back((number, of, instance));
        number
    }

    /// `Chat`, or `Chat(auto: true)` where values differ from the defaults.
    fn name(&self, graph: &Graph, args: &Args) -> String {
        let defaults = self.defaults(&graph.params);
        let given = graph.params.iter().zip(args).zip(&defaults);
        let differing = given.filter_map(|((param, arg), default)| match (arg, default) {
            (Some(arg), Some(default)) if arg.value == default.value => None,
            (Some(arg), _) => Some(format!("{}: {}", param.name.node, shown(arg, param))),
            (None, _) => None,
        });
        let bound = graph.bound.iter();
        let bound = bound.map(|bound| format!("{}: {}", bound.param, bound.item));
        let shown: Vec<String> = bound.chain(differing).collect();
        let name = &graph.name.node;
        match shown.is_empty() {
            true => name.clone(),
            false => format!("{name}({})", shown.join(", ")),
        }
    }

    /// Values of a graph's parameters: as given in the scope of a caller, else the defaults.
    fn args(&mut self, of: GraphId, given: &[NamedArg], caller: Option<&Folding>) -> Args {
        let Some(graph) = self.program.graphs.get(of) else {
            return Args::new();
        };
        let defaults = self.defaults(&graph.params);
        let outside;
        let caller = match caller {
            Some(caller) => caller,
            None => {
                outside = Folding::new(self.program, graph, self.wrong);
                &outside
            }
        };
        let params = graph.params.iter().zip(defaults);
        params
            .map(|(param, default)| {
                let param: &Param = param;
                let written = given.iter().find(|arg| arg.name.node == param.name.node);
                let Some(written) = written else {
                    return default;
                };
                let span = written.value.span;
                let value = caller.value(&written.value)?;
                let value = self.widened(&value, param)?;
                self.within(param, &value, span);
                Some(Arg { value, span })
            })
            .collect()
    }

    /// Reports a value beyond the bounds of its parameter.
    fn within(&mut self, param: &Param, value: &Json, span: Span) {
        let broken = param.constraints.broken(value);
        if let Some(first) = broken.first().filter(|_| self.beyond.insert(span)) {
            let message = format!("parameter `{}` is out of bounds: {first}", param.name.node);
            self.diags.push(
                Diagnostic::new(&codes::BAD_VALUE, message, span)
                    .label(param.span, "declared here"),
            );
        }
    }

    fn defaults(&self, params: &[Param]) -> Args {
        let default = |param: &Param| {
            let Some(written) = &param.default else {
                // As a field that is left out.
                return param.ty.node.admits_null().then_some(Arg {
                    value: Json::Null,
                    span: param.span,
                });
            };
            let value = default_value(written, &param.ty.node, &self.program.types)?;
            Some(Arg {
                value,
                span: written.span,
            })
        };
        params.iter().map(default).collect()
    }

    fn widened(&self, value: &Json, param: &Param) -> Option<Json> {
        let written = literal(value, param.span);
        default_value(&written, &param.ty.node, &self.program.types)
    }

    fn one(&mut self, of: GraphId, instance: Option<Instance>) -> Option<InstanceDraft> {
        let program = self.program;
        let mut graph = program.graphs.get(of)?.clone();
        graph.instance = instance;
        *self.counts.entry(of).or_default() += 1;
        let mut folding = Folding::new(program, &graph, self.wrong);
        let mut kept = vec![true; graph.nodes.len()];
        let mut found = Diagnostics::new();
        if !graph.params.is_empty() {
            folding.graph(&mut graph);
            kept = prune(program, &mut graph, &mut found);
            refused(&graph, &folding, &mut found);
        }
        let ids: Vec<_> = graph.nodes.ids().collect();
        for id in ids {
            if let Some(node) = graph.nodes.get_mut(id) {
                self.call(node, &folding, &mut found);
            }
        }
        found.append(folding.diags);
        Some(InstanceDraft {
            of,
            graph,
            kept,
            found,
        })
    }

    /// Leads a `subgraph` node to the instance that it calls.
    fn call(&mut self, node: &mut Node, folding: &Folding, found: &mut Diagnostics) {
        let Work::Subgraph {
            graph: called @ Some(_),
            instance,
            name,
            args,
            ..
        } = &mut node.work
        else {
            return;
        };
        let Some(of) = *called else { return };
        if let Some(number) = instance.and_then(|at| self.declared.get(at).copied().flatten()) {
            *called = Some(GraphId(number as u32));
            return;
        }
        let mut values = self.args(of, args, Some(folding));
        if folding.is_whole {
            let lost = self.without_value(of, args, &values);
            lost.into_iter().for_each(|lost| found.push(lost));
        }
        let is_new = !self.known.contains_key(&(of, key(&values)));
        let own = self.counts.get(&of).copied().unwrap_or(0) + self.waiting(of);
        let all = self.made.len() >= MOST_IN_ALL && own > 0;
        if is_new && (own >= MOST || all) {
            if self.full.insert(of) {
                let message = match all {
                    false => format!(
                        "`{}` has more than {MOST} instances: each calls one with other values",
                        name.node
                    ),
                    true => format!(
                        "the instances of all graphs are more than {MOST_IN_ALL}: here one of `{}` is one too many",
                        name.node
                    ),
                };
                self.diags.push(
                    Diagnostic::new(&codes::LIMIT_EXCEEDED, message, name.span).help(
                        "pass what changes in the state; parameters are for few, fixed modes",
                    ),
                );
            }
            values = vec![None; values.len()];
        }
        *called = Some(GraphId(self.number(of, values) as u32));
    }

    /// What is said of a value that is a constant and has none: its computation fails, or no default could
    /// be such a value.
    fn without_value(&self, of: GraphId, given: &[NamedArg], values: &Args) -> Option<Diagnostic> {
        let params = &self.program.graphs.get(of)?.params;
        let lost = |arg: &&NamedArg| {
            let at = params.iter().position(|p| p.name.node == arg.name.node);
            let value = at.and_then(|at| values.get(at));
            matches!(value, Some(None)) && !self.wrong.contains(&arg.value.span)
        };
        let arg = given.iter().find(lost)?;
        let mut failing = Diagnostics::new();
        let types = &self.program.types;
        doomed(&arg.value, &Scope::default(), types, &mut failing);
        let why = failing.iter().next().map(|why| why.message.as_str());
        let why = why.and_then(|why| Some(why.split_once(": ")?.1));
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        let message = format!("the value of `{}` can't be computed{why}", arg.name.node);
        let found = Diagnostic::new(&codes::ARGUMENT_NOT_CONSTANT, message, arg.value.span);
        Some(found.help("write a constant that a default could be"))
    }

    fn waiting(&self, of: GraphId) -> usize {
        self.open.iter().filter(|(_, open, _)| *open == of).count()
    }

    /// The program: graphs in the order declared, those with unknown parameters last.
    fn finish(self) -> Instances {
        let mut numbers: Vec<usize> = (0..self.made.len()).collect();
        numbers.sort_by_key(|number| {
            let made = self.made.get(*number).and_then(Option::as_ref);
            let whole = made.is_some_and(|made| {
                let instance = made.graph.instance.as_ref();
                instance.is_none_or(Instance::is_whole)
            });
            (!whole, made.map(|made| made.of), *number)
        });
        let mut new = vec![GraphId(0); numbers.len()];
        for (at, number) in numbers.iter().enumerate() {
            if let Some(slot) = new.get_mut(*number) {
                *slot = GraphId(at as u32);
            }
        }
        let mut all: Vec<Option<InstanceDraft>> = self.made;
        let mut instances = Instances {
            program: Program {
                graphs: IdVec::new(),
                ..self.program.clone()
            },
            made_from: IdVec::new(),
            kept: IdVec::new(),
            found: IdVec::new(),
        };
        for number in numbers {
            let Some(mut made) = all.get_mut(number).and_then(Option::take) else {
                continue;
            };
            let ids: Vec<_> = made.graph.nodes.ids().collect();
            for id in ids {
                if let Some(node) = made.graph.nodes.get_mut(id)
                    && let Work::Subgraph {
                        graph: Some(called),
                        ..
                    } = &mut node.work
                {
                    *called = new.get(called.0 as usize).copied().unwrap_or(*called);
                }
            }
            instances.program.graphs.push(made.graph);
            instances.made_from.push(made.of);
            instances.kept.push(made.kept);
            instances.found.push(made.found);
        }
        instances
    }
}

/// Whether what runs of a graph are instances: it has parameters, or is made of one that has.
fn has_instances(graph: &Graph) -> bool {
    !graph.params.is_empty() || !graph.bound.is_empty()
}

fn key(args: &Args) -> String {
    let values = args.iter().map(|arg| match arg {
        Some(arg) => arg.value.to_string(),
        None => "?".to_owned(),
    });
    values.collect::<Vec<String>>().join(",")
}

/// A value as the name of an instance has it: a member of an enum without quotes.
fn shown(arg: &Arg, param: &Param) -> String {
    match (&arg.value, param.ty.node.without_null()) {
        (Json::String(member), Type::Enum(_)) => member.clone(),
        (value, _) => value.to_string(),
    }
}

/// Reports what an instance asks for and its parameters rule out, in nodes that it reaches.
fn refused(graph: &Graph, folding: &Folding, found: &mut Diagnostics) {
    for node in &graph.nodes {
        let never = |require: &&Require| folding.refusing.contains(&require.span);
        for require in node.requires.iter().filter(never) {
            let name = &node.name.node;
            let said = match require.message.as_ref().map(|said| &said.kind) {
                Some(ExprKind::Literal(Literal::String(said))) => format!(": {said}"),
                _ => String::new(),
            };
            let message = format!("with these parameters `{name}` fails in every run{said}");
            let at = require.condition.span;
            found.push(Diagnostic::new(&codes::ALWAYS_FAILS, message, at));
        }
    }
}
