//===- ask.cpp - What layouts do ------------------------------------------===//
//
// Asks for the bytes of a layout, the default layout of a machine, what a
// transpose moves and reads, and for a plan: the best layouts of a program.
//
//===----------------------------------------------------------------------===//

#include "layout/Layout.h"
#include "layout/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

static const char *const program = R"(
func.func @flip(%x: tensor<1024x129xf32>) -> tensor<129x1024xf32> {
  %empty = tensor.empty() : tensor<129x1024xf32>
  %y = linalg.transpose ins(%x : tensor<1024x129xf32>)
      outs(%empty : tensor<129x1024xf32>) permutation = [1, 0]
  return %y : tensor<129x1024xf32>
})";

int main() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  layout::registerLayoutDialect(registry);
  MLIRContext context(registry);
  llvm::raw_ostream &out = llvm::outs();

  // A layout from numbers; TiledAttr::get(&context, "{1,0:T(8,128)}") is the
  // same. Nothing is thrown: what is wrong is a diagnostic, and a null
  // attribute or a failure.
  auto f32 = Float32Type::get(&context);
  auto tiles = layout::TiledAttr::get(&context, {1, 0}, {{8, 128}});
  FailureOr<int64_t> bytes = tiles.paddedBytes({1000, 3}, f32);
  if (failed(bytes))
    return 1;
  out << "bytes with padding: " << *bytes << "\n";

  auto tpu = layout::MachineAttr::get(&context, "tpu_v5e");
  layout::TiledAttr usual = tpu.defaultLayout(f32, {1000, 3});
  out << "default layout: " << usual.getText() << "\n";

  // Whether a transpose moves anything, and the result's layout with which it
  // would not.
  auto rows = RankedTensorType::get({8, 128}, f32);
  auto across = RankedTensorType::get({128, 8}, f32);
  FailureOr<layout::Movement> moved =
      layout::movementOf(rows, across, {{1, 0}});
  if (failed(moved))
    return 1;
  out << "free: " << (moved->isFree() ? "yes" : "no, but with ")
      << (moved->nearest ? moved->nearest.getText() : "") << "\n";

  // Which elements of its operand an operation reads.
  auto module = parseSourceString<ModuleOp>(program, &context);
  if (!module)
    return 1;
  module->walk([&](linalg::TransposeOp op) {
    SmallVector<layout::IndexingMapAttr> maps;
    if (succeeded(layout::indexingOf(op, layout::Direction::reads,
                                     /*result=*/0, /*operand=*/0, maps)))
      for (layout::IndexingMapAttr map : maps)
        out << "reads: " << map << "\n";
  });

  // A layout for every tensor of the program, the arguments and the results of
  // functions too; with `report`, remarks say what it costs.
  layout::LayoutPlanOptions options;
  options.machine = layout::PlanMachine::tpuV5e;
  options.entry = layout::PlanEntry::any;
  PassManager manager(&context);
  manager.addPass(layout::createLayoutPlan(options));
  if (failed(manager.run(*module)))
    return 1;
  out << "plan:\n" << *module << "\n";
  return 0;
}
