//! Signatures of functions: `(list<T>, int) -> T?`.
//!
//! Capital letters are type variables, `K` stands for any type, `X...` at the end for any number of them; `T => U` is an
//! expression of a name that stands for a `T`. How an argument goes with a parameter is in [`infer`](super::super::infer).

use std::fmt;

pub use super::notation::parse_signature;

use super::super::ty::{Type, TypeTable};

/// A parsed signature.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// Types of the parameters; of a method, the receiver's first.
    pub params: Vec<Pattern>,
    /// Whether the last parameter may be given any number of times.
    pub variadic: bool,
    /// Type of the result.
    pub result: Pattern,
}

/// A type with variables in it.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// `T`: the same type wherever it stands in a signature
    Var(char),
    /// `K`: any type
    Any,
    /// `int`, ...
    Exact(Type),
    /// `list<P>`
    List(Box<Pattern>),
    /// `map<P>`
    Map(Box<Pattern>),
    /// `P?`
    Nullable(Box<Pattern>),
    /// `optional<P>`
    Optional(Box<Pattern>),
    /// `P | Q`
    Union(Vec<Pattern>),
    /// A built-in record by name: `message`
    Record(String),
    /// `T => U`, `(int, T) => U`: an expression of names, a macro's argument
    Lambda(Vec<Pattern>, Box<Pattern>),
    /// `field`: a place, not its value
    Field,
}

impl Signature {
    /// Whether a call may have that many arguments.
    pub fn takes(&self, args: usize) -> bool {
        match self.variadic {
            true => args + 1 >= self.params.len(),
            false => args == self.params.len(),
        }
    }

    /// The parameter of the argument at `index`.
    pub fn param(&self, index: usize) -> Option<&Pattern> {
        self.params
            .get(index)
            .or_else(|| self.params.last().filter(|_| self.variadic))
    }

    /// The parameters from `first` on and the result, as they are written.
    pub fn from(&self, first: usize) -> String {
        let params: Vec<String> = self.params.iter().map(Pattern::to_string).collect();
        let more = if self.variadic { "..." } else { "" };
        let params = params.get(first..).unwrap_or_default().join(", ");
        format!("({params}{more}) -> {}", self.result)
    }
}

impl Pattern {
    /// How many names the expression in that place has.
    pub fn binds(&self) -> usize {
        match self {
            Pattern::Lambda(names, _) => names.len(),
            _ => 0,
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.from(0))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Var(letter) => write!(f, "{letter}"),
            Pattern::Any => f.write_str("K"),
            Pattern::Exact(Type::TypeValue) => f.write_str("type"),
            Pattern::Exact(ty) => write!(f, "{}", TypeTable::default().show(ty)),
            Pattern::List(of) => write!(f, "list<{of}>"),
            Pattern::Map(of) => write!(f, "map<{of}>"),
            Pattern::Nullable(of) => write!(f, "{of}?"),
            Pattern::Optional(of) => write!(f, "optional<{of}>"),
            Pattern::Union(options) => joined(f, options, " | "),
            Pattern::Record(name) => f.write_str(name),
            Pattern::Lambda(names, of) => {
                match names.as_slice() {
                    [only] => write!(f, "{only}")?,
                    names => {
                        f.write_str("(")?;
                        joined(f, names, ", ")?;
                        f.write_str(")")?;
                    }
                }
                write!(f, " => {of}")
            }
            Pattern::Field => f.write_str("field"),
        }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, all: &[Pattern], between: &str) -> fmt::Result {
    for (at, one) in all.iter().enumerate() {
        let between = if at > 0 { between } else { "" };
        write!(f, "{between}{one}")?;
    }
    Ok(())
}
