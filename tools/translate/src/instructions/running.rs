//! Running values: a `reduce-window` in which each window has the elements of its neighbour and at most one more, as in
//! `jnp.cumsum`.
//!
//! A window of 4 places with a padding of 3 before 4 elements has element 0 first, then 0 and 1, then 0 to 2, then all
//! of them. Window `o` gives `f(.. f(f(init, x[0]), x[1]) .., x[o])`, which is `f` of the value of the window before
//! and `x[o]`: as many steps as elements, and the same bits as window by window, whatever `f` and `init` are. The first
//! windows may have no element, or the first of them several, and the last windows may have all.
//!
//! With the padding after the elements, windows end together, and the steps go from the last element to the first.
//! Several dimensions are processed one after the other. In both cases elements are combined in another order than the
//! window's, so `f` must be known in [`Monoids`](super::monoid::Monoids). The initial value belongs to each window once: lines
//! begin with it in the last step, and with their first element in those before.

use super::computation::applied;
use crate::builder::Builder;
use crate::loops::Typed;
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use std::ops::Range;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Module;
use tensor_layout::operations::WindowDim;

/// The windows along a dimension, if all begin or all end with the elements. Steps go from the window with the fewest
/// elements to that with the most.
#[derive(Clone, Copy)]
pub struct Running {
    /// Whether windows end with the last element; otherwise they begin with the first.
    pub backward: bool,
    /// The number of windows without elements: the first ones, or backward the last ones.
    pub empty: i64,
    /// The number of windows with elements.
    pub windows: i64,
    /// The number of elements of the first of them.
    begun: i64,
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
        let (begin, end, last) = (w.low.checked_neg()?, w.size.checked_sub(w.low)?, windows - 1);
        // The places from the first element to the end of the first window, or backward from the last element to the
        // begin of the last window.
        let (backward, first) = match begin.checked_add(last)? {
            ..=0 => (false, end),
            _ if end >= size => (true, size.checked_sub(begin)?.checked_sub(last)?),
            _ => return None,
        };
        let empty = 1i64.checked_sub(first)?.max(0);
        (empty <= last).then(|| Running {
            backward,
            empty,
            windows: windows - empty,
            begun: first.clamp(1, size),
            size,
        })
    }

    /// The number of windows that have one element more than the one before.
    fn growing(&self) -> i64 {
        (self.size - self.begun).min(self.windows - 1)
    }

    /// The steps after the first element.
    fn phases(&self) -> Vec<Phase> {
        let (begun, growing) = (self.begun, self.growing());
        let all = [
            Phase { steps: 1..begun, element: Some(0), next_window: false },
            Phase { steps: 1..growing + 1, element: Some(begun - 1), next_window: true },
            Phase { steps: growing + 1..self.windows, element: None, next_window: true },
        ];
        all.into_iter().filter(|phase| !phase.steps.is_empty()).collect()
    }
}

/// Steps that are alike.
struct Phase {
    steps: Range<i64>,
    /// The distance of the element of step `k` from the first element, less `k`; `None` for a copy of the value.
    element: Option<i64>,
    /// Whether step `k` gives window `k`, from the value of the one before; otherwise it changes the first window's.
    next_window: bool,
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
    fn step(&self, w: &mut Writer, so_far: &[String], inputs: &[Typed], at: &[String]) -> ImportResult<Vec<String>> {
        let elements: Vec<String> = inputs.iter().map(|t| w.load(t, at)).collect();
        let to = &self.from[..so_far.len()];
        applied(self.module, self.computation, w, &[so_far, &elements].concat(), &self.from, to)
    }
}

/// The values of the windows with elements along a dimension. Without initial values each begins with its first
/// element. `outs` are the types of the results, without encodings.
pub fn running(
    b: &mut Builder,
    fold: &Fold,
    (dim, running): (usize, Running),
    inputs: &[Tensor],
    inits: Option<&[String]>,
    outs: &[Tensor],
) -> ImportResult<Vec<Tensor>> {
    let inputs: Vec<Typed> = inputs.iter().map(|t| b.without_encoding(t)).map(|t| Typed::new(&t.name, &t.ty)).collect();
    let begin: Vec<Tensor> = outs.iter().map(|out| b.empty(out)).collect();
    let w = &mut b.w;
    let bounds = |w: &mut Writer, sizes: &[i64]| sizes.iter().map(|n| w.index(*n)).collect::<Vec<_>>();
    let (before, after) = (bounds(w, &outs[0].sizes[..dim]), bounds(w, &outs[0].sizes[dim + 1..]));
    let one = w.index(1);
    // An index counted from the other end, if the steps go backward.
    let place = |w: &mut Writer, n: i64, count: i64| w.index(if running.backward { count - 1 - n } else { n });
    let [element, window] = [running.size, running.windows].map(|count| place(w, 0, count));
    let (on, back) = if running.backward { ("subi", "addi") } else { ("addi", "subi") };
    let phases: Vec<(Phase, [String; 2], Option<String>)> = running
        .phases()
        .into_iter()
        .map(|phase| {
            let ends = [phase.steps.start, phase.steps.end].map(|n| w.index(n));
            let element = phase.element.map(|distance| place(w, distance, running.size));
            (phase, ends, element)
        })
        .collect();
    let done = w.nest(&before, Typed::all(&begin), &mut |w, row, values| {
        let at = |k: &str, column: &[String]| [row, &[k.to_string()], column].concat();
        let mut values = w.nest(&after, values, &mut |w, column, values| {
            let new = match inits {
                Some(inits) => fold.step(w, inits, &inputs, &at(&element, column))?,
                None => inputs.iter().map(|t| w.load(t, &at(&element, column))).collect(),
            };
            Ok(stored(w, &new, &values, &at(&window, column)))
        })?;
        for (phase, [from, to], element) in &phases {
            values = w.repeat([from, to, &one], values, &mut |w, k, values| {
                let element = element.as_ref().map(|first| w.on_index(on, first, &k[0]));
                let window = if phase.next_window { w.on_index(on, &window, &k[0]) } else { window.clone() };
                let last = if phase.next_window { w.on_index(back, &window, &one) } else { window.clone() };
                w.nest(&after, values, &mut |w, column, values| {
                    let so_far: Vec<String> = values.iter().map(|t| w.load(t, &at(&last, column))).collect();
                    let new = match &element {
                        Some(element) => fold.step(w, &so_far, &inputs, &at(element, column))?,
                        None => so_far,
                    };
                    Ok(stored(w, &new, &values, &at(&window, column)))
                })
            })?;
        }
        Ok(values)
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

    /// The elements of each window, checked place by place.
    fn met(w: &WindowDim, size: i64, windows: i64) -> Vec<Vec<i64>> {
        let places = |o: i64| (0..w.size).map(move |p| o * w.stride + p * w.window_dilation - w.low);
        (0..windows).map(|o| places(o).filter(|at| (0..size).contains(at)).collect()).collect()
    }

    /// The elements of each window with elements, from the steps.
    fn stepped(running: &Running) -> Vec<Vec<i64>> {
        let mut all = vec![vec![0]];
        for phase in running.phases() {
            for k in phase.steps {
                let mut now = if phase.next_window { all.last().cloned() } else { all.pop() }.expect("a window");
                now.extend(phase.element.map(|distance| distance + k));
                all.push(now);
            }
        }
        if running.backward {
            all.reverse();
            all.iter_mut().for_each(|window| {
                window.reverse();
                window.iter_mut().for_each(|at| *at = running.size - 1 - *at);
            });
        }
        all
    }

    /// All windows with small numbers over up to 4 elements: of running ones each begins with the first element and has
    /// those of the window before, or each ends with the last and has those of the window after.
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
                let begins = |window: &Vec<i64>| window.iter().copied().eq(0..window.len() as i64);
                let ends = |window: &Vec<i64>| {
                    window.iter().rev().copied().eq((elements - window.len() as i64..elements).rev())
                };
                let forward = met.iter().all(begins) && met.is_sorted_by_key(Vec::len);
                let backward = met.iter().all(ends) && met.iter().rev().is_sorted_by_key(|window| window.len());
                let has_some = met.iter().any(|window| !window.is_empty());
                let expected = has_some && (forward || backward) && (stride, window_dilation) == (1, 1) && windows > 1;
                let found = Running::new(&w, elements, windows);
                assert_eq!(found.is_some(), expected, "{w:?} over {elements}");
                if let Some(found) = found {
                    let own: Vec<_> = met.into_iter().filter(|window| !window.is_empty()).collect();
                    let padding = if forward { [found.empty, 0] } else { [0, found.empty] };
                    assert_eq!((found.backward, stepped(&found)), (!forward, own), "{w:?} over {elements}");
                    assert_eq!(padding.iter().sum::<i64>() + found.windows, windows, "{w:?} over {elements}");
                }
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

    /// The results of [`runs`] where the order may be any, and where it must be the program's.
    const ANY: [bool; 3] = [true; 3];
    const IN_ORDER: [bool; 3] = [true, false, false];

    /// Whether windows with padding before the elements, behind them, and along both dimensions become running values.
    fn run(element: &str, computation: &str, initial: &str) -> [bool; 3] {
        let windows = ["size=1x4 pad=0_0x3_0", "size=3x1 pad=0_2x0_0", "size=3x4 pad=2_0x3_0"];
        windows.map(|window| runs(element, computation, initial, window))
    }

    #[test]
    fn what_operations_and_initial_values_allow() {
        for (element, opcode, initial, expected) in [
            ("f32", "add", "0", ANY),
            ("f32", "add", "-0", ANY),
            ("bf16", "add", "0", ANY),
            ("f16", "multiply", "1", ANY),
            ("f64", "maximum", "-inf", ANY),
            ("f32", "minimum", "0.3", ANY),
            ("u8", "add", "0", ANY),
            ("s64", "multiply", "1", ANY),
            ("s32", "maximum", "7", ANY),
            ("pred", "or", "false", ANY),
            ("u32", "xor", "0", ANY),
            ("c64", "add", "(0, 0)", ANY),
            ("f8e5m2", "add", "0", ANY),
            ("f8e4m3fn", "maximum", "-448", ANY),
            ("f32", "add", "1", ANY),
            ("s32", "add", "7", ANY),
            ("u8", "xor", "1", ANY),
            // An infinite part times 0 is not a number, so no value is neutral.
            ("c128", "multiply", "(1, 0)", ANY),
            // The order must be the program's.
            ("f32", "subtract", "0", IN_ORDER),
            ("f32", "power", "1", IN_ORDER),
            ("f32", "divide", "3", IN_ORDER),
        ] {
            let found = run(element, &format!("  ROOT c = {element}[] {opcode}(a, b)\n"), initial);
            assert_eq!(found, expected, "{opcode} of {element} from {initial}");
        }
    }

    #[test]
    fn what_computations_allow() {
        let (wide, halves) = ("  d = f32[] convert(a)\n  e = f32[] convert(b)\n", "  d = bf16[] convert(a)\n");
        for (element, computation, initial, expected) in [
            ("bf16", format!("{wide}  f = f32[] add(e, d)\n  ROOT c = bf16[] convert(f)\n"), "0", ANY),
            (
                "s8",
                "  d = s32[] convert(a)\n  e = s32[] convert(b)\n  f = s32[] add(d, e)\n  ROOT c = s8[] convert(f)\n"
                    .into(),
                "0",
                ANY,
            ),
            (
                "f32",
                "  d = f32[] copy(a)\n  e = f32[] bitcast(b)\n  k = f32[] constant(3)\n  f = f32[] reshape(k)\n  \
                 t = (f32[], f32[], f32[]) tuple(f, e, d)\n  u = (f32[], f32[], f32[]) opt-barrier(t)\n  \
                 g = f32[] get-tuple-element(u), index=1\n  h = f32[] get-tuple-element(u), index=2\n  \
                 ROOT c = f32[] add(g, h)\n"
                    .into(),
                "0",
                ANY,
            ),
            (
                "f32",
                "  k = f32[] constant(3)\n  d = f32[] add(a, k)\n  ROOT c = f32[] add(d, b)\n".into(),
                "0",
                IN_ORDER,
            ),
            (
                "f32",
                "  d = s32[] bitcast(a)\n  e = s32[] bitcast(b)\n  f = s32[] add(d, e)\n  ROOT c = f32[] bitcast(f)\n"
                    .into(),
                "0",
                IN_ORDER,
            ),
            // Each element is rounded to fewer bits.
            ("f32", format!("{halves}  e = f32[] convert(d)\n  ROOT c = f32[] add(e, b)\n"), "0", IN_ORDER),
            (
                "s32",
                "  d = u8[] convert(b)\n  e = s32[] convert(d)\n  ROOT c = s32[] maximum(a, e)\n".into(),
                "0",
                IN_ORDER,
            ),
            ("s32", format!("{wide}  f = f32[] add(d, e)\n  ROOT c = s32[] convert(f)\n"), "0", IN_ORDER),
            // The sum ends at 9.
            (
                "s32",
                "  s = s32[] add(a, b)\n  k = s32[] constant(9)\n  ROOT c = s32[] minimum(s, k)\n".into(),
                "0",
                IN_ORDER,
            ),
            // One parameter, or other operands.
            ("s32", "  ROOT c = s32[] add(a, a)\n".into(), "0", IN_ORDER),
            ("s32", "  n = s32[] negate(b)\n  ROOT c = s32[] add(a, n)\n".into(), "0", IN_ORDER),
        ] {
            assert_eq!(run(element, &computation, initial), expected, "{computation} of {element} from {initial}");
        }
    }

    #[test]
    fn what_the_comparison_of_cumlogsumexp_allows() {
        for (order, initial, expected) in
            [("", "-inf", ANY), ("", "0", ANY), (", type=FLOAT", "-inf", ANY), (", type=TOTALORDER", "-inf", IN_ORDER)]
        {
            assert_eq!(run("f32", &log_of_sum(order), initial), expected, "{order:?} from {initial}");
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

    /// The import of a `reduce-window` over two arrays of these types.
    fn pair([x, y]: [&str; 2], computation: &str, (sizes, window): (&str, &str)) -> String {
        let text = format!(
            "HloModule m\nfold {{\n  a = {x}[] parameter(0)\n  b = {y}[] parameter(1)\n  c = {x}[] parameter(2)\n  \
             d = {y}[] parameter(3)\n{computation}}}\nENTRY main {{\n  p = {x}[3,4] parameter(0)\n  \
             q = {y}[3,4] parameter(1)\n  i = {x}[] parameter(2)\n  j = {y}[] parameter(3)\n  \
             ROOT r = ({x}[{sizes}], {y}[{sizes}]) reduce-window(p, q, i, j), window={{{window}}}, to_apply=fold\n}}\n"
        );
        let module = hlo::Module::parse(&text).expect("HLO");
        crate::import(&module, &text, "m.hlo").expect("MLIR")
    }

    /// Several arrays are combined in any order if each has a known computation of its own. No loop goes over the places
    /// of a window then, whose sizes an operand of `i1` would give.
    #[test]
    fn several_arrays_run_along_the_elements() {
        let windows = [
            ("3,4", "size=1x4 pad=0_0x3_0"),
            ("3,4", "size=3x1 pad=0_2x0_0"),
            ("3,4", "size=3x4 pad=2_0x3_0"),
            ("4,6", "size=3x5 pad=0_3x5_1"),
        ];
        let (sums, tuple) = ("  s = f32[] add(c, a)\n", "  ROOT t = (f32[], s32[]) tuple(s, m)\n");
        for (computation, expected) in [
            (format!("{sums}  m = s32[] maximum(b, d)\n{tuple}"), [true; 4]),
            (format!("{sums}  m = s32[] subtract(b, d)\n{tuple}"), [true, false, false, false]),
            // The second result is not made of the second array alone.
            (format!("{sums}  k = s32[] convert(a)\n  m = s32[] add(k, d)\n{tuple}"), [true, false, false, false]),
        ] {
            let found = windows.map(|window| !pair(["f32", "s32"], &computation, window).contains("xi1>"));
            assert_eq!(found, expected, "{computation}");
        }
        // The results change places.
        let crossed = "  s = s32[] add(a, c)\n  m = s32[] add(b, d)\n  ROOT t = (s32[], s32[]) tuple(m, s)\n";
        let found = windows.map(|window| !pair(["s32", "s32"], crossed, window).contains("xi1>"));
        assert_eq!(found, [true, false, false, false]);
    }

    /// The first windows have several elements, or the last ones have all; there may be more windows than places.
    #[test]
    fn windows_that_stay_full_run_along_the_elements() {
        for (sizes, window) in [
            ("3,8", "size=1x8 pad=0_0x7_4"),
            ("3,8", "size=1x9 pad=0_0x7_5"),
            ("3,8", "size=1x9 pad=0_0x4_8"),
            ("3,5", "size=1x6 pad=0_0x4_2"),
        ] {
            let window = (sizes, window);
            let sums = "  s = f32[] add(a, c)\n  m = s32[] add(b, d)\n  ROOT t = (f32[], s32[]) tuple(s, m)\n";
            assert!(!pair(["f32", "s32"], sums, window).contains("xi1>"), "{window:?}");
        }
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
