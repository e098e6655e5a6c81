//! Random tensor programs over processes.

mod shapes;

use fastrand::Rng;
use std::fmt::Write;

/// An array of a program.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: String,
    pub sizes: Vec<usize>,
    /// A TensorLayout; empty if each process has a copy.
    pub layout: String,
}

impl Array {
    pub fn r#type(&self) -> String {
        r#type(&self.sizes, &self.layout)
    }
}

fn r#type(sizes: &[usize], layout: &str) -> String {
    let sizes: String = sizes.iter().map(|size| format!("{size}x")).collect();
    match layout {
        "" => format!("tensor<{sizes}f32>"),
        _ => format!("tensor<{sizes}f32, #layout.tensor_layout<{layout}>>"),
    }
}

/// A program with its arguments and results.
pub struct Program {
    pub text: String,
    pub arguments: Vec<Array>,
    pub results: Vec<Array>,
    pub processes: usize,
}

/// The process grids of layouts: the number of processes along each axis.
const GRIDS: [&[usize]; 8] = [&[2], &[4], &[2, 2], &[8], &[2, 4], &[4, 2], &[2, 2, 2], &[6]];

pub struct Writer<'r> {
    rng: &'r mut Rng,
    grid: Vec<usize>,
    text: String,
    functions: String,
    arrays: Vec<Array>,
    next: usize,
}

/// A random program of `steps` steps.
pub fn program(rng: &mut Rng, steps: usize) -> Program {
    let grid = GRIDS[rng.usize(..GRIDS.len())].to_vec();
    let processes: usize = grid.iter().product();
    let mut w = Writer { rng, grid, text: String::new(), functions: String::new(), arrays: Vec::new(), next: 0 };
    let mut arguments = Vec::new();
    for k in 0..3 {
        let sizes = if k == 2 { vec![w.size()] } else { vec![w.size(), w.size()] };
        let layout = w.layout(&sizes);
        arguments.push(Array { name: format!("%arg{k}"), sizes, layout });
    }
    w.arrays.clone_from(&arguments);
    (0..steps).for_each(|_| w.step());
    let results: Vec<Array> = w.arrays[3..].to_vec();
    let list = |f: fn(&Array) -> String, all: &[Array]| all.iter().map(f).collect::<Vec<_>>().join(", ");
    let types = list(Array::r#type, &results);
    let text = format!(
        "module attributes {{layout.machine = #layout.machine<axes: ({processes}_Process), memories: (), word: 64>}} {{
  func.func private @print(f32)
{}  func.func @main({}) -> ({types}) {{
{}    return {}{}
  }}
}}
",
        w.functions,
        list(|a| format!("{}: {}", a.name, a.r#type()), &arguments),
        w.text,
        list(|a| a.name.clone(), &results),
        if results.is_empty() { String::new() } else { format!(" : {types}") },
    );
    Program { text, arguments, results, processes }
}

impl Writer<'_> {
    /// A size that processes can divide equally.
    fn size(&mut self) -> usize {
        [8, 16, 24, 8, 4][self.rng.usize(..5)]
    }

    /// A random layout on all processes.
    fn layout(&mut self, sizes: &[usize]) -> String {
        if self.rng.usize(..5) == 0 {
            return String::new();
        }
        let mut left = sizes.to_vec();
        let mut parts: Vec<Vec<(usize, Option<usize>)>> = vec![Vec::new(); sizes.len()];
        let mut copies = Vec::new();
        let mut stride = 1;
        for extent in self.grid.iter().rev() {
            let dim = self.rng.usize(..=sizes.len());
            match left.get_mut(dim) {
                Some(size) if *size % extent == 0 => {
                    *size /= extent;
                    parts[dim].push((*extent, Some(stride)));
                }
                _ => copies.push(format!("{extent}_Process:{stride}")),
            }
            stride *= extent;
        }
        for (own, left) in parts.iter_mut().zip(&left) {
            let first = if left % 2 == 0 && self.rng.bool() { 2 } else { 1 };
            own.extend([(first, None), (left / first, None)].into_iter().filter(|part| part.0 > 1));
            if self.rng.usize(..3) > 0 {
                // Blocks, in the order of the ranks.
                own.sort_by_key(|part| std::cmp::Reverse(part.1));
            } else {
                self.rng.shuffle(own);
            }
        }
        let columns_first = self.rng.usize(..6) == 0;
        let mut dims: Vec<usize> = (0..sizes.len()).collect();
        if columns_first {
            dims.reverse();
        }
        let mut texts = vec![String::new(); sizes.len()];
        let mut address = 1;
        for dim in dims.into_iter().rev() {
            let mut own: Vec<String> = Vec::new();
            for (extent, stride) in parts[dim].iter().rev() {
                own.push(match stride {
                    Some(stride) => format!("{extent}_Process:{stride}"),
                    None => format!("{extent}:{address}"),
                });
                address *= if stride.is_none() { *extent } else { 1 };
            }
            own.reverse();
            texts[dim] = if own.is_empty() { "(1:1)".into() } else { format!("({})", own.join(", ")) };
        }
        let copies = if copies.is_empty() { String::new() } else { format!("; B@[{}]", copies.join(", ")) };
        format!("({}{copies})", texts.join(", "))
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn any(&mut self) -> Array {
        self.arrays[self.rng.usize(..self.arrays.len())].clone()
    }

    fn of_rank(&mut self, rank: usize) -> Array {
        let all: Vec<Array> = self.arrays.iter().filter(|a| a.sizes.len() == rank).cloned().collect();
        all[self.rng.usize(..all.len())].clone()
    }

    fn line(&mut self, text: impl AsRef<str>) {
        writeln!(self.text, "    {}", text.as_ref()).unwrap();
    }

    /// A new array for later steps.
    fn made(&mut self, sizes: &[usize], layout: String) -> Array {
        let array = Array { name: self.name(), sizes: sizes.to_vec(), layout };
        self.arrays.push(array.clone());
        array
    }

    /// An array converted to a layout, unless it has it already.
    fn convert(&mut self, a: &Array, layout: &str) -> Array {
        if a.layout == layout {
            return a.clone();
        }
        let to = Array { name: self.name(), sizes: a.sizes.clone(), layout: layout.to_string() };
        self.line(format!("{} = layout.convert {} : {} to {}", to.name, a.name, a.r#type(), to.r#type()));
        to
    }

    /// The initial value of an output: filled or other numbers.
    fn target(&mut self, sizes: &[usize], layout: &str, start: &str) -> Array {
        let t = r#type(sizes, layout);
        let (value, empty, filled) = (self.name(), self.name(), self.name());
        self.line(format!("{value} = arith.constant {start} : f32"));
        self.line(format!("{empty} = tensor.empty() : {t}"));
        self.line(format!("{filled} = linalg.fill ins({value} : f32) outs({empty} : {t}) -> {t}"));
        let filled = Array { name: filled, sizes: sizes.to_vec(), layout: layout.to_string() };
        if self.rng.bool() {
            return filled;
        }
        let like: Vec<Array> = self.arrays.iter().filter(|a| a.sizes == sizes).cloned().collect();
        match like.first() {
            Some(a) => self.convert(a, layout),
            None => filled,
        }
    }

    fn step(&mut self) {
        match self.rng.usize(..22) {
            0 | 1 => {
                let a = self.any();
                let layout = self.layout(&a.sizes);
                let b = self.convert(&a, &layout);
                if b.name != a.name {
                    self.arrays.push(b);
                }
            }
            2 => self.elementwise(),
            3..=5 => self.product(),
            6 | 7 => self.reduction(),
            8 => self.transpose(),
            9 => self.broadcast(),
            10 => self.indices(),
            11 => self.slices(),
            12 => self.pad(),
            13 => self.reshape(),
            14 => self.constant(),
            15 => self.repeat(),
            16 => self.softmax(),
            17 => self.window(),
            18 => self.two_sums(),
            19 => self.call(),
            20 => self.batch_matmul(),
            _ => self.scalars(),
        }
    }

    fn elementwise(&mut self) {
        let (a, b) = (self.any(), self.any());
        let b = if a.sizes == b.sizes { self.convert(&b, &a.layout) } else { a.clone() };
        let made = self.made(&a.sizes, a.layout.clone());
        let op = ["addf", "subf", "maximumf"][self.rng.usize(..3)];
        self.line(format!("{} = arith.{op} {}, {} : {}", made.name, a.name, b.name, a.r#type()));
    }

    fn product(&mut self) {
        let (a, b) = (self.of_rank(2), self.of_rank(2));
        if a.sizes[1] != b.sizes[0] {
            return self.batches();
        }
        let sizes = [a.sizes[0], b.sizes[1]];
        let layout = self.layout(&sizes);
        let c = self.target(&sizes, &layout, "0.0");
        let made = self.made(&sizes, layout);
        self.multiplied("linalg.matmul", &made, [&a, &b, &c]);
    }

    /// A product of two tensors, accumulated onto a third one.
    fn multiplied(&mut self, name: &str, made: &Array, [a, b, c]: [&Array; 3]) {
        let types = [a, b, c, made].map(|own| own.r#type());
        self.line(format!(
            "{} = {name} ins({}, {} : {}, {}) outs({} : {}) -> {}",
            made.name, a.name, b.name, types[0], types[1], c.name, types[2], types[3]
        ));
    }

    /// Batched products of the upper and the lower half of an array with its own transpose.
    fn batches(&mut self) {
        let a = self.of_rank(2);
        let [rows, columns] = [a.sizes[0], a.sizes[1]];
        if rows < 2 {
            return;
        }
        let (split, sizes) = ([2, rows / 2, columns], [2, rows / 2, rows / 2]);
        let (of_split, layout) = (self.layout(&split), self.layout(&sizes));
        let halves = self.made(&split, of_split);
        self.line(format!(
            "{} = tensor.expand_shape {} [[0, 1], [2]] output_shape [2, {}, {columns}] : {} into {}",
            halves.name,
            a.name,
            rows / 2,
            a.r#type(),
            halves.r#type()
        ));
        let c = self.target(&sizes, &layout, "0.0");
        let made = self.made(&sizes, layout);
        self.line(format!(
            "{} = linalg.generic {{indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, j, k)>, \
             affine_map<(b, i, j, k) -> (b, i, j)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"reduction\"]}} \
             ins({}, {} : {}, {}) outs({} : {}) {{",
            made.name, halves.name, halves.name, halves.r#type(), halves.r#type(), c.name, c.r#type()
        ));
        self.line(
            "^bb0(%x: f32, %y: f32, %s: f32):\n      %p = arith.mulf %x, %y : f32\n      %t = arith.addf %p, %s : f32",
        );
        self.line(format!("  linalg.yield %t : f32\n    }} -> {}", made.r#type()));
    }

    fn reduction(&mut self) {
        let a = self.any();
        let dim = self.rng.usize(..a.sizes.len());
        let mut sizes = a.sizes.clone();
        sizes.remove(dim);
        let layout = if sizes.is_empty() { String::new() } else { self.layout(&sizes) };
        let (op, start) =
            [("addf", "0.0"), ("maximumf", "0xFF800000"), ("addf", "3.0"), ("minimumf", "2.0")][self.rng.usize(..4)];
        let c = self.target(&sizes, &layout, start);
        let made = self.made(&sizes, layout);
        self.line(format!(
            "{} = linalg.reduce {{ arith.{op} }} ins({} : {}) outs({} : {}) dimensions = [{dim}]",
            made.name,
            a.name,
            a.r#type(),
            c.name,
            c.r#type()
        ));
        if sizes.is_empty() {
            self.arrays.pop();
            let x = self.name();
            self.line(format!("{x} = tensor.extract {}[] : {}", made.name, made.r#type()));
            self.line(format!("func.call @print({x}) : (f32) -> ()"));
        }
    }

    /// A body that uses the indices of all dimensions.
    fn indices(&mut self) {
        let a = self.of_rank(2);
        let layout = self.layout(&a.sizes);
        let c = self.target(&a.sizes, &layout, "1.0");
        let made = self.made(&a.sizes, layout);
        let identity = "affine_map<(i, j) -> (i, j)>";
        self.line(format!(
            "{} = linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = [\"parallel\", \"parallel\"]}} \
             ins({} : {}) outs({} : {}) {{",
            made.name, a.name, a.r#type(), c.name, c.r#type()
        ));
        self.line("^bb0(%x: f32, %y: f32):\n      %i = linalg.index 0 : index\n      %j = linalg.index 1 : index");
        self.line("  %h = arith.constant 100 : index\n      %m = arith.muli %i, %h : index\n      %n = arith.addi %m, %j : index");
        self.line("  %c = arith.index_cast %n : index to i64\n      %f = arith.sitofp %c : i64 to f32");
        self.line(format!("  %r = arith.addf %f, %x : f32\n      linalg.yield %r : f32\n    }} -> {}", made.r#type()));
    }

    /// A loop with a loop-carried array, and a condition in it.
    fn repeat(&mut self) {
        let (a, b) = (self.any(), self.any());
        let made = self.made(&a.sizes, a.layout.clone());
        let [zero, one, three] = ["0", "1", "3"].map(|n| {
            let name = self.name();
            self.line(format!("{name} = arith.constant {n} : index"));
            name
        });
        let (carried, i, sum, is_first, chosen) = (self.name(), self.name(), self.name(), self.name(), self.name());
        let t = a.r#type();
        self.line(format!(
            "{} = scf.for {i} = {zero} to {three} step {one} iter_args({carried} = {}) -> ({t}) {{",
            made.name, a.name
        ));
        let other = if a.sizes == b.sizes { self.convert(&b, &a.layout) } else { a.clone() };
        self.line(format!("{sum} = arith.addf {carried}, {} : {t}", other.name));
        self.line(format!("{is_first} = arith.cmpi eq, {i}, {zero} : index"));
        self.line(format!("{chosen} = scf.if {is_first} -> ({t}) {{\n      scf.yield {sum} : {t}\n    }} else {{"));
        self.line(format!("  scf.yield {carried} : {t}\n    }}\n    scf.yield {chosen} : {t}\n    }}"));
    }

    /// An element of an array in all elements of another, by a body that captures it.
    fn scalars(&mut self) {
        let a = self.of_rank(2);
        let (one, x) = (self.name(), self.name());
        self.line(format!("{one} = arith.constant 0 : index"));
        self.line(format!("{x} = tensor.extract {}[{one}, {one}] : {}", a.name, a.r#type()));
        self.line(format!("func.call @print({x}) : (f32) -> ()"));
        let sizes = [self.size(), self.size()];
        let layout = self.layout(&sizes);
        let made = self.made(&sizes, layout);
        let splat = self.rng.bool();
        if splat {
            self.line(format!("{} = tensor.splat {x} : {}", made.name, made.r#type()));
        } else {
            self.line(format!("{} = tensor.generate {{\n    ^bb0(%i: index, %j: index):", made.name));
            self.line(format!("  tensor.yield {x} : f32\n    }} : {}", made.r#type()));
        }
    }

    /// The sum of a row's elements times their column, and the row's maximum, in one operation.
    fn two_sums(&mut self) {
        let a = self.of_rank(2);
        let rows = [a.sizes[0]];
        let (of_sums, of_largest) = (self.layout(&rows), self.layout(&rows));
        let sums = self.target(&rows, &of_sums, "1.0");
        let largest = self.target(&rows, &of_largest, "-2.0");
        let (made, other) = (self.made(&rows, of_sums), self.made(&rows, of_largest));
        let both = self.name();
        let (row, x, y, z) = ("affine_map<(i, j) -> (i)>", a.r#type(), sums.r#type(), largest.r#type());
        self.line(format!(
            "{both}:2 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, {row}, {row}], iterator_types = \
             [\"parallel\", \"reduction\"]}} ins({} : {x}) outs({}, {} : {y}, {z}) {{",
            a.name, sums.name, largest.name
        ));
        self.line("^bb0(%x: f32, %s: f32, %m: f32):\n      %j = linalg.index 1 : index\n      %c = arith.index_cast %j : index to i64");
        self.line("  %f = arith.sitofp %c : i64 to f32\n      %p = arith.mulf %f, %x : f32\n      %t = arith.addf %s, %p : f32");
        self.line("  %u = arith.maximumf %m, %x : f32");
        self.line(format!("  linalg.yield %t, %u : f32, f32\n    }} -> ({y}, {z})"));
        for (k, array) in [made, other].into_iter().enumerate() {
            let t = array.r#type();
            let name = self.name();
            self.line(format!("{name} = arith.constant dense<1.0> : {t}"));
            self.line(format!("{} = arith.addf {both}#{k}, {name} : {t}", array.name));
        }
    }

    /// A call that converts its arguments to other layouts.
    fn call(&mut self) {
        let a = self.any();
        let (own, given) = (self.layout(&a.sizes), self.layout(&a.sizes));
        let argument = self.convert(&a, &own);
        let made = self.made(&a.sizes, given);
        let (name, x, y) = (self.name().replace('%', "f"), argument.r#type(), made.r#type());
        self.line(format!("{} = func.call @{name}({}) : ({x}) -> {y}", made.name, argument.name));
        let end = if x == y {
            "    return %s".to_string()
        } else {
            format!("    %c = layout.convert %s : {x} to {y}\n    return %c")
        };
        write!(
            self.functions,
            "  func.func private @{name}(%a: {x}) -> {y} {{\n    %s = arith.addf %a, %a : {x}\n{end} : {y}\n  }}\n"
        )
        .unwrap();
    }

    fn batch_matmul(&mut self) {
        let batch = 8;
        let (left, right, sizes) = ([batch, 4, 8], [batch, 8, 4], [batch, 4, 4]);
        let layouts = [left, right].map(|sizes| self.layout(&sizes));
        let [a, b] = [left, right].map(|sizes| {
            let layout = layouts[usize::from(sizes == right)].clone();
            self.target(&sizes, &layout, "2.0")
        });
        let layout = self.layout(&sizes);
        let c = self.target(&sizes, &layout, "1.0");
        let made = self.made(&sizes, layout);
        self.multiplied("linalg.batch_matmul", &made, [&a, &b, &c]);
    }
}
