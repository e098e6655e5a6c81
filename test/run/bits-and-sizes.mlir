// Packed elements, sizes that only the running program knows, and operations on tensors that upstream's bufferization
// lowers with layouts when it is helped.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#bits = #layout.tiled<{1,0:T(4,4)(4,1)E(1)}>
#nibbles = #layout.tiled<{0,1:T(2,4)E(4)}>
#tiles = #layout.tiled<{1,0:T(2,4)}>

func.func private @mask(%x: tensor<3x5xi8>) -> tensor<3x5xi1, #bits> {
  %three = arith.constant dense<3> : tensor<3x5xi8>
  %m = arith.cmpi sgt, %x, %three : tensor<3x5xi8>
  %c = layout.convert %m : tensor<3x5xi1> to tensor<3x5xi1, #bits>
  return %c : tensor<3x5xi1, #bits>
}

func.func private @grow(%x: tensor<?x?xi8, #tiles>, %n: index, %m: index) -> tensor<?x?xi8, #tiles> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %g = tensor.generate %n, %m {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i8
    tensor.yield %v : i8
  } : tensor<?x?xi8, #tiles>
  %c = tensor.concat dim(0) %x, %g : (tensor<?x?xi8, #tiles>, tensor<?x?xi8, #tiles>) -> tensor<?x?xi8, #tiles>
  return %c : tensor<?x?xi8, #tiles>
}

func.func private @rows(%x: tensor<4x4xi8, #tiles>) -> tensor<4x4xi8, #tiles> {
  %v = arith.constant dense<9> : tensor<1x2xi8>
  %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4x4xi8, #tiles> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i, 1] [1, 2] [1, 1] : tensor<1x2xi8> into tensor<4x4xi8, #tiles>
    }
  }
  return %r : tensor<4x4xi8, #tiles>
}

// Iterations that write to the same bytes: rows 0 and 1 of a column share one, and so do rows 2 and 3.
func.func private @nibble_rows(%x: tensor<4x4xi4, #nibbles>) -> tensor<4x4xi4, #nibbles> {
  %v = arith.constant dense<5> : tensor<1x2xi4>
  %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4x4xi4, #nibbles> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i, 1] [1, 2] [1, 1] : tensor<1x2xi4> into tensor<4x4xi4, #nibbles>
    }
  }
  return %r : tensor<4x4xi4, #nibbles>
}

func.func private @print(%x: tensor<?x?xi8>) {
  %i = arith.constant 0 : index
  %z = arith.constant -1 : i8
  %v = vector.transfer_read %x[%i, %i], %z : tensor<?x?xi8>, vector<5x5xi8>
  vector.print %v : vector<5x5xi8>
  return
}

func.func @main() {
  %x = arith.constant dense<[[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [6, 0, 6, 0, 6]]> : tensor<3x5xi8>
  %mask = call @mask(%x) : (tensor<3x5xi8>) -> tensor<3x5xi1, #bits>
  %n = arith.trunci %x : tensor<3x5xi8> to tensor<3x5xi4>
  %packed = layout.convert %n : tensor<3x5xi4> to tensor<3x5xi4, #nibbles>
  %minus = arith.constant dense<-1> : tensor<3x5xi4, #nibbles>
  %m = layout.convert %mask : tensor<3x5xi1, #bits> to tensor<3x5xi1, #nibbles>
  %chosen = arith.select %m, %packed, %minus : tensor<3x5xi1, #nibbles>, tensor<3x5xi4, #nibbles>
  %unpacked = layout.convert %chosen : tensor<3x5xi4, #nibbles> to tensor<3x5xi4>
  %plain = arith.extsi %unpacked : tensor<3x5xi4> to tensor<3x5xi8>
  %d = tensor.cast %plain : tensor<3x5xi8> to tensor<?x?xi8>
  // CHECK: ( ( -1, -1, -1, 4, 5 ), ( 5, 4, -1, -1, -1 ), ( 6, -1, 6, -1, 6 ), ( -1, -1, -1, -1, -1 ), ( -1, -1, -1, -1, -1 ) )
  call @print(%d) : (tensor<?x?xi8>) -> ()

  %two = arith.constant 2 : index
  %five = arith.constant 5 : index
  %tiled = layout.convert %d : tensor<?x?xi8> to tensor<?x?xi8, #tiles>
  %grown = call @grow(%tiled, %two, %five) : (tensor<?x?xi8, #tiles>, index, index) -> tensor<?x?xi8, #tiles>
  %row_major = layout.convert %grown : tensor<?x?xi8, #tiles> to tensor<?x?xi8>
  // CHECK: ( ( -1, -1, -1, 4, 5 ), ( 5, 4, -1, -1, -1 ), ( 6, -1, 6, -1, 6 ), ( 0, 1, 2, 3, 4 ), ( 1, 2, 3, 4, 5 ) )
  call @print(%row_major) : (tensor<?x?xi8>) -> ()

  // The size of a dimension that the program chooses, of all of them the rows.
  %zero = arith.constant 0 : index
  %which = call @choose(%zero) : (index) -> index
  %size = tensor.dim %grown, %which : tensor<?x?xi8, #tiles>
  // CHECK: 5
  vector.print %size : index

  %zeros = arith.constant dense<0> : tensor<4x4xi8, #tiles>
  %some = call @rows(%zeros) : (tensor<4x4xi8, #tiles>) -> tensor<4x4xi8, #tiles>
  %pad = arith.constant -2 : i8
  %read = vector.transfer_read %some[%two, %zero], %pad : tensor<4x4xi8, #tiles>, vector<3x5xi8>
  // CHECK: ( ( 0, 9, 9, 0, -2 ), ( 0, 9, 9, 0, -2 ), ( -2, -2, -2, -2, -2 ) )
  vector.print %read : vector<3x5xi8>
  %written = vector.transfer_write %read, %some[%zero, %zero] : vector<3x5xi8>, tensor<4x4xi8, #tiles>
  %again = vector.transfer_read %written[%zero, %zero], %pad {in_bounds = [true, true]} : tensor<4x4xi8, #tiles>, vector<4x4xi8>
  // CHECK: ( ( 0, 9, 9, 0 ), ( 0, 9, 9, 0 ), ( -2, -2, -2, -2 ), ( 0, 9, 9, 0 ) )
  vector.print %again : vector<4x4xi8>

  %ones = arith.constant dense<1> : tensor<4x4xi4, #nibbles>
  %fives = call @nibble_rows(%ones) : (tensor<4x4xi4, #nibbles>) -> tensor<4x4xi4, #nibbles>
  %loose = layout.convert %fives : tensor<4x4xi4, #nibbles> to tensor<4x4xi4>
  %wide = arith.extsi %loose : tensor<4x4xi4> to tensor<4x4xi8>
  %any = tensor.cast %wide : tensor<4x4xi8> to tensor<?x?xi8>
  // CHECK: ( ( 1, 5, 5, 1, -1 ), ( 1, 5, 5, 1, -1 ), ( 1, 5, 5, 1, -1 ), ( 1, 5, 5, 1, -1 ), ( -1, -1, -1, -1, -1 ) )
  call @print(%any) : (tensor<?x?xi8>) -> ()
  return
}
func.func private @choose(%i: index) -> index {
  return %i : index
}
