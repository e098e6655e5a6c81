//! Failures of the line protocol: in every operation, each member is spoilt in turn. The failure names the member and
//! the kind of the fault. The members come from the schema.

use crate::program::run;
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::LazyLock};

const MODULE: &str =
    "HloModule m\nENTRY e {\n  x = f32[8,4]{1,0} parameter(0)\n  ROOT y = f32[8,4]{1,0} negate(x)\n}\n";

/// A request that succeeds.
pub type Request = Value;

/// A member, wrong values for it, and the kind of the fault.
pub type Spoilt = (&'static str, Vec<Value>, &'static str);

const LAYOUT: &str = "f32[3,5]{1,0:T(2,2)}";
const MAP: &str = "(d0) -> (d0 mod 4), domain: d0 in [0, 9]";

fn shape(name: &'static str) -> Spoilt {
    (name, vec![json!("f33[2]")], "unknown")
}

fn open(name: &'static str) -> Spoilt {
    (name, vec![json!("f32[2")], "syntax")
}

fn machine() -> Spoilt {
    ("machine", vec![json!("tpu_v5"), json!("mn_cor")], "unknown")
}

/// Requests that together have each member of each operation, with wrong values for them.
pub fn operations() -> Vec<(Request, Vec<Spoilt>)> {
    [layout_requests(), map_requests(), move_requests(), module_requests()].concat()
}

/// Requests about layouts.
fn layout_requests() -> Vec<(Request, Vec<Spoilt>)> {
    let index = || ("index", vec![json!([3, 0]), json!([0]), json!([-1, 0])], "invalid");
    vec![
        (json!({"op": "layout", "text": LAYOUT}), vec![shape("text"), open("text")]),
        (json!({"op": "layouts", "text": "f32[2,3]", "machine": "cpu"}), vec![shape("text"), machine()]),
        (json!({"op": "draw", "text": LAYOUT}), vec![shape("text"), open("text")]),
        (json!({"op": "linear_index", "text": LAYOUT, "index": [2, 3]}), vec![shape("text"), open("text"), index()]),
        (
            json!({"op": "logical_index", "text": LAYOUT, "linear": 3}),
            vec![shape("text"), ("linear", vec![json!(24), json!(-1)], "invalid")],
        ),
        (
            json!({"op": "logical_index", "text": "(2:3, 2:2)", "linear": 1}),
            vec![("linear", vec![json!(6)], "invalid")],
        ),
        (json!({"op": "place", "text": LAYOUT, "index": [2, 3]}), vec![open("text"), index()]),
        (
            json!({"op": "place", "text": "((4_PE, 3:8), (8:1))", "index": [2, 3]}),
            vec![("index", vec![json!([12, 0])], "invalid")],
        ),
        (json!({"op": "equal", "a": LAYOUT, "b": LAYOUT}), vec![shape("a"), open("b")]),
        (
            json!({"op": "algebra", "of": "(4,8):(8,1) o 4:2"}),
            vec![("of", vec![json!("4:2 o"), json!("(4")], "syntax")],
        ),
        (
            json!({"op": "equal", "a": "((8:1))", "b": "f32[8]"}),
            vec![("b", vec![json!("(f32[8])")], "invalid"), ("b", vec![json!("f32[8]{0:SC(0:1)}")], "unsupported")],
        ),
        (json!({"op": "equal", "a": "f32[8]", "b": "((8:1))"}), vec![("a", vec![json!("token[]")], "invalid")]),
    ]
}

/// Requests about indexing maps and views.
fn map_requests() -> Vec<(Request, Vec<Spoilt>)> {
    vec![
        (json!({"op": "equal", "a": MAP, "b": MAP}), vec![("b", vec![json!("() -> (d0)")], "unknown")]),
        (json!({"op": "simplify", "map": MAP, "explain": true}), vec![("map", vec![json!("(d0) -> (d1)")], "unknown")]),
        (
            json!({"op": "compose", "maps": [MAP, MAP]}),
            vec![("maps", vec![json!([]), json!([MAP, "() -> ()"])], "invalid")],
        ),
        (
            json!({"op": "evaluate", "map": MAP, "point": {"d0": 1}}),
            vec![
                ("map", vec![json!("(d0) -> (d1)")], "unknown"),
                ("point", vec![json!({"d1": 1})], "unknown"),
                ("point", vec![json!({})], "invalid"),
            ],
        ),
        (
            json!({"op": "view", "text": "(2:3, 3:1)", "reshape": [6]}),
            vec![("text", vec![json!("(2:3")], "syntax"), ("reshape", vec![json!([7]), json!([-6])], "invalid")],
        ),
        (
            json!({"op": "view", "text": "(2:3, 3:1)", "transpose": [1, 0]}),
            vec![("transpose", vec![json!([1, 1]), json!([0]), json!([0, 2])], "invalid")],
        ),
        (
            json!({"op": "view", "text": "(2:3, 3:1)", "slice": [[0, 2, 1], [1, 3, 1]]}),
            vec![("slice", vec![json!([]), json!([[0, 3, 1], [1, 3, 1]]), json!([[0, 2, 0], [1, 3, 1]])], "invalid")],
        ),
    ]
}

/// Requests about moves between layouts, and about notations.
fn move_requests() -> Vec<(Request, Vec<Spoilt>)> {
    let mut levels = json!({"op": "convert", "from": "((4_PE, 3:8), (8:1))", "to": "((12:2), (4_PE, 2:1))"});
    levels["machine"] = json!("mn_core");
    levels["element"] = json!("f32");
    let notation = json!({"op": "convert", "from": "f32[16,256]{1,0:T(8,128)}", "notation": "cute"});
    vec![
        (
            json!({"op": "moves", "from": "f32[8,128]{1,0}", "to": "f32[128,8]{1,0}", "transpose": [1, 0]}),
            vec![
                shape("from"),
                open("to"),
                ("to", vec![json!("f32[128,9]{1,0}"), json!("s8[128,8]{1,0}")], "invalid"),
                ("transpose", vec![json!([0, 0]), json!([1]), json!([0, 2])], "invalid"),
            ],
        ),
        (
            json!({"op": "moves", "from": "f32[8,128]{1,0}", "to": "f32[4,128]{0,1}", "copies": {"start": [2, 0]}}),
            vec![("copies", vec![json!({"start": [5, 0]}), json!({"start": [0]}), json!({"rank": 0})], "invalid")],
        ),
        (
            levels,
            vec![
                ("from", vec![json!("((4_PE")], "syntax"),
                ("to", vec![json!("((12:2)")], "syntax"),
                ("to", vec![json!("((12:1))"), json!("((13:2), (4_PE, 2:1))")], "invalid"),
                ("element", vec![json!("f33")], "unknown"),
                ("element", vec![json!("token")], "invalid"),
                machine(),
            ],
        ),
        (
            notation,
            vec![shape("from"), ("notation", vec![json!("cutes")], "unknown"), ("to", vec![json!("(2:1)")], "both")],
        ),
    ]
}

/// Requests about programs and machines.
fn module_requests() -> Vec<(Request, Vec<Spoilt>)> {
    let seconds = || ("seconds", vec![json!(-1)], "invalid");
    let problem = "{\"problem\": {\"name\": \"one\", \"nodes\": {\"intervals\": [[0, 1]], \"costs\": [[3, 2]], \
        \"usages\": [[0, 0]]}, \"edges\": {\"nodes\": [], \"costs\": []}, \"usage_limit\": 0}}";
    vec![
        (
            json!({"op": "hlo", "text": MODULE, "instruction": "y", "tile": [4, 4]}),
            vec![
                ("text", vec![json!("")], "syntax"),
                ("instruction", vec![json!("z")], "unknown"),
                ("tile", vec![json!([0, 4]), json!([4])], "invalid"),
            ],
        ),
        (
            json!({"op": "hlo", "text": MODULE, "summary": true, "top": 1, "machine": "cpu", "schedule": "least-memory"}),
            vec![("text", vec![json!("HloModul")], "syntax"), machine()],
        ),
        (
            json!({"op": "hlo", "text": MODULE, "html": true, "plan": true, "entry": "free", "seconds": 9,
                "assignment": "BufferAssignment:"}),
            vec![
                ("assignment", vec![json!("HloModule")], "syntax"),
                ("text", vec![json!("HloModul")], "syntax"),
                ("entry", vec![json!("fre")], "unknown"),
                seconds(),
            ],
        ),
        (json!({"op": "hlo", "text": MODULE, "old": MODULE}), vec![("old", vec![json!("HloModul")], "syntax")]),
        (
            json!({"op": "dump", "files": [{"name": "step.hlo", "bytes": 1}]}),
            vec![("files", vec![json!([]), json!([{"name": "step.pb", "bytes": 1}])], "invalid")],
        ),
        (
            json!({"op": "plan", "text": MODULE, "machine": "tpu_v5e", "entry": "free", "capacity": {"hbm": 1_000_000},
                "unlimited": false, "stay": true, "room_for_steps": true, "schedule": "file", "seconds": 9, "compare": true}),
            vec![
                ("text", vec![json!("HloModul")], "syntax"),
                machine(),
                ("entry", vec![json!("fre")], "unknown"),
                ("schedule", vec![json!("last")], "unknown"),
                ("capacity", vec![json!({"hbn": 1})], "unknown"),
                ("capacity", vec![json!({"hbm": -1})], "invalid"),
                seconds(),
            ],
        ),
        (
            json!({"op": "solve", "text": problem, "seconds": 9}),
            vec![("text", vec![json!("{"), json!("{}")], "any"), seconds()],
        ),
        (
            json!({"op": "offsets", "text": "id,lower,upper,size\na,0,2,100", "capacity": 100, "alignment": 1, "steps": 9}),
            vec![
                ("text", vec![json!("id,lower"), json!("id,lower,upper,size\na,2,2,1")], "any"),
                ("capacity", vec![json!(-1)], "invalid"),
                ("alignment", vec![json!(0)], "invalid"),
            ],
        ),
        (
            json!({"op": "check_plan", "text": MODULE, "certificate": &*CERTIFICATE}),
            vec![
                ("text", vec![json!("HloModul")], "syntax"),
                ("certificate", vec![json!("{}"), json!("{}\ncertificate")], "syntax"),
                ("certificate", vec![json!(CERTIFICATE.replacen("\"cost\":", "\"cost\":1", 1))], "invalid"),
            ],
        ),
        (json!({"op": "machine", "machine": "cpu", "measure": false}), vec![machine()]),
        (json!({"op": "version"}), vec![("version", vec![json!(2), json!("1")], "invalid")]),
    ]
}

/// The certificate of the module, from `plan --certificate`.
static CERTIFICATE: LazyLock<String> = LazyLock::new(|| {
    let file = |name: &str| format!("{}/members-{name}-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    let (module, proof) = (file("module"), file("proof"));
    std::fs::write(&module, MODULE).unwrap();
    let output = run(&["plan", &module, "--machine", "tpu_v5e", "--certificate", &proof], b"");
    assert!(output.status.success(), "{output:?}");
    std::fs::read_to_string(proof).unwrap()
});

/// The last answer to each request.
fn answers(requests: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = requests
        .iter()
        .enumerate()
        .map(|(k, request)| {
            let mut request = request.clone();
            request["id"] = json!(k);
            request.to_string()
        })
        .collect();
    let output = run(&["--json"], lines.join("\n").as_bytes());
    assert!(output.status.success(), "{output:?}");
    let mut last = vec![Value::Null; requests.len()];
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        let id = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
        last[id] = answer;
    }
    last
}

/// The members of each operation, and the required ones.
fn members() -> Vec<(String, Vec<String>, Vec<String>)> {
    let schema: Value = serde_json::from_slice(&run(&["--schema"], b"").stdout).unwrap();
    let requests = schema["$defs"]["Request"]["oneOf"].as_array().unwrap().clone();
    let of = |request: &Value| {
        let name = request["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        let own = &schema["$defs"][name];
        let op = request["properties"]["op"]["const"].as_str().unwrap().to_string();
        let required = own["required"].as_array().cloned().unwrap_or_default();
        let required = required.iter().map(|name| name.as_str().unwrap().to_string()).collect();
        let empty = serde_json::Map::new();
        (op, own["properties"].as_object().unwrap_or(&empty).keys().cloned().collect(), required)
    };
    requests.iter().map(of).collect()
}

#[test]
fn a_wrong_value_is_of_its_member() {
    let operations = operations();
    let (requests, _): (Vec<_>, Vec<_>) = operations.iter().cloned().unzip();
    for (request, answer) in requests.iter().zip(answers(&requests)) {
        assert_eq!(answer["ok"], true, "{request}: {answer}");
    }
    let mut tried = Vec::new();
    for (request, spoilt) in &operations {
        for (member, values, kind) in spoilt {
            for value in values {
                let mut wrong = request.clone();
                wrong[member] = value.clone();
                tried.push((wrong, *member, *kind));
            }
        }
    }
    let wrong: Vec<Value> = tried.iter().map(|(wrong, ..)| wrong.clone()).collect();
    for ((wrong, member, kind), answer) in tried.iter().zip(answers(&wrong)) {
        // If two exclusive members are given, the second is at fault.
        let (member, kind) = if *kind == "both" { ("notation", "invalid") } else { (*member, *kind) };
        assert_eq!((&answer["ok"], &answer["in"]), (&json!(false), &json!(member)), "{wrong}: {answer}");
        assert!(kind == "any" || answer["kind"] == kind, "{wrong}: {answer}");
        let error = answer["error"].as_str().unwrap();
        assert!(!error.starts_with("--") && !error.contains("`permutation`"), "in the words of the protocol: {answer}");
    }
}

#[test]
fn a_value_of_another_type_is_of_its_member() {
    let operations = operations();
    let mut seen = BTreeSet::new();
    let mut tried = Vec::new();
    for (request, _) in &operations {
        let op = request["op"].as_str().unwrap();
        let (_, members, required) = members().into_iter().find(|(name, ..)| name == op).unwrap();
        for member in &members {
            if request.get(member).is_none() {
                continue;
            }
            seen.insert((op.to_string(), member.clone()));
            for value in [json!({"a": []}), json!([[[1.5]]]), json!(true), json!(1.5), json!("1"), json!(null)] {
                let mut wrong = request.clone();
                wrong[member] = value;
                tried.push((wrong, member.clone()));
            }
            let mut without = request.clone();
            without.as_object_mut().unwrap().remove(member);
            if required.contains(member) {
                tried.push((without, member.clone()));
            }
        }
    }
    let all: BTreeSet<_> =
        members().iter().flat_map(|(op, members, _)| members.iter().map(|m| (op.clone(), m.clone()))).collect();
    assert_eq!(all, seen, "each member of each operation is spoilt");
    let wrong: Vec<Value> = tried.iter().map(|(wrong, _)| wrong.clone()).collect();
    let mut refused = BTreeSet::new();
    for ((wrong, member), answer) in tried.iter().zip(answers(&wrong)) {
        if answer["ok"] == false {
            refused.insert((wrong["op"].as_str().unwrap().to_string(), member.clone()));
            // If one of several members must be given and none is, the first is at fault.
            let first =
                ["reshape", "to"].contains(&answer["in"].as_str().unwrap()) && wrong.get(member) == Some(&Value::Null);
            assert!(answer["in"] == json!(member) || first, "{wrong}: {answer}");
            assert!(answer["kind"].is_string(), "{answer}");
        }
    }
    assert_eq!(all, refused, "no member takes every type");
}

#[test]
fn a_member_that_an_operation_does_not_have_changes_nothing() {
    let operations = operations();
    let requests: Vec<Value> = operations.into_iter().map(|(request, _)| request).collect();
    let more = requests.iter().map(|request| {
        let mut request = request.clone();
        request["of_another_version"] = json!([1]);
        request
    });
    let timeless = |answers: Vec<Value>| -> Vec<Value> {
        let mut answers = answers;
        answers.iter_mut().for_each(|answer| answer.as_object_mut().unwrap().retain(|key, _| key != "ns"));
        answers
    };
    assert_eq!(timeless(answers(&requests)), timeless(answers(&more.collect::<Vec<_>>())));
}

#[test]
fn a_number_that_does_not_fit_is_too_large() {
    for (request, member, kind) in [
        (r#"{"op":"logical_index","text":"f32[]","linear":9223372036854775808}"#, Some("linear"), "too large"),
        (r#"{"op":"logical_index","text":"f32[]","linear":123456789012345678901234567890}"#, Some("linear"), "invalid"),
        (r#"{"op":"layout","text":"f32[9223372036854775808]"}"#, Some("text"), "too large"),
        (r#"{"op":"dance"}"#, Some("op"), "unknown"),
        (r#"{"op":3}"#, Some("op"), "invalid"),
        (r#"{"op":"layout","op":"layout","text":"f32[]"}"#, Some("op"), "invalid"),
        (r#"{"op":"layout","text":"f32[]","text":"f32[]"}"#, Some("text"), "invalid"),
        (r#"{"op":"evaluate","map":"(d0) -> (d0)","point":{"d0":1,"d0":2}}"#, Some("point"), "invalid"),
        (r#"{"op":"version","version":3}"#, Some("version"), "invalid"),
        ("[]", None, "invalid"),
        ("{", None, "syntax"),
    ] {
        let output = run(&["--json"], request.as_bytes());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let member = member.map_or(Value::Null, |member| json!(member));
        assert_eq!(
            (&answer["ok"], &answer["in"], &answer["kind"]),
            (&json!(false), &member, &json!(kind)),
            "{request}: {answer}"
        );
    }
}
