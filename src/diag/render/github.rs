//! Diagnostics as workflow commands: GitHub shows them as annotations at their lines.

use crate::base::SourceMap;
use crate::diag::{Diagnostic, Diagnostics, Level};

/// One `::error file=..,line=..::message` per diagnostic, each on its own line.
pub fn github(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    diagnostics
        .iter()
        .map(|diagnostic| format!("{}\n", command(diagnostic, sources)))
        .collect()
}

fn command(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let kind = match diagnostic.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "notice",
    };
    let span = diagnostic.span();
    let (start, end) = (sources.location(span), sources.location(span.after()));
    let mut properties = format!(
        "file={},line={},endLine={}",
        property(sources.name(span.file)),
        start.line,
        end.line
    );
    // Columns of an annotation over several lines are refused.
    if start.line == end.line {
        properties.push_str(&format!(",col={},endColumn={}", start.column, end.column));
    }
    format!(
        "::{kind} {properties},title={}::{}",
        property(diagnostic.code.slug),
        data(&body(diagnostic, sources))
    )
}

/// The message, then a line for each other place, then the help.
fn body(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let mut lines = vec![diagnostic.message.clone()];
    for (index, label) in diagnostic.labels.iter().enumerate() {
        if label.message.is_empty() {
            continue;
        }
        lines.push(match index {
            0 => label.message.clone(),
            _ => {
                let at = sources.location(label.span);
                let file = sources.name(label.span.file);
                format!("{file}:{}:{}: {}", at.line, at.column, label.message)
            }
        });
    }
    lines.extend(diagnostic.help.iter().map(|help| format!("help: {help}")));
    lines.join("\n")
}

/// Text after the second `::`, in which a line end would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Text of a property, which `,` and `:` would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
