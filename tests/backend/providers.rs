//! What each protocol asks and how it reads what comes: `providers/*.yaml` against a local server, and faults that are the same for
//! all of them. The replies in the files are of the forms that the providers document.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt;
use graphc::backend::llm::{ApiKey, Kind, Provider, Settings};
use graphc::backend::secret::Secret;
use graphc::backend::wire::Wire;
use graphc::base::SourceMap;
use graphc::ir::ErrorKind;
use graphc::project::config::load;
use graphc::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ModelError, OutputSpec, ToolChoice, ToolSpec,
    Usage,
};
use graphc::value::Value;
use serde::Deserialize;
use serde_json::{Map as JsonMap, Value as Json, json};

use super::context::context;
use super::server::{Asked, Reply, Server, with_headers};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: String,
    /// A reply of the word `ok`, whole.
    whole: Json,
    /// The same in events, the word in the first one that says any.
    events: Vec<Json>,
    errors: Vec<Fault>,
    cases: Vec<Case>,
}

/// What a server answers instead of a reply.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Json,
    kind: ErrorKind,
    message: String,
    retry_after_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Beside kind and address.
    #[serde(default)]
    provider: JsonMap<String, Json>,
    request: Request,
    /// Method and path.
    asks: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The body of the request, that of a stream without what asks for one.
    sends: Option<Json>,
    whole: Option<Json>,
    events: Option<Vec<Json>>,
    gives: Option<Given>,
    fails: Option<(ErrorKind, String)>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Request {
    messages: Vec<Json>,
    /// A message that is added: what the case before has given.
    after: Option<String>,
    then: Vec<Json>,
    tools: Vec<String>,
    tool_choice: Option<String>,
    output: Option<Json>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_tokens: Option<u32>,
    thinking_budget: Option<u32>,
    reasoning_effort: Option<String>,
    seed: Option<i64>,
    model: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(deny_unknown_fields, default)]
struct Given {
    text: String,
    thinking: String,
    opaque: Vec<Json>,
    calls: Vec<(String, String, Json)>,
    usage: Option<Usage>,
    finish: String,
    /// The content of the message that a conversation keeps.
    content: Json,
}

fn files() -> Vec<(String, File)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/backend/providers");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert_eq!(files.len(), Kind::ALL.len());
    files
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let file = serde_yaml::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path.display().to_string(), file)
        })
        .collect()
}

/// The provider as graphc.yaml describes it.
fn provider(kind: &str, url: &str, more: &JsonMap<String, Json>) -> Settings {
    let mut entry = json!({ "kind": kind, "base_url": format!("{url}/v1"), "api_key": "${KEY}" });
    entry.as_object_mut().unwrap().extend(more.clone());
    let yaml = json!({ "providers": { "p": entry } }).to_string();
    let mut sources = SourceMap::new();
    let file = sources.add("graphc.yaml", yaml.as_str());
    let env = |name: &str| (name == "KEY").then(|| "k-very-secret".to_owned());
    let config = load(&sources, file, None, &env).unwrap_or_else(|found| {
        panic!("{:?}", found.iter().map(|f| &f.message).collect::<Vec<_>>())
    });
    config.providers["p"].value.clone()
}

fn request(of: &Request, before: &BTreeMap<String, Json>, stream: bool) -> ChatRequest {
    let mut messages = of.messages.clone();
    if let Some(after) = &of.after {
        messages.push(before[after].clone());
    }
    messages.extend(of.then.clone());
    let tool = |name: &String| ToolSpec {
        name: name.clone(),
        description: format!("The tool {name}."),
        parameters: json!({
            "type": "object", "additionalProperties": false, "required": ["city"],
            "properties": { "city": { "type": "string", "maxLength": 40 } },
        }),
    };
    ChatRequest {
        model_name: "writer".into(),
        model: of.model.clone().unwrap_or_else(|| "m-1".into()),
        messages: Value::from_json(&json!(messages))
            .as_list()
            .unwrap()
            .clone(),
        tools: of.tools.iter().map(tool).collect(),
        tool_choice: match of.tool_choice.as_deref() {
            None => ToolChoice::Auto,
            Some("none") => ToolChoice::None,
            Some("required") => ToolChoice::Required,
            Some(name) => ToolChoice::Tool(name.into()),
        },
        output: of.output.clone().map(|schema| OutputSpec {
            name: "Answer".into(),
            schema,
        }),
        temperature: of.temperature,
        top_p: of.top_p,
        max_tokens: of.max_tokens,
        thinking_budget: of.thinking_budget,
        reasoning_effort: of.reasoning_effort.clone(),
        seed: of.seed,
        stream,
    }
}

async fn ask(
    settings: Settings,
    request: ChatRequest,
    cx: &CallContext,
) -> (Vec<ChatDelta>, Option<ModelError>) {
    let model = Provider::new(settings, Wire::new());
    let mut stream = match model.stream(request, cx).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut deltas = Vec::new();
    while let Some(delta) = stream.next().await {
        match delta {
            Ok(delta) => deltas.push(delta),
            Err(error) => return (deltas, Some(error)),
        }
    }
    (deltas, None)
}

fn given(deltas: Vec<ChatDelta>) -> Given {
    let mut given = Given::default();
    let mut parts: Vec<Json> = Vec::new();
    for delta in deltas {
        match delta {
            ChatDelta::Text(text) => {
                given.text += &text;
                match parts.last_mut() {
                    Some(Json::String(last)) => *last += &text,
                    _ => parts.push(text.into()),
                }
            }
            ChatDelta::Reasoning(text) => given.thinking += &text,
            ChatDelta::Opaque { provider, data } => {
                let part = json!({ "type": "opaque", "provider": provider, "data": data });
                given.opaque.push(part.clone());
                parts.push(part);
            }
            ChatDelta::ToolCall(call) => {
                let args = serde_json::from_str(&call.arguments).unwrap();
                given.calls.push((call.id, call.name, args));
            }
            ChatDelta::Usage(usage) => given.usage = Some(usage),
            ChatDelta::Finish(reason) => given.finish = reason.word().to_owned(),
        }
    }
    given.content = match given.opaque.is_empty() {
        true => given.text.clone().into(),
        false => parts.into(),
    };
    given
}

/// The message that a conversation keeps of a reply.
fn message(given: &Given) -> Json {
    let calls = given.calls.iter();
    let calls = calls.map(|(id, name, args)| json!({ "id": id, "name": name, "args": args }));
    json!({ "role": "assistant", "content": given.content, "tool_calls": calls.collect::<Vec<_>>() })
}

fn answer(status: u16, body: &Json) -> Reply {
    with_headers(
        status,
        "content-type: application/json\r\n",
        &body.to_string(),
    )
}

/// Events as the provider sends them: Anthropic and OpenAI's responses name them by their type as well.
fn told(events: &[Json], done: bool) -> String {
    let mut text = String::new();
    for event in events {
        if let Some(name) = event.get("type").and_then(Json::as_str) {
            text += &format!("event: {name}\n");
        }
        text += &format!("data: {event}\n\n");
    }
    match done {
        true => text + "data: [DONE]\n\n",
        false => text,
    }
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn stream(text: &str) -> Reply {
    Reply::Raw(vec![HEAD.to_owned(), text.to_owned()])
}

/// The body of a request, without what asks for a stream.
fn body(asked: &Asked, streamed: bool) -> Json {
    let mut body = asked.json();
    let entries = body.as_object_mut().unwrap();
    if streamed && !asked.line.contains("alt=sse") {
        assert_eq!(entries.remove("stream"), Some(json!(true)));
        entries.remove("stream_options");
    }
    body
}

#[tokio::test]
async fn cases() {
    for (path, file) in files() {
        let mut before = BTreeMap::new();
        for case in &file.cases {
            let ways = [
                case.whole.as_ref().map(|whole| answer(200, whole)),
                case.events
                    .as_ref()
                    .map(|events| stream(&told(events, file.kind == "openai"))),
            ];
            assert!(ways.iter().any(Option::is_some), "{path}: {}", case.name);
            for (streamed, reply) in [false, true].into_iter().zip(ways) {
                let Some(reply) = reply else { continue };
                let at = format!("{path}: {} (streamed: {streamed})", case.name);
                let server = Server::start(vec![reply]).await;
                let settings = provider(&file.kind, &server.url, &case.provider);
                let asked = request(&case.request, &before, streamed);
                let (deltas, error) = ask(settings, asked, &context()).await;
                let sent = server.only();
                if let Some(sends) = &case.sends {
                    assert_eq!(&body(&sent, streamed), sends, "{at}");
                }
                if let Some(asks) = case.asks.as_ref().filter(|_| !streamed) {
                    assert_eq!(sent.line, format!("{asks} HTTP/1.1"), "{at}");
                }
                for (name, value) in &case.headers {
                    assert_eq!(sent.header(name), Some(value.as_str()), "{at}: {name}");
                }
                match (&case.fails, error) {
                    (None, None) => {}
                    (Some((kind, says)), Some(error)) => {
                        assert_eq!(error.kind, *kind, "{at}: {error}");
                        assert!(error.message.contains(says), "{at}: {error}");
                        continue;
                    }
                    (_, error) => panic!("{at}: {error:?}"),
                }
                let mut given = given(deltas);
                before.insert(case.name.clone(), message(&given));
                let expected = case.gives.as_ref().unwrap_or_else(|| panic!("{at}: gives"));
                if expected.content.is_null() {
                    given.content = Json::Null;
                }
                assert_eq!(&given, expected, "{at}");
            }
        }
    }
}

/// A reply of another protocol says which one it is of.
#[tokio::test]
async fn a_wrong_kind_is_told_by_the_reply() {
    for (_, of) in files() {
        for (path, asked) in files() {
            if of.kind == asked.kind {
                continue;
            }
            let replies = [
                answer(200, &of.whole),
                stream(&told(&of.events, of.kind == "openai")),
            ];
            for (streamed, reply) in [false, true].into_iter().zip(replies) {
                let server = Server::start(vec![reply]).await;
                let settings = provider(&asked.kind, &server.url, &JsonMap::new());
                let request = request(&Request::default(), &BTreeMap::new(), streamed);
                let (_, error) = ask(settings, request, &context()).await;
                let error = error.unwrap();
                let says = format!("a reply of the protocol `{}`", of.kind);
                assert_eq!(error.kind, ErrorKind::InvalidRequest, "{path}: {error}");
                assert!(error.message.contains(&says), "{path}: {error}");
            }
        }
    }
}

/// A status that is no success, and an error in place of the first event.
#[tokio::test]
async fn errors_are_of_the_kind_that_the_provider_means() {
    for (path, file) in files() {
        for fault in &file.errors {
            let headers = fault.headers.iter();
            let headers: String = headers
                .map(|(name, value)| format!("{name}: {value}\r\n"))
                .collect();
            let reply = with_headers(fault.status, &headers, &fault.body.to_string());
            let server = Server::start(vec![reply]).await;
            let settings = provider(&file.kind, &server.url, &JsonMap::new());
            let asked = request(&Request::default(), &BTreeMap::new(), true);
            let (_, error) = ask(settings, asked, &context()).await;
            let error = error.unwrap_or_else(|| panic!("{path}: {}", fault.body));
            assert_eq!(error.kind, fault.kind, "{path}: {error}");
            assert!(error.message.contains(&fault.message), "{path}: {error}");
            let after = error.retry_after.map(|wait| wait.as_millis() as u64);
            assert_eq!(after, fault.retry_after_ms, "{path}: {error}");
        }
    }
}

async fn against(
    file: &File,
    reply: Reply,
    streamed: bool,
) -> (Vec<ChatDelta>, Option<ModelError>) {
    let server = Server::start(vec![reply]).await;
    let settings = provider(&file.kind, &server.url, &JsonMap::new());
    let asked = request(&Request::default(), &BTreeMap::new(), streamed);
    ask(settings, asked, &context()).await
}

#[tokio::test]
async fn replies_that_are_none_say_so() {
    for (path, file) in files() {
        let page = || {
            with_headers(
                200,
                "content-type: text/html\r\n",
                "<html><h1>Sign in</h1></html>",
            )
        };
        let bare = || with_headers(200, "", "<html>\n<h1>Sign in</h1></html>\n");
        for (reply, streamed, says) in [
            (page(), true, "answered with a page"),
            (page(), false, "answered with a page"),
            (bare(), true, "no stream of events; it begins: <html>"),
            (bare(), false, "answered with a page"),
            (answer(200, &json!({})), false, "can't be read"),
            (answer(200, &json!([])), false, "can't be read"),
            (with_headers(200, "", ""), false, "it is empty"),
            (stream("data: [DONE]\n\n"), true, "sent an empty reply"),
            (stream("data: {nonsense\n\n"), true, "can't be read"),
        ] {
            let (deltas, error) = against(&file, reply, streamed).await;
            let error = error.unwrap_or_else(|| panic!("{path}: {says}: {deltas:?}"));
            assert_eq!(error.kind, ErrorKind::ServerError, "{path}: {error}");
            assert!(error.message.contains(says), "{path}: {error}");
        }
    }
}

/// A stream that is cut off at any of its events before the one with its finish reason is no reply.
#[tokio::test]
async fn a_stream_that_is_cut_off_is_an_error() {
    for (path, file) in files() {
        let (deltas, error) = against(&file, stream(&told(&file.events, false)), true).await;
        assert_eq!(
            (given(deltas).text.as_str(), error.is_none()),
            ("ok", true),
            "{path}"
        );
        for events in 0..file.events.len() {
            let cut = told(&file.events[..events], false);
            let (deltas, error) = against(&file, stream(&cut), true).await;
            let ended = deltas
                .iter()
                .any(|delta| matches!(delta, ChatDelta::Finish(_)));
            assert_eq!(ended, error.is_none(), "{path}: {events}");
            if let Some(error) = error {
                assert_eq!(error.kind, ErrorKind::Network, "{path}: {error}");
            }
        }
    }
}

/// A byte-order mark, line ends of any form, comments: all are of the standard.
#[tokio::test]
async fn a_stream_may_be_of_any_form_that_the_standard_has() {
    for (path, file) in files() {
        let told = told(&file.events, false);
        let marked = format!("\u{feff}: hello\n\n{told}");
        for text in [marked, told.replace('\n', "\r\n"), told.replace('\n', "\r")] {
            let bytes = text.chars().map(String::from);
            let reply = Reply::Raw(std::iter::once(HEAD.to_owned()).chain(bytes).collect());
            let (deltas, error) = against(&file, reply, true).await;
            assert_eq!(given(deltas).text, "ok", "{path}: {error:?}");
        }
    }
}

/// The finish reason has come, and the server neither says that nothing follows nor closes.
#[tokio::test]
async fn a_reply_is_whole_without_the_end_of_its_stream() {
    for (path, file) in files() {
        let told = told(&file.events, false);
        let idle = vec![(60_000, String::new())];
        let beats = vec![(500, "data: {\"type\": \"ping\"}\n\n".to_owned()); 120];
        for behind in [idle, beats] {
            let mut pieces = vec![(0, HEAD.to_owned()), (0, told.clone())];
            pieces.extend(behind);
            let (deltas, error) = against(&file, Reply::Slow(pieces), true).await;
            assert!(error.is_none(), "{path}: {error:?}");
            assert_eq!(given(deltas).text, "ok", "{path}");
        }
    }
}

/// A key that stands where a message is cut shows nothing of itself.
#[tokio::test]
async fn a_key_is_hidden_before_a_message_is_cut() {
    for (path, file) in files() {
        for before in [290, 990] {
            let echo = format!("{}k-very-secret", "x".repeat(before));
            let spaced = format!("{}k-very-secret", " ".repeat(before));
            for (reply, streamed) in [
                (with_headers(500, "", &echo), false),
                (answer(500, &json!({ "error": { "odd": echo } })), false),
                (answer(200, &json!({ "error": { "odd": echo } })), false),
                (with_headers(200, "", &echo), false),
                (with_headers(200, "", &spaced), false),
                (stream(&format!("{echo}\n\n")), true),
            ] {
                let (deltas, error) = against(&file, reply, streamed).await;
                let error = error.unwrap_or_else(|| panic!("{path}: {deltas:?}"));
                assert!(!error.message.contains("k-"), "{path}: {error}");
            }
        }
    }
}

/// A key from a file often has the line's end.
#[tokio::test]
async fn a_key_that_can_not_be_a_header_is_an_error_of_the_call() {
    for (path, file) in files() {
        let server = Server::start(Vec::new()).await;
        let mut settings = provider(&file.kind, &server.url, &JsonMap::new());
        settings.api_key = ApiKey::Given(Secret::new("k-very-secret\n"));
        let asked = request(&Request::default(), &BTreeMap::new(), false);
        let (_, error) = ask(settings, asked, &context()).await;
        let error = error.unwrap_or_else(|| panic!("{path}"));
        assert_eq!(error.kind, ErrorKind::Auth, "{path}: {error}");
        let says = "the key of `p` can't be a header: it holds a control character";
        assert_eq!(error.message, says, "{path}");
    }
}

#[tokio::test]
async fn silence_ends_with_the_timeout_or_the_run() {
    for (path, file) in files() {
        for streamed in [true, false] {
            let server = Server::start(vec![Reply::Silence, Reply::Silence]).await;
            let settings = || provider(&file.kind, &server.url, &JsonMap::new());
            let asked = || request(&Request::default(), &BTreeMap::new(), streamed);
            let cx = CallContext {
                timeout: Some(Duration::from_millis(60)),
                ..context()
            };
            let (_, error) = ask(settings(), asked(), &cx).await;
            assert_eq!(error.unwrap().kind, ErrorKind::Timeout, "{path}");
            let cx = context();
            cx.cancel.cancel();
            let (_, error) = ask(settings(), asked(), &cx).await;
            assert_eq!(error.unwrap().kind, ErrorKind::Cancelled, "{path}");
        }
    }
}

/// So that a provider stops computing, and charging for, what nobody reads.
#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    for (path, file) in files() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let begun = told(&file.events[..file.events.len() - 1], false);
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut read = vec![0; 1 << 16];
            assert!(stream.read(&mut read).await.unwrap() > 0);
            stream.write_all(HEAD.as_bytes()).await.unwrap();
            stream.write_all(begun.as_bytes()).await.unwrap();
            // Ends when the other side closes.
            while stream.read(&mut read).await.is_ok_and(|count| count > 0) {}
        });
        let model = Provider::new(provider(&file.kind, &url, &JsonMap::new()), Wire::new());
        let asked = request(&Request::default(), &BTreeMap::new(), true);
        let mut stream = model.stream(asked, &context()).await.unwrap();
        assert!(stream.next().await.unwrap().is_ok(), "{path}");
        drop(stream);
        let closed = tokio::time::timeout(Duration::from_secs(20), served).await;
        assert!(closed.is_ok(), "{path}");
    }
}

/// What another provider needs back is none of a request, in whatever message it stands.
#[tokio::test]
async fn what_others_need_back_is_skipped() {
    let messages = json!([
        { "role": "user", "content": "Hi" },
        { "role": "assistant", "content": ["a", { "type": "opaque", "provider": "other", "data": { "secret": "of-another" } }, "b"] },
        { "role": "user", "content": "Go on" },
    ]);
    for (path, file) in files() {
        let server = Server::start(vec![answer(200, &file.whole)]).await;
        let settings = provider(&file.kind, &server.url, &JsonMap::new());
        let mut asked = request(&Request::default(), &BTreeMap::new(), false);
        asked.messages = Value::from_json(&messages).as_list().unwrap().clone();
        let (deltas, error) = ask(settings, asked, &context()).await;
        assert_eq!(given(deltas).text, "ok", "{path}: {error:?}");
        let sent = server.only().json().to_string();
        assert!(
            !sent.contains("of-another") && sent.contains("Go on"),
            "{path}: {sent}"
        );
    }
}
