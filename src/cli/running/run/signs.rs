//! Signs and short forms in which a run is shown to people.

use serde_json::Value as Json;

use crate::diag::render::Style;
use crate::diag::render::snippet::visible;
use crate::run::event::Event;

/// Columns of a value that is shown in one line.
const WIDEST: usize = 100;

/// Signs before lines.
pub struct Signs {
    /// A node begins.
    pub node: &'static str,
    /// A tool is called.
    pub call: &'static str,
    /// A tool has answered.
    pub result: &'static str,
    /// An event of the flow.
    pub event: &'static str,
    /// Something has failed.
    pub wrong: &'static str,
}

impl Signs {
    /// Those that a terminal has.
    pub fn of(style: Style) -> &'static Self {
        match style.unicode {
            true => &UNICODE,
            false => &ASCII,
        }
    }
}

const UNICODE: Signs = Signs {
    node: "●",
    call: "→",
    result: "←",
    event: "◆",
    wrong: "✗",
};
const ASCII: Signs = Signs {
    node: "*",
    call: "->",
    result: "<-",
    event: "+",
    wrong: "x",
};

/// Path of the node that made an event.
pub fn path(event: &Event) -> String {
    match (&*event.ns, event.node.as_deref()) {
        ("", Some(node)) => node.to_owned(),
        (ns, Some(node)) => format!("{ns}/{node}"),
        (ns, None) => ns.to_owned(),
    }
}

/// `kind: message` of an error.
pub fn fault(error: &Json) -> String {
    let text = |key: &str| error.get(key).and_then(Json::as_str).unwrap_or_default();
    format!("{}: {}", text("kind"), clipped(text("message")))
}

/// That a model has failed and which one is asked in its place.
pub fn passed_over(signs: &Signs, (model, fallback): (&str, &str), error: &Json) -> String {
    let (model, fallback) = (visible(model), visible(fallback));
    format!(
        "{} model {model}: {}; {fallback} is asked instead",
        signs.wrong,
        fault(error)
    )
}

/// A value in one line.
pub fn brief(value: &Json) -> String {
    clipped(&value.to_string())
}

/// The beginning of a text, in one line.
pub fn clipped(text: &str) -> String {
    let text = visible(text.trim()).replace(['\n', '\t'], " ");
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
