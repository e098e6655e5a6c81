//! Preferences: the orders of dimensions in which a machine's kernels take and make the arrays of an operation.
//!
//! `preferences: (dot: (k&m, k&n, m&n), sort: (sorted from 128 each other) or (each other sorted))` has rows for two
//! operations. A row is one way or several, and a way has an order for each array of the operation.
//!
//! | operation | arrays | kinds of their dimensions |
//! |---|---|---|
//! | `dot` | left, right, result | `batch`, `m` of the left, `n` of the right, `k` that is summed over |
//! | `convolution` | input, kernel, result | `batch`, `feature`, `spatial`; those of the kernel are `input`, `output`, `window` |
//! | `gather` | data, indices, result | `indexed` and `offset` dimensions of the data; `batch` and `vector` of the indices |
//! | `scatter` | data, indices, updates | the same; results are as data |
//! | `sort` | all | `sorted`, `other` |
//! | `matrix` | all of Fourier transforms and solvers | none |
//!
//! An order lists what varies fastest, the fastest first:
//!
//! | entry | meaning |
//! |---|---|
//! | `k` | the dimensions of the kind, the last one first |
//! | `each other` | one dimension of the kind: a way for each of them |
//! | `k&m` | the longest dimension of each of two kinds, in the order that pads least; both orders where they pad alike |
//! | `sorted from 128` | only where there are such dimensions and each has at least 128 elements: else the way is none |
//!
//! Several arrays that share a row, as those of a sort, have the order of the first one.
//!
//! The other dimensions of the listed kinds follow, kind by kind, and then all others, the last one first. So an empty
//! order is row-major. An array without a dimension of the listed kinds is in the machine's default layout. An operation
//! without a row takes any layouts.

use crate::text::{Cursor, Error, choices, excerpt, instead};
use std::fmt;

macro_rules! words {
    ($(#[doc = $doc:literal])* $kind:ident: $($name:ident $word:literal,)*) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the module's table says what they are")]
        pub enum $kind {
            $($name,)*
        }

        impl $kind {
            /// The word of a machine's text.
            pub fn word(self) -> &'static str {
                match self {
                    $($kind::$name => $word,)*
                }
            }
        }
    };
}

words! {
    /// The kind of a dimension of an operation's array.
    DimKind:
    Batch "batch",
    M "m",
    N "n",
    K "k",
    Feature "feature",
    Spatial "spatial",
    Input "input",
    Output "output",
    Window "window",
    Indexed "indexed",
    Offset "offset",
    Vector "vector",
    Sorted "sorted",
    Other "other",
}

words! {
    /// The operations that have a row.
    PreferenceRow:
    Dot "dot",
    Convolution "convolution",
    Gather "gather",
    Scatter "scatter",
    Sort "sort",
    Matrix "matrix",
}

/// The name of the programs without an operation that has a row.
pub(super) const OTHER: &str = "other";

/// An array of an operation, and the kinds of its dimensions.
type ArrayKinds = (&'static str, &'static [DimKind]);

impl PreferenceRow {
    const ALL: [PreferenceRow; 6] = [
        PreferenceRow::Dot,
        PreferenceRow::Convolution,
        PreferenceRow::Gather,
        PreferenceRow::Scatter,
        PreferenceRow::Sort,
        PreferenceRow::Matrix,
    ];

    /// Reads an operation with preferences, or `other`.
    pub(super) fn read_or_other(cursor: &mut Cursor) -> Result<Option<PreferenceRow>, Error> {
        let all: Vec<_> = PreferenceRow::ALL.map(Some).into_iter().chain([None]).collect();
        read_word(cursor, &all, |row| row.map_or(OTHER, PreferenceRow::word), "operation")
    }

    /// The arrays that have an order, and the kinds of their dimensions.
    fn arrays(self) -> &'static [ArrayKinds] {
        use DimKind::*;
        match self {
            PreferenceRow::Dot => &[("left", &[Batch, M, K]), ("right", &[Batch, N, K]), ("result", &[Batch, M, N])],
            PreferenceRow::Convolution => &[
                ("input", &[Batch, Feature, Spatial]),
                ("kernel", &[Input, Output, Window]),
                ("result", &[Batch, Feature, Spatial]),
            ],
            PreferenceRow::Gather => {
                &[("data", &[Indexed, Offset]), ("indices", &[Batch, Vector]), ("result", &[Batch, Offset])]
            }
            PreferenceRow::Scatter => {
                &[("data", &[Indexed, Offset]), ("indices", &[Batch, Vector]), ("updates", &[Batch, Offset])]
            }
            PreferenceRow::Sort => &[("arrays", &[Sorted, Other])],
            PreferenceRow::Matrix => &[("arrays", &[])],
        }
    }
}

/// An entry of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OrderEntry {
    /// The dimensions of a kind.
    All(DimKind),
    /// One dimension of a kind.
    Each(DimKind),
    /// The longest dimension of each kind.
    Longest(DimKind, DimKind),
}

impl OrderEntry {
    /// The kinds.
    pub fn kinds(self) -> impl Iterator<Item = DimKind> {
        let (one, other) = match self {
            OrderEntry::All(kind) | OrderEntry::Each(kind) => (kind, None),
            OrderEntry::Longest(one, other) => (one, Some(other).filter(|other| *other != one)),
        };
        std::iter::once(one).chain(other)
    }
}

/// An order of the dimensions of an array: its entries, each with the least size of its dimensions.
pub type DimOrder = Vec<(OrderEntry, i64)>;

/// The rows of a machine. For each operation the ways, and for each way the order of each array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Preferences {
    rows: Vec<(PreferenceRow, Vec<Vec<DimOrder>>)>,
}

impl Preferences {
    /// The ways of an operation; none where it has no row.
    pub fn ways(&self, row: PreferenceRow) -> &[Vec<DimOrder>] {
        self.rows.iter().find(|(own, _)| *own == row).map_or(&[], |(_, ways)| ways)
    }

    /// Whether no operation has a row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Reads the rows in parentheses.
    pub(super) fn read(cursor: &mut Cursor) -> Result<Preferences, Error> {
        cursor.expect("(", "`(` to list the preferences")?;
        let mut all = Preferences::default();
        while !cursor.eat(")") {
            if !all.is_empty() {
                cursor.expect(",", "`,` or `)` to close the preferences")?;
            }
            let at = cursor.at();
            let row = read_word(cursor, &PreferenceRow::ALL, PreferenceRow::word, "operation with preferences")?;
            if all.rows.iter().any(|(own, _)| *own == row) {
                let message = format!("an operation must appear once in preferences, found a second `{}`", row.word());
                return Err(Error::at(at, message));
            }
            cursor.expect(":", &format!("`:` after `{}`", row.word()))?;
            let mut ways: Vec<Vec<DimOrder>> = Vec::new();
            loop {
                let at = cursor.at();
                let way = read_way(cursor, row)?;
                if ways.contains(&way) {
                    return Err(Error::at(at, "a way must appear once, found it a second time"));
                }
                ways.push(way);
                if cursor.peek_word() != Some("or") {
                    break;
                }
                cursor.word();
            }
            all.rows.push((row, ways));
        }
        Ok(all)
    }
}

/// Reads the orders of the arrays of an operation.
fn read_way(cursor: &mut Cursor, row: PreferenceRow) -> Result<Vec<DimOrder>, Error> {
    cursor.expect("(", "`(` to list the orders of a way")?;
    let mut orders = Vec::new();
    for (array, kinds) in row.arrays() {
        if !orders.is_empty() {
            cursor.expect(",", &format!("`,` and the order of the {array} of a {}", row.word()))?;
        }
        orders.push(read_order(cursor, row, array, kinds)?);
    }
    cursor.expect(")", &format!("`)` after the order of the last array of a {}", row.word()))?;
    Ok(orders)
}

fn read_order(cursor: &mut Cursor, row: PreferenceRow, array: &str, kinds: &[DimKind]) -> Result<DimOrder, Error> {
    let mut order = DimOrder::new();
    let mut seen: Vec<DimKind> = Vec::new();
    let what = format!("kind of dimension of the {array} of a {}", row.word());
    while let Some(word) = cursor.peek_word() {
        if kinds.is_empty() {
            let message = format!("a {} has no kinds of dimensions, found `{}`", row.word(), excerpt(word));
            return Err(Error::at(cursor.at(), message));
        }
        let is_each = word == "each";
        if is_each {
            cursor.word();
        }
        let at = cursor.at();
        let kind = read_word(cursor, kinds, DimKind::word, &what)?;
        let entry = match (is_each, cursor.eat("&")) {
            (true, true) => return Err(Error::at(at, "`each` has one kind of dimension, found two")),
            (true, false) => OrderEntry::Each(kind),
            (false, true) => OrderEntry::Longest(kind, read_word(cursor, kinds, DimKind::word, &what)?),
            (false, false) => OrderEntry::All(kind),
        };
        if let Some(twice) = entry.kinds().find(|kind| seen.contains(kind)) {
            let message =
                format!("a kind of dimension must appear once in an order, found a second `{}`", twice.word());
            return Err(Error::at(at, message));
        }
        seen.extend(entry.kinds());
        let mut least = 0;
        if cursor.peek_word() == Some("from") {
            cursor.word();
            least = cursor.integer("the least size of the dimensions")?;
        }
        order.push((entry, least));
    }
    Ok(order)
}

/// Reads one of some words.
fn read_word<T: Copy>(cursor: &mut Cursor, all: &[T], word: fn(T) -> &'static str, what: &str) -> Result<T, Error> {
    let words: Vec<&str> = all.iter().map(|one| word(*one)).collect();
    let at = cursor.at();
    let ticks: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    let expected = choices(&ticks.iter().map(String::as_str).collect::<Vec<_>>());
    let found = cursor.word().ok_or_else(|| cursor.expected(&expected))?;
    let wrong = || Error::at(at, format!("unknown {what} `{}`{}", excerpt(found), instead(found, &words))).unknown();
    all.iter().copied().find(|one| word(*one) == found).ok_or_else(wrong)
}

impl fmt::Display for OrderEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderEntry::All(kind) => f.write_str(kind.word()),
            OrderEntry::Each(kind) => write!(f, "each {}", kind.word()),
            OrderEntry::Longest(one, other) => write!(f, "{}&{}", one.word(), other.word()),
        }
    }
}

impl fmt::Display for Preferences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, (row, ways)) in self.rows.iter().enumerate() {
            write!(f, "{}{}: ", if k == 0 { "(" } else { ", " }, row.word())?;
            for (k, way) in ways.iter().enumerate() {
                f.write_str(if k == 0 { "(" } else { " or (" })?;
                for (k, order) in way.iter().enumerate() {
                    f.write_str(if k == 0 { "" } else { ", " })?;
                    for (k, (entry, least)) in order.iter().enumerate() {
                        write!(f, "{}{entry}", if k == 0 { "" } else { " " })?;
                        if *least > 0 {
                            write!(f, " from {least}")?;
                        }
                    }
                }
                f.write_str(")")?;
            }
        }
        f.write_str(if self.is_empty() { "()" } else { ")" })
    }
}
