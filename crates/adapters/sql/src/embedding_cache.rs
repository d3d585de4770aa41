//! The embedding cache in SQL.

use super::entities::embedding_cache::{Column, Entity, Model};
use super::fault::corrupt;
use super::record::all_columns;
use super::transaction::Transaction;
use super::values::{instant, micros};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_ports::embedding_cache::{CachedVector, EmbeddingCacheReader, EmbeddingCacheWriter, TextDigest};
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use std::collections::HashMap;

/// Maximum number of rows per statement, well below the databases' limits on parameters.
const ROWS: usize = 128;

#[async_trait]
impl EmbeddingCacheReader for Transaction {
    async fn find(&mut self, space: &str, texts: &[TextDigest]) -> Result<HashMap<TextDigest, CachedVector>> {
        let mut found = HashMap::with_capacity(texts.len());
        for texts in texts.chunks(ROWS) {
            let query = Entity::find().filter(matching(space, texts));
            let rows = self.run("look vectors up", |db| Box::pin(query.all(db))).await?;
            for row in rows {
                let (digest, vector) = from_row(row)?;
                found.insert(digest, vector);
            }
        }
        Ok(found)
    }
}

#[async_trait]
impl EmbeddingCacheWriter for Transaction {
    async fn put(&mut self, space: &str, vectors: &[(TextDigest, &[f32])], at: DateTime<Utc>) -> Result<()> {
        // Always in the same order, so that concurrent units of work with the same texts cannot deadlock.
        let mut vectors: Vec<_> = vectors.iter().collect();
        vectors.sort_unstable_by_key(|(text, _)| *text);
        for vectors in vectors.chunks(ROWS) {
            let rows = vectors.iter().map(|(text, vector)| {
                let row = Model {
                    space: space.to_owned(),
                    text_sha256: text.to_vec(),
                    vector: vector.iter().flat_map(|number| number.to_le_bytes()).collect(),
                    used_at: micros(at),
                };
                all_columns(row)
            });
            let replace = OnConflict::columns([Column::Space, Column::TextSha256])
                .update_columns([Column::Vector, Column::UsedAt])
                .to_owned();
            let insert = Entity::insert_many(rows).on_conflict(replace);
            self.insert_many_rows("store vectors", insert).await?;
        }
        Ok(())
    }

    async fn touch(&mut self, space: &str, texts: &[TextDigest], at: DateTime<Utc>) -> Result<()> {
        for texts in texts.chunks(ROWS) {
            let update = Entity::update_many()
                .col_expr(Column::UsedAt, Expr::val(micros(at)))
                .filter(matching(space, texts));
            self.update_rows("record the use of vectors", update).await?;
        }
        Ok(())
    }

    async fn purge_unused(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        let unused = Entity::find()
            .select_only()
            .columns([Column::Space, Column::TextSha256])
            .filter(Column::UsedAt.lt(micros(before)))
            .order_by_asc(Column::UsedAt)
            .limit(limit)
            .into_query();
        let key = Expr::tuple([Expr::col(Column::Space), Expr::col(Column::TextSha256)]);
        let delete = Entity::delete_many().filter(key.in_subquery(unused));
        self.delete_rows("remove unused vectors", delete).await
    }
}

fn matching(space: &str, texts: &[TextDigest]) -> Condition {
    Condition::all()
        .add(Column::Space.eq(space))
        .add(Column::TextSha256.is_in(texts.iter().map(|text| text.to_vec())))
}

fn from_row(row: Model) -> Result<(TextDigest, CachedVector)> {
    let wrong = || corrupt("vector");
    let digest = row.text_sha256.as_slice().try_into().map_err(|_| wrong())?;
    let (numbers, rest) = row.vector.as_chunks::<4>();
    if numbers.is_empty() || !rest.is_empty() {
        return Err(wrong());
    }
    let vector = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    Ok((digest, CachedVector { vector, used_at: instant(row.used_at, "vector's time")? }))
}
