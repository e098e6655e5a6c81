//! Limits of `tensor_layout::limits`, each tried at the limit and beyond; `docs/limits.md` has the errors.
//!
//! `BLESS=1 cargo test -p layout-test --test structure limits` writes the page.

use layout_test::Checkout;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use std::{env, fmt::Write as _, fs};
use tensor_layout::limits::ALL;

/// The input of a tool.
struct Given {
    tool: &'static str,
    arguments: Vec<String>,
    text: String,
}

/// A limit and a tool's input for it.
struct Case {
    name: &'static str,
    /// The argument of `given` at the limit, and beyond; in units of the text, which may differ from the limit's.
    at: u64,
    beyond: u64,
    /// Whether the input at the limit succeeds; else it has another error.
    is_answered: bool,
    given: fn(usize) -> Given,
}

const fn case(name: &'static str, at: u64, given: fn(usize) -> Given) -> Case {
    Case { name, at, beyond: at + 1, is_answered: true, given }
}

const CASES: &[Case] = &[
    case("RANK", 256, |n| layout(&format!("f32[{}]", list(n, |_| "1".into())))),
    case("TILE_ENTRIES", 512, |n| layout(&format!("f32[8]{{0:T{}}}", "(1)".repeat(n)))),
    // Each tile merges the parts that the previous one has split. Nodes double in about every second tile.
    Case {
        beyond: 18,
        ..case("EXPRESSIONS", 12, |n| layout(&format!("f32[8,8]{{1,0:T(2,2){}}}", "(*,*,*,3)".repeat(n))))
    },
    case("MEMORY_SPACE", 127, |n| layout(&format!("f32[8]{{0:S({n})}}"))),
    case("TUPLES", 256, |n| layout(&nested(n, "(", "f32[]", ")"))),
    case("LAYOUT_PARTS", 512, |n| layout(&format!("(({}))", list(n, |_| "1".into())))),
    case("MACHINE_ENTRIES", 64, |n| {
        inspect(&["machine", &format!("axes: ({}), memories: (), word: 32", list(n, |k| format!("1_A{k}")))], "")
    }),
    // Two orders of digits without a common divisor, so with a block for each element.
    Case {
        beyond: 128,
        ..case("RELAYOUT_BLOCKS", 32, |n| {
            let m = n + 1;
            request(
                json!({"op": "convert", "from": format!("(({n}:1, {m}:{n}))"), "to": format!("(({m}:1, {n}:{m}))")}),
            )
        })
    },
    case("LISTED_COPIES", 1 << 16, |n| {
        request(json!({"op": "place", "text": format!("((4:1); B@[{n}_PE])"), "index": [3]}))
    }),
    // In remainders, each of which counts 4.
    case("MAP_OPERATIONS", 64, |n| request(json!({"op": "simplify", "map": remainders(n, 0)}))),
    case("MAP_PARENTHESES", 64, |n| {
        request(
            json!({"op": "simplify", "map": format!("(d0) -> ({}), domain: d0 in [0, 9]", nested(n, "(", "d0", ")"))}),
        )
    }),
    // In terms of each of three maps.
    Case {
        beyond: 1000,
        ..case("COMPOSED_OPERATIONS", 10, |n| {
            request(json!({"op": "compose", "maps": [quotients(n), quotients(n), quotients(n)]}))
        })
    },
    case("COMPOSED_DEPTH", 160, |n| {
        let maps = [remainders(64, 0), remainders(64, 64), remainders(n - 128, 128)];
        request(json!({"op": "compose", "maps": maps}))
    }),
    // In terms.
    Case {
        beyond: 50_000,
        ..case("EXPLAINED_OPERATIONS", 1000, |n| {
            request(json!({"op": "simplify", "map": quotients(n), "explain": true}))
        })
    },
    Case {
        is_answered: false,
        ..case("NOTATION_NUMBERS", 4096, |n| convert(&bases(&format!("[{}]", list(n, |_| "0".into())))))
    },
    Case { is_answered: false, ..case("NOTATION_BASES", 62, |n| convert(&bases(&list(n, |_| "[0]".into())))) },
    case("NOTATION_TUPLES", 64, |n| convert(&format!("{}:{}", nested(n, "(", "8", ")"), nested(n, "(", "1", ")")))),
    // At the limit all elements are enumerated, which takes a minute on a busy machine.
    Case {
        beyond: (1 << 25) + 1,
        is_answered: false,
        ..case("NOTATION_MAP_WORK", 1 << 16, |n| convert(&format!("memref<{n}xf32, affine_map<(d0) -> (d0 mod 7)>>")))
    },
    case("ALGEBRA_ELEMENTS", 1 << 20, |n| inspect(&["algebra", &format!("banks({n}:1)")], "")),
    case("ALGEBRA_DEPTH", 63, |n| inspect(&["algebra", &nested(n, "inverse(", "8:1", ")")], "")),
    case("HLO_ATTRIBUTES", 256, |n| {
        let attributes = (0..n).fold(String::new(), |all, k| all + &format!(", a{k}=1"));
        hlo("", &format!("ROOT x = f32[8]{{0}} parameter(0){attributes}"))
    }),
    case("HLO_INSIDE", 16, |n| {
        hlo("", &format!("ROOT r = f32[8]{{0}} {}", nested(n, "negate(f32[8]{0} ", "parameter(0)", ")")))
    }),
    case("HLO_DEVICES", 1 << 16, |n| hlo(&format!(", num_partitions={n}"), "ROOT x = f32[8]{0} parameter(0)")),
    case("STABLEHLO_ARRAYS", 1 << 16, |n| {
        let kind = format!("tuple<{}tensor<f32>>", "tensor<f32>, ".repeat(n - 1));
        inspect(
            &["hlo", "--summary", "-"],
            &format!(
                "func.func @main(%a: {kind}) -> tensor<f32> {{\n  %0 = stablehlo.get_tuple_element %a[0] : ({kind}) -> tensor<f32>\n  return %0 : tensor<f32>\n}}\n"
            ),
        )
    }),
    case("STABLEHLO_CALLS", 500, |n| {
        let function = |k: usize| {
            let (name, line) = (if k == 1 { "main".to_string() } else { format!("f{k}") }, "return %a : tensor<f32>");
            let call = format!("%0 = call @f{}(%a) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>", k + 1);
            let body = if k == n { line } else { &*call };
            format!("func.func @{name}(%a: tensor<f32>) -> tensor<f32> {{\n  {body}\n}}\n")
        };
        inspect(&["hlo", "--summary", "-"], &(1..=n).map(function).collect::<String>())
    }),
    case("STABLEHLO_REGIONS", 64, |n| {
        let open = "\"stablehlo.case\"(%i) ({\n";
        let close = "stablehlo.return\n}) : (tensor<i32>) -> ()\n";
        let body = open.repeat(n - 1) + &close.repeat(n - 1);
        inspect(
            &["hlo", "--summary", "-"],
            &format!("func.func @main(%i: tensor<i32>) -> tensor<i32> {{\n{body}return %i : tensor<i32>\n}}\n"),
        )
    }),
    case("PLAN_PLACES", 1 << 16, |n| {
        let machine = format!("axes: ({n}_PE), memories: (), word: 32");
        let text = module("", "x = f32[8]{0} parameter(0)\n  ROOT y = f32[8]{0} negate(x)");
        inspect(&["plan", "-", "--machine", &machine], &text)
    }),
    case("COST_SUM", 1 << 58, |n| {
        let nodes = json!({"intervals": [[0, 2]], "costs": [[n]], "usages": [[6]]});
        let edges = json!({"nodes": [], "costs": []});
        let problem = json!({"problem": {"name": "one", "nodes": nodes, "edges": edges, "usage_limit": 9}});
        request(json!({"op": "solve", "text": problem.to_string()}))
    }),
    // With the brace of the attributes.
    case("MLIR_NESTING", 9_999, |n| {
        opt(&[], &format!("func.func private @f() attributes {{a = {}}}", nested(n, "[", "", "]")))
    }),
    case("ELEMENT_BITS", 128, |n| {
        opt(
            &["--layout-to-memref"],
            &format!("func.func private @f(tensor<3x5xi4, #layout.tiled<{{1,0:T(2,2)E({n})}}>>)"),
        )
    }),
    case("CONSTANT_ELEMENTS", 1 << 26, |n| {
        let tensor = format!("tensor<2xf32, #layout.tiled<{{0:T({n})}}>>");
        let body = format!("  %c = arith.constant dense<[1.0, 2.0]> : {tensor}\n  return %c : {tensor}");
        opt(&["--layout-to-memref"], &format!("func.func @f() -> {tensor} {{\n{body}\n}}"))
    }),
    // At the limit, bufferization takes 20 s.
    Case {
        beyond: 25,
        ..case("NESTED_TENSORS", 12, |n| {
            let tensor = "tensor<8xf32>";
            let begin = (0..n).fold(String::new(), |all, k| all + &format!("%r{k} = scf.if %if -> {tensor} {{\n"));
            let end = (1..=n).rev().fold(String::new(), |all, k| {
                let value = if k == n { "x".into() } else { format!("r{k}") };
                all + &format!("scf.yield %{value} : {tensor}\n}} else {{\nscf.yield %x : {tensor}\n}}\n")
            });
            let text =
                format!("func.func @f(%x: {tensor}, %if: i1) -> {tensor} {{\n{begin}{end}return %r0 : {tensor}\n}}");
            opt(&["--layout-to-memref"], &text)
        })
    },
];

/// Limits that are not tried here: a program of 2^22 operations takes 26 s to plan and 2^23 a minute;
/// `test/plan/sharding.rs` tries pieces.
const NOT_TRIED: &[&str] = &["PLAN_INSTANCES", "PLAN_PIECES"];

fn list(n: usize, each: impl Fn(usize) -> String) -> String {
    (0..n).map(each).collect::<Vec<_>>().join(", ")
}

fn nested(n: usize, open: &str, inside: &str, close: &str) -> String {
    open.repeat(n) + inside + &close.repeat(n)
}

/// A map of `n` nested remainders, none of which simplifies.
fn remainders(n: usize, from: usize) -> String {
    let all = (from..from + n).fold(String::new(), |all, k| all + &format!(" mod {}", 1000 - 3 * k));
    format!("(d0) -> (d0{all}), domain: d0 in [0, 5000]")
}

/// A map of a sum of `n` quotients.
fn quotients(n: usize) -> String {
    let all: Vec<String> = (0..n).map(|k| format!("d0 floordiv {}", 7 + k)).collect();
    format!("(d0) -> ({}), domain: d0 in [0, 100]", all.join(" + "))
}

fn bases(register: &str) -> String {
    format!("tensor<1xf32, #ttg.linear<{{register = [{register}], lane = [], warp = [], block = []}}>>")
}

fn inspect(arguments: &[&str], text: &str) -> Given {
    let arguments = arguments.iter().map(|argument| argument.to_string()).collect();
    Given { tool: "layout-inspect", arguments, text: text.into() }
}

fn convert(text: &str) -> Given {
    inspect(&["convert", text, "--to", "affine-map"], "")
}

fn request(line: Value) -> Given {
    inspect(&["--json"], &format!("{line}\n"))
}

fn layout(text: &str) -> Given {
    request(json!({"op": "layout", "text": text}))
}

fn module(head: &str, body: &str) -> String {
    format!("HloModule m{head}\nENTRY main {{\n  {body}\n}}\n")
}

fn hlo(head: &str, body: &str) -> Given {
    inspect(&["hlo", "-"], &module(head, body))
}

fn opt(arguments: &[&str], text: &str) -> Given {
    let arguments = arguments.iter().copied().chain(["-o", "/dev/null"]).map(str::to_string).collect();
    Given { tool: "layout-opt", arguments, text: text.into() }
}

/// Runs a tool. Returns its first error, without the position.
fn error(checkout: &Checkout, given: &Given) -> Option<String> {
    let mut command = Command::new(checkout.tools.join(given.tool));
    let command = command.args(&given.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the tool starts");
    let mut input = child.stdin.take().expect("its input is a pipe");
    let text = given.text.clone();
    let writer = std::thread::spawn(move || {
        // A tool may end before it has read all input.
        let _ = input.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().expect("the tool ends");
    writer.join().expect("writing does not panic");
    let code = output
        .status
        .code()
        .unwrap_or_else(|| panic!("{} {}: {}", given.tool, given.arguments.join(" "), output.status));
    assert!(
        code <= 1,
        "{} {:?} ends with {code}: {}",
        given.tool,
        given.arguments,
        String::from_utf8_lossy(&output.stderr)
    );
    if given.arguments == ["--json"] {
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer is JSON");
        return answer["error"].as_str().map(str::to_string);
    }
    let errors = String::from_utf8(output.stderr).expect("errors are UTF-8");
    (code == 1).then(|| {
        let first = errors.lines().find_map(|line| Some(line.split_once("error: ")?.1));
        first.unwrap_or_else(|| panic!("no error in {errors}")).to_string()
    })
}

#[test]
fn every_limit_is_tried() {
    layout_test::long_test!();
    let mut tried: Vec<&str> = CASES.iter().map(|case| case.name).chain(NOT_TRIED.iter().copied()).collect();
    let mut all: Vec<&str> = ALL.iter().map(|limit| limit.name).collect();
    tried.sort_unstable();
    all.sort_unstable();
    assert_eq!(tried, all);
}

#[test]
fn limits_hold_and_the_page_says_so() {
    let checkout = Checkout::new();
    checkout.build_tools();
    let mut page = String::from(
        "<!-- Generated: BLESS=1 cargo test -p layout-test --test structure limits -->\n\n# Limits\n\n\
         What is beyond a limit is an error that names it. The numbers are those of [src/limits.rs](../src/limits.rs).\n\
         Sizes, strides, offsets and costs have no other limit than 64 bits, and what does\n\
         not fit is an error. JSON is nested at most 127 deep. What lowering has no way for at all is in\n\
         [lowering.md](lowering.md#limits).\n\n\
         | of | limit | what it counts | the error one beyond |\n|---|---|---|---|\n",
    );
    for limit in ALL {
        let said = match CASES.iter().find(|case| case.name == limit.name) {
            Some(case) => {
                let at = error(&checkout, &(case.given)(case.at as usize));
                let beyond = error(&checkout, &(case.given)(case.beyond as usize));
                let beyond = beyond.unwrap_or_else(|| panic!("{} is no limit: {} is answered", case.name, case.beyond));
                assert_ne!(at.as_ref(), Some(&beyond), "{} at {}", case.name, case.at);
                assert_eq!(at.is_none(), case.is_answered, "{} at {}: {at:?}", case.name, case.at);
                format!("`{}`", beyond.replace('`', "'"))
            }
            None => "".into(),
        };
        writeln!(page, "| {} | {} | {} | {said} |", limit.of, limit.value, limit.what).expect("a text takes all");
    }
    let path = checkout.root.join("docs/limits.md");
    if env::var_os("BLESS").is_some() {
        fs::write(&path, page).expect("docs/ is writable");
    } else {
        assert_eq!(fs::read_to_string(&path).unwrap_or_default(), page, "docs/limits.md is not current");
    }
}
