//! Layouts as bases: the index that each bit of a place adds, by exclusive or. See [`mod@super::triton`].

use crate::algebra::{Digit, LayoutFunction, Mode, inverse, linear};
use crate::conversion::meaning::Meaning;
use crate::expr::Expr;
use crate::limits;
use crate::maps::map::IndexingMap;
use crate::notations::described::Description;
use crate::notations::lists::{at_least, fields, list, values};
use crate::places::placement::Copies;
use crate::places::tensor_layout::{Broadcast, Part};
use crate::text::{Cursor, Error};
use crate::tiled::layout::Layout;

/// The inputs of a layout of registers, and of shared memory; the first is the address.
pub(super) const REGISTERS: [&str; 4] = ["register", "lane", "warp", "block"];
pub(super) const SHARED: [&str; 2] = ["offset", "block"];

/// The most bits of a place along one input, so that places fit in 64 bits.
pub(super) const MOST_BITS: usize = limits::NOTATION_BASES;

/// The bases of an input, each with its byte offset.
pub(super) type Bases = Vec<(usize, Vec<i64>)>;

/// A layout: the bases of each of its inputs.
pub(super) struct LinearBases {
    pub names: &'static [&'static str],
    pub inputs: Vec<Bases>,
    /// Whether places whose basis of the address is 0 have no element.
    pub is_padded: bool,
    /// The byte offset of the layout.
    pub at: usize,
}

/// A bit of a place that is no copy, with its basis as [`IndexBits`] packs it.
struct PackedBasis {
    input: usize,
    bit: usize,
    basis: u64,
}

/// The bits of an index, those of the first dimension lowest: how many each dimension has.
struct IndexBits(Vec<u32>);

impl IndexBits {
    /// The number of bits below those of a dimension.
    fn first(&self, dim: usize) -> u32 {
        self.0[..dim].iter().sum()
    }

    fn packed(&self, index: &[i64]) -> u64 {
        index.iter().enumerate().fold(0, |packed, (dim, entry)| packed | (*entry as u64) << self.first(dim))
    }

    /// The dimension of a bit, and the bit in it.
    fn dimension(&self, bit: u32) -> (usize, u32) {
        let holds = |dim: &usize| self.first(*dim) <= bit && self.0[*dim] > 0;
        let dim = (0..self.0.len()).rev().find(holds).unwrap_or(0);
        (dim, bit - self.first(dim))
    }
}

/// Reads `register = [[0, 1]], lane = []` up to the brace.
pub(super) fn read_bases(cursor: &mut Cursor, names: &'static [&'static str], at: usize) -> Result<LinearBases, Error> {
    let mut inputs: Vec<Option<Bases>> = vec![None; names.len()];
    fields(cursor, names, |cursor, input| {
        inputs[input] = Some(read_rows(cursor)?);
        Ok(())
    })?;
    // The block of a layout of shared memory may be left out.
    let missing = (0..names.len()).find(|k| inputs[*k].is_none() && (names.len() > SHARED.len() || *k == 0));
    if let Some(missing) = missing {
        return Err(cursor.expected(&format!("`{} = ` and bases", names[missing])));
    }
    let inputs = inputs.into_iter().map(Option::unwrap_or_default).collect();
    Ok(LinearBases { names, inputs, is_padded: false, at })
}

/// Reads `[[0, 1], [0, 2]]`.
pub(super) fn read_rows(cursor: &mut Cursor) -> Result<Bases, Error> {
    cursor.expect("[", "`[` and bases")?;
    let mut rows = Vec::new();
    while !cursor.eat("]") {
        let at = cursor.at();
        if rows.len() == MOST_BITS {
            return Err(Error::at(at, format!("an input must have at most {MOST_BITS} bases, found more")).too_large());
        }
        let row = list(cursor, ["[", "]"], "a number", false)?;
        at_least(&row, 0, "an entry of a basis")?;
        rows.push((at, values(&row)));
        if !cursor.eat(",") {
            cursor.expect("]", "`,` or `]`")?;
            break;
        }
    }
    Ok(rows)
}

impl LinearBases {
    fn rows(&self) -> impl Iterator<Item = &(usize, Vec<i64>)> {
        self.inputs.iter().flatten()
    }

    /// The sizes: for each dimension the least power of two above all bases.
    pub fn sizes(&self, given: Option<&[i64]>) -> Result<Vec<i64>, Error> {
        let rank = self.rows().map(|(_, row)| row.len()).next().or(given.map(<[i64]>::len));
        let rank = rank.ok_or_else(|| {
            Error::at(self.at, "a layout without bases must be on a tensor, as in `tensor<1xf32, ..>`")
        })?;
        if let Some((at, row)) = self.rows().find(|(_, row)| row.len() != rank) {
            return Err(Error::at(
                *at,
                format!("a basis must have {rank} numbers, as the others, found {}", row.len()),
            ));
        }
        if rank == 0 || rank > Layout::MAX_RANK {
            let most = Layout::MAX_RANK;
            return Err(Error::at(self.at, format!("a layout must have 1 to {most} dimensions, found {rank}")));
        }
        if let Some((at, _)) = self.rows().find(|(_, row)| row.iter().any(|entry| *entry >= 1 << 61)) {
            return Err(Error::at(*at, "an entry of a basis must be below 2^61").too_large());
        }
        let size = |dim: usize| {
            let all = self.rows().fold(0, |all, (_, row)| all | row[dim]);
            1 << (64 - i64::leading_zeros(all))
        };
        let sizes: Vec<i64> = (0..rank).map(size).collect();
        match given {
            Some(given) if given != sizes => Err(Error::at(
                self.at,
                format!("the layout is of a tensor of sizes {sizes:?}, found a tensor of sizes {given:?}"),
            )),
            _ => Ok(sizes),
        }
    }

    /// The layout of a tensor of these sizes.
    pub fn describe(&self, sizes: &[i64]) -> Result<Description, Error> {
        let index = IndexBits(sizes.iter().map(|size| size.trailing_zeros()).collect());
        let count = index.first(sizes.len());
        if count > 62 {
            return Err(Error::at(self.at, "the number of elements does not fit in 64 bits").too_large());
        }
        let (places, broadcast) = self.places(&index)?;
        let copied =
            self.names.len() == REGISTERS.len() && self.inputs[0].iter().any(|(_, row)| index.packed(row) == 0);
        let columns: Vec<u64> = places.iter().map(|place| place.basis).collect();
        let inverted =
            Some(columns).filter(|columns| columns.len() == count as usize).and_then(|columns| inverse(&columns));
        let Some(inverted) = inverted else {
            let message =
                format!("the bases that are not 0 must be independent, and {count} of them, as the elements have bits");
            return Err(Error::at(self.at, message));
        };
        let located = |error: Error| Error { at: error.at.or(Some(self.at)), ..error };
        if copied {
            let function = Box::new(self.function(sizes, &index, &places).map_err(located)?);
            return Ok(Description::Function { sizes: sizes.to_vec(), function, map: None });
        }
        if places.iter().all(|place| place.basis.count_ones() == 1) {
            let part = |place: &PackedBasis| {
                let (dim, bit) = index.dimension(place.basis.trailing_zeros());
                let axis = Some(self.names[place.input].to_string()).filter(|_| place.input > 0);
                (dim, 1 << bit, Part { extent: 2, axis, stride: 1 << place.bit })
            };
            return Description::of_parts(sizes, places.iter().map(part).collect(), broadcast).map_err(located);
        }
        if !broadcast.is_empty() {
            return Err(Error::at(self.at, "a basis must not be 0 in a layout with bases of several bits"));
        }
        let map = self.map(sizes, &places, &inverted);
        let place = |element: i64| {
            let axis =
                |input: usize| map.axes.iter().position(|own| *own == self.names[input]).unwrap_or(map.axes.len());
            let mut place = vec![0; map.axes.len() + 1];
            let of =
                inverted.iter().enumerate().filter(|(bit, _)| element >> bit & 1 == 1).fold(0, |of, (_, row)| of ^ row);
            let moved = places.iter().enumerate().filter(|(k, _)| of >> k & 1 == 1);
            moved.for_each(|(_, own)| place[axis(own.input)] |= 1 << own.bit);
            place
        };
        let function = Box::new(linear(&map.axes, sizes, &place).map_err(located)?);
        Ok(Description::Function { sizes: sizes.to_vec(), function, map: Some(Box::new(map)) })
    }

    /// The function of bases of one bit each, and of copies.
    fn function(&self, sizes: &[i64], index: &IndexBits, places: &[PackedBasis]) -> Result<LayoutFunction, Error> {
        let used: Vec<usize> = (1..self.inputs.len()).filter(|input| !self.inputs[*input].is_empty()).collect();
        let axis = |input: usize| used.iter().position(|own| *own == input).unwrap_or(used.len());
        let mut modes: Vec<Vec<Mode>> = sizes.iter().map(|_| Vec::new()).collect();
        let mut sorted: Vec<&PackedBasis> = places.iter().collect();
        sorted.sort_by_key(|place| place.basis);
        for place in sorted {
            let (dim, _) = index.dimension(place.basis.trailing_zeros());
            modes[dim].push(Mode::Digit(Digit::new(2, axis(place.input), 1 << place.bit)));
        }
        let mode = Mode::group(modes.into_iter().map(|own| Mode::group(own).coalesced()).collect());
        let rows = self.inputs.iter().enumerate().flat_map(|(input, rows)| {
            let copies = rows.iter().enumerate().filter(|(_, (_, row))| index.packed(row) == 0);
            copies.map(move |(bit, _)| (input, bit))
        });
        let copies = rows.map(|(input, bit)| Mode::Digit(Digit::new(2, axis(input), 1 << bit))).collect();
        let copies = Mode::group(copies).coalesced().digits();
        let axes = used.iter().map(|input| self.names[*input].to_string()).collect();
        LayoutFunction::new(axes, mode)?.with_places(None, copies)
    }

    /// The bits of a place that are not copies, and the copies along axes.
    fn places(&self, index: &IndexBits) -> Result<(Vec<PackedBasis>, Vec<Broadcast>), Error> {
        let (mut places, mut broadcast) = (Vec::new(), Vec::new());
        for (input, rows) in self.inputs.iter().enumerate() {
            let name = self.names[input];
            if rows.len() > MOST_BITS {
                return Err(Error::at(
                    self.at,
                    format!("`{name}` must have at most {MOST_BITS} bases, found {}", rows.len()),
                )
                .too_large());
            }
            for (bit, (at, row)) in rows.iter().enumerate() {
                let basis = index.packed(row);
                if self.names.len() == REGISTERS.len() && basis.count_ones() > 1 {
                    let message = "a basis of registers and threads must be one bit of one dimension, found several";
                    return Err(Error::at(*at, message));
                }
                match (basis, input) {
                    (0, 0) if self.names.len() == REGISTERS.len() || self.is_padded => {}
                    (0, 0) => {
                        let message = format!(
                            "a basis of `{name}` must not be 0: two places of one address space have the same element"
                        );
                        return Err(Error::at(*at, message));
                    }
                    (0, _) => copied(&mut broadcast, name, 1 << bit),
                    _ => places.push(PackedBasis { input, bit, basis }),
                }
            }
        }
        Ok((places, broadcast))
    }

    /// The map of a layout whose bases have several bits: bit `p` of a place is the exclusive or of the index bits
    /// whose column of the inverse contains it.
    fn map(&self, sizes: &[i64], places: &[PackedBasis], inverted: &[u64]) -> Meaning {
        let digits: Vec<Expr> = sizes
            .iter()
            .enumerate()
            .flat_map(|(dim, size)| (0..size.trailing_zeros()).map(move |bit| Expr::Var(dim).digit(1 << bit, 2, *size)))
            .collect();
        let mut results: Vec<Vec<Expr>> = vec![Vec::new(); self.names.len()];
        for (k, PackedBasis { input, bit, .. }) in places.iter().enumerate() {
            let flips = digits.iter().zip(inverted).filter(|(_, column)| *column >> k & 1 == 1);
            let flips: Vec<Expr> = flips.map(|(digit, _)| digit.clone()).collect();
            let flipped = if flips.len() == 1 { Expr::sum(flips) } else { Expr::sum(flips).modulo(2) };
            results[*input].push(flipped.times(1 << bit));
        }
        let used: Vec<usize> = (1..self.names.len()).filter(|input| !results[*input].is_empty()).collect();
        let axes = used.iter().map(|input| self.names[*input].to_string()).collect();
        let copies = used.iter().map(|_| Copies::Steps(Vec::new())).collect();
        let results = used.iter().copied().chain([0]).map(|input| Expr::sum(results[input].clone())).collect();
        Meaning { sizes: sizes.to_vec(), axes, map: IndexingMap::of_sizes(sizes, results), copies, memory_space: 0 }
    }
}

/// Adds copies along one more bit of an axis.
fn copied(broadcast: &mut Vec<Broadcast>, name: &str, by: i64) {
    if let Some(Broadcast::Part { extent, axis, stride: Some(stride) }) = broadcast.last_mut()
        && axis == name
        && *stride * *extent == by
    {
        *extent *= 2;
        return;
    }
    broadcast.push(Broadcast::Part { extent: 2, axis: name.to_string(), stride: Some(by) });
}
