// layout-expand-floats: what computes with floats of 4, 6 and 8 bits computes in f32, and conversions are integer arithmetic. What is
// rounded in another way than to the nearest, and from more than 64 bits, is refused. The values: test/run/small-floats.test.
// RUN: layout-opt %s --split-input-file --layout-expand-floats --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @sum
// CHECK-NOT: arith.extf
// CHECK: arith.bitcast %{{.*}} : f8E4M3FN to i8
// CHECK: arith.addf %{{.*}} : f32
// CHECK-NOT: arith.truncf
// CHECK: arith.bitcast %{{.*}} : i8 to f8E4M3FN
func.func @sum(%x: f8E4M3FN, %y: f8E4M3FN) -> f8E4M3FN {
  %0 = arith.addf %x, %y : f8E4M3FN
  return %0 : f8E4M3FN
}

// Vectors; f16 and bf16 stay.
// CHECK-LABEL: func @lanes
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK: math.exp %{{.*}} : vector<8xbf16>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
func.func @lanes(%x: vector<8xf8E5M2>, %y: vector<8xbf16>) -> (vector<8xf8E5M2>, vector<8xbf16>, vector<8xf16>) {
  %0 = math.exp %x : vector<8xf8E5M2>
  %1 = math.exp %y : vector<8xbf16>
  %2 = arith.extf %0 : vector<8xf8E5M2> to vector<8xf16>
  return %0, %1, %2 : vector<8xf8E5M2>, vector<8xbf16>, vector<8xf16>
}

// A small number is one of bf16, the upper half of the one of f32: nothing is rounded.
// CHECK-LABEL: func @to_bf16
// CHECK-NOT: arith.truncf
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
func.func @to_bf16(%x: f8E5M2) -> bf16 {
  %0 = arith.extf %x : f8E5M2 to bf16
  return %0 : bf16
}

// A number of bf16 is shifted: LLVM would round an extension to bf16 again, where a subnormal number is 0.
// CHECK-LABEL: func @from_bf16
// CHECK-SAME: %[[X:.*]]: bf16
// CHECK-NOT: arith.extf
// CHECK: %[[UPPER:.*]] = arith.bitcast %[[X]] : bf16 to i16
// CHECK: %[[CODE:.*]] = arith.extui %[[UPPER]] : i16 to i32
// CHECK: arith.shli %[[CODE]]
func.func @from_bf16(%x: bf16) -> f8E8M0FNU {
  %0 = arith.truncf %x : bf16 to f8E8M0FNU
  return %0 : f8E8M0FNU
}

// From f64 in one step.
// CHECK-LABEL: func @once
// CHECK: arith.bitcast %{{.*}} : f64 to i64
// CHECK-NOT: f32
// CHECK: return
func.func @once(%x: f64) -> f6E2M3FN {
  %0 = arith.truncf %x : f64 to f6E2M3FN
  return %0 : f6E2M3FN
}

// A number is clamped on all types: the lower bound comes first.
// CHECK-LABEL: func @clamp(
// CHECK-SAME: %[[X:.*]]: vector<8xf32>, %[[LO:.*]]: vector<8xf32>, %[[HI:.*]]: vector<8xf32>, %{{.*}}: f8E4M3FN
// CHECK: %[[MAX:.*]] = arith.maximumf %[[X]], %[[LO]] fastmath<nsz> : vector<8xf32>
// CHECK: arith.minimumf %[[MAX]], %[[HI]] fastmath<nsz> : vector<8xf32>
// CHECK: arith.maximumf %{{.*}} : f32
// CHECK: arith.minimumf %{{.*}} : f32
func.func @clamp(%x: vector<8xf32>, %lo: vector<8xf32>, %hi: vector<8xf32>, %y: f8E4M3FN, %z: f8E4M3FN) -> (vector<8xf32>, f8E4M3FN) {
  %0 = math.clampf %x to [%lo, %hi] fastmath<nsz> : vector<8xf32>
  %1 = math.clampf %y to [%z, %y] : f8E4M3FN
  return %0, %1 : vector<8xf32>, f8E4M3FN
}

// What only moves stays.
// CHECK-LABEL: func @moved
// CHECK-NEXT: arith.constant 1.000000e+00 : f8E5M2
// CHECK-NEXT: arith.select
func.func @moved(%x: f8E5M2, %c: i1) -> f8E5M2 {
  %one = arith.constant 1.0 : f8E5M2
  %0 = arith.select %c, %one, %x : f8E5M2
  return %0 : f8E5M2
}

// -----

func.func @away(%x: f32) -> f8E5M2 {
  // expected-error@+1 {{'arith.truncf' op cannot be lowered: numbers of f8E5M2 are rounded to_nearest_even alone}}
  %0 = arith.truncf %x to_nearest_away : f32 to f8E5M2
  return %0 : f8E5M2
}

// -----

func.func @quad(%x: f128) -> f8E5M2 {
  // expected-error@+1 {{'arith.truncf' op cannot be lowered: expected a number of at most 64 bits, found f128}}
  %0 = arith.truncf %x : f128 to f8E5M2
  return %0 : f8E5M2
}
