use super::*;

fn raw(text: &str) -> Raw {
    Raw::parse(Bytes::copy_from_slice(text.as_bytes()), Limits::DEFAULT).unwrap()
}

#[test]
fn what_is_not_edited_stays_as_it_was_written() {
    let (one, two) = (raw("1"), raw("[2 ]"));
    let edits = [("k", Some(&one)), ("a", Some(&two)), ("gone", None)];
    for (text, edited) in [
        ("{}", r#"{"k":1,"a":[2 ]}"#),
        ("{ }", r#"{ "k":1,"a":[2 ]}"#),
        (r#"{"a":{}}"#, r#"{"a":[2 ],"k":1}"#),
        (r#"{"b":"{" , "\u0061" : 7 , "c":1.50 }"#, r#"{"b":"{" , "\u0061" : [2 ] , "c":1.50 ,"k":1}"#),
        (r#"{"k":0,"a":0}"#, r#"{"k":1,"a":[2 ]}"#),
        // A member that goes, and one that stands twice.
        (r#"{"b": 0, "gone" :1 ,"k":2}"#, r#"{"b":0,"k":1,"a":[2 ]}"#),
        (r#"{"k":0,"k":2,"a":3}"#, r#"{"k":1,"a":[2 ]}"#),
        ("[1]", r#"{"k":1,"a":[2 ]}"#),
    ] {
        assert_eq!(raw(text).with(&edits), raw(edited), "{text}");
    }
}

#[test]
fn members_are_slices_of_the_same_buffer() {
    let object = raw(r#"{"name":"x","arguments":{"n":1.50,"s":"}\"]"},"l":[1,[2]],"z":null}"#);
    let all: Vec<_> = object.members().map(|m| (m.key.into_owned(), format!("{:?}", m.value))).collect();
    let expected = [("name", r#""x""#), ("arguments", r#"{"n":1.50,"s":"}\"]"}"#), ("l", "[1,[2]]"), ("z", "null")];
    assert_eq!(all, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
    let inner = object.get("arguments").unwrap();
    assert!(object.as_bytes().as_ptr_range().contains(&inner.as_bytes().as_ptr()));
    assert_eq!(raw(" [1, {\"a\":2} ,\"]\"]").elements().count(), 3);
}

#[test]
fn edits_leave_the_rest_as_written() {
    let object = raw(r#"{"a": 1.50, "b":2,"c":3}"#);
    let (nine, x) = (raw("9"), raw("\"x\""));
    let edited = object.with(&[("b", Some(&nine)), ("c", None), ("d", Some(&x))]);
    assert_eq!(format!("{edited:?}"), r#"{"a":1.50,"b":9,"d":"x"}"#);
    assert_eq!(format!("{:?}", Raw::NULL.with(&[("a", Some(&nine))])), r#"{"a":9}"#);
}

#[test]
fn keys_alike_but_for_case_or_escapes_are_one_key() {
    for bad in [r#"{"a":1,"a":2}"#, r#"{"name":1,"Name":2}"#, r#"{"name":1,"n\u0061me":2}"#, "{\"s\":1,\"ſ\":2}"] {
        assert!(raw(bad).distinct().is_err(), "{bad}");
    }
    assert!(raw(r#"{"a":1,"b":{"a":2}}"#).distinct().is_ok());
    let many: Vec<_> = (0..40).map(|n| format!("\"k{n}\":{n}")).collect();
    assert!(raw(&format!("{{{}}}", many.join(","))).distinct().is_ok());
    assert!(raw(&format!("{{{},\"K3\":0}}", many.join(","))).distinct().is_err());
}

#[test]
fn a_key_that_is_no_text_is_found_as_it_is_listed() {
    let object = raw(r#"{"\ud800":1}"#);
    let key = object.members().next().unwrap().key.into_owned();
    assert_eq!(object.get(&key), Some(raw("1")));
}

#[test]
fn several_members_are_found_in_one_walk() {
    let object = raw(r#"{"b":2,"\u0061":1,"é":3}"#);
    let [a, b, c] = object.gather(["a", "b", "c"]).unwrap();
    assert_eq!((a, b, c), (Some(raw("1")), Some(raw("2")), None));
    assert!(raw(r#"{"a":1,"b":2,"A":3}"#).gather(["a"]).is_err());
    assert_eq!(Raw::NULL.gather(["a"]), Ok([None]));
}

#[test]
fn many_keys_are_looked_at_once() {
    let members: Vec<_> = (0..100_000).map(|number| format!("\"k{number}\":0")).collect();
    let object = Raw::parse(format!("{{{}}}", members.join(",")).into(), Limits::DEFAULT).unwrap();
    let [first, last] = object.gather(["k0", "k99999"]).unwrap();
    assert_eq!((first, last), (Some(Raw::ZERO), Some(Raw::ZERO)));
    let twins = object.with(&[("K7", Some(&Raw::ZERO))]);
    assert!(twins.gather(["k0"]).is_err());
}
