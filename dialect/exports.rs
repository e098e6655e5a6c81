//! Functions for C++: the `layout_rs_*` of `Glue.h`. Each converts its arguments and calls a function of another file.
//!
//! Two rules hold for each function. Its body runs in [`guard`], so a panic becomes an error of that call and never
//! unwinds into C++. Pointers from C++ are valid for the call, as `Glue.h` promises, and none of them is kept.

use crate::advice;
use crate::attribute;
use crate::context::borrowed;
use crate::guard::guard;
use crate::imports::{ConvertOp, RawIndexingMap};
use crate::strings::{bytes, hand_over, string_ref};
use crate::values::{attribute_from_text, attribute_of, body, tensor_layout, tiled};
use crate::{axis, convert, indexing_map, machine, values};
use ::tensor_layout::places::TensorLayout;
use ::tensor_layout::text::Error;
use ::tensor_layout::tiled::{Layout, memory_space};
use melior::{
    ContextRef,
    ir::{Attribute, AttributeLike, OperationRef, Type, ValueLike},
};
use mlir_sys::{
    MlirAffineMap, MlirAttribute, MlirContext, MlirLocation, MlirOperation, MlirStringCallback, MlirStringRef,
    MlirType, MlirValue, mlirAffineMapMultiDimIdentityGet, mlirAttributeGetContext, mlirEmitError,
    mlirLocationUnknownGet, mlirOperationGetContext, mlirOperationGetLocation, mlirShapedTypeGetDynamicSize,
};
use std::{
    ffi::{CString, c_void},
    ptr, slice,
};

/// Receives an error in a text: the byte offset, the message, and the caller's pointer.
type ErrorAt = unsafe extern "C" fn(usize, MlirStringRef, *mut c_void);

/// Receives numbers: their address, their count, and the caller's pointer.
type Numbers = unsafe extern "C" fn(*const i64, usize, *mut c_void);

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_parse_attribute(
    context: MlirContext,
    body: MlirStringRef,
    error: ErrorAt,
    user: *mut c_void,
) -> MlirAttribute {
    let null = MlirAttribute { ptr: ptr::null() };
    // SAFETY: C++ gives a callback and the pointer it takes.
    let fail = |at, message: &str| unsafe { error(at, string_ref(message), user) };
    guard(
        |message| {
            fail(0, message);
            null
        },
        || {
            // SAFETY: the text is valid for the call.
            let text = unsafe { bytes(body) }.unwrap_or_default();
            // SAFETY: the context is alive for the call.
            let context = borrowed(&unsafe { ContextRef::from_raw(context) });
            let made = str::from_utf8(text)
                .map_err(|error| Error::at(error.valid_up_to(), "expected UTF-8 text"))
                .and_then(attribute::parse)
                .and_then(|body| attribute_of(context, &body));
            match made {
                Ok(attribute) => attribute.to_raw(),
                Err(error) => {
                    fail(error.at.unwrap_or(0), &error.message);
                    null
                }
            }
        },
    )
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_advice(error: MlirStringRef, note: MlirStringCallback, user: *mut c_void) {
    // SAFETY: the text is valid for the call; C++ gives a callback and the pointer it takes.
    let add = |advice: &str| unsafe {
        if let Some(note) = note {
            note(string_ref(advice), user);
        }
    };
    // An error without a note is better than one about notes.
    guard(
        |_| (),
        || {
            // SAFETY: the text is valid for the call.
            let error = unsafe { bytes(error) }.unwrap_or_default();
            if let Some(advice) = str::from_utf8(error).ok().and_then(advice::advice) {
                add(advice);
            }
        },
    );
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_attribute_from_text(
    context: MlirContext,
    mnemonic: MlirStringRef,
    text: MlirStringRef,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirAttribute {
    let mut made = MlirAttribute { ptr: ptr::null() };
    verdict(error, user, || {
        // SAFETY: the context and the texts are valid for the call.
        let (context, mnemonic, text) = unsafe {
            (ContextRef::from_raw(context), bytes(mnemonic).unwrap_or_default(), bytes(text).unwrap_or_default())
        };
        let context = borrowed(&context);
        let mnemonic = str::from_utf8(mnemonic).expect("C++ gives the name of an attribute");
        let text = str::from_utf8(text).map_err(|_| "expected UTF-8 text")?;
        let attribute = attribute_from_text(context, mnemonic, text);
        made = attribute.map_err(|error| attribute::complaint(text, &error))?.to_raw();
        Ok(())
    });
    made
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_rank(tiled: MlirAttribute) -> i64 {
    guard(emit(tiled, 0), || layout_of(tiled).rank() as i64)
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_minor_to_major(tiled: MlirAttribute, result: Numbers, user: *mut c_void) {
    guard(emit(tiled, ()), || give(result, user, &crate::tiled_rules::minor_to_major(&layout_of(tiled))));
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_tiles(tiled: MlirAttribute, tile: Numbers, user: *mut c_void) {
    guard(emit(tiled, ()), || {
        crate::tiled_rules::tiles(&layout_of(tiled)).iter().for_each(|entries| give(tile, user, entries));
    });
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_memory_space(tiled: MlirAttribute) -> i64 {
    guard(emit(tiled, 0), || layout_of(tiled).memory_space.into())
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_offset_of(
    tiled: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    index: *const i64,
    index_rank: usize,
    offset: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        let index = numbers_of(index, index_rank);
        let found = crate::tiled_rules::static_expansion(&layout_of(tiled), &sizes_of(sizes, rank))?.offset(&index);
        let found = found.map_err(|error| error.message)?;
        // SAFETY: C++ has room for a number.
        unsafe { offset.write(found) };
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_expanded_sizes(
    tiled: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    result: Numbers,
    result_user: *mut c_void,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        let expansion = crate::tiled_rules::static_expansion(&layout_of(tiled), &sizes_of(sizes, rank))?;
        give(result, result_user, expansion.sizes());
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_expanded_strides(
    tiled: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    result: Numbers,
    result_user: *mut c_void,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        let expansion = crate::tiled_rules::static_expansion(&layout_of(tiled), &sizes_of(sizes, rank))?;
        give(result, result_user, expansion.strides());
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_rank(layout: MlirAttribute) -> i64 {
    guard(emit(layout, 0), || tensor_layout_of(layout).rank() as i64)
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_axes(layout: MlirAttribute, axis: MlirStringCallback, user: *mut c_void) {
    guard(emit(layout, ()), || tensor_layout_of(layout).axes().iter().for_each(|name| give_text(axis, user, name)));
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_place_of(
    layout: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    index: *const i64,
    index_rank: usize,
    result: Numbers,
    result_user: *mut c_void,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        let index = numbers_of(index, index_rank);
        let placement =
            crate::tensor_layout_rules::static_placement(&tensor_layout_of(layout), &sizes_of(sizes, rank))?;
        give(result, result_user, &placement.place(&index).map_err(|error| error.message)?);
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_print_attribute(attribute: MlirAttribute, print: MlirStringCallback, user: *mut c_void) {
    guard(emit(attribute, ()), || {
        // SAFETY: the attribute is alive for the call.
        let body = body(unsafe { Attribute::from_raw(attribute) }).expect("an attribute with a notation of its own");
        give_text(print, user, &attribute::print(&body));
    });
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_indexing_map_verify(
    map: *const RawIndexingMap,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        // SAFETY: C++ gives parts that are valid for the call.
        let parts = unsafe { (*map).read() };
        indexing_map::value(&parts).map(|_| ())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_affine_map(tiled: MlirAttribute) -> MlirAffineMap {
    affine_map(tiled)
}

/// The affine map of a layout; after a panic, which is emitted, a map without results.
pub(crate) fn affine_map(layout: MlirAttribute) -> MlirAffineMap {
    // SAFETY: the context of a live attribute is alive.
    let nothing = unsafe { mlirAffineMapMultiDimIdentityGet(mlirAttributeGetContext(layout), 0) };
    guard(emit(layout, nothing), || {
        // SAFETY: the attribute is alive for the call.
        let layout = unsafe { Attribute::from_raw(layout) };
        values::affine_map(layout).expect("a layout of this dialect").to_raw()
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_is_identity(tiled: MlirAttribute) -> bool {
    guard(emit(tiled, false), || crate::tiled_rules::is_identity(&layout_of(tiled)))
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_verify(text: MlirStringRef, error: MlirStringCallback, user: *mut c_void) -> bool {
    verdict(error, user, || {
        // SAFETY: the text is valid for the call.
        let text = unsafe { bytes(text) }.unwrap_or_default();
        attribute::verify_text(attribute::TILED, &String::from_utf8_lossy(text))
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_verify_layout(
    tiled: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || crate::tiled_rules::verify_layout(&layout_of(tiled), &sizes_of(sizes, rank)))
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_strides(
    tiled: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    strides: *mut i64,
    offset: *mut i64,
) -> bool {
    guard(emit(tiled, false), || {
        write_strides(crate::tiled_rules::strides(&layout_of(tiled), &sizes_of(sizes, rank)), rank, strides, offset)
    })
}

/// Writes the strides and the offset 0 to C++, which has room for `rank` strides and an offset; returns false if there
/// are none.
fn write_strides(found: Option<Vec<Option<i64>>>, rank: usize, strides: *mut i64, offset: *mut i64) -> bool {
    let Some(found) = found else { return false };
    assert_eq!(found.len(), rank, "one stride for each dimension");
    // SAFETY: no argument, no state. The dynamic stride is the dynamic size.
    let dynamic = unsafe { mlirShapedTypeGetDynamicSize() };
    for (dim, stride) in found.into_iter().enumerate() {
        // SAFETY: C++ has room for `rank` strides.
        unsafe { strides.add(dim).write(stride.unwrap_or(dynamic)) };
    }
    // SAFETY: C++ has room for the offset.
    unsafe { offset.write(0) };
    true
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_verify_encoding(
    tiled: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    element: MlirType,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict_on_element(element, error, user, |element| {
        crate::tiled_rules::verify_encoding(&layout_of(tiled), &sizes_of(sizes, rank), element)
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_verify(
    text: MlirStringRef,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        // SAFETY: the text is valid for the call.
        let text = unsafe { bytes(text) }.unwrap_or_default();
        attribute::verify_text(attribute::TENSOR_LAYOUT, &String::from_utf8_lossy(text))
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_affine_map(layout: MlirAttribute) -> MlirAffineMap {
    affine_map(layout)
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_verify_layout(
    layout: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        crate::tensor_layout_rules::verify_layout(&tensor_layout_of(layout), &sizes_of(sizes, rank))
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_strides(
    layout: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    strides: *mut i64,
    offset: *mut i64,
) -> bool {
    guard(emit(layout, false), || {
        let found = crate::tensor_layout_rules::strides(&tensor_layout_of(layout), &sizes_of(sizes, rank));
        write_strides(found.map(|strides| strides.into_iter().map(Some).collect()), rank, strides, offset)
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_verify_encoding(
    layout: MlirAttribute,
    sizes: *const i64,
    rank: usize,
    element: MlirType,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict_on_element(element, error, user, |element| {
        crate::tensor_layout_rules::verify_encoding(&tensor_layout_of(layout), &sizes_of(sizes, rank), element)
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_verify_operation_attribute(
    op: MlirOperation,
    name: MlirStringRef,
    attribute: MlirAttribute,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    // SAFETY: the operation, the text and the attribute are valid for the call.
    let (inside, name, attribute) =
        unsafe { (OperationRef::from_raw(op), bytes(name).unwrap_or_default(), Attribute::from_raw(attribute)) };
    let checked = guard(
        |message| Err((op, message.to_string())),
        || {
            let name = String::from_utf8_lossy(name);
            machine::verify_attribute(inside, &name, attribute).map_err(|(at, e)| (at.to_raw(), e))
        },
    );
    let Err((at, message)) = checked else { return true };
    if at.ptr == op.ptr {
        give_text(error, user, &message);
    } else {
        // SAFETY: the operation is alive for the call.
        emit_at(unsafe { mlirOperationGetLocation(at) }, &message);
    }
    false
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_machine_verify(text: MlirStringRef, error: MlirStringCallback, user: *mut c_void) -> bool {
    verdict(error, user, || {
        // SAFETY: the text is valid for the call.
        let text = unsafe { bytes(text) }.unwrap_or_default();
        attribute::verify_text(attribute::MACHINE, &String::from_utf8_lossy(text))
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_machine_default_layout(
    of: MlirAttribute,
    element: MlirType,
    sizes: *const i64,
    rank: usize,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirAttribute {
    let mut made = MlirAttribute { ptr: ptr::null() };
    verdict(error, user, || {
        // SAFETY: the attribute is alive for the call.
        let attribute = unsafe { Attribute::from_raw(of) };
        // SAFETY: the type is alive for the call.
        let element = unsafe { Type::from_raw(element) };
        let known = values::machine(attribute).expect("C++ gives a machine");
        let layout = machine::default_layout(&known, element, &sizes_of(sizes, rank))?;
        made =
            values::tiled_attribute(borrowed(&attribute.context()), &layout).map_err(|error| error.message)?.to_raw();
        Ok(())
    });
    made
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_axis_verify(
    name: MlirStringRef,
    level: i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    verdict(error, user, || {
        // SAFETY: the text is valid for the call.
        let name = String::from_utf8_lossy(unsafe { bytes(name) }.unwrap_or_default());
        axis::verify_axis(&name, level)
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_pending_verify(layout: MlirAttribute, error: MlirStringCallback, user: *mut c_void) -> bool {
    verdict(error, user, || {
        // SAFETY: the attribute is alive for the call.
        let layout = unsafe { Attribute::from_raw(layout) };
        // (pending_c1) It carries a layout of this dialect.
        if values::affine_map(layout).is_some() { Ok(()) } else { Err(values::no_layout(layout)) }
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_memory_space_verify(number: i64, error: MlirStringCallback, user: *mut c_void) -> bool {
    // The constraint (memory_space_c1).
    verdict(error, user, || memory_space::check(number).map(drop))
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_convert_verify(operation: MlirOperation, error: MlirStringCallback, user: *mut c_void) -> bool {
    verdict(error, user, || convert::verify(&convert_of(operation)))
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_convert_fold(operation: MlirOperation) -> MlirValue {
    let null = MlirValue { ptr: ptr::null() };
    guard(emit_in(operation, null), || convert::fold(&convert_of(operation)).map_or(null, |value| value.to_raw()))
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_convert_reads_memory(operation: MlirOperation) -> bool {
    guard(emit_in(operation, true), || convert::reads_memory(&convert_of(operation)))
}

/// The layout of an attribute that C++ knows to be `#layout.tiled`.
pub(crate) fn layout_of(attribute: MlirAttribute) -> Layout {
    // SAFETY: the attribute is alive for the call.
    tiled(unsafe { Attribute::from_raw(attribute) }).expect("a #layout.tiled attribute")
}

/// The layout of an attribute that C++ knows to be `#layout.tensor_layout`.
pub(crate) fn tensor_layout_of(attribute: MlirAttribute) -> TensorLayout {
    // SAFETY: the attribute is alive for the call.
    tensor_layout(unsafe { Attribute::from_raw(attribute) }).expect("a #layout.tensor_layout attribute")
}

/// The operation that C++ knows to be `layout.convert`.
fn convert_of<'a>(operation: MlirOperation) -> ConvertOp<'a, 'a> {
    // SAFETY: the operation is alive for the call.
    ConvertOp::of(unsafe { OperationRef::from_raw(operation) }).expect("a layout.convert")
}

/// The sizes that C++ gives; `None` is a dynamic one.
pub(crate) fn sizes_of(sizes: *const i64, rank: usize) -> Vec<Option<i64>> {
    // SAFETY: no argument, no state.
    let dynamic = unsafe { mlirShapedTypeGetDynamicSize() };
    numbers_of(sizes, rank).into_iter().map(|size| (size != dynamic).then_some(size)).collect()
}

/// The numbers that C++ gives.
pub(crate) fn numbers_of(numbers: *const i64, count: usize) -> Vec<i64> {
    // Without numbers the pointer may be null, which no slice may be made of.
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: C++ has `count` numbers there for the call.
    unsafe { slice::from_raw_parts(numbers, count) }.to_vec()
}

/// Gives C++ numbers.
fn give(callback: Numbers, user: *mut c_void, numbers: &[i64]) {
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(numbers.as_ptr(), numbers.len(), user) }
}

/// Passes C++ the error of a check, or the panic in it; returns true if there is neither.
pub(crate) fn verdict(
    error: MlirStringCallback,
    user: *mut c_void,
    check: impl FnOnce() -> Result<(), String>,
) -> bool {
    let outcome = guard(|message| Err(message.to_string()), check);
    outcome.map_err(|message| give_text(error, user, &message)).is_ok()
}

/// [`verdict`] of a check that needs the element type of a tensor.
///
/// MLIR's parser calls the check before it knows whether it could read the element type: in `tensor<5x, #layout...>`
/// there is none. The parser has reported this error, so no other is added.
pub(crate) fn verdict_on_element(
    element: MlirType,
    error: MlirStringCallback,
    user: *mut c_void,
    check: impl FnOnce(Type) -> Result<(), String>,
) -> bool {
    // SAFETY: the type, where it is not null, is alive for the call.
    match unsafe { Type::from_option_raw(element) } {
        Some(element) => verdict(error, user, || check(element)),
        None => false,
    }
}

/// Gives C++ a text.
pub(crate) fn give_text(callback: MlirStringCallback, user: *mut c_void, text: &str) {
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { hand_over(callback, user, text) }
}

/// For [`guard`]: emits the message in the attribute's context and gives the answer.
fn emit<T>(attribute: MlirAttribute, answer: T) -> impl FnOnce(&str) -> T {
    // SAFETY: the attribute is alive for the call.
    emit_error(unsafe { mlirAttributeGetContext(attribute) }, answer)
}

/// For [`guard`]: emits the message in the operation's context and gives the answer.
fn emit_in<T>(operation: MlirOperation, answer: T) -> impl FnOnce(&str) -> T {
    // SAFETY: the operation is alive for the call.
    emit_error(unsafe { mlirOperationGetContext(operation) }, answer)
}

fn emit_error<T>(context: MlirContext, answer: T) -> impl FnOnce(&str) -> T {
    move |message| {
        // SAFETY: the context is alive for the call.
        emit_at(unsafe { mlirLocationUnknownGet(context) }, message);
        answer
    }
}

fn emit_at(location: MlirLocation, message: &str) {
    let message = CString::new(message.replace('\0', " ")).expect("no byte is 0");
    // SAFETY: the location is alive for the call; the message is copied.
    unsafe { mlirEmitError(location, message.as_ptr()) };
}
