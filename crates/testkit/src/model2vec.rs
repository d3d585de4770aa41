//! Tiny embedding models in the format of Model2Vec.

use serde_json::{Map, Value, json};
use std::path::Path;

/// The token of unknown words, which is the first of every model.
pub const UNKNOWN: &str = "[UNK]";

/// A tensor of a model file.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Name.
    pub name: &'static str,
    /// Type of its numbers, such as `F32`.
    pub dtype: &'static str,
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// The numbers, little-endian.
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// A matrix of single-precision numbers.
    pub fn matrix(name: &'static str, rows: &[Vec<f32>]) -> Self {
        let shape = vec![rows.len(), rows.first().map_or(0, Vec::len)];
        let bytes = rows.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        Self { name, dtype: "F32", shape, bytes }
    }
}

/// The files of a model; each can be changed before it is written.
#[derive(Clone, Debug)]
pub struct TinyModel {
    /// `config.json`.
    pub config: Value,
    /// `tokenizer.json`.
    pub tokenizer: Value,
    /// The tensors of `model.safetensors`.
    pub tensors: Vec<Tensor>,
}

impl TinyModel {
    /// A model of lower-case words with their vectors. The token [`UNKNOWN`] comes before them, with the vector of ones.
    pub fn new(words: &[(&str, &[f32])]) -> Self {
        let dimensions = words.first().map_or(0, |(_, vector)| vector.len());
        let mut rows = vec![vec![1.0; dimensions]];
        rows.extend(words.iter().map(|(_, vector)| vector.to_vec()));
        let tokens = std::iter::once(UNKNOWN).chain(words.iter().map(|(word, _)| *word));
        let vocabulary: Map<String, Value> =
            tokens.enumerate().map(|(id, token)| (token.to_owned(), json!(id))).collect();
        let tokenizer = json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": [],
            "normalizer": { "type": "Lowercase" },
            "pre_tokenizer": { "type": "Whitespace" },
            "post_processor": null,
            "decoder": null,
            "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": UNKNOWN },
        });
        let config = json!({ "model_type": "model2vec", "normalize": true });
        Self { config, tokenizer, tensors: vec![Tensor::matrix("embeddings", &rows)] }
    }

    /// Writes the three files of the model.
    pub fn write(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("config.json"), self.config.to_string()).unwrap();
        std::fs::write(folder.join("tokenizer.json"), self.tokenizer.to_string()).unwrap();
        std::fs::write(folder.join("model.safetensors"), safetensors(&self.tensors)).unwrap();
    }
}

/// The bytes of a file in the safetensors format: the length of a JSON header, the header, and the tensors.
pub fn safetensors(tensors: &[Tensor]) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::<u8>::new());
    for tensor in tensors {
        let start = data.len();
        data.extend(&tensor.bytes);
        let description =
            json!({ "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [start, data.len()] });
        header.insert(tensor.name.to_owned(), description);
    }
    let header = Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    file
}
