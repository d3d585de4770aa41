//! `/admin/groups/add`, `/admin/groups/{id}` and `/admin/groups/{id}/delete`

use super::pickers;
use super::tables::page_of;
use crate::language::t;
use crate::paging::PageNumber;
use crate::panel::nav::ROOT;
use crate::signed_in::confirm::ConfirmPage;
use crate::signed_in::field::{Field, FormView, Picker};
use crate::signed_in::form::{FieldErrors, Form, OwnForm, digest, is_stale};
use crate::signed_in::invited::AddressDraft;
use crate::signed_in::members::MembersView;
use crate::signed_in::page::{self, PageError, PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use docent_app::accounts::{group_members, groups, single_sign_on};
use docent_app::error::Error;
use docent_app::scope;
use docent_domain::access::{AddGroups, ChangeGroups, DeleteGroups, ViewAuditLog, ViewGroups, ViewUsers};
use docent_domain::delegation::Access;
use docent_domain::group::{Group, GroupName};
use docent_domain::id::GroupId;
use docent_domain::permission::{PermissionSet, RecordKind};
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct GroupPage {
    #[serde(flatten)]
    form: FormView,
    /// ID of the group; none for a new one.
    group: Option<String>,
    name: String,
    /// Digest of the shown group, to detect concurrent changes.
    seen: Option<String>,
    may_change: bool,
    may_delete: bool,
    may_view_users: bool,
    may_view_audit: bool,
    /// None for a new group, and for users who may not see the members.
    members: Option<MembersView>,
}

/// Form values of a group, valid or not.
struct Draft {
    name: String,
    permissions: PermissionSet,
}

impl Draft {
    fn of(group: &Group) -> Self {
        Self { name: group.name.as_str().to_owned(), permissions: group.permissions }
    }

    fn submitted(form: &Form, errors: &mut FieldErrors) -> Self {
        Self { name: form.text("name").to_owned(), permissions: pickers::permissions(form, errors) }
    }

    /// Name of the group, if the form is valid.
    fn valid_name(&self, errors: &mut FieldErrors) -> Option<GroupName> {
        errors.take("name", GroupName::parse(&self.name)).filter(|_| errors.is_empty())
    }

    /// Renders the form of a group, or of a new one.
    async fn show(
        &self,
        staff: &Staff,
        context: &State,
        shown: Option<&(Group, Access)>,
        errors: &FieldErrors,
        members: Option<MembersView>,
    ) -> PageResult {
        self.show_with(staff, context, shown, (errors, errors.status()), members).await
    }

    async fn show_with(
        &self,
        staff: &Staff,
        context: &State,
        shown: Option<&(Group, Access)>,
        (errors, status): (&FieldErrors, StatusCode),
        members: Option<MembersView>,
    ) -> PageResult {
        let group = shown.map(|(group, _)| group);
        let may_delete = match shown {
            Some((_, access)) => may_delete(staff, context, access).await?,
            None => false,
        };
        let name = Field::line("text", "name", t!("name"), &self.name).required();
        let managers = group.map(|group| managers(context, &group.name)).filter(|all| !all.is_empty());
        let name = match managers {
            Some(providers) => name.help(t!("group-managed-name", providers = providers)),
            None => name,
        };
        let picker = Picker::permissions(&staff.actor, self.permissions);
        let page = GroupPage {
            form: FormView::of(vec![name], vec![picker], errors),
            group: group.map(|group| group.id.to_string()),
            name: group.map_or_else(String::new, |group| group.name.as_str().to_owned()),
            seen: group.map(revision),
            may_change: group.is_none() || staff.can::<ChangeGroups>(),
            may_delete,
            may_view_users: staff.can::<ViewUsers>(),
            may_view_audit: staff.can::<ViewAuditLog>(),
            members,
        };
        staff.show_with(status, context, "groups", page)
    }
}

/// The identity providers that decide who is a member of the group with this name.
fn managers(context: &State, name: &GroupName) -> String {
    single_sign_on::managers_of_group(&context.app, name).join(", ")
}

/// Digest of a group, to detect concurrent changes.
fn revision(group: &Group) -> String {
    let permissions: Vec<_> = group.permissions.iter().map(|permission| permission.to_string()).collect();
    digest(&(group.name.as_str(), permissions))
}

async fn may_delete(staff: &Staff, context: &State, access: &Access) -> Result<bool, Error> {
    let scope = scope::load(&context.app, &staff.actor).await?;
    Ok(staff.actor.can_manage(&scope, access) && staff.can::<DeleteGroups>())
}

pub(super) fn address(id: GroupId) -> String {
    format!("{ROOT}/groups/{id}")
}

pub(super) async fn read(staff: &Staff, context: &State, id: &str) -> Result<(Group, Access), PageError> {
    let grant = staff.authorize::<ViewGroups>()?;
    Ok(groups::get(&context.app, grant, id_of(RecordKind::Group, id)?).await?)
}

pub(super) async fn add(staff: Staff, context: State) -> PageResult {
    staff.authorize::<AddGroups>()?;
    let draft = Draft { name: String::new(), permissions: PermissionSet::EMPTY };
    draft.show(&staff, &context, None, &FieldErrors::default(), None).await
}

pub(super) async fn create(staff: Staff, context: State, form: OwnForm) -> PageResult {
    let grant = staff.authorize::<AddGroups>()?;
    let mut errors = FieldErrors::default();
    let draft = Draft::submitted(&form, &mut errors);
    if let Some(name) = draft.valid_name(&mut errors) {
        match groups::create(&context.app, &staff.actor, grant, name, draft.permissions).await {
            Ok(group) => {
                staff.notify(t!("group-created", name = group.name.as_str()))?;
                let may_view = staff.can::<ViewGroups>();
                return Ok(page::see_other(&if may_view { address(group.id) } else { ROOT.to_owned() }));
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    draft.show(&staff, &context, None, &errors, None).await
}

pub(super) async fn show(staff: Staff, context: State, id: Path<String>, query: Query) -> PageResult {
    let shown = read(&staff, &context, &id).await?;
    let (number, addresses) = (PageNumber::of(&query), AddressDraft::empty(&context));
    let none = FieldErrors::default();
    let members = members(&staff, &context, shown.0.id, number, &addresses, &none).await?;
    Draft::of(&shown.0).show(&staff, &context, Some(&shown), &none, members).await
}

/// The page with the form for new members as it was submitted.
pub(super) async fn show_members(
    staff: &Staff,
    context: &State,
    shown: &(Group, Access),
    addresses: &AddressDraft,
    errors: &FieldErrors,
) -> PageResult {
    let members = members(staff, context, shown.0.id, PageNumber::FIRST, addresses, errors).await?;
    let draft = Draft::of(&shown.0);
    draft.show_with(staff, context, Some(shown), (&FieldErrors::default(), errors.status()), members).await
}

/// The members, if the user may see them.
async fn members(
    staff: &Staff,
    context: &State,
    id: GroupId,
    number: PageNumber,
    addresses: &AddressDraft,
    errors: &FieldErrors,
) -> Result<Option<MembersView>, PageError> {
    let (_, rights, found) = match group_members::page(&context.app, &staff.actor, id, number.page()).await {
        Err(Error::NotFound(_)) => return Ok(None),
        found => found?,
    };
    let form = FormView::of(addresses.fields(context), Vec::new(), errors);
    let (group, me) = (address(id), staff.actor.user());
    Ok(Some(MembersView::of(&found, rights, (&group, number), form, (me, |user| page_of(staff, user)))))
}

pub(super) async fn change(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    staff.authorize::<ViewGroups>()?;
    let grant = staff.authorize::<ChangeGroups>()?;
    let shown = read(&staff, &context, &id).await?;
    let group = &shown.0;
    if is_stale(&form, &revision(group)) {
        staff.warn(t!("record-stale"))?;
        return Ok(page::see_other(&address(group.id)));
    }
    let mut errors = FieldErrors::default();
    let draft = Draft::submitted(&form, &mut errors);
    if let Some(name) = draft.valid_name(&mut errors) {
        match groups::change(&context.app, &staff.actor, grant, group.id, name, draft.permissions).await {
            Ok(_) => {
                staff.notify(t!("group-saved"))?;
                return Ok(page::see_other(&address(group.id)));
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    let (addresses, none) = (AddressDraft::empty(&context), FieldErrors::default());
    let members = members(&staff, &context, shown.0.id, PageNumber::FIRST, &addresses, &none).await?;
    draft.show(&staff, &context, Some(&shown), &errors, members).await
}

pub(super) async fn confirm(staff: Staff, context: State, id: Path<String>) -> PageResult {
    staff.authorize::<DeleteGroups>()?;
    let (group, access) = read(&staff, &context, &id).await?;
    if !may_delete(&staff, &context, &access).await? {
        return Err(Error::Forbidden.into());
    }
    let mut consequences = vec![t!("group-delete-members")];
    let providers = managers(&context, &group.name);
    if !providers.is_empty() {
        consequences.push(t!("group-managed-delete", providers = providers));
    }
    consequences.push(t!("cannot-be-undone"));
    let page = ConfirmPage {
        section: t!("records-group"),
        section_href: format!("{ROOT}/groups"),
        name: group.name.as_str(),
        question: t!("group-delete-question"),
        consequences,
        action: format!("{}/delete", address(group.id)),
        verb: t!("group-delete-verb"),
        cancel: address(group.id),
    };
    staff.show(&context, "groups", page)
}

pub(super) async fn delete(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    staff.authorize::<ViewGroups>()?;
    let (grant, id) = (staff.authorize::<DeleteGroups>()?, id_of(RecordKind::Group, &id)?);
    let group = groups::delete(&context.app, &staff.actor, grant, id).await?;
    staff.notify(t!("group-deleted", name = group.name.as_str()))?;
    Ok(page::see_other(&format!("{ROOT}/groups")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for GroupPage {
        fn samples() -> Vec<Self> {
            let page = |form, group: Option<&str>, is_allowed| Self {
                form,
                group: group.map(str::to_owned),
                name: "Group".to_owned(),
                seen: group.map(str::to_owned),
                may_change: is_allowed,
                may_delete: is_allowed,
                may_view_users: is_allowed,
                may_view_audit: is_allowed,
                members: None,
            };
            let [form, with_errors] = FormView::samples();
            let [other, _] = FormView::samples();
            let [members, seen] = MembersView::samples();
            vec![
                Self { members: Some(members), ..page(form, Some("1"), true) },
                Self { members: Some(seen), ..page(other, Some("1"), false) },
                page(with_errors, None, true),
            ]
        }
    }
}
