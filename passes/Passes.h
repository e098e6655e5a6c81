//===- Passes.h - Passes over the layout dialect --------------------------===//
//
// For C++ that runs the passes: their constructors and their registration.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PASSES_PASSES_H
#define LAYOUT_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace layout {

/// What a tiled memref is lowered to; the numbers are Rust's as well.
enum class Form : int { strided = 0, physical = 1 };

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

/// Registers the passes and the pipelines, by name.
void registerLayoutPassesAndPipelines();

} // namespace layout

#endif // LAYOUT_PASSES_PASSES_H
