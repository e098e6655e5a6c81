//! The line protocol, through the program itself.

use crate::program::{file, outcome, run};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::sync::LazyLock;
use tensor_layout::notations::Notation;
use tensor_layout::places::READY;

/// The schema of the protocol, as validators of lines.
struct Schema {
    request: Validator,
    answer: Validator,
}

impl Schema {
    fn new() -> Schema {
        let text = String::from_utf8(run(&["--schema"], b"").stdout).unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap();
        let part = |name: &str| {
            let schema = json!({"$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"].clone()});
            jsonschema::validator_for(&schema).unwrap()
        };
        Schema { request: part("Request"), answer: part("Answer") }
    }

    /// Checks that every answer fits the schema, and that every line that is no request by the schema has failed.
    fn check(&self, input: &[u8], answers: &[Value]) {
        let lines = input.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        for (line, answer) in lines.zip(answers) {
            let errors: Vec<_> = self.answer.iter_errors(answer).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{answer}: {errors:?}");
            let request = serde_json::from_slice(line).is_ok_and(|line| self.request.is_valid(&line));
            assert!(request || answer["ok"] == false, "{}: {answer}", String::from_utf8_lossy(line));
        }
    }
}

/// The answers to these lines; the program must serve them all and succeed, and all must fit the schema.
fn answers(input: &[u8]) -> Vec<Value> {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::new);
    let output = run(&["--json"], input);
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let output = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    SCHEMA.check(input, &answers);
    answers
}

/// `docs/protocol.schema.json` is the program's output; `BLESS=1` writes it.
#[test]
fn the_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol.schema.json");
    let printed = String::from_utf8(run(&["--schema"], b"").stdout).unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &printed).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == printed, "{path} is out of date: BLESS=1 cargo test -p layout-inspect --test inspect");
}

#[test]
fn the_schema_is_strict() {
    let schema = Schema::new();
    for wrong in [
        json!({}),
        json!([]),
        json!({"linear": 3}),
        json!({"ok": false}),
        json!({"ok": true}),
        json!({"ok": false, "linear": 3}),
        json!({"ok": true, "linear": "3"}),
        json!({"ok": true, "linear": 3, "more": 0}),
        json!({"ok": true, "padding": false}),
        json!({"ok": true, "printed": "f32[]"}),
        json!({"ok": true, "reason": "equal is missing"}),
        json!({"ok": false, "error": "wrong"}),
        json!({"ok": false, "error": "wrong", "kind": "bad"}),
        json!({"ok": false, "error": "wrong", "kind": "invalid", "at": -1}),
    ] {
        assert!(!schema.answer.is_valid(&wrong), "{wrong}");
    }
    for wrong in [
        json!({"op": "dance"}),
        json!({"text": "f32[]"}),
        json!({"op": "layout"}),
        json!({"op": "layout", "text": 3}),
        json!({"op": "linear_index", "text": "f32[2]", "index": [0.5]}),
        json!({"op": "evaluate", "map": "() -> ()", "point": []}),
    ] {
        assert!(!schema.request.is_valid(&wrong), "{wrong}");
    }
    assert!(schema.request.is_valid(&json!({"op": "layout", "text": "f32[]", "id": [1], "unknown": 0})));
}

#[test]
fn an_answer_is_a_line_with_its_keys_in_alphabetical_order() {
    for (request, expected) in [
        (
            r#"{"op":"convert","from":"f32[16,256]{1,0:T(8,128)}","notation":"cute"}"#,
            r#"{"ok":true,"text":"((8,2),(128,2)):((128,2048),(1,1024))"}"#,
        ),
        (
            r#"{"op":"convert","from":"(8,4):(1,0)","notation":"cute"}"#,
            r#"{"at":9,"error":"a stride must be at least 1, found 0: 4 elements share a place","in":"from","kind":"invalid","ok":false}"#,
        ),
        (
            r#"{"op":"convert","from":"8:1","notation":"cutes"}"#,
            r#"{"at":0,"error":"unknown notation `cutes`; did you mean `cute`?","in":"notation","kind":"unknown","ok":false}"#,
        ),
        (
            r#"{"op":"convert","from":"8:1","to":"8:1","notation":"cute"}"#,
            r#"{"error":"one of `to` and `notation` must be given","in":"notation","kind":"invalid","ok":false}"#,
        ),
        (
            r#"{"op":"algebra","of":"(6,2):(8,2) o (4,3):(3,1)"}"#,
            r#"{"axes":[],"layout":"((2,2),3):((24,2),8)","ok":true,"size":12,"sizes":[4,3]}"#,
        ),
        (
            r#"{"op":"algebra","of":"4:1 == 4:2"}"#,
            r#"{"equal":false,"ok":true,"reason":"index 1 is at 1 and 2","witness":[1]}"#,
        ),
        (
            r#"{"op":"algebra","of":"relayout((4,4):(1@lane,1), (4,4):(1,1@lane))"}"#,
            r#"{"elements":16,"levels":[{"axis":"lane","moved":12},{"axis":null,"moved":0}],"ok":true}"#,
        ),
        (r#"{"op":"algebra","of":"vectors((8,8):(1@lane,1), (8,8):(8,1))"}"#, r#"{"accesses":2,"ok":true,"width":4}"#),
        (r#"{"op":"algebra","of":"banks((32,32):(32,1))"}"#, r#"{"accesses":32,"index":0,"ok":true,"ways":32}"#),
        (
            r#"{"op":"algebra","of":"complement((2,2):(1,6), 7)"}"#,
            r#"{"at":11,"error":"the complement must be within at least 8 places, which (2,2):(1,6) reaches, found 7","in":"of","kind":"invalid","ok":false}"#,
        ),
        (r#"{"op":"linear_index","text":"f32[3,5]{1,0:T(2,2)}","index":[2,3]}"#, r#"{"linear":17,"ok":true}"#),
        (
            r#"{"op":"layout","text":"s8[2]","id":7}"#,
            concat!(
                r#"{"expanded":[2],"id":7,"logical_bytes":2,"logical_elements":2,"#,
                r#""map":"(d0) -> (d0), domain: d0 in [0, 1]","memory_space":0,"#,
                r#""offset_map":"(d0) -> (d0), domain: d0 in [0, 1]","ok":true,"padded_bytes":2,"padded_elements":2,"#,
                r#""printed":"s8[2]{0}","strides":[1]}"#
            ),
        ),
        (
            r#"{"op":"logical_index","text":"token[]","linear":0,"id":{"b":[1,null],"a":"x"}}"#,
            r#"{"error":"`token` has no offsets","id":{"a":"x","b":[1,null]},"in":"text","kind":"invalid","ok":false}"#,
        ),
        (r#"{"op":"dance","id":null}"#, r#"{"error":"#),
        (r#"{"id":"a"}"#, r#"{"error":"`op` is missing","id":"a","in":"op","kind":"invalid","ok":false}"#),
    ] {
        let output = String::from_utf8(run(&["--json"], request.as_bytes()).stdout).unwrap();
        assert!(output.starts_with(expected), "{request}: {output}");
        assert!(!expected.ends_with('}') || output == format!("{expected}\n"), "{request}: {output}");
    }
}

#[test]
fn a_field_of_the_wrong_type_is_named() {
    for (request, expected) in [
        ("[1]", "a request must be an object, found a list"),
        ("3", "a request must be an object, found 3"),
        ("[\"layout\", \"f32[]\"]", "a request must be an object, found a list"),
        ("{\"op\":3}", "`op` must be a string, found 3"),
        ("{\"op\":null}", "`op` must be a string, found null"),
        ("{\"op\":\"layout\",\"op\":\"place\"}", "`op` must be given once, found it twice"),
        ("{\"id\":1,\"id\":1,\"op\":\"layout\",\"text\":\"f32[]\"}", "`id` must be given once, found it twice"),
        ("{\"op\":\"layout\",\"text\":\"f32[]\",\"text\":\"f32[]\"}", "`text` must be given once, found it twice"),
        ("{\"op\":\"layout\",\"text\":null}", "`text` must be a string, found null"),
        ("{\"op\":\"layout\",\"text\":{\"a\":1}}", "`text` must be a string, found an object"),
        ("{\"op\":\"layout\",\"text\":[]}", "`text` must be a string, found a list"),
        ("{\"op\":\"layout\",\"text\":true}", "`text` must be a string, found true"),
        (
            "{\"op\":\"logical_index\",\"text\":\"f32[]\",\"linear\":\"0, expected `1`\"}",
            "`linear` must be a 64-bit integer, found a string",
        ),
        (
            "{\"op\":\"logical_index\",\"text\":\"f32[]\",\"linear\":9223372036854775808}",
            "`linear` must be a 64-bit integer, found 9223372036854775808",
        ),
        (
            "{\"op\":\"logical_index\",\"text\":\"f32[]\",\"linear\":123456789012345678901234567890}",
            "`linear` must be a 64-bit integer, found 1.2345678901234568e+29",
        ),
        (
            "{\"op\":\"logical_index\",\"text\":\"f32[]\",\"linear\":1.0}",
            "`linear` must be a 64-bit integer, found 1.0",
        ),
        (
            "{\"op\":\"hlo\",\"text\":\"\",\"summary\":true,\"top\":-1}",
            "`top` must be a 64-bit integer from 0, found -1",
        ),
        ("{\"op\":", "not JSON: EOF while parsing a value at line 1 column 6"),
        ("{\"op\":\"simplify\",\"map\":\"() -> ()\",\"explain\":1}", "`explain` must be true or false, found 1"),
        ("{\"op\":\"evaluate\",\"map\":\"() -> ()\",\"point\":[]}", "`point` must be an object, found a list"),
        (
            "{\"op\":\"evaluate\",\"map\":\"(d0) -> (d0)\",\"point\":{\"d0\":\"1\"}}",
            "`point.d0` must be a 64-bit integer, found a string",
        ),
        (
            "{\"op\":\"evaluate\",\"map\":\"(d0) -> (d0)\",\"point\":{\"d0\":1,\"d0\":2}}",
            "`d0` must be given once, found it twice",
        ),
        (
            "{\"op\":\"linear_index\",\"text\":\"f32[2]\",\"index\":{\"0\":1}}",
            "`index` must be a list, found an object",
        ),
        (
            "{\"op\":\"plan\",\"text\":\"\",\"machine\":\"tpu_v5e\",\"entry\":\"fre\"}",
            "`entry` must be fixed, default or free, found `fre`",
        ),
    ] {
        let found = answers(request.as_bytes()).remove(0);
        assert_eq!((&found["ok"], &found["error"]), (&json!(false), &json!(expected)), "{request}");
    }
}

/// Numbers beyond `f64`, strings that are no text, and nesting deeper than any stack.
#[test]
fn what_no_value_holds_is_refused() {
    for request in [
        "{\"op\":\"logical_index\",\"text\":\"f32[]\",\"linear\":1e999}".to_string(),
        "{\"op\":\"layout\",\"text\":\"\\ud800\"}".to_string(),
        "{\"op\":\"layout\",\"text\":\"f32[]\"} {}".to_string(),
        format!("{{\"id\":{}", "[".repeat(1_000_000)),
        format!("{{\"op\":\"layout\",\"text\":{}1{}}}", "[".repeat(200), "]".repeat(200)),
        format!("{{\"op\":\"evaluate\",\"map\":\"() -> ()\",\"point\":{}", "{\"a\":".repeat(1_000_000)),
    ] {
        assert_eq!(answers(request.as_bytes())[0]["ok"], false, "{:.80}", request);
    }
}

/// A failure without its kind and its member where these are not expected; `members.rs` tests them.
fn brief(mut found: Value, expected: &Value) -> Value {
    for key in ["kind", "in"] {
        if found["ok"] == false && expected.get(key).is_none() {
            drop(found.as_object_mut().unwrap().remove(key));
        }
    }
    found
}

fn answer(request: &Value) -> Value {
    answers(request.to_string().as_bytes()).remove(0)
}

#[test]
fn layout() {
    let found = answer(&json!({"op": "layout", "text": " f32[3,5] {1,0:T(2,2)L(16)S(1)}"}));
    let mut expected = json!({
        "ok": true, "printed": "f32[3,5]{1,0:T(2,2)L(16)S(1)}", "logical_elements": 15, "logical_bytes": 60,
        "padded_elements": 32, "padded_bytes": 128, "expanded": [2, 3, 2, 2], "strides": [12, 4, 2, 1],
        "memory_space": 1,
        "map": "(d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2), domain: d0 in [0, 2], d1 in [0, 4]",
    });
    expected["offset_map"] = found["offset_map"].clone();
    assert_eq!(found, expected);
    assert!(found["offset_map"].as_str().unwrap().starts_with("(d0, d1) -> ("), "{found}");

    let scalar = answer(&json!({"op": "layout", "text": "f32[]"}));
    assert_eq!((&scalar["map"], &scalar["offset_map"]), (&json!("() -> ()"), &json!("() -> (0)")));
    assert_eq!((&scalar["expanded"], &scalar["padded_bytes"]), (&json!([]), &json!(4)));

    for text in ["(f32[2]{0}, token[])", "token[]", "opaque[]", "f32[?]{0}"] {
        let found = answer(&json!({"op": "layout", "text": text}));
        let expected = json!({
            "ok": true, "printed": text, "logical_elements": null, "logical_bytes": null, "padded_elements": null,
            "padded_bytes": null, "expanded": null, "strides": null, "memory_space": null, "map": null,
            "offset_map": null,
        });
        assert_eq!(found, expected, "{text}");
    }
    let cut = answer(&json!({"op": "layout", "text": "f32[6]{0:SC(0:1)}"}));
    assert_eq!((&cut["padded_elements"], &cut["map"]), (&json!(5), &Value::Null));
}

#[test]
fn offsets() {
    let text = "f32[3,5]{1,0:T(2,2)L(16)}";
    for (request, expected) in [
        (json!({"op": "linear_index", "text": text, "index": [2, 3]}), json!({"ok": true, "linear": 17})),
        (json!({"op": "logical_index", "text": text, "linear": 17}), json!({"ok": true, "index": [2, 3]})),
        (json!({"op": "logical_index", "text": text, "linear": 9}), json!({"ok": true, "padding": true})),
        (json!({"op": "logical_index", "text": text, "linear": 31}), json!({"ok": true, "padding": true})),
        (json!({"op": "linear_index", "text": "f32[]", "index": []}), json!({"ok": true, "linear": 0})),
    ] {
        assert_eq!(brief(answer(&request), &expected), expected, "{request}");
    }
}

#[test]
fn failures() {
    let text = "f32[3,5]{1,0:T(2,2)}";
    for (request, message, at) in [
        (json!({"op": "layout", "text": "f32[2]{0:T(0)}"}), "a tile size must be at least 1, found 0", Some(11)),
        (
            json!({"op": "layout", "text": "((4_PE, 3), (8:1))"}),
            "a part on the address must have a stride, as `3:1`, found none",
            Some(8),
        ),
        (json!({"op": "layout"}), "`text` is missing", None),
        (json!({"op": "layout", "text": 3}), "`text` must be a string, found 3", None),
        (
            json!({"op": "layout", "text": "s8[4294967296,4294967296]"}),
            "the number of elements does not fit in 64 bits",
            Some(3),
        ),
        (
            json!({"op": "dance"}),
            "unknown operation `dance`; expected layout, layouts, draw, linear_index, logical_index, place, equal, simplify, compose, evaluate, view, moves, algebra, convert, dump, hlo, plan, solve, offsets, check_plan, machine or version",
            None,
        ),
        (json!([1]), "a request must be an object, found a list", None),
        (
            json!({"op": "linear_index", "text": text, "index": [3, 0]}),
            "the index of dimension 0 must be at least 0 and less than its size 3, found 3",
            None,
        ),
        (
            json!({"op": "linear_index", "text": text, "index": [0]}),
            "the index must have 2 dimensions, as the shape has, found 1 dimension",
            None,
        ),
        (
            json!({"op": "linear_index", "text": text, "index": [0, 1.5]}),
            "`index[1]` must be a 64-bit integer, found 1.5",
            None,
        ),
        (json!({"op": "linear_index", "text": text}), "`index` is missing", None),
        (json!({"op": "dump", "files": [7]}), "`files[0]` must be an object, found 7", None),
        (
            json!({"op": "dump", "files": [{"name": "a.hlo", "bytes": 1}, ["a.hlo", 1]]}),
            "`files[1]` must be an object, found a list",
            None,
        ),
        (
            json!({"op": "moves", "from": "f32[8]{0}", "to": "f32[8]{0}", "copies": [[0], 1, true]}),
            "`copies` must be an object, found a list",
            None,
        ),
        (json!({"op": "dump", "files": [{"name": "a.hlo"}]}), "`files[0].bytes` is missing", None),
        (
            json!({"op": "dump", "files": [{"name": "a.hlo", "bytes": -1}]}),
            "`files[0].bytes` must be a 64-bit integer from 0, found -1",
            None,
        ),
        (json!({"op": "hlo", "text": "", "seconds": "1"}), "`seconds` must be a number, found a string", None),
        (
            json!({"op": "hlo", "text": "", "html": true, "old": ""}),
            "`html` and `old` ask for two answers, expected one of them",
            None,
        ),
        (
            json!({"op": "logical_index", "text": text, "linear": 24}),
            "an offset must be at least 0 and less than the 24 elements of the allocation, found 24",
            None,
        ),
        (
            json!({"op": "logical_index", "text": text, "linear": -1}),
            "an offset must be at least 0 and less than the 24 elements of the allocation, found -1",
            None,
        ),
        (json!({"op": "logical_index", "text": "()", "linear": 0}), "a tuple has no offsets", None),
        (json!({"op": "logical_index", "text": "token[]", "linear": 0}), "`token` has no offsets", None),
        (json!({"op": "linear_index", "text": "f32[?]", "index": [0]}), "an unbounded size has no offsets", None),
    ] {
        let mut expected = json!({"ok": false, "error": message});
        if let Some(at) = at {
            expected["at"] = json!(at);
        }
        assert_eq!(brief(answer(&request), &expected), expected, "{request}");
    }
}

#[test]
fn every_line_but_an_empty_one_has_an_answer() {
    let mut input = b"\n  \r\n{\"op\":\"layout\",\"text\":\"f32[]\"}\r\n\xff\xfe\nnot json\n".to_vec();
    input.extend("[".repeat(1_000_000).bytes());
    input.push(b'\n');
    input.extend(format!("{{\"op\":\"layout\",\"text\":\"{}\"}}\n", "(".repeat(2_000_000)).bytes());
    // The last line has no line break.
    input.extend(b"{\"op\":\"layout\",\"text\":\"s8[2]\"}");
    let answers = answers(&input);
    let ok: Vec<_> = answers.iter().map(|answer| answer["ok"] == true).collect();
    assert_eq!(ok, [true, false, false, false, false, true]);
    assert_eq!(answers[1]["error"], "the line is not UTF-8");
    assert_eq!(answers[4]["at"], 256);
    assert_eq!(answers[5]["printed"], "s8[2]{0}");
}

#[test]
fn exit_status() {
    for (arguments, status) in [
        (&["f32[3]"][..], 0),
        (&["--help"], 0),
        (&["--version"], 0),
        (&["--json"], 0),
        (&["f32[3"], 1),
        (&["s8[4294967296,4294967296]"], 1),
        (&["--", "-1"], 1),
        (&[], 2),
        (&["--jsn"], 2),
        (&["f32[3]", "f32[4]"], 2),
        (&["--json", "f32[4]"], 2),
        (&["simplify", "(d0) -> (d0 mod 1), domain: d0 in [0, 9]"], 0),
        (&["simplify", "--explain", "KNOWN EMPTY"], 0),
        (&["simplify", "--", "--explain"], 1),
        (&["simplify", "(d0) -> (d0 mod 0), domain: d0 in [0, 9]"], 1),
        (&["simplify"], 2),
        (&["simplify", "--explain"], 2),
        (&["simplify", "--explain", "--explain", "() -> ()"], 2),
    ] {
        let output = run(arguments, b"");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
        assert_eq!(output.stderr.is_empty(), status == 0, "{arguments:?}: {output:?}");
    }
    let output = run(&["f32[3"], b"");
    let expected =
        "error: expected `,` or `]` to close the sizes, found the end of the text\n  |\n1 | f32[3\n  |      ^\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}

#[test]
fn maps() {
    let untimed = |request: &Value| {
        let mut found = answer(request);
        if let Some(ns) = found.as_object_mut().unwrap().remove("ns") {
            assert!(ns.is_u64(), "{request}");
        }
        found
    };
    let quotient = "(d0) -> (d0 floordiv 4), domain: d0 in [0, 9]";
    for (request, expected) in [
        (
            json!({"op": "simplify", "map": "(d0) -> (d0/4*4 + d0 mod 4), domain: d0 in [0, 9]"}),
            json!({"ok": true, "map": "(d0) -> (d0), domain: d0 in [0, 9]"}),
        ),
        (
            json!({"op": "simplify", "map": "(d0) -> (d0), domain: d0 in [0, -1]"}),
            json!({"ok": true, "map": "KNOWN EMPTY"}),
        ),
        (json!({"op": "simplify", "map": " UNDEFINED "}), json!({"ok": true, "map": "UNDEFINED"})),
        (
            json!({"op": "compose", "maps": [quotient, "(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 2], s0 in [0, 1]"]}),
            json!({"ok": true, "map": "(d0)[s0] -> (s0 + (d0 floordiv 4) * 2), domain: d0 in [0, 9], s0 in [0, 1]"}),
        ),
        (
            json!({"op": "compose", "maps": [quotient, "(a) -> (b), domain: a in [0, 1]"]}),
            json!({"ok": false, "error": "unknown variable `b`", "at": 8, "in": 1}),
        ),
        (
            json!({"op": "compose", "maps": [quotient, "() -> ()"]}),
            json!({"ok": false, "error": "the second map must have a dimension for each of the 1 result of the first, found 0 dimensions"}),
        ),
        (json!({"op": "compose", "maps": []}), json!({"ok": false, "error": "expected a map to compose, found none"})),
        (json!({"op": "compose", "maps": [3]}), json!({"ok": false, "error": "`maps[0]` must be a string, found 3"})),
        (json!({"op": "evaluate", "map": quotient, "point": {"d0": 9}}), json!({"ok": true, "results": [2]})),
        (json!({"op": "evaluate", "map": quotient, "point": {"d0": 10}}), json!({"ok": true, "outside": true})),
        (json!({"op": "evaluate", "map": "KNOWN EMPTY", "point": {}}), json!({"ok": true, "outside": true})),
        (
            json!({"op": "evaluate", "map": quotient, "point": {"d1": 10}}),
            json!({"ok": false, "error": "unknown variable `d1`"}),
        ),
        (
            json!({"op": "evaluate", "map": quotient, "point": {}}),
            json!({"ok": false, "error": "`point.d0` is missing"}),
        ),
        (
            json!({"op": "evaluate", "map": "(d0) -> (d0 * 2), domain: d0 in [0, 9223372036854775807]", "point": {"d0": 9223372036854775807i64}}),
            json!({"ok": false, "error": "the value of result 0 does not fit in 64 bits"}),
        ),
    ] {
        assert_eq!(brief(untimed(&request), &expected), expected, "{request}");
    }
}

#[test]
fn steps() {
    let map = "(row) -> ((row * 8 + 3) floordiv 8), domain: row in [0, 99], row * 2 in [5, 300]";
    let found = answer(&json!({"op": "simplify", "map": map, "explain": true}));
    assert_eq!(found["map"], "(row) -> (row), domain: row in [3, 99]");
    let steps = found["steps"].as_array().unwrap();
    let column = |key: &str| steps.iter().map(|step| step[key].clone()).collect::<Vec<_>>();
    assert_eq!(column("rule"), ["scale", "bounds", "implied", "congruent", "definition"]);
    assert_eq!(column("about"), ["constraints", "interval", "constraints", "equation", "result"]);
    let before =
        ["row * 2 in [5, 300]", "row in [0, 99]", "row in [3, 150]", "(row * 8 + 3) mod 8", "(row * 8 + 3) floordiv 8"];
    assert_eq!(column("before"), before);
    assert_eq!(column("after"), ["row in [3, 150]", "row in [3, 99]", "nothing", "3 mod 8", "row"]);
    assert_eq!(column("fact"), [json!(null), json!("row in [3, 150]"), json!(null), json!(null), json!(null)]);
    assert_eq!((&steps[4]["result"], &steps[3]["result"]), (&json!(0), &json!(null)));
    assert_eq!(steps[3]["equation"], "e mod m = r mod m where m divides e - r");

    let empty = answer(&json!({"op": "simplify", "map": "(d0) -> (d0), domain: d0 in [0, -1]", "explain": true}));
    assert_eq!((&empty["steps"][0]["rule"], &empty["steps"][0]["after"]), (&json!("empty"), &json!("KNOWN EMPTY")));
    let unknown = answer(&json!({"op": "simplify", "map": "UNDEFINED", "explain": true}));
    assert_eq!(unknown["steps"], json!([]));
    let wrong = answer(&json!({"op": "simplify", "map": "() -> ()", "explain": 1}));
    let expected = json!({"ok": false, "error": "`explain` must be true or false, found 1", "in": "explain"});
    assert_eq!(brief(wrong, &expected), expected);
    let long = format!("(d0) -> ({}), domain: d0 in [0, 9]", vec!["(d0 + 1) mod 7"; 40_000].join(" + "));
    let long = answer(&json!({"op": "simplify", "map": long, "explain": true}));
    assert_eq!(long["error"], "the steps must have at most 131072 operations, found more");
}

#[test]
fn equality() {
    let map = |results: &str| format!("(d0) -> ({results}), domain: d0 in [0, 9]");
    let large = "(d0, d1) -> (min(d0 * 3, d1)), domain: d0 in [0, 999999], d1 in [0, 999999]";
    for (a, b, expected) in [
        (&*map("d0 floordiv 4"), &*map("(d0 - d0 mod 4) floordiv 4"), json!({"ok": true, "equal": true})),
        (
            &*map("d0 mod 4"),
            &*map("d0 mod 5"),
            json!({"ok": true, "equal": false, "witness": {"d0": 4}, "reason": "the results are [0] and [4]"}),
        ),
        (
            &*map("d0"),
            "(d0) -> (d0), domain: d0 in [0, 8]",
            json!({"ok": true, "equal": false, "witness": {"d0": 9}, "reason": "the point is in the first domain only"}),
        ),
        (&*map("d0"), "() -> (d0)", json!({"ok": false, "error": "unknown variable `d0`", "at": 7, "in": "b"})),
        (
            &*map("d0"),
            "f32[]",
            json!({"ok": false, "error": "expected `(` and the dimension variables, found `f32`", "at": 0, "in": "b"}),
        ),
        ("f32[4,4]{1,0:T(2,4)}", "f32[4,4]{1,0}", json!({"ok": true, "equal": true})),
        (
            "f32[4,4]{1,0:T(2,2)}",
            "f32[4,4]{1,0}",
            json!({"ok": true, "equal": false, "witness": [0, 2], "reason": "the offsets are 4 and 2"}),
        ),
        (
            "f32[4,4]{1,0}",
            "f32[4,5]{1,0}",
            json!({"ok": true, "equal": false, "witness": null, "reason": "the sizes are [4, 4] and [4, 5]"}),
        ),
        (
            // All three are (3)/((3:1)), which has no element type and no allocation.
            "f32[3]{0:T(4)}",
            "f32[3]{0}",
            json!({"ok": true, "equal": true}),
        ),
        ("f32[3]{0}", "s8[3]{0}", json!({"ok": true, "equal": true})),
        ("(3)/((3:1))", "f32[3]{0:T(4)}", json!({"ok": true, "equal": true})),
        (
            "f32[3]{0:S(1)}",
            "f32[3]{0}",
            json!({"ok": true, "equal": false, "witness": null, "reason": "the memory spaces are 1 and 0"}),
        ),
        (
            "f32[3]{0}",
            "f32[3]{1}",
            json!({
                "ok": false, "error": "a dimension in minor_to_major must be in 0 to 0, found 1", "at": 7, "in": "b",
            }),
        ),
        (large, large, json!({"ok": true, "equal": true})),
        ("(f32[2]{0}, token[])", "(f32[2]{0}, token[])", json!({"ok": true, "equal": true})),
    ] {
        assert_eq!(brief(answer(&json!({"op": "equal", "a": a, "b": b})), &expected), expected, "{a} and {b}");
    }
}

/// Checks the answer to each request.
fn check(cases: &[(Value, Value)]) {
    for (request, expected) in cases {
        assert_eq!(brief(answer(request), expected), *expected, "{request}");
    }
}

#[test]
fn tensor_layouts() {
    check(&[
        (
            json!({"op": "layout", "text": "(10,7)/((3:7, 4_PE), (7:1))"}),
            json!({"expanded": [4, 21], "local_elements": 21, "logical_bytes": null, "logical_elements": 70, "map": "(d0, d1) -> (d0 mod 4, d1 + (d0 floordiv 4) * 7), domain: d0 in [0, 9], d1 in [0, 6]", "memory_space": null, "offset_map": null, "ok": true, "padded_bytes": null, "padded_elements": 84, "printed": "(10,7)/((3:7, 4_PE), (7:1))", "results": ["PE", "Addr"], "strides": null}),
        ),
        (
            json!({"op": "layout", "text": "(3,5)/((2:12, 2:2), (3:4, 2:1))"}),
            json!({"expanded": [24], "local_elements": 24, "logical_bytes": null, "logical_elements": 15, "map": "(d0, d1) -> ((d0 + d1) * 2 + (d0 floordiv 2) * 8 - (d1 mod 2)), domain: d0 in [0, 2], d1 in [0, 4]", "memory_space": null, "offset_map": "(d0, d1) -> ((d0 + d1) * 2 + (d0 floordiv 2) * 8 - (d1 mod 2)), domain: d0 in [0, 2], d1 in [0, 4]", "ok": true, "padded_bytes": null, "padded_elements": 24, "printed": "(3,5)/((2:12, 2:2), (3:4, 2:1))", "results": ["Addr"], "strides": null}),
        ),
        (
            json!({"op": "layout", "text": "((4_PE, 3:7), (8:1))"}),
            json!({"at": 15, "collide": [[1, 0], [0, 7]], "error": "the elements [1, 0] and [0, 7] share a place: their coordinates along Addr are the same", "ok": false}),
        ),
        (
            json!({"op": "layout", "text": "((4_PE, 3), (8:1))"}),
            json!({"at": 8, "error": "a part on the address must have a stride, as `3:1`, found none", "ok": false}),
        ),
        (
            json!({"op": "layout", "text": "((4:1); B@[2_PE:0])"}),
            json!({"at": 11, "collide": [[0], [0]], "error": "two copies of each element share a place along PE", "ok": false}),
        ),
    ]);
}

#[test]
fn places_of_tensor_layouts() {
    check(&[
        (
            json!({"op": "place", "text": "(256,16)/((8_L2B:1, 4:2, 8_L1B:1), (2:1, 4_PE:1, 2_W:1); B@[MAB, 2_L2B:8])", "index": [77, 5]}),
            json!({"broadcast": {"L2B": [0, 8], "MAB": "all"}, "ok": true, "place": {"Addr": 2, "L1B": 5, "L2B": 2, "MAB": 0, "PE": 2, "W": 1}}),
        ),
        (
            json!({"op": "place", "text": "f32[3,5]{1,0:T(2,2)}", "index": [2, 3]}),
            json!({"broadcast": {}, "ok": true, "place": {"Addr": 17}}),
        ),
        (
            json!({"op": "place", "text": "((4:1); B@[4_PE:3, 3_PE:2])", "index": [3]}),
            json!({"broadcast": {"PE": [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13]}, "ok": true, "place": {"Addr": 3, "PE": 0}}),
        ),
        (
            json!({"op": "place", "text": "((4:1); B@[65537_PE])", "index": [3]}),
            json!({"error": "the number of copies along PE must be at most 65536 to be listed, found more", "ok": false}),
        ),
        (
            json!({"op": "place", "text": "((4_PE:2))", "index": [4]}),
            json!({"error": "the index of dimension 0 must be at least 0 and less than its size 4, found 4", "ok": false}),
        ),
        (json!({"op": "place", "text": "((4_PE:2))"}), json!({"error": "`index` is missing", "ok": false})),
        (
            json!({"op": "place", "text": "token[]", "index": []}),
            json!({"error": "`token` has no offsets", "ok": false}),
        ),
    ]);
}

#[test]
fn equality_of_tensor_layouts() {
    check(&[
        (
            json!({"op": "equal", "a": "f32[3,5]{1,0:T(2,2)}", "b": "(3,5)/((2:12, 2:2), (3:4, 2:1))"}),
            json!({"equal": true, "ok": true}),
        ),
        (
            json!({"op": "equal", "a": "((4_PE, 3:8), (8:1))", "b": "((4_PE, 3:8), (8:1); B@[MAB])"}),
            json!({"equal": true, "ok": true}),
        ),
        (
            json!({"op": "equal", "a": "((4_PE, 3:8), (8:1))", "b": "((3:8, 4_PE), (8:1))"}),
            json!({"equal": false, "ok": true, "reason": "the places along PE are 0 and 1", "witness": [1, 0]}),
        ),
        (
            json!({"op": "equal", "a": "((1_PE), (8:1))", "b": "((), (8:1))"}),
            json!({"equal": false, "ok": true, "reason": "the second has each element at every place of PE, the other does not", "witness": [0, 0]}),
        ),
        (
            json!({"op": "equal", "a": "((8:1))", "b": "f32[8]{0:S(1)}"}),
            json!({"equal": false, "ok": true, "reason": "the memory spaces are 0 and 1", "witness": null}),
        ),
        (
            json!({"op": "equal", "a": "((8:1))", "b": "(f32[8])"}),
            json!({"error": "a tuple has no offsets", "ok": false}),
        ),
        (
            json!({"op": "equal", "a": "((8:1))", "b": "f32[8]{0:SC(0:1)}"}),
            json!({"error": "the layout is cut across memories: an element has no one place", "ok": false}),
        ),
        (
            json!({"op": "equal", "a": "((8:1))", "b": "((2:1, 4:1))"}),
            json!({"at": 7, "collide": [[4], [1]], "error": "the elements [4] and [1] share a place: their coordinates along Addr are the same", "in": "b", "ok": false}),
        ),
        (
            json!({"op": "equal", "a": "((8:1)", "b": "((8:1))"}),
            json!({"at": 6, "error": "expected `,`, `;` or `)` to close the layout, found the end of the text", "in": "a", "ok": false}),
        ),
        (
            json!({"op": "equal", "a": "((8:1))", "b": "((9:1))"}),
            json!({"equal": false, "ok": true, "reason": "the sizes are [8] and [9]", "witness": null}),
        ),
        (
            json!({"op": "equal", "a": "((8:1))", "b": "(d0) -> (d0), domain: d0 in [0, 7]"}),
            json!({"at": 1, "error": "expected a variable's name, found `(`", "in": "a", "ok": false}),
        ),
    ]);
}

#[test]
fn positions_in_tensor_layouts() {
    check(&[
        (
            json!({"op": "linear_index", "text": "(3,5)/((2:12, 2:2), (3:4, 2:1))", "index": [2, 3]}),
            json!({"linear": 17, "ok": true}),
        ),
        (
            json!({"op": "logical_index", "text": "(3,5)/((2:12, 2:2), (3:4, 2:1))", "linear": 17}),
            json!({"index": [2, 3], "ok": true}),
        ),
        (
            json!({"op": "logical_index", "text": "(3,5)/((2:12, 2:2), (3:4, 2:1))", "linear": 9}),
            json!({"ok": true, "padding": true}),
        ),
        (json!({"op": "logical_index", "text": "(2:3, 2:2)", "linear": 1}), json!({"ok": true, "padding": true})),
        (
            json!({"op": "logical_index", "text": "(2:3, 2:2)", "linear": 6}),
            json!({"error": "`linear` must be between 0 and 5, found 6", "ok": false}),
        ),
        (
            json!({"op": "linear_index", "text": "((4_PE), (8:1))", "index": [2, 3]}),
            json!({"error": "the layout must have the address alone, found the axis PE: use the op `place`", "ok": false}),
        ),
    ]);
}

/// Each command of the help is an operation, and works as one.
#[test]
fn every_subcommand_is_an_operation() {
    let help = String::from_utf8(run(&["--help"], b"").stdout).unwrap();
    let (_, listed) = help.split_once("\nCommands:\n").unwrap();
    let commands = listed.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let operations = answer(&json!({"op": "version"}))["operations"].clone();
    for command in commands {
        let name = command.split_whitespace().next().unwrap().replace('-', "_");
        assert!(operations.as_array().unwrap().contains(&json!(name)), "{name}: {operations}");
    }
    let found = answer(&json!({"op": "machine", "machine": "tpu_like"}));
    assert!(found["machine"].as_str().unwrap().starts_with("axes: (), memories: (hbm: 0"), "{found}");
    assert_eq!(answer(&json!({"op": "machine", "machine": "tpu_like", "measure": true}))["in"], "machine");
    let found = answer(&json!({"op": "view", "text": "(2:3, 3:1)", "slice": [[0, 2, 1], [1, 3, 1]]}));
    assert_eq!((&found["layout"], &found["offset"]), (&json!("(2:3, 2:1)"), &json!(1)));
    let found = answer(&json!({"op": "view", "text": "(2:3, 3:1)", "slice": [], "reshape": [6]}));
    assert_eq!(found["error"], "one of `reshape`, `transpose` and `slice` must be given");
    let moves = |transpose: Value| {
        answer(&json!({"op": "moves", "from": "f32[8,128]{1,0}", "to": "f32[128,8]{1,0}", "transpose": transpose}))
    };
    let found = moves(json!([1, 0]));
    assert_eq!((&found["moves"], &found["free"]), (&json!(true), &json!("{0,1}")));
    assert_eq!(found["reason"], "moves: element [0, 1] goes from offset 128 to 1; with {0,1} it would be free");
    assert_eq!((&moves(Value::Null)["moves"], &moves(json!([0, 0]))["ok"]), (&json!(false), &json!(false)));
    let found = answer(&json!({"op": "moves", "from": "f32[8", "to": "f32[8]"}));
    assert_eq!((&found["in"], &found["at"]), (&json!("from"), &json!(5)));
    let convert = |machine: Value| {
        answer(
            &json!({"op": "convert", "from": "((4_PE, 3:8), (8:1))", "to": "((12:2), (4_PE, 2:1))", "machine": machine}),
        )
    };
    let found = convert(Value::Null);
    assert_eq!((&found["elements"], &found["ok"]), (&json!(96), &json!(true)));
    assert!(found["levels"].as_array().unwrap().iter().any(|level| level["axis"] == "PE"), "{found}");
    assert_eq!((&convert(json!("mn_cor"))["in"], &convert(json!("mn_core"))["ok"]), (&json!("machine"), &json!(true)));
    let known = answer(&json!({"op": "version"}));
    assert_eq!(known["notations"], json!(Notation::NAMES));
    assert_eq!(known["machines"], json!(READY.map(|(name, _)| name)));
    let found = answer(&json!({"op": "version", "id": "x", "version": 1}));
    assert_eq!((&found["protocol"], &found["id"]), (&json!(1), &json!("x")));
    assert!(found["operations"].as_array().unwrap().contains(&json!("hlo")), "{found}");
    let found = answer(&json!({"op": "version", "id": 3, "version": 2}));
    assert_eq!((&found["error"], &found["id"]), (&json!("`version` must be 1, found 2"), &json!(3)));
}

#[test]
fn an_answer_for_each_instruction_of_a_program() {
    let text = "HloModule m\nENTRY e {\n  x = f32[8]{0} parameter(0)\n  ROOT y = f32[8]{0} negate(x)\n}\n";
    let answers = |request: Value| -> Vec<Value> {
        let schema = Schema::new();
        let output = run(&["--json"], format!("{request}\n").as_bytes());
        let lines = String::from_utf8(output.stdout).unwrap();
        let found: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for answer in &found {
            let errors: Vec<_> = schema.answer.iter_errors(answer).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{answer}: {errors:?}");
        }
        assert!(schema.request.is_valid(&request), "{request}");
        found
    };
    let all = answers(json!({"op": "hlo", "text": text, "id": 7}));
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|answer| answer["id"] == 7 && answer["ok"] == true), "{all:?}");
    assert_eq!((&all[0]["name"], &all[0]["more"], &all[0]["kind"]), (&json!("x"), &json!(true), &json!("argument")));
    assert_eq!((&all[1]["padded_bytes"], &all[1]["operands"][0]["name"]), (&json!(32), &json!("x")));
    assert_eq!(all[2], json!({"id": 7, "ok": true, "more": false, "rows": 2}));
    let report = answers(json!({"op": "hlo", "text": text, "summary": true}));
    assert_eq!((&report[0]["peak"]["bytes"], report.len()), (&json!(64), 1));
    let one = answers(json!({"op": "hlo", "text": text, "instruction": "y", "tile": [4]}));
    assert_eq!((one.len(), &one[0]["operands"][0]["tiles"][0]), (2, &json!("tile [i0 * 4] [4] [1]")));
    let wrong = answers(json!({"op": "hlo", "text": text.replace("negate", "negat")}));
    assert_eq!((wrong.len(), &wrong[0]["ok"], &wrong[0]["at"]), (1, &json!(false), &json!(72)));
    assert_eq!(answers(json!({"op": "hlo", "text": text, "tile": [0]}))[0]["ok"], json!(false));
}

/// Pictures, pages, differences and the choice of a module are those of the command line.
#[test]
fn texts_for_people_are_those_of_the_command_line() {
    let printed = |arguments: &[&str]| outcome(arguments).0;
    let picture = answer(&json!({"op": "draw", "text": "f32[3,5]{1,0:T(2,2)}"}));
    assert_eq!(picture["svg"], printed(&["f32[3,5]{1,0:T(2,2)}", "--svg", "-"]));
    let step =
        |kind: &str| format!("HloModule m\nENTRY e {{\n  x = {kind} parameter(0)\n  ROOT y = {kind} negate(x)\n}}\n");
    let (new, old) = (step("f32[8,4]{1,0:T(8,128)}"), step("f32[8,4]{1,0:T(2,128)}"));
    let (newer, older) = (file("module_1.f.after_optimizations.txt", &new), file("old.hlo", &old));
    let found = answer(&json!({"op": "hlo", "text": new, "old": old}));
    assert_eq!(found["difference"], printed(&["hlo", &newer, "--diff", &older]));
    let page = json!({"op": "hlo", "text": new, "html": true});
    assert_eq!(answer(&page)["html"], printed(&["hlo", &newer, "--html", "-"]));
    let mut planned = json!({"plan": true, "entry": "free", "top": 1, "machine": "cpu"});
    planned.as_object_mut().unwrap().extend(page.as_object().unwrap().clone());
    let options = ["--html", "-", "--plan", "--entry", "free", "--top", "1", "--machine", "cpu"];
    assert_eq!(answer(&planned)["html"], printed(&[&["hlo", &newer], &options[..]].concat()));
    let sized = |name: &str| json!({"name": format!("dump/{name}"), "bytes": 9});
    let [assignment, module] = ["-buffer-assignment", ""].map(|end| format!("module_1.f.after_optimizations{end}.txt"));
    let names = ["old.hlo", "module_1.f.before_optimizations.txt", &assignment, &module];
    let chosen = answer(&json!({"op": "dump", "files": names.map(sized)}));
    let named = |name: &str| format!("dump/{name}");
    let expected = json!({"ok": true, "file": named(&module), "assignment": named(&assignment), "others": 1});
    assert_eq!(chosen, expected);
    let alone = answer(&json!({"op": "dump", "files": [sized(&module)]}));
    assert_eq!(alone, json!({"ok": true, "file": named(&module), "others": 0}));
    let wrong =
        answer(&json!({"op": "hlo", "text": new, "html": true, "assignment": "BufferAssignment:\nallocation 0:"}));
    assert_eq!((&wrong["ok"], &wrong["in"], &wrong["at"]), (&json!(false), &json!("assignment"), &json!(18)));
}
