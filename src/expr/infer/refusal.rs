//! Conversions of values that they have no meaning for. Each takes `json`, of which nothing is known before a run; a value
//! of a known type has to be of one that the conversion names.

use crate::diag::{Diagnostic, codes};

use super::super::function::FunctionSpec;
use super::super::function::signature::{Pattern, Signature};
use super::super::ty::Type;
use super::checker::Checker;
use super::join::widen;
use super::overload::Call;
use super::path::path;
use super::signature::{Bindings, Fit};
use super::usage::{named, takes};

impl Checker<'_> {
    /// The argument that only fits since the signature takes `json` there, and others of the function don't.
    pub(super) fn refused(
        &self,
        signature: &Signature,
        all: &[&Signature],
        found: &[Type],
    ) -> Option<usize> {
        found.iter().enumerate().find_map(|(index, ty)| {
            let any = |s: &Signature| matches!(s.param(index), Some(Pattern::Exact(Type::Json)));
            let others = all.iter().filter(|s| !any(s));
            let others: Vec<&Pattern> = others.filter_map(|s| s.param(index)).collect();
            let so = any(signature) && !others.is_empty();
            (so && !self.convertible(ty, &others)).then_some(index)
        })
    }

    fn convertible(&self, ty: &Type, takes: &[&Pattern]) -> bool {
        match ty {
            Type::Json | Type::Error | Type::Never => true,
            Type::Nullable(of) => self.convertible(of, takes),
            Type::Union(members) => members.iter().any(|member| self.convertible(member, takes)),
            ty => takes
                .iter()
                .any(|p| p.bind(ty, &mut Bindings::default(), self.types) == Fit::Yes),
        }
    }

    pub(super) fn no_conversion(
        &mut self,
        function: &FunctionSpec,
        call: &Call,
        index: usize,
        found: &[Type],
    ) -> Type {
        let (Some(arg), Some(ty)) = (call.args.get(index), found.get(index)) else {
            return Type::Error;
        };
        let shown = self.show(&widen(ty.clone()));
        let message = format!(
            "`{}` has no meaning for {}",
            function.name,
            named(arg, &shown)
        );
        let value = path(arg).unwrap_or_else(|| "x".to_owned());
        let help = match (function.name, ty) {
            ("string", _) => format!("`json_encode({value})` gives the text of any value"),
            ("int" | "float" | "double" | "uint", Type::Bool) => {
                format!("say what it counts: `{value} ? 1 : 0`")
            }
            ("int" | "uint", Type::List(_) | Type::Map(_)) => {
                format!("how many there are says `size({value})`")
            }
            ("bool", Type::Int | Type::Uint | Type::Float) => format!("compare it: `{value} != 0`"),
            ("bool", Type::List(_) | Type::Map(_)) => format!("compare it: `size({value}) > 0`"),
            ("duration", Type::Int | Type::Float) => {
                "write it with its unit, `duration(\"90s\")`; of a number: `duration(string(n) + \"s\")`"
                    .to_owned()
            }
            _ => takes(function),
        };
        self.report(Diagnostic::new(&codes::WRONG_ARGUMENTS, message, arg.span).help(help))
    }
}
