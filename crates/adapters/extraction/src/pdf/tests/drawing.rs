//! Tests of page images.

use super::{Sample, line};
use crate::frame::{DrawingRequest, LineFrame, SizeFrame};
use crate::pdf::drawing::{RenderFailure, draw, words};
use docent_domain::document::FailureCode;
use docent_domain::file_type::FileType;
use hayro::vello_cpu::Pixmap;
use std::io::Cursor;

fn render(pdf: Vec<u8>, page: u32, width: u16, marked: Option<&str>) -> Result<Pixmap, RenderFailure> {
    let marked = marked.map(str::to_owned);
    let size = SizeFrame::Width(width);
    let png = draw(pdf, &DrawingRequest { page, size, marked, ..scan(0, Vec::new()) })?;
    Ok(Pixmap::from_png(Cursor::new(png)).unwrap())
}

/// Counts dark and yellow pixels.
fn colours(picture: &Pixmap) -> (usize, usize) {
    let dark = picture.data().iter().filter(|pixel| pixel.r < 100).count();
    let yellow = picture.data().iter().filter(|pixel| pixel.r > 240 && pixel.b < 140).count();
    (dark, yellow)
}

#[test]
fn page_is_rendered_at_the_requested_width() {
    let pdf = Sample::of_texts(&["Pumps move water.", ""]);
    let first = render(pdf.clone(), 1, 600, None).unwrap();
    assert_eq!((first.width(), first.height()), (600, 849));
    let (dark, yellow) = colours(&first);
    assert!(dark > 100 && yellow == 0, "{dark} {yellow}");
    let second = render(pdf, 2, 300, None).unwrap();
    assert_eq!((second.width(), colours(&second)), (300, (0, 0)));
}

#[test]
fn highlighted_lines_are_yellow_and_readable() {
    let page = line(72, 700, "Pumps move water.") + &line(72, 500, "Valves close.");
    let pdf = Sample::new().page(&page).bytes();
    let plain = colours(&render(pdf.clone(), 1, 600, None).unwrap());
    let picture = render(pdf, 1, 600, Some("Valves close.")).unwrap();
    let (dark, yellow) = colours(&picture);
    assert!(yellow > 500, "{yellow}");
    assert_eq!(dark, plain.0, "what was dark stays so");
    // The second line is 342 of 842 points below the top.
    let row = |pixel: usize| pixel / usize::from(picture.width());
    let marked = picture.data().iter().enumerate().filter(|(_, pixel)| pixel.r > 240 && pixel.b < 140);
    let rows: Vec<usize> = marked.map(|(at, _)| row(at)).collect();
    assert!(rows.iter().all(|row| (325..355).contains(row)), "{:?}", (rows.first(), rows.last()));
}

#[test]
fn failures_are_reported() {
    let pdf = Sample::of_texts(&["one"]);
    for page in [0, 2] {
        assert!(matches!(render(pdf.clone(), page, 100, None), Err(RenderFailure::NoSuchPage)));
    }
    let Err(RenderFailure::Document(failure)) = render(b"nothing".to_vec(), 1, 100, None) else { panic!() };
    assert_eq!(failure.code, FailureCode::NotAPdf);
}

#[test]
fn oversized_page_is_scaled_down() {
    let mut sample = Sample::new().page("");
    for object in sample.document.objects.values_mut() {
        if let Ok(page) = object.as_dict_mut()
            && page.has(b"MediaBox")
        {
            page.set("MediaBox", vec![0.into(), 0.into(), 1.into(), 14400.into()]);
        }
    }
    let picture = render(sample.bytes(), 1, 3000, None).unwrap();
    assert!(picture.height() <= 8192 && picture.width() >= 1, "{} x {}", picture.width(), picture.height());
}

fn scan(dpi: u16, parts: Vec<[u16; 4]>) -> DrawingRequest {
    let (file_type, size) = (FileType::Pdf.as_str().to_owned(), SizeFrame::Scan { dpi });
    DrawingRequest { file_type, page: 1, size, marked: None, recognized: None, parts }
}

#[test]
fn scan_of_parts_shows_them_without_text() {
    // Two black squares of a fifth of the page with a grey one between them, and text on the first one.
    let squares = "0 g 0 421 119 421 re f 476 421 119 421 re f 0.5 g 238 421 119 421 re f 1 g ";
    let pdf = Sample::new().page(&(squares.to_owned() + &line(20, 600, "Pumps move water."))).bytes();
    let parts = vec![[0, 0, 2000, 5000], [8000, 0, 10_000, 5000]];
    let picture = Pixmap::from_png(Cursor::new(draw(pdf.clone(), &scan(72, parts)).unwrap())).unwrap();
    assert_eq!((picture.width(), picture.height()), (595, 421));
    let shade = |x: usize, y: usize| picture.data()[y * 595 + x].r;
    assert_eq!([shade(50, 50), shade(550, 50), shade(297, 50)], [0, 0, 255], "only the parts");
    // The text is white on black; its place is white as a whole.
    assert!((20..100).all(|x| shade(x, 238) == 255), "its words are left out");
    let part =
        Pixmap::from_png(Cursor::new(draw(pdf, &scan(144, vec![[4000, 0, 6000, 5000]])).unwrap())).unwrap();
    assert!(part.width().abs_diff(238) <= 1 && part.height().abs_diff(842) <= 1);
    assert!(part.data().iter().all(|pixel| pixel.r.abs_diff(128) <= 1));
}

#[test]
fn scan_is_gray_and_has_the_requested_resolution() {
    let pdf = Sample::of_texts(&["Pumps move water."]);
    let request = |dpi| scan(dpi, Vec::new());
    let png = draw(pdf.clone(), &request(150)).unwrap();
    let image = png::Decoder::new(Cursor::new(&png)).read_info().unwrap();
    assert_eq!(image.info().color_type, png::ColorType::Grayscale);
    // A4, with a tolerance for rounding.
    assert!(image.info().width.abs_diff(1240) <= 1 && image.info().height.abs_diff(1754) <= 1);
    let picture = Pixmap::from_png(Cursor::new(png)).unwrap();
    assert!(colours(&picture).0 > 100);
    let large = draw(pdf, &request(u16::MAX)).unwrap();
    let image = png::Decoder::new(Cursor::new(&large)).read_info().unwrap();
    assert!(image.info().width.max(image.info().height) <= 5200);
}

#[test]
fn recognised_lines_are_highlighted_where_their_words_are() {
    let pdf = Sample::of_texts(&[""]);
    let line = |text: &str, top| LineFrame {
        text: text.to_owned(),
        boxes: vec![[1000, top, 2000, top + 500], [3000, top, 4000, top + 500]],
    };
    let request = DrawingRequest {
        size: SizeFrame::Width(100),
        marked: Some("valves close".to_owned()),
        recognized: Some(vec![line("Pumps move", 1000), line("Valves close", 5000)]),
        ..scan(0, Vec::new())
    };
    let picture = Pixmap::from_png(Cursor::new(draw(pdf, &request).unwrap())).unwrap();
    let is_yellow = |x: usize, y: usize| picture.data()[y * 100 + x].b < 140;
    assert!(is_yellow(15, 74) && is_yellow(35, 74), "both words of the second line");
    assert!(!is_yellow(25, 74), "not the gap between them");
    assert!(!is_yellow(15, 17), "not the first line");
}

#[test]
fn words_have_their_places() {
    let page = line(72, 700, "Pumps move water.") + &line(72, 500, "Valves close.");
    let pdf = Sample::new().page(&page).page(&line(72, 700, "")).bytes();
    let lines = words(pdf.clone(), 1).unwrap();
    let texts: Vec<Vec<&str>> =
        lines.iter().map(|line| line.iter().map(|word| word.0.as_str()).collect()).collect();
    assert_eq!(texts, [vec!["Pumps", "move", "water."], vec!["Valves", "close."]]);
    let [left, top, right, bottom] = lines[0][0].1;
    // 72 of 595 points from the left; the baseline is 142 of 842 points below the top.
    assert!(
        left.abs_diff(1210) <= 2 && top < 1686 && 1686 < bottom && bottom - top < 300,
        "{:?}",
        lines[0][0]
    );
    let next = lines[0][1].1;
    assert!(right < next[0] && next[1] == top && next[0] - right < 100, "{right} {next:?}");
    assert!(lines[1][0].1[1] > bottom);
    assert_eq!(words(pdf.clone(), 2).unwrap().len(), 0);
    assert!(matches!(words(pdf, 3), Err(RenderFailure::NoSuchPage)));
}

#[test]
fn right_to_left_line_is_one_word() {
    let pdf = Sample::new().page("BT /F2 12 Tf 72 700 Td (AB CD) Tj ET").bytes();
    let lines = words(pdf, 1).unwrap();
    assert_eq!((lines.len(), lines[0].len()), (1, 1));
    assert_eq!(lines[0][0].0.split(' ').count(), 2);
}
