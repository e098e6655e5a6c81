//! Buffers that are parts of an arena: right places, and places where two buffers share bytes at once.

use super::{COUNT, NONE, compared};
use layout_verify::Limits;

/// Three buffers one after the other, of which the third one can be where the first one was.
fn before() -> String {
    function(
        "",
        "%a = memref.alloc() : MEM
         linalg.exp ins(%x : MEM) outs(%a : MEM)
         %b = memref.alloc() : MEM
         linalg.negf ins(%a : MEM) outs(%b : MEM)
         %c = memref.alloc() : MEM
         linalg.exp ins(%b : MEM) outs(%c : MEM)
         linalg.add ins(%b, %c : MEM, MEM) outs(%y : MEM)",
    )
}

/// The same, in an arena, with a change.
fn after(arena: &str, change: (&str, &str)) -> String {
    let body = format!(
        "{arena}
         %a = memref.view %arena[%c0][] : BYTES to MEM
         linalg.exp ins(%x : MEM) outs(%a : MEM)
         %b = memref.view %arena[%first][] : BYTES to MEM
         linalg.negf ins(%a : MEM) outs(%b : MEM)
         %c = memref.view %arena[%c0][] : BYTES to MEM
         linalg.exp ins(%b : MEM) outs(%c : MEM)
         linalg.add ins(%b, %c : MEM, MEM) outs(%y : MEM)
         // end"
    );
    assert!(change.0.is_empty() || body.contains(change.0), "{} is not in\n{body}", change.0);
    let body = if change.0.is_empty() { body } else { body.replacen(change.0, change.1, 1) };
    function(if arena.is_empty() { ", %arena: BYTES" } else { "" }, &body)
}

fn function(argument: &str, body: &str) -> String {
    format!(
        "func.func @f(%x: MEM, %y: MEM{argument}) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c2 = arith.constant 2 : index
           %c4 = arith.constant 4 : index
           %below = arith.constant -4 : index
           %early = arith.constant {} : index
           %first = arith.constant {} : index
           %past = arith.constant {} : index
           {body}
           return
         }}",
        4 * COUNT - 4,
        4 * COUNT,
        4 * COUNT + 4
    )
    .replace("MEM", &format!("memref<{COUNT}xf32>"))
    .replace("BYTES", &format!("memref<{}xi8>", 8 * COUNT))
}

fn found(arena: &str, change: (&str, &str)) -> Vec<String> {
    compared(&before(), &after(arena, change), Limits { arenas: true, ..NONE })
}

const ALLOCATED: &str = "%arena = memref.alloc() : BYTES";

#[test]
fn buffers_are_parts_of_an_arena_one_after_the_other() {
    assert_eq!(found("", ("", "")), [""; 0]);
    assert_eq!(found(ALLOCATED, ("", "")), [""; 0]);
    assert_eq!(found(ALLOCATED, ("// end", "memref.dealloc %arena : BYTES")), [""; 0]);
}

#[test]
fn buffers_that_share_bytes_at_once_are_not() {
    let changes = [
        // The second one is where the first one is, or its first or last element is.
        ("%arena[%first]", "%arena[%c0]"),
        ("%arena[%first]", "%arena[%early]"),
        // Behind the end of the arena, and before its beginning.
        ("%arena[%first]", "%arena[%past]"),
        ("%a = memref.view %arena[%c0]", "%a = memref.view %arena[%below]"),
        // The third one is where the second one still is.
        ("%c = memref.view %arena[%c0]", "%c = memref.view %arena[%first]"),
        ("%c = memref.view %arena[%c0]", "%c = memref.view %arena[%c4]"),
        // No element of its type begins there.
        ("%a = memref.view %arena[%c0]", "%a = memref.view %arena[%c2]"),
        // The first one is read again after the third one is made.
        ("linalg.add ins(%b, %c :", "linalg.add ins(%a, %c :"),
        ("linalg.add ins(%b, %c : MEM, MEM)", "linalg.exp ins(%a : MEM)"),
        // Another one is read.
        ("linalg.negf ins(%a :", "linalg.negf ins(%b :"),
    ];
    for change in changes {
        for arena in ["", ALLOCATED] {
            assert!(!found(arena, change).is_empty(), "shown: {}", after(arena, change));
        }
    }
    assert!(!found("", ("// end", "memref.dealloc %arena : BYTES")).is_empty());
    for end in [
        ("linalg.exp ins(%b", "memref.dealloc %arena : BYTES\nlinalg.exp ins(%b"),
        ("// end", "memref.dealloc %arena : BYTES\nmemref.dealloc %arena : BYTES"),
        ("// end", "memref.dealloc %b : MEM"),
        // A view of the arena behind its end, and one inside of a region.
        ("%c = memref.view", "memref.dealloc %arena : BYTES\n%c = memref.view"),
        (
            "// end",
            "memref.dealloc %arena : BYTES
             scf.execute_region {
               %d = memref.view %arena[%c0][] : BYTES to MEM
               linalg.exp ins(%x : MEM) outs(%d : MEM)
               linalg.add ins(%b, %d : MEM, MEM) outs(%y : MEM)
               scf.yield
             }",
        ),
        ("// end", "scf.for %i = %c0 to %c2 step %c1 {\nmemref.dealloc %arena : BYTES\n}"),
    ] {
        assert!(!found(ALLOCATED, end).is_empty(), "shown: {}", after(ALLOCATED, end));
    }
}

/// A function that is called may not free a part of an arena.
#[test]
fn parts_of_an_arena_are_not_freed_by_calls() {
    let text = |callee: &str, buffer: &str| {
        let body =
            format!("{buffer}\nlinalg.exp ins(%x : MEM) outs(%a : MEM)\nfunc.call @g(%a, %y) : (MEM, MEM) -> ()");
        let callee = format!("func.func private @g(%m: MEM, %y: MEM) {{ {callee}\nreturn }}\n");
        callee.replace("MEM", &format!("memref<{COUNT}xf32>")) + &function("", &body)
    };
    let (allocation, exp) = ("%a = memref.alloc() : MEM", "linalg.exp ins(%m : MEM) outs(%y : MEM)");
    let part = format!("{ALLOCATED}\n%a = memref.view %arena[%c0][] : BYTES to MEM");
    assert_eq!(compared(&text(exp, allocation), &text(exp, &part), NONE), [""; 0]);
    let frees = format!("{exp}\nmemref.dealloc %m : MEM");
    let found = compared(&text(&frees, allocation), &text(&frees, &part), NONE);
    assert!(found.iter().any(|message| message.contains("a part of an arena that a function may free")), "{found:?}");
}

/// Parts of an arena in a loop: two of an iteration, and one that lives through all of them.
#[test]
fn lives_in_loops_are_those_of_iterations() {
    let text = |kept: &str, arguments: &str, views: &str| {
        function(
            arguments,
            &format!(
                "{kept}
                 scf.for %i = %c0 to %c2 step %c1 {{
                   {views}
                   linalg.exp ins(%x : MEM) outs(%a : MEM)
                   linalg.exp ins(%a : MEM) outs(%b : MEM)
                   linalg.exp ins(%b : MEM) outs(%x : MEM)
                 }}"
            ),
        )
    };
    let allocations = "%a = memref.alloc() : MEM\n%b = memref.alloc() : MEM";
    let before = text("", "", allocations);
    let views = |a: &str, b: &str| {
        format!("%a = memref.view %arena[{a}][] : BYTES to MEM\n%b = memref.view %arena[{b}][] : BYTES to MEM")
    };
    let shown = |text: String| compared(&before, &text, Limits { arenas: true, ..NONE }).is_empty();
    assert!(shown(text("", ", %arena: BYTES", &views("%c0", "%first"))));
    assert!(!shown(text("", ", %arena: BYTES", &views("%c0", "%early"))));
    assert!(!shown(text("", ", %arena: BYTES", &views("%first", "%c1"))));
    let (first, second) =
        ("%a = memref.view %arena[%c0][] : BYTES to MEM", "%b = memref.view %arena[%c0][] : BYTES to MEM");
    assert!(!shown(text(first, ", %arena: BYTES", second)));
}
