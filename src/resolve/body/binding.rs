//! What stands for the parameters of a graph that are no values, and what their names mean in it.

use std::collections::BTreeMap;

use crate::ast::Name;
use crate::ast::item::NamedArg;
use crate::ast::ty::{Field, TypeKind};
use crate::base::Span;
use crate::diag::{Diagnostic, codes};
use crate::expr::ty::Type;

use super::super::Resolver;
use super::super::graph::{Bound, ItemParam};
use super::super::names::{Definition, Wanted};
use super::super::program::PromptId;
use super::generic::Generic;

/// What a parameter takes that is no value: its type is a keyword.
pub(super) fn item_kind(param: &Field) -> Option<Wanted> {
    let TypeKind::Name(name) = &param.ty.kind else {
        return None;
    };
    Some(match name.as_str() {
        "model" => Wanted::Model,
        "toolset" => Wanted::Tools,
        "prompt" => Wanted::Prompt,
        "graph" => Wanted::Graph,
        "type" => Wanted::Type,
        _ => return None,
    })
}

/// What stands for a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::resolve) enum Given {
    /// An item.
    Definition(Definition),
    /// A type, built in ones among them.
    Type(Type),
    /// Nothing gives it.
    Unknown,
}

/// A parameter that is no value.
#[derive(Debug, Clone)]
pub(in crate::resolve) struct Binding {
    pub(super) kind: Wanted,
    pub(super) given: Given,
    /// The name of what is given, as it was written.
    pub(super) shown: String,
    /// What it is where nothing gives it, with the place of that.
    pub(super) default: Option<(Given, String, Span)>,
    /// Where the parameter is declared.
    pub(super) declared: Name,
    /// How it is declared.
    pub(super) written: ItemParam,
    /// Of a prompt, the names of the values that it is given; `None` where its declaration doesn't say.
    pub(super) values: Option<Vec<String>>,
}

/// Parameters of a graph that are no values, by name.
pub(in crate::resolve) type Bindings = BTreeMap<String, Binding>;

pub(super) fn by_name(params: &[Binding]) -> Bindings {
    let named = |param: &Binding| (param.declared.node.clone(), param.clone());
    params.iter().map(named).collect()
}

pub(super) fn shown(params: &[Binding]) -> Vec<Bound> {
    let bound = |param: &Binding| Bound {
        param: param.declared.node.clone(),
        item: param.shown.clone(),
        written: param.written.clone(),
    };
    params.iter().map(bound).collect()
}

impl Resolver<'_> {
    /// What the name of a parameter stands for.
    pub(in crate::resolve) fn find_bound(
        &mut self,
        name: &Name,
        wanted: Wanted,
    ) -> Option<Definition> {
        let binding = self.bound.get(&name.node)?.clone();
        self.uses_param(&name.node);
        let of = match &binding.given {
            Given::Unknown if binding.kind == wanted => return None,
            Given::Definition(thing) if wanted.takes(*thing) => return Some(*thing),
            _ => binding.kind.noun(),
        };
        let message = format!(
            "`{}` is a parameter that takes a {of}, not a {}",
            name.node,
            wanted.noun()
        );
        self.diags.push(
            Diagnostic::new(wanted.code(), message, name.span)
                .label(binding.declared.span, "declared here"),
        );
        None
    }

    /// The values that a call gives to the prompt that a parameter stands for: of those that it is said to be given the ones
    /// that it takes.
    pub(in crate::resolve) fn taken(
        &mut self,
        name: &Name,
        prompt: Option<PromptId>,
        args: &[NamedArg],
    ) -> Vec<NamedArg> {
        let Some(binding) = self.bound.get(&name.node) else {
            return args.to_vec();
        };
        let Some(values) = binding.values.clone() else {
            return args.to_vec();
        };
        let declared = binding.declared.span;
        let said = |arg: &NamedArg| values.contains(&arg.name.node);
        for strange in args.iter().filter(|arg| !said(arg)) {
            let arg = &strange.name;
            let message = format!(
                "prompt `{}` is not said to be given `{}`",
                name.node, arg.node
            );
            let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, arg.span);
            let found = found.label(declared, "what it is given is said here");
            let names = values.iter().map(String::as_str);
            self.diags
                .push(found.meant(arg.span, &arg.node, names, "it is given"));
        }
        let prompt = prompt.and_then(|prompt| self.program.prompts.get(prompt));
        let takes = |arg: &NamedArg| {
            prompt.is_none_or(|prompt| prompt.params.iter().any(|p| p.name.node == arg.name.node))
        };
        args.iter()
            .filter(|arg| said(arg) && takes(arg))
            .cloned()
            .collect()
    }

    /// The type that the name of a parameter stands for.
    pub(in crate::resolve) fn bound_type(&mut self, name: &Name) -> Option<Type> {
        let binding = self.bound.get(&name.node)?;
        match (&binding.given, binding.kind) {
            (Given::Type(ty), _) => {
                let ty = ty.clone();
                self.uses_param(&name.node);
                Some(ty)
            }
            _ => {
                self.find_bound(name, Wanted::Type);
                Some(Type::Error)
            }
        }
    }

    /// The name of the record or enum that a parameter stands for, in expressions.
    pub(in crate::resolve) fn name_of_bound_type(&mut self, name: &str) -> Option<String> {
        let types = &self.program.types;
        let bound = match &self.bound.get(name)?.given {
            Given::Type(Type::Record(id)) => types.records.get(*id)?.name.clone(),
            Given::Type(Type::Enum(id)) => types.enums.get(*id)?.name.clone(),
            _ => return None,
        };
        self.uses_param(name);
        Some(bound)
    }

    /// Takes note that something uses a parameter of the graph that is being resolved.
    fn uses_param(&mut self, name: &str) {
        let Some(declared) = self.bound.get(name).map(|binding| binding.declared.span) else {
            return;
        };
        let declares = |generic: &&mut Generic| {
            let mut params = generic.params.iter();
            params.any(|param| param.declared.span == declared)
        };
        if let Some(generic) = self.generics.values_mut().find(declares) {
            generic.used.insert(name.to_owned());
        }
    }
}
