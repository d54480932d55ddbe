//! What is known of families of models.

use graphc::lint::model::{Families, Family};

#[test]
fn the_table_is_read_and_the_longest_name_counts() {
    let families = Families::default();
    assert_eq!(families.as_of, "2026-08");
    let name = |reference| families.of(reference).map(|family| family.name.as_str());
    assert_eq!(name("openai/gpt-4o-mini"), Some("gpt-4o"));
    assert_eq!(name("openai/gpt-4-0613"), Some("gpt-4"));
    assert_eq!(name("openai/gpt-4-1106-preview"), Some("gpt-4-1106"));
    assert_eq!(name("openai/gpt-5-mini"), Some("gpt-5"));
    assert_eq!(name("openai/gpt-5.2"), Some("gpt-5.2"));
    assert_eq!(name("hub/anthropic/claude-3.7-sonnet"), Some("claude-3.7"));
    assert_eq!(name("hub/meta/Llama-3.1-8B"), Some("llama-3.1"));
    assert_eq!(name("local/m"), None);
    let own = Family {
        name: "local/m".to_owned(),
        ..Family::default()
    };
    let families = families.clone().with([own]);
    assert!(families.of("local/m").is_some() && families.of("other/m").is_none());
}
