//! Running values: a `reduce-window` each of whose windows has one element more than its neighbour, as in `jnp.cumsum`.
//!
//! A window of 4 places with a padding of 3 before 4 elements has element 0 first, then 0 and 1, then 0 to 2, then all of
//! them. Window `o` gives `f(.. f(f(init, x[0]), x[1]) .., x[o])`, which is `f` of what the window before it gives and
//! `x[o]`: as many steps as elements, and the same bits as window by window. With the padding behind the elements, windows
//! end together, and the same goes from the last element to the first: window `o` gives `f(x[o], f(x[o + 1], .. f(x[n - 1],
//! init)))`.
//!
//! In both cases padding must not count: `f(init, init)` is `init`. From the last element to the first, or along several
//! dimensions one after the other, elements are combined in another order than that of the places, which HLO allows of any
//! computation; here `f` must be associative as far as a trial on a few numbers shows.

use super::Site;
use super::computation::applied;
use super::evaluate::{Scalar, constant, evaluate};
use crate::builder::Builder;
use crate::loops::Typed;
use crate::tensor::{Done, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Module;
use tensor_layout::operations::WindowDim;

/// The windows along a dimension, where each begins or ends with the elements.
#[derive(Clone, Copy)]
pub struct Running {
    /// Windows end with the last element; they begin with the first one otherwise.
    pub backward: bool,
    /// How many windows meet padding only: the first ones, or backward the last ones.
    empty: i64,
    /// How many windows meet elements, each one more than its neighbour.
    steps: i64,
    /// The number of elements.
    size: i64,
}

impl Running {
    /// The windows along a dimension of `size` elements; `None` where they are others.
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

/// What the windows combine: a computation, from values of the types of the results.
pub struct Fold<'a> {
    module: &'a Module,
    computation: usize,
    /// The types of the results, then of the inputs.
    pub from: Vec<ElementType>,
    /// The initial values, where they are known.
    inits: Option<Vec<Scalar>>,
}

impl<'a> Fold<'a> {
    /// The fold of a reduction.
    ///
    /// # Errors
    /// It has no computation.
    pub fn new(module: &'a Module, site: &Site, outs: &[Tensor], inputs: &[Tensor]) -> Done<Fold<'a>> {
        let computation = *site.i.called.first().ok_or("a reduction needs a computation")?;
        let inits = site.i.operands[inputs.len()..].iter().map(|k| constant(site.computation, *k)).collect();
        let from = outs.iter().chain(inputs).map(|t| t.element).collect();
        Ok(Fold { module, computation, from, inits })
    }

    /// The computation of values of the results and of elements.
    fn of(&self, left: &[Scalar], right: &[Scalar]) -> Option<Vec<Scalar>> {
        let (results, inputs) = self.from.split_at(left.len());
        let arguments = left.iter().zip(results).chain(right.iter().zip(inputs));
        let arguments = arguments.map(|(x, e)| x.to(*e)).collect::<Option<Vec<_>>>()?;
        let done = evaluate(self.module, self.computation, &arguments)?;
        done.iter().zip(results).map(|(x, e)| x.to(*e)).collect()
    }

    /// Whether padding, which is the initial value, changes nothing before there is an element: `f(init, init) = init`.
    pub fn padding_is_neutral(&self) -> bool {
        let Some(inits) = &self.inits else { return false };
        let rounded = inits.iter().zip(&self.from).map(|(x, e)| x.to(*e)).collect::<Option<Vec<_>>>();
        rounded.is_some_and(|rounded| self.of(&rounded, inits).is_some_and(|found| found == rounded))
    }

    /// What a window gives, of what its neighbour gives and the elements of the inputs at an index.
    fn step(
        &self,
        w: &mut Writer,
        backward: bool,
        so_far: &[String],
        inputs: &[Typed],
        at: &[String],
    ) -> Done<Vec<String>> {
        let elements: Vec<String> = inputs.iter().map(|t| w.load(t, at)).collect();
        let (results, of_inputs) = self.from.split_at(so_far.len());
        let (arguments, from) = match backward {
            true => ([&elements, so_far].concat(), [of_inputs, results].concat()),
            false => ([so_far, &elements].concat(), self.from.clone()),
        };
        applied(self.module, self.computation, w, &arguments, &from, results)
    }

    /// Whether a few numbers may be combined in any order of operations, with the initial value between them.
    pub fn is_associative(&self) -> bool {
        const SAMPLES: [i8; 4] = [3, -2, 5, 1];
        let Some(inits) = &self.inits else { return false };
        let sample = |first: usize| -> Option<Vec<Scalar>> {
            (0..inits.len()).map(|k| Scalar::sample(self.from[k], SAMPLES[(first + k) % SAMPLES.len()])).collect()
        };
        let near = |a: Option<Vec<Scalar>>, b: Option<Vec<Scalar>>| {
            a.zip(b).is_some_and(|(a, b)| a.iter().zip(&b).all(|(a, b)| a.is_near(b)))
        };
        (0..SAMPLES.len()).all(|first| {
            let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(|k| sample(first + k)) else { return false };
            let f = |x: &[Scalar], y: &[Scalar]| self.of(x, y);
            let left = f(&a, &b).and_then(|ab| f(&ab, &c));
            let right = f(&b, &c).and_then(|bc| f(&a, &bc));
            // As along rows: each begins with the initial value; and as from the end.
            let begun = f(inits, &a).and_then(|a| f(&a, &b));
            let apart = f(inits, &a).zip(f(inits, &b)).and_then(|(a, b)| f(&a, &b));
            let ended = f(&b, inits).and_then(|b| f(&a, &b));
            near(left, right) && near(begun.clone(), apart) && near(begun, ended)
        })
    }
}

/// The running values along a dimension; `out` is what the results are, without encodings.
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
    // The element and the window of step 0: those of step `k` are `k` further on, or before them.
    let first = if backward { [size - 1, steps - 1] } else { [0, empty] }.map(|n| w.index(n));
    let way = if backward { "subi" } else { "addi" };
    let done = w.nest(&before, Typed::all(&begin), &mut |w, row, values| {
        let at = |k: &str, column: &[String]| [row, &[k.to_string()], column].concat();
        let begun = w.nest(&after, values, &mut |w, column, values| {
            let new = fold.step(w, backward, inits, &inputs, &at(&first[0], column))?;
            Ok(stored(w, &new, &values, &at(&first[1], column)))
        })?;
        w.repeat([&one, &end, &one], begun, &mut |w, k, values| {
            let [element, window] = first.each_ref().map(|first| w.on_index(way, first, &k[0]));
            let last = w.on_index(if backward { "addi" } else { "subi" }, &window, &one);
            w.nest(&after, values, &mut |w, column, values| {
                let so_far: Vec<String> = values.iter().map(|t| w.load(t, &at(&last, column))).collect();
                let new = fold.step(w, backward, &so_far, &inputs, &at(&element, column))?;
                Ok(stored(w, &new, &values, &at(&window, column)))
            })
        })
    })?;
    Ok(outs.iter().zip(done).map(|(t, v)| Tensor { name: v.name, ..t.clone() }).collect())
}

/// The tensors with these elements at an index.
fn stored(w: &mut Writer, elements: &[String], tensors: &[Typed], at: &[String]) -> Vec<Typed> {
    elements.iter().zip(tensors).map(|(x, t)| w.store(x, t, at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor_layout::hlo;

    /// The elements that each window meets, and whether there is padding before and behind them, place by place.
    fn met(w: &WindowDim, size: i64, windows: i64) -> Vec<(Vec<i64>, [bool; 2])> {
        let one = |o: i64| {
            let places = (0..w.size).map(|p| o * w.stride + p * w.window_dilation - w.low);
            let elements: Vec<i64> = places.clone().filter(|at| (0..size).contains(at)).collect();
            (elements, [places.clone().any(|at| at < 0), places.clone().any(|at| at >= size)])
        };
        (0..windows).map(one).collect()
    }

    /// All windows with small numbers over up to 4 elements: those that begin, or end, together and are longer by one each,
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

    /// Whether a `reduce-window` over `x` with this computation is one of running values: it has a loop.
    fn runs(element: &str, computation: &str, initial: &str, window: &str) -> bool {
        let text = format!(
            "HloModule m\nfold {{\n  a = {element}[] parameter(0)\n  b = {element}[] parameter(1)\n{computation}}}\n\
             ENTRY main {{\n  x = {element}[3,4] parameter(0)\n  v = {element}[] constant({initial})\n  \
             ROOT y = {element}[3,4] reduce-window(x, v), window={{{window}}}, to_apply=fold\n}}\n"
        );
        let module = hlo::Module::parse(&text).expect("HLO");
        crate::import(&module, &text, "m.hlo").expect("MLIR").contains("scf.for")
    }

    #[test]
    fn what_computations_and_initial_values_allow() {
        let (before, behind, both) = ("size=1x4 pad=0_0x3_0", "size=3x1 pad=0_2x0_0", "size=3x4 pad=2_0x3_0");
        let one = |element: &str, opcode: &str| format!("  ROOT c = {element}[] {opcode}(a, b)\n");
        for (element, opcode, initial, expected) in [
            ("f32", "add", "0", [true; 3]),
            ("f32", "add", "-0", [true; 3]),
            ("bf16", "add", "0", [true; 3]),
            ("f16", "multiply", "1", [true; 3]),
            ("f64", "maximum", "-inf", [true; 3]),
            ("f32", "minimum", "0.3", [true; 3]),
            ("u8", "add", "0", [true; 3]),
            ("s64", "multiply", "1", [true; 3]),
            ("s32", "maximum", "-2147483648", [true; 3]),
            ("pred", "or", "false", [true; 3]),
            ("u32", "xor", "0", [true; 3]),
            // In the order of the places, what the padding does not change is enough.
            ("f32", "subtract", "0", [true, false, false]),
            ("f8e5m2", "add", "0", [true, false, false]),
            // The padding counts.
            ("f32", "add", "1", [false; 3]),
            ("s32", "add", "7", [false; 3]),
            ("u8", "xor", "1", [false; 3]),
            // What is not known does not count as known.
            ("f32", "power", "1", [false; 3]),
        ] {
            let found = [before, behind, both].map(|window| runs(element, &one(element, opcode), initial, window));
            assert_eq!(found, expected, "{opcode} of {element} from {initial}");
        }
        let rounding =
            "  t = f32[] constant(1)\n  s = f32[] add(b, t)\n  d = f32[] subtract(s, t)\n  ROOT c = f32[] add(a, d)\n";
        assert!(runs("f32", rounding, "0", before));
        // 1e-30 is lost in the sum with 1, so that the computation gives it back.
        assert!(runs("f32", rounding, "1e-30", before));
        assert!(!runs("f32", rounding, "0.5", before));
    }
}
