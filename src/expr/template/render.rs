//! Templates compiled once and rendered many times.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::filters;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value as Shown};

use crate::ast::node::TemplateText;
use crate::base::{FileId, Span, rendering};

use super::super::eval::Env;
use super::super::scope::{Scope, Slot};
use super::namespace::{self, Inserted};
use super::object::{not_finite, shown};
use super::reads::reads;
use super::{chain, language, method, place};

/// Instructions of one rendering: well under a second, far above honest use.
const FUEL: u64 = 5_000_000;

/// The name of the one template of each environment.
const NAME: &str = "template";

/// What went wrong in a template, and where in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateError {
    /// Lower case, no full stop.
    pub message: String,
    /// The part of the template that failed.
    pub span: Span,
}

/// A template in a scope.
pub struct Template {
    environment: Environment<'static>,
    text: TemplateText,
    inserted: Inserted,
    names: Vec<(String, Slot)>,
    fields: Vec<(String, u32)>,
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Template").field(&self.text.text).finish()
    }
}

impl Template {
    /// A template whose text stands alone: places count from its start.
    ///
    /// # Errors
    /// As [`Template::compile`].
    pub fn compile_text(text: &str, scope: &Scope) -> Result<Template, TemplateError> {
        let span = Span::new(FileId(0), 0, text.len());
        let text = TemplateText {
            text: text.to_owned(),
            span,
            anchors: vec![(0, 0)],
        };
        Template::compile(&text, scope)
    }

    /// Compiles a template. Names that the scope lacks are left undefined: they are for
    /// [`check`](super::check()) to report. The error is one of syntax.
    pub fn compile(text: &TemplateText, scope: &Scope) -> Result<Template, TemplateError> {
        if let Some(beyond) = chain::too_long(&text.text) {
            return Err(TemplateError {
                message: beyond.message,
                span: text.span_of(beyond.place.start, beyond.place.end),
            });
        }
        let (source, inserted) = namespace::charged(&text.text);
        let environment = environment(source, scope.functions.clone())
            .map_err(|error| located(text, &inserted, &error))?;
        let reads = reads(text, scope);
        let fields = scope.state.as_deref();
        let field = |index: u32| {
            let (name, _) = fields?.get(index as usize)?;
            Some((name.clone(), index))
        };
        let name = |slot: Slot| {
            let (name, _) = scope.names.get(slot.0 as usize)?;
            Some((name.clone(), slot))
        };
        Ok(Template {
            environment,
            text: text.clone(),
            inserted,
            names: reads.slots.iter().copied().filter_map(name).collect(),
            fields: reads.fields.iter().copied().filter_map(field).collect(),
        })
    }

    /// The text for the values of `env`. One that isn't there yet is an error only where the template uses it.
    pub fn render(&self, env: &dyn Env) -> Result<String, TemplateError> {
        let mut context: BTreeMap<String, Shown> = BTreeMap::new();
        for (name, at) in &self.names {
            if let Some(value) = env.slot(*at) {
                context.insert(name.clone(), shown(&value));
            }
        }
        if !self.fields.is_empty() {
            let values = self
                .fields
                .iter()
                .filter_map(|(name, index)| Some((name.clone(), shown(&env.field(*index)?))));
            let state: BTreeMap<String, Shown> = values.collect();
            context.entry("state".into()).or_insert(Shown::from(state));
        }
        self.environment
            .get_template(NAME)
            .and_then(|template| rendering::render(&template, Shown::from(context)))
            .map_err(|error| located(&self.text, &self.inserted, &error))
    }
}

fn environment(text: String, functions: Arc<Vec<String>>) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_fuel(Some(FUEL));
    rendering::bound(&mut environment, UndefinedBehavior::SemiStrict);
    // Errors know their place only in this mode.
    environment.set_debug(true);
    environment.set_formatter(format);
    environment.set_unknown_method_callback(move |_, of, name, args| {
        match method::call(of, name, args) {
            Err(error)
                if error.kind() == ErrorKind::UnknownMethod
                    && language::imported(name, &functions) =>
            {
                language::call(of, name, args)
            }
            called => called,
        }
    });
    environment.add_test("defined", |value: &Shown| !is_absent(value));
    environment.add_test("undefined", is_absent);
    environment.add_filter("default", or_default);
    environment.add_filter("d", or_default);
    environment.add_filter("string", as_text);
    environment.add_filter("join", joined);
    environment.add_filter("first", |of: &Shown| filters::first(of).map(or_null));
    environment.add_filter("last", |of: Shown| filters::last(of).map(or_null));
    environment.add_filter("max", |state: &State, of: Shown, named: Kwargs| {
        filters::max(state, of, named).map(or_null)
    });
    environment.add_filter("min", |state: &State, of: Shown, named: Kwargs| {
        filters::min(state, of, named).map(or_null)
    });
    namespace::bound(&mut environment);
    environment.add_template_owned(NAME, text)?;
    Ok(environment)
}

fn is_absent(value: &Shown) -> bool {
    value.is_undefined() || value.is_none()
}

/// What is picked from an empty list is null, as an optional without a value is.
fn or_null(picked: Shown) -> Shown {
    match picked.is_undefined() {
        true => Shown::from(()),
        false => picked,
    }
}

fn or_default(
    value: &Shown,
    other: Option<Shown>,
    falsy_too: Option<bool>,
    named: Kwargs,
) -> Result<Shown, Error> {
    let other = match other {
        Some(other) => Some(other),
        None => named.get("default_value")?,
    };
    let falsy_too = match falsy_too {
        Some(falsy_too) => Some(falsy_too),
        None => named.get("boolean")?,
    };
    named.assert_all_used()?;
    Ok(
        match is_absent(value) || (falsy_too == Some(true) && !value.is_true()) {
            true => other.unwrap_or_else(|| Shown::from("")),
            false => value.clone(),
        },
    )
}

/// A value as it would print; of one that is not there nothing.
fn as_text(value: &Shown) -> Result<Shown, Error> {
    let text = match value.kind() {
        ValueKind::None => String::new(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => json(value)?,
        _ => value.to_string(),
    };
    Ok(Shown::from(text))
}

/// The elements, or what is at a path in each, as they would print.
fn joined(
    value: &Shown,
    between: Option<String>,
    attribute: Option<String>,
    named: Kwargs,
) -> Result<Shown, Error> {
    let between: Option<String> = match between {
        Some(between) => Some(between),
        None => named.get("d")?,
    };
    let attribute: Option<String> = match attribute {
        Some(attribute) => Some(attribute),
        None => named.get("attribute")?,
    };
    named.assert_all_used()?;
    let items = value.try_iter().map_err(|error| {
        let message = format!("cannot join value of type {}", value.kind());
        Error::new(ErrorKind::InvalidOperation, message).with_source(error)
    })?;
    let mut texts = Vec::new();
    for item in items {
        let mut item = item;
        for name in attribute.iter().flat_map(|path| path.split('.')) {
            item = match name.parse::<usize>() {
                Ok(at) => item.get_item_by_index(at)?,
                Err(_) => item.get_attr(name)?,
            };
        }
        let text = as_text(&item)?;
        rendering::charge_value(&text)?;
        texts.push(text.as_str().unwrap_or_default().to_owned());
    }
    let between = between.unwrap_or_default();
    rendering::charge((texts.len() * between.len()) as u64)?;
    Ok(Shown::from(texts.join(&between)))
}

/// What has parts, as JSON, which has no form for an infinite number.
fn json(value: &Shown) -> Result<String, Error> {
    rendering::charge_value(value)?;
    if !is_finite(value) {
        return Err(not_finite());
    }
    serde_json::to_string(value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}

/// Whether each number in a value is a finite one.
fn is_finite(value: &Shown) -> bool {
    match value.kind() {
        ValueKind::Number => f64::try_from(value.clone()).map_or(true, f64::is_finite),
        ValueKind::Seq | ValueKind::Iterable => value
            .try_iter()
            .map_or(true, |mut items| items.all(|item| is_finite(&item))),
        ValueKind::Map => value.try_iter().map_or(true, |mut keys| {
            keys.all(|key| value.get_item(&key).map_or(true, |item| is_finite(&item)))
        }),
        _ => true,
    }
}

/// Null prints nothing, a bool as it is written here, what has parts as JSON.
fn format(out: &mut Output, state: &mut State, value: &Shown) -> Result<(), Error> {
    match value.kind() {
        ValueKind::None => Ok(()),
        ValueKind::Bool => out
            .write_str(if value.is_true() { "true" } else { "false" })
            .map_err(Error::from),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            out.write_str(&json(value)?).map_err(Error::from)
        }
        ValueKind::Number if !is_finite(value) => Err(not_finite()),
        // Also what is only captured, by `{% set x %}..{% endset %}`.
        _ => {
            rendering::charge(value.as_str().map_or(0, |text| text.len() as u64))?;
            minijinja::escape_formatter(out, state, value)
        }
    }
}

fn located(text: &TemplateText, inserted: &Inserted, error: &Error) -> TemplateError {
    // The engine counts a bracket that the text ends without.
    let most = text.text.len();
    let range = error.range().map(|range| inserted.original(range));
    let range = range.map(|range| place::whole(&text.text, range));
    let range = range.map(|range| range.start.min(most)..range.end.min(most));
    let range = range.map(|range| match error.kind() {
        ErrorKind::UndefinedError => place::operand(&text.text, range),
        _ => place::applied(&text.text, range),
    });
    let written = range
        .clone()
        .and_then(|range| text.text.get(range))
        .map(str::trim)
        .filter(|written| !written.is_empty() && written.len() <= 60);
    let message = match (error.kind(), error.detail(), written) {
        (ErrorKind::OutOfFuel, ..) => {
            format!(
                "the template takes more than {} million instructions",
                FUEL / 1_000_000
            )
        }
        (ErrorKind::UndefinedError, _, Some(written)) if written.contains([' ', '~']) => {
            format!("a part of `{written}` has no value")
        }
        (ErrorKind::UndefinedError, _, Some(written)) if written.ends_with(']') => {
            format!("`{written}` has no value: there is no such element")
        }
        (ErrorKind::UndefinedError, _, Some(written)) => format!("`{written}` has no value"),
        (_, Some("invalid float literal" | "invalid digit found in string"), written) => {
            let of = written.map_or(String::new(), |written| format!("`{written}`: "));
            format!("{of}the text is no number")
        }
        (_, Some(detail), _) => detail.to_owned(),
        (kind, None, _) => kind.to_string(),
    };
    TemplateError {
        message,
        span: range.map_or(text.span, |range| text.span_of(range.start, range.end)),
    }
}
