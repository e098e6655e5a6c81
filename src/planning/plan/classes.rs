//! The layouts that arrays may have: a list for each class of arrays of one element type and the same sizes.
//!
//! All orders up to rank 4, and of more dimensions those of all pairs of a minor and a second-minor one, the least padded
//! first, with the tiles that the target has for each; then what operations make of their neighbours' layouts. Orders that
//! place every element alike in as many bytes, since they differ only in dimensions of size 1, are one.

use super::digits::{OffsetDigit, by_dimension, in_a_row};
use super::program::{EntryOrders, Program};
use rustc_hash::FxHashMap;
use tensor_layout::element::ElementType;
use tensor_layout::operations::shape::Array;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;
use tensor_layout::tiled::expansion::Expansion;
use tensor_layout::tiled::layout::Layout;

/// The number of a layout in the list of its class.
pub type LayoutId = u16;

/// The most layouts of a class, those that a program gives apart.
pub const MOST_LAYOUTS: usize = 40;

/// The most entries whose orders a program is offered.
pub const MOST_OFFERED: usize = 64;

/// How many orders of minor pairs are taken for arrays of many dimensions.
const MOST_PAIRS: usize = 24;

/// Arrays of one element type and the same sizes.
#[derive(Clone, Debug)]
pub struct ArrayClass {
    /// The type of their elements.
    pub element: ElementType,
    /// Their sizes.
    pub sizes: Vec<i64>,
    /// The layouts that they may have; the first is the target's default.
    pub layouts: Vec<Layout>,
    /// The bytes that each takes.
    pub bytes: Vec<i64>,
    /// Where each puts the elements of the row-major numbering; `None` where that is not known as digits.
    pub rows: Vec<Option<Vec<OffsetDigit>>>,
    /// The layouts by the digits of their dimensions and their bytes.
    placed: FxHashMap<(Vec<Vec<OffsetDigit>>, i64), LayoutId>,
}

impl ArrayClass {
    /// The number of a layout, or of one that places all elements alike.
    fn number(&self, layout: &Layout) -> Option<LayoutId> {
        match self.layouts.iter().position(|known| known == layout) {
            Some(known) => LayoutId::try_from(known).ok(),
            None => self.placed.get(&placement(self, layout)?).copied(),
        }
    }
}

/// All classes of a program.
pub struct LayoutClasses<'t> {
    /// The target, whose rule gives the tiles of an order.
    pub target: &'t Target,
    /// The classes.
    pub all: Vec<ArrayClass>,
    numbers: FxHashMap<(ElementType, Vec<i64>), usize>,
}

impl<'t> LayoutClasses<'t> {
    /// No classes.
    pub fn new(target: &'t Target) -> LayoutClasses<'t> {
        LayoutClasses { target, all: Vec::new(), numbers: FxHashMap::default() }
    }

    /// The number of the class of an array.
    ///
    /// # Errors
    /// A size is not bounded, or the padded bytes of the array do not fit in 64 bits.
    pub fn of(&mut self, array: &Array) -> Result<usize, Error> {
        let sizes = array.sizes().ok_or_else(|| Error::new("the sizes must be bounded, found `?`").unsupported())?;
        let key = (array.element, sizes);
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        let number = self.all.len();
        self.all.push(ArrayClass {
            element: array.element,
            sizes: key.1.clone(),
            layouts: Vec::new(),
            bytes: Vec::new(),
            rows: Vec::new(),
            placed: FxHashMap::default(),
        });
        self.numbers.insert(key.clone(), number);
        let (element, sizes) = key;
        if !element.is_data() {
            // A token is no data: it has one layout, and no bytes.
            let class = &mut self.all[number];
            class.layouts.push(Layout::row_major(0));
            class.bytes.push(0);
            class.rows.push(Some(Vec::new()));
            return Ok(number);
        }
        let default = self.target.default_layout(element, &sizes)?;
        self.add(number, default);
        let descending: Vec<usize> = (0..sizes.len()).rev().collect();
        self.offer(number, &descending);
        let most = if sizes.len() > Target::ALL_ORDERS { MOST_PAIRS } else { usize::MAX };
        for ranked in self.target.layouts(element, &sizes)?.into_iter().take(most) {
            self.add(number, ranked.layout);
        }
        Ok(number)
    }

    /// Adds a layout that the program gives to an array, as it is; one without tiles is an order where the target has
    /// tiles.
    pub fn given(&mut self, class: usize, layout: &Layout) -> Option<LayoutId> {
        let own = &self.all[class];
        if !own.element.is_data() {
            return Some(0);
        }
        if !layout.is_tiled()
            && self.target.has_tiles()
            && let Some(known) = self.offer(class, &layout.minor_to_major)
        {
            return Some(known);
        }
        let (own, exact) = (&self.all[class], Layout { memory_space: 0, ..layout.clone() });
        if let Some(known) = own.layouts.iter().position(|known| *known == exact) {
            return LayoutId::try_from(known).ok();
        }
        self.push(class, exact)
    }

    /// Adds a layout that an array keeps, exactly as it is, but for the memory space.
    ///
    /// # Errors
    /// The layout has no meaning on the array.
    pub fn fixed(&mut self, class: usize, layout: &Layout) -> Result<LayoutId, Error> {
        let own = &self.all[class];
        let exact = Layout { memory_space: 0, ..layout.clone() };
        if !own.element.is_data() {
            return Ok(0);
        }
        if let Some(known) = own.layouts.iter().position(|known| *known == exact) {
            return LayoutId::try_from(known).map_err(|_| Error::new("the array has too many layouts").too_large());
        }
        Expansion::new(&own.sizes, &exact)?.padded_bytes(own.element)?;
        self.push(class, exact).ok_or_else(|| Error::new("the array has too many layouts").too_large())
    }

    /// The number of the layout with this order; adds it where there is room.
    pub fn offer(&mut self, class: usize, order: &[usize]) -> Option<LayoutId> {
        let own = &self.all[class];
        if !own.element.is_data() {
            return Some(0);
        }
        let layout = self.target.layout(own.element, &own.sizes, order).ok()?;
        self.add(class, layout)
    }

    /// Adds the layouts of orders of a program's arguments and results, however many layouts there are.
    ///
    /// # Errors
    /// There are more than [`MOST_OFFERED`], an entry has another number of orders than there are arrays, or an order does not
    /// fit its array.
    pub fn offer_entries(&mut self, program: &Program, entries: &[EntryOrders]) -> Result<(), Error> {
        let arrays = program.entry_arrays().concat();
        if entries.len() > MOST_OFFERED {
            let message = format!("expected at most {MOST_OFFERED} entries with orders, found {}", entries.len());
            return Err(Error::new(message).too_large());
        }
        for orders in entries {
            if orders.len() != arrays.len() {
                let message =
                    format!("expected {} orders of arguments and results, found {}", arrays.len(), orders.len());
                return Err(Error::new(message));
            }
            for (made, order) in arrays.iter().zip(orders) {
                let class = self.of(program.made[*made].array)?;
                if self.find(class, order).is_none() {
                    let own = &self.all[class];
                    let layout = self.target.layout(own.element, &own.sizes, order)?;
                    self.fixed(class, &layout)?;
                }
            }
        }
        Ok(())
    }

    /// The number of the layout that places all elements as this order does, if it is there.
    pub fn find(&self, class: usize, order: &[usize]) -> Option<LayoutId> {
        let own = &self.all[class];
        if !own.element.is_data() {
            return Some(0);
        }
        let layout = self.target.layout(own.element, &own.sizes, order).ok()?;
        own.number(&layout)
    }

    /// Adds a layout where there is room, unless one is there that places all elements alike: the number of that.
    fn add(&mut self, class: usize, layout: Layout) -> Option<LayoutId> {
        let own = &self.all[class];
        match own.number(&layout) {
            None if own.layouts.len() < MOST_LAYOUTS => self.push(class, layout),
            known => known,
        }
    }

    fn push(&mut self, class: usize, layout: Layout) -> Option<LayoutId> {
        let own = &mut self.all[class];
        let bytes = Expansion::new(&own.sizes, &layout).and_then(|all| all.padded_bytes(own.element)).ok()?;
        let number = LayoutId::try_from(own.layouts.len()).ok()?;
        let digits = by_dimension(&own.sizes, &layout);
        own.rows.push(digits.as_deref().map(in_a_row));
        if let Some(digits) = digits {
            own.placed.entry((digits, bytes)).or_insert(number);
        }
        own.layouts.push(layout);
        own.bytes.push(bytes);
        Some(number)
    }

    /// The array of a class in one of its layouts.
    pub fn array(&self, class: usize, layout: LayoutId, space: u8) -> Array {
        let own = &self.all[class];
        let dims = own.sizes.iter().map(|size| tensor_layout::operations::shape::Dim::Exact(*size)).collect();
        let layout = Layout { memory_space: space, ..own.layouts[usize::from(layout)].clone() };
        Array { element: own.element, dims, layout }
    }
}

/// Where a layout puts the elements of an array of a class, by dimension, and the bytes that it takes.
fn placement(class: &ArrayClass, layout: &Layout) -> Option<(Vec<Vec<OffsetDigit>>, i64)> {
    let bytes = Expansion::new(&class.sizes, layout).and_then(|all| all.padded_bytes(class.element)).ok()?;
    Some((by_dimension(&class.sizes, layout)?, bytes))
}
