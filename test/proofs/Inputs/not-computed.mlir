// A value that is not computed says nothing, neither as a result nor as what decides a branch.
func.func @f(%x: complex<f32>) -> f32 {
  %a = complex.abs %x : complex<f32>
  %one = arith.constant 1.0 : f32
  %r = arith.addf %a, %one : f32
  return %r : f32
}
// -----
// remark: 'complex.abs' is not computed
func.func @f(%x: complex<f32>) -> f32 {
  %re = complex.re %x : complex<f32>
  %im = complex.im %x : complex<f32>
  %p = arith.mulf %re, %re : f32
  %q = arith.mulf %im, %im : f32
  %s = arith.addf %p, %q : f32
  %a = math.sqrt %s : f32
  %one = arith.constant 1.0 : f32
  %r = arith.addf %a, %one : f32
  return %r : f32
}
// -----
// remark: 'complex.abs', which is not computed, decides a branch
func.func @f(%x: complex<f32>) -> f32 {
  %a = complex.abs %x : complex<f32>
  %one = arith.constant 1.0 : f32
  %is_large = arith.cmpf ogt, %a, %one : f32
  %r = scf.if %is_large -> (f32) {
    %s = arith.addf %a, %one : f32
    scf.yield %s : f32
  } else {
    %s = arith.addf %one, %a : f32
    scf.yield %s : f32
  }
  return %r : f32
}
// -----
// remark: 'complex.abs' is not computed
func.func @f(%x: complex<f32>) -> f32 {
  %a = complex.abs %x : complex<f32>
  return %a : f32
}
// -----
// error: an operation has a flag that none had
func.func @f(%x: complex<f32>) -> f32 {
  %a = complex.abs %x fastmath<nnan> : complex<f32>
  %one = arith.constant 1.0 : f32
  %r = arith.addf %a, %one : f32
  return %r : f32
}
