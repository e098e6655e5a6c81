func.func @f(%x: memref<3x4xi1>, %y: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %yes = arith.constant true
  %no = arith.constant false
  scf.for %i = %c0 to %c3 step %c1 {
    memref.store %yes, %y[%i] : memref<3xi1>
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : memref<3x4xi1>) outs(%y : memref<3xi1>) {
  ^bb0(%e: i1, %all: i1):
    %both = arith.andi %e, %all : i1
    linalg.yield %both : i1
  }
  return
}
// -----
// same: proved
func.func @f(%x: memref<3x4xi1>, %y: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %yes = arith.constant true
  %no = arith.constant false
  scf.for %i = %c0 to %c3 step %c1 {
    %r:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %yes, %b = %yes) -> (i1, i1) {
      %other = arith.addi %j, %c2 : index
      %d = memref.load %x[%i, %j] : memref<3x4xi1>
      %e = memref.load %x[%i, %other] : memref<3x4xi1>
      %m = arith.andi %a, %d : i1
      %n = arith.andi %b, %e : i1
      scf.yield %m, %n : i1, i1
    }
    %s = arith.andi %r#0, %r#1 : i1
    memref.store %s, %y[%i] : memref<3xi1>
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xi1>, %y: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %yes = arith.constant true
  %no = arith.constant false
  scf.for %i = %c0 to %c3 step %c1 {
    %r:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %yes, %b = %yes) -> (i1, i1) {
      %other = arith.addi %j, %c2 : index
      %d = memref.load %x[%i, %j] : memref<3x4xi1>
      %e = memref.load %x[%i, %other] : memref<3x4xi1>
      %m = arith.andi %a, %d : i1
      %n = arith.andi %b, %e : i1
      scf.yield %m, %n : i1, i1
    }
    %s = arith.ori %r#0, %r#1 : i1
    memref.store %s, %y[%i] : memref<3xi1>
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xi1>, %y: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %yes = arith.constant true
  %no = arith.constant false
  scf.for %i = %c0 to %c3 step %c1 {
    %r:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %yes, %b = %yes) -> (i1, i1) {
      %other = arith.addi %j, %c2 : index
      %d = memref.load %x[%i, %j] : memref<3x4xi1>
      %e = memref.load %x[%i, %other] : memref<3x4xi1>
      %m = arith.andi %a, %d : i1
      %n = arith.ori %b, %e : i1
      scf.yield %m, %n : i1, i1
    }
    %s = arith.andi %r#0, %r#1 : i1
    memref.store %s, %y[%i] : memref<3xi1>
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xi1>, %y: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %yes = arith.constant true
  %no = arith.constant false
  scf.for %i = %c0 to %c3 step %c1 {
    %r:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %no, %b = %yes) -> (i1, i1) {
      %other = arith.addi %j, %c2 : index
      %d = memref.load %x[%i, %j] : memref<3x4xi1>
      %e = memref.load %x[%i, %other] : memref<3x4xi1>
      %m = arith.andi %a, %d : i1
      %n = arith.andi %b, %e : i1
      scf.yield %m, %n : i1, i1
    }
    %s = arith.andi %r#0, %r#1 : i1
    memref.store %s, %y[%i] : memref<3xi1>
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xi1>, %y: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %yes = arith.constant true
  %no = arith.constant false
  scf.for %i = %c0 to %c3 step %c1 {
    %r:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %yes, %b = %yes) -> (i1, i1) {
      %other = arith.addi %j, %c1 : index
      %d = memref.load %x[%i, %j] : memref<3x4xi1>
      %e = memref.load %x[%i, %other] : memref<3x4xi1>
      %m = arith.andi %a, %d : i1
      %n = arith.andi %b, %e : i1
      scf.yield %m, %n : i1, i1
    }
    %s = arith.andi %r#0, %r#1 : i1
    memref.store %s, %y[%i] : memref<3xi1>
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xi1>, %y: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %yes = arith.constant true
  %no = arith.constant false
  scf.for %i = %c0 to %c3 step %c1 {
    %r:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %yes, %b = %yes) -> (i1, i1) {
      %other = arith.addi %j, %c2 : index
      %d = memref.load %x[%c0, %j] : memref<3x4xi1>
      %e = memref.load %x[%i, %other] : memref<3x4xi1>
      %m = arith.andi %a, %d : i1
      %n = arith.andi %b, %e : i1
      scf.yield %m, %n : i1, i1
    }
    %s = arith.andi %r#0, %r#1 : i1
    memref.store %s, %y[%i] : memref<3xi1>
  }
  return
}
// -----
// error
func.func @f(%x: memref<3x4xi1>, %y: memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %yes = arith.constant true
  %no = arith.constant false
  scf.for %i = %c0 to %c3 step %c1 {
    %r:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %yes, %b = %yes) -> (i1, i1) {
      %other = arith.addi %j, %c2 : index
      %d = memref.load %x[%i, %j] : memref<3x4xi1>
      %e = memref.load %x[%i, %other] : memref<3x4xi1>
      %m = arith.andi %a, %d : i1
      %n = arith.andi %b, %e : i1
      scf.yield %m, %n : i1, i1
    }
    %s = arith.andi %r#0, %yes : i1
    memref.store %s, %y[%i] : memref<3xi1>
  }
  return
}
