//! Arguments of filters: by position or by name, each in its place.

use std::ops::Range;

use minijinja::machinery::ast::{self, CallArg};

use crate::ast::expr::{Entry, Expr, ExprKind, Literal};
use crate::diag::{Diagnostic, codes};

use super::super::super::function::jinja::Params;
use super::{Lower, range};

impl Lower<'_> {
    /// The values of arguments that have no names; `None` where some has one.
    pub(super) fn plain(&mut self, args: &[CallArg]) -> Option<Vec<Expr>> {
        let values = args.iter().map(|arg| match arg {
            CallArg::Pos(value) => Some(self.expr(value)),
            _ => None,
        });
        values.collect()
    }

    /// `dict(a=1)`: the values by their names.
    pub(super) fn named_values(&mut self, args: &[CallArg], whole: Range<usize>) -> Expr {
        let mut entries = Vec::new();
        for arg in args {
            match arg {
                CallArg::Kwarg(name, value) => entries.push(Entry {
                    key: self.make(
                        ExprKind::Literal(Literal::String((*name).into())),
                        whole.clone(),
                    ),
                    value: self.expr(value),
                    optional: false,
                }),
                // `dict({..})`
                CallArg::Pos(value) if args.len() == 1 => return self.expr(value),
                CallArg::Pos(value) | CallArg::PosSplat(value) | CallArg::KwargSplat(value) => {
                    let message = "a value needs a name here: `namespace(n=0)`".to_owned();
                    self.problem(&codes::WRONG_ARGUMENTS, message, range(value.span()));
                }
            }
        }
        self.make(ExprKind::Map(entries), whole)
    }

    /// The arguments of a filter, one for each of its parameters; `None` of one that is left out. `at` is the filter's name.
    pub(super) fn slots<'a, 's>(
        &mut self,
        filter: &str,
        params: Params,
        args: &'a [CallArg<'s>],
        at: Range<usize>,
    ) -> Option<Vec<Option<&'a ast::Expr<'s>>>> {
        let mut slots: Vec<Option<&ast::Expr>> = vec![None; params.names.len()];
        let (mut count, mut named, mut sound) = (0, false, true);
        for arg in args {
            match arg {
                CallArg::Pos(value) => {
                    if let Some(slot) = slots.get_mut(count) {
                        *slot = Some(value);
                    }
                    count += 1;
                }
                CallArg::Kwarg(name, value) => {
                    named = true;
                    let known = params.names.iter().position(|known| known == name);
                    match known.and_then(|at| slots.get_mut(at)) {
                        Some(slot) => *slot = Some(value),
                        None => {
                            self.no_parameter(filter, params, (name, value), at.clone());
                            sound = false;
                        }
                    }
                }
                CallArg::PosSplat(value) | CallArg::KwargSplat(value) => {
                    let message = "arguments have to be written out".to_owned();
                    self.problem(&codes::BAD_TEMPLATE, message, range(value.span()));
                    return None;
                }
            }
        }
        let bounds = (if named { 0 } else { params.required }, params.positions);
        if !(bounds.0..=bounds.1).contains(&count) {
            let takes = counted((params.required, params.positions));
            let message = format!("the filter `{filter}` takes {takes}, found {count}");
            self.problem(&codes::WRONG_ARGUMENTS, message, at);
            return None;
        }
        sound.then_some(slots)
    }

    fn no_parameter(
        &mut self,
        filter: &str,
        params: Params,
        (name, value): (&str, &ast::Expr),
        at: Range<usize>,
    ) {
        let place = self.keyword(name, range(value.span()).start).unwrap_or(at);
        let place = self.at(place);
        let message = format!("the filter `{filter}` has no argument `{name}`");
        let found = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, place);
        let known = params.names.iter().copied();
        let known: Vec<&str> = known.filter(|name| !name.starts_with('_')).collect();
        self.problems.push(match known.is_empty() {
            true => found.help("none of its arguments has a name"),
            false => found.meant(place, name, known, "it knows"),
        });
    }

    /// The place of the name before a value.
    fn keyword(&self, name: &str, value: usize) -> Option<Range<usize>> {
        let before = self.template.text.get(..value)?;
        let before = before.trim_end_matches(['"', '\'', '(', '[', '{', '-', ' ']);
        let before = before.strip_suffix('=')?.trim_end();
        let at = before.strip_suffix(name)?.len();
        Some(at..at + name.len())
    }
}

/// How many arguments there may be, in words.
pub(super) fn counted((least, most): (usize, usize)) -> String {
    match (least, most) {
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "1 argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (0, 1) => "at most 1 argument".to_owned(),
        (0, most) => format!("at most {most} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    }
}
