//! Valid PDFs with hostile streams.

/// The streams of a PDF that a target fills in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<'a> {
    /// The page's content stream.
    pub content: &'a [u8],
    /// The ToUnicode map of the fonts `/F2` and `/F3`.
    pub to_unicode: &'a [u8],
    /// The content of the form `/X0`, which may draw itself and glyphs of all fonts.
    pub form: &'a [u8],
    /// The encoding CMap of the two-byte font `/F3`.
    pub encoding: &'a [u8],
    /// The content of the only glyph of the Type 3 font `/F4`.
    pub glyph: &'a [u8],
}

/// Creates a PDF with one page of 595 by 842 points. Its fonts are `/F1` (Helvetica), `/F2` (one byte per character),
/// `/F3` (two bytes) and `/F4` (Type 3); `/P0` is a property list for marked content.
pub fn with(parts: &Parts<'_>) -> Vec<u8> {
    const RESOURCES: &str = "<< /Font << /F1 5 0 R /F2 6 0 R /F3 7 0 R /F4 8 0 R >> /XObject << /X0 9 0 R >> \
        /Properties << /P0 << /ActualText (replaced) >> >> >>";
    let mut file = File { bytes: b"%PDF-1.7\n".to_vec(), offsets: Vec::new() };
    file.object("<< /Type /Catalog /Pages 2 0 R >>");
    file.object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
    file.object(&format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources {RESOURCES} >>"
    ));
    file.stream("", parts.content);
    file.object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
    file.object("<< /Type /Font /Subtype /Type1 /BaseFont /Sample /FirstChar 0 /LastChar 3 /Widths [500 0 -200 9000] /ToUnicode 10 0 R >>");
    file.object(
        "<< /Type /Font /Subtype /Type0 /BaseFont /Unknown /Encoding 11 0 R /ToUnicode 10 0 R /DescendantFonts \
         [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Unknown /DW 700 /CIDSystemInfo << /Registry (Adobe) \
         /Ordering (Identity) /Supplement 0 >> >>] >>",
    );
    file.object(&format!(
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 65 \
         /LastChar 65 /Widths [800] /Encoding << /Differences [65 /A] >> /CharProcs << /A 12 0 R >> \
         /Resources {RESOURCES} >>"
    ));
    let form = format!("/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources {RESOURCES}");
    file.stream(&form, parts.form);
    file.stream("", parts.to_unicode);
    let cmap = "/Type /CMap /CMapName /Sample /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>";
    file.stream(cmap, parts.encoding);
    file.stream("", parts.glyph);
    file.end()
}

struct File {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

impl File {
    fn begin(&mut self) {
        self.offsets.push(self.bytes.len());
        self.bytes.extend(format!("{} 0 obj\n", self.offsets.len()).into_bytes());
    }

    fn object(&mut self, text: &str) {
        self.begin();
        self.bytes.extend(text.as_bytes());
        self.bytes.extend(b"\nendobj\n");
    }

    fn stream(&mut self, dict: &str, content: &[u8]) {
        self.begin();
        self.bytes.extend(format!("<< {dict} /Length {} >>\nstream\n", content.len()).into_bytes());
        self.bytes.extend(content);
        self.bytes.extend(b"\nendstream\nendobj\n");
    }

    fn end(mut self) -> Vec<u8> {
        let (start, size) = (self.bytes.len(), self.offsets.len() + 1);
        let mut end = format!("xref\n0 {size}\n0000000000 65535 f \n");
        for offset in &self.offsets {
            end.push_str(&format!("{offset:010} 00000 n \n"));
        }
        end.push_str(&format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"));
        self.bytes.extend(end.into_bytes());
        self.bytes
    }
}
