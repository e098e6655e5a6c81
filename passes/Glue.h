//===- Glue.h - The C ABI between the passes' C++ and their Rust ----------===//
//
// `layout_rs_*` is Rust that C++ calls, `layout_cc_*` is C++ that Rust calls.
// The Rust side is passes/exports.rs for the first, passes/pass/upstream.rs for
// the second.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PASSES_GLUE_H
#define LAYOUT_PASSES_GLUE_H

#include "mlir-c/AffineMap.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"

extern "C" {

//===----------------------------------------------------------------------===//
// Rust, for C++
//===----------------------------------------------------------------------===//

/// Options are text, as in the text of a pipeline: `form=physical contract`.

/// False with an error where a pass has no such options, or cannot follow them.
bool layout_rs_check_options(MlirStringRef pass, MlirStringRef options,
                             MlirStringCallback error, void *user);

/// What a stage of a pass did.
enum LayoutOutcome : uint32_t {
  /// It failed, with its diagnostics emitted.
  LayoutFailed = 0,
  LayoutUnchanged = 1,
  LayoutChanged = 2,
};
/// Runs a stage of a pass on an operation, the first of which is 0. Calls back
/// with passes that are to run on the operation next, if any; the pass goes on
/// after them, with the number that `stage` has then, and with what it left in
/// `kept`, null at first.
LayoutOutcome layout_rs_run_pass(MlirStringRef pass, MlirStringRef options,
                                 MlirOperation op, size_t *stage, void **kept,
                                 MlirStringCallback then, void *user);
/// Frees what a pass left in `kept`.
void layout_rs_drop(void *kept);
/// Calls back with all passes that a pass may run so; with none for others.
void layout_rs_passes_of(MlirStringRef pass, MlirStringRef options,
                         MlirStringCallback passes, void *user);

/// Calls back once for each pipeline, with its name and its summary.
void layout_rs_pipelines(void (*pipeline)(MlirStringRef name,
                                          MlirStringRef summary));
/// Calls back once with the passes of a pipeline, as text; false with an error
/// where there is none of that name, or the options cannot be followed.
bool layout_rs_pipeline(MlirStringRef name, MlirStringRef options,
                        MlirStringCallback passes, void *user);

/// The memref that takes the place of one with a layout; null with an error
/// where none can.
MlirType layout_rs_lowered_type(MlirType type, bool physical,
                                MlirLocation location, MlirStringCallback error,
                                void *user);

/// Calls back with each indexing map between a result and an operand of an
/// operation: what is read, or else what feeds it. False after an error.
bool layout_rs_indexing(MlirOperation op, bool reads, int64_t result,
                        int64_t operand,
                        void (*map)(MlirAttribute map, void *user),
                        void *mapUser, MlirStringCallback error, void *user);

//===----------------------------------------------------------------------===//
// C++, for Rust
//===----------------------------------------------------------------------===//

/// False, with a message, where another copy of this library was first.
bool layout_cc_register_passes(MlirStringCallback error, void *user);

/// Emits a diagnostic with `count` notes.
void layout_cc_emit(MlirLocation location, MlirDiagnosticSeverity severity,
                    MlirStringRef message, size_t count,
                    const MlirLocation *noteLocations,
                    const MlirStringRef *notes);

bool layout_cc_affine_is_valid_dim(MlirValue value);

/// The bits of `index` by the data layout that holds at an operation.
uint64_t layout_cc_index_bits(MlirOperation op);

/// Whether a layout of this dialect is anywhere inside a type.
bool layout_cc_contains_layout(MlirType type);

/// Whether MLIR takes an attribute for the memory space of a memref.
bool layout_cc_is_memory_space(MlirAttribute attribute);

/// Gives symbols of a module other names, all at once, with what refers to
/// them.
void layout_cc_rename_symbols(MlirOperation module, size_t count,
                              const MlirStringRef *from,
                              const MlirStringRef *to);

/// Whether an operation of integers promises not to wrap around as signed.
bool layout_cc_no_signed_wrap(MlirOperation op);

/// Bits of arith::FastMathFlags that Rust reads.
enum LayoutFastMath : uint32_t {
  LayoutFastMathReassoc = 1 << 0,
  LayoutFastMathNoNaNs = 1 << 1,
  LayoutFastMathNoInfs = 1 << 2,
  LayoutFastMathNoSignedZeros = 1 << 3,
  LayoutFastMathContract = 1 << 5,
  LayoutFastMathApproximate = 1 << 6,
};
/// An operation's arith::FastMathFlags; 0 for one without.
uint32_t layout_cc_fast_math(MlirOperation op);
/// The attribute with these flags.
MlirAttribute layout_cc_fast_math_attribute(MlirContext context,
                                            uint32_t flags);

/// All attributes of an operation, as a dictionary.
MlirAttribute layout_cc_attributes(MlirOperation op);

/// Inserts the decomposition of an aggregate of linalg, such as
/// `linalg.softmax`, into structured operations before it, and replaces
/// all uses of its results, so that it can be erased; false where it is no
/// aggregate.
bool layout_cc_decompose(MlirOperation op);

/// Whether a value below an operation may depend on itself: in a graph region,
/// or in a block that nothing branches to. Elsewhere definitions dominate uses.
bool layout_cc_may_have_cycles(MlirOperation op);

/// Erases the blocks below an operation that nothing branches to; false where
/// there are none.
bool layout_cc_erase_unreachable_blocks(MlirOperation op);

/// Applies the patterns of upstream's convert-scf-to-cf to operations below
/// `root`, in this order; those inside another come after it. False where none
/// can be lowered.
bool layout_cc_scf_to_cf(MlirOperation root, size_t count,
                         const MlirOperation *ops);

/// Applies upstream's polynomial approximations to operations of math below
/// `root` and to those that they are made of, as far as `has` says that they
/// may be approximated; of narrower types they are computed in f32.
void layout_cc_approximate(MlirOperation root, size_t count,
                           const MlirOperation *ops,
                           bool (*has)(MlirStringRef name, void *user),
                           void *user);

/// Lets operations of arith and vector below `root` on floating-point numbers
/// of these types compute in f32, by upstream's patterns; false where an error
/// was reported.
bool layout_cc_compute_in_f32(MlirOperation root, size_t count,
                              const MlirType *types);

/// Lets math.expm1 and log1p below `root`, a module, be calls of the C library
/// by upstream's patterns; false where an error was reported.
bool layout_cc_call_libm(MlirOperation root);

/// The constant that changes nothing as an operand of an operation of arith;
/// null where there is none.
MlirAttribute layout_cc_neutral_element(MlirOperation op);

/// What an operation makes of constants, of which null are not known, by
/// upstream's folder: the number of the operand that its result is; -1 with the
/// constant in `value`; -2 where that is not known. Not known is a result that
/// is NaN, as operations do not say which, and with `exact` a sum or product
/// that may be rounded together with others.
int64_t layout_cc_fold(MlirOperation op, size_t count,
                       const MlirAttribute *operands, bool exact,
                       MlirAttribute *value);

/// The signed bounds that a result's operation infers for it through upstream's
/// InferIntRangeInterface, from those of its operands, which `bounds` gives;
/// false where it infers none.
bool layout_cc_infer_range(MlirValue result,
                           bool (*bounds)(MlirValue operand, int64_t *lo,
                                          int64_t *hi, void *user),
                           void *user, int64_t *lo, int64_t *hi);

/// Loads the dialects that models of operations are made of.
void layout_cc_load_dialects_of_models(MlirOperation op);

/// Whether an operation implements LayoutOpInterface, whose methods the
/// functions below call. Lists are handed over by callbacks.
bool layout_cc_has_model(MlirOperation op);
typedef void (*LayoutValueCallback)(MlirValue value, void *user);
void layout_cc_loops(MlirOperation op, void (*loop)(bool reduces, void *user),
                     void (*map)(MlirAffineMap map, void *user), void *user);
MlirAttribute layout_cc_initial_value(MlirOperation op, size_t result);
/// Both append operations to a block. The second is false after an error.
void layout_cc_body(MlirOperation op, MlirBlock block,
                    LayoutValueCallback value, void *user);
bool layout_cc_expand(MlirOperation op, MlirBlock block,
                      LayoutValueCallback value, void *user);
void layout_cc_layouts(MlirOperation op, size_t number,
                       void (*layout)(MlirAttribute layout, void *user),
                       void *user);
/// False where the operation gives no cost.
bool layout_cc_cost(MlirOperation op, int64_t *cost);
}

namespace layout {
/// Registers upstream's passes that the pipelines and the passes here name in
/// text, and no others: a static compiler links what is registered. Others may
/// register them, too.
void registerUpstreamPasses();
} // namespace layout

#endif // LAYOUT_PASSES_GLUE_H
