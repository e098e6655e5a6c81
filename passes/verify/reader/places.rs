//! Where a TensorLayout puts an element in the memory of all places, from the definition.
//!
//! The memory of each place follows that of the one before, in row-major order of the machine's axes. Inside of a place, the
//! pieces of `Time` follow each other, then the address counts, and the elements of a word (`W`) vary fastest. A part of a
//! dimension is the digit `index / weight mod extent`, which moves `stride` along its axis. An element is at all places of an
//! axis that the layout does not name, and at each step of what stands behind `B@`. On 4 PEs, row 7 of `((4_PE, 3:8), (8:1))`
//! begins at place 2, 24 elements each, and address 8: element 56.

use crate::reader::model::{Axes, Type};

/// The prefix of every layout of this kind.
pub const PREFIX: &str = "#layout.tensor_layout<";
const WORD: &str = "W";
const TIME: &str = "Time";

/// A part of a layout: of a dimension, with what a step of it is in its index, or copies; the axis of addresses has no name.
struct LayoutPart<'t> {
    of: Option<(usize, i64)>,
    axis: &'t str,
    extent: i64,
    stride: i64,
    /// Whether it stands for copies at all places of its axis.
    all: bool,
}

impl<'t> LayoutPart<'t> {
    fn read(text: &'t str, of: Option<(usize, i64)>) -> Option<LayoutPart<'t>> {
        if of.is_none() && !text.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(LayoutPart { of, axis: text, extent: 1, stride: 1, all: true });
        }
        let (head, stride) = text.split_once(':').unwrap_or((text, "1"));
        let (extent, axis) = head.split_once('_').unwrap_or((head, ""));
        let (extent, stride) = (extent.parse().ok().filter(|n| *n > 0)?, stride.parse().ok().filter(|n| *n >= 0)?);
        Some(LayoutPart { of, axis, extent, stride, all: false })
    }
}

/// The number of dimensions and the parts, those of copies last.
fn parts(text: &str) -> Option<(Vec<i64>, Vec<LayoutPart<'_>>)> {
    let text = text.strip_prefix(PREFIX)?.strip_suffix('>')?;
    let body = text.split_once('/').map_or(text, |(_, body)| body).strip_prefix('(')?.strip_suffix(')')?;
    let (dims, copies) = body.split_once("; B@[").unwrap_or((body, "]"));
    let (mut padded, mut all) = (vec![], vec![]);
    // `(2:3, 3:1)` is short for `((2:3), (3:1))`.
    let dims: Vec<&str> = match dims.contains('(') {
        true => dims
            .split_terminator(')')
            .map(|dim| dim.trim_start_matches(", ").strip_prefix('('))
            .collect::<Option<_>>()?,
        false => dims.split(", ").collect(),
    };
    for (d, dim) in dims.into_iter().enumerate() {
        let (begin, mut weight) = (all.len(), 1_i64);
        for part in dim.rsplit(", ").filter(|part| !part.is_empty()) {
            let part = LayoutPart::read(part, Some((d, weight)))?;
            weight = weight.checked_mul(part.extent)?;
            all.push(part);
        }
        all[begin..].reverse();
        padded.push(weight);
    }
    for part in copies.strip_suffix(']')?.split(", ").filter(|part| !part.is_empty()) {
        all.push(LayoutPart::read(part, None)?);
    }
    Some((padded, all))
}

/// How far parts reach along an axis.
fn reach(parts: &[LayoutPart], axis: &str) -> Option<i64> {
    let mut along = parts.iter().filter(|part| part.axis == axis);
    along.try_fold(1_i64, |reach, part| (part.extent - 1).checked_mul(part.stride)?.checked_add(reach))
}

/// Adds the axes that the TensorLayout of a type names, or makes them as long as it reaches.
pub fn add_axes(axes: &mut Axes, r#type: &Type) {
    let Some((_, parts)) = r#type.layout().and_then(parts) else { return };
    for part in parts.iter().filter(|part| !["", WORD, TIME].contains(&part.axis)) {
        let reach = reach(&parts, part.axis).unwrap_or(i64::MAX);
        match axes.iter_mut().find(|axis| axis.0 == part.axis) {
            Some(axis) => axis.1 = axis.1.max(reach),
            None => axes.push((part.axis.to_owned(), reach)),
        }
    }
}

/// A TensorLayout of a shape on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    /// The number of dimensions.
    pub rank: usize,
    /// Dimension, weight, extent and stride of each part of a dimension.
    pub digits: Vec<(usize, i64, i64, i64)>,
    /// How many copies there are and how far they are apart; those of several entries multiply.
    pub copies: Vec<(i64, i64)>,
    /// Sizes and strides of lowered memory: of the machine's axes, and of what is inside of a place.
    pub dims: Vec<(i64, i64)>,
    /// The elements of all places.
    pub size: i64,
}

impl Places {
    /// Reads the layout of an attribute's text; none of any other, one that does not fit the shape or the machine, and numbers
    /// beyond 64 bits.
    pub fn read(text: &str, sizes: &[i64], axes: &Axes) -> Option<Places> {
        let (padded, parts) = parts(text)?;
        (padded.len() == sizes.len() && padded.iter().zip(sizes).all(|(padded, n)| padded >= n)).then_some(())?;
        let words = reach(&parts, WORD)?;
        let span = reach(&parts, "")?.checked_mul(words)?;
        let mut size = span.checked_mul(reach(&parts, TIME)?)?;
        let (mut dims, mut copies) = (vec![], vec![]);
        for (name, extent) in axes.iter().rev() {
            (reach(&parts, name)? <= *extent).then_some(())?;
            dims.insert(0, (*extent, size));
            if !parts.iter().any(|part| part.axis == *name && !part.all) {
                copies.push((*extent, size));
            }
            size = size.checked_mul(*extent)?;
        }
        let (mut digits, outer) = (vec![], dims.len());
        for part in parts.iter().filter(|part| !part.all) {
            let axis = axes.iter().position(|axis| axis.0 == part.axis);
            let unit = match part.axis {
                "" => words,
                WORD => 1,
                TIME => span,
                _ => dims[..outer].get(axis?)?.1,
            };
            let stride = part.stride.checked_mul(unit)?;
            match part.of {
                Some((dim, weight)) => digits.push((dim, weight, part.extent, stride)),
                None => copies.push((part.extent, stride)),
            }
            // A part of one step inside of a place is no dimension of memory.
            if axis.is_none() && part.extent != 1 {
                dims.push((part.extent, stride));
            }
        }
        Some(Places { rank: sizes.len(), digits, copies, dims, size })
    }

    /// The unit of all strides that are greater than that of these copies, which lie below it, as does all that is inside of one of
    /// them; none where copies and other elements lie between each other.
    pub fn unit_around(&self, (n, step): (i64, i64)) -> Option<i64> {
        let digits = self.digits.iter().map(|(_, _, extent, stride)| (*extent, *stride));
        let strides: Vec<(i64, i64)> = digits.chain(self.copies.iter().copied()).filter(|(n, _)| *n != 1).collect();
        let outer = || strides.iter().map(|(_, stride)| *stride).filter(|stride| *stride > step);
        let inner = strides.iter().filter(|(_, stride)| *stride < step);
        let inner = inner.map(|(n, stride)| (n - 1) * stride).sum::<i64>();
        let unit = outer().min().unwrap_or(self.size);
        let is_nested = inner < step && (n - 1) * step + inner < unit && outer().all(|stride| stride % unit == 0);
        is_nested.then_some(unit)
    }

    /// Where the first copy of an element is.
    pub fn offset(&self, index: &[i64]) -> Option<i64> {
        let digit =
            |(dim, weight, extent, stride): &(usize, i64, i64, i64)| Some(index.get(*dim)? / weight % extent * stride);
        self.digits.iter().try_fold(0_i64, |at, part| at.checked_add(digit(part)?))
    }

    /// How far each copy is behind the first one.
    pub fn shifts(&self) -> Vec<i64> {
        let more = |known: Vec<i64>, (n, stride): &(i64, i64)| {
            (0..*n).flat_map(|k| known.iter().map(move |at| at + k * stride).collect::<Vec<_>>()).collect()
        };
        self.copies.iter().fold(vec![0], more)
    }

    /// Whether lowered memory has these sizes and strides; a dimension of one element has any stride.
    pub fn is_shape(&self, sizes: &[i64], strides: &[i64]) -> bool {
        let is = |((n, stride), (size, along)): (&(i64, i64), (&i64, &i64))| n == size && (*n == 1 || stride == along);
        self.dims.len() == sizes.len() && self.dims.iter().zip(sizes.iter().zip(strides)).all(is)
    }
}
