// RUN: layout-opt %S/round-trip.mlir --emit-bytecode -o %t
// RUN: layout-opt %t --mlir-print-local-scope | FileCheck %S/round-trip.mlir
// RUN: head -c 2 %t | FileCheck %s

// CHECK: ML
