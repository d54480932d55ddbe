//! Labels that lie in the primary one: what is drawn over each other reads as if one spoke of the other.

use crate::base::Span;
use crate::diag::Diagnostic;

/// A stretch that is underlined.
pub struct Drawn<'a> {
    /// Where.
    pub span: Span,
    /// What is there; empty where the message says it.
    pub message: &'a str,
    /// Whether it is the place, or the beginning of the place, that the finding is about.
    pub primary: bool,
}

/// The first `most` labels of a finding as they are drawn: of a primary place that says nothing itself only what the others leave.
/// `text` gives the text of a place.
pub fn drawn<'a>(
    found: &'a Diagnostic,
    most: usize,
    text: impl Fn(Span) -> &'a str,
) -> Vec<Drawn<'a>> {
    let labels = found.labels.iter().take(most);
    let plain = labels.enumerate().map(|(index, label)| Drawn {
        span: label.span,
        message: &label.message,
        primary: index == 0,
    });
    let plain: Vec<Drawn> = plain.collect();
    let Some(first) = plain.first() else {
        return plain;
    };
    let whole = first.span;
    let inside = |other: &Span| {
        other.file == whole.file
            && whole.start <= other.start
            && other.end <= whole.end
            && other.start < other.end
    };
    let mut inner: Vec<Span> = plain.iter().skip(1).map(|label| label.span).collect();
    inner.retain(inside);
    let lines = text(whole).contains('\n');
    if inner.is_empty() || lines || !first.message.is_empty() {
        return plain;
    }
    inner.sort_unstable_by_key(|span| span.start);
    let mut gaps = Vec::new();
    let mut at = whole.start;
    for end in inner.iter().map(Some).chain([None]) {
        let until = end.map_or(whole.end, |span| span.start);
        gaps.extend(trimmed(at, until, whole, &text));
        at = at.max(end.map_or(whole.end, |span| span.end));
    }
    let gaps = gaps.into_iter().map(|span| Drawn {
        span,
        message: "",
        primary: span.start == whole.start,
    });
    let others = plain.iter().skip(1).map(|label| Drawn {
        span: label.span,
        message: label.message,
        primary: label.span.file == whole.file && label.span.start == whole.start,
    });
    // The primary place first: the report stands under it.
    let mut all: Vec<Drawn> = gaps.chain(others).collect();
    all.sort_by_key(|label| !label.primary);
    let mut one = true;
    for label in &mut all {
        label.primary &= std::mem::take(&mut one);
    }
    all
}

/// The stretch without blanks at its ends; none where nothing else is there.
fn trimmed<'a>(start: u32, end: u32, of: Span, text: impl Fn(Span) -> &'a str) -> Option<Span> {
    let span = Span { start, end, ..of };
    let own = (start < end).then(|| text(span))?;
    let front = own.len() - own.trim_ascii_start().len();
    let own = own.trim_ascii();
    let start = start + front as u32;
    (!own.is_empty()).then_some(Span {
        start,
        end: start + own.len() as u32,
        ..of
    })
}
