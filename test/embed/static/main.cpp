//===- main.cpp - The dialect beside another archive of Rust --------------===//
//
// Asks both archives a question each that is answered, and one each that is
// wrong.
//
//===----------------------------------------------------------------------===//

#include "layout/Layout.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

extern "C" int other(int n);

int main() {
  DialectRegistry registry;
  layout::registerLayoutDialect(registry);
  MLIRContext context(registry);
  auto tiles = layout::TiledAttr::get(&context, {1, 0}, {{8, 128}});
  FailureOr<int64_t> bytes =
      tiles.paddedBytes({1000, 3}, Float32Type::get(&context));
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  auto wrong =
      layout::TiledAttr::getChecked(emitError, &context, StringRef("{1,1}"));
  llvm::outs() << *bytes << " " << !wrong << " " << other(2) << " " << other(0)
               << "\n";
  return 0;
}
