//! Names, fields and elements. What is not there has no value: an error, unless `is defined`, `default` or a condition asks
//! for it.

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::ast::template::shown_place;
use crate::base::Span;
use crate::expr::function::message;
use crate::value::{Key, Map, Str, Value};

use super::super::compiler::Compiler;
use super::super::machine::{Node, node};
use super::super::{CompileError, ErrorKind, EvalError};

pub(super) fn compile(compiler: &mut Compiler<'_>, expr: &Expr) -> Result<Node, CompileError> {
    let span = expr.span;
    match &expr.kind {
        ExprKind::Ident(name) => Ok(named(compiler, name, usize::MAX, span)),
        ExprKind::Select { operand, field, .. } => {
            if is_state(compiler, operand) {
                return Ok(of_state(compiler, field, span));
            }
            let place = written(expr);
            let (operand, field) = (compiler.node(operand)?, Str::from(field.as_str()));
            node(move |machine| match operand.eval(machine)? {
                Value::Map(map) => message::field(&map, &field).ok_or_else(|| absent(&place, span)),
                _ => Err(absent(&place, span)),
            })
        }
        ExprKind::Index { operand, index, .. } => {
            if let (true, ExprKind::Literal(Literal::String(name))) =
                (is_state(compiler, operand), &index.kind)
            {
                return Ok(of_state(compiler, name, span));
            }
            let place = written(expr);
            let (operand, index) = (compiler.node(operand)?, compiler.node(index)?);
            node(move |machine| {
                let operand = operand.eval(machine)?;
                let index = index.eval(machine)?;
                element(&operand, &index).ok_or_else(|| no_element(&place, span))
            })
        }
        _ => Err(super::error(span, "expected a place")),
    }
}

/// What a name stands for. One that the template sets is, as long as nothing has set it, what it was before: null where it was
/// nothing.
fn named(compiler: &Compiler<'_>, name: &str, below: usize, span: Span) -> Node {
    if let Some(local) = compiler.local_below(name, below) {
        let nothing = compiler.local_below(name, local.0).is_none()
            && compiler.scope.slot(name).is_none()
            && name != "state";
        let before = match nothing {
            true => Node::new(|_| Ok(Value::Null)),
            false => named(compiler, name, local.0, span),
        };
        return Node::new(move |machine| match machine.set(local) {
            Some(value) => Ok(value.clone()),
            None => before.eval(machine),
        });
    }
    let place = name.to_owned();
    if let Some(slot) = compiler.scope.slot(name) {
        return Node::new(move |machine| {
            let value = machine.env.slot(slot);
            value.map(plain).ok_or_else(|| absent(&place, span))
        });
    }
    let fields = compiler.scope.state.clone().filter(|_| name == "state");
    Node::new(move |machine| {
        let Some(fields) = &fields else {
            return Err(absent(&place, span));
        };
        let named = (0..).zip(fields.iter());
        let set = named.filter_map(|(index, (name, _))| {
            Some((Str::from(name.as_str()), machine.env.field(index)?))
        });
        Ok(Value::Map(set.collect::<Map>()))
    })
}

fn is_state(compiler: &Compiler<'_>, expr: &Expr) -> bool {
    super::super::name::is_state(compiler, expr)
}

fn of_state(compiler: &Compiler<'_>, field: &str, span: Span) -> Node {
    let index = compiler.scope.field(field).map(|(index, _)| index);
    let place = format!("state.{field}");
    Node::new(move |machine| {
        let value = index.and_then(|index| machine.env.field(index));
        value.map(plain).ok_or_else(|| absent(&place, span))
    })
}

/// An optional is null where it holds nothing.
fn plain(value: Value) -> Value {
    match value {
        Value::Optional(inner) => inner.map_or(Value::Null, |inner| (*inner).clone()),
        value => value,
    }
}

/// An element of a list or of a text, from its end where the index is negative; an entry of a map.
fn element(of: &Value, index: &Value) -> Option<Value> {
    let position = |len: usize| {
        let at = match index {
            Value::Int(at) => *at,
            Value::Uint(at) => i64::try_from(*at).ok()?,
            _ => return None,
        };
        usize::try_from(if at < 0 { at + len as i64 } else { at }).ok()
    };
    match of {
        Value::List(list) => list.get(position(list.len())?).cloned(),
        Value::String(text) => {
            let at = position(text.chars().count())?;
            text.chars().nth(at).map(|c| Value::from(c.to_string()))
        }
        Value::Map(map) => match index.as_str() {
            Some(name) => message::field(map, name),
            None => map.get_key(&Key::of(index)?).cloned(),
        },
        _ => None,
    }
}

/// That a place has no value.
fn absent(place: &str, span: Span) -> Box<EvalError> {
    let message = format!("`{}` has no value", shown_place(place));
    EvalError::boxed(span, ErrorKind::NoValue, message)
}

fn no_element(place: &str, span: Span) -> Box<EvalError> {
    let place = shown_place(place);
    let message = format!("`{place}` has no value: there is no such element");
    EvalError::boxed(span, ErrorKind::NoValue, message)
}

/// How an expression is written, shortened where it is no place.
fn written(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Ident(name) => name.clone(),
        ExprKind::Select { operand, field, .. } => format!("{}.{}", written(operand), field.node),
        ExprKind::Index { operand, index, .. } => {
            format!("{}[{}]", written(operand), written(index))
        }
        ExprKind::Literal(Literal::Int(int)) => int.to_string(),
        ExprKind::Literal(Literal::String(text)) => format!("'{text}'"),
        _ => "..".to_owned(),
    }
}
