// layout-annotate-loops: loops with vectors inside say so, those around them too; others, and annotated ones, do not change.
// RUN: layout-opt %s --layout-annotate-loops | FileCheck %s
// In LLVM IR it is metadata of the branch back, and unrolling leaves such a loop.
// RUN: layout-opt %s --layout-to-llvm | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=IR

// CHECK-DAG: #[[KEPT:.*]] = #llvm.loop_annotation<disableNonforced = true>
// CHECK-DAG: #[[OWN:.*]] = #llvm.loop_annotation<mustProgress = true>

// CHECK-LABEL: func.func @vectors(
// CHECK: scf.for %{{.*}} {
// CHECK: vector.load
// CHECK: } {loop_annotation = #[[KEPT]]}
// CHECK: memref.store
// CHECK-NEXT: }{{$}}
// CHECK: scf.if
// CHECK: vector.store
// CHECK: } {loop_annotation = #[[OWN]]}
// CHECK-NEXT: } {loop_annotation = #[[KEPT]]}
// IR-LABEL: define void @vectors(
// IR: load <4 x float>
// IR: br label {{.*}}, !llvm.loop ![[FIRST:[0-9]+]]
// IR: store float
// IR: br label %{{[0-9]+}}{{$}}
// IR: store <4 x float>
// IR: br label {{.*}}, !llvm.loop ![[SECOND:[0-9]+]]
// IR: br label {{.*}}, !llvm.loop ![[FIRST]]
// IR: ![[FIRST]] = distinct !{![[FIRST]], ![[NONFORCED:[0-9]+]]}
// IR: ![[NONFORCED]] = !{!"llvm.loop.disable_nonforced"}
// IR: ![[SECOND]] = distinct !{![[SECOND]], ![[PROGRESS:[0-9]+]]}
// IR: ![[PROGRESS]] = !{!"llvm.loop.mustprogress"}
#own = #llvm.loop_annotation<mustProgress = true>
func.func @vectors(%m: memref<64xf32>, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %one = arith.constant 1.0 : f32
  %sum = scf.for %i = %c0 to %n step %c4 iter_args(%s = %zero) -> (vector<4xf32>) {
    %x = vector.load %m[%i] : memref<64xf32>, vector<4xf32>
    %y = arith.addf %s, %x : vector<4xf32>
    scf.yield %y : vector<4xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %one, %m[%i] : memref<64xf32>
  }
  scf.for %i = %c0 to %n step %c4 {
    scf.for %j = %c0 to %i step %c4 {
      scf.if %c {
        vector.store %sum, %m[%j] : memref<64xf32>, vector<4xf32>
      }
    } {loop_annotation = #own}
  }
  return
}
