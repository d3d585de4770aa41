//! Trace context of a request, so that later work can join the same trace.

use std::fmt;

/// Length of `00-TRACE_ID-SPAN_ID-FLAGS` in hexadecimal digits.
const LENGTH: usize = 55;

/// A W3C `traceparent` value. It is passed on unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent(String);

impl TraceParent {
    /// Parses a value of version `00`; returns `None` for anything else.
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

    /// The `traceparent` value.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The trace ID: 32 hexadecimal digits.
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
    fn only_well_formed_traceparent_is_accepted() {
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
