//! The list of notations.

use crate::text::{Error, excerpt, from_str, instead};

macro_rules! notations {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// A notation of layouts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Notation {
            $($(#[$doc])* $variant,)*
        }

        impl Notation {
            /// All of them.
            pub const ALL: &'static [Notation] = &[$(Notation::$variant,)*];

            /// Their names.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// The name of the notation.
            pub fn name(self) -> &'static str {
                match self { $(Notation::$variant => $name,)* }
            }

            /// Reads the name of a notation.
            ///
            /// # Errors
            /// An unknown name.
            ///
            /// ```
            /// use tensor_layout::notations::Notation;
            /// assert_eq!("cute".parse(), Ok(Notation::Cute));
            /// let error = "cude".parse::<Notation>().unwrap_err();
            /// assert_eq!(error.to_string(), "unknown notation `cude`; did you mean `cute`?");
            /// ```
            pub fn parse(name: &str) -> Result<Notation, Error> {
                match name {
                    $($name => Ok(Notation::$variant),)*
                    _ => {
                        let message = format!("unknown notation `{}`{}", excerpt(name), instead(name, Notation::NAMES));
                        Err(Error::at(0, message).unknown())
                    }
                }
            }
        }
    };
}

notations! {
    /// XLA's shapes: `f32[16,256]{1,0:T(8,128)}`.
    Tiled "tiled",
    /// `(16,256)/((2:2048, 8:128), (2:1024, 128:1))`.
    TensorLayout "tensor-layout",
    /// MLIR's `memref<16x256xf32, affine_map<..>>`.
    AffineMap "affine-map",
    /// CuTe: `((8,2),(128,2)):((128,2048),(1,1024))`.
    Cute "cute",
    /// Triton: `#ttg.linear<..>`, `#ttg.shared_linear<..>`.
    Triton "triton",
    /// Mosaic: `memref<16x256xf32, #tpu.tiled<(8,128),[2,1]>>`.
    Mosaic "mosaic",
    /// IREE: `#iree_encoding.layout<[..]>`.
    Iree "iree",
    /// MLIR's `linalg.pack`.
    Pack "pack",
    /// NumPy: `shape=(16, 256), strides=(1024, 4), itemsize=4`.
    Numpy "numpy",
    /// JAX: `Layout(major_to_minor=(0, 1), tiling=((8, 128),))`.
    Jax "jax",
    /// HLO: `f32[16,256]{1,0} sharding={devices=[2,4]<=[8]}`.
    Sharding "sharding",
    /// Shardy: `f32[16,256]{1,0} #sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {"y"}]>`.
    Shardy "shardy",
}

from_str!(Notation: Error);
