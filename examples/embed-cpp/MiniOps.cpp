//===- MiniOps.cpp - Operations of mini-opt -------------------------------===//

#include "MiniOps.h"

#include "layout/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using utils::IteratorType;

#include "MiniDialect.cpp.inc"
#define GET_OP_CLASSES
#include "MiniOps.cpp.inc"

void mini::MiniDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "MiniOps.cpp.inc"
      >();
}

SmallVector<IteratorType> mini::ProductOp::getIteratorTypes() {
  return {IteratorType::parallel, IteratorType::parallel,
          IteratorType::reduction};
}

SmallVector<AffineMap> mini::ProductOp::getIndexingMaps() {
  AffineExpr i, j, k;
  bindDims(getContext(), i, j, k);
  auto map = [&](ArrayRef<AffineExpr> index) {
    return AffineMap::get(/*dimCount=*/3, /*symbolCount=*/0, index,
                          getContext());
  };
  return {map({i, k}), map({k, j}), map({i, j})};
}

SmallVector<Value> mini::ProductOp::buildBody(OpBuilder &builder,
                                              Location location,
                                              ValueRange elements) {
  Value product =
      arith::MulFOp::create(builder, location, elements[0], elements[1]);
  return {arith::AddFOp::create(builder, location, elements[2], product)};
}

FailureOr<SmallVector<Value>> mini::NormalizeOp::expand(OpBuilder &builder,
                                                        ValueRange operands) {
  Location location = getLoc();
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() != 2 || !type.hasStaticShape())
    return emitOpError("is for matrices of static sizes, found ") << type;
  Type element = type.getElementType();
  auto empty = [&](ArrayRef<int64_t> shape) -> Value {
    return tensor::EmptyOp::create(builder, location, shape, element);
  };
  Value zero = arith::ConstantOp::create(builder, location,
                                         builder.getZeroAttr(element));
  Value start = linalg::FillOp::create(builder, location, zero,
                                       empty(type.getShape().take_front()))
                    .getResult(0);
  auto sum = linalg::ReduceOp::create(
      builder, location, operands, start, /*dimensions=*/{1},
      [](OpBuilder &nested, Location location, ValueRange elements) {
        Value sum =
            arith::AddFOp::create(nested, location, elements[0], elements[1]);
        linalg::YieldOp::create(nested, location, sum);
      });
  Value sums =
      linalg::BroadcastOp::create(builder, location, sum.getResult(0),
                                  empty(type.getShape()), /*dimensions=*/{1})
          ->getResult(0);
  return SmallVector<Value>{linalg::DivOp::create(builder, location,
                                                  ValueRange{operands[0], sums},
                                                  empty(type.getShape()))
                                .getResult(0)};
}

SmallVector<IteratorType> mini::ReluOp::getIteratorTypes() {
  return SmallVector<IteratorType>(getInput().getType().getRank(),
                                   IteratorType::parallel);
}

SmallVector<AffineMap> mini::ReluOp::getIndexingMaps() {
  int64_t rank = getInput().getType().getRank();
  return {2, AffineMap::getMultiDimIdentityMap(rank, getContext())};
}

SmallVector<Value> mini::ReluOp::buildBody(OpBuilder &builder,
                                           Location location,
                                           ValueRange elements) {
  Value zero = arith::ConstantOp::create(
      builder, location, builder.getZeroAttr(elements[0].getType()));
  return {arith::MaximumFOp::create(builder, location, elements[0], zero)};
}

SmallVector<Attribute> mini::ReluOp::getLayouts(unsigned) {
  return {layout::TiledAttr::get(getContext(), {1, 0}, {{8, 128}})};
}

// Two vectors of 1024 elements a cycle.
std::optional<int64_t> mini::ReluOp::getCost() {
  if (!getInput().getType().hasStaticShape())
    return std::nullopt;
  return getInput().getType().getNumElements() / 2048 + 10;
}
