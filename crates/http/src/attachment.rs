//! File downloads.

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::header::{
    self, Charset, ContentDisposition, DispositionParam, DispositionType, ExtendedValue,
};
use bytes::Bytes;
use docent_domain::document::StoredFile;
use docent_domain::fault::Fault;
use docent_domain::file_type::FileType;
use futures::Stream;

/// Builds the response with the uploaded file of a document.
pub fn file(file: &StoredFile, bytes: impl Stream<Item = Result<Bytes, Fault>> + 'static) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(file.file_type.media_type())
        .insert_header(attachment(file.name.as_str(), file.file_type))
        // Prevents scripts in the file, such as a web page, from running on this origin.
        .insert_header((header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"))
        .body(SizedStream::new(file.bytes, bytes))
}

/// Builds the header with the full name (RFC 5987) and an ASCII fallback.
fn attachment(name: &str, file_type: FileType) -> ContentDisposition {
    let unnamed = format!("document.{}", file_type.extensions()[0]);
    let name = if name.is_empty() { unnamed.as_str() } else { name };
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
    fn quotes_and_line_breaks_in_the_name_are_escaped() {
        let header = attachment("a\"; x=\"é\r\n.pdf", FileType::Pdf).to_string();
        assert!(
            header.starts_with("attachment; filename=\"a_; x=____.pdf\"; filename*=UTF-8''a%22"),
            "{header}"
        );
        assert!(!header.contains(['\r', '\n']));
        assert!(attachment("", FileType::Docx).to_string().contains("document.docx"));
    }
}
