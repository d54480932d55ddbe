//! `context` at calls of graphs: what a called graph reads of it, the caller must have.

use crate::ast::Name;
use crate::base::Spanned;
use crate::base::name::closest;
use crate::diag::{Diagnostic, Diagnostics, Home, codes};
use crate::expr::Type;
use crate::expr::infer::assignable;
use crate::resolve::program::{Graph, Param, Program};

/// Reports calls whose graph has a field in its context that the caller's lacks or has with another
/// type. A field that has a value of its own to begin with may be lacking.
pub fn contexts(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    for node in &graph.nodes {
        let Some((child, name)) = node.called() else {
            continue;
        };
        let Some(called) = program.graphs.get(child) else {
            continue;
        };
        let Some(context) = &called.context else {
            continue;
        };
        for field in &context.fields {
            let own = graph.context.as_ref();
            let own =
                own.and_then(|own| own.fields.iter().find(|f| f.name.node == field.name.node));
            match own {
                Some(own) if assignable(&own.ty.node, &field.ty.node, &program.types) => {}
                Some(own) => diags.push(
                    Mistyped {
                        program,
                        graph,
                        called,
                        name,
                        own,
                        field,
                    }
                    .report(),
                ),
                None if field.default.is_none() && !field.ty.node.admits_null() => {
                    diags.push(
                        Lacking {
                            program,
                            graph,
                            called,
                            name,
                            field,
                        }
                        .report(),
                    );
                }
                None => {}
            }
        }
    }
}

/// A field of a called graph's context that the caller's lacks.
struct Lacking<'a> {
    program: &'a Program,
    graph: &'a Graph,
    called: &'a Graph,
    name: &'a Name,
    field: &'a Param,
}

impl Lacking<'_> {
    fn report(&self) -> Diagnostic {
        let field = &self.field.name.node;
        let caller = &self.graph.name.node;
        let message = format!(
            "`{}` needs `context.{field}`, which `{caller}` does not have",
            self.called.name.node
        );
        let own = self
            .graph
            .context
            .as_ref()
            .map_or(&[][..], |own| &own.fields);
        let near = closest(field, own.iter().map(|field| field.name.node.as_str()));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        let help = help.unwrap_or_else(|| {
            let ty = self.program.types.show(&self.field.ty.node);
            format!("declare it in `{caller}`: `context {{ {field}: {ty} }}`")
        });
        let found = Diagnostic::new(&codes::CONTEXT_MISMATCH, message, self.name.span)
            .label(self.field.name.span, "declared here")
            .help(help);
        let meant = near.and_then(|near| own.iter().find(|field| field.name.node == near));
        let found = match meant {
            Some(meant) => found.about(meant.name.span),
            None => found,
        };
        // What the caller has is a name that the called graph's context may have been meant to have.
        match (self.called.context.as_ref().zip(near), &self.graph.context) {
            (Some((context, near)), _) => found
                .unknown(near, Home::Record(context.record.0))
                .near(Some(field)),
            (None, Some(own)) => found.unknown(field, Home::Record(own.record.0)),
            (None, None) => found.unknown(field, Home::Takes(self.graph.name.span)),
        }
    }
}

/// A field that both have, with types that don't go together.
struct Mistyped<'a> {
    program: &'a Program,
    graph: &'a Graph,
    called: &'a Graph,
    name: &'a Name,
    own: &'a Param,
    field: &'a Param,
}

impl Mistyped<'_> {
    fn report(&self) -> Diagnostic {
        let show = |ty: &Spanned<Type>| self.program.types.show(&ty.node).to_string();
        let message = format!(
            "`context.{}` is `{}` in `{}`, but `{}` takes `{}`",
            self.field.name.node,
            show(&self.own.ty),
            self.graph.name.node,
            self.called.name.node,
            show(&self.field.ty),
        );
        Diagnostic::new(&codes::CONTEXT_MISMATCH, message, self.name.span)
            .label(self.own.ty.span, "given from here")
            .label(self.field.ty.span, "taken here")
            .help("declare both with the same type")
    }
}
