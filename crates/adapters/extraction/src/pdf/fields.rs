//! Values of form fields.

use super::text_string;
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_syntax::Pdf;
use hayro_syntax::object::dict::keys::{ANNOTS, AP, SUBTYPE};
use hayro_syntax::object::{Array, Dict, Name, Object, String as PdfString};
use hayro_syntax::page::Page;

/// Maximum number of fields of a page.
const FIELDS_MAX: usize = 2000;
/// Maximum number of fields that a field is within.
const PARENTS_MAX: usize = 16;
/// Maximum number of values of a list, and of its options.
const OPTIONS_MAX: usize = 5000;
/// Flags of annotations that are not shown.
const HIDDEN: i32 = 1 << 1 | 1 << 5;
/// Annotations that readers add, whose text programs show beside the page.
const COMMENTS: [&[u8]; 7] =
    [b"Text", b"Highlight", b"Underline", b"StrikeOut", b"Squiggly", b"Caret", b"Stamp"];
/// Flag of buttons without a state.
const PUSH_BUTTON: i32 = 1 << 16;
/// Flag of fields for passwords.
const PASSWORD: i32 = 1 << 13;

/// The value of a form field.
#[derive(Debug)]
pub(super) struct FieldValue {
    /// Its place in points from the top left corner.
    pub(super) bounds: Rect,
    pub(super) text: String,
    /// Whether an appearance that shows something else is out of date.
    pub(super) is_stale: bool,
}

/// Whether a document asks programs to draw its fields from their values.
pub(super) fn needs_appearances(pdf: &Pdf) -> bool {
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    let form = catalog.and_then(|catalog| catalog.get::<Dict<'_>>("AcroForm"));
    form.and_then(|form| form.get::<bool>("NeedAppearances")).unwrap_or(false)
}

/// The values of the fields of a page, and its notes of free text.
pub(super) fn values(page: &Page<'_>, transform: Affine, needs_appearances: bool) -> Vec<FieldValue> {
    let Some(annotations) = page.raw().get::<Array<'_>>(ANNOTS) else { return Vec::new() };
    let fields = annotations.iter::<Dict<'_>>().take(FIELDS_MAX);
    fields.filter_map(|field| value(&field, transform, needs_appearances)).collect()
}

fn value(field: &Dict<'_>, transform: Affine, needs_appearances: bool) -> Option<FieldValue> {
    let subtype = field.get::<Name<'_>>(SUBTYPE)?;
    if field.get::<i32>("F").unwrap_or(0) & HIDDEN != 0 {
        return None;
    }
    match &*subtype {
        b"Widget" => {}
        b"FreeText" => return placed(field, contents(field)?, transform, false),
        _ => return None,
    }
    let chain = chain(field);
    let is_choice = match &*chain.iter().find_map(|field| field.get::<Name<'_>>("FT"))? {
        b"Tx" => false,
        b"Ch" => true,
        b"Btn" => {
            let flags = chain.iter().find_map(|field| field.get::<i32>("Ff")).unwrap_or(0);
            let state = field.get::<Name<'_>>("AS").filter(|_| flags & PUSH_BUTTON == 0)?;
            let sign = if &*state == b"Off" { "☐" } else { "☒" };
            return placed(field, sign.to_owned(), transform, true);
        }
        _ => return None,
    };
    let flags = chain.iter().find_map(|field| field.get::<i32>("Ff")).unwrap_or(0);
    if !is_choice && flags & PASSWORD != 0 {
        return None;
    }
    let values: Vec<String> = match chain.iter().find_map(|field| field.get::<Object<'_>>("V"))? {
        Object::String(text) => vec![text_string::decode(text.as_bytes())],
        Object::Array(values) => {
            let texts = values.iter::<PdfString<'_>>().take(OPTIONS_MAX);
            texts.map(|text| text_string::decode(text.as_bytes())).collect()
        }
        _ => return None,
    };
    let options = chain.iter().find_map(|field| field.get::<Array<'_>>("Opt")).filter(|_| is_choice);
    let shown: Vec<String> = values
        .into_iter()
        .map(|value| options.as_ref().and_then(|all| option(all, &value)).unwrap_or(value))
        .collect();
    let text = shown.join("\n").replace("\r\n", "\n").replace('\r', "\n");
    // A script may format the value, which then differs from what is shown.
    let has_script = chain.iter().any(|field| field.contains_key("AA"));
    let is_stale = needs_appearances || !has_script || !field.contains_key(AP);
    placed(field, text, transform, is_stale)
}

/// A value in the place of its field.
fn placed(field: &Dict<'_>, text: String, transform: Affine, is_stale: bool) -> Option<FieldValue> {
    let rect = field.get::<Array<'_>>("Rect")?;
    let edges: Vec<f64> = rect.iter::<f32>().take(4).map(f64::from).collect();
    let [x0, y0, x1, y1] = edges[..] else { return None };
    let bounds = transform.transform_rect_bbox(Rect::new(x0.min(x1), y0.min(y1), x0.max(x1), y0.max(y1)));
    (!text.trim().is_empty() && bounds.is_finite()).then_some(FieldValue { bounds, text, is_stale })
}

fn contents(annotation: &Dict<'_>) -> Option<String> {
    let text = text_string::decode(annotation.get::<PdfString<'_>>("Contents")?.as_bytes());
    Some(text.replace("\r\n", "\n").replace('\r', "\n")).filter(|text| !text.trim().is_empty())
}

/// The comments of readers on a page, such as those of marked passages.
pub(super) fn comments(page: &Page<'_>) -> Vec<String> {
    let Some(annotations) = page.raw().get::<Array<'_>>(ANNOTS) else { return Vec::new() };
    let annotations = annotations.iter::<Dict<'_>>().take(FIELDS_MAX);
    let is_comment = |annotation: &Dict<'_>| {
        let subtype = annotation.get::<Name<'_>>(SUBTYPE);
        subtype.is_some_and(|subtype| COMMENTS.contains(&&*subtype))
            && annotation.get::<i32>("F").unwrap_or(0) & HIDDEN == 0
    };
    annotations.filter(is_comment).filter_map(|annotation| contents(&annotation)).collect()
}

/// A field and the fields that it is within, from which it inherits.
fn chain<'a>(field: &Dict<'a>) -> Vec<Dict<'a>> {
    let mut chain = vec![field.clone()];
    while chain.len() < PARENTS_MAX
        && let Some(parent) = chain.last().and_then(|field| field.get::<Dict<'a>>("Parent"))
    {
        chain.push(parent);
    }
    chain
}

/// The text that is shown for a value of a list.
fn option(options: &Array<'_>, value: &str) -> Option<String> {
    let pairs = options.iter::<Object<'_>>().take(OPTIONS_MAX).filter_map(|option| match option {
        Object::Array(pair) => {
            let mut texts = pair.iter::<PdfString<'_>>().map(|text| text_string::decode(text.as_bytes()));
            Some((texts.next()?, texts.next()?))
        }
        _ => None,
    });
    pairs.into_iter().find(|(export, _)| export == value).map(|(_, shown)| shown)
}
