//! Modes: digits, and groups of modes.

use crate::limits;
use crate::text::Error;

/// Steps along an axis; the last axis is the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Digit {
    /// The number of steps.
    pub extent: i64,
    /// The number of the axis.
    pub axis: usize,
    /// The places that one step moves by.
    pub stride: i64,
}

impl Digit {
    /// So many steps along an axis.
    pub fn new(extent: i64, axis: usize, stride: i64) -> Digit {
        Digit { extent, axis, stride }
    }

    /// The distance of the last step from the first, at most the greatest number.
    pub(super) fn reach(&self) -> i64 {
        (self.extent - 1).saturating_mul(self.stride.saturating_abs())
    }
}

/// A digit, or a group of modes of which the first varies fastest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Steps along one axis.
    Digit(Digit),
    /// Modes in each other.
    Group {
        /// The number of elements: at most the product of those of the modes.
        size: i64,
        /// The modes, the fastest first.
        modes: Vec<Mode>,
    },
}

/// The error for numbers that do not fit.
pub(crate) fn large() -> Error {
    Error::new("the places or sizes of a layout must stay within 62 bits, found more").too_large()
}

/// A mode of one element.
pub(super) const ONE: Mode = Mode::Digit(Digit { extent: 1, axis: 0, stride: 0 });

/// The number of elements of modes in each other.
pub(super) fn product(modes: &[Mode]) -> i64 {
    modes.iter().fold(1, |all, mode| all.saturating_mul(mode.size()))
}

impl Mode {
    /// The group of these modes, without padding.
    pub fn group(modes: Vec<Mode>) -> Mode {
        Mode::Group { size: product(&modes), modes }
    }

    /// The number of elements.
    pub fn size(&self) -> i64 {
        match self {
            Mode::Digit(digit) => digit.extent,
            Mode::Group { size, .. } => *size,
        }
    }

    /// The modes of the group, or this one.
    pub fn modes(&self) -> &[Mode] {
        match self {
            Mode::Digit(_) => std::slice::from_ref(self),
            Mode::Group { modes, .. } => modes,
        }
    }

    /// Whether a group here has fewer elements than its modes.
    pub fn is_padded(&self) -> bool {
        match self {
            Mode::Digit(_) => false,
            Mode::Group { size, modes } => *size != product(modes) || modes.iter().any(Mode::is_padded),
        }
    }

    /// Refuses padding between the modes of a group, which are no product of their own.
    pub(super) fn whole(&self, what: &str) -> Result<(), Error> {
        if product(self.modes()) == self.size() {
            return Ok(());
        }
        let sizes: Vec<i64> = self.modes().iter().map(Mode::size).collect();
        let message = format!(
            "the modes of a layout that is {what} must have a product of their own, found {} elements in modes of {sizes:?}",
            self.size()
        );
        Err(Error::new(message).unsupported())
    }

    /// All digits, the fastest first.
    pub fn digits(&self) -> Vec<Digit> {
        let mut digits = Vec::new();
        self.each(1, &mut |_, digit| digits.push(*digit));
        digits
    }

    /// Calls back with each digit and its weight: what one step of it adds to the index.
    pub(crate) fn each(&self, weight: i64, found: &mut impl FnMut(i64, &Digit)) {
        each(std::slice::from_ref(self), weight, found);
    }

    /// Refuses sizes below 1, groups larger than their modes, and what is too large. The greatest distance that the
    /// digits add up to.
    pub(super) fn check(&self) -> Result<i64, Error> {
        check(std::slice::from_ref(self), &mut 0).map(|(_, reach)| reach)
    }

    /// Adds the steps of an index to a place. The last mode of a group has no bound.
    pub(super) fn add(&self, index: i64, place: &mut [i64]) {
        match self {
            Mode::Digit(digit) => place[digit.axis] += index * digit.stride,
            Mode::Group { modes, .. } => {
                let Some((last, others)) = modes.split_last() else { return };
                let mut rest = index;
                for mode in others {
                    mode.add(rest % mode.size(), place);
                    rest /= mode.size();
                }
                last.add(rest, place);
            }
        }
    }

    /// Gives the axes other numbers.
    pub(super) fn renumber(&mut self, number: &dyn Fn(usize) -> usize) {
        match self {
            Mode::Digit(digit) => digit.axis = if digit.stride == 0 { 0 } else { number(digit.axis) },
            Mode::Group { modes, .. } => modes.iter_mut().for_each(|mode| mode.renumber(number)),
        }
    }

    /// The mode with each digit replaced.
    pub(super) fn map(&self, of: &mut impl FnMut(&Digit) -> Result<Mode, Error>) -> Result<Mode, Error> {
        Ok(match self {
            Mode::Digit(digit) => of(digit)?,
            Mode::Group { size, modes } => {
                let mut mapped = Vec::with_capacity(modes.len());
                for mode in modes {
                    mapped.push(mode.map(of)?);
                }
                Mode::Group { size: *size, modes: mapped }
            }
        })
    }
}

/// The product of the sizes of modes in each other, and the greatest distance that their digits add up to.
fn check(modes: &[Mode], count: &mut usize) -> Result<(i64, i64), Error> {
    let (mut all, mut reach) = (1i64, 0i64);
    for mode in modes {
        let size = mode.size();
        if size < 1 {
            return Err(Error::new(format!("a size must be at least 1, found {size}")));
        }
        *count += 1;
        if *count > limits::LAYOUT_PARTS {
            let message = format!("a layout must have at most {} modes, found more", limits::LAYOUT_PARTS);
            return Err(Error::new(message).too_large());
        }
        let own = match mode {
            Mode::Digit(digit) => digit.reach(),
            Mode::Group { modes, .. } => {
                let (inside, own) = check(modes, count)?;
                if size > inside {
                    let message = format!("a size must be at most {inside}, that of its modes, found {size}");
                    return Err(Error::new(message));
                }
                own
            }
        };
        reach = reach.saturating_add(own);
        all = all.saturating_mul(size);
    }
    if all >= 1 << 62 { Err(large()) } else { Ok((all, reach)) }
}

/// [`Mode::each`] of modes in each other.
fn each(modes: &[Mode], mut weight: i64, found: &mut impl FnMut(i64, &Digit)) {
    for mode in modes {
        match mode {
            Mode::Digit(digit) => found(weight, digit),
            Mode::Group { modes, .. } => each(modes, weight, found),
        }
        weight = weight.saturating_mul(mode.size());
    }
}
