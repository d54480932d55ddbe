//! `prompt-too-long`: what is written in a prompt is more than the model reads.

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::{Model, Node};

use crate::lint::cx::{Cx, call};

/// Characters that make a token, about: in English text it is four.
const CHARACTERS: u64 = 4;

/// Warns where a node's own texts and the reply it may get don't fit into the context of a model that it
/// may ask.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let models = cx.program.models.iter();
    let room = models.filter_map(|model| {
        let context = cx.families.of(&model.reference.node)?.context?;
        Some(context.saturating_sub(reply(model)))
    });
    // What fits into the model with the least room fits into all.
    let room = room.min().unwrap_or(u64::MAX);
    for (_, node) in cx.nodes() {
        let prompt = tokens(node);
        if prompt == 0 || prompt <= room {
            continue;
        }
        let asked = call(node).and_then(|call| call.model);
        for model in asked.into_iter().flat_map(|model| cx.asked(model)) {
            let id = model;
            let Some(model) = cx.program.models.get(id) else {
                continue;
            };
            let family = cx.families.of(&model.reference.node);
            let Some(context) = family.and_then(|family| family.context) else {
                continue;
            };
            let reply = reply(model);
            if prompt + reply <= context {
                continue;
            }
            let finding = match prompt > context {
                true => {
                    let message = format!(
                        "the prompt of node `{}` has about {prompt} tokens, but model `{}` reads {context}",
                        node.name.node, model.name.node
                    );
                    Diagnostic::new(&codes::PROMPT_TOO_LONG, message, place(node))
                        .help("shorten it, or take a model with more room")
                }
                false => {
                    let message = format!(
                        "a reply of {reply} tokens and the prompt of node `{}` (about {prompt}) don't fit into the {context} of model `{}`",
                        node.name.node, model.name.node
                    );
                    let most = cx.setting(id, "max_tokens").unwrap_or(model.name.span);
                    Diagnostic::new(&codes::PROMPT_TOO_LONG, message, most)
                        .label(place(node), "the prompt")
                        .help("lower `max_tokens`, or take a model with more room")
                }
            };
            diags.push(finding.label(
                model.reference.span,
                cx.families.source(&model.reference.node),
            ));
        }
    }
}

/// Tokens that a reply of a model may have.
fn reply(model: &Model) -> u64 {
    u64::from(model.settings.max_tokens.unwrap_or(0))
}

fn texts(node: &Node) -> impl Iterator<Item = &crate::ast::node::TemplateText> {
    let call = call(node).into_iter();
    let words = call.flat_map(|call| [&call.system, &call.prompt]).flatten();
    words.map(|words| &words.text)
}

/// About how many tokens the fixed text has. What placeholders and loops bring comes on top.
fn tokens(node: &Node) -> u64 {
    let length = texts(node).map(|text| text.text.chars().count() as u64);
    length.sum::<u64>() / CHARACTERS
}

/// Where the longest text stands; of one in a file or a `prompt`, where that is named.
fn place(node: &Node) -> Span {
    let call = call(node).into_iter();
    let words = call.flat_map(|call| [&call.system, &call.prompt]).flatten();
    let longest = words.max_by_key(|words| words.text.text.len());
    longest.map_or(node.name.span, |words| words.at)
}
