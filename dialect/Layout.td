//===- Layout.td - The layout dialect -------------------------------------===//
//
// The one list of the dialect's attributes and operations. Every method body
// declared from here is a single call into Rust (dialect/exports.rs).
// Constraints carry labels, C1, C2, ...: the verifiers and the tests name them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TD
#define LAYOUT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Dialect/SCF/IR/DeviceMappingInterface.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Layout_Dialect : Dialect {
  let name = "layout";
  let cppNamespace = "::layout";
  let summary = "Where the elements of tensors and buffers lie in memory";
  let description = [{
    Tiled layouts in XLA's notation and TensorLayouts over a tree of memories,
    on tensors and on memrefs. A layout says where each element of a value lies
    and nothing about what the value is: two tensor types that differ in their
    layouts hold the same elements.
  }];
  // The body of an attribute is handed to Rust as raw text.
  let useDefaultAttributePrinterParser = 0;
  // `layout.machine` on a module, and no name that the dialect does not have.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;

  private:
    void registerAttributes();

  public:
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Layout_Attr<string name, string text, list<Trait> traits = []>
    : AttrDef<Layout_Dialect, name, traits> {
  let attrName = "layout." # text;
}

/// For attributes made from text: `get` and `getChecked` take what the notation
/// allows, keep it canonical, and return null after an error, which `get` emits
/// in the context. To `getChecked` the text goes as a StringRef and as nothing
/// that becomes one: MLIR has a template that takes everything else.
class TextBuilders<string name> {
  code declarations = [{
    /// From a text that is known to be canonical, unchecked, in a context that
    /// has the dialect loaded.
    static }] # name # [{ getCanonical(::mlir::MLIRContext *context,
        ::llvm::StringRef text);
  }];
}

def Layout_TiledAttr : Layout_Attr<"Tiled", "tiled", [
    DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface,
      ["isIdentity", "verifyLayout", "getStridesAndOffset"]>,
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A tiled layout in XLA's notation";
  let description = [{
    Stands as the encoding of a tensor or as the layout of a memref. The body is
    the text that XLA prints after a shape:

    ```mlir
    tensor<16x256xbf16, #layout.tiled<{1,0:T(8,128)(2,1)}>>
    memref<3x5xf32, #layout.tiled<{0,1}>>
    ```

    `minor_to_major` comes first, the dimension that varies fastest before the
    others; then tiles `T(..)(..)`, tail padding `L(n)`, index and pointer types
    `#(..)` and `*(..)`, element size in bits `E(n)`, memory space `S(n)`, splits
    `SC(..)` and metadata prefix `M(n)`. The attribute keeps the canonical form
    of the text, which is what it prints.

    As a memref layout its affine map takes a logical index to its index in the
    expanded (tiled) sizes: `{1,0:T(8,128)}` is
    `(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)`. Where
    a tile merges dimensions with `*`, sizes that the layout does not know are
    symbols. Untiled layouts have strides, tiled ones have none.

    Constraints:
    * (C1) A layout has one entry in `minor_to_major` for each dimension.
    * (C2) With static sizes, the elements, padding included, can be counted in
      64 bits, on a tensor the bytes too, and splits fit their dimension.
    * (C3) A tensor's element type is an integer, index, floating-point or
      complex type.
    * (C4) On a tensor, `E(n)` is at least the bit width of the element type.
    * (C6) The text is canonical. What is parsed always is; this is for C++ that
      makes the attribute from a text of its own.
  }];
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$text)>];
  let extraClassDeclaration = TextBuilders<"TiledAttr">.declarations # [{
    using EmitError = ::llvm::function_ref<::mlir::InFlightDiagnostic()>;

    /// Stands for `*` in a tile.
    static constexpr int64_t kCombine = -1;

    int64_t getRank() const;
    /// The logical dimensions, fastest varying in memory first.
    ::llvm::SmallVector<int64_t> getMinorToMajor() const;
    /// The tiles, first applied first, each with its major entry first.
    ::llvm::SmallVector<::llvm::SmallVector<int64_t>> getTiles() const;
    /// The number behind `S`; 0 is the device's main memory.
    int64_t getMemorySpace() const;

    /// Where the element at a logical index lies in memory, in elements.
    /// Failure for an index outside `shape`, which is static, and for a layout
    /// that is not one for `shape`.
    ::mlir::FailureOr<int64_t> offsetOf(::llvm::ArrayRef<int64_t> shape,
                                        ::llvm::ArrayRef<int64_t> index,
                                        EmitError emitError = nullptr) const;
    /// The sizes that tiling makes of `shape`, padding included, in the order
    /// of memory, and the strides of these sizes, in elements.
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>>
    expandedSizes(::llvm::ArrayRef<int64_t> shape,
                  EmitError emitError = nullptr) const;
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>>
    expandedStrides(::llvm::ArrayRef<int64_t> shape,
                    EmitError emitError = nullptr) const;
  }];
}

def Layout_TensorLayoutAttr : Layout_Attr<"TensorLayout", "tensor_layout", [
    DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface,
      ["isIdentity", "verifyLayout", "getStridesAndOffset"]>,
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A layout over a tree of memories";
  let description = [{
    Stands as the encoding of a tensor or as the layout of a memref. Each
    dimension is cut into parts, the most significant first, which step along an
    axis of the machine (`4_PE`) or along the local address (`3:8`):

    ```mlir
    tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>
    tensor<10x7xf32, #layout.tensor_layout<(10,7)/((3:7, 4_PE), (7:1))>>
    memref<12x8xf32, #layout.tensor_layout<((12:8), (8:1); B@[PE])>>
    ```

    The type's shape is the one before padding, and the prefix may be left out.
    As a memref layout its affine map takes an index to the coordinate of each
    axis, in the order in which the layout names them, and last to the local
    address.

    Constraints:
    * (C10) A layout has one entry for each dimension, and its prefix, where
      there is one, is the shape.
    * (C11) With static sizes, the parts of each dimension reach its size, and
      the elements can be counted in 64 bits.
    * (C12) With static sizes, no two elements are in one place.
    * (C13) A tensor's element type is an integer, index, floating-point or
      complex type.
    * (C14) The text is canonical, as in C6.
  }];
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$text)>];
  let extraClassDeclaration = TextBuilders<"TensorLayoutAttr">.declarations # [{
    using EmitError = ::llvm::function_ref<::mlir::InFlightDiagnostic()>;

    int64_t getRank() const;
    /// The axes in the order in which the layout names them; not the address.
    ::llvm::SmallVector<std::string> getAxes() const;
    /// The coordinate along each axis, and last the local address, of the first
    /// copy of the element at an index. Failure for an index outside `shape`,
    /// which is static, and for a layout that is not one for `shape`.
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>>
    placeOf(::llvm::ArrayRef<int64_t> shape, ::llvm::ArrayRef<int64_t> index,
            EmitError emitError = nullptr) const;
  }];
}

def Layout_MachineAttr : Layout_Attr<"Machine", "machine"> {
  let summary = "The axes and memories of a machine";
  let description = [{
    Stands on a module, as `layout.machine`, and says which axes TensorLayouts
    may name, from parent to child, and which memories there are:

    ```mlir
    module attributes {layout.machine = #layout.machine<axes: (16_L2B, 8_L1B, 16_MAB, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64>} {}
    ```

    `#layout.machine<mn_core>` and other names stand for machines that are ready
    made, and print in full.

    Constraints:
    * (C15) The text is canonical, as in C6.
    * (C16) `layout.machine` is on a module and holds a machine.
    * (C17) Every TensorLayout in the module fits the machine: it names its
      axes, reaches no further along them, and each memory has room.
  }];
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$text)>];
  let extraClassDeclaration = TextBuilders<"MachineAttr">.declarations;
}

def Layout_AxisAttr : Layout_Attr<"Axis", "axis", [
    DeclareAttrInterfaceMethods<DeviceMappingAttrInterface>]> {
  let summary = "The axis of a machine that a parallel loop runs over";
  let description = [{
    In the mapping of an `scf.forall`: iterations of the loop are the places
    along the axis. The level counts the axes of the machine from the root.

    ```mlir
    scf.forall (%l1b, %pe) in (8, 4) {
    } {mapping = [#layout.axis<"L1B", level = 0>, #layout.axis<"PE", level = 1>]}
    ```

    Constraints:
    * (C19) The name is one that a TensorLayout can give to an axis.
    * (C20) The level is 0 or more.
  }];
  let mnemonic = "axis";
  let parameters = (ins
    StringRefParameter<"the name of the axis">:$name,
    AttrParameter<"int64_t", "how many axes of the machine are above it">:$level
  );
  let assemblyFormat = "`<` $name `,` `level` `=` $level `>`";
  let genVerifyDecl = 1;
}

def Layout_MemorySpaceAttr : Layout_Attr<"MemorySpace", "memory_space"> {
  let summary = "A memory space by its name";
  let description = [{
    `#layout.memory_space<hbm>`, `<vmem>`, `<host>` and `<device n>` are XLA's
    memory spaces 0, 1, 5 and n. A number that has a name prints as the name.

    ```mlir
    memref<8x128xf32, #layout.memory_space<vmem>>
    ```

    Constraints:
    * (C5) The number is in 0 to 127.
  }];
  let parameters = (ins AttrParameter<"int64_t", "XLA's number">:$number);
  let genVerifyDecl = 1;
}

def Layout_PendingAttr : Layout_Attr<"Pending", "pending"> {
  let summary = "A tensor's layout on its way through bufferization";
  let description = [{
    Carries a tensor's layout in the memory-space slot of a memref while stock
    bufferization runs. It is deliberately not a memref layout: until lowering
    gives the memref its layout, indices into it are logical ones.

    ```mlir
    memref<3x5xf32, #layout.pending<#layout.tiled<{1,0:T(2,2)}>>>
    ```

    Constraints:
    * (C18) What it carries is a layout of this dialect.
  }];
  let mnemonic = "pending";
  let parameters = (ins AttrParameter<"::mlir::MemRefLayoutAttrInterface",
                                      "`#layout.tiled` or "
                                      "`#layout.tensor_layout`">:$layout);
  let assemblyFormat = "`<` $layout `>`";
  let genVerifyDecl = 1;
}

def Layout_IndexingMapAttr : Layout_Attr<"IndexingMap", "indexing_map"> {
  let summary = "Which elements go with which, and for which that holds";
  let description = [{
    ```mlir
    #layout.indexing_map<(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 7]>
    ```

    Dimension variables `d` are mapped from, range variables `s` make one
    element go with many, run-time variables `rt` stand for offsets that only
    the running program knows. The results are an affine map, whose dimensions
    are the dimension variables and whose symbols the others; beside it stand a
    closed interval for each variable and constraints. `KNOWN EMPTY` and
    `UNDEFINED` are values too: nothing is read, and nobody knows what is.

    Constraints:
    * (C7) Every variable has an interval and every constraint has one.
    * (C8) There are no more range variables than symbols.
    * (C9) No result and no constraint keeps a minimum or maximum, which an
      affine map cannot say.
  }];
  let parameters = (ins
    AttrParameter<"int64_t", "0 for a map, 1 for KNOWN EMPTY, 2 for UNDEFINED">
      :$kind,
    AttrParameter<"::mlir::AffineMap", "the results; range and run-time "
                                       "variables are symbols">:$map,
    AttrParameter<"int64_t", "how many symbols, the first ones, are range "
                             "variables">:$numRanges,
    ArrayRefParameter<"int64_t", "low and high of each variable">:$intervals,
    AttrParameter<"::mlir::AffineMap",
                  "what is constrained, over the same variables">:$constraints,
    ArrayRefParameter<"int64_t", "low and high of each constraint">
      :$constraintIntervals,
    StringRefParameter<"names of its own, separated by commas">:$names
  );
  let genVerifyDecl = 1;
  // From a text, as the other attributes.
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$text)>];
  let extraClassDeclaration = [{
    /// `KNOWN EMPTY`: no element goes with any.
    bool isKnownEmpty() const { return getKind() == 1; }
    /// `UNDEFINED`: no finite map says which elements go with which.
    bool isUndefined() const { return getKind() == 2; }
  }];
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

def Layout_ConvertOp : Op<Layout_Dialect, "convert", [
    AlwaysSpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "The same elements in another layout";
  let description = [{
    ```mlir
    %1 = layout.convert %0 : tensor<3x5xf32> to tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
    ```

    A type without a layout is row-major. On tensors the operation is pure. On
    memrefs the result holds the source's elements in another layout or memory
    space; it may be the source's own buffer, so neither is written while the
    other is used, and the same goes for what is converted from the result.

    Constraints:
    * (C1) Both types are ranked tensors or both are memrefs.
    * (C2) Both have the same shape.
    * (C3) Both have the same element type.
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$source);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$result);
  let assemblyFormat =
      "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // LAYOUT_TD
