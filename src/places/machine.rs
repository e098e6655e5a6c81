//! Machines as data: a tree of places, and the memories at its nodes.
//!
//! `axes: (4x2_L2B, 8_L1B), memories: (LM: 1 at L1B with 16384 bytes), word: 64` is a machine of 8 L2Bs, each of 8
//! L1Bs: an axis comes after its parent. `4x2` groups the 8 L2Bs as 4 groups of 2. Every L1B has a
//! memory LM of 16 KiB, memory space 1. A word has 64 bits.
//!
//! Two axes belong to no machine, since all have them: [`WORD`], the element inside a word, and [`TIME`].
//!
//! [`Machine::check`] verifies that a layout fits. Units, rates and costs may follow: see [`Model`].

use crate::limits;
use crate::places::model::{Decimal, Model};
use crate::places::placement::Placement;
use crate::places::ready::{READY, pod};
use crate::places::tensor_layout::{check_axis, check_extent};
use crate::text::{Cursor, Error, did_you_mean, excerpt, from_str};
use crate::tiled::memory_space;
use std::fmt;

/// The axis inside a word: a word of 64 bits has 2 elements of 32 bits along it.
pub const WORD: &str = "W";

/// The axis of time.
pub const TIME: &str = "Time";

/// The children of one kind of place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Axis {
    /// The name that layouts use.
    pub name: String,
    /// The number of places in each place of the axis before, at least 1.
    pub extent: i64,
    /// The factors of the extent, outer first.
    pub groups: Vec<i64>,
}

/// A kind of memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Memory {
    /// A word: a letter, then letters, digits and `_`.
    pub name: String,
    /// The memory space, 0 to [`memory_space::MAX`].
    pub space: u8,
    /// The capacity of one such memory in bytes.
    pub bytes: i64,
    /// The axis whose places have one each; `None` for a single memory of the machine.
    pub axis: Option<String>,
    /// The bytes read from one such memory in a unit of cost; `None` if reading costs nothing.
    pub reading: Option<Decimal>,
    /// The bytes written to one such memory in a unit of cost; `None` if writing costs nothing.
    pub writing: Option<Decimal>,
}

/// A tree of places with memories.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Machine {
    /// The axes from parent to child.
    pub axes: Vec<Axis>,
    /// The memories.
    pub memories: Vec<Memory>,
    /// The bits of a word, at least 1.
    pub word_bits: i64,
    /// The units, rates and costs.
    pub model: Model,
}

/// The memory that a tensor takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fit {
    /// The memory, as a number in [`Machine::memories`]; `None` if the machine names none.
    pub memory: Option<usize>,
    /// The bytes in each such memory; without one, in each place.
    pub bytes: i64,
}

/// The extent of a placement along the axes of a machine.
pub(crate) struct Reach {
    /// The steps of time.
    steps: i64,
    /// Whether addresses count words.
    in_words: bool,
    /// The number of places along each axis that the layout names.
    along: Vec<Option<i64>>,
}

impl Machine {
    /// The most axes, the most groups of one axis, and the most memories.
    pub const MAX_ENTRIES: usize = limits::MACHINE_ENTRIES;

    /// Reads a machine, or the name of a [`READY`] machine or of a [`pod`].
    ///
    /// # Errors
    /// The fault, at its byte of `text`.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::places::Machine;
    /// let machine = Machine::parse("mn_core_2").unwrap();
    /// assert_eq!((machine.axes[0].extent, &*machine.axes[0].groups), (8, &[4, 2][..]));
    /// assert_eq!(Machine::parse(&machine.to_string()), Ok(machine));
    /// let error = Machine::parse("axes: (2_PE, 4_PE), memories: (), word: 64").unwrap_err();
    /// assert_eq!((error.at, &*error.message), (Some(15), "an axis must have a name of its own, found a second `PE`"));
    /// ```
    pub fn parse(text: &str) -> Result<Machine, Error> {
        let mut cursor = Cursor::without_comments(text);
        if let Some(name) = cursor.peek_word().filter(|name| *name != "axes") {
            let start = cursor.at();
            let whole = cursor.rest().split_whitespace().next().unwrap_or(name);
            let name =
                if whole.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b)) { whole } else { name };
            cursor.advance(name.len());
            let ready = READY.iter().find(|(ready, _)| *ready == name).map(|(_, text)| text.to_string());
            let Some(ready) = ready.or_else(|| pod(name)) else {
                let names = READY.map(|(ready, _)| ready);
                let hint = match did_you_mean(name, names.into_iter()) {
                    hint if hint.is_empty() => format!("; expected {}, or `axes: (`", names.join(", ")),
                    hint => hint,
                };
                return Err(Error::at(start, format!("unknown machine `{}`{hint}", excerpt(name))).unknown());
            };
            cursor.finish("the end of the text after a machine's name")?;
            return Machine::parse(&ready);
        }
        let machine = Machine::read(&mut cursor)?;
        cursor.finish("the end of the machine")?;
        Ok(machine)
    }

    fn read(cursor: &mut Cursor) -> Result<Machine, Error> {
        let mut machine = Machine { axes: Vec::new(), memories: Vec::new(), word_bits: 0, model: Model::default() };
        key(cursor, "axes", "`axes: (`, or the name of a machine")?;
        cursor.expect("(", "`(` to list the axes")?;
        let mut places = 1i64;
        while !cursor.eat(")") {
            comma(cursor, machine.axes.is_empty(), "axes")?;
            check_count(cursor, machine.axes.len(), "axes")?;
            let at = cursor.at();
            let axis = machine.axis(cursor)?;
            places = places.checked_mul(axis.extent).ok_or_else(|| {
                let message = format!("with `{}` the number of places does not fit in 64 bits", excerpt(&axis.name));
                Error::at(at, message).too_large()
            })?;
            machine.axes.push(axis);
        }
        cursor.expect(",", "`,` and then the memories: `, memories: (`")?;
        key(cursor, "memories", "`memories: (`")?;
        cursor.expect("(", "`(` to list the memories")?;
        while !cursor.eat(")") {
            comma(cursor, machine.memories.is_empty(), "memories")?;
            check_count(cursor, machine.memories.len(), "memories")?;
            let memory = machine.memory(cursor)?;
            machine.memories.push(memory);
        }
        cursor.expect(",", "`,` and then the bits of a word: `, word: 64`")?;
        key(cursor, "word", "the bits of a word: `word: 64`")?;
        let at = cursor.at();
        machine.word_bits = cursor.integer("the bits of a word")?;
        if machine.word_bits < 1 {
            return Err(Error::at(at, "a word must have at least 1 bit, found 0"));
        }
        let axes: Vec<&str> = machine.axes.iter().map(|axis| &*axis.name).collect();
        machine.model = Model::read(cursor, &axes)?;
        Ok(machine)
    }

    /// Reads an axis: `8_L1B`, or `4x2_L2B`.
    fn axis(&self, cursor: &mut Cursor) -> Result<Axis, Error> {
        let (mut extent, mut groups) = (1i64, Vec::new());
        loop {
            let at = cursor.at();
            check_count(cursor, groups.len(), "groups")?;
            let group = cursor.integer("an axis, such as `8_L1B` or `4x2_L2B`")?;
            check_extent(group).map_err(|message| Error::at(at, message))?;
            extent = extent
                .checked_mul(group)
                .ok_or_else(|| Error::at(at, "with this the extent does not fit in 64 bits").too_large())?;
            groups.push(group);
            if !cursor.eat("x") {
                break;
            }
        }
        cursor.expect("_", "`x` and the size of a group, or `_` and the name of the axis")?;
        let at = cursor.at();
        let name = cursor.word().ok_or_else(|| cursor.expected("the name of an axis"))?;
        check_axis(name).map_err(|message| Error::at(at, message))?;
        match name {
            WORD => return Err(Error::at(at, "`W` is the element inside a word: every machine has it")),
            TIME => return Err(Error::at(at, "`Time` is time itself: every machine has it")),
            _ if self.depth(name).is_some() => {
                return Err(Error::at(
                    at,
                    format!("an axis must have a name of its own, found a second `{}`", excerpt(name)),
                ));
            }
            _ => {}
        }
        Ok(Axis { name: name.to_string(), extent, groups })
    }

    /// Reads a memory: `LM: 1 at PE with 16384 bytes`.
    fn memory(&self, cursor: &mut Cursor) -> Result<Memory, Error> {
        let at = cursor.at();
        let form = "a memory, such as `LM: 1 at PE with 16384 bytes`";
        let name = cursor.word().ok_or_else(|| cursor.expected(form))?;
        if self.memories.iter().any(|memory| memory.name == name) {
            return Err(Error::at(
                at,
                format!("a memory must have a name of its own, found a second `{}`", excerpt(name)),
            ));
        }
        cursor.expect(":", "`:` and the memory space")?;
        let at = cursor.at();
        let space = cursor.integer("the memory space")?;
        let space = memory_space::check(space).map_err(|message| Error::at(at, message))?;
        let mut axis = None;
        if eat_word(cursor, "at") {
            let at = cursor.at();
            let name = cursor.word().ok_or_else(|| cursor.expected("the axis that has the memory"))?;
            self.depth(name).ok_or_else(|| Error { at: Some(at), ..self.no_axis(name) })?;
            axis = Some(name.to_string());
        }
        if !eat_word(cursor, "with") {
            let what = if axis.is_some() { "`with`" } else { "`at` and an axis, or `with`" };
            return Err(cursor.expected(&format!("{what} and the bytes of one memory")));
        }
        let bytes = cursor.integer("the bytes of one memory")?;
        if !eat_word(cursor, "bytes") {
            return Err(cursor.expected("`bytes`"));
        }
        let [reading, writing] = ["reading", "writing"].map(|name| rate(cursor, name));
        Ok(Memory { name: name.to_string(), space, bytes, axis, reading: reading?, writing: writing? })
    }

    /// The number of the axis of this name in [`Machine::axes`].
    pub fn depth(&self, axis: &str) -> Option<usize> {
        self.axes.iter().position(|known| known.name == axis)
    }

    fn no_axis(&self, name: &str) -> Error {
        let known = |axis: &Axis| format!("{} {}", axis.extent, axis.name);
        let hint = match did_you_mean(name, self.axes.iter().map(|axis| &*axis.name)) {
            hint if !hint.is_empty() => hint,
            _ if self.axes.is_empty() => "; the machine has no axes".to_string(),
            _ => format!("; the machine has {}", self.axes.iter().map(known).collect::<Vec<_>>().join(", ")),
        };
        Error::new(format!("unknown axis `{}`{hint}", excerpt(name))).unknown()
    }

    /// Checks that capacities are for memory spaces of the machine, each named once.
    ///
    /// # Errors
    /// A memory space that the machine lacks, or that is named twice.
    pub fn check_limits(&self, spaces: impl Iterator<Item = u8>) -> Result<(), Error> {
        let mut seen = Vec::new();
        for space in spaces {
            if !self.memories.iter().any(|memory| memory.space == space) {
                let known = self.memories.iter().map(|memory| format!("{} ({})", memory.name, memory.space));
                let known = known.collect::<Vec<_>>().join(", ");
                return Err(Error::new(format!("the machine has no memory space {space}; it has {known}")));
            }
            if seen.contains(&space) {
                return Err(Error::new(format!("memory space {space} must have one capacity, found two")));
            }
            seen.push(space);
        }
        Ok(())
    }

    /// The name of a memory space: that of its memory, or `space 3` without one. Of a cache and the memory behind it,
    /// the last one holds everything and gives the name.
    pub fn space_name(&self, space: u8) -> String {
        let memory = self.memories.iter().rfind(|memory| memory.space == space);
        memory.map_or_else(|| format!("space {space}"), |memory| memory.name.clone())
    }

    /// Checks that a placed tensor of elements of `element_bits` bits fits; returns its memory and its bytes there.
    ///
    /// The memory is that of `space`, if given; among several, one at the deepest axis that the layout names, else the
    /// nearest below it, else the nearest above, and of those the largest. A place takes as many units as its addresses
    /// reach, padding included, for each step of [`TIME`]; the unit is a word where the layout names [`WORD`], else an
    /// element in whole bytes. A memory above the named places holds the units of all of them.
    ///
    /// # Errors
    /// An axis that the machine lacks, or an extent beyond it; a word for fewer elements; no such memory, or one that
    /// is too small.
    pub fn check(&self, placement: &Placement, element_bits: i64, space: Option<u8>) -> Result<Fit, Error> {
        let Reach { steps, in_words, along } = self.reach(placement, element_bits)?;
        let extents = placement.extents();
        let memory = self.memory_for(along.iter().rposition(Option::is_some), space)?;
        let below = memory.and_then(|memory| self.below(&self.memories[memory])).unwrap_or(along.len());
        let bits = if in_words { self.word_bits } else { element_bits };
        let unit = bits / 8 + i64::from(bits % 8 != 0);
        let mut pieces = along[below..].iter().flatten().chain([&steps, &extents[extents.len() - 1]]);
        let bytes = pieces.try_fold(unit, |bytes, n| bytes.checked_mul(*n));
        let bytes =
            bytes.ok_or_else(|| Error::new("the bytes that the layout needs do not fit in 64 bits").too_large())?;
        if let Some(Memory { name, bytes: most, .. }) = memory.map(|memory| &self.memories[memory])
            && bytes > *most
        {
            let message = format!("capacity exceeded: the layout needs {bytes} bytes in each {name}, which has {most}");
            return Err(Error::new(message));
        }
        Ok(Fit { memory, bytes })
    }

    /// The extent of a placement of elements of `element_bits` bits along each axis.
    ///
    /// # Errors
    /// An axis that the machine lacks, or an extent beyond it; a word for fewer elements.
    pub(crate) fn reach(&self, placement: &Placement, element_bits: i64) -> Result<Reach, Error> {
        if element_bits < 1 {
            return Err(Error::new(format!("an element must have at least 1 bit, found {element_bits}")));
        }
        let mut reach = Reach { steps: 1, in_words: false, along: vec![None; self.axes.len()] };
        for (name, extent) in placement.axes().iter().zip(placement.extents()) {
            match (name.as_str(), self.depth(name)) {
                (TIME, _) => reach.steps = extent,
                (WORD, _) => {
                    reach.in_words = true;
                    let most = self.word_bits / element_bits;
                    if extent > most {
                        let word = self.word_bits;
                        let message = format!(
                            "the layout reaches {extent} along W, a word of {word} bits holds {most} elements of {element_bits} bits"
                        );
                        return Err(Error::new(message));
                    }
                }
                (_, Some(depth)) => {
                    let most = self.axes[depth].extent;
                    if extent > most {
                        return Err(Error::new(format!(
                            "the extent along {name} must be at most the machine's {most}, found {extent}"
                        )));
                    }
                    reach.along[depth] = Some(extent);
                }
                (_, None) => return Err(self.no_axis(name)),
            }
        }
        Ok(reach)
    }

    /// The working memory of the places of the last axis, as a number in [`Machine::memories`], and the number of
    /// places that share it. `None` if the machine has no memories.
    pub fn memory_of_places(&self) -> Option<(usize, i64)> {
        let memory = self.memory_for(self.axes.len().checked_sub(1), None).ok()??;
        let below = &self.axes[self.below(&self.memories[memory])?.min(self.axes.len())..];
        Some((memory, below.iter().fold(1i64, |n, axis| n.saturating_mul(axis.extent))))
    }

    /// The number of the first axis below a memory.
    fn below(&self, memory: &Memory) -> Option<usize> {
        memory.axis.as_ref().map_or(Some(0), |axis| self.depth(axis).map(|depth| depth + 1))
    }

    /// The memory for a layout whose deepest axis is `deepest`.
    fn memory_for(&self, deepest: Option<usize>, space: Option<u8>) -> Result<Option<usize>, Error> {
        let deepest = deepest.map_or(0, |depth| depth + 1);
        let asked = |memory: &Memory| space.is_none_or(|space| memory.space == space);
        let rank = |(number, memory): (usize, &Memory)| {
            let below = self.below(memory)?;
            // First at the axis itself or below, then the nearest, then the largest, then the first named.
            let order = (below < deepest, below.abs_diff(deepest), std::cmp::Reverse(memory.bytes), number);
            asked(memory).then_some(order)
        };
        let best = self.memories.iter().enumerate().filter_map(rank).min().map(|order| order.3);
        match (best, space) {
            (None, Some(space)) if !self.memories.is_empty() => {
                let known = self.memories.iter().map(|memory| format!("{} {}", memory.space, memory.name));
                let known = known.collect::<Vec<_>>().join(", ");
                Err(Error::new(format!("unknown memory space {space}; the machine has {known}")).unknown())
            }
            _ => Ok(best),
        }
    }
}

/// Takes `name:`.
fn key(cursor: &mut Cursor, name: &str, what: &str) -> Result<(), Error> {
    if !eat_word(cursor, name) {
        return Err(cursor.expected(what));
    }
    cursor.expect(":", &format!("`:` after `{name}`"))
}

/// Reads `name 491.5`, if that is next.
fn rate(cursor: &mut Cursor, name: &str) -> Result<Option<Decimal>, Error> {
    if !eat_word(cursor, name) {
        return Ok(None);
    }
    let at = cursor.at();
    let read = Decimal::read(cursor, &format!("the bytes of {name} in a unit of cost, such as `491.5`"))?;
    if read == Decimal::default() {
        return Err(Error::at(at, format!("the bytes of {name} in a unit of cost must be more than 0, found 0")));
    }
    Ok(Some(read))
}

fn eat_word(cursor: &mut Cursor, word: &str) -> bool {
    let next = cursor.peek_word() == Some(word);
    if next {
        cursor.word();
    }
    next
}

/// Takes the comma between two entries of a list.
fn comma(cursor: &mut Cursor, first: bool, what: &str) -> Result<(), Error> {
    if first { Ok(()) } else { cursor.expect(",", &format!("`,` or `)` to close the {what}")) }
}

fn check_count(cursor: &Cursor, count: usize, what: &str) -> Result<(), Error> {
    if count < Machine::MAX_ENTRIES {
        return Ok(());
    }
    Err(Error::at(cursor.at(), format!("a machine must have at most {} {what}, found more", Machine::MAX_ENTRIES))
        .too_large())
}

from_str!(Machine: Error);

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("axes: (")?;
        for (k, axis) in self.axes.iter().enumerate() {
            f.write_str(if k == 0 { "" } else { ", " })?;
            for (k, group) in axis.groups.iter().enumerate() {
                write!(f, "{}{group}", if k == 0 { "" } else { "x" })?;
            }
            write!(f, "_{}", axis.name)?;
        }
        f.write_str("), memories: (")?;
        for (k, memory) in self.memories.iter().enumerate() {
            write!(f, "{}{}: {}", if k == 0 { "" } else { ", " }, memory.name, memory.space)?;
            if let Some(axis) = &memory.axis {
                write!(f, " at {axis}")?;
            }
            write!(f, " with {} bytes", memory.bytes)?;
            for (name, rate) in [("reading", memory.reading), ("writing", memory.writing)] {
                if let Some(rate) = rate {
                    write!(f, " {name} {rate}")?;
                }
            }
        }
        write!(f, "), word: {}{}", self.word_bits, self.model)
    }
}
