//! The state of one evaluation, and what every compiled construct can do.

use std::borrow::Cow;

use crate::base::{Span, cancel};
use crate::expr::function::pattern;
use crate::value::{MAX_TEXT, TEXT_TOO_LONG, Value};

use super::{CompileError, Env, ErrorKind, EvalError};

/// Loop iterations and created elements in one evaluation: seconds of work, far above honest use.
const FUEL: u64 = 10_000_000;

/// Steps between two looks at whether the evaluation is to stop.
const STRIDE: u64 = 1 << 14;

pub(super) type Evaluated = Result<Value, Box<EvalError>>;

type Evaluate = dyn Fn(&mut Machine<'_>) -> Evaluated + Send + Sync;

/// A compiled construct.
pub(super) struct Node(Box<Evaluate>);

impl Node {
    /// One that is evaluated so.
    pub fn new(eval: impl Fn(&mut Machine<'_>) -> Evaluated + Send + Sync + 'static) -> Self {
        Self(Box::new(eval))
    }

    pub fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        (self.0)(machine)
    }
}

/// [`Node::new`] as what a construct compiles to.
pub(super) fn node(
    eval: impl Fn(&mut Machine<'_>) -> Evaluated + Send + Sync + 'static,
) -> Result<Node, CompileError> {
    Ok(Node::new(eval))
}

/// What becomes of the text of a placeholder.
pub(super) type Encode = fn(&str) -> Cow<'_, str>;

/// Place of a loop variable in the machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Local(pub usize);

pub(super) struct Machine<'a> {
    pub env: &'a dyn Env,
    /// What the variables hold; `None` of one that nothing has set.
    locals: Vec<Option<Value>>,
    /// What it evaluates, for messages.
    what: &'static str,
    /// How a template writes what its placeholders print.
    pub encode: Encode,
    /// Steps that it may take in all.
    most: u64,
    /// Those that are left.
    fuel: u64,
    pub last_pattern: pattern::Last,
}

impl<'a> Machine<'a> {
    pub fn new(env: &'a dyn Env, locals: usize) -> Self {
        Self::within(env, locals, FUEL)
    }

    /// With a bound of its own for the steps.
    pub fn within(env: &'a dyn Env, locals: usize, most: u64) -> Self {
        Self {
            env,
            locals: vec![None; locals],
            what: "expression",
            encode: |text| text.into(),
            most,
            fuel: most,
            last_pattern: None,
        }
    }

    /// For a template.
    pub fn of_template(self, encode: Encode) -> Self {
        Self {
            what: "template",
            encode,
            ..self
        }
    }

    pub fn local(&self, local: Local) -> Value {
        self.set(local).cloned().unwrap_or_default()
    }

    /// The value of a variable; `None` where nothing has set it.
    pub fn set(&self, local: Local) -> Option<&Value> {
        self.locals.get(local.0)?.as_ref()
    }

    pub fn put(&mut self, local: Local, value: Value) {
        if let Some(place) = self.locals.get_mut(local.0) {
            *place = Some(value);
        }
    }

    /// Takes the value of a variable out.
    pub fn take(&mut self, local: Local) -> Value {
        let place = self.locals.get_mut(local.0);
        place.and_then(Option::take).unwrap_or_default()
    }

    /// Takes the values of all variables from a place on out.
    pub fn clear(&mut self, first: usize) {
        let places = self.locals.iter_mut().skip(first);
        places.for_each(|place| *place = None);
    }

    /// Uses up fuel for `amount` iterations or elements.
    pub fn spend(&mut self, amount: usize, span: Span) -> Result<(), Box<EvalError>> {
        match self.fuel.checked_sub(amount as u64) {
            Some(rest) => {
                let looks = rest / STRIDE != self.fuel / STRIDE;
                self.fuel = rest;
                match looks && cancel::is_asked() {
                    true => Err(EvalError::boxed(span, ErrorKind::Limit, cancel::STOPPED)),
                    false => Ok(()),
                }
            }
            None => {
                self.fuel = 0;
                Err(EvalError::boxed(
                    span,
                    ErrorKind::Limit,
                    format!("the {} takes more than {} steps", self.what, self.most),
                ))
            }
        }
    }

    /// A value just made, when its size is within bounds.
    pub fn made(&mut self, value: Value, span: Span) -> Evaluated {
        let checked = match &value {
            Value::String(text) if text.len() > MAX_TEXT => Err(TEXT_TOO_LONG.to_owned()),
            Value::List(_) | Value::Map(_) | Value::Optional(_) => value.check_size(),
            _ => return Ok(value),
        };
        match checked {
            Ok(()) => Ok(value),
            Err(message) => Err(EvalError::boxed(span, ErrorKind::Limit, message)),
        }
    }
}
