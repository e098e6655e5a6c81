//! Loops that carry tensors, and vectors whose lanes are those of others.

use super::{COUNT, NONE, no_other, not_same, same};

/// The elements of `%x` in reverse, or other ones.
fn generated(index: &str) -> String {
    format!(
        "func.func @f(%x: tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32> {{
           %r = tensor.generate {{
           ^bb0(%i: index):
             %k = affine.apply affine_map<(d0) -> ({index})>(%i)
             %e = tensor.extract %x[%k] : tensor<{COUNT}xf32>
             tensor.yield %e : f32
           }} : tensor<{COUNT}xf32>
           return %r : tensor<{COUNT}xf32>
         }}"
    )
}

/// `%x` with parts of itself inserted by a loop.
fn inserted(first: &str, body: &str) -> String {
    let last = COUNT - 1;
    format!(
        "func.func @f(%x: tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32> {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %n = arith.constant {COUNT} : index
           %last = arith.constant {last} : index
           %e = tensor.empty() : tensor<{COUNT}xf32>
           %r = scf.for %q = %c0 to %n step %c1 iter_args(%t = {first}) -> (tensor<{COUNT}xf32>) {{
             %k = arith.subi %last, %q : index
             {body}
           }}
           return %r : tensor<{COUNT}xf32>
         }}"
    )
    .replace("TENSOR", &format!("tensor<{COUNT}xf32>"))
}

#[test]
fn parts_inserted_by_iterations() {
    let body = "%p = tensor.extract_slice %x[%k] [1] [1] : TENSOR to tensor<1xf32>
                %u = tensor.insert_slice %p into %t[%q] [1] [1] : tensor<1xf32> into TENSOR
                scf.yield %u : TENSOR";
    no_other(
        &generated(&format!("{} - d0", COUNT - 1)),
        &inserted("%e", body),
        &[
            ("%c0 to %n", "%c1 to %n"),
            ("%c0 to %n", "%c0 to %last"),
            ("into %t[%q]", "into %t[%k]"),
            ("%x[%k]", "%x[%q]"),
            ("%x[%k]", "%t[%k]"),
            ("scf.yield %u", "scf.yield %t"),
            ("scf.yield %u", "scf.yield %x"),
            ("into %t[%q]", "into %x[%q]"),
            ("%last, %q", "%n, %q"),
        ],
        NONE,
    );
}

/// A carried tensor is read as the iteration before left it, or as it is in this one.
#[test]
fn elements_of_this_iteration_and_of_the_one_before() {
    let body = |read: &str, order: &str| {
        format!(
            "%p = tensor.extract_slice %x[%q] [1] [1] : TENSOR to tensor<1xf32>
             %u = tensor.insert_slice %p into %t[%q] [1] [1] : tensor<1xf32> into TENSOR
             %s = tensor.extract_slice {read} [1] [1] : TENSOR to tensor<1xf32>
             %v = tensor.insert_slice %s into {order} [1] [1] : tensor<1xf32> into TENSOR
             scf.yield %v : TENSOR"
        )
    };
    let of = |read: &str, order: &str| inserted("%x", &body(read, order));
    for (read, other) in [("%t[%k]", "%u[%k]"), ("%t[%q]", "%x[%k]"), ("%u[%q]", "%t[%k]")] {
        not_same(&of(read, "%u[%q]"), &of(other, "%u[%q]"), NONE);
        not_same(&of(read, "%u[%q]"), &of(read, "%t[%q]").replacen("%x[%q]", "%x[%k]", 1), NONE);
    }
}

/// Two tensors that change places.
#[test]
fn tensors_in_other_places() {
    let of = |yields: &str, results: &str| {
        format!(
            "func.func @f(%x: TENSOR, %y: TENSOR) -> (TENSOR, TENSOR) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %n = arith.constant {COUNT} : index
               %r:2 = scf.for %q = %c0 to %n step %c1 iter_args(%s = %x, %t = %y) -> (TENSOR, TENSOR) {{
                 %p = tensor.extract_slice %x[%q] [1] [1] : TENSOR to tensor<1xf32>
                 %u = tensor.insert_slice %p into %t[%q] [1] [1] : tensor<1xf32> into TENSOR
                 scf.yield {yields} : TENSOR, TENSOR
               }}
               return {results} : TENSOR, TENSOR
             }}"
        )
        .replace("TENSOR", &format!("tensor<{COUNT}xf32>"))
    };
    let copied = of("%s, %u", "%r#0, %r#1");
    same(&copied, &of("%s, %u", "%x, %x"), NONE);
    for (yields, results) in [
        ("%u, %s", "%r#0, %r#1"),
        ("%s, %u", "%r#1, %y"),
        ("%t, %u", "%r#0, %r#1"),
        ("%s, %t", "%r#0, %r#1"),
        ("%t, %s", "%r#0, %r#1"),
    ] {
        not_same(&copied, &of(yields, results), NONE);
    }
}

#[test]
fn lanes_of_two_vectors_in_turn() {
    let many = COUNT / 8;
    let of = |body: &str| {
        format!(
            "func.func @f(%x: memref<{many}x8xf32>, %y: memref<{many}x8xf32>, %z: memref<{many}x16xf32>) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %c8 = arith.constant 8 : index
               %n = arith.constant {many} : index
               scf.for %i = %c0 to %n step %c1 {{
                 {body}
               }}
               return
             }}"
        )
        .replace("MEM", &format!("memref<{many}x8xf32>"))
    };
    let scalar = of(&format!(
        "scf.for %q = %c0 to %c8 step %c1 {{
           %even = affine.apply affine_map<(d0) -> (d0 * 2)>(%q)
           %odd = affine.apply affine_map<(d0) -> (d0 * 2 + 1)>(%q)
           %a = memref.load %x[%i, %q] : MEM
           %b = memref.load %y[%i, %q] : MEM
           memref.store %a, %z[%i, %even] : memref<{many}x16xf32>
           memref.store %b, %z[%i, %odd] : memref<{many}x16xf32>
         }}"
    ));
    let vector = of(&format!(
        "%a = vector.load %x[%i, %c0] : MEM, vector<8xf32>
         %b = vector.load %y[%i, %c0] : MEM, vector<8xf32>
         %c = vector.shuffle %a, %b [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15] : vector<8xf32>, vector<8xf32>
         vector.store %c, %z[%i, %c0] : memref<{many}x16xf32>, vector<16xf32>"
    ));
    no_other(
        &scalar,
        &vector,
        &[
            ("[0, 8, 1", "[8, 0, 1"),
            ("7, 15]", "7, 14]"),
            ("5, 13", "13, 5"),
            ("3, 11, 4, 12", "4, 12, 3, 11"),
            ("%a, %b [", "%b, %a ["),
            ("6, 14", "6, 6"),
            ("%c0 to %n", "%c1 to %n"),
        ],
        NONE,
    );
}
