// layout-fuse-elementwise: elementwise operations join the one kernel that reads them.
// RUN: layout-opt %s --layout-fuse-elementwise | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0)>
#scalar = affine_map<(d0, d1) -> ()>
#vector = affine_map<(d0) -> (d0)>
#none = affine_map<() -> ()>

// CHECK-DAG: #[[$ID:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$TURNED:.+]] = affine_map<(d0, d1) -> (d1, d0)>

// Both readers of %y are of one kernel: all three are one.
// CHECK-LABEL: func.func @shared
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-NEXT: arith.negf
// CHECK-NEXT: arith.mulf
// CHECK-NOT: linalg.generic
func.func @shared(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %empty = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.negf %a : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  %w = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %z : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %e = arith.mulf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  return %w : tensor<4x4xf32>
}

// Read once, but turned: the kernel reads %x turned.
// CHECK-LABEL: func.func @turned
// CHECK: linalg.generic {indexing_maps = [#[[$TURNED]], #[[$ID]]]
// CHECK: math.exp
// CHECK-NEXT: arith.negf
// CHECK-NOT: linalg.generic
func.func @turned(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %empty = tensor.empty() : tensor<3x5xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<3x5xf32>
  %other = tensor.empty() : tensor<5x3xf32>
  %z = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<3x5xf32>) outs(%other : tensor<5x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.negf %a : f32
    linalg.yield %e : f32
  } -> tensor<5x3xf32>
  return %z : tensor<5x3xf32>
}

// Read at two indices, it would be computed twice; each row is read four times.
// CHECK-LABEL: func.func @again
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK-LABEL: func.func @broadcast
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.negf
func.func @again(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %empty = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #turned, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}
func.func @broadcast(%x: tensor<4xf32>) -> tensor<4x4xf32> {
  %row = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%row : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %empty = tensor.empty() : tensor<4x4xf32>
  %z = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.negf %a : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// What else is read stays, and so does what reads bits, of which no vector is loaded.
// CHECK-LABEL: func.func @returned
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.negf
// CHECK-LABEL: func.func @bits
// CHECK: arith.uitofp
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @returned(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%y : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.negf %a : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
func.func @bits(%x: tensor<4xi4>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%x : tensor<4xi4>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: i4, %b: f32):
    %e = arith.uitofp %a : i4 to f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]} ins(%y, %w : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %e = arith.mulf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// A mask is read where it is used, not copied to all places first.
// CHECK-LABEL: func.func @mask
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}]{{.*}} ins(%arg0, %arg1 : tensor<8xi1>, tensor<4x8xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @mask(%m: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %bits = tensor.empty() : tensor<4x8xi1>
  %all = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<8xi1>) outs(%bits : tensor<4x8xi1>) {
  ^bb0(%a: i1, %b: i1):
    linalg.yield %a : i1
  } -> tensor<4x8xi1>
  %empty = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%all, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%c: i1, %a: f32, %b: f32):
    %n = arith.negf %a : f32
    %e = arith.select %c, %a, %n : f32
    linalg.yield %e : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// %x may be written in between: bufferization would copy it for a kernel that reads it later.
// CHECK-LABEL: func.func @written
// CHECK: math.exp
// CHECK: tensor.insert
// CHECK: linalg.generic
// CHECK: arith.negf
func.func @written(%n: f32, %i: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %x = linalg.generic {indexing_maps = [#vector], iterator_types = ["parallel"]} outs(%empty : tensor<4xf32>) {
  ^bb0(%b: f32):
    %e = math.sin %n : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %u = tensor.insert %n into %x[%i] : tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%y : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.negf %a : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %u, %z : tensor<4xf32>, tensor<4xf32>
}

// A tensor that is filled with a scalar is not read.
// CHECK-LABEL: func.func @filled
// CHECK-SAME: %[[X:.+]]: tensor<4x4xf32>, %[[S:.+]]: tensor<f32>, %[[N:.+]]: f32
// CHECK: %[[E:.+]] = tensor.extract %[[S]][]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[E]], %[[N]] : tensor<4x4xf32>, f32, f32)
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NOT: linalg.generic
func.func @filled(%x: tensor<4x4xf32>, %s: tensor<f32>, %n: f32) -> tensor<4x4xf32> {
  %empty = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#scalar, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<f32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  %f = linalg.fill ins(%n : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %e = arith.mulf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  %w = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%z, %f : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  return %w : tensor<4x4xf32>
}

// Two kernels read %c, whose operands are one matrix and one vector: each computes it, also the one that ends in a sum.
// CHECK-LABEL: func.func @two_kernels
// CHECK-SAME: %[[X:.+]]: tensor<4x4xf32>, %[[M:.+]]: tensor<4xf32>, %{{.+}}: tensor<4x4xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[M]]
// CHECK: arith.subf
// CHECK-NOT: arith.subf
// CHECK: linalg.generic {{.*}} ["parallel", "reduction"]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[M]],
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.mulf
func.func @two_kernels(%x: tensor<4x4xf32>, %m: tensor<4xf32>, %s: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %empty = tensor.empty() : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<4x4xf32>, tensor<4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %e = arith.subf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %s : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %e = arith.mulf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  return %sum, %y : tensor<4xf32>, tensor<4x4xf32>
}

// An exponential is computed once. So is a sum of three matrices, as two kernels would read six in the place of five.
// CHECK-LABEL: func.func @computed_once
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: ["parallel", "reduction"]
// CHECK-LABEL: func.func @three_matrices
// CHECK-COUNT-2: arith.addf
// CHECK: ["parallel", "reduction"]
// CHECK: arith.negf
// CHECK-NOT: arith.addf
func.func @computed_once(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %empty = tensor.empty() : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = arith.negf %a : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  return %sum, %y : tensor<4xf32>, tensor<4x4xf32>
}

func.func @three_matrices(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %empty = tensor.empty() : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y, %z : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %e = arith.addf %a, %b : f32
    %f = arith.addf %e, %d : f32
    linalg.yield %f : f32
  } -> tensor<4x4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.maximumf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = arith.negf %a : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  return %sum, %n : tensor<4xf32>, tensor<4x4xf32>
}

// Dimensions of size 1 are read through; that of a loop of its own, which nothing else sizes, is not.
// CHECK-LABEL: func.func @unit_dims
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$ROW0:.+]], #[[$ID]]]{{.*}} ins(%[[X]] : tensor<4xf32>)
// CHECK: linalg.generic {{.*}} ["parallel", "reduction"]} ins(%{{.*}} : tensor<4x1xf32>)
func.func @unit_dims(%x: tensor<4xf32>, %y: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4x1xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %m = tensor.expand_shape %x [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<4x1xf32>) outs(%empty : tensor<4x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4x1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<4x1xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %n, %sum : tensor<4x1xf32>, tensor<4xf32>
}

// A scalar that two kernels read, each of which computes it.
// CHECK-LABEL: func.func @scalars
// CHECK: arith.addf
// CHECK-NEXT: math.exp
// CHECK: arith.addf
// CHECK-NEXT: arith.negf
func.func @scalars(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %empty = tensor.empty() : tensor<f32>
  %c = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%x : tensor<f32>) outs(%empty : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %e = arith.addf %a, %a : f32
    linalg.yield %e : f32
  } -> tensor<f32>
  %d = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%c : tensor<f32>) outs(%empty : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<f32>
  %n = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%c : tensor<f32>) outs(%empty : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %e = arith.negf %a : f32
    linalg.yield %e : f32
  } -> tensor<f32>
  return %d, %n : tensor<f32>, tensor<f32>
}

// Five sums over rows read %c, which has two operations: ten in the copies of all, so that it stays a tensor.
// CHECK-LABEL: func.func @five_kernels
// CHECK-COUNT-1: arith.mulf
// CHECK-NOT: arith.mulf
func.func @five_kernels(%x: tensor<4x4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<4x4xf32>, tensor<4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %e = arith.mulf %a, %b : f32
    %f = arith.subf %e, %b : f32
    linalg.yield %f : f32
  } -> tensor<4x4xf32>
  %s0 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %s1 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %s2 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %s3 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %s4 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %s0, %s1, %s2, %s3, %s4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The fill of what a sum begins with comes right before the sum; one that two operations take stays.
// CHECK-LABEL: func.func @filled_late
// CHECK: %[[BOTH:.+]] = linalg.fill
// CHECK: tensor.pad
// CHECK: %[[ZERO:.+]] = linalg.fill
// CHECK-NEXT: linalg.matmul {{.*}} outs(%[[ZERO]]
// CHECK: linalg.matmul {{.*}} outs(%[[BOTH]]
// CHECK: return {{.*}}, %[[BOTH]]
func.func @filled_late(%x: tensor<3x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %other = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %both = linalg.fill ins(%one : f32) outs(%other : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = tensor.pad %x low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x4xf32> to tensor<4x4xf32>
  %m = linalg.matmul ins(%p, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = linalg.matmul ins(%p, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%both : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %m, %n, %both : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
