// The functions that Inputs/upper-bits.c calls, for a type: ELEMENT has BITS bits and takes STORED; NAME is its name.

!own_NAME = memref<5x37xELEMENT, #layout.tiled<{1,0:E(STORED)}>>
!turned_NAME = memref<5x37xELEMENT, #layout.tiled<{0,1:E(STORED)}>>
!tiled_NAME = memref<5x37xELEMENT, #layout.tiled<{1,0:T(2,8)E(STORED)}>>
!packed_NAME = memref<5x37xELEMENT, #layout.tiled<{1,0:E(BITS)}>>
!plain_NAME = memref<5x37xELEMENT>

func.func @load_NAME(%m: !own_NAME, %i: index, %j: index) -> i64 attributes {llvm.emit_c_interface} {
  %e = memref.load %m[%i, %j] : !own_NAME
  %v = arith.extui %e : ELEMENT to i64
  return %v : i64
}

func.func @unsigned_NAME(%m: !own_NAME, %y: memref<5x37xi64>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%m : !own_NAME) outs(%y : memref<5x37xi64>) {
  ^bb0(%e: ELEMENT, %o: i64):
    %v = arith.extui %e : ELEMENT to i64
    linalg.yield %v : i64
  }
  return
}

func.func @signed_NAME(%m: !own_NAME, %y: memref<5x37xi64>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%m : !own_NAME) outs(%y : memref<5x37xi64>) {
  ^bb0(%e: ELEMENT, %o: i64):
    %v = arith.extsi %e : ELEMENT to i64
    linalg.yield %v : i64
  }
  return
}

// Sums of rows: a reduction.
func.func @sums_NAME(%m: !own_NAME, %y: memref<5xi64>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%m : !own_NAME) outs(%y : memref<5xi64>) {
  ^bb0(%e: ELEMENT, %o: i64):
    %v = arith.extui %e : ELEMENT to i64
    %s = arith.addi %o, %v : i64
    linalg.yield %s : i64
  }
  return
}

// A slice of a tensor with the layout, in the memory of the argument.
func.func @slice_NAME(%m: tensor<5x37xELEMENT, #layout.tiled<{1,0:E(STORED)}>>) -> tensor<3x20xi64>
    attributes {llvm.emit_c_interface} {
  %s = tensor.extract_slice %m[1, 3] [3, 20] [1, 1]
      : tensor<5x37xELEMENT, #layout.tiled<{1,0:E(STORED)}>> to tensor<3x20xELEMENT, #layout.tiled<{1,0:E(STORED)}>>
  %e = tensor.empty() : tensor<3x20xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<3x20xELEMENT, #layout.tiled<{1,0:E(STORED)}>>) outs(%e : tensor<3x20xi64>) {
  ^bb0(%x: ELEMENT, %o: i64):
    %v = arith.extui %x : ELEMENT to i64
    linalg.yield %v : i64
  } -> tensor<3x20xi64>
  return %r : tensor<3x20xi64>
}

// One layout: every byte is that of an element.
func.func @copy_NAME(%m: !own_NAME, %to: !own_NAME) attributes {llvm.emit_c_interface} {
  memref.copy %m, %to : !own_NAME to !own_NAME
  return
}

func.func @turn_NAME(%m: !own_NAME, %to: !turned_NAME) attributes {llvm.emit_c_interface} {
  linalg.copy ins(%m : !own_NAME) outs(%to : !turned_NAME)
  return
}

// To these layouts and back.
func.func @tiles_NAME(%m: !own_NAME, %to: !own_NAME) attributes {llvm.emit_c_interface} {
  %a = memref.alloc() : !tiled_NAME
  linalg.copy ins(%m : !own_NAME) outs(%a : !tiled_NAME)
  linalg.copy ins(%a : !tiled_NAME) outs(%to : !own_NAME)
  memref.dealloc %a : !tiled_NAME
  return
}

func.func @packed_NAME(%m: !own_NAME, %to: !own_NAME) attributes {llvm.emit_c_interface} {
  %a = memref.alloc() : !packed_NAME
  linalg.copy ins(%m : !own_NAME) outs(%a : !packed_NAME)
  linalg.copy ins(%a : !packed_NAME) outs(%to : !own_NAME)
  memref.dealloc %a : !packed_NAME
  return
}

func.func @plain_NAME(%m: !own_NAME, %to: !own_NAME) attributes {llvm.emit_c_interface} {
  %a = memref.alloc() : !plain_NAME
  memref.copy %m, %a : !own_NAME to !plain_NAME
  memref.copy %a, %to : !plain_NAME to !own_NAME
  memref.dealloc %a : !plain_NAME
  return
}

// Computed and written again.
func.func @again_NAME(%m: !own_NAME, %to: !own_NAME) attributes {llvm.emit_c_interface} {
  %c = arith.constant 1 : ELEMENT
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%m : !own_NAME) outs(%to : !own_NAME) {
  ^bb0(%e: ELEMENT, %o: ELEMENT):
    %v = arith.xori %e, %c : ELEMENT
    %w = arith.xori %v, %c : ELEMENT
    linalg.yield %w : ELEMENT
  }
  return
}
