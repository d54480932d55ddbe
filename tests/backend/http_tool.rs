//! Requests as tools.

use std::sync::Arc;

use graphc::backend::mask;
use graphc::backend::tool::http::HttpTool;
use graphc::backend::wire::Wire;
use graphc::base::SourceMap;
use graphc::ir::ErrorKind;
use graphc::project::config::{self, ToolSpec};
use graphc::run::model::CallContext;
use graphc::run::report::{Report, Reports};
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use serde_json::{Value as Json, json};

use super::context::context;
use super::server::{Asked, Reply, Server, json as answer, with_headers};

async fn run(http: &str, args: Json, reply: Reply) -> (Asked, Result<Json, ToolError>) {
    run_in(http, args, reply, &context()).await
}

async fn run_in(
    http: &str,
    args: Json,
    reply: Reply,
    cx: &CallContext,
) -> (Asked, Result<Json, ToolError>) {
    let server = Server::start(vec![reply]).await;
    let mut sources = SourceMap::new();
    let file = sources.add("graphc.yaml", &format!("tools:\n  kb:\n    http: {http}\n"));
    let url = server.url.clone();
    let env = move |name: &str| match name {
        "URL" => Some(url.clone()),
        "TOKEN" => Some("hunter22".to_owned()),
        _ => None,
    };
    let config = config::load(&sources, file, None, &env).unwrap();
    let ToolSpec::Http(spec) = config.tools["kb"].value.clone() else {
        panic!("an http tool")
    };
    let call = ToolCall {
        tool: "kb".into(),
        args: args.as_object().unwrap().clone(),
    };
    let secrets = Arc::new(spec.secrets.clone());
    let tool = mask::tool(Arc::new(HttpTool::new(*spec, Wire::new())), &secrets);
    let result = tool.call(call, cx).await;
    (server.only(), result)
}

#[tokio::test]
async fn a_request_is_made_of_templates() {
    let http = r#"{ url: "${URL}/search/{{ args.area }}?v=1", query: { tag: "{{ args.tags }}", none: "{{ args.none }}", n: 3 }, headers: { X-Token: "Key ${TOKEN}" }, body: { query: "{{ args.query }}", text: "find {{ args.query }}!", limit: "{{ args.limit }}", all: "{{ args.tags }}" }, result: "$.hits[0]" }"#;
    let args = json!({ "area": "a/x/b c", "query": "{{ x }}", "limit": 2, "tags": ["x", "y z"], "none": null });
    let (asked, result) = run(http, args, answer(200, r#"{"hits":[{"id":1}]}"#)).await;
    assert_eq!(result.unwrap(), json!({ "id": 1 }));
    assert_eq!(
        asked.line,
        "POST /search/a%2Fx%2Fb%20c?v=1&n=3&tag=x&tag=y+z HTTP/1.1"
    );
    assert_eq!(asked.header("x-token"), Some("Key hunter22"));
    assert_eq!(
        asked.header("idempotency-key"),
        Some("be2974546978e3739e6d6da85c4be9f3")
    );
    assert_eq!(
        asked.json(),
        json!({ "query": "{{ x }}", "text": "find {{ x }}!", "limit": 2, "all": ["x", "y z"] })
    );
}

/// Arguments that would lead to another endpoint are refused, and nothing is sent.
#[tokio::test]
async fn an_argument_leads_to_no_other_path() {
    for (id, says) in [
        ("..", "which leads elsewhere"),
        (".", "which leads elsewhere"),
        ("", "is empty"),
        ("../x", "which leads elsewhere"),
        ("a/../../x", "which leads elsewhere"),
        ("..\\x", "which leads elsewhere"),
    ] {
        let http =
            r#"{ method: DELETE, url: "${URL}/users/{{ args.id }}/notes?x={{ args.none }}" }"#;
        let error = refused(http, json!({ "id": id, "none": "" }), "").await;
        assert_eq!(error.kind, ErrorKind::ToolError, "{id}");
        assert!(error.message.contains(says), "{error}");
    }
}

/// A host that arguments make up has to be listed.
#[tokio::test]
async fn a_filled_in_host_has_to_be_listed() {
    let http = r#"{ url: "http://{{ args.host }}:{{ args.port }}/x" }"#;
    let to = |host: &str| json!({ "host": host, "port": 1 });
    for (host, hosts, says) in [
        ("127.0.0.1", "[]", "does not list the host `127.0.0.1`"),
        ("127.0.0.1", r#"["*"]"#, "a `*` is for public hosts"),
        ("2130706433", r#"["*"]"#, "a `*` is for public hosts"),
        (
            "0x7f.1",
            r#"["*", "127.0.0.1:2"]"#,
            "a `*` is for public hosts",
        ),
        (
            "api.example.com",
            r#"["*.example.org"]"#,
            "does not list the host",
        ),
        (
            "localhost:9400",
            r#"["localhost"]"#,
            "the port has an argument of its own",
        ),
    ] {
        let error = refused(http, to(host), hosts).await;
        assert!(error.message.contains(says), "{error}");
    }
    // A name that a star allows leads to no private address.
    let error = refused(http, to("localhost"), r#"["*"]"#).await;
    assert_eq!(error.kind, ErrorKind::Network);
    assert!(error.message.contains("has no public address"), "{error}");
    // Here it is named, and nobody listens at that port.
    let error = refused(http, to("127.0.0.1"), r#"["127.0.0.1"]"#).await;
    assert_eq!(error.kind, ErrorKind::Network);
    assert!(error.message.contains("refused"), "{error}");
}

/// The error of a call that reaches no server.
async fn refused(http: &str, args: Json, hosts: &str) -> ToolError {
    let allow = match hosts {
        "" => String::new(),
        hosts => format!("allow_hosts: {hosts}\n"),
    };
    let text = format!("{allow}tools:\n  kb:\n    http: {http}\n");
    let mut sources = SourceMap::new();
    let file = sources.add("graphc.yaml", &text);
    let env = |name: &str| (name == "URL").then(|| "http://127.0.0.1:1".to_owned());
    let config = config::load(&sources, file, None, &env).unwrap();
    let ToolSpec::Http(mut spec) = config.tools["kb"].value.clone() else {
        panic!("an http tool")
    };
    spec.hosts = config.allow_hosts.unwrap_or_default();
    let call = ToolCall {
        tool: "kb".into(),
        args: args.as_object().unwrap().clone(),
    };
    let tool = HttpTool::new(*spec, Wire::new());
    tool.call(call, &context()).await.unwrap_err()
}

/// A thread's id may be somebody's mail, and hold what a header can't.
#[tokio::test]
async fn a_key_is_sent_as_a_hash() {
    let sent = async |key: &str| {
        let mut cx = context();
        cx.idempotency_key = key.to_owned();
        let get = r#"{ url: "${URL}/x" }"#;
        let (asked, result) = run_in(get, json!({}), answer(204, ""), &cx).await;
        result.unwrap();
        asked.header("idempotency-key").unwrap().to_owned()
    };
    let (one, other) = (sent("ann@a.b\n1/0:n").await, sent("ann@a.b\n2/0:n").await);
    assert_ne!(one, other);
    assert_eq!(one, sent("ann@a.b\n1/0:n").await);
    assert!(
        one.len() == 32 && one.chars().all(|c| c.is_ascii_hexdigit()),
        "{one}"
    );
}

#[tokio::test]
async fn replies_are_json_or_text() {
    let get = r#"{ url: "${URL}/x" }"#;
    let text = with_headers(200, "content-type: text/plain\r\n", "all fine");
    let (asked, result) = run(get, json!({}), text).await;
    assert_eq!(asked.line, "GET /x HTTP/1.1");
    assert_eq!(result.unwrap(), json!("all fine"));
    let (_, result) = run(get, json!({}), answer(204, "")).await;
    assert_eq!(result.unwrap(), Json::Null);
    let (_, result) = run(get, json!({}), answer(200, "<html>")).await;
    assert_eq!(result.unwrap_err().kind, ErrorKind::InvalidOutput);
    let part = r#"{ url: "${URL}/x", result: $.hits }"#;
    let (_, result) = run(part, json!({}), answer(200, r#"{"hit":1}"#)).await;
    let error = result.unwrap_err();
    assert_eq!(error.message, "the reply of `kb` has no `$.hits`");
}

/// What a reply of that type reports, and what it comes to.
async fn reported(kind: &str, body: &str) -> (Vec<Report>, Result<Json, ToolError>) {
    let (reports, mut heard) = Reports::channel();
    let mut cx = context();
    cx.reports = Some(reports);
    let reply = with_headers(200, &format!("content-type: {kind}\r\n"), body);
    let get = r#"{ url: "${URL}/x", headers: { T: "${TOKEN}" }, result: $.n }"#;
    let (_, result) = run_in(get, json!({}), reply, &cx).await;
    drop(cx);
    let mut all = Vec::new();
    while let Some(report) = heard.recv().await {
        all.push(report);
    }
    (all, result)
}

#[tokio::test]
async fn a_reply_reports_before_its_result() {
    let events = "event: progress\ndata: {\"done\": 1}\n\nevent: other\ndata: x\n\n: still there\n\nevent: progress\ndata: hunter22\n\ndata: {\"progress\": {\"done\": 2}}\n\nevent: result\ndata: {\"n\": 3}\n\nevent: progress\ndata: {}\n\n";
    let (reports, result) = reported("text/event-stream; charset=utf-8", events).await;
    assert_eq!(result.unwrap(), json!(3));
    let broken = "`kb` sent a part that is no JSON; it begins: ***".to_owned();
    assert_eq!(
        reports,
        [
            Ok(json!({ "done": 1 })),
            Err(broken),
            Ok(json!({ "done": 2 }))
        ]
    );
    let lines = "{\"progress\": {\"done\": 1}}\n\n{\"progress\": {\"key\": \"hunter22\"}}\n{\"result\": {\"n\": 4}}";
    let (reports, result) = reported("application/x-ndjson", lines).await;
    assert_eq!(result.unwrap(), json!(4));
    assert_eq!(
        reports,
        [Ok(json!({ "done": 1 })), Ok(json!({ "key": "***" }))]
    );
    let (_, result) = reported("application/x-ndjson", "{\"error\": \"no hunter22\"}\n").await;
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind, &*error.message),
        (ErrorKind::ToolError, "no ***")
    );
    let (_, result) = reported("application/x-ndjson", "{\"progress\": {}}\n").await;
    assert_eq!(result.unwrap_err().kind, ErrorKind::Network);
    // Any other reply is the result.
    let (reports, result) = reported("application/json", "{\"n\": 5}").await;
    assert_eq!((reports.len(), result.unwrap()), (0, json!(5)));
}

#[tokio::test]
async fn statuses_are_errors_by_kind() {
    let get = r#"{ url: "${URL}/x", headers: { T: "${TOKEN}" } }"#;
    for (status, kind) in [
        (400, ErrorKind::ToolError),
        (404, ErrorKind::ToolError),
        (401, ErrorKind::Auth),
        (429, ErrorKind::RateLimit),
        (500, ErrorKind::ServerError),
    ] {
        let body = r#"{"message":"no hunter22 here"}"#;
        let (_, result) = run(get, json!({}), answer(status, body)).await;
        let error = result.unwrap_err();
        assert_eq!(error.kind, kind);
        assert!(error.message.ends_with("no *** here"), "{}", error.message);
    }
}

/// A request holds keys, and only graphc.yaml says who may see them.
#[tokio::test]
async fn a_failure_leaves_doubt_where_the_server_may_have_done_it() {
    let get = r#"{ url: "${URL}/x" }"#;
    for (status, doubt) in [
        (401, false),
        (404, false),
        (429, false),
        (500, true),
        (504, true),
    ] {
        let (_, result) = run(get, json!({}), answer(status, "{}")).await;
        assert_eq!(result.unwrap_err().in_doubt, doubt, "{status}");
    }
    let (_, result) = run(get, json!({}), answer(200, "{")).await;
    assert!(result.unwrap_err().in_doubt);
}

#[tokio::test]
async fn a_redirect_to_another_server_is_not_followed() {
    let other = Server::start(vec![answer(200, "1")]).await;
    let location = format!("location: {}/x?k=hunter22\r\n", other.url);
    let elsewhere = with_headers(307, &location, "");
    let http = r#"{ method: POST, url: "${URL}/x", headers: { X-Key: "${TOKEN}" } }"#;
    let (_, result) = run(http, json!({}), elsewhere).await;
    let error = result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ToolError);
    let expected = format!(
        "`kb` redirects to `{}`, which graphc.yaml does not name: nothing was sent there",
        other.url
    );
    assert_eq!(error.message, expected);
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn what_comes_back_holds_no_secret() {
    let http = r#"{ url: "${URL}/x?key=${TOKEN}" }"#;
    let reply = r#"{"link":"http://h/x?key=hunter22","hunter22":["hunter22",1]}"#;
    let (asked, result) = run(http, json!({}), answer(200, reply)).await;
    assert_eq!(asked.line, "GET /x?key=hunter22 HTTP/1.1");
    assert_eq!(
        result.unwrap(),
        json!({ "link": "http://h/x?key=***", "***": ["***", 1] })
    );
}
