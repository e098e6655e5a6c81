//! Layout notations of other projects: examples, refused texts with their positions, and laws on random layouts against
//! the definition of each notation, computed from the text.

use crate::sample::Sample;
use layout_reference::boxes::indices;
use layout_reference::choices::{self, Choices};
use layout_reference::lines;
use layout_reference::mangled;
use layout_reference::notations::{bases, element, offsets};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use tensor_layout::element::ElementType;
use tensor_layout::maps::Equality;
use tensor_layout::notations::{Description, Notation, read, write};
use tensor_layout::operations::Shape;
use tensor_layout::places::Held;

const SEED: u64 = 0x0_7a7e;

fn converted(text: &str, notation: Notation) -> Result<String, String> {
    let described = read(text).unwrap_or_else(|e| panic!("{text}: {e}, at {:?}", e.at));
    write(&described, notation, ElementType::F32).map_err(|error| error.message)
}

#[test]
fn examples() {
    lines::check("layouts/notations/examples.txt", "> ", |text, expected| {
        let (notation, _) = expected.split_once(' ').unwrap();
        format!("{notation} {}", converted(text, notation.parse().unwrap()).unwrap())
    });
}

#[test]
fn a_swizzle_of_an_encoding_moves_factors() {
    let text = "tensor<8x4xf32, #iree_encoding.layout<[#iree_gpu.gpu_encoding_resolver<configuration = {encoding_info = \
                {innerDimsPos = [0, 1], innerTileSizes = [4, 4], outerDimsPerm = [0, 1], swizzle = {expandShape = \
                [[[\"CrossThread\", 2 : i16], [\"Internal\", 2 : i16]], [[\"CrossThread\", 4 : i16]]], permutation = [2, 0, 1]}}}>]>>";
    let placement = read(text).unwrap().placement().unwrap();
    for index in indices(&[8, 4]) {
        let (i, j) = (index[0], index[1]);
        // Tiles of 4 by 4, each with the columns before the rows.
        assert_eq!(placement.place(&index).unwrap(), [i / 4 * 16 + j * 4 + i % 4]);
    }
}

#[test]
fn what_cannot_be_said_says_why() {
    lines::check("layouts/notations/refusals.txt", "! ", |text, expected| {
        let (notation, _) = expected.split_once(' ').unwrap();
        format!("{notation} {}", converted(text, notation.parse().unwrap()).unwrap_err())
    });
}

#[test]
fn errors_are_where_they_are() {
    lines::check("layouts/notations/errors.txt", "! ", |text, _| {
        lines::error(&read(text).map(|_| ()).expect_err(text))
    });
}

/// Sizes of 1 to 3 dimensions; powers of two if `two`.
fn sizes(rng: &mut Choices, two: bool) -> Vec<i64> {
    (0..rng.usize(1..=3)).map(|_| if two { 1 << rng.u8(0..4) } else { rng.i64(1..=9) }).collect()
}

fn joined(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// A random text in the notation of a random kind.
fn random(rng: &mut Choices) -> (String, Vec<i64>) {
    match rng.u8(0..6) {
        0 => tiled(rng),
        1 => nested(rng, false),
        2 => nested(rng, true),
        3 => mosaic(rng),
        4 => packed(rng),
        _ => shared(rng),
    }
}

fn tiled(rng: &mut Choices) -> (String, Vec<i64>) {
    let two = rng.bool();
    let sizes = sizes(rng, two);
    let mut order: Vec<i64> = (0..sizes.len() as i64).rev().collect();
    if rng.one_in(3) {
        rng.shuffle(&mut order);
    }
    let tiles: String = (0..rng.usize(0..3))
        .map(|_| {
            let tile: Vec<i64> = (0..rng.usize(1..=3)).map(|_| rng.choice(&[1, 2, 4, 3])).collect();
            format!("({})", joined(&tile))
        })
        .collect();
    let tiles = if tiles.is_empty() { tiles } else { format!(":T{tiles}") };
    (format!("f32[{}]{{{}{tiles}}}", joined(&sizes), joined(&order)), sizes)
}

/// CuTe: digits of all dimensions in any memory order, at times with a gap; powers of two under a swizzle.
fn nested(rng: &mut Choices, swizzle: bool) -> (String, Vec<i64>) {
    let two = swizzle || rng.bool();
    let mut digits: Vec<(usize, i64, i64)> = Vec::new();
    let rank = rng.usize(1..=3);
    for dim in 0..rank {
        for _ in 0..rng.usize(1..=3) {
            digits.push((dim, if two { 1 << rng.u8(0..3) } else { rng.i64(1..=4) }, 0));
        }
    }
    let mut order: Vec<usize> = (0..digits.len()).collect();
    rng.shuffle(&mut order);
    let mut stride = 1;
    for k in order {
        digits[k].2 = stride;
        stride *= digits[k].1 * if !swizzle && rng.one_in(9) { 2 } else { 1 };
    }
    let of = |dim: usize, what: &dyn Fn(&(usize, i64, i64)) -> i64| {
        let own: Vec<i64> = digits.iter().filter(|digit| digit.0 == dim).map(what).collect();
        if own.len() == 1 { own[0].to_string() } else { format!("({})", joined(&own)) }
    };
    let all = |what: &dyn Fn(&(usize, i64, i64)) -> i64| {
        format!("({})", (0..rank).map(|dim| of(dim, what)).collect::<Vec<_>>().join(","))
    };
    let layout = format!("{}:{}", all(&|digit| digit.1), all(&|digit| digit.2));
    let sizes =
        (0..rank).map(|dim| digits.iter().filter(|digit| digit.0 == dim).map(|digit| digit.1).product()).collect();
    match swizzle {
        false => (layout, sizes),
        true => {
            let bits = rng.i64(0..=2);
            let shift = bits + rng.i64(0..=2);
            let sign = if rng.bool() { -1 } else { 1 };
            (format!("Sw<{bits},{},{}> o 0 o {layout}", rng.i64(0..=3), shift * sign), sizes)
        }
    }
}

fn mosaic(rng: &mut Choices) -> (String, Vec<i64>) {
    let sizes = sizes(rng, false);
    let rank = rng.usize(0..=sizes.len());
    let tile: Vec<i64> = (0..rank).map(|_| rng.choice(&[1, 2, 4, 6])).collect();
    let inner: Vec<i64> = tile.iter().map(|t| if t % 2 == 0 && rng.bool() { 2 } else { 1 }).collect();
    let tiles = match rank {
        0 => String::new(),
        _ if rng.bool() => format!("({})({})", joined(&tile), joined(&inner)),
        _ => format!("({})", joined(&tile)),
    };
    let untiled = sizes.len() - rank;
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    rng.shuffle(&mut order);
    let mut strides = vec![0; sizes.len()];
    let mut stride = 1;
    for dim in order {
        strides[dim] = stride;
        let t = if dim < untiled { 1 } else { tile[dim - untiled] };
        stride *= (sizes[dim] + t - 1) / t + i64::from(rng.one_in(6));
    }
    let shape: String = sizes.iter().map(|n| format!("{n}x")).collect();
    (format!("memref<{shape}f32, #tpu.tiled<{tiles},[{}]>>", joined(&strides)), sizes)
}

fn packed(rng: &mut Choices) -> (String, Vec<i64>) {
    let sizes = sizes(rng, false);
    let mut dims: Vec<i64> = (0..sizes.len() as i64).collect();
    rng.shuffle(&mut dims);
    let mut order = dims.clone();
    rng.shuffle(&mut order);
    dims.truncate(rng.usize(0..=sizes.len()));
    let tiles: Vec<i64> = dims.iter().map(|_| rng.i64(1..=5)).collect();
    let tile = |dim: i64| dims.iter().position(|d| *d == dim).map_or(1, |k| tiles[k]);
    let outer = order.iter().map(|dim| (sizes[*dim as usize] + tile(*dim) - 1) / tile(*dim));
    let shape = |sizes: Vec<i64>| sizes.iter().map(|n| format!("{n}x")).collect::<String>();
    let result = shape(outer.chain(tiles.iter().copied()).collect());
    let of = shape(sizes.clone());
    let text = if rng.bool() {
        format!(
            "linalg.pack %a outer_dims_perm = [{}] inner_dims_pos = [{}] inner_tiles = [{}] into %b : tensor<{of}f32> -> tensor<{result}f32>",
            joined(&order),
            joined(&dims),
            joined(&tiles)
        )
    } else {
        format!(
            "tensor<{of}f32, #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration = {{encoding_info = \
             {{innerDimsPos = [{}], innerTileSizes = [{}], outerDimsPerm = [{}]}}}}>]>>",
            joined(&dims),
            joined(&tiles),
            joined(&order)
        )
    };
    (text, sizes)
}

/// Bases of shared memory: a permutation of the index bits, then sums of them.
fn shared(rng: &mut Choices) -> (String, Vec<i64>) {
    let mut sizes = sizes(rng, true);
    sizes[0] = sizes[0].max(2);
    let bits = sizes.iter().enumerate().flat_map(|(dim, n)| (0..n.trailing_zeros()).map(move |bit| (dim, 1i64 << bit)));
    let rank = sizes.len();
    let mut rows: Vec<Vec<i64>> =
        bits.map(|(dim, value)| (0..rank).map(|d| if d == dim { value } else { 0 }).collect()).collect();
    rng.shuffle(&mut rows);
    for _ in 0..rng.usize(0..4) {
        let (from, to) = (rng.usize(0..rows.len()), rng.usize(0..rows.len()));
        if from != to {
            let sum = rows[to].iter().zip(&rows[from]).map(|(a, b)| a ^ b).collect();
            rows[to] = sum;
        }
    }
    let rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    (format!("#ttg.shared_linear<{{offset = [{}]}}, alignment = 16>", rows.join(", ")), sizes)
}

/// Parsed layouts agree with the text, element by element, and so do texts written from them in each notation.
#[test]
fn every_notation_says_the_same() {
    let said: RefCell<BTreeMap<&str, u32>> = RefCell::default();
    let test = |(text, sizes): &(String, Vec<i64>)| {
        let described = read(text).unwrap_or_else(|e| panic!("{text}: {e}, at {:?}", e.at));
        assert_eq!(described.description.sizes(), sizes, "{text}");
        let expected = offsets(text, sizes);
        let meaning = described.meaning().unwrap();
        // Tiles that do not divide each other are no digits.
        let function = described.function();
        assert!(function.is_ok() || matches!(described.description, Description::Tiled { .. }), "{text}: {function:?}");
        for (index, offset) in indices(sizes).iter().zip(&expected) {
            if let Ok(function) = &function {
                let place = function.place(function.index(index).unwrap());
                assert_eq!(place, [*offset], "{text} at {index:?} as {function}");
            }
            assert_eq!(meaning.map.evaluate(index).unwrap(), Some(vec![*offset]), "{text} at {index:?}");
        }
        for notation in Notation::ALL {
            let Ok(written) = write(&described, *notation, ElementType::F32) else { continue };
            assert_eq!(offsets(&written, sizes), expected, "{text} as {written}");
            *said.borrow_mut().entry(notation.name()).or_default() += 1;
        }
    };
    let (cases, seed) = Sample::from_env().random(3000, SEED);
    choices::check(cases, seed, random, test);
    // Each notation can express many of them.
    let said = said.borrow();
    let shares = [
        ("tiled", 45),
        ("tensor-layout", 60),
        ("affine-map", 90),
        ("cute", 45),
        ("triton", 13),
        ("mosaic", 28),
        ("iree", 28),
        ("pack", 28),
        ("numpy", 10),
        ("jax", 45),
        ("sharding", 45),
        ("shardy", 45),
    ];
    assert_eq!(shares.map(|(name, _)| name), Notation::NAMES, "each notation has a share");
    for (name, percent) in shares {
        assert!(said.get(name).is_some_and(|count| count * 100 >= cases * percent), "{name}: {said:?}");
    }
}

/// Each notation can express its own layouts. If a dimension does not fill a tile, its missing part is not always
/// found, so some Mosaic and some packed layouts are refused.
#[test]
fn each_notation_can_say_itself() {
    let [tried, refused] = [const { Cell::new(0u32) }; 2];
    let test = |(text, _): &(String, Vec<i64>)| {
        let notation = match text {
            _ if text.contains("f32[") => Notation::Jax,
            _ if text.contains("#tpu") => Notation::Mosaic,
            _ if text.contains("pack") => Notation::Pack,
            _ if text.contains("iree") => Notation::Iree,
            _ if text.contains("#ttg") => Notation::Triton,
            _ => Notation::Cute,
        };
        tried.set(tried.get() + 1);
        let written = match converted(text, notation) {
            Ok(written) => written,
            Err(_) if matches!(notation, Notation::Mosaic | Notation::Pack | Notation::Iree) => {
                refused.set(refused.get() + 1);
                return;
            }
            Err(why) => panic!("{text}: {why}"),
        };
        let prefix = if notation == Notation::Jax { &text[..text.find('{').unwrap()] } else { "" };
        // The second conversion gives the same text.
        assert_eq!(converted(&format!("{prefix} {written}"), notation), Ok(written), "{text}");
    };
    choices::check(2000, SEED + 1, random, test);
    assert!(refused.get() * 8 < tried.get(), "{} of {} are refused", refused.get(), tried.get());
}

/// Registers and threads with copies: each place holds the element of its bases.
#[test]
fn threads_hold_what_their_bases_say() {
    let generate = |rng: &mut Choices| {
        let sizes = sizes(rng, true);
        let rank = sizes.len();
        let mut rows: Vec<Vec<i64>> = Vec::new();
        for (dim, size) in sizes.iter().enumerate() {
            let row = |bit: u32| (0..rank).map(|d| if d == dim { 1 << bit } else { 0 }).collect();
            rows.extend((0..size.trailing_zeros()).map(row));
        }
        rng.shuffle(&mut rows);
        let mut inputs: [Vec<Vec<i64>>; 4] = Default::default();
        rows.into_iter().for_each(|row| inputs[rng.usize(0..4)].push(row));
        for input in &mut inputs[1..] {
            if rng.one_in(3) {
                let at = rng.usize(0..=input.len());
                input.insert(at, vec![0; rank]);
            }
        }
        let of: String = sizes.iter().map(|n| format!("{n}x")).collect();
        let [register, lane, warp, block] = inputs;
        let text = format!(
            "tensor<{of}f32, #ttg.linear<{{register = {register:?}, lane = {lane:?}, warp = {warp:?}, block = {block:?}}}>>"
        );
        (text, sizes)
    };
    let test = |(text, sizes): &(String, Vec<i64>)| {
        let placement = read(text).unwrap_or_else(|e| panic!("{text}: {e}, at {:?}", e.at)).placement().unwrap();
        let inputs: Vec<Vec<Vec<i64>>> =
            ["register", "lane", "warp", "block"].iter().map(|name| bases(text, name)).collect();
        let counts: Vec<i64> = inputs.iter().map(|own| 1 << own.len()).collect();
        for place in indices(&counts) {
            let found = place.iter().zip(&inputs).map(|(at, own)| element(own, *at, sizes.len()));
            let expected = found.reduce(|a, b| a.iter().zip(&b).map(|(x, y)| x ^ y).collect()).unwrap();
            let axis =
                |name: &str| ["register", "lane", "warp", "block"].iter().position(|known| *known == name).unwrap();
            let mut at: Vec<i64> = placement.axes().iter().map(|name| place[axis(name)]).collect();
            at.push(place[0]);
            assert_eq!(placement.held(&at).unwrap(), Held::Element(expected), "{text} at {place:?}");
        }
        if text.contains("lane = [[") || text.contains("warp = [[") {
            assert_eq!(converted(text, Notation::Triton).as_ref(), Ok(text));
        }
    };
    choices::check(1500, SEED + 2, generate, test);
}

/// Blocked layouts by their definition in integers: thread by thread, dimension `order[0]` first.
#[test]
fn blocked_layouts_are_cut_evenly() {
    let generate = |rng: &mut Choices| {
        let rank = rng.usize(1..=3);
        let list = |rng: &mut Choices| (0..rank).map(|_| 1i64 << rng.u8(0..3)).collect::<Vec<_>>();
        let lists = [list(rng), list(rng), list(rng)];
        let more = list(rng);
        let mut order: Vec<usize> = (0..rank).collect();
        rng.shuffle(&mut order);
        (lists, more, order)
    };
    let test = |(lists, more, order): &([Vec<i64>; 3], Vec<i64>, Vec<usize>)| {
        let [registers, threads, warps] = lists;
        let rank = order.len();
        let tile: Vec<i64> = (0..rank).map(|d| registers[d] * threads[d] * warps[d]).collect();
        let sizes: Vec<i64> = (0..rank).map(|d| tile[d] * more[d]).collect();
        if sizes.iter().product::<i64>() > 1 << 12 {
            return;
        }
        let of: String = sizes.iter().map(|n| format!("{n}x")).collect();
        let text = format!(
            "tensor<{of}f32, #ttg.blocked<{{sizePerThread = {registers:?}, threadsPerWarp = {threads:?}, warpsPerCTA = {warps:?}, order = {order:?}}}>>"
        );
        let placement = read(&text).unwrap_or_else(|e| panic!("{text}: {e}")).placement().unwrap();
        for index in indices(&sizes) {
            let line = |digit: &dyn Fn(usize) -> (i64, i64)| {
                order.iter().rev().fold(0, |sum, d| {
                    let (value, size) = digit(*d);
                    sum * size + value
                })
            };
            let register = line(&|d| (index[d] % registers[d], registers[d]));
            let lane = line(&|d| (index[d] / registers[d] % threads[d], threads[d]));
            let warp = line(&|d| (index[d] / (registers[d] * threads[d]) % warps[d], warps[d]));
            let again = line(&|d| (index[d] / tile[d], more[d]));
            let expected = [("lane", lane), ("warp", warp)];
            let place = placement.place(&index).unwrap();
            let address = register + again * registers.iter().product::<i64>();
            assert_eq!(place.last(), Some(&address), "{text} at {index:?}");
            for (name, value) in expected {
                let axis = placement.axes().iter().position(|axis| axis == name);
                assert_eq!(axis.map_or(0, |axis| place[axis]), value, "{text} at {index:?}");
            }
        }
    };
    choices::check(300, SEED + 3, generate, test);
}

/// Tiled layouts convert to JAX and back unchanged, with all their tiles.
#[test]
fn tiled_layouts_are_not_changed_on_the_way() {
    let test = |(text, _): &(String, Vec<i64>)| {
        let Description::Tiled { layout, .. } = read(text).unwrap().description else { panic!("{text}") };
        let written = converted(text, Notation::Jax).unwrap();
        let again = converted(&format!("{} {written}", &text[..text.find('{').unwrap()]), Notation::Tiled).unwrap();
        assert_eq!(Shape::parse(&again), Shape::parse(text));
        assert_eq!(again.contains('T'), layout.is_tiled());
    };
    choices::check(500, SEED + 4, tiled, test);
}

/// Any text is parsed or refused with an error inside of it, and a parsed layout answers all queries.
#[test]
fn no_text_does_harm() {
    let seeds = [
        "((2,4),3):((1,6),2)",
        "Sw<2,0,3> o 0 o (8,8):(8,1)",
        "shape=(2, 3), strides=(12, 4), itemsize=4",
        "f32[16,64] Layout(major_to_minor=(0, 1), tiling=((8, 16), (2, 1)))",
        "memref<16x64xf32, affine_map<(d0, d1) -> (d0 floordiv 8, d1, d0 mod 8)>, #layout.memory_space<vmem>>",
        "memref<16x64xbf16, #tpu.tiled<(8,16)(2,1),[4,1]>, #tpu.memory_space<vmem>>",
        "memref<4x4xf32, strided<[4, 1], offset: 3>, 1>",
        "tensor<16x8xf32, #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration = {encoding_info = {innerDimsPos = [0, 1], innerTileSizes = [8, 4], outerDimsPerm = [0, 1]}}>]>>",
        "linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %b : tensor<16x8xf32> -> tensor<2x2x8x4xf32>",
        "#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [1, 0]], warp = [[2, 0], [4, 0], [0, 0]], block = []}>",
        "tensor<16x16xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>>",
        "!ttg.memdesc<4x4xf32, #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 2]]}, alignment = 16>, #ttg.shared_memory, mutable>",
        "(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4), domain: d0 in [0, 15], d1 in [0, 3]",
        "((4_lane, 3:8), (8:1))",
        "f32[3,5]{1,0:T(2,2)S(1)}",
    ];
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        ",",
        ":",
        "0",
        "1",
        "2",
        "9223372036854775807",
        "4611686018427387904",
        "-1",
        "_",
        "x",
        "f32",
        "o",
        "=",
        "->",
        "d0",
        " ",
        "é",
        "#",
        "4096",
    ];
    let test = |text: &String| match read(text) {
        Err(error) => assert!(error.at.is_none_or(|at| at <= text.len()), "{text}: {error}"),
        Ok(described) => {
            for notation in Notation::ALL {
                let _ = write(&described, *notation, ElementType::F32);
            }
        }
    };
    let (cases, seed) = Sample::from_env().random(12_000, SEED + 5);
    choices::check(cases, seed, |rng| mangled::text(rng, &seeds, &pieces), test);
}

#[test]
fn reading_is_bounded() {
    for (head, piece, tail) in [
        ("", "(", ""),
        ("(", "2,", "2):(1)"),
        ("", "((2):(1))", ""),
        ("#ttg.linear<{register = [", "[1],", "[1]]}>"),
        ("f32[2] Layout((0,),(", "(1,),", "))"),
        ("memref<", "2x", "f32>"),
        ("memref<4xf32, #tpu.tiled<", "(2)", ",[1]>>"),
        ("shape=(", "1,", "), itemsize=4"),
    ] {
        let text = format!("{head}{}{tail}", piece.repeat(200_000 / piece.len()));
        assert!(read(&text).is_err(), "{head}{piece}");
    }
    // Numbers at the limits give an answer or an error.
    for text in [
        "#ttg.blocked<{sizePerThread = [4611686018427387904, 4611686018427387904], threadsPerWarp = [4611686018427387904, 1], warpsPerCTA = [1, 1], order = [1, 0]}>",
        "(4611686018427387904,2):(1,4611686018427387904)",
        "(4611686018427387904,4):(1,4611686018427387904)",
        "memref<9223372036854775807xf32, #tpu.tiled<(9223372036854775807),[1]>>",
        "memref<3037000500x3037000500xf32>",
        "f32[9223372036854775807] Layout((0,), ((2,),))",
        "memref<4611686018427387904xf32, affine_map<(d0) -> (d0 mod 2, d0 floordiv 2)>>",
        "Sw<31,0,31> o 0 o (4611686018427387904):(1)",
    ] {
        if let Ok(described) = read(text) {
            let equal = described.meaning().map(|meaning| meaning.compare(&meaning));
            assert!(matches!(equal, Err(_) | Ok(Equality::Equal)), "{text}");
            Notation::ALL.iter().for_each(|notation| drop(write(&described, *notation, ElementType::F32)));
        }
    }
}
