//! Arguments of filters: by position or by name, each in its place.

use std::ops::Range;

use minijinja::machinery::ast::{self, CallArg};

use crate::ast::expr::{Entry, Expr, ExprKind, Literal};
use crate::diag::{Diagnostic, codes};

use super::super::super::function::signature::Pattern;
use super::super::super::function::{FunctionSpec, jinja};
use super::super::super::infer::counted;
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

    /// The parameters of a filter, each with its argument; `None` where that is left out. `at` is the filter's name.
    pub(super) fn slots<'a, 's>(
        &mut self,
        filter: &FunctionSpec,
        args: &'a [CallArg<'s>],
        at: Range<usize>,
    ) -> Option<Vec<(&'static str, Option<&'a ast::Expr<'s>>)>> {
        let is_mark = |name: &&str| matches!(*name, "*" | "..");
        let names = filter.named.iter().copied();
        let positions = names.clone().take_while(|name| !is_mark(name)).count();
        let names = names.filter(|name| !is_mark(name));
        let mut slots: Vec<_> = names.map(|name| (name, None)).collect();
        let (mut count, mut named, mut sound) = (0, false, true);
        for arg in args {
            match arg {
                CallArg::Pos(value) => {
                    if let Some((_, slot)) = slots.get_mut(count) {
                        *slot = Some(value);
                    }
                    count += 1;
                }
                CallArg::Kwarg(name, value) => {
                    named = true;
                    match slots.iter_mut().find(|(known, _)| known == name) {
                        Some((_, slot)) => *slot = Some(value),
                        None => {
                            self.no_parameter(filter, (name, value), at.clone());
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
        let required = required(filter);
        let least = if named { 0 } else { required };
        if !(least..=positions).contains(&count) {
            let takes = counted((required, positions));
            let name = filter.bare_name();
            let message = format!("the filter `{name}` takes {takes}, found {count}");
            self.problem(&codes::WRONG_ARGUMENTS, message, at);
            return None;
        }
        sound.then_some(slots)
    }

    fn no_parameter(
        &mut self,
        filter: &FunctionSpec,
        (name, value): (&str, &ast::Expr),
        at: Range<usize>,
    ) {
        let place = self.keyword(name, range(value.span()).start).unwrap_or(at);
        let place = self.at(place);
        let message = format!(
            "the filter `{}` has no argument `{name}`",
            filter.bare_name()
        );
        let found = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, place);
        let known = filter.named.iter().copied();
        let known: Vec<&str> = known
            .filter(|name| !name.starts_with(['_', '*', '.']))
            .collect();
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

/// How many arguments a filter must have: those that may not be null. `groupby` can't do without its field.
fn required(filter: &FunctionSpec) -> usize {
    let Some(signature) = filter.signatures.first() else {
        return 0;
    };
    let behind = if jinja::has_key(filter.name) { 2 } else { 1 };
    let params = signature.params.iter().skip(behind);
    let given = params.filter(|param| !matches!(param, Pattern::Nullable(_) | Pattern::Union(_)));
    given.count() + usize::from(filter.name == "|groupby")
}
