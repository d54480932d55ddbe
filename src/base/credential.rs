//! Texts that look like keys, tokens and passwords.
//!
//! What is looked for are the forms that services give their keys, private keys, passwords in addresses, and long
//! random texts beside a name that says what they are. Known by form alone: nothing is asked anywhere.

use std::ops::Range;

/// A text that looks like a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// What it looks like, with its article: `a GitHub token`.
    pub kind: &'static str,
    /// Its first characters, to find it by; never the whole.
    pub shown: String,
}

/// A service's form: how it begins, how many characters follow at least and at most, what it is.
struct Form {
    prefix: &'static str,
    least: usize,
    most: usize,
    kind: &'static str,
}

const fn form(prefix: &'static str, least: usize, most: usize, kind: &'static str) -> Form {
    Form {
        prefix,
        least,
        most,
        kind,
    }
}

/// Longer prefixes come before those that they begin with.
const FORMS: [Form; 26] = [
    form("sk-ant-", 20, 400, "an Anthropic API key"),
    form("sk-proj-", 20, 400, "an OpenAI API key"),
    form("sk-or-", 20, 400, "an OpenRouter API key"),
    form("sk-", 20, 400, "an API key of a model provider"),
    form("sk_live_", 16, 200, "a Stripe key"),
    form("sk_test_", 16, 200, "a Stripe key"),
    form("rk_live_", 16, 200, "a Stripe key"),
    form("whsec_", 24, 200, "a webhook secret"),
    form("github_pat_", 22, 200, "a GitHub token"),
    form("ghp_", 30, 80, "a GitHub token"),
    form("gho_", 30, 80, "a GitHub token"),
    form("ghu_", 30, 80, "a GitHub token"),
    form("ghs_", 30, 80, "a GitHub token"),
    form("ghr_", 30, 80, "a GitHub token"),
    form("glpat-", 16, 80, "a GitLab token"),
    form("AKIA", 16, 16, "an AWS access key"),
    form("ASIA", 16, 16, "an AWS access key"),
    form("AIza", 30, 45, "a Google API key"),
    form("xoxb-", 10, 200, "a Slack token"),
    form("xoxp-", 10, 200, "a Slack token"),
    form("xoxa-", 10, 200, "a Slack token"),
    form("xoxr-", 10, 200, "a Slack token"),
    form("xoxs-", 10, 200, "a Slack token"),
    form("hf_", 30, 60, "a Hugging Face token"),
    form("npm_", 30, 60, "an npm token"),
    form("pypi-", 40, 400, "a PyPI token"),
];

/// Least length of a run of characters that may be one: that of a password beside a name.
const SHORTEST: usize = 8;

/// Least length of one that is known by its form alone.
const SHORTEST_FORM: usize = 15;

/// All that looks like one, in order.
pub fn credentials(text: &str) -> Vec<Credential> {
    let mut found: Vec<Credential> = Vec::new();
    private_keys(text, &mut found);
    passwords_in_addresses(text, &mut found);
    let (mut before, mut earlier) = ("", "");
    for range in words(text) {
        let word = text.get(range.clone()).unwrap_or("");
        let known = found
            .iter()
            .any(|f| f.range.start <= range.start && range.end <= f.range.end);
        if !known && word.len() >= SHORTEST {
            // In `token: string = ".."` the name stands before the type.
            let name = match before {
                "string" => earlier,
                name => name,
            };
            let kind = by_form(text, &range, word).or_else(|| by_name(text, &range, word, name));
            if let Some(kind) = kind {
                found.push(credential(word, range, kind));
            }
        }
        (earlier, before) = match word {
            "=" => (earlier, before),
            word => (before, word),
        };
    }
    found.sort_by_key(|credential| credential.range.start);
    found
}

fn credential(text: &str, range: Range<usize>, kind: &'static str) -> Credential {
    let start: String = text.chars().take(4).collect();
    Credential {
        range,
        kind,
        shown: format!("{start}.."),
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=')
}

/// Runs of the characters that keys are made of.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at).is_some_and(|byte| !in_word(*byte)) {
            at += 1;
        }
        let start = at;
        while bytes.get(at).is_some_and(|byte| in_word(*byte)) {
            at += 1;
        }
        (at > start).then_some(start..at)
    })
}

fn by_form(text: &str, range: &Range<usize>, word: &str) -> Option<&'static str> {
    // A `KEY=sk-..` is one run.
    let tail = word
        .rsplit('=')
        .find(|part| !part.is_empty())
        .unwrap_or(word);
    if tail.len() < SHORTEST_FORM {
        return None;
    }
    for form in &FORMS {
        if let Some(rest) = tail.strip_prefix(form.prefix) {
            let fits = rest.len() >= form.least && rest.len() <= form.most;
            let likely = match form.least == form.most {
                // A form of one length and of capital letters.
                true => rest
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()),
                false => is_random(rest),
            };
            return (fits && likely).then_some(form.kind);
        }
    }
    let dotted = text.as_bytes().get(range.end) == Some(&b'.');
    let next = text.get(range.end + 1..range.end + 4);
    (tail.starts_with("eyJ") && tail.len() > 15 && dotted && next == Some("eyJ"))
        .then_some("a signed token (JWT)")
}

/// Whether a text looks drawn by lot: digits and letters mixed, and not the same few again and again.
fn is_random(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    digits >= 2 && letters >= 2 && entropy(text) >= 2.8
}

/// Shannon's entropy of a text's bytes, in bits a byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let all = text.len().max(1) as f64;
    let bits = |count: &u32| {
        let share = f64::from(*count) / all;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}

const NAMES: [&str; 9] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "pwd",
    "credential",
    "credentials",
    "bearer",
];

/// A long random text in quotes, or behind `Bearer`, beside a name that says what it is.
fn by_name(text: &str, range: &Range<usize>, word: &str, before: &str) -> Option<&'static str> {
    if !is_mixed(word) {
        return None;
    }
    let before = before.trim_end_matches('=');
    let last = before.rsplit(['_', '-']).next().unwrap_or("");
    let last = last.to_ascii_lowercase();
    let name = NAMES
        .iter()
        .find(|name| last == **name || last.ends_with(*name) && last.len() < 16)?;
    let between = text.get(range.start.checked_sub(6)?..range.start)?;
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let quote = byte(range.start.checked_sub(1)?);
    let quoted = matches!(quote, Some(b'"' | b'\'')) && byte(range.end) == quote;
    let beside = quoted && between.contains([':', '=']) || *name == "bearer";
    let secret_word = matches!(*name, "password" | "passwd" | "pwd");
    let long = word.len() >= 20 && entropy(word) >= 3.0;
    let short = secret_word && word.len() >= 8 && entropy(word) >= 2.5;
    if !beside || !(long || short) {
        return None;
    }
    Some(match *name {
        "key" => "a key",
        "token" | "bearer" => "a token",
        "password" | "passwd" | "pwd" => "a password",
        _ => "a secret",
    })
}

fn is_mixed(word: &str) -> bool {
    let digit = word.bytes().any(|byte| byte.is_ascii_digit());
    digit && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn private_keys(text: &str, found: &mut Vec<Credential>) {
    for (at, begin) in text.match_indices("-----BEGIN ") {
        let rest = text.get(at + begin.len()..).unwrap_or("");
        let line = rest.lines().next().unwrap_or("");
        let Some(end) = line.find("PRIVATE KEY-----") else {
            continue;
        };
        let range = at..at + begin.len() + end + "PRIVATE KEY-----".len();
        found.push(Credential {
            range,
            kind: "a private key",
            shown: "-----BEGIN ..".to_owned(),
        });
    }
}

/// `scheme://user:password@host`
fn passwords_in_addresses(text: &str, found: &mut Vec<Credential>) {
    for (at, _) in text.match_indices("://") {
        let from = at + 3;
        let rest = text.get(from..).unwrap_or("");
        let end = rest.find(|c: char| c.is_whitespace() || "/\"'`<>?#".contains(c));
        let host = rest.get(..end.unwrap_or(rest.len())).unwrap_or("");
        let Some((user, _)) = host.rsplit_once('@') else {
            continue;
        };
        let Some((name, password)) = user.split_once(':') else {
            continue;
        };
        let filled_in = password.contains(['$', '{', '*', '[']) || password.len() < 4;
        let example = matches!(password, "pass" | "password" | "secret" | "xxxx");
        if filled_in || example {
            continue;
        }
        let start = from + name.len() + 1;
        found.push(credential(
            password,
            start..start + password.len(),
            "a password in an address",
        ));
    }
}
