//! Long modules: the time of the import is linear in their length.

use std::fmt::Write;
use tensor_layout::hlo::Module;

/// The processor time of this thread so far, in nanoseconds, independent of other processes.
#[cfg(target_os = "linux")]
fn clock() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel's clock of a thread");
    text.split(' ').next().and_then(|time| time.parse().ok()).expect("a number")
}

/// The time of the import of a text, in nanoseconds.
#[cfg(target_os = "linux")]
fn time(text: &str) -> f64 {
    let module = Module::parse(text).expect("HLO");
    let begin = clock();
    let options = layout_translate::Options::default();
    layout_translate::write(&module, text, "long.hlo", options, &mut std::io::sink()).expect("an import");
    clock() - begin
}

/// Modules of about `n` instructions, each long in another respect.
fn texts(n: usize) -> Vec<(&'static str, String)> {
    let entry = |body: &str| format!("HloModule m\nENTRY e {{\n{body}}}\n");
    let mut all = Vec::new();
    let mut chain = "  x0 = f32[8,128]{1,0:T(8,128)} parameter(0)\n".to_string();
    (1..n).for_each(|k| _ = writeln!(chain, "  x{k} = f32[8,128]{{1,0:T(8,128)}} add(x{}, x{})", k - 1, k / 2));
    all.push(("chain", entry(&chain)));
    let parts = n / 2;
    let shapes = vec!["f32[2]"; parts].join(", ");
    let mut tuple = format!("  p = ({shapes}) parameter(0)\n");
    (0..parts).for_each(|k| _ = writeln!(tuple, "  g{k} = f32[2] get-tuple-element(p), index={k}"));
    let names: Vec<String> = (0..parts).rev().map(|k| format!("g{k}")).collect();
    let _ = writeln!(tuple, "  ROOT t = ({shapes}) tuple({})", names.join(", "));
    all.push(("tuple", entry(&tuple)));
    let (mut calls, mut body) = ("HloModule m\n".to_string(), "  x0 = f32[4] parameter(0)\n".to_string());
    for k in 1..n / 4 {
        let _ = writeln!(
            calls,
            "f{k} {{\n  a = f32[4] parameter(0)\n  b = f32[4] negate(a)\n  ROOT c = f32[4] add(a, b)\n}}"
        );
        let _ = writeln!(body, "  x{k} = f32[4] fusion(x{}), kind=kLoop, calls=f{k}", k - 1);
    }
    all.push(("calls", format!("{calls}ENTRY e {{\n{body}}}\n")));
    let mut exchanges = calls.clone();
    let _ = writeln!(
        exchanges,
        "add {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}}"
    );
    let _ = writeln!(exchanges, "ENTRY e {{\n  x0 = f32[4] parameter(0)");
    (1..n / 4).for_each(|k| {
        let groups = "replica_groups={{0,1}}, to_apply=add";
        let _ = writeln!(exchanges, "  x{k} = f32[4] all-reduce(x{}), channel_id={k}, {groups}", k - 1);
    });
    all.push(("exchanges", exchanges + "}\n"));
    let constant = vec!["1, 2"; n / 2].join(", ");
    all.push(("constant", entry(&format!("  ROOT c = s32[{}] constant({{{constant}}})\n", 2 * (n / 2)))));
    let mut elided = String::new();
    (0..n).for_each(|k| _ = writeln!(elided, "  c{k} = f32[4] constant({{...}})"));
    all.push(("elided", entry(&elided)));
    all
}

/// A module of four times the length takes about four times as long; a quadratic loop would take sixteen times.
/// `--nocapture` shows the times.
#[cfg(target_os = "linux")]
#[test]
fn time_grows_with_the_length() {
    crate::long_test!();
    const LENGTH: usize = 10_000;
    for ((name, short), (_, long)) in texts(LENGTH).into_iter().zip(texts(4 * LENGTH)) {
        let (before, after) = (time(&short), time(&long));
        println!("{name}: {:.1} and {:.1} ms", before / 1e6, after / 1e6);
        assert!(after < 8.0 * before.max(5e6), "{name}: {before} and {after} ns");
    }
}
