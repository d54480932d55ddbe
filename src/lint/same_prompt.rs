//! `same-prompt`: one text written out in two nodes.

use std::collections::HashMap;

use crate::ast::node::TemplateText;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::cx::{Cx, call};

/// Shorter texts may well be alike by chance.
const LEAST: usize = 40;

/// Notes each prompt that is written like one before it. One file or `prompt` that two nodes name is one text.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let mut seen: HashMap<String, (Span, &str)> = HashMap::new();
    for (_, node) in cx.nodes() {
        let Some(call) = call(node) else { continue };
        for text in [&call.system, &call.prompt].into_iter().flatten() {
            let words = words(text);
            if words.len() < LEAST {
                continue;
            }
            let (first, other) = *seen.entry(words).or_insert((text.span, &node.name.node));
            if first == text.span {
                continue;
            }
            let message = format!(
                "node `{}` is given the same prompt as node `{other}`",
                node.name.node
            );
            diags.push(
                Diagnostic::new(&codes::SAME_PROMPT, message, text.span)
                    .label(first, "first written here")
                    .help("write it once, `prompt NAME = \"..\"`, and name that in both"),
            );
        }
    }
}

/// The text with each stretch of blanks as one.
fn words(text: &TemplateText) -> String {
    text.text.split_whitespace().collect::<Vec<_>>().join(" ")
}
