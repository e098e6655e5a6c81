//! Division into tiles, and products of layouts.
//!
//! `logical_divide` by a tile `T` of indices makes two modes: the elements of a tile, and the tiles. It is the
//! composition with `(T, complement of T)`. `logical_product` repeats a layout at the places that its complement has
//! for the places of another. Both also go mode by mode, with a tile for each; their variants sort the modes otherwise.
//!
//! Where a contiguous tile does not divide the size, the result is padded: `10:1` by 4 is `10/(4,3):(1,4)`, in which
//! the last tile has 2 elements. That is exact for the modes of one division. Where tiles and rests of several
//! modes are sorted apart, which elements are padding depends on both, and that is refused.

use crate::algebra::layout::LayoutFunction;
use crate::algebra::mode::{Digit, Mode, ONE, large};
use crate::maps::equal::Equality;
use crate::text::Error;

/// The operand of a division into tiles, or of a product.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Tiler {
    /// A layout, for all modes as one.
    Layout(LayoutFunction),
    /// One for each of the first modes; `None` leaves a mode as it is.
    Modes(Vec<Option<Tiler>>),
}

/// The part of a mode that a restriction keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slice {
    /// The mode stays.
    All,
    /// The coordinate at which the mode is left out.
    At(i64),
    /// The coordinates from the first up to the second, which is not included.
    Range(i64, i64),
}

/// One of the two operations, which makes two modes of a layout.
type Split = fn(&LayoutFunction, &LayoutFunction) -> Result<Mode, Error>;

impl LayoutFunction {
    /// The elements of a tile, and the tiles.
    ///
    /// Post-condition: with `T` the tiler and `C` its complement within the size, `place((t, r))` of the result is the
    /// place of this layout at `T(t) + C(r)`.
    ///
    /// # Errors
    /// A tile that leaves the layout, that has no complement, or that does not divide the size and is not contiguous.
    ///
    /// ```
    /// use tensor_layout::algebra::{LayoutFunction, Tiler};
    /// let divided = |layout: &str, tile: &str| {
    ///     let [layout, tile] = [layout, tile].map(|text| LayoutFunction::parse(text).unwrap());
    ///     layout.logical_divide(&Tiler::Layout(tile)).unwrap().to_string()
    /// };
    /// assert_eq!(divided("(4,2,3):(2,1,8)", "4:2"), "((2,2),(2,3)):((4,1),(2,8))");
    /// assert_eq!(divided("10:3", "4"), "10/(4,3):(3,12)");
    /// ```
    pub fn logical_divide(&self, tiler: &Tiler) -> Result<LayoutFunction, Error> {
        self.with_mode(logical(divided, self, tiler)?)
    }

    /// [`LayoutFunction::logical_divide`], all tiles as the first mode and all rests as the second.
    ///
    /// # Errors
    /// As [`LayoutFunction::logical_divide`]; tiles of several modes that do not divide their sizes.
    pub fn zipped_divide(&self, tiler: &Tiler) -> Result<LayoutFunction, Error> {
        self.with_mode(zipped(divided, self, tiler)?)
    }

    /// [`LayoutFunction::zipped_divide`], with a mode for each rest.
    ///
    /// # Errors
    /// As [`LayoutFunction::zipped_divide`].
    pub fn tiled_divide(&self, tiler: &Tiler) -> Result<LayoutFunction, Error> {
        self.with_mode(unpacked(zipped(divided, self, tiler)?, false)?)
    }

    /// [`LayoutFunction::zipped_divide`], with a mode for each tile and each rest.
    ///
    /// # Errors
    /// As [`LayoutFunction::zipped_divide`].
    pub fn flat_divide(&self, tiler: &Tiler) -> Result<LayoutFunction, Error> {
        self.with_mode(unpacked(zipped(divided, self, tiler)?, true)?)
    }

    /// This layout, repeated at the places that its complement has for those of the tiler.
    ///
    /// Post-condition: `place((x, y))` of the result is the place of this layout at `x` plus that of its complement at
    /// the place of `y`, and no two of these sums are the same.
    ///
    /// # Errors
    /// A layout that has no complement.
    ///
    /// ```
    /// use tensor_layout::algebra::{LayoutFunction, Tiler};
    /// let [layout, over] = ["(2,2):(4,1)", "6:1"].map(|text| LayoutFunction::parse(text).unwrap());
    /// let product = layout.logical_product(&Tiler::Layout(over)).unwrap();
    /// assert_eq!(product.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    /// ```
    pub fn logical_product(&self, tiler: &Tiler) -> Result<LayoutFunction, Error> {
        self.with_mode(logical(repeated, self, tiler)?)
    }

    /// [`LayoutFunction::logical_product`], all blocks as the first mode and all repetitions as the second.
    ///
    /// # Errors
    /// As [`LayoutFunction::logical_product`].
    pub fn zipped_product(&self, tiler: &Tiler) -> Result<LayoutFunction, Error> {
        self.with_mode(zipped(repeated, self, tiler)?)
    }

    /// [`LayoutFunction::zipped_product`], with a mode for each repetition.
    ///
    /// # Errors
    /// As [`LayoutFunction::logical_product`].
    pub fn tiled_product(&self, tiler: &Tiler) -> Result<LayoutFunction, Error> {
        self.with_mode(unpacked(zipped(repeated, self, tiler)?, false)?)
    }

    /// [`LayoutFunction::zipped_product`], with a mode for each block and each repetition.
    ///
    /// # Errors
    /// As [`LayoutFunction::logical_product`].
    pub fn flat_product(&self, tiler: &Tiler) -> Result<LayoutFunction, Error> {
        self.with_mode(unpacked(zipped(repeated, self, tiler)?, true)?)
    }

    /// The product of two layouts of modes, each mode of this one inside of that of the other.
    ///
    /// # Errors
    /// As [`LayoutFunction::logical_product`].
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// let [block, over] = ["(2,5):(5,1)", "(3,4):(1,3)"].map(|text| LayoutFunction::parse(text).unwrap());
    /// assert_eq!(block.blocked_product(&over).unwrap().to_string(), "((2,3),(5,4)):((5,10),(1,30))");
    /// assert_eq!(block.raked_product(&over).unwrap().to_string(), "((3,2),(4,5)):((10,5),(30,1))");
    /// ```
    pub fn blocked_product(&self, over: &LayoutFunction) -> Result<LayoutFunction, Error> {
        self.by_modes(over, false)
    }

    /// The product of two layouts of modes, each mode of the other inside of that of this one.
    ///
    /// # Errors
    /// As [`LayoutFunction::logical_product`].
    pub fn raked_product(&self, over: &LayoutFunction) -> Result<LayoutFunction, Error> {
        self.by_modes(over, true)
    }

    fn by_modes(&self, over: &LayoutFunction, raked: bool) -> Result<LayoutFunction, Error> {
        let rank = self.modes().len().max(over.modes().len());
        let ranked = |layout: &LayoutFunction| {
            let ones = std::iter::repeat_n(ONE, rank - layout.modes().len());
            layout.with_mode(Mode::group(layout.modes().iter().cloned().chain(ones).collect()))
        };
        let (own, over) = (ranked(self)?, ranked(tile(over)?)?);
        let product = repeated(&own, &over)?;
        let [blocks, repetitions] = product.modes() else { return Err(large()) };
        let pairs = blocks.modes().iter().zip(repetitions.modes());
        let pair = |(a, b): (&Mode, &Mode)| {
            let pair = if raked { vec![b.clone(), a.clone()] } else { vec![a.clone(), b.clone()] };
            Mode::group(pair)
        };
        self.with_mode(Mode::group(pairs.map(pair).collect()))
    }

    /// Whether `whole` is this layout, repeated: its first elements, as many as this layout has, are at the places of
    /// this one, and those of each further such part are moved together.
    ///
    /// # Errors
    /// A size that does not divide that of `whole`.
    pub fn divides(&self, whole: &LayoutFunction) -> Result<Equality, Error> {
        let (own, all) = (self.size(), whole.size());
        if all % own != 0 {
            return Err(Error::new(format!("the size {own} of the divisor must divide that of {whole}, found {all}")));
        }
        let tile = LayoutFunction::new(Vec::new(), Mode::Digit(Digit::new(own, 0, 1)))?;
        let divided = whole.logical_divide(&Tiler::Layout(tile))?;
        let [first, _] = divided.modes() else { return Err(large()) };
        Ok(self.equal(&whole.with_mode(first.clone())?))
    }

    /// The layout on some coordinates of each mode.
    ///
    /// # Errors
    /// Another number of slices, coordinates outside of the size, and a result that is no layout.
    ///
    /// ```
    /// use tensor_layout::algebra::{LayoutFunction, Slice};
    /// let layout = LayoutFunction::parse("(4,8):(8,1)").unwrap();
    /// let part = layout.restrict(&[Slice::At(2), Slice::Range(4, 8)]).unwrap();
    /// assert_eq!(part.to_string(), "20 o 4:1");
    /// ```
    pub fn restrict(&self, slices: &[Slice]) -> Result<LayoutFunction, Error> {
        let sizes = self.sizes();
        if slices.len() != sizes.len() {
            let message = format!("the layout has {} modes, found {} slices", sizes.len(), slices.len());
            return Err(Error::new(message));
        }
        let (mut first, mut weight, mut modes) = (0, 1, Vec::new());
        for (k, (slice, size)) in slices.iter().zip(sizes).enumerate() {
            let (from, to) = match *slice {
                Slice::All => (0, size),
                Slice::At(at) => (at, at.saturating_add(1)),
                Slice::Range(from, to) => (from, to),
            };
            if from < 0 || from >= to || to > size {
                let message = format!("a slice of mode {k} must be within its size {size}, found {from} to {to}");
                return Err(Error::new(message));
            }
            first += from * weight;
            if !matches!(slice, Slice::At(_)) {
                modes.push(Mode::Digit(Digit::new(to - from, 0, weight)));
            }
            weight *= size;
        }
        let mode = if modes.len() == 1 { modes.remove(0) } else { Mode::group(modes) };
        let mut slice = LayoutFunction::new(Vec::new(), mode)?;
        slice.base[0] = first;
        self.compose(&slice)
    }
}

/// The tile and the rest of a division.
fn divided(layout: &LayoutFunction, tile: &LayoutFunction) -> Result<Mode, Error> {
    let size = layout.size();
    let rest = tile.gaps(size)?.mode();
    let all = tile.size().saturating_mul(rest.size());
    let contiguous =
        || matches!(tile.mode.coalesced(), Mode::Digit(Digit { extent, stride, .. }) if extent == 1 || stride == 1);
    if all != size && !(all > size && contiguous()) {
        let message = format!(
            "a tile that does not divide the size must be contiguous, found {tile}, {} elements, in a size of {size}",
            tile.size()
        );
        return Err(Error::new(message));
    }
    let mut modes = Vec::with_capacity(2);
    layout.compose_modes(size, &[&tile.mode, &rest], &mut modes)?;
    Ok(Mode::Group { size, modes })
}

/// The block and the repetitions of a product.
fn repeated(layout: &LayoutFunction, over: &LayoutFunction) -> Result<Mode, Error> {
    over.on_the_address("layout that is repeated over")?;
    let reach = layout.size().checked_mul(over.extent(0)).filter(|reach| *reach < 1 << 61).ok_or_else(large)?;
    let gaps = LayoutFunction::of_chain(&layout.gaps(reach)?)?;
    let mut modes = Vec::with_capacity(2);
    modes.push(layout.mode.clone());
    gaps.compose_modes(over.size(), &[&over.mode], &mut modes)?;
    Ok(Mode::group(modes))
}

/// Refuses what is no tile: a base, copies and flips.
fn tile(layout: &LayoutFunction) -> Result<&LayoutFunction, Error> {
    if layout.has_digits_alone() {
        return Ok(layout);
    }
    Err(Error::new(format!("a tiler must have digits alone, found {layout}")).unsupported())
}

fn logical(split: Split, layout: &LayoutFunction, tiler: &Tiler) -> Result<Mode, Error> {
    let tilers = match tiler {
        Tiler::Layout(own) => return split(layout, tile(own)?),
        Tiler::Modes(tilers) => tilers,
    };
    let modes = each(layout, tilers)?.map(|(mode, tiler)| match tiler {
        Some(tiler) => logical(split, &layout.alone(mode)?, tiler),
        None => Ok(mode.clone()),
    });
    Ok(Mode::group(modes.collect::<Result<_, Error>>()?))
}

/// The modes with their tilers, of which there may be fewer.
fn each<'a>(
    layout: &'a LayoutFunction,
    tilers: &'a [Option<Tiler>],
) -> Result<impl Iterator<Item = (&'a Mode, Option<&'a Tiler>)>, Error> {
    layout.mode.whole("tiled by modes")?;
    let modes = layout.modes();
    if tilers.len() > modes.len() {
        let message = format!("the layout has {} modes, found {} tiles", modes.len(), tilers.len());
        return Err(Error::new(message));
    }
    Ok(modes.iter().enumerate().map(|(k, mode)| (mode, tilers.get(k).and_then(Option::as_ref))))
}

fn zipped(split: Split, layout: &LayoutFunction, tiler: &Tiler) -> Result<Mode, Error> {
    let Tiler::Modes(tilers) = tiler else { return logical(split, layout, tiler) };
    let (mut tiles, mut rests) = (Vec::new(), Vec::new());
    for (k, (mode, tiler)) in each(layout, tilers)?.enumerate() {
        let Some(tiler) = tiler else {
            if k < tilers.len() {
                tiles.push(ONE);
            }
            rests.push(mode.clone());
            continue;
        };
        let pair = zipped(split, &layout.alone(mode)?, tiler)?;
        pair.whole("sorted by tiles and rests")?;
        let [tile, rest] = pair.modes() else { return Err(large()) };
        tiles.push(tile.clone());
        rests.push(rest.clone());
    }
    Ok(Mode::group(vec![Mode::group(tiles), Mode::group(rests)]))
}

/// The modes of the second of two modes in its place; those of the first, too, if `both`.
fn unpacked(pair: Mode, both: bool) -> Result<Mode, Error> {
    let Mode::Group { size, modes } = pair else { return Ok(pair) };
    let mut unpacked = Vec::with_capacity(modes.iter().map(|mode| mode.modes().len()).sum());
    for (k, mode) in modes.into_iter().enumerate() {
        if k == 0 && both {
            mode.whole("flat")?;
        }
        match mode {
            Mode::Group { modes, .. } if k == 1 || both => unpacked.extend(modes),
            mode => unpacked.push(mode),
        }
    }
    Ok(Mode::Group { size, modes: unpacked })
}
