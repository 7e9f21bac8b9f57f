use super::*;
use toolbay_protocol::types::Dict;

fn dict(pairs: &[(&str, &str)]) -> Dict<String> {
    pairs.iter().map(|(key, value)| (*key, (*value).to_owned())).collect()
}

#[test]
fn what_is_filled_in_is_read_back() {
    let check = |template: &str, values: &[(&str, &str)], uri: &str| {
        let template = UriTemplate::parse(template).unwrap();
        assert_eq!(template.expand(&dict(values)), uri);
        assert_eq!(template.matches(uri), Some(dict(values)), "{uri}");
    };
    check("test://template/{id}/data", &[("id", "12 é/3")], "test://template/12%20%C3%A9%2F3/data");
    check("file:///{+path}", &[("path", "a/b c.txt")], "file:///a/b%20c.txt");
    check("x://{a}-{b}", &[("a", "1"), ("b", "2-3")], "x://1-2-3");
    check("x://h{/a,b}", &[("a", "1"), ("b", "2")], "x://h/1/2");
    check("x://h{/a,b}", &[("a", "1")], "x://h/1");
    check("x://h{/a,b}", &[], "x://h");
    check("db://rows{?from,to}", &[("from", "1"), ("to", "a&b")], "db://rows?from=1&to=a%26b");
    check("db://rows{?from,to}", &[("to", "2")], "db://rows?to=2");
    check("db://rows{?from,to}", &[], "db://rows");
    check("db://rows?v=1{&to}", &[("to", "2")], "db://rows?v=1&to=2");
    check("db://rows{?from}{&to}", &[("from", "1"), ("to", "2")], "db://rows?from=1&to=2");
    check("x://a{;v}{;w}", &[("v", "1"), ("w", "2")], "x://a;v=1;w=2");
    check("file:///{+path}{?rev}{#line}", &[("path", "a/b"), ("rev", "1"), ("line", "7")], "file:///a/b?rev=1#7");
    check("file:///{+path}{?rev}", &[("path", "a#b")], "file:///a#b");
    check("x://a{#part}", &[("part", "s/1")], "x://a#s/1");
    check("x://a{.ext}", &[("ext", "txt")], "x://a.txt");
    check("x://a{.ext}", &[("ext", "tar.gz")], "x://a.tar.gz");
    check("x://a{.b,c}", &[("b", "1"), ("c", "2.3")], "x://a.1.2.3");
    check("x://a{;v}/b", &[("v", "1")], "x://a;v=1/b");
    check("{+all}", &[("all", "x:y?z#w")], "x:y?z#w");
}

#[test]
fn what_does_not_fit_is_told_apart() {
    let matches = |template: &str, uri: &str| UriTemplate::parse(template).unwrap().matches(uri);
    assert_eq!(matches("x://{id}", "x://"), None);
    assert_eq!(matches("x://{id}", "x://a/b"), None);
    assert_eq!(matches("x://{id}", "y://a"), None);
    assert_eq!(matches("x://{id}", "x://%zz"), None);
    assert_eq!(matches("x://{id}", "x://%+1"), None);
    assert_eq!(matches("x://{id}", "x://%ff"), None);
    // Names in any order, and others beside them.
    assert_eq!(matches("x://a{?b,c}", "x://a?c=1&z=9&b=2"), Some(dict(&[("c", "1"), ("b", "2")])));
    // A great many ways to divide it end in a refusal, not in a long search.
    assert_eq!(matches("{+a}{+b}{+c}{+d}{+e}!", &"x".repeat(5_000)), None);
}

#[test]
fn a_long_uri_is_not_read_over_and_over() {
    let matches = |template: &str, uri: &str| UriTemplate::parse(template).unwrap().matches(uri);
    let long = "%41".repeat(20_000);
    let began = std::time::Instant::now();
    for template in ["x{+a}!", "x{+a}{+b}!", "x{a}{b}{c}!", "x{+a}!{+b}?", "x{a}/{b}", "x{.a,b}{.c}!"] {
        assert_eq!(matches(template, &format!("x{long}")), None, "{template}");
        assert_eq!(matches(template, &format!("x{}", "!".repeat(60_000)).replace("!!", "!.")), None, "{template}");
    }
    // Many times what it takes, on a busy machine too.
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(matches("x{a}/{b}", &format!("x{long}/1")), Some(dict(&[("a", &"A".repeat(20_000)), ("b", "1")])));
}

#[test]
fn many_holes_in_a_row_are_divided_somehow() {
    let template = UriTemplate::parse("{/a,b}{c,d}{e}{f,g}{h,i}").unwrap();
    let uri = "/aaaaaaaaaaaa/bbb%3A%2F%2F%7Bid%7D%0Abb%3A%2F%2F,c5%00%00%00%00%00d5%00%00%00ee%3A%00%00%00ff,gh,i";
    let found = template.matches(uri).unwrap();
    assert_eq!(template.expand(&found), uri);
}

#[test]
fn a_text_that_is_no_template_says_why() {
    for (text, what) in [
        ("a{b", "never closed"),
        ("a}b", "closes nothing"),
        ("{}", "empty"),
        ("{a b}", "name of a hole"),
        ("{a:0}", "1 to 9999"),
    ] {
        assert!(UriTemplate::parse(text).unwrap_err().to_string().contains(what), "{text}");
    }
    assert_eq!(UriTemplate::parse("{+a,b}{?c*}").unwrap().variables().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn whatever_is_filled_in_is_read_back() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut roll = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 33).unwrap_or(0) % below
    };
    let letters: Vec<char> = "aZ0-._~ /?#&=%+,;:é漢\u{1f980}\"{}".chars().collect();
    for _ in 0..2_000 {
        let mut word = || -> String { (0..=roll(8)).map(|_| letters[roll(letters.len())]).collect() };
        let values = dict(&[("a", &word()), ("b", &word())]);
        for template in ["x://{a}/{b}", "x://h{/a,b}", "x://h{?a,b}", "x://h/{a}{?b}", "x://{a}{#b}"] {
            let template = UriTemplate::parse(template).unwrap();
            let uri = template.expand(&values);
            // What is reserved may stand in a fragment as it is, escapes included.
            if template.as_str().contains('#') && values.get("b").is_some_and(|b| b.contains('%')) {
                continue;
            }
            let found = template.matches(&uri).unwrap_or_else(|| panic!("{uri} of {}", template.as_str()));
            for name in ["a", "b"] {
                assert_eq!(found.get(name), values.get(name), "{uri} of {}", template.as_str());
            }
        }
    }
}

#[test]
fn no_text_is_too_odd_to_be_looked_at() {
    let odd = ["", "{", "}", "{}", "{a", "%", "%%", "\u{0}", "é", "{+a}{b}{?c}{&d}{#e}{/f}{;g}{.h}", "{a:3}{b*}"];
    for text in odd {
        let Ok(template) = UriTemplate::parse(text) else { continue };
        for uri in odd {
            template.matches(uri);
        }
    }
}
