//! Functions as data, written operation by operation.

use crate::reader::model::*;

/// A function builder.
pub struct Writing {
    slots: Vec<Type>,
    /// The operations of the open regions, the innermost last.
    steps: Vec<Vec<Step>>,
    arguments: usize,
}

fn element(text: &str) -> Element {
    let bits = match text {
        "index" => 64,
        "i1" => 1,
        _ => 32,
    };
    Element::new(text, bits)
}

pub fn scalar(text: &str) -> Type {
    Type::Scalar(element(text))
}

fn shaped(kind: Kind, sizes: &[i64], place: Place) -> Type {
    Type::Shaped { kind, element: element("f32"), sizes: sizes.iter().copied().map(Some).collect(), place, space: None }
}

pub fn vector(lanes: i64) -> Type {
    shaped(Kind::Vector, &[lanes], Place::RowMajor(None))
}

pub fn memref(sizes: &[i64]) -> Type {
    shaped(Kind::MemRef, sizes, Place::RowMajor(None))
}

/// A memref with this offset and these strides; `pending` is the text of its layout before lowering.
pub fn strided(sizes: &[i64], offset: i64, strides: &[i64], pending: Option<&str>) -> Type {
    let strides = strides.iter().copied().map(Some).collect();
    shaped(Kind::MemRef, sizes, Place::Strided { offset: Some(offset), strides, pending: pending.map(str::to_owned) })
}

/// A memref with a layout before lowering.
pub fn pending(sizes: &[i64], layout: &str) -> Type {
    shaped(Kind::MemRef, sizes, Place::RowMajor(Some(layout.to_owned())))
}

pub fn tensor(sizes: &[i64], layout: Option<&str>) -> Type {
    shaped(Kind::Tensor, sizes, Place::RowMajor(layout.map(str::to_owned)))
}

pub fn number(n: i64) -> Expr {
    Expr::Constant(n)
}

pub fn operand(k: u32) -> Expr {
    Expr::Operand(k)
}

pub fn sum(a: Expr, b: Expr) -> Expr {
    Expr::Add(Box::new((a, b)))
}

pub fn times(a: Expr, n: i64) -> Expr {
    Expr::Mul(Box::new((a, number(n))))
}

pub fn modulo(a: Expr, n: i64) -> Expr {
    Expr::Mod(Box::new((a, number(n))))
}

pub fn floordiv(a: Expr, n: i64) -> Expr {
    Expr::FloorDiv(Box::new((a, number(n))))
}

pub fn region(arguments: Vec<Slot>, steps: Vec<Step>, values: Vec<Slot>) -> Region {
    Region { blocks: vec![Block { arguments, steps, end: End::Yield { values, inserts: vec![] } }] }
}

impl Writing {
    pub fn new(arguments: Vec<Type>) -> Writing {
        Writing { arguments: arguments.len(), slots: arguments, steps: vec![vec![]] }
    }

    pub fn slot(&mut self, of: Type) -> Slot {
        self.slots.push(of);
        self.slots.len() as Slot - 1
    }

    /// An operation with results of these types.
    pub fn operation(&mut self, name: &str, types: Vec<Type>, action: Action) -> Vec<Slot> {
        let results: Vec<Slot> = types.into_iter().map(|of| self.slot(of)).collect();
        let step = Step { name: name.to_owned(), location: 0, results: results.clone(), action, origins: vec![] };
        self.steps.last_mut().expect("a region").push(step);
        results
    }

    /// An operation with one result.
    pub fn one(&mut self, name: &str, of: Type, action: Action) -> Slot {
        self.operation(name, vec![of], action)[0]
    }

    pub fn index(&mut self, n: i64) -> Slot {
        self.one("arith.constant", scalar("index"), Action::Constant(vec![n as u64]))
    }

    pub fn apply(&mut self, e: Expr, operands: Vec<Slot>) -> Slot {
        let bound = Bound { exprs: vec![e], operands, greatest: false };
        self.one("affine.apply", scalar("index"), Action::Index(bound))
    }

    fn access(
        &mut self,
        buffer: Slot,
        store: Option<Slot>,
        map: Vec<Expr>,
        operands: &[Slot],
        lanes: i64,
    ) -> Vec<Slot> {
        let dim = map.len().checked_sub(1);
        let of = if lanes == 0 { scalar("f32") } else { vector(lanes) };
        let lanes = if lanes == 0 { vec![] } else { vec![Lane { size: lanes, dim, in_bounds: true }] };
        let types = if store.is_some() { vec![] } else { vec![of] };
        let (operands, none) = (operands.to_vec(), None);
        let access = Access { buffer, store, map, operands, lanes, mask: none, other: none, atomic: None };
        self.operation("affine.access", types, Action::Access(access))
    }

    /// Loads an element, or with `lanes` a vector along the last dimension.
    pub fn load_lanes(&mut self, buffer: Slot, map: Vec<Expr>, operands: &[Slot], lanes: i64) -> Slot {
        self.access(buffer, None, map, operands, lanes)[0]
    }

    pub fn load(&mut self, buffer: Slot, map: Vec<Expr>, operands: &[Slot]) -> Slot {
        self.load_lanes(buffer, map, operands, 0)
    }

    pub fn store_lanes(&mut self, value: Slot, buffer: Slot, map: Vec<Expr>, operands: &[Slot], lanes: i64) {
        self.access(buffer, Some(value), map, operands, lanes);
    }

    pub fn store(&mut self, value: Slot, buffer: Slot, map: Vec<Expr>, operands: &[Slot]) {
        self.store_lanes(value, buffer, map, operands, 0);
    }

    /// An operation on elements.
    pub fn compute(&mut self, name: &str, of: Type, operands: Vec<Slot>) -> Slot {
        let (Type::Scalar(element) | Type::Shaped { element, .. }) = of.clone() else { panic!("no elements") };
        let operator =
            Operator { name: name.to_owned(), attributes: String::new(), flags: 0, from: element.clone(), to: element };
        self.one(name, of, Action::Compute { operator, operands })
    }

    pub fn allocate(&mut self, sizes: &[i64]) -> Slot {
        self.one("memref.alloc", memref(sizes), Action::Empty(vec![]))
    }

    pub fn free(&mut self, buffer: Slot) {
        self.operation("memref.dealloc", vec![], Action::Free(buffer));
    }

    /// A shuffle; `lanes` has the source lane of each result lane.
    pub fn shuffle(&mut self, of: Slot, lanes: &[u32]) -> Slot {
        let sources = lanes.iter().map(|lane| (0, *lane)).collect();
        self.one("vector.shuffle", vector(lanes.len() as i64), Action::Lanes { operands: vec![of], sources })
    }

    /// A region with these arguments, which `body` builds; it yields the values that `body` returns.
    pub fn region(&mut self, arguments: Vec<Slot>, body: impl FnOnce(&mut Writing, &[Slot]) -> Vec<Slot>) -> Region {
        self.steps.push(vec![]);
        let values = body(self, &arguments);
        let steps = self.steps.pop().expect("the region that was begun");
        region(arguments, steps, values)
    }

    /// A loop from `lower` to below the least of `uppers`, expressions of `operands`, with loop-carried values. The
    /// arguments of `body` are the induction variable and these values.
    pub fn carrying(
        &mut self,
        (lower, uppers, step): (i64, Vec<Expr>, i64),
        operands: &[Slot],
        carried: Vec<Slot>,
        body: impl FnOnce(&mut Writing, &[Slot]) -> Vec<Slot>,
    ) -> Vec<Slot> {
        let types: Vec<Type> = carried.iter().map(|slot| self.slots[*slot as usize].clone()).collect();
        let mut arguments = vec![self.slot(scalar("index"))];
        arguments.extend(types.iter().map(|of| self.slot(of.clone())));
        let body = self.region(arguments, body);
        let bound = |exprs, greatest| Bound { exprs, operands: operands.to_vec(), greatest };
        let (lower, upper) = (bound(vec![number(lower)], true), bound(uppers, false));
        self.operation("affine.for", types, Action::Loop { lower, upper, step: Size::Static(step), carried, body })
    }

    /// A loop from 0 to below `extent`.
    pub fn each(&mut self, extent: i64, body: impl FnOnce(&mut Writing, Slot)) {
        self.carrying((0, vec![number(extent)], 1), &[], vec![], |writing, arguments| {
            body(writing, arguments[0]);
            vec![]
        });
    }

    /// A loop whose iterations have no order.
    pub fn parallel(&mut self, extent: i64, body: impl FnOnce(&mut Writing, Slot)) {
        let induction = self.slot(scalar("index"));
        let body = self.region(vec![induction], |writing, arguments| {
            body(writing, arguments[0]);
            vec![]
        });
        let bound = |n, greatest| vec![Bound { exprs: vec![number(n)], operands: vec![], greatest }];
        let (lower, upper, steps) = (bound(0, true), bound(extent, false), vec![Size::Static(1)]);
        self.operation("scf.parallel", vec![], Action::Parallel { lower, upper, steps, outputs: vec![], body });
    }

    pub fn done(mut self, results: Vec<Slot>) -> Function {
        let of = |slots: &[Slot]| slots.iter().map(|slot| self.slots[*slot as usize].clone()).collect();
        let arguments: Vec<Slot> = (0..self.arguments as Slot).collect();
        let (result_types, argument_types) = (of(&results), of(&arguments));
        let steps = self.steps.pop().expect("the body");
        Function {
            results: result_types,
            arguments: argument_types,
            slots: self.slots.into(),
            body: Some(region(arguments, steps, results)),
            public: true,
            padding: vec![],
            names: Default::default(),
            attributes: Default::default(),
        }
    }
}
