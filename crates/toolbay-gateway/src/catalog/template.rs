//! Whether a URI could have come from a template (RFC 6570): literal text must match, an expression takes anything that
//! its kind may hold. Values are not recovered: the server that owns the template does that.

/// Whether `uri` fits `template`. Takes time in proportion to both lengths.
pub(super) fn fits(template: &str, uri: &str) -> bool {
    let Some(pieces) = pieces(template) else { return false };
    // Greedy matching with one point of return is enough: every expression takes any text of its alphabet.
    let (uri, mut at, mut piece) = (uri.as_bytes(), 0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match pieces.get(piece) {
            None if at == uri.len() => return true,
            None => None,
            Some(Piece::Literal(text)) => uri[at..].starts_with(text.as_bytes()).then(|| (at + text.len(), piece + 1)),
            Some(Piece::Any(_)) => {
                retry = Some((at, piece));
                Some((at, piece + 1))
            }
        };
        match (step, retry) {
            (Some((next, following)), _) => (at, piece) = (next, following),
            (None, Some((from, any))) => {
                let Some(Piece::Any(reserved)) = pieces.get(any) else { return false };
                match uri.get(from) {
                    Some(byte) if *reserved || !matches!(byte, b'/' | b'?' | b'#') => {
                        retry = Some((from + 1, any));
                        (at, piece) = (from + 1, any + 1);
                    }
                    Some(_) | None => return false,
                }
            }
            (None, None) => return false,
        }
    }
}

enum Piece<'t> {
    Literal(&'t str),
    /// An expression; whether it may hold slashes.
    Any(bool),
}

fn pieces(template: &str) -> Option<Vec<Piece<'_>>> {
    let (mut rest, mut pieces) = (template, vec![]);
    while !rest.is_empty() {
        match rest.find('{') {
            Some(0) => {
                let end = rest.find('}')?;
                // `+`, `#`, `/`, `?` and `&` put reserved characters into what they expand to.
                pieces.push(Piece::Any(rest[1..end].starts_with(['+', '#', '/', '?', '&', ';', '.'])));
                rest = &rest[end + 1..];
            }
            Some(start) => {
                pieces.push(Piece::Literal(&rest[..start]));
                rest = &rest[start..];
            }
            None => {
                pieces.push(Piece::Literal(rest));
                rest = "";
            }
        }
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn literals_must_match_and_expressions_take_their_kind() {
        for (template, uri, fit) in [
            ("test://a/{id}/data", "test://a/7/data", true),
            ("test://a/{id}/data", "test://a/7/8/data", false),
            ("test://a/{+path}", "test://a/7/8/data", true),
            ("test://a/{id}", "test://a/", true),
            ("file:///{x}.{y}", "file:///a.b.c", true),
            ("file:///{x", "file:///a", false),
            ("a{?q}", "a?q=1", true),
            ("fixed", "fixed", true),
            ("fixed", "fixed2", false),
        ] {
            assert_eq!(fits(template, uri), fit, "{template} {uri}");
        }
        let long = "a".repeat(50_000);
        assert!(!fits("{x}b{y}b{z}c", &long));
    }
}
