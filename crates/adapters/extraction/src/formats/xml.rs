//! Reads XML as a sequence of elements and texts.

use crate::reader::{Stopped, damaged};
use docent_domain::document::Failure;
use quick_xml::Reader;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Maximum depth of elements.
const DEPTH_MAX: usize = 256;

/// Receives the content of a document. Names have no namespace prefix.
pub(super) trait Handler {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped>;

    fn end(&mut self, _name: &str) -> Result<(), Stopped> {
        Ok(())
    }

    fn text(&mut self, _text: &str) -> Result<(), Stopped> {
        Ok(())
    }
}

/// The beginning of an element.
pub(super) struct Element<'a> {
    /// Name without its prefix.
    pub(super) name: &'a str,
    start: &'a BytesStart<'a>,
}

impl Element<'_> {
    /// The value of an attribute, by its name without prefix.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        self.value_of(|attribute| attribute.key.local_name().as_ref() == name.as_bytes())
    }

    /// The value of an attribute that has a prefix, by its name without it: programs choose prefixes freely.
    pub(super) fn prefixed_attribute(&self, name: &str) -> Option<String> {
        self.value_of(|attribute| {
            attribute.key.prefix().is_some() && attribute.key.local_name().as_ref() == name.as_bytes()
        })
    }

    fn value_of(&self, is_meant: impl Fn(&Attribute<'_>) -> bool) -> Option<String> {
        let mut attributes = self.start.attributes();
        let found = attributes.with_checks(false).flatten().find(|attribute| is_meant(attribute))?;
        Some(unescaped(&String::from_utf8_lossy(&found.value)))
    }
}

fn unescaped(value: &str) -> String {
    quick_xml::escape::unescape(value).map_or_else(|_| value.to_owned(), |value| value.into_owned())
}

/// Passes a document to a handler. No entity is expanded but the five of XML and characters by number. A document that is
/// not well-formed, nests deeply or has a document type declaration is a failure.
pub(super) fn walk(xml: &str, handler: &mut impl Handler) -> Result<(), Stopped> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().allow_dangling_amp = true;
    let mut depth = 0_usize;
    loop {
        match reader.read_event().map_err(|_| not_well_formed())? {
            Event::Start(start) => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(damaged("its XML is nested too deeply").into());
                }
                begin(&start, handler)?;
            }
            Event::Empty(start) => {
                begin(&start, handler)?;
                handler.end(&name_of(start.local_name().as_ref()))?;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                handler.end(&name_of(end.local_name().as_ref()))?;
            }
            Event::Text(text) => handler.text(&String::from_utf8_lossy(&text))?,
            Event::CData(text) => handler.text(&String::from_utf8_lossy(&text))?,
            Event::GeneralRef(reference) => {
                if let Some(c) = character(&reference) {
                    handler.text(c.encode_utf8(&mut [0; 4]))?;
                }
            }
            Event::DocType(_) => return Err(damaged("its XML has a document type declaration").into()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof if depth == 0 => return Ok(()),
            Event::Eof => return Err(not_well_formed().into()),
        }
    }
}

fn begin(start: &BytesStart<'_>, handler: &mut impl Handler) -> Result<(), Stopped> {
    let name = name_of(start.local_name().as_ref());
    handler.start(&Element { name: &name, start })
}

fn name_of(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn character(reference: &BytesRef<'_>) -> Option<char> {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return Some(c);
    }
    match &**reference {
        b"amp" => Some('&'),
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        _ => None,
    }
}

fn not_well_formed() -> Failure {
    damaged("its XML is not well-formed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Log(String);

    impl Handler for Log {
        fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
            self.0 += &format!("<{} {}>", element.name, element.attribute("id").unwrap_or_default());
            Ok(())
        }

        fn end(&mut self, name: &str) -> Result<(), Stopped> {
            self.0 += &format!("</{name}>");
            Ok(())
        }

        fn text(&mut self, text: &str) -> Result<(), Stopped> {
            self.0 += text;
            Ok(())
        }
    }

    fn log(xml: &str) -> Option<String> {
        let mut log = Log::default();
        walk(xml, &mut log).ok().map(|()| log.0)
    }

    #[test]
    fn elements_texts_and_characters_are_passed_on() {
        let xml = "<?xml version='1.0'?><w:a r:id='1&amp;2'>x &lt;&#x41;&#66;<![CDATA[<y>]]><b/></w:a>";
        assert_eq!(log(xml).unwrap(), "<a 1&2>x <AB<y><b ></b></a>");
    }

    #[test]
    fn entities_and_document_types_are_refused() {
        assert_eq!(log("<a>&unknown;</a>").unwrap(), "<a ></a>");
        let laughs = "<!DOCTYPE a [<!ENTITY b 'ha'><!ENTITY c '&b;&b;'>]><a>&c;</a>";
        let external = "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>";
        assert_eq!((log(laughs), log(external)), (None, None));
    }

    #[test]
    fn deep_and_broken_documents_are_refused() {
        let nested = |depth: usize| format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth));
        assert!(log(&nested(DEPTH_MAX)).is_some());
        for broken in [nested(DEPTH_MAX + 1).as_str(), "<a>", "<a></b>", "<a", "</a>"] {
            assert_eq!(log(broken), None, "{broken:.20}");
        }
    }
}
