"""Draws graphs with LangGraph itself, a file each, into the folder that is named: what tests/import.rs imports."""

import sys
from pathlib import Path
from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send


class State(TypedDict):
    text: str


def work(state: State) -> State:
    return state


def graph(*names: str) -> StateGraph:
    made = StateGraph(State)
    for name in names:
        made.add_node(name, work)
    return made


def react() -> StateGraph:
    made = graph("planner", "agent node", "write-up")
    made.add_node("tools", work)
    made.add_edge(START, "planner")
    made.add_edge("planner", "agent node")
    ways = {"continue": "tools", "finish": "write-up", "stop": END}
    made.add_conditional_edges("agent node", lambda state: "stop", ways)
    made.add_edge("tools", "agent node")
    made.add_edge("write-up", END)
    return made


def child() -> StateGraph:
    made = graph("a", "b")
    made.add_edge(START, "a")
    made.add_conditional_edges("a", lambda state: "b", ["b", END])
    made.add_edge("b", END)
    return made


def nested() -> StateGraph:
    made = graph("first", "last")
    made.add_node("child", child().compile())
    made.add_edge(START, "first")
    made.add_edge("first", "child")
    made.add_edge("child", "last")
    made.add_edge("last", END)
    return made


def deep() -> StateGraph:
    middle = graph("before")
    middle.add_node("deep", child().compile())
    middle.add_edge(START, "before")
    middle.add_edge("before", "deep")
    middle.add_edge("deep", END)
    made = StateGraph(State)
    made.add_node("outer", middle.compile())
    made.add_edge(START, "outer")
    made.add_conditional_edges("outer", lambda state: "ok", {"again": "outer", "ok": END})
    return made


def commands() -> StateGraph:
    def route(state: State) -> Command[Literal["x", "y"]]:
        return Command(goto="x")

    made = graph("x", "z")
    made.add_node("route", route)
    made.add_node("y", work, defer=True)
    made.add_edge(START, "route")
    made.add_conditional_edges("x", lambda state: [Send("y", state)], ["y"])
    made.add_edge(["x", "y"], "z")
    made.add_edge("z", END)
    return made


def begins() -> StateGraph:
    made = graph("left", "right", "both", "start")
    made.add_conditional_edges(START, lambda state: "left", ["left", "right"])
    made.add_edge("left", "both")
    made.add_edge("right", "both")
    made.add_edge("both", "start")
    return made


drawings = {
    "react": react().compile(interrupt_before=["tools"]),
    "nested": nested().compile(),
    "deep": deep().compile(),
    "commands": commands().compile(),
    "begins": begins().compile(interrupt_after=["both"]),
}
for name, drawn in drawings.items():
    text = drawn.get_graph(xray=True).draw_mermaid()
    Path(sys.argv[1], f"{name}.mmd").write_text(text)
