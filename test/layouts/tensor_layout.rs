//! TensorLayouts: the notation's examples with their numbers, messages for wrong texts, and laws on random layouts
//! against the definition computed step by step.

use layout_reference::boxes::{index_at, indices, is_inside, position};
use layout_reference::choices::{self, Choices};
use layout_reference::lines;
use layout_reference::mangled;
use layout_reference::places::Definition;
use std::cell::Cell;
use std::collections::BTreeSet;
use tensor_layout::conversion::Meaning;
use tensor_layout::conversion::{to_tensor_layout, to_tiled};
use tensor_layout::maps::Equality;
use tensor_layout::operations::Shape;
use tensor_layout::places::{Copies, Held, Placement};
use tensor_layout::places::{Slice, View};
use tensor_layout::places::{TensorLayout, is_tensor_layout};
use tensor_layout::text::Error;
use tensor_layout::tiled::Expansion;
use tensor_layout::tiled::{Layout, TileEntry};

const SEED: u64 = 0x7e_4502;

fn placed(text: &str) -> Placement {
    Placement::parse(text).unwrap_or_else(|e| panic!("{text}: {:?}", e.error))
}

#[test]
fn examples() {
    lines::check("layouts/tensor_layout/places.txt", "> ", |text, expected| {
        let (list, _) = expected.split_once(" at ").unwrap();
        let index: Vec<i64> = serde_json::from_str(list).unwrap();
        let placement = placed(text);
        let place = placement.place(&index).unwrap();
        assert_eq!(placement.held(&place), Ok(Held::Element(index.clone())), "{text} at {place:?}");
        let by_map = placement.map().evaluate(&index).unwrap();
        assert_eq!(by_map.as_ref(), Some(&place), "{text}: {} at {index:?}", placement.map());
        assert!(is_tensor_layout(text), "{text}");
        format!("{list} at {place:?}")
    });
}

#[test]
fn sizes_of_the_examples() {
    // Sizes, padded sizes, and the elements of one place.
    for (text, sizes, padded, local) in [
        ("((4_PE, 3:8), (8:1))", &[12, 8][..], &[12, 8][..], 24),
        ("((12:8), (8:1); B@[PE])", &[12, 8], &[12, 8], 96),
        ("((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))", &[1024, 512], &[1024, 512], 64),
        ("(10,7)/((3:7, 4_PE), (7:1))", &[10, 7], &[12, 7], 21),
        ("(10,7)/((10:2), (2:1, 4_PE))", &[10, 7], &[10, 8], 20),
        ("((), (8:96, 8_L1B:1, 2_Time:25, 2:48, 16:1), (25_Time:1, 4_PE))", &[1, 4096, 100], &[1, 4096, 100], 256),
        ("((2_L2B:1, 16_MAB, 4:64), (2_L1B:4, 4_PE, 2_W, 8:1), (4_L2B:2, 4_L1B:1, 8:8))", &[128; 3], &[128; 3], 256),
        ("(0,4)/((2:4), (4:1))", &[0, 4], &[2, 4], 8),
    ] {
        let placement = placed(text);
        assert_eq!(placement.sizes(), sizes, "{text}");
        assert_eq!(placement.padded_sizes(), padded, "{text}");
        assert_eq!(placement.local_elements(), local, "{text}");
        assert_eq!(placement.elements(), sizes.iter().product::<i64>(), "{text}");
        assert_eq!(placement.padded_elements(), padded.iter().product::<i64>(), "{text}");
    }
}

#[test]
fn copies_of_the_examples() {
    let copies = |text: &str| {
        let placement = placed(text);
        let axes = placement.axes().iter().enumerate();
        axes.map(|(k, axis)| (axis.clone(), placement.copies(k))).collect::<Vec<_>>()
    };
    assert_eq!(copies("((12:8), (8:1); B@[PE])"), [("PE".to_string(), Copies::All)]);
    let steps = |axis: &str, steps: &[(i64, i64)]| (axis.to_string(), Copies::Steps(steps.to_vec()));
    assert_eq!(copies("((4:1); B@[8_L2B:1])"), [steps("L2B", &[(8, 1)])]);
    // Parts of an axis may be broadcast beside other parts; adjacent ones merge.
    assert_eq!(copies("((4_PE:4, 4:1); B@[2_PE:2, 2_PE:1])"), [steps("PE", &[(4, 1)])]);
    assert_eq!(copies("((4:1); B@[2_PE:4, 2_PE:3, 2_PE:2])"), copies("((4:1); B@[4_PE:2, 2_PE:3])"));
    let same = |a: &str, b: &str| placed(a).copies(0).same(&placed(b).copies(0));
    assert!(same("((4:1); B@[4_PE:3, 3_PE:2])", "((4:1); B@[6_PE:2, 2_PE:3])"));
    assert!(!same("((4:1); B@[4_PE:3, 3_PE:2])", "((4:1); B@[4_PE:3, 3_PE:4])"));
    assert!(!same("((4:1); B@[PE])", "((4:1); B@[4_PE])"));
    // A next step's reach need not fit in 64 bits.
    let far = "((4:1); B@[2_PE:4611686018427387904])";
    assert!(same(far, far));
    assert_eq!(copies("((4_PE))"), [steps("PE", &[])]);
}

#[test]
fn printing() {
    lines::check("layouts/tensor_layout/printed.txt", "> ", |text, printed| {
        let layout = TensorLayout::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(TensorLayout::parse(printed).as_ref(), Ok(&layout), "{text}");
        layout.to_string()
    });
}

#[test]
fn which_texts_are_layouts() {
    for (text, layout) in [
        ("((4_PE))", true),
        ("( 2:3)", true),
        ("/((4:1))", true),
        ("((), (4:1))", true),
        ("(f32[2], s8[3])", false),
        ("((f32[2]))", false),
        ("f32[2]", false),
        ("()", false),
        ("b(f32[2])", false),
        ("/* c */ f32[2]", false),
        ("// c\nf32[2]", false),
        ("", false),
    ] {
        assert_eq!(is_tensor_layout(text), layout, "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let many = format!("(({}))", vec!["1"; 3000].join(", "));
    let deep = format!("({})", vec!["()"; 300].join(", "));
    let long = format!("((2_{}))", "A".repeat(100) + "é");
    let error = |text: &str| lines::error(&Placement::parse(text).expect_err("a wrong layout").error);
    lines::check("layouts/tensor_layout/errors.txt", "! ", |text, _| error(text));
    assert_eq!(error(&many), format!("{} a layout must have at most 512 parts, found more", 2 + 512 * 3));
    assert_eq!(error(&deep), format!("{} a shape must have at most 256 dimensions, found more", 1 + 256 * 4 + 2));
    assert_eq!(error(&long), "104 expected `,` or `)` to close the dimension, found `é`");
}

#[test]
fn collisions_name_both_elements() {
    for (text, at, elements, message) in [
        (
            "((4_PE, 3:7), (8:1))",
            15,
            [[1, 0], [0, 7]],
            "the elements [1, 0] and [0, 7] share a place: their coordinates along Addr are the same",
        ),
        (
            "((2_PE:1, 4:1), (2_PE:1, 4:4))",
            17,
            [[4, 0], [0, 4]],
            "the elements [4, 0] and [0, 4] share a place: their coordinates along PE are the same",
        ),
        (
            "((4_PE:1), (4:1); B@[2_PE:2])",
            21,
            [[2, 0], [0, 0]],
            "copies of the elements [0, 0] and [2, 0] share a place along PE",
        ),
        ("((4:1), (4:4); B@[2_PE:0])", 18, [[0, 0], [0, 0]], "two copies of each element share a place along PE"),
    ] {
        let found = Placement::parse(text).unwrap_err();
        assert_eq!((found.error.at, &*found.error.message), (Some(at), message), "{text}");
        let collide = found.collide.unwrap();
        assert!(*collide == elements || collide.iter().rev().eq(elements.iter()), "{text}: {collide:?}");
    }
    // Padding can prevent a collision: row 1 has only the columns up to 2.
    assert!(Placement::parse("(2,3)/((2:3), (4:1))").is_ok());
    assert!(Placement::parse("((2:3), (4:1))").is_err());
    assert!(Placement::parse("(0,4)/((2:0), (4:0))").is_ok());
}

/// Counts an event.
fn count(counter: &Cell<usize>, more: bool) {
    counter.set(counter.get() + usize::from(more));
}

/// Every law for one layout. Returns whether it is well-formed.
fn check(definition: &Definition) -> bool {
    let text = definition.text();
    let layout = TensorLayout::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(TensorLayout::parse(&layout.to_string()).as_ref(), Ok(&layout), "{text}: parsing what was printed");
    let placement = match (Placement::parse(&text), definition.collision()) {
        (Ok(placement), None) => placement,
        (Ok(_), Some((a, b))) => panic!("{text}: {a:?} and {b:?} collide"),
        (Err(found), None) => panic!("{text}: {}", found.error),
        (Err(found), Some(_)) => {
            let elements = found.collide.unwrap_or_else(|| panic!("{text}: {}", found.error));
            assert!(found.error.at.is_some(), "{text}: {}", found.error);
            let [a, b] = elements.as_ref();
            assert!([a, b].iter().all(|index| is_inside(index, &definition.shape)), "{text}: {a:?} and {b:?}");
            assert!(definition.collide(a, b), "{text}: {a:?} and {b:?} do not collide");
            return false;
        }
    };
    let axes: Vec<&str> = placement.axes().iter().map(String::as_str).collect();
    let map = placement.map();
    for index in indices(&definition.shape) {
        let place = placement.place(&index).unwrap();
        let least: Vec<i64> = definition.coordinates(&index, &axes);
        assert_eq!(place, least, "{text}: place of {index:?}");
        assert_eq!(map.evaluate(&index).unwrap(), Some(place), "{text}: {map} at {index:?}");
    }
    // Every place of a box that is a bit larger than the used one.
    let extents: Vec<i64> = placement.extents().iter().map(|n| n + 2).collect();
    let held = definition.held(&axes);
    for place in indices(&extents) {
        let place: Vec<i64> = place.iter().map(|c| c - 1).collect();
        let whole = |k: usize| axes.get(k).is_some_and(|axis| definition.whole.contains(axis));
        let key: Vec<i64> = (0..place.len()).map(|k| if whole(k) { 0 } else { place[k] }).collect();
        let expected = match held.get(&key) {
            _ if place.iter().any(|c| *c < 0) => Held::Outside,
            None => Held::Outside,
            Some(None) => Held::Padding,
            Some(Some(index)) => Held::Element(index.clone()),
        };
        assert_eq!(placement.held(&place), Ok(expected), "{text}: what is at {place:?}");
    }
    true
}

/// The used places, in a box that is larger than the layout's reach.
fn check_places(definition: &Definition) {
    let (text, Ok(placement)) = (definition.text(), Placement::parse(&definition.text())) else { return };
    let axes: Vec<&str> = placement.axes().iter().map(String::as_str).collect();
    let mut extents = placement.extents();
    extents.truncate(axes.len());
    let elements = definition.held(&axes).into_iter().filter(|(_, element)| element.is_some());
    let taken: BTreeSet<Vec<i64>> = elements.map(|(place, _)| place[..axes.len()].to_vec()).collect();
    let whole = |k: usize| definition.whole.contains(&axes[k]);
    for more in [0, 2] {
        let extents: Vec<i64> = extents.iter().map(|n| n + more).collect();
        let key = |place: &[i64]| (0..place.len()).map(|k| if whole(k) { 0 } else { place[k] }).collect::<Vec<_>>();
        let (used, unused): (Vec<_>, Vec<_>) = indices(&extents).into_iter().partition(|p| taken.contains(&key(p)));
        let found = placement.utilisation(Some(&extents)).unwrap();
        assert_eq!((found.used, found.places), (used.len() as i128, (used.len() + unused.len()) as i128), "{text}");
        assert!(used.iter().all(|p| placement.is_used(p).unwrap()), "{text}");
        let few = unused.len().min(5);
        assert_eq!(placement.unused(&extents, 5).unwrap(), unused[..few], "{text}: unused of {extents:?}");
        for (axis, extent) in extents.iter().enumerate() {
            let without: Vec<i64> = (0..*extent).filter(|c| used.iter().all(|place| place[axis] != *c)).collect();
            assert_eq!(placement.unused_along(axis, *extent, 1000).unwrap(), without, "{text}: {}", axes[axis]);
        }
        if more == 0 {
            assert_eq!(placement.utilisation(None).unwrap(), found, "{text}");
        }
    }
    // An extent too small for the last element is refused.
    for axis in 0..axes.len() {
        let Some(last) = taken.iter().map(|place| place[axis]).max() else { continue };
        let mut extents = extents.clone();
        extents[axis] = last + 1;
        assert!(placement.utilisation(Some(&extents)).is_ok(), "{text}: {extents:?}");
        extents[axis] = last;
        assert!(placement.utilisation(Some(&extents)).is_err(), "{text}: {extents:?}");
    }
}

#[test]
fn used_places_are_counted() {
    choices::check(3000, SEED + 3, Definition::random, check_places);
    let every_second = placed("((4_L2B:2, 64:8), (8:1, 2_W:1))");
    assert_eq!(every_second.unused(&[7, 2], 3).unwrap(), [[1, 0], [1, 1], [3, 0]]);
    let error = every_second.utilisation(Some(&[6, 2])).unwrap_err();
    assert_eq!(error.message, "the extent of L2B must be greater than 6, where an element is, found 6");
    let wide = placed("((1152921504606846976_A), (2_B2); B@[8_C:1])");
    assert_eq!(wide.utilisation(None).unwrap().used, 1 << 64);
    let board = placed("((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))").utilisation(None).unwrap();
    assert_eq!((board.used, board.places), (8192, 8192));
}

#[test]
fn laws_hold_for_random_layouts() {
    crate::long_test!();
    let formed = Cell::new(0);
    choices::check(4000, SEED, Definition::random, |definition| count(&formed, check(definition)));
    assert!((1000..3000).contains(&formed.get()), "{} layouts are well-formed", formed.get());
}

#[test]
fn meanings_are_equal_where_all_places_are() {
    let (equal, different) = (Cell::new(0), Cell::new(0));
    let pair = |rng: &mut Choices| {
        let a = Definition::random(rng);
        let b = if rng.one_in(4) { Definition::random(rng) } else { a.varied(rng) };
        (a, b)
    };
    choices::check(4000, SEED + 1, pair, |(a, b)| {
        let (Ok(x), Ok(y)) = (Placement::parse(&a.text()), Placement::parse(&b.text())) else { return };
        let same = a.shape == b.shape && indices(&a.shape).iter().all(|i| a.places(i) == b.places(i));
        let name = format!("{} and {}", a.text(), b.text());
        match Meaning::from(&x).compare(&Meaning::from(&y)) {
            Equality::Equal => {
                assert!(same, "{name} are not equal");
                count(&equal, true);
            }
            Equality::Different { witness, reason } => {
                assert!(!same, "{name}: {reason}");
                assert_eq!(witness.is_some(), a.shape == b.shape, "{name}: {reason}");
                if let Some(index) = witness {
                    assert_ne!(a.places(&index), b.places(&index), "{name}: {reason}, at {index:?}");
                }
                count(&different, true);
            }
            Equality::Unknown { reason } => panic!("{name}: {reason}"),
        }
    });
    assert!(equal.get() > 500 && different.get() > 500, "{equal:?} {different:?}");
}

/// The sizes of a random reshape.
fn other_sizes(rng: &mut Choices, sizes: &[i64]) -> Vec<i64> {
    let mut rest: i64 = sizes.iter().product();
    let mut other = Vec::new();
    while rest > 1 || other.is_empty() || rng.one_in(4) {
        let divisors: Vec<i64> = (1..=rest).filter(|d| rest % d == 0).collect();
        let size = if rest == 0 { rng.i64(0..3) } else { rng.choice(&divisors) };
        other.push(size);
        rest = if rest == 0 { i64::from(size != 0 || rng.bool()) - 1 } else { rest / size };
        if rest <= 0 {
            break;
        }
    }
    rng.shuffle(&mut other);
    other
}

/// A random slice of each dimension.
fn some_slices(rng: &mut Choices, sizes: &[i64]) -> Vec<Slice> {
    let slice = |n: &i64| {
        let start = rng.i64(0..=*n);
        Slice { start, limit: rng.i64(start..=*n), step: rng.i64(1..4) }
    };
    sizes.iter().map(slice).collect()
}

/// Checks that each element of a view keeps its place: `source` is its index in the layout.
fn check_view(definition: &Definition, view: &View, sizes: &[i64], source: impl Fn(&[i64]) -> Vec<i64>) {
    let name = format!("{} at {} of {}", view.layout, view.offset, definition.text());
    assert_eq!(view.layout.sizes().as_deref(), Ok(sizes), "{name}");
    assert_eq!(TensorLayout::parse(&view.layout.to_string()).as_ref(), Ok(&view.layout), "{name}: printed");
    let found = Definition::of(&view.layout);
    for index in indices(sizes) {
        let moved = found.places(&index).into_iter().map(|mut place| {
            *place.get_mut("Addr").unwrap() += view.offset;
            place
        });
        assert_eq!(moved.collect::<BTreeSet<_>>(), definition.places(&source(&index)), "{name}: element {index:?}");
    }
}

#[test]
fn views_have_their_elements_where_they_are() {
    let (views, copies, cuts) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let case = |rng: &mut Choices| {
        let definition = Definition::random(rng);
        let mut permutation: Vec<usize> = (0..definition.shape.len()).collect();
        rng.shuffle(&mut permutation);
        let slices = some_slices(rng, &definition.shape);
        let sizes = other_sizes(rng, &definition.shape);
        (definition, permutation, slices, sizes)
    };
    choices::check(6000, SEED + 4, case, |(definition, permutation, slices, sizes)| {
        let layout = TensorLayout::parse(&definition.text()).unwrap();
        let shape = &definition.shape;

        let view = layout.transposed(permutation).unwrap();
        let turned: Vec<i64> = permutation.iter().map(|dim| shape[*dim]).collect();
        check_view(definition, &view, &turned, |index| {
            let mut source = vec![0; index.len()];
            permutation.iter().zip(index).for_each(|(dim, i)| source[*dim] = *i);
            source
        });

        match layout.sliced(slices) {
            Ok(view) => {
                let cut: Vec<i64> =
                    slices.iter().map(|s| (s.start..s.limit).step_by(s.step as usize).count() as i64).collect();
                let source = |index: &[i64]| slices.iter().zip(index).map(|(s, i)| s.start + i * s.step).collect();
                check_view(definition, &view, &cut, source);
            }
            Err(_) => count(&cuts, true),
        }

        match layout.reshaped(sizes) {
            Ok(view) => {
                check_view(definition, &view, sizes, |index| index_at(position(index, sizes), shape));
                count(&views, true);
            }
            Err(_) => count(&copies, true),
        }
    });
    let (views, copies, cuts) = (views.get(), copies.get(), cuts.get());
    assert!(views > 2000 && copies > 500 && (500..5000).contains(&cuts), "{views} {copies} {cuts}");
}

#[test]
fn strided_layouts_have_the_views_that_strides_can_say() {
    let (views, copies) = (Cell::new(0), Cell::new(0));
    let case = |rng: &mut Choices| {
        let rank = rng.usize(1..=4);
        let sizes: Vec<i64> = (0..rank).map(|_| rng.i64(1..=6)).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        if rng.bool() {
            rng.shuffle(&mut order);
        }
        let (mut strides, mut reach) = (vec![0; rank], 1);
        for dim in order.iter().rev() {
            strides[*dim] = if rng.one_in(8) { rng.i64(0..9) } else { reach };
            reach *= sizes[*dim] * if rng.one_in(8) { 2 } else { 1 };
        }
        let other = other_sizes(rng, &sizes);
        let slices = some_slices(rng, &sizes);
        (sizes, strides, other, slices)
    };
    choices::check(6000, SEED + 5, case, |(sizes, strides, other, slices)| {
        let parts: Vec<String> = sizes.iter().zip(strides).map(|(n, s)| format!("{n}:{s}")).collect();
        let text = format!("({})", parts.join(", "));
        let layout = TensorLayout::parse(&text).unwrap();
        let address = |index: &[i64]| index.iter().zip(strides).map(|(i, s)| i * s).sum::<i64>();

        let source = |index: &[i64]| index_at(position(index, other), sizes);
        let moved = |index: &[i64]| address(&source(index));
        let unit = |dim: usize| {
            let mut index = vec![0; other.len()];
            index[dim] = i64::from(other[dim] > 1);
            moved(&index)
        };
        let steps: Vec<i64> = (0..other.len()).map(unit).collect();
        let linear = |index: &Vec<i64>| index.iter().zip(&steps).map(|(i, s)| i * s).sum::<i64>();
        let possible = indices(other).iter().all(|index| linear(index) == moved(index));
        match layout.reshaped(other) {
            Ok(view) => {
                assert!(possible, "{text} as {other:?} is no view, not even {}", view.layout);
                assert!(view.layout.strided && view.offset == 0, "{text} as {other:?}: {}", view.layout);
                check_view(&Definition::of(&layout), &view, other, source);
                count(&views, true);
            }
            Err(error) => {
                assert!(!possible, "{text} as {other:?} is a view: {error}");
                count(&copies, true);
            }
        }
        assert!(layout.sliced(slices).is_ok(), "{text}: {slices:?}");
    });
    let (views, copies) = (views.get(), copies.get());
    assert!(views > 1500 && copies > 1500, "{views} views, {copies} copies");
}

#[test]
fn views_of_the_examples() {
    lines::check("layouts/tensor_layout/views.txt", "> ", |text, expected| {
        let (view, _) = expected.split_once(": ").unwrap();
        let (kind, list) = view.split_once(' ').unwrap();
        let numbers: Vec<i64> = list.split([',', ':', ' ']).map(|number| number.parse().unwrap()).collect();
        let layout = TensorLayout::parse(text).unwrap();
        let slice = |list: &[i64]| Slice { start: list[0], limit: list[1], step: list[2] };
        let found = match kind {
            "transposed" => layout.transposed(&numbers.iter().map(|dim| *dim as usize).collect::<Vec<_>>()),
            "sliced" => layout.sliced(&numbers.chunks(3).map(slice).collect::<Vec<_>>()),
            _ => layout.reshaped(&numbers),
        };
        format!("{view}: {}", found.map_or_else(|e| e.message, |v| format!("{} from {}", v.layout, v.offset)))
    });
}

/// Converts a tiled layout to a TensorLayout and back. Returns each result or its error.
fn there_and_back(sizes: &[i64], tiled: &Layout) -> Result<(TensorLayout, Result<Layout, Error>), Error> {
    let name = format!("{sizes:?}{tiled}");
    let expansion = Expansion::new(sizes, tiled).unwrap();
    let parts = to_tensor_layout(&expansion, tiled)?;
    let placement = Placement::parse(&parts.to_string()).unwrap_or_else(|e| panic!("{name}: {parts}: {}", e.error));
    assert_eq!(placement.sizes(), sizes, "{name}: {parts}");
    let back = to_tiled(&placement);
    let other = back.as_ref().ok().map(|back| Expansion::new(sizes, back).unwrap());
    for number in 0..sizes.iter().product::<i64>().min(5000) {
        let index = index_at(number as usize, sizes);
        let offset = expansion.offset(&index).unwrap();
        assert_eq!(placement.place(&index), Ok(vec![offset]), "{name}: {parts} at {index:?}");
        if let Some(other) = &other {
            assert_eq!(other.offset(&index), Ok(offset), "{name}: {parts}, {back:?} at {index:?}");
        }
    }
    Ok((parts, back))
}

#[test]
fn nesting_tiles_have_parts_and_parts_have_tiles() {
    let case = |rng: &mut Choices| {
        let rank = rng.usize(1..=4);
        let sizes: Vec<i64> = (0..rank).map(|_| rng.i64(1..=12)).collect();
        let mut layout = Layout::row_major(rank);
        rng.shuffle(&mut layout.minor_to_major);
        let mut tile: Vec<i64> = (0..rng.usize(0..=rank + 1)).map(|_| rng.choice(&[1, 2, 4, 6, 8])).collect();
        for _ in 0..rng.usize(0..=2) {
            if !tile.is_empty() {
                layout.tiles.push(tile.iter().map(|size| TileEntry::Size(*size)).collect());
            }
            tile.drain(..rng.usize(0..=tile.len()));
            for size in &mut tile {
                let divisors: Vec<i64> = (1..=*size).filter(|d| *size % d == 0).collect();
                *size = rng.choice(&divisors);
            }
        }
        (sizes, layout)
    };
    choices::check(3000, SEED + 6, case, |(sizes, layout)| {
        let name = format!("{sizes:?}{layout}");
        let (parts, back) = there_and_back(sizes, layout).unwrap_or_else(|e| panic!("{name}: {e}"));
        let back = back.unwrap_or_else(|e| panic!("{name}: {parts}: {e}"));
        // The result is a normal form: another conversion gives the same.
        let (_, again) = there_and_back(sizes, &back).unwrap();
        assert_eq!(again.as_ref(), Ok(&back), "{name}: {parts}");
    });
}

#[test]
fn tiles_that_reach_into_the_grid_before_them_are_found_back() {
    let found = Cell::new(0);
    let case = |rng: &mut Choices| {
        let rank = rng.usize(1..=3);
        let sizes: Vec<i64> = (0..rank).map(|_| 1 << rng.i64(0..=4)).collect();
        let mut layout = Layout::row_major(rank);
        rng.shuffle(&mut layout.minor_to_major);
        for _ in 0..rng.usize(1..=4) {
            let size = |rng: &mut Choices| TileEntry::Size(1 << rng.i64(0..=3));
            layout.tiles.push((0..rng.usize(1..=4)).map(|_| size(rng)).collect());
        }
        (sizes, layout)
    };
    choices::check(3000, SEED + 7, case, |(sizes, layout)| {
        if Expansion::new(sizes, layout).unwrap().elements() > 100_000 {
            return;
        }
        let Ok((parts, back)) = there_and_back(sizes, layout) else { return };
        assert!(back.is_ok(), "{sizes:?}{layout}: {parts}: {back:?}");
        count(&found, true);
    });
    assert!(found.get() > 2000, "{}", found.get());
}

#[test]
fn known_layouts_in_the_other_notation() {
    lines::check("layouts/tensor_layout/from_tiles.txt", "> ", |text, _| {
        let Ok(Shape::Array(array)) = Shape::parse(text) else { panic!("{text}") };
        match there_and_back(&array.sizes().unwrap(), &array.layout) {
            Ok((parts, back)) => {
                format!("{parts} and back {}", back.map_or_else(|e| e.message, |back| back.to_string()))
            }
            Err(error) => error.message,
        }
    });
}

#[test]
fn layouts_of_the_address_as_tiles() {
    lines::check("layouts/tensor_layout/to_tiles.txt", "> ", |text, _| {
        to_tiled(&placed(text)).map_or_else(|e| e.message, |layout| layout.to_string())
    });
}

#[test]
fn the_layouts_of_real_programs_have_parts() {
    let mut without = BTreeSet::new();
    for line in include_str!("../golden/layouts.jsonl").lines() {
        let fact: serde_json::Value = serde_json::from_str(line).unwrap();
        let Ok(Shape::Array(array)) = Shape::parse(fact["shape"].as_str().unwrap()) else { continue };
        let Some(sizes) = array.sizes().filter(|sizes| array.element.is_data() && !sizes.is_empty()) else { continue };
        if Expansion::new(&sizes, &array.layout).is_err() || !array.layout.splits.is_empty() {
            continue;
        }
        if !matches!(there_and_back(&sizes, &array.layout), Ok((_, Ok(_)))) {
            without.insert(array.to_string());
        }
    }
    // A dimension that a merge cuts across has no parts.
    let expected = [
        "bf16[2,3,1004]{2,1,0:T(2,*,128)}",
        "bf16[8,2,3,1004]{3,2,1,0:T(2,*,*,128)}",
        "f32[123,456,789]{0,1,2:T(2,*,128)}",
        "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    ];
    assert_eq!(without.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn nothing_is_the_same_anywhere() {
    let meaning = |text| Meaning::from(&placed(text));
    assert_eq!(meaning("(0)/((4_PE))").compare(&meaning("(0)/((4:1); B@[2_X])")), Equality::Equal);
    assert!(matches!(meaning("(0)/((4_PE))").compare(&meaning("(1)/((4_PE))")), Equality::Different { .. }));
}

/// Any text gives a value, or an error whose offset is on a character of the text.
fn survive(text: &str) {
    let shown: String = text.chars().take(200).collect();
    let layout = match TensorLayout::parse(text) {
        Ok(layout) => layout,
        Err(error) => {
            let at = error.at.unwrap_or_else(|| panic!("{shown:?}: no offset"));
            assert!(text.is_char_boundary(at), "{shown:?}: offset {at}");
            assert!(!error.message.is_empty() && error.message.len() < 250, "{shown:?}: {}", error.message);
            return;
        }
    };
    assert_eq!(TensorLayout::parse(&layout.to_string()), Ok(layout.clone()), "{shown:?}: parsing {layout}");
    match Placement::parse(text) {
        Err(found) => assert!(found.error.message.len() < 6000, "{shown:?}: {}", found.error),
        Ok(placement) if placement.sizes().contains(&0) => drop((placement.utilisation(None), to_tiled(&placement))),
        Ok(placement) => {
            let last: Vec<i64> = placement.sizes().iter().map(|size| size - 1).collect();
            let place = placement.place(&last).unwrap();
            assert_eq!(placement.held(&place), Ok(Held::Element(last.clone())), "{shown:?} at {place:?}");
            assert_eq!(placement.map().evaluate(&last).unwrap(), Some(place), "{shown:?} at {last:?}");
            let _ = (placement.local_elements(), to_tiled(&placement));
            if let Ok(utilisation) = placement.utilisation(None) {
                assert!((1..=utilisation.places).contains(&utilisation.used), "{shown:?}: {utilisation:?}");
                let few: Vec<i64> = utilisation.extents.iter().map(|n| *n.min(&4)).collect();
                let _ = placement.unused(&few, 3);
            }
            assert!(layout.reshaped(placement.sizes()).is_ok(), "{shown:?}");
            let _ = (layout.reshaped(&[placement.elements()]), layout.reshaped(&[2, placement.elements() / 2]));
            let middle = |n: &i64| Slice { start: n / 3, limit: n - n / 3, step: 1 + n / 5 };
            let _ = layout.sliced(&placement.sizes().iter().map(middle).collect::<Vec<_>>());
        }
    }
}

#[test]
fn no_text_makes_the_parser_fail_otherwise_than_with_an_error() {
    crate::long_test!();
    let seeds = [
        "((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))",
        "(256,16)/((8_L2B:1, 4:2, 8_L1B:1), (2:1, 4_PE:1, 2_W:1); B@[MAB])",
        "((16:1), (8_MAB:2, 8_L1B:1, 2_MAB:1, 4_PE:1, 2_W:1); B@[8_L2B:1])",
        "((2_L2B:1, 16_MAB, 4:64), (2_L1B:4, 4_PE, 2_W, 8:1), (4_L2B:2, 4_L1B:1, 8:8))",
        "((), (8:96, 8_L1B:1, 2_Time:25, 2:48, 16:1), (25_Time:1, 4_PE))",
        "(10,7)/((3:7, 4_PE), (7:1))",
        "(2:3, 3:1)",
    ];
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        ",",
        ":",
        "_",
        "/",
        ";",
        "B@[",
        "B",
        "@",
        "Addr",
        "PE",
        "-",
        "0",
        "1",
        "3",
        "()",
        "/*",
        "//",
        "\n",
        "9223372036854775807",
        "9223372036854775808",
        "4611686018427387904",
        "é",
        "\u{1F600}",
        "\0",
    ];
    choices::check(22_000, SEED + 2, |rng| mangled::text(rng, &seeds, &pieces), |text| survive(text));
}

#[test]
fn a_megabyte_is_read_in_linear_time() {
    const SIZE: usize = 1_000_000;
    for (head, piece, tail) in [
        ("", "(", ""),
        ("", "/", ""),
        ("((", "1,", "1))"),
        ("(", "(),", "())"),
        ("((", "9", "))"),
        ("((2_", "A", "))"),
        ("((4:1); B@[", "A,", "A])"),
        ("(", "1,", "1)/((2:1))"),
        ("((4:1", " ", "))"),
        ("", "é", ""),
    ] {
        survive(&format!("{head}{}{tail}", piece.repeat(SIZE / piece.len())));
    }
    // The maximal number of parts, all entangled: an answer or an error, in bounded time.
    let parts: Vec<String> = (0..62).map(|k| format!("2:{}", 1 + k * k)).collect();
    survive(&format!("(({}))", parts.join(", ")));
    let parts: Vec<String> = (0..62).map(|k| format!("2:{}", 1i64 << k.min(58))).collect();
    survive(&format!("(({}))", parts.join(", ")));
}
