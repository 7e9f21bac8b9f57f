//! Comparing numbers as written, exactly: 42, 42.0 and 4.2e1 are one number, 2^53 and 2^53 + 1 are two. Not for arithmetic.

/// A decimal number without the zeros that do not matter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    /// From the first to the last digit that is not zero; empty for zero.
    digits: Vec<u8>,
    /// The power of ten of the last digit.
    exponent: i64,
}

impl Decimal {
    /// Reads a number in the grammar of JSON.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, power(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || leading_zero || !digits(whole) || !digits(fraction) {
            return None;
        }
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        Self { negative, digits: [whole.as_bytes(), fraction.as_bytes()].concat(), exponent }.trimmed()
    }

    /// The number as a plain integer, or nothing if it has a fraction.
    pub(super) fn integer(&self) -> Option<Integer> {
        let Ok(zeros) = usize::try_from(self.exponent) else { return None };
        if self.digits.len().saturating_add(zeros) > LONGEST_SAFE {
            return Some(Integer::Unsafe);
        }
        let size = self.digits.iter().fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        let size = (0..zeros).fold(size, |sum, _| sum * 10);
        Some(if size > SAFE { Integer::Unsafe } else { Integer::Safe(if self.negative { -size } else { size }) })
    }

    fn trimmed(mut self) -> Option<Self> {
        let last = self.digits.iter().rposition(|&digit| digit != b'0');
        let kept = last.map_or(0, |at| at + 1);
        self.exponent = self.exponent.checked_add(i64::try_from(self.digits.len() - kept).ok()?)?;
        self.digits.truncate(kept);
        let first = self.digits.iter().position(|&digit| digit != b'0').unwrap_or(0);
        self.digits.drain(..first);
        if self.digits.is_empty() {
            self.exponent = 0;
            self.negative = false;
        }
        Some(self)
    }
}

/// A number without a fraction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Integer {
    /// One that every peer reads exactly.
    Safe(i64),
    /// One beyond ±(2^53 − 1).
    Unsafe,
}

/// Whether two numbers as written are the same number.
pub(super) fn same(left: &str, right: &str) -> bool {
    match (Decimal::parse(left), Decimal::parse(right)) {
        (Some(left), Some(right)) => left == right,
        _ => false,
    }
}

fn power(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let well_formed = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    well_formed.then(|| text.parse().ok()).flatten()
}

const SAFE: i64 = (1 << 53) - 1;
const LONGEST_SAFE: usize = 16;
