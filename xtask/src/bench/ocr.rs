//! `cargo xtask bench ocr`: measures text recognition on scans that it draws and degrades itself.

use super::extract::children_cpu;
use anyhow::{Context, Result};
use docent_domain::file_type::FileType;
use docent_domain::recognition::Languages;
use docent_extraction::{ExtractionLimits, TesseractRecognizer, WorkerRenderer};
use docent_ports::page_renderer::{PageImageRequest, PageRenderer};
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use nix::sys::resource::{UsageWho, getrusage};
use std::ffi::OsString;
use std::io::Cursor;
use std::num::{NonZeroU16, NonZeroU32};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Resolution of the scans as the service renders them.
const DPI: NonZeroU16 = NonZeroU16::new(300).unwrap();
/// Lines of a page with one column.
const LINES: usize = 44;
/// Characters of a line of one column, and of each of two.
const WIDE: usize = 84;
const NARROW: usize = 38;

/// The text of all pages: about a fictitious company, with names and numbers.
const TEXT: &str = "\
The district of Aldersund has nine pumping stations, four of which were built before 1970. Each station lifts \
water from the lower basin to a tower on the hill, from where it flows to 12,400 households without further \
pumps. Station 3 was rebuilt in 2014 after a fire in the switch room; it has two Model K3 pumps with 75 kW \
each, of which one is enough on most days. The other starts as soon as the level in the tower falls below \
2.8 metres. Before a pump is opened, close the valves V1 and V2, switch off the motor at cabinet B-17 and wait \
for at least ten minutes, because parts of the casing reach 60 degrees. Oil is changed every 800 hours of \
operation or once a year, whichever comes first. Use only mineral oil of class ISO VG 46; about 3.5 litres are \
needed. Filters are washed in the first week of each month and replaced when they stay grey. In the year 2023 \
the stations moved 4,871,000 cubic metres of water and used 1,962 MWh of electricity, seven per cent less than \
in the year before. Marit Olsen is responsible for accidents and near misses; her extension is 5511. Reports \
are due within two working days, even if no person was hurt. Visitors sign the book at the gate, wear a helmet \
and stay with their guide. Keys are returned to the porter before 18:00. The council decided on 4 March to \
replace the controls of stations 5 and 8 at a cost of 640,000 euros, to be paid in three parts. ";

/// What is done to a scan.
#[derive(Clone, Copy, Debug)]
enum Degradation {
    Clean,
    TwoColumns,
    LowResolution,
    Skew,
    Noise,
    Turned,
    All,
}

impl Degradation {
    const EACH: [Self; 7] = [
        Self::Clean,
        Self::TwoColumns,
        Self::LowResolution,
        Self::Skew,
        Self::Noise,
        Self::Turned,
        Self::All,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Clean => "300 dpi",
            Self::TwoColumns => "two columns",
            Self::LowResolution => "150 dpi",
            Self::Skew => "skewed by 2 degrees",
            Self::Noise => "noise and grey paper",
            Self::Turned => "turned by 90 degrees",
            Self::All => "150 dpi, skewed, noise",
        }
    }

    fn apply(self, scan: Image, chance: &mut Chance) -> Image {
        match self {
            Self::Clean | Self::TwoColumns => scan,
            Self::LowResolution => scan.halved().doubled(),
            Self::Skew => scan.rotated(2.0),
            Self::Noise => scan.noisy(chance),
            Self::Turned => scan.turned(),
            Self::All => scan.halved().noisy(chance).doubled().rotated(2.0),
        }
    }
}

/// Draws pages, degrades them, and prints errors, time and memory of their recognition.
pub(crate) fn run(pages: u32) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let program = std::env::current_exe().context("path of this program")?;
    let args: Vec<OsString> = vec!["extract-worker".into()];
    let limits = ExtractionLimits { cpu: Duration::from_secs(60), ..ExtractionLimits::default() };
    let renderer = WorkerRenderer::new(program.clone(), args.clone(), limits, limits);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let recognizer = TesseractRecognizer::find(folders, program, args, limits)?;
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let mut scans = Vec::new();
    for kind in Degradation::EACH {
        for page in 0..pages {
            let columns = if matches!(kind, Degradation::TwoColumns) { 2 } else { 1 };
            let (text, pdf) = draw(page, columns);
            let stream = futures::stream::once(async { Ok(pdf.into()) });
            let request = PageImageRequest::scan(FileType::Pdf, NonZeroU32::MIN, DPI);
            let png = runtime.block_on(renderer.render(Box::pin(stream), &request))?;
            let scan = kind.apply(Image::decode(&png)?, &mut chance);
            scans.push((kind, text, scan.encode()?));
        }
    }
    let rendering = peak_of_children()?;
    println!("{}, {pages} pages of each kind, {DPI} dpi", recognizer.name());
    println!(
        "{:<24} {:>15} {:>10} {:>12} {:>12}",
        "scan", "word errors", "confidence", "CPU s/page", "wall s/page"
    );
    for kind in Degradation::EACH {
        let (mut errors, mut words, mut confidence) = (0, 0, 0);
        let (began, cpu) = (Instant::now(), children_cpu()?);
        for (_, text, png) in scans.iter().filter(|(of, ..)| *of as u8 == kind as u8) {
            let languages = Languages::default();
            let scan = PageScan { png, dpi: DPI.get(), is_picture: false, languages: &languages };
            let page = match runtime.block_on(recognizer.recognize(scan)) {
                Ok(page) => page,
                Err(RecognitionError::Page(_)) => Default::default(),
                Err(RecognitionError::Fault(fault)) => return Err(fault.into()),
            };
            let (expected, found) = (words_of(text), page.text());
            errors += edits(&expected, &words_of(&found));
            words += expected.len();
            confidence += u32::from(page.confidence());
        }
        let (wall, cpu) = (began.elapsed().as_secs_f64(), (children_cpu()? - cpu).as_secs_f64());
        let (name, rate, n) = (kind.name(), 100.0 * errors as f64 / words as f64, f64::from(pages));
        let confidence = confidence / pages;
        println!("{name:<24} {rate:>13.2} % {confidence:>8} % {:>12.2} {:>12.2}", cpu / n, wall / n);
    }
    println!(
        "peak memory of a process: rendering {} MiB, recognition {} MiB",
        rendering >> 10,
        peak_of_children()? >> 10
    );
    Ok(ExitCode::SUCCESS)
}

/// The peak memory of the largest child process so far, in KiB.
fn peak_of_children() -> Result<i64> {
    Ok(getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss())
}

/// The text of a page, and a PDF that shows it.
fn draw(page: u32, columns: usize) -> (String, Vec<u8>) {
    let words: Vec<&str> = TEXT.split_whitespace().collect();
    // Each page begins elsewhere.
    let mut words = words.iter().cycle().skip(page as usize * 61);
    let width = if columns == 1 { WIDE } else { NARROW };
    let (mut text, mut content) = (String::new(), String::new());
    for column in 0..columns {
        for n in 0..LINES {
            let mut line = String::new();
            while let Some(word) = words.clone().next()
                && line.len() + word.len() < width
            {
                line.push_str(word);
                line.push(' ');
                words.next();
            }
            let (x, y) = (60 + 245 * column, 770 - 16 * n);
            content.push_str(&format!("BT /F1 11 Tf 1 0 0 1 {x} {y} Tm ({}) Tj ET\n", line.trim_end()));
            text.push_str(&line);
        }
    }
    (text, pdf(&content))
}

/// A PDF with one page of this content, 595 by 842 points.
fn pdf(content: &str) -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len() + 1),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let (mut file, mut offsets) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (object, n) in objects.iter().zip(1..) {
        offsets.push(file.len());
        file.push_str(&format!("{n} 0 obj\n{object}\nendobj\n"));
    }
    let table = file.len();
    file.push_str("xref\n0 6\n0000000000 65535 f \n");
    for offset in offsets {
        file.push_str(&format!("{offset:010} 00000 n \n"));
    }
    file.push_str(&format!("trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"));
    file.into_bytes()
}

/// Words without the punctuation around them.
fn words_of(text: &str) -> Vec<&str> {
    let words = text.split(char::is_whitespace).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).collect()
}

/// The number of words to insert, delete or replace to turn one text into the other.
fn edits(expected: &[&str], found: &[&str]) -> usize {
    let mut row: Vec<usize> = (0..=found.len()).collect();
    for (n, word) in expected.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = n + 1;
        for (m, other) in found.iter().enumerate() {
            let replaced = diagonal + usize::from(word != other);
            diagonal = row[m + 1];
            row[m + 1] = replaced.min(row[m] + 1).min(diagonal + 1);
        }
    }
    row[found.len()]
}

/// Random numbers by xorshift, the same in each run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// About normally distributed, with a standard deviation of about 1.
    fn normal(&mut self) -> f64 {
        let sum: f64 = (0..12).map(|_| (self.next() >> 11) as f64 / (1_u64 << 53) as f64).sum();
        sum - 6.0
    }
}

/// An image in shades of grey.
struct Image {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Image {
    fn decode(png: &[u8]) -> Result<Self> {
        let mut reader = png::Decoder::new(Cursor::new(png)).read_info()?;
        let (width, height) = (reader.info().width as usize, reader.info().height as usize);
        let mut pixels = vec![0; width * height];
        reader.next_frame(&mut pixels)?;
        Ok(Self { width, height, pixels })
    }

    fn encode(&self) -> Result<Vec<u8>> {
        let mut png = Vec::new();
        let mut encoder =
            png::Encoder::new(&mut png, u32::try_from(self.width)?, u32::try_from(self.height)?);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_compression(png::Compression::Fast);
        encoder.write_header()?.write_image_data(&self.pixels)?;
        Ok(png)
    }

    /// The image of this size whose pixels are computed.
    fn of(width: usize, height: usize, mut pixel: impl FnMut(usize, usize) -> u8) -> Self {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Self { width, height, pixels: places.map(|(x, y)| pixel(x, y)).collect() }
    }

    /// White outside the image.
    fn at(&self, x: usize, y: usize) -> u8 {
        if x < self.width && y < self.height { self.pixels[y * self.width + x] } else { 255 }
    }

    /// The brightness between pixels.
    fn between(&self, x: f64, y: f64) -> u8 {
        if x < 0.0 || y < 0.0 {
            return 255;
        }
        let (left, top) = (x as usize, y as usize);
        let (right, low) = (x.fract(), y.fract());
        let row =
            |y: usize| f64::from(self.at(left, y)) * (1.0 - right) + f64::from(self.at(left + 1, y)) * right;
        (row(top) * (1.0 - low) + row(top + 1) * low).round() as u8
    }

    /// At half the resolution.
    fn halved(&self) -> Self {
        let mean = |x: usize, y: usize| {
            let sum: u32 = [(0, 0), (1, 0), (0, 1), (1, 1)]
                .iter()
                .map(|(dx, dy)| u32::from(self.at(2 * x + dx, 2 * y + dy)))
                .sum();
            (sum / 4) as u8
        };
        Self::of(self.width / 2, self.height / 2, mean)
    }

    /// At twice the resolution, as a page with such an image is rendered.
    fn doubled(&self) -> Self {
        let pixel = |x: usize, y: usize| self.between(x as f64 / 2.0, y as f64 / 2.0);
        Self::of(self.width * 2, self.height * 2, pixel)
    }

    fn rotated(&self, degrees: f64) -> Self {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (middle_x, middle_y) = (self.width as f64 / 2.0, self.height as f64 / 2.0);
        Self::of(self.width, self.height, |x, y| {
            let (x, y) = (x as f64 - middle_x, y as f64 - middle_y);
            self.between(middle_x + x * cos + y * sin, middle_y - x * sin + y * cos)
        })
    }

    /// Turned clockwise by a quarter.
    fn turned(&self) -> Self {
        Self::of(self.height, self.width, |x, y| self.at(y, self.height - 1 - x))
    }

    /// With grey paper, uneven brightness, and specks.
    fn noisy(&self, chance: &mut Chance) -> Self {
        Self::of(self.width, self.height, |x, y| {
            let speck = chance.next() % 400;
            let plain = match speck {
                0 => 0.0,
                1 => 255.0,
                _ => f64::from(self.at(x, y)) * 0.7 + 40.0,
            };
            let shadow = 30.0 * x as f64 / self.width as f64;
            (plain - shadow + 22.0 * chance.normal()).clamp(0.0, 255.0) as u8
        })
    }
}
