//! Functions from C++: the `layout_cc_*` of `Glue.h`, and the part of MLIR's C API that melior lacks. Each appears here
//! once as a safe function, so that no other file has to know the C++ side.
//!
//! These are sound: melior's handles (`Attribute<'c>`, `Type<'c>`, `OperationRef<'c, 'a>`) are non-null
//! pointers into a context that lives for `'c`. MLIR never frees an attribute or a type while its context lives, so
//! texts and parts that C++ lends from an attribute live for `'c` as well.

use crate::indexing_map as map;
use crate::strings::{bytes, string_ref, with_message};
use ::tensor_layout::text::Error;
use melior::{
    Context,
    dialect::DialectRegistry,
    ir::{
        AffineMap, Attribute, AttributeLike, OperationRef, Type, TypeLike, Value, ValueLike,
        operation::{OperationLike, OperationResult},
        r#type::{MemRefType, RankedTensorType},
    },
};
use mlir_sys::{
    MlirAffineMap, MlirAttribute, MlirContext, MlirDialectRegistry, MlirOperation, MlirStringCallback, MlirStringRef,
    MlirType, MlirWalkOrder_MlirWalkPreOrder, MlirWalkResult, MlirWalkResult_MlirWalkResultAdvance,
    MlirWalkResult_MlirWalkResultInterrupt, mlirComplexTypeGetElementType, mlirMemRefTypeGetLayout,
    mlirMemRefTypeGetMemorySpace, mlirOperationSetOperand, mlirOperationWalk, mlirRankedTensorTypeGetEncoding,
    mlirShapedTypeGetDimSize, mlirShapedTypeGetDynamicSize, mlirShapedTypeGetRank, mlirTypeIsAShaped,
};
use std::{
    ffi::c_void,
    mem::MaybeUninit,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    slice,
    thread::Result as Caught,
};

#[link(name = "layout_dialect_glue", kind = "static")]
unsafe extern "C" {
    fn layout_cc_register(registry: MlirDialectRegistry, error: MlirStringCallback, user: *mut c_void) -> bool;
    fn layout_cc_load(context: MlirContext) -> bool;
    fn layout_cc_resource_data(attribute: MlirAttribute) -> MlirStringRef;
    fn layout_cc_resource_with_type(attribute: MlirAttribute, r#type: MlirType) -> MlirAttribute;
    fn layout_cc_tiled_text(attribute: MlirAttribute) -> MlirStringRef;
    fn layout_cc_tiled_get(context: MlirContext, text: MlirStringRef) -> MlirAttribute;
    fn layout_cc_tensor_layout_text(attribute: MlirAttribute) -> MlirStringRef;
    fn layout_cc_tensor_layout_get(context: MlirContext, text: MlirStringRef) -> MlirAttribute;
    fn layout_cc_swizzled_text(attribute: MlirAttribute) -> MlirStringRef;
    fn layout_cc_swizzled_get(context: MlirContext, text: MlirStringRef) -> MlirAttribute;
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

// ---------------------------------------------------------------------------------------------------------------------
// The dialect in registries and contexts
// ---------------------------------------------------------------------------------------------------------------------

/// Adds the dialect to a registry.
///
/// # Panics
/// If the registry has it from another copy of this library.
pub fn register(registry: &DialectRegistry) {
    // SAFETY: the registry is alive.
    unsafe { register_raw(registry.to_raw()) }.unwrap_or_else(|error| panic!("{error}"));
}

/// Adds the dialect to a registry that C++ owns.
///
/// # Errors
/// If the registry has it from another copy of this library, which stays in charge; names its file.
///
/// # Safety
/// The registry is alive.
#[doc(hidden)]
pub unsafe fn register_raw(registry: MlirDialectRegistry) -> Result<(), String> {
    // SAFETY: the caller's promise; the callback is called with the pointer that comes with it.
    with_message(|error, user| unsafe { layout_cc_register(registry, error, user) })
}

/// Loads the dialect into a context; further calls do nothing.
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

// ---------------------------------------------------------------------------------------------------------------------
// Attributes: the parts that C++ keeps of each, and their constructors
// ---------------------------------------------------------------------------------------------------------------------

/// An attribute that C++ keeps as its canonical text.
pub struct TextAttribute {
    text: unsafe extern "C" fn(MlirAttribute) -> MlirStringRef,
    get: unsafe extern "C" fn(MlirContext, MlirStringRef) -> MlirAttribute,
}

/// The bytes of a `dense_resource`; `None` where the module has none of its name, and for any other attribute.
pub fn resource_data<'c>(attribute: Attribute<'c>) -> Option<&'c [u8]> {
    // SAFETY: the attribute is alive, and no pass changes or frees a resource of the context.
    unsafe { bytes(layout_cc_resource_data(attribute.to_raw())) }
}

/// A `dense_resource` with another type of as many elements; `None` for any other attribute, and a type without shape.
pub fn resource_with_type<'c>(attribute: Attribute<'c>, t: Type<'c>) -> Option<Attribute<'c>> {
    let (attribute, t) = (attribute.to_raw(), t.to_raw());
    // SAFETY: both are alive, and the type has a shape.
    unsafe { Attribute::from_option_raw(mlirTypeIsAShaped(t).then(|| layout_cc_resource_with_type(attribute, t))?) }
}

/// `#layout.tiled`
pub const TILED: TextAttribute = TextAttribute { text: layout_cc_tiled_text, get: layout_cc_tiled_get };
/// `#layout.tensor_layout`
pub const TENSOR_LAYOUT: TextAttribute =
    TextAttribute { text: layout_cc_tensor_layout_text, get: layout_cc_tensor_layout_get };
/// `#layout.swizzled`
pub const SWIZZLED: TextAttribute = TextAttribute { text: layout_cc_swizzled_text, get: layout_cc_swizzled_get };
/// `#layout.machine`
pub const MACHINE: TextAttribute = TextAttribute { text: layout_cc_machine_text, get: layout_cc_machine_get };

impl TextAttribute {
    /// The text of such an attribute; `None` for any other attribute.
    ///
    /// # Panics
    /// Where C++ made the attribute, unchecked, from a text that is not UTF-8.
    pub fn text<'c>(&self, attribute: Attribute<'c>) -> Option<&'c str> {
        // SAFETY: the attribute is alive, and its text lives for `'c`.
        let text = unsafe { bytes((self.text)(attribute.to_raw()))? };
        Some(str::from_utf8(text).expect("the text of an attribute is UTF-8"))
    }

    /// The attribute with a text that is canonical.
    pub fn of_text<'c>(&self, context: &'c Context, text: &str) -> Result<Attribute<'c>, Error> {
        load(context)?;
        // SAFETY: the context is alive and has the dialect; the text is copied.
        Ok(unsafe { Attribute::from_raw((self.get)(context.to_raw(), string_ref(text))) })
    }
}

/// The name and the level of a `#layout.axis` attribute; `None` for any other attribute.
pub fn axis(attribute: Attribute) -> Option<(String, i64)> {
    // SAFETY: the attribute is alive, and its name lives as long.
    let name = unsafe { bytes(layout_cc_axis_name(attribute.to_raw())) }?;
    // SAFETY: it has a name, so it is an axis, which is what C++ casts it to.
    let level = unsafe { layout_cc_axis_level(attribute.to_raw()) };
    Some((String::from_utf8_lossy(name).into_owned(), level))
}

/// The `#layout.axis` attribute of a name and a level that its verifier accepts.
pub fn axis_of<'c>(context: &'c Context, name: &str, level: i64) -> Result<Attribute<'c>, Error> {
    load(context)?;
    // SAFETY: the context is alive and has the dialect; the text is copied.
    Ok(unsafe { Attribute::from_raw(layout_cc_axis_get(context.to_raw(), string_ref(name), level)) })
}

/// The number of a `#layout.memory_space` attribute; `None` for any other attribute.
pub fn memory_space(attribute: Attribute) -> Option<i64> {
    // SAFETY: the attribute is alive.
    let number = unsafe { layout_cc_memory_space_number(attribute.to_raw()) };
    (number >= 0).then_some(number)
}

/// The `#layout.memory_space` attribute of a number that its verifier accepts.
pub fn memory_space_of(context: &Context, number: i64) -> Result<Attribute<'_>, Error> {
    load(context)?;
    // SAFETY: the context is alive and has the dialect.
    Ok(unsafe { Attribute::from_raw(layout_cc_memory_space_get(context.to_raw(), number)) })
}

/// The layout attribute inside a `#layout.pending` attribute; `None` for any other attribute.
pub fn pending(attribute: Attribute) -> Option<Attribute> {
    // SAFETY: the attribute is alive.
    unsafe { Attribute::from_option_raw(layout_cc_pending_layout(attribute.to_raw())) }
}

/// The `#layout.pending` attribute around a layout of this dialect; `None` where the attribute is something else.
pub fn pending_of(layout: Attribute) -> Option<Attribute> {
    [TILED, TENSOR_LAYOUT, SWIZZLED].iter().find_map(|kind| kind.text(layout))?;
    // SAFETY: the attribute is alive, and has the interface of memref layouts, which C++ casts it to.
    Some(unsafe { Attribute::from_raw(layout_cc_pending_get(layout.to_raw())) })
}

/// `LayoutIndexingMap` in `Glue.h`.
#[repr(C)]
pub struct RawIndexingMap {
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
    /// Copies the elements behind the pointers.
    ///
    /// # Safety
    /// The pointers are valid for as many elements as the counts say, and the maps live for `'c`.
    pub unsafe fn read<'c>(&self) -> map::Parts<'c> {
        let numbers = |at: *const i64, count| match count {
            // Without elements the pointer may be null, which no slice may be made of.
            0 => Vec::new(),
            // SAFETY: the caller's promise.
            _ => unsafe { slice::from_raw_parts(at, count) }.to_vec(),
        };
        // SAFETY: the caller's promise.
        let maps = unsafe { [AffineMap::from_raw(self.map), AffineMap::from_raw(self.constraints)] };
        // SAFETY: the caller's promise.
        let names = unsafe { bytes(self.names) }.unwrap_or_default();
        map::Parts {
            kind: self.kind,
            map: maps[0],
            ranges: self.ranges,
            intervals: numbers(self.intervals, self.interval_count),
            constraints: maps[1],
            constraint_intervals: numbers(self.constraint_intervals, self.constraint_interval_count),
            names: String::from_utf8_lossy(names).into_owned(),
        }
    }
}

/// The parts of a `#layout.indexing_map` attribute; `None` for any other attribute.
pub fn indexing_map<'c>(attribute: Attribute<'c>) -> Option<map::Parts<'c>> {
    let mut parts = MaybeUninit::<RawIndexingMap>::uninit();
    // SAFETY: the attribute is alive, and there is room for the parts.
    let is_map = unsafe { layout_cc_indexing_map_parts(attribute.to_raw(), parts.as_mut_ptr()) };
    // SAFETY: the parts of an indexing map are written, and live for `'c`.
    is_map.then(|| unsafe { parts.assume_init().read() })
}

/// The `#layout.indexing_map` attribute of parts that its verifier accepts.
pub fn indexing_map_of<'c>(context: &'c Context, parts: &map::Parts<'c>) -> Result<Attribute<'c>, Error> {
    load(context)?;
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
    // SAFETY: the context is alive and has the dialect; `raw` shows what `parts` holds, and all of it is copied.
    Ok(unsafe { Attribute::from_raw(layout_cc_indexing_map_get(context.to_raw(), &raw)) })
}

// ---------------------------------------------------------------------------------------------------------------------
// Types and operations
// ---------------------------------------------------------------------------------------------------------------------

/// The sizes of a ranked tensor, a memref or a vector; `None` as a size is a dynamic one: `memref<?x3xf32>` has
/// `[None, Some(3)]`. No other type has sizes.
pub fn shape(of: Type) -> Option<Vec<Option<i64>>> {
    if !of.is_ranked_tensor() && !of.is_mem_ref() && !of.is_vector() {
        return None;
    }
    // SAFETY: no argument, no state.
    let dynamic = unsafe { mlirShapedTypeGetDynamicSize() };
    // SAFETY: the type is alive, shaped and ranked.
    let rank = unsafe { mlirShapedTypeGetRank(of.to_raw()) };
    // SAFETY: the same, and the dimension is below the rank.
    let size = |dim| unsafe { mlirShapedTypeGetDimSize(of.to_raw(), dim as isize) };
    Some((0..rank).map(size).map(|size| (size != dynamic).then_some(size)).collect())
}

/// The element type of a complex type; `None` for any other type.
pub fn complex_element(of: Type) -> Option<Type> {
    // SAFETY: the type is alive and complex.
    of.is_complex().then(|| unsafe { Type::from_raw(mlirComplexTypeGetElementType(of.to_raw())) })
}

/// The layout and the memory space of a memref type.
pub fn memref_parts(of: MemRefType) -> (Attribute, Option<Attribute>) {
    // SAFETY: the type is alive and a memref, which always has a layout.
    let layout = unsafe { Attribute::from_raw(mlirMemRefTypeGetLayout(of.to_raw())) };
    // SAFETY: the type is alive and a memref.
    let space = unsafe { Attribute::from_option_raw(mlirMemRefTypeGetMemorySpace(of.to_raw())) };
    (layout, space)
}

/// The encoding of a tensor type.
pub fn encoding(of: RankedTensorType) -> Option<Attribute> {
    // SAFETY: the type is alive and a ranked tensor.
    unsafe { Attribute::from_option_raw(mlirRankedTensorTypeGetEncoding(of.to_raw())) }
}

/// Visits an operation and every operation inside it, outer ones first, until the visitor breaks; returns the break
/// value.
///
/// A panic of the visitor stops the walk and continues from here, past C++.
pub fn walk<'a, B>(
    op: OperationRef<'a, 'a>,
    mut visit: impl FnMut(OperationRef<'a, 'a>) -> ControlFlow<B>,
) -> ControlFlow<B> {
    /// Takes an operation; false to stop.
    type Each<'v, 'a> = &'v mut dyn FnMut(OperationRef<'a, 'a>) -> bool;

    unsafe extern "C" fn call(op: MlirOperation, each: *mut c_void) -> MlirWalkResult {
        // SAFETY: this is the closure that `walk` passes, which lives until the walk is over.
        let each = unsafe { &mut *each.cast::<Each<'_, '_>>() };
        // SAFETY: MLIR walks over operations that are alive, all inside the one that is for `'a`.
        let go_on = each(unsafe { OperationRef::from_raw(op) });
        if go_on { MlirWalkResult_MlirWalkResultAdvance } else { MlirWalkResult_MlirWalkResultInterrupt }
    }

    let mut outcome: Caught<ControlFlow<B>> = Ok(ControlFlow::Continue(()));
    let mut each: Each<'_, 'a> = &mut |op| {
        outcome = catch_unwind(AssertUnwindSafe(|| visit(op)));
        matches!(outcome, Ok(ControlFlow::Continue(())))
    };
    // SAFETY: the operation is alive, and the closure outlives the call.
    unsafe { mlirOperationWalk(op.to_raw(), Some(call), (&raw mut each).cast(), MlirWalkOrder_MlirWalkPreOrder) };
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// A `layout.convert`.
pub struct ConvertOp<'c, 'a>(OperationRef<'c, 'a>);

impl<'c, 'a> ConvertOp<'c, 'a> {
    /// The operation as a `layout.convert`; `None` where it is another one.
    pub fn of(operation: OperationRef<'c, 'a>) -> Option<Self> {
        (operation.name().as_string_ref().as_str() == Ok("layout.convert")).then_some(Self(operation))
    }

    /// The `layout.convert` that defines a value.
    pub fn defining(value: Value<'c, 'a>) -> Option<Self> {
        Self::of(OperationResult::try_from(value).ok()?.owner())
    }

    /// The converted value.
    pub fn source(&self) -> Value<'c, 'a> {
        self.0.operand(0).expect("layout.convert has one operand")
    }

    /// The result of the conversion.
    pub fn result(&self) -> Value<'c, 'a> {
        self.0.result(0).expect("layout.convert has one result").into()
    }

    /// Whether the conversion is an asynchronous copy.
    pub fn is_async(&self) -> bool {
        self.0.has_attribute("async")
    }

    /// Replaces the source.
    pub fn set_source(&self, source: Value<'c, 'a>) {
        // SAFETY: the operation is alive and has one operand; both values are of the same program.
        unsafe { mlirOperationSetOperand(self.0.to_raw(), 0, source.to_raw()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::Module;

    /// `walk` must propagate a panic of its visitor: a verifier that panics must not accept.
    #[test]
    fn a_panic_of_the_visitor_leaves_the_walk() {
        let context = Context::new();
        let module = Module::parse(&context, "module { module {} }").unwrap();
        let mut visited = 0;
        let panic = catch_unwind(AssertUnwindSafe(|| {
            walk(module.as_operation(), |_| -> ControlFlow<()> {
                visited += 1;
                panic!("at {visited}")
            })
        }));
        assert_eq!(panic.unwrap_err().downcast_ref::<String>().map(String::as_str), Some("at 1"));
        assert_eq!(visited, 1);
    }

    #[test]
    fn a_walk_goes_on_until_the_visitor_breaks() {
        let context = Context::new();
        let module = Module::parse(&context, "module { module {} module {} }").unwrap();
        let mut visited = 0;
        let mut stop_at = |last| {
            visited = 0;
            walk(module.as_operation(), |_| {
                visited += 1;
                if visited == last { ControlFlow::Break(visited) } else { ControlFlow::Continue(()) }
            })
        };
        assert_eq!(stop_at(2), ControlFlow::Break(2));
        assert_eq!(stop_at(9), ControlFlow::Continue(()));
        assert_eq!(visited, 3);
    }
}
