//! Fusion of operations into kernels: the arrays between the operations of one kernel are in no memory.
//!
//! `exp(x - max)` over `[2,65,125]` is one kernel: the difference is made in registers. An array is *stored* where it is
//! made by a kernel's last operation. The rules are those of compilers that fuse loops:
//!
//! 1. Broadcasts, iotas and constants are made again where they are used.
//! 2. Reductions, products, convolutions, and what looks elements up, end a kernel; a product or convolution whose only
//!    user is elementwise goes on into that.
//! 3. What a result of the program, a loop or an operation with memory of its own takes is stored.
//! 4. What is broadcast to more elements is stored, unless it is made of scalars alone: else it would be computed for each.
//! 5. Everything else is made again in each kernel that uses it, while these are few.
//! 6. Dead code is in no kernel, and in no memory.
//! 7. In tiles, a transpose or a reshape of a stored array is that array, under another name: those that use it read it.
//!
//! So an array is read by some kernels. The reads of each are counted at one of the operations that take it.

use super::canonical::CanonicalOrder;
use super::labels::Labels;
use super::program::{InstanceKind, Program};
use rustc_hash::FxHashSet;
use tensor_layout::operations::operation::Operation;
use tensor_layout::operations::shape::Array;
use tensor_layout::targets::LoopProduct;

/// In how many kernels an operation may be made again.
const MOST_AGAIN: usize = 3;

/// The storage of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kept {
    /// It is made again where it is used, of next to nothing; dead code is used nowhere.
    Remade,
    /// It is in registers inside of a kernel.
    Fused,
    /// It is in memory.
    Stored,
}

/// The kernels of a program.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// The storage of the results of each instance.
    pub kept: Vec<Kept>,
    /// For each instance and operand, how many kernels read the operand there.
    pub reads: Vec<Vec<i64>>,
    /// The kernels that each instance is part of, by their last operations.
    pub part_of: Vec<Vec<usize>>,
    /// For each instance, whether it only renames a stored array, in tiles: no kernel goes through it.
    pub renamed: Vec<bool>,
}

impl Kernels {
    /// The kernels of a program; `order` is its canonical one, with these users of its arrays, and `tiles` says whether arrays
    /// are in tiles.
    pub fn new(program: &Program, order: &CanonicalOrder, users: &[Vec<(usize, usize)>], tiles: bool) -> Kernels {
        Kernels::of(program, (order, users), tiles, true)
    }

    /// The kernels of a device: products and convolutions end them, since what they make may be sums that devices add up.
    pub fn on_devices(program: &Program, order: &CanonicalOrder) -> Kernels {
        Kernels::of(program, (order, &order.users(program)), true, false)
    }

    /// The kernels, where `products` says whether products go on into what is elementwise.
    fn of(
        program: &Program,
        (order, users): (&CanonicalOrder, &[Vec<(usize, usize)>]),
        tiles: bool,
        products: bool,
    ) -> Kernels {
        let n = program.instances.len();
        let (kept, part_of) = (vec![Kept::Stored; n], vec![Vec::new(); n]);
        let mut kernels = Kernels { kept, reads: Vec::new(), part_of, renamed: vec![false; n] };
        for (k, instance) in program.instances.iter().enumerate().rev() {
            if !order.needed[k] {
                kernels.kept[k] = Kept::Remade;
                continue;
            }
            let own: Vec<usize> =
                instance.results.iter().flat_map(|made| &users[*made]).map(|(user, _)| *user).collect();
            let is_product =
                matches!(instance.kind, InstanceKind::Operation(Operation::Dot { .. } | Operation::Convolution(_)));
            let kept = if is_product && !products { Kept::Stored } else { kernels.decide(program, k, &own) };
            kernels.kept[k] = kept;
            kernels.part_of[k] = vec![k];
            if kept == Kept::Stored {
                continue;
            }
            let mut all: Vec<usize> = own.iter().flat_map(|user| kernels.part_of[*user].iter().copied()).collect();
            let mut seen = FxHashSet::default();
            all.retain(|kernel| seen.insert(*kernel));
            if kept == Kept::Fused && all.len() > MOST_AGAIN || all.is_empty() {
                kernels.kept[k] = Kept::Stored;
            } else {
                all.truncate(MOST_AGAIN + 1);
                kernels.part_of[k] = all;
            }
        }
        for (k, instance) in program.instances.iter().enumerate().filter(|_| tiles) {
            let renames = |operation| matches!(operation, &Operation::Reshape | &Operation::Transpose { .. });
            let stored = |made: &usize| {
                let by = program.made[*made].by;
                by < k && kernels.kept[by] == Kept::Stored
            };
            let may = matches!(instance.kind, InstanceKind::Operation(operation) if renames(operation));
            if may && kernels.kept[k] != Kept::Remade && instance.operands.iter().all(stored) {
                kernels.kept[k] = Kept::Stored;
                kernels.renamed[k] = true;
            }
        }
        kernels.count_reads(program, users);
        kernels
    }

    fn decide(&self, program: &Program, k: usize, users: &[usize]) -> Kept {
        let instance = &program.instances[k];
        let InstanceKind::Operation(operation) = instance.kind else { return Kept::Stored };
        match operation {
            // In a kernel with each of its users it would run in each.
            _ if instance.once => return Kept::Stored,
            Operation::Constant if instance.operands.is_empty() => return Kept::Remade,
            Operation::Iota { .. } | Operation::Broadcast { .. } => return Kept::Remade,
            _ => {}
        }
        let arrays = |numbers: &[usize]| numbers.iter().map(|made| program.made[*made].array).collect::<Vec<_>>();
        let (operands, results) = (arrays(&instance.operands), arrays(&instance.results));
        let goes_on = |user: &usize| {
            let other = &program.instances[*user];
            // A merge, a result of the program and an operation with memory of its own take stored arrays.
            matches!(other.kind, InstanceKind::Operation(operation) if fuses(operation) || takes_fused(operation))
                || matches!(other.kind, InstanceKind::Copy)
        };
        let large = |user: &usize| {
            let other = &program.instances[*user];
            let spreads = matches!(other.kind, InstanceKind::Operation(Operation::Broadcast { .. }));
            (spreads || program.loop_product(*user).is_some())
                && elements(&arrays(&other.results)).max(elements(&arrays(&other.operands))) > elements(&results)
                && elements(&results) > 1
        };
        let looped = program.loop_product(k);
        let matrix = matches!(operation, Operation::Dot { .. } | Operation::Convolution(_)) && looped.is_none();
        let elementwise = |user: &usize| {
            let other = &program.instances[*user];
            matches!(other.kind, InstanceKind::Operation(Operation::Elementwise | Operation::Select))
                || program.loop_product(*user).is_some()
        };
        let fusible = match matrix {
            true => users.len() == 1 && users.iter().all(elementwise),
            false => {
                (fuses(operation) || looped == Some(LoopProduct::Outer))
                    && Labels::new(operation, &operands, &results).is_some()
            }
        };
        let fused = (fusible || *operation == Operation::Reshape) && users.iter().all(goes_on);
        if fused && !users.iter().any(large) { Kept::Fused } else { Kept::Stored }
    }

    /// Counts, for each operand, the kernels that read it there and at no operation before.
    fn count_reads(&mut self, program: &Program, users: &[Vec<(usize, usize)>]) {
        self.reads = program.instances.iter().map(|instance| vec![0; instance.operands.len()]).collect();
        for (made, own) in users.iter().enumerate() {
            if self.kept[program.made[made].by] != Kept::Stored {
                continue;
            }
            let mut seen = FxHashSet::default();
            for (user, operand) in own {
                let new = self.part_of[*user].iter().filter(|kernel| seen.insert(**kernel)).count();
                self.reads[*user][*operand] = new as i64;
            }
        }
    }
}

/// Whether an operation can be in a kernel with those that use it.
pub fn fuses(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Elementwise
            | Operation::Select
            | Operation::Broadcast { .. }
            | Operation::Transpose { .. }
            | Operation::Reverse { .. }
            | Operation::Reshape
            | Operation::Bitcast
            | Operation::Slice { .. }
            | Operation::Pad { .. }
            | Operation::Concatenate { .. }
            | Operation::DynamicSlice { .. }
            | Operation::Loops(_)
    )
}

/// Whether an operation that ends a kernel can have those before it in the kernel.
fn takes_fused(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Reduce { .. } | Operation::ReduceWindow { .. } | Operation::Dot { .. } | Operation::Convolution(_)
    )
}

fn elements(arrays: &[&Array]) -> i128 {
    let one =
        |array: &&Array| array.dims.iter().fold(1i128, |n, dim| n.saturating_mul(dim.bound().unwrap_or(1).into()));
    arrays.iter().map(one).max().unwrap_or(1)
}
