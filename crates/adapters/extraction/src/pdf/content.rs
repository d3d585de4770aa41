//! Inflates content streams up to a limit.
//!
//! hayro inflates streams without a limit. A page's content is the easiest place for a decompression bomb, so the
//! page's own stream is inflated here up to the limit, and its forms are measured before hayro reads them. Bombs
//! elsewhere (fonts, object streams) exceed the memory limit of the process.

use flate2::read::ZlibDecoder;
use hayro_syntax::Filter;
use hayro_syntax::object::dict::keys::{
    ANNOTS, AP, CONTENTS, DECODE_PARMS, DP, FORM, N, PREDICTOR, RESOURCES, SUBTYPE, XOBJECT,
};
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_syntax::page::Page;
use std::collections::HashSet;
use std::io::{self, Read};

/// Maximum compression ratio of deflate; those of LZW and run-length encoding are close to it.
const MAX_RATIO: usize = 1_400;

/// Returns a page's content stream, and whether it was cut at `limit` bytes.
pub(super) fn page_content(page: &Page<'_>, limit: usize) -> (Vec<u8>, bool) {
    let mut content = Vec::new();
    let mut cut = false;
    let mut add = |stream: Stream<'_>| {
        cut |= !inflate_into(&mut content, &stream, limit);
        // Tokens do not continue in the next stream.
        content.push(b' ');
        !cut
    };
    if let Some(stream) = page.raw().get::<Stream<'_>>(CONTENTS) {
        add(stream);
    } else if let Some(streams) = page.raw().get::<Array<'_>>(CONTENTS) {
        streams.iter::<Stream<'_>>().all(add);
    }
    (content, cut)
}

/// Appends a stream's content up to a total of `limit` bytes; false if it was cut.
fn inflate_into(content: &mut Vec<u8>, stream: &Stream<'_>, limit: usize) -> bool {
    let room = limit.saturating_sub(content.len());
    if is_plain_deflate(stream) {
        let start = content.len();
        let raw = stream.raw_data();
        let read = ZlibDecoder::new(&raw[..]).take(room as u64 + 1).read_to_end(content);
        if content.len() > start + room {
            content.truncate(start + room);
            return false;
        }
        if read.is_ok() {
            return true;
        }
        // hayro can read some damaged streams.
        content.truncate(start);
    }
    if may_exceed(stream, limit.saturating_mul(8)) {
        return false;
    }
    let Ok(decoded) = stream.decoded_data() else { return true };
    content.extend_from_slice(&decoded[..decoded.len().min(room)]);
    decoded.len() <= room
}

fn is_plain_deflate(stream: &Stream<'_>) -> bool {
    let predictor =
        |key| stream.dict().get::<Dict<'_>>(key).is_some_and(|params| params.contains_key(PREDICTOR));
    stream.filters()[..] == [Filter::FlateDecode] && !predictor(DECODE_PARMS) && !predictor(DP)
}

/// Whether a stream may inflate beyond `limit`, judged by its length and filters.
fn may_exceed(stream: &Stream<'_>, limit: usize) -> bool {
    let expands = |filter: &&Filter| {
        matches!(filter, Filter::FlateDecode | Filter::LzwDecode | Filter::RunLengthDecode)
    };
    let times = stream.filters().iter().filter(expands).count() as u32;
    stream.raw_data().len().saturating_mul(MAX_RATIO.saturating_pow(times)) > limit
}

/// Whether a stream inflates beyond `limit`; inflates it without storing the content.
fn exceeds(stream: &Stream<'_>, limit: usize) -> bool {
    if !may_exceed(stream, limit) {
        return false;
    }
    if stream.filters().len() > 1 {
        return may_exceed(stream, limit.saturating_mul(8));
    }
    let raw = stream.raw_data();
    let inflated = io::copy(&mut ZlibDecoder::new(&raw[..]).take(limit as u64 + 1), &mut io::sink());
    inflated.is_ok_and(|bytes| bytes > limit as u64)
}

/// Finds forms that inflate beyond a limit. Each form is measured once per document.
#[derive(Debug)]
pub(super) struct FormCheck {
    limit: usize,
    seen: HashSet<ObjectIdentifier>,
    oversized: HashSet<ObjectIdentifier>,
}

impl FormCheck {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, seen: HashSet::new(), oversized: HashSet::new() }
    }

    /// Whether any form reachable from these resources is too large.
    pub(super) fn finds_oversized(&mut self, x_objects: &Dict<'_>) -> bool {
        let mut open = vec![x_objects.clone()];
        let mut found = false;
        while let Some(dict) = open.pop() {
            for name in dict.keys() {
                let id = dict.get_ref(&*name).map(ObjectIdentifier::from);
                if let Some(id) = id.filter(|id| self.seen.contains(id)) {
                    found |= self.oversized.contains(&id);
                    continue;
                }
                self.seen.extend(id);
                let Some(stream) = dict.get::<Stream<'_>>(&*name) else { continue };
                let is_form = stream.dict().get::<Name<'_>>(SUBTYPE).is_some_and(|name| &*name == FORM);
                if is_form && exceeds(&stream, self.limit) {
                    found = true;
                    self.oversized.extend(id);
                }
                open.extend(nested_x_objects(&stream));
            }
        }
        found
    }

    /// Whether any form of a page's annotations is too large; `None` without annotations.
    pub(super) fn finds_oversized_appearance(&mut self, page: &Page<'_>) -> Option<bool> {
        let annotations = page.raw().get::<Array<'_>>(ANNOTS)?;
        let mut found = None;
        for annotation in annotations.iter::<Dict<'_>>() {
            let Some(appearances) = annotation.get::<Dict<'_>>(AP) else { continue };
            let streams = match appearances.get::<Object<'_>>(N) {
                Some(Object::Stream(stream)) => vec![stream],
                Some(Object::Dict(states)) => states.keys().filter_map(|name| states.get(&*name)).collect(),
                _ => Vec::new(),
            };
            for stream in streams {
                let nested = nested_x_objects(&stream).is_some_and(|dict| self.finds_oversized(&dict));
                *found.get_or_insert(false) |= nested || exceeds(&stream, self.limit);
            }
        }
        found
    }
}

fn nested_x_objects<'a>(stream: &Stream<'a>) -> Option<Dict<'a>> {
    stream.dict().get::<Dict<'a>>(RESOURCES)?.get::<Dict<'a>>(XOBJECT)
}
