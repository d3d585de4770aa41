//! `POST /admin/collections/{id}/members` and `…/members/remove`

use super::collection::{after, read, show_page};
use super::member_form::MemberDraft;
use super::names;
use crate::language::{self, t};
use crate::paging::PageNumber;
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use docent_app::collections::members as use_case;
use docent_app::error::Error;
use docent_domain::access::ShareCollections;
use docent_domain::collection::Member;
use docent_domain::error::Rule;
use docent_domain::permission::RecordKind;
use docent_http::{ApiError, State};

pub(super) async fn set(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let open = read(&staff, &context, &id).await?;
    if !open.can_change {
        return Err(Error::Forbidden.into());
    }
    staff.ensure_proof::<ShareCollections>()?;
    let (id, draft, mut errors) = (open.collection.id, MemberDraft::submitted(&form), FieldErrors::default());
    if let Some((member, role)) = draft.parse(&mut errors) {
        match use_case::set(&context.app, &staff.actor, id, &member, role).await {
            Ok(member) => {
                staff.notify(t!("member-has-role", name = member.name, role = names::role_name(role)))?;
                return after(&staff, &context, id).await;
            }
            Err(Error::NotFound(RecordKind::User)) => errors.add("email", t!("member-no-account")),
            Err(Error::NotFound(RecordKind::Group)) => errors.add_rule("group", Rule::Exists),
            Err(Error::Invalid(invalid)) => errors.add("email", language::reason(&invalid)),
            Err(error) => return Err(error.into()),
        }
    }
    show_page(&staff, &context, &open, (PageNumber::FIRST, &draft), &errors).await
}

/// Removes a member. Members can also remove themselves.
pub(super) async fn remove(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let open = read(&staff, &context, &id).await?;
    let unreadable = || ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, t!("form-invalid"));
    let member = match form.text("user") {
        "" => Member::Group(form.text("group").parse().map_err(|_| unreadable())?),
        user => Member::User(user.parse().map_err(|_| unreadable())?),
    };
    let is_own = member == Member::User(staff.actor.user());
    if !open.can_change && !is_own {
        return Err(Error::Forbidden.into());
    }
    let id = open.collection.id;
    match use_case::remove(&context.app, &staff.actor, id, member).await {
        Ok(()) if is_own => staff.notify(t!("member-left"))?,
        Ok(()) => staff.notify(t!("member-removed"))?,
        Err(Error::MemberNotFound) => staff.warn(t!("member-removed-before"))?,
        Err(error) => return Err(error.into()),
    }
    after(&staff, &context, id).await
}
