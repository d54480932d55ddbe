//! `model writer = "provider/name" { .. }`

use crate::ast::Name;
use crate::ast::expr::{ExprKind, Literal};
use crate::ast::item::{ModelDecl, ModelSetting, SettingValue};
use crate::base::{FileId, IdVec, Spanned};
use crate::diag::{Diagnostic, codes};
use crate::ir::ModelId;

use super::super::Resolver;
use super::super::names::{Thing, Wanted};
use super::super::program::{Model, ModelSettings};
use super::super::setting::integer;

/// Settings of a model.
const KEYS: [&str; 9] = [
    "temperature",
    "top_p",
    "max_tokens",
    "thinking_budget",
    "reasoning_effort",
    "seed",
    "timeout",
    "retry",
    "fallback",
];

impl Resolver<'_> {
    /// A model and its settings.
    pub fn model(&mut self, file: FileId, decl: &ModelDecl) {
        let parts = decl.reference.node.split_once('/');
        if !parts.is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty()) {
            let message = format!(
                "`{}` names no provider, expected `provider/model`",
                decl.reference.node
            );
            let help = format!(
                "write the provider before it: `\"openai/{}\"`",
                decl.reference.node
            );
            self.bad_value_mended(message, decl.reference.span, &help);
        }
        let mut settings = ModelSettings::default();
        let mut fallback = Vec::new();
        let mut seen: Vec<&Name> = Vec::new();
        for setting in &decl.settings {
            match seen.iter().find(|known| known.node == setting.key.node) {
                Some(first) => self.given_twice(first, &setting.key),
                None => {
                    seen.push(&setting.key);
                    match setting.key.node.as_str() {
                        "fallback" => fallback = self.fallback(file, setting),
                        _ => self.model_setting(file, &mut settings, setting),
                    }
                }
            }
        }
        self.program.models.push(Model {
            name: decl.name.clone(),
            reference: decl.reference.clone(),
            settings,
            fallback,
            span: decl.span,
        });
    }

    fn model_setting(
        &mut self,
        file: FileId,
        settings: &mut ModelSettings,
        setting: &ModelSetting,
    ) {
        let (key, value) = (&setting.key, &setting.value);
        match key.node.as_str() {
            "temperature" => settings.temperature = self.setting_number(key, value, 0.0, 2.0),
            "top_p" => settings.top_p = self.setting_number(key, value, 0.0, 1.0),
            "max_tokens" => settings.max_tokens = self.setting_count(key, value),
            "thinking_budget" => settings.thinking_budget = self.setting_count(key, value),
            "reasoning_effort" => settings.reasoning_effort = self.setting_text(key, value),
            "seed" => settings.seed = self.setting_integer(key, value),
            "timeout" => settings.timeout_ms = self.setting_duration(key, value),
            "retry" => {
                settings.retry = match value {
                    SettingValue::Retry(spec) => self.retry(file, spec),
                    other => self.wrong_kind(key, other, "a retry policy"),
                };
            }
            _ => self.unknown_setting("a model", key, &KEYS),
        }
    }

    fn setting_text(&mut self, key: &Name, value: &SettingValue) -> Option<String> {
        if let SettingValue::Expr(expr) = value {
            match &expr.kind {
                ExprKind::Literal(Literal::String(text)) => return Some(text.to_string()),
                ExprKind::Ident(word) => return Some(word.clone()),
                _ => {}
            }
        }
        self.wrong_kind(key, value, "a text such as `\"high\"`")
    }

    fn setting_integer(&mut self, key: &Name, value: &SettingValue) -> Option<i64> {
        if let SettingValue::Expr(expr) = value
            && let Some(number) = integer(expr)
        {
            return Some(number);
        }
        self.wrong_kind(key, value, "a whole number")
    }

    fn fallback(&mut self, file: FileId, setting: &ModelSetting) -> Vec<Spanned<ModelId>> {
        let SettingValue::Names(names) = &setting.value else {
            let expected = "a list of models such as `[backup]`";
            self.wrong_kind::<()>(&setting.key, &setting.value, expected);
            return Vec::new();
        };
        if names.is_empty() {
            let message = "`fallback` is empty, expected models".into();
            let help = "take it out, or name a model: `fallback [..]`";
            self.bad_value_mended(message, setting.span, help);
        }
        let mut models: Vec<Spanned<ModelId>> = Vec::new();
        for name in names {
            if let Some(Thing::Model(id)) = self.find(file, name, Wanted::Model)
                && models.iter().all(|known| known.node != id)
            {
                models.push(Spanned::new(id, name.span));
            }
        }
        models
    }

    /// Reports models that fall back to themselves, directly or through others: one circle is one mistake, whichever of
    /// its models is looked at.
    pub fn fallbacks(&mut self) {
        let models = &self.program.models;
        let mut found = Vec::new();
        let mut told: Vec<ModelId> = Vec::new();
        for (id, model) in models.entries() {
            for first in &model.fallback {
                let seen = behind(models, first.node);
                if told.contains(&id) || !seen.contains(&id) {
                    continue;
                }
                let own = &model.name.node;
                let message = match models.get(first.node).filter(|_| first.node != id) {
                    Some(next) => {
                        let next = &next.name.node;
                        format!("model `{own}` falls back to itself, through `{next}`")
                    }
                    None => format!("model `{own}` falls back to itself"),
                };
                let mut circle = Diagnostic::new(&codes::CIRCULAR_FALLBACK, message, first.span)
                    .help("take it out, or name a model that does not come back here");
                for other in seen.into_iter().filter(|other| *other != id) {
                    if !behind(models, other).contains(&id) {
                        continue;
                    }
                    told.push(other);
                    let Some(other) = models.get(other) else {
                        continue;
                    };
                    for back in other.fallback.iter().filter(|to| to.node == id) {
                        let says = format!("`{}` falls back to `{own}`", other.name.node);
                        circle = circle.label(back.span, says);
                    }
                }
                found.push(circle);
            }
        }
        for diagnostic in found {
            self.diags.push(diagnostic);
        }
    }
}

/// A model and all that it may fall back to.
fn behind(models: &IdVec<ModelId, Model>, first: ModelId) -> Vec<ModelId> {
    let mut open = vec![first];
    let mut seen = Vec::new();
    while let Some(next) = open.pop() {
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        let rest = models.get(next).into_iter().flat_map(|m| &m.fallback);
        open.extend(rest.map(|model| model.node));
    }
    seen
}
