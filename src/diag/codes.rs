//! Every code the compiler can report, with its page.
//!
//! A code is a slug, unique, never reused. Its page (why, a wrong and a right example) is
//! `pages/SLUG.md`; `tests/explain.rs` compiles both examples of every page.

use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Likely a mistake; the flow still runs.
    Warning,
    /// The flow does not run.
    Error,
}

impl Level {
    /// `error`, `warning` or `info`.
    pub fn word(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A kind of finding.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// `unknown-target`
    pub slug: &'static str,
    /// Level unless settings change it.
    pub level: Level,
    /// The page as Markdown: title, why, `## Wrong`, `## Right`.
    pub page: &'static str,
}

macro_rules! codes {
    ($($level:ident $name:ident $slug:literal;)*) => {
        $(
            #[doc = concat!("`", $slug, "`; its page says what it means.")]
            pub static $name: Code = Code {
                slug: $slug,
                level: Level::$level,
                page: include_str!(concat!("pages/", $slug, ".md")),
            };
        )*

        /// All codes in the order of their groups: syntax, names, types, flow, scopes.
        pub static ALL: &[&Code] = &[$(&$name),*];
    };
}

/// The code of that slug.
pub fn find(slug: &str) -> Option<&'static Code> {
    ALL.iter().find(|code| code.slug == slug).copied()
}

codes! {
    Error SYNTAX_ERROR "syntax-error";
    Error UNCLOSED "unclosed";
    Error BAD_LITERAL "bad-literal";
    Error UNKNOWN_KEYWORD "unknown-keyword";
    Error LIMIT_EXCEEDED "limit-exceeded";
    Error TYPE_MISMATCH "type-mismatch";
    Error UNKNOWN_NAME "unknown-name";
    Error UNKNOWN_FIELD "unknown-field";
    Error UNKNOWN_MEMBER "unknown-member";
    Error UNKNOWN_FUNCTION "unknown-function";
    Error MISSING_FIELD "missing-field";
    Error DUPLICATE_FIELD "duplicate-field";
    Error WRONG_ARGUMENTS "wrong-arguments";
    Error NULL_NOT_HANDLED "null-not-handled";
    Error NEVER_EQUAL "never-equal";
    Error IMPURE_CALL "impure-call";
    Error BAD_REGEX "bad-regex";
    Error BAD_TEMPLATE "bad-template";
    Error UNKNOWN_FILTER "unknown-filter";
    Warning PLACEHOLDER_IN_TEXT "placeholder-in-text";
}
