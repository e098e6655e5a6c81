//! CuTe's layouts: `(8,4):(4,1)`, nested `((2,4),3):((1,6),2)`, and swizzles `Sw<2,0,3> o 0 o (8,8):(8,1)`.
//!
//! The first tuple is the shape, the second has a stride for each size. Inside a dimension the *first* size varies
//! fastest: index 5 of `(2,4):(1,6)` is `5 mod 2` and `5 floordiv 2`, at `1*1 + 2*6 = 13`. `_8` is 8, known at compile
//! time. `Sw<B,M,S> o offset o layout` takes `x = offset + layout(index)` to `x` with `B` bits flipped: bit `M + k` by
//! bit `M + S + k`, for `S` below 0 bit `M - S + k` by bit `M + k`.
//!
//! A swizzle is a layout of strides if the bits that it flips are 0, since then it adds; and it is the identity if
//! the bits that it flips by are 0. All others are maps: `x xor y` of two bits is `(x + y) mod 2`.
//!
//! CuTe has no padding: sizes are products. It has no memory space and no axes of a machine.

use crate::algebra::LayoutFunction;
use crate::conversion::meaning::Meaning;
use crate::conversion::{on_the_address, reached};
use crate::expr::Expr;
use crate::maps::equal::Equality;
use crate::maps::map::IndexingMap;
use crate::notations::bits::BitColumns;
use crate::notations::described::{Described, Description};
use crate::places::placement::Placement;
use crate::places::tensor_layout::Part;
use crate::swizzle::Swizzle;
use crate::text::{Cursor, Error};
use crate::tiled::layout::{Layout, too_many_dims};

/// The most sizes under a swizzle, whose map repeats them for each bit.
const SWIZZLED: usize = 64;

/// Reads a layout.
pub(super) fn read_cute(cursor: &mut Cursor) -> Result<Description, Error> {
    let start = cursor.at();
    let (layout, strides) = LayoutFunction::read_located(cursor)?;
    let Some(at) = strides.all else { return Err(cursor.expected("`:` and the strides")) };
    let counts_up = layout.base().iter().all(|first| *first >= 0);
    let plain = counts_up && layout.axes().is_empty() && layout.copies().is_empty() && !layout.mode().is_padded();
    let swizzle = layout.swizzle();
    if !plain || swizzle.is_none() && !layout.flips().is_empty() {
        let message =
            "a layout of CuTe must have sizes, strides and a swizzle alone; `algebra` has axes, padding and copies";
        return Err(Error::at(start, message).unsupported());
    }
    let (sizes, parts) = parts(&layout, &strides.of_digits, start)?;
    let plain = Description::of_parts(&sizes, parts, Vec::new());
    let plain = plain.map_err(|error| Error { at: error.at.or(Some(at)), ..error })?;
    match (&plain, layout.base()) {
        (Description::Parts(placement), [offset]) if swizzle.is_some() || *offset != 0 => {
            swizzled(placement, swizzle, *offset, at)
        }
        _ => Ok(plain),
    }
}

/// The parts of a tensor, as [`Description::of_parts`] takes them.
type Parts = Vec<(usize, i64, Part)>;

/// The sizes of the dimensions, and their parts.
fn parts(layout: &LayoutFunction, strides: &[usize], start: usize) -> Result<(Vec<i64>, Parts), Error> {
    if layout.modes().is_empty() {
        return Err(Error::at(start, "a layout must have at least one dimension, found none"));
    }
    if layout.modes().len() > Layout::MAX_RANK {
        return Err(Error::at(start, too_many_dims()).too_large());
    }
    let mut parts = Vec::new();
    for (dim, mode) in layout.modes().iter().enumerate() {
        mode.each(1, &mut |weight, digit| {
            parts.push((dim, weight, Part { extent: digit.extent, axis: None, stride: digit.stride }));
        });
    }
    let is_wrong = |(_, _, part): &&(usize, i64, Part)| part.stride < 0 || part.stride == 0 && part.extent > 1;
    let wrong = parts.iter().zip(strides).find(|(part, _)| is_wrong(part));
    if let Some(((_, _, Part { extent, stride, .. }), at)) = wrong {
        let why = if *stride == 0 { format!(": {extent} elements share a place") } else { String::new() };
        return Err(Error::at(*at, format!("a stride must be at least 1, found {stride}{why}")));
    }
    Ok((layout.sizes(), parts))
}

/// The map of a layout under a swizzle; the layout itself if the swizzle changes nothing.
fn swizzled(placement: &Placement, swizzle: Option<Swizzle>, offset: i64, at: usize) -> Result<Description, Error> {
    let most = placement.extents().last().copied().unwrap_or(1) - 1;
    let most =
        most.checked_add(offset).ok_or_else(|| Error::at(at, "the offsets do not fit in 64 bits").too_large())?;
    let changed: Vec<(u32, u32)> =
        swizzle.into_iter().flat_map(Swizzle::flips).filter(|(_, by)| most >> by != 0).collect();
    if changed.is_empty() && offset == 0 {
        return Ok(Description::Parts(Box::new(placement.clone())));
    }
    if placement.digits().len() > SWIZZLED {
        return Err(Error::at(at, format!("a layout under a swizzle must have at most {SWIZZLED} sizes, found more"))
            .too_large());
    }
    let sum = placement.map().results.pop().unwrap_or(Expr::Const(0));
    let sum = Expr::sum(sum.terms().into_iter().cloned().chain([Expr::Const(offset)]).collect());
    let bit = |at: u32| sum.clone().floor_div(1 << at).modulo(2);
    let flipped = changed.iter().map(|(bit_at, by)| {
        let old = bit(*bit_at);
        let new = (old.clone() + bit(*by)).modulo(2);
        (new + old.times(-1)).times(1 << bit_at)
    });
    let address = Expr::sum([sum.clone()].into_iter().chain(flipped).collect());
    let sizes = placement.sizes().to_vec();
    let map = IndexingMap::of_sizes(&sizes, vec![address]);
    let meaning = Meaning { sizes, axes: Vec::new(), map, copies: Vec::new(), memory_space: 0 };
    let described = Described::new(Description::Map(Box::new(meaning)));
    match described.placement() {
        Ok(placement) => Ok(Description::Parts(Box::new(placement))),
        Err(_) => Ok(described.description),
    }
}

/// The layout in CuTe's notation.
///
/// # Errors
/// The reason why there is none: padding, axes, elements that are not along strides.
pub fn cute(described: &Described) -> Result<String, Error> {
    let placement = match described.placement() {
        Ok(placement) => placement,
        Err(why) => {
            let bits = matches!(described.description, Description::Map(_) | Description::Function { .. });
            let meaning = if bits { described.meaning()? } else { return Err(why) };
            return unswizzled(&meaning).ok_or(why);
        }
    };
    strided_modes(&placement)
}

/// The text of strides, as `((2,4),3):((1,6),2)`.
fn strided_modes(placement: &Placement) -> Result<String, Error> {
    on_the_address(placement, "a layout of CuTe")?;
    let sizes = placement.sizes();
    if let Some(dim) = sizes.iter().position(|size| *size == 0) {
        return Err(Error::new(format!("a size of CuTe must be at least 1, found 0 in dimension {dim}")));
    }
    let (mut shape, mut strides) = (Vec::new(), Vec::new());
    for (dim, size) in sizes.iter().enumerate() {
        let parts = reached(placement, dim);
        if let Some((weight, _)) = parts.last().filter(|(weight, _)| size % weight != 0) {
            return Err(Error::new(format!(
                "CuTe has no padding: the size of dimension {dim} must be a multiple of {weight}, found {size}"
            ))
            .unsupported());
        }
        let numbers = |of: &dyn Fn(&Part) -> i64, none: &str| {
            let numbers: Vec<String> = parts.iter().map(|(_, part)| of(part).to_string()).collect();
            match numbers.len() {
                0 => none.to_string(),
                1 => numbers[0].clone(),
                _ => format!("({})", numbers.join(",")),
            }
        };
        shape.push(numbers(&|part| part.extent, "1"));
        strides.push(numbers(&|part| part.stride, "0"));
    }
    if let ([shape], [stride]) = (&shape[..], &strides[..]) {
        // `(2,4):(1,6)` has two dimensions, `((2,4)):((1,6))` one.
        return Ok(if shape.starts_with('(') { format!("({shape}):({stride})") } else { format!("{shape}:{stride}") });
    }
    Ok(format!("({}):({})", shape.join(","), strides.join(",")))
}

/// The swizzle of a layout of strides that equals the map, if one is found and verified.
///
/// Each bit of the index moves one bit of the address, or two at the distance of the swizzle's shift: then the layout
/// has the bit that flips the other. The sign of the shift says which of the two flips.
fn unswizzled(meaning: &Meaning) -> Option<String> {
    let columns = BitColumns::of(meaning).ok()?;
    let addresses: Vec<Vec<i64>> = columns
        .columns
        .iter()
        .map(|bits| bits.iter().map(|place| place.last().copied().unwrap_or(0)).collect())
        .collect();
    let pairs = addresses.iter().flatten().filter(|address| address.count_ones() == 2);
    let pairs: Vec<(u32, u32)> = pairs.map(|pair| (pair.trailing_zeros(), 63 - pair.leading_zeros())).collect();
    let distance = pairs.first().map(|(low, high)| high - low)?;
    [1, -1].into_iter().find_map(|sign| {
        let sources: Vec<u32> = pairs.iter().map(|(low, high)| if sign > 0 { *high } else { *low }).collect();
        let (least, most) = (*sources.iter().min()?, *sources.iter().max()?);
        let base = if sign > 0 { least.checked_sub(distance)? } else { least };
        let swizzle = Swizzle::new(most - least + 1, base, sign * distance as i32).ok()?;
        let plain = |address: &i64| match address.count_ones() {
            2 if sign > 0 => Some(1 << (63 - address.leading_zeros())),
            2 => Some(1 << address.trailing_zeros()),
            1 => Some(*address),
            _ => None,
        };
        let parts = addresses.iter().enumerate().flat_map(|(dim, bits)| {
            bits.iter().enumerate().map(move |(bit, address)| Some((dim, 1 << bit, plain(address)?)))
        });
        let parts = parts.collect::<Option<Vec<_>>>()?.into_iter();
        let parts = parts.map(|(dim, weight, stride)| (dim, weight, Part { extent: 2, axis: None, stride }));
        let Description::Parts(placement) = Description::of_parts(&meaning.sizes, parts.collect(), Vec::new()).ok()?
        else {
            return None;
        };
        let text = format!("{swizzle} o 0 o {}", strided_modes(&placement).ok()?);
        let again = read_cute(&mut Cursor::new(&text)).ok()?;
        let again = Described::new(again).meaning().ok()?;
        (again.compare(&Meaning { memory_space: 0, ..meaning.clone() }) == Equality::Equal).then_some(text)
    })
}
