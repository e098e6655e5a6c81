//! `layout-inspect convert`, through the program itself.

use crate::program::outcome;

/// Standard output, standard error, and the exit code.
fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    outcome(&[&["convert"], arguments].concat())
}

const BOARD: &str = "((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))";

#[test]
fn a_conversion_over_a_board_is_a_table() {
    let other = "((8_L1B, 16_L2B, 8:8), (16_MAB, 4_PE, 8:1))";
    let table = "\
from takes 256 bytes of each LM
to takes 256 bytes of each LM
elements  524288
stay      2048 (512 do not move at all)
blocks    1
level   cross  bytes up  bytes down
L2B    491520    131072      131072
L1B     24576     16384       16384
MAB         0      1024        1024
PE       6144       256         256
permute    along 16_L2B:1, 8_L1B:1: 256 bytes to each
all-to-all along 4_PE:1, joins dimension 1 and cuts 1: 192 bytes to each
";
    assert_eq!(run(&[BOARD, other, "--machine", "mn_core"]), (table.to_string(), String::new(), Some(0)));
}

#[test]
fn memories_of_other_places_are_crossed_into() {
    let table = "\
from takes 32768 bytes of each DRAM
to takes 8192 bytes of each LM
elements  16777216
stay      0 (0 do not move at all)
blocks    1
level     cross  bytes up  bytes down
L2B           0         0           0
L1B    16777216         0      524288
MAB           0         0       32768
PE            0         0        8192
no chain of collectives does it
";
    let arguments = ["((8192:1))", "((4_PE, 2048:1))", "--machine", "mn_core"];
    assert_eq!(run(&arguments), (table.to_string(), String::new(), Some(0)));
    let table = "\
from takes 8 bytes of each DRAM
to takes 8 bytes of each DRAM
elements  16
stay      2 (2 do not move at all)
blocks    1
level  cross  bytes up  bytes down
2 L2B     12        16          16
L2B        2         8           8
L1B        0         0           0
MAB        0         0           0
PE         0         0           0
permute    along 2_L2B:1, 4_L2B:2: 8 bytes to each
all-to-all along 2_L2B:1, joins dimension 0 and cuts 0: 4 bytes to each
";
    let arguments = ["((8_L2B, 2:1))", "((2:1, 8_L2B))", "--machine", "mn_core_2"];
    assert_eq!(run(&arguments), (table.to_string(), String::new(), Some(0)));
}

#[test]
fn without_a_machine_the_layouts_say_the_axes() {
    let expected = "\
elements  16
stay      4 (4 do not move at all)
blocks    1
level  cross  bytes up  bytes down
PE        12         6           6
all-to-all along 4_PE:1, joins dimension 0 and cuts 0: 6 bytes to each
block 0: 16 elements, 0 -> 0
  4 times Addr +1 -> PE +1
  4 times PE +1 -> Addr +1
";
    let (out, error, code) = run(&["--element", "bf16", "--blocks", "((4_PE, 4:1))", "((4:1, 4_PE))"]);
    assert_eq!((out.as_str(), error.as_str(), code), (expected, "", Some(0)));
}

#[test]
fn errors_point_into_the_text_at_fault() {
    for (arguments, message) in [
        (
            &["((4_PE, 3:1))", "((12))"][..],
            "error: a part on the address must have a stride, as `12:1`, found none\n  |\n1 | ((12))\n  |   ^\n",
        ),
        (&["((12:1))", "((11:1))"], "error: the sizes are [12] and [11]\n"),
        (&["((12:1))", "((12:1))", "--machine", "gpux"], "error: unknown machine `gpux`; expected "),
        (
            &["((8_PE))", "((8:1))", "--machine", "mn_core"],
            "error: the extent along PE must be at most the machine's 4, found 8\n",
        ),
        (
            &["((8:1))", "((8:1))", "--element", "f33"],
            "error: unknown element type `f33`; did you mean `f32`?\n  |\n1 | f33\n  | ^\n",
        ),
        (&["((4_PE, 9000:1))", "((36000:1))", "--machine", "mn_core"], "error: capacity exceeded: "),
        (
            &["f32[9,20]{0,1:T(8,16)(3,1)}", "((9:20), (20:1))"],
            "error: the tile size 3 does not divide the tile size 8\n",
        ),
        (
            &["f32[8]{1}", "((8:1))"],
            "error: a dimension in minor_to_major must be in 0 to 0, found 1\n  |\n1 | f32[8]{1}\n  |        ^\n",
        ),
    ] {
        let (out, error, code) = run(arguments);
        assert!(error.starts_with(message), "{arguments:?}: {error}");
        assert_eq!((out, code), (String::new(), Some(1)), "{arguments:?}");
    }
    // As a TensorLayout, a tiled layout is one place with all elements.
    let (out, ..) = run(&["f32[8,128]{1,0:T(8,128)}", "((8:128), (128:1))"]);
    assert!(out.starts_with("elements  1024\nstay      1024 (1024 do not move at all)\nblocks    1\n"), "{out}");
    for arguments in [&["((8:1))"][..], &["((8:1))", "((8:1))", "--machine"], &["((8:1))", "((8:1))", "--what"]] {
        assert_eq!(run(arguments).2, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_layout_is_put_into_another_notation() {
    for (arguments, expected) in [
        (&["f32[16,256]{1,0:T(8,128)}", "--to", "mosaic"][..], "memref<16x256xf32, #tpu.tiled<(8,128),[2,1]>>"),
        (&["memref<16x256xf32, #tpu.tiled<(8,128),[2,1]>>", "--to", "tiled"], "f32[16,256]{1,0:T(8,128)}"),
        (&["((2,4),3):((1,6),2)", "--to", "numpy", "--element", "bf16"], ""),
        (&["(4,3):(3,1)", "--to", "numpy", "--element", "bf16"], "shape=(4, 3), strides=(6, 2), itemsize=2"),
        (&["(4,3):(3,1)", "--to", "tiled", "--element", "bf16"], "bf16[4,3]{1,0}"),
    ] {
        let (out, error, code) = run(arguments);
        let refused = "error: dimension 0 must have one stride, found the strides [6, 1]: it is cut into tiles\n";
        let expected = if expected.is_empty() {
            (String::new(), refused.to_string(), Some(1))
        } else {
            (format!("{expected}\n"), String::new(), Some(0))
        };
        assert_eq!((out, error, code), expected, "{arguments:?}");
    }
    let at =
        "error: a stride must be at least 1, found 0: 4 elements share a place\n  |\n1 | (8,4):(1,0)\n  |          ^\n";
    assert_eq!(run(&["(8,4):(1,0)", "--to", "tiled"]).1, at);
    let unknown = "error: unknown notation `cut`; did you mean `cute`?\n";
    assert!(run(&["8:1", "--to", "cut"]).1.starts_with(unknown));
    for arguments in [&["8:1", "8:1", "--to", "cute"][..], &["8:1", "--to", "cute", "--blocks"], &["8:1", "--to"]] {
        assert_eq!(run(arguments).2, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_relayout_reads_every_notation() {
    let (out, error, code) = run(&["(12,8):(8,1)", "tensor<16x8xf32>"]);
    assert_eq!((out.as_str(), error.as_str(), code), ("", "error: the sizes are [12, 8] and [16, 8]\n", Some(1)));
    let (out, ..) = run(&["(16,8):(8,1)", "memref<16x8xf32, affine_map<(i, j) -> (i * 8 + j)>>"]);
    assert!(out.starts_with("elements  128\nstay      128 (128 do not move at all)\n"), "{out}");
    let blocked = "tensor<16x8xf32, #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>>";
    let (out, error, code) = run(&["(16,8):(8,1)", blocked]);
    assert!(out.starts_with("elements  128\n") && out.contains("\nlane "), "{out}{error}");
    assert_eq!(code, Some(0));
}

/// The help lists all notations, and nothing else.
#[test]
fn the_help_lists_the_notations() {
    let (help, ..) = run(&["--help"]);
    let list = help.split("Print the first layout in this notation: ").nth(1).unwrap();
    let list = list.split("\n\n").next().unwrap().split("\n      --").next().unwrap();
    let listed: Vec<&str> =
        list.split(|c: char| !(c.is_ascii_lowercase() || c == '-')).filter(|word| !word.is_empty()).collect();
    let listed: Vec<&str> = listed.into_iter().filter(|word| *word != "or").collect();
    assert_eq!(listed, tensor_layout::notations::Notation::NAMES);
}
