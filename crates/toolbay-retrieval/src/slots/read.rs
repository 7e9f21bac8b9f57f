//! The way in: a request in, slots out.

use super::dates::Day;
use super::line::Line;
use super::reading;
use super::slot::Slot;

/// Reads what a request says, in the order in which it says it.
///
/// `today` gives words like 明天 their meaning. Only the first 2,000 characters are read.
///
/// ```
/// use toolbay_retrieval::slots::{Day, Kind, read};
///
/// let slots = read("后天从青岛去苏州的高铁", Day::new(2026, 3, 12));
/// let said: Vec<_> = slots.iter().map(|slot| (slot.kind, slot.value.as_str())).collect();
/// assert_eq!(said, [(Kind::Date, "后天"), (Kind::Origin, "青岛"), (Kind::Destination, "苏州")]);
/// assert_eq!(slots[0].normal.unwrap().to_string(), "2026-03-14");
/// ```
#[must_use]
pub fn read(text: &str, today: Option<Day>) -> Vec<Slot> {
    let line = Line::new(text);
    reading::read(&line, today)
}
