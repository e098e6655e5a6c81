//! Reports, pictures and views of TensorLayouts, through the program itself.

use crate::program;
use std::process::Output;

fn run(arguments: &[&str]) -> Output {
    program::run(arguments, b"")
}

/// The output; the program must succeed.
fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn reports() {
    for (text, expected) in [
        ("(5,3)/((2_PE, 3:3), (3:1))", PADDED_ROWS),
        ("(3,5)/((2:12, 2:2), (3:4, 2:1))", TILES),
        ("((2_L2B:2), (2_W), (2:1); B@[PE, 2_L1B:3])", COPIES),
        ("(0,3)/((2:3), (3:1))", EMPTY),
    ] {
        let found = printed(&[text]);
        assert_eq!(found, expected, "{found}");
    }
    // Large layouts are cut short.
    let large = printed(&["((1000:1000, 10_PE), (1000:1))"]);
    assert!(large.contains("\n  .. 9976 more rows, 984 more columns\n"), "{large}");
    assert!(large.contains("\n  .. 999904 more addresses\n"), "{large}");
    assert!(large.ends_with("\n  .. 6 more places\n"), "{large}");
    let unused = printed(&["(256,16)/((4_L2B:2, 64:8), (8:1, 2_W:1))"]);
    assert!(unused.contains("\nplaces    8 of 14 are used: L2B 7, W 2\nunused    L2B 1, 3, 5\n"), "{unused}");
    // If each coordinate is used, the report names the first unused places.
    let corner = printed(&["(3)/((2_A, 2_C2))"]);
    assert!(corner.contains("\nplaces    3 of 4 are used: A 2, C2 2\nunused    A/C2: 1/1\n"), "{corner}");
}

const PADDED_ROWS: &str = "\
layout    (5,3)/((2_PE, 3:3), (3:1))
sizes     [5, 3], 15 elements
padded    [6, 3], 18 elements
places    2 of 2 are used: PE 2
held      9 elements in a place, padding included, at addresses up to 8
results   PE, Addr
map       (d0, d1) -> (d0 floordiv 3, d1 + (d0 mod 3) * 3), domain: d0 in [0, 4], d1 in [0, 2]
as        no tiled layout: a tiled layout must use the address alone, found the axis PE

places, each as PE/Addr
           0   1   2
     0   0/0 0/1 0/2
     1   0/3 0/4 0/5
     2   0/6 0/7 0/8
     3   1/0 1/1 1/2
     4   1/3 1/4 1/5
           .   .   .

held by PE 0
     0   0,0 0,1 0,2 1,0 1,1 1,2 2,0 2,1
     8   2,2

held by PE 1
     0   3,0 3,1 3,2 4,0 4,1 4,2   .   .
     8     .
";
const TILES: &str = "\
layout    (3,5)/((2:12, 2:2), (3:4, 2:1))
sizes     [3, 5], 15 elements
padded    [4, 6], 24 elements
held      24 elements in a place, padding included, at addresses up to 23
results   Addr
map       (d0, d1) -> ((d0 + d1) * 2 + (d0 floordiv 2) * 8 - (d1 mod 2)), domain: d0 in [0, 2], d1 in [0, 4]
as        {1,0:T(2,2)}

places, each as Addr
          0  1  2  3  4
     0    0  1  4  5  8  .
     1    2  3  6  7 10  .
     2   12 13 16 17 20  .
          .  .  .  .  .  .

held, by address
     0   0,0 0,1 1,0 1,1 0,2 0,3 1,2 1,3
     8   0,4   . 1,4   . 2,0 2,1   .   .
    16   2,2 2,3   .   . 2,4   .   .   .
";
const COPIES: &str = "\
layout    ((2_L2B:2), (2_W), (2:1); B@[PE, 2_L1B:3])
sizes     [2, 2, 2], 8 elements
padded    [2, 2, 2], 8 elements
places    8 of 24 are used: L2B 3, W 2, PE *, L1B 4
unused    L2B 1; L1B 1, 2
held      2 elements in a place, padding included, at addresses up to 1
copies    at every PE; 2 L1B, 3 apart
results   L2B, W, PE, L1B, Addr
map       (d0, d1, d2) -> (d0 * 2, d1, 0, 0, d2), domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 1]
as        no tiled layout: a tiled layout must use the address alone, found the axis L2B

places, each as L2B/W/PE/L1B/Addr
  [0,:,:]
                 0         1
     0   0/0/*/0/0 0/0/*/0/1
     1   0/1/*/0/0 0/1/*/0/1
  [1,:,:]
                 0         1
     0   2/0/*/0/0 2/0/*/0/1
     1   2/1/*/0/0 2/1/*/0/1

held by L2B 0, W 0, PE *, L1B 0
     0   0,0,0 0,0,1

held by L2B 0, W 0, PE *, L1B 3
     0   0,0,0 0,0,1

held by L2B 0, W 1, PE *, L1B 0
     0   0,1,0 0,1,1

held by L2B 0, W 1, PE *, L1B 3
     0   0,1,0 0,1,1

  .. 4 more places
";
const EMPTY: &str = "\
layout    (0,3)/((2:3), (3:1))
sizes     [0, 3], 0 elements
padded    [2, 3], 6 elements
held      6 elements in a place, padding included, at addresses up to 5
results   Addr
map       (d0, d1) -> (d0 * 3 + d1), domain: d0 in [0, -1], d1 in [0, 2]
as        {1,0}
";

#[test]
fn the_other_notation() {
    for (text, line) in [
        ("f32[3,5]{1,0:T(2,2)}", "as        (3,5)/((2:12, 2:2), (3:4, 2:1))"),
        (
            "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
            "as        no TensorLayout: `*` merges dimensions 0, 1 and 2, and the tile cuts across them",
        ),
        ("f32[6]{0:SC(0:1)}", "as        no TensorLayout: the layout must not be cut across memories, found `SC`"),
        ("((4:8), (5:1))", "as        {1,0:T(8)}"),
        ("((4_PE))", "as        no tiled layout: a tiled layout must use the address alone, found the axis PE"),
    ] {
        let found = printed(&[text]);
        assert!(found.lines().any(|found| found == line), "{found}");
    }
}

#[test]
fn views() {
    for (arguments, expected) in [
        (["(2:3, 3:1)", "--reshape", "6"], Ok("layout    (6:1)\noffset    0\n")),
        (["(2:3, 3:1)", "--transpose", "1,0"], Ok("layout    (3:1, 2:3)\noffset    0\n")),
        (["(2:3, 3:1)", "--slice", "1:2,0:3:2"], Ok("layout    (1, 2:2)\noffset    3\n")),
        (["f32[4,6]{1,0:T(2,2)}", "--transpose", "1,0"], Ok("layout    ((3:4, 2:1), (2:12, 2:2))\noffset    0\n")),
        (["f32[10]{0:T(128)}", "--reshape", "2,5"], Ok("layout    ((2:5), (5:1))\noffset    0\n")),
        (["(6)/((3:1, 2:3))", "--slice", "0:6:3"], Ok("layout    ((2:4))\noffset    0\n")),
        (
            ["(3:1, 2:3)", "--reshape", "6"],
            Err(
                "dimension 0 of the result is `3:1` of dimension 0 and `2:3` of dimension 1, which are one part only where the stride 1 is 2*3",
            ),
        ),
        (["(3:1, 2:3)", "--reshape", "six"], Err("--reshape must be sizes such as 3,2, found `six`")),
        (["(3:1, 2:3)", "--transpose", "1,-1"], Err("--transpose must be dimensions such as 1,0, found `1,-1`")),
        (["(3:1, 2:3)", "--slice", "1"], Err("--slice must be slices such as 0:2,0:3:2, found `1`")),
        (
            ["token[]", "--reshape", "6"],
            Err("expected an array with bounded sizes, found another shape\n  |\n1 | token[]\n  | ^"),
        ),
    ] {
        let [text, option, list] = arguments;
        match expected {
            Ok(expected) => {
                assert_eq!(printed(&["view", text, option, list]), expected, "{arguments:?}");
                assert_eq!(printed(&["view", option, list, text]), expected, "{arguments:?}");
            }
            Err(message) => {
                let output = run(&["view", text, option, list]);
                assert_eq!(output.status.code(), Some(1), "{arguments:?}");
                let expected = format!("error: {message}\n");
                assert_eq!(String::from_utf8(output.stderr).unwrap(), expected, "{arguments:?}");
            }
        }
    }
    assert_eq!(run(&["view", "(2:3, 3:1)"]).status.code(), Some(2));
    assert_eq!(run(&["view"]).status.code(), Some(2));
}

/// Checks that a text is one XML element with all tags closed and nothing that needs escaping; returns its texts.
fn texts(svg: &str) -> Vec<String> {
    let (mut open, mut texts, mut rest) = (Vec::new(), Vec::new(), svg.trim_end());
    while !rest.is_empty() {
        let (text, after) = rest.split_once('<').unwrap_or((rest, ""));
        assert!(!text.contains('>'), "{text}");
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;"].iter().any(|known| entity.starts_with(known)), "{text}");
        }
        if open.last() == Some(&"text") {
            texts.push(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
        } else {
            assert!(text.trim().is_empty(), "{text}");
        }
        let Some((tag, after)) = after.split_once('>') else { panic!("a tag does not end") };
        let name = tag.trim_matches('/').split(' ').next().unwrap();
        assert!(tag.matches('"').count().is_multiple_of(2) && !tag.contains('&'), "{tag}");
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name), "{tag}"),
            (false, true) => {}
            (false, false) => open.push(name),
        }
        rest = after;
    }
    assert!(open.is_empty(), "{open:?}");
    texts
}

#[test]
fn svg() {
    let padded = printed(&["(3,2)/((2_PE, 2:2), (2:1))", "--svg", "-"]);
    let [title, legend, cells @ ..] = &texts(&padded)[..] else { panic!("{padded}") };
    assert_eq!([title, legend], ["(3,2)/((2_PE, 2:2), (2:1))", "PE, and address; grey is padding"]);
    assert_eq!(cells.join(" "), "0 1 0 0 0 0 1 1 0 2 0 3 2 1 0 1 1 0 1");
    // Two cells of padding in their own shade; cells and legend have the same colours for both places.
    assert_eq!(padded.matches("fill=\"#c8c8c8\"").count(), 2);
    assert_eq!(padded.matches("fill=\"hsl(0, 70%, 82%)\"").count(), 4 + 1);
    assert_eq!(padded.matches("fill=\"hsl(137, 70%, 82%)\"").count(), 2 + 1);

    let tiles = printed(&["--svg", "-", "f32[3,3]{1,0:T(2,2)}"]);
    let [title, legend, cells @ ..] = &texts(&tiles)[..] else { panic!("{tiles}") };
    assert_eq!([title, legend], ["f32[3,3]{1,0:T(2,2)}", "offsets in elements; grey is padding"]);
    assert_eq!(cells.join(" "), "0 1 2 0 0 1 4 1 2 3 6 2 8 9 12");
    assert_eq!(tiles.matches("<line ").count(), 3 + 3);
    assert_eq!(tiles.matches("fill=\"#c8c8c8\"").count(), 16 - 9);
}

/// An image has a bounded size whatever the layout is, or there is none.
#[test]
fn svg_of_large_and_odd_layouts() {
    for text in [
        "((1000:1000), (1000:1))",
        "f32[<=500,700]{1,0:T(8,128)}",
        "((100_A), (100_B1))",
        "f32[]",
        "(0,3)/((1), (3:1))",
        "f32[0,3]",
        "((4:1); B@[PE, 2_L1B])",
        "f32[2,3,4,9223372036854775807]{3,2,1,0:E(1)}",
        "((9223372036854775806:1))",
    ] {
        let output = run(&[text, "--svg", "-"]);
        if output.status.success() {
            let svg = String::from_utf8(output.stdout).unwrap();
            assert!(svg.len() < 1_500_000, "{text}: {}", svg.len());
            texts(&svg);
        } else {
            assert!(output.stderr.starts_with(b"error: "), "{text}: {output:?}");
        }
    }
    let large = texts(&printed(&["((1000:1000), (1000:1))", "--svg", "-"]));
    assert!(large.contains(&".. 936 more rows, 936 more columns".to_string()), "{:?}", large.last());
}

#[test]
fn svg_in_a_file() {
    let file = std::env::temp_dir().join(format!("layout-{}.svg", std::process::id()));
    assert_eq!(printed(&["((4:1))", "--svg", file.to_str().unwrap()]), "");
    let written = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(written, printed(&["((4:1))", "--svg", "-"]));
    assert_eq!(run(&["((4:1))", "--svg", "/no/such/folder/x.svg"]).status.code(), Some(1));
    assert_eq!(run(&["((4))", "--svg", "-"]).status.code(), Some(1));
}
