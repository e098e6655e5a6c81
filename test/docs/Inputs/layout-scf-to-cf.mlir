// layout-opt --layout-scf-to-cf
func.func @one(%condition: i1, %x: i32, %y: i32) -> i32 {
  %0 = scf.if %condition -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  return %0 : i32
}
