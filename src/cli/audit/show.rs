//! The sheet for a person.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use crate::audit::sheet::ToolUse;
use crate::audit::widen::shown;
use crate::audit::{Bound, Sheet};
use crate::base::duration;
use crate::ir::flow::RECURSION_LIMIT;

/// The whole sheet.
pub fn sheet(sheet: &Sheet, wider: Option<&[String]>) -> String {
    let mut page = Page::default();
    let profile = sheet.profile.as_deref();
    let profile = profile.map_or(String::new(), |profile| format!(", profile {profile}"));
    page.line("graph", &format!("{}{profile}", sheet.graph));
    page.lines("input", &sheet.input, "nothing");
    page.lines("begins at", &[sheet.entry.join(", ")], "");
    page.lines("ends at", &[sheet.exits.join(", ")], "");
    page.bound("super-steps", &sheet.steps);
    // Where nothing bounds the whole, these bound some of its loops.
    page.rest(
        &sheet.bounded_by,
        match sheet.steps {
            Bound::AtMost(_) => "bounded by ",
            Bound::Unbounded(_) => "in part bounded by ",
        },
    );
    match (sheet.recursion_limit, &sheet.steps) {
        (Some(limit), _) => page.add(&format!(
            "a run fails after {limit}, those before a resume counted in"
        )),
        (None, Bound::Unbounded(_)) => page.add(&format!(
            "a run fails after {RECURSION_LIMIT} (--recursion-limit), those before a resume counted in"
        )),
        _ => {}
    }
    page.bound("model calls", &sheet.model_calls);
    for model in &sheet.models {
        let (node, names) = (&model.node, model.models.join(", then "));
        let calls = shown(&model.calls);
        let because = match model.because.is_empty() {
            true => String::new(),
            false => format!(": {}", model.because),
        };
        page.add(&format!("{node}: {names}, {calls} a visit{because}"));
    }
    page.bound("tokens", &sheet.output_tokens);
    page.add("what models write; what they read and its price are not bounded by a flow");
    tools(&mut page, sheet);
    let questions: Vec<String> = sheet
        .interrupts
        .iter()
        .map(|question| {
            let timeout = timed(", gives up after ", question.timeout_ms);
            format!("{}: expects {}{timeout}", question.node, question.expects)
        })
        .chain(sheet.tools.iter().flat_map(|tool| {
            let nodes = tool.asks_at.iter();
            nodes.map(|node| format!("{node}: before a call of {}", tool.tool))
        }))
        .collect();
    page.lines("asks people", &questions, "nobody");
    if !questions.is_empty() {
        page.add("whoever may resume the thread may answer");
    }
    let mut leaves = uses(&sheet.leaves);
    if !sheet.leaves_unknown.is_empty() {
        let unknown: Vec<&str> = sheet.leaves_unknown.iter().map(String::as_str).collect();
        leaves.push(format!("not known where: {}", unknown.join("; ")));
    }
    page.lines("leaves to", &leaves, "nowhere");
    page.lines("secrets", &uses(&sheet.secrets), "none");
    if let Some(wider) = wider {
        page.lines("wider", wider, "nothing");
    }
    page.text
}

fn tools(page: &mut Page, sheet: &Sheet) {
    let tools: Vec<String> = sheet
        .tools
        .iter()
        .flat_map(|tool| {
            let nodes: Vec<&str> = tool.nodes.keys().map(String::as_str).collect();
            let fixed: Vec<&str> = tool.fixed.iter().map(String::as_str).collect();
            let fixed = match fixed.is_empty() {
                true => String::new(),
                false => format!(" with {{ {} }}", fixed.join(", ")),
            };
            let conditions: Vec<&str> = tool.narrowed.iter().map(String::as_str).collect();
            let narrowed = match conditions.is_empty() {
                true => String::new(),
                false => format!(" where {}", conditions.join(" && ")),
            };
            let (effect, served, nodes) = (tool.effect, &tool.served, nodes.join(", "));
            let timeout = timed(", timeout ", tool.timeout_ms);
            let first = format!(
                "{}{fixed}{narrowed} ({effect}{timeout}): {served}; in {nodes}; {}",
                tool.tool,
                asked(tool)
            );
            let permitted = tool.permitted.iter();
            let permitted =
                permitted.map(|one| format!("  permitted at {}: {}", one.at, one.shown()));
            std::iter::once(first).chain(permitted)
        })
        .collect();
    page.lines("tools", &tools, "none");
}

/// Where a call asks, or why it doesn't; and the questions that every way to it passes.
fn asked(tool: &ToolUse) -> String {
    let asks: Vec<&str> = tool.asks_at.iter().map(String::as_str).collect();
    let asks = match (tool.asks, asks.is_empty()) {
        (true, false) => format!("asks in {}", asks.join(", ")),
        (true, true) => "asks only for what is not permitted".to_owned(),
        (false, _) if tool.unattended => "never asks, @unattended".to_owned(),
        (false, _) => "never asks".to_owned(),
    };
    let passed: Vec<String> = tool.passed().into_iter().collect();
    match passed.is_empty() {
        true => asks,
        false => format!("{asks}; after {}", passed.join(", ")),
    }
}

/// A time in words behind some others; nothing where there is none.
fn timed(words: &str, ms: Option<u64>) -> String {
    let shown = ms.map(|ms| duration::show(Duration::from_millis(ms)));
    shown.map_or(String::new(), |shown| format!("{words}{shown}"))
}

fn uses(of: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let lines = of.iter().map(|(name, users)| {
        let users: Vec<&str> = users.iter().map(String::as_str).collect();
        format!("{name}: {}", users.join(", "))
    });
    lines.collect()
}

/// Lines with a word before the first of each group.
#[derive(Default)]
struct Page {
    text: String,
    /// Reasons that have been given.
    given: BTreeSet<String>,
}

impl Page {
    fn line(&mut self, word: &str, line: &str) {
        let _ = writeln!(self.text, "{}", format!("{word:<12} {line}").trim_end());
    }

    fn add(&mut self, line: &str) {
        self.line("", line);
    }

    fn lines(&mut self, word: &str, lines: &[String], none: &str) {
        self.line(word, lines.first().map_or(none, String::as_str));
        lines.iter().skip(1).for_each(|line| self.add(line));
    }

    fn rest(&mut self, lines: &[String], before: &str) {
        for line in lines {
            self.add(&format!("{before}{line}"));
        }
    }

    fn bound(&mut self, word: &str, bound: &Bound) {
        match bound {
            Bound::AtMost(_) => self.line(word, &shown(bound)),
            Bound::Unbounded(reasons) => {
                let fresh = reasons.difference(&self.given);
                let mut lines: Vec<String> = fresh.map(|r| format!("UNBOUNDED: {r}")).collect();
                if lines.len() < reasons.len() {
                    let and = if lines.is_empty() { "" } else { "and " };
                    lines.push(format!("{and}UNBOUNDED as above"));
                }
                self.given.extend(reasons.iter().cloned());
                let reasons = lines;
                self.lines(word, &reasons, "UNBOUNDED");
            }
        }
    }
}
