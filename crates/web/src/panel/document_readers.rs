//! Readers of a document, on its page and at `GET /admin/documents/{id}/readers`

use super::access::kinds;
use super::collections::role_name;
use super::nav::ROOT;
use crate::language::{collection_name, t};
use crate::paging::{PageNumber, Paging};
use crate::signed_in::page::{PageError, PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::collections::readers::{
    self as use_case, DocumentReaders, Reader, ReaderGrants, Reason, Who,
};
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::listing::PageRequest;
use docent_domain::permission::RecordKind;
use docent_http::{Query, State};
use serde::Serialize;
use std::collections::HashMap;

/// Readers shown on the page of a document.
const FIRST: PageRequest = PageRequest { offset: 0, limit: 10 };

#[derive(Serialize)]
pub(super) struct ReadersPage {
    /// ID of the document.
    id: String,
    document_title: String,
    readers: Vec<ReaderRow>,
    paging: Paging,
}

/// First readers of a document.
#[derive(Serialize)]
pub(super) struct ReadersView {
    rows: Vec<ReaderRow>,
    /// Number of all.
    total: u64,
}

/// Table row of readers.
#[derive(Serialize)]
struct ReaderRow {
    /// Name of the account or group; none for every account.
    name: Option<String>,
    /// Page of the account, or list of the accounts of the group.
    page: Option<String>,
    is_group: bool,
    is_active: bool,
    reason: String,
    /// Name and page of the collection that the reason is about.
    collection: Option<(String, String)>,
}

impl ReaderRow {
    fn of(reader: &Reader, names: &HashMap<CollectionId, String>, staff: &Staff) -> Self {
        let (reason, collection) = match reader.reason {
            Reason::Owner(id) => (t!("reader-owner"), Some(id)),
            Reason::Role(id, role) => (t!("reader-role", role = role_name(role)), Some(id)),
            Reason::Permission => (t!("reader-permission"), None),
            Reason::Superuser => (t!("reader-superuser"), None),
        };
        let collection = collection.map(|id| {
            let name = names.get(&id).map(|name| collection_name(name)).unwrap_or_default();
            (name, format!("{ROOT}/collections/{id}"))
        });
        Self {
            name: Some(reader.name.clone()).filter(|_| reader.who != Who::Everyone),
            page: match reader.who {
                Who::Everyone => Some(format!("{ROOT}/users?active=yes")),
                Who::User(id) => kinds::page(RecordKind::User, &id.to_string(), &staff.actor),
                Who::Group(id) => Some(format!("{ROOT}/users?group={id}")),
            },
            is_group: matches!(reader.who, Who::Group(_)),
            is_active: reader.is_active,
            reason,
            collection,
        }
    }
}

fn grants(staff: &Staff) -> Result<ReaderGrants, PageError> {
    Ok((staff.authorize()?, staff.authorize()?, staff.authorize()?))
}

fn rows(found: &DocumentReaders, staff: &Staff) -> Vec<ReaderRow> {
    found.readers.records.iter().map(|reader| ReaderRow::of(reader, &found.collections, staff)).collect()
}

impl ReadersView {
    /// The first readers, if the user may view them.
    pub(super) async fn read(
        staff: &Staff,
        context: &State,
        id: DocumentId,
    ) -> Result<Option<Self>, PageError> {
        let Ok(grants) = grants(staff) else { return Ok(None) };
        let found = use_case::of_document(&context.app, grants, id, FIRST).await?;
        Ok(Some(Self { rows: rows(&found, staff), total: found.readers.total }))
    }
}

pub(super) async fn readers(staff: Staff, context: State, id: Path<String>, query: Query) -> PageResult {
    let (grants, number) = (grants(&staff)?, PageNumber::of(&query));
    let id: DocumentId = id_of(RecordKind::Document, &id)?;
    let found = use_case::of_document(&context.app, grants, id, number.page()).await?;
    let rows = rows(&found, &staff);
    let path = format!("{ROOT}/documents/{id}/readers");
    let page = ReadersPage {
        id: id.to_string(),
        document_title: found.document.title.as_str().to_owned(),
        paging: Paging::of(number, rows.len(), found.readers.total, &path, &[]),
        readers: rows,
    };
    staff.show(&context, "documents", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl ReaderRow {
        fn samples() -> Vec<Self> {
            let row = |name: Option<&str>, is_group, is_active, collection: Option<(&str, &str)>| Self {
                name: name.map(str::to_owned),
                page: Some("/admin/users".to_owned()),
                is_group,
                is_active,
                reason: "viewer on".to_owned(),
                collection: collection.map(|(name, page)| (name.to_owned(), page.to_owned())),
            };
            let on = Some(("Everyone", "/admin/collections/1"));
            vec![
                row(None, false, true, on),
                row(Some("Legal"), true, true, on),
                row(Some("a@example.com"), false, false, None),
                Self { page: None, ..row(Some("b@example.com"), false, true, None) },
            ]
        }
    }

    impl ReadersView {
        pub(crate) fn sample() -> Self {
            Self { rows: ReaderRow::samples(), total: 12 }
        }
    }

    impl Samples for ReadersPage {
        fn samples() -> Vec<Self> {
            vec![Self {
                id: "1".to_owned(),
                document_title: "Title".to_owned(),
                readers: ReaderRow::samples(),
                paging: Paging::sample(),
            }]
        }
    }
}
