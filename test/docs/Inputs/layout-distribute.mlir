// layout-opt --layout-distribute
#rows = #layout.tensor_layout<((4_PE, 3:8), (8:1))>

func.func @double(%x: tensor<12x8xf32, #rows>) -> tensor<12x8xf32, #rows> {
  %y = arith.addf %x, %x : tensor<12x8xf32, #rows>
  return %y : tensor<12x8xf32, #rows>
}
