// Quotients and remainders as HLO defines them, and quotients that are rounded down and up: of two arrays, or of
// one and a number.
#all_NAME = affine_map<(i, j) -> (i, j)>
#none_NAME = affine_map<(i, j) -> ()>
func.func @NAME(%a: memref<11x70xTYPE>, %b: memref<11x70xTYPE>, %quotients: memref<11x70xTYPE>,
                %rests: memref<11x70xTYPE>, %floors: memref<11x70xTYPE>, %ceilings: memref<11x70xTYPE>)
    attributes {llvm.emit_c_interface} {
  %number = arith.constant NUMBER : TYPE
  %x = memref.alloc() : memref<11x70xTYPE, #layout.tiled<LAYOUT>>
  %y = memref.alloc() : memref<11x70xTYPE, #layout.tiled<LAYOUT>>
  memref.copy %a, %x : memref<11x70xTYPE> to memref<11x70xTYPE, #layout.tiled<LAYOUT>>
  memref.copy %b, %y : memref<11x70xTYPE> to memref<11x70xTYPE, #layout.tiled<LAYOUT>>
  linalg.generic {indexing_maps = [#all_NAME, #DIVISORS_NAME, #all_NAME, #all_NAME, #all_NAME, #all_NAME],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %DIVISOR : memref<11x70xTYPE, #layout.tiled<LAYOUT>>, DIVTYPE)
      outs(%quotients, %rests, %floors, %ceilings : memref<11x70xTYPE>, memref<11x70xTYPE>, memref<11x70xTYPE>, memref<11x70xTYPE>) {
  ^bb0(%p: TYPE, %q: TYPE, %o0: TYPE, %o1: TYPE, %o2: TYPE, %o3: TYPE):
    %zero = arith.constant 0 : TYPE
    %one = arith.constant 1 : TYPE
    %ones = arith.constant -1 : TYPE
    %least = arith.constant LEAST : TYPE
    %by_zero = arith.cmpi eq, %q, %zero : TYPE
    %is_least = arith.cmpi eq, %p, %least : TYPE
    %by_ones = arith.cmpi eq, %q, %ones : TYPE
    %beyond = arith.andi %is_least, %by_ones : i1
    %signed = arith.constant SIGNED
    %overflows = arith.andi %beyond, %signed : i1
    %undefined = arith.ori %by_zero, %overflows : i1
    %by = arith.select %undefined, %one, %q : TYPE
    %d = arith.divKIND %p, %by : TYPE
    %quotient = arith.select %by_zero, %ones, %d : TYPE
    %m = arith.remKIND %p, %by : TYPE
    %n = arith.select %overflows, %zero, %m : TYPE
    %rest = arith.select %by_zero, %p, %n : TYPE
    %floor = arith.FLOOR %p, %by : TYPE
    %ceiling = arith.ceildivKIND %p, %by : TYPE
    linalg.yield %quotient, %rest, %floor, %ceiling : TYPE, TYPE, TYPE, TYPE
  }
  memref.dealloc %x : memref<11x70xTYPE, #layout.tiled<LAYOUT>>
  memref.dealloc %y : memref<11x70xTYPE, #layout.tiled<LAYOUT>>
  return
}
