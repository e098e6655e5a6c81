//===- Glue.cpp - What the passes' Rust needs and MLIR's C API lacks ------===//

#include "passes/Glue.h"
#include "dialect/Layout.h"
#include "passes/Passes.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

void layout::registerUpstreamPasses() {
  registerCSEPass();
  registerCanonicalizerPass();
  registerConvertBufferizationToMemRefPass();
  registerConvertComplexToStandardPass();
  registerConvertElementwiseToLinalgPass();
  registerConvertLinalgToLoopsPass();
  registerConvertMathToLLVMPass();
  registerConvertMathToLibmPass();
  registerConvertSCFToOpenMPPass();
  registerConvertToLLVMPass();
  registerConvertVectorToLLVMPass();
  registerConvertVectorToSCF();
  registerLowerAffinePass();
  registerReconcileUnrealizedCastsPass();
  registerSCFForallToForLoop();
  arith::registerArithExpandOpsPass();
  bufferization::registerBufferDeallocationSimplificationPass();
  bufferization::registerLowerDeallocationsPass();
  bufferization::registerOneShotBufferizePass();
  bufferization::registerOwnershipBasedBufferDeallocationPass();
  math::registerMathExtendToSupportedTypes();
  memref::registerExpandOpsPass();
  memref::registerExpandStridedMetadataPass();
}

void layout::populateLayoutTypeConversions(TypeConverter &converter,
                                           Form form) {
  converter.addConversion([form](MemRefType type) -> std::optional<Type> {
    if (!isa<TiledAttr>(type.getLayout()))
      return std::nullopt;
    Location location = UnknownLoc::get(type.getContext());
    auto emit = [](MlirStringRef message, void *location) {
      emitError(*static_cast<Location *>(location)) << unwrap(message);
    };
    return unwrap(layout_rs_lowered_type(wrap(Type(type)),
                                         form == Form::physical, wrap(location),
                                         emit, &location));
  });
}

void layout_cc_emit(MlirLocation location, MlirDiagnosticSeverity severity,
                    MlirStringRef message, size_t count,
                    const MlirLocation *noteLocations,
                    const MlirStringRef *notes) {
  Location at = unwrap(location);
  InFlightDiagnostic diagnostic =
      severity == MlirDiagnosticWarning  ? emitWarning(at)
      : severity == MlirDiagnosticRemark ? emitRemark(at)
                                         : emitError(at);
  diagnostic << unwrap(message);
  for (size_t i = 0; i < count; ++i)
    diagnostic.attachNote(unwrap(noteLocations[i])) << unwrap(notes[i]);
}

bool layout_cc_affine_is_valid_dim(MlirValue value) {
  return affine::isValidDim(unwrap(value));
}

uint64_t layout_cc_index_bits(MlirOperation op) {
  Type index = IndexType::get(unwrap(op)->getContext());
  return DataLayout::closest(unwrap(op)).getTypeSizeInBits(index);
}

bool layout_cc_contains_layout(MlirType type) {
  return unwrap(type)
      .walk([](Attribute inside) {
        bool found = isa<layout::TiledAttr, layout::TensorLayoutAttr,
                         layout::PendingAttr>(inside);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool layout_cc_is_memory_space(MlirAttribute attribute) {
  Attribute space = unwrap(attribute);
  return isa<IntegerAttr, StringAttr, DictionaryAttr>(space) ||
         !isa<BuiltinDialect>(space.getDialect());
}

void layout_cc_rename_symbols(MlirOperation module, size_t count,
                              const MlirStringRef *from,
                              const MlirStringRef *to) {
  Operation *root = unwrap(module);
  llvm::StringMap<FlatSymbolRefAttr> names;
  for (size_t i = 0; i < count; ++i)
    names[unwrap(from[i])] =
        FlatSymbolRefAttr::get(root->getContext(), unwrap(to[i]));
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](SymbolRefAttr symbol) -> std::pair<Attribute, WalkResult> {
        auto known = names.find(symbol.getRootReference());
        bool renamed = isa<FlatSymbolRefAttr>(symbol) && known != names.end();
        return {renamed ? Attribute(known->second) : symbol,
                WalkResult::skip()};
      });
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    // What is below has symbols of its own.
    if (op != root &&
        (isa<ModuleOp>(op) || op->hasTrait<OpTrait::SymbolTable>()))
      return WalkResult::skip();
    replacer.replaceElementsIn(op);
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (symbol && op->getParentOp() == root)
      if (auto known = names.find(symbol.getName()); known != names.end())
        symbol.setName(known->second.getValue());
    return WalkResult::advance();
  });
}

bool layout_cc_no_signed_wrap(MlirOperation op) {
  auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(unwrap(op));
  return flags && flags.hasNoSignedWrap();
}

static_assert(LayoutFastMathReassoc ==
              static_cast<uint32_t>(arith::FastMathFlags::reassoc));
static_assert(LayoutFastMathNoNaNs ==
              static_cast<uint32_t>(arith::FastMathFlags::nnan));
static_assert(LayoutFastMathNoInfs ==
              static_cast<uint32_t>(arith::FastMathFlags::ninf));
static_assert(LayoutFastMathNoSignedZeros ==
              static_cast<uint32_t>(arith::FastMathFlags::nsz));
static_assert(LayoutFastMathContract ==
              static_cast<uint32_t>(arith::FastMathFlags::contract));
static_assert(LayoutFastMathApproximate ==
              static_cast<uint32_t>(arith::FastMathFlags::afn));

uint32_t layout_cc_fast_math(MlirOperation op) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(unwrap(op));
  arith::FastMathFlagsAttr flags = fast ? fast.getFastMathFlagsAttr() : nullptr;
  return flags ? static_cast<uint32_t>(flags.getValue()) : 0;
}

MlirAttribute layout_cc_fast_math_attribute(MlirContext context,
                                            uint32_t flags) {
  return wrap(Attribute(arith::FastMathFlagsAttr::get(
      unwrap(context), static_cast<arith::FastMathFlags>(flags))));
}

MlirAttribute layout_cc_attributes(MlirOperation op) {
  return wrap(Attribute(unwrap(op)->getAttrDictionary()));
}

bool layout_cc_decompose(MlirOperation op) {
  IRRewriter listening(unwrap(op)->getContext());
  listening.setInsertionPoint(unwrap(op));
  // Upstream erases these itself.
  if (auto pack = dyn_cast<linalg::PackOp>(unwrap(op)))
    return succeeded(linalg::lowerPack(listening, pack, false));
  if (auto unpack = dyn_cast<linalg::UnPackOp>(unwrap(op)))
    return succeeded(linalg::lowerUnPack(listening, unpack, false));
  auto aggregate = dyn_cast<linalg::AggregatedOpInterface>(unwrap(op));
  if (!aggregate)
    return false;
  IRRewriter rewriter(aggregate);
  FailureOr<SmallVector<Value>> parts = aggregate.decomposeOperation(rewriter);
  if (failed(parts))
    return false;
  aggregate->replaceAllUsesWith(*parts);
  return true;
}

bool layout_cc_may_have_cycles(MlirOperation op) {
  DominanceInfo dominance;
  auto mayHaveCycles = [&](Block *block) {
    auto hasResults = [](Operation &op) { return op.getNumResults() != 0; };
    bool found = dominance.hasSSADominance(block)
                     ? !dominance.isReachableFromEntry(block)
                     : llvm::any_of(*block, hasResults);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  };
  return unwrap(op)->walk(mayHaveCycles).wasInterrupted();
}

bool layout_cc_erase_unreachable_blocks(MlirOperation op) {
  IRRewriter rewriter(unwrap(op)->getContext());
  return succeeded(eraseUnreachableBlocks(rewriter, unwrap(op)->getRegions()));
}

bool layout_cc_scf_to_cf(MlirOperation root, size_t count,
                         const MlirOperation *ops) {
  MLIRContext *context = unwrap(root)->getContext();
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(context);
  bool lowered = false;
  for (size_t i = 0; i < count; ++i)
    lowered |= succeeded(applicator.matchAndRewrite(unwrap(ops[i]), rewriter));
  return lowered;
}

void layout_cc_approximate(MlirOperation root, size_t count,
                           const MlirOperation *ops,
                           bool (*has)(MlirStringRef name, void *user),
                           void *user) {
  RewritePatternSet patterns(unwrap(root)->getContext());
  auto approximated = [&](StringRef name) { return has(wrap(name), user); };
  populateMathF32ExpansionPatterns(patterns, approximated);
  populateMathPolynomialApproximationPatterns(patterns, approximated);
  // Of the roundings that the first of these make.
  arith::populateExpandBFloat16Patterns(patterns);
  SmallVector<Operation *> operations;
  for (size_t i = 0; i < count; ++i)
    operations.push_back(unwrap(ops[i]));
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  // It converges: each pattern makes operations of none but later ones.
  (void)applyOpPatternsGreedily(operations, std::move(patterns), config);
}

bool layout_cc_compute_in_f32(MlirOperation root, size_t count,
                              const MlirType *types) {
  MLIRContext *context = unwrap(root)->getContext();
  SmallVector<Type> sources;
  for (size_t i = 0; i < count; ++i)
    sources.push_back(unwrap(types[i]));
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(converter, sources,
                                                     Float32Type::get(context));
  RewritePatternSet patterns(context);
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  ConversionTarget target(*context);
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  return succeeded(
      applyPartialConversion(unwrap(root), target, std::move(patterns)));
}

bool layout_cc_call_libm(MlirOperation root) {
  MLIRContext *context = unwrap(root)->getContext();
  RewritePatternSet patterns(context);
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalOp<math::ExpM1Op, math::Log1pOp>();
  return succeeded(
      applyPartialConversion(unwrap(root), target, std::move(patterns)));
}

MlirAttribute layout_cc_neutral_element(MlirOperation op) {
  using arith::FastMathFlags;
  Operation *combiner = unwrap(op);
  std::optional<TypedAttr> element = arith::getNeutralElement(combiner);
  auto flagged = dyn_cast<arith::ArithFastMathInterface>(combiner);
  auto has = [&](FastMathFlags flag) {
    return flagged &&
           bitEnumContainsAny(flagged.getFastMathFlagsAttr().getValue(), flag);
  };
  // Upstream's element of maxnumf and minnumf is NaN, which is poison where
  // nothing is NaN. There they are maximumf and minimumf.
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner) &&
      has(FastMathFlags::nnan)) {
    OpBuilder builder(combiner);
    element = arith::getIdentityValueAttr(
        isa<arith::MaxNumFOp>(combiner) ? arith::AtomicRMWKind::maximumf
                                        : arith::AtomicRMWKind::minimumf,
        combiner->getResult(0).getType(), builder, combiner->getLoc(),
        has(FastMathFlags::ninf));
  }
  return element ? wrap(Attribute(*element)) : MlirAttribute{nullptr};
}

int64_t layout_cc_fold(MlirOperation op, size_t count,
                       const MlirAttribute *operands, bool exact,
                       MlirAttribute *value) {
  // Folding may change the operation itself.
  Operation *copy = unwrap(op)->clone();
  auto destroy = llvm::make_scope_exit([&] { copy->destroy(); });
  SmallVector<Attribute> constants;
  for (size_t i = 0; i < count; ++i)
    constants.push_back(unwrap(operands[i]));
  // Folders look for constants on the right.
  bool swap = count == 2 && constants[0] && !constants[1] &&
              copy->hasTrait<OpTrait::IsCommutative>();
  if (swap) {
    std::swap(constants[0], constants[1]);
    copy->setOperands({copy->getOperand(1), copy->getOperand(0)});
  }
  auto isZero = [](Attribute constant) {
    auto number = dyn_cast_or_null<FloatAttr>(constant);
    return number && number.getValue().isZero();
  };
  SmallVector<OpFoldResult> results;
  if (failed(copy->fold(constants, results)) || results.size() != 1)
    return -2;
  if (auto constant = dyn_cast<Attribute>(results[0])) {
    auto number = dyn_cast<FloatAttr>(constant);
    bool known = number ? !number.getValue().isNaN() &&
                              (!exact || llvm::any_of(constants, isZero))
                        : isa<IntegerAttr>(constant);
    if (known)
      *value = wrap(constant);
    return known ? -1 : -2;
  }
  for (size_t i = 0; i < count; ++i)
    if (copy->getOperand(i) == cast<Value>(results[0]))
      return swap ? 1 - int64_t(i) : int64_t(i);
  return -2;
}

bool layout_cc_infer_range(MlirValue result,
                           bool (*bounds)(MlirValue operand, int64_t *lo,
                                          int64_t *hi, void *user),
                           void *user, int64_t *lo, int64_t *hi) {
  Value value = unwrap(result);
  auto op = value.getDefiningOp<InferIntRangeInterface>();
  if (!op)
    return false;
  SmallVector<IntegerValueRange> operands;
  for (Value operand : op->getOperands()) {
    IntegerValueRange range = IntegerValueRange::getMaxRange(operand);
    unsigned bits = ConstantIntRanges::getStorageBitwidth(operand.getType());
    int64_t least, most;
    if (bits == 64 && bounds(wrap(operand), &least, &most, user))
      range = ConstantIntRanges::fromSigned(APInt(64, least, true),
                                            APInt(64, most, true));
    operands.push_back(range);
  }
  bool known = false;
  op.inferResultRangesFromOptional(
      operands, [&](Value inferred, const IntegerValueRange &range) {
        if (inferred != value || range.isUninitialized())
          return;
        const ConstantIntRanges &bounds = range.getValue();
        if (bounds.smin().getBitWidth() > 64)
          return;
        *lo = bounds.smin().getSExtValue();
        *hi = bounds.smax().getSExtValue();
        known = true;
      });
  return known;
}
