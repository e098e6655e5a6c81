//===- MiniOps.h - Operations of mini-opt ---------------------------------===//

#ifndef MINI_OPS_H
#define MINI_OPS_H

#include "layout/LayoutOpInterface.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "MiniDialect.h.inc"
#define GET_OP_CLASSES
#include "MiniOps.h.inc"

#endif // MINI_OPS_H
