func.func @f(%idx: memref<100xi32>, %other: memref<10xi32>, %x: memref<100xf32>, %y: memref<100xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0.0 : f32
  %k32 = memref.load %idx[%c0] : memref<100xi32>
  %k = arith.index_cast %k32 : i32 to index
  %n = memref.load %other[%c0] : memref<10xi32>
  %none = arith.constant 0 : i32
  %s = scf.while (%i = %n) : (i32) -> i32 {
    %goes = arith.cmpi ne, %i, %none : i32
    scf.condition(%goes) %i : i32
  } do {
  ^bb0(%i: i32):
    %v = memref.load %x[%k] : memref<100xf32>
    memref.store %v, %x[%c0] : memref<100xf32>
    %one = arith.constant 1 : i32
    %j = arith.subi %i, %one : i32
    scf.yield %j : i32
  }
  %least = affine.max affine_map<(d0) -> (d0, 0)>(%k)
  %at = affine.min affine_map<(d0) -> (d0, 99)>(%least)
  %r = memref.load %y[%at] : memref<100xf32>
  return %r : f32
}
// -----
// remark: not proved
func.func @f(%idx: memref<100xi32>, %other: memref<10xi32>, %x: memref<100xf32>, %y: memref<100xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0.0 : f32
  %k32 = memref.load %idx[%c0] : memref<100xi32>
  %k = arith.index_cast %k32 : i32 to index
  %n = memref.load %other[%c0] : memref<10xi32>
  %none = arith.constant 0 : i32
  %s = scf.while (%i = %n) : (i32) -> i32 {
    %goes = arith.cmpi ne, %i, %none : i32
    scf.condition(%goes) %i : i32
  } do {
  ^bb0(%i: i32):
    %v = memref.load %x[%k] : memref<100xf32>
    memref.store %v, %x[%c0] : memref<100xf32>
    %one = arith.constant 1 : i32
    %j = arith.subi %i, %one : i32
    scf.yield %j : i32
  }
  %r = memref.load %y[%k] : memref<100xf32>
  return %r : f32
}
