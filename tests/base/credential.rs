//! What looks like a credential, and what only looks alike.

use graphc::base::credential::credentials;

#[track_caller]
fn kinds(text: &str, expected: &[&str]) {
    let found: Vec<&str> = credentials(text).iter().map(|c| c.kind).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn forms_of_services() {
    kinds("\"AKIAIOSFODNN7EXAMPLE\"", &["an AWS access key"]);
    kinds("x = 'xoxb-123456789012-abcdefABCDEF'", &["a Slack token"]);
    kinds(
        "KEY=sk-proj-abcdefghijklmnop0123456789",
        &["an OpenAI API key"],
    );
    kinds("-----BEGIN RSA PRIVATE KEY-----\nabc", &["a private key"]);
    kinds("postgres://app:hunter2@db/x", &["a password in an address"]);
    kinds("api_key: \"f3a9c1d27b8e4f60a1b2c3d4e5f60718\"", &["a key"]);
    kinds("password: \"hunter2hunter2\"", &["a password"]);
    kinds(
        "Authorization: Bearer a8f5f167f44f4964e6c998dee827110c",
        &["a token"],
    );
}

#[test]
fn what_only_looks_alike() {
    for text in [
        "postgres://app:${PASSWORD}@db/x",
        "https://example.com:8080/a@b",
        "task-management-for-everybody-2024",
        "sk-learn-something-new",
        "key: \"customer\"",
        "token: \"the-token-of-the-session-of-a-user\"",
        "AKIAIOSFODNN7EXAMPLEX",
        "max_tokens: 20",
        "sha: \"f3a9c1d27b8e4f60a1b2c3d4e5f60718\"",
        "let key = \"a1\"",
    ] {
        kinds(text, &[]);
    }
}
