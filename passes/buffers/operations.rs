//! The traits of MLIR's own operations that lowering needs: one row for each operation, and one for each dialect whose
//! operations are mostly alike.
//!
//! A row has all traits of its operation: `arith.divsi` has `LANEWISE`, as all `arith.*`, and `DIVIDES`. Structured
//! operations are not here, as their indexing maps describe their accesses; nor are properties that only a single
//! `match` needs.

use layout_ir::{self as ir, Op};
use melior::ir::{Type, TypeLike, ValueLike};
use std::ops::BitOr;

/// A set of traits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits(u32);

impl BitOr for Traits {
    type Output = Traits;

    fn bitor(self, other: Traits) -> Traits {
        self.and(other)
    }
}

impl Traits {
    /// [`BitOr`], in constants.
    const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }
}

/// Forwards whole values unchanged, tensors and memrefs alike: lowering only has to convert their types.
pub const FORWARDS: Traits = Traits(1 << 0);
/// A value leaves its block through it.
pub const BOUNDARY: Traits = Traits(1 << 1);
/// Upstream's bufferization, or its preparation, knows it on tensors with layouts.
pub const BUFFERIZES: Traits = Traits(1 << 2);
/// The result is a view of the first operand or a part of it; the operand's index is affine in the result's.
pub const SLICE_OR_RESHAPE: Traits = Traits(1 << 3);
/// The result is in the same buffer as the first operand.
pub const SAME_BUFFER: Traits = Traits(1 << 4);
/// Takes any strided memref.
pub const STRIDED: Traits = Traits(1 << 5);
/// Reads and writes no memory, and may be between operations that become one kernel.
pub const NO_ACCESS: Traits = Traits(1 << 6);
/// Reads the elements of its operand in place.
pub const READS: Traits = Traits(1 << 7);
/// On tensors it computes each element from those at the same index.
pub const ELEMENTWISE: Traits = Traits(1 << 8);
/// Vector code for it computes the same lane by lane, and cannot fail in unused lanes.
pub const LANEWISE: Traits = Traits(1 << 9);
/// Takes several machine instructions.
pub const MULTI_INSTRUCTION: Traits = Traits(1 << 10);
/// Becomes a call of a maths library, as machines have no instruction for it.
pub const LIBRARY_CALL: Traits = Traits(1 << 11);
/// Widens the type of its operand without a change of its value.
pub const WIDENS: Traits = Traits(1 << 12);
/// May become one operation with a product or sum beside it, rounded once.
pub const FUSES_MULTIPLY_ADD: Traits = Traits(1 << 13);
/// A function that may be approximated by a polynomial.
pub const APPROXIMABLE: Traits = Traits(1 << 14);
/// Divides integers: it traps if the divisor is 0, so that a vector of it needs code of its own.
pub const DIVIDES: Traits = Traits(1 << 15);
/// Runs its region once for each iteration.
pub const LOOP: Traits = Traits(1 << 16);
/// Runs its regions one operation after the other.
pub const IN_ORDER: Traits = Traits(1 << 17);

const NONE: Traits = Traits(0);
const CONTROL: Traits = FORWARDS.and(BUFFERIZES);
const REGIONS: Traits = CONTROL.and(IN_ORDER);
const ARITH: Traits = BUFFERIZES.and(ELEMENTWISE).and(LANEWISE).and(NO_ACCESS);
/// A machine has an instruction for it; other functions of `math` are library calls.
const MATH: Traits = BUFFERIZES.and(ELEMENTWISE).and(LANEWISE);
const SHOWS: Traits = SAME_BUFFER.and(NO_ACCESS);

/// Upstream has a polynomial within a few units in the last place, for all arguments.
const POLYNOMIAL: Traits = MATH.and(LIBRARY_CALL).and(APPROXIMABLE);

/// The cast of memrefs to another type over the same bytes: of a layout in which every element stays at its byte, or as
/// bytes if elements are bits in bytes.
pub const UNREALIZED_CAST: &str = "builtin.unrealized_conversion_cast";

/// The rows, in the order of their names.
#[rustfmt::skip]
const OPERATIONS: &[(&str, Traits)] = &[
    ("affine.apply",                           NO_ACCESS),
    ("affine.for",                             LOOP.and(IN_ORDER)),
    ("affine.if",                              IN_ORDER),
    ("affine.parallel",                        LOOP),
    ("arith.*",                                ARITH),
    ("arith.addf",                             ARITH.and(FUSES_MULTIPLY_ADD)),
    ("arith.ceildivsi",                        ARITH.and(DIVIDES)),
    ("arith.ceildivui",                        ARITH.and(DIVIDES)),
    ("arith.constant",                         BUFFERIZES.and(LANEWISE).and(NO_ACCESS)),
    ("arith.divsi",                            ARITH.and(DIVIDES)),
    ("arith.divui",                            ARITH.and(DIVIDES)),
    ("arith.extf",                             ARITH.and(WIDENS)),
    ("arith.extsi",                            ARITH.and(WIDENS)),
    ("arith.extui",                            ARITH.and(WIDENS)),
    ("arith.floordivsi",                       ARITH.and(DIVIDES)),
    // NaN and zeros of both signs: x86 compares and blends twice.
    ("arith.maximumf",                         ARITH.and(MULTI_INSTRUCTION)),
    ("arith.maxnumf",                          ARITH.and(MULTI_INSTRUCTION)),
    ("arith.minimumf",                         ARITH.and(MULTI_INSTRUCTION)),
    ("arith.minnumf",                          ARITH.and(MULTI_INSTRUCTION)),
    ("arith.mulf",                             ARITH.and(FUSES_MULTIPLY_ADD)),
    ("arith.remsi",                            ARITH.and(DIVIDES)),
    ("arith.remui",                            ARITH.and(DIVIDES)),
    ("arith.select",                           ARITH.and(FORWARDS)),
    ("arith.subf",                             ARITH.and(FUSES_MULTIPLY_ADD)),
    ("bufferization.alloc_tensor",             BUFFERIZES),
    ("bufferization.materialize_in_destination", BUFFERIZES),
    ("bufferization.to_buffer",                BUFFERIZES),
    ("bufferization.to_tensor",                BUFFERIZES),
    ("builtin.module",                         CONTROL),
    (UNREALIZED_CAST,                               SHOWS),
    ("cf.br",                                  CONTROL.and(BOUNDARY)),
    ("cf.cond_br",                             CONTROL.and(BOUNDARY)),
    ("cf.switch",                              CONTROL.and(BOUNDARY)),
    ("func.call",                              CONTROL.and(BOUNDARY)),
    // Bufferization does not know indirect calls.
    ("func.call_indirect",                     FORWARDS),
    ("func.func",                              REGIONS),
    ("func.return",                            CONTROL.and(BOUNDARY)),
    ("layout.await",                           BUFFERIZES),
    ("layout.convert",                         BUFFERIZES.and(READS)),
    ("linalg.pack",                            BUFFERIZES),
    ("linalg.softmax",                         BUFFERIZES),
    ("linalg.unpack",                          BUFFERIZES),
    ("linalg.yield",                           BUFFERIZES),
    ("math.*",                                 MATH.and(LIBRARY_CALL)),
    ("math.absf",                              MATH),
    ("math.absi",                              MATH),
    ("math.ceil",                              MATH),
    // A maximum and a minimum.
    ("math.clampf",                            MATH.and(MULTI_INSTRUCTION)),
    ("math.copysign",                          MATH),
    ("math.ctlz",                              MATH),
    ("math.ctpop",                             MATH),
    ("math.cttz",                              MATH),
    ("math.erf",                               POLYNOMIAL),
    ("math.erfc",                              POLYNOMIAL),
    ("math.exp",                               POLYNOMIAL),
    ("math.expm1",                             POLYNOMIAL),
    ("math.floor",                             MATH),
    ("math.fma",                               MATH),
    ("math.log",                               POLYNOMIAL),
    ("math.log1p",                             POLYNOMIAL),
    ("math.log2",                              POLYNOMIAL),
    ("math.round",                             MATH),
    ("math.roundeven",                         MATH),
    ("math.rsqrt",                             MATH),
    ("math.sqrt",                              MATH),
    ("math.tanh",                              POLYNOMIAL),
    ("math.trunc",                             MATH),
    ("memref.alloc",                           NO_ACCESS),
    ("memref.assume_alignment",                SHOWS),
    ("memref.cast",                            SHOWS.and(STRIDED).and(SLICE_OR_RESHAPE)),
    ("memref.collapse_shape",                  SHOWS.and(STRIDED).and(SLICE_OR_RESHAPE)),
    ("memref.expand_shape",                    SHOWS.and(STRIDED).and(SLICE_OR_RESHAPE)),
    ("memref.extract_aligned_pointer_as_index", STRIDED),
    ("memref.extract_strided_metadata",        STRIDED),
    ("memref.get_global",                      NO_ACCESS),
    ("memref.memory_space_cast",               SHOWS),
    ("memref.reinterpret_cast",                SHOWS.and(STRIDED)),
    ("memref.subview",                         SHOWS.and(STRIDED).and(SLICE_OR_RESHAPE)),
    ("memref.transpose",                       SHOWS.and(STRIDED)),
    ("memref.view",                            SHOWS),
    ("scf.condition",                          CONTROL.and(BOUNDARY)),
    ("scf.execute_region",                     REGIONS),
    ("scf.for",                                REGIONS.and(BOUNDARY).and(LOOP)),
    ("scf.forall",                             CONTROL.and(BOUNDARY).and(LOOP)),
    ("scf.forall.in_parallel",                 CONTROL),
    ("scf.if",                                 REGIONS),
    ("scf.index_switch",                       REGIONS),
    ("scf.parallel",                           LOOP),
    ("scf.while",                              REGIONS.and(BOUNDARY).and(LOOP)),
    ("scf.yield",                              CONTROL.and(BOUNDARY)),
    ("tensor.bitcast",                         BUFFERIZES.and(ELEMENTWISE)),
    ("tensor.cast",                            BUFFERIZES.and(SLICE_OR_RESHAPE)),
    ("tensor.collapse_shape",                  BUFFERIZES.and(SLICE_OR_RESHAPE)),
    ("tensor.concat",                          BUFFERIZES),
    ("tensor.dim",                             BUFFERIZES.and(READS)),
    ("tensor.empty",                           BUFFERIZES),
    ("tensor.expand_shape",                    BUFFERIZES.and(SLICE_OR_RESHAPE)),
    ("tensor.extract",                         BUFFERIZES.and(READS)),
    ("tensor.extract_slice",                   BUFFERIZES.and(SLICE_OR_RESHAPE)),
    ("tensor.from_elements",                   BUFFERIZES),
    ("tensor.generate",                        BUFFERIZES),
    ("tensor.insert",                          BUFFERIZES),
    ("tensor.insert_slice",                    BUFFERIZES),
    ("tensor.pad",                             BUFFERIZES),
    ("tensor.parallel_insert_slice",           BUFFERIZES),
    ("tensor.reshape",                         BUFFERIZES),
    ("tensor.splat",                           BUFFERIZES),
    ("tensor.yield",                           BUFFERIZES),
    ("vector.transfer_read",                   BUFFERIZES.and(READS)),
    ("vector.transfer_write",                  BUFFERIZES),
];

/// The traits of an operation; `NONE` for one that is not in the table.
fn traits(name: &str) -> Traits {
    let row = |name: &str| OPERATIONS.binary_search_by_key(&name, |row| row.0).ok().map(|row| OPERATIONS[row].1);
    let dialect = || {
        row(match name.split_once('.')?.0 {
            "arith" => "arith.*",
            "math" => "math.*",
            _ => return None,
        })
    };
    row(name).or_else(dialect).unwrap_or(NONE)
}

/// Whether the table has an operation.
#[cfg(feature = "plan")]
pub fn is_known(name: &str) -> bool {
    traits(name) != NONE
}

/// Whether an operation has all of these traits.
pub fn is(name: &str, wanted: Traits) -> bool {
    traits(name).0 & wanted.0 == wanted.0
}

/// Whether an operation, on scalars or vectors, is a function with a polynomial for its type.
pub fn is_approximable(op: Op) -> bool {
    let element = |t: Type| {
        let element = ir::vector(t).map_or(t, |vector| vector.element);
        element.is_float() && ir::bits(element).is_some_and(|bits| bits == 16 || bits == 32)
    };
    is(ir::name(op), APPROXIMABLE) && ir::results(op).iter().all(|v| element(v.r#type()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::{Context, StringRef, dialect::DialectRegistry, utility::register_all_dialects};

    /// The order that the search needs, and no name twice.
    #[test]
    fn rows_are_sorted() {
        assert!(OPERATIONS.is_sorted_by(|a, b| a.0 < b.0));
    }

    /// MLIR has an operation of each name.
    #[test]
    #[allow(unsafe_code, reason = "melior does not wrap this question")]
    fn operations_exist() {
        let registry = DialectRegistry::new();
        register_all_dialects(&registry);
        layout_dialect::register(&registry);
        let context = Context::new_with_registry(&registry, false);
        context.load_all_available_dialects();
        for (name, _) in OPERATIONS.iter().filter(|row| !row.0.ends_with(".*")) {
            // SAFETY: the context and the text are alive.
            let known =
                unsafe { mlir_sys::mlirContextIsRegisteredOperation(context.to_raw(), StringRef::new(name).to_raw()) };
            assert!(known, "{name}");
        }
    }

    #[test]
    fn a_row_goes_before_its_dialect() {
        assert!(is("arith.remsi", LANEWISE | DIVIDES) && !is("arith.muli", DIVIDES));
        assert!(is("math.exp", LIBRARY_CALL | ELEMENTWISE) && !is("math.sqrt", LIBRARY_CALL));
        assert_eq!((traits("vector.load"), traits("memref"), traits("")), (NONE, NONE, NONE));
    }
}
