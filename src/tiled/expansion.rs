//! A layout applied to sizes: the offset of each element.
//!
//! Tiling replaces the last `k` sizes by `k` outer sizes and `k` inner ones. `f32[3,5]{1,0:T(2,2)}` has the physical
//! sizes `[3, 5]` and the expanded sizes `[2, 3, 2, 2]`; element (2, 3) is at `[1, 1, 0, 1]`, because
//! `2 = 1*2 + 0` and `3 = 1*2 + 1`, and so at offset `1*12 + 1*4 + 0*2 + 1 = 17`. Of the 24 places 15 hold an element;
//! the others are padding.
//!
//! A layout becomes a list of two kinds of step over numbered values, of which the logical indices come first:
//! *split* a value into quotient and remainder by a tile's size, and *merge* two values, `major * size + minor`,
//! which is the meaning of `*`. Each value has one user, or is an expanded index. Forward, the steps give the offset of
//! an index; backward, the index of an offset; on expressions, the indexing map. A value at or above its size is
//! padding, which only the way back meets.
//!
//! Offsets count elements, not bytes. Sizes that do not fit in 64 bits are errors, never wrapped.

use crate::element::ElementType;
use crate::expr::Expr;
use crate::limits;
use crate::text::Error;
use crate::tiled::layout::{Layout, dimensions};
use crate::tiled::tiling::Tiling;
use std::cmp::Reverse;

/// A layout applied to the logical sizes of an array.
#[derive(Clone, Debug)]
pub struct Expansion {
    logical_sizes: Vec<i64>,
    /// The size of every value, the logical dimensions first.
    value_sizes: Vec<i64>,
    steps: Vec<TilingStep>,
    /// The values that are the expanded indices, majormost first.
    expanded: Vec<usize>,
    expanded_sizes: Vec<i64>,
    strides: Vec<i64>,
    expanded_elements: i64,
    allocated_elements: i64,
    element_bits: i64,
    strided_dims: Vec<StridedDim>,
    split: bool,
}

/// One dimension of the lowered form: a part into which tiling cuts a logical dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StridedDim {
    /// The lowest of its logical dimensions (several where `*` merged them); `None` for a dimension in front, from a
    /// tile longer than the rank.
    pub dim: Option<usize>,
    /// The position in [`Expansion::sizes`].
    pub position: usize,
    /// The size.
    pub size: i64,
    /// The stride in elements.
    pub stride: i64,
}

/// Equations between logical and expanded indices.
pub(crate) struct IndexEquations {
    /// The size of each value.
    pub sizes: Vec<i64>,
    /// `(whole, major, size, minor)`, where `whole = major * size + minor`.
    pub digits: Vec<(usize, usize, i64, usize)>,
    /// The values that are the expanded indices, majormost first.
    pub expanded: Vec<usize>,
}

#[derive(Clone, Debug)]
enum TilingStep {
    /// Value `outer` is `value floordiv by` and value `outer + 1` is `value mod by`.
    DivMod { value: usize, by: i64, shift: Option<u32>, outer: usize },
    /// Value `merged` is `major * (size of minor) + minor`.
    Merge { major: usize, minor: usize, merged: usize },
}

impl Expansion {
    /// The most nodes of all index expressions together. Tiles that merge the parts of earlier tiles can double them
    /// repeatedly; layouts in use have a few dozen.
    pub const MAX_NODES: u64 = limits::EXPRESSIONS;

    /// Applies `layout` to an array of these logical sizes.
    ///
    /// # Errors
    /// A rank that differs from the layout's, a negative size, a layout with invalid fields, and counts of elements
    /// that do not fit in 64 bits.
    pub fn new(sizes: &[i64], layout: &Layout) -> Result<Expansion, Error> {
        if let Some(size) = sizes.iter().find(|size| **size < 0) {
            return Err(Error::new(format!("a size must be at least 0, found {size}")));
        }
        layout.check(sizes)?;
        Builder::new(sizes, layout)?.build(sizes, layout)
    }

    /// The logical sizes.
    pub fn logical_sizes(&self) -> &[i64] {
        &self.logical_sizes
    }

    /// The expanded sizes in memory order, majormost first; those of the largest piece where the layout is cut.
    pub fn sizes(&self) -> &[i64] {
        &self.expanded_sizes
    }

    /// The strides of [`Expansion::sizes`], in elements.
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// The product of the expanded sizes.
    pub fn elements(&self) -> i64 {
        self.expanded_elements
    }

    /// The allocated elements: [`Expansion::elements`], in a tiled layout rounded up to the tail alignment.
    pub fn allocated_elements(&self) -> i64 {
        self.allocated_elements
    }

    /// The product of the logical sizes.
    ///
    /// # Errors
    /// The product does not fit in 64 bits, which happens only where the layout is cut across memories.
    pub fn logical_elements(&self) -> Result<i64, Error> {
        product(&self.logical_sizes)
    }

    /// The bytes of all elements without padding: whole bytes of the type for each, or fewer bits where `E(n)` packs
    /// them. `pred[8]{0:E(32)}` has 8 bytes, padded to 32; `pred[8]{0:E(1)}` has 1.
    ///
    /// # Errors
    /// The bytes do not fit in 64 bits, or `element` is not data.
    pub fn logical_bytes(&self, element: ElementType) -> Result<i64, Error> {
        let own = element.bytes().map_or(0, |bytes| bytes * 8);
        bytes(self.logical_elements()?, element, self.element_bits.min(own))
    }

    /// The allocated bytes, padding included.
    ///
    /// # Errors
    /// The bytes do not fit in 64 bits, or `element` is not data.
    pub fn padded_bytes(&self, element: ElementType) -> Result<i64, Error> {
        bytes(self.allocated_elements, element, self.element_bits)
    }

    /// Whether the layout is cut across memories, so that an offset also needs the number of a memory.
    pub fn is_split_across_memories(&self) -> bool {
        self.split
    }

    /// The offset of the element at a logical index, in elements.
    ///
    /// Post-condition: `index(offset(i)) == i`, and no two elements share an offset.
    ///
    /// # Errors
    /// The index is not in the logical shape, or the layout is cut across memories.
    pub fn offset(&self, index: &[i64]) -> Result<i64, Error> {
        self.forward(index, |values| self.expanded.iter().zip(&self.strides).map(|(v, s)| values[*v] * s).sum())
    }

    /// The expanded index of the element at a logical index.
    ///
    /// Post-condition: each entry is less than its size in [`Expansion::sizes`], and the sum of entries times
    /// [`Expansion::strides`] is [`Expansion::offset`].
    ///
    /// # Errors
    /// As [`Expansion::offset`].
    pub fn expand(&self, index: &[i64]) -> Result<Vec<i64>, Error> {
        self.forward(index, |values| self.expanded.iter().map(|v| values[*v]).collect())
    }

    /// The logical index of the element at an offset in elements; `None` for padding and tail padding.
    ///
    /// # Errors
    /// The offset is outside the allocated memory, or the layout is cut across memories.
    pub fn index(&self, offset: i64) -> Result<Option<Vec<i64>>, Error> {
        self.in_one_memory()?;
        if !(0..self.allocated_elements).contains(&offset) {
            let message = format!(
                "an offset must be at least 0 and less than the {} elements of the allocation, found {offset}",
                self.allocated_elements
            );
            return Err(Error::new(message));
        }
        if offset >= self.expanded_elements {
            return Ok(None);
        }
        let mut values = vec![0; self.value_sizes.len()];
        let mut rest = offset;
        for (&value, size) in self.expanded.iter().zip(&self.expanded_sizes).rev() {
            values[value] = rest % size;
            rest /= size;
        }
        for step in self.steps.iter().rev() {
            match *step {
                TilingStep::DivMod { value, by, outer, .. } => {
                    values[value] = values[outer] * by + values[outer + 1];
                    if values[value] >= self.value_sizes[value] {
                        return Ok(None);
                    }
                }
                TilingStep::Merge { major, minor, merged } => {
                    values[major] = values[merged] / self.value_sizes[minor];
                    values[minor] = values[merged] % self.value_sizes[minor];
                }
            }
        }
        values.truncate(self.logical_sizes.len());
        Ok(Some(values))
    }

    /// The expanded index as expressions of the logical index, not simplified: variable `k` is logical dimension `k`.
    /// Where the layout is cut they hold inside a piece.
    pub fn exprs(&self) -> Vec<Expr> {
        let mut values: Vec<Expr> = (0..self.logical_sizes.len()).map(Expr::Var).collect();
        // Values that no step defines are leading dimensions of size 1.
        values.resize(self.value_sizes.len(), Expr::Const(0));
        for step in &self.steps {
            match *step {
                TilingStep::DivMod { value, .. } if values[value] == Expr::Const(0) => {}
                TilingStep::DivMod { value, by, outer, .. } => {
                    let split = std::mem::replace(&mut values[value], Expr::Const(0));
                    values[outer] = split.clone().floor_div(by);
                    values[outer + 1] = split.modulo(by);
                }
                TilingStep::Merge { major, minor, merged } => {
                    let [a, b] = [major, minor].map(|v| std::mem::replace(&mut values[v], Expr::Const(0)));
                    values[merged] = scaled(a, self.value_sizes[minor]) + b;
                }
            }
        }
        self.expanded.iter().map(|v| values[*v].clone()).collect()
    }

    /// The offset in elements as an expression of the logical index, not simplified.
    pub fn offset_expr(&self) -> Expr {
        let terms = self.exprs().into_iter().zip(&self.strides).map(|(e, s)| scaled(e, *s));
        terms.fold(Expr::Const(0), |sum, term| sum + term)
    }

    /// Whether both layouts put every common index at the same offset. A merge by `*` multiplies by the minor size, so
    /// a larger dimension may move elements though all expanded sizes are equal.
    pub(crate) fn same_offsets(&self, other: &Expansion) -> bool {
        let (own, theirs) = (self.equations(), other.equations());
        own.digits == theirs.digits && own.expanded == theirs.expanded && self.strides == other.strides
    }

    /// The steps as equations over numbered values, the first of which are the logical indices.
    pub(crate) fn equations(&self) -> IndexEquations {
        let step = |step: &TilingStep| match *step {
            TilingStep::DivMod { value, by, outer, .. } => (value, outer, by, outer + 1),
            TilingStep::Merge { major, minor, merged } => (merged, major, self.value_sizes[minor], minor),
        };
        IndexEquations {
            sizes: self.value_sizes.clone(),
            digits: self.steps.iter().map(step).collect(),
            expanded: self.expanded.clone(),
        }
    }

    /// The dimensions of the lowered form, in its order: first the parts without a logical dimension, then the parts of
    /// logical dimension 0, and so on; within a dimension the most significant first. Parts of size 1 are left out,
    /// except the last one of a dimension without others.
    ///
    /// Where a later tile merges parts of several dimensions, these dimensions become one, with its parts in memory
    /// order.
    pub fn strided_dims(&self) -> Vec<StridedDim> {
        self.strided_dims.clone()
    }

    /// Computes all values of a logical index, and calls `read` with them.
    fn forward<T>(&self, index: &[i64], read: impl FnOnce(&[i64]) -> T) -> Result<T, Error> {
        self.in_one_memory()?;
        if index.len() != self.logical_sizes.len() {
            let rank = dimensions(self.logical_sizes.len());
            return Err(Error::new(format!(
                "the index must have {rank}, as the shape has, found {}",
                dimensions(index.len())
            )));
        }
        if let Some(dim) = (0..index.len()).find(|&dim| index[dim] < 0 || index[dim] >= self.logical_sizes[dim]) {
            let (at, size) = (index[dim], self.logical_sizes[dim]);
            return Err(Error::new(format!(
                "the index of dimension {dim} must be at least 0 and less than its size {size}, found {at}"
            )));
        }
        // Few layouts have more values than this, and an allocation would dominate the time.
        let mut few = [0; 32];
        let mut many = Vec::new();
        let values = if let Some(few) = few.get_mut(..self.value_sizes.len()) {
            few
        } else {
            many.resize(self.value_sizes.len(), 0);
            &mut many[..]
        };
        values[..index.len()].copy_from_slice(index);
        for step in &self.steps {
            match *step {
                TilingStep::DivMod { value, by, shift, outer } => {
                    let v = values[value];
                    let quotient = if let Some(shift) = shift { v >> shift } else { v / by };
                    values[outer] = quotient;
                    values[outer + 1] = v - quotient * by;
                }
                TilingStep::Merge { major, minor, merged } => {
                    values[merged] = values[major] * self.value_sizes[minor] + values[minor];
                }
            }
        }
        Ok(read(values))
    }

    fn in_one_memory(&self) -> Result<(), Error> {
        if self.split {
            let message = "the layout is cut across memories (`SC`): an offset needs the memory it is in";
            return Err(Error::new(message).unsupported());
        }
        Ok(())
    }
}

/// A value during construction of the steps.
#[derive(Clone, Copy)]
struct KnownValue {
    size: i64,
    /// The group of logical dimensions that the value is a part of.
    group: usize,
    /// The stride of this value in the index of its group.
    scale: i64,
    /// The nodes of its expression.
    nodes: u64,
}

/// Logical dimensions that the layout has merged into one index, or a leading dimension of size 1.
#[derive(Clone, Copy)]
struct Group {
    /// The lowest of its logical dimensions.
    dim: Option<usize>,
    /// The number of its values that no step has used.
    unused_values: usize,
    /// Whether its index is the sum of its parts times their scales. Otherwise parts have no order of significance.
    ordered: bool,
}

struct Builder {
    values: Vec<KnownValue>,
    groups: Vec<Group>,
    steps: Vec<TilingStep>,
    /// The values that no step has used, majormost first.
    expanded: Vec<usize>,
}

impl Builder {
    /// Applies the tiles in order.
    fn new(sizes: &[i64], layout: &Layout) -> Result<Builder, Error> {
        let rank = sizes.len();
        let mut builder =
            Builder { values: Vec::new(), groups: Vec::new(), steps: Vec::new(), expanded: Vec::with_capacity(rank) };
        for (dim, size) in sizes.iter().enumerate() {
            builder.whole(*size, Some(dim), 1);
        }
        builder.expanded.extend(layout.major_to_minor());
        for split in &layout.splits {
            let value = builder.expanded[split.dim];
            builder.values[value].size = largest_piece(sizes[value], &split.split_indices);
        }
        let mut expanded = std::mem::take(&mut builder.expanded);
        for tile in &layout.tiles {
            builder.tile(&mut expanded, tile)?;
        }
        builder.expanded = expanded;
        let nodes = builder.expanded.iter().fold(0, |sum: u64, v| sum.saturating_add(builder.values[*v].nodes));
        if nodes > Expansion::MAX_NODES {
            return Err(Error::new(
                "the tiles merge and split again so often that the index expressions are too large",
            )
            .too_large());
        }
        Ok(builder)
    }

    /// A new value that is the whole index of a new group.
    fn whole(&mut self, size: i64, dim: Option<usize>, nodes: u64) -> usize {
        self.groups.push(Group { dim, unused_values: 1, ordered: true });
        self.value(size, self.groups.len() - 1, 1, nodes)
    }

    fn value(&mut self, size: i64, group: usize, scale: i64, nodes: u64) -> usize {
        self.values.push(KnownValue { size, group, scale, nodes });
        self.values.len() - 1
    }

    /// Merges a value into the next more-minor one.
    fn merge_into(&mut self, major: usize, minor: usize) -> Result<usize, Error> {
        let [a, b] = [major, minor].map(|v| self.values[v]);
        let [ga, gb] = [a.group, b.group].map(|g| self.groups[g]);
        let size = a.size.checked_mul(b.size).ok_or_else(too_large)?;
        let nodes = a.nodes.saturating_add(b.nodes).saturating_add(2);
        let dim = ga.dim.into_iter().chain(gb.dim).min();
        let merged = if a.group == b.group && ga.ordered && b.scale.checked_mul(b.size) == Some(a.scale) {
            // Neighbouring parts of one index become a longer part of it.
            self.groups[a.group].unused_values -= 1;
            self.value(size, a.group, b.scale, nodes)
        } else if a.group != b.group && [(a, ga), (b, gb)].iter().all(|(v, g)| g.unused_values == 1 && v.scale == 1) {
            self.whole(size, dim, nodes)
        } else {
            let unused_values = ga.unused_values + if a.group == b.group { 0 } else { gb.unused_values } - 1;
            self.groups.push(Group { dim, unused_values, ordered: false });
            let group = self.groups.len() - 1;
            for value in self.values.iter_mut().filter(|v| v.group == a.group || v.group == b.group) {
                value.group = group;
            }
            self.value(size, group, b.scale, nodes)
        };
        self.steps.push(TilingStep::Merge { major, minor, merged });
        Ok(merged)
    }

    fn build(self, logical: &[i64], layout: &Layout) -> Result<Expansion, Error> {
        let sizes: Vec<i64> = self.expanded.iter().map(|v| self.values[*v].size).collect();
        let elements = product(&sizes)?;
        let mut strides = vec![1_i64; sizes.len()];
        for i in (1..sizes.len()).rev() {
            strides[i - 1] = strides[i].checked_mul(sizes[i]).ok_or_else(too_large)?;
        }
        let tail = if layout.is_tiled() { layout.tail_alignment } else { 1 };
        let allocated = (elements / tail + i64::from(elements % tail != 0)).checked_mul(tail).ok_or_else(too_large)?;
        let strided_dims = self.strided_dims(&sizes, &strides);
        Ok(Expansion {
            logical_sizes: logical.to_vec(),
            value_sizes: self.values.iter().map(|v| v.size).collect(),
            steps: self.steps,
            expanded: self.expanded,
            expanded_sizes: sizes,
            strides,
            expanded_elements: elements,
            allocated_elements: allocated,
            element_bits: layout.element_bits,
            strided_dims,
            split: !layout.splits.is_empty(),
        })
    }

    fn strided_dims(&self, sizes: &[i64], strides: &[i64]) -> Vec<StridedDim> {
        let mut first = vec![usize::MAX; self.groups.len()];
        for (position, value) in self.expanded.iter().enumerate().rev() {
            first[self.values[*value].group] = position;
        }
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        // `None` sorts before every logical dimension, as leading dimensions come before them. A part of size 1 and its
        // neighbour can have one scale; memory order then has the quotient before the remainder.
        order.sort_by_key(|&position| {
            let KnownValue { group, scale, .. } = self.values[self.expanded[position]];
            let Group { dim, ordered, .. } = self.groups[group];
            (dim, first[group], Reverse(if ordered { scale } else { 0 }), position)
        });
        let group = |position: usize| self.values[self.expanded[position]].group;
        let mut parts = Vec::new();
        for run in order.chunk_by(|a, b| group(*a) == group(*b)) {
            let dim = self.groups[group(run[0])].dim;
            let part =
                |&position: &usize| StridedDim { dim, position, size: sizes[position], stride: strides[position] };
            let before = parts.len();
            parts.extend(run.iter().filter(|position| sizes[**position] != 1).map(part));
            if parts.len() == before && dim.is_some() {
                parts.extend(run.last().map(part));
            }
        }
        parts
    }
}

/// An index is the number of a value.
impl Tiling for Builder {
    type Index = usize;
    type Error = Error;

    fn leading(&mut self) -> usize {
        self.whole(1, None, 1)
    }

    /// From the minor end, so that each value is merged into a complete one.
    fn merge(&mut self, indices: Vec<usize>) -> Result<usize, Error> {
        let merged = indices.into_iter().rev().map(Ok).reduce(|minor, major| self.merge_into(major?, minor?));
        merged.expect("a merge has two indices or more")
    }

    fn split(&mut self, value: usize, by: i64) -> Result<[usize; 2], Error> {
        let KnownValue { size, group, scale, nodes } = self.values[value];
        self.groups[group].unused_values += 1;
        let quotients = size / by + i64::from(size % by != 0);
        let outer = self.value(quotients, group, scale.checked_mul(by).ok_or_else(too_large)?, nodes.saturating_add(1));
        let inner = self.value(by, group, scale, nodes.saturating_add(1));
        let shift = u64::try_from(by).ok().filter(|by| by.is_power_of_two()).map(u64::trailing_zeros);
        self.steps.push(TilingStep::DivMod { value, by, shift, outer });
        Ok([outer, inner])
    }
}

/// `e * factor`, or 0 if `e` is 0: leading dimensions leave no trace.
fn scaled(e: Expr, factor: i64) -> Expr {
    if e == Expr::Const(0) { e } else { e.times(factor) }
}

/// The size of the largest piece of a dimension that is cut.
fn largest_piece(size: i64, cuts: &[i64]) -> i64 {
    let starts = std::iter::once(&0).chain(cuts);
    let ends = cuts.iter().chain(std::iter::once(&size));
    starts.zip(ends).map(|(start, end)| end - start).max().unwrap_or(size)
}

/// The product of sizes; 0 if one of them is 0.
fn product(sizes: &[i64]) -> Result<i64, Error> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    sizes.iter().try_fold(1_i64, |product, size| product.checked_mul(*size)).ok_or_else(too_large)
}

/// The bytes that `count` elements take, `element_bits` each; 0 means the whole bytes of the type.
fn bytes(count: i64, element: ElementType, element_bits: i64) -> Result<i64, Error> {
    let Some(own) = element.bytes() else {
        return Err(Error::new(format!("`{element}` has no size")).unsupported());
    };
    let bits = if element_bits == 0 { own * 8 } else { element_bits };
    let bytes = (i128::from(count) * i128::from(bits) + 7) / 8;
    bytes.try_into().map_err(|_| Error::new("the size in bytes does not fit in 64 bits").too_large())
}

fn too_large() -> Error {
    Error::new("the number of elements does not fit in 64 bits").too_large()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::shape::Shape;

    /// The lowered sizes and strides of the shape's parts.
    fn lowered(text: &str) -> (Vec<i64>, Vec<i64>) {
        let Ok(Shape::Array(array)) = Shape::parse(text) else { panic!("{text}: not an array") };
        let expansion = Expansion::new(&array.sizes().unwrap(), &array.layout).unwrap();
        expansion.strided_dims().into_iter().map(|part| (part.size, part.stride)).unzip()
    }

    #[test]
    fn lowered_types() {
        for (text, sizes, strides) in [
            ("f32[3,5]{1,0:T(2,2)}", &[2, 2, 3, 2][..], &[12, 2, 4, 1][..]),
            ("f32[2,3]{0,1}", &[2, 3], &[1, 2]),
            ("bf16[16,256]{1,0:T(8,128)(2,1)}", &[2, 4, 2, 2, 128], &[2048, 256, 1, 1024, 2]),
            ("bf16[2048]{0:T(1024)(128)(2,1)}", &[2, 4, 2, 128], &[1024, 256, 1, 2]),
            // No dimension at all, and one of size 1, which keeps the stride of its last part.
            ("f32[]", &[], &[]),
            ("f32[1,300]{1,0:T(1,128)}", &[1, 3, 128], &[128, 128, 1]),
            // Leading dimensions come first, the major one before the minor one.
            ("f32[]{:T(8,128)}", &[8, 128], &[128, 1]),
            ("bf16[]{:T(8,128)(2,1)}", &[4, 2, 128], &[256, 1, 2]),
            ("bf16[300]{0:T(8,128)}", &[8, 3, 128], &[128, 1024, 1]),
            // Merged dimensions are at the position of the first of them.
            ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", &[56, 2, 37, 3], &[222, 3, 6, 1]),
            ("f32[3,4,5]{1,2,0:T(*,4)}", &[3, 5, 4], &[20, 4, 1]),
            // Pieces that are merged back in order are one part again; in another order they unite their dimensions.
            ("f32[8,8]{1,0:T(4)(*,4)}", &[8, 2, 4], &[8, 4, 1]),
            ("f32[4,6]{1,0:T(2,2)(*,2)}", &[2, 3, 2, 2], &[12, 4, 2, 1]),
            ("f32[16]{0:T(8)(2,2)(*,3)}", &[4, 2, 3], &[6, 3, 1]),
        ] {
            assert_eq!(lowered(text), (sizes.to_vec(), strides.to_vec()), "{text}");
        }
    }
}
