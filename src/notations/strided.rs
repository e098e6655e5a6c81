//! One stride for each dimension: NumPy's `shape=(2, 3), strides=(12, 4), itemsize=4`, in bytes, and MLIR's
//! `strided<[3, 1], offset: 0>`, in elements.
//!
//! Element `(i, j)` of `strided<[3, 1], offset: o>` is at `o + i * 3 + j`. Two elements must not share a place, so a
//! stride of 0 is refused, and a negative one as well: no layout here counts backwards.

use crate::conversion::meaning::Meaning;
use crate::conversion::{on_the_address, reached};
use crate::element::ElementType;
use crate::expr::Expr;
use crate::maps::map::IndexingMap;
use crate::notations::described::{Described, Description};
use crate::notations::lists::{ReadNumber, at_least, list, text, values};
use crate::places::tensor_layout::Part;
use crate::text::{Cursor, Error};

/// The layout with one stride for each dimension and the first element at `offset`. `at` is the byte of the strides.
pub(super) fn strided(sizes: &[i64], strides: &[i64], offset: i64, at: usize) -> Result<Description, Error> {
    if offset != 0 {
        let terms = strides.iter().enumerate().map(|(dim, stride)| Expr::Var(dim).times(*stride));
        let sum = Expr::sum(terms.collect()) + Expr::Const(offset);
        strided(sizes, strides, 0, at)?;
        let map = IndexingMap::of_sizes(sizes, vec![sum]);
        let sizes = sizes.to_vec();
        let meaning = Meaning { sizes, axes: Vec::new(), map, copies: Vec::new(), memory_space: 0 };
        return Ok(Description::Map(Box::new(meaning)));
    }
    let part = |dim: usize| (dim, 1, Part { extent: sizes[dim], axis: None, stride: strides[dim] });
    let parts = (0..sizes.len()).map(part).collect();
    Description::of_parts(sizes, parts, Vec::new()).map_err(|error| Error { at: error.at.or(Some(at)), ..error })
}

/// The strides of contiguous elements, the last dimension fastest.
pub(super) fn row_major(sizes: &[i64]) -> Result<Vec<i64>, Error> {
    let mut strides = vec![1i64; sizes.len()];
    for dim in (1..sizes.len()).rev() {
        let stride = strides[dim].checked_mul(sizes[dim].max(1));
        strides[dim - 1] =
            stride.ok_or_else(|| Error::new("the size in elements does not fit in 64 bits").too_large())?;
    }
    Ok(strides)
}

/// Reads `strided<[3, 1], offset: 0>`, after its first word.
pub(super) fn read_attribute(cursor: &mut Cursor, sizes: &[i64]) -> Result<Description, Error> {
    cursor.expect("<", "`<` and the strides")?;
    let at = cursor.at();
    let strides = list(cursor, ["[", "]"], "a stride", false)?;
    let mut offset = 0;
    if cursor.eat(",") {
        if cursor.peek_word() != Some("offset") {
            return Err(cursor.expected("`offset: ` and a number"));
        }
        cursor.word();
        cursor.expect(":", "`:` and the offset")?;
        offset = cursor.integer("the offset of the first element, in elements")?;
    }
    cursor.expect(">", "`,` or `>`")?;
    checked(&strides, sizes, at)?;
    strided(sizes, &values(&strides), offset, at)
}

/// Refuses strides whose number is not the rank, or that no layout has.
fn checked(strides: &[ReadNumber], sizes: &[i64], at: usize) -> Result<(), Error> {
    if strides.len() != sizes.len() {
        let (rank, found) = (sizes.len(), strides.len());
        return Err(Error::at(at, format!("the strides must be one for each of the {rank} dimensions, found {found}")));
    }
    let backwards = strides.iter().find(|stride| stride.value < 0);
    if let Some(ReadNumber { value, at }) = backwards {
        return Err(Error::at(*at, format!("a stride must be at least 0, found {value}; no layout counts backwards"))
            .unsupported());
    }
    let shared = strides.iter().zip(sizes).find(|(stride, size)| stride.value == 0 && **size > 1);
    match shared {
        Some((ReadNumber { at, .. }, size)) if !sizes.contains(&0) => Err(Error::at(
            *at,
            format!(
                "a stride must be at least 1 where the size is more than 1, found 0: {size} elements share a place"
            ),
        )),
        _ => Ok(()),
    }
}

/// The properties of a NumPy array, each with its byte offset.
#[derive(Default)]
struct ReadArray {
    shape: Option<Vec<ReadNumber>>,
    strides: Option<(usize, Vec<ReadNumber>)>,
    itemsize: Option<ReadNumber>,
}

/// Reads a NumPy array: `shape=(2, 3), strides=(12, 4), itemsize=4`, in any order. Without strides, or with `None`,
/// elements are contiguous.
pub(super) fn read_numpy(cursor: &mut Cursor, element: Option<ElementType>) -> Result<Description, Error> {
    let (start, array) = (cursor.at(), fields(cursor)?);
    let shape = array.shape.ok_or_else(|| Error::at(start, "`shape` is missing").syntax())?;
    at_least(&shape, 0, "a size")?;
    let sizes = values(&shape);
    let Some((at, strides)) = array.strides else {
        return strided(&sizes, &row_major(&sizes)?, 0, start);
    };
    checked(&strides, &sizes, at)?;
    let bytes = element.and_then(ElementType::bytes);
    let itemsize = match (array.itemsize, bytes) {
        (Some(ReadNumber { value, at }), Some(bytes)) if value != bytes => {
            let element = element.map_or("", ElementType::name);
            return Err(Error::at(at, format!("`itemsize` must be {bytes}, the bytes of {element}, found {value}")));
        }
        (Some(itemsize), _) => itemsize.value,
        (None, bytes) => {
            bytes.ok_or_else(|| Error::at(start, "`itemsize`, the bytes of an element, is missing").syntax())?
        }
    };
    let whole = |(stride, size): (&ReadNumber, &i64)| match stride.value % itemsize {
        0 => Ok(stride.value / itemsize),
        _ if *size <= 1 => Ok(0),
        _ => Err(Error::at(
            stride.at,
            format!("a stride must be a multiple of the {itemsize} bytes of an element, found {}", stride.value),
        )),
    };
    let strides = strides.iter().zip(&sizes).map(whole).collect::<Result<Vec<i64>, Error>>()?;
    strided(&sizes, &strides, 0, at)
}

fn fields(cursor: &mut Cursor) -> Result<ReadArray, Error> {
    let mut array = ReadArray::default();
    loop {
        let at = cursor.at();
        let name = cursor.peek_word().filter(|name| ["shape", "strides", "itemsize"].contains(name));
        let name = name.ok_or_else(|| cursor.expected("`shape=`, `strides=` or `itemsize=`"))?;
        cursor.advance(name.len());
        cursor.expect("=", &format!("`=` after `{name}`"))?;
        let value = cursor.at();
        let repeated = match name {
            "shape" => array.shape.replace(list(cursor, ["(", ")"], "a size", true)?).is_some(),
            "strides" if cursor.peek_word() == Some("None") => {
                cursor.word();
                false
            }
            "strides" => array.strides.replace((value, list(cursor, ["(", ")"], "a stride in bytes", true)?)).is_some(),
            _ => {
                let itemsize = ReadNumber { value: cursor.integer("the bytes of an element")?, at: value };
                at_least(&[itemsize], 1, "`itemsize`")?;
                array.itemsize.replace(itemsize).is_some()
            }
        };
        if repeated {
            return Err(Error::at(at, format!("`{name}` must be given once, found it twice")));
        }
        if !cursor.eat(",") {
            return Ok(array);
        }
    }
}

/// The layout in NumPy's notation.
///
/// # Errors
/// The reason why there is none: a dimension with several strides, places other than the address.
pub fn numpy(described: &Described, element: ElementType) -> Result<String, Error> {
    let sizes = described.description.sizes();
    let itemsize =
        element.bytes().ok_or_else(|| Error::new(format!("elements of type {element} are no data")).unsupported())?;
    let strides = strides(described)?.into_iter().map(|stride| stride.checked_mul(itemsize));
    let strides: Option<Vec<i64>> = strides.collect();
    let strides = strides.ok_or_else(|| Error::new("a stride in bytes does not fit in 64 bits").too_large())?;
    let tuple = |numbers: &[i64]| text(numbers, ["(", if numbers.len() == 1 { ",)" } else { ")" }]);
    Ok(format!("shape={}, strides={}, itemsize={itemsize}", tuple(sizes), tuple(&strides)))
}

/// The stride of each dimension, in elements.
fn strides(described: &Described) -> Result<Vec<i64>, Error> {
    let sizes = described.description.sizes();
    if sizes.is_empty() || sizes.contains(&0) {
        return row_major(sizes);
    }
    let placement = described.placement()?;
    on_the_address(&placement, "an array of NumPy")?;
    let one = |dim: usize| match reached(&placement, dim)[..] {
        [] => Ok(1),
        [(_, ref part)] => Ok(part.stride),
        ref parts => {
            let strides: Vec<i64> = parts.iter().rev().map(|(_, part)| part.stride).collect();
            Err(Error::new(format!(
                "dimension {dim} must have one stride, found the strides {strides:?}: it is cut into tiles"
            )))
        }
    };
    (0..sizes.len()).map(one).collect()
}
