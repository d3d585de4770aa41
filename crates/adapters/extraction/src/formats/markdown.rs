//! Reads Markdown, in sections by heading.

use std::borrow::Cow;
use std::ops::Range;

use super::data_uri::PICTURE;
use super::{data_uri, embedded};
use crate::reader::{Pages, Stopped, TextPicture, one_line, shortened};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Maximum length of a heading in a label, in characters.
const HEADING_MAX: usize = 60;

/// Passes the sections on as they are written. Headings in code do not count, and comments and the metadata before the text are
/// left out.
pub(super) fn read(text: &str, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let (text, pictures) = without_comments(text.trim_start_matches('\u{feff}'));
    let find = |(at, uri): (usize, String)| Some((at, embedded::find_in_uri(pages, &uri)?));
    let pictures: Vec<TextPicture> = pictures.into_iter().filter_map(find).collect();
    let text = &*text;
    let mut path: Vec<(HeadingLevel, String)> = Vec::new();
    let mut heading: Option<(HeadingLevel, usize, String)> = None;
    let (mut start, mut has_body) = (0, false);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let mut is_metadata = false;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match (event, &mut heading) {
            (Event::Start(Tag::MetadataBlock(_)), _) if !has_body && range.start == start => {
                is_metadata = true
            }
            (Event::End(TagEnd::MetadataBlock(_)), _) if is_metadata => {
                (start, is_metadata) = (range.end, false)
            }
            _ if is_metadata => {}
            (Event::Start(Tag::Heading { level, .. }), _) => {
                heading = Some((level, range.start, String::new()));
            }
            (Event::End(TagEnd::Heading(_)), Some(_)) => {
                let Some((level, at, title)) = heading.take() else { continue };
                if has_body {
                    pass(pages, &path, text, start..at, &pictures)?;
                    (start, has_body) = (at, false);
                }
                path.retain(|(of, _)| *of < level);
                path.push((level, shortened(&one_line(&title), HEADING_MAX)));
            }
            (Event::Text(part) | Event::Code(part), Some((_, _, title))) => title.push_str(&part),
            (Event::SoftBreak | Event::HardBreak, Some((_, _, title))) => title.push(' '),
            (_, Some(_)) => {}
            (_, None) => has_body = true,
        }
    }
    pass(pages, &path, text, start..text.len(), &pictures)
}

/// The text without HTML comments, without link definitions that are comments, such as `[//]: # (remark)`, and without the bytes
/// of pictures, whose URIs are returned with their offsets. Code is kept.
fn without_comments(text: &str) -> (Cow<'_, str>, Vec<(usize, String)>) {
    if !text.contains("<!--") && !text.contains("]:") && !text.contains(PICTURE) {
        return (Cow::Borrowed(text), Vec::new());
    }
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES);
    let definitions = parser.reference_definitions().iter();
    let mut comments: Vec<Range<usize>> = definitions
        .filter(|(_, definition)| &*definition.dest == "#" || data_uri::is_picture(&definition.dest))
        .map(|(_, definition)| definition.span.clone())
        .collect();
    let mut pictures: Vec<(usize, String)> = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        let mut is_picture = false;
        if let Event::Start(Tag::Image { dest_url, .. }) = &event
            && data_uri::is_picture(dest_url)
        {
            is_picture = true;
            pictures.push((range.start, dest_url.to_string()));
        }
        let is_html = matches!(event, Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_));
        if is_picture || is_html {
            let mut start = range.start;
            while let Some(at) = text[start..range.end].find(PICTURE).map(|at| start + at) {
                let is_end = |c: char| c.is_whitespace() || matches!(c, ')' | '"' | '\'' | '>');
                start = text[at..range.end].find(is_end).map_or(range.end, |length| at + length);
                comments.push(at..start);
                if is_html {
                    pictures.push((at, text[at..start].to_owned()));
                }
            }
        }
        if is_html {
            let mut start = range.start;
            while let Some(at) = text[start..range.end].find("<!--").map(|at| start + at)
                && let Some(length) = text[at..range.end].find("-->")
            {
                start = at + length + "-->".len();
                comments.push(at..start);
            }
        }
    }
    pictures.sort_by_key(|(at, _)| *at);
    without(text, comments, pictures)
}

/// The text without these ranges, and the pictures outside of them with their offsets in it.
fn without(
    text: &str,
    mut ranges: Vec<Range<usize>>,
    pictures: Vec<(usize, String)>,
) -> (Cow<'_, str>, Vec<(usize, String)>) {
    ranges.sort_by_key(|range| range.start);
    let (mut kept, mut end) = (String::with_capacity(text.len()), 0);
    let (mut next, mut placed) = (pictures.into_iter().peekable(), Vec::new());
    for range in ranges.into_iter().chain(std::iter::once(text.len()..text.len())) {
        if range.start >= end {
            while let Some((at, uri)) = next.next_if(|(at, _)| *at <= range.start) {
                placed.extend(at.checked_sub(end).map(|after| (kept.len() + after, uri)));
            }
            kept.push_str(&text[end..range.start]);
            end = range.end;
        }
    }
    (Cow::Owned(kept), placed)
}

/// Passes a section on, which is a range of the text, with its pictures.
fn pass(
    pages: &mut Pages<'_>,
    path: &[(HeadingLevel, String)],
    text: &str,
    range: Range<usize>,
    pictures: &[TextPicture],
) -> Result<(), Stopped> {
    let titles: Vec<&str> =
        path.iter().map(|(_, title)| title.as_str()).filter(|it| !it.is_empty()).collect();
    let label = (!titles.is_empty()).then(|| titles.join(" › "));
    // A picture can be at the end of the text.
    let is_within = |at: usize| range.contains(&at) || at == text.len() && range.end == at;
    let pictures = pictures.iter().filter(|(at, _)| is_within(*at));
    let pictures = pictures.map(|(at, picture)| (at - range.start, picture.clone())).collect();
    pages.push_pictured_section(label.as_deref(), &text[range], pictures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::tests::{LIMITS, collect};

    #[test]
    fn sections_follow_headings_outside_of_code() {
        let text = "Intro\n\n# Setup\n## *Net*work `a`\nPlug.\n```\n# no heading\n```\n\nOther\n=====\n| a | b |\n|---|---|\n| 1 | 2 |\n";
        let pages = collect(LIMITS, |pages| read(text, pages)).unwrap();
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Part 1", "Setup › Network a", "Other"]);
        assert!(
            pages[1].1.starts_with("# Setup\n## *Net*work `a`\nPlug.") && pages[1].1.contains("# no heading")
        );
        assert!(pages[2].1.contains("| 1 | 2 |"));
    }

    #[test]
    fn metadata_before_the_text_is_left_out() {
        for fence in ["---", "+++"] {
            let text = format!(
                "{fence}\ntitle: x\n# no heading\n{fence}\n\n# Warranty\nFive years.\n\n---\nnote: y\n---\n"
            );
            let pages = collect(LIMITS, |pages| read(&text, pages)).unwrap();
            let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
            assert_eq!(labels[0], "Warranty", "{fence}");
            assert!(pages[0].1.trim_start().starts_with("# Warranty"), "{fence}");
            assert!(!pages.iter().any(|(_, text)| text.contains("title: x")), "{fence}");
            assert!(pages.iter().any(|(_, text)| text.contains("note: y")), "{fence}");
        }
    }

    #[test]
    fn comments_are_left_out_but_not_in_code() {
        let text = "One<!-- a -->two\n\n<!-- b\nc -->\n\nThree\n\n[//]: # (d)\n[x]: https://example.org\n\n`<!-- e -->`\n\n    <!-- f -->\n";
        let pages = collect(LIMITS, |pages| read(text, pages)).unwrap();
        let found = &pages[0].1;
        for kept in ["Onetwo", "Three", "[x]: https://example.org", "<!-- e -->", "<!-- f -->"] {
            assert!(found.contains(kept), "{kept}: {found}");
        }
        for comment in ["<!-- a", "<!-- b", "c -->", "(d)"] {
            assert!(!found.contains(comment), "{comment}: {found}");
        }
        let open = collect(LIMITS, |pages| read("a\n\n<!-- never closed\nb", pages)).unwrap();
        assert!(open[0].1.contains("never closed"));
    }

    #[test]
    fn bytes_of_pictures_are_left_out() {
        let text = "![Pump](data:image/png;base64,AAAA) <img alt=\"b\" src=\"data:image/gif;base64,BBBB\"> ![c][i]\n\n[i]: <data:image/png;base64,CCCC>\n";
        let pages = collect(LIMITS, |pages| read(text, pages)).unwrap();
        assert_eq!(pages[0].1.trim(), "![Pump]() <img alt=\"b\" src=\"\"> ![c][i]");
    }

    #[test]
    fn deeply_nested_markdown_is_read() {
        let text = format!("# A\n{}x\n{}", "> ".repeat(20_000), "[".repeat(20_000));
        assert_eq!(collect(LIMITS, |pages| read(&text, pages)).unwrap()[0].0, "A");
    }
}
