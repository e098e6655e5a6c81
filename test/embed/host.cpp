//===- host.cpp - Compilers that do odd things with the library -----------===//
//
//   host accessors          reads attributes, builds pipelines
//   host twice              registers everything again and again
//   host threads            runs passes on a context for each of many threads
//   host shared             makes attributes in one context from many threads
//   host assert             fails an assertion
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
#include "mlir/Transforms/DialectConversion.h"
#include <cassert>
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

/// Where a condition fails says which, and ends the program.
static void check(bool condition, const char *text) {
  if (condition)
    return;
  llvm::errs() << "not so: " << text << "\n";
  exit(1);
}
#define CHECK(...) check(__VA_ARGS__, #__VA_ARGS__)

/// What `run` says in errors, beginning with `context`'s own.
static std::string errorsOf(MLIRContext &context, function_ref<void()> run) {
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str() + "\n";
    return success();
  });
  run();
  return text;
}

static void accessors(const DialectRegistry &registry) {
  using namespace layout;
  using Numbers = SmallVector<int64_t>;
  MLIRContext context(registry);
  auto tiled = TiledAttr::get(&context, "{0,1 : T(*,128) (2,1) S(1)}");
  CHECK(tiled == TiledAttr::get(&context, "{0,1:T(*,128)(2,1)S(1)}"));
  CHECK(tiled.getText() == "{0,1:T(*,128)(2,1)S(1)}");
  CHECK(tiled.getRank() == 2 && tiled.getMemorySpace() == 1);
  CHECK(tiled.getMinorToMajor() == Numbers{0, 1});
  CHECK(tiled.getTiles() ==
        SmallVector<Numbers>{{TiledAttr::kCombine, 128}, {2, 1}});
  auto small = TiledAttr::get(&context, "{1,0:T(2,2)}");
  CHECK(*small.offsetOf({3, 5}, {2, 3}) == 17);
  CHECK(*small.expandedSizes({3, 5}) == Numbers{2, 3, 2, 2});
  CHECK(*small.expandedStrides({3, 5}) == Numbers{12, 4, 2, 1});
  CHECK(failed(small.offsetOf({3, 5}, {3, 0})));
  CHECK(failed(small.offsetOf({ShapedType::kDynamic, 5}, {0, 0})));
  CHECK(failed(small.expandedSizes({3})));
  CHECK(failed(small.expandedSizes({-1, 5})));

  auto swizzled = SwizzledAttr::get(&context, "Sw<2,0,3> o {1, 0}");
  CHECK(swizzled.getText() == "Sw<2,0,3> o {1,0}");
  CHECK(*swizzled.offsetOf({8, 5}, {2, 0}) == 11);
  CHECK(failed(swizzled.offsetOf({8, 5}, {2, 5})));

  auto f32 = Float32Type::get(&context);
  CHECK(*small.paddedBytes({3, 5}, f32) == 96);
  CHECK(failed(small.paddedBytes({3}, f32)));
  CHECK(failed(small.paddedBytes({3, 5}, NoneType::get(&context))));

  // From numbers, which are those that the accessors give.
  CHECK(small == TiledAttr::get(&context, {1, 0}, {{2, 2}}));
  CHECK(tiled == TiledAttr::get(&context, {0, 1},
                                {{TiledAttr::kCombine, 128}, {2, 1}}, 1));
  CHECK(tiled == TiledAttr::get(&context, tiled.getMinorToMajor(),
                                tiled.getTiles(), tiled.getMemorySpace()));
  CHECK(TiledAttr::get(&context, {0, 1}, {}).getText() == "{0,1}");
  CHECK(TensorLayoutAttr::get(&context, {{{4, "PE"}, {3, "", 8}}, {{8, ""}}}) ==
        TensorLayoutAttr::get(&context, "((4_PE, 3:8), (8:1))"));

  auto spread = TensorLayoutAttr::get(&context, "((4_PE, 3:8), (8:1))");
  auto machine = MachineAttr::get(
      &context,
      "axes: (4_PE), memories: (LM: 1 at PE with 128 bytes), word: 64");
  CHECK(*machine.localBytes(spread, {12, 8}, f32) == 96);
  CHECK(
      failed(machine.localBytes(spread, {12, 8}, Float64Type::get(&context))));

  // What moves.
  auto rows = RankedTensorType::get({8, 128}, f32);
  auto across = RankedTensorType::get({128, 8}, f32);
  auto turned = TiledAttr::get(&context, {0, 1}, {});
  auto moved = movementOf(rows, across, {{1, 0}});
  CHECK(moved->kind == Movement::Moves && moved->nearest == turned);
  CHECK(moved->reason.find("element [0, 1] goes from") != std::string::npos);
  auto onto = RankedTensorType::get({128, 8}, f32, turned);
  CHECK(movementOf(rows, onto, {{1, 0}})->isFree());
  CHECK(!movementOf(across, onto)->isFree());
  CHECK(failed(movementOf(rows, across, {{1, 2}})));
  CHECK(spread.getRank() == 2 && spread.getAxes().size() == 1);
  CHECK(spread.getAxes().front() == "PE");
  CHECK(*spread.placeOf({12, 8}, {7, 1}) == Numbers{2, 9});
  CHECK(failed(spread.placeOf({12, 8}, {7})));
  CHECK(MemorySpaceAttr::get(&context, 1).getNumber() == 1);
  CHECK(IndexingMapAttr::get(&context, "KNOWN EMPTY").isKnownEmpty());
  CHECK(!MachineAttr::get(&context, "mn_core").getText().empty());
  auto tpu = MachineAttr::get(&context, "tpu_v5e");
  CHECK(tpu.defaultLayout(Float32Type::get(&context), {1024, 129}) ==
        TiledAttr::get(&context, "{0,1:T(8,128)}"));
  CHECK(!tpu.defaultLayout(NoneType::get(&context), {8}));

  // Errors reported to the context, and errors returned.
  llvm::outs() << errorsOf(context, [&] {
    CHECK(!TiledAttr::get(&context, "{1,1}"));
    CHECK(!TensorLayoutAttr::get(&context, "(("));
    CHECK(!MachineAttr::get(&context, ""));
    CHECK(!IndexingMapAttr::get(&context, "(d0)"));
    auto here = [&] {
      return emitError(UnknownLoc::get(&context)) << "here: ";
    };
    CHECK(!TiledAttr::getChecked(here, &context, StringRef("{0:T()}")));
    CHECK(failed(small.offsetOf({3, 5}, {0, 5}, here)));
    CHECK(!TiledAttr::get(&context, {0, 0}, {}));
    CHECK(!TiledAttr::getChecked(here, &context, ArrayRef<int64_t>{0},
                                 ArrayRef<SmallVector<int64_t>>(),
                                 int64_t(128)));
    CHECK(!TensorLayoutAttr::get(&context, {{{0, "PE"}}}));
    CHECK(failed(small.paddedBytes({3}, f32, here)));
    CHECK(failed(
        machine.localBytes(spread, {12, 8}, Float64Type::get(&context), here)));
    CHECK(failed(movementOf(rows, across, {{1}}, here)));
  });

  // What an operation reads of its operand.
  auto source = parseSourceString<ModuleOp>(
      "func.func @f(%x: tensor<3x5xf32>) -> tensor<15xf32> {\n"
      "  %y = tensor.collapse_shape %x [[0, 1]] : tensor<3x5xf32> into "
      "tensor<15xf32>\n"
      "  return %y : tensor<15xf32>\n}",
      &context);
  (*source)->walk([&](Operation *op) {
    if (op->getName().getStringRef() != "tensor.collapse_shape")
      return;
    SmallVector<IndexingMapAttr> maps;
    CHECK(succeeded(indexingOf(op, Direction::reads, 0, 0, maps)));
    CHECK(maps.size() == 1 && maps[0].getMap().getNumResults() == 2);
    CHECK(succeeded(indexingOf(op, Direction::feeds, 0, 0, maps)));
    CHECK(maps.size() == 2 && maps[1].getMap().getNumResults() == 1);
    llvm::outs() << errorsOf(context, [&] {
      auto here = [&] { return op->emitError(); };
      CHECK(failed(indexingOf(op, Direction::reads, 0, 1, maps, here)));
    });
    CHECK(maps.size() == 2);
  });

  // The types of a dialect conversion.
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  populateLayoutTypeConversions(converter, Form::physical);
  CHECK(converter.convertType(MemRefType::get({3, 5}, f32, small)) ==
        MemRefType::get({2, 3, 2, 2}, f32));
  CHECK(converter.convertType(f32) == f32);
  llvm::outs() << errorsOf(context, [&] {
    auto huge = MemRefType::get({int64_t(1) << 62, 5}, f32, small);
    CHECK(!converter.convertType(huge));
  });

  // A context that does not have the dialect.
  MLIRContext bare;
  llvm::outs() << errorsOf(bare,
                           [&] { CHECK(!TiledAttr::get(&bare, "{1,0}")); });

  // Options and pipelines that there are not.
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  PassManager manager(&context);
  manager.addPass(createLayoutLowerMemrefs({static_cast<Form>(7)}));
  llvm::outs() << errorsOf(context,
                           [&] { CHECK(failed(manager.run(*module))); });
  LayoutPipelineOptions wrong;
  wrong.vectorize = Target::avx512;
  wrong.vectorBits = 100;
  PassManager vectors(&context);
  vectors.addPass(createLayoutLowerMemrefs(wrong));
  llvm::outs() << errorsOf(context,
                           [&] { CHECK(failed(vectors.run(*module))); });
  CHECK(failed(
      buildLayoutPipeline(manager, "layout-to-llvm", wrong, llvm::outs())));
  wrong.vectorize = static_cast<Target>(4);
  CHECK(failed(
      buildLayoutPipeline(manager, "layout-to-llvm", wrong, llvm::outs())));
  LayoutPipelineOptions parallel;
  parallel.vectorize = Target::avx2;
  parallel.parallel = static_cast<Parallel>(4);
  CHECK(failed(
      buildLayoutPipeline(manager, "layout-to-llvm", parallel, llvm::outs())));
  CHECK(
      failed(buildLayoutPipeline(manager, "layout-to-moon", {}, llvm::outs())));
  CHECK(failed(buildLayoutPipeline(manager, "layout-to-memref",
                                   {static_cast<Form>(-1)}, llvm::outs())));
  LayoutPlanOptions plan;
  plan.machine = PlanMachine::cpu;
  PassManager planned(&context);
  CHECK(succeeded(buildLayoutPipeline(planned, "layout-to-memref", {}, plan,
                                      llvm::outs())));
  CHECK(succeeded(planned.run(*module)));
  PassManager functions(&context, "func.func");
  CHECK(failed(
      buildLayoutPipeline(functions, "layout-to-memref", {}, llvm::outs())));
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
  if (what == "assert")
    assert(argc > 2 && "assertions are checked");
  if (what == "accessors") {
    accessors(registry);
    return 0;
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
