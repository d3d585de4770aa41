//! Embedding models: their names, and the prefixes that they expect before texts.
//!
//! Many models were trained with a word or an instruction before each query, and some with another one before
//! each passage; without them they find less. Vectors of passages with different prefixes are not comparable,
//! so the prefixes are part of the identity of the model in records.

use std::fmt;

/// What is put before the texts that a model embeds. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes {
    /// Before queries.
    pub query: String,
    /// Before passages of documents.
    pub document: String,
}

/// An embedding model with its prefixes. `Display` prints the identity that records have: the name, followed
/// by the prefixes if there are any, as in
/// `nomic-embed-text?query=search_query:%20&document=search_document:%20`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// The name that the back end knows.
    pub name: String,
    /// Its prefixes.
    pub prefixes: Prefixes,
}

const QUERY_FIELD: &str = "?query=";
const DOCUMENT_FIELD: &str = "&document=";

/// The task that instruction models get with a query.
macro_rules! instruct {
    ($end:literal) => {
        concat!(
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\n",
            $end
        )
    };
}

const SENTENCE: &str = "Represent this sentence for searching relevant passages: ";
const CHINESE_SENTENCE: &str = "为这个句子生成表示以用于检索相关文章：";

/// Words of the names of families of models, with the prefixes for queries and for passages that their model
/// cards name. The first family whose words are all in a name applies.
const FAMILIES: [(&[&str], &str, &str); 20] = [
    (&["e5", "instruct"], instruct!("Query: "), ""),
    (&["e5"], "query: ", "passage: "),
    (&["qwen3", "embedding"], instruct!("Query:"), ""),
    (&["gte", "qwen2"], instruct!("Query: "), ""),
    (&["gte", "instruct"], instruct!("Query: "), ""),
    (&["nomic", "embed", "text"], "search_query: ", "search_document: "),
    (&["modernbert", "embed"], "search_query: ", "search_document: "),
    (&["bge", "zh", "small"], CHINESE_SENTENCE, ""),
    (&["bge", "zh", "base"], CHINESE_SENTENCE, ""),
    (&["bge", "zh", "large"], CHINESE_SENTENCE, ""),
    // Neither `bge-m3` nor the models that are based on decoders.
    (&["bge", "small"], SENTENCE, ""),
    (&["bge", "base"], SENTENCE, ""),
    (&["bge", "large"], SENTENCE, ""),
    (&["mxbai", "embed", "de"], "query: ", "passage: "),
    (&["mxbai", "embed", "large"], SENTENCE, ""),
    (&["arctic", "embed2"], "query: ", ""),
    (&["arctic", "embed", "v2"], "query: ", ""),
    (&["arctic", "embed"], SENTENCE, ""),
    (&["embeddinggemma"], "task: search result | query: ", "title: none | text: "),
    (&["embedding", "gemma"], "task: search result | query: ", "title: none | text: "),
];

impl Prefixes {
    /// The prefixes of the family of a model; empty for models without prefixes and for unknown ones. `name`
    /// can have an organisation, a folder, a tag and a quantisation, as in `intfloat/e5-base-v2` or
    /// `nomic-embed-text:v1.5-fp16`.
    pub fn of_family(name: &str) -> Self {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
        let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
        let family = FAMILIES.iter().find(|(family, ..)| family.iter().all(|word| words.contains(word)));
        family.map_or_else(Self::default, |(_, query, document)| Self {
            query: (*query).to_owned(),
            document: (*document).to_owned(),
        })
    }

    fn is_empty(&self) -> bool {
        self.query.is_empty() && self.document.is_empty()
    }
}

impl EmbeddingModel {
    /// A model with these prefixes; `None` stands for the one of its family. `name` may be an identity that
    /// has its own prefixes, which are kept then.
    pub fn new(name: &str, query: Option<&str>, document: Option<&str>) -> Self {
        let model = Self::parse(name);
        if !model.prefixes.is_empty() {
            return model;
        }
        let family = Prefixes::of_family(name);
        let query = query.map_or(family.query, str::to_owned);
        let document = document.map_or(family.document, str::to_owned);
        Self { prefixes: Prefixes { query, document }, ..model }
    }

    /// Reads an identity. One that records have from before there were prefixes is a name, and has none.
    pub fn parse(identity: &str) -> Self {
        let parts = identity.split_once(QUERY_FIELD).and_then(|(name, prefixes)| {
            let (query, document) = prefixes.split_once(DOCUMENT_FIELD)?;
            Some((name, Prefixes { query: decoded(query)?, document: decoded(document)? }))
        });
        let (name, prefixes) = parts.unwrap_or((identity, Prefixes::default()));
        Self { name: name.to_owned(), prefixes }
    }

    /// Whether it differs from another model in nothing but its prefixes.
    pub fn differs_in_prefixes(&self, other: &Self) -> bool {
        self.name == other.name && self.prefixes != other.prefixes
    }
}

impl fmt::Display for EmbeddingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.prefixes.is_empty() {
            return Ok(());
        }
        let Prefixes { query, document } = &self.prefixes;
        write!(f, "{QUERY_FIELD}{}{DOCUMENT_FIELD}{}", encoded(query), encoded(document))
    }
}

/// Escapes what would end a field, and characters that are not visible. `+` joins names of models.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' | '&' | '+' | '\0'..=' ' => encoded.push_str(&format!("%{:02X}", u32::from(c))),
            _ => encoded.push(c),
        }
    }
    encoded
}

fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        decoded.push(char::from(u8::from_str_radix(code, 16).ok().filter(u8::is_ascii)?));
        decoded.push_str(rest);
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str, document: &str) -> Prefixes {
        Prefixes { query: query.to_owned(), document: document.to_owned() }
    }

    #[test]
    fn prefixes_are_those_of_the_family() {
        let e5 = of("query: ", "passage: ");
        let nomic = of("search_query: ", "search_document: ");
        let instruct = of(instruct!("Query: "), "");
        let qwen3 = of(instruct!("Query:"), "");
        let sentence = of(SENTENCE, "");
        let gemma = of("task: search result | query: ", "title: none | text: ");
        let cases = [
            (
                &e5,
                &["intfloat/e5-small-v2", "multilingual-e5-base", "jeffh/intfloat-multilingual-e5-large:f16"]
                    [..],
            ),
            (&e5, &["text-embedding-multilingual-e5-small", "/models/multilingual_e5_small.Q8_0.gguf", "E5"]),
            (&instruct, &["intfloat/multilingual-e5-large-instruct", "e5-mistral-7b-instruct"]),
            (&instruct, &["Alibaba-NLP/gte-Qwen2-1.5B-instruct", "gte-Qwen1.5-7B-instruct", "gte-qwen2-7b"]),
            (
                &qwen3,
                &[
                    "Qwen/Qwen3-Embedding-0.6B",
                    "qwen3-embedding:8b-q4_K_M",
                    "hf.co/Qwen/Qwen3-Embedding-4B-GGUF",
                ],
            ),
            (&nomic, &["nomic-embed-text", "nomic-embed-text:v1.5", "text-embedding-nomic-embed-text-v1.5"]),
            (&nomic, &["hf.co/nomic-ai/nomic-embed-text-v2-moe-GGUF:Q8_0", "nomic-ai/modernbert-embed-base"]),
            (
                &sentence,
                &[
                    "BAAI/bge-small-en-v1.5",
                    "bge-large:335m",
                    "mxbai-embed-large",
                    "mxbai-embed-large-v1-f16",
                ],
            ),
            (&sentence, &["snowflake-arctic-embed:335m", "Snowflake/snowflake-arctic-embed-m-v1.5"]),
            (&of(CHINESE_SENTENCE, ""), &["BAAI/bge-base-zh-v1.5"]),
            (&of("query: ", ""), &["snowflake-arctic-embed2", "Snowflake/snowflake-arctic-embed-l-v2.0"]),
            (&gemma, &["embeddinggemma:300m", "google/embeddinggemma-300m", "embedding-gemma-300m-qat"]),
            (
                &Prefixes::default(),
                &["bge-m3", "BAAI/bge-m3:567m", "bge-multilingual-gemma2", "thenlper/gte-large"],
            ),
            (
                &Prefixes::default(),
                &["gte-base-en-v1.5", "all-minilm", "text-embedding-3-small", "mxbai-rerank-base"],
            ),
            (&Prefixes::default(), &["nomic-embed-code", "e5small", "", "/"]),
        ];
        for (expected, names) in cases {
            for name in names {
                assert_eq!(&Prefixes::of_family(name), expected, "{name}");
            }
        }
    }

    #[test]
    fn settings_replace_or_switch_off_the_prefixes_of_the_family() {
        let prefixes = |query, document| EmbeddingModel::new("nomic-embed-text", query, document).prefixes;
        assert_eq!(prefixes(None, None), of("search_query: ", "search_document: "));
        assert_eq!(prefixes(Some(""), None), of("", "search_document: "));
        assert_eq!(prefixes(Some(""), Some("")), Prefixes::default());
        assert_eq!(prefixes(Some("q: "), Some("d: ")), of("q: ", "d: "));
        let identity = "nomic-embed-text?query=a&document=b";
        assert_eq!(EmbeddingModel::new(identity, Some("q: "), None).to_string(), identity);
    }

    #[test]
    fn identity_has_name_and_prefixes() {
        let model = EmbeddingModel::new("nomic-embed-text:v1.5", None, None);
        let identity = "nomic-embed-text:v1.5?query=search_query:%20&document=search_document:%20";
        assert_eq!((model.to_string().as_str(), EmbeddingModel::parse(identity)), (identity, model.clone()));
        for (query, document) in [("a\nb: ", ""), ("", "100 % & more + ?query=ü"), ("&document=", "%41")] {
            let prefixes = of(query, document);
            let model = EmbeddingModel { name: "m".to_owned(), prefixes };
            assert_eq!(EmbeddingModel::parse(&model.to_string()), model, "{model}");
            assert!(!model.to_string().contains(['+', ' ', '\n']), "{model}");
        }
        let plain = EmbeddingModel::parse("nomic-embed-text");
        assert_eq!(plain.to_string(), "nomic-embed-text");
        assert!(
            plain.prefixes.is_empty()
                && !plain.differs_in_prefixes(&plain)
                && !plain.differs_in_prefixes(&model)
        );
        assert!(plain.differs_in_prefixes(&EmbeddingModel::new("nomic-embed-text", None, None)));
        for odd in ["m?query=x", "m?query=%zz&document=", "m?query=%f&document=%", "m?query=%C3%A4&document="]
        {
            assert_eq!(EmbeddingModel::parse(odd).name, odd);
        }
    }
}
