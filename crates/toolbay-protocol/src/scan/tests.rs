use proptest::prelude::*;

use super::*;

fn verdict(text: &str) -> Result<(), Flaw> {
    check(text.as_bytes(), Limits { depth: 5, nodes: 50, ..Limits::DEFAULT }).map(drop)
}

#[test]
fn accepts_what_json_is_and_nothing_else() {
    for good in ["0", "-0.5e+3", " [1, {\"a\" : [] } , \"\\u00e9\\n\"] ", "{}", "null", "true", "\"\u{fe}x\"", "1e400"]
    {
        assert_eq!(verdict(good), Ok(()), "{good}");
    }
    for (bad, flaw) in [
        ("", Flaw::Truncated),
        ("01", Flaw::Syntax(1)),
        ("-", Flaw::Truncated),
        ("1.", Flaw::Truncated),
        ("[1,]", Flaw::Syntax(3)),
        ("{\"a\" 1}", Flaw::Syntax(5)),
        ("{a:1}", Flaw::Syntax(1)),
        ("[1}", Flaw::Syntax(2)),
        ("{]", Flaw::Syntax(1)),
        ("[}", Flaw::Syntax(1)),
        ("tru", Flaw::Truncated),
        ("\"\n\"", Flaw::Syntax(1)),
        ("\"\\x\"", Flaw::Syntax(2)),
        ("NaN", Flaw::Syntax(0)),
        ("1 2", Flaw::Syntax(2)),
        ("[[[[[[1]]]]]]", Flaw::TooDeep(5)),
    ] {
        assert_eq!(verdict(bad), Err(flaw), "{bad}");
    }
    assert_eq!(verdict(&format!("[{}1]", "1,".repeat(60))), Err(Flaw::TooMany(50)));
    assert_eq!(check(b"\"\xff\"", Limits::DEFAULT), Err(Flaw::Utf8(1)));
}

#[test]
fn a_hundred_thousand_brackets_are_refused_at_once() {
    let deep = "[".repeat(100_000);
    assert_eq!(check(deep.as_bytes(), Limits::DEFAULT), Err(Flaw::TooDeep(100)));
}

#[test]
fn a_flaw_is_found_wherever_it_stands_in_a_string() {
    for length in [0, 1, 7, 8, 9, 63, 64, 65, 71, 72, 319, 320, 321, 700] {
        let plain = "é".repeat(length / 2) + &"x".repeat(length % 2);
        assert_eq!(verdict(&format!("\"{plain}\"")), Ok(()), "{length}");
        assert_eq!(verdict(&format!("\"{plain}")), Err(Flaw::Truncated), "{length}");
        let at = plain.len() + 1;
        assert_eq!(verdict(&format!("\"{plain}\u{1}{plain}\"")), Err(Flaw::Syntax(at)), "{length}");
        assert_eq!(verdict(&format!("\"{plain}\\x{plain}\"")), Err(Flaw::Syntax(at + 1)), "{length}");
        assert_eq!(verdict(&format!("\"{plain}\\n{plain}\\\"{plain}\"")), Ok(()), "{length}");
    }
}

#[test]
fn members_come_with_their_place() {
    let text = br#" { "a" : 1 , "b\u0063":[2 ,"]}"] } "#;
    let mut seen = vec![];
    let each = |k: &[u8], v: Range<usize>| {
        seen.push((unquote(k).into_owned(), String::from_utf8_lossy(&text[v]).into_owned()));
        Ok(())
    };
    object(text, Limits::DEFAULT, each).unwrap();
    assert_eq!(seen, [("a".into(), "1".into()), ("bc".into(), "[2 ,\"]}\"]".into())]);
    assert_eq!(object(b"[1]", Limits::DEFAULT, |_, _| Ok(())), Err(Flaw::NotObject));
}

#[test]
fn a_trusted_string_ends_where_its_reader_says() {
    for inner in ["", "plain", r"a\\", r#"a\"b"#, r"\\\\", "long enough for more than one word at a time"] {
        let text = format!("\"{inner}\" , \"next\"");
        assert_eq!(trusted_string_end(text.as_bytes(), 1), inner.len() + 2, "{text}");
    }
    for open in [r#""open"#, r#""open\"#, r#""open\""#] {
        assert_eq!(trusted_string_end(open.as_bytes(), 1), open.len(), "{open}");
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[a-z\"\\\\\u{1}\u{e9}\u{4e2d}]{0,20}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map("[a-z\"]{0,5}", inner, 0..6).prop_map(|m| m.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn agrees_with_a_full_parser(value in any_json(), cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = serde_json::to_vec_pretty(&value).unwrap();
        prop_assert_eq!(check(&text, Limits::DEFAULT), Ok(0..text.len()));
        prop_assert_eq!(trusted_end(&text, 0), text.len());
        let place = cut.index(text.len());
        text[place] = byte;
        let theirs = serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok();
        let ours = check(&text, Limits::DEFAULT).is_ok();
        prop_assert_eq!(ours, theirs && std::str::from_utf8(&text).is_ok(), "{}", String::from_utf8_lossy(&text));
        text.truncate(place);
        prop_assert_eq!(check(&text, Limits::DEFAULT).is_ok(), serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok());
    }
}
