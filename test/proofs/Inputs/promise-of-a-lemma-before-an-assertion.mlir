func.func @f(%A: memref<4xf32>, %K: memref<4xi32>, %L: memref<4xi32>, %P: memref<1xi32>, %C: memref<4xf32>, %R: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %big = arith.constant 100 : i32
  %Z = memref.alloc() : memref<1xi32>
  memref.store %zero, %Z[%c0] : memref<1xi32>
  scf.for %t = %c0 to %c4 step %c1 {
    %l = memref.load %L[%t] : memref<4xi32>
    memref.store %zero, %Z[%c0] : memref<1xi32>
    memref.store %l, %Z[%c0] : memref<1xi32>
  }
  %z = memref.load %Z[%c0] : memref<1xi32>
  %zi = arith.index_cast %z : i32 to index
  %a = arith.cmpi slt, %zi, %c4 : index
  cf.assert %a, "m"
  %b = arith.cmpi sge, %zi, %c0 : index
  cf.assert %b, "m"
  %p = memref.load %P[%c0] : memref<1xi32>
  %pi = arith.index_cast %p : i32 to index
  %c = arith.cmpi slt, %pi, %c4 : index
  cf.assert %c, "m"
  scf.for %s = %c0 to %c4 step %c1 {
    %n = memref.load %K[%s] : memref<4xi32>
    %ni = arith.index_cast %n : i32 to index
    %v = memref.load %A[%ni] : memref<4xf32>
    memref.store %v, %C[%s] : memref<4xf32>
  }
  %w = memref.load %Z[%c0] : memref<1xi32>
  memref.store %w, %R[%c0] : memref<1xi32>
  return
}
// -----
// remark: not proved
func.func @f(%A: memref<4xf32>, %K: memref<4xi32>, %L: memref<4xi32>, %P: memref<1xi32>, %C: memref<4xf32>, %R: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %big = arith.constant 100 : i32
  %Z = memref.alloc() : memref<1xi32>
  memref.store %zero, %Z[%c0] : memref<1xi32>
  %Y = memref.alloc() : memref<1xi32>
  memref.store %zero, %Y[%c0] : memref<1xi32>
  scf.for %t = %c0 to %c4 step %c1 {
    %l = memref.load %L[%t] : memref<4xi32>
    memref.store %zero, %Z[%c0] : memref<1xi32>
    memref.store %l, %Z[%c0] : memref<1xi32>
    %k = memref.load %K[%t] : memref<4xi32>
    %ki = arith.index_cast %k : i32 to index
    %is = arith.cmpi slt, %ki, %c4 : index
    %m = arith.select %is, %l, %big : i32
    memref.store %zero, %Y[%c0] : memref<1xi32>
    memref.store %m, %Y[%c0] : memref<1xi32>
  }
  %z = memref.load %Z[%c0] : memref<1xi32>
  %zi = arith.index_cast %z : i32 to index
  %a = arith.cmpi slt, %zi, %c4 : index
  cf.assert %a, "m"
  %b = arith.cmpi sge, %zi, %c0 : index
  cf.assert %b, "m"
  %y = memref.load %Y[%c0] : memref<1xi32>
  %yi = arith.index_cast %y : i32 to index
  %dead = memref.load %A[%yi] : memref<4xf32>
  %p = memref.load %P[%c0] : memref<1xi32>
  %pi = arith.index_cast %p : i32 to index
  %c = arith.cmpi slt, %pi, %c4 : index
  cf.assert %c, "m"
  scf.for %s = %c0 to %c4 step %c1 {
    %n = memref.load %K[%s] : memref<4xi32>
    %ni = arith.index_cast %n : i32 to index
    %v = memref.load %A[%ni] : memref<4xf32>
    memref.store %v, %C[%s] : memref<4xf32>
  }
  %w = memref.load %Y[%c0] : memref<1xi32>
  memref.store %w, %R[%c0] : memref<1xi32>
  return
}
// -----
// same: proved
func.func @f(%A: memref<4xf32>, %K: memref<4xi32>, %L: memref<4xi32>, %P: memref<1xi32>, %C: memref<4xf32>, %R: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %big = arith.constant 100 : i32
  %Z = memref.alloc() : memref<1xi32>
  memref.store %zero, %Z[%c0] : memref<1xi32>
  %Y = memref.alloc() : memref<1xi32>
  memref.store %zero, %Y[%c0] : memref<1xi32>
  scf.for %t = %c0 to %c4 step %c1 {
    %l = memref.load %L[%t] : memref<4xi32>
    memref.store %zero, %Z[%c0] : memref<1xi32>
    memref.store %l, %Z[%c0] : memref<1xi32>
    %k = memref.load %K[%t] : memref<4xi32>
    %ki = arith.index_cast %k : i32 to index
    %is = arith.cmpi slt, %ki, %c4 : index
    %m = arith.select %is, %l, %big : i32
    memref.store %zero, %Y[%c0] : memref<1xi32>
    memref.store %m, %Y[%c0] : memref<1xi32>
  }
  %z = memref.load %Z[%c0] : memref<1xi32>
  %zi = arith.index_cast %z : i32 to index
  %a = arith.cmpi slt, %zi, %c4 : index
  cf.assert %a, "m"
  %b = arith.cmpi sge, %zi, %c0 : index
  cf.assert %b, "m"
  %p = memref.load %P[%c0] : memref<1xi32>
  %pi = arith.index_cast %p : i32 to index
  %c = arith.cmpi slt, %pi, %c4 : index
  cf.assert %c, "m"
  scf.for %s = %c0 to %c4 step %c1 {
    %n = memref.load %K[%s] : memref<4xi32>
    %ni = arith.index_cast %n : i32 to index
    %v = memref.load %A[%ni] : memref<4xf32>
    memref.store %v, %C[%s] : memref<4xf32>
  }
  %w = memref.load %Y[%c0] : memref<1xi32>
  memref.store %w, %R[%c0] : memref<1xi32>
  return
}
// -----
// remark: not proved
func.func @f(%A: memref<4xf32>, %K: memref<4xi32>, %L: memref<4xi32>, %P: memref<1xi32>, %C: memref<4xf32>, %R: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %big = arith.constant 100 : i32
  %Z = memref.alloc() : memref<1xi32>
  memref.store %zero, %Z[%c0] : memref<1xi32>
  %Y = memref.alloc() : memref<1xi32>
  memref.store %zero, %Y[%c0] : memref<1xi32>
  scf.for %t = %c0 to %c4 step %c1 {
    %l = memref.load %L[%t] : memref<4xi32>
    memref.store %zero, %Z[%c0] : memref<1xi32>
    memref.store %l, %Z[%c0] : memref<1xi32>
    %k = memref.load %K[%t] : memref<4xi32>
    %ki = arith.index_cast %k : i32 to index
    %is = arith.cmpi slt, %ki, %c4 : index
    %m = arith.select %is, %l, %big : i32
    memref.store %zero, %Y[%c0] : memref<1xi32>
    memref.store %m, %Y[%c0] : memref<1xi32>
  }
  %z = memref.load %Z[%c0] : memref<1xi32>
  %zi = arith.index_cast %z : i32 to index
  %a = arith.cmpi slt, %zi, %c4 : index
  cf.assert %a, "m"
  %b = arith.cmpi sge, %zi, %c0 : index
  cf.assert %b, "m"
  %y = memref.load %Y[%c0] : memref<1xi32>
  %yi = arith.index_cast %y : i32 to index
  %dead = memref.load %A[%yi] : memref<4xf32>
  %p = memref.load %P[%c0] : memref<1xi32>
  %pi = arith.index_cast %p : i32 to index
  %c = arith.cmpi slt, %pi, %c4 : index
  cf.assert %c, "m"
  scf.for %s = %c0 to %c4 step %c1 {
    %n = memref.load %K[%s] : memref<4xi32>
    %ni = arith.index_cast %n : i32 to index
    %v = memref.load %A[%ni] : memref<4xf32>
    memref.store %v, %C[%s] : memref<4xf32>
  }
  %w = memref.load %Z[%c0] : memref<1xi32>
  memref.store %w, %R[%c0] : memref<1xi32>
  return
}
