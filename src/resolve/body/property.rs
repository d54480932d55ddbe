//! Which kind of node may have which property, and how often.

use crate::ast::node::{Node as Written, Property, PropertyKind};
use crate::base::{Span, name};
use crate::diag::{Diagnostic, codes};

use super::super::Resolver;

const CALLING: &[&str] = &["llm", "agent"];
const EFFECTS: &[&str] = &["llm", "agent", "tools", "call", "extern"];
/// Kinds whose work costs something and gives the same for the same: those that a `cache` is for.
const CACHED: &[&str] = &["llm", "agent", "tools", "call", "subgraph", "extern"];
/// Every kind but `branch`, which is folded into the nodes before it.
const RUNNING: &[&str] = &[
    "llm",
    "agent",
    "tools",
    "call",
    "update",
    "interrupt",
    "subgraph",
    "extern",
];
const ALL: &[&str] = &[
    "llm",
    "agent",
    "tools",
    "call",
    "update",
    "branch",
    "interrupt",
    "subgraph",
    "extern",
];

/// Kinds that have the property of that keyword.
fn kinds(word: &str) -> &'static [&'static str] {
    match word {
        "model" | "system" | "prompt" | "output" | "tool_choice" | "stream" | "ensure" => CALLING,
        "messages" | "tools" => &["llm", "agent", "tools"],
        "max_turns" | "until" | "parallel_tools" => &["agent"],
        "parallel" => &["tools"],
        "ask" | "expect" | "permit" => &["interrupt"],
        "with" | "into" | "persist" => &["subgraph"],
        "reads" | "writes" => &["extern"],
        "retry" => EFFECTS,
        "cache" => CACHED,
        "timeout" => &[
            "llm",
            "agent",
            "tools",
            "call",
            "subgraph",
            "interrupt",
            "extern",
        ],
        "goto" | "ends" | "tags" => ALL,
        _ => RUNNING,
    }
}

/// Properties that a node may have several times.
fn repeats(kind: &PropertyKind) -> bool {
    matches!(
        kind,
        PropertyKind::Let(_)
            | PropertyKind::Require(_)
            | PropertyKind::Ensure(_)
            | PropertyKind::Emit(_)
            | PropertyKind::Permit(_)
            | PropertyKind::Skip { .. }
    )
}

/// The properties of a node that count.
pub(super) struct Properties<'w>(Vec<&'w Property>);

impl<'w> Properties<'w> {
    /// The first that `pick` takes.
    pub fn one<T>(&self, pick: impl Fn(&'w PropertyKind) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(|property| pick(&property.kind))
    }

    /// All that `pick` takes, in order.
    pub fn all<T>(&self, pick: impl Fn(&'w PropertyKind) -> Option<T>) -> Vec<T> {
        self.0
            .iter()
            .filter_map(|property| pick(&property.kind))
            .collect()
    }

    /// The first whose kind fits, with its places.
    pub fn whole(&self, fits: impl Fn(&PropertyKind) -> bool) -> Option<&'w Property> {
        self.0.iter().copied().find(|property| fits(&property.kind))
    }
}

fn article(kind: &str) -> &'static str {
    match kind {
        "llm" | "agent" | "update" | "interrupt" | "extern" => "an",
        _ => "a",
    }
}

impl Resolver<'_> {
    /// The properties that the node's kind has, each once. All others are reported.
    pub(super) fn properties<'w>(&mut self, node: &'w Written) -> Properties<'w> {
        let kind = node.kind.keyword();
        let mut kept: Vec<&Property> = Vec::new();
        let alien = |property: &&Property| {
            let word = self.sources.text(property.keyword);
            !kinds(word).contains(&kind) && crate::parse::is_property(word)
        };
        let alien: Vec<&Property> = node.properties.iter().filter(alien).collect();
        let several = alien.len() > 1 && self.wrong_kind_of(node, &alien);
        for property in &node.properties {
            let word = self.sources.text(property.keyword).to_owned();
            // A word that no kind has is misspelt, and was read as the one that was meant.
            if !kinds(&word).contains(&kind) && crate::parse::is_property(&word) {
                if !several {
                    self.not_allowed(kind, &word, property);
                }
                continue;
            }
            let same = |known: &&&Property| {
                std::mem::discriminant(&known.kind) == std::mem::discriminant(&property.kind)
            };
            match kept.iter().find(same) {
                Some(first) if !repeats(&property.kind) => {
                    let message = format!("`{word}` is given twice");
                    let diagnostic =
                        Diagnostic::new(&codes::DUPLICATE_PROPERTY, message, property.keyword)
                            .here("given again")
                            .label(first.keyword, "first given here")
                            .help("keep one of the two");
                    self.diags.push(diagnostic);
                }
                _ => kept.push(property),
            }
        }
        Properties(kept)
    }

    /// Several properties of another kind that has all that are written: it is the kind that is wrong, and reported so.
    fn wrong_kind_of(&mut self, node: &Written, alien: &[&Property]) -> bool {
        let kind = node.kind.keyword();
        let words: Vec<&str> = alien
            .iter()
            .map(|property| self.sources.text(property.keyword))
            .collect();
        let has = |other: &&&str| {
            let mut words = node.properties.iter();
            words.all(|property| kinds(self.sources.text(property.keyword)).contains(other))
        };
        let meant: Vec<&str> = ALL.iter().filter(has).copied().collect();
        let message = format!(
            "`{}` is {} `{kind}` node, which has no {}",
            node.name.node,
            article(kind),
            name::list(words.iter().copied())
        );
        let mut found = Diagnostic::new(&codes::PROPERTY_NOT_ALLOWED, message, node.kind_span);
        for (property, word) in alien.iter().zip(&words) {
            found = found.label(
                property.keyword,
                format!(
                    "`{word}` is a property of {}",
                    name::list(kinds(word).iter().copied())
                ),
            );
        }
        let meant: Vec<String> = meant.iter().map(|kind| format!("`{kind}`")).collect();
        if meant.is_empty() {
            return false;
        }
        let help = format!("write {} in place of `{kind}`", meant.join(" or "));
        self.diags.push(found.help(help));
        true
    }

    fn not_allowed(&mut self, kind: &str, word: &str, property: &Property) {
        let article = article(kind);
        let message = format!("{article} `{kind}` node has no `{word}`");
        let has = name::list(kinds(word).iter().copied());
        let help = match (kind, word) {
            ("agent", "parallel") => "write `parallel_tools`".to_owned(),
            ("tools", "parallel_tools") => "write `parallel`".to_owned(),
            ("subgraph", "retry") => {
                "what failed is tried again where it failed: give `retry` to the nodes of the graph"
                    .to_owned()
            }
            _ => format!("it is a property of {has}"),
        };
        let diagnostic = Diagnostic::new(&codes::PROPERTY_NOT_ALLOWED, message, property.keyword);
        let other = match (kind, word) {
            ("agent", "parallel") => Some("parallel_tools"),
            ("tools", "parallel_tools") => Some("parallel"),
            _ => None,
        };
        let diagnostic = diagnostic.help(help);
        self.diags.push(match other {
            Some(other) => diagnostic.fix(property.keyword, other),
            None => diagnostic,
        });
    }

    /// Reports a property that the node can't do without, unless it is lost in a part that did not parse.
    pub(super) fn missing(&mut self, node: &Written, message: String, help: &str) {
        self.missing_of(node, message, help, None);
    }

    /// The same, of what the graph whose name stands at `of` may have for all its nodes.
    pub(super) fn missing_of(
        &mut self,
        node: &Written,
        message: String,
        help: &str,
        of: Option<Span>,
    ) {
        let inside = |at: &Span| at.start >= node.span.start && at.start < node.span.end;
        let file = self.files.get(node.span.file.0 as usize);
        let torn = file.is_some_and(|file| file.errors.iter().any(inside));
        // Where a property is none of its kind, the kind is likely another.
        let kind = node.kind.keyword();
        let mut properties = node.properties.iter();
        let alien =
            properties.any(|property| !kinds(self.sources.text(property.keyword)).contains(&kind));
        let told = |found: &Diagnostic| {
            found.code == &codes::MISSING_PROPERTY && found.span() == node.name.span
        };
        if torn || alien || self.diags.iter().rev().take(8).any(told) {
            return;
        }
        let diagnostic = Diagnostic::new(&codes::MISSING_PROPERTY, message, node.name.span);
        let diagnostic = diagnostic.help(help);
        self.diags.push(match of {
            Some(graph) => diagnostic.about(graph),
            None => diagnostic,
        });
    }
}
