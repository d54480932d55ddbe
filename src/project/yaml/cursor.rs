//! Reading typed parts of a tree.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::time::Duration;

use serde_json::Value as Json;

use crate::base::{Span, duration, name};
use crate::diag::{Diagnostic, Diagnostics};

use super::{Document, Path, Step};

/// How many findings of one file are reported.
pub const MOST_FINDINGS: usize = 100;

/// What stands in place of a finding that is one too many.
pub fn more(finding: Diagnostic) -> Diagnostic {
    let message =
        format!("more is wrong in this file than the {MOST_FINDINGS} mistakes that are reported");
    Diagnostic::new(finding.code, message, finding.span()).help("mend those first")
}

/// A part of a document, and where what is wrong with it is reported.
#[derive(Clone)]
pub struct Cursor<'a> {
    doc: &'a Document,
    found: &'a RefCell<Diagnostics>,
    json: &'a Json,
    path: Path,
}

impl<'a> Cursor<'a> {
    /// The whole of a document.
    pub fn new(doc: &'a Document, found: &'a RefCell<Diagnostics>) -> Self {
        Self {
            doc,
            found,
            json: &doc.root,
            path: Path::new(),
        }
    }

    /// The part as it is.
    pub fn json(&self) -> &'a Json {
        self.json
    }

    /// The way to it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key that it stands under; empty in a list.
    pub fn key(&self) -> &str {
        match self.path.last() {
            Some(Step::Key(key)) => key,
            _ => "",
        }
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        match self.is_full() {
            true => Span::new(self.doc.file, 0, 0),
            false => self.doc.span(&self.path),
        }
    }

    /// Where its key stands; the part itself for an element of a list.
    pub fn key_span(&self) -> Span {
        match self.is_full() {
            true => Span::new(self.doc.file, 0, 0),
            false => self.doc.key_span(&self.path),
        }
    }

    /// Whether so much was reported that the rest is left out: each place is looked up in the whole text.
    fn is_full(&self) -> bool {
        self.found.borrow().len() > MOST_FINDINGS
    }

    /// A finding about its value, not yet reported.
    pub fn finding(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.doc.code, message, self.span())
    }

    /// A finding about its key, not yet reported.
    pub fn key_finding(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.doc.code, message, self.key_span())
    }

    /// Reports a finding. Of more than [`MOST_FINDINGS`] it is said that there are more.
    pub fn report(&self, finding: Diagnostic) {
        let mut found = self.found.borrow_mut();
        match found.len().cmp(&MOST_FINDINGS) {
            Ordering::Less => found.push(finding),
            Ordering::Equal => found.push(more(finding)),
            Ordering::Greater => {}
        }
    }

    /// Reports that it is not what was expected: `a list`, `a text`.
    pub fn expected(&self, what: &str) {
        self.expected_as(what, None);
    }

    /// The same, with what to write.
    fn expected_as(&self, what: &str, help: Option<String>) {
        let is = match self.json {
            Json::Null => "nothing".to_owned(),
            Json::Bool(b) => format!("the bool `{b}`"),
            Json::Number(n) => format!("the number `{n}`"),
            Json::String(_) => "a text".to_owned(),
            Json::Array(_) => "a list".to_owned(),
            Json::Object(_) => "a map".to_owned(),
        };
        if let (Some((first, rest)), Json::Null) = (self.key().split_once(' '), self.json) {
            let message = format!("`{first}` stands without its colon");
            let help = format!("write `{first}: {}`", rest.trim());
            self.report(self.key_finding(message).help(help));
            return;
        }
        let subject = match self.key() {
            "" => "this".to_owned(),
            key => format!("`{key}`"),
        };
        let found = self.finding(format!("{subject} must be {what}, found {is}"));
        self.report(found.maybe_help(help));
    }

    fn child(&self, step: Step, json: &'a Json) -> Cursor<'a> {
        let mut path = self.path.clone();
        path.push(step);
        Cursor {
            json,
            path,
            ..self.clone()
        }
    }

    /// A map with a fixed set of keys; unknown ones are reported. `what` names it: `a provider`.
    pub fn table(&self, what: &str, keys: &[&str]) -> Option<Table<'a>> {
        let value = match self.json {
            Json::Null | Json::Array(_) => "..".to_owned(),
            value => value.to_string(),
        };
        let key = ["text", "result", "output", "name"];
        let key = key.iter().find(|key| keys.contains(key));
        let help = key.map(|key| format!("{what} has keys: write `{{ {key}: {value} }}`"));
        let mut table = self.table_as(help)?;
        for (key, entry) in table.entries() {
            if keys.contains(&key) {
                continue;
            }
            // `kind openai`
            let words = key.split_once(' ').filter(|_| entry.json().is_null());
            let given = words.and_then(|(first, _)| keys.iter().find(|key| **key == first));
            if let (Some(given), Some((_, rest))) = (given, words) {
                let message = format!("`{given}` stands without its colon");
                let help = format!("write `{given}: {}`", rest.trim());
                self.report(entry.key_finding(message).help(help));
                table.unknown.push((*given).to_owned());
                continue;
            }
            let help = name::did_you_mean(key, keys.iter().copied())
                .unwrap_or_else(|| format!("known here: {}", name::list(keys.iter().copied())));
            let message = format!("`{key}` is no key of {what}");
            self.report(entry.key_finding(message).help(help));
            table.unknown.push(key.to_owned());
        }
        Some(table)
    }

    /// A map with any keys.
    pub fn open_table(&self) -> Option<Table<'a>> {
        self.table_as(None)
    }

    fn table_as(&self, help: Option<String>) -> Option<Table<'a>> {
        match self.json {
            Json::Object(_) => Some(Table {
                at: self.clone(),
                unknown: Vec::new(),
            }),
            _ => {
                self.expected_as("a map", help);
                None
            }
        }
    }

    /// The entries of a map with any keys, by key; none where it is no map.
    pub fn entries(&self) -> Vec<(&'a str, Cursor<'a>)> {
        self.open_table().map_or(Vec::new(), |t| t.entries())
    }

    /// The elements of a list; none where it is no list.
    pub fn items(&self) -> Vec<Cursor<'a>> {
        let Json::Array(items) = self.json else {
            let help = match self.json {
                Json::Object(entries) => match entries.keys().next() {
                    Some(first) => format!(
                        "each element of a list begins with `- `: write `- name: {first}` for `{first}:`, for example"
                    ),
                    None => "write `[]`".to_owned(),
                },
                value => format!("write `[{value}]`"),
            };
            self.expected_as("a list", Some(help).filter(|_| !self.json.is_null()));
            return Vec::new();
        };
        let indexed = items.iter().enumerate();
        indexed
            .map(|(i, item)| self.child(Step::Index(i), item))
            .collect()
    }

    /// A number of things, one at least.
    pub fn at_least_one(&self) -> Option<usize> {
        let most = self.count().filter(|most| *most > 0);
        if most.is_none() && self.json().is_u64() {
            self.expected("at least 1");
        }
        most.and_then(|most| usize::try_from(most).ok())
    }

    /// A text.
    pub fn text(&self) -> Option<&'a str> {
        let text = self.json.as_str();
        if text.is_none() {
            self.expected("a text");
        }
        text
    }

    /// The words of a command: a list, the program first.
    pub fn argv(&self) -> Option<Vec<Cursor<'a>>> {
        if self.json.is_string() {
            let message = "`command` must be a list: the program and its arguments";
            let help = "write `[python3, tools/search.py]`; no shell is run";
            self.report(self.finding(message).help(help));
            return None;
        }
        Some(self.items())
    }

    /// The texts of a list.
    pub fn texts(&self) -> Vec<String> {
        let items = self.items();
        let texts = items.iter().filter_map(|item| item.text());
        texts.map(str::to_owned).collect()
    }

    /// A whole number from 0.
    pub fn count(&self) -> Option<u64> {
        let count = self.json.as_u64();
        if count.is_none() {
            self.expected("a whole number from 0");
        }
        count
    }

    /// A bool.
    pub fn flag(&self) -> Option<bool> {
        let flag = self.json.as_bool();
        if flag.is_none() {
            self.expected("`true` or `false`");
        }
        flag
    }

    /// A span of time: `500ms`, `10s`, `5m`, `2h`, `7d`.
    pub fn duration(&self) -> Option<Duration> {
        let duration = self.json.as_str().and_then(duration::parse);
        match (duration, self.json.as_str()) {
            (None, Some(text)) => {
                let message = format!("`{text}` is no time");
                let help = "write one such as `500ms`, `10s` or `5m`";
                self.report(self.finding(message).help(help));
            }
            (None, None) => self.expected("a time such as `500ms`, `10s` or `5m`"),
            _ => {}
        }
        duration
    }

    /// A span of time that something may take, which can't be none.
    pub fn timeout(&self) -> Option<Duration> {
        let duration = self.duration()?;
        if duration.is_zero() {
            let text = self.json.as_str().unwrap_or_default();
            let message = format!("`{text}` leaves no time, expected more than 0");
            self.report(self.finding(message));
            return None;
        }
        Some(duration)
    }

    /// One of a set of words, `what` of them: `a provider kind`.
    pub fn word<T: Copy>(&self, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*meaning);
        }
        let known = || words.iter().map(|(word, _)| *word);
        let help = name::did_you_mean(text, known())
            .unwrap_or_else(|| format!("one of {}", name::list(known())));
        self.report(self.finding(format!("`{text}` is no {what}")).help(help));
        None
    }
}

/// A map that is being read.
#[derive(Clone)]
pub struct Table<'a> {
    at: Cursor<'a>,
    /// Keys that were reported.
    unknown: Vec<String>,
}

impl<'a> Table<'a> {
    /// The map itself.
    pub fn cursor(&self) -> &Cursor<'a> {
        &self.at
    }

    /// The part under a key; nothing is the same as no key.
    pub fn get(&self, key: &str) -> Option<Cursor<'a>> {
        self.value(key).filter(|part| !part.json.is_null())
    }

    /// The part under a key, `null` included.
    pub fn value(&self, key: &str) -> Option<Cursor<'a>> {
        let json = self.at.json.as_object()?.get(key)?;
        Some(self.at.child(Step::Key(key.to_owned()), json))
    }

    /// Whether unknown keys of it were reported.
    pub fn has_unknown(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// The part under a key, which is reported where it is missing, unless an unknown key that was
    /// reported is likely meant to be this one.
    pub fn require(&self, key: &str) -> Option<Cursor<'a>> {
        self.required(key, None)
    }

    /// The same, with what it can be for who has left it out.
    pub fn require_with(&self, key: &str, help: impl FnOnce() -> String) -> Option<Cursor<'a>> {
        self.required(key, Some(help()))
    }

    fn required(&self, key: &str, help: Option<String>) -> Option<Cursor<'a>> {
        let part = self.get(key);
        let meant = |unknown: &String| unknown == key || name::closest(unknown, [key]).is_some();
        if part.is_none() && !self.unknown.iter().any(meant) {
            let finding = self.at.finding(format!("`{key}` is missing"));
            self.at.report(finding.maybe_help(help));
        }
        part
    }

    /// All entries, by key.
    pub fn entries(&self) -> Vec<(&'a str, Cursor<'a>)> {
        let Json::Object(entries) = self.at.json else {
            return Vec::new();
        };
        let entries = entries.iter();
        entries
            .map(|(key, json)| (key.as_str(), self.at.child(Step::Key(key.clone()), json)))
            .collect()
    }
}
