use super::*;

fn tools() -> Vec<String> {
    vec!["search_docs".to_owned(), "list_documents".to_owned()]
}

/// Reads a response in pieces of `size` characters; the parts of one kind are joined.
fn read(response: &str, size: usize) -> (String, String, Vec<(String, String)>) {
    let mut reader = OutputReader::new(tools(), false);
    let characters: Vec<char> = response.chars().collect();
    let mut parts = Vec::new();
    for piece in characters.chunks(size) {
        parts.extend(reader.push(&piece.iter().collect::<String>()));
    }
    parts.extend(reader.finish(false));
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(&part),
            Part::Reasoning(part) => reasoning.push_str(&part),
            Part::Call(call) => calls.push((call.name, call.arguments)),
        }
    }
    (text.trim().to_owned(), reasoning.trim().to_owned(), calls)
}

fn read_all(response: &str) -> (String, String, Vec<(String, String)>) {
    let whole = read(response, usize::MAX);
    for size in [1, 2, 3, 7] {
        assert_eq!(read(response, size), whole, "pieces of {size} of {response:?}");
    }
    whole
}

/// A call of `search_docs` in the dialect of each family.
const CALLS: &[(&str, &str)] = &[
    ("json", r#"{"name": "search_docs", "arguments": {"query": "pump hours"}}"#),
    (
        "json with parameters",
        r#"{"type": "function", "name": "search_docs", "parameters": {"query": "pump hours"}}"#,
    ),
    (
        "openai object",
        r#"{"id": "c1", "type": "function", "function": {"name": "search_docs", "arguments": "{\"query\":\"pump hours\"}"}}"#,
    ),
    (
        "tool_calls object",
        r#"{"tool_calls": [{"name": "search_docs", "arguments": {"query": "pump hours"}}]}"#,
    ),
    ("react", r#"{"action": "search_docs", "action_input": {"query": "pump hours"}}"#),
    ("list", r#"[{"name": "search_docs", "arguments": {"query": "pump hours"}}]"#),
    ("fenced", "```json\n{\"name\": \"search_docs\", \"arguments\": {\"query\": \"pump hours\"}}\n```"),
    ("tool_code", "```tool_code\nsearch_docs(query=\"pump hours\")\n```"),
    ("printed tool_code", "```tool_code\nprint(search_docs(query='pump hours'))\n```"),
    (
        "hermes",
        "<tool_call>\n{\"name\": \"search_docs\", \"arguments\": {\"query\": \"pump hours\"}}\n</tool_call>",
    ),
    (
        "hermes without end",
        "<tool_call>\n{\"name\": \"search_docs\", \"arguments\": {\"query\": \"pump hours\"}}",
    ),
    (
        "qwen coder",
        "<tool_call>\n<function=search_docs>\n<parameter=query>\npump hours\n</parameter>\n</function>\n</tool_call>",
    ),
    (
        "glm",
        "<tool_call>search_docs\n<arg_key>query</arg_key>\n<arg_value>pump hours</arg_value>\n</tool_call>",
    ),
    ("llama function", "<function=search_docs>{\"query\": \"pump hours\"}</function>"),
    (
        "invoke",
        "<function_calls>\n<invoke name=\"search_docs\">\n<parameter name=\"query\">pump hours</parameter>\n</invoke>\n</function_calls>",
    ),
    (
        "minimax",
        "<minimax:tool_call>\n<invoke name=\"search_docs\">\n<parameter name=\"query\">pump hours</parameter>\n</invoke>\n</minimax:tool_call>",
    ),
    ("mistral", r#"[TOOL_CALLS][{"name": "search_docs", "arguments": {"query": "pump hours"}}]"#),
    ("mistral args", r#"[TOOL_CALLS]search_docs[ARGS]{"query": "pump hours"}"#),
    ("mistral name", r#"[TOOL_CALLS]search_docs{"query": "pump hours"}"#),
    (
        "lm studio",
        "[TOOL_REQUEST]\n{\"name\": \"search_docs\", \"arguments\": {\"query\": \"pump hours\"}}\n[END_TOOL_REQUEST]",
    ),
    ("python tag", r#"<|python_tag|>search_docs.call(query="pump hours")"#),
    (
        "python tag json",
        r#"<|python_tag|>{"name": "search_docs", "parameters": {"query": "pump hours"}}<|eom_id|>"#,
    ),
    ("pythonic", r#"[search_docs(query="pump hours")]"#),
    (
        "deepseek",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_docs\n```json\n{\"query\": \"pump hours\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    ),
    (
        "deepseek 3.1",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search_docs<｜tool▁sep｜>{\"query\": \"pump hours\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    (
        "kimi",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.search_docs:0<|tool_call_argument_begin|>{\"query\": \"pump hours\"}<|tool_call_end|><|tool_calls_section_end|>",
    ),
    (
        "command",
        "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"search_docs\", \"parameters\": {\"query\": \"pump hours\"}}]<|END_ACTION|>",
    ),
    (
        "granite",
        r#"<|tool_call|>[{"name": "search_docs", "arguments": {"query": "pump hours"}}]<|end_of_text|>"#,
    ),
    (
        "internlm",
        "<|action_start|><|plugin|>\n{\"name\": \"search_docs\", \"parameters\": {\"query\": \"pump hours\"}}<|action_end|>",
    ),
    ("nemotron", r#"<TOOLCALL>[{"name": "search_docs", "arguments": {"query": "pump hours"}}]</TOOLCALL>"#),
    ("functools", r#" functools[{"name": "search_docs", "arguments": {"query": "pump hours"}}]"#),
    (
        "harmony",
        "<|channel|>commentary to=functions.search_docs <|constrain|>json<|message|>{\"query\": \"pump hours\"}<|call|>",
    ),
    (
        "harmony in its role",
        "<|start|>assistant to=functions.search_docs<|channel|>commentary json<|message|>{\"query\": \"pump hours\"}<|call|>",
    ),
];

#[test]
fn written_calls_of_all_dialects_are_calls() {
    for (dialect, response) in CALLS {
        for before in ["", "I will search.\n\n"] {
            let response = format!("{before}{response}");
            let (text, _, calls) = read_all(&response);
            assert_eq!(text, before.trim(), "{dialect}");
            let expected = ("search_docs".to_owned(), r#"{"query":"pump hours"}"#.to_owned());
            assert_eq!(calls, [expected], "{dialect}: {response}");
        }
    }
}

#[test]
fn several_calls_are_found() {
    let one = |query: &str| format!(r#"{{"name": "search_docs", "arguments": {{"query": "{query}"}}}}"#);
    let tagged = |query: &str| format!("<tool_call>{}</tool_call>\n", one(query));
    for response in [
        format!("{}{}", tagged("a"), tagged("b")),
        format!("<tool_call>{}\n{}</tool_call>", one("a"), one("b")),
        format!("[TOOL_CALLS][{}, {}]", one("a"), one("b")),
        format!("{}\n{}", one("a"), one("b")),
        r#"[search_docs(query="a"), search_docs(query="b")]"#.to_owned(),
        r#"[TOOL_CALLS]search_docs[ARGS]{"query": "a"}[TOOL_CALLS]search_docs[ARGS]{"query": "b"}"#
            .to_owned(),
    ] {
        let (text, _, calls) = read_all(&response);
        let arguments: Vec<_> = calls.iter().map(|(_, arguments)| arguments.as_str()).collect();
        assert_eq!(
            (text.as_str(), arguments),
            ("", vec![r#"{"query":"a"}"#, r#"{"query":"b"}"#]),
            "{response}"
        );
    }
}

#[test]
fn reasoning_of_all_dialects_is_separated() {
    for response in [
        "<think>\nSECRET\n</think>\n\nAnswer.",
        "\n<think>SECRET</think>Answer.",
        "<thinking>SECRET</thinking>\nAnswer.",
        "<thought>SECRET</thought>\nAnswer.",
        "[THINK]SECRET[/THINK]Answer.",
        "◁think▷SECRET◁/think▷Answer.",
        "<|START_THINKING|>SECRET<|END_THINKING|><|START_RESPONSE|>Answer.<|END_RESPONSE|>",
        "<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Answer.<|return|>",
        "<|start|>assistant<|channel|>analysis<|message|>SECRET<|start|>assistant<|channel|>final<|message|>Answer.",
        "<|channel|>commentary<|message|>SECRET<|end|><|channel|>final<|message|>Answer.",
    ] {
        assert_eq!(read_all(response), ("Answer.".to_owned(), "SECRET".to_owned(), vec![]), "{response}");
    }
}

#[test]
fn reasoning_without_end_is_no_answer() {
    for response in
        ["<think>\nSECRET without end", "<think>SECRET</thi", "<|channel|>analysis<|message|>SECRET"]
    {
        let (text, reasoning, _) = read_all(response);
        assert!(text.is_empty() && reasoning.starts_with("SECRET"), "{response}: {text}");
    }
    assert_eq!(read_all("<think>\n\n</think>\n\nAnswer."), ("Answer.".to_owned(), String::new(), vec![]));
}

/// Reads a response character by character.
fn read_parts(mut reader: OutputReader, response: &str, is_cut: bool) -> (Vec<Part>, Option<bool>) {
    let mut parts: Vec<Part> = Vec::new();
    for character in response.chars() {
        parts.extend(reader.push(&character.to_string()));
    }
    parts.extend(reader.finish(is_cut));
    (parts, reader.began_in_reasoning())
}

fn text_of(parts: &[Part]) -> String {
    parts
        .iter()
        .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
        .collect()
}

#[test]
fn reasoning_that_begins_in_the_prompt_is_separated_once_it_is_known() {
    let response = "SECRET of the model\n</think>\n\nAnswer.";
    let mut reader = OutputReader::new(tools(), false);
    let parts: Vec<_> = reader.push(response).into_iter().chain(reader.finish(false)).collect();
    assert_eq!(parts, [Part::Reasoning("SECRET of the model\n".into()), Part::Text("Answer.".into())]);
    assert_eq!(reader.began_in_reasoning(), Some(true));

    // Text that arrives in pieces is shown before the end of the reasoning is known.
    let (parts, began) = read_parts(OutputReader::new(tools(), false), response, false);
    assert!(text_of(&parts).ends_with("\nAnswer.") && began == Some(true), "{parts:?}");
    let (parts, began) = read_parts(OutputReader::new(tools(), true), response, false);
    assert_eq!((text_of(&parts).as_str(), began), ("Answer.", Some(true)));
}

#[test]
fn assumed_reasoning_without_end_is_the_answer_unless_it_was_cut() {
    let call = r#"<tool_call>{"name": "search_docs", "arguments": {"query": "x"}}</tool_call>"#;
    for (response, text, began) in [("Answer.", "Answer.", Some(false)), (call, "", None)] {
        let (parts, found) = read_parts(OutputReader::new(tools(), true), response, false);
        assert_eq!((text_of(&parts).as_str(), found), (text, began));
    }
    let (parts, began) = read_parts(OutputReader::new(tools(), true), "SECRET without end", true);
    assert_eq!((parts, began), (vec![Part::Reasoning("SECRET without end".into())], None));
    let mut reader = OutputReader::new(tools(), true);
    for _ in 0..3 * ASSUMED_MAX / 100 {
        let _ = reader.push(&"x".repeat(100));
        assert!(reader.held.len() <= ASSUMED_MAX + 100);
    }
}

#[test]
fn special_tokens_are_removed() {
    for (response, expected) in [
        ("Answer.<|im_end|>", "Answer."),
        ("Answer.</s>", "Answer."),
        ("Answer.<end_of_turn>\n", "Answer."),
        ("Answer.<|eot_id|><|start_header_id|>", "Answer."),
        ("Answer.<｜end▁of▁sentence｜>", "Answer."),
        ("<|im_start|>Answer.", "Answer."),
        ("Answer. [/INST]", "Answer."),
    ] {
        assert_eq!(read_all(response).0, expected, "{response}");
    }
}

#[test]
fn ordinary_text_is_unchanged() {
    for response in [
        "Use `<think>` for reasoning and `<tool_call>` for calls.",
        "`<|im_end|>` ends a message.",
        "a < b, b <c, x <| f |> y, <b>bold</b> and <s>old</s> text",
        "[1] says so, [2](http://x) too.\n[3] Third.\n- [ ] task",
        "```rust\nfn main() {}\n```\nDone.",
        "```json\n{\"port\": 8000, \"name\": \"x\"}\n```",
        "{\"name\": \"Ada\", \"age\": 36}",
        "{\n  \"result\": [1, 2]\n}",
        "{not json}",
        "[search the docs] and [list]",
        "The tool search_docs(query) searches.",
        "A set {1, 2}.\n{1, 2} again\nf(x) = x",
        "1 <2\n<",
        "```",
        "[",
        "{\"name\": \"search_docs\"",
    ] {
        let (text, reasoning, calls) = read_all(response);
        assert_eq!((text.as_str(), reasoning.as_str()), (response, ""));
        assert!(calls.is_empty(), "{response}");
    }
}

#[test]
fn text_is_returned_as_it_arrives() {
    let mut reader = OutputReader::new(tools(), false);
    for piece in ["The ", "pump ", "needs ", "a check [1].\n", "- item\n", "Done"] {
        assert_eq!(reader.push(piece), [Part::Text(piece.to_owned())]);
    }
    assert_eq!(reader.push(" <"), [Part::Text(" ".to_owned())]);
    assert_eq!(reader.push("b>"), [Part::Text("<b>".to_owned())]);
}

#[test]
fn held_text_is_bounded() {
    let mut reader = OutputReader::new(tools(), false);
    let _ = reader.push("{\"name\": \"");
    let mut received = 0;
    for _ in 0..3 * HELD_MAX / 100 {
        let parts = reader.push(&"x".repeat(100));
        received +=
            parts.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 0 }).sum::<usize>();
        assert!(reader.held.len() <= HELD_MAX + 100);
    }
    assert!(received > HELD_MAX);
}

#[test]
fn unknown_tools_are_text_or_dropped() {
    let unknown = r#"{"name": "web_search", "arguments": {"query": "x"}}"#;
    assert_eq!(read_all(unknown).0, unknown);
    let (text, _, calls) =
        read_all("<tool_call>{\"name\": \"web_search\", \"arguments\": {}}</tool_call>Hm.");
    assert_eq!((text.as_str(), calls.len()), ("Hm.", 0));
}
