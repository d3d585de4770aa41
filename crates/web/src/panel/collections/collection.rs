//! `/admin/collections/add`, `/admin/collections/{id}` and `/admin/collections/{id}/delete`

use super::member_form::{MemberDraft, MembersView};
use super::{address, names};
use crate::language::{collection_name, t};
use crate::paging::PageNumber;
use crate::panel::access::kinds;
use crate::panel::documents::email;
use crate::panel::nav::ROOT;
use crate::signed_in::confirm::ConfirmPage;
use crate::signed_in::field::{Field, FormView};
use crate::signed_in::form::{FieldErrors, Form, OwnForm, digest, is_stale};
use crate::signed_in::page::{self, PageError, PageResult, id_of};
use crate::signed_in::session::Staff;
use crate::times::Time;
use actix_web::web::Path;
use docent_app::accounts::users;
use docent_app::collections::browse::{self, OpenCollection};
use docent_app::collections::{self as use_case, CollectionSettings};
use docent_app::error::Error;
use docent_app::listing::owner;
use docent_domain::access::{AddCollections, DeleteCollections, ViewAuditLog, ViewDocuments};
use docent_domain::collection::{
    Collection, CollectionDescription, CollectionKind, CollectionName, CollectionRole,
};
use docent_domain::id::{CollectionId, UserId};
use docent_domain::permission::RecordKind;
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct CollectionPage {
    /// Settings. Empty for a collection that the user may not change.
    #[serde(flatten)]
    form: FormView,
    may_change: bool,
    /// None for a new collection.
    collection: Option<CollectionView>,
}

#[derive(Serialize)]
pub(super) struct CollectionView {
    id: String,
    name: String,
    description: String,
    kind: String,
    owner: Option<String>,
    /// Page of the owner, for actors who can view it.
    owner_page: Option<String>,
    /// Role of the user.
    role: Option<String>,
    role_of_all: Option<String>,
    documents: u64,
    readers: String,
    created: Option<Time>,
    updated: Time,
    /// Digest of the shown settings, to detect concurrent changes.
    seen: String,
    /// None if the user may not view them.
    members: Option<MembersView>,
    /// ID of the user's own account, if it is a member and can leave.
    leaves: Option<String>,
    may_delete: bool,
    may_view_documents: bool,
    may_view_audit: bool,
}

impl CollectionView {
    /// Sentence about the readers of a collection.
    fn readers(open: &OpenCollection) -> String {
        let readers = names::readers(&open.collection, open.size.members);
        t!("collection-readers", readers = readers)
    }
}

/// Form values of a collection, valid or not.
#[derive(Clone, Default)]
struct Draft {
    name: String,
    description: String,
    role_of_all: String,
    /// Email address of the owner of a new collection.
    owner: String,
}

impl Draft {
    fn of(collection: &Collection) -> Self {
        Self {
            name: collection.name.as_str().to_owned(),
            description: collection.description.as_str().to_owned(),
            role_of_all: collection.role_of_all.map_or("", CollectionRole::name).to_owned(),
            owner: String::new(),
        }
    }

    fn submitted(form: &Form) -> Self {
        let text = |name| form.text(name).to_owned();
        Self {
            name: text("name"),
            description: text("description"),
            role_of_all: text("role_of_all"),
            owner: form.text("owner").trim().to_owned(),
        }
    }

    /// Input of the use cases, if the form is valid.
    fn settings(&self, errors: &mut FieldErrors) -> Option<CollectionSettings> {
        let name = errors.take("name", CollectionName::parse(&self.name));
        let description = errors.take("description", CollectionDescription::parse(&self.description));
        let role_of_all = match self.role_of_all.as_str() {
            "" => None,
            name => {
                let role = CollectionRole::parse(name);
                if role.is_none() {
                    errors.add("role_of_all", t!("role-unknown"));
                }
                role
            }
        };
        let settings = CollectionSettings { name: name?, description: description?, role_of_all };
        errors.is_empty().then_some(settings)
    }

    /// The fields of the form. Without the right to open collections to all, the role of every account can only be lowered from
    /// `highest`.
    fn fields(&self, kind: CollectionKind, can_open: bool, highest: Option<CollectionRole>) -> Vec<Field> {
        let mut fields = vec![
            Field::line("text", "name", t!("name"), &self.name).required(),
            Field::line("text", "description", t!("description"), &self.description),
        ];
        if kind != CollectionKind::Personal && (can_open || highest.is_some()) {
            let none = (String::new(), t!("role-of-all-none"));
            let is_possible =
                |(name, _): &(String, String)| can_open || CollectionRole::parse(name) <= highest;
            let options = [none].into_iter().chain(names::roles().filter(is_possible));
            let field = Field::select("role_of_all", t!("role-of-all"), &self.role_of_all, options);
            fields.push(field.help(t!("role-of-all-help")));
        }
        fields
    }

    /// Renders the form of a new collection.
    fn show_new(&self, staff: &Staff, context: &State, errors: &FieldErrors) -> PageResult {
        let can_open = use_case::can_open(&context.app, &staff.actor);
        let mut fields = self.fields(CollectionKind::Shared, can_open, None);
        if staff.can::<AddCollections>() {
            let owner = Field::line("email", "owner", t!("owner"), &self.owner);
            fields.push(owner.help(t!("collection-owner-help")));
        }
        let form = FormView::of(fields, Vec::new(), errors);
        let page = CollectionPage { form, may_change: true, collection: None };
        staff.show_with(errors.status(), context, "collections", page)
    }
}

/// Digest of the settings, to detect concurrent changes.
fn revision(collection: &Collection) -> String {
    let Draft { name, description, role_of_all, .. } = Draft::of(collection);
    digest(&(name, description, role_of_all))
}

/// Reads a collection that the user may view.
pub(super) async fn read(staff: &Staff, context: &State, id: &str) -> Result<OpenCollection, PageError> {
    Ok(browse::open(&context.app, &staff.actor, id_of(RecordKind::Collection, id)?).await?)
}

/// Renders the page of a collection. The errors are those of one of its forms.
pub(super) async fn show_page(
    staff: &Staff,
    context: &State,
    open: &OpenCollection,
    (number, draft): (PageNumber, &MemberDraft),
    errors: &FieldErrors,
) -> PageResult {
    show_draft(staff, context, open, &Draft::of(&open.collection), (number, draft), errors).await
}

async fn show_draft(
    staff: &Staff,
    context: &State,
    open: &OpenCollection,
    settings: &Draft,
    (number, draft): (PageNumber, &MemberDraft),
    errors: &FieldErrors,
) -> PageResult {
    let OpenCollection { collection, size, role, .. } = open;
    let now = context.app.now();
    let emails = users::emails(&context.app, collection.owner.as_slice()).await?;
    let page_of = |owner: UserId| kinds::page(RecordKind::User, &owner.to_string(), &staff.actor);
    let members = match open.can_view_members {
        true => Some(MembersView::read(staff, context, open, number, draft, errors).await?),
        false => None,
    };
    let can_open = use_case::can_open(&context.app, &staff.actor);
    let fields = match open.can_change {
        true => settings.fields(collection.kind, can_open, collection.role_of_all),
        false => Vec::new(),
    };
    let view = CollectionView {
        id: collection.id.to_string(),
        name: collection_name(collection.name.as_str()),
        description: collection.description.as_str().to_owned(),
        kind: names::kind(collection.kind),
        owner: collection.owner.map(|owner| email(&emails, owner)),
        owner_page: collection.owner.and_then(page_of),
        role: role.map(names::role_name),
        role_of_all: collection.role_of_all.map(names::role_name),
        documents: size.documents,
        readers: CollectionView::readers(open),
        created: names::created(collection, now),
        updated: Time::of(collection.updated_at, now),
        seen: revision(collection),
        members,
        leaves: open.is_member.then(|| staff.actor.user().to_string()),
        may_delete: open.can_delete,
        may_view_documents: staff.can::<ViewDocuments>(),
        may_view_audit: staff.can::<ViewAuditLog>(),
    };
    let page = CollectionPage {
        form: FormView::of(fields, Vec::new(), errors),
        may_change: open.can_change,
        collection: Some(view),
    };
    staff.show_with(errors.status(), context, "collections", page)
}

pub(super) async fn add(staff: Staff, context: State) -> PageResult {
    let draft = Draft { owner: staff.email.as_str().to_owned(), ..Draft::default() };
    draft.show_new(&staff, &context, &FieldErrors::default())
}

pub(super) async fn create(staff: Staff, context: State, form: OwnForm) -> PageResult {
    let (app, mut errors) = (&context.app, FieldErrors::default());
    let draft = Draft::submitted(&form);
    let settings = draft.settings(&mut errors);
    let created = if staff.can::<AddCollections>() {
        let owner = match draft.owner.as_str() {
            "" => None,
            email => {
                let found = owner(app, email).await?;
                if found.is_none() {
                    errors.add("owner", t!("collection-owner-unknown"));
                }
                found
            }
        };
        match settings.filter(|_| errors.is_empty()) {
            Some(settings) => use_case::add(app, &staff.actor, settings, owner).await.map(Some),
            None => Ok(None),
        }
    } else {
        match settings {
            Some(settings) => use_case::create(app, &staff.actor, settings).await.map(Some),
            None => Ok(None),
        }
    };
    let created = match created {
        Ok(created) => created,
        Err(error) => {
            errors.add_from(error)?;
            None
        }
    };
    let Some(collection) = created else { return draft.show_new(&staff, &context, &errors) };
    staff.notify(t!("collection-created", name = collection.name.as_str()))?;
    after(&staff, &context, collection.id).await
}

/// Opens the page of a collection, or the list if the user may no longer view it.
pub(super) async fn after(staff: &Staff, context: &State, id: CollectionId) -> PageResult {
    match browse::open(&context.app, &staff.actor, id).await {
        Ok(_) => Ok(page::see_other(&address(id))),
        Err(Error::NotFound(_)) => Ok(page::see_other(&format!("{ROOT}/collections"))),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn show(staff: Staff, context: State, id: Path<String>, query: Query) -> PageResult {
    let open = read(&staff, &context, &id).await?;
    let members = (PageNumber::of(&query), &MemberDraft::default());
    show_page(&staff, &context, &open, members, &FieldErrors::default()).await
}

pub(super) async fn change(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let open = read(&staff, &context, &id).await?;
    if !open.can_change {
        return Err(Error::Forbidden.into());
    }
    let id = open.collection.id;
    if is_stale(&form, &revision(&open.collection)) {
        staff.warn(t!("record-stale"))?;
        return Ok(page::see_other(&address(id)));
    }
    let (mut errors, draft) = (FieldErrors::default(), Draft::submitted(&form));
    if let Some(settings) = draft.settings(&mut errors) {
        match use_case::change(&context.app, &staff.actor, id, |_| settings).await {
            Ok(_) => {
                staff.notify(t!("collection-saved"))?;
                return after(&staff, &context, id).await;
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    let members = (PageNumber::FIRST, &MemberDraft::default());
    show_draft(&staff, &context, &open, &draft, members, &errors).await
}

pub(super) async fn confirm(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let open = read(&staff, &context, &id).await?;
    if !open.can_delete {
        return Err(Error::Forbidden.into());
    }
    staff.ensure_proof::<DeleteCollections>()?;
    let address = address(open.collection.id);
    let page = ConfirmPage {
        section: t!("collections"),
        section_href: format!("{ROOT}/collections"),
        name: open.collection.name.as_str(),
        question: t!("collection-delete-question"),
        consequences: vec![
            t!("collection-delete-documents"),
            t!("collection-delete-access"),
            t!("cannot-be-undone"),
        ],
        action: format!("{address}/delete"),
        verb: t!("collection-delete-verb"),
        cancel: address,
    };
    staff.show(&context, "collections", page)
}

pub(super) async fn delete(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    let open = read(&staff, &context, &id).await?;
    if !open.can_delete {
        return Err(Error::Forbidden.into());
    }
    match use_case::delete(&context.app, &staff.actor, open.collection.id).await {
        Ok(collection) => {
            staff.notify(t!("collection-deleted", name = collection.name.as_str()))?;
            Ok(page::see_other(&format!("{ROOT}/collections")))
        }
        Err(Error::CollectionNotEmpty(documents)) => {
            staff.warn(t!("collection-not-empty", count = documents))?;
            Ok(page::see_other(&address(open.collection.id)))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl CollectionView {
        fn sample(members: Option<MembersView>, text: Option<&str>, is_allowed: bool) -> Self {
            let text = || text.map(str::to_owned);
            Self {
                id: "1".to_owned(),
                name: "Collection".to_owned(),
                description: text().unwrap_or_default(),
                kind: "shared".to_owned(),
                owner: text(),
                owner_page: text().filter(|_| is_allowed),
                role: is_allowed.then(|| "manager".to_owned()),
                role_of_all: is_allowed.then(|| "viewer".to_owned()),
                documents: 3,
                readers: "Its documents are read by every account.".to_owned(),
                created: is_allowed.then(Time::sample),
                updated: Time::sample(),
                seen: "0f".to_owned(),
                members,
                leaves: text(),
                may_delete: is_allowed,
                may_view_documents: is_allowed,
                may_view_audit: is_allowed,
            }
        }
    }

    impl Samples for CollectionPage {
        fn samples() -> Vec<Self> {
            let [form, with_errors] = FormView::samples();
            let [plain, new] = FormView::samples();
            let [full, fixed, empty] = MembersView::samples();
            let page = |form, may_change, collection| Self { form, may_change, collection };
            let view = CollectionView::sample;
            let [other, _] = FormView::samples();
            vec![
                page(form, true, Some(view(Some(full), Some("a@example.com"), true))),
                page(other, true, Some(view(Some(fixed), Some("a@example.com"), false))),
                page(with_errors, true, Some(view(Some(empty), None, true))),
                page(plain, false, Some(view(None, None, false))),
                page(new, true, None),
            ]
        }
    }
}
