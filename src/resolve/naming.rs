//! How names are written: `UpperCamel` for types, enums and graphs, `snake_case` for all else; and
//! names that the language keeps for itself.

use crate::ast::Name;
use crate::diag::codes;
use crate::ir::node::CHUNK;

use super::Resolver;

/// A way to write names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `UpperCamel`
    Camel,
    /// `snake_case`
    Snake,
}

/// Names with a meaning in expressions of a node, which a `let` or loop name would hide.
pub const IN_SCOPE: [&str; 13] = [
    "state",
    "input",
    "output",
    "reply",
    "transcript",
    "results",
    "result",
    "answer",
    "answered",
    "error",
    "run",
    "params",
    "context",
];

/// Words that a target can't be taken for a node's name.
const TARGETS: [&str; 5] = ["start", "end", "fail", "parent", "each"];

/// Words that are values wherever an expression may stand.
const VALUES: [&str; 3] = ["null", "true", "false"];

impl Resolver<'_> {
    /// Warns of a name in the other style; refuses one that is a value where an expression names it.
    pub fn check_style(&mut self, name: &Name, style: Style) {
        match VALUES.contains(&name.node.as_str()) {
            true => self.reserved(name, "is a value and can't be a name"),
            false => self.check_letters(name, style),
        }
    }

    fn reserved(&mut self, name: &Name, why: &str) {
        let message = format!("`{}` {why}", name.node);
        let help = "choose another name";
        self.report(&codes::RESERVED_NAME, message, name.span, help);
    }

    fn check_letters(&mut self, name: &Name, style: Style) {
        let (fits, better, called) = match style {
            Style::Camel => (is_camel(name), camel(name), "UpperCamel"),
            Style::Snake => (is_snake(name), snake(name), "snake_case"),
        };
        if !fits {
            let message = format!("`{}` is not written in {called}", name.node);
            self.report(
                &codes::NAMING,
                message,
                name.span,
                format!("write `{better}`"),
            );
        }
    }

    /// Checks the name of a node; `false` where no target can name it.
    pub fn check_node_name(&mut self, name: &Name) -> bool {
        self.check_letters(name, Style::Snake);
        let taken = TARGETS.contains(&name.node.as_str());
        if taken {
            let why = "is a word of the language and can't name a node";
            self.reserved(name, why);
        }
        !taken
    }

    /// Refuses a name that would hide a piece of a reply in a node with `stream as`.
    pub fn free_of_chunk(&mut self, name: &Name) {
        if name.node == CHUNK {
            self.reserved(name, "is a piece of the reply in a node with `stream as`");
        }
    }

    /// Checks a name that a `let` or a loop brings into the scope of a node's expressions.
    /// `false` where it has another meaning there.
    pub fn check_local_name(&mut self, name: &Name) -> bool {
        self.check_style(name, Style::Snake);
        let taken = IN_SCOPE.contains(&name.node.as_str());
        if taken {
            let why = "has a meaning of its own in expressions";
            self.reserved(name, why);
        }
        !taken
    }
}

fn is_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains('_')
}

fn is_snake(name: &str) -> bool {
    !name.contains(|c: char| c.is_ascii_uppercase())
}

fn camel(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut chars = word.chars();
            let first = chars.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(chars).collect::<String>()
        })
        .collect()
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before = '_';
    for c in name.chars() {
        if c.is_ascii_uppercase() && !matches!(before, '_' | '.') && !before.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
        before = c;
    }
    out
}
