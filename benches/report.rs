//! The memory report of a program of 4 MB, 40 thousand instructions in a chain, each with its own shape and source
//! line; as text and JSON, from HLO text. The goal is 2 seconds.

use std::fmt::Write;
use std::time::{Duration, Instant};

/// The program.
fn program() -> String {
    let mut text = String::from("HloModule large, is_scheduled=true\n\nENTRY main {\n");
    text.push_str("  i0 = f32[8,100]{1,0:T(8,128)} parameter(0)\n");
    for k in 1..40_000 {
        let root = if k == 39_999 { "ROOT " } else { "" };
        let _ = writeln!(
            text,
            "  {root}i{k} = f32[{},{}]{{1,0:T(8,128)}} custom-call(i{}), custom_call_target=\"f\", \
             metadata={{op_name=\"jit(f)/layer_{k}\" source_file=\"f.py\" source_line={k}}}",
            k % 900 + 1,
            k % 257 + 1,
            k - 1
        );
    }
    text + "}\n"
}

fn main() {
    let text = program();
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            let report = layout_inspect::memory_report(&text, "tpu_v5e", 10).expect("the program is right");
            assert!(report.text.contains("40000 instructions"), "{}", report.text);
            start.elapsed()
        })
        .collect();
    times.sort();
    let (least, median) = (times[0], times[4]);
    println!("memory report of {:.1} MB: median {median:?}, least {least:?}", text.len() as f64 / 1e6);
    assert!(median < Duration::from_secs(2), "the report must take less than 2 s");
}
