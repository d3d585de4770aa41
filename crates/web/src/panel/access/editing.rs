//! Generic add, change and delete pages for a kind of record.

use crate::panel::{
    form::{FieldErrors, Form, OwnForm, STALE, is_stale},
    nav::ROOT,
    page::{self, PageResult, id_of},
    session::Staff,
};
use actix_web::{http::StatusCode, web::Path};
use docent_app::{App, error::Error};
use docent_domain::{
    access::{Actor, Grant, Operation},
    error::Forbidden,
    permission::RecordKind,
};
use docent_http::context::State;
use serde::Serialize;
use std::{fmt::Display, str::FromStr};

/// Kind of record with the pages `/admin/{SECTION}/add`, `/admin/{SECTION}/{id}` and
/// `/admin/{SECTION}/{id}/delete`. Implemented by the type of the submitted form values, so that a form with
/// errors can be shown again as submitted.
pub(super) trait Editing: Sized {
    /// The record with everything its form shows.
    type Record;
    /// ID of the record.
    type Id: Copy + Display + FromStr;
    /// Input of the create use case.
    type CreateInput;
    /// Input of the change use case.
    type ChangeInput;
    type View: Operation;
    type Add: Operation;
    type Change: Operation;
    type Delete: Operation;

    const KIND: RecordKind;
    /// Path segment.
    const SECTION: &'static str;
    /// Noun for messages, such as `group`.
    const NOUN: &'static str;

    fn id(record: &Self::Record) -> Self::Id;

    /// Digest of the displayed record, to detect stale forms.
    fn revision(record: &Self::Record) -> String;

    /// Empty form for a new record.
    fn empty() -> Self;

    /// Form with the current values of a record.
    fn of(record: &Self::Record) -> Self;

    /// Form as submitted.
    fn sent(form: &Form, errors: &mut FieldErrors) -> Self;

    /// Input for the create use case, if the form is valid.
    fn create_input(&self, form: &Form, errors: &mut FieldErrors) -> Option<Self::CreateInput>;

    /// Input for the change use case, if the form is valid.
    fn change_input(&self, errors: &mut FieldErrors) -> Option<Self::ChangeInput>;

    /// Renders the form of a record, or of a new one.
    async fn show(
        &self,
        staff: &Staff,
        context: &State,
        status: StatusCode,
        record: Option<&Self::Record>,
        errors: &FieldErrors,
    ) -> PageResult;

    /// Whether the actor can change the record.
    fn may_change(record: &Self::Record, actor: &Actor) -> bool;

    /// Whether the actor can delete the record.
    fn may_delete(record: &Self::Record, actor: &Actor) -> bool;

    /// Texts of the confirmation page for a deletion.
    fn deletion(record: &Self::Record) -> Deletion<'_>;

    async fn get(app: &App, grant: Grant<Self::View>, id: Self::Id) -> Result<Self::Record, Error>;

    /// Creates the record and returns its ID and name.
    async fn create(
        app: &App,
        actor: &Actor,
        grant: Grant<Self::Add>,
        input: Self::CreateInput,
    ) -> Result<(Self::Id, String), Error>;

    async fn change(
        app: &App,
        actor: &Actor,
        grant: Grant<Self::Change>,
        id: Self::Id,
        input: Self::ChangeInput,
    ) -> Result<(), Error>;

    /// Deletes the record and returns the message for the next page.
    async fn delete(
        app: &App,
        actor: &Actor,
        grant: Grant<Self::Delete>,
        id: Self::Id,
    ) -> Result<String, Error>;
}

/// Consequences of deleting a record, for the confirmation page.
pub(super) struct Deletion<'r> {
    pub(super) name: &'r str,
    pub(super) consequences: &'static [&'static str],
}

fn address<E: Editing>(id: E::Id) -> String {
    format!("{ROOT}/{}/{id}", E::SECTION)
}

pub(super) async fn add<E: Editing>(staff: Staff, context: State) -> PageResult {
    staff.authorize::<E::Add>()?;
    E::empty().show(&staff, &context, StatusCode::OK, None, &FieldErrors::default()).await
}

pub(super) async fn create<E: Editing>(staff: Staff, context: State, OwnForm(form): OwnForm) -> PageResult {
    let grant = staff.authorize::<E::Add>()?;
    let mut errors = FieldErrors::default();
    let draft = E::sent(&form, &mut errors);
    let input = draft.create_input(&form, &mut errors);
    if let (Some(input), true) = (input, errors.is_empty()) {
        match E::create(&context.app, &staff.actor, grant, input).await {
            Ok((id, name)) => {
                staff.notify(format!("The {} {name} was created.", E::NOUN))?;
                let may_view = staff.actor.authorize::<E::View>().is_ok();
                return Ok(page::see_other(&if may_view { address::<E>(id) } else { ROOT.to_owned() }));
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    draft.show(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, None, &errors).await
}

pub(super) async fn show<E: Editing>(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let record = E::get(&context.app, staff.authorize()?, id_of(E::KIND, &id)?).await?;
    E::of(&record).show(&staff, &context, StatusCode::OK, Some(&record), &FieldErrors::default()).await
}

pub(super) async fn change<E: Editing>(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> PageResult {
    let (view, grant) = (staff.authorize()?, staff.authorize()?);
    let record = E::get(&context.app, view, id_of(E::KIND, &id)?).await?;
    let id = E::id(&record);
    if is_stale(&form, &E::revision(&record)) {
        staff.warn(STALE)?;
        return Ok(page::see_other(&address::<E>(id)));
    }
    let mut errors = FieldErrors::default();
    let draft = E::sent(&form, &mut errors);
    let input = draft.change_input(&mut errors);
    if let (Some(input), true) = (input, errors.is_empty()) {
        match E::change(&context.app, &staff.actor, grant, id, input).await {
            Ok(()) => {
                staff.notify(format!("The {} was saved.", E::NOUN))?;
                return Ok(page::see_other(&address::<E>(id)));
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    draft.show(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, Some(&record), &errors).await
}

pub(super) async fn confirm<E: Editing>(staff: Staff, context: State, id: Path<String>) -> PageResult {
    staff.authorize::<E::Delete>()?;
    let record = E::get(&context.app, staff.authorize()?, id_of(E::KIND, &id)?).await?;
    if !E::may_delete(&record, &staff.actor) {
        return Err(Error::from(Forbidden).into());
    }
    let (path, deletion) = (address::<E>(E::id(&record)), E::deletion(&record));
    let page = ConfirmPage {
        section: super::kinds::title(E::KIND),
        section_href: format!("{ROOT}/{}", E::SECTION),
        name: deletion.name,
        question: format!("Delete this {}?", E::NOUN),
        consequences: deletion.consequences,
        action: format!("{path}/delete"),
        verb: format!("Delete the {}", E::NOUN),
        cancel: path,
    };
    staff.show(&context, E::SECTION, page)
}

pub(super) async fn delete<E: Editing>(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(_): OwnForm,
) -> PageResult {
    staff.authorize::<E::View>()?;
    staff.notify(E::delete(&context.app, &staff.actor, staff.authorize()?, id_of(E::KIND, &id)?).await?)?;
    Ok(page::see_other(&format!("{ROOT}/{}", E::SECTION)))
}

/// Confirmation page for irreversible actions.
#[derive(Serialize)]
pub(super) struct ConfirmPage<'c> {
    pub(super) section: &'static str,
    pub(super) section_href: String,
    /// Name of the record.
    pub(super) name: &'c str,
    pub(super) question: String,
    pub(super) consequences: &'c [&'c str],
    /// Target of the form.
    pub(super) action: String,
    pub(super) verb: String,
    /// Target of the Cancel link.
    pub(super) cancel: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ConfirmPage<'_> {
        fn samples() -> Vec<Self> {
            vec![Self {
                section: "Groups",
                section_href: "/admin/groups".to_owned(),
                name: "Group",
                question: "Delete this group?".to_owned(),
                consequences: &["This cannot be undone."],
                action: "/admin/groups/1/delete".to_owned(),
                verb: "Delete the group".to_owned(),
                cancel: "/admin/groups/1".to_owned(),
            }]
        }
    }
}
