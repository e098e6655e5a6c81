//! Swizzled layouts: a swizzle of the addresses of another layout, `Sw<3,3,3> o {1,0}`.
//!
//! On 8×8 elements, `{1,0}` has element (1, 0) at address 8, and `Sw<2,0,3> o {1,0}` at 9. Addresses count elements. A
//! swizzle keeps each aligned block of [`Swizzle::block`] addresses, so memory is rounded up to whole blocks: with
//! `Sw<2,0,3>`, 8×5 elements take 64 addresses and not 40.

use crate::expr::Expr;
use crate::numbers::ceil_div;
use crate::places::{Placement, Spot, TensorLayout};
use crate::swizzle::Swizzle;
use crate::text::{Cursor, Error, from_str};
use crate::tiled::{Expansion, Layout};
use std::fmt;

/// The layout whose addresses are swizzled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inner {
    /// A tiled layout of whole elements in one memory.
    Tiled(Layout),
    /// A TensorLayout along the local address.
    Tensor(TensorLayout),
}

/// A swizzle of the addresses of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SwizzledLayout {
    /// The swizzle.
    pub swizzle: Swizzle,
    /// The layout below it.
    pub inner: Inner,
}

/// The addresses of a swizzled layout on a shape.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// The number of addresses, padding included.
    pub size: i64,
    /// The address before the swizzle: variable `k` is the index in dimension `k`.
    pub inner: Expr,
    /// The swizzle.
    pub swizzle: Swizzle,
    sizes: Vec<i64>,
}

impl SwizzledLayout {
    /// Reads `Sw<B,M,S> o` and a layout, tiled in braces or a TensorLayout.
    ///
    /// # Errors
    /// The fault, at its byte of `text`: also an inner layout with `E(n)`, `M(n)`, `SC(..)`, a named axis or copies.
    ///
    /// ```
    /// use tensor_layout::swizzled::SwizzledLayout;
    /// let layout = SwizzledLayout::parse("Sw<2,0,3> o {1,0}").unwrap();
    /// let addresses = layout.on(&[8, 5]).unwrap();
    /// assert_eq!((addresses.size, addresses.offset(&[2, 0]).unwrap()), (64, 11));
    /// ```
    pub fn parse(text: &str) -> Result<SwizzledLayout, Error> {
        let mut cursor = Cursor::without_comments(text);
        let swizzle = Swizzle::read(&mut cursor)?.ok_or_else(|| cursor.expected("`Sw<B,M,S>`"))?;
        cursor.expect("o", "`o` and the layout below the swizzle")?;
        let start = cursor.at();
        let rest = &text[start..];
        let inner = if rest.starts_with('{') { tiled(rest) } else { tensor(rest) };
        let inner = inner.map_err(|error| Error { at: error.at.map(|at| start + at), ..error })?;
        Ok(SwizzledLayout { swizzle, inner })
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        match &self.inner {
            Inner::Tiled(layout) => layout.rank(),
            Inner::Tensor(layout) => layout.rank(),
        }
    }

    /// The memory space, which is that of the layout below.
    pub fn memory_space(&self) -> u8 {
        if let Inner::Tiled(layout) = &self.inner { layout.memory_space } else { 0 }
    }

    /// The addresses of a tensor of these sizes.
    ///
    /// # Errors
    /// Sizes that the layout below does not fit, and addresses beyond 64 bits.
    pub fn on(&self, sizes: &[i64]) -> Result<Addresses, Error> {
        let (inner, count) = match &self.inner {
            Inner::Tiled(layout) => {
                let expansion = Expansion::new(sizes, layout)?;
                (expansion.offset_expr(), expansion.allocated_elements())
            }
            Inner::Tensor(layout) => {
                let placement = Placement::new(layout, Some(sizes)).map_err(|misplaced| misplaced.error)?;
                let address = layout.exprs().pop().expect("the address is the last");
                (address, placement.extents().pop().expect("the address is the last"))
            }
        };
        let block = self.swizzle.block();
        let size = ceil_div(count, block).checked_mul(block).ok_or_else(|| {
            let message = format!("{count} addresses in whole blocks of {block} do not fit in 64 bits");
            Error::new(message).too_large()
        })?;
        Ok(Addresses { size, inner, swizzle: self.swizzle, sizes: sizes.to_vec() })
    }
}

impl Addresses {
    /// The address of the element at an index.
    ///
    /// # Errors
    /// An index outside of the shape.
    pub fn offset(&self, index: &[i64]) -> Result<i64, Error> {
        let is_inside =
            index.len() == self.sizes.len() && index.iter().zip(&self.sizes).all(|(i, size)| (0..*size).contains(i));
        let address = self.inner.evaluate(index).filter(|_| is_inside);
        let address = address.ok_or_else(|| Error::new(format!("index {index:?} is outside of {:?}", self.sizes)))?;
        Ok(self.swizzle.of(address))
    }
}

/// Reads a tiled layout of whole elements in one memory.
fn tiled(text: &str) -> Result<Inner, Error> {
    let layout = Layout::parse(text)?;
    let attributes = [
        ("E(", layout.element_bits != 0, "have whole elements"),
        ("M(", layout.metadata_prefix != 0, "begin at address 0"),
        ("SC(", !layout.splits.is_empty(), "be in one memory"),
    ];
    match attributes.into_iter().find(|(_, is_there, _)| *is_there) {
        None => Ok(Inner::Tiled(layout)),
        Some((name, _, rule)) => {
            let at = text.find(name).unwrap_or(0);
            Err(Error::at(at, format!("a layout below a swizzle must {rule}, found `{name}..)`")))
        }
    }
}

/// Reads a TensorLayout along the local address.
fn tensor(text: &str) -> Result<Inner, Error> {
    let (layout, offsets) = TensorLayout::read(text)?;
    let parts = layout.dims.iter().enumerate().flat_map(|(dim, parts)| {
        parts.iter().enumerate().filter(|(_, part)| part.axis.is_some()).map(move |(k, _)| Spot::Part(dim, k))
    });
    let spot = parts.chain((0..layout.broadcast.len()).map(Spot::Broadcast)).next();
    let Some(spot) = spot else { return Ok(Inner::Tensor(layout)) };
    let found = if matches!(spot, Spot::Part(..)) { "an axis" } else { "copies" };
    let message = format!("a layout below a swizzle must have parts on the address alone, found {found}");
    Err(offsets.error((Some(spot), Error::new(message))))
}

impl fmt::Display for SwizzledLayout {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.inner {
            Inner::Tiled(layout) => write!(f, "{} o {layout}", self.swizzle),
            Inner::Tensor(layout) => write!(f, "{} o {layout}", self.swizzle),
        }
    }
}

from_str!(SwizzledLayout: Error);
