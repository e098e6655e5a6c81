//! Detection of the notation of a text; reading all of them, and writing a layout in another.
//!
//! Some notations have no sizes: `affine_map<..>`, `#tpu.tiled<..>`, `#iree_encoding.layout<..>`, JAX's `Layout(..)`.
//! They stand in a type, or after a shape: `f32[16,256] Layout(major_to_minor=(0, 1))`. A shape may come before any
//! other notation, too, which must then have that shape.
//!
//! Every written text is read again and compared with its source, so a notation that cannot express a layout gives an
//! error, and never another layout.

use crate::element::ElementType;
use crate::maps::domain::Interval;
use crate::maps::equal::Equality;
use crate::maps::map::IndexingMap;
use crate::notations::affine::{affine_map, of_results, read_affine_map};
use crate::notations::cute::{cute, read_cute};
use crate::notations::described::{Described, Description};
use crate::notations::lists::list;
use crate::notations::mosaic::{mosaic, read_mosaic};
use crate::notations::notation::Notation;
use crate::notations::pack::{PackedLists, iree, pack, read_iree};
use crate::notations::python::{read_jax, write_jax};
use crate::notations::shardings::{read_sharding, write_sharding};
use crate::notations::shardy::{read_shardy, write_shardy};
use crate::notations::strided::{numpy, read_attribute, read_numpy, row_major, strided};
use crate::notations::triton::{read_triton, triton};
use crate::notations::types::{read_sizes, read_space};
use crate::operations::shape::{Array, Dim, Shape};
use crate::places::placement::Placement;
use crate::places::tensor_layout::is_tensor_layout;
use crate::text::{Cursor, Error};
use crate::tiled::expansion::Expansion;
use crate::tiled::layout::Layout;

/// Reads a layout in any of the notations.
///
/// # Errors
/// The fault, at its byte of `text`; also a layout without a counterpart here, such as a stride of 0.
///
/// # Example
/// ```
/// use tensor_layout::notations::read;
/// let layout = read("((2,4),3):((1,6),2)").unwrap();
/// assert_eq!(layout.placement().unwrap().layout().to_string(), "((4:6, 2:1), (3:2))");
/// assert_eq!(read("(8,4):(1,0)").unwrap_err().at, Some(9));
/// ```
pub fn read(text: &str) -> Result<Described, Error> {
    let mut cursor = Cursor::new(text);
    let start = cursor.at();
    let shape = prefix(&mut cursor)?;
    if let Some(shape) = shape.as_ref().filter(|_| cursor.rest().is_empty()) {
        cursor.finish("the end of the shape")?;
        // An error without an offset is about the sizes.
        let sizes = || text.find('[').map(|at| at + 1);
        return of_shape(shape).map_err(|error| Error { at: error.at.or_else(sizes), ..error });
    }
    let sizes = shape.as_ref().map(sized).transpose()?;
    if let (Some(Shape::Array(array)), Some((_, sizes))) = (&shape, &sizes) {
        // The layout of the shape is that of the part on a device.
        let described = match cursor.rest() {
            rest if rest.starts_with("sharding") => Some(read_sharding(&mut cursor, array, sizes)?),
            rest if rest.starts_with("#sdy.") => Some(read_shardy(&mut cursor, array, sizes)?),
            _ => None,
        };
        if let Some(described) = described {
            cursor.finish("the end of the sharding")?;
            return Ok(described);
        }
    }
    if sizes.is_some() && text[start..cursor.at()].contains('{') {
        return Err(Error::at(
            cursor.at(),
            "a shape before a layout must have none itself; expected the end of the text",
        ));
    }
    let given = sizes.as_ref().map(|(element, sizes)| (*element, &sizes[..]));
    let at = cursor.at();
    let mut described = read_after(&mut cursor, given)?;
    cursor.finish("the end of the layout")?;
    let own = described.description.sizes();
    match given {
        Some((_, sizes)) if sizes != own => {
            Err(Error::at(at, format!("the layout is of a tensor of sizes {own:?}, found a shape of sizes {sizes:?}")))
        }
        Some((element, _)) if described.element.is_some_and(|own| own != element) => {
            Err(Error::at(at, format!("the elements are {element}, found another type in the layout")))
        }
        _ => {
            described.element = described.element.or(given.map(|(element, _)| element));
            Ok(described)
        }
    }
}

/// The shape at the beginning of a text, if there is one.
fn prefix(cursor: &mut Cursor) -> Result<Option<Shape>, Error> {
    // `f33[2]` is a shape with an unknown type.
    let bracket = cursor.peek_word().is_some_and(|word| cursor.rest()[word.len()..].trim_start().starts_with('['));
    if bracket { Shape::read(cursor, 0).map(Some) } else { Ok(None) }
}

fn sized(shape: &Shape) -> Result<(ElementType, Vec<i64>), Error> {
    let none = || Error::at(0, "expected an array with bounded sizes, found another shape");
    let (Shape::Array(array) | Shape::Buffer(array)) = shape else { return Err(none()) };
    let sizes = array.sizes().filter(|_| array.element.is_data()).ok_or_else(none)?;
    Ok((array.element, sizes))
}

fn of_shape(shape: &Shape) -> Result<Described, Error> {
    let (element, sizes) = sized(shape)?;
    let (Shape::Array(array) | Shape::Buffer(array)) = shape else {
        return Err(Error::new("a tuple has no layout").unsupported());
    };
    let layout = array.layout.clone();
    let expansion = Expansion::new(&sizes, &layout)?;
    if expansion.is_split_across_memories() {
        return Err(Error::at(0, "the layout must not be cut across memories, found `SC`").unsupported());
    }
    let memory_space = layout.memory_space;
    let described = Described::new(Description::Tiled { sizes, layout });
    Ok(Described { element: Some(element), memory_space, ..described })
}

/// The type and the sizes of the shape before a layout.
type Given<'a> = Option<(ElementType, &'a [i64])>;

/// A layout after a shape, or without one.
fn read_after(cursor: &mut Cursor, given: Given) -> Result<Described, Error> {
    let rest = cursor.rest();
    let starts = |starts: &[&str]| starts.iter().any(|start| rest.starts_with(start));
    if starts(&["memref<", "tensor<", "!ttg.memdesc<"]) {
        return read_type(cursor);
    }
    if starts(&["linalg.pack"]) {
        return read_pack(cursor);
    }
    let (element, sizes) = (given.map(|(element, _)| element), given.map(|(_, sizes)| sizes));
    let described = match () {
        () if starts(&["shape", "strides", "itemsize"]) => read_numpy(cursor, element)?,
        () if starts(&["#ttg."]) => read_triton(cursor, sizes)?,
        () if starts(&["Layout", "#", "affine_map", "strided"]) => {
            let needed = || {
                Error::at(cursor.at(), "this layout says no sizes; expected a shape before it, as `f32[16,256] ..`")
                    .unsupported()
            };
            let sizes = sizes.ok_or_else(needed)?;
            if starts(&["Layout"]) { read_jax(cursor, sizes)? } else { read_layout(cursor, sizes)? }
        }
        () => match kind_of(rest) {
            Separator::Colon => read_cute(cursor)?,
            Separator::Arrow => read_map(cursor)?,
            Separator::Other if !is_tensor_layout(rest) => return of_shape(&Shape::read(cursor, 0)?),
            Separator::Other => {
                // Offsets count from the beginning of the text.
                let at = cursor.at();
                let placement = Placement::parse(rest).map_err(|misplaced| misplaced.error);
                let placement = placement.map_err(|error| Error { at: error.at.map(|offset| offset + at), ..error })?;
                cursor.advance(rest.len());
                Description::Parts(Box::new(placement))
            }
        },
    };
    Ok(Described::new(described))
}

/// The separator that distinguishes layouts in parentheses.
enum Separator {
    /// A colon outside of all parentheses.
    Colon,
    /// An arrow outside of all parentheses.
    Arrow,
    Other,
}

fn kind_of(text: &str) -> Separator {
    let mut depth = 0i64;
    for (k, b) in text.bytes().enumerate() {
        match b {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b':' if depth == 0 => return Separator::Colon,
            b'-' if depth == 0 && text[k..].starts_with("->") => return Separator::Arrow,
            _ => {}
        }
    }
    match text.starts_with("Sw") || text.starts_with("S<") {
        true => Separator::Colon,
        false => Separator::Other,
    }
}

/// Whether a text is sizes and strides as CuTe writes them, or sizes alone.
pub(super) fn has_strides(text: &str) -> bool {
    let sizes = |b: u8| b.is_ascii_digit() || b.is_ascii_whitespace() || b"(),/_".contains(&b);
    !text.starts_with(|c: char| c.is_ascii_lowercase()) && matches!(kind_of(text), Separator::Colon)
        || text.bytes().all(sizes)
}

/// Reads an attribute of a memref or a tensor of these sizes.
fn read_layout(cursor: &mut Cursor, sizes: &[i64]) -> Result<Description, Error> {
    let start = cursor.at();
    match cursor.peek_name() {
        Some("affine_map") => {
            cursor.advance("affine_map".len());
            read_affine_map(cursor, sizes, start)
        }
        Some("strided") => {
            cursor.advance("strided".len());
            read_attribute(cursor, sizes)
        }
        _ if cursor.eat("#tpu.tiled") => read_mosaic(cursor, sizes, start),
        _ if cursor.rest().starts_with("#ttg.") => read_triton(cursor, Some(sizes)),
        _ if cursor.rest().starts_with("#iree_") => read_iree(cursor, sizes),
        _ => Err(cursor.expected("a layout: affine_map, strided, #tpu.tiled, #ttg.linear, #ttg.blocked, #ttg.shared_linear or #iree_encoding.layout")),
    }
}

/// Reads a type of MLIR with its layout.
fn read_type(cursor: &mut Cursor) -> Result<Described, Error> {
    let start = cursor.at();
    let memref = cursor.eat("memref");
    let shared = !memref && cursor.eat("!ttg.memdesc");
    if !memref && !shared {
        cursor.expect("tensor", "a type")?;
    }
    cursor.expect("<", "`<` and sizes")?;
    let (sizes, element) = read_sizes(cursor)?;
    let mut memory_space = 0;
    let mut description = None;
    if cursor.eat(",") {
        let space = cursor.peek().is_some_and(|b| b.is_ascii_digit())
            || ["#layout.memory_space", "#tpu.memory_space"].iter().any(|name| cursor.rest().starts_with(name));
        if memref && space {
            memory_space = read_space(cursor)?;
        } else {
            description = Some(read_layout(cursor, &sizes)?);
            if memref && cursor.eat(",") {
                memory_space = read_space(cursor)?;
            }
        }
    }
    if shared {
        // `#ttg.shared_memory` and `mutable` do not move elements.
        while cursor.eat(",") {
            cursor.eat("#");
            if cursor.peek_name().is_none() {
                return Err(cursor.expected("`#ttg.shared_memory` or `mutable`"));
            }
            while let Some(name) = cursor.peek_name() {
                cursor.advance(name.len());
                cursor.eat(".");
            }
        }
    }
    cursor.expect(">", "`,` or `>`")?;
    let description = match description {
        Some(description) => description,
        None => strided(&sizes, &row_major(&sizes)?, 0, start)?,
    };
    Ok(Described { element: Some(element), memory_space, ..Described::new(description) })
}

/// Reads a `linalg.pack`, with or without the values and keywords around its lists.
fn read_pack(cursor: &mut Cursor) -> Result<Described, Error> {
    let start = cursor.at();
    cursor.expect("linalg.pack", "`linalg.pack`")?;
    let mut lists = PackedLists::default();
    let value = |cursor: &mut Cursor| -> Result<(), Error> {
        cursor.expect("%", "`%` and a value")?;
        let length = cursor.rest().bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_$.-#".contains(b)).count();
        if length == 0 {
            return Err(cursor.expected("the name of a value"));
        }
        cursor.advance(length);
        Ok(())
    };
    value(cursor)?;
    loop {
        let key = cursor.at();
        let name = cursor.peek_name().unwrap_or_default();
        let field = match name {
            "outer_dims_perm" => &mut lists.outer_order,
            "inner_dims_pos" => &mut lists.inner_dims,
            "inner_tiles" => &mut lists.inner_tiles,
            "padding_value" => {
                cursor.advance(name.len());
                cursor.expect("(", "`(`")?;
                value(cursor)?;
                cursor.expect(":", "`:` and a type")?;
                read_sizes(cursor)?;
                cursor.expect(")", "`)`")?;
                continue;
            }
            "into" => break,
            _ => {
                return Err(
                    cursor.expected("`outer_dims_perm`, `inner_dims_pos`, `inner_tiles`, `padding_value` or `into`")
                );
            }
        };
        cursor.advance(name.len());
        cursor.expect("=", &format!("`=` after `{name}`"))?;
        let at = cursor.at();
        if field.replace((at, list(cursor, ["[", "]"], "a number", false)?)).is_some() {
            return Err(Error::at(key, format!("`{name}` must be given once, found it twice")));
        }
    }
    cursor.advance("into".len());
    value(cursor)?;
    cursor.expect(":", "`:` and the types")?;
    let ((sizes, element), _) = plain_tensor(cursor)?;
    cursor.expect("->", "`->` and the type of the result")?;
    let ((packed, of), at) = plain_tensor(cursor)?;
    let packing = lists.packing(sizes.len(), start)?;
    if packing.sizes(&sizes) != packed || of != element {
        let expected = packing.sizes(&sizes);
        return Err(Error::at(
            at,
            format!("the packed tensor must have the sizes {expected:?} of {element}, found {packed:?} of {of}"),
        ));
    }
    Ok(Described { element: Some(element), ..Described::new(packing.describe(&sizes, start)?) })
}

/// Reads `tensor<16x256xf32>`, and returns its byte offset, too.
fn plain_tensor(cursor: &mut Cursor) -> Result<((Vec<i64>, ElementType), usize), Error> {
    let at = cursor.at();
    cursor.expect("tensor", "`tensor<..>`")?;
    cursor.expect("<", "`<` and sizes")?;
    let read = read_sizes(cursor)?;
    cursor.expect(">", "`>`")?;
    Ok((read, at))
}

/// Reads an indexing map as a layout; its domain gives the sizes.
fn read_map(cursor: &mut Cursor) -> Result<Description, Error> {
    let at = cursor.at();
    let map = IndexingMap::parse(cursor.rest());
    let map = map.map_err(|error| Error { at: error.at.map(|offset| offset + at), ..error })?;
    cursor.advance(cursor.rest().len());
    let size = |interval: &Interval| (interval.lo == 0).then(|| interval.hi.checked_add(1)).flatten();
    let sizes: Option<Vec<i64>> = map.domain.vars.iter().map(size).collect();
    match sizes.filter(|_| map.dims == map.variables() && map.domain.constraints.is_empty()) {
        Some(sizes) => of_results(&sizes, map.results, at),
        None => {
            Err(Error::at(at, "a map that is a layout must have dimensions from 0 on, and nothing else in its domain"))
        }
    }
}

/// Writes a layout in a notation. The element type is `element` if the layout has none.
///
/// # Errors
/// The reason why the notation cannot express it.
///
/// # Example
/// ```
/// use tensor_layout::element::ElementType;
/// use tensor_layout::notations::{Notation, read, write};
/// let to = |text, notation| write(&read(text).unwrap(), notation, ElementType::F32);
/// let text = to("f32[16,256]{1,0:T(8,128)}", Notation::Mosaic).unwrap();
/// assert_eq!(text, "memref<16x256xf32, #tpu.tiled<(8,128),[2,1]>>");
/// let why = to("f32[3,5]{1,0:T(2,2)}", Notation::Cute).unwrap_err();
/// assert_eq!(why.message, "CuTe has no padding: the size of dimension 0 must be a multiple of 2, found 3");
/// ```
pub fn write(described: &Described, notation: Notation, element: ElementType) -> Result<String, Error> {
    let element = described.element.unwrap_or(element);
    let numbered = if notation == Notation::Sharding { Some(described.on_devices()?) } else { None };
    let described = numbered.as_ref().unwrap_or(described);
    if notation != Notation::Tiled {
        sayable(described, notation, element)?;
    }
    let text = match notation {
        Notation::Tiled => tiled(described, element)?,
        Notation::TensorLayout => described.placement()?.layout().to_string(),
        Notation::AffineMap => affine_map(described, element)?,
        Notation::Cute => cute(described)?,
        Notation::Triton => triton(described, element)?,
        Notation::Mosaic => mosaic(described, element)?,
        Notation::Iree => iree(described, element)?,
        Notation::Pack => pack(described, element)?,
        Notation::Numpy => numpy(described, element)?,
        Notation::Jax => write_jax(described, element)?,
        Notation::Sharding => write_sharding(described, element)?,
        Notation::Shardy => write_shardy(described, element)?,
    };
    let again = match notation {
        Notation::Jax => format!("{} {text}", bare(described.description.sizes(), element)),
        _ => text.clone(),
    };
    let unlike = |why: String| Error::new(format!("`{}` cannot say this layout: {why}", notation.name())).unsupported();
    let again = read(&again).map_err(|error| unlike(error.message))?;
    match again.meaning()?.compare(&described.meaning()?) {
        Equality::Equal => Ok(text),
        Equality::Different { reason, .. } | Equality::Unknown { reason } => Err(unlike(reason)),
    }
}

/// Refuses attributes that only XLA's layouts have.
fn sayable(described: &Described, notation: Notation, element: ElementType) -> Result<(), Error> {
    let name = notation.name();
    if described.memory_space != 0
        && !matches!(
            notation,
            Notation::Mosaic | Notation::AffineMap | Notation::Jax | Notation::Sharding | Notation::Shardy
        )
    {
        return Err(
            Error::new(format!("`{name}` has no memory space, found `S({})`", described.memory_space)).unsupported()
        );
    }
    let Description::Tiled { layout, .. } = &described.description else { return Ok(()) };
    let bits = element.bytes().map_or(0, |bytes| bytes * 8);
    let found = match layout {
        Layout { metadata_prefix: 1.., .. } => "a metadata prefix (`M`)",
        Layout { index_type: Some(_), .. } | Layout { pointer_type: Some(_), .. } => "types of indices and pointers",
        Layout { element_bits, .. } if *element_bits != 0 && *element_bits != bits && notation != Notation::Jax => {
            "elements of another size than their type's (`E`)"
        }
        _ => return Ok(()),
    };
    Err(Error::new(format!("`{name}` has no word for {found}")).unsupported())
}

/// `f32[16,256]`.
fn bare(sizes: &[i64], element: ElementType) -> String {
    let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
    format!("{element}[{}]", sizes.join(","))
}

fn tiled(described: &Described, element: ElementType) -> Result<String, Error> {
    let dims = described.description.sizes().iter().map(|size| Dim::Exact(*size)).collect();
    Ok(Shape::Array(Array { element, dims, layout: described.tiled()? }).to_string())
}
