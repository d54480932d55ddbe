//! Diagnostics for other programs: one JSON object per line.

use serde::Serialize;

use crate::base::{Location, SourceMap, Span};
use crate::diag::{Diagnostic, Diagnostics, Level};

/// One object per diagnostic, each on its own line.
///
/// Lines and columns count from 1, columns in characters; offsets are in bytes from 0. `help`,
/// `fix` and `url` are left out where there is none.
pub fn json(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        let object = Object::new(diagnostic, sources);
        // Plain structs of texts and numbers: serde_json can't fail on them.
        out.push_str(&serde_json::to_string(&object).unwrap_or_default());
        out.push('\n');
    }
    out
}

#[derive(Serialize)]
struct Object<'a> {
    code: &'a str,
    level: Level,
    message: &'a str,
    labels: Vec<Label<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fix: Vec<Edit<'a>>,
    url: String,
}

#[derive(Serialize)]
struct Label<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    message: &'a str,
    primary: bool,
}

#[derive(Serialize)]
struct Edit<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    text: &'a str,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    start: Location,
    end: Location,
}

impl<'a> Object<'a> {
    fn new(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Self {
        let labels = diagnostic.labels.iter().enumerate();
        let edits = diagnostic.fix.iter();
        Self {
            code: diagnostic.code.slug,
            level: diagnostic.level,
            message: &diagnostic.message,
            labels: labels
                .map(|(index, label)| Label {
                    place: Place::new(label.span, sources),
                    message: &label.message,
                    primary: index == 0,
                })
                .collect(),
            help: diagnostic.help.as_deref(),
            fix: edits
                .map(|edit| Edit {
                    place: Place::new(edit.span, sources),
                    text: &edit.text,
                })
                .collect(),
            url: diagnostic.code.url(),
        }
    }
}

impl<'a> Place<'a> {
    fn new(span: Span, sources: &'a SourceMap) -> Self {
        Self {
            file: sources.name(span.file),
            start: sources.location(span),
            end: sources.location(span.after()),
        }
    }
}
