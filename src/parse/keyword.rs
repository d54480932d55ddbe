//! The words of the language, by the place where they stand.

/// Begin an item.
pub const ITEMS: &[&str] = &[
    "import", "type", "enum", "reducer", "event", "model", "tool", "toolset", "retry", "prompt",
    "graph", "function", "test",
];

/// Begin a member of a graph.
pub const MEMBERS: &[&str] = &[
    "state",
    "context",
    "tools",
    "model",
    "retry",
    "timeout",
    "recursion_limit",
    "on_error",
    "exit",
    "start",
    "interrupt",
    "migrate",
    "node",
];

/// Begin a property of a node.
pub const PROPERTIES: &[&str] = &[
    "model",
    "system",
    "prompt",
    "messages",
    "output",
    "tools",
    "tool_choice",
    "stream",
    "max_turns",
    "until",
    "parallel_tools",
    "parallel",
    "ask",
    "expect",
    "permit",
    "with",
    "into",
    "persist",
    "reads",
    "writes",
    "skip",
    "let",
    "require",
    "ensure",
    "set",
    "emit",
    "goto",
    "ends",
    "retry",
    "timeout",
    "cache",
    "on_error",
    "max_visits",
    "defer",
    "tags",
    "input",
];

/// Begin a line of a tool's body.
pub const TOOL_LINES: &[&str] = &["reads", "let", "require", "set", "emit", "goto", "return"];

/// Kinds of node.
pub const KINDS: &[&str] = &[
    "llm",
    "agent",
    "tools",
    "call",
    "update",
    "branch",
    "interrupt",
    "subgraph",
    "extern",
];

/// Words that CEL reserves: no name of an expression, but of a field.
pub const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether a word is one of the language, wherever it may stand.
pub fn is_any(word: &str) -> bool {
    let lists = [
        ITEMS,
        MEMBERS,
        PROPERTIES,
        TOOL_LINES,
        KINDS,
        RESERVED,
        &["when", "each", "via", "where"],
    ];
    lists.iter().any(|words| words.contains(&word))
}

/// Whether a word of the language begins lines.
pub fn begins_line(word: &str) -> bool {
    let lists = [ITEMS, MEMBERS, PROPERTIES, TOOL_LINES, &["when", "else"]];
    lists.iter().any(|words| words.contains(&word))
}
