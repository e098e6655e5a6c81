//! Machines: their text, and the layouts that fit.

use layout_reference::lines;
use tensor_layout::places::Placement;
use tensor_layout::places::{Fit, Machine, READY, Topology};

fn machine(text: &str) -> Machine {
    Machine::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn machines_are_printed_as_they_are_read() {
    for (name, text) in READY {
        assert_eq!(machine(name).to_string(), text);
        assert_eq!(machine(text), machine(name));
    }
    let spaced = "axes:(4 x 2 _ L2B,8_L1B) ,memories : (a_1:127 at L1B with 0 bytes) , word:1";
    let printed = "axes: (4x2_L2B, 8_L1B), memories: (a_1: 127 at L1B with 0 bytes), word: 1";
    assert_eq!(machine(spaced).to_string(), printed);
    assert_eq!(machine(printed), machine(spaced));
}

#[test]
fn links_say_what_they_join() {
    let text = "axes: (2x2_A, 2_C, 2_E), memories: (), word: 32, unit: s, links: (A: 1 torus, C: 2 grid, E: 3), work: (A: 1.5)";
    let found = machine(text);
    assert_eq!(found.to_string(), text);
    assert_eq!(
        ["A", "C", "E"].map(|axis| found.model.topology(axis)),
        [Topology::Torus, Topology::Grid, Topology::Switch]
    );
}

#[test]
fn errors_say_what_would_be_right_and_where() {
    lines::check("layouts/machine/errors.txt", "! ", |text, _| lines::error(&Machine::parse(text).expect_err(text)));
}

#[test]
fn no_text_makes_the_parser_fail_otherwise_than_with_an_error() {
    let mut rng = fastrand::Rng::with_seed(7);
    let pieces = ["axes", ":", "(", ")", ",", "4x2_L2B", "_", "memories", "é", " at ", "with 9 bytes", "word: 64", "-"];
    for round in 0..20_000 {
        let mut text = READY[round % READY.len()].1.to_string();
        for _ in 0..rng.usize(1..4) {
            let from = rng.usize(0..=text.len());
            let to = rng.usize(from..=(from + 5).min(text.len()));
            if text.is_char_boundary(from) && text.is_char_boundary(to) {
                text.replace_range(from..to, pieces[rng.usize(0..pieces.len())]);
            }
        }
        match Machine::parse(&text) {
            Ok(machine) => assert_eq!(Machine::parse(&machine.to_string()), Ok(machine), "{text:?}"),
            Err(error) => assert!(text.is_char_boundary(error.at.unwrap()) && error.message.len() < 200, "{text:?}"),
        }
    }
    let many = |n: usize| (0..n).map(|k| format!("1_A{k}")).collect::<Vec<_>>().join(", ");
    assert!(Machine::parse(&format!("axes: ({}), memories: (), word: 8", many(64))).is_ok());
    assert!(Machine::parse(&format!("axes: ({}), memories: (), word: 8", many(65))).is_err());
    assert!(Machine::parse(&format!("axes: ({}_A), memories: (), word: 8", ["1"; 65].join("x"))).is_err());
}

/// Checks a layout's memory and its bytes there.
fn fits(machine: &str, layout: &str, bits: i64, space: Option<u8>, memory: &str, bytes: i64) {
    let machine = self::machine(machine);
    let Fit { memory: found, bytes: needed, .. } = machine
        .check(&Placement::parse(layout).unwrap(), bits, space)
        .unwrap_or_else(|error| panic!("{layout}: {error}"));
    let found = found.map_or("", |memory| &machine.memories[memory].name);
    assert_eq!((found, needed), (memory, bytes), "{layout}");
}

#[test]
fn a_layout_takes_what_its_addresses_reach() {
    let board = "((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))";
    fits("mn_core", board, 32, None, "LM", 64 * 4);
    fits("mn_core", board, 1, None, "LM", 64);
    fits("mn_core", "(5,7)/((3:7, 4_PE), (7:1))", 16, None, "LM", 21 * 2);
    // In words, and for each step of time.
    fits("mn_core_2", "(256,16)/((8_L2B:1, 4:2, 8_L1B:1), (2:1, 4_PE:1, 2_W:1); B@[MAB])", 32, None, "LM", 8 * 8);
    fits("mn_core", "((25_Time, 3:1), (4_PE))", 32, None, "LM", 25 * 3 * 4);
    // The memory at the axis, below it, above it, and of a memory space.
    fits("mn_core_2", "(256,16)/((4_L2B:2, 64:8), (8:1, 2_W:1))", 32, None, "DRAM", 64 * 8 * 8);
    fits("mn_core", "((8_L1B), (3:1))", 8, None, "LM", 3);
    fits("mn_core", "((8:1))", 8, None, "DRAM", 8);
    fits("tpu_like", "((8:1))", 8, None, "hbm", 8);
    fits("tpu_like", "((8:1))", 8, Some(1), "vmem", 8);
    fits("mn_core", "((3_MAB, 4_PE), (3:1); B@[L1B])", 8, Some(0), "DRAM", 3 * 12);
    fits("axes: (3_A, 2_P), memories: (m: 0 at A with 99 bytes), word: 8", "((2_P), (3:2))", 8, None, "m", 10);
    fits("axes: (3_A), memories: (), word: 8", "((3_A), (3:2))", 8, Some(4), "", 5);
    let two = "axes: (3_A), memories: (s: 0 at A with 9 bytes, l: 1 at A with 99 bytes), word: 8";
    fits(two, "((3_A), (3:1))", 8, None, "l", 3);
    fits(two, "((3_A), (3:1))", 8, Some(0), "s", 3);
}

#[test]
fn what_does_not_fit_is_said_with_numbers() {
    for (machine, layout, bits, space, message) in [
        ("mn_core", "((4_PE, 3:1), (4_X))", 32, None, "unknown axis `X`; the machine has 16 L2B, 8 L1B, 16 MAB, 4 PE"),
        ("tpu_like", "((4_PE, 3:1); B@[PE0])", 32, None, "unknown axis `PE`; the machine has no axes"),
        ("mn_core", "((3_PE:2, 3:1))", 32, None, "the extent along PE must be at most the machine's 4, found 5"),
        ("mn_core", "((3:1); B@[8_PE])", 32, None, "the extent along PE must be at most the machine's 4, found 8"),
        (
            "mn_core",
            "((4_W, 3:1))",
            32,
            None,
            "the layout reaches 4 along W, a word of 64 bits holds 2 elements of 32 bits",
        ),
        (
            "mn_core",
            "((1_W, 3:1))",
            128,
            None,
            "the layout reaches 1 along W, a word of 64 bits holds 0 elements of 128 bits",
        ),
        ("mn_core", "((3:1))", 0, None, "an element must have at least 1 bit, found 0"),
        ("mn_core", "((3:1))", 8, Some(2), "unknown memory space 2; the machine has 0 DRAM, 1 LM"),
        (
            "mn_core",
            "((4_PE, 4097:1))",
            32,
            None,
            "capacity exceeded: the layout needs 16388 bytes in each LM, which has 16384",
        ),
        (
            "mn_core",
            "((4_PE, 2:4611686018427387904))",
            32,
            None,
            "the bytes that the layout needs do not fit in 64 bits",
        ),
    ] {
        let layout = Placement::parse(layout).unwrap();
        let error = self::machine(machine).check(&layout, bits, space).unwrap_err();
        assert_eq!((error.at, &*error.message), (None, message), "{}", layout.layout());
    }
    let layout = Placement::parse("((4_PE, 4096:1))").unwrap();
    assert!(machine("mn_core").check(&layout, 32, None).is_ok());
    assert!(machine("mn_core").check(&layout, i64::MAX, None).is_err());
}
