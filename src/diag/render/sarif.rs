//! Diagnostics as a SARIF 2.1.0 log, the form that code scanners exchange.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::base::{SourceMap, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, Edit, Level, Page};

/// One log with one run: a result per diagnostic, a rule per code that occurs, with its page as
/// the rule's help. A run without findings has no rules and no results.
pub fn sarif(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let codes: BTreeMap<&str, &Code> = diagnostics
        .iter()
        .map(|diagnostic| (diagnostic.code.slug, diagnostic.code))
        .collect();
    let index = |slug: &str| codes.keys().position(|known| *known == slug);
    let results: Vec<Json> = diagnostics
        .iter()
        .map(|diagnostic| result(diagnostic, index(diagnostic.code.slug), sources))
        .collect();
    let rules: Vec<Json> = codes.values().map(|code| rule(code)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "graphc",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn rule(code: &Code) -> Json {
    let page = Page::parse(code.page);
    let why = page.as_ref().map_or(code.slug, |page| page.summary());
    json!({
        "id": code.slug,
        "shortDescription": { "text": why },
        "defaultConfiguration": { "level": level(code.level) },
        "help": { "text": code.page, "markdown": code.page },
    })
}

fn result(diagnostic: &Diagnostic, rule: Option<usize>, sources: &SourceMap) -> Json {
    let mut text = diagnostic.message.clone();
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    let mut places = diagnostic.labels.iter().enumerate().map(|(id, label)| {
        let mut place = location(label.span, sources);
        if let (Some(entries), false) = (place.as_object_mut(), label.message.is_empty()) {
            entries.insert("id".to_owned(), json!(id));
            entries.insert("message".to_owned(), json!({ "text": label.message }));
        }
        place
    });
    let primary: Vec<Json> = places.by_ref().take(1).collect();
    let related: Vec<Json> = places.collect();
    let mut result = json!({
        "ruleId": diagnostic.code.slug,
        "level": level(diagnostic.level),
        "message": { "text": text },
        "locations": primary,
    });
    if let Some(entries) = result.as_object_mut() {
        entries.extend(rule.map(|index| ("ruleIndex".to_owned(), json!(index))));
        if !related.is_empty() {
            entries.insert("relatedLocations".to_owned(), json!(related));
        }
        if !diagnostic.fix.is_empty() {
            entries.insert("fixes".to_owned(), json!([fix(diagnostic, sources)]));
        }
    }
    result
}

/// The edits of a diagnostic, gathered by file as SARIF wants them.
fn fix(diagnostic: &Diagnostic, sources: &SourceMap) -> Json {
    let mut files: BTreeMap<_, Vec<&Edit>> = BTreeMap::new();
    for edit in &diagnostic.fix {
        files.entry(edit.span.file).or_default().push(edit);
    }
    let changes: Vec<Json> = files
        .into_iter()
        .map(|(file, edits)| {
            let replacements: Vec<Json> = edits
                .into_iter()
                .map(|edit| {
                    json!({
                        "deletedRegion": region(edit.span, sources),
                        "insertedContent": { "text": edit.text },
                    })
                })
                .collect();
            json!({
                "artifactLocation": { "uri": uri(sources.name(file)) },
                "replacements": replacements,
            })
        })
        .collect();
    let description = diagnostic.help.as_ref().unwrap_or(&diagnostic.message);
    json!({ "description": { "text": description }, "artifactChanges": changes })
}

fn location(span: Span, sources: &SourceMap) -> Json {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(sources.name(span.file)) },
        "region": region(span, sources),
    } })
}

fn region(span: Span, sources: &SourceMap) -> Json {
    let (start, end) = (sources.location(span), sources.location(span.after()));
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "byteOffset": start.offset,
        "byteLength": end.offset.saturating_sub(start.offset),
    })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "note",
    }
}

/// A file's name as a URI reference: relative as it is, absolute under `file://`.
fn uri(name: &str) -> String {
    let mut out = String::from(if name.starts_with('/') { "file://" } else { "" });
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
