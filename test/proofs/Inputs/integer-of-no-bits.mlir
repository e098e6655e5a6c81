func.func @f(%k: memref<1xi0>) {
  %z = arith.constant 0 : i0
  return
}
// -----
// same
func.func @f(%k: memref<1xi0>) {
  %z = arith.constant 0 : i0
  return
}
