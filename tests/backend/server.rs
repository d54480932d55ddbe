//! An HTTP server that answers each request with the next of a list of replies, and keeps what it
//! was asked.

use std::sync::{Arc, Mutex};

use serde_json::Value as Json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A reply: bytes to send, piece by piece.
#[derive(Debug, Clone)]
pub enum Reply {
    /// These bytes, then the connection is closed.
    Raw(Vec<String>),
    /// These bytes, each after a while.
    Slow(Vec<(u64, String)>),
    /// No answer at all.
    Silence,
}

pub fn json(status: u16, body: &str) -> Reply {
    with_headers(status, "content-type: application/json\r\n", body)
}

pub fn with_headers(status: u16, headers: &str, body: &str) -> Reply {
    let length = body.len();
    Reply::Raw(vec![format!(
        "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )])
}

/// A whole stream of events, each in a packet of its own, cut in the middle so that no reader can
/// rely on packets.
pub fn events(data: &[&str]) -> Reply {
    let mut pieces = vec![
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
            .to_owned(),
    ];
    for event in data {
        let text = format!("data: {event}\n\n");
        let middle = (text.len() / 2..)
            .find(|at| text.is_char_boundary(*at))
            .unwrap();
        pieces.push(text[..middle].to_owned());
        pieces.push(text[middle..].to_owned());
    }
    Reply::Raw(pieces)
}

pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub async fn start(replies: Vec<Reply>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let journal = Arc::clone(&asked);
        tokio::spawn(async move {
            for reply in replies {
                let (stream, _) = listener.accept().await.unwrap();
                let journal = Arc::clone(&journal);
                tokio::spawn(answer(stream, reply, journal));
            }
            // Further requests are refused: nothing may be asked that the test did not foresee.
        });
        Server { url, asked }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub fn only(&self) -> Asked {
        let asked = self.asked();
        assert_eq!(asked.len(), 1);
        asked[0].clone()
    }
}

async fn answer(stream: TcpStream, reply: Reply, journal: Arc<Mutex<Vec<Asked>>>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).await.unwrap();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).await.unwrap();
        match header.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
            None => break,
        }
    }
    let mut asked = Asked {
        line: line.trim_end().to_owned(),
        headers,
        body: Vec::new(),
    };
    let length = asked
        .header("content-length")
        .map_or(0, |n| n.parse().unwrap());
    asked.body.resize(length, 0);
    reader.read_exact(&mut asked.body).await.unwrap();
    journal.lock().unwrap().push(asked);
    let mut stream = reader.into_inner();
    match reply {
        Reply::Silence => std::future::pending().await,
        Reply::Slow(pieces) => {
            for (millis, piece) in pieces {
                tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
                if stream.write_all(piece.as_bytes()).await.is_err() {
                    return;
                }
                stream.flush().await.unwrap();
            }
            let _ = stream.shutdown().await;
        }
        Reply::Raw(pieces) => {
            for piece in pieces {
                if stream.write_all(piece.as_bytes()).await.is_err() {
                    return;
                }
                stream.flush().await.unwrap();
                tokio::task::yield_now().await;
            }
            let _ = stream.shutdown().await;
        }
    }
}
