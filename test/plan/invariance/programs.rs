//! Random programs as graphs, and their texts.

use fastrand::Rng;
use tensor_layout::element::ElementType;
use tensor_layout::targets::Target;

/// An instruction: its shape, its operation, its operands, and its attributes.
#[derive(Clone)]
struct Instruction {
    element: &'static str,
    sizes: Vec<i64>,
    opcode: &'static str,
    operands: Vec<usize>,
    attributes: String,
}

/// A program whose result is a tuple of some of its instructions.
pub struct Program {
    instructions: Vec<Instruction>,
    results: Vec<usize>,
}

/// The form of a program's text.
#[derive(Default)]
pub struct Written<'t> {
    /// The order of the instructions by number; empty for their own order.
    pub order: Vec<usize>,
    /// The names; empty for `v0`, `v1` and so on.
    pub names: Vec<String>,
    /// The target of explicit default layouts, and whether only arguments and results have them.
    pub layouts: Option<(&'t Target, bool)>,
}

impl Written<'_> {
    /// Another topological order, and other names.
    pub fn shuffled(program: &Program, rng: &mut Rng) -> Written<'static> {
        let count = program.instructions.len();
        let mut order: Vec<usize> = Vec::new();
        while order.len() < count {
            let ready = |k: &usize| {
                !order.contains(k) && program.instructions[*k].operands.iter().all(|own| order.contains(own))
            };
            let all: Vec<usize> = (0..count).filter(ready).collect();
            order.push(rng.choice(all).expect("some instruction follows"));
        }
        let mut numbers: Vec<usize> = (0..count).collect();
        rng.shuffle(&mut numbers);
        let names = numbers.into_iter().map(|n| format!("{}{n}", rng.alphabetic())).collect();
        Written { order, names, layouts: None }
    }
}

const SIZES: [i64; 10] = [1, 2, 3, 4, 8, 16, 24, 32, 128, 256];

impl Program {
    /// A random program of up to ten operations.
    pub fn random(rng: &mut Rng) -> Program {
        let mut program = Program { instructions: Vec::new(), results: Vec::new() };
        let element = if rng.bool() { "f32" } else { "bf16" };
        for number in 0..rng.usize(1..4) {
            let rank = rng.usize(1..=4);
            let mut sizes: Vec<i64> = (0..rank).map(|_| rng.choice(SIZES).expect("sizes")).collect();
            while sizes.iter().product::<i64>() > 1 << 18 {
                let largest = (0..rank).max_by_key(|dim| sizes[*dim]).expect("a dimension");
                sizes[largest] /= 2;
            }
            program.add(element, sizes, "parameter", Vec::new(), format!("{number}"));
        }
        program.add(element, Vec::new(), "constant", Vec::new(), "0".to_string());
        let zero = program.instructions.len() - 1;
        for _ in 0..rng.usize(1..=10) {
            program.add_random(rng, element, zero);
        }
        let count = program.instructions.len();
        for k in (0..count).filter(|k| *k != zero) {
            let is_read = program.instructions.iter().any(|own| own.operands.contains(&k));
            // Leaves some unread instructions dead.
            if !is_read && rng.u8(..8) != 0 || is_read && rng.u8(..6) == 0 {
                program.results.push(k);
            }
        }
        if program.results.is_empty() {
            program.results.push(count - 1);
        }
        program
    }

    fn add(
        &mut self,
        element: &'static str,
        sizes: Vec<i64>,
        opcode: &'static str,
        operands: Vec<usize>,
        more: String,
    ) {
        self.instructions.push(Instruction { element, sizes, opcode, operands, attributes: more });
    }

    fn add_random(&mut self, rng: &mut Rng, element: &'static str, zero: usize) {
        let arrays: Vec<usize> = (0..self.instructions.len()).filter(|k| *k != zero).collect();
        let x = rng.choice(arrays.iter().copied()).expect("an array");
        let sizes = self.instructions[x].sizes.clone();
        let rank = sizes.len();
        match rng.u8(..16) {
            0..=2 if rank > 0 => {
                let mut permutation: Vec<usize> = (0..rank).collect();
                rng.shuffle(&mut permutation);
                let turned = permutation.iter().map(|dim| sizes[*dim]).collect();
                let attributes = format!("dimensions={{{}}}", list(&permutation));
                self.add(element, turned, "transpose", vec![x], attributes);
            }
            3..=5 => self.add(element, reshaped(rng, sizes), "reshape", vec![x], String::new()),
            6 | 7 => self.add(element, sizes, "tanh", vec![x], String::new()),
            8 | 9 => {
                let alike = |k: &usize| self.instructions[*k].sizes == sizes;
                let all: Vec<usize> = arrays.into_iter().filter(alike).collect();
                let y = rng.choice(all).expect("the array itself");
                self.add(element, sizes, "add", vec![x, y], String::new());
            }
            10 if rank > 0 => {
                let dim = rng.usize(..rank);
                let rest = (0..rank).filter(|own| *own != dim).map(|own| sizes[own]).collect();
                let attributes = format!("dimensions={{{dim}}}, to_apply=sum");
                self.add(element, rest, "reduce", vec![x, zero], attributes);
            }
            11 if rank > 0 => {
                let ends: Vec<i64> = sizes.iter().map(|size| rng.i64(1..=*size)).collect();
                let ranges: Vec<String> = ends.iter().map(|end| format!("[0:{end}]")).collect();
                self.add(element, ends, "slice", vec![x], format!("slice={{{}}}", ranges.join(", ")));
            }
            12 if rank > 0 && sizes.len() < 4 => {
                let mut more = sizes.clone();
                more.push(rng.choice(SIZES).expect("sizes").min(32));
                let dims: Vec<usize> = (0..rank).collect();
                self.add(element, more, "broadcast", vec![x], format!("dimensions={{{}}}", list(&dims)));
            }
            13 if rank > 0 => {
                let dim = rng.usize(..rank);
                let mut twice = sizes.clone();
                twice[dim] *= 2;
                self.add(element, twice, "concatenate", vec![x, x], format!("dimensions={{{dim}}}"));
            }
            _ if rank > 0 => self.add_product(rng, element, x, &arrays),
            _ => {}
        }
    }

    /// A product over one dimension of each array.
    fn add_product(&mut self, rng: &mut Rng, element: &'static str, x: usize, arrays: &[usize]) {
        let sizes = &self.instructions[x].sizes;
        let own = rng.usize(..sizes.len());
        let shared = |k: &usize| {
            let other = &self.instructions[*k].sizes;
            (0..other.len()).find(|dim| other[*dim] == sizes[own]).map(|dim| (*k, dim))
        };
        let all: Vec<(usize, usize)> = arrays.iter().filter_map(shared).collect();
        let (y, other) = rng.choice(all).expect("the array itself");
        let rest = |sizes: &[i64], without: usize| {
            (0..sizes.len()).filter(|dim| *dim != without).map(|dim| sizes[dim]).collect::<Vec<_>>()
        };
        let made = [rest(sizes, own), rest(&self.instructions[y].sizes, other)].concat();
        if made.len() <= 4 && made.iter().product::<i64>() <= 1 << 20 {
            let attributes = format!("lhs_contracting_dims={{{own}}}, rhs_contracting_dims={{{other}}}");
            self.add(element, made, "dot", vec![x, y], attributes);
        }
    }

    /// The program with an instruction computed twice, and some of its users taking the second one.
    pub fn with_a_copy(&self, rng: &mut Rng) -> Program {
        let mut program = Program { instructions: self.instructions.clone(), results: self.results.clone() };
        let copied = |k: &usize| self.instructions[*k].opcode != "parameter";
        let Some(k) = rng.choice((0..self.instructions.len()).filter(copied).collect::<Vec<_>>()) else {
            return program;
        };
        let copy = program.instructions.len();
        let operands = program.instructions.iter_mut().flat_map(|own| own.operands.iter_mut());
        for operand in operands.chain(&mut program.results).filter(|operand| **operand == k) {
            if rng.bool() {
                *operand = copy;
            }
        }
        program.instructions.push(self.instructions[k].clone());
        program
    }

    /// The program without dead instructions.
    pub fn without_dead_code(&self) -> Program {
        let mut needed = vec![false; self.instructions.len()];
        for k in (0..needed.len()).rev() {
            needed[k] = self.results.contains(&k)
                || self.instructions[k].opcode == "parameter"
                || (k + 1..needed.len()).any(|user| needed[user] && self.instructions[user].operands.contains(&k));
        }
        let places: Vec<usize> = (0..needed.len()).map(|k| needed[..k].iter().filter(|own| **own).count()).collect();
        let at = |numbers: &[usize]| numbers.iter().map(|k| places[*k]).collect::<Vec<_>>();
        let kept = self.instructions.iter().zip(&needed).filter(|(_, needed)| **needed);
        let moved = |(own, _): (&Instruction, &bool)| Instruction { operands: at(&own.operands), ..own.clone() };
        Program { instructions: kept.map(moved).collect(), results: at(&self.results) }
    }

    /// The text of the program.
    pub fn text(&self, written: &Written) -> String {
        let name = |k: usize| written.names.get(k).cloned().unwrap_or_else(|| format!("v{k}"));
        let shape = |k: usize, is_end: bool| {
            let Instruction { element, sizes, .. } = &self.instructions[k];
            let dims = sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            let layout = written.layouts.filter(|(_, ends)| !ends || is_end).map(|(target, _)| {
                let kind = if *element == "f32" { ElementType::F32 } else { ElementType::BF16 };
                target.default_layout(kind, sizes).expect("small sizes").to_string()
            });
            // A scalar without tiles has no explicit layout.
            format!("{element}[{dims}]{}", layout.filter(|text| text != "{}").unwrap_or_default())
        };
        let element = self.instructions[0].element;
        let mut text = format!(
            "HloModule m\n\nsum {{\n  a = {element}[] parameter(0)\n  b = {element}[] parameter(1)\n  ROOT s = {element}[] add(a, b)\n}}\n\nENTRY main {{\n"
        );
        let count = self.instructions.len();
        for k in (0..count).map(|place| written.order.get(place).copied().unwrap_or(place)) {
            let Instruction { opcode, operands, attributes, .. } = &self.instructions[k];
            let own = shape(k, *opcode == "parameter" || self.results.contains(&k));
            let mut inside = operands.iter().map(|own| name(*own)).collect::<Vec<_>>().join(", ");
            let mut after = String::new();
            match *opcode {
                "parameter" | "constant" => inside = attributes.clone(),
                _ if attributes.is_empty() => {}
                _ => after = format!(", {attributes}"),
            }
            text += &format!("  {} = {own} {opcode}({inside}){after}\n", name(k));
        }
        let shapes = self.results.iter().map(|k| shape(*k, true)).collect::<Vec<_>>().join(", ");
        let names = self.results.iter().map(|k| name(*k)).collect::<Vec<_>>().join(", ");
        text + &format!("  ROOT root = ({shapes}) tuple({names})\n}}\n")
    }
}

fn list(dims: &[usize]) -> String {
    dims.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Sizes after some merges, cuts and dimensions of size 1.
fn reshaped(rng: &mut Rng, mut sizes: Vec<i64>) -> Vec<i64> {
    for _ in 0..rng.usize(1..4) {
        let dim = rng.usize(..=sizes.len());
        match rng.u8(..3) {
            0 if dim + 1 < sizes.len() => {
                let size = sizes.remove(dim);
                sizes[dim] *= size;
            }
            1 if dim < sizes.len() && sizes.len() < 5 && sizes[dim] % 2 == 0 => {
                let part = if sizes[dim] % 8 == 0 && rng.bool() { 8 } else { 2 };
                sizes[dim] /= part;
                sizes.insert(dim + rng.usize(..2), part);
            }
            _ if sizes.len() < 4 => sizes.insert(dim, 1),
            _ => {}
        }
    }
    sizes
}
