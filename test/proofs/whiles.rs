//! Loops whose end data decide: which iterations there are, what they carry, and whose memory that is.

use super::{NONE, REASSOCIATE, no_other, not_same, same};

const SHAPES: [(&str, &str); 2] = [("TENSOR", "tensor<64xf32>"), ("MEM", "memref<64xf32>")];

fn with_shapes(text: String) -> String {
    SHAPES.iter().fold(text, |text, (name, shape)| text.replace(name, shape))
}

/// A function on tensors with this loop.
fn on_tensors(r#loop: &str, results: &str) -> String {
    let types = if results.contains(',') { "TENSOR, TENSOR" } else { "TENSOR" };
    with_shapes(format!(
        "func.func @f(%x: TENSOR, %n: i32) -> ({types}) {{
           %i0 = arith.constant 0 : i32
           %i1 = arith.constant 1 : i32
           %last = arith.constant 63 : index
           {loop}
           return {results} : {types}
         }}"
    ))
}

/// A function on memory with these operations.
fn on_memory(body: &str, results: &str) -> String {
    let types = if results.contains(',') { "MEM, MEM" } else { "MEM" };
    with_shapes(format!(
        "func.func @f(%x: MEM, %n: i32) -> ({types}) {{
           %i0 = arith.constant 0 : i32
           %i1 = arith.constant 1 : i32
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c64 = arith.constant 64 : index
           %last = arith.constant 63 : index
           {body}
           return {results} : {types}
         }}"
    ))
}

/// `(s, t) = (reverse(s) + t, s)`, n times.
fn two_tensors() -> String {
    on_tensors(
        "%r:3 = scf.while (%i = %i0, %s = %x, %t = %x) : (i32, TENSOR, TENSOR) -> (i32, TENSOR, TENSOR) {
           %go = arith.cmpi slt, %i, %n : i32
           scf.condition(%go) %i, %s, %t : i32, TENSOR, TENSOR
         } do {
         ^bb0(%i: i32, %s: TENSOR, %t: TENSOR):
           %u = tensor.generate {
           ^bb0(%k: index):
             %l = arith.subi %last, %k : index
             %p = tensor.extract %s[%l] : TENSOR
             %q = tensor.extract %t[%k] : TENSOR
             %e = arith.addf %p, %q : f32
             tensor.yield %e : f32
           } : TENSOR
           %next = arith.addi %i, %i1 : i32
           scf.yield %next, %u, %s : i32, TENSOR, TENSOR
         }",
        "%r#1, %r#2",
    )
}

#[test]
fn memory_that_is_handed_from_one_to_the_other() {
    let after = on_memory(
        "%a = memref.alloc() : MEM
         memref.copy %x, %a : MEM to MEM
         %b = memref.alloc() : MEM
         memref.copy %x, %b : MEM to MEM
         %r:3 = scf.while (%i = %i0, %s = %a, %t = %b) : (i32, MEM, MEM) -> (i32, MEM, MEM) {
           %go = arith.cmpi slt, %i, %n : i32
           scf.condition(%go) %i, %s, %t : i32, MEM, MEM
         } do {
         ^bb0(%i: i32, %s: MEM, %t: MEM):
           %u = memref.alloc() : MEM
           scf.for %k = %c0 to %c64 step %c1 {
             %l = arith.subi %last, %k : index
             %p = memref.load %s[%l] : MEM
             %q = memref.load %t[%k] : MEM
             %e = arith.addf %p, %q : f32
             memref.store %e, %u[%k] : MEM
           }
           memref.dealloc %t : MEM
           %next = arith.addi %i, %i1 : i32
           scf.yield %next, %u, %s : i32, MEM, MEM
         }",
        "%r#1, %r#2",
    );
    no_other(
        &two_tensors(),
        &after,
        &[
            ("slt", "sle"),
            ("slt", "ult"),
            ("slt, %i, %n", "slt, %n, %i"),
            ("%i = %i0", "%i = %i1"),
            ("%i, %i1", "%i, %i"),
            ("%next, %u, %s", "%next, %s, %u"),
            ("%next, %u, %s", "%next, %u, %u"),
            ("%next, %u, %s", "%next, %s, %s"),
            ("%next, %u, %s", "%next, %u, %t"),
            ("%next, %u, %s", "%next, %u, %a"),
            ("%next, %u, %s", "%next, %u, %b"),
            ("%next, %u, %s", "%next, %u, %x"),
            ("%next, %u, %s", "%i, %u, %s"),
            ("scf.condition(%go) %i, %s, %t", "scf.condition(%go) %i, %t, %s"),
            ("scf.condition(%go) %i, %s, %t", "scf.condition(%go) %i, %s, %s"),
            ("scf.condition(%go) %i, %s, %t", "scf.condition(%go) %i, %s, %b"),
            ("scf.condition(%go) %i, %s, %t", "scf.condition(%go) %n, %s, %t"),
            ("memref.dealloc %t", "memref.dealloc %s"),
            ("memref.dealloc %t", "memref.dealloc %u"),
            ("memref.dealloc %t", "memref.dealloc %a"),
            ("memref.dealloc %t", "memref.dealloc %b"),
            ("memref.dealloc %t : MEM", "memref.dealloc %t : MEM\n memref.dealloc %t : MEM"),
            ("memref.dealloc %t : MEM", "memref.dealloc %t : MEM\n memref.dealloc %s : MEM"),
            ("%u = memref.alloc() : MEM", "%u = memref.alloc() : MEM\n memref.dealloc %t : MEM"),
            ("%u = memref.alloc() : MEM", "%u = memref.alloca() : MEM"),
            ("%a = memref.alloc() : MEM", "%a = memref.alloca() : MEM"),
            ("%b = memref.alloc() : MEM", "%b = memref.alloca() : MEM"),
            ("%go = arith", "memref.dealloc %t : MEM\n %go = arith"),
            ("return", "memref.dealloc %r#2 : MEM\n return"),
            ("return", "memref.dealloc %a : MEM\n return"),
            ("return", "memref.dealloc %b : MEM\n return"),
            ("return %r#1, %r#2", "return %r#2, %r#1"),
            ("return %r#1, %r#2", "return %r#1, %r#1"),
            ("return %r#1, %r#2", "return %r#1, %b"),
            ("%t = %b", "%t = %a"),
            ("%s = %a", "%s = %b"),
            ("%s = %a", "%s = %x"),
            ("%t = %b", "%t = %x"),
            ("%e, %u[%k]", "%e, %t[%k]"),
            ("%e, %u[%k]", "%e, %s[%k]"),
            ("%e, %u[%k]", "%e, %u[%l]"),
            ("%s[%l]", "%s[%k]"),
            ("%s[%l]", "%a[%l]"),
            ("%t[%k]", "%b[%k]"),
            ("%t[%k]", "%s[%k]"),
            ("memref.store %e, %u[%k]", "memref.store %e, %a[%k] : MEM\n memref.store %e, %u[%k]"),
            ("memref.store %e, %u[%k]", "memref.store %e, %b[%k] : MEM\n memref.store %e, %u[%k]"),
            ("memref.store %e, %u[%k]", "memref.store %e, %x[%k] : MEM\n memref.store %e, %u[%k]"),
        ]
        .map(|(from, to)| (with_shapes(from.to_owned()), with_shapes(to.to_owned())))
        .iter()
        .map(|(from, to)| (&**from, &**to))
        .collect::<Vec<_>>(),
        NONE,
    );
}

/// `s = reverse(s) + x`, n times.
fn one_tensor() -> String {
    on_tensors(
        "%r:2 = scf.while (%i = %i0, %s = %x) : (i32, TENSOR) -> (i32, TENSOR) {
           %go = arith.cmpi slt, %i, %n : i32
           scf.condition(%go) %i, %s : i32, TENSOR
         } do {
         ^bb0(%i: i32, %s: TENSOR):
           %u = tensor.generate {
           ^bb0(%k: index):
             %l = arith.subi %last, %k : index
             %p = tensor.extract %s[%l] : TENSOR
             %q = tensor.extract %x[%k] : TENSOR
             %e = arith.addf %p, %q : f32
             tensor.yield %e : f32
           } : TENSOR
           %next = arith.addi %i, %i1 : i32
           scf.yield %next, %u : i32, TENSOR
         }",
        "%r#1",
    )
}

/// [`one_tensor`] with memory of before the loop, in which each iteration leaves what the next one copies, and a number in memory.
fn in_one_buffer(condition: &str, body: &str) -> String {
    on_memory(
        &format!(
            "%h = memref.alloc() : MEM
             %a = memref.alloc() : MEM
             memref.copy %x, %a : MEM to MEM
             %count = memref.alloc() : memref<i32>
             memref.store %i0, %count[] : memref<i32>
             %r = scf.while (%s = %a) : (MEM) -> MEM {{
               {condition}
             }} do {{
             ^bb0(%c: MEM):
               {body}
               scf.yield %h : MEM
             }}
             memref.dealloc %a : MEM
             memref.dealloc %h : MEM
             memref.dealloc %count : memref<i32>"
        ),
        "%r",
    )
}

#[test]
fn memory_of_before_the_loop() {
    let condition = "%i = memref.load %count[] : memref<i32>
                     %go = arith.cmpi slt, %i, %n : i32
                     %b = memref.alloc() : MEM
                     memref.copy %s, %b : MEM to MEM
                     scf.condition(%go) %b : MEM";
    let body = "scf.for %k = %c0 to %c64 step %c1 {
                  %l = arith.subi %last, %k : index
                  %p = memref.load %c[%l] : MEM
                  %q = memref.load %x[%k] : MEM
                  %e = arith.addf %p, %q : f32
                  memref.store %e, %h[%k] : MEM
                }
                memref.dealloc %c : MEM
                %j = memref.load %count[] : memref<i32>
                %next = arith.addi %j, %i1 : i32
                memref.store %next, %count[] : memref<i32>";
    let increment = "%j0 = memref.load %count[] : memref<i32>
                     %j1 = arith.addi %j0, %i1 : i32
                     memref.store %j1, %count[] : memref<i32>
                     %go";
    let wrong = [
        // What the condition reads was changed, or is changed twice.
        ("%i = memref", &*format!("{increment}0 = arith.constant true\n %i = memref")),
        ("%go = arith", &*format!("{increment} = arith")),
        ("memref.store %next, %count[] : memref<i32>", ""),
        ("memref.store %next", "memref.store %i1"),
        (
            "%count[] : memref<i32>\n             %r",
            "%count[] : memref<i32>\n memref.store %i1, %count[] : memref<i32>\n %r",
        ),
        // What is handed on is written, or not all of it, or freed.
        ("scf.condition(%go) %b", "memref.dealloc %b : MEM\n scf.condition(%go) %s"),
        ("scf.condition(%go) %b", "scf.condition(%go) %s"),
        ("scf.condition(%go) %b", "scf.condition(%go) %h"),
        ("scf.condition(%go) %b", "memref.dealloc %b : MEM\n scf.condition(%go) %b"),
        ("scf.condition(%go) %b", "scf.condition(%go) %a"),
        ("scf.condition(%go) %b", "scf.condition(%go) %x"),
        ("memref.copy %s, %b : MEM to MEM", "memref.copy %a, %b : MEM to MEM"),
        ("memref.copy %s, %b : MEM to MEM", "memref.copy %h, %b : MEM to MEM"),
        ("memref.copy %s, %b : MEM to MEM", "memref.copy %x, %h : MEM to MEM\n memref.copy %s, %b : MEM to MEM"),
        ("memref.copy %s, %b : MEM to MEM", "memref.copy %s, %b : MEM to MEM\n memref.dealloc %s : MEM"),
        ("%b = memref.alloc()", "%b = memref.alloca()"),
        ("memref.dealloc %c", "memref.dealloc %h"),
        ("memref.dealloc %c", "memref.dealloc %a"),
        ("%c[%l]", "%h[%l]"),
        ("%c[%l]", "%c[%k]"),
        ("%c0 to %c64", "%c1 to %c64"),
        ("scf.yield %h", "scf.yield %a"),
        ("scf.yield %h", "scf.yield %x"),
        ("%h = memref.alloc()", "%h = memref.alloca()"),
        ("return %r", "memref.dealloc %r : MEM\n return %r"),
        ("return %r", "return %h"),
        ("return %r", "return %a"),
    ];
    let wrong: Vec<_> =
        wrong.iter().map(|(a, b)| (with_shapes((*a).to_owned()), with_shapes((*b).to_owned()))).collect();
    let wrong: Vec<_> = wrong.iter().map(|(a, b)| (&**a, &**b)).collect();
    no_other(&one_tensor(), &in_one_buffer(condition, body), &wrong, NONE);
}

/// The result of one loop is not the value in an iteration of another.
#[test]
fn an_iteration_and_the_last_one() {
    let body = |of: &str| {
        format!(
            "%u = tensor.generate {{
             ^bb0(%k: index):
               %p = tensor.extract %s[%k] : TENSOR
               %e = arith.mulf %p, %p : f32
               tensor.yield %e : f32
             }} : TENSOR
             %v = tensor.generate {{
             ^bb0(%k: index):
               %p = tensor.extract {of}[%k] : TENSOR
               %q = tensor.extract %t[%k] : TENSOR
               %e = arith.addf %p, %q : f32
               tensor.yield %e : f32
             }} : TENSOR
             %next = arith.addi %i, %i1 : i32
             scf.yield %next, %u, %v : i32, TENSOR, TENSOR"
        )
    };
    let r#loop = |name: &str, of: &str| {
        format!(
            "%{name}:3 = scf.while (%i = %i0, %s = %x, %t = %x) : (i32, TENSOR, TENSOR) -> (i32, TENSOR, TENSOR) {{
               %go = arith.cmpi slt, %i, %n : i32
               scf.condition(%go) %i, %s, %t : i32, TENSOR, TENSOR
             }} do {{
             ^bb0(%i: i32, %s: TENSOR, %t: TENSOR):
               {}
             }}",
            body(of)
        )
    };
    let two = |of: &str| on_tensors(&format!("{}\n{}", r#loop("first", "%s"), r#loop("r", of)), "%r#1, %r#2");
    let one = on_tensors(&r#loop("r", "%s"), "%r#1, %r#2");
    for limits in [NONE, REASSOCIATE] {
        same(&one, &two("%s"), limits);
        same(&two("%first#1"), &two("%first#1"), limits);
        not_same(&one, &two("%first#1"), limits);
        not_same(&two("%first#1"), &one, limits);
        not_same(&two("%first#1"), &two("%first#2"), limits);
        not_same(&one, &two("%s").replacen("slt", "sle", 1).replace("%r#1, %r#2", "%first#1, %r#2"), limits);
    }
}

/// Where no result depends on a loop, it ends nevertheless.
#[test]
fn loops_that_do_not_end() {
    let of = |condition: &str| {
        on_tensors(
            &format!(
                "%r = scf.while (%i = %i0) : (i32) -> i32 {{
                   %go = arith.cmpi {condition} : i32
                   scf.condition(%go) %i : i32
                 }} do {{
                 ^bb0(%i: i32):
                   %next = arith.addi %i, %i1 : i32
                   scf.yield %next : i32
                 }}"
            ),
            "%x",
        )
    };
    let none = on_tensors("", "%x");
    no_other(
        &of("slt, %i, %n"),
        &of("slt, %i, %n"),
        &[("%i, %n", "%i0, %i1"), ("slt", "sge"), ("%i, %i1", "%i, %i0")],
        NONE,
    );
    // Behind a loop that is gone, what runs may be what was never reached.
    not_same(&of("slt, %i, %n"), &none, NONE);
    not_same(&none, &of("slt, %i0, %i1"), NONE);
}

/// A loop in a loop, both of as many iterations as data say.
#[test]
fn loops_in_each_other() {
    let of = |first: &str, inner: &str, next: &str| {
        on_tensors(
            &format!(
                "%r:2 = scf.while (%i = %i0, %s = %x) : (i32, TENSOR) -> (i32, TENSOR) {{
                   %go = arith.cmpi slt, %i, %n : i32
                   scf.condition(%go) %i, %s : i32, TENSOR
                 }} do {{
                 ^bb0(%i: i32, %s: TENSOR):
                   %q:2 = scf.while (%j = {first}, %t = %s) : (i32, TENSOR) -> (i32, TENSOR) {{
                     %go = arith.cmpi slt, %j, {inner} : i32
                     scf.condition(%go) %j, %t : i32, TENSOR
                   }} do {{
                   ^bb0(%j: i32, %t: TENSOR):
                     %u = tensor.generate {{
                     ^bb0(%k: index):
                       %l = arith.subi %last, %k : index
                       %p = tensor.extract %t[%l] : TENSOR
                       %e = arith.addf %p, %p : f32
                       tensor.yield %e : f32
                     }} : TENSOR
                     %next = arith.addi %j, %i1 : i32
                     scf.yield %next, %u : i32, TENSOR
                   }}
                   %next = arith.addi %i, %i1 : i32
                   scf.yield %next, {next} : i32, TENSOR
                 }}"
            ),
            "%r#1",
        )
    };
    let right = of("%i0", "%n", "%q#1");
    same(&right, &right, NONE);
    for (first, inner, next) in
        [("%i1", "%n", "%q#1"), ("%i", "%n", "%q#1"), ("%i0", "%i", "%q#1"), ("%i0", "%n", "%s")]
    {
        not_same(&right, &of(first, inner, next), NONE);
        not_same(&of(first, inner, next), &right, NONE);
    }
}

/// `h = h + s`, n times, with memory `a` and `s` and what a body does before and after.
fn summed(first: &str, last: &str, next: &str) -> String {
    on_memory(
        &format!(
            "%zero = arith.constant 0.0 : f32
             %a = memref.alloc() : MEM
             memref.copy %x, %a : MEM to MEM
             %g = memref.alloc() : MEM
             memref.copy %x, %g : MEM to MEM
             %h = memref.alloc() : MEM
             memref.copy %x, %h : MEM to MEM
             %r:2 = scf.while (%i = %i0, %s = %a) : (i32, MEM) -> (i32, MEM) {{
               %go = arith.cmpi slt, %i, %n : i32
               scf.condition(%go) %i, %s : i32, MEM
             }} do {{
             ^bb0(%i: i32, %s: MEM):
               {first}
               scf.for %k = %c0 to %c64 step %c1 {{
                 %p = memref.load %h[%k] : MEM
                 %q = memref.load %s[%k] : MEM
                 %e = arith.addf %p, %q : f32
                 memref.store %e, %h[%k] : MEM
               }}
               {last}
               %next = arith.addi %i, %i1 : i32
               scf.yield %next, {next} : i32, MEM
             }}"
        ),
        "%h",
    )
}

/// Memory that each iteration hands on as it is, and that is written after the last time that an iteration reads it.
#[test]
fn memory_that_stays_is_read_again() {
    let sum = on_tensors(
        "%r:2 = scf.while (%i = %i0, %o = %x) : (i32, TENSOR) -> (i32, TENSOR) {
           %go = arith.cmpi slt, %i, %n : i32
           scf.condition(%go) %i, %o : i32, TENSOR
         } do {
         ^bb0(%i: i32, %o: TENSOR):
           %u = tensor.generate {
           ^bb0(%k: index):
             %p = tensor.extract %o[%k] : TENSOR
             %q = tensor.extract %x[%k] : TENSOR
             %e = arith.addf %p, %q : f32
             tensor.yield %e : f32
           } : TENSOR
           %next = arith.addi %i, %i1 : i32
           scf.yield %next, %u : i32, TENSOR
         }",
        "%r#1",
    );
    let filled = |memory: &str| format!("linalg.fill ins(%zero : f32) outs(%{memory} : memref<64xf32>)");
    same(&sum, &summed("", "", "%s"), NONE);
    same(&sum, &summed("", &filled("g"), "%s"), NONE);
    not_same(&sum, &summed("", &filled("a"), "%s"), NONE);
    not_same(&sum, &summed(&filled("a"), "", "%s"), NONE);
}

/// An inner loop hands on memory from outside, which the outer loop writes where it still has that name.
#[test]
fn memory_that_an_inner_loop_hands_on() {
    let inner = with_shapes(
        "memref.copy %x, %g : MEM to MEM
         %t = scf.while (%t = %g) : (MEM) -> MEM {
           %no = arith.constant false
           scf.condition(%no) %t : MEM
         } do {
         ^bb0(%t: MEM):
           scf.yield %t : MEM
         }"
        .to_owned(),
    );
    let fill = "linalg.fill ins(%zero : f32) outs(%g : memref<64xf32>)";
    not_same(&summed("", &inner, "%t"), &summed(fill, &inner, "%t"), NONE);
}
