func.func @f(%x: memref<9xf32>, %p: memref<3x2xf32>, %y: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %p[%i, %c0] : memref<3x2xf32>
    %b = memref.load %p[%i, %c1] : memref<3x2xf32>
    %s = arith.addf %a, %b : f32
    %n = arith.fptosi %s : f32 to i64
    %k = arith.index_cast %n : i64 to index
    %e = memref.load %x[%k] : memref<9xf32>
    memref.store %e, %y[%i] : memref<3xf32>
  }
  return
}
// -----
// same: proved
func.func @f(%x: memref<9xf32>, %p: memref<3x2xf32>, %y: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %places = memref.alloc() : memref<3xi64>
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %p[%i, %c0] : memref<3x2xf32>
    %b = memref.load %p[%i, %c1] : memref<3x2xf32>
    %s = arith.addf %a, %b : f32
    %n = arith.fptosi %s : f32 to i64
    memref.store %n, %places[%i] : memref<3xi64>
  }
  scf.for %i = %c0 to %c3 step %c1 {
    %n = memref.load %places[%i] : memref<3xi64>
    %k = arith.index_cast %n : i64 to index
    %e = memref.load %x[%k] : memref<9xf32>
    memref.store %e, %y[%i] : memref<3xf32>
  }
  memref.dealloc %places : memref<3xi64>
  return
}
// -----
// error
func.func @f(%x: memref<9xf32>, %p: memref<3x2xf32>, %y: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %places = memref.alloc() : memref<3xi64>
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %p[%i, %c0] : memref<3x2xf32>
    %b = memref.load %p[%i, %c0] : memref<3x2xf32>
    %s = arith.addf %a, %b : f32
    %n = arith.fptosi %s : f32 to i64
    memref.store %n, %places[%i] : memref<3xi64>
  }
  scf.for %i = %c0 to %c3 step %c1 {
    %n = memref.load %places[%i] : memref<3xi64>
    %k = arith.index_cast %n : i64 to index
    %e = memref.load %x[%k] : memref<9xf32>
    memref.store %e, %y[%i] : memref<3xf32>
  }
  memref.dealloc %places : memref<3xi64>
  return
}
// -----
// error
func.func @f(%x: memref<9xf32>, %p: memref<3x2xf32>, %y: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %places = memref.alloc() : memref<3xi64>
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %p[%i, %c0] : memref<3x2xf32>
    %b = memref.load %p[%i, %c1] : memref<3x2xf32>
    %s = arith.addf %a, %b : f32
    %n = arith.fptosi %s : f32 to i64
    memref.store %n, %places[%i] : memref<3xi64>
  }
  scf.for %i = %c0 to %c3 step %c1 {
    %n = memref.load %places[%i] : memref<3xi64>
    %k = arith.index_cast %n : i64 to index
    %e = memref.load %x[%i] : memref<9xf32>
    memref.store %e, %y[%i] : memref<3xf32>
  }
  memref.dealloc %places : memref<3xi64>
  return
}
// -----
// error
func.func @f(%x: memref<9xf32>, %p: memref<3x2xf32>, %y: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %places = memref.alloc() : memref<3xi64>
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %p[%i, %c0] : memref<3x2xf32>
    %b = memref.load %p[%i, %c1] : memref<3x2xf32>
    %s = arith.subf %a, %b : f32
    %n = arith.fptosi %s : f32 to i64
    memref.store %n, %places[%i] : memref<3xi64>
  }
  scf.for %i = %c0 to %c3 step %c1 {
    %n = memref.load %places[%i] : memref<3xi64>
    %k = arith.index_cast %n : i64 to index
    %e = memref.load %x[%k] : memref<9xf32>
    memref.store %e, %y[%i] : memref<3xf32>
  }
  memref.dealloc %places : memref<3xi64>
  return
}
// -----
// error
func.func @f(%x: memref<9xf32>, %p: memref<3x2xf32>, %y: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %places = memref.alloc() : memref<3xi64>
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %p[%i, %c0] : memref<3x2xf32>
    %b = memref.load %p[%i, %c1] : memref<3x2xf32>
    %s = arith.addf %a, %b : f32
    %n = arith.fptosi %s : f32 to i64
    memref.store %n, %places[%i] : memref<3xi64>
  }
  scf.for %i = %c0 to %c3 step %c1 {
    %n = memref.load %places[%c1] : memref<3xi64>
    %k = arith.index_cast %n : i64 to index
    %e = memref.load %x[%k] : memref<9xf32>
    memref.store %e, %y[%i] : memref<3xf32>
  }
  memref.dealloc %places : memref<3xi64>
  return
}
// -----
// error
func.func @f(%x: memref<9xf32>, %p: memref<3x2xf32>, %y: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %places = memref.alloc() : memref<3xi64>
  scf.for %i = %c0 to %c3 step %c1 {
    %a = memref.load %p[%c2, %c0] : memref<3x2xf32>
    %b = memref.load %p[%i, %c1] : memref<3x2xf32>
    %s = arith.addf %a, %b : f32
    %n = arith.fptosi %s : f32 to i64
    memref.store %n, %places[%i] : memref<3xi64>
  }
  scf.for %i = %c0 to %c3 step %c1 {
    %n = memref.load %places[%i] : memref<3xi64>
    %k = arith.index_cast %n : i64 to index
    %e = memref.load %x[%k] : memref<9xf32>
    memref.store %e, %y[%i] : memref<3xf32>
  }
  memref.dealloc %places : memref<3xi64>
  return
}
