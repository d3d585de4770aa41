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
    type New;
    /// Input of the change use case.
    type Wanted;
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

    /// Revision mark of the displayed record, to detect stale forms.
    fn mark(record: &Self::Record) -> String;

    /// Empty form for a new record.
    fn empty() -> Self;

    /// Form with the current values of a record.
    fn of(record: &Self::Record) -> Self;

    /// Form as submitted.
    fn sent(form: &Form, errors: &mut FieldErrors) -> Self;

    /// Input for the create use case, if the form is valid.
    fn new_record(&self, form: &Form, errors: &mut FieldErrors) -> Option<Self::New>;

    /// Input for the change use case, if the form is valid.
    fn wanted(&self, errors: &mut FieldErrors) -> Option<Self::Wanted>;

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
        new: Self::New,
    ) -> Result<(Self::Id, String), Error>;

    async fn change(
        app: &App,
        actor: &Actor,
        grant: Grant<Self::Change>,
        id: Self::Id,
        wanted: Self::Wanted,
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
    let new = draft.new_record(&form, &mut errors);
    if let (Some(new), true) = (new, errors.is_empty()) {
        match E::create(&context.app, &staff.actor, grant, new).await {
            Ok((id, name)) => {
                staff.notify(format!("The {} {name} was created.", E::NOUN))?;
                let may_view = staff.actor.authorize::<E::View>().is_ok();
                return Ok(page::see_other(&if may_view { address::<E>(id) } else { ROOT.to_owned() }));
            }
            Err(error) => errors.hear(error)?,
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
    if is_stale(&form, &E::mark(&record)) {
        staff.warn(STALE)?;
        return Ok(page::see_other(&address::<E>(id)));
    }
    let mut errors = FieldErrors::default();
    let draft = E::sent(&form, &mut errors);
    let wanted = draft.wanted(&mut errors);
    if let (Some(wanted), true) = (wanted, errors.is_empty()) {
        match E::change(&context.app, &staff.actor, grant, id, wanted).await {
            Ok(()) => {
                staff.notify(format!("The {} was saved.", E::NOUN))?;
                return Ok(page::see_other(&address::<E>(id)));
            }
            Err(error) => errors.hear(error)?,
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
    let confirmation = Confirmation {
        section: super::kinds::title(E::KIND),
        section_href: format!("{ROOT}/{}", E::SECTION),
        name: deletion.name,
        question: format!("Delete this {}?", E::NOUN),
        consequences: deletion.consequences,
        action: format!("{path}/delete"),
        verb: format!("Delete the {}", E::NOUN),
        cancel: path,
    };
    confirmation.show(&staff, &context, E::SECTION)
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

/// Confirmation page for irreversible actions: `confirm.html`.
#[derive(Serialize)]
pub(super) struct Confirmation<'c> {
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

impl Confirmation<'_> {
    /// Renders the page; `nav` is its menu entry.
    pub(super) fn show(&self, staff: &Staff, context: &State, nav: &str) -> PageResult {
        let mut values = staff.page(nav);
        values.extend(tera::Context::from_serialize(self).map_err(|error| {
            tracing::error!(%error, "a confirmation has no values");
            docent_http::error::ApiError::internal()
        })?);
        page::show_values(context, StatusCode::OK, "confirm.html", &values)
    }
}
