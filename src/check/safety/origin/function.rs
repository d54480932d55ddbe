//! What functions and macros hand on of what they are given: elements, keys, some of both, or nothing that carries a text.

use crate::ast::expr::{Expr, ExprKind};

use super::leaf::Env;
use super::made::{EACH, ELEMENT, KEY, Made};
use super::value::made;
use super::vouch::vetted;

/// Functions whose result is a truth value, a number or a time.
const PLAIN: [&str; 28] = [
    "size",
    "has",
    "all",
    "exists",
    "exists_one",
    "existsOne",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "int",
    "uint",
    "float",
    "double",
    "bool",
    "timestamp",
    "duration",
    "sum",
    "hasValue",
    "indexOf",
    "lastIndexOf",
    "now",
    "uuid",
    "random",
    "range",
    "stale",
    "type",
    "invalidated_by",
];

/// Functions that give back what they are given, or some of its elements in some order.
const SAME: [&str; 12] = [
    "reverse",
    "sort",
    "sort_by",
    "unique",
    "distinct",
    "slice",
    "value",
    "required",
    "dyn",
    "of",
    "ofNonZeroValue",
    "without",
];

/// What a call gives back is made from.
pub fn call(target: Option<&Expr>, function: &str, args: &[Expr], env: &Env) -> Made {
    if PLAIN.contains(&function) {
        return Made::nothing();
    }
    let of = match target {
        // `math.abs`, `optional.of`, `cel.bind`: no value.
        Some(target) if is_namespace(target, env) => None,
        Some(target) => Some(made(target, env)),
        None => None,
    };
    let inner = Macro { args, env };
    let by_macro = match &of {
        Some(of) => inner.over(of, function),
        None => inner.bind(function),
    };
    by_macro.unwrap_or_else(|| {
        let args: Vec<Made> = args.iter().map(|arg| made(arg, env)).collect();
        plainly(of, function, args)
    })
}

fn is_namespace(target: &Expr, env: &Env) -> bool {
    let names = ["math", "optional", "cel", "base64", "strings", "lists"];
    match &target.kind {
        ExprKind::Ident(name) => names.contains(&name.as_str()) && !env.contains_key(name),
        _ => false,
    }
}

/// A function that binds no name.
fn plainly(of: Option<Made>, function: &str, args: Vec<Made>) -> Made {
    let first = of.clone().or_else(|| args.first().cloned());
    let Some(value) = first else {
        return Made::nothing();
    };
    let all = || Made::any(of.iter().chain(&args).cloned());
    match function {
        name if SAME.contains(&name) => value,
        "first" | "last" | "min" | "max" => value.part(ELEMENT, None),
        "keys" => Made::list(value.part(KEY, None)),
        "values" => Made::list(value.part(ELEMENT, None)),
        "flatten" if args.is_empty() => Made::list(value.part(ELEMENT, None).part(ELEMENT, None)),
        "enumerate" => {
            let element = value.part(ELEMENT, None);
            let named = vec![
                ("index".to_owned(), Made::nothing()),
                ("value".to_owned(), element.clone()),
            ];
            Made::list(Made::map(Made::nothing(), element, named))
        }
        "or" | "orValue" | "merge" | "with" => all(),
        "user" | "ai" | "system" => {
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
                let inner = self.scope(&[(first?, of.part(EACH, None))]);
                let told = vetted(self.args.get(1)?, true, &inner);
                let kept = of.part(EACH, None).vouched(told);
                Some(match function {
                    "find" => kept,
                    _ => Made::list(kept),
                })
            }
            "map" => {
                let inner = self.scope(&[(first?, of.part(EACH, None))]);
                let value = made(self.args.last()?, &inner);
                Some(Made::list(match self.args {
                    [_, condition, _] => value.vouched(vetted(condition, true, &inner)),
                    _ => value,
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
                    "transformList" => Made::list(value),
                    _ => Made::map(of.part(KEY, None), value, Vec::new()),
                })
            }
            "to_map" | "group_by" => {
                let element = of.part(ELEMENT, None);
                let inner = self.scope(&[(first?, element.clone())]);
                let key = made(self.args.get(1)?, &inner);
                let value = match function {
                    "to_map" => made(self.args.get(2)?, &inner),
                    _ => Made::list(element),
                };
                Some(Made::map(key, value, Vec::new()))
            }
            "fold" => {
                let begin = made(self.args.get(2)?, self.env);
                let names = [
                    (first?, begin.clone()),
                    (self.name(1)?, of.part(ELEMENT, None)),
                ];
                let next = made(self.args.get(3)?, &self.scope(&names));
                Some(Made::any([begin, next]))
            }
            _ => None,
        }
    }
}
