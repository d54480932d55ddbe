//! List and map literals.

use crate::ast::expr::{Element, Entry, Expr};
use crate::base::Span;
use crate::value::{Key, List, Map, Value};

use super::compiler::Compiler;
use super::machine::{Machine, Node, node};
use super::{CompileError, ErrorKind, EvalError, brief};

/// A part of a literal: its value, and whether it is left out where it is none.
pub(super) struct Part {
    node: Node,
    optional: bool,
    span: Span,
}

impl Part {
    pub fn compile(
        compiler: &mut Compiler<'_>,
        value: &Expr,
        optional: bool,
    ) -> Result<Part, CompileError> {
        Ok(Part {
            node: compiler.node(value)?,
            optional,
            span: value.span,
        })
    }

    /// The value; `None` where it is to be left out.
    pub fn eval(&self, machine: &mut Machine<'_>) -> Result<Option<Value>, Box<EvalError>> {
        let value = self.node.eval(machine)?;
        if !self.optional {
            return Ok(Some(value));
        }
        match value {
            Value::Optional(inner) => Ok(inner.map(|value| (*value).clone())),
            other => Err(EvalError::wrong_kind(
                self.span,
                format!("`?` takes an optional here, found `{}`", other.kind()),
            )),
        }
    }
}

pub(super) fn compile_list(
    compiler: &mut Compiler<'_>,
    span: Span,
    elements: &[Element],
) -> Result<Node, CompileError> {
    let elements = elements.iter();
    let elements = elements.map(|part| Part::compile(compiler, &part.value, part.optional));
    let elements: Vec<Part> = elements.collect::<Result<_, _>>()?;
    node(move |machine| {
        let mut list = Vec::with_capacity(elements.len());
        for element in &elements {
            list.extend(element.eval(machine)?);
        }
        let list: List = list.into_iter().collect();
        machine.made(Value::List(list), span)
    })
}

pub(super) fn compile_map(
    compiler: &mut Compiler<'_>,
    span: Span,
    entries: &[Entry],
) -> Result<Node, CompileError> {
    let entries = entries
        .iter()
        .map(|entry| {
            let key = Part::compile(compiler, &entry.key, false)?;
            let value = Part::compile(compiler, &entry.value, entry.optional)?;
            Ok((key, value))
        })
        .collect::<Result<Vec<(Part, Part)>, CompileError>>()?;
    node(move |machine| {
        let mut map = Map::new();
        for (key_part, value) in &entries {
            let key = literal_key(key_part.node.eval(machine)?, key_part.span)?;
            if map.get_key(&key).is_some() {
                return Err(EvalError::about(
                    key_part.span,
                    ErrorKind::WrongKind,
                    "a key is there twice",
                    format!("`{}`", brief(&key.value())),
                ));
            }
            if let Some(value) = value.eval(machine)? {
                map.insert(key, value);
            }
        }
        machine.made(Value::Map(map), span)
    })
}

/// Floats find keys but can't be keys.
fn literal_key(value: Value, span: Span) -> Result<Key, Box<EvalError>> {
    match &value {
        Value::Float(_) => None,
        other => Key::of(other),
    }
    .ok_or_else(|| {
        EvalError::wrong_kind(
            span,
            format!(
                "a key is a text, an `int`, a `uint` or a `bool`, found `{}`",
                value.kind()
            ),
        )
    })
}
