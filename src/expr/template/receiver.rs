//! What filters and methods take: the kinds of values that they are applied to, and of their arguments.

use minijinja::machinery::ast;

use crate::base::Span;
use crate::diag::{Diagnostic, Level, codes};

use super::super::ty::Type;
use super::check::Check;

/// Kinds of values that filters tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Whole,
    Number,
    Bool,
    List,
    Map,
}

/// What a filter may be applied to.
struct Takes {
    kinds: &'static [Kind],
    shown: &'static str,
}

impl Kind {
    /// The kind of a type's values; `None` where it is not known, or they are of several.
    pub(super) fn of(ty: &Type) -> Option<Kind> {
        Some(match ty {
            Type::String | Type::Literal(_) | Type::Enum(_) => Kind::Text,
            Type::Timestamp | Type::Duration => Kind::Text,
            Type::Int | Type::Uint => Kind::Whole,
            Type::Float => Kind::Number,
            Type::Bool => Kind::Bool,
            Type::List(_) => Kind::List,
            Type::Map(_) | Type::Record(_) => Kind::Map,
            Type::Nullable(of) | Type::Optional(of) => return Kind::of(of),
            Type::Union(members) => {
                let mut kinds = members.iter().map(Kind::of);
                let first = kinds.next()??;
                return kinds.all(|kind| kind == Some(first)).then_some(first);
            }
            _ => return None,
        })
    }
}

/// What each filter takes; `None` of one that takes all, or shows any value as a text.
fn takes(filter: &str, of: &Type) -> Option<Takes> {
    use Kind::{Bool, List, Map, Number, Text, Whole};
    let (kinds, shown): (&'static [Kind], _) = match filter {
        "abs" | "round" => (&[Whole, Number], "a number"),
        // A time is shown as a text that is no number.
        "int" | "float" if matches!(of.without_null(), Type::Timestamp | Type::Duration) => {
            (&[], "a number or a text")
        }
        "int" | "float" => (&[Whole, Number, Bool, Text], "a number or a text"),
        "first" | "length" | "count" => (&[Text, List, Map], "a list, a map or a text"),
        "last" | "reverse" => (&[Text, List], "a list or a text"),
        "items" | "dictsort" => (&[Map], "a map"),
        "attr" => (&[Map], "a record or a map"),
        "sum" => (&[List], "a list"),
        "list" => (&[Text, List, Map], "a list"),
        "join" | "sort" | "unique" | "min" | "max" | "batch" | "slice" | "select" | "reject"
        | "selectattr" | "rejectattr" | "map" | "groupby" | "zip" | "chain" => {
            (&[List, Map], "a list")
        }
        "upper" | "lower" | "title" | "capitalize" | "trim" | "replace" | "indent" => {
            (&[Text, Whole, Number, Bool], "a text")
        }
        "split" | "lines" | "format" => (&[Text], "a text"),
        _ => return None,
    };
    Some(Takes { kinds, shown })
}

/// The kinds of a filter's arguments that it is particular about: by position, or by name.
fn argument(filter: &str, at: Result<usize, &str>) -> Option<(Kind, &'static str)> {
    const WHOLE: (Kind, &str) = (Kind::Whole, "a whole number");
    Some(match (filter, at) {
        ("indent" | "batch" | "slice" | "round", Ok(0)) => WHOLE,
        ("int" | "split", Ok(1)) => WHOLE,
        ("indent", Err("width")) | ("round", Err("precision")) | ("int", Err("base")) => WHOLE,
        _ => return None,
    })
}

impl Check<'_> {
    /// Reports what a filter is applied to where it does not take it. Whether it does.
    pub(super) fn receives(
        &mut self,
        filter: &str,
        (of, ty): (&ast::Expr, &Type),
        at: Span,
    ) -> bool {
        let (Some(takes), Some(kind)) = (takes(filter, ty), Kind::of(ty)) else {
            return true;
        };
        if takes.kinds.contains(&kind) {
            return true;
        }
        let found = self.named(of, ty);
        // Texts can be gone through like lists: sign by sign, which is hardly ever meant.
        let signs = kind == Kind::Text
            && [Kind::List, Kind::Map]
                .iter()
                .all(|kind| takes.kinds.contains(kind));
        // That a sign has no fields, and no filter gathers them, is said of the argument.
        if signs && matches!(filter, "map" | "groupby" | "selectattr" | "rejectattr") {
            return true;
        }
        let mut wrong = match signs {
            true => {
                let message = format!("the filter `{filter}` goes through {found} sign by sign");
                Diagnostic::new(&codes::TYPE_MISMATCH, message, at)
                    .help("it takes a list; split the text, or take the filter out")
            }
            false => {
                let message = format!("the filter `{filter}` takes {}, found {found}", takes.shown);
                let texts = kind == Kind::List && takes.kinds.contains(&Kind::Text);
                let each = format!("of each element: `x | map(\"{filter}\")`");
                Diagnostic::new(&codes::TYPE_MISMATCH, message, at)
                    .maybe_help(texts.then_some(each))
            }
        };
        if signs {
            wrong.level = Level::Warning;
        }
        self.report(wrong);
        signs
    }

    /// Reports arguments of a filter that it doesn't take.
    pub(super) fn argument_kinds(&mut self, applied: &ast::Filter) {
        let mut position = 0;
        for arg in &applied.args {
            let (at, value) = match arg {
                ast::CallArg::Pos(value) => {
                    position += 1;
                    (Ok(position - 1), value)
                }
                ast::CallArg::Kwarg(name, value) => (Err(*name), value),
                _ => return,
            };
            let Some((wanted, shown)) = argument(applied.name, at) else {
                continue;
            };
            let ty = self.silent(value);
            if Kind::of(&ty).is_none_or(|kind| kind == wanted) {
                continue;
            }
            let found = self.named(value, &ty);
            let message = format!(
                "the filter `{}` takes {shown} here, found {found}",
                applied.name
            );
            let span = self.span(value.span());
            self.error(&codes::WRONG_ARGUMENTS, message, span);
        }
    }

    /// Reports arguments of a method of Jinja's that it doesn't take. Whether it takes them.
    pub(super) fn method_takes(
        &mut self,
        name: &str,
        (least, most): (usize, usize),
        wanted: Option<(Kind, &str)>,
        (args, at): (&[ast::CallArg], Span),
    ) -> bool {
        let mut count = 0;
        for arg in args {
            match arg {
                ast::CallArg::Pos(_) => count += 1,
                ast::CallArg::Kwarg(..) => {
                    let message = format!("arguments of `{name}` have no names");
                    self.error(&codes::WRONG_ARGUMENTS, message, at);
                    return false;
                }
                _ => return true,
            }
        }
        if !(least..=most).contains(&count) {
            let takes = super::argument::counted((least, most));
            let message = format!("`{name}` takes {takes}, found {count}");
            self.error(&codes::WRONG_ARGUMENTS, message, at);
            return false;
        }
        let Some((kind, shown)) = wanted else {
            return true;
        };
        for arg in args {
            let ast::CallArg::Pos(value) = arg else {
                continue;
            };
            let ty = self.silent(value);
            if Kind::of(&ty).is_some_and(|found| found != kind) {
                let found = self.named(value, &ty);
                let message = format!("`{name}` takes {shown} here, found {found}");
                let span = self.span(value.span());
                self.error(&codes::WRONG_ARGUMENTS, message, span);
                return false;
            }
        }
        true
    }
}
