//! Triton's layouts: `#ttg.linear`, `#ttg.blocked`, `#ttg.shared_linear`, and those of `encodings`.
//!
//! They map the place to the element. A place is a `register` of a `lane` of a `warp` of a `block`, or an `offset` in
//! the shared memory of a `block`. Each bit of it has a *basis*, which it adds to the index by exclusive or. So
//! `#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [2, 0]], warp = [], block = []}>` is 4×2 elements, a row for each
//! of 4 lanes, and register 1 of lane 3 is lane bits 1 and 2 and register bit 1: (1,0) xor (2,0) xor (0,1), element (3,
//! 1). Here registers and offsets are the address, in elements, and the others are axes. A basis of zeros is a copy.
//!
//! The other direction is the inverse of a matrix over bits. If each basis has one bit, it is a TensorLayout; others,
//! which only shared memory has, are maps.
//!
//! `#ttg.blocked` on a shape: each thread has `sizePerThread`, each warp `threadsPerWarp` of them, each block
//! `warpsPerCTA` of those, each time the dimension `order[0]` first. A larger tensor takes more registers, in the same
//! order; in a smaller one the topmost bits of lanes and warps are copies.

use crate::algebra::inverse;
use crate::conversion::meaning::Meaning;
use crate::element::ElementType;
use crate::notations::bases::{LinearBases, MOST_BITS, REGISTERS, SHARED, read_bases};
use crate::notations::bits::BitColumns;
use crate::notations::described::{Described, Description};
use crate::notations::encodings::{NAMES, read_encoding};
use crate::notations::lists::text;
use crate::notations::shared::{self, read_padded, read_shared_bases};
use crate::notations::types::spelled;
use crate::places::placement::Copies;
use crate::text::{Cursor, Error, excerpt};

/// Reads an attribute, from `#ttg.` on, of a tensor of these sizes, if known.
pub(super) fn read_triton(cursor: &mut Cursor, sizes: Option<&[i64]>) -> Result<Description, Error> {
    let at = cursor.at();
    cursor.expect("#", "an attribute of Triton")?;
    let (dialect, name) = (cursor.word(), if cursor.eat(".") { cursor.peek_name() } else { None });
    let known = NAMES.iter().chain(&["shared_linear"]).chain(&shared::NAMES).chain(&["padded_shared"]).copied();
    let Some(name) = known.clone().find(|known| name == Some(known) && dialect == Some("ttg")) else {
        let known: Vec<String> = known.map(|name| format!("#ttg.{name}")).collect();
        return Err(Error::at(at, format!("expected an attribute of Triton: {}", known.join(", "))).syntax());
    };
    cursor.advance(name.len());
    let needed = || {
        Error::at(at, "this layout says no sizes; expected a memory, as `!ttg.memdesc<64x64xf16, ..>`").unsupported()
    };
    let (bases, sizes) = match name {
        "padded_shared" => return read_padded(cursor, sizes, at),
        name if shared::NAMES.contains(&name) => {
            let sizes = sizes.ok_or_else(needed)?;
            (read_shared_bases(cursor, name, sizes, at)?, sizes.to_vec())
        }
        "shared_linear" => {
            let bases = read_shared(cursor, at)?;
            let sizes = bases.sizes(sizes)?;
            (bases, sizes)
        }
        _ => read_encoding(cursor, name, at, 0)?.bases(sizes)?,
    };
    bases.describe(&sizes)
}

/// Reads `<{offset = [[0, 1]]}, alignment = 16>`.
fn read_shared(cursor: &mut Cursor, at: usize) -> Result<LinearBases, Error> {
    cursor.expect("<", "`<`")?;
    cursor.expect("{", "`{`")?;
    let bases = read_bases(cursor, &SHARED, at)?;
    cursor.expect("}", "`,` or `}`")?;
    cursor.expect(",", "`, alignment = ` and bytes")?;
    if cursor.peek_name() != Some("alignment") {
        return Err(cursor.expected("`alignment = ` and bytes"));
    }
    cursor.advance("alignment".len());
    cursor.expect("=", "`=`")?;
    cursor.integer("the alignment in bytes")?;
    cursor.expect(">", "`>`")?;
    Ok(bases)
}

/// The layout in Triton's notation: in registers if it has the axes `lane`, `warp` and `block`, else in shared memory.
///
/// # Errors
/// The reason why there is none: sizes that are no powers of two, other axes, padding, places that are not linear in
/// bits.
pub fn triton(described: &Described, element: ElementType) -> Result<String, Error> {
    let meaning = described.meaning()?;
    let threads = meaning.axes.iter().any(|axis| axis == "lane" || axis == "warp");
    let names: &[&str] = if threads { &REGISTERS } else { &SHARED };
    if let Some(axis) = meaning.axes.iter().find(|axis| !names[1..].contains(&&***axis)) {
        return Err(Error::new(format!("Triton has the axes lane, warp and block, found `{}`", excerpt(axis))));
    }
    let columns = BitColumns::of(&meaning)?.columns;
    let (bits, mut lines) = place_bits(&meaning, &columns, names)?;
    let index_bits: Vec<(usize, usize)> =
        columns.iter().enumerate().flat_map(|(dim, own)| (0..own.len()).map(move |bit| (dim, bit))).collect();
    let not_linear = || Error::new("the places are not linear in the bits of the index").unsupported();
    if index_bits.len() != bits.len() || bits.len() > MOST_BITS {
        return Err(not_linear());
    }
    let packed = |(dim, bit): &(usize, usize)| {
        let place = &columns[*dim][*bit];
        let has = |at: &PlaceBit| place[at.axis] >> at.bit & 1 == 1;
        bits.iter().enumerate().filter(|(_, at)| has(at)).fold(0u64, |all, (k, _)| all | 1 << k)
    };
    let matrix: Vec<u64> = index_bits.iter().map(packed).collect();
    let inverted = inverse(&matrix).ok_or_else(not_linear)?;
    for (at, of) in bits.iter().zip(inverted) {
        let own = index_bits.iter().enumerate().filter(|(k, _)| of >> k & 1 == 1);
        own.for_each(|(_, (dim, bit))| lines[at.input][at.bit as usize][*dim] |= 1 << bit);
    }
    Ok(written(names, &lines, &meaning.sizes, element))
}

/// A bit of a place along which elements move.
struct PlaceBit {
    /// The number of the input; `axis` is the number of the layout's coordinate.
    input: usize,
    axis: usize,
    bit: u32,
}

/// The bits of places along which elements move, and for each input a basis of zeros for each of its bits.
#[expect(clippy::type_complexity, reason = "bases for each input")]
fn place_bits(
    meaning: &Meaning,
    columns: &[Vec<Vec<i64>>],
    names: &[&str],
) -> Result<(Vec<PlaceBit>, Vec<Vec<Vec<i64>>>), Error> {
    let mut lines = Vec::new();
    let mut bits = Vec::new();
    for (input, name) in names.iter().enumerate() {
        let named = meaning.axes.iter().position(|axis| axis == name);
        let address = Some(meaning.axes.len()).filter(|_| input == 0);
        let Some(axis) = address.or(named) else {
            lines.push(Vec::new());
            continue;
        };
        let moved = columns.iter().flatten().fold(0, |all, place| all | place[axis]);
        let copies = copied_bits(meaning.copies.get(axis), name)?;
        if moved & copies != 0 {
            return Err(Error::new(format!("the copies along {name} are at other places than bits")));
        }
        let count = 64 - (moved | copies).leading_zeros();
        if let Some(bit) = (0..count).find(|bit| (moved | copies) >> bit & 1 == 0) {
            let what = if input == 0 { "address" } else { name };
            return Err(Error::new(format!(
                "Triton has no padding: the places along the {what} must all have an element, found none where bit {bit} is 1"
            )).unsupported());
        }
        bits.extend((0..count).filter(|bit| moved >> bit & 1 == 1).map(|bit| PlaceBit { input, axis, bit }));
        lines.push(vec![vec![0; meaning.sizes.len()]; count as usize]);
    }
    Ok((bits, lines))
}

/// The bits of an axis in which copies differ.
fn copied_bits(copies: Option<&Copies>, name: &str) -> Result<i64, Error> {
    let Some(Copies::Steps(steps)) = copies else { return Ok(0) };
    steps.iter().try_fold(0, |all: i64, (extent, stride)| {
        let two = extent.count_ones() == 1 && stride.count_ones() == 1;
        let bits = extent.checked_mul(*stride).filter(|_| two).map(|end| end - stride);
        match bits {
            Some(bits) if all & bits == 0 => Ok(all | bits),
            _ => Err(Error::new(format!("the copies along {name} must differ in bits of the place, found other ones"))),
        }
    })
}

fn written(names: &[&str], lines: &[Vec<Vec<i64>>], sizes: &[i64], element: ElementType) -> String {
    let rows = |rows: &Vec<Vec<i64>>| {
        let rows: Vec<String> = rows.iter().map(|row| text(row, ["[", "]"])).collect();
        format!("[{}]", rows.join(", "))
    };
    let shared = names.len() == SHARED.len();
    let inputs = names.iter().zip(lines).filter(|(name, own)| !(shared && **name == "block" && own.is_empty()));
    let inputs: Vec<String> = inputs.map(|(name, own)| format!("{name} = {}", rows(own))).collect();
    let (inputs, of) = (inputs.join(", "), spelled(sizes, element));
    match shared {
        true => format!("!ttg.memdesc<{of}, #ttg.shared_linear<{{{inputs}}}, alignment = 16>, #ttg.shared_memory>"),
        false => format!("tensor<{of}, #ttg.linear<{{{inputs}}}>>"),
    }
}
