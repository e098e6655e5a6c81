//! Making again what is cheap to make: broadcasts, iotas and constants.
//!
//! A product that only a cast takes is made in the type of the cast, by one kernel.
//!
//! A constant that is broadcast for ten operations has ten layouts, and none of them needs a relayout. So each user gets an
//! instance of its own. What an `infeed` or a random generator makes is another value each time, so it is made once.

use super::program::{ArrayName, Instance, InstanceKind, MOST_INSTANCES, Made, Program, too_many};
use std::collections::HashMap;
use tensor_layout::operations::operation::Operation;
use tensor_layout::text::Error;

/// How many broadcasts in a row are made again.
const MOST_AGAIN: usize = 8;

/// The program with what is cheap to make, broadcasts, iotas and constants, made again for each operation that uses
/// it, right before that.
///
/// # Errors
/// More than [`MOST_INSTANCES`], and an operand that comes after its use.
pub fn made_again<'a>(program: &Program<'a>) -> Result<Program<'a>, Error> {
    let mut depth: Vec<usize> = Vec::with_capacity(program.instances.len());
    for instance in &program.instances {
        let cheap = match instance.kind {
            _ if instance.once => false,
            InstanceKind::Operation(Operation::Broadcast { .. } | Operation::Iota { .. }) => true,
            InstanceKind::Operation(Operation::Constant) => instance.operands.is_empty(),
            _ => false,
        };
        // Only merges use what comes later, and they are not cheap.
        let below = |made: &usize| if cheap { depth[program.made[*made].by] } else { 0 };
        let below = instance.operands.iter().map(below).max().unwrap_or(0);
        depth.push(if cheap && below < MOST_AGAIN { below + 1 } else { 0 });
    }
    let to = Program { instances: Vec::new(), made: Vec::new(), ..program.clone() };
    let casts = casts(program);
    let numbers = vec![None; program.made.len()];
    let mut again = Again { from: program, depth, to, numbers, casts, other_names: Vec::new() };
    for (k, instance) in program.instances.iter().enumerate() {
        if again.depth[k] > 0 {
            continue;
        }
        if let ([operand], [result]) = (&instance.operands[..], &instance.results[..])
            && again.casts.get(operand) == Some(result)
        {
            again.numbers[*result] = again.numbers[*operand];
            again.other_names.push((program.name(*result), *result));
            continue;
        }
        // What a merge takes of the body of its loop comes later.
        let known = |made: &&usize| instance.kind != InstanceKind::Merge || program.made[**made].by < k;
        let operands: Vec<usize> = instance.operands.iter().take_while(known).copied().collect();
        again.emit(k, &operands)?;
    }
    for (k, instance) in
        program.instances.iter().enumerate().filter(|(_, instance)| instance.kind == InstanceKind::Merge)
    {
        let later: Vec<usize> =
            instance.operands.iter().copied().skip_while(|made| program.made[*made].by < k).collect();
        for made in later {
            let made = again.number(made)?;
            let merge = again.numbers[instance.results[0]].map(|own| again.to.made[own].by);
            merge.into_iter().for_each(|merge| again.to.instances[merge].operands.push(made));
        }
    }
    let named = |(name, made): &(ArrayName, usize)| Some((*name, again.numbers[*made]?));
    again.to.names = program.names.iter().chain(&again.other_names).filter_map(named).collect();
    Ok(again.to)
}

/// A program in which what is cheap is made again.
struct Again<'a, 'b> {
    from: &'b Program<'a>,
    /// For what is cheap to make, of how many such operations in a row it is the last; 0 for all others.
    depth: Vec<usize>,
    to: Program<'a>,
    /// The new numbers of arrays; the last one of what is made again.
    numbers: Vec<Option<usize>>,
    /// By array of a product, the array of its cast.
    casts: HashMap<usize, usize>,
    other_names: Vec<(ArrayName, usize)>,
}

/// The casts that are made by the products that they cast: nothing that is needed takes the product but they.
fn casts(program: &Program) -> HashMap<usize, usize> {
    if program.casts.is_empty() {
        return HashMap::new();
    }
    let (needed, users) = (program.needed(), program.users());
    let of = |k: usize| {
        let instance = &program.instances[k];
        let (&[operand], &[result]) = (&instance.operands[..], &instance.results[..]) else { return None };
        let is_cast = program.casts.contains(&instance.node) && !program.made[result].fixed && needed[k];
        let by = program.made[operand].by;
        let is_product = matches!(
            program.instances[by].kind,
            InstanceKind::Operation(Operation::Dot { .. } | Operation::Convolution(_))
        ) && program.loop_product(by).is_none();
        let others = || users[operand].iter().any(|(user, _)| *user != k && needed[*user]);
        (is_cast && is_product && program.instances[by].times == instance.times && !others())
            .then_some((operand, result))
    };
    (0..program.instances.len()).filter_map(of).collect()
}

impl Again<'_, '_> {
    /// Adds an instance with these operands; returns the new number of its first result.
    fn emit(&mut self, k: usize, operands: &[usize]) -> Result<usize, Error> {
        let operands = operands.iter().map(|made| self.number(*made)).collect::<Result<_, _>>()?;
        let instance = &self.from.instances[k];
        let (by, first) = (self.to.instances.len(), self.to.made.len());
        if by >= MOST_INSTANCES {
            return Err(too_many());
        }
        for (result, made) in instance.results.iter().enumerate() {
            let array = self.from.made[*self.casts.get(made).unwrap_or(made)].array;
            self.to.made.push(Made { by, result, array, ..self.from.made[*made].clone() });
            self.numbers[*made] = Some(first + result);
        }
        let results = (first..self.to.made.len()).collect();
        self.to.instances.push(Instance { operands, results, ..instance.clone() });
        Ok(first)
    }

    /// The new number of an array, made again if it is cheap.
    fn number(&mut self, made: usize) -> Result<usize, Error> {
        let Made { by, result, .. } = self.from.made[made];
        if self.depth[by] == 0 {
            return self.numbers[made].ok_or_else(|| Error::new("an operation must come after those that it uses"));
        }
        // As deep as `MOST_AGAIN`.
        let operands = self.from.instances[by].operands.clone();
        Ok(self.emit(by, &operands)? + result)
    }
}
