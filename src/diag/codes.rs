//! Every code the compiler can report, with its page.
//!
//! A code is a slug, unique, never reused. Its page (why, a wrong and a right example) is
//! `docs/diagnostics/SLUG.md`; `tests/explain.rs` compiles both examples of every page.

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
    /// The level of those of its findings that are least bad: an error's may be warnings where it is in doubt.
    pub least: Level,
    /// The page as Markdown: title, why, `## Wrong`, `## Right`.
    pub page: &'static str,
}

impl Code {
    /// Where the page stands: absolute where the package names its repository, else relative to the project's folder.
    pub fn url(&self) -> String {
        let folder = match env!("CARGO_PKG_REPOSITORY") {
            "" => String::new(),
            repository => format!("{repository}/blob/main/"),
        };
        format!("{folder}docs/diagnostics/{}.md", self.slug)
    }
}

macro_rules! least {
    ($level:ident) => {
        Level::$level
    };
    ($level:ident $least:ident) => {
        Level::$least
    };
}

macro_rules! codes {
    ($($level:ident $(> $least:ident)? $name:ident $slug:literal;)*) => {
        $(
            #[doc = concat!("`", $slug, "`; its page says what it means.")]
            pub static $name: Code = Code {
                slug: $slug,
                level: Level::$level,
                least: least!($level $($least)?),
                page: include_str!(concat!("../../docs/diagnostics/", $slug, ".md")),
            };
        )*

        /// All codes in the order of their groups: syntax, names, types, flow, scopes.
        pub static ALL: &[&Code] = &[$(&$name),*];
    };
}

/// Groups of [`ALL`], each with the slug of its first code.
pub static GROUPS: &[(&str, &str)] = &[
    ("syntax", "syntax-error"),
    ("files and imports", "file-not-found"),
    ("names", "unknown-type"),
    ("properties and values", "bad-value"),
    ("types", "type-mismatch"),
    ("flow", "no-entry"),
    ("data", "read-only-field"),
    ("tools and scopes", "tool-out-of-scope"),
    ("safety", "answer-ignored"),
    ("lints", "cut-reply"),
    ("models", "unknown-family"),
    ("comments to graphc, settings, scenarios", "private-host"),
];

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
    Error FILE_NOT_FOUND "file-not-found";
    Error FILE_OUTSIDE "file-outside";
    Error UNKNOWN_MODULE "unknown-module";
    Error UNKNOWN_IMPORT "unknown-import";
    Warning UNUSED_IMPORT "unused-import";
    Error UNKNOWN_TYPE "unknown-type";
    Error UNKNOWN_REDUCER "unknown-reducer";
    Error UNKNOWN_EVENT "unknown-event";
    Error UNKNOWN_MODEL "unknown-model";
    Error UNKNOWN_TOOL "unknown-tool";
    Error UNKNOWN_RETRY "unknown-retry";
    Error UNKNOWN_PROMPT "unknown-prompt";
    Error UNKNOWN_GRAPH "unknown-graph";
    Error UNKNOWN_NODE "unknown-node";
    Error UNKNOWN_TARGET "unknown-target";
    Error UNKNOWN_ATTRIBUTE "unknown-attribute";
    Error UNKNOWN_SETTING "unknown-setting";
    Warning USELESS_ATTRIBUTE "useless-attribute";
    Error DUPLICATE_NAME "duplicate-name";
    Error DUPLICATE_PROPERTY "duplicate-property";
    Error RESERVED_NAME "reserved-name";
    Warning NAMING "naming";
    Error CIRCULAR_TYPE "circular-type";
    Error CIRCULAR_FALLBACK "circular-fallback";
    Error BAD_VALUE "bad-value";
    Error PROPERTY_NOT_ALLOWED "property-not-allowed";
    Error MISSING_PROPERTY "missing-property";
    Error REDUCER_TYPE "reducer-type";
    Error REDUCER_SIGNATURE "reducer-signature";
    Error UNSUPPORTED "unsupported";
    Error > Warning TYPE_MISMATCH "type-mismatch";
    Error UNKNOWN_NAME "unknown-name";
    Error UNKNOWN_FIELD "unknown-field";
    Error UNKNOWN_MEMBER "unknown-member";
    Error > Warning UNKNOWN_FUNCTION "unknown-function";
    Error MISSING_FIELD "missing-field";
    Error DUPLICATE_FIELD "duplicate-field";
    Error > Warning WRONG_ARGUMENTS "wrong-arguments";
    Error NULL_NOT_HANDLED "null-not-handled";
    Error NEVER_EQUAL "never-equal";
    Error ARGUMENT_NOT_CONSTANT "argument-not-constant";
    Error IMPURE_CALL "impure-call";
    Error BAD_REGEX "bad-regex";
    Error ALWAYS_FAILS "always-fails";
    Error BAD_TEMPLATE "bad-template";
    Error UNKNOWN_FILTER "unknown-filter";
    Error > Warning LOST_SET "lost-set";
    Warning PLACEHOLDER_IN_TEXT "placeholder-in-text";
    Error NO_ENTRY "no-entry";
    Error UNREACHABLE_NODE "unreachable-node";
    Error NO_WAY_ON "no-way-on";
    Error ENDLESS_CYCLE "endless-cycle";
    Error > Warning NOT_PROVEN "not-proven";
    Error BRANCH_CYCLE "branch-cycle";
    Error EDGE_AND_GOTO "edge-and-goto";
    Error MISSING_ENDS "missing-ends";
    Error TARGET_OUTSIDE_ENDS "target-outside-ends";
    Error COMPUTED_TARGET "computed-target";
    Warning UNUSED_END "unused-end";
    Error ROUTE_NOT_EXHAUSTIVE "route-not-exhaustive";
    Warning UNREACHABLE_ARM "unreachable-arm";
    Warning CONSTANT_CONDITION "constant-condition";
    Error SKIP_NEEDS_TARGET "skip-needs-target";
    Error JOIN_NEVER_FIRES "join-never-fires";
    Error JOIN_WITHOUT_FORK "join-without-fork";
    Warning JOIN_MAY_WAIT "join-may-wait";
    Warning JOIN_OF_ONE "join-of-one";
    Error FAN_OUT_IN_JOIN "fan-out-in-join";
    Warning EMPTY_FAN_OUT "empty-fan-out";
    Warning DECIDED_PER_TASK "decided-per-task";
    Warning RUNS_TWICE "runs-twice";
    Error DUPLICATE_EDGE "duplicate-edge";
    Error MAX_VISITS_CYCLE "max-visits-cycle";
    Warning STUCK_CYCLE "stuck-cycle";
    Info UNBOUNDED_LOOP "unbounded-loop";
    Error > Warning ERROR_LOOP "error-loop";
    Info ERROR_SWALLOWED "error-swallowed";
    Error LIMIT_TOO_LOW "limit-too-low";
    Error WRITE_CONFLICT "write-conflict";
    Error > Warning GATHERED_TWICE "gathered-twice";
    Warning REPLACED_BESIDE "replaced-beside";
    Info GROWING_LIST "growing-list";
    Info UNBOUNDED_FAN_OUT "unbounded-fan-out";
    Error LEAVE_UNDECLARED "leave-undeclared";
    Warning UNUSED_LEAVE "unused-leave";
    Error ENDLESS_CALLS "endless-calls";
    Error WRONG_BINDING "wrong-binding";
    Error CONTEXT_MISMATCH "context-mismatch";
    Error CACHED_QUESTION "cached-question";
    Error READ_ONLY_FIELD "read-only-field";
    Error READ_BEFORE_WRITE "read-before-write";
    Error BAD_MIGRATION "bad-migration";
    Error CIRCULAR_BASIS "circular-basis";
    Error BAD_BASIS "bad-basis";
    Error > Warning NEVER_STALE "never-stale";
    Warning NEVER_SEEN "never-seen";
    Warning USELESS_PERSIST "useless-persist";
    Warning LOST_ON_RESUME "lost-on-resume";
    Error DEFAULT_NOT_CONSTANT "default-not-constant";
    Error > Warning OUT_NEVER_WRITTEN "out-never-written";
    Error OUT_LEFT_UNWRITTEN "out-left-unwritten";
    Warning UNREAD_OUTPUT "unread-output";
    Info UNREAD_RESULT "unread-result";
    Warning UNUSED_LET "unused-let";
    Warning UNUSED_FIELD "unused-field";
    Warning UNUSED_PARAMETER "unused-parameter";
    Warning UNUSED_READ "unused-read";
    Warning UNUSED_ITEM "unused-item";
    Error TOOL_OUT_OF_SCOPE "tool-out-of-scope";
    Error TOOL_NEEDS_FIELD "tool-needs-field";
    Error TOOL_NARROWED_TWICE "tool-narrowed-twice";
    Error IMPOSSIBLE_WHERE "impossible-where";
    Warning USELESS_WHERE "useless-where";
    Warning EMPTY_TOOLS "empty-tools";
    Error > Warning ANSWER_IGNORED "answer-ignored";
    Warning NEEDLESS_PERMIT "needless-permit";
    Info ASKS_AT_CALL "asks-at-call";
    Error TAINTED_SINK "tainted-sink";
    Error WEAK_CHECK "weak-check";
    Error SECRET_SHOWN "secret-shown";
    Error > Warning LITERAL_SECRET "literal-secret";
    Warning UNTRUSTED_SYSTEM "untrusted-system";
    Error LETHAL_TRIFECTA "lethal-trifecta";
    Warning POSSIBLE_TRIFECTA "possible-trifecta";
    Info CUT_REPLY "cut-reply";
    Warning UNSAFE_RETRY "unsafe-retry";
    Warning TIMEOUT_ORDER "timeout-order";
    Info OPEN_INTERRUPT "open-interrupt";
    Warning WIDE_SCOPE "wide-scope";
    Info MISSING_DOC "missing-doc";
    Warning SHADOWING "shadowing";
    Info SAME_PROMPT "same-prompt";
    Warning MESSAGES_IN_PROMPT "messages-in-prompt";
    Warning DIGIT_MEMBER "digit-member";
    Warning OVERWRITTEN_MESSAGES "overwritten-messages";
    Warning CONTENT_AS_TEXT "content-as-text";
    Info UNTYPED_ACCESS "untyped-access";
    Info NOT_CHECKED "not-checked";
    Info UNKNOWN_FAMILY "unknown-family";
    Warning UNKNOWN_PROVIDER "unknown-provider";
    Warning SAME_FALLBACK "same-fallback";
    Warning WEAK_FALLBACK "weak-fallback";
    Warning MODEL_LACKS "model-lacks";
    Error THINKING_BUDGET "thinking-budget";
    Warning REASONING_TEMPERATURE "reasoning-temperature";
    Info UNBOUNDED_THINKING "unbounded-thinking";
    Info MISSING_MAX_TOKENS "missing-max-tokens";
    Warning PROMPT_TOO_LONG "prompt-too-long";
    Info NO_NATIVE_SCHEMA "no-native-schema";
    Info PRIVATE_HOST "private-host";
    Warning EFFECT_NOT_SAID "effect-not-said";
    Error BAD_ALLOW "bad-allow";
    Warning UNUSED_ALLOW "unused-allow";
    Error > Warning INVALID_CONFIG "invalid-config";
    Error > Warning INVALID_SCENARIO "invalid-scenario";
}
