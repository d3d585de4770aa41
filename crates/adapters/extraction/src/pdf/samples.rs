//! Generates small PDFs for tests.
#![allow(dead_code, reason = "unit and integration tests each use a part")]

use lopdf::{
    Dictionary, Document, EncryptionState, EncryptionVersion, Object, ObjectId, Permissions, Stream,
    StringFormat, dictionary,
};

/// Maps capital letters to Hebrew letters, `f` to the ligature ffi and `p` to a private-use character.
const TO_UNICODE: &str = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Sample def /CMapType 2 def
1 begincodespacerange <00> <ff> endcodespacerange
1 beginbfrange <41> <5a> <05d0> endbfrange
3 beginbfchar <66> <fb03> <20> <0020> <70> <e001> endbfchar
endcmap end end";

/// Builds a PDF with pages of 595 by 842 points.
///
/// Pages have the fonts `/F1` (Helvetica), `/F2` (500 units wide, characters as in `TO_UNICODE`) and
/// `/F3` (two-byte codes, unknown characters).
pub(crate) struct Sample {
    pub(crate) document: Document,
    pages: Vec<Object>,
    tree: ObjectId,
    fonts: ObjectId,
}

impl Sample {
    /// Creates a document without pages.
    pub(crate) fn new() -> Self {
        let mut document = Document::with_version("1.7");
        let tree = document.new_object_id();
        let helvetica = dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding",
        };
        let to_unicode = document.add_object(Stream::new(Dictionary::new(), TO_UNICODE.into()));
        let mapped = dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Sample", "ToUnicode" => to_unicode,
            "FirstChar" => 32, "LastChar" => 126, "Widths" => vec![Object::from(500); 95],
        };
        let descendant = dictionary! {
            "Type" => "Font", "Subtype" => "CIDFontType2", "BaseFont" => "Unknown",
            "CIDSystemInfo" => dictionary! {
                "Registry" => string("Adobe"), "Ordering" => string("Identity"), "Supplement" => 0,
            },
        };
        let unknown = dictionary! {
            "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "Unknown", "Encoding" => "Identity-H",
            "DescendantFonts" => vec![descendant.into()],
        };
        let fonts = document.add_object(dictionary! { "F1" => helvetica, "F2" => mapped, "F3" => unknown });
        Self { document, pages: Vec::new(), tree, fonts }
    }

    /// Creates a document with one page per text.
    pub(crate) fn of_texts(texts: &[&str]) -> Vec<u8> {
        let pages =
            texts.iter().map(|text| if text.is_empty() { String::new() } else { line(72, 700, text) });
        pages.fold(Self::new(), |sample, content| sample.page(&content)).bytes()
    }

    /// Adds a page.
    pub(crate) fn page(self, content: &str) -> Self {
        self.page_with(content, Dictionary::new())
    }

    /// Adds a page with resources in addition to the fonts.
    pub(crate) fn page_with(mut self, content: &str, resources: Dictionary) -> Self {
        let content = self.document.add_object(Stream::new(Dictionary::new(), content.into()));
        self.add_page(content, resources);
        self
    }

    /// Adds a page whose content stream is deflated.
    pub(crate) fn deflated_page(mut self, content: Vec<u8>) -> Self {
        let content = self.deflated(Dictionary::new(), content);
        self.add_page(content, Dictionary::new());
        self
    }

    /// Adds a deflated stream.
    pub(crate) fn deflated(&mut self, dict: Dictionary, content: Vec<u8>) -> ObjectId {
        let mut stream = Stream::new(dict, content);
        stream.compress().unwrap();
        self.document.add_object(stream)
    }

    /// Adds a form and returns resources that contain it as `/X0`.
    pub(crate) fn form(&mut self, content: Vec<u8>, mut resources: Dictionary) -> Dictionary {
        resources.set("Font", self.fonts);
        let dict = dictionary! {
            "Type" => "XObject", "Subtype" => "Form", "BBox" => numbers([0, 0, 595, 842]), "Resources" => resources,
        };
        let form = self.deflated(dict, content);
        dictionary! { "XObject" => dictionary! { "X0" => form } }
    }

    /// Returns the object ID of a page, counted from 1.
    pub(crate) fn page_id(&self, number: usize) -> Object {
        self.pages[number - 1].clone()
    }

    fn add_page(&mut self, content: ObjectId, mut resources: Dictionary) {
        resources.set("Font", self.fonts);
        let page = self.document.add_object(dictionary! {
            "Type" => "Page", "Parent" => self.tree, "MediaBox" => numbers([0, 0, 595, 842]),
            "Contents" => content, "Resources" => resources,
        });
        self.pages.push(page.into());
    }

    /// Returns the file.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.bytes_with(Dictionary::new())
    }

    /// Returns the file with additional catalog entries.
    pub(crate) fn bytes_with(self, catalog: Dictionary) -> Vec<u8> {
        let mut document = self.finished(catalog);
        let mut bytes = Vec::new();
        document.save_to(&mut bytes).unwrap();
        bytes
    }

    /// Returns the file in encrypted form.
    pub(crate) fn encrypted(self, user_password: &str) -> Vec<u8> {
        let mut document = self.finished(Dictionary::new());
        let id = Object::String(vec![7; 16], StringFormat::Hexadecimal);
        document.trailer.set("ID", vec![id.clone(), id]);
        let version = EncryptionVersion::V2 {
            document: &document,
            owner_password: "owner",
            user_password,
            key_length: 128,
            permissions: Permissions::all(),
        };
        let state = EncryptionState::try_from(version).unwrap();
        document.encrypt(&state).unwrap();
        let mut bytes = Vec::new();
        document.save_to(&mut bytes).unwrap();
        bytes
    }

    fn finished(mut self, mut catalog: Dictionary) -> Document {
        let count = self.pages.len() as i64;
        let tree = dictionary! { "Type" => "Pages", "Kids" => self.pages, "Count" => count };
        self.document.objects.insert(self.tree, tree.into());
        catalog.set("Type", "Catalog");
        catalog.set("Pages", self.tree);
        let catalog = self.document.add_object(catalog);
        self.document.trailer.set("Root", catalog);
        self.document
    }
}

/// Returns operators that show a text without brackets in 12 point Helvetica.
pub(crate) fn line(x: i32, y: i32, text: &str) -> String {
    show("F1", x, y, text)
}

/// Returns operators that show a text in a font.
pub(crate) fn show(font: &str, x: i32, y: i32, text: &str) -> String {
    format!("BT /{font} 12 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
}

pub(crate) fn string(text: &str) -> Object {
    Object::string_literal(text)
}

pub(crate) fn numbers<const N: usize>(numbers: [i64; N]) -> Object {
    Object::Array(numbers.into_iter().map(Object::from).collect())
}
