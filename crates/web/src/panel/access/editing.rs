//! The frames of the pages at which staff add, change and remove records of a kind.

use crate::panel::{
    form::{FieldErrors, Form, OwnForm, STALE, is_stale},
    nav::ROOT,
    page::{self, Broken, id_of},
    session::Staff,
};
use actix_web::{HttpResponse, http::StatusCode, web::Path};
use docent_app::{App, error::Error};
use docent_domain::{
    access::{Actor, Grant, Operation},
    error::Forbidden,
    permission::RecordKind,
};
use docent_http::context::State;
use serde::Serialize;
use std::{fmt::Display, str::FromStr};

/// A kind of record whose pages are `/admin/{SECTION}/add`, `/admin/{SECTION}/{id}` and
/// `/admin/{SECTION}/{id}/delete`. It is implemented by what its form says, right or wrong, so that a form with
/// errors is shown again as it was sent.
pub(super) trait Editing: Sized {
    /// The record, with all that its form shows of it.
    type Record;
    /// Its id.
    type Id: Copy + Display + FromStr;
    /// What its use case makes one of.
    type New;
    /// What its use case changes one to.
    type Wanted;
    type View: Operation;
    type Add: Operation;
    type Change: Operation;
    type Delete: Operation;

    const KIND: RecordKind;
    /// The segment of its address.
    const SECTION: &'static str;
    /// What messages call one, such as `group`.
    const NOUN: &'static str;

    fn id(record: &Self::Record) -> Self::Id;

    /// The mark of what the form shows of a record.
    fn mark(record: &Self::Record) -> String;

    /// The form of a new one.
    fn empty() -> Self;

    /// The form of one as it is.
    fn of(record: &Self::Record) -> Self;

    /// The form as it was sent.
    fn sent(form: &Form, errors: &mut FieldErrors) -> Self;

    /// What is to be made, if all of the form makes sense.
    fn new_record(&self, form: &Form, errors: &mut FieldErrors) -> Option<Self::New>;

    /// What is to become of one, if all of the form makes sense.
    fn wanted(&self, errors: &mut FieldErrors) -> Option<Self::Wanted>;

    /// Shows the form: of this record, or of a new one.
    async fn show(
        &self,
        staff: &Staff,
        context: &State,
        status: StatusCode,
        record: Option<&Self::Record>,
        errors: &FieldErrors,
    ) -> Result<HttpResponse, Broken>;

    /// Whether the actor may change this one.
    fn may_change(record: &Self::Record, actor: &Actor) -> bool;

    /// Whether the actor may remove this one.
    fn may_delete(record: &Self::Record, actor: &Actor) -> bool;

    /// What the page asks that is shown before one is removed.
    fn deletion(record: &Self::Record) -> Deletion<'_>;

    async fn get(app: &App, grant: Grant<Self::View>, id: Self::Id) -> Result<Self::Record, Error>;

    /// Makes one; gives its id and its name.
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

    /// Removes one; gives what the next page says of it.
    async fn delete(
        app: &App,
        actor: &Actor,
        grant: Grant<Self::Delete>,
        id: Self::Id,
    ) -> Result<String, Error>;
}

/// What removing a record means.
pub(super) struct Deletion<'r> {
    pub(super) name: &'r str,
    pub(super) consequences: &'static [&'static str],
}

fn address<E: Editing>(id: E::Id) -> String {
    format!("{ROOT}/{}/{id}", E::SECTION)
}

pub(super) async fn add<E: Editing>(staff: Staff, context: State) -> Result<HttpResponse, Broken> {
    staff.authorize::<E::Add>()?;
    E::empty().show(&staff, &context, StatusCode::OK, None, &FieldErrors::default()).await
}

pub(super) async fn create<E: Editing>(
    staff: Staff,
    context: State,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    let grant = staff.authorize::<E::Add>()?;
    let mut errors = FieldErrors::default();
    let draft = E::sent(&form, &mut errors);
    let new = draft.new_record(&form, &mut errors);
    if let (Some(new), true) = (new, errors.is_empty()) {
        match E::create(&context.app, &staff.actor, grant, new).await {
            Ok((id, name)) => {
                staff.say(format!("The {} {name} was created.", E::NOUN))?;
                let may_view = staff.actor.authorize::<E::View>().is_ok();
                return Ok(page::see_other(&if may_view { address::<E>(id) } else { ROOT.to_owned() }));
            }
            Err(error) => errors.hear(error)?,
        }
    }
    draft.show(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, None, &errors).await
}

pub(super) async fn show<E: Editing>(
    staff: Staff,
    context: State,
    id: Path<String>,
) -> Result<HttpResponse, Broken> {
    let record = E::get(&context.app, staff.authorize()?, id_of(E::KIND, &id)?).await?;
    E::of(&record).show(&staff, &context, StatusCode::OK, Some(&record), &FieldErrors::default()).await
}

pub(super) async fn change<E: Editing>(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    let (view, grant) = (staff.authorize()?, staff.authorize()?);
    let record = E::get(&context.app, view, id_of(E::KIND, &id)?).await?;
    let id = E::id(&record);
    if is_stale(&form, &E::mark(&record)) {
        staff.complain(STALE)?;
        return Ok(page::see_other(&address::<E>(id)));
    }
    let mut errors = FieldErrors::default();
    let draft = E::sent(&form, &mut errors);
    let wanted = draft.wanted(&mut errors);
    if let (Some(wanted), true) = (wanted, errors.is_empty()) {
        match E::change(&context.app, &staff.actor, grant, id, wanted).await {
            Ok(()) => {
                staff.say(format!("The {} was saved.", E::NOUN))?;
                return Ok(page::see_other(&address::<E>(id)));
            }
            Err(error) => errors.hear(error)?,
        }
    }
    draft.show(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, Some(&record), &errors).await
}

pub(super) async fn confirm<E: Editing>(
    staff: Staff,
    context: State,
    id: Path<String>,
) -> Result<HttpResponse, Broken> {
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
) -> Result<HttpResponse, Broken> {
    staff.authorize::<E::View>()?;
    staff.say(E::delete(&context.app, &staff.actor, staff.authorize()?, id_of(E::KIND, &id)?).await?)?;
    Ok(page::see_other(&format!("{ROOT}/{}", E::SECTION)))
}

/// The page that asks before something is done that cannot be undone: `confirm.html`.
#[derive(Serialize)]
pub(super) struct Confirmation<'c> {
    pub(super) section: &'static str,
    pub(super) section_href: String,
    /// Of the record.
    pub(super) name: &'c str,
    pub(super) question: String,
    pub(super) consequences: &'c [&'c str],
    /// Where the form goes.
    pub(super) action: String,
    pub(super) verb: String,
    /// Where one goes who does not want to.
    pub(super) cancel: String,
}

impl Confirmation<'_> {
    /// Shows it; `nav` is the entry of the menu that it is under.
    pub(super) fn show(&self, staff: &Staff, context: &State, nav: &str) -> Result<HttpResponse, Broken> {
        let mut values = staff.page(nav);
        values.extend(tera::Context::from_serialize(self).map_err(|error| {
            tracing::error!(%error, "a confirmation has no values");
            docent_http::error::ApiError::internal()
        })?);
        page::show(context, StatusCode::OK, "confirm.html", &values)
    }
}
