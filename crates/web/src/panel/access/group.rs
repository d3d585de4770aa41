//! `/admin/groups/add`, `/admin/groups/{id}` and `/admin/groups/{id}/delete`

use super::{
    editing::{Deletion, Editing},
    field::{self, Field, Picker},
};
use crate::panel::{
    form::{FieldErrors, Form, mark},
    page::{self, PageResult},
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

/// Submitted form values of a group, valid or not.
pub(super) struct GroupForm {
    name: String,
    permissions: PermissionSet,
}

impl Editing for GroupForm {
    type Record = Group;
    type Id = GroupId;
    type New = (GroupName, PermissionSet);
    type Wanted = (GroupName, PermissionSet);
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

    fn mark(group: &Group) -> String {
        let permissions: Vec<_> = group.permissions.iter().map(|permission| permission.to_string()).collect();
        mark(&(group.name.as_str(), permissions))
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

    fn new_record(&self, _: &Form, errors: &mut FieldErrors) -> Option<Self::New> {
        self.wanted(errors)
    }

    fn wanted(&self, errors: &mut FieldErrors) -> Option<Self::Wanted> {
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
        let (actor, mut values) = (&staff.actor, staff.page(Self::SECTION));
        let name = Field::line("text", "name", "Name", &self.name).required();
        let picker = Picker::permissions(actor, self.permissions);
        field::insert(&mut values, vec![name], vec![picker], errors);
        values.insert("group", &group.map(|group| group.id.to_string()));
        values.insert("name", group.map_or("", |group| group.name.as_str()));
        values.insert("seen", &group.map(Self::mark));
        values.insert("may_change", &group.is_none_or(|group| Self::may_change(group, actor)));
        values.insert("may_delete", &group.is_some_and(|group| Self::may_delete(group, actor)));
        values.insert("may_view_users", &actor.authorize::<ViewUsers>().is_ok());
        values.insert("may_view_audit", &actor.authorize::<ViewAuditLog>().is_ok());
        page::show_values(context, status, "group.html", &values)
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
        (name, permissions): Self::New,
    ) -> Result<(GroupId, String), Error> {
        let group = groups::create(app, actor, grant, name, permissions).await?;
        Ok((group.id, group.name.as_str().to_owned()))
    }

    async fn change(
        app: &App,
        actor: &Actor,
        grant: Grant<ChangeGroups>,
        id: GroupId,
        (name, permissions): Self::Wanted,
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
