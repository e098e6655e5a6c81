//! Programs for several devices, imported, lowered and run on a thread each, against an interpreter of all devices, and
//! with `LAYOUT_JAX=PYTHON` against the JAX of that Python.

mod engine;
mod runtime;

use engine::Program;
use layout_reference::interpreter::devices;
use layout_translate::{Collectives, Options, import_with};
use std::process::Command;
use tensor_layout::hlo::Module;

/// The text of a program in `test/hlo/devices`.
fn text(name: &str) -> String {
    let path = format!("{}/hlo/devices/{name}.hlo", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a program")
}

/// The inputs of each device: small numbers, whole if `whole`.
fn numbers(devices: usize, count: usize, whole: bool) -> Vec<Vec<f64>> {
    let number = |d: usize, n: usize| ((d * 7919 + n * 104_729 + 13) % 1009) as f64;
    let of = |d, n| if whole { number(d, n) - 300.0 } else { number(d, n) / 1024.0 - 0.4 };
    (0..devices).map(|d| (0..count).map(|n| of(d, n)).collect()).collect()
}

fn imported(text: &str, collectives: Collectives) -> (Module, String) {
    let module = Module::parse(text).expect("a module");
    let mlir =
        import_with(&module, text, "devices.hlo", Options { collectives, ..Options::default() }).expect("an import");
    (module, mlir)
}

/// Asserts that two lists of numbers agree within a tolerance.
fn near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= 1e-5 * (1.0 + e.abs()), "{what}: number {k} is {f}, not {e}");
    }
}

/// Runs a program on all devices, and in the interpreter.
fn on_all(name: &str, text: &str, [replicas, partitions]: [usize; 2], count: usize, whole: bool) -> Vec<Vec<f64>> {
    let (module, mlir) = imported(text, Collectives::Calls);
    let numbers = numbers(replicas * partitions, count, whole);
    let found = Program::new(&mlir).on_threads(&numbers, partitions, devices::results(&module));
    let expected = devices::all(&module, partitions, &numbers);
    for (d, (found, expected)) in found.iter().zip(&expected).enumerate() {
        near(found, expected, &format!("{name}, device {d}"));
    }
    found
}

#[test]
fn replicas_exchange() {
    on_all("replicas", &text("replicas"), [8, 1], 48, false);
    let Ok(python) = std::env::var("LAYOUT_JAX") else { return };
    // XLA's CPU backend supports only the usual reductions, on one array each.
    let text = text("replicas").replace("to_apply=hypotenuse", "to_apply=add");
    let text = text.replace("to_apply=first_of_least", "to_apply=add");
    let found = on_all("replicas", &text, [8, 1], 48, false);
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["module.hlo", "numbers", "results"].map(|name| folder.path().join(name));
    std::fs::write(&files[0], text).expect("a file");
    let all = numbers(8, 48, false).concat();
    std::fs::write(&files[1], all.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>()).expect("a file");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/reference.py");
    let done = Command::new(python).arg(script).args(&files).arg("8").env("JAX_PLATFORMS", "cpu").output();
    let done = done.expect("Python");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let bytes = std::fs::read(&files[2]).expect("results");
    let expected: Vec<f64> = bytes.chunks_exact(8).map(|x| f64::from_ne_bytes(x.try_into().unwrap())).collect();
    near(&found.concat(), &expected, "JAX");
}

#[test]
fn replicas_and_partitions_exchange() {
    on_all("both", &text("both"), [2, 4], 16, true);
}

#[test]
fn blocks_are_exchanged_in_place() {
    on_all("blocks", &text("blocks"), [1, 4], 24, true);
}

/// A single device computes the same as device 0 among devices with equal inputs.
#[test]
fn a_single_device_is_one_of_equals() {
    let programs = [("replicas", [8, 1], 48, false), ("both", [2, 4], 16, true), ("blocks", [1, 4], 24, true)];
    for (name, [replicas, partitions], count, whole) in programs {
        // Blocks begin where the source and the target say, so all say the same.
        let text = text(name).replace("id = s32[] convert(partition)", "id = s32[] constant(1)");
        let (module, mlir) = imported(&text, Collectives::Single);
        let own = numbers(1, count, whole);
        let found = Program::new(&mlir).on_threads(&own, 1, devices::results(&module)).remove(0);
        let same = vec![own[0].clone(); replicas * partitions];
        near(&found, &devices::all(&module, partitions, &same)[0], name);
    }
}
