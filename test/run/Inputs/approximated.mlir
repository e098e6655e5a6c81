// A function of each element, of f32 and of bf16.
#map_NAME = affine_map<(i) -> (i)>
func.func @NAME_f32(%x: memref<1000xf32>, %y: memref<1000xf32>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [#map_NAME, #map_NAME], iterator_types = ["parallel"]}
      ins(%x : memref<1000xf32>) outs(%y : memref<1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.NAME %a : f32
    linalg.yield %b : f32
  }
  return
}
func.func @NAME_bf16(%x: memref<1000xbf16>, %y: memref<1000xbf16>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [#map_NAME, #map_NAME], iterator_types = ["parallel"]}
      ins(%x : memref<1000xbf16>) outs(%y : memref<1000xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %b = math.NAME %a : bf16
    linalg.yield %b : bf16
  }
  return
}
