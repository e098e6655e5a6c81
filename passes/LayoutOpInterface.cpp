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

static layout::LayoutOpInterface model(MlirOperation op) {
  return cast<layout::LayoutOpInterface>(unwrap(op));
}

/// Calls back with each value that is not null; Rust counts them.
static void passValues(ArrayRef<Value> values, LayoutValueCallback callback,
                       void *user) {
  for (Value value : values)
    if (value)
      callback(wrap(value), user);
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

void layout_cc_loops(MlirOperation op, void (*loop)(bool, void *),
                     void (*map)(MlirAffineMap, void *), void *user) {
  for (utils::IteratorType type : model(op).getIteratorTypes())
    loop(type == utils::IteratorType::reduction, user);
  for (AffineMap own : model(op).getIndexingMaps())
    if (own)
      map(wrap(own), user);
}

MlirAttribute layout_cc_initial_value(MlirOperation op, size_t result) {
  return wrap(Attribute(model(op).getInitialValue(result)));
}

void layout_cc_body(MlirOperation op, MlirBlock block,
                    LayoutValueCallback value, void *user) {
  OpBuilder builder = OpBuilder::atBlockEnd(unwrap(block));
  passValues(model(op).buildBody(builder, unwrap(op)->getLoc(),
                                 unwrap(block)->getArguments()),
             value, user);
}

bool layout_cc_expand(MlirOperation op, MlirBlock block,
                      LayoutValueCallback value, void *user) {
  OpBuilder builder = OpBuilder::atBlockEnd(unwrap(block));
  FailureOr<SmallVector<Value>> values =
      model(op).expand(builder, unwrap(block)->getArguments());
  if (succeeded(values))
    passValues(*values, value, user);
  return succeeded(values);
}

void layout_cc_layouts(MlirOperation op, size_t number,
                       void (*layout)(MlirAttribute, void *), void *user) {
  for (Attribute own : model(op).getLayouts(number))
    layout(wrap(own), user);
}

bool layout_cc_cost(MlirOperation op, int64_t *cost) {
  std::optional<int64_t> own = model(op).getCost();
  *cost = own.value_or(0);
  return own.has_value();
}
