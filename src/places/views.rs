//! Views: reshapes, transposes and slices of a layout that move nothing, and the layout of each view.
//!
//! `(2:3, 3:1)` transposed is `(3:1, 2:3)`; its last two columns are `(2:3, 2:1)` from offset 1 on; flattened it is
//! `(6:1)`, while its transpose cannot be flattened: its addresses are 0, 3, 1, 4, 2, 5. A reshape takes the parts of
//! the dimensions as the digits of one number and distributes them again, from the least significant on. Neighbours
//! `n:s, m:t` with `s = m*t` are one part, and a part is cut where the size of a result divides it; so a layout with
//! several parts in a dimension can have views that strides alone cannot express. A strided layout stays strided: each
//! dimension is one part, which is the rule of NumPy.
//!
//! Only the most significant part of a padded dimension is not filled: such a dimension can be joined to those
//! after it, not to one before it. Axes stay named, `1_PE` if need be, since a layout that does not name an axis is
//! copied along it.

use crate::places::tensor_layout::{Part, TensorLayout};
use crate::text::Error;
use crate::tiled::layout::dimensions;

/// A view of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The local address of the first element, in the units of the layout.
    pub offset: i64,
    /// The layout of the elements, relative to `offset`.
    pub layout: TensorLayout,
}

/// The indices of a dimension from `start` on, below `limit`, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The first index.
    pub start: i64,
    /// The exclusive upper bound of the indices.
    pub limit: i64,
    /// The step between indices, at least 1.
    pub step: i64,
}

impl Slice {
    /// The number of indices.
    fn count(self) -> i64 {
        let span = self.limit - self.start;
        span / self.step + i64::from(span % self.step != 0)
    }
}

/// The most elements that are checked one by one.
const PROBED: i64 = 1 << 16;

/// A part and its dimension.
type From = (usize, Part);

impl TensorLayout {
    /// The transpose: its dimension `k` is dimension `permutation[k]` of this layout. It is always a view.
    ///
    /// # Errors
    /// `permutation` does not list every dimension once.
    pub fn transposed(&self, permutation: &[usize]) -> Result<View, Error> {
        let mut sorted = permutation.to_vec();
        sorted.sort_unstable();
        if sorted != (0..self.rank()).collect::<Vec<_>>() {
            let rank = dimensions(self.rank());
            return Err(Error::new(format!(
                "a permutation must list each of the {rank} of the layout once, found {permutation:?}"
            )));
        }
        let shape = self.shape.as_ref().map(|shape| permutation.iter().map(|dim| shape[*dim]).collect());
        let dims = permutation.iter().map(|dim| self.dims[*dim].clone()).collect();
        let mut layout = TensorLayout { shape, dims, ..self.clone() };
        layout.tell_apart();
        Ok(View { offset: 0, layout })
    }

    /// A slice along each dimension.
    ///
    /// Post-condition: element `i` of the view, plus the view's offset, is where element `start + i * step` of the
    /// layout is.
    ///
    /// # Errors
    /// A slice that exceeds its dimension, that begins or ends inside a part so that its elements are no digits of
    /// their own, or that does not begin at place 0 of an axis.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::places::{Slice, TensorLayout};
    /// let every_other_column = [Slice { start: 0, limit: 2, step: 1 }, Slice { start: 1, limit: 3, step: 2 }];
    /// let view = TensorLayout::parse("(2:3, 3:1)").unwrap().sliced(&every_other_column).unwrap();
    /// assert_eq!((view.offset, view.layout.to_string().as_str()), (1, "(2:3, 1)"));
    /// ```
    pub fn sliced(&self, slices: &[Slice]) -> Result<View, Error> {
        let sizes = self.checked_sizes()?;
        if slices.len() != sizes.len() {
            let rank = dimensions(sizes.len());
            return Err(Error::new(format!(
                "expected a slice for each of the {rank} of the layout, found {}",
                slices.len()
            )));
        }
        let mut offset = 0i64;
        let mut dims = Vec::new();
        for (dim, slice) in slices.iter().enumerate() {
            let Slice { start, limit, step } = *slice;
            if step < 1 {
                let message = format!("the step of a slice must be at least 1, found {step} along dimension {dim}");
                return Err(Error::new(message));
            }
            if start < 0 || limit < start || limit > sizes[dim] {
                return Err(Error::new(format!(
                    "a slice of dimension {dim} must be within its size {}, found {start}:{limit}:{step}",
                    sizes[dim]
                )));
            }
            let (parts, begin) = cut(dim, &joined(self.dims[dim].clone()), *slice)?;
            dims.push(parts);
            // No address is larger than the highest one, which fits.
            offset += begin;
        }
        let view = self.with(slices.iter().map(|slice| slice.count()).collect(), dims)?;
        Ok(View { offset, layout: view })
    }

    /// The same elements in row-major order with other sizes.
    ///
    /// Post-condition: in row-major order, the elements of both are in the same places.
    ///
    /// # Errors
    /// Sizes of another number of elements, and reshapes that are no view: the error names the dimension of the result
    /// and the parts that do not form it.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::places::TensorLayout;
    /// let layout = |text| TensorLayout::parse(text).unwrap();
    /// assert_eq!(layout("(2:3, 3:1)").reshaped(&[6]).unwrap().layout.to_string(), "(6:1)");
    /// assert_eq!(layout("((3:1), (2:3))").reshaped(&[6]).unwrap().layout.to_string(), "((3:1, 2:3))");
    /// assert_eq!(
    ///     layout("(3:1, 2:3)").reshaped(&[6]).unwrap_err().message,
    ///     "dimension 0 of the result is `3:1` of dimension 0 and `2:3` of dimension 1, which are one part only where the stride 1 is 2*3"
    /// );
    /// ```
    pub fn reshaped(&self, sizes: &[i64]) -> Result<View, Error> {
        let old = self.checked_sizes()?;
        let count = |sizes: &[i64]| sizes.iter().map(|n| i128::from(*n)).try_fold(1, i128::checked_mul);
        let negative = sizes.iter().any(|n| *n < 0);
        if negative || count(&old).is_none() || !sizes.contains(&0) && count(sizes) != count(&old) {
            return Err(Error::new(format!("the sizes must have as many elements as {old:?}, found {sizes:?}")));
        }
        if sizes.contains(&0) {
            if !old.contains(&0) {
                return Err(Error::new(format!("the sizes must have as many elements as {old:?}, found {sizes:?}")));
            }
            // An empty tensor is nowhere.
            let any = |n: &i64| vec![Part { extent: (*n).max(1), axis: None, stride: 0 }];
            let dims = sizes.iter().map(any).collect();
            return Ok(View { offset: 0, layout: self.with(sizes.to_vec(), dims)? });
        }
        let dealt = self.dealt(&old, sizes);
        dealt.or_else(|error| self.probed(&old, sizes).unwrap_or(Err(error)))
    }

    /// The parts of the dimensions as digits, distributed again.
    fn dealt(&self, old: &[i64], sizes: &[i64]) -> Result<View, Error> {
        let mut source = Undealt { layout: self, sizes: old, parts: Vec::new(), held: 1, next: old.len() };
        let mut dims = vec![Vec::new(); sizes.len()];
        for (result, size) in sizes.iter().enumerate().rev() {
            dims[result] = source.deal(result, *size)?;
        }
        Ok(View { offset: 0, layout: self.with(sizes.to_vec(), dims)? })
    }

    /// [`TensorLayout::dealt`] by looking at each element; `None` for many elements, for axes besides the address, or
    /// for dimensions without digits.
    fn probed(&self, old: &[i64], sizes: &[i64]) -> Option<Result<View, Error>> {
        let count: i64 = old.iter().product();
        if count > PROBED || self.dims.iter().flatten().any(|part| part.axis.is_some()) {
            return None;
        }
        let address = |at: i64| {
            let mut rest = at;
            let own = |(dim, size): (&Vec<Part>, &i64)| {
                let index = rest % size;
                rest /= size;
                address(dim, index)
            };
            self.dims.iter().zip(old).rev().map(own).sum::<i64>()
        };
        let mut weight = count;
        let dims = sizes.iter().map(|size| {
            weight /= size;
            let step = weight;
            digits(*size, &|i| address(i * step)).filter(|parts| !self.strided || parts.len() <= 1)
        });
        let dims: Vec<Vec<Part>> = dims.collect::<Option<_>>()?;
        let sum = |at: i64| {
            let mut rest = at;
            let own = |(dim, size): (&Vec<Part>, &i64)| {
                let index = rest % size;
                rest /= size;
                self::address(dim, index)
            };
            dims.iter().zip(sizes).rev().map(own).sum::<i64>()
        };
        (0..count).all(|at| sum(at) == address(at)).then_some(())?;
        Some(self.with(sizes.to_vec(), dims).map(|layout| View { offset: 0, layout }))
    }

    /// The sizes of a layout with valid fields, so that sizes and addresses fit in 64 bits.
    fn checked_sizes(&self) -> Result<Vec<i64>, Error> {
        self.check().map_err(|(_, error)| error)?;
        self.sizes()
    }

    /// This layout with other dimensions; named axes and copies stay.
    fn with(&self, sizes: Vec<i64>, mut dims: Vec<Vec<Part>>) -> Result<TensorLayout, Error> {
        if !dims.is_empty() {
            let axes = self.dims.iter().flatten().filter_map(|part| part.axis.as_ref());
            let mut lost: Vec<&String> = Vec::new();
            for axis in axes {
                if !lost.contains(&axis) {
                    lost.push(axis);
                }
            }
            lost.retain(|axis| !dims.iter().flatten().any(|part| part.axis.as_ref() == Some(axis)));
            let named = |axis: &String| Part { extent: 1, axis: Some(axis.clone()), stride: 1 };
            let named: Vec<Part> = lost.into_iter().map(named).collect();
            dims[0].splice(0..0, named);
        }
        let strided = self.strided && !sizes.contains(&0);
        if strided {
            for parts in dims.iter_mut().filter(|parts| parts.is_empty()) {
                parts.push(Part { extent: 1, axis: None, stride: 1 });
            }
        }
        let mut layout = TensorLayout { shape: None, dims, broadcast: self.broadcast.clone(), strided };
        layout.shape = Some(sizes).filter(|sizes| layout.padded_sizes().as_ref() != Ok(sizes));
        layout.tell_apart();
        layout.check().map_err(|(_, error)| error)?;
        Ok(layout)
    }
}

/// The parts of a layout that a reshape has not distributed yet, taken from the last dimension on.
struct Undealt<'a> {
    layout: &'a TensorLayout,
    sizes: &'a [i64],
    /// The numbers so far, most significant first.
    parts: Vec<From>,
    /// The number of indices that `parts` cover.
    held: i64,
    /// The first dimension that has been taken.
    next: usize,
}

impl Undealt<'_> {
    /// The parts of dimension `result` of the reshape: least significant first, until they have `size` values.
    ///
    /// Post-condition: the product of their extents is `size`, or reaches it where the dimension is padded.
    fn deal(&mut self, result: usize, size: i64) -> Result<Vec<Part>, Error> {
        let mut left = size;
        let mut taken: Vec<From> = Vec::new();
        while left > 1 {
            self.take_up_to(left)?;
            if self.held == left {
                // The whole dimension, padding included.
                taken.splice(0..0, self.parts.drain(..));
                self.held = 1;
                break;
            }
            self.trim();
            let Some((dim, part)) = self.parts.pop() else { break };
            let extent = part.extent;
            if left % extent == 0 {
                left /= extent;
                self.held /= extent;
                taken.insert(0, (dim, part));
            } else if extent % left == 0 {
                let far = part
                    .stride
                    .checked_mul(left)
                    .ok_or_else(|| Error::new("a stride does not fit in 64 bits").too_large())?;
                self.parts.push((dim, Part { extent: extent / left, axis: part.axis.clone(), stride: far }));
                taken.insert(0, (dim, Part { extent: left, ..part }));
                self.held /= left;
                left = 1;
            } else {
                return Err(Error::new(format!(
                    "dimension {result} of the result has {size} elements and would end amid {} of dimension {dim}: neither of {left} and {extent} divides the other",
                    quoted(&part)
                )).unsupported());
            }
        }
        join(&mut taken);
        if let ([(a, above), (b, below), ..], true) = (&taken[..], self.layout.strided) {
            return Err(Error::new(format!(
                "dimension {result} of the result is {} of dimension {a} and {} of dimension {b}, which are one part only where the stride {} is {}*{}",
                quoted(above),
                quoted(below),
                above.stride,
                below.extent,
                below.stride
            )).unsupported());
        }
        Ok(taken.into_iter().map(|(_, part)| part).collect())
    }

    /// Takes as many dimensions as a result with `left` missing values reaches into.
    fn take_up_to(&mut self, left: i64) -> Result<(), Error> {
        while self.held % left != 0 {
            let Some(dim) = self.next.checked_sub(1) else { break };
            self.next = dim;
            if self.sizes[dim] == 1 {
                continue;
            }
            self.can_go_before(dim)?;
            self.held *= self.sizes[dim];
            let more = self.layout.dims[dim].iter().filter(|part| part.extent > 1).map(|part| (dim, part.clone()));
            self.parts.splice(0..0, more);
            join(&mut self.parts);
        }
        Ok(())
    }

    /// Refuses a dimension before padded parts, unless the padding is whole steps of the first part.
    fn can_go_before(&mut self, dim: usize) -> Result<(), Error> {
        let (false, Some((padded, _))) = (self.trim(), self.parts.first()) else { return Ok(()) };
        Err(Error::new(format!(
            "dimension {dim} would be joined to dimension {padded}, which is padded from {} to {}",
            self.sizes[*padded],
            self.layout.padded_sizes()?[*padded]
        ))
        .unsupported())
    }

    /// Removes steps of the most significant parts that no element reaches; returns whether no padding is left.
    fn trim(&mut self) -> bool {
        let mut behind: i64 = self.parts.iter().skip(1).map(|(_, part)| part.extent).product();
        while self.parts.len() > 1 && behind >= self.held {
            self.parts.remove(0);
            behind /= self.parts[0].1.extent;
        }
        match self.parts.first_mut() {
            Some((_, first)) if self.held % behind == 0 => first.extent = self.held / behind,
            Some(_) => return false,
            None => {}
        }
        true
    }
}

pub(crate) fn quoted(part: &Part) -> String {
    match &part.axis {
        Some(axis) => format!("`{}_{axis}:{}`", part.extent, part.stride),
        None => format!("`{}:{}`", part.extent, part.stride),
    }
}

/// Merges neighbours that form one part.
fn join(parts: &mut Vec<From>) {
    let mut joined: Vec<From> = Vec::with_capacity(parts.len());
    for (dim, part) in parts.drain(..) {
        match joined.last_mut() {
            Some((first, last))
                if last.axis == part.axis && Some(last.stride) == part.stride.checked_mul(part.extent) =>
            {
                // No extent is larger than the padded size.
                *last = Part { extent: last.extent * part.extent, ..part };
                *first = dim.min(*first);
            }
            _ => joined.push((dim, part)),
        }
    }
    *parts = joined;
}

/// The parts of a dimension with more than one step, as few as possible.
pub(crate) fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut parts: Vec<From> = parts.into_iter().filter(|part| part.extent > 1).map(|part| (0, part)).collect();
    join(&mut parts);
    parts.into_iter().map(|(_, part)| part).collect()
}

/// The address of an index along one dimension.
fn address(parts: &[Part], mut index: i64) -> i64 {
    let mut sum = 0;
    for part in parts.iter().rev() {
        sum += index % part.extent * part.stride;
        index /= part.extent;
    }
    sum
}

/// The parts of a dimension whose elements have these addresses, relative to its first element, if there are such.
///
/// The least significant part extends as long as the addresses have equal steps: the next part has another stride,
/// or both would be one, so there is no other choice. The rest follows from every `extent`-th element.
fn digits(size: i64, address: &dyn Fn(i64) -> i64) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut weight = 1;
    while weight < size {
        let stride = address(weight);
        let count = size / weight + i64::from(size % weight != 0);
        let extent = 1 + (1..count).take_while(|n| stride.checked_mul(*n) == Some(address(n * weight))).count() as i64;
        if stride < 0 || extent == 1 {
            return None;
        }
        parts.insert(0, Part { extent, axis: None, stride });
        weight *= extent;
    }
    (0..size).all(|i| self::address(&parts, i) == address(i)).then_some(parts)
}

/// The parts of a slice of a dimension, and its first address: from the digits of its ends, or by looking at each
/// element.
fn cut(dim: usize, parts: &[Part], slice: Slice) -> Result<(Vec<Part>, i64), Error> {
    stepped(dim, parts, slice).or_else(|error| {
        let plain = slice.count() <= PROBED && parts.iter().all(|part| part.axis.is_none());
        let first = address(parts, slice.start);
        let from_first = |k: i64| address(parts, slice.start + k * slice.step) - first;
        let found = if plain { digits(slice.count(), &from_first) } else { None };
        found.map(|parts| (parts, first)).ok_or(error)
    })
}

/// The parts of a slice whose ends are multiples of the step, and its first address.
fn stepped(dim: usize, parts: &[Part], slice: Slice) -> Result<(Vec<Part>, i64), Error> {
    let Slice { mut start, mut step, .. } = slice;
    let mut count = slice.count();
    let (mut taken, mut offset) = (Vec::new(), 0);
    if count == 0 {
        return Ok((taken, 0));
    }
    let mut begin = |part: &Part, digit: i64| match &part.axis {
        Some(axis) if digit != 0 => Err(Error::new(format!(
            "a view must begin at place 0 of an axis, found a slice of dimension {dim} that begins at {axis} {}",
            digit * part.stride
        ))),
        Some(_) => Ok(()),
        None => {
            offset += digit * part.stride;
            Ok(())
        }
    };
    for part in parts.iter().rev() {
        let first = start % part.extent;
        begin(part, first)?;
        start /= part.extent;
        if count == 1 || step % part.extent == 0 {
            // The digit stays.
            step /= part.extent;
            continue;
        }
        let span = (count - 1).checked_mul(step).and_then(|span| span.checked_add(first));
        if span.is_some_and(|span| span < part.extent) {
            taken.insert(0, Part { extent: count, axis: part.axis.clone(), stride: part.stride * step });
            count = 1;
        } else if part.extent % step == 0 && first < step {
            let extent = part.extent / step;
            taken.insert(0, Part { extent, axis: part.axis.clone(), stride: part.stride * step });
            count = count / extent + i64::from(count % extent != 0);
            step = 1;
        } else {
            return Err(Error::new(format!(
                "the slice {}:{}:{} of dimension {dim} goes over the end of {} at no multiple of its step",
                slice.start,
                slice.limit,
                slice.step,
                quoted(part)
            ))
            .unsupported());
        }
    }
    taken.retain(|part| part.extent > 1);
    Ok((taken, offset))
}
