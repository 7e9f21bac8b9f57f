//! The lines of an `envFile`: `NAME=VALUE`, as editors and containers write them. Nothing in them is filled in.

/// Reads the lines; an error is the number of the line that cannot be read.
pub(super) fn read(text: &str) -> Result<Vec<(String, String)>, usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut variables = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or(number + 1)?;
        let name = name.trim();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(number + 1);
        }
        variables.push((name.to_owned(), unquote(value.trim()).ok_or(number + 1)?));
    }
    Ok(variables)
}

fn unquote(value: &str) -> Option<String> {
    match value.chars().next() {
        Some('\'') => {
            let (inside, rest) = value[1..].split_once('\'')?;
            is_trailing(rest).then(|| inside.to_owned())
        }
        Some('"') => double_quoted(&value[1..]),
        Some('#') => Some(String::new()),
        _ => {
            let end = value.find(" #").unwrap_or(value.len());
            Some(value[..end].trim_end().to_owned())
        }
    }
}

fn double_quoted(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = value.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return is_trailing(&value[at + 1..]).then_some(text),
            '\\' => match letters.next()?.1 {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                plain @ ('"' | '\\' | '$') => text.push(plain),
                other => text.extend(['\\', other]),
            },
            other => text.push(other),
        }
    }
    None
}

/// What may follow a closing quote.
fn is_trailing(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_editors_write_them() {
        fn check(text: &str, expected: Result<&[(&str, &str)], usize>) {
            let expected = expected.map(|pairs| pairs.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect());
            assert_eq!(read(text), expected, "{text:?}");
        }
        check("", Ok(&[]));
        check("# all\n\nA=1\nexport B = two words \n", Ok(&[("A", "1"), ("B", "two words")]));
        check("A=\nB=x=y", Ok(&[("A", ""), ("B", "x=y")]));
        check("A=one # why\nB=one#two\nC= # none", Ok(&[("A", "one"), ("B", "one#two"), ("C", "")]));
        check(r#"A="x # \"y\" \n" # z"#, Ok(&[("A", "x # \"y\" \n")]));
        check(r"A='x \n $B'", Ok(&[("A", r"x \n $B")]));
        check("A=1\r\nB=2\r\n", Ok(&[("A", "1"), ("B", "2")]));
        check("A=1\nnothing", Err(2));
        check("A=\"open", Err(1));
        check("=1", Err(1));
    }
}
