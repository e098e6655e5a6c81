//! What each operation demands of its operands, attributes and result, and what it does with indices.
//!
//! A rule infers the shape of the result and compares it with the one that is written. Layouts are not compared, they
//! are the compiler's choice; sizes that are known at run time only fit any. Where XLA lets floats of different
//! precision be mixed, so do the rules.

use super::raw::{RawAttribute, RawInstruction};
use super::words::{number, numbers};
use crate::element::ElementType;
use crate::operations::operation::{Convolution, Gather, Operation, WindowDim};
use crate::operations::shape::bits;
use crate::operations::shape::{Array, Dim, Shape};
use crate::text::{Cursor, Error, excerpt};
use crate::tiled::layout::{Layout, dimensions};

/// Elements of any kind.
pub(super) const ANY: &str = "psufc";

/// What a computation takes and gives.
pub(super) struct Signature<'a> {
    pub name: &'a str,
    pub parameters: Vec<&'a Shape>,
    pub result: &'a Shape,
}

/// An instruction to be checked.
pub(super) struct Site<'a> {
    pub raw: &'a RawInstruction<'a>,
    /// What the table of opcodes says besides the rule.
    pub note: &'static str,
    pub shape: &'a Shape,
    pub operands: Vec<&'a Shape>,
    /// The computations that it names.
    pub called: Vec<usize>,
    /// Of all computations; `None` where one could not be read.
    pub signatures: &'a [Option<Signature<'a>>],
}

type Found = Result<Operation, Error>;
/// Logical sizes, `None` where one is known at run time only.
type Sizes = Vec<Option<i64>>;

/// Whether two shapes are the same but for their layouts.
pub(super) fn fits(a: &Shape, b: &Shape) -> bool {
    agree(a, b, &|a, b| a == b)
}

fn agree(a: &Shape, b: &Shape, elements: &dyn Fn(ElementType, ElementType) -> bool) -> bool {
    match (a, b) {
        (Shape::Tuple(a), Shape::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b, elements)),
        (Shape::Array(a), Shape::Array(b)) | (Shape::Buffer(a), Shape::Buffer(b)) => {
            elements(a.element, b.element) && same_sizes(&sizes(a), &sizes(b))
        }
        _ => false,
    }
}

/// Whether values of one type may stand for the other's: floats may change their precision.
fn alike(a: ElementType, b: ElementType) -> bool {
    a == b || a.is_float() && b.is_float()
}

fn same_size(a: Option<i64>, b: Option<i64>) -> bool {
    a.is_none() || b.is_none() || a == b
}

fn same_sizes(a: &[Option<i64>], b: &[Option<i64>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_size(*a, *b))
}

fn sizes(array: &Array) -> Sizes {
    array.dims.iter().map(|dim| dim.bound()).collect()
}

fn array(element: ElementType, sizes: &[Option<i64>]) -> Shape {
    let dims = sizes.iter().map(|size| size.map_or(Dim::Unbounded, Dim::Exact)).collect::<Vec<_>>();
    Shape::Array(Array { element, layout: Layout::row_major(dims.len()), dims })
}

/// One shape itself, several as a tuple.
fn together(mut shapes: Vec<Shape>) -> Shape {
    if shapes.len() == 1 { shapes.remove(0) } else { Shape::Tuple(shapes) }
}

/// A shape as messages show it: without layouts, and not too long.
pub(super) fn plain(shape: &Shape) -> String {
    const LONGEST: usize = 100;
    fn write(shape: &Shape, text: &mut String) {
        match shape {
            _ if text.len() > LONGEST => {}
            Shape::Tuple(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    text.push_str(if i == 0 { "(" } else { ", " });
                    write(part, text);
                }
                text.push_str(if parts.is_empty() { "()" } else { ")" });
            }
            Shape::Buffer(array) | Shape::Array(array) => {
                let dims: Vec<_> = array.dims.iter().map(Dim::to_string).collect();
                let inner = format!("{}[{}]", array.element, dims.join(","));
                text.push_str(&if matches!(shape, Shape::Buffer(_)) { format!("b({inner})") } else { inner });
            }
        }
    }
    let mut text = String::new();
    write(shape, &mut text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}

impl<'a> Site<'a> {
    /// An error at the opcode.
    fn error(&self, message: impl AsRef<str>) -> Error {
        Error::at(self.raw.opcode_at, format!("`{}` {}", self.raw.opcode, message.as_ref()))
    }

    /// An error at an operand.
    fn blame(&self, operand: usize, message: impl AsRef<str>) -> Error {
        let is = plain(self.operands[operand]);
        let at = self.raw.operands[operand].at;
        Error::at(at, format!("`{}` {}, this is {is}", self.raw.opcode, message.as_ref()))
    }

    fn array(&self, operand: usize) -> Result<&'a Array, Error> {
        match self.operands[operand] {
            Shape::Array(array) | Shape::Buffer(array) => Ok(array),
            Shape::Tuple(_) => Err(self.blame(operand, "needs an array")),
        }
    }

    fn sizes(&self, operand: usize) -> Result<Sizes, Error> {
        Ok(sizes(self.array(operand)?))
    }

    /// An operand that must be an integer scalar.
    fn index(&self, operand: usize) -> Result<(), Error> {
        let array = self.array(operand)?;
        let integer = array.element.is_signed() || array.element.is_unsigned();
        if integer && array.dims.is_empty() { Ok(()) } else { Err(self.blame(operand, "needs an integer scalar")) }
    }

    /// That an operand has these sizes; floats may change their precision.
    fn operand(&self, operand: usize, element: ElementType, size: &[Option<i64>]) -> Result<(), Error> {
        let found = self.array(operand)?;
        if alike(found.element, element) && same_sizes(&sizes(found), size) {
            return Ok(());
        }
        Err(self.blame(operand, format!("needs {} here", plain(&array(element, size)))))
    }

    /// Compares the shape that is written with the one that was inferred.
    fn gives(&self, shape: &Shape) -> Result<(), Error> {
        if agree(shape, self.shape, &alike) {
            return Ok(());
        }
        let (gives, written) = (plain(shape), plain(self.shape));
        Err(Error::at(self.raw.shape_at, format!("`{}` gives {gives} here, {written} is written", self.raw.opcode)))
    }

    /// The result, which must be an array, its element type being free.
    fn result(&self, size: &[Option<i64>]) -> Result<ElementType, Error> {
        let element = match self.shape {
            Shape::Array(array) | Shape::Buffer(array) => array.element,
            Shape::Tuple(_) => self.array(0)?.element,
        };
        self.gives(&array(element, size)).map(|()| element)
    }

    fn attribute(&self, name: &str) -> Option<&RawAttribute<'a>> {
        self.raw.attributes.iter().find(|a| a.name == name)
    }

    fn need(&self, name: &str, form: &str) -> Result<&RawAttribute<'a>, Error> {
        self.attribute(name).ok_or_else(|| self.error(format!("needs `{name}={form}`")))
    }

    /// A list of numbers, none where the attribute is not there.
    fn numbers(&self, name: &str) -> Result<Vec<(i64, usize)>, Error> {
        let Some(attribute) = self.attribute(name) else { return Ok(Vec::new()) };
        let offset = attribute.at;
        Ok(attribute.read(numbers)?.into_iter().map(|(n, at)| (n, at + offset)).collect())
    }

    /// A list of different dimensions below `rank`.
    fn dims(&self, name: &str, rank: usize) -> Result<Vec<usize>, Error> {
        let mut seen = vec![false; rank];
        let mut found = Vec::new();
        for (dim, at) in self.numbers(name)? {
            match usize::try_from(dim).ok().and_then(|dim| Some((dim, seen.get_mut(dim)?))) {
                None => return Err(Error::at(at, format!("dimension {dim} is out of range: there are {rank}"))),
                Some((_, true)) => return Err(Error::at(at, format!("dimension {dim} appears twice in `{name}`"))),
                Some((dim, seen)) => {
                    *seen = true;
                    found.push(dim);
                }
            }
        }
        Ok(found)
    }

    /// A list of different dimensions in rising order.
    fn rising(&self, name: &str, rank: usize) -> Result<Vec<usize>, Error> {
        let dims = self.dims(name, rank)?;
        if dims.is_sorted() {
            return Ok(dims);
        }
        Err(self.wrong(name, "must rise"))
    }

    /// An error at the value of an attribute, or at the opcode where there is none.
    fn wrong(&self, name: &str, message: impl AsRef<str>) -> Error {
        let at = self.attribute(name).map_or(self.raw.opcode_at, |a| a.at);
        Error::at(at, format!("`{name}` of `{}` {}", self.raw.opcode, message.as_ref()))
    }

    /// One dimension below `rank`.
    fn dim(&self, name: &str, rank: usize) -> Result<usize, Error> {
        self.need(name, "{dimension}")?;
        match self.dims(name, rank)?[..] {
            [dim] => Ok(dim),
            _ => Err(self.wrong(name, "must be one dimension")),
        }
    }

    /// One number, of at least `least`; `default` where the attribute is not there.
    fn count(&self, name: &str, default: i64, least: i64) -> Result<i64, Error> {
        let Some(attribute) = self.attribute(name) else { return Ok(default) };
        let n = attribute.read(|cursor| number(cursor, "a number"))?.0;
        if n >= least { Ok(n) } else { Err(self.wrong(name, format!("must be at least {least}"))) }
    }

    /// One size for each of `rank` dimensions.
    fn block(&self, name: &str, whole: &[Option<i64>]) -> Result<Vec<i64>, Error> {
        self.need(name, "{sizes}")?;
        let found = self.numbers(name)?;
        if found.len() != whole.len() {
            let needs = format!("must have {}, {} written", dimensions(whole.len()), found.len());
            return Err(self.wrong(name, needs));
        }
        for (&(size, at), whole) in found.iter().zip(whole) {
            if size < 0 || whole.is_some_and(|whole| size > whole) {
                let most = whole.map_or("or more".to_string(), |whole| format!("to {whole}"));
                return Err(Error::at(at, format!("a size here is 0 {most}, got {size}")));
            }
        }
        Ok(found.into_iter().map(|(size, _)| size).collect())
    }

    /// That an operand's elements are of one of the classes that the operation takes.
    fn class(&self, operand: usize) -> Result<ElementType, Error> {
        let element = self.array(operand)?.element;
        let (class, classes) = match element {
            ElementType::Pred => ('p', "pred"),
            _ if element.is_signed() => ('s', "signed integers"),
            _ if element.is_unsigned() => ('u', "unsigned integers"),
            _ if element.is_float() => ('f', "floats"),
            _ if element.is_complex() => ('c', "complex numbers"),
            _ => (' ', "values without elements"),
        };
        if self.note.contains(class) {
            return Ok(element);
        }
        Err(self.blame(operand, format!("does not take {classes}")))
    }

    /// Operands of the same sizes and, but for the precision of floats, of the same type.
    fn together(&self, operands: std::ops::Range<usize>) -> Result<(ElementType, Sizes), Error> {
        let first = self.class(operands.start)?;
        let size = self.sizes(operands.start)?;
        for operand in operands {
            self.class(operand)?;
            self.operand(operand, first, &size)?;
        }
        Ok((first, size))
    }

    /// That the computation `number` of those that are named takes scalars of these types and gives such.
    fn region(&self, key: &str, number: usize, takes: &[ElementType], gives: &[ElementType]) -> Result<(), Error> {
        self.need(key, "computation")?;
        let Some(&region) = self.called.get(number) else { return Err(self.wrong(key, "names one computation")) };
        let scalars = |types: &[ElementType]| types.iter().map(|element| array(*element, &[])).collect::<Vec<_>>();
        let takes = scalars(takes);
        self.fitted(key, region, &takes.iter().collect::<Vec<_>>(), &together(scalars(gives)), alike)
    }

    /// That a computation combines two values into one, for each of these types: those so far stand before the new.
    fn reducer(&self, key: &str, number: usize, types: &[ElementType]) -> Result<(), Error> {
        self.region(key, number, &types.repeat(2), types)
    }

    /// That a computation takes these operands and gives `result`.
    fn calls(&self, key: &str, callee: usize, operands: &[&Shape], result: &Shape) -> Result<(), Error> {
        self.fitted(key, callee, operands, result, |a, b| a == b)
    }

    /// The same, with elements compared in another way.
    fn fitted(
        &self,
        key: &str,
        callee: usize,
        operands: &[&Shape],
        result: &Shape,
        elements: fn(ElementType, ElementType) -> bool,
    ) -> Result<(), Error> {
        let Some(callee) = self.signatures.get(callee).and_then(Option::as_ref) else { return Ok(()) };
        let name = excerpt(callee.name);
        let (takes, given) = (callee.parameters.len(), operands.len());
        if takes != given {
            return Err(self.wrong(key, format!("has {} in `{name}`, {given} given", count(takes, "parameter"))));
        }
        for (i, (parameter, operand)) in callee.parameters.iter().zip(operands).enumerate() {
            if !agree(parameter, operand, &elements) {
                let (takes, given) = (plain(parameter), plain(operand));
                return Err(self.wrong(key, format!("takes {takes} as parameter {i} of `{name}`, {given} is given")));
            }
        }
        if !agree(callee.result, result, &elements) {
            let (gives, needs) = (plain(callee.result), plain(result));
            return Err(self.wrong(key, format!("gives {gives} in `{name}`, {needs} is needed")));
        }
        Ok(())
    }

    /// One entry for each of `rank` dimensions of the window.
    fn window(&self, rank: usize) -> Result<Vec<WindowDim>, Error> {
        let none =
            WindowDim { size: 1, stride: 1, low: 0, high: 0, window_dilation: 1, base_dilation: 1, reversed: false };
        let mut window = vec![none; rank];
        let Some(attribute) = self.attribute("window") else {
            return if rank == 0 { Ok(window) } else { Err(self.error("needs `window={size=..}`")) };
        };
        let fields = attribute.fields()?;
        if rank != 0 && !fields.iter().any(|field| field.name == "size") {
            return Err(self.wrong("window", "needs `size=`"));
        }
        for field in fields {
            field.read(|cursor| {
                for (i, dim) in window.iter_mut().enumerate() {
                    if i != 0 {
                        cursor.expect("x", &format!("`x` and the entry of dimension {i} of {rank}"))?;
                    }
                    let (value, at) = number(cursor, "a number")?;
                    let positive = || match value {
                        1.. => Ok(value),
                        _ => Err(Error::at(at, format!("`{}` must be at least 1, got {value}", field.name))),
                    };
                    match field.name {
                        "size" => dim.size = positive()?,
                        "stride" => dim.stride = positive()?,
                        "lhs_dilate" => dim.base_dilation = positive()?,
                        "rhs_dilate" => dim.window_dilation = positive()?,
                        "rhs_reversal" => dim.reversed = value != 0,
                        "pad" => {
                            cursor.expect("_", "`_` and the padding behind")?;
                            (dim.low, dim.high) = (value, number(cursor, "the padding behind")?.0);
                        }
                        _ => return Err(Error::at(0, format!("a window has no `{}`", excerpt(field.name)))),
                    }
                }
                Ok(())
            })?;
        }
        Ok(window)
    }

    /// The number of windows that fit into a dimension.
    fn windows(&self, size: Option<i64>, dim: &WindowDim) -> Result<Option<i64>, Error> {
        let Some(size) = size else { return Ok(None) };
        let dilated = |n: i64, step: i64| if n == 0 { 0 } else { i128::from(n - 1) * i128::from(step) + 1 };
        let padded = dilated(size, dim.base_dilation) + i128::from(dim.low) + i128::from(dim.high);
        let window = dilated(dim.size, dim.window_dilation);
        let count = if padded < window { 0 } else { (padded - window) / i128::from(dim.stride) + 1 };
        i64::try_from(count).map(Some).map_err(|_| self.wrong("window", "gives a size beyond 64 bits"))
    }
}

/// The size of a padded dimension; `None` where it does not fit.
fn padded(size: i64, low: i64, high: i64, interior: i64) -> Option<i64> {
    let between = size.checked_sub(1)?.max(0).checked_mul(interior)?;
    size.checked_add(between)?.checked_add(low)?.checked_add(high).filter(|n| *n >= 0)
}

/// The number of elements; `None` where a size is not known or the product does not fit.
fn elements(sizes: &[Option<i64>]) -> Option<i128> {
    sizes.iter().try_fold(1i128, |all, size| all.checked_mul(i128::from((*size)?)))
}

/// `1 part`, `2 parts`, `2 branches`.
fn count(n: usize, what: &str) -> String {
    let plural = if what.ends_with('h') { "es" } else { "s" };
    format!("{n} {what}{}", if n == 1 { "" } else { plural })
}

fn list(sizes: &[i64]) -> Sizes {
    sizes.iter().copied().map(Some).collect()
}

fn without(sizes: &[Option<i64>], dims: &[usize]) -> Sizes {
    sizes.iter().enumerate().filter(|(i, _)| !dims.contains(i)).map(|(_, size)| *size).collect()
}

pub(super) fn other(site: &Site) -> Found {
    Ok(Operation::Other { reason: format!("{}: {}", site.raw.opcode, site.note) })
}

/// Of operands of one shape and type, that of the result.
pub(super) fn elementwise(site: &Site) -> Found {
    if let ([tuple @ Shape::Tuple(_)], ANY) = (&site.operands[..], site.note) {
        // A whole tuple may be copied, or held back by a barrier.
        site.gives(tuple)?;
        return Ok(Operation::Other { reason: format!("{}: a tuple is passed on as it is", site.raw.opcode) });
    }
    let (element, size) = site.together(0..site.operands.len())?;
    site.gives(&array(element, &size)).map(|()| Operation::Elementwise)
}

/// The operands are elementwise, the type of the result is another.
fn typed(site: &Site, of: impl Fn(ElementType) -> ElementType) -> Found {
    let (element, size) = site.together(0..site.operands.len())?;
    site.gives(&array(of(element), &size)).map(|()| Operation::Elementwise)
}

pub(super) fn compare(site: &Site) -> Found {
    const DIRECTIONS: [&str; 6] = ["EQ", "NE", "GE", "GT", "LE", "LT"];
    let direction = site.need("direction", "EQ")?;
    if !DIRECTIONS.contains(&direction.text) {
        return Err(site.wrong("direction", format!("is one of {}", DIRECTIONS.join(", "))));
    }
    typed(site, |_| ElementType::Pred)
}

pub(super) fn is_finite(site: &Site) -> Found {
    typed(site, |_| ElementType::Pred)
}

/// `abs`, `real` and `imag`: of complex numbers, floats of half the size.
pub(super) fn magnitude(site: &Site) -> Found {
    typed(site, |element| match element {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        _ => element,
    })
}

pub(super) fn complex(site: &Site) -> Found {
    match site.class(0)? {
        ElementType::F32 => typed(site, |_| ElementType::C64),
        ElementType::F64 => typed(site, |_| ElementType::C128),
        _ => Err(site.blame(0, "needs f32 or f64")),
    }
}

pub(super) fn convert(site: &Site) -> Found {
    site.class(0)?;
    site.result(&site.sizes(0)?).map(|_| Operation::Elementwise)
}

pub(super) fn stochastic_convert(site: &Site) -> Found {
    let size = site.sizes(0)?;
    site.class(0)?;
    site.operand(1, site.class(1)?, &size)?;
    site.result(&size).map(|_| Operation::Elementwise)
}

pub(super) fn clamp(site: &Site) -> Found {
    let element = site.class(1)?;
    let size = site.sizes(1)?;
    for bound in [0, 2] {
        let scalar = site.array(bound)?.dims.is_empty();
        site.operand(bound, element, if scalar { &[] } else { &size })?;
    }
    site.gives(&array(element, &size)).map(|()| Operation::Elementwise)
}

pub(super) fn select(site: &Site) -> Found {
    let (element, size) = site.together(1..3)?;
    let scalar = site.array(0)?.dims.is_empty();
    site.operand(0, ElementType::Pred, if scalar { &[] } else { &size })?;
    site.gives(&array(element, &size)).map(|()| Operation::Select)
}

pub(super) fn map(site: &Site) -> Found {
    let size = site.sizes(0)?;
    for operand in 0..site.operands.len() {
        site.operand(operand, site.class(operand)?, &size)?;
    }
    let types = (0..site.operands.len()).map(|operand| Ok(site.array(operand)?.element));
    let result = site.result(&size)?;
    site.region("to_apply", 0, &types.collect::<Result<Vec<_>, Error>>()?, &[result])?;
    Ok(Operation::Elementwise)
}

pub(super) fn broadcast(site: &Site) -> Found {
    let from = site.array(0)?;
    let Shape::Array(to) = site.shape else {
        return Err(Error::at(site.raw.shape_at, "`broadcast` gives an array"));
    };
    if !from.dims.is_empty() {
        site.need("dimensions", "{result dimensions}")?;
    }
    let dims = site.dims("dimensions", to.dims.len())?;
    if dims.len() != from.dims.len() {
        let message = format!("must have one entry for each of {} of the operand", dimensions(from.dims.len()));
        return Err(site.wrong("dimensions", message));
    }
    let mut expected = sizes(to);
    for (size, &dim) in sizes(from).iter().zip(&dims) {
        expected[dim] = *size;
    }
    site.gives(&array(from.element, &expected))?;
    Ok(Operation::Broadcast { dims })
}

pub(super) fn transpose(site: &Site) -> Found {
    let (from, size) = (site.array(0)?, site.sizes(0)?);
    site.need("dimensions", "{permutation}")?;
    let permutation = site.dims("dimensions", size.len())?;
    if permutation.len() != size.len() {
        return Err(site.wrong("dimensions", format!("must have {}", dimensions(size.len()))));
    }
    let expected: Sizes = permutation.iter().map(|&dim| size[dim]).collect();
    site.gives(&array(from.element, &expected))?;
    Ok(Operation::Transpose { permutation })
}

pub(super) fn reverse(site: &Site) -> Found {
    site.need("dimensions", "{dimensions}")?;
    let dims = site.dims("dimensions", site.array(0)?.dims.len())?;
    site.gives(site.operands[0])?;
    Ok(Operation::Reverse { dims })
}

/// The sizes of inputs followed by as many scalars, and the types of the inputs.
fn with_initial(site: &Site) -> Result<(Vec<ElementType>, Sizes), Error> {
    let n = site.operands.len();
    if n % 2 == 1 {
        return Err(site.error(format!("needs as many initial values as inputs, {n} operands written")));
    }
    let size = site.sizes(0)?;
    let mut types = Vec::new();
    for input in 0..n / 2 {
        let element = site.array(input)?.element;
        site.operand(input, element, &size)?;
        site.operand(n / 2 + input, element, &[])?;
        types.push(element);
    }
    site.reducer("to_apply", 0, &types)?;
    Ok((types, size))
}

/// The shape of one result for each type.
fn results(types: &[ElementType], size: &[Option<i64>]) -> Shape {
    together(types.iter().map(|element| array(*element, size)).collect())
}

pub(super) fn reduce(site: &Site) -> Found {
    let (types, size) = with_initial(site)?;
    site.need("dimensions", "{dimensions}")?;
    let dims = site.dims("dimensions", size.len())?;
    site.gives(&results(&types, &without(&size, &dims)))?;
    Ok(Operation::Reduce { dims })
}

pub(super) fn reduce_window(site: &Site) -> Found {
    let (types, size) = with_initial(site)?;
    let window = site.window(size.len())?;
    let expected: Sizes = size.iter().zip(&window).map(|(n, dim)| site.windows(*n, dim)).collect::<Result<_, _>>()?;
    site.gives(&results(&types, &expected))?;
    Ok(Operation::ReduceWindow { window })
}

pub(super) fn slice(site: &Site) -> Found {
    let (from, size) = (site.array(0)?, site.sizes(0)?);
    let attribute = site.need("slice", "{[start:limit:stride], ..}")?;
    let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    let expected = attribute.read(|cursor| {
        let mut expected = Sizes::new();
        cursor.expect("{", "`{` to open the ranges")?;
        for (dim, size) in size.iter().enumerate() {
            if dim != 0 {
                cursor.expect(",", &format!("`,` and the range of dimension {dim}"))?;
            }
            cursor.expect("[", &format!("`[` to open the range of dimension {dim}"))?;
            let (start, at) = number(cursor, "the start")?;
            cursor.expect(":", "`:` and the limit")?;
            let (limit, limit_at) = number(cursor, "the limit")?;
            let (stride, stride_at) = if cursor.eat(":") { number(cursor, "the stride")? } else { (1, limit_at) };
            cursor.expect("]", "`]` to close the range")?;
            if start < 0 || start > limit {
                return Err(Error::at(at, format!("a range starts between 0 and its limit {limit}, got {start}")));
            }
            if size.is_some_and(|size| limit > size) {
                let size = size.unwrap_or(0);
                return Err(Error::at(limit_at, format!("dimension {dim} has {size} elements, the limit is {limit}")));
            }
            if stride < 1 {
                return Err(Error::at(stride_at, format!("a stride is at least 1, got {stride}")));
            }
            // Neither the difference nor the rounding can leave 64 bits.
            expected.push(Some((limit - start) / stride + i64::from((limit - start) % stride != 0)));
            starts.push(start);
            limits.push(limit);
            strides.push(stride);
        }
        cursor.expect("}", &format!("`}}` behind {}", dimensions(size.len())))?;
        Ok(expected)
    })?;
    site.gives(&array(from.element, &expected))?;
    Ok(Operation::Slice { starts, limits, strides })
}

pub(super) fn reshape(site: &Site) -> Found {
    let from = site.array(0)?;
    let Shape::Array(to) = site.shape else {
        return Err(Error::at(site.raw.shape_at, "`reshape` gives an array"));
    };
    if !alike(from.element, to.element) {
        return Err(site.gives(&array(from.element, &sizes(to))).err().unwrap_or_else(|| site.error("gives its type")));
    }
    match (elements(&sizes(from)), elements(&sizes(to))) {
        (Some(there), Some(written)) if there != written => Err(Error::at(
            site.raw.shape_at,
            format!(
                "`reshape` of {} has {there} elements, {} has {written}",
                plain(site.operands[0]),
                plain(site.shape)
            ),
        )),
        _ => Ok(Operation::Reshape),
    }
}

/// That operand and result take as many bits, an element `each`.
fn same_bits(site: &Site, each: fn(&Array) -> Option<i64>) -> Result<(), Error> {
    let (Shape::Array(from), Shape::Array(to)) = (site.operands[0], site.shape) else { return Ok(()) };
    let bits = |array: &Array| elements(&sizes(array))?.checked_mul(i128::from(each(array)?));
    match (bits(from), bits(to)) {
        (Some(there), Some(written)) if there != written => Err(Error::at(
            site.raw.shape_at,
            format!(
                "`{}` of {} has {there} bits, {} has {written}",
                site.raw.opcode,
                plain(site.operands[0]),
                plain(site.shape)
            ),
        )),
        _ => Ok(()),
    }
}

pub(super) fn bitcast(site: &Site) -> Found {
    // Layouts with tiles may add padding on either side.
    same_bits(site, |array| bits(array).filter(|_| !array.layout.is_tiled()))?;
    Ok(Operation::Bitcast)
}

pub(super) fn bitcast_convert(site: &Site) -> Found {
    same_bits(site, |array| array.element.bits())?;
    let (from, Shape::Array(to)) = (site.array(0)?, site.shape) else {
        return Err(Error::at(site.raw.shape_at, "`bitcast-convert` gives an array"));
    };
    if from.element.bits() == to.element.bits() {
        site.result(&sizes(from))?;
        return Ok(Operation::Elementwise);
    }
    // The wider type's elements have one dimension more on the other side: of the parts of each.
    let cut = from.dims.len() < to.dims.len();
    let (long, short) = if cut { (sizes(to), sizes(from)) } else { (sizes(from), sizes(to)) };
    if long.len() != short.len() + 1 || !same_sizes(&long[..short.len()], &short) {
        let message = "`bitcast-convert` adds or takes one dimension, the last, where the size of elements changes";
        return Err(Error::at(site.raw.shape_at, message));
    }
    // As far as indices go, an element is broadcast to its parts.
    Ok(match cut {
        true => Operation::Broadcast { dims: (0..short.len()).collect() },
        false => Operation::Other { reason: "bitcast-convert: elements are put together".to_string() },
    })
}

pub(super) fn concatenate(site: &Site) -> Found {
    let (from, mut expected) = (site.array(0)?, site.sizes(0)?);
    let dim = site.dim("dimensions", expected.len())?;
    let mut whole = Some(0i64);
    for operand in 0..site.operands.len() {
        let size = site.sizes(operand)?;
        expected[dim] = size.get(dim).copied().flatten();
        site.operand(operand, from.element, &expected)?;
        whole = match (whole, expected[dim]) {
            (Some(whole), Some(n)) => {
                Some(whole.checked_add(n).ok_or_else(|| site.error("gives a size beyond 64 bits"))?)
            }
            _ => None,
        };
    }
    expected[dim] = whole;
    site.gives(&array(from.element, &expected))?;
    Ok(Operation::Concatenate { dim })
}

pub(super) fn dot(site: &Site) -> Found {
    let (lhs, rhs) = (site.sizes(0)?, site.sizes(1)?);
    let lhs_batch = site.dims("lhs_batch_dims", lhs.len())?;
    let rhs_batch = site.dims("rhs_batch_dims", rhs.len())?;
    let lhs_contracting = site.dims("lhs_contracting_dims", lhs.len())?;
    let rhs_contracting = site.dims("rhs_contracting_dims", rhs.len())?;
    let pairs = [("batch", &lhs_batch, &rhs_batch), ("contracting", &lhs_contracting, &rhs_contracting)];
    for (kind, left, right) in pairs {
        let name = format!("rhs_{kind}_dims");
        if left.len() != right.len() {
            return Err(site.wrong(&name, format!("must have {}, as the left", dimensions(left.len()))));
        }
        for (&l, &r) in left.iter().zip(right) {
            if let (false, Some(a), Some(b)) = (same_size(lhs[l], rhs[r]), lhs[l], rhs[r]) {
                return Err(site.wrong(&name, format!("pairs {a} elements of the left with {b}")));
            }
        }
    }
    for (name, batch, contracting) in
        [("lhs_contracting_dims", &lhs_batch, &lhs_contracting), ("rhs_contracting_dims", &rhs_batch, &rhs_contracting)]
    {
        if let Some(dim) = contracting.iter().find(|dim| batch.contains(dim)) {
            return Err(site.wrong(name, format!("has dimension {dim}, which is a batch dimension too")));
        }
    }
    let mut expected: Sizes = lhs_batch.iter().map(|&dim| lhs[dim]).collect();
    expected.extend(without(&lhs, &[&lhs_batch[..], &lhs_contracting].concat()));
    expected.extend(without(&rhs, &[&rhs_batch[..], &rhs_contracting].concat()));
    site.result(&expected)?;
    Ok(Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting })
}

pub(super) fn pad(site: &Site) -> Found {
    let (from, size) = (site.array(0)?, site.sizes(0)?);
    site.operand(1, from.element, &[])?;
    let (mut low, mut high, mut interior) = (Vec::new(), Vec::new(), Vec::new());
    let attribute = site.need("padding", "low_high_interior, one a dimension with `x` between")?;
    let expected = attribute.read(|cursor| {
        let mut expected = Sizes::new();
        for (dim, size) in size.iter().enumerate() {
            if dim != 0 {
                cursor.expect("x", &format!("`x` and the padding of dimension {dim}"))?;
            }
            let (l, at) = number(cursor, "the padding before")?;
            cursor.expect("_", "`_` and the padding behind")?;
            let h = number(cursor, "the padding behind")?.0;
            let (i, i_at) = if cursor.eat("_") { number(cursor, "the padding between")? } else { (0, at) };
            if i < 0 {
                return Err(Error::at(i_at, format!("padding between elements is at least 0, got {i}")));
            }
            expected.push(match size {
                Some(size) => Some(padded(*size, l, h, i).ok_or_else(|| {
                    Error::at(at, format!("dimension {dim} of {size} elements cannot be padded like this"))
                })?),
                None => None,
            });
            low.push(l);
            high.push(h);
            interior.push(i);
        }
        Ok(expected)
    })?;
    site.gives(&array(from.element, &expected))?;
    Ok(Operation::Pad { low, high, interior })
}

/// What the dimensions of one array in `dim_labels` are: those of two letters, then the spatial ones by their digits.
fn labels(cursor: &mut Cursor, letters: [char; 2], rank: usize) -> Result<(usize, usize, Vec<usize>), Error> {
    let at = cursor.at();
    let text = cursor.rest();
    let text = &text[..text.bytes().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(text.len())];
    let [a, b] = letters;
    let form =
        || Error::at(at, format!("expected `{a}`, `{b}` and digits from 0, {rank} in all, found `{}`", excerpt(text)));
    cursor.advance(text.len());
    // Only places up to the rank are read, each once.
    let place = |c: char| Some(text.char_indices().find(|(_, found)| *found == c)?.0);
    let (Some(first), Some(second), true) = (place(a), place(b), text.len() == rank) else { return Err(form()) };
    let mut spatial: Vec<(u32, usize)> = text.char_indices().filter_map(|(i, c)| Some((c.to_digit(10)?, i))).collect();
    spatial.sort();
    let digits = spatial.iter().enumerate().all(|(i, (digit, _))| i as u32 == *digit);
    if !digits || spatial.len() + 2 != rank {
        return Err(form());
    }
    Ok((first, second, spatial.into_iter().map(|(_, i)| i).collect()))
}

pub(super) fn convolution(site: &Site) -> Found {
    let (input, kernel) = (site.sizes(0)?, site.sizes(1)?);
    let rank = input.len();
    let attribute = site.need("dim_labels", "b01f_01io->b01f")?;
    let ((input_batch, input_feature, input_spatial), of_kernel, (output_batch, output_feature, output_spatial)) =
        attribute.read(|cursor| {
            let of_input = labels(cursor, ['b', 'f'], rank)?;
            cursor.expect("_", "`_` and the kernel's dimensions")?;
            let of_kernel = labels(cursor, ['i', 'o'], kernel.len())?;
            cursor.expect("->", "`->` and the result's dimensions")?;
            Ok((of_input, of_kernel, labels(cursor, ['b', 'f'], rank)?))
        })?;
    let (kernel_input_feature, kernel_output_feature, kernel_spatial) = of_kernel;
    if kernel.len() != rank {
        return Err(site.blame(1, format!("needs a kernel of {}", dimensions(rank))));
    }
    let window = site.window(rank - 2)?;
    for (dim, &place) in window.iter().zip(&kernel_spatial) {
        if let Some(size) = kernel[place].filter(|size| *size != dim.size) {
            return Err(site.wrong("window", format!("has size {} where the kernel has {size}", dim.size)));
        }
    }
    let feature_groups = site.count("feature_group_count", 1, 1)?;
    let batch_groups = site.count("batch_group_count", 1, 1)?;
    let (features, inputs, outputs) =
        (input[input_feature], kernel[kernel_input_feature], kernel[kernel_output_feature]);
    let divides = |n: Option<i64>, groups: i64, name: &str, what: &str| match n.filter(|n| n % groups != 0) {
        Some(n) => Err(site.wrong(name, format!("must divide the {what}, which are {n}"))),
        None => Ok(()),
    };
    divides(features, feature_groups, "feature_group_count", "input features")?;
    divides(outputs, feature_groups, "feature_group_count", "output features")?;
    divides(outputs, batch_groups, "batch_group_count", "output features")?;
    divides(input[input_batch], batch_groups, "batch_group_count", "batches")?;
    let needed = features.map(|n| n / feature_groups);
    if let (Some(needed), false) = (needed, same_size(needed, inputs)) {
        return Err(site.blame(1, format!("needs a kernel of {needed} input features")));
    }
    let mut expected = vec![None; rank];
    expected[output_batch] = input[input_batch].map(|n| n / batch_groups);
    expected[output_feature] = outputs;
    for ((dim, &from), &to) in window.iter().zip(&input_spatial).zip(&output_spatial) {
        expected[to] = site.windows(input[from], dim)?;
    }
    site.result(&expected)?;
    Ok(Operation::Convolution(Box::new(Convolution {
        window,
        input_batch,
        input_feature,
        input_spatial,
        kernel_input_feature,
        kernel_output_feature,
        kernel_spatial,
        output_batch,
        output_feature,
        output_spatial,
        feature_groups,
        batch_groups,
    })))
}

/// The operands from `first` on: one integer scalar for each of `rank` dimensions; or, in older texts, one row of as
/// many, for which there is no operation here.
fn starts(site: &Site, first: usize, rank: usize, operation: Operation) -> Found {
    let found = site.operands.len() - first;
    if found == 1 && site.sizes(first)? == [i64::try_from(rank).ok()] {
        let reason = format!("{}: the starts are one operand, an array", site.raw.opcode);
        return Ok(Operation::Other { reason });
    }
    if found != rank {
        return Err(site.error(format!("needs a start for each of {}, {found} written", dimensions(rank))));
    }
    (first..first + rank).try_for_each(|operand| site.index(operand)).map(|()| operation)
}

pub(super) fn dynamic_slice(site: &Site) -> Found {
    let (from, size) = (site.array(0)?, site.sizes(0)?);
    let sizes = site.block("dynamic_slice_sizes", &size)?;
    site.gives(&array(from.element, &list(&sizes)))?;
    starts(site, 1, size.len(), Operation::DynamicSlice { sizes })
}

pub(super) fn dynamic_update_slice(site: &Site) -> Found {
    let (into, update) = (site.array(0)?, site.array(1)?);
    let (whole, part) = (sizes(into), sizes(update));
    let inside = |(part, whole): (&Option<i64>, &Option<i64>)| part.is_none() || whole.is_none() || part <= whole;
    if whole.len() != part.len() || !part.iter().zip(&whole).all(inside) || !alike(into.element, update.element) {
        return Err(site.blame(1, format!("needs an update that fits into {}", plain(site.operands[0]))));
    }
    site.gives(&array(into.element, &whole))?;
    starts(site, 2, whole.len(), Operation::DynamicUpdateSlice)
}

/// The sizes of the indices but for the dimension that lists an index, whose size comes with them.
fn batches(site: &Site, indices: usize, dim: usize) -> Result<(Sizes, Option<i64>), Error> {
    let mut size = site.sizes(indices)?;
    match dim.cmp(&size.len()) {
        // Each element is an index by itself.
        std::cmp::Ordering::Equal => Ok((size, Some(1))),
        std::cmp::Ordering::Less => {
            let vector = size.remove(dim);
            Ok((size, vector))
        }
        std::cmp::Ordering::Greater => {
            Err(site.wrong("index_vector_dim", format!("is {dim}, the indices have {}", dimensions(size.len()))))
        }
    }
}

/// The dimension of the indices that lists an index, and what is said of each dimension twice.
fn index_vector(site: &Site, indices: usize, map: &str) -> Result<usize, Error> {
    let element = site.array(indices)?.element;
    if !element.is_signed() && !element.is_unsigned() {
        return Err(site.blame(indices, "needs integer indices"));
    }
    site.need("index_vector_dim", "dimension")?;
    site.need(map, "{dimensions}")?;
    let dim = site.count("index_vector_dim", 0, 0)?;
    usize::try_from(dim).map_err(|_| site.wrong("index_vector_dim", "is too large"))
}

/// That an index has an entry for each dimension it is for, and that batching dimensions pair equal sizes.
fn indexed(
    site: &Site,
    (map, map_name): (&[usize], &str),
    vector: Option<i64>,
    (data, data_name, data_sizes): (&[usize], &str, &[Option<i64>]),
    (rows, rows_name, rows_sizes): (&[usize], &str, &[Option<i64>]),
    index_vector_dim: usize,
) -> Result<(), Error> {
    if let Some(n) = vector.filter(|n| i64::try_from(map.len()) != Ok(*n)) {
        return Err(site.wrong(map_name, format!("must have as many entries as an index, {n}")));
    }
    if data.len() != rows.len() {
        return Err(site.wrong(rows_name, format!("must have {}, as `{data_name}`", dimensions(data.len()))));
    }
    for (&d, &r) in data.iter().zip(rows) {
        if r == index_vector_dim {
            return Err(site.wrong(rows_name, "has the dimension that lists an index"));
        }
        if !same_size(data_sizes[d], rows_sizes[r]) {
            return Err(site.wrong(rows_name, format!("pairs dimension {r} with {d}, which has another size")));
        }
    }
    Ok(())
}

/// The dimensions of the data that blocks have no dimension for; those in both lists are an error.
fn dropped(site: &Site, name: &str, a: &[usize], b: &[usize]) -> Result<Vec<usize>, Error> {
    match a.iter().find(|dim| b.contains(dim)) {
        Some(dim) => Err(site.wrong(name, format!("has dimension {dim}, which is a batching dimension too"))),
        None => Ok([a, b].concat()),
    }
}

pub(super) fn gather(site: &Site) -> Found {
    let (from, size, indices) = (site.array(0)?, site.sizes(0)?, site.sizes(1)?);
    let index_vector_dim = index_vector(site, 1, "start_index_map")?;
    let (rows, vector) = batches(site, 1, index_vector_dim)?;
    let start_index_map = site.dims("start_index_map", size.len())?;
    let collapsed_slice_dims = site.rising("collapsed_slice_dims", size.len())?;
    let operand_batching_dims = site.rising("operand_batching_dims", size.len())?;
    let start_indices_batching_dims = site.dims("start_indices_batching_dims", indices.len())?;
    indexed(
        site,
        (&start_index_map, "start_index_map"),
        vector,
        (&operand_batching_dims, "operand_batching_dims", &size),
        (&start_indices_batching_dims, "start_indices_batching_dims", &indices),
        index_vector_dim,
    )?;
    let slice_sizes = site.block("slice_sizes", &size)?;
    let gone = dropped(site, "collapsed_slice_dims", &collapsed_slice_dims, &operand_batching_dims)?;
    if let Some(dim) = gone.iter().find(|dim| slice_sizes[**dim] > 1) {
        return Err(site.wrong("slice_sizes", format!("is {} in dimension {dim}, which is dropped", slice_sizes[*dim])));
    }
    let kept = without(&list(&slice_sizes), &gone);
    let rank = rows.len() + kept.len();
    let offset_dims = site.rising("offset_dims", rank)?;
    if offset_dims.len() != kept.len() {
        return Err(site.wrong("offset_dims", format!("must have {}, as the blocks", dimensions(kept.len()))));
    }
    let (mut kept, mut rows) = (kept.into_iter(), rows.into_iter());
    let expected: Sizes =
        (0..rank).map(|dim| if offset_dims.contains(&dim) { kept.next() } else { rows.next() }.flatten()).collect();
    site.gives(&array(from.element, &expected))?;
    Ok(Operation::Gather(Box::new(Gather {
        offset_dims,
        collapsed_slice_dims,
        operand_batching_dims,
        start_indices_batching_dims,
        start_index_map,
        index_vector_dim,
        slice_sizes,
    })))
}

pub(super) fn scatter(site: &Site) -> Found {
    let n = site.operands.len() / 2;
    if site.operands.len() != 2 * n + 1 {
        return Err(site.error("needs inputs, indices and as many updates as inputs"));
    }
    let (size, indices, updates) = (site.sizes(0)?, site.sizes(n)?, site.sizes(n + 1)?);
    let mut types = Vec::new();
    for input in 0..n {
        let element = site.array(input)?.element;
        site.operand(input, element, &size)?;
        site.operand(n + 1 + input, element, &updates)?;
        types.push(element);
    }
    site.reducer("to_apply", 0, &types)?;
    let index_vector_dim = index_vector(site, n, "scatter_dims_to_operand_dims")?;
    let (rows, vector) = batches(site, n, index_vector_dim)?;
    let to_operand = site.dims("scatter_dims_to_operand_dims", size.len())?;
    let inserted = site.rising("inserted_window_dims", size.len())?;
    let batching = site.rising("input_batching_dims", size.len())?;
    let index_batching = site.dims("scatter_indices_batching_dims", indices.len())?;
    indexed(
        site,
        (&to_operand, "scatter_dims_to_operand_dims"),
        vector,
        (&batching, "input_batching_dims", &size),
        (&index_batching, "scatter_indices_batching_dims", &indices),
        index_vector_dim,
    )?;
    let whole = without(&size, &dropped(site, "inserted_window_dims", &inserted, &batching)?);
    let window = site.rising("update_window_dims", updates.len())?;
    if window.len() != whole.len() {
        return Err(site.wrong("update_window_dims", format!("must have {}, as the blocks", dimensions(whole.len()))));
    }
    if !same_sizes(&without(&updates, &window), &rows) {
        return Err(site.blame(n + 1, "needs updates of one block for each index"));
    }
    for (&dim, whole) in window.iter().zip(&whole) {
        if let Some(whole) = whole.filter(|whole| updates[dim].is_some_and(|part| part > *whole)) {
            return Err(site.blame(n + 1, format!("needs blocks of {whole} at most in dimension {dim}")));
        }
    }
    site.gives(&results(&types, &size))?;
    Ok(Operation::Scatter(Box::new(Gather {
        offset_dims: window,
        collapsed_slice_dims: inserted,
        operand_batching_dims: batching,
        start_indices_batching_dims: index_batching,
        start_index_map: to_operand,
        index_vector_dim,
        slice_sizes: Vec::new(),
    })))
}

pub(super) fn iota(site: &Site) -> Found {
    let Shape::Array(to) = site.shape else {
        return Err(Error::at(site.raw.shape_at, "`iota` gives an array"));
    };
    if to.element == ElementType::Pred || !to.element.is_data() {
        return Err(Error::at(site.raw.shape_at, format!("`iota` gives numbers, {} is written", to.element)));
    }
    Ok(Operation::Iota { dim: site.dim("iota_dimension", to.dims.len())? })
}

/// The value was read by the shape.
pub(super) fn constant(_: &Site) -> Found {
    Ok(Operation::Constant)
}

pub(super) fn parameter(site: &Site) -> Found {
    let number = site.raw.number.and_then(|n| usize::try_from(n).ok());
    number.map(|number| Operation::Parameter { number }).ok_or_else(|| site.error("needs a number"))
}

pub(super) fn tuple(site: &Site) -> Found {
    let parts = match site.shape {
        Shape::Tuple(parts) => &parts[..],
        _ => return Err(Error::at(site.raw.shape_at, "`tuple` gives a tuple")),
    };
    if parts.len() != site.operands.len() {
        let message = format!(
            "the shape has {} for {} of `tuple`",
            count(parts.len(), "part"),
            count(site.operands.len(), "operand")
        );
        return Err(Error::at(site.raw.shape_at, message));
    }
    match parts.iter().zip(&site.operands).position(|(part, operand)| !fits(part, operand)) {
        Some(i) => Err(site.blame(i, format!("needs {} as part {i}", plain(&parts[i])))),
        None => Ok(Operation::Tuple),
    }
}

pub(super) fn get_tuple_element(site: &Site) -> Found {
    let Shape::Tuple(parts) = site.operands[0] else { return Err(site.blame(0, "needs a tuple")) };
    site.need("index", "number")?;
    let index = usize::try_from(site.count("index", 0, 0)?).ok().filter(|i| *i < parts.len());
    let index = index.ok_or_else(|| site.wrong("index", format!("is out of range: the tuple has {}", parts.len())))?;
    if fits(&parts[index], site.shape) {
        return Ok(Operation::GetTupleElement { index });
    }
    let message = format!("part {index} of the tuple is {}, {} is written", plain(&parts[index]), plain(site.shape));
    Err(Error::at(site.raw.shape_at, message))
}

pub(super) fn call(site: &Site) -> Found {
    let key = ["calls", "to_apply"].into_iter().find(|key| site.attribute(key).is_some());
    let usual = if site.raw.opcode == "call" { "to_apply" } else { "calls" };
    let (Some(key), [computation]) = (key, &site.called[..]) else {
        return Err(site.error(format!("needs `{usual}=computation`")));
    };
    site.calls(key, *computation, &site.operands, site.shape)?;
    Ok(Operation::Call { computation: *computation })
}

pub(super) fn while_loop(site: &Site) -> Found {
    site.need("condition", "computation")?;
    site.need("body", "computation")?;
    let [condition, body] = site.called[..] else { return Err(site.error("names a condition and a body")) };
    site.calls("condition", condition, &site.operands, &array(ElementType::Pred, &[]))?;
    site.calls("body", body, &site.operands, site.operands[0])?;
    site.gives(site.operands[0])?;
    Ok(Operation::While { condition, body })
}

pub(super) fn conditional(site: &Site) -> Found {
    let (pred, index) = match site.array(0)? {
        Array { element: ElementType::Pred, dims, .. } if dims.is_empty() => (true, false),
        Array { element: ElementType::S32, dims, .. } if dims.is_empty() => (false, true),
        _ => (false, false),
    };
    if !pred && !index {
        return Err(site.blame(0, "needs pred[] or s32[]"));
    }
    let keys: &[&str] = match site.attribute("branch_computations") {
        Some(_) => &["branch_computations"],
        None => &["true_computation", "false_computation"],
    };
    for key in keys {
        site.need(key, if keys.len() == 1 { "{computations}" } else { "computation" })?;
    }
    let branches = site.called.clone();
    if pred && branches.len() != 2 {
        return Err(site.wrong(keys[0], format!("needs 2 computations, {} named", branches.len())));
    }
    if branches.len() + 1 != site.operands.len() {
        let (branches, found) = (count(branches.len(), "branch"), site.operands.len() - 1);
        return Err(site.error(format!("needs one operand more for each of {branches}, {found} written")));
    }
    for (i, &branch) in branches.iter().enumerate() {
        site.calls(keys[i.min(keys.len() - 1)], branch, &site.operands[i + 1..i + 2], site.shape)?;
    }
    Ok(Operation::Conditional { branches })
}

pub(super) fn custom_call(site: &Site) -> Found {
    let target = site.need("custom_call_target", "\"name\"")?;
    if !target.text.starts_with('"') {
        return Err(site.wrong("custom_call_target", "is a name in quotes"));
    }
    other(site)
}

pub(super) fn token(site: &Site) -> Found {
    site.gives(&array(ElementType::Token, &[]))?;
    other(site)
}

pub(super) fn sort(site: &Site) -> Found {
    let size = site.sizes(0)?;
    site.dim("dimensions", size.len())?;
    let mut types = Vec::new();
    for operand in 0..site.operands.len() {
        let element = site.array(operand)?.element;
        site.operand(operand, element, &size)?;
        types.push(element);
    }
    let pairs: Vec<ElementType> = types.iter().flat_map(|element| [*element; 2]).collect();
    site.region("to_apply", 0, &pairs, &[ElementType::Pred])?;
    site.gives(&results(&types, &size))?;
    other(site)
}

/// One computation selects an element in each window of the first operand; another puts those of the second there.
pub(super) fn select_and_scatter(site: &Site) -> Found {
    let (from, size) = (site.array(0)?, site.sizes(0)?);
    let window = site.window(size.len())?;
    let source: Sizes = size.iter().zip(&window).map(|(n, dim)| site.windows(*n, dim)).collect::<Result<_, _>>()?;
    site.operand(1, from.element, &source)?;
    site.operand(2, from.element, &[])?;
    site.region("select", 0, &[from.element; 2], &[ElementType::Pred])?;
    site.reducer("scatter", 1, &[from.element])?;
    site.gives(site.operands[0])?;
    other(site)
}
