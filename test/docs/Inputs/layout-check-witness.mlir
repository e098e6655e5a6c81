// layout-opt --layout-check-witness
module {
  module @before {
    func.func @negated(%x: memref<8xf32>, %y: memref<8xf32>) {
      linalg.negf {layout.origins = array<i64: 0>} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
      return
    }
  }
  module @after {
    func.func @negated(%x: memref<8xf32>, %y: memref<8xf32>) {
      affine.for %i = 0 to 8 {
        %a = affine.load %x[%i] : memref<8xf32>
        %b = arith.negf %a : f32
        affine.store %b, %y[%i] : memref<8xf32>
      } {layout.origins = array<i64: 0>}
      return
    }
  }
}
