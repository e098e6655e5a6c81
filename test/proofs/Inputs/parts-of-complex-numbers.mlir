// Operations on complex numbers that are operations on their parts.
func.func @f(%x: complex<f32>, %y: complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>) {
  %a = complex.neg %x : complex<f32>
  %b = complex.sub %x, %y : complex<f32>
  %c = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  return %a, %b, %c : complex<f32>, complex<f32>, complex<f32>
}
// -----
// same
func.func @f(%x: complex<f32>, %y: complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>) {
  %re_x = complex.re %x : complex<f32>
  %im_x = complex.im %x : complex<f32>
  %re_y = complex.re %y : complex<f32>
  %im_y = complex.im %y : complex<f32>
  %re_a = arith.negf %re_x : f32
  %im_a = arith.negf %im_x : f32
  %a = complex.create %re_a, %im_a : complex<f32>
  %re_b = arith.subf %re_x, %re_y : f32
  %im_b = arith.subf %im_x, %im_y : f32
  %b = complex.create %re_b, %im_b : complex<f32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %c = complex.create %one, %two : complex<f32>
  return %a, %b, %c : complex<f32>, complex<f32>, complex<f32>
}
// -----
// error: element 0 of result 0
func.func @f(%x: complex<f32>, %y: complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>) {
  %a = complex.conj %x : complex<f32>
  %b = complex.sub %x, %y : complex<f32>
  %c = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  return %a, %b, %c : complex<f32>, complex<f32>, complex<f32>
}
// -----
// error: element 0 of result 1
func.func @f(%x: complex<f32>, %y: complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>) {
  %a = complex.neg %x : complex<f32>
  %b = complex.sub %y, %x : complex<f32>
  %c = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  return %a, %b, %c : complex<f32>, complex<f32>, complex<f32>
}
// -----
// error: result 2
func.func @f(%x: complex<f32>, %y: complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>) {
  %a = complex.neg %x : complex<f32>
  %b = complex.sub %x, %y : complex<f32>
  %c = complex.constant [2.0 : f32, 1.0 : f32] : complex<f32>
  return %a, %b, %c : complex<f32>, complex<f32>, complex<f32>
}
