func.func @f(%t: memref<10xf32>, %A: memref<1xi64>, %r: memref<1xf32>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %n1 = arith.constant 1 : i64
  %n9 = arith.constant 9 : i64
  %one = arith.constant 1.0 : f32
  scf.while : () -> () {
    scf.for %u = %c0 to %c2 step %c1 {
      %x1 = memref.load %A[%c0] : memref<1xi64>
      %y1 = arith.shrui %x1, %n1 : i64
      memref.store %y1, %A[%c0] : memref<1xi64>
      %x2 = memref.load %A[%c0] : memref<1xi64>
      %y2 = arith.xori %x2, %n1 : i64
      memref.store %y2, %A[%c0] : memref<1xi64>
    }
    %x = memref.load %A[%c0] : memref<1xi64>
    %xi = arith.index_cast %x : i64 to index
    %z = memref.load %r[%c0] : memref<1xf32>
    %zz = arith.addf %z, %one : f32
    memref.store %zz, %r[%c0] : memref<1xf32>
    %q = arith.cmpi sgt, %x, %n9 : i64
    scf.condition(%q)
  } do {
    scf.yield
  }
  %xx = memref.load %A[%c0] : memref<1xi64>
  %xxi = arith.index_cast %xx : i64 to index
  %v = memref.load %t[%xxi] : memref<10xf32>
  memref.store %v, %o[%c0] : memref<1xf32>
  return
}
// -----
// same
func.func @f(%t: memref<10xf32>, %A: memref<1xi64>, %r: memref<1xf32>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %n1 = arith.constant 1 : i64
  %n9 = arith.constant 9 : i64
  %one = arith.constant 1.0 : f32
  scf.while : () -> () {
    scf.for %u = %c0 to %c2 step %c1 {
      %x1 = memref.load %A[%c0] : memref<1xi64>
      %y1 = arith.shrui %x1, %n1 : i64
      memref.store %y1, %A[%c0] : memref<1xi64>
      %x2 = memref.load %A[%c0] : memref<1xi64>
      %y2 = arith.xori %x2, %n1 : i64
      memref.store %y2, %A[%c0] : memref<1xi64>
    }
    %x = memref.load %A[%c0] : memref<1xi64>
    %xi = arith.index_cast %x : i64 to index
    %z = memref.load %r[%c0] : memref<1xf32>
    %zz = arith.addf %z, %one : f32
    memref.store %zz, %r[%c0] : memref<1xf32>
    %q = arith.cmpi sgt, %x, %n9 : i64
    scf.condition(%q)
  } do {
    scf.yield
  }
  %xx = memref.load %A[%c0] : memref<1xi64>
  %xxi = arith.index_cast %xx : i64 to index
  %v = memref.load %t[%xxi] : memref<10xf32>
  memref.store %v, %o[%c0] : memref<1xf32>
  return
}
// -----
// remark: not proved
func.func @f(%t: memref<10xf32>, %A: memref<1xi64>, %r: memref<1xf32>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %n1 = arith.constant 1 : i64
  %n9 = arith.constant 9 : i64
  %one = arith.constant 1.0 : f32
  scf.while : () -> () {
    scf.for %u = %c0 to %c2 step %c1 {
      %x1 = memref.load %A[%c0] : memref<1xi64>
      %y1 = arith.shrui %x1, %n1 : i64
      memref.store %y1, %A[%c0] : memref<1xi64>
      %x2 = memref.load %A[%c0] : memref<1xi64>
      %y2 = arith.xori %x2, %n1 : i64
      memref.store %y2, %A[%c0] : memref<1xi64>
    }
    %x = memref.load %A[%c0] : memref<1xi64>
    %xi = arith.index_cast %x : i64 to index
    %z = memref.load %r[%c0] : memref<1xf32>
    %zz = arith.addf %z, %one : f32
    %p = arith.cmpi slt, %xi, %c10 : index
    %s = arith.select %p, %zz, %z : f32
    memref.store %s, %r[%c0] : memref<1xf32>
    %q = arith.cmpi sgt, %x, %n9 : i64
    scf.condition(%q)
  } do {
    scf.yield
  }
  %xx = memref.load %A[%c0] : memref<1xi64>
  %xxi = arith.index_cast %xx : i64 to index
  %v = memref.load %t[%xxi] : memref<10xf32>
  memref.store %v, %o[%c0] : memref<1xf32>
  return
}
