//! HTTP as every backend uses it.

use std::future::pending;
use std::time::Duration;

use graphc::backend::secret::Secrets;
use graphc::backend::wire::{Bounds, LINE, LineTooLong, Lines, Peer, Wire, events};

use super::context::context;
use super::server::{Server, with_headers};

fn split(chunks: &[&[u8]]) -> Vec<String> {
    let mut lines = Lines::default();
    let mut found = Vec::new();
    for chunk in chunks {
        lines.push(chunk);
        while let Some(line) = lines.next_line().unwrap() {
            found.push(String::from_utf8_lossy(line).into_owned());
        }
    }
    found.push(String::from_utf8_lossy(lines.rest()).into_owned());
    found
}

#[test]
fn every_end_of_a_line_counts_once_wherever_chunks_are_cut() {
    let text = "\u{feff}a\r\nbä\rc\n\n\r\r\nd".as_bytes();
    let expected = ["a", "bä", "c", "", "", "", "d"];
    assert_eq!(split(&[text]), expected);
    for cut in 0..text.len() {
        let (first, second) = text.split_at(cut);
        assert_eq!(split(&[first, second]), expected, "{cut}");
    }
    let bytes: Vec<&[u8]> = text.chunks(1).collect();
    assert_eq!(split(&bytes), expected);
}

#[test]
fn a_line_has_a_bound_whether_or_not_it_ends() {
    let long = vec![b'x'; LINE];
    let mut lines = Lines::default();
    lines.push(&long);
    assert_eq!(lines.next_line(), Ok(None));
    lines.push(b"\n");
    assert_eq!(lines.next_line().unwrap().map(<[u8]>::len), Some(LINE));
    lines.push(&long);
    lines.push(b"xx");
    assert_eq!(lines.next_line(), Err(LineTooLong));
}

#[tokio::test]
async fn lines_make_events() {
    let text =
        "event: a\ndata:1\ndata: 2\n\n: beat\nid: 7\n\ndata\n\n<html>\nevent: lost\n\ndata: x\n\n";
    let server = Server::start(vec![with_headers(200, "", text)]).await;
    let wire = Wire::new();
    let request = wire.client().unwrap().get(&server.url);
    let secrets = Secrets::default();
    let peer = Peer {
        name: "kb",
        secrets: &secrets,
    };
    let bounds = Bounds::new(&context(), None);
    let mut stream = events(request.send().await.unwrap(), peer, bounds, None);
    let mut found = Vec::new();
    while let Some(event) = stream.next_named().await.unwrap() {
        found.push(event);
    }
    let named = |name: &str, data: &str| (name.to_owned(), data.to_owned());
    assert_eq!(found, [named("a", "1\n2"), named("", ""), named("", "x")]);
    assert_eq!(stream.stray().as_deref(), Some("<html>"));
}

#[tokio::test]
async fn silence_ends_only_what_has_no_bound_of_its_own() {
    for (end, says) in [(None, "10ms"), (Some(Duration::from_millis(90)), "90ms")] {
        let mut cx = context();
        cx.timeout = end;
        let mut bounds = Bounds::new(&cx, None);
        bounds.silence = Duration::from_millis(10);
        let failure = bounds.receive(pending::<()>()).await.unwrap_err();
        assert!(failure.message.ends_with(says), "{}", failure.message);
    }
}
