//! `"%s of %d".format([..])`: the verbs of a text that is written out against the elements of its list.

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::base::Span;
use crate::diag::{Diagnostic, Level, codes};

use super::super::ty::{Type, TypeTable};
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
        'd' | 'o' => (whole, "a whole number"),
        'f' | 'e' => (number, "a number"),
        'b' => (whole || *ty == Type::Bool, "a whole number or a bool"),
        'x' | 'X' => (whole || text, "a whole number or a text"),
        _ => (true, ""),
    };
    (!takes && !open).then_some(what)
}

/// What is wrong with a text of `format` for its values.
pub(in crate::expr) struct Misformat {
    /// The position of the value that is to blame; none where it is the text.
    pub value: Option<usize>,
    pub message: String,
    pub help: &'static str,
    /// Whether it fails in each run.
    pub fails: bool,
}

/// What is wrong with a text for values of those types, each with its name where it has one.
pub(in crate::expr) fn misformats(
    text: &str,
    values: &[(Option<String>, Type)],
    types: &TypeTable,
) -> Vec<Misformat> {
    let whole = |message, help, fails| {
        vec![Misformat {
            value: None,
            message,
            help,
            fails,
        }]
    };
    let verbs = match verbs(text) {
        Ok(verbs) => verbs,
        Err(message) => return whole(message, VERBS, true),
    };
    if verbs.len() != values.len() {
        let (have, given) = (counted(verbs.len(), "verb"), counted(values.len(), "value"));
        let fails = verbs.len() > values.len();
        let help = match fails {
            true => "give a value for each verb, or write a percent sign as `%%`",
            false => "write a verb for each value, `%s` for instance",
        };
        return whole(format!("`format` has {have} for {given}"), help, fails);
    }
    let pairs = verbs.into_iter().zip(values).enumerate();
    let wrong = pairs.filter_map(|(at, (verb, (name, ty)))| {
        let ty = ty.without_null();
        let what = wants(verb, &ty)?;
        let shown = types.show(&super::widen(ty)).to_string();
        Some(Misformat {
            value: Some(at),
            message: match name {
                Some(name) => format!("`%{verb}` takes {what}, but `{name}` is `{shown}`"),
                None => format!("`%{verb}` takes {what}, found `{shown}`"),
            },
            help: "`%s` takes any value",
            fails: true,
        })
    });
    wrong.collect()
}

const VERBS: &str = "there are `%s` for any value, `%d`, `%f` and `%e` for numbers, `%b`, `%o`, `%x` and `%X`, and `%%` for the sign itself";

impl Misformat {
    /// The message at its place: of the text, or of the value.
    pub(in crate::expr) fn diagnostic(self, text: Span, values: &[Span]) -> Diagnostic {
        let value = self.value.and_then(|at| values.get(at));
        let place = value.copied().unwrap_or(text);
        let found = Diagnostic::new(&codes::WRONG_ARGUMENTS, self.message, place).help(self.help);
        match self.fails {
            true => found,
            false => Diagnostic {
                level: Level::Warning,
                ..found
            },
        }
    }
}

impl Checker<'_> {
    /// Reports a `format` that fails in every run.
    pub(super) fn format(&mut self, target: &Expr, args: &[Expr]) {
        let (ExprKind::Literal(Literal::String(text)), [list]) = (&target.kind, args) else {
            return;
        };
        let ExprKind::List(elements) = &list.kind else {
            return;
        };
        if elements.iter().any(|element| element.optional) {
            return;
        }
        let values = elements.iter().map(|element| &element.value);
        let spans: Vec<Span> = values.clone().map(|value| value.span).collect();
        let values: Vec<_> = values
            .map(|value| (path(value), self.silent(value)))
            .collect();
        for wrong in misformats(text, &values, self.types) {
            let counts = wrong.value.is_none() && wrong.help != VERBS;
            let found = wrong.diagnostic(target.span, &spans);
            self.report(match counts {
                true => found.label(list.span, "the values"),
                false => found,
            });
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
