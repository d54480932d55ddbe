//! Evaluation of templates: statements compiled into steps that write a text, around nodes like those of any expression.
//!
//! Jinja's names are nearer to variables than the language's: `set` gives one a value on the way, in a loop until the end of
//! the round. So a name that is set has a place in the machine, and stands for what it stood for before as long as that is
//! empty.
//!
//! Reading order: this file (statements), [`place`] (names, fields, indexes), [`form`] (what evaluates its operands in a way of
//! its own).

mod form;
mod place;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::template::{CAPTURED, For, LOOP, Statement, Target, each_expr, mentions};
use crate::base::Span;
use crate::expr::function::jinja;
use crate::expr::scope::Scope;
use crate::expr::ty::TypeTable;
use crate::value::{MAX_TEXT, Map, TEXT_TOO_LONG, Value};

use super::compiler::{Compiler, error};
use super::machine::{Encode, Local, Machine, Node};
use super::{CompileError, Env, ErrorKind, EvalError, call};

/// A compiled template.
pub struct TemplateProgram {
    body: Vec<Step>,
    /// Of a text that is one placeholder, what that shows.
    only: Option<Node>,
    locals: usize,
}

type Written = Result<(), Box<EvalError>>;

/// Writes a part of the text.
type Step = Box<dyn Fn(&mut Machine<'_>, &mut String) -> Written + Send + Sync>;

/// Gives a name its value.
type Put = Box<dyn Fn(&mut Machine<'_>, Value) -> Written + Send + Sync>;

impl TemplateProgram {
    /// Compiles a template in a scope. A name that is not known is an error of the rendering that comes to it.
    ///
    /// # Errors
    /// What can't be compiled: a function that there is not, a wrong number of arguments.
    pub fn compile(
        body: &[Statement],
        scope: &Scope,
        types: &TypeTable,
    ) -> Result<TemplateProgram, CompileError> {
        let mut compiler = Compiler::of_template(scope, types);
        let only = match only_output(body) {
            Some(expr) => Some(compiler.node(expr)?),
            None => None,
        };
        let body = Frame::root().all(&mut compiler, body)?;
        let locals = compiler.locals();
        Ok(TemplateProgram { body, only, locals })
    }

    /// The value of the placeholder that is all of the text; `None` of another text.
    pub fn only_value(&self, env: &dyn Env) -> Option<Result<Value, EvalError>> {
        let only = self.only.as_ref()?;
        let mut machine = Machine::new(env, self.locals).of_template(|text| text.into());
        Some(only.eval(&mut machine).map_err(|error| *error))
    }

    /// The text, with what each placeholder prints encoded.
    ///
    /// # Errors
    /// What has no value, or can't be computed or printed.
    pub fn render(&self, env: &dyn Env, encode: Encode) -> Result<String, EvalError> {
        let mut machine = Machine::new(env, self.locals).of_template(encode);
        let mut text = String::new();
        run(&self.body, &mut machine, &mut text).map_err(|error| *error)?;
        Ok(text)
    }
}

/// What an expression of a template compiles to; `None` of one that is like any other.
pub(super) fn construct(
    compiler: &mut Compiler<'_>,
    expr: &Expr,
) -> Option<Result<Node, CompileError>> {
    Some(match &expr.kind {
        ExprKind::Ident(_) | ExprKind::Select { .. } | ExprKind::Index { .. } => {
            place::compile(compiler, expr)
        }
        ExprKind::Binary(op, item, of) => {
            return form::membership(compiler, expr.span, op, item, of);
        }
        ExprKind::Call {
            target,
            function,
            args,
        } => form::call(compiler, expr.span, target.as_deref(), function, args),
        _ => return None,
    })
}

fn run(steps: &[Step], machine: &mut Machine<'_>, text: &mut String) -> Written {
    for step in steps {
        step(machine, text)?;
    }
    Ok(())
}

/// The placeholder that is all of a text, but for white space.
fn only_output(body: &[Statement]) -> Option<&Expr> {
    let is_blank = |statement: &&Statement| matches!(statement, Statement::Text { text, .. } if text.trim().is_empty());
    let mut rest = body.iter().filter(|statement| !is_blank(statement));
    match (rest.next(), rest.next()) {
        (Some(Statement::Output(only)), None) => Some(only),
        _ => None,
    }
}

/// Adds to a text, within its bound.
fn write(machine: &mut Machine<'_>, text: &mut String, part: &str, span: Span) -> Written {
    machine.spend(1 + part.len() / 64, span)?;
    if text.len() + part.len() > MAX_TEXT {
        return Err(EvalError::boxed(span, ErrorKind::Limit, TEXT_TOO_LONG));
    }
    text.push_str(part);
    Ok(())
}

/// What the names belong to that are set: the whole text, or the body of a loop.
#[derive(Clone, Copy)]
struct Frame {
    /// The first place of its names.
    first: usize,
}

impl Frame {
    fn root() -> Self {
        Self { first: 0 }
    }

    fn all(
        self,
        compiler: &mut Compiler<'_>,
        statements: &[Statement],
    ) -> Result<Vec<Step>, CompileError> {
        let steps = statements.iter();
        steps
            .map(|statement| self.step(compiler, statement))
            .collect()
    }

    /// Compiles what has names of its own, which are gone behind it.
    fn within<T>(
        compiler: &mut Compiler<'_>,
        body: impl FnOnce(&mut Compiler<'_>, Frame) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        let first = compiler.depth();
        let made = body(compiler, Frame { first });
        compiler.leave(first);
        made
    }

    fn step(
        self,
        compiler: &mut Compiler<'_>,
        statement: &Statement,
    ) -> Result<Step, CompileError> {
        Ok(match statement {
            Statement::Text { text, .. } => {
                let text = text.clone();
                Box::new(move |machine, out| write(machine, out, &text, Span::default()))
            }
            Statement::Output(expr) => {
                let (value, span) = (compiler.node(expr)?, expr.span);
                Box::new(move |machine, out| {
                    let value = value.eval(machine)?;
                    machine.spend(value.weight() / 16, span)?;
                    let text = printed(&value, span)?;
                    let text = (machine.encode)(&text);
                    write(machine, out, &text, span)
                })
            }
            Statement::If { condition, yes, no } => {
                let span = condition.span;
                let condition = compiler.node(condition)?;
                let (yes, no) = (self.all(compiler, yes)?, self.all(compiler, no)?);
                Box::new(move |machine, out| {
                    machine.spend(1, span)?;
                    match condition.eval(machine)? {
                        Value::Bool(true) => run(&yes, machine, out),
                        _ => run(&no, machine, out),
                    }
                })
            }
            Statement::For(each) => self.each(compiler, each)?,
            Statement::Set { target, value } => {
                let value = compiler.node(value)?;
                let put = self.target(compiler, target)?;
                Box::new(move |machine, _| {
                    let value = value.eval(machine)?;
                    put(machine, value)
                })
            }
            Statement::Capture {
                target,
                body,
                filtered,
            } => {
                let (body, made) = Frame::within(compiler, |compiler, frame| {
                    let body = frame.all(compiler, body)?;
                    let text = compiler.declare(CAPTURED);
                    let filtered = filtered.as_ref().map(|of| compiler.node(of)).transpose()?;
                    Ok((body, (text, filtered)))
                })?;
                let (captured, filtered) = made;
                let put = self.target(compiler, target)?;
                Box::new(move |machine, _| {
                    let mut text = String::new();
                    run(&body, machine, &mut text)?;
                    let text = Value::from(text);
                    let value = match &filtered {
                        Some(filtered) => {
                            machine.put(captured, text);
                            filtered.eval(machine)?
                        }
                        None => text,
                    };
                    put(machine, value)
                })
            }
        })
    }

    fn each(self, compiler: &mut Compiler<'_>, each: &For) -> Result<Step, CompileError> {
        let span = each.over.span;
        let over = compiler.node(&each.over)?;
        let mut mentions_loop = false;
        each_expr(&each.body, |expr| mentions_loop |= mentions(expr, LOOP));
        let first = compiler.depth();
        let (put, when, place, body) = Frame::within(compiler, |compiler, frame| {
            let put = frame.target(compiler, &each.target)?;
            let when = each
                .when
                .as_ref()
                .map(|when| compiler.node(when))
                .transpose()?;
            let place = compiler.declare(LOOP);
            Ok((put, when, place, frame.all(compiler, &each.body)?))
        })?;
        let otherwise = Frame::within(compiler, |compiler, frame| {
            frame.all(compiler, &each.otherwise)
        })?;
        Ok(Box::new(move |machine, out| {
            let over = over.eval(machine)?;
            machine.spend(over.weight() / 16, span)?;
            let items =
                jinja::elements(&over).map_err(|message| EvalError::wrong_kind(span, message))?;
            let mut taken = Vec::with_capacity(items.len());
            for item in items.iter() {
                machine.spend(1, span)?;
                let takes = match &when {
                    Some(when) => {
                        machine.clear(first);
                        put(machine, item.clone())?;
                        when.eval(machine)? == Value::Bool(true)
                    }
                    None => true,
                };
                if takes {
                    taken.push(item.clone());
                }
            }
            for (at, item) in taken.iter().enumerate() {
                machine.spend(1, span)?;
                machine.clear(first);
                put(machine, item.clone())?;
                if mentions_loop {
                    machine.put(place, about_loop(&taken, at));
                }
                run(&body, machine, out)?;
            }
            machine.clear(first);
            match taken.is_empty() {
                true => run(&otherwise, machine, out),
                false => Ok(()),
            }
        }))
    }

    fn target(self, compiler: &mut Compiler<'_>, target: &Target) -> Result<Put, CompileError> {
        match target {
            Target::Name(name) => {
                let place = self.place(compiler, name);
                Ok(Box::new(move |machine, value| {
                    machine.put(place, value);
                    Ok(())
                }))
            }
            Target::Field(of, field) => {
                let Some(place) = compiler.local(of) else {
                    let message = format!(
                        "`{}` is no namespace: make it with `{{% set {} = namespace() %}}`",
                        of.node, of.node
                    );
                    return Err(error(of.span, message));
                };
                let (field, span) = (field.node.clone(), field.span);
                Ok(Box::new(move |machine, value| {
                    let Value::Map(mut fields) = machine.take(place) else {
                        let message = "only a field of a namespace can be set";
                        return Err(EvalError::wrong_kind(span, message));
                    };
                    fields.insert(field.as_str(), value);
                    let fields = machine.made(Value::Map(fields), span)?;
                    machine.put(place, fields);
                    Ok(())
                }))
            }
            Target::Several(parts, span) => {
                let (count, span) = (parts.len(), *span);
                let parts = parts.iter().map(|part| self.target(compiler, part));
                let parts: Vec<Put> = parts.collect::<Result<_, _>>()?;
                Ok(Box::new(move |machine, value| {
                    let items = match &value {
                        Value::List(items) if items.len() == count => items,
                        other => {
                            let message = format!(
                                "a list of {count} elements is expected, found {}",
                                super::brief(other)
                            );
                            return Err(EvalError::wrong_kind(span, message));
                        }
                    };
                    let mut parts = parts.iter().zip(items.iter());
                    parts.try_for_each(|(put, item)| put(machine, item.clone()))
                }))
            }
        }
    }

    /// The place of a name that is set here.
    fn place(self, compiler: &mut Compiler<'_>, name: &Name) -> Local {
        match compiler.local(name) {
            Some(known) if known.0 >= self.first => known,
            _ => compiler.declare(name),
        }
    }
}

fn printed(value: &Value, span: Span) -> Result<std::borrow::Cow<'_, str>, Box<EvalError>> {
    jinja::printed(value).map_err(|message| EvalError::boxed(span, ErrorKind::Function, message))
}

/// What a loop tells its body about itself.
fn about_loop(items: &[Value], at: usize) -> Value {
    let number = |number: usize| Value::Int(number as i64);
    let mut map = Map::from_iter([
        ("index", number(at + 1)),
        ("index0", number(at)),
        ("revindex", number(items.len() - at)),
        ("revindex0", number(items.len() - at - 1)),
        ("first", Value::Bool(at == 0)),
        ("last", Value::Bool(at + 1 == items.len())),
        ("length", number(items.len())),
    ]);
    let beside = [("previtem", at.checked_sub(1)), ("nextitem", Some(at + 1))];
    for (name, at) in beside {
        let item = at.and_then(|at| items.get(at)).cloned();
        map.insert(name, item.unwrap_or_default());
    }
    Value::Map(map)
}

/// Compiles a call of the language's own, which gives null where an optional holds nothing.
fn of_language(
    compiler: &mut Compiler<'_>,
    span: Span,
    target: Option<&Expr>,
    function: &Name,
    args: &[Expr],
) -> Result<Node, CompileError> {
    let call = call::compile(compiler, span, target, function, args)?;
    Ok(Node::new(move |machine| {
        Ok(match call.eval(machine)? {
            Value::Optional(inner) => inner.map_or(Value::Null, |inner| (*inner).clone()),
            value => value,
        })
    }))
}
