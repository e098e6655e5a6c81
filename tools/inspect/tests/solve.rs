//! `layout-inspect solve`, through the program itself.

use crate::program::{file, outcome};
use std::fs;

fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    outcome(&[&["solve"], arguments].concat())
}

fn problem(costs: &str, edge: &str, limit: &str) -> String {
    format!(
        r#"{{"problem": {{"name": "two arrays",
  "nodes": {{"intervals": [[0, 2], [1, 3]], "costs": {costs}, "usages": [[6, 4], [7, 6]]}},
  "edges": {{"nodes": [[0, 1]], "costs": [{edge}]}},
  "usage_limit": {limit}}}}}
"#
    )
}

const COSTS: &str = "[[3, 0], [0, 4]]";
const EDGE: &str = "[0, 1000000000000000000, 5, 0]";

#[test]
fn an_optimum_is_proved_and_the_proof_replayed() {
    let path = file("solve.json", &problem(COSTS, EDGE, "10"));
    let (path, proof) = (&*path, &*file("solve.proof", ""));
    let json = "{\"bound\":4,\"choices\":[1,1],\"cost\":4,\"optimal\":true}\n";
    assert_eq!(run(&[path, "--json", "--certificate", proof]), (json.to_string(), String::new(), Some(0)));
    let lines = "cost    4\nbound   4\noptimal yes\nchoices 1 1\n";
    assert_eq!(run(&[path]), (lines.to_string(), String::new(), Some(0)));
    let holds = "cost    4\nbound   4\nboth hold\n";
    assert_eq!(run(&[path, "--check", proof]), (holds.to_string(), String::new(), Some(0)));
    let forged = fs::read_to_string(proof).unwrap().replace("bound 4", "bound 5");
    let forged = file("solve.forged", &forged);
    let (out, error, status) = run(&[path, "--check", &forged]);
    assert_eq!((out.as_str(), status), ("", Some(1)));
    assert!(error.contains("the proof shows the bound 4, not the bound 5"), "{error}");
}

#[test]
fn errors_say_where() {
    let wrong = |text: &str, place: &str, message: &str| {
        let path = file("wrong.json", text);
        let (out, error, status) = run(&[&path]);
        assert_eq!((out.as_str(), status), ("", Some(1)), "{error}");
        assert!(error.contains(&format!("wrong.json:{place}")) && error.contains(message), "{error}");
    };
    wrong(&problem(COSTS, "[0, 1, 2]", "10"), "3:42: ", "edge 0 has 3 costs, not 2 x 2");
    wrong(&problem(COSTS, "[0, 1, 2, 0.5]", "10"), "3:42: ", "expected a list of integers, found `[0, 1, 2, 0.5]`");
    wrong(&problem("[[3, 0], []]", EDGE, "10"), "2:62: ", "variable 1 has 0 choices");
    wrong(&problem("[[3, 0]]", EDGE, "10"), "", "expected as many `intervals` as `costs` of nodes, 1, found 2");
    wrong(&problem(COSTS, EDGE, "-1"), "4:18: ", "the capacity -1 of resource 0 is not in 0 to 2^58");
    wrong(&problem(COSTS, EDGE, "9"), "", "at moment 1 resource 0 holds at least 10, 1 more than its capacity 9");
    wrong(&problem("[[3, 900000000000000000], [0, 4]]", EDGE, "10"), "2:54: ", "costs of variable 0");
    wrong("{\"problem\": 1}", "1:13: ", "expected struct Problem");
    wrong("{\"problem\": ", "1:12: ", "EOF");
}
