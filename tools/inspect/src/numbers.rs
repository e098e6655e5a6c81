//! Numbers as people read them, `1,234,567 elements`, `1 byte`, and write them: `16MiB`.

use tensor_layout::text::{Error, instead};

/// The units of bytes, and how many bytes each is.
const UNITS: [(&str, i64); 9] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// The bytes of a text: `16777216`, `16MiB`, `1.5 GiB`, `16MB` (16,000,000), in letters of either case.
///
/// # Errors
/// The text is no number with at most one of [`UNITS`], negative, not whole, or above `most`.
pub fn bytes(text: &str, most: i64) -> Result<i64, Error> {
    let given = quoted(text);
    let expected = || Error::at(0, format!("expected a number of bytes from 0 to {most}, found {given}"));
    let number = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || number.ends_with('.') || part.contains('.') {
        return Err(expected());
    }
    let unit = unit.trim_start();
    let found = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit) || unit.is_empty());
    let Some((_, unit_bytes)) = found else {
        let names = UNITS.map(|(name, _)| name);
        let message = format!("unknown unit `{unit}`{}", instead(unit, &names));
        return Err(Error::at(text.len() - unit.len(), message).unknown());
    };
    let scale = 10i128.checked_pow(part.len() as u32).ok_or_else(expected)?;
    let digits: i128 = format!("{whole}{part}").parse().map_err(|_| expected())?;
    let scaled = digits.checked_mul(i128::from(*unit_bytes)).ok_or_else(expected)?;
    if scaled % scale != 0 {
        return Err(Error::at(0, format!("expected a whole number of bytes, found {given}")));
    }
    i64::try_from(scaled / scale).ok().filter(|bytes| *bytes <= most).ok_or_else(expected)
}

/// A text that was found, for a message: in quotes, if there is one.
pub fn quoted(text: &str) -> String {
    if text.trim().is_empty() { "none".to_string() } else { format!("`{text}`") }
}

/// A number of things, with an `s` after their name where there is not exactly one.
pub fn counted(n: i64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A number with commas between thousands.
pub fn grouped(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut out = if n < 0 { "-".to_string() } else { String::new() };
    for (i, digit) in digits.chars().enumerate() {
        if i != 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        let most = i64::MAX;
        for (text, expected) in [
            ("0", 0),
            ("16777216", 16 << 20),
            ("16MiB", 16 << 20),
            ("16 mib", 16 << 20),
            ("16MB", 16_000_000),
            ("1.5GiB", 3 << 29),
            ("0.5KiB", 512),
            ("7B", 7),
            ("9223372036854775807", i64::MAX),
        ] {
            assert_eq!(bytes(text, most), Ok(expected), "{text}");
        }
        let wrong = |text| bytes(text, most).unwrap_err();
        for text in ["", "MiB", "-1", "1.", ".5MiB", "1.2.3", "9223372036854775808", "9999999TiB", "x"] {
            assert_eq!(
                (wrong(text).at, wrong(text).message.starts_with("expected a number")),
                (Some(0), true),
                "{text}"
            );
        }
        assert_eq!(wrong("0.1KiB").message, "expected a whole number of bytes, found `0.1KiB`");
        assert_eq!(
            (wrong("16 MiBs").at, &*wrong("16 MiBs").message),
            (Some(3), "unknown unit `MiBs`; did you mean `MiB`?")
        );
        assert!(bytes("17", 16).is_err() && bytes("16", 16).is_ok());
    }

    #[test]
    fn thousands_and_plurals() {
        for (n, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1234567, "1,234,567 bytes"),
            (-1000, "-1,000 bytes"),
            (i64::MIN, "-9,223,372,036,854,775,808 bytes"),
        ] {
            assert_eq!(counted(n, "byte"), expected);
        }
    }
}
