//! Parameters that are no values: `graph React(who: model, kit: toolset, brief: prompt)`.
//!
//! A graph with such parameters is resolved once for each list of items that something gives it, with the names of its parameters
//! standing for these. What comes behind, checks and lowering, sees graphs in which all of them are known. One that nothing gives
//! any is resolved with its parameters unknown: its own mistakes are reported, and it is no part of what runs.
//!
//! Items are named by whoever calls: a name means what it means in the caller's file, or is a parameter of the caller.

use std::collections::BTreeSet;
use std::mem::replace;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::graph::{Graph as Written, Member, StateField};
use crate::ast::item::NamedArg;
use crate::ast::ty::Field;
use crate::base::name::{closest, list};
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};
use crate::expr::ty::Type;
use crate::ir::{FieldMode, GraphId};

use super::super::Resolver;
use super::super::graph::ItemParam;
use super::super::names::{Definition, Wanted};
use super::super::naming::Style;
use super::binding::{Binding, Bindings, Given, by_name, item_kind, shown};

/// Most graphs that are made of one.
const MOST: usize = 100;

/// A graph with parameters that are no values.
pub(in crate::resolve) struct Generic {
    file: FileId,
    /// The graph, without its nodes until its body may be resolved.
    written: Box<Written>,
    /// Its parameters, nothing known of them.
    pub(super) params: Vec<Binding>,
    /// What was made of it.
    made: Vec<(Vec<Given>, GraphId)>,
    /// Names of parameters that something in it has used.
    pub(super) used: BTreeSet<String>,
}

/// A graph that was made of a [`Generic`] and has no body yet.
pub(in crate::resolve) struct Unresolved {
    id: GraphId,
    of: GraphId,
    bound: Bindings,
}

impl Resolver<'_> {
    /// Takes note of a graph's parameters that are no values, before it has an id: the next one. They are unknown in the header that follows.
    pub(super) fn parameters_of_items(&mut self, file: FileId, written: &Written) {
        let mut params: Vec<Binding> = Vec::new();
        for field in &written.params {
            let Some(kind) = item_kind(field) else {
                continue;
            };
            self.check_style(
                &field.name,
                match kind {
                    Wanted::Type => Style::Camel,
                    _ => Style::Snake,
                },
            );
            self.only_a_name(field, kind, written);
            if let Some(first) = params.iter().find(|p| p.declared.node == field.name.node) {
                let first = first.declared.clone();
                self.twice("parameter", &first, &field.name);
                continue;
            }
            params.push(Binding {
                kind,
                given: Given::Unknown,
                shown: "?".to_owned(),
                default: None,
                declared: field.name.clone(),
                written: item_param(field, written),
                values: values_of(field, written),
            });
        }
        if params.is_empty() {
            return;
        }
        self.bound = by_name(&params);
        let generic = Generic {
            file,
            written: Box::new(without_nodes(written)),
            params,
            made: Vec::new(),
            used: BTreeSet::new(),
        };
        let id = GraphId(u32::try_from(self.program.graphs.len()).unwrap_or(u32::MAX));
        self.generics.insert(id, generic);
    }

    /// Reports what such a parameter can't have, and a graph without the fields that it must have.
    fn only_a_name(&mut self, field: &Field, kind: Wanted, written: &Written) {
        if let Some(attribute) = field.attributes.first() {
            let message = format!(
                "parameter `{}` takes a {}, which has no attributes here",
                field.name.node,
                kind.noun()
            );
            self.report(&codes::BAD_VALUE, message, attribute.span, "take it out");
        }
        let named = |(name, _): &(String, Vec<StateField>)| *name == field.name.node;
        if kind == Wanted::Graph && !written.contracts.iter().any(named) {
            let name = &field.name.node;
            let message = format!("parameter `{name}` takes a graph, and says none of its fields");
            self.report(&codes::BAD_VALUE, message, field.ty.span, format!(
                "say which it must have: `{name}: graph {{ in topic: string, out note: string }}`"
            ));
        }
    }

    /// What such parameters are where nothing gives them: items of the file of their graph.
    pub(super) fn defaults_of_items(&mut self) {
        let ids: Vec<GraphId> = self.generics.keys().copied().collect();
        for id in ids {
            let Some(generic) = self.generics.get(&id) else {
                continue;
            };
            let (file, mut params) = (generic.file, generic.params.clone());
            let declared = generic.written.params.clone();
            for param in &mut params {
                let written = declared.iter().find(|field| field.name == param.declared);
                if let Some(value) = written.and_then(|field| field.default.as_ref()) {
                    // One that is wrong is reported here, and lacks nowhere.
                    let unknown = || (Given::Unknown, "?".to_owned());
                    let (given, name) = self.item(file, param, value).unwrap_or_else(unknown);
                    param.default = Some((given, name, value.span));
                }
            }
            if let Some(generic) = self.generics.get_mut(&id) {
                generic.params = params;
            }
        }
    }

    /// The body of a graph with such parameters, for all that are made of it.
    pub(super) fn generic_body(&mut self, id: GraphId, written: Written) {
        if let Some(generic) = self.generics.get_mut(&id) {
            *generic.written = written;
        }
    }

    /// Resolves what was made of graphs with such parameters, and what that calls in turn; then those that nothing has given any.
    pub(super) fn generic_bodies(&mut self) {
        self.resolve_made();
        let ids: Vec<GraphId> = self.generics.keys().copied().collect();
        for id in ids {
            let Some(generic) = self.generics.get(&id).filter(|g| g.made.is_empty()) else {
                continue;
            };
            let bound = by_name(&generic.params);
            if let Some(graph) = self.program.graphs.get_mut(id) {
                graph.open = true;
                // What is not known may be what writes a field or leads on.
                graph.broken = true;
                graph.bound = shown(&generic.params);
            }
            self.unresolved.push_back(Unresolved { id, of: id, bound });
            self.resolve_made();
        }
        for (id, generic) in &self.generics {
            let unused = generic.params.iter().map(|param| &param.declared);
            let unused = unused.filter(|name| !generic.used.contains(&name.node));
            let graph = self.program.graphs.get_mut(*id);
            if let Some(graph) = graph.filter(|graph| graph.open || !graph.broken) {
                graph.unused_params = unused.cloned().collect();
            }
        }
    }

    fn resolve_made(&mut self) {
        while let Some(Unresolved { id, of, bound }) = self.unresolved.pop_front() {
            let Some(generic) = self.generics.get(&of) else {
                continue;
            };
            let (file, written) = (generic.file, generic.written.clone());
            self.bound = bound;
            self.body(file, id, *written);
            self.bound.clear();
        }
    }

    /// The graph that a call means, made of the items that it gives, and the arguments that are values. `None` where one of
    /// the items is wrong or lacks, which is reported.
    pub(super) fn specialized(
        &mut self,
        file: FileId,
        base: GraphId,
        place: &Name,
        args: &[NamedArg],
    ) -> (Option<GraphId>, Vec<NamedArg>) {
        let Some(generic) = self.generics.get(&base) else {
            return (Some(base), args.to_vec());
        };
        let mut params = generic.params.clone();
        let is_item = |arg: &&NamedArg| {
            let mut names = params.iter().map(|param| &param.declared.node);
            names.any(|name| *name == arg.name.node)
        };
        let (items, values): (Vec<&NamedArg>, Vec<&NamedArg>) = args.iter().partition(is_item);
        let values = values.into_iter().cloned().collect();
        let mut places = Vec::new();
        let mut lacking = Vec::new();
        let mut wrong = false;
        for param in &mut params {
            let mut given = items
                .iter()
                .filter(|arg| arg.name.node == param.declared.node);
            let Some(arg) = given.next() else {
                match param.default.take() {
                    Some((given, name, at)) => {
                        (param.given, param.shown) = (given, name);
                        places.push(at);
                    }
                    None => lacking.push(param.declared.clone()),
                }
                continue;
            };
            for again in given {
                self.twice("value of", &arg.name, &again.name);
            }
            places.push(arg.value.span);
            match self.item(file, param, &arg.value) {
                Some((given, name)) => (param.given, param.shown) = (given, name),
                None => wrong = true,
            }
        }
        if !lacking.is_empty() {
            self.items_lacking(base, place, &lacking, args);
        }
        if wrong || !lacking.is_empty() {
            return (None, values);
        }
        (self.made_of(base, place, params, &places), values)
    }

    fn items_lacking(&mut self, base: GraphId, place: &Name, lacking: &[Name], args: &[NamedArg]) {
        let names = list(lacking.iter().map(|name| name.node.as_str()));
        let give: Vec<String> = lacking
            .iter()
            .map(|name| format!("{}: ..", name.node))
            .collect();
        let message = format!("graph `{}` lacks {names}", place.node);
        let mut found = Diagnostic::new(&codes::MISSING_FIELD, message, place.span).help(format!(
            "give it: `{}({})`",
            place.node,
            give.join(", ")
        ));
        let graph = self.program.graphs.get(base);
        let takes =
            |name: &str| graph.is_some_and(|g| g.params.iter().any(|p| p.name.node == name));
        for name in lacking {
            found = found.label(name.span, format!("`{}` is declared here", name.node));
            let others = args
                .iter()
                .map(|arg| &arg.name)
                .filter(|arg| !takes(&arg.node));
            if let Some(meant) = others.clone().find(|arg| is_near(&arg.node, &name.node)) {
                let help = format!("did you mean `{}` by `{}`?", name.node, meant.node);
                found = found.help(help).fix(meant.span, name.node.clone());
            }
        }
        self.diags.push(found);
    }

    /// What an argument names.
    fn item(&mut self, file: FileId, param: &Binding, value: &Expr) -> Option<(Given, String)> {
        let wanted = param.kind;
        let ExprKind::Ident(name) = &value.kind else {
            if !matches!(value.kind, ExprKind::Error) {
                let message = format!(
                    "parameter `{}` takes the name of a {}",
                    param.declared.node,
                    wanted.noun()
                );
                let help = way_to_name(wanted, value);
                self.diags.push(
                    Diagnostic::new(&codes::WRONG_ARGUMENTS, message, value.span)
                        .label(param.declared.span, "declared here")
                        .help(help),
                );
            }
            return None;
        };
        let name = Name::new(name.clone(), value.span);
        if let Some(outer) = self.bound.get(&name.node)
            && outer.kind == param.kind
            && outer.given == Given::Unknown
        {
            self.find_bound(&name, wanted);
            return Some((Given::Unknown, name.node));
        }
        let shown = match self.bound.get(&name.node) {
            Some(outer) => outer.shown.clone(),
            None => name.node.clone(),
        };
        let given = match param.kind {
            Wanted::Type => match self.named_type(file, &name) {
                Type::Error => return None,
                ty => Given::Type(ty),
            },
            _ => Given::Definition(self.find(file, &name, wanted)?),
        };
        if let Given::Definition(Definition::Graph(graph)) = given
            && self.generics.contains_key(&graph)
            && !self.bound.contains_key(&name.node)
        {
            let message = format!("graph `{}` has parameters of its own", name.node);
            self.report(
                &codes::WRONG_ARGUMENTS,
                message,
                value.span,
                format!("name an instance of it: `graph NAME = {}(..)`", name.node),
            );
            return None;
        }
        Some((given, shown))
    }

    /// The graph made of these items, the same for the same ones.
    fn made_of(
        &mut self,
        base: GraphId,
        place: &Name,
        params: Vec<Binding>,
        places: &[Span],
    ) -> Option<GraphId> {
        let given: Vec<Given> = params.iter().map(|param| param.given.clone()).collect();
        let generic = self.generics.get(&base)?;
        if let Some((_, id)) = generic.made.iter().find(|(known, _)| *known == given) {
            return Some(*id);
        }
        if generic.made.len() >= MOST {
            let message = format!("`{}` has more than {MOST} instances", place.node);
            self.diags
                .push(Diagnostic::new(&codes::LIMIT_EXCEEDED, message, place.span));
            return None;
        }
        // The first one takes the place of the graph as it is written.
        let first = generic.made.is_empty();
        let (file, written) = (generic.file, generic.written.clone());
        let bound = by_name(&params);
        let outer = replace(&mut self.bound, bound.clone());
        let mut graph = self.header(file, &written);
        let reported = self.diags.len();
        self.contracts(file, &written, &params, places);
        self.briefs(file, &written, &params, places);
        self.bound = outer;
        if self.diags.len() > reported {
            return None;
        }
        graph.open = given.contains(&Given::Unknown);
        graph.broken |= graph.open;
        graph.bound = shown(&params);
        let id = match first {
            true => base,
            false => self.program.graphs.push(graph.clone()),
        };
        if let Some(slot) = self.program.graphs.get_mut(base).filter(|_| first) {
            *slot = graph;
        }
        if let Some(generic) = self.generics.get_mut(&base) {
            generic.made.push((given, id));
        }
        self.unresolved.push_back(Unresolved {
            id,
            of: base,
            bound,
        });
        Some(id)
    }
}

/// Whether one name is likely a slip in the other.
fn is_near(written: &str, name: &str) -> bool {
    closest(written, [name]).is_some()
}

/// How to give an item by its name, where something else stands.
fn way_to_name(wanted: Wanted, value: &Expr) -> String {
    if let ExprKind::Call {
        target: None,
        function,
        args,
    } = &value.kind
    {
        let name = &function.node;
        return match args.is_empty() || wanted != Wanted::Graph {
            true => format!("give its name alone: `{name}`"),
            false => format!("name an instance, `graph NAME = {name}(..)`, and give NAME"),
        };
    }
    let declare = match wanted {
        Wanted::Model => "declare it, `model NAME = ..`, and give NAME",
        Wanted::Tools => "declare it, `toolset NAME = [..]`, and give NAME",
        Wanted::Prompt => "declare it, `prompt NAME(..) = ..`, and give NAME",
        Wanted::Graph => "declare it, `graph NAME { .. }`, and give NAME",
        _ => "declare it, `type NAME = ..`, and give NAME",
    };
    declare.to_owned()
}

fn item_param(field: &Field, written: &Written) -> ItemParam {
    let mut contracts = written.contracts.iter();
    let contract = contracts.find(|(name, _)| *name == field.name.node);
    let fields = contract.map_or(&[][..], |(_, fields)| fields);
    let fields = fields.iter().map(|field| {
        let mode = match (field.input, field.output) {
            (true, true) => FieldMode::InOut,
            (false, true) => FieldMode::Out,
            _ => FieldMode::In,
        };
        (mode, field.name.node.clone())
    });
    ItemParam {
        takes: field.ty.span,
        default: field.default.as_ref().map(|default| default.span),
        fields: fields.collect(),
    }
}

/// Names of the values that a prompt is given which stands for the parameter; `None` where that isn't said.
fn values_of(field: &Field, written: &Written) -> Option<Vec<String>> {
    let mut briefs = written.briefs.iter();
    let (_, given) = briefs.find(|(name, _)| *name == field.name.node)?;
    Some(given.iter().map(|value| value.name.node.clone()).collect())
}

/// What the header of a graph is made of.
fn without_nodes(written: &Written) -> Written {
    let is_node = |member: &&Member| matches!(member, Member::Node(_));
    let members = written.members.iter().filter(|member| !is_node(member));
    Written {
        doc: written.doc.clone(),
        name: written.name.clone(),
        params: written.params.clone(),
        contracts: written.contracts.clone(),
        briefs: written.briefs.clone(),
        leaves: written.leaves.clone(),
        members: members.cloned().collect(),
        span: written.span,
    }
}
