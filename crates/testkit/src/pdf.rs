//! Small uncompressed PDFs.

use std::fmt::Write;

/// A PDF with one page for each text. Lines break at `\n`; only ASCII can be written.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned()];
    let kids: String = (0..pages.len()).map(|n| format!("{} 0 R ", 4 + 2 * n)).collect();
    objects.push(format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len()));
    objects
        .push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned());
    for (n, text) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * n
        ));
        let content = content(text);
        objects.push(format!("<< /Length {} >>\nstream\n{content}endstream", content.len()));
    }
    assemble(&objects)
}

fn content(text: &str) -> String {
    let mut content = String::from("BT /F1 10 Tf 12 TL 50 800 Td\n");
    for line in text.lines() {
        let escaped = line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        let _ = writeln!(content, "({escaped}) Tj T*");
    }
    content + "ET\n"
}

/// A file of these objects, numbered from 1. The first is the catalog.
pub fn assemble(objects: &[String]) -> Vec<u8> {
    let mut file = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", n + 1);
    }
    let xref = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let size = objects.len() + 1;
    let _ = write!(file, "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n");
    file.into_bytes()
}
