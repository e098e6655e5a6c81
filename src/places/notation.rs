//! The text of TensorLayouts, read and printed.
//!
//! Printing is canonical: strides where they are required or not 1, a prefix only with padding, the entries after `B@`
//! as given.

use crate::places::tensor_layout::{
    ADDRESS, Broadcast, Fault, Part, Spot, TensorLayout, check_axis, check_extent, prefix_length, too_many_parts,
};
use crate::text::{Cursor, Error, from_str};
use crate::tiled::layout::{Layout, list, too_many_dims};
use std::fmt;

/// The byte offsets of everything that can be at fault.
#[derive(Default)]
pub(crate) struct Offsets {
    parts: Vec<Vec<usize>>,
    broadcast: Vec<usize>,
    shape: Vec<usize>,
}

impl Offsets {
    /// An error at the byte of the part at fault.
    pub(crate) fn error(&self, (spot, error): Fault) -> Error {
        let at = match spot {
            Some(Spot::Part(dim, k)) => self.parts.get(dim).and_then(|parts| parts.get(k)),
            Some(Spot::Broadcast(k)) => self.broadcast.get(k),
            Some(Spot::Shape(k)) => self.shape.get(k),
            None => None,
        };
        Error { at: at.copied(), ..error }
    }
}

impl TensorLayout {
    /// Reads a layout, with white space between its tokens.
    ///
    /// # Errors
    /// The fault, at its byte of `text`. Colliding elements depend on the shape:
    /// [`Placement::new`](crate::places::placement::Placement::new) finds them.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::places::TensorLayout;
    /// let layout = TensorLayout::parse("(12,8)/((4_PE:1,3:8),(8:1))").unwrap();
    /// assert_eq!(layout.to_string(), "((4_PE, 3:8), (8:1))");
    /// let error = TensorLayout::parse("((4_PE, 3), (8))").unwrap_err();
    /// assert_eq!((error.at, &*error.message), (Some(8), "a part on the address must have a stride, as `3:1`, found none"));
    /// ```
    pub fn parse(text: &str) -> Result<TensorLayout, Error> {
        TensorLayout::read(text).map(|(layout, _)| layout)
    }

    pub(crate) fn read(text: &str) -> Result<(TensorLayout, Offsets), Error> {
        // Comments belong to the texts of XLA only.
        let mut cursor = Cursor::without_comments(text);
        let mut reader = LayoutReader { cursor: &mut cursor, offsets: Offsets::default(), parts: 0 };
        let mut layout = reader.layout()?;
        let offsets = reader.offsets;
        cursor.finish("the end of the layout")?;
        layout.check().map_err(|fault| offsets.error(fault))?;
        if layout.shape == layout.padded_sizes().ok() {
            layout.shape = None;
        }
        layout.tell_apart();
        Ok((layout, offsets))
    }
}

struct LayoutReader<'a, 'b> {
    cursor: &'a mut Cursor<'b>,
    offsets: Offsets,
    parts: usize,
}

/// A part as read.
struct ReadPart {
    at: usize,
    extent: i64,
    axis: Option<String>,
    stride: Option<i64>,
}

impl LayoutReader<'_, '_> {
    fn layout(&mut self) -> Result<TensorLayout, Error> {
        let mut shape = None;
        if self.cursor.eat("/") {
            // An empty prefix is none.
        } else if let Some(sizes) = self.prefix()? {
            shape = Some(sizes);
        }
        let start = *self.cursor;
        self.cursor.expect("(", "`(` to open a layout")?;
        let strided = !matches!(self.cursor.peek(), Some(b'(' | b')') | None);
        if strided && shape.is_some() {
            let message = "a prefix goes with a dimension in each inner parenthesis: `((..), (..))`";
            return Err(Error::at(start.at(), message));
        }
        let (read, broadcast) = if strided { (self.strided()?, Vec::new()) } else { self.dimensions()? };
        if let Some(sizes) = shape.as_ref().filter(|sizes| sizes.len() != read.len()) {
            return Err(Error::at(start.at(), prefix_length(read.len(), sizes.len())));
        }
        self.offsets.parts = read.iter().map(|parts| parts.iter().map(|part| part.at).collect()).collect();
        self.finish(shape, read, broadcast, strided)
    }

    /// `2:3, 3:1)`: one part on the address for each dimension.
    fn strided(&mut self) -> Result<Vec<Vec<ReadPart>>, Error> {
        let mut read: Vec<Vec<ReadPart>> = Vec::new();
        loop {
            let part = self.part()?;
            if let Some(axis) = &part.axis {
                let message = format!(
                    "a strided layout has parts on the address only: write `((.._{axis}))` with a dimension in each inner parenthesis",
                );
                return Err(Error::at(part.at, message));
            }
            read.push(vec![part]);
            self.dimension(read.len())?;
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect(")", "`,` or `)` to close the layout")?;
        Ok(read)
    }

    /// `(4_PE, 3:8), (8:1); B@[L2B])`: a list of parts for each dimension, and the copies.
    fn dimensions(&mut self) -> Result<(Vec<Vec<ReadPart>>, Vec<Broadcast>), Error> {
        if self.cursor.peek() == Some(b')') {
            return Err(self.cursor.expected("`(` to open a dimension: `()` is one of size 1"));
        }
        let mut read: Vec<Vec<ReadPart>> = Vec::new();
        loop {
            self.cursor.expect("(", "`(` to open a dimension")?;
            let mut parts = Vec::new();
            if !self.cursor.eat(")") {
                loop {
                    parts.push(self.part()?);
                    if !self.cursor.eat(",") {
                        break;
                    }
                }
                self.cursor.expect(")", "`,` or `)` to close the dimension")?;
            }
            read.push(parts);
            self.dimension(read.len())?;
            if !self.cursor.eat(",") {
                break;
            }
        }
        let mut broadcast = Vec::new();
        if self.cursor.eat(";") {
            broadcast = self.broadcast()?;
            self.cursor.expect(")", "`)` to close the layout")?;
        } else {
            self.cursor.expect(")", "`,`, `;` or `)` to close the layout")?;
        }
        Ok((read, broadcast))
    }

    fn dimension(&self, rank: usize) -> Result<(), Error> {
        if rank > Layout::MAX_RANK { Err(Error::at(self.cursor.at(), too_many_dims()).too_large()) } else { Ok(()) }
    }

    /// Reads the sizes before a `/`, if they come next.
    fn prefix(&mut self) -> Result<Option<Vec<i64>>, Error> {
        let mut ahead = *self.cursor;
        if !ahead.eat("(") || !ahead.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Ok(None);
        }
        // A number and then `:` or `_` belongs to a part; so does everything after it.
        let mut sizes = Vec::new();
        let mut offsets = Vec::new();
        loop {
            offsets.push(ahead.at());
            if !ahead.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Ok(None);
            }
            sizes.push(ahead.integer("a size")?);
            if sizes.len() > Layout::MAX_RANK {
                return Err(Error::at(ahead.at(), too_many_dims()).too_large());
            }
            if !ahead.eat(",") {
                break;
            }
        }
        if !ahead.eat(")") {
            return Ok(None);
        }
        if ahead.peek() == Some(b'(') {
            return Err(ahead.expected("`/` after the sizes"));
        }
        if !ahead.eat("/") {
            return Ok(None);
        }
        *self.cursor = ahead;
        self.offsets.shape = offsets;
        Ok(Some(sizes))
    }

    /// Counts an entry against [`TensorLayout::MAX_PARTS`].
    fn count(&mut self) -> Result<(), Error> {
        self.parts += 1;
        if self.parts > TensorLayout::MAX_PARTS {
            Err(Error::at(self.cursor.at(), too_many_parts()).too_large())
        } else {
            Ok(())
        }
    }

    fn part(&mut self) -> Result<ReadPart, Error> {
        let at = self.cursor.at();
        self.count()?;
        if self.cursor.peek() == Some(b'-') {
            return Err(Error::at(at, "an extent must be at least 1, found a negative number"));
        }
        let extent = self.cursor.integer("a part: an extent, such as in `8:1` or `4_PE`")?;
        check_extent(extent).map_err(|message| Error::at(at, message))?;
        let axis = if self.cursor.eat("_") { Some(self.axis()?) } else { None };
        let stride = self.stride()?;
        Ok(ReadPart { at, extent, axis: axis.filter(|axis| axis != ADDRESS), stride })
    }

    fn stride(&mut self) -> Result<Option<i64>, Error> {
        if !self.cursor.eat(":") {
            return Ok(None);
        }
        if self.cursor.peek() == Some(b'-') {
            return Err(Error::at(self.cursor.at(), "a stride must be at least 0, found a negative number"));
        }
        self.cursor.integer("a stride").map(Some)
    }

    /// A name; `Addr` is the address.
    fn axis(&mut self) -> Result<String, Error> {
        let at = self.cursor.at();
        let axis = self.cursor.word().ok_or_else(|| self.cursor.expected("the name of an axis"))?;
        if axis != ADDRESS {
            check_axis(axis).map_err(|message| Error::at(at, message))?;
        }
        Ok(axis.to_string())
    }

    fn broadcast(&mut self) -> Result<Vec<Broadcast>, Error> {
        self.cursor.expect("B@[", "`B@[` to list what is broadcast")?;
        let mut broadcast = Vec::new();
        loop {
            let at = self.cursor.at();
            self.offsets.broadcast.push(at);
            broadcast.push(if self.cursor.peek().is_some_and(|b| b.is_ascii_digit() || b == b'-') {
                let part = self.part()?;
                let Some(axis) = part.axis else {
                    let message = "a copy needs an axis: the local address has one of each element";
                    return Err(Error::at(at, message));
                };
                Broadcast::Part { extent: part.extent, axis, stride: part.stride }
            } else {
                self.count()?;
                let axis = self.cursor.peek_word().map(str::to_string);
                let axis = axis.ok_or_else(|| self.cursor.expected("an axis, or a part of one such as `8_L2B:1`"))?;
                check_axis(&axis).map_err(|message| Error::at(at, message))?;
                self.cursor.word();
                Broadcast::Axis(axis)
            });
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect("]", "`,` or `]` to close `B@[`")?;
        Ok(broadcast)
    }

    /// Requires the strides that may not be left out.
    fn finish(
        &self,
        shape: Option<Vec<i64>>,
        read: Vec<Vec<ReadPart>>,
        broadcast: Vec<Broadcast>,
        strided: bool,
    ) -> Result<TensorLayout, Error> {
        let written = read.iter().map(|parts| parts.iter().map(|part| part.stride.is_some()).collect::<Vec<_>>());
        let written: Vec<_> = written.collect();
        let part = |part: ReadPart| Part { extent: part.extent, axis: part.axis, stride: part.stride.unwrap_or(1) };
        let dims = read.into_iter().map(|parts| parts.into_iter().map(part).collect()).collect();
        let layout = TensorLayout { shape, dims, broadcast, strided };
        for (dim, parts) in layout.dims.iter().enumerate() {
            for (k, part) in parts.iter().enumerate() {
                let message = match &part.axis {
                    _ if written[dim][k] => continue,
                    None if part.extent == 1 => continue,
                    None => format!("a part on the address must have a stride, as `{}:1`, found none", part.extent),
                    Some(axis) if layout.times_used(axis) > 1 => needs_stride(part.extent, axis),
                    Some(_) => continue,
                };
                return Err(Error::at(self.offsets.parts[dim][k], message));
            }
        }
        for (k, broadcast) in layout.broadcast.iter().enumerate() {
            if let Broadcast::Part { extent, axis, stride: None } = broadcast
                && layout.times_used(axis) > 1
            {
                return Err(Error::at(self.offsets.broadcast[k], needs_stride(*extent, axis)));
            }
        }
        Ok(layout)
    }
}

fn needs_stride(extent: i64, axis: &str) -> String {
    format!("parts of an axis with several must each have a stride, as `{extent}_{axis}:1`, found none for `{axis}`")
}

from_str!(TensorLayout: Error);

impl fmt::Display for TensorLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(shape) = &self.shape {
            f.write_str("(")?;
            list(f, shape)?;
            f.write_str(")/")?;
        }
        let part = |f: &mut fmt::Formatter<'_>, part: &Part| match &part.axis {
            None if part.extent == 1 && part.stride == 1 => write!(f, "1"),
            None => write!(f, "{}:{}", part.extent, part.stride),
            Some(axis) if part.stride != 1 || self.times_used(axis) > 1 => {
                write!(f, "{}_{axis}:{}", part.extent, part.stride)
            }
            Some(axis) => write!(f, "{}_{axis}", part.extent),
        };
        f.write_str("(")?;
        for (dim, parts) in self.dims.iter().enumerate() {
            f.write_str(if dim == 0 { "" } else { ", " })?;
            f.write_str(if self.strided { "" } else { "(" })?;
            for (k, p) in parts.iter().enumerate() {
                f.write_str(if k == 0 { "" } else { ", " })?;
                part(f, p)?;
            }
            f.write_str(if self.strided { "" } else { ")" })?;
        }
        for (k, broadcast) in self.broadcast.iter().enumerate() {
            f.write_str(if k == 0 { "; B@[" } else { ", " })?;
            match broadcast {
                Broadcast::Axis(axis) => f.write_str(axis)?,
                Broadcast::Part { extent, axis, stride: None } => write!(f, "{extent}_{axis}")?,
                Broadcast::Part { extent, axis, stride: Some(stride) } => write!(f, "{extent}_{axis}:{stride}")?,
            }
        }
        f.write_str(if self.broadcast.is_empty() { ")" } else { "])" })
    }
}
