//! Places of texts in values.

use serde_json::Value as Json;

/// All texts in a value as one; `None` where there is none.
pub fn all_texts(value: &Json) -> Option<String> {
    let mut all = Vec::new();
    collect(value, &mut all);
    (!all.is_empty()).then(|| all.join("\n"))
}

/// Every text in a value, fields in the order of their names.
fn collect(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::String(text) if !text.trim().is_empty() => texts.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Json::Object(entries) => entries.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

/// Where texts stand in a value: `title`, `author.name`, `parts[*].text`, `parts[0].text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Name(String),
    Index(usize),
    All,
}

impl FieldPath {
    /// Reads one; `None` where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        for piece in text.split('.') {
            let (name, mut rest) = match piece.find('[') {
                Some(at) => piece.split_at_checked(at)?,
                None => (piece, ""),
            };
            if name.is_empty() {
                return None;
            }
            parts.push(Part::Name(name.to_owned()));
            while !rest.is_empty() {
                let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
                parts.push(match index {
                    "*" => Part::All,
                    index => Part::Index(index.parse().ok()?),
                });
                rest = after;
            }
        }
        Some(Self(parts))
    }

    /// Adds the texts that stand there, those of one place as one.
    pub fn find(&self, value: &Json, texts: &mut Vec<String>) {
        let mut found = vec![value];
        for part in &self.0 {
            found = found
                .into_iter()
                .flat_map(|value| match part {
                    Part::Name(name) => value.get(name).into_iter().collect::<Vec<_>>(),
                    Part::Index(index) => value.get(index).into_iter().collect(),
                    Part::All => value.as_array().into_iter().flatten().collect(),
                })
                .collect();
        }
        texts.extend(found.into_iter().filter_map(all_texts));
    }
}
