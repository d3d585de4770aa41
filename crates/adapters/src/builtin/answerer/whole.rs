//! Recognises questions about a whole document.

use super::question::plain_words;
use docent_text::page_reference::PageReference;

/// Beginnings of such questions, as words in lower case. What follows names the document.
const BEGINNINGS: [&str; 34] = [
    "summarise",
    "summarize",
    "summary of",
    "a summary of",
    "give me a summary of",
    "can you summarize",
    "can you summarise",
    "please summarize",
    "please summarise",
    "give me an overview of",
    "overview of",
    "what does",
    "what is in",
    "what s in",
    "what are the main points of",
    "what are the key points of",
    "main points of",
    "key points of",
    "tell me about",
    "worum geht es in",
    "worum geht es im",
    "worum geht es bei",
    "worum geht s in",
    "um was geht es in",
    "wovon handelt",
    "was steht in",
    "was steht im",
    "was ist der inhalt von",
    "was ist der inhalt des",
    "zusammenfassung von",
    "zusammenfassung des",
    "zusammenfassung der",
    "gib mir eine zusammenfassung von",
    "gib mir einen überblick über",
];
/// Beginnings and ends of such questions, with the name between them.
const FRAMES: [(&str, &str); 11] = [
    ("what is", "about"),
    ("what s", "about"),
    ("what does", "contain"),
    ("what does", "cover"),
    ("what does", "say"),
    ("what is the", "about"),
    ("fasse", "zusammen"),
    ("fass", "zusammen"),
    ("bitte fasse", "zusammen"),
    ("kannst du", "zusammenfassen"),
    ("können sie", "zusammenfassen"),
];
/// Whole questions that name no document.
const WHOLE: [&str; 6] =
    ["summary", "overview", "zusammenfassung", "worum geht es", "worum geht s", "um was geht es"];
/// Words for a document that do not name it, and words around them.
const GENERIC: &str = " the this that a an my our it document file pdf doc report paper text book manual presentation here selected \
    uploaded chosen content contents please for me das dieses dieser diese diesem dem der die den des ein dokument datei bericht \
    text handbuch präsentation hier ausgewählte ausgewählten hochgeladene inhalt bitte mir ";

/// The words that name the document that a question is about as a whole: none if it only says "the document". `None` if
/// the question is another one, such as one about a page.
pub(super) fn named_document(question: &str) -> Option<Vec<String>> {
    if !PageReference::of(question).pages.is_empty() {
        return None;
    }
    let words = plain_words(question);
    let text = words.join(" ");
    if WHOLE.contains(&text.as_str()) {
        return Some(Vec::new());
    }
    let framed = FRAMES.iter().find_map(|(before, after)| {
        text.strip_prefix(before)?.strip_prefix(' ')?.strip_suffix(after)?.strip_suffix(' ')
    });
    let begun = || {
        let rest = |before: &&str| text.strip_prefix(*before)?.strip_prefix(' ');
        BEGINNINGS.iter().filter(|before| **before != "what does").find_map(rest)
    };
    let name = framed.or_else(begun)?;
    let is_generic = |word: &str| GENERIC.contains(&format!(" {word} "));
    let own: Vec<String> = name.split(' ').filter(|word| !is_generic(word)).map(str::to_owned).collect();
    Some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_a_whole_document_are_recognised() {
        for text in [
            "What is this document about?",
            "what's this about",
            "Summarize the document",
            "Summary",
            "What is in the file?",
            "What does the report say?",
            "Worum geht es?",
            "Worum geht es in diesem Dokument?",
            "Fasse das Dokument bitte zusammen",
            "Was steht in der Datei?",
        ] {
            assert_eq!(named_document(text), Some(Vec::new()), "{text}");
        }
    }

    #[test]
    fn name_of_the_document_remains() {
        let name = |text| named_document(text).unwrap().join(" ");
        assert_eq!(name("Summarise the 3M annual report 2018"), "3m annual 2018");
        assert_eq!(name("What is Pump_manual.pdf about?"), "pump");
        assert_eq!(name("Worum geht es in Pumpen 2020?"), "pumpen 2020");
        assert_eq!(name("What is in the guide?"), "guide");
    }

    #[test]
    fn other_questions_are_not_about_a_whole_document() {
        for text in [
            "What is the head of a pump?",
            "How long is the warranty?",
            "What does the document say about pumps?",
            "Which documents mention pumps?",
            "Wie lange gilt die Garantie?",
            "",
        ] {
            assert_eq!(named_document(text), None, "{text}");
        }
    }
}
