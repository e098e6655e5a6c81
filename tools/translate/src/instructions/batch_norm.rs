//! Batch normalisation: sums over all dimensions but the features, and the normalised elements.

use crate::builder::{Builder, Generic, Operand};
use crate::scalar::literal::decimal;
use crate::syntax::{dims, plain};
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::hlo::Instruction;

/// A normalisation: its data and attributes.
struct Norm {
    feature: usize,
    rank: usize,
    /// The number of elements of a feature.
    count: i64,
    /// One number for each feature, without an encoding.
    per_feature: Tensor,
    epsilon: String,
    of: String,
}

impl Norm {
    fn new(i: &Instruction, feature: usize, out: &Tensor) -> ImportResult<Norm> {
        let of = out.element_text.clone();
        let features = out.sizes[feature];
        let sizes = vec![features];
        let others = out.sizes.iter().enumerate().filter(|(k, _)| *k != feature);
        let ty = plain(&sizes, &of);
        let per_feature = Tensor { name: String::new(), sizes, element: out.element, element_text: of.clone(), ty };
        let epsilon = i.attribute("epsilon").and_then(|text| text.parse::<f64>().ok());
        let epsilon = decimal(epsilon.ok_or("`epsilon` must be a number")?);
        Ok(Norm { feature, rank: out.sizes.len(), count: others.map(|(_, n)| n).product(), per_feature, epsilon, of })
    }

    /// A tensor of one number for each feature, broadcast in loops over the data.
    fn spread(&self, t: &Tensor) -> Operand {
        Operand::new(t, dims([self.feature]))
    }

    /// The sum of `body` over the elements of each feature. The first loop is over the features.
    fn sum(
        &self,
        b: &mut Builder,
        ins: &[(&Tensor, bool)],
        body: impl FnOnce(&mut Writer, &[String]) -> String,
    ) -> ImportResult<Tensor> {
        let zero = b.zero(&self.per_feature);
        let loops: Vec<usize> = (0..self.rank)
            .map(|k| match k.cmp(&self.feature) {
                std::cmp::Ordering::Less => k + 1,
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => k,
            })
            .collect();
        let own = |(t, whole): &(&Tensor, bool)| match whole {
            true => Operand::new(t, dims(loops.iter().copied())),
            false => Operand::new(t, dims([0])),
        };
        let ins = ins.iter().map(own).collect();
        let outs = vec![self.per_feature.clone()];
        let generic = Generic { loops: self.rank, ins, outs, inits: vec![Some(zero)] };
        let of = self.of.clone();
        let summed = b.generic(generic, |w, args| {
            let value = body(w, args);
            Ok(vec![w.same("arith.addf", &[args[args.len() - 1].clone(), value], &of)])
        });
        summed.map(|mut all| all.remove(0))
    }

    /// `a / sqrt(variance + epsilon)`.
    fn scaled(&self, w: &mut Writer, a: &str, variance: &str) -> String {
        let epsilon = w.constant(&self.epsilon, &self.of);
        let sum = self.on(w, "addf", variance, &epsilon);
        let root = w.same("math.sqrt", &[sum], &self.of);
        self.on(w, "divf", a, &root)
    }

    fn on(&self, w: &mut Writer, name: &str, a: &str, b: &str) -> String {
        w.op(&format!("arith.{name} {a}, {b} : {}", self.of))
    }

    /// The sums divided by the number of elements of a feature.
    fn mean(&self, b: &mut Builder, sum: &Tensor) -> ImportResult<Tensor> {
        b.each(vec![Operand::own(sum)], &self.per_feature, |w, args| {
            let count = w.constant(&decimal(self.count as f64), &self.of);
            Ok(self.on(w, "divf", &args[0], &count))
        })
    }

    /// `(data - mean) / sqrt(variance + epsilon) * scale + offset`; the operands are in the order of inference.
    fn normal(&self, b: &mut Builder, ins: &[&Tensor; 5], out: &Tensor) -> ImportResult<Tensor> {
        let [data, rest @ ..] = ins;
        let operands = [Operand::own(data)].into_iter().chain(rest.iter().map(|t| self.spread(t))).collect();
        b.each(operands, out, |w, args| {
            let gap = self.on(w, "subf", &args[0], &args[3]);
            let unit = self.scaled(w, &gap, &args[4]);
            let wide = self.on(w, "mulf", &unit, &args[1]);
            Ok(self.on(w, "addf", &wide, &args[2]))
        })
    }
}

/// All operands in the precision of the first result.
fn precise(b: &mut Builder, ins: &[Tensor], out: &Tensor) -> ImportResult<Vec<Tensor>> {
    ins.iter().map(|t| b.precise(t, out)).collect()
}

/// Writes `batch-norm-training`: operands data, scale and offset; results the data, the means and the variances.
pub fn training(
    b: &mut Builder,
    i: &Instruction,
    feature: usize,
    ins: &[Tensor],
    outs: Vec<Tensor>,
) -> ImportResult<Vec<Tensor>> {
    let norm = Norm::new(i, feature, &outs[0])?;
    let ins = precise(b, ins, &outs[0])?;
    let sum = norm.sum(b, &[(&ins[0], true)], |_, args| args[0].clone())?;
    let mean = norm.mean(b, &sum)?;
    let squares = norm.sum(b, &[(&ins[0], true), (&mean, false)], |w, args| {
        let gap = norm.on(w, "subf", &args[0], &args[1]);
        norm.on(w, "mulf", &gap, &gap)
    })?;
    let variance = norm.mean(b, &squares)?;
    let data = norm.normal(b, &[&ins[0], &ins[1], &ins[2], &mean, &variance], &outs[0])?;
    b.all_converted(&[data, mean, variance], &outs)
}

/// Writes `batch-norm-inference`: operands data, scale, offset, mean and variance.
pub fn inference(
    b: &mut Builder,
    i: &Instruction,
    feature: usize,
    ins: &[Tensor],
    out: &Tensor,
) -> ImportResult<Tensor> {
    let norm = Norm::new(i, feature, out)?;
    let ins = precise(b, ins, out)?;
    norm.normal(b, &[&ins[0], &ins[1], &ins[2], &ins[3], &ins[4]], out)
}

/// Writes `batch-norm-grad`. Operands are data `x`, scale, mean, variance and the gradient `g` of the result. With
/// `x' = x - mean`, `v = variance + epsilon` and means over a feature, the gradient of the data is
/// `scale / sqrt(v) * (g - mean(g) - x' * mean(g * x') / v)`, of the scale `sum(g * x') / sqrt(v)`, of the offset
/// `sum(g)`.
pub fn gradient(
    b: &mut Builder,
    i: &Instruction,
    feature: usize,
    ins: &[Tensor],
    outs: Vec<Tensor>,
) -> ImportResult<Vec<Tensor>> {
    let norm = Norm::new(i, feature, &outs[0])?;
    let ins = precise(b, ins, &outs[0])?;
    let [data, scale, mean, variance, from] = &ins[..] else { return Err("five operands are needed".into()) };
    let sum = norm.sum(b, &[(from, true)], |_, args| args[0].clone())?;
    let product = norm.sum(b, &[(from, true), (data, true), (mean, false)], |w, args| {
        let gap = norm.on(w, "subf", &args[1], &args[2]);
        norm.on(w, "mulf", &args[0], &gap)
    })?;
    let of_scale = b.each(vec![Operand::own(&product), Operand::own(variance)], &norm.per_feature, |w, args| {
        Ok(norm.scaled(w, &args[0], &args[1]))
    })?;
    let (mean_of_sum, mean_of_product) = (norm.mean(b, &sum)?, norm.mean(b, &product)?);
    let whole = [from, data].map(Operand::own).into_iter();
    let spread = [scale, mean, variance, &mean_of_sum, &mean_of_product].map(|t| norm.spread(t));
    let of_data = b.each(whole.chain(spread).collect(), &outs[0], |w, args| {
        let [from, data, scale, mean, variance, sum, product] = &args[..7] else {
            return Err("seven operands are needed".into());
        };
        let gap = norm.on(w, "subf", data, mean);
        let epsilon = w.constant(&norm.epsilon, &norm.of);
        let square = norm.on(w, "addf", variance, &epsilon);
        let along = norm.on(w, "mulf", &gap, product);
        let along = norm.on(w, "divf", &along, &square);
        let rest = norm.on(w, "subf", from, sum);
        let rest = norm.on(w, "subf", &rest, &along);
        let rest = norm.on(w, "mulf", &rest, scale);
        Ok(norm.scaled(w, &rest, variance))
    })?;
    b.all_converted(&[of_data, of_scale, sum], &outs)
}
