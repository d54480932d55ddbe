//! Parameters of graphs, and declared instances: `graph Mode1 = Chat(selection: Selection.manual)`.

use crate::ast::Name;
use crate::ast::graph::Graph as Written;
use crate::ast::item::{InstanceDecl as Declared, Item, NamedArg};
use crate::ast::ty::Field;
use crate::base::{FileId, Span};
use crate::diag::codes;
use crate::expr::ty::RecordId;
use crate::ir::GraphId;

use super::super::Resolver;
use super::super::names::{Definition, Wanted};
use super::super::program::{InstanceDecl, Param};
use super::binding::item_kind;

/// What a name that stands for a graph leads to.
pub(super) struct Called {
    /// The graph, for an instance the one with parameters.
    pub graph: Option<GraphId>,
    /// The declared instance.
    pub instance: Option<usize>,
}

impl Resolver<'_> {
    /// The parameters of a graph and their record.
    pub(super) fn graph_params(
        &mut self,
        file: FileId,
        written: &Written,
    ) -> (Vec<Param>, Option<RecordId>) {
        let values = written.params.iter();
        let values: Vec<Field> = values.filter(|p| item_kind(p).is_none()).cloned().collect();
        let params = self.params(file, &values, "parameter", true);
        for (param, field) in params.iter().zip(&values) {
            // Nothing outside knows a parameter by any name.
            if param.constraints.alias.is_some() {
                let what = "`@alias` on a parameter of a graph";
                self.diags.push(super::super::unsupported(what, field.span));
            }
        }
        if params.is_empty() {
            return (params, None);
        }
        let fields = self.record_fields(&params);
        let record = self.synthetic(&format!("parameters of {}", written.name.node), fields);
        (params, Some(record))
    }

    /// Resolves all declared instances, in the order of their numbers.
    pub(super) fn instances(&mut self) {
        let files = self.files;
        for file in files {
            for item in &file.ast.items {
                if let Item::Instance(decl) = item {
                    let instance = self.instance(file.id, decl);
                    self.program.instances.push(instance);
                }
            }
        }
    }

    fn instance(&mut self, file: FileId, decl: &Declared) -> InstanceDecl {
        let found = self.find(file, &decl.base, Wanted::Graph);
        let (base, args) = match found {
            Some(Definition::Graph(base)) => self.specialized(file, base, &decl.base, &decl.args),
            _ => (None, decl.args.clone()),
        };
        let args = self.named(file, &args);
        match found {
            Some(Definition::Graph(_)) | None => {}
            Some(_) if decl.base.node == decl.name.node => {
                let message = format!("`{}` is an instance of itself", decl.name.node);
                self.report(
                    &codes::WRONG_ARGUMENTS,
                    message,
                    decl.base.span,
                    "name a graph with parameters",
                );
            }
            Some(_) => self.values_again(&decl.base, &args, "graph"),
        }
        // Where the values did not parse, the item ends with the graph's name.
        let end = decl.span.end + 1;
        let damaged = self.is_damaged(Span { end, ..decl.span }) || self.is_cut_off(&decl.base);
        InstanceDecl {
            damaged,
            name: decl.name.clone(),
            doc: decl.doc.clone(),
            file,
            base,
            base_name: decl.base.clone(),
            args,
            span: decl.span,
        }
    }

    /// The graph of a `subgraph` node.
    pub(super) fn called_graph(&mut self, file: FileId, name: &Name) -> Called {
        let (graph, instance) = match self.find(file, name, Wanted::Graph) {
            Some(Definition::Graph(graph)) => (Some(graph), None),
            Some(Definition::Instance(index)) => (self.base_of(index), Some(index)),
            _ => (None, None),
        };
        Called { graph, instance }
    }

    /// The graph that a declared instance is of. What is wrong with its name is reported where it is declared.
    pub(super) fn base_of(&self, index: usize) -> Option<GraphId> {
        self.program.instances.get(index)?.base
    }

    /// Reports an instance that is given values again.
    pub(super) fn values_again(&mut self, name: &Name, args: &[NamedArg], word: &str) {
        let message = format!(
            "`{}` is an instance, its parameters have their values",
            name.node
        );
        let place = args.first().map_or(name.span, |arg| arg.name.span);
        let help = match word {
            "graph" => format!(
                "make an instance of the graph that `{}` is one of",
                name.node
            ),
            _ => "take the values out, or name the graph with the parameters".to_owned(),
        };
        self.report(&codes::WRONG_ARGUMENTS, message, place, help);
    }
}
