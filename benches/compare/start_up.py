"""Ten steps of one node, from the start of the process."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class Count(TypedDict):
    n: int


graph = StateGraph(Count)
graph.add_node("again", lambda state: {"n": state["n"] + 1})
graph.add_edge(START, "again")
graph.add_conditional_edges("again", lambda s: "again" if s["n"] < 10 else END, ["again", END])
assert graph.compile().invoke({"n": 0})["n"] == 10
