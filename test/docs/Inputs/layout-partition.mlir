// layout-opt --layout-partition
#rows = #layout.tensor_layout<((4_Process, 16:64), (64:1))>
#columns = #layout.tensor_layout<((64:16), (4_Process, 16:1))>
#weights = #layout.tensor_layout<((4_Process, 16:32), (32:1))>
#result = #layout.tensor_layout<((4_Process, 16:32), (32:1))>

module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  func.func @layer(%x: tensor<64x64xf32, #columns>, %w: tensor<64x32xf32, #weights>) -> tensor<64x32xf32, #result> {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32, #result>
    %y = linalg.matmul ins(%x, %w : tensor<64x64xf32, #columns>, tensor<64x32xf32, #weights>)
        outs(%zero : tensor<64x32xf32, #result>) -> tensor<64x32xf32, #result>
    return %y : tensor<64x32xf32, #result>
  }
  func.func @again(%x: tensor<64x64xf32, #rows>) -> tensor<64x64xf32, #columns> {
    %y = layout.convert %x : tensor<64x64xf32, #rows> to tensor<64x64xf32, #columns>
    return %y : tensor<64x64xf32, #columns>
  }
}
