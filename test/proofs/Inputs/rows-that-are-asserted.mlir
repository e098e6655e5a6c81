func.func @f(%rows: memref<10xi64>, %x: memref<100x8xf32>, %y: memref<10x8xf32>) {
  %none = arith.constant 0 : i64
  %all = arith.constant 100 : i64
  affine.for %i = 0 to 10 {
    %row = affine.load %rows[%i] : memref<10xi64>
    %less = arith.cmpi slt, %row, %all : i64
    %positive = arith.cmpi sge, %row, %none : i64
    %k = arith.index_cast %row : i64 to index
    affine.for %j = 0 to 8 {
      cf.assert %less, "a row behind the last"
      cf.assert %positive, "a row before the first"
      %v = memref.load %x[%k, %j] : memref<100x8xf32>
      affine.store %v, %y[%i, %j] : memref<10x8xf32>
    }
  }
  return
}
// -----
// same
func.func @f(%rows: memref<10xi64>, %x: memref<100x8xf32>, %y: memref<10x8xf32>) {
  %none = arith.constant 0 : i64
  %all = arith.constant 100 : i64
  affine.for %i = 0 to 10 {
    %row = affine.load %rows[%i] : memref<10xi64>
    %less = arith.cmpi slt, %row, %all : i64
    %positive = arith.cmpi sge, %row, %none : i64
    %k = arith.index_cast %row : i64 to index
    cf.assert %less, "a row behind the last"
    cf.assert %positive, "a row before the first"
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%k, %c0], %zero {in_bounds = [true]} : memref<100x8xf32>, vector<8xf32>
    vector.transfer_write %v, %y[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<10x8xf32>
  }
  return
}
// -----
// same
func.func @f(%rows: memref<10xi64>, %x: memref<100x8xf32>, %y: memref<10x8xf32>) {
  %none = arith.constant 0 : i64
  %all = arith.constant 100 : i64
  affine.for %i = 0 to 10 {
    %row = affine.load %rows[%i] : memref<10xi64>
    %less = arith.cmpi slt, %row, %all : i64
    %positive = arith.cmpi sge, %row, %none : i64
    %k = arith.index_cast %row : i64 to index
    cf.assert %less, "a row behind the last"
    cf.assert %positive, "a row before the first"
    affine.for %j = 0 to 8 {
      %v = memref.load %x[%k, %j] : memref<100x8xf32>
      affine.store %v, %y[%i, %j] : memref<10x8xf32>
    }
  }
  return
}
// -----
// remark: not proved
func.func @f(%rows: memref<10xi64>, %x: memref<100x8xf32>, %y: memref<10x8xf32>) {
  %none = arith.constant 0 : i64
  %all = arith.constant 100 : i64
  affine.for %i = 0 to 10 {
    %row = affine.load %rows[%i] : memref<10xi64>
    %less = arith.cmpi slt, %row, %all : i64
    %positive = arith.cmpi sge, %row, %none : i64
    %k = arith.index_cast %row : i64 to index
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%k, %c0], %zero {in_bounds = [true]} : memref<100x8xf32>, vector<8xf32>
    vector.transfer_write %v, %y[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<10x8xf32>
    cf.assert %less, "a row behind the last"
    cf.assert %positive, "a row before the first"
  }
  return
}
// -----
// remark: not proved
func.func @f(%rows: memref<10xi64>, %x: memref<100x8xf32>, %y: memref<10x8xf32>) {
  %none = arith.constant 0 : i64
  %all = arith.constant 100 : i64
  affine.for %i = 0 to 10 {
    %row = affine.load %rows[%i] : memref<10xi64>
    %less = arith.cmpi slt, %row, %all : i64
    %positive = arith.cmpi sge, %row, %none : i64
    %k = arith.index_cast %row : i64 to index
    cf.assert %less, "a row behind the last"
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%k, %c0], %zero {in_bounds = [true]} : memref<100x8xf32>, vector<8xf32>
    vector.transfer_write %v, %y[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<10x8xf32>
    cf.assert %positive, "a row before the first"
  }
  return
}
// -----
// remark: not proved
func.func @f(%rows: memref<10xi64>, %x: memref<100x8xf32>, %y: memref<10x8xf32>) {
  %none = arith.constant 0 : i64
  %all = arith.constant 100 : i64
  affine.for %i = 0 to 10 {
    %row = affine.load %rows[%i] : memref<10xi64>
    %less = arith.cmpi slt, %row, %all : i64
    %positive = arith.cmpi sge, %row, %none : i64
    %k = arith.index_cast %row : i64 to index
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%k, %c0], %zero {in_bounds = [true]} : memref<100x8xf32>, vector<8xf32>
    vector.transfer_write %v, %y[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<10x8xf32>
  }
  return
}
// -----
// remark: not proved
func.func @f(%rows: memref<10xi64>, %x: memref<100x8xf32>, %y: memref<10x8xf32>) {
  %none = arith.constant 0 : i64
  %all = arith.constant 100 : i64
  affine.for %i = 0 to 10 {
    %row = affine.load %rows[%i] : memref<10xi64>
    %less = arith.cmpi slt, %row, %all : i64
    %positive = arith.cmpi sge, %row, %none : i64
    %k = arith.index_cast %row : i64 to index
    cf.assert %less, "a row behind the last"
    cf.assert %less, "a row before the first"
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%k, %c0], %zero {in_bounds = [true]} : memref<100x8xf32>, vector<8xf32>
    vector.transfer_write %v, %y[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<10x8xf32>
  }
  return
}
