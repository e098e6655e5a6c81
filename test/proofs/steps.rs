//! Messages for functions that are run: sizes, data and steps.

use super::small::{function, not_same, said};
use super::{NONE, compared};
use layout_verify::Limits;

/// A message names the sizes that were tried.
#[test]
fn sizes_that_were_tried_are_named() {
    let signature = "(%x: memref<?xf32>)";
    let body = |count: &str| {
        format!(
            "%v = arith.constant 1.0 : f32
             %n = memref.dim %x, %c0 : memref<?xf32>
             {count}
             scf.for %i = %c0 to %m step %c1 {{
               memref.store %v, %x[%i] : memref<?xf32>
             }}
             return"
        )
    };
    let [all, same] = ["%n, %c0", "%c0, %n"].map(|sum| body(&format!("%m = arith.addi {sum} : index")));
    not_same(
        (signature, &all),
        (signature, &same),
        "not proved, but tried: for sizes 5 and 3 and 8 and 20 of argument 0",
    );
    // One of the sizes has a tail, whose elements are missing here.
    let whole = body("%k = arith.divui %n, %c4 : index\n%m = arith.muli %k, %c4 : index");
    not_same((signature, &all), (signature, &whole), "element 4 of argument 0");
}

#[test]
fn what_data_decides_is_tried() {
    let signature = "(%x: i1, %y: f32, %z: f32) -> f32";
    let branch = "cf.cond_br %x, ^yes, ^no
                  ^yes:
                  %a = arith.addf %y, %z : f32
                  cf.br ^last(%a : f32)
                  ^no:
                  cf.br ^last(%y : f32)
                  ^last(%v: f32):
                  return %v : f32";
    // One of the two branches is run.
    let [yes, no] = [("arith.addf", "arith.mulf"), ("^last(%y", "^last(%z")].map(|(from, to)| branch.replace(from, to));
    let found = [&yes, &no].map(|other| said((signature, branch), (signature, other))[0].join(" "));
    let is_tried = |message: &&String| message.contains("not proved, but tried: data decides a branch or an address");
    assert_eq!(found.iter().filter(is_tried).count(), 1, "{found:?}");
}

/// The least steps to compare a function with itself; the texts differ, since equal ones take none.
fn least_steps(text: &str) -> u64 {
    let before = text.replacen("cf.br", "%unused = arith.constant 1 : i32\ncf.br", 1);
    let (mut low, mut high) = (0, 1 << 12);
    while low + 1 < high {
        let steps = (low + high) / 2;
        let found = compared(&before, text, Limits { steps: Some(steps), ..NONE });
        let is_enough = !found.iter().any(|message| message.contains("too many steps"));
        (low, high) = if is_enough { (low, steps) } else { (steps, high) };
    }
    high
}

/// The step bound from the numbers in a text is at most the steps of the run. Numbers that are sums instead are not in
/// the text: the function then takes the same steps, and one more for each sum.
#[test]
fn texts_say_no_more_steps_than_there_are() {
    let inner = "%v = memref.load %x[%i] : memref<8xf32>
                 memref.store %v, %y[%i] : memref<8xf32>";
    for body in [
        format!("scf.for %i = %low to %high step %step {{ {inner} }}"),
        format!("scf.for %i = %high to %low step %step {{ {inner} }}"),
        format!("scf.for %k = %low to %high step %c1 {{ scf.for %i = %low to %k step %step {{ {inner} }} }}"),
        format!(
            "affine.for %i = max affine_map<(a) -> (a, 2)>(%low) to min affine_map<(a) -> (a, 5)>(%high) {{ {inner} }}"
        ),
        format!("scf.parallel (%k, %i) = (%low, %low) to (%c4, %high) step (%step, %c4) {{ {inner} }}"),
        format!("scf.forall (%i) = (%low) to (%high) step (%step) {{ {inner} }}"),
        format!(
            "%is = arith.cmpi slt, %low, %high : index
             scf.for %i = %low to %high step %step {{
               scf.if %is {{ scf.for %j = %low to %i step %c1 {{ {inner} }} }} else {{ {inner} }}
             }}"
        ),
        "scf.for %i = %low to %high step %step { func.call @inner(%x) : (memref<8xf32>) -> () }".to_owned(),
    ] {
        let text = |numbers: &str| {
            let f = function("(%x: memref<8xf32>, %y: memref<8xf32>)", &format!("{numbers}\n{body}\nreturn"), true);
            format!(
                "{f}\nfunc.func @inner(%x: memref<8xf32>) {{
                   affine.for %i = 0 to 7 {{
                     %v = affine.load %x[%i] : memref<8xf32>
                   }}
                   return
                 }}"
            )
        };
        let [said, hidden] = ["constant", "addi"].map(|how| {
            let number = |name: &str, n: i64| match how {
                "constant" => format!("%{name} = arith.constant {n} : index\n"),
                _ => {
                    format!("%{name}0 = arith.constant {} : index\n%{name} = arith.addi %{name}0, %c1 : index\n", n - 1)
                }
            };
            text(&[number("low", 1), number("high", 8), number("step", 3)].concat())
        });
        let (said, hidden) = (least_steps(&said), least_steps(&hidden));
        assert!(said + 3 == hidden, "{said} and {hidden} of\n{body}");
    }
}

/// A sum doubled 130 times has more terms than are counted, and differs from another element's.
#[test]
fn sums_that_double_are_told_apart() {
    let text = |first: &str| {
        let signature = "(%x: f64, %y: f64) -> f64";
        let body = format!(
            "%c130 = arith.constant 130 : index
             %r = scf.for %i = %c0 to %c130 step %c1 iter_args(%a = {first}) -> (f64) {{
               %s = arith.addf %a, %a : f64
               scf.yield %s : f64
             }}
             return %r : f64"
        );
        function(signature, &body, true)
    };
    let limits = Limits { reassociate: true, ..NONE };
    assert_eq!(compared(&text("%x"), &text("%x"), limits), [""; 0]);
    assert!(!compared(&text("%x"), &text("%y"), limits).is_empty());
}
