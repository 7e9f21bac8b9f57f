use super::*;

fn parse(text: &str) -> Result<Frame, Rejected> {
    Frame::parse(&Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn what_is_read_is_written_again_and_shares_the_buffer() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":1.50}}}"#,
        r#"{"jsonrpc":"2.0","id":"a\"b","method":"odd/\"one"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":-7,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":1e400}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
    ] {
        let text = Bytes::copy_from_slice(text.as_bytes());
        let frame = Frame::parse(&text).unwrap();
        assert_eq!(frame.to_bytes(), text);
        if let Frame::Request { params: Some(params), .. } = &frame {
            assert!(text.as_ptr_range().contains(&params.as_bytes().as_ptr()));
        }
    }
}

#[test]
fn bad_messages_are_named_and_keep_their_id_where_it_is_sound() {
    let check = |text: &str, code: i64, id: Option<Id>| {
        let rejected = parse(text).expect_err(text);
        assert_eq!((ErrorObject::from(rejected.fault.clone()).code, rejected.id), (code, id), "{text}");
    };
    check("{", -32700, None);
    check("[]", -32600, None);
    check("1", -32600, None);
    check("{}", -32600, None);
    check(r#"{"id":1,"method":"x"}"#, -32600, Some(Id::Number(1)));
    check(r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, -32600, Some(Id::Number(1)));
    check(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, -32600, None);
    check(r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, -32600, None);
    check(r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, -32600, None);
    check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, Some(Id::Number(1)));
    check(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}"#, -32600, Some(Id::Number(1)));
    check(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, -32600, Some(Id::Number(1)));
    check(r#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#, -32700, Some(Id::Number(1)));
    check(r#"{"jsonrpc":"2.0","id":1,"method":"x","Method":"y"}"#, -32700, Some(Id::Number(1)));
    check(r#"{"jsonrpc":"2.0","id":1,"method":"x","meth\u006fd":"y"}"#, -32700, Some(Id::Number(1)));
    check(r#"{"jsonrpc":"2.0","result":{}}"#, -32600, None);
    assert_eq!(Frame::parse(&Bytes::from_static(b"\"\xff\"")).unwrap_err().fault, Flaw::Utf8(1).into());
}

#[test]
fn null_result_is_a_result_and_unknown_members_are_let_by() {
    assert!(matches!(parse(r#"{"jsonrpc":"2.0","id":1,"result":null,"x":1}"#), Ok(Frame::Result { .. })));
    assert!(matches!(parse(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#), Ok(Frame::Error { id: None, .. })));
}

#[test]
fn an_id_before_what_is_too_deep_is_kept() {
    let text = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{}"#, "[".repeat(1000));
    let rejected = parse(&text).unwrap_err();
    assert!(matches!(rejected.fault, Fault::Malformed(Malformed::Json(Flaw::TooDeep(_)))));
    assert_eq!(rejected.id, Some(Id::Number(7)));
}
