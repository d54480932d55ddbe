//! Secrets in texts, whole and in pieces.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use graphc::base::secret::{Secret, Secrets};
use serde_json::Value as Json;

fn secrets(all: &[&str]) -> Secrets {
    let mut secrets = Secrets::default();
    secrets.extend(
        &all.iter()
            .map(|text| Secret::new(*text))
            .collect::<Vec<_>>(),
    );
    secrets
}

#[test]
fn a_secret_is_found_in_all_of_its_forms() {
    let key = "p\"w/ä+= 12";
    let known = secrets(&[key, "abcdefgh", "abcdefghij", "short"]);
    let percent = "p%22w%2F%C3%A4%2B%3D%2012".to_owned();
    let basic = |user: &str| STANDARD.encode(format!("{user}:{key}@"));
    for text in [
        key.to_owned(),
        percent.to_lowercase(),
        percent.replace("%20", "+"),
        percent,
        Json::from(key).to_string(),
        r#""p\"w/\u00e4+= 12""#.to_owned(),
        r#""p\"w\/ä+= 12""#.to_owned(),
    ] {
        let hidden = known.scrub(&format!("<{text}>")).replace('"', "");
        assert_eq!(hidden, "<***>", "{text}");
    }
    for user in ["", "a", "ab", "abc"] {
        let hidden = known.scrub(&basic(user));
        assert!(hidden.contains("***") && hidden.len() < 16, "{hidden}");
    }
    assert_eq!(
        known.scrub("abcdefghij abcdefgh abc short"),
        "*** *** abc short"
    );
    let long: String = (0..400).map(|n| format!("{n:x}-")).collect();
    assert_eq!(secrets(&[&long]).scrub(&long), "***");
}

#[test]
fn words_in_pieces_hide_what_they_split() {
    let known = secrets(&["secret-one", "secret-one-and-two", "one-more-thing", "8080"]);
    for text in [
        "a secret-one b",
        "secret-one-and-two",
        "secret-one-and-three",
        "secret-one-more-thing",
        "secret-o",
        "port 8080",
        "äöü secret-one ä",
    ] {
        let whole = known.scrub_words(text);
        for size in 1..8 {
            let mut words = known.words();
            let chars: Vec<char> = text.chars().collect();
            let pieces = chars
                .chunks(size)
                .map(|piece| words.push(&piece.iter().collect::<String>()));
            let shown = pieces.collect::<String>() + &words.end();
            assert_eq!(shown, whole, "{text} in pieces of {size}");
        }
    }
    let mut words = known.words();
    assert_eq!(words.push("so it is"), "so it i");
    assert_eq!(words.push(" 8080"), "s 8080");
}
