// A norm and a softmax of rows, and the logarithm of a sum of exponentials, which is another array's too: of an array of three
// dimensions in a layout.
#all_NAME = affine_map<(h, i, j) -> (h, i, j)>
#rows_NAME = affine_map<(h, i, j) -> (h, i)>
#last_NAME = affine_map<(h, i, j) -> (j)>
#pairs_NAME = affine_map<(h, i) -> (h, i)>
#T_NAME = #layout.tiled<LAYOUT>
func.func @NAME(%a: memref<3x45x200xf32>, %g: memref<200xf32>, %y: memref<3x45x200xf32>, %z: memref<3x45xf32>)
    attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %n = arith.constant 200.0 : f32
  %x = memref.alloc() : memref<3x45x200xf32, #T_NAME>
  linalg.copy ins(%a : memref<3x45x200xf32>) outs(%x : memref<3x45x200xf32, #T_NAME>)
  %s = memref.alloc() : memref<3x45xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<3x45xf32>)
  linalg.reduce {arith.addf} ins(%x : memref<3x45x200xf32, #T_NAME>) outs(%s : memref<3x45xf32>) dimensions = [2]
  %h = memref.alloc() : memref<200xf32>
  linalg.add ins(%g, %g : memref<200xf32>, memref<200xf32>) outs(%h : memref<200xf32>)
  %d = memref.alloc() : memref<3x45x200xf32, #T_NAME>
  linalg.generic {indexing_maps = [#all_NAME, #rows_NAME, #last_NAME, #all_NAME], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s, %h : memref<3x45x200xf32, #T_NAME>, memref<3x45xf32>, memref<200xf32>) outs(%d : memref<3x45x200xf32, #T_NAME>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %o: f32):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %m = arith.divf %q, %n : f32
    %e = arith.subf %p, %m : f32
    %t = arith.mulf %e, %r : f32
    %u = arith.addf %t, %f : f32
    linalg.yield %u : f32
  }
  %m = memref.alloc() : memref<3x45xf32>
  linalg.fill ins(%least : f32) outs(%m : memref<3x45xf32>)
  linalg.reduce {arith.maximumf} ins(%d : memref<3x45x200xf32, #T_NAME>) outs(%m : memref<3x45xf32>) dimensions = [2]
  linalg.generic {indexing_maps = [#all_NAME, #rows_NAME, #all_NAME], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %m : memref<3x45x200xf32, #T_NAME>, memref<3x45xf32>) outs(%d : memref<3x45x200xf32, #T_NAME>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %e = arith.subf %o, %q : f32
    %t = math.exp %e : f32
    %u = arith.addf %t, %p : f32
    linalg.yield %u : f32
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<3x45xf32>)
  linalg.reduce {arith.addf} ins(%d : memref<3x45x200xf32, #T_NAME>) outs(%s : memref<3x45xf32>) dimensions = [2]
  linalg.generic {indexing_maps = [#pairs_NAME, #pairs_NAME, #pairs_NAME], iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : memref<3x45xf32>, memref<3x45xf32>) outs(%z : memref<3x45xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#all_NAME, #rows_NAME, #all_NAME], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%d, %s : memref<3x45x200xf32, #T_NAME>, memref<3x45xf32>) outs(%y : memref<3x45x200xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.divf %p, %q : f32
    linalg.yield %t : f32
  }
  memref.dealloc %x : memref<3x45x200xf32, #T_NAME>
  memref.dealloc %s : memref<3x45xf32>
  memref.dealloc %h : memref<200xf32>
  memref.dealloc %d : memref<3x45x200xf32, #T_NAME>
  memref.dealloc %m : memref<3x45xf32>
  return
}
