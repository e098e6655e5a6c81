//===- Layout.h - C API to the layout dialect -----------------------------===//
//
// Registration, attributes, and what is computed from them. The passes are in
// layout-c/Passes.h. libLayout.so contains both, and all of MLIR's own C API.
//
//   MlirAttribute tiled = mlirLayoutTiledAttrGet(
//       context, mlirStringRefCreateFromCString("{1,0:T(2,2)}"), error, data);
//   int64_t shape[] = {3, 5}, index[] = {2, 3}, offset;
//   if (mlirLayoutTiledAttrGetOffset(tiled, 2, shape, 2, index, &offset, error,
//                                    data))
//     ...; // offset is 17
//
// A function that can fail takes a callback for its error. The callback gets a
// message, and then the function returns null, false or a negative number. The
// callback may be null. Errors include null handles, attributes of another
// kind, numbers out of range, and null pointers to memory that is needed.
// Functions without a callback return null, false or -1 for them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_C_LAYOUT_H
#define LAYOUT_C_LAYOUT_H

#include "mlir-c/AffineMap.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// The dialect for mlirDialectHandleInsertDialect and
/// mlirDialectHandleLoadDialect. These two ignore null, and load nothing where
/// another copy of this library has loaded its dialect. MLIR's other functions,
/// such as mlirDialectHandleRegisterDialect, must not be given null.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Layout, layout);

/// Adds the dialect to a registry; again does nothing. Fails where another copy
/// of this library was first.
MLIR_CAPI_EXPORTED bool mlirLayoutRegisterDialect(MlirDialectRegistry registry,
                                                  MlirStringCallback error,
                                                  void *userData);

//===----------------------------------------------------------------------===//
// Attributes from text and back
//
// `text` is the text between the brackets: "{1,0:T(2,2)}" makes
// #layout.tiled<{1,0:T(2,2)}>. The dialect has to be registered in the context.
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED MlirAttribute
mlirLayoutTiledAttrGet(MlirContext context, MlirStringRef text,
                       MlirStringCallback error, void *userData);
MLIR_CAPI_EXPORTED MlirAttribute
mlirLayoutTensorLayoutAttrGet(MlirContext context, MlirStringRef text,
                              MlirStringCallback error, void *userData);
MLIR_CAPI_EXPORTED MlirAttribute
mlirLayoutSwizzledAttrGet(MlirContext context, MlirStringRef text,
                          MlirStringCallback error, void *userData);
MLIR_CAPI_EXPORTED MlirAttribute
mlirLayoutMachineAttrGet(MlirContext context, MlirStringRef text,
                         MlirStringCallback error, void *userData);
MLIR_CAPI_EXPORTED MlirAttribute
mlirLayoutIndexingMapAttrGet(MlirContext context, MlirStringRef text,
                             MlirStringCallback error, void *userData);
/// By its name, as in "vmem" or "device 2".
MLIR_CAPI_EXPORTED MlirAttribute
mlirLayoutMemorySpaceAttrGet(MlirContext context, MlirStringRef text,
                             MlirStringCallback error, void *userData);
/// By XLA's number, 0 to 127.
MLIR_CAPI_EXPORTED MlirAttribute
mlirLayoutMemorySpaceAttrGetNumbered(MlirContext context, int64_t number,
                                     MlirStringCallback error, void *userData);

//===----------------------------------------------------------------------===//
// Attributes from numbers
//===----------------------------------------------------------------------===//

/// #layout.tiled with this order, fastest varying dimension first, and these
/// tiles, first applied first: tile k has `tileRanks[k]` entries
/// `tileSizes[k][0]`, .., major first, of which 0 is `*`.
MLIR_CAPI_EXPORTED MlirAttribute mlirLayoutTiledAttrGetFromNumbers(
    MlirContext context, intptr_t rank, const int64_t *minorToMajor,
    intptr_t numTiles, const intptr_t *tileRanks,
    const int64_t *const *tileSizes, int64_t memorySpace,
    MlirStringCallback error, void *userData);

/// A part of a dimension of a TensorLayout: so many steps along an axis of the
/// machine, or along the local address where the axis is empty. A step moves
/// `stride` places, or units of the address.
typedef struct {
  int64_t extent;
  MlirStringRef axis;
  int64_t stride;
} MlirLayoutPart;

/// #layout.tensor_layout: dimension d has the parts `parts[d][0]`, ..,
/// `partCounts[d]` of them, the most significant first.
MLIR_CAPI_EXPORTED MlirAttribute mlirLayoutTensorLayoutAttrGetFromParts(
    MlirContext context, intptr_t rank, const intptr_t *partCounts,
    const MlirLayoutPart *const *parts, MlirStringCallback error,
    void *userData);

MLIR_CAPI_EXPORTED bool mlirAttributeIsALayoutTiled(MlirAttribute attr);
MLIR_CAPI_EXPORTED bool mlirAttributeIsALayoutTensorLayout(MlirAttribute attr);
MLIR_CAPI_EXPORTED bool mlirAttributeIsALayoutSwizzled(MlirAttribute attr);
MLIR_CAPI_EXPORTED bool mlirAttributeIsALayoutMachine(MlirAttribute attr);
MLIR_CAPI_EXPORTED bool mlirAttributeIsALayoutIndexingMap(MlirAttribute attr);
MLIR_CAPI_EXPORTED bool mlirAttributeIsALayoutMemorySpace(MlirAttribute attr);
MLIR_CAPI_EXPORTED bool mlirAttributeIsALayoutAxis(MlirAttribute attr);

/// Calls back once with the text between the brackets, which the functions
/// above take. False for any other attribute.
MLIR_CAPI_EXPORTED bool mlirLayoutAttrGetText(MlirAttribute attr,
                                              MlirStringCallback text,
                                              void *userData);

//===----------------------------------------------------------------------===//
// Tiled layouts
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED intptr_t mlirLayoutTiledAttrGetRank(MlirAttribute tiled);
/// The dimension at `position`, of which 0 varies fastest in memory.
MLIR_CAPI_EXPORTED int64_t
mlirLayoutTiledAttrGetMinorToMajor(MlirAttribute tiled, intptr_t position);
MLIR_CAPI_EXPORTED intptr_t mlirLayoutTiledAttrGetNumTiles(MlirAttribute tiled);
MLIR_CAPI_EXPORTED intptr_t mlirLayoutTiledAttrGetTileRank(MlirAttribute tiled,
                                                           intptr_t tile);
/// The size at `position` in a tile, major first; 0 is the entry `*`, -1 an
/// error.
MLIR_CAPI_EXPORTED int64_t mlirLayoutTiledAttrGetTileSize(MlirAttribute tiled,
                                                          intptr_t tile,
                                                          intptr_t position);
MLIR_CAPI_EXPORTED int64_t
mlirLayoutTiledAttrGetMemorySpace(MlirAttribute tiled);

/// The offset in memory of the element at a logical index, in elements.
MLIR_CAPI_EXPORTED bool
mlirLayoutTiledAttrGetOffset(MlirAttribute tiled, intptr_t rank,
                             const int64_t *shape, intptr_t indexRank,
                             const int64_t *index, int64_t *offset,
                             MlirStringCallback error, void *userData);
/// The sizes of the tiled dimensions of a shape, outermost first, and their
/// strides, in elements. Returns how many there are and writes the first
/// `capacity` of them; -1 after an error.
MLIR_CAPI_EXPORTED intptr_t mlirLayoutTiledAttrGetExpanded(
    MlirAttribute tiled, intptr_t rank, const int64_t *shape, intptr_t capacity,
    int64_t *sizes, int64_t *strides, MlirStringCallback error, void *userData);

/// The bytes of memory that a tensor of a static shape takes, padding included;
/// metadata (`M`) is not.
MLIR_CAPI_EXPORTED bool
mlirLayoutTiledAttrGetPaddedBytes(MlirAttribute tiled, MlirType elementType,
                                  intptr_t rank, const int64_t *shape,
                                  int64_t *bytes, MlirStringCallback error,
                                  void *userData);

typedef enum {
  MlirLayoutMovementError = -1,
  MlirLayoutFree = 0,  ///< Every element stays at its byte.
  MlirLayoutMoves = 1, ///< An element moves, or more memory is needed.
  MlirLayoutMovementUnknown = 2, ///< Neither was shown.
} MlirLayoutMovement;

typedef void (*MlirLayoutAttributeCallback)(MlirAttribute attr, void *userData);

/// Whether a tensor moves that becomes one of another type of the same element
/// type: transposed, where dimension k of the result is dimension
/// `permutation[k]`, or, where `permutation` is null, with its elements in the
/// same row-major order, as in a reshape or a change of the layout alone. The
/// types are static, and without an encoding or with #layout.tiled.
///
/// Calls back with the reason in words, and where it moves and one was found
/// with the layout of the result with which it would not, that is nearest to
/// its own; both callbacks may be null.
MLIR_CAPI_EXPORTED MlirLayoutMovement mlirLayoutGetMovement(
    MlirType from, MlirType to, intptr_t rank, const int64_t *permutation,
    MlirStringCallback reason, void *reasonData,
    MlirLayoutAttributeCallback nearest, void *nearestData,
    MlirStringCallback error, void *userData);

/// The #layout.tiled that a tensor of this static shape has on a machine
/// unless its owner asks for another.
MLIR_CAPI_EXPORTED MlirAttribute mlirLayoutMachineAttrGetDefaultLayout(
    MlirAttribute machine, MlirType elementType, intptr_t rank,
    const int64_t *shape, MlirStringCallback error, void *userData);

//===----------------------------------------------------------------------===//
// TensorLayouts
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED intptr_t
mlirLayoutTensorLayoutAttrGetRank(MlirAttribute layout);
/// The axes that the layout names, in its order; not the address.
MLIR_CAPI_EXPORTED intptr_t
mlirLayoutTensorLayoutAttrGetNumAxes(MlirAttribute layout);
MLIR_CAPI_EXPORTED bool
mlirLayoutTensorLayoutAttrGetAxis(MlirAttribute layout, intptr_t position,
                                  MlirStringCallback name, void *userData);
/// The coordinate along each axis, and last the local address, of the first
/// copy of an element. Returns how many there are and writes the first
/// `capacity` of them; -1 after an error.
MLIR_CAPI_EXPORTED intptr_t mlirLayoutTensorLayoutAttrGetPlace(
    MlirAttribute layout, intptr_t rank, const int64_t *shape,
    intptr_t indexRank, const int64_t *index, intptr_t capacity, int64_t *place,
    MlirStringCallback error, void *userData);

/// The address of the element at an index of a shape, in elements.
MLIR_CAPI_EXPORTED bool
mlirLayoutSwizzledAttrGetOffset(MlirAttribute swizzled, intptr_t rank,
                                const int64_t *shape, intptr_t indexRank,
                                const int64_t *index, int64_t *offset,
                                MlirStringCallback error, void *userData);

/// The bytes that a tensor of a static shape takes in each memory of a machine
/// that holds a part of it; an error where a memory has less room.
MLIR_CAPI_EXPORTED bool
mlirLayoutMachineAttrGetLocalBytes(MlirAttribute machine, MlirAttribute layout,
                                   MlirType elementType, intptr_t rank,
                                   const int64_t *shape, int64_t *bytes,
                                   MlirStringCallback error, void *userData);

//===----------------------------------------------------------------------===//
// Memory spaces and axes
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED int64_t
mlirLayoutMemorySpaceAttrGetNumber(MlirAttribute space);

/// Calls back once with the name of the axis that a loop is mapped to.
MLIR_CAPI_EXPORTED bool mlirLayoutAxisAttrGetName(MlirAttribute axis,
                                                  MlirStringCallback name,
                                                  void *userData);
/// How many axes of the machine are above it.
MLIR_CAPI_EXPORTED int64_t mlirLayoutAxisAttrGetLevel(MlirAttribute axis);

//===----------------------------------------------------------------------===//
// Indexing maps
//===----------------------------------------------------------------------===//

typedef enum {
  MlirLayoutIndexingNone = -1, ///< The attribute is no indexing map.
  MlirLayoutIndexingMap = 0,
  MlirLayoutIndexingKnownEmpty = 1, ///< No element is related to any.
  MlirLayoutIndexingUndefined = 2,  ///< No finite map says which are.
} MlirLayoutIndexingKind;

MLIR_CAPI_EXPORTED MlirLayoutIndexingKind
mlirLayoutIndexingMapAttrGetKind(MlirAttribute map);
/// The results over dimension variables, and range and run-time variables as
/// symbols; null where it is not of the kind MlirLayoutIndexingMap.
MLIR_CAPI_EXPORTED MlirAffineMap
mlirLayoutIndexingMapAttrGetAffineMap(MlirAttribute map);
/// How many of the symbols, the first ones, are range variables.
MLIR_CAPI_EXPORTED intptr_t
mlirLayoutIndexingMapAttrGetNumRanges(MlirAttribute map);
/// The closed interval of a variable: dimensions first, then symbols.
MLIR_CAPI_EXPORTED bool mlirLayoutIndexingMapAttrGetInterval(MlirAttribute map,
                                                             intptr_t variable,
                                                             int64_t *low,
                                                             int64_t *high);
/// The same map, simplified over its domain.
MLIR_CAPI_EXPORTED MlirAttribute mlirLayoutIndexingMapAttrSimplify(
    MlirAttribute map, MlirStringCallback error, void *userData);

/// Simplifies an indexing map given as text, and calls back once with the
/// result. Needs no context.
MLIR_CAPI_EXPORTED bool mlirLayoutSimplifyIndexingMap(MlirStringRef text,
                                                      MlirStringCallback result,
                                                      void *resultData,
                                                      MlirStringCallback error,
                                                      void *userData);

/// Calls back once with the value of an expression of the algebra of layouts,
/// such as "(6,2):(8,2) o (4,3):(3,1)"; see docs/algebra.md. Needs no context.
MLIR_CAPI_EXPORTED bool
mlirLayoutCalculate(MlirStringRef expression, MlirStringCallback result,
                    void *resultData, MlirStringCallback error, void *userData);

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

typedef enum {
  /// From an index of the result to the elements of the operand it is made of.
  MlirLayoutReads = 0,
  /// From an index of the operand to the elements of the result that use it.
  MlirLayoutFeeds = 1,
} MlirLayoutDirection;

/// Calls back with each indexing map between a result and an operand of an
/// operation on tensors. The answer is the union of their points: no map where
/// nothing is related, UNDEFINED where no finite map holds the relation.
MLIR_CAPI_EXPORTED bool
mlirLayoutOperationGetIndexing(MlirOperation op, MlirLayoutDirection direction,
                               intptr_t result, intptr_t operand,
                               MlirLayoutAttributeCallback map, void *mapData,
                               MlirStringCallback error, void *userData);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_LAYOUT_H
