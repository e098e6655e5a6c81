// layout-opt --layout-outline-loops=loops=1
func.func @twice(%x: memref<8xf32>, %y: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    affine.store %0, %y[%i] : memref<8xf32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %y[%i] : memref<8xf32>
    affine.store %0, %x[%i] : memref<8xf32>
  }
  return
}
