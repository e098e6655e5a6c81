//! The bodies of attributes as text: what stands in `#layout.` BODY.
//!
//! `tiled<{1,0:T(8,128)}>` and `memory_space<vmem>` are read here, with errors at the byte at fault; MLIR's own
//! machinery reads and prints the others, which hold attributes and no notation of ours.

use crate::{indexing_map, memory_space, tensor_layout, tiled};
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

fn reader(mnemonic: &str) -> Result<Reader, Error> {
    Ok(match mnemonic {
        "tiled" => |text| tiled::parse(text).map(Body::Tiled),
        "tensor_layout" => |text| tensor_layout::parse(text).map(Body::TensorLayout),
        "machine" => |text| Machine::parse(text).map(Body::Machine),
        "memory_space" => |text| memory_space::parse(text).map(Body::MemorySpace),
        "indexing_map" => |text| indexing_map::parse(text).map(Body::IndexingMap),
        _ => {
            let known = ["tiled", "tensor_layout", "machine", "axis", "memory_space", "indexing_map", "pending"];
            let hint = instead(mnemonic, &known);
            return Err(Error::at(0, format!("unknown attribute `layout.{mnemonic}`{hint}")));
        }
    })
}

/// Reads the text of an attribute, without its name and brackets.
pub fn parse_text(mnemonic: &str, text: &str) -> Result<Body, Error> {
    reader(mnemonic)?(text)
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
        return Err(Error::at(name, format!("expected `<` behind `{mnemonic}`")));
    };
    let start = body.len() - text.len();
    let Some(text) = text.trim_end().strip_suffix('>') else {
        return Err(Error::at(body.len(), "expected `>` at the end of the attribute"));
    };
    reader(text).map_err(|error| Error::at(start + error.at.unwrap_or(0), error.message))
}

/// Writes what [`parse`] reads.
pub fn print(body: &Body) -> String {
    match body {
        Body::TensorLayout(layout) => format!("tensor_layout<{layout}>"),
        Body::Machine(machine) => format!("machine<{machine}>"),
        Body::Tiled(layout) => format!("tiled<{layout}>"),
        Body::IndexingMap(map) => format!("indexing_map<{map}>"),
        Body::MemorySpace(number) => format!("memory_space<{}>", memory_space::print(*number)),
    }
}
