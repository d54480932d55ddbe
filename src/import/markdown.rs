//! Drawings in a Markdown page.

/// A fenced block of mermaid.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first byte in the page.
    pub start: usize,
    /// One past its last.
    pub end: usize,
    /// The line that it begins on, from 1.
    pub line: usize,
}

/// The blocks fenced as ` ```mermaid `, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(String, Option<Block>)> = None;
    let mut at = 0;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let text = line.trim();
        match &mut open {
            Some((fence, block)) if text.starts_with(fence.as_str()) => {
                found.extend(block.take().map(|block| Block { end: at, ..block }));
                open = None;
            }
            None if text.starts_with("```") || text.starts_with("~~~") => {
                let mark = text.get(..1).unwrap_or_default();
                let word = text.trim_start_matches(mark);
                let block = word.trim().starts_with("mermaid").then_some(Block {
                    start: at + line.len(),
                    end: page.len(),
                    line: number + 2,
                });
                open = Some((mark.repeat(text.len() - word.len()), block));
            }
            _ => {}
        }
        at += line.len();
    }
    let unclosed = open.and_then(|(_, block)| block);
    found.extend(unclosed);
    found
}
