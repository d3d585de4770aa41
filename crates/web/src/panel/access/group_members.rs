//! `POST /admin/groups/{id}/members`, `…/members/remove` and `…/members/manager`

use super::group::{address, read, show_members};
use super::tables::page_of;
use crate::language::t;
use crate::signed_in::form::OwnForm;
use crate::signed_in::members::{self, Added, member_of};
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::accounts::group_members as use_case;
use docent_app::error::Error;
use docent_domain::access::{ChangeUsers, ViewUsers};
use docent_http::State;

pub(super) async fn add(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let shown = read(&staff, &context, &id).await?;
    staff.authorize::<ChangeUsers>()?;
    // The outcomes say which addresses have an account.
    staff.authorize::<ViewUsers>()?;
    let (id, name) = (shown.0.id, shown.0.name.as_str().to_owned());
    let section = (name, Some(address(id)));
    let added = members::add(&staff, &context, id, &form, section, |user| page_of(&staff, user)).await?;
    match added {
        Added::Members => Ok(page::see_other(&address(id))),
        Added::Page(page) => staff.show(&context, "groups", page),
        Added::Invalid(draft, errors) => show_members(&staff, &context, &shown, &draft, &errors).await,
    }
}

pub(super) async fn remove(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let (group, _) = read(&staff, &context, &id).await?;
    staff.authorize::<ChangeUsers>()?;
    members::remove(&staff, &context, group.id, &form, &address(group.id)).await
}

pub(super) async fn set_manager(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let (group, _) = read(&staff, &context, &id).await?;
    staff.authorize::<ChangeUsers>()?;
    let (user, is_manager) = (member_of(&form)?, form.is_ticked("is_manager"));
    match use_case::set_manager(&context.app, &staff.actor, group.id, user, is_manager).await {
        Ok(()) if is_manager => staff.notify(t!("group-manager-made"))?,
        Ok(()) => staff.notify(t!("group-manager-ended"))?,
        Err(Error::MemberNotFound) => staff.warn(t!("member-removed-before"))?,
        Err(error) => return Err(error.into()),
    }
    Ok(page::see_other(&address(group.id)))
}
