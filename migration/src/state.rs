//! Comparison of a database's schema with this program's.

use crate::Migrator;
use sea_orm_migration::sea_orm::{EntityTrait, QueryOrder};
use sea_orm_migration::{DbErr, IntoSchemaManagerConnection, MigratorTrait, SchemaManager, seaql_migrations};
use std::fmt;

/// A database's schema compared with the one this program was built for. `Display` says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// The same schema.
    Current,
    /// No migration has been applied.
    Empty,
    /// The database lacks these migrations, in their order.
    Older(Vec<String>),
    /// The database has these migrations, which this program does not know.
    Newer(Vec<String>),
}

impl fmt::Display for SchemaState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = schema_version();
        match self {
            Self::Current => write!(f, "the database schema is current ({version})"),
            Self::Empty => f.write_str("the database has no schema yet: run `docent migrate`"),
            Self::Older(missing) => write!(
                f,
                "the database schema is older than this program needs ({version}): \
                 run `docent migrate` to apply {}",
                missing.join(", ")
            ),
            Self::Newer(unknown) => write!(
                f,
                "the database schema is newer than this program ({version}): it has {}; \
                 run the version of Docent that created it, or a later one",
                unknown.join(", ")
            ),
        }
    }
}

/// The name of this program's newest migration.
pub fn schema_version() -> String {
    Migrator::migrations().last().map(|migration| migration.name().to_owned()).unwrap_or_default()
}

/// Compares a database's schema with this program's, without changing it.
///
/// # Errors
/// When the database cannot be read.
pub async fn schema_state<'c, C>(db: C) -> Result<SchemaState, DbErr>
where
    C: IntoSchemaManagerConnection<'c>,
{
    let manager = SchemaManager::new(db);
    if !manager.has_table("seaql_migrations").await? {
        return Ok(SchemaState::Empty);
    }
    let applied: Vec<String> = seaql_migrations::Entity::find()
        .order_by_asc(seaql_migrations::Column::Version)
        .all(manager.get_connection())
        .await?
        .into_iter()
        .map(|row| row.version)
        .collect();
    let known: Vec<String> =
        Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect();
    Ok(compare(&known, &applied))
}

fn compare(known: &[String], applied: &[String]) -> SchemaState {
    let without = |of: &[String], those: &[String]| -> Vec<String> {
        of.iter().filter(|name| !those.contains(name)).cloned().collect()
    };
    let unknown = without(applied, known);
    let missing = without(known, applied);
    match (applied.is_empty(), unknown.is_empty(), missing.is_empty()) {
        (true, _, _) => SchemaState::Empty,
        (_, false, _) => SchemaState::Newer(unknown),
        (_, true, false) => SchemaState::Older(missing),
        (_, true, true) => SchemaState::Current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_compare_as_older_newer_or_current() {
        let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        let known = names(&["m1", "m2"]);
        for (applied, state) in [
            (names(&[]), SchemaState::Empty),
            (names(&["m1"]), SchemaState::Older(names(&["m2"]))),
            (names(&["m1", "m2"]), SchemaState::Current),
            (names(&["m1", "m2", "m3"]), SchemaState::Newer(names(&["m3"]))),
            // A database of another branch: the unknown migration decides, since it cannot be reverted here.
            (names(&["m1", "m3"]), SchemaState::Newer(names(&["m3"]))),
        ] {
            assert_eq!(compare(&known, &applied), state);
        }
    }

    #[test]
    fn display_names_the_migrations_and_the_remedy() {
        assert!(schema_version().starts_with('m'), "{}", schema_version());
        let older = SchemaState::Older(vec!["m0004_usage_records".into()]).to_string();
        assert!(older.contains("older") && older.contains("docent migrate"), "{older}");
        let newer = SchemaState::Newer(vec!["m0099_later".into()]).to_string();
        assert!(newer.contains("newer") && newer.contains("m0099_later"), "{newer}");
    }
}
