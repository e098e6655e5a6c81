// layout-simplify-indexing: maps in affine operations, with the ranges of loops, sizes and values.
// RUN: layout-opt %s --split-input-file --allow-unregistered-dialect --layout-simplify-indexing --canonicalize --cse \
// RUN:   | FileCheck %s

// What is taken apart and put together again meets itself.
// CHECK-LABEL: func.func @apply(
// CHECK: affine.for %[[T:.*]] = 0 to 7
// CHECK-NEXT: affine.for %[[I:.*]] = 0 to 128
// CHECK-NEXT: "use"(%[[T]], %[[I]], %[[T]], %[[I]]) : (index, index, index, index) -> ()
func.func @apply() {
  affine.for %t = 0 to 7 {
    affine.for %i = 0 to 128 {
      %a = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1)>(%t, %i)
      %q = affine.apply affine_map<(d0) -> (d0 floordiv 128)>(%a)
      %r = affine.apply affine_map<(d0) -> (d0 mod 128)>(%a)
      %l = affine.linearize_index disjoint [%t, %i] by (7, 128) : index
      %d:2 = affine.delinearize_index %l into (7, 128) : index, index
      "use"(%q, %r, %d#0, %d#1) : (index, index, index, index) -> ()
    }
  }
  return
}

// -----

// Results of a minimum that never decide go; one that is left is the value.
// CHECK: #[[MIN:.*]] = affine_map<(d0) -> (d0 * -128 + 890, 128)>
// CHECK-LABEL: func.func @extremes(
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: affine.for %[[T:.*]] = 0 to 7
// CHECK-NEXT: %[[M:.*]] = affine.min #[[MIN]](%[[T]])
// CHECK-NEXT: "use"(%[[C128]], %[[M]], %[[T]])
func.func @extremes() {
  affine.for %t = 0 to 7 {
    %0 = affine.min affine_map<(d0) -> (128, d0 * -128 + 896)>(%t)
    %1 = affine.min affine_map<(d0) -> (128, d0 * -128 + 890, d0 + 500)>(%t)
    %2 = affine.max affine_map<(d0) -> (d0, -d0, d0 - 3)>(%t)
    "use"(%0, %1, %2) : (index, index, index) -> ()
  }
  return
}

// -----

// Bounds of loops, subscripts, conditions.
// CHECK: #[[SET:.*]] = affine_set<(d0) : (d0 - 3 >= 0)>
// CHECK-LABEL: func.func @nest(
// CHECK: affine.for %[[I:.*]] = 0 to 100 {
// CHECK-NEXT: affine.for %[[J:.*]] = 0 to 16 {
// CHECK-NEXT: affine.if #[[SET]](%[[J]]) {
// CHECK-NEXT: affine.load %{{.*}}[%[[I]], %[[J]]]
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
// CHECK-NEXT: }
// CHECK-NEXT: "always"
// CHECK-NEXT: }
func.func @nest(%m: memref<100x16xf32>) {
  affine.for %i = 0 to 100 {
    affine.for %j = 0 to min affine_map<(d0) -> (16, d0 + 50)>(%i) {
      affine.if affine_set<(d0, d1) : (d0 >= 0, 99 - d0 >= 0, d1 - 3 >= 0)>(%i, %j) {
        %v = affine.load %m[(%i * 16 + %j) floordiv 16, (%i * 16 + %j) mod 16] : memref<100x16xf32>
        affine.store %v, %m[%i + %j floordiv 16, %j] : memref<100x16xf32>
      }
      affine.if affine_set<(d0) : (d0 - 100 >= 0)>(%i) {
        "never"() : () -> ()
      }
      affine.if affine_set<(d0) : (d0 >= 0)>(%i) {
        "always"() : () -> ()
      }
    }
  }
  return
}

// -----

// Steps of loops, static sizes as symbols, and ranges that an operation's own interface infers.
// CHECK-LABEL: func.func @ranges(
// CHECK-SAME: %{{.*}}: memref<?x16xf32>, %[[X:.*]]: index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[U:.*]] = arith.andi %[[X]]
// CHECK: "use"(%[[C0]], %[[U]])
// CHECK: scf.for %[[I:.*]] = {{.*}} {
// CHECK: scf.for %[[J:.*]] = {{.*}} {
// CHECK-NEXT: "use"(%[[J]], %[[I]])
func.func @ranges(%m: memref<?x16xf32>, %x: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %u = arith.andi %x, %c7 : index
  %size = memref.dim %m, %c1 : memref<?x16xf32>
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%u)
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%u)[%size]
  "use"(%0, %1) : (index, index) -> ()
  scf.for %i = %c0 to %c64 step %c8 {
    scf.for %j = %c0 to %c8 step %c1 {
      %k = arith.addi %i, %j : index
      %2 = affine.apply affine_map<(d0) -> (d0 mod 8)>(%k)
      %3 = affine.apply affine_map<(d0) -> ((d0 floordiv 8) * 8)>(%k)
      "use"(%2, %3) : (index, index) -> ()
    }
  }
  return
}

// -----

// A product that may wrap around is not looked through; one that cannot is.
// CHECK-LABEL: func.func @wraps(
// CHECK-SAME: %[[X:.*]]: index
// CHECK: %[[P:.*]] = arith.muli %[[X]], %{{.*}} : index
// CHECK: %[[Q:.*]] = affine.apply #{{.*}}()[%[[P]]]
// CHECK: return %[[Q]], %[[X]]
func.func @wraps(%x: index) -> (index, index) {
  %c8 = arith.constant 8 : index
  %0 = arith.muli %x, %c8 : index
  %1 = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%0)
  %2 = arith.muli %x, %c8 overflow<nsw> : index
  %3 = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%2)
  return %1, %3 : index, index
}

// -----

// Indexing maps as attributes, over their own domain; in arrays too.
// CHECK-LABEL: func.func @attributes(
// CHECK: map = #layout.indexing_map<(d0, d1) -> (d0, d1), domain: d0 in [0, 6], d1 in [0, 14]>
// CHECK-SAME: maps = [#layout.indexing_map<KNOWN EMPTY>, #layout.indexing_map<UNDEFINED>, 3
func.func @attributes() {
  "use"() {
    map = #layout.indexing_map<(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16), domain: d0 in [0, 6], d1 in [0, 14]>,
    maps = [#layout.indexing_map<(d0) -> (d0), domain: d0 in [0, 3], d0 in [5, 6]>, #layout.indexing_map<UNDEFINED>, 3]
  } : () -> ()
  return
}

// -----

// Parallel loops have ranges and steps too.
// CHECK-LABEL: func.func @parallel(
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) =
// CHECK-NEXT: "use"(%[[I]], %[[J]])
// CHECK: scf.forall (%[[K:.*]]) = (0) to (64) step (16)
// CHECK-NEXT: "use"(%[[K]])
// CHECK: affine.parallel (%[[M:.*]], %[[N:.*]]) =
// CHECK-NEXT: "use"(%[[M]], %[[N]])
func.func @parallel() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c7, %c8) step (%c1, %c1) {
    %a = affine.apply affine_map<(i, j) -> ((i * 8 + j) floordiv 8)>(%i, %j)
    %b = affine.apply affine_map<(i, j) -> ((i * 8 + j) mod 8)>(%i, %j)
    "use"(%a, %b) : (index, index) -> ()
  }
  scf.forall (%k) = (0) to (64) step (16) {
    %a = affine.apply affine_map<(k) -> ((k floordiv 16) * 16)>(%k)
    "use"(%a) : (index) -> ()
  }
  affine.parallel (%m, %n) = (0, max(0, -3)) to (64, min(20, 8)) step (16, 1) {
    %a = affine.apply affine_map<(m, n) -> (((m + n) floordiv 16) * 16)>(%m, %n)
    %b = affine.apply affine_map<(m, n) -> ((m + n) mod 16)>(%m, %n)
    "use"(%a, %b) : (index, index) -> ()
  }
  return
}

// -----

// The ranges of affine operations are our own: what MLIR 22 infers of remainders is wrong. At %i = 16, %r is 0.
// CHECK-DAG: #[[BOTH:.*]] = affine_map<(d0) -> (d0 mod 16, 9)>
// CHECK-DAG: #[[FIVE:.*]] = affine_set<(d0) : (d0 mod 16 - 5 >= 0)>
// CHECK-LABEL: func.func @remainder(
// CHECK: affine.for %[[I:.*]] = 14 to 28
// CHECK-NEXT: %[[MAX:.*]] = affine.max #[[BOTH]](%[[I]])
// CHECK-NEXT: affine.if #[[FIVE]](%[[I]])
// CHECK-NEXT: "use"(%[[MAX]])
func.func @remainder() {
  affine.for %i = 14 to 28 {
    %r = affine.apply affine_map<(i) -> (i mod 16)>(%i)
    %max = affine.max affine_map<(r) -> (r, 9)>(%r)
    affine.if affine_set<(r) : (r - 5 >= 0)>(%r) {
      "use"(%max) : (index) -> ()
    }
  }
  return
}

// -----

// Bounds that are other loops' variables say something too, and what is under conditions that never hold goes.
// CHECK-LABEL: func.func @bounds_of_loops(
// CHECK: affine.for %[[I:.*]] = 0 to 8
// CHECK-NEXT: affine.for
// CHECK-NEXT: "use"(%[[I]])
// CHECK-NOT: affine.if
func.func @bounds_of_loops() {
  affine.for %i = 0 to 8 {
    affine.for %j = affine_map<(i) -> (4 * i)>(%i) to affine_map<(i) -> (4 * i + 4)>(%i) {
      %a = affine.apply affine_map<(j) -> (j floordiv 4)>(%j)
      "use"(%a) : (index) -> ()
    }
    affine.if affine_set<(i) : (i - 9 >= 0)>(%i) {
      "use"(%i) : (index) -> ()
    }
  }
  return
}

// -----

// Attributes of arguments and inside of dictionaries.
// CHECK-LABEL: func.func @inside(
// CHECK-SAME: %{{.*}}: index {test.map = #layout.indexing_map<(d0) -> (d0), domain: d0 in [0, 3]>}
// CHECK-SAME: there = {map = #layout.indexing_map<(d0) -> (0), domain: d0 in [0, 3]>, other}
func.func @inside(%a: index {test.map = #layout.indexing_map<(d0) -> (d0 mod 8), domain: d0 in [0, 3]>})
    attributes {there = {map = #layout.indexing_map<(d0) -> (d0 floordiv 8), domain: d0 in [0, 3]>, other}} {
  return
}

// -----

// Bits of indices: what is masked and shifted is a sum, two swizzles are none, bits that are apart are added, and a swizzle
// stays below the next power of two.
// CHECK-DAG: #[[ADDRESS:.*]] = affine_map<(d0, d1, d2) -> (d0 * 512 + d1 * 64 + d2)>
// CHECK-DAG: #[[BY64:.*]] = affine_map<(d0) -> (d0 * 64)>
// CHECK-DAG: #[[BY8:.*]] = affine_map<(d0) -> (d0 * 8)>
// CHECK-DAG: #[[MORE:.*]] = affine_map<(d0) -> (d0 * 8 + 3)>
// CHECK-LABEL: func.func @bits(
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: affine.for %[[B:.*]] = 0 to 5
// CHECK: affine.for %[[I:.*]] = 0 to 8
// CHECK: affine.for %[[J:.*]] = 0 to 64
// CHECK-DAG: %[[X:.*]] = affine.apply #[[ADDRESS]](%[[B]], %[[I]], %[[J]])
// CHECK-DAG: %[[F:.*]] = affine.apply #[[BY64]](%[[I]])
// CHECK-DAG: %[[S:.*]] = affine.apply #[[BY8]](%[[I]])
// CHECK-DAG: %[[P:.*]] = arith.xori %[[X]], %[[S]]
// CHECK-DAG: %[[U:.*]] = affine.apply #[[MORE]](%[[I]])
// CHECK: "use"(%[[F]], %[[S]], %[[P]], %[[X]], %[[X]], %[[C0]], %[[U]], %[[P]])
func.func @bits() {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c448 = arith.constant 448 : index
  affine.for %b = 0 to 5 {
    affine.for %i = 0 to 8 {
      affine.for %j = 0 to 64 {
        %x = affine.apply affine_map<(d0, d1, d2) -> (d0 * 512 + d1 * 64 + d2)>(%b, %i, %j)
        %f = arith.andi %x, %c448 : index
        %s = arith.shrui %f, %c3 : index
        %p = arith.xori %x, %s : index
        %g = arith.andi %p, %c448 : index
        %t = arith.shrui %g, %c3 : index
        %q = arith.xori %p, %t : index
        %z = arith.xori %x, %c0 : index
        %e = arith.xori %p, %p : index
        %u = arith.ori %s, %c3 : index
        %m = affine.apply affine_map<(d0) -> (d0 mod 4096)>(%p)
        "use"(%f, %s, %p, %q, %z, %e, %u, %m) : (index, index, index, index, index, index, index, index) -> ()
      }
    }
  }
  return
}

// -----

// What may be negative, or has bits of both, stays.
// CHECK-LABEL: func.func @no_bits(
// CHECK: arith.andi
// CHECK: arith.shrui
// CHECK: arith.shli
// CHECK: arith.xori
// CHECK: arith.ori
func.func @no_bits(%i: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c448 = arith.constant 448 : index
  affine.for %j = 0 to 9 {
    %f = arith.andi %i, %c448 : index
    %s = arith.shrui %i, %c1 : index
    %l = arith.shli %j, %c64 : index
    %p = arith.xori %j, %c1 : index
    %u = arith.ori %i, %c1 : index
    "use"(%f, %s, %l, %p, %u) : (index, index, index, index, index) -> ()
  }
  return
}
