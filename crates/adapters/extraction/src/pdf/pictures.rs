//! Pictures on a page that may show text.

use super::line::Line;
use docent_domain::extraction::PICTURES_MAX;
use docent_domain::recognition::PageBox;
use hayro_interpret::kurbo::Rect;

/// Maximum number of images that are remembered per page.
const MAX_IMAGES: usize = 200;
/// Images that are nearer than this, in points, are parts of one picture.
const GAP: f64 = 2.0;
/// Minimum width and height of a picture in points: lower than a line of a heading, no text can be read.
const MIN_WIDTH: f64 = 72.0;
const MIN_HEIGHT: f64 = 24.0;
/// Minimum share of a page that a picture takes. Logos and icons are smaller.
const MIN_SHARE: f64 = 0.02;
/// From this share of its area on that text covers, a picture is the background of the text or the scan that it was
/// recognised on.
const MAX_COVERED: f64 = 0.05;

/// A picture and the index of the line that follows it.
#[derive(Debug, PartialEq)]
pub(super) struct PlacedPicture {
    pub(super) place: PageBox,
    pub(super) before: usize,
}

/// The places of a page's images in points from the top left corner.
#[derive(Debug, Default)]
pub(super) struct Pictures(Vec<Rect>);

impl Pictures {
    /// Adds an image. One that touches another picture becomes a part of it, as drawing programs cut pictures into strips.
    pub(super) fn add(&mut self, place: Rect) {
        let is_drawn = place.width() > 0.0 && place.height() > 0.0;
        if !is_drawn || self.0.len() >= MAX_IMAGES {
            return;
        }
        let mut whole = place;
        while let Some(at) = self.0.iter().position(|other| touches(whole, *other)) {
            whole = whole.union(self.0.swap_remove(at));
        }
        self.0.push(whole);
    }

    /// The pictures that may show text, the largest first. Text is on none of them.
    pub(super) fn beside(self, lines: &[Line], (width, height): (f64, f64)) -> Vec<PlacedPicture> {
        let min_area = MIN_SHARE * width * height;
        let mut pictures: Vec<Rect> = self.0;
        pictures.retain(|place| {
            place.width() >= MIN_WIDTH
                && place.height() >= MIN_HEIGHT
                && place.area() >= min_area
                && covered(*place, lines) < MAX_COVERED * place.area()
        });
        pictures.sort_by(|a, b| b.area().total_cmp(&a.area()));
        pictures.truncate(PICTURES_MAX);
        let placed =
            |place| PlacedPicture { place: page_box(place, (width, height)), before: before(place, lines) };
        pictures.into_iter().map(placed).collect()
    }
}

/// The index of the line that follows a picture: the one after the last line that is above its centre and not beside it.
fn before(place: Rect, lines: &[Line]) -> usize {
    let is_above = |line: &Line| {
        let bounds = line.boxes.iter().copied().reduce(|all, word| all.union(word));
        bounds.is_some_and(|bounds| {
            bounds.center().y < place.center().y && bounds.x0 < place.x1 && place.x0 < bounds.x1
        })
    };
    lines.iter().rposition(is_above).map_or(0, |last| last + 1)
}

fn touches(a: Rect, b: Rect) -> bool {
    let common = a.inflate(GAP, GAP).intersect(b);
    common.width() > 0.0 && common.height() > 0.0
}

/// The area of the words on a picture.
fn covered(place: Rect, lines: &[Line]) -> f64 {
    let words = lines.iter().flat_map(|line| &line.boxes);
    words
        .map(|word| word.intersect(place))
        .filter(|part| part.width() > 0.0 && part.height() > 0.0)
        .map(|part| part.area())
        .sum()
}

/// The place of a rectangle in units of the page.
pub(super) fn page_box(place: Rect, (width, height): (f64, f64)) -> PageBox {
    let edge = |at: f64, size: f64| {
        let units = f64::from(PageBox::UNITS);
        (at / size.max(1.0) * units).round().clamp(0.0, units) as u16
    };
    PageBox {
        left: edge(place.x0, width),
        top: edge(place.y0, height),
        right: edge(place.x1, width),
        bottom: edge(place.y1, height),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: (f64, f64) = (600.0, 800.0);

    fn found(images: &[Rect], words: &[Rect]) -> Vec<PageBox> {
        let mut pictures = Pictures::default();
        images.iter().for_each(|place| pictures.add(*place));
        let line = Line { text: "a".into(), begins_paragraph: false, boxes: words.to_vec() };
        pictures.beside(&[line], PAGE).into_iter().map(|picture| picture.place).collect()
    }

    #[test]
    fn text_of_a_picture_follows_the_last_line_above_it() {
        let line = |x, y| Line {
            text: "a".into(),
            begins_paragraph: false,
            boxes: vec![Rect::new(x, y, x + 200.0, y + 10.0)],
        };
        let picture = Rect::new(50.0, 200.0, 290.0, 400.0);
        // Two columns: the second one is read after the first.
        let lines = [line(50.0, 100.0), line(50.0, 180.0), line(50.0, 500.0), line(320.0, 100.0)];
        assert_eq!(before(picture, &lines), 2);
        assert_eq!(before(Rect::new(50.0, 20.0, 290.0, 60.0), &lines), 0);
    }

    #[test]
    fn strips_are_one_picture() {
        let strips: Vec<Rect> = (0..10)
            .map(|n| Rect::new(60.0, f64::from(n) * 20.0, 360.0, f64::from(n) * 20.0 + 19.0))
            .collect();
        assert_eq!(found(&strips, &[]), [PageBox { left: 1000, top: 0, right: 6000, bottom: 2488 }]);
        let logo = Rect::new(500.0, 20.0, 560.0, 60.0);
        let line = Rect::new(60.0, 700.0, 560.0, 702.0);
        assert_eq!(found(&[logo, line], &[]), []);
    }

    #[test]
    fn picture_below_text_is_a_background() {
        let picture = Rect::new(0.0, 0.0, 600.0, 800.0);
        let text: Vec<Rect> = (0..20)
            .map(|n| Rect::new(50.0, f64::from(n) * 20.0, 550.0, f64::from(n) * 20.0 + 10.0))
            .collect();
        assert_eq!(found(&[picture], &text), []);
        assert_eq!(found(&[picture], &text[..1]).len(), 1, "a caption on a picture");
    }

    #[test]
    fn number_of_pictures_is_limited() {
        let images: Vec<Rect> = (0..12)
            .map(|n| {
                let (x, y) = (f64::from(n % 3) * 200.0, f64::from(n / 3) * 200.0);
                Rect::new(x, y, x + 100.0 + f64::from(n), y + 120.0)
            })
            .collect();
        let pictures = found(&images, &[]);
        assert_eq!(pictures.len(), PICTURES_MAX);
        assert_eq!(pictures[0].right - pictures[0].left, 1850, "the largest is first");
    }
}
