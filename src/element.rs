//! Element types, under the names that XLA prints.
//!
//! A type has two sizes: its own in bits (`pred` 1, `s4` 4, `c64` 64), and the whole bytes of an element where the
//! layout does not say otherwise (`pred` and `s4` one byte each). `token` and `opaque` are not data and have neither.

use crate::text::{Error, did_you_mean, excerpt, from_str};
use std::fmt;

macro_rules! element_types {
    ($($variant:ident $name:literal $bits:literal,)*) => {
        /// The type of an array's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ElementType {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl ElementType {
            /// Every type, in the order of this list.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$variant,)*];

            /// The name in a shape's text, in lower case.
            pub fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $name,)* }
            }

            /// The type of that name; [`ElementType::parse`] has an error for an unknown name.
            pub fn from_name(name: &str) -> Option<ElementType> {
                match name {
                    $($name => Some(ElementType::$variant),)*
                    _ => None,
                }
            }

            /// The size in bits; `None` if the type is not data.
            pub fn bits(self) -> Option<i64> {
                let bits = match self { $(ElementType::$variant => $bits,)* };
                (bits != 0).then_some(bits)
            }
        }
    };
}

element_types! {
    Pred "pred" 1,
    S1 "s1" 1, S2 "s2" 2, S4 "s4" 4, S8 "s8" 8, S16 "s16" 16, S32 "s32" 32, S64 "s64" 64,
    U1 "u1" 1, U2 "u2" 2, U4 "u4" 4, U8 "u8" 8, U16 "u16" 16, U32 "u32" 32, U64 "u64" 64,
    F16 "f16" 16, BF16 "bf16" 16, F32 "f32" 32, F64 "f64" 64,
    F8E5M2 "f8e5m2" 8, F8E4M3 "f8e4m3" 8, F8E4M3FN "f8e4m3fn" 8, F8E4M3B11FNUZ "f8e4m3b11fnuz" 8, F8E3M4 "f8e3m4" 8,
    F8E5M2FNUZ "f8e5m2fnuz" 8, F8E4M3FNUZ "f8e4m3fnuz" 8, F4E2M1FN "f4e2m1fn" 4, F8E8M0FNU "f8e8m0fnu" 8,
    C64 "c64" 64, C128 "c128" 128,
    Token "token" 0, Opaque "opaque" 0,
}

impl ElementType {
    /// Reads the name of a type.
    ///
    /// # Errors
    /// An unknown name.
    ///
    /// ```
    /// use tensor_layout::element::ElementType;
    /// assert_eq!("bf16".parse(), Ok(ElementType::BF16));
    /// let error = "bf61".parse::<ElementType>().unwrap_err();
    /// assert_eq!(error.to_string(), "unknown element type `bf61`; did you mean `bf16`?");
    /// let error = "float32".parse::<ElementType>().unwrap_err();
    /// assert_eq!(error.to_string(), "unknown element type `float32`; XLA writes `f32`");
    /// ```
    pub fn parse(name: &str) -> Result<ElementType, Error> {
        ElementType::from_name(name).ok_or_else(|| {
            if name.is_empty() {
                return Error::at(0, "expected an element type, found none").syntax();
            }
            let hint = match ElementType::from_foreign_name(name) {
                Some(element) => format!("; XLA writes `{element}`"),
                None => did_you_mean(name, ElementType::ALL.iter().map(|t| t.name())),
            };
            Error::at(0, format!("unknown element type `{}`{hint}", excerpt(name))).unknown()
        })
    }

    /// The type with this name in NumPy and JAX (`bfloat16`, `float8_e4m3fn`, `uint4`, `bool`), C (`double`) or MLIR
    /// (`i32`, `ui8`, `f8E4M3FN`).
    pub fn from_foreign_name(name: &str) -> Option<ElementType> {
        let lower = name.to_ascii_lowercase().replace('_', "");
        match &*lower {
            "bool" | "i1" => return Some(ElementType::Pred),
            "half" => return Some(ElementType::F16),
            "float" => return Some(ElementType::F32),
            "double" => return Some(ElementType::F64),
            _ => {}
        }
        // NumPy's prefixes come before MLIR's, since some of NumPy's begin with those.
        const PREFIXES: [(&str, &str); 9] = [
            ("bfloat", "bf"),
            ("float", "f"),
            ("uint", "u"),
            ("int", "s"),
            ("complex", "c"),
            ("ui", "u"),
            ("si", "s"),
            ("i", "s"),
            ("", ""),
        ];
        let named = |(theirs, ours)| ElementType::from_name(&format!("{ours}{}", lower.strip_prefix(theirs)?));
        PREFIXES.into_iter().find_map(named)
    }

    /// The type with this name, and the bits of its elements.
    ///
    /// # Errors
    /// An unknown name, or a type that is not data.
    pub fn parse_data(name: &str) -> Result<(ElementType, i64), Error> {
        let element = ElementType::parse(name)?;
        let message = || format!("expected a type of data, such as `f32`, found `{name}`");
        Ok((element, element.bits().ok_or_else(|| Error::at(0, message()))?))
    }

    /// The whole bytes of an element; `None` if the type is not data.
    pub fn bytes(self) -> Option<i64> {
        self.bits().map(|bits| (bits + 7) / 8)
    }

    /// Whether arrays of the type hold data; `token` and `opaque` have no dimensions, layout or size.
    pub fn is_data(self) -> bool {
        self.bits().is_some()
    }

    /// Whether the type is an integer without a sign, as index and pointer types are.
    pub fn is_unsigned(self) -> bool {
        self.name().starts_with('u')
    }

    /// Whether the type is an integer with a sign.
    pub fn is_signed(self) -> bool {
        self.name().starts_with('s')
    }

    /// Whether the type is a real floating-point number.
    pub fn is_float(self) -> bool {
        self.name().starts_with(['f', 'b'])
    }

    /// Whether the type is a complex number, a pair of floats of half its size.
    pub fn is_complex(self) -> bool {
        self.name().starts_with('c')
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

from_str!(ElementType: Error);
