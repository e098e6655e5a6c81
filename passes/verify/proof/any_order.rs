//! Values that are terms in any order: which terms, and that two values have the same.

use crate::proof::follow::{DEPTH, Proof, followed};
use crate::proof::linear::{COMPARISONS_OF_A_LOOK, Linear, Shown, Undecided, Var, unproved};
use crate::proof::multiset::{Family, TermIndex, is_idempotent, merged, sorted};
use crate::proof::operation::Operation;
use crate::proof::pairs::Naming;
use crate::proof::value::{Dim, Fold, Head, TermText, Thunk};
use crate::reader::flags::REASSOC;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The greatest number of families of one value.
const FAMILIES: usize = 4096;

/// The name of bits that are taken as another type, in front of the type that they are of.
const BITS: &str = "bits of ";

/// A part of a value: one term, or those that the iterations of a loop add.
enum Part {
    Term(Head),
    Loop(Box<Fold>),
}

/// A box whose points have terms: the variables, from 0 up to below the extents.
type Points = [Dim];

/// The terms of a value at some points.
type OfPart<'a, P> = dyn FnMut(&mut P, &Points, Thunk) -> Shown<Vec<Family>> + 'a;

impl Proof<'_> {
    /// The operation that makes a value of terms in any order; none where another does.
    pub(super) fn any_order(&mut self, head: &Head) -> Shown<Option<Operation>> {
        let of = |head: &Head, allowed: u32| match head {
            Head::Elements(operation, _) if operation.in_any_order(allowed) => Some(operation.clone()),
            _ => None,
        };
        let Head::Fold(fold) = head else { return Ok(of(head, self.allowed)) };
        self.before += 1;
        let zeros = vec![Linear::default(); fold.dims.len()];
        let step = self.iteration(fold, &zeros, Thunk::Before(self.before))?;
        match self.head(step) {
            Ok(head) => Ok(of(&head, self.allowed)),
            Err(Undecided::Unproved(_)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    /// Proves that two values are made of the same terms by an operation that takes them in any order.
    ///
    /// Elements of buffers that hold the same are terms by their names. Where one is found on each side of which it is not
    /// known whether they do, that is shown first.
    ///
    /// Buffers that had no name the last time have none, if the proof succeeds without.
    pub(super) fn same_terms(&mut self, a: &Head, b: &Head, by: &Operation) -> Shown<()> {
        let has_unnamed = self.usual.left.iter().any(|left| !left.is_empty());
        match self.same_terms_under(self.usual.clone(), a, b, by) {
            Err(Undecided::Unproved(_)) if has_unnamed => {
                let numbers = [self.next_naming(); 2];
                self.same_terms_under(Naming { numbers, ..Naming::default() }, a, b, by)
            }
            shown => shown,
        }
    }

    fn same_terms_under(&mut self, naming: Naming, a: &Head, b: &Head, by: &Operation) -> Shown<()> {
        let outer = self.naming.replace(naming);
        let shown = loop {
            let (shown, [first, second]) = (self.same_terms_here(a, b, by), self.unnamed());
            match (shown, first, second) {
                (_, Some(first), Some(second)) if self.are_same(first, second) => {}
                (_, Some(first), _) => self.leave_unnamed(0, first),
                (_, None, Some(second)) => self.leave_unnamed(1, second),
                (shown, None, None) => break shown,
            }
        };
        let naming = std::mem::replace(&mut self.naming, outer);
        if let (Some(naming), Ok(())) = (naming, &shown) {
            self.usual = naming;
        }
        shown
    }

    fn same_terms_here(&mut self, a: &Head, b: &Head, by: &Operation) -> Shown<()> {
        // What an iteration gets from the one before is a term of a loop that is outside of both.
        let (outer, vars) = (std::mem::replace(&mut self.outer, self.before), self.space.len());
        let first_point = std::mem::replace(&mut self.first_point, vars);
        let was_made = std::mem::replace(&mut self.is_made, false);
        let x = self.terms_of(followed(a), by);
        self.is_made = true;
        let y = self.terms_of(followed(b), by);
        let shown = x.and_then(|x| Ok((x, y?)));
        (self.outer, self.is_made, self.first_point) = (outer, was_made, first_point);
        let (mut x, mut y) = shown?;
        for place in x.iter_mut().chain(&mut y).flat_map(|family| &mut family.places) {
            place.first = self.space.normal(&place.first)?;
            if place.first.terms.vars().any(|var| self.space.depends(var, &|root| root >= vars)) {
                return unproved("an index of a term that is not one of its point");
            }
        }
        // Indices that one side cut into digits are digits on the other one, too.
        let idempotent = is_idempotent(by.calc());
        match merged(x, idempotent, &mut self.looks)? == merged(y, idempotent, &mut self.looks)? {
            true => Ok(()),
            false => unproved(format!("{} of other terms, or in another order", by.name)),
        }
    }

    /// All terms of a value.
    fn terms_of(&mut self, value: Thunk, by: &Operation) -> Shown<Vec<Family>> {
        let families = self.families(&[], value, by, None)?;
        merged(families, is_idempotent(by.calc()), &mut self.looks)
    }

    /// The terms of a value at each of some points; `before` is what the iteration before made, which has to be one of them.
    fn families(&mut self, points: &Points, value: Thunk, by: &Operation, before: Option<usize>) -> Shown<Vec<Family>> {
        let found = self.parts(value.clone(), by, before);
        let mut families = Vec::new();
        let Some(parts) = self.or_cut(points, &value, found, &mut families, &mut |proof, points, value| {
            proof.families(points, value, by, before)
        })?
        else {
            return Ok(families);
        };
        for part in parts {
            let more = match part {
                Part::Term(head) => self.family(points, &head, by)?,
                Part::Loop(fold) => {
                    let dims = self.points_of(&fold.dims);
                    self.before += 1;
                    let (before, all) = (self.before, [points, &dims[..]].concat());
                    let values: Vec<Linear> = dims.iter().map(|dim| Linear::var(dim.var)).collect();
                    let step = self.iteration(&fold, &values, Thunk::Before(before))?;
                    self.families(&all, step, by, Some(before))?
                }
            };
            families.extend(more);
            if families.len() > FAMILIES {
                return unproved("more terms than are looked at");
            }
        }
        Ok(families)
    }

    /// The result; none where it differs between parts of the points, whose families are added to `families`.
    fn or_cut<T>(
        &mut self,
        points: &Points,
        value: &Thunk,
        found: Shown<T>,
        families: &mut Vec<Family>,
        of_part: &mut OfPart<Self>,
    ) -> Shown<Option<T>> {
        let (var, at) = match found {
            Ok(found) => return Ok(Some(found)),
            Err(Undecided::Split(var, at)) => (var, at),
            Err(stop) => return Err(stop),
        };
        let root = self.space.root_of(var);
        let Some(dim) = points.iter().position(|dim| dim.var == root) else { return Err(Undecided::Split(var, at)) };
        for (more, value_of_dim) in self.cut_dim(points[dim], var, at)? {
            self.look()?;
            let mut with = BTreeMap::new();
            self.digits_with(root, value_of_dim, &mut with)?;
            let with = self.with_data(with)?;
            let part = [&points[..dim], &more, &points[dim + 1..]].concat();
            families.extend(of_part(self, &part, value.replaced(&with)?)?);
        }
        Ok(None)
    }

    /// Parts of a dimension, each with new variables and the value of the dimension's: below and from `at` on, which is a
    /// value of a digit; or the digits that the digit is one of, and what is left.
    fn cut_dim(&mut self, dim: Dim, var: Var, at: i64) -> Shown<Vec<(Vec<Dim>, Linear)>> {
        let mut parts = Vec::new();
        let cut = self.space.cut_of(dim.var);
        let at = match cut {
            None => at,
            Some((outer, _, size)) if outer == var => at.saturating_mul(size),
            Some((_, _, size)) => {
                let (whole, rest) = (dim.extent / size, dim.extent % size);
                if whole == 0 {
                    return unproved("iterations that are cut where there is nothing to cut");
                }
                let digits = self.fresh(&[Dim { extent: whole, ..dim }, Dim { extent: size, ..dim }]);
                let value = Linear::var(digits[0].var).times(size)?.plus(&Linear::var(digits[1].var))?;
                parts.push((digits, value));
                if rest > 0 {
                    let tail = self.fresh(&[Dim { extent: rest, ..dim }]);
                    let value = Linear::var(tail[0].var).add(whole * size)?;
                    parts.push((tail, value));
                }
                return Ok(parts);
            }
        };
        if at <= 0 || at >= dim.extent {
            return unproved("a case that cannot be cut");
        }
        for (from, to) in [(0, at), (at, dim.extent)] {
            let part = self.fresh(&[Dim { extent: to - from, ..dim }]);
            let value = Linear::var(part[0].var).add(from)?;
            parts.push((part, value));
        }
        Ok(parts)
    }

    /// Expressions in the place of variables, with those in the place of data that depends on these.
    pub(super) fn with_data(&mut self, with: BTreeMap<Var, Linear>) -> Shown<BTreeMap<Var, Linear>> {
        let dependent = self.space.dependent();
        if dependent.is_empty() {
            return Ok(with);
        }
        let mut all = with.clone();
        for (var, value) in with {
            self.digits_with(var, value, &mut all)?;
        }
        for data in dependent {
            if let Some(other) = self.space.data_at(&data, &all)? {
                self.digits_with(data.var, Linear::var(other), &mut all)?;
            }
        }
        Ok(all)
    }

    /// The values of a variable and of its digits, where the variable has one.
    fn digits_with(&mut self, var: Var, value: Linear, with: &mut BTreeMap<Var, Linear>) -> Shown<()> {
        if let Some((outer, inner, size)) = self.space.cut_of(var) {
            let (above, below) = self.space.divide(&value, size)?;
            self.digits_with(outer, above, with)?;
            self.digits_with(inner, below, with)?;
        }
        with.insert(var, value);
        Ok(())
    }

    /// Dimensions of these extents, the same ones for the same dimensions, with variables that are new in the terms at hand.
    fn points_of(&mut self, dims: &[Dim]) -> Vec<Dim> {
        match self.memo.points(dims) {
            Some(points) if points.iter().all(|dim| dim.var >= self.first_point) => points,
            _ => {
                let points = self.fresh(dims);
                self.memo.note_points(dims.to_vec(), points.clone());
                points
            }
        }
    }

    /// Dimensions of these extents with new variables.
    fn fresh(&mut self, dims: &[Dim]) -> Vec<Dim> {
        dims.iter().map(|dim| Dim { var: self.space.var(dim.extent), extent: dim.extent }).collect()
    }

    /// The flags of fast math that are promises, not permissions.
    fn promised(&self, operation: &Operation) -> u32 {
        operation.flags & !(self.allowed | REASSOC)
    }

    /// Whether an operation's terms are those of `by`: it promises what `by` does, or more where the first program has it, and
    /// less where the second one has it.
    fn is_same(&self, a: &Operation, by: &Operation) -> bool {
        let (own, all) = (self.promised(a), self.promised(by));
        let (more, less) = if self.is_made { (own, all) } else { (all, own) };
        a.name == by.name && more & !less == 0
    }

    /// The parts of a value; `before` has to be one of them, exactly once.
    fn parts(&mut self, value: Thunk, by: &Operation, before: Option<usize>) -> Shown<Vec<Part>> {
        let (mut parts, mut left, mut found) = (Vec::new(), vec![(value, by.clone())], 0);
        while let Some((value, of)) = left.pop() {
            match self.head(value)? {
                Head::Elements(operation, operands)
                    if self.is_same(&operation, by) && operation.in_any_order(self.allowed) =>
                {
                    left.extend(operands.into_iter().map(|operand| (operand, operation.clone())));
                }
                Head::Fold(fold) => {
                    let head = Head::Fold(fold);
                    let same = self.any_order(&head)?.filter(|other| self.is_same(other, by));
                    match (same, head) {
                        (Some(same), Head::Fold(fold)) => {
                            left.push((fold.first.clone(), same));
                            parts.push(Part::Loop(fold));
                        }
                        (_, head) => parts.push(Part::Term(head)),
                    }
                }
                Head::Before(k) if Some(k) == before => found += 1,
                Head::Constant(bits) if of.is_neutral(&bits) => {}
                head => parts.push(Part::Term(head)),
            }
        }
        match found == usize::from(before.is_some()) {
            true => Ok(parts),
            false => unproved("a loop that does not add to what it carries"),
        }
    }

    /// The term of each point.
    fn family(&mut self, points: &Points, head: &Head, by: &Operation) -> Shown<Vec<Family>> {
        let found = self.family_here(points, head, by);
        let mut families = Vec::new();
        let whole = self.or_cut(points, &followed(head), found, &mut families, &mut |proof, points, value| {
            let head = proof.head(value)?;
            proof.family(points, &head, by)
        })?;
        families.extend(whole.into_iter().flatten());
        Ok(families)
    }

    fn family_here(&mut self, points: &Points, head: &Head, by: &Operation) -> Shown<Vec<Family>> {
        let (shape, indices) = self.term(head)?;
        let dims = self.digits_of_points(points, &indices)?;
        let mut places = Vec::new();
        for index in indices {
            let mut first = self.space.normal(&index)?;
            let steps = dims.iter().map(|dim| first.terms.remove(dim.var).unwrap_or(0)).collect();
            places.push(TermIndex { steps, first });
        }
        let extents = dims.iter().map(|dim| dim.extent).collect();
        Ok(self.unnested(Family { extents, shape, places }, by))
    }

    /// The terms of a family whose terms are made of terms by the same operation.
    fn unnested(&self, family: Family, by: &Operation) -> Vec<Family> {
        if by.is_neutral(&family.shape) {
            return vec![];
        }
        let Some(inner) = self.nests.get(&family.shape).filter(|(inner, _)| self.is_same(inner, by)) else {
            return vec![family];
        };
        let mut places = family.places.iter();
        let with = |inner: &Family| {
            let both = |(inner, outer): (&TermIndex, &TermIndex)| TermIndex {
                steps: [&outer.steps[..], &inner.steps[..]].concat(),
                first: outer.first.clone(),
            };
            Family {
                extents: [&family.extents[..], &inner.extents[..]].concat(),
                shape: inner.shape.clone(),
                places: inner.places.iter().zip(places.by_ref()).map(both).collect(),
            }
        };
        let parts: Vec<Family> = inner.1.iter().map(with).collect();
        parts.into_iter().flat_map(|part| self.unnested(part, by)).collect()
    }

    /// A term that may be one of terms in any order, with these put together.
    fn whole(&mut self, text: &str, indices: &[Linear]) -> Shown<TermText> {
        let Some(by) = self.nests.get(text).map(|(by, _)| by.clone()) else {
            return Ok((text.into(), indices.to_vec()));
        };
        let places = indices.iter().map(|first| TermIndex { steps: vec![], first: first.clone() }).collect();
        let point = Family { extents: vec![], shape: text.into(), places };
        let families = merged(self.unnested(point, &by), is_idempotent(by.calc()), &mut self.looks)?;
        Ok(self.nested(&by, families))
    }

    /// Terms in any order as one term.
    fn nested(&mut self, by: &Operation, families: Vec<Family>) -> TermText {
        let mut text = format!("{} {} of", by.name, self.promised(by));
        for Family { extents, shape, places } in &families {
            let steps: Vec<&Vec<i64>> = places.iter().map(|place| &place.steps).collect();
            text += &format!(" {extents:?} {steps:?} {shape};");
        }
        let text: Rc<str> = format!("({text})").into();
        let indices = families.iter().flat_map(|family| &family.places).map(|place| place.first.clone()).collect();
        self.nests.entry(text.clone()).or_insert_with(|| (by.clone(), families));
        (text, indices)
    }

    /// The digits of the variables of some points, which have all values each.
    ///
    /// # Errors
    /// Where to cut a variable that has not all values of its digits.
    fn digits_of_points(&mut self, points: &Points, indices: &[Linear]) -> Shown<Vec<Dim>> {
        let mut used = Vec::new();
        for index in indices {
            used.extend(self.space.normal(index)?.terms.vars());
        }
        let (mut digits, mut left) = (Vec::new(), points.to_vec());
        while let Some(dim) = left.pop() {
            match self.space.cut_of(dim.var) {
                Some((outer, inner, size))
                    if self.space.digits_of(dim.var).iter().any(|digit| used.contains(digit)) =>
                {
                    if dim.extent % size != 0 {
                        return Err(Undecided::Split(outer, dim.extent / size));
                    }
                    left.push(Dim { var: outer, extent: dim.extent / size });
                    left.push(Dim { var: inner, extent: size });
                }
                _ => digits.push(dim),
            }
        }
        Ok(digits)
    }

    /// A value as text, with all that it is made of.
    pub(super) fn term(&mut self, head: &Head) -> Shown<TermText> {
        self.look()?;
        if self.depth >= DEPTH {
            return unproved("operations on elements in a longer chain");
        }
        let key = match head {
            Head::Elements(_, operands) => operands.last().and_then(|operand| match operand {
                Thunk::Value { side, value, lane, .. } => {
                    Some((*value, lane.clone(), self.names_number(*side), self.is_made))
                }
                _ => None,
            }),
            _ => None,
        };
        let alike = key.as_ref().map_or(&[][..], |key| self.memo.terms(key));
        self.looks.take(alike.len() / COMPARISONS_OF_A_LOOK)?;
        let known = alike.iter().find(|(known, _)| known == head);
        if let Some((_, term)) = known {
            self.looks.take_indices(term.1.len())?;
            return Ok(term.clone());
        }
        self.depth += 1;
        let term = self.term_here(head);
        self.depth -= 1;
        let term = term?;
        self.looks.take_text(&term.0)?;
        self.looks.take_indices(term.1.len())?;
        if let Some(key) = key {
            self.memo.note_term(key, head, &term);
        }
        Ok(term)
    }

    fn term_here(&mut self, head: &Head) -> Shown<TermText> {
        if let Some(by) = self.any_order(head)? {
            let families = self.terms_of(followed(head), &by)?;
            return Ok(self.nested(&by, families));
        }
        Ok(match head {
            Head::Constant(bits) => (bits.as_str().into(), vec![]),
            Head::Index(e) => ("#".into(), vec![e.clone()]),
            Head::Input(name, e) => (format!("{name}[#]").into(), vec![e.clone()]),
            Head::Start(element) => self.start_term(element)?,
            Head::Before(k) if *k <= self.outer => (format!("before {k}").into(), vec![]),
            Head::Before(_) => return unproved("a loop that does not add to what it carries"),
            Head::Fold(_) => return unproved("a loop whose order counts, in a sum of any order"),
            Head::Elements(operation, operands) => {
                if let Some(term) = self.extreme(head)? {
                    return Ok(term);
                }
                let mut terms = Vec::new();
                for operand in operands {
                    let head = self.head(operand.clone())?;
                    terms.push(self.term(&head)?);
                }
                if let ([(text, indices)], true) = (&terms[..], operation.name.starts_with(BITS)) {
                    // Bits that are taken as another type, and back.
                    let source = text.strip_prefix(BITS).and_then(|text| text.split_once('(')?.1.strip_suffix(')'));
                    if let Some(source) = source {
                        return self.whole(source, indices);
                    }
                }
                if operation.calc().commutes() {
                    terms.sort_by(|a, b| a.0.cmp(&b.0));
                }
                let (texts, indices): (Vec<Rc<str>>, Vec<Vec<Linear>>) = terms.into_iter().unzip();
                let flags = operation.flags & !self.allowed;
                let flags = if flags == 0 { String::new() } else { format!(" {flags}") };
                (format!("{}{flags}({})", operation.name, texts.join(", ")).into(), indices.concat())
            }
        })
    }

    /// The bits of the largest or least of floating-point numbers, where [`Proof::selections`] of integers find it.
    fn extreme(&mut self, head: &Head) -> Shown<Option<TermText>> {
        let Some((by, parts)) = self.selections(&followed(head), &["f32", "f64", "bf16", "f16"])? else {
            return Ok(None);
        };
        let mut terms: Option<Vec<Family>> = None;
        for (k, (value, part)) in parts.iter().enumerate() {
            let head = self.head(value.clone())?;
            let Some(operation) = self.any_order(&head)?.filter(|operation| operation.calc() == *part) else {
                return Ok(None);
            };
            if parts[..k].contains(&(value.clone(), *part)) {
                continue;
            }
            // What lies next to each other is put together when all of it is there.
            let families = self.families(&[], followed(&head), &operation, None)?;
            let families = sorted(families, true, &mut self.looks)?;
            if terms.get_or_insert_with(|| families.clone()) != &families {
                return Ok(None);
            }
        }
        // The numbers that the integers are.
        let (of, integer, mut numbers) = (&by.element().text, format!("i{}", by.element().bits), Vec::new());
        for mut family in terms.unwrap_or_default() {
            let inside = family.shape.strip_prefix(&format!("{BITS}{of}(")).and_then(|text| text.strip_suffix(')'));
            let constant = family.shape.strip_prefix(&format!("{integer} ")).map(|bits| format!("{of} {bits}"));
            let Some(shape) = inside.map(str::to_owned).or(constant) else { return Ok(None) };
            family.shape = shape.into();
            numbers.extend(self.unnested(family, &by));
        }
        let (text, indices) = self.nested(&by, numbers);
        Ok(Some((format!("{BITS}{of}({text})").into(), indices)))
    }
}
