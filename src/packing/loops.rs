//! Memory as loops over digits of an array's indices.
//!
//! A tile splits an index into a quotient and a remainder, so an expanded index is a digit of it: `f32[3,300]` in tiles
//! of (8,128) has the digits 1, 3, 8, 128; the second and the last belong to dimension 1, with scales 128 and 1. If the
//! digits of each dimension make up its index, the elements of a block of memory are those whose sum of digits times
//! scales is below the size. Merged dimensions are one if they are adjacent in a row-major array.
//!
//! Some layouts have no such digits: a tile size that the next one does not divide leaves padding inside, and merged
//! parts may be adjacent in memory only. Their elements are looked up one by one.

use crate::tiled::Expansion;

/// A loop over memory: one digit of one index.
#[derive(Clone, Copy, Debug)]
pub struct MemoryLoop {
    /// The number of its index.
    pub of: usize,
    pub size: usize,
    /// The step in the index, in the dense array, and in memory.
    pub scale: usize,
    pub dense: usize,
    pub memory: usize,
}

impl MemoryLoop {
    /// Whether a step covers all of the other loop in memory.
    fn holds(&self, inner: &MemoryLoop) -> bool {
        self.memory == inner.size * inner.memory
    }
}

/// The loops of a memory, the outermost first.
#[derive(Clone, Debug)]
pub struct MemoryLoops {
    loops: Vec<MemoryLoop>,
    /// The size of each index.
    sizes: Vec<usize>,
}

/// The elements of a block of memory: those of the last two loops with digits below `rows` and `columns`.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBlock {
    /// The start of the block in the dense array, and in memory.
    pub dense: usize,
    pub memory: usize,
    pub rows: usize,
    pub columns: usize,
    /// The last two loops.
    pub row: MemoryLoop,
    pub column: MemoryLoop,
}

/// A visitor of the memory, in order.
pub trait Walker {
    /// Visits a block with elements.
    fn block(&mut self, block: MemoryBlock);
    /// Visits so many elements of padding.
    fn padding(&mut self, at: usize, count: usize);
}

/// A value of an expansion: `scale` times a digit of index `of`.
#[derive(Clone, Copy)]
struct Traced {
    of: usize,
    scale: i64,
    size: i64,
}

/// An index: its stride in the dense array, and its size.
struct Index {
    dense: i64,
    size: i64,
}

impl MemoryLoops {
    /// The loops of an expansion; `None` if it has no digits.
    pub fn new(expansion: &Expansion) -> Option<MemoryLoops> {
        let equations = expansion.equations();
        let logical = expansion.logical_sizes();
        // An empty array has only padding, and strides of 0.
        if logical.contains(&0) {
            return None;
        }
        let mut indices = Vec::new();
        let mut traced: Vec<Option<Traced>> = vec![None; equations.sizes.len()];
        let mut stride = 1_i64;
        for (k, size) in logical.iter().enumerate().rev() {
            traced[k] = Some(Traced { of: indices.len(), scale: 1, size: *size });
            indices.push(Index { dense: stride, size: *size });
            stride = stride.checked_mul(*size)?;
        }
        follow(&equations.digits, &mut traced, &mut indices, &equations.sizes)?;
        let mut loops: Vec<MemoryLoop> = Vec::new();
        for (value, memory) in equations.expanded.iter().zip(expansion.strides()) {
            // A value without an index is a leading dimension of size 1.
            let Some(Traced { of, scale, size }) = traced[*value] else { continue };
            if size == 1 {
                continue;
            }
            let dense = indices[of].dense.checked_mul(scale)?;
            let [size, scale, dense, memory] = [size, scale, dense, *memory].map(|n| usize::try_from(n).ok());
            let next = MemoryLoop { of, size: size?, scale: scale?, dense: dense?, memory: memory? };
            match loops.last_mut() {
                // Adjacent digits of one index in order are merged.
                Some(last) if last.of == of && last.holds(&next) && last.scale == next.size * next.scale => {
                    *last = MemoryLoop { size: last.size * next.size, ..next };
                }
                // Whole indices adjacent in the dense array and in memory are merged. A higher digit may have as many
                // values as its index, all but the first of them padding.
                Some(last)
                    if [*last, next]
                        .iter()
                        .all(|digit| digit.scale == 1 && digit.size as i64 == indices[digit.of].size)
                        && last.holds(&next)
                        && last.dense == next.size * next.dense =>
                {
                    *last = MemoryLoop { of: indices.len(), size: last.size * next.size, ..next };
                    indices.push(Index { dense: next.dense as i64, size: last.size as i64 });
                }
                _ => loops.push(next),
            }
        }
        while loops.len() < 2 {
            let all = loops.iter().map(|digit| digit.size).product();
            loops.insert(0, MemoryLoop { of: indices.len(), size: 1, scale: 1, dense: 0, memory: all });
            indices.push(Index { dense: 0, size: 1 });
        }
        Some(MemoryLoops { loops, sizes: indices.iter().map(|index| index.size as usize).collect() })
    }

    /// The elements of the memory, without those of its end.
    pub fn elements(&self) -> usize {
        self.loops[0].size * self.loops[0].memory
    }

    /// Visits memory in order, block by block.
    pub fn walk(&self, way: &mut impl Walker) {
        let mut left = self.sizes.clone();
        self.step(0, 0, 0, &mut left, way);
    }

    /// Calls `f` with the positions of each element in the dense array and in memory.
    pub fn each(&self, f: &mut impl FnMut(usize, usize)) {
        self.walk(&mut Each(f));
    }

    /// Visits the loop `level` of the block at `dense` and `memory`; `left` is the rest of each index there.
    fn step(&self, level: usize, dense: usize, memory: usize, left: &mut [usize], way: &mut impl Walker) {
        let digit = self.loops[level];
        // The number of digits with an element.
        let full = left[digit.of].div_ceil(digit.scale).min(digit.size);
        if let [row, column] = self.loops[level..] {
            // Two digits of one index end at a different position in each row.
            if row.of == column.of {
                for k in 0..full {
                    let columns = (left[row.of] - k * row.scale).div_ceil(column.scale).min(column.size);
                    let (dense, memory) = (dense + k * row.dense, memory + k * row.memory);
                    way.block(MemoryBlock {
                        dense,
                        memory,
                        rows: 1,
                        columns,
                        row: MemoryLoop { size: 1, ..row },
                        column,
                    });
                }
                way.padding(memory + full * row.memory, (row.size - full) * row.memory);
            } else {
                let columns = left[column.of].div_ceil(column.scale).min(column.size);
                way.block(MemoryBlock { dense, memory, rows: full, columns, row, column });
            }
            return;
        }
        let whole = left[digit.of];
        for k in 0..full {
            left[digit.of] = whole - k * digit.scale;
            self.step(level + 1, dense + k * digit.dense, memory + k * digit.memory, left, way);
        }
        left[digit.of] = whole;
        way.padding(memory + full * digit.memory, (digit.size - full) * digit.memory);
    }
}

/// Finds the digit and the index of each value; `None` if a value has none.
fn follow(
    steps: &[(usize, usize, i64, usize)],
    traced: &mut [Option<Traced>],
    indices: &mut Vec<Index>,
    sizes: &[i64],
) -> Option<()> {
    let mut split = vec![false; sizes.len()];
    for &(whole, major, by, minor) in steps {
        // A step defines values with higher numbers: two from one, or one from two.
        if whole < major {
            // A leading dimension is 0, and so are its parts; the remainder may have a size.
            let Traced { of, scale, size } = match traced[whole] {
                Some(known) => known,
                None => {
                    indices.push(Index { dense: 0, size: 1 });
                    Traced { of: indices.len() - 1, scale: 1, size: 1 }
                }
            };
            // Inside a tile the last part must be whole, as memory has padding there otherwise.
            if split[whole] && size % by != 0 {
                return None;
            }
            traced[major] = Some(Traced { of, scale: scale.checked_mul(by)?, size: sizes[major] });
            traced[minor] = Some(Traced { of, scale, size: by });
            (split[major], split[minor]) = (split[whole], true);
            continue;
        }
        let (a, b) = (traced[major], traced[minor]);
        let (Some(a), Some(b)) = (a, b) else {
            // One is a leading dimension with index 0, so the other is the whole.
            if sizes[if a.is_none() { major } else { minor }] != 1 {
                return None;
            }
            traced[whole] = a.or(b);
            split[whole] = split[if a.is_none() { minor } else { major }];
            continue;
        };
        let one = |t: Traced| t.scale == 1 && t.size == indices[t.of].size;
        if !one(a) || !one(b) || split[major] || split[minor] {
            return None;
        }
        let [outer, inner] = [&indices[a.of], &indices[b.of]];
        if outer.dense != inner.dense.checked_mul(inner.size)? && outer.size != 1 {
            return None;
        }
        let merged = Index { dense: inner.dense, size: outer.size.checked_mul(inner.size)? };
        traced[whole] = Some(Traced { of: indices.len(), scale: 1, size: merged.size });
        indices.push(merged);
    }
    Some(())
}

/// A visitor that calls a function with the positions of each element.
struct Each<'a, F>(&'a mut F);

impl<F: FnMut(usize, usize)> Walker for Each<'_, F> {
    fn block(&mut self, block: MemoryBlock) {
        for j in 0..block.rows {
            for i in 0..block.columns {
                (self.0)(
                    block.dense + j * block.row.dense + i * block.column.dense,
                    block.memory + j * block.row.memory + i * block.column.memory,
                );
            }
        }
    }

    fn padding(&mut self, _: usize, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::shape::Shape;

    #[test]
    fn layouts_in_use_have_digits() {
        for (text, loops) in [
            ("f32[3,300]{1,0:T(8,128)}", &[3, 8, 128][..]),
            ("bf16[20,300]{1,0:T(8,128)(2,1)}", &[3, 3, 4, 128, 2]),
            ("s8[4,20,300]{1,2,0:T(8,128)(4,1)}", &[4, 76, 128, 4]),
            ("f32[2,3,4]{2,1,0}", &[1, 24]),
            ("f32[2,3,4]{0,1,2:T(2,*,2)}", &[]),
            ("f32[2,3,4]{2,1,0:T(2,*,2)}", &[6, 2, 2]),
            ("f32[10]{0:T(8,128)}", &[8, 128]),
            ("f32[]", &[1, 1]),
            // Tiles with padding inside.
            ("f32[10]{0:T(3)(2)}", &[]),
        ] {
            let Ok(Shape::Array(array)) = Shape::parse(text) else { panic!("{text}: not an array") };
            let expansion = Expansion::new(&array.sizes().unwrap(), &array.layout).unwrap();
            let found = MemoryLoops::new(&expansion).map_or(Vec::new(), |digits| digits.loops);
            assert_eq!(found.iter().map(|digit| digit.size).collect::<Vec<_>>(), loops, "{text}");
        }
    }
}
