//! Moments as the protocol writes them. No clock is read here.

use std::time::{SystemTime, UNIX_EPOCH};

/// ISO 8601 in UTC, to the millisecond.
pub fn iso(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

/// The date so many days after 1970-01-01, by eras of 400 years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_written_as_dates() {
        let check = |seconds, expected| assert_eq!(iso(UNIX_EPOCH + Duration::from_millis(seconds)), expected);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_400_123, "2000-02-29T00:00:00.123Z");
        check(1_709_251_199_000, "2024-02-29T23:59:59.000Z");
        check(4_102_444_800_000, "2100-01-01T00:00:00.000Z");
    }
}
