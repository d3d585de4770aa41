//! Tests of the format's variants among back ends.

mod calls;

use super::*;
use docent_domain::chat::ToolCall;

/// Decodes a response in pieces; returns its events and the error that ended it.
fn decode_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<ChatEvent>, Result<(), CallError>) {
    let mut decoder = CompletionDecoder::new(3, OutputReader::new(["find".to_owned()], false));
    let mut result = pieces.into_iter().try_for_each(|piece| decoder.push(piece));
    if result.is_ok() {
        result = decoder.end();
    }
    (std::iter::from_fn(|| decoder.next_event()).collect(), result)
}

fn decode(text: &str) -> Vec<ChatEvent> {
    let (events, result) = decode_pieces([text.as_bytes()]);
    result.unwrap();
    events
}

/// Decodes a stream of chunks that ends with `[DONE]`.
fn stream(chunks: &[&str]) -> Vec<ChatEvent> {
    let events: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    decode(&format!("{events}data: [DONE]\n\n"))
}

fn fault(text: &str) -> Fault {
    match decode_pieces([text.as_bytes()]).1.unwrap_err() {
        CallError::Fault(fault) => fault,
        CallError::Backend(error) => panic!("{error:?}"),
    }
}

fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
}

fn text(words: &str) -> ChatEvent {
    ChatEvent::Text(words.to_owned())
}

fn call(id: &str, name: &str, arguments: &str) -> ChatEvent {
    ChatEvent::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() })
}

fn finished(reason: FinishReason) -> ChatEvent {
    ChatEvent::Finished { reason, usage: None }
}

const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

#[test]
fn text_deltas_become_text_events() {
    let chunks = [
        r#"{"id":"x","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"Hel"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"lo\n"}}]}"#,
        STOP,
    ];
    assert_eq!(stream(&chunks), [text("Hel"), text("lo\n"), finished(FinishReason::Stop)]);
}

#[test]
fn empty_deltas_and_null_content_yield_no_events() {
    let empty =
        ["{}", r#"{"content":null}"#, r#"{"content":""}"#, r#"{"content":null,"tool_calls":null}"#, "null"];
    let mut chunks: Vec<String> = empty.iter().map(|empty| delta(empty)).collect();
    chunks.extend([r#"{"choices":[]}"#, r#"{"choices":null}"#, "{}", STOP].map(String::from));
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
    assert_eq!(stream(&chunks), [finished(FinishReason::Stop)]);
}

#[test]
fn list_of_parts_yields_text() {
    let parts =
        r#"{"content":[{"type":"text","text":"a"},{"type":"image_url","text":"x"},{"text":"b"},"c"]}"#;
    assert_eq!(stream(&[&delta(parts)]), [text("abc"), finished(FinishReason::Stop)]);
}

#[test]
fn refusal_yields_text() {
    let refusal = delta(r#"{"content":null,"refusal":"I cannot."}"#);
    assert_eq!(stream(&[&refusal]), [text("I cannot."), finished(FinishReason::Stop)]);
}

#[test]
fn reasoning_of_every_field_is_no_text() {
    for fields in [
        r#""reasoning_content":"hm""#,
        r#""reasoning":"hm","reasoning_content":"hm""#,
        r#""thinking":"hm""#,
        r#""thinking":[{"type":"text","text":"hm"}]"#,
        r#""reasoning":{"text":"hm"}"#,
        r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]"#,
        r#""content":[{"type":"reasoning","text":"hm"}]"#,
        r#""content":"<think>hm</think>""#,
    ] {
        let expected = [ChatEvent::Reasoning("hm".to_owned()), text("a"), finished(FinishReason::Stop)];
        let chunks = [delta(&format!("{{{fields}}}")), delta(r#"{"content":"a"}"#)];
        assert_eq!(stream(&[&chunks[0], &chunks[1]]), expected, "{fields}");
    }
}

#[test]
fn other_choices_are_ignored() {
    let second = r#"{"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}"#;
    assert_eq!(stream(&[second]), [text("a"), finished(FinishReason::Stop)]);
}

#[test]
fn message_in_place_of_delta_is_accepted() {
    let chunk = r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    assert_eq!(stream(&[chunk]), [text("a"), finished(FinishReason::Stop)]);
}

#[test]
fn finish_reasons_of_all_back_ends_are_mapped() {
    let reason = |name: &str| {
        let chunk = format!(r#"{{"choices":[{{"delta":{{"content":"a"}},"finish_reason":{name}}}]}}"#);
        stream(&[&chunk]).pop()
    };
    for name in [r#""stop""#, r#""end_turn""#, r#""eos_token""#, r#""""#, "null"] {
        assert_eq!(reason(name), Some(finished(FinishReason::Stop)), "{name}");
    }
    for name in [r#""length""#, r#""max_tokens""#, r#""model_length""#] {
        assert_eq!(reason(name), Some(finished(FinishReason::Length)), "{name}");
    }
    assert_eq!(reason(r#""content_filter""#), Some(finished(FinishReason::ContentFilter)));
    for name in [r#""bored""#, r#""tool_calls""#, "7"] {
        assert_eq!(reason(name), Some(finished(FinishReason::Other)), "{name}");
    }
}

#[test]
fn usage_is_read_from_any_chunk() {
    let usage = r#""usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}"#;
    let own_chunk = format!(r#"{{"choices":[],{usage}}}"#);
    let last_chunk = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"stop"}}],{usage}}}"#);
    let other_names = r#"{"choices":[],"usage":{"input_tokens":7.0,"output_tokens":2}}"#;
    let expected = [ChatEvent::Finished {
        reason: FinishReason::Stop,
        usage: Some(TokenUsage { prompt: 7, completion: 2 }),
    }];
    assert_eq!(stream(&[STOP, &own_chunk]), expected);
    assert_eq!(stream(&[&last_chunk]), expected);
    assert_eq!(stream(&[STOP, other_names]), expected);
    // The last count is the complete one.
    let early = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":0}}"#;
    assert_eq!(stream(&[early, STOP, &own_chunk, r#"{"choices":[],"usage":null}"#]), expected);
}

#[test]
fn zero_usage_counts_as_missing() {
    let zeros = r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}"#;
    for usage in [zeros, r#"{"choices":[],"usage":{}}"#, r#"{"choices":[],"usage":null}"#] {
        assert_eq!(stream(&[STOP, usage]), [finished(FinishReason::Stop)]);
    }
}

#[test]
fn usage_under_both_names_is_read_once_and_implausible_usage_ignored() {
    let both = r#"{"choices":[],"usage":{"prompt_tokens":7,"input_tokens":7,"output_tokens":2}}"#;
    let usage = Some(TokenUsage { prompt: 7, completion: 2 });
    assert_eq!(stream(&[STOP, both]), [ChatEvent::Finished { reason: FinishReason::Stop, usage }]);
    for nonsense in ["18446744073709551615", "1e300"] {
        let usage = format!(
            r#"{{"choices":[],"usage":{{"prompt_tokens":{nonsense},"completion_tokens":{nonsense}}}}}"#
        );
        assert_eq!(stream(&[STOP, &usage]), [finished(FinishReason::Stop)]);
    }
}

#[test]
fn finish_reason_or_done_completes_the_response() {
    let expected = [text("a"), finished(FinishReason::Stop)];
    let chunk = delta(r#"{"content":"a"}"#);
    assert_eq!(decode(&format!("data: {chunk}\n\ndata: {STOP}\n\n")), expected);
    assert_eq!(decode(&format!("data: {chunk}\n\ndata: {STOP}")), expected);
    assert_eq!(decode(&format!("data: {chunk}\n\ndata: [DONE]\n\n")), expected);
    assert_eq!(decode(&format!("data: {chunk}\n\ndata:[DONE] ")), expected);
}

#[test]
fn response_without_finish_reason_and_done_is_incomplete() {
    let chunk = delta(r#"{"content":"a"}"#);
    for text in [format!("data: {chunk}\n\n"), String::new(), " \n".to_owned(), ": ping\n\n".to_owned()] {
        let fault = fault(&text);
        assert_eq!(fault.kind(), FaultKind::Unavailable, "{text:?}");
        assert_eq!(fault.report(), "chat model: the response ended early");
    }
}

#[test]
fn data_after_done_is_ignored() {
    let text = format!("data: {STOP}\n\ndata: [DONE]\n\ndata: nonsense\n\n");
    assert_eq!(decode(&text), [finished(FinishReason::Stop)]);
}

#[test]
fn events_before_an_error_are_kept() {
    let chunk = delta(r#"{"content":"a"}"#);
    let errors = [
        r#"data: {"error":{"message":"overloaded","code":503}}"#,
        r#"data: {"choices":[{"delta":{},"finish_reason":"error"}],"error":{"message":"x","code":502}}"#,
        r#"data: {"object":"error","message":"overloaded","code":500}"#,
        "event: error\ndata: {\"message\":\"overloaded\"}",
        "event: error\ndata: overloaded",
    ];
    for error in errors {
        let (events, result) = decode_pieces([format!("data: {chunk}\n\n{error}\n\n").as_bytes()]);
        assert_eq!(events, [text("a")]);
        match result.unwrap_err() {
            CallError::Backend(reported) => assert_eq!(reported.kind, FaultKind::Unavailable, "{error}"),
            CallError::Fault(fault) => panic!("{fault}"),
        }
    }
}

#[test]
fn invalid_chunk_is_reported_without_quoting_it() {
    for data in ["{", "no json", "[]", "7", r#"{"choices":"secret"}"#, r#"{"choices":[{"delta":"secret"}]}"#]
    {
        let fault = fault(&format!("data: {data}\n\n"));
        assert_eq!(fault.kind(), FaultKind::InvalidResponse, "{data}");
        assert!(!fault.report().contains("secret"), "{fault}");
    }
}

#[test]
fn unstreamed_response_is_accepted() {
    let body = r#" {
        "id": "x", "object": "chat.completion", "model": "m-1",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Let me see.",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "find", "arguments": "{}"}}]
        }}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2}
    }"#;
    let usage = Some(TokenUsage { prompt: 7, completion: 2 });
    let end = ChatEvent::Finished { reason: FinishReason::ToolCalls, usage };
    assert_eq!(decode(body), [text("Let me see."), call("a", "find", "{}"), end]);
    let bare = r#"{"choices":[{"message":{"content":"a"}}]}"#;
    assert_eq!(decode(bare), [text("a"), finished(FinishReason::Stop)]);
}

#[test]
fn unstreamed_response_without_choice_is_invalid() {
    for body in ["{}", r#"{"choices":[]}"#, r#"{"choices":[{"message""#, r#"{"detail":"hm"}"#] {
        assert_eq!(fault(body).kind(), FaultKind::InvalidResponse, "{body}");
    }
    let (_, result) =
        decode_pieces([br#"{"error":{"message":"no","type":"invalid_request_error"}}"#.as_slice()]);
    assert!(matches!(result, Err(CallError::Backend(error)) if error.kind == FaultKind::Rejected));
}

#[test]
fn oversized_response_is_invalid() {
    let words = delta(&format!(r#"{{"content":"{}"}}"#, "x".repeat(512 * 1024)));
    let chunk = format!("data: {words}\n\n");
    let (events, result) = decode_pieces(std::iter::repeat_n(chunk.as_bytes(), 9));
    assert_eq!(events.len(), 8 + 1);
    assert!(matches!(result, Err(CallError::Fault(fault)) if fault.kind() == FaultKind::InvalidResponse));

    let whole =
        std::iter::once(b"{".as_slice()).chain(std::iter::repeat_n([b' '; 1024 * 1024].as_slice(), 9));
    assert!(
        matches!(decode_pieces(whole).1, Err(CallError::Fault(fault)) if fault.kind() == FaultKind::InvalidResponse)
    );

    let comment = format!(":{}\n", "x".repeat(512 * 1024));
    let (_, result) = decode_pieces(std::iter::repeat_n(comment.as_bytes(), 129));
    assert!(matches!(result, Err(CallError::Fault(fault)) if fault.kind() == FaultKind::InvalidResponse));

    let one =
        |n: usize| format!(r#"{{"index":{n},"id":"{n}","function":{{"name":"f","arguments":"{{}}"}}}}"#);
    let many = delta(&format!(r#"{{"tool_calls":[{}]}}"#, (0..129).map(one).collect::<Vec<_>>().join(",")));
    assert_eq!(fault(&format!("data: {many}\n\n")).kind(), FaultKind::InvalidResponse);
}

/// Responses with most of the variants above, to be split into pieces.
fn samples() -> Vec<String> {
    let calls = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"é"}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}},{"id":"b","function":{"name":"g"}}]}"#,
    ];
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
    vec![
        format!(
            "\u{feff}: hi\r\n\r\ndata: {}\r\n\r\ndata: {}\r\n\r\ndata: {}\r\n\r\ndata: {usage}\r\n\r\ndata: [DONE]",
            delta(r#"{"content":"ä🚰"}"#),
            delta(calls[0]),
            delta(calls[1]),
        ),
        format!("data: {}\n\ndata: {{\"error\":\ndata: {{}}}}\n\n", delta(r#"{"content":"a"}"#)),
        format!("data: {}\n\ndata: {{\n\n", delta(r#"{"content":"a"}"#)),
        format!(" \n data: {STOP}\n\n"),
        "\n {\"choices\":[{\"message\":{\"content\":\"ä🚰\"},\"finish_reason\":\"length\"}]}\n".to_owned(),
    ]
}

fn decoded<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    format!("{:?}", decode_pieces(pieces))
}

#[test]
fn splitting_at_any_byte_gives_the_same_events() {
    for sample in samples() {
        let bytes = sample.as_bytes();
        let whole = decoded([bytes]);
        for at in 0..=bytes.len() {
            let (first, second) = bytes.split_at(at);
            assert_eq!(decoded([first, second]), whole, "cut at {at}");
        }
        for size in 1..=9 {
            assert_eq!(decoded(bytes.chunks(size)), whole, "pieces of {size}");
        }
    }
}

#[test]
fn random_splits_give_the_same_events() {
    // A deterministic xorshift generator.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    for sample in samples() {
        let whole = decoded([sample.as_bytes()]);
        for _ in 0..500 {
            let mut pieces = Vec::new();
            let mut rest = sample.as_bytes();
            while !rest.is_empty() {
                // Pieces may be empty.
                let (piece, after) = rest.split_at(below(40).min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            assert_eq!(
                decoded(pieces.iter().copied()),
                whole,
                "{:?}",
                pieces.iter().map(|p| p.len()).collect::<Vec<_>>()
            );
        }
    }
}
