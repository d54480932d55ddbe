//! What an expression reads, without typing it.

use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind};

use super::super::function::{self, BuiltinKind};
use super::super::scope::{Scope, Slot};
use super::macros;

/// What an expression reads of its scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    /// Fields of `state`, by index.
    pub fields: BTreeSet<u32>,
    /// Other names, by slot.
    pub slots: BTreeSet<Slot>,
    /// Whether it calls `now()`, `uuid()` or `random()`.
    pub effects: bool,
}

/// What `expr` reads; names that macros bind inside it are none of the scope's.
pub fn reads(expr: &Expr, scope: &Scope) -> Reads {
    let mut collector = ReadsCollector::new(scope);
    collector.expr(expr);
    collector.found
}

/// Collects what several expressions read of one scope.
pub(in crate::expr) struct ReadsCollector<'a> {
    scope: &'a Scope,
    /// Names bound around this place, by macros or by statements of a template: they are none of the scope's.
    pub bound: Vec<String>,
    /// What has been read so far.
    pub found: Reads,
}

impl<'a> ReadsCollector<'a> {
    pub fn new(scope: &'a Scope) -> Self {
        Self {
            scope,
            bound: Vec::new(),
            found: Reads::default(),
        }
    }

    /// Adds what an expression reads.
    pub fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Ident(name) => self.name(name),
            ExprKind::Select { operand, field, .. } => match &operand.kind {
                ExprKind::Ident(root) if self.is_state(root) => {
                    let field = self.scope.field(field).map(|(index, _)| index);
                    self.found.fields.extend(field);
                }
                _ => self.expr(operand),
            },
            ExprKind::Call {
                target,
                function,
                args,
            } => self.call(target.as_deref(), function, args),
            _ => expr.each_part(|part| self.expr(part)),
        }
    }

    fn is_state(&self, name: &str) -> bool {
        name == "state"
            && self.scope.state.is_some()
            && self.scope.slot(name).is_none()
            && !self.bound.iter().any(|b| b == name)
    }

    fn name(&mut self, name: &str) {
        if self.bound.iter().any(|b| b == name) {
            return;
        }
        match self.scope.slot(name) {
            Some(slot) => {
                self.found.slots.insert(slot);
            }
            // `state` as a whole reads all of its fields.
            None if self.is_state(name) => {
                let count = self.scope.state.as_ref().map_or(0, |fields| fields.len());
                self.found.fields.extend((0..count).map(|i| i as u32));
            }
            None => {}
        }
    }

    fn call(&mut self, target: Option<&Expr>, function: &str, args: &[Expr]) {
        if target.is_none() && is_effect(function) {
            self.found.effects = true;
        }
        if let Some(target) = target {
            self.expr(target);
        }
        let split = target.and_then(|_| macros::split(function, args));
        let Some((vars, outer, inner)) = split else {
            args.iter().for_each(|arg| self.expr(arg));
            return;
        };
        outer.iter().for_each(|arg| self.expr(arg));
        let depth = self.bound.len();
        self.bound.extend(vars);
        inner.iter().for_each(|arg| self.expr(arg));
        self.bound.truncate(depth);
    }
}

/// Whether a call gives another answer each time, and so is journaled.
fn is_effect(name: &str) -> bool {
    let spec = function::special(name);
    spec.is_some_and(|spec| matches!(spec.kind, BuiltinKind::Effect(_)))
}
