//! Swizzles and swizzled layouts, at every address of random ones.

use fastrand::Rng;
use std::collections::HashSet;
use tensor_layout::swizzle::Swizzle;
use tensor_layout::swizzled::SwizzledLayout;
use tensor_layout::tiled::{Expansion, Layout};

/// Three numbers of a random small swizzle.
fn numbers(rng: &mut Rng) -> (u32, u32, i32) {
    let bits = rng.u32(0..4);
    let shift = (bits + rng.u32(0..3)) as i32;
    (bits, rng.u32(0..4), if rng.bool() { shift } else { -shift })
}

/// The place of an address, bit by bit.
fn place((bits, base, shift): (u32, u32, i32), address: i64) -> i64 {
    let (flipped, by) = ((base as i32 - shift.min(0)) as u32, (base as i32 + shift.max(0)) as u32);
    (0..bits).fold(address, |place, k| if address >> (by + k) & 1 == 1 { place ^ 1 << (flipped + k) } else { place })
}

#[test]
fn swizzles_keep_blocks_and_runs() {
    let mut rng = Rng::with_seed(45);
    for _ in 0..300 {
        let numbers = numbers(&mut rng);
        let swizzle = Swizzle::new(numbers.0, numbers.1, numbers.2).unwrap();
        let (run, block) = (swizzle.run(), swizzle.block());
        for address in 0..3 * block {
            let to = swizzle.of(address);
            assert_eq!(to, place(numbers, address), "{swizzle} at {address}");
            assert_eq!(swizzle.of(to), address, "{swizzle} at {address}");
            assert_eq!(to / block, address / block, "{swizzle} at {address}");
            assert_eq!(to - to % run + address % run, to, "{swizzle} at {address}");
            let flipping = address & swizzle.flipping();
            let by = swizzle.distance().unsigned_abs();
            let flipped = if swizzle.distance() < 0 { flipping << by } else { flipping >> by };
            assert_eq!(to, address ^ flipped, "{swizzle} at {address}");
        }
    }
}

#[test]
fn addresses_are_those_of_the_layout_below() {
    let mut rng = Rng::with_seed(45);
    for _ in 0..300 {
        let numbers = numbers(&mut rng);
        let sizes = [rng.i64(1..9), rng.i64(1..20)];
        let below = ["{1,0}", "{0,1}", "{1,0:T(2,4)}", "{0,1:T(4)(2,1)L(7)}"][rng.usize(0..4)];
        let text = format!("Sw<{},{},{}> o {below}", numbers.0, numbers.1, numbers.2);
        let layout = SwizzledLayout::parse(&text).unwrap();
        assert_eq!(layout.to_string(), text);
        let addresses = layout.on(&sizes).unwrap();
        let expansion = Expansion::new(&sizes, &Layout::parse(below).unwrap()).unwrap();
        let rest = addresses.size - expansion.allocated_elements();
        assert!((0..layout.swizzle.block()).contains(&rest) && addresses.size % layout.swizzle.block() == 0, "{text}");
        let mut seen = HashSet::new();
        for index in (0..sizes[0]).flat_map(|i| (0..sizes[1]).map(move |j| [i, j])) {
            let address = addresses.offset(&index).unwrap();
            assert_eq!(address, place(numbers, expansion.offset(&index).unwrap()), "{text} at {index:?}");
            assert!((0..addresses.size).contains(&address) && seen.insert(address), "{text} at {index:?}");
        }
        assert!(addresses.offset(&[sizes[0], 0]).is_err() && addresses.offset(&[0]).is_err());
    }
}
