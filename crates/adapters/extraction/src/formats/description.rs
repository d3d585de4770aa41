//! Descriptions of pictures, which are also called alternative texts.

use image::ImageFormat;
use std::path::Path;

/// Extensions of files with pictures that are not decoded.
const OTHER_PICTURES: [&str; 6] = ["svg", "emf", "wmf", "heic", "jp2", "jxl"];

/// The description of a picture; `None` for the name or the address of its file, which programs write
/// instead of a missing description.
pub(super) fn shown(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty() && !is_file_name(text)).then_some(text)
}

fn is_file_name(text: &str) -> bool {
    // Outlook continues names: `image001.png@01DC5E2A.7F1B2C30`.
    let name = text.split('@').next().unwrap_or_default();
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let is_picture = extension.is_some_and(|extension| {
        let extension = extension.to_ascii_lowercase();
        ImageFormat::from_extension(&extension).is_some() || OTHER_PICTURES.contains(&extension.as_str())
    });
    let is_word = !text.contains(char::is_whitespace);
    is_picture || is_word && (text.contains("://") || text.contains('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_no_descriptions() {
        for name in [
            "",
            " ",
            "pump.PNG",
            "Scan 12.tiff",
            "C:\\Users\\a\\AppData\\tmp7",
            "https://a.example/b?c=1",
            "image001.png@01DC5E2A.7F1B2C30",
            "logo.svg",
        ] {
            assert_eq!(shown(name), None, "{name}");
        }
        for text in ["Pump 5.2", " A pump. ", "Inlet/outlet", "Diagram of a valve (no. 3)"] {
            assert_eq!(shown(text), Some(text.trim()), "{text}");
        }
    }
}
