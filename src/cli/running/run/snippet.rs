//! The lines of a flow's source that an error of a run is about.

use std::path::{Path, PathBuf};

use crate::base::{SourceMap, Span};
use crate::diag::render::{self, Style};
use crate::run::error::Passage;

use super::super::{files, flow};

/// The lines with the part marked; `None` where they can't be read any more, as of a flow that comes as IR.
pub fn of(place: &Passage, flow: &Path, style: Style) -> Option<String> {
    let path = PathBuf::from(flow::file_name(flow, &place.file));
    let text = std::fs::read_to_string(&path).ok()?;
    let mut sources = SourceMap::new();
    let file = sources.add(&files::shown(&path), &text);
    let source = sources.file(file)?;
    let offset = |(line, column)| source.offset(line, column) as usize;
    let span = Span::new(file, offset(place.start), offset(place.end));
    if sources.location(span).line != place.start.0 {
        return None;
    }
    lines(span, &sources, style)
}

/// The lines of a text around a place, without a message.
pub fn lines(span: Span, sources: &SourceMap, style: Style) -> Option<String> {
    let drawn = render::fault("", None, span, sources, style);
    // What stands above the lines is the message, which has been said.
    let lines = drawn.lines().skip_while(|line| !line.contains('['));
    let lines: Vec<&str> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
