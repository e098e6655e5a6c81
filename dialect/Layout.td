//===- Layout.td - The layout dialect -------------------------------------===//
//
// The one list of the dialect's attributes and operations. Every method body
// declared from here is a single call into Rust (dialect/exports.rs).
//
// Each constraint has a label, such as `tiled_c1`. The label is repeated where
// the verifier checks the constraint and above the test of it.
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
  let summary = "Memory layouts of tensors and buffers";
  let description = [{
    Tiled layouts in XLA's notation, TensorLayouts over a tree of memories, and
    swizzles of both, on tensors and on memrefs. A layout maps the index of each
    element to its place in memory and does not change the value: two tensor types
    that differ in their layouts only hold the same elements.

    Layouts and machines print by the aliases `#tiled`, `#layout`, `#swizzled` and
    `#machine`, which stand before the module; with `--mlir-print-local-scope`, in
    place.
  }];
  // Rust parses the bodies of attributes, so it gets their raw text.
  let useDefaultAttributePrinterParser = 0;
  // Checks `layout.machine` on a module, and refuses unknown `layout.*` names.
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

/// For attributes made from text: `get` and `getChecked` parse any text of the
/// notation, keep its canonical form, and return null after an error, which
/// `get` emits in the context. Pass the text to `getChecked` as a StringRef,
/// not as something that converts to one: a template of MLIR's takes all the
/// rest.
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
    The encoding of a tensor or the layout of a memref. The body is the text that
    XLA prints after a shape:

    ```mlir
    tensor<16x256xbf16, #layout.tiled<{1,0:T(8,128)(2,1)}>>
    memref<3x5xf32, #layout.tiled<{0,1}>>
    ```

    `minor_to_major` comes first, with the dimension that varies fastest in
    front. Then come tiles `T(..)(..)`, tail padding `L(n)`, index and pointer
    types `#(..)` and `*(..)`, element size in bits `E(n)`, memory space `S(n)`,
    splits `SC(..)` and metadata prefix `M(n)`. The attribute keeps and prints
    the canonical form of the text.

    As a memref layout its affine map takes a logical index to its index in the
    expanded (tiled) sizes: `{1,0:T(8,128)}` is
    `(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)`. Where
    a tile merges dimensions with `*`, sizes that the layout does not know are
    symbols. Untiled layouts have strides, tiled ones have none.

    Constraints:
    * (tiled_c1) `minor_to_major` has one entry for each dimension of the type.
    * (tiled_c2) With static sizes, the number of elements, padding included,
      fits in 64 bits, on a tensor the number of bytes too, and splits fit their
      dimension.
    * (tiled_c3) A tensor's element type is an integer, index, floating-point or
      complex type.
    * (tiled_c4) On a tensor, `E(n)` is at least the bit width of the element
      type.
    * (tiled_c5) The text is canonical. A parsed one always is; C++ that makes
      the attribute from a text of its own has to see to it.
  }];
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "::llvm::StringRef":$text)>,
    AttrBuilder<(ins
      "::llvm::ArrayRef<int64_t>":$minorToMajor,
      "::llvm::ArrayRef<::llvm::SmallVector<int64_t>>":$tiles,
      CArg<"int64_t", "0">:$memorySpace)>];
  let extraClassDeclaration = TextBuilders<"TiledAttr">.declarations # [{
    using EmitError = ::llvm::function_ref<::mlir::InFlightDiagnostic()>;

    /// The entry `*` of a tile.
    static constexpr int64_t kCombine = -1;

    int64_t getRank() const;
    /// The logical dimensions, fastest varying in memory first.
    ::llvm::SmallVector<int64_t> getMinorToMajor() const;
    /// The tiles, first applied first, each with its major entry first.
    ::llvm::SmallVector<::llvm::SmallVector<int64_t>> getTiles() const;
    /// The number after `S`; 0 is the device's main memory.
    int64_t getMemorySpace() const;

    /// The offset in memory of the element at a logical index, in elements.
    /// `shape` is static. Failure for an index outside of it, and where the
    /// layout does not fit it.
    ::mlir::FailureOr<int64_t> offsetOf(::llvm::ArrayRef<int64_t> shape,
                                        ::llvm::ArrayRef<int64_t> index,
                                        EmitError emitError = nullptr) const;
    /// The sizes of the tiled dimensions of `shape`, padding included,
    /// outermost first, and their strides, in elements.
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>>
    expandedSizes(::llvm::ArrayRef<int64_t> shape,
                  EmitError emitError = nullptr) const;
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>>
    expandedStrides(::llvm::ArrayRef<int64_t> shape,
                    EmitError emitError = nullptr) const;
    /// The bytes of memory that a tensor of a static shape takes, padding
    /// included; metadata (`M`) is not.
    ::mlir::FailureOr<int64_t> paddedBytes(::llvm::ArrayRef<int64_t> shape,
                                           ::mlir::Type elementType,
                                           EmitError emitError = nullptr) const;
  }];
}

def Layout_TensorLayoutAttr : Layout_Attr<"TensorLayout", "tensor_layout", [
    DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface,
      ["isIdentity", "verifyLayout", "getStridesAndOffset"]>,
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A layout over a tree of memories";
  let description = [{
    The encoding of a tensor or the layout of a memref. Each dimension is split
    into parts, the most significant first, which step along an axis of the
    machine (`4_PE`) or along the local address (`3:8`):

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
    * (tensor_layout_c1) The layout has one entry for each dimension of the type,
      and its prefix, where there is one, is the shape.
    * (tensor_layout_c2) With static sizes, the parts of each dimension reach its
      size, and the number of elements fits in 64 bits.
    * (tensor_layout_c3) With static sizes, no two elements share a place.
    * (tensor_layout_c4) A tensor's element type is an integer, index,
      floating-point or complex type.
    * (tensor_layout_c5) The text is canonical, as in tiled_c5.
  }];
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "::llvm::StringRef":$text)>,
    AttrBuilder<(ins "::llvm::ArrayRef<::llvm::SmallVector<Part>>":$dims)>];
  let extraClassDeclaration = TextBuilders<"TensorLayoutAttr">.declarations # [{
    using EmitError = ::llvm::function_ref<::mlir::InFlightDiagnostic()>;

    int64_t getRank() const;
    /// The axes in the order in which the layout names them; not the address.
    ::llvm::SmallVector<std::string> getAxes() const;
    /// The coordinate along each axis, and last the local address, of the first
    /// copy of the element at an index. `shape` is static. Failure for an index
    /// outside of it, and where the layout does not fit it.
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>>
    placeOf(::llvm::ArrayRef<int64_t> shape, ::llvm::ArrayRef<int64_t> index,
            EmitError emitError = nullptr) const;
  }];
}

def Layout_SwizzledAttr : Layout_Attr<"Swizzled", "swizzled", [
    DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface,
      ["isIdentity", "verifyLayout", "getStridesAndOffset"]>,
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A layout whose addresses are swizzled";
  let description = [{
    The encoding of a tensor or the layout of a memref. A swizzle of CuTe's
    notation flips bits of the address that a layout gives, in elements, by higher
    or lower bits of it:

    ```mlir
    memref<64x64xf32, #layout.swizzled<Sw<3,3,3> o {1,0}>>
    tensor<16x256xbf16, #layout.swizzled<Sw<2,4,3> o {1,0:T(8,128)}>>
    memref<8x8xf32, #layout.swizzled<Sw<2,0,3> o ((8:8), (8:1))>>
    ```

    `Sw<B,M,S>` flips the B bits from M on by the B bits from M + S on; with S
    below 0, those from M - S on by those from M on. Runs of 2^M elements stay side
    by side. The layout below is a tiled one or a TensorLayout, and gives the
    memory space. Memory is rounded up to blocks of 2^(M + |S| + B) elements, which
    a swizzle keeps: `Sw<2,0,3> o {1,0}` on 8x5 elements takes 64.

    As a memref layout it has no strides, and its map is that of the layout below
    with a last result that is not affine, so that upstream's passes which need an
    affine map leave such memrefs alone.

    Constraints:
    * (swizzled_c1) The layout below fits the type: tiled_c1 and tiled_c2, or
      tensor_layout_c1 to tensor_layout_c3.
    * (swizzled_c2) All sizes are static.
    * (swizzled_c3) The number of addresses in whole blocks fits in 64 bits.
    * (swizzled_c4) The layout below has whole elements in one memory: no `E(n)`,
      `M(n)` or `SC(..)`, no named axis and no copies.
    * (swizzled_c5) A tensor's element type is an integer, index, floating-point
      or complex type.
    * (swizzled_c6) The text is canonical, as in tiled_c5.
  }];
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$text)>];
  let extraClassDeclaration = TextBuilders<"SwizzledAttr">.declarations # [{
    using EmitError = ::llvm::function_ref<::mlir::InFlightDiagnostic()>;

    /// The address of the element at a logical index, in elements. `shape` is
    /// static. Failure for an index outside of it, and where the layout does not
    /// fit it.
    ::mlir::FailureOr<int64_t> offsetOf(::llvm::ArrayRef<int64_t> shape,
                                        ::llvm::ArrayRef<int64_t> index,
                                        EmitError emitError = nullptr) const;
  }];
}

def Layout_MachineAttr : Layout_Attr<"Machine", "machine"> {
  let summary = "The axes and memories of a machine";
  let description = [{
    The attribute `layout.machine` of a module: the axes that TensorLayouts may
    name, from parent to child, and the memories:

    ```mlir
    module attributes {layout.machine = #layout.machine<axes: (16_L2B, 8_L1B, 16_MAB, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64>} {}
    ```

    `#layout.machine<mn_core>` and other names are short for predefined machines;
    they print in full. What a planner of layouts needs may follow: registers,
    rates and costs.

    Constraints:
    * (machine_c1) The text is canonical, as in tiled_c5.
    * (machine_c2) `layout.machine` is on a module and holds a machine.
    * (machine_c3) Every TensorLayout in the module fits the machine: it names
      the machine's axes, stays within their extents, and each memory has room.
  }];
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$text)>];
  let extraClassDeclaration = TextBuilders<"MachineAttr">.declarations # [{

    using EmitError = ::llvm::function_ref<::mlir::InFlightDiagnostic()>;
    /// The layout that a tensor of this static shape has unless its owner asks
    /// for another; null after an error.
    TiledAttr defaultLayout(::mlir::Type elementType,
                            ::llvm::ArrayRef<int64_t> shape,
                            EmitError emitError = nullptr) const;
    /// The bytes that a tensor of this static shape takes in each memory that
    /// holds a part of it; failure where a memory has less room.
    ::mlir::FailureOr<int64_t> localBytes(TensorLayoutAttr layout,
                                          ::llvm::ArrayRef<int64_t> shape,
                                          ::mlir::Type elementType,
                                          EmitError emitError = nullptr) const;
  }];
}

def Layout_AxisAttr : Layout_Attr<"Axis", "axis", [
    DeclareAttrInterfaceMethods<DeviceMappingAttrInterface>]> {
  let summary = "The axis of a machine that a parallel loop runs over";
  let description = [{
    In the mapping of an `scf.forall`: iteration k of the loop runs at place k
    along the axis. The level is the number of axes of the machine above it.

    ```mlir
    scf.forall (%l1b, %pe) in (8, 4) {
    } {mapping = [#layout.axis<"L1B", level = 0>, #layout.axis<"PE", level = 1>]}
    ```

    Constraints:
    * (axis_c1) The name is one that a TensorLayout can give to an axis.
    * (axis_c2) The level is 0 or more.
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
    * (memory_space_c1) The number is in 0 to 127.
  }];
  let parameters = (ins AttrParameter<"int64_t", "XLA's number">:$number);
  let genVerifyDecl = 1;
}

def Layout_PendingAttr : Layout_Attr<"Pending", "pending"> {
  let summary = "A tensor's layout during bufferization";
  let description = [{
    Keeps a tensor's layout in the memory space of a memref while upstream's
    bufferization runs. It is deliberately not a memref layout: until lowering
    gives the memref its layout, indices into it are logical indices.

    ```mlir
    memref<3x5xf32, #layout.pending<#layout.tiled<{1,0:T(2,2)}>>>
    ```

    Constraints:
    * (pending_c1) What it carries is a layout of this dialect.
  }];
  let mnemonic = "pending";
  let parameters = (ins AttrParameter<"::mlir::MemRefLayoutAttrInterface",
                                      "`#layout.tiled`, `#layout.tensor_layout` "
                                      "or `#layout.swizzled`">:$layout);
  let assemblyFormat = "`<` $layout `>`";
  let genVerifyDecl = 1;
}

def Layout_IndexingMapAttr : Layout_Attr<"IndexingMap", "indexing_map"> {
  let summary = "An affine map between indices, with its domain";
  let description = [{
    The relation between the elements of two tensors:

    ```mlir
    #layout.indexing_map<(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 7]>
    ```

    The index of an element of the first gives the dimension variables `d`. Range
    variables `s` take every value of their interval, so that one element is
    related to several. Run-time variables `rt` are offsets that are known when
    the program runs. The results are an affine map, with the dimension variables
    as dimensions and the others as symbols. The domain is a closed interval for
    each variable, and constraints. Two other values: `KNOWN EMPTY`, no element is
    related to any, and `UNDEFINED`, no finite map says which ones are.

    Constraints:
    * (indexing_map_c1) Every variable and every constraint has an interval.
    * (indexing_map_c2) There are no more range variables than symbols.
    * (indexing_map_c3) No result and no constraint has a minimum or maximum,
      which affine maps do not have, after simplification over the domain.
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
    /// `KNOWN EMPTY`: no element is related to any.
    bool isKnownEmpty() const { return getKind() == 1; }
    /// `UNDEFINED`: no finite map says which elements are related.
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
    space. It may be the same buffer as the source: do not write one of the two
    while the other is in use, nor a conversion of the result.

    `layout-remove-conversions` gives a tensor the layout in which the fewest
    bytes are converted, and so may remove the operation. With `{keep}` the
    result keeps the layout of its type: for a compiler that has chosen it for
    what reads it.

    With `{async}` the operation may be a copy that only begins here, and is
    done where a `layout.await` takes the result. Nothing else may take it, and
    nothing folds into or past it. Where the layouts differ in more than the
    memory space, or a size is known only at run time, lowering copies here.

    Constraints:
    * (convert_c1) Both types are ranked tensors or both are memrefs.
    * (convert_c2) Both have the same shape.
    * (convert_c3) Both have the same element type.
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$source,
                       UnitAttr:$keep, UnitAttr:$async);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$result);
  let assemblyFormat =
      "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Layout_AwaitOp : Op<Layout_Dialect, "await", [
    Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "The end of a copy between memories";
  let description = [{
    ```mlir
    %1 = layout.convert %0 {async, keep} : tensor<3x5xf32> to tensor<3x5xf32, #layout.tiled<{1,0:S(1)}>>
    %2 = layout.await %1 : tensor<3x5xf32, #layout.tiled<{1,0:S(1)}>>
    ```

    The result is the operand, which may be there only from here on: between the
    two operations the copy runs beside what stands there, and what is copied
    stays in memory. Lowering makes a `memref.dma_start` and a `memref.dma_wait`
    of the pair where both are in one block. Of any other operand the operation
    is the identity.
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

#endif // LAYOUT_TD
