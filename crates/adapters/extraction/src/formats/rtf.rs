//! Reads the Rich Text Format, in sections by heading.

use super::sections::Sections;
use super::symbols;
use crate::reader::{Pages, Stopped, damaged};
use encoding_rs::Encoding;
use std::collections::HashMap;

/// Maximum depth of groups.
const DEPTH_MAX: usize = 1000;
/// Groups whose content is not text of the document.
const SKIPPED: [&str; 22] = [
    "colortbl",
    "stylesheet",
    "info",
    "pict",
    "header",
    "headerl",
    "headerr",
    "headerf",
    "footer",
    "footerl",
    "footerr",
    "footerf",
    "object",
    "fldinst",
    "annotation",
    "atnid",
    "atnauthor",
    "nonshppict",
    "themedata",
    "listtable",
    "bkmkstart",
    "bkmkend",
];
/// Groups of text within groups that are left out.
const SHOWN: [&str; 3] = ["shptxt", "result", "fldrslt"];
/// Code page that is usual where a document names none.
const DEFAULT_PAGE: u32 = 1252;

/// Passes the sections of a document on.
pub(super) fn read(bytes: &[u8], pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let mut sections = Sections::new(pages);
    read_into(bytes, &mut sections)?;
    sections.finish()
}

/// Adds the content of a document to sections.
pub(super) fn read_into(bytes: &[u8], sections: &mut Sections<'_, '_>) -> Result<(), Stopped> {
    let bytes = bytes.trim_ascii_start();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if !bytes.starts_with(b"{\\rtf") {
        return Err(damaged("it does not begin as RTF does").into());
    }
    let mut reader = Reader {
        sections,
        rest: bytes,
        groups: Vec::new(),
        group: Group::default(),
        page: DEFAULT_PAGE,
        fonts: HashMap::new(),
        font_names: HashMap::new(),
        raw: Vec::new(),
        surrogate: None,
        text: String::new(),
        row: Vec::new(),
        table: Vec::new(),
        notes: Vec::new(),
    };
    reader.run()
}

/// What applies within a group, and ends with it.
#[derive(Clone, Default)]
struct Group {
    is_skipped: bool,
    is_hidden: bool,
    is_font_table: bool,
    /// The text around a footnote, which begins with this group.
    around: Option<String>,
    font: i32,
    /// Number of characters that follow `\u` for programs that do not know it.
    replacements: Option<usize>,
    is_in_table: bool,
    /// Level of a heading.
    level: Option<u8>,
}

struct Reader<'r, 's, 'a, 'b> {
    sections: &'s mut Sections<'a, 'b>,
    rest: &'r [u8],
    groups: Vec<Group>,
    group: Group,
    /// Code page of the document.
    page: u32,
    /// Code pages of fonts.
    fonts: HashMap<i32, u32>,
    font_names: HashMap<i32, String>,
    /// Bytes of text that are not decoded yet.
    raw: Vec<u8>,
    surrogate: Option<u16>,
    text: String,
    row: Vec<String>,
    table: Vec<Vec<String>>,
    notes: Vec<String>,
}

impl Reader<'_, '_, '_, '_> {
    fn run(&mut self) -> Result<(), Stopped> {
        while let [byte, after @ ..] = self.rest {
            self.rest = after;
            match byte {
                b'{' => {
                    self.decode();
                    if self.groups.len() >= DEPTH_MAX {
                        return Err(damaged("its groups are nested too deeply").into());
                    }
                    let mut inner = self.group.clone();
                    inner.around = None;
                    self.groups.push(std::mem::replace(&mut self.group, inner));
                }
                b'}' => {
                    self.end_group();
                    if self.groups.is_empty() {
                        break;
                    }
                }
                b'\\' => self.control()?,
                b'\r' | b'\n' => {}
                byte => self.raw.push(*byte),
            }
        }
        self.end_paragraph()?;
        self.end_table()?;
        for note in std::mem::take(&mut self.notes) {
            self.sections.paragraph(&note);
        }
        Ok(())
    }

    fn end_group(&mut self) {
        self.decode();
        let Some(outer) = self.groups.pop() else { return };
        let inner = std::mem::replace(&mut self.group, outer);
        if let Some(around) = inner.around {
            self.notes.push(std::mem::replace(&mut self.text, around));
        }
    }

    /// Reads a control word or symbol after its backslash.
    fn control(&mut self) -> Result<(), Stopped> {
        let letters = self.rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if letters == 0 {
            return self.symbol();
        }
        let (word, rest) = self.rest.split_at(letters);
        let word = String::from_utf8_lossy(word).into_owned();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length = if digits == 0 { 0 } else { sign + digits };
        let value = std::str::from_utf8(&rest[..length]).ok().and_then(|value| value.parse::<i32>().ok());
        self.rest = rest[length..].strip_prefix(b" ").unwrap_or(&rest[length..]);
        self.word(&word, value)
    }

    fn symbol(&mut self) -> Result<(), Stopped> {
        let [symbol, after @ ..] = self.rest else { return Ok(()) };
        self.rest = after;
        if matches!(symbol, b'~' | b'_' | b'*') {
            self.decode();
        }
        match symbol {
            b'\'' => {
                let digits = self.rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    self.raw.push(byte);
                    self.rest = &self.rest[2..];
                }
            }
            b'\\' | b'{' | b'}' => self.raw.push(*symbol),
            b'~' => self.push(" "),
            b'_' => self.push("-"),
            b'*' => self.group.is_skipped = true,
            b'\r' | b'\n' => self.end_paragraph()?,
            _ => {}
        }
        Ok(())
    }

    fn word(&mut self, word: &str, value: Option<i32>) -> Result<(), Stopped> {
        // Everything but a character ends the bytes of a text in the encoding of the font.
        self.decode();
        if SHOWN.contains(&word) {
            self.group.is_skipped = false;
        } else if SKIPPED.contains(&word) {
            self.group.is_skipped = true;
        }
        match word {
            "fonttbl" => (self.group.is_font_table, self.group.is_skipped) = (true, true),
            "f" => self.group.font = value.unwrap_or(0),
            "fcharset" if self.group.is_font_table => {
                if let Some(page) = page_of_charset(value.unwrap_or(0)) {
                    self.fonts.insert(self.group.font, page);
                }
            }
            "ansicpg" => self.page = value.and_then(|page| u32::try_from(page).ok()).unwrap_or(DEFAULT_PAGE),
            "mac" => self.page = 10_000,
            "uc" => self.group.replacements = Some(usize::try_from(value.unwrap_or(1)).unwrap_or(1)),
            "u" => self.unicode(value.unwrap_or(0)),
            "bin" => {
                let length = usize::try_from(value.unwrap_or(0)).unwrap_or(0);
                self.rest = &self.rest[length.min(self.rest.len())..];
            }
            "v" | "deleted" => self.group.is_hidden = value != Some(0),
            "plain" => self.group.is_hidden = false,
            "footnote" if !self.group.is_skipped => {
                self.group.around = Some(std::mem::take(&mut self.text));
            }
            "pard" => (self.group.is_in_table, self.group.level) = (false, None),
            "intbl" => self.group.is_in_table = true,
            "outlinelevel" => {
                self.group.level =
                    value.and_then(|level| u8::try_from(level).ok()).filter(|level| *level < 9);
            }
            _ if self.group.is_skipped => {}
            "par" | "sect" | "page" => self.end_paragraph()?,
            "cell" | "nestcell" => {
                let cell = std::mem::take(&mut self.text);
                self.row.push(cell.trim().to_owned());
            }
            "row" | "nestrow" => {
                let row = std::mem::take(&mut self.row);
                self.table.push(row);
            }
            word => self.push(sign_of(word)),
        }
        Ok(())
    }

    /// Adds a UTF-16 unit and skips what stands for it in older programs.
    fn unicode(&mut self, value: i32) {
        // Negative values stand for units above 32767.
        let unit = u16::try_from(value.rem_euclid(0x1_0000)).unwrap_or(0xfffd);
        let units = self.surrogate.take().into_iter().chain([unit]);
        for decoded in char::decode_utf16(units.collect::<Vec<_>>()) {
            match decoded {
                Ok(c) => {
                    let font = self.font_names.get(&self.group.font).map_or("", String::as_str);
                    let text = symbols::decode_text(font, c.encode_utf8(&mut [0; 4]));
                    self.push(&text);
                }
                Err(error) => self.surrogate = Some(error.unpaired_surrogate()),
            }
        }
        for _ in 0..self.group.replacements.unwrap_or(1) {
            match self.rest {
                [b'\\', b'\'', _, _, after @ ..] => self.rest = after,
                [b'\\' | b'{' | b'}', ..] | [] => break,
                [_, after @ ..] => self.rest = after,
            }
        }
    }

    /// Decodes the bytes of a text.
    fn decode(&mut self) {
        if self.raw.is_empty() {
            return;
        }
        let raw = std::mem::take(&mut self.raw);
        if self.group.is_font_table {
            // Properties of a font and other names are in groups beside its name.
            let name = String::from_utf8_lossy(&raw).trim_end_matches(';').trim().to_owned();
            if name.contains(|c: char| !c.is_ascii_hexdigit()) {
                self.font_names.entry(self.group.font).or_insert(name);
            }
            return;
        }
        if let Some(font) = self.font_names.get(&self.group.font) {
            let signs: Option<String> =
                raw.iter().map(|byte| symbols::decode(font, u32::from(*byte))).collect();
            if let Some(signs) = signs {
                self.push(&signs);
                return;
            }
        }
        let page = self.fonts.get(&self.group.font).copied().unwrap_or(self.page);
        let label = match page {
            932 => "shift_jis".to_owned(),
            936 => "gbk".to_owned(),
            949 => "euc-kr".to_owned(),
            950 => "big5".to_owned(),
            866 => "ibm866".to_owned(),
            10_000 => "macintosh".to_owned(),
            65_001 => "utf-8".to_owned(),
            page => format!("windows-{page}"),
        };
        let encoding = Encoding::for_label(label.as_bytes()).unwrap_or(encoding_rs::WINDOWS_1252);
        let text = encoding.decode_without_bom_handling(&raw).0;
        self.push(&text);
    }

    fn push(&mut self, text: &str) {
        if !self.group.is_skipped && !self.group.is_hidden {
            self.text.push_str(text);
        }
    }

    fn end_paragraph(&mut self) -> Result<(), Stopped> {
        self.decode();
        let is_in_note =
            self.group.around.is_some() || self.groups.iter().any(|group| group.around.is_some());
        if self.group.is_in_table || is_in_note {
            self.push("\n");
            return Ok(());
        }
        self.end_table()?;
        let text = std::mem::take(&mut self.text);
        match self.group.level {
            Some(level) => self.sections.heading(level + 1, &text),
            None => {
                self.sections.paragraph(&text);
                Ok(())
            }
        }
    }

    fn end_table(&mut self) -> Result<(), Stopped> {
        let mut table = std::mem::take(&mut self.table);
        let open = std::mem::take(&mut self.row);
        if !open.is_empty() {
            table.push(open);
        }
        if table.is_empty() { Ok(()) } else { self.sections.table(&table) }
    }
}

/// The text that a control word stands for.
fn sign_of(word: &str) -> &'static str {
    match word {
        "line" => "\n",
        "tab" => " ",
        "emdash" => "—",
        "endash" => "–",
        "bullet" => "•",
        "lquote" => "‘",
        "rquote" => "’",
        "ldblquote" => "“",
        "rdblquote" => "”",
        "emspace" | "enspace" | "qmspace" => " ",
        _ => "",
    }
}

/// The code page of a character set of Windows.
const fn page_of_charset(charset: i32) -> Option<u32> {
    Some(match charset {
        0 => 1252,
        77 => 10_000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::tests::{LIMITS, collect};
    use docent_domain::document::FailureCode;

    fn pages(rtf: &str) -> Vec<(String, String)> {
        collect(LIMITS, |pages| read(rtf.as_bytes(), pages)).unwrap()
    }

    #[test]
    fn text_is_read_without_codes() {
        let rtf = "{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fswiss Helvetica;}{\\f1\\fcharset204 Arial;}}\
            {\\*\\generator X;}{\\info{\\title T}}{\\stylesheet{\\s1 heading 1;}}\
            \\pard\\outlinelevel0 Setup\\par\\pard Gr\\'f6\\'dfe \\u8364?5, {\\f1 \\'cd\\'e0} {\\b bold}{\\v hidden}.\\line Next\\par\r\n\
            {\\listtext\\pard 1.\\tab}First {\\field{\\*\\fldinst HYPERLINK}{\\fldrslt link}}{\\footnote\\pard A note.}\\par\
            {\\header Page}{\\pict 00ff}\\{end\\}\\par}";
        let expected = "Setup\n\nGröße €5, На bold.\nNext\n\n1. First link\n\n{end}\n\nA note.";
        assert_eq!(pages(rtf), [("Setup".to_owned(), expected.to_owned())]);
    }

    #[test]
    fn tables_are_read() {
        let rtf = "{\\rtf1 Before\\par\\trowd\\intbl Key\\cell Value\\cell\\row\\trowd\\intbl a\\par b\\cell 1\\cell\\row\\pard After\\par}";
        assert_eq!(pages(rtf)[0].1, "Before\n\n| Key | Value |\n|---|---|\n| a b | 1 |\n\nAfter");
    }

    #[test]
    fn signs_and_special_spaces_are_read_in_their_place() {
        let rtf = "{\\rtf1{\\fonttbl{\\f0 Arial;}{\\f3\\fcharset2 Symbol;}}e\\_mail 2\\~kg Donau\\-dampf {\\f3 a\\u-3998?}-blocker\\par}";
        assert_eq!(pages(rtf)[0].1, "e-mail 2 kg Donaudampf αβ-blocker");
    }

    #[test]
    fn broken_documents_are_read_or_fail() {
        let fails = |rtf: &str| collect(LIMITS, |pages| read(rtf.as_bytes(), pages)).err();
        assert_eq!(fails("not rtf"), Some(FailureCode::Unreadable));
        assert_eq!(fails(&format!("{{\\rtf1{}", "{".repeat(5000))), Some(FailureCode::Unreadable));
        assert_eq!(pages("{\\rtf1 open")[0].1, "open");
        for end in ["\\", "\\'", "\\u", "\\u-", "\\bin99", "}}}"] {
            assert_eq!(pages(&format!("{{\\rtf1 a{end}"))[0].1, "a", "{end}");
        }
        assert_eq!(pages("{\\rtf1 a\\u-10179?\\u-8704?b}")[0].1, "a😀b");
    }
}
