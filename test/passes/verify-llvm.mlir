// layout-verify-llvm: an error at each operation that has no translation to LLVM IR, or that defines a tensor or memref.
// RUN: layout-opt %s --layout-verify-llvm --verify-diagnostics

// The dialects of machines have one.
llvm.func @translated() -> i32 {
  %0 = nvvm.read.ptx.sreg.tid.x : i32
  llvm.return %0 : i32
}

llvm.func @left(%x: f32) -> f32 {
  // Of a cast the operation is said that it is left for.
  %0 = builtin.unrealized_conversion_cast %x, %x : f32, f32 to complex<f32>
  // expected-error@+1 {{'complex.neg' op is not converted to the LLVM dialect}}
  %1 = complex.neg %0 : complex<f32>
  // expected-error@+1 {{'complex.re' op is not converted to the LLVM dialect}}
  %2 = complex.re %1 : complex<f32>
  llvm.return %2 : f32
}

llvm.func @launch(%n: i64) {
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' op is left for 'gpu.launch' op, which is not converted to the LLVM dialect}}
  %0 = builtin.unrealized_conversion_cast %n : i64 to index
  gpu.launch blocks(%a, %b, %c) in (%d = %0, %e = %0, %f = %0) threads(%g, %h, %i) in (%j = %0, %k = %0, %l = %0) {
    gpu.terminator
  }
  llvm.return
}

gpu.module @kernels {
  gpu.func @left(%x: i64) {
    // expected-error@+1 {{'builtin.unrealized_conversion_cast' op is not converted to the LLVM dialect: a gpu.func must be converted before, by convert-gpu-to-nvvm or another pass for its target}}
    %0 = builtin.unrealized_conversion_cast %x : i64 to index
    gpu.return
  }
}

// expected-error@+1 {{'spirv.module' op is not converted to the LLVM dialect}}
spirv.module Logical GLSL450 {
}

gpu.module @arguments {
  // expected-error@+1 {{'gpu.func' op has type tensor<4xf32>, which is not converted to the LLVM dialect: a gpu.func must be converted before}}
  gpu.func @tensor(%x: tensor<4xf32>) kernel {
    gpu.return
  }
  // expected-error@+1 {{'gpu.func' op has type memref<*xf32>, which is not converted to the LLVM dialect: a gpu.func must be converted before}}
  gpu.func @memref(%x: memref<*xf32>) kernel {
    gpu.return
  }
}
