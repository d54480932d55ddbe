//! What did not parse: which rule it should have been, and the words for it.

use pest::Parser;

use crate::base::foreign::builder;
use crate::base::{Span, name};
use crate::diag::{Code, Diagnostic, Edit, codes};

use super::build::{Builder, Previous};
use super::grammar::{Grammar, Rule};
use super::mend::Meant;
use super::other_word::{advice, other_word};
use super::{keyword, message, mistake};

/// An arrow, and what is written for one.
const ARROWS: [&str; 9] = ["->", "=>", "-->", "→", "⇒", "–>", "—>", "~>", "- >"];

impl Builder<'_> {
    /// Reports the stretch `start..end` that a catch-all rule took. `previous` is what stands before it
    /// in the same list, `only` the rule that it should have been.
    pub fn bad(
        &mut self,
        start: usize,
        end: usize,
        previous: Option<Previous>,
        only: Rule,
    ) -> Meant {
        let slice = self.text.get(start..end).unwrap_or("");
        // The rest of a line that is reported.
        if let Some(Previous {
            end: before,
            is_bad: true,
            ..
        }) = previous
            && !self.text.get(before..start).unwrap_or("").contains('\n')
        {
            return Meant { start, edit: None };
        }
        if self.is_in_foreign_body(start, previous) {
            return Meant { start, edit: None };
        }
        if only == Rule::only_member
            && let Some(meant) = self.headless(start, end)
        {
            return meant;
        }
        if let Some(meant) = self.reported(start, end) {
            if let Some(previous) = previous
                && !self
                    .text
                    .get(previous.end..start)
                    .unwrap_or("")
                    .contains([',', '\n'])
            {
                let whole = Span::new(self.file, previous.start, end);
                self.damaged.push(whole);
            }
            return meant;
        }
        if let Some(meant) =
            previous.and_then(|previous| self.behind_comma((start, end), previous, only))
        {
            return meant;
        }
        // What goes on where something complete ended belongs to that: `model a b`.
        let from = previous.filter(|previous| {
            let between = self.text.get(previous.end..start).unwrap_or("");
            let begins = |c: char| {
                c.is_ascii_alphabetic()
                    || matches!(c, '_' | '"' | '\'')
                    || only == Rule::only_member && matches!(c, '[' | '(')
            };
            !between.contains(',') && (!between.contains('\n') || !slice.starts_with(begins))
        });
        let from = match from {
            Some(previous) if !self.is_line_of_its_own(slice, only) => previous.start,
            _ => {
                let node = match only {
                    Rule::only_member => super::node_head::under_another_word(self, slice, start),
                    _ => self.arms_behind_a_word(slice, start, only),
                };
                if let Some(found) = node.or_else(|| self.unknown(slice, start, only)) {
                    self.begin_foreign_body(slice, start);
                    return self.meant((start, end), only, found);
                }
                start
            }
        };
        let slice = self.text.get(from..end).unwrap_or("");
        self.begin_foreign_body(slice, from);
        let mut unread = None;
        let found = match Grammar::parse(only, slice) {
            Err(error) => {
                let at = from + message::offset(&error);
                unread = super::inline::meant(self.text, at, &error);
                let node = match only {
                    Rule::only_member => super::node_head::under_another_word(self, slice, from),
                    _ => None,
                };
                node.unwrap_or_else(|| {
                    let found = mistake::report(slice, self.types, from, self.file, error);
                    self.with_brace(found, (from, end), at, only)
                })
            }
            Ok(_) => {
                let at = message::token_span(self.text, start, 0, self.file);
                let found = message::found(self.text.get(start..).unwrap_or(""));
                Diagnostic::new(
                    &codes::SYNTAX_ERROR,
                    format!("{found} was not expected here"),
                    at,
                )
            }
        };
        let meant = self.meant((from, end), only, found);
        let unread = unread.map(|(span, text)| Edit {
            span: Span {
                file: self.file,
                ..span
            },
            text,
        });
        Meant {
            edit: meant.edit.or(unread),
            ..meant
        }
    }

    /// Whether the stretch is a line of what `def f(state):` begins, which is reported.
    fn is_in_foreign_body(&mut self, start: usize, previous: Option<Previous>) -> bool {
        let is_bad = previous.is_some_and(|previous| previous.is_bad);
        let inside = self
            .foreign_body
            .is_some_and(|column| column < self.column(start));
        if !(is_bad && inside) {
            self.foreign_body = None;
        }
        self.foreign_body.is_some()
    }

    /// `def f(state):`, `node f(state):`
    fn begin_foreign_body(&mut self, slice: &str, start: usize) {
        let line = slice.lines().next().unwrap_or("").trim_ascii_end();
        let begins = match mistake::first_word(slice) {
            "def" | "class" | "async" | "function" => true,
            "node" => line.ends_with("):"),
            "if" | "elif" | "else" | "for" | "while" | "with" | "try" | "match" => {
                line.ends_with(':')
            }
            _ => false,
        };
        if begins {
            self.foreign_body = Some(self.column(start));
        }
    }

    fn column(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or("");
        at - before.rfind('\n').map_or(0, |line| line + 1)
    }

    /// Whether something in the stretch, or right behind it, is reported already.
    fn reported(&mut self, start: usize, end: usize) -> Option<Meant> {
        let before = self.text.get(..start).and_then(|before| before.rfind('\n'));
        let first = self
            .torn
            .partition_point(|at| *at < before.map_or(0, |at| at + 1));
        let line = self.text.get(end..).and_then(|rest| rest.find('\n'));
        let line = line.map_or(self.text.len(), |at| end + at);
        let surplus = self.surplus.partition_point(|at| *at < start);
        let surplus = self.surplus.get(surplus).filter(|at| **at < line);
        self.explained.extend(surplus);
        let torn = self.torn.get(first).is_some_and(|at| *at < line);
        torn.then_some(Meant { start, edit: None })
    }

    /// The closing brace in the stretch, or right behind it, that was taken out as too many.
    pub(super) fn surplus_behind(&self, start: usize, end: usize) -> Option<usize> {
        let rest = self.text.get(end..).unwrap_or("");
        let until = end + (rest.len() - rest.trim_ascii_start().len());
        let first = self.surplus.partition_point(|at| *at < start);
        self.surplus.get(first).copied().filter(|at| *at < until)
    }

    /// Reports what is wrong with a stretch, and says what it was likely meant to be. Edits that don't make `only` of it are no
    /// mend, and aren't offered.
    fn meant(&mut self, (start, end): (usize, usize), only: Rule, mut found: Diagnostic) -> Meant {
        let leads = found.fix.iter().all(|edit| self.leads(edit, only));
        if !leads || !self.mends((start, end), &found.fix, only) {
            found.fix.clear();
        }
        let edits: Vec<&Edit> = found
            .fix
            .iter()
            .filter(|edit| !edit.text.starts_with("///"))
            .collect();
        let edit = match edits.as_slice() {
            [edit] if edit.span.start as usize >= start => Some((*edit).clone()),
            _ => None,
        };
        self.diags.push(found);
        Meant { start, edit }
    }

    /// What goes on with the entry before it, from which only a comma parts it: `via append, based_on [x]`, `on a, b`.
    fn behind_comma(
        &mut self,
        (start, end): (usize, usize),
        previous: Previous,
        only: Rule,
    ) -> Option<Meant> {
        let between = self.text.get(previous.end..start)?;
        let comma = previous.end + between.find(',')?;
        let slice = self.text.get(start..end)?;
        let word = mistake::first_word(slice);
        let own = Span::new(self.file, start, start + word.len());
        let before = self.text.get(previous.start..previous.end)?;
        match only {
            Rule::only_member if !word.is_empty() && !between.contains('\n') => {
                let found =
                    super::astray::targets(self, (previous.start, previous.end), slice, start)?;
                Some(self.meant((previous.start, end), only, found))
            }
            Rule::only_property
                if ["require ", "ensure "]
                    .iter()
                    .any(|word| before.starts_with(word))
                    && !between.contains('\n') =>
            {
                let word = mistake::first_word(before);
                let message = format!(
                    "what `{word}` says where it does not hold stands behind `else`, found `,`"
                );
                let at = Span::new(self.file, comma, comma + 1);
                let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, at)
                    .help(format!("write `{word} CONDITION else \"why\"`"))
                    .fix(at, " else");
                Some(self.meant((previous.start, end), only, found))
            }
            Rule::only_state_field | Rule::only_field
                if before.ends_with(['"', '\''])
                    && slice.starts_with(['"', '\''])
                    && before.contains(':') =>
            {
                let token = message::token(slice);
                let at = Span::new(self.file, comma, comma + 1);
                let found = Diagnostic::new(
                    &codes::SYNTAX_ERROR,
                    format!("texts of a type are joined by `|`, found `,` before `{token}`"),
                    at,
                )
                .help("write `\"a\" | \"b\"`")
                .fix(at, " |");
                Some(self.meant((previous.start, end), only, found))
            }
            Rule::only_state_field if matches!(word, "via" | "based_on") => {
                let field = before.split(':').next()?.split_ascii_whitespace().last()?;
                let message = format!("`{word}` belongs to the field `{field}` before it");
                let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, own)
                    .help("take out the comma before it")
                    .fix(Span::new(self.file, comma, comma + 1), "");
                Some(self.meant((previous.start, end), only, found))
            }
            Rule::only_setting if word == slice && !word.is_empty() => {
                let (key, first) = before.split_once(' ')?;
                let first = first.trim_ascii();
                if !matches!(key, "on" | "fallback") || mistake::first_word(first) != first {
                    return None;
                }
                let message = format!("expected a list in brackets after `{key}`, found `{first}`");
                let at = Span::new(self.file, previous.end - first.len(), previous.end);
                let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, at)
                    .help(format!("write `{key} [{first}, {word}]`"));
                self.diags.push(found);
                self.damaged.push(Span::new(self.file, previous.start, end));
                Some(Meant { start, edit: None })
            }
            _ => None,
        }
    }

    /// Adds the brace that lacks at a place, where that is what makes the stretch right.
    fn with_brace(
        &self,
        found: Diagnostic,
        (start, end): (usize, usize),
        at: usize,
        only: Rule,
    ) -> Diagnostic {
        if self.surplus_behind(start, end).is_none() {
            return found;
        }
        let edit = Edit {
            span: Span::new(self.file, at, at),
            text: "{ ".to_owned(),
        };
        let text = self.corrected(start, end, &edit);
        match text.is_some_and(|text| Grammar::parse(only, &text).is_ok()) {
            true => Diagnostic {
                fix: vec![edit],
                ..found
            },
            false => found,
        }
    }

    /// Whether a stretch begins with a keyword of its list, or nearly so, so that it is no rest of what stands before.
    fn is_line_of_its_own(&self, slice: &str, only: Rule) -> bool {
        let word = mistake::first_word(slice);
        let is_arm = only == Rule::only_arm
            && slice
                .get(word.len()..)
                .is_some_and(|rest| rest.trim_ascii_start().starts_with("->"));
        is_arm
            || only == Rule::only_item && slice.starts_with("@tool")
            || other_word(word, only).is_some()
            || words_of(only).is_some_and(|(words, _)| {
                words.contains(&word) || name::closest(word, words.iter().copied()).is_some()
            })
    }

    /// `goto match { state.x == 1 -> a .. }`, `goto match state.x { 1 -> a .. }`: what stands in braces behind a target is
    /// arms, and the target no node's name.
    fn arms_behind_a_word(&self, slice: &str, start: usize, only: Rule) -> Option<Diagnostic> {
        let before = self.text.get(..start)?.trim_ascii_end();
        let (head, end) = match only {
            Rule::only_update => (before.strip_suffix('{')?.trim_ascii_end(), before.len()),
            Rule::only_property => (before, before.len()),
            _ => return None,
        };
        let word = mistake::last_word(head);
        let leads = head.strip_suffix(word)?.trim_ascii_end();
        let leads = match mistake::last_word(leads) {
            lead @ ("goto" | "start" | "on_error") => lead,
            _ => return None,
        };
        if !matches!(word, "match" | "switch" | "case" | "if" | "select") {
            return None;
        }
        let condition = match only {
            Rule::only_property => {
                let (subject, _) = slice.split_once('{')?;
                format!("{} == VALUE", subject.trim_ascii())
            }
            _ => "CONDITION".to_owned(),
        };
        let at = Span::new(self.file, head.len() - word.len(), end);
        let message = format!("expected a target after `{leads}`, found `{word}`");
        let help = format!(
            "conditions are arms in braces: `{leads} {{ when {condition} -> NODE  else -> NODE }}`"
        );
        Some(Diagnostic::new(&codes::SYNTAX_ERROR, message, at).help(help))
    }

    /// A stretch whose first word begins nothing in this list.
    fn unknown(&self, slice: &str, start: usize, only: Rule) -> Option<Diagnostic> {
        let word = mistake::first_word(slice);
        let property = only == Rule::only_property && !keyword::PROPERTIES.contains(&word);
        if (property || matches!(only, Rule::only_member | Rule::only_item))
            && let Some(built) = builder::read(slice, self.types)
        {
            let at = Span::new(self.file, start, start + built.length);
            let message = match only {
                Rule::only_property => "a node is written line by line, no call builds it",
                _ => "a graph is written line by line, no call builds it",
            };
            let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, at).help(built.help);
            return Some(match built.whole {
                true => found.fix(at, built.line),
                false => found,
            });
        }
        let (words, what) = words_of(only)?;
        let after = slice.get(word.len()..).unwrap_or("").trim_ascii_start();
        if word.is_empty() {
            let found = message::found(slice);
            let at = message::token_span(slice, 0, start, self.file);
            if only == Rule::only_member && slice.starts_with(['(', '{']) {
                let found = super::astray::join(self, slice, start);
                if found.is_some() {
                    return found;
                }
            }
            if let Some(found) = super::astray::without_word(self, slice, start, only) {
                return Some(found);
            }
            return (only != Rule::only_member || !slice.starts_with('[')).then(|| {
                Diagnostic::new(
                    &codes::SYNTAX_ERROR,
                    format!("expected {what}, found {found}"),
                    at,
                )
            });
        }
        if words.contains(&word) && word != "test" {
            return None;
        }
        let span = Span::new(self.file, start, start + word.len());
        let new = |code: &'static Code, message: String| Diagnostic::new(code, message, span);
        if word == "test" && only == Rule::only_item {
            return Some(
                new(
                    &codes::UNKNOWN_KEYWORD,
                    "a test does not stand in the flow's file".to_owned(),
                )
                .help("scenarios live beside the flow, in `NAME.test.yaml`"),
            );
        }
        if only == Rule::only_member && ARROWS.iter().any(|arrow| after.starts_with(arrow)) {
            return None;
        }
        if let Some(found) = super::astray::report(self, (word, slice, start), only, what) {
            return Some(found);
        }
        if let Some(found) = super::astray::assigned(self, (word, slice, start), only, what) {
            return Some(found);
        }
        if let Some(found) = super::astray::asserted(self, word, start, only) {
            return Some(found);
        }
        if only == Rule::only_member && word == "edge" {
            return Some(
                new(
                    &codes::UNKNOWN_KEYWORD,
                    "an edge is written without a keyword".to_owned(),
                )
                .help(format!(
                    "write `{}`",
                    after.lines().next().unwrap_or("a -> b").trim_ascii()
                )),
            );
        }
        if let Some(place) = elsewhere(word, only) {
            let message = format!("expected {what}, but `{word}` is {place}");
            let found = new(&codes::UNKNOWN_KEYWORD, message);
            return Some(match other_word(word, only) {
                Some(meant) => found.help(format!("did you mean `{meant}`?")),
                None => found.maybe_help(advice(word, only, slice)),
            });
        }
        let found = new(
            &codes::UNKNOWN_KEYWORD,
            format!("expected {what}, found `{word}`"),
        );
        let text = self.text.get(start..).unwrap_or("");
        let before = self.text.get(..start).unwrap_or("").trim_ascii_end();
        let decorated = || {
            before
                .lines()
                .next_back()
                .is_some_and(|line| line.starts_with("@tool"))
        };
        let tool = || builder::tool(text, self.types).filter(|_| decorated());
        if let Some(help) = builder::class(text, self.types).or_else(tool) {
            return Some(found.help(help));
        }
        let close = name::closest(word, words.iter().copied());
        let is_graph = only == Rule::only_item && (slice.contains("->") || slice.contains("node "));
        let other = other_word(word, only).map(|meant| match meant {
            "type" if is_graph => "graph",
            // `class A(Enum):`
            "type" if after.contains("Enum)") => "enum",
            // `union A = B | C`
            "enum"
                if after
                    .split('{')
                    .next()
                    .is_some_and(|head| head.contains('=')) =>
            {
                "type"
            }
            // `then { log: .. }` writes, `route moved { to: .. }` tells.
            "goto" if begins_fields(after) => "set",
            "goto" if begins_fields(behind_name(after)) => "emit",
            meant => meant,
        });
        let lets = matches!(only, Rule::only_property | Rule::only_tool_line);
        let other = match lets && is_binding(after) {
            true => Some("let"),
            false => other,
        };
        let told = advice(word, only, slice).filter(|_| other.is_none());
        Some(match (other.or(close), told) {
            (_, Some(help)) => found.help(help),
            (Some(meant), _) => found
                .help(format!("did you mean `{meant}`?"))
                .fix(span, meant),
            (None, None) => found,
        })
    }
}

/// Whether a text begins with a brace and a name with its value.
fn begins_fields(text: &str) -> bool {
    let inside = text.strip_prefix('{').unwrap_or("").trim_ascii_start();
    let name = mistake::first_word(inside);
    let behind = inside.get(name.len()..).unwrap_or("").trim_ascii_start();
    !name.is_empty() && behind.starts_with(':')
}

/// Whether a text begins with a name, `=` and a value: `var n = 1`, `n = 1` behind another word.
fn is_binding(text: &str) -> bool {
    let name = mistake::first_word(text);
    let behind = text.get(name.len()..).unwrap_or("").trim_ascii_start();
    !name.is_empty() && behind.starts_with('=') && !behind.starts_with("==")
}

/// What stands behind a name, perhaps with dots, that a text begins with.
fn behind_name(text: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    text.trim_start_matches(is_name).trim_ascii_start()
}

/// The keywords of a list and what it is a list of; `None` for lists of named entries.
fn words_of(only: Rule) -> Option<(&'static [&'static str], &'static str)> {
    Some(match only {
        Rule::only_item => (keyword::ITEMS, "an item"),
        Rule::only_member => (keyword::MEMBERS, "a member of the graph"),
        Rule::only_property => (keyword::PROPERTIES, "a property of the node"),
        Rule::only_tool_line => (keyword::TOOL_LINES, "a line of the tool's body"),
        Rule::only_update => (&["set", "emit"], "`set` or `emit`"),
        Rule::only_interrupt => (&["ask", "expect", "permit"], "`ask`, `expect` or `permit`"),
        Rule::only_migration => (
            &["rename", "drop", "default"],
            "`rename`, `drop` or `default`",
        ),
        Rule::only_arm => (&["when", "else"], "`when` or `else`"),
        Rule::only_cache => (&["key", "ttl"], "`key` or `ttl`"),
        _ => return None,
    })
}

/// What a word is that is known in another place.
fn elsewhere(word: &str, only: Rule) -> Option<&'static str> {
    let places: [(Rule, &[&str], &str); 4] = [
        (
            Rule::only_property,
            keyword::PROPERTIES,
            "a property of a node",
        ),
        (Rule::only_member, keyword::MEMBERS, "a member of a graph"),
        (Rule::only_item, keyword::ITEMS, "a top-level item"),
        (
            Rule::only_tool_line,
            keyword::TOOL_LINES,
            "a line of a tool's body",
        ),
    ];
    places
        .into_iter()
        .find(|(rule, words, _)| *rule != only && words.contains(&word))
        .map(|(_, _, place)| place)
}
