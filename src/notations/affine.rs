//! Affine maps as layouts:
//! `memref<16x256xf32, affine_map<(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)>>`.
//!
//! The results are the index in another memref, with the last one fastest, as from `--normalize-memrefs` of MLIR: its
//! sizes are one more than the upper bound of each result, where `e mod m` counts up to `m - 1` for any `e`. A single
//! result is the offset in elements. The first size has no effect on offsets.

use crate::conversion::meaning::Meaning;
use crate::element::ElementType;
use crate::expr::{Expr, Named};
use crate::limits;
use crate::maps::equal::Equality;
use crate::maps::map::IndexingMap;
use crate::maps::text::read_affine;
use crate::notations::described::{Described, Description};
use crate::notations::types::{layout_space, spelled};
use crate::text::{Cursor, Error};
use crate::tiled::expansion::Expansion;

/// Reads `affine_map<..>`, after its first word, as the layout of these sizes. `start` is the byte of the attribute.
pub(super) fn read_affine_map(cursor: &mut Cursor, sizes: &[i64], start: usize) -> Result<Description, Error> {
    cursor.expect("<", "`<` and a map")?;
    let at = cursor.at();
    let (dims, results) = read_affine(cursor)?;
    cursor.expect(">", "`>`")?;
    if dims != sizes.len() {
        let rank = sizes.len();
        return Err(Error::at(
            at,
            format!("the map must have a dimension for each of the {rank} of the type, found {dims}"),
        ));
    }
    of_results(sizes, results, start)
}

/// The layout that puts an element at the index given by the results.
pub(super) fn of_results(sizes: &[i64], results: Vec<Expr>, at: usize) -> Result<Description, Error> {
    if sizes.is_empty() || results.is_empty() {
        return Err(Error::at(at, "a map that is a layout must have a dimension and a result"));
    }
    if sizes.contains(&0) {
        return Description::of_parts(sizes, Vec::new(), Vec::new());
    }
    let large = || Error::at(at, "the offsets do not fit in 64 bits").too_large();
    let mut stride = 1i128;
    let mut terms = Vec::new();
    let last = results.len() - 1;
    for (k, result) in results.into_iter().enumerate().rev() {
        let (least, most) = range(&result, sizes).ok_or_else(large)?;
        if least < 0 && last > 0 {
            return Err(Error::at(at, format!("result {k} must be at least 0, found one that can be {least}")));
        }
        let factor = i64::try_from(stride).map_err(|_| large())?;
        stride = stride.checked_mul(most.checked_add(1).ok_or_else(large)?).ok_or_else(large)?;
        terms.insert(0, result.times(factor));
    }
    let map = IndexingMap::of_sizes(sizes, vec![Expr::sum(terms)]);
    let (least, most) = range(&map.results[0], sizes).ok_or_else(large)?;
    if i64::try_from(most).is_err() || least < i128::from(i64::MIN) {
        return Err(large());
    }
    let meaning = Meaning { sizes: sizes.to_vec(), axes: Vec::new(), map, copies: Vec::new(), memory_space: 0 };
    injective(&meaning).map_err(|message| Error::at(at, message))?;
    let described = Described::new(Description::Map(Box::new(meaning)));
    Ok(match described.placement() {
        Ok(placement) => Description::Parts(Box::new(placement)),
        Err(_) => described.description,
    })
}

/// Bounds of an expression, by interval arithmetic over each operation.
fn range(e: &Expr, sizes: &[i64]) -> Option<(i128, i128)> {
    let of = |e: &Expr| range(e, sizes);
    Some(match e {
        Expr::Const(c) => (i128::from(*c), i128::from(*c)),
        Expr::Var(v) => (0, i128::from(sizes[*v] - 1)),
        Expr::Add(a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)
        }
        Expr::Mul(a, f) => {
            let (a, f) = (of(a)?, i128::from(*f));
            let (x, y) = (a.0.checked_mul(f)?, a.1.checked_mul(f)?);
            (x.min(y), x.max(y))
        }
        Expr::FloorDiv(a, d) => {
            let (a, d) = (of(a)?, i128::from(*d));
            (a.0.div_euclid(d), a.1.div_euclid(d))
        }
        Expr::Mod(_, m) => (0, i128::from(*m - 1)),
        Expr::Min(a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            (a.0.min(b.0), a.1.min(b.1))
        }
        Expr::Max(a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            (a.0.max(b.0), a.1.max(b.1))
        }
    })
}

/// The most work on a map: elements times operations of the map.
const LOOKED_AT: i128 = limits::NOTATION_MAP_WORK;

/// Refuses a map that takes two elements to one place, or one to a negative place.
fn injective(meaning: &Meaning) -> Result<(), String> {
    let described = Described::new(Description::Map(Box::new(meaning.clone())));
    if described.placement().is_ok() {
        // A placement has no collisions.
        return Ok(());
    }
    let count = meaning.sizes.iter().try_fold(1i128, |all, size| all.checked_mul((*size).into()));
    let size = meaning.map.results.iter().map(|e| e.size() as i128).sum::<i128>();
    if count.and_then(|count| count.checked_mul(size)).is_none_or(|work| work > LOOKED_AT) {
        let message = "a map that is no TensorLayout must have at most 2^26 elements times operations, found more";
        return Err(message.to_string());
    }
    let mut places: Vec<(i64, Vec<i64>)> = Vec::new();
    for index in meaning.map.points() {
        let place = meaning.map.evaluate(&index).ok().flatten().and_then(|place| place.first().copied());
        let place = place.ok_or("the offsets do not fit in 64 bits")?;
        if place < 0 {
            return Err(format!("an offset must be at least 0, found {place} of element {index:?}"));
        }
        places.push((place, index));
    }
    places.sort_unstable();
    match places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(format!("the elements {:?} and {:?} share the place {}", pair[0].1, pair[1].1, pair[0].0)),
        None => Ok(()),
    }
}

/// The layout as a memref with an affine map: one result for each part of a tiled layout, else one result.
///
/// # Errors
/// The reason why there is none: axes of a machine.
pub fn affine_map(described: &Described, element: ElementType) -> Result<String, Error> {
    let meaning = described.meaning()?;
    if let Some(axis) = meaning.axes.first() {
        return Err(Error::new(format!("a memref must use the address alone, found the axis {axis}")));
    }
    let sizes = &meaning.sizes;
    let mut ways = Vec::new();
    if let Description::Tiled { sizes, layout } = &described.description {
        // A result that is always 0 is a dimension of size 1.
        let parts = Expansion::new(sizes, layout)?.exprs().into_iter().filter(|e| *e != Expr::Const(0));
        ways.push(parts.collect());
    }
    ways.push(meaning.map.results.clone());
    let same = |results: &Vec<Expr>| {
        let Ok(again) = of_results(sizes, results.clone(), 0) else { return false };
        let again = Described { memory_space: meaning.memory_space, ..Described::new(again) };
        again.meaning().is_ok_and(|again| again.compare(&meaning) == Equality::Equal)
    };
    let results = ways.into_iter().find(same);
    let results =
        results.ok_or_else(|| Error::new("no map of at most 2^26 elements times operations says it").too_large())?;
    let name = |v: usize| format!("d{v}");
    let names: Vec<String> = (0..sizes.len()).map(name).collect();
    let results: Vec<String> = results.iter().map(|e| Named(e, &name).to_string()).collect();
    let space =
        if meaning.memory_space == 0 { String::new() } else { format!(", {}", layout_space(meaning.memory_space)) };
    let of = spelled(sizes, element);
    Ok(format!("memref<{of}, affine_map<({}) -> ({})>{space}>", names.join(", "), results.join(", ")))
}
