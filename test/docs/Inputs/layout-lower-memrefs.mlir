// layout-opt --layout-lower-memrefs
// layout-opt --layout-lower-memrefs=form=physical
#tiled = #layout.tiled<{1,0:T(2,2)}>

func.func @get(%m: memref<3x5xf32, #tiled>, %i: index, %j: index) -> f32 {
  %x = memref.load %m[%i, %j] : memref<3x5xf32, #tiled>
  return %x : f32
}
