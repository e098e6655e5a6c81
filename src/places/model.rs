//! Units, rates and costs of a machine: the part of a machine's text that a layout planner reads.
//!
//! `unit: cycle, registers: 8x128, layouts: tiles, links: (PE: 8), costs: (kernel: 70, window: 1738.5)`: costs are in
//! cycles; a register has 8 rows of 128 words; arrays are laid out in tiles of registers; a PE exchanges 8 bytes with
//! its parent in a cycle; a kernel costs 70 cycles to start, and each of its windows 1738.5. Every part is optional.
//!
//! Numbers have up to six decimals and are kept as millionths, so that arithmetic on them is exact: see [`Decimal`].
//! [`crate::targets`] computes with the costs and defines them.

use super::preferences::{OTHER, PreferenceRow, Preferences};
use crate::text::{Cursor, Error, choices, did_you_mean, excerpt, instead};
use std::fmt;

/// A non-negative number in millionths: 1.5 is 1,500,000 millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Decimal {
    /// The millionths, at least 0.
    pub millionths: i64,
}

/// The rule for the layout of an array for which none is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DefaultLayouts {
    /// Row-major, without tiles.
    #[default]
    RowMajor,
    /// The order with the least padding, in tiles of registers.
    Tiles,
}

macro_rules! costs {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// Costs of kernels, in the machine's unit. A cost that the text leaves out is 0.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub struct Costs {
            $($(#[doc = $doc])* pub $name: Decimal,)*
        }

        impl Costs {
            /// The names, in printing order.
            pub const NAMES: &[&str] = &[$(stringify!($name),)*];

            /// The cost of this name.
            pub fn get(&self, name: &str) -> Option<Decimal> {
                match name {
                    $(stringify!($name) => Some(self.$name),)*
                    _ => None,
                }
            }

            /// Sets the cost of this name, if there is one.
            pub fn set(&mut self, name: &str, value: Decimal) {
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => {}
                }
            }
        }
    };
}

costs! {
    /// Start of a kernel of loops.
    kernel,
    /// Each window of such a kernel.
    window,
    /// Bytes of operands and results in one window; 0: always one window.
    window_bytes,
    /// Bytes from which an operation that is a kernel alone has windows of `lone_window_tiles`; 0: never.
    lone_window_bytes,
    /// Tiles of such a window.
    lone_window_tiles,
    /// Each tile of a packed result that is the kernel's only result.
    packed_tile,
    /// Each tile of a packed result that is one of several, where its memory has no rate of writing.
    packed_part_tile,
    /// Each tile of the operand of a reduction.
    reduced_tile,
    /// Each tile of the result of an operation in a kernel.
    computed_tile,
    /// Each tile of the operand of a broadcast along lanes.
    spread_tile,
    /// Each tile of the result of each padding but the first.
    padded_tile,
    /// Each tile of an operand with the result's minor dimension but another order.
    reordered_tile,
    /// A copy that changes the second-minor dimension or the tiles, but not the minor dimension.
    copy,
    /// Each window of such a copy.
    copy_window,
    /// Replaces `copy` and `copy_window` where neither side is in a memory with a rate of writing and the result is not
    /// packed.
    near_copy,
    /// Each tile of such a copy.
    copy_tile,
    /// Each such tile where the second-minor dimension changes.
    sublane_tile,
    /// Each window of a copy that changes the minor dimension.
    transpose_window,
    /// Each such window and each side in a memory with a rate of writing.
    transpose_window_far,
    /// Tiles of both sides in one such window; 0: always one window.
    transpose_window_tiles,
    /// Each tile of such a copy and each side in a memory with a rate of writing.
    transpose_tile,
    /// Slowdown of a kernel, or of such a copy, that reads an array with another minor dimension. 0: kernels read
    /// arrays in one order only, and others are copied first.
    turned_reading,
    /// Each tile of a copy between memories in the same layout, beside other kernels.
    prefetch_tile,
    /// Start of a product.
    product,
    /// A product that reads an operand from a memory with a rate of writing.
    product_operands,
    /// A product whose result is in such a memory, or packed.
    product_results,
    /// Each window of a product whose result is in such a memory; one window if the result is only packed.
    product_window,
    /// Cost of moving or computing, whichever is more, in one window of a product; 0: always one window.
    product_window_size,
    /// Each tile of a product's packed result, where it is the only result.
    product_packed_tile,
    /// Each tile of the left operand and of the result of a product whose rows are several dimensions that are not in
    /// row-major order.
    product_reordered_tile,
    /// Each tile of other work in a product's kernel.
    product_computed_tile,
    /// Each pass of a register through the matrix unit.
    pass,
    /// Each such pass where elements have 8 bits or less.
    narrow_pass,
    /// Each such pass of a convolution with batches or places in the lanes of the input and features in those of the
    /// result.
    turned_pass,
    /// The least number of passes of a product for each block of weights.
    least_passes,
    /// Each tile of the result and each place of the window, where windows are combined without a matrix unit.
    windowed_tile,
    /// Each tile that a gather, a scatter or a sort reads or writes.
    scattered_tile,
    /// Start of a collective of devices.
    collective,
}

/// The places that a link of an axis joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Topology {
    /// Each place with its parent, so all with all: a place receives at the rate of its link.
    #[default]
    Switch,
    /// Neighbours in a grid whose dimensions are the groups of the axis, at the rate of a link in each direction.
    Grid,
    /// A grid whose lines also join their last place with their first.
    Torus,
}

/// The properties of a machine that a planner needs beside its places and memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Model {
    /// The unit of costs, such as `cycle`; empty if the text names none.
    pub unit: String,
    /// The rows of a register, and the words of a row.
    pub registers: Option<(i64, i64)>,
    /// The rule of default layouts.
    pub layouts: DefaultLayouts,
    /// Axes along which data moves at a rate: the bytes that one place gets from its parent, or gives to it, in a unit
    /// of cost. Movement along other axes costs nothing.
    pub links: Vec<(String, Decimal)>,
    /// Axes whose links join neighbours; all others are a [`Topology::Switch`].
    pub topologies: Vec<(String, Topology)>,
    /// Axes whose places compute at a rate: the additions and multiplications of one place in a unit of cost.
    pub work: Vec<(String, Decimal)>,
    /// The costs of kernels.
    pub costs: Costs,
    /// The layouts that kernels take and make.
    pub preferences: Preferences,
    /// How far costs are off: four of five programs with such an operation, or with none of these, cost at most so much more
    /// than planned, as a part of it. What is measured is what a plan saves beside default layouts of arguments and results.
    pub doubt: Vec<(Option<PreferenceRow>, Decimal)>,
}

/// The parts of the text, in order.
const PARTS: [&str; 8] = ["unit", "registers", "layouts", "links", "work", "costs", "preferences", "doubt"];

/// The rules of default layouts, by name.
const RULES: [(&str, DefaultLayouts); 2] = [("row_major", DefaultLayouts::RowMajor), ("tiles", DefaultLayouts::Tiles)];

/// The words for topologies that join neighbours.
const TOPOLOGIES: [(&str, Topology); 2] = [("grid", Topology::Grid), ("torus", Topology::Torus)];

/// The words of a list of rates: the list, an entry, and the quantity that is counted.
struct RateWords {
    all: &'static str,
    one: &'static str,
    what: &'static str,
}

const LINK: RateWords = RateWords { all: "links", one: "link", what: "bytes of the link" };
const WORK: RateWords = RateWords { all: "work", one: "rate of work", what: "additions and multiplications" };

impl Decimal {
    /// The most decimals.
    const PLACES: usize = 6;

    /// Reads a number such as `491.5`.
    pub(crate) fn read(cursor: &mut Cursor, what: &str) -> Result<Decimal, Error> {
        let at = cursor.at();
        let rest = cursor.rest();
        let whole = crate::text::length(rest, |b| b.is_ascii_digit());
        let digits = match rest[whole..].strip_prefix('.') {
            Some(rest) if whole > 0 => crate::text::length(rest, |b| b.is_ascii_digit()),
            _ => {
                let whole = cursor.integer(what)?;
                let millionths = whole.checked_mul(1_000_000);
                return Self::fitting(millionths, at, &rest[..rest.len().min(whole.to_string().len())]);
            }
        };
        let text = &rest[..whole + 1 + digits];
        if digits == 0 || digits > Self::PLACES {
            let message = format!("a number must have 1 to 6 decimals after its point, found {digits}");
            return Err(Error::at(at + whole + 1, message));
        }
        cursor.advance(text.len());
        let scale = 10i64.pow((Self::PLACES - digits) as u32);
        let value = format!("{}{}", &text[..whole], &text[whole + 1..]).parse::<i64>().ok();
        Self::fitting(value.and_then(|value| value.checked_mul(scale)), at, text)
    }

    fn fitting(millionths: Option<i64>, at: usize, text: &str) -> Result<Decimal, Error> {
        let wrong = || Error::at(at, format!("`{}` does not fit in 64 bits as millionths", excerpt(text))).too_large();
        millionths.map(|millionths| Decimal { millionths }).ok_or_else(wrong)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.millionths / 1_000_000, self.millionths % 1_000_000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        write!(f, "{whole}.{}", format!("{rest:06}").trim_end_matches('0'))
    }
}

impl Model {
    /// Reads the parts after the bits of a word: `, unit: cycle, ..`, each at most once and in order. `axes` are the
    /// machine's.
    pub(crate) fn read(cursor: &mut Cursor, axes: &[&str]) -> Result<Model, Error> {
        let mut model = Model::default();
        let mut next = 0;
        while cursor.eat(",") {
            let at = cursor.at();
            let Some(name) = cursor.word() else {
                return Err(cursor.expected(&choices(&PARTS.map(|part| format!("`{part}:`")).each_ref().map(|s| &**s))));
            };
            let Some(part) = PARTS.iter().position(|part| *part == name) else {
                let hint = instead(name, &PARTS);
                return Err(Error::at(at, format!("unknown part of a machine `{}`{hint}", excerpt(name))).unknown());
            };
            if part < next {
                let last = PARTS[next - 1];
                let message = match part + 1 == next {
                    true => format!("a part of a machine must appear once, found a second `{name}`"),
                    false => format!("`{name}` must come before `{last}`, found it after"),
                };
                return Err(Error::at(at, message));
            }
            next = part + 1;
            cursor.expect(":", &format!("`:` after `{name}`"))?;
            model.part(cursor, name, axes)?;
        }
        Ok(model)
    }

    fn part(&mut self, cursor: &mut Cursor, name: &str, axes: &[&str]) -> Result<(), Error> {
        let at = cursor.at();
        match name {
            "unit" => {
                let unit = cursor.word().ok_or_else(|| cursor.expected("the unit of costs, such as `cycle`"))?;
                self.unit = unit.to_string();
            }
            "registers" => {
                let rows = positive(cursor, "the rows of a register")?;
                cursor.expect("x", "`x` and the words of a row, as in `8x128`")?;
                let at = cursor.at();
                let words = positive(cursor, "the words of a row")?;
                rows.checked_mul(words)
                    .ok_or_else(|| Error::at(at, "with this the words do not fit in 64 bits").too_large())?;
                self.registers = Some((rows, words));
            }
            "layouts" => {
                let rule = cursor.word().ok_or_else(|| cursor.expected("a rule of default layouts: `row_major`"))?;
                let known = RULES.iter().find(|(known, _)| *known == rule);
                let hint = || instead(rule, &RULES.map(|(known, _)| known));
                let (_, rule) = known.ok_or_else(|| {
                    Error::at(at, format!("unknown rule of default layouts `{}`{}", excerpt(rule), hint())).unknown()
                })?;
                if *rule == DefaultLayouts::Tiles && self.registers.is_none() {
                    return Err(Error::at(at, "`tiles` are made of registers: `registers: 8x128` must come before"));
                }
                self.layouts = *rule;
            }
            "links" => self.links = self.read_rates(cursor, axes, &LINK)?,
            "work" => self.work = self.read_rates(cursor, axes, &WORK)?,
            "costs" => self.read_costs(cursor)?,
            "preferences" => self.preferences = Preferences::read(cursor)?,
            _ => self.read_doubt(cursor)?,
        }
        Ok(())
    }

    /// Reads the rates of axes, and the topologies of links.
    fn read_rates(
        &mut self,
        cursor: &mut Cursor,
        axes: &[&str],
        words: &RateWords,
    ) -> Result<Vec<(String, Decimal)>, Error> {
        let RateWords { all, one, what } = *words;
        self.need_unit(cursor, all)?;
        cursor.expect("(", &format!("`(` to list the {all}"))?;
        let mut rates: Vec<(String, Decimal)> = Vec::new();
        while !cursor.eat(")") {
            if !rates.is_empty() {
                cursor.expect(",", &format!("`,` or `)` to close the {all}"))?;
            }
            let at = cursor.at();
            let axis = cursor.word().ok_or_else(|| cursor.expected(&format!("the axis of a {one}, such as `PE`")))?;
            if !axes.contains(&axis) {
                let hint = match did_you_mean(axis, axes.iter().copied()) {
                    hint if hint.is_empty() && axes.is_empty() => "; the machine has no axes".to_string(),
                    hint if hint.is_empty() => format!("; the machine has {}", axes.join(", ")),
                    hint => hint,
                };
                return Err(Error::at(at, format!("unknown axis `{}`{hint}", excerpt(axis))).unknown());
            }
            if rates.iter().any(|(known, _)| known == axis) {
                return Err(Error::at(at, format!("a {one} must appear once, found a second `{}`", excerpt(axis))));
            }
            cursor.expect(":", &format!("`:` and the {what} in a unit of cost"))?;
            let at = cursor.at();
            let rate = Decimal::read(cursor, &format!("the {what} in a unit of cost, such as `8`"))?;
            if rate == Decimal::default() {
                return Err(Error::at(at, format!("the {what} in a unit of cost must be more than 0, found 0")));
            }
            let topology = TOPOLOGIES.iter().find(|(name, _)| cursor.peek_word() == Some(name));
            if let (true, Some((_, topology))) = (all == LINK.all, topology) {
                cursor.word();
                self.topologies.push((axis.to_string(), *topology));
            }
            rates.push((axis.to_string(), rate));
        }
        Ok(rates)
    }

    /// The topology of the links of an axis.
    pub fn topology(&self, axis: &str) -> Topology {
        self.topologies.iter().find(|(known, _)| known == axis).map_or(Topology::Switch, |(_, topology)| *topology)
    }

    fn need_unit(&self, cursor: &Cursor, what: &str) -> Result<(), Error> {
        if self.unit.is_empty() {
            return Err(Error::at(cursor.at(), format!("{what} need a unit: `unit: cycle` must come before")));
        }
        Ok(())
    }

    fn read_doubt(&mut self, cursor: &mut Cursor) -> Result<(), Error> {
        cursor.expect("(", "`(` to list the doubt")?;
        while !cursor.eat(")") {
            if !self.doubt.is_empty() {
                cursor.expect(",", "`,` or `)` to close the doubt")?;
            }
            let at = cursor.at();
            let row = PreferenceRow::read_or_other(cursor)?;
            let name = row.map_or(OTHER, PreferenceRow::word);
            if self.doubt.iter().any(|(own, _)| *own == row) {
                return Err(Error::at(at, format!("a doubt must appear once, found a second `{name}`")));
            }
            cursor.expect(":", &format!("`:` after `{name}`"))?;
            self.doubt.push((row, Decimal::read(cursor, "a part of the cost, such as `0.25`")?));
        }
        Ok(())
    }

    fn read_costs(&mut self, cursor: &mut Cursor) -> Result<(), Error> {
        self.need_unit(cursor, "costs")?;
        cursor.expect("(", "`(` to list the costs")?;
        let mut seen: Vec<&str> = Vec::new();
        while !cursor.eat(")") {
            if !seen.is_empty() {
                cursor.expect(",", "`,` or `)` to close the costs")?;
            }
            let at = cursor.at();
            let name = cursor.word().ok_or_else(|| cursor.expected("the name of a cost, such as `kernel`"))?;
            if !Costs::NAMES.contains(&name) {
                let hint = match did_you_mean(name, Costs::NAMES.iter().copied()) {
                    hint if hint.is_empty() => "; expected a cost such as `kernel` or `window`".to_string(),
                    hint => hint,
                };
                return Err(Error::at(at, format!("unknown cost `{}`{hint}", excerpt(name))).unknown());
            }
            if seen.contains(&name) {
                return Err(Error::at(at, format!("a cost must appear once, found a second `{name}`")));
            }
            seen.push(name);
            cursor.expect(":", &format!("`:` after `{name}`"))?;
            self.costs.set(name, Decimal::read(cursor, "a cost, such as `12.5`")?);
        }
        Ok(())
    }
}

/// Reads a number of at least 1.
fn positive(cursor: &mut Cursor, what: &str) -> Result<i64, Error> {
    let at = cursor.at();
    match cursor.integer(what)? {
        0 => Err(Error::at(at, format!("{what} must be at least 1, found 0"))),
        n => Ok(n),
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.unit.is_empty() {
            write!(f, ", unit: {}", self.unit)?;
        }
        if let Some((rows, words)) = self.registers {
            write!(f, ", registers: {rows}x{words}")?;
        }
        if let Some((name, _)) =
            RULES.iter().find(|(_, rule)| *rule == self.layouts && *rule != DefaultLayouts::RowMajor)
        {
            write!(f, ", layouts: {name}")?;
        }
        for (k, (axis, rate)) in self.links.iter().enumerate() {
            write!(f, "{}{axis}: {rate}", if k == 0 { ", links: (" } else { ", " })?;
            if let Some((name, _)) = TOPOLOGIES.iter().find(|(_, own)| *own == self.topology(axis)) {
                write!(f, " {name}")?;
            }
        }
        f.write_str(if self.links.is_empty() { "" } else { ")" })?;
        for (k, (axis, rate)) in self.work.iter().enumerate() {
            write!(f, "{}{axis}: {rate}", if k == 0 { ", work: (" } else { ", " })?;
        }
        f.write_str(if self.work.is_empty() { "" } else { ")" })?;
        let mut before = ", costs: (";
        for name in Costs::NAMES {
            let cost = self.costs.get(name).unwrap_or_default();
            if cost != Decimal::default() {
                write!(f, "{}{name}: {cost}", std::mem::replace(&mut before, ", "))?;
            }
        }
        f.write_str(if self.costs == Costs::default() { "" } else { ")" })?;
        if !self.preferences.is_empty() {
            write!(f, ", preferences: {}", self.preferences)?;
        }
        for (k, (row, off)) in self.doubt.iter().enumerate() {
            let name = row.map_or(OTHER, PreferenceRow::word);
            write!(f, "{}{name}: {off}", if k == 0 { ", doubt: (" } else { ", " })?;
        }
        f.write_str(if self.doubt.is_empty() { "" } else { ")" })
    }
}
