//! Chat completions against a local server.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use graphc::backend::limit::{Limited, MODEL_TIMEOUT, REQUESTS};
use graphc::backend::llm::{ApiKey, Kind, Provider, Settings, Structured};
use graphc::backend::secret::Secret;
use graphc::backend::wire::Wire;
use graphc::ir::ErrorKind;
use graphc::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, FinishReason, ModelError, OutputSpec,
    ToolChoice, ToolSpec, Usage,
};
use graphc::value::Value;
use serde_json::json;
use tokio::sync::Semaphore;

use super::context::context;
use super::server::{Reply, Server, events, json as answer, with_headers};

fn request(stream: bool) -> ChatRequest {
    let messages = json!([
        { "id": null, "role": "system", "content": "Be short.", "tool_calls": [], "tool_call_id": null, "name": null, "usage": null },
        { "role": "user", "content": "Hello" },
    ]);
    ChatRequest {
        model_name: "writer".into(),
        model: "gpt-test".into(),
        messages: Value::from_json(&messages).as_list().unwrap().clone(),
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        output: None,
        temperature: None,
        top_p: None,
        max_tokens: None,
        thinking_budget: None,
        reasoning_effort: None,
        seed: None,
        stream,
    }
}

fn settings(url: &str) -> Settings {
    let mut settings = Settings::new("local", Kind::OpenAi, &format!("{url}/v1/"));
    settings.api_key = ApiKey::Given(Secret::new("sk-very-secret"));
    settings
}

/// All deltas, or the error with the deltas before it.
async fn ask(
    settings: Settings,
    request: ChatRequest,
    cx: &CallContext,
) -> Result<Vec<ChatDelta>, (Vec<ChatDelta>, ModelError)> {
    let model = Provider::new(settings, Wire::new());
    let mut stream = model.stream(request, cx).await.map_err(|e| (vec![], e))?;
    let mut deltas = Vec::new();
    while let Some(delta) = stream.next().await {
        match delta {
            Ok(delta) => deltas.push(delta),
            Err(error) => return Err((deltas, error)),
        }
    }
    Ok(deltas)
}

async fn fail(reply: Reply, stream: bool) -> ModelError {
    let server = Server::start(vec![reply]).await;
    let asked = ask(settings(&server.url), request(stream), &context()).await;
    let (_, error) = asked.unwrap_err();
    assert!(!error.message.contains("secret"), "{}", error.message);
    error
}

fn texts(deltas: &[ChatDelta]) -> Vec<&str> {
    let texts = deltas.iter().filter_map(|delta| match delta {
        ChatDelta::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn calls(deltas: &[ChatDelta]) -> Vec<(&str, &str, &str)> {
    let calls = deltas.iter().filter_map(|delta| match delta {
        ChatDelta::ToolCall(call) => Some((
            call.id.as_str(),
            call.name.as_str(),
            call.arguments.as_str(),
        )),
        _ => None,
    });
    calls.collect()
}

/// What only counts does not decide whether a reply holds.
#[tokio::test]
async fn counts_of_any_form_hold_no_reply_up() {
    let huge = u64::MAX;
    for (sent, counted) in [
        (
            json!({ "prompt_tokens": null, "completion_tokens": 3.0 }),
            Some((0, 3)),
        ),
        (
            json!({ "prompt_tokens": huge, "completion_tokens": -1 }),
            Some((huge, 0)),
        ),
        (json!({ "prompt_tokens": "7" }), Some((0, 0))),
        (json!("none"), None),
        (json!(null), None),
    ] {
        for streamed in [true, false] {
            let said = json!({ "role": "assistant", "content": "ok" });
            let name = if streamed { "delta" } else { "message" };
            let reply =
                json!({ "choices": [{ name: said, "finish_reason": "stop" }], "usage": sent });
            let sends = match streamed {
                true => events(&[&reply.to_string(), "[DONE]"]),
                false => answer(200, &reply.to_string()),
            };
            let server = Server::start(vec![sends]).await;
            let deltas = ask(settings(&server.url), request(streamed), &context()).await;
            let found = deltas.unwrap().into_iter().find_map(|delta| match delta {
                ChatDelta::Usage(usage) => Some((usage.input_tokens, usage.output_tokens)),
                _ => None,
            });
            assert_eq!(found, counted, "{sent} {streamed}");
        }
    }
}

#[tokio::test]
async fn a_stream_of_text_with_usage_behind_the_end() {
    let server = Server::start(vec![events(&[
        r#"{"choices":[{"delta":{"role":"assistant","content":""},"index":0}]}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"hm"},"index":0}]}"#,
        r#"{"choices":[{"delta":{"content":"Grüß "},"index":0}]}"#,
        r#"{"choices":[{"delta":{"content":"dich"},"index":0}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop","index":0}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}"#,
        "[DONE]",
    ])])
    .await;
    let mut asked = request(true);
    asked.temperature = Some(0.2);
    asked.max_tokens = Some(50);
    asked.seed = Some(7);
    let deltas = ask(settings(&server.url), asked, &context()).await.unwrap();
    assert_eq!(texts(&deltas), ["Grüß ", "dich"]);
    assert_eq!(deltas[0], ChatDelta::Reasoning("hm".into()));
    let usage = Usage {
        input_tokens: 7,
        output_tokens: 3,
        ..Usage::default()
    };
    assert_eq!(
        deltas[3..],
        [
            ChatDelta::Usage(usage),
            ChatDelta::Finish(FinishReason::Stop)
        ]
    );
    let sent = server.only();
    assert_eq!(sent.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(sent.header("authorization"), Some("Bearer sk-very-secret"));
    assert_eq!(
        sent.header("idempotency-key"),
        Some("be2974546978e3739e6d6da85c4be9f3")
    );
    assert_eq!(
        sent.json(),
        json!({
            "model": "gpt-test",
            "messages": [{ "role": "system", "content": "Be short." }, { "role": "user", "content": "Hello" }],
            "temperature": 0.2, "max_tokens": 50, "seed": 7,
            "stream": true, "stream_options": { "include_usage": true },
        })
    );
}

#[tokio::test]
async fn tool_calls_are_put_together_from_pieces() {
    let server = Server::start(vec![events(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"ids\":"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"list"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"[1]}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ])])
    .await;
    let mut asked = request(true);
    let parameters = json!({ "type": "object", "properties": {} });
    asked.tools = vec![ToolSpec {
        name: "read".into(),
        description: "Reads.".into(),
        parameters: parameters.clone(),
    }];
    asked.tool_choice = ToolChoice::Tool("read".into());
    let deltas = ask(settings(&server.url), asked, &context()).await.unwrap();
    assert_eq!(
        calls(&deltas),
        [("a", "read", r#"{"ids":[1]}"#), ("b", "list", "{}")]
    );
    assert_eq!(
        deltas.last(),
        Some(&ChatDelta::Finish(FinishReason::ToolCalls))
    );
    let sent = server.only().json();
    let function = json!({ "name": "read", "description": "Reads.", "parameters": parameters });
    assert_eq!(
        sent["tools"],
        json!([{ "type": "function", "function": function }])
    );
    assert_eq!(
        sent["tool_choice"],
        json!({ "type": "function", "function": { "name": "read" } })
    );
}

#[tokio::test]
async fn calls_of_servers_that_number_carelessly() {
    let server = Server::start(vec![events(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":{"n":1}}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"name":"z","arguments":"{"}},{"id":"d","function":{"name":"w","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"arguments":"}"}}]},"finish_reason":"stop"}]}"#,
    ])])
    .await;
    let deltas = ask(settings(&server.url), request(true), &context())
        .await
        .unwrap();
    assert_eq!(
        calls(&deltas),
        [
            ("a", "x", r#"{"n":1}"#),
            ("b", "y", "{}"),
            ("c", "z", "{}"),
            ("d", "w", "{}")
        ]
    );
    assert_eq!(
        deltas.last(),
        Some(&ChatDelta::Finish(FinishReason::ToolCalls))
    );
}

#[tokio::test]
async fn a_conversation_with_tools_is_written_as_the_protocol_wants() {
    let whole = r#"{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    let server = Server::start(vec![answer(200, whole)]).await;
    let mut asked = request(false);
    let messages = json!([
        { "role": "user", "content": [{ "type": "text", "text": "look" }, { "type": "image_url", "image_url": { "url": "data:," } }], "name": "ann" },
        { "role": "assistant", "content": "", "tool_calls": [{ "id": "c1", "name": "find", "args": { "q": "x" } }] },
        { "role": "tool", "content": [1, 2], "tool_call_id": "c1", "name": "find" },
    ]);
    asked.messages = Value::from_json(&messages).as_list().unwrap().clone();
    let deltas = ask(settings(&server.url), asked, &context()).await.unwrap();
    assert_eq!(texts(&deltas), ["ok"]);
    assert_eq!(deltas.len(), 3);
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "find", "arguments": r#"{"q":"x"}"# } });
    assert_eq!(
        server.only().json(),
        json!({ "model": "gpt-test", "messages": [
            { "role": "user", "name": "ann", "content": [{ "type": "text", "text": "look" }, { "type": "image_url", "image_url": { "url": "data:," } }] },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "content": "[1,2]", "tool_call_id": "c1" },
        ] })
    );
}

#[tokio::test]
async fn structured_output_is_asked_for_the_way_the_server_knows() {
    let whole = r#"{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}]}"#;
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": false });
    let send = async |way: Structured, schema: serde_json::Value| {
        let server = Server::start(vec![answer(200, whole)]).await;
        let mut asked = request(false);
        asked.output = Some(OutputSpec {
            name: "Decision".into(),
            schema,
        });
        let mut settings = settings(&server.url);
        settings.structured = way;
        ask(settings, asked, &context()).await.unwrap();
        server.only().json()
    };
    let sent = send(Structured::JsonSchema, schema.clone()).await;
    let format = json!({ "type": "json_schema", "json_schema": { "name": "Decision", "schema": schema, "strict": true } });
    assert_eq!(sent["response_format"], format);
    assert_eq!(sent["messages"][0]["content"], "Be short.");
    let sent = send(Structured::JsonObject, schema.clone()).await;
    assert_eq!(sent["response_format"], json!({ "type": "json_object" }));
    let system = sent["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.starts_with("Be short.\n\nAnswer with JSON only"),
        "{system}"
    );
    let sent = send(Structured::Prompt, schema).await;
    assert_eq!(sent.get("response_format"), None);
    let sent = send(Structured::Prompt, json!({ "type": "array" })).await;
    let system = sent["messages"][0]["content"].as_str().unwrap();
    assert!(system.ends_with(r#"{"type":"array"}"#), "{system}");
}

#[tokio::test]
async fn a_stream_that_was_answered_as_a_whole_is_read_all_the_same() {
    let whole = r#"{"choices":[{"message":{"content":"ok"},"finish_reason":"length"}]}"#;
    let server = Server::start(vec![answer(200, whole)]).await;
    let deltas = ask(settings(&server.url), request(true), &context())
        .await
        .unwrap();
    assert_eq!(texts(&deltas), ["ok"]);
    assert_eq!(
        deltas.last(),
        Some(&ChatDelta::Finish(FinishReason::Length))
    );
}

#[tokio::test]
async fn statuses_are_errors_by_kind() {
    let body = r#"{"error":{"message":"bad key sk-very-secret","type":"invalid_request_error","code":null}}"#;
    for (status, kind) in [
        (400, ErrorKind::InvalidRequest),
        (401, ErrorKind::Auth),
        (403, ErrorKind::Auth),
        (404, ErrorKind::InvalidRequest),
        (408, ErrorKind::Timeout),
        (429, ErrorKind::RateLimit),
        (500, ErrorKind::ServerError),
        (503, ErrorKind::ServerError),
    ] {
        for stream in [true, false] {
            let error = fail(answer(status, body), stream).await;
            assert_eq!(error.kind, kind, "{status}");
            assert!(error.message.contains(": bad key ***"), "{}", error.message);
            assert!(error.message.contains(&status.to_string()));
        }
    }
    let quota = r#"{"error":{"message":"no money","code":"insufficient_quota"}}"#;
    assert_eq!(
        fail(answer(429, quota), true).await.kind,
        ErrorKind::InvalidRequest
    );
    let filter = r#"{"error":{"message":"no","code":"content_filter"}}"#;
    assert_eq!(
        fail(answer(400, filter), true).await.kind,
        ErrorKind::ContentFilter
    );
    let page = with_headers(502, "", "<html>\n  <b>Bad gateway</b></html>");
    let error = fail(page, true).await;
    assert!(
        error.message.ends_with("<html> <b>Bad gateway</b></html>"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn retry_after_is_kept() {
    let date = "date: Wed, 21 Oct 2015 07:28:00 GMT\r\n";
    let until = |time: &str| format!("{date}retry-after: Wed, 21 Oct 2015 {time} GMT\r\n");
    let millis = |millis| Some(Duration::from_millis(millis));
    for (headers, wait) in [
        ("retry-after: 2\r\n", millis(2000)),
        ("retry-after: 0.5\r\n", millis(500)),
        ("retry-after: 9\r\nretry-after-ms: 20\r\n", millis(20)),
        (&until("07:28:30"), millis(30_000)),
        (&until("07:00:00"), millis(0)),
        (
            "retry-after: 99999999999999999999999\r\n",
            Some(Duration::MAX),
        ),
        ("retry-after: soon\r\n", None),
        ("retry-after: inf\r\n", None),
        ("retry-after: -1\r\n", None),
        ("", None),
    ] {
        let reply = with_headers(429, headers, "{}");
        assert_eq!(fail(reply, true).await.retry_after, wait, "{headers}");
    }
}

#[tokio::test]
async fn faults_within_a_stream() {
    let part = r#"{"choices":[{"delta":{"content":"Hal"}}]}"#;
    let cases: [(&[&str], ErrorKind, &str); 5] = [
        (&[part], ErrorKind::Network, "broke its reply off"),
        (
            &[part, "{nonsense"],
            ErrorKind::ServerError,
            "can't be read",
        ),
        (
            &[part, r#"{"error":{"message":"slow down","code":429}}"#],
            ErrorKind::RateLimit,
            "slow down",
        ),
        (
            &[part, r#"{"error":{"message":"oops"}}"#],
            ErrorKind::ServerError,
            "oops",
        ),
        (
            &[
                r#"{"choices":[{"delta":{"refusal":"I won't"}}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            ],
            ErrorKind::ContentFilter,
            "refused: I won't",
        ),
    ];
    for (data, kind, says) in cases {
        let error = fail(events(data), true).await;
        assert_eq!(error.kind, kind, "{}", error.message);
        assert!(error.message.contains(says), "{}", error.message);
    }
    let cut = with_headers(200, "content-type: text/event-stream\r\n", "");
    let Reply::Raw(pieces) = cut else { panic!() };
    let longer = pieces[0].replace("content-length: 0", "content-length: 500");
    let error = fail(Reply::Raw(vec![longer]), true).await;
    assert_eq!(error.kind, ErrorKind::Network, "{}", error.message);
}

#[tokio::test]
async fn replies_that_are_none() {
    for body in ["", "{}", "[]", r#"{"choices":[]}"#, "<html>"] {
        let error = fail(answer(200, body), false).await;
        assert_eq!(error.kind, ErrorKind::ServerError, "{}", error.message);
    }
    let refusal = r#"{"choices":[{"message":{"content":null,"refusal":"no"}}]}"#;
    assert_eq!(
        fail(answer(200, refusal), false).await.kind,
        ErrorKind::ContentFilter
    );
    let error = r#"{"error":{"message":"overloaded","code":503}}"#;
    assert_eq!(
        fail(answer(200, error), false).await.kind,
        ErrorKind::ServerError
    );
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let server = Server::start(Vec::new()).await;
    tokio::task::yield_now().await;
    let (_, error) = ask(settings(&server.url), request(true), &context())
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Network, "{}", error.message);
    assert!(
        error.message.contains("can't be reached"),
        "{}",
        error.message
    );
    assert!(
        !error.message.contains("chat/completions"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn silence_ends_with_the_timeout_or_the_run() {
    let server = Server::start(vec![Reply::Silence, Reply::Silence]).await;
    let mut cx = context();
    cx.timeout = Some(Duration::from_millis(60));
    let (_, error) = ask(settings(&server.url), request(true), &cx)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout);
    let cx = context();
    let cancel = cx.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    });
    let (_, error) = ask(settings(&server.url), request(true), &cx)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
}

/// A stream whose pieces come after that many milliseconds each.
fn slow(pieces: &[(u64, &str)]) -> Reply {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let head = std::iter::once((0, head.to_owned()));
    let pieces = pieces.iter();
    let pieces = pieces.map(|(millis, piece)| (*millis, format!("{piece}\n\n")));
    Reply::Slow(head.chain(pieces).collect())
}

const WORD: &str = r#"data: {"choices": [{"delta": {"content": "x"}}]}"#;
const STOP: &str = r#"data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}"#;

fn idle(url: &str, millis: u64) -> Settings {
    let mut settings = settings(url);
    settings.idle_timeout = Some(Duration::from_millis(millis));
    settings
}

/// Ports `test_idle_timeout_resets_*`: each piece begins the time anew, also one that is no event.
#[tokio::test]
async fn idle_timeout_is_reset_by_each_chunk() {
    let beat = ": still thinking";
    let pieces = [(70, WORD), (70, beat), (70, beat), (70, WORD), (70, STOP)];
    let server = Server::start(vec![slow(&pieces)]).await;
    let asked = ask(idle(&server.url, 150), request(true), &context()).await;
    assert_eq!(texts(&asked.unwrap()), ["x", "x"]);
}

#[tokio::test]
async fn idle_timeout_ends_a_stream_that_says_nothing() {
    for first in [0, 60_000] {
        let server = Server::start(vec![slow(&[(first, WORD), (60_000, STOP)])]).await;
        let asked = ask(idle(&server.url, 80), request(true), &context()).await;
        let (said, error) = asked.unwrap_err();
        assert_eq!(texts(&said).len(), usize::from(first == 0));
        assert_eq!(error.kind, ErrorKind::Timeout);
        assert_eq!(error.message, "`local` said nothing for 80ms");
    }
    let server = Server::start(vec![Reply::Silence]).await;
    let asked = ask(idle(&server.url, 80), request(true), &context()).await;
    let (_, error) = asked.unwrap_err();
    assert_eq!(error.message, "`local` said nothing for 80ms");
}

/// Ports `run_timeout_is_not_refreshed_by_heartbeat`.
#[tokio::test]
async fn the_timeout_of_a_call_is_not_refreshed_by_chunks() {
    let pieces = [(60, WORD); 20];
    let server = Server::start(vec![slow(&pieces)]).await;
    let mut cx = context();
    cx.timeout = Some(Duration::from_millis(250));
    let asked = ask(idle(&server.url, 200), request(true), &cx).await;
    let (said, error) = asked.unwrap_err();
    assert!((1..6).contains(&texts(&said).len()), "{said:?}");
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert!(
        error.message.starts_with("no answer within"),
        "{}",
        error.message
    );
}

/// All of the reply is there: that the server does not close the stream is no failure.
#[tokio::test]
async fn silence_behind_the_end_of_a_reply_is_none() {
    let server = Server::start(vec![slow(&[(0, WORD), (0, STOP), (60_000, WORD)])]).await;
    let asked = ask(idle(&server.url, 80), request(true), &context()).await;
    assert_eq!(texts(&asked.unwrap()), ["x"]);
}

/// A provider as it is bound: its calls take places.
fn limited(settings: Settings) -> Arc<dyn ChatModel> {
    let shared = Arc::new(Semaphore::new(REQUESTS));
    let provider = Arc::new(Provider::new(settings, Wire::new()));
    let (own, timeouts) = (provider.places().cloned(), (None, MODEL_TIMEOUT));
    let model: Arc<dyn ChatModel> = provider;
    Arc::new(Limited::new(model, own, &shared, timeouts))
}

/// A call takes its place among those of its provider until its reply has ended.
#[tokio::test]
async fn max_concurrency_of_a_provider_lasts_to_the_end_of_a_stream() {
    let server = Server::start(vec![slow(&[(0, WORD), (150, STOP)]); 2]).await;
    let mut settings = settings(&server.url);
    settings.max_concurrency = Some(1);
    let model = limited(settings);
    let context = context();
    let mut first = model.stream(request(true), &context).await.unwrap();
    assert!(first.next().await.unwrap().is_ok());
    let second = async {
        let _second = model.stream(request(true), &context).await.unwrap();
        server.asked().len()
    };
    let rest = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let while_it_speaks = server.asked().len();
        while first.next().await.is_some() {}
        drop(first);
        while_it_speaks
    };
    assert_eq!(tokio::join!(second, rest), (2, 1));
}

/// Waiting for a place is no time of a call: neither of its provider's timeout nor of the one that it is given.
#[tokio::test]
async fn waiting_for_a_place_is_no_time_of_a_call() {
    let server = Server::start(vec![slow(&[(0, WORD), (200, STOP)]); 4]).await;
    let mut settings = settings(&server.url);
    settings.max_concurrency = Some(1);
    settings.timeout = Some(Duration::from_millis(450));
    let model = limited(settings);
    let one = async || {
        let cx = context();
        let asked = async {
            let mut stream = model.stream(request(true), &cx).await?;
            while let Some(delta) = stream.next().await {
                delta?;
            }
            Ok::<_, ModelError>(())
        };
        let limit = Duration::from_millis(450);
        cx.waits
            .limited(limit, Box::pin(asked))
            .await
            .map(Result::unwrap)
    };
    let all = tokio::join!(one(), one(), one(), one());
    assert_eq!(all, (Some(()), Some(()), Some(()), Some(())));
    // One that has its place has so long and no longer.
    let cx = context();
    let limit = Duration::from_millis(50);
    let late = cx
        .waits
        .limited(limit, Box::pin(tokio::time::sleep(2 * limit)));
    assert!(late.await.is_none());
}

/// More than is read of a reply is no failure of the server, and would come again.
#[tokio::test]
async fn a_stream_without_end_is_cut_off_with_the_bound() {
    let beat = format!(": {}\n", "x".repeat(1 << 10)).repeat(1 << 10);
    let server = Server::start(vec![slow(&vec![(0, beat.as_str()); 66])]).await;
    let cx = CallContext {
        timeout: None,
        ..context()
    };
    let asked = ask(settings(&server.url), request(true), &cx).await;
    let (_, error) = asked.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidRequest);
    assert_eq!(
        error.message,
        "the reply of `local` is longer than 64 MiB, which is the most that is read of one"
    );
}

#[tokio::test]
async fn what_can_not_be_said_is_refused_before_anything_is_sent() {
    let server = Server::start(Vec::new()).await;
    let mut keyless = settings(&server.url);
    keyless.api_key = ApiKey::Missing("OPENAI_API_KEY".into());
    let (_, error) = ask(keyless, request(true), &context()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Auth);
    assert!(
        error.message.contains("OPENAI_API_KEY"),
        "{}",
        error.message
    );
    assert!(server.asked().is_empty());
}
