//! The table of dialects: what begins reasoning, a tool call or a message, and what ends it.

/// A text with a meaning in the output of models.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) text: &'static str,
    pub(super) meaning: Meaning,
    pub(super) place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Begins reasoning, which ends with one of these.
    Reasoning(&'static [&'static str]),
    /// Ends reasoning that began before the response.
    EndOfReasoning,
    /// Begins a tool call, which ends with one of these or with the response.
    Call(&'static [&'static str]),
    /// Begins the header of a message.
    Header,
    /// A token of a chat template.
    Nothing,
}

/// Where a marker counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    LineStart,
}

/// Ends of reasoning.
pub(super) const THINK_ENDS: &[&str] =
    &["</think>", "</thinking>", "</thought>", "</reasoning>", "[/THINK]", "◁/think▷", "</seed:think>"];
/// Ends the header of a message.
pub(super) const MESSAGE: &str = "<|message|>";
/// Ends of a message in the harmony format.
pub(super) const MESSAGE_ENDS: &[&str] = &["<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|channel|>"];
/// Ends that also begin the next message.
pub(super) const BEGINNINGS: &[&str] = &["<|start|>", "<|channel|>"];
/// Tokens that end a response, or begin it in templates, and can be words of an answer elsewhere.
pub(super) const LAST_TOKENS: &[&str] = &[
    "</s>",
    "<eos>",
    "<end_of_turn>",
    "<EOS_TOKEN>",
    "[/INST]",
    "<|im_end|>",
    "<end_of_utterance>",
    "[EOS]",
];
/// Characters with which markers and special tokens begin.
pub(super) const FIRST_CHARACTERS: &str = "<[{`◁f";

const fn anywhere(text: &'static str, meaning: Meaning) -> Marker {
    Marker { text, meaning, place: Place::Anywhere }
}

const fn line(text: &'static str, meaning: Meaning) -> Marker {
    Marker { text, meaning, place: Place::LineStart }
}

const THINK: Meaning = Meaning::Reasoning(THINK_ENDS);

/// All markers. Those that begin with another one come before it.
pub(super) const MARKERS: &[Marker] = &[
    // Reasoning: DeepSeek, Qwen, GLM, MiniMax; Claude and Gemini imitations; Magistral; Kimi; Seed; Command.
    line("<think>", THINK),
    line("<thinking>", THINK),
    line("<thought>", THINK),
    line("<reasoning>", THINK),
    line("[THINK]", THINK),
    line("◁think▷", THINK),
    line("<seed:think>", THINK),
    anywhere("<|START_THINKING|>", Meaning::Reasoning(&["<|END_THINKING|>"])),
    anywhere("</think>", Meaning::EndOfReasoning),
    anywhere("</thinking>", Meaning::EndOfReasoning),
    anywhere("[/THINK]", Meaning::EndOfReasoning),
    anywhere("◁/think▷", Meaning::EndOfReasoning),
    // Messages of the harmony format (gpt-oss).
    anywhere("<|start|>", Meaning::Header),
    anywhere("<|channel|>", Meaning::Header),
    // Tool calls: Qwen, Hermes, GLM, Granite; Qwen coder, Llama; Claude, MiniMax, DeepSeek.
    anywhere("<tool_call>", Meaning::Call(&["</tool_call>"])),
    anywhere("<tool_calls>", Meaning::Call(&["</tool_calls>"])),
    anywhere("<function_calls>", Meaning::Call(&["</function_calls>"])),
    anywhere("<function_call>", Meaning::Call(&["</function_call>"])),
    anywhere("<function=", Meaning::Call(&["</function>"])),
    anywhere("<toolcall>", Meaning::Call(&["</toolcall>"])),
    anywhere("<tools>", Meaning::Call(&["</tools>"])),
    anywhere("<invoke name=", Meaning::Call(&["</invoke>"])),
    anywhere("<minimax:tool_call>", Meaning::Call(&["</minimax:tool_call>"])),
    anywhere("<｜tool▁calls▁begin｜>", Meaning::Call(&["<｜tool▁calls▁end｜>"])),
    anywhere("<｜DSML｜function_calls>", Meaning::Call(&["</｜DSML｜function_calls>"])),
    // Mistral; Llama; Kimi; Command; Granite and Phi; InternLM; Nemotron, Jamba.
    anywhere("[TOOL_CALLS]", Meaning::Call(&["</s>", "[/TOOL_CALLS]"])),
    anywhere("[TOOL_REQUEST]", Meaning::Call(&["[END_TOOL_REQUEST]"])),
    anywhere("<|python_tag|>", Meaning::Call(&["<|eom_id|>", "<|eot_id|>"])),
    anywhere("<|tool_calls_section_begin|>", Meaning::Call(&["<|tool_calls_section_end|>"])),
    anywhere("<|START_ACTION|>", Meaning::Call(&["<|END_ACTION|>"])),
    anywhere("<|tool_call|>", Meaning::Call(&["<|/tool_call|>", "<|end_of_text|>", "<|end|>"])),
    anywhere("<|tool_call>", Meaning::Call(&["<tool_call|>"])),
    anywhere("<|action_start|>", Meaning::Call(&["<|action_end|>"])),
    anywhere("<TOOLCALL>", Meaning::Call(&["</TOOLCALL>"])),
    line("functools[", Meaning::Call(&["]\n\n"])),
    // Tokens of templates that are no special tokens by their form.
    anywhere("<start_of_turn>", Meaning::Nothing),
    anywhere("<end_of_turn>", Meaning::Nothing),
];
