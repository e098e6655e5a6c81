memref.global "private" constant @c : memref<0x4xi32> = dense<>
func.func @f() {
  %m = memref.get_global @c : memref<0x4xi32>
  return
}
// -----
// same
memref.global "private" constant @c : memref<4x0xi32> = dense<>
func.func @f() {
  %m = memref.get_global @c : memref<4x0xi32>
  return
}
