//! A random program: a template, what fills it in, and what the function is called with.

use crate::array::{Array, Notation};
use crate::template;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A function and what it is called with.
pub struct Program {
    /// The name of the template.
    pub template: &'static str,
    /// The arrays that the function takes: `%a0`, `%a1`, ..
    pub arguments: Vec<Array>,
    /// The dimensions of an iteration space that index the arguments, where there is one: `inputs` in the template.
    pub dims: Vec<Vec<usize>>,
    /// The indices that it takes after these: `%i0`, `%i1`, ..
    pub indices: Vec<i64>,
    /// What it returns: `%r`. It takes and returns tensors then, and takes memrefs otherwise.
    pub result: Option<Array>,
    /// Other arrays of the template.
    pub arrays: Vec<(&'static str, Array)>,
    /// Lists of arrays of the template.
    pub lists: Vec<(&'static str, Vec<Array>)>,
    /// What else fills in the template.
    pub values: BTreeMap<&'static str, Value>,
    /// Whether it says in which order sums are added up, so that vector code rounds them as it does.
    pub ordered: bool,
    /// Whether its numbers are rounded whatever goes in.
    pub rounded: bool,
    /// Whether even numbers that need no rounding depend on the order.
    pub digits: bool,
}

impl Program {
    /// A function of these arrays.
    pub fn new(template: &'static str, arguments: &[&Array]) -> Program {
        Program {
            template,
            arguments: arguments.iter().map(|array| (*array).clone()).collect(),
            dims: Vec::new(),
            indices: Vec::new(),
            result: None,
            arrays: Vec::new(),
            lists: Vec::new(),
            values: BTreeMap::new(),
            ordered: true,
            rounded: false,
            digits: false,
        }
    }

    pub fn returns(self, result: &Array) -> Program {
        Program { result: Some(result.clone()), ..self }
    }

    pub fn indices(self, indices: &[i64]) -> Program {
        Program { indices: indices.to_vec(), ..self }
    }

    /// The dimensions that index the first arguments.
    pub fn inputs(self, dims: &[Vec<usize>]) -> Program {
        Program { dims: dims.to_vec(), ..self }
    }

    pub fn array(mut self, name: &'static str, array: &Array) -> Program {
        self.arrays.push((name, array.clone()));
        self
    }

    pub fn list(mut self, name: &'static str, arrays: Vec<Array>) -> Program {
        self.lists.push((name, arrays));
        self
    }

    pub fn set(mut self, name: &'static str, value: impl Into<Value>) -> Program {
        self.values.insert(name, value.into());
        self
    }

    /// Returns whether the terms are added in the order of the program. Each place adds its own share.
    pub fn ordered(self, ordered: bool) -> Program {
        let mut arrays = self.arguments.iter().chain(&self.result);
        let spread = arrays.any(|array| matches!(array.layout, Some(Notation::Spread(_))));
        Program { ordered: ordered && !spread, ..self }
    }

    /// Whether a tensor may get memory that had another one in it, which is spread over places otherwise: elements of that
    /// one are left where it has none itself. So it may be where two layouts allocate memory of the same sizes.
    pub fn shares_memory(&self) -> bool {
        let lists = self.lists.iter().flat_map(|(_, arrays)| arrays);
        let others = self.arrays.iter().map(|(_, array)| array).chain(lists);
        let arrays = self.arguments.iter().chain(others).chain(&self.result);
        let spread: Vec<_> = arrays
            .filter_map(|array| match &array.layout {
                Some(Notation::Spread(spread)) => Some((&array.sizes, spread)),
                _ => None,
            })
            .collect();
        let pairs = spread.iter().enumerate().flat_map(|(k, a)| spread[..k].iter().map(move |b| (a, b)));
        pairs.into_iter().any(|(a, b)| a != b && a.1.allocation() == b.1.allocation())
    }

    /// What its arrays are.
    pub fn kind(&self) -> &'static str {
        if self.result.is_some() { "tensor" } else { "memref" }
    }

    /// Its text; functions begin with the name.
    pub fn text(&self, name: &str) -> String {
        template::text(self, name, true)
    }

    /// Its text with all layouts taken away.
    pub fn plain_text(&self, name: &str) -> String {
        template::text(self, name, false)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(self.template))
    }
}
