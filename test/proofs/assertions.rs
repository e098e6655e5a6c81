//! Assertions, and what accesses promise of indices.

use super::{NONE, no_other, not_same};

/// Rows of a table at 8 places, which are asserted to be there.
fn rows(body: &str) -> String {
    format!(
        "func.func @f(%x: memref<100x4xf32>, %p: memref<8xi64>, %y: memref<8x4xf32>) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c2 = arith.constant 2 : index
           %c4 = arith.constant 4 : index
           %c8 = arith.constant 8 : index
           %zero = arith.constant 0 : i64
           %most = arith.constant 99 : i64
           {body}
           return
         }}"
    )
}

/// The elements of a row one by one, behind an assertion of each.
fn one_by_one() -> String {
    rows(
        "scf.for %i = %c0 to %c8 step %c1 {
           scf.for %j = %c0 to %c4 step %c1 {
             %n = memref.load %p[%i] : memref<8xi64>
             %low = arith.cmpi sge, %n, %zero : i64
             cf.assert %low, \"below 0\"
             %high = arith.cmpi sle, %n, %most : i64
             cf.assert %high, \"beyond the table\"
             %k = arith.index_cast %n : i64 to index
             %e = memref.load %x[%k, %j] : memref<100x4xf32>
             memref.store %e, %y[%i, %j] : memref<8x4xf32>
           }
         }",
    )
}

/// An assertion for each row has the same effect as one for each element.
#[test]
fn assertions_fail_in_the_same_cases() {
    let whole = rows(
        "scf.for %i = %c0 to %c8 step %c1 {
           %n = memref.load %p[%i] : memref<8xi64>
           %high = arith.cmpi sle, %n, %most : i64
           cf.assert %high, \"beyond the table\"
           %low = arith.cmpi sge, %n, %zero : i64
           cf.assert %low, \"below 0\"
           %k = arith.index_cast %n : i64 to index
           %e = vector.load %x[%k, %c0] : memref<100x4xf32>, vector<4xf32>
           vector.store %e, %y[%i, %c0] : memref<8x4xf32>, vector<4xf32>
         }",
    );
    no_other(
        &one_by_one(),
        &whole,
        &[
            ("cf.assert %high, \"beyond the table\"", ""),
            ("cf.assert %low, \"below 0\"", ""),
            ("\"below 0\"", "\"beyond the table\""),
            ("cmpi sle, %n, %most", "cmpi slt, %n, %most"),
            ("cmpi sge, %n, %zero", "cmpi sge, %n, %most"),
            ("cmpi sge", "cmpi uge"),
            ("to %c8 step %c1 {", "to %c8 step %c2 {"),
            ("%e = vector.load %x[%k, %c0]", "%m = arith.addi %k, %c1 : index %e = vector.load %x[%m, %c0]"),
        ],
        NONE,
    );
}

/// One assertion in a condition counts where the condition holds.
#[test]
fn assertions_under_conditions() {
    let asserted = |body: &str| {
        format!(
            "func.func @f(%x: memref<8xf32>, %c: i1, %y: memref<8xf32>) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %c8 = arith.constant 8 : index
               %zero = arith.constant 0.0 : f32
               scf.for %i = %c0 to %c8 step %c1 {{
                 %e = memref.load %x[%i] : memref<8xf32>
                 %is = arith.cmpf oge, %e, %zero : f32
                 {body}
                 memref.store %e, %y[%i] : memref<8xf32>
               }}
               return
             }}"
        )
    };
    let under = asserted("scf.if %c { cf.assert %is, \"negative\" }");
    no_other(
        &under,
        &asserted("memref.store %e, %y[%i] : memref<8xf32> scf.if %c { cf.assert %is, \"negative\" }"),
        &[("scf.if %c { cf.assert %is, \"negative\" }", "cf.assert %is, \"negative\""), ("oge", "ogt")],
        NONE,
    );
    not_same(&under, &asserted(""), NONE);
}

/// Nothing is promised by loads that may not run, nor of other places.
#[test]
fn accesses_that_run_promise_their_indices() {
    let scalar = one_by_one();
    let without =
        scalar.replace("cf.assert %low, \"below 0\"", "").replace("cf.assert %high, \"beyond the table\"", "");
    let read = |place: &str, from: &str| {
        rows(&format!(
            "scf.for %i = %c0 to %c8 step %c1 {{
               %n = memref.load %p[{place}] : memref<8xi64>
               %k = arith.index_cast %n : i64 to index
               {from}
               vector.store %e, %y[%i, %c0] : memref<8x4xf32>, vector<4xf32>
             }}"
        ))
    };
    let whole = read("%i", "%e = vector.load %x[%k, %c0] : memref<100x4xf32>, vector<4xf32>");
    no_other(
        &without,
        &whole,
        &[
            ("%e = vector.load %x[%k, %c0]", "%e = vector.load %x[%k, %c1]"),
            ("memref.load %p[%i]", "memref.load %p[%c0]"),
            ("arith.index_cast", "arith.index_castui"),
        ],
        NONE,
    );
    // What a condition skips is no access.
    let (chosen, one) = (
        "%is = arith.cmpi eq, %n, %zero : i64
         %m = scf.if %is -> f32 {
           %r = memref.load %x[%k, %j] : memref<100x4xf32>
           scf.yield %r : f32
         } else {
           %r = memref.load %x[%c0, %j] : memref<100x4xf32>
           scf.yield %r : f32
         }",
        "%e = memref.load %x[%k, %j] : memref<100x4xf32>",
    );
    let skipped = without.replace(one, &chosen.replace("%m", "%e"));
    let always = without.replace(
        one,
        &format!("{chosen}\n%s = memref.load %x[%k, %j] : memref<100x4xf32>\n%e = arith.select %is, %s, %m : f32"),
    );
    not_same(&skipped, &always, NONE);
}
