//! A slow interpreter of HLO, written from what its operations mean. Shared by tests; no test by itself.

use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Literal, Module, Values};
use tensor_layout::operations::Operation;
use tensor_layout::operations::{Array, Shape};

/// An array with its elements in row-major order. All types are kept as `f64`, rounded as the type demands.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub element: ElementType,
    pub sizes: Vec<i64>,
    pub data: Vec<f64>,
}

/// The leaves of what a computation gives for these arguments.
pub fn run(module: &Module, computation: usize, arguments: &[Vec<Value>]) -> Vec<Value> {
    let computation = &module.computations[computation];
    let mut values: Vec<Vec<Value>> = Vec::new();
    for i in &computation.instructions {
        let operands: Vec<Vec<Value>> = i.operands.iter().map(|k| values[*k].clone()).collect();
        let shapes: Vec<&Shape> = i.operands.iter().map(|k| &computation.instructions[*k].shape).collect();
        values.push(match &i.operation {
            Operation::Parameter { number } => arguments[*number].clone(),
            _ => instruction(module, i, &operands, &shapes),
        });
    }
    values.swap_remove(computation.root)
}

/// A number as an element of a type.
pub fn rounded(e: ElementType, x: f64) -> f64 {
    match e {
        ElementType::F32 => f64::from(x as f32),
        ElementType::BF16 => {
            let bits = (x as f32).to_bits();
            let up = (bits.wrapping_add(0x7fff + ((bits >> 16) & 1))) & 0xffff_0000;
            f64::from(f32::from_bits(if x.is_nan() { bits } else { up }))
        }
        ElementType::F64 => x,
        ElementType::Pred => f64::from(u8::from(x != 0.0)),
        _ => {
            let bits = e.bits().expect("a number") as u32;
            let all = (x as i128).rem_euclid(1i128 << bits);
            (if e.is_signed() && all >= 1i128 << (bits - 1) { all - (1i128 << bits) } else { all }) as f64
        }
    }
}

/// The bits of a number.
fn bits(e: ElementType, x: f64) -> u64 {
    match e {
        ElementType::F32 => (x as f32).to_bits().into(),
        ElementType::BF16 => u64::from((x as f32).to_bits() >> 16),
        e if e.is_float() => panic!("the bits of {} are not interpreted", e.name()),
        e => (x as i128).rem_euclid(1 << e.bits().expect("a number")) as u64,
    }
}

/// The number with these bits.
fn of_bits(e: ElementType, bits: u64) -> f64 {
    match e {
        ElementType::F32 => f64::from(f32::from_bits(bits as u32)),
        ElementType::BF16 => f64::from(f32::from_bits((bits as u32) << 16)),
        e if e.is_float() => panic!("the bits of {} are not interpreted", e.name()),
        e => rounded(e, bits as f64),
    }
}

fn array(shape: &Shape) -> &Array {
    match shape {
        Shape::Array(array) => array,
        other => panic!("{other} is no array"),
    }
}

/// Calls back with each index into these sizes, in row-major order.
pub fn each(sizes: &[i64], mut f: impl FnMut(&[i64])) {
    let mut index = vec![0; sizes.len()];
    if sizes.contains(&0) {
        return;
    }
    loop {
        f(&index);
        let Some(k) = (0..sizes.len()).rev().find(|k| index[*k] + 1 < sizes[*k]) else { return };
        index[k] += 1;
        index[k + 1..].fill(0);
    }
}

impl Value {
    fn at(&self, index: &[i64]) -> f64 {
        self.data[self.place(index)]
    }

    fn place(&self, index: &[i64]) -> usize {
        index.iter().zip(&self.sizes).fold(0, |at, (i, n)| {
            assert!((0..*n).contains(i), "{index:?} lies outside of {:?}", self.sizes);
            at * n + i
        }) as usize
    }

    fn build(element: ElementType, sizes: &[i64], mut f: impl FnMut(&[i64]) -> f64) -> Value {
        let mut data = Vec::new();
        each(sizes, |index| data.push(rounded(element, f(index))));
        Value { element, sizes: sizes.to_vec(), data }
    }

    fn scalar(element: ElementType, x: f64) -> Value {
        Value { element, sizes: Vec::new(), data: vec![rounded(element, x)] }
    }
}

fn literal(l: &Literal, element: ElementType, sizes: &[i64]) -> Value {
    let data = match &l.values {
        Values::Booleans(all) => all.iter().map(|x| f64::from(u8::from(*x))).collect(),
        Values::Integers(all) => all.iter().map(|x| *x as f64).collect(),
        Values::Floats(all) => all.iter().map(|x| rounded(element, *x)).collect(),
        other => panic!("{other:?}"),
    };
    Value { element, sizes: sizes.to_vec(), data }
}

/// What an elementwise instruction makes of one element of each operand, the first of type `from`.
fn element(i: &Instruction, from: ElementType, to: ElementType, x: &[f64]) -> f64 {
    let truth = |b: bool| f64::from(u8::from(b));
    let whole = |f: fn(i128, i128) -> i128| f(x[0] as i128, x[1] as i128) as f64;
    let float = from.is_float();
    let width = i128::from(from.bits().unwrap_or(64));
    match &*i.opcode {
        "add" if from == ElementType::Pred => truth(x[0] + x[1] != 0.0),
        "add" if float => x[0] + x[1],
        "add" => whole(|a, b| a + b),
        "subtract" if float => x[0] - x[1],
        "subtract" => whole(|a, b| a - b),
        "multiply" if float => x[0] * x[1],
        "multiply" => whole(|a, b| a * b),
        "divide" if float => x[0] / x[1],
        "divide" => whole(|a, b| if b == 0 { -1 } else { a / b }),
        "remainder" if float => x[0] % x[1],
        "remainder" => whole(|a, b| if b == 0 { a } else { a % b }),
        "maximum" => {
            if x[0].is_nan() || x[1].is_nan() {
                f64::NAN
            } else {
                x[0].max(x[1])
            }
        }
        "minimum" => {
            if x[0].is_nan() || x[1].is_nan() {
                f64::NAN
            } else {
                x[0].min(x[1])
            }
        }
        "and" => whole(|a, b| a & b),
        "or" => whole(|a, b| a | b),
        "xor" => whole(|a, b| a ^ b),
        "not" if from == ElementType::Pred => 1.0 - x[0],
        "not" => -1.0 - x[0],
        "shift-left" => {
            if (0..width).contains(&(x[1] as i128)) {
                ((x[0] as i128) << x[1] as u32) as f64
            } else {
                0.0
            }
        }
        "shift-right-arithmetic" => {
            let by = if (0..width).contains(&(x[1] as i128)) { x[1] as i128 } else { width - 1 };
            ((x[0] as i128) >> by) as f64
        }
        "shift-right-logical" => {
            let own = (x[0] as i128).rem_euclid(1 << width);
            if (0..width).contains(&(x[1] as i128)) { (own >> x[1] as u32) as f64 } else { 0.0 }
        }
        "negate" => -x[0],
        "abs" => x[0].abs(),
        "sign" => {
            if x[0] == 0.0 || x[0].is_nan() {
                x[0]
            } else {
                x[0].signum()
            }
        }
        "exponential" => x[0].exp(),
        "exponential-minus-one" => x[0].exp_m1(),
        "log" => x[0].ln(),
        "log-plus-one" => x[0].ln_1p(),
        "tanh" => x[0].tanh(),
        "logistic" => 1.0 / (1.0 + (-x[0]).exp()),
        "sqrt" => x[0].sqrt(),
        "rsqrt" => 1.0 / x[0].sqrt(),
        "cbrt" => x[0].cbrt(),
        "sine" => x[0].sin(),
        "cosine" => x[0].cos(),
        "tan" => x[0].tan(),
        "power" => x[0].powf(x[1]),
        "atan2" => x[0].atan2(x[1]),
        "floor" => x[0].floor(),
        "ceil" => x[0].ceil(),
        "round-nearest-even" => x[0].round_ties_even(),
        "round-nearest-afz" => x[0].round(),
        "is-finite" => truth(x[0].is_finite()),
        "clamp" => x[1].max(x[0]).min(x[2]),
        "select" => {
            if x[0] != 0.0 {
                x[1]
            } else {
                x[2]
            }
        }
        "copy" | "opt-barrier" => x[0],
        "compare" => truth(match i.attribute("direction").unwrap() {
            "EQ" => x[0] == x[1],
            "NE" => x[0] != x[1],
            "LT" => x[0] < x[1],
            "LE" => x[0] <= x[1],
            "GT" => x[0] > x[1],
            _ => x[0] >= x[1],
        }),
        "convert" if float && !to.is_float() && to != ElementType::Pred => {
            let bits = to.bits().unwrap() as i32;
            let (lo, hi) = match to.is_signed() {
                true => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0),
                false => (0.0, 2f64.powi(bits) - 1.0),
            };
            if x[0].is_nan() { 0.0 } else { x[0].trunc().clamp(lo, hi) }
        }
        "convert" => x[0],
        "bitcast-convert" => of_bits(to, bits(from, x[0])),
        other => panic!("`{other}` is not interpreted"),
    }
}

/// A computation on scalars.
fn combine(module: &Module, computation: usize, arguments: &[f64], element: &[ElementType]) -> Vec<f64> {
    let arguments: Vec<Vec<Value>> = arguments.iter().zip(element).map(|(x, e)| vec![Value::scalar(*e, *x)]).collect();
    run(module, computation, &arguments).iter().map(|v| v.data[0]).collect()
}

fn instruction(module: &Module, i: &Instruction, operands: &[Vec<Value>], shapes: &[&Shape]) -> Vec<Value> {
    let x: Vec<&Value> = operands.iter().flatten().collect();
    match &i.operation {
        Operation::Tuple => return operands.concat(),
        Operation::GetTupleElement { index } => {
            let Shape::Tuple(parts) = shapes[0] else { panic!("no tuple") };
            assert!(parts.iter().all(|part| matches!(part, Shape::Array(_))), "a nested tuple is not interpreted");
            return vec![operands[0][*index].clone()];
        }
        Operation::Call { computation } => return run(module, *computation, operands),
        Operation::While { condition, body } => {
            let mut state = operands[0].clone();
            while run(module, *condition, &[state.clone()])[0].data[0] != 0.0 {
                state = run(module, *body, &[state]);
            }
            return state;
        }
        Operation::Conditional { branches } => {
            let chosen = operands[0][0].data[0];
            let last = branches.len() - 1;
            let k = match operands[0][0].element {
                ElementType::Pred => usize::from(chosen == 0.0),
                _ if chosen < 0.0 => last,
                _ => (chosen as usize).min(last),
            };
            return run(module, branches[k], &[operands[k + 1].clone()]);
        }
        Operation::Reduce { dims } => {
            return reduce(module, i, &x, |sizes, f| {
                let kept: Vec<usize> = (0..sizes.len()).filter(|k| !dims.contains(k)).collect();
                each(sizes, |index| f(&kept.iter().map(|k| index[*k]).collect::<Vec<_>>(), Some(index)));
            });
        }
        Operation::ReduceWindow { window } => {
            let places: Vec<i64> = window.iter().map(|w| w.size).collect();
            let shape = match &i.shape {
                Shape::Tuple(parts) => array(&parts[0]).sizes().unwrap(),
                shape => array(shape).sizes().unwrap(),
            };
            return reduce(module, i, &x, |sizes, f| {
                each(&shape, |out| {
                    each(&places, |place| {
                        let at = |k: usize| {
                            let w = &window[k];
                            let p = out[k] * w.stride + place[k] * w.window_dilation - w.low;
                            let inside = p >= 0 && p % w.base_dilation == 0 && p / w.base_dilation < sizes[k];
                            inside.then(|| p / w.base_dilation)
                        };
                        let index: Option<Vec<i64>> = (0..sizes.len()).map(at).collect();
                        f(out, index.as_deref());
                    });
                });
            });
        }
        _ => {}
    }
    let (out, sizes) = (array(&i.shape).element, array(&i.shape).sizes().unwrap());
    let clamped = |values: &[&Value], data: &[i64], block: &[i64]| -> Vec<i64> {
        (0..data.len()).map(|k| (values[k].data[0] as i64).clamp(0, data[k] - block[k])).collect()
    };
    let plus = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<_>>();
    vec![match &i.operation {
        Operation::Constant => literal(i.literal.as_ref().unwrap(), out, &sizes),
        Operation::Elementwise | Operation::Select => Value::build(out, &sizes, |index| {
            let read = |v: &&Value| if v.sizes.is_empty() { v.data[0] } else { v.at(index) };
            element(i, x[0].element, out, &x.iter().map(read).collect::<Vec<_>>())
        }),
        Operation::Broadcast { .. } if i.opcode == "bitcast-convert" => Value::build(out, &sizes, |index| {
            let (part, of) = index.split_last().unwrap();
            let width = out.bits().unwrap();
            of_bits(out, bits(x[0].element, x[0].at(of)) >> (part * width) & ((1 << width) - 1))
        }),
        Operation::Broadcast { dims } => {
            Value::build(out, &sizes, |index| x[0].at(&dims.iter().map(|k| index[*k]).collect::<Vec<_>>()))
        }
        Operation::Transpose { permutation } => Value::build(out, &sizes, |index| {
            let mut from = vec![0; index.len()];
            permutation.iter().enumerate().for_each(|(k, dim)| from[*dim] = index[k]);
            x[0].at(&from)
        }),
        Operation::Reverse { dims } => Value::build(out, &sizes, |index| {
            let turned = |k: usize| if dims.contains(&k) { sizes[k] - 1 - index[k] } else { index[k] };
            x[0].at(&(0..index.len()).map(turned).collect::<Vec<_>>())
        }),
        Operation::Reshape => Value { element: out, sizes, data: x[0].data.clone() },
        Operation::Bitcast => {
            // Memory is filled with the operand and read as the result.
            let memory = |sizes: &[i64], shape: &Array, f: &mut dyn FnMut(usize, i64)| {
                let expansion = tensor_layout::tiled::Expansion::new(sizes, &shape.layout).unwrap();
                let mut k = 0;
                each(sizes, |index| {
                    f(k, expansion.offset(index).unwrap());
                    k += 1;
                });
            };
            let mut bytes = std::collections::BTreeMap::new();
            memory(&x[0].sizes, array(shapes[0]), &mut |k, offset| {
                bytes.insert(offset, of_bits(out, bits(x[0].element, x[0].data[k])));
            });
            let mut data = Vec::new();
            // Padding may be anything.
            let read = |offset| bytes.get(&offset).copied().unwrap_or(7.0);
            memory(&sizes, array(&i.shape), &mut |_, offset| data.push(read(offset)));
            Value { element: out, sizes, data }
        }
        Operation::Slice { starts, strides, .. } => Value::build(out, &sizes, |index| {
            x[0].at(&(0..index.len()).map(|k| starts[k] + index[k] * strides[k]).collect::<Vec<_>>())
        }),
        Operation::Concatenate { dim } => Value::build(out, &sizes, |index| {
            let mut index = index.to_vec();
            for part in &x {
                if index[*dim] < part.sizes[*dim] {
                    return part.at(&index);
                }
                index[*dim] -= part.sizes[*dim];
            }
            unreachable!("the parts fill the result")
        }),
        Operation::Pad { low, interior, .. } => Value::build(out, &sizes, |index| {
            let at = |k: usize| {
                let (p, step) = (index[k] - low[k], interior[k] + 1);
                (p >= 0 && p % step == 0 && p / step < x[0].sizes[k]).then(|| p / step)
            };
            let from: Option<Vec<i64>> = (0..index.len()).map(at).collect();
            from.map_or(x[1].data[0], |from| x[0].at(&from))
        }),
        Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
            let summed: Vec<i64> = lhs_contracting.iter().map(|k| x[0].sizes[*k]).collect();
            Value::build(out, &sizes, |index| {
                let side = |v: &Value, batch: &[usize], gone: &[usize], mut next: usize, s: &[i64]| {
                    let mut at = vec![0; v.sizes.len()];
                    for (k, slot) in at.iter_mut().enumerate() {
                        *slot = if let Some(b) = batch.iter().position(|dim| *dim == k) {
                            index[b]
                        } else if let Some(c) = gone.iter().position(|dim| *dim == k) {
                            s[c]
                        } else {
                            next += 1;
                            index[next - 1]
                        };
                    }
                    v.at(&at)
                };
                let right = x[0].sizes.len() - lhs_contracting.len();
                let mut sum = 0.0;
                each(&summed, |s| {
                    let a = side(x[0], lhs_batch, lhs_contracting, lhs_batch.len(), s);
                    sum += a * side(x[1], rhs_batch, rhs_contracting, right, s);
                });
                sum
            })
        }
        Operation::Convolution(c) => {
            let places: Vec<i64> = c.window.iter().map(|w| w.size).collect();
            let features = x[1].sizes[c.kernel_input_feature];
            Value::build(out, &sizes, |index| {
                let of = index[c.output_feature];
                let mut sum = 0.0;
                each(&places, |place| {
                    let (mut a, mut b) = (vec![0; sizes.len()], vec![0; sizes.len()]);
                    b[c.kernel_output_feature] = of;
                    a[c.input_batch] = index[c.output_batch];
                    if c.batch_groups > 1 {
                        a[c.input_batch] += of / (sizes[c.output_feature] / c.batch_groups) * sizes[c.output_batch];
                    }
                    for (k, w) in c.window.iter().enumerate() {
                        let p = index[c.output_spatial[k]] * w.stride + place[k] * w.window_dilation - w.low;
                        if p < 0 || p % w.base_dilation != 0 || p / w.base_dilation >= x[0].sizes[c.input_spatial[k]] {
                            return;
                        }
                        a[c.input_spatial[k]] = p / w.base_dilation;
                        b[c.kernel_spatial[k]] = if w.reversed { w.size - 1 - place[k] } else { place[k] };
                    }
                    for f in 0..features {
                        let group = of / (sizes[c.output_feature] / c.feature_groups);
                        a[c.input_feature] = if c.feature_groups > 1 { group * features + f } else { f };
                        b[c.kernel_input_feature] = f;
                        sum += x[0].at(&a) * x[1].at(&b);
                    }
                });
                sum
            })
        }
        Operation::DynamicSlice { sizes: block } => {
            let start = clamped(&x[1..], &x[0].sizes, block);
            Value::build(out, &sizes, |index| x[0].at(&plus(index, &start)))
        }
        Operation::DynamicUpdateSlice => {
            let start = clamped(&x[2..], &x[0].sizes, &x[1].sizes);
            let mut written = x[0].clone();
            each(&x[1].sizes, |index| {
                let place = written.place(&plus(index, &start));
                written.data[place] = x[1].at(index);
            });
            written
        }
        Operation::Gather(g) => Value::build(out, &sizes, |index| {
            let batch: Vec<i64> = (0..index.len()).filter(|k| !g.offset_dims.contains(k)).map(|k| index[k]).collect();
            let mut at = vec![0; x[0].sizes.len()];
            for (j, dim) in g.start_index_map.iter().enumerate() {
                let mut place = batch.clone();
                if g.index_vector_dim < x[1].sizes.len() {
                    place.insert(g.index_vector_dim, j as i64);
                }
                at[*dim] = (x[1].at(&place) as i64).clamp(0, x[0].sizes[*dim] - g.slice_sizes[*dim]);
            }
            for (dim, of) in g.operand_batching_dims.iter().zip(&g.start_indices_batching_dims) {
                at[*dim] = batch[*of - usize::from(*of > g.index_vector_dim)];
            }
            let gone = |dim: &usize| !g.collapsed_slice_dims.contains(dim) && !g.operand_batching_dims.contains(dim);
            for (j, dim) in (0..at.len()).filter(gone).enumerate() {
                at[dim] += index[g.offset_dims[j]];
            }
            x[0].at(&at)
        }),
        Operation::Iota { dim } => Value::build(out, &sizes, |index| index[*dim] as f64),
        other => panic!("{other:?} is not interpreted"),
    }]
}

/// Combines elements of the inputs, or their initial values where there is no element, into those of the result.
/// `walk` calls back with an index of the result and one of the inputs.
fn reduce(
    module: &Module,
    i: &Instruction,
    x: &[&Value],
    walk: impl Fn(&[i64], &mut dyn FnMut(&[i64], Option<&[i64]>)),
) -> Vec<Value> {
    let n = x.len() / 2;
    let shapes: Vec<&Array> = tensor_layout::operations::leaves(&i.shape);
    let sizes = shapes[0].sizes().unwrap();
    let mut out: Vec<Value> = (0..n).map(|k| Value::build(x[n + k].element, &sizes, |_| x[n + k].data[0])).collect();
    let types: Vec<ElementType> = (0..2 * n).map(|k| x[n + k % n].element).collect();
    walk(&x[0].sizes, &mut |to, from| {
        let place = out[0].place(to);
        let values = x[..n].iter().zip(&x[n..]).map(|(v, init)| from.map_or(init.data[0], |from| v.at(from)));
        let arguments: Vec<f64> = out.iter().map(|v| v.data[place]).chain(values).collect();
        let combined = combine(module, i.called[0], &arguments, &types);
        out.iter_mut().zip(combined).for_each(|(v, new)| v.data[place] = new);
    });
    out
}
