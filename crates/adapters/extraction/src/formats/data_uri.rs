//! Decodes `data:` URIs, with which web pages and Markdown contain pictures.

use super::package::percent_decoded;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The beginning of a URI that contains a picture.
pub(super) const PICTURE: &str = "data:image/";
/// The media type of drawings in SVG, without `image/`.
const SVG: &str = "svg+xml";

/// As browsers decode it: padding can be left out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Whether a URI contains a picture.
pub(super) fn is_picture(uri: &str) -> bool {
    uri.get(..PICTURE.len()).is_some_and(|start| start.eq_ignore_ascii_case(PICTURE))
}

/// Whether a URI contains a drawing in SVG.
pub(super) fn is_svg(uri: &str) -> bool {
    let rest = if is_picture(uri) { &uri[PICTURE.len()..] } else { "" };
    rest.get(..SVG.len()).is_some_and(|start| start.eq_ignore_ascii_case(SVG))
}

/// The bytes in a URI; `None` if it is not valid.
pub(super) fn bytes(uri: &str) -> Option<Vec<u8>> {
    let (head, data) = uri.split_once(',')?;
    let is_base64 = head.rsplit(';').next()?.trim().eq_ignore_ascii_case("base64");
    if !is_base64 {
        return Some(percent_decoded(data).into_bytes());
    }
    let mut encoded = if data.contains('%') { percent_decoded(data) } else { data.to_owned() };
    encoded.retain(|c| !c.is_ascii_whitespace());
    BASE64.decode(encoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_decoded_as_browsers_do() {
        for (uri, expected) in [
            ("data:image/png;base64,AQID", Some(&b"\x01\x02\x03"[..])),
            ("data:image/png;base64,AQ ==", Some(b"\x01")),
            ("DATA:IMAGE/PNG;charset=x;BASE64,AQ%3D%3d", Some(b"\x01")),
            ("data:image/png;base64,AQ", Some(b"\x01")),
            ("data:image/svg+xml,%3Csvg/>", Some(b"<svg/>")),
            ("data:image/png;base64,&", None),
            ("data:image/png", None),
        ] {
            assert_eq!(bytes(uri).as_deref(), expected, "{uri}");
            assert!(is_picture(uri));
        }
        assert!(
            is_svg("data:image/SVG+xml;utf8,<svg>")
                && !is_svg("data:image/png,")
                && !is_picture("data:text/html,")
        );
    }
}
