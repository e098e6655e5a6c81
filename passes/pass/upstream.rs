//! MLIR's C++ that melior does not wrap: each function of `Glue.h` that Rust calls, in a safe function.
//!
//! Pointers are valid for the call; C++ keeps nothing. To add a function of MLIR: declare it in `Glue.h`, define
//! it in `Glue.cpp`, and declare it once more in the `extern` block below with a safe function around it.

use crate::pass::diagnostic::{Diagnostic, Severity};
use layout_dialect::{bytes, string_ref, with_message};
use layout_ir::Op;
use melior::{
    Context, Error,
    ir::{
        AffineMap, Attribute, AttributeLike, Block, OperationRef, Type, TypeLike, Value, ValueLike,
        operation::OperationLike,
    },
    pass::OperationPassManager,
};
use mlir_sys::{
    MlirAffineMap, MlirAttribute, MlirBlock, MlirContext, MlirDiagnosticSeverity,
    MlirDiagnosticSeverity_MlirDiagnosticError, MlirDiagnosticSeverity_MlirDiagnosticRemark,
    MlirDiagnosticSeverity_MlirDiagnosticWarning, MlirLocation, MlirOperation, MlirStringCallback, MlirStringRef,
    MlirType, MlirValue, mlirOpPassManagerAddPipeline,
};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[link(name = "layout_passes_glue", kind = "static")]
unsafe extern "C" {
    fn layout_cc_register_passes(error: MlirStringCallback, user: *mut c_void) -> bool;
    fn layout_cc_emit(
        location: MlirLocation,
        severity: MlirDiagnosticSeverity,
        message: MlirStringRef,
        count: usize,
        note_locations: *const MlirLocation,
        notes: *const MlirStringRef,
    );
    fn layout_cc_affine_is_valid_dim(value: MlirValue) -> bool;
    fn layout_cc_index_bits(op: MlirOperation) -> u64;
    fn layout_cc_contains_layout(r#type: MlirType) -> bool;
    fn layout_cc_is_memory_space(attribute: MlirAttribute) -> bool;
    fn layout_cc_rename_symbols(
        module: MlirOperation,
        count: usize,
        from: *const MlirStringRef,
        to: *const MlirStringRef,
    );
    fn layout_cc_no_signed_wrap(op: MlirOperation) -> bool;
    fn layout_cc_fast_math(op: MlirOperation) -> u32;
    fn layout_cc_fast_math_attribute(context: MlirContext, flags: u32) -> MlirAttribute;
    fn layout_cc_attributes(op: MlirOperation) -> MlirAttribute;
    fn layout_cc_decompose(op: MlirOperation) -> bool;
    fn layout_cc_may_have_cycles(op: MlirOperation) -> bool;
    fn layout_cc_erase_unreachable_blocks(op: MlirOperation) -> bool;
    fn layout_cc_scf_to_cf(root: MlirOperation, count: usize, ops: *const MlirOperation) -> bool;
    fn layout_cc_compute_in_f32(root: MlirOperation, count: usize, types: *const MlirType) -> bool;
    fn layout_cc_call_libm(root: MlirOperation) -> bool;
    fn layout_cc_approximate(
        root: MlirOperation,
        count: usize,
        ops: *const MlirOperation,
        has: unsafe extern "C" fn(MlirStringRef, *mut c_void) -> bool,
        user: *mut c_void,
    );
    fn layout_cc_neutral_element(op: MlirOperation) -> MlirAttribute;
    fn layout_cc_fold(
        op: MlirOperation,
        count: usize,
        operands: *const MlirAttribute,
        exact: bool,
        value: *mut MlirAttribute,
    ) -> i64;
    fn layout_cc_infer_range(
        result: MlirValue,
        bounds: unsafe extern "C" fn(MlirValue, *mut i64, *mut i64, *mut c_void) -> bool,
        user: *mut c_void,
        lo: *mut i64,
        hi: *mut i64,
    ) -> bool;
    fn layout_cc_load_dialects_of_models(op: MlirOperation);
    fn layout_cc_has_model(op: MlirOperation) -> bool;
    fn layout_cc_loops(op: MlirOperation, reduces: Sink<bool>, map: Sink<MlirAffineMap>, user: *mut c_void);
    fn layout_cc_initial_value(op: MlirOperation, result: usize) -> MlirAttribute;
    fn layout_cc_body(op: MlirOperation, block: MlirBlock, value: Sink<MlirValue>, user: *mut c_void);
    fn layout_cc_expand(op: MlirOperation, block: MlirBlock, value: Sink<MlirValue>, user: *mut c_void) -> bool;
    fn layout_cc_layouts(op: MlirOperation, number: usize, layout: Sink<MlirAttribute>, user: *mut c_void);
    fn layout_cc_cost(op: MlirOperation, cost: *mut i64) -> bool;
}

/// Takes an entry of a list of C++'s, and the pointer that comes with the callback.
type Sink<T> = unsafe extern "C" fn(T, *mut c_void);

/// Registers the passes and the pipelines in this process by name, and upstream's passes that the pipelines use.
/// Further calls do nothing.
///
/// # Panics
/// If another copy of this library has registered its passes.
pub fn register() {
    try_register().unwrap_or_else(|error| panic!("{error}"));
}

/// [`register`] for a process that may hold several copies of this library.
///
/// # Errors
/// If another copy registered its passes before; it stays in charge.
pub fn try_register() -> Result<(), String> {
    // SAFETY: C++ sees to it that this runs once, and the callback is for this call.
    with_message(|error, user| unsafe { layout_cc_register_passes(error, user) })
}

/// Adds passes and pipelines, as in the text of a pipeline, at the end of a manager's passes.
///
/// # Errors
/// A name that is not registered, wrong options, a pass over other operations than the manager's, and another copy of
/// this library that registered its passes before.
pub fn add_passes(manager: OperationPassManager, passes: &str) -> Result<(), Error> {
    try_register().map_err(Error::ParsePassPipeline)?;
    let added = with_message(|error, user| {
        // SAFETY: the manager is alive; the text and the callback are for this call.
        unsafe { mlirOpPassManagerAddPipeline(manager.to_raw(), string_ref(passes), error, user) }.value != 0
    });
    added.map_err(Error::ParsePassPipeline)
}

/// Whether a value below an operation may depend on itself. Where definitions dominate uses, as in all reachable blocks
/// but those of graph regions, none does.
pub fn may_have_cycles(op: Op) -> bool {
    // SAFETY: the operation is alive.
    unsafe { layout_cc_may_have_cycles(op.to_raw()) }
}

/// Erases all unreachable blocks below an operation; returns whether there were any. No handle to an operation in one
/// of them may be used afterwards.
pub fn erase_unreachable_blocks(op: Op) -> bool {
    // SAFETY: the operation is alive, and the pass that runs on it may change what is below.
    unsafe { layout_cc_erase_unreachable_blocks(op.to_raw()) }
}

/// Emits a diagnostic.
pub fn emit(diagnostic: &Diagnostic) {
    let severity = match diagnostic.severity {
        Severity::Error => MlirDiagnosticSeverity_MlirDiagnosticError,
        Severity::Warning => MlirDiagnosticSeverity_MlirDiagnosticWarning,
        Severity::Remark => MlirDiagnosticSeverity_MlirDiagnosticRemark,
    };
    let (locations, notes): (Vec<_>, Vec<_>) =
        diagnostic.notes.iter().map(|(location, note)| (location.to_raw(), string_ref(note))).unzip();
    // SAFETY: the locations are alive, the texts too, and both arrays have `count` elements.
    unsafe {
        layout_cc_emit(
            diagnostic.location.to_raw(),
            severity,
            string_ref(&diagnostic.message),
            notes.len(),
            locations.as_ptr(),
            notes.as_ptr(),
        );
    }
}

/// Whether the value may be a dimension of an affine map.
pub fn is_valid_dim(value: Value) -> bool {
    // SAFETY: the value is alive.
    unsafe { layout_cc_affine_is_valid_dim(value.to_raw()) }
}

/// The bits of `index` by the data layout that holds at an operation.
pub(crate) fn index_bits(op: Op) -> u64 {
    // SAFETY: the operation is alive.
    unsafe { layout_cc_index_bits(op.to_raw()) }
}

/// Whether a layout of this dialect is anywhere inside a type.
pub fn contains_layout(r#type: Type) -> bool {
    // SAFETY: the type is alive.
    unsafe { layout_cc_contains_layout(r#type.to_raw()) }
}

/// Whether MLIR accepts an attribute as the memory space of a memref.
pub fn is_memory_space(attribute: Attribute) -> bool {
    // SAFETY: the attribute is alive.
    unsafe { layout_cc_is_memory_space(attribute.to_raw()) }
}

/// Renames symbols of a module, all at once, with all references.
pub fn rename_symbols(module: OperationRef, names: &[(String, String)]) {
    let (from, to): (Vec<_>, Vec<_>) = names.iter().map(|(from, to)| (string_ref(from), string_ref(to))).unzip();
    // SAFETY: the module and the texts are alive, and both arrays have `count` elements.
    unsafe { layout_cc_rename_symbols(module.to_raw(), names.len(), from.as_ptr(), to.as_ptr()) }
}

/// Whether an operation of integers promises not to wrap around as signed.
pub fn no_signed_wrap(op: OperationRef) -> bool {
    // SAFETY: the operation is alive.
    unsafe { layout_cc_no_signed_wrap(op.to_raw()) }
}

/// Fast-math flags, as bits of `arith::FastMathFlags`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FastMath(u32);

impl FastMath {
    /// Operations may be reassociated.
    pub const REASSOC: FastMath = FastMath(1 << 0);
    /// Operands and results are not NaN; otherwise the result may be anything.
    pub const NO_NANS: FastMath = FastMath(1 << 1);
    /// Operands and results are not infinite; otherwise the result may be anything.
    pub const NO_INFINITIES: FastMath = FastMath(1 << 2);
    /// The sign of a zero does not matter.
    pub const NO_SIGNED_ZEROS: FastMath = FastMath(1 << 3);
    /// A product and a sum may be rounded once.
    pub const CONTRACT: FastMath = FastMath(1 << 5);
    /// Functions may be approximated.
    pub const APPROXIMATE: FastMath = FastMath(1 << 6);

    /// The flags of an operation; no flags for one that cannot have any.
    pub fn of(op: OperationRef) -> FastMath {
        // SAFETY: the operation is alive.
        FastMath(unsafe { layout_cc_fast_math(op.to_raw()) })
    }

    /// Whether all of these flags are set.
    pub fn has(self, flags: FastMath) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These flags as well.
    pub fn with(self, flags: FastMath) -> FastMath {
        FastMath(self.0 | flags.0)
    }

    /// The attribute `#arith.fastmath`.
    pub fn attribute<'c>(self, context: &'c Context) -> Attribute<'c> {
        // SAFETY: the context is alive, and all bits are flags.
        unsafe { Attribute::from_raw(layout_cc_fast_math_attribute(context.to_raw(), self.0)) }
    }
}

/// All attributes of an operation, as one dictionary, which MLIR uniques.
pub fn attributes<'c>(op: OperationRef<'c, 'c>) -> Attribute<'c> {
    // SAFETY: the operation is alive, and so is its context.
    unsafe { Attribute::from_raw(layout_cc_attributes(op.to_raw())) }
}

/// Inserts the decomposition of an aggregate of linalg, such as `linalg.softmax`, into structured operations before
/// it, and replaces all uses of its results, so that it can be erased; returns false if it is no aggregate.
pub fn decompose(op: OperationRef) -> bool {
    // SAFETY: the operation is alive and stays so; the new operations are before it.
    unsafe { layout_cc_decompose(op.to_raw()) }
}

/// Lowers operations of `scf` to branches in this order, in which nested ones come after their parent.
/// Returns false if none can be lowered.
pub fn scf_to_cf(root: OperationRef, operations: &[OperationRef]) -> bool {
    let operations: Vec<_> = operations.iter().map(|op| op.to_raw()).collect();
    // SAFETY: the operations are alive, and each stays so until it is lowered itself: the rewrites move what is inside.
    unsafe { layout_cc_scf_to_cf(root.to_raw(), operations.len(), operations.as_ptr()) }
}

/// Applies upstream's polynomial approximations to operations of `math` below `root`. `has` returns for the name of an
/// operation whether it may be approximated; it is called for these and the operations inside their expansions.
pub fn approximate(root: OperationRef, operations: &[OperationRef], has: &mut dyn FnMut(&str) -> bool) {
    /// Takes the name of an operation; returns whether it may be approximated.
    type Has<'b> = &'b mut dyn FnMut(&str) -> bool;

    unsafe extern "C" fn ask(name: MlirStringRef, has: *mut c_void) -> bool {
        // SAFETY: this is the closure that `approximate` passes, which lives until the call is over.
        let has = unsafe { &mut *has.cast::<Has>() };
        // SAFETY: the text is valid for the call.
        unsafe { bytes(name) }.and_then(|name| std::str::from_utf8(name).ok()).is_some_and(has)
    }
    let operations: Vec<_> = operations.iter().map(|op| op.to_raw()).collect();
    let mut has: Has = has;
    let user = (&raw mut has).cast();
    // SAFETY: the operations are alive until each is replaced, and each is given once; the closure is for this call.
    unsafe { layout_cc_approximate(root.to_raw(), operations.len(), operations.as_ptr(), ask, user) }
}

/// Makes operations of `arith` and `vector` in a module on floating-point numbers of these types compute in f32;
/// returns false if upstream reported an error.
pub fn compute_in_f32(root: OperationRef, types: &[Type]) -> bool {
    let types: Vec<MlirType> = types.iter().map(|t| t.to_raw()).collect();
    // SAFETY: the module is alive, and so are the types, of which there are `count`.
    unsafe { layout_cc_compute_in_f32(root.to_raw(), types.len(), types.as_ptr()) }
}

/// Makes `math.expm1` and `log1p` in a module calls of the C library; returns false if upstream reported an error.
pub fn call_libm(root: OperationRef) -> bool {
    // SAFETY: the module is alive.
    unsafe { layout_cc_call_libm(root.to_raw()) }
}

/// The neutral element of an operation of `arith`, from upstream.
pub fn neutral_element<'c>(op: OperationRef<'c, 'c>) -> Option<Attribute<'c>> {
    // SAFETY: the operation is alive, and so is its context.
    unsafe { Attribute::from_option_raw(layout_cc_neutral_element(op.to_raw())) }
}

/// The result of folding an operation.
pub enum Folded<'c> {
    /// This operand, unchanged.
    Operand(usize),
    /// This constant.
    Constant(Attribute<'c>),
    /// An unknown value.
    Unknown,
}

/// Folds an operation on constants with upstream's folder; `None` is an unknown operand. Unknown is a result that is
/// NaN, as operations do not specify which NaN, and with `exact` a sum or product that may be rounded
/// together with others, unless an operand is zero.
pub fn fold<'c>(op: OperationRef<'c, 'c>, operands: &[Option<Attribute<'c>>], exact: bool) -> Folded<'c> {
    let null = MlirAttribute { ptr: std::ptr::null() };
    let operands: Vec<MlirAttribute> =
        operands.iter().map(|known| known.map_or(null, |known| known.to_raw())).collect();
    let mut value = null;
    // SAFETY: the operation and the attributes are alive, which live with the context; C++ works on a copy.
    unsafe {
        match layout_cc_fold(op.to_raw(), operands.len(), operands.as_ptr(), exact, &mut value) {
            -1 => Attribute::from_option_raw(value).map_or(Folded::Unknown, Folded::Constant),
            number => usize::try_from(number).map_or(Folded::Unknown, Folded::Operand),
        }
    }
}

/// The closed signed bounds that a result's operation infers for it through upstream's `InferIntRangeInterface`, from
/// the bounds of its 64-bit and index operands.
pub fn infer_range<'c>(
    result: Value<'c, 'c>,
    bounds: &mut dyn FnMut(Value<'c, 'c>) -> Option<(i64, i64)>,
) -> Option<(i64, i64)> {
    /// Takes a value; returns its bounds.
    type BoundsOf<'b> = &'b mut dyn FnMut(Value) -> Option<(i64, i64)>;

    unsafe extern "C" fn ask(operand: MlirValue, lo: *mut i64, hi: *mut i64, bounds: *mut c_void) -> bool {
        // SAFETY: this is the closure that `infer_range` passes, which lives until the call is over.
        let bounds = unsafe { &mut *bounds.cast::<BoundsOf>() };
        // SAFETY: the operand is alive.
        let Some(known) = bounds(unsafe { Value::from_raw(operand) }) else { return false };
        // SAFETY: C++ gives places for both.
        unsafe { (*lo, *hi) = known };
        true
    }
    // A panic must not unwind through C++: it is kept, and goes on from here.
    let mut panicked = None;
    let mut caught = |operand: Value| {
        // SAFETY: the operand lives as long as the result, which is of the same program.
        let operand = unsafe { Value::from_raw(operand.to_raw()) };
        catch_unwind(AssertUnwindSafe(|| bounds(operand))).unwrap_or_else(|panic| {
            panicked = Some(panic);
            None
        })
    };
    let (mut caught, mut lo, mut hi): (BoundsOf, i64, i64) = (&mut caught, 0, 0);
    let user = (&raw mut caught).cast();
    // SAFETY: the value is alive, and all pointers are for this call.
    let known = unsafe { layout_cc_infer_range(result.to_raw(), ask, user, &mut lo, &mut hi) };
    if let Some(panic) = panicked {
        resume_unwind(panic);
    }
    known.then_some((lo, hi))
}

/// Loads the dialects that models are made of; a pass that expands them depends on these, too.
pub fn load_dialects_of_models(op: OperationRef) {
    // SAFETY: the operation is alive.
    unsafe { layout_cc_load_dialects_of_models(op.to_raw()) }
}

/// Whether an operation implements `LayoutOpInterface`, whose methods the functions below call.
pub fn has_model(op: OperationRef) -> bool {
    // SAFETY: the operation is alive.
    unsafe { layout_cc_has_model(op.to_raw()) }
}

/// Adds an entry to a list.
unsafe extern "C" fn push<T>(entry: T, list: *mut c_void) {
    // SAFETY: this is the list that one of the functions below hands over, for the call.
    unsafe { (*list.cast::<Vec<T>>()).push(entry) }
}

/// Whether each loop is a reduction, and the maps.
pub fn model_loops<'c>(op: OperationRef<'c, '_>) -> (Vec<bool>, Vec<AffineMap<'c>>) {
    /// Both lists.
    type Lists = (Vec<bool>, Vec<MlirAffineMap>);
    unsafe extern "C" fn reduces(entry: bool, lists: *mut c_void) {
        // SAFETY: these are the lists below.
        unsafe { (*lists.cast::<Lists>()).0.push(entry) }
    }
    unsafe extern "C" fn map(entry: MlirAffineMap, lists: *mut c_void) {
        // SAFETY: these are the lists below.
        unsafe { (*lists.cast::<Lists>()).1.push(entry) }
    }
    let mut lists = Lists::default();
    // SAFETY: the operation is alive, and the lists are for the call.
    unsafe { layout_cc_loops(op.to_raw(), reduces, map, (&raw mut lists).cast()) };
    // SAFETY: maps live as long as the context.
    (lists.0, lists.1.into_iter().map(|map| unsafe { AffineMap::from_raw(map) }).collect())
}

/// The first value of the elements of a result.
pub fn model_initial_value<'c>(op: OperationRef<'c, '_>, result: usize) -> Option<Attribute<'c>> {
    // SAFETY: the operation is alive, and attributes live as long as the context.
    unsafe { Attribute::from_option_raw(layout_cc_initial_value(op.to_raw(), result)) }
}

/// Appends the scalar computation to a block; returns the elements of the results.
pub fn model_body<'c, 'b>(op: OperationRef<'c, '_>, block: &'b Block<'c>) -> Vec<Value<'c, 'b>> {
    let mut values: Vec<MlirValue> = Vec::new();
    // SAFETY: the operation and the block are alive, and the list is for the call.
    unsafe { layout_cc_body(op.to_raw(), block.to_raw(), push::<MlirValue>, (&raw mut values).cast()) };
    // SAFETY: the values are the block's.
    values.into_iter().map(|value| unsafe { Value::from_raw(value) }).collect()
}

/// Appends operations that compute the results to a block; `None` after an error.
pub fn model_expansion<'c, 'b>(op: OperationRef<'c, '_>, block: &'b Block<'c>) -> Option<Vec<Value<'c, 'b>>> {
    let mut values: Vec<MlirValue> = Vec::new();
    // SAFETY: the operation and the block are alive, and the list is for the call.
    let expanded =
        unsafe { layout_cc_expand(op.to_raw(), block.to_raw(), push::<MlirValue>, (&raw mut values).cast()) };
    // SAFETY: the values are the block's.
    expanded.then(|| values.into_iter().map(|value| unsafe { Value::from_raw(value) }).collect())
}

/// The layouts that an operand or result takes; none are all.
pub fn model_layouts<'c>(op: OperationRef<'c, '_>, number: usize) -> Vec<Attribute<'c>> {
    let mut layouts: Vec<MlirAttribute> = Vec::new();
    // SAFETY: the operation is alive, and the list is for the call.
    unsafe { layout_cc_layouts(op.to_raw(), number, push::<MlirAttribute>, (&raw mut layouts).cast()) };
    // SAFETY: attributes live as long as the context.
    layouts.into_iter().filter_map(|layout| unsafe { Attribute::from_option_raw(layout) }).collect()
}

/// The cost that an operation says.
pub fn model_cost(op: OperationRef) -> Option<i64> {
    let mut cost = 0;
    // SAFETY: the operation is alive, and the place is for the call.
    unsafe { layout_cc_cost(op.to_raw(), &raw mut cost) }.then_some(cost)
}

/// Values of a block, with the life that passes give them.
pub fn kept<'c>(values: Vec<Value<'c, '_>>) -> Vec<Value<'c, 'c>> {
    // SAFETY: what a pass works on lives for `'c`.
    values.into_iter().map(|value| unsafe { Value::from_raw(value.to_raw()) }).collect()
}
