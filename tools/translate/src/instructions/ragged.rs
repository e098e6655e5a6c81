//! Products with scales, as elementwise products before a product; and products with groups, as loops.

use super::products;
use crate::builder::{Builder, Operand};
use crate::loops::Typed;
use crate::scalar::convert::converted;
use crate::syntax::{element_type, plain};
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::operations::{Contraction, Ragged, RaggedDot};

/// Writes a product with scales. The operands are left and right, and their scales.
pub fn scaled_dot(b: &mut Builder, dims: &Contraction, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let element = if out.element == ElementType::F64 { ElementType::F64 } else { ElementType::F32 };
    let mut sides = Vec::new();
    for (data, scale) in ins[..2].iter().zip(&ins[2..]) {
        let block = |(k, n): (usize, &i64)| match data.sizes[k] / (*n).max(1) {
            1 => format!("d{k}"),
            block => format!("d{k} floordiv {block}"),
        };
        let map = scale.sizes.iter().enumerate().map(block).collect::<Vec<_>>().join(", ");
        let scale = b.without_encoding(scale);
        let wide = of_type(data, element)?;
        let types = [data.element, scale.element];
        sides.push(b.each(vec![Operand::own(data), Operand::new(&scale, map)], &wide, |w, args| {
            let mut factor = |k: usize| converted(w, &args[k], types[k], element);
            let factors = [factor(0)?, factor(1)?];
            Ok(w.same("arith.mulf", &factors, &wide.element_text))
        })?);
    }
    dot(b, dims, &sides, out)
}

fn dot(b: &mut Builder, dims: &Contraction, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let (batch, contracting) =
        ([&dims.lhs_batch[..], &dims.rhs_batch], [&dims.lhs_contracting[..], &dims.rhs_contracting]);
    products::dot(b, batch, contracting, ins, out)
}

/// A tensor of the same sizes with elements of another type, without an encoding.
fn of_type(t: &Tensor, element: ElementType) -> ImportResult<Tensor> {
    let of = element_type(element).ok_or_else(|| format!("`{}` cannot be imported", element.name()))?;
    Ok(Tensor { element, ty: plain(&t.sizes, &of), element_text: of, ..t.clone() })
}

/// Writes a product with groups. The operands are left and right, and the sizes of the groups. A table has the group
/// of each index along the ragged dimension; each product is added in place to the result's element of its group.
pub fn ragged_dot(b: &mut Builder, r: &RaggedDot, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    if r.kind() == Ragged::Batch {
        return dot(b, &r.dims, &ins[..2], out);
    }
    let to = match out.element.is_float() && out.element.bits().is_some_and(|bits| bits < 32) {
        true => ElementType::F32,
        false => out.element,
    };
    let sum = of_type(out, to)?;
    let zero = b.zero(&sum);
    let begun = b.filled(&sum, &zero);
    let done = match ins[..2].iter().any(Tensor::is_empty) || ins[2].is_empty() {
        true => begun,
        false => {
            let lhs = b.without_encoding(&ins[0]);
            let rhs = b.without_encoding(&ins[1]);
            let groups = groups(b, r, &ins[2], &lhs.sizes)?;
            let product = Product { r, lhs, rhs, groups, count: *ins[2].sizes.last().unwrap_or(&0), to };
            let summed = product.sums(b, Typed::new(&begun.name, &begun.ty), &zero)?;
            Tensor { name: summed.name, ..begun }
        }
    };
    b.each(vec![Operand::own(&done)], out, |w, args| converted(w, &args[0], to, out.element))
}

/// The group of each index along the ragged dimension, or the number of groups where the index is in none: the number
/// of groups that end at or before it. Further dimensions of the sizes are dimensions of the table, too.
fn groups(b: &mut Builder, r: &RaggedDot, sizes: &Tensor, lhs: &[i64]) -> ImportResult<Typed> {
    let source = b.without_encoding(sizes);
    let (source, element) = (Typed::new(&source.name, &source.ty), sizes.element);
    let (prefix, count) = sizes.sizes.split_at(sizes.sizes.len() - 1);
    let mut zeros = |sizes: &[i64]| {
        let t = Tensor { sizes: sizes.to_vec(), ty: plain(sizes, "i64"), ..Tensor::scalar(ElementType::S64, "i64") };
        let zero = b.zero(&t);
        let t = b.filled(&t, &zero);
        Typed::new(&t.name, &t.ty)
    };
    let (total, ends) = (zeros(prefix), zeros(&sizes.sizes));
    let table = zeros(&[prefix, &[lhs[r.ragged]]].concat());
    let bounds: Vec<String> = sizes.sizes.iter().map(|n| b.w.index(*n)).collect();
    let ends = b.w.nest(&bounds, vec![total, ends], &mut |w, at, values| {
        let row = &at[..at.len() - 1];
        let size = w.load(&source, at);
        let size = converted(w, &size, element, ElementType::S64)?;
        let before = w.load(&values[0], row);
        let end = w.same("arith.addi", &[before, size], "i64");
        Ok(vec![w.store(&end, &values[0], row), w.store(&end, &values[1], at)])
    })?;
    let ends = ends[1].clone();
    let mut bounds: Vec<String> = prefix.iter().map(|n| b.w.index(*n)).collect();
    bounds.push(b.w.index(lhs[r.ragged]));
    bounds.push(b.w.index(count[0]));
    let table = b.w.nest(&bounds, vec![table], &mut |w, at, values| {
        let (place, group) = (&at[..at.len() - 1], &at[at.len() - 1]);
        let index = w.index_as(&place[place.len() - 1], "i64");
        let end = w.load(&ends, &[&place[..place.len() - 1], std::slice::from_ref(group)].concat());
        let after = w.compare("sle", &end, &index, "i64");
        let one = w.op(&format!("arith.extui {after} : i1 to i64"));
        let counted = w.load(&values[0], place);
        let counted = w.same("arith.addi", &[counted, one], "i64");
        Ok(vec![w.store(&counted, &values[0], place)])
    })?;
    Ok(table[0].clone())
}

/// The loops of a product with groups.
struct Product<'a> {
    r: &'a RaggedDot,
    lhs: Tensor,
    rhs: Tensor,
    groups: Typed,
    /// The number of groups.
    count: i64,
    /// The type of the sums.
    to: ElementType,
}

impl Product<'_> {
    /// The sums of products. Loops run over the result, batch, left and right, then over the contracting dimensions.
    fn sums(&self, b: &mut Builder, begun: Typed, zero: &str) -> ImportResult<Typed> {
        let dims = &self.r.dims;
        let (lhs_rank, rhs_rank) = (self.lhs.sizes.len(), self.rhs.sizes.len());
        let (left, right) = (dims.lhs_free(lhs_rank), self.r.rhs_free(rhs_rank));
        let of_lhs = [&dims.lhs_batch[..], &left].concat();
        let mut loops: Vec<i64> = of_lhs.iter().map(|k| self.lhs.sizes[*k]).collect();
        loops.extend(right.iter().map(|k| self.rhs.sizes[*k]));
        let results = loops.len();
        loops.extend(dims.lhs_contracting.iter().map(|k| self.lhs.sizes[*k]));
        let bounds: Vec<String> = loops.iter().map(|n| b.w.index(*n)).collect();
        let mut done = b.w.nest(&bounds, vec![begun], &mut |w, at, values| {
            let mut lhs_at = vec![String::new(); lhs_rank];
            let mut rhs_at = vec![String::new(); rhs_rank];
            of_lhs.iter().zip(at).for_each(|(k, index)| lhs_at[*k] = index.clone());
            dims.rhs_batch.iter().zip(at).for_each(|(k, index)| rhs_at[*k] = index.clone());
            right.iter().zip(&at[of_lhs.len()..]).for_each(|(k, index)| rhs_at[*k] = index.clone());
            dims.lhs_contracting.iter().zip(&at[results..]).for_each(|(k, index)| lhs_at[*k] = index.clone());
            dims.rhs_contracting.iter().zip(&at[results..]).for_each(|(k, index)| rhs_at[*k] = index.clone());
            let (group, inside) = self.group(w, &lhs_at);
            let mut out_at = at[..results].to_vec();
            match self.r.group {
                Some(k) => rhs_at[k] = group,
                None => out_at.insert(0, group),
            }
            let value = self.product(w, &lhs_at, &rhs_at)?;
            let of = element_type(self.to).unwrap_or_default();
            let value = w.select(&inside, &value, zero, &of);
            let before = w.load(&values[0], &out_at);
            let sum = w.same(self.named("add"), &[before, value], &of);
            Ok(vec![w.store(&sum, &values[0], &out_at)])
        })?;
        Ok(done.remove(0))
    }

    /// The group of an index of the left operand, or the last group where it is in none, and whether it is in one.
    fn group(&self, w: &mut Writer, at: &[String]) -> (String, String) {
        let rank = self.groups.ty.matches('x').count();
        let mut place: Vec<String> = match rank {
            1 => Vec::new(),
            _ => self.r.prefix(at.len()).iter().map(|k| at[*k].clone()).collect(),
        };
        place.push(at[self.r.ragged].clone());
        let group = w.load(&self.groups, &place);
        let group = w.op(&format!("arith.index_cast {group} : i64 to index"));
        let count = w.index(self.count);
        let inside = w.compare("slt", &group, &count, "index");
        (w.between(&group, self.count - 1), inside)
    }

    fn product(&self, w: &mut Writer, lhs: &[String], rhs: &[String]) -> ImportResult<String> {
        let mut factors = Vec::new();
        for (t, at) in [(&self.lhs, lhs), (&self.rhs, rhs)] {
            let value = w.load(&Typed::new(&t.name, &t.ty), at);
            factors.push(converted(w, &value, t.element, self.to)?);
        }
        Ok(w.same(self.named("mul"), &factors, &element_type(self.to).unwrap_or_default()))
    }

    /// The operation's name for the type of the sums.
    fn named(&self, name: &str) -> &'static str {
        let add = name == "add";
        match self.to {
            ElementType::Pred => {
                if add {
                    "arith.ori"
                } else {
                    "arith.andi"
                }
            }
            e if e.is_complex() => {
                if add {
                    "complex.add"
                } else {
                    "complex.mul"
                }
            }
            e if e.is_float() => {
                if add {
                    "arith.addf"
                } else {
                    "arith.mulf"
                }
            }
            _ => {
                if add {
                    "arith.addi"
                } else {
                    "arith.muli"
                }
            }
        }
    }
}
