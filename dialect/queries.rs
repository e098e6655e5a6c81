//! Further functions for C++: layouts from numbers, their bytes, movement, and swizzled layouts. The rules of `exports.rs`
//! hold.

use crate::attribute::{SWIZZLED, verify_text};
use crate::context::borrowed;
use crate::exports::{
    affine_map, give_text, layout_of, numbers_of, sizes_of, tensor_layout_of, verdict, verdict_on_element,
};
use crate::movement::movement;
use crate::strings::bytes;
use crate::values::{machine, swizzled, tensor_layout_attribute, tiled_attribute};
use crate::{machine as machines, swizzled_rules, tensor_layout_rules, tiled_rules};
use ::tensor_layout::analysis::Movement;
use ::tensor_layout::swizzled::SwizzledLayout;
use ::tensor_layout::text::Error;
use melior::ir::{Attribute, AttributeLike, Type, TypeLike};
use melior::{Context, ContextRef};
use mlir_sys::{MlirAffineMap, MlirAttribute, MlirContext, MlirStringCallback, MlirStringRef, MlirType};
use std::ffi::c_void;
use std::ptr;

const NULL: MlirAttribute = MlirAttribute { ptr: ptr::null() };

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_of_numbers(
    context: MlirContext,
    minor_to_major: *const i64,
    rank: usize,
    entries: *const i64,
    entry_counts: *const i64,
    tile_count: usize,
    memory_space: i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirAttribute {
    made(context, error, user, |context| {
        let counts = numbers_of(entry_counts, tile_count);
        let entries = numbers_of(entries, total(&counts));
        let tiles: Vec<&[i64]> = pieces(&entries, &counts).collect();
        let layout = tiled_rules::of_numbers(&numbers_of(minor_to_major, rank), &tiles, memory_space)?;
        Ok(tiled_attribute(context, &layout))
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_of_parts(
    context: MlirContext,
    part_counts: *const i64,
    rank: usize,
    extents: *const i64,
    axes: *const MlirStringRef,
    strides: *const i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirAttribute {
    made(context, error, user, |context| {
        let counts = numbers_of(part_counts, rank);
        let total = total(&counts);
        let [extents, strides] = [extents, strides].map(|numbers| numbers_of(numbers, total));
        // SAFETY: C++ has so many texts there, valid for the call.
        let axis = |k: usize| unsafe { bytes(axes.add(k).read()) }.unwrap_or_default();
        let axis = |k: usize| str::from_utf8(axis(k)).map_err(|_| "expected UTF-8 text");
        let parts = (0..total).map(|k| Ok((extents[k], axis(k)?, strides[k]))).collect::<Result<Vec<_>, String>>()?;
        let dims: Vec<_> = pieces(&parts, &counts).map(<[_]>::to_vec).collect();
        Ok(tensor_layout_attribute(context, &tensor_layout_rules::of_parts(&dims)?))
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_padded_bytes(
    tiled: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    element: MlirType,
    bytes: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        let found = tiled_rules::padded_bytes(&layout_of(tiled), &sizes_of(sizes, rank), number_type(element)?)?;
        // SAFETY: C++ has room for a number.
        unsafe { bytes.write(found) };
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_machine_local_bytes(
    of: MlirAttribute,
    layout: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    element: MlirType,
    bytes: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        // SAFETY: the attribute is alive for the call.
        let known = machine(unsafe { Attribute::from_raw(of) }).expect("C++ gives a machine");
        let (layout, sizes) = (tensor_layout_of(layout), sizes_of(sizes, rank));
        let found = machines::local_bytes(&known, &layout, &sizes, number_type(element)?)?;
        // SAFETY: C++ has room for a number.
        unsafe { bytes.write(found) };
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_movement(
    from: MlirType,
    to: MlirType,
    permutation: *const i64,
    count: isize,
    reason: MlirStringCallback,
    reason_user: *mut c_void,
    nearest: *mut MlirAttribute,
    error: MlirStringCallback,
    user: *mut c_void,
) -> i32 {
    let mut kind = -1;
    verdict(error, user, || {
        let permutation = usize::try_from(count).ok().map(|count| numbers_of(permutation, count));
        let found = movement(number_type(from)?, number_type(to)?, permutation.as_deref())?;
        if let Movement::Moves { nearest: Ok(layout), .. } = &found {
            // SAFETY: the type is alive.
            let from = unsafe { Type::from_raw(from) };
            let made = tiled_attribute(borrowed(&from.context()), layout).map_err(|error| error.message)?;
            // SAFETY: C++ has room for an attribute.
            unsafe { nearest.write(made.to_raw()) };
        }
        give_text(reason, reason_user, &found.to_string());
        kind = match found {
            Movement::Free => 0,
            Movement::Moves { .. } => 1,
            Movement::Unknown { .. } => 2,
        };
        Ok(())
    });
    kind
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_swizzled_verify(text: MlirStringRef, error: MlirStringCallback, user: *mut c_void) -> bool {
    verdict(error, user, || {
        // SAFETY: the text is valid for the call.
        let text = unsafe { bytes(text) }.unwrap_or_default();
        verify_text(SWIZZLED, &String::from_utf8_lossy(text))
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_swizzled_affine_map(layout: MlirAttribute) -> MlirAffineMap {
    affine_map(layout)
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_swizzled_verify_layout(
    layout: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || swizzled_rules::addresses(&swizzled_of(layout), &sizes_of(sizes, rank)).map(drop))
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_swizzled_verify_encoding(
    layout: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    element: MlirType,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict_on_element(element, error, user, |element| {
        swizzled_rules::verify_encoding(&swizzled_of(layout), &sizes_of(sizes, rank), element)
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_swizzled_offset_of(
    layout: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    index: *const i64,
    index_rank: usize,
    offset: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        let addresses = swizzled_rules::addresses(&swizzled_of(layout), &sizes_of(sizes, rank))?;
        let found = addresses.offset(&numbers_of(index, index_rank)).map_err(|error| error.message)?;
        // SAFETY: C++ has room for a number.
        unsafe { offset.write(found) };
        Ok(())
    })
}

/// The layout of an attribute that C++ knows to be `#layout.swizzled`.
fn swizzled_of(attribute: MlirAttribute) -> SwizzledLayout {
    // SAFETY: the attribute is alive for the call.
    swizzled(unsafe { Attribute::from_raw(attribute) }).expect("a #layout.swizzled attribute")
}

/// The attribute from `body`; null after an error.
fn made(
    context: MlirContext,
    error: MlirStringCallback,
    user: *mut c_void,
    body: impl for<'c> FnOnce(&'c Context) -> Result<Result<Attribute<'c>, Error>, String>,
) -> MlirAttribute {
    let mut made = NULL;
    verdict(error, user, || {
        // SAFETY: the context is alive for the call.
        let context = unsafe { ContextRef::from_raw(context) };
        let attribute = body(borrowed(&context))?;
        made = attribute.map_err(|error| error.message)?.to_raw();
        Ok(())
    });
    made
}

/// The sum of C++'s numbers, which are sizes of arrays.
fn total(counts: &[i64]) -> usize {
    counts.iter().map(|count| *count as usize).sum()
}

/// An array cut into pieces of these sizes.
fn pieces<'a, T>(all: &'a [T], counts: &'a [i64]) -> impl Iterator<Item = &'a [T]> {
    let mut rest = all;
    counts.iter().map(move |count| {
        let (piece, others) = rest.split_at(*count as usize);
        rest = others;
        piece
    })
}

/// The type from C++, which may be null.
fn number_type<'c>(given: MlirType) -> Result<Type<'c>, String> {
    // SAFETY: the type, where it is not null, is alive for the call.
    unsafe { Type::from_option_raw(given) }.ok_or_else(|| "the type must not be null".into())
}
