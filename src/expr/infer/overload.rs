//! Which signature of a function a call means, and what is wrong when none fits.

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::base::foreign::DEFAULT;
use crate::base::name::list;
use crate::diag::{Diagnostic, Fact, codes};

use super::super::function::signature::{Pattern, Signature};
use super::super::function::{FunctionSpec, Rule};
use super::super::ty::{Type, TypeTable};
use super::checker::Checker;
use super::join::widen;
use super::operator::first_value;
use super::signature::{Bindings, Fit};
use super::usage::{named, takes};

/// A call as written.
pub(super) struct Call<'e> {
    pub expr: &'e Expr,
    pub name: &'e Name,
    pub receiver: Option<&'e Expr>,
    pub args: &'e [Expr],
}

impl<'e> Call<'e> {
    /// Receiver and arguments: what a signature speaks of.
    fn all(&self) -> Vec<&'e Expr> {
        self.receiver.into_iter().chain(self.args).collect()
    }
}

/// The first thing about a signature that doesn't fit a call.
struct Misfit {
    index: usize,
    fit: Fit,
}

impl Checker<'_> {
    pub(super) fn overload(&mut self, function: &'static FunctionSpec, call: Call) -> Type {
        let signatures = &function.signatures;
        let args = call.all();
        let right: Vec<&Signature> = signatures.iter().filter(|s| s.takes(args.len())).collect();
        let found = self.arguments(&args, &right);
        // What it gives depends on what is wrong.
        let same = signatures
            .windows(2)
            .all(|two| matches!(two, [a, b] if a.result == b.result));
        if found.iter().any(has_error) && (right.len() != 1 || !same) {
            return Type::Error;
        }
        let mut nearest: Option<(&Signature, Misfit)> = None;
        for signature in &right {
            match fit(signature, &found, self.types) {
                Ok(result) => {
                    return match self.refused(signature, &right, &found) {
                        Some(index) => self.no_conversion(function, &call, index, &found),
                        None => called(function, &found, self.types).unwrap_or(result),
                    };
                }
                Err(misfit) => {
                    if nearest
                        .as_ref()
                        .is_none_or(|(_, known)| misfit.better(known))
                    {
                        nearest = Some((signature, misfit));
                    }
                }
            }
        }
        match nearest {
            Some((signature, misfit)) => self.misfit(function, &call, signature, &found, &misfit),
            None => self.wrong_count(function, &call, &found),
        }
    }

    /// Types of the arguments; a literal such as `[]` takes its type from the only signature there is.
    fn arguments(&mut self, args: &[&Expr], signatures: &[&Signature]) -> Vec<Type> {
        let mut bound = Bindings::default();
        let mut found = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let param = match signatures {
                [only] => only.param(i),
                _ => None,
            };
            let hint = param.and_then(|p| p.hint(&bound, self.types));
            let ty = self.expr(arg, hint.as_ref());
            if let Some(param) = param {
                param.bind(&ty, &mut bound, self.types);
            }
            found.push(ty);
        }
        found
    }

    fn misfit(
        &mut self,
        function: &FunctionSpec,
        call: &Call,
        signature: &Signature,
        found: &[Type],
        misfit: &Misfit,
    ) -> Type {
        let args = call.all();
        let (Some(arg), Some(ty)) = (args.get(misfit.index), found.get(misfit.index)) else {
            return Type::Error;
        };
        let on_receiver = call.receiver.is_some() && misfit.index == 0;
        let position = misfit.index + usize::from(call.receiver.is_none());
        if misfit.fit == Fit::UnlessNull {
            let message = match on_receiver {
                true => format!(
                    "{}, so `.{}(..)` may fail",
                    self.may_be_null(arg),
                    function.name
                ),
                false => format!(
                    "{}, which argument {position} of `{}` must not be",
                    self.may_be_null(arg),
                    function.name
                ),
            };
            self.null_not_handled(arg, message, None);
            return self.result_of(signature, found);
        }
        let shown = self.show(&widen(ty.clone()));
        if on_receiver && let Some(other) = self.with_more(function, ty, args.len()) {
            let others = other.params.iter().skip(1);
            let values: Vec<&str> = others
                .map(|param| match param {
                    Pattern::Exact(ty) => first_value(ty),
                    _ => "..",
                })
                .collect();
            let written = format!("{}({})", function.name, values.join(", "));
            let message = format!(
                "on {shown}, `{}` takes more: `{}`",
                function.name,
                other.from(1)
            );
            return self.report(
                Diagnostic::new(&codes::WRONG_ARGUMENTS, message, call.name.span)
                    .help(format!("write `{written}`")),
            );
        }
        if on_receiver {
            let receivers = function.signatures.iter().filter_map(|s| s.params.first());
            let takes: Vec<String> = receivers.map(Pattern::to_string).collect();
            let message = format!("{shown} has no method `{}`", function.name);
            let mut names: Vec<&str> = takes.iter().map(String::as_str).collect();
            names.dedup();
            let found = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, call.name.span)
                .help(self.receiver_help(ty, function.name, &names));
            // `", ".join(xs)`
            return self.report(found.fact(Fact::Foreign));
        }
        let expected = self.expected_at(function, signature, misfit.index, found);
        let message = format!(
            "argument {position} of `{}` is {}, expected {expected}",
            function.name,
            named(arg, &shown)
        );
        let default = matches!(function.name, "or") && !matches!(ty, Type::Optional(_));
        let help = match default {
            true => "a value in place of what is not there is given by `.orValue(..)`".to_owned(),
            false => takes(function),
        };
        self.report(Diagnostic::new(&codes::WRONG_ARGUMENTS, message, arg.span).help(help))
    }

    /// The signature that takes such a receiver, with more arguments.
    fn with_more<'f>(
        &self,
        function: &'f FunctionSpec,
        ty: &Type,
        args: usize,
    ) -> Option<&'f Signature> {
        let exact = |first: &&Pattern| matches!(first, Pattern::List(of) if matches!(**of, Pattern::Exact(_)));
        let takes = |signature: &&Signature| {
            let first = signature.params.first().filter(exact);
            let fit = first.map(|first| first.bind(ty, &mut Bindings::default(), self.types));
            signature.params.len() > args && fit == Some(Fit::Yes)
        };
        function.signatures.iter().find(takes)
    }

    /// Whether a method can be called on a value of such a type.
    pub(super) fn is_taken(&self, method: &FunctionSpec, of: &Type) -> bool {
        let mut first = method.signatures.iter().filter_map(|s| s.params.first());
        let of = of.without_null();
        first.any(|first| first.bind(&of, &mut Bindings::default(), self.types) == Fit::Yes)
    }

    fn receiver_help(&self, found: &Type, name: &str, takes: &[&str]) -> String {
        match found {
            Type::Optional(_) => "give the optional a default first: `.orValue(..)`".to_owned(),
            // `xs.join(",")` of texts some of which may be null.
            Type::List(of) if of.admits_null() && *found != Type::list(Type::Json) => {
                "leave out what is null first: `xs.filter(x, x != null)`".to_owned()
            }
            _ if name == "orValue" && found.admits_null() => DEFAULT.to_owned(),
            _ => format!("`{name}` is a method of {}", list(takes.iter().copied())),
        }
    }

    /// The result as if null had been handled.
    fn result_of(&self, signature: &Signature, found: &[Type]) -> Type {
        let plain: Vec<Type> = found.iter().map(Type::without_null).collect();
        fit(signature, &plain, self.types).unwrap_or(Type::Error)
    }

    /// What the signatures of the right length expect at a position.
    pub(super) fn expected_at(
        &self,
        function: &FunctionSpec,
        nearest: &Signature,
        index: usize,
        found: &[Type],
    ) -> String {
        let count = found.len();
        let mut bound = Bindings::default();
        for (param, ty) in nearest.params.iter().zip(found).take(index) {
            param.bind(ty, &mut bound, self.types);
        }
        let param = nearest.param(index);
        let known = param.and_then(|p| p.hint(&bound, self.types));
        let known = known.map(|ty| match param {
            Some(Pattern::Optional(_)) => Type::optional(ty),
            _ => ty,
        });
        if let (Some(known), 1) = (known, function.signatures.len()) {
            return self.show(&known);
        }
        // Those that take what stands before it, where some do.
        let all = || function.signatures.iter().filter(|s| s.takes(count));
        let before = |s: &&Signature| {
            let misfit = fit(s, found, self.types).err();
            misfit.is_none_or(|misfit| misfit.index >= index)
        };
        let fitting = all().any(|s| before(&s));
        let mut expected: Vec<String> = Vec::new();
        for signature in all().filter(|s| !fitting || before(s)) {
            let param = signature.param(index).map(Pattern::to_string);
            expected.extend(param.filter(|param| !expected.contains(param)));
        }
        let shown: Vec<String> = expected.iter().map(|p| format!("`{p}`")).collect();
        match shown.is_empty() {
            true => "another type".to_owned(),
            false => shown.join(" or "),
        }
    }

    fn wrong_count(&mut self, function: &FunctionSpec, call: &Call, found: &[Type]) -> Type {
        if found.iter().any(|ty| matches!(ty, Type::Error)) {
            return Type::Error;
        }
        let receiver = usize::from(call.receiver.is_some());
        let counts = function.arities();
        let mut counts: Vec<usize> = counts.map(|n| n.saturating_sub(receiver)).collect();
        counts.sort_unstable();
        counts.dedup();
        let words: Vec<String> = counts.iter().map(usize::to_string).collect();
        let variadic = function.signatures.iter().any(|s| s.variadic);
        let plural = if counts == [1] { "" } else { "s" };
        let words = match (variadic, words.first()) {
            (true, Some(_)) => "1 or more".to_owned(),
            _ => words.join(" or "),
        };
        let message = format!(
            "`{}` takes {words} argument{plural}, found {}",
            function.name,
            call.args.len()
        );
        self.report(
            Diagnostic::new(&codes::WRONG_ARGUMENTS, message, call.expr.span).help(takes(function)),
        )
    }
}

impl Misfit {
    /// The later the first misfit, the likelier the signature was meant; null alone is nearest of all.
    fn better(&self, other: &Misfit) -> bool {
        let rank = |m: &Misfit| (m.fit == Fit::UnlessNull, m.index);
        rank(self) > rank(other)
    }
}

/// What a signature gives for such arguments.
fn fit(signature: &Signature, found: &[Type], types: &TypeTable) -> Result<Type, Misfit> {
    let mut bound = Bindings::default();
    for (index, ty) in found.iter().enumerate() {
        let param = signature.param(index);
        let fit = param.map_or(Fit::No, |param| param.bind(ty, &mut bound, types));
        if fit != Fit::Yes {
            return Err(Misfit { index, fit });
        }
    }
    Ok(signature.result.result(&bound, types))
}

/// What a call with such arguments gives, those of a method with the receiver first; where `json` is among them, whose kind may
/// be that of another signature, `json` unless all that fit agree. Where none of the signatures fits, the position of the argument
/// that doesn't, none where it is their number.
///
/// # Errors
/// The position, as said.
pub fn called(
    function: &FunctionSpec,
    found: &[Type],
    types: &TypeTable,
) -> Result<Type, Option<usize>> {
    let open = found.iter().any(|ty| matches!(ty, Type::Json));
    let signatures = function.signatures.iter();
    let signatures = signatures.filter(|signature| signature.takes(found.len()));
    let (mut wrong, mut result) = (None, None);
    for signature in signatures {
        match (fit(signature, found, types), &result) {
            (Ok(other), None) if !open => return Ok(other),
            (Ok(other), None) => result = Some(other),
            (Ok(other), Some(known)) if *known != other => return Ok(Type::Json),
            (Ok(_), Some(_)) => {}
            (Err(misfit), _) => wrong = wrong.max(Some(misfit.index)),
        }
    }
    // Of an empty list it is the second value itself, of whichever kind that is.
    let begins = matches!(
        (function.rule, found.get(1)),
        (Rule::Begins, Some(Type::Json))
    );
    let result = result.map(|result| if begins { Type::Json } else { result });
    result.ok_or(wrong)
}

/// Whether a part of the type is reported already.
fn has_error(ty: &Type) -> bool {
    match ty {
        Type::Error => true,
        Type::List(of) | Type::Map(of) | Type::Nullable(of) | Type::Optional(of) => has_error(of),
        _ => false,
    }
}
