//! Parts of a flow as a person writes them, for messages.

use std::time::Duration;

use super::{Part, Tree};
use crate::base::duration;

/// The most characters of a text that are shown.
const MOST: usize = 90;

/// Characters shown ahead of the first difference of two long texts.
const AHEAD: usize = 20;

/// Parts of which only those entries are shown that differ.
const SETTINGS: [&str; 6] = ["Retry", "Cache", "BasedOn", "Instance", "Migrate", "map"];

impl Tree {
    /// It as a person writes it, in one line.
    pub fn show(&self) -> String {
        match self {
            Tree::Leaf(text) | Tree::Word(text) => text.clone(),
            Tree::List(elements) => format!("[{}]", joined(elements, ", ")),
            Tree::Part(part) => part.show(),
            Tree::At(_) | Tree::Nothing => String::new(),
        }
    }

    /// An entry of what `key` is written with: spans of time with their unit, constants as JSON.
    pub fn show_entry(&self, key: &str) -> String {
        match self {
            Tree::Word(number) if key.ends_with("_ms") => {
                let millis = number.parse().ok().map(Duration::from_millis);
                millis.map_or(number.clone(), duration::show)
            }
            Tree::List(bounds) if key == "len" => joined(bounds, ", "),
            Tree::List(values) if key == "default" => {
                let shown: Vec<String> = values.iter().map(|value| value.show_entry(key)).collect();
                format!("[{}]", shown.join(", "))
            }
            Tree::Leaf(text) if matches!(key, "default" | "on_error" | "values") => {
                format!("{text:?}")
            }
            other => other.show(),
        }
    }
}

impl Part {
    fn at(&self, key: &str) -> String {
        self.get(key)
            .map_or(String::new(), |tree| tree.show_entry(key))
    }

    /// An entry between what stands before and after it; nothing where it isn't there.
    fn with(&self, before: &str, key: &str, after: &str) -> String {
        match self.get(key) {
            Some(tree) => format!("{before}{}{after}", tree.show_entry(key)),
            None => String::new(),
        }
    }

    fn list(&self, key: &str, between: &str) -> String {
        joined(self.get(key).map_or(&[], Tree::elements), between)
    }

    fn show(&self) -> String {
        let variant = self.entries.first();
        match (self.kind, variant) {
            ("Type", Some((of, tree))) => self::ty(of, tree),
            ("Target", Some((of, tree))) => target(of, tree),
            ("Route", Some((_, arms @ Tree::List(_)))) => joined(arms.elements(), "; "),
            ("Route" | "Ask", Some((_, tree))) => tree.show(),
            ("Channel", Some((of, Tree::Part(part)))) => match of.as_str() {
                "own" => part.at("reducer"),
                "barrier" => format!("barrier({})", part.list("names", ", ")),
                of => format!("{of}({})", part.at("key")),
            },
            ("Pass", Some((of, Tree::Part(part)))) if of == "sent" => {
                format!("{}: as it is sent", part.at("to"))
            }
            ("Pass", Some((_, Tree::Part(part)))) => {
                format!("{}: {}{}", part.at("to"), part.at("from"), part.at("value"))
            }
            _ => self.plain(),
        }
    }

    fn plain(&self) -> String {
        match self.kind {
            "Named" | "Pin" => format!("{}: {}", self.at("name"), self.at("value")),
            "PermitEach" => format!("each {} in {} -> ", self.at("var"), self.at("items")),
            "Permit" => {
                let once = if self.get("once").is_some() {
                    "once "
                } else {
                    ""
                };
                let pins = self.get("pins").map(|_| self.list("pins", ", "));
                let pins = pins.map_or(String::new(), |pins| format!("({pins})"));
                let (each, tool) = (self.at("each"), self.at("tool"));
                format!(
                    "{once}{each}{tool}{pins}{}",
                    self.with(" when ", "when", "")
                )
            }
            "Binding" => format!("{}: {}", self.at("to"), self.at("from")),
            "SetItem" | "ToolSet" => {
                let sign = if self.get("replace").is_some() {
                    " :="
                } else {
                    ":"
                };
                format!("{}{sign} {}", self.at("field"), self.at("value"))
            }
            "Template" => {
                let args = self.list("args", ", ");
                format!("{} with {{ {args} }}", self.at("text"))
            }
            "Jump" => self.jump(),
            "Arm" => match self.get("when") {
                Some(when) => format!("when {} -> {}", when.show(), self.at("jump")),
                None => format!("else -> {}", self.at("jump")),
            },
            "Emit" => {
                let on_start = self.get("on_start").map_or("", |_| " on start");
                let (event, fields) = (self.at("event"), self.list("fields", ", "));
                format!(
                    "{event} {{ {fields} }}{on_start}{}",
                    self.with(" when ", "when", "")
                )
            }
            "Skip" => format!("when {}{}", self.at("when"), self.with(" -> ", "to", "")),
            "Require" => format!(
                "{}{}",
                self.at("condition"),
                self.with(" else ", "message", "")
            ),
            "MaxVisits" => format!("{} -> {}", self.at("limit"), self.at("to")),
            "InterruptTimeout" => format!("{} -> {}", self.at("after_ms"), self.at("to")),
            "End" => format!("{} -> {}", self.at("name"), self.at("to")),
            "Narrowed" => {
                let part = |key, before, between, behind| match self.list(key, between) {
                    part if part.is_empty() => part,
                    part => format!("{before}{part}{behind}"),
                };
                let fixed = part("fixed", " with { ", ", ", " }");
                let conditions = part("conditions", " where ", " && ", "");
                format!("{}{fixed}{conditions}", self.at("tool"))
            }
            "RecordField" => format!(
                "{}: {}{}",
                self.at("name"),
                self.at("ty"),
                self.with(" = ", "default", "")
            ),
            "Sink" => format!("{}{}", self.at("param"), self.with(" (", "kind", ")")),
            _ => {
                let entries = self.entries.iter().map(|(key, tree)| {
                    let word = key.trim_end_matches("_ms");
                    format!("{word} {}", tree.show_entry(key))
                });
                let entries: Vec<String> = entries.collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }

    /// The entries that another has otherwise or not.
    fn beyond(&self, other: &Part) -> Part {
        let entries = self.entries.iter();
        let entries = entries.filter(|(key, tree)| other.get(key) != Some(tree));
        Part {
            kind: self.kind,
            at: self.at,
            entries: entries.cloned().collect(),
        }
    }

    fn jump(&self) -> String {
        let to = match self.get("to").map_or(&[] as &[Tree], Tree::elements) {
            [one] => one.show(),
            many => format!("[{}]", joined(many, ", ")),
        };
        let (sets, emits) = (self.list("set", ", "), self.list("emits", ", "));
        let set = if sets.is_empty() {
            sets
        } else {
            format!(" set {{ {sets} }}")
        };
        let emit = if emits.is_empty() {
            emits
        } else {
            format!(" emit {emits}")
        };
        format!("{to}{set}{emit}")
    }
}

fn ty(of: &str, tree: &Tree) -> String {
    let inner = tree.show();
    match of {
        "list" | "map" | "optional" => format!("{of}<{inner}>"),
        "nullable" if inner.contains(" | ") => format!("({inner})?"),
        "nullable" => format!("{inner}?"),
        "union" => joined(tree.elements(), " | "),
        "literal" => format!("{inner:?}"),
        _ => inner,
    }
}

fn target(of: &str, tree: &Tree) -> String {
    let Tree::Part(part) = tree else {
        return match of {
            "parent" => format!("parent.{}", tree.show()),
            _ => tree.show(),
        };
    };
    match of {
        "fail" => format!("fail{}", part.with("(", "message", ")")),
        "computed" => {
            let (name, table) = (part.at("name"), part.list("table", ", "));
            format!("({name}) of {table}")
        }
        _ => {
            let (var, items, worker) = (part.at("var"), part.at("items"), part.at("worker"));
            let with = part.list("with", ", ");
            let then = match part.list("then", ", ") {
                then if then.is_empty() => then,
                then if then.contains(", ") => format!(" then [{then}]"),
                then => format!(" then {then}"),
            };
            format!("each {var} in {items} -> {worker} with {{ {with} }}{then}")
        }
    }
}

fn joined(elements: &[Tree], between: &str) -> String {
    let shown: Vec<String> = elements.iter().map(Tree::show).collect();
    shown.join(between)
}

/// Two versions of something, each short enough to be read and both without what they have in common where that is
/// long.
pub(in crate::ir::diff) fn both(key: &str, old: &Tree, new: &Tree) -> (String, String) {
    let (old, new) = match (elements(old), elements(new), old, new) {
        // A constant is one thing.
        _ if key == "default" => (old.show_entry(key), new.show_entry(key)),
        (Some(old), Some(new), ..) => apart(old, new),
        (_, _, Tree::Part(old), Tree::Part(new)) if SETTINGS.contains(&old.kind) => {
            (old.beyond(new).show(), new.beyond(old).show())
        }
        _ => (old.show_entry(key), new.show_entry(key)),
    };
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b);
    let from = same.count().saturating_sub(AHEAD);
    let long = old.chars().count() > MOST || new.chars().count() > MOST;
    let from = if long { from } else { 0 };
    (cut(&old, from), cut(&new, from))
}

/// One version, short enough to be read.
pub(in crate::ir::diff) fn one(key: &str, tree: &Tree) -> String {
    cut(&tree.show_entry(key), 0)
}

/// What a list, or a route with arms, is made of.
fn elements(tree: &Tree) -> Option<&[Tree]> {
    match tree {
        // Numbers are bounds, which are one thing together.
        Tree::List(elements) if elements.iter().any(|e| matches!(e, Tree::Word(_))) => None,
        Tree::List(elements) => Some(elements),
        Tree::Part(part) if part.kind == "Route" => match part.entries.as_slice() {
            [(_, Tree::List(arms))] => Some(arms),
            _ => None,
        },
        _ => None,
    }
}

/// The elements without those at both ends that are the same.
fn apart(old: &[Tree], new: &[Tree]) -> (String, String) {
    let common = |(a, b): &(&Tree, &Tree)| a == b;
    let head = old.iter().zip(new).take_while(common).count();
    let (old, new) = (
        old.get(head..).unwrap_or(&[]),
        new.get(head..).unwrap_or(&[]),
    );
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(common)
        .count();
    let rest = |all: &[Tree]| {
        let kept = all.len().saturating_sub(tail);
        joined(all.get(..kept).unwrap_or(&[]), "; ")
    };
    (rest(old), rest(new))
}

/// From a character on, in one line, and no more than can be read.
fn cut(text: &str, from: usize) -> String {
    let begin = if from > 0 { ".." } else { "" };
    let part: String = text.chars().skip(from).take(MOST).collect();
    let end = if text.chars().count() > from + MOST {
        ".."
    } else {
        ""
    };
    let part = part.replace('\n', " ");
    format!("{begin}{part}{end}")
}
