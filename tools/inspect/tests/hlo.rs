//! `layout-inspect hlo`, through the program itself.

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str], input: &str) -> Output {
    crate::program::run(&[&["hlo"], arguments].concat(), input.as_bytes())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const MODULE: &str = "HloModule small

fused {
  p = f32[8,4]{1,0} parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  t = f32[4,8]{0,1} transpose(p), dimensions={1,0}
  ROOT s = f32[4,3]{1,0} dynamic-slice(t, z, i), dynamic_slice_sizes={4,3}
}

ENTRY main {
  x = f32[8,4]{1,0:T(4,128)} parameter(0)
  i = s32[] parameter(1)
  f = f32[4,3]{1,0} fusion(x, i), kind=kLoop, calls=fused
  y = f32[8,4]{1,0} add(x, x)
  pair = (f32[4,3]{1,0}, f32[8,4]{1,0}) tuple(f, y)
  ROOT second = f32[8,4]{1,0} get-tuple-element(pair), index=1
}
";

fn objects(arguments: &[&str]) -> Vec<Value> {
    let output = run(arguments, MODULE);
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn objects_of_instructions() {
    let all = objects(&["-", "--json"]);
    let names: Vec<_> = all.iter().map(|object| object["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["p", "i", "z", "t", "s", "x", "i", "f", "y", "pair", "second"]);
    assert_eq!(
        all[3],
        json!({
            "name": "t", "opcode": "transpose", "shape": "f32[4,8]{0,1}", "computation": "fused", "root": false,
            "logical_bytes": 128, "padded_bytes": 128, "space": 0, "kind": "fused",
            "operands": [{
                "name": "p",
                "output_to_input": ["(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]"],
                "input_to_output": ["(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]"],
                "usage": {"size": 32, "elements": 32, "reads": 32},
            }],
            "remarks": ["free: every element stays at its byte"],
        })
    );
    assert_eq!(
        all[8]["operands"][1]["output_to_input"],
        json!(["(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 3]"])
    );
}

#[test]
fn fusions_tuples_and_offsets() {
    let fusion = objects(&["-", "--json", "--instruction", "%f"]).remove(0);
    let read = "(d0, d1){rt0} -> (d1 + rt0, d0), domain: d0 in [0, 3], d1 in [0, 2], rt0 in [0, 5]";
    assert_eq!(fusion["fusion"]["p"]["output_to_input"], json!([read]));
    assert_eq!(fusion["operands"][0]["output_to_input"], json!([read]));
    let expected = json!({
        "direction": "output_to_input", "map": 0, "variable": "rt0", "source": "i", "element": "[]",
        "interval": [0, 5], "clamped": true, "operand": 1,
    });
    assert_eq!(fusion["operands"][0]["runtime"][0], expected);

    // For a part of a tuple only the related operands are listed.
    let pair = objects(&["-", "--json", "--instruction", "pair"]).remove(0);
    let names = |row: usize| -> Vec<_> {
        pair["results"][row].as_array().unwrap().iter().map(|operand| operand["name"].clone()).collect()
    };
    assert_eq!((names(0), names(1)), (vec![json!("f")], vec![json!("y")]));
    let identity = json!(["(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 3]"]);
    assert_eq!(pair["results"][1][0]["output_to_input"], identity);
    assert_eq!(pair["unread"], Value::Null);
    let second = objects(&["-", "--json", "--instruction", "second"]).remove(0);
    assert_eq!((&second["root"], &second["operands"][0]["part"]), (&json!(true), &json!(1)));
    assert_eq!(second["operands"][0]["output_to_input"], identity);
    assert_eq!(second["operands"].as_array().unwrap().len(), 1);
    assert_eq!(second["unread"], json!([{"name": "pair", "parts": [0, 0]}]));
}

/// A tuple of `n` arrays, with an instruction that reads each.
fn wide(n: usize) -> String {
    let mut module = String::from("HloModule wide\n\nENTRY main {\n");
    (0..n).for_each(|k| module += &format!("  p{k} = f32[2]{{0}} parameter({k})\n"));
    let list = |name: &str| (0..n).map(|k| name.replace('#', &k.to_string())).collect::<Vec<_>>().join(", ");
    module += &format!("  t = ({}) tuple({})\n", list("f32[2]{0}"), list("p#"));
    (0..n).for_each(|k| module += &format!("  g{k} = f32[2]{{0}} get-tuple-element(t), index={k}\n"));
    module + "  ROOT r = f32[2]{0} add(g0, g1)\n}\n"
}

#[test]
fn the_report_is_as_long_as_the_module() {
    let length = |n: usize, json: &[&str]| {
        let output = run(&[&["-", "--all"], json].concat(), &wide(n));
        assert!(output.status.success(), "{output:?}");
        output.stdout.len()
    };
    for json in [&[] as &[&str], &["--json"]] {
        let (few, many) = (length(100, json), length(1000, json));
        assert!(many < 12 * few, "{few} and {many} bytes");
    }
    let output = run(&["-", "--instruction", "g7"], &wide(100));
    let lines = text(&output.stdout);
    let unread: Vec<&str> = lines.lines().filter(|line| line.contains("never")).collect();
    assert_eq!(unread, ["    t parts 0 to 6 are never read", "    t parts 8 to 99 are never read"]);
}

#[test]
fn a_closed_pipe_ends_the_report() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_layout-inspect"))
        .args(["hlo", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(wide(2000).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn what_maps_are_for() {
    let fusion = objects(&["-", "--json", "--instruction", "f", "--tile", "2,3"]).remove(0);
    let operand = &fusion["operands"][0];
    assert_eq!(operand["usage"], json!({"size": 32, "elements": 12, "reads": 12}));
    assert_eq!(operand["tiles"], json!(["tile [rt0, i0 * 2] [3, 2] [1, 1]"]));
    assert_eq!(fusion["remarks"], json!(["fused: 52 bytes read, 48 written; apart: 184 read, 176 written"]));
    let t = objects(&["-", "--json", "--instruction", "t"]).remove(0);
    assert_eq!(t["remarks"], json!(["free: every element stays at its byte"]));

    let moves = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_layout-inspect")).arg("moves").args(arguments).output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let turned = moves(&["f32[8,128]{1,0}", "f32[128,8]{1,0}", "--transpose", "1,0"]);
    assert_eq!(turned.1, "moves: element [0, 1] goes from offset 128 to 1; with {0,1} it would be free\n");
    let line = moves(&["f32[8,128]{1,0:T(8,128)}", "f32[1024]{0:T(1024)}"]);
    assert_eq!(line.1, "free: every element stays at its byte\n");
    let joined = moves(&["f32[15,256]{1,0:T(8,128)}", "f32[3,5,256]"]);
    assert!(joined.1.ends_with("; with {2,1,0:T(*,8,128)} it would be free\n"), "{}", joined.1);
    let other = moves(&["f32[6]", "f32[6]{0:S(1)}"]);
    assert_eq!(other.1, "moves: the data is in memory space 0, not 1; with {0} it would be free\n");
    let wrong = moves(&["f32[8]", "f32[9"]);
    assert_eq!((wrong.0, wrong.2.contains("1 | f32[9\n  |      ^")), (Some(1), true), "{}", wrong.2);
}

#[test]
fn ragged_tiles() {
    let module = "HloModule m

ENTRY main {
  a = f32[31]{0} parameter(0)
  i = s32[] parameter(1)
  s = f32[10]{0} slice(a), slice={[1:31:3]}
  ROOT d = f32[10]{0} dynamic-slice(a, i), dynamic_slice_sizes={10}
}
";
    let printed = |name: &str| text(&run(&["-", "--instruction", name, "--tile", "4"], module).stdout);
    assert!(printed("s").contains("  tile [i0 * 12 + 1] [4] [3], cut off at the edge\n"), "{}", printed("s"));
    let line = "  tile [i0 * 4 + rt0] [4] [1], cut off at the edge, dimension 0 up to rt0 + 9\n";
    assert!(printed("d").contains(line), "{}", printed("d"));
}

#[test]
fn table() {
    let output = run(&["-", "--instruction", "x"], MODULE);
    let expected = "ENTRY main\n  x = f32[8,4]{1,0:T(4,128)} parameter  4096 bytes, 96.9 % padding\n";
    assert_eq!(text(&output.stdout), expected);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/hlo");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "hlo") {
            files += 1;
            let output = run(&[file.to_str().unwrap(), "--all"], "");
            assert!(output.status.success() && output.stdout.len() > 500, "{file:?}: {output:?}");
        }
    }
    assert_eq!(files, 24);
}

#[test]
fn what_is_wrong() {
    let wrong = MODULE.replace("transpose(p)", "transpoes(p)").replace("add(x, x)", "add(x, w)");
    let output = run(&["-"], &wrong);
    assert_eq!(output.status.code(), Some(1));
    let complaints = text(&output.stderr);
    let lines: Vec<_> = complaints.lines().collect();
    assert_eq!(lines.len(), 8, "{complaints}");
    assert!(lines[0].starts_with("-:7:21: error: "), "{complaints}");
    assert_eq!(lines[2].find("transpoes"), lines[3].find('^'), "{complaints}");
    assert!(lines[4].starts_with("-:15:28: error: "), "{complaints}");
    assert_eq!(run(&["-", "--instruction", "nobody"], MODULE).status.code(), Some(1));
    assert_eq!(run(&["/nowhere.hlo"], "").status.code(), Some(1));
    for usage in [&["-", "--instruction"][..], &["--jsn", "-"], &["-", "--all", "--summary"]] {
        assert_eq!(run(usage, MODULE).status.code(), Some(2), "{usage:?}");
    }
}

#[test]
fn a_tile_of_a_rank_that_no_result_has_is_refused() {
    let refused = |arguments: &[&str]| {
        let output = run(arguments, MODULE);
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(1), true), "{arguments:?}");
        text(&output.stderr)
    };
    assert_eq!(
        refused(&["-", "--instruction", "f", "--tile", "8"]),
        "-: error: --tile must have one size for each dimension of the result: 2 sizes, found 1\n"
    );
    assert_eq!(
        refused(&["-", "--tile", "1,2,3"]),
        "-: error: --tile must have one size for each dimension of the result: 0 or 2 sizes, found 3\n"
    );
    // Among several results, those of this rank have tiles.
    assert!(text(&run(&["-", "--tile", "4,8"], MODULE).stdout).contains("tile [0, 0] [8, 4] [1, 1]"));
    for (list, found) in [("x", "`x`"), ("0,1", "`0,1`"), ("-1,2", "`-1,2`")] {
        let message = format!("error: --tile must be positive sizes such as 8,128, found {found}\n");
        assert_eq!(refused(&["-", "--tile", list]), message);
    }
}

#[test]
fn a_misspelled_instruction_is_recognised() {
    let found = text(&run(&["-", "--instruction", "secnod"], MODULE).stderr);
    assert_eq!(found, "-: error: unknown instruction `secnod`; did you mean `second`?\n");
}

/// Constant offsets of the text, clamped where the slice would not fit, are in the maps; others are run-time variables.
#[test]
fn offsets_that_the_text_says_are_constants() {
    let module = "\
HloModule m
ENTRY main {
  p = f32[100] parameter(0)
  unknown = s32[] parameter(1)
  at = s32[] constant(42)
  late = s32[] constant(97)
  early = s32[] constant(-3)
  small = s8[] constant(42)
  wide = s32[] convert(small)
  rows = s32[10] iota(), iota_dimension=0
  turned = s32[10,1] reshape(rows)
  middle = f32[8] dynamic-slice(p, at), dynamic_slice_sizes={8}
  last = f32[8] dynamic-slice(p, late), dynamic_slice_sizes={8}
  first = f32[8] dynamic-slice(p, early), dynamic_slice_sizes={8}
  converted = f32[8] dynamic-slice(p, wide), dynamic_slice_sizes={8}
  moved = f32[8] dynamic-slice(p, unknown), dynamic_slice_sizes={8}
  put = f32[100] dynamic-update-slice(p, middle, at)
  ROOT picked = f32[10] gather(p, turned), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
}
";
    let reads = |name: &str| -> Value {
        let output = run(&["-", "--json", "--instruction", name], module);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["operands"][0]["runtime"].is_array(), name == "moved", "{name}");
        found["operands"][0]["output_to_input"].clone()
    };
    for (name, maps) in [
        ("middle", json!(["(d0) -> (d0 + 42), domain: d0 in [0, 7]"])),
        ("last", json!(["(d0) -> (d0 + 92), domain: d0 in [0, 7]"])),
        ("first", json!(["(d0) -> (d0), domain: d0 in [0, 7]"])),
        ("converted", json!(["(d0) -> (d0 + 42), domain: d0 in [0, 7]"])),
        ("moved", json!(["(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 92]"])),
        ("put", json!(["(d0) -> (d0), domain: d0 in [0, 41]", "(d0) -> (d0), domain: d0 in [50, 99]"])),
        ("picked", json!(["(d0) -> (d0), domain: d0 in [0, 9]"])),
    ] {
        assert_eq!(reads(name), maps, "{name}");
    }
}

/// Tuple parameters have a list of parts, and branches and parameters their own names.
#[test]
fn parts_of_parameters_and_branches() {
    let module = "\
HloModule m
fused {
  t = (f32[4], f32[8]) parameter(0)
  q = s32[] parameter(1)
  a = f32[4] get-tuple-element(t), index=0
  b = f32[8] get-tuple-element(t), index=1
  s = f32[4] dynamic-slice(b, q), dynamic_slice_sizes={4}
  ROOT x = f32[4] add(a, s)
}
left {
  p = (f32[10], s32[]) parameter(0)
  a = f32[10] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  k = s32[] negate(i)
  ROOT d = f32[3] dynamic-slice(a, k), dynamic_slice_sizes={3}
}
right {
  p = (f32[10], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=1
  five = s32[] constant(5)
  more = s32[] multiply(i, five)
  a = f32[10] get-tuple-element(p), index=0
  ROOT d = f32[3] dynamic-slice(a, more), dynamic_slice_sizes={3}
}
ENTRY main {
  pair = (f32[4], f32[8]) parameter(0)
  at = s32[] parameter(1)
  which = pred[] parameter(2)
  z = (f32[10], s32[]) parameter(3)
  f = f32[4] fusion(pair, at), kind=kLoop, calls=fused
  ROOT c = f32[3] conditional(which, z, z), true_computation=left, false_computation=right
}
";
    let one = |name| -> Value {
        let output = run(&["-", "--json", "--instruction", name], module);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let fusion = &one("f")["fusion"];
    assert_eq!(fusion["t"][0]["output_to_input"], json!(["(d0) -> (d0), domain: d0 in [0, 3]"]));
    assert_eq!(fusion["t"][1]["part"], json!(1));
    assert_eq!(fusion["t"][1]["runtime"][0]["source"], json!("q"));
    let branches = one("c");
    let sources: Vec<&Value> =
        branches["operands"].as_array().unwrap().iter().map(|o| &o["runtime"][0]["source"]).collect();
    assert_eq!(sources, [&Value::Null, &json!("k"), &Value::Null, &json!("more"), &Value::Null]);
}

/// Standard input is read where no file is named, and an input file is never overwritten.
#[test]
fn input_and_output() {
    let named = run(&["-"], MODULE);
    assert!(named.status.success(), "{named:?}");
    assert_eq!(run(&[], MODULE).stdout, named.stdout);

    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("input_and_output");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("below")).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let file = path("small.hlo");
    std::fs::write(&file, MODULE).unwrap();
    std::os::unix::fs::symlink(&file, path("link.hlo")).unwrap();
    for page in [&file, &path("below/../small.hlo"), &path("link.hlo")] {
        let output = run(&[&file, "--html", page], "");
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        let expected = format!("the output would overwrite the input `{file}`; name another file");
        assert!(error.contains(page) && error.contains(&expected), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), MODULE);
    }
    let certificate = crate::program::run(&["plan", &file, "--machine", "tpu_v5e", "--certificate", &file], b"");
    assert_eq!(certificate.status.code(), Some(1));
    assert!(text(&certificate.stderr).contains("the output would overwrite the input"));
    assert!(run(&[&file, "--html", &path("page.html")], "").status.success());

    let zip = path("small.zip");
    std::fs::write(&zip, b"PK\x03\x04\x14\0\x08\xff\xfe").unwrap();
    let error = text(&run(&[&zip], "").stderr);
    assert!(error.contains("found a zip archive; `unzip -p` prints the files in it"), "{error}");
    for option in ["--diff=", "--html="] {
        let output = run(&[&file, option], "");
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        let name = option.trim_end_matches('=');
        assert!(error.contains("a value is required for '--") && error.contains(name), "{error}");
    }
    assert!(text(&run(&[""], "").stderr).contains("a value is required for '[FILE]...'"));
    let judged = crate::program::run(&["plan", &file, "--machine", "tpu_v5e", "--judge="], b"");
    assert!(text(&judged.stderr).contains("a value is required for '--judge <COMMAND>' but none was supplied"));
}
