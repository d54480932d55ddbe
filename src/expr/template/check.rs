//! The check of a template: what is in scope, and where things are.

use minijinja::machinery::{self, Span as Range, ast};
use minijinja::syntax::SyntaxConfig;

use crate::ast::node::TemplateText;
use crate::base::Span;
use crate::diag::{Code, Diagnostic, Diagnostics, codes};

use super::super::fold::inline::LetValue;
use super::super::infer::Narrowing;
use super::super::scope::Scope;
use super::super::ty::{Type, TypeTable};
use super::lost::Loops;
use super::narrow::path;
use super::{chain, place, placeholder, syntax};

/// Reports what is wrong with a template in a scope.
pub fn check(template: &TemplateText, scope: &Scope, types: &TypeTable, diags: &mut Diagnostics) {
    check_knowing(template, scope, types, (Narrowing::new(), &[]), diags);
}

/// As [`check`], where some places are known not to be null, and names stand for conditions.
pub fn check_knowing(
    template: &TemplateText,
    scope: &Scope,
    types: &TypeTable,
    (known, lets): (Narrowing, &[LetValue]),
    diags: &mut Diagnostics,
) {
    if let Some(beyond) = chain::too_long(&template.text) {
        let place = template.span_of(beyond.place.start, beyond.place.end);
        let found = Diagnostic::new(&codes::LIMIT_EXCEEDED, beyond.message, place);
        diags.push(found.help(beyond.help));
        return;
    }
    let tree = match machinery::parse(&template.text, "template", SyntaxConfig::default()) {
        Ok(tree) => tree,
        Err(error) => {
            diags.push(syntax::error(template, &error));
            return;
        }
    };
    let mut check = Check {
        template,
        scope,
        types,
        diags,
        locals: Vec::new(),
        known,
        lets,
        loops: Loops::default(),
    };
    check.statement(&tree);
    placeholder::check(template, &tree, scope, diags);
}

/// The walk over a template.
pub(super) struct Check<'a> {
    pub template: &'a TemplateText,
    pub scope: &'a Scope,
    pub types: &'a TypeTable,
    pub diags: &'a mut Diagnostics,
    /// Names set in the template, the latest last.
    pub locals: Vec<(String, Type)>,
    /// Places known not to be null here.
    pub known: Narrowing,
    /// What names of the scope stand for.
    pub lets: &'a [LetValue],
    /// Loops around this place.
    pub loops: Loops,
}

impl Check<'_> {
    pub fn span(&self, range: Range) -> Span {
        let whole = self.whole(range);
        self.template.span_of(whole.start, whole.end)
    }

    /// The place of an expression in the text, from its first name on.
    pub fn whole(&self, range: Range) -> std::ops::Range<usize> {
        let range = range.start_offset as usize..range.end_offset as usize;
        place::whole(&self.template.text, range)
    }

    /// The place of a name that an expression ends in, such as `b` of `a.b` or of `a | b`; all of it where it
    /// stands elsewhere.
    pub fn name_span(&self, range: Range, name: &str) -> Span {
        let (start, end) = (range.start_offset as usize, range.end_offset as usize);
        let found = self
            .template
            .text
            .get(start..end)
            .and_then(|text| text.rfind(name));
        match found {
            Some(at) => self.template.span_of(start + at, start + at + name.len()),
            None => self.span(range),
        }
    }

    /// What an expression is written as.
    pub fn source(&self, expr: &ast::Expr) -> &str {
        let range = self.whole(expr.span());
        let range = match expr {
            ast::Expr::Filter(_) => place::applied(&self.template.text, range),
            _ => range,
        };
        self.template.text.get(range).unwrap_or("this").trim()
    }

    pub fn report(&mut self, diagnostic: Diagnostic) -> Type {
        self.diags.push(diagnostic);
        Type::Error
    }

    pub fn error(&mut self, code: &'static Code, message: String, span: Span) -> Type {
        self.report(Diagnostic::new(code, message, span))
    }

    /// Gives a name a type; what was known of another thing of that name is forgotten.
    pub fn declare(&mut self, name: &str, ty: Type) {
        self.known.forget(name);
        self.locals.push((name.to_owned(), ty));
    }

    /// Runs a part whose names end with it.
    pub fn scoped(&mut self, part: impl FnOnce(&mut Self)) {
        let (depth, known) = (self.locals.len(), self.known.clone());
        part(self);
        self.locals.truncate(depth);
        self.known = known;
    }

    /// Runs a part below a condition. Names that it sets stay, as they do when it is rendered.
    pub fn under(&mut self, facts: Narrowing, part: impl FnOnce(&mut Self)) {
        let known = self.known.clone();
        self.known = known.clone().and(facts);
        part(self);
        self.known = known;
    }

    /// A type, with the name of what is of it.
    pub fn named(&self, expr: &ast::Expr, ty: &Type) -> String {
        let shown = self.show(ty);
        match path(expr) {
            Some(_) => format!("{shown} (`{}`)", self.source(expr)),
            None => shown,
        }
    }

    pub fn show(&self, ty: &Type) -> String {
        format!("`{}`", self.types.show(ty))
    }
}
