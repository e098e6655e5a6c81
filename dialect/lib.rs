//! The `layout` dialect of MLIR: layouts as tensor encodings and memref layouts.
//!
//! `Layout.td` lists the attributes and operations; C++ generated from it calls the functions of `exports.rs`. The
//! crate [`tensor_layout`](::tensor_layout) computes with layouts and knows no MLIR; here are the rules for a layout on
//! a type.
//!
//! # Rooms
//!
//! A file uses only files above it; `test/rules/arrows.rs` reads this table and the imports.
//!
//! | file | what it holds | uses |
//! |---|---|---|
//! | `advice` | notes for upstream's errors on memrefs without strides | |
//! | `affine` | expressions of `tensor-layout` as `AffineExpr` and back | |
//! | `axis` | the rule of `#layout.axis` | |
//! | `context` | references to MLIR contexts | |
//! | `guard` | panics become diagnostics at the border to C++ | |
//! | `strings` | texts between Rust and C++ | |
//! | `indexing_map` | indexing maps as `AffineMap` with a domain | `affine` |
//! | `imports` | C++ that Rust calls, each call in a safe function | `indexing_map`, `strings` |
//! | `element` | bits of element types | `imports` |
//! | `convert` | the rules of `layout.convert` | `imports` |
//! | `tiled_rules` | tiled layouts: affine map, strides, checks against a type | `element` |
//! | `tensor_layout_rules` | the same for TensorLayouts | `affine`, `element` |
//! | `swizzled_rules` | the same for swizzled layouts | `element` |
//! | `attribute` | the text of each attribute | `indexing_map` |
//! | `values` | attributes to values of `tensor-layout` and back | `attribute`, `axis`, `context`, `imports`, `indexing_map`, `swizzled_rules`, `tensor_layout_rules`, `tiled_rules` |
//! | `movement` | movement between two types of a tensor | `element`, `imports`, `values` |
//! | `machine` | the rules of `layout.machine` | `element`, `imports`, `tensor_layout_rules`, `values` |
//! | `exports` | functions for C++: `layout_rs_*` | `advice`, `attribute`, `axis`, `context`, `convert`, `guard`, `imports`, `indexing_map`, `machine`, `strings`, `tensor_layout_rules`, `tiled_rules`, `values` |
//! | `queries` | further functions for C++: layouts from numbers, bytes, movement, swizzled layouts | `attribute`, `context`, `exports`, `machine`, `movement`, `strings`, `swizzled_rules`, `tensor_layout_rules`, `tiled_rules`, `values` |
//!
//! # Example
//!
//! ```
//! use tensor_layout::maps::Indexing;
//! use tensor_layout::places::TensorLayout;
//! use tensor_layout::swizzled::SwizzledLayout;
//! use tensor_layout::tiled::Layout;
//! use melior::{Context, dialect::DialectRegistry, ir::Attribute};
//!
//! let registry = DialectRegistry::new();
//! layout_dialect::register(&registry);
//! let context = Context::new_with_registry(&registry, false);
//! context.load_all_available_dialects();
//!
//! let layout = Layout::parse("{1,0:T(8,128)(2,1)}").unwrap();
//! let attribute = layout_dialect::tiled_attribute(&context, &layout).unwrap();
//! assert_eq!(attribute.to_string(), "#layout.tiled<{1,0:T(8,128)(2,1)}>");
//! assert_eq!(Attribute::parse(&context, "#layout.tiled<{1,0:T(8,128)(2,1)}>"), Some(attribute));
//! assert_eq!(layout_dialect::tiled(attribute), Some(layout));
//! let map = layout_dialect::affine_map(Attribute::parse(&context, "#layout.tiled<{1,0:T(8,128)}>").unwrap()).unwrap();
//! assert_eq!(map.to_string(), "(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)");
//!
//! let rows = TensorLayout::parse("((4_PE, 3:8), (8:1))").unwrap();
//! let attribute_of_rows = layout_dialect::tensor_layout_attribute(&context, &rows).unwrap();
//! assert_eq!(attribute_of_rows.to_string(), "#layout.tensor_layout<((4_PE, 3:8), (8:1))>");
//! assert_eq!(layout_dialect::tensor_layout(attribute_of_rows), Some(rows));
//!
//! let swizzled = SwizzledLayout::parse("Sw<3,3,3> o {1,0}").unwrap();
//! let attribute_of_swizzled = layout_dialect::swizzled_attribute(&context, &swizzled).unwrap();
//! assert_eq!(attribute_of_swizzled.to_string(), "#layout.swizzled<Sw<3,3,3> o {1,0}>");
//! assert_eq!(layout_dialect::swizzled(attribute_of_swizzled), Some(swizzled));
//!
//! let map = Indexing::parse("(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 7]").unwrap();
//! let attribute_of_map = layout_dialect::indexing_map_attribute(&context, &map).unwrap();
//! assert_eq!(layout_dialect::indexing_map(attribute_of_map), Some(map));
//!
//! let pending = layout_dialect::pending_attribute(attribute).unwrap();
//! assert_eq!(pending.to_string(), format!("#layout.pending<{attribute}>"));
//! assert_eq!(layout_dialect::pending(pending), Some(attribute));
//!
//! let vmem = layout_dialect::memory_space_attribute(&context, 1).unwrap();
//! assert_eq!(vmem.to_string(), "#layout.memory_space<vmem>");
//! assert_eq!(layout_dialect::memory_space(vmem), Some(1));
//! assert_eq!(layout_dialect::tiled(vmem), None);
//!
//! let pe = layout_dialect::axis_attribute(&context, "PE", 1).unwrap();
//! assert_eq!(pe.to_string(), "#layout.axis<\"PE\", level = 1>");
//! assert_eq!(layout_dialect::axis(pe), Some(("PE".to_string(), 1)));
//!
//! // Attributes are made in any context whose registry has the dialect, and in no other.
//! let unloaded = Context::new_with_registry(&registry, false);
//! assert_eq!(layout_dialect::memory_space_attribute(&unloaded, 5).unwrap().to_string(), "#layout.memory_space<host>");
//! assert!(layout_dialect::load(&Context::new()).is_err());
//! ```
//!
//! [`convert`] builds the operation of that name.
//!
//! # In a package of its own
//!
//! Cargo takes neither environment nor linker arguments from a dependency, so a package that depends on this one has
//! two files beside its source. `examples/embed-rust` is such a package. Its `.cargo/config.toml` has the location of
//! LLVM:
//!
#![doc = concat!("```toml\n", include_str!("embed-rust/config.toml"), "```")]
//!
//! Its `build.rs` adds it to the executable's library path. Cargo gives a build script the variable of its direct
//! dependencies only, so the package must depend on this one directly:
//!
#![doc = concat!("```rust,no_run\n", include_str!("embed-rust/build.rs"), "```")]
#![deny(unsafe_code)]

mod advice;
pub mod affine;
mod attribute;
mod axis;
#[allow(unsafe_code, reason = "a reference that outlives the handle it was made from")]
mod context;
mod convert;
pub mod element;
#[allow(unsafe_code, reason = "C++ calls it, with pointers")]
mod exports;
mod guard;
#[allow(unsafe_code, reason = "it calls C++")]
mod imports;
mod indexing_map;
mod machine;
mod movement;
#[allow(unsafe_code, reason = "C++ calls it, with pointers")]
mod queries;
#[allow(unsafe_code, reason = "texts from C++ are pointers")]
mod strings;
pub mod swizzled_rules;
pub mod tensor_layout_rules;
pub mod tiled_rules;
mod values;

pub use context::borrowed;
pub use convert::convert;
pub use imports::{load, register, resource_data, resource_with_type, shape};
pub use machine::{
    COST, FEEDS, MACHINE, MANUAL_DEALLOCATION, MODEL, ORIGINS, PADDING, READS, TRIP_COUNT, default_layout,
    has_no_model, local_bytes,
};
pub use movement::movement;
pub use values::{
    affine_map, attribute_from_text, axis, axis_attribute, indexing_affine_map, indexing_map, indexing_map_attribute,
    layout, machine, machine_attribute, memory_space, memory_space_attribute, pending, pending_attribute, swizzled,
    swizzled_attribute, tensor_layout, tensor_layout_attribute, text, tiled, tiled_attribute,
};

// For the other crates of this project alone.
#[doc(hidden)]
pub use attribute::complaint;
#[doc(hidden)]
pub use guard::guard;
#[doc(hidden)]
pub use imports::register_raw;
#[doc(hidden)]
pub use strings::{bytes, hand_over, string_ref, with_message};

#[cfg(test)]
mod tests {
    use super::*;
    use ::tensor_layout::maps::Indexing;
    use ::tensor_layout::places::{Machine, TensorLayout};
    use ::tensor_layout::swizzled::SwizzledLayout;
    use ::tensor_layout::text::Error;
    use ::tensor_layout::tiled::Layout;
    use melior::{Context, dialect::DialectRegistry, ir::Attribute};

    fn registry() -> DialectRegistry {
        let registry = DialectRegistry::new();
        register(&registry);
        registry
    }

    /// Loads the dialect in a context whose registry has it; any other context gets an error that says so.
    #[test]
    fn attributes_load_the_dialect() {
        let layout = Layout::parse("{1,0}").unwrap();
        let rows = TensorLayout::parse("((4_PE))").unwrap();
        let swizzled = SwizzledLayout::parse("Sw<3,3,3> o {1,0}").unwrap();
        let machine = Machine::parse("mn_core").unwrap();
        let map = Indexing::parse("KNOWN EMPTY").unwrap();
        let text = |made: Result<Attribute, Error>| made.map(|attribute| attribute.to_string());
        type Maker<'a> = &'a dyn Fn(&Context) -> Result<String, Error>;
        let makers: [Maker; 7] = [
            &|context| text(tiled_attribute(context, &layout)),
            &|context| text(tensor_layout_attribute(context, &rows)),
            &|context| text(swizzled_attribute(context, &swizzled)),
            &|context| text(machine_attribute(context, &machine)),
            &|context| text(indexing_map_attribute(context, &map)),
            &|context| text(memory_space_attribute(context, 1)),
            &|context| text(axis_attribute(context, "PE", 0)),
        ];
        for make in makers {
            assert!(make(&Context::new_with_registry(&registry(), false)).unwrap().starts_with("#layout."));
            let error = make(&Context::new()).unwrap_err();
            assert_eq!(error.message, "the layout dialect of this library is not registered in the context");
        }
    }

    /// Values without an attribute are errors and no panics.
    #[test]
    fn values_that_no_attribute_holds_are_errors() {
        let context = Context::new_with_registry(&registry(), false);
        let of_map =
            |text: &str| indexing_map_attribute(&context, &Indexing::parse(text).unwrap()).unwrap_err().message;
        let least = "(d0) -> (min(d0, 5)), domain: d0 in [0, 9]";
        assert_eq!(of_map(least), format!("an affine map cannot hold `{least}`: it has a minimum or maximum"));
        let large = format!("(d0, d1) -> (d0 * {0} + d1 * {0}), domain: d0 in [0, 0], d1 in [0, 0]", i64::MAX - 1);
        assert!(of_map(&large).ends_with("it has coefficients whose sum does not fit in 64 bits"));
        assert!(memory_space_attribute(&context, 128).unwrap_err().message.ends_with("found 128"));
        assert!(axis_attribute(&context, "4", 0).is_err());
        assert!(axis_attribute(&context, "PE", usize::MAX).is_err());
        let vmem = memory_space_attribute(&context, 1).unwrap();
        let error = pending_attribute(vmem).unwrap_err().message;
        assert_eq!(
            error,
            "expected #layout.tiled, #layout.tensor_layout or #layout.swizzled, found #layout.memory_space<vmem>"
        );
    }
}
