//! Tool calls: how their pieces, IDs and arguments are put together.

use super::*;

/// Decodes a stream of pieces of tool calls.
fn calls(deltas: &[&str]) -> Vec<ChatEvent> {
    let chunks: Vec<String> =
        deltas.iter().map(|calls| delta(&format!(r#"{{"tool_calls":[{calls}]}}"#))).collect();
    stream(&chunks.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn call_written_as_text_is_a_call() {
    let pieces = ["<tool_", "call>{\"name\": \"find\", \"arguments\": {\"q\": 1}}", "</tool_call>\n"];
    let chunks = pieces.map(|piece| delta(&serde_json::json!({ "content": piece }).to_string()));
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).chain([STOP]).collect();
    assert_eq!(stream(&chunks), [call("call_3_0", "find", r#"{"q":1}"#), finished(FinishReason::ToolCalls)]);
    // A back end that parses calls and passes their text on as well.
    let parsed =
        delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"find","arguments":"{\"q\":1}"}}]}"#);
    let chunks: Vec<&str> = chunks.into_iter().take(3).chain([parsed.as_str(), STOP]).collect();
    assert_eq!(stream(&chunks), [call("a", "find", r#"{"q":1}"#), finished(FinishReason::ToolCalls)]);
}

#[test]
fn call_in_the_older_format_is_a_call() {
    let chunks = [
        delta(r#"{"content":null,"function_call":{"name":"find","arguments":"{\"q\":"}}"#),
        delta(r#"{"function_call":{"arguments":"1}"}}"#),
        r#"{"choices":[{"delta":{"function_call":null},"finish_reason":"function_call"}]}"#.to_owned(),
    ];
    let events = stream(&chunks.each_ref().map(String::as_str));
    assert_eq!(events, [call("call_3_0", "find", r#"{"q":1}"#), finished(FinishReason::ToolCalls)]);
}

#[test]
fn whole_calls_without_distinct_index_and_id_are_separate() {
    for id in ["", r#""id":"","#, r#""id":"a","#] {
        let pieces = [1, 2].map(|n| {
            format!(r#"{{"index":0,{id}"function":{{"name":"find","arguments":"{{\"q\":{n}}}"}}}}"#)
        });
        let events = calls(&pieces.each_ref().map(String::as_str));
        let found: Vec<_> = events.iter().filter_map(arguments_of).collect();
        assert_eq!(found, [r#"{"q":1}"#, r#"{"q":2}"#], "{id}");
        // The same call twice is one call.
        let events = calls(&[&pieces[0], &pieces[0]]);
        assert_eq!(events.iter().filter_map(arguments_of).count(), 1, "{id}");
    }
}

fn arguments_of(event: &ChatEvent) -> Option<&str> {
    if let ChatEvent::ToolCall(call) = event { Some(&call.arguments) } else { None }
}

#[test]
fn tool_call_is_assembled_from_fragments() {
    let events = calls(&[
        r#"{"index":0,"id":"a","type":"function","function":{"name":"find","arguments":""}}"#,
        r#"{"index":0,"function":{"arguments":"{\"q\":"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}}"#,
    ]);
    assert_eq!(events, [call("a", "find", r#"{"q":1}"#), finished(FinishReason::ToolCalls)]);
}

#[test]
fn parallel_calls_are_ordered_by_index() {
    let events = calls(&[
        r#"{"index":1,"id":"b","function":{"name":"two","arguments":"{\"x\""}},{"index":0,"id":"a","function":{"name":"one"}}"#,
        r#"{"index":0,"function":{"arguments":"{}"}},{"index":1,"function":{"arguments":":2}"}}"#,
    ]);
    let expected =
        [call("a", "one", "{}"), call("b", "two", r#"{"x":2}"#), finished(FinishReason::ToolCalls)];
    assert_eq!(events, expected);
}

#[test]
fn whole_call_in_one_chunk_is_accepted() {
    let events = calls(&[r#"{"index":0,"id":"a","function":{"name":"find","arguments":"{\"q\":1}"}}"#]);
    assert_eq!(events, [call("a", "find", r#"{"q":1}"#), finished(FinishReason::ToolCalls)]);
}

#[test]
fn calls_without_index_are_distinguished_by_id_or_name() {
    let by_id = calls(&[
        r#"{"id":"a","function":{"name":"one","arguments":"{\"x\":"}}"#,
        r#"{"function":{"arguments":"1}"}}"#,
        r#"{"id":"b","function":{"name":"two","arguments":"{\"y\":"}}"#,
        r#"{"id":"b","function":{"arguments":"2}"}}"#,
    ]);
    let expected =
        [call("a", "one", r#"{"x":1}"#), call("b", "two", r#"{"y":2}"#), finished(FinishReason::ToolCalls)];
    assert_eq!(by_id, expected);

    let by_name = calls(&[
        r#"{"function":{"name":"one","arguments":"{\"x\":"}}"#,
        r#"{"function":{"name":"one","arguments":"1}"}}"#,
        r#"{"function":{"name":"one","arguments":"{}"}},{"function":{"name":"two","arguments":"{}"}}"#,
    ]);
    let expected = [
        call("call_3_0", "one", r#"{"x":1}"#),
        call("call_3_1", "one", "{}"),
        call("call_3_2", "two", "{}"),
        finished(FinishReason::ToolCalls),
    ];
    assert_eq!(by_name, expected);
}

#[test]
fn whole_calls_with_the_same_index_are_separate() {
    let events = calls(&[
        r#"{"index":0,"id":"a","function":{"name":"find","arguments":"{\"q\":1}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"find","arguments":"{\"q\":2}"}}"#,
    ]);
    let expected =
        [call("a", "find", r#"{"q":1}"#), call("b", "find", r#"{"q":2}"#), finished(FinishReason::ToolCalls)];
    assert_eq!(events, expected);
}

#[test]
fn repeated_name_or_changed_id_continues_the_call() {
    let names = calls(&[
        r#"{"index":0,"id":"a","function":{"name":"find","arguments":"{"}}"#,
        r#"{"index":0,"id":"a","function":{"name":"find","arguments":"}"}}"#,
    ]);
    assert_eq!(names, [call("a", "find", "{}"), finished(FinishReason::ToolCalls)]);
    let ids = calls(&[
        r#"{"index":0,"id":"a","function":{"name":"find","arguments":"{"}}"#,
        r#"{"index":0,"id":"z","function":{"name":"","arguments":"}"}}"#,
    ]);
    assert_eq!(ids, [call("a", "find", "{}"), finished(FinishReason::ToolCalls)]);
}

#[test]
fn missing_empty_and_duplicate_ids_are_generated() {
    let events = calls(&[
        r#"{"index":0,"function":{"name":"a","arguments":"{}"}}"#,
        r#"{"index":1,"id":"","function":{"name":"b","arguments":"{}"}}"#,
        r#"{"index":2,"id":"x","function":{"name":"c","arguments":"{}"}}"#,
        r#"{"index":3,"id":"x","function":{"name":"d","arguments":"{}"}}"#,
        r#"{"index":4,"id":7,"function":{"name":"e","arguments":"{}"}}"#,
    ]);
    let expected = [
        call("call_3_0", "a", "{}"),
        call("call_3_1", "b", "{}"),
        call("x", "c", "{}"),
        call("call_3_3", "d", "{}"),
        call("7", "e", "{}"),
        finished(FinishReason::ToolCalls),
    ];
    assert_eq!(events, expected);
}

#[test]
fn object_and_missing_arguments_become_json_text() {
    let events = calls(&[
        r#"{"index":0,"id":"a","function":{"name":"find","arguments":{"q":"é"}}}"#,
        r#"{"index":1,"id":"b","function":{"name":"list"}}"#,
        r#"{"index":2,"id":"c","function":{"name":"list","arguments":null}}"#,
        r#"{"index":3,"id":"d","function":{"name":"list","arguments":" "}}"#,
    ]);
    let expected = [
        call("a", "find", r#"{"q":"é"}"#),
        call("b", "list", "{}"),
        call("c", "list", "{}"),
        call("d", "list", "{}"),
        finished(FinishReason::ToolCalls),
    ];
    assert_eq!(events, expected);
}

#[test]
fn invalid_arguments_are_passed_on_unchanged() {
    let events = calls(&[r#"{"index":0,"id":"a","function":{"name":"find","arguments":"{\"q\":"}}"#]);
    assert_eq!(events[0], call("a", "find", r#"{"q":"#));
}

#[test]
fn empty_call_is_dropped_and_nameless_call_is_invalid() {
    assert_eq!(calls(&[r#"{"index":0}"#, r#"{"index":0,"id":"a"}"#]), [finished(FinishReason::Stop)]);
    let nameless = delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}"#);
    assert_eq!(fault(&format!("data: {nameless}\n\ndata: [DONE]\n\n")).kind(), FaultKind::InvalidResponse);
}

#[test]
fn tool_calls_override_the_reason_stop() {
    let call = delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#);
    assert_eq!(stream(&[&call, STOP]).pop(), Some(finished(FinishReason::ToolCalls)));
}

#[test]
fn generated_id_differs_from_back_end_ids() {
    let calls = [
        r#"{"tool_calls":[{"index":0,"function":{"name":"a"}}]}"#,
        r#"{"tool_calls":[{"index":1,"id":"call_3_0","function":{"name":"b"}}]}"#,
        r#"{"tool_calls":[{"index":2,"id":"call_3_0","function":{"name":"c"}}]}"#,
    ];
    let events = stream(&[&delta(calls[0]), &delta(calls[1]), &delta(calls[2]), STOP]);
    let expected = [call("call_3_1", "a", "{}"), call("call_3_0", "b", "{}"), call("call_3_2", "c", "{}")];
    assert_eq!(events[..3], expected);
}
