//! `unknown-provider`: the name of a provider that is likely mistyped.

use strsim::damerau_levenshtein;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};

use crate::lint::cx::Cx;

/// Providers and servers of models that many use. That a name is here says nothing of what can be reached: that is
/// for `graphc.yaml` to say.
const KNOWN: [&str; 24] = [
    "openai",
    "anthropic",
    "google",
    "gemini",
    "vertex",
    "azure",
    "bedrock",
    "mistral",
    "cohere",
    "groq",
    "cerebras",
    "deepseek",
    "xai",
    "perplexity",
    "together",
    "fireworks",
    "openrouter",
    "huggingface",
    "ollama",
    "lmstudio",
    "llamacpp",
    "vllm",
    "scripted",
    "local",
];

/// Warns of a provider whose name is nearly a known one. What `graphc.yaml` describes is known there.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for model in &cx.program.models {
        let Some((provider, _)) = model.reference.node.split_once('/') else {
            continue;
        };
        // Only a slip of one letter: `openai2` or `vertex-eu` may well be a provider of the project.
        let slip = |known: &&str| {
            let longer = provider.starts_with(known);
            known.len() > 3 && !longer && damerau_levenshtein(provider, known) == 1
        };
        let near = KNOWN.into_iter().find(slip);
        let Some(near) = near.filter(|_| !KNOWN.contains(&provider)) else {
            continue;
        };
        let start = model.reference.span.start as usize;
        let at = cx.sources.text(model.reference.span).find(provider);
        let start = start + at.unwrap_or(0);
        let span = Span::new(model.reference.span.file, start, start + provider.len());
        let message = format!(
            "provider `{provider}` of model `{}` is none that is known",
            model.name.node
        );
        diags.push(
            Diagnostic::new(&codes::UNKNOWN_PROVIDER, message, span)
                .help(format!("did you mean `{near}`?")),
        );
    }
}
