//! Expressions and templates as text, spans as places.

use crate::ast::expr as ast;
use crate::ast::item::Require as WrittenRequire;
use crate::ast::item::{Let, NamedArg};
use crate::ast::node::TemplateText;
use crate::base::{SourceMap, Span};

use super::Lowering;
use crate::ir::node::Require;
use crate::ir::text::{Expr, Named, Place, Template};

/// Names of all files, relative to the folder of the first.
pub(super) fn files(sources: &SourceMap) -> Vec<String> {
    let mut names = sources.files().map(|(_, file)| file.name.to_string());
    let Some(first) = names.next() else {
        return Vec::new();
    };
    let folder: Vec<&str> = match first.rsplit_once('/') {
        Some((folder, _)) => folder.split('/').collect(),
        None => Vec::new(),
    };
    let rest = names.map(|name| relative(&folder, &name));
    let base = first.rsplit('/').next().unwrap_or(&first).to_owned();
    std::iter::once(base).chain(rest).collect()
}

fn relative(folder: &[&str], name: &str) -> String {
    if name.starts_with("std/") {
        return name.to_owned();
    }
    let parts: Vec<&str> = name.split('/').collect();
    let shared = folder
        .iter()
        .zip(&parts)
        .take_while(|(a, b)| a == b)
        .count();
    let up = "../".repeat(folder.len() - shared);
    up + &parts.get(shared..).unwrap_or_default().join("/")
}

impl Lowering<'_> {
    /// The expression as written, comments inside included.
    pub fn expr(&self, expr: &ast::Expr) -> Expr {
        Expr {
            text: self.sources.text(expr.span).to_owned(),
            at: self.place(expr.span),
        }
    }

    /// The same for one that may be missing.
    pub fn maybe(&self, expr: &Option<ast::Expr>) -> Option<Expr> {
        expr.as_ref().map(|expr| self.expr(expr))
    }

    /// Start of a span.
    pub fn place(&self, span: Span) -> Place {
        let at = self.sources.location(span);
        Place {
            file: span.file.0,
            line: at.line,
            column: at.column,
            offset: at.offset,
        }
    }

    /// A template.
    pub fn template(&self, template: &TemplateText) -> Template {
        Template {
            text: template.text.clone(),
            at: self.place(template.span),
            anchors: template.anchors.clone(),
        }
    }

    /// Arguments, payloads, values of `with`.
    pub fn named(&self, args: &[NamedArg]) -> Vec<Named> {
        let named = |arg: &NamedArg| Named {
            name: arg.name.node.clone(),
            value: self.expr(&arg.value),
        };
        args.iter().map(named).collect()
    }

    /// `let` names.
    pub fn lets(&self, lets: &[Let]) -> Vec<Named> {
        let named = |bound: &Let| Named {
            name: bound.name.node.clone(),
            value: self.expr(&bound.value),
        };
        lets.iter().map(named).collect()
    }

    /// What must hold.
    pub fn requires(&self, requires: &[WrittenRequire]) -> Vec<Require> {
        let require = |require: &WrittenRequire| Require {
            condition: self.expr(&require.condition),
            message: self.maybe(&require.message),
            at: self.place(require.span),
        };
        requires.iter().map(require).collect()
    }
}
