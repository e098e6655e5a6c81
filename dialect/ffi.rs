//! Where C++ and Rust meet: the Rust side of `Glue.h`, and nothing that decides anything.
//!
//! Every function that C++ calls runs its body through [`guard`]. Pointers from C++ are valid for the call, as
//! `Glue.h` promises; nothing is kept.

use crate::attribute::{self, Body};
use crate::indexing_map as map;
use crate::{convert, memory_space as space};
use ::tensor_layout::maps::Indexing;
use ::tensor_layout::places::{Machine, TensorLayout};
use ::tensor_layout::text::Error;
use ::tensor_layout::tiled::Layout;
use melior::{
    Context, ContextRef,
    dialect::DialectRegistry,
    ir::{
        AffineMap, Attribute, AttributeLike, OperationRef, Type, TypeLike, Value, ValueLike,
        operation::{OperationLike, OperationResult},
        r#type::{MemRefType, RankedTensorType},
    },
};
use mlir_sys::{
    MlirAffineMap, MlirAttribute, MlirContext, MlirDialectRegistry, MlirOperation, MlirStringCallback, MlirStringRef,
    MlirType, MlirValue, MlirWalkOrder_MlirWalkPreOrder, MlirWalkResult, MlirWalkResult_MlirWalkResultAdvance,
    mlirAffineMapMultiDimIdentityGet, mlirAttributeGetContext, mlirComplexTypeGetElementType, mlirEmitError,
    mlirLocationUnknownGet, mlirMemRefTypeGetLayout, mlirMemRefTypeGetMemorySpace, mlirOperationGetContext,
    mlirOperationGetLocation, mlirOperationSetOperand, mlirOperationWalk, mlirRankedTensorTypeGetEncoding,
    mlirShapedTypeGetDimSize, mlirShapedTypeGetDynamicSize, mlirShapedTypeGetRank,
};
use std::{
    ffi::{CString, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

#[link(name = "layout_dialect_glue", kind = "static")]
unsafe extern "C" {
    fn layout_cc_register(registry: MlirDialectRegistry, error: MlirStringCallback, user: *mut c_void) -> bool;
    fn layout_cc_load(context: MlirContext) -> bool;
    fn layout_cc_tiled_text(attribute: MlirAttribute) -> MlirStringRef;
    fn layout_cc_tiled_get(context: MlirContext, text: MlirStringRef) -> MlirAttribute;
    fn layout_cc_tensor_layout_text(attribute: MlirAttribute) -> MlirStringRef;
    fn layout_cc_tensor_layout_get(context: MlirContext, text: MlirStringRef) -> MlirAttribute;
    fn layout_cc_machine_text(attribute: MlirAttribute) -> MlirStringRef;
    fn layout_cc_machine_get(context: MlirContext, text: MlirStringRef) -> MlirAttribute;
    fn layout_cc_axis_get(context: MlirContext, name: MlirStringRef, level: i64) -> MlirAttribute;
    fn layout_cc_axis_name(attribute: MlirAttribute) -> MlirStringRef;
    fn layout_cc_axis_level(axis: MlirAttribute) -> i64;
    fn layout_cc_memory_space_number(attribute: MlirAttribute) -> i64;
    fn layout_cc_memory_space_get(context: MlirContext, number: i64) -> MlirAttribute;
    fn layout_cc_indexing_map_parts(attribute: MlirAttribute, parts: *mut RawIndexingMap) -> bool;
    fn layout_cc_indexing_map_get(context: MlirContext, parts: *const RawIndexingMap) -> MlirAttribute;
    fn layout_cc_pending_layout(attribute: MlirAttribute) -> MlirAttribute;
    fn layout_cc_pending_get(layout: MlirAttribute) -> MlirAttribute;
}

/// `LayoutIndexingMap` in `Glue.h`.
#[repr(C)]
struct RawIndexingMap {
    kind: i64,
    map: MlirAffineMap,
    ranges: i64,
    intervals: *const i64,
    interval_count: usize,
    constraints: MlirAffineMap,
    constraint_intervals: *const i64,
    constraint_interval_count: usize,
    names: MlirStringRef,
}

impl RawIndexingMap {
    /// Copies what the pointers show.
    ///
    /// # Safety
    /// The pointers are valid for as many elements as is said, and the maps are alive.
    unsafe fn read<'c>(&self) -> map::Parts<'c> {
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

// ---------------------------------------------------------------------------------------------------------------------
// For Rust
// ---------------------------------------------------------------------------------------------------------------------

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
fn loaded(context: &Context) -> MlirContext {
    load(context).unwrap_or_else(|error| panic!("{error}"));
    context.to_raw()
}

/// The attribute `#layout.MNEMONIC<text>`, for `tiled`, `tensor_layout`, `machine`, `memory_space` and `indexing_map`.
///
/// # Errors
/// Says what is wrong in the text, and where; or that the context does not have the dialect.
pub fn attribute_from_text<'c>(context: &'c Context, mnemonic: &str, text: &str) -> Result<Attribute<'c>, Error> {
    load(context)?;
    let body = attribute::parse_text(mnemonic, text)?;
    // SAFETY: the context is alive and has the dialect.
    Ok(unsafe { Attribute::from_raw(attribute_of(context.to_raw(), &body)) })
}

/// The layout of a `#layout.tiled` attribute; `None` for any other attribute.
///
/// # Panics
/// Where C++ made the attribute from a text that is no layout.
pub fn tiled(attribute: Attribute) -> Option<Layout> {
    // SAFETY: the attribute is alive, and its text lives as long as its context.
    let text = unsafe { bytes(layout_cc_tiled_text(attribute.to_raw()))? };
    let text = str::from_utf8(text).expect("the text of a layout is UTF-8");
    Some(Layout::parse(text).unwrap_or_else(|error| panic!("#layout.tiled<{text}> holds no layout: {error}")))
}

/// The `#layout.tiled` attribute of a layout.
///
/// # Panics
/// Where [`load`] has an error.
pub fn tiled_attribute<'c>(context: &'c Context, layout: &Layout) -> Attribute<'c> {
    // SAFETY: the context is alive and has the dialect; the text is copied.
    unsafe { Attribute::from_raw(layout_cc_tiled_get(loaded(context), string_ref(&layout.to_string()))) }
}

/// The layout of a `#layout.tensor_layout` attribute; `None` for any other attribute.
///
/// # Panics
/// Where C++ made the attribute from a text that is no layout.
pub fn tensor_layout(attribute: Attribute) -> Option<TensorLayout> {
    // SAFETY: the attribute is alive, and its text lives as long as its context.
    let text = unsafe { bytes(layout_cc_tensor_layout_text(attribute.to_raw()))? };
    let text = str::from_utf8(text).expect("the text of a layout is UTF-8");
    let layout = TensorLayout::parse(text);
    Some(layout.unwrap_or_else(|error| panic!("#layout.tensor_layout<{text}> holds no layout: {error}")))
}

/// The `#layout.tensor_layout` attribute of a layout.
///
/// # Panics
/// Where [`load`] has an error.
pub fn tensor_layout_attribute<'c>(context: &'c Context, layout: &TensorLayout) -> Attribute<'c> {
    // SAFETY: the context is alive and has the dialect; the text is copied.
    unsafe { Attribute::from_raw(layout_cc_tensor_layout_get(loaded(context), string_ref(&layout.to_string()))) }
}

/// The machine of a `#layout.machine` attribute; `None` for any other attribute.
///
/// # Panics
/// Where C++ made the attribute from a text that is no machine.
pub fn machine(attribute: Attribute) -> Option<Machine> {
    // SAFETY: the attribute is alive, and its text lives as long as its context.
    let text = unsafe { bytes(layout_cc_machine_text(attribute.to_raw()))? };
    let text = str::from_utf8(text).expect("the text of a machine is UTF-8");
    Some(Machine::parse(text).unwrap_or_else(|error| panic!("#layout.machine<{text}> holds no machine: {error}")))
}

/// The `#layout.machine` attribute of a machine.
///
/// # Panics
/// Where [`load`] has an error.
pub fn machine_attribute<'c>(context: &'c Context, machine: &Machine) -> Attribute<'c> {
    // SAFETY: the context is alive and has the dialect; the text is copied.
    unsafe { Attribute::from_raw(layout_cc_machine_get(loaded(context), string_ref(&machine.to_string()))) }
}

/// The `#layout.axis` attribute of an axis, which is at this level of its machine, 0 at the root.
///
/// # Panics
/// Where [`load`] has an error, and where no axis can have this name.
pub fn axis_attribute<'c>(context: &'c Context, name: &str, level: usize) -> Attribute<'c> {
    let level = i64::try_from(level).expect("a machine has few levels");
    crate::machine::verify_axis(name, level).unwrap_or_else(|message| panic!("{message}"));
    // SAFETY: the context is alive and has the dialect; the text is copied.
    unsafe { Attribute::from_raw(layout_cc_axis_get(loaded(context), string_ref(name), level)) }
}

/// The name and the level of a `#layout.axis` attribute; `None` for any other attribute.
pub fn axis(attribute: Attribute) -> Option<(String, i64)> {
    // SAFETY: the attribute is alive, its text lives as long as its context, and it has a level where it has a name.
    unsafe {
        let name = bytes(layout_cc_axis_name(attribute.to_raw()))?;
        Some((String::from_utf8_lossy(name).into_owned(), layout_cc_axis_level(attribute.to_raw())))
    }
}

/// The affine map that memrefs with this layout have; `None` where the attribute is neither `#layout.tiled` nor
/// `#layout.tensor_layout`.
///
/// It takes a logical index to the index in the expanded sizes of a tiled layout, and to the coordinate along each axis
/// and the local address of a TensorLayout.
pub fn affine_map<'c>(attribute: Attribute<'c>) -> Option<AffineMap<'c>> {
    let context = attribute.context();
    // SAFETY: the context outlives what is made in it, which `'c` says of both.
    let context: &'c Context = unsafe { context.to_ref() };
    match tiled(attribute) {
        Some(layout) => Some(crate::tiled::affine_map(context, &layout)),
        None => tensor_layout(attribute).map(|layout| crate::tensor_layout::affine_map(context, &layout)),
    }
}

/// XLA's number of a `#layout.memory_space` attribute; `None` for any other attribute.
pub fn memory_space(attribute: Attribute) -> Option<i64> {
    // SAFETY: the attribute is alive.
    let number = unsafe { layout_cc_memory_space_number(attribute.to_raw()) };
    (number >= 0).then_some(number)
}

/// The `#layout.memory_space` attribute of one of XLA's numbers.
///
/// # Panics
/// Where [`load`] has an error, and where the number is not in 0 to 127.
pub fn memory_space_attribute(context: &Context, number: i64) -> Attribute<'_> {
    space::verify(number).unwrap_or_else(|message| panic!("{message}, got {number}"));
    // SAFETY: the context is alive and has the dialect.
    unsafe { Attribute::from_raw(layout_cc_memory_space_get(loaded(context), number)) }
}

/// The value of a `#layout.indexing_map` attribute; `None` for any other attribute.
///
/// # Panics
/// Where C++ made the attribute from parts that its verifier refuses.
pub fn indexing_map(attribute: Attribute) -> Option<Indexing> {
    let mut parts = std::mem::MaybeUninit::<RawIndexingMap>::uninit();
    // SAFETY: the attribute is alive; the parts are written where it is an indexing map, and live with the context.
    let parts = unsafe {
        if !layout_cc_indexing_map_parts(attribute.to_raw(), parts.as_mut_ptr()) {
            return None;
        }
        parts.assume_init().read()
    };
    Some(map::value(&parts).unwrap_or_else(|error| panic!("the indexing map does not hold together: {error}")))
}

/// The results of a `#layout.indexing_map` attribute; `None` for any other attribute, and where it is no map.
pub fn indexing_affine_map(attribute: Attribute) -> Option<AffineMap> {
    let mut parts = std::mem::MaybeUninit::<RawIndexingMap>::uninit();
    // SAFETY: the attribute is alive; the parts are written where it is an indexing map, and live with the context.
    unsafe {
        let read = layout_cc_indexing_map_parts(attribute.to_raw(), parts.as_mut_ptr());
        read.then(|| parts.assume_init()).filter(|parts| parts.kind == 0).map(|parts| AffineMap::from_raw(parts.map))
    }
}

/// What stands between the brackets of an attribute of this dialect; `None` for any other attribute and for
/// `#layout.pending`.
pub fn text(attribute: Attribute) -> Option<String> {
    if let Some(number) = memory_space(attribute) {
        return Some(space::print(number));
    }
    if let Some((name, level)) = axis(attribute) {
        return Some(format!("\"{name}\", level = {level}"));
    }
    let layout = tiled(attribute).map(|layout| layout.to_string());
    layout
        .or_else(|| tensor_layout(attribute).map(|layout| layout.to_string()))
        .or_else(|| machine(attribute).map(|machine| machine.to_string()))
        .or_else(|| indexing_map(attribute).map(|map| map.to_string()))
}

/// The `#layout.indexing_map` attribute of a value.
///
/// # Panics
/// Where [`load`] has an error, and where a result or constraint keeps a minimum or maximum, which an affine map cannot say.
pub fn indexing_map_attribute<'c>(context: &'c Context, value: &Indexing) -> Attribute<'c> {
    let parts = map::parts(context, value);
    let raw = RawIndexingMap {
        kind: parts.kind,
        map: parts.map.to_raw(),
        ranges: parts.ranges,
        intervals: parts.intervals.as_ptr(),
        interval_count: parts.intervals.len(),
        constraints: parts.constraints.to_raw(),
        constraint_intervals: parts.constraint_intervals.as_ptr(),
        constraint_interval_count: parts.constraint_intervals.len(),
        names: string_ref(&parts.names),
    };
    // SAFETY: the context is alive and has the dialect; everything is copied.
    unsafe { Attribute::from_raw(layout_cc_indexing_map_get(loaded(context), &raw)) }
}

/// The layout attribute inside a `#layout.pending` attribute; `None` for any other attribute.
pub fn pending(attribute: Attribute) -> Option<Attribute> {
    // SAFETY: the attribute is alive.
    unsafe { Attribute::from_option_raw(layout_cc_pending_layout(attribute.to_raw())) }
}

/// The `#layout.pending` attribute around a layout.
///
/// # Panics
/// Where `layout` is neither a `#layout.tiled` nor a `#layout.tensor_layout` attribute.
pub fn pending_attribute(layout: Attribute) -> Attribute {
    assert!(tiled(layout).is_some() || tensor_layout(layout).is_some(), "{layout} is no layout of this dialect");
    // SAFETY: the attribute is alive, and of the kind that C++ casts it to.
    unsafe { Attribute::from_raw(layout_cc_pending_get(layout.to_raw())) }
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

// ---------------------------------------------------------------------------------------------------------------------
// For the bodies in this crate
// ---------------------------------------------------------------------------------------------------------------------

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
pub(crate) struct ConvertOp<'c, 'a>(OperationRef<'c, 'a>);

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

// ---------------------------------------------------------------------------------------------------------------------
// For C++
// ---------------------------------------------------------------------------------------------------------------------

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

/// The attribute with this body.
///
/// # Safety
/// The context is alive and has the dialect loaded.
unsafe fn attribute_of(context: MlirContext, body: &Body) -> MlirAttribute {
    // SAFETY: the caller's promise; texts are copied.
    unsafe {
        match body {
            Body::Tiled(layout) => layout_cc_tiled_get(context, string_ref(&layout.to_string())),
            Body::TensorLayout(layout) => layout_cc_tensor_layout_get(context, string_ref(&layout.to_string())),
            Body::Machine(machine) => layout_cc_machine_get(context, string_ref(&machine.to_string())),
            Body::IndexingMap(map) => {
                let context = ContextRef::from_raw(context);
                indexing_map_attribute(context.to_ref(), map).to_raw()
            }
            Body::MemorySpace(number) => layout_cc_memory_space_get(context, *number),
        }
    }
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
        crate::machine::verify_axis(&name, level)
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

/// The text as C++ takes it, for as long as `text` lives.
fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// The bytes of a text from C++; `None` for a null pointer.
///
/// # Safety
/// The bytes are alive and unchanged for `'a`.
unsafe fn bytes<'a>(text: MlirStringRef) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise; the pointer is not null.
    (!text.data.is_null()).then(|| unsafe { std::slice::from_raw_parts(text.data.cast(), text.length) })
}
