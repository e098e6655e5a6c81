// Tensors of which a plan has copies that cannot be written: they stay in memory space 0, and the plan's report says why.
// RUN: layout-opt %s --split-input-file --layout-plan="machine=tpu_v5e spaces capacity=3200000 report" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.remarks

// A copy may be read until it is done, so what is copied is not written over.
// REPORT: remark: `linalg.matmul` stays in memory space 0: `linalg.matmul` writes over it
// CHECK-LABEL: func.func @over(
// CHECK-COUNT-2: layout.convert %{{x|w|arg.}} {async
// CHECK-NOT: async
// CHECK: return
func.func @over(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %z = linalg.fill ins(%0 : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %a = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %b = linalg.matmul ins(%a, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %c = linalg.matmul ins(%b, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %d = linalg.matmul ins(%c, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.matmul ins(%d, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%a : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// -----

// What is made in the buffer of an operand is in the memory that this is in.
// REPORT: remark: `tensor.insert_slice` stays in memory space 0: it may be in the buffer of an operand
// CHECK-LABEL: func.func @insert(
// CHECK-COUNT-2: layout.convert %{{x|w|arg.}} {async
// CHECK-NOT: async
// CHECK: return
func.func @insert(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %z = linalg.fill ins(%0 : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %q = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %s = tensor.extract_slice %x[0, 0] [8, 512] [1, 1] : tensor<512x512xf32> to tensor<8x512xf32>
  %a = tensor.insert_slice %s into %q[0, 0] [8, 512] [1, 1] : tensor<8x512xf32> into tensor<512x512xf32>
  %b = linalg.matmul ins(%a, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %c = linalg.matmul ins(%b, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %d = linalg.matmul ins(%c, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %g = linalg.matmul ins(%d, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.matmul ins(%g, %a : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
