// The two programs of a witness: kernels that are what their numbers say, and kernels that are not.
// RUN: layout-opt %s --split-input-file --verify-diagnostics --layout-check-witness -o /dev/null
// RUN: layout-opt %S/verify-copies.mlir --layout-verify="passes={layout-to-memref} remarks=false witness=%t" -o /dev/null
// RUN: layout-opt %t --layout-check-witness -o /dev/null 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: head -n 8 %t > %t.cut && not layout-opt %t.cut --layout-check-witness -o /dev/null 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: not layout-opt %S/verify-copies.mlir --layout-verify="passes={layout-to-memref} kernels=sccp" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: layout-opt %S/../docs/Inputs/layout-plan-memory.mlir --layout-verify="passes={layout-to-memref,layout-plan-memory{arena=argument}} witness=%t.arena" -o /dev/null
// RUN: layout-opt %t.arena --layout-check-witness=arenas -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARENA
// RUN: not layout-opt %t.arena --layout-check-witness -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-ARENA
// ARENA: remark: @two: proved
// NO-ARENA: error: @two: 3 arguments and 0 results, and 2 and 0 before
// NONE: error: kernels names `sccp`, which is not one of the passes
// AGAIN: remark: @waited: executed
// CUT: error:

module {
  module @before {
    func.func @two(%x: memref<8xf32>, %y: memref<8xf32>) {
      linalg.exp {layout.origins = array<i64: 0>} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
      linalg.negf {layout.origins = array<i64: 1>} ins(%y : memref<8xf32>) outs(%x : memref<8xf32>)
      return
    }
  }
  module @after {
    // expected-remark @below {{@two: proved}}
    func.func @two(%x: memref<8xf32>, %y: memref<8xf32>) {
      affine.for %i = 0 to 8 {
        %a = affine.load %x[%i] : memref<8xf32>
        %b = math.exp %a : f32
        affine.store %b, %y[%i] : memref<8xf32>
        %c = arith.negf %b : f32
        affine.store %c, %x[%i] : memref<8xf32>
      } {layout.origins = array<i64: 0, 1>}
      return
    }
  }
}

// -----

// The second loop is not the operation of its number.
module {
  module @before {
    func.func @one_missing(%x: memref<8xf32>, %y: memref<8xf32>) {
      linalg.exp {layout.origins = array<i64: 0>} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
      linalg.negf {layout.origins = array<i64: 1>} ins(%y : memref<8xf32>) outs(%x : memref<8xf32>)
      return
    }
  }
  module @after {
    func.func @one_missing(%x: memref<8xf32>, %y: memref<8xf32>) {
      affine.for %i = 0 to 8 {
        %a = affine.load %x[%i] : memref<8xf32>
        %b = math.exp %a : f32
        affine.store %b, %y[%i] : memref<8xf32>
      } {layout.origins = array<i64: 0>}
      // expected-error @below {{@one_missing: element 7 of argument 0 is %arg0[7], and was arith.negf(math.exp(%arg0[7]))}}
      affine.for %i = 0 to 7 {
        %b = affine.load %y[%i] : memref<8xf32>
        %c = arith.negf %b : f32
        affine.store %c, %x[%i] : memref<8xf32>
      } {layout.origins = array<i64: 1>}
      return
    }
  }
}

// -----

// The same program, with the numbers of another one.
module {
  module @before {
    func.func @other_numbers(%x: memref<8xf32>, %y: memref<8xf32>) {
      linalg.exp {layout.origins = array<i64: 0>} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
      return
    }
  }
  module @after {
    func.func @other_numbers(%x: memref<8xf32>, %y: memref<8xf32>) {
      // expected-error @below {{@other_numbers: affine.for: no operation has the number 4}}
      affine.for %i = 0 to 8 {
        %a = affine.load %x[%i] : memref<8xf32>
        %b = math.exp %a : f32
        affine.store %b, %y[%i] : memref<8xf32>
      } {layout.origins = array<i64: 4>}
      return
    }
  }
}

// -----

// The numbers of two kernels are exchanged: neither is what they say.
module {
  module @before {
    func.func @exchanged(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
      linalg.copy {layout.origins = array<i64: 0>} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
      linalg.copy {layout.origins = array<i64: 1>} ins(%x : memref<8xf32>) outs(%z : memref<8xf32>)
      return
    }
  }
  module @after {
    func.func @exchanged(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
      // expected-error @below {{@exchanged: affine.for: memory 1 of the arguments has}}
      affine.for %i = 0 to 8 {
        %a = affine.load %x[%i] : memref<8xf32>
        affine.store %a, %y[%i] : memref<8xf32>
      } {layout.origins = array<i64: 1>}
      affine.for %i = 0 to 8 {
        %a = affine.load %x[%i] : memref<8xf32>
        affine.store %a, %z[%i] : memref<8xf32>
      } {layout.origins = array<i64: 0>}
      return
    }
  }
}

// -----

// Numbers that no operation has, inside of a loop and on an allocation.
module {
  module @before {
    func.func @inside(%x: memref<8xf32>, %y: memref<8xf32>) {
      linalg.copy {layout.origins = array<i64: 0>} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
      return
    }
    func.func @allocation(%x: memref<8xf32>, %y: memref<8xf32>) {
      linalg.copy {layout.origins = array<i64: 0>} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
      return
    }
  }
  module @after {
    func.func @inside(%x: memref<8xf32>, %y: memref<8xf32>) {
      affine.for %i = 0 to 8 {
        %a = affine.load %x[%i] : memref<8xf32>
        // expected-error @below {{@inside: affine.store: no operation has the number 4}}
        affine.store %a, %y[%i] {layout.origins = array<i64: 4>} : memref<8xf32>
      } {layout.origins = array<i64: 0>}
      return
    }
    func.func @allocation(%x: memref<8xf32>, %y: memref<8xf32>) {
      // expected-error @below {{@allocation: memref.alloc: no operation has the number 5}}
      %m = memref.alloc() {layout.origins = array<i64: 5>} : memref<8xf32>
      memref.dealloc %m : memref<8xf32>
      linalg.copy {layout.origins = array<i64: 0>} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
      return
    }
  }
}

// -----

// Numbers of other types.
module {
  module @before {
    func.func @types(%x: memref<8xf32>, %y: memref<8xf32>) {
      // expected-error @below {{expected layout.origins to be an array<i64: ..>}}
      linalg.copy {layout.origins = 0} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
      return
    }
  }
  module @after {
    func.func @types(%x: memref<8xf32>, %y: memref<8xf32>) {
      affine.for %i = 0 to 8 {
        %a = affine.load %x[%i] : memref<8xf32>
        // expected-error @below {{expected layout.origins to be an array<i64: ..>}}
        affine.store %a, %y[%i] {layout.origins = array<i32: 0>} : memref<8xf32>
      } {layout.origins = array<i64: 0>}
      return
    }
  }
}

// -----

// A function with another argument.
module {
  module @before {
    // expected-error @below {{@another_argument: 3 arguments and 0 results, and 2 and 0 before}}
    func.func @another_argument(%x: f32, %y: memref<8xf32>) {
      linalg.fill {layout.origins = array<i64: 0>} ins(%x : f32) outs(%y : memref<8xf32>)
      return
    }
  }
  module @after {
    func.func @another_argument(%x: f32, %y: memref<8xf32>, %z: i32) {
      linalg.fill {layout.origins = array<i64: 0>} ins(%x : f32) outs(%y : memref<8xf32>)
      return
    }
  }
}

// -----

// expected-error @below {{expected the modules @before and @after, which layout-verify writes with witness=FILE}}
module {
  module @after {
  }
  module @before {
  }
}
