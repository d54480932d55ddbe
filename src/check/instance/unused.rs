//! Parameters of graphs that nothing uses.

use std::collections::BTreeSet;

use crate::base::SourceMap;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::Program;

/// Warns of parameters that are not named in their graph nor in any prompt file.
///
/// The text is searched, templates and comments included: that can miss one, but calls none unused
/// that is used.
pub fn unused(program: &Program, sources: &SourceMap, diags: &mut Diagnostics) {
    for graph in &program.graphs {
        for name in &graph.unused_params {
            let message = format!(
                "nothing in graph `{}` uses its parameter `{}`",
                graph.name.node, name.node
            );
            let found = Diagnostic::new(&codes::UNUSED_PARAMETER, message, name.span);
            diags.push(found.help("use it, or take it out"));
        }
    }
    if program.graphs.iter().all(|graph| graph.params.is_empty()) {
        return;
    }
    let is_module = |file| program.modules.iter().any(|module| module.file == file);
    let prompts = sources.files().filter(|(file, _)| !is_module(*file));
    let prompts: Vec<&str> = prompts.map(|(_, file)| &*file.text).collect();
    for graph in program
        .graphs
        .iter()
        .filter(|graph| !graph.params.is_empty())
    {
        let own = sources.text(graph.span);
        let texts = || prompts.iter().copied().chain([own]);
        // Where `params` stands alone, all of them may be meant.
        let used: BTreeSet<&str> = texts().flat_map(names).collect();
        if used.contains("") {
            continue;
        }
        for param in &graph.params {
            let name = param.name.node.as_str();
            if used.contains(name) {
                continue;
            }
            let message = format!(
                "nothing in graph `{}` uses its parameter `{name}`",
                graph.name.node
            );
            diags.push(
                Diagnostic::new(&codes::UNUSED_PARAMETER, message, param.name.span)
                    .help(format!("use `params.{name}`, or take it out")),
            );
        }
    }
}

/// The names behind `params.`, empty where none follows.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices("params").filter_map(move |(at, word)| {
        let before = text.get(..at).unwrap_or_default();
        let rest = text.get(at + word.len()..).unwrap_or_default();
        if before.ends_with(is_word) || rest.starts_with(is_word) {
            return None;
        }
        let name = rest.strip_prefix('.').unwrap_or_default();
        let end = name.find(|c| !is_word(c)).unwrap_or(name.len());
        name.get(..end)
    })
}
