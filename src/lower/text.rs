//! Expressions and templates as text, spans as places.

use crate::ast::expr as ast;
use crate::ast::item::{Let, NamedArg};
use crate::ast::node::TemplateText;
use crate::base::{SourceMap, Span};
use crate::expr::infer::default_value;
use crate::resolve::node::Require as WrittenRequire;
use crate::resolve::node::Words;
use crate::resolve::program::Param;

use super::Lowering;
use crate::ir::node::Require;
use crate::ir::text::{Anchor, Expr, Named, Place, Template};

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
        let text = self.sources.text(expr.span).to_owned();
        let at = self.place(expr.span);
        match self.is_folded {
            true => Expr::new(text, at),
            false => Expr::of_tree(text, at, expr),
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

    /// A text, with the values of its names where it is that of a named prompt.
    pub fn words(&self, words: &Words) -> Template {
        let args = words.from.as_ref().and_then(|used| {
            let prompt = self.program.prompts.get(used.prompt?)?;
            let at = self.place(used.name.span);
            let values = prompt.params.iter().map(|param| {
                let given = used
                    .args
                    .iter()
                    .find(|arg| arg.name.node == param.name.node);
                Named {
                    name: param.name.node.clone(),
                    value: match given {
                        Some(arg) => self.expr(&arg.value),
                        None => self.left_out(param, at),
                    },
                }
            });
            Some(values.collect())
        });
        Template {
            text: words.text.text.clone(),
            at: self.place(words.text.span),
            anchors: self.anchors(&words.text),
            args,
        }
    }

    fn anchors(&self, text: &TemplateText) -> Vec<Anchor> {
        let anchors = text.anchors.iter().map(|(text_offset, offset)| {
            let offset = *offset as usize;
            let at = self.place(Span::new(text.span.file, offset, offset));
            Anchor {
                text: *text_offset,
                line: at.line,
                column: at.column,
            }
        });
        anchors.collect()
    }

    /// What a parameter is that is given no value: its default, else null. JSON is an expression of the language.
    pub(super) fn left_out(&self, param: &Param, at: Place) -> Expr {
        let default = param.default.as_ref();
        let value = default.and_then(|e| default_value(e, &param.ty.node, &self.program.types));
        Expr::new(value.unwrap_or_default().to_string(), at)
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
            after_lets: require.after_lets as u32,
            at: self.place(require.span),
        };
        requires.iter().map(require).collect()
    }
}
