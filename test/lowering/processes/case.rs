//! A random collective as a text.

use layout_reference::random::Random;

/// The grids of the programs.
pub const GRIDS: [&[usize]; 9] = [&[1], &[2], &[4], &[2, 2], &[3, 2], &[2, 4], &[8], &[2, 2, 2], &[4, 2]];

/// Element types, each with a cast from i32, and one to f32.
const TYPES: [(&str, &str, &str); 9] = [
    ("f32", "arith.sitofp", ""),
    ("f64", "arith.sitofp", "arith.truncf"),
    ("f16", "arith.sitofp", "arith.extf"),
    ("bf16", "arith.sitofp", "arith.extf"),
    ("i8", "arith.trunci", "arith.sitofp"),
    ("i16", "arith.trunci", "arith.sitofp"),
    ("i32", "", "arith.sitofp"),
    ("i64", "arith.extsi", "arith.sitofp"),
    ("index", "arith.index_cast", "arith.index_cast"),
];

const REDUCTIONS: [&str; 4] = ["sum", "max", "min", "product"];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Gather {
        dim: usize,
    },
    Slice {
        dim: usize,
    },
    ToAll {
        split: usize,
        concat: usize,
    },
    ReduceScatter {
        dim: usize,
    },
    Reduce,
    Shift {
        offset: i64,
        rotates: bool,
    },
    /// Each sends to the process at distance `by` along one axis.
    Pair {
        by: usize,
    },
    /// Repeats `Shift` by one, `times` times.
    Loop {
        times: usize,
    },
}

/// A collective over the processes of a grid.
#[derive(Debug)]
pub struct Case {
    grid: Vec<usize>,
    kind: Kind,
    axes: Vec<usize>,
    shape: Vec<usize>,
    element: usize,
    reduction: usize,
    seed: usize,
    /// Whether the operand is overwritten during the transfer.
    overwrites: bool,
}

impl Case {
    pub fn random(random: &mut Random, grid: &[usize]) -> Case {
        let mut all: Vec<usize> = (0..grid.len()).collect();
        let mut axes = Vec::new();
        for _ in 0..1 + random.below(grid.len()) {
            axes.push(all.remove(random.below(all.len())));
        }
        let single = random.below(3) == 0;
        if single {
            axes.truncate(1);
        }
        let n: usize = axes.iter().map(|axis| grid[*axis]).product();
        let rank = 1 + random.below(3);
        let mut shape: Vec<usize> = (0..rank).map(|_| 1 + random.below(4)).collect();
        let (dim, other) = (random.below(rank), random.below(rank));
        let kind = match random.below(if axes.len() == 1 { 8 } else { 5 }) {
            0 => Kind::Gather { dim },
            1 => Kind::Slice { dim },
            2 => Kind::ToAll { split: dim, concat: other },
            3 => Kind::ReduceScatter { dim },
            4 => Kind::Reduce,
            5 => Kind::Shift { offset: random.below(2 * n + 1) as i64 - n as i64, rotates: random.below(2) == 0 },
            6 => Kind::Pair { by: random.below(n) },
            _ => Kind::Loop { times: 1 + random.below(3) },
        };
        if matches!(kind, Kind::Slice { .. } | Kind::ToAll { .. } | Kind::ReduceScatter { .. }) {
            shape[dim] *= n;
        }
        if matches!(kind, Kind::Reduce) && random.below(2) == 0 {
            // Too many elements for each process to send to all others at once.
            shape = vec![37, 31];
        }
        if matches!(kind, Kind::Reduce) && random.below(6) == 0 {
            shape = vec![];
        }
        let element = random.below(TYPES.len());
        let reduction = random.below(REDUCTIONS.len());
        Case {
            grid: grid.to_vec(),
            kind,
            axes,
            shape,
            element,
            reduction,
            seed: random.below(13),
            overwrites: random.below(2) == 0,
        }
    }

    fn members(&self) -> usize {
        self.axes.iter().map(|axis| self.grid[*axis]).product()
    }

    /// The text of this case, as number `k`.
    pub fn text(&self, k: usize) -> String {
        let mut text = self.operand(k) + &self.collective(k);
        if self.overwrites {
            text += &self.overwriting(k);
        }
        text + &self.printed(&format!("r{k}"), &self.result_shape())
    }

    /// The type of a tensor of the case's elements.
    fn tensor(&self, shape: &[usize]) -> String {
        tensor(shape, TYPES[self.element].0)
    }

    /// The operand `%x`, computed from the rank: few values, whose products are exact in every type.
    fn operand(&self, k: usize) -> String {
        let (element, from, _) = TYPES[self.element];
        let (whole, rank) = (self.tensor(&self.shape), self.shape.len());
        let mut indices = String::new();
        let mut linear = "%zero".to_owned();
        for (d, n) in self.shape.iter().enumerate() {
            indices += &format!(
                "    %i{d} = linalg.index {d} : index\n    %n{d} = arith.constant {n} : index\n\
                 \x20   %p{d} = arith.muli {linear}, %n{d} : index\n    %q{d} = arith.addi %p{d}, %i{d} : index\n"
            );
            linear = format!("%q{d}");
        }
        let product = usize::from(self.reduction != 3);
        let into = if from.is_empty() { String::new() } else { format!("    %v = {from} %w : i32 to {element}\n") };
        let made = if from.is_empty() { "%w" } else { "%v" };
        let seed = self.seed;
        format!(
            "  %empty{k} = tensor.empty() : {whole}\n\
             \x20 %x{k} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} outs(%empty{k} : {whole}) {{\n\
             \x20 ^bb0(%o: {element}):\n    %zero = arith.constant 0 : index\n{indices}\
             \x20   %c37 = arith.constant 37 : index\n    %a = arith.muli %rank, %c37 : index\n\
             \x20   %c11 = arith.constant 11 : index\n    %b = arith.muli {linear}, %c11 : index\n\
             \x20   %c = arith.addi %a, %b : index\n    %s = arith.constant {seed} : index\n    %d = arith.addi %c, %s : index\n\
             \x20   %c3 = arith.constant 3 : index\n    %f = arith.remui %d, %c3 : index\n\
             \x20   %c5 = arith.constant 5 : index\n    %g = arith.muli %rank, %c5 : index\n    %h = arith.addi {linear}, %g : index\n\
             \x20   %c7 = arith.constant 7 : index\n    %j = arith.remui %h, %c7 : index\n\
             \x20   %cp = arith.constant {product} : index\n    %l = arith.muli %j, %cp : index\n    %m = arith.addi %f, %l : index\n\
             \x20   %u = arith.index_cast %m : index to i32\n    %one = arith.constant 1 : i32\n    %w = arith.subi %u, %one : i32\n\
             {into}    linalg.yield {made} : {element}\n  }} -> {whole}\n",
            identity(rank),
            parallel(rank),
        )
    }

    /// The collective, from `%x` to `%r`.
    fn collective(&self, k: usize) -> String {
        let axes = self.axes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let on = format!("on @g grid_axes = [{axes}]");
        let (whole, result) = (self.tensor(&self.shape), self.tensor(&self.result_shape()));
        let by = format!("reduction = {}", REDUCTIONS[self.reduction]);
        let axis = self.axes[0];
        match self.kind {
            Kind::Gather { dim } => {
                format!("  %r{k} = shard.all_gather %x{k} {on} gather_axis = {dim} : {whole} -> {result}\n")
            }
            Kind::Slice { dim } => {
                format!("  %r{k} = shard.all_slice %x{k} {on} slice_axis = {dim} : {whole} -> {result}\n")
            }
            Kind::ToAll { split, concat } => format!(
                "  %r{k} = shard.all_to_all %x{k} {on} split_axis = {split} concat_axis = {concat} : {whole} -> {result}\n"
            ),
            Kind::ReduceScatter { dim } => {
                format!("  %r{k} = shard.reduce_scatter %x{k} {on} {by} scatter_axis = {dim} : {whole} -> {result}\n")
            }
            Kind::Reduce => format!("  %r{k} = shard.all_reduce %x{k} {on} {by} : {whole} -> {result}\n"),
            Kind::Shift { offset, rotates } => format!(
                "  %r{k} = shard.shift %x{k} {on} shift_axis = {axis} offset = {offset}{} : {whole} -> {result}\n",
                if rotates { " rotate" } else { "" }
            ),
            Kind::Pair { by } => {
                let n = self.members();
                format!(
                    "  %me{k} = shard.process_multi_index on @g axes = [{axis}] : index\n  %count{k} = arith.constant {n} : index\n\
                     \x20 %far{k} = arith.constant {by} : index\n  %up{k} = arith.addi %me{k}, %far{k} : index\n\
                     \x20 %dest{k} = arith.remui %up{k}, %count{k} : index\n  %wide{k} = arith.addi %me{k}, %count{k} : index\n\
                     \x20 %down{k} = arith.subi %wide{k}, %far{k} : index\n  %from{k} = arith.remui %down{k}, %count{k} : index\n\
                     \x20 %sent{k} = shard.send %x{k} {on} destination = [%dest{k}] : ({whole}, index) -> {whole}\n\
                     \x20 %r{k} = shard.recv %sent{k} {on} source = [%from{k}] : ({whole}, index) -> {whole}\n"
                )
            }
            Kind::Loop { times } => format!(
                "  %first{k} = arith.constant 0 : index\n  %count{k} = arith.constant {times} : index\n  %step{k} = arith.constant 1 : index\n\
                 \x20 %r{k} = scf.for %i = %first{k} to %count{k} step %step{k} iter_args(%v = %x{k}) -> ({whole}) {{\n\
                 \x20   %s = shard.shift %v {on} shift_axis = {axis} offset = 1 rotate : {whole} -> {whole}\n\
                 \x20   scf.yield %s : {whole}\n  }}\n"
            ),
        }
    }

    /// The operand, overwritten and printed.
    fn overwriting(&self, k: usize) -> String {
        let (element, rank) = (TYPES[self.element].0, self.shape.len());
        let whole = self.tensor(&self.shape);
        let (name, attribute) = if element.contains('f') { ("arith.addf", "1.0") } else { ("arith.addi", "1") };
        let text = format!(
            "  %over{k} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} outs(%x{k} : {whole}) {{\n\
             \x20 ^bb0(%o: {element}):\n    %c = arith.constant {attribute} : {element}\n\
             \x20   %s = {name} %o, %c : {element}\n    linalg.yield %s : {element}\n  }} -> {whole}\n",
            identity(rank),
            parallel(rank)
        );
        text + &self.printed(&format!("over{k}"), &self.shape)
    }

    /// Prints a tensor of this shape as f32.
    fn printed(&self, v: &str, shape: &[usize]) -> String {
        let (element, _, by) = TYPES[self.element];
        let (t, to) = (self.tensor(shape), tensor(shape, "f32"));
        let (map, kinds) = (identity(shape.len()), parallel(shape.len()));
        let body = match by {
            "" => "    linalg.yield %i : f32\n".to_owned(),
            "arith.index_cast" => {
                "    %c = arith.index_cast %i : index to i32\n    %f = arith.sitofp %c : i32 to f32\n    linalg.yield %f : f32\n".into()
            }
            _ => format!("    %f = {by} %i : {element} to f32\n    linalg.yield %f : f32\n"),
        };
        format!(
            "  %room_{v} = tensor.empty() : {to}\n\
             \x20 %floats_{v} = linalg.generic {{indexing_maps = [{map}, {map}], iterator_types = [{kinds}]}} ins(%{v} : {t}) outs(%room_{v} : {to}) {{\n\
             \x20 ^bb0(%i: {element}, %o: f32):\n{body}  }} -> {to}\n\
             \x20 %any_{v} = tensor.cast %floats_{v} : {to} to tensor<*xf32>\n\
             \x20 func.call @printMemrefF32(%any_{v}) : (tensor<*xf32>) -> ()\n"
        )
    }

    fn result_shape(&self) -> Vec<usize> {
        let (mut shape, n) = (self.shape.clone(), self.members());
        match self.kind {
            Kind::Gather { dim } => shape[dim] *= n,
            Kind::Slice { dim } | Kind::ReduceScatter { dim } => shape[dim] /= n,
            Kind::ToAll { split, concat } => {
                shape[split] /= n;
                shape[concat] *= n;
            }
            _ => {}
        }
        shape
    }
}

/// The type of a tensor.
fn tensor(shape: &[usize], element: &str) -> String {
    let sizes: String = shape.iter().map(|n| format!("{n}x")).collect();
    format!("tensor<{sizes}{element}>")
}

fn identity(rank: usize) -> String {
    let dims: Vec<String> = (0..rank).map(|d| format!("d{d}")).collect();
    format!("affine_map<({0}) -> ({0})>", dims.join(", "))
}

fn parallel(rank: usize) -> String {
    vec!["\"parallel\""; rank].join(", ")
}
