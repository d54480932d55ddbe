// LangGraph (JavaScript) under the workloads of benches/compare: a workload's name on stdin, its seconds on stdout.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import {
  Annotation, Command, END, MemorySaver, Send, START, StateGraph, interrupt, messagesStateReducer,
} from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";

const recursionLimit = 1_000_000;
const config = (thread) => ({ configurable: { thread_id: String(thread) }, recursionLimit });
const gathered = () => Annotation({ reducer: (a, b) => a.concat(b), default: () => [] });

function must(holds) {
  if (!holds) throw new Error("a wrong result");
}

async function timed(run) {
  const begin = performance.now();
  await run();
  return (performance.now() - begin) / 1000;
}

/** With a SQLite store in a file of its own. */
async function onFile(measure) {
  const folder = mkdtempSync(join(tmpdir(), "compare-"));
  const saver = SqliteSaver.fromConnString(join(folder, "t.db"));
  try {
    return await measure(saver);
  } finally {
    saver.db.close();
    rmSync(folder, { recursive: true });
  }
}

const Count = Annotation.Root({ n: Annotation });
const step = async (state) => ({ n: state.n + 1 });

function countGraph(checkpointer) {
  return new StateGraph(Count)
    .addNode("again", step)
    .addEdge(START, "again")
    .addConditionalEdges("again", (s) => (s.n < 10 ? "again" : END), ["again", END])
    .compile({ checkpointer });
}

async function chain() {
  const graph = new StateGraph(Count);
  for (let i = 0; i < 100; i++) {
    graph.addNode(`n${i}`, step).addEdge(i === 0 ? START : `n${i - 1}`, `n${i}`);
  }
  const app = graph.addEdge("n99", END).compile();
  return timed(async () => {
    for (let i = 0; i < 10; i++) must((await app.invoke({ n: 0 }, { recursionLimit })).n === 100);
  });
}

async function messages() {
  const text = "x".repeat(1024);
  const Talk = Annotation.Root({
    messages: Annotation({ reducer: messagesStateReducer, default: () => [] }),
    n: Annotation,
  });
  return onFile((checkpointer) => {
    const app = new StateGraph(Talk)
      .addNode("turn", async (s) => ({ n: s.n + 1, messages: [new HumanMessage(text)] }))
      .addEdge(START, "turn")
      .addConditionalEdges("turn", (s) => (s.n < 200 ? "turn" : END), ["turn", END])
      .compile({ checkpointer });
    return timed(async () => {
      must((await app.invoke({ n: 0, messages: [] }, config(1))).messages.length === 200);
    });
  });
}

async function fan_out() {
  const State = Annotation.Root({ items: Annotation, doubled: gathered() });
  const app = new StateGraph(State)
    .addNode("split", async () => ({}))
    .addNode("worker", async (task) => ({ doubled: [task.x * 2] }))
    .addEdge(START, "split")
    .addConditionalEdges("split", (s) => s.items.map((x) => new Send("worker", { x })), ["worker"])
    .addEdge("worker", END)
    .compile();
  const items = Array.from({ length: 1000 }, (_, i) => i);
  return timed(async () => {
    must((await app.invoke({ items }, { recursionLimit })).doubled[999] === 1998);
  });
}

async function subgraphs() {
  const called = new StateGraph(Count)
    .addNode("a", step).addNode("b", step).addNode("c", step)
    .addEdge(START, "a").addEdge("a", "b").addEdge("b", "c").addEdge("c", END)
    .compile();
  const State = Annotation.Root({ items: Annotation, sums: gathered() });
  const app = new StateGraph(State)
    .addNode("split", async () => ({}))
    .addNode("worker", async (task) => ({ sums: [(await called.invoke({ n: task.x })).n] }))
    .addEdge(START, "split")
    .addConditionalEdges("split", (s) => s.items.map((x) => new Send("worker", { x })), ["worker"])
    .addEdge("worker", END)
    .compile();
  const items = Array.from({ length: 200 }, (_, i) => i);
  return timed(async () => {
    must((await app.invoke({ items }, { recursionLimit })).sums[199] === 202);
  });
}

async function wide() {
  const names = Array.from({ length: 200 }, (_, i) => `f${i}`);
  const Wide = Annotation.Root({
    n: Annotation, ...Object.fromEntries(names.map((name) => [name, Annotation])),
  });
  const app = new StateGraph(Wide)
    .addNode("step", async (s) => ({
      n: s.n + 1, ...Object.fromEntries(names.slice(0, 20).map((name) => [name, s.n])),
    }))
    .addEdge(START, "step")
    .addConditionalEdges("step", (s) => (s.n < 100 ? "step" : END), ["step", END])
    .compile({ checkpointer: new MemorySaver() });
  const input = { n: 0, ...Object.fromEntries(names.map((name) => [name, 0])) };
  return timed(async () => {
    const found = await app.invoke(input, config(1));
    must(found.f19 === 99 && found.f20 === 0);
  });
}

async function threads() {
  return onFile((checkpointer) => {
    const app = countGraph(checkpointer);
    return timed(async () => {
      const all = Array.from({ length: 1000 }, (_, i) => app.invoke({ n: 0 }, config(i)));
      must((await Promise.all(all)).every((one) => one.n === 10));
    });
  });
}

async function interrupts() {
  const State = Annotation.Root({ ok: Annotation, said: Annotation });
  return onFile((checkpointer) => {
    const app = new StateGraph(State)
      .addNode("before", async () => ({ said: "asked" }))
      .addNode("ask", async () => ({ ok: interrupt("Is that right?") }))
      .addNode("behind", async (s) => ({ said: s.ok ? "yes" : "no" }))
      .addEdge(START, "before").addEdge("before", "ask").addEdge("ask", "behind").addEdge("behind", END)
      .compile({ checkpointer });
    return timed(async () => {
      for (let i = 0; i < 100; i++) {
        must("__interrupt__" in (await app.invoke({ ok: false, said: "" }, config(i))));
        must((await app.invoke(new Command({ resume: true }), config(i))).said === "yes");
      }
    });
  });
}

/** A model that says 10,000 tokens. */
class Fake extends BaseChatModel {
  _llmType() {
    return "fake";
  }

  async _generate() {
    return { generations: [{ text: "", message: new AIMessage("a ".repeat(10_000)) }] };
  }

  async *_streamResponseChunks(_messages, _options, runManager) {
    for (let i = 0; i < 10_000; i++) {
      const chunk = new ChatGenerationChunk({ text: "a ", message: new AIMessageChunk("a ") });
      yield chunk;
      await runManager?.handleLLMNewToken("a ", undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

async function tokens() {
  const model = new Fake({});
  const app = new StateGraph(Annotation.Root({ text: Annotation }))
    .addNode("talk", async () => ({ text: (await model.invoke([new HumanMessage("Talk.")])).content }))
    .addEdge(START, "talk").addEdge("talk", END)
    .compile();
  return timed(async () => {
    let length = 0;
    for await (const [message] of await app.stream({ text: "" }, { streamMode: "messages" })) {
      length += message.content.length;
    }
    must(length === 20_000);
  });
}

const workloads = { chain, messages, fan_out, subgraphs, wide, threads, interrupts, tokens };
for await (const line of createInterface({ input: process.stdin })) {
  console.log(await workloads[line.trim()]());
}
