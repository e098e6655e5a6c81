//! Checks of the texts of the maths.

use super::refused;
use std::thread;
use tensor_layout::algebra::LayoutFunction;
use tensor_layout::conversion::{to_tensor_layout, to_tiled};
use tensor_layout::element::ElementType;
use tensor_layout::maps::{Equality, Indexing, IndexingMap, replay};
use tensor_layout::notations::{Answer, Notation, calculate, read, write};
use tensor_layout::operations::{Shape, leaves};
use tensor_layout::places::{Held, Machine, Placement, Slice, TensorLayout, plan};
use tensor_layout::text::Error;
use tensor_layout::tiled::{Expansion, Layout};

/// The most points of a tensor or a domain that are tried.
const POINTS: usize = 24;

/// Prints a value and reads it again: the same value, printed the same way.
fn round_trip<T: PartialEq + std::fmt::Debug + ToString>(value: &T, parse: fn(&str) -> Result<T, Error>) {
    let printed = value.to_string();
    let again = parse(&printed).unwrap_or_else(|error| panic!("`{printed}` is not read again: {}", error.message));
    assert_eq!(&again, value, "`{printed}` is read as another value");
    assert_eq!(again.to_string(), printed);
}

/// Some indices below these sizes: the corners, and some in between.
fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    if sizes.iter().any(|n| *n < 1) {
        return Vec::new();
    }
    let at = |k: usize| -> Vec<i64> {
        let of = |(d, n): (usize, &i64)| match (k >> (d % 4)) % 5 {
            0 => 0,
            1 => n - 1,
            2 => n / 2,
            3 => (n / 3).min(n - 1),
            _ => (k as i64) % n,
        };
        sizes.iter().enumerate().map(of).collect()
    };
    (0..POINTS).map(at).collect()
}

/// Checks a shape, or a layout alone.
pub fn shape(text: &str) {
    if text.trim_start().starts_with('{') {
        match Layout::parse(text) {
            Ok(layout) => round_trip(&layout, Layout::parse),
            Err(error) => return refused(&error, text),
        }
    }
    let shape = match Shape::parse(text) {
        Ok(shape) => shape,
        Err(error) => return refused(&error, text),
    };
    round_trip(&shape, Shape::parse);
    for array in leaves(&shape) {
        let Some(sizes) = array.sizes() else { continue };
        let expansion = match Expansion::new(&sizes, &array.layout) {
            Ok(expansion) => expansion,
            Err(error) => {
                refused(&Error::new(error.message), text);
                continue;
            }
        };
        if expansion.is_split_across_memories() {
            // An offset has no meaning without the number of a memory.
            for index in indices(&sizes) {
                refused(&expansion.offset(&index).expect_err("an offset of a layout that is cut"), text);
            }
            continue;
        }
        let offset = expansion.offset_expr();
        for index in indices(&sizes) {
            let place = expansion.offset(&index).expect("an index of the tensor has an offset");
            assert!((0..expansion.allocated_elements()).contains(&place), "{shape}: {index:?} is at {place}");
            assert_eq!(expansion.index(place).expect("an offset of the buffer"), Some(index.clone()), "{shape}");
            assert_eq!(offset.evaluate(&index), Some(place), "{shape}: {index:?}");
        }
        if let Ok(layout) = to_tensor_layout(&expansion, &array.layout) {
            round_trip(&layout, TensorLayout::parse);
            let placement = Placement::new(&layout, Some(&sizes)).expect("a tiled layout has a placement");
            let _ = to_tiled(&placement);
        }
    }
}

/// The placement of a text, if it is one.
fn placement(text: &str) -> Option<Placement> {
    match TensorLayout::parse(text) {
        Ok(layout) => round_trip(&layout, TensorLayout::parse),
        Err(error) => {
            refused(&error, text);
            return None;
        }
    }
    match Placement::parse(text) {
        Ok(placement) => Some(placement),
        Err(misplaced) => {
            refused(&misplaced.error, text);
            None
        }
    }
}

/// Checks a TensorLayout that states its sizes.
pub fn tensor_layout(text: &str) {
    let Some(placement) = placement(text) else { return };
    let (extents, map) = (placement.extents(), placement.map());
    for index in indices(placement.sizes()) {
        let place = placement.place(&index).expect("an index of the tensor has a place");
        assert!(place.iter().zip(&extents).all(|(at, n)| at < n), "{index:?} is at {place:?} of {extents:?}");
        assert_eq!(placement.held(&place).ok(), Some(Held::Element(index.clone())), "the place {place:?}");
        if let Ok(mapped) = map.evaluate(&index) {
            assert_eq!(mapped.as_ref(), Some(&place), "the map at {index:?}");
        }
    }
    let layout = placement.layout();
    let reversed: Vec<usize> = (0..layout.rank()).rev().collect();
    layout.transposed(&reversed).expect("every order is a view");
    let half = |n: &i64| Slice { start: n / 2, limit: *n, step: 1 };
    let _ = layout.sliced(&placement.sizes().iter().map(half).collect::<Vec<_>>());
    let _ = layout.reshaped(&[placement.elements()]);
    let _ = placement.utilisation(None);
    let _ = to_tiled(&placement);
    for axis in 0..placement.axes().len() {
        placement.copies(axis);
    }
}

/// Checks an expression of the algebra: a layout that it makes is read again from its text, and has its own places.
pub fn algebra(text: &str) {
    let Ok(Answer::Layout(layout)) = calculate(text) else { return };
    let again: LayoutFunction = layout.to_string().parse().expect("a layout that is written is read");
    assert_eq!(again, *layout, "{text}");
    if layout.size() <= 1 << 12 {
        assert_eq!(layout.equal(&layout.coalesce()), Equality::Equal, "{text}");
    }
}

/// Checks a layout in any notation, written in each. The written text is read and written again: that second text has
/// the same places and is stable; a map of several results becomes a map of one result the second time. Notations with
/// tiles may refuse, as the part of a tile that a dimension does not fill is not always found.
pub fn notation(text: &str) {
    let described = match read(text) {
        Ok(described) => described,
        Err(error) => return refused(&error, text),
    };
    // JAX's notation has no sizes, so it cannot be read alone.
    for notation in Notation::ALL.iter().filter(|notation| **notation != Notation::Jax) {
        let again = |written: &str| {
            let again = read(written).unwrap_or_else(|error| panic!("{text} becomes {written}: {}", error.message));
            write(&again, *notation, ElementType::F32).map_err(|error| error.message)
        };
        let has_tiles = matches!(notation, Notation::Mosaic | Notation::Pack | Notation::Iree);
        match write(&described, *notation, ElementType::F32) {
            Ok(written) => match again(&written) {
                Ok(second) => assert_eq!(again(&second), Ok(second), "{text} becomes {written}"),
                Err(why) => assert!(has_tiles && !why.is_empty(), "{text} becomes {written}, and then: {why}"),
            },
            Err(error) => assert!(!error.message.is_empty()),
        }
    }
}

/// Checks two TensorLayouts, with a machine on the third line if there is one.
pub fn relayout(text: &str) {
    let mut lines = text.lines();
    let (Some(from), Some(to)) = (lines.next().and_then(placement), lines.next().and_then(placement)) else { return };
    let machine = lines.next().and_then(|line| Machine::parse(line).ok());
    match plan(&from, &to, machine.as_ref(), 32) {
        Ok(plan) => {
            assert!(plan.stay >= 0 && plan.elements >= 0, "{plan:?}");
            let moved = plan.levels.iter().try_fold(0i64, |sum, level| sum.checked_add(level.cross));
            assert!(moved.is_some(), "{plan:?}");
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
}

/// Checks a machine, with a TensorLayout on the second line if there is one.
pub fn machine(text: &str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let machine = match Machine::parse(first) {
        Ok(machine) => machine,
        Err(error) => return refused(&error, first),
    };
    round_trip(&machine, Machine::parse);
    if let Some(placement) = rest.lines().next().and_then(placement) {
        for (bits, space) in [(1, None), (8, Some(0)), (32, Some(1)), (64, Some(127))] {
            if let Err(error) = machine.check(&placement, bits, space) {
                assert!(!error.message.is_empty());
            }
        }
    }
}

/// Checks an indexing map. Its parser and simplifier have bounded nesting, so a small stack is enough.
pub fn map(text: &str) {
    let owned = text.to_owned();
    let thread = thread::Builder::new().stack_size(128 << 10).spawn(move || map_here(&owned));
    if let Err(panic) = thread.expect("a thread starts").join() {
        std::panic::resume_unwind(panic);
    }
}

fn map_here(text: &str) {
    let value = match Indexing::parse(text) {
        Ok(value) => value,
        Err(error) => return refused(&error, text),
    };
    // Sums inside sums are printed without parentheses, and read as one sum: the same text, perhaps another tree.
    let printed = value.to_string();
    let again =
        Indexing::parse(&printed).unwrap_or_else(|error| panic!("`{printed}` is not read again: {}", error.message));
    // `x - (-16)` is read as `x + 16`, which is the same text from then on.
    round_trip(&again, Indexing::parse);
    let simple = value.simplify();
    let Indexing::Map(map) = &value else { return };
    match map.explain() {
        Ok(explained) => {
            assert_eq!(explained.result, simple, "the explanation of {map} ends elsewhere");
            let end = replay(map, &explained.steps).unwrap_or_else(|refused| panic!("{map}: {refused}"));
            let printed = |map: &IndexingMap| map.results.clone();
            match &simple {
                Indexing::Map(simple) => assert_eq!(end.as_ref().map(printed), Some(printed(simple)), "{map}"),
                _ => assert_eq!(end, None, "{map}"),
            }
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
    for point in points(map) {
        let Ok(before) = map.evaluate(&point) else { continue };
        match &simple {
            Indexing::Map(simple) => {
                if let Ok(after) = simple.evaluate(&point) {
                    assert_eq!(after, before, "{map} became {simple}, which differs at {point:?}");
                }
            }
            _ => assert_eq!(before, None, "{map} became {simple}, but it has the point {point:?}"),
        }
    }
    let _ = map.invert();
    let _ = map.rescaled();
    map.image();
    let _ = value.then(&value);
    let _ = Indexing::compose(&[value.clone(), value.clone()]);
}

/// Some points of the box of a map's variables.
fn points(map: &IndexingMap) -> Vec<Vec<i64>> {
    let at = |k: usize| -> Vec<i64> {
        let of = |(v, within): (usize, &tensor_layout::maps::Interval)| {
            let (lo, hi) = (i128::from(within.lo), i128::from(within.hi));
            let span = (hi - lo).max(0);
            let step = match (k >> (v % 4)) % 5 {
                0 => 0,
                1 => span,
                2 => span / 2,
                3 => span.min(1),
                _ => span.min(k as i128),
            };
            (lo + step) as i64
        };
        map.domain.vars.iter().enumerate().map(of).collect()
    };
    if map.domain.vars.iter().any(|within| within.lo > within.hi) { Vec::new() } else { (0..POINTS).map(at).collect() }
}
