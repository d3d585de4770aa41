//! Multipart forms with a file.
//!
//! The file is streamed from the socket to the blob store. The document is created after the whole form is validated, so a failed
//! upload leaves nothing behind.

use super::body::{broken_body, timed_out};
use crate::context::State;
use crate::error::ApiError;
use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, ContentDisposition, HeaderMap, HeaderValue};
use chrono::{DateTime, Utc};
use docent_app::documents::upload::{self as use_case, Upload, UploadTarget};
use docent_app::error::Error;
use futures::{Stream, StreamExt};
use std::cell::Cell;
use std::time::Duration;

/// The name of the part with the file.
pub const FILE: &str = "file";
/// Maximum characters of the name of a part in an error.
const NAME_SHOWN: usize = 100;
/// Maximum bytes of a form besides its file.
pub const REST_MAX: u64 = 1024 * 1024;
const PARTS_MAX: usize = 100;
/// Maximum bytes of a field that is kept.
const FIELD_MAX: usize = 1000;
/// Minimum average rate of an upload in bytes per second, after the timeout for pauses.
const MIN_RATE: u64 = 8 * 1024;

/// Stores the file of a valid form. The body has `length` bytes, if that is known.
pub async fn receive(
    context: &State,
    target: impl Into<UploadTarget>,
    parts: Multipart,
    length: Option<u64>,
) -> Result<Upload, ApiError> {
    receive_with_fields(context, target, parts, length, &[]).await.map(|(upload, _)| upload)
}

/// Like [`receive`], and returns the fields with these names too, in their order.
pub async fn receive_with_fields(
    context: &State,
    target: impl Into<UploadTarget>,
    parts: Multipart,
    length: Option<u64>,
    names: &'static [&'static str],
) -> Result<(Upload, Vec<(&'static str, String)>), ApiError> {
    let (upload, fields) = receive_all(context, target, parts, length, names).await;
    Ok((upload?, fields))
}

/// Like [`receive_with_fields`], and returns the fields that came before an error too.
pub async fn receive_all(
    context: &State,
    target: impl Into<UploadTarget>,
    parts: Multipart,
    length: Option<u64>,
    names: &'static [&'static str],
) -> (Result<Upload, ApiError>, Vec<(&'static str, String)>) {
    let expected = length.unwrap_or_default().saturating_sub(REST_MAX);
    let mut form = Form { expected, names, ..Form::new(context, parts) };
    let upload = match form.file(target.into()).await {
        Ok(Some(upload)) => upload,
        Ok(None) => return (Err(ApiError::invalid_field(&["body", FILE], "is required")), form.fields),
        Err(error) => return (Err(error), form.fields),
    };
    if let Err(error) = form.end().await {
        upload.abort().await;
        return (Err(error), form.fields);
    }
    (Ok(upload), form.fields)
}

/// Reads the parts of a form.
///
/// The parser refuses forms whose file has a name that is not UTF-8, as older clients send it, but not other multipart bodies. The
/// form is read as such a body, and [`Form::next_part`] checks its parts.
pub fn parts_of(
    headers: &HeaderMap,
    payload: impl Stream<Item = Result<bytes::Bytes, PayloadError>> + 'static,
) -> Multipart {
    let mut headers = headers.clone();
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let parameters = content_type.and_then(|value| {
        let (essence, parameters) = value.split_once(';')?;
        essence.trim().eq_ignore_ascii_case("multipart/form-data").then_some(parameters)
    });
    if let Some(Ok(mixed)) = parameters.map(|of| HeaderValue::from_str(&format!("multipart/mixed;{of}"))) {
        headers.insert(header::CONTENT_TYPE, mixed);
    }
    Multipart::new(&headers, payload)
}

/// A multipart form being read.
pub struct Form<'a> {
    context: &'a State,
    /// Minimum number of bytes of the file.
    expected: u64,
    /// Number of skipped bytes.
    rest: u64,
    parts: Multipart,
    /// Names of the fields that are kept.
    names: &'static [&'static str],
    fields: Vec<(&'static str, String)>,
    started: DateTime<Utc>,
    /// Number of bytes of parts so far.
    received: Cell<u64>,
}

impl<'a> Form<'a> {
    /// Starts reading a form.
    pub fn new(context: &'a State, parts: Multipart) -> Self {
        let (started, received) = (context.app.now(), Cell::new(0));
        let (names, fields) = (&[][..], Vec::new());
        Self { context, expected: 0, rest: 0, parts, names, fields, started, received }
    }

    /// Stores the part named `file`, if present.
    async fn file(&mut self, target: UploadTarget) -> Result<Option<Upload>, ApiError> {
        for _ in 0..PARTS_MAX {
            let Some(part) = self.next_part().await? else { return Ok(None) };
            if part_name(&part).as_deref() == Some(FILE) {
                return self.store(target, part).await.map(Some);
            }
            self.keep_or_skip(part).await?;
        }
        Err(too_many_parts())
    }

    /// Reads the rest of the form, which must not contain another file.
    async fn end(&mut self) -> Result<(), ApiError> {
        for _ in 0..PARTS_MAX {
            let Some(part) = self.next_part().await? else { return Ok(()) };
            if part_name(&part).as_deref() == Some(FILE) {
                return Err(ApiError::invalid_field(&["body", FILE], "must be given once"));
            }
            self.keep_or_skip(part).await?;
        }
        Err(too_many_parts())
    }

    /// Stores a part as a file.
    pub async fn store(&self, target: impl Into<UploadTarget>, mut part: Field) -> Result<Upload, ApiError> {
        let content_type = part.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut upload =
            use_case::begin(&self.context.app, target, &file_name(&part), content_type, self.expected)
                .await?;
        loop {
            let written = match self.next_of(&mut part).await {
                Ok(None) => return Ok(upload),
                Ok(Some(bytes)) => upload.write(bytes).await.map_err(ApiError::from),
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                upload.abort().await;
                return Err(error);
            }
        }
    }

    /// Reads a short text field.
    pub async fn text(&self, mut part: Field, max: usize) -> Result<String, ApiError> {
        let mut text = Vec::new();
        while let Some(bytes) = self.next_of(&mut part).await? {
            text.extend_from_slice(&bytes);
            if text.len() > max {
                return Err(ApiError::invalid_field(&["body"], "has a field that is too long"));
            }
        }
        String::from_utf8(text).map_err(|_| ApiError::invalid_field(&["body"], "has a field that is no text"))
    }

    async fn keep_or_skip(&mut self, part: Field) -> Result<(), ApiError> {
        let sent = part_name(&part);
        let name = self.names.iter().copied().find(|name| sent.as_deref() == Some(name));
        let Some(name) = name else { return self.skip(part).await };
        let text = self.text(part, FIELD_MAX).await?;
        self.fields.push((name, text));
        Ok(())
    }

    async fn skip(&mut self, mut part: Field) -> Result<(), ApiError> {
        while let Some(bytes) = self.next_of(&mut part).await? {
            self.rest += bytes.len() as u64;
            if self.rest > REST_MAX {
                return Err(other_part_too_large(part_name(&part).as_deref()));
            }
        }
        Ok(())
    }

    /// Returns the next part and skips the rest of the previous one.
    pub async fn next_part(&mut self) -> Result<Option<Field>, ApiError> {
        let part = in_time(self.context, self.time_left(), &mut self.parts).await?;
        match part {
            Some(part) if part_name(&part).is_none() => Err(invalid_form()),
            part => Ok(part),
        }
    }

    async fn next_of(&self, part: &mut Field) -> Result<Option<bytes::Bytes>, ApiError> {
        let bytes = in_time(self.context, self.time_left(), part).await?;
        self.received.set(self.received.get() + bytes.as_ref().map_or(0, |bytes| bytes.len() as u64));
        Ok(bytes)
    }

    /// How long the next piece may take: a client must neither pause for long nor be slower than [`MIN_RATE`] for long.
    fn time_left(&self) -> Duration {
        let pause = self.context.settings.body_timeout;
        let total = pause + Duration::from_secs(self.received.get() / MIN_RATE);
        let spent = (self.context.app.now() - self.started).to_std().unwrap_or_default();
        pause.min(total.saturating_sub(spent))
    }
}

/// Returns the next item of a form.
async fn in_time<T>(
    context: &State,
    time_left: Duration,
    stream: &mut (impl Stream<Item = Result<T, MultipartError>> + Unpin),
) -> Result<Option<T>, ApiError> {
    tokio::select! {
        item = stream.next() => item.transpose().map_err(|error| form_error(context, &error)),
        () = context.app.sleep(time_left) => Err(timed_out()),
    }
}

/// Returns the name of the part of a form.
pub fn part_name(part: &Field) -> Option<String> {
    let disposition = disposition(part.headers().get(header::CONTENT_DISPOSITION)?)?;
    disposition.get_name().filter(|_| disposition.is_form_data()).map(str::to_owned)
}

/// Returns the name of the file: `filename*` (RFC 5987) where it can be decoded, else `filename`.
pub fn file_name(part: &Field) -> String {
    let raw = part.headers().get(header::CONTENT_DISPOSITION);
    let Some(disposition) = raw.and_then(disposition) else { return String::new() };
    let extended = disposition.get_filename_ext().and_then(|name| String::from_utf8(name.value.clone()).ok());
    extended.or_else(|| disposition.get_filename().map(browser_decoded)).unwrap_or_default()
}

/// Decodes a name as browsers encode it in forms: quotation marks and line ends are percent-encoded, and nothing else.
fn browser_decoded(name: &str) -> String {
    [("%22", "\""), ("%0D", "\r"), ("%0A", "\n")]
        .iter()
        .fold(name.to_owned(), |name, (encoded, character)| name.replace(encoded, character))
}

/// Parses the header, whose bytes are taken for Latin-1 if they are not UTF-8, preserving backslashes that escape neither a quote nor a backslash: clients that send
/// `C:\Reports\pump.pdf` mean a path, whose last component is the name.
fn disposition(raw: &HeaderValue) -> Option<ContentDisposition> {
    let mut escaped = Vec::with_capacity(raw.len());
    let text = std::str::from_utf8(raw.as_bytes()).map(str::to_owned);
    let text = text.unwrap_or_else(|_| raw.as_bytes().iter().map(|byte| char::from(*byte)).collect());
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        escaped.push(byte);
        if byte == b'\\' {
            escaped.push(bytes.next_if(|next| matches!(next, b'"' | b'\\')).unwrap_or(b'\\'));
        }
    }
    ContentDisposition::from_raw(&HeaderValue::from_bytes(&escaped).ok()?).ok()
}

fn other_part_too_large(name: Option<&str>) -> ApiError {
    let name: String = name.unwrap_or_default().chars().take(NAME_SHOWN).collect();
    let detail = format!(
        "The part \"{name}\" is too large: the parts other than \"{FILE}\" may have {REST_MAX} bytes in total"
    );
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
}

fn too_many_parts() -> ApiError {
    ApiError::invalid_field(&["body"], "has too many parts")
}

fn form_error(context: &State, error: &MultipartError) -> ApiError {
    match error {
        MultipartError::ContentTypeMissing
        | MultipartError::ContentTypeParse
        | MultipartError::ContentTypeIncompatible
        | MultipartError::BoundaryMissing => {
            ApiError::invalid_field(&["body"], "must be a multipart form with a part named file")
        }
        MultipartError::Nested => {
            Error::UnsupportedFileType { accepted: context.app.settings().upload_types, conversion: None }
                .into()
        }
        MultipartError::Payload(_) => broken_body(),
        _ => invalid_form(),
    }
}

fn invalid_form() -> ApiError {
    ApiError::invalid_field(&["body"], "is not a valid multipart form")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(value: &str) -> Option<String> {
        let raw = HeaderValue::from_str(value).unwrap();
        disposition(&raw)?.get_filename().map(str::to_owned)
    }

    #[test]
    fn form_with_a_name_that_is_not_utf8_is_read() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("multipart/form-data; boundary=x"));
        let body = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"Gr\xf6\xdfe.txt\"\r\n\r\n\r\n--x--\r\n";
        let body = futures::stream::iter([Ok(bytes::Bytes::from_static(body))]);
        let mut parts = parts_of(&headers, body);
        let part = actix_web::rt::System::new().block_on(async { parts.next().await.unwrap().unwrap() });
        assert_eq!((part_name(&part).as_deref(), file_name(&part).as_str()), (Some(FILE), "Größe.txt"));
    }

    #[test]
    fn names_of_browsers_and_in_latin1_are_decoded() {
        assert_eq!(browser_decoded("say %22hi%22 100%20.txt"), "say \"hi\" 100%20.txt");
        let raw = HeaderValue::from_bytes(b"form-data; name=\"file\"; filename=\"Gr\xf6\xdfe.txt\"").unwrap();
        assert_eq!(disposition(&raw).unwrap().get_filename(), Some("Größe.txt"));
    }

    #[test]
    fn unescaped_backslash_in_a_file_name_is_preserved() {
        for (sent, name) in [
            (r"C:\Users\me\pump.pdf", r"C:\Users\me\pump.pdf"),
            (r"C:\\Users\\me\\pump.pdf", r"C:\Users\me\pump.pdf"),
            (r#"a\"b.pdf"#, r#"a"b.pdf"#),
            (r"\\server\share\pump.pdf", r"\server\share\pump.pdf"),
        ] {
            let header = format!(r#"form-data; name="file"; filename="{sent}""#);
            assert_eq!(named(&header).as_deref(), Some(name), "{sent}");
        }
        assert_eq!(named(r#"form-data; name="file"; filename="a\"#), None);
    }
}
