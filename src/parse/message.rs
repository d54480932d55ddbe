//! What was expected and what was found, in the words of the language.

use pest::error::{Error, ErrorVariant, InputLocation};

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};

use super::grammar::Rule;

/// Where pest gave up, as an offset into the text it read.
pub fn offset(error: &Error<Rule>) -> usize {
    match error.location {
        InputLocation::Pos(at) => at,
        InputLocation::Span((at, _)) => at,
    }
}

/// The rules that pest tried there.
pub fn tried(error: Error<Rule>) -> Vec<Rule> {
    match error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives,
        ErrorVariant::CustomError { .. } => Vec::new(),
    }
}

/// Whether a rule is a keyword.
pub fn is_keyword(rule: Rule) -> bool {
    // The names of the grammar's rules are its own convention: `kw_` and the word.
    keyword(rule).is_some()
}

/// Whether a rule is a keyword or a sign that builders pass over.
pub fn is_word_or_sign(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::arrow
            | Rule::bar
            | Rule::colon
            | Rule::assign
            | Rule::equals
            | Rule::lbrace
            | Rule::rbracket
            | Rule::rparen
            | Rule::rangle
    ) || is_keyword(rule)
}

/// The first token of a text, in backticks, or what else is there.
pub fn found(text: &str) -> String {
    match token(text) {
        "" => "the end".to_owned(),
        token if token.starts_with(['"', '\'']) => "a text in quotes".to_owned(),
        token if token.starts_with(char::is_control) => {
            let code = token.chars().next().map_or(0, u32::from);
            format!("the character U+{code:04X}")
        }
        token if token.len() > 60 => "a very long word".to_owned(),
        token => format!("`{token}`"),
    }
}

/// The first token of a text.
pub fn token(text: &str) -> &str {
    const SIGNS: [&str; 9] = ["->", ":=", "==", "!=", "<=", ">=", "&&", "||", "=>"];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let Some(first) = text.chars().next() else {
        return "";
    };
    let length = match first {
        _ if is_word(first) => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        '"' | '\'' => {
            let line = text.lines().next().unwrap_or("");
            let end = line.get(1..).and_then(|rest| rest.find(first));
            end.map_or(1, |end| end + 2)
        }
        _ => SIGNS
            .iter()
            .find(|sign| text.starts_with(**sign))
            .map_or(first.len_utf8(), |sign| sign.len()),
    };
    text.get(..length).unwrap_or("")
}

/// The span of the token at `at`, `base` being where the text begins in the file.
pub fn token_span(text: &str, at: usize, base: usize, file: FileId) -> Span {
    let length = token(text.get(at..).unwrap_or("")).len();
    Span::new(file, base + at, base + at + length)
}

/// The error in general words.
pub fn expected(text: &str, base: usize, file: FileId, error: Error<Rule>) -> Diagnostic {
    let at = offset(&error);
    let span = token_span(text, at, base, file);
    let found = found(text.get(at..).unwrap_or(""));
    let message = match wanted(&tried(error)) {
        Some(wanted) => format!("expected {wanted}, found {found}"),
        None => format!("{found} was not expected here"),
    };
    Diagnostic::new(&codes::SYNTAX_ERROR, message, span)
}

/// What may stand at a place, in words; `None` where anything there would be too much.
pub fn wanted(tried: &[Rule]) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for rule in tried {
        if let Some(word) = described(*rule)
            && !words.contains(&word)
        {
            words.push(word);
        }
    }
    if words.iter().any(|word| word == EXPRESSION) {
        // Its own beginnings are no news.
        words.retain(|word| word != "a text in quotes" && word != "the name of a type");
    }
    // A list that could go on or end.
    if tried
        .iter()
        .any(|r| matches!(r, Rule::rbracket | Rule::rparen | Rule::rangle))
    {
        words.insert(0, "`,`".to_owned());
    }
    let last = words.pop()?;
    Some(match words.is_empty() {
        true => last,
        false => format!("{} or {last}", words.join(", ")),
    })
}

/// What every operand is called.
pub const EXPRESSION: &str = "an expression";

/// A rule in words; `None` for what only continues something that is complete.
fn described(rule: Rule) -> Option<String> {
    if let Some(word) = keyword(rule) {
        return Some(format!("`{word}`"));
    }
    let words = match rule {
        Rule::arrow => "`->`",
        Rule::colon => "`:`",
        Rule::assign => "`:=`",
        Rule::equals => "`=`",
        Rule::lbrace
        | Rule::field_block
        | Rule::settings
        | Rule::named_block
        | Rule::graph_body => "`{`",
        Rule::node_body | Rule::tool_body | Rule::interrupt_body | Rule::jump_update => "`{`",
        Rule::ident | Rule::selector | Rule::dotted | Rule::named | Rule::tool_ref => "a name",
        Rule::import_name | Rule::based_field | Rule::end_name | Rule::binding => "a name",
        Rule::upper => "the name of a type",
        Rule::field | Rule::state_field => "a field, as in `name: type`",
        Rule::params | Rule::graph_params => "parameters in parentheses",
        Rule::number | Rule::name | Rule::lower | Rule::list | Rule::map | Rule::paren => {
            EXPRESSION
        }
        Rule::expr | Rule::state_expr | Rule::prefix | Rule::record => EXPRESSION,
        Rule::string => "a text in quotes",
        Rule::duration | Rule::sure_duration => "a duration, as in `10s`",
        Rule::type_expr | Rule::type_member | Rule::type_name => "a type",
        Rule::names | Rule::tool_refs => "a list in brackets",
        Rule::template => "a text in quotes, `file` or a prompt with its arguments",
        Rule::retry_spec => "a number, the name of a policy or `{`",
        Rule::target | Rule::jump | Rule::end_target => "a target",
        Rule::arms => "`{`",
        Rule::named_args => "arguments in parentheses",
        Rule::ends_list | Rule::tags_list | Rule::based_list => "a list in brackets",
        Rule::rbracket => "`]`",
        Rule::rparen => "`)`",
        Rule::rangle => "`>`",
        Rule::kind => "the node's kind",
        Rule::bool => "`true` or `false`",
        Rule::arm => "`when` or `else`",
        _ => return None,
    };
    Some(words.to_owned())
}

macro_rules! keywords {
    ($($rule:ident $word:literal)*) => {
        /// The word of a keyword's rule.
        pub fn keyword(rule: Rule) -> Option<&'static str> {
            Some(match rule {
                $(Rule::$rule => $word,)*
                _ => return None,
            })
        }
    };
}

keywords! {
    kw_after "after" kw_agent "agent" kw_as "as" kw_ask "ask" kw_based_on "based_on" kw_before "before"
    kw_branch "branch" kw_cache "cache" kw_call "call" kw_context "context" kw_default "default" kw_defer "defer"
    kw_drop "drop" kw_each "each" kw_else "else" kw_emit "emit" kw_end "end" kw_ends "ends" kw_ensure "ensure" kw_enum "enum"
    kw_event "event" kw_exit "exit" kw_expect "expect" kw_extern "extern" kw_fail "fail" kw_field "field"
    kw_file "file" kw_from "from" kw_function "function" kw_goto "goto" kw_graph "graph" kw_import "import"
    kw_in "in" kw_input "input" kw_interrupt "interrupt" kw_into "into" kw_keep "keep" kw_key "key"
    kw_leaves "leaves" kw_let "let" kw_llm "llm" kw_max_turns "max_turns" kw_max_visits "max_visits"
    kw_messages "messages" kw_migrate "migrate" kw_model "model" kw_node "node" kw_on "on" kw_on_error "on_error"
    kw_once "once" kw_output "output" kw_parallel "parallel" kw_parallel_tools "parallel_tools" kw_parent "parent"
    kw_permit "permit" kw_persist "persist" kw_prompt "prompt" kw_reads "reads" kw_recursion_limit "recursion_limit"
    kw_reducer "reducer" kw_rename "rename" kw_require "require" kw_reset "reset" kw_retry "retry"
    kw_return "return" kw_set "set" kw_skip "skip" kw_start "start" kw_state "state" kw_stream "stream"
    kw_subgraph "subgraph" kw_system "system" kw_tags "tags" kw_then "then" kw_timeout "timeout" kw_tool "tool"
    kw_tool_choice "tool_choice" kw_tools "tools" kw_toolset "toolset" kw_ttl "ttl" kw_type "type"
    kw_until "until" kw_update "update" kw_via "via" kw_when "when" kw_where "where" kw_with "with"
    kw_writes "writes"
}
