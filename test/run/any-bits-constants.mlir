// Constants of elements that begin in one byte and end in another.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} \
// RUN:   | FileCheck %s

#three = #layout.tiled<{1,0:E(3)}>
#twelve = #layout.tiled<{0,1:T(2,4)E(12)}>
#seventeen = #layout.tiled<{1,0:T(2,2)E(17)M(3)}>

memref.global "private" constant @three : memref<3x5xi3, #three> = dense<[[1, 2, 3, 4, 5], [6, 7, 0, 7, 6], [5, 4, 3, 2, 1]]>
memref.global "private" constant @twelve : memref<2x3xi12, #twelve> = dense<[[-1, 1000, 2], [-2048, 2047, 5]]>
memref.global "private" constant @seventeen : memref<2x3xi16, #seventeen> = dense<[[-1, 1, 32767], [-32768, 4660, 0]]>
memref.global "private" constant @same : memref<2x3xi16, #seventeen> = dense<-12345>

func.func @main() {
  %i = arith.constant 0 : index
  %z = arith.constant 0 : i16
  // CHECK: ( ( 1, 2, 3, 4, 5 ), ( 6, 7, 0, 7, 6 ), ( 5, 4, 3, 2, 1 ) )
  %three = memref.get_global @three : memref<3x5xi3, #three>
  %a = memref.alloc() : memref<3x5xi16>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%three : memref<3x5xi3, #three>) outs(%a : memref<3x5xi16>) {
  ^bb0(%x: i3, %o: i16):
    %w = arith.extui %x : i3 to i16
    linalg.yield %w : i16
  }
  %av = vector.transfer_read %a[%i, %i], %z {in_bounds = [true, true]} : memref<3x5xi16>, vector<3x5xi16>
  vector.print %av : vector<3x5xi16>

  // CHECK: ( ( -1, 1000, 2 ), ( -2048, 2047, 5 ) )
  %twelve = memref.get_global @twelve : memref<2x3xi12, #twelve>
  %b = memref.alloc() : memref<2x3xi16>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%twelve : memref<2x3xi12, #twelve>) outs(%b : memref<2x3xi16>) {
  ^bb0(%x: i12, %o: i16):
    %w = arith.extsi %x : i12 to i16
    linalg.yield %w : i16
  }
  %bv = vector.transfer_read %b[%i, %i], %z {in_bounds = [true, true]} : memref<2x3xi16>, vector<2x3xi16>
  vector.print %bv : vector<2x3xi16>

  // CHECK: ( ( -1, 1, 32767 ), ( -32768, 4660, 0 ) )
  %seventeen = memref.get_global @seventeen : memref<2x3xi16, #seventeen>
  linalg.copy ins(%seventeen : memref<2x3xi16, #seventeen>) outs(%b : memref<2x3xi16>)
  %cv = vector.transfer_read %b[%i, %i], %z {in_bounds = [true, true]} : memref<2x3xi16>, vector<2x3xi16>
  vector.print %cv : vector<2x3xi16>

  // CHECK: ( ( -12345, -12345, -12345 ), ( -12345, -12345, -12345 ) )
  %same = memref.get_global @same : memref<2x3xi16, #seventeen>
  linalg.copy ins(%same : memref<2x3xi16, #seventeen>) outs(%b : memref<2x3xi16>)
  %dv = vector.transfer_read %b[%i, %i], %z {in_bounds = [true, true]} : memref<2x3xi16>, vector<2x3xi16>
  vector.print %dv : vector<2x3xi16>
  memref.dealloc %a : memref<3x5xi16>
  memref.dealloc %b : memref<2x3xi16>
  return
}
