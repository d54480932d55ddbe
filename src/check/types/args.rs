//! Named values against declared names: event payloads, tool arguments, `with` of a send.

use std::collections::{HashMap, HashSet};

use crate::ast::item::NamedArg;
use crate::base::Span;
use crate::base::name::{closest, list};
use crate::diag::{Diagnostic, Home, codes};
use crate::expr::Type;
use crate::expr::infer::{Narrowing, Taker, default_value};
use crate::resolve::program::Param;

use super::cx::Cx;

/// Something that takes named values.
pub struct Callee<'a> {
    /// What it is called in messages: "event `changeset.created`".
    pub what: String,
    /// What it takes.
    pub params: &'a [Param],
    /// Where it is named, for what is missing.
    pub span: Span,
    /// The name of its declaration.
    pub declared: Span,
}

/// Most missing values that a message points at.
const SHOWN: usize = 40;

impl Callee<'_> {
    /// What it takes, the first of each name.
    fn by_name(&self) -> HashMap<&str, &Param> {
        let params = self.params.iter().rev();
        params.map(|param| (&*param.name.node, param)).collect()
    }
}

impl Cx<'_> {
    /// Checks that each value is of a known name and fits, and that none that is needed is missing.
    pub fn args(&mut self, callee: &Callee, args: &[NamedArg]) {
        self.some_args(callee, args);
        self.lacking(callee, args);
    }

    /// As [`Cx::args`], where others are given elsewhere.
    pub(super) fn some_args(&mut self, callee: &Callee, args: &[NamedArg]) {
        let params = callee.by_name();
        for arg in args {
            self.arg(callee, params.get(&*arg.name.node).copied(), arg);
        }
    }

    /// One value, against what is declared under its name.
    fn arg(&mut self, callee: &Callee, param: Option<&Param>, arg: &NamedArg) {
        match param {
            Some(param) => {
                let ty = param.ty.node.clone();
                self.written(&arg.value, Some(&ty), Some(Taker::named(&param.name)));
                self.breaks_bounds(param, arg);
            }
            None => {
                self.infer_with_effects(&arg.value, None);
                self.unknown_arg(callee, arg);
            }
        }
    }

    /// As [`Cx::args`], each value with what is known where it is computed.
    pub(super) fn args_knowing(
        &mut self,
        callee: &Callee,
        args: &[NamedArg],
        known: impl Fn(&NamedArg) -> Narrowing,
    ) {
        let params = callee.by_name();
        for arg in args {
            self.facts.known = known(arg);
            self.arg(callee, params.get(&*arg.name.node).copied(), arg);
        }
        self.lacking(callee, args);
    }

    /// Reports a constant that the parameter's bounds refuse.
    fn breaks_bounds(&mut self, param: &Param, arg: &NamedArg) {
        if param.constraints.is_empty() {
            return;
        }
        let value = default_value(&arg.value, &param.ty.node, &self.program.types);
        let broken = value.map_or_else(Vec::new, |value| param.constraints.broken(&value));
        if let Some(first) = broken.first() {
            let message = format!("`{}` does not take this: {first}", param.name.node);
            self.report(
                Diagnostic::new(&codes::BAD_VALUE, message, arg.value.span)
                    .label(param.span, "its bounds are declared here"),
            );
        }
    }

    /// Reports values that are needed and not given.
    pub(in crate::check) fn lacking(&mut self, callee: &Callee, args: &[NamedArg]) {
        let params = callee.by_name();
        let names: HashSet<&str> = args.iter().map(|arg| &*arg.name.node).collect();
        let strange = args.iter().map(|arg| arg.name.node.as_str());
        let strange: Vec<&str> = strange.filter(|name| !params.contains_key(name)).collect();
        let meant = |name: &str| strange.iter().any(|other| closest(other, [name]).is_some());
        let given = |name: &str| names.contains(name) || meant(name);
        let missing: Vec<&Param> = callee
            .params
            .iter()
            .filter(|p| p.default.is_none() && !p.ty.node.admits_null() && !given(&p.name.node))
            .collect();
        // A value under another name is likely what is missing.
        if missing.len() <= strange.len() {
            return;
        }
        // What did not parse may be what is missing.
        let unreadable = self.graph.is_some_and(|graph| graph.broken);
        if !missing.is_empty() && !unreadable {
            let names = list(missing.iter().map(|p| p.name.node.as_str()));
            let give = missing.iter().take(SHOWN);
            let mut give: Vec<String> = give.map(|p| format!("{}: ..", p.name.node)).collect();
            if missing.len() > SHOWN {
                give.push("..".to_owned());
            }
            let mut found = Diagnostic::new(
                &codes::MISSING_FIELD,
                format!("{} lacks {names}", callee.what),
                callee.span,
            )
            .help(format!(
                "give it: `{}`; or declare a default or a type `T?`",
                match callee.what.starts_with("the input of") && args.is_empty() {
                    true => format!("with {{ {} }}", give.join(", ")),
                    false => give.join(", "),
                }
            ));
            for param in missing.into_iter().take(SHOWN) {
                found = found.label(
                    param.name.span,
                    format!("`{}` is declared here", param.name.node),
                );
            }
            self.report(found);
        }
    }

    /// Reports a value of a name that is not taken.
    pub(in crate::check) fn unknown_arg(&mut self, callee: &Callee, arg: &NamedArg) {
        let names = || callee.params.iter().map(|p| p.name.node.as_str());
        let message = format!("{} takes no `{}`", callee.what, arg.name.node);
        let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, arg.name.span)
            .unknown(&arg.name.node, Home::Takes(callee.declared));
        self.report(match callee.params.is_empty() {
            true => found.help("it takes nothing: take it out"),
            false => found.meant(
                arg.name.span,
                &arg.name.node,
                names().collect::<Vec<_>>(),
                "it takes",
            ),
        });
    }

    /// Values of free names, as an interrupt's `ask` has them.
    pub fn free_args(&mut self, args: &[NamedArg]) {
        for arg in args {
            let found = self.infer_with_effects(&arg.value, None);
            if matches!(found, Type::Optional(_) | Type::TypeValue | Type::Bytes) {
                let message = format!("a value of type {} can't be shown", self.show(&found));
                self.report(Diagnostic::new(
                    &codes::TYPE_MISMATCH,
                    message,
                    arg.value.span,
                ));
            }
        }
    }
}
