// The integer range analysis crashes on an affine.for whose bound is no constant.
//
// Expected: the module, unchanged. Nothing is known of %n.
// Found, by MLIR 22.1.8: a crash in `IntegerRangeAnalysis::visitNonControlFlowArguments`, with an iteration argument, as
// here, or without. `AffineForOp::getLoopUpperBounds` gives bounds only where they are constants.
//
// Worked around in passes/buffers/index.rs, which asks `InferIntRangeInterface` of one operation at a time and takes the
// bounds of loops from their maps (`loop_interval`); no pipeline has a pass that runs the analysis.
// RUN: not --crash mlir-opt %s --int-range-optimizations 2>&1 | FileCheck %s

// CHECK: IntegerRangeAnalysis::visitNonControlFlowArguments
func.func @last(%n: index, %x: index) -> index {
  %last = affine.for %i = 0 to %n iter_args(%a = %x) -> index {
    affine.yield %i : index
  }
  return %last : index
}
