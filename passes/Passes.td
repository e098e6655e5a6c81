//===- Passes.td - Passes over the layout dialect -------------------------===//
//
// The one list of passes, of their options, and of pipelines. mlir-tblgen makes
// the C++ of it; build.rs makes the Rust, and the classes in which C++ calls
// it.
//
// A new option is one record in the `options` of its pass: it is then in the
// options of C++, in Rust's struct, in the text that all interfaces read, in
// `layout-opt --help`, and in the reference (`BLESS=1 cargo test --test structure docs`).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PASSES_TD
#define LAYOUT_PASSES_TD

include "mlir/IR/EnumAttr.td"
include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Options whose value is one of a few names
//===----------------------------------------------------------------------===//

/// A value: the C++ enumerator, its number, the value in text, what it means.
class Choice<string symbol, int number, string text, string meaning>
    : I32EnumCase<symbol, number, text> {
  string summary = meaning;
}

/// The values of an option, the default first. `mlir-tblgen -gen-enum-decls`
/// makes an enum class of them.
class Choices<string name, string about, list<Choice> all>
    : I32Enum<name, about, all> {
  let cppNamespace = "::layout";
  string first = !head(all).symbol;
  string flags = "::llvm::cl::values(" # !interleave(!foreach(choice, all,
      "clEnumValN(::layout::" # name # "::" # choice.symbol # ", \""
      # choice.str # "\", \"" # choice.summary # "\")"), ", ") # ")";
}

/// An option with such a value.
class ChoiceOption<string variable, string argument, Choices choices,
                   string description>
    : Option<variable, argument, choices.cppType,
             choices.cppType # "::" # choices.first, description,
             choices.flags>;

def Form : Choices<"Form", "What a tiled memref becomes", [
  Choice<"strided", 0, "strided",
         "parts in logical order, with the strides of the layout">,
  Choice<"physical", 1, "physical", "parts in memory order, without strides">
]>;

def Target : Choices<"Target", "The machine that vector code is for", [
  Choice<"none", 0, "none", "no vector code: loops over single elements">,
  Choice<"avx2", 1, "avx2", "x86-64 with AVX2 and FMA: 16 registers of 256 bits">,
  Choice<"avx512", 2, "avx512", "x86-64 with AVX-512: 32 registers of 512 bits">,
  Choice<"neon", 3, "neon", "AArch64 with Neon: 32 registers of 128 bits">
]>;

def Parallel : Choices<"Parallel",
    "What outer loops become whose iterations may run at the same time", [
  Choice<"none", 0, "none", "loops like others">,
  Choice<"loops", 1, "parallel", "scf.parallel">,
  Choice<"forall", 2, "forall", "scf.forall">,
  Choice<"openmp", 3, "openmp",
         "scf.parallel where the work is worth a second thread, of which the "
         "pipelines make `omp.wsloop`">
]>;

def Padding : Choices<"Padding",
    "What vector code does with the padding of incomplete tiles", [
  Choice<"masked", 0, "masked", "it is neither read nor written">,
  Choice<"typed", 1, "typed",
         "whole tiles are read and written where what padding holds cannot be "
         "seen or changes nothing">,
  Choice<"report", 2, "report", "as typed, with a remark at each operation">
]>;

def Arena : Choices<"Arena", "Where the memory of a call is from", [
  Choice<"call", 0, "call", "each call allocates and frees it">,
  Choice<"kept", 1, "kept", "it is kept for the next call">,
  Choice<"argument", 2, "argument", "the caller gives it">,
  Choice<"none", 3, "none", "each buffer is allocated and freed by itself">
]>;

def PlanMachine : Choices<"PlanMachine", "The machine that layouts are for", [
  Choice<"own", 0, "module", "the `layout.machine` of the module">,
  Choice<"tpuV5e", 1, "tpu_v5e", "a TPU v5e, in cycles">,
  Choice<"cpu", 2, "cpu", "one core of a server, in picoseconds">,
  Choice<"mnCore", 3, "mn_core", "MN-Core">,
  Choice<"mnCore2", 4, "mn_core_2", "MN-Core 2">,
  Choice<"tpuLike", 5, "tpu_like", "two memories, and no costs">
]>;

def PlanEntry : Choices<"PlanEntry",
    "What arguments and results of public functions may be laid out in", [
  Choice<"fixed", 0, "fixed", "as their types say; without a layout, in the default layouts of the machine">,
  Choice<"machine", 1, "default", "in the default layouts of the machine">,
  Choice<"any", 2, "free", "in any layout">
]>;

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// A pass whose body is `run` in the file with its name, in a folder of this
/// one.
class LayoutPass<string place, string name, string operation = "">
    : Pass<name, operation> {
  string folder = place;
}

def LayoutLowerMemrefs
    : LayoutPass<"lower", "layout-lower-memrefs", "::mlir::ModuleOp"> {
  let summary = "Lower memrefs with tiled layouts to strided or physical ones";
  let description = [{
    Gives each memref with a `#layout.tiled` layout one dimension for each part
    of its tiled sizes. A memref with a `#layout.tensor_layout` gets one for
    each axis of the machine and then one for each part inside a place. Rewrites
    what uses them. What cannot be lowered is an error at that operation, and
    the module stays as it was.
  }];
  let options = [
    ChoiceOption<"form", "form", Form, Form.summary>,
    ChoiceOption<"vectorize", "vectorize", Target,
                 "Emit vector code for this machine">,
    Option<"vectorBits", "vector-bits", "uint32_t", "0",
           "Vector code: the bits of a vector, a power of two from 64 to 2048; "
           "0: as the machine has">,
    Option<"vectorRegisters", "vector-registers", "uint32_t", "0",
           "Vector code: the vectors that registers hold, 8 to 64; 0: as the "
           "machine has">,
    Option<"reassociate", "reassociate", "bool", "false",
           "Let reductions in floating point add in another order than the "
           "program's, which changes results by rounding: in vector code, and "
           "at the places of a machine">,
    Option<"contract", "contract", "bool", "false",
           "Vector code: let a product and a sum be one operation with one "
           "rounding (fma)">,
    Option<"approximate", "approximate", "bool", "false",
           "Vector code: let exp, expm1, log, log1p, log2, tanh, erf and erfc of "
           "f32, f16 and bf16 be polynomials, within 6 units in the last place, "
           "in place of calls of a library">,
    Option<"cacheBytes", "cache-bytes", "uint64_t", "0",
           "Vector code: the bytes of cache that a kernel may fill. Inputs of "
           "more bytes are prefetched, and outputs of more bytes that copies "
           "and elementwise operations write are stored past the caches; 0: "
           "neither">,
    Option<"rowBlockBytes", "row-block-bytes", "uint64_t", "524288",
           "Vector code: the bytes of the blocks of rows by which kernels one "
           "after another go over the same rows together, where all rows are "
           "more; 0: each kernel goes over all rows">,
    ChoiceOption<"parallel", "parallel", Parallel,
                 "Vector code: what outer loops become whose iterations may "
                 "run at the same time">,
    ChoiceOption<"padding", "padding", Padding,
                 "Vector code: what becomes of the padding of incomplete tiles">
  ];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LayoutRemoveConversions
    : LayoutPass<"choose", "layout-remove-conversions", "::mlir::ModuleOp"> {
  let summary = "Remove conversions of tensors that nobody needs";
  let description = [{
    A `layout.convert` moves bytes and changes no value, and most operations on
    tensors read and write any layout. So values inside a module get the layouts
    in which the fewest bytes are converted, as far as one walk over the
    conversions finds them. The walk begins with those that move most. Loops
    count as often as they run, 16 times where that is not known. Arguments and
    results of private functions take part.

    As they are stay arguments and results of public functions, of declarations
    and of functions that are referred to other than by calls. So do memory
    spaces, TensorLayouts, operands and results of operations that lowering does
    not know, and the result of a `layout.convert` with `{keep}`. No conversion
    is added. Those that are left are made once, outside of loops, and inside
    the branch that alone uses them; tensors that nobody reads are removed.
  }];
  let options = [
    Option<"report", "report", "bool", "false",
           "Print a remark: how many conversions of how many bytes there were, "
           "and are left">
  ];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def LayoutPrepareBufferization
    : LayoutPass<"bufferize", "layout-prepare-bufferization",
                 "::mlir::ModuleOp"> {
  let summary = "Make tensors with tiled layouts ready for one-shot-bufferize";
  let description = [{
    Wraps the layout of each tensor as `#layout.pending`, which
    `one-shot-bufferize{use-encoding-for-memory-space}` carries along and
    `layout-lower-memrefs` reads. Conversions become copies, elementwise
    operations `linalg.generic`; slices and reshapes that leave their block are
    copied; arguments of public functions become read-only unless they say
    otherwise. What could not be lowered later is an error here, and the module
    stays as it was.
  }];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def LayoutAnnotateLoops
    : LayoutPass<"llvm", "layout-annotate-loops", "::mlir::ModuleOp"> {
  let summary = "Tell LLVM to leave loops of vector code as they are";
  let description = [{
    An `scf.for` with operations on vectors inside gets the attribute
    `loop_annotation`, which says that LLVM's optional transformations of loops
    are not to be, such as unrolling. A loop keeps an annotation that it has, so
    that a program can ask for something else.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LayoutApproximateMath
    : LayoutPass<"llvm", "layout-approximate-math", "::mlir::ModuleOp"> {
  let summary = "Compute functions by polynomials where they may be approximated";
  let description = [{
    `math.exp`, `expm1`, `log`, `log1p`, `log2`, `tanh`, `erf` and `erfc` of
    vectors of f32 become upstream's polynomial approximations where they have the
    fast-math flag `afn`; of f16 and bf16 they are computed in f32. The largest
    errors where the result is a normal number, in units in the last place (ULP):
    `exp` and `expm1` 5.1, `tanh` 4.6, `erf` 4.3, `erfc` 2.7, `log1p` 2.5, `log2`
    1.6, `log` 0.9. Smaller results than normal ones are 0, and `log` and `log2`
    take arguments smaller than normal ones for the smallest. Upstream's of other
    functions are further off, and are not taken.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LayoutCallLibm
    : LayoutPass<"llvm", "layout-call-libm", "::mlir::ModuleOp"> {
  let summary = "Call the C library where LLVM has no function as exact";
  let description = [{
    `math.expm1` and `math.log1p`, of scalars and of each element of vectors,
    become calls of the C library, by upstream's patterns. `convert-math-to-llvm`
    makes `exp(x) - 1` and `log(1 + x)` of them, which are 0 for an argument
    below half of the distance of 1 to the next number: of f32, for 5e-8.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LayoutCallMpi
    : LayoutPass<"distribute", "layout-call-mpi", "::mlir::ModuleOp"> {
  let summary = "Call Open MPI where upstream does not convert to LLVM";
  let description = [{
    `mpi.isend`, `mpi.irecv`, `mpi.wait` and `mpi.comm_size` become calls of Open
    MPI; `convert-to-llvm` of LLVM 22 leaves them as they are. Buffers are
    contiguous memrefs of static sizes, whose bytes are sent, of any type of
    elements. A call that fails ends the program.

    After `mpi.init` and `mpi.comm_rank` with an attribute `processes`, the number of
    processes is compared with it: where it is another one, each process prints an
    error with both numbers and calls `MPI_Abort`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def LayoutConvertToLLVM
    : LayoutPass<"llvm", "layout-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert loops over plain memrefs to the LLVM dialect";
  let description = [{
    Runs upstream's conversions of linalg, affine, scf, vector, math, complex,
    memref and what is left to the LLVM dialect, in the order that they need;
    each only where the module has operations for it. A conversion that has
    nothing to do takes as long as the others in a large function, since MLIR
    verifies what each leaves. Between them run passes of this project, of which
    `layout-plan-memory` takes `arena`: `STEPS` in `llvm/convert_to_llvm.rs` is the
    list. Private functions get internal linkage, so that objects of several
    modules can be linked.
  }];
  let options = [ChoiceOption<"arena", "arena", Arena, Arena.summary>];
}

def LayoutDeallocate
    : LayoutPass<"bufferize", "layout-deallocate", "::mlir::func::FuncOp"> {
  let summary = "Free what bufferization allocated";
  let description = [{
    Frees each buffer after its last use, in the block that owns it; a buffer
    that a block, loop or function gives is owned by who gets it, or is copied.
    An allocation takes over a buffer of its type that was freed just before. A
    function with branches between blocks, or with an operation whose buffers
    are not known, goes through upstream's ownership-based deallocation, which
    knows no loops made of branches: these are errors. A function that had no
    tensors and no conversions before `layout-prepare-bufferization`, and in
    which lowering allocated nothing, frees its buffers itself.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def LayoutExpandClones
    : LayoutPass<"bufferize", "layout-expand-clones", "::mlir::ModuleOp"> {
  let summary = "Expand bufferization.clone";
  let description = [{
    Turns each clone of a memref into an allocation at 64 bytes, with the same
    strides, and a copy. `convert-bufferization-to-memref` refuses clones with a
    `strided` layout, and aligns no others.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
}

def LayoutExpandDma
    : LayoutPass<"lower", "layout-expand-dma", "::mlir::ModuleOp"> {
  let summary = "Copy where the machine has one memory";
  let description = [{
    Turns each `memref.dma_start` of a constant number of elements into a copy,
    and removes `memref.dma_wait`: upstream lowers neither to LLVM. A copy with a
    stride is an error.
  }];
  let options = [
    Option<"late", "late", "bool", "false",
           "Copy where the copy is waited for, if both are in one block, to find "
           "what is written or freed while it runs">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
}

def LayoutExpandFloats
    : LayoutPass<"llvm", "layout-expand-floats", "::mlir::ModuleOp"> {
  let summary = "Compute with floats of 4, 6 and 8 bits in f32";
  let description = [{
    Operations of `arith`, `math` and `vector` on floating-point numbers of
    fewer than 16 bits are computed in f32, by upstream's
    `arith-emulate-unsupported-floats` and `math-extend-to-supported-types`. The
    conversions between these numbers and others become operations on integers,
    since LLVM has no such types. Scalars and vectors of `f4E2M1FN`, `f6E2M3FN`,
    `f6E3M2FN`, `f8E3M4`, `f8E4M3`, `f8E4M3B11FNUZ`, `f8E4M3FN`, `f8E4M3FNUZ`,
    `f8E5M2`, `f8E5M2FNUZ` and `f8E8M0FNU`.

    `arith.truncf` rounds to the nearest number, to even where two are as near;
    from f64 in one step. What is too large becomes infinity; in types without
    it NaN, and in those with neither the largest number.

    `math.clampf` becomes `arith.maximumf` with the lower bound and then
    `arith.minimumf` with the upper, on all types.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LayoutExportWeights
    : LayoutPass<"llvm", "layout-export-weights", "::mlir::ModuleOp"> {
  let summary = "Move constants of many bytes to an object file";
  let description = [{
    Writes each `llvm.mlir.global` that is a constant, and has at least `minimum`
    bytes, into an object file in ELF, for the module's
    `llvm.target_triple` or for this machine. The global stays in the module as a
    declaration. A program is linked with both. So the data go neither through the
    text of LLVM IR nor through LLVM.

    The bytes are as LLVM would lay them out, in the layout that lowering gave them,
    little-endian, aligned to 64 bytes or as the global says. A private constant is
    named by a hash of its bytes: equal arrays become one, in a module and in a
    program that is linked from several. Other constants keep their names.

    Splats stay, and so do variables, constants in a section or another address
    space, and constants of elements whose size depends on the machine, such as f80.
    The file is written whole or not at all.
  }];
  let options = [
    Option<"file", "file", "std::string", "\"none\"",
           "The object file; without one, nothing moves">,
    Option<"minimum", "minimum", "uint64_t", "1024",
           "The least bytes of a constant that is moved">
  ];
}

def LayoutLowerBufferization
    : LayoutPass<"bufferize", "layout-lower-bufferization",
                 "::mlir::ModuleOp"> {
  let summary = "Lower what freeing buffers leaves of bufferization";
  let description = [{
    Runs `bufferization-lower-deallocations`, `layout-expand-clones` and
    `convert-bufferization-to-memref`, each only where the module has operations
    for it.
  }];
}

def LayoutShortenInterfaces
    : LayoutPass<"llvm", "layout-shorten-interfaces", "::mlir::ModuleOp"> {
  let summary = "Let functions of many memrefs be called through pointers";
  let description = [{
    For a function `f` of the LLVM dialect, `func-to-llvm` may have made
    `_mlir_ciface_f`. Then the code of `f` moves there. It reads memrefs where
    the pointers of its caller say, and writes those that it gives where they
    are made. `f` has the type and the results that it had, and calls the other.
    LLVM takes time quadratic in the words that are passed at once.
  }];
  // clang -O2, in seconds without the pass and with it: of 481 arguments and 361
  // results 11.0 and 1.5; clang -O3: of 442 and 440 19.4 and 1.9, of 291 and 1 5.1
  // and 0.5. Of sums of two tensor<16x16xf32>, as many arguments as
  // results, -O2: 112 words 0.020 and 0.033, 224 words 0.024 and 0.033, 448 words 0.068 and
  // 0.053, 896 words 0.22 and 0.09, 3584 words 10.3 and 0.39.
  let options = [
    Option<"words", "words", "uint64_t", "256",
           "A function that takes and gives no more pointers and integers stays "
           "as it is">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LayoutSimplifyIndexing : LayoutPass<"lower", "layout-simplify-indexing"> {
  let summary = "Simplify index arithmetic by known ranges";
  let description = [{
    Simplifies the maps of `affine.apply`, `min`, `max`, `if`, `for`, loads and
    stores, and `affine.linearize_index` and `delinearize_index`, with the
    intervals and steps of enclosing loops, static sizes, and the ranges that
    operations infer through upstream's `InferIntRangeInterface`. A map changes
    only where the result is cheaper: a division or remainder costs 3, any other
    operation 1. `arith.andi`, `ori`, `xori`, `shli` and `shrui` of indices become
    sums where their results are, and values where they give these back, as two
    swizzles do.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"
  ];
}

def LayoutGatherRows
    : LayoutPass<"foreign", "layout-gather-rows", "::mlir::ModuleOp"> {
  let summary = "Copy the rows of gathers";
  let description = [{
    A `linalg.generic` whose value is one `tensor.extract` becomes loops that copy
    rows, with layouts or without, where the last index of the result is that of
    the last dimension of the data, or is added to a start there. So are gathers
    of torch-mlir, of IREE and of HLO. Rows of fewer than 8 elements stay as they
    are, and so does a body that calls functions or has regions.
  }];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def LayoutIndexingAnalysis : LayoutPass<"choose", "layout-indexing-analysis"> {
  let summary = "Say which elements every operation on tensors reads and feeds";
  let description = [{
    Attaches `layout.reads` and `layout.feeds` to each operation with tensors.
    `layout.reads` goes from an index of a result to the elements of an operand
    that it is made of. `layout.feeds` goes from an index of an operand to the
    elements of a result that it goes into. Each is an array for each result, in
    it one for each operand, in it the `#layout.indexing_map`s, whose points
    together are the answer. None means that nothing is read; `UNDEFINED` that
    no finite map says it.
  }];
  let options = [
    Option<"report", "report", "bool", "false",
           "Print remarks, with reasons and where run-time values come from, "
           "and attach nothing">
  ];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def LayoutInlineCalls
    : LayoutPass<"choose", "layout-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Put functions in place of their calls";
  let description = [{
    A private function that only one call calls is put in its place, and one of at
    most 64 operations is copied to each of its calls; where that is done, `cse`
    runs. So loops write into the arrays that they carry, and operations of several
    functions become one kernel. Functions with branches between blocks, with
    memrefs or affine operations, and with `no_inline` stay, and so do those that
    call themselves or each other.

    Upstream's `inline` gives operations the locations of their calls as well, for
    which LLVM wants debug information that `ensure-debug-info-scope-on-llvm-func`
    does not make.
  }];
}

def LayoutImportStablehlo
    : LayoutPass<"foreign", "layout-import-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Turn StableHLO into operations of linalg, tensor and scf";
  let description = [{
    A module of functions of StableHLO, MHLO and CHLO becomes what
    `layout-translate` makes of its text: tensors carry the layouts that
    `mhlo.layout_mode` says. The dialects need not be registered: the text is in the
    generic form, and `--allow-unregistered-dialect` lets it pass. A module without
    such operations stays as it is.

    An operation without a counterpart is an error at its place, and leaves the
    module as it was.
  }];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::complex::ComplexDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::shard::ShardDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def LayoutExpandForeign
    : LayoutPass<"foreign", "layout-expand-foreign", "::mlir::ModuleOp"> {
  let summary = "Expand sorts, scatters and others of torch-mlir and IREE";
  let description = [{
    `tm_tensor.sort`, `scan`, `scatter`, `topk` and `attention`, and
    `iree_linalg_ext.sort`, `scan`, `scatter`, `gather`, `topk`, `attention` and
    `fft`, on tensors without layouts, become `linalg`, `scf` and `tensor`, with
    their regions inlined. The sort is stable, also for a comparison that holds for
    equal elements. Of a scatter, a block that does not fit into the data is
    dropped; of a gather, indices are brought into the source. A row of attention
    all of whose scores are minus infinity is zero.

    Operations and attributes are found by their names, whether the dialects are
    registered or not. `layout-opt` reads the operations in their own text and in
    generic form, other tools in generic form with `--allow-unregistered-dialect`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def LayoutExpandOperations
    : LayoutPass<"models", "layout-expand-operations", "::mlir::ModuleOp"> {
  let summary = "Expand operations of other compilers by their models";
  let description = [{
    An operation with a model becomes the operations that the model builds, so
    that the passes after this one lower it. A model is `LayoutOpInterface` of
    C++, a `LayoutOp` that a compiler in Rust registers, or a function of the
    module that has the operation's name as the attribute `layout.model`, and the
    types of its operands and results apart from layouts. The other passes that
    choose layouts, analyse or verify know these operations as they are.

    Private functions that are models, and that nothing refers to, are erased; the
    others lose the attributes `layout.model` and `layout.cost`.

    A model that does not fit its operation is an error, and so are a model that is
    made of its own operation, and two functions for the same name and types. An
    operation with regions or successors, one that ends its block, a constant, and
    those of the dialects builtin, func, layout and llvm can have no model.
  }];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def LayoutFoldConstants
    : LayoutPass<"choose", "layout-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Put the elements of constants where they are read";
  let description = [{
    An operation on tensors that only moves the elements of a constant, `dense` or
    `dense_resource`, becomes a constant: a transpose, a packing, a reshape, a
    conversion to another layout. So no such operation runs at run time, and
    `layout-plan` chooses the layout of what is read. A broadcast stays, as it is
    larger than the constant, and so does a packing whose padding is not zero.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LayoutFuseElementwise
    : LayoutPass<"bufferize", "layout-fuse-elementwise", "::mlir::ModuleOp"> {
  let summary = "Make one operation of elementwise ones that only it reads";
  let description = [{
    A `linalg.generic` that computes each element of a tensor from those at the
    same index joins the one that reads its result. All that read it must be of
    one kernel and do so at the same index. Its values are then never stored.
    What is filled with a scalar is not read; its readers get the scalar. What
    several kernels read is computed in each, if they then move fewer elements:
    with `g` kernels that each read its `k` operands, `g k` in the place of
    `k + 1 + g`. All copies have at most 8 operations, none of which divides or
    takes several instructions. Reshapes that add or drop dimensions of size 1 are
    read through. An
    operation stays where something in between may write over what it reads, and
    where vector code cannot be made of it.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LayoutMaskAsIntegers
    : LayoutPass<"llvm", "layout-mask-as-integers", "::mlir::ModuleOp"> {
  let summary = "Load and store masked vectors of small floats as integers";
  let description = [{
    Masked loads and stores in the LLVM dialect of vectors of `bf16`, `f16` and
    smaller floats become such of integers with as many bits, between
    `llvm.bitcast`s. LLVM 22 cannot shuffle 256 bits of `bf16` on machines with
    AVX512-BF16; of integers it can.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LayoutOutlineLoops
    : LayoutPass<"llvm", "layout-outline-loops", "::mlir::ModuleOp"> {
  let summary = "Make functions of the loop nests of a large module";
  let description = [{
    Each loop nest becomes a call of a private function with the nest in it; nests
    that are equal, but for the buffers that they read and write, call the same
    one. LLVM takes time quadratic in the loops of a function, and many nests of a
    large program are alike: there is less to convert.

    A nest is a loop, or an operation of linalg on memrefs, in which nothing is
    called, allocated or freed. Memrefs of static shape, strides and offset are
    passed as pointers.
  }];
  // Conversion to LLVM and clang -O1, in seconds without the pass and with it, for
  // programs of some 1,200 to 1,800 loops: 5.6 and 1.1, 2.8 and 1.0, 2.4 and 0.9.
  // A call takes 5 to 18 % less time. From where on it pays was not measured.
  let options = [
    Option<"loops", "loops", "uint64_t", "256",
           "A module with no more loops stays as it is, and a nest with more is "
           "cut">
  ];
  let dependentDialects = [
    "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect"
  ];
}

def LayoutPartition
    : LayoutPass<"distribute", "layout-partition", "::mlir::ModuleOp"> {
  let summary = "Make the program of one process of tensors that are spread";
  let description = [{
    On a machine whose outermost axis is `Process`, each tensor becomes the part that one
    process has, by its `#layout.tensor_layout`; a tensor whose layout does not name
    `Process` is a copy at each process. Operations work on parts, and what has to be
    sent is `shard.all_gather`, `all_slice`, `all_to_all`, `all_reduce`,
    `reduce_scatter`, or `send` and `recv` at once, on `shard.grid @processes`. Of
    the ways to spread an operation's loops, one is taken for which the iterations of
    a process and the bytes that it gets take the least time.

    A layout inside of a process stays on the type unless it is row-major, and what the
    machine has inside of a process stays on the module. Functions that are only
    declared, without results, are called by process 0 alone, as is `vector.print`;
    those that may write to a memref by each process, unless
    `bufferization.access = "read"` says that they do not.

    Sums over a dimension that is spread are added up process by process: those of
    floating-point numbers are rounded in another order.

    Each process must have as many elements of a tensor: a dimension that is not divided
    evenly is an error. An error leaves the module as it was.
  }];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::shard::ShardDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def LayoutPlan : LayoutPass<"choose", "layout-plan", "::mlir::ModuleOp"> {
  let summary = "Choose a layout for every tensor of a module at once";
  let description = [{
    Chooses the layouts of all tensors of static sizes together, and converts
    where layouts meet. The choice has the least sum of what operations cost on
    a machine in these layouts, and of conversions between them. Loops count as
    often as they run, and what they carry has one layout. Constants, empty and
    filled tensors are made again in each layout that is wanted.

    `layout-inline-calls` and `cse` run first, so that each call of a small function
    has layouts of its own; any other private function has one type for all its
    calls. A loop counts by its constant bounds, or by `layout.trip_count`, an
    integer on the loop, or else 16 times.

    As they are stay types that say a layout other than row-major, operands and results of
    operations that lowering does not know, and with `entry=fixed` the types of
    public functions. An error leaves the types as they were.

    Where the machine's arrays have tiles, a type without a layout means the default one,
    and one without tiles says an order at most. With `entry=fixed`, and where no type has
    tiles, what is planned in the default layout has a type without one.

    On a machine with places, types get TensorLayouts, so that little moves at each
    level, and the module gets the machine as `layout.machine`. Operations take and
    make tensors where their loops run: with copies, and sums that lowering adds up.
    An operation that has no placement gets a remark, and so does a given layout
    that cannot be planned with. `spaces` is an error there.

    With `capacity`, that of the fastest memory or of the memory of each place,
    tensors may lie beside it. A structured or elementwise operation whose
    tensors do not fit runs in steps: loops over slices that are brought there
    and taken back. What runs in one step though it is planned in several, and
    that for whose smallest steps there is no room, gets a remark.

    With `capacity` and `spaces`, tensors are brought to the fastest memory, put
    out of it to memory space 0 and brought back, each as a whole. A
    `layout.convert` with `async` stands where a copy starts, and a
    `layout.await` where it is done, with as much computed between them as hides
    it. A tensor of which the copies cannot be written is in memory space 0,
    with a remark.
  }];
  let options = [
    ChoiceOption<"machine", "machine", PlanMachine, PlanMachine.summary>,
    ChoiceOption<"entry", "entry", PlanEntry, PlanEntry.summary>,
    Option<"capacity", "capacity", "uint64_t", "0",
           "The bytes of the machine's fastest memory that the module may take at "
           "once; 0: as many as it likes">,
    Option<"seconds", "seconds", "uint64_t", "0",
           "Stop the search after so many seconds, with the best plan so far; 0: where "
           "its bound is within a thousandth of the cost, and after 10 at the latest">,
    Option<"spaces", "spaces", "bool", "false",
           "Write the memory space of each tensor into its type that only "
           "operations with loops make and take; with `capacity`, copy tensors "
           "between memories while others are computed">,
    Option<"report", "report", "bool", "false",
           "Print remarks: what the plan costs and what every plan costs at "
           "least, each conversion with what it costs and who wanted it, and each "
           "copy between memories with what it starts and is done before">
  ];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def LayoutPlanMemory
    : LayoutPass<"lower", "layout-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Make the buffers of a call parts of one allocation";
  let description = [{
    A buffer of static shape that the program frees becomes a `memref.view` of
    one allocation, the arena, at a place that no other buffer has at the same
    time. This holds across loops and conditions that hand a buffer on, and
    across calls. A private function is given its part of its caller's arena,
    and memory for what it returns, as further arguments of type `memref<?xi8>`
    with static sizes. Results of public functions are allocated, as their
    callers free them. Each memory, `#layout.memory_space` on memrefs, has
    arenas of its own.

    `arena` says where a public function has its arena from. With `argument`,
    public functions take it as their last argument, at an address that is a
    multiple of 64, and `NAME_arena_bytes` returns its size. For the memory with
    number n, the argument comes after that, and the function is
    `NAME_arena_bytes_n`. With `kept`, calls at the same time have arenas of
    their own, of which one is kept, and freed when the library is unloaded.
  }];
  // Conversion to LLVM and clang -O1 of outlined programs, in seconds without the
  // pass and with it: 1.13 and 1.05 for 356 allocations, 0.94 and 0.87 for 462,
  // 0.95 and 0.75 for 606; of 275 not outlined, 0.66 and 0.67.
  let options = [
    ChoiceOption<"arena", "arena", Arena, Arena.summary>,
    Option<"buffers", "buffers", "uint64_t", "1",
           "With arena=call, a module with no more such buffers stays as it is">,
    Option<"poison", "poison", "bool", "false",
           "Fill each buffer with ones when it is made and when it is freed, to "
           "find what reads it at another time">,
    Option<"report", "report", "bool", "false",
           "Print a remark for each arena that no caller gives: its bytes, and how "
           "many of them are live at once">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def LayoutScfToCf : LayoutPass<"llvm", "layout-scf-to-cf", "::mlir::ModuleOp"> {
  let summary = "Lower scf to branches, in time linear in the loops of a block";
  let description = [{
    Applies the patterns of upstream's `convert-scf-to-cf`, from the last
    operation of each block to the first. Each splits the block after the
    operation and moves what follows. In upstream's order that is the whole
    rest, so that time is quadratic in the loops of one block. In this order it
    is only what is before the next loop.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect"
  ];
}

def LayoutShardToMpi
    : LayoutPass<"distribute", "layout-shard-to-mpi", "::mlir::ModuleOp"> {
  let summary = "Lower collectives of processes to messages of MPI";
  let description = [{
    Lowers operations of `shard` on tensors of static sizes to `mpi`, in a
    program that each process of a `shard.grid` runs on its own parts of
    tensors. The operations are `all_gather`, `all_slice`, `all_to_all`,
    `all_reduce`, `reduce_scatter`, `shift`, `send`, `recv`,
    `process_linear_index`, `process_multi_index` and `grid_shape`, along any
    axes of the grid. Ranks are linear indices in it.

    Each sends no more bytes than any way of doing it must. Sends and receives begin
    when what is sent is there, and are waited for before the first use of what
    comes. Reductions combine the elements of the processes in the order of their
    numbers, so that all get the same bits in each run; f16 and bf16 are summed in
    f32.

    The function `main`, where the module has it, gets `mpi.init` and
    `mpi.finalize`; in a module without it the caller of its functions starts MPI.
  }];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::complex::ComplexDialect", "::mlir::DLTIDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::mpi::MPIDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def LayoutStripMemorySpaces
    : LayoutPass<"llvm", "layout-strip-memory-spaces", "::mlir::ModuleOp"> {
  let summary = "Put all data in the one memory of a CPU";
  let description = [{
    Removes `#layout.memory_space` from all memref types, so that they can be
    lowered to LLVM, and `S(n)` from all layouts, so that a copy into another
    memory is a conversion that nobody needs. Where no tensor and no layout is
    left to lower, removes `layout.machine` from the module.
  }];
  let dependentDialects = ["::layout::LayoutDialect"];
}

def LayoutCheckWitness
    : LayoutPass<"check", "layout-check-witness", "::mlir::ModuleOp"> {
  let summary = "Compare the two programs of a witness, kernel by kernel";
  let description = [{
    A witness is a module with two modules inside, `@before` and `@after`, which
    `layout-verify` writes with `witness`. In `@before` each operation with effects
    has a number, the attribute `layout.origins`. In `@after` an operation has the
    numbers of those that it implements. The programs are compared as
    `layout-verify` compares them, and a remark at each function says how it is
    shown. It is an error if a program computes something else, if a kernel is not
    what its numbers say, and if a number is that of no operation.
  }];
  let options = [
    Option<"steps", "steps", "uint64_t", "0",
           "As in layout-verify">,
    Option<"reassociate", "reassociate", "bool", "false",
           "Whether sums of floating-point numbers may be reassociated">,
    Option<"contract", "contract", "bool", "false",
           "Whether a product and a sum may be rounded once">,
    Option<"approximate", "approximate", "bool", "false",
           "Whether functions of math may be approximated">,
    Option<"arenas", "arenas", "bool", "false",
           "Whether public functions may take arenas behind their arguments">
  ];
}

def LayoutVerify : LayoutPass<"check", "layout-verify", "::mlir::ModuleOp"> {
  let summary = "Run passes and check that each keeps what functions compute";
  let description = [{
    Compares what each function computes, reads and writes before the passes and
    after the last of them, by a proof for all data or by running both on
    symbolic elements. A difference is an error, with the pass after which it is
    there. What cannot be compared is a remark that says why. The option
    `verify` of the pipelines runs their passes so; [verify.md](verify.md) says
    what is proved and what is assumed.

    The passes are those of a pipeline's text, on modules; options `reassociate`,
    `contract` and `approximate` in it allow what they allow.

    With `smt`, what the proofs decide about the addresses in the last form of
    each function is written to a file, as a module of the dialect `smt`. All of
    its `smt.check` are to find `unsat`.

    With `report`, a line is added to a file for each function: `proved`, `executed`,
    or why it is neither.

    Before `layout-lower-memrefs`, or another pass that `kernels` names, the
    operations with effects get numbers, the attribute `layout.origins`. The pass
    gives the code of a kernel the numbers of the operations that it implements. So
    kernels are compared one at a time. With `witness`, the program with the numbers
    and the one after the last pass are written to a file, which
    `layout-check-witness` reads.
  }];
  let options = [
    Option<"passes", "passes", "std::string", "\"none\"", "The passes">,
    Option<"steps", "steps", "uint64_t", "0",
           "A function that takes more steps, elements counted one by one, is not "
           "checked; 0 is a budget for all functions, by their size">,
    Option<"remarks", "remarks", "bool", "true",
           "Say what is not shown">,
    Option<"smt", "smt", "std::string", "\"none\"",
           "A file for what the proofs decide about addresses">,
    Option<"report", "report", "std::string", "\"none\"",
           "A file to which a line is added for each function: how it is shown">,
    Option<"witness", "witness", "std::string", "\"none\"",
           "A file for the operations that each kernel implements">,
    Option<"kernels", "kernels", "std::string", "\"none\"",
           "The pass that makes kernels; layout-lower-memrefs if none is named">
  ];
}

def LayoutVerifyLLVM
    : LayoutPass<"check", "layout-verify-llvm", "::mlir::ModuleOp"> {
  let summary = "Report operations that have no translation to LLVM IR";
  let description = [{
    An error at each operation of a dialect that `mlir-translate` does not
    translate to LLVM IR, and at each that defines a tensor or memref or is a
    function of some: upstream's `convert-to-llvm` leaves what it has no
    pattern for as it is, and succeeds.
  }];
}

def LayoutWidenSums
    : LayoutPass<"bufferize", "layout-widen-sums", "::mlir::ModuleOp"> {
  let summary = "Add narrow floating-point numbers in f32";
  let description = [{
    A structured operation on tensors that adds elements of fewer than 32 bits, such
    as a `linalg.matmul` of bf16, adds them in f32. The sum is rounded once, at the
    end; a product is not rounded. The pipelines run the pass with `reassociate`,
    since it changes results by rounding, before what `verify` compares.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

/// Passes and pipelines that run one after another on a module, registered
/// under a name. They have the options of `optionsOf`, `verify`, which runs the
/// passes in `layout-verify`, and `plan` with those of
/// `planOf`; those with `$arena` have `arena`, those with `$weights`
/// `weights`. In their text stand
///   $options  for the options of `optionsOf`,
///   $all      for all options, but `arena` and `weights`,
///   $arena    for where the memory of a call is from,
///   $weights  for layout-export-weights where there is `weights`, and nothing,
///   $sums     for layout-widen-sums with `reassociate`, and nothing,
///   $verified for nothing: `verify` compares the program after the passes
///             before it with that after the last,
///   $choose   for the pass `planOf` with its options where there is `plan`, and
///             layout-remove-conversions,
///   $parallel for convert-scf-to-openmp with `parallel=openmp`, and
///             canonicalize, which removes the scopes of allocas in its loops.
class Pipeline<string name> {
  string argument = name;
  string summary = "";
  PassBase optionsOf = LayoutLowerMemrefs;
  PassBase planOf = LayoutPlan;
  list<string> passes = [];
}

def LayoutToMemref : Pipeline<"layout-to-memref"> {
  let summary = "Lower tensors and memrefs with layouts to plain memrefs";
  let passes = [
    "layout-expand-foreign",
    "$sums",
    "$verified",
    "layout-inline-calls",
    "layout-fold-constants",
    "layout-gather-rows",
    "$choose",
    "layout-partition",
    "layout-shard-to-mpi",
    "layout-fuse-elementwise",
    "layout-prepare-bufferization",
    "convert-elementwise-to-linalg",
    "one-shot-bufferize{bufferize-function-boundaries "
      "allow-return-allocs-from-loops "
      "function-boundary-type-conversion=identity-layout-map "
      "unknown-type-conversion=identity-layout-map "
      "use-encoding-for-memory-space}",
    "cse",
    "canonicalize",
    "layout-lower-memrefs{$options}",
    "cse",
    "func.func(layout-deallocate)",
    "layout-lower-bufferization",
    "$parallel",
    "cse"
  ];
}

def LayoutDistribute : Pipeline<"layout-distribute"> {
  let summary = "Lower tensors and memrefs with TensorLayouts to one program "
                "for every place of the machine: layout-to-memref by another name";
  let passes = ["layout-to-memref{$all}"];
}

def LayoutToLLVM : Pipeline<"layout-to-llvm"> {
  let summary = "Lower tensors and memrefs with layouts to the LLVM dialect";
  let passes = [
    "layout-strip-memory-spaces",
    "layout-to-memref{$all}",
    "layout-convert-to-llvm{arena=$arena}",
    "layout-verify-llvm",
    "$weights"
  ];
}

#endif // LAYOUT_PASSES_TD
