func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : memref<3x4xf32>) outs(%m, %k : memref<3xf32>, memref<3xi32>) {
  ^bb0(%e: f32, %most: f32, %where: i32):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    %larger = arith.maximumf %e, %most : f32
    %is_larger = arith.cmpf ogt, %e, %most : f32
    %next = arith.select %is_larger, %n, %where : i32
    linalg.yield %larger, %next : f32, i32
  }
  return
}
// -----
// same: proved
func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %e = memref.load %x[%i, %j] : memref<3x4xf32>
      %most = memref.load %m[%i] : memref<3xf32>
      %where = memref.load %k[%i] : memref<3xi32>
      %n = arith.index_cast %j : index to i32
      %larger = arith.maximumf %e, %most : f32
      memref.store %larger, %m[%i] : memref<3xf32>
      %is_larger = arith.cmpf ogt, %e, %most : f32
      %next = arith.select %is_larger, %n, %where : i32
      memref.store %next, %k[%i] : memref<3xi32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %e = memref.load %x[%i, %j] : memref<3x4xf32>
      %most = memref.load %m[%i] : memref<3xf32>
      %where = memref.load %k[%i] : memref<3xi32>
      %n = arith.index_cast %j : index to i32
      %larger = arith.maximumf %e, %most : f32
      memref.store %larger, %m[%i] : memref<3xf32>
      %is_larger = arith.cmpf ogt, %e, %larger : f32
      %next = arith.select %is_larger, %n, %where : i32
      memref.store %next, %k[%i] : memref<3xi32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %e = memref.load %x[%i, %j] : memref<3x4xf32>
      %most = memref.load %m[%i] : memref<3xf32>
      %where = memref.load %k[%i] : memref<3xi32>
      %n = arith.index_cast %j : index to i32
      %larger = arith.maximumf %e, %most : f32
      memref.store %larger, %m[%i] : memref<3xf32>
      %is_larger = arith.cmpf oge, %e, %most : f32
      %next = arith.select %is_larger, %n, %where : i32
      memref.store %next, %k[%i] : memref<3xi32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %e = memref.load %x[%i, %j] : memref<3x4xf32>
      %most = memref.load %m[%i] : memref<3xf32>
      %where = memref.load %k[%i] : memref<3xi32>
      %n = arith.index_cast %j : index to i32
      %larger = arith.minimumf %e, %most : f32
      memref.store %larger, %m[%i] : memref<3xf32>
      %is_larger = arith.cmpf ogt, %e, %most : f32
      %next = arith.select %is_larger, %n, %where : i32
      memref.store %next, %k[%i] : memref<3xi32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %e = memref.load %x[%i, %j] : memref<3x4xf32>
      %most = memref.load %m[%c0] : memref<3xf32>
      %where = memref.load %k[%i] : memref<3xi32>
      %n = arith.index_cast %j : index to i32
      %larger = arith.maximumf %e, %most : f32
      memref.store %larger, %m[%i] : memref<3xf32>
      %is_larger = arith.cmpf ogt, %e, %most : f32
      %next = arith.select %is_larger, %n, %where : i32
      memref.store %next, %k[%i] : memref<3xi32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %e = memref.load %x[%i, %j] : memref<3x4xf32>
      %most = memref.load %m[%i] : memref<3xf32>
      %where = memref.load %k[%i] : memref<3xi32>
      %n = arith.index_cast %j : index to i32
      %larger = arith.maximumf %e, %most : f32
      memref.store %larger, %m[%i] : memref<3xf32>
      %is_larger = arith.cmpf ogt, %e, %most : f32
      %next = arith.select %is_larger, %where, %n : i32
      memref.store %next, %k[%i] : memref<3xi32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c1 to %c4 step %c1 {
      %e = memref.load %x[%i, %j] : memref<3x4xf32>
      %most = memref.load %m[%i] : memref<3xf32>
      %where = memref.load %k[%i] : memref<3xi32>
      %n = arith.index_cast %j : index to i32
      %larger = arith.maximumf %e, %most : f32
      memref.store %larger, %m[%i] : memref<3xf32>
      %is_larger = arith.cmpf ogt, %e, %most : f32
      %next = arith.select %is_larger, %n, %where : i32
      memref.store %next, %k[%i] : memref<3xi32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %e = memref.load %x[%i, %j] : memref<3x4xf32>
      %most = memref.load %m[%i] : memref<3xf32>
      %where = memref.load %k[%i] : memref<3xi32>
      %n = arith.index_cast %j : index to i32
      %larger = arith.maximumf %e, %most : f32
      memref.store %larger, %m[%i] : memref<3xf32>
      %is_larger = arith.cmpf ogt, %e, %most : f32
      %next = arith.select %is_larger, %n, %where : i32
      memref.store %next, %k[%i] : memref<3xi32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xf32>, %m: memref<3xf32>, %k: memref<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %e = memref.load %x[%i, %j] : memref<3x4xf32>
      %most = memref.load %m[%i] : memref<3xf32>
      %where = memref.load %k[%i] : memref<3xi32>
      %n = arith.index_cast %i : index to i32
      %larger = arith.maximumf %e, %most : f32
      memref.store %larger, %m[%i] : memref<3xf32>
      %is_larger = arith.cmpf ogt, %e, %most : f32
      %next = arith.select %is_larger, %n, %where : i32
      memref.store %next, %k[%i] : memref<3xi32>
    }
  }
  return
}
