//! The serialised form of an extracted page.

use docent_domain::extraction::{ExtractedPage, PICTURES_MAX, Picture};
use docent_domain::picture_description::PictureDescription;
use docent_domain::recognition::{
    PageBox, Recognition, RecognitionFailure, RecognizedLine, RecognizedPage, RecognizedWord,
};
use serde::{Deserialize, Serialize};
use std::io;

/// A page, as it is cached and as a worker sends it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PageLine {
    number: u32,
    text: String,
    glyphs: u32,
    unmapped_glyphs: u32,
    truncated: bool,
    /// Missing if the page's image was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recognition: Option<RecognitionLine>,
    /// Missing in PDFs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// Edges of pictures (left, top, right and bottom) and their offsets in the text. Missing if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<([u16; 4], u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_text: Option<String>,
    /// The model that was asked to describe the page's pictures, and what it wrote; nothing if it failed. Missing if none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<(String, Option<String>)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lacks_results: bool,
}

/// The recognition of a page. Exactly one of `lines` and `failure` is set.
#[derive(Debug, Serialize, Deserialize)]
struct RecognitionLine {
    recognizer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// Whether the line begins a paragraph, and its words: text, confidence, and edges left, top, right and bottom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<(bool, Vec<WordLine>)>>,
}

type WordLine = (String, u8, [u16; 4]);

impl From<Recognition> for RecognitionLine {
    fn from(Recognition { recognizer, result }: Recognition) -> Self {
        let word = |word: RecognizedWord| {
            let PageBox { left, top, right, bottom } = word.bounds;
            (word.text, word.confidence, [left, top, right, bottom])
        };
        let line = |line: RecognizedLine| {
            (line.begins_paragraph, line.words.into_iter().map(word).collect::<Vec<_>>())
        };
        match result {
            Ok(page) => {
                let lines = page.lines.into_iter().map(line).collect();
                Self { recognizer, failure: None, lines: Some(lines) }
            }
            Err(failure) => Self { recognizer, failure: Some(failure.as_str().to_owned()), lines: None },
        }
    }
}

impl RecognitionLine {
    fn recognition(self) -> io::Result<Recognition> {
        let word = |(text, confidence, [left, top, right, bottom]): WordLine| RecognizedWord {
            text,
            bounds: PageBox { left, top, right, bottom },
            confidence,
        };
        let line = |(begins_paragraph, words): (bool, Vec<WordLine>)| RecognizedLine {
            words: words.into_iter().map(word).collect(),
            begins_paragraph,
        };
        let result = match (self.failure, self.lines) {
            (None, Some(lines)) => Ok(RecognizedPage { lines: lines.into_iter().map(line).collect() }),
            (Some(code), None) => Err(RecognitionFailure::parse(&code).ok_or(io::ErrorKind::InvalidData)?),
            (None, None) | (Some(_), Some(_)) => return Err(io::ErrorKind::InvalidData.into()),
        };
        Ok(Recognition { recognizer: self.recognizer, result })
    }
}

impl From<ExtractedPage> for PageLine {
    fn from(page: ExtractedPage) -> Self {
        let ExtractedPage { number, text, glyphs, unmapped_glyphs, truncated, label, .. } = page;
        let recognition = page.recognition.map(RecognitionLine::from);
        let picture =
            |Picture { place: PageBox { left, top, right, bottom }, at }| ([left, top, right, bottom], at);
        Self {
            number,
            text,
            glyphs,
            unmapped_glyphs,
            truncated,
            recognition,
            label,
            pictures: page.pictures.into_iter().map(picture).collect(),
            own_text: page.own_text,
            description: page.description.map(|it| (it.model, it.text)),
            lacks_results: page.lacks_results,
        }
    }
}

impl PageLine {
    /// The page.
    ///
    /// # Errors
    /// If the recognition is not one that was written.
    pub(crate) fn extracted(self) -> io::Result<ExtractedPage> {
        let Self { number, text, glyphs, unmapped_glyphs, truncated, label, lacks_results, .. } = self;
        let recognition = self.recognition.map(RecognitionLine::recognition).transpose()?;
        let picture = |([left, top, right, bottom], at): ([u16; 4], u32)| Picture {
            place: PageBox { left, top, right, bottom },
            at,
        };
        let described = |(model, text)| PictureDescription { model, text };
        let pictures = self.pictures.into_iter().take(PICTURES_MAX).map(picture).collect();
        Ok(ExtractedPage {
            number,
            text,
            glyphs,
            unmapped_glyphs,
            truncated,
            recognition,
            label,
            pictures,
            own_text: self.own_text,
            description: self.description.map(described),
            lacks_results,
        })
    }
}
