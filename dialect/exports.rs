//! What C++ calls: the `layout_rs_*` of `Glue.h`, and nothing that decides anything.
//!
//! Every function runs its body through [`guard`]. Pointers from C++ are valid for the call, as `Glue.h` promises;
//! nothing is kept.

use crate::attribute::{self, Body};
use crate::imports::{ConvertOp, RawIndexingMap, bytes, guard, string_ref};
use crate::indexing_map as map;
use crate::values::{attribute_from_text, attribute_of, indexing_map, machine, memory_space, tensor_layout, tiled};
use crate::{convert, memory_space as space};
use layout::{layout::Layout, machine::Machine, tensor_layout::TensorLayout, text::Error};
use melior::{
    ContextRef,
    ir::{AffineMap, Attribute, AttributeLike, OperationRef, Type, ValueLike},
};
use mlir_sys::{
    MlirAffineMap, MlirAttribute, MlirContext, MlirOperation, MlirStringCallback, MlirStringRef, MlirType, MlirValue,
    mlirAffineMapMultiDimIdentityGet, mlirAttributeGetContext, mlirEmitError, mlirLocationUnknownGet,
    mlirOperationGetContext, mlirOperationGetLocation, mlirShapedTypeGetDynamicSize,
};
use std::{
    ffi::{CString, c_void},
    ptr,
};

/// Receives an error in a text: the byte offset, what is wrong, and the caller's pointer.
type ErrorAt = unsafe extern "C" fn(usize, MlirStringRef, *mut c_void);

/// Receives numbers: where they are, how many, and the caller's pointer.
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
            let body = unsafe { bytes(body) }.unwrap_or_default();
            let parsed = str::from_utf8(body)
                .map_err(|error| Error::at(error.valid_up_to(), "expected UTF-8 text"))
                .and_then(attribute::parse);
            match parsed {
                // SAFETY: the context is alive.
                Ok(body) => unsafe { attribute_of(context, &body) },
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
        let mnemonic = str::from_utf8(mnemonic).expect("C++ gives the name of an attribute");
        let text = str::from_utf8(text).map_err(|_| "expected UTF-8 text")?;
        // SAFETY: the reference does not outlive the call.
        let attribute = attribute_from_text(unsafe { context.to_ref() }, mnemonic, text);
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
    guard(emit(tiled, ()), || give(result, user, &crate::tiled::minor_to_major(&layout_of(tiled))));
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_tiles(tiled: MlirAttribute, tile: Numbers, user: *mut c_void) {
    guard(emit(tiled, ()), || {
        crate::tiled::tiles(&layout_of(tiled)).iter().for_each(|entries| give(tile, user, entries));
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
        let found = crate::tiled::static_expansion(&layout_of(tiled), &sizes_of(sizes, rank))?.offset(&index);
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
        let expansion = crate::tiled::static_expansion(&layout_of(tiled), &sizes_of(sizes, rank))?;
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
        let expansion = crate::tiled::static_expansion(&layout_of(tiled), &sizes_of(sizes, rank))?;
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
    guard(emit(layout, ()), || tensor_layout_of(layout).axes().iter().for_each(|name| say(axis, user, name)));
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
        let placement = crate::tensor_layout::static_placement(&tensor_layout_of(layout), &sizes_of(sizes, rank))?;
        give(result, result_user, &placement.place(&index).map_err(|error| error.message)?);
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_print_attribute(attribute: MlirAttribute, print: MlirStringCallback, user: *mut c_void) {
    guard(emit(attribute, ()), || {
        // SAFETY: the attribute is alive for the call.
        let given = unsafe { Attribute::from_raw(attribute) };
        let body = if let Some(number) = memory_space(given) {
            Body::MemorySpace(number)
        } else if let Some(map) = indexing_map(given) {
            Body::IndexingMap(map)
        } else if let Some(layout) = tensor_layout(given) {
            Body::TensorLayout(layout)
        } else if let Some(machine) = machine(given) {
            Body::Machine(machine)
        } else {
            Body::Tiled(tiled(given).expect("an attribute with a notation of its own"))
        };
        say(print, user, &attribute::print(&body));
    });
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_indexing_map_verify(
    map: *const RawIndexingMap,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    // SAFETY: C++ gives parts that are valid for the call.
    verdict(error, user, || map::value(&unsafe { (*map).read() }).map(|_| ()))
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_affine_map(tiled: MlirAttribute) -> MlirAffineMap {
    // SAFETY: the context of a live attribute is alive.
    let context = unsafe { ContextRef::from_raw(mlirAttributeGetContext(tiled)) };
    // SAFETY: the reference does not outlive `context`.
    let context = unsafe { context.to_ref() };
    // SAFETY: the context is alive.
    let nothing = unsafe { mlirAffineMapMultiDimIdentityGet(context.to_raw(), 0) };
    guard(emit(tiled, nothing), || {
        let map: AffineMap = crate::tiled::affine_map(context, &layout_of(tiled));
        map.to_raw()
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_is_identity(tiled: MlirAttribute) -> bool {
    guard(emit(tiled, false), || crate::tiled::is_identity(&layout_of(tiled)))
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tiled_verify(text: MlirStringRef, error: MlirStringCallback, user: *mut c_void) -> bool {
    verdict(error, user, || {
        // SAFETY: the text is valid for the call.
        let text = unsafe { bytes(text) }.unwrap_or_default();
        crate::tiled::verify(&String::from_utf8_lossy(text))
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
    verdict(error, user, || crate::tiled::verify_layout(&layout_of(tiled), &sizes_of(sizes, rank)))
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
        write_strides(crate::tiled::strides(&layout_of(tiled), &sizes_of(sizes, rank)), rank, strides, offset)
    })
}

/// Gives C++, which has room for `rank` strides and an offset, the strides and the offset 0; false where there are none.
fn write_strides(found: Option<Vec<Option<i64>>>, rank: usize, strides: *mut i64, offset: *mut i64) -> bool {
    let Some(found) = found else { return false };
    assert_eq!(found.len(), rank, "one stride for each dimension");
    for (dim, stride) in found.into_iter().enumerate() {
        // SAFETY: C++ has room for `rank` strides. The dynamic stride is the dynamic size.
        unsafe { strides.add(dim).write(stride.unwrap_or_else(|| mlirShapedTypeGetDynamicSize())) };
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
    // SAFETY: the type is alive for the call.
    let element = unsafe { Type::from_raw(element) };
    verdict(error, user, || crate::tiled::verify_encoding(&layout_of(tiled), &sizes_of(sizes, rank), element))
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
        crate::tensor_layout::verify(&String::from_utf8_lossy(text))
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_tensor_layout_affine_map(layout: MlirAttribute) -> MlirAffineMap {
    // SAFETY: the context of a live attribute is alive.
    let context = unsafe { ContextRef::from_raw(mlirAttributeGetContext(layout)) };
    // SAFETY: the reference does not outlive `context`.
    let context = unsafe { context.to_ref() };
    // SAFETY: the context is alive.
    let nothing = unsafe { mlirAffineMapMultiDimIdentityGet(context.to_raw(), 0) };
    guard(emit(layout, nothing), || crate::tensor_layout::affine_map(context, &tensor_layout_of(layout)).to_raw())
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
    verdict(error, user, || crate::tensor_layout::verify_layout(&tensor_layout_of(layout), &sizes_of(sizes, rank)))
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
        let found = crate::tensor_layout::strides(&tensor_layout_of(layout), &sizes_of(sizes, rank));
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
    // SAFETY: the type is alive for the call.
    let element = unsafe { Type::from_raw(element) };
    verdict(error, user, || {
        crate::tensor_layout::verify_encoding(&tensor_layout_of(layout), &sizes_of(sizes, rank), element)
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
            crate::machine::verify_attribute(inside, &name, attribute).map_err(|(at, e)| (at.to_raw(), e))
        },
    );
    let Err((at, message)) = checked else { return true };
    if at.ptr == op.ptr {
        say(error, user, &message);
    } else {
        let message = CString::new(message.replace('\0', " ")).expect("no byte is 0");
        // SAFETY: the operation is alive for the call; the message is copied.
        unsafe { mlirEmitError(mlirOperationGetLocation(at), message.as_ptr()) };
    }
    false
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_machine_verify(text: MlirStringRef, error: MlirStringCallback, user: *mut c_void) -> bool {
    verdict(error, user, || {
        // SAFETY: the text is valid for the call.
        let text = String::from_utf8_lossy(unsafe { bytes(text) }.unwrap_or_default()).into_owned();
        // (C15) The text is canonical.
        let canonical = Machine::parse(&text).map_err(|error| error.message)?.to_string();
        if canonical == text { Ok(()) } else { Err(format!("the canonical text of machine {text} is {canonical}")) }
    })
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
        crate::axis::verify_axis(&name, level)
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_pending_verify(layout: MlirAttribute, error: MlirStringCallback, user: *mut c_void) -> bool {
    verdict(error, user, || {
        // SAFETY: the attribute is alive for the call.
        let layout = unsafe { Attribute::from_raw(layout) };
        // (C18) What it carries is a layout of this dialect.
        match tiled(layout).is_some() || tensor_layout(layout).is_some() {
            true => Ok(()),
            false => Err(format!("expected a layout of this dialect, got {layout}")),
        }
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_memory_space_verify(number: i64, error: MlirStringCallback, user: *mut c_void) -> bool {
    verdict(error, user, || space::verify(number))
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
fn layout_of(attribute: MlirAttribute) -> Layout {
    // SAFETY: the attribute is alive for the call.
    tiled(unsafe { Attribute::from_raw(attribute) }).expect("a #layout.tiled attribute")
}

/// The layout of an attribute that C++ knows to be `#layout.tensor_layout`.
fn tensor_layout_of(attribute: MlirAttribute) -> TensorLayout {
    // SAFETY: the attribute is alive for the call.
    tensor_layout(unsafe { Attribute::from_raw(attribute) }).expect("a #layout.tensor_layout attribute")
}

/// The operation that C++ knows to be `layout.convert`.
fn convert_of<'a>(operation: MlirOperation) -> ConvertOp<'a, 'a> {
    // SAFETY: the operation is alive for the call.
    ConvertOp(unsafe { OperationRef::from_raw(operation) })
}

/// The sizes that C++ gives; `None` is a dynamic one.
fn sizes_of(sizes: *const i64, rank: usize) -> Vec<Option<i64>> {
    // SAFETY: C++ has `rank` sizes there for the call, and only then is the pointer looked at.
    let size = |dim| unsafe { *sizes.add(dim) };
    // SAFETY: no argument, no state.
    let dynamic = unsafe { mlirShapedTypeGetDynamicSize() };
    (0..rank).map(size).map(|size| (size != dynamic).then_some(size)).collect()
}

/// The numbers that C++ gives.
fn numbers_of(numbers: *const i64, count: usize) -> Vec<i64> {
    // SAFETY: C++ has `count` numbers there for the call, and only then is the pointer looked at.
    (0..count).map(|at| unsafe { *numbers.add(at) }).collect()
}

/// Gives C++ numbers.
fn give(callback: Numbers, user: *mut c_void, numbers: &[i64]) {
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(numbers.as_ptr(), numbers.len(), user) }
}

/// Tells C++ the error of a check, or the panic in it; true where there is neither.
fn verdict(error: MlirStringCallback, user: *mut c_void, check: impl FnOnce() -> Result<(), String>) -> bool {
    let outcome = guard(|message| Err(message.to_string()), check);
    outcome.map_err(|message| say(error, user, &message)).is_ok()
}

/// Gives C++ a text.
fn say(callback: MlirStringCallback, user: *mut c_void, text: &str) {
    let callback = callback.expect("C++ gives a callback");
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(string_ref(text), user) }
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
        let message = CString::new(message.replace('\0', " ")).expect("no byte is 0");
        // SAFETY: the context is alive for the call; the message is copied.
        unsafe { mlirEmitError(mlirLocationUnknownGet(context), message.as_ptr()) };
        answer
    }
}
