// layout-shorten-interfaces: the code of a function that C can call is behind pointers, and results are stored where they are made.
// RUN: layout-opt %s --layout-shorten-interfaces=words=7 --split-input-file | FileCheck %s
// By default only functions with more than 256 words change, and those of modules with a data layout never do.
// RUN: layout-opt %s --layout-shorten-interfaces --split-input-file | FileCheck %s --check-prefix=STAYS

// Two results.
// CHECK-LABEL: llvm.func @two(
// CHECK-SAME: %[[P:[^:]*]]: !llvm.ptr, %[[Q:[^:]*]]: !llvm.ptr, %[[O:[^:]*]]: i64, %[[N:[^:]*]]: i64, %[[S:[^:]*]]: i64, %[[K:[^:]*]]: i64)
// CHECK-SAME: attributes {llvm.emit_c_interface, no_inline, optimize_none}
// CHECK: %[[D0:.*]] = llvm.insertvalue %[[P]], %{{.*}}[0]
// CHECK: %[[D1:.*]] = llvm.insertvalue %[[Q]], %[[D0]][1]
// CHECK: %[[D2:.*]] = llvm.insertvalue %[[O]], %[[D1]][2]
// CHECK: %[[D3:.*]] = llvm.insertvalue %[[N]], %[[D2]][3, 0]
// CHECK: %[[D4:.*]] = llvm.insertvalue %[[S]], %[[D3]][4, 0]
// CHECK: %[[AT:.*]] = llvm.alloca
// CHECK: llvm.store %[[D4]], %[[AT]]
// CHECK: %[[R:.*]] = llvm.alloca
// CHECK: llvm.call @_mlir_ciface_two(%[[R]], %[[AT]], %[[K]])
// CHECK: %[[G:.*]] = llvm.load %[[R]]
// CHECK: llvm.return %[[G]]
// CHECK-LABEL: llvm.func @_mlir_ciface_two(
// CHECK-SAME: %[[R:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[K:[^:]*]]: i64) attributes {llvm.emit_c_interface} {
// CHECK: %[[D:.*]] = llvm.load %[[X]]
// CHECK: %[[P:.*]] = llvm.extractvalue %[[D]][1]
// CHECK: llvm.store %[[K]], %[[P]]
// CHECK: llvm.call @make
// The second result, of 5 words, is after the first of 3, which is made last.
// CHECK: %[[SECOND:.*]] = llvm.insertvalue {{.*}}[4, 0]
// CHECK-NEXT: %[[B:.*]] = llvm.mlir.constant(24 : i64)
// CHECK-NEXT: %[[T:.*]] = llvm.getelementptr %[[R]][%[[B]]]
// CHECK-NEXT: llvm.store %[[SECOND]], %[[T]]
// CHECK: llvm.call @make
// CHECK: %[[FIRST:.*]] = llvm.insertvalue {{.*}}[2]
// CHECK-NEXT: llvm.store %[[FIRST]], %[[R]]
// CHECK-NEXT: llvm.return
// CHECK-NOT: llvm.func
// STAYS-LABEL: llvm.func @two(
// STAYS-NOT: optimize_none
// STAYS-LABEL: llvm.func @_mlir_ciface_two(
// STAYS: llvm.call @two(
!one = !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
!none = !llvm.struct<(ptr, ptr, i64)>
module {
  llvm.func @make() -> !llvm.ptr
  llvm.func @two(%p: !llvm.ptr, %q: !llvm.ptr, %o: i64, %n: i64, %s: i64, %k: i64) -> !llvm.struct<(!none, !one)> attributes {llvm.emit_c_interface} {
    llvm.store %k, %q : i64, !llvm.ptr
    %m = llvm.call @make() : () -> !llvm.ptr
    %0 = llvm.mlir.poison : !one
    %1 = llvm.insertvalue %m, %0[0] : !one
    %2 = llvm.insertvalue %m, %1[1] : !one
    %3 = llvm.insertvalue %o, %2[2] : !one
    %4 = llvm.insertvalue %n, %3[3, 0] : !one
    %5 = llvm.insertvalue %s, %4[4, 0] : !one
    %l = llvm.call @make() : () -> !llvm.ptr
    %6 = llvm.mlir.poison : !none
    %7 = llvm.insertvalue %l, %6[0] : !none
    %8 = llvm.insertvalue %l, %7[1] : !none
    %9 = llvm.insertvalue %o, %8[2] : !none
    %10 = llvm.mlir.poison : !llvm.struct<(!none, !one)>
    %11 = llvm.insertvalue %9, %10[0] : !llvm.struct<(!none, !one)>
    %12 = llvm.insertvalue %5, %11[1] : !llvm.struct<(!none, !one)>
    llvm.return %12 : !llvm.struct<(!none, !one)>
  }
  llvm.func @_mlir_ciface_two(%r: !llvm.ptr, %x: !llvm.ptr, %k: i64) attributes {llvm.emit_c_interface} {
    %0 = llvm.load %x : !llvm.ptr -> !one
    %1 = llvm.extractvalue %0[0] : !one
    %2 = llvm.extractvalue %0[1] : !one
    %3 = llvm.extractvalue %0[2] : !one
    %4 = llvm.extractvalue %0[3, 0] : !one
    %5 = llvm.extractvalue %0[4, 0] : !one
    %6 = llvm.call @two(%1, %2, %3, %4, %5, %k) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64) -> !llvm.struct<(!none, !one)>
    llvm.store %6, %r : !llvm.struct<(!none, !one)>, !llvm.ptr
    llvm.return
  }
}

// -----

// As upstream makes it, with a number for a result, and attributes of an argument.
// RUN: layout-opt %s --layout-shorten-interfaces=words=7 --split-input-file | mlir-translate --mlir-to-llvmir --split-input-file | FileCheck %s --check-prefix=IR

// CHECK-LABEL: llvm.func @number(
// CHECK-SAME: !llvm.ptr {llvm.noalias}
// CHECK: %[[G:.*]] = llvm.call @_mlir_ciface_number(%{{.*}}) : (!llvm.ptr) -> f32
// CHECK: llvm.return %[[G]]
// CHECK-LABEL: llvm.func @_mlir_ciface_number(
// CHECK-SAME: %[[X:[^:]*]]: !llvm.ptr) -> f32
// CHECK: %[[D:.*]] = llvm.load %[[X]]
// CHECK: %[[P:.*]] = llvm.extractvalue %[[D]][1]
// CHECK: %[[V:.*]] = llvm.load %[[P]]
// CHECK: llvm.return %[[V]] : f32
// IR-LABEL: define float @number(
// IR: call float @_mlir_ciface_number(ptr
!matrix = !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)>
module {
  llvm.func @number(%p: !llvm.ptr {llvm.noalias}, %q: !llvm.ptr, %o: i64, %l: i64, %m: i64, %n: i64, %r: i64, %s: i64, %t: i64) -> f32 attributes {llvm.emit_c_interface} {
    %0 = llvm.load %q : !llvm.ptr -> f32
    llvm.return %0 : f32
  }
  llvm.func @_mlir_ciface_number(%x: !llvm.ptr) -> f32 attributes {llvm.emit_c_interface} {
    %0 = llvm.load %x : !llvm.ptr -> !matrix
    %1 = llvm.extractvalue %0[0] : !matrix
    %2 = llvm.extractvalue %0[1] : !matrix
    %3 = llvm.extractvalue %0[2] : !matrix
    %4 = llvm.extractvalue %0[3, 0] : !matrix
    %5 = llvm.extractvalue %0[3, 1] : !matrix
    %6 = llvm.extractvalue %0[3, 2] : !matrix
    %7 = llvm.extractvalue %0[4, 0] : !matrix
    %8 = llvm.extractvalue %0[4, 1] : !matrix
    %9 = llvm.extractvalue %0[4, 2] : !matrix
    %10 = llvm.call @number(%1, %2, %3, %4, %5, %6, %7, %8, %9) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64, i64) -> f32
    llvm.return %10 : f32
  }
}

// -----

// No more words than the option says; and two returns, one of which would be after the stores for the other.
// CHECK-LABEL: llvm.func @few(
// CHECK: llvm.call @few(
// CHECK-LABEL: llvm.func @returns(
// CHECK: llvm.call @returns(
llvm.func @few(%a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %f: i64, %g: i64) {
  llvm.return
}
llvm.func @_mlir_ciface_few(%a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %f: i64, %g: i64) {
  llvm.call @few(%a, %b, %c, %d, %e, %f, %g) : (i64, i64, i64, i64, i64, i64, i64) -> ()
  llvm.return
}
llvm.func @returns(%x: i1, %a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %f: i64, %g: i64) -> i64 {
  llvm.cond_br %x, ^yes, ^no
^yes:
  llvm.return %a : i64
^no:
  llvm.return %b : i64
}
llvm.func @_mlir_ciface_returns(%x: i1, %a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %f: i64, %g: i64) -> i64 {
  %0 = llvm.call @returns(%x, %a, %b, %c, %d, %e, %f, %g) : (i1, i64, i64, i64, i64, i64, i64, i64) -> i64
  llvm.return %0 : i64
}

// -----

// Words of this module may have 32 bits.
// CHECK-LABEL: llvm.func @laid_out(
// CHECK: llvm.call @laid_out(
module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>} {
  llvm.func @laid_out(%a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %f: i64, %g: i64, %h: i64) {
    llvm.return
  }
  llvm.func @_mlir_ciface_laid_out(%a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %f: i64, %g: i64, %h: i64) {
    llvm.call @laid_out(%a, %b, %c, %d, %e, %f, %g, %h) : (i64, i64, i64, i64, i64, i64, i64, i64) -> ()
    llvm.return
  }
}

// -----

// Results that are arguments are stored behind the reads of all arguments, one of which may be where they go.
// CHECK-LABEL: llvm.func @_mlir_ciface_given(
// CHECK-SAME: %[[R:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr, %[[K:[^:]*]]: i64, %[[Y:[^:]*]]: !llvm.ptr)
// CHECK-NOT: llvm.store
// CHECK: %[[D:.*]] = llvm.load %[[X]]
// CHECK-NOT: llvm.store
// CHECK: %[[P:.*]] = llvm.extractvalue %[[D]][1]
// CHECK-NOT: llvm.store
// CHECK: llvm.load %[[Y]]
// CHECK-DAG: llvm.store %[[P]], %[[R]]
// CHECK-DAG: llvm.store %[[K]], %
// CHECK: llvm.return
!scalar = !llvm.struct<(ptr, ptr, i64)>
!both = !llvm.struct<(ptr, i64)>
llvm.func @given(%p: !llvm.ptr, %q: !llvm.ptr, %o: i64, %k: i64, %r: !llvm.ptr, %s: !llvm.ptr, %t: i64) -> !both {
  %0 = llvm.mlir.poison : !both
  %1 = llvm.insertvalue %q, %0[0] : !both
  %2 = llvm.insertvalue %k, %1[1] : !both
  llvm.return %2 : !both
}
llvm.func @_mlir_ciface_given(%into: !llvm.ptr, %x: !llvm.ptr, %k: i64, %y: !llvm.ptr) {
  %0 = llvm.load %x : !llvm.ptr -> !scalar
  %1 = llvm.extractvalue %0[0] : !scalar
  %2 = llvm.extractvalue %0[1] : !scalar
  %3 = llvm.extractvalue %0[2] : !scalar
  %4 = llvm.load %y : !llvm.ptr -> !scalar
  %5 = llvm.extractvalue %4[0] : !scalar
  %6 = llvm.extractvalue %4[1] : !scalar
  %7 = llvm.extractvalue %4[2] : !scalar
  %8 = llvm.call @given(%1, %2, %3, %k, %5, %6, %7) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64) -> !both
  llvm.store %8, %into : !both, !llvm.ptr
  llvm.return
}
