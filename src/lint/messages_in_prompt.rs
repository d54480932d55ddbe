//! `messages-in-prompt`: a conversation printed into a text as JSON.

use std::sync::LazyLock;

use regex::Regex;

use crate::ast::node::TemplateText;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Type;
use crate::expr::ty::MESSAGE;
use crate::resolve::program::Graph;

use super::cx::{Cx, call};

// The pattern is a constant, and a case shows what it finds.
#[allow(clippy::unwrap_used)]
static WHOLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{-?\s*(state\.(\w+))\s*(\|\s*(tojson|string)\s*)?-?\}\}").unwrap()
});

/// Warns of `{{ state.x }}` in a prompt where `x` is a list of messages.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for (graph, node) in cx.nodes() {
        let Some(call) = call(node) else { continue };
        for text in [&call.system, &call.prompt].into_iter().flatten() {
            printed(graph, text, diags);
        }
    }
}

fn printed(graph: &Graph, text: &TemplateText, diags: &mut Diagnostics) {
    for found in WHOLE.captures_iter(&text.text) {
        let (Some(place), Some(name)) = (found.get(1), found.get(2)) else {
            continue;
        };
        let field = graph.field(name.as_str());
        let field = field.and_then(|id| graph.fields.get(id));
        if field.is_none_or(|field| !is_messages(&field.ty.node)) {
            continue;
        }
        let message = format!(
            "the whole conversation `{}` is printed into the prompt as JSON",
            place.as_str()
        );
        let span = text.span_of(place.start(), place.end());
        let help = format!(
            "hand it over as it is: `messages {}`; or print what matters, in a loop",
            place.as_str()
        );
        diags.push(Diagnostic::new(&codes::MESSAGES_IN_PROMPT, message, span).help(help));
    }
}

/// Whether it is `list<message>`.
pub fn is_messages(ty: &Type) -> bool {
    ty.without_null() == Type::list(Type::Record(MESSAGE))
}
