// Ten steps of one node, from the start of the process.

import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const app = new StateGraph(Annotation.Root({ n: Annotation }))
  .addNode("again", (state) => ({ n: state.n + 1 }))
  .addEdge(START, "again")
  .addConditionalEdges("again", (s) => (s.n < 10 ? "again" : END), ["again", END])
  .compile();
if ((await app.invoke({ n: 0 })).n !== 10) throw new Error("a wrong result");
