//! Values written out in settings: numbers, durations, words.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, Literal, UnaryOp};
use crate::ast::item::{Duration, SettingValue};
use crate::base::Span;
use crate::diag::{Code, Diagnostic, codes};

use super::Resolver;

impl Resolver<'_> {
    /// Milliseconds of a duration longer than nothing; reported otherwise.
    pub fn duration(&mut self, what: &str, duration: Duration) -> Option<u64> {
        if duration.millis > 0 {
            return Some(duration.millis);
        }
        // A duration that could not be read is 0 too.
        if self.diags.iter().any(|d| d.span() == duration.span) {
            return None;
        }
        let message = format!("{what} is 0, expected a duration such as `30s`");
        self.bad_value(message, duration.span);
        None
    }

    /// Milliseconds of a setting.
    pub fn setting_duration(&mut self, key: &Name, value: &SettingValue) -> Option<u64> {
        match value {
            SettingValue::Duration(duration) => {
                self.duration(&format!("`{}`", key.node), *duration)
            }
            other => self.wrong_kind(key, other, "a duration such as `30s`"),
        }
    }

    /// A number of a setting, within bounds.
    pub fn setting_number(
        &mut self,
        key: &Name,
        value: &SettingValue,
        least: f64,
        most: f64,
    ) -> Option<f64> {
        let SettingValue::Expr(expr) = value else {
            return self.wrong_kind(key, value, "a number");
        };
        let number = match number(expr) {
            Some(number) => number,
            None => return self.wrong_kind(key, value, "a number"),
        };
        if number >= least && number <= most {
            return Some(number);
        }
        let expected = match most.is_finite() {
            true => format!("{least} to {most}"),
            false => format!("at least {least}"),
        };
        self.bad_value(
            format!("`{}` is {number}, expected {expected}", key.node),
            expr.span,
        );
        None
    }

    /// A whole number of a setting, at least 1.
    pub fn setting_count(&mut self, key: &Name, value: &SettingValue) -> Option<u32> {
        match value {
            SettingValue::Expr(expr) => self.whole_number(&format!("`{}`", key.node), expr, 1),
            other => self.wrong_kind(key, other, "a whole number"),
        }
    }

    /// Reports a value of another kind than the setting takes.
    pub fn wrong_kind<T>(&mut self, key: &Name, value: &SettingValue, expected: &str) -> Option<T> {
        let span = match value {
            SettingValue::Expr(expr) if matches!(expr.kind, ExprKind::Error) => return None,
            SettingValue::Expr(expr) => expr.span,
            SettingValue::Duration(duration) => duration.span,
            SettingValue::Names(names) => {
                let spans = names.iter().map(|name| name.span).reduce(Span::to);
                spans.unwrap_or(key.span)
            }
            SettingValue::Retry(_) => key.span,
        };
        let found = match value {
            SettingValue::Names(_) => "a list".to_owned(),
            SettingValue::Retry(_) => "a retry policy".to_owned(),
            _ => format!("`{}`", self.sources.text(span)),
        };
        self.bad_value(
            format!("`{}` is {found}, expected {expected}", key.node),
            span,
        );
        None
    }

    /// Reports what is wrong, with what to do.
    pub fn report(
        &mut self,
        code: &'static Code,
        message: impl Into<String>,
        at: Span,
        help: impl Into<String>,
    ) {
        let found = Diagnostic::new(code, message, at);
        self.diags.push(found.help(help));
    }

    /// Reports a value that can't be.
    pub fn bad_value(&mut self, message: String, span: Span) {
        self.diags
            .push(Diagnostic::new(&codes::BAD_VALUE, message, span));
    }
}

/// The number that a literal is.
pub(super) fn number(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Literal(Literal::Int(number)) => Some(*number as f64),
        ExprKind::Literal(Literal::Float(number)) => Some(*number),
        ExprKind::Unary(UnaryOp::Negate, of) => number(of).map(|number| -number),
        _ => None,
    }
}

/// The whole number that a literal is.
pub(super) fn integer(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Literal(Literal::Int(number)) => Some(*number),
        ExprKind::Unary(UnaryOp::Negate, of) => integer(of).and_then(i64::checked_neg),
        _ => None,
    }
}
