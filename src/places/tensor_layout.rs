//! TensorLayouts: tensors over a tree of memories, in their notation.
//!
//! `((4_PE, 3:8), (8:1))` lays a 12×8 matrix over four PEs: row `i` is cut into `i floordiv 3`, the PE, and `i mod 3`,
//! which moves 8 units along the address; column `j` moves `j`. One entry for each dimension, its parts most
//! significant first; a part steps along an axis (`4_PE`), or along the local address (`3:8`), `Addr`. `(2:3, 3:1)` is
//! short for `((2:3), (3:1))`. `(10,7)/((3:7, 4_PE), (7:1))` pads 10 rows to 12. `; B@[PE]` says that every PE has a
//! copy, `B@[8_L2B:1]` that eight L2Bs do.
//!
//! `places::notation` reads and prints it; [`crate::places::placement`] does the arithmetic.

use crate::expr::Expr;
use crate::limits;
use crate::text::{Error, excerpt};
use crate::tiled::layout::{Layout, too_many_dims};

/// The name of the local address as an axis.
pub const ADDRESS: &str = "Addr";

/// Steps along an axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The number of steps, at least 1.
    pub extent: i64,
    /// The axis; `None` is the local address.
    pub axis: Option<String>,
    /// The distance of a step along the axis: places, or units of the address.
    pub stride: i64,
}

impl Part {
    /// `extent_axis:stride`: `extent` steps along an axis of the machine, each over `stride` places.
    pub fn along(axis: &str, extent: i64, stride: i64) -> Part {
        Part { extent, axis: Some(axis.to_string()), stride }
    }

    /// `extent:stride`: `extent` steps along the local address, each over `stride` units.
    pub fn local(extent: i64, stride: i64) -> Part {
        Part { extent, axis: None, stride }
    }
}

/// An axis, or a part of one, along which a tensor has copies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Broadcast {
    /// A copy at every place of the axis.
    Axis(String),
    /// A copy at each step of a part of an axis.
    Part {
        /// The number of copies, at least 1.
        extent: i64,
        /// The axis, never the address.
        axis: String,
        /// The distance of a step, `None` for a 1 that was left out.
        stride: Option<i64>,
    },
}

/// A layout of a tensor over the axes of a machine and the local address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorLayout {
    /// The sizes before padding, if they differ from those of the parts.
    pub shape: Option<Vec<i64>>,
    /// The parts of each dimension, the most significant first; empty for a dimension of size 1.
    pub dims: Vec<Vec<Part>>,
    /// The copies.
    pub broadcast: Vec<Broadcast>,
    /// Whether it is written as a strided layout: one part on the address for each dimension.
    pub strided: bool,
}

/// The position of a part in a layout, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// The part with the second number in the dimension with the first.
    Part(usize, usize),
    /// The entry after `B@` with this number.
    Broadcast(usize),
    /// An entry of the prefix.
    Shape(usize),
}

/// A fault of a layout, and the part at fault.
pub(crate) type Fault = (Option<Spot>, Error);

/// Whether a text is a TensorLayout and not a shape of XLA: the first character that is neither a parenthesis, a comma
/// nor white space is a digit, `;`, `:`, `-`, `+`, or a `/` that opens no comment.
pub fn is_tensor_layout(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| matches!(c, '(' | ')' | ',') || c.is_whitespace());
    start.starts_with(|c: char| c.is_ascii_digit() || matches!(c, ';' | ':' | '-' | '+'))
        || start.starts_with('/') && !start.starts_with("/*") && !start.starts_with("//")
}

impl TensorLayout {
    /// The most parts of a layout.
    pub const MAX_PARTS: usize = limits::LAYOUT_PARTS;

    /// The layout with these parts for each dimension, the most significant first, without a prefix and copies.
    ///
    /// # Errors
    /// No dimension, an extent below 1, a negative stride, an axis without a name, and coordinates beyond 64 bits; the
    /// error names the part at fault.
    ///
    /// ```
    /// use tensor_layout::places::{Part, TensorLayout};
    /// let rows = vec![Part::along("PE", 4, 1), Part::local(3, 8)];
    /// let layout = TensorLayout::new(vec![rows, vec![Part::local(8, 1)]]).unwrap();
    /// assert_eq!(layout.to_string(), "((4_PE, 3:8), (8:1))");
    /// let error = TensorLayout::new(vec![vec![Part::local(0, 1)]]).unwrap_err();
    /// assert_eq!(error.message, "an extent must be at least 1, found 0, in part 0 of dimension 0");
    /// ```
    pub fn new(dims: Vec<Vec<Part>>) -> Result<TensorLayout, Error> {
        let mut layout = TensorLayout { shape: None, dims, broadcast: Vec::new(), strided: false };
        layout.check().map_err(|(spot, error)| match spot {
            Some(Spot::Part(dim, k)) => {
                let message = format!("{error}, in part {k} of dimension {dim}");
                error.with_message(message)
            }
            _ => error,
        })?;
        layout.tell_apart();
        Ok(layout)
    }

    /// Adds a part without effect to a layout that would print as `(())`, which is a tuple to XLA.
    pub(crate) fn tell_apart(&mut self) {
        if self.shape.is_none() && self.broadcast.is_empty() && self.dims.iter().all(Vec::is_empty) {
            let part = Part { extent: 1, axis: None, stride: 1 };
            self.dims.iter_mut().take(1).for_each(|parts| parts.push(part.clone()));
        }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The size of each dimension with its padding: the product of its parts.
    ///
    /// # Errors
    /// A size that does not fit in 64 bits.
    pub fn padded_sizes(&self) -> Result<Vec<i64>, Error> {
        let product = |parts: &Vec<Part>| parts.iter().try_fold(1i64, |n, part| n.checked_mul(part.extent));
        let large = |dim| Error::new(format!("the size of dimension {dim} does not fit in 64 bits")).too_large();
        self.dims.iter().enumerate().map(|(dim, parts)| product(parts).ok_or_else(|| large(dim))).collect()
    }

    /// The sizes of the tensor: those of the prefix, else those of the parts.
    ///
    /// # Errors
    /// A size that does not fit in 64 bits.
    pub fn sizes(&self) -> Result<Vec<i64>, Error> {
        self.shape.clone().map_or_else(|| self.padded_sizes(), Ok)
    }

    /// The positions where named axes are used.
    fn uses(&self) -> impl Iterator<Item = (Spot, &str)> {
        self.steps().filter_map(|(spot, axis, _, _)| Some((spot, axis?)))
    }

    /// The named axes, in order of first appearance.
    pub fn axes(&self) -> Vec<String> {
        let mut axes: Vec<String> = Vec::new();
        for (_, axis) in self.uses() {
            if !axes.iter().any(|known| known == axis) {
                axes.push(axis.to_string());
            }
        }
        axes
    }

    /// The coordinate along each axis, in the order of [`TensorLayout::axes`], and last the local address, as
    /// expressions of the index: variable `k` is dimension `k`. They hold for every shape that the layout fits, and
    /// give the first copy where there are several.
    ///
    /// `((4_PE, 3:8), (8:1))` has `(d0 floordiv 3, d0 mod 3 * 8 + d1)`.
    pub fn exprs(&self) -> Vec<Expr> {
        let axes = self.axes();
        let mut results = vec![Vec::new(); axes.len() + 1];
        for (dim, parts) in self.dims.iter().enumerate() {
            // The sizes of a layout that was parsed fit in 64 bits.
            let padded = parts.iter().fold(1i64, |n, part| n.saturating_mul(part.extent));
            let mut weight = padded;
            for part in parts {
                weight /= part.extent;
                if part.extent != 1 {
                    let axis = axes.iter().position(|axis| Some(axis) == part.axis.as_ref());
                    let digit = Expr::Var(dim).digit(weight, part.extent, padded);
                    results[axis.unwrap_or(axes.len())].push(digit.times(part.stride));
                }
            }
        }
        results.into_iter().map(Expr::sum).collect()
    }

    /// The number of parts of an axis.
    pub(super) fn times_used(&self, axis: &str) -> usize {
        let whole = |spot| matches!(spot, Spot::Broadcast(k) if matches!(self.broadcast[k], Broadcast::Axis(_)));
        self.uses().filter(|(spot, used)| *used == axis && !whole(*spot)).count()
    }

    /// Checks the axes' names, and that every coordinate fits in 64 bits.
    fn check_reach(&self) -> Result<(), Fault> {
        let mut reach: Vec<(Option<&str>, i64)> = Vec::new();
        for (spot, axis, extent, stride) in self.steps() {
            if let Some(axis) = axis {
                check_axis(axis).map_err(|message| (Some(spot), Error::new(message)))?;
            }
            let known = reach.iter().position(|(known, _)| *known == axis).unwrap_or_else(|| {
                reach.push((axis, 0));
                reach.len() - 1
            });
            let most = (extent - 1).checked_mul(stride).and_then(|most| most.checked_add(reach[known].1));
            // One more, so that the number of places fits, too.
            let Some(most) = most.filter(|most| *most < i64::MAX) else {
                let axis = axis.unwrap_or(ADDRESS);
                let message = format!("the coordinates along {axis} do not fit in 64 bits");
                return Err((Some(spot), Error::new(message).too_large()));
            };
            reach[known].1 = most;
        }
        Ok(())
    }

    /// The steps along axes: position, axis, extent and stride.
    fn steps(&self) -> impl Iterator<Item = (Spot, Option<&str>, i64, i64)> {
        let parts = self.dims.iter().enumerate().flat_map(|(dim, parts)| {
            let parts = parts.iter().enumerate();
            parts.map(move |(k, part)| (Spot::Part(dim, k), part.axis.as_deref(), part.extent, part.stride))
        });
        let broadcast = self.broadcast.iter().enumerate().map(|(k, broadcast)| match broadcast {
            Broadcast::Axis(axis) => (Spot::Broadcast(k), Some(axis.as_str()), 1, 1),
            Broadcast::Part { extent, axis, stride } => {
                (Spot::Broadcast(k), Some(axis.as_str()), *extent, stride.unwrap_or(1))
            }
        });
        parts.chain(broadcast)
    }

    /// Checks the fields, except for strides that are missing in the text.
    ///
    /// # Errors
    /// The first fault, with the part that has it.
    pub fn check(&self) -> Result<(), Fault> {
        if self.dims.is_empty() {
            return Err((None, Error::new("a layout must have at least one dimension, found none")));
        }
        if self.dims.len() > Layout::MAX_RANK {
            return Err((None, Error::new(too_many_dims()).too_large()));
        }
        if self.dims.iter().map(Vec::len).sum::<usize>() + self.broadcast.len() > Self::MAX_PARTS {
            return Err((None, Error::new(too_many_parts()).too_large()));
        }
        for (dim, parts) in self.dims.iter().enumerate() {
            self.check_dim(dim, parts)?;
        }
        if let Some(shape) = self.shape.as_ref().filter(|shape| shape.len() != self.dims.len()) {
            let spot = Spot::Shape(shape.len().saturating_sub(1));
            return Err((Some(spot), Error::new(prefix_length(self.dims.len(), shape.len()))));
        }
        for (k, broadcast) in self.broadcast.iter().enumerate() {
            self.check_broadcast(k, broadcast)?;
        }
        self.check_reach()
    }

    /// Checks the parts of a dimension, and its size where there is a prefix.
    fn check_dim(&self, dim: usize, parts: &[Part]) -> Result<(), Fault> {
        let mut size = 1i64;
        for (k, part) in parts.iter().enumerate() {
            let spot = Some(Spot::Part(dim, k));
            check_extent(part.extent).map_err(|message| (spot, Error::new(message)))?;
            if part.stride < 0 {
                return Err((spot, Error::new(format!("a stride must be at least 0, found {}", part.stride))));
            }
            size = size.checked_mul(part.extent).ok_or_else(|| {
                (spot, Error::new(format!("the size of dimension {dim} does not fit in 64 bits")).too_large())
            })?;
        }
        if let Some(shape) = self.shape.as_ref().and_then(|shape| shape.get(dim)) {
            let spot = Some(Spot::Shape(dim));
            if *shape < 0 {
                return Err((spot, Error::new(format!("a size must be at least 0, found {shape}"))));
            }
            if *shape > size {
                return Err((spot, Error::new(beyond_parts(dim, *shape, size))));
            }
        }
        Ok(())
    }

    /// Checks an entry after `B@`.
    fn check_broadcast(&self, k: usize, broadcast: &Broadcast) -> Result<(), Fault> {
        let spot = Some(Spot::Broadcast(k));
        match broadcast {
            Broadcast::Axis(axis) => {
                let other = self.uses().find(|(other, used)| Some(*other) != spot && used == axis);
                let Some((other, _)) = other else { return Ok(()) };
                let why = match other {
                    Spot::Part(dim, _) => format!("found dimension {dim} along it"),
                    _ => "found it twice".to_string(),
                };
                let message = format!("`{}` must have no other use where it is broadcast whole, {why}", excerpt(axis));
                Err((spot, Error::new(message)))
            }
            Broadcast::Part { extent, stride, .. } => {
                check_extent(*extent).map_err(|message| (spot, Error::new(message)))?;
                match stride.filter(|stride| *stride < 0) {
                    Some(stride) => Err((spot, Error::new(format!("a stride must be at least 0, found {stride}")))),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The message for a size that the parts of its dimension do not reach.
pub(crate) fn beyond_parts(dim: usize, size: i64, most: i64) -> String {
    format!("the size of dimension {dim} must be at most {most}, the product of its parts, found {size}")
}

pub(super) fn prefix_length(rank: usize, sizes: usize) -> String {
    format!("the prefix must have a size for each of the {rank} dimensions of the layout, found {sizes}")
}

pub(crate) fn check_extent(extent: i64) -> Result<(), String> {
    if extent > 0 { Ok(()) } else { Err(format!("an extent must be at least 1, found {extent}")) }
}

/// Checks that a text can be the name of an axis other than the address.
///
/// # Errors
/// The fault.
pub fn check_axis(axis: &str) -> Result<(), String> {
    if axis == ADDRESS {
        return Err(format!("the name of an axis must not be `{ADDRESS}`, which is the local address"));
    }
    if axis == "B" {
        return Err("the name of an axis must not be `B`, which says what is broadcast".to_string());
    }
    let mut letters = axis.chars();
    if !letters.next().is_some_and(|c| c.is_ascii_alphabetic()) || !letters.all(|c| c.is_ascii_alphanumeric()) {
        return Err(format!(
            "the name of an axis must be a letter and then letters and digits, found `{}`",
            excerpt(axis)
        ));
    }
    Ok(())
}

pub(super) fn too_many_parts() -> String {
    format!("a layout must have at most {} parts, found more", TensorLayout::MAX_PARTS)
}
