//! Pages of lists of the OpenAI API.

use super::file_object::FileObject;
use super::ids::{self, ClientId};
use super::vector_stores::object::{StoreFileObject, StoreObject};
use chrono::{DateTime, Utc};
use docent_app::App;
use docent_app::documents::{get, list};
use docent_app::error::Error;
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::Document;
use docent_domain::id::DocumentId;
use docent_domain::listing::{DocumentFilter, ListPosition, TimeOrder};
use docent_domain::scope::Scope;
use docent_http::{ApiError, Query};
use serde::Serialize;
use utoipa::ToSchema;

/// The page of a list that a client asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paging<Id> {
    /// Maximum number of objects.
    pub(crate) limit: u64,
    /// Order of the list.
    pub(crate) order: TimeOrder,
    /// The object before the page.
    pub(crate) after: Option<Id>,
    /// The object after the page.
    pub(crate) before: Option<Id>,
}

impl<Id: ClientId> Paging<Id> {
    /// Reads the parameters `limit`, `order`, `after` and `before`.
    pub(crate) fn read(query: &mut Query, default: u64, max: u64) -> Self {
        let (limit, order) = size_and_order(query, default, max);
        Self {
            limit,
            order,
            after: query.parse("after", "is not an ID of this list", ids::decode),
            before: query.parse("before", "is not an ID of this list", ids::decode),
        }
    }

    /// The object that the page adjoins, and whether the page is before it.
    fn neighbour(&self) -> Option<(Id, bool)> {
        let before = || self.before.map(|id| (id, true));
        self.after.map(|id| (id, false)).or_else(before)
    }

    /// The page of a complete list of records with their creation times.
    ///
    /// # Errors
    /// 400 for a position that cannot be determined.
    pub(crate) fn page<T>(
        &self,
        mut all: Vec<T>,
        key: impl Fn(&T) -> (DateTime<Utc>, Id),
        created_at: impl Fn(Id) -> Option<DateTime<Utc>>,
    ) -> Result<(Vec<T>, bool), ApiError>
    where
        Id: Ord,
    {
        all.sort_by_key(&key);
        if let Some((id, is_before)) = self.neighbour() {
            let known = all.iter().map(&key).find(|(_, of)| *of == id);
            let at = known.or_else(|| Some((created_at(id)?, id))).ok_or_else(unknown_position)?;
            let is_later = is_before == (self.order == TimeOrder::Newest);
            all.retain(|record| if is_later { key(record) > at } else { key(record) < at });
        }
        let is_descending = self.order == TimeOrder::Newest;
        // The records next to the position are at the end of a page before it.
        let is_before = matches!(self.neighbour(), Some((_, true)));
        if is_descending != is_before {
            all.reverse();
        }
        let has_more = all.len() as u64 > self.limit;
        all.truncate(usize::try_from(self.limit).unwrap_or(usize::MAX));
        if is_before {
            all.reverse();
        }
        Ok((all, has_more))
    }
}

/// Reads the parameters `limit` and `order`.
pub(crate) fn size_and_order(query: &mut Query, default: u64, max: u64) -> (u64, TimeOrder) {
    let msg = format!("must be a whole number from 1 to {max}");
    let limit =
        query.parse("limit", &msg, |text| text.parse().ok().filter(|limit| (1..=max).contains(limit)));
    let order = query.parse("order", "must be asc or desc", |text| match text {
        "asc" => Some(TimeOrder::Oldest),
        "desc" => Some(TimeOrder::Newest),
        _ => None,
    });
    (limit.unwrap_or(default), order.unwrap_or_default())
}

/// A page of the documents that a filter selects, and whether there are more.
///
/// # Errors
/// 400 for a position that cannot be determined; or when the database cannot be reached.
pub(crate) async fn documents(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    paging: &Paging<DocumentId>,
    filter: DocumentFilter,
) -> Result<(Vec<Document>, bool), ApiError> {
    let neighbour = paging.neighbour();
    let is_before = matches!(neighbour, Some((_, true)));
    let after = match neighbour {
        Some((id, _)) => Some(position(app, grant, scope, id).await?),
        None => None,
    };
    let order = if is_before { paging.order.reversed() } else { paging.order };
    let filter = DocumentFilter { order, after, limit: Some(paging.limit + 1), ..filter };
    let mut found = list::list(app, grant, &filter).await?;
    let has_more = found.len() as u64 > paging.limit;
    found.truncate(usize::try_from(paging.limit).unwrap_or(usize::MAX));
    if is_before {
        found.reverse();
    }
    Ok((found, has_more))
}

/// The position of a document. One that was deleted while a client reads the list has about that of its ID.
async fn position(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
) -> Result<ListPosition, ApiError> {
    let created_at = match get::get(app, grant, scope, id).await {
        Ok(document) => Some(document.created_at),
        Err(Error::NotFound(_)) => id.created_at(),
        Err(error) => return Err(error.into()),
    };
    let created_at = created_at.ok_or_else(unknown_position)?;
    Ok(ListPosition { created_at, id })
}

fn unknown_position() -> ApiError {
    ApiError::invalid_field(&["query", "after"], "is not an ID of this list")
}

macro_rules! lists {
    ($($(#[$doc:meta])* $list:ident of $object:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Serialize, ToSchema)]
        pub(crate) struct $list {
            /// Always `list`.
            object: &'static str,
            /// The objects.
            data: Vec<$object>,
            /// ID of the first object.
            #[schema(required)]
            first_id: Option<String>,
            /// ID of the last object, for `after`.
            #[schema(required)]
            last_id: Option<String>,
            /// Whether there are more objects.
            has_more: bool,
        }

        impl $list {
            /// A page.
            pub(crate) fn new(data: Vec<$object>, has_more: bool) -> Self {
                let id = |object: Option<&$object>| object.map(|object| object.id.clone());
                let (first_id, last_id) = (id(data.first()), id(data.last()));
                Self { object: "list", data, first_id, last_id, has_more }
            }
        }
    )*};
}

lists! {
    /// A page of files.
    FileList of FileObject;
    /// A page of vector stores.
    StoreList of StoreObject;
    /// A page of the files of a vector store.
    StoreFileList of StoreFileObject;
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::id::CollectionId;

    fn page(limit: u64, order: TimeOrder, after: Option<i64>, before: Option<i64>) -> (Vec<i64>, bool) {
        let at = |n: i64| DateTime::from_timestamp(n, 0).unwrap();
        let id = |n: i64| CollectionId::generate(at(n), [0; 10]);
        let paging = Paging { limit, order, after: after.map(id), before: before.map(id) };
        paging.page(vec![3, 1, 5, 2], |n| (at(*n), id(*n)), CollectionId::created_at).unwrap()
    }

    #[test]
    fn page_of_a_list_follows_or_precedes_a_position() {
        use TimeOrder::{Newest, Oldest};
        assert_eq!(page(9, Newest, None, None), (vec![5, 3, 2, 1], false));
        assert_eq!(page(2, Oldest, None, None), (vec![1, 2], true));
        assert_eq!(page(2, Newest, Some(5), None), (vec![3, 2], true));
        assert_eq!(page(2, Newest, Some(4), None), (vec![3, 2], true), "the record was deleted");
        assert_eq!(page(9, Oldest, Some(2), None), (vec![3, 5], false));
        assert_eq!(page(2, Newest, None, Some(1)), (vec![3, 2], true));
        assert_eq!(page(2, Oldest, None, Some(3)), (vec![1, 2], false));
        assert_eq!(page(9, Newest, Some(1), None), (vec![], false));
    }
}
