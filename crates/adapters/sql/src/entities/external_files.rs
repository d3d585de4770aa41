use crate::record::{Record, all_columns};
use crate::values::stored;
use docent_domain::external_file::ExternalFile;
use docent_domain::fault::Result;
use docent_domain::id::DocumentId;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "external_files")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub document_id: Uuid,
    pub external_id: String,
    pub entity: Option<String>,
}

no_relations!();

impl Record for ExternalFile {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        Ok(all_columns(Model {
            document_id: self.document.as_uuid(),
            external_id: self.id.as_str().to_owned(),
            entity: self.entity.as_ref().map(|entity| entity.as_str().to_owned()),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        Ok(ExternalFile {
            document: DocumentId::from_uuid(row.document_id),
            id: stored(row.external_id, "external ID of a file")?,
            entity: stored(row.entity, "external ID of a file")?,
        })
    }
}
