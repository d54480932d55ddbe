//! `placeholder-in-text` of a whole text: the path of a file where its words were meant.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::ast::node::TemplateText;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::{Ask, Work};

use super::cx::{Cx, call};

// The pattern is a constant, and a case shows what it finds.
#[allow(clippy::unwrap_used)]
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*[\w./-]+\.(md|txt|j2|jinja2?|prompt|tmpl|markdown)\s*$").unwrap()
});

/// Warns of a text in a place of templates that is nothing but a path.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let mut seen: HashSet<Span> = HashSet::new();
    let mut look = |what: &str, text: &TemplateText| {
        if text.text.len() > 200 || !PATH.is_match(&text.text) || !seen.insert(text.span) {
            return;
        }
        let path = text.text.trim();
        let message = format!("{what} is the text `{path}`, not what the file holds");
        let found = Diagnostic::new(&codes::PLACEHOLDER_IN_TEXT, message, text.span);
        diags.push(found.help(format!("write `file \"{path}\"`")));
    };
    for (_, node) in cx.nodes() {
        let name = &node.name.node;
        let call = call(node);
        let system = call.and_then(|call| call.system.as_ref());
        let prompt = call.and_then(|call| call.prompt.as_ref());
        for (words, what) in [(system, "system"), (prompt, "prompt")] {
            if let Some(words) = words.filter(|words| words.from.is_none()) {
                look(&format!("the `{what}` of `{name}`"), &words.text);
            }
        }
        if let Work::Interrupt { ask: Some(ask), .. } = &node.work
            && let Ask::Text(words) = &**ask
            && words.from.is_none()
        {
            look(&format!("the `ask` of `{name}`"), &words.text);
        }
    }
    for prompt in &cx.program.prompts {
        if let Some(text) = &prompt.text {
            look(&format!("prompt `{}`", prompt.name.node), text);
        }
    }
}
