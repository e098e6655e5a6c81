//! The C API: the Rust side of `layout-c/*.h`, which document the functions.
//!
//! Every body goes through [`answer`], which turns an error and a panic into a message for the callback and the given
//! value. Handles may be null and numbers out of range; pointers that are not null are valid for the call.

use layout_dialect::{borrowed, bytes, complaint, guard, hand_over, swizzled_rules, tensor_layout_rules, tiled_rules};
use layout_passes::indexing_analysis;
use melior::{
    ContextRef,
    ir::{Attribute, AttributeLike, OperationRef, Type},
    pass::OperationPassManager,
};
use mlir_sys::{
    MlirAffineMap, MlirAttribute, MlirContext, MlirDialectRegistry, MlirOpPassManager, MlirOperation,
    MlirStringCallback, MlirStringRef, MlirType,
};
use std::{borrow::Cow, ffi::c_void, ptr, slice};
use tensor_layout::maps::Indexing;
use tensor_layout::notations::calculate;
use tensor_layout::places::Placement;
use tensor_layout::tiled::{Expansion, memory_space};

pub(crate) type Outcome<T> = Result<T, Cow<'static, str>>;

pub(crate) const NULL: MlirAttribute = MlirAttribute { ptr: ptr::null() };

// ---------------------------------------------------------------------------------------------------------------------
// Registration and attributes
// ---------------------------------------------------------------------------------------------------------------------

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutRegisterDialect(
    registry: MlirDialectRegistry,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    answer(error, user, false, || {
        if registry.ptr.is_null() {
            return Err("the registry must not be null".into());
        }
        // SAFETY: the registry is alive.
        unsafe { layout_dialect::register_raw(registry) }?;
        Ok(true)
    })
}

/// Defines functions that create an attribute from its text.
macro_rules! from_text {
    ($($function:ident: $mnemonic:literal),*) => {$(
        /// See `Layout.h`.
        #[unsafe(no_mangle)]
        extern "C" fn $function(
            context: MlirContext,
            text: MlirStringRef,
            error: MlirStringCallback,
            user: *mut c_void,
        ) -> MlirAttribute {
            answer(error, user, NULL, || from_text(context, $mnemonic, string(text)?))
        }
    )*};
}

from_text! {
    mlirLayoutTiledAttrGet: "tiled",
    mlirLayoutTensorLayoutAttrGet: "tensor_layout",
    mlirLayoutSwizzledAttrGet: "swizzled",
    mlirLayoutMachineAttrGet: "machine",
    mlirLayoutIndexingMapAttrGet: "indexing_map",
    mlirLayoutMemorySpaceAttrGet: "memory_space"
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutMemorySpaceAttrGetNumbered(
    context: MlirContext,
    number: i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirAttribute {
    answer(error, user, NULL, || {
        memory_space::check(number)?;
        from_text(context, "memory_space", &format!("device {number}"))
    })
}

fn from_text(context: MlirContext, mnemonic: &str, text: &str) -> Outcome<MlirAttribute> {
    if context.ptr.is_null() {
        return Err("the context must not be null".into());
    }
    // SAFETY: the context is alive.
    let context = unsafe { ContextRef::from_raw(context) };
    let made = layout_dialect::attribute_from_text(borrowed(&context), mnemonic, text);
    Ok(made.map_err(|error| complaint(text, &error))?.to_raw())
}

/// Defines functions that test the kind of an attribute.
macro_rules! is_a {
    ($($function:ident: $read:ident),*) => {$(
        /// See `Layout.h`.
        #[unsafe(no_mangle)]
        extern "C" fn $function(attribute: MlirAttribute) -> bool {
            quiet(false, || Ok(layout_dialect::$read(given(attribute)?).is_some()))
        }
    )*};
}

is_a! {
    mlirAttributeIsALayoutTiled: tiled,
    mlirAttributeIsALayoutTensorLayout: tensor_layout,
    mlirAttributeIsALayoutSwizzled: swizzled,
    mlirAttributeIsALayoutMachine: machine,
    mlirAttributeIsALayoutIndexingMap: indexing_map,
    mlirAttributeIsALayoutMemorySpace: memory_space,
    mlirAttributeIsALayoutAxis: axis
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutAttrGetText(attribute: MlirAttribute, text: MlirStringCallback, user: *mut c_void) -> bool {
    quiet(false, || {
        let body = layout_dialect::text(given(attribute)?).ok_or("the attribute has no text of its own")?;
        say(text, user, &body);
        Ok(true)
    })
}

// ---------------------------------------------------------------------------------------------------------------------
// Tiled layouts
// ---------------------------------------------------------------------------------------------------------------------

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetRank(attribute: MlirAttribute) -> isize {
    quiet(-1, || Ok(tiled_of(attribute)?.rank() as isize))
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetMinorToMajor(attribute: MlirAttribute, position: isize) -> i64 {
    quiet(-1, || at(&tiled_rules::minor_to_major(&tiled_of(attribute)?), position).copied())
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetNumTiles(attribute: MlirAttribute) -> isize {
    quiet(-1, || Ok(tiled_of(attribute)?.tiles.len() as isize))
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetTileRank(attribute: MlirAttribute, tile: isize) -> isize {
    quiet(-1, || Ok(at(&tiled_of(attribute)?.tiles, tile)?.len() as isize))
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetTileSize(attribute: MlirAttribute, tile: isize, position: isize) -> i64 {
    quiet(-1, || Ok((*at(at(&tiled_rules::tiles(&tiled_of(attribute)?), tile)?, position)?).max(0)))
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetMemorySpace(attribute: MlirAttribute) -> i64 {
    quiet(-1, || Ok(tiled_of(attribute)?.memory_space.into()))
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetOffset(
    attribute: MlirAttribute,
    rank: isize,
    shape: *const i64,
    index_rank: isize,
    index: *const i64,
    offset: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    answer(error, user, false, || {
        let found = expansion(attribute, rank, shape)?.offset(numbers(index, index_rank)?);
        write(offset, 1, &[found.map_err(|error| error.message)?])?;
        Ok(true)
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTiledAttrGetExpanded(
    attribute: MlirAttribute,
    rank: isize,
    shape: *const i64,
    capacity: isize,
    sizes: *mut i64,
    strides: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> isize {
    answer(error, user, -1, || {
        let expansion = expansion(attribute, rank, shape)?;
        write(sizes, capacity, expansion.sizes())?;
        write(strides, capacity, expansion.strides())
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutMachineAttrGetDefaultLayout(
    attribute: MlirAttribute,
    element: MlirType,
    rank: isize,
    shape: *const i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirAttribute {
    answer(error, user, NULL, || {
        let attribute = given(attribute)?;
        let machine = layout_dialect::machine(attribute).ok_or("the attribute must be a #layout.machine")?;
        if element.ptr.is_null() {
            return Err("the element type must not be null".into());
        }
        // SAFETY: the type is alive.
        let element = unsafe { Type::from_raw(element) };
        let sizes: Vec<_> = numbers(shape, rank)?.iter().copied().map(Some).collect();
        let layout = layout_dialect::default_layout(&machine, element, &sizes)?;
        let context = attribute.context();
        Ok(layout_dialect::tiled_attribute(borrowed(&context), &layout).map_err(|error| error.message)?.to_raw())
    })
}

fn expansion(attribute: MlirAttribute, rank: isize, shape: *const i64) -> Outcome<Expansion> {
    let layout = tiled_of(attribute)?;
    let sizes: Vec<_> = numbers(shape, rank)?.iter().copied().map(Some).collect();
    Ok(tiled_rules::static_expansion(&layout, &sizes)?)
}

// ---------------------------------------------------------------------------------------------------------------------
// TensorLayouts, memory spaces and axes
// ---------------------------------------------------------------------------------------------------------------------

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTensorLayoutAttrGetRank(attribute: MlirAttribute) -> isize {
    quiet(-1, || Ok(tensor_of(attribute)?.rank() as isize))
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTensorLayoutAttrGetNumAxes(attribute: MlirAttribute) -> isize {
    quiet(-1, || Ok(tensor_of(attribute)?.axes().len() as isize))
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTensorLayoutAttrGetAxis(
    attribute: MlirAttribute,
    position: isize,
    name: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    quiet(false, || {
        say(name, user, at(&tensor_of(attribute)?.axes(), position)?);
        Ok(true)
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutTensorLayoutAttrGetPlace(
    attribute: MlirAttribute,
    rank: isize,
    shape: *const i64,
    index_rank: isize,
    index: *const i64,
    capacity: isize,
    place: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> isize {
    answer(error, user, -1, || {
        let layout = tensor_of(attribute)?;
        let sizes: Vec<_> = numbers(shape, rank)?.iter().copied().map(Some).collect();
        let placement: Placement = tensor_layout_rules::static_placement(&layout, &sizes)?;
        let found = placement.place(numbers(index, index_rank)?);
        write(place, capacity, &found.map_err(|error| error.message)?)
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutSwizzledAttrGetOffset(
    attribute: MlirAttribute,
    rank: isize,
    shape: *const i64,
    index_rank: isize,
    index: *const i64,
    offset: *mut i64,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    answer(error, user, false, || {
        let layout = layout_dialect::swizzled(given(attribute)?);
        let layout = layout.ok_or("expected #layout.swizzled, found another attribute")?;
        let sizes: Vec<_> = numbers(shape, rank)?.iter().copied().map(Some).collect();
        let found = swizzled_rules::addresses(&layout, &sizes)?.offset(numbers(index, index_rank)?);
        write(offset, 1, &[found.map_err(|error| error.message)?])?;
        Ok(true)
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutMemorySpaceAttrGetNumber(attribute: MlirAttribute) -> i64 {
    quiet(-1, || Ok(layout_dialect::memory_space(given(attribute)?).ok_or("no memory space")?))
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutAxisAttrGetName(attribute: MlirAttribute, name: MlirStringCallback, user: *mut c_void) -> bool {
    quiet(false, || {
        say(name, user, &axis_of(attribute)?.0);
        Ok(true)
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutAxisAttrGetLevel(attribute: MlirAttribute) -> i64 {
    quiet(-1, || Ok(axis_of(attribute)?.1))
}

// ---------------------------------------------------------------------------------------------------------------------
// Indexing maps and analysis
// ---------------------------------------------------------------------------------------------------------------------

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutIndexingMapAttrGetKind(attribute: MlirAttribute) -> i32 {
    quiet(-1, || {
        Ok(match map_of(attribute)? {
            Indexing::Map(_) => 0,
            Indexing::KnownEmpty => 1,
            Indexing::Undefined => 2,
        })
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutIndexingMapAttrGetAffineMap(attribute: MlirAttribute) -> MlirAffineMap {
    quiet(MlirAffineMap { ptr: ptr::null() }, || {
        let map = layout_dialect::indexing_affine_map(given(attribute)?).ok_or("no indexing map")?;
        Ok(map.to_raw())
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutIndexingMapAttrGetNumRanges(attribute: MlirAttribute) -> isize {
    quiet(-1, || Ok(map_of(attribute)?.map().ok_or("no map")?.ranges as isize))
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutIndexingMapAttrGetInterval(
    attribute: MlirAttribute,
    variable: isize,
    low: *mut i64,
    high: *mut i64,
) -> bool {
    quiet(false, || {
        let map = map_of(attribute)?;
        let interval = at(&map.map().ok_or("no map")?.domain.vars, variable)?;
        write(low, 1, &[interval.lo])?;
        write(high, 1, &[interval.hi])?;
        Ok(true)
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutIndexingMapAttrSimplify(
    attribute: MlirAttribute,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirAttribute {
    answer(error, user, NULL, || {
        let simple = map_of(attribute)?.simplify();
        let context = given(attribute)?.context();
        let made = layout_dialect::indexing_map_attribute(borrowed(&context), &simple);
        Ok(made.map_err(|error| error.message)?.to_raw())
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutSimplifyIndexingMap(
    text: MlirStringRef,
    result: MlirStringCallback,
    result_user: *mut c_void,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    answer(error, user, false, || {
        let text = string(text)?;
        let map = Indexing::parse(text).map_err(|error| complaint(text, &error))?;
        say(result, result_user, &map.simplify().to_string());
        Ok(true)
    })
}

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutCalculate(
    expression: MlirStringRef,
    result: MlirStringCallback,
    result_user: *mut c_void,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    answer(error, user, false, || {
        let text = string(expression)?;
        let found = calculate(text).map_err(|error| complaint(text, &error))?;
        say(result, result_user, &found.to_string());
        Ok(true)
    })
}

/// Receives an attribute, and the caller's pointer.
pub(crate) type AttributeCallback = Option<unsafe extern "C" fn(MlirAttribute, *mut c_void)>;

/// See `Layout.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutOperationGetIndexing(
    op: MlirOperation,
    direction: i32,
    result: isize,
    operand: isize,
    map: AttributeCallback,
    map_user: *mut c_void,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    answer(error, user, false, || {
        if op.ptr.is_null() {
            return Err("the operation must not be null".into());
        }
        let reads = match direction {
            0 => true,
            1 => false,
            _ => return Err(format!("expected direction 0 or 1, found {direction}").into()),
        };
        // SAFETY: the operation is alive for the call.
        let op = unsafe { OperationRef::from_raw(op) };
        let maps = indexing_analysis::between(op, reads, result as i64, operand as i64);
        let callback = map.ok_or("the callback for maps must not be null")?;
        for value in maps.map_err(|error| error.message)? {
            // SAFETY: the caller gives a callback and the pointer it takes.
            unsafe { callback(value.to_raw(), map_user) };
        }
        Ok(true)
    })
}

// ---------------------------------------------------------------------------------------------------------------------
// Passes
// ---------------------------------------------------------------------------------------------------------------------

/// See `Passes.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutRegisterPasses(error: MlirStringCallback, user: *mut c_void) -> bool {
    answer(error, user, false, || {
        layout_passes::try_register()?;
        Ok(true)
    })
}

/// See `Passes.h`.
#[unsafe(no_mangle)]
extern "C" fn mlirLayoutOpPassManagerAdd(
    manager: MlirOpPassManager,
    name: MlirStringRef,
    options: MlirStringRef,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    answer(error, user, false, || {
        let (name, options) = (string(name)?, string(options)?);
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return Err(format!("expected the name of one pass, found `{name}`").into());
        }
        if !balanced(options) {
            return Err(format!("the braces of the options must match, found `{options}`").into());
        }
        let pass = if options.is_empty() { name.to_string() } else { format!("{name}{{{options}}}") };
        add(manager, |manager| layout_passes::add_passes(manager, &pass))
    })
}

/// Whether the braces of a text match.
fn balanced(text: &str) -> bool {
    let depth = text.chars().try_fold(0usize, |depth, c| match c {
        '{' => Some(depth + 1),
        '}' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}

fn add(
    manager: MlirOpPassManager,
    passes: impl FnOnce(OperationPassManager) -> Result<(), melior::Error>,
) -> Outcome<bool> {
    if manager.ptr.is_null() {
        return Err("the pass manager must not be null".into());
    }
    // SAFETY: the manager is alive.
    let manager = unsafe { OperationPassManager::from_raw(manager) };
    match passes(manager) {
        Ok(()) => Ok(true),
        Err(melior::Error::ParsePassPipeline(message)) => Err(message.into()),
        Err(error) => Err(error.to_string().into()),
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Arguments and results
// ---------------------------------------------------------------------------------------------------------------------

/// Runs `body`; after an error or a panic, calls the callback and returns `failed`.
pub(crate) fn answer<T>(
    error: MlirStringCallback,
    user: *mut c_void,
    failed: T,
    body: impl FnOnce() -> Outcome<T>,
) -> T {
    guard(|message| Err(message.to_string().into()), body).unwrap_or_else(|message| {
        say(error, user, &message);
        failed
    })
}

/// [`answer`] for a function without a callback.
pub(crate) fn quiet<T>(failed: T, body: impl FnOnce() -> Outcome<T>) -> T {
    answer(None, ptr::null_mut(), failed, body)
}

/// Passes a text to a callback, if any.
pub(crate) fn say(callback: MlirStringCallback, user: *mut c_void, text: &str) {
    // SAFETY: the caller gives a callback and the pointer it takes.
    unsafe { hand_over(callback, user, text) }
}

/// An attribute from C.
pub(crate) fn given<'a>(attribute: MlirAttribute) -> Outcome<Attribute<'a>> {
    // SAFETY: the attribute is alive for the call.
    unsafe { Attribute::from_option_raw(attribute) }.ok_or("the attribute must not be null".into())
}

pub(crate) fn tiled_of(attribute: MlirAttribute) -> Outcome<tensor_layout::tiled::Layout> {
    layout_dialect::tiled(given(attribute)?).ok_or("expected #layout.tiled, found another attribute".into())
}

pub(crate) fn tensor_of(attribute: MlirAttribute) -> Outcome<tensor_layout::places::TensorLayout> {
    layout_dialect::tensor_layout(given(attribute)?)
        .ok_or("expected #layout.tensor_layout, found another attribute".into())
}

fn axis_of(attribute: MlirAttribute) -> Outcome<(String, i64)> {
    layout_dialect::axis(given(attribute)?).ok_or("expected #layout.axis, found another attribute".into())
}

fn map_of(attribute: MlirAttribute) -> Outcome<Indexing> {
    layout_dialect::indexing_map(given(attribute)?)
        .ok_or("expected #layout.indexing_map, found another attribute".into())
}

/// The element at a position from C.
fn at<T>(all: &[T], position: isize) -> Outcome<&T> {
    let element = usize::try_from(position).ok().and_then(|position| all.get(position));
    element.ok_or_else(|| format!("the position must be 0 or more and below {}, found {position}", all.len()).into())
}

/// A text from C; a null pointer is an empty one.
pub(crate) fn string<'a>(text: MlirStringRef) -> Outcome<&'a str> {
    // SAFETY: the text is valid for the call.
    let bytes = unsafe { bytes(text) }.unwrap_or_default();
    str::from_utf8(bytes).map_err(|_| "expected UTF-8 text".into())
}

/// Numbers from C.
pub(crate) fn numbers<'a>(numbers: *const i64, count: isize) -> Outcome<&'a [i64]> {
    match usize::try_from(count) {
        Err(_) => Err(format!("the number of numbers must not be negative, found {count}").into()),
        Ok(0) => Ok(&[]),
        Ok(_) if numbers.is_null() => Err("the pointer to numbers must not be null".into()),
        // SAFETY: the pointer has `count` numbers, valid for the call.
        Ok(count) => Ok(unsafe { slice::from_raw_parts(numbers, count) }),
    }
}

/// Writes the numbers that fit into `capacity`; returns the number of all.
pub(crate) fn write(room: *mut i64, capacity: isize, numbers: &[i64]) -> Outcome<isize> {
    let capacity = usize::try_from(capacity).map_err(|_| "the capacity must not be negative")?;
    let fitting = &numbers[..capacity.min(numbers.len())];
    if !fitting.is_empty() && room.is_null() {
        return Err("the pointer to room for numbers must not be null".into());
    }
    for (k, number) in fitting.iter().enumerate() {
        // SAFETY: there is room for `capacity` numbers.
        unsafe { room.add(k).write(*number) };
    }
    Ok(numbers.len() as isize)
}
