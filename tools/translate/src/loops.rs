//! Loops over values that are changed in place: `scf.for` whose results take the place of what it begins with.
//!
//! An algorithm that goes through a tensor carries it from step to step. Each step yields a tensor that was made of the
//! one it got by `tensor.insert`, so bufferization writes into one buffer and nothing is copied:
//!
//! ```text
//! %3 = scf.for %0 = %lo to %hi step %by iter_args(%1 = %x) -> (tensor<4xf32>) {
//!   %2 = tensor.insert %v into %1[%0] : tensor<4xf32>
//!   scf.yield %2 : tensor<4xf32>
//! }
//! ```

use crate::builder::Builder;
use crate::tensor::{Done, Tensor};
use crate::writer::{Writer, with_types};

/// A value that goes through a loop.
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

/// A loop that is open: its index, and the values in it and after it.
struct Loop {
    index: String,
    inside: Vec<Typed>,
    results: Vec<Typed>,
}

/// What a step of a loop makes of the values that it gets.
pub type Step<'a> = &'a mut dyn FnMut(&mut Writer, &[String], Vec<Typed>) -> Done<Vec<Typed>>;

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

    /// The tensor with another element at an index.
    pub fn store(&mut self, value: &str, t: &Typed, at: &[String]) -> Typed {
        let name = self.op(&format!("tensor.insert {value} into {}[{}] : {}", t.name, at.join(", "), t.ty));
        Typed { name, ty: t.ty.clone() }
    }

    /// Runs `step` for each index from `from` to before `to` in steps of `by`, with what the step before gave.
    ///
    /// # Errors
    /// Those of `step`.
    pub fn repeat(&mut self, range: [&str; 3], begin: Vec<Typed>, step: Step) -> Done<Vec<Typed>> {
        let opened = self.open_loop(range, &begin);
        let next = step(self, &[opened.index], opened.inside)?;
        self.close_loop(&next);
        Ok(opened.results)
    }

    /// The head of `scf.for` with the values that it begins with.
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

    /// The end of `scf.for`, with the values of the next step.
    fn close_loop(&mut self, next: &[Typed]) {
        let [names, types] = [|v: &Typed| v.name.clone(), |v: &Typed| v.ty.clone()]
            .map(|part: fn(&Typed) -> String| next.iter().map(part).collect::<Vec<_>>().join(", "));
        self.located(&format!("scf.yield{}", with_types(&names, &types)));
        self.indent -= 2;
        self.located("}");
    }

    /// Runs `step` for each index from 0 to before `bounds`, the last one moving fastest.
    ///
    /// # Errors
    /// Those of `step`.
    pub fn nest(&mut self, bounds: &[String], begin: Vec<Typed>, step: Step) -> Done<Vec<Typed>> {
        self.nest_from(bounds, &mut Vec::new(), begin, step)
    }

    fn nest_from(
        &mut self,
        bounds: &[String],
        outer: &mut Vec<String>,
        begin: Vec<Typed>,
        step: Step,
    ) -> Done<Vec<Typed>> {
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
    /// Those of `step`.
    pub fn repeat(
        &mut self,
        range: [&str; 3],
        begin: &[Tensor],
        step: impl FnOnce(&mut Self, &str, &[Tensor]) -> Done<Vec<Tensor>>,
    ) -> Done<Vec<Tensor>> {
        let opened = self.w.open_loop(range, &Typed::all(begin));
        let named = |all: Vec<Typed>| Tensor::named(all.into_iter().map(|v| v.name).collect(), begin.to_vec());
        let next = step(self, &opened.index, &named(opened.inside))?;
        self.w.close_loop(&Typed::all(&next));
        Ok(named(opened.results))
    }
}
