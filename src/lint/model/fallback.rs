//! `same-fallback`: a fallback that is asked what has just failed.

use crate::ast::Name;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::ModelId;
use crate::resolve::program::Model;

use crate::ast::item::{Item, SettingValue};
use crate::lint::cx::Cx;

/// Warns of entries of `fallback` that are given twice, or are the same model at the same provider under
/// another name.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    twice(cx, diags);
    for model in &cx.program.models {
        let mut asked: Vec<(ModelId, &Model)> = Vec::new();
        for entry in &model.fallback {
            let Some(other) = cx.program.models.get(entry.node) else {
                continue;
            };
            let same = |known: &Model| known.reference.node == other.reference.node;
            let before = asked.iter().map(|(_, known)| *known);
            if let Some(first) = std::iter::once(model).chain(before).find(|m| same(m)) {
                let message = format!(
                    "`{}` is `{}`, which has failed already as `{}`",
                    other.name.node, other.reference.node, first.name.node
                );
                diags.push(
                    Diagnostic::new(&codes::SAME_FALLBACK, message, entry.span)
                        .label(first.reference.span, "the same model")
                        .help("fall back to another model, or try this one again with `retry`"),
                );
            }
            asked.push((entry.node, other));
        }
    }
}

fn twice(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for (_, item) in cx.items() {
        let Item::Model(decl) = item else { continue };
        for setting in decl.settings.iter().filter(|s| s.key.node == "fallback") {
            let SettingValue::Names(names) = &setting.value else {
                continue;
            };
            let list: Vec<Span> = names.iter().map(|name| name.span).collect();
            let mut seen: Vec<&Name> = Vec::new();
            for (at, name) in names.iter().enumerate() {
                if let Some(first) = seen.iter().find(|known| known.node == name.node) {
                    let message = format!("`{}` stands twice in the fallback", name.node);
                    diags.push(
                        Diagnostic::new(&codes::SAME_FALLBACK, message, name.span)
                            .label(first.span, "first here")
                            .help("take it out: it is asked once")
                            .take_out(&list, at),
                    );
                }
                seen.push(name);
            }
        }
    }
}
