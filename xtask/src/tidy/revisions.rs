//! Only `revision.rs` knows the order of revisions; everybody else asks `revision.has(Feature)`.

use super::Finding;
use super::source::Source;

const ORDER: [&str; 4] = [" < ", " > ", " <= ", " >= "];
const CALLS: [&str; 6] = [".cmp(", ".partial_cmp(", ".max(", ".min(", ".clamp(", ".lt("];

/// Comparisons of revisions by order.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    if source.path.file_name().is_some_and(|name| name == "revision.rs") || source.path.starts_with("xtask") {
        return Vec::new();
    }
    let lines = source.code.iter().enumerate().filter(|(_, line)| compares(line));
    let words =
        "compares revisions outside revision.rs: ask `revision.has(Feature::…)`, and add the row if it is missing";
    lines.map(|(at, _)| Finding::new(&source.path, at + 1, words)).collect()
}

/// rustfmt puts spaces around comparisons and none around generics.
fn compares(line: &str) -> bool {
    ORDER.iter().chain(&CALLS).any(|mark| beside(line, mark)) || is_range(line)
}

/// Whether a revision stands on either side of a mark.
fn beside(line: &str, mark: &str) -> bool {
    let mut sides = line.match_indices(mark).map(|(at, mark)| (last(&line[..at]), first(&line[at + mark.len()..])));
    sides.any(|(left, right)| is_revision(left) || is_revision(right))
}

/// `Revision::V… ..` or `..= Revision::V…`, as in a pattern.
fn is_range(line: &str) -> bool {
    line.match_indices("..").any(|(at, _)| {
        let after = line[at + 2..].trim_start_matches('=');
        last(&line[..at]).starts_with("Revision::V") || first(after).starts_with("Revision::V")
    })
}

fn is_path(symbol: char) -> bool {
    symbol.is_alphanumeric() || matches!(symbol, '_' | ':' | '.')
}

/// The path at the end of the left side, calls stripped: `x.revision()` is `x.revision`.
fn last(left: &str) -> &str {
    let left = left.trim_end().trim_end_matches("()");
    let start =
        left.rfind(|symbol| !is_path(symbol)).map_or(0, |at| at + left[at..].chars().next().map_or(1, char::len_utf8));
    left[start..].trim_start_matches('.')
}

/// The path at the start of the right side.
fn first(right: &str) -> &str {
    let right = right.trim_start_matches(['&', '*', ' ', '(']);
    right.split(|symbol| !is_path(symbol)).next().unwrap_or("")
}

fn is_revision(path: &str) -> bool {
    let name = path.rsplit(['.', ':']).next().unwrap_or("");
    path.contains("Revision::")
        || name == "rev"
        || name == "revision"
        || name.ends_with("_rev")
        || name.ends_with("_revision")
}

#[cfg(test)]
mod tests {
    use super::compares;

    #[test]
    fn order_between_revisions_is_found() {
        for line in [
            "if revision < Revision::V2025_06_18 {",
            "if rev >= oldest {",
            "x.revision() <= y",
            "let a = 3 > self.client_revision;",
            "a.cmp(&Revision::V2025_03_26)",
            "ours.max(their.revision)",
            "self.revision.min(other)",
            "Revision::V2025_03_26..=Revision::V2025_11_25 => 1,",
            "..Revision::V2025_11_25 => 1,",
        ] {
            assert!(compares(line), "{line}");
        }
    }

    #[test]
    fn other_code_is_left_alone() {
        for line in [
            "if revision == Revision::V2025_06_18 {",
            "fn f(revision: Revision) -> Option<Revision> {",
            "revision.has(Feature::Titles)",
            "let x: Map<Revision, u8> = y;",
            "if retry < 3 && revision.has(Batch) {",
            "let previous = a < b;",
            "Self { revision, ..Self::default() }",
            "(Revision::V2025_06_18, 3)",
        ] {
            assert!(!compares(line), "{line}");
        }
    }
}
