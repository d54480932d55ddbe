//! What is given for the parameters of a graph: constants and names, never what is declared elsewhere.

use crate::diag::Diagnostic;

use super::{Place, first_word, innermost_open, last_word};

/// The value of a parameter that a text ends in.
struct OpenValue<'t> {
    /// The parameter.
    param: &'t str,
    /// Where its value begins.
    start: usize,
}

/// `subgraph Collect(worker: W, T: ` and `graph Rows = Collect(worker: W, T: `, with what there is of the value.
fn open_value(before: &str) -> Option<OpenValue<'_>> {
    let (ahead, list) = call(before)?;
    let mut depth = 0_usize;
    let mut start = list;
    for (at, sign) in before.get(list..)?.char_indices() {
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => start = list + at + 1,
            _ => {}
        }
    }
    let (name, value) = before.get(start..)?.split_once(':')?;
    let param = name.trim_ascii();
    let is_name = !param.is_empty() && first_word(param) == param;
    let start = before.len() - value.trim_ascii_start().len();
    (is_name && !ahead.is_empty()).then_some(OpenValue { param, start })
}

/// The name of the graph that a text calls or makes an instance of, and where its arguments begin.
fn call(before: &str) -> Option<(&str, usize)> {
    let word = before.rfind("graph ")?;
    let behind = word + "graph ".len();
    let end = behind + before.get(behind..)?.find('(')?;
    let graph = called(before, word, before.get(behind..end)?)?;
    Some((graph, end + 1))
}

/// The graph named by what stands behind `graph ` or `subgraph `.
fn called<'t>(before: &str, word: usize, head: &'t str) -> Option<&'t str> {
    let graph = match before.get(..word)?.ends_with("sub") {
        true => head,
        false => head.split_once('=')?.1,
    };
    let graph = graph.trim_ascii();
    (!graph.is_empty() && first_word(graph) == graph).then_some(graph)
}

/// The type that a text begins with: names, angle brackets and `?`, up to the comma behind it.
fn leading_type(text: &str) -> &str {
    let mut depth = 0_usize;
    let end = text.find(|c: char| {
        match c {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            ',' => return depth == 0,
            ' ' | '_' | '?' => {}
            _ => return !c.is_ascii_alphanumeric(),
        }
        false
    });
    text.get(..end.unwrap_or(text.len()))
        .unwrap_or_default()
        .trim_ascii_end()
}

/// `T: list<string>`, `T: string?`: a type that is not only a name.
pub fn written_type(place: &Place) -> Option<Diagnostic> {
    // A comma in a type is none between two arguments.
    let generic = place
        .before
        .rfind(": list<")
        .max(place.before.rfind(": map<"));
    let value = match generic {
        Some(at) => open_value(place.before.get(..at + 2)?)?,
        None => open_value(place.before).filter(|_| place.before.ends_with('?'))?,
    };
    let written = leading_type(place.text.get(value.start..)?);
    // What is wrong further on is another mistake.
    let here = value.start + written.len() >= place.before.len();
    let at = place.before_at(value.start, value.start + written.len());
    (here && !first_word(written).is_empty()).then(|| {
        let found = place.error_at(
            at,
            format!(
                "the value of `{}` is a constant or a name, found `{written}`",
                value.param
            ),
        );
        found.help(format!(
            "where a type is meant, declare it, `type NAME = {written}`, and give NAME"
        ))
    })
}

/// `b: brief(t: "x")`, `worker: Part(size: 3)`: an item with arguments.
pub fn item_with_arguments(place: &Place) -> Option<Diagnostic> {
    if !place.rest.starts_with(':') || innermost_open(place.before) != Some('(') {
        return None;
    }
    let (head, _) = place.before.rsplit_once('(')?;
    let word = last_word(head);
    let value = open_value(head).filter(|value| value.start + word.len() == head.len())?;
    if word.is_empty() {
        return None;
    }
    let argument = place.last_word();
    let at = place.before_at(value.start, head.len());
    let message = format!(
        "the value of `{}` is a constant or a name, found `{word}({argument}: ..)`",
        value.param
    );
    let help = match word.starts_with(|c: char| c.is_ascii_uppercase()) {
        true => format!(
            "where a graph is meant, make an instance, `graph NAME = {word}({argument}: ..)`, and give NAME; a record stands in braces: `{word} {{ {argument}: .. }}`"
        ),
        false => format!(
            "where a prompt is meant, give its name: `{word}`; arguments of a function have no names: `{word}(..)`"
        ),
    };
    Some(place.error_at(at, message).help(help))
}

/// `subgraph Collect<Item>(worker: W)`
pub fn types_in_angles(place: &Place) -> Option<Diagnostic> {
    let word = place
        .before
        .rfind("graph ")
        .filter(|_| place.rest.starts_with('<'))?;
    let head = place.before.get(word + "graph ".len()..)?;
    let graph = called(place.before, word, head)?;
    let first = first_word(place.rest.get(1..)?);
    (!first.is_empty()).then(|| {
        let found = place.error(format!(
            "parameters of `{graph}` are given by name, found `<`"
        ));
        found.help(format!(
            "write `{graph}(T: {first}, ..)`, with the names of its parameters"
        ))
    })
}
