//===- c-api.c - The C API, from C ----------------------------------------===//
//
// Prints what it is told; test/embed.rs knows what that should be. Ends with an
// error where a check fails.
//
//===----------------------------------------------------------------------===//

#include "layout-c/Layout.h"
#include "layout-c/Passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/RegisterEverything.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

/// Prints a text after the word that `prefix` points to.
static void print(MlirStringRef text, void *prefix) {
  printf("%s%.*s\n", (const char *)prefix, (int)text.length, text.data);
}

static void printPart(MlirStringRef text, void *unused) {
  (void)unused;
  printf("%.*s", (int)text.length, text.data);
}

static void printMap(MlirAttribute map, void *prefix) {
  printf("%s", (const char *)prefix);
  mlirAttributePrint(map, printPart, NULL);
  printf("\n");
}

static char error[] = "error: ";
static char text[] = "text: ";

static void printNumbers(const char *prefix, intptr_t count,
                         const int64_t *numbers) {
  printf("%s", prefix);
  for (intptr_t k = 0; k < count; ++k)
    printf(" %" PRId64, numbers[k]);
  printf("\n");
}

static void tiled(MlirContext context) {
  MlirAttribute layout = mlirLayoutTiledAttrGet(
      context, str("{1,0:T(*,128)(2,1)S(1)}"), print, error);
  CHECK(mlirAttributeIsALayoutTiled(layout));
  CHECK(!mlirAttributeIsALayoutTensorLayout(layout));
  CHECK(mlirLayoutTiledAttrGetRank(layout) == 2);
  CHECK(mlirLayoutTiledAttrGetMinorToMajor(layout, 0) == 1);
  CHECK(mlirLayoutTiledAttrGetNumTiles(layout) == 2);
  CHECK(mlirLayoutTiledAttrGetTileRank(layout, 0) == 2);
  CHECK(mlirLayoutTiledAttrGetTileSize(layout, 0, 0) == 0);
  CHECK(mlirLayoutTiledAttrGetTileSize(layout, 0, 1) == 128);
  CHECK(mlirLayoutTiledAttrGetMemorySpace(layout) == 1);
  CHECK(mlirLayoutAttrGetText(layout, print, text));

  layout = mlirLayoutTiledAttrGet(context, str("{1,0:T(2,2)}"), print, error);
  int64_t shape[] = {3, 5}, index[] = {2, 3}, offset = 0;
  CHECK(mlirLayoutTiledAttrGetOffset(layout, 2, shape, 2, index, &offset, print,
                                     error));
  CHECK(offset == 17);
  int64_t sizes[8], strides[8];
  intptr_t count = mlirLayoutTiledAttrGetExpanded(layout, 2, shape, 8, sizes,
                                                  strides, print, error);
  CHECK(count == 4);
  printNumbers("sizes", count, sizes);
  printNumbers("strides", count, strides);
  // Only as many as there is room for, and none without room.
  sizes[2] = -7;
  CHECK(mlirLayoutTiledAttrGetExpanded(layout, 2, shape, 2, sizes, strides,
                                       print, error) == 4);
  CHECK(sizes[2] == -7);
  CHECK(mlirLayoutTiledAttrGetExpanded(layout, 2, shape, 0, NULL, NULL, print,
                                       error) == 4);

  printf("wrong tiled layouts\n");
  CHECK(mlirAttributeIsNull(
      mlirLayoutTiledAttrGet(context, str("{1,0:T(2,}"), print, error)));
  CHECK(mlirAttributeIsNull(
      mlirLayoutTiledAttrGet(context, str("{1,\xff}"), print, error)));
  CHECK(mlirAttributeIsNull(mlirLayoutTiledAttrGet(
      context, mlirStringRefCreate(NULL, 0), print, error)));
  index[1] = 5;
  CHECK(!mlirLayoutTiledAttrGetOffset(layout, 2, shape, 2, index, &offset,
                                      print, error));
  CHECK(!mlirLayoutTiledAttrGetOffset(layout, 2, shape, 1, index, &offset,
                                      print, error));
  CHECK(!mlirLayoutTiledAttrGetOffset(layout, -2, shape, 2, index, &offset,
                                      print, error));
  CHECK(!mlirLayoutTiledAttrGetOffset(layout, 2, NULL, 2, index, &offset, print,
                                      error));
  index[1] = 3;
  CHECK(!mlirLayoutTiledAttrGetOffset(layout, 2, shape, 2, index, NULL, print,
                                      error));
  CHECK(mlirLayoutTiledAttrGetExpanded(layout, 2, shape, -1, sizes, strides,
                                       print, error) == -1);
  // Without a callback an error is told by the answer alone.
  CHECK(!mlirLayoutTiledAttrGetOffset(layout, 1, shape, 2, index, &offset, NULL,
                                      NULL));
  CHECK(mlirLayoutTiledAttrGetMinorToMajor(layout, 2) == -1);
  CHECK(mlirLayoutTiledAttrGetMinorToMajor(layout, -1) == -1);
  CHECK(mlirLayoutTiledAttrGetTileRank(layout, 1) == -1);
  CHECK(mlirLayoutTiledAttrGetTileSize(layout, 0, 2) == -1);
}

static void tensorLayout(MlirContext context) {
  MlirAttribute layout = mlirLayoutTensorLayoutAttrGet(
      context, str("((4_PE, 3:8), (8:1))"), print, error);
  CHECK(mlirAttributeIsALayoutTensorLayout(layout));
  CHECK(mlirLayoutTensorLayoutAttrGetRank(layout) == 2);
  CHECK(mlirLayoutTensorLayoutAttrGetNumAxes(layout) == 1);
  char axis[] = "axis: ";
  CHECK(mlirLayoutTensorLayoutAttrGetAxis(layout, 0, print, axis));
  CHECK(!mlirLayoutTensorLayoutAttrGetAxis(layout, 1, print, axis));
  int64_t shape[] = {12, 8}, index[] = {7, 1}, place[2];
  CHECK(mlirLayoutTensorLayoutAttrGetPlace(layout, 2, shape, 2, index, 2, place,
                                           print, error) == 2);
  printNumbers("place", 2, place);
  CHECK(mlirLayoutAttrGetText(layout, print, text));

  printf("wrong TensorLayouts\n");
  CHECK(mlirAttributeIsNull(mlirLayoutTensorLayoutAttrGet(
      context, str("((4_PE, 3:8)"), print, error)));
  index[0] = 12;
  CHECK(mlirLayoutTensorLayoutAttrGetPlace(layout, 2, shape, 2, index, 2, place,
                                           print, error) == -1);
  CHECK(mlirLayoutTensorLayoutAttrGetRank(mlirUnitAttrGet(context)) == -1);
}

static void swizzled(MlirContext context) {
  MlirAttribute layout = mlirLayoutSwizzledAttrGet(
      context, str("Sw<2,0,3> o {1,0}"), print, error);
  CHECK(mlirAttributeIsALayoutSwizzled(layout));
  int64_t shape[] = {8, 5}, index[] = {2, 0}, offset;
  CHECK(mlirLayoutSwizzledAttrGetOffset(layout, 2, shape, 2, index, &offset,
                                        print, error));
  printNumbers("address", 1, &offset);
  CHECK(mlirLayoutAttrGetText(layout, print, text));

  printf("wrong swizzled layouts\n");
  CHECK(mlirAttributeIsNull(mlirLayoutSwizzledAttrGet(
      context, str("Sw<2,0,3> o {1,0:E(4)}"), print, error)));
  index[1] = 5;
  CHECK(!mlirLayoutSwizzledAttrGetOffset(layout, 2, shape, 2, index, &offset,
                                         print, error));
  CHECK(!mlirLayoutSwizzledAttrGetOffset(mlirUnitAttrGet(context), 2, shape, 2,
                                         index, &offset, print, error));
}

static void fromNumbers(MlirContext context) {
  const int64_t order[] = {1, 0}, first[] = {0, 128}, second[] = {2, 1};
  const int64_t *tiles[] = {first, second};
  const intptr_t ranks[] = {2, 2};
  CHECK(mlirAttributeEqual(
      mlirLayoutTiledAttrGetFromNumbers(context, 2, order, 2, ranks, tiles, 1,
                                        print, error),
      mlirLayoutTiledAttrGet(context, str("{1,0:T(*,128)(2,1)S(1)}"), print,
                             error)));
  CHECK(mlirAttributeEqual(
      mlirLayoutTiledAttrGetFromNumbers(context, 0, NULL, 0, NULL, NULL, 0,
                                        print, error),
      mlirLayoutTiledAttrGet(context, str("{}"), print, error)));
  const MlirLayoutPart rows[] = {{4, str("PE"), 1}, {3, str(""), 8}};
  const MlirLayoutPart columns[] = {{8, {NULL, 0}, 1}};
  const MlirLayoutPart *dims[] = {rows, columns};
  const intptr_t counts[] = {2, 1};
  MlirAttribute spread = mlirLayoutTensorLayoutAttrGetFromParts(
      context, 2, counts, dims, print, error);
  CHECK(mlirAttributeEqual(
      spread, mlirLayoutTensorLayoutAttrGet(
                  context, str("((4_PE, 3:8), (8:1))"), print, error)));

  // f32[3,5] in tiles of 2x2 is padded to 4x6; 12x8 over four PEs is 3x8 each.
  MlirType f32 = mlirF32TypeGet(context);
  int64_t shape[] = {3, 5}, bytes = 0;
  MlirAttribute small =
      mlirLayoutTiledAttrGet(context, str("{1,0:T(2,2)}"), print, error);
  CHECK(mlirLayoutTiledAttrGetPaddedBytes(small, f32, 2, shape, &bytes, print,
                                          error));
  CHECK(bytes == 96);
  MlirAttribute machine = mlirLayoutMachineAttrGet(
      context,
      str("axes: (4_PE), memories: (LM: 1 at PE with 128 bytes), word: 64"),
      print, error);
  int64_t matrix[] = {12, 8};
  CHECK(mlirLayoutMachineAttrGetLocalBytes(machine, spread, f32, 2, matrix,
                                           &bytes, print, error));
  CHECK(bytes == 96);

  printf("wrong numbers\n");
  const int64_t twice[] = {1, 1}, none[] = {0, -1}, open[] = {2, 0},
                below[] = {-1, 2};
  const int64_t *openTile[] = {open}, *belowTile[] = {below};
  CHECK(mlirAttributeIsNull(mlirLayoutTiledAttrGetFromNumbers(
      context, 2, twice, 0, NULL, NULL, 0, print, error)));
  CHECK(mlirAttributeIsNull(mlirLayoutTiledAttrGetFromNumbers(
      context, 2, none, 0, NULL, NULL, 0, print, error)));
  CHECK(mlirAttributeIsNull(mlirLayoutTiledAttrGetFromNumbers(
      context, 2, order, 1, ranks, openTile, 0, print, error)));
  CHECK(mlirAttributeIsNull(mlirLayoutTiledAttrGetFromNumbers(
      context, 2, order, 1, ranks, belowTile, 0, print, error)));
  CHECK(mlirAttributeIsNull(mlirLayoutTiledAttrGetFromNumbers(
      context, 2, order, 0, NULL, NULL, 128, print, error)));
  CHECK(mlirAttributeIsNull(mlirLayoutTiledAttrGetFromNumbers(
      context, 2, order, 1, ranks, NULL, 0, print, error)));
  CHECK(mlirAttributeIsNull(mlirLayoutTiledAttrGetFromNumbers(
      context, -1, order, -1, NULL, NULL, 0, print, error)));
  const MlirLayoutPart wrong[] = {{0, str("PE"), 1}, {3, str("4"), 8}};
  const MlirLayoutPart *wrongDims[] = {wrong, wrong + 1};
  CHECK(mlirAttributeIsNull(mlirLayoutTensorLayoutAttrGetFromParts(
      context, 1, counts, wrongDims, print, error)));
  CHECK(mlirAttributeIsNull(mlirLayoutTensorLayoutAttrGetFromParts(
      context, 1, counts + 1, wrongDims + 1, print, error)));
  CHECK(!mlirLayoutTiledAttrGetPaddedBytes(small, mlirNoneTypeGet(context), 2,
                                           shape, &bytes, print, error));
  CHECK(!mlirLayoutTiledAttrGetPaddedBytes(small, f32, 1, shape, &bytes, print,
                                           error));
  matrix[0] = 13;
  CHECK(!mlirLayoutMachineAttrGetLocalBytes(machine, spread, f32, 2, matrix,
                                            &bytes, print, error));
  matrix[0] = 12;
  CHECK(!mlirLayoutMachineAttrGetLocalBytes(machine, spread,
                                            mlirF64TypeGet(context), 2, matrix,
                                            &bytes, print, error));
}

static MlirType type(MlirContext context, const char *source) {
  MlirType parsed = mlirTypeParseGet(context, str(source));
  CHECK(!mlirTypeIsNull(parsed));
  return parsed;
}

static void movement(MlirContext context) {
  MlirType rows = type(context, "tensor<8x128xf32>");
  MlirType across = type(context, "tensor<128x8xf32>");
  MlirType turned = type(context, "tensor<128x8xf32, #layout.tiled<{0,1}>>");
  MlirType flat = type(context, "tensor<1024xf32>");
  const int64_t transpose[] = {1, 0};
  char nearest[] = "nearest: ";
  CHECK(mlirLayoutGetMovement(rows, across, 2, transpose, print, text, printMap,
                              nearest, print, error) == MlirLayoutMoves);
  CHECK(mlirLayoutGetMovement(rows, turned, 2, transpose, print, text, printMap,
                              nearest, print, error) == MlirLayoutFree);
  CHECK(mlirLayoutGetMovement(rows, flat, 0, NULL, NULL, NULL, NULL, NULL,
                              print, error) == MlirLayoutFree);
  CHECK(mlirLayoutGetMovement(across, turned, 0, NULL, print, text, NULL, NULL,
                              print, error) == MlirLayoutMoves);

  printf("wrong movements\n");
  CHECK(mlirLayoutGetMovement(rows, across, 1, transpose, NULL, NULL, NULL,
                              NULL, print, error) == MlirLayoutMovementError);
  CHECK(mlirLayoutGetMovement(rows, type(context, "tensor<8x128xi32>"), 0, NULL,
                              NULL, NULL, NULL, NULL, print,
                              error) == MlirLayoutMovementError);
  CHECK(mlirLayoutGetMovement(rows, type(context, "tensor<?x128xf32>"), 0, NULL,
                              NULL, NULL, NULL, NULL, print,
                              error) == MlirLayoutMovementError);
  CHECK(mlirLayoutGetMovement(rows, type(context, "memref<8x128xf32>"), 0, NULL,
                              NULL, NULL, NULL, NULL, print,
                              error) == MlirLayoutMovementError);
  CHECK(mlirLayoutGetMovement(rows, type(context, "tensor<8x127xf32>"), 0, NULL,
                              NULL, NULL, NULL, NULL, print,
                              error) == MlirLayoutMovementError);
}

static void others(MlirContext context) {
  MlirAttribute vmem =
      mlirLayoutMemorySpaceAttrGet(context, str("vmem"), print, error);
  CHECK(mlirAttributeIsALayoutMemorySpace(vmem));
  CHECK(mlirLayoutMemorySpaceAttrGetNumber(vmem) == 1);
  CHECK(mlirAttributeEqual(
      vmem, mlirLayoutMemorySpaceAttrGetNumbered(context, 1, print, error)));
  MlirAttribute machine = mlirLayoutMachineAttrGet(
      context,
      str("axes: (4_PE), memories: (LM: 1 at PE with 64 bytes), word: 64"),
      print, error);
  CHECK(mlirAttributeIsALayoutMachine(machine));
  CHECK(mlirLayoutAttrGetText(machine, print, text));
  MlirAttribute tpu =
      mlirLayoutMachineAttrGet(context, str("tpu_v5e"), print, error);
  int64_t shape[] = {1024, 129};
  MlirType f32 = mlirF32TypeGet(context);
  MlirAttribute usual =
      mlirLayoutMachineAttrGetDefaultLayout(tpu, f32, 2, shape, print, error);
  CHECK(mlirAttributeIsALayoutTiled(usual));
  CHECK(mlirLayoutAttrGetText(usual, print, text));
  shape[0] = -1;
  CHECK(mlirAttributeIsNull(
      mlirLayoutMachineAttrGetDefaultLayout(tpu, f32, 2, shape, print, error)));
  CHECK(mlirAttributeIsNull(mlirLayoutMachineAttrGetDefaultLayout(
      tpu, mlirNoneTypeGet(context), 0, NULL, print, error)));
  MlirAttribute axis =
      mlirAttributeParseGet(context, str("#layout.axis<\"PE\", level = 1>"));
  CHECK(mlirAttributeIsALayoutAxis(axis) && !mlirAttributeIsALayoutAxis(vmem));
  CHECK(mlirLayoutAxisAttrGetName(axis, print, text));
  CHECK(mlirLayoutAxisAttrGetLevel(axis) == 1);
  CHECK(mlirLayoutAttrGetText(axis, print, text));

  printf("wrong spaces and machines\n");
  CHECK(mlirAttributeIsNull(
      mlirLayoutMemorySpaceAttrGetNumbered(context, 128, print, error)));
  CHECK(mlirAttributeIsNull(
      mlirLayoutMemorySpaceAttrGetNumbered(context, -1, print, error)));
  CHECK(mlirAttributeIsNull(
      mlirLayoutMemorySpaceAttrGet(context, str("moon"), print, error)));
  CHECK(mlirAttributeIsNull(
      mlirLayoutMachineAttrGet(context, str("axes"), print, error)));
}

static void maps(MlirContext context) {
  MlirAttribute map = mlirLayoutIndexingMapAttrGet(
      context,
      str("(d0)[s0] -> ((d0 * 8 + s0) floordiv 8), domain: d0 in [0, 9], s0 in "
          "[0, 7]"),
      print, error);
  CHECK(mlirAttributeIsALayoutIndexingMap(map));
  CHECK(mlirLayoutIndexingMapAttrGetKind(map) == MlirLayoutIndexingMap);
  CHECK(mlirLayoutIndexingMapAttrGetNumRanges(map) == 1);
  int64_t low, high;
  CHECK(mlirLayoutIndexingMapAttrGetInterval(map, 1, &low, &high));
  CHECK(low == 0 && high == 7);
  CHECK(!mlirLayoutIndexingMapAttrGetInterval(map, 2, &low, &high));
  MlirAffineMap affine = mlirLayoutIndexingMapAttrGetAffineMap(map);
  CHECK(mlirAffineMapGetNumSymbols(affine) == 1);
  CHECK(mlirLayoutAttrGetText(
      mlirLayoutIndexingMapAttrSimplify(map, print, error), print, text));
  MlirAttribute empty =
      mlirLayoutIndexingMapAttrGet(context, str("KNOWN EMPTY"), print, error);
  CHECK(mlirLayoutIndexingMapAttrGetKind(empty) ==
        MlirLayoutIndexingKnownEmpty);
  CHECK(mlirAffineMapIsNull(mlirLayoutIndexingMapAttrGetAffineMap(empty)));
  char simple[] = "simple: ";
  CHECK(mlirLayoutSimplifyIndexingMap(
      str("(d0, d1) -> ((d0 * 16 + d1) mod 8), domain: d0 in [0, 9], d1 in "
          "[0, 15]"),
      print, simple, print, error));

  printf("algebra\n");
  char composed[] = "composed: ";
  CHECK(mlirLayoutCalculate(str("(6,2):(8,2) o (4,3):(3,1)"), print, composed,
                            print, error));
  CHECK(!mlirLayoutCalculate(str("complement((2,2):(1,6), 7)"), print, composed,
                             print, error));

  printf("wrong maps\n");
  CHECK(!mlirLayoutSimplifyIndexingMap(
      str("(d0) -> (d1), domain: d0 in [0, 9]"), print, simple, print, error));
  CHECK(mlirAttributeIsNull(
      mlirLayoutIndexingMapAttrGet(context, str("(d0"), print, error)));
  CHECK(mlirLayoutIndexingMapAttrGetKind(mlirUnitAttrGet(context)) ==
        MlirLayoutIndexingNone);
}

/// A module whose function begins with a transpose.
static MlirModule transposing(MlirContext context) {
  MlirModule module = mlirModuleCreateParse(
      context,
      str("func.func @f(%x: tensor<3x5xf32>, %o: tensor<5x3xf32>) -> "
          "tensor<5x3xf32> {\n"
          "  %t = linalg.transpose ins(%x : tensor<3x5xf32>) outs(%o : "
          "tensor<5x3xf32>) permutation = [1, 0]\n"
          "  return %t : tensor<5x3xf32>\n"
          "}"));
  CHECK(!mlirModuleIsNull(module));
  return module;
}

static MlirOperation transposeIn(MlirModule module) {
  MlirOperation function =
      mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  return mlirBlockGetFirstOperation(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)));
}

static void analysis(MlirContext context) {
  MlirModule module = transposing(context);
  MlirOperation transpose = transposeIn(module);
  char reads[] = "reads: ", feeds[] = "feeds: ";
  CHECK(mlirLayoutOperationGetIndexing(transpose, MlirLayoutReads, 0, 0,
                                       printMap, reads, print, error));
  CHECK(mlirLayoutOperationGetIndexing(transpose, MlirLayoutFeeds, 0, 0,
                                       printMap, feeds, print, error));

  printf("wrong questions\n");
  CHECK(!mlirLayoutOperationGetIndexing(transpose, (MlirLayoutDirection)2, 0, 0,
                                        printMap, reads, print, error));
  CHECK(!mlirLayoutOperationGetIndexing(transpose, MlirLayoutReads, 1, 0,
                                        printMap, reads, print, error));
  CHECK(!mlirLayoutOperationGetIndexing(transpose, MlirLayoutReads, 0, -1,
                                        printMap, reads, print, error));
  CHECK(!mlirLayoutOperationGetIndexing(transpose, MlirLayoutReads, 0, 0, NULL,
                                        NULL, print, error));
  MlirOperation end = mlirOperationGetNextInBlock(transpose);
  CHECK(!mlirLayoutOperationGetIndexing(end, MlirLayoutReads, 0, 0, printMap,
                                        reads, print, error));
  mlirModuleDestroy(module);
}

static void passes(MlirContext context) {
  const char *source =
      "func.func @f(%m: memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>) { return "
      "}";
  CHECK(mlirLayoutRegisterPasses(print, error));
  CHECK(mlirLayoutRegisterPasses(print, error));
  for (int way = 0; way < 3; ++way) {
    MlirModule module = mlirModuleCreateParse(context, str(source));
    MlirPassManager manager = mlirPassManagerCreate(context);
    MlirOpPassManager on = mlirPassManagerGetAsOpPassManager(manager);
    if (way == 0)
      CHECK(mlirLayoutOpPassManagerAdd(on, str("layout-lower-memrefs"),
                                       str("form=physical vectorize=neon"),
                                       print, error));
    else if (way == 1)
      CHECK(mlirLayoutOpPassManagerAdd(on, str("layout-to-memref"), str(""),
                                       print, error));
    else
      CHECK(mlirLayoutOpPassManagerAdd(on, str("layout-to-memref"),
                                       str("form=physical"), print, error));
    MlirOperation op = mlirModuleGetOperation(module);
    CHECK(mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, op)));
    mlirOperationPrint(op, printPart, NULL);
    mlirPassManagerDestroy(manager);
    mlirModuleDestroy(module);
  }

  printf("wrong passes\n");
  MlirPassManager manager =
      mlirPassManagerCreateOnOperation(context, str("builtin.module"));
  MlirOpPassManager on = mlirPassManagerGetAsOpPassManager(manager);
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-lower-mumrefs"), str(""),
                                    print, error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-lower-memrefs"),
                                    str("form=cubic"), print, error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-to-memref"),
                                    str("form=cubic"), print, error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-lower-memrefs"),
                                    str("vectorize=neon vector-bits=100"),
                                    print, error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-to-llvm"),
                                    str("vector-registers=16"), print, error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-lower-memrefs"),
                                    str("contract=maybe"), print, error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-indexing-analysis"),
                                    str("raport"), print, error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("cse,canonicalize"), str(""), print,
                                    error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-to-memref"),
                                    str("form=physical},cse{"), print, error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-deallocate"), str(""),
                                    print, error));
  CHECK(mlirLayoutOpPassManagerAdd(on, str("layout-to-memref"),
                                   str("plan machine=cpu entry=free"), print,
                                   error));
  CHECK(!mlirLayoutOpPassManagerAdd(on, str("layout-to-memref"), str("form=7"),
                                    print, error));
  mlirPassManagerDestroy(manager);
}

static void nulls(void) {
  printf("null handles\n");
  MlirContext context = {NULL};
  MlirAttribute none = mlirAttributeGetNull();
  MlirDialectRegistry registry = {NULL};
  MlirOperation op = {NULL};
  MlirOpPassManager manager = {NULL};
  int64_t numbers[2] = {1, 1};
  CHECK(!mlirLayoutRegisterDialect(registry, print, error));
  CHECK(mlirAttributeIsNull(
      mlirLayoutTiledAttrGet(context, str("{1,0}"), print, error)));
  CHECK(mlirAttributeIsNull(
      mlirLayoutMemorySpaceAttrGetNumbered(context, 1, print, error)));
  CHECK(!mlirAttributeIsALayoutTiled(none));
  CHECK(!mlirAttributeIsALayoutTensorLayout(none));
  CHECK(!mlirAttributeIsALayoutMachine(none));
  CHECK(!mlirAttributeIsALayoutIndexingMap(none));
  CHECK(!mlirAttributeIsALayoutMemorySpace(none));
  CHECK(!mlirLayoutAttrGetText(none, print, text));
  CHECK(mlirLayoutTiledAttrGetRank(none) == -1);
  CHECK(mlirLayoutTiledAttrGetMemorySpace(none) == -1);
  CHECK(mlirLayoutTensorLayoutAttrGetNumAxes(none) == -1);
  CHECK(mlirLayoutMemorySpaceAttrGetNumber(none) == -1);
  CHECK(!mlirLayoutAxisAttrGetName(none, print, text));
  CHECK(mlirLayoutAxisAttrGetLevel(none) == -1);
  CHECK(mlirLayoutIndexingMapAttrGetNumRanges(none) == -1);
  MlirType untyped = {NULL};
  CHECK(mlirAttributeIsNull(mlirLayoutMachineAttrGetDefaultLayout(
      none, untyped, 2, numbers, print, error)));
  CHECK(!mlirLayoutTiledAttrGetOffset(none, 2, numbers, 2, numbers, numbers,
                                      print, error));
  CHECK(mlirLayoutTensorLayoutAttrGetPlace(none, 2, numbers, 2, numbers, 2,
                                           numbers, print, error) == -1);
  CHECK(mlirAttributeIsNull(
      mlirLayoutIndexingMapAttrSimplify(none, print, error)));
  CHECK(!mlirLayoutOperationGetIndexing(op, MlirLayoutReads, 0, 0, printMap,
                                        text, print, error));
  CHECK(mlirAttributeIsNull(mlirLayoutTiledAttrGetFromNumbers(
      context, 0, NULL, 0, NULL, NULL, 0, print, error)));
  const intptr_t count = 0;
  const MlirLayoutPart *parts = NULL;
  CHECK(mlirAttributeIsNull(mlirLayoutTensorLayoutAttrGetFromParts(
      context, 1, &count, &parts, print, error)));
  CHECK(!mlirLayoutTiledAttrGetPaddedBytes(none, untyped, 2, numbers, numbers,
                                           print, error));
  CHECK(!mlirLayoutMachineAttrGetLocalBytes(none, none, untyped, 2, numbers,
                                            numbers, print, error));
  CHECK(mlirLayoutGetMovement(untyped, untyped, 0, NULL, print, text, NULL,
                              NULL, print, error) == MlirLayoutMovementError);
  CHECK(!mlirLayoutOpPassManagerAdd(manager, str("layout-lower-memrefs"),
                                    str(""), print, error));
  CHECK(!mlirLayoutOpPassManagerAdd(manager, str("layout-to-memref"),
                                    str("form=strided"), print, error));
  MlirDialectHandle layout = mlirGetDialectHandle__layout__();
  mlirDialectHandleInsertDialect(layout, registry);
  CHECK(mlirDialectIsNull(mlirDialectHandleLoadDialect(layout, context)));
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  CHECK(mlirLayoutRegisterDialect(registry, print, error));
  CHECK(mlirLayoutRegisterDialect(registry, print, error));
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__layout__(), registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);

  // Before anything has loaded the dialect.
  analysis(context);
  tiled(context);
  tensorLayout(context);
  swizzled(context);
  fromNumbers(context);
  movement(context);
  others(context);
  maps(context);
  passes(context);
  nulls();
  mlirContextDestroy(context);

  printf("a context without the dialect\n");
  MlirContext bare = mlirContextCreate();
  CHECK(mlirAttributeIsNull(
      mlirLayoutTiledAttrGet(bare, str("{1,0}"), print, error)));
  MlirDialectRegistry others = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(others);
  mlirContextAppendDialectRegistry(bare, others);
  mlirDialectRegistryDestroy(others);
  MlirModule module = transposing(bare);
  char reads[] = "reads: ";
  CHECK(!mlirLayoutOperationGetIndexing(transposeIn(module), MlirLayoutReads, 0,
                                        0, printMap, reads, print, error));
  mlirModuleDestroy(module);
  MlirDialectHandle handle = mlirGetDialectHandle__layout__();
  CHECK(!mlirDialectIsNull(mlirDialectHandleLoadDialect(handle, bare)));
  CHECK(mlirAttributeIsALayoutTiled(
      mlirLayoutTiledAttrGet(bare, str("{1,0}"), print, error)));
  mlirContextDestroy(bare);
  printf("done\n");
  return 0;
}
