//===- LayoutOpInterface.cpp - Operations of other compilers --------------===//

#include "layout/LayoutOpInterface.h"
#include "dialect/Layout.h"
#include "passes/Glue.h"

#include "mlir/CAPI/AffineMap.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#include "LayoutOpInterface.cpp.inc"

namespace {

/// The loops of an operation, and its body, which has emitted an error where it
/// fails.
struct Loops {
  SmallVector<utils::IteratorType> iterators;
  SmallVector<AffineMap> maps;
  function_ref<TypedAttr(unsigned)> initialValue;
  function_ref<FailureOr<SmallVector<Value>>(OpBuilder &, Location, ValueRange)>
      body;
};

/// Checks the maps of an operation, as the builders of linalg take them for
/// granted. Its verifier checks the rest.
LogicalResult checkMaps(Operation *op, ValueRange operands,
                        const Loops &loops) {
  SmallVector<Type> types(operands.getTypes());
  llvm::append_range(types, op->getResultTypes());
  if (loops.maps.size() != types.size())
    return op->emitOpError("has ")
           << loops.maps.size() << " indexing maps, expected " << types.size()
           << ", one for each operand and result";
  for (auto [number, map] : llvm::enumerate(loops.maps)) {
    auto tensor = dyn_cast<RankedTensorType>(types[number]);
    if (!tensor && number >= operands.size())
      return op->emitOpError("makes ")
             << types[number] << ", expected a tensor of known rank";
    unsigned rank = tensor ? tensor.getRank() : 0;
    if (!map || map.getNumDims() != loops.iterators.size() ||
        map.getNumResults() != rank || map.getNumSymbols())
      return op->emitOpError("has the indexing map ")
             << (map ? AffineMapAttr::get(map) : Attribute()) << " for " << types[number] << ", expected one from "
             << loops.iterators.size() << " loops to " << rank << " dimensions";
  }
  return success();
}

/// The size of a loop, from an operand with a dimension that is its index; null
/// where there is none.
Value sizeOf(OpBuilder &builder, Location location, AffineExpr loop,
             ValueRange operands, const Loops &loops) {
  for (auto [operand, map] : llvm::zip(operands, loops.maps))
    for (auto [dim, index] : llvm::enumerate(map.getResults()))
      if (index == loop)
        return tensor::DimOp::create(builder, location, operand, dim);
  return Value();
}

/// The tensor that the loops of a result start from.
Value initialTensor(Operation *op, OpBuilder &builder, unsigned result,
                    ValueRange operands, const Loops &loops) {
  Location location = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(result).getType());
  AffineMap map = loops.maps[operands.size() + result];
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    sizes.push_back(
        sizeOf(builder, location, map.getResult(dim), operands, loops));
    if (!sizes.back()) {
      op->emitOpError("has no operand that gives the size of dimension ")
          << dim << " of result " << result;
      return Value();
    }
  }
  Type element = type.getElementType();
  Value empty =
      tensor::EmptyOp::create(builder, location, type.getShape(), element,
                              sizes, type.getEncoding());
  if (!llvm::is_contained(loops.iterators, utils::IteratorType::reduction))
    return empty;
  TypedAttr initial = loops.initialValue(result);
  if (!initial)
    initial = builder.getZeroAttr(element);
  if (!initial || initial.getType() != element) {
    op->emitOpError("has no initial value of type ")
        << element << " for result " << result;
    return Value();
  }
  Value scalar = arith::ConstantOp::create(builder, location, initial);
  return linalg::FillOp::create(builder, location, scalar, empty).getResult(0);
}

FailureOr<SmallVector<Value>> expand(Operation *op, OpBuilder &builder,
                                     ValueRange operands, const Loops &loops) {
  if (failed(checkMaps(op, operands, loops)))
    return failure();
  SmallVector<Value> initial;
  for (unsigned result = 0; result < op->getNumResults(); ++result) {
    initial.push_back(initialTensor(op, builder, result, operands, loops));
    if (!initial.back())
      return failure();
  }
  bool built = false;
  auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
    FailureOr<SmallVector<Value>> values =
        loops.body(nested, location, elements);
    if (failed(values))
      return;
    built = values->size() == initial.size() && llvm::all_of(*values, [](Value v) { return bool(v); });
    if (built)
      linalg::YieldOp::create(nested, location, *values);
    else
      op->emitOpError("has a body of ")
          << values->size() << " values, expected one for each result";
  };
  auto generic = linalg::GenericOp::create(
      builder, op->getLoc(), op->getResultTypes(), operands, initial,
      loops.maps, loops.iterators, body);
  if (!built)
    return failure();
  return SmallVector<Value>(generic.getResults());
}

} // namespace

FailureOr<SmallVector<Value>>
layout::expandLoops(Operation *op, OpBuilder &builder, ValueRange operands) {
  auto model = cast<LayoutOpInterface>(op);
  auto body = [&](OpBuilder &nested, Location location, ValueRange elements)
      -> FailureOr<SmallVector<Value>> {
    return model.buildBody(nested, location, elements);
  };
  auto initialValue = [&](unsigned result) {
    return model.getInitialValue(result);
  };
  return expand(op, builder, operands,
                {model.getIteratorTypes(), model.getIndexingMaps(),
                 initialValue, body});
}

void layout_cc_load_dialects_of_models(MlirOperation op) {
  unwrap(op)
      ->getContext()
      ->loadDialect<layout::LayoutDialect, arith::ArithDialect,
                    func::FuncDialect, linalg::LinalgDialect,
                    tensor::TensorDialect>();
}

bool layout_cc_has_model(MlirOperation op) {
  return isa<layout::LayoutOpInterface>(unwrap(op));
}

bool layout_cc_expand(MlirOperation op, MlirBlock block,
                      void (*value)(MlirValue value, void *user), void *user) {
  Operation *operation = unwrap(op);
  MLIRContext *context = operation->getContext();
  bool reported = false;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    reported |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // To the next handler.
  });
  OpBuilder builder = OpBuilder::atBlockEnd(unwrap(block));
  FailureOr<SmallVector<Value>> values =
      cast<layout::LayoutOpInterface>(operation)
          .expand(builder, unwrap(block)->getArguments());
  if (succeeded(values))
    for (Value made : *values)
      value(wrap(made), user);
  else if (!reported)
    operation->emitOpError("has a model that does not expand it");
  return succeeded(values);
}

bool layout_cc_expand_loops(MlirOperation op, MlirBlock block, size_t loops,
                            const bool *reductions, size_t count,
                            const MlirAffineMap *maps,
                            const MlirAttribute *initial,
                            bool (*body)(MlirBlock block, MlirValue *results,
                                         void *user),
                            void (*value)(MlirValue value, void *user),
                            void *user) {
  SmallVector<utils::IteratorType> iterators;
  for (size_t loop = 0; loop < loops; ++loop)
    iterators.push_back(reductions[loop] ? utils::IteratorType::reduction
                                         : utils::IteratorType::parallel);
  SmallVector<AffineMap> own;
  for (size_t map = 0; map < count; ++map)
    own.push_back(unwrap(maps[map]));
  auto build = [&](OpBuilder &nested, Location, ValueRange)
      -> FailureOr<SmallVector<Value>> {
    SmallVector<MlirValue> results(unwrap(op)->getNumResults());
    if (!body(wrap(nested.getInsertionBlock()), results.data(), user))
      return failure();
    nested.setInsertionPointToEnd(nested.getInsertionBlock());
    SmallVector<Value> values;
    for (MlirValue result : results)
      values.push_back(unwrap(result));
    return values;
  };
  auto initialValue = [&](unsigned result) {
    return dyn_cast_or_null<TypedAttr>(unwrap(initial[result]));
  };
  OpBuilder builder = OpBuilder::atBlockEnd(unwrap(block));
  FailureOr<SmallVector<Value>> values =
      expand(unwrap(op), builder, unwrap(block)->getArguments(),
             {iterators, own, initialValue, build});
  if (succeeded(values))
    for (Value made : *values)
      value(wrap(made), user);
  return succeeded(values);
}

void layout_cc_layouts(MlirOperation op, size_t number,
                       void (*layout)(MlirAttribute layout, void *user),
                       void *user) {
  auto model = cast<layout::LayoutOpInterface>(unwrap(op));
  for (Attribute own : model.getLayouts(number))
    layout(wrap(own), user);
}

int64_t layout_cc_cost(MlirOperation op) {
  return cast<layout::LayoutOpInterface>(unwrap(op)).getCost().value_or(-1);
}
