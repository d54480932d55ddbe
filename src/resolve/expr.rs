//! Names of types in expressions: the one thing of an expression that depends on its file.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::{Let, NamedArg, Require as Written};
use crate::base::FileId;
use crate::diag::{Diagnostic, codes};
use crate::expr::fold::names_params;

use super::Resolver;
use super::body::Inside;
use super::names::{Definition, Seen, Wanted};
use super::node::Require;
use super::program::Reference;

impl Resolver<'_> {
    /// The expression, where a name of a type that its file does not have is reported and made
    /// [`ExprKind::Error`]. Marks what it uses of the imports.
    pub fn expr(&mut self, file: FileId, expr: &Expr) -> Expr {
        self.params_in(expr);
        let mut copy = expr.clone();
        self.visit(file, &mut copy);
        copy
    }

    /// The same for arguments, payloads and the like; a name that is given twice is reported.
    pub fn named(&mut self, file: FileId, args: &[NamedArg]) -> Vec<NamedArg> {
        let mut seen = Seen::default();
        let args = args.iter().map(|arg| {
            self.once(&mut seen, "value of", &arg.name);
            NamedArg {
                name: arg.name.clone(),
                value: self.expr(file, &arg.value),
            }
        });
        args.collect()
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

    /// Notes which parameters of the graph an expression refers to: all of them where `params` stands alone.
    pub(super) fn params_in(&mut self, expr: &Expr) {
        if self.params.is_empty() {
            return;
        }
        let is_params = |of: &Expr| matches!(&of.kind, ExprKind::Ident(name) if name == "params");
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            let (field, at) = match &expr.kind {
                ExprKind::Select { operand, field, .. } if is_params(operand) => {
                    (Some(field.as_str()), field.span)
                }
                _ if is_params(expr) => (None, expr.span),
                _ => {
                    expr.each_part(|part| open.push(part));
                    continue;
                }
            };
            let params = self.params.iter();
            let meant = params.filter(|param| field.is_none_or(|field| *param.node == *field));
            let found = meant.map(|param| Reference { to: param.span, at });
            self.program.references.extend(found);
        }
    }

    fn visit(&mut self, file: FileId, expr: &mut Expr) {
        let at = expr.span;
        let known = match &mut expr.kind {
            ExprKind::Ident(ident) => match self.name_of_bound_type(ident) {
                Some(bound) => {
                    *ident = bound;
                    true
                }
                None => {
                    let name = Name::new(ident.clone(), at);
                    let damaged = ident == "not" && self.is_cut_off(&name);
                    !damaged && self.type_name(file, &name, false)
                }
            },
            ExprKind::Call {
                target: None,
                function,
                ..
            } => self.function_name(file, function),
            ExprKind::Record { name, .. } => {
                if let Some(bound) = self.name_of_bound_type(&name.node) {
                    name.node = bound;
                }
                self.type_name(file, name, true)
            }
            _ => true,
        };
        expr.each_part_mut(|part| self.visit(file, part));
        if !known {
            expr.kind = ExprKind::Error;
        }
    }

    /// Whether a name may stand: it is no type's name, or its file has that type. Everything that
    /// is no type (loop names, fields) is for the checker.
    fn type_name(&mut self, file: FileId, name: &Name, record: bool) -> bool {
        if let Some(thing) = self.meaning(file, &name.node) {
            // A name in scope may be that of an item too.
            if record || thing == Definition::Broken || Wanted::Type.takes(thing) {
                self.symbol(file, name);
            }
            return thing != Definition::Broken;
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
        let symbol = self.symbol(file, function);
        symbol.is_none_or(|symbol| symbol.thing != Definition::Broken)
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
    pub fn count(&mut self, inside: &Inside, what: &str, value: &Expr) -> Count {
        if let ExprKind::Ident(name) = &value.kind
            && let Some(declared) = self.program.graphs[inside.graph]
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
                by: Some(self.expr(inside.file, value)),
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
