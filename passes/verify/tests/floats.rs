//! Floating-point types: each number is the nearest one of all that there are.

use crate::reader::floats::Format;

const SMALL: [(&str, u32); 10] = [
    ("f8E5M2", 8),
    ("f8E4M3", 8),
    ("f8E3M4", 8),
    ("f8E4M3FN", 8),
    ("f8E5M2FNUZ", 8),
    ("f8E4M3FNUZ", 8),
    ("f8E4M3B11FNUZ", 8),
    ("f6E3M2FN", 6),
    ("f6E2M3FN", 6),
    ("f4E2M1FN", 4),
];

/// The largest numbers and the least ones above 0, from the definitions of the types.
const ENDS: [(&str, f64, f64); 12] = [
    ("f8E5M2", 57344.0, 1.0 / 65536.0),
    ("f8E4M3", 240.0, 1.0 / 512.0),
    ("f8E3M4", 15.5, 1.0 / 64.0),
    ("f8E4M3FN", 448.0, 1.0 / 512.0),
    ("f8E5M2FNUZ", 57344.0, 1.0 / 131_072.0),
    ("f8E4M3FNUZ", 240.0, 1.0 / 1024.0),
    ("f8E4M3B11FNUZ", 30.0, 1.0 / 8192.0),
    ("f6E3M2FN", 28.0, 1.0 / 16.0),
    ("f6E2M3FN", 7.5, 1.0 / 8.0),
    ("f4E2M1FN", 6.0, 0.5),
    ("f16", 65504.0, 1.0 / 16_777_216.0),
    ("f32", f32::MAX as f64, 1.401298464324817e-45),
];

fn format(of: &str) -> Format {
    Format::of(of).unwrap_or_else(|| panic!("no format of {of}"))
}

#[test]
fn types_have_their_largest_and_least_numbers() {
    for (of, largest, least) in ENDS {
        let float = format(of);
        assert_eq!([float.largest(), 1].map(|bits| float.number(bits)), [largest, least], "{of}");
    }
}

#[test]
fn numbers_are_rounded_to_the_nearest() {
    for (of, bits) in SMALL {
        let float = format(of);
        let all: Vec<u64> = (0..1 << bits).filter(|bits| float.number(*bits).is_finite()).collect();
        for bits in &all {
            assert_eq!(float.rounded(float.number(*bits)), *bits, "{of} {bits:#x}");
        }
        let mut sizes: Vec<u64> = all.into_iter().filter(|bits| bits & float.sign() == 0).collect();
        sizes.sort_unstable();
        for pair in sizes.windows(2) {
            let [low, high] = [pair[0], pair[1]].map(|bits| float.number(bits));
            let middle = low + (high - low) / 2.0;
            let even = if pair[0] & 1 == 0 { pair[0] } else { pair[1] };
            for (x, nearest) in [(middle, even), (middle.next_down(), pair[0]), (middle.next_up(), pair[1])] {
                assert_eq!(float.rounded(x), nearest, "{of} {x}");
                let negative = if nearest == 0 { float.least_zero() } else { nearest | float.sign() };
                assert_eq!(float.rounded(-x), negative, "{of} -{x}");
            }
        }
    }
}

#[test]
fn an_overflow_is_the_end_of_a_type() {
    for (of, expected) in [
        ("f8E5M2", 0x7c),
        ("f8E4M3", 0x78),
        ("f8E4M3FN", 0x7f),
        ("f8E5M2FNUZ", 0x80),
        ("f6E3M2FN", 0x1f),
        ("f4E2M1FN", 0x7),
        ("bf16", 0x7f80),
        ("f32", 0x7f80_0000),
    ] {
        for x in [f64::MAX, f64::INFINITY] {
            assert_eq!(format(of).rounded(x), expected, "{of} {x}");
        }
    }
    // Half of the last place above the largest number is rounded to it, where that is even.
    assert_eq!(format("f8E4M3FN").rounded(464.0), 0x7e);
    assert_eq!(format("f8E4M3FN").rounded(464.1), 0x7f);
    assert_eq!(format("f8E5M2").rounded(61439.9), 0x7b);
    assert_eq!(format("f8E5M2").rounded(61440.0), 0x7c);
}
