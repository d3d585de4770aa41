//! Pictures that are entries of an archive, such as screenshots in Word files, or that are in `data:` URIs:
//! their places, and the image on which their text is recognised.
//!
//! Pages of these files have no size. The pictures of a page are put below each other, in rows of the same height.

use super::data_uri;
use super::package::Package;
use crate::embedded_picture::EmbeddedPicture;
use crate::frame::SizeFrame;
use crate::pdf::drawing::gray_png;
use crate::reader::Pages;
use image::imageops::{self, FilterType};
use image::{DynamicImage, GrayImage, ImageReader, Limits, Luma};
use std::io::Cursor;

/// Minimum width and height of a picture in pixels: lower than a line of a heading, no text can be read.
const MIN_WIDTH: u32 = 96;
const MIN_HEIGHT: u32 = 32;
/// Minimum number of pixels of a picture. Logos and icons are smaller.
const MIN_PIXELS: u64 = 17_000;
/// Maximum width and height of a picture in pixels.
const MAX_SIDE: u32 = 20_000;
/// Maximum size of a picture in memory.
const MAX_BYTES: u64 = 256 << 20;
/// Smaller pictures are enlarged to this width, since recognizers need larger letters than screens.
const ROW_WIDTH: f32 = 2400.0;
/// By how much they are enlarged at most.
const MAX_FACTOR: f32 = 4.0;
/// Maximum width and height of a row; larger pictures are scaled down.
const ROW_SIDE: f32 = 5200.0;
/// Maximum number of pixels of an image of a page.
const IMAGE_PIXELS: f32 = 48e6;
/// Height of a page for a width of one.
const PAGE_RATIO: f32 = 1.5;
/// Between the name of an archive and that of its entry.
const SEPARATOR: char = '\0';
/// White space between pictures in pixels.
const MARGIN: u32 = 40;

/// The picture in an entry of a file, unless it was on an earlier page, is missing, small or of an unknown format.
pub(super) fn find(pages: &mut Pages<'_>, package: &mut Package, entry: &str) -> Option<EmbeddedPicture> {
    find_within(pages, package, "", entry)
}

/// The picture in an entry of an archive, which is itself an entry of the file; see [`within`].
pub(super) fn find_within(
    pages: &mut Pages<'_>,
    package: &mut Package,
    archive: &str,
    entry: &str,
) -> Option<EmbeddedPicture> {
    let name = within(archive, entry);
    if !pages.is_new_picture(&name) {
        return None;
    }
    measured(&package.read_picture(entry)?, name)
}

/// The picture in a `data:` URI, unless it was on an earlier page, is small or of an unknown format.
pub(super) fn find_in_uri(pages: &mut Pages<'_>, uri: &str) -> Option<EmbeddedPicture> {
    if !pages.is_new_picture(uri) {
        return None;
    }
    measured(&data_uri::bytes(uri)?, uri.to_owned())
}

/// A picture with its size; `None` if no text can be read on it.
fn measured(bytes: &[u8], entry: String) -> Option<EmbeddedPicture> {
    let (width, height) = reader(bytes)?.into_dimensions().ok()?;
    let sides = width.max(height) <= MAX_SIDE && width >= MIN_WIDTH && height >= MIN_HEIGHT;
    let picture = EmbeddedPicture { entry, width, height };
    (sides && picture.pixels() >= MIN_PIXELS).then_some(picture)
}

/// The name of an entry of an archive within the file, or of the file itself if `archive` is empty.
pub(super) fn within(archive: &str, entry: &str) -> String {
    if archive.is_empty() { entry.to_owned() } else { format!("{archive}{SEPARATOR}{entry}") }
}

/// The bytes of a picture, also in an archive within the file.
fn bytes_of(package: Option<&mut Package>, name: &str) -> Option<Vec<u8>> {
    if data_uri::is_picture(name) {
        return data_uri::bytes(name);
    }
    match name.split_once(SEPARATOR) {
        None => package?.read_picture(name),
        Some((archive, name)) => {
            let bytes = package?.read(archive).ok().flatten()?;
            bytes_of(Some(&mut Package::open(bytes).ok()?), name)
        }
    }
}

/// The size of a picture in the image of a page that is scaled by a factor.
fn scaled(picture: &EmbeddedPicture, factor: f32) -> (u32, u32) {
    let (width, height) = (picture.width as f32, picture.height as f32);
    let own = (ROW_WIDTH / width).clamp(1.0, MAX_FACTOR).min(ROW_SIDE / width.max(height));
    let side = |pixels: f32| ((pixels * own * factor).round() as u32).max(1);
    (side(width), side(height))
}

fn reader(bytes: &[u8]) -> Option<ImageReader<Cursor<&[u8]>>> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MAX_SIDE), Some(MAX_SIDE));
    limits.max_alloc = Some(MAX_BYTES);
    reader.limits(limits);
    Some(reader)
}

/// Draws the pictures of a page as PNG in shades of grey, each at its [`place`](crate::embedded_picture::place). A damaged picture is white.
pub(super) fn draw(
    mut package: Option<&mut Package>,
    pictures: &[EmbeddedPicture],
    size: SizeFrame,
) -> Option<Vec<u8>> {
    let max_pixels = match size {
        // As much as a page of this width.
        SizeFrame::Width(width) => f32::from(width).powi(2) * PAGE_RATIO,
        SizeFrame::Scan { .. } => IMAGE_PIXELS,
    };
    let size = |factor: f32| {
        let sizes = || pictures.iter().map(|picture| scaled(picture, factor));
        let width = sizes().map(|(width, _)| width).max()? + MARGIN;
        let height = sizes().map(|(_, height)| height).max()? + MARGIN;
        Some((width, height))
    };
    let (width, height) = size(1.0)?;
    let pixels = width as f32 * height as f32 * pictures.len() as f32;
    let factor = (max_pixels / pixels).sqrt().min(1.0);
    let (width, height) = size(factor)?;
    let mut page = GrayImage::from_pixel(width, height * pictures.len() as u32, Luma([u8::MAX]));
    for (picture, top) in pictures.iter().zip((0..).step_by(height as usize)) {
        let decoded =
            bytes_of(package.as_deref_mut(), &picture.entry).and_then(|bytes| reader(&bytes)?.decode().ok());
        if let Some(decoded) = decoded {
            let (width, height) = scaled(picture, factor);
            let scaled = imageops::resize(&on_white(&decoded), width, height, FilterType::CatmullRom);
            imageops::replace(&mut page, &scaled, 0, top);
        }
    }
    gray_png(page.as_raw(), page.width(), page.height()).ok()
}

/// A picture in shades of grey, with white where it is transparent.
fn on_white(picture: &DynamicImage) -> GrayImage {
    let pixels = picture.to_luma_alpha8();
    GrayImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [luma, alpha] = pixels.get_pixel(x, y).0.map(u16::from);
        Luma([((luma * alpha + 255 * (255 - alpha)) / 255) as u8])
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::archive_of_bytes;
    use super::super::{draw_pictures, page_source, read};
    use super::*;
    use crate::embedded_picture::place;
    use crate::reader::PageSource;
    use crate::reader::tests::LIMITS;
    use base64::Engine as _;
    use docent_domain::extraction::{ExtractedPage, Extraction};
    use docent_domain::file_type::FileType;
    use docent_domain::recognition::PageBox;
    use image::{ImageFormat, Rgba, RgbaImage};

    const RELATIONS: &str =
        "<Relationships><Relationship Id='r1' Type='http://x/officeDocument' Target='DOC'/></Relationships>";
    const PARTS: &str = "<Relationships><Relationship Id='r1' Type='http://x/image' Target='media/wide.png'/>\
        <Relationship Id='r2' Type='http://x/image' Target='media/tall.jpg'/>\
        <Relationship Id='r3' Type='http://x/image' Target='media/icon.png'/>\
        <Relationship Id='r4' Type='http://x/image' Target='media/damaged.png'/>\
        <Relationship Id='r5' Type='http://x/image' Target='http://a.example/b.png' TargetMode='External'/></Relationships>";
    /// Transparent but for a black bar at the left.
    const WIDE: (u32, u32) = (400, 100);
    const TALL: (u32, u32) = (200, 300);

    fn encoded((width, height): (u32, u32), format: ImageFormat) -> Vec<u8> {
        let pixel = |x, _| if x < 50 { Rgba([0, 0, 0, 255]) } else { Rgba([0, 0, 0, 0]) };
        let mut picture = DynamicImage::from(RgbaImage::from_fn(width, height, pixel));
        if format == ImageFormat::Jpeg {
            picture = DynamicImage::from(on_white(&picture));
        }
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// A file whose content has these pictures as `r1` and `r2`; `r3` is small, `r4` damaged, and `r5` elsewhere.
    fn file(document: &str, parts: &str, content: &[(&str, &str)]) -> Vec<u8> {
        let (wide, tall) = (encoded(WIDE, ImageFormat::Png), encoded(TALL, ImageFormat::Jpeg));
        let icon = encoded((64, 64), ImageFormat::Png);
        let folder = parts.split('/').next().unwrap();
        let media = |name: &str| format!("{folder}/{name}");
        let names = ["media/wide.png", "media/tall.jpg", "media/icon.png", "media/damaged.png"].map(media);
        let relations = RELATIONS.replace("DOC", document);
        let mut entries: Vec<(&str, &[u8])> =
            vec![("_rels/.rels", relations.as_bytes()), (parts, PARTS.as_bytes())];
        entries.extend(names.iter().map(String::as_str).zip([&wide[..], &tall, &icon, &wide[..40]]));
        entries.extend(content.iter().map(|(name, content)| (*name, content.as_bytes())));
        archive_of_bytes(&entries)
    }

    fn document(body: &str) -> Vec<u8> {
        let xml = format!("<w:document><w:body>{body}</w:body></w:document>");
        file("word/document.xml", "word/_rels/document.xml.rels", &[("word/document.xml", &xml)])
    }

    fn paragraph(text: &str) -> String {
        format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
    }

    fn picture(id: &str) -> String {
        format!("<w:p><w:r><w:drawing><a:blip r:embed='{id}'/></w:drawing></w:r></w:p>")
    }

    fn pages(file_type: FileType, bytes: &[u8]) -> Vec<ExtractedPage> {
        let mut extraction = Extraction::default();
        read(file_type, bytes.to_vec(), LIMITS, &mut extraction).unwrap();
        extraction.pages
    }

    fn source(file_type: FileType, bytes: &[u8], page: u32) -> Vec<(String, u32)> {
        match page_source(file_type, bytes.to_vec(), LIMITS, page).unwrap() {
            Some(PageSource::Pictures(found)) => found.into_iter().map(|it| (it.entry, it.width)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pictures_of_a_document_have_places_in_its_text() {
        let body = [
            paragraph("Prices:"),
            picture("r1"),
            paragraph("After."),
            picture("r2"),
            picture("r3"),
            picture("r4"),
            picture("r5"),
            picture("r1"),
        ];
        let bytes = document(&body.concat());
        let pages = pages(FileType::Docx, &bytes);
        assert_eq!(pages[0].text, "Prices:\n\nAfter.");
        let found: Vec<_> =
            pages[0].pictures.iter().map(|it| (it.place.top, it.place.bottom, it.at)).collect();
        let (half, whole) = (PageBox::UNITS / 2, PageBox::UNITS);
        assert_eq!(found, [(0, half, 15), (half, whole, 9)], "the largest first; the repeated one once");
        assert!(pages[0].needs_recognition("any") && pages[0].scanned_pictures().len() == 2);
        let pictures = source(FileType::Docx, &bytes, 1);
        assert_eq!(
            pictures,
            [("word/media/tall.jpg".to_owned(), 200), ("word/media/wide.png".to_owned(), 400)]
        );
        assert!(page_source(FileType::Docx, bytes, LIMITS, 2).unwrap().is_none());
    }

    #[test]
    fn picture_of_an_embedded_document_is_not_taken_for_an_entry_of_the_outer_one() {
        let tall = encoded(TALL, ImageFormat::Jpeg);
        let inner = document(&(paragraph("Inner.") + &picture("r1")));
        let xml = format!("<w:document><w:altChunk r:id='r6'/>{}</w:document>", paragraph("Outer."));
        let relations = PARTS.replace(
            "</Relationships>",
            "<Relationship Id='r6' Type='http://x/aFChunk' Target='inner.docx'/></Relationships>",
        );
        let root = RELATIONS.replace("DOC", "word/document.xml");
        let bytes = archive_of_bytes(&[
            ("_rels/.rels", root.as_bytes()),
            ("word/_rels/document.xml.rels", relations.as_bytes()),
            ("word/document.xml", xml.as_bytes()),
            ("word/inner.docx", &inner),
            ("word/media/wide.png", &tall),
        ]);
        let pages = pages(FileType::Docx, &bytes);
        assert_eq!((pages[0].text.as_str(), pages[0].pictures.len()), ("Inner.\n\nOuter.", 1));
        let found = source(FileType::Docx, &bytes, 1);
        assert_eq!(found, [("word/inner.docx\0word/media/wide.png".to_owned(), WIDE.0)]);
        let picture = EmbeddedPicture { entry: found[0].0.clone(), width: WIDE.0, height: WIDE.1 };
        let png = draw_pictures(bytes, &[picture], SizeFrame::Scan { dpi: 400 }).unwrap();
        let drawn = image::load_from_memory(&png).unwrap().to_luma8();
        assert!(drawn.pixels().any(|pixel| pixel.0[0] == 0), "the picture is drawn");
    }

    #[test]
    fn pictures_of_workbooks_and_books_are_found() {
        let sheet = "<worksheet><sheetData/><drawing r:id='d'/></worksheet>";
        let relation = |id: &str, kind: &str, target: &str| {
            format!(
                "<Relationships><Relationship Id='{id}' Type='http://x/{kind}' Target='{target}'/></Relationships>"
            )
        };
        let workbook = "<workbook><sheets><sheet name='S' r:id='s'/></sheets></workbook>";
        let content = [
            ("xl/workbook.xml", workbook),
            ("xl/_rels/workbook.xml.rels", &relation("s", "worksheet", "sheet.xml")),
            ("xl/sheet.xml", sheet),
            ("xl/_rels/sheet.xml.rels", &relation("d", "drawing", "drawing.xml")),
            ("xl/drawing.xml", "<xdr:wsDr><xdr:pic><a:blip r:embed='r1'/></xdr:pic></xdr:wsDr>"),
        ];
        let bytes = file("xl/workbook.xml", "xl/_rels/drawing.xml.rels", &content);
        assert_eq!(source(FileType::Xlsx, &bytes, 1), [("xl/media/wide.png".to_owned(), 400)]);
        assert_eq!(pages(FileType::Xlsx, &bytes)[0].pictures.len(), 1);
        let container = "<container><rootfile full-path='book/a.opf'/></container>";
        let book = "<package><manifest><item id='a' href='a.xhtml'/></manifest><spine><itemref idref='a'/></spine></package>";
        let wide = encoded(WIDE, ImageFormat::Png);
        let bytes = archive_of_bytes(&[
            ("META-INF/container.xml", container.as_bytes()),
            ("book/a.opf", book.as_bytes()),
            ("book/a.xhtml", b"<html><p>Text</p><img src='my%20wide.png'/></html>"),
            ("book/my wide.png", &wide),
        ]);
        assert_eq!(source(FileType::Epub, &bytes, 1), [("book/my wide.png".to_owned(), 400)]);
    }

    #[test]
    fn pictures_in_uris_of_web_pages_and_markdown_are_found_and_drawn() {
        let uri = |size| {
            let bytes = encoded(size, ImageFormat::Png);
            format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes))
        };
        let (wide, tall, icon) = (uri(WIDE), uri(TALL), uri((64, 64)));
        let page = format!(
            "<h1>A</h1><p>One</p><img src='{wide}'><p>Two<img src={icon}><h1>B</h1><img src='{tall}'>"
        );
        let markdown = format!(
            "# A\n\nOne\n\n![][w]\n\nTwo <img src=\"{icon}\">\n\n<!-- <img src='{tall}x'> -->\n\n# B\n\n![]({tall})\n\n[w]: {wide}\n"
        );
        for (file_type, file, offset) in [(FileType::Html, page, 8), (FileType::Markdown, markdown, 10)] {
            let pages = pages(file_type, file.as_bytes());
            let found: Vec<_> = pages.iter().map(|page| (page.pictures.len(), page.pictures[0].at)).collect();
            assert_eq!((found.len(), found[0], found[1].0), (2, (1, offset), 1), "{file_type:?}: {pages:?}");
            assert!(pages[0].needs_recognition("any"));
            let found = source(file_type, file.as_bytes(), 2);
            assert_eq!(found, [(tall.clone(), TALL.0)]);
            let picture = EmbeddedPicture { entry: tall.clone(), width: TALL.0, height: TALL.1 };
            let png = draw_pictures(file.into_bytes(), &[picture], SizeFrame::Scan { dpi: 400 }).unwrap();
            let drawn = image::load_from_memory(&png).unwrap().to_luma8();
            assert!(drawn.pixels().any(|pixel| pixel.0[0] < 50), "the picture is drawn");
        }
    }

    #[test]
    fn document_of_pictures_alone_has_a_page_with_them() {
        let pages = pages(FileType::Docx, &document(&picture("r1")));
        assert_eq!((pages.len(), pages[0].text.as_str(), pages[0].pictures.len()), (1, "", 1));
        assert!(pages[0].needs_recognition("any") && pages[0].scanned_pictures().is_empty());
        let pages = self::pages(FileType::Docx, &document(&picture("r3")));
        assert_eq!(
            (pages.len(), pages[0].needs_recognition("any")),
            (1, false),
            "nothing can be read on an icon"
        );
    }

    #[test]
    fn long_section_has_its_pictures_on_the_right_pages() {
        let long = paragraph(&"word ".repeat(3000));
        let body = [picture("r1"), long.clone(), long.clone(), picture("r2"), long];
        let bytes = document(&body.concat());
        let pages = pages(FileType::Docx, &bytes);
        let with_pictures: Vec<u32> =
            pages.iter().filter(|page| !page.pictures.is_empty()).map(|page| page.number).collect();
        assert_eq!((pages.len(), with_pictures), (3, vec![1, 3]));
        assert_eq!((pages[0].pictures[0].at, pages[2].pictures[0].at), (0, 0));
        assert_eq!(source(FileType::Docx, &bytes, 3)[0].0, "word/media/tall.jpg");
    }

    #[test]
    fn pictures_of_slides_and_of_open_document_texts_are_found() {
        let slide = "<p:sld><p:sp><a:p><a:r><a:t>Plan</a:t></a:r></a:p></p:sp><p:pic><a:blip r:embed='r1'/></p:pic></p:sld>";
        let list =
            "<Relationships><Relationship Id='s' Type='http://x/slide' Target='slide1.xml'/></Relationships>";
        let bytes = file(
            "ppt/p.xml",
            "ppt/_rels/slide1.xml.rels",
            &[
                ("ppt/p.xml", "<p:presentation><p:sldId r:id='s'/></p:presentation>"),
                ("ppt/_rels/p.xml.rels", list),
                ("ppt/slide1.xml", slide),
            ],
        );
        let pages = pages(FileType::Pptx, &bytes);
        assert_eq!((pages[0].text.as_str(), pages[0].pictures[0].at), ("Plan", 4));
        let content = "<office:document-content><office:text><text:p>Plan</text:p><text:p><draw:frame>\
                       <draw:image xlink:href='Pictures/a.png'/></draw:frame></text:p></office:text></office:document-content>";
        let bytes = archive_of_bytes(&[
            ("content.xml", content.as_bytes()),
            ("Pictures/a.png", &encoded(WIDE, ImageFormat::Png)),
        ]);
        assert_eq!(self::pages(FileType::Odt, &bytes)[0].pictures.len(), 1);
        assert_eq!(source(FileType::Odt, &bytes, 1), [("Pictures/a.png".to_owned(), 400)]);
    }

    #[test]
    fn pictures_are_drawn_at_their_places_on_white() {
        let find = |package: &mut Package, entry: &str| {
            measured(&package.read_picture(entry).unwrap(), entry.to_owned()).unwrap()
        };
        let bytes = document("");
        let mut package = Package::open(bytes.clone()).unwrap();
        let mut found =
            vec![find(&mut package, "word/media/wide.png"), find(&mut package, "word/media/tall.jpg")];
        found.push(EmbeddedPicture { entry: "word/media/damaged.png".to_owned(), ..found[0].clone() });
        let small = draw_pictures(bytes.clone(), &found, SizeFrame::Width(800)).unwrap();
        let small = image::load_from_memory(&small).unwrap();
        // With margins.
        assert!(small.width() * small.height() < 1_200_000, "{} x {}", small.width(), small.height());
        let png = draw_pictures(bytes, &found, SizeFrame::Scan { dpi: 400 }).unwrap();
        let page = image::load_from_memory(&png).unwrap().into_luma8();
        let row = page.height() / 3;
        assert!((1600..1700).contains(&page.width()) && (1200..1300).contains(&row), "{}", page.width());
        let dark = |x, y| page.get_pixel(x, y).0[0] < 50;
        // 50 pixels wide, enlarged four times.
        assert!(dark(100, 100) && !dark(300, 100) && !dark(100, row - 50), "the wide one");
        assert!(dark(100, row + 100) && dark(100, row + 1100) && !dark(300, row + 100), "the tall one");
        assert!((0..page.width()).all(|x| !dark(x, 2 * row + 100)), "the damaged one");
        assert_eq!(place(1, 3).top, PageBox::UNITS / 3);
        let size = |width, height| scaled(&EmbeddedPicture { entry: String::new(), width, height }, 1.0);
        assert_eq!(
            [size(96, 200), size(4800, 300), size(300, 10_400)],
            [(384, 800), (4800, 300), (150, 5200)]
        );
    }

    #[test]
    fn page_of_an_attachment_has_its_source_in_the_attachment() {
        let word = document(&(paragraph("Prices:") + &picture("r1")));
        let encoded = base64::engine::general_purpose::STANDARD.encode(&word);
        let mail = format!(
            "From: a@b.example\r\nSubject: Report\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n\
             --x\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n--x\r\nContent-Type: application/octet-stream\r\n\
             Content-Disposition: attachment; filename=a.docx\r\nContent-Transfer-Encoding: base64\r\n\r\n{encoded}\r\n--x--\r\n"
        );
        let pages = pages(FileType::Eml, mail.as_bytes());
        let page = pages.iter().find(|page| !page.pictures.is_empty()).unwrap();
        match page_source(FileType::Eml, mail.into_bytes(), LIMITS, page.number).unwrap() {
            Some(PageSource::Attachment { file_type: FileType::Docx, bytes, page: 1 }) => {
                assert_eq!(bytes, word)
            }
            other => panic!("{other:?}"),
        }
    }
}
