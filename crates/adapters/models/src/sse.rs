//! Incremental decoder for server-sent events.

use std::mem;

/// Maximum size in bytes of a line and of an event's data; one event may contain a whole tool call.
const MAX_EVENT: usize = 1024 * 1024;
/// Largest buffer in bytes that is kept for the next line or event.
const REUSED: usize = 16 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The event type; empty if missing.
    pub name: String,
    /// The data; lines are separated by LF.
    pub data: String,
}

/// A line or an event exceeds the maximum size.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

/// Decodes a byte stream that arrives in arbitrary pieces.
///
/// Lines end with LF, CR or CRLF. Comments and fields other than `event` and `data` are skipped;
/// events without data are dropped.
#[derive(Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// Whether the last line ended with CR, so that a following LF belongs to it.
    after_cr: bool,
    has_begun: bool,
}

impl SseDecoder {
    /// Decodes the next bytes and passes each completed event to `emit`.
    ///
    /// # Errors
    /// If a line or an event is too long; the decoder must not be used afterwards.
    pub fn push(&mut self, mut bytes: &[u8], mut emit: impl FnMut(&Event)) -> Result<(), TooLong> {
        while let Some((&first, rest)) = bytes.split_first() {
            if mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = rest;
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            if self.line.len() + part.len() > MAX_EVENT {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { return Ok(()) };
            self.after_cr = bytes.get(end) == Some(&b'\r');
            bytes = bytes.get(end + 1..).unwrap_or_default();
            if self.end_line()? {
                emit(&self.event);
                self.clear();
            }
        }
        Ok(())
    }

    /// Handles the end of the stream: returns an event that lacks only its last line end or blank line.
    ///
    /// # Errors
    /// If that event is too long.
    pub fn finish(&mut self) -> Result<Option<Event>, TooLong> {
        let is_complete = !self.line.is_empty() && self.end_line()?;
        let event = (is_complete || self.has_event()).then(|| mem::take(&mut self.event));
        self.clear();
        Ok(event)
    }

    /// Handles a line; returns whether it completes the event.
    fn end_line(&mut self) -> Result<bool, TooLong> {
        let bytes = mem::take(&mut self.line);
        let mut line = bytes.as_slice();
        if !mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        let is_complete = if line.is_empty() {
            let is_complete = self.has_event();
            if !is_complete {
                self.clear();
            }
            is_complete
        } else {
            self.field(line)?;
            false
        };
        if bytes.capacity() <= REUSED {
            self.line = bytes;
            self.line.clear();
        }
        Ok(is_complete)
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&String::from_utf8_lossy(value));
                if self.event.data.len() > MAX_EVENT {
                    return Err(TooLong);
                }
            }
            b"event" => {
                self.event.name.clear();
                self.event.name.push_str(&String::from_utf8_lossy(value));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether there is an event to pass on: one without data is dropped.
    fn has_event(&self) -> bool {
        self.has_data && !self.event.data.is_empty()
    }

    /// Begins the next event.
    fn clear(&mut self) {
        self.has_data = false;
        self.event.name.clear();
        self.event.data.clear();
        self.event.data.shrink_to(REUSED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<Event> {
        let (mut decoder, mut events) = (SseDecoder::default(), Vec::new());
        for piece in pieces {
            decoder.push(piece, |event| events.push(event.clone())).unwrap();
        }
        events.extend(decoder.finish().unwrap());
        events
    }

    fn data(text: &str) -> Vec<String> {
        decode(&[text.as_bytes()]).into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn event_ends_with_a_blank_line_or_the_stream() {
        assert_eq!(data("data: a\n\ndata: b\n\n"), ["a", "b"]);
        assert_eq!(data("data: a\n\ndata: b\n"), ["a", "b"]);
        assert_eq!(data("data: a\n\ndata: b"), ["a", "b"]);
        assert_eq!(data(""), [""; 0]);
    }

    #[test]
    fn all_line_ends_are_accepted() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("data: a{end}{end}data: b{end}data: c{end}{end}");
            assert_eq!(data(&text), ["a", "b\nc"], "{end:?}");
        }
    }

    #[test]
    fn one_space_after_the_colon_is_skipped() {
        assert_eq!(data("data:a\n\ndata:  b \n\n"), ["a", " b "]);
    }

    #[test]
    fn comments_other_fields_and_empty_events_are_skipped() {
        assert_eq!(data(": ping\n\nid: 7\nretry: 10\ndata: a\n\nevent: ping\n\ndata\n\ndata:\n\n"), ["a"]);
        // A type without data does not apply to the next event.
        assert_eq!(decode(&[b"event: ping\n\ndata: a\n\n"])[0].name, "");
    }

    #[test]
    fn event_type_is_returned() {
        let event = Event { name: "error".into(), data: "{}".into() };
        assert_eq!(decode(&[b"event: error\ndata: {}\n\n"]), [event]);
    }

    #[test]
    fn byte_order_mark_is_skipped_only_at_the_start() {
        assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\n"), ["a"]);
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        assert_eq!(decode(&[b"data: a\xffb\n\n"])[0].data, "a\u{fffd}b");
    }

    #[test]
    fn oversized_line_or_event_is_an_error() {
        let mut decoder = SseDecoder::default();
        let half = vec![b'x'; MAX_EVENT / 2 + 1];
        assert_eq!(decoder.push(&half, |_| {}), Ok(()));
        assert_eq!(decoder.push(&half, |_| {}), Err(TooLong));

        let mut decoder = SseDecoder::default();
        let line = [b"data: ".as_slice(), &half, b"\n"].concat();
        assert_eq!(decoder.push(&line, |_| {}), Ok(()));
        assert_eq!(decoder.push(&line, |_| {}), Err(TooLong));
    }

    #[test]
    fn splitting_at_any_two_bytes_gives_the_same_events() {
        let text = "\u{feff}: hi\r\n\r\ndata: {\"é\": 1}\r\n\r\nevent: x\rdata: a\r\ndata: b\n\ndata: [DONE]";
        let bytes = text.as_bytes();
        let whole = decode(&[bytes]);
        assert_eq!(whole.len(), 3);
        for second in 0..=bytes.len() {
            for first in 0..=second {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(decode(&pieces), whole, "cut at {first} and {second}");
            }
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), whole);
    }
}
