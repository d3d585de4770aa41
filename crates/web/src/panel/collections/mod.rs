//! Collections of documents and their members.
//!
//! Staff with the permission view all collections. Other staff view those that they have a role on, and manage those
//! that they are managers of.

mod collection;
mod list;
mod member_form;
mod members;
mod names;

pub(super) use self::names::{readers, role_name, roles};

use super::nav::ROOT;
use crate::signed_in::layout::Framed;
use crate::templates::pages;
use docent_domain::id::CollectionId;
use docent_http::routes;

routes! {
    below "/admin":
    "/collections"              { GET => list::collections }
    "/collections/add"          { GET => collection::add, POST => collection::create }
    "/collections/{id}"         { GET => collection::show, POST => collection::change }
    "/collections/{id}/delete"  { GET => collection::confirm, POST => collection::delete }
    "/collections/{id}/members" { POST => members::set }
    "/collections/{id}/members/remove" { POST => members::remove }
}

pages! {
    Framed<list::CollectionsPage> => "collections.html"
    Framed<collection::CollectionPage> => "collection.html"
}

/// Path of the page of a collection.
fn address(id: CollectionId) -> String {
    format!("{ROOT}/collections/{id}")
}
