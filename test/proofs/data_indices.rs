//! Addresses that depend on data: one number for all of a function, as in `dynamic_slice`, or another one in each iteration.

use super::{COUNT, NONE, no_other, not_same};

/// `y[..8] = x[p..p + 8]`, with `p` in bounds.
fn slice(body: &str) -> String {
    let last = COUNT - 8;
    format!(
        "func.func @f(%x: memref<{COUNT}xf32>, %p: memref<2xi32>, %y: memref<8xf32>) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c8 = arith.constant 8 : index
           %last = arith.constant {last} : index
           %more = arith.constant {} : index
           %n = memref.load %p[%c0] : memref<2xi32>
           %i = arith.index_cast %n : i32 to index
           %j = arith.maxsi %i, %c0 : index
           %k = arith.minsi %j, %last : index
           {body}
           return
         }}",
        last + 1
    )
}

#[test]
fn one_index_of_the_program() {
    let scalar = slice(&format!(
        "scf.for %q = %c0 to %c8 step %c1 {{
           %at = arith.addi %k, %q : index
           %e = memref.load %x[%at] : memref<{COUNT}xf32>
           memref.store %e, %y[%q] : memref<8xf32>
         }}"
    ));
    let vector = slice(&format!(
        "%e = vector.load %x[%k] : memref<{COUNT}xf32>, vector<8xf32>
         vector.store %e, %y[%c0] : memref<8xf32>, vector<8xf32>"
    ));
    no_other(
        &scalar,
        &vector,
        &[
            ("arith.minsi %j, %last", "arith.minsi %j, %more"),
            ("arith.maxsi %i, %c0", "arith.maxsi %i, %c1"),
            ("arith.maxsi %i, %c0", "arith.addi %i, %c0"),
            ("arith.index_cast ", "arith.index_castui "),
            ("memref.load %p[%c0]", "memref.load %p[%c1]"),
            ("%x[%k]", "%x[%c0]"),
            ("%x[%k]", "%x[%j]"),
        ],
        NONE,
    );
}

/// Stores to the places that each iteration's data say keep their order.
#[test]
fn another_index_in_each_iteration() {
    let stored = |first: i64, step: i64| {
        format!(
            "func.func @f(%x: memref<{COUNT}xf32>, %p: memref<{COUNT}xi8>, %y: memref<256xf32>) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %n = arith.constant {COUNT} : index
               scf.for %q = %c0 to %n step %c1 {{
                 %at = affine.apply affine_map<(d0) -> (d0 * {step} + {first})>(%q)
                 %i = memref.load %p[%at] : memref<{COUNT}xi8>
                 %k = arith.index_castui %i : i8 to index
                 %e = memref.load %x[%at] : memref<{COUNT}xf32>
                 memref.store %e, %y[%k] : memref<256xf32>
               }}
               return
             }}"
        )
    };
    not_same(&stored(0, 1), &stored(COUNT - 1, -1), NONE);
    not_same(&stored(0, 1), &stored(0, 1).replace("%x[%at]", "%x[%q]").replace("%p[%at]", "%p[%c0]"), NONE);
}
