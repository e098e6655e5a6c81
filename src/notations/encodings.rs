//! Triton's layouts of tensor cores, slices and shared memory, as bases. See [`mod@super::triton`].
//!
//! `#ttg.nvidia_mma` of version 2 gives each lane 2 neighbours of a row, 4 lanes 8 columns and 8 groups of lanes 8 rows
//! of a tile of 16×8; its second half of rows is in further registers. Warps are beside each other, the last dimension
//! first, in version 3 the first one; a larger tensor takes more registers. `#ttg.dot_op` is an operand, with `kWidth`
//! neighbours along the dimension that is added up, and copies in the warps along it. `#ttg.slice` drops a dimension of
//! its parent, and the registers that move along it alone.
//!
//! `#ttg.swizzled_shared` puts the group of `vec` elements `c` of row `r` at group `c xor r / perPhase mod maxPhase`.
//! `#ttg.padded_shared<[64:+4] ..>` leaves 4 elements free after each 64.

use crate::notations::bases::{Bases, LinearBases, REGISTERS, SHARED, read_bases, read_rows};
use crate::notations::blocked::{Blocked, read_blocked};
use crate::notations::described::Description;
use crate::notations::lists::{ReadNumber, dimensions, fields, list, number, values};
use crate::places::tensor_layout::Part;
use crate::text::{Cursor, Error};

/// A layout of registers.
pub(super) enum Encoding {
    Linear(LinearBases),
    Blocked(Blocked),
    Mma(Mma),
    Operand { operand: usize, width: u32, parent: Mma },
    Slice { dim: usize, parent: Box<Encoding>, at: usize },
}

/// `#ttg.nvidia_mma`: binary logarithms of its tile and of its warps.
pub(super) struct Mma {
    tile: [u32; 2],
    warps: [u32; 2],
    /// The dimension along which warps are numbered first.
    first: usize,
    at: usize,
}

/// The names of the layouts of registers.
pub(super) const NAMES: [&str; 5] = ["linear", "blocked", "nvidia_mma", "dot_op", "slice"];

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
        _ => read_child(cursor, name, at, depth)?,
    };
    cursor.expect("}", "`,` or `}`")?;
    cursor.expect(">", "`>`")?;
    Ok(found)
}

/// The binary logarithm of a number that is a power of two.
fn log(number: &ReadNumber, name: &str) -> Result<u32, Error> {
    match number.value {
        value if value > 0 && value.count_ones() == 1 => Ok(value.trailing_zeros()),
        value => Err(Error::at(number.at, format!("`{name}` must be a power of two, found {value}"))),
    }
}

/// A field that must be there.
fn given<T>(cursor: &Cursor, field: Option<T>, name: &str) -> Result<T, Error> {
    field.ok_or_else(|| cursor.expected(&format!("`{name} = ` and its value")))
}

fn read_mma(cursor: &mut Cursor, at: usize) -> Result<Mma, Error> {
    let names = ["versionMajor", "versionMinor", "warpsPerCTA", "instrShape", "CGALayout"];
    let mut lists: [Option<Vec<ReadNumber>>; 4] = Default::default();
    fields(cursor, &names, |cursor, field| {
        if field == 4 {
            return match read_rows(cursor)?.first() {
                Some((at, _)) => Err(Error::at(*at, "a layout of tensor cores must be of one block").unsupported()),
                None => Ok(()),
            };
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
    Ok(Mma { tile, warps, first: usize::from(major.value == 2), at })
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
    let width = log(&given(cursor, numbers[2], names[2])?, names[2])?;
    match parent {
        Encoding::Mma(parent) => Ok(Encoding::Operand { operand: small, width, parent }),
        _ => Err(Error::at(at, "the parent of `#ttg.dot_op` must be `#ttg.nvidia_mma`, found another").unsupported()),
    }
}

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

    /// The tile of an instruction, then warps, then registers up to the sizes: `width` neighbours along `inner`.
    fn mma(
        mut self,
        mma: &Mma,
        [inner, outer]: [usize; 2],
        [width, deep, wide]: [u32; 3],
        shared: Option<usize>,
    ) -> Growing {
        self.take(REGISTER, Some(inner), width);
        self.take(LANE, Some(inner), 2);
        self.take(LANE, Some(outer), 3);
        self.take(REGISTER, Some(outer), wide - 3);
        self.take(REGISTER, Some(inner), deep - width - 2);
        for dim in [mma.first, 1 - mma.first] {
            self.take(WARP, Some(dim).filter(|dim| Some(*dim) != shared), mma.warps[dim]);
        }
        for dim in [inner, outer] {
            self.take(REGISTER, Some(dim), self.bits[dim].saturating_sub(self.next[dim]));
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
            Encoding::Blocked(blocked) => blocked.on(given),
            Encoding::Mma(mma) => {
                mma.on(given, |growing, mma| growing.mma(mma, [1, 0], [1, mma.tile[1], mma.tile[0]], None))
            }
            Encoding::Operand { operand, width, parent } => parent.on(given, |growing, mma| {
                let (inner, outer) = (1 - operand, operand);
                growing.mma(mma, [inner, outer], [width, width + 3, mma.tile[outer]], Some(inner))
            }),
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
    fn on(
        &self,
        sizes: Option<&[i64]>,
        grow: impl FnOnce(Growing, &Mma) -> Growing,
    ) -> Result<(LinearBases, Vec<i64>), Error> {
        let needed = || Error::at(self.at, "this layout says no sizes; expected a tensor, as `tensor<64x64xf16, ..>`");
        let sizes = sizes.ok_or_else(|| needed().unsupported())?;
        let bits = logs(sizes, self.at)?;
        let [rows, columns] = bits[..] else {
            let message = format!("a layout of tensor cores must be of 2 dimensions, found {}", sizes.len());
            return Err(Error::at(self.at, message).unsupported());
        };
        let growing = Growing { at: self.at, bits: [rows, columns], next: [0, 0], inputs: vec![Bases::new(); 4] };
        let inputs = grow(growing, self).inputs;
        Ok((LinearBases { names: &REGISTERS, inputs, at: self.at }, sizes.to_vec()))
    }
}

/// The binary logarithms of sizes.
fn logs(sizes: &[i64], at: usize) -> Result<Vec<u32>, Error> {
    let wrong = |size: &i64| {
        let message = format!("the sizes of a tensor with this layout must be powers of two, found {size}");
        Error::at(at, message)
    };
    let log =
        |size: &i64| if *size > 0 && size.count_ones() == 1 { Ok(size.trailing_zeros()) } else { Err(wrong(size)) };
    sizes.iter().map(log).collect()
}

/// Reads `<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>` of a tensor of these sizes.
pub(super) fn read_swizzled(cursor: &mut Cursor, sizes: &[i64], at: usize) -> Result<LinearBases, Error> {
    cursor.expect("<", "`<`")?;
    cursor.expect("{", "`{`")?;
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
    cursor.expect("}", "`,` or `}`")?;
    cursor.expect(">", "`>`")?;
    let [vec, per_phase, max_phase] = widths;
    let bits = logs(sizes, at)?;
    if order.len() != sizes.len() {
        return Err(Error::at(at, format!("`order` must have {} dimensions, found {}", sizes.len(), order.len())));
    }
    let mut rows = Bases::new();
    for (k, dim) in order.iter().enumerate() {
        for bit in 0..bits[*dim] {
            let mut row = vec![0; sizes.len()];
            row[*dim] = 1 << bit;
            if k == 1 && (per_phase..per_phase + max_phase).contains(&bit) && vec + bit - per_phase < bits[order[0]] {
                row[order[0]] = 1 << (vec + bit - per_phase);
            }
            rows.push((at, row));
        }
    }
    Ok(LinearBases { names: &SHARED, inputs: vec![rows, Bases::new()], at })
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
