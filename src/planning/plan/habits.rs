//! Operations that are made in a layout of their own, whatever is wanted of them: see [`tensor_layout::targets::habits`].
//!
//! Such an operation has its other ways all the same, since a program may say so; they cost the copy that it takes to get
//! there. A relayout after the operations that follow costs no more than that, so plans have that instead.

use super::canonical::CanonicalOrder;
use super::classes::{LayoutClasses, LayoutId};
use super::program::{Doing, Program};
use tensor_layout::operations::operation::Operation;
use tensor_layout::operations::shape::Array;

/// How many operations after a product are looked at for what they sum over.
const MOST_AFTER: usize = 16;

/// An array of an operation that a way has in another layout than that in which the operation takes or makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bent {
    /// The class of the array.
    pub class: usize,
    /// The layout before the copy.
    pub from: LayoutId,
    /// The layout after it.
    pub to: LayoutId,
}

/// Adds the layouts in which operations are made to those of the classes; for convolutions, those in which images are cut.
pub fn offer(program: &Program, order: &CanonicalOrder, classes: &mut LayoutClasses, class: &[usize]) {
    for k in order.working() {
        let Some(result) = program.instances[k].results.first() else { continue };
        let wanted = classes.all[class[*result]].layouts[0].minor_to_major.clone();
        if let Some(order) = made_in(program, classes, k, &wanted, &[]) {
            classes.offer(class[*result], &order);
        }
        if let Doing::Operation(Operation::Convolution(own)) = program.instances[k].doing
            && let [input, ..] = program.instances[k].operands[..]
        {
            for (made, batch, feature, spatial) in [
                (input, own.input_batch, own.input_feature, &own.input_spatial),
                (*result, own.output_batch, own.output_feature, &own.output_spatial),
            ] {
                let [outer @ .., first, last] = &spatial[..] else { continue };
                for pair in [[feature, *first], [*first, feature]] {
                    let order = pair.into_iter().chain([*last, batch]).chain(outer.iter().rev().copied());
                    classes.offer(class[made], &order.collect::<Vec<_>>());
                }
            }
        }
    }
}

/// The order in which an instance makes its first result where another is wanted.
fn made_in(
    program: &Program,
    classes: &LayoutClasses,
    k: usize,
    wanted: &[usize],
    summed: &[usize],
) -> Option<Vec<usize>> {
    let Doing::Operation(operation) = program.instances[k].doing else { return None };
    let arrays = |numbers: &[usize]| numbers.iter().map(|made| program.made[*made].array).collect::<Vec<&Array>>();
    let [operands, results] = [&program.instances[k].operands, &program.instances[k].results].map(|own| arrays(own));
    classes.target.made_in(operation, &operands, &results, wanted, summed)
}

/// The arrays of an instance that it has in other layouts, those of a way, than those in which it takes and makes them.
pub fn bent(
    program: &Program,
    classes: &LayoutClasses,
    class: &[usize],
    users: &[Vec<(usize, usize)>],
    (k, operands_in, results_in): (usize, &[Option<LayoutId>], &[LayoutId]),
) -> Vec<Bent> {
    let instance = &program.instances[k];
    let order = |class: usize, id: LayoutId| &classes.all[class].layouts[usize::from(id)].minor_to_major[..];
    let (Doing::Operation(operation), Some((result, id))) =
        (instance.doing, instance.results.first().zip(results_in.first()))
    else {
        return Vec::new();
    };
    let wanted = order(class[*result], *id);
    let product = matches!(operation, Operation::Dot { .. }) && program.loop_product(k).is_none();
    let summed = if product { summed_after(program, users, k) } else { Vec::new() };
    let Some(made) = made_in(program, classes, k, wanted, &summed).filter(|made| made != wanted) else {
        return Vec::new();
    };
    if product && turned(&made, wanted) && ends(program, users, k) {
        return Vec::new();
    }
    let own = |made_of: usize| {
        let all = &classes.all[class[made_of]].layouts;
        all.iter().position(|layout| layout.minor_to_major == made).and_then(|id| LayoutId::try_from(id).ok())
    };
    let results = instance.results.iter().zip(results_in).filter_map(|(result, id)| {
        let from = own(*result).filter(|from| from != id)?;
        Some(Bent { class: class[*result], from, to: *id })
    });
    let operands = instance.operands.iter().zip(operands_in).filter(|_| !product).filter_map(|(operand, id)| {
        let (from, to) = ((*id)?, own(*operand)?);
        (from != to).then_some(Bent { class: class[*operand], from, to })
    });
    results.chain(operands).collect()
}

/// Whether two orders differ only in which of the two minor dimensions varies faster.
fn turned(order: &[usize], other: &[usize]) -> bool {
    let ([a, b, rest @ ..], [c, d, others @ ..]) = (order, other) else { return false };
    a == d && b == c && rest == others
}

/// Whether a product of rows and columns of one dimension each is a result of the program as it is: then the result says
/// which of the two is in the lanes. Without batch dimensions also transposed, which is a product of the operands turned
/// round; with them the product stays, and a copy follows: `f32[40,40,24]` from `ikc,jkc->ijc` takes 6,094 cycles in
/// `{0,1,2}` and 6,194 in `{1,0,2}`, by XLA's count.
pub fn ends(program: &Program, users: &[Vec<(usize, usize)>], mut k: usize) -> bool {
    let Doing::Operation(Operation::Dot { lhs_batch, .. }) = program.instances[k].doing else { return false };
    let batched = !lhs_batch.is_empty();
    let rank = program.instances[k].results.first().map_or(0, |made| program.made[*made].array.dims.len());
    if rank != lhs_batch.len() + 2 {
        return false;
    }
    loop {
        let [made] = program.instances[k].results[..] else { return false };
        let [(user, _)] = users[made][..] else { return false };
        match program.instances[user].doing {
            Doing::Result(_) => return true,
            Doing::Operation(Operation::Transpose { .. }) if !batched => k = user,
            _ => return false,
        }
    }
}

/// The dimensions of a product that are summed over, or of which the largest element is found, after elementwise operations.
pub fn summed_after(program: &Program, users: &[Vec<(usize, usize)>], k: usize) -> Vec<usize> {
    let mut next = program.instances[k].results.clone();
    let mut seen = 0;
    while let Some(made) = next.pop() {
        for (user, _) in &users[made] {
            seen += 1;
            match program.instances[*user].doing {
                Doing::Operation(Operation::Reduce { dims }) => return dims.clone(),
                Doing::Operation(Operation::Elementwise | Operation::Select) if seen <= MOST_AFTER => {
                    next.extend(&program.instances[*user].results);
                }
                _ => {}
            }
        }
    }
    Vec::new()
}
