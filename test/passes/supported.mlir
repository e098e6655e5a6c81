// What the README says is lowered, each operation once or more, all the way to LLVM and in both forms.
// RUN: layout-opt %s --layout-to-llvm | FileCheck %s '--implicit-check-not=memref{{[.<]}}' --implicit-check-not=tensor.
// RUN: layout-opt %s --layout-to-llvm=form=physical \
// RUN:   | FileCheck %s '--implicit-check-not=memref{{[.<]}}' --implicit-check-not=tensor.

#t = #layout.tiled<{1,0:T(2,2)}>
#c = #layout.tiled<{0,1:T(4,2)}>
#line = #layout.tiled<{0:T(4)}>
#cube = #layout.tiled<{2,1,0:T(2,2)}>
#big = #layout.tiled<{1,0:T(8,128)}>

// CHECK-LABEL: llvm.func @named
func.func @named(%a: tensor<3x5xf32, #t>, %b: tensor<5x3xf32, #c>, %v: tensor<3xf32>) -> tensor<3x3xf32, #t> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x3xf32, #t>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x3xf32, #t>) -> tensor<3x3xf32, #t>
  %product = linalg.matmul ins(%a, %b : tensor<3x5xf32, #t>, tensor<5x3xf32, #c>)
                           outs(%start : tensor<3x3xf32, #t>) -> tensor<3x3xf32, #t>
  %turned = linalg.transpose ins(%product : tensor<3x3xf32, #t>) outs(%empty : tensor<3x3xf32, #t>) permutation = [1, 0]
  %sum = linalg.reduce { arith.addf } ins(%turned : tensor<3x3xf32, #t>) outs(%v : tensor<3xf32>) dimensions = [1]
  %spread = linalg.broadcast ins(%sum : tensor<3xf32>) outs(%empty : tensor<3x3xf32, #t>) dimensions = [0]
  %mapped = linalg.map { arith.mulf } ins(%spread, %turned : tensor<3x3xf32, #t>, tensor<3x3xf32, #t>)
                                      outs(%empty : tensor<3x3xf32, #t>)
  return %mapped : tensor<3x3xf32, #t>
}

// CHECK-LABEL: llvm.func @elementwise
func.func @elementwise(%a: tensor<3x5xf32, #t>) -> tensor<3x5xf32, #c> {
  %constant = arith.constant dense<2.0> : tensor<3x5xf32, #t>
  %sum = arith.addf %a, %constant : tensor<3x5xf32, #t>
  %exponential = math.exp %sum : tensor<3x5xf32, #t>
  %other = layout.convert %exponential : tensor<3x5xf32, #t> to tensor<3x5xf32, #c>
  return %other : tensor<3x5xf32, #c>
}

// CHECK-LABEL: llvm.func @elements
func.func @elements(%x: f32, %i: index) -> (tensor<2x2xf32, #t>, tensor<3x5xf32, #t>, index) {
  %made = tensor.from_elements %x, %x, %x, %x : tensor<2x2xf32, #t>
  %splat = tensor.splat %x : tensor<3x5xf32, #t>
  %y = tensor.extract %splat[%i, %i] : tensor<3x5xf32, #t>
  %inserted = tensor.insert %y into %splat[%i, %i] : tensor<3x5xf32, #t>
  %one = arith.constant 1 : index
  %size = tensor.dim %inserted, %one : tensor<3x5xf32, #t>
  return %made, %inserted, %size : tensor<2x2xf32, #t>, tensor<3x5xf32, #t>, index
}

// CHECK-LABEL: llvm.func @shapes
func.func @shapes(%a: tensor<3x5xf32, #t>, %x: f32, %i: index)
    -> (tensor<5x7xf32, #t>, tensor<15xf32, #line>, tensor<3x1x5xf32, #cube>, tensor<?x5xf32>) {
  %slice = tensor.extract_slice %a[%i, 0] [1, 3] [1, 1] : tensor<3x5xf32, #t> to tensor<1x3xf32, #t>
  %put = tensor.insert_slice %slice into %a[0, %i] [1, 3] [1, 1] : tensor<1x3xf32, #t> into tensor<3x5xf32, #t>
  %padded = tensor.pad %put low[1, 1] high[1, 1] {
  ^bb0(%k: index, %l: index):
    tensor.yield %x : f32
  } : tensor<3x5xf32, #t> to tensor<5x7xf32, #t>
  %flat = tensor.collapse_shape %put [[0, 1]] : tensor<3x5xf32, #t> into tensor<15xf32, #line>
  %more = tensor.expand_shape %put [[0, 1], [2]] output_shape [3, 1, 5]
    : tensor<3x5xf32, #t> into tensor<3x1x5xf32, #cube>
  %plain = layout.convert %put : tensor<3x5xf32, #t> to tensor<3x5xf32>
  %cast = tensor.cast %plain : tensor<3x5xf32> to tensor<?x5xf32>
  return %padded, %flat, %more, %cast
    : tensor<5x7xf32, #t>, tensor<15xf32, #line>, tensor<3x1x5xf32, #cube>, tensor<?x5xf32>
}

// CHECK-LABEL: llvm.func @control
func.func @control(%a: tensor<3x5xf32, #t>, %n: index, %if: i1) -> tensor<3x5xf32, #t> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %for = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> tensor<3x5xf32, #t> {
    %y = arith.mulf %x, %x : tensor<3x5xf32, #t>
    scf.yield %y : tensor<3x5xf32, #t>
  }
  %while:2 = scf.while (%x = %for, %i = %one) : (tensor<3x5xf32, #t>, index) -> (tensor<3x5xf32, #t>, index) {
    %less = arith.cmpi slt, %i, %n : index
    scf.condition(%less) %x, %i : tensor<3x5xf32, #t>, index
  } do {
  ^bb0(%x: tensor<3x5xf32, #t>, %i: index):
    %y = arith.addf %x, %a : tensor<3x5xf32, #t>
    %next = arith.addi %i, %one : index
    scf.yield %y, %next : tensor<3x5xf32, #t>, index
  }
  %switch = scf.index_switch %n -> tensor<3x5xf32, #t>
  case 1 {
    scf.yield %while#0 : tensor<3x5xf32, #t>
  }
  default {
    scf.yield %a : tensor<3x5xf32, #t>
  }
  %region = scf.execute_region -> tensor<3x5xf32, #t> {
    %y = math.exp %switch : tensor<3x5xf32, #t>
    scf.yield %y : tensor<3x5xf32, #t>
  }
  %branch = scf.if %if -> tensor<3x5xf32, #t> {
    scf.yield %region : tensor<3x5xf32, #t>
  } else {
    %y = func.call @identity(%a) : (tensor<3x5xf32, #t>) -> tensor<3x5xf32, #t>
    scf.yield %y : tensor<3x5xf32, #t>
  }
  cf.cond_br %if, ^join(%branch : tensor<3x5xf32, #t>), ^other
^other:
  cf.br ^join(%a : tensor<3x5xf32, #t>)
^join(%result: tensor<3x5xf32, #t>):
  return %result : tensor<3x5xf32, #t>
}

func.func private @identity(%a: tensor<3x5xf32, #t>) -> tensor<3x5xf32, #t> {
  return %a : tensor<3x5xf32, #t>
}

memref.global "private" constant @ones : memref<3x5xf32, #t> = dense<1.0>

// CHECK-LABEL: llvm.func @buffers
func.func @buffers(%a: memref<3x5xf32, #t>, %i: index, %if: i1) -> index {
  %local = memref.alloca() : memref<3x5xf32, #t>
  %heap = memref.alloc() : memref<3x5xf32, #c>
  %ones = memref.get_global @ones : memref<3x5xf32, #t>
  memref.copy %ones, %local : memref<3x5xf32, #t> to memref<3x5xf32, #t>
  memref.copy %a, %heap : memref<3x5xf32, #t> to memref<3x5xf32, #c>
  %x = memref.load %a[%i, %i] : memref<3x5xf32, #t>
  memref.store %x, %local[%i, %i] : memref<3x5xf32, #t>
  affine.for %k = 0 to 3 {
    %y = affine.load %heap[%k, %k + 1] : memref<3x5xf32, #c>
    affine.store %y, %local[%k, 2 * %k] : memref<3x5xf32, #t>
  }
  linalg.add ins(%a, %local : memref<3x5xf32, #t>, memref<3x5xf32, #t>) outs(%heap : memref<3x5xf32, #c>)
  %either = arith.select %if, %a, %local : memref<3x5xf32, #t>
  func.call @reads(%either) : (memref<3x5xf32, #t>) -> ()
  %one = arith.constant 1 : index
  %size = memref.dim %either, %one : memref<3x5xf32, #t>
  memref.dealloc %heap : memref<3x5xf32, #c>
  return %size : index
}

func.func private @reads(%a: memref<3x5xf32, #t>) {
  return
}

// CHECK-LABEL: llvm.func @vectors
func.func @vectors(%a: memref<16x256xf32, #big>, %b: memref<16x256xf32, #layout.tiled<{1,0}>>, %i: index) {
  %zero = arith.constant 0.0 : f32
  %read = vector.transfer_read %a[%i, %i], %zero : memref<16x256xf32, #big>, vector<8xf32>
  vector.transfer_write %read, %a[%i, %i] : vector<8xf32>, memref<16x256xf32, #big>
  %affine = affine.vector_load %a[8, 128] : memref<16x256xf32, #big>, vector<8xf32>
  affine.vector_store %affine, %a[0, 0] : memref<16x256xf32, #big>, vector<8xf32>
  %load = vector.load %b[%i, %i] : memref<16x256xf32, #layout.tiled<{1,0}>>, vector<8xf32>
  vector.store %load, %b[%i, %i] : memref<16x256xf32, #layout.tiled<{1,0}>>, vector<8xf32>
  return
}
