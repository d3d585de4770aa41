//! Parsing of setting values.

use docent_text::lexical::{InvalidLexicon, Lexicon};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// A type that settings can have.
pub(super) trait Value: Sized {
    /// Name of the type, for the reference.
    const KIND: &'static str;
    /// Name of a list of this type.
    const LIST_KIND: &'static str = "list";
    /// Whether values are hidden in output.
    const IS_SECRET: bool = false;
    /// Whether white space at the ends of the text belongs to the value, and an empty text is a value.
    const IS_VERBATIM: bool = false;

    /// Describes the accepted values, as the end of a sentence.
    fn accepted() -> String;

    /// Parses text that has no leading or trailing white space, unless it is verbatim.
    ///
    /// # Errors
    /// What is wrong, as the rest of a sentence that begins with the value.
    fn parse(text: &str) -> Result<Self, String>;

    /// Formats the value as it would be written; secrets are hidden.
    fn show(&self) -> String;

    /// The value of an optional setting that is not set.
    fn unset() -> Option<Self> {
        None
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: &'static str = T::KIND;
    const IS_SECRET: bool = T::IS_SECRET;
    const IS_VERBATIM: bool = T::IS_VERBATIM;

    fn accepted() -> String {
        T::accepted()
    }

    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(String::new, T::show)
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

impl<T: Value> Value for Vec<T> {
    const KIND: &'static str = T::LIST_KIND;
    const IS_SECRET: bool = T::IS_SECRET;

    fn accepted() -> String {
        format!("a JSON list of strings, or values separated by commas, each {}", T::accepted())
    }

    fn parse(text: &str) -> Result<Self, String> {
        let items: Vec<String> = if text.starts_with('[') {
            serde_json::from_str(text).map_err(|error| format!("is not a JSON list of strings ({error})"))?
        } else {
            text.split(',').map(str::to_owned).collect()
        };
        let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
        // Like single values, items that may contain a password are not quoted.
        let wrong = |item: &str, why| {
            if item.contains('@') {
                format!("has an item that {why}")
            } else {
                format!("has the item {item:?}, which {why}")
            }
        };
        items.map(|item| T::parse(item).map_err(|why| wrong(item, why))).collect()
    }

    fn show(&self) -> String {
        self.iter().map(T::show).collect::<Vec<_>>().join(",")
    }
}

impl Value for bool {
    const KIND: &'static str = "boolean";

    fn accepted() -> String {
        "true, yes, on, 1, false, no, off, 0".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(true),
            "false" | "no" | "off" | "0" => Ok(false),
            _ => Err("is neither true nor false".to_owned()),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for String {
    const KIND: &'static str = "text";

    fn accepted() -> String {
        "one line of text".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.chars().any(char::is_control) {
            return Err("contains line breaks or other control characters".to_owned());
        }
        Ok(text.to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

/// Text that is put before other texts; it can be empty, end with a space and have line breaks, written as `\n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPrefix(pub String);

/// Maximum length of a prefix in bytes.
const MAX_PREFIX: usize = 1000;

impl Value for TextPrefix {
    const KIND: &'static str = "text";
    const IS_VERBATIM: bool = true;

    fn accepted() -> String {
        format!("one line of at most {MAX_PREFIX} bytes, in which \\n is a line break")
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_PREFIX {
            return Err("is too long".to_owned());
        }
        String::parse(text).map(|text| Self(text.replace("\\n", "\n")))
    }

    fn show(&self) -> String {
        self.0.replace('\n', "\\n")
    }
}

/// A lexicon with its text.
#[derive(Clone, Debug)]
pub struct LexiconText {
    text: String,
    /// What the text says.
    pub lexicon: Lexicon,
}

impl Value for LexiconText {
    const KIND: &'static str = "lexicon";

    fn accepted() -> String {
        "lines such as \"capex, capital expenditure = purchases of equipment; additions\"".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let lexicon = text.parse().map_err(|error: InvalidLexicon| format!("is not a lexicon: {error}"))?;
        Ok(Self { text: text.to_owned(), lexicon })
    }

    fn show(&self) -> String {
        self.text.clone()
    }
}

impl Value for PathBuf {
    const KIND: &'static str = "path";

    fn accepted() -> String {
        "the path of a directory".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        String::parse(text).map(Self::from)
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {$(
        impl Value for $type {
            const KIND: &'static str = "integer";

            fn accepted() -> String {
                "a whole number".to_owned()
            }

            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| format!("is not a whole number from 0 to {}", <$type>::MAX))
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

whole_numbers!(u32 u64 usize);

impl Value for SocketAddr {
    const KIND: &'static str = "address";

    fn accepted() -> String {
        "an IP address and a port, such as 127.0.0.1:8000, [::]:8000 or localhost:8000".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "is not an IP address with a port".to_owned();
        match text.strip_prefix("localhost:") {
            Some(port) => Ok(Self::from((Ipv4Addr::LOCALHOST, port.parse::<u16>().map_err(|_| wrong())?))),
            None => text.parse().map_err(|_| wrong()),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for IpNet {
    const KIND: &'static str = "network";
    const LIST_KIND: &'static str = "list of networks";

    fn accepted() -> String {
        "an IP address or a network such as 10.0.0.0/8".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let address = text.parse::<IpAddr>().map(Self::from);
        address.or_else(|_| text.parse()).map_err(|_| "is neither an IP address nor a network".to_owned())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}
