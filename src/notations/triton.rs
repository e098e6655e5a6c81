//! Triton's layouts: `#ttg.linear`, `#ttg.blocked` and `#ttg.shared_linear`.
//!
//! They go from the place to the element. A place is a `register` of a `lane` of a `warp` of a `block`, or an `offset` in
//! the shared memory of a `block`. Each bit of it has a *basis*: what it adds to the index, by exclusive or. So
//! `#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [2, 0]], warp = [], block = []}>` is 4×2 elements, a row for each of 4
//! lanes, and register 1 of lane 3 is lane bits 1 and 2 and register bit 1: (1,0) xor (2,0) xor (0,1), element (3, 1).
//! Here registers and offsets are the address, in elements, and the others are axes. A basis of zeros is a copy.
//!
//! The other direction is the inverse of a matrix over bits. Where each basis has one bit, it is a TensorLayout; others,
//! which only shared memory has, are maps.
//!
//! `#ttg.blocked` on a shape: each thread has `sizePerThread`, each warp `threadsPerWarp` of them, each block `warpsPerCTA`
//! of those, each time the dimension `order[0]` first. What is larger than that is more registers, in the same order;
//! in what is smaller the topmost bits are copies.

use crate::element::ElementType;
use crate::expr::Expr;
use crate::maps::map::IndexingMap;
use crate::notations::bits::{BitColumns, inverse};
use crate::notations::described::{Described, Description};
use crate::notations::lists::{Located, at_least, dimensions, list, text, values};
use crate::notations::meaning::Meaning;
use crate::notations::types::spelled;
use crate::places::placement::Copies;
use crate::places::tensor_layout::{Broadcast, Part};
use crate::text::{Cursor, Error, excerpt};
use crate::tiled::layout::Layout;

/// The inputs of a layout of registers, and of shared memory; the first is the address.
const REGISTERS: [&str; 4] = ["register", "lane", "warp", "block"];
const SHARED: [&str; 2] = ["offset", "block"];

/// The bases of an input, each where it is.
type Bases = Vec<(usize, Vec<i64>)>;

/// A layout: for each of its inputs the bases.
struct LinearBases {
    names: &'static [&'static str],
    inputs: Vec<Bases>,
    /// Where the layout is.
    at: usize,
}

/// Takes an attribute, from `#ttg.` on, of a tensor of these sizes where they are known.
pub(super) fn read_triton(cursor: &mut Cursor, sizes: Option<&[i64]>) -> Result<Description, Error> {
    let at = cursor.at();
    cursor.expect("#", "an attribute of Triton")?;
    let (dialect, name) = (cursor.word(), if cursor.eat(".") { cursor.peek_name() } else { None });
    let Some(name @ ("linear" | "blocked" | "shared_linear")) = name.filter(|_| dialect == Some("ttg")) else {
        return Err(Error::at(at, "expected `#ttg.linear`, `#ttg.blocked` or `#ttg.shared_linear`"));
    };
    cursor.advance(name.len());
    cursor.expect("<", "`<`")?;
    cursor.expect("{", "`{`")?;
    let (bases, sizes) = match name {
        "blocked" => {
            let blocked = read_blocked(cursor, at)?;
            blocked.on(sizes)?
        }
        _ => {
            let names = if name == "linear" { &REGISTERS[..] } else { &SHARED[..] };
            let bases = read_bases(cursor, names, at)?;
            let own = bases.sizes(sizes)?;
            (bases, own)
        }
    };
    cursor.expect("}", "`,` or `}`")?;
    if name == "shared_linear" {
        cursor.expect(",", "`, alignment = ` and bytes")?;
        if cursor.peek_name() != Some("alignment") {
            return Err(cursor.expected("`alignment = ` and bytes"));
        }
        cursor.advance("alignment".len());
        cursor.expect("=", "`=`")?;
        cursor.integer("the alignment in bytes")?;
    }
    cursor.expect(">", "`>`")?;
    bases.describe(&sizes)
}

/// Takes `register = [[0, 1]], lane = []` up to the brace.
fn read_bases(cursor: &mut Cursor, names: &'static [&'static str], at: usize) -> Result<LinearBases, Error> {
    let mut inputs: Vec<Option<Bases>> = vec![None; names.len()];
    while cursor.peek() != Some(b'}') {
        let key = cursor.at();
        let name = cursor.peek_name().unwrap_or_default();
        let Some(input) = names.iter().position(|known| *known == name) else {
            return Err(cursor.expected(&format!("one of {}", names.join(", "))));
        };
        cursor.advance(name.len());
        cursor.expect("=", &format!("`=` after `{name}`"))?;
        if inputs[input].replace(read_rows(cursor)?).is_some() {
            return Err(Error::at(key, format!("`{name}` must be given once, found it twice")));
        }
        if !cursor.eat(",") {
            break;
        }
    }
    // The block of a layout of shared memory may be left out.
    let missing = (0..names.len()).find(|k| inputs[*k].is_none() && (names.len() > SHARED.len() || *k == 0));
    if let Some(missing) = missing {
        return Err(cursor.expected(&format!("`{} = ` and bases", names[missing])));
    }
    Ok(LinearBases { names, inputs: inputs.into_iter().map(Option::unwrap_or_default).collect(), at })
}

/// Takes `[[0, 1], [0, 2]]`.
fn read_rows(cursor: &mut Cursor) -> Result<Bases, Error> {
    cursor.expect("[", "`[` and bases")?;
    let mut rows = Vec::new();
    while !cursor.eat("]") {
        let at = cursor.at();
        if rows.len() == 62 {
            return Err(Error::at(at, "an input must have at most 62 bases, found more"));
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

    /// The sizes: of each dimension the least power of two that all bases are below.
    fn sizes(&self, given: Option<&[i64]>) -> Result<Vec<i64>, Error> {
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
            return Err(Error::at(*at, "an entry of a basis must be below 2^61"));
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

    /// Where the elements of a tensor of these sizes are.
    fn describe(&self, sizes: &[i64]) -> Result<Description, Error> {
        let logs: Vec<u32> = sizes.iter().map(|size| size.trailing_zeros()).collect();
        if logs.iter().sum::<u32>() > 62 {
            return Err(Error::at(self.at, "the number of elements does not fit in 64 bits"));
        }
        let first = |dim: usize| logs[..dim].iter().sum::<u32>();
        let packed =
            |row: &[i64]| row.iter().enumerate().fold(0u64, |all, (dim, entry)| all | (*entry as u64) << first(dim));
        // The bits of a place that are no copies: the input, the bit, and its basis.
        let mut places: Vec<(usize, usize, u64)> = Vec::new();
        let mut broadcast = Vec::new();
        for (input, rows) in self.inputs.iter().enumerate() {
            let name = self.names[input];
            for (bit, (at, row)) in rows.iter().enumerate() {
                let basis = packed(row);
                if self.names.len() == REGISTERS.len() && basis.count_ones() > 1 {
                    let message = "a basis of registers and threads must be one bit of one dimension, found several";
                    return Err(Error::at(*at, message));
                }
                match (basis, input) {
                    (0, 0) => {
                        let message = format!(
                            "a basis of `{name}` must not be 0: two places of one address space have the same element"
                        );
                        return Err(Error::at(*at, message));
                    }
                    (0, _) => copied(&mut broadcast, name, 1 << bit),
                    _ => places.push((input, bit, basis)),
                }
            }
        }
        let count: u32 = logs.iter().sum();
        let columns: Vec<u64> = places.iter().map(|(.., basis)| *basis).collect();
        let inverted =
            Some(columns).filter(|columns| columns.len() == count as usize).and_then(|columns| inverse(&columns));
        let Some(inverted) = inverted else {
            let message =
                format!("the bases that are not 0 must be independent, and {count} of them, as the elements have bits");
            return Err(Error::at(self.at, message));
        };
        let located = |error: Error| Error { at: error.at.or(Some(self.at)), ..error };
        if places.iter().all(|(.., basis)| basis.count_ones() == 1) {
            let part = |(input, bit, basis): &(usize, usize, u64)| {
                let position = basis.trailing_zeros();
                let dim = (0..logs.len()).rev().find(|dim| first(*dim) <= position && logs[*dim] > 0).unwrap_or(0);
                let axis = Some(self.names[*input].to_string()).filter(|_| *input > 0);
                (dim, 1 << (position - first(dim)), Part { extent: 2, axis, stride: 1 << bit })
            };
            return Description::of_parts(sizes, places.iter().map(part).collect(), broadcast).map_err(located);
        }
        if !broadcast.is_empty() {
            return Err(Error::at(self.at, "a basis must not be 0 in a layout with bases of several bits"));
        }
        Ok(Description::Map(Box::new(self.map(sizes, &places, &inverted))))
    }

    /// The map of a layout with bases of several bits: bit `p` of a place is the exclusive or of the bits of the index
    /// whose column of the inverse has it.
    fn map(&self, sizes: &[i64], places: &[(usize, usize, u64)], inverted: &[u64]) -> Meaning {
        let digits: Vec<Expr> = sizes
            .iter()
            .enumerate()
            .flat_map(|(dim, size)| (0..size.trailing_zeros()).map(move |bit| Expr::Var(dim).digit(1 << bit, 2, *size)))
            .collect();
        let mut results: Vec<Vec<Expr>> = vec![Vec::new(); self.names.len()];
        for (k, (input, bit, _)) in places.iter().enumerate() {
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

/// One more bit of an axis that copies differ in.
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

/// `#ttg.blocked`, each list where it is.
struct Blocked {
    per_thread: Vec<i64>,
    threads: Vec<i64>,
    warps: Vec<i64>,
    order: Vec<usize>,
    /// The bases of the blocks, in blocks.
    blocks: Vec<Vec<i64>>,
    at: usize,
}

/// The fields of `#ttg.blocked`; all but the last four must be given.
const FIELDS: [&str; 8] =
    ["sizePerThread", "threadsPerWarp", "warpsPerCTA", "order", "CTAsPerCGA", "CTASplitNum", "CTAOrder", "CGALayout"];

fn read_blocked(cursor: &mut Cursor, at: usize) -> Result<Blocked, Error> {
    let mut fields: [Option<Vec<Located>>; 8] = Default::default();
    let mut cga = None;
    while cursor.peek() != Some(b'}') {
        let key = cursor.at();
        let name = cursor.peek_name().unwrap_or_default();
        let Some(field) = FIELDS.iter().position(|known| *known == name) else {
            return Err(cursor.expected(&format!("one of {}", FIELDS.join(", "))));
        };
        cursor.advance(name.len());
        cursor.expect("=", &format!("`=` after `{name}`"))?;
        let twice = match field {
            7 => cga.replace(read_rows(cursor)?).is_some(),
            _ => fields[field].replace(list(cursor, ["[", "]"], "a number", false)?).is_some(),
        };
        if twice {
            return Err(Error::at(key, format!("`{name}` must be given once, found it twice")));
        }
        if !cursor.eat(",") {
            break;
        }
    }
    let rank = fields[0].as_ref().map_or(0, Vec::len);
    for (field, name) in FIELDS.iter().enumerate() {
        match fields.get(field).and_then(Option::as_ref) {
            None if field < 4 => return Err(cursor.expected(&format!("`{name} = ` and a list"))),
            Some(list) if list.len() != rank || rank == 0 => {
                return Err(Error::at(
                    list.first().map_or(at, |first| first.at),
                    format!(
                        "`{name}` must have a number for each dimension, {rank} as `sizePerThread`, found {}",
                        list.len()
                    ),
                ));
            }
            Some(list) if !matches!(field, 3 | 6) => {
                let wrong = list.iter().find(|n| n.value < 1 || n.value.count_ones() != 1);
                if let Some(Located { value, at }) = wrong {
                    return Err(Error::at(*at, format!("`{name}` must be powers of two, found {value}")));
                }
            }
            _ => {}
        }
    }
    let [per_thread, threads, warps, order, per_cga, split, cga_order, _] = fields;
    let numbers = |list: Option<Vec<Located>>| list.map_or_else(|| vec![1; rank], |list| values(&list));
    let order = dimensions(&order.unwrap_or_default(), rank, "`order`")?;
    let cga_order = cga_order.map_or_else(|| Ok(order.clone()), |list| dimensions(&list, rank, "`CTAOrder`"))?;
    let blocks = match cga {
        Some(rows) => {
            if let Some((at, row)) = rows.iter().find(|(_, row)| row.len() != rank) {
                return Err(Error::at(*at, format!("a basis must have {rank} numbers, found {}", row.len())));
            }
            rows.into_iter().map(|(_, row)| row).collect()
        }
        None => clusters(&numbers(per_cga), &numbers(split), &cga_order),
    };
    let (per_thread, threads, warps) = (numbers(per_thread), numbers(threads), numbers(warps));
    Ok(Blocked { per_thread, threads, warps, order, blocks, at })
}

/// The bases of blocks: in order, those that split a dimension and then those that copy it.
fn clusters(per_cluster: &[i64], split: &[i64], order: &[usize]) -> Vec<Vec<i64>> {
    let mut rows = Vec::new();
    for dim in order {
        for bit in 0..per_cluster[*dim].trailing_zeros() {
            let mut row = vec![0; order.len()];
            row[*dim] = if bit < split[*dim].trailing_zeros() { 1 << bit } else { 0 };
            rows.push(row);
        }
    }
    rows
}

impl Blocked {
    /// The bases on a tensor of these sizes, or of those of one block where none are given.
    fn on(&self, given: Option<&[i64]>) -> Result<(LinearBases, Vec<i64>), Error> {
        let rank = self.order.len();
        let wrong = |message: String| Error::at(self.at, message);
        let logs = |list: &[i64]| list.iter().map(|n| n.trailing_zeros()).collect::<Vec<u32>>();
        let inputs = [logs(&self.per_thread), logs(&self.threads), logs(&self.warps)];
        let tile: Vec<u32> = (0..rank).map(|dim| inputs.iter().map(|input| input[dim]).sum()).collect();
        let mut clusters = vec![0u32; rank];
        for row in &self.blocks {
            let top = |entry: &i64| 64 - entry.leading_zeros();
            row.iter().zip(&mut clusters).for_each(|(entry, most)| *most = top(entry).max(*most));
        }
        let whole = || {
            tile.iter().zip(&clusters).map(|(a, b)| (a + b < 62).then(|| 1i64 << (a + b))).collect::<Option<Vec<_>>>()
        };
        let sizes = match given {
            Some(sizes) => sizes.to_vec(),
            None => whole().ok_or_else(|| wrong("the sizes of a block do not fit in 64 bits".to_string()))?,
        };
        if sizes.len() != rank {
            return Err(wrong(format!("the layout has {rank} dimensions, found a tensor of {}", sizes.len())));
        }
        if let Some(size) = sizes.iter().find(|size| **size < 1 || size.count_ones() != 1) {
            return Err(wrong(format!("the sizes of a tensor with this layout must be powers of two, found {size}")));
        }
        let of_all = logs(&sizes);
        // The bits of each dimension that tell blocks apart; those inside a block are below them.
        let outer: Vec<u32> = (0..rank).map(|dim| clusters[dim].min(of_all[dim])).collect();
        let inside: Vec<u32> = (0..rank).map(|dim| of_all[dim] - outer[dim]).collect();
        let mut next = vec![0u32; rank];
        let mut take = |dim: usize| {
            let mut row = vec![0; rank];
            // What is beyond the size is a copy.
            row[dim] = if next[dim] < inside[dim] { 1 << next[dim] } else { 0 };
            next[dim] += 1;
            (self.at, row)
        };
        let mut bases: Vec<Bases> = Vec::new();
        for input in &inputs {
            let rows = self.order.iter().flat_map(|dim| std::iter::repeat_n(*dim, input[*dim] as usize));
            bases.push(rows.map(&mut take).collect());
        }
        for dim in &self.order {
            let more = inside[*dim].saturating_sub(tile[*dim]) as usize;
            bases[0].extend(std::iter::repeat_n(*dim, more).map(&mut take));
        }
        let block = |row: &Vec<i64>| {
            let entry = |dim: usize| if row[dim] < 1 << outer[dim] { row[dim] << inside[dim] } else { 0 };
            (self.at, (0..rank).map(entry).collect())
        };
        bases.push(self.blocks.iter().map(block).collect());
        Ok((LinearBases { names: &REGISTERS, inputs: bases, at: self.at }, sizes))
    }
}

/// The layout as Triton has it: in registers where it has the axes `lane`, `warp` and `block`, else in shared memory.
///
/// # Errors
/// There is none, and why: sizes that are no powers of two, other axes, padding, places that are not linear in bits.
pub fn triton(described: &Described, element: ElementType) -> Result<String, Error> {
    let meaning = described.meaning()?;
    let threads = meaning.axes.iter().any(|axis| axis == "lane" || axis == "warp");
    let names: &[&str] = if threads { &REGISTERS } else { &SHARED };
    if let Some(axis) = meaning.axes.iter().find(|axis| !names[1..].contains(&&***axis)) {
        return Err(Error::new(format!("Triton has the axes lane, warp and block, found `{}`", excerpt(axis))));
    }
    let columns = BitColumns::of(&meaning)?.columns;
    // The bits of places, by input: those that an element moves along, and those of copies.
    let axis_of = |input: usize| match input {
        0 => Some(meaning.axes.len()),
        input => meaning.axes.iter().position(|axis| axis == names[input]),
    };
    let mut lines = Vec::new();
    let mut bits: Vec<(usize, u32)> = Vec::new();
    for input in 0..names.len() {
        let Some(axis) = axis_of(input) else {
            lines.push(Vec::new());
            continue;
        };
        let moved = columns.iter().flatten().fold(0, |all, place| all | place[axis]);
        let copies = copied_bits(meaning.copies.get(axis), names[input])?;
        if moved & copies != 0 {
            return Err(Error::new(format!("the copies along {} are at other places than bits", names[input])));
        }
        let count = 64 - (moved | copies).leading_zeros();
        for bit in 0..count {
            match (moved >> bit & 1, copies >> bit & 1) {
                (1, _) => bits.push((input, bit)),
                (_, 1) => {}
                _ => {
                    let what = if input == 0 { "address" } else { names[input] };
                    return Err(Error::new(format!(
                        "Triton has no padding: the places along the {what} must all have an element, found none where bit {bit} is 1"
                    )));
                }
            }
        }
        lines.push(vec![vec![0; meaning.sizes.len()]; count as usize]);
    }
    let index_bits: Vec<(usize, usize)> =
        columns.iter().enumerate().flat_map(|(dim, own)| (0..own.len()).map(move |bit| (dim, bit))).collect();
    let packed = |(dim, bit): &(usize, usize)| {
        let place = &columns[*dim][*bit];
        let has = |(input, at): &(usize, u32)| axis_of(*input).is_some_and(|axis| place[axis] >> at & 1 == 1);
        bits.iter().enumerate().filter(|(_, at)| has(at)).fold(0u64, |all, (k, _)| all | 1 << k)
    };
    let matrix: Vec<u64> = index_bits.iter().map(packed).collect();
    let inverted = Some(matrix).filter(|matrix| matrix.len() == bits.len()).and_then(|matrix| inverse(&matrix));
    let inverted = inverted.ok_or_else(|| Error::new("the places are not linear in the bits of the index"))?;
    for ((input, bit), of) in bits.iter().zip(inverted) {
        let own = index_bits.iter().enumerate().filter(|(k, _)| of >> k & 1 == 1);
        own.for_each(|(_, (dim, at))| lines[*input][*bit as usize][*dim] |= 1 << at);
    }
    Ok(written(names, &lines, &meaning.sizes, element))
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
