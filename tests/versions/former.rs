//! The names that nodes had.

use graphc::run::former::FormerNames;
use serde_json::json;

use super::compiled;

#[test]
fn no_two_nodes_had_one_name() {
    let text = "graph Main {
  state { out n: int = 0 }
  start -> charge -> pay -> a -> b
  node charge: update { set { n: 1 } }
  node pay: update { set { n: 2 } }
  node a: update { set { n: 3 } }
  node b: update -> end { set { n: 4 } }
}
";
    let flow = compiled(text).unwrap();
    let graph = flow.graph("Main").unwrap();
    let kept = json!({ "former": { "Main": { "charge": "a", "pay": "a=" } } });
    let names = FormerNames::of_checkpoint(&kept);
    let all = ["0:charge", "1:pay", "2:a", "b"].map(|key| names.name(&flow, graph, key));
    assert_eq!(all, ["0:a", "1:a=", "2:a==", "b"]);
}
