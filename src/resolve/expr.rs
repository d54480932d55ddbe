//! Names of types in expressions: the one thing of an expression that depends on its file.

use std::collections::BTreeMap;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::{Let, NamedArg, Require as Written};
use crate::base::FileId;
use crate::diag::{Diagnostic, codes};
use crate::expr::fold::names_params;

use super::Resolver;
use super::names::{Thing, Wanted};
use super::node::Require;

impl Resolver<'_> {
    /// The expression, where a name of a type that its file does not have is reported and made
    /// [`ExprKind::Error`]. Marks what it uses of the imports.
    pub fn expr(&mut self, file: FileId, expr: &Expr) -> Expr {
        let mut copy = expr.clone();
        self.visit(file, &mut copy);
        copy
    }

    /// The same for arguments, payloads and the like; a name that is given twice is reported.
    pub fn named(&mut self, file: FileId, args: &[NamedArg]) -> Vec<NamedArg> {
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for arg in args {
            match seen.get(arg.name.as_str()) {
                Some(first) => self.twice("value of", first, &arg.name),
                None => {
                    seen.insert(&arg.name, &arg.name);
                }
            }
        }
        args.iter()
            .map(|arg| NamedArg {
                name: arg.name.clone(),
                value: self.expr(file, &arg.value),
            })
            .collect()
    }

    /// The same for a `let`.
    pub fn bound(&mut self, file: FileId, bound: &Let) -> Let {
        Let {
            name: bound.name.clone(),
            value: self.expr(file, &bound.value),
        }
    }

    /// The same for a `require`.
    pub fn require(&mut self, file: FileId, require: &Written) -> Require {
        Require {
            condition: self.expr(file, &require.condition),
            message: require.message.as_ref().map(|e| self.expr(file, e)),
            after_lets: 0,
            span: require.span,
        }
    }

    fn visit(&mut self, file: FileId, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Literal(_) | ExprKind::Error => {}
            ExprKind::Ident(ident) => {
                if let Some(bound) = self.name_of_bound_type(ident) {
                    *ident = bound;
                    return;
                }
                let name = Name::new(ident.clone(), expr.span);
                let torn = ident == "not" && self.is_torn(&name);
                if torn || !self.type_name(file, &name, false) {
                    expr.kind = ExprKind::Error;
                }
            }
            ExprKind::Select { operand, .. } => self.visit(file, operand),
            ExprKind::Index { operand, index, .. } => {
                self.visit(file, operand);
                self.visit(file, index);
            }
            ExprKind::Call {
                target,
                function,
                args,
            } => {
                let known = match target {
                    Some(target) => {
                        self.visit(file, target);
                        true
                    }
                    None => self.function_name(file, function),
                };
                args.iter_mut().for_each(|arg| self.visit(file, arg));
                if !known {
                    expr.kind = ExprKind::Error;
                }
            }
            ExprKind::Unary(_, of) => self.visit(file, of),
            ExprKind::Binary(_, left, right) => {
                self.visit(file, left);
                self.visit(file, right);
            }
            ExprKind::Logical(_, operands) => {
                operands.iter_mut().for_each(|e| self.visit(file, e));
            }
            ExprKind::Conditional(condition, then, other) => {
                self.visit(file, condition);
                self.visit(file, then);
                self.visit(file, other);
            }
            ExprKind::List(elements) => {
                elements
                    .iter_mut()
                    .for_each(|e| self.visit(file, &mut e.value));
            }
            ExprKind::Map(entries) => {
                for entry in entries {
                    self.visit(file, &mut entry.key);
                    self.visit(file, &mut entry.value);
                }
            }
            ExprKind::Record { name, fields } => {
                if let Some(bound) = self.name_of_bound_type(&name.node) {
                    name.node = bound;
                }
                let known = self.type_name(file, name, true);
                fields
                    .iter_mut()
                    .for_each(|f| self.visit(file, &mut f.value));
                if !known {
                    expr.kind = ExprKind::Error;
                }
            }
        }
    }

    /// Whether a name may stand: it is no type's name, or its file has that type. Everything that
    /// is no type (loop names, fields) is for the checker.
    fn type_name(&mut self, file: FileId, name: &Name, record: bool) -> bool {
        let names = self.names.get_mut(file.0 as usize);
        match names.and_then(|names| names.get_mut(&name.node)) {
            Some(entry) if entry.thing == Thing::Broken => {
                entry.used = true;
                return false;
            }
            Some(entry) => {
                entry.used = true;
                return true;
            }
            None => {}
        }
        if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return true;
        }
        let types = &self.program.types;
        let elsewhere =
            types.record_named(&name.node).is_some() || types.enum_named(&name.node).is_some();
        if !(elsewhere || record) {
            return true;
        }
        // Reports it, with the import that is missing where there is one.
        self.find(file, name, Wanted::Type);
        false
    }

    /// Whether a function may stand: its import, where it has one, is not broken.
    fn function_name(&mut self, file: FileId, function: &Name) -> bool {
        let names = self.names.get_mut(file.0 as usize);
        match names.and_then(|names| names.get_mut(&function.node)) {
            Some(entry) => {
                entry.used = true;
                entry.thing != Thing::Broken
            }
            None => true,
        }
    }

    /// A whole number from `least` up that is written out; reported otherwise.
    pub fn whole_number(&mut self, what: &str, value: &Expr, least: u32) -> Option<u32> {
        use crate::ast::expr::Literal;
        let number = match &value.kind {
            ExprKind::Literal(Literal::Int(number)) => Some(*number),
            ExprKind::Error => return None,
            _ => None,
        };
        let fits = number.and_then(|number| u32::try_from(number).ok());
        if let Some(number) = fits.filter(|number| *number >= least) {
            return Some(number);
        }
        let message = match number {
            Some(number) => format!("{what} is {number}, expected at least {least}"),
            None => {
                let text = self.sources.text(value.span);
                format!("{what} is `{text}`, expected a whole number, written out")
            }
        };
        self.diags
            .push(Diagnostic::new(&codes::BAD_VALUE, message, value.span));
        None
    }

    /// A whole number from 1 up that is written out or depends on the graph's parameters; reported otherwise.
    pub fn count(
        &mut self,
        (file, graph): (FileId, crate::ir::GraphId),
        what: &str,
        value: &Expr,
    ) -> Count {
        if let ExprKind::Ident(name) = &value.kind
            && let Some(declared) = self.program.graphs[graph]
                .params
                .iter()
                .find(|param| param.name.node == *name)
                .map(|param| param.name.span)
        {
            let message = format!("{what} is `{name}`, a parameter of the graph");
            self.diags.push(
                Diagnostic::new(&codes::BAD_VALUE, message, value.span)
                    .label(declared, "declared here")
                    .help(format!("write `params.{name}`"))
                    .fix(value.span, format!("params.{name}")),
            );
            return Count::default();
        }
        match names_params(value) {
            true => Count {
                number: None,
                by: Some(self.expr(file, value)),
            },
            false => Count {
                number: self.whole_number(what, value, 1),
                by: None,
            },
        }
    }

    /// Reports a word that is none of `words`.
    pub fn bad_word(&mut self, what: &str, written: &Name, words: &[&str]) {
        let message = format!("unknown {what} `{}`", written.node);
        let found = Diagnostic::new(&codes::BAD_VALUE, message, written.span);
        let words = words.iter().copied();
        self.diags
            .push(found.meant(written.span, &written.node, words, "expected one of"));
    }
}

/// A whole number of a property.
#[derive(Default)]
pub(super) struct Count {
    /// Written out.
    pub number: Option<u32>,
    /// Computed from the parameters of the graph.
    pub by: Option<Expr>,
}
