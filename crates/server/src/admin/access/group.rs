//! `/admin/groups/add`, `/admin/groups/{id}` and `/admin/groups/{id}/delete`

use super::{
    field::{self, Field, Picker},
    user::permissions,
};
use crate::{
    admin::{
        ROOT,
        form::{FieldErrors, OwnForm, STALE, mark},
        page::{self, Broken},
        session::Staff,
    },
    context::State,
};
use actix_web::{HttpResponse, http::StatusCode, web::Path};
use docent_app::{accounts::groups, error::Error};
use docent_domain::{
    access::{AddGroups, ChangeGroups, DeleteGroups, ViewAuditLog, ViewGroups, ViewUsers},
    group::{Group, GroupName},
    id::GroupId,
    permission::{PermissionSet, RecordKind},
};

/// What a form says of a group, right or wrong.
struct Draft {
    name: String,
    permissions: PermissionSet,
}

fn id_of(id: &str) -> Result<GroupId, Error> {
    id.parse().map_err(|_| Error::NotFound(RecordKind::Group))
}

/// Shows the form: of this group, or of a new one.
fn show_form(
    staff: &Staff,
    context: &State,
    status: StatusCode,
    group: Option<&Group>,
    draft: &Draft,
    errors: &FieldErrors,
) -> Result<HttpResponse, Broken> {
    let mut values = staff.page("groups");
    let name = Field::line("text", "name", "Name", &draft.name).required();
    let picker = Picker::permissions(&staff.actor, draft.permissions);
    field::insert(&mut values, vec![name], vec![picker], errors);
    let may_save = match group {
        Some(_) => staff.actor.may::<ChangeGroups>().is_ok(),
        None => true,
    };
    values.insert("group", &group.map(|group| group.id.to_string()));
    values.insert("name", group.map_or("", |group| group.name.as_str()));
    values.insert("may_change", &may_save);
    values.insert("seen", &group.map(mark_of));
    let has_all = group.is_some_and(|group| staff.actor.permissions().contains_all(group.permissions));
    values.insert("may_delete", &(has_all && staff.actor.may::<DeleteGroups>().is_ok()));
    values.insert("may_view_users", &staff.actor.may::<ViewUsers>().is_ok());
    values.insert("may_view_audit", &staff.actor.may::<ViewAuditLog>().is_ok());
    page::show(context, status, "group.html", &values)
}

pub(super) async fn add(staff: Staff, context: State) -> Result<HttpResponse, Broken> {
    staff.may::<AddGroups>()?;
    let draft = Draft { name: String::new(), permissions: PermissionSet::EMPTY };
    show_form(&staff, &context, StatusCode::OK, None, &draft, &FieldErrors::default())
}

pub(super) async fn create(
    staff: Staff,
    context: State,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    let grant = staff.may::<AddGroups>()?;
    let mut errors = FieldErrors::default();
    let draft = Draft { name: form.text("name").to_owned(), permissions: permissions(&form, &mut errors) };
    let name = errors.take("name", GroupName::parse(&draft.name));
    if let (Some(name), true) = (name, errors.is_empty()) {
        match groups::create(&context.app, &staff.actor, grant, name, draft.permissions).await {
            Ok(group) => {
                staff.say(format!("The group {} was created.", group.name.as_str()))?;
                let may_view = staff.actor.may::<ViewGroups>().is_ok();
                let onward = if may_view { format!("{ROOT}/groups/{}", group.id) } else { ROOT.to_owned() };
                return Ok(page::see_other(&onward));
            }
            Err(error) => errors.hear(error)?,
        }
    }
    show_form(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, None, &draft, &errors)
}

pub(super) async fn show(staff: Staff, context: State, id: Path<String>) -> Result<HttpResponse, Broken> {
    let group = groups::get(&context.app, staff.may::<ViewGroups>()?, id_of(&id)?).await?;
    let draft = Draft { name: group.name.as_str().to_owned(), permissions: group.permissions };
    show_form(&staff, &context, StatusCode::OK, Some(&group), &draft, &FieldErrors::default())
}

pub(super) async fn change(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    let (view, grant) = (staff.may::<ViewGroups>()?, staff.may::<ChangeGroups>()?);
    let group = groups::get(&context.app, view, id_of(&id)?).await?;
    if form.is_stale(&mark_of(&group)) {
        staff.complain(STALE)?;
        return Ok(page::see_other(&format!("{ROOT}/groups/{}", group.id)));
    }
    let mut errors = FieldErrors::default();
    let draft = Draft { name: form.text("name").to_owned(), permissions: permissions(&form, &mut errors) };
    let name = errors.take("name", GroupName::parse(&draft.name));
    if let (Some(name), true) = (name, errors.is_empty()) {
        match groups::change(&context.app, &staff.actor, grant, group.id, name, draft.permissions).await {
            Ok(group) => {
                staff.say("The group was saved.")?;
                return Ok(page::see_other(&format!("{ROOT}/groups/{}", group.id)));
            }
            Err(error) => errors.hear(error)?,
        }
    }
    show_form(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, Some(&group), &draft, &errors)
}

/// The mark of what the form shows of a group.
fn mark_of(group: &Group) -> String {
    let permissions: Vec<_> = group.permissions.iter().map(|permission| permission.to_string()).collect();
    mark(&(group.name.as_str(), permissions))
}

pub(super) async fn confirm(staff: Staff, context: State, id: Path<String>) -> Result<HttpResponse, Broken> {
    staff.may::<DeleteGroups>()?;
    let group = groups::get(&context.app, staff.may::<ViewGroups>()?, id_of(&id)?).await?;
    let path = format!("{ROOT}/groups/{}", group.id);
    let mut values = staff.page("groups");
    values.insert("section", "Groups");
    values.insert("section_href", &format!("{ROOT}/groups"));
    values.insert("name", group.name.as_str());
    values.insert("question", "Delete this group?");
    values.insert(
        "consequences",
        &["Its members lose what it allows them, at once. Their accounts stay.", "This cannot be undone."],
    );
    values.insert("action", &format!("{path}/delete"));
    values.insert("verb", "Delete the group");
    values.insert("cancel", &path);
    page::show(&context, StatusCode::OK, "confirm.html", &values)
}

pub(super) async fn delete(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(_): OwnForm,
) -> Result<HttpResponse, Broken> {
    staff.may::<ViewGroups>()?;
    let group = groups::delete(&context.app, &staff.actor, staff.may::<DeleteGroups>()?, id_of(&id)?).await?;
    staff.say(format!("The group {} was deleted.", group.name.as_str()))?;
    Ok(page::see_other(&format!("{ROOT}/groups")))
}
