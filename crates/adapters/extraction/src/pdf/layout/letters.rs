//! Joins the letters of words that are set with wide spaces between them, such as headings in capitals.

use super::{Run, RunWord, WORD_GAP};

/// Minimum number of letters in a row that are apart without spaces between them.
const MIN_LETTERS: usize = 4;
/// Minimum number of letters in a row that are written with spaces between them.
const MIN_TYPED: usize = 5;
/// Maximum distance between letters of a word as a fraction of the font size: cells are farther apart.
const MAX_GAP: f64 = 0.6;

impl Run {
    /// Joins letters that have the usual distance of their sequence. Words are farther apart, or have a space
    /// between them where letters have none.
    pub(super) fn join_spaced_letters(&mut self) {
        if self.rtl || self.words.len() < MIN_LETTERS {
            return;
        }
        let ends = self.words.iter().skip(1).map(|next| next.at).chain([self.text.len()]);
        let letters: Vec<Option<char>> = (self.words.iter().zip(ends))
            .map(|(word, end)| {
                let mut chars = self.text[word.at..end].trim_end().chars();
                chars.next().filter(|first| first.is_alphabetic() && chars.next().is_none())
            })
            .collect();
        let mut is_joined = vec![false; letters.len()];
        let mut start = 0;
        for sequence in letters.chunk_by(|a, b| a.is_some() == b.is_some()) {
            let end = start + sequence.len();
            if let Some(letters) = sequence.iter().copied().collect::<Option<Vec<char>>>() {
                self.mark_joined(start, &letters, &mut is_joined);
            }
            start = end;
        }
        if is_joined.contains(&true) {
            self.join(&is_joined);
        }
    }

    /// Marks the letters of a sequence that belong to the word of the letter before.
    fn mark_joined(&self, start: usize, letters: &[char], is_joined: &mut [bool]) {
        let words = &self.words[start..start + letters.len()];
        let is_spaced = words.iter().skip(1).any(|word| word.is_after_gap);
        // Letters in the order of the alphabet are a list.
        let is_list = letters.windows(2).all(|pair| u32::from(pair[1]) == u32::from(pair[0]) + 1);
        let min = if is_spaced { MIN_LETTERS } else { MIN_TYPED };
        if letters.len() < min || is_list {
            return;
        }
        let is_candidate = |word: &RunWord| word.is_after_gap || !is_spaced;
        let gaps = words.windows(2).filter(|pair| is_candidate(&pair[1]));
        let mut gaps: Vec<f64> = gaps.map(|pair| pair[1].start - pair[0].end).collect();
        gaps.sort_by(f64::total_cmp);
        let Some(usual) = gaps.get(gaps.len() / 4) else { return };
        let max = (usual + WORD_GAP * self.size).min(MAX_GAP * self.size);
        for (at, pair) in words.windows(2).enumerate() {
            is_joined[start + at + 1] = is_candidate(&pair[1]) && pair[1].start - pair[0].end < max;
        }
    }

    fn join(&mut self, is_joined: &[bool]) {
        let ends: Vec<usize> =
            self.words.iter().skip(1).map(|next| next.at).chain([self.text.len()]).collect();
        let words = std::mem::take(&mut self.words);
        let mut text = String::with_capacity(self.text.len());
        for (at, (word, end)) in words.into_iter().zip(ends).enumerate() {
            match self.words.last_mut() {
                Some(last) if is_joined[at] => {
                    last.end = word.end;
                    text.truncate(text.trim_end().len());
                }
                last => {
                    if last.is_some() {
                        text.truncate(text.trim_end().len());
                        text.push(' ');
                    }
                    self.words.push(RunWord { at: text.len(), ..word });
                }
            }
            text.push_str(&self.text[word.at..end]);
        }
        self.text = text;
    }
}
