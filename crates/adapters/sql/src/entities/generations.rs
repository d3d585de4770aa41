use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{counted, instant, micros};
use docent_domain::fault::Result;
use docent_domain::generation::{GenerationState, IndexGeneration};
use docent_domain::id::GenerationId;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "generations")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub model: String,
    pub collection: String,
    pub dimensions: Option<i64>,
    pub state: String,
    pub created_at: i64,
    pub switched_at: Option<i64>,
}

no_relations!();

impl Record for IndexGeneration {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let switched_at = match self.state {
            GenerationState::Building => None,
            GenerationState::Active { since } | GenerationState::Retired { since } => Some(since),
        };
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            model: self.model.clone(),
            collection: self.collection.clone(),
            dimensions: self.dimensions.map(i64::from),
            state: self.state.name().to_owned(),
            created_at: micros(self.created_at),
            switched_at: switched_at.map(micros),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "generation's time");
        let since = row.switched_at.map(when).transpose()?;
        let state = match (row.state.as_str(), since) {
            ("building", None) => GenerationState::Building,
            ("active", Some(since)) => GenerationState::Active { since },
            ("retired", Some(since)) => GenerationState::Retired { since },
            _ => return Err(corrupt("generation's state")),
        };
        Ok(IndexGeneration {
            id: GenerationId::from_uuid(row.id),
            model: row.model,
            collection: row.collection,
            dimensions: row.dimensions.map(|size| counted(size, "number of dimensions")).transpose()?,
            state,
            created_at: when(row.created_at)?,
        })
    }
}
