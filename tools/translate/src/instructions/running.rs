//! Running values: a `reduce-window` in which each window has one element more than its neighbour, as in `jnp.cumsum`.
//!
//! A window of 4 places with a padding of 3 before 4 elements has element 0 first, then 0 and 1, then 0 to 2, then all
//! of them. Window `o` gives `f(.. f(f(init, x[0]), x[1]) .., x[o])`, which is `f` of the value of the window before
//! and `x[o]`: as many steps as elements, and the same bits as window by window, whatever `f` and `init` are.
//!
//! With the padding after the elements, windows end together, and the steps go from the last element to the first.
//! Several dimensions are processed one after the other. In both cases elements are combined in another order than the
//! window's, so `f` must be a [`Monoid`](super::monoid::Monoid); with several dimensions it must have a neutral value, too,
//! with which the lines of all but the last step begin.

use super::computation::applied;
use crate::builder::Builder;
use crate::loops::Typed;
use crate::tensor::{Done, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Module;
use tensor_layout::operations::WindowDim;

/// The windows along a dimension, if all begin or all end with the elements.
#[derive(Clone, Copy)]
pub struct Running {
    /// Whether windows end with the last element; otherwise they begin with the first.
    pub backward: bool,
    /// The number of windows over padding only: the first ones, or backward the last ones.
    empty: i64,
    /// The number of windows with elements, each with one more than its neighbour.
    steps: i64,
    /// The number of elements.
    size: i64,
}

impl Running {
    /// The windows along a dimension of `size` elements; `None` where they are not running.
    pub fn new(w: &WindowDim, size: i64, windows: i64) -> Option<Running> {
        let one_by_one = (w.stride, w.window_dilation, w.base_dilation) == (1, 1, 1);
        if !one_by_one || size < 1 || windows < 2 {
            return None;
        }
        // Window 0 has the elements from `begin` to before `end`, and the next ones one further on.
        let (begin, end) = (w.low.checked_neg()?, w.size.checked_sub(w.low)?);
        let running = |backward, empty: i64| {
            let steps = windows - empty;
            (empty >= 0 && steps >= 1).then_some(Running { backward, empty, steps, size })
        };
        if begin.checked_add(windows - 1)? <= 0 && end <= 1 && end + windows - 1 <= size {
            running(false, 1 - end)
        } else if begin >= 0 && end >= size && size - begin <= windows {
            running(true, windows - (size - begin))
        } else {
            None
        }
    }
}

/// The computation that combines elements of windows.
pub struct Fold<'a> {
    pub module: &'a Module,
    pub computation: usize,
    /// The types of the results, then of the inputs.
    pub from: Vec<ElementType>,
}

impl Fold<'_> {
    /// The value of a window, from its neighbour's value and the elements of the inputs at an index.
    fn step(&self, w: &mut Writer, so_far: &[String], inputs: &[Typed], at: &[String]) -> Done<Vec<String>> {
        let elements: Vec<String> = inputs.iter().map(|t| w.load(t, at)).collect();
        let to = &self.from[..so_far.len()];
        applied(self.module, self.computation, w, &[so_far, &elements].concat(), &self.from, to)
    }
}

/// The running values along a dimension; `outs` are the types of the results, without encodings.
pub fn running(
    b: &mut Builder,
    fold: &Fold,
    (dim, running): (usize, Running),
    inputs: &[Tensor],
    inits: &[String],
    outs: &[Tensor],
) -> Done<Vec<Tensor>> {
    let inputs: Vec<Typed> = inputs.iter().map(|t| b.flattened(t)).map(|t| Typed::new(&t.name, &t.ty)).collect();
    let mut begin = Vec::new();
    for (out, init) in outs.iter().zip(inits) {
        begin.push(if running.empty > 0 { b.filled(out, init) } else { b.empty(out) });
    }
    let Running { backward, empty, steps, size } = running;
    let w = &mut b.w;
    let bounds = |w: &mut Writer, sizes: &[i64]| sizes.iter().map(|n| w.index(*n)).collect::<Vec<_>>();
    let (before, after) = (bounds(w, &outs[0].sizes[..dim]), bounds(w, &outs[0].sizes[dim + 1..]));
    let [one, end] = [1, steps].map(|n| w.index(n));
    // The element and the window of step 0: step `k` is `k` further on, or backward `k` before.
    let first = if backward { [size - 1, steps - 1] } else { [0, empty] }.map(|n| w.index(n));
    let way = if backward { "subi" } else { "addi" };
    let done = w.nest(&before, Typed::all(&begin), &mut |w, row, values| {
        let at = |k: &str, column: &[String]| [row, &[k.to_string()], column].concat();
        let begun = w.nest(&after, values, &mut |w, column, values| {
            let new = fold.step(w, inits, &inputs, &at(&first[0], column))?;
            Ok(stored(w, &new, &values, &at(&first[1], column)))
        })?;
        w.repeat([&one, &end, &one], begun, &mut |w, k, values| {
            let [element, window] = first.each_ref().map(|first| w.on_index(way, first, &k[0]));
            let last = w.on_index(if backward { "addi" } else { "subi" }, &window, &one);
            w.nest(&after, values, &mut |w, column, values| {
                let so_far: Vec<String> = values.iter().map(|t| w.load(t, &at(&last, column))).collect();
                let new = fold.step(w, &so_far, &inputs, &at(&element, column))?;
                Ok(stored(w, &new, &values, &at(&window, column)))
            })
        })
    })?;
    Ok(outs.iter().zip(done).map(|(t, v)| Tensor { name: v.name, ..t.clone() }).collect())
}

/// Stores these elements into the tensors at an index.
fn stored(w: &mut Writer, elements: &[String], tensors: &[Typed], at: &[String]) -> Vec<Typed> {
    elements.iter().zip(tensors).map(|(x, t)| w.store(x, t, at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor_layout::hlo;

    /// The elements of each window, and whether it has padding before and after them, checked place by place.
    fn met(w: &WindowDim, size: i64, windows: i64) -> Vec<(Vec<i64>, [bool; 2])> {
        let one = |o: i64| {
            let places = (0..w.size).map(|p| o * w.stride + p * w.window_dilation - w.low);
            let elements: Vec<i64> = places.clone().filter(|at| (0..size).contains(at)).collect();
            (elements, [places.clone().any(|at| at < 0), places.clone().any(|at| at >= size)])
        };
        (0..windows).map(one).collect()
    }

    /// All windows with small numbers over up to 4 elements: running ones begin, or end, together and grow by one each,
    /// with padding only on the side where they begin, or end.
    #[test]
    fn windows_that_grow_are_those_of_the_definition() {
        let (mut running, mut others) = (0, 0);
        for n in 0..7 * 2 * 2 * 4i64 {
            let [size, stride, window_dilation, elements] = [n % 7 + 1, n / 7 % 2 + 1, n / 14 % 2 + 1, n / 28 + 1];
            for pads in 0..100 {
                let [low, high] = [pads % 10 - 3, pads / 10 - 3];
                let left = low + elements + high - ((size - 1) * window_dilation + 1);
                if low + elements + high < 0 || left < 0 {
                    continue;
                }
                let windows = left / stride + 1;
                let w = WindowDim { size, stride, low, high, window_dilation, base_dilation: 1, reversed: false };
                let met = met(&w, elements, windows);
                let grows = |backward: bool, empty: i64| {
                    let steps = windows - empty;
                    let is_right = |(o, (found, [before, behind])): (i64, &(Vec<i64>, [bool; 2]))| {
                        // The number of elements, and the other side.
                        let (count, other) = if backward { (steps - o, *before) } else { (o - empty + 1, *behind) };
                        let first = if backward { elements - count.max(0) } else { 0 };
                        *found == (first..first + count.max(0)).collect::<Vec<_>>() && (count <= 0 || !other)
                    };
                    steps >= 1 && (0..).zip(&met).all(is_right)
                };
                let by_definition = [false, true].into_iter().find_map(|backward| {
                    (0..windows).find(|empty| grows(backward, *empty)).map(|empty| (backward, empty))
                });
                let expected = by_definition.filter(|_| (stride, window_dilation) == (1, 1) && windows > 1);
                let found = Running::new(&w, elements, windows).map(|r| (r.backward, r.empty));
                assert_eq!(found, expected, "{w:?} over {elements}");
                *(if found.is_some() { &mut running } else { &mut others }) += 1;
            }
        }
        assert!(running > 100 && others > 1000, "{running} windows grow, {others} do not");
    }

    /// Whether a `reduce-window` over `x` with this computation becomes running values: then the text has a loop.
    fn runs(element: &str, computation: &str, initial: &str, window: &str) -> bool {
        runs_from(element, computation, &format!("constant({initial})"), window)
    }

    fn runs_from(element: &str, computation: &str, initial: &str, window: &str) -> bool {
        let text = format!(
            "HloModule m\nfold {{\n  a = {element}[] parameter(0)\n  b = {element}[] parameter(1)\n{computation}}}\n\
             ENTRY main {{\n  x = {element}[3,4] parameter(0)\n  v = {element}[] {initial}\n  \
             ROOT y = {element}[3,4] reduce-window(x, v), window={{{window}}}, to_apply=fold\n}}\n"
        );
        let module = hlo::Module::parse(&text).expect("HLO");
        crate::import(&module, &text, "m.hlo").expect("MLIR").contains("scf.for")
    }

    #[test]
    fn what_computations_and_initial_values_allow() {
        // The padding is before the elements, behind them, and along both dimensions.
        let windows = ["size=1x4 pad=0_0x3_0", "size=3x1 pad=0_2x0_0", "size=3x4 pad=2_0x3_0"];
        let (all, single, in_order) = ([true; 3], [true, true, false], [true, false, false]);
        let one = |element: &str, opcode: &str| format!("  ROOT c = {element}[] {opcode}(a, b)\n");
        for (element, opcode, initial, expected) in [
            ("f32", "add", "0", all),
            ("f32", "add", "-0", all),
            ("bf16", "add", "0", all),
            ("f16", "multiply", "1", all),
            ("f64", "maximum", "-inf", all),
            ("f32", "minimum", "0.3", all),
            ("u8", "add", "0", all),
            ("s64", "multiply", "1", all),
            ("s32", "maximum", "7", all),
            ("pred", "or", "false", all),
            ("u32", "xor", "0", all),
            ("c64", "add", "(0, 0)", all),
            ("f8e5m2", "add", "0", all),
            ("f8e4m3fn", "maximum", "-448", all),
            ("f32", "add", "1", all),
            ("s32", "add", "7", all),
            ("u8", "xor", "1", all),
            // An infinite part times 0 is not a number, so no value is neutral.
            ("c128", "multiply", "(1, 0)", single),
            // The order must be the program's.
            ("f32", "subtract", "0", in_order),
            ("f32", "power", "1", in_order),
            ("f32", "divide", "3", in_order),
        ] {
            let found = windows.map(|window| runs(element, &one(element, opcode), initial, window));
            assert_eq!(found, expected, "{opcode} of {element} from {initial}");
        }
        let (wide, halves) = ("  d = f32[] convert(a)\n  e = f32[] convert(b)\n", "  d = bf16[] convert(a)\n");
        for (element, computation, initial, expected) in [
            ("bf16", format!("{wide}  f = f32[] add(e, d)\n  ROOT c = bf16[] convert(f)\n"), "0", all),
            (
                "s8",
                "  d = s32[] convert(a)\n  e = s32[] convert(b)\n  f = s32[] add(d, e)\n  ROOT c = s8[] convert(f)\n"
                    .into(),
                "0",
                all,
            ),
            (
                "f32",
                "  d = f32[] copy(a)\n  e = f32[] bitcast(b)\n  k = f32[] constant(3)\n  f = f32[] reshape(k)\n  \
                 t = (f32[], f32[], f32[]) tuple(f, e, d)\n  u = (f32[], f32[], f32[]) opt-barrier(t)\n  \
                 g = f32[] get-tuple-element(u), index=1\n  h = f32[] get-tuple-element(u), index=2\n  \
                 ROOT c = f32[] add(g, h)\n"
                    .into(),
                "0",
                all,
            ),
            (
                "f32",
                "  k = f32[] constant(3)\n  d = f32[] add(a, k)\n  ROOT c = f32[] add(d, b)\n".into(),
                "0",
                in_order,
            ),
            (
                "f32",
                "  d = s32[] bitcast(a)\n  e = s32[] bitcast(b)\n  f = s32[] add(d, e)\n  ROOT c = f32[] bitcast(f)\n"
                    .into(),
                "0",
                in_order,
            ),
            // Each element is rounded to fewer bits.
            ("f32", format!("{halves}  e = f32[] convert(d)\n  ROOT c = f32[] add(e, b)\n"), "0", in_order),
            (
                "s32",
                "  d = u8[] convert(b)\n  e = s32[] convert(d)\n  ROOT c = s32[] maximum(a, e)\n".into(),
                "0",
                in_order,
            ),
            ("s32", format!("{wide}  f = f32[] add(d, e)\n  ROOT c = s32[] convert(f)\n"), "0", in_order),
            // The sum ends at 9.
            (
                "s32",
                "  s = s32[] add(a, b)\n  k = s32[] constant(9)\n  ROOT c = s32[] minimum(s, k)\n".into(),
                "0",
                in_order,
            ),
            // One parameter, or other operands.
            ("s32", "  ROOT c = s32[] add(a, a)\n".into(), "0", in_order),
            ("s32", "  n = s32[] negate(b)\n  ROOT c = s32[] add(a, n)\n".into(), "0", in_order),
            ("f32", log_of_sum(""), "-inf", all),
            ("f32", log_of_sum(""), "0", all),
            ("f32", log_of_sum(", type=FLOAT"), "-inf", all),
            ("f32", log_of_sum(", type=TOTALORDER"), "-inf", in_order),
        ] {
            let found = windows.map(|window| runs(element, &computation, initial, window));
            assert_eq!(found, expected, "{computation} of {element} from {initial}");
        }
    }

    /// The computation of `cumlogsumexp`.
    fn log_of_sum(order: &str) -> String {
        format!(
            "  m = f32[] maximum(a, b)\n  d = f32[] subtract(a, b)\n  ne = pred[] compare(d, d), direction=NE{order}\n  \
             s = f32[] add(a, b)\n  abs = f32[] abs(d)\n  n = f32[] negate(abs)\n  e = f32[] exponential(n)\n  \
             l = f32[] log-plus-one(e)\n  r = f32[] add(m, l)\n  ROOT c = f32[] select(ne, s, r)\n"
        )
    }

    /// The next instruction uses each one twice, so the term of the last would have 2^200 letters.
    #[test]
    fn long_terms_are_not_written() {
        let double = |k: usize| format!("  t{} = f32[] multiply(t{k}, t{k})\n", k + 1);
        let all: String = (0..200).map(double).collect();
        let computation = format!("  t0 = f32[] add(a, b)\n{all}  ROOT c = f32[] add(t200, a)\n");
        assert!(runs("f32", &computation, "0", "size=1x4 pad=0_0x3_0"));
        assert!(!runs("f32", &computation, "0", "size=3x1 pad=0_2x0_0"));
    }

    /// The initial value of a fusion is a parameter.
    #[test]
    fn any_initial_value_is_combined_once() {
        let windows = ["size=1x4 pad=0_0x3_0", "size=3x1 pad=0_2x0_0", "size=3x4 pad=2_0x3_0"];
        let sum = "  ROOT c = f32[] add(a, b)\n";
        let found = windows.map(|window| runs_from("f32", sum, "parameter(1)", window));
        assert_eq!(found, [true; 3]);
    }
}
