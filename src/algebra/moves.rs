//! Elements in motion: what a relayout moves at each level, vector accesses, and conflicts of banks.
//!
//! A relayout takes each index from its place in one layout to that in another. An element moves at the outermost level
//! along which its coordinates differ: in Triton's layouts between registers of a lane, between lanes by shuffles,
//! between warps through shared memory, between blocks through memory. A copy of an element comes from the nearest one.

use crate::algebra::bits::Columns;
use crate::algebra::compose::LOOKED_AT;
use crate::algebra::layout::{Flip, LayoutFunction};
use crate::algebra::mode::Mode;
use crate::numbers::near_gcd;
use crate::text::Error;

/// Triton's axes, the innermost first.
const TRITON: [&str; 3] = ["lane", "warp", "block"];

/// The elements that a relayout moves, by level.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// The number of elements.
    pub elements: i64,
    /// For each level, the outermost first, its axis and the elements that move along it and along none before; the
    /// last is the address, without a name.
    pub levels: Vec<(Option<String>, i64)>,
}

/// The accesses of a thread to its elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Vectors {
    /// The elements of an access.
    pub width: i64,
    /// The accesses of each thread.
    pub accesses: i64,
}

/// Conflicts of accesses to memory in banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflicts {
    /// The number of accesses of all lanes together.
    pub accesses: i64,
    /// The most words of one access in one bank; 1 is none in conflict.
    pub ways: i64,
    /// The first index of an access with as many.
    pub index: i64,
}

/// Banks of memory, as 32 of 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Banks {
    /// The number of banks.
    pub count: i64,
    /// The bytes of a word, of which each bank has one at a time.
    pub word: i64,
}

impl Default for Banks {
    fn default() -> Banks {
        Banks { count: 32, word: 4 }
    }
}

impl LayoutFunction {
    /// The elements that move at each level from this layout to another of the same size.
    ///
    /// # Errors
    /// Other sizes, and too many elements to look at in layouts that are not linear in bits.
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// let [rows, columns] = ["(4,4):(1@lane,1)", "(4,4):(1,1@lane)"].map(|text| LayoutFunction::parse(text).unwrap());
    /// let moved = rows.relayout(&columns).unwrap();
    /// assert_eq!(moved.levels, [(Some("lane".to_string()), 12), (None, 0)]);
    /// ```
    pub fn relayout(&self, to: &LayoutFunction) -> Result<Moved, Error> {
        if self.size() != to.size() {
            let message = format!("a relayout needs layouts of one size, found {} and {}", self.size(), to.size());
            return Err(Error::new(message));
        }
        let mut axes = self.axes.clone();
        axes.extend(to.axes.iter().filter(|axis| !self.axes.contains(axis)).cloned());
        axes.sort_by_key(|axis| std::cmp::Reverse(TRITON.iter().position(|known| known == axis)));
        let sides = [self, to].map(|side| side.along(&axes));
        let same = match sides.each_ref().map(Columns::new) {
            [Some(a), Some(b)] => (1..=axes.len() + 1).map(|levels| equal_bits(&a, &b, levels)).collect(),
            _ => self.equal_places(&sides, axes.len() + 1)?,
        };
        let mut left = self.size();
        let moved = same.into_iter().map(|same| {
            let moved = left - same;
            left = same;
            moved
        });
        let moved = moved.collect::<Vec<_>>().into_iter();
        let names = axes.into_iter().map(Some).chain([None]);
        Ok(Moved { elements: self.size(), levels: names.zip(moved).collect() })
    }

    /// The same layout with these axes.
    pub(super) fn along(&self, axes: &[String]) -> LayoutFunction {
        let number = |axis: usize| {
            let name = self.axes.get(axis);
            axes.iter().position(|other| Some(other) == name).unwrap_or(axes.len())
        };
        let spread = |places: &[i64]| {
            let mut spread = vec![0; axes.len() + 1];
            places.iter().enumerate().for_each(|(axis, at)| spread[number(axis)] = *at);
            spread
        };
        let mut layout = self.clone();
        layout.mode.renumber(&number);
        layout.copies.iter_mut().for_each(|digit| digit.axis = number(digit.axis));
        for flip in &mut layout.flips {
            (flip.axis, flip.of) = (number(flip.axis), spread(&flip.of));
        }
        LayoutFunction { axes: axes.to_vec(), base: spread(&self.base).into(), ..layout }
    }

    /// For each number of levels, the elements that are at the same coordinates along these: each of their places in
    /// the second layout has one in the first.
    fn equal_places(&self, sides: &[LayoutFunction; 2], levels: usize) -> Result<Vec<i64>, Error> {
        let copies = sides.iter().flat_map(|side| &side.copies).map(|digit| digit.extent);
        let work = copies.fold(self.size(), i64::saturating_mul);
        if work > LOOKED_AT {
            let message =
                format!("a relayout of digits must have at most {LOOKED_AT} elements and copies, found {work}");
            return Err(Error::new(message).too_large());
        }
        let mut same = vec![0; levels];
        for index in 0..self.size() {
            let [from, to] = sides.each_ref().map(|side| side.places(index));
            let common = |to: &Vec<i64>| {
                let common = |from: &Vec<i64>| from.iter().zip(to).take_while(|(a, b)| a == b).count();
                from.iter().map(common).max().unwrap_or(0)
            };
            let common = to.iter().map(common).min().unwrap_or(0);
            same[..common].iter_mut().for_each(|same| *same += 1);
        }
        Ok(same)
    }

    /// The widest accesses of consecutive registers of a thread to consecutive addresses in memory, aligned to their
    /// width, at most so many elements. This layout is that of the registers, by their addresses.
    ///
    /// # Errors
    /// Layouts of other sizes, and registers whose layout has no inverse.
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// let [registers, memory] = ["(8,8):(1@lane,1)", "(8,8):(8,1)"].map(|text| LayoutFunction::parse(text).unwrap());
    /// let vectors = registers.vectors(&memory, 4).unwrap();
    /// assert_eq!((vectors.width, vectors.accesses), (4, 2));
    /// ```
    pub fn vectors(&self, memory: &LayoutFunction, most: i64) -> Result<Vectors, Error> {
        let reached = memory.compose(&self.inverse()?)?;
        let registers =
            if self.axes.is_empty() { reached.mode.coalesced() } else { reached.modes()[self.axes.len()].clone() };
        let mut width = match registers.coalesced().modes() {
            [Mode::Digit(first), ..] if first.stride == 1 => first.extent,
            _ => 1,
        };
        let others = reached.mode.digits().into_iter().filter(|digit| digit.extent > 1 && digit.stride != 1);
        width = others.map(|digit| digit.stride).chain(reached.base.clone()).fold(width, near_gcd);
        width = 1 << width.trailing_zeros();
        while width > most.max(1) {
            width /= 2;
        }
        let address = memory.axes.len();
        let touched = |flip: &Flip| flip.of[address] | 1 << flip.bit;
        while reached.flips.iter().any(|flip| touched(flip) & (width - 1) != 0) {
            width /= 2;
        }
        Ok(Vectors { width, accesses: registers.size() / width })
    }

    /// The conflicts where so many lanes at a time access the elements in the order of their index, each of so many
    /// bytes.
    ///
    /// # Errors
    /// Axes, too many elements, and numbers below 1.
    ///
    /// ```
    /// use tensor_layout::algebra::{Banks, LayoutFunction};
    /// let ways = |text: &str| {
    ///     let layout: LayoutFunction = text.parse().unwrap();
    ///     layout.conflicts(Banks::default(), 32, 4).unwrap().ways
    /// };
    /// assert_eq!([ways("(32,32):(1,32)"), ways("(32,32):(32,1)"), ways("Sw<5,0,5> o (32,32):(32,1)")], [1, 32, 1]);
    /// ```
    pub fn conflicts(&self, banks: Banks, lanes: i64, bytes: i64) -> Result<Conflicts, Error> {
        self.on_the_address("layout in banks")?;
        let wrong =
            [lanes, bytes, banks.count, banks.word].into_iter().find(|number| !(1..=LOOKED_AT).contains(number));
        if let Some(number) = wrong.or(Some(self.size()).filter(|size| *size > LOOKED_AT)) {
            let message = format!("lanes, bytes, banks and elements must be from 1 to {LOOKED_AT}, found {number}");
            return Err(Error::new(message));
        }
        let ways = |first: i64| {
            let word =
                |index: i64| (i128::from(self.place(index)[0]) * i128::from(bytes)).div_euclid(banks.word.into());
            let mut words: Vec<i128> = (first..self.size().min(first + lanes)).map(word).collect();
            words.sort_unstable();
            words.dedup();
            let mut own: Vec<i128> = words.iter().map(|word| word.rem_euclid(banks.count.into())).collect();
            own.sort_unstable();
            own.chunk_by(|a, b| a == b).map(<[i128]>::len).max().unwrap_or(0) as i64
        };
        let firsts = (0..self.size()).step_by(lanes as usize);
        let (ways, index) = firsts.map(|first| (ways(first), -first)).max().unwrap_or((0, 0));
        Ok(Conflicts { accesses: (self.size() + lanes - 1) / lanes, ways, index: -index })
    }
}

/// The indices at which two layouts of bits have the same coordinates along the first so many axes.
fn equal_bits(a: &Columns, b: &Columns, levels: usize) -> i64 {
    let differ = |a: &[i64], b: &[i64]| a.iter().zip(b).take(levels).map(|(a, b)| a ^ b).collect::<Vec<i64>>();
    let mut rows: Vec<Vec<i64>> = Vec::new();
    let reduced = |rows: &[Vec<i64>], row: Vec<i64>| {
        rows.iter().fold(row, |row, own| {
            let less: Vec<i64> = row.iter().zip(own).map(|(a, b)| a ^ b).collect();
            less.min(row)
        })
    };
    for (a, b) in a.columns.iter().zip(&b.columns) {
        let row = reduced(&rows, differ(a, b));
        if row.iter().any(|bits| *bits != 0) {
            rows.push(row);
            rows.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    match reduced(&rows, differ(&a.first, &b.first)).iter().any(|bits| *bits != 0) {
        true => 0,
        false => 1 << (a.columns.len() - rows.len()),
    }
}
