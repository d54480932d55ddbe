//! The checker and the evaluator agree, for every operator, function and macro, with operands of every kind: what the checker takes the
//! evaluator computes, to a value of the type that the checker says; and what the evaluator refuses for the kind of its operands,
//! whatever their values, the checker refuses.

use crate::declared::declared;
use crate::evaluate::Bound;
use graphc::ast::expr::BinaryOp;
use graphc::base::FileId;
use graphc::diag::{Diagnostics, Level};
use graphc::expr::eval::{ErrorKind, EvalError, compile};
use graphc::expr::function::signature::Pattern;
use graphc::expr::function::{FunctionSpec, forms, functions};
use graphc::expr::infer::infer;
use graphc::expr::ty::RecordField;
use graphc::expr::{Scope, Type, TypeTable};
use graphc::value::{Map, Value};

/// A type and some of its values.
struct Kind {
    ty: Type,
    values: Vec<Value>,
}

/// Kinds of values in three places each: `a3` is an operand of the third kind, in the first place.
struct World {
    kinds: Vec<Kind>,
    scope: Scope,
    types: TypeTable,
}

const PLACES: [char; 4] = ['a', 'b', 'c', 'd'];

impl World {
    fn new() -> World {
        let types = declared("type Doc { id: string, n: int }\nenum Level { low, high }").types;
        let doc = types.record_named("Doc").unwrap();
        let level = types.enum_named("Level").unwrap();
        let text = |text: &str| Value::from(text);
        let list = |items: Vec<Value>| Value::List(items.into_iter().collect());
        let map = |entries: &[(&str, Value)]| Value::Map(Map::from_iter(entries.iter().cloned()));
        let plain = vec![
            (Type::Null, vec![Value::Null]),
            (Type::Bool, vec![Value::Bool(true), Value::Bool(false)]),
            (Type::Int, vec![Value::Int(1), Value::Int(2)]),
            (Type::Uint, vec![Value::Uint(1)]),
            (Type::Float, vec![Value::Float(1.5)]),
            (
                Type::String,
                [
                    "abc",
                    "1",
                    "2026-01-02T03:04:05Z",
                    "90s",
                    "true",
                    "{}",
                    "%d",
                    "https://a.b/c",
                    "YWJj",
                ]
                .map(text)
                .to_vec(),
            ),
            (Type::Enum(level), vec![text("low")]),
            (Type::Bytes, vec![Value::Bytes(b"ab".as_slice().into())]),
            (
                Type::Timestamp,
                vec![Value::Timestamp(jiff::Timestamp::UNIX_EPOCH)],
            ),
            (
                Type::Duration,
                vec![Value::Duration(jiff::SignedDuration::from_secs(90))],
            ),
            (Type::TypeValue, vec![Value::Type("int".into())]),
            (
                Type::list(Type::Int),
                vec![list(vec![Value::Int(1), Value::Int(2)]), list(vec![])],
            ),
            (
                Type::list(Type::String),
                vec![list(vec![text("x"), text("y")]), list(vec![])],
            ),
            (
                Type::list(Type::list(Type::Int)),
                vec![list(vec![list(vec![Value::Int(1)])])],
            ),
            (Type::list(Type::Bool), vec![list(vec![])]),
            (Type::map(Type::Int), vec![map(&[("k", Value::Int(1))])]),
            (
                Type::Record(doc),
                vec![map(&[("id", text("d")), ("n", Value::Int(1))])],
            ),
            (
                Type::optional(Type::Int),
                vec![
                    Value::Optional(None),
                    Value::Optional(Some(std::sync::Arc::new(Value::Int(1)))),
                ],
            ),
            (Type::nullable(Type::Int), vec![Value::Null, Value::Int(1)]),
            (
                Type::list(Type::Float),
                vec![list(vec![Value::Float(1.5)]), list(vec![])],
            ),
            (Type::list(Type::Duration), vec![list(vec![])]),
        ];
        let json: Vec<Value> = plain.iter().map(|(_, values)| values[0].clone()).collect();
        let kinds = plain.into_iter().chain([(Type::Json, json)]);
        let kinds: Vec<Kind> = kinds.map(|(ty, values)| Kind { ty, values }).collect();
        let mut scope = Scope {
            effects: true,
            functions: vec!["unified_diff".to_owned()].into(),
            ..Scope::default()
        };
        for place in PLACES {
            for (at, kind) in kinds.iter().enumerate() {
                scope.declare(format!("{place}{at}"), kind.ty.clone());
            }
        }
        World {
            kinds,
            scope,
            types,
        }
    }

    /// All ways to choose a kind for each of so many places.
    fn choices(&self, places: usize) -> Vec<Vec<usize>> {
        let mut all = vec![vec![]];
        for place in 0..places {
            // Of a fourth place a few kinds are enough: texts, numbers and lists.
            let some: Vec<usize> = match place {
                3 => vec![2, 5, 11],
                _ => (0..self.kinds.len()).collect(),
            };
            let longer = |known: &Vec<usize>| {
                let known = known.clone();
                some.iter()
                    .map(move |kind| [known.clone(), vec![*kind]].concat())
                    .collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// What is wrong with an expression of names of those kinds; `None` where the two agree.
    fn disagreement(&self, text: &str, chosen: &[usize]) -> Option<String> {
        let mut diags = Diagnostics::new();
        let expr = graphc::parse::expression(text, FileId(0), &mut diags).unwrap();
        let ty = infer(&expr, &self.scope, &self.types, None, &mut diags);
        let refused = diags.iter().any(|found| found.level == Level::Error);
        let shown = || {
            let kinds = chosen
                .iter()
                .map(|kind| self.types.show(&self.kinds[*kind].ty).to_string());
            format!("{text} of {}", kinds.collect::<Vec<_>>().join(", "))
        };
        let program = match compile(&expr, &self.scope, &self.types) {
            Ok(program) => program,
            Err(_) if refused => return None,
            Err(error) => return Some(format!("{}: taken, but {error}", shown())),
        };
        let open = chosen.iter().any(|kind| self.kinds[*kind].ty == Type::Json);
        let (mut wrong, mut all) = (Vec::new(), 0);
        for env in self.values(chosen) {
            all += 1;
            match program.eval(&env) {
                Ok(value) if refused || self.fits(&value, &ty) => {}
                Ok(value) => {
                    let ty = self.types.show(&ty);
                    return Some(format!("{}: `{ty}`, but gives {value:?}", shown()));
                }
                Err(error) if is_of_kinds(&error) => wrong.push(error.message),
                Err(_) => {}
            }
        }
        let always = wrong.len() == all;
        match (refused, wrong.first()) {
            (false, Some(why)) if always || !open => Some(format!("{}: taken, but {why}", shown())),
            _ => None,
        }
    }

    /// All values of names of those kinds.
    fn values(&self, chosen: &[usize]) -> Vec<Bound> {
        let count = self.kinds.len();
        let mut all = vec![vec![Value::Null; count * PLACES.len()]];
        for (place, kind) in chosen.iter().enumerate() {
            let values = &self.kinds[*kind].values;
            // Of calls with many arguments a few values each are enough.
            let most = if chosen.len() > 2 { 2 } else { usize::MAX };
            let mut longer = Vec::new();
            for known in &all {
                let most = if self.kinds[*kind].ty == Type::Json {
                    usize::MAX
                } else {
                    most
                };
                for value in values.iter().take(most) {
                    let mut known = known.clone();
                    known[place * count + kind] = value.clone();
                    longer.push(known);
                }
            }
            all = longer;
        }
        all.into_iter().map(Bound).collect()
    }

    /// Whether a value is one of a type.
    fn fits(&self, value: &Value, ty: &Type) -> bool {
        match (ty, value) {
            (Type::Json | Type::Error, _) => true,
            (Type::Never, _) => false,
            (Type::Null, value) => *value == Value::Null,
            (Type::Nullable(of), value) => *value == Value::Null || self.fits(value, of),
            (Type::Union(members), value) => members.iter().any(|of| self.fits(value, of)),
            (Type::Optional(of), Value::Optional(value)) => {
                value.as_ref().is_none_or(|value| self.fits(value, of))
            }
            (Type::List(of), Value::List(items)) => items.iter().all(|item| self.fits(item, of)),
            (Type::Map(of), Value::Map(map)) => map.values().all(|value| self.fits(value, of)),
            (Type::Record(id), Value::Map(map)) => {
                let record = self.types.records.get(*id).unwrap();
                let has = |field: &RecordField| {
                    let value = map.get(&field.name);
                    value.is_some_and(|value| self.fits(value, &field.ty))
                };
                record.fields.iter().all(has)
            }
            (Type::Literal(_) | Type::Enum(_), Value::String(_)) => true,
            (Type::TypeValue, Value::Type(_)) => true,
            (ty, value) => self.types.show(ty).to_string() == value.kind(),
        }
    }
}

/// Whether an error is about the kind of an operand, not about its value.
fn is_of_kinds(error: &EvalError) -> bool {
    let of_function = || error.message.contains("expected, found `");
    error.kind == ErrorKind::WrongKind || (error.kind == ErrorKind::Function && of_function())
}

fn assert_none(seen: usize, least: usize, wrong: &[String]) {
    assert!(seen >= least, "only {seen} were tried");
    let shown: Vec<&str> = wrong.iter().take(60).map(String::as_str).collect();
    let shown = shown.join("\n");
    assert!(wrong.is_empty(), "{} of {seen}:\n{shown}", wrong.len());
}

#[test]
fn operators() {
    let world = World::new();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for chosen in world.choices(2) {
        let [left, right] = chosen[..] else { continue };
        let binary = BinaryOp::ALL.map(|op| format!("a{left} {} b{right}", op.sign()));
        let logical = ["&&", "||"].map(|sign| format!("a{left} {sign} b{right}"));
        let others = [
            format!("a{left}[b{right}]"),
            format!("a{left}[?b{right}]"),
            format!("a{left} ? b{right} : b{right}"),
            format!("true ? a{left} : b{right}"),
            format!("[a{left}, b{right}]"),
        ];
        for text in binary.into_iter().chain(logical).chain(others) {
            seen += 1;
            wrong.extend(world.disagreement(&text, &chosen));
        }
    }
    for chosen in world.choices(1) {
        for sign in ["!", "-"] {
            let text = format!("{sign}a{}", chosen[0]);
            wrong.extend(world.disagreement(&text, &chosen));
        }
    }
    assert_none(seen, 6_000, &wrong);
}

/// A call with an operand of each kind that was chosen.
fn call(function: &FunctionSpec, operands: &[String]) -> String {
    match (function.is_method(), operands) {
        (true, [receiver, rest @ ..]) => {
            format!("{receiver}.{}({})", function.name, rest.join(", "))
        }
        _ => format!("{}({})", function.name, operands.join(", ")),
    }
}

fn operands(chosen: &[usize]) -> Vec<String> {
    let named = chosen.iter().zip(PLACES);
    named
        .map(|(kind, place)| format!("{place}{kind}"))
        .collect()
}

#[test]
fn functions_and_methods() {
    let world = World::new();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for function in functions() {
        let mut counts: Vec<usize> = function.arities().collect();
        counts.sort_unstable();
        counts.dedup();
        for count in counts {
            for chosen in world.choices(count) {
                seen += 1;
                let text = call(function, &operands(&chosen));
                wrong.extend(world.disagreement(&text, &chosen));
            }
        }
    }
    assert_none(seen, 10_000, &wrong);
}

/// A macro's arguments are names of each kind, whatever it binds.
#[test]
fn macros() {
    let world = World::new();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for form in forms().iter().filter(|form| form.shape().is_some()) {
        let signature = &form.signatures[0];
        for chosen in world.choices(signature.params.len()) {
            seen += 1;
            let operands = operands(&chosen);
            let names = ["x", "y"].map(str::to_owned);
            let names = names.into_iter().take(form.shape().unwrap().names);
            let receiver = usize::from(form.is_method());
            let args: Vec<String> = names.chain(operands[receiver..].iter().cloned()).collect();
            let of = match form.is_method() {
                true => operands[0].clone(),
                false => "cel".to_owned(),
            };
            let text = format!("{of}.{}({})", form.name, args.join(", "));
            wrong.extend(world.disagreement(&text, &chosen));
        }
        assert!(
            signature
                .params
                .iter()
                .any(|param| matches!(param, Pattern::Lambda(..))),
            "{}",
            form.name
        );
    }
    assert_none(seen, 5_000, &wrong);
}
