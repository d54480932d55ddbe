//! Attributes of other languages.

use super::expression::{self, Types, word};
use super::text::split;

/// What is written for an attribute, of those in `known` where it is one.
pub fn meant(word: &str, known: &[&str]) -> Option<&'static str> {
    let mut rows = super::rows(TABLE, word);
    let fitting = rows.find(|[_, needs, _]| needs.is_empty() || known.contains(needs));
    fitting.map(|[help, ..]| help)
}

/// What others call a setting of a model or of `retry`.
pub fn setting(word: &str) -> Option<&'static str> {
    Some(match word {
        "fallbacks" | "with_fallbacks" | "fallback_models" | "backup" | "backups" => "fallback",
        "max_retries" | "retries" | "with_retry" => "retry",
        "max_completion_tokens" | "max_output_tokens" => "max_tokens",
        "request_timeout" => "timeout",
        _ => return None,
    })
}

/// The words, the help, the attribute that it speaks of.
static TABLE: &str = r#"
tool => take it out: a tool begins with `tool`
destructive/dangerous/delete => write `@effect(destructive)` => effect
write/writes/mutates/mutation => write `@effect(write)` => effect
read/readonly/read_only/pure/safe => write `@effect(read)` => effect
confirm/approval/approved/human/hitl/interrupt => write `@approve` => approve
retry/retries => attempts are set where the tool is used: `retry 3` in a node or in the graph
cache/cached => write `cache { ttl 1h }` in the node that calls it
optional/nullable => what may be null has a `?` behind its type: `string?`
required/notnull/not_null => what has neither a `?` nor a default is required: take it out
default => a default stands behind `=`: `n: int = 1`
reducer/reduce => a reducer stands behind `via`: `xs: list<string> via append`
enum/oneof/literal => write the texts as a type: `"a" | "b"`
description/describe/doc/title/help/comment => write `@desc("..")`, or `///` on the line before => desc
description/describe/desc/doc/title/help/comment => write it behind `///` on the line before
minimum/ge/gte/gt/min_value/positive => write `@min(..)` => min
maximum/le/lte/lt/max_value => write `@max(..)` => max
minlength/min_length/minLength/maxlength/max_length/maxLength/min_items/max_items/minItems/maxItems/length/size/range => write `@len(LEAST, MOST)` => len
regex/regexp/match/matches/format => write `@pattern("..")` => pattern
sensitive/pii/confidential/hidden => write `@private` => private
password/credential/token => write `@secret` => secret
tainted/unsafe/external => write `@untrusted` => untrusted
"#;

/// What the arguments of `Field(..)` say of a field.
#[derive(Default)]
pub struct Field<'a> {
    /// What it is for.
    pub doc: Option<&'a str>,
    /// ` = 1`
    pub default: String,
    /// Its attributes: ` @min(1)`.
    pub limits: String,
    /// Arguments that nothing stands for.
    pub unknown: Vec<&'a str>,
}

/// Reads the arguments of a `Field(..)` behind a type.
pub fn field<'a>(args: &'a str, ty: &str, types: Types) -> Option<Field<'a>> {
    let mut field = Field::default();
    let mut length = ["0", "1000000"];
    for arg in split(args) {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) if word(name.trim_ascii()) == name.trim_ascii() => {
                (name.trim_ascii(), value.trim_ascii())
            }
            _ => ("default", arg),
        };
        // `gt=0` of whole numbers is `@min(1)`.
        let next = |step: i64| {
            let whole = value
                .parse::<i64>()
                .ok()
                .filter(|_| ty.trim_end_matches('?') == "int");
            whole.and_then(|whole| whole.checked_add(step))
        };
        let limit = match name {
            "default" if value == "..." => continue,
            "default" => {
                field.default = format!(" = {}", expression::expression(value, types)?);
                continue;
            }
            "default_factory" => {
                field.default = format!(" = {}", if value == "dict" { "{}" } else { "[]" });
                continue;
            }
            "description" => {
                field.doc = Some(value.trim_matches(['"', '\'']));
                continue;
            }
            "min_length" => {
                length[0] = value;
                continue;
            }
            "max_length" => {
                length[1] = value;
                continue;
            }
            "title" | "examples" | "alias" => continue,
            "ge" => Some(format!(" @min({value})")),
            "le" => Some(format!(" @max({value})")),
            "gt" => next(1).map(|least| format!(" @min({least})")),
            "lt" => next(-1).map(|most| format!(" @max({most})")),
            "pattern" | "regex" => Some(format!(" @pattern({value})")),
            _ => None,
        };
        match limit {
            Some(limit) => field.limits.push_str(&limit),
            None => field.unknown.push(name),
        }
    }
    if length != ["0", "1000000"] {
        field
            .limits
            .push_str(&format!(" @len({}, {})", length[0], length[1]));
    }
    Some(field)
}
