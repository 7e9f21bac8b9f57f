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
    check("x://a{#part}", &[("part", "s/1")], "x://a#s/1");
    check("x://a{.ext}", &[("ext", "txt")], "x://a.txt");
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
