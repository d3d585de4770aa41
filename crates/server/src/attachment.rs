//! Files that are to be saved.

use actix_web::http::header::{
    Charset, ContentDisposition, DispositionParam, DispositionType, ExtendedValue,
};

/// A file to be saved under this name: in full for clients that know how, and in plain letters for others.
pub(crate) fn attachment(name: &str) -> ContentDisposition {
    let name = if name.is_empty() { "document.pdf" } else { name };
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ';
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let full =
        ExtendedValue { charset: Charset::Ext("UTF-8".to_owned()), language_tag: None, value: name.into() };
    ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![DispositionParam::Filename(plain), DispositionParam::FilenameExt(full)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        let header = attachment("a\"; x=\"é\r\n.pdf").to_string();
        assert!(
            header.starts_with("attachment; filename=\"a_; x=____.pdf\"; filename*=UTF-8''a%22"),
            "{header}"
        );
        assert!(!header.contains(['\r', '\n']));
        assert!(attachment("").to_string().contains("document.pdf"));
    }
}
