func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      %d = memref.load %p[%i] : memref<3xi64>
      %k = arith.index_cast %d : i64 to index
      %is_small = arith.cmpi slt, %k, %c100 : index
      cf.assert %is_small, "too large"
      %is_index = arith.cmpi sge, %k, %c0 : index
      cf.assert %is_index, "negative"
      %e = memref.load %x[%k, %j] : memref<100x2xf32>
      memref.store %e, %y[%i, %j] : memref<3x2xf32>
    }
  }
  return
}
// -----
// same: proved
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %d = memref.load %p[%i] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi sle, %k, %c99 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %k, %c0 : index
    cf.assert %is_index, "negative"
    %e = vector.load %x[%k, %c0] : memref<100x2xf32>, vector<2xf32>
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %d = memref.load %p[%i] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi sle, %k, %c99 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %k, %c0 : index
    cf.assert %is_index, "negative"
    %e = vector.load %x[%i, %c0] : memref<100x2xf32>, vector<2xf32>
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %d = memref.load %p[%i] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi sle, %k, %c99 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %k, %c0 : index
    cf.assert %is_index, "negative"
    %e = vector.load %x[%k, %c0] : memref<100x2xf32>, vector<2xf32>
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
// -----
// remark: not proved
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %d = memref.load %p[%i] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi slt, %k, %c99 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %k, %c0 : index
    cf.assert %is_index, "negative"
    %e = vector.load %x[%k, %c0] : memref<100x2xf32>, vector<2xf32>
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
// -----
// remark: not proved
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %d = memref.load %p[%i] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi slt, %k, %c101 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %k, %c0 : index
    cf.assert %is_index, "negative"
    %e = vector.load %x[%k, %c0] : memref<100x2xf32>, vector<2xf32>
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
// -----
// remark: not proved
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %d = memref.load %p[%i] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi sle, %k, %c100 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %k, %c0 : index
    cf.assert %is_index, "negative"
    %e = vector.load %x[%k, %c0] : memref<100x2xf32>, vector<2xf32>
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %d = memref.load %p[%i] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi sle, %k, %c99 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %k, %c1 : index
    cf.assert %is_index, "negative"
    %e = vector.load %x[%k, %c0] : memref<100x2xf32>, vector<2xf32>
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
// -----
// remark: not proved
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %d = memref.load %p[%i] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi sle, %k, %c99 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %i, %c0 : index
    cf.assert %is_index, "negative"
    %e = vector.load %x[%k, %c0] : memref<100x2xf32>, vector<2xf32>
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %d = memref.load %p[%c0] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi sle, %k, %c99 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %k, %c0 : index
    cf.assert %is_index, "negative"
    %e = vector.load %x[%k, %c0] : memref<100x2xf32>, vector<2xf32>
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
// -----
// remark: not proved
func.func @f(%x: memref<100x2xf32>, %p: memref<3xi64>, %y: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %c101 = arith.constant 101 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %d = memref.load %p[%i] : memref<3xi64>
    %k = arith.index_cast %d : i64 to index
    %is_small = arith.cmpi sle, %k, %c99 : index
    cf.assert %is_small, "too large"
    %is_index = arith.cmpi sge, %k, %c0 : index
    %e = vector.load %x[%k, %c0] : memref<100x2xf32>, vector<2xf32>
    cf.assert %is_index, "negative"
    vector.store %e, %y[%i, %c0] : memref<3x2xf32>, vector<2xf32>
  }
  return
}
