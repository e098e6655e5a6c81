//===- Glue.h - The C ABI between the dialect's C++ and its Rust ----------===//
//
// `layout_rs_*` is Rust that C++ calls, `layout_cc_*` is C++ that Rust calls.
// Nothing that crosses owns memory: slices go down, results come up through
// callbacks. The Rust side is dialect/exports.rs for the first, and
// dialect/imports.rs for the second.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_GLUE_H
#define LAYOUT_DIALECT_GLUE_H

#include "mlir-c/AffineMap.h"
#include "mlir-c/IR.h"
#include <string>

extern "C" {

/// An indexing map in parts: 0 for a map, 1 for KNOWN EMPTY, 2 for UNDEFINED;
/// results and constraints over the same dimensions and symbols; low and high
/// of each variable and of each constraint; names of its own by commas.
struct LayoutIndexingMap {
  int64_t kind;
  MlirAffineMap map;
  int64_t ranges;
  const int64_t *intervals;
  size_t intervalCount;
  MlirAffineMap constraints;
  const int64_t *constraintIntervals;
  size_t constraintIntervalCount;
  MlirStringRef names;
};

/// Receives numbers, which are valid for the call.
typedef void (*LayoutNumbers)(const int64_t *numbers, size_t count, void *user);

/// Receives what is wrong with a text, and the byte offset where it is.
typedef void (*LayoutErrorAt)(size_t at, MlirStringRef message, void *user);

//===----------------------------------------------------------------------===//
// Rust, for C++
//===----------------------------------------------------------------------===//

/// The attribute that `body` denotes, as in `tiled<{1,0}>`; null after an
/// error.
MlirAttribute layout_rs_parse_attribute(MlirContext context, MlirStringRef body,
                                        LayoutErrorAt error, void *user);
void layout_rs_print_attribute(MlirAttribute attribute,
                               MlirStringCallback print, void *user);

/// The attribute that `text` denotes as the body of `mnemonic`; null after an
/// error.
MlirAttribute layout_rs_attribute_from_text(MlirContext context,
                                            MlirStringRef mnemonic,
                                            MlirStringRef text,
                                            MlirStringCallback error,
                                            void *user);

/// A note for an error whose text, with its own notes, is this; nothing where
/// there is none.
void layout_rs_advice(MlirStringRef error, MlirStringCallback note, void *user);

/// Attributes from numbers; null after an error. Tiles are one after the other,
/// and each has a number of entries, of which -1 is `*`. So are the parts of
/// dimensions; an empty axis is the local address.
MlirAttribute layout_rs_tiled_of_numbers(MlirContext context,
                                         const int64_t *minorToMajor,
                                         size_t rank, const int64_t *entries,
                                         const int64_t *entryCounts,
                                         size_t tileCount, int64_t memorySpace,
                                         MlirStringCallback error, void *user);
MlirAttribute layout_rs_tensor_layout_of_parts(
    MlirContext context, const int64_t *partCounts, size_t rank,
    const int64_t *extents, const MlirStringRef *axes, const int64_t *strides,
    MlirStringCallback error, void *user);

/// `Movement` in Layout.h: its kind, or -1 after an error. Calls back with the
/// reason, and writes the nearest layout where there is one. A negative count
/// is no permutation.
int32_t layout_rs_movement(MlirType from, MlirType to,
                           const int64_t *permutation, intptr_t count,
                           MlirStringCallback reason, void *reasonUser,
                           MlirAttribute *nearest, MlirStringCallback error,
                           void *user);

/// What `TiledAttr` in Layout.td says of the method of that name. The functions
/// that return void call back with nothing after an error, which they emit.
int64_t layout_rs_tiled_rank(MlirAttribute tiled);
void layout_rs_tiled_minor_to_major(MlirAttribute tiled, LayoutNumbers result,
                                    void *user);
void layout_rs_tiled_tiles(MlirAttribute tiled, LayoutNumbers tile, void *user);
int64_t layout_rs_tiled_memory_space(MlirAttribute tiled);
bool layout_rs_tiled_offset_of(MlirAttribute tiled, const int64_t *shape,
                               size_t rank, const int64_t *index,
                               size_t indexRank, int64_t *offset,
                               MlirStringCallback error, void *user);
bool layout_rs_tiled_expanded_sizes(MlirAttribute tiled, const int64_t *shape,
                                    size_t rank, LayoutNumbers result,
                                    void *resultUser, MlirStringCallback error,
                                    void *user);
bool layout_rs_tiled_expanded_strides(MlirAttribute tiled, const int64_t *shape,
                                      size_t rank, LayoutNumbers result,
                                      void *resultUser,
                                      MlirStringCallback error, void *user);

bool layout_rs_tiled_padded_bytes(MlirAttribute tiled, const int64_t *shape,
                                  size_t rank, MlirType element, int64_t *bytes,
                                  MlirStringCallback error, void *user);

/// As for `TiledAttr`.
int64_t layout_rs_tensor_layout_rank(MlirAttribute layout);
void layout_rs_tensor_layout_axes(MlirAttribute layout, MlirStringCallback axis,
                                  void *user);
bool layout_rs_tensor_layout_place_of(MlirAttribute layout,
                                      const int64_t *shape, size_t rank,
                                      const int64_t *index, size_t indexRank,
                                      LayoutNumbers result, void *resultUser,
                                      MlirStringCallback error, void *user);

bool layout_rs_tiled_verify(MlirStringRef text, MlirStringCallback error,
                            void *user);
MlirAffineMap layout_rs_tiled_affine_map(MlirAttribute tiled);
bool layout_rs_tiled_is_identity(MlirAttribute tiled);
bool layout_rs_tiled_verify_layout(MlirAttribute tiled, const int64_t *shape,
                                   size_t rank, MlirStringCallback error,
                                   void *user);
/// Writes `rank` strides and the offset; false where the layout has no strides.
bool layout_rs_tiled_strides(MlirAttribute tiled, const int64_t *shape,
                             size_t rank, int64_t *strides, int64_t *offset);
bool layout_rs_tiled_verify_encoding(MlirAttribute tiled, const int64_t *shape,
                                     size_t rank, MlirType elementType,
                                     MlirStringCallback error, void *user);

bool layout_rs_tensor_layout_verify(MlirStringRef text,
                                    MlirStringCallback error, void *user);
MlirAffineMap layout_rs_tensor_layout_affine_map(MlirAttribute layout);
bool layout_rs_tensor_layout_verify_layout(MlirAttribute layout,
                                           const int64_t *shape, size_t rank,
                                           MlirStringCallback error,
                                           void *user);
/// As layout_rs_tiled_strides.
bool layout_rs_tensor_layout_strides(MlirAttribute layout, const int64_t *shape,
                                     size_t rank, int64_t *strides,
                                     int64_t *offset);
bool layout_rs_tensor_layout_verify_encoding(MlirAttribute layout,
                                             const int64_t *shape, size_t rank,
                                             MlirType elementType,
                                             MlirStringCallback error,
                                             void *user);

bool layout_rs_swizzled_verify(MlirStringRef text, MlirStringCallback error,
                               void *user);
MlirAffineMap layout_rs_swizzled_affine_map(MlirAttribute layout);
bool layout_rs_swizzled_verify_layout(MlirAttribute layout,
                                      const int64_t *shape, size_t rank,
                                      MlirStringCallback error, void *user);
bool layout_rs_swizzled_verify_encoding(MlirAttribute layout,
                                        const int64_t *shape, size_t rank,
                                        MlirType elementType,
                                        MlirStringCallback error, void *user);
bool layout_rs_swizzled_offset_of(MlirAttribute layout, const int64_t *shape,
                                  size_t rank, const int64_t *index,
                                  size_t indexRank, int64_t *offset,
                                  MlirStringCallback error, void *user);

/// An attribute of this dialect on any operation.
bool layout_rs_verify_operation_attribute(MlirOperation op, MlirStringRef name,
                                          MlirAttribute attribute,
                                          MlirStringCallback error, void *user);

bool layout_rs_machine_verify(MlirStringRef text, MlirStringCallback error,
                              void *user);
MlirAttribute
layout_rs_machine_default_layout(MlirAttribute machine, MlirType element,
                                 const int64_t *shape, size_t rank,
                                 MlirStringCallback error, void *user);

bool layout_rs_machine_local_bytes(MlirAttribute machine, MlirAttribute layout,
                                   const int64_t *shape, size_t rank,
                                   MlirType element, int64_t *bytes,
                                   MlirStringCallback error, void *user);

bool layout_rs_axis_verify(MlirStringRef name, int64_t level,
                           MlirStringCallback error, void *user);

bool layout_rs_pending_verify(MlirAttribute layout, MlirStringCallback error,
                              void *user);

bool layout_rs_memory_space_verify(int64_t number, MlirStringCallback error,
                                   void *user);

bool layout_rs_indexing_map_verify(const LayoutIndexingMap *map,
                                   MlirStringCallback error, void *user);

bool layout_rs_convert_verify(MlirOperation convert, MlirStringCallback error,
                              void *user);
/// The value that the operation folds to, its own result where it was changed
/// in place; null where it does not fold.
MlirValue layout_rs_convert_fold(MlirOperation convert);
bool layout_rs_convert_reads_memory(MlirOperation convert);

//===----------------------------------------------------------------------===//
// C++, for Rust
//===----------------------------------------------------------------------===//

/// False, with a message, where another copy of this library was first.
bool layout_cc_register(MlirDialectRegistry registry, MlirStringCallback error,
                        void *user);
/// Loads the dialect; false where the context has none, or another copy's.
bool layout_cc_load(MlirContext context);

/// The bytes of a resource of elements, with a null pointer where the module
/// has none of its name, and for any other attribute.
MlirStringRef layout_cc_resource_data(MlirAttribute attribute);
/// The resource with another type; null for any other attribute.
MlirAttribute layout_cc_resource_with_type(MlirAttribute attribute,
                                           MlirType type);

/// The canonical text, with a null pointer for any other attribute.
MlirStringRef layout_cc_tiled_text(MlirAttribute attribute);
MlirAttribute layout_cc_tiled_get(MlirContext context, MlirStringRef text);

/// As for tiled layouts.
MlirStringRef layout_cc_tensor_layout_text(MlirAttribute attribute);
MlirAttribute layout_cc_tensor_layout_get(MlirContext context,
                                          MlirStringRef text);

/// As for tiled layouts.
MlirStringRef layout_cc_swizzled_text(MlirAttribute attribute);
MlirAttribute layout_cc_swizzled_get(MlirContext context, MlirStringRef text);

/// As for tiled layouts.
MlirStringRef layout_cc_machine_text(MlirAttribute attribute);
MlirAttribute layout_cc_machine_get(MlirContext context, MlirStringRef text);

MlirAttribute layout_cc_axis_get(MlirContext context, MlirStringRef name,
                                 int64_t level);
/// The name, with a null pointer for any other attribute.
MlirStringRef layout_cc_axis_name(MlirAttribute attribute);
int64_t layout_cc_axis_level(MlirAttribute axis);

/// The number, or -1 for any other attribute.
int64_t layout_cc_memory_space_number(MlirAttribute attribute);
MlirAttribute layout_cc_memory_space_get(MlirContext context, int64_t number);

/// The parts, valid as long as the context; false for any other attribute.
bool layout_cc_indexing_map_parts(MlirAttribute attribute,
                                  LayoutIndexingMap *parts);
MlirAttribute layout_cc_indexing_map_get(MlirContext context,
                                         const LayoutIndexingMap *parts);

/// The layout inside, or null for any other attribute.
MlirAttribute layout_cc_pending_layout(MlirAttribute attribute);
MlirAttribute layout_cc_pending_get(MlirAttribute layout);
}

namespace mlir {
class Dialect;
}

namespace layout {

/// The file that the code or data at an address was loaded from.
std::string libraryOf(const void *address);

/// The file that this copy of the library was loaded from.
std::string thisLibrary();

/// The file of a dialect that is another copy's; empty for this copy's own, and
/// for null.
std::string anotherCopy(const mlir::Dialect *dialect);

/// The advice after the error of a second copy.
constexpr const char *oneCopy =
    "A process must have one copy of the layout dialect and its passes: load "
    "the plugin that is installed beside libLayout.so, which shares it";

} // namespace layout

#endif // LAYOUT_DIALECT_GLUE_H
