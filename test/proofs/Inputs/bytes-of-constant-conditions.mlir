memref.global "private" constant @all : memref<8xi1> = dense<true>
memref.global "private" constant @some : memref<8xi1> = dense<[true, true, true, false, true, true, true, true]>
memref.global "private" constant @none : memref<8xi1> = dense<false>
func.func @f(%x: memref<8xi32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %mask = memref.get_global @all : memref<8xi1>
  %least = arith.constant 3 : i32
  scf.for %i = %c0 to %c8 step %c1 {
    %n = memref.load %x[%i] : memref<8xi32>
    %a = memref.load %mask[%i] : memref<8xi1>
    %b = arith.cmpi sge, %n, %least : i32
    %both = arith.andi %b, %a : i1
    %e = memref.load %y[%i] : memref<8xf32>
    %o = memref.load %z[%i] : memref<8xf32>
    %s = arith.select %both, %e, %o : f32
    memref.store %s, %z[%i] : memref<8xf32>
  }
  return
}
// -----
// same: proved
memref.global "private" constant @all : memref<8xi1> = dense<true>
memref.global "private" constant @some : memref<8xi1> = dense<[true, true, true, false, true, true, true, true]>
memref.global "private" constant @none : memref<8xi1> = dense<false>
func.func @f(%x: memref<8xi32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %mask = memref.get_global @all : memref<8xi1>
  %bytes = builtin.unrealized_conversion_cast %mask : memref<8xi1> to memref<8xi8>
  %least = arith.constant dense<3> : vector<8xi32>
  %zeros = arith.constant dense<0> : vector<8xi8>
  %n = vector.load %x[%c0] : memref<8xi32>, vector<8xi32>
  %m = vector.load %bytes[%c0] : memref<8xi8>, vector<8xi8>
  %a = arith.cmpi ne, %m, %zeros : vector<8xi8>
  %b = arith.cmpi sge, %n, %least : vector<8xi32>
  %both = arith.andi %b, %a : vector<8xi1>
  %e = vector.load %y[%c0] : memref<8xf32>, vector<8xf32>
  %o = vector.load %z[%c0] : memref<8xf32>, vector<8xf32>
  %s = arith.select %both, %e, %o : vector<8xi1>, vector<8xf32>
  vector.store %s, %z[%c0] : memref<8xf32>, vector<8xf32>
  return
}
// -----
// error
memref.global "private" constant @all : memref<8xi1> = dense<true>
memref.global "private" constant @some : memref<8xi1> = dense<[true, true, true, false, true, true, true, true]>
memref.global "private" constant @none : memref<8xi1> = dense<false>
func.func @f(%x: memref<8xi32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %mask = memref.get_global @some : memref<8xi1>
  %bytes = builtin.unrealized_conversion_cast %mask : memref<8xi1> to memref<8xi8>
  %least = arith.constant dense<3> : vector<8xi32>
  %zeros = arith.constant dense<0> : vector<8xi8>
  %n = vector.load %x[%c0] : memref<8xi32>, vector<8xi32>
  %m = vector.load %bytes[%c0] : memref<8xi8>, vector<8xi8>
  %a = arith.cmpi ne, %m, %zeros : vector<8xi8>
  %b = arith.cmpi sge, %n, %least : vector<8xi32>
  %both = arith.andi %b, %a : vector<8xi1>
  %e = vector.load %y[%c0] : memref<8xf32>, vector<8xf32>
  %o = vector.load %z[%c0] : memref<8xf32>, vector<8xf32>
  %s = arith.select %both, %e, %o : vector<8xi1>, vector<8xf32>
  vector.store %s, %z[%c0] : memref<8xf32>, vector<8xf32>
  return
}
// -----
// error
memref.global "private" constant @all : memref<8xi1> = dense<true>
memref.global "private" constant @some : memref<8xi1> = dense<[true, true, true, false, true, true, true, true]>
memref.global "private" constant @none : memref<8xi1> = dense<false>
func.func @f(%x: memref<8xi32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %mask = memref.get_global @none : memref<8xi1>
  %bytes = builtin.unrealized_conversion_cast %mask : memref<8xi1> to memref<8xi8>
  %least = arith.constant dense<3> : vector<8xi32>
  %zeros = arith.constant dense<0> : vector<8xi8>
  %n = vector.load %x[%c0] : memref<8xi32>, vector<8xi32>
  %m = vector.load %bytes[%c0] : memref<8xi8>, vector<8xi8>
  %a = arith.cmpi ne, %m, %zeros : vector<8xi8>
  %b = arith.cmpi sge, %n, %least : vector<8xi32>
  %both = arith.andi %b, %a : vector<8xi1>
  %e = vector.load %y[%c0] : memref<8xf32>, vector<8xf32>
  %o = vector.load %z[%c0] : memref<8xf32>, vector<8xf32>
  %s = arith.select %both, %e, %o : vector<8xi1>, vector<8xf32>
  vector.store %s, %z[%c0] : memref<8xf32>, vector<8xf32>
  return
}
// -----
// error
memref.global "private" constant @all : memref<8xi1> = dense<true>
memref.global "private" constant @some : memref<8xi1> = dense<[true, true, true, false, true, true, true, true]>
memref.global "private" constant @none : memref<8xi1> = dense<false>
func.func @f(%x: memref<8xi32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %mask = memref.get_global @all : memref<8xi1>
  %bytes = builtin.unrealized_conversion_cast %mask : memref<8xi1> to memref<8xi8>
  %least = arith.constant dense<3> : vector<8xi32>
  %zeros = arith.constant dense<0> : vector<8xi8>
  %n = vector.load %x[%c0] : memref<8xi32>, vector<8xi32>
  %m = vector.load %bytes[%c0] : memref<8xi8>, vector<8xi8>
  %a = arith.cmpi eq, %m, %zeros : vector<8xi8>
  %b = arith.cmpi sge, %n, %least : vector<8xi32>
  %both = arith.andi %b, %a : vector<8xi1>
  %e = vector.load %y[%c0] : memref<8xf32>, vector<8xf32>
  %o = vector.load %z[%c0] : memref<8xf32>, vector<8xf32>
  %s = arith.select %both, %e, %o : vector<8xi1>, vector<8xf32>
  vector.store %s, %z[%c0] : memref<8xf32>, vector<8xf32>
  return
}
// -----
// error
memref.global "private" constant @all : memref<8xi1> = dense<true>
memref.global "private" constant @some : memref<8xi1> = dense<[true, true, true, false, true, true, true, true]>
memref.global "private" constant @none : memref<8xi1> = dense<false>
func.func @f(%x: memref<8xi32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %mask = memref.get_global @all : memref<8xi1>
  %bytes = builtin.unrealized_conversion_cast %mask : memref<8xi1> to memref<8xi8>
  %least = arith.constant dense<3> : vector<8xi32>
  %zeros = arith.constant dense<0> : vector<8xi8>
  %n = vector.load %x[%c0] : memref<8xi32>, vector<8xi32>
  %m = vector.load %bytes[%c0] : memref<8xi8>, vector<8xi8>
  %a = arith.cmpi ne, %m, %zeros : vector<8xi8>
  %b = arith.cmpi sge, %n, %least : vector<8xi32>
  %both = arith.ori %b, %a : vector<8xi1>
  %e = vector.load %y[%c0] : memref<8xf32>, vector<8xf32>
  %o = vector.load %z[%c0] : memref<8xf32>, vector<8xf32>
  %s = arith.select %both, %e, %o : vector<8xi1>, vector<8xf32>
  vector.store %s, %z[%c0] : memref<8xf32>, vector<8xf32>
  return
}
// -----
// error
memref.global "private" constant @all : memref<8xi1> = dense<true>
memref.global "private" constant @some : memref<8xi1> = dense<[true, true, true, false, true, true, true, true]>
memref.global "private" constant @none : memref<8xi1> = dense<false>
func.func @f(%x: memref<8xi32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %mask = memref.get_global @all : memref<8xi1>
  %bytes = builtin.unrealized_conversion_cast %mask : memref<8xi1> to memref<8xi8>
  %least = arith.constant dense<3> : vector<8xi32>
  %zeros = arith.constant dense<0> : vector<8xi8>
  %n = vector.load %x[%c0] : memref<8xi32>, vector<8xi32>
  %m = vector.load %bytes[%c0] : memref<8xi8>, vector<8xi8>
  %a = arith.cmpi ne, %m, %zeros : vector<8xi8>
  %b = arith.cmpi sgt, %n, %least : vector<8xi32>
  %both = arith.andi %b, %a : vector<8xi1>
  %e = vector.load %y[%c0] : memref<8xf32>, vector<8xf32>
  %o = vector.load %z[%c0] : memref<8xf32>, vector<8xf32>
  %s = arith.select %both, %e, %o : vector<8xi1>, vector<8xf32>
  vector.store %s, %z[%c0] : memref<8xf32>, vector<8xf32>
  return
}
