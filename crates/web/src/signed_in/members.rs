//! Members of a group, on its page in the panel and on that of its managers.

use super::field::FormView;
use super::form::{FieldErrors, Form, OwnForm};
use super::invited::{AddressDraft, InvitedPage};
use super::page::{self, PageError, PageResult};
use super::session::SignedIn;
use crate::language::{self, t};
use crate::paging::{PageNumber, Paging};
use docent_app::accounts::group_members::{self as use_case, GroupMember, MemberOutcome, MemberRights};
use docent_app::error::Error;
use docent_domain::error::{Rule, ValidationError};
use docent_domain::id::{GroupId, UserId};
use docent_domain::listing::Page;
use docent_http::State;
use serde::Serialize;

/// Members of a group, and the form to add some, shown by `group_members.html`.
#[derive(Serialize)]
pub(crate) struct MembersView {
    rows: Vec<Row>,
    paging: Paging,
    /// Path of the forms.
    path: String,
    form: FormView,
    may_change: bool,
    may_set_managers: bool,
}

#[derive(Serialize)]
struct Row {
    id: String,
    email: String,
    /// Name that the person chose.
    name: Option<String>,
    /// Page of the account, for users who can view it.
    page: Option<String>,
    is_manager: bool,
    may_remove: bool,
}

impl MembersView {
    /// A page of the members of the group with the page at `group`.
    pub(crate) fn of(
        found: &Page<GroupMember>,
        rights: MemberRights,
        (group, number): (&str, PageNumber),
        form: FormView,
        (me, page_of): (UserId, impl Fn(UserId) -> Option<String>),
    ) -> Self {
        let row = |member: &GroupMember| Row {
            id: member.user.id.to_string(),
            email: member.user.email.as_str().to_owned(),
            name: member.user.name.as_ref().map(String::from),
            page: page_of(member.user.id),
            is_manager: member.is_manager,
            may_remove: rights.can_change
                && (!member.is_manager || rights.can_set_managers || member.user.id == me),
        };
        Self {
            rows: found.records.iter().map(row).collect(),
            paging: Paging::of(number, found.records.len(), found.total, group, &[]),
            path: format!("{group}/members"),
            form,
            may_change: rights.can_change,
            may_set_managers: rights.can_set_managers,
        }
    }
}

/// What follows a form that adds members.
pub(crate) enum Added {
    /// All of them are members now.
    Members,
    /// The page with the outcome for each address.
    Page(InvitedPage),
    /// The form again.
    Invalid(AddressDraft, FieldErrors),
}

/// Adds members by the addresses of a form; invites people who have no account.
pub(crate) async fn add(
    signed_in: &SignedIn,
    context: &State,
    id: GroupId,
    form: &Form,
    section: (String, Option<String>),
    page_of: impl Fn(UserId) -> Option<String>,
) -> Result<Added, PageError> {
    let (draft, mut errors) = (AddressDraft::submitted(form), FieldErrors::default());
    let Some(emails) = draft.parse(&mut errors) else { return Ok(Added::Invalid(draft, errors)) };
    match use_case::add(&context.app, &signed_in.actor, id, &emails, draft.delivery).await {
        Ok(outcomes) if outcomes.iter().all(|(_, outcome)| matches!(outcome, MemberOutcome::Added(_))) => {
            signed_in.notify(t!("group-members-added", count = outcomes.len()))?;
            Ok(Added::Members)
        }
        Ok(outcomes) => {
            Ok(Added::Page(InvitedPage::of_members(&outcomes, section, page_of, context.app.now())))
        }
        Err(Error::Invalid(invalid)) => {
            errors.add("emails", language::reason(&invalid));
            Ok(Added::Invalid(draft, errors))
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes the member of a form, and returns to the page of the group.
pub(crate) async fn remove(
    signed_in: &SignedIn,
    context: &State,
    id: GroupId,
    form: &OwnForm,
    back: &str,
) -> PageResult {
    let user = member_of(form)?;
    match use_case::remove(&context.app, &signed_in.actor, id, user).await {
        Ok(()) => signed_in.notify(t!("member-removed"))?,
        Err(Error::MemberNotFound) => signed_in.warn(t!("member-removed-before"))?,
        Err(error) => return Err(error.into()),
    }
    Ok(page::see_other(back))
}

/// The account that a form names.
pub(crate) fn member_of(form: &Form) -> Result<UserId, Error> {
    form.text("user").parse().map_err(|_| ValidationError::of("user", Rule::Exists).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl MembersView {
        /// Members that can be changed, and members that can only be viewed.
        pub(crate) fn samples() -> [Self; 2] {
            let [form, with_errors] = FormView::samples();
            let row = |page: Option<&str>, is_manager: bool| Row {
                id: "1".to_owned(),
                email: "a@example.com".to_owned(),
                name: is_manager.then(|| "Ada".to_owned()),
                page: page.map(str::to_owned),
                is_manager,
                may_remove: !is_manager,
            };
            let view = |rows: Vec<Row>, form, is_allowed| Self {
                paging: if is_allowed { Paging::sample() } else { Paging::empty() },
                rows,
                path: "/admin/groups/1/members".to_owned(),
                form,
                may_change: is_allowed,
                may_set_managers: is_allowed,
            };
            let rows = vec![row(Some("/admin/users/1"), true), row(None, false)];
            [view(rows, with_errors, true), view(Vec::new(), form, false)]
        }
    }
}
