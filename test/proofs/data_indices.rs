//! Addresses that depend on data: one number for all of a function, as in `dynamic_slice`, or another one in each iteration.

use super::{COUNT, NONE, REASSOCIATE, no_other, not_same};

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

/// The place that data say keeps what is stored to it, and all others what they had.
#[test]
fn one_element_that_data_say() {
    let of = |body: &str| {
        format!(
            "func.func @f(%x: memref<{COUNT}xf32>, %p: memref<i32>, %v: f32, %y: memref<{COUNT}xf32>) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %n = arith.constant {COUNT} : index
               %last = arith.constant {} : index
               %d = memref.load %p[] : memref<i32>
               %i = arith.index_cast %d : i32 to index
               %j = arith.maxsi %i, %c0 : index
               %k = arith.minsi %j, %last : index
               {body}
               return
             }}",
            COUNT - 1
        )
        .replace("MEM", &format!("memref<{COUNT}xf32>"))
    };
    let copied = "memref.copy %x, %y : MEM to MEM\n";
    let stored = "memref.store %v, %y[%k] : MEM\n";
    let before = of(&(copied.to_owned() + stored));
    let after = of(&format!(
        "scf.for %q = %c0 to %n step %c1 {{
           %e = memref.load %x[%q] : MEM
           memref.store %e, %y[%q] : MEM
         }}
         {stored}"
    ));
    no_other(
        &before,
        &after,
        &[
            ("%v, %y[%k]", "%v, %y[%j]"),
            ("%v, %y[%k]", "%v, %y[%c1]"),
            ("%c0 to %n", "%c1 to %n"),
            ("%c0 to %n", "%c0 to %k"),
            ("%e, %y[%q]", "%v, %y[%q]"),
            ("arith.minsi %j, %last", "arith.minsi %j, %c1"),
            ("arith.maxsi %i, %c0", "arith.maxsi %i, %c1"),
            ("memref.load %x[%q]", "memref.load %x[%k]"),
        ],
        NONE,
    );
    not_same(&before, &of(&(stored.to_owned() + copied)), NONE);
}

/// `y[q] = x[p[q]]`.
#[test]
fn an_index_in_each_iteration() {
    let many = COUNT - 3;
    let of = |loops: &str, last: i64| {
        format!(
            "func.func @f(%x: memref<512xf32>, %p: memref<{many}xi32>, %y: memref<{many}xf32>) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %n = arith.constant {many} : index
               %some = arith.constant 1000 : index
               %rest = arith.constant {} : index
               %last = arith.constant {last} : index
               {loops}
               return
             }}",
            many / 1000
        )
    };
    let body = format!(
        "%d = memref.load %p[%at] : memref<{many}xi32>
         %i = arith.index_cast %d : i32 to index
         %j = arith.maxsi %i, %c0 : index
         %k = arith.minsi %j, %last : index
         %e = memref.load %x[%k] : memref<512xf32>
         memref.store %e, %y[%at] : memref<{many}xf32>"
    );
    let before = of(&format!("scf.for %at = %c0 to %n step %c1 {{ {body} }}"), 511);
    let after = of(
        &format!(
            "scf.for %b = %c0 to %some step %c1 {{
               scf.for %a = %c0 to %rest step %c1 {{
                 %at = affine.apply affine_map<(d0, d1) -> (d0 * 1000 + d1)>(%a, %b)
                 {body}
               }}
             }}"
        ),
        511,
    );
    no_other(
        &before,
        &after,
        &[
            ("constant 511", "constant 510"),
            ("constant 511", "constant 512"),
            ("arith.maxsi %i, %c0", "arith.maxsi %i, %c1"),
            ("arith.maxsi %i, %c0", "arith.addi %i, %c0"),
            ("%p[%at]", "%p[%a]"),
            ("%p[%at]", "%p[%c0]"),
            ("arith.index_cast ", "arith.index_castui "),
            ("%x[%k]", "%x[%c1]"),
            ("%y[%at]", "%y[%b]"),
            ("d0 * 1000 + d1", "d0 * 1000 + d1 + 1"),
            ("%c0 to %rest", "%c1 to %rest"),
        ],
        NONE,
    );
}

/// Sums of elements that data say: of others in each iteration, in their order.
#[test]
fn sums_of_elements_that_data_say() {
    let of = |at: &str, first: &str| {
        format!(
            "func.func @f(%x: memref<512xf32>, %p: memref<{COUNT}xi8>, %v: f32) -> f32 {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %n = arith.constant {COUNT} : index
               %s = scf.for %q = %c0 to %n step %c1 iter_args(%r = {first}) -> (f32) {{
                 %at = affine.apply affine_map<(d0) -> ({at})>(%q)
                 %d = memref.load %p[%at] : memref<{COUNT}xi8>
                 %i = arith.index_castui %d : i8 to index
                 %e = memref.load %x[%i] : memref<512xf32>
                 %t = arith.addf %r, %e : f32
                 scf.yield %t : f32
               }}
               return %s : f32
             }}"
        )
    };
    let last = COUNT - 1;
    let sum = of("d0", "%v");
    no_other(
        &sum,
        &sum,
        &[
            ("(d0) -> (d0)", &format!("(d0) -> ({last} - d0)")),
            ("(d0) -> (d0)", "(d0) -> (0)"),
            ("(d0) -> (d0)", "(d0) -> (d0 floordiv 2)"),
            ("%x[%i]", "%x[%c1]"),
            ("arith.addf %r, %e", "arith.addf %r, %r"),
        ],
        NONE,
    );
    for other in [format!("{last} - d0"), "0".to_owned(), "d0 floordiv 2".to_owned()] {
        not_same(&sum, &of(&other, "%v").replace("%n step", "%c1 step"), REASSOCIATE);
        not_same(&of("0", "%v"), &of(&other, "%v").replace("-> (0)", "-> (1)"), REASSOCIATE);
    }
    not_same(&sum, &of("d0 floordiv 2", "%v"), REASSOCIATE);
    not_same(&sum, &of("0", "%v"), REASSOCIATE);
}
