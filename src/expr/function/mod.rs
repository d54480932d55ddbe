//! All that any stage knows of a function, a macro or an effect of the expression language: one [`FunctionSpec`] each.
//!
//! The checker reads the signatures, the evaluator calls, rules about values, labels and lengths ask what a result is made
//! of; the reference in `docs/` is made from the docs, and each example is run as a test. A family is a file with a table
//! of its own. What a macro does is code of [`infer`](super::infer) and [`eval`](super::eval): here is how it is written.
//!
//! Reading order: this file, [`signature`], then the families.

mod args;
mod base64;
mod bits;
mod conversation;
mod convert;
mod effect;
mod extreme;
mod format;
pub mod jinja;
mod json;
mod list;
mod macros;
mod map;
mod math;
pub mod message;
mod notation;
pub(super) mod optional;
pub(super) mod order;
pub(crate) mod pattern;
mod position;
mod reread;
pub mod signature;
mod size;
pub(super) mod span;
mod string;
mod text;
pub(super) mod time;
mod url;

use std::sync::LazyLock;

use crate::value::Value;

use super::eval::Effect;
use signature::{Pattern, Signature};

/// Computes a function. Arguments are as many as some signature has; their types are checked here again, since `json`
/// values are only known at run time. The error is a message without place.
pub type Compute = fn(&[Value]) -> Result<Value, String>;

/// A function, a macro, an effect or a question about a field.
#[derive(Debug, Clone, Copy)]
pub struct FunctionSpec<S = Vec<Signature>> {
    /// Its name; dotted where it belongs to a name space, as in `optional.of`.
    pub name: &'static str,
    /// How it is called, and what computes it.
    pub kind: BuiltinKind,
    /// Overloads, in the form `(list<T>, int) -> T?`; of a method and a macro with the receiver first. The first that fits counts.
    pub signatures: S,
    /// What of a call its signature can't say.
    pub rule: Rule,
    /// What the result is made from.
    pub carries: Carries,
    /// How many elements a list has that it gives.
    pub length: Length,
    /// One or two sentences, for the reference.
    pub doc: &'static str,
    /// An expression that is true; of a [`BuiltinKind::Field`] where `state.draft` is based on `state.topic`, which was
    /// written after it.
    pub example: &'static str,
    /// The standard-library module that must be imported for it (`std/text`); empty for the built-in ones.
    pub module: &'static str,
    /// Whether it takes the same time for large arguments as for small ones.
    pub quick: bool,
    /// Of a filter the names of its arguments, as in Python: those behind `*` are given by name alone, those that begin with `_`
    /// by position alone; `..` stands for any number without names, before those that are given by name alone.
    pub named: &'static [&'static str],
}

/// A row of a table, its signatures as they are written.
type Row = FunctionSpec<&'static [&'static str]>;

/// How something is called.
#[derive(Debug, Clone, Copy)]
pub enum BuiltinKind {
    /// `name(x)`
    Function(Compute),
    /// `x.name(..)`
    Method(Compute),
    /// A call that binds names, or looks at its argument unevaluated; how it is written: `xs.map(x, value)`.
    Macro(&'static str),
    /// Has another answer each time, which is journaled.
    Effect(Effect),
    /// Asks about a field of the state, whose answer depends on the run.
    Field,
}

/// What a signature can't say of a call.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// Nothing.
    None,
    /// Elements need an order.
    Ordered,
    /// The second value is a regular expression, which is compiled once where it is a constant.
    Pattern(pattern::Apply),
    /// The text says what the list holds.
    Format,
    /// Positions from and to.
    Part,
    /// The fields of the second value replace those of the first.
    Update,
    /// Each element becomes a map with its index.
    Numbered,
    /// The second value, where one is given, is what an empty list gives.
    Begins,
}

/// What of its arguments the result of a call is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// Any part of any of them.
    Mixed,
    /// Nothing but a size, a position, or whether something holds.
    Nothing,
    /// A number or a time: no free text, but not nothing either.
    Number,
    /// The first as it is.
    Same,
    /// Elements of the first, in some order.
    Elements,
    /// One element of the first.
    Element,
    /// Elements of the elements of the first.
    Inner,
    /// The keys of the first.
    Keys,
    /// The values of the first.
    Values,
    /// One of them, or each with its parts.
    Either,
    /// A message of them.
    Message,
    /// What its own arguments say: a macro's, or one of [`Rule::Numbered`].
    Own,
}

/// How many elements a list has that a call gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Any number.
    Any,
    /// No more than the receiver has.
    NoLonger,
    /// No more than lie between its two arguments, nor than the receiver has.
    Between,
}

/// What a macro binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacroShape {
    /// How many names it binds: its first arguments.
    pub names: usize,
    /// How many of the arguments behind them don't see those names.
    pub outside: usize,
    /// How many arguments there are in all.
    pub args: usize,
}

impl Row {
    const fn new(
        name: &'static str,
        kind: BuiltinKind,
        signatures: &'static [&'static str],
        doc: &'static str,
        example: &'static str,
    ) -> Row {
        Row {
            name,
            kind,
            signatures,
            rule: Rule::None,
            carries: Carries::Mixed,
            length: Length::Any,
            doc,
            example,
            module: "",
            quick: false,
            named: &[],
        }
    }

    const fn method(
        name: &'static str,
        signatures: &'static [&'static str],
        call: Compute,
        doc: &'static str,
        example: &'static str,
    ) -> Row {
        Row::new(name, BuiltinKind::Method(call), signatures, doc, example)
    }

    const fn global(
        name: &'static str,
        signatures: &'static [&'static str],
        call: Compute,
        doc: &'static str,
        example: &'static str,
    ) -> Row {
        Row::new(name, BuiltinKind::Function(call), signatures, doc, example)
    }

    const fn quick(self) -> Row {
        Row {
            quick: true,
            ..self
        }
    }

    const fn named(self, named: &'static [&'static str]) -> Row {
        Row { named, ..self }
    }

    /// Of a module that a flow has to import it from.
    const fn of(self, module: &'static str) -> Row {
        Row { module, ..self }
    }

    const fn carries(self, carries: Carries) -> Row {
        Row { carries, ..self }
    }

    const fn length(self, length: Length) -> Row {
        Row { length, ..self }
    }

    const fn rule(self, rule: Rule) -> Row {
        Row { rule, ..self }
    }

    fn parsed(&self) -> FunctionSpec {
        let texts = self.signatures.iter();
        let signatures = texts.filter_map(|text| {
            let signature = notation::parse_signature(text);
            // The rows are constants, and whatever is compiled reads all of them: a test of anything fails where one is wrong.
            debug_assert_eq!(
                signature.as_ref().map(ToString::to_string),
                Ok((*text).to_owned()),
                "{}",
                self.name
            );
            signature.ok()
        });
        FunctionSpec {
            name: self.name,
            kind: self.kind,
            signatures: signatures.collect(),
            rule: self.rule,
            carries: self.carries,
            length: self.length,
            doc: self.doc,
            example: self.example,
            module: self.module,
            quick: self.quick,
            named: self.named,
        }
    }
}

impl FunctionSpec {
    /// Whether it is called as `x.name(..)`; of a macro too, but for `has(..)` and `cel.bind(..)`.
    pub fn is_method(&self) -> bool {
        match self.kind {
            BuiltinKind::Method(_) => true,
            BuiltinKind::Macro(_) => !matches!(self.name, "has" | "bind"),
            _ => false,
        }
    }

    /// Whether it has the same answer each time that it is given the same.
    pub fn is_pure(&self) -> bool {
        !matches!(self.kind, BuiltinKind::Effect(_) | BuiltinKind::Field)
    }

    /// What computes it; none of what the evaluator has a construct for.
    pub fn compute(&self) -> Option<Compute> {
        match self.kind {
            BuiltinKind::Function(compute) | BuiltinKind::Method(compute) => Some(compute),
            _ => None,
        }
    }

    /// Whether its first argument may be any value, also null.
    pub fn takes_any(&self) -> bool {
        let first = self.signatures.first().and_then(|s| s.params.first());
        matches!(
            first,
            Some(Pattern::Nullable(_) | Pattern::Var(_) | Pattern::Any)
        )
    }

    /// The name without the sign of a filter, a test or a method of Jinja's.
    pub fn bare_name(&self) -> &'static str {
        let name = self.name.strip_prefix("is ").unwrap_or(self.name);
        let bare = name.strip_prefix(['|', '.']).unwrap_or(name);
        bare.strip_suffix("()").unwrap_or(bare)
    }

    /// How it is written: `xs.map(x, value)`, `x.join(..)`.
    pub fn written(&self) -> String {
        match self.kind {
            BuiltinKind::Macro(written) => written.to_owned(),
            BuiltinKind::Method(_) => format!("x.{}(..)", self.name),
            BuiltinKind::Function(_) => format!("{}(..)", self.name),
            BuiltinKind::Effect(_) => format!("{}()", self.name),
            BuiltinKind::Field => format!("{}(state.x)", self.name),
        }
    }

    /// How many parameters each overload has, the receiver included.
    pub fn arities(&self) -> impl Iterator<Item = usize> {
        self.signatures
            .iter()
            .map(|signature| signature.params.len())
    }

    /// Whether some overload takes that many arguments, the receiver included.
    pub fn takes(&self, args: usize) -> bool {
        self.signatures
            .iter()
            .any(|signature| signature.takes(args))
    }

    /// What a macro binds; `None` of what binds nothing.
    pub fn shape(&self) -> Option<MacroShape> {
        let BuiltinKind::Macro(_) = self.kind else {
            return None;
        };
        let signature = self.signatures.first()?;
        let receiver = usize::from(self.is_method());
        let params = signature.params.get(receiver..)?;
        let names = params.iter().map(|param| param.binds()).max()?;
        let outside = params.iter().take_while(|param| param.binds() == 0);
        (names > 0).then_some(MacroShape {
            names,
            outside: outside.count(),
            args: names + params.len(),
        })
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    let families = [
        base64::FUNCTIONS,
        bits::FUNCTIONS,
        conversation::FUNCTIONS,
        convert::FUNCTIONS,
        effect::EFFECTS,
        extreme::FUNCTIONS,
        format::FUNCTIONS,
        json::FUNCTIONS,
        list::FUNCTIONS,
        macros::MACROS,
        map::FUNCTIONS,
        math::FUNCTIONS,
        message::FUNCTIONS,
        optional::FUNCTIONS,
        order::FUNCTIONS,
        pattern::FUNCTIONS,
        position::FUNCTIONS,
        size::FUNCTIONS,
        string::FUNCTIONS,
        text::FUNCTIONS,
        time::FUNCTIONS,
        url::FUNCTIONS,
    ];
    families.into_iter().flatten()
}

/// All of them: functions and methods sorted by name.
struct Table {
    functions: Vec<FunctionSpec>,
    /// Macros, by name and number of names; effects; questions about fields.
    forms: Vec<FunctionSpec>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let (mut functions, forms): (Vec<_>, Vec<_>) = rows()
        .map(Row::parsed)
        .partition(|spec| spec.compute().is_some());
    functions.sort_by_key(|spec| (spec.name, spec.is_method()));
    Table { functions, forms }
});

/// All functions and methods, sorted by name.
pub fn functions() -> &'static [FunctionSpec] {
    &TABLE.functions
}

/// All macros, effects and questions about fields; of a macro a row for each of its forms.
pub fn forms() -> &'static [FunctionSpec] {
    &TABLE.forms
}

/// The function or method of that name.
pub fn find(name: &str, method: bool) -> Option<&'static FunctionSpec> {
    let all = functions();
    let at = all.binary_search_by(|spec| (spec.name, spec.is_method()).cmp(&(name, method)));
    all.get(at.ok()?)
}

/// The forms of a macro that binds names.
pub fn macros(name: &str) -> impl Iterator<Item = &'static FunctionSpec> {
    let all = forms().iter();
    all.filter(move |spec| spec.name == name && spec.shape().is_some())
}

/// `has`, an effect or a question about a field: what is called as a function and is none.
pub fn special(name: &str) -> Option<&'static FunctionSpec> {
    let found = forms().iter().find(|spec| spec.name == name);
    found.filter(|spec| spec.shape().is_none())
}

/// What a call of that name means: a method or macro, or else a function.
pub fn meant(name: &str, method: bool) -> Option<&'static FunctionSpec> {
    let form = forms().iter().find(|spec| spec.name == name);
    find(name, method).or(form.filter(|form| form.is_method() == method))
}

/// Whether names of functions begin so: `math`, `optional`.
pub fn is_name_space(name: &str) -> bool {
    let within = |spec: &FunctionSpec| {
        let rest = spec.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    name == "cel" || functions().iter().any(within)
}
