//! Triton's layouts of tensor cores and slices, as bases. See [`mod@super::triton`].
//!
//! `#ttg.nvidia_mma` of version 2 gives each lane 2 neighbours of a row, 4 lanes 8 columns and 8 groups of lanes 8 rows
//! of a tile of 16×8; its second half of rows is in further registers. Warps are beside each other, the last dimension
//! first, in version 3 the first one; a larger tensor takes more registers. `#ttg.dot_op` is an operand, with `kWidth`
//! neighbours along the dimension that is added up, and copies in the warps along it. `#ttg.slice` drops a dimension of
//! its parent, and the registers that move along it alone.
//!
//! `#ttg.amd_mfma` has 64 lanes: as many as the tile is wide are beside each other, and the others continue the 4
//! neighbours that a lane has along the other dimension, the second one if it is transposed. `tilesPerWarp` are in
//! registers between the tile and the warps.
//!
//! `#ttg.amd_wmma` has 32 lanes: 16 along the width of the tile, and two halves along the other dimension, which continue the 8
//! neighbours of a lane. Version 1 has no neighbours, and both halves have all of an operand. `ctaLayout` has bases of
//! registers and warps, in tiles.

use crate::notations::bases::{Bases, LinearBases, REGISTERS, read_bases, read_rows};
use crate::notations::blocked::{Blocked, read_blocked};
use crate::notations::lists::{ReadNumber, fields, flag, list, number};
use crate::text::{Cursor, Error};

/// A layout of registers.
pub(super) enum Encoding {
    Linear(LinearBases),
    Blocked(Blocked),
    Mma(Mma),
    Operand { operand: usize, width: u32, parent: Mma },
    BlockedOperand { operand: usize, parent: Blocked },
    Slice { dim: usize, parent: Box<Encoding>, at: usize },
}

/// A layout of tensor cores: binary logarithms of the tile and of the warps.
pub(super) struct Mma {
    tile: [u32; 2],
    warps: [u32; 2],
    /// The tiles that a warp has beside each other.
    tiles: [u32; 2],
    /// The bases of further registers and warps, in tiles.
    bases: [Bases; 2],
    /// The dimension along which warps are numbered first.
    first: usize,
    cores: Cores,
    at: usize,
}

/// Whose tensor cores they are.
enum Cores {
    Nvidia,
    /// The neighbours of a lane, and the dimension along which it has them.
    Amd {
        width: u32,
        inner: usize,
    },
    /// `#ttg.amd_wmma`: those of a result, and the bits that an instruction adds up.
    Wmma {
        width: u32,
        inner: usize,
        depth: u32,
    },
}

/// The names of the layouts of registers.
pub(super) const NAMES: [&str; 7] = ["linear", "blocked", "nvidia_mma", "amd_mfma", "amd_wmma", "dot_op", "slice"];

/// Slices inside of slices.
const DEPTH: usize = 8;

/// Reads a layout of registers, after its name.
pub(super) fn read_encoding(cursor: &mut Cursor, name: &str, at: usize, depth: usize) -> Result<Encoding, Error> {
    cursor.expect("<", "`<`")?;
    cursor.expect("{", "`{`")?;
    let found = match name {
        "linear" => Encoding::Linear(read_bases(cursor, &REGISTERS, at)?),
        "blocked" => Encoding::Blocked(read_blocked(cursor, at)?),
        "nvidia_mma" => Encoding::Mma(read_mma(cursor, at)?),
        "amd_mfma" => Encoding::Mma(read_mfma(cursor, at)?),
        "amd_wmma" => Encoding::Mma(read_wmma(cursor, at)?),
        _ => read_child(cursor, name, at, depth)?,
    };
    cursor.expect("}", "`,` or `}`")?;
    cursor.expect(">", "`>`")?;
    Ok(found)
}

/// The binary logarithm of a number that is a power of two.
pub(super) fn log(number: &ReadNumber, name: &str) -> Result<u32, Error> {
    match number.value {
        value if value > 0 && value.count_ones() == 1 => Ok(value.trailing_zeros()),
        value => Err(Error::at(number.at, format!("`{name}` must be a power of two, found {value}"))),
    }
}

/// A field that must be there.
pub(super) fn given<T>(cursor: &Cursor, field: Option<T>, name: &str) -> Result<T, Error> {
    field.ok_or_else(|| cursor.expected(&format!("`{name} = ` and its value")))
}

fn read_mma(cursor: &mut Cursor, at: usize) -> Result<Mma, Error> {
    let names = ["versionMajor", "versionMinor", "warpsPerCTA", "instrShape", "CGALayout"];
    let mut lists: [Option<Vec<ReadNumber>>; 4] = Default::default();
    fields(cursor, &names, |cursor, field| {
        if field == 4 {
            return one_block(cursor);
        }
        let read =
            if field < 2 { vec![number(cursor, "a number")?] } else { list(cursor, ["[", "]"], "a number", false)? };
        lists[field] = Some(read);
        Ok(())
    })?;
    let [major, _, warps, shape] = lists;
    let major = given(cursor, major, names[0])?[0];
    let (warps, shape) = (given(cursor, warps, names[2])?, given(cursor, shape, names[3])?);
    let rank = if major.value == 2 { 2 } else { 3 };
    if !(2..=3).contains(&major.value) {
        return Err(Error::at(major.at, format!("`versionMajor` must be 2 or 3, found {}", major.value)).unsupported());
    }
    let ([rows, columns], [tile, width, ..]) = (&warps[..], &shape[..]) else {
        let message = format!("`warpsPerCTA` must have 2 numbers, found {}, and `instrShape` {rank}", warps.len());
        return Err(Error::at(at, message).unsupported());
    };
    if let Some(small) = [tile, width].into_iter().zip([16, 8]).find(|(size, least)| size.value < *least) {
        return Err(Error::at(small.0.at, format!("a tile must be at least 16 by 8, found {}", small.0.value)));
    }
    let tile = [log(tile, "instrShape")?, log(width, "instrShape")?];
    let warps = [log(rows, "warpsPerCTA")?, log(columns, "warpsPerCTA")?];
    let (tiles, bases, first) = ([0, 0], Default::default(), usize::from(major.value == 2));
    Ok(Mma { tile, warps, tiles, bases, first, cores: Cores::Nvidia, at })
}

/// Refuses bases of blocks.
fn one_block(cursor: &mut Cursor) -> Result<(), Error> {
    match read_rows(cursor)?.first() {
        Some((at, _)) => Err(Error::at(*at, "a layout of tensor cores must be of one block").unsupported()),
        None => Ok(()),
    }
}

fn read_mfma(cursor: &mut Cursor, at: usize) -> Result<Mma, Error> {
    let names =
        ["version", "elementBitWidth", "warpsPerCTA", "instrShape", "tilesPerWarp", "isTransposed", "CGALayout"];
    let mut lists: [Option<Vec<ReadNumber>>; 5] = Default::default();
    let mut transposed = None;
    fields(cursor, &names, |cursor, field| {
        match field {
            6 => return one_block(cursor),
            5 => transposed = Some(flag(cursor)?),
            0 | 1 => lists[field] = Some(vec![number(cursor, "a number")?]),
            _ => lists[field] = Some(list(cursor, ["[", "]"], "a number", false)?),
        }
        Ok(())
    })?;
    let [_, bits, warps, shape, tiles] = lists;
    let (warps, shape) = (given(cursor, warps, names[2])?, given(cursor, shape, names[3])?);
    let transposed = given(cursor, transposed, names[5])?;
    let of_two = |list: &[ReadNumber], name: &str| match list {
        [rows, columns] => Ok([log(rows, name)?, log(columns, name)?]),
        _ => Err(Error::at(at, format!("`{name}` must have 2 numbers, found {}", list.len())).unsupported()),
    };
    let tile = of_two(shape.get(..2).unwrap_or(&shape), names[3])?;
    if ![[5, 5], [4, 4], [6, 2], [2, 6]].contains(&tile) || tile[0] != tile[1] && !transposed {
        let message = "a tile of `instrShape` must be 32 by 32 or 16 by 16, or, transposed, 64 by 4 or 4 by 64";
        return Err(Error::at(at, message).unsupported());
    }
    let tiles = tiles.map_or(Ok([0, 0]), |list| of_two(&list, names[4]))?;
    // A number of 64 bits has no neighbours in the registers of its lane.
    let width = if bits.is_some_and(|bits| bits[0].value == 64) { 0 } else { 2 };
    let cores = Cores::Amd { width, inner: usize::from(transposed) };
    Ok(Mma { tile, warps: of_two(&warps, names[2])?, tiles, bases: Default::default(), first: 1, cores, at })
}

fn read_wmma(cursor: &mut Cursor, at: usize) -> Result<Mma, Error> {
    let names = ["version", "isTranspose", "ctaLayout", "instrShape", "CGALayout"];
    let (mut version, mut transposed, mut warps, mut shape) = (None, None, None, None);
    fields(cursor, &names, |cursor, field| {
        match field {
            0 => version = Some(number(cursor, "a number")?),
            1 => transposed = Some(flag(cursor)?),
            2 => warps = Some(read_tiles(cursor)?),
            3 => shape = Some(list(cursor, ["[", "]"], "a number", false)?),
            _ => return one_block(cursor),
        }
        Ok(())
    })?;
    let version = given(cursor, version, names[0])?;
    let (transposed, bases) = (given(cursor, transposed, names[1])?, given(cursor, warps, names[2])?);
    let shape = shape.map_or(Ok(vec![4; 3]), |shape| shape.iter().map(|size| log(size, names[3])).collect())?;
    let known: &[[u32; 3]] = match version.value {
        1 => &[[4, 4, 4]],
        2 => &[[4, 4, 4], [4, 4, 5]],
        3 => &[[4, 4, 2], [4, 4, 5], [4, 4, 6], [4, 4, 7], [5, 4, 7]],
        other => return Err(Error::at(version.at, format!("`version` must be 1, 2 or 3, found {other}")).unsupported()),
    };
    let Some([rows, columns, depth]) = known.iter().find(|known| known[..] == shape) else {
        let known: Vec<String> = known.iter().map(|known| format!("{:?}", known.map(|log| 1 << log))).collect();
        let (found, known) = (shape.iter().map(|log| 1_i64 << log).collect::<Vec<_>>(), known.join(", "));
        let message = format!("`instrShape` of version {} must be {known}, found {found:?}", version.value);
        return Err(Error::at(at, message).unsupported());
    };
    let tile = if transposed { [*columns, *rows] } else { [*rows, *columns] };
    let width = if version.value == 1 { 0 } else { 3 };
    let cores = Cores::Wmma { width, inner: usize::from(transposed), depth: *depth };
    Ok(Mma { tile, warps: [0, 0], tiles: [0, 0], bases, first: 1, cores, at })
}

/// Reads `{register = [[0, 1]], warp = [[1, 0]]}`.
fn read_tiles(cursor: &mut Cursor) -> Result<[Bases; 2], Error> {
    let mut bases: [Bases; 2] = Default::default();
    cursor.expect("{", "`{` and bases")?;
    fields(cursor, &["register", "warp"], |cursor, field| {
        bases[field] = read_rows(cursor)?;
        match bases[field].iter().find(|(_, row)| row.len() != 2 || row.iter().any(|entry| *entry >= 1 << 32)) {
            Some((at, _)) => Err(Error::at(*at, "a basis of tiles must have 2 numbers below 2^32")),
            None => Ok(()),
        }
    })?;
    cursor.expect("}", "`,` or `}`")?;
    Ok(bases)
}

/// Reads `#ttg.dot_op` and `#ttg.slice`.
fn read_child(cursor: &mut Cursor, name: &str, at: usize, depth: usize) -> Result<Encoding, Error> {
    let names: &[&str] = if name == "slice" { &["dim", "parent"] } else { &["opIdx", "parent", "kWidth"] };
    let (mut numbers, mut parent) = ([None; 3], None);
    fields(cursor, names, |cursor, field| {
        if field != 1 {
            numbers[field] = Some(number(cursor, "a number")?);
            return Ok(());
        }
        let at = cursor.at();
        let known =
            NAMES.iter().find(|name| cursor.rest().strip_prefix("#ttg.").is_some_and(|rest| rest.starts_with(**name)));
        let known =
            known.filter(|_| depth < DEPTH).ok_or_else(|| cursor.expected("the layout of the parent, in full"))?;
        cursor.advance("#ttg.".len() + known.len());
        parent = Some(read_encoding(cursor, known, at, depth + 1)?);
        Ok(())
    })?;
    let index = given(cursor, numbers[0], names[0])?;
    let parent = given(cursor, parent, "parent")?;
    let small = usize::try_from(index.value).ok().filter(|index| *index < if name == "slice" { 256 } else { 2 });
    let small =
        small.ok_or_else(|| Error::at(index.at, format!("`{}` is out of range, found {}", names[0], index.value)))?;
    if name == "slice" {
        return Ok(Encoding::Slice { dim: small, parent: Box::new(parent), at });
    }
    match parent {
        Encoding::Mma(parent) => {
            let width = log(&given(cursor, numbers[2], names[2])?, names[2])?;
            Ok(Encoding::Operand { operand: small, width, parent })
        }
        Encoding::Blocked(parent) => Ok(Encoding::BlockedOperand { operand: small, parent }),
        _ => {
            let message = "the parent of `#ttg.dot_op` must be of tensor cores or `#ttg.blocked`, found another";
            Err(Error::at(at, message).unsupported())
        }
    }
}

/// A part of a tile: the input, the dimension, or none for copies, and the number of bits.
type TilePart = (usize, Option<usize>, u32);

/// Bases that grow bit by bit along each dimension.
struct Growing {
    at: usize,
    /// The bits of each dimension of the tensor, and those that have a basis.
    bits: [u32; 2],
    next: [u32; 2],
    inputs: Vec<Bases>,
}

/// The numbers of the inputs, as in [`REGISTERS`].
const REGISTER: usize = 0;
const LANE: usize = 1;
const WARP: usize = 2;

/// The bits that number the lanes of a warp of AMD.
const LANES_OF_AMD: u32 = 6;

impl Growing {
    /// Gives the next bits of an input bits of a dimension; beyond its size, and without a dimension, they are copies.
    fn take(&mut self, input: usize, dim: Option<usize>, count: u32) {
        for _ in 0..count {
            let mut row = vec![0; 2];
            if let Some(dim) = dim {
                row[dim] = if self.next[dim] < self.bits[dim] { 1 << self.next[dim] } else { 0 };
                self.next[dim] += 1;
            }
            self.inputs[input].push((self.at, row));
        }
    }

    /// Gives the next bit of an input a basis of tiles, which is none along a shared dimension.
    fn add(&mut self, input: usize, tiles: &[i64], tile: [u32; 2], shared: Option<usize>) {
        let entry = |dim: usize| if Some(dim) == shared { 0 } else { tiles[dim] << tile[dim].min(30) };
        let row = [entry(0), entry(1)];
        // Registers hold no copies for tiles along the shared dimension.
        if input == REGISTER && shared.is_some() && row == [0, 0] {
            return;
        }
        for (next, entry) in self.next.iter_mut().zip(row) {
            *next = (*next).max(64 - entry.leading_zeros());
        }
        let inside = |dim: usize| row[dim] & ((1 << self.bits[dim]) - 1);
        self.inputs[input].push((self.at, vec![inside(0), inside(1)]));
    }

    /// The tile of an instruction, then warps, then registers up to the sizes, in an order of the dimensions.
    fn mma(mut self, mma: &Mma, tile: &[TilePart], order: [usize; 2], shared: Option<usize>) -> Growing {
        tile.iter().for_each(|(input, dim, count)| self.take(*input, *dim, *count));
        let tile = self.next;
        for (input, rows) in [REGISTER, WARP].into_iter().zip(&mma.bases) {
            rows.iter().for_each(|(_, row)| self.add(input, row, tile, shared));
        }
        let (after, mut tiles) = (self.next, mma.tiles);
        if let Some(shared) = shared {
            tiles[shared] = 0;
        }
        self.next = [after[0] + tiles[0], after[1] + tiles[1]];
        for dim in [mma.first, 1 - mma.first] {
            self.take(WARP, Some(dim).filter(|dim| Some(*dim) != shared), mma.warps[dim]);
        }
        for dim in order {
            let beyond = std::mem::replace(&mut self.next[dim], after[dim]);
            self.take(REGISTER, Some(dim), tiles[dim]);
            self.next[dim] = beyond;
            self.take(REGISTER, Some(dim), self.bits[dim].saturating_sub(beyond));
        }
        self
    }
}

impl Encoding {
    /// The bases on a tensor of these sizes, or of its own sizes, which are returned too.
    pub(super) fn bases(self, given: Option<&[i64]>) -> Result<(LinearBases, Vec<i64>), Error> {
        match self {
            Encoding::Linear(bases) => {
                let sizes = bases.sizes(given)?;
                Ok((bases, sizes))
            }
            Encoding::Blocked(blocked) => blocked.on(given, None),
            Encoding::Mma(mma) => mma.on(given, |growing| growing.mma(&mma, &mma.result(), [1, 0], None)),
            Encoding::Operand { operand, width, parent } => parent.on(given, |growing| {
                let (inner, outer) = (1 - operand, operand);
                growing.mma(&parent, &parent.operand(outer, width), [inner, outer], Some(inner))
            }),
            Encoding::BlockedOperand { operand, parent } => parent.on(given, Some(1 - operand)),
            Encoding::Slice { dim, parent, at } => {
                let needed =
                    || Error::at(at, "a slice says no sizes; expected a tensor, as `tensor<64xf16, ..>`").unsupported();
                let sizes = given.ok_or_else(needed)?.to_vec();
                if dim > sizes.len() {
                    let message = format!("`dim` must be at most the rank {}, found {dim}", sizes.len());
                    return Err(Error::at(at, message));
                }
                let mut whole = sizes.clone();
                whole.insert(dim, 1);
                let (mut bases, _) = parent.bases(Some(&whole))?;
                bases.inputs.iter_mut().flatten().for_each(|(_, row)| {
                    row.remove(dim);
                });
                bases.inputs[REGISTER].retain(|(_, row)| row.iter().any(|entry| *entry != 0));
                Ok((bases, sizes))
            }
        }
    }
}

impl Mma {
    /// The tile of a result.
    fn result(&self) -> Vec<TilePart> {
        match self.cores {
            Cores::Nvidia => self.parts(1, 1, self.tile[1]),
            Cores::Amd { width, inner } | Cores::Wmma { width, inner, .. } => {
                self.parts(inner, width, self.tile[inner])
            }
        }
    }

    /// The tile of an operand, `width` elements of which are neighbours along the dimension that is added up.
    fn operand(&self, outer: usize, width: u32) -> Vec<TilePart> {
        let inner = 1 - outer;
        match self.cores {
            Cores::Nvidia => self.parts(inner, width, width + 3),
            Cores::Amd { .. } => self.parts(inner, width, width + LANES_OF_AMD - self.tile[0].min(self.tile[1])),
            Cores::Wmma { depth, width: neighbours, .. } => {
                let mut parts = self.parts(inner, width, depth);
                if neighbours == 0 {
                    // Both halves of the lanes have all of it.
                    parts[2].1 = None;
                }
                parts
            }
        }
    }

    fn parts(&self, inner: usize, width: u32, deep: u32) -> Vec<TilePart> {
        let (outer, wide) = (1 - inner, self.tile[1 - inner]);
        let [inner, outer] = [Some(inner), Some(outer)];
        match self.cores {
            Cores::Nvidia => vec![
                (REGISTER, inner, width),
                (LANE, inner, 2),
                (LANE, outer, 3),
                (REGISTER, outer, wide - 3),
                (REGISTER, inner, deep - width - 2),
            ],
            Cores::Amd { .. } => vec![
                (REGISTER, inner, width),
                (LANE, outer, wide),
                (LANE, inner, LANES_OF_AMD - wide),
                (REGISTER, inner, deep + wide - width - LANES_OF_AMD),
            ],
            Cores::Wmma { .. } => vec![
                (REGISTER, inner, width),
                (LANE, outer, 4),
                (LANE, inner, 1),
                (REGISTER, inner, deep.saturating_sub(width + 1)),
                (REGISTER, outer, wide - 4),
            ],
        }
    }

    fn on(
        &self,
        sizes: Option<&[i64]>,
        grow: impl FnOnce(Growing) -> Growing,
    ) -> Result<(LinearBases, Vec<i64>), Error> {
        let needed = || Error::at(self.at, "this layout says no sizes; expected a tensor, as `tensor<64x64xf16, ..>`");
        let sizes = sizes.ok_or_else(|| needed().unsupported())?;
        let bits = logs(sizes, self.at)?;
        let [rows, columns] = bits[..] else {
            let message = format!("a layout of tensor cores must be of 2 dimensions, found {}", sizes.len());
            return Err(Error::at(self.at, message).unsupported());
        };
        let growing = Growing { at: self.at, bits: [rows, columns], next: [0, 0], inputs: vec![Bases::new(); 4] };
        let inputs = grow(growing).inputs;
        Ok((LinearBases { names: &REGISTERS, inputs, is_padded: false, at: self.at }, sizes.to_vec()))
    }
}

/// The binary logarithms of sizes.
pub(super) fn logs(sizes: &[i64], at: usize) -> Result<Vec<u32>, Error> {
    let wrong = |size: &i64| {
        let message = format!("the sizes of a tensor with this layout must be powers of two, found {size}");
        Error::at(at, message)
    };
    let log =
        |size: &i64| if *size > 0 && size.count_ones() == 1 { Ok(size.trailing_zeros()) } else { Err(wrong(size)) };
    sizes.iter().map(log).collect()
}
