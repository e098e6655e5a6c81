//===- Passes.td - Passes over the layout dialect -------------------------===//
//
// The one list of passes and their options. Every body is one call into Rust.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PASSES_TD
#define LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def LayoutLowerMemrefs : Pass<"layout-lower-memrefs", "::mlir::ModuleOp"> {
  let summary = "Lower memrefs with tiled layouts to strided or physical ones";
  let description = [{
    Gives each memref with a `#layout.tiled` layout one dimension for each part
    of its tiled sizes, and each with a `#layout.tensor_layout` one for each axis
    of the machine and then one for each part inside a place; rewrites what uses
    it. What cannot be lowered is an error at that operation, and the module
    stays as it was.
  }];
  let options = [
    Option<"form", "form", "::layout::Form", "::layout::Form::strided",
           "What a tiled memref becomes", [{::llvm::cl::values(
             clEnumValN(::layout::Form::strided, "strided",
               "parts in logical order, with the strides of the layout"),
             clEnumValN(::layout::Form::physical, "physical",
               "parts in memory order, without strides"))}]>,
    Option<"vectorize", "vectorize", "::layout::Target",
           "::layout::Target::none", "Emit vector code for this machine",
           [{::llvm::cl::values(
             clEnumValN(::layout::Target::none, "none",
               "no vector code: loops over single elements"),
             clEnumValN(::layout::Target::avx2, "avx2",
               "x86-64 with AVX2 and FMA: 16 registers of 256 bits"),
             clEnumValN(::layout::Target::avx512, "avx512",
               "x86-64 with AVX-512: 32 registers of 512 bits"),
             clEnumValN(::layout::Target::neon, "neon",
               "AArch64 with Neon: 32 registers of 128 bits"))}]>,
    Option<"vectorBits", "vector-bits", "uint32_t", "0",
           "Vector code: the bits of a vector, a power of two from 64 to 2048; "
           "0: as the machine has">,
    Option<"vectorRegisters", "vector-registers", "uint32_t", "0",
           "Vector code: the vectors that registers hold, 8 to 64; 0: as the "
           "machine has">,
    Option<"reassociate", "reassociate", "bool", "false",
           "Let reductions in floating point add in another order, which changes "
           "results by rounding: in vector code, and at the places of a machine">,
    Option<"contract", "contract", "bool", "false",
           "Vector code: let a product and a sum be one operation with one "
           "rounding (fma)">,
    Option<"cacheBytes", "cache-bytes", "uint64_t", "0",
           "Vector code: fetch what has more bytes than this ahead, and write "
           "it with streaming stores; 0: nothing">,
    Option<"parallel", "parallel", "::layout::Parallel",
           "::layout::Parallel::none",
           "Vector code: what outer loops become whose iterations may run at the "
           "same time", [{::llvm::cl::values(
             clEnumValN(::layout::Parallel::none, "none",
               "loops like others"),
             clEnumValN(::layout::Parallel::loops, "parallel", "scf.parallel"),
             clEnumValN(::layout::Parallel::forall, "forall", "scf.forall"))}]>
  ];
  let dependentDialects = [
    "::layout::LayoutDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LayoutPrepareBufferization
    : Pass<"layout-prepare-bufferization", "::mlir::ModuleOp"> {
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
    "::layout::LayoutDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def LayoutDeallocate : Pass<"layout-deallocate", "::mlir::func::FuncOp"> {
  let summary = "Free what bufferization allocated";
  let description = [{
    Runs upstream's ownership-based deallocation on a function, unless the
    function had no tensors before `layout-prepare-bufferization` and lowering
    allocated nothing in it: such a function frees its buffers itself.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def LayoutExpandClones : Pass<"layout-expand-clones", "::mlir::ModuleOp"> {
  let summary = "Expand bufferization.clone of strided buffers";
  let description = [{
    Turns each clone of a memref with a `strided` layout and offset 0, which
    `convert-bufferization-to-memref` refuses, into an allocation with the same
    strides and a copy.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
}

def LayoutSimplifyIndexing : Pass<"layout-simplify-indexing"> {
  let summary = "Simplify index arithmetic by known ranges";
  let description = [{
    Simplifies the maps of `affine.apply`, `min`, `max`, `if`, `for`, loads and
    stores, and `affine.linearize_index` and `delinearize_index`, with the
    intervals and steps of enclosing loops, static sizes, and the ranges that
    operations infer through upstream's `InferIntRangeInterface`. A map changes
    only where the result is cheaper: a division or remainder costs 3, any other
    operation 1.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"
  ];
}

def LayoutIndexingAnalysis : Pass<"layout-indexing-analysis"> {
  let summary = "Say which elements every operation on tensors reads and feeds";
  let description = [{
    Attaches to each operation with tensors `layout.reads`, from an index of a
    result to the elements of an operand that it is made of, and `layout.feeds`,
    from an index of an operand to the elements of a result that it goes into:
    an array for each result, in it one for each operand, in it the
    `#layout.indexing_map`s, whose points together are the answer. None means
    that nothing is read; `UNDEFINED` that no finite map says it.
  }];
  let options = [
    Option<"report", "report", "bool", "false",
           "Print remarks, with reasons and where run-time values come from, "
           "and attach nothing">
  ];
  let dependentDialects = ["::layout::LayoutDialect"];
}

def LayoutMaskAsIntegers
    : Pass<"layout-mask-as-integers", "::mlir::ModuleOp"> {
  let summary = "Load and store masked vectors of small floats as integers";
  let description = [{
    Masked loads and stores in the LLVM dialect of vectors of `bf16`, `f16` and
    smaller floats become such of integers with as many bits, between
    `llvm.bitcast`s. LLVM 22 cannot shuffle 256 bits of `bf16` on machines with
    AVX512-BF16; of integers it can.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LayoutStripMemorySpaces
    : Pass<"layout-strip-memory-spaces", "::mlir::ModuleOp"> {
  let summary = "Put all buffers in the one memory of a CPU";
  let description = [{
    Removes `#layout.memory_space` from all memref types, so that they can be
    lowered to LLVM, and `layout.machine` from the module.
  }];
  let dependentDialects = ["::layout::LayoutDialect"];
}

def LayoutVerifyLLVM : Pass<"layout-verify-llvm", "::mlir::ModuleOp"> {
  let summary = "Report operations that have no translation to LLVM IR";
  let description = [{
    An error at each operation of a dialect that `mlir-translate` does not
    translate to LLVM IR: upstream's `convert-to-llvm` leaves what it has no
    pattern for as it is, and succeeds.
  }];
}

#endif // LAYOUT_PASSES_TD
