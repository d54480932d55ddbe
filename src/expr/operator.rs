//! The types of operators: what comes of a value of each kind, computed by the evaluator itself.
//!
//! There is no second table: what the checker takes is what [`eval`](super::eval) computes.

use std::sync::LazyLock;

use crate::ast::expr::{BinaryOp, UnaryOp};
use crate::value::{Map, Value};

use super::eval::operator::{self as evaluator, Refusal};
use super::ty::Type;

/// A kind of values: its type, and a value of it that no operation overflows with.
struct Kind {
    ty: Type,
    value: Value,
}

/// All kinds that values tell apart.
static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let kind = |ty, value| Kind { ty, value };
    vec![
        kind(Type::Null, Value::Null),
        kind(Type::Bool, Value::Bool(true)),
        kind(Type::Int, Value::Int(1)),
        kind(Type::Uint, Value::Uint(1)),
        kind(Type::Float, Value::Float(1.0)),
        kind(Type::String, Value::text("a")),
        kind(Type::Bytes, Value::Bytes(b"a".as_slice().into())),
        kind(
            Type::Timestamp,
            Value::Timestamp(jiff::Timestamp::UNIX_EPOCH),
        ),
        kind(
            Type::Duration,
            Value::Duration(jiff::SignedDuration::from_secs(1)),
        ),
        kind(Type::list(Type::Json), Value::List(Default::default())),
        kind(Type::map(Type::Json), Value::Map(Map::default())),
        kind(Type::optional(Type::Json), Value::Optional(None)),
        kind(Type::TypeValue, Value::Type("int".into())),
    ]
});

/// The type of `a op b`; `None` where it has no meaning for some values of these types. Of `json` it is enough that it
/// has one for some. Of lists and maps only the kind is given: their elements are `json`.
pub(super) fn binary(op: BinaryOp, a: &Type, b: &Type) -> Option<Type> {
    let compute = evaluator::binary(op);
    if is_open(a) && is_open(b) {
        return Some(match is_arithmetic(op) {
            true => Type::Json,
            false => Type::Bool,
        });
    }
    let rights = members(b);
    let pairs = members(a)
        .iter()
        .flat_map(|a| rights.iter().map(move |b| (a, b)));
    all(pairs, |(a, b)| {
        let computed = kinds(a).flat_map(|x| kinds(b).map(move |y| compute(&x.value, &y.value)));
        any(computed)
    })
}

/// The type of `op of`; `None` as for [`binary`].
pub(super) fn unary(op: UnaryOp, of: &Type) -> Option<Type> {
    let compute = evaluator::unary(op);
    all(members(of).iter(), |of| {
        any(kinds(of).map(|kind| compute(&kind.value)))
    })
}

fn is_arithmetic(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Divide, Modulo, Multiply, Subtract};
    matches!(op, Add | Subtract | Multiply | Divide | Modulo)
}

/// Whether nothing is known of the kind before a run.
fn is_open(ty: &Type) -> bool {
    matches!(ty, Type::Json | Type::Never)
}

/// The types that a value may be of, none of which may be refused.
fn members(ty: &Type) -> &[Type] {
    match ty {
        Type::Union(members) => members,
        one => std::slice::from_ref(one),
    }
}

/// The kinds that a value may be of: all for one of which nothing is known.
fn kinds(ty: &Type) -> impl Iterator<Item = &'static Kind> + Clone {
    let of = match ty {
        Type::Literal(_) | Type::Enum(_) => Type::String,
        Type::List(_) => Type::list(Type::Json),
        Type::Map(_) | Type::Record(_) => Type::map(Type::Json),
        Type::Optional(_) => Type::optional(Type::Json),
        other => other.clone(),
    };
    KINDS
        .iter()
        .filter(move |kind| is_open(&of) || kind.ty == of)
}

/// What comes of some: `json` where that is of several kinds.
fn any(computed: impl Iterator<Item = Result<Value, Refusal>>) -> Option<Type> {
    let types = computed.filter_map(|value| kind_of(&value.ok()?));
    types.reduce(either)
}

/// What comes of all, each of which has to come to something.
fn all<T>(parts: impl Iterator<Item = T>, of: impl Fn(T) -> Option<Type>) -> Option<Type> {
    let types: Option<Vec<Type>> = parts.map(of).collect();
    types?.into_iter().reduce(either)
}

fn either(a: Type, b: Type) -> Type {
    if a == b { a } else { Type::Json }
}

fn kind_of(value: &Value) -> Option<Type> {
    let same = |kind: &&Kind| kind.value.kind() == value.kind();
    KINDS.iter().find(same).map(|kind| kind.ty.clone())
}
