//! `prompt-too-long`: what is written in a prompt is more than the model reads.

use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::Node;

use crate::lint::cx::{Cx, call};

/// Characters that make a token, about: in English text it is four.
const CHARACTERS: u64 = 4;

/// Warns where a node's own texts and the reply it may get don't fit into the context of a model that it
/// may ask.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for (_, node) in cx.nodes() {
        let asked = call(node).and_then(|call| call.model);
        for model in asked.into_iter().flat_map(|model| cx.asked(model)) {
            let Some(model) = cx.program.models.get(model) else {
                continue;
            };
            let family = cx.families.of(&model.reference.node);
            let Some(context) = family.and_then(|family| family.context) else {
                continue;
            };
            let reply = u64::from(model.settings.max_tokens.unwrap_or(0));
            let prompt = tokens(node);
            if prompt == 0 || prompt + reply <= context {
                continue;
            }
            let (message, place) = match prompt > context {
                true => (
                    format!(
                        "the prompt of node `{}` has about {prompt} tokens, but model `{}` reads {context}",
                        node.name.node, model.name.node
                    ),
                    longest(node),
                ),
                false => (
                    format!(
                        "the prompt of node `{}` (about {prompt} tokens) and a reply of {reply} don't fit into the {context} of model `{}`",
                        node.name.node, model.name.node
                    ),
                    longest(node),
                ),
            };
            diags.push(
                Diagnostic::new(
                    &codes::PROMPT_TOO_LONG,
                    message,
                    place.unwrap_or(node.name.span),
                )
                .label(model.reference.span, format!("as of {}", cx.families.as_of))
                .help("shorten it, lower `max_tokens`, or take a model with more room"),
            );
        }
    }
}

fn texts(node: &Node) -> impl Iterator<Item = &crate::ast::node::TemplateText> {
    let call = call(node).into_iter();
    call.flat_map(|call| [&call.system, &call.prompt]).flatten()
}

/// About how many tokens the fixed text has. What placeholders and loops bring comes on top.
fn tokens(node: &Node) -> u64 {
    let length = texts(node).map(|text| text.text.chars().count() as u64);
    length.sum::<u64>() / CHARACTERS
}

/// Where the longest text begins.
fn longest(node: &Node) -> Option<crate::base::Span> {
    let longest = texts(node).max_by_key(|text| text.text.len())?;
    Some(longest.span)
}
