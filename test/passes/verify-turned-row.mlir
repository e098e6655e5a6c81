// RUN: env LAYOUT_VERIFY=1 layout-opt %s --layout-to-llvm -o /dev/null

// Facts are kept while an element is followed, which counts as steps: this took more than 15 minutes.
func.func @turned(%from: memref<1x256x6xi8>, %to: memref<256x1x6xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n0 = arith.constant 1 : index
  scf.for %i = %c0 to %n0 step %c1 {
    %n1 = arith.constant 256 : index
    scf.for %j = %c0 to %n1 step %c1 {
      %n2 = arith.constant 6 : index
      scf.for %k = %c0 to %n2 step %c1 {
        %last = arith.constant 5 : index
        %back = arith.subi %last, %k : index
        %x = memref.load %from[%i, %j, %k] : memref<1x256x6xi8>
        memref.store %x, %to[%j, %i, %back] : memref<256x1x6xi8>
      }
    }
  }
  return
}
