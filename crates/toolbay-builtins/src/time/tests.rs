use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn the_clock_is_shown_in_any_zone() {
    fn check(zone: &str, clock: &str, expected: &str) {
        let moment = now(&Zone::named(zone).unwrap(), at(clock));
        let dst = if moment.is_dst { "dst" } else { "std" };
        let shown = format!("{} {} {} {dst}", moment.timezone, moment.datetime, moment.day_of_week);
        assert_eq!(shown, expected);
    }
    check("UTC", "2026-01-02T03:04:05.6Z", "UTC 2026-01-02T03:04:05+00:00 Friday std");
    check("Europe/Vienna", "2026-07-01T12:00:00Z", "Europe/Vienna 2026-07-01T14:00:00+02:00 Wednesday dst");
    check("europe/vienna", "2026-01-01T12:00:00Z", "Europe/Vienna 2026-01-01T13:00:00+01:00 Thursday std");
    check("Asia/Kathmandu", "2026-01-01T18:15:00Z", "Asia/Kathmandu 2026-01-02T00:00:00+05:45 Friday std");
    check(" America/New_York ", "2026-11-01T05:59:59Z", "America/New_York 2026-11-01T01:59:59-04:00 Sunday dst");
}

#[test]
fn a_time_of_day_is_carried_over() {
    fn check(source: &str, time: &str, target: &str, expected: &str) {
        let (source, target) = (Zone::named(source).unwrap(), Zone::named(target).unwrap());
        let found = convert(&source, time, &target, at("2026-03-08T12:00:00Z")).unwrap();
        let shown = format!("{} = {} ({})", found.source.datetime, found.target.datetime, found.time_difference);
        assert_eq!(shown, expected);
    }
    check("UTC", "16:30", "Asia/Tokyo", "2026-03-08T16:30:00+00:00 = 2026-03-09T01:30:00+09:00 (+9.0h)");
    check("Asia/Tokyo", "00:00", "UTC", "2026-03-08T00:00:00+09:00 = 2026-03-07T15:00:00+00:00 (-9.0h)");
    check("UTC", "9:05", "Asia/Kathmandu", "2026-03-08T09:05:00+00:00 = 2026-03-08T14:50:00+05:45 (+5.75h)");
    check("UTC", "12:00", "Asia/Kolkata", "2026-03-08T12:00:00+00:00 = 2026-03-08T17:30:00+05:30 (+5.5h)");
    check("UTC", "12:00", "UTC", "2026-03-08T12:00:00+00:00 = 2026-03-08T12:00:00+00:00 (+0.0h)");
    // Skipped that morning: the clock went from 2 to 3.
    check("America/New_York", "02:30", "UTC", "2026-03-08T03:30:00-04:00 = 2026-03-08T07:30:00+00:00 (+4.0h)");
}

#[test]
fn a_time_that_is_none_is_refused() {
    let utc = Zone::utc();
    for given in ["", "24:00", "12:60", "12", "12:5", "123:00", "-1:00", "+1:00", "12:00:00", "noon", "１２:00"] {
        let error = convert(&utc, given, &utc, at("2026-01-01T00:00:00Z")).unwrap_err();
        assert_eq!(error, Error::BadTime { given: given.into() });
    }
}

#[test]
fn an_unknown_zone_names_the_nearest() {
    fn check(name: &str, expected: &[&str]) {
        match Zone::named(name) {
            Err(Error::UnknownZone { nearest, .. }) => assert_eq!(nearest, expected, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    check("Europe/Viena", &["Europe/Vienna"]);
    check("Tokyo", &["Asia/Tokyo"]);
    check("New York", &["America/New_York"]);
    check("Asia/Vienna", &["Europe/Vienna"]);
    check("PST", &["America/Los_Angeles"]);
    check("", &[]);
    check("../../etc/passwd", &[]);
    check(&"x".repeat(10_000), &[]);
    assert_eq!(
        Zone::named("Vienna").unwrap_err().to_string(),
        "there is no time zone `Vienna`; did you mean Europe/Vienna?"
    );
}

#[test]
fn this_machine_has_a_zone() {
    let local = Zone::local();
    assert_eq!(Zone::named(local.name()).unwrap().name(), local.name());
}
