//! Term statistics in SQL.

use super::entities::collection_documents as documents;
use super::entities::collection_terms::{ActiveModel, Column, Entity, Model};
use super::fault::corrupt;
use super::record::all_columns;
use super::transaction::Transaction;
use super::values::{counted, number};
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::id::VersionId;
use docent_domain::ranking::CorpusStatistics;
use docent_ports::term_statistics::{
    Contribution, TermStatistics, TermStatisticsReader, TermStatisticsWriter,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use std::collections::{BTreeMap, HashMap};

/// Places of the totals, below those of terms, so that one statement reads both.
const DOCUMENTS: i64 = -3;
const CHUNKS: i64 = -2;
const LENGTH: i64 = -1;

/// Maximum number of rows per statement, below the databases' limits on parameters.
const ROWS: usize = 5_000;

#[async_trait]
impl TermStatisticsReader for Transaction {
    async fn read(&mut self, collection: &str, places: &[u32]) -> Result<TermStatistics> {
        let mut found = HashMap::new();
        let totals = [DOCUMENTS, CHUNKS, LENGTH];
        let places: Vec<i64> =
            totals.into_iter().chain(places.iter().map(|place| i64::from(*place))).collect();
        for places in places.chunks(ROWS) {
            let query = Entity::find()
                .filter(Column::Collection.eq(collection))
                .filter(Column::Place.is_in(places.iter().copied()));
            let rows = self.run("read how often terms occur", |db| Box::pin(query.all(db))).await?;
            for Model { place, frequency, .. } in rows {
                found.insert(place, counted(frequency, "frequency of a term")?);
            }
        }
        let mut total = |place| found.remove(&place).unwrap_or_default();
        let totals =
            CorpusStatistics { documents: total(DOCUMENTS), chunks: total(CHUNKS), length: total(LENGTH) };
        let place = |(place, n)| Ok((counted(place, "place of a term")?, n));
        Ok(TermStatistics { totals, frequencies: found.into_iter().map(place).collect::<Result<_>>()? })
    }
}

#[async_trait]
impl TermStatisticsWriter for Transaction {
    async fn put(&mut self, collection: &str, version: VersionId, added: &Contribution) -> Result<()> {
        let before = self.added(collection, version).await?;
        if before.as_ref() == Some(added) {
            return Ok(());
        }
        let row = documents::Model {
            collection: collection.to_owned(),
            document_id: version.as_uuid(),
            chunks: added.chunks.into(),
            length: number(added.length, "length")?,
            places: written(&added.places),
        };
        let replace = OnConflict::columns([documents::Column::Collection, documents::Column::DocumentId])
            .update_columns([documents::Column::Chunks, documents::Column::Length, documents::Column::Places])
            .to_owned();
        let insert = documents::Entity::insert(all_columns(row)).on_conflict(replace);
        self.insert_rows("write what a document adds", insert).await?;
        self.change(collection, before.as_ref(), Some(added)).await
    }

    async fn remove(&mut self, collection: &str, version: VersionId) -> Result<()> {
        let Some(before) = self.added(collection, version).await? else { return Ok(()) };
        let id = (collection.to_owned(), version.as_uuid());
        self.delete_by_id::<documents::Entity>("remove what a document added", id).await?;
        self.change(collection, Some(&before), None).await
    }

    async fn clear(&mut self, collection: &str) -> Result<()> {
        self.lock(collection).await?;
        let delete = documents::Entity::delete_many().filter(documents::Column::Collection.eq(collection));
        self.delete_rows("forget what documents added", delete).await?;
        let delete = Entity::delete_many().filter(Column::Collection.eq(collection));
        self.delete_rows("forget how often terms occur", delete).await?;
        Ok(())
    }
}

impl Transaction {
    /// Locks the collection's statistics until the end of the unit of work.
    async fn lock(&mut self, collection: &str) -> Result<()> {
        self.add(collection, &[(DOCUMENTS, 0)]).await
    }

    /// Reads a version's contribution, with the statistics locked.
    async fn added(&mut self, collection: &str, version: VersionId) -> Result<Option<Contribution>> {
        self.lock(collection).await?;
        let query = documents::Entity::find_by_id((collection.to_owned(), version.as_uuid()));
        let row = self.run("read what a document added", |db| Box::pin(query.one(db))).await?;
        row.map(contribution).transpose()
    }

    async fn change(
        &mut self,
        collection: &str,
        before: Option<&Contribution>,
        after: Option<&Contribution>,
    ) -> Result<()> {
        let mut changes = BTreeMap::<i64, i64>::new();
        for (added, sign) in [(before, -1), (after, 1)] {
            let Some(added) = added else { continue };
            let totals =
                [(DOCUMENTS, 1), (CHUNKS, added.chunks.into()), (LENGTH, number(added.length, "length")?)];
            let terms = added.places.iter().map(|(place, n)| (i64::from(*place), i64::from(*n)));
            for (place, n) in totals.into_iter().chain(terms) {
                *changes.entry(place).or_default() += sign * n;
            }
        }
        // In the order of places, so that concurrent units of work cannot deadlock.
        let changes: Vec<_> = changes.into_iter().filter(|(_, change)| *change != 0).collect();
        for changes in changes.chunks(ROWS) {
            self.add(collection, changes).await?;
        }
        let less: Vec<i64> =
            changes.iter().filter(|(_, change)| *change < 0).map(|(place, _)| *place).collect();
        for places in less.chunks(ROWS) {
            let gone = Entity::delete_many()
                .filter(Column::Collection.eq(collection))
                .filter(Column::Place.is_in(places.iter().copied()))
                .filter(Column::Frequency.eq(0));
            self.delete_rows("forget terms that are gone", gone).await?;
        }
        Ok(())
    }

    async fn add(&mut self, collection: &str, changes: &[(i64, i64)]) -> Result<()> {
        let rows = changes.iter().map(|(place, change)| ActiveModel {
            collection: Set(collection.to_owned()),
            place: Set(*place),
            frequency: Set(*change),
        });
        // The row that is there; a bare name would be ambiguous beside the one that was to be inserted.
        let there = Expr::col((Entity, Column::Frequency));
        let add = OnConflict::columns([Column::Collection, Column::Place])
            .value(Column::Frequency, there.add(Expr::col(("excluded", Column::Frequency))))
            .to_owned();
        let insert = Entity::insert_many(rows).on_conflict(add);
        self.insert_many_rows("count terms", insert).await?;
        Ok(())
    }
}

fn written(places: &BTreeMap<u32, u32>) -> Vec<u8> {
    places.iter().flat_map(|(place, n)| [place.to_le_bytes(), n.to_le_bytes()]).flatten().collect()
}

fn contribution(row: documents::Model) -> Result<Contribution> {
    let wrong = || corrupt("contribution of a document");
    let (pairs, rest) = row.places.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(wrong());
    }
    let pair = |[a, b, c, d, e, f, g, h]: &[u8; 8]| {
        (u32::from_le_bytes([*a, *b, *c, *d]), u32::from_le_bytes([*e, *f, *g, *h]))
    };
    Ok(Contribution {
        chunks: counted(row.chunks, "number of chunks")?,
        length: counted(row.length, "length")?,
        places: pairs.iter().map(pair).collect(),
    })
}
