//! The memory report of `layout-inspect hlo`, through the program itself.

use crate::program::file;
use serde_json::{Value, json};
use std::process::Output;

fn run(arguments: &[&str], input: &str) -> Output {
    crate::program::run(&[&["hlo"], arguments].concat(), input.as_bytes())
}

fn printed(arguments: &[&str], input: &str) -> String {
    let output = run(arguments, input);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

const NARROW: &str = "HloModule narrow, is_scheduled=true

ENTRY main {
  x = f32[1000,3]{1,0:T(8,128)} parameter(0), metadata={op_name=\"x\"}
  c = f32[1000,3]{0,1:T(4,128)} copy(x), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}
  n = f32[1000,3]{0,1:T(4,128)} negate(c), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}
  ROOT y = f32[3,1000]{1,0:T(4,128)} transpose(n), dimensions={1,0}, metadata={op_name=\"jit(f)/t\" source_file=\"f.py\" source_line=8}
}
";

#[test]
fn the_report_fits_on_a_screen() {
    let expected = "\
narrow: 4 instructions, scheduled
          arguments      outputs    constants  temporaries         peak      padding
hbm       500.0 KiB     16.0 KiB          0 B     16.0 KiB    532.0 KiB       93.4 %

peak of hbm: 532.0 KiB of 15.8 GiB, 544768 bytes, at c f.py:7 jit(f)/neg

what lowers the peak of the main memory
 484.0 KiB less  lay out the argument `x` as {0,1:T(4,128)}
                 peak 48.0 KiB, 4808 cycles less
                 o = Format(Layout(major_to_minor=(1, 0)), sharding); jax.jit(f, in_shardings=(o,))
 250.0 KiB less  keep the argument `x` in bf16
                 peak 282.0 KiB, 0 cycles more
                 f(x.astype(jnp.bfloat16)), and in f first x = x.astype(jnp.float32)

live at the peak of hbm
 500.0 KiB   94 %  argument x f32[1000,3]{1,0:T(8,128)}
                   made at 0, last read at 1 by c; x
  16.0 KiB    3 %  output y f32[3,1000]{1,0:T(4,128)}
                   made at 3, last read at 3 by y; f.py:8 jit(f)/t
  16.0 KiB    3 %  temporary c f32[1000,3]{0,1:T(4,128)}
                   made at 1, last read at 3 by y; f.py:7 jit(f)/neg

most padding
 500.0 KiB  for 11.7 KiB, 3/128 lanes: argument x f32[1000,3]{1,0:T(8,128)}
  16.0 KiB  for 11.7 KiB, 1000/1024 lanes: temporary c f32[1000,3]{0,1:T(4,128)}
  16.0 KiB  for 11.7 KiB, 1000/1024 lanes: output y f32[3,1000]{1,0:T(4,128)}

moves to another layout, and copies
 516.0 KiB  copy c f32[1000,3]{1,0:T(8,128)} -> f32[1000,3]{0,1:T(4,128)}
            made by x (parameter), for n (negate)

peak by source line
 500.0 KiB   94 %  arguments                                          1 buffer   97.7 % padding
  16.0 KiB    3 %  f.py:7                                             1 buffer   26.8 % padding
  16.0 KiB    3 %  f.py:8                                             1 buffer   26.8 % padding

peak by name scope
 500.0 KiB   94 %  arguments                                          1 buffer   97.7 % padding
  32.0 KiB    6 %  jit(f)                                            2 buffers   26.8 % padding
";
    assert_eq!(printed(&["-"], NARROW), expected);
}

#[test]
fn no_report_is_wider_or_longer_than_a_screen() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/hlo");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "hlo") {
            files += 1;
            let report = printed(&[path.to_str().unwrap()], "");
            assert!(report.lines().count() <= 47, "{path:?}\n{report}");
            assert!(report.lines().all(|line| line.chars().count() <= 100), "{path:?}\n{report}");
        }
    }
    assert_eq!(files, 24);
}

#[test]
fn the_report_as_an_object() {
    let report: Value = serde_json::from_str(&printed(&["-", "--summary", "--json", "--top", "1"], NARROW)).unwrap();
    assert_eq!(report["arguments"], json!({"logical": 12000, "padded": 512000}));
    assert_eq!(report["outputs"], json!({"logical": 12000, "padded": 16384}));
    assert_eq!(report["temporaries"], json!(16384));
    assert_eq!((&report["peak"]["bytes"], &report["peak"]["instruction"]), (&json!(544768), &json!("c")));
    assert_eq!(report["padding"], json!({"logical": 36000, "padded": 544768}));
    let worst = &report["worst"][0];
    assert_eq!((&worst["name"], &worst["kind"], &worst["lanes"]), (&json!("x"), &json!("argument"), &json!([3, 128])));
    let advice = &report["advice"][0];
    assert_eq!((&advice["kind"], &advice["saves"], &advice["peak"]), (&json!("layout"), &json!(495616), &json!(49152)));
    let live = &report["peak"]["buffers"];
    assert_eq!(
        (&live["entries"][0]["reader"], &live["others"], &live["other_bytes"]),
        (&json!("c"), &json!(2), &json!(32768))
    );
    assert_eq!(report["worst"].as_array().unwrap().len(), 1);
    let moved = &report["relayouts"][0];
    assert_eq!((&moved["name"], &moved["bytes"], &moved["source"]), (&json!("c"), &json!(528384), &json!("f.py:7")));
    assert_eq!(report["file"], json!("-"));
}

#[test]
fn rows_have_bytes_memory_source_and_kind() {
    let rows = printed(&["-", "--json"], NARROW);
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&Value> = rows.iter().map(|row| &row["kind"]).collect();
    assert_eq!(kinds, ["argument", "temporary", "alias", "output"]);
    let copy = &rows[1];
    assert_eq!((&copy["logical_bytes"], &copy["padded_bytes"]), (&json!(12000), &json!(16384)));
    assert_eq!((&copy["space"], &copy["source"], &copy["relayout"]), (&json!(0), &json!("f.py:7"), &json!("layout")));
    assert_eq!(rows[0]["op_name"], json!("x"));
    assert!(copy["remarks"][0].as_str().unwrap().starts_with("moves: element"), "{copy}");
    assert_eq!(rows[2]["remarks"], Value::Null);
}

#[test]
fn a_limit_of_padding() {
    let output = run(&["-", "--fail-over", "1.5x"], NARROW);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.starts_with(b"narrow: 4 instructions"), "{output:?}");
    let complaint = String::from_utf8(output.stderr).unwrap();
    let expected = "-: error: what is live at the peak must take at most 1.5x its logical bytes, found 15.13x; most padding \
                    has x f32[1000,3]{1,0:T(8,128)}\n";
    assert_eq!(complaint, expected);
    // The tensor is live at the peak, whatever the length of the lists.
    let output = run(&["-", "--fail-over", "1.5x", "--top", "0"], NARROW);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    let far =
        NARROW.replace("T(4,128)}", "T(4,128)S(1)}").replace("f32[1000,3]{1,0:T(8,128)}", "f32[1000,3]{0,1:T(4,128)}");
    let output = run(&["-", "--fail-over", "1.01x", "--top", "0"], &far);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.ends_with("most padding has x f32[1000,3]{0,1:T(4,128)}\n"), "{complaint}");
    assert!(run(&["-", "--fail-over", "16"], NARROW).status.success());
    for (wrong, found) in [("x", "`x`"), ("0.5", "`0.5`"), ("inf", "`inf`"), ("-2x", "`-2x`")] {
        let argument = format!("--fail-over={wrong}");
        let output = run(&["-", &argument], NARROW);
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        let complaint = String::from_utf8(output.stderr).unwrap();
        let expected = format!("error: --fail-over must be a ratio of at least 1 such as 1.5x, found {found}\n");
        assert_eq!(complaint, expected);
    }
}

#[test]
fn lists_of_no_entries_say_nothing() {
    let report = printed(&["-", "--top", "0"], NARROW);
    assert!(!report.contains("padding\n\n") && !report.contains("no padding"), "{report}");
    let whole = NARROW.replace("1000,3", "1024,8").replace("3,1000", "8,1024").replace("1,0:T(8,128)", "0,1:T(8,128)");
    let report = printed(&["-", "--top", "0"], &whole.replace("T(4,128)", "T(8,128)"));
    assert!(report.contains("\nno padding\n"), "{report}");
}

#[test]
fn several_files_and_a_difference() {
    let old = file("a-name-of-more-than-34-letters.old.hlo", NARROW);
    let changed = NARROW.replace("f32[1000,3]{1,0:T(8,128)} parameter", "f32[1000,3]{0,1:T(4,128)} parameter");
    let new = file("a-name-of-more-than-34-letters.new.hlo", &changed);
    let table = printed(&[&old, &new], "");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    // A long path shows its end, where the two differ.
    assert!(lines[1].starts_with("..") && lines[1].contains("-letters.old.hlo "), "{table}");
    assert!(lines[2].starts_with("..") && lines[2].contains("-letters.new.hlo "), "{table}");
    assert!(lines[1].ends_with("500.0 KiB     16.0 KiB     16.0 KiB    532.0 KiB       93.4 %"), "{table}");
    let difference = printed(&[&new, "--diff", &old], "");
    let expected = "\x20                                            old           new        change
hbm arguments                          500.0 KiB      16.0 KiB    -484.0 KiB     -96.8 %
hbm outputs                             16.0 KiB      16.0 KiB           0 B      +0.0 %
hbm temporaries                         16.0 KiB      16.0 KiB           0 B      +0.0 %
hbm peak                               532.0 KiB      48.0 KiB    -484.0 KiB     -91.0 %
arguments                              500.0 KiB      16.0 KiB    -484.0 KiB     -96.8 %
";
    assert_eq!(difference, expected);
    assert_eq!(run(&[&old, &new, "--diff", &old], "").status.code(), Some(1));
    assert_eq!(run(&[&old, &new, "--all"], "").status.code(), Some(1));
    let both: Vec<Value> =
        printed(&[&old, &new, "--summary", "--json"], "").lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(both.len(), 2);
}

/// A difference of more than 100 times is a ratio, so that columns stay aligned.
#[test]
fn a_large_difference_has_its_column() {
    let small = "HloModule m\n\nENTRY main {\n  ROOT x = f32[2]{0} parameter(0)\n}\n";
    let old = file("ratio_old.hlo", small);
    let new = file("ratio_new.hlo", &small.replace("[2]", "[2000000]"));
    let found = printed(&[&new, "--diff", &old], "");
    let cells = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let line = found.lines().nth(1).map(cells).unwrap();
    assert_eq!(line, ["hbm", "arguments", "8", "B", "7.6", "MiB", "+7.6", "MiB", "1000000x"], "{found}");
}

/// An unreadable or too large file does not hide the others.
#[test]
fn each_of_several_files_has_its_report_or_its_complaint() {
    let good = file("several_good.hlo", NARROW);
    let bad = file("several_bad.hlo", "junk");
    let output = run(&["/nonexistent", &good, &bad, &good, "--fail-over", "1.5x"], "");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 3);
    let complaint = String::from_utf8(output.stderr).unwrap();
    let errors: Vec<&str> = complaint.lines().filter(|line| line.contains("error: ")).collect();
    assert_eq!(errors.len(), 4, "{complaint}");
    assert!(errors[0].starts_with("/nonexistent: ") && errors[1].starts_with(&format!("{bad}:1:1: ")), "{complaint}");
    assert!(errors[2..].iter().all(|line| line.starts_with(&good) && line.contains("15.13x")), "{complaint}");
    let lines = printed(&[&good, &good, "--timeline"], "");
    assert_eq!(lines.lines().filter(|line| *line == good).count(), 2, "{lines}");
    let objects = printed(&[&good, &good, "--timeline", "--json"], "");
    assert_eq!(objects.lines().filter(|line| line.contains(&format!("\"file\":\"{good}\""))).count(), 2, "{objects}");
    let refused = run(&[&good, &good, "--json"], "");
    let complaint = String::from_utf8(refused.stderr).unwrap();
    assert!(complaint.contains("--json without --summary"), "{complaint}");
}

/// A line of the program below the top of one report still counts in the difference.
#[test]
fn a_difference_does_not_depend_on_the_length_of_the_lists() {
    let module = |sizes: [usize; 5]| {
        let mut lines = String::from("  x = f32[] parameter(0)\n");
        for (k, n) in sizes.iter().enumerate() {
            let source = format!("metadata={{source_file=\"f.py\" source_line={}}}", k + 1);
            lines += &format!("  b{k} = f32[{n}]{{0}} broadcast(x), dimensions={{}}, {source}\n");
        }
        let call = "custom-call(b0, b1, b2, b3, b4), custom_call_target=\"f\"";
        format!("HloModule m, is_scheduled=true\n\nENTRY main {{\n{lines}  ROOT y = f32[] {call}\n}}\n")
    };
    // Line 3 falls from the third place to the fourth and keeps its 3072 bytes; line 4 grows from 2048 to 6144.
    let old = file("ranks_old.hlo", &module([1280, 1024, 768, 512, 256]));
    let new = file("ranks_new.hlo", &module([1280, 1024, 768, 1536, 256]));
    for top in ["1", "3", "9"] {
        let found = printed(&[&new, "--diff", &old, "--top", top], "");
        let lines: Vec<&str> = found.lines().filter(|line| line.starts_with("f.py")).collect();
        assert_eq!(lines.len(), 1, "--top {top}\n{found}");
        let words: Vec<&str> = lines[0].split_whitespace().collect();
        assert_eq!(words, ["f.py:4", "2.0", "KiB", "6.0", "KiB", "+4.0", "KiB", "+200.0", "%"], "--top {top}\n{found}");
    }
}

#[test]
fn live_bytes_over_the_instructions() {
    let lines = printed(&["-", "--timeline"], NARROW);
    let last = |line: &str| line.split_whitespace().rev().take(3).map(str::to_string).collect::<Vec<_>>();
    let found: Vec<Vec<String>> = lines.lines().map(last).collect();
    assert_eq!(found[1], ["c", "KiB", "532.0"]);
    assert_eq!(found.len(), 4);
    let object: Value = serde_json::from_str(&printed(&["-", "--timeline", "--json"], NARROW)).unwrap();
    assert_eq!(object["timeline"][1], json!({"name": "c", "bytes": 544768}));
}

#[test]
fn what_is_wrong_has_its_place() {
    let wrong = NARROW.replace("is_scheduled=true", "input_output_alias={ {}: (1, {}) }");
    let output = run(&["-"], &wrong);
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.starts_with("-:1:45: error: the number must be below 1, found 1\n"), "{complaint}");
    let output = run(&["-", "--machine", "tpu_v55"], NARROW);
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(1), true));
}

/// The file defines all large arrays first.
#[test]
fn an_order_of_least_memory_is_told() {
    let wide = "HloModule wide
ENTRY main {
  x = f32[1024]{0} parameter(0)
  a = f32[1024]{0} reverse(x), dimensions={0}
  b = f32[2048]{0} concatenate(x, x), dimensions={0}
  d = f32[]{:T(256)} custom-call(a), custom_call_target=\"f\"
  ROOT e = f32[]{:T(256)} custom-call(b, d), custom_call_target=\"f\"
}
";
    let text = printed(&["-", "--schedule", "least-memory"], wide);
    assert!(text.starts_with("wide: 5 instructions, in an order of least memory\n"), "{text}");
    let line = "order of hbm: 4096 bytes less than in the order of the text, the least\n";
    assert!(text.contains(line), "{text}");
    let json = |options: &[&str]| -> Value {
        serde_json::from_str(&printed(&[&["-", "--summary", "--json"], options].concat(), wide)).unwrap()
    };
    let (file, least) = (json(&[]), json(&["--schedule", "least-memory"]));
    assert_eq!((file.get("schedule"), file["spaces"][0].get("order")), (None, None));
    assert_eq!(file["temporaries"], json!(4096 + 8192 + 1024));
    assert_eq!((&least["schedule"], &least["temporaries"]), (&json!("least-memory"), &json!(8192 + 1024)));
    let peak = least["peak"]["bytes"].clone();
    assert_eq!(least["spaces"][0]["order"], json!({"file": file["peak"]["bytes"], "bound": peak}));
    let line = json!({"op": "hlo", "text": wide, "summary": true, "schedule": "least-memory"}).to_string();
    let out = crate::program::run(&["--json"], line.as_bytes()).stdout;
    assert_eq!(serde_json::from_slice::<Value>(&out).unwrap()["peak"]["bytes"], peak);
}
