//! Where in a trace something was asked for, so that work done later belongs to the same one.

use std::fmt;

/// `00-TRACE_ID-SPAN_ID-FLAGS` in hexadecimal digits.
const LENGTH: usize = 55;

/// A place in a trace, in the W3C form `traceparent`. To us it is a label that we pass on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent(String);

impl TraceParent {
    /// Takes a label of version `00`; anything else is none.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |part: &str, length| {
            part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let mut parts = text.split('-');
        let is_valid = text.len() == LENGTH
            && parts.next() == Some("00")
            && [32, 16, 2].into_iter().all(|length| parts.next().is_some_and(|part| is_hex(part, length)))
            && parts.next().is_none();
        is_valid.then(|| Self(text.to_owned()))
    }

    /// The label.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The trace's id: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        self.0.get(3..35).unwrap_or_default()
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_form_of_the_standard_is_taken() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let label = TraceParent::parse(good).unwrap();
        assert_eq!((label.as_str(), label.trace_id()), (good, "0af7651916cd43dd8448eb211c80319c"));
        for bad in
            ["", "00-", &good[1..], &good.to_uppercase(), &good.replace("00-", "01-"), &format!("{good}-1")]
        {
            assert_eq!(TraceParent::parse(bad), None, "{bad}");
        }
    }
}
