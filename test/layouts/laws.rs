//! Laws of all layouts, tried on random ones, against the definition computed step by step.

use crate::sample::Sample;
use layout_reference::boxes::{indices, position};
use layout_reference::choices::{self, Choices};
use layout_reference::mangled;
use layout_reference::tiled::lay_out;
use tensor_layout::element::ElementType;
use tensor_layout::maps::IndexingMap;
use tensor_layout::operations::{Array, Dim, Shape};
use tensor_layout::packing::Packer;
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::{Layout, TileEntry};

const SEED: u64 = 0x1a_704d;

/// The number of random layouts, and their seed: `LAYOUT_LAWS` and `LAYOUT_LAWS_SEED`, or defaults.
fn settings() -> (u32, u64) {
    let setting = |name| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let (cases, seed) = Sample::from_env().random(2000, SEED);
    (setting("LAYOUT_LAWS").map_or(cases, |cases| cases as u32), setting("LAYOUT_LAWS_SEED").unwrap_or(seed))
}

/// A random array, small enough to enumerate: its sizes and its layout.
fn array(rng: &mut Choices) -> (Vec<i64>, Layout) {
    loop {
        let rank = rng.usize(0..=5);
        let zero = rng.one_in(40);
        let sizes: Vec<i64> = (0..rank).map(|_| rng.i64(if zero { 0..3 } else { 1..8 })).collect();
        let mut layout = Layout::row_major(rank);
        rng.shuffle(&mut layout.minor_to_major);
        for _ in 0..rng.usize(0..=3) {
            let length = rng.usize(1..=rank + 2);
            let mut tile: Vec<TileEntry> = (0..length)
                .map(|_| if rng.one_in(6) { TileEntry::Combine } else { TileEntry::Size(rng.i64(1..6)) })
                .collect();
            tile[length - 1] = TileEntry::Size(rng.i64(1..6));
            layout.tiles.push(tile);
        }
        layout.tail_alignment = if rng.bool() { rng.i64(1..50) } else { 1 };
        layout.element_bits = if rng.bool() { rng.i64(1..40) } else { 0 };
        layout.memory_space = rng.u8(0..128) * rng.u8(0..2);
        layout.metadata_prefix = rng.i64(0..3) * 512;
        if Expansion::new(&sizes, &layout).is_ok_and(|e| e.allocated_elements() <= 6000) {
            return (sizes, layout);
        }
    }
}

/// Padding to whole tiles keeps the offsets of elements, and its other elements lie in the array's padding, each at its
/// own offset.
fn check_padding(
    name: &str,
    sizes: &[i64],
    layout: &Layout,
    cells: &[Option<Vec<i64>>],
    offsets: &std::collections::HashMap<Vec<i64>, i64>,
) {
    let whole = Expansion::new(sizes, layout).unwrap().whole_sizes();
    assert!(
        whole.len() == sizes.len() && whole.iter().zip(sizes).all(|(whole, size)| whole >= size),
        "{name}: {whole:?}"
    );
    let filled = Expansion::new(&whole, layout).unwrap();
    assert_eq!(filled.whole_sizes(), whole, "{name}: whole tiles are whole");
    let mut taken = std::collections::HashSet::new();
    for index in indices(&whole) {
        let offset = filled.offset(&index).unwrap();
        assert!(taken.insert(offset), "{name}: {index:?} of {whole:?} is at a place of another");
        match offsets.get(&index) {
            Some(own) => assert_eq!(offset, *own, "{name}: {index:?} of {whole:?}"),
            None => assert_eq!(cells.get(offset as usize), Some(&None), "{name}: {index:?} of {whole:?} is no padding"),
        }
    }
}

/// Every law for one array.
fn check(sizes: &[i64], layout: &Layout) {
    let text = layout.to_string();
    let name = format!("{sizes:?}{text}");
    assert_eq!(Layout::parse(&text).as_ref(), Ok(layout), "{name}: parsing what was printed");

    let expansion = Expansion::new(sizes, layout).unwrap();
    let memory = lay_out(sizes, layout);
    assert_eq!(expansion.sizes(), memory.sizes, "{name}: expanded sizes");
    assert_eq!(expansion.allocated_elements(), memory.cells.len() as i64, "{name}: allocation");
    assert_eq!(expansion.elements(), memory.sizes.iter().product::<i64>(), "{name}: elements");
    assert_eq!(expansion.logical_elements(), Ok(sizes.iter().product::<i64>()), "{name}: logical elements");

    check_packing(&name, sizes, layout, &memory.cells);

    // From offset to index, for elements and padding; every element has one offset.
    let mut offsets = std::collections::HashMap::new();
    for (offset, content) in memory.cells.iter().enumerate() {
        assert_eq!(expansion.index(offset as i64).as_ref(), Ok(content), "{name}: what lives at {offset}");
        if let Some(index) = content {
            assert_eq!(offsets.insert(index.clone(), offset as i64), None, "{name}: {index:?} lives twice");
        }
    }
    assert!(expansion.index(-1).is_err() && expansion.index(memory.cells.len() as i64).is_err(), "{name}: outside");

    check_padding(&name, sizes, layout, &memory.cells, &offsets);

    // From index to offset: digits, expressions, and the lowered form's strides.
    let simplified = IndexingMap::of_sizes(sizes, expansion.exprs());
    let (exprs, offset_expr, parts) = (expansion.exprs(), expansion.offset_expr(), expansion.strided_dims());
    for index in indices(sizes) {
        let offset = offsets[&index];
        assert_eq!(expansion.offset(&index), Ok(offset), "{name}: offset of {index:?}");
        assert_eq!(offset_expr.evaluate(&index), Some(offset), "{name}: offset expression at {index:?}");
        let digits = expansion.expand(&index).unwrap();
        let evaluated: Vec<_> = exprs.iter().map(|e| e.evaluate(&index).unwrap()).collect();
        assert_eq!(evaluated, digits, "{name}: expressions at {index:?}");
        let evaluated: Vec<_> = simplified.results.iter().map(|e| e.evaluate(&index).unwrap()).collect();
        assert_eq!(evaluated, digits, "{name}: simplified to {simplified}, at {index:?}");
        let by_parts: i64 = parts.iter().map(|part| digits[part.position] * part.stride).sum();
        assert_eq!(by_parts, offset, "{name}: parts at {index:?}");
    }

    check_parts(&name, sizes, layout, &expansion);

    for dim in 0..sizes.len() {
        for wrong in [-1, sizes[dim], i64::MIN, i64::MAX] {
            let mut index = vec![0; sizes.len()];
            index[dim] = wrong;
            assert!(expansion.offset(&index).is_err(), "{name}: {index:?} is outside");
        }
    }
    assert!(expansion.offset(&vec![0; sizes.len() + 1]).is_err(), "{name}: an index of another rank");
}

/// The lowered form: its parts and their order.
fn check_parts(name: &str, sizes: &[i64], layout: &Layout, expansion: &Expansion) {
    let parts = expansion.strided_dims();
    for part in &parts {
        assert_eq!(part.size, expansion.sizes()[part.position], "{name}: size of {part:?}");
        assert_eq!(part.stride, expansion.strides()[part.position], "{name}: stride of {part:?}");
        let group = parts.iter().filter(|p| p.dim == part.dim).count();
        assert!(part.size != 1 || (part.dim.is_some() && group == 1), "{name}: {part:?} should be left out");
    }
    let mut kept: Vec<usize> = parts.iter().map(|part| part.position).filter(|p| expansion.sizes()[*p] != 1).collect();
    kept.sort_unstable();
    let large: Vec<usize> = (0..expansion.sizes().len()).filter(|p| expansion.sizes()[*p] != 1).collect();
    assert_eq!(kept, large, "{name}: every part larger than 1 is there once");
    assert!(parts.is_sorted_by_key(|part| part.dim), "{name}: parts in the order of dimensions");

    // Most significant first: along one dimension the digits grow lexicographically. (Parts that a later `*` merges
    // across dimensions have no such order.)
    let later_merge = layout.tiles.iter().skip(1).flatten().any(|entry| *entry == TileEntry::Combine);
    if later_merge || sizes.contains(&0) {
        return;
    }
    for dim in 0..sizes.len() {
        let digits = (0..sizes[dim]).map(|i| {
            let mut index = vec![0; sizes.len()];
            index[dim] = i;
            let expanded = expansion.expand(&index).unwrap();
            parts.iter().map(|part| expanded[part.position]).collect::<Vec<_>>()
        });
        assert!(digits.is_sorted_by(|a, b| a < b), "{name}: digits of dimension {dim}");
    }
}

/// Packed memory has each element at its offset by definition, padding elsewhere, and unpacks to the array.
fn check_packing(name: &str, sizes: &[i64], layout: &Layout, cells: &[Option<Vec<i64>>]) {
    let layout = Layout { metadata_prefix: 0, ..layout.clone() };
    let dims = sizes.iter().map(|size| Dim::Exact(*size)).collect();
    let mut array = Array { element: ElementType::U8, dims, layout };
    for element in ["pred", "s4", "u8", "bf16", "f32", "c64", "c128"] {
        array.element = ElementType::from_name(element).unwrap();
        let [own, bytes] = [array.element.bits().unwrap(), array.element.bytes().unwrap()].map(|n| n as usize);
        let bits = if array.layout.element_bits == 0 { bytes * 8 } else { array.layout.element_bits as usize };
        let packing = Packer::new(&array);
        if bits < own {
            assert!(packing.unwrap_err().message.contains("does not hold"), "{name} {element}");
            continue;
        }
        let packing = packing.unwrap();
        // Element k: the low bits of (k + 1) times a number without small factors; padding: the lowest bit alone.
        let value = |k: usize| {
            let bits = (k as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) & (!0 >> (128 - own));
            // Sign extension of a signed number.
            let negative = element == "s4" && bits >> (own - 1) == 1;
            if negative { bits | 0xf0 } else { bits }
        };
        let elements = sizes.iter().product::<i64>() as usize;
        let dense: Vec<u8> = (0..elements).flat_map(|k| value(k).to_le_bytes()[..bytes].to_vec()).collect();
        let mut memory = vec![0xa5; packing.memory_bytes()];
        packing.pack(&dense, &1_u128.to_le_bytes()[..bytes], &mut memory).unwrap();

        // Elements of whole bytes are copied; other ones have only their own bits in memory.
        let kept: u128 = !0 >> (128 - if bits == bytes * 8 { bits } else { own });
        assert_eq!(memory.len(), (cells.len() * bits).div_ceil(8), "{name} {element}: bytes");
        let bit = |k: usize| memory[k / 8] >> (k % 8) & 1 == 1;
        for (offset, cell) in cells.iter().enumerate() {
            let expected = cell.as_ref().map_or(1, |index| value(position(index, sizes)) & kept);
            let found = (0..bits).fold(0, |n, k| n | u128::from(bit(offset * bits + k)) << k.min(127));
            assert_eq!(found, expected, "{name} {element}: offset {offset}, {cell:?}");
        }
        assert!((cells.len() * bits..memory.len() * 8).all(|k| !bit(k)), "{name} {element}: bits at the end");
        let mut back = vec![0x5a; dense.len()];
        packing.unpack(&memory, &mut back).unwrap();
        assert_eq!(back, dense, "{name} {element}: there and back");
        let mut offsets = vec![-1; elements];
        packing.offsets(&mut offsets).unwrap();
        let all = cells
            .iter()
            .enumerate()
            .filter_map(|(offset, cell)| Some((position(cell.as_ref()?, sizes), offset as i64)));
        assert!(all.clone().count() == elements && all.clone().all(|(k, at)| offsets[k] == at), "{name}: offsets");
    }
}

/// `(1,5,5,1)` cuts the last dimension's single tile into 5, 4 of them padding: as many as it has elements.
#[test]
fn a_digit_with_as_many_values_as_its_index_is_not_the_index() {
    check(&[3, 5, 5, 5], &Layout::parse("{3,1,2,0:T(5)(1,5,5,1)}").unwrap());
}

#[test]
fn laws_hold_for_random_layouts() {
    let (count, seed) = settings();
    choices::check(count, seed, array, |(sizes, layout)| check(sizes, layout));
}

#[test]
fn laws_hold_for_the_layouts_of_the_examples() {
    for (sizes, text) in [
        (&[3, 5][..], "{1,0:T(2,2)}"),
        (&[8, 8], "{1,0:T(2,4)(2,1,1,1)}"),
        (&[2048], "{0:T(1024)(128)(2,1)}"),
        (&[16, 256], "{1,0:T(8,128)(2,1)}"),
        (&[9, 20], "{0,1:T(8,16)(3,1)}"),
        (&[2, 3, 4, 5, 6], "{4,3,2,1,0:T(*,*,2,*,7)}"),
        (&[], "{:T(2,3)(5,*,2,2)L(100)}"),
        (&[4, 6], "{1,0:T(2,2)(*,*,*,3)(*,2)}"),
        (&[19, 300], "{0,1}"),
        (&[2, 9, 130], "{2,0,1:T(2,128)E(4)}"),
        (&[17, 130], "{1,0:T(8,128)(4,1)}"),
        (&[130, 33], "{0,1:T(32,128)(8,1)E(32)}"),
        (&[9, 5, 7], "{2,1,0:T(2,*,8)(4,1)}"),
    ] {
        check(sizes, &Layout::parse(text).unwrap());
    }
}

/// Any text gives a value, or an error whose offset is on a character of the text.
fn survive(text: &str) {
    let shape = match Shape::parse(text) {
        Ok(shape) => shape,
        Err(error) => {
            let at = error.at.unwrap_or_else(|| panic!("{text:?}: no offset"));
            assert!(text.is_char_boundary(at), "{text:?}: offset {at}");
            assert!(!error.message.is_empty() && error.message.len() < 200, "{text:?}: {}", error.message);
            return;
        }
    };
    let printed = shape.to_string();
    assert_eq!(Shape::parse(&printed), Ok(shape.clone()), "{text:?}: parsing {printed}");
    let (Shape::Array(array) | Shape::Buffer(array)) = shape else { return };
    let Some(sizes) = array.sizes() else { return };
    let Ok(expansion) = Expansion::new(&sizes, &array.layout) else { return };
    let _ = (expansion.padded_bytes(array.element), expansion.logical_bytes(array.element));
    let _ = expansion.index(expansion.allocated_elements() - 1);
    if let Ok(offset) = expansion.offset(&vec![0; sizes.len()]) {
        assert_eq!(offset, 0, "{text:?}");
        let last: Vec<i64> = sizes.iter().map(|size| size - 1).collect();
        let offset = expansion.offset(&last).unwrap();
        assert_eq!(expansion.index(offset), Ok(Some(last.clone())), "{text:?}");
        assert_eq!(expansion.offset_expr().evaluate(&last), Some(offset), "{text:?}");
    }
}

#[test]
fn no_text_makes_the_parser_fail_otherwise_than_with_an_error() {
    crate::long_test!();
    let seeds: Vec<String> = include_str!("../golden/layouts.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["shape"].as_str().unwrap().to_string())
        .chain([
            "f32[<=3,?]{1,0:T(2,*,4)(2)L(8)#(u8)*(u32)E(4)S(5)SC(0:1,2)(1:2)M(9)}".to_string(),
            "/*é*/ (b(s4[9]{0:D(D)T(3)}), // \u{1F600}\n token[])".to_string(),
            "f32[9223372036854775807]{0:T(4611686018427387904)}".to_string(),
        ])
        .collect();
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "*",
        "T(",
        "SC(",
        "/*",
        "*/",
        "//",
        "\n",
        "<=",
        "?",
        "-",
        "0",
        "1",
        "D(D)",
        "b(",
        "u8",
        "E",
        "#(",
        "9223372036854775807",
        "9223372036854775808",
        "é",
        "\u{1F600}",
        "\0",
    ];
    choices::check(45_000, SEED, |rng| mangled::text(rng, &seeds, &pieces), |text| survive(text));
}

#[test]
fn ten_megabytes_are_read_in_linear_time() {
    const SIZE: usize = 10_000_000;
    for (head, piece, tail) in [
        ("", "(", ""),
        ("", "[", ""),
        ("", "b(", ""),
        ("", "/*", ""),
        ("", "/* */", ""),
        ("", "//\n", "f32[]"),
        ("", "a", ""),
        ("", "é", ""),
        ("f32[", "9", "]"),
        ("f32[", "1,", "1]"),
        ("f32[1]{", "0,", "0}"),
        ("f32[]{:T(", "1,", "1)}"),
        ("f32[]{:T", "(1)", "}"),
        ("f32[]{:T(", "*,", "1)}"),
        ("f32[8]{0:SC(0:", "0", "1)}"),
        ("f32[8]{0:D(", "D,", "D)}"),
        ("f32[8]{0:", "T(1)", "}"),
        ("(", "f32[],", "f32[])"),
    ] {
        let text = format!("{head}{}{tail}", piece.repeat(SIZE / piece.len()));
        survive_large(&text);
    }
}

/// [`survive`] without the text in messages.
fn survive_large(text: &str) {
    match Shape::parse(text) {
        Ok(_) => {}
        Err(error) => assert!(text.is_char_boundary(error.at.unwrap()) && error.message.len() < 200),
    }
}

#[test]
fn expressions_stay_small_or_are_refused() {
    // Each pair of tiles merges the parts of the previous pair crosswise: the expressions would double every time.
    let text = format!("{{1,0:T(2,3){}}}", "(*,*,*,6)(2,3)".repeat(80));
    let layout = Layout::parse(&text).unwrap();
    assert!(Expansion::new(&[1, 5], &layout).is_err());
    // As many tiles without merges are fine, and so is the largest rank.
    let layout = Layout::parse(&format!("{{0:T{}}}", "(2)".repeat(Layout::MAX_TILE_ENTRIES))).unwrap();
    assert_eq!(Expansion::new(&[7], &layout).unwrap().allocated_elements(), 8);
    let ones = vec![1; Layout::MAX_RANK];
    let expansion = Expansion::new(&ones, &Layout::row_major(ones.len())).unwrap();
    assert_eq!(expansion.offset(&vec![0; ones.len()]), Ok(0));
}
