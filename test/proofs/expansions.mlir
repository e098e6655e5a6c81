// Expansions compute what the operations do: they are no errors, and a remark names an operation that is not computed.
// RUN: for pass in convert-complex-to-standard layout-expand-floats convert-math-to-funcs "arith-expand{include-f8e8m0=true}"; do \
// RUN:   layout-opt %s --layout-verify="passes={$pass} remarks=false" -o /dev/null || exit 1; \
// RUN: done
// RUN: layout-opt %s --layout-verify="passes={convert-complex-to-standard}" -o /dev/null 2>&1 | FileCheck %s

func.func @parts(%x: complex<f32>, %y: complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>, complex<f32>) {
  %a = complex.neg %x : complex<f32>
  %b = complex.conj %x : complex<f32>
  %c = complex.add %x, %y : complex<f32>
  %d = complex.sub %x, %y : complex<f32>
  return %a, %b, %c, %d : complex<f32>, complex<f32>, complex<f32>, complex<f32>
}

func.func @parts_of_128_bits(%x: complex<f64>, %y: complex<f64>) -> (complex<f64>, complex<f64>) {
  %a = complex.neg %x : complex<f64>
  %b = complex.add %x, %y : complex<f64>
  return %a, %b : complex<f64>, complex<f64>
}

// CHECK: remark: @product: not proved: element 0 of result 0 is {{.*}}: 'complex.mul' is not computed
func.func @product(%x: complex<f32>, %y: complex<f32>) -> complex<f32> {
  %r = complex.mul %x, %y : complex<f32>
  return %r : complex<f32>
}

func.func @casts(%x: f32, %y: f8E4M3FN, %z: f8E5M2, %u: f8E4M3FNUZ, %s: f8E8M0FNU) -> (f8E4M3FN, f8E5M2, f32, f16, f64, f32) {
  %a = arith.truncf %x : f32 to f8E4M3FN
  %b = arith.truncf %x : f32 to f8E5M2
  %c = arith.extf %y : f8E4M3FN to f32
  %d = arith.extf %z : f8E5M2 to f16
  %e = arith.extf %u : f8E4M3FNUZ to f64
  %f = arith.extf %s : f8E8M0FNU to f32
  return %a, %b, %c, %d, %e, %f : f8E4M3FN, f8E5M2, f32, f16, f64, f32
}

func.func @small_floats(%x: f8E4M3FN, %y: f8E4M3FN, %z: f6E3M2FN) -> (f8E4M3FN, f8E4M3FN, i1, f6E3M2FN) {
  %a = arith.mulf %x, %y : f8E4M3FN
  %b = arith.divf %x, %y : f8E4M3FN
  %c = arith.cmpf olt, %x, %y : f8E4M3FN
  %d = math.fma %z, %z, %z : f6E3M2FN
  return %a, %b, %c, %d : f8E4M3FN, f8E4M3FN, i1, f6E3M2FN
}

func.func @powers(%x: i16, %y: i16) -> (i16, i16) {
  %three = arith.constant 3 : i16
  %a = math.ipowi %x, %three : i16
  %b = math.ipowi %x, %y : i16
  return %a, %b : i16, i16
}

func.func @functions(%x: f8E5M2, %y: bf16) -> (f8E5M2, bf16) {
  %a = math.exp %x : f8E5M2
  %b = math.erfc %y : bf16
  return %a, %b : f8E5M2, bf16
}
