// layout-opt --layout-inline-calls
func.func @larger(%x: index, %y: index) -> (index, index) {
  %0 = call @one_more(%x) : (index) -> index
  %1 = call @one_more(%y) : (index) -> index
  return %0, %1 : index, index
}
func.func private @one_more(%x: index) -> index {
  %one = arith.constant 1 : index
  %more = arith.addi %x, %one : index
  return %more : index
}
