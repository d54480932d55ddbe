//! From a tree to nodes: which file compiles which construct, and the loop variables in scope.

use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;
use crate::expr::scope::Scope;
use crate::expr::ty::TypeTable;

use super::machine::{Local, Node};
use super::{
    CompileError, call, collection, index, literal, logic, name, operator, record, select, template,
};

/// Expressions may nest this deep: evaluation recurses, and a thread's stack has an end.
const MAX_NESTING: usize = 500;

pub(super) struct Compiler<'a> {
    pub scope: &'a Scope,
    pub types: &'a TypeTable,
    /// Loop variables in scope, outermost first; their position is their place in the machine.
    vars: Vec<String>,
    most_vars: usize,
    nesting: usize,
    /// Whether what can't be resolved fails when it is evaluated.
    late: bool,
    /// Whether it is an expression of a template.
    template: bool,
}

impl<'a> Compiler<'a> {
    pub fn new(scope: &'a Scope, types: &'a TypeTable) -> Self {
        Self {
            scope,
            types,
            vars: Vec::new(),
            most_vars: 0,
            nesting: 0,
            late: false,
            template: false,
        }
    }

    /// The same, with names and functions that can't be resolved failing when they are evaluated.
    pub fn late(scope: &'a Scope, types: &'a TypeTable) -> Self {
        Self {
            late: true,
            ..Self::new(scope, types)
        }
    }

    /// For the expressions of a template, where names and operators mean what they do in Jinja.
    pub fn of_template(scope: &'a Scope, types: &'a TypeTable) -> Self {
        Self {
            template: true,
            ..Self::new(scope, types)
        }
    }

    /// How many loop variables the machine must hold.
    pub fn locals(&self) -> usize {
        self.most_vars
    }

    pub fn node(&mut self, expr: &Expr) -> Result<Node, CompileError> {
        if self.nesting >= MAX_NESTING {
            return Err(error(
                expr.span,
                format!("the expression is nested deeper than {MAX_NESTING} levels"),
            ));
        }
        self.nesting += 1;
        let node = self.construct(expr);
        self.nesting -= 1;
        let named = matches!(
            expr.kind,
            ExprKind::Ident(_) | ExprKind::Select { .. } | ExprKind::Call { .. }
        );
        match node {
            Err(error) if self.late && named => Ok(literal::unresolved(error)),
            node => node,
        }
    }

    fn construct(&mut self, expr: &Expr) -> Result<Node, CompileError> {
        if self.template
            && let Some(node) = template::construct(self, expr)
        {
            return node;
        }
        match &expr.kind {
            ExprKind::Literal(value) => Ok(literal::compile(value)),
            ExprKind::Ident(_) => name::compile(self, expr),
            ExprKind::Select {
                operand,
                field,
                optional,
            } => select::compile(self, expr, operand, field, *optional),
            ExprKind::Index {
                operand,
                index,
                optional,
            } => index::compile(self, expr.span, operand, index, *optional),
            ExprKind::Call {
                target,
                function,
                args,
            } => call::compile(self, expr.span, target.as_deref(), function, args),
            ExprKind::Unary(op, operand) => operator::compile_unary(self, expr.span, *op, operand),
            ExprKind::Binary(op, left, right) => {
                operator::compile_binary(self, expr.span, op, left, right)
            }
            ExprKind::Logical(op, operands) => logic::compile(self, *op, operands),
            ExprKind::Conditional(condition, yes, no) => {
                logic::compile_conditional(self, condition, yes, no)
            }
            ExprKind::List(elements) => collection::compile_list(self, expr.span, elements),
            ExprKind::Map(entries) => collection::compile_map(self, expr.span, entries),
            ExprKind::Record { name, fields } => record::compile(self, expr.span, name, fields),
            ExprKind::Error => Err(error(expr.span, "this part could not be parsed")),
        }
    }

    pub fn nodes(&mut self, exprs: &[Expr]) -> Result<Vec<Node>, CompileError> {
        exprs.iter().map(|expr| self.node(expr)).collect()
    }

    /// The innermost loop variable of that name.
    pub fn local(&self, name: &str) -> Option<Local> {
        self.vars.iter().rposition(|var| var == name).map(Local)
    }

    /// The same of those below a place.
    pub fn local_below(&self, name: &str, below: usize) -> Option<Local> {
        let vars = self.vars.get(..below.min(self.vars.len()))?;
        vars.iter().rposition(|var| var == name).map(Local)
    }

    /// How many variables there are in scope.
    pub fn depth(&self) -> usize {
        self.vars.len()
    }

    /// A variable more, to the end of what is around it.
    pub fn declare(&mut self, name: &str) -> Local {
        self.vars.push(name.to_owned());
        self.most_vars = self.most_vars.max(self.vars.len());
        Local(self.vars.len() - 1)
    }

    /// Ends the scope of all variables but the first ones. In a template, where a place that is empty means something, each
    /// variable has a place of its own: only its name goes.
    pub fn leave(&mut self, depth: usize) {
        match self.template {
            true => self.vars.iter_mut().skip(depth).for_each(String::clear),
            false => self.vars.truncate(depth),
        }
    }

    /// Names of all loop variables in scope.
    pub fn vars(&self) -> impl Iterator<Item = &str> {
        self.vars.iter().map(String::as_str)
    }

    /// Compiles `body` with loop variables of these names, whose places it is told.
    pub fn with_vars<const N: usize, T>(
        &mut self,
        names: [&str; N],
        body: impl FnOnce(&mut Self, [Local; N]) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        let first = self.vars.len();
        self.vars
            .extend(names.iter().map(|name| (*name).to_owned()));
        self.most_vars = self.most_vars.max(self.vars.len());
        let places = std::array::from_fn(|i| Local(first + i));
        let result = body(self, places);
        self.leave(first);
        result
    }
}

pub(super) fn error(span: Span, message: impl Into<String>) -> CompileError {
    CompileError {
        message: message.into(),
        span,
    }
}

/// The name that a macro binds.
pub(super) fn variable(expr: &Expr) -> Result<&str, CompileError> {
    match &expr.kind {
        ExprKind::Ident(name) => Ok(name),
        _ => Err(error(expr.span, "expected the name of a variable here")),
    }
}
