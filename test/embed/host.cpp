//===- host.cpp - Compilers that do odd things with the library -----------===//
//
//   host twice              registers everything again and again
//   host threads            runs passes on a context for each of many threads
//   host shared             makes attributes in one context from many threads
//   host plugin FILE        registers, then loads a plugin
//   host plugin-first FILE  loads a plugin, then registers
//
// Each then lowers a program, and prints what became of it.
//
//===----------------------------------------------------------------------===//

#include "layout/Layout.h"
#include "layout/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include <thread>

using namespace mlir;

static const char *const program = R"(
func.func @f(%x: tensor<3x5xf32>) -> tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>> {
  %0 = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
  return %0 : tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
})";

/// The program, lowered; empty after an error.
static std::string lower(const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  if (!module)
    return "";
  PassManager manager(&context);
  if (failed(layout::buildLayoutToMemref(manager)) ||
      failed(manager.run(*module)))
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

static void registerAll(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
}

static bool loadPlugin(StringRef file, DialectRegistry &registry) {
  auto dialect = DialectPlugin::load(file.str());
  auto passes = PassPlugin::load(file.str());
  if (!dialect || !passes) {
    llvm::errs() << toString(dialect.takeError()) << "\n"
                 << toString(passes.takeError()) << "\n";
    return false;
  }
  dialect->registerDialectRegistryCallbacks(registry);
  passes->registerPassRegistryCallbacks();
  return true;
}

/// Nothing is registered before the threads run.
static std::string onThreads(const DialectRegistry &registry) {
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::string &result : results)
    threads.emplace_back([&] {
      for (int round = 0; round < 4; ++round)
        result = lower(registry);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &result : results)
    if (result != results.front())
      return "";
  return results.front();
}

static bool inOneContext(const DialectRegistry &registry) {
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::vector<int> wrong(8);
  std::vector<std::thread> threads;
  for (int &count : wrong)
    threads.emplace_back([&] {
      for (int64_t size = 1; size < 200; ++size) {
        std::string text = "{1,0:T(" + std::to_string(size) + ",2)}";
        auto tiled = layout::TiledAttr::get(&context, text);
        auto offset = tiled.offsetOf({400, 2}, {size, 1});
        count += failed(offset) || *offset != 2 * size + 1 ||
                 tiled != layout::TiledAttr::get(&context, text);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return llvm::all_of(wrong, [](int count) { return count == 0; });
}

int main(int argc, char **argv) {
  StringRef what = argc > 1 ? argv[1] : "";
  DialectRegistry registry;
  registerAll(registry);
  bool mine = true;
  if (what == "plugin-first") {
    if (!loadPlugin(argv[2], registry))
      return 1;
    mine = layout::registerLayoutDialect(registry) &&
           layout::registerLayoutPassesAndPipelines();
  } else {
    layout::registerLayoutDialect(registry);
  }
  if (what == "twice")
    for (int round = 0; round < 3; ++round) {
      registerAll(registry);
      mine &= layout::registerLayoutDialect(registry) &&
              layout::registerLayoutPassesAndPipelines();
    }
  if (what == "plugin") {
    mine = layout::registerLayoutPassesAndPipelines();
    if (!loadPlugin(argv[2], registry))
      return 1;
  }
  if (what == "shared" && !inOneContext(registry))
    return 1;
  if (!mine) {
    llvm::outs() << "another copy is in charge\n";
    return 2;
  }
  std::string text = what == "threads" ? onThreads(registry) : lower(registry);
  llvm::outs() << text;
  return text.empty();
}
