//! `"%s of %d".format([..])`: the verbs of a text that is written out against the elements of its list.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::diag::{Diagnostic, codes};

use super::super::ty::Type;
use super::checker::Checker;
use super::path::path;

/// Verbs of the text, each with its letter; an error where one has none.
fn verbs(text: &str) -> Result<Vec<char>, String> {
    let mut verbs = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        if chars.next_if_eq(&'.').is_some() {
            while chars.next_if(char::is_ascii_digit).is_some() {}
        }
        match chars.next() {
            Some('%') => {}
            Some(verb @ ('s' | 'd' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X')) => verbs.push(verb),
            Some(other) => return Err(format!("`%{other}` is no verb of `format`")),
            None => return Err("the text ends after `%`".to_owned()),
        }
    }
    Ok(verbs)
}

/// What a verb takes, in words; `None` where it takes the type.
fn wants(verb: char, ty: &Type) -> Option<&'static str> {
    let number = matches!(ty, Type::Int | Type::Uint | Type::Float);
    let whole = matches!(ty, Type::Int | Type::Uint);
    let text = matches!(
        ty,
        Type::String | Type::Literal(_) | Type::Enum(_) | Type::Bytes
    );
    let open = match ty {
        Type::Json | Type::Error | Type::Never | Type::Optional(_) => true,
        Type::Union(members) => members.iter().any(|member| wants(verb, member).is_none()),
        _ => false,
    };
    let (takes, what) = match verb {
        'd' => (whole || *ty == Type::Float, "a whole number"),
        'f' | 'e' => (number, "a number"),
        'b' => (whole || *ty == Type::Bool, "a whole number or a bool"),
        'o' => (whole, "a whole number"),
        'x' | 'X' => (whole || text, "a whole number or a text"),
        _ => (true, ""),
    };
    (!takes && !open).then_some(what)
}

impl Checker<'_> {
    /// Reports a `format` that fails in every run.
    pub(super) fn format(&mut self, target: &Expr, name: &Name, args: &[Expr]) {
        let (ExprKind::Literal(Literal::String(text)), [list]) = (&target.kind, args) else {
            return;
        };
        let ExprKind::List(elements) = &list.kind else {
            return;
        };
        let verbs = match verbs(text) {
            Ok(verbs) => verbs,
            Err(message) => {
                let found = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, target.span);
                self.report(found.help(
                    "there are `%s` for any value, `%d`, `%f` and `%e` for numbers, `%b`, `%o`, `%x` and `%X`, and `%%` for the sign itself",
                ));
                return;
            }
        };
        if elements.iter().any(|element| element.optional) {
            return;
        }
        if verbs.len() != elements.len() {
            let message = format!(
                "`{}` has {} for {}",
                name.node,
                counted(verbs.len(), "verb"),
                counted(elements.len(), "value"),
            );
            let fails = verbs.len() > elements.len();
            let help = match fails {
                true => "give a value for each verb, or write a percent sign as `%%`",
                false => "write a verb for each value, `%s` for instance",
            };
            let mut found = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, target.span)
                .label(list.span, "the values")
                .help(help);
            if !fails {
                found.level = crate::diag::Level::Warning;
            }
            self.report(found);
            return;
        }
        for (verb, element) in verbs.into_iter().zip(elements) {
            let ty = self.silent(&element.value).without_null();
            if let Some(what) = wants(verb, &ty) {
                let shown = self.show(&super::widen(ty));
                let message = match path(&element.value) {
                    Some(path) => format!("`%{verb}` takes {what}, but `{path}` is {shown}"),
                    None => format!("`%{verb}` takes {what}, found {shown}"),
                };
                let found = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, element.value.span);
                self.report(found.help("`%s` takes any value"));
            }
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
