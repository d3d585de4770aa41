//! The format of metrics that a client accepts.

use actix_web::HttpRequest;
use actix_web::http::header::{Accept, Header, Quality};
use std::fmt::Write;

/// A text format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The text format of Prometheus, which all tools read.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// The format that a request prefers. Clients that name neither format get that of Prometheus.
    pub fn of(request: &HttpRequest) -> Self {
        let Ok(accept) = Accept::parse(request) else { return Self::Prometheus };
        let quality = |kinds: &[&str]| {
            let named = accept.iter().filter(|accepted| kinds.contains(&accepted.item.essence_str()));
            named.map(|accepted| accepted.quality).max().unwrap_or(Quality::ZERO)
        };
        let open = quality(&["application/openmetrics-text"]);
        if open > Quality::ZERO && open >= quality(&["text/plain"]) {
            Self::OpenMetrics
        } else {
            Self::Prometheus
        }
    }

    /// The content type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Converts metrics from OpenMetrics to the text format of Prometheus. There, a counter has the name of its sample, and there are neither
/// information metrics nor an end marker.
pub(super) fn to_prometheus(metrics: &str) -> String {
    let mut text = String::with_capacity(metrics.len());
    // The description comes before the type, on which its name depends.
    let mut help = None;
    for line in metrics.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("HELP"), Some(name), Some(description)) => help = Some((name, description)),
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", "counter"),
                    "info" => ("_info", "gauge"),
                    "unknown" => ("", "untyped"),
                    kind => ("", kind),
                };
                // Writing to a string cannot fail.
                if let Some((_, description)) = help.take().filter(|(described, _)| *described == name) {
                    let _ = writeln!(text, "# HELP {name}{suffix} {}", description.replace("\\\"", "\""));
                }
                let _ = writeln!(text, "# TYPE {name}{suffix} {kind}");
            }
            (Some("#"), ..) => {}
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header;
    use actix_web::test::TestRequest;

    #[test]
    fn format_is_the_preferred_one() {
        let open = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
        for (accept, format) in [
            (open, Format::OpenMetrics),
            ("application/openmetrics-text", Format::OpenMetrics),
            ("text/plain", Format::Prometheus),
            ("text/plain, application/openmetrics-text;q=0.5", Format::Prometheus),
            ("application/openmetrics-text;q=0", Format::Prometheus),
            ("*/*", Format::Prometheus),
            ("", Format::Prometheus),
            ("text/html,*/*;q=0.1", Format::Prometheus),
        ] {
            let request = TestRequest::get().insert_header((header::ACCEPT, accept)).to_http_request();
            assert_eq!(Format::of(&request), format, "{accept}");
        }
        assert_eq!(Format::of(&TestRequest::get().to_http_request()), Format::Prometheus);
    }

    #[test]
    fn metrics_are_converted_by_type() {
        let open = "# HELP a Says \\\"a\\\".\n# TYPE a counter\n# UNIT a seconds\na_total{b=\"# c\"} 1\n# HELP d D.\n# TYPE d info\n\
                    d_info{version=\"1\"} 1\n# TYPE e unknown\ne 2\n# HELP f F.\n# TYPE f histogram\nf_sum 0.1\nf_count 1\n\
                    f_bucket{le=\"+Inf\"} 1\n# EOF\n";
        let text = "# HELP a_total Says \"a\".\n# TYPE a_total counter\na_total{b=\"# c\"} 1\n# HELP d_info D.\n# TYPE d_info gauge\n\
                    d_info{version=\"1\"} 1\n# TYPE e untyped\ne 2\n# HELP f F.\n# TYPE f histogram\nf_sum 0.1\nf_count 1\n\
                    f_bucket{le=\"+Inf\"} 1\n";
        assert_eq!(to_prometheus(open), text);
    }
}
