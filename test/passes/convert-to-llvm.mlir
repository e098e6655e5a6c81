// layout-convert-to-llvm: private functions are no symbols for the linker, where another module may have one of that name.
// RUN: layout-opt %s --layout-to-llvm | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=IR

// CHECK: llvm.func internal @twice(
// CHECK: llvm.func weak @named(
// CHECK: llvm.func @elsewhere(
// CHECK: llvm.func @entry(
// IR-DAG: declare float @elsewhere(float)
// IR-DAG: define internal float @twice(
// IR-DAG: define weak float @named(
// IR-DAG: define float @entry(
func.func private @twice(%x: f32) -> f32 attributes {no_inline} {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
func.func private @named(%x: f32) -> f32 attributes {no_inline, llvm.linkage = #llvm.linkage<weak>} {
  return %x : f32
}
func.func private @elsewhere(f32) -> f32
func.func @entry(%x: f32) -> f32 {
  %a = call @twice(%x) : (f32) -> f32
  %b = call @named(%a) : (f32) -> f32
  %c = call @elsewhere(%b) : (f32) -> f32
  return %c : f32
}
