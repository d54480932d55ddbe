//! What functions and macros hand on of what they are given: elements, keys, some of both, or nothing that carries a text.

use crate::ast::expr::{Expr, ExprKind};
use crate::expr::function::{self, Carries, meant};

use super::bound::kept;
use super::env::Env;
use super::leaf::{Leaf, Path};
use super::made::{EACH, ELEMENT, KEY, Made};
use super::value::made;

/// What a call gives back is made from.
pub fn call(target: Option<&Expr>, function: &str, args: &[Expr], env: &Env) -> Made {
    let space = target.filter(|target| is_name_space(target, env));
    let carries = carries(space, target.is_some(), function);
    if carries == Carries::Nothing {
        return Made::nothing();
    }
    // `math.abs`, `optional.of`, `cel.bind`: what is left of the dot is no value.
    let of = target.filter(|_| space.is_none());
    let of = of.map(|target| made(target, env));
    if carries == Carries::Number {
        let all = of.into_iter().chain(args.iter().map(|arg| made(arg, env)));
        return Made::any(all).plain();
    }
    let inner = Macro { args, env };
    let by_macro = match &of {
        Some(of) => inner.over(of, function),
        None => inner.bind(function),
    };
    by_macro.unwrap_or_else(|| {
        let args: Vec<Made> = args.iter().map(|arg| made(arg, env)).collect();
        plainly(of, (function, carries), args)
    })
}

/// What the table says of a function. A filter of a template that the language has no method for is one with its function.
fn carries(space: Option<&Expr>, method: bool, function: &str) -> Carries {
    let spec = match space.map(|space| &space.kind) {
        Some(ExprKind::Ident(space)) => meant(&format!("{space}.{function}"), false),
        _ => meant(function, method).or_else(|| meant(function, false)),
    };
    spec.map_or(Carries::Mixed, |spec| spec.carries)
}

fn is_name_space(target: &Expr, env: &Env) -> bool {
    match &target.kind {
        ExprKind::Ident(name) => function::is_name_space(name) && env.get(name).is_none(),
        _ => false,
    }
}

/// A function that binds no name.
fn plainly(of: Option<Made>, (function, carries): (&str, Carries), args: Vec<Made>) -> Made {
    let first = of.clone().or_else(|| args.first().cloned());
    let Some(value) = first else {
        return Made::nothing();
    };
    let all = || Made::any(of.iter().chain(&args).cloned());
    match carries {
        Carries::Same => value,
        Carries::Elements => value.loose(),
        Carries::Text => value.whole(),
        Carries::Element => value.part(ELEMENT, None).loose(),
        Carries::Keys => Made::list(value.part(KEY, None).loose()),
        Carries::Values => Made::list(value.part(ELEMENT, None).loose()),
        Carries::Inner if args.is_empty() => {
            Made::list(value.part(ELEMENT, None).part(ELEMENT, None).loose())
        }
        Carries::Own if function == "enumerate" => {
            let element = value.part(ELEMENT, None).loose();
            let named = vec![
                ("index".to_owned(), Made::nothing()),
                ("value".to_owned(), element.clone()),
            ];
            Made::list(Made::map(Made::nothing(), element, named))
        }
        Carries::Either => all(),
        Carries::Message => {
            let plain = ["role", "id"].map(|name| (name.to_owned(), Made::nothing()));
            Made::parts(plain, all().mixed())
        }
        _ => all().mixed(),
    }
}

/// A macro's arguments, and what is in scope of them.
struct Macro<'a> {
    args: &'a [Expr],
    env: &'a Env,
}

impl<'a> Macro<'a> {
    fn name(&self, at: usize) -> Option<&'a str> {
        match &self.args.get(at)?.kind {
            ExprKind::Ident(name) => Some(name),
            _ => None,
        }
    }

    fn scope(&self, names: &[(&str, Made)]) -> Env {
        let mut env = self.env.clone();
        for (name, value) in names {
            env.insert((*name).to_owned(), value.clone());
        }
        env
    }

    /// `cel.bind(x, value, expr)`
    fn bind(&self, function: &str) -> Option<Made> {
        let name = self.name(0).filter(|_| function == "bind")?;
        let value = made(self.args.get(1)?, self.env);
        Some(made(self.args.get(2)?, &self.scope(&[(name, value)])))
    }

    /// A macro that goes over the elements, or the keys, of a value.
    fn over(&self, of: &Made, function: &str) -> Option<Made> {
        let first = self.name(0);
        match function {
            "filter" | "find" => {
                let condition = (self.args.first()?, self.args.get(1)?);
                let (kept, _) = kept(&of.part(EACH, None), condition, self.env)?;
                Some(match function {
                    "find" => kept.loose(),
                    _ => Made::list(kept.loose()),
                })
            }
            "map" => {
                let element = of.part(EACH, None);
                Some(Made::list(match self.args {
                    [name, condition, value] => {
                        let (kept, facts) = kept(&element, (name, condition), self.env)?;
                        let inner = self.scope(&[(first?, kept)]).knowing(&facts);
                        made(value, &inner).vouched(facts).loose()
                    }
                    _ => made(self.args.last()?, &self.scope(&[(first?, element)])).loose(),
                }))
            }
            "optMap" | "optFlatMap" => {
                let inner = self.scope(&[(first?, of.clone())]);
                Some(made(self.args.last()?, &inner))
            }
            "transformList" | "transformMap" => {
                let names = [
                    (first?, of.part(KEY, None)),
                    (self.name(1)?, of.part(ELEMENT, None)),
                ];
                let value = made(self.args.last()?, &self.scope(&names));
                Some(match function {
                    "transformList" => Made::list(value.loose()),
                    _ => Made::map(of.part(KEY, None).loose(), value.loose(), Vec::new()),
                })
            }
            "to_map" | "group_by" => {
                let element = of.part(ELEMENT, None);
                let inner = self.scope(&[(first?, element.clone())]);
                let key = made(self.args.get(1)?, &inner);
                let value = match function {
                    "to_map" => made(self.args.get(2)?, &inner),
                    _ => Made::list(element.loose()),
                };
                Some(Made::map(key.loose(), value.loose(), Vec::new()))
            }
            "fold" => {
                let begin = made(self.args.get(2)?, self.env);
                let next = self.args.get(3)?;
                let so_far = format!("\u{0}{}", next.span.start);
                let names = [
                    (
                        first?,
                        Made::leaf(Leaf::new(Path(vec![so_far.clone()]), next.span)),
                    ),
                    (self.name(1)?, of.part(ELEMENT, None)),
                ];
                let next = made(next, &self.scope(&names));
                Some(Made::folded(begin, next, &so_far).loose())
            }
            _ => None,
        }
    }
}
