"""LangGraph (Python) under the workloads of benches/compare: a workload's name on stdin, its seconds on stdout."""

import asyncio
import operator
import os
import sys
import tempfile
import time
from typing import Annotated, TypedDict

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt

LIMIT = {"recursion_limit": 1_000_000}


def config(thread):
    return {"configurable": {"thread_id": str(thread)}, **LIMIT}


class File:
    """A SQLite store in a file of its own, as a saver."""

    async def __aenter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.saver = AsyncSqliteSaver.from_conn_string(os.path.join(self.folder.name, "t.db"))
        return await self.saver.__aenter__()

    async def __aexit__(self, *error):
        await self.saver.__aexit__(*error)
        self.folder.cleanup()


async def timed(run):
    begin = time.perf_counter()
    await run
    return time.perf_counter() - begin


class Count(TypedDict):
    n: int


def count_graph(checkpointer):
    async def again(state: Count):
        return {"n": state["n"] + 1}

    graph = StateGraph(Count)
    graph.add_node("again", again)
    graph.add_edge(START, "again")
    graph.add_conditional_edges("again", lambda s: "again" if s["n"] < 10 else END, ["again", END])
    return graph.compile(checkpointer=checkpointer)


async def chain():
    graph = StateGraph(Count)

    async def step(state: Count):
        return {"n": state["n"] + 1}

    for i in range(100):
        graph.add_node(f"n{i}", step)
        graph.add_edge(START if i == 0 else f"n{i - 1}", f"n{i}")
    graph.add_edge("n99", END)
    app = graph.compile()

    async def run():
        for _ in range(10):
            assert (await app.ainvoke({"n": 0}, LIMIT))["n"] == 100

    return await timed(run())


class Talk(TypedDict):
    messages: Annotated[list, add_messages]
    n: int


async def messages():
    text = "x" * 1024

    async def turn(state: Talk):
        return {"n": state["n"] + 1, "messages": [HumanMessage(text)]}

    graph = StateGraph(Talk)
    graph.add_node("turn", turn)
    graph.add_edge(START, "turn")
    graph.add_conditional_edges("turn", lambda s: "turn" if s["n"] < 200 else END, ["turn", END])
    async with File() as saver:
        app = graph.compile(checkpointer=saver)

        async def run():
            assert len((await app.ainvoke({"n": 0, "messages": []}, config(1)))["messages"]) == 200

        return await timed(run())


class Doubled(TypedDict):
    items: list
    doubled: Annotated[list, operator.add]


async def fan_out():
    async def worker(task):
        return {"doubled": [task["x"] * 2]}

    graph = StateGraph(Doubled)
    graph.add_node("split", lambda state: {})
    graph.add_node("worker", worker)
    graph.add_edge(START, "split")
    sends = lambda state: [Send("worker", {"x": x}) for x in state["items"]]
    graph.add_conditional_edges("split", sends, ["worker"])
    graph.add_edge("worker", END)
    app = graph.compile()

    async def run():
        found = await app.ainvoke({"items": list(range(1000)), "doubled": []}, LIMIT)
        assert found["doubled"][999] == 1998

    return await timed(run())


class Sums(TypedDict):
    items: list
    sums: Annotated[list, operator.add]


async def subgraphs():
    async def step(state: Count):
        return {"n": state["n"] + 1}

    inner = StateGraph(Count)
    for before, name in zip([START, "a", "b"], ["a", "b", "c"]):
        inner.add_node(name, step)
        inner.add_edge(before, name)
    inner.add_edge("c", END)
    called = inner.compile()

    async def worker(task):
        return {"sums": [(await called.ainvoke({"n": task["x"]}))["n"]]}

    graph = StateGraph(Sums)
    graph.add_node("split", lambda state: {})
    graph.add_node("worker", worker)
    graph.add_edge(START, "split")
    sends = lambda state: [Send("worker", {"x": x}) for x in state["items"]]
    graph.add_conditional_edges("split", sends, ["worker"])
    graph.add_edge("worker", END)
    app = graph.compile()

    async def run():
        found = await app.ainvoke({"items": list(range(200)), "sums": []}, LIMIT)
        assert found["sums"][199] == 202

    return await timed(run())


async def wide():
    fields = {f"f{i}": int for i in range(200)}
    Wide = TypedDict("Wide", {**fields, "n": int})

    async def step(state):
        n = state["n"]
        return {"n": n + 1, **{f"f{i}": n for i in range(20)}}

    graph = StateGraph(Wide)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda s: "step" if s["n"] < 100 else END, ["step", END])
    app = graph.compile(checkpointer=InMemorySaver())

    async def run():
        found = await app.ainvoke({"n": 0, **{name: 0 for name in fields}}, config(1))
        assert found["f19"] == 99 and found["f20"] == 0

    return await timed(run())


async def threads():
    async with File() as saver:
        app = count_graph(saver)

        async def run():
            found = await asyncio.gather(*(app.ainvoke({"n": 0}, config(i)) for i in range(1000)))
            assert all(one["n"] == 10 for one in found)

        return await timed(run())


class Said(TypedDict):
    ok: bool
    said: str


async def interrupts():
    async def before(state: Said):
        return {"said": "asked"}

    async def ask(state: Said):
        return {"ok": interrupt("Is that right?")}

    async def behind(state: Said):
        return {"said": "yes" if state["ok"] else "no"}

    graph = StateGraph(Said)
    for before_it, name, node in [(START, "before", before), ("before", "ask", ask), ("ask", "behind", behind)]:
        graph.add_node(name, node)
        graph.add_edge(before_it, name)
    graph.add_edge("behind", END)
    async with File() as saver:
        app = graph.compile(checkpointer=saver)

        async def run():
            for i in range(100):
                assert "__interrupt__" in await app.ainvoke({"ok": False, "said": ""}, config(i))
                assert (await app.ainvoke(Command(resume=True), config(i)))["said"] == "yes"

        return await timed(run())


class Fake(BaseChatModel):
    """A model that says 10,000 tokens."""

    @property
    def _llm_type(self):
        return "fake"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=AIMessage("a " * 10_000))])

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        for _ in range(10_000):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content="a "))
            if run_manager:
                await run_manager.on_llm_new_token("a ", chunk=chunk)
            yield chunk


class Text(TypedDict):
    text: str


async def tokens():
    model = Fake()

    async def talk(state: Text):
        return {"text": (await model.ainvoke([HumanMessage("Talk.")])).content}

    graph = StateGraph(Text)
    graph.add_node("talk", talk)
    graph.add_edge(START, "talk")
    graph.add_edge("talk", END)
    app = graph.compile()

    async def run():
        length = 0
        async for message, _ in app.astream({"text": ""}, stream_mode="messages"):
            length += len(message.content)
        assert length == 20_000

    return await timed(run())


WORKLOADS = {
    "chain": chain,
    "messages": messages,
    "fan_out": fan_out,
    "subgraphs": subgraphs,
    "wide": wide,
    "threads": threads,
    "interrupts": interrupts,
    "tokens": tokens,
}

if __name__ == "__main__":
    for line in sys.stdin:
        print(asyncio.run(WORKLOADS[line.strip()]()), flush=True)
