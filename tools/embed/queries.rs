//! The rest of the C API: layouts from numbers, their bytes, and movement. As in `ffi.rs`, `layout-c/*.h` document the
//! functions.

use crate::ffi::{AttributeCallback, NULL, Outcome, answer, given, numbers, say, string, tensor_of, tiled_of, write};
use layout_dialect::{borrowed, tensor_layout_rules, tiled_rules};
use melior::{
    Context, ContextRef,
    ir::{Attribute, AttributeLike, Type, TypeLike},
};
use mlir_sys::{MlirAttribute, MlirContext, MlirStringCallback, MlirStringRef, MlirType};
use std::{ffi::c_void, slice};
use tensor_layout::analysis::Movement;
use tensor_layout::text::Error;

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetFromNumbers(
    context: MlirContext,
    rank: isize,
    minor_to_major: *const i64,
    num_tiles: isize,
    tile_ranks: *const isize,
    tile_sizes: *const *const i64,
    memory_space: i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirAttribute {
    answer(error, user, NULL, || {
        let (ranks, sizes) = (array(tile_ranks, num_tiles)?, array(tile_sizes, num_tiles)?);
        let tiles = ranks.iter().zip(sizes).map(|(rank, sizes)| {
            let sizes = numbers(*sizes, *rank)?.iter();
            // In C the entry `*` is 0, and -1 is an error.
            sizes
                .map(|size| if *size < 0 { Err(negative(*size)) } else { Ok(if *size == 0 { -1 } else { *size }) })
                .collect()
        });
        let tiles: Vec<Vec<i64>> = tiles.collect::<Outcome<_>>()?;
        let tiles: Vec<&[i64]> = tiles.iter().map(|tile| &tile[..]).collect();
        let layout = tiled_rules::of_numbers(numbers(minor_to_major, rank)?, &tiles, memory_space)?;
        made(context, |context| layout_dialect::tiled_attribute(context, &layout))
    })
}

fn negative(size: i64) -> std::borrow::Cow<'static, str> {
    format!("a tile size must be at least 1, or 0 for `*`, found {size}").into()
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTensorLayoutAttrGetFromParts(
    context: MlirContext,
    rank: isize,
    part_counts: *const isize,
    parts: *const *const Part,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirAttribute {
    answer(error, user, NULL, || {
        let part = |part: &Part| Ok((part.extent, string(part.axis)?, part.stride));
        let dims = array(part_counts, rank)?.iter().zip(array(parts, rank)?);
        let dims = dims.map(|(count, parts)| array(*parts, *count)?.iter().map(part).collect());
        let layout = tensor_layout_rules::of_parts(&dims.collect::<Outcome<Vec<Vec<_>>>>()?)?;
        made(context, |context| layout_dialect::tensor_layout_attribute(context, &layout))
    })
}

/// `MlirLayoutPart` in `Layout.h`.
#[repr(C)]
struct Part {
    extent: i64,
    axis: MlirStringRef,
    stride: i64,
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetPaddedBytes(
    attribute: MlirAttribute,
    element: MlirType,
    rank: isize,
    shape: *const i64,
    bytes: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    answer(error, user, false, || {
        let sizes: Vec<_> = numbers(shape, rank)?.iter().copied().map(Some).collect();
        let found = tiled_rules::padded_bytes(&tiled_of(attribute)?, &sizes, number_type(element)?)?;
        write(bytes, 1, &[found])?;
        Ok(true)
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutMachineAttrGetLocalBytes(
    attribute: MlirAttribute,
    layout: MlirAttribute,
    element: MlirType,
    rank: isize,
    shape: *const i64,
    bytes: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    answer(error, user, false, || {
        let machine = layout_dialect::machine(given(attribute)?).ok_or("the attribute must be a #layout.machine")?;
        let sizes: Vec<_> = numbers(shape, rank)?.iter().copied().map(Some).collect();
        let found = layout_dialect::local_bytes(&machine, &tensor_of(layout)?, &sizes, number_type(element)?)?;
        write(bytes, 1, &[found])?;
        Ok(true)
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutGetMovement(
    from: MlirType,
    to: MlirType,
    rank: isize,
    permutation: *const i64,
    reason: MlirStringCallback,
    reason_user: *mut c_void,
    nearest: AttributeCallback,
    nearest_user: *mut c_void,
    error: MlirStringCallback,
    user: *mut c_void,
) -> i32 {
    answer(error, user, -1, || {
        let dims = if permutation.is_null() { None } else { Some(numbers(permutation, rank)?) };
        let from = number_type(from)?;
        let found = layout_dialect::movement(from, number_type(to)?, dims)?;
        say(reason, reason_user, &found.to_string());
        Ok(match found {
            Movement::Free => 0,
            Movement::Moves { nearest: layout, .. } => {
                if let (Ok(layout), Some(callback)) = (layout, nearest) {
                    let context = from.context();
                    let layout =
                        layout_dialect::tiled_attribute(borrowed(&context), &layout).map_err(|error| error.message)?;
                    // SAFETY: the caller gives a callback and the pointer it takes.
                    unsafe { callback(layout.to_raw(), nearest_user) };
                }
                1
            }
            Movement::Unknown { .. } => 2,
        })
    })
}

/// An attribute created in a context from C.
fn made(
    context: MlirContext,
    make: impl for<'c> FnOnce(&'c Context) -> Result<Attribute<'c>, Error>,
) -> Outcome<MlirAttribute> {
    if context.ptr.is_null() {
        return Err("the context must not be null".into());
    }
    // SAFETY: the context is alive.
    let context = unsafe { ContextRef::from_raw(context) };
    Ok(make(borrowed(&context)).map_err(|error| error.message)?.to_raw())
}

/// A type from C.
fn number_type<'c>(given: MlirType) -> Outcome<Type<'c>> {
    // SAFETY: the type is alive for the call.
    unsafe { Type::from_option_raw(given) }.ok_or("the type must not be null".into())
}

/// An array from C.
fn array<'a, T>(elements: *const T, count: isize) -> Outcome<&'a [T]> {
    match usize::try_from(count) {
        Err(_) => Err(format!("the number of elements must not be negative, found {count}").into()),
        Ok(0) => Ok(&[]),
        Ok(_) if elements.is_null() => Err("the pointer to elements must not be null".into()),
        // SAFETY: the pointer has `count` elements, valid for the call.
        Ok(count) => Ok(unsafe { slice::from_raw_parts(elements, count) }),
    }
}
