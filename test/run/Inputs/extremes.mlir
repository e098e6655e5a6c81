// The largest and least numbers of each row and column of an array, in a layout; each beside what is in the result before.
#rows_NAME = affine_map<(i, j) -> (i)>
#columns_NAME = affine_map<(i, j) -> (j)>
#all_NAME = affine_map<(i, j) -> (i, j)>
func.func @NAME(%from: memref<SHAPExTYPE>, %row_max: memref<ROWSxTYPE>, %row_min: memref<ROWSxTYPE>,
                %column_max: memref<COLUMNSxTYPE>, %column_min: memref<COLUMNSxTYPE>)
    attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = memref.dim %from, %zero : memref<SHAPExTYPE>
  %n = memref.dim %from, %one : memref<SHAPExTYPE>
  %x = memref.alloc OPEN : memref<SHAPExTYPE, #layout.tiled<LAYOUT>>
  linalg.copy ins(%from : memref<SHAPExTYPE>) outs(%x : memref<SHAPExTYPE, #layout.tiled<LAYOUT>>)
  linalg.generic {indexing_maps = [#all_NAME, #rows_NAME], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<SHAPExTYPE, #layout.tiled<LAYOUT>>) outs(%row_max : memref<ROWSxTYPE>) {
  ^bb0(%a: TYPE, %b: TYPE):
    %c = arith.maximumf %a, %b : TYPE
    linalg.yield %c : TYPE
  }
  linalg.generic {indexing_maps = [#all_NAME, #rows_NAME], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<SHAPExTYPE, #layout.tiled<LAYOUT>>) outs(%row_min : memref<ROWSxTYPE>) {
  ^bb0(%a: TYPE, %b: TYPE):
    %c = arith.minimumf %b, %a : TYPE
    linalg.yield %c : TYPE
  }
  linalg.generic {indexing_maps = [#all_NAME, #columns_NAME], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<SHAPExTYPE, #layout.tiled<LAYOUT>>) outs(%column_max : memref<COLUMNSxTYPE>) {
  ^bb0(%a: TYPE, %b: TYPE):
    %c = arith.maximumf %b, %a : TYPE
    linalg.yield %c : TYPE
  }
  linalg.generic {indexing_maps = [#all_NAME, #columns_NAME], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<SHAPExTYPE, #layout.tiled<LAYOUT>>) outs(%column_min : memref<COLUMNSxTYPE>) {
  ^bb0(%a: TYPE, %b: TYPE):
    %c = arith.minimumf %a, %b : TYPE
    linalg.yield %c : TYPE
  }
  memref.dealloc %x : memref<SHAPExTYPE, #layout.tiled<LAYOUT>>
  return
}
