memref.global "private" constant @g : memref<4x4xi32, #layout.tiled<{1,0:T(2,2)}>> = dense<[[0,1,2,3],[4,5,6,7],[8,9,10,11],[12,13,14,15]]>
func.func @f() -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = memref.get_global @g : memref<4x4xi32, #layout.tiled<{1,0:T(2,2)}>>
  %h = builtin.unrealized_conversion_cast %g : memref<4x4xi32, #layout.tiled<{1,0:T(2,2)}>> to memref<2x2x2x2xi32>
  %v = memref.load %g[%c1, %c0] : memref<4x4xi32, #layout.tiled<{1,0:T(2,2)}>>
  return %v : i32
}
// -----
// remark: a global in a layout
func.func @f() -> i32 {
  %c = arith.constant 2 : i32
  return %c : i32
}
// -----
// remark: a global in a layout
func.func @f() -> i32 {
  %c = arith.constant 4 : i32
  return %c : i32
}
