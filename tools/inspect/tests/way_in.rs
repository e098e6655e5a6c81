//! Inputs of `layout-inspect hlo` beside the text of a program: the folder of a dump, and errors.

use crate::program::{file, outcome, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

fn program(name: &str, size: usize) -> String {
    format!("HloModule {name}, is_scheduled=true\n\nENTRY main {{\n  ROOT x = f32[{size}]{{0}} parameter(0)\n}}\n")
}

/// A folder of a dump with these files, each with the text of a program of its name.
fn dump(folder: &str, files: &[(&str, &str)]) -> String {
    let first = file(&format!("{folder}.txt"), "");
    let path = Path::new(&first).with_file_name(folder);
    _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    files.iter().for_each(|(name, text)| fs::write(path.join(name), text).unwrap());
    path.to_str().unwrap().to_string()
}

/// The name of the module that the report of a folder is of.
fn read(folder: &str) -> String {
    let (out, err, code) = outcome(&["hlo", folder]);
    assert_eq!(code, Some(0), "{err}");
    out.split(':').next().unwrap().to_string()
}

#[test]
fn a_folder_is_its_last_stage_and_its_largest_module() {
    let long = program("long", 1000) + &"\n".repeat(99);
    let (a, before) = (program("a", 8), "HloModule before\n".repeat(99));
    let files = [
        ("module_0001.jit_f.before_optimizations.txt", &*before),
        ("module_0001.jit_f.cpu_after_optimizations.txt", &*a),
        ("module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt", &*before),
        ("module_0001.jit_f.debug_options", ""),
    ];
    assert_eq!(read(&dump("one", &files)), "a");
    let two = [&files[..], &[("module_0002.jit_f.cpu_after_optimizations.txt", &*long)]].concat();
    let folder = dump("two", &two);
    assert_eq!(read(&folder), "long");
    let (_, told, _) = outcome(&["hlo", &folder]);
    let name = "module_0002.jit_f.cpu_after_optimizations.txt";
    assert_eq!(told, format!("{folder}: warning: of 2 modules this one is read: {name}\n"));
    // The module that ran out of memory is before all others.
    let failed = [&two[..], &[("module_0001.jit_f.oom_intermediate_module.txt", &*a)]].concat();
    assert_eq!(read(&dump("failed", &failed)), "a");
    let (out, err, code) = outcome(&["hlo", &dump("none", &files[2..])]);
    assert!(out.is_empty() && code == Some(1) && err.contains("--xla_dump_hlo_as_text"), "{err}");
    assert!(err.contains("found none; ") && err.contains("no folders inside this one"), "{err}");
    // An empty text is no stage and no module.
    let gone = ("module_0002.jit_f.after_optimizations.txt", "");
    let with_empty = [&files[..], &[gone, ("module_0001.jit_f.oom_intermediate_module.txt", "")]].concat();
    let folder = dump("empty", &with_empty);
    assert_eq!(read(&folder), "a");
    let said = "2 empty files, which are not read, such as module_0001.jit_f.oom_intermediate_module.txt";
    assert_eq!(outcome(&["hlo", &folder]).1, format!("{folder}: warning: {said}\n"));
    let (_, err, code) = outcome(&["hlo", &dump("only", &[gone])]);
    assert!(code == Some(1) && err.contains("found an empty file, which is not read: module_0002."), "{err}");
}

const PROGRAM: &str = "HloModule f, is_scheduled=true

ENTRY main {
  x = f32[1024]{0:T(1024)} parameter(0)
  a = f32[1024]{0:T(1024)} negate(x)
  b = f32[2048]{0:T(1024)} concatenate(a, x), dimensions={0}
  ROOT r = f32[512]{0:T(512)} slice(b), slice={[512:1024]}
}
";
const ASSIGNMENT: &str = "BufferAssignment:
allocation 0: size 4096, parameter 0, shape |f32[1024]| at ShapeIndex {}:
 value: <0 x @0> (size=4096,offset=0): f32[1024]{0:T(1024)}
allocation 1: size 2048, maybe-live-out:
 value: <3 r @0> (size=2048,offset=0): f32[512]{0:T(512)}
allocation 2: size 20480, preallocated-temp:
 value: <1 a @0> (size=4096,offset=0): f32[1024]{0:T(1024)}
 value: <2 b @0> (size=8192,offset=12288): f32[2048]{0:T(1024)}
";

/// The page of what is in a file, and the warnings.
fn page(file: &str) -> (String, String) {
    let (out, err, code) = outcome(&["hlo", file, "--html", "-"]);
    assert_eq!(code, Some(0), "{err}");
    (out, err)
}

/// The lower edges of the rectangles of a page, in bytes, by the name of the buffer.
fn addresses(page: &str, whole: f64) -> Vec<(String, i64)> {
    let rectangles = page.split("<rect class=\"buffer\"").skip(1);
    let mut found: Vec<_> = rectangles
        .map(|rectangle| {
            let number = |name: &str| {
                let text = rectangle.split_once(&format!(" {name}=\"")).unwrap().1.split('"').next();
                text.unwrap().parse::<f64>().unwrap()
            };
            let name = rectangle.split_once("<title>").unwrap().1.split(' ').next().unwrap();
            let below = 240.0 - number("y") - number("height");
            (name.to_string(), (below / 240.0 * whole / 1024.0).round() as i64)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_page_has_the_addresses_of_the_dump() {
    let (module, beside) = ("module_0001.jit_f.after_optimizations.txt", "-buffer-assignment.txt");
    let beside = module.replace(".txt", beside);
    let folder = dump("assigned", &[(module, PROGRAM), (&beside, ASSIGNMENT)]);
    let (own, told) = page(&folder);
    assert_eq!(told, "");
    assert!(own.contains("XLA's buffer assignment, whose allocations take <data value=\"26624\""), "{own}");
    let kib = |names: &[(&str, i64)]| names.iter().map(|(name, n)| (name.to_string(), *n)).collect::<Vec<_>>();
    assert_eq!(addresses(&own, 26624.0), kib(&[("a", 6), ("b", 18), ("r", 4), ("x", 0)]));
    // The file alone has them, too, and the same text elsewhere has not.
    assert_eq!(page(&format!("{folder}/{module}")).0, own);
    // By its name in the current folder, too.
    let mut named = Command::new(env!("CARGO_BIN_EXE_layout-inspect"));
    let named = named.args(["hlo", module, "--html", "-"]).current_dir(&folder).output().unwrap();
    assert_eq!(String::from_utf8(named.stdout).unwrap(), own);
    let (other, _) = page(&file("elsewhere.txt", PROGRAM));
    assert!(other.contains("The text has no addresses") && !other.contains("assignment"));
    // A buffer without an address is not drawn.
    let less = dump("less", &[(module, PROGRAM), (&beside, &ASSIGNMENT.replace("<1 a", "<1 gone"))]);
    let (less, _) = page(&less);
    assert_eq!(addresses(&less, 26624.0), kib(&[("b", 18), ("r", 4), ("x", 0)]));
    assert!(less.contains("no address for <data value=\"4096\""), "{less}");
    // A text of another form is a warning, and the page as without it.
    let wrong = dump("wrong", &[(module, PROGRAM), (&beside, &ASSIGNMENT.replace("size 20480", "20480"))]);
    let (page, told) = page(&wrong);
    assert_eq!(page, other);
    let warning = "6:1: warning: expected `allocation NUMBER: size BYTES, ..:`";
    assert!(told.starts_with(&format!("{wrong}/{beside}:{warning}\n")), "{told}");
}

const ERROR: &str = "\
Traceback (most recent call last):
jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 33.50G of 16.00G hbm. Exceeded hbm capacity by 17.50G.

  Largest program allocations in hbm:

  1. Size: 1.50G
     Shape: s32[8]{0:T(128)}
     XLA label: iota.1 = iota()
     Allocation type: HLO temp
     ==========================

  2. Size: 32.00G
     Operator: op_name=\"jit(f)/floor_mod\" source_file=\"f.py\" source_line=7
     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
     Unpadded size: 1.00G
     Extra memory due to padding: 31.00G (32.0x expansion)
     XLA label: %copy.1 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(s32[8388608,8,4]{0,2,1:T(4,128)} %x)
     Allocation type: HLO temp
     ==========================
";

#[test]
fn an_error_about_memory_is_a_report_of_what_it_says() {
    let found: Value = serde_json::from_slice(&run(&["hlo", "--summary", "--json"], ERROR.as_bytes()).stdout).unwrap();
    assert_eq!((&found["needed"], &found["available"]), (&json!(67_i64 << 29), &json!(1_i64 << 34)));
    let all = found["allocations"].as_array().unwrap();
    assert_eq!((&all[0]["name"], &all[0]["bytes"]), (&json!("copy.1"), &json!(1_i64 << 35)));
    assert_eq!((&all[0]["source"], &all[0]["logical_bytes"]), (&json!("f.py:7"), &json!(1_i64 << 30)));
    // The bytes are the shape's, not the digits of the text.
    assert_eq!((&all[1]["name"], &all[1]["bytes"]), (&json!("iota.1"), &json!(512)));
    let text = String::from_utf8(run(&["hlo"], ERROR.as_bytes()).stdout).unwrap();
    assert!(text.contains("needed 33.5 GiB of 16.0 GiB: 17.5 GiB too much\n"), "{text}");
    assert!(text.contains("  32.0 GiB  copy.1 s32[8388608,8,4]{2,1,0:T(8,128)}\n"), "{text}");
    let unnamed = run(&["hlo"], ERROR.replace("XLA label: iota.1 = iota()", "").as_bytes()).stdout;
    let unnamed = String::from_utf8(unnamed).unwrap();
    assert!(unnamed.contains("  (no label) s32[8]{0:T(128)}\n"), "{unnamed}");
    assert!(
        text.contains("31.0 GiB are padding; f.py:7 jit(f)/floor_mod\n") && text.contains("--xla_dump_to"),
        "{text}"
    );
}

#[test]
fn the_first_line_alone_says_what_is_missing() {
    let amounts = |text: &str| {
        let found = run(&["hlo", "--summary", "--json"], text.as_bytes()).stdout;
        let found: Value = serde_json::from_slice(&found).unwrap_or_else(|_| panic!("{text}"));
        [found["needed"].as_i64(), found["available"].as_i64()]
    };
    let first = "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries (16.50G) exceeds \
                 available HBM (15.75G).";
    assert_eq!(amounts(first), [Some(33 << 29), Some(63 << 28)]);
    let device = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4294967296 bytes.";
    assert_eq!(amounts(device), [Some(1 << 32), None]);
    for allocated in [
        "Out of memory allocating 4294967296 bytes.",
        "Failed to allocate request for 4.00GiB (4294967296B) on device ordinal 0",
        "Out of memory while trying to allocate 4.00GiB.",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 4.00GiB (rounded to 4294967296)requested by op ",
    ] {
        let error = format!("RESOURCE_EXHAUSTED: {allocated}");
        assert_eq!(amounts(&error), [Some(1 << 32), None]);
        let text = String::from_utf8(run(&["hlo"], error.as_bytes()).stdout).unwrap();
        assert!(text.contains("\nneeded 4.0 GiB\n"), "{text}");
    }
    let scoped = "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack for %f. Scoped \
                  allocation with size 18.00M and limit 16.00M exceeded scoped vmem limit by 2.00M.";
    assert_eq!(amounts(scoped), [Some(18 << 20), Some(16 << 20)]);
    let reserve =
        "RESOURCE_EXHAUSTED: Attempting to reserve 3.50G at the bottom of memory. There are 1.50G free, 0B reserved.";
    assert_eq!(amounts(reserve), [Some(7 << 29), Some(3 << 29)]);
    assert_eq!(amounts("RESOURCE_EXHAUSTED: quota"), [None, None]);
}

#[test]
fn other_errors_and_other_texts_are_said() {
    let said = |text: &str| {
        let output = run(&["hlo"], text.as_bytes());
        assert_eq!(output.status.code(), Some(1), "{text}");
        String::from_utf8(output.stderr).unwrap()
    };
    let internal = said("XlaRuntimeError: INTERNAL: the compiler crashed");
    assert!(
        internal
            .starts_with("-:1:18: error: expected HLO text or an error RESOURCE_EXHAUSTED, found an error INTERNAL")
    );
    assert!(said("HloModule m\nENTRY e { INTERNAL: }").contains("-:2:"), "a program is no error");
    let line = json!({"op": "hlo", "text": ERROR, "summary": true}).to_string();
    let answer: Value = serde_json::from_slice(&run(&["--json"], line.as_bytes()).stdout).unwrap();
    assert_eq!((&answer["ok"], &answer["allocations"][0]["name"]), (&json!(true), &json!("copy.1")));
    let (_, error, code) = outcome(&["hlo", &file("error.txt", ERROR), "--html", "-"]);
    assert!(code == Some(1) && error.contains("no page"), "{error}");
}
