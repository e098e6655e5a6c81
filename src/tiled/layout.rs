//! Tiled layouts: the order of dimensions in memory, and their tiles.
//!
//! `{1,0:T(8,128)(2,1)}`: dimension 1 varies fastest; the array is stored as tiles of 8 rows and 128 columns, and each
//! of these as tiles of 2 rows and 1 column. [`crate::tiled::expansion`] does the arithmetic.
//!
//! [`Layout::parse`] reads the text and [`Display`](fmt::Display) writes it, each attribute left out at its default;
//! parsing what was printed gives the layout back. Limits: [`Layout::MAX_RANK`], [`Layout::MAX_TILE_ENTRIES`].

use crate::element::ElementType;
use crate::limits;
use crate::text::{Cursor, Error, counted, did_you_mean, excerpt, from_str, instead};
use crate::tiled::memory_space;
use std::fmt;

/// One entry of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileEntry {
    /// The tile's size along the dimension, at least 1.
    Size(i64),
    /// `*`: the dimension is merged into the next more-minor one before tiling. Never the last entry.
    Combine,
}

/// A tile, major entry first; the last entry is for the most minor dimension. Never empty.
pub type Tile = Vec<TileEntry>;

/// The cuts of one physical dimension across memories.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SplitConfig {
    /// The physical dimension; 0 is the majormost.
    pub dim: usize,
    /// The first index of each piece except the first, strictly increasing, above 0 and below the size.
    pub split_indices: Vec<i64>,
}

/// The layout of an array, as XLA writes it after the shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The logical dimensions, fastest varying in memory first: a permutation of `0..rank`.
    pub minor_to_major: Vec<usize>,
    /// `T`: the tiles, first applied first.
    pub tiles: Vec<Tile>,
    /// `L`: the tiled element count is rounded up to a multiple of this; default 1.
    pub tail_alignment: i64,
    /// `#`: the unsigned integer type of the indices of a sparse array.
    pub index_type: Option<ElementType>,
    /// `*`: the unsigned integer type of the pointers of a sparse array.
    pub pointer_type: Option<ElementType>,
    /// `E`: the bits of an element; 0, the default, means whole bytes of the type.
    pub element_bits: i64,
    /// `S`: the memory space, 0 to 127; 0 is the device's main memory.
    pub memory_space: u8,
    /// `SC`: cuts across memories, at most one entry for each dimension.
    pub splits: Vec<SplitConfig>,
    /// `M`: bytes of dynamic metadata before the data; default 0. Carried, not interpreted.
    pub metadata_prefix: i64,
}

/// The attributes in the order of the text. `D` is in older texts, and is not printed.
const ATTRIBUTES: [&str; 9] = ["D", "T", "L", "#", "*", "E", "S", "SC", "M"];

impl Layout {
    /// The most dimensions of a shape or layout.
    pub const MAX_RANK: usize = limits::RANK;
    /// The most entries of all tiles of a layout together.
    pub const MAX_TILE_ENTRIES: usize = limits::TILE_ENTRIES;

    /// Reads a layout, braces included: `{1,0:T(8,128)}`. Its rank is the number of dimensions it lists, so `{}` is
    /// the layout of a scalar.
    ///
    /// # Errors
    /// The fault, at its byte of `text`.
    pub fn parse(text: &str) -> Result<Layout, Error> {
        let mut cursor = Cursor::new(text);
        let layout = Layout::read(&mut cursor, None)?;
        cursor.finish("the end of the layout")?;
        Ok(layout)
    }

    /// The layout with this order of dimensions, fastest varying first, and these tiles, first applied first. All other
    /// fields have their defaults and may be set.
    ///
    /// # Errors
    /// An order that is no permutation of `0..rank`, a tile that is empty or ends with `*`, and a size below 1.
    ///
    /// ```
    /// use tensor_layout::tiled::{Layout, TileEntry::Size};
    /// let tiles = vec![vec![Size(8), Size(128)], vec![Size(2), Size(1)]];
    /// let layout = Layout { memory_space: 1, ..Layout::new(vec![1, 0], tiles).unwrap() };
    /// assert_eq!(layout.to_string(), "{1,0:T(8,128)(2,1)S(1)}");
    /// ```
    pub fn new(minor_to_major: Vec<usize>, tiles: Vec<Tile>) -> Result<Layout, Error> {
        let layout = Layout { minor_to_major, tiles, ..Layout::row_major(0) };
        layout.check(&vec![1; layout.rank()])?;
        Ok(layout)
    }

    /// The default layout, major to minor without tiles: `{rank-1,..,0}`.
    pub fn row_major(rank: usize) -> Layout {
        Layout {
            minor_to_major: (0..rank).rev().collect(),
            tiles: Vec::new(),
            tail_alignment: 1,
            index_type: None,
            pointer_type: None,
            element_bits: 0,
            memory_space: 0,
            splits: Vec::new(),
            metadata_prefix: 0,
        }
    }

    /// The number of logical dimensions.
    pub fn rank(&self) -> usize {
        self.minor_to_major.len()
    }

    /// Whether the layout has tiles.
    pub fn is_tiled(&self) -> bool {
        !self.tiles.is_empty()
    }

    /// The logical dimensions in memory order, majormost first.
    pub fn major_to_minor(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.minor_to_major.iter().rev().copied()
    }

    /// Checks the fields for an array of these logical sizes: the guard for layouts that were not parsed.
    pub(crate) fn check(&self, sizes: &[i64]) -> Result<(), Error> {
        check_order(&self.minor_to_major, sizes.len()).map_err(|(_, message)| Error::new(message))?;
        if self.tiles.iter().map(Vec::len).sum::<usize>() > Self::MAX_TILE_ENTRIES {
            return Err(Error::new(too_many_entries()).too_large());
        }
        for tile in &self.tiles {
            for entry in tile {
                if let TileEntry::Size(size) = entry {
                    check_tile_size(*size).map_err(Error::new)?;
                }
            }
            if !matches!(tile.last(), Some(TileEntry::Size(_))) {
                return Err(Error::new(last_entry()));
            }
        }
        check_tail(self.tail_alignment).map_err(Error::new)?;
        if self.element_bits < 0 {
            return Err(Error::new(format!("the bits of an element must be at least 0, found {}", self.element_bits)));
        }
        for (i, split) in self.splits.iter().enumerate() {
            check_split(&self.splits[..i], split.dim as u64, sizes.len()).map_err(Error::new)?;
            let size = sizes[self.minor_to_major[sizes.len() - 1 - split.dim]];
            let mut previous = 0;
            for &cut in &split.split_indices {
                check_cut(previous, cut, Some(size)).map_err(Error::new)?;
                previous = cut;
            }
        }
        Ok(())
    }

    /// Reads a layout; `sizes` are the logical sizes of the shape before it, if any, with `None` for unknown ones.
    pub(crate) fn read(cursor: &mut Cursor, sizes: Option<&[Option<i64>]>) -> Result<Layout, Error> {
        cursor.expect("{", "`{` to open a layout")?;
        let mut order = Vec::new();
        let mut offsets = Vec::new();
        if cursor.peek().is_some_and(|b| b.is_ascii_digit()) {
            loop {
                if order.len() == Self::MAX_RANK {
                    return Err(Error::at(cursor.at(), too_many_dims()).too_large());
                }
                offsets.push(cursor.at());
                order.push(cursor.integer("a dimension number")? as usize);
                if !cursor.eat(",") {
                    break;
                }
            }
        }
        offsets.push(cursor.at());
        if !matches!(cursor.peek(), Some(b':' | b'}')) {
            let before = if order.is_empty() { "a dimension number" } else { "`,`" };
            return Err(cursor.expected(&format!("{before}, `:` or `}}`")));
        }
        check_order(&order, sizes.map_or(order.len(), <[_]>::len))
            .map_err(|(entry, message)| Error::at(offsets[entry], message))?;
        let mut layout = Layout { minor_to_major: order, ..Layout::row_major(0) };
        if cursor.eat(":") {
            layout.read_attributes(cursor, sizes)?;
        } else if sizes.is_some_and(<[_]>::is_empty) {
            return Err(Error::at(cursor.at(), "expected no layout after a scalar, found `{}`"));
        }
        cursor.expect("}", "`}` to close the layout")?;
        Ok(layout)
    }

    fn read_attributes(&mut self, cursor: &mut Cursor, sizes: Option<&[Option<i64>]>) -> Result<(), Error> {
        let mut seen = [false; ATTRIBUTES.len()];
        while !matches!(cursor.peek(), Some(b'}') | None) {
            let at = cursor.at();
            let name = match cursor.peek_word() {
                Some(word) => word,
                None if cursor.peek() == Some(b'#') => "#",
                None if cursor.peek() == Some(b'*') => "*",
                None => return Err(cursor.expected("an attribute or `}`")),
            };
            let Some(position) = ATTRIBUTES.iter().position(|a| *a == name) else {
                let hint = instead(name, &ATTRIBUTES[1..]);
                return Err(Error::at(at, format!("unknown attribute `{}`{hint}", excerpt(name))).unknown());
            };
            if seen[position] {
                return Err(Error::at(at, format!("an attribute must appear once, found a second `{name}`")));
            }
            if let Some(later) = seen.iter().skip(position).position(|s| *s) {
                let later = ATTRIBUTES[position + later];
                return Err(Error::at(at, format!("`{name}` must come before `{later}`, found it after")));
            }
            seen[position] = true;
            cursor.eat(name);
            if cursor.peek() != Some(b'(') {
                return Err(cursor.expected(&format!("`(` after `{name}`")));
            }
            match name {
                "D" => self.read_levels(cursor)?,
                "T" => self.read_tiles(cursor)?,
                "L" => {
                    let (n, n_at) = in_parentheses(cursor, name, |c| value(c, "the tail alignment in elements"))?;
                    check_tail(n).map_err(|m| Error::at(n_at, m))?;
                    self.tail_alignment = n;
                }
                "#" => self.index_type = Some(in_parentheses(cursor, name, unsigned)?),
                "*" => self.pointer_type = Some(in_parentheses(cursor, name, unsigned)?),
                "E" => self.element_bits = in_parentheses(cursor, name, |c| value(c, "an element's size in bits"))?.0,
                "S" => {
                    let (n, n_at) = in_parentheses(cursor, name, |c| value(c, "the number of a memory space"))?;
                    self.memory_space = memory_space::check(n).map_err(|m| Error::at(n_at, m))?;
                }
                "SC" => self.read_splits(cursor, sizes)?,
                _ => self.metadata_prefix = in_parentheses(cursor, name, |c| value(c, "a number of bytes"))?.0,
            }
        }
        Ok(())
    }

    /// `(D,D)`: the levels of older texts. Only dense ones have a meaning here, and it is the default.
    fn read_levels(&mut self, cursor: &mut Cursor) -> Result<(), Error> {
        in_parentheses(cursor, "D", |cursor| {
            for dim in 0.. {
                if dim == self.rank() {
                    let rank_text = dimensions(self.rank());
                    return Err(Error::at(
                        cursor.at(),
                        format!("`D` must have one level for each of the {rank_text}, found more"),
                    ));
                }
                let at = cursor.at();
                let level = cursor.word().ok_or_else(|| cursor.expected("a level, `D`"))?;
                if level != "D" || cursor.eat("+") || cursor.eat("~") {
                    let message = format!("a level must be dense (`D`), found another one for dimension {dim}");
                    return Err(Error::at(at, message));
                }
                if !cursor.eat(",") {
                    if dim + 1 < self.rank() {
                        let rank_text = dimensions(self.rank());
                        let message = format!(
                            "`D` must have one level for each of the {rank_text}, found {}",
                            counted(dim + 1, "level")
                        );
                        return Err(if cursor.peek() == Some(b')') {
                            Error::at(cursor.at(), message)
                        } else {
                            cursor.expected("`,` or `)` to close `D(`")
                        });
                    }
                    break;
                }
            }
            Ok(())
        })
    }

    fn read_tiles(&mut self, cursor: &mut Cursor) -> Result<(), Error> {
        let mut entries = 0;
        while cursor.peek() == Some(b'(') {
            let tile = in_parentheses(cursor, "T", |cursor| {
                let mut tile = Tile::new();
                loop {
                    let at = cursor.at();
                    entries += 1;
                    if entries > Self::MAX_TILE_ENTRIES {
                        return Err(Error::at(at, too_many_entries()).too_large());
                    }
                    if cursor.eat("*") {
                        tile.push(TileEntry::Combine);
                    } else {
                        let size = tile_size(cursor)?;
                        check_tile_size(size).map_err(|m| Error::at(at, m))?;
                        tile.push(TileEntry::Size(size));
                    }
                    if cursor.eat(",") {
                        continue;
                    }
                    if cursor.peek() == Some(b')') && tile.last() == Some(&TileEntry::Combine) {
                        return Err(Error::at(at, last_entry()));
                    }
                    return Ok(tile);
                }
            })?;
            self.tiles.push(tile);
        }
        Ok(())
    }

    fn read_splits(&mut self, cursor: &mut Cursor, sizes: Option<&[Option<i64>]>) -> Result<(), Error> {
        while cursor.peek() == Some(b'(') {
            let split = in_parentheses(cursor, "SC", |cursor| {
                let (dim, at) = value(cursor, "a physical dimension")?;
                check_split(&self.splits, dim as u64, self.rank()).map_err(|m| Error::at(at, m))?;
                let dim = dim as usize;
                cursor.expect(":", "`:` between a dimension and its cuts")?;
                let size = sizes.and_then(|sizes| sizes[self.minor_to_major[self.rank() - 1 - dim]]);
                let mut split_indices = Vec::new();
                loop {
                    let (cut, at) = value(cursor, "an index to cut at")?;
                    check_cut(split_indices.last().copied().unwrap_or(0), cut, size).map_err(|m| Error::at(at, m))?;
                    split_indices.push(cut);
                    if !cursor.eat(",") {
                        return Ok(SplitConfig { dim, split_indices });
                    }
                }
            })?;
            self.splits.push(split);
        }
        Ok(())
    }
}

/// Reads `( .. )` with `inner` between.
fn in_parentheses<T>(
    cursor: &mut Cursor,
    name: &str,
    inner: impl FnOnce(&mut Cursor) -> Result<T, Error>,
) -> Result<T, Error> {
    cursor.expect("(", &format!("`(` after `{name}`"))?;
    let value = inner(cursor)?;
    let more = if matches!(name, "D" | "T" | "SC") { "`,` or " } else { "" };
    cursor.expect(")", &format!("{more}`)` to close `{name}(`"))?;
    Ok(value)
}

/// A number and its position.
fn value(cursor: &mut Cursor, what: &str) -> Result<(i64, usize), Error> {
    let at = cursor.at();
    Ok((cursor.integer(what)?, at))
}

fn unsigned(cursor: &mut Cursor) -> Result<ElementType, Error> {
    let at = cursor.at();
    let name = cursor.word().ok_or_else(|| cursor.expected("an unsigned integer type"))?;
    ElementType::from_name(name).filter(|t| t.is_unsigned()).ok_or_else(|| {
        let types = ElementType::ALL.iter().filter(|t| t.is_unsigned());
        let hint = did_you_mean(name, types.map(|t| t.name()));
        Error::at(at, format!("expected an unsigned integer type, found `{}`{hint}", excerpt(name))).syntax()
    })
}

/// A tile's size; a sign is read only so that the message quotes the whole number.
fn tile_size(cursor: &mut Cursor) -> Result<i64, Error> {
    if cursor.peek() == Some(b'-') {
        let minus = cursor.expected("a tile size or `*`");
        cursor.eat("-");
        return cursor.integer("").map_or(Err(minus), |n| Ok(-n));
    }
    cursor.integer("a tile size or `*`")
}

// Conditions and their messages. Checked by the parser, which adds the position, and by `Layout::check`.

/// An error has the number of the entry at fault; `order.len()` if one is missing.
fn check_order(order: &[usize], rank: usize) -> Result<(), (usize, String)> {
    if rank > Layout::MAX_RANK {
        return Err((order.len(), too_many_dims()));
    }
    if order.len() != rank {
        let message = format!("minor_to_major must list {}, found {}", dimensions(rank), counted(order.len(), "entry"));
        return Err((order.len().min(rank), message));
    }
    let mut seen = vec![false; rank];
    for (entry, &dim) in order.iter().enumerate() {
        match seen.get_mut(dim) {
            None => {
                let last = rank - 1;
                return Err((entry, format!("a dimension in minor_to_major must be in 0 to {last}, found {dim}")));
            }
            Some(true) => {
                return Err((entry, format!("minor_to_major must list each dimension once, found {dim} twice")));
            }
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}

fn check_tile_size(size: i64) -> Result<(), String> {
    if size > 0 { Ok(()) } else { Err(format!("a tile size must be at least 1, found {size}")) }
}

fn check_tail(n: i64) -> Result<(), String> {
    if n > 0 { Ok(()) } else { Err(format!("the tail alignment must be at least 1, found {n}")) }
}

fn check_split(before: &[SplitConfig], dim: u64, rank: usize) -> Result<(), String> {
    if dim >= rank as u64 {
        Err(format!("a physical dimension must be less than the rank, {rank}, found {dim}"))
    } else if before.iter().any(|s| s.dim as u64 == dim) {
        Err(format!("each physical dimension must have one list of cuts, found a second one for {dim}"))
    } else {
        Ok(())
    }
}

fn check_cut(previous: i64, cut: i64, size: Option<i64>) -> Result<(), String> {
    if cut <= previous {
        Err(format!("a cut must be greater than the one before it, {previous}, found {cut}"))
    } else if let Some(size) = size.filter(|size| cut >= *size) {
        Err(format!("a cut must be less than the size of the dimension, {size}, found {cut}"))
    } else {
        Ok(())
    }
}

fn last_entry() -> String {
    "the last entry of a tile must be a size, found `*`: there is no more-minor dimension to merge into".to_string()
}

fn too_many_entries() -> String {
    format!("the tiles of a layout must have at most {} entries together, found more", Layout::MAX_TILE_ENTRIES)
}

/// The message for a rank over the limit.
pub(crate) fn too_many_dims() -> String {
    format!("a shape must have at most {} dimensions, found more", Layout::MAX_RANK)
}

/// `1 dimension`, `2 dimensions`.
pub(crate) fn dimensions(n: usize) -> String {
    counted(n, "dimension")
}

from_str!(Layout: Error);

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        list(f, &self.minor_to_major)?;
        // A colon precedes the first attribute; without attributes there is none.
        let mut colon = ":";
        let mut attribute = |f: &mut fmt::Formatter<'_>, name: &str| write!(f, "{}{name}", std::mem::take(&mut colon));
        for (i, tile) in self.tiles.iter().enumerate() {
            attribute(f, if i == 0 { "T" } else { "" })?;
            f.write_str("(")?;
            list(f, tile)?;
            f.write_str(")")?;
        }
        if self.tail_alignment != 1 {
            attribute(f, "L")?;
            write!(f, "({})", self.tail_alignment)?;
        }
        if let Some(t) = self.index_type {
            attribute(f, "#")?;
            write!(f, "({t})")?;
        }
        if let Some(t) = self.pointer_type {
            attribute(f, "*")?;
            write!(f, "({t})")?;
        }
        if self.element_bits != 0 {
            attribute(f, "E")?;
            write!(f, "({})", self.element_bits)?;
        }
        if self.memory_space != 0 {
            attribute(f, "S")?;
            write!(f, "({})", self.memory_space)?;
        }
        for (i, split) in self.splits.iter().enumerate() {
            attribute(f, if i == 0 { "SC" } else { "" })?;
            write!(f, "({}:", split.dim)?;
            list(f, &split.split_indices)?;
            f.write_str(")")?;
        }
        if self.metadata_prefix != 0 {
            attribute(f, "M")?;
            write!(f, "({})", self.metadata_prefix)?;
        }
        f.write_str("}")
    }
}

impl fmt::Display for TileEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileEntry::Size(size) => write!(f, "{size}"),
            TileEntry::Combine => f.write_str("*"),
        }
    }
}

/// Writes items with commas between.
pub(crate) fn list(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i != 0 {
            f.write_str(",")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}
