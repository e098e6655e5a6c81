//! The text of attributes: BODY in `#layout.BODY`.
//!
//! The body `tiled<{1,0:T(8,128)}>` is the mnemonic `tiled` and, in brackets, a text in a notation of this project. It is
//! parsed here, and an error is at the byte at fault: `tiled<{1,1}>` has one at byte 9. MLIR's own parser reads the
//! attributes that hold other attributes and no such notation: `axis` and `pending`.

use crate::{indexing_map, memory_space};
use ::tensor_layout::maps::Indexing;
use ::tensor_layout::places::{Machine, TensorLayout};
use ::tensor_layout::text::{Error, instead};
use ::tensor_layout::tiled::Layout;

/// An attribute with a notation of its own.
pub enum Body {
    /// `tiled`.
    Tiled(Layout),
    /// `tensor_layout`.
    TensorLayout(TensorLayout),
    /// `machine`.
    Machine(Machine),
    /// `memory_space`.
    MemorySpace(i64),
    /// `indexing_map`.
    IndexingMap(Indexing),
}

/// Reads the text between the brackets of an attribute.
type Reader = fn(&str) -> Result<Body, Error>;

/// The attributes in `Layout.td`, each with the reader of its body; MLIR's own parser reads those without one.
const ATTRIBUTES: [(&str, Option<Reader>); 7] = [
    (TILED, Some(|text| Layout::parse(text).map(Body::Tiled))),
    (TENSOR_LAYOUT, Some(|text| TensorLayout::parse(text).map(Body::TensorLayout))),
    (MACHINE, Some(|text| Machine::parse(text).map(Body::Machine))),
    ("axis", None),
    (MEMORY_SPACE, Some(|text| memory_space::parse(text).map(Body::MemorySpace))),
    ("pending", None),
    (INDEXING_MAP, Some(|text| indexing_map::parse(text).map(Body::IndexingMap))),
];

/// `#layout.tiled`
pub const TILED: &str = "tiled";
/// `#layout.tensor_layout`
pub const TENSOR_LAYOUT: &str = "tensor_layout";
/// `#layout.machine`
pub const MACHINE: &str = "machine";
/// `#layout.memory_space`
pub const MEMORY_SPACE: &str = "memory_space";
/// `#layout.indexing_map`
pub const INDEXING_MAP: &str = "indexing_map";

impl Body {
    /// The name of the attribute in this dialect.
    fn mnemonic(&self) -> &'static str {
        match self {
            Body::Tiled(_) => TILED,
            Body::TensorLayout(_) => TENSOR_LAYOUT,
            Body::Machine(_) => MACHINE,
            Body::MemorySpace(_) => MEMORY_SPACE,
            Body::IndexingMap(_) => INDEXING_MAP,
        }
    }

    /// The text between the brackets.
    pub fn text(&self) -> String {
        match self {
            Body::Tiled(layout) => layout.to_string(),
            Body::TensorLayout(layout) => layout.to_string(),
            Body::Machine(machine) => machine.to_string(),
            Body::MemorySpace(number) => memory_space::print(*number),
            Body::IndexingMap(map) => map.to_string(),
        }
    }
}

fn reader(mnemonic: &str) -> Result<Reader, Error> {
    let found = ATTRIBUTES.iter().find(|(name, _)| *name == mnemonic).and_then(|(_, reader)| *reader);
    found.ok_or_else(|| {
        let hint = instead(mnemonic, &ATTRIBUTES.map(|(name, _)| name));
        Error::at(0, format!("unknown attribute `layout.{mnemonic}`{hint}"))
    })
}

/// Reads the text of an attribute, without its name and brackets.
pub fn parse_text(mnemonic: &str, text: &str) -> Result<Body, Error> {
    reader(mnemonic)?(text)
}

/// Checks that the text of an attribute is canonical: that it is what its value prints.
///
/// (tiled_c5), (tensor_layout_c5), (machine_c1)
pub fn verify_text(mnemonic: &str, text: &str) -> Result<(), String> {
    let canonical = parse_text(mnemonic, text).map_err(|error| complaint(text, &error))?.text();
    if canonical == text { Ok(()) } else { Err(format!("expected the canonical text `{canonical}`, found `{text}`")) }
}

/// An error in such a text, for where the text is not at hand.
pub fn complaint(text: &str, error: &Error) -> String {
    match error.at {
        Some(at) => format!("{} at byte {at} of `{text}`", error.message),
        None => error.message.clone(),
    }
}

/// Reads `mnemonic<text>`.
pub fn parse(body: &str) -> Result<Body, Error> {
    let name = body.find(|c: char| !c.is_alphanumeric() && !"_$.".contains(c)).unwrap_or(body.len());
    let (mnemonic, rest) = body.split_at(name);
    let reader = reader(mnemonic)?;
    let Some(text) = rest.trim_start().strip_prefix('<') else {
        let found = rest.trim_start().chars().next().map_or("the end of the attribute".into(), |c| format!("`{c}`"));
        return Err(Error::at(name, format!("expected `<` after `{mnemonic}`, found {found}")));
    };
    let start = body.len() - text.len();
    let Some(text) = text.trim_end().strip_suffix('>') else {
        return Err(Error::at(body.len(), "expected `>` to end the attribute"));
    };
    reader(text).map_err(|error| Error::at(start + error.at.unwrap_or(0), error.message))
}

/// Writes what [`parse`] reads.
pub fn print(body: &Body) -> String {
    format!("{}<{}>", body.mnemonic(), body.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names are those of `Layout.td`, in its order.
    #[test]
    fn attributes_are_those_of_the_description() {
        let described = include_str!("Layout.td").split("Layout_Attr<\"").skip(1);
        let names = described.map(|text| text.split('"').nth(2).expect("a mnemonic follows the name"));
        assert_eq!(names.collect::<Vec<_>>(), ATTRIBUTES.map(|(name, _)| name));
    }
}
