//! How dimensions, or loops, are cut into pieces along the axes of a machine.
//!
//! On axes of 8 L2B and 8 L1B, `[[(0, 2), (1, 4)], [(1, 8)]]` cuts dimension 0 into 2 pieces and dimension 1 into 4 along
//! L2B, and each of those into 8 along L1B: the TensorLayout `((2_L2B:4, n:m), (4_L2B:1, 8_L1B, m:1))`. Pieces are blocks of
//! neighbouring elements, of one size but for the last ones. Places along an axis beyond its cuts hold nothing.

use crate::places::{Machine, Part, TIME, TensorLayout, WORD};
use crate::text::Error;

/// A cut along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AxisCut {
    /// The dimension or loop; `None` where pieces are copies of each other.
    pub of: Option<usize>,
    /// The number of pieces.
    pub pieces: i64,
}

/// The cuts along each axis of a machine, most significant first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spread {
    /// By axis of the machine.
    pub axes: Vec<Vec<AxisCut>>,
}

impl Spread {
    /// Into how many pieces a dimension is cut along the axes from this one on.
    pub fn pieces(&self, dim: usize, from: usize) -> i64 {
        let cuts = self.axes.iter().skip(from).flatten().filter(|cut| cut.of == Some(dim));
        cuts.fold(1i64, |n, cut| n.saturating_mul(cut.pieces))
    }

    /// The elements of a dimension of size `size` in a place, at most.
    pub fn block(&self, dim: usize, size: i64) -> i64 {
        let pieces = self.pieces(dim, 0);
        size / pieces + i64::from(size % pieces != 0)
    }

    /// The places that are used along an axis.
    pub fn used(&self, axis: usize) -> i64 {
        self.axes[axis].iter().fold(1i64, |n, cut| n.saturating_mul(cut.pieces))
    }

    /// The dimensions' cuts as those of others: `names[dim]` for `dim`, a copy where there is none.
    pub fn renamed(&self, names: &dyn Fn(usize) -> Option<usize>) -> Spread {
        let cut = |cut: &AxisCut| AxisCut { of: cut.of.and_then(names), ..*cut };
        Spread { axes: self.axes.iter().map(|cuts| cuts.iter().map(cut).collect()).collect() }
    }

    /// The same without copies: their places get pieces of the dimension that has most elements left, first of one that is
    /// not cut, so that a piece is part of what the place had. Where no dimension has enough left, places are empty.
    pub fn without_copies(&self, sizes: &[i64]) -> Spread {
        let mut spread = self.clone();
        for axis in 0..spread.axes.len() {
            for k in 0..spread.axes[axis].len() {
                let AxisCut { of: None, pieces } = spread.axes[axis][k] else { continue };
                let left = |dim: &usize| spread.block(*dim, sizes[*dim]);
                let uncut = |dim: &usize| spread.pieces(*dim, 0) == 1;
                let fits = (0..sizes.len()).filter(|dim| left(dim) >= pieces);
                let best = fits.max_by_key(|dim| (uncut(dim), left(dim), std::cmp::Reverse(*dim)));
                spread.axes[axis][k] = match best {
                    Some(dim) => AxisCut { of: Some(dim), pieces },
                    None => AxisCut { of: None, pieces: 1 },
                };
            }
            spread.tidy(axis);
        }
        spread
    }

    /// Joins cuts of one dimension that follow each other along an axis, and leaves those of one piece out.
    fn tidy(&mut self, axis: usize) {
        let mut cuts: Vec<AxisCut> = Vec::new();
        for cut in self.axes[axis].iter().filter(|cut| cut.pieces > 1) {
            match cuts.last_mut() {
                Some(last) if last.of == cut.of => last.pieces = last.pieces.saturating_mul(cut.pieces),
                _ => cuts.push(*cut),
            }
        }
        self.axes[axis] = cuts;
    }

    /// The TensorLayout of an array of these sizes.
    ///
    /// # Errors
    /// Addresses do not fit in 64 bits.
    pub fn layout(&self, sizes: &[i64], machine: &Machine) -> Result<TensorLayout, Error> {
        let mut dims: Vec<Vec<Part>> = vec![Vec::new(); sizes.len()];
        let mut padded = false;
        for (axis, cuts) in machine.axes.iter().zip(&self.axes) {
            let mut stride = 1i64;
            for cut in cuts.iter().rev() {
                if let Some(dim) = cut.of {
                    dims[dim].insert(0, Part::along(&axis.name, cut.pieces, stride));
                }
                stride = stride.saturating_mul(cut.pieces);
            }
            // An axis that a layout does not name is one of copies.
            if let (true, true, Some(first)) = (cuts.is_empty(), axis.extent > 1, dims.first_mut()) {
                first.insert(0, Part::along(&axis.name, 1, 1));
            }
        }
        let mut stride = 1i64;
        for (dim, parts) in dims.iter_mut().enumerate().rev() {
            let block = self.block(dim, sizes[dim]);
            // Parts were put in from the last axis on.
            parts.sort_by_key(|part| part.axis.as_ref().and_then(|axis| machine.depth(axis)));
            padded |= block * self.pieces(dim, 0) != sizes[dim];
            if block > 1 {
                parts.push(Part::local(block, stride));
                let wide = || Error::new("the addresses of the array do not fit in 64 bits");
                stride = stride.checked_mul(block).ok_or_else(wide)?;
            }
        }
        let mut layout = TensorLayout::new(dims)?;
        layout.shape = padded.then(|| sizes.to_vec());
        Ok(layout)
    }

    /// The spread that a TensorLayout is, words and addresses apart.
    ///
    /// # Errors
    /// It is cut over time, a dimension is not cut in the order of the machine's axes, or along one of them several times,
    /// or it uses an axis with gaps.
    pub fn of(layout: &TensorLayout, machine: &Machine) -> Result<Spread, Error> {
        let mut found: Vec<Vec<(i64, AxisCut)>> = vec![Vec::new(); machine.axes.len()];
        for (dim, parts) in layout.dims.iter().enumerate() {
            let mut last = None;
            for part in parts.iter().filter(|part| part.extent > 1) {
                let depth = match part.axis.as_deref() {
                    None | Some(WORD) => machine.axes.len(),
                    Some(TIME) => return Err(Error::new("a spread has no pieces over time")),
                    Some(axis) => machine.depth(axis).ok_or_else(|| Error::new("the machine must have all axes"))?,
                };
                if last.is_some_and(|last| last > depth || last == depth && depth < machine.axes.len()) {
                    return Err(Error::new("a dimension must be cut along each axis once, parents first"));
                }
                last = Some(depth);
                if let Some(cuts) = found.get_mut(depth) {
                    cuts.push((part.stride, AxisCut { of: Some(dim), pieces: part.extent }));
                }
            }
        }
        let mut spread = Spread::default();
        for mut cuts in found {
            cuts.sort_by_key(|(stride, _)| std::cmp::Reverse(*stride));
            let mut next = 1;
            for (stride, cut) in cuts.iter().rev() {
                if *stride != next {
                    return Err(Error::new("an axis must be used without gaps"));
                }
                next *= cut.pieces;
            }
            spread.axes.push(cuts.into_iter().map(|(_, cut)| cut).collect());
        }
        Ok(spread)
    }
}
