//! Stores dense vectors in one append-only, memory-mapped file.
//!
//! ```text
//! header   "DOCENTV1", dimensions as u32, 4 zero bytes
//! row      key as u64, then one f32 per dimension       (all little-endian)
//! ```
//!
//! Keys ascend, and a chunk in the lexical index refers to its vector by key. Rows without a reference are dead. Compaction
//! writes the live rows to a new file with the same keys and renames it over the old one, so references remain valid.
//!
//! After a crash the file may end in rows without references or in an incomplete row, which are removed on opening.

// Memory-mapping a file requires unsafe code.
#![allow(unsafe_code)]

use docent_domain::fault::{Component, Fault, FaultKind};
use memmap2::Mmap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"DOCENTV1";
const HEADER: usize = 16;
const KEY: usize = 8;

/// A snapshot of the rows.
pub(super) struct Vectors {
    map: Mmap,
    dimensions: usize,
}

impl Vectors {
    /// Checks that vectors have as many dimensions as those of the index.
    pub(super) fn check_dimensions(&self, dimensions: usize) -> Result<(), Fault> {
        if dimensions == self.dimensions {
            return Ok(());
        }
        let message = format!(
            "the index has vectors with {} dimensions, but this vector has {dimensions}",
            self.dimensions
        );
        Err(Fault::new(Component::VectorStore, FaultKind::Rejected, message))
    }

    /// The number of rows, including dead ones.
    pub(super) fn rows(&self) -> usize {
        (self.map.len() - HEADER) / self.row_size()
    }

    /// Finds the row of a key. Ascending look-ups with the row after the last result as `hint` are fast.
    pub(super) fn find(&self, key: u64, hint: usize) -> Option<usize> {
        let rows = self.rows();
        if hint < rows && self.key(hint) == key {
            return Some(hint);
        }
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) < key { low = middle + 1 } else { high = middle }
        }
        (low < rows && self.key(low) == key).then_some(low)
    }

    /// The number of dimensions.
    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the vector of a key.
    pub(super) fn vector(&self, key: u64) -> Option<Vec<f32>> {
        let (numbers, _) = self.row(self.find(key, 0)?)[KEY..].as_chunks::<4>();
        Some(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    /// Computes the dot product of a row with a query of the same dimensions.
    pub(super) fn dot(&self, row: usize, query: &[f32]) -> f32 {
        dot(&self.row(row)[KEY..], query)
    }

    fn row_size(&self) -> usize {
        KEY + 4 * self.dimensions
    }

    fn row(&self, row: usize) -> &[u8] {
        let start = HEADER + row * self.row_size();
        &self.map[start..start + self.row_size()]
    }

    fn key(&self, row: usize) -> u64 {
        self.row(row).first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

/// Computes eight sums in parallel, which compilers vectorise.
fn dot(row: &[u8], query: &[f32]) -> f32 {
    let (numbers, _) = row.as_chunks::<4>();
    let (blocks, rest) = numbers.as_chunks::<8>();
    let (query_blocks, query_rest) = query.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (block, query) in blocks.iter().zip(query_blocks) {
        for ((sum, number), query) in sums.iter_mut().zip(block).zip(query) {
            *sum += f32::from_le_bytes(*number) * query;
        }
    }
    let rest = rest.iter().zip(query_rest).map(|(number, query)| f32::from_le_bytes(*number) * query);
    sums.iter().sum::<f32>() + rest.sum::<f32>()
}

/// The vector file, opened by its only writer.
pub(super) struct VectorFile {
    path: PathBuf,
    file: File,
    vectors: Arc<Vectors>,
    next_key: u64,
}

impl VectorFile {
    /// Opens the file, if it exists, and removes all rows after the key `last_used`.
    ///
    /// # Errors
    /// If it cannot be read or is not a vector file.
    pub(super) fn open(path: &Path, last_used: Option<u64>) -> io::Result<Option<Self>> {
        let file = match File::options().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // Without references all content is dead, including a header that a crash left incomplete.
        let Some(last_used) = last_used else {
            drop(file);
            std::fs::remove_file(path)?;
            return Ok(None);
        };
        let (whole, dimensions) = map(&file, file.metadata()?.len())?;
        let size = KEY + 4 * dimensions;
        let used = whole[HEADER..].chunks_exact(size).scan(None, |last, row| {
            let key = row.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
            let fits = key > *last && key <= Some(last_used);
            *last = key;
            fits.then_some(())
        });
        let length = (HEADER + used.count() * size) as u64;
        drop(whole);
        file.set_len(length)?;
        let vectors = Vectors { map: map(&file, length)?.0, dimensions };
        Ok(Some(Self { path: path.to_owned(), file, vectors: Arc::new(vectors), next_key: last_used + 1 }))
    }

    /// Creates an empty file.
    pub(super) fn create(path: &Path, dimensions: usize) -> io::Result<Self> {
        let file = new_file(path, dimensions)?;
        let vectors = Arc::new(Vectors { map: map(&file, HEADER as u64)?.0, dimensions });
        Ok(Self { path: path.to_owned(), file, vectors, next_key: 1 })
    }

    /// The current rows.
    pub(super) fn vectors(&self) -> &Arc<Vectors> {
        &self.vectors
    }

    /// Appends vectors durably and returns the key of the first; keys are consecutive.
    ///
    /// # Errors
    /// If writing fails; the file is unchanged then.
    pub(super) fn append(&mut self, vectors: &[Vec<f32>]) -> io::Result<u64> {
        let first = self.next_key;
        let committed = (HEADER + self.vectors.rows() * self.vectors.row_size()) as u64;
        let mut bytes = Vec::with_capacity(vectors.len() * self.vectors.row_size());
        for (key, vector) in (first..).zip(vectors) {
            bytes.extend(key.to_le_bytes());
            bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
        }
        self.file.seek(SeekFrom::Start(committed))?;
        let written = self.file.write_all(&bytes).and_then(|()| self.file.sync_data());
        let mapped = written.and_then(|()| map(&self.file, committed + bytes.len() as u64));
        match mapped {
            Ok((map, dimensions)) => self.vectors = Arc::new(Vectors { map, dimensions }),
            Err(error) => {
                // Best effort: remaining bytes are overwritten by the next append or removed on opening.
                let _ = self.file.set_len(committed);
                return Err(error);
            }
        }
        self.next_key += vectors.len() as u64;
        Ok(first)
    }

    /// Replaces the file with one that contains only the rows of the ascending `live` keys.
    ///
    /// # Errors
    /// If writing fails; the old file remains then.
    pub(super) fn compact(&mut self, live: &[u64]) -> io::Result<()> {
        let temporary = self.path.with_extension("tmp");
        let mut file = new_file(&temporary, self.vectors.dimensions)?;
        let mut out = io::BufWriter::new(&mut file);
        let mut hint = 0;
        for &key in live {
            if let Some(row) = self.vectors.find(key, hint) {
                out.write_all(self.vectors.row(row))?;
                hint = row + 1;
            }
        }
        out.flush()?;
        drop(out);
        file.sync_all()?;
        let (map, dimensions) = map(&file, file.metadata()?.len())?;
        std::fs::rename(&temporary, &self.path)?;
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        self.file = file;
        self.vectors = Arc::new(Vectors { map, dimensions });
        Ok(())
    }
}

fn new_file(path: &Path, dimensions: usize) -> io::Result<File> {
    let dimensions = u32::try_from(dimensions)
        .ok()
        .filter(|dimensions| *dimensions > 0)
        .ok_or_else(|| io::Error::other("a vector has no dimensions or too many"))?;
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    file.write_all(MAGIC)?;
    file.write_all(&dimensions.to_le_bytes())?;
    file.write_all(&[0; 4])?;
    file.sync_all()?;
    // The folder is synced too, so that the file survives a power failure.
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

/// Maps the first `length` bytes and parses the header.
fn map(file: &File, length: u64) -> io::Result<(Mmap, usize)> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidData, "vectors.bin is not a vector file");
    let length = usize::try_from(length).map_err(|_| invalid())?;
    if length < HEADER {
        return Err(invalid());
    }
    // SAFETY: mapped bytes must not change or be removed. The folder's lock excludes other processes of this program.
    // This process appends after the mapped length, and truncates the file only on opening, before it is shared, or to
    // the mapped length. Compaction renames a new file over the old one and does not change the mapped bytes.
    let map = unsafe { memmap2::MmapOptions::new().len(length).map(file)? };
    let dimensions =
        map.get(8..12).and_then(|bytes| bytes.first_chunk()).map(|bytes| u32::from_le_bytes(*bytes));
    match dimensions {
        Some(dimensions) if map.starts_with(MAGIC) && dimensions > 0 => Ok((map, dimensions as usize)),
        _ => Err(invalid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(n: f32) -> Vec<f32> {
        (0..11).map(|i| n + i as f32).collect()
    }

    fn found(file: &VectorFile, key: u64) -> Option<f32> {
        let mut first = vec![0.0; 11];
        first[0] = 1.0;
        file.vectors().find(key, 0).map(|row| file.vectors().dot(row, &first))
    }

    #[test]
    fn dot_product_includes_every_dimension() {
        let bytes: Vec<u8> = vector(1.0).iter().flat_map(|number| number.to_le_bytes()).collect();
        let expected: f32 = vector(1.0).iter().zip(vector(2.0)).map(|(a, b)| a * b).sum();
        assert!((dot(&bytes, &vector(2.0)) - expected).abs() < 1e-3);
    }

    #[test]
    fn committed_rows_survive_and_others_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("v");
        let mut file = VectorFile::create(&path, 11).unwrap();
        assert_eq!(file.append(&[vector(1.0), vector(2.0)]).unwrap(), 1);
        assert_eq!(file.append(&[vector(3.0)]).unwrap(), 3);
        drop(file);
        let mut file = VectorFile::open(&path, Some(2)).unwrap().unwrap();
        assert_eq!((found(&file, 1), found(&file, 2), found(&file, 3)), (Some(1.0), Some(2.0), None));
        assert_eq!(file.append(&[vector(4.0)]).unwrap(), 3);
        assert_eq!(found(&file, 3), Some(4.0));
    }

    #[test]
    fn incomplete_tail_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("v");
        let mut file = VectorFile::create(&path, 11).unwrap();
        file.append(&[vector(1.0)]).unwrap();
        drop(file);
        let whole = std::fs::read(&path).unwrap();
        for tail in [vec![0; 5], vec![0; KEY + 44], vec![0xff; KEY + 44], vec![0; 500]] {
            std::fs::write(&path, [whole.as_slice(), tail.as_slice()].concat()).unwrap();
            let file = VectorFile::open(&path, Some(1)).unwrap().unwrap();
            assert_eq!((file.vectors().rows(), found(&file, 1)), (1, Some(1.0)));
        }
    }

    #[test]
    fn compaction_keeps_keys() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("v");
        let mut file = VectorFile::create(&path, 11).unwrap();
        file.append(&[vector(1.0), vector(2.0), vector(3.0)]).unwrap();
        let before = Arc::clone(file.vectors());
        file.compact(&[1, 3]).unwrap();
        assert_eq!((found(&file, 1), found(&file, 2), found(&file, 3)), (Some(1.0), None, Some(3.0)));
        assert_eq!(before.rows(), 3, "a running search still sees the old rows");
        assert_eq!(file.append(&[vector(4.0)]).unwrap(), 4);
        drop(file);
        let file = VectorFile::open(&path, Some(4)).unwrap().unwrap();
        assert_eq!((found(&file, 3), found(&file, 4)), (Some(3.0), Some(4.0)));
    }

    #[test]
    fn other_files_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("v");
        assert!(VectorFile::open(&path, Some(1)).unwrap().is_none());
        for bytes in [b"short".to_vec(), vec![7; 100]] {
            std::fs::write(&path, bytes).unwrap();
            assert!(VectorFile::open(&path, Some(1)).is_err());
        }
    }
}
