//! Texts turned into vectors by a local server.

use std::sync::Arc;
use std::time::Duration;

use graphc::backend::llm::openai::Embeddings;
use graphc::backend::llm::{ApiKey, Kind, Provider, Settings};
use graphc::backend::secret::Secret;
use graphc::backend::wire::Wire;
use graphc::ir::ErrorKind;
use graphc::run::memory::{self, Access, Embedder, Embedding, FieldPath, MemoryTool};
use graphc::run::model::CallContext;
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use graphc::store::MemoryStore;
use serde_json::{Value as Json, json};

use super::context::context;
use super::server::{Reply, Server, json as answer, with_headers};

fn provider(url: &str) -> Arc<Provider> {
    let mut settings = Settings::new("local", Kind::OpenAi, &format!("{url}/v1"));
    settings.api_key = ApiKey::Given(Secret::new("sk-very-secret"));
    Arc::new(Provider::new(settings, Wire::new()))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

async fn ask(reply: Reply, dimensions: Option<usize>) -> Result<Vec<Vec<f32>>, ToolError> {
    let server = Server::start(vec![reply]).await;
    let embeddings = Embeddings::new(provider(&server.url), "small", dimensions);
    let made = embeddings.embed(&texts(&["a", "b"]), &context()).await;
    if let Err(error) = &made {
        assert!(!error.message.contains("secret"), "{}", error.message);
    }
    made
}

fn list(vectors: Json) -> Reply {
    answer(
        200,
        &json!({ "object": "list", "data": vectors }).to_string(),
    )
}

#[tokio::test]
async fn texts_are_sent_and_vectors_put_in_order() {
    let data = json!([{ "index": 1, "embedding": [0, 2] }, { "index": 0, "embedding": [1.5, 0] }]);
    let server = Server::start(vec![list(data)]).await;
    let embeddings = Embeddings::new(provider(&server.url), "small", Some(2));
    let made = embeddings.embed(&texts(&["é", "b"]), &context()).await;
    assert_eq!(made.unwrap(), [[1.5, 0.0], [0.0, 2.0]]);
    assert_eq!(embeddings.name(), "small@2");
    let asked = server.only();
    assert_eq!(asked.line, "POST /v1/embeddings HTTP/1.1");
    assert_eq!(asked.header("authorization"), Some("Bearer sk-very-secret"));
    assert_eq!(
        asked.header("idempotency-key"),
        Some("b88139a75d83bcb0d5fa95f5dcf00196")
    );
    let body = json!({ "model": "small", "input": ["é", "b"], "encoding_format": "float", "dimensions": 2 });
    assert_eq!(asked.json(), body);
}

#[tokio::test]
async fn many_texts_go_in_several_requests() {
    let reply = |count: usize| {
        let one = |index| json!({ "index": index, "embedding": [index] });
        list((0..count).map(one).collect())
    };
    let server = Server::start(vec![reply(256), reply(44)]).await;
    let embeddings = Embeddings::new(provider(&server.url), "small", None);
    let made = embeddings
        .embed(&vec!["x".to_owned(); 300], &context())
        .await;
    let made = made.unwrap();
    assert_eq!((made.len(), made[255][0], made[299][0]), (300, 255.0, 43.0));
    let asked = server.asked();
    let key = |index: usize| asked[index].header("idempotency-key");
    assert_ne!(key(0), key(1));
}

#[tokio::test]
async fn what_fails_has_a_kind() {
    let error = |kind: &str| json!({ "error": { "message": kind, "type": kind } }).to_string();
    for (status, kind) in [
        (401, ErrorKind::Auth),
        (400, ErrorKind::InvalidRequest),
        (500, ErrorKind::ServerError),
        (503, ErrorKind::ServerError),
    ] {
        let made = ask(answer(status, &error("no sk-very-secret")), None).await;
        assert_eq!(made.unwrap_err().kind, kind);
    }
    let slow = with_headers(429, "retry-after: 7\r\n", &error("slow down"));
    let slow = ask(slow, None).await.unwrap_err();
    assert_eq!(slow.kind, ErrorKind::RateLimit);
    assert_eq!(slow.retry_after, Some(Duration::from_secs(7)));
    let cut = Reply::Raw(vec![
        "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"data\"".to_owned(),
    ]);
    assert_eq!(ask(cut, None).await.unwrap_err().kind, ErrorKind::Network);
    let reported = ask(answer(200, &error("rate_limit_error")), None).await;
    assert_eq!(reported.unwrap_err().kind, ErrorKind::RateLimit);
    let server = Server::start(vec![Reply::Silence]).await;
    let embeddings = Embeddings::new(provider(&server.url), "small", None);
    let cx = CallContext {
        timeout: Some(Duration::from_millis(50)),
        ..context()
    };
    let late = embeddings.embed(&texts(&["a"]), &cx).await.unwrap_err();
    assert_eq!(late.kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn wrong_answers_are_refused() {
    let one = json!({ "index": 0, "embedding": [1, 0] });
    for (data, dimensions, why) in [
        (json!([one]), None, "1 of them for 2 texts"),
        (json!([one, one]), None, "two for text 0"),
        (
            json!([one, { "index": 2, "embedding": [1, 0] }]),
            None,
            "one for text 2, of 2",
        ),
        (
            json!([one, { "index": 1, "embedding": [1, 0] }]),
            Some(3),
            "2 numbers in one, not 3",
        ),
        (
            json!([one, { "index": 1, "embedding": "AAAA" }]),
            None,
            "invalid type",
        ),
        (json!("none"), None, "invalid type"),
    ] {
        let error = ask(list(data), dimensions).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidOutput);
        assert!(
            error
                .message
                .starts_with("`local` answered what is no list of vectors: ")
        );
        assert!(error.message.contains(why), "{}", error.message);
    }
    let error = ask(answer(200, "<html>"), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidOutput);
    // Of one length among themselves, which the provider is not asked for.
    let data = json!([one, { "index": 1, "embedding": [1, 0, 0] }]);
    let server = Server::start(vec![list(data)]).await;
    let embedding = Embedding {
        embedder: Arc::new(Embeddings::new(provider(&server.url), "small", None)),
        fields: Vec::new(),
    };
    let error = embedding.vectors(&texts(&["a", "b"]), &context()).await;
    let error = error.unwrap_err();
    assert_eq!(error.message, "`small` gave vectors of different lengths");
}

async fn call(
    tool: &MemoryTool,
    access: &Access,
    (name, key): (&str, &str),
    args: Json,
) -> Result<Json, ToolError> {
    let cx = CallContext {
        idempotency_key: key.to_owned(),
        memory: Some(access.clone()),
        ..context()
    };
    let call = ToolCall {
        tool: name.to_owned(),
        args: args.as_object().unwrap().clone(),
    };
    tool.call(call, &cx).await
}

#[tokio::test]
async fn memory_is_searched_by_meaning() {
    let two = json!([{ "index": 0, "embedding": [3, 0] }, { "index": 1, "embedding": [0, 1] }]);
    let one = |vector: [i32; 2]| list(json!([{ "index": 0, "embedding": vector }]));
    let busy = answer(503, "{}");
    let server = Server::start(vec![list(two), one([1, 1]), busy, one([0, 5])]).await;
    let embedder = |model: &str| Embeddings::new(provider(&server.url), model, None);
    let fields = ["title", "parts[*].text"].map(|path| FieldPath::parse(path).unwrap());
    let settings = |model: &str| memory::Settings {
        embedding: Some(Embedding {
            embedder: Arc::new(embedder(model)),
            fields: fields.to_vec(),
        }),
        ttl: Some(Duration::from_secs(60)),
        refresh_on_read: false,
    };
    let tool = MemoryTool::new(Arc::new(settings("small")));
    let access = Access::new(
        Some(Arc::new(MemoryStore::new())),
        Arc::default(),
        0,
        Json::Null,
    );
    let value =
        json!({ "title": "tea", "parts": [{ "text": "green" }, { "n": 1 }], "more": "left out" });
    let put = json!({ "space": ["a"], "key": "both", "value": value });
    assert_eq!(
        call(&tool, &access, ("memory_put", "1"), put)
            .await
            .unwrap(),
        json!(true)
    );
    let put = json!({ "space": ["a"], "key": "between", "value": { "title": "cup" } });
    call(&tool, &access, ("memory_put", "2"), put.clone())
        .await
        .unwrap();
    // Nothing of it is a text that is looked at: nobody is asked.
    let bare = json!({ "space": ["a"], "key": "bare", "value": { "title": 1, "other": "x" } });
    call(&tool, &access, ("memory_put", "3"), bare)
        .await
        .unwrap();
    let inputs: Vec<Json> = server
        .asked()
        .iter()
        .map(|asked| asked.json()["input"].clone())
        .collect();
    assert_eq!(inputs, [json!(["tea", "green"]), json!(["cup"])]);
    // A put that fails has put nothing.
    let failed = json!({ "space": ["b"], "key": "k", "value": { "title": "x" } });
    let failed = call(&tool, &access, ("memory_put", "4"), failed)
        .await
        .unwrap_err();
    assert_eq!(failed.kind, ErrorKind::ServerError);
    let get = json!({ "space": ["b"], "key": "k" });
    assert_eq!(
        call(&tool, &access, ("memory_get", "5"), get)
            .await
            .unwrap(),
        Json::Null
    );
    let search = json!({ "space": [], "query": "green things" });
    let found = call(&tool, &access, ("memory_search", "6"), search)
        .await
        .unwrap();
    let found = found.as_array().unwrap().iter();
    let found: Vec<_> = found
        .map(|i| (i["key"].as_str().unwrap(), i["score"].as_f64()))
        .collect();
    assert_eq!((found[0], found[2]), (("both", Some(1.0)), ("bare", None)));
    assert!(found[1].0 == "between" && (found[1].1.unwrap() - 0.5_f64.sqrt()).abs() < 1e-6);
    // The settings' time.
    let nowhere = Access::new(None, Arc::default(), 0, Json::Null);
    let get = json!({ "space": ["a"], "key": "both" });
    let error = call(&tool, &nowhere, ("memory_get", "7"), get.clone()).await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Store);
    let mut later = access.clone();
    later.now = 60_000;
    let gone = call(&tool, &later, ("memory_get", "7"), get).await;
    assert_eq!(gone.unwrap(), Json::Null);
    // Another model's vectors are not compared with these.
    let server = Server::start(vec![one([0, 1])]).await;
    let other = Embedding {
        embedder: Arc::new(Embeddings::new(provider(&server.url), "large", None)),
        fields: Vec::new(),
    };
    let other = MemoryTool::new(Arc::new(memory::Settings {
        embedding: Some(other),
        ..memory::Settings::default()
    }));
    let search = json!({ "space": [], "query": "green things" });
    let found = call(&other, &access, ("memory_search", "8"), search.clone())
        .await
        .unwrap();
    let found = found.as_array().unwrap();
    assert!(found.len() == 3 && found.iter().all(|item| item["score"].is_null()));
    let error = call(
        &MemoryTool::default(),
        &access,
        ("memory_search", "9"),
        search,
    )
    .await;
    let error = error.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidRequest);
    assert!(
        error
            .message
            .contains("`memory: { embed: .. }` in graphc.yaml")
    );
}
