//! Term statistics in memory, summed up for every query.

use super::Transaction;
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::id::VersionId;
use docent_ports::term_statistics::{
    Contribution, TermStatistics, TermStatisticsReader, TermStatisticsWriter,
};

#[async_trait]
impl TermStatisticsReader for Transaction {
    async fn read(&mut self, collection: &str, places: &[u32]) -> Result<TermStatistics> {
        let mut found = TermStatistics::default();
        for ((of, _), added) in &Transaction::read(self)?.term_statistics {
            if of != collection {
                continue;
            }
            found.totals.documents += 1;
            found.totals.chunks += u64::from(added.chunks);
            found.totals.length += added.length;
            for place in places {
                if let Some(n) = added.places.get(place) {
                    *found.frequencies.entry(*place).or_default() += u64::from(*n);
                }
            }
        }
        Ok(found)
    }
}

#[async_trait]
impl TermStatisticsWriter for Transaction {
    async fn put(&mut self, collection: &str, version: VersionId, added: &Contribution) -> Result<()> {
        self.write(|tables| {
            tables.term_statistics.insert((collection.to_owned(), version), added.clone());
            Ok(())
        })
    }

    async fn remove(&mut self, collection: &str, version: VersionId) -> Result<()> {
        self.write(|tables| {
            tables.term_statistics.remove(&(collection.to_owned(), version));
            Ok(())
        })
    }

    async fn clear(&mut self, collection: &str) -> Result<()> {
        self.write(|tables| {
            tables.term_statistics.retain(|(of, _), _| of != collection);
            Ok(())
        })
    }
}
