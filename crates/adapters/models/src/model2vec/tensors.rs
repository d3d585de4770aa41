//! The tensors of a model file.

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use std::ops::Range;

/// Names of the tensor with one vector per token: of Model2Vec, and of the sentence-transformers library.
const EMBEDDINGS: [&str; 2] = ["embeddings", "embedding.weight"];
/// Maximum number of dimensions.
const MAX_DIMENSIONS: usize = 8192;

/// The type of the numbers of a matrix.
#[derive(Clone, Copy, Debug)]
enum Number {
    F16,
    F32,
}

impl Number {
    fn size(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }
}

/// A matrix within the bytes of its file, in which it stays: a copy would need twice the memory.
pub(super) struct Matrix {
    file: Vec<u8>,
    data: Range<usize>,
    number: Number,
    rows: usize,
    columns: usize,
}

impl Matrix {
    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Adds a row, multiplied by `factor`, to `sums`. A row that does not exist is zero.
    pub(super) fn add_row(&self, row: usize, factor: f64, sums: &mut [f64]) {
        let size = self.columns * self.number.size();
        let data = self.file.get(self.data.clone()).unwrap_or_default();
        let row = row.checked_mul(size).and_then(|start| data.get(start..start + size)).unwrap_or_default();
        match self.number {
            Number::F16 => {
                for (sum, bytes) in sums.iter_mut().zip(row.as_chunks::<2>().0) {
                    *sum += f64::from(half_to_f32(u16::from_le_bytes(*bytes))) * factor;
                }
            }
            Number::F32 => {
                for (sum, bytes) in sums.iter_mut().zip(row.as_chunks::<4>().0) {
                    *sum += f64::from(f32::from_le_bytes(*bytes)) * factor;
                }
            }
        }
    }

    /// Whether all numbers are finite.
    fn is_finite(&self) -> bool {
        let data = self.file.get(self.data.clone()).unwrap_or_default();
        match self.number {
            // All bits of the exponent are set in infinities and in what is not a number.
            Number::F16 => {
                data.as_chunks::<2>().0.iter().all(|bytes| u16::from_le_bytes(*bytes) & 0x7c00 != 0x7c00)
            }
            Number::F32 => data.as_chunks::<4>().0.iter().all(|bytes| f32::from_le_bytes(*bytes).is_finite()),
        }
    }
}

/// The tensors that a model uses.
pub(super) struct Tensors {
    /// The vectors.
    pub(super) embeddings: Matrix,
    /// The weight of each token; absent if all have the same.
    pub(super) weights: Option<Vec<f32>>,
    /// The row of each token; absent if it is the number of the token.
    pub(super) mapping: Option<Vec<usize>>,
}

impl Tensors {
    /// Reads the tensors of a file.
    ///
    /// # Errors
    /// What is wrong with the file, as the rest of a sentence that begins with its name.
    pub(super) fn read(file: Vec<u8>) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(&file)
            .map_err(|error| format!("is not a file of tensors in the safetensors format: {error}"))?;
        let (name, embeddings) = EMBEDDINGS
            .iter()
            .find_map(|name| Some((*name, tensors.tensor(name).ok()?)))
            .ok_or("has no tensor \"embeddings\": it is not a Model2Vec model")?;
        let number = match embeddings.dtype() {
            Dtype::F16 => Number::F16,
            Dtype::F32 => Number::F32,
            other => return Err(unsupported(name, other, "F32 or F16")),
        };
        let [rows, columns] = *embeddings.shape() else {
            return Err(wrong_shape(name, &embeddings, "tokens, dimensions"));
        };
        if rows == 0 || !(1..=MAX_DIMENSIONS).contains(&columns) {
            let expected = format!("tokens, 1 to {MAX_DIMENSIONS} dimensions");
            return Err(wrong_shape(name, &embeddings, &expected));
        }
        let weights = tensors.tensor("weights").ok().map(|tensor| weights(&tensor)).transpose()?;
        let mapping = tensors.tensor("mapping").ok().map(|tensor| mapping(&tensor, rows)).transpose()?;
        let start = embeddings.data().as_ptr().addr() - file.as_ptr().addr();
        let data = start..start + embeddings.data().len();
        let embeddings = Matrix { file, data, number, rows, columns };
        if !embeddings.is_finite() {
            return Err(not_finite(name));
        }
        Ok(Self { embeddings, weights, mapping })
    }
}

fn unsupported(name: &str, found: Dtype, expected: &str) -> String {
    format!("has the tensor \"{name}\" with numbers of the type {found} (expected {expected})")
}

fn wrong_shape(name: &str, tensor: &TensorView<'_>, expected: &str) -> String {
    format!("has the tensor \"{name}\" with the shape {:?} (expected [{expected}])", tensor.shape())
}

fn not_finite(name: &str) -> String {
    format!("has the tensor \"{name}\" with numbers that are not finite")
}

fn weights(tensor: &TensorView<'_>) -> Result<Vec<f32>, String> {
    let data = tensor.data();
    if tensor.shape().len() != 1 {
        return Err(wrong_shape("weights", tensor, "tokens"));
    }
    let weights: Vec<f32> = match tensor.dtype() {
        Dtype::F16 => {
            data.as_chunks::<2>().0.iter().map(|bytes| half_to_f32(u16::from_le_bytes(*bytes))).collect()
        }
        Dtype::F32 => data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        Dtype::F64 => data.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect(),
        other => return Err(unsupported("weights", other, "F64, F32 or F16")),
    };
    match weights.iter().all(|weight| weight.is_finite()) {
        true => Ok(weights),
        false => Err(not_finite("weights")),
    }
}

fn mapping(tensor: &TensorView<'_>, rows: usize) -> Result<Vec<usize>, String> {
    let data = tensor.data();
    if tensor.shape().len() != 1 {
        return Err(wrong_shape("mapping", tensor, "tokens"));
    }
    let mapping: Vec<i64> = match tensor.dtype() {
        Dtype::I32 => data.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect(),
        Dtype::I64 => data.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect(),
        other => return Err(unsupported("mapping", other, "I64 or I32")),
    };
    let row = |row: i64| {
        usize::try_from(row)
            .ok()
            .filter(|row| *row < rows)
            .ok_or_else(|| format!("has the row {row} in the tensor \"mapping\", but only {rows} rows"))
    };
    mapping.into_iter().map(row).collect()
}

/// Converts a number of 16 bits (IEEE 754 binary16). Stable Rust has no type for it.
fn half_to_f32(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_are_exact() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x0001, 2.0_f32.powi(-24)),
            (0x03ff, 1023.0 * 2.0_f32.powi(-24)),
            (0x0400, 2.0_f32.powi(-14)),
            (0x3555, 0.333_251_95),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half_to_f32(bits), number, "{bits:#06x}");
        }
        assert!(half_to_f32(0x7e00).is_nan());
        // Positive numbers ascend with their bits.
        assert!((0..0x7c00).all(|bits| half_to_f32(bits) < half_to_f32(bits + 1)));
    }
}
