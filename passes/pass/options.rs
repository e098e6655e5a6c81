//! The options of the passes and pipelines, as values. `Passes.td` lists them, with their texts and defaults; the build
//! script makes the enums and structs here of it.
//!
//! ```
//! use layout_passes::{Form, LowerMemrefsOptions, Target};
//!
//! let options = LowerMemrefsOptions { vectorize: Target::Avx2, vector_bits: 128, ..Form::Physical.into() };
//! assert_eq!(options.to_string(), "form=physical vector-bits=128 vectorize=avx2");
//! assert_eq!((options.vector_bits(), options.vector_registers()), (128, 16));
//! assert_eq!("vectorize=avx2 form=physical vector-bits=0x80".parse(), Ok(options));
//! assert_eq!(
//!     "vectorise=avx2".parse::<LowerMemrefsOptions>().unwrap_err(),
//!     "unknown option `vectorise`; did you mean `vectorize`?"
//! );
//! assert_eq!(LowerMemrefsOptions { vector_bits: 100, ..options }.check().unwrap_err(),
//!     "vector-bits must be 0 or a power of two from 64 to 2048, found 100");
//! ```
//!
//! The text is MLIR's: `name=value`, separated by spaces; C++ passes the options of a pass to Rust in this form.

use std::{fmt, str::FromStr};
use tensor_layout::text::{choices, instead};

/// The value of an option in text.
pub(crate) trait Value: Sized {
    /// The values that are accepted, as the text after `must be`.
    fn expected() -> String;

    /// Reads a value. An option without `=`, such as `contract`, has an empty text.
    fn read(text: &str) -> Option<Self>;

    /// Writes the form that [`Value::read`] reads.
    fn write(&self) -> String;
}

impl Value for bool {
    fn expected() -> String {
        "true or false".into()
    }

    fn read(text: &str) -> Option<bool> {
        match text {
            "" | "true" | "TRUE" | "True" | "1" => Some(true),
            "false" | "FALSE" | "False" | "0" => Some(false),
            _ => None,
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

/// The value of an option that is text where none is given.
pub(crate) const NONE: &str = "none";

/// The number of a text as LLVM reads it: `0x` is the prefix of hexadecimal digits, `0b` of binary ones, `0` and `0o`
/// of octal ones.
fn digits(text: &str) -> (&str, u32) {
    let prefixes = [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2), ("0o", 8)];
    let known = prefixes.iter().find_map(|(prefix, radix)| Some((text.strip_prefix(prefix)?, *radix)));
    known.unwrap_or(match text.strip_prefix('0') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => (rest, 8),
        _ => (text, 10),
    })
}

macro_rules! numbers {
    ($($number:ident),+) => {$(
        impl Value for $number {
            fn expected() -> String {
                format!("a number from {} to {}", $number::MIN, $number::MAX)
            }

            fn read(text: &str) -> Option<$number> {
                let (digits, radix) = digits(text);
                if digits.starts_with('+') { None } else { $number::from_str_radix(digits, radix).ok() }
            }

            fn write(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

numbers!(u32, u64);

impl Value for String {
    fn expected() -> String {
        "a text".into()
    }

    fn read(text: &str) -> Option<String> {
        Some(text.into())
    }

    fn write(&self) -> String {
        if self.contains(' ') { format!("{{{self}}}") } else { self.clone() }
    }
}

/// Defines the enum of an option whose value is one of a few names.
macro_rules! choices {
    ($(#[$about:meta])* $type:ident { $($(#[$meaning:meta])* $choice:ident = $name:literal;)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum $type { $($(#[$meaning])* $choice),+ }

        impl $type {
            /// All of them, the default first.
            pub const ALL: &[$type] = &[$($type::$choice),+];

            /// The value in the text of options.
            pub fn name(self) -> &'static str {
                match self { $($type::$choice => $name),+ }
            }
        }

        impl Value for $type {
            fn expected() -> String {
                format!("one of {}", [$($name),+].join(", "))
            }

            fn read(text: &str) -> Option<$type> {
                $type::ALL.iter().copied().find(|known| known.name() == text)
            }

            fn write(&self) -> String {
                self.name().into()
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<$type, String> {
                $type::read(text).ok_or_else(|| format!("expected {}, found `{text}`", $type::expected()))
            }
        }
    };
}

/// Defines the struct of a pass's options.
macro_rules! options {
    ($(#[$about:meta])* $type:ident {
        $($(#[$meaning:meta])* $field:ident: $kind:ident = $default:expr, $name:literal;)+
    }) => {
        $(#[$about])*
        ///
        /// Prints as in the text of a pipeline: the first option, and other options that are not the default; with
        /// `{:#}` everything, as MLIR prints it.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $type { $($(#[$meaning])* pub $field: $kind,)+ }

        impl Default for $type {
            fn default() -> $type {
                $type { $($field: $default),+ }
            }
        }

        impl $type {
            /// The names of the options.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The values, in the order of [`Self::NAMES`].
            fn values(&self) -> Vec<String> {
                vec![$(self.$field.write()),+]
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_options(f, $type::NAMES, &self.values(), &$type::default().values())
            }
        }

        impl FromStr for $type {
            type Err = String;

            /// Reads the text of options; those that it does not name are the default.
            fn from_str(text: &str) -> Result<$type, String> {
                let mut options = $type::default();
                for (name, value) in words(text) {
                    match name {
                        $($name => options.$field = read(name, value)?,)+
                        _ => return Err(unknown_option(name, $type::NAMES)),
                    }
                }
                Ok(options)
            }
        }
    };
}

// The enums and structs, and `OWNERS`: each option of a pass, and that pass.
include!(concat!(env!("OUT_DIR"), "/options.rs"));

/// The error about an option that is none of `names`, with the pass that has it, where one does.
fn unknown_option(name: &str, names: &[&str]) -> String {
    let owners: Vec<String> =
        OWNERS.iter().filter(|(option, _)| *option == name).map(|(_, pass)| format!("`{pass}`")).collect();
    match owners[..] {
        [] => format!("unknown option `{name}`{}", instead(name, names)),
        _ => format!("unknown option `{name}`, an option of {}; expected {}", owners.join(" and "), choices(names)),
    }
}

/// The options of a text and their values; `None` for an option without `=`. White space is between options. It may be in
/// braces and quotation marks, in one pair of which a value may be. A quotation begins right after `=`, and is closed.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let (mut depth, mut quotation, mut rest, mut before) = (0_usize, None, text, ' ');
    let is_between = move |c: char| {
        rest = &rest[c.len_utf8()..];
        match (quotation, c) {
            (Some(mark), _) if c == mark => quotation = None,
            (None, '\'' | '"') if before == '=' && rest.contains(c) => quotation = Some(c),
            (None, '{') => depth += 1,
            (None, '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = c;
        c.is_whitespace() && depth == 0 && quotation.is_none()
    };
    text.split(is_between).filter(|word| !word.is_empty()).map(|word| {
        let Some((name, value)) = word.split_once('=') else { return (word, None) };
        let pairs = [('{', '}'), ('\'', '\''), ('"', '"')];
        let inside = pairs.iter().find_map(|(begin, end)| value.strip_prefix(*begin)?.strip_suffix(*end));
        (name, Some(inside.unwrap_or(value).trim()))
    })
}

/// The value of an option. One with `=` and nothing after it is an error, whatever its type.
pub(crate) fn read<V: Value>(name: &str, value: Option<&str>) -> Result<V, String> {
    let text = value.unwrap_or_default();
    let found = if value == Some("") { None } else { V::read(text) };
    found.ok_or_else(|| format!("{name} must be {}, found `{text}`", V::expected()))
}

/// Writes the first option, and other options that are not the default; or all of them, in MLIR's alphabetical order.
fn write_options(f: &mut fmt::Formatter<'_>, names: &[&str], values: &[String], defaults: &[String]) -> fmt::Result {
    let all = f.alternate();
    let shown = names.iter().zip(values).zip(defaults).enumerate();
    let shown = shown.filter(|(at, ((_, value), default))| all || *at == 0 || value != default);
    let mut shown: Vec<_> = shown.map(|(_, (pair, _))| pair).collect();
    shown.sort();
    let shown: Vec<String> = shown.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    f.write_str(&shown.join(" "))
}

impl LowerMemrefsOptions {
    /// The bits of a vector: those of the option, or the target's; 0 without a target.
    pub fn vector_bits(&self) -> u32 {
        let own = match self.vectorize {
            Target::None => 0,
            Target::Avx2 => 256,
            Target::Avx512 => 512,
            Target::Neon => 128,
        };
        if self.vector_bits == 0 { own } else { self.vector_bits }
    }

    /// The number of vector registers: that of the option, or the target's; 0 without a target.
    pub fn vector_registers(&self) -> u32 {
        let own = match self.vectorize {
            Target::None => 0,
            Target::Avx2 => 16,
            Target::Avx512 | Target::Neon => 32,
        };
        if self.vector_registers == 0 { own } else { self.vector_registers }
    }

    /// Checks the options.
    ///
    /// # Errors
    /// Numbers out of range, and numbers of vectors without a target; a target in a build without the feature `vectorize`.
    pub fn check(&self) -> Result<(), String> {
        if self.vectorize != Target::None && !cfg!(feature = "vectorize") {
            return Err(
                "vectorize needs the feature `vectorize` of layout-passes, which this build leaves out".to_string()
            );
        }
        let (bits, registers) = (self.vector_bits, self.vector_registers);
        let given = [("vector-bits", bits), ("vector-registers", registers)];
        if let Some((name, _)) = given.iter().find(|(_, number)| *number != 0 && self.vectorize == Target::None) {
            let machines: Vec<&str> = Target::ALL[1..].iter().map(|target| target.name()).collect();
            return Err(format!("vectorize must be one of {} where {name} is given, found none", machines.join(", ")));
        }
        if bits != 0 && !(bits.is_power_of_two() && (64..=2048).contains(&bits)) {
            return Err(format!("vector-bits must be 0 or a power of two from 64 to 2048, found {bits}"));
        }
        if registers != 0 && !(8..=64).contains(&registers) {
            return Err(format!("vector-registers must be 0 or a number from 8 to 64, found {registers}"));
        }
        Ok(())
    }
}

impl From<Form> for LowerMemrefsOptions {
    fn from(form: Form) -> LowerMemrefsOptions {
        LowerMemrefsOptions { form, ..LowerMemrefsOptions::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_print_what_is_not_the_default() {
        assert_eq!(LowerMemrefsOptions::default().to_string(), "form=strided");
        let options = LowerMemrefsOptions {
            form: Form::Physical,
            contract: true,
            cache_bytes: u64::MAX,
            ..LowerMemrefsOptions::default()
        };
        assert_eq!(options.to_string(), "cache-bytes=18446744073709551615 contract=true form=physical");
        let report = IndexingAnalysisOptions { report: true };
        assert_eq!(
            (report.to_string(), IndexingAnalysisOptions::default().to_string()),
            ("report=true".into(), "report=false".into())
        );
    }

    /// Checks the texts of options; with `{:#}` all are printed, in alphabetical order.
    #[test]
    fn all_options_are_printed_and_read() {
        for options in [
            LowerMemrefsOptions::default(),
            LowerMemrefsOptions { parallel: Parallel::Loops, vector_bits: 64, ..LowerMemrefsOptions::default() },
        ] {
            let text = format!("{options:#}");
            let mut names: Vec<&str> = words(&text).map(|(name, _)| name).collect();
            assert!(names.is_sorted(), "{text}");
            names.sort_by_key(|name| LowerMemrefsOptions::NAMES.iter().position(|known| known == name));
            assert_eq!((names, text.parse()), (LowerMemrefsOptions::NAMES.to_vec(), Ok(options)));
        }
    }

    #[test]
    fn vectors_are_the_machines() {
        let of = |vectorize| LowerMemrefsOptions { vectorize, ..LowerMemrefsOptions::default() };
        let found: Vec<_> =
            Target::ALL.iter().map(|t| (of(*t).vector_bits(), of(*t).vector_registers(), t.name())).collect();
        assert_eq!(found, [(0, 0, "none"), (256, 16, "avx2"), (512, 32, "avx512"), (128, 32, "neon")]);
    }

    #[test]
    fn numbers_are_in_range() {
        let with = |vectorize, vector_bits, vector_registers| {
            LowerMemrefsOptions { vectorize, vector_bits, vector_registers, ..LowerMemrefsOptions::default() }.check()
        };
        for (bits, registers) in [(0, 0), (64, 8), (128, 64), (2048, 33)] {
            assert_eq!(with(Target::Avx2, bits, registers), Ok(()));
        }
        for (bits, registers) in [(32, 0), (100, 0), (4096, 0), (u32::MAX, 0), (0, 7), (0, 65)] {
            assert!(with(Target::Avx512, bits, registers).is_err(), "{bits} {registers}");
        }
        assert_eq!(with(Target::None, 0, 0), Ok(()));
        let error = "vectorize must be one of avx2, avx512, neon where vector-registers is given, found none";
        assert_eq!(with(Target::None, 0, 16), Err(error.into()));
    }

    #[test]
    fn choices_are_found_by_name() {
        for target in Target::ALL {
            assert_eq!(target.name().parse(), Ok(*target));
        }
        let error = "expected one of none, avx2, avx512, neon, found `sse`";
        assert_eq!("sse".parse::<Target>().unwrap_err(), error);
    }

    /// As LLVM reads them: `StringRef::getAsInteger` and the parser of booleans.
    #[test]
    fn texts_are_read() {
        let numbers = [("0", 0), ("17", 17), ("0x1F", 31), ("0b101", 5), ("0o17", 15), ("017", 15), ("00", 0)];
        for (text, number) in numbers {
            assert_eq!(
                format!("cache-bytes={text}").parse(),
                Ok(LowerMemrefsOptions { cache_bytes: number, ..LowerMemrefsOptions::default() })
            );
        }
        let with = |text: &str| text.parse::<LowerMemrefsOptions>();
        let contract = LowerMemrefsOptions { contract: true, ..LowerMemrefsOptions::default() };
        for text in ["contract", "contract=1", " contract=True  ", "contract={true}", "contract='TRUE'"] {
            assert_eq!(with(text), Ok(contract), "{text}");
        }
        assert_eq!(with("contract contract=0"), Ok(LowerMemrefsOptions::default()));
        for (text, error) in [
            ("cache-bytes=-1", "cache-bytes must be a number from 0 to 18446744073709551615, found `-1`"),
            ("vector-bits=+1", "vector-bits must be a number from 0 to 4294967295, found `+1`"),
            ("vector-bits=", "vector-bits must be a number from 0 to 4294967295, found ``"),
            ("vector-bits=09", "vector-bits must be a number from 0 to 4294967295, found `09`"),
            ("vector-bits=4294967296", "vector-bits must be a number from 0 to 4294967295, found `4294967296`"),
            ("contract=yes", "contract must be true or false, found `yes`"),
            ("contract=", "contract must be true or false, found ``"),
            ("contract={ } form=physical", "contract must be true or false, found ``"),
            ("form=' '", "form must be one of strided, physical, found ``"),
            ("form", "form must be one of strided, physical, found ``"),
            ("form=7", "form must be one of strided, physical, found `7`"),
            ("from=strided", "unknown option `from`; did you mean `form`?"),
            (
                "steps=3",
                "unknown option `steps`, an option of `layout-check-witness` and `layout-verify`; expected form, vectorize, \
                 vector-bits, vector-registers, reassociate, contract, approximate, cache-bytes, row-block-bytes, \
                 parallel or padding",
            ),
        ] {
            assert_eq!(with(text).unwrap_err(), error);
        }
    }
}
