// Stores into memrefs whose elements share bytes: one element, and in parallel all whose indices have an even sum.

func.func @store_row4(%m: memref<3x5xi4, #layout.tiled<{1,0:E(4)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i4
  memref.store %e, %m[%i, %j] : memref<3x5xi4, #layout.tiled<{1,0:E(4)}>>
  return
}
func.func @board_row4(%m: memref<3x5xi4, #layout.tiled<{1,0:E(4)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i4
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 3 : index
  %columns = arith.constant 5 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<3x5xi4, #layout.tiled<{1,0:E(4)}>>
    }
  }
  return
}
func.func @store_line4(%m: memref<1x9xi4, #layout.tiled<{1,0:E(4)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i4
  memref.store %e, %m[%i, %j] : memref<1x9xi4, #layout.tiled<{1,0:E(4)}>>
  return
}
func.func @board_line4(%m: memref<1x9xi4, #layout.tiled<{1,0:E(4)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i4
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 1 : index
  %columns = arith.constant 9 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<1x9xi4, #layout.tiled<{1,0:E(4)}>>
    }
  }
  return
}
func.func @store_columns2(%m: memref<3x5xi2, #layout.tiled<{0,1:E(2)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i2
  memref.store %e, %m[%i, %j] : memref<3x5xi2, #layout.tiled<{0,1:E(2)}>>
  return
}
func.func @board_columns2(%m: memref<3x5xi2, #layout.tiled<{0,1:E(2)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i2
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 3 : index
  %columns = arith.constant 5 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<3x5xi2, #layout.tiled<{0,1:E(2)}>>
    }
  }
  return
}
func.func @store_row1(%m: memref<5x7xi1, #layout.tiled<{1,0:E(1)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i1
  memref.store %e, %m[%i, %j] : memref<5x7xi1, #layout.tiled<{1,0:E(1)}>>
  return
}
func.func @board_row1(%m: memref<5x7xi1, #layout.tiled<{1,0:E(1)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i1
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 5 : index
  %columns = arith.constant 7 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<5x7xi1, #layout.tiled<{1,0:E(1)}>>
    }
  }
  return
}
func.func @store_tiles1(%m: memref<4x6xi1, #layout.tiled<{1,0:T(2,4)E(1)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i1
  memref.store %e, %m[%i, %j] : memref<4x6xi1, #layout.tiled<{1,0:T(2,4)E(1)}>>
  return
}
func.func @board_tiles1(%m: memref<4x6xi1, #layout.tiled<{1,0:T(2,4)E(1)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i1
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 4 : index
  %columns = arith.constant 6 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<4x6xi1, #layout.tiled<{1,0:T(2,4)E(1)}>>
    }
  }
  return
}
func.func @store_deep2(%m: memref<4x8xi2, #layout.tiled<{1,0:T(4,4)(2,1)E(2)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i2
  memref.store %e, %m[%i, %j] : memref<4x8xi2, #layout.tiled<{1,0:T(4,4)(2,1)E(2)}>>
  return
}
func.func @board_deep2(%m: memref<4x8xi2, #layout.tiled<{1,0:T(4,4)(2,1)E(2)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i2
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 4 : index
  %columns = arith.constant 8 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<4x8xi2, #layout.tiled<{1,0:T(4,4)(2,1)E(2)}>>
    }
  }
  return
}
func.func @store_wide4(%m: memref<3x5xi1, #layout.tiled<{1,0:E(4)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i1
  memref.store %e, %m[%i, %j] : memref<3x5xi1, #layout.tiled<{1,0:E(4)}>>
  return
}
func.func @board_wide4(%m: memref<3x5xi1, #layout.tiled<{1,0:E(4)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i1
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 3 : index
  %columns = arith.constant 5 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<3x5xi1, #layout.tiled<{1,0:E(4)}>>
    }
  }
  return
}
func.func @store_wide2(%m: memref<3x5xi1, #layout.tiled<{1,0:E(2)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i1
  memref.store %e, %m[%i, %j] : memref<3x5xi1, #layout.tiled<{1,0:E(2)}>>
  return
}
func.func @board_wide2(%m: memref<3x5xi1, #layout.tiled<{1,0:E(2)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i1
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 3 : index
  %columns = arith.constant 5 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<3x5xi1, #layout.tiled<{1,0:E(2)}>>
    }
  }
  return
}
func.func @store_float4(%m: memref<3x5xf4E2M1FN, #layout.tiled<{1,0:E(4)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %b = arith.trunci %v : i8 to i4
  %e = arith.bitcast %b : i4 to f4E2M1FN
  memref.store %e, %m[%i, %j] : memref<3x5xf4E2M1FN, #layout.tiled<{1,0:E(4)}>>
  return
}
func.func @board_float4(%m: memref<3x5xf4E2M1FN, #layout.tiled<{1,0:E(4)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %b = arith.trunci %v : i8 to i4
  %e = arith.bitcast %b : i4 to f4E2M1FN
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 3 : index
  %columns = arith.constant 5 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<3x5xf4E2M1FN, #layout.tiled<{1,0:E(4)}>>
    }
  }
  return
}
func.func @store_prefix4(%m: memref<2x3xi4, #layout.tiled<{1,0:E(4)M(16)}>>, %i: index, %j: index, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i4
  memref.store %e, %m[%i, %j] : memref<2x3xi4, #layout.tiled<{1,0:E(4)M(16)}>>
  return
}
func.func @board_prefix4(%m: memref<2x3xi4, #layout.tiled<{1,0:E(4)M(16)}>>, %v: i8) attributes {llvm.emit_c_interface} {
  %e = arith.trunci %v : i8 to i4
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 2 : index
  %columns = arith.constant 3 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%rows, %columns) step (%one, %one) {
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %even = arith.cmpi eq, %rest, %zero : index
    scf.if %even {
      memref.store %e, %m[%i, %j] : memref<2x3xi4, #layout.tiled<{1,0:E(4)M(16)}>>
    }
  }
  return
}
