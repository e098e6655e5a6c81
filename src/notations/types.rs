//! MLIR types with a layout: their sizes, elements and memory spaces.

use crate::element::ElementType;
use crate::text::{Cursor, Error, excerpt};
use crate::tiled::layout::{Layout, too_many_dims};
use crate::tiled::memory_space;

/// Mosaic's names of memory spaces that have a number in XLA.
const TPU_SPACES: [(&str, u8); 4] = [("hbm", 0), ("vmem", 1), ("host", 5), ("any", 0)];

/// The name of an element type in MLIR. XLA's signed integers are MLIR's signless ones.
pub fn element(element: ElementType) -> String {
    let name = element.name();
    match element {
        ElementType::Pred => "i1".to_string(),
        ElementType::C64 => "complex<f32>".to_string(),
        ElementType::C128 => "complex<f64>".to_string(),
        _ if element.is_signed() => name.replace('s', "i"),
        _ if element.is_unsigned() => name.replace('u', "ui"),
        _ if name.contains('e') && name.starts_with('f') => format!("f{}", name[1..].to_uppercase()),
        _ => name.to_string(),
    }
}

/// The text of sizes and element type: `16x256xf32`.
pub(super) fn spelled(sizes: &[i64], of: ElementType) -> String {
    let sizes: String = sizes.iter().map(|size| format!("{size}x")).collect();
    sizes + &element(of)
}

/// The attribute of a memory space.
pub(super) fn layout_space(number: u8) -> String {
    format!("#layout.memory_space<{}>", memory_space::name(number))
}

/// The attribute of a memory space in Mosaic.
pub(super) fn tpu_space(number: u8) -> Result<String, Error> {
    let named = TPU_SPACES.iter().find(|(_, named)| *named == number);
    let (name, _) =
        named.ok_or_else(|| Error::new(format!("Mosaic has no name for the memory space {number}")).unsupported())?;
    Ok(format!("#tpu.memory_space<{name}>"))
}

/// Reads `16x256xf32`.
pub(super) fn read_sizes(cursor: &mut Cursor) -> Result<(Vec<i64>, ElementType), Error> {
    let mut sizes = Vec::new();
    while cursor.peek().is_some_and(|b| b.is_ascii_digit() || b == b'?') {
        if cursor.peek() == Some(b'?') {
            return Err(Error::at(cursor.at(), "the sizes must be known, found `?`").unsupported());
        }
        if sizes.len() == Layout::MAX_RANK {
            return Err(Error::at(cursor.at(), too_many_dims()).too_large());
        }
        sizes.push(cursor.integer("a size")?);
        cursor.expect("x", "`x` after a size")?;
    }
    let at = cursor.at();
    let name = cursor.word().unwrap_or_default();
    if name == "complex" {
        cursor.expect("<", "`<`")?;
        let part = cursor.word();
        cursor.expect(">", "`>`")?;
        match part {
            Some("f32") => return Ok((sizes, ElementType::C64)),
            Some("f64") => return Ok((sizes, ElementType::C128)),
            _ => return Err(Error::at(at, "expected an element type: complex<f32> or complex<f64>").syntax()),
        }
    }
    let found = ElementType::ALL.iter().find(|known| known.is_data() && element(**known) == name);
    let found =
        found.copied().or_else(|| name.strip_prefix("si").and_then(|bits| ElementType::from_name(&format!("s{bits}"))));
    let unknown =
        || Error::at(at, format!("expected a size or an element type such as f32, found `{}`", excerpt(name))).syntax();
    Ok((sizes, found.ok_or_else(unknown)?))
}

/// Reads the memory space of a memref: a number, `#layout.memory_space<vmem>` or `#tpu.memory_space<vmem>`.
pub(super) fn read_space(cursor: &mut Cursor) -> Result<u8, Error> {
    let at = cursor.at();
    if cursor.peek().is_some_and(|b| b.is_ascii_digit()) {
        let number = cursor.integer("a memory space")?;
        // MLIR may print the type of the number after it.
        if cursor.eat(":") && cursor.word().is_none() {
            return Err(cursor.expected("the type of the number"));
        }
        return memory_space::check(number).map_err(|message| Error::at(at, message));
    }
    let of_mosaic = cursor.eat("#tpu.memory_space");
    if !of_mosaic && !cursor.eat("#layout.memory_space") {
        return Err(cursor.expected("a memory space: a number, `#layout.memory_space<..>` or `#tpu.memory_space<..>`"));
    }
    cursor.expect("<", "`<`")?;
    let name_at = cursor.at();
    let name = cursor.peek_name().unwrap_or_default();
    let named = TPU_SPACES.iter().find(|(known, _)| *known == name && (of_mosaic || name != "any"));
    let number = match named {
        Some((_, number)) => {
            cursor.advance(name.len());
            *number
        }
        None if name == "device" && !of_mosaic => {
            cursor.advance(name.len());
            let number = cursor.integer("the number of a memory space")?;
            memory_space::check(number).map_err(|message| Error::at(name_at, message))?
        }
        None => {
            let message =
                format!("expected a memory space with a number in XLA: hbm, vmem or host, found `{}`", excerpt(name));
            return Err(Error::at(name_at, message));
        }
    };
    cursor.expect(">", "`>`")?;
    Ok(number)
}
