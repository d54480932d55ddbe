//! `model writer = "provider/name" { .. }`

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::ast::Name;
use crate::ast::expr::{ExprKind, Literal};
use crate::ast::item::{ModelDecl, ModelSetting, SettingValue};
use crate::base::name::{closest, list};
use crate::base::{FileId, IdVec, Span, Spanned};
use crate::diag::{Diagnostic, codes};
use crate::ir::ModelId;

use super::super::Resolver;
use super::super::names::{Thing, Wanted};
use super::super::program::{Model, ModelSettings};
use super::super::setting::integer;

/// Values of `reasoning_effort`.
const EFFORTS: [&str; 8] = [
    "none", "default", "minimal", "low", "medium", "high", "xhigh", "max",
];

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
            let missing = match parts {
                Some((provider, _)) if !provider.is_empty() => "model",
                _ => "provider",
            };
            let message = format!(
                "`{}` names no {missing}, expected `provider/model`",
                decl.reference.node
            );
            self.bad_value(message, decl.reference.span);
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
            "reasoning_effort" => {
                settings.reasoning_effort = self.setting_text(key, value);
                self.effort(settings.reasoning_effort.as_deref(), setting.span);
            }
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

    /// The words that providers share. One of its own is said in the provider's settings.
    fn effort(&mut self, word: Option<&str>, span: Span) {
        let Some(word) = word.filter(|word| !EFFORTS.contains(word)) else {
            return;
        };
        let message = format!("`{word}` is no `reasoning_effort`");
        let found = Diagnostic::new(&codes::BAD_VALUE, message, span);
        self.diags.push(found.help(match closest(word, EFFORTS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "it is one of {}; what a provider has besides goes into its `extra_body` in graphc.yaml",
                list(EFFORTS)
            ),
        }));
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
            self.bad_value("`fallback` is empty, expected models".into(), setting.span);
        }
        let mut models: Vec<Spanned<ModelId>> = Vec::new();
        let mut known = BTreeSet::new();
        for name in names {
            if let Some(Thing::Model(id)) = self.find(file, name, Wanted::Model)
                && known.insert(id)
            {
                models.push(Spanned::new(id, name.span));
            }
        }
        models
    }

    /// Reports models that fall back to themselves, directly or through others: each circle once, where it closes.
    pub fn fallbacks(&mut self) {
        let models = &self.program.models;
        let mut told: BTreeSet<ModelId> = BTreeSet::new();
        let mut found = Vec::new();
        let groups = groups(models);
        for id in models.ids() {
            if told.contains(&id) {
                continue;
            }
            let circle = circle(models, &groups, id);
            let Some(((from, closing), rest)) = circle.split_last() else {
                continue;
            };
            if circle.iter().any(|(model, _)| told.contains(model)) {
                continue;
            }
            told.extend(circle.iter().map(|(model, _)| *model));
            let name = |id: &ModelId| models.get(*id).map_or("?", |model| &model.name.node);
            let through = match rest.is_empty() {
                true => String::new(),
                false => format!(", through {}", list(rest.iter().map(|(id, _)| name(id)))),
            };
            let message = format!("model `{}` falls back to itself{through}", name(from));
            let diagnostic = Diagnostic::new(&codes::CIRCULAR_FALLBACK, message, *closing)
                .help("take it out of one `fallback`: a model that has failed is not asked again");
            found.push(rest.iter().fold(diagnostic, |found, (model, span)| {
                found.label(*span, format!("`{}` falls back to this", name(model)))
            }));
        }
        for diagnostic in found {
            self.diags.push(diagnostic);
        }
    }
}

/// A number for each model: those that lead to each other have the same one.
fn groups(models: &IdVec<ModelId, Model>) -> Vec<usize> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in models {
        graph.add_node(());
    }
    for (from, model) in models.entries() {
        for to in &model.fallback {
            let (from, to) = (from.0 as usize, to.node.0 as usize);
            if to < models.len() {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
            }
        }
    }
    let mut group = vec![0; models.len()];
    for (number, members) in kosaraju_scc(&graph).into_iter().enumerate() {
        for member in members {
            if let Some(slot) = group.get_mut(member.index()) {
                *slot = number;
            }
        }
    }
    group
}

/// The shortest way from a model back to itself: each model of it with the place where it names the next.
fn circle(models: &IdVec<ModelId, Model>, groups: &[usize], id: ModelId) -> Vec<(ModelId, Span)> {
    let group = |id: ModelId| groups.get(id.0 as usize);
    let mut came: BTreeMap<ModelId, (ModelId, Span)> = BTreeMap::new();
    let mut open = VecDeque::from([id]);
    while let Some(from) = open.pop_front() {
        for next in models.get(from).into_iter().flat_map(|m| &m.fallback) {
            if came.contains_key(&next.node) || group(next.node) != group(id) {
                continue;
            }
            came.insert(next.node, (from, next.span));
            open.push_back(next.node);
        }
        if came.contains_key(&id) {
            break;
        }
    }
    let mut way = Vec::new();
    let mut at = id;
    while let Some((from, span)) = came.get(&at) {
        way.push((*from, *span));
        at = *from;
        if at == id {
            break;
        }
    }
    way.reverse();
    way
}
