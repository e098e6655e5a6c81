// The functions that Inputs/small-floats.c calls, for a type: TYPE stands for it and NAME for a part of their names.

#line = #layout.tiled<{0:T(128)}>
#square = #layout.tiled<{1,0:T(8,128)}>

func.func @extend_NAME(%x: memref<?xTYPE>, %y: memref<?xf32>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xTYPE>) outs(%y : memref<?xf32>) {
  ^bb0(%in: TYPE, %out: f32):
    %w = arith.extf %in : TYPE to f32
    linalg.yield %w : f32
  }
  return
}

func.func @extend64_NAME(%x: memref<?xTYPE>, %y: memref<?xf64>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xTYPE>) outs(%y : memref<?xf64>) {
  ^bb0(%in: TYPE, %out: f64):
    %w = arith.extf %in : TYPE to f64
    linalg.yield %w : f64
  }
  return
}

func.func @truncate_NAME(%x: tensor<?xf32>, %y: memref<?xTYPE>) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %t = layout.convert %x : tensor<?xf32> to tensor<?xf32, #line>
  %r = arith.truncf %t : tensor<?xf32, #line> to tensor<?xTYPE, #line>
  %p = layout.convert %r : tensor<?xTYPE, #line> to tensor<?xTYPE>
  bufferization.materialize_in_destination %p in restrict writable %y : (tensor<?xTYPE>, memref<?xTYPE>) -> ()
  return
}

func.func @truncate64_NAME(%x: memref<?xf64>, %y: memref<?xTYPE>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xf64>) outs(%y : memref<?xTYPE>) {
  ^bb0(%in: f64, %out: TYPE):
    %w = arith.truncf %in : f64 to TYPE
    linalg.yield %w : TYPE
  }
  return
}

func.func @pairs_NAME(%x: memref<?xTYPE>, %sum: memref<?x?xTYPE>, %product: memref<?x?xTYPE>, %fused: memref<?x?xTYPE>,
                      %most: memref<?x?xTYPE>, %less: memref<?x?xi8>) attributes {llvm.emit_c_interface} {
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>,
                     affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                     affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %x : memref<?xTYPE>, memref<?xTYPE>)
    outs(%sum, %product, %fused, %most, %less
         : memref<?x?xTYPE>, memref<?x?xTYPE>, memref<?x?xTYPE>, memref<?x?xTYPE>, memref<?x?xi8>) {
  ^bb0(%a: TYPE, %b: TYPE, %o0: TYPE, %o1: TYPE, %o2: TYPE, %o3: TYPE, %o4: i8):
    %s = arith.addf %a, %b : TYPE
    %p = arith.mulf %a, %b : TYPE
    %f = math.fma %a, %b, %a : TYPE
    %m = arith.maximumf %a, %b : TYPE
    %l = arith.cmpf olt, %a, %b : TYPE
    %c = arith.extui %l : i1 to i8
    linalg.yield %s, %p, %f, %m, %c : TYPE, TYPE, TYPE, TYPE, i8
  }
  return
}
