//! The laws of the algebra of layouts, on random layouts whose places are listed by the definition; texts at fault.

use crate::sample::Sample;
use layout_reference::choices::{self, Choices};
use layout_reference::lines;
use layout_reference::mangled;
use std::cell::Cell;
use std::collections::BTreeSet;
use tensor_layout::algebra::{LayoutFunction, Slice, Tiler};
use tensor_layout::maps::Equality;
use tensor_layout::notations::{Answer, calculate};

const SEED: u64 = 0xa1_9eb;

/// A text of sizes, the text of its strides, and the places of its indices.
#[derive(Clone, Debug)]
struct Listed {
    sizes: String,
    strides: String,
    places: Vec<i64>,
    swizzle: Option<[i64; 3]>,
}

impl Listed {
    fn text(&self) -> String {
        let swizzle = self.swizzle.map_or(String::new(), |[b, m, s]| format!("Sw<{b},{m},{s}> o "));
        format!("{swizzle}{}:{}", self.sizes, self.strides)
    }

    fn layout(&self) -> LayoutFunction {
        self.text().parse().unwrap_or_else(|error| panic!("{}: {error}", self.text()))
    }

    fn size(&self) -> i64 {
        self.places.len() as i64
    }
}

/// The numbers that a random layout may have.
#[derive(Clone, Copy)]
struct Kind {
    /// Sizes are powers of two.
    two: bool,
    /// Some groups have padding.
    padded: bool,
    /// Strides are those of a chain with gaps, in any order; any numbers otherwise.
    chain: bool,
    swizzled: bool,
}

const ANY: Kind = Kind { two: false, padded: false, chain: false, swizzled: false };
const CHAIN: Kind = Kind { chain: true, ..ANY };
const FLIPPED: Kind = Kind { swizzled: true, ..CHAIN };
const SWIZZLED: Kind = Kind { two: true, padded: false, chain: true, swizzled: true };

/// A random layout, at most two groups deep.
fn random(rng: &mut Choices, kind: Kind) -> Listed {
    let count = rng.usize(1..=4);
    let extents: Vec<i64> =
        (0..count).map(|_| if kind.two { 1 << rng.u8(0..3) } else { rng.choice(&[2, 4, 3, 1, 6]) }).collect();
    let mut strides: Vec<i64> = extents.iter().map(|_| rng.choice(&[1, 2, 4, 0, 3, 8, 6, 12, 24, 5])).collect();
    if kind.chain {
        let mut order: Vec<usize> = (0..count).collect();
        rng.shuffle(&mut order);
        let mut end = 1;
        for k in order {
            end *= if rng.one_in(4) { 2 } else { 1 };
            strides[k] = end;
            end *= extents[k];
        }
    }
    let digit = |k: usize| {
        let places = (0..extents[k]).map(|at| at * strides[k]).collect();
        Listed { sizes: extents[k].to_string(), strides: strides[k].to_string(), places, swizzle: None }
    };
    let inner = if count > 2 && rng.bool() { 2 } else { 0 };
    let mut modes: Vec<Listed> = (inner..count).map(digit).collect();
    if inner > 0 {
        let pad = kind.padded && rng.bool();
        modes.insert(0, group(&[digit(0), digit(1)], if pad { rng.i64(0..2) } else { 0 }));
    }
    let mut all = group(&modes, if kind.padded && rng.bool() { rng.i64(0..3) } else { 0 });
    if kind.swizzled {
        let bits = rng.i64(0..=2);
        let shift = (bits + rng.i64(0..=2)) * if rng.bool() { -1 } else { 1 };
        let swizzle = [bits, rng.i64(0..=2), shift];
        all.swizzle = Some(swizzle);
        all.places.iter_mut().for_each(|place| *place = swizzled(*place, swizzle));
    }
    all
}

/// A place with `bits` bits flipped, as CuTe defines it.
fn swizzled(place: i64, [bits, base, shift]: [i64; 3]) -> i64 {
    let mask = ((1 << bits) - 1) << (base + shift.max(0));
    if shift < 0 { place ^ (place & mask << -shift >> -shift) << -shift } else { place ^ (place & mask) >> shift }
}

/// The group of these modes, without so many of its last elements.
fn group(modes: &[Listed], less: i64) -> Listed {
    let mut places = vec![0];
    for mode in modes {
        places = mode.places.iter().flat_map(|outer| places.iter().map(move |place| place + outer)).collect();
    }
    let size = (places.len() as i64 - less).max(1);
    let padded = if size < places.len() as i64 { format!("{size}/") } else { String::new() };
    places.truncate(size as usize);
    let joined =
        |text: &dyn Fn(&Listed) -> String| format!("({})", modes.iter().map(text).collect::<Vec<_>>().join(","));
    let sizes = padded + &joined(&|mode| mode.sizes.clone());
    Listed { sizes, strides: joined(&|mode| mode.strides.clone()), places, swizzle: None }
}

fn places(layout: &LayoutFunction) -> Vec<i64> {
    (0..layout.size()).map(|index| layout.place(index)[0]).collect()
}

/// Checks a law on random layouts of some kinds; it says of which it has tried the result.
fn law<const N: usize>(kinds: [&[Kind]; N], least: u32, test: impl Fn(&[Listed; N]) -> bool) {
    let tried = Cell::new(0);
    let (cases, seed) = Sample::from_env().random(20_000, SEED);
    let generate = |rng: &mut Choices| {
        kinds.map(|kinds| {
            let kind = rng.choice(kinds);
            random(rng, kind)
        })
    };
    choices::check(cases, seed, generate, |all| tried.set(tried.get() + u32::from(test(all))));
    assert!(tried.get() * 100 >= cases * least, "{} of {cases} have a result", tried.get());
}

/// Whether numbers are sums of digits: those up to where they stop growing by the first, and every so manyth of them.
fn are_digits(values: &[i64]) -> bool {
    let Some(step) = values.get(1).map(|second| second - values[0]) else { return true };
    let first = |k: usize| values[k] - values[0];
    let extent = (0..values.len()).find(|k| first(*k) != *k as i64 * step).unwrap_or(values.len());
    let sum = |k: usize| first(k) == first(k % extent) + first(k - k % extent);
    let every: Vec<i64> = values.iter().step_by(extent).copied().collect();
    extent == values.len() || (0..values.len()).all(sum) && are_digits(&every)
}

/// Whether the values are the sums of those of each digit of a layout alone, which are digits.
fn are_sums(values: &[i64], layout: &LayoutFunction) -> bool {
    let (mut weight, mut sums) = (1, vec![values[0]; values.len()]);
    layout.mode().digits().iter().all(|digit| {
        let extent = digit.extent as usize;
        let own: Vec<i64> = values.iter().step_by(weight).take(extent).copied().collect();
        sums.iter_mut().enumerate().for_each(|(k, sum)| *sum += own[k / weight % extent] - values[0]);
        weight *= extent;
        are_digits(&own)
    }) && sums == values
}

#[test]
fn a_text_is_the_function_of_its_definition() {
    let padded = Kind { padded: true, ..ANY };
    law([&[ANY, padded, SWIZZLED]], 100, |[a]| {
        let layout = a.layout();
        assert_eq!(places(&layout), a.places, "{}", a.text());
        assert_eq!(layout.to_string().parse(), Ok(layout.clone()), "{}", a.text());
        assert_eq!(places(&layout.coalesce()), a.places, "{} is {}", a.text(), layout.coalesce());
        true
    });
}

#[test]
fn equal_layouts_are_equal_functions() {
    let padded = Kind { padded: true, ..ANY };
    law([&[ANY, padded, SWIZZLED], &[ANY, padded, SWIZZLED]], 100, |[a, b]| {
        let (first, second) = (a.layout(), b.layout());
        match first.equal(&second) {
            Equality::Equal => assert_eq!(a.places, b.places, "{a:?} {b:?}"),
            Equality::Different { witness: None, .. } => assert_ne!(a.size(), b.size()),
            Equality::Different { witness: Some(at), .. } => {
                let index = first.index(&at).unwrap() as usize;
                assert_eq!(Some(index), (0..a.places.len()).find(|k| a.places[*k] != b.places[*k]), "{a:?} {b:?}");
            }
            unknown => panic!("{a:?} {b:?}: {unknown:?}"),
        }
        // Without padding inside, the normal form is one.
        if a.swizzle.is_none() && b.swizzle.is_none() && !a.sizes.contains('/') && !b.sizes.contains('/') {
            assert_eq!(first.coalesce() == second.coalesce(), a.places == b.places, "{a:?} {b:?}");
        }
        true
    });
}

/// `(A o B)(x) = A(B(x))`; there is a result if the function has the digits that it needs.
#[test]
fn composition_is_one_function_after_the_other() {
    let padded = Kind { padded: true, ..ANY };
    law([&[ANY, CHAIN, padded], &[ANY, CHAIN, padded]], 25, |[a, b]| {
        let (outer, inner) = (a.layout(), b.layout());
        let expected: Option<Vec<i64>> = b.places.iter().map(|at| a.places.get(*at as usize).copied()).collect();
        match (outer.compose(&inner), expected) {
            (Ok(found), expected) => {
                assert_eq!(Some(places(&found)), expected, "{} o {}", a.text(), b.text());
                true
            }
            (Err(_), None) => false,
            (Err(error), Some(expected)) => {
                let padded = a.text().contains('/') || b.text().contains('/');
                assert!(padded || !are_sums(&expected, &inner), "{a:?} {b:?}: {error}");
                false
            }
        }
    });
}

#[test]
fn composition_of_swizzles_is_one_function_after_the_other() {
    let plain = Kind { swizzled: false, ..SWIZZLED };
    law([&[SWIZZLED, plain], &[SWIZZLED]], 20, |[a, b]| {
        let expected: Option<Vec<i64>> = b.places.iter().map(|at| a.places.get(*at as usize).copied()).collect();
        let found = a.layout().compose(&b.layout());
        assert_eq!(found.as_ref().ok().map(places), expected, "{} o {}: {found:?}", a.text(), b.text());
        found.is_ok()
    });
}

#[test]
fn inverses_invert() {
    let padded = Kind { padded: true, ..CHAIN };
    law([&[CHAIN, SWIZZLED, FLIPPED, padded, ANY]], 50, |[a]| {
        let layout = a.layout();
        let right = layout.right_inverse();
        if let Ok(right) = &right {
            for (place, index) in places(right).into_iter().enumerate() {
                assert_eq!(a.places.get(index as usize), Some(&(place as i64)), "{}: {right}", a.text());
            }
        }
        let left = layout.left_inverse();
        if let Ok(left) = &left {
            for (index, place) in a.places.iter().enumerate() {
                assert_eq!(left.place(*place)[0], index as i64, "{}: {left}", a.text());
            }
        }
        let distinct: BTreeSet<i64> = a.places.iter().copied().collect();
        let bijective = distinct.iter().copied().eq(0..a.size());
        let inverse = layout.inverse();
        assert_eq!(inverse.is_ok(), bijective && right.is_ok(), "{}: {inverse:?}", a.text());
        assert!(left.is_err() || distinct.len() == a.places.len(), "{}", a.text());
        left.is_ok() && right.is_ok()
    });
}

/// The places of a layout and its complement add up to all places once.
#[test]
fn complements_fill_the_gaps() {
    law([&[CHAIN, ANY]], 40, |[a]| {
        let end = a.places.iter().max().unwrap() + 1;
        for size in [end, end + 1, 3 * end + 5] {
            let Ok(complement) = a.layout().complement(Some(size)) else { return false };
            let gaps = places(&complement);
            let distinct: BTreeSet<i64> = a.places.iter().copied().collect();
            let mut sums: Vec<i64> =
                distinct.iter().flat_map(|place| gaps.iter().map(move |gap| place + gap)).collect();
            sums.sort_unstable();
            assert!(sums.iter().copied().eq(0..sums.len() as i64), "{} and {complement}: {sums:?}", a.text());
            assert!(sums.len() as i64 >= size && gaps.is_sorted(), "{}", a.text());
        }
        a.layout().complement(Some(end - 1)).is_err()
    });
}

#[test]
fn divisions_and_products_are_compositions_with_complements() {
    law([&[CHAIN, ANY], &[CHAIN, Kind { two: true, ..ANY }]], 15, |[a, b]| {
        let (layout, tile) = (a.layout(), b.layout());
        if let Ok(found) = layout.logical_divide(&Tiler::Layout(tile.clone())) {
            let rest = places(&tile.complement(Some(a.size().max(b.places.iter().max().unwrap() + 1))).unwrap());
            for index in 0..found.size() {
                let at = found.coordinates(index);
                let from = b.places[at[0] as usize] + rest[at[1] as usize];
                assert_eq!(found.place(index), [a.places[from as usize]], "{a:?} {b:?}: {found}");
            }
            assert_eq!(found.size(), a.size(), "{a:?} {b:?}");
        }
        let Ok(product) = layout.logical_product(&Tiler::Layout(tile.clone())) else { return false };
        let distinct = |places: &[i64]| places.iter().collect::<BTreeSet<_>>().len();
        assert_eq!(product.sizes(), [a.size(), b.size()]);
        assert_eq!(distinct(&places(&product)), distinct(&a.places) * distinct(&b.places), "{a:?} {b:?}: {product}");
        assert_eq!(places(&product)[..a.places.len()], a.places, "{a:?} {b:?}: {product}");
        let over = layout.blocked_product(&tile).unwrap();
        let raked = layout.raked_product(&tile).unwrap();
        let sorted = |layout: &LayoutFunction| {
            let mut places = places(layout);
            places.sort_unstable();
            places
        };
        assert_eq!([sorted(&over), sorted(&raked)], [sorted(&product), sorted(&product)], "{a:?} {b:?}");
        true
    });
}

#[test]
fn restriction_and_permutation_choose_coordinates() {
    law([&[ANY, CHAIN]], 60, |[a]| {
        let layout = a.layout();
        let sizes = layout.sizes();
        let last = sizes.len() - 1;
        let slices: Vec<Slice> = sizes
            .iter()
            .enumerate()
            .map(|(k, size)| if k == last { Slice::At(size / 2) } else { Slice::Range(0, 1.max(size / 2)) })
            .collect();
        let order: Vec<usize> = (0..sizes.len()).rev().collect();
        let turned = layout.permute(&order).unwrap();
        for index in 0..turned.size() {
            let mut at = turned.coordinates(index);
            at.reverse();
            assert_eq!(turned.place(index), layout.place(layout.index(&at).unwrap()), "{}", a.text());
        }
        let Ok(part) = layout.restrict(&slices) else { return false };
        for index in 0..part.size() {
            let mut rest = index;
            let mut at: Vec<i64> = sizes.iter().map(|size| 1.max(size / 2)).collect();
            at[..last].iter_mut().for_each(|at| (*at, rest) = (rest % *at, rest / *at));
            at[last] = sizes[last] / 2;
            assert_eq!(part.place(index), layout.place(layout.index(&at).unwrap()), "{} {part}", a.text());
        }
        true
    });
}

/// Any text is an expression or refused with an error inside of it, and a layout is read again from its text.
#[test]
fn no_expression_does_harm() {
    let seeds: Vec<&str> =
        include_str!("algebra/values.txt").lines().filter(|line| !line.starts_with(['#', '>'])).collect();
    let pieces = [
        "(",
        ")",
        "<",
        ">",
        ",",
        ":",
        "0",
        "2",
        "-1",
        "_",
        " o ",
        "==",
        "@lane",
        "/",
        "^",
        "9223372036854775807",
        "1152921504606846976",
        "inverse(",
        "é",
    ];
    let (cases, seed) = Sample::from_env().random(6_000, SEED + 1);
    choices::check(
        cases,
        seed,
        |rng| mangled::text(rng, &seeds, &pieces),
        |text: &String| match calculate(text) {
            Err(error) => assert!(error.at.is_some_and(|at| at <= text.len()), "{text}: {error}"),
            Ok(Answer::Layout(layout)) => assert_eq!(layout.to_string().parse(), Ok(*layout.clone()), "{text}"),
            Ok(_) => {}
        },
    );
}

#[test]
fn values_of_expressions() {
    lines::check("layouts/algebra/values.txt", "> ", |text, _| {
        calculate(text).map_or_else(|error| panic!("{text}: {error}, at {:?}", error.at), |answer| answer.to_string())
    });
}

#[test]
fn errors_of_expressions_are_where_they_are() {
    lines::check("layouts/algebra/errors.txt", "! ", |text, _| lines::error(&calculate(text).expect_err(text)));
}
