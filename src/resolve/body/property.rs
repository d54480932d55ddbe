//! Which kind of node may have which property, and how often.

use crate::ast::node::{Node as Written, Property, PropertyKind};
use crate::base::{Span, name};
use crate::diag::{Diagnostic, codes};

use super::super::Resolver;
use super::Inside;

/// Kinds of nodes. `branch`, the last, is folded into the nodes before it: of properties it has few.
const ALL: [&str; 9] = [
    "llm",
    "agent",
    "tools",
    "call",
    "extern",
    "subgraph",
    "interrupt",
    "update",
    "branch",
];

/// Kinds that have the property of that keyword.
fn kinds(word: &str) -> &'static [&'static str] {
    match word {
        "model" | "system" | "prompt" | "output" | "tool_choice" | "stream" | "ensure" => &ALL[..2],
        "messages" | "tools" => &ALL[..3],
        "max_turns" | "until" | "parallel_tools" => &ALL[1..2],
        "parallel" => &ALL[2..3],
        "ask" | "expect" | "permit" => &ALL[6..7],
        "with" | "into" | "persist" => &ALL[5..6],
        "reads" | "writes" => &ALL[4..5],
        "retry" => &ALL[..5],
        // What costs something and gives the same for the same.
        "cache" => &ALL[..6],
        "timeout" => &ALL[..7],
        "goto" | "ends" | "tags" => &ALL,
        _ => &ALL[..8],
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

/// A node with those of its properties that count, and the names that it may use.
pub(super) struct Properties<'w> {
    pub inside: &'w Inside,
    pub node: &'w Written,
    kept: Vec<&'w Property>,
}

impl<'w> Properties<'w> {
    /// All that `pick` takes, in order.
    pub fn all<T>(&self, pick: impl Fn(&'w Property) -> Option<T>) -> impl Iterator<Item = T> {
        self.kept.iter().copied().filter_map(pick)
    }
}

/// The value of a node's only property of a kind.
macro_rules! one {
    ($of:expr, $kind:ident) => {
        $crate::resolve::body::property::placed!($of, $kind(value) => value).map(|(value, _)| value)
    };
}

/// What a pattern finds in a node's only property of a kind, and the property.
macro_rules! placed {
    ($of:expr, $kind:ident $fields:tt => $found:expr) => {
        $of.all(|property| match &property.kind {
            $crate::ast::node::PropertyKind::$kind $fields => Some(($found, property)),
            _ => None,
        })
        .next()
    };
}

/// The values of all properties of a kind.
macro_rules! all {
    ($of:expr, $kind:ident) => {
        $of.all(|property| match &property.kind {
            $crate::ast::node::PropertyKind::$kind(value) => Some(value),
            _ => None,
        })
    };
}

pub(super) use {all, one, placed};

fn article(kind: &str) -> &'static str {
    match kind {
        "llm" | "agent" | "update" | "interrupt" | "extern" => "an",
        _ => "a",
    }
}

impl Resolver<'_> {
    /// The properties that the node's kind has, each once. All others are reported.
    pub(super) fn properties<'w>(
        &mut self,
        inside: &'w Inside,
        node: &'w Written,
    ) -> Properties<'w> {
        let kind = node.kind.keyword();
        let mut kept: Vec<&Property> = Vec::new();
        // A word that no kind has is misspelt, and was read as the one that was meant.
        let is_alien = |word: &str| !kinds(word).contains(&kind) && crate::parse::is_property(word);
        let alien = node.properties.iter();
        let alien = alien.filter(|property| is_alien(self.sources.text(property.keyword)));
        let alien: Vec<&Property> = alien.collect();
        let several = alien.len() > 1 && self.wrong_kind_of(node, &alien);
        for property in &node.properties {
            let word = self.sources.text(property.keyword).to_owned();
            if is_alien(&word) {
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
                    self.given_twice_at(&word, first.keyword, property.keyword);
                }
                _ => kept.push(property),
            }
        }
        Properties { inside, node, kept }
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
        let message = format!("{} `{kind}` node has no `{word}`", article(kind));
        let found = Diagnostic::new(&codes::PROPERTY_NOT_ALLOWED, message, property.keyword);
        let other = match (kind, word) {
            ("agent", "parallel") => Some("parallel_tools"),
            ("tools", "parallel_tools") => Some("parallel"),
            ("interrupt", "prompt") => Some("ask"),
            ("interrupt", "output") => Some("expect"),
            ("llm" | "agent", "ask") => Some("prompt"),
            _ => None,
        };
        self.diags.push(match (other, kind, word) {
            (Some(other), ..) => found
                .help(format!("write `{other}`"))
                .fix(property.keyword, other),
            (None, "subgraph", "retry") => found.help(
                "what failed is tried again where it failed: give `retry` to the nodes of the graph",
            ),
            _ => {
                let has = name::list(kinds(word).iter().copied());
                found.help(format!("it is a property of {has}"))
            }
        });
    }

    /// Reports a property that the node can't do without, unless it is lost in a part that did not parse.
    pub(super) fn missing(&mut self, of: &Properties, message: String, help: &str) {
        self.missing_of(of.node, message, help, None);
    }

    /// The same, of what the graph whose name stands at `of` may have for all its nodes.
    pub(super) fn missing_of(
        &mut self,
        node: &Written,
        message: String,
        help: &str,
        of: Option<Span>,
    ) {
        let damaged = self.is_damaged(node.span);
        // Where a property is none of its kind, the kind is likely another.
        let kind = node.kind.keyword();
        let mut properties = node.properties.iter();
        let alien =
            properties.any(|property| !kinds(self.sources.text(property.keyword)).contains(&kind));
        let reported = |found: &Diagnostic| {
            found.code == &codes::MISSING_PROPERTY && found.span() == node.name.span
        };
        if damaged || alien || self.diags.iter().rev().take(8).any(reported) {
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
