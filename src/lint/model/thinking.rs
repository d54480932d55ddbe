//! Settings about thinking, temperature and length that don't go together: `thinking-budget`,
//! `reasoning-temperature`, `unbounded-thinking`, `missing-max-tokens`, and `model-lacks` for thinking.

use crate::base::Span;
use crate::diag::{Code, Diagnostic, Diagnostics, codes};
use crate::ir::ModelId;
use crate::resolve::program::Model;

use super::Family;
use crate::lint::cx::Cx;

/// Looks at the settings of each model.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for (id, model) in cx.program.models.entries() {
        let of = Of {
            cx,
            id,
            model,
            family: cx.families.of(&model.reference.node),
        };
        let rules = [
            Of::budget,
            Of::temperature,
            Of::lacking,
            Of::unbounded,
            Of::length,
        ];
        for rule in rules {
            rule(&of).into_iter().for_each(|found| diags.push(found));
        }
    }
}

/// A model and what is known of it.
struct Of<'c> {
    cx: &'c Cx<'c>,
    id: ModelId,
    model: &'c Model,
    family: Option<&'c Family>,
}

impl Of<'_> {
    fn place(&self, key: &str) -> Span {
        let setting = self.cx.setting(self.id, key);
        setting.unwrap_or(self.model.name.span)
    }

    fn finding(&self, code: &'static Code, message: String, key: &str) -> Diagnostic {
        Diagnostic::new(code, message, self.place(key))
    }

    fn name(&self) -> &str {
        &self.model.name.node
    }

    /// Tokens for thinking are taken from those of the reply.
    fn budget(&self) -> Option<Diagnostic> {
        let settings = &self.model.settings;
        let (budget, most) = (settings.thinking_budget?, settings.max_tokens?);
        if budget < most {
            return None;
        }
        let message = format!(
            "model `{}` may think for {budget} tokens, but its reply has {most} in all",
            self.name()
        );
        Some(
            self.finding(&codes::THINKING_BUDGET, message, "thinking_budget")
                .label(self.place("max_tokens"), "thinking counts here too")
                .help("make `max_tokens` larger than `thinking_budget`"),
        )
    }

    /// The setting that makes the model think.
    fn thinks(&self) -> Option<&'static str> {
        let settings = &self.model.settings;
        let effort = settings.reasoning_effort.as_deref();
        if settings.thinking_budget.is_some() {
            return Some("thinking_budget");
        }
        effort
            .is_some_and(|effort| !matches!(effort, "none" | "minimal"))
            .then_some("reasoning_effort")
    }

    fn temperature(&self) -> Option<Diagnostic> {
        let temperature = self.model.settings.temperature?;
        // What they have anyway is taken.
        if (temperature - 1.0).abs() < f64::EPSILON {
            return None;
        }
        let never = self
            .family
            .is_some_and(|family| family.temperature == Some(false));
        let thinks = self.thinks();
        if !never && thinks.is_none() {
            return None;
        }
        let message = match thinks {
            Some(_) => format!(
                "model `{}` thinks, and takes no `temperature` then",
                self.name()
            ),
            None => format!("`{}` takes no `temperature`", self.model.reference.node),
        };
        let finding = self.finding(&codes::REASONING_TEMPERATURE, message, "temperature");
        let finding = finding.help("take `temperature` out");
        Some(match thinks {
            Some(key) => finding.label(self.place(key), "made to think here"),
            None => finding.label(self.model.reference.span, self.known()),
        })
    }

    fn known(&self) -> String {
        self.cx.families.source(&self.model.reference.node)
    }

    fn lacking(&self) -> Option<Diagnostic> {
        let key = self.thinks()?;
        if self.family?.thinks != Some(false) {
            return None;
        }
        let message = format!(
            "model `{}` has `{key}`, but `{}` does not think",
            self.name(),
            self.model.reference.node
        );
        Some(
            self.finding(&codes::MODEL_LACKS, message, key)
                .label(self.model.reference.span, self.known())
                .help(format!("take `{key}` out, or take a model that thinks")),
        )
    }

    fn unbounded(&self) -> Option<Diagnostic> {
        let settings = &self.model.settings;
        let most = settings.max_tokens?;
        let bounded = settings.thinking_budget.is_some() || settings.reasoning_effort.is_some();
        if bounded || self.family?.thinks != Some(true) {
            return None;
        }
        let message = format!(
            "model `{}` may spend all of its {most} tokens on thinking",
            self.name()
        );
        Some(
            self.finding(&codes::UNBOUNDED_THINKING, message, "max_tokens")
                .label(
                    self.model.reference.span,
                    format!("thinks, {}", self.known()),
                )
                .help("add `thinking_budget` or `reasoning_effort`"),
        )
    }

    fn length(&self) -> Option<Diagnostic> {
        if self.model.settings.max_tokens.is_some() {
            return None;
        }
        let message = format!(
            "model `{}` has no `max_tokens`: what a reply costs has no bound",
            self.name()
        );
        let finding = Diagnostic::new(&codes::MISSING_MAX_TOKENS, message, self.model.name.span);
        Some(finding.help("write `max_tokens 2000` among its settings"))
    }
}
