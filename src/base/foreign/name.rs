//! Names of values: those of other languages, and those of this one that are known behind the work of a node.

/// What is written for a constant.
pub fn constant(name: &str) -> Option<&'static str> {
    Some(match name {
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        "None" | "nil" | "NULL" | "Null" | "null" | "undefined" => "null",
        _ => return None,
    })
}

/// What others call a value that a node's work gives.
pub fn value(name: &str) -> Option<&'static str> {
    matches!(name, "response" | "completion" | "ai_message" | "ai_msg").then_some("reply")
}

/// The `kind` of an error that others have a class for.
pub fn error_kind(class: &str) -> Option<&'static str> {
    Some(match class.rsplit('.').next()? {
        "TimeoutError" | "Timeout" | "TimeoutException" => "timeout",
        "ConnectionError" | "ConnectError" | "NetworkError" | "APIConnectionError" => "network",
        "RateLimitError" => "rate_limit",
        "AuthenticationError" => "auth",
        "GraphRecursionError" | "RecursionError" => "recursion_limit",
        "OutputParserException" | "ValidationError" => "invalid_output",
        "ToolException" => "tool_error",
        _ => return None,
    })
}

/// The function that makes a message of a role.
pub fn role(role: &str) -> Option<&'static str> {
    Some(match role {
        "system" | "developer" => "system",
        "user" | "human" => "user",
        "assistant" | "ai" => "assistant",
        _ => return None,
    })
}

/// Where a name is known that is what a node's work gives, or a piece of it.
pub fn behind_work(name: &str) -> Option<String> {
    if name == "chunk" {
        return Some(
            "`chunk` is a piece of a reply, known in `stream as EVENT { .. }` of `llm` and `agent`"
                .to_owned(),
        );
    }
    let found = WORK.iter().find(|(known, ..)| *known == name);
    found.map(|(name, of, more)| {
        let checked = match *name {
            "reply" | "output" => "`ensure`, ",
            _ => "",
        };
        format!(
            "`{name}` is known behind the work of {of}{more}: in {checked}`set`, `emit` and `goto`, and in a `let` that only they use"
        )
    })
}

/// The name, the kinds of node that give it, what else there must be.
static WORK: &[(&str, &str, &str)] = &[
    ("reply", "`llm` and `agent`", ""),
    (
        "output",
        "`llm` and `agent`",
        ", where `output TYPE` stands in the node",
    ),
    ("transcript", "`agent`", ""),
    ("results", "`tools`", ""),
    ("result", "`call` and `subgraph`", ""),
    ("answer", "`interrupt`", ""),
    ("answered", "`interrupt`", ""),
];
