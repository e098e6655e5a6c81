// RUN: layout-opt %s --layout-verify="steps=1048576 passes={layout-to-llvm}" -o /dev/null

// Facts are kept while an element is followed, which counts as steps: this took more than 15 minutes.
func.func @turned(%from: memref<1x256x6xi8>, %to: memref<256x1x6xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c1 step %c1 {
    scf.for %j = %c0 to %c256 step %c1 {
      scf.for %k = %c0 to %c6 step %c1 {
        %back = arith.subi %c5, %k : index
        %x = memref.load %from[%i, %j, %k] : memref<1x256x6xi8>
        memref.store %x, %to[%j, %i, %back] : memref<256x1x6xi8>
      }
    }
  }
  return
}
