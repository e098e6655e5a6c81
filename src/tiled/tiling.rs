//! The rule of tiling, the one place where it is written down.
//!
//! A tile of `k` entries is applied to the last `k` dimensions in memory. Each dimension is split by the tile's size into
//! the number of a tile and the place inside it; the tile numbers stay where the dimensions were, in their order, and the
//! places inside become new dimensions at the minor end. `T(8,128)` on `(d0, d1)` gives
//! `(d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)`, and `(2,1)` after that splits the last two again.
//!
//! `*` merges a dimension into the next more-minor one first: `T(*,4)` on `(d0, d1)` splits `d0 * (size of d1) + d1` by 4.
//! A tile longer than the rank finds leading dimensions of size 1; one that is merged adds nothing.
//!
//! [`tile`] says this once for all that tiling is done to: sizes and numbered values ([`Expansion`](super::Expansion)),
//! or expressions of any kind.

use crate::tiled::layout::TileEntry;

/// What dimensions are made of while they are tiled.
pub trait Tiling {
    /// A dimension.
    type Dim;
    /// Why a step cannot be taken.
    type Error;

    /// A leading dimension of size 1, whose index is 0.
    fn leading(&mut self) -> Self::Dim;

    /// One dimension out of several, majormost first; there are at least two.
    ///
    /// # Errors
    /// As the implementation says.
    fn merge(&mut self, run: Vec<Self::Dim>) -> Result<Self::Dim, Self::Error>;

    /// The quotient and the remainder of a dimension by a size of at least 1.
    ///
    /// # Errors
    /// As the implementation says.
    fn split(&mut self, dim: Self::Dim, by: i64) -> Result<(Self::Dim, Self::Dim), Self::Error>;
}

/// Applies a tile to dimensions in memory order, majormost first. Leading dimensions are put in front where the tile is
/// longer. The last entry of a tile is a size.
///
/// # Errors
/// Those of `tiling`.
///
/// # Example
/// ```
/// use tensor_layout::tiled::{Layout, Tiling, tile};
/// struct Text;
/// impl Tiling for Text {
///     type Dim = String;
///     type Error = ();
///     fn leading(&mut self) -> String {
///         "0".into()
///     }
///     fn merge(&mut self, run: Vec<String>) -> Result<String, ()> {
///         Ok(format!("({})", run.join("*")))
///     }
///     fn split(&mut self, dim: String, by: i64) -> Result<(String, String), ()> {
///         Ok((format!("{dim}/{by}"), format!("{dim}%{by}")))
///     }
/// }
/// let mut dims = ["a", "b", "c"].map(String::from).to_vec();
/// for entries in &Layout::parse("{2,1,0:T(*,8,128)}").unwrap().tiles {
///     tile(&mut Text, &mut dims, entries).unwrap();
/// }
/// assert_eq!(dims, ["(a*b)/8", "c/128", "(a*b)%8", "c%128"]);
/// ```
pub fn tile<T: Tiling>(tiling: &mut T, dims: &mut Vec<T::Dim>, tile: &[TileEntry]) -> Result<(), T::Error> {
    let missing = tile.len().saturating_sub(dims.len());
    dims.splice(..0, (0..missing).map(|_| tiling.leading()));
    let named = dims.split_off(dims.len() - tile.len());
    // The dimensions that are one, minormost first, and what they are split by.
    let mut runs: Vec<(Vec<T::Dim>, i64)> = Vec::with_capacity(tile.len());
    for (k, (dim, entry)) in named.into_iter().zip(tile).enumerate().rev() {
        match (entry, runs.last_mut()) {
            (TileEntry::Size(size), _) => runs.push((vec![dim], *size)),
            (TileEntry::Combine, Some((run, _))) if k >= missing => run.push(dim),
            (TileEntry::Combine, _) => {}
        }
    }
    let mut whole: Vec<(T::Dim, i64)> = Vec::with_capacity(runs.len());
    for (mut run, size) in runs {
        run.reverse();
        let dim = if run.len() == 1 { run.pop() } else { Some(tiling.merge(run)?) };
        whole.extend(dim.map(|dim| (dim, size)));
    }
    let mut inner = Vec::with_capacity(whole.len());
    for (dim, size) in whole.into_iter().rev() {
        let (quotient, remainder) = tiling.split(dim, size)?;
        dims.push(quotient);
        inner.push(remainder);
    }
    dims.append(&mut inner);
    Ok(())
}
