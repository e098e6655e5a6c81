// RUN: layout-opt %s --layout-expand-clones --verify-diagnostics

func.func @large(%a: memref<3xf32, strided<[9223372036854775807]>>) -> memref<3xf32, strided<[9223372036854775807]>> {
  // expected-error@+1 {{'bufferization.clone' op cannot be expanded: the offset of its last element overflows 64 bits}}
  %0 = bufferization.clone %a : memref<3xf32, strided<[9223372036854775807]>> to memref<3xf32, strided<[9223372036854775807]>>
  return %0 : memref<3xf32, strided<[9223372036854775807]>>
}
