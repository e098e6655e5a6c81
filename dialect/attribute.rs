//! The text of attributes: BODY in `#layout.BODY`.
//!
//! The body `tiled<{1,0:T(8,128)}>` is the mnemonic `tiled` and, in brackets, a text in a notation of this project. It
//! is parsed here, and an error is at the byte at fault: `tiled<{1,1}>` has one at byte 9. MLIR's own parser reads the
//! attributes that hold other attributes and no such notation: `axis` and `pending`.

use crate::indexing_map;
use ::tensor_layout::maps::Indexing;
use ::tensor_layout::places::{Machine, TensorLayout};
use ::tensor_layout::swizzled::SwizzledLayout;
use ::tensor_layout::text::{Error, instead};
use ::tensor_layout::tiled::{Layout, memory_space};

/// An attribute with a notation of its own.
pub enum Body {
    /// `tiled`.
    Tiled(Layout),
    /// `tensor_layout`.
    TensorLayout(TensorLayout),
    /// `swizzled`.
    Swizzled(SwizzledLayout),
    /// `machine`.
    Machine(Box<Machine>),
    /// `memory_space`.
    MemorySpace(i64),
    /// `indexing_map`.
    IndexingMap(Indexing),
}

/// Reads the text between the brackets of an attribute.
type Reader = fn(&str) -> Result<Body, Error>;

// `TILED`, .., and `MNEMONICS`, which the build script makes of `Layout.td`.
include!(concat!(env!("OUT_DIR"), "/attributes.rs"));

impl Body {
    /// The name of the attribute in this dialect.
    fn mnemonic(&self) -> &'static str {
        match self {
            Body::Tiled(_) => TILED,
            Body::TensorLayout(_) => TENSOR_LAYOUT,
            Body::Swizzled(_) => SWIZZLED,
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
            Body::Swizzled(layout) => layout.to_string(),
            Body::Machine(machine) => machine.to_string(),
            Body::MemorySpace(number) => memory_space::name(*number),
            Body::IndexingMap(map) => map.to_string(),
        }
    }
}

fn reader(mnemonic: &str) -> Result<Reader, Error> {
    Ok(match mnemonic {
        TILED => |text| Layout::parse(text).map(Body::Tiled),
        TENSOR_LAYOUT => |text| TensorLayout::parse(text).map(Body::TensorLayout),
        // (swizzled_c4) What is below a swizzle has whole elements in one memory.
        SWIZZLED => |text| SwizzledLayout::parse(text).map(Body::Swizzled),
        MACHINE => |text| Machine::parse(text).map(|machine| Body::Machine(Box::new(machine))),
        MEMORY_SPACE => |text| memory_space::parse(text).map(|number| Body::MemorySpace(number.into())),
        INDEXING_MAP => |text| indexing_map::parse(text).map(Body::IndexingMap),
        AXIS | PENDING => {
            return Err(Error::at(0, format!("`layout.{mnemonic}` holds attributes: only MLIR's parser reads it")));
        }
        _ => {
            let hint = instead(mnemonic, MNEMONICS);
            return Err(Error::at(0, format!("unknown attribute `layout.{mnemonic}`{hint}")));
        }
    })
}

/// Reads the text of an attribute, without its name and brackets.
pub fn parse_text(mnemonic: &str, text: &str) -> Result<Body, Error> {
    reader(mnemonic)?(text)
}

/// Checks that the text of an attribute is canonical, that is, printed by its own value.
///
/// (tiled_c5), (tensor_layout_c5), (swizzled_c6), (machine_c1)
pub fn verify_text(mnemonic: &str, text: &str) -> Result<(), String> {
    let canonical = parse_text(mnemonic, text).map_err(|error| complaint(text, &error))?.text();
    if canonical == text { Ok(()) } else { Err(format!("expected the canonical text `{canonical}`, found `{text}`")) }
}

/// The message of an error in such a text, with its byte and the text quoted.
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
    if text.starts_with('"') {
        let text = text.trim_matches('"');
        return Err(Error::at(start, format!("the text must stand without quotes: `{mnemonic}<{text}>`, found `\"`")));
    }
    reader(text).map_err(|error| Error::at(start + error.at.unwrap_or(0), error.message))
}

/// Writes the form that [`parse`] reads.
pub fn print(body: &Body) -> String {
    format!("{}<{}>", body.mnemonic(), body.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each attribute of `Layout.td` is read here or known to be read by MLIR alone.
    #[test]
    fn every_attribute_has_a_reader() {
        let unknown = |name: &&&str| reader(name).is_err_and(|error| error.message.starts_with("unknown"));
        assert_eq!(MNEMONICS.iter().filter(unknown).collect::<Vec<_>>(), Vec::<&&str>::new());
        assert!(unknown(&&"tile") && MNEMONICS.contains(&TILED));
    }
}
