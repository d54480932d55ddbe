//! `same-fallback`: a fallback that is asked what has just failed.

use std::collections::HashMap;

use crate::ast::Name;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::Model;

use crate::ast::item::{Item, SettingValue};
use crate::lint::cx::Cx;

/// Warns of entries of `fallback` that are given twice, or are the same model at the same provider under
/// another name.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    twice(cx, diags);
    for model in &cx.program.models {
        let mut asked: HashMap<&str, &Model> = HashMap::from([(&*model.reference.node, model)]);
        for entry in &model.fallback {
            let Some(other) = cx.program.models.get(entry.node) else {
                continue;
            };
            if let Some(first) = asked.get(&*other.reference.node) {
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
            asked.entry(&other.reference.node).or_insert(other);
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
            let mut seen: HashMap<&str, &Name> = HashMap::new();
            for (at, name) in names.iter().enumerate() {
                if let Some(first) = seen.get(&*name.node) {
                    let message = format!("`{}` stands twice in the fallback", name.node);
                    diags.push(
                        Diagnostic::new(&codes::SAME_FALLBACK, message, name.span)
                            .label(first.span, "first here")
                            .help("take it out: it is asked once")
                            .take_out(&list, at),
                    );
                }
                seen.entry(&name.node).or_insert(name);
            }
        }
    }
}
