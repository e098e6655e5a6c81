//! `#ttg.blocked`: a tensor cut evenly among threads, warps and blocks. See [`mod@super::triton`].

use crate::notations::bases::{Bases, LinearBases, REGISTERS, read_rows};
use crate::notations::lists::{ReadNumber, dimensions, fields, list, values};
use crate::text::{Cursor, Error};

/// `#ttg.blocked`, each list with its byte offset.
pub(super) struct Blocked {
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

pub(super) fn read_blocked(cursor: &mut Cursor, at: usize) -> Result<Blocked, Error> {
    let mut lists: [Option<Vec<ReadNumber>>; 8] = Default::default();
    let mut cga = None;
    fields(cursor, &FIELDS, |cursor, field| {
        match field {
            7 => cga = Some(read_rows(cursor)?),
            _ => lists[field] = Some(list(cursor, ["[", "]"], "a number", false)?),
        }
        Ok(())
    })?;
    let rank = lists[0].as_ref().map_or(0, Vec::len);
    for (field, name) in FIELDS.iter().enumerate() {
        match lists.get(field).and_then(Option::as_ref) {
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
                if let Some(ReadNumber { value, at }) = wrong {
                    return Err(Error::at(*at, format!("`{name}` must be powers of two, found {value}")));
                }
            }
            _ => {}
        }
    }
    let [per_thread, threads, warps, order, per_cga, split, cga_order, _] = lists;
    let numbers = |list: Option<Vec<ReadNumber>>| list.map_or_else(|| vec![1; rank], |list| values(&list));
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

/// The bases of blocks: in order, first the bits that split a dimension and then the bits that copy it.
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
    /// The bases on a tensor of these sizes, or by default of the sizes that all blocks cover once.
    ///
    /// In the operand of a product, each thread has all elements along the dimension that is added up, and the threads
    /// along it have copies.
    pub fn on(&self, given: Option<&[i64]>, added: Option<usize>) -> Result<(LinearBases, Vec<i64>), Error> {
        let rank = self.order.len();
        let wrong = |message: String| Error::at(self.at, message);
        let logs = |list: &[i64]| list.iter().map(|n| n.trailing_zeros()).collect::<Vec<u32>>();
        let mut inputs = [logs(&self.per_thread), logs(&self.threads), logs(&self.warps)];
        let mut tile: Vec<u32> = (0..rank).map(|dim| inputs.iter().map(|input| input[dim]).sum()).collect();
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
        if let Some(added) = added {
            let few = || wrong(format!("the operand of a product must have 2 dimensions, found {rank}"));
            inputs[0][added] = *of_all.get(added).ok_or_else(few)?;
            tile[added] += of_all[added];
        }
        // The bits of each dimension that number blocks; bits inside a block are below them.
        let outer: Vec<u32> = (0..rank).map(|dim| clusters[dim].min(of_all[dim])).collect();
        let inside: Vec<u32> = (0..rank).map(|dim| of_all[dim] - outer[dim]).collect();
        let mut next = vec![0u32; rank];
        let mut take = |dim: usize| {
            let mut row = vec![0; rank];
            // A bit beyond the size is a copy.
            row[dim] = if next[dim] < inside[dim] { 1 << next[dim] } else { 0 };
            next[dim] += 1;
            (self.at, row)
        };
        let mut bases: Vec<Bases> = Vec::new();
        for input in &inputs {
            let rows = self.order.iter().flat_map(|dim| std::iter::repeat_n(*dim, input[*dim] as usize));
            bases.push(rows.map(&mut take).collect());
        }
        if added.is_none() {
            // A smaller tensor takes fewer registers.
            bases[0].retain(|(_, row)| row.iter().any(|entry| *entry != 0));
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
        Ok((LinearBases { names: &REGISTERS, inputs: bases, is_padded: false, at: self.at }, sizes))
    }
}
