//===- Layout.h - The layout dialect --------------------------------------===//
//
// For C++ that uses the dialect: its attributes and operations, and how to
// register it.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_H
#define LAYOUT_DIALECT_LAYOUT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/SCF/IR/DeviceMappingInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/LayoutDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/LayoutAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialect/LayoutOps.h.inc"

#endif // LAYOUT_DIALECT_LAYOUT_H
