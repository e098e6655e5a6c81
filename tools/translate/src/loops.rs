//! Loops over values that are updated in place: `scf.for` whose results replace its initial values.
//!
//! An algorithm on a tensor carries it from step to step. Each step yields the result of a `tensor.insert` into the
//! tensor it got, so bufferization writes into one buffer and nothing is copied:
//!
//! ```text
//! %3 = scf.for %0 = %lo to %hi step %by iter_args(%1 = %x) -> (tensor<4xf32>) {
//!   %2 = tensor.insert %v into %1[%0] : tensor<4xf32>
//!   scf.yield %2 : tensor<4xf32>
//! }
//! ```

use crate::builder::Builder;
use crate::tensor::{ImportResult, Tensor};
use crate::writer::{Writer, with_types};

/// A loop-carried value.
#[derive(Clone)]
pub struct Typed {
    pub name: String,
    pub ty: String,
}

impl Typed {
    pub fn new(name: &str, ty: &str) -> Typed {
        Typed { name: name.to_string(), ty: ty.to_string() }
    }

    /// The tensors as values.
    pub fn all(tensors: &[Tensor]) -> Vec<Typed> {
        tensors.iter().map(|t| Typed::new(&t.name, &t.ty)).collect()
    }
}

/// An open loop: its index, and its values inside and after it.
struct Loop {
    index: String,
    inside: Vec<Typed>,
    results: Vec<Typed>,
}

/// The body of a loop: computes the next values from the indices and the current values.
pub type Step<'a> = &'a mut dyn FnMut(&mut Writer, &[String], Vec<Typed>) -> ImportResult<Vec<Typed>>;

impl Writer<'_> {
    /// A number of type `index`.
    pub fn index(&mut self, n: i64) -> String {
        self.constant(&n.to_string(), "index")
    }

    /// An operation on two numbers of type `index`.
    pub fn on_index(&mut self, name: &str, a: &str, b: &str) -> String {
        self.op(&format!("arith.{name} {a}, {b} : index"))
    }

    /// A number of type `index` as an integer of another type.
    pub fn index_as(&mut self, index: &str, of: &str) -> String {
        self.op(&format!("arith.index_cast {index} : index to {of}"))
    }

    /// An element of a tensor without an encoding.
    pub fn load(&mut self, t: &Typed, at: &[String]) -> String {
        self.op(&format!("tensor.extract {}[{}] : {}", t.name, at.join(", "), t.ty))
    }

    /// The tensor with the element at an index replaced.
    pub fn store(&mut self, value: &str, t: &Typed, at: &[String]) -> Typed {
        let name = self.op(&format!("tensor.insert {value} into {}[{}] : {}", t.name, at.join(", "), t.ty));
        Typed { name, ty: t.ty.clone() }
    }

    /// A loop of `step` for each index from `from` to before `to` in steps of `by`, on the values of the step before.
    ///
    /// # Errors
    /// The error of `step`.
    pub fn repeat(&mut self, range: [&str; 3], begin: Vec<Typed>, step: Step) -> ImportResult<Vec<Typed>> {
        let opened = self.open_loop(range, &begin);
        let next = step(self, &[opened.index], opened.inside)?;
        self.close_loop(&next);
        Ok(opened.results)
    }

    /// Writes the head of `scf.for` with its initial values.
    fn open_loop(&mut self, [from, to, by]: [&str; 3], begin: &[Typed]) -> Loop {
        let (results, index) = (self.results(begin.len()), self.fresh());
        let inside: Vec<Typed> = begin.iter().map(|v| Typed { name: self.fresh(), ty: v.ty.clone() }).collect();
        let entered: Vec<String> = inside.iter().zip(begin).map(|(a, v)| format!("{} = {}", a.name, v.name)).collect();
        let types = begin.iter().map(|v| v.ty.as_str()).collect::<Vec<_>>().join(", ");
        let (left, entered) = (results.left, entered.join(", "));
        self.line(&format!("{left}scf.for {index} = {from} to {to} step {by} iter_args({entered}) -> ({types}) {{"));
        self.indent += 2;
        let results = results.names.into_iter().zip(begin).map(|(name, v)| Typed { name, ty: v.ty.clone() });
        Loop { index, inside, results: results.collect() }
    }

    /// Writes the end of `scf.for`, with the values of the next step.
    fn close_loop(&mut self, next: &[Typed]) {
        let [names, types] = [|v: &Typed| v.name.clone(), |v: &Typed| v.ty.clone()]
            .map(|part: fn(&Typed) -> String| next.iter().map(part).collect::<Vec<_>>().join(", "));
        self.located(&format!("scf.yield{}", with_types(&names, &types)));
        self.indent -= 2;
        self.located("}");
    }

    /// A loop nest of `step` for each index from 0 to before `bounds`, the last dimension fastest.
    ///
    /// # Errors
    /// The error of `step`.
    pub fn nest(&mut self, bounds: &[String], begin: Vec<Typed>, step: Step) -> ImportResult<Vec<Typed>> {
        self.nest_from(bounds, &mut Vec::new(), begin, step)
    }

    fn nest_from(
        &mut self,
        bounds: &[String],
        outer: &mut Vec<String>,
        begin: Vec<Typed>,
        step: Step,
    ) -> ImportResult<Vec<Typed>> {
        let Some((bound, rest)) = bounds.split_first() else { return step(self, outer, begin) };
        let (zero, one) = (self.index(0), self.index(1));
        self.repeat([&zero, bound, &one], begin, &mut |w, index, values| {
            outer.push(index[0].clone());
            let next = w.nest_from(rest, outer, values, step);
            outer.pop();
            next
        })
    }
}

impl Builder<'_> {
    /// As [`Writer::repeat`], over tensors.
    ///
    /// # Errors
    /// The error of `step`.
    pub fn repeat(
        &mut self,
        range: [&str; 3],
        begin: &[Tensor],
        step: impl FnOnce(&mut Self, &str, &[Tensor]) -> ImportResult<Vec<Tensor>>,
    ) -> ImportResult<Vec<Tensor>> {
        let opened = self.w.open_loop(range, &Typed::all(begin));
        let named = |all: Vec<Typed>| Tensor::named(all.into_iter().map(|v| v.name).collect(), begin.to_vec());
        let next = step(self, &opened.index, &named(opened.inside))?;
        self.w.close_loop(&Typed::all(&next));
        Ok(named(opened.results))
    }
}
