//! What lowering is asked for: the options of `layout-lower-memrefs` and of the pipelines, as values.
//!
//! ```
//! use layout_passes::{Form, Options, Target};
//!
//! let options = Options { vectorize: Target::Avx2, vector_bits: 128, ..Form::Physical.into() };
//! assert_eq!(options.to_string(), "form=physical vector-bits=128 vectorize=avx2");
//! assert_eq!((options.vector_bits(), options.vector_registers()), (128, 16));
//! assert_eq!(Options { vector_bits: 100, ..options }.check().unwrap_err(),
//!     "vector-bits is 100, which is neither a power of two from 64 to 2048 nor 0, for what vectorize has");
//! ```
//!
//! The same options stand in `Passes.td`, and the enums with the same numbers in `Passes.h`.

use std::{fmt, str::FromStr};

/// An option whose value is one of a few names. Its number in `Passes.h` is its place in the list.
macro_rules! choices {
    ($(#[$about:meta])* $type:ident, $option:literal: $($(#[$meaning:meta])* $choice:ident = $name:literal),+) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum $type { $($(#[$meaning])* $choice),+ }

        impl $type {
            /// All of them.
            pub const ALL: &[$type] = &[$($type::$choice),+];

            /// The one whose number in `Passes.h` this is.
            ///
            /// # Errors
            /// Where there is none.
            pub fn of_number(number: i32) -> Result<$type, String> {
                let known = usize::try_from(number).ok().and_then(|number| $type::ALL.get(number));
                known.copied().ok_or_else(|| format!(concat!("no value of ", $option, " has the number {}"), number))
            }

            #[doc = concat!("The value of the option `", $option, "`.")]
            pub fn name(self) -> &'static str {
                match self { $($type::$choice => $name),+ }
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(name: &str) -> Result<$type, String> {
                let known = $type::ALL.iter().copied().find(|known| known.name() == name);
                known.ok_or_else(|| format!(concat!("no value of ", $option, " is called `{}`"), name))
            }
        }
    };
}

choices! {
    /// What a memref with a tiled layout is lowered to.
    Form, "form":
        /// Parts in logical order, with the strides of the layout.
        #[default]
        Strided = "strided",
        /// Parts in memory order, without strides.
        Physical = "physical"
}

choices! {
    /// The machine that vector code is for.
    Target, "vectorize":
        /// None: loops over single elements.
        #[default]
        None = "none",
        /// x86-64 with AVX2 and FMA.
        Avx2 = "avx2",
        /// x86-64 with AVX-512.
        Avx512 = "avx512",
        /// AArch64 with Neon.
        Neon = "neon"
}

choices! {
    /// What a loop whose iterations may run at the same time becomes.
    Parallel, "parallel":
        /// A loop like any other.
        #[default]
        None = "none",
        /// `scf.parallel`.
        Loops = "parallel",
        /// `scf.forall`.
        Forall = "forall"
}

/// How layouts are lowered. The default is [`Form::Strided`], one element at a time.
///
/// Prints as in the text of a pipeline: the form, and what is not as in the default; with `{:#}` everything, as MLIR
/// prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// What a tiled memref becomes.
    pub form: Form,
    /// The machine that vector code is for. The fields below are about such code.
    pub vectorize: Target,
    /// The bits of a vector; 0 for those of the machine, see [`Options::vector_bits`].
    pub vector_bits: u32,
    /// The vectors that registers hold; 0 for those of the machine, see [`Options::vector_registers`].
    pub vector_registers: u32,
    /// Whether reductions in floating point may add in another order, which changes results by rounding.
    pub reassociate: bool,
    /// Whether a product and a sum may be one operation with one rounding.
    pub contract: bool,
    /// Outputs of more bytes than this are stored past the caches; 0 for none.
    pub cache_bytes: u64,
    /// What loops become whose iterations may run at the same time.
    pub parallel: Parallel,
}

impl Options {
    /// The bits of a vector: those asked for, or the machine's; 0 without one.
    pub fn vector_bits(&self) -> u32 {
        let own = match self.vectorize {
            Target::None => 0,
            Target::Avx2 => 256,
            Target::Avx512 => 512,
            Target::Neon => 128,
        };
        if self.vector_bits == 0 { own } else { self.vector_bits }
    }

    /// The vectors that registers hold: those asked for, or the machine's; 0 without one.
    pub fn vector_registers(&self) -> u32 {
        let own = match self.vectorize {
            Target::None => 0,
            Target::Avx2 => 16,
            Target::Avx512 | Target::Neon => 32,
        };
        if self.vector_registers == 0 { own } else { self.vector_registers }
    }

    /// Whether these can be followed.
    ///
    /// # Errors
    /// Numbers out of range, and numbers about vectors without a machine that has them.
    pub fn check(&self) -> Result<(), String> {
        let numbers = [("vector-bits", self.vector_bits), ("vector-registers", self.vector_registers)];
        if let Some((name, _)) = numbers.iter().find(|(_, number)| *number != 0 && self.vectorize == Target::None) {
            let machines: Vec<&str> = Target::ALL[1..].iter().map(|target| target.name()).collect();
            return Err(format!("{name} is of a machine, and vectorize names none: {}", machines.join(", ")));
        }
        let (bits, registers) = (self.vector_bits, self.vector_registers);
        let (range, own) = (64..=2048, "nor 0, for what vectorize has");
        if bits != 0 && !(bits.is_power_of_two() && range.contains(&bits)) {
            let (least, most) = range.into_inner();
            return Err(format!("vector-bits is {bits}, which is neither a power of two from {least} to {most} {own}"));
        }
        let range = 8..=64;
        if registers != 0 && !range.contains(&registers) {
            let (least, most) = range.into_inner();
            return Err(format!("vector-registers is {registers}, which is neither from {least} to {most} {own}"));
        }
        Ok(())
    }

    /// All options by name, in MLIR's order, which is that of the alphabet.
    fn all(&self) -> [(&'static str, String); 8] {
        [
            ("cache-bytes", self.cache_bytes.to_string()),
            ("contract", self.contract.to_string()),
            ("form", self.form.name().into()),
            ("parallel", self.parallel.name().into()),
            ("reassociate", self.reassociate.to_string()),
            ("vector-bits", self.vector_bits.to_string()),
            ("vector-registers", self.vector_registers.to_string()),
            ("vectorize", self.vectorize.name().into()),
        ]
    }
}

impl From<Form> for Options {
    fn from(form: Form) -> Options {
        Options { form, ..Options::default() }
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.all().into_iter().zip(Options::default().all());
        let shown = pairs.filter(|(own, default)| f.alternate() || own.0 == "form" || own != default);
        let shown: Vec<String> = shown.map(|((name, value), _)| format!("{name}={value}")).collect();
        f.write_str(&shown.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_print_what_is_not_the_default() {
        assert_eq!(Options::default().to_string(), "form=strided");
        let options = Options {
            form: Form::Physical,
            vectorize: Target::Neon,
            vector_bits: 64,
            vector_registers: 8,
            reassociate: true,
            contract: true,
            cache_bytes: u64::MAX,
            parallel: Parallel::Loops,
        };
        let all = "cache-bytes=18446744073709551615 contract=true form=physical parallel=parallel reassociate=true \
                   vector-bits=64 vector-registers=8 vectorize=neon";
        assert_eq!((options.to_string(), format!("{options:#}")), (all.into(), all.into()));
        let all = "cache-bytes=0 contract=false form=strided parallel=none reassociate=false vector-bits=0 \
                   vector-registers=0 vectorize=none";
        assert_eq!(format!("{:#}", Options::default()), all);
    }

    #[test]
    fn vectors_are_the_machines() {
        let of = |vectorize| Options { vectorize, ..Options::default() };
        let found: Vec<_> =
            Target::ALL.iter().map(|t| (of(*t).vector_bits(), of(*t).vector_registers(), t.name())).collect();
        assert_eq!(found, [(0, 0, "none"), (256, 16, "avx2"), (512, 32, "avx512"), (128, 32, "neon")]);
    }

    #[test]
    fn numbers_are_in_range() {
        let with = |vectorize, vector_bits, vector_registers| {
            Options { vectorize, vector_bits, vector_registers, ..Options::default() }.check()
        };
        for (bits, registers) in [(0, 0), (64, 8), (128, 64), (2048, 33)] {
            assert_eq!(with(Target::Avx2, bits, registers), Ok(()));
        }
        for (bits, registers) in [(32, 0), (100, 0), (4096, 0), (u32::MAX, 0), (0, 7), (0, 65)] {
            assert!(with(Target::Avx512, bits, registers).is_err(), "{bits} {registers}");
        }
        assert_eq!(with(Target::None, 0, 0), Ok(()));
        let error = "vector-registers is of a machine, and vectorize names none: avx2, avx512, neon";
        assert_eq!(with(Target::None, 0, 16), Err(error.into()));
    }

    #[test]
    fn choices_are_found_by_name_and_number() {
        for (number, target) in Target::ALL.iter().enumerate() {
            assert_eq!((target.name().parse(), Target::of_number(number as i32)), (Ok(*target), Ok(*target)));
        }
        assert_eq!(Form::of_number(-1).unwrap_err(), "no value of form has the number -1");
        assert_eq!("sse".parse::<Target>().unwrap_err(), "no value of vectorize is called `sse`");
    }
}
