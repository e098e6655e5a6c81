#tile = #layout.tiled<{1,0:T(2,4)}>
#wide = #layout.tiled<{1,0:T(4,8)}>
func.func @loads(%x: memref<5x9xf32, #tile>, %y: memref<9x5xf32, #wide>) {
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 9 {
      %a = affine.load %x[%i, %j] : memref<5x9xf32, #tile>
      affine.store %a, %y[%j, %i] : memref<9x5xf32, #wide>
    }
  }
  return
}
func.func @vectors(%x: memref<4x16xf32, #wide>, %y: memref<4x16xf32, #tile>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      %v = affine.vector_load %x[%i, %j * 4] : memref<4x16xf32, #wide>, vector<4xf32>
      affine.vector_store %v, %y[%i, %j * 4] : memref<4x16xf32, #tile>, vector<4xf32>
    }
  }
  %w = affine.vector_load %x[1, 2] : memref<4x16xf32, #wide>, vector<8xf32>
  affine.vector_store %w, %y[2, 4] : memref<4x16xf32, #tile>, vector<8xf32>
  return
}
func.func @transfers(%x: memref<5x11xf32, #tile>, %y: memref<5x11xf32, #wide>, %p: f32) {
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %v = vector.transfer_read %x[%c3, %c6], %p : memref<5x11xf32, #tile>, vector<8xf32>
  vector.transfer_write %v, %y[%c3, %c3] {in_bounds = [true]} : vector<8xf32>, memref<5x11xf32, #wide>
  %m = arith.constant dense<[true, false, true, true]> : vector<4xi1>
  %c1 = arith.constant 1 : index
  %w = vector.transfer_read %x[%c1, %c1], %p, %m {in_bounds = [true]} : memref<5x11xf32, #tile>, vector<4xf32>
  vector.transfer_write %w, %y[%c1, %c6], %m {in_bounds = [true]} : vector<4xf32>, memref<5x11xf32, #wide>
  return
}
func.func @edges(%x: memref<5x7xf32, #tile>, %y: memref<6x9xf32, #wide>, %p: f32) {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %v = vector.transfer_read %x[%c3, %c4], %p : memref<5x7xf32, #tile>, vector<4x4xf32>
  vector.transfer_write %v, %y[%c4, %c3] : vector<4x4xf32>, memref<6x9xf32, #wide>
  return
}
