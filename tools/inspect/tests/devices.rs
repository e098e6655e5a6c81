//! `layout-inspect plan` over devices, through the program itself.

use crate::program::{file, outcome};
use serde_json::{Value, json};
use std::fs;

fn answer(arguments: &[&str]) -> Value {
    let (out, error, status) = outcome(arguments);
    assert_eq!(status, Some(0), "{error}");
    serde_json::from_str(&out).unwrap()
}

/// A product and its gradient, with shardings of rows and columns over 2 * 2 devices.
const STEP: &str = "HloModule step, input_output_alias={ {}: (1, {}, may-alias) }
ENTRY main {
  x = f32[4096,64] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  w = f32[64,32] parameter(1), sharding={devices=[2,2]<=[2,2]T(1,0)}
  p = f32[4096,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  h = f32[4096,32] tanh(p), sharding={devices=[2,2]<=[4]}
  g = f32[64,32] dot(x, h), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT v = f32[64,32] subtract(w, g), sharding={devices=[2,2]<=[2,2]T(1,0)}
}
";

const MACHINE: &str = "axes: (4_Device), memories: (HBM: 0 at Device with 1048576 bytes), word: 32, unit: cycle, \
                       links: (Device: 1), work: (Device: 16), costs: (collective: 10)";

#[test]
fn values_have_shardings_and_relayouts_collectives() {
    let step = file("step.hlo", STEP);
    let found = answer(&["plan", &step, "--machine", MACHINE, "--json"]);
    assert_eq!(found["cost"], found["bound"]);
    // Rows over 2 devices, columns over 2; the rows of the weight are gathered and the sums scattered. The alternative
    // is one all-reduce, after which each device would subtract twice as much. Rows may lie along either axis of the
    // mesh: both cost the same.
    let turned = found["shardings"]["w"][0] != "{devices=[2,2]<=[4]}";
    let (devices, [rows, columns]) = if turned { ("[2,2]T(1,0)", [1, 2]) } else { ("[4]", [2, 1]) };
    assert_eq!(found["shardings"]["x"][0], format!("{{devices=[2,1,2]<={devices} last_tile_dim_replicate}}"));
    assert_eq!(found["shardings"]["w"][0], format!("{{devices=[2,2]<={devices}}}"));
    let moved = found["relayouts"].as_array().unwrap().iter();
    let all: Vec<&Value> = moved.flat_map(|own| own["collectives"].as_array().unwrap()).collect();
    for (own, kind) in all.iter().zip(["all-gather", "reduce-scatter"]) {
        assert_eq!(**own, json!({"kind": kind, "along": [[2, rows]], "bytes": 64 * 32 * 4 / 4}));
    }
    assert_eq!(all.len(), 2);
    assert!(found["work"].as_i64().unwrap() > 0);
    let (out, ..) = outcome(&["plan", &step, "--machine", MACHINE]);
    let sums = format!(
        "  `g` is made in sums in ((64:16), (2_Device:{columns}, 16:1); B@[2_Device:{rows}]) and wanted in \
         ((2_Device:{rows}, 32:16), "
    );
    let scattered = format!("    reduce-scatter along 2:{rows}: 2,048 bytes to each device");
    for line in ["time    526,368 cycles of work on each device", &*sums, &*scattered] {
        assert!(out.lines().any(|own| own.starts_with(line)), "{line}\n{out}");
    }
    // The message claims the least cost over the tried meshes only; with bytes kept, only the least that was found.
    assert!(out.contains(", no plan over the meshes that were tried costs less\n"), "{out}");
    let (out, ..) = outcome(&["plan", &step, "--machine", MACHINE, "--capacity", "HBM=408000"]);
    let kept = out.contains(" of each device are kept for what operations bring");
    assert_eq!(kept, out.contains(", the least that was found in so little memory\n"), "{out}");
    // The same plan over processes.
    let processes = answer(&["plan", &step, "--machine", &MACHINE.replace("Device", "Process"), "--json"]);
    assert_eq!((&processes["cost"], &processes["shardings"]), (&found["cost"], &found["shardings"]));
}

#[test]
fn the_shardings_of_a_text_are_compared_with() {
    let step = file("compared.hlo", STEP);
    let both = answer(&["plan", &step, "--machine", MACHINE, "--compare", "--json"]);
    let given = &both["compare"];
    for (name, sharding) in [
        ("x", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"),
        ("w", "{devices=[2,2]<=[2,2]T(1,0)}"),
        ("h", "{devices=[2,2]<=[4]}"),
        ("v", "{devices=[2,2]<=[2,2]T(1,0)}"),
    ] {
        assert_eq!(given["shardings"][name][0], sharding, "{name}");
    }
    assert!(given["cost"].as_i64() > both["cost"].as_i64());
    let (out, ..) = outcome(&["plan", &step, "--machine", MACHINE, "--compare"]);
    assert!(out.contains("\nbytes to each Device"), "{out}");
    let large = MACHINE.replace("1048576", "4194304");
    let wrong = |from: &str, to: &str| {
        let text = file("wrong.hlo", &STEP.replace(from, to));
        let (out, error, status) = outcome(&["plan", &text, "--machine", &large, "--compare"]);
        assert_eq!((out.as_str(), status), ("", Some(1)), "{to}");
        error
    };
    let error = wrong("sharding={devices=[2,2]<=[4]}", "sharding={devices=[2,4]<=[8]}");
    assert!(
        error
            .contains("wrong.hlo:6:3: error: the sharding {devices=[2,4]<=[8]} is of 8 devices, and the machine has 4"),
        "{error}"
    );
    let error = wrong("sharding={devices=[2,2]<=[4]}", "sharding={manual}");
    assert!(error.contains("6:3: error: a layout cannot say which array each device has (`manual`)"), "{error}");
    let error = wrong("4096", "4095");
    assert!(error.contains("must divide dimension 0 of 4095 elements evenly, found 2 parts"), "{error}");
    // Without the option, shardings are not read.
    let text = file("odd.hlo", &STEP.replace("4096", "4095"));
    assert_eq!(outcome(&["plan", &text, "--machine", &large]).2, Some(0));
    // There are no tiled layouts to compare with.
    let (_, error, status) = outcome(&["plan", &step, "--machine", MACHINE, "--entry", "fixed"]);
    assert!(status == Some(1) && error.contains("`--entry fixed` is for machines without places"), "{error}");
}

#[test]
fn proofs_of_plans_over_devices_are_checked() {
    let step = file("proved.hlo", STEP);
    let proof = file("proved.json", "");
    // All of the memory; a part, with room for the operations' arrays; too little.
    for (capacity, fits) in [(None, true), (Some(408_000), true), (Some(200_000), false)] {
        let capacity = capacity.map(|bytes| format!("HBM={bytes}"));
        let mut arguments = vec!["plan", &step, "--machine", MACHINE, "--certificate", &proof];
        arguments.extend(capacity.iter().flat_map(|own| ["--capacity", own.as_str()]));
        let (_, error, status) = outcome(&arguments);
        assert_eq!(status, Some(if fits { 0 } else { 1 }), "{error}");
        if !fits {
            assert!(error.contains("must hold") && error.contains("most is taken by `x` ("), "{error}");
            continue;
        }
        let (out, error, status) = outcome(&["check-plan", &step, &proof]);
        assert_eq!(status, Some(0), "{error}");
        assert!(out.ends_with("both hold, and the plan has these layouts\n"), "{out}");
        // A sharding in the plan that differs from the proof's.
        let text = fs::read_to_string(&proof).unwrap();
        let (head, rest) = text.split_once('\n').unwrap();
        let mut plan_of: Value = serde_json::from_str(head).unwrap();
        plan_of["plan"]["shardings"]["x"][0] = "{maximal device=0}".into();
        let forged = file("forged.json", &format!("{plan_of}\n{rest}"));
        let (_, error, status) = outcome(&["check-plan", &step, &forged]);
        assert!(status == Some(1) && error.contains("in `plan.shardings.x[0]`, the proof"), "{error}");
    }
}
