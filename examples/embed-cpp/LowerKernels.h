//===- LowerKernels.h - Another pass of mini-opt --------------------------===//

#ifndef MINI_LOWER_KERNELS_H
#define MINI_LOWER_KERNELS_H

#include <memory>

namespace mlir {
class Pass;
}

namespace mini {

/// Lowers operations on whole buffers to loops, and gives these the numbers of
/// the operations.
std::unique_ptr<mlir::Pass> createLowerKernels();

} // namespace mini

#endif // MINI_LOWER_KERNELS_H
