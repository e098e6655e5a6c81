//! Flags of operations: those of `arith::FastMathFlags`, and promises of operations on integers.

/// The names of the first flags.
pub const FAST_MATH: [&str; 7] = ["reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"];
/// Operands come in any order.
pub const REASSOC: u32 = 1;
/// No operand and no result is NaN, or infinite.
pub const NNAN: u32 = 1 << 1;
pub const NINF: u32 = 1 << 2;
/// The sign of a zero means nothing.
pub const NSZ: u32 = 1 << 3;
/// A division multiplies by the inverse.
pub const ARCP: u32 = 1 << 4;
/// A product and a sum are rounded once.
pub const CONTRACT: u32 = 1 << 5;
/// A function of `math` is approximated.
pub const AFN: u32 = 1 << 6;
/// No signed overflow.
pub const NSW: u32 = 1 << 7;
/// No unsigned overflow.
pub const NUW: u32 = 1 << 8;
/// The division has no remainder, the shift loses no bit that is set, the integer that is extended or converted is not negative.
pub const EXACT: u32 = 1 << 9;
/// The operation has another flag, which none had in the program before.
pub const NEW: u32 = 1 << 10;

/// The flags with which an operation has several results.
pub const FREE: u32 = REASSOC | ARCP | CONTRACT | AFN;

/// The flags that an attribute of `fastmath` or `overflowFlags` says.
pub fn said(text: &str) -> u32 {
    let has = |flag: &str| text.contains("fast>") || text.contains(flag);
    let fast = FAST_MATH.iter().zip(0..).filter(|(flag, _)| has(flag)).fold(0, |all, (_, k)| all | 1 << k);
    let of_overflow = [("nsw", NSW), ("nuw", NUW)].into_iter().filter(|(flag, _)| text.contains(flag));
    of_overflow.fold(fast, |all, (_, flag)| all | flag)
}
