//! Names under which checkpoints keep states that last, and what lies on top of them. No field of a flow is called so.
//!
//! | name | what it keeps |
//! |---|---|
//! | `@path` | of the state of the call at `path`: what is stale, and which fields `migrate` has given values. In what earlier versions of the program have kept, the whole state |
//! | `@path:field` | a field of that state |
//! | `&` | in the frame of such a call: whose state it began with, and which fields of it |
//! | `&name` | what was added to what frames around this one keep: to the field `name` of the state that the call began with, or to what they have under `name`. `null` where that is gone |

/// Name under which the frame of a call keeps what it began with.
pub const BEGAN: &str = "&";

/// The name of a state in a checkpoint.
pub fn name(path: &str) -> String {
    format!("@{path}")
}

/// The path of the call whose state a checkpoint keeps under that name, without its fields.
pub fn path(name: &str) -> Option<&str> {
    name.strip_prefix('@').filter(|path| !path.contains(':'))
}

/// The name of a field of a state.
pub fn part(path: &str, field: &str) -> String {
    format!("@{path}:{field}")
}

/// The name of what is added to what lies further out.
pub fn onto(name: &str) -> String {
    format!("&{name}")
}

/// The path of the state that something is kept of under a name.
pub fn state_of(name: &str) -> Option<&str> {
    let name = name.strip_prefix('&').unwrap_or(name);
    let rest = name.strip_prefix('@')?;
    Some(rest.split(':').next().unwrap_or(rest))
}

/// Whether a name is one of those above.
pub fn is_persisted(name: &str) -> bool {
    name.starts_with(['@', '&'])
}

/// The field of the frame itself that was written under a name; the name itself where it is none of those above.
pub fn own_field(name: &str) -> Option<&str> {
    match name.strip_prefix('&') {
        Some(name) => Some(name).filter(|name| !name.is_empty() && !name.starts_with('@')),
        None => Some(name).filter(|name| !name.starts_with('@')),
    }
}
