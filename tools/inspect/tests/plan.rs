//! `layout-inspect plan` and `check-plan`, through the program itself.

use crate::program::run;
use crate::program::{file, outcome};
use serde_json::{Value, json};
use std::fs;

/// A value `a` in one layout, and two results, one of which requires the other layout.
const TURNED: &str = "HloModule turned
ENTRY main {
  x = f32[80,300]{1,0} parameter(0)
  y = f32[80,300]{1,0} negate(x)
  ROOT r = (f32[80,300]{1,0}, f32[80,300]{0,1}) tuple(y, y)
}
";

/// A chain of values of 8192 bytes. The last operation needs three at once, besides `x`.
const CHAIN: &str = "HloModule chain
ENTRY main {
  x = f32[16,128]{1,0} parameter(0)
  a = f32[16,128]{1,0} custom-call(x), custom_call_target=\"f\"
  b = f32[16,128]{1,0} custom-call(a), custom_call_target=\"f\"
  ROOT c = f32[16,128]{1,0} custom-call(a, b), custom_call_target=\"f\"
}
";

fn answer(arguments: &[&str]) -> Value {
    let (out, error, status) = outcome(arguments);
    assert_eq!(status, Some(0), "{error}");
    serde_json::from_str(&out).unwrap()
}

/// On a machine with places, values have TensorLayouts, and the plan has the traffic of each level.
#[test]
fn a_machine_with_places_gets_tensor_layouts() {
    let product = "HloModule product\nENTRY main {\n  x = f32[256,16] parameter(0)\n  w = f32[16,1024] parameter(1)\n  \
                   ROOT y = f32[256,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
    let file = file("product.hlo", product);
    let found = answer(&["plan", &file, "--machine", "mn_core_2", "--json"]);
    assert_eq!((&found["cost"], &found["unit"], &found["ok"]), (&found["bound"], &json!("cycle"), &json!(true)));
    let axes: Vec<&Value> = found["levels"].as_array().unwrap().iter().map(|level| &level["axis"]).collect();
    assert_eq!(axes, ["L2B", "L1B", "MAB", "PE"]);
    let cost: i64 = found["relayouts"].as_array().unwrap().iter().map(|moved| moved["cost"].as_i64().unwrap()).sum();
    assert_eq!(found["cost"], json!(cost));
    for (name, layout) in [("x", &found["entry"]["in"][0]), ("y", &found["entry"]["out"][0])] {
        assert_eq!(&found["values"][name][0], layout);
        assert!(layout.as_str().unwrap().starts_with("(("), "{layout}");
    }
    let (text, _, _) = outcome(&["plan", &file, "--machine", "mn_core_2"]);
    for part in ["no plan costs less", "moved   L2B", "out     ((", "`x` is made in ((", "wanted in ((", "by `y`"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A capacity limits the bytes in the memories of the places.
#[test]
fn a_plan_over_places_says_what_is_in_memory_and_when() {
    let text = "HloModule twice\nENTRY main {\n  x = f32[64,512] parameter(0)\n  y = f32[64,512] negate(x)\n  \
                ROOT z = f32[64,512] exponential(y)\n}\n";
    let file = file("twice.hlo", text);
    let machine = "axes: (4_PE), memories: (LM: 1 at PE with 200000 bytes), word: 32";
    let given = ["plan", &file, "--machine", machine];
    let found = answer(&[&given[..], &["--json"]].concat());
    // A quarter of each of three arrays; the argument stays.
    let memory =
        json!({"space": 1, "name": "LM", "bytes": 98304, "padding": 0, "padding_saved": 0, "peak": 98304, "at": "z"});
    assert_eq!((&found["memories"], &found["peak"]), (&json!([memory]), &json!({"1": 98304})));
    let (text, _, _) = outcome(&given);
    let line =
        "LM      98,304 bytes of values in each, 0 bytes more than their even share; 98,304 bytes at once, at `z`";
    assert!(text.contains(line), "{text}");
    let within = answer(&[&given[..], &["--capacity", "LM=98304", "--json"]].concat());
    assert_eq!(within["peak"], found["peak"]);
    assert_eq!((&within["cost"], &within["steps"]), (&json!(0), &Value::Null));
    // With a byte less the argument is outside of the places, and each of them receives its quarter.
    let short = answer(&[&given[..], &["--capacity", "LM=98303", "--json"]].concat());
    assert_eq!((&short["cost"], &short["entry"]["in"][0]), (&json!(32768), &json!("beside the places")));
    assert!(short["peak"]["1"].as_i64().unwrap() <= 98303, "{short}");
    let (_, why, _) = outcome(&[&given[..], &["--capacity", "LM=7"]].concat());
    assert!(why.contains("here `LM` must hold 8 bytes, 1 more than its capacity 7"), "{why}");
}

/// An option without a meaning there is an error with the reason.
#[test]
fn options_for_machines_without_places_are_errors_elsewhere() {
    let file = file("chained.hlo", CHAIN);
    for given in [["--entry", "fixed"], ["--judge", "echo no"], ["--compare", ""]] {
        let given: Vec<&str> = given.into_iter().filter(|part| !part.is_empty()).collect();
        let (out, error, status) = outcome(&[&["plan", &file, "--machine", "mn_core_2"], &given[..]].concat());
        assert_eq!((out.as_str(), status), ("", Some(1)), "{given:?}: {error}");
        let name = if given[0] == "--entry" { "--entry fixed" } else { given[0] };
        assert!(error.contains(&format!("`{name}` is for machines without places, found axes")), "{given:?}: {error}");
    }
    let lines = [json!({"entry": "fixed"}), json!({"compare": true})].map(|mut line| {
        let more = json!({"op": "plan", "text": CHAIN, "machine": "mn_core_2"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string()
    });
    let out = String::from_utf8(run(&["--json"], lines.join("\n").as_bytes()).stdout).unwrap();
    let fields = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["in"].clone());
    assert_eq!(fields.collect::<Vec<_>>(), [json!("entry"), json!("compare")], "{out}");
    let (out, error, status) = outcome(&["hlo", &file, "--machine", "mn_core_2", "--html", "-", "--plan"]);
    assert_eq!((out.as_str(), status), ("", Some(1)), "{error}");
    assert!(error.contains("`--plan` is for machines without places, found axes"), "{error}");
}

/// A product whose result has another use, on 8 places of 4 kB.
const SPREAD: &str = "HloModule spread
ENTRY main {
  x = f32[64,32] parameter(0)
  w = f32[32,64] parameter(1)
  y = f32[64,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT z = f32[64,64] negate(y)
}
";
const EIGHT: &str =
    "axes: (2_G, 4_PE), memories: (LM: 1 at PE with 8192 bytes), word: 32, unit: cycle, links: (G: 8, PE: 4)";

/// With places, proofs, reasons and capacities work as without.
#[test]
fn plans_over_places_are_proved_explained_and_limited() {
    let (hlo, proof) = (file("spread.hlo", SPREAD), file("spread.proof", ""));
    let asked = ["plan", &hlo, "--machine", EIGHT];
    let found = answer(&[&asked[..], &["--json", "--certificate", &proof]].concat());
    let (out, error, status) = outcome(&["check-plan", &hlo, &proof]);
    assert_eq!((status, error.as_str()), (Some(0), ""));
    assert!(out.contains("both hold"), "{out}");
    let text = fs::read_to_string(&proof).unwrap();
    let cost = found["cost"].as_i64().unwrap();
    let own = found["values"]["x"][0].as_str().unwrap();
    for (forged, message) in [
        (text.replacen(&format!("\"cost\":{cost}"), &format!("\"cost\":{}", cost - 1), 1), "in `plan.cost`, the proof"),
        (
            text.replacen(&format!("\"x\":[\"{own}"), "\"x\":[\"((64:32), (32:1))", 1),
            "in `plan.values.x[0]`, the proof",
        ),
        (text.replacen("(2_G, 4_PE)", "(2_G, 8_PE)", 1), ""),
    ] {
        assert_ne!(forged, text);
        let (out, error, status) = outcome(&["check-plan", &hlo, &file("spread.forged", &forged)]);
        assert_eq!((out.as_str(), status), ("", Some(1)), "{error}");
        assert!(error.contains(message), "{error}");
    }
    let (why, error, _) = outcome(&[&asked[..], &["--why", "x"]].concat());
    let first = why.lines().next().unwrap_or_default();
    assert!(
        first.contains(&format!("{} cycles, 0 more", layout_number(cost))) && why.lines().count() > 1,
        "{why}{error}"
    );
    let (_, error, status) = outcome(&[&asked[..], &["--why", "x", "--seconds", "0"]].concat());
    assert_eq!(status, Some(1));
    assert!(error.contains("not decided"), "{error}");
    // x and w take 1 kB of each place, y and z 2 kB each.
    let limited = |bytes: &str| outcome(&[&asked[..], &["--capacity", bytes]].concat());
    assert_eq!(limited("LM=6144").2, Some(0));
    assert_eq!(limited("LM=6143").2, Some(0));
    // The minimum is an element of each array of the product.
    let (_, error, status) = limited("LM=11");
    assert_eq!(status, Some(1), "{error}");
    for part in ["spread.hlo:5:3: ", "`LM` must hold 12 bytes, 1 more than its capacity 11", "`y` (4)"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// A number in the format of reports.
fn layout_number(n: i64) -> String {
    let text = n.to_string();
    let groups: Vec<&[u8]> = text.as_bytes().rchunks(3).rev().collect();
    groups.into_iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}

#[test]
fn arrays_that_no_place_holds_lie_beside_them() {
    let large = "HloModule large\nENTRY main {\n  x = f32[128,128] parameter(0)\n  \
                 ROOT y = f32[65536,128,128] broadcast(x), dimensions={1,2}\n}\n";
    let (out, error, status) = outcome(&["plan", &file("large.hlo", large), "--machine", "mn_core_2"]);
    assert_eq!((error.as_str(), status), ("", Some(0)));
    assert!(out.contains("\nout     beside the places\n"), "{out}");
}

#[test]
fn a_plan_says_what_it_costs_and_why_it_copies() {
    let file = file("turned.hlo", TURNED);
    let found = answer(&["plan", &file, "--machine", "tpu_v5e", "--json"]);
    assert_eq!(found["cost"], found["bound"]);
    assert_eq!((&found["unit"], &found["ok"]), (&json!("cycle"), &json!(true)));
    assert_eq!(found["entry"]["in"], json!(["{1,0:T(8,128)}"]));
    let fixed = answer(&["plan", &file, "--machine", "tpu_v5e", "--entry", "fixed", "--json", "--compare"]);
    assert_eq!(fixed["entry"]["out"], json!(["{1,0:T(8,128)}", "{1,0:T(8,128)}"]));
    let (text, _, _) = outcome(&["plan", &file, "--machine", "tpu_v5e", "--compare"]);
    for part in ["no plan costs less", "hbm", "relayout", "values have the same layouts"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_certificate_is_checked_and_forgeries_are_refused() {
    let (hlo, proof) = (file("proved.hlo", TURNED), file("proved.proof", ""));
    answer(&["plan", &hlo, "--machine", "tpu_v5e", "--entry", "free", "--certificate", &proof, "--json"]);
    let (out, error, status) = outcome(&["check-plan", &hlo, &proof]);
    assert_eq!((status, error.as_str()), (Some(0), ""));
    assert!(out.contains("both hold"), "{out}");
    let text = fs::read_to_string(&proof).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    let said: Value = serde_json::from_str(head).unwrap();
    let cost = said["plan"]["cost"].as_i64().unwrap();
    for (what, forged, message) in [
        (
            "cost",
            text.replace(&format!("\"cost\":{cost}"), &format!("\"cost\":{}", cost - 1)),
            "in `plan.cost`, the proof",
        ),
        ("layout", text.replacen("\"x\":[\"{1,0", "\"x\":[\"{0,1", 1), "in `plan.values.x[0]`, the proof"),
        ("bound", text.replace(&format!("\nbound {cost}\n"), &format!("\nbound {}\n", cost + 1)), "bound"),
        ("machine", text.replacen("\"tpu_v5e\"", "\"mn_core_2\"", 1), ""),
        ("capacity", text.replacen("\"capacities\":[]", "\"capacities\":[[0,-1]]", 1), "in `capacities`"),
        ("choice", format!("{head}\n{}", rest.replacen("choices 0", "choices 1", 1)), ""),
    ] {
        assert_ne!(forged, text, "{what}");
        let (out, error, status) = outcome(&["check-plan", &hlo, &file("forged.proof", &forged)]);
        assert_eq!((out.as_str(), status), ("", Some(1)), "{what}: {error}");
        assert!(error.contains(message), "{what}: {error}");
    }
    let (_, error, status) = outcome(&["check-plan", &file("other.hlo", CHAIN), &proof]);
    assert_eq!(status, Some(1), "{error}");
}

#[test]
fn capacities_move_values_and_say_by_how_much_they_are_short() {
    let hlo = file("chain.hlo", CHAIN);
    let asked = |capacity: &[&str]| {
        let all = ["plan", &hlo, "--machine", "tpu_v5e", "--json"];
        let capacity = capacity.iter().flat_map(|own| ["--capacity", own]);
        answer(&all.into_iter().chain(capacity).collect::<Vec<_>>())
    };
    let free = asked(&[]);
    assert_eq!(free["peak"], json!({"0": 16384, "1": 24576}));
    assert_eq!(asked(&["vmem=24576"])["cost"], free["cost"]);
    let tight = asked(&["vmem=16384"]);
    assert_eq!(tight["peak"]["1"], json!(16384));
    assert!(tight["cost"].as_i64() > free["cost"].as_i64() && tight["cost"] == tight["bound"], "{tight}");
    // `a` leaves while `b` is computed, for the least cost of the copy.
    assert_eq!((&tight["transfers"][0]["at"], &tight["transfers"][0]["start"]), (&json!("a"), &json!("b")));
    let wrong = |capacity: &str, parts: &[&str]| {
        let (out, error, status) = outcome(&["plan", &hlo, "--machine", "tpu_v5e", "--capacity", capacity]);
        assert_eq!((out.as_str(), status), ("", Some(1)), "{error}");
        parts.iter().for_each(|part| assert!(error.contains(part), "{capacity}: {error}"));
    };
    wrong(
        "hbm=8191",
        &["chain.hlo:6:8: ", "must hold 16384 bytes, 8193 more than its capacity 8191", "`x` (8192), `c` (8192)"],
    );
    wrong("hmb=1", &["unknown memory `hmb`", "hbm"]);
    wrong("9=1", &["1 | 9=1\n", "the machine has no memory space 9; it has hbm (0), vmem (1)"]);
    for command in ["plan", "solve"] {
        let machine = if command == "plan" { &["--machine", "tpu_v5e"][..] } else { &[] };
        let (_, error, status) = outcome(&[&[command, &hlo, "--seconds", "-1"], machine].concat());
        assert_eq!(
            (&*error, status),
            ("error: expected a number of seconds from 0, found `-1`\n", Some(1)),
            "{command}"
        );
    }
    let (_, error, _) = outcome(&["plan", &hlo, "--machine", "tpu_v5e", "--capacity", "hbm=1", "--capacity", "hbm=2"]);
    assert!(error.contains("1 | hbm=2\n") && error.contains("must have one capacity, found two"), "{error}");
    let large = "axes: (100000_PE), memories: (), word: 32";
    let (_, error, _) = outcome(&["plan", &hlo, "--machine", large]);
    assert!(error.contains("must have at most 65536 places") && error.contains("1 | axes: (100000_PE)"), "{error}");
    wrong("hbm=8191B", &["8193 more than its capacity 8191"]);
    wrong("hbm=4KiB", &["12288 more than its capacity 4096"]);
    wrong("hbm=4kB", &["12384 more than its capacity 4000"]);
    wrong("hbm=4kiBs", &["unknown unit `kiBs`; did you mean `KiB`?", "1 | hbm=4kiBs\n  |      ^"]);
    wrong("hbm", &["expected `=` and the bytes of the memory, such as vmem=16MiB"]);
    wrong("hbm=-1", &["expected a number of bytes from 0 to 288230376151711744, found `-1`"]);
}

/// The machine's memories limit a plan that does not fit into them, and say so where none does.
#[test]
fn the_machine_has_capacities() {
    let product = |name: &str, x: &str, y: &str| {
        format!("  {name} = f32[32,32] dot({x}, {y}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n")
    };
    // `a`, `b`, `c`, `d` and `e`, of 16384 bytes each, are in memory at once.
    let first = [("a", "x"), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "d")].map(|(name, x)| product(name, x, "x"));
    let then = [("f", "e", "a"), ("g", "f", "b"), ("h", "g", "c")].map(|(name, x, y)| product(name, x, y));
    let last = product("ROOT y", "h", "d");
    let text = format!(
        "HloModule wide\nENTRY main {{\n  x = f32[32,32] parameter(0)\n{}{}{last}}}\n",
        first.concat(),
        then.concat()
    );
    let (hlo, proof) = (file("wide.hlo", &text), file("wide.proof", ""));
    let (v5e, ..) = outcome(&["machine", "tpu_v5e"]);
    let machine = |hbm: &str, vmem: &str| v5e.trim().replace("16911433728", hbm).replace("134217728", vmem);
    let small = machine("16911433728", "65536");
    let asked = ["plan", &hlo, "--machine", &small, "--json"];
    let limited = answer(&[&asked[..], &["--certificate", &proof]].concat());
    let free = answer(&[&asked[..], &["--capacity", "none"]].concat());
    assert!(limited["peak"]["1"].as_i64() <= Some(65536) && free["peak"]["1"].as_i64() > Some(65536), "{limited}");
    assert!(limited["cost"].as_i64() > free["cost"].as_i64(), "{limited}");
    assert_eq!(outcome(&["check-plan", &hlo, &proof]).2, Some(0));
    assert_eq!(answer(&[&asked[..], &["--capacity", "vmem=65536"]].concat())["bound"], limited["bound"]);
    let best = answer(&[&asked[..], &["--seconds", "60"]].concat());
    assert!(best["cost"] == best["bound"] && best["cost"].as_i64() <= limited["cost"].as_i64(), "{best}");
    let why = |capacity: &[&str]| outcome(&[&["plan", &hlo, "--machine", &small, "--why", "c"], capacity].concat()).0;
    assert_ne!(why(&[]), why(&["--capacity", "none"]));
    // What fits is the same plan.
    let large = machine("16911433728", "200000");
    let asked = ["plan", &hlo, "--machine", &large, "--json"];
    assert_eq!(answer(&asked), answer(&[&asked[..], &["--capacity", "none"]].concat()));
    let (_, error, status) = outcome(&["plan", &hlo, "--machine", &machine("20000", "65536")]);
    assert_eq!(status, Some(1), "{error}");
    let parts = ["wide.hlo:", "must hold 32768 bytes, 12768 more than its capacity 20000", "the capacity `none` plans"];
    parts.iter().for_each(|part| assert!(error.contains(part), "{error}"));
    let (_, error, _) = outcome(&["plan", &hlo, "--machine", "tpu_v5e", "--capacity", "hbm=1", "--capacity", "none"]);
    assert!(error.contains("expected `none` alone, or capacities of memories"), "{error}");
    let line = json!({"op": "plan", "text": text, "machine": small, "unlimited": true});
    let out = String::from_utf8(run(&["--json"], line.to_string().as_bytes()).stdout).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["cost"], free["cost"], "{out}");
}

/// Products of 1 MB each; the last one reads `a` again.
const LONG: &str = "HloModule long
ENTRY main {
  x = f32[512,512] parameter(0)
  w = f32[512,512] parameter(1)
  a = f32[512,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[512,512] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[512,512] dot(b, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[512,512] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[512,512] dot(d, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
";

#[test]
fn values_move_between_memories_and_it_is_said_when() {
    let (hlo, proof) = (file("long.hlo", LONG), file("long.proof", ""));
    let asked = ["plan", &hlo, "--machine", "tpu_v5e", "--capacity", "vmem=3200000"];
    let found = answer(&[&asked[..], &["--json", "--certificate", &proof]].concat());
    assert_eq!(found["cost"], found["bound"]);
    assert_eq!(found["peak"]["1"], json!(3145728));
    let moves = found["transfers"].as_array().unwrap();
    let of = |name: &str| moves.iter().find(|own| own["at"] == name).unwrap_or_else(|| panic!("{name}: {found}"));
    // No kernel hides a copy to the first one: all of it is a cost, 1,738 cycles and 1 MB at 491.5 bytes a cycle.
    // The copy is one run of all elements.
    let whole = json!([{"sizes": [262144], "from": 0, "from_strides": [1], "to": 0, "to_strides": [1]}]);
    let waited = json!({"at": "w", "bytes": 1048576, "from": 0, "to": 1, "start": "x", "done": "a", "exposed": 3872, "share": 0,
        "copies": whole});
    assert_eq!(of("w"), &waited);
    let out = of("a");
    assert_eq!(
        [&out["from"], &out["to"], &out["start"], &out["done"]],
        [&json!(1), &json!(0), &json!("b"), &json!("c")]
    );
    let stays: Vec<String> = found["stays"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|own| own["at"] == "a")
        .map(|own| format!("{} {}-{}", own["space"], own["first"].as_str().unwrap(), own["last"].as_str().unwrap()))
        .collect();
    assert_eq!(stays, ["1 a-b", "0 b-y"]);
    let (text, _, _) = outcome(&asked);
    for part in [
        "stay    `a` in vmem from `a` to `b` (1,048,576 bytes), in hbm from `b` to `y` (1,048,576 bytes)\n",
        "move    `a` from vmem to hbm, 1,048,576 bytes, from before `b` to before `c`: 25 % of the bandwidth, kernels wait",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The proof confirms the plan with its copies, and no other.
    assert_eq!(outcome(&["check-plan", &hlo, &proof]).2, Some(0));
    let text = fs::read_to_string(&proof).unwrap();
    let at = text.find("\"transfers\"").unwrap();
    let (head, rest) = text.split_at(at);
    let forged = format!("{head}{}", rest.replacen("\"share\":0", "\"share\":1", 1));
    let (_, error, status) = outcome(&["check-plan", &hlo, &file("long.forged", &forged)]);
    assert_eq!(status, Some(1));
    assert!(error.contains("the plan says 1 in `plan.transfers[0].share`, the proof 0"), "{error}");
    // Without moving the plan costs more and has no copies. The proof says whether values move.
    let stays = answer(&[&asked[..], &["--json", "--stay", "--certificate", &proof]].concat());
    assert!(stays["cost"].as_i64() > found["cost"].as_i64(), "{stays}");
    assert_eq!((stays.get("transfers"), stays.get("stays")), (None, None));
    assert_eq!(outcome(&["check-plan", &hlo, &proof]).2, Some(0));
    let line = json!({"op": "plan", "text": LONG, "machine": "tpu_v5e", "capacity": {"vmem": 3_200_000}, "stay": true});
    let out = String::from_utf8(run(&["--json"], line.to_string().as_bytes()).stdout).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["cost"], stays["cost"], "{out}");
    // A memory of no bytes holds nothing.
    let none = answer(&["plan", &hlo, "--machine", "tpu_v5e", "--capacity", "vmem=0", "--json"]);
    assert_eq!((none["spaces"].as_object().unwrap().len(), none.get("transfers")), (0, None));
}

/// Room for steps is left only on request, and raises the cost.
#[test]
fn room_for_steps_is_asked_for() {
    crate::long_test!();
    let text = "HloModule product\nENTRY main {\n  x = f32[1024,512] parameter(0)\n  w = f32[512,512] parameter(1)\n  \
                ROOT y = f32[1024,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
    let (hlo, proof) = (file("product.hlo", text), file("product.proof", ""));
    let given = ["plan", &hlo, "--machine", "tpu_v5e", "--capacity", "vmem=1048576", "--certificate", &proof];
    let without = answer(&[&given[..], &["--json"]].concat());
    assert_eq!((without.get("kept"), &without["steps"][0]["needs"]), (None, &json!(73728)));
    assert!(
        outcome(&given).0.contains("`y` is not cut: its smallest steps need 73,728 bytes, and values leave 0 bytes\n")
    );
    assert_eq!(outcome(&["check-plan", &hlo, &proof]).2, Some(0));
    let with = answer(&[&given[..], &["--room-for-steps", "--json"]].concat());
    assert_eq!((&with["kept"], with["steps"][0].get("needs")), (&json!(73728), None));
    assert!(with["cost"].as_i64() > without["cost"].as_i64() && with["cost"] == with["bound"], "{with}");
    assert_eq!(outcome(&["check-plan", &hlo, &proof]).2, Some(0));
    let line = json!({"op": "plan", "text": text, "machine": "tpu_v5e", "capacity": {"vmem": 1_048_576}, "room_for_steps": true});
    let out = String::from_utf8(run(&["--json"], line.to_string().as_bytes()).stdout).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["cost"], with["cost"], "{out}");
    // If no plan leaves the room, the plan is the one without it.
    let mut text = String::from("HloModule chain\nENTRY main {\n  x = f32[512,512] parameter(0)\n");
    let products = [
        ("r", "x", "x"),
        ("a", "x", "r"),
        ("b", "a", "x"),
        ("c", "b", "x"),
        ("d", "c", "b"),
        ("e", "d", "c"),
        ("ROOT y", "e", "r"),
    ];
    for (name, left, right) in products {
        text += &format!(
            "  {name} = f32[512,512] dot({left}, {right}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
        );
    }
    let chain = file("chain.hlo", &(text + "}\n"));
    let within =
        ["plan", &chain, "--machine", "tpu_v5e", "--capacity", "hbm=2300000", "--capacity", "vmem=2097152", "--json"];
    let [without, with] = [&[][..], &["--room-for-steps"]].map(|more| answer(&[&within[..], more].concat()));
    assert_eq!((&with["cost"], with.get("kept")), (&without["cost"], None));
    let (_, why, status) = outcome(&["plan", &hlo, "--machine", "tpu_v5e", "--room-for-steps"]);
    assert!(status == Some(2) && why.contains("--capacity"), "{why}");
    // The other memories have the machine's capacities.
    let large = [
        "HloModule m\nENTRY main {\n  x = f32[4096,524288] parameter(0)",
        "  y = f32[4096,524288] exponential(x)",
        "  z = f32[524288,4096] transpose(x), dimensions={1,0}",
        "  r = f32[524288,4096] tanh(z)",
        "  ROOT o = (f32[4096,524288], f32[524288,4096]) tuple(y, r)\n}\n",
    ];
    let large = file("large.hlo", &large.join("\n"));
    let (_, why, status) =
        outcome(&["plan", &large, "--machine", "tpu_v5e", "--capacity", "vmem=1048576", "--room-for-steps"]);
    assert!(status == Some(1) && why.contains("`hbm` must hold 25769803776 bytes"), "{why}");
}

#[test]
fn a_judge_chooses_and_its_lessons_are_told() {
    let hlo = file("judged.hlo", TURNED);
    // The judge prefers the argument in columns.
    let judge =
        r#"while read line; do case "$line" in *'"in":["{0,1'*) echo '{"cost":1}';; *) echo '{"cost":9}';; esac; done"#;
    let asked = ["plan", &hlo, "--machine", "tpu_v5e", "--entry", "free", "--judge"];
    let judged_by = |judge: &str, more: &[&str]| answer(&[&asked[..], &[judge, "--json"], more].concat());
    let found = judged_by(judge, &[]);
    assert!(found["entry"]["in"][0].as_str().unwrap().starts_with("{0,1"), "{found}");
    let judged = found["judged"].as_array().unwrap();
    assert!(judged.len() > 1 && judged.len() <= 16, "{found}");
    assert!(judged.iter().any(|own| own["judged"] == json!(1) && own["found"] == json!(-8)), "{found}");
    let few = judged_by(judge, &["--judgements", "1"]);
    assert_eq!(few["judged"].as_array().unwrap().len(), 1);
    // A command that ends after each answer is started again.
    let once = judged_by("read x; echo '{\"cost\":5}'", &[]);
    assert!(once["judged"].as_array().unwrap().len() > 1, "{once}");
    // Any number that fits is a price.
    let large =
        judged_by("read x; echo '{\"cost\":1000}'; while read x; do echo '{\"cost\":9000000000000000000}'; done", &[]);
    assert!(large["judged"].as_array().unwrap().len() > 1, "{large}");
    for (judge, message) in [
        ("exit 3", "ended without an answer"),
        ("cat", "expected `{\"cost\":n}`"),
        ("echo '{\"cost\":-1}'", "found `{\"cost\":-1}`"),
        ("echo '{\"cost\":1e30}'", "found `{\"cost\":1e30}`"),
        ("printf '\\377\\n'", "expected `{\"cost\":n}`"),
        ("cat /dev/zero", "expected `{\"cost\":n}`"),
    ] {
        let (out, error, status) = outcome(&[&asked[..], &[judge]].concat());
        assert_eq!((out.as_str(), status), ("", Some(1)), "{error}");
        assert!(error.contains(message), "{error}");
    }
    let refuses = "while read x; do echo '{\"error\":\"no\"}'; done";
    let refused = answer(&["plan", &hlo, "--machine", "tpu_v5e", "--json", "--judge", refuses]);
    assert_eq!(refused["judged"][0]["error"], json!("no"));
}

/// A judge that answers lines with `default`, `auto`, `inner` and `read back`, in this order, and prices other plans at 9.
fn judge_of(answers: [&str; 4]) -> String {
    let [default, auto, inner, read_back] = answers.map(|answer| format!("echo '{answer}'"));
    format!(
        r#"while read line; do case "$line" in *'"question":"default"'*) {default};; *'"question":"auto"'*) {auto};;
        *'"question":"inner"'*) {inner};; *'"question":"read back"'*) {read_back};; *) echo '{{"cost":9}}';; esac; done"#
    )
}

/// The answer is never above the judge's default and its own choice, and copies of arguments and results are taken in.
#[test]
fn a_judge_is_asked_for_defaults_for_its_choice_and_behind_copies() {
    let text = "HloModule transposed\nENTRY main {\n  x = f32[256,512] parameter(0)\n  \
                y = f32[512,256] transpose(x), dimensions={1,0}\n  ROOT z = f32[512,256] negate(y)\n}\n";
    let hlo = file("questions.hlo", text);
    let asked = ["plan", &hlo, "--machine", "tpu_v5e", "--entry", "free", "--json", "--judgements", "5", "--judge"];
    let orders = |found: &Value| {
        let [from, to] = ["in", "out"].map(|side| found["entry"][side][0].as_str().unwrap()[1..4].to_string());
        format!("{from} {to}")
    };
    let least = orders(&answer(&asked[..7]));
    let chosen = r#"{"cost":5,"entry":{"in":["{1,0}"],"out":["{1,0}"]},"copies":[
        {"in":0,"from":"{1,0}","to":"{0,1:T(8,128)}"},{"out":0,"from":"{0,1}","to":"{1,0}"}]}"#;
    let chosen = &chosen.replace('\n', "");
    let default = r#"{"cost":7,"entry":{"in":["{0,1}"],"out":["{0,1}"]}}"#;
    let (priced, no) = (r#"{"cost":8}"#, r#"{"error":"no"}"#);
    for (answers, entry, tried) in [
        ([priced, chosen, no, r#"{"cost":4}"#], "0,1 0,1", "read back"),
        ([priced, chosen, no, r#"{"cost":6}"#], "1,0 1,0", "auto"),
        ([priced, chosen, no, no], "1,0 1,0", "auto"),
        ([priced, chosen, r#"{"cost":3}"#, r#"{"cost":4}"#], "1,0 1,0", "inner"),
        ([default, no, no, "no"], "0,1 0,1", "default"),
        // Before these questions, judges said costs alone.
        ([priced, r#"{"cost":1}"#, r#"{"cost":8}"#, "no"], "1,0 1,0", "default"),
        ([no, no, no, "no"], &least, "the plan of least cost"),
    ] {
        let found = answer(&[&asked[..], &[&judge_of(answers)]].concat());
        let judged = found["judged"].as_array().unwrap();
        let priced = judged.iter().filter(|own| !own["judged"].is_null());
        let best = priced.min_by_key(|own| own["judged"].as_i64()).unwrap();
        assert_eq!((orders(&found).as_str(), judged.len()), (entry, 5), "{found}");
        assert!(best["tried"].as_str().unwrap().starts_with(tried), "{found}");
        assert_eq!(found.get("inner"), (tried == "inner").then_some(&json!(true)), "{found}");
    }
    // A judge that knows no `auto` may end at it.
    let ends = r#"while read line; do case "$line" in *auto*) exit 1;; *) echo '{"cost":9}';; esac; done"#;
    let found = answer(&[&asked[..], &[ends]].concat());
    assert_eq!(found["judged"].as_array().unwrap().len(), 5, "{found}");
    assert!(found["judged"].to_string().contains("ended without an answer"), "{found}");
    // Where the layouts of arguments and results are not free, a judge does not choose them; those inside may be handed on.
    let fixed = ["plan", &hlo, "--machine", "tpu_v5e", "--json", "--judge", &judge_of([default, chosen, no, "no"])];
    assert_eq!(answer(&fixed)["judged"].as_array().unwrap().len(), 2);
}

/// A judge's answer that does not fit the program is an error that says where, also for the other questions.
#[test]
fn answers_of_a_judge_are_checked() {
    let hlo = file("answers.hlo", TURNED);
    let asked = ["plan", &hlo, "--machine", "tpu_v5e", "--entry", "free", "--judge"];
    for (auto, message) in [
        ("chosen", "expected value at line 1 column 1"),
        (r#"{"cost":1,"entry":{"in":["{1,0}"],"out":["{1,0}"]}}"#, "`entry.out` must have 2 layouts, found 1"),
        (r#"{"cost":1,"entry":{"in":[],"out":[]}}"#, "`entry.in` must have 1 layouts, found 0"),
        (r#"{"cost":1,"entry":{"in":["{1,0}"],"out":["{1,0}","{2,1,0}"]}}"#, "in `entry.out[1]`, a layout must have 2"),
        (r#"{"cost":1,"entry":{"in":["{0,0}"],"out":["{1,0}","{1,0}"]}}"#, "in `entry.in[0]`, "),
        (r#"{"cost":1,"entry":{"in":["{"],"out":["{1,0}","{1,0}"]}}"#, "in `entry.in[0]`, "),
        (r#"{"cost":1,"entry":"AUTO"}"#, "expected struct EntryArrays"),
        (r#"{"cost":-1}"#, "`cost` is below 0"),
        (r#"{"cost":1,"error":"no"}"#, "there is not one of `cost` and `error`"),
        (r#"{"cost":1,"copies":[{"in":7,"from":"{1,0}","to":"{0,1}"}]}"#, "in `copies[0]`, there is no array 7"),
        (r#"{"cost":1,"copies":[{"from":"{1,0}","to":"{0,1}"}]}"#, "`copies[0]` has not one of `in` and `out`"),
        (r#"{"cost":1,"copies":[{"out":0,"from":"{0}","to":"{0,1}"}]}"#, "in `copies[0]`, a layout must have 2"),
        (r#"{"cost":1,"copies":[{"out":0,"from":"{0,1}"}]}"#, "missing field `to`"),
    ] {
        let judge = judge_of([r#"{"cost":8}"#, auto, r#"{"error":"no"}"#, r#"{"cost":8}"#]);
        let (out, error, status) = outcome(&[&asked[..], &[&judge]].concat());
        assert_eq!((out.as_str(), status), ("", Some(1)), "{auto}: {error}");
        assert!(error.contains(message), "{auto}: {error}");
    }
}

/// Most orders of six dimensions are in no list; a plan with such an order is proved like others.
#[test]
fn a_judge_may_choose_orders_that_are_in_no_list() {
    let text = "HloModule six\nENTRY main {\n  x = f32[3,9,10,11,12,13] parameter(0)\n  \
                ROOT y = f32[3,9,10,11,12,13] negate(x)\n}\n";
    let (hlo, proof) = (file("six.hlo", text), file("six.proof", ""));
    let chosen = r#"{"cost":5,"entry":{"in":["{2,4,0,1,5,3}"],"out":["{0,1,4,5,3,2}"]}}"#;
    let judge = judge_of([r#"{"cost":8}"#, chosen, r#"{"error":"no"}"#, "no"]);
    for capacity in [&[][..], &["--capacity", "vmem=100000"]] {
        let asked = ["plan", &hlo, "--machine", "tpu_v5e", "--entry", "free", "--json", "--judge", &judge];
        let found = answer(&[&asked[..], &["--certificate", &proof], capacity].concat());
        let order = found["entry"]["in"][0].as_str().unwrap();
        assert!(order.starts_with("{2,4,0,1,5,3:"), "{found}");
        let (out, error, status) = outcome(&["check-plan", &hlo, &proof]);
        assert_eq!((status, error.as_str()), (Some(0), ""), "{out}");
    }
    let text = fs::read_to_string(&proof).unwrap();
    for (forged, message) in [
        ("[[2,4,0,1,5,3]]", "expected 2 orders of arguments and results, found 1"),
        ("[[2,4,0,1,5,5],[0,1,4,5,3,2]]", ""),
        ("[[2,4,0],[0,1,4,5,3,2]]", ""),
        ("[[],[]]", ""),
        (&vec!["[[2,4,0,1,5,3],[0,1,4,5,3,2]]"; 65].join(","), "at most 64 entries"),
    ] {
        let forged = text.replacen("[[2,4,0,1,5,3],[0,1,4,5,3,2]]", forged, 1);
        assert_ne!(forged, text);
        let (out, error, status) = outcome(&["check-plan", &hlo, &file("six.forged", &forged)]);
        assert_eq!((out.as_str(), status), ("", Some(1)), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

/// A judge that is silent, or does not end, delays the plan no longer than the time of the search.
#[test]
fn a_judge_that_hangs_is_ended() {
    let hlo = file("hung.hlo", TURNED);
    let asked = ["plan", &hlo, "--machine", "tpu_v5e", "--entry", "free", "--json", "--seconds", "2", "--judge"];
    // If the tool waited for one, the test would not end.
    for (judge, most) in [("exec sleep 1000000", 0), ("read x; echo '{\"cost\":5}'; exec sleep 1000000", 1)] {
        let found = answer(&[&asked[..], &[judge]].concat());
        assert_eq!(found["judged"].as_array().unwrap().len(), most, "{found}");
    }
    // A judge that stays after its last answer is killed, too.
    let stays = "read x; echo '{\"cost\":5}'; exec sleep 1000000";
    answer(&["plan", &hlo, "--machine", "tpu_v5e", "--json", "--judgements", "1", "--judge", stays]);
    // And so are its children: the judge writes the number of one, which is gone when the plan is there.
    let number = file("child.number", "");
    let starts = format!("sleep 1000000 & echo $! > {number}; read x; wait");
    answer(&["plan", &hlo, "--machine", "tpu_v5e", "--json", "--seconds", "1", "--judge", &starts]);
    let number = fs::read_to_string(&number).unwrap();
    // A zombie, not yet waited for, has ended, too.
    let ended = format!("case $(ps -o stat= -p {number}) in ''|Z*) exit 0;; *) exit 1;; esac", number = number.trim());
    let ended = std::process::Command::new("sh").args(["-c", &ended]).status().unwrap();
    assert!(!number.trim().is_empty() && ended.success(), "{number}");
}

/// Also where the plan costs more than the bound, and choices are excluded by a cost.
#[test]
fn what_a_judge_has_chosen_is_proved() {
    let (hlo, proof) = (file("chosen.hlo", TURNED), file("chosen.proof", ""));
    let judge =
        r#"while read line; do case "$line" in *'"in":["{0,1'*) echo '{"cost":1}';; *) echo '{"cost":9}';; esac; done"#;
    let (mut dearer, mut excluding) = (0, 0);
    for capacity in
        [&[][..], &["--capacity", "vmem=100000"], &["--capacity", "vmem=200000", "--capacity", "hbm=700000"]]
    {
        let all = ["plan", &hlo, "--machine", "tpu_v5e", "--entry", "free", "--json", "--judge", judge];
        let found = answer(&[&all[..], &["--certificate", &proof], capacity].concat());
        assert!(found["entry"]["in"][0].as_str().unwrap().starts_with("{0,1"), "{found}");
        dearer += usize::from(found["cost"].as_i64() > found["bound"].as_i64());
        let (out, error, status) = outcome(&["check-plan", &hlo, &proof]);
        assert_eq!((status, error.as_str()), (Some(0), ""), "{capacity:?}");
        assert!(out.contains("both hold"), "{out}");
        let text = fs::read_to_string(&proof).unwrap();
        if text.contains("\nexclude ") {
            let (head, rest) = text.split_once("\nexclude ").unwrap();
            let (_, rest) = rest.split_once(' ').unwrap();
            // Then an excluded choice may cost less than the bound.
            let forged = format!("{head}\nexclude {} {rest}", found["bound"].as_i64().unwrap() - 1);
            let (_, error, status) = outcome(&["check-plan", &hlo, &file("forged.limit", &forged)]);
            assert_eq!(status, Some(1), "{error}");
            excluding += 1;
        }
    }
    assert!(dearer > 1 && excluding > 0, "{dearer} {excluding}");
}

/// The answer has a warning about an unknown attribute; a proof is about the plan alone.
#[test]
fn warnings_about_the_text_are_in_the_plan() {
    let text = TURNED.replacen("HloModule ", "HloModule newer_", 1).replacen("\n", ", newest=1\n", 1);
    let expected = json!(["unknown attribute `newest`, which is skipped: it may be of another version of XLA"]);
    let proof = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("newest.json");
    let proof = proof.to_str().unwrap();
    for options in [["--certificate", proof].as_slice(), &["--compare"]] {
        let arguments = [&["plan", "-", "--json", "--machine", "tpu_v5e"], options].concat();
        let found: Value = serde_json::from_slice(&run(&arguments, text.as_bytes()).stdout).unwrap();
        assert_eq!((&found["warnings"], &found["compare"]["warnings"]), (&expected, &Value::Null), "{found}");
    }
    assert!(!std::fs::read_to_string(proof).unwrap().contains("newest"));
    let line = json!({"op": "plan", "text": text, "machine": "tpu_v5e"}).to_string();
    let found: Value = serde_json::from_slice(&run(&["--json"], line.as_bytes()).stdout).unwrap();
    assert_eq!(found["warnings"], expected, "{found}");
}

#[test]
fn the_line_protocol_plans_and_solves() {
    let problem = r#"{"problem": {"name": "two", "nodes": {"intervals": [[0, 2], [1, 3]], "costs": [[3, 0], [0, 4]],
        "usages": [[6, 4], [7, 6]]}, "edges": {"nodes": [[0, 1]], "costs": [[0, 1, 5, 0]]}, "usage_limit": 100}}"#;
    let lines = [
        json!({"op": "plan", "id": 7, "text": TURNED, "machine": "tpu_v5e", "entry": "free", "compare": true}),
        json!({"op": "plan", "text": CHAIN, "machine": "tpu_v5e", "capacity": {"0": 1}}),
        json!({"op": "plan", "text": CHAIN, "machine": "tpu_v5e", "capacity": {"moon": 1}}),
        json!({"op": "plan", "text": CHAIN, "machine": "tpu_v55"}),
        json!({"op": "solve", "text": problem}),
        json!({"op": "solve", "text": "{"}),
    ];
    let input = lines.map(|line| line.to_string()).join("\n");
    let out = String::from_utf8(run(&["--json"], input.as_bytes()).stdout).unwrap();
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let at = |k: usize, key: &str| answers[k][key].clone();
    assert_eq!((at(0, "id"), at(0, "ok"), at(0, "cost")), (json!(7), json!(true), at(0, "bound")), "{out}");
    assert!(at(1, "error").as_str().unwrap().contains("more than its capacity 1"), "{out}");
    assert_eq!((at(2, "in"), at(3, "in")), (json!("capacity"), json!("machine")));
    assert_eq!((at(4, "cost"), at(4, "optimal"), at(4, "choices")), (json!(3), json!(true), json!([0, 0])), "{out}");
    assert_eq!((at(5, "ok"), at(5, "in")), (json!(false), json!("text")));
}

/// Each of three large values is read by one instruction; the file defines all three first.
const WIDE: &str = "HloModule wide
ENTRY main {
  x = f32[512,512] parameter(0)
  a = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[512,512] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  c = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  d = f32[512,8] custom-call(a), custom_call_target=\"f\"
  e = f32[512,8] custom-call(b), custom_call_target=\"f\"
  ROOT y = f32[512,8] custom-call(c, d, e), custom_call_target=\"f\"
}
";

/// The certificate of a plan in another order has that order, and accepts no other.
#[test]
fn a_plan_of_least_memory_says_its_order() {
    let text = file("wide.hlo", WIDE);
    let proof = file("wide.json", "");
    let asked = ["plan", &text, "--machine", "tpu_v5e", "--capacity", "vmem=0"];
    // Room for fewer than three of the large values beside the argument.
    let tight = ["--capacity", "hbm=4000000"];
    let (_, error, status) = outcome(&[&asked[..], &tight].concat());
    assert_eq!(status, Some(1));
    assert!(error.contains("no plan fits"), "{error}");
    let ordered = [&asked[..], &tight, &["--schedule", "least-memory"]].concat();
    let (out, error, status) = outcome(&[&ordered[..], &["--certificate", &proof]].concat());
    assert_eq!(status, Some(0), "{error}");
    assert!(out.contains("order   one of least memory, not that of the file\n"), "{out}");
    let (out, error, _) = outcome(&["check-plan", &text, &proof]);
    assert!(out.ends_with("both hold, and the plan has these layouts\n"), "{error}");
    let found = answer(&[&ordered[..], &["--json"]].concat());
    assert_eq!(found["schedule"], "least-memory");
    assert!(found["peak"]["0"].as_i64().unwrap() <= 4_000_000, "{found}");
    // Without its order, or in an invalid one, the proof is for another program.
    let certificate = fs::read_to_string(&proof).unwrap();
    let (head, rest) = certificate.split_once('\n').unwrap();
    let mut head: Value = serde_json::from_str(head).unwrap();
    let order: Vec<usize> = serde_json::from_value(head["orders"]["0"].clone()).unwrap();
    assert_eq!(order.len(), 7, "{order:?}");
    let mut refused = |orders: Value, message: &str| {
        head["orders"] = orders;
        fs::write(&proof, format!("{head}\n{rest}")).unwrap();
        let (_, error, status) = outcome(&["check-plan", &text, &proof]);
        assert!(status == Some(1) && error.contains(message), "{error}");
    };
    refused(json!({"0": [0, 4, 1, 2, 3, 5, 6]}), "the order of `main`: `a` must run before `d`, found it after that");
    refused(json!({}), "the plan: ");
    let line = json!({"op": "plan", "text": WIDE, "machine": "tpu_v5e", "capacity": {"vmem": 0, "hbm": 4_000_000},
        "schedule": "least-memory"});
    let out = String::from_utf8(run(&["--json"], line.to_string().as_bytes()).stdout).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["schedule"], "least-memory", "{out}");
}

/// Capacities of no bytes, and invalid capacities.
#[test]
fn capacities_of_nothing_are_answered() {
    let text = file("wide-none.hlo", WIDE);
    let wrong = |capacity: &str| {
        let (_, error, status) = outcome(&["plan", &text, "--machine", "tpu_v5e", "--capacity", capacity]);
        assert_eq!(status, Some(1), "{error}");
        error
    };
    assert!(wrong("hbm=0").contains("no plan fits: here `hbm` must hold"));
    assert!(wrong("hbm=-1").contains("expected a number of bytes from 0 to 288230376151711744, found `-1`"));
    assert!(wrong("hbm=99999999999999999999").contains("expected a number of bytes from 0"));
    assert!(wrong("hbn=1").contains("unknown memory `hbn`; did you mean `hbm`?"));
    assert!(wrong("hbm").contains("expected `=` and the bytes of the memory"));
    assert!(wrong("9=1").contains("memory space"));
    // All values are in the large memory.
    let (out, error, status) = outcome(&["plan", &text, "--machine", "tpu_v5e", "--capacity", "vmem=0"]);
    assert!(status == Some(0) && !out.contains("vmem "), "{out}{error}");
}

/// Each array of a tuple has layouts of its own, whatever instruction makes the tuple.
#[test]
fn tuples_of_all_kinds_are_planned_on_all_machines() {
    crate::long_test!();
    let text = "HloModule tuples
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  p = (f32[2,3]{1,0}, (s32[5]{0}, f32[])) parameter(0)
  c = (f32[2,3]{1,0}, (f32[2]{0}, (s32[4,5,6]{2,1,0}))) constant(({...}, ({1,2}, ({...}))))
  n = (f32[], ()) constant((1, ()))
  tok = token[] after-all()
  inf = ((f32[3,4]{1,0}, s32[7]{0}), token[]) infeed(tok)
  cc = (f32[2,3]{1,0}, (bf16[7]{0}, token[]), opaque[]) custom-call(p), custom_call_target=\"f\"
  st = u64[2]{0} constant({1,2})
  rng = (u64[2]{0}, u32[3,5]{1,0}) rng-bit-generator(st), algorithm=rng_philox
  k = f32[4,9]{1,0} parameter(1)
  v = s32[<=4,9]{1,0} parameter(2)
  w = s32[4,9]{1,0} iota(), iota_dimension=0
  so = (f32[4,9]{1,0}, s32[4,9]{1,0}) sort(k, w), dimensions={1}, to_apply=less
  all = ((f32[4,9]{1,0}, s32[4,9]{1,0}), (f32[2,3]{1,0}, (s32[5]{0}, f32[])), s32[<=4,9]{1,0}) tuple(so, p, v)
  bar = ((f32[4,9]{1,0}, s32[4,9]{1,0}), (f32[2,3]{1,0}, (s32[5]{0}, f32[])), s32[<=4,9]{1,0}) opt-barrier(all)
  cp = (f32[2,3]{1,0}, (s32[5]{0}, f32[])) copy(p)
  ROOT r = (((f32[4,9]{1,0}, s32[4,9]{1,0}), (f32[2,3]{1,0}, (s32[5]{0}, f32[])), s32[<=4,9]{1,0}), (f32[2,3]{1,0}, (f32[2]{0}, (s32[4,5,6]{2,1,0}))), (u64[2]{0}, u32[3,5]{1,0}), ((f32[3,4]{1,0}, s32[7]{0}), token[]), (f32[2,3]{1,0}, (bf16[7]{0}, token[]), opaque[]), (f32[], ()), (f32[2,3]{1,0}, (s32[5]{0}, f32[]))) tuple(bar, c, rng, inf, cc, n, cp)
}
";
    let (own, proof) = (file("tuples.hlo", text), file("tuples.json", ""));
    let constants = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/hlo/small/constants.hlo").to_string();
    for machine in ["tpu_v5e", "cpu", "mn_core", "mn_core_2", "tpu_v5e_8"] {
        for file in [&own, &constants] {
            let found = answer(&["plan", file, "--machine", machine, "--json", "--certificate", &proof]);
            assert_eq!(found["cost"], found["bound"], "{machine}");
            let (_, error, status) = outcome(&["check-plan", file, &proof]);
            assert_eq!(status, Some(0), "{machine}: {error}");
        }
        let wrong = machine.starts_with("mn_") || machine.ends_with("_8");
        let (out, error, status) = outcome(&["hlo", &own, "--machine", machine, "--html", "-", "--plan"]);
        assert_eq!((status, out.contains("<h2 id=\"plan\">")), (Some(i32::from(wrong)), !wrong), "{machine}: {error}");
    }
}

/// Three outcomes: a plan, a proof that none fits, and no decision in the time.
#[test]
fn what_was_not_decided_in_the_time_is_said_as_such() {
    let (hlo, line) = (file("undecided.hlo", CHAIN), |seconds: f64, bytes: i64| {
        json!({"op": "plan", "text": CHAIN, "machine": "tpu_v5e", "seconds": seconds, "capacity": {"hbm": bytes}})
            .to_string()
    });
    let lines = [line(9.0, 65536), line(9.0, 8191), line(0.0, 65536)].join("\n");
    let out = String::from_utf8(run(&["--json"], lines.as_bytes()).stdout).unwrap();
    let found: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&found[0]["ok"], &found[0]["left"]), (&json!(true), &Value::Null), "{out}");
    for (answer, kind, text) in [(&found[1], "invalid", "no plan fits"), (&found[2], "undecided", "not decided")] {
        assert_eq!((&answer["ok"], &answer["kind"]), (&json!(false), &json!(kind)), "{out}");
        assert!(answer["error"].as_str().unwrap().starts_with(text), "{out}");
    }
    let (_, error, status) = outcome(&["plan", &hlo, "--machine", "tpu_v5e", "--seconds", "0"]);
    assert!(
        status == Some(1) && error.contains("error: not decided: the search ended before it had a plan"),
        "{error}"
    );
    // The page has the report all the same, and the reason why it has no plan.
    let (page, error, status) = outcome(&["hlo", &hlo, "--html", "-", "--plan", "--seconds", "0"]);
    assert!(status == Some(1) && error.contains("not decided"), "{error}");
    assert!(page.contains("<p>There is no plan for <code>tpu_v5e</code>: <code>not decided"), "{page}");
}

/// A name that is in the program gets the reason, and no suggestion.
#[test]
fn layouts_of_tuples_are_not_explained() {
    let text = "HloModule m\nENTRY main {\n  x = f32[8,128] parameter(0)\n  y = f32[8,128] negate(x)\n  ROOT both = (f32[8,128], f32[8,128]) tuple(x, y)\n}\n";
    let file = file("tuple.hlo", text);
    let asked = ["plan", &file, "--machine", "tpu_v5e", "--why"];
    let (_, error, status) = outcome(&[&asked[..], &["both"]].concat());
    assert_eq!(status, Some(1), "{error}");
    assert!(
        error.contains("for an instruction `both`: it makes a tuple") && !error.contains("did you mean"),
        "{error}"
    );
    let (_, error, _) = outcome(&[&asked[..], &["bot"]].concat());
    assert!(error.contains("; did you mean `both`?"), "{error}");
}
