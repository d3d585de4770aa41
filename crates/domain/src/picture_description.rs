//! What a vision model says of the pictures on a page.

/// Introduces each paragraph of a description, so that a quote of it is not taken for text of the document.
const MARK: &str = "Picture, described by";

/// The description of the pictures on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureDescription {
    /// Name of the model.
    pub model: String,
    /// What it wrote, which is empty if the pictures show nothing; `None` if it failed.
    pub text: Option<String>,
}

impl PictureDescription {
    /// The paragraphs that are added to the page's text, each marked as described.
    pub fn paragraphs(&self) -> String {
        let text = self.text.as_deref().unwrap_or_default().trim();
        let mut paragraphs = String::new();
        let mut is_first_line = true;
        for line in text.lines().map(str::trim) {
            if line.is_empty() {
                is_first_line = true;
                continue;
            }
            if is_first_line {
                paragraphs.push_str(&format!("\n{MARK} {}: ", self.model));
            }
            paragraphs.push_str(line);
            paragraphs.push('\n');
            is_first_line = false;
        }
        paragraphs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_paragraph_is_marked() {
        let description = |text: Option<&str>| PictureDescription {
            model: "eye 1".to_owned(),
            text: text.map(str::to_owned),
        };
        assert_eq!(
            description(Some(" A bar chart.\nNorth: 4\n\n \nA photograph.")).paragraphs(),
            "\nPicture, described by eye 1: A bar chart.\nNorth: 4\n\nPicture, described by eye 1: A photograph.\n"
        );
        assert_eq!((description(Some(" ")).paragraphs(), description(None).paragraphs()), Default::default());
    }
}
