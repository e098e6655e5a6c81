//===- run.cpp - A lowered function, called -------------------------------===//
//
// Lowers a function whose result is in tiles, compiles it in this process,
// calls it and reads the result where the layout says that it is.
//
//===----------------------------------------------------------------------===//

#include "layout/Layout.h"
#include "layout/Passes.h"

#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

static const char *const program = R"(
#tiles = #layout.tiled<{1,0:T(2,2)}>
func.func @twice(%x: tensor<3x5xf32>) -> tensor<3x5xf32, #tiles>
    attributes {llvm.emit_c_interface} {
  %empty = tensor.empty() : tensor<3x5xf32, #tiles>
  %y = linalg.add ins(%x, %x : tensor<3x5xf32>, tensor<3x5xf32>)
      outs(%empty : tensor<3x5xf32, #tiles>) -> tensor<3x5xf32, #tiles>
  return %y : tensor<3x5xf32, #tiles>
})";

int main() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  layout::registerLayoutDialect(registry);
  MLIRContext context(registry);

  auto module = parseSourceString<ModuleOp>(program, &context);
  PassManager manager(&context);
  if (!module || failed(layout::buildLayoutToLLVM(manager)) ||
      failed(manager.run(*module)))
    return 1;

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto engine = ExecutionEngine::create(*module);
  if (!engine) {
    llvm::errs() << toString(engine.takeError()) << "\n";
    return 1;
  }

  // The argument is row-major. The result has one dimension for each part of
  // the layout: 3x5 in tiles of 2x2 is 2x3 tiles, so memref<2x2x3x2xf32>.
  float numbers[15];
  for (int k = 0; k < 15; ++k)
    numbers[k] = k;
  StridedMemRefType<float, 2> x{numbers, numbers, 0, {3, 5}, {5, 1}};
  StridedMemRefType<float, 4> y;
  auto *argument = &x;
  auto *result = &y;
  if (auto error = (*engine)->invoke("twice", result, argument)) {
    llvm::errs() << toString(std::move(error)) << "\n";
    return 1;
  }

  auto tiles = layout::TiledAttr::get(&context, "{1,0:T(2,2)}");
  FailureOr<int64_t> offset = tiles.offsetOf({3, 5}, {2, 3});
  if (failed(offset))
    return 1;
  llvm::outs() << "element [2, 3] is "
               << llvm::format("%g", y.data[y.offset + *offset])
               << ", at offset " << *offset << "\n";
  free(y.basePtr);
  return 0;
}
