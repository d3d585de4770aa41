//! `/admin/groups/add`, `/admin/groups/{id}` and `/admin/groups/{id}/delete`

use super::{
    editing::{Deletion, Editing},
    field::{self, Field, FormView, Picker},
};
use crate::panel::{
    form::{FieldErrors, Form, revision},
    page::PageResult,
    session::Staff,
};
use actix_web::http::StatusCode;
use docent_app::{App, accounts::groups, error::Error};
use docent_domain::{
    access::{Actor, AddGroups, ChangeGroups, DeleteGroups, Grant, ViewAuditLog, ViewGroups, ViewUsers},
    group::{Group, GroupName},
    id::GroupId,
    permission::{PermissionSet, RecordKind},
};
use docent_http::context::State;
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
}

/// Submitted form values of a group, valid or not.
pub(super) struct GroupForm {
    name: String,
    permissions: PermissionSet,
}

impl Editing for GroupForm {
    type Record = Group;
    type Id = GroupId;
    type CreateInput = (GroupName, PermissionSet);
    type ChangeInput = (GroupName, PermissionSet);
    type View = ViewGroups;
    type Add = AddGroups;
    type Change = ChangeGroups;
    type Delete = DeleteGroups;

    const KIND: RecordKind = RecordKind::Group;
    const SECTION: &'static str = "groups";
    const NOUN: &'static str = "group";

    fn id(group: &Group) -> GroupId {
        group.id
    }

    fn revision(group: &Group) -> String {
        let permissions: Vec<_> = group.permissions.iter().map(|permission| permission.to_string()).collect();
        revision(&(group.name.as_str(), permissions))
    }

    fn empty() -> Self {
        Self { name: String::new(), permissions: PermissionSet::EMPTY }
    }

    fn of(group: &Group) -> Self {
        Self { name: group.name.as_str().to_owned(), permissions: group.permissions }
    }

    fn sent(form: &Form, errors: &mut FieldErrors) -> Self {
        Self { name: form.text("name").to_owned(), permissions: field::permissions(form, errors) }
    }

    fn create_input(&self, _: &Form, errors: &mut FieldErrors) -> Option<Self::CreateInput> {
        self.change_input(errors)
    }

    fn change_input(&self, errors: &mut FieldErrors) -> Option<Self::ChangeInput> {
        let name = errors.take("name", GroupName::parse(&self.name))?;
        Some((name, self.permissions))
    }

    async fn show(
        &self,
        staff: &Staff,
        context: &State,
        status: StatusCode,
        group: Option<&Group>,
        errors: &FieldErrors,
    ) -> PageResult {
        let actor = &staff.actor;
        let name = Field::line("text", "name", "Name", &self.name).required();
        let picker = Picker::permissions(actor, self.permissions);
        let page = GroupPage {
            form: FormView::of(vec![name], vec![picker], errors),
            group: group.map(|group| group.id.to_string()),
            name: group.map_or_else(String::new, |group| group.name.as_str().to_owned()),
            seen: group.map(Self::revision),
            may_change: group.is_none_or(|group| Self::may_change(group, actor)),
            may_delete: group.is_some_and(|group| Self::may_delete(group, actor)),
            may_view_users: staff.can::<ViewUsers>(),
            may_view_audit: staff.can::<ViewAuditLog>(),
        };
        staff.show_with(status, context, Self::SECTION, page)
    }

    fn may_change(_: &Group, actor: &Actor) -> bool {
        actor.authorize::<ChangeGroups>().is_ok()
    }

    fn may_delete(group: &Group, actor: &Actor) -> bool {
        actor.can_manage(group.permissions) && actor.authorize::<DeleteGroups>().is_ok()
    }

    fn deletion(group: &Group) -> Deletion<'_> {
        Deletion {
            name: group.name.as_str(),
            consequences: &[
                "Members immediately lose the permissions of this group. Their accounts are not deleted.",
                "This cannot be undone.",
            ],
        }
    }

    async fn get(app: &App, grant: Grant<ViewGroups>, id: GroupId) -> Result<Group, Error> {
        groups::get(app, grant, id).await
    }

    async fn create(
        app: &App,
        actor: &Actor,
        grant: Grant<AddGroups>,
        (name, permissions): Self::CreateInput,
    ) -> Result<(GroupId, String), Error> {
        let group = groups::create(app, actor, grant, name, permissions).await?;
        Ok((group.id, group.name.as_str().to_owned()))
    }

    async fn change(
        app: &App,
        actor: &Actor,
        grant: Grant<ChangeGroups>,
        id: GroupId,
        (name, permissions): Self::ChangeInput,
    ) -> Result<(), Error> {
        groups::change(app, actor, grant, id, name, permissions).await.map(drop)
    }

    async fn delete(
        app: &App,
        actor: &Actor,
        grant: Grant<DeleteGroups>,
        id: GroupId,
    ) -> Result<String, Error> {
        let group = groups::delete(app, actor, grant, id).await?;
        Ok(format!("The group {} was deleted.", group.name.as_str()))
    }
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
            };
            let [form, with_errors] = FormView::samples();
            let [other, _] = FormView::samples();
            vec![page(form, Some("1"), true), page(other, Some("1"), false), page(with_errors, None, true)]
        }
    }
}
