//! A server that speaks OpenAI's chat protocol. Its replies depend on the request alone, so that it
//! answers alike whoever asks again: "TOOL N times" in the last user message is N calls of that tool, one
//! after the other ("at-once": in one turn), then a text. The model `broken` fails, `slow` is slow.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::log::{self, Line};

/// Starts a server that notes each request in the log; gives its address. It lives as long as the
/// test's process.
pub fn serve(log: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (stream, log) = (stream.unwrap(), log.clone());
            // A client that was killed takes no reply.
            std::thread::spawn(move || answer(stream, number, &log));
        }
    });
    url
}

fn answer(stream: TcpStream, number: usize, log: &std::path::Path) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut key, mut caller) = (0, String::new(), String::new());
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 {
            return Ok(());
        }
        match header.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap();
            }
            Some((name, value)) if name.eq_ignore_ascii_case("idempotency-key") => {
                key = value.to_owned();
            }
            Some((name, value)) if name.eq_ignore_ascii_case("x-caller") => {
                caller = value.to_owned();
            }
            None if header.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Json = serde_json::from_slice(&body).unwrap();
    let messages = request["messages"].as_array().unwrap();
    let mut line = Line {
        what: "begin".to_owned(),
        who: format!("m{number}"),
        caller,
        tool: "model".to_owned(),
        key,
        args: format!("{} messages", messages.len()),
    };
    log::write(log, &line);
    let slow = request["model"] == "slow";
    std::thread::sleep(Duration::from_millis(if slow { 300 } else { 5 }));
    let (status, what, body) = match request["model"] == "broken" {
        true => (500, "fail", json!({"error": {"message": "broken"}})),
        false => (200, "end", reply(messages)),
    };
    let body = body.to_string();
    let mut stream = reader.into_inner();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    line.what = what.to_owned();
    log::write(log, &line);
    Ok(())
}

fn reply(messages: &[Json]) -> Json {
    let asked = messages.iter().rev().find(|m| m["role"] == "user").unwrap();
    let words: Vec<&str> = asked["content"].as_str().unwrap().split(' ').collect();
    let [.., tool, times, how] = words.as_slice() else {
        panic!("no task in {asked}");
    };
    let times: usize = times.parse().unwrap();
    let done = messages.iter().filter(|m| m["role"] == "tool").count();
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 2});
    if done >= times {
        let message = json!({"role": "assistant", "content": format!("did it {done} times")});
        return json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage});
    }
    let call = |n: usize| {
        json!({
            "id": format!("c{n}"),
            "type": "function",
            "function": {"name": tool, "arguments": json!({"n": n}).to_string()},
        })
    };
    let turn = if *how == "at-once" { times } else { done + 1 };
    let calls: Vec<Json> = (done..turn).map(call).collect();
    let message =
        json!({"role": "assistant", "content": format!("I call {tool}."), "tool_calls": calls});
    json!({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage})
}
