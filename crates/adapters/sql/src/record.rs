//! Records and the rows that store them.

use docent_domain::fault::Result;
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};

/// A record that one row of a table stores. Both functions name every column, so that the compiler points
/// to them when a column or a field is added.
pub(super) trait Record: Sized {
    /// The table.
    type Entity: EntityTrait<Model: Sync, ActiveModel: Send + 'static>;

    /// Returns the record's row, for inserts and updates.
    ///
    /// # Errors
    /// When a value cannot be stored.
    fn to_row(&self) -> Result<<Self::Entity as EntityTrait>::ActiveModel>;

    /// Returns the record of a row.
    ///
    /// # Errors
    /// When the row holds a value that no version of this program writes.
    fn from_row(row: <Self::Entity as EntityTrait>::Model) -> Result<Self>;
}

/// A row of which a statement writes all columns.
pub(super) fn all_columns<A: ActiveModelTrait>(row: impl IntoActiveModel<A>) -> A {
    row.into_active_model().reset_all()
}
