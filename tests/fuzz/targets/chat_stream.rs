//! Reads any bytes as the response of a chat back end: server-sent events or one object, cut anywhere. The first eight
//! bytes are the lengths of the pieces.
#![no_main]

use docent_fuzz::cut;
use docent_models::openai::fuzzing::chat_events;
use docent_ports::chat_model::ChatEvent;
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;

fuzz_target!(|data: &[u8]| {
    let Some((lengths, body)) = data.split_at_checked(8) else { return };
    let (whole, broke_off) = chat_events([body], 3);
    let (pieces, cut_broke_off) = chat_events(cut(body, lengths), 3);
    let kind = |fault: Option<docent_domain::fault::Fault>| fault.map(|fault| fault.kind());
    let is_over = broke_off.is_some();
    assert_eq!(
        (&whole, kind(broke_off)),
        (&pieces, kind(cut_broke_off)),
        "it does not matter where it was cut"
    );

    let ends = |event: &ChatEvent| matches!(event, ChatEvent::Finished { .. });
    assert_eq!(whole.iter().filter(|event| ends(event)).count(), usize::from(!is_over), "it ends once");
    assert!(is_over || whole.last().is_some_and(ends), "nothing follows the end");
    let mut ids = HashSet::new();
    let mut said = 0;
    for event in &whole {
        match event {
            ChatEvent::Text(text) => {
                assert!(!text.is_empty());
                said += text.len();
            }
            ChatEvent::Reasoning(text) => assert!(!text.is_empty()),
            ChatEvent::Choices(_) => panic!("servers of models offer no choices"),
            ChatEvent::ToolCall(call) => {
                assert!(!call.name.is_empty() && !call.arguments.trim().is_empty());
                assert!(ids.insert(&call.id), "the id {:?} is given twice", call.id);
            }
            ChatEvent::Finished { .. } => {}
        }
    }
    // Undecodable bytes are replaced by a character of three bytes.
    assert!(said <= 3 * body.len());
    assert!(ids.len() <= 128);
});
