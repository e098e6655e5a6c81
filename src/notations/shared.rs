//! Triton's layouts of shared memory, as bases. See [`mod@super::triton`].
//!
//! `#ttg.swizzled_shared` puts the group of `vec` elements `c` of row `r` at group `c xor r / perPhase mod maxPhase`.
//! `#ttg.nvmma_shared` has blocks of `swizzlingByteWidth` bytes, in which groups of 16 bytes are swizzled in each 8 rows. With
//! `fp4Padded` the latter half of each group is padding.
//! `#ttg.padded_shared<[64:+4] ..>` leaves 4 elements free after each 64.

use crate::notations::bases::{Bases, LinearBases, SHARED, read_rows};
use crate::notations::described::Description;
use crate::notations::encodings::{given, log, logs};
use crate::notations::lists::{dimensions, fields, flag, list, number, values};
use crate::places::tensor_layout::Part;
use crate::text::{Cursor, Error};

/// The names of these layouts that bases say.
pub(super) const NAMES: [&str; 2] = ["swizzled_shared", "nvmma_shared"];

/// Reads a layout of a tensor of these sizes, after its name.
pub(super) fn read_shared_bases(
    cursor: &mut Cursor,
    name: &str,
    sizes: &[i64],
    at: usize,
) -> Result<LinearBases, Error> {
    cursor.expect("<", "`<`")?;
    cursor.expect("{", "`{`")?;
    let is_padded = name == NAMES[1];
    let read = if is_padded { read_nvmma } else { read_swizzled };
    let rows = read(cursor, sizes, at)?;
    cursor.expect("}", "`,` or `}`")?;
    cursor.expect(">", "`>`")?;
    Ok(LinearBases { names: &SHARED, inputs: vec![rows, Bases::new()], is_padded, at })
}

/// The index with bits in some dimensions.
fn index(rank: usize, bits: &[(usize, u32)]) -> Vec<i64> {
    let mut row = vec![0; rank];
    bits.iter().for_each(|(dim, bit)| row[*dim] = 1 << bit);
    row
}

/// Reads `vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]`.
fn read_swizzled(cursor: &mut Cursor, sizes: &[i64], at: usize) -> Result<Bases, Error> {
    let names = ["vec", "perPhase", "maxPhase", "order"];
    let (mut numbers, mut order) = ([None; 3], None);
    fields(cursor, &names, |cursor, field| {
        match field {
            3 => order = Some(list(cursor, ["[", "]"], "a dimension", false)?),
            _ => numbers[field] = Some(number(cursor, "a number")?),
        }
        Ok(())
    })?;
    let order = dimensions(&given(cursor, order, "order")?, sizes.len(), "`order`")?;
    let mut widths = [0; 3];
    for (k, width) in widths.iter_mut().enumerate() {
        *width = log(&given(cursor, numbers[k], names[k])?, names[k])?;
    }
    let [vec, per_phase, max_phase] = widths;
    let bits = logs(sizes, at)?;
    if order.len() != sizes.len() {
        return Err(Error::at(at, format!("`order` must have {} dimensions, found {}", sizes.len(), order.len())));
    }
    let mut rows = Bases::new();
    for (k, dim) in order.iter().enumerate() {
        for bit in 0..bits[*dim] {
            let group = (order[0], vec + bit.saturating_sub(per_phase));
            let flips = k == 1 && (per_phase..per_phase + max_phase).contains(&bit) && group.1 < bits[group.0];
            let own = [(*dim, bit), group];
            rows.push((at, index(sizes.len(), &own[..1 + usize::from(flips)])));
        }
    }
    Ok(rows)
}

/// The binary logarithm of the longest side of a block of `#ttg.nvmma_shared`.
const BLOCK: u32 = 8;

/// Reads `swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16`.
///
/// A block has at most 256 elements along each dimension, and along the contiguous one as many as are swizzled
/// together. Blocks follow each other along the first dimension first; without a swizzle, along the last one.
fn read_nvmma(cursor: &mut Cursor, sizes: &[i64], at: usize) -> Result<Bases, Error> {
    let names = ["swizzlingByteWidth", "elementBitWidth", "transposed", "fp4Padded", "CGALayout", "rank"];
    let (mut numbers, mut flags) = ([None; 2], [false; 2]);
    fields(cursor, &names, |cursor, field| {
        match field {
            4 => {
                if let Some((at, _)) = read_rows(cursor)?.first() {
                    return Err(Error::at(*at, "a layout of `#ttg.nvmma_shared` must be of one block").unsupported());
                }
            }
            2 | 3 => flags[field - 2] = flag(cursor)?,
            5 => {
                let rank = number(cursor, "a number")?;
                if usize::try_from(rank.value) != Ok(sizes.len()) {
                    let message = format!("`rank` must be that of the tensor, {}, found {}", sizes.len(), rank.value);
                    return Err(Error::at(rank.at, message));
                }
            }
            _ => numbers[field] = Some(number(cursor, "a number")?),
        }
        Ok(())
    })?;
    let [bytes, element] = [0, 1].map(|k| given(cursor, numbers[k], names[k]));
    let (bytes, element) = (bytes?, log(&element?, names[1])?);
    let swizzle = if bytes.value == 0 { None } else { Some(log(&bytes, names[0])?) };
    let unsupported = |message: &str| Err(Error::at(at, message).unsupported());
    let (rank, [transposed, padded]) = (sizes.len(), flags);
    if transposed && rank != 2 {
        return unsupported("`transposed` must be false, but of 2 dimensions");
    }
    if padded && (swizzle, element) != (Some(7), 3) {
        return unsupported("`fp4Padded` must have a `swizzlingByteWidth` of 128 and an `elementBitWidth` of 8");
    }
    // 8 bytes of every 16 are padding, so an element has 16 bits in a row.
    let element = element + u32::from(padded);
    let mut order: Vec<usize> = (0..rank).rev().collect();
    if transposed {
        order.reverse();
    }
    let bits = logs(sizes, at)?;
    let block = |k: usize| match swizzle {
        Some(bytes) if k == 0 => bytes + 3 - element,
        _ => BLOCK.min(bits[order[k]]),
    };
    if swizzle.is_some_and(|bytes| !(5..=7).contains(&bytes)) || !(3..=6).contains(&element) {
        return unsupported("`swizzlingByteWidth` must be 0, 32, 64 or 128, and `elementBitWidth` 8, 16, 32 or 64");
    }
    let inside: Vec<(usize, u32)> =
        (0..rank).flat_map(|k| (0..block(k)).map(move |bit| (k, bit))).map(|(k, bit)| (order[k], bit)).collect();
    let first = if rank == 0 { 0 } else { block(0) };
    if swizzle.is_some() && (rank == 0 || first > bits[order[0]] || inside.len() < first as usize + 3) {
        return unsupported("a swizzled tensor must have as many bytes as are swizzled in each of 8 rows");
    }
    let mut rows: Bases = inside.iter().map(|bit| (at, index(rank, &[*bit]))).collect();
    if let Some(bytes) = swizzle {
        // Groups of 16 bytes; so many rows as fill 128 bytes have the same swizzle.
        for flip in 0..bytes - 4 {
            rows[(first + 7 - bytes + flip) as usize].1[order[0]] |= 1 << (7 - element + flip);
        }
        order = (0..rank).collect();
    } else {
        order = (0..rank).rev().collect();
    }
    for dim in order {
        let own = inside.iter().filter(|(of, _)| *of == dim).count() as u32;
        rows.extend((own..bits[dim]).map(|bit| (at, index(rank, &[(dim, bit)]))));
    }
    if padded {
        rows.insert(3, (at, index(rank, &[])));
    }
    Ok(rows)
}

/// Reads `<[64:+4] {order = [1, 0], shape = [16, 64]}>`.
pub(super) fn read_padded(cursor: &mut Cursor, sizes: Option<&[i64]>, at: usize) -> Result<Description, Error> {
    cursor.expect("<", "`<`")?;
    cursor.expect("[", "`[` and intervals, as `64:+4`")?;
    let mut intervals = Vec::new();
    loop {
        let interval = log(&number(cursor, "an interval")?, "an interval")?;
        cursor.expect(":", "`:+` and the padding")?;
        cursor.expect("+", "`+` and the padding")?;
        intervals.push((interval, number(cursor, "the padding")?.value));
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect("]", "`,` or `]`")?;
    cursor.expect("{", "`{`")?;
    let mut lists = [const { None }; 2];
    fields(cursor, &["order", "shape"], |cursor, field| {
        lists[field] = Some(list(cursor, ["[", "]"], "a number", false)?);
        Ok(())
    })?;
    let [order, shape] = lists;
    let shape = values(&given(cursor, shape, "shape")?);
    let order = dimensions(&given(cursor, order, "order")?, shape.len(), "`order`")?;
    cursor.expect("}", "`,` or `}`")?;
    cursor.expect(">", "`>`")?;
    if sizes.is_some_and(|sizes| sizes != shape) || order.len() != shape.len() {
        return Err(Error::at(at, format!("the layout is of a tensor of sizes {shape:?}, found another one")));
    }
    let bits = logs(&shape, at)?;
    let large = || Error::at(at, "the offsets do not fit in 64 bits").too_large();
    let (mut parts, mut offset) = (Vec::new(), 0);
    for dim in order {
        for bit in 0..bits[dim] {
            let padding = intervals.iter().filter(|(interval, _)| *interval <= offset);
            let padding = padding.map(|(interval, padding)| i128::from(*padding) << (offset - interval)).sum::<i128>();
            let stride = i64::try_from((1i128 << offset) + padding).map_err(|_| large())?;
            parts.push((dim, 1 << bit, Part { extent: 2, axis: None, stride }));
            offset += 1;
            if offset > 61 {
                return Err(large());
            }
        }
    }
    Description::of_parts(&shape, parts, Vec::new()).map_err(|error| Error { at: error.at.or(Some(at)), ..error })
}
