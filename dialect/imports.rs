//! What Rust takes from C++: the `layout_cc_*` of `Glue.h`, and of MLIR's C API what melior does not have.

use crate::indexing_map as map;
use layout::text::Error;
use melior::{
    Context,
    dialect::DialectRegistry,
    ir::{
        AffineMap, Attribute, OperationRef, Type, TypeLike, Value, ValueLike,
        operation::{OperationLike, OperationResult},
        r#type::{MemRefType, RankedTensorType},
    },
};
use mlir_sys::{
    MlirAffineMap, MlirAttribute, MlirContext, MlirDialectRegistry, MlirOperation, MlirStringCallback, MlirStringRef,
    MlirWalkOrder_MlirWalkPreOrder, MlirWalkResult, MlirWalkResult_MlirWalkResultAdvance,
    mlirComplexTypeGetElementType, mlirMemRefTypeGetLayout, mlirMemRefTypeGetMemorySpace, mlirOperationSetOperand,
    mlirOperationWalk, mlirRankedTensorTypeGetEncoding, mlirShapedTypeGetDimSize, mlirShapedTypeGetDynamicSize,
    mlirShapedTypeGetRank,
};
use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
};

#[link(name = "layout_dialect_glue", kind = "static")]
unsafe extern "C" {
    pub(crate) fn layout_cc_register(
        registry: MlirDialectRegistry,
        error: MlirStringCallback,
        user: *mut c_void,
    ) -> bool;
    pub(crate) fn layout_cc_load(context: MlirContext) -> bool;
    pub(crate) fn layout_cc_tiled_text(attribute: MlirAttribute) -> MlirStringRef;
    pub(crate) fn layout_cc_tiled_get(context: MlirContext, text: MlirStringRef) -> MlirAttribute;
    pub(crate) fn layout_cc_tensor_layout_text(attribute: MlirAttribute) -> MlirStringRef;
    pub(crate) fn layout_cc_tensor_layout_get(context: MlirContext, text: MlirStringRef) -> MlirAttribute;
    pub(crate) fn layout_cc_machine_text(attribute: MlirAttribute) -> MlirStringRef;
    pub(crate) fn layout_cc_machine_get(context: MlirContext, text: MlirStringRef) -> MlirAttribute;
    pub(crate) fn layout_cc_axis_get(context: MlirContext, name: MlirStringRef, level: i64) -> MlirAttribute;
    pub(crate) fn layout_cc_axis_name(attribute: MlirAttribute) -> MlirStringRef;
    pub(crate) fn layout_cc_axis_level(axis: MlirAttribute) -> i64;
    pub(crate) fn layout_cc_memory_space_number(attribute: MlirAttribute) -> i64;
    pub(crate) fn layout_cc_memory_space_get(context: MlirContext, number: i64) -> MlirAttribute;
    pub(crate) fn layout_cc_indexing_map_parts(attribute: MlirAttribute, parts: *mut RawIndexingMap) -> bool;
    pub(crate) fn layout_cc_indexing_map_get(context: MlirContext, parts: *const RawIndexingMap) -> MlirAttribute;
    pub(crate) fn layout_cc_pending_layout(attribute: MlirAttribute) -> MlirAttribute;
    pub(crate) fn layout_cc_pending_get(layout: MlirAttribute) -> MlirAttribute;
}

/// `LayoutIndexingMap` in `Glue.h`.
#[repr(C)]
pub(crate) struct RawIndexingMap {
    pub kind: i64,
    pub map: MlirAffineMap,
    pub ranges: i64,
    pub intervals: *const i64,
    pub interval_count: usize,
    pub constraints: MlirAffineMap,
    pub constraint_intervals: *const i64,
    pub constraint_interval_count: usize,
    pub names: MlirStringRef,
}

impl RawIndexingMap {
    /// Copies what the pointers show.
    ///
    /// # Safety
    /// The pointers are valid for as many elements as is said, and the maps are alive.
    pub unsafe fn read<'c>(&self) -> map::Parts<'c> {
        // SAFETY: the caller's promise; a slice without elements may have a null pointer.
        let slice = |at: *const i64, count| match count {
            0 => Vec::new(),
            _ => unsafe { std::slice::from_raw_parts(at, count) }.to_vec(),
        };
        map::Parts {
            kind: self.kind,
            // SAFETY: the caller's promise.
            map: unsafe { AffineMap::from_raw(self.map) },
            ranges: self.ranges,
            intervals: slice(self.intervals, self.interval_count),
            // SAFETY: the caller's promise.
            constraints: unsafe { AffineMap::from_raw(self.constraints) },
            constraint_intervals: slice(self.constraint_intervals, self.constraint_interval_count),
            // SAFETY: the caller's promise.
            names: String::from_utf8_lossy(unsafe { bytes(self.names) }.unwrap_or_default()).into_owned(),
        }
    }
}

/// Adds the dialect to a registry.
///
/// # Panics
/// Where the registry has it from another copy of this library.
pub fn register(registry: &DialectRegistry) {
    // SAFETY: the registry is alive.
    unsafe { register_raw(registry.to_raw()) }.unwrap_or_else(|error| panic!("{error}"));
}

/// Adds the dialect to a registry that C++ owns.
///
/// # Errors
/// Where the registry has it from another copy of this library, which is left in charge; says from which file.
///
/// # Safety
/// The registry is alive.
#[doc(hidden)]
pub unsafe fn register_raw(registry: MlirDialectRegistry) -> Result<(), String> {
    unsafe extern "C" fn write(text: MlirStringRef, message: *mut c_void) {
        // SAFETY: this is the string that `register_raw` hands over, and the text is valid for the call.
        let (text, message) = unsafe { (bytes(text).unwrap_or_default(), &mut *message.cast::<String>()) };
        *message = String::from_utf8_lossy(text).trim_end().into();
    }
    let mut message = String::new();
    // SAFETY: the caller's promise; the string is for this call.
    let done = unsafe { layout_cc_register(registry, Some(write), (&raw mut message).cast()) };
    if done { Ok(()) } else { Err(message) }
}

/// Loads the dialect into a context; again does nothing.
///
/// # Errors
/// Where the context's registry does not have the dialect, or has another copy's.
pub fn load(context: &Context) -> Result<(), Error> {
    // SAFETY: the context is alive.
    match unsafe { layout_cc_load(context.to_raw()) } {
        true => Ok(()),
        false => Err(Error::new("the layout dialect of this library is not registered in the context")),
    }
}

/// [`load`] for what makes an attribute: MLIR can make none of a dialect that is not loaded.
pub(crate) fn loaded(context: &Context) -> MlirContext {
    load(context).unwrap_or_else(|error| panic!("{error}"));
    context.to_raw()
}

/// The sizes of a ranked shaped type; `None` is a dynamic one: `memref<?x3xf32>` has `[None, Some(3)]`.
///
/// # Panics
/// Where the type is no ranked tensor, memref or vector.
pub fn shape(of: Type) -> Vec<Option<i64>> {
    assert!(of.is_ranked_tensor() || of.is_mem_ref() || of.is_vector(), "'{of}' has no shape");
    // SAFETY: the type is alive and a ranked shaped type.
    unsafe {
        let dynamic = mlirShapedTypeGetDynamicSize();
        let sizes =
            (0..mlirShapedTypeGetRank(of.to_raw())).map(|dim| mlirShapedTypeGetDimSize(of.to_raw(), dim as isize));
        sizes.map(|size| (size != dynamic).then_some(size)).collect()
    }
}

/// Runs `body`; where it panics, gives `failed` the message of an internal error and takes its answer.
///
/// For crates that C++ calls: no panic may unwind into it.
///
/// ```
/// let outcome = layout_dialect::guard(|message| Err(message.to_string()), || Ok(["a"][1..][0]));
/// assert!(outcome.unwrap_err().starts_with("internal error: index out of bounds"));
/// ```
#[doc(hidden)]
pub fn guard<T>(failed: impl FnOnce(&str) -> T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
        failed(&format!("internal error: {}", text.unwrap_or("a panic without a message")))
    })
}

/// The element type of a complex type.
pub(crate) fn complex_element(of: Type) -> Type {
    assert!(of.is_complex(), "'{of}' is not complex");
    // SAFETY: the type is alive and complex.
    unsafe { Type::from_raw(mlirComplexTypeGetElementType(of.to_raw())) }
}

/// Calls back with every operation inside one, itself first.
pub(crate) fn walk<'a>(op: OperationRef<'a, 'a>, mut visit: impl FnMut(OperationRef<'a, 'a>)) {
    unsafe extern "C" fn each(op: MlirOperation, user: *mut c_void) -> MlirWalkResult {
        guard(
            |_| (),
            || {
                // SAFETY: this is the closure that `walk` hands over, for the time of that call; the operation is alive.
                let visit = unsafe { &mut *user.cast::<&mut dyn FnMut(OperationRef)>() };
                visit(unsafe { OperationRef::from_raw(op) });
            },
        );
        MlirWalkResult_MlirWalkResultAdvance
    }
    let mut visit: &mut dyn FnMut(OperationRef<'a, 'a>) = &mut visit;
    // SAFETY: the operation is alive, and the closure is for this call.
    unsafe { mlirOperationWalk(op.to_raw(), Some(each), (&raw mut visit).cast(), MlirWalkOrder_MlirWalkPreOrder) }
}

/// The layout and the memory space of a memref type.
pub(crate) fn memref_parts(of: MemRefType) -> (Attribute, Option<Attribute>) {
    // SAFETY: the type is alive and a memref.
    unsafe {
        let space = Attribute::from_option_raw(mlirMemRefTypeGetMemorySpace(of.to_raw()));
        (Attribute::from_raw(mlirMemRefTypeGetLayout(of.to_raw())), space)
    }
}

/// The encoding of a tensor type.
pub(crate) fn encoding(of: RankedTensorType) -> Option<Attribute> {
    // SAFETY: the type is alive and a ranked tensor.
    unsafe { Attribute::from_option_raw(mlirRankedTensorTypeGetEncoding(of.to_raw())) }
}

/// A `layout.convert`.
pub(crate) struct ConvertOp<'c, 'a>(pub OperationRef<'c, 'a>);

impl<'c, 'a> ConvertOp<'c, 'a> {
    /// The operation whose result this is.
    pub fn defining(value: Value<'c, 'a>) -> Option<Self> {
        let owner = OperationResult::try_from(value).ok()?.owner();
        (owner.name().as_string_ref().as_str() == Ok("layout.convert")).then_some(Self(owner))
    }

    /// What is converted.
    pub fn source(&self) -> Value<'c, 'a> {
        self.0.operand(0).expect("layout.convert has one operand")
    }

    /// What it is converted to.
    pub fn result(&self) -> Value<'c, 'a> {
        self.0.result(0).expect("layout.convert has one result").into()
    }

    /// Converts this instead.
    pub fn set_source(&self, source: Value<'c, 'a>) {
        // SAFETY: the operation is alive and has one operand.
        unsafe { mlirOperationSetOperand(self.0.to_raw(), 0, source.to_raw()) }
    }
}

/// The text as C++ takes it, for as long as `text` lives.
pub(crate) fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// The bytes of a text from C++; `None` for a null pointer.
///
/// # Safety
/// The bytes are alive and unchanged for `'a`.
pub(crate) unsafe fn bytes<'a>(text: MlirStringRef) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise; the pointer is not null.
    (!text.data.is_null()).then(|| unsafe { std::slice::from_raw_parts(text.data.cast(), text.length) })
}
