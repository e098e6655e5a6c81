func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %d = memref.load %p[%t] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    scf.for %j = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %j] : memref<4x2xf32>
      %o = memref.load %y[%k, %j] : memref<4x2xf32>
      %s = arith.addf %o, %e : f32
      memref.store %s, %y[%k, %j] : memref<4x2xf32>
    }
  }
  return
}
// -----
// same: proved
func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %d = memref.load %p[%t] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    %e = vector.load %x[%t, %c0] : memref<4x2xf32>, vector<2xf32>
    %o = vector.load %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
    %s = arith.addf %o, %e : vector<2xf32>
    vector.store %s, %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c1 to %c4 step %c1 {
    %d = memref.load %p[%t] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    %e = vector.load %x[%t, %c0] : memref<4x2xf32>, vector<2xf32>
    %o = vector.load %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
    %s = arith.addf %o, %e : vector<2xf32>
    vector.store %s, %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c3 step %c1 {
    %d = memref.load %p[%t] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    %e = vector.load %x[%t, %c0] : memref<4x2xf32>, vector<2xf32>
    %o = vector.load %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
    %s = arith.addf %o, %e : vector<2xf32>
    vector.store %s, %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %d = memref.load %p[%c0] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    %e = vector.load %x[%t, %c0] : memref<4x2xf32>, vector<2xf32>
    %o = vector.load %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
    %s = arith.addf %o, %e : vector<2xf32>
    vector.store %s, %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %d = memref.load %p[%t] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    %e = vector.load %x[%k, %c0] : memref<4x2xf32>, vector<2xf32>
    %o = vector.load %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
    %s = arith.addf %o, %e : vector<2xf32>
    vector.store %s, %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %d = memref.load %p[%t] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    %e = vector.load %x[%t, %c0] : memref<4x2xf32>, vector<2xf32>
    %o = vector.load %y[%t, %c0] : memref<4x2xf32>, vector<2xf32>
    %s = arith.addf %o, %e : vector<2xf32>
    vector.store %s, %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %d = memref.load %p[%t] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    %e = vector.load %x[%t, %c0] : memref<4x2xf32>, vector<2xf32>
    %o = vector.load %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
    %s = arith.addf %o, %e : vector<2xf32>
    vector.store %s, %y[%t, %c0] : memref<4x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %d = memref.load %p[%t] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    %e = vector.load %x[%t, %c0] : memref<4x2xf32>, vector<2xf32>
    %o = vector.load %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
    %s = arith.addf %o, %e : vector<2xf32>
    vector.store %e, %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<4x2xf32>, %p: memref<4xi2>, %y: memref<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %d = memref.load %p[%t] : memref<4xi2>
    %k = arith.index_castui %d : i2 to index
    %e = vector.load %x[%t, %c0] : memref<4x2xf32>, vector<2xf32>
    %o = vector.load %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
    %s = arith.addf %o, %o : vector<2xf32>
    vector.store %s, %y[%k, %c0] : memref<4x2xf32>, vector<2xf32>
  }
  return
}
