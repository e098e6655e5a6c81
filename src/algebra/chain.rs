//! The normal form of a mode, as one list: digits of which no two are one, and groups with padding.
//!
//! `(2,(2,5/(3,2))):(1,(2,(8,24)))` has the link 4:1, then a group of 5 with the 2 links 3:8 and 2:24 inside. A group
//! stands before its links. An index is divided along the list, without a structure that is allocated.

use crate::algebra::mode::{Digit, Mode, ONE, product};
use crate::numbers::ceil_div;
use smallvec::SmallVec;

/// A digit, or a group with padding, whose stride is 0.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub digit: Digit,
    /// The number of links of a group.
    inside: usize,
}

/// The normal form of a mode.
pub(super) struct Chain {
    /// The number of elements: at most the product of those of the links.
    pub size: i64,
    links: SmallVec<[Link; 6]>,
    /// The first link that may be one with the next digit.
    open: usize,
}

impl Mode {
    /// The same function with the fewest digits: no digit of one step, no two that are one, no groups but those with
    /// padding.
    ///
    /// The digits of a mode without padding are unique: the extent of the first is where the places stop growing by
    /// its stride, and the others are those of the function of every so manyth element.
    #[must_use]
    pub fn coalesced(&self) -> Mode {
        self.chain().mode()
    }

    /// The normal form.
    pub(super) fn chain(&self) -> Chain {
        Chain::of_modes(self.size(), self.modes())
    }
}

impl Chain {
    /// The chain of no links.
    pub fn new() -> Chain {
        Chain { size: 1, links: SmallVec::new(), open: 0 }
    }

    /// So many elements of modes in each other.
    pub fn of_modes(size: i64, modes: &[Mode]) -> Chain {
        let mut chain = Chain { size, ..Chain::new() };
        chain.flatten(modes);
        if size < product(modes) {
            chain.trim();
        }
        chain
    }

    /// Appends a digit to a chain without padding.
    pub fn grow(&mut self, digit: Digit) {
        self.size = self.size.saturating_mul(digit.extent);
        self.push(digit);
    }

    /// Appends a digit, as one with the last if both are.
    fn push(&mut self, digit: Digit) {
        if digit.extent == 1 {
            return;
        }
        if let Some(Link { digit: last, .. }) = self.links[self.open..].last_mut()
            && (last.axis == digit.axis || last.stride == 0 && digit.stride == 0)
            && last.extent.checked_mul(last.stride) == Some(digit.stride)
            && let Some(extent) = last.extent.checked_mul(digit.extent)
        {
            last.extent = extent;
            return;
        }
        self.links.push(Link { digit, inside: 0 });
    }

    /// Appends modes in each other, without groups but those with padding.
    fn flatten(&mut self, modes: &[Mode]) {
        for mode in modes {
            match mode {
                Mode::Digit(digit) => self.push(*digit),
                Mode::Group { size, modes } if *size == product(modes) => self.flatten(modes),
                Mode::Group { size, modes } => self.append(&Chain::of_modes(*size, modes)),
            }
        }
    }

    /// Appends a chain, as a group if it has padding.
    fn append(&mut self, chain: &Chain) {
        let whole = outer(&chain.links).map(|(_, link)| link.digit.extent).fold(1, i64::saturating_mul);
        if whole != chain.size {
            self.links.push(Link { digit: Digit::new(chain.size, 0, 0), inside: chain.links.len() });
            self.links.extend_from_slice(&chain.links);
            self.open = self.links.len();
            return;
        }
        for (k, link) in outer(&chain.links) {
            if link.inside == 0 {
                self.push(link.digit);
                continue;
            }
            self.links.extend_from_slice(&chain.links[k..=k + link.inside]);
            self.open = self.links.len();
        }
    }

    /// Leaves out what only padding reaches.
    fn trim(&mut self) {
        let mut weight = 1;
        let reached = |(k, link): (usize, &Link)| {
            let (rest, own) = (ceil_div(self.size, weight), link.digit.extent);
            weight = weight.saturating_mul(own);
            (own >= rest).then_some((k, rest))
        };
        let Some((last, rest)) = outer(&self.links).find_map(reached) else { return };
        let inside = self.links[last].inside;
        self.links.truncate(last + if rest == 1 { 0 } else { 1 + inside });
        self.open = self.open.min(self.links.len());
        if inside == 0 && rest > 1 {
            self.links[last].digit.extent = rest;
        }
    }

    /// The greatest distance that the digits add up to.
    pub fn reach(&self) -> i64 {
        self.links.iter().map(|link| link.digit.reach()).fold(0, i64::saturating_add)
    }

    /// The digits of all links.
    pub fn digits(&self) -> Vec<Digit> {
        self.links.iter().map(|link| link.digit).collect()
    }

    /// All links as one mode.
    pub fn mode(&self) -> Mode {
        match &self.links[..] {
            [] => ONE,
            [Link { digit, inside: 0 }] if digit.extent == self.size => Mode::Digit(*digit),
            [Link { digit, inside }, ..] if digit.extent == self.size && inside + 1 == self.links.len() => {
                Mode::Group { size: self.size, modes: modes(&self.links[1..]) }
            }
            links => Mode::Group { size: self.size, modes: modes(links) },
        }
    }

    /// The links with the shares that they have in an index.
    pub fn counted(&self, index: i64) -> Counted {
        let mut counted = Counted::new();
        for link in &self.links {
            counted.push(Count { link: *link, bound: link.digit.extent, share: 0, sum: 0 });
        }
        let mut first = 0;
        while let Some((k, link)) = outer(&self.links[first..]).last() {
            first += k;
            counted[first].bound = i64::MAX;
            if link.inside == 0 {
                break;
            }
            first += 1;
        }
        split(&mut counted, index);
        take(&mut counted, 1);
        counted
    }
}

/// A link with its share in a step, and the sum of its shares in all steps.
pub(super) struct Count {
    pub link: Link,
    /// The elements of the link; no bound for the last one, and the last inside of it.
    pub bound: i64,
    pub share: i64,
    pub sum: i64,
}

pub(super) type Counted = SmallVec<[Count; 6]>;

/// Adds each share so many times to the sum.
pub(super) fn take(counted: &mut [Count], times: i64) {
    for count in counted {
        count.sum = count.sum.saturating_add(count.share.saturating_mul(times));
    }
}

/// The links that are inside of no other one, with their positions.
fn outer(links: &[Link]) -> impl Iterator<Item = (usize, &Link)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let (k, link) = (next, links.get(next)?);
        next += 1 + link.inside;
        Some((k, link))
    })
}

fn modes(links: &[Link]) -> Vec<Mode> {
    let mut modes = Vec::with_capacity(links.len());
    for (k, link) in outer(links) {
        let inside = &links[k + 1..=k + link.inside];
        modes.push(match inside {
            [] => Mode::Digit(link.digit),
            _ => Mode::Group { size: link.digit.extent, modes: self::modes(inside) },
        });
    }
    modes
}

/// The share that each link has in an index; the last one takes what is left, without a bound.
pub(super) fn split(counted: &mut [Count], mut rest: i64) {
    let (mut k, end) = (0, counted.len());
    while k < end {
        let count = &mut counted[k];
        let (inside, size) = (count.link.inside, count.link.digit.extent);
        let next = k + 1 + inside;
        count.share = if next < end { rest % size } else { rest };
        rest = if next < end { rest / size } else { 0 };
        if inside > 0 {
            let own = count.share;
            split(&mut counted[k + 1..next], own);
        }
        k = next;
    }
}
