//! The `layout` dialect of MLIR: layouts as tensor encodings and memref layouts.
//!
//! `Layout.td` lists the attributes and operations; C++ generated from it calls the bodies in this crate. What a layout
//! means is the business of [`layout`], which knows no MLIR; here are the rules that tie a layout to a type.
//!
//! ```
//! use layout::{layout::Layout, map::Indexing, tensor_layout::TensorLayout};
//! use melior::{Context, dialect::DialectRegistry, ir::Attribute};
//!
//! let registry = DialectRegistry::new();
//! layout_dialect::register(&registry);
//! let context = Context::new_with_registry(&registry, false);
//! context.load_all_available_dialects();
//!
//! let layout = Layout::parse("{1,0:T(8,128)(2,1)}").unwrap();
//! let attribute = layout_dialect::tiled_attribute(&context, &layout);
//! assert_eq!(attribute.to_string(), "#layout.tiled<{1,0:T(8,128)(2,1)}>");
//! assert_eq!(Attribute::parse(&context, "#layout.tiled<{1,0:T(8,128)(2,1)}>"), Some(attribute));
//! assert_eq!(layout_dialect::tiled(attribute), Some(layout));
//! let map = layout_dialect::affine_map(Attribute::parse(&context, "#layout.tiled<{1,0:T(8,128)}>").unwrap()).unwrap();
//! assert_eq!(map.to_string(), "(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)");
//!
//! let rows = TensorLayout::parse("((4_PE, 3:8), (8:1))").unwrap();
//! let attribute_of_rows = layout_dialect::tensor_layout_attribute(&context, &rows);
//! assert_eq!(attribute_of_rows.to_string(), "#layout.tensor_layout<((4_PE, 3:8), (8:1))>");
//! assert_eq!(layout_dialect::tensor_layout(attribute_of_rows), Some(rows));
//!
//! let map = Indexing::parse("(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 7]").unwrap();
//! let attribute_of_map = layout_dialect::indexing_map_attribute(&context, &map);
//! assert_eq!(layout_dialect::indexing_map(attribute_of_map), Some(map));
//!
//! let pending = layout_dialect::pending_attribute(attribute);
//! assert_eq!(pending.to_string(), format!("#layout.pending<{attribute}>"));
//! assert_eq!(layout_dialect::pending(pending), Some(attribute));
//!
//! let vmem = layout_dialect::memory_space_attribute(&context, 1);
//! assert_eq!(vmem.to_string(), "#layout.memory_space<vmem>");
//! assert_eq!(layout_dialect::memory_space(vmem), Some(1));
//! assert_eq!(layout_dialect::tiled(vmem), None);
//!
//! let pe = layout_dialect::axis_attribute(&context, "PE", 1);
//! assert_eq!(pe.to_string(), "#layout.axis<\"PE\", level = 1>");
//! assert_eq!(layout_dialect::axis(pe), Some(("PE".to_string(), 1)));
//!
//! // Attributes are made in any context whose registry has the dialect, and in no other.
//! let unloaded = Context::new_with_registry(&registry, false);
//! assert_eq!(layout_dialect::memory_space_attribute(&unloaded, 5).to_string(), "#layout.memory_space<host>");
//! assert!(layout_dialect::load(&Context::new()).is_err());
//! ```
//!
//! [`convert`] builds the operation of that name.
//!
//! # In a package of its own
//!
//! Cargo takes neither environment nor linker arguments from a dependency, so a package that depends on this one has
//! two files beside its source. `examples/embed-rust` is such a package. Its `.cargo/config.toml` says where LLVM is:
//!
#![doc = concat!("```toml\n", include_str!("../examples/embed-rust/.cargo/config.toml"), "```")]
//!
//! Its `build.rs` hands that on to the executable; it depends on this package directly, else Cargo does not tell it:
//!
#![doc = concat!("```rust,no_run\n", include_str!("../examples/embed-rust/build.rs"), "```")]
#![deny(unsafe_code)]

pub mod affine;
mod attribute;
mod convert;
#[allow(unsafe_code, reason = "the one place where C++ and Rust meet")]
mod ffi;
mod indexing_map;
mod machine;
mod memory_space;
pub mod tensor_layout;
pub mod tiled;

pub use convert::convert;
pub use ffi::{
    affine_map, attribute_from_text, axis, axis_attribute, indexing_affine_map, indexing_map, indexing_map_attribute,
    load, machine, machine_attribute, memory_space, memory_space_attribute, pending, pending_attribute, register,
    shape, tensor_layout, tensor_layout_attribute, text, tiled, tiled_attribute,
};
pub use machine::{FEEDS, MACHINE, MANUAL_DEALLOCATION, READS};

// For the other crates of this project alone.
#[doc(hidden)]
pub use attribute::complaint;
#[doc(hidden)]
pub use ffi::{guard, register_raw};
#[doc(hidden)]
pub use memory_space::verify as verify_memory_space;
#[doc(hidden)]
pub use tiled::bits as element_bits;

#[cfg(test)]
mod tests {
    use super::*;
    use layout::{layout::Layout, machine::Machine, map::Indexing, tensor_layout::TensorLayout};
    use melior::{Context, dialect::DialectRegistry};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// In a context whose registry has the dialect it is loaded; in any other there is a panic that says so.
    #[test]
    fn attributes_load_the_dialect() {
        let layout = Layout::parse("{1,0}").unwrap();
        let rows = TensorLayout::parse("((4_PE))").unwrap();
        let machine = Machine::parse("mn_core").unwrap();
        let map = Indexing::parse("KNOWN EMPTY").unwrap();
        let makers: [&dyn Fn(&Context) -> String; 6] = [
            &|context| tiled_attribute(context, &layout).to_string(),
            &|context| tensor_layout_attribute(context, &rows).to_string(),
            &|context| machine_attribute(context, &machine).to_string(),
            &|context| indexing_map_attribute(context, &map).to_string(),
            &|context| memory_space_attribute(context, 1).to_string(),
            &|context| axis_attribute(context, "PE", 0).to_string(),
        ];
        let registry = DialectRegistry::new();
        register(&registry);
        for make in makers {
            assert!(make(&Context::new_with_registry(&registry, false)).starts_with("#layout."));
            let bare = Context::new();
            let panic = catch_unwind(AssertUnwindSafe(|| make(&bare))).unwrap_err();
            let message = panic.downcast_ref::<String>().expect("a message");
            assert_eq!(message, "the layout dialect of this library is not registered in the context");
        }
    }
}
