//! `reducer name(old: T, new: U) -> T = expr`

use crate::ast::Name;
use crate::ast::item::ReducerDecl;
use crate::base::{FileId, Spanned};
use crate::diag::{Diagnostic, codes};
use crate::expr::ty::Type;

use super::super::Resolver;
use super::super::channel;
use super::super::program::{Param, Reducer};

impl Resolver<'_> {
    /// A reducer. One whose signature is wrong is still there, with types that fit everything.
    pub fn reducer(&mut self, file: FileId, decl: &ReducerDecl) {
        if channel::BUILT_IN.contains(&decl.name.node.as_str()) {
            let message = format!("`{}` is a built-in reducer", decl.name.node);
            self.report(
                &codes::RESERVED_NAME,
                message,
                decl.name.span,
                "choose another name",
            );
        }
        let mut params = self.params(file, &decl.params, "parameter", false);
        let mut returns = self.spanned_type(file, &decl.returns);
        let body = self.expr(file, &decl.body);
        if let Some(param) = params.iter().find(|param| param.default.is_some()) {
            let message = "parameters of a reducer have no defaults";
            let span = param.span;
            self.diags
                .push(Diagnostic::new(&codes::REDUCER_SIGNATURE, message, span));
        }
        params.truncate(2);
        if decl.params.len() != 2 {
            let message = format!(
                "reducer `{}` has {}, expected the old value and the new one",
                decl.name.node,
                match decl.params.len() {
                    0 => "no parameters".to_owned(),
                    1 => "1 parameter".to_owned(),
                    count => format!("{count} parameters"),
                }
            );
            let diagnostic = Diagnostic::new(&codes::REDUCER_SIGNATURE, message, decl.name.span)
                .help(format!(
                    "write it as `reducer {}(old: T, new: U) -> T = ..`",
                    decl.name.node
                ));
            self.diags.push(diagnostic);
        }
        let mut params = params.into_iter();
        let missing = |name: &str| unknown_param(&decl.name, name);
        let mut old = params.next().unwrap_or_else(|| missing("old"));
        let new = params.next().unwrap_or_else(|| missing("new"));
        self.check_result(decl, (&mut old, &new), &mut returns);
        self.program.reducers.push(Reducer {
            name: decl.name.clone(),
            old,
            new,
            returns,
            body,
        });
    }

    /// A reducer gives back what it keeps: its result has the type of its first parameter.
    fn check_result(
        &mut self,
        decl: &ReducerDecl,
        (old, new): (&mut Param, &Param),
        returns: &mut Spanned<Type>,
    ) {
        let types = &self.program.types;
        if channel::same(&old.ty.node, &returns.node, types) {
            return;
        }
        let message = format!(
            "reducer `{}` gives back `{}`, the type of its first parameter, but this is `{}`",
            decl.name.node,
            types.show(&old.ty.node),
            types.show(&returns.node),
        );
        let kept = types.show(&old.ty.node).to_string();
        let swapped = channel::same(&new.ty.node, &returns.node, types);
        let diagnostic = Diagnostic::new(&codes::REDUCER_SIGNATURE, message, returns.span)
            .label(old.ty.span, "the old value")
            .help(match swapped {
                true => {
                    let own = types.show(&returns.node);
                    let (name, first, second) = (&decl.name.node, &new.name.node, &old.name.node);
                    format!("the old value comes first: `reducer {name}({first}: {own}, {second}: {kept}) -> {own}`")
                }
                false => format!("write `-> {kept}`, or give the first parameter that other type"),
            });
        self.diags.push(diagnostic);
        // Either may be the wrong one, so that nothing else is said of fields with it.
        returns.node = Type::Error;
        old.ty.node = Type::Error;
    }
}

/// Stands for a parameter that is missing.
fn unknown_param(reducer: &Name, name: &str) -> Param {
    Param {
        name: Name::new(name.to_owned(), reducer.span),
        doc: String::new(),
        ty: Spanned::new(Type::Error, reducer.span),
        default: None,
        constraints: Default::default(),
        marks: Default::default(),
        sink: None,
        span: reducer.span,
    }
}
