//! Pairs of different programs, of kinds that a proof once accepted: each must be refused, and the first program must
//! be accepted against itself, so that the difference is the reason.

use super::programs::*;
use crate::proof::{Pairs, Why, same};
use crate::reader::model::*;

/// The answer of [`crate::proof::same`] for two functions, with a global `@c` of these elements in each program.
fn shown(meant: (&Function, Option<Vec<u64>>), made: (&Function, Option<Vec<u64>>)) -> Result<(), String> {
    let [a, b] = [meant.1, made.1].map(|items| {
        let global = Global { r#type: memref(&[2]), items, constant: true, public: false, rest: String::new() };
        Program { globals: [("c".to_owned(), global)].into(), ..Program::default() }
    });
    let found = same((&a, meant.0), (&b, made.0), (0, &mut 500_000, Pairs::All), false);
    found.map(|_| ()).map_err(|why| match why {
        Why::Open(why) | Why::Wrong(why) => why,
    })
}

/// Checks that `made(false)` is accepted against itself, and refused against `made(true)` for this reason.
fn refused(why: &str, made: impl Fn(bool) -> Function) {
    let [good, bad] = [false, true].map(made);
    let items = || Some(vec![1, 2]);
    assert_eq!(shown((&good, items()), (&good, items())), Ok(()), "{why}");
    let found = shown((&good, items()), (&bad, items())).expect_err(why);
    assert!(found.contains(why), "expected `{why}`, found `{found}`");
}

#[test]
fn lanes_of_a_returned_vector() {
    refused("is read at", |bad| {
        let mut f = Writing::new(vec![memref(&[4])]);
        let zero = f.index(0);
        let x = f.load_lanes(0, vec![operand(0)], &[zero], 4);
        let x = if bad { f.shuffle(x, &[0, 2, 1, 3]) } else { x };
        f.done(vec![x])
    });
}

#[test]
fn lanes_of_a_vector_that_is_an_argument() {
    refused("is read at", |bad| {
        let mut f = Writing::new(vec![vector(2), memref(&[2])]);
        let zero = f.index(0);
        let x = if bad { f.shuffle(0, &[1, 0]) } else { 0 };
        f.store_lanes(x, 1, vec![operand(0)], &[zero], 2);
        f.done(vec![])
    });
}

#[test]
fn lanes_that_change_places_in_each_iteration() {
    refused("a lane of what a loop carries that becomes another", |bad| {
        let mut f = Writing::new(vec![memref(&[2]), memref(&[2])]);
        let zero = f.index(0);
        let x = f.load_lanes(0, vec![operand(0)], &[zero], 2);
        let x = f.carrying((0, vec![number(3)], 1), &[], vec![x], |f, arguments| {
            vec![f.shuffle(arguments[1], if bad { &[1, 0] } else { &[0, 1] })]
        });
        f.store_lanes(x[0], 1, vec![operand(0)], &[zero], 2);
        f.done(vec![])
    });
}

/// For each i from 1 on, `a[i] = x[i]` and `y[i] = a[i - 1]`: from before the loop, or the previous iteration.
#[test]
fn an_element_that_the_iteration_before_wrote() {
    refused("differs from one of argument", |bad| {
        let mut f = Writing::new(vec![memref(&[8]), memref(&[8]), memref(&[8])]);
        let old = f.allocate(&[8]);
        f.each(8, |f, i| {
            let x = f.load(1, vec![operand(0)], &[i]);
            f.store(x, old, vec![operand(0)], &[i]);
        });
        f.carrying((1, vec![number(8)], 1), &[], vec![], |f, arguments| {
            let i = arguments[0];
            let x = f.load(0, vec![operand(0)], &[i]);
            f.store(x, 1, vec![operand(0)], &[i]);
            let y = f.load(if bad { 1 } else { old }, vec![sum(operand(0), number(-1))], &[i]);
            f.store(y, 2, vec![operand(0)], &[i]);
            vec![]
        });
        f.done(vec![])
    });
}

#[test]
fn memory_that_parallel_iterations_share() {
    refused("memory that a parallel loop reads and writes", |bad| {
        let mut f = Writing::new(vec![memref(&[4]), memref(&[4])]);
        let shared = f.allocate(&[1]);
        f.parallel(4, |f, i| {
            let own = if bad { shared } else { f.allocate(&[1]) };
            let x = f.load(0, vec![operand(0)], &[i]);
            f.store(x, own, vec![number(0)], &[]);
            let x = f.load(own, vec![number(0)], &[]);
            f.store(x, 1, vec![operand(0)], &[i]);
        });
        f.done(vec![])
    });
}

#[test]
fn a_store_to_a_constant() {
    refused("a store to a constant", |bad| {
        let mut f = Writing::new(vec![memref(&[2])]);
        let global = |f: &mut Writing| f.one("memref.get_global", memref(&[2]), Action::Global("c".to_owned()));
        let c = global(&mut f);
        if bad {
            let x = f.load(0, vec![number(1)], &[]);
            f.store(x, c, vec![number(0)], &[]);
        }
        let c = global(&mut f);
        let x = f.load(c, vec![number(0)], &[]);
        f.store(x, 0, vec![number(0)], &[]);
        f.done(vec![])
    });
}

#[test]
fn freed_memory_that_was_not_allocated() {
    for of_global in [true, false] {
        refused("memory that is freed where it was not allocated", |bad| {
            let mut f = Writing::new(vec![memref(&[2])]);
            let a = match of_global {
                true => f.one("memref.get_global", memref(&[2]), Action::Global("c".to_owned())),
                false => {
                    let a = f.one("memref.alloca", memref(&[2]), Action::Empty(vec![]));
                    let x = f.load(0, vec![number(1)], &[]);
                    f.store(x, a, vec![number(0)], &[]);
                    a
                }
            };
            let x = f.load(a, vec![number(0)], &[]);
            f.store(x, 0, vec![number(0)], &[]);
            if bad {
                f.free(a);
            }
            f.done(vec![])
        });
    }
}

#[test]
fn constants_whose_elements_are_not_known() {
    let mut f = Writing::new(vec![memref(&[2])]);
    let c = f.one("memref.get_global", memref(&[2]), Action::Global("c".to_owned()));
    let x = f.load(c, vec![number(0)], &[]);
    f.store(x, 0, vec![number(0)], &[]);
    let f = f.done(vec![]);
    assert_eq!(shown((&f, Some(vec![1, 2])), (&f, Some(vec![1, 2]))), Ok(()));
    assert!(shown((&f, Some(vec![1, 2])), (&f, Some(vec![2, 2]))).is_err());
    assert!(shown((&f, None), (&f, None)).is_err());
}

/// The same tensor with a layout, and a memref with elements before its start.
#[test]
fn a_result_that_begins_elsewhere() {
    let mut meant = Writing::new(vec![tensor(&[4], None)]);
    let x = meant.one("layout.convert", tensor(&[4], Some("#layout.tiled<{0:T(4)}>")), Action::Cast(0));
    let meant = meant.done(vec![x]);
    let made = |offset: i64| {
        let mut f = Writing::new(vec![memref(&[4])]);
        let a = f.allocate(&[8]);
        f.each(4, |f, i| {
            let x = f.load(0, vec![operand(0)], &[i]);
            f.store(x, a, vec![operand(0)], &[i]);
        });
        let (offset_of, sizes, strides) = (Size::Static(offset), vec![Size::Static(4)], vec![Size::Static(1)]);
        let view = Action::Reinterpret { source: a, offset: offset_of, sizes, strides };
        let a = f.one("memref.reinterpret_cast", strided(&[4], offset, &[1], None), view);
        f.done(vec![a])
    };
    assert_eq!(shown((&meant, None), (&made(0), None)), Ok(()));
    let found = shown((&meant, None), (&made(4), None));
    assert_eq!(found, Err("result 0: a result that does not begin where its buffer does".to_owned()));
}

#[test]
fn a_result_in_another_layout() {
    refused("result 0: results of different shapes or layouts", |bad| {
        let layout = if bad { "#layout.tiled<{0,1}>" } else { "#layout.tiled<{1,0}>" };
        let mut f = Writing::new(vec![tensor(&[4, 4], None)]);
        let x = f.one("layout.convert", tensor(&[4, 4], Some(layout)), Action::Cast(0));
        f.done(vec![x])
    });
}

/// A result without its layout, whose elements are in the layout's order although it is no memory.
#[test]
fn a_tensor_that_loses_its_layout() {
    refused("result 0: results of different shapes or layouts", |bad| {
        let mut f = Writing::new(vec![tensor(&[4, 4], None)]);
        if !bad {
            let layout = Some("#layout.tiled<{1,0:T(2,2)}>");
            let x = f.one("layout.convert", tensor(&[4, 4], layout), Action::Cast(0));
            return f.done(vec![x]);
        }
        let (i, j) = (f.slot(scalar("index")), f.slot(scalar("index")));
        let body = f.region(vec![i, j], |f, index| {
            let address = f.apply(sum(times(operand(0), 4), operand(1)), index.to_vec());
            let digit = |by, to| modulo(floordiv(operand(0), by), to);
            let row = f.apply(sum(times(digit(8, 2), 2), digit(2, 2)), vec![address]);
            let column = f.apply(sum(times(digit(4, 2), 2), digit(1, 2)), vec![address]);
            let at = vec![Size::Slot(row), Size::Slot(column)];
            vec![f.one("tensor.extract", scalar("f32"), Action::Extract { source: 0, at })]
        });
        let generate = Action::Generate { source: None, sizes: vec![], body };
        let x = f.one("tensor.generate", tensor(&[4, 4], None), generate);
        f.done(vec![x])
    });
}

#[test]
fn a_result_that_became_an_argument() {
    refused("arguments or results of another number", |bad| {
        let mut f = Writing::new(vec![memref(&[1]); 1 + usize::from(bad)]);
        let x = f.load(0, vec![number(0)], &[]);
        let y = f.compute("math.exp", scalar("f32"), vec![x]);
        if bad {
            f.store(x, 1, vec![number(0)], &[]);
            f.store(y, 0, vec![number(0)], &[]);
            return f.done(vec![]);
        }
        let a = f.allocate(&[1]);
        f.store(y, a, vec![number(0)], &[]);
        f.done(vec![a])
    });
}

#[test]
fn elements_of_another_type() {
    let identity = |of: &str| Writing::new(vec![scalar(of)]).done(vec![0]);
    assert_eq!(shown((&identity("f32"), None), (&identity("f32"), None)), Ok(()));
    assert!(shown((&identity("f32"), None), (&identity("i32"), None)).is_err());
}

/// A subview of a memref whose layout is pending, from the first or from another element on, in another shape.
#[test]
fn another_part_in_another_shape() {
    let layout = "#layout.tiled<{0}>";
    let made = |offset: i64| {
        let mut f = Writing::new(vec![memref(&[32]), memref(&[1])]);
        let a = f.one("memref.alloc", pending(&[32], layout), Action::Empty(vec![]));
        f.each(32, |f, i| {
            let x = f.load(0, vec![operand(0)], &[i]);
            f.store(x, a, vec![operand(0)], &[i]);
        });
        let one = |n| vec![Size::Static(n)];
        let part = Action::Slice { source: a, insert: None, offsets: one(offset), sizes: one(16), strides: one(1) };
        let part = f.one("memref.subview", strided(&[16], offset, &[1], Some(layout)), part);
        let sizes = Some(vec![Size::Static(4), Size::Static(4)]);
        let shape = Action::Reshape { source: part, groups: vec![vec![0, 1]], sizes };
        let shape = f.one("memref.expand_shape", strided(&[4, 4], offset, &[4, 1], Some(layout)), shape);
        let x = f.load(shape, vec![number(0), number(0)], &[]);
        f.store(x, 1, vec![number(0)], &[]);
        f.done(vec![])
    };
    assert_eq!(shown((&made(16), None), (&made(16), None)), Ok(()));
    assert!(shown((&made(0), None), (&made(16), None)).is_err());
}

/// A loop over tiles of 4, whose bound for the last tile is not tight: elements 8 to 16 are not written.
#[test]
fn tiles_that_leave_a_gap() {
    let at = || {
        let tile = sum(times(floordiv(operand(0), 4), 1000), times(modulo(operand(0), 4), 2));
        vec![sum(tile, operand(1))]
    };
    let tiles = |bounded: bool| {
        let mut f = Writing::new(vec![memref(&[64]), memref(&[1200])]);
        f.each(8, |f, v| {
            let more = sum(number(100), times(modulo(operand(0), 4), -2));
            let uppers = if bounded { vec![number(2), more] } else { vec![number(2)] };
            f.carrying((0, uppers, 1), &[v], vec![], |f, arguments| {
                let index = [v, arguments[0]];
                let x = f.load(0, vec![sum(times(operand(0), 2), operand(1))], &index);
                f.store(x, 1, at(), &index);
                vec![]
            });
        });
        f.done(vec![])
    };
    let mut rows = Writing::new(vec![memref(&[64]), memref(&[1200])]);
    for (extent, from, to) in [(16, 0, 0), (8, 8, 1000)] {
        rows.each(extent, |f, i| {
            let x = f.load(0, vec![sum(operand(0), number(from))], &[i]);
            f.store(x, 1, vec![sum(operand(0), number(to))], &[i]);
        });
    }
    let rows = rows.done(vec![]);
    assert_eq!(shown((&tiles(false), None), (&tiles(false), None)), Ok(()));
    assert!(shown((&rows, None), (&tiles(true), None)).is_err());
    assert!(shown((&rows, None), (&tiles(false), None)).is_err());
}

/// Numbers beyond 64 bits give neither a proof nor a panic.
#[test]
fn numbers_that_do_not_fit() {
    let twice = |outer: i64, inner: i64| {
        let mut f = Writing::new(vec![scalar("f32")]);
        let x = f.carrying((0, vec![number(outer)], 1), &[], vec![0], |f, outer| {
            f.carrying((0, vec![number(inner)], 1), &[], vec![outer[1]], |f, inner| {
                vec![f.compute("arith.addf", scalar("f32"), vec![inner[1], 0])]
            })
        });
        f.done(x)
    };
    assert!(shown((&twice(1 << 32, 1 << 32), None), (&twice(5, 1), None)).is_err());
    let steps = |step: i64| {
        let mut f = Writing::new(vec![scalar("f32")]);
        let x = f.carrying((0, vec![number(4)], step), &[], vec![0], |f, arguments| {
            vec![f.compute("math.exp", scalar("f32"), vec![arguments[1]])]
        });
        f.done(x)
    };
    assert!(shown((&steps(4), None), (&steps(i64::MAX), None)).is_ok(), "one iteration in both");
    assert!(shown((&steps(2), None), (&steps(i64::MAX), None)).is_err());
    let huge = Writing::new(vec![memref(&[2, 1 << 62, 4])]).done(vec![]);
    assert!(shown((&huge, None), (&huge, None)).is_err());
    let tile = "#layout.tiled<{1,0:T(4611686018427387904,4)(4611686018427387904,4)}>";
    let tiles = Writing::new(vec![tensor(&[4, 4], Some(tile))]).done(vec![0]);
    assert!(shown((&tiles, None), (&tiles, None)).is_err());
    let loops = |lower: i64, upper: i64, more: i64| {
        let mut f = Writing::new(vec![memref(&[4])]);
        f.carrying((lower, vec![number(upper)], 1), &[], vec![], |f, arguments| {
            let x = f.load(0, vec![number(0)], &[]);
            f.store(x, 0, vec![modulo(sum(operand(0), number(more)), 4)], &[arguments[0]]);
            vec![]
        });
        f.done(vec![])
    };
    assert!(shown((&loops(i64::MIN, 4, 0), None), (&loops(i64::MIN, 5, 0), None)).is_err());
    assert!(shown((&loops(0, i64::MAX, i64::MAX), None), (&loops(0, i64::MAX, i64::MAX - 1), None)).is_err());
}

/// Long chains of operations are refused before they exhaust the stack, and an index of 2^40 terms is one of one term.
#[test]
fn values_of_many_operations() {
    let chain = |length: usize| {
        let mut f = Writing::new(vec![scalar("f32")]);
        let x = (0..length).fold(0, |x, _| f.compute("math.exp", scalar("f32"), vec![x]));
        f.done(vec![x])
    };
    assert!(shown((&chain(100), None), (&chain(100), None)).is_ok());
    assert!(shown((&chain(100_000), None), (&chain(100_000), None)).is_err());
    let mut f = Writing::new(vec![memref(&[4])]);
    let zero = f.index(0);
    let k = (0..40).fold(zero, |x, _| f.compute("arith.addi", scalar("index"), vec![x, x]));
    let x = f.load(0, vec![operand(0)], &[k]);
    f.store(x, 0, vec![number(1)], &[]);
    let f = f.done(vec![]);
    for noted in [false, true] {
        assert!(same((&Program::default(), &f), (&Program::default(), &f), (0, &mut 5_000, Pairs::All), noted).is_ok());
    }
}
