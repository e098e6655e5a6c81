//! Where a swizzle puts an address, from the definition.
//!
//! `Sw<B,M,S>` flips bit `M + k` of an address by bit `M + S + k`, for k below B; with S below 0, bit `M - S + k` by bit
//! `M + k`. Address 8 of `Sw<2,0,3>` goes to 9: its bit 3 flips bit 0.

const PREFIX: &str = "#layout.swizzled<Sw<";

/// A swizzle of addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swizzle {
    /// The bits that flip others.
    pub mask: i64,
    /// How far below them those are that they flip; less than 0 for those above.
    pub down: i64,
}

impl Swizzle {
    /// The swizzle of an attribute's text, and the text of the layout below it; none for any other.
    pub fn read(text: &str) -> Option<(Swizzle, String)> {
        let (numbers, inner) = text.strip_prefix(PREFIX)?.strip_suffix('>')?.split_once("> o ")?;
        let numbers: Vec<i64> = numbers.split(',').map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let [bits, base, down] = numbers[..] else { return None };
        if bits < 0 || base < 0 || bits + base + down.abs() > 62 {
            return None;
        }
        let mask = ((1 << bits) - 1) << (base + down.max(0));
        let kind = if inner.starts_with('{') { "tiled" } else { "tensor_layout" };
        Some((Swizzle { mask, down }, format!("#layout.{kind}<{inner}>")))
    }

    /// The bits that some bits flip; none where these leave 64 bits.
    fn flipped(&self, bits: i64) -> Option<i64> {
        let by = u32::try_from(self.down.abs()).ok().filter(|by| *by < 63)?;
        if self.down >= 0 { Some(bits >> by) } else { Some(bits << by).filter(|all| all >> by == bits && *all >= 0) }
    }

    /// Whether no bit that flips another is flipped, so that no two addresses become one.
    pub fn is_valid(&self) -> bool {
        self.mask >= 0 && self.flipped(self.mask).is_some_and(|flipped| flipped & self.mask == 0)
    }

    /// Where an address of a valid swizzle goes.
    pub fn of(&self, address: i64) -> i64 {
        address ^ self.flipped(address & self.mask).unwrap_or(0)
    }

    fn touched(&self) -> i64 {
        self.mask | self.flipped(self.mask).unwrap_or(0)
    }

    /// How many addresses stay one behind the other, from each multiple of this on.
    pub fn run(&self) -> i64 {
        1 << self.touched().trailing_zeros().min(62)
    }

    /// The number of addresses, rounded up to blocks that the swizzle keeps; none beyond 64 bits.
    pub fn blocks(&self, addresses: i64) -> Option<i64> {
        let block = 1_i64 << (64 - self.touched().leading_zeros()).min(62);
        addresses.checked_add(block - 1)?.div_euclid(block).checked_mul(block)
    }
}
