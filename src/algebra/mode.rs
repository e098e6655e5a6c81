//! Modes: digits, and groups of modes.

use crate::limits;
use crate::numbers::ceil_div;
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

fn product(modes: &[Mode]) -> i64 {
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

    /// All digits, the fastest first.
    pub fn digits(&self) -> Vec<Digit> {
        let mut digits = Vec::new();
        self.each(1, &mut |_, digit| digits.push(*digit));
        digits
    }

    /// Calls back with each digit and its weight: what one step of it adds to the index.
    pub(crate) fn each(&self, weight: i64, found: &mut impl FnMut(i64, &Digit)) {
        match self {
            Mode::Digit(digit) => found(weight, digit),
            Mode::Group { modes, .. } => {
                modes.iter().fold(weight, |weight, mode| {
                    mode.each(weight, found);
                    weight.saturating_mul(mode.size())
                });
            }
        }
    }

    /// Refuses sizes below 1, groups larger than their modes, and what is too large.
    pub(super) fn check(&self) -> Result<(), Error> {
        let mut count = 0;
        self.check_sizes(&mut count)
    }

    fn check_sizes(&self, count: &mut usize) -> Result<(), Error> {
        let size = self.size();
        if size < 1 {
            return Err(Error::new(format!("a size must be at least 1, found {size}")));
        }
        *count += 1;
        if *count > limits::LAYOUT_PARTS {
            let message = format!("a layout must have at most {} modes, found more", limits::LAYOUT_PARTS);
            return Err(Error::new(message).too_large());
        }
        let Mode::Group { modes, .. } = self else { return Ok(()) };
        modes.iter().try_for_each(|mode| mode.check_sizes(count))?;
        match product(modes) {
            all if all >= 1 << 62 => Err(large()),
            all if size > all => {
                Err(Error::new(format!("a size must be at most {all}, that of its modes, found {size}")))
            }
            _ => Ok(()),
        }
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

    /// Appends the value of each digit at an index. The last mode of a group has no bound.
    pub(super) fn split(&self, index: i64, values: &mut Vec<i64>) {
        match self {
            Mode::Digit(_) => values.push(index),
            Mode::Group { modes, .. } => {
                let Some((last, others)) = modes.split_last() else { return };
                let mut rest = index;
                for mode in others {
                    mode.split(rest % mode.size(), values);
                    rest /= mode.size();
                }
                last.split(rest, values);
            }
        }
    }

    /// The number of steps of a stride from index 0 that no digit carries in: with one more, one does.
    pub(super) fn uncarried(&self, step: i64) -> i64 {
        let Mode::Group { modes, .. } = self else { return i64::MAX };
        let Some((last, others)) = modes.split_last() else { return i64::MAX };
        let (mut rest, mut most) = (step, i64::MAX);
        for mode in others {
            let own = rest % mode.size();
            if own > 0 {
                most = most.min((mode.size() - 1) / own + 1).min(mode.uncarried(own));
            }
            rest /= mode.size();
        }
        if rest > 0 { most.min(last.uncarried(rest)) } else { most }
    }

    /// The same function with the fewest digits: no digit of one step, no two that are one, no groups but those with
    /// padding.
    ///
    /// The digits of a mode without padding are unique: the extent of the first is where the places stop growing by
    /// its stride, and the others are those of the function of every so manyth element.
    #[must_use]
    pub fn coalesced(&self) -> Mode {
        let Mode::Group { size, modes } = self else {
            return if self.size() == 1 { ONE } else { self.clone() };
        };
        let mut chain = Vec::new();
        modes.iter().for_each(|mode| mode.flatten(&mut chain));
        let mut weight = 1;
        for k in 0..chain.len() {
            let rest = ceil_div(*size, weight);
            let own: i64 = chain[k].size();
            if own >= rest {
                chain.truncate(k + 1);
                if let Mode::Digit(digit) = &mut chain[k] {
                    digit.extent = rest;
                }
                break;
            }
            weight *= own;
        }
        chain.retain(|mode| mode.size() > 1);
        match chain.len() {
            0 => ONE,
            1 if chain[0].size() == *size => chain.remove(0),
            _ => Mode::Group { size: *size, modes: chain },
        }
    }

    fn flatten(&self, chain: &mut Vec<Mode>) {
        if let Mode::Digit(digit) = self {
            return push(chain, Mode::Digit(*digit));
        }
        match self.coalesced() {
            Mode::Group { size, modes } if size == product(&modes) => {
                modes.into_iter().for_each(|mode| push(chain, mode))
            }
            mode => push(chain, mode),
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
                Mode::Group { size: *size, modes: modes.iter().map(|mode| mode.map(of)).collect::<Result<_, _>>()? }
            }
        })
    }
}

/// Appends a mode to a chain, as one digit with the last if both are.
pub(super) fn push(chain: &mut Vec<Mode>, mode: Mode) {
    if mode.size() == 1 {
        return;
    }
    if let (Some(Mode::Digit(last)), Mode::Digit(next)) = (chain.last_mut(), &mode)
        && (last.axis == next.axis || last.stride == 0 && next.stride == 0)
        && last.extent.checked_mul(last.stride) == Some(next.stride)
        && let Some(extent) = last.extent.checked_mul(next.extent)
    {
        last.extent = extent;
        return;
    }
    chain.push(mode);
}
