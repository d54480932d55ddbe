//! Scenarios as they play.

use std::sync::Arc;

use futures_util::StreamExt;
use graphc::backend::scenario::{Script, Start};
use graphc::base::SourceMap;
use graphc::ir::ErrorKind;
use graphc::project::scenario::{Suite, load};
use graphc::run::model::{
    CallContext, ChatDelta, ChatRequest, FinishReason, ModelError, ToolChoice, ToolSpec,
};
use graphc::run::tool::ToolCall;
use graphc::value::Value;
use serde_json::{Value as Json, json};

use super::context::call;

fn suite(yaml: &str) -> Suite {
    let mut sources = SourceMap::new();
    let file = sources.add("a.test.yaml", yaml);
    load(&sources, file).unwrap()
}

fn script(yaml: &str) -> Arc<Script> {
    Script::new(&suite(yaml), 0, Start::Run).unwrap()
}

async fn ask(
    script: &Arc<Script>,
    messages: Json,
    cx: &CallContext,
) -> Result<Vec<ChatDelta>, ModelError> {
    let tool = ToolSpec {
        name: "read".into(),
        description: String::new(),
        parameters: json!({}),
    };
    let request = ChatRequest {
        model_name: "writer".into(),
        model: "m".into(),
        messages: Value::from_json(&messages).as_list().unwrap().clone(),
        tools: vec![tool],
        tool_choice: ToolChoice::Auto,
        output: None,
        temperature: None,
        top_p: None,
        max_tokens: None,
        thinking_budget: None,
        reasoning_effort: None,
        seed: None,
        stream: true,
    };
    let stream = script.model(None).stream(request, cx).await?;
    Ok(stream.map(Result::unwrap).collect().await)
}

async fn say(script: &Arc<Script>, cx: &CallContext) -> Result<String, String> {
    let messages = json!([{ "role": "user", "content": "hi" }]);
    let deltas = ask(script, messages, cx).await.map_err(|e| e.message)?;
    let texts = deltas.into_iter().filter_map(|delta| match delta {
        ChatDelta::Text(text) => Some(text),
        _ => None,
    });
    Ok(texts.collect())
}

async fn use_tool(
    script: &Arc<Script>,
    name: &str,
    args: Json,
    cx: &CallContext,
) -> Result<Json, (ErrorKind, String)> {
    let call = ToolCall {
        tool: name.into(),
        args: args.as_object().unwrap().clone(),
    };
    let tool = script.tool(name).unwrap_or_else(|| script.absent_tool());
    tool.call(call, cx).await.map_err(|e| (e.kind, e.message))
}

#[tokio::test]
async fn replies_come_in_order_of_visits() {
    let script = script(
        "scenarios: [{ name: s, models: { a: [{ text: one two }, { fail: rate_limit, retry_after: 2s }, { output: { n: 1 } }], '*': [{ text: any }, { text: left }] } }]",
    );
    let messages =
        json!([{ "role": "system", "content": "Be kind." }, { "role": "user", "content": "hi" }]);
    let first = ask(&script, messages, &call("a", 0)).await.unwrap();
    assert_eq!(first[0], ChatDelta::Text("one ".into()));
    assert_eq!(first[1], ChatDelta::Text("two".into()));
    assert_eq!(first.last(), Some(&ChatDelta::Finish(FinishReason::Stop)));
    let fault = ask(&script, json!([]), &call("a", 1)).await.unwrap_err();
    assert_eq!(fault.kind, ErrorKind::RateLimit);
    assert_eq!(fault.retry_after.unwrap().as_secs(), 2);
    assert_eq!(say(&script, &call("a", 2)).await.unwrap(), r#"{"n":1}"#);
    assert_eq!(say(&script, &call("b/c", 0)).await.unwrap(), "any");
    assert!(script.unmatched().is_empty());
    let none = say(&script, &call("a", 3)).await.unwrap_err();
    assert!(none.contains("model call 4 of `a`"), "{none}");
    assert_eq!(script.unmatched(), [none]);
    assert_eq!(script.left_over().len(), 1);
    let journal = script.journal();
    assert_eq!(journal.len(), 5);
    assert_eq!(journal[0].tools, ["read"]);
    assert_eq!(journal[0].prompt(), "Be kind.\n\nhi");
    assert_eq!(journal[4].reply, None);
}

#[tokio::test]
async fn conditions_look_at_the_request() {
    let script = script(
        "scenarios: [{ name: s, models: { a: [{ text: long, when: size(messages) > 1 }, { text: short, when: \"prompt.contains('hi') && 'read' in tools && system == ''\" }] } }]",
    );
    assert_eq!(say(&script, &call("a", 0)).await.unwrap(), "short");
    let two = json!([{ "role": "system", "content": "x" }, { "role": "user", "content": "a" }, { "role": "user", "content": "b" }]);
    ask(&script, two, &call("a", 1)).await.unwrap();
    assert!(script.left_over().is_empty());
}

#[tokio::test]
async fn tool_calls_have_ids_that_stay_the_same() {
    let yaml = "scenarios: [{ name: s, models: { a: [{ tool_calls: [{ name: read, args: { x: 1 } }, { name: read, args: '{broken', id: own }] }] } }]";
    for _ in 0..2 {
        let script = script(yaml);
        let deltas = ask(&script, json!([]), &call("a", 0)).await.unwrap();
        let ChatDelta::ToolCall(first) = &deltas[0] else {
            panic!()
        };
        let ChatDelta::ToolCall(second) = &deltas[1] else {
            panic!()
        };
        assert_eq!(
            (first.id.as_str(), first.arguments.as_str()),
            ("a#0.0", r#"{"x":1}"#)
        );
        assert_eq!(
            (second.id.as_str(), second.arguments.as_str()),
            ("own", "{broken")
        );
        assert_eq!(
            deltas.last(),
            Some(&ChatDelta::Finish(FinishReason::ToolCalls))
        );
    }
}

#[tokio::test]
async fn tools_give_what_fits() {
    let script = script(
        "scenarios: [{ name: s, tools: { find: [{ match: { q: rev }, result: [1] }, { result: null }, { fail: timeout, message: slow }] } }]",
    );
    let q = |text: &str| json!({ "q": text, "limit": 3 });
    assert_eq!(
        use_tool(&script, "find", q("x"), &call("n", 0)).await,
        Ok(Json::Null)
    );
    assert_eq!(
        use_tool(&script, "find", q("rev"), &call("n", 1)).await,
        Ok(json!([1]))
    );
    assert_eq!(
        use_tool(&script, "find", q("rev"), &call("n", 2)).await,
        Err((ErrorKind::Timeout, "slow".into()))
    );
    let (kind, message) = use_tool(&script, "find", q("x"), &call("n", 3))
        .await
        .unwrap_err();
    assert_eq!(kind, ErrorKind::ToolError);
    assert!(
        message.contains(r#"`find` in `n` with {"limit":3,"q":"x"}"#),
        "{message}"
    );
    use_tool(&script, "other", json!({}), &call("n", 0))
        .await
        .unwrap_err();
    assert_eq!(script.unmatched().len(), 2);
    assert_eq!(script.calls()["find"], 4);
    assert_eq!(script.calls()["other"], 1);
}

#[tokio::test]
async fn scenarios_may_go_on_with_a_thread() {
    let suite = suite(
        "defaults: { thread: t }\nscenarios: [{ name: one, models: { a: [{ text: '1' }] } }, { name: two, models: { a: [{ text: '2' }, { text: '3' }] } }]",
    );
    // In one process the thread has had one call when the second scenario begins.
    let script = Script::new(&suite, 1, Start::Run).unwrap();
    assert_eq!(say(&script, &call("a", 1)).await.unwrap(), "2");
    // In a later process it has had that and the first of its own.
    let script = Script::new(&suite, 1, Start::Resume).unwrap();
    assert_eq!(say(&script, &call("a", 2)).await.unwrap(), "3");
    assert!(script.left_over().is_empty());
    assert!(Script::new(&suite, 2, Start::Run).is_none());
}

#[tokio::test]
async fn a_call_that_is_made_again_gets_the_reply_that_it_got() {
    let script = script("scenarios: [{ name: s, models: { a: [{ text: '1' }, { text: '2' }] } }]");
    for _ in 0..2 {
        assert_eq!(say(&script, &call("a", 0)).await.unwrap(), "1");
        assert_eq!(script.left_over().len(), 1);
    }
    assert_eq!(say(&script, &call("a", 1)).await.unwrap(), "2");
}

#[tokio::test]
async fn a_later_process_goes_on_with_shared_replies() {
    let suite = suite(
        "scenarios: [{ name: s, models: { '*': [{ text: '1' }, { text: '2' }, { text: '3' }] } }]",
    );
    let script = Script::new(&suite, 0, Start::Resume).unwrap();
    assert_eq!(say(&script, &call("a", 1)).await.unwrap(), "2");
    assert_eq!(script.left_over().len(), 1);
    assert_eq!(say(&script, &call("a", 2)).await.unwrap(), "3");
}

const REPLIES: &str = "scenarios: [{ name: s, models: { a: [{ text: '0' }, { text: '1' }, { text: '2' }, { text: '3' }] } }]";

/// A call of the task at that index of a fan-out.
fn sent(ordinal: u64, send: u32) -> CallContext {
    CallContext {
        send: Some(send),
        ..call("a", ordinal)
    }
}

#[tokio::test]
async fn tasks_take_the_reply_at_their_index_of_each_fan_out() {
    let script = script(REPLIES);
    let calls = [(1, "1"), (0, "0"), (1, "3"), (0, "2")];
    for (ordinal, (send, reply)) in (0..).zip(calls) {
        assert_eq!(say(&script, &sent(ordinal, send)).await.unwrap(), reply);
    }
}

#[tokio::test]
async fn a_fan_out_that_was_cut_off_goes_on_at_its_indices() {
    let script = Script::new(&suite(REPLIES), 0, Start::Resume).unwrap();
    // The tasks 0, 2 and 3 were done before.
    assert_eq!(say(&script, &sent(3, 1)).await.unwrap(), "1");
    assert!(script.left_over().is_empty());
}

#[test]
fn of_what_starts_a_service_the_port_alone_is_filled_in() {
    let suite = suite(
        "services: { kb: { command: [a, 'a:${PORT}/${PORT}', '$PORT $${PORT}'], ready: 'http://h:${PORT}/' } }\nscenarios: [{ name: s }]",
    );
    let words: Vec<String> = suite.services[0].command(80).collect();
    assert_eq!(words, ["a", "a:80/80", "$PORT ${PORT}"]);
    assert_eq!(suite.services[0].ready(80), "http://h:80/");
}
