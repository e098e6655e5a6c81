#tile = #layout.tiled<{1,0:T(2,4)}>
#wide = #layout.tiled<{1,0:T(4,8)}>
#turned = #layout.tiled<{0,1:T(4,8)}>
#map = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (i)>
func.func @rows(%x: tensor<6x37xf32, #tile>, %s: tensor<6xf32>) -> tensor<6xf32> {
  %z = linalg.reduce ins(%x : tensor<6x37xf32, #tile>) outs(%s : tensor<6xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %c = arith.addf %b, %a : f32 linalg.yield %c : f32 }
  return %z : tensor<6xf32>
}
func.func @columns(%x: tensor<7x21xf32, #wide>, %s: tensor<21xf32>) -> tensor<21xf32> {
  %z = linalg.reduce ins(%x : tensor<7x21xf32, #wide>) outs(%s : tensor<21xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %c = arith.addf %b, %a : f32 linalg.yield %c : f32 }
  return %z : tensor<21xf32>
}
func.func @all(%x: tensor<5x6x7xf32>, %s: tensor<6xf32>) -> tensor<6xf32> {
  %z = linalg.reduce ins(%x : tensor<5x6x7xf32>) outs(%s : tensor<6xf32>) dimensions = [0, 2]
    (%a: f32, %b: f32) { %c = arith.addf %b, %a : f32 linalg.yield %c : f32 }
  return %z : tensor<6xf32>
}
func.func @greatest(%x: tensor<5x41xf32, #wide>) -> tensor<5xf32> {
  %c = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<5xf32>
  %s = linalg.fill ins(%c : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %z = linalg.reduce ins(%x : tensor<5x41xf32, #wide>) outs(%s : tensor<5xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %m = arith.maximumf %a, %b : f32 linalg.yield %m : f32 }
  return %z : tensor<5xf32>
}
func.func @least(%x: tensor<41x5xf32>, %s: tensor<5xf32>) -> tensor<5xf32> {
  %z = linalg.reduce ins(%x : tensor<41x5xf32>) outs(%s : tensor<5xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %m = arith.minimumf %a, %b : f32 linalg.yield %m : f32 }
  return %z : tensor<5xf32>
}
func.func @integers(%x: tensor<5x39xi32, #turned>, %s: tensor<5xi32>) -> tensor<5xi32> {
  %z = linalg.reduce ins(%x : tensor<5x39xi32, #turned>) outs(%s : tensor<5xi32>) dimensions = [1]
    (%a: i32, %b: i32) { %c = arith.addi %b, %a : i32 linalg.yield %c : i32 }
  return %z : tensor<5xi32>
}
func.func @factors(%x: tensor<3x23xi32, #wide>, %s: tensor<3xi32>) -> tensor<3xi32> {
  %z = linalg.reduce ins(%x : tensor<3x23xi32, #wide>) outs(%s : tensor<3xi32>) dimensions = [1]
    (%a: i32, %b: i32) { %c = arith.muli %b, %a : i32 linalg.yield %c : i32 }
  return %z : tensor<3xi32>
}
func.func @scaled(%x: tensor<6x20xf32>, %y: tensor<6xf32>) -> tensor<6xf32, #layout.tiled<{0:T(4)}>> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %s = linalg.fill ins(%c : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %z = linalg.reduce ins(%x : tensor<6x20xf32>) outs(%s : tensor<6xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %d = arith.addf %b, %a : f32 linalg.yield %d : f32 }
  %f = tensor.empty() : tensor<6xf32, #layout.tiled<{0:T(4)}>>
  %w = linalg.sub ins(%z, %y : tensor<6xf32>, tensor<6xf32>) outs(%f : tensor<6xf32, #layout.tiled<{0:T(4)}>>) -> tensor<6xf32, #layout.tiled<{0:T(4)}>>
  return %w : tensor<6xf32, #layout.tiled<{0:T(4)}>>
}
func.func @softmax(%x: tensor<6x35xf32, #tile>) -> tensor<6x35xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = tensor.empty() : tensor<6x35xf32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %m = linalg.reduce ins(%x : tensor<6x35xf32, #tile>) outs(%l : tensor<6xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %c = arith.maximumf %a, %b : f32 linalg.yield %c : f32 }
  %p = linalg.generic {indexing_maps = [#map, #column, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<6x35xf32, #tile>, tensor<6xf32>) outs(%f : tensor<6x35xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %g = math.exp %d : f32
    linalg.yield %g : f32
  } -> tensor<6x35xf32>
  %n = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.reduce ins(%p : tensor<6x35xf32>) outs(%n : tensor<6xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %c = arith.addf %b, %a : f32 linalg.yield %c : f32 }
  %z = linalg.generic {indexing_maps = [#map, #column, #map], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<6x35xf32>, tensor<6xf32>) outs(%f : tensor<6x35xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<6x35xf32>
  return %z : tensor<6x35xf32>
}
