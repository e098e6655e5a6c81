//! A random program: a template, its values, and the arguments of its function.

use crate::array::{Array, Notation};
use crate::template;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A function and its arguments.
pub struct Program {
    /// The name of the template.
    pub template: &'static str,
    /// The arguments: `%a0`, `%a1`, ..
    pub arguments: Vec<Array>,
    /// The dimensions of the iteration space that index each argument, if any: `inputs` in the template.
    pub dims: Vec<Vec<usize>>,
    /// The index arguments after the arrays: `%i0`, `%i1`, ..
    pub indices: Vec<i64>,
    /// The result, `%r`. With a result the function is on tensors, otherwise on memrefs.
    pub result: Option<Array>,
    /// Other arrays of the template.
    pub arrays: Vec<(&'static str, Array)>,
    /// Lists of arrays of the template.
    pub lists: Vec<(&'static str, Vec<Array>)>,
    /// Other values of the template.
    pub values: BTreeMap<&'static str, Value>,
    /// Whether the program fixes the order of its sums, so that vector code rounds them the same.
    pub ordered: bool,
    /// Whether results are rounded for any numbers.
    pub rounded: bool,
    /// Whether the order matters even for numbers that need no rounding.
    pub digits: bool,
}

impl Program {
    /// A program on these arrays.
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

    /// Sets the dimensions that index the first arguments.
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

    /// Sets whether sums keep the program's order. Over places they do not: each place adds its own share.
    pub fn ordered(self, ordered: bool) -> Program {
        let mut arrays = self.arguments.iter().chain(&self.result);
        let spread = arrays.any(|array| matches!(array.layout, Some(Notation::Spread(_))));
        Program { ordered: ordered && !spread, ..self }
    }

    /// Whether a tensor may reuse memory of another one, spread differently over places, whose elements may remain in
    /// its padding: two layouts allocate memory of the same sizes.
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

    /// The types of its arrays: `tensor` or `memref`.
    pub fn kind(&self) -> &'static str {
        if self.result.is_some() { "tensor" } else { "memref" }
    }

    /// The program's text; names of functions begin with `name`.
    pub fn text(&self, name: &str) -> String {
        template::text(self, name, true)
    }

    /// The program's text without layouts.
    pub fn plain_text(&self, name: &str) -> String {
        template::text(self, name, false)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(self.template))
    }
}
