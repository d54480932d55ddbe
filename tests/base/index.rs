//! The index of names.

use graphc::base::NameIndex;

#[test]
fn finds_the_first_of_a_name_also_in_what_came_later() {
    let mut names: Vec<String> = (0..40).map(|i| format!("n{}", i % 30)).collect();
    let index = NameIndex::default();
    let find = |names: &[String], wanted: &str| {
        index.find(wanted, names.len(), |at| {
            names.get(at).map_or("", String::as_str)
        })
    };
    assert_eq!(find(&names, "n7"), Some(7));
    assert_eq!(find(&names, "n29"), Some(29));
    assert_eq!(find(&names, "late"), None);
    names.push("late".to_owned());
    assert_eq!(find(&names, "late"), Some(40));
    assert_eq!(find(&names, "n"), None);
}
