//===- Place.h - A pass of mini-opt ---------------------------------------===//

#ifndef MINI_PLACE_H
#define MINI_PLACE_H

#include <memory>

namespace mlir {
class Pass;
}

namespace mini {

/// Brings the left operand of every matrix product into tiles, and remarks on
/// where its elements are.
std::unique_ptr<mlir::Pass> createPlace();

} // namespace mini

#endif // MINI_PLACE_H
