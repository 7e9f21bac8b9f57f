use super::*;

#[test]
fn every_limit_is_finite_and_within_its_own_range() {
    let limits = Limits::default();
    for row in ROWS {
        let mut copy = limits;
        row.set(&mut copy, row.value(&limits)).unwrap_or_else(|why| panic!("{}: {why}", row.key));
        assert_eq!(copy, limits, "{}", row.key);
        for wrong in [f64::NAN, f64::INFINITY, -1.0, row.most * 2.0] {
            assert!(row.set(&mut copy, wrong).is_err(), "{} {wrong}", row.key);
        }
        row.set(&mut copy, row.most).unwrap();
        assert!(copy != limits && super::row(row.key).is_some_and(|found| found.key == row.key), "{}", row.key);
    }
    assert_eq!(row("list_bytes").map(|row| row.key), Some("listBytes"));
}

#[test]
fn the_guide_shows_each_limit_as_it_is() {
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/limits.md")).unwrap();
    let mut missing = String::new();
    for row in ROWS {
        let value = row.value(&Limits::default());
        let value = match row.unit {
            Unit::Bytes if value >= 1_048_576.0 => format!("{} MiB", value / 1_048_576.0),
            Unit::Bytes => format!("{value} bytes"),
            Unit::Seconds => format!("{value} s"),
            Unit::Count => format!("{value}"),
        };
        let line = format!("| `{}` | {value} | {} | {} |", row.key, row.effect.word(), row.says);
        if !guide.lines().any(|there| there == line) {
            missing.push_str(&line);
            missing.push('\n');
        }
    }
    assert!(missing.is_empty(), "write into docs/guide/limits.md:\n{missing}");
}

#[test]
fn children_are_counted_while_they_run() {
    let children = Children::at_most(1);
    let first = children.place().unwrap();
    assert!(children.place().unwrap_err().to_string().contains("limit `children`"));
    drop(first);
    assert!(children.place().is_ok());
    children.allow(0);
    assert!(children.place().is_err());
}
