//! Places in long lines.

use graphc::base::SourceMap;

/// Characters are counted ahead for each 1,024 bytes.
#[test]
fn columns_far_into_a_line_are_those_of_characters() {
    let line = "aé€𝄞 ".repeat(1_024);
    let text = format!("first\n{line}\n{line}");
    let mut sources = SourceMap::new();
    let id = sources.add("long", &text);
    let file = sources.file(id).unwrap();
    for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let column = text[start..at].chars().count() as u32 + 1;
        if at % 7 == 0 || at % 1_024 < 8 {
            assert_eq!(file.location(at as u32).column, column, "{at}");
        }
    }
}
