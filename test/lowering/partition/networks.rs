//! Networks with common shardings: their collectives are the known minimum.

use super::programs::{Array, Program};

/// Two-dimensional layouts by name in the program.
pub type Layouts<'l> = &'l [(&'l str, &'l str)];

/// A network with its layouts, and the collectives of its partitioned form.
pub struct Network<'l> {
    pub name: &'l str,
    pub processes: usize,
    text: &'l str,
    arguments: &'l [(&'l str, &'l [usize])],
    results: &'l [(&'l str, &'l [usize])],
    layouts: Layouts<'l>,
    pub collectives: &'l [(&'l str, usize)],
}

/// A training step of two layers: `x` is 16 x 8, the weights are `w1`, 8 x 16, and `w2`, 16 x 4.
const TRAINING: &str = include_str!("templates/training.mlir");
/// Softmax of scaled products of `q` and `k`, times `v`, each 16 x 8.
const ATTENTION: &str = include_str!("templates/attention.mlir");

const TRAINED: &[(&str, &[usize])] = &[("x", &[16, 8]), ("w1", &[8, 16]), ("w2", &[16, 4]), ("o", &[16, 4])];
const WEIGHTS: &[(&str, &[usize])] = &[("w1", &[8, 16]), ("w2", &[16, 4])];
const ATTENDING: &[(&str, &[usize])] = &[("q", &[16, 8]), ("k", &[16, 8]), ("k", &[16, 8])];

pub const NETWORKS: &[Network] = &[
    Network {
        name: "training, data-parallel",
        processes: 4,
        text: TRAINING,
        arguments: TRAINED,
        results: WEIGHTS,
        layouts: &[
            ("x", "((4_Process, 4:8), (8:1))"),
            ("h", "((4_Process, 4:16), (16:1))"),
            ("o", "((4_Process, 4:4), (4:1))"),
            ("w1", ""),
            ("w2", ""),
        ],
        // The gradients of both weights.
        collectives: &[("all_reduce", 2)],
    },
    Network {
        name: "training, tensor-parallel",
        processes: 4,
        text: TRAINING,
        arguments: TRAINED,
        results: WEIGHTS,
        layouts: &[
            ("x", ""),
            ("h", "((16:4), (4_Process, 4:1))"),
            ("o", ""),
            ("w1", "((8:4), (4_Process, 4:1))"),
            ("w2", "((4_Process, 4:4), (4:1))"),
        ],
        // The partial sums of the second layer.
        collectives: &[("all_reduce", 1)],
    },
    Network {
        name: "training, data- and tensor-parallel",
        processes: 8,
        text: TRAINING,
        arguments: TRAINED,
        results: WEIGHTS,
        layouts: &[
            ("x", "((2_Process:4, 8:8), (8:1); B@[4_Process:1])"),
            ("h", "((2_Process:4, 8:4), (4_Process:1, 4:1))"),
            ("o", "((2_Process:4, 8:4), (4:1); B@[4_Process:1])"),
            ("w1", "((8:4), (4_Process:1, 4:1); B@[2_Process:4])"),
            ("w2", "((4_Process:1, 4:4), (4:1); B@[2_Process:4])"),
        ],
        collectives: &[("all_reduce", 3)],
    },
    Network {
        name: "training, with weights in parts",
        processes: 4,
        text: TRAINING,
        arguments: TRAINED,
        results: WEIGHTS,
        layouts: &[
            ("x", "((4_Process, 4:8), (8:1))"),
            ("h", "((4_Process, 4:16), (16:1))"),
            ("o", "((4_Process, 4:4), (4:1))"),
            ("w1", "((4_Process, 2:16), (16:1))"),
            ("w2", "((4_Process, 4:4), (4:1))"),
        ],
        // Each weight is gathered once, for its forward and its backward product, and each gradient is scattered.
        collectives: &[("all_gather", 2), ("reduce_scatter", 2)],
    },
    Network {
        name: "attention, queries spread",
        processes: 4,
        text: ATTENTION,
        arguments: ATTENDING,
        results: &[("q", &[16, 8])],
        layouts: &[
            ("q", "((4_Process, 4:8), (8:1))"),
            ("k", "((4_Process, 4:8), (8:1))"),
            ("s", "((4_Process, 4:16), (16:1))"),
            ("r", "((4_Process, 4:1))"),
        ],
        // Keys and values.
        collectives: &[("all_gather", 2)],
    },
    Network {
        name: "attention, keys spread",
        processes: 4,
        text: ATTENTION,
        arguments: ATTENDING,
        results: &[("q", &[16, 8])],
        layouts: &[("q", ""), ("k", "((4_Process, 4:8), (8:1))"), ("s", "((16:4), (4_Process, 4:1))"), ("r", "")],
        // The maximum score, which may be NaN, is gathered; the sums of exponentials and of values are reduced.
        collectives: &[("all_gather", 1), ("all_reduce", 2)],
    },
];

impl Network<'_> {
    /// The program with its layouts.
    pub fn program(&self) -> Program {
        self.with(&|name| {
            self.layouts.iter().find(|own| own.0 == name).unwrap_or_else(|| panic!("the layout of {name}")).1
        })
    }

    /// The program without layouts.
    pub fn unspread(&self) -> Program {
        self.with(&|_| "")
    }

    fn with<'s>(&'s self, layout: &dyn Fn(&str) -> &'s str) -> Program {
        let mut text = self.text.replace("$processes", &self.processes.to_string());
        for (name, _) in self.layouts {
            let layout = layout(name);
            let encoding = if layout.is_empty() { String::new() } else { format!(", #layout.tensor_layout<{layout}>") };
            text = text.replace(&format!(", #{name}>"), &format!("{encoding}>"));
        }
        let arrays = |all: &[(&str, &[usize])]| {
            let array = |(name, sizes): &(&str, &[usize])| Array {
                name: name.to_string(),
                sizes: sizes.to_vec(),
                layout: layout(name).to_string(),
            };
            all.iter().map(array).collect()
        };
        Program { text, arguments: arrays(self.arguments), results: arrays(self.results), processes: self.processes }
    }
}
