//! The column types that all tables share.

use sea_orm_migration::{
    prelude::{ColumnDef, IntoIden},
    schema,
};

/// An id.
pub(crate) fn id(name: impl IntoIden) -> ColumnDef {
    schema::uuid(name)
}

/// An id, or none.
pub(crate) fn id_null(name: impl IntoIden) -> ColumnDef {
    schema::uuid_null(name)
}

/// Microseconds since 1970-01-01T00:00:00Z.
pub(crate) fn instant(name: impl IntoIden) -> ColumnDef {
    schema::big_integer(name)
}

/// Microseconds since 1970-01-01T00:00:00Z, or none.
pub(crate) fn instant_null(name: impl IntoIden) -> ColumnDef {
    schema::big_integer_null(name)
}

/// A number that is never negative, 0 unless said otherwise.
pub(crate) fn count(name: impl IntoIden) -> ColumnDef {
    schema::big_integer(name).default(0).take()
}
