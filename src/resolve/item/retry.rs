//! Retry policies: a number, a name, or a block of settings.

use crate::ast::Name;
use crate::ast::expr::{ExprKind, Literal};
use crate::ast::item::SettingValue;
use crate::ast::node::{RetrySetting, RetrySpec};
use crate::base::{FileId, foreign};
use crate::diag::{Diagnostic, codes};
use crate::ir::{ErrorKind, Retry};

use super::super::names::{Definition, Seen, Wanted};
use super::super::order::behind_what_they_name;
use super::super::{Resolver, State};

/// Keys of a block.
const KEYS: [&str; 6] = ["attempts", "initial", "factor", "max", "jitter", "on"];

impl Resolver<'_> {
    /// The policy; `None` where it is reported.
    pub fn retry(&mut self, file: FileId, spec: &RetrySpec) -> Option<Retry> {
        match spec {
            RetrySpec::Attempts(attempts) => {
                let fits = u32::try_from(attempts.node).ok().filter(|n| *n >= 1);
                let Some(attempts) = fits else {
                    let message = format!(
                        "`retry` allows {} attempts, expected at least 1",
                        attempts.node
                    );
                    self.bad_value(message, attempts.span);
                    return None;
                };
                Some(Retry {
                    attempts,
                    ..Retry::default()
                })
            }
            RetrySpec::Named(name) => match self.find(file, name, Wanted::Policy)? {
                Definition::Policy(index) => self.policy(index),
                _ => None,
            },
            RetrySpec::Block(settings, _) => Some(self.retry_block(settings)),
        }
    }

    /// A named policy. A cycle of names is reported once.
    pub fn policy(&mut self, index: usize) -> Option<Retry> {
        behind_what_they_name(index, self, Self::begin_policy, Self::finish_policy);
        let policy = self.policies.get(index)?;
        if let State::Done(retry) = &policy.state {
            return retry.clone();
        }
        let message = format!("retry policy `{}` stands for itself", policy.name.node);
        let help = "write out what it does: `{ attempts 3 }`";
        self.report(&codes::BAD_VALUE, message, policy.name.span, help);
        None
    }

    /// Begins a policy that is open yet; the one that it stands for.
    fn begin_policy(&mut self, index: usize) -> Option<Vec<usize>> {
        let policy = self.policies.get_mut(index)?;
        if !policy.state.begin() {
            return None;
        }
        let (file, spec) = (policy.file, policy.spec);
        let RetrySpec::Named(name) = spec else {
            return Some(Vec::new());
        };
        Some(match self.meaning(file, &name.node) {
            Some(Definition::Policy(next)) => vec![next],
            _ => Vec::new(),
        })
    }

    fn finish_policy(&mut self, index: usize) {
        let Some(policy) = self.policies.get(index) else {
            return;
        };
        let (file, spec) = (policy.file, policy.spec);
        let retry = self.retry(file, spec);
        if let Some(policy) = self.policies.get_mut(index) {
            policy.state = State::Done(retry);
        }
    }

    fn retry_block(&mut self, settings: &[RetrySetting]) -> Retry {
        let mut retry = Retry::default();
        let mut seen = Seen::default();
        for setting in settings {
            if self.given_once(&mut seen, &setting.key) {
                self.retry_setting(&mut retry, &setting.key, &setting.value);
            }
        }
        let longest = seen.get("max");
        if let Some(key) = longest.filter(|_| retry.max_ms < retry.initial_ms) {
            let message = "`max` is shorter than `initial`, expected at least as long";
            self.bad_value(message.to_owned(), key.span);
        }
        // A first wait longer than the default bound is meant: the bound follows it.
        retry.max_ms = retry.max_ms.max(retry.initial_ms);
        retry
    }

    fn retry_setting(&mut self, retry: &mut Retry, key: &Name, value: &SettingValue) {
        match key.node.as_str() {
            "attempts" => retry.attempts = self.setting_count(key, value).unwrap_or(retry.attempts),
            "initial" => {
                retry.initial_ms = self
                    .setting_duration(key, value)
                    .unwrap_or(retry.initial_ms);
            }
            "factor" => {
                let factor = self.setting_number(key, value, 1.0, f64::INFINITY);
                retry.factor = factor.unwrap_or(retry.factor);
            }
            "max" => retry.max_ms = self.setting_duration(key, value).unwrap_or(retry.max_ms),
            "jitter" => retry.jitter = self.setting_bool(key, value).unwrap_or(retry.jitter),
            "on" => {
                if let Some(kinds) = self.error_kinds(key, value, |kind| {
                    let message =
                        "`retry` never tries `unapproved` again: a person has refused the call";
                    (kind == ErrorKind::Unapproved).then(|| message.to_owned())
                }) {
                    retry.on = kinds;
                }
            }
            _ => self.unknown_setting("`retry`", key, &KEYS),
        }
    }

    fn setting_bool(&mut self, key: &Name, value: &SettingValue) -> Option<bool> {
        if let SettingValue::Expr(expr) = value
            && let ExprKind::Literal(Literal::Bool(value)) = expr.kind
        {
            return Some(value);
        }
        self.wrong_kind(key, value, "`true` or `false`")
    }

    /// A list of kinds of errors, each once. `refused` says why a kind can't be listed.
    pub fn error_kinds(
        &mut self,
        key: &Name,
        value: &SettingValue,
        refused: impl Fn(ErrorKind) -> Option<String>,
    ) -> Option<Vec<ErrorKind>> {
        let SettingValue::Names(names) = value else {
            return self.wrong_kind(key, value, "a list such as `[timeout, rate_limit]`");
        };
        if names.is_empty() {
            let help = format!(
                "take it out, or name some: `{} [rate_limit, timeout]`",
                key.node
            );
            let message = format!("`{}` is empty, expected kinds of error", key.node);
            self.report(&codes::BAD_VALUE, message, key.span, help);
        }
        let mut kinds = Vec::new();
        for name in names {
            let kind = ErrorKind::from_word(&name.node);
            if let Some(message) = kind.and_then(&refused) {
                self.report(&codes::BAD_VALUE, message, name.span, "take it out");
                continue;
            }
            match kind {
                Some(kind) if !kinds.contains(&kind) => kinds.push(kind),
                Some(_) => {}
                None => {
                    let words: Vec<&str> = ErrorKind::ALL.iter().map(|kind| kind.word()).collect();
                    self.bad_word("kind of error", name, &words);
                }
            }
        }
        Some(kinds)
    }

    /// Reports a setting that is not among `keys`.
    pub fn unknown_setting(&mut self, of: &str, key: &Name, keys: &[&str]) {
        let message = format!("{of} has no setting `{}`", key.node);
        let found = Diagnostic::new(&codes::UNKNOWN_SETTING, message, key.span);
        let meant = foreign::attribute::setting(&key.node).filter(|meant| keys.contains(meant));
        let keys = keys.iter().copied();
        self.diags.push(match meant {
            Some(meant) => found.help(format!("write `{meant}`")).fix(key.span, meant),
            None => found.meant(key.span, &key.node, keys, "it has"),
        });
    }
}
