//===- Layout.cpp - The layout dialect ------------------------------------===//
//
// The C++ half of the dialect: registration, and method bodies that are each
// one call into Rust.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "dialect/Glue.h"

#include "mlir/CAPI/AffineMap.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"
#include <dlfcn.h>

using namespace mlir;
using namespace layout;

#include "LayoutDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "LayoutAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "LayoutOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Callbacks that Rust gets: `user` is what the name says
//===----------------------------------------------------------------------===//

namespace {
using EmitError = function_ref<InFlightDiagnostic()>;
} // namespace

static void printTo(MlirStringRef text, void *stream) {
  *static_cast<raw_ostream *>(stream) << unwrap(text);
}

static void emitTo(MlirStringRef message, void *emitError) {
  if (auto emit = *static_cast<EmitError *>(emitError))
    emit() << unwrap(message);
}

static void assignTo(const int64_t *numbers, size_t count, void *vector) {
  *static_cast<SmallVector<int64_t> *>(vector) = {numbers, numbers + count};
}

static void appendTo(const int64_t *numbers, size_t count, void *vectors) {
  static_cast<SmallVector<SmallVector<int64_t>> *>(vectors)->emplace_back(
      numbers, numbers + count);
}

static void appendText(MlirStringRef text, void *vector) {
  static_cast<SmallVector<std::string> *>(vector)->push_back(
      unwrap(text).str());
}

static void appendTo(MlirStringRef text, void *string) {
  *static_cast<std::string *>(string) += unwrap(text);
}

static void appendNote(MlirStringRef text, void *diagnostic) {
  static_cast<Diagnostic *>(diagnostic)->attachNote() << unwrap(text);
}

static void emitAt(size_t at, MlirStringRef message, void *parser) {
  auto &p = *static_cast<DialectAsmParser *>(parser);
  const char *body = p.getFullSymbolSpec().data();
  p.emitError(SMLoc::getFromPointer(body + at)) << unwrap(message);
}

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

namespace {
/// The short names of attributes in the text of a module: `#tiled`, `#layout`,
/// `#swizzled` and `#machine`.
struct Aliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &name) const override {
    StringRef alias = TypeSwitch<Attribute, StringRef>(attribute)
                          .Case([](TiledAttr) { return "tiled"; })
                          .Case([](TensorLayoutAttr) { return "layout"; })
                          .Case([](SwizzledAttr) { return "swizzled"; })
                          .Case([](MachineAttr) { return "machine"; })
                          .Default(StringRef());
    name << alias;
    return alias.empty() ? AliasResult::NoAlias : AliasResult::OverridableAlias;
  }
};
} // namespace

void LayoutDialect::initialize() {
  registerAttributes();
  addInterfaces<Aliases>();
  addOperations<
#define GET_OP_LIST
#include "LayoutOps.cpp.inc"
      >();
  // Adds to errors of upstream, and leaves them to the other handlers.
  getContext()->getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      std::string text = diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        text += "\n" + note.str();
      layout_rs_advice(wrap(StringRef(text)), appendNote, &diagnostic);
    }
    return failure();
  });
}

void LayoutDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "LayoutAttributes.cpp.inc"
      >();
}

Attribute LayoutDialect::parseAttribute(DialectAsmParser &parser,
                                        Type type) const {
  StringRef mnemonic;
  Attribute attribute;
  if (generatedAttributeParser(parser, &mnemonic, type, attribute).has_value())
    return attribute;
  return unwrap(layout_rs_parse_attribute(
      wrap(getContext()), wrap(parser.getFullSymbolSpec()), emitAt, &parser));
}

void LayoutDialect::printAttribute(Attribute attribute,
                                   DialectAsmPrinter &printer) const {
  if (failed(generatedAttributePrinter(attribute, printer)))
    layout_rs_print_attribute(wrap(attribute), printTo, &printer.getStream());
}

LogicalResult LayoutDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute named) {
  auto emit = [op] { return op->emitError(); };
  EmitError emitError(emit);
  return success(layout_rs_verify_operation_attribute(
      wrap(op), wrap(named.getName().strref()), wrap(named.getValue()), emitTo,
      &emitError));
}

LogicalResult LayoutDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                      unsigned,
                                                      NamedAttribute named) {
  return verifyOperationAttribute(op, named);
}

LogicalResult LayoutDialect::verifyRegionResultAttribute(Operation *op,
                                                         unsigned, unsigned,
                                                         NamedAttribute named) {
  return verifyOperationAttribute(op, named);
}

//===----------------------------------------------------------------------===//
// Registration, where a process may hold several copies of this library
//===----------------------------------------------------------------------===//

std::string layout::libraryOf(const void *address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname ? info.dli_fname
                                                  : "an unknown file";
}

/// The file of a dialect's code: where its table of virtual functions is.
static std::string libraryOf(const Dialect &dialect) {
  return layout::libraryOf(*reinterpret_cast<const void *const *>(&dialect));
}

std::string layout::thisLibrary() {
  // The address of a function that is exported would be that of the first copy
  // in the process, for every copy: the loader joins symbols of one name.
  static const char here = 0;
  return libraryOf(&here);
}

std::string layout::anotherCopy(const Dialect *dialect) {
  if (!dialect || dialect->getTypeID() == TypeID::get<LayoutDialect>())
    return "";
  return ::libraryOf(*dialect);
}

/// Adds this copy's dialect to the registry. An error, as text, where the
/// registry has the dialect of another copy.
static std::string registerDialect(DialectRegistry &registry) {
  // MLIR ends the process at a second dialect of one name. Which copy has
  // registered the first one is only known from an instance of it.
  auto allocate =
      registry.getDialectAllocator(LayoutDialect::getDialectNamespace());
  if (!allocate) {
    registry.insert<LayoutDialect>();
    return "";
  }
  MLIRContext scratch(MLIRContext::Threading::DISABLED);
  std::string other = anotherCopy(allocate(&scratch));
  if (other.empty())
    return "";
  return "the layout dialect is registered already, from " + other +
         "; that of " + thisLibrary() + " is ignored. " + oneCopy;
}

bool layout::registerLayoutDialect(DialectRegistry &registry,
                                   raw_ostream &errors) {
  std::string wrong = registerDialect(registry);
  if (!wrong.empty())
    errors << "warning: " << wrong << "\n";
  return wrong.empty();
}

bool layout::loadLayoutDialect(MLIRContext &context) {
  Dialect *dialect =
      context.getOrLoadDialect(LayoutDialect::getDialectNamespace());
  return dialect && anotherCopy(dialect).empty();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The attribute that a text denotes; null after an error.
template <typename T>
static T fromText(MLIRContext *context, StringRef text, EmitError emitError) {
  StringRef mnemonic = StringRef(T::name).split('.').second;
  return cast_or_null<T>(unwrap(layout_rs_attribute_from_text(
      wrap(context), wrap(mnemonic), wrap(text), emitTo, &emitError)));
}

template <typename T> static T fromText(MLIRContext *context, StringRef text) {
  return fromText<T>(context, text,
                     [context] { return emitError(UnknownLoc::get(context)); });
}

/// The text of an attribute of this kind; a null pointer for any other.
template <typename T> static MlirStringRef textOf(MlirAttribute attribute) {
  auto own = dyn_cast_or_null<T>(unwrap(attribute));
  return own ? wrap(own.getText()) : MlirStringRef{nullptr, 0};
}

TiledAttr TiledAttr::get(MLIRContext *context, StringRef text) {
  return fromText<TiledAttr>(context, text);
}

/// The attribute with these numbers; null after an error.
static TiledAttr fromNumbers(MLIRContext *context,
                             ArrayRef<int64_t> minorToMajor,
                             ArrayRef<SmallVector<int64_t>> tiles,
                             int64_t memorySpace, EmitError emitError) {
  SmallVector<int64_t> entries, counts;
  for (ArrayRef<int64_t> tile : tiles) {
    llvm::append_range(entries, tile);
    counts.push_back(tile.size());
  }
  return cast_or_null<TiledAttr>(unwrap(layout_rs_tiled_of_numbers(
      wrap(context), minorToMajor.data(), minorToMajor.size(), entries.data(),
      counts.data(), counts.size(), memorySpace, emitTo, &emitError)));
}

TiledAttr TiledAttr::get(MLIRContext *context, ArrayRef<int64_t> minorToMajor,
                         ArrayRef<SmallVector<int64_t>> tiles,
                         int64_t memorySpace) {
  return fromNumbers(context, minorToMajor, tiles, memorySpace,
                     [context] { return emitError(UnknownLoc::get(context)); });
}

TiledAttr TiledAttr::getChecked(EmitError emitError, MLIRContext *context,
                                ArrayRef<int64_t> minorToMajor,
                                ArrayRef<SmallVector<int64_t>> tiles,
                                int64_t memorySpace) {
  return fromNumbers(context, minorToMajor, tiles, memorySpace, emitError);
}

TiledAttr TiledAttr::getCanonical(MLIRContext *context, StringRef text) {
  return Base::get(context, text);
}

TiledAttr TiledAttr::getChecked(EmitError emitError, MLIRContext *context,
                                StringRef text) {
  return fromText<TiledAttr>(context, text, emitError);
}

int64_t TiledAttr::getRank() const { return layout_rs_tiled_rank(wrap(*this)); }

SmallVector<int64_t> TiledAttr::getMinorToMajor() const {
  SmallVector<int64_t> result;
  layout_rs_tiled_minor_to_major(wrap(*this), assignTo, &result);
  return result;
}

SmallVector<SmallVector<int64_t>> TiledAttr::getTiles() const {
  SmallVector<SmallVector<int64_t>> result;
  layout_rs_tiled_tiles(wrap(*this), appendTo, &result);
  return result;
}

int64_t TiledAttr::getMemorySpace() const {
  return layout_rs_tiled_memory_space(wrap(*this));
}

FailureOr<int64_t> TiledAttr::offsetOf(ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> index,
                                       EmitError emitError) const {
  int64_t result;
  if (!layout_rs_tiled_offset_of(wrap(*this), shape.data(), shape.size(),
                                 index.data(), index.size(), &result, emitTo,
                                 &emitError))
    return failure();
  return result;
}

FailureOr<SmallVector<int64_t>>
TiledAttr::expandedSizes(ArrayRef<int64_t> shape, EmitError emitError) const {
  SmallVector<int64_t> result;
  if (!layout_rs_tiled_expanded_sizes(wrap(*this), shape.data(), shape.size(),
                                      assignTo, &result, emitTo, &emitError))
    return failure();
  return result;
}

FailureOr<SmallVector<int64_t>>
TiledAttr::expandedStrides(ArrayRef<int64_t> shape, EmitError emitError) const {
  SmallVector<int64_t> result;
  if (!layout_rs_tiled_expanded_strides(wrap(*this), shape.data(), shape.size(),
                                        assignTo, &result, emitTo, &emitError))
    return failure();
  return result;
}

FailureOr<int64_t> TiledAttr::paddedBytes(ArrayRef<int64_t> shape,
                                          Type elementType,
                                          EmitError emitError) const {
  int64_t result;
  if (!layout_rs_tiled_padded_bytes(wrap(*this), shape.data(), shape.size(),
                                    wrap(elementType), &result, emitTo,
                                    &emitError))
    return failure();
  return result;
}

LogicalResult TiledAttr::verify(EmitError emitError, StringRef text) {
  return success(layout_rs_tiled_verify(wrap(text), emitTo, &emitError));
}

AffineMap TiledAttr::getAffineMap() const {
  return unwrap(layout_rs_tiled_affine_map(wrap(*this)));
}

bool TiledAttr::isIdentity() const {
  return layout_rs_tiled_is_identity(wrap(*this));
}

LogicalResult TiledAttr::verifyLayout(ArrayRef<int64_t> shape,
                                      EmitError emitError) const {
  return success(layout_rs_tiled_verify_layout(
      wrap(*this), shape.data(), shape.size(), emitTo, &emitError));
}

LogicalResult TiledAttr::getStridesAndOffset(ArrayRef<int64_t> shape,
                                             SmallVectorImpl<int64_t> &strides,
                                             int64_t &offset) const {
  strides.resize(shape.size());
  return success(layout_rs_tiled_strides(
      wrap(*this), shape.data(), shape.size(), strides.data(), &offset));
}

LogicalResult TiledAttr::verifyEncoding(ArrayRef<int64_t> shape,
                                        Type elementType,
                                        EmitError emitError) const {
  return success(
      layout_rs_tiled_verify_encoding(wrap(*this), shape.data(), shape.size(),
                                      wrap(elementType), emitTo, &emitError));
}

TensorLayoutAttr TensorLayoutAttr::get(MLIRContext *context, StringRef text) {
  return fromText<TensorLayoutAttr>(context, text);
}

/// The attribute with these parts; null after an error.
static TensorLayoutAttr fromParts(MLIRContext *context,
                                  ArrayRef<SmallVector<Part>> dims,
                                  EmitError emitError) {
  SmallVector<int64_t> counts, extents, strides;
  SmallVector<MlirStringRef> axes;
  for (ArrayRef<Part> parts : dims) {
    counts.push_back(parts.size());
    for (const Part &part : parts) {
      extents.push_back(part.extent);
      axes.push_back(wrap(part.axis));
      strides.push_back(part.stride);
    }
  }
  return cast_or_null<TensorLayoutAttr>(unwrap(layout_rs_tensor_layout_of_parts(
      wrap(context), counts.data(), counts.size(), extents.data(), axes.data(),
      strides.data(), emitTo, &emitError)));
}

TensorLayoutAttr TensorLayoutAttr::get(MLIRContext *context,
                                       ArrayRef<SmallVector<Part>> dims) {
  return fromParts(context, dims,
                   [context] { return emitError(UnknownLoc::get(context)); });
}

TensorLayoutAttr
TensorLayoutAttr::getChecked(EmitError emitError, MLIRContext *context,
                             ArrayRef<SmallVector<Part>> dims) {
  return fromParts(context, dims, emitError);
}

TensorLayoutAttr TensorLayoutAttr::getCanonical(MLIRContext *context,
                                                StringRef text) {
  return Base::get(context, text);
}

TensorLayoutAttr TensorLayoutAttr::getChecked(EmitError emitError,
                                              MLIRContext *context,
                                              StringRef text) {
  return fromText<TensorLayoutAttr>(context, text, emitError);
}

int64_t TensorLayoutAttr::getRank() const {
  return layout_rs_tensor_layout_rank(wrap(*this));
}

SmallVector<std::string> TensorLayoutAttr::getAxes() const {
  SmallVector<std::string> result;
  layout_rs_tensor_layout_axes(wrap(*this), appendText, &result);
  return result;
}

FailureOr<SmallVector<int64_t>>
TensorLayoutAttr::placeOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> index,
                          EmitError emitError) const {
  SmallVector<int64_t> result;
  if (!layout_rs_tensor_layout_place_of(wrap(*this), shape.data(), shape.size(),
                                        index.data(), index.size(), assignTo,
                                        &result, emitTo, &emitError))
    return failure();
  return result;
}

LogicalResult TensorLayoutAttr::verify(EmitError emitError, StringRef text) {
  return success(
      layout_rs_tensor_layout_verify(wrap(text), emitTo, &emitError));
}

AffineMap TensorLayoutAttr::getAffineMap() const {
  return unwrap(layout_rs_tensor_layout_affine_map(wrap(*this)));
}

bool TensorLayoutAttr::isIdentity() const { return false; }

LogicalResult TensorLayoutAttr::verifyLayout(ArrayRef<int64_t> shape,
                                             EmitError emitError) const {
  return success(layout_rs_tensor_layout_verify_layout(
      wrap(*this), shape.data(), shape.size(), emitTo, &emitError));
}

LogicalResult
TensorLayoutAttr::getStridesAndOffset(ArrayRef<int64_t> shape,
                                      SmallVectorImpl<int64_t> &strides,
                                      int64_t &offset) const {
  strides.resize(shape.size());
  return success(layout_rs_tensor_layout_strides(
      wrap(*this), shape.data(), shape.size(), strides.data(), &offset));
}

LogicalResult TensorLayoutAttr::verifyEncoding(ArrayRef<int64_t> shape,
                                               Type elementType,
                                               EmitError emitError) const {
  return success(layout_rs_tensor_layout_verify_encoding(
      wrap(*this), shape.data(), shape.size(), wrap(elementType), emitTo,
      &emitError));
}

SwizzledAttr SwizzledAttr::get(MLIRContext *context, StringRef text) {
  return fromText<SwizzledAttr>(context, text);
}

SwizzledAttr SwizzledAttr::getCanonical(MLIRContext *context, StringRef text) {
  return Base::get(context, text);
}

SwizzledAttr SwizzledAttr::getChecked(EmitError emitError, MLIRContext *context,
                                      StringRef text) {
  return fromText<SwizzledAttr>(context, text, emitError);
}

FailureOr<int64_t> SwizzledAttr::offsetOf(ArrayRef<int64_t> shape,
                                          ArrayRef<int64_t> index,
                                          EmitError emitError) const {
  int64_t result;
  if (!layout_rs_swizzled_offset_of(wrap(*this), shape.data(), shape.size(),
                                    index.data(), index.size(), &result, emitTo,
                                    &emitError))
    return failure();
  return result;
}

LogicalResult SwizzledAttr::verify(EmitError emitError, StringRef text) {
  return success(layout_rs_swizzled_verify(wrap(text), emitTo, &emitError));
}

AffineMap SwizzledAttr::getAffineMap() const {
  return unwrap(layout_rs_swizzled_affine_map(wrap(*this)));
}

bool SwizzledAttr::isIdentity() const { return false; }

LogicalResult SwizzledAttr::verifyLayout(ArrayRef<int64_t> shape,
                                         EmitError emitError) const {
  return success(layout_rs_swizzled_verify_layout(
      wrap(*this), shape.data(), shape.size(), emitTo, &emitError));
}

LogicalResult SwizzledAttr::getStridesAndOffset(ArrayRef<int64_t>,
                                                SmallVectorImpl<int64_t> &,
                                                int64_t &) const {
  return failure();
}

LogicalResult SwizzledAttr::verifyEncoding(ArrayRef<int64_t> shape,
                                           Type elementType,
                                           EmitError emitError) const {
  return success(layout_rs_swizzled_verify_encoding(
      wrap(*this), shape.data(), shape.size(), wrap(elementType), emitTo,
      &emitError));
}

MachineAttr MachineAttr::get(MLIRContext *context, StringRef text) {
  return fromText<MachineAttr>(context, text);
}

MachineAttr MachineAttr::getCanonical(MLIRContext *context, StringRef text) {
  return Base::get(context, text);
}

MachineAttr MachineAttr::getChecked(EmitError emitError, MLIRContext *context,
                                    StringRef text) {
  return fromText<MachineAttr>(context, text, emitError);
}

TiledAttr MachineAttr::defaultLayout(Type elementType, ArrayRef<int64_t> shape,
                                     EmitError emitError) const {
  return cast_or_null<TiledAttr>(unwrap(layout_rs_machine_default_layout(
      wrap(*this), wrap(elementType), shape.data(), shape.size(), emitTo,
      &emitError)));
}

FailureOr<int64_t> MachineAttr::localBytes(TensorLayoutAttr layout,
                                           ArrayRef<int64_t> shape,
                                           Type elementType,
                                           EmitError emitError) const {
  int64_t result;
  if (!layout_rs_machine_local_bytes(wrap(*this), wrap(layout), shape.data(),
                                     shape.size(), wrap(elementType), &result,
                                     emitTo, &emitError))
    return failure();
  return result;
}

LogicalResult MachineAttr::verify(EmitError emitError, StringRef text) {
  return success(layout_rs_machine_verify(wrap(text), emitTo, &emitError));
}

LogicalResult AxisAttr::verify(EmitError emitError, StringRef name,
                               int64_t level) {
  return success(layout_rs_axis_verify(wrap(name), level, emitTo, &emitError));
}

int64_t AxisAttr::getMappingId() const { return getLevel(); }

bool AxisAttr::isLinearMapping() const { return false; }

int64_t AxisAttr::getRelativeIndex() const { return getLevel(); }

LogicalResult MemorySpaceAttr::verify(EmitError emitError, int64_t number) {
  return success(layout_rs_memory_space_verify(number, emitTo, &emitError));
}

LogicalResult PendingAttr::verify(EmitError emitError,
                                  MemRefLayoutAttrInterface layout) {
  return success(layout_rs_pending_verify(wrap(layout), emitTo, &emitError));
}

IndexingMapAttr IndexingMapAttr::get(MLIRContext *context, StringRef text) {
  return fromText<IndexingMapAttr>(context, text);
}

IndexingMapAttr IndexingMapAttr::getChecked(EmitError emitError,
                                            MLIRContext *context,
                                            StringRef text) {
  return fromText<IndexingMapAttr>(context, text, emitError);
}

LogicalResult IndexingMapAttr::verify(EmitError emitError, int64_t kind,
                                      AffineMap map, int64_t ranges,
                                      ArrayRef<int64_t> intervals,
                                      AffineMap constraints,
                                      ArrayRef<int64_t> constraintIntervals,
                                      StringRef names) {
  LayoutIndexingMap parts{kind,
                          wrap(map),
                          ranges,
                          intervals.data(),
                          intervals.size(),
                          wrap(constraints),
                          constraintIntervals.data(),
                          constraintIntervals.size(),
                          wrap(names)};
  return success(layout_rs_indexing_map_verify(&parts, emitTo, &emitError));
}

//===----------------------------------------------------------------------===//
// What moves
//===----------------------------------------------------------------------===//

FailureOr<Movement>
layout::movementOf(RankedTensorType from, RankedTensorType to,
                   std::optional<ArrayRef<int64_t>> permutation,
                   EmitError emitError) {
  std::string reason;
  MlirAttribute nearest{nullptr};
  ArrayRef<int64_t> dims = permutation.value_or(ArrayRef<int64_t>());
  intptr_t count = permutation ? dims.size() : -1;
  int32_t kind =
      layout_rs_movement(wrap(from), wrap(to), dims.data(), count, appendTo,
                         &reason, &nearest, emitTo, &emitError);
  if (kind < 0)
    return failure();
  return Movement{static_cast<Movement::Kind>(kind), reason,
                  cast_or_null<TiledAttr>(unwrap(nearest))};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult ConvertOp::verify() {
  auto emit = [this] { return emitOpError(); };
  EmitError emitError(emit);
  return success(
      layout_rs_convert_verify(wrap(getOperation()), emitTo, &emitError));
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return unwrap(layout_rs_convert_fold(wrap(getOperation())));
}

void ConvertOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (layout_rs_convert_reads_memory(wrap(getOperation())))
    effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable());
}

//===----------------------------------------------------------------------===//
// For Rust
//===----------------------------------------------------------------------===//

bool layout_cc_register(MlirDialectRegistry registry, MlirStringCallback error,
                        void *user) {
  std::string wrong = registerDialect(*unwrap(registry));
  if (!wrong.empty())
    error(wrap(StringRef(wrong)), user);
  return wrong.empty();
}

bool layout_cc_load(MlirContext context) {
  return loadLayoutDialect(*unwrap(context));
}

MlirStringRef layout_cc_resource_data(MlirAttribute attribute) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(attribute));
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? wrap(StringRef(blob->getData().data(), blob->getData().size()))
              : MlirStringRef{nullptr, 0};
}

MlirAttribute layout_cc_resource_with_type(MlirAttribute attribute,
                                           MlirType type) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(attribute));
  if (!resource)
    return wrap(Attribute());
  return wrap(DenseResourceElementsAttr::get(cast<ShapedType>(unwrap(type)),
                                             resource.getRawHandle()));
}

MlirStringRef layout_cc_tiled_text(MlirAttribute attribute) {
  return textOf<TiledAttr>(attribute);
}

MlirAttribute layout_cc_tiled_get(MlirContext context, MlirStringRef text) {
  return wrap(TiledAttr::getCanonical(unwrap(context), unwrap(text)));
}

MlirStringRef layout_cc_tensor_layout_text(MlirAttribute attribute) {
  return textOf<TensorLayoutAttr>(attribute);
}

MlirAttribute layout_cc_tensor_layout_get(MlirContext context,
                                          MlirStringRef text) {
  return wrap(TensorLayoutAttr::getCanonical(unwrap(context), unwrap(text)));
}

MlirStringRef layout_cc_swizzled_text(MlirAttribute attribute) {
  return textOf<SwizzledAttr>(attribute);
}

MlirAttribute layout_cc_swizzled_get(MlirContext context, MlirStringRef text) {
  return wrap(SwizzledAttr::getCanonical(unwrap(context), unwrap(text)));
}

MlirStringRef layout_cc_machine_text(MlirAttribute attribute) {
  return textOf<MachineAttr>(attribute);
}

MlirAttribute layout_cc_machine_get(MlirContext context, MlirStringRef text) {
  return wrap(MachineAttr::getCanonical(unwrap(context), unwrap(text)));
}

MlirAttribute layout_cc_axis_get(MlirContext context, MlirStringRef name,
                                 int64_t level) {
  return wrap(AxisAttr::get(unwrap(context), unwrap(name), level));
}

MlirStringRef layout_cc_axis_name(MlirAttribute attribute) {
  auto axis = dyn_cast_or_null<AxisAttr>(unwrap(attribute));
  return axis ? wrap(axis.getName()) : MlirStringRef{nullptr, 0};
}

int64_t layout_cc_axis_level(MlirAttribute axis) {
  return cast<AxisAttr>(unwrap(axis)).getLevel();
}

int64_t layout_cc_memory_space_number(MlirAttribute attribute) {
  auto space = dyn_cast_or_null<MemorySpaceAttr>(unwrap(attribute));
  return space ? space.getNumber() : -1;
}

MlirAttribute layout_cc_memory_space_get(MlirContext context, int64_t number) {
  return wrap(MemorySpaceAttr::get(unwrap(context), number));
}

bool layout_cc_indexing_map_parts(MlirAttribute attribute,
                                  LayoutIndexingMap *parts) {
  auto map = dyn_cast_or_null<IndexingMapAttr>(unwrap(attribute));
  if (!map)
    return false;
  *parts = {map.getKind(),
            wrap(map.getMap()),
            map.getNumRanges(),
            map.getIntervals().data(),
            map.getIntervals().size(),
            wrap(map.getConstraints()),
            map.getConstraintIntervals().data(),
            map.getConstraintIntervals().size(),
            wrap(map.getNames())};
  return true;
}

MlirAttribute layout_cc_indexing_map_get(MlirContext context,
                                         const LayoutIndexingMap *parts) {
  return wrap(IndexingMapAttr::get(
      unwrap(context), parts->kind, unwrap(parts->map), parts->ranges,
      ArrayRef(parts->intervals, parts->intervalCount),
      unwrap(parts->constraints),
      ArrayRef(parts->constraintIntervals, parts->constraintIntervalCount),
      unwrap(parts->names)));
}

MlirAttribute layout_cc_pending_layout(MlirAttribute attribute) {
  auto pending = dyn_cast_or_null<PendingAttr>(unwrap(attribute));
  return pending ? wrap(pending.getLayout()) : MlirAttribute{nullptr};
}

MlirAttribute layout_cc_pending_get(MlirAttribute attribute) {
  auto layout = cast<MemRefLayoutAttrInterface>(unwrap(attribute));
  return wrap(PendingAttr::get(layout.getContext(), layout));
}
