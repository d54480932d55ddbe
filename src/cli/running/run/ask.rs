//! Asks a person an interrupt's question and reads the answer, field by field.

use std::io::{BufRead, Write};

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::diag::render::snippet::visible;
use crate::expr::accept::{accept, accept_fields};
use crate::expr::ty::RecordField;
use crate::expr::{Type, TypeTable};
use crate::run::interrupt::OpenInterrupt;

use super::example::{self, choices};

/// What a person said.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// An answer of the right type.
    Answer(Json),
    /// To go on.
    Pass,
    /// Nothing: the input has ended.
    Nothing,
}

/// Writes to stderr. A stderr that can't be written to leaves nobody to tell.
pub fn stderr(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

/// Asks whether to go on from a stop before a node.
pub fn pass(stop: &OpenInterrupt, input: &mut dyn BufRead, say: &mut dyn FnMut(&str)) -> Asked {
    say(&format!(
        "stopped before {}; Enter goes on, Ctrl-D leaves it so: ",
        visible(&stop.place())
    ));
    match line(input) {
        Some(_) => Asked::Pass,
        None => {
            say("\n");
            Asked::Nothing
        }
    }
}

/// Asks the question until the answer is of its type.
///
/// A record is read field by field, other types in one line; a line that begins with `{` is the
/// whole answer as JSON.
pub fn ask(
    open: &OpenInterrupt,
    types: &TypeTable,
    input: &mut dyn BufRead,
    say: &mut dyn FnMut(&str),
) -> Asked {
    say(&question(open));
    let ty = open.expect.as_ref().unwrap_or(&Type::Json);
    loop {
        let mut form = Form {
            types,
            input: &mut *input,
            say: &mut *say,
        };
        let Some(value) = form.value(ty) else {
            say("\n");
            return Asked::Nothing;
        };
        match accept(&value, ty, types) {
            Ok(_) => return Asked::Answer(value),
            Err(wrong) => {
                for line in wrong.lines() {
                    say(&format!("  {}\n", visible(&line)));
                }
                let example = example::of(ty, types);
                say(&format!(
                    "expected: {}, such as {example}\n",
                    types.describe(ty)
                ));
            }
        }
    }
}

/// The question as a person reads it: the entries of an object one by one, texts as they are.
pub fn question(open: &OpenInterrupt) -> String {
    let mut out = format!("\n{} asks:\n", visible(&open.place()));
    match &open.ask {
        Json::Object(entries) => {
            for (name, value) in entries {
                out.push_str(&entry(&visible(name), value));
            }
        }
        other => out.push_str(&indented(&text(other), "  ")),
    }
    if open.changed {
        out.push_str("  (it has changed since it was answered: that answer was not taken)\n");
    }
    for permit in &open.permits {
        out.push_str(&format!("  may permit {}\n", visible(&permitted(permit))));
    }
    out
}

/// A call that an answer may permit, as far as that is known before.
fn permitted(permit: &Json) -> String {
    let tool = permit.get("tool").and_then(Json::as_str);
    let mut out = tool.unwrap_or_default().to_owned();
    match permit.get("args") {
        Some(args) => out.push_str(&format!(" {args}")),
        None => out.push_str(" with any arguments"),
    }
    let late = permit.get("by_answer").and_then(Json::as_array);
    let late = late.into_iter().flatten().filter_map(Json::as_str);
    let late: Vec<&str> = late.collect();
    if !late.is_empty() {
        out.push_str(&format!(", {} as answered", late.join(", ")));
    }
    if permit.get("once").is_some() {
        out.push_str(", once");
    }
    if let Some(when) = permit.get("when").and_then(Json::as_str) {
        out.push_str(&format!(", when {when}"));
    }
    out
}

fn entry(name: &str, value: &Json) -> String {
    let text = text(value);
    match text.contains('\n') {
        false => format!("  {name}: {text}\n"),
        true => format!("  {name}:\n{}", indented(&text, "    ")),
    }
}

/// A text as it is; an object by its entries; other values as JSON.
fn text(value: &Json) -> String {
    match value {
        Json::String(text) => visible(text.trim_end()),
        Json::Object(entries) if entries.values().any(|value| value.is_string()) => {
            let parts = entries.iter().map(|(name, value)| match value {
                Json::String(text) if text.contains('\n') => {
                    let text = indented(&visible(text.trim_end()), "  ");
                    format!("\n{}:\n{}", visible(name), text.trim_end_matches('\n'))
                }
                other => format!("\n{}: {}", visible(name), text(other)),
            });
            parts.collect()
        }
        other => visible(&format!("{other:#}")),
    }
}

fn indented(text: &str, by: &str) -> String {
    let lines = text.trim_start_matches('\n').lines();
    lines.map(|line| format!("{by}{line}\n")).collect()
}

/// Where an answer is read from.
struct Form<'a> {
    types: &'a TypeTable,
    input: &'a mut dyn BufRead,
    say: &'a mut dyn FnMut(&str),
}

impl Form<'_> {
    /// A value of a type, or what the person said it is; `None` where the input has ended.
    fn value(&mut self, ty: &Type) -> Option<Json> {
        let record = match ty {
            Type::Record(id) => self.types.records.get(*id),
            _ => None,
        };
        let Some(record) = record else {
            return self.one("answer", ty, None);
        };
        let mut object = JsonMap::new();
        for (index, field) in record.fields.iter().enumerate() {
            let value = self.one(&field.name, &field.ty, Some(field))?;
            match value {
                // The whole answer at once.
                Json::Object(_) if index == 0 && choices(&field.ty, self.types).is_some() => {
                    return Some(value);
                }
                Json::Object(_) if index == 0 && is_plain(&field.ty) => return Some(value),
                Json::Null if !field.required() => {}
                value => {
                    object.insert(field.name.clone(), value);
                }
            }
        }
        Some(Json::Object(object))
    }

    /// Asks for one value until what is written can be one.
    fn one(&mut self, name: &str, ty: &Type, field: Option<&RecordField>) -> Option<Json> {
        let choices = choices(ty, self.types);
        let optional = field.is_some_and(|field| !field.required());
        let prompt = self.prompt(name, ty, choices.as_deref(), optional, field);
        loop {
            (self.say)(&prompt);
            let line = line(self.input)?;
            let written = line.trim();
            if written.is_empty() && optional {
                return Some(Json::Null);
            }
            if written.starts_with('{')
                && let Ok(json) = serde_json::from_str::<Json>(written)
            {
                return Some(json);
            }
            let read = read(written, ty, choices.as_deref());
            match read.and_then(|json| self.fitting(json, field)) {
                Ok(json) => return Some(json),
                Err(why) => (self.say)(&format!("  {}\n", visible(&why))),
            }
        }
    }

    /// The value, where the field takes it: what is wrong is said while that field is asked for.
    fn fitting(&self, json: Json, field: Option<&RecordField>) -> Result<Json, String> {
        let Some(field) = field else { return Ok(json) };
        let object = json!({ &field.name: json });
        match accept_fields(&object, std::slice::from_ref(field), self.types) {
            Ok(_) => Ok(json),
            Err(wrong) => {
                let messages = wrong.iter().map(|mismatch| mismatch.message.as_str());
                Err(messages.collect::<Vec<_>>().join("; "))
            }
        }
    }

    fn prompt(
        &self,
        name: &str,
        ty: &Type,
        choices: Option<&[Choice]>,
        optional: bool,
        field: Option<&RecordField>,
    ) -> String {
        let mut prompt = visible(name);
        let doc = field.map(|field| field.doc.trim()).unwrap_or_default();
        if !doc.is_empty() {
            prompt.push_str(&format!(" ({})", visible(doc).replace('\n', " ")));
        }
        match choices {
            Some(choices) => {
                let listed = choices.iter().enumerate().map(|(index, (choice, doc))| {
                    let doc = match doc.is_empty() {
                        true => String::new(),
                        false => format!(" - {}", visible(doc).replace('\n', " ")),
                    };
                    format!("\n  {}. {}{doc}", index + 1, visible(choice))
                });
                prompt.push_str(&listed.collect::<String>());
                prompt.push_str("\nwhich");
            }
            None if ty.without_null() == Type::String => {}
            None => prompt.push_str(&format!(", {}", self.types.show(ty))),
        }
        if optional {
            prompt.push_str(" [Enter for none]");
        }
        prompt.push_str(": ");
        prompt
    }
}

/// A choice and what is said about it.
type Choice = (std::sync::Arc<str>, String);

/// Whether a line that begins with a brace can't be a value of it.
fn is_plain(ty: &Type) -> bool {
    matches!(
        ty.without_null(),
        Type::String | Type::Int | Type::Uint | Type::Float | Type::Bool
    )
}

/// What a line says, for a type.
fn read(written: &str, ty: &Type, choices: Option<&[Choice]>) -> Result<Json, String> {
    if let Some(choices) = choices {
        let by_number = || {
            let number: usize = written.parse().ok()?;
            choices.get(number.checked_sub(1)?)
        };
        let by_name = choices.iter().find(|(name, _)| **name == *written);
        let chosen = by_name.or_else(by_number).or_else(|| {
            let mut begun = choices
                .iter()
                .filter(|(name, _)| !written.is_empty() && name.starts_with(written));
            begun.next().filter(|_| begun.next().is_none())
        });
        return match chosen {
            Some((name, _)) => Ok(json!(**name)),
            None => Err(format!(
                "write one of the words, or its number, not `{written}`"
            )),
        };
    }
    match ty.without_null() {
        Type::String | Type::Timestamp | Type::Duration | Type::Literal(_) => Ok(json!(written)),
        Type::Bool => match written.to_lowercase().as_str() {
            "y" | "yes" | "true" => Ok(json!(true)),
            "n" | "no" | "false" => Ok(json!(false)),
            _ => Err(format!("write `yes` or `no`, not `{written}`")),
        },
        Type::Int | Type::Uint => match written.parse::<i64>() {
            Ok(number) => Ok(json!(number)),
            Err(_) => Err(format!("write a whole number, not `{written}`")),
        },
        Type::Json => Ok(serde_json::from_str(written).unwrap_or_else(|_| json!(written))),
        _ => serde_json::from_str(written).map_err(|error| format!("not JSON: {error}")),
    }
}

/// The next line; `None` at the end of the input.
fn line(input: &mut dyn BufRead) -> Option<String> {
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line),
    }
}
