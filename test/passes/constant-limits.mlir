// A constant is put in the order of its layout only where that takes a reasonable amount of memory.
// RUN: layout-opt %s --layout-lower-memrefs --split-input-file --verify-diagnostics

// expected-error@+1 {{a constant must have at most 67108864 elements with padding, found 3000000000 (3000000000 bytes)}}
memref.global "private" constant @padded : memref<2xi8, #layout.tiled<{0:T(3000000000)}>> = dense<[1, 2]>

// -----

// expected-error@+1 {{found 67108865 (536870920 bytes)}}
memref.global "private" constant @padded : memref<2xcomplex<f32>, #layout.tiled<{0:T(67108865)}>> = dense<[(1.0, 2.0), (3.0, 4.0)]>

// -----

// A splat needs no order, and a global without a value no memory here.
memref.global "private" constant @splat : memref<2xi8, #layout.tiled<{0:T(3000000000)}>> = dense<1>
memref.global "private" @filled : memref<2xi8, #layout.tiled<{0:T(3000000000)}>> = uninitialized
