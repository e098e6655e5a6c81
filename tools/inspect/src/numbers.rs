//! Numbers as people read them: `1,234,567 elements`, `1 byte`.

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
