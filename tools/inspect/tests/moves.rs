//! `layout-inspect moves --copies` and its counterpart in the line protocol, through the program itself.

use crate::program::{self, outcome};

/// Standard output, standard error, and the exit code.
fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    outcome(&[&["moves"], arguments].concat())
}

/// The answer of the line protocol.
fn asked(request: &str) -> String {
    String::from_utf8(program::run(&["--json"], format!("{request}\n").as_bytes()).stdout).unwrap()
}

const ROWS: &str = "f32[12,256]{1,0}";
const TILES: &str = "f32[12,256]{1,0:T(8,128)S(1)}";

#[test]
fn copies_are_listed() {
    let good = |text: &str| (text.to_string(), String::new(), Some(0));
    let two = "2 strided copies of 3072 elements from memory 0 to 1\n\
               [2,8,128] from 0 by [128,256,1] to 0 by [1024,128,1]\n\
               [2,4,128] from 2048 by [128,256,1] to 2048 by [1024,128,1]\n";
    assert_eq!(run(&[ROWS, TILES, "--copies"]), good(two));
    let (out, ..) = run(&[ROWS, TILES, "--copies", "--rank", "2"]);
    assert!(
        out.starts_with("4 strided copies of 3072 elements") && out.lines().all(|l| l.matches(',').count() <= 3),
        "{out}"
    );
    let slice = [TILES, "f32[4,128]{1,0:T(8,128)}", "--copies", "--start", "8,128"];
    assert_eq!(
        run(&slice),
        good("1 strided copy of 512 elements from memory 1 to 0\n[512] from 3072 by [1] to 0 by [1]\n")
    );
    let transposed = [ROWS, "f32[256,12]{0,1}", "--transpose", "1,0", "--copies"];
    assert_eq!(
        run(&transposed),
        good("1 strided copy of 3072 elements from memory 0 to 0\n[3072] from 0 by [1] to 0 by [1]\n")
    );
    let padded = [TILES, "f32[12,256]{1,0:T(8,128)}", "--copies", "--padding"];
    assert_eq!(
        run(&padded),
        good("1 strided copy of 4096 elements from memory 1 to 0\n[4096] from 0 by [1] to 0 by [1]\n")
    );
}

#[test]
fn what_is_wrong_is_said() {
    let wrong = |arguments: &[&str], message: &str, status: i32| {
        let (out, error, found) = run(arguments);
        assert!(out.is_empty() && error.contains(message) && found == Some(status), "{error}");
    };
    let other = "f32[4,128]{1,0}";
    wrong(&[ROWS, other, "--copies"], "give --start for a slice", 1);
    wrong(&[ROWS, other, "--copies", "--start", "9,0"], "the window must be inside of dimension 0", 1);
    wrong(&[ROWS, other, "--copies", "--start", "x"], "--start must be an index such as 8,0, found `x`", 1);
    wrong(&[ROWS, other, "--copies", "--start", "1"], "the window must have 2 dimensions", 1);
    wrong(&[ROWS, "(f32[2])", "--copies"], "both shapes must be arrays", 1);
    wrong(&[ROWS, TILES, "--rank", "2"], "--copies", 2);
    wrong(&[ROWS, TILES, "--copies", "--rank", "0"], "0", 2);
}

#[test]
fn the_protocol_answers_the_same() {
    let request = |copies: &str| format!(r#"{{"op":"moves","from":"{ROWS}","to":"{TILES}","copies":{copies}}}"#);
    let answer = asked(&request("{}"));
    let copies: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((copies["from_space"].as_i64(), copies["to_space"].as_i64()), (Some(0), Some(1)), "{answer}");
    let first = serde_json::json!({
        "sizes": [2, 8, 128], "from": 0, "from_strides": [128, 256, 1], "to": 0, "to_strides": [1024, 128, 1],
    });
    assert_eq!(copies["copies"][0], first, "{answer}");
    assert!(asked(&request(r#"{"rank":0}"#)).contains("a copy must have at least one loop"));
    let both = request(r#"{"start":[0,0]}"#).replace("\"copies\"", "\"transpose\":[0,1],\"copies\"");
    assert!(asked(&both).contains("`start` is for slices"));
}
