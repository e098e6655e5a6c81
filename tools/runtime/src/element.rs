//! Rust's numbers as array elements.

use tensor_layout::element::ElementType;

/// A number of Rust that is an element of arrays of one type: `f32` in `f32[..]`, `i32` in `s32[..]`. Types that Rust
/// lacks, such as `bf16`, are bytes.
pub trait Element: Copy + sealed::Sealed {
    /// The element type.
    const TYPE: ElementType;

    /// Appends the bytes of the number in memory.
    fn append(self, bytes: &mut Vec<u8>);

    /// The number with these bytes, as many as the type has.
    fn read(bytes: &[u8]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($number:ty: $of:ident),*) => {$(
        impl sealed::Sealed for $number {}

        impl Element for $number {
            const TYPE: ElementType = ElementType::$of;

            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
            }
        }
    )*};
}

elements! {
    f32: F32, f64: F64, i8: S8, i16: S16, i32: S32, i64: S64, u8: U8, u16: U16, u32: U32, u64: U64
}
