// The functions that Inputs/any-bits.c calls, for a type: SHAPE, ELEMENT and LAYOUT stand for its parts, OPEN for
// the operands of its allocation, of the sizes %a, %b and %c, and NAME for its name.

!packed_NAME = memref<SHAPExELEMENT, #layout.tiled<LAYOUT>>

func.func @store_NAME(%m: !packed_NAME, %i: index, %j: index, %k: index, %v: i64) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i64 to ELEMENT
  memref.store %e, %m[%i, %j, %k] : !packed_NAME
  return
}

func.func @load_NAME(%m: !packed_NAME, %i: index, %j: index, %k: index) -> i64 attributes {llvm.emit_c_interface} {
  %e = memref.load %m[%i, %j, %k] : !packed_NAME
  %v = arith.extui %e : ELEMENT to i64
  return %v : i64
}

// All elements whose indices have an even sum, in any order.
func.func @board_NAME(%m: !packed_NAME, %v: i64) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i64 to ELEMENT
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %a = memref.dim %m, %zero : !packed_NAME
  %b = memref.dim %m, %one : !packed_NAME
  %c = memref.dim %m, %two : !packed_NAME
  scf.parallel (%i, %j, %k) = (%zero, %zero, %zero) to (%a, %b, %c) step (%one, %one, %one) {
    %ij = arith.addi %i, %j : index
    %sum = arith.addi %ij, %k : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j, %k] : !packed_NAME
    }
  }
  return
}

func.func @pack_NAME(%x: memref<SHAPExi64>, %m: !packed_NAME) attributes {llvm.emit_c_interface} {
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<SHAPExi64>) outs(%m : !packed_NAME) {
  ^bb0(%v: i64, %o: ELEMENT):
    %e = arith.trunci %v : i64 to ELEMENT
    linalg.yield %e : ELEMENT
  }
  return
}

// Through a buffer of its own, which is allocated: the result is what is read of it.
func.func @through_NAME(%x: memref<SHAPExi64>, %y: memref<SHAPExi64>) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %a = memref.dim %x, %zero : memref<SHAPExi64>
  %b = memref.dim %x, %one : memref<SHAPExi64>
  %c = memref.dim %x, %two : memref<SHAPExi64>
  %m = memref.alloc OPEN : !packed_NAME
  call @pack_NAME(%x, %m) : (memref<SHAPExi64>, !packed_NAME) -> ()
  call @unpack_NAME(%m, %y) : (!packed_NAME, memref<SHAPExi64>) -> ()
  memref.dealloc %m : !packed_NAME
  return
}

func.func @unpack_NAME(%m: !packed_NAME, %y: memref<SHAPExi64>) attributes {llvm.emit_c_interface} {
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m : !packed_NAME) outs(%y : memref<SHAPExi64>) {
  ^bb0(%e: ELEMENT, %o: i64):
    %v = arith.extui %e : ELEMENT to i64
    linalg.yield %v : i64
  }
  return
}
