//! A static embedding model: the vector of a text is the mean of the vectors of its tokens.

use super::folder::{CONFIG, InvalidModel, ModelFiles, TOKENIZER, WEIGHTS, invalid, problem};
use super::tensors::{Matrix, Tensors};
use serde::Deserialize;
use std::path::Path;
use tokenizers::Tokenizer;

/// Maximum number of tokens of a text if `config.json` names none, as in the reference implementation.
const DEFAULT_MAX_TOKENS: usize = 512;

/// A model that was read from a folder.
pub(super) struct StaticModel {
    tokenizer: Tokenizer,
    embeddings: Matrix,
    weights: Option<Vec<f32>>,
    mapping: Option<Vec<usize>>,
    /// The token of unknown words, which has no meaning and is left out.
    unknown: Option<u32>,
    limits: Option<TextLimits>,
}

/// How much of a text is embedded.
#[derive(Clone, Copy, Debug)]
struct TextLimits {
    tokens: usize,
    /// Applied first, so that no more than this is tokenized.
    chars: usize,
}

/// The part of `config.json` that is used. Whether it asks for normalized vectors is not: all are.
#[derive(Deserialize)]
struct Config {
    #[serde(default = "default_max_tokens")]
    max_length: Option<usize>,
}

fn default_max_tokens() -> Option<usize> {
    Some(DEFAULT_MAX_TOKENS)
}

/// The part of `tokenizer.json` that the `tokenizers` library does not make available.
#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct TokenizerModel {
    #[serde(default)]
    unk_token: Option<String>,
    #[serde(default)]
    unk_id: Option<u32>,
}

impl StaticModel {
    /// Reads the model in a folder; returns its name too.
    ///
    /// # Errors
    /// If a file is missing or invalid, or the files do not match.
    pub(super) fn load(folder: &Path) -> Result<(Self, String), InvalidModel> {
        let files = ModelFiles::read(folder)?;
        let name = files.name.clone();
        Ok((Self::of_files(files).map_err(|problem| invalid(folder, problem))?, name))
    }

    fn of_files(files: ModelFiles) -> Result<Self, String> {
        let config: Config = serde_json::from_slice(&files.config)
            .map_err(|error| problem(CONFIG, format_args!("is not a valid configuration: {error}")))?;
        if config.max_length == Some(0) {
            return Err(problem(CONFIG, "has the max_length 0 (expected at least 1)"));
        }
        let (tokenizer, unknown) = tokenizer(&files.tokenizer).map_err(|wrong| problem(TOKENIZER, wrong))?;
        let vocabulary = Vocabulary::of(&tokenizer).map_err(|wrong| problem(TOKENIZER, wrong))?;
        let tensors = Tensors::read(files.weights).map_err(|wrong| problem(WEIGHTS, wrong))?;
        vocabulary.check(&tensors)?;
        let limits = config.max_length.map(|tokens| TextLimits {
            tokens,
            chars: tokens.saturating_mul(vocabulary.median_chars.max(1)),
        });
        let Tensors { embeddings, weights, mapping } = tensors;
        Ok(Self { tokenizer, embeddings, weights, mapping, unknown, limits })
    }

    /// The number of dimensions of its vectors.
    pub(super) fn dimensions(&self) -> usize {
        self.embeddings.columns()
    }

    /// Computes the vector of a text, of unit length. The vector of a text without known tokens is zero, whose cosine with
    /// every other one is 0: such a text is found by its words alone.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub(super) fn embed(&self, text: &str) -> tokenizers::Result<Vec<f32>> {
        let text = match self.limits.and_then(|limits| text.char_indices().nth(limits.chars)) {
            Some((end, _)) => text.get(..end).unwrap_or(text),
            None => text,
        };
        let encoding = self.tokenizer.encode_fast(text, false)?;
        let tokens = encoding.get_ids().iter().take(self.limits.map_or(usize::MAX, |limits| limits.tokens));
        // With double precision no sum of single-precision numbers overflows.
        let mut sums = vec![0.0_f64; self.dimensions()];
        for &token in tokens.filter(|token| Some(**token) != self.unknown) {
            let token = token as usize;
            let row = self.mapping.as_ref().map_or(Some(token), |rows| rows.get(token).copied());
            let weight = self.weights.as_ref().map_or(Some(1.0), |weights| weights.get(token).copied());
            if let (Some(row), Some(weight)) = (row, weight) {
                self.embeddings.add_row(row, f64::from(weight), &mut sums);
            }
        }
        Ok(unit(&sums))
    }
}

/// Scales to unit length; zero stays zero. The mean has the direction of the sum.
fn unit(sums: &[f64]) -> Vec<f32> {
    let length = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
    let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
    match factor.is_finite() {
        true => sums.iter().map(|sum| (sum * factor) as f32).collect(),
        false => vec![0.0; sums.len()],
    }
}

/// Reads the tokenizer, and the token of unknown words if it has one.
fn tokenizer(file: &[u8]) -> Result<(Tokenizer, Option<u32>), String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("is not a tokenizer: {error}");
    let mut tokenizer = Tokenizer::from_bytes(file).map_err(|error| unreadable(&error))?;
    // The limits are those of `config.json`, and texts are embedded one by one.
    tokenizer.with_truncation(None).map_err(|error| unreadable(&error))?;
    tokenizer.with_padding(None);
    let parsed: TokenizerFile = serde_json::from_slice(file).map_err(|error| unreadable(&error))?;
    let unknown = match parsed.model {
        TokenizerModel { unk_token: Some(token), .. } => {
            let id = tokenizer.token_to_id(&token);
            Some(id.ok_or_else(|| format!("has no token {token:?}, which it names for unknown words"))?)
        }
        TokenizerModel { unk_id, .. } => unk_id,
    };
    Ok((tokenizer, unknown))
}

/// Sizes of a vocabulary.
struct Vocabulary {
    tokens: usize,
    highest: usize,
    median_chars: usize,
}

impl Vocabulary {
    fn of(tokenizer: &Tokenizer) -> Result<Self, String> {
        let tokens = tokenizer.get_vocab(true);
        let highest = tokens.values().max().copied().ok_or("has no tokens")?;
        let mut lengths: Vec<usize> = tokens.keys().map(|token| token.chars().count()).collect();
        lengths.sort_unstable();
        let at = |place: usize| lengths.get(place).copied().unwrap_or_default();
        let median_chars = at((lengths.len() - 1) / 2).midpoint(at(lengths.len() / 2));
        Ok(Self { tokens: tokens.len(), highest: highest as usize, median_chars })
    }

    /// Checks that the tensors have what the tokens need.
    fn check(&self, tensors: &Tensors) -> Result<(), String> {
        let rows = tensors.embeddings.rows();
        if tensors.mapping.is_none() && (rows != self.tokens || self.highest >= rows) {
            return Err(format!(
                "{TOKENIZER} has {} tokens, the last with the ID {}, but {WEIGHTS} has {rows} vectors: the files belong to \
                 different models",
                self.tokens, self.highest
            ));
        }
        let sizes = [
            ("mapping", tensors.mapping.as_ref().map(Vec::len)),
            ("weights", tensors.weights.as_ref().map(Vec::len)),
        ];
        for (name, size) in sizes {
            if let Some(size) = size.filter(|size| *size <= self.highest) {
                return Err(format!(
                    "{WEIGHTS} has the tensor \"{name}\" for {size} tokens, but the last token of {TOKENIZER} has the ID {}",
                    self.highest
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_unit_length_or_are_zero() {
        assert_eq!(unit(&[3.0, -4.0]), [0.6, -0.8]);
        assert_eq!(unit(&[0.0, 0.0]), [0.0, 0.0]);
        assert_eq!(unit(&[f64::from(f32::MAX) * 1e6, 0.0]), [1.0, 0.0]);
        assert_eq!(unit(&[1e-320, 0.0]), [0.0, 0.0]);
    }
}
