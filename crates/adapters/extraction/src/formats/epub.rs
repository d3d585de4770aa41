//! Reads EPUB books chapter by chapter.

use super::package::{Package, percent_decoded, resolve};
use super::sections::Sections;
use super::xml::{Element, Handler, walk};
use super::{encoding, html};
use crate::reader::{Pages, Stopped, damaged};
use docent_domain::document::{Failure, FailureCode};
use std::collections::{HashMap, HashSet};

/// Lists the files whose content is encrypted.
const ENCRYPTION: &str = "META-INF/encryption.xml";
/// Maximum number of chapters.
const CHAPTERS_MAX: usize = 5000;

/// Passes the sections of all chapters on, in the order of reading.
pub(super) fn read(bytes: Vec<u8>, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let mut package = Package::open(bytes)?;
    let mut container = Container::default();
    walk(&package.require_xml("META-INF/container.xml")?, &mut container)?;
    let path = container.path.ok_or_else(|| damaged("it does not name its content"))?;
    let mut book = Book::default();
    walk(&package.require_xml(&path)?, &mut book)?;
    let mut encrypted = Encrypted::default();
    if let Some(xml) = package.read_xml(ENCRYPTION)? {
        walk(&xml, &mut encrypted)?;
    }
    let mut title = book.title.take();
    let mut read_any = false;
    for id in book.spine.iter().take(CHAPTERS_MAX) {
        let Some(target) = book.items.get(id) else { continue };
        let chapter = resolve(&path, &percent_decoded(target));
        if encrypted.paths.contains(&chapter) {
            let reason = "the book is protected against copying";
            return Err(Failure::because(FailureCode::PasswordRequired, reason).into());
        }
        let Some(content) = package.read(&chapter)? else { continue };
        // Chapters begin new sections, also without a heading.
        let mut sections = Sections::new(pages);
        if let Some(title) = title.take() {
            sections.title(&title);
        }
        let page = encoding::decode_html(content);
        html::read_with_pictures(&page, Some((&mut package, &chapter)), &mut sections)?;
        sections.finish()?;
        read_any = true;
    }
    if read_any { Ok(()) } else { Err(damaged("it has no chapters").into()) }
}

/// Finds the package document.
#[derive(Default)]
struct Container {
    path: Option<String>,
}

impl Handler for Container {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        if element.name == "rootfile" && self.path.is_none() {
            self.path = element.attribute("full-path");
        }
        Ok(())
    }
}

/// The title of a book, its files by ID, and the IDs in the order of reading.
#[derive(Default)]
struct Book {
    title: Option<String>,
    is_in_title: bool,
    items: HashMap<String, String>,
    spine: Vec<String>,
}

impl Handler for Book {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        match element.name {
            "item" => {
                if let (Some(id), Some(path)) = (element.attribute("id"), element.attribute("href")) {
                    self.items.insert(id, path);
                }
            }
            "itemref" => self.spine.extend(element.attribute("idref")),
            // Further titles are subtitles.
            "title" if self.title.is_none() => {
                self.title = Some(String::new());
                self.is_in_title = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _: &str) -> Result<(), Stopped> {
        self.is_in_title = false;
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        if let Some(title) = self.title.as_mut().filter(|_| self.is_in_title) {
            title.push_str(text);
        }
        Ok(())
    }
}

/// The paths of encrypted files. Fonts often are, chapters only in protected books.
#[derive(Default)]
struct Encrypted {
    paths: HashSet<String>,
}

impl Handler for Encrypted {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        if element.name == "CipherReference" {
            self.paths.extend(element.attribute("URI").map(|path| resolve("", &percent_decoded(&path))));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::archive;
    use crate::reader::tests::{LIMITS, collect};

    const CONTAINER: &str =
        "<container><rootfiles><rootfile full-path='OEBPS/content.opf'/></rootfiles></container>";
    const BOOK: &str = "<package><manifest><item id='two' href='Text/two%20b.xhtml'/><item id='one' href='Text/one.xhtml'/>\
                        <item id='css' href='a.css'/></manifest><spine><itemref idref='one'/><itemref idref='two'/>\
                        <itemref idref='missing'/></spine></package>";

    fn book(more: &[(&str, &str)]) -> Vec<u8> {
        let entries = [
            ("mimetype", "application/epub+zip"),
            ("META-INF/container.xml", CONTAINER),
            ("OEBPS/content.opf", BOOK),
            (
                "OEBPS/Text/one.xhtml",
                "<?xml version='1.0'?><!DOCTYPE html><html><body><h1>Whales</h1><p>Call me.</p></body></html>",
            ),
            ("OEBPS/Text/two b.xhtml", "<html><body><p>No heading.</p></body></html>"),
        ];
        archive(&[&entries, more].concat())
    }

    #[test]
    fn chapters_are_read_in_their_order() {
        let pages = collect(LIMITS, |pages| read(book(&[]), pages)).unwrap();
        let expected = [("Whales", "Whales\n\nCall me."), ("Part 2", "No heading.")];
        assert_eq!(pages, expected.map(|(label, text)| (label.to_owned(), text.to_owned())));
    }

    #[test]
    fn texts_of_drawings_in_files_are_read() {
        let page = "<html><body><h1>Whales</h1><p>See <img src='../a.svg'/> there.</p></body></html>";
        let svg = "<?xml version='1.0'?><!DOCTYPE svg><svg><title>Baleen</title><text>1 m</text></svg>";
        let bytes = archive(&[
            ("META-INF/container.xml", CONTAINER),
            ("OEBPS/content.opf", BOOK),
            ("OEBPS/Text/one.xhtml", page),
            ("OEBPS/a.svg", svg),
        ]);
        let pages = collect(LIMITS, |pages| read(bytes, pages)).unwrap();
        assert_eq!(pages[0].1, "Whales\n\nSee Baleen 1 m there.");
    }

    #[test]
    fn protected_book_needs_a_password_and_one_with_protected_fonts_does_not() {
        let protecting = |path: &str| {
            format!("<encryption><EncryptedData><CipherReference URI='{path}'/></EncryptedData></encryption>")
        };
        let fonts = book(&[(ENCRYPTION, &protecting("OEBPS/font.otf"))]);
        assert!(collect(LIMITS, |pages| read(fonts, pages)).is_ok());
        let chapter = book(&[(ENCRYPTION, &protecting("OEBPS/Text/two%20b.xhtml"))]);
        assert_eq!(collect(LIMITS, |pages| read(chapter, pages)), Err(FailureCode::PasswordRequired));
    }

    #[test]
    fn book_without_content_is_a_failure() {
        for entries in
            [&[("mimetype", "application/epub+zip")][..], &[("META-INF/container.xml", "<container/>")]]
        {
            let result = collect(LIMITS, |pages| read(archive(entries), pages));
            assert_eq!(result, Err(FailureCode::Unreadable));
        }
    }
}
