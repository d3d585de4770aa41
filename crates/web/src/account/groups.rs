//! `/account/groups`: the groups of the account, and the members of those that it manages.

use super::nav::ROOT;
use crate::paging::PageNumber;
use crate::signed_in::field::FormView;
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::invited::AddressDraft;
use crate::signed_in::members::{self, Added, MembersView};
use crate::signed_in::page::{self, PageError, PageResult, id_of};
use crate::signed_in::session::SignedIn;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use docent_app::accounts::group_members as use_case;
use docent_app::error::Error;
use docent_domain::group::Group;
use docent_domain::permission::RecordKind;
use docent_http::{Query, State};
use serde::Serialize;

/// Groups of the account.
#[derive(Serialize)]
pub(super) struct GroupsPage {
    groups: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    name: String,
    is_managed: bool,
}

/// Members of a group that the account manages.
#[derive(Serialize)]
pub(super) struct ManagedGroupPage {
    name: String,
    members: MembersView,
}

fn address(group: &Group) -> String {
    format!("{ROOT}/groups/{}", group.id)
}

/// The group, if the account manages it.
async fn managed(signed_in: &SignedIn, context: &State, id: &str) -> Result<Group, PageError> {
    let id = id_of(RecordKind::Group, id)?;
    let own = use_case::own(&context.app, &signed_in.actor).await?;
    let found = own.into_iter().find(|(group, is_managed)| group.id == id && *is_managed);
    Ok(found.ok_or(Error::NotFound(RecordKind::Group))?.0)
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    let own = use_case::own(&context.app, &signed_in.actor).await?;
    let row = |(group, is_managed): (Group, bool)| Row {
        id: group.id.to_string(),
        name: group.name.as_str().to_owned(),
        is_managed,
    };
    let page = GroupsPage { groups: own.into_iter().map(row).collect() };
    signed_in.show_account(StatusCode::OK, &context, "groups", page)
}

pub(super) async fn group(signed_in: SignedIn, context: State, id: Path<String>, query: Query) -> PageResult {
    let group = managed(&signed_in, &context, &id).await?;
    let (addresses, none) = (AddressDraft::empty(&context), FieldErrors::default());
    show_group(&signed_in, &context, &group, PageNumber::of(&query), &addresses, &none).await
}

async fn show_group(
    signed_in: &SignedIn,
    context: &State,
    group: &Group,
    number: PageNumber,
    addresses: &AddressDraft,
    errors: &FieldErrors,
) -> PageResult {
    let (_, rights, found) = use_case::page(&context.app, &signed_in.actor, group.id, number.page()).await?;
    // Staff make managers on the page of the panel.
    let rights = use_case::MemberRights { can_set_managers: false, ..rights };
    let form = FormView::of(addresses.fields(context), Vec::new(), errors);
    let (path, me) = (address(group), signed_in.actor.user());
    let members = MembersView::of(&found, rights, (&path, number), form, (me, |_| None));
    let page = ManagedGroupPage { name: group.name.as_str().to_owned(), members };
    signed_in.show_account(errors.status(), context, "groups", page)
}

pub(super) async fn add(signed_in: SignedIn, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let group = managed(&signed_in, &context, &id).await?;
    let section = (group.name.as_str().to_owned(), Some(address(&group)));
    match members::add(&signed_in, &context, group.id, &form, section, |_| None).await? {
        Added::Members => Ok(page::see_other(&address(&group))),
        Added::Page(page) => signed_in.show_account(StatusCode::OK, &context, "groups", page),
        Added::Invalid(draft, errors) => {
            show_group(&signed_in, &context, &group, PageNumber::FIRST, &draft, &errors).await
        }
    }
}

pub(super) async fn remove(
    signed_in: SignedIn,
    context: State,
    id: Path<String>,
    form: OwnForm,
) -> PageResult {
    let group = managed(&signed_in, &context, &id).await?;
    let is_own = members::member_of(&form)? == signed_in.actor.user();
    let back = if is_own { format!("{ROOT}/groups") } else { address(&group) };
    members::remove(&signed_in, &context, group.id, &form, &back).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for GroupsPage {
        fn samples() -> Vec<Self> {
            let row = |is_managed| Row { id: "1".to_owned(), name: "Group".to_owned(), is_managed };
            vec![Self { groups: vec![row(true), row(false)] }, Self { groups: Vec::new() }]
        }
    }

    impl Samples for ManagedGroupPage {
        fn samples() -> Vec<Self> {
            MembersView::samples().map(|members| Self { name: "Group".to_owned(), members }).into()
        }
    }
}
