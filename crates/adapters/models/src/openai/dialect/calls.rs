//! Tool calls in text: JSON, tagged parameters and function calls.

use serde_json::{Map, Value};

/// A tool call that a model wrote as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::openai) struct WrittenCall {
    /// Name of the tool.
    pub(in crate::openai) name: String,
    /// Arguments as a JSON object.
    pub(in crate::openai) arguments: String,
}

/// Names of the field with the tool's name.
const NAMES: &[&str] =
    &["name", "function", "tool", "tool_name", "function_name", "action", "recipient_name"];
/// Names of the field with the arguments.
const ARGUMENTS: &[&str] =
    &["arguments", "parameters", "args", "input", "tool_input", "action_input", "tool_args", "params"];
/// Other fields with which a call begins.
const OTHERS: &[&str] =
    &["type", "id", "tool_call_id", "tool_calls", "tool_call", "function_call", "calls", "thought"];
/// Languages of code blocks that have calls.
const LANGUAGES: &[&str] =
    &["", "json", "tool_call", "tool_code", "tool", "python", "xml", "js", "javascript"];

/// Begins and ends a code block.
const FENCE: &str = "```";
/// Some models print the result of a call.
const PRINT: &str = "print(";

/// Whether text begins with a tool call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Possible {
    /// It does not.
    No,
    /// More text is needed.
    Maybe,
    /// It does; with the length of the calls in bytes.
    Call(Vec<WrittenCall>, usize),
}

/// Reads text that begins with JSON, a code block, or a list of function calls.
pub(super) fn possible_call(text: &str, tools: &[String]) -> Possible {
    if let Some(block) = text.strip_prefix(FENCE) {
        return possible_block(block, tools);
    }
    if FENCE.starts_with(text) {
        return Possible::Maybe;
    }
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.trim_start();
        if !inner.starts_with('{') {
            return possible_list(text, inner, tools);
        }
        if !can_begin_call(inner) {
            return Possible::No;
        }
    } else if !text.starts_with('{') || !can_begin_call(text) {
        return Possible::No;
    }
    let Some(length) = json_length(text) else { return Possible::Maybe };
    match written_calls(&text[..length], tools) {
        calls if calls.is_empty() => Possible::No,
        calls => Possible::Call(calls, length),
    }
}

/// Reads a code block, without its first fence.
fn possible_block(block: &str, tools: &[String]) -> Possible {
    let Some((language, body)) = block.split_once('\n') else {
        let language = block.trim_end_matches('\r');
        let is_begun = LANGUAGES.iter().any(|name| name.starts_with(language));
        return if is_begun { Possible::Maybe } else { Possible::No };
    };
    if !LANGUAGES.contains(&language.trim()) {
        return Possible::No;
    }
    let inner = body.trim_start();
    let begins_call = inner.is_empty()
        || inner.starts_with('<')
        || can_begin_call(inner.strip_prefix('[').unwrap_or(inner).trim_start())
        || PRINT.starts_with(inner)
        || begins_with_tool(inner.strip_prefix(PRINT).unwrap_or(inner), tools);
    if !begins_call {
        return Possible::No;
    }
    let Some(end) = body.find(FENCE) else { return Possible::Maybe };
    match written_calls(&body[..end], tools) {
        calls if calls.is_empty() => Possible::No,
        calls => Possible::Call(calls, FENCE.len() + block.len() - body.len() + end + FENCE.len()),
    }
}

/// Reads `[search(query="x")]`; `inner` is the text after the bracket.
fn possible_list(text: &str, inner: &str, tools: &[String]) -> Possible {
    if inner.is_empty() {
        return Possible::Maybe;
    }
    if !begins_with_tool(inner, tools) {
        return Possible::No;
    }
    let Some(end) = inner.find(")]") else { return Possible::Maybe };
    let length = text.len() - inner.len() + end + 2;
    match function_calls(&inner[..=end], tools) {
        calls if calls.is_empty() => Possible::No,
        calls => Possible::Call(calls, length),
    }
}

/// Whether text begins with a tool's name and a parenthesis, or is the beginning of that.
fn begins_with_tool(text: &str, tools: &[String]) -> bool {
    tools.iter().any(|tool| {
        let call = format!("{tool}(");
        text.starts_with(&call) || call.starts_with(text)
    })
}

/// Whether a JSON object that begins so far with `text` can be a call: its first field is one of a call.
fn can_begin_call(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('{') else { return text.is_empty() };
    let Some(field) = inner.trim_start().strip_prefix(['"', '\'']) else {
        return inner.trim_start().is_empty();
    };
    let mut names = NAMES.iter().chain(ARGUMENTS).chain(OTHERS);
    match field.split_once(['"', '\'']) {
        Some((name, _)) => names.any(|known| *known == name),
        None => names.any(|known| known.starts_with(field)),
    }
}

/// Length in bytes of the JSON object or list at the beginning; `None` if it is incomplete.
fn json_length(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if quote => is_escaped = true,
            b'"' => quote = !quote,
            b'{' | b'[' if !quote => depth += 1,
            b'}' | b']' if !quote => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// All calls of known tools in text that a tag marks as calls.
pub(super) fn written_calls(body: &str, tools: &[String]) -> Vec<WrittenCall> {
    let mut calls = json_calls(body, tools);
    if calls.is_empty() {
        calls = named_calls(body, tools);
    }
    if calls.is_empty() {
        calls = function_calls(body, tools);
    }
    calls
}

/// Calls in JSON values: `{"name": …, "arguments": …}`, alone, in lists, or in a field of another object.
fn json_calls(body: &str, tools: &[String]) -> Vec<WrittenCall> {
    let mut calls = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find(['{', '[']) {
        rest = &rest[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                rest = &rest[values.byte_offset()..];
                collect(&value, tools, &mut calls, 0);
            }
            _ => rest = &rest[1..],
        }
    }
    calls
}

fn collect(value: &Value, tools: &[String], calls: &mut Vec<WrittenCall>, depth: usize) {
    match value {
        Value::Array(values) if depth < 4 => {
            values.iter().for_each(|value| collect(value, tools, calls, depth + 1))
        }
        Value::Object(object) => match object_call(object, tools) {
            Some(call) => calls.push(call),
            None if depth < 4 => object.values().for_each(|value| collect(value, tools, calls, depth + 1)),
            None => {}
        },
        _ => {}
    }
}

fn object_call(object: &Map<String, Value>, tools: &[String]) -> Option<WrittenCall> {
    let name = NAMES.iter().find_map(|name| object.get(*name)?.as_str()).map(tool_name)?;
    if !tools.iter().any(|tool| tool == name) {
        return None;
    }
    let arguments = ARGUMENTS.iter().find_map(|name| object.get(*name));
    let rest = || {
        let others = object
            .iter()
            .filter(|(key, _)| !NAMES.contains(&key.as_str()) && !OTHERS.contains(&key.as_str()));
        others.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>()
    };
    let arguments = match arguments {
        Some(Value::Object(arguments)) => Value::Object(arguments.clone()).to_string(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => Value::Object(rest()).to_string(),
    };
    Some(WrittenCall { name: name.to_owned(), arguments })
}

/// The name of a tool without a namespace and a number: `functions.search:0` is `search`.
fn tool_name(name: &str) -> &str {
    let name = name.trim().rsplit(['.', '/']).next().unwrap_or_default();
    name.split(':').next().unwrap_or_default()
}

/// Calls that give the name of a tool, then the arguments as JSON or as tagged parameters.
fn named_calls(body: &str, tools: &[String]) -> Vec<WrittenCall> {
    let mut calls = Vec::new();
    let mut rest = body;
    while let Some((start, name)) = next_tool(rest, tools) {
        let after = &rest[start + name.len()..];
        let end = next_tool(after, tools).map_or(after.len(), |(at, _)| at);
        let own = &after[..end];
        let object = own.find('{').filter(|at| !own[..*at].contains('('));
        let object = object.and_then(|at| {
            let mut values = serde_json::Deserializer::from_str(&own[at..]).into_iter::<Map<String, Value>>();
            values.next()?.ok().map(|object| (object, at + values.byte_offset()))
        });
        match object {
            Some((arguments, length)) => {
                let arguments = Value::Object(arguments).to_string();
                calls.push(WrittenCall { name: name.to_owned(), arguments });
                rest = &after[length..];
            }
            None => {
                let parameters = tagged_parameters(own);
                if !parameters.is_empty() {
                    let arguments = Value::Object(parameters).to_string();
                    calls.push(WrittenCall { name: name.to_owned(), arguments });
                }
                rest = &after[end..];
            }
        }
    }
    calls
}

/// The first name of a tool that is a word of its own.
fn next_tool<'t>(text: &str, tools: &'t [String]) -> Option<(usize, &'t str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let places = |tool: &'t String| {
        let found = text.match_indices(tool.as_str()).map(|(at, _)| at).find(|at| {
            let end = at + tool.len();
            !text[..*at].chars().next_back().is_some_and(is_word)
                && !text[end..].chars().next().is_some_and(is_word)
        });
        found.map(|at| (at, tool.as_str()))
    };
    tools.iter().filter_map(places).min_by_key(|(at, tool)| (*at, usize::MAX - tool.len()))
}

/// `<parameter=k>v</parameter>`, `<parameter name="k">v</parameter>`, and
/// `<arg_key>k</arg_key><arg_value>v</arg_value>`.
fn tagged_parameters(text: &str) -> Map<String, Value> {
    let mut parameters = Map::new();
    let mut key = None;
    let mut rest = text;
    while let Some((_, tagged)) = rest.split_once('<') {
        let Some((tag, after)) = tagged.split_once('>') else { break };
        let value = after.split_once("</").map_or(after, |(value, _)| value).trim();
        let named = tag
            .split_once('=')
            .map(|(_, name)| name.split('"').find(|part| !part.is_empty()).unwrap_or(name));
        if tag == "arg_key" {
            key = Some(value.to_owned());
        } else if tag == "arg_value" {
            parameters.extend(key.take().map(|key| (key, scalar(value))));
        } else if tag.contains("parameter") && !tag.starts_with('/') {
            parameters.extend(named.map(|name| (name.trim().to_owned(), scalar(value))));
        }
        rest = after;
    }
    parameters
}

/// Calls in the form of a programming language: `search(query="x")`, `search.call(query='x')`.
fn function_calls(body: &str, tools: &[String]) -> Vec<WrittenCall> {
    let mut calls = Vec::new();
    let mut rest = body;
    while let Some((start, name)) = next_tool(rest, tools) {
        rest = &rest[start + name.len()..];
        let arguments = rest.strip_prefix(".call").unwrap_or(rest).strip_prefix('(');
        if let Some((arguments, length)) = arguments.and_then(keyword_arguments) {
            rest = &arguments_rest(rest)[length..];
            calls
                .push(WrittenCall { name: name.to_owned(), arguments: Value::Object(arguments).to_string() });
        }
    }
    calls
}

fn arguments_rest(rest: &str) -> &str {
    rest.strip_prefix(".call").unwrap_or(rest).strip_prefix('(').unwrap_or(rest)
}

/// Parses `k="v", n=5)` and returns the length with the parenthesis.
fn keyword_arguments(text: &str) -> Option<(Map<String, Value>, usize)> {
    let mut arguments = Map::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix(')') {
            return Some((arguments, text.len() - after.len()));
        }
        let (key, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let (value, after) = match value.chars().next()? {
            quote @ ('"' | '\'') => quoted(&value[1..], quote)?,
            _ => {
                let end = value.find([',', ')'])?;
                (scalar(value[..end].trim()), &value[end..])
            }
        };
        arguments.insert(key.trim().to_owned(), value);
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
}

/// A quoted text, without its first quote, and what follows it.
fn quoted(text: &str, quote: char) -> Option<(Value, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            _ if character == quote => return Some((Value::String(value), &text[at + quote.len_utf8()..])),
            _ => value.push(character),
        }
    }
    None
}

/// A value without quotes: a JSON number, list, boolean or null, else text.
fn scalar(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.trim_matches(['"', '\'']).to_owned()))
}
