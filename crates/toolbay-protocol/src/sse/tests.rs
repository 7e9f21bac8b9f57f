use std::time::Duration;

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;

use super::*;

type Pulled = Vec<Result<Item, StreamFault>>;

fn pull_all(decoder: &mut Decoder) -> Pulled {
    std::iter::from_fn(|| decoder.pull().transpose()).collect()
}

fn decode(stream: &[u8]) -> Pulled {
    let mut decoder = Decoder::default();
    decoder.push(Bytes::copy_from_slice(stream));
    pull_all(&mut decoder)
}

fn message(data: &str) -> Item {
    Item::Message(Message { id: None, name: Name::Message, retry: None, data: Bytes::copy_from_slice(data.as_bytes()) })
}

fn priming_item(id: Option<&str>, retry: Option<u64>) -> Item {
    Item::Priming(Priming { id: id.map(str::to_owned), retry: retry.map(Duration::from_millis) })
}

fn check(stream: &str, expected: &[Item]) {
    let found: Vec<_> = decode(stream.as_bytes()).into_iter().map(Result::unwrap).collect();
    assert_eq!(found, expected, "{stream:?}");
}

#[test]
fn lines_end_in_any_of_three_ways() {
    for end in ["\n", "\r", "\r\n"] {
        check(&format!("data: a{end}data: b{end}{end}data:c{end}{end}"), &[message("a\nb"), message("c")]);
    }
}

#[test]
fn only_one_space_is_taken_from_a_value() {
    check("data:  a\n\n", &[message(" a")]);
}

#[test]
fn what_says_nothing_is_ignored() {
    check("\u{feff}data: a\n\n", &[message("a")]);
    check(": comment\n\nnonsense\nunknown: x\ndata: a\n\n", &[message("a")]);
    check("event: x\n\n\n\n", &[]);
    check("data: never ended", &[]);
    check("data: a\nretry: 1.5\nretry: -1\nretry:\nretry: 99999999999999999999999\n\n", &[message("a")]);
    check("id: a\0b\ndata: a\n\n", &[message("a")]);
}

#[test]
fn an_event_without_data_still_primes() {
    check("id: 7\ndata: \n\n", &[priming_item(Some("7"), None)]);
    check("id: 7\n\n", &[priming_item(Some("7"), None)]);
    check("retry: 500\ndata\n\n", &[priming_item(None, Some(500))]);
    check("id\n\n", &[priming_item(Some(""), None)]);
}

#[test]
fn names_are_told_apart() {
    let names: Vec<_> = decode(b"event: endpoint\ndata: a\n\nevent: message\ndata: a\n\nevent: ping\ndata: a\n\n")
        .into_iter()
        .map(|item| match item.unwrap() {
            Item::Message(message) => message.name,
            Item::Priming(_) => panic!("has data"),
        })
        .collect();
    assert_eq!(names, [Name::Endpoint, Name::Message, Name::Other("ping".into())]);
}

#[test]
fn a_bad_event_does_not_end_the_stream() {
    let found = decode(b"data: \xff\n\nid: \xff\n\ndata: a\n\n");
    assert_eq!(found, [Err(StreamFault::NotUtf8), Err(StreamFault::NotUtf8), Ok(message("a"))]);
}

#[test]
fn an_oversized_event_is_named_at_once_and_skipped() {
    let mut decoder = Decoder::with_limit(8);
    decoder.push(Bytes::from_static(b"data: 12345678\n\ndata: 1234567890123456789"));
    assert_eq!(pull_all(&mut decoder), [Ok(message("12345678")), Err(StreamFault::TooLarge { limit: 8 })]);
    decoder.push(Bytes::from_static(b"more\ndata: more\n\ndata: a\n\n"));
    assert_eq!(pull_all(&mut decoder), [Ok(message("a"))]);
    decoder.push(Bytes::from_static(b"data: 12345\ndata: 6789\ndata: x\n\ndata: b\n\n"));
    assert_eq!(pull_all(&mut decoder), [Err(StreamFault::TooLarge { limit: 8 }), Ok(message("b"))]);
    decoder.push(Bytes::from("data\n".repeat(20) + "\ndata: c\n\n"));
    assert_eq!(pull_all(&mut decoder), [Err(StreamFault::TooLarge { limit: 8 }), Ok(message("c"))]);
    assert!(StreamFault::TooLarge { limit: 8 }.to_string().contains("8 bytes"));
}

#[test]
fn keep_alives_never_add_up_to_the_limit() {
    let mut decoder = Decoder::with_limit(8);
    decoder.push(Bytes::from(": ping\n".repeat(100) + "data: a\n" + &": ping\n".repeat(100) + "\n"));
    assert_eq!(pull_all(&mut decoder), [Ok(message("a"))]);
}

#[test]
fn data_that_came_whole_is_a_slice_of_the_chunk() {
    let chunk = Bytes::from(b"data: {\"a\":1}\n\n".to_vec());
    let mut decoder = Decoder::default();
    decoder.push(chunk.clone());
    let Some(Item::Message(message)) = decoder.pull().unwrap() else { panic!("one message") };
    assert_eq!(message.data.as_ptr(), chunk[6..].as_ptr());
}

#[test]
fn a_large_event_in_small_chunks_is_read_in_linear_time() {
    let payload = vec![b'x'; 24 << 20];
    let mut wire = BytesMut::new();
    Event::of(&payload).write(&mut wire);
    let mut decoder = Decoder::with_limit(32 << 20);
    let mut wire = wire.freeze();
    let mut found = Vec::new();
    while !wire.is_empty() {
        decoder.push(wire.split_to(wire.len().min(4096)));
        found.extend(decoder.pull().unwrap());
    }
    let [Item::Message(message)] = &found[..] else { panic!("one message") };
    assert!(message.data == payload);
    assert!(!decoder.is_mid_event());
}

#[test]
fn the_writer_splits_and_cleans() {
    let mut out = BytesMut::new();
    let event = Event {
        id: Some("a\nid: b\0"),
        name: Some("message"),
        retry: Some(Duration::from_millis(250)),
        data: b"1\r\n2\r3\n",
    };
    event.write(&mut out);
    assert_eq!(out, "id: aid: b\nevent: message\nretry: 250\ndata: 1\ndata: 2\ndata: 3\ndata: \n\n");
    out.clear();
    priming("7", None, &mut out);
    keep_alive(&mut out);
    comment("a\nb", &mut out);
    assert_eq!(out, "id: 7\ndata: \n\n:\n\n: a\n: b\n\n");
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"data"[..],
        b"id",
        b"event",
        b"retry",
        b":",
        b": ",
        b"\r",
        b"\n",
        b"\r\n",
        b"\n\n",
        b"\r\n\r\n",
        b"\xef\xbb\xbf",
        b"12",
        b"endpoint",
        b"{}",
        b"\0",
        b"\xff",
        b"\xc3\xa9",
        b"0123456789012345678901234567890123456789",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn where_a_stream_is_cut_changes_nothing(stream in pieces(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let whole = {
            let mut decoder = Decoder::with_limit(48);
            decoder.push(Bytes::from(stream.clone()));
            pull_all(&mut decoder)
        };
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let mut eager = Decoder::with_limit(48);
        let mut lazy = Decoder::with_limit(48);
        let mut found = Vec::new();
        for pair in cuts.windows(2) {
            let chunk = Bytes::copy_from_slice(&stream[pair[0]..pair[1]]);
            lazy.push(chunk.clone());
            eager.push(chunk);
            found.extend(pull_all(&mut eager));
        }
        prop_assert_eq!(&whole, &found);
        prop_assert_eq!(&whole, &pull_all(&mut lazy));
    }

    #[test]
    fn what_is_written_is_read(id in prop::option::of("[^\r\n\0]{0,8}"), data in "[^\r]{1,40}", retry in prop::option::of(any::<u32>())) {
        let retry = retry.map(|ms| Duration::from_millis(ms.into()));
        let mut out = BytesMut::new();
        Event { id: id.as_deref(), name: None, retry, data: data.as_bytes() }.write(&mut out);
        let expected = Item::Message(Message { id, name: Name::Message, retry, data: Bytes::from(data) });
        prop_assert_eq!(decode(&out), vec![Ok(expected)]);
    }
}
