//! `model writer = "provider/name" { .. }`

use std::collections::BTreeSet;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::ast::Name;
use crate::ast::expr::{ExprKind, Literal};
use crate::ast::item::{ModelDecl, ModelSetting, SettingValue};
use crate::base::name::{closest, list};
use crate::base::{FileId, Span, Spanned};
use crate::diag::{Diagnostic, codes};
use crate::ir::{ErrorKind, ModelId};

use super::super::Resolver;
use super::super::names::{Definition, Seen, Wanted};
use super::super::program::{Model, ModelSettings};
use super::super::setting::integer;

/// Values of `reasoning_effort`.
const EFFORTS: [&str; 8] = [
    "none", "default", "minimal", "low", "medium", "high", "xhigh", "max",
];

/// Settings of a model.
const KEYS: [&str; 10] = [
    "temperature",
    "top_p",
    "max_tokens",
    "thinking_budget",
    "reasoning_effort",
    "seed",
    "timeout",
    "retry",
    "fallback",
    "fallback_on",
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
            let found = Diagnostic::new(&codes::BAD_VALUE, message, decl.reference.span);
            let meant = format!("{:?}", decl.reference.node.replacen(':', "/", 1));
            self.diags
                .push(match parts.is_none() && meant.contains('/') {
                    true => found
                        .help(format!("write `{meant}`"))
                        .fix(decl.reference.span, meant),
                    false => found,
                });
        }
        let mut settings = ModelSettings::default();
        let mut fallback = Vec::new();
        let mut seen = Seen::default();
        for setting in &decl.settings {
            if !self.given_once(&mut seen, &setting.key) {
                continue;
            }
            match setting.key.node.as_str() {
                "fallback" => fallback = self.fallback(file, setting),
                _ => self.model_setting(file, &mut settings, setting),
            }
        }
        if fallback.is_empty() && settings.fallback_on.is_some() {
            let message =
                "`fallback_on` says when other models are asked, and `fallback` names none"
                    .to_owned();
            self.bad_value(message, decl.name.span);
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
            "fallback_on" => settings.fallback_on = self.fallback_kinds(key, value),
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

    /// Kinds of errors that another model may mend.
    fn fallback_kinds(&mut self, key: &Name, value: &SettingValue) -> Option<Vec<ErrorKind>> {
        self.error_kinds(key, value, |kind| {
            let message = format!("no other model is asked after `{}`", kind.word());
            (!kind.leads_to_fallback()).then_some(message)
        })
    }

    fn fallback(&mut self, file: FileId, setting: &ModelSetting) -> Vec<Spanned<ModelId>> {
        let SettingValue::Names(names) = &setting.value else {
            if let SettingValue::Expr(one) = &setting.value
                && let ExprKind::Ident(name) = &one.kind
            {
                let message = format!("`fallback` is `{name}`, expected a list of models");
                let found = Diagnostic::new(&codes::BAD_VALUE, message, one.span);
                self.diags.push(
                    found
                        .help(format!("write `[{name}]`"))
                        .fix(one.span, format!("[{name}]")),
                );
                return Vec::new();
            }
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
            if let Some(Definition::Model(id)) = self.find(file, name, Wanted::Model)
                && known.insert(id)
            {
                models.push(Spanned::new(id, name.span));
            }
        }
        models
    }

    /// Reports models that fall back to themselves, directly or through others: each group that does once, at its first model.
    pub fn fallbacks(&mut self) {
        let models = &self.program.models;
        let mut graph: DiGraph<ModelId, Span> = DiGraph::new();
        let at: Vec<NodeIndex> = models.ids().map(|id| graph.add_node(id)).collect();
        for (from, model) in at.iter().zip(models) {
            for to in &model.fallback {
                if let Some(place) = at.get(to.node.0 as usize) {
                    graph.add_edge(*from, *place, to.span);
                }
            }
        }
        for group in kosaraju_scc(&graph) {
            let inner = |edge: &EdgeReference<Span>| group.contains(&edge.target());
            let mut members = group.clone();
            members.sort();
            let edges = members
                .iter()
                .flat_map(|from| graph.edges(*from).filter(inner));
            let mut edges: Vec<EdgeReference<Span>> = edges.collect();
            let Some(first) = edges.pop() else { continue };
            let name = |at: &NodeIndex| {
                let model = graph.node_weight(*at).and_then(|id| models.get(*id));
                model.map_or("?", |model| model.name.as_str())
            };
            let others = members.iter().filter(|at| **at != first.source());
            let message = match group.len() {
                1 => format!("model `{}` falls back to itself", name(&first.source())),
                _ => format!(
                    "model `{}` falls back to itself, through {}",
                    name(&first.source()),
                    list(others.map(name))
                ),
            };
            let found = Diagnostic::new(&codes::CIRCULAR_FALLBACK, message, *first.weight())
                .help("take it out of one `fallback`: a model that has failed is not asked again");
            self.diags.push(edges.iter().fold(found, |found, edge| {
                found.label(
                    *edge.weight(),
                    format!("`{}` falls back to this", name(&edge.source())),
                )
            }));
        }
    }
}
