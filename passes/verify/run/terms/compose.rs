//! Operations that others define: the rules `contract` and `compose`.

use super::{Operands, Term, Terms};
use crate::reader::calc::Calc;
use crate::reader::flags::CONTRACT;
use crate::reader::model::{Element, Operator};

impl Terms {
    /// The term of an operation that other operations define.
    pub(super) fn composed(&mut self, number: u32, operands: &[Term]) -> Option<Term> {
        let (operator, calc) = &self.operators[number as usize];
        match calc {
            Calc::Fma => self.contracted(number, operands),
            Calc::Composed | Calc::Swapped => {
                let operator = operator.clone();
                match (&*operator.name, operands) {
                    ("arith.scaling_extf", [x, scale]) => self.scaled(&operator, *x, *scale),
                    _ => self.of_parts(&operator, operands),
                }
            }
            _ => None,
        }
    }

    /// `fma` as a product and a sum, where it may be rounded twice: as a flag or an option says, or as the program before has
    /// both and may round them once.
    fn contracted(&mut self, number: u32, operands: &[Term]) -> Option<Term> {
        let Operator { flags, to, .. } = self.operator_of(number);
        let may = (self.allowed | flags) & CONTRACT != 0;
        if !may && (self.is_before || self.promises.all & CONTRACT == 0) {
            return None;
        }
        let (flags, to) = (*flags, to.clone());
        let [times, plus] = ["arith.mulf", "arith.addf"].map(|name| self.named(name, &to, flags));
        let product = self.computed(times, &operands[..2]);
        let sum = self.computed(plus, &[product, operands[2]]);
        let was = |term: &Term| self.promises.flags.get(term).is_some_and(|flags| flags & CONTRACT != 0);
        (may || [product, sum].iter().all(was)).then_some(sum)
    }

    /// `scaling_extf` as a product, in a type that has all scales.
    fn scaled(
        &mut self,
        Operator { attributes, flags, from, to, .. }: &Operator,
        x: Term,
        scale: Term,
    ) -> Option<Term> {
        to.float.filter(|float| float.number(float.largest()) >= 2_f64.powi(127))?;
        let of_x = attributes.split("on ").nth(1)?.split(';').next()?;
        let of_x = Element::new(of_x, self.info(x).width.into());
        let factors = [(&of_x, x), (from, scale)].map(|(from, factor)| {
            let number = self.operator(&cast("arith.extf", from, to));
            self.computed(number, &[factor])
        });
        Some(self.apply_named("arith.mulf", to, *flags, &factors))
    }

    /// An operation on complex numbers of what the parts of the operands make.
    fn of_parts(&mut self, operator: &Operator, operands: &[Term]) -> Option<Term> {
        let name = match &*operator.name {
            "complex.neg" | "complex.conj" => "arith.negf",
            "complex.add" => "arith.addf",
            "complex.sub" => "arith.subf",
            _ => return None,
        };
        let complex = &operator.to;
        let part = complex.part().filter(|part| part.float.is_some())?;
        let mut parts = [0; 2];
        for (made, name_of_part) in parts.iter_mut().zip(["complex.re", "complex.im"]) {
            let number = self.operator(&cast(name_of_part, complex, &part));
            let of: Operands = operands.iter().map(|operand| self.computed(number, &[*operand])).collect();
            let is_kept = (&*operator.name, name_of_part) == ("complex.conj", "complex.re");
            *made = if is_kept { of[0] } else { self.apply_named(name, &part, operator.flags, &of) };
        }
        let create = self.operator(&cast("complex.create", &part, complex));
        Some(self.computed(create, &parts))
    }

    /// The number of an operation on elements of one type.
    fn named(&mut self, name: &str, of: &Element, flags: u32) -> u32 {
        self.operator(&Operator { flags, ..cast(name, of, of) })
    }

    fn apply_named(&mut self, name: &str, of: &Element, flags: u32, operands: &[Term]) -> Term {
        let number = self.named(name, of, flags);
        self.apply(number, operands)
    }
}

/// An operation from elements of a type to those of another.
fn cast(name: &str, from: &Element, to: &Element) -> Operator {
    let (from, to) = (from.clone(), to.clone());
    Operator { name: name.to_owned(), attributes: String::new(), flags: 0, from, to }
}
