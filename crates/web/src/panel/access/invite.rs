//! `/admin/invitations/add`: invites people

use super::tables::page_of;
use crate::language::{self, collection_name, t};
use crate::panel::collections;
use crate::panel::nav::ROOT;
use crate::signed_in::field::{Field, FormView, Picker};
use crate::signed_in::form::{FieldErrors, Form, OwnForm};
use crate::signed_in::invited::{AddressDraft, InvitedPage};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use docent_app::accounts::invitations as use_case;
use docent_app::accounts::{groups, verification};
use docent_app::collections::browse;
use docent_app::error::Error;
use docent_app::scope;
use docent_domain::access::{AddInvitations, ViewInvitations};
use docent_domain::collection::CollectionRole;
use docent_domain::error::{Rule, ValidationError};
use docent_domain::group::AssignedPermissions;
use docent_domain::id::CollectionId;
use docent_domain::invitation::InvitedAccess;
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_http::State;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct InvitePage {
    #[serde(flatten)]
    form: FormView,
    sends_email: bool,
}

/// The list of invitations as the page before, if the user may view it.
pub(super) fn section(staff: &Staff) -> (String, Option<String>) {
    let href = staff.can::<ViewInvitations>().then(|| format!("{ROOT}/invitations"));
    (t!("records-invitation"), href)
}

/// Submitted form values, valid or not.
struct Draft {
    addresses: AddressDraft,
    assigned: AssignedPermissions,
    collections: Vec<String>,
    role: String,
}

impl Draft {
    fn empty(context: &State) -> Self {
        Self {
            addresses: AddressDraft::empty(context),
            assigned: AssignedPermissions::default(),
            collections: Vec::new(),
            role: CollectionRole::Viewer.name().to_owned(),
        }
    }

    fn submitted(form: &Form, errors: &mut FieldErrors) -> Self {
        let group = |id: &str| id.parse().map_err(|_| ValidationError::of("groups", Rule::UnknownGroup));
        let groups = form.all("groups").filter_map(|id| errors.take("groups", group(id))).collect();
        Self {
            addresses: AddressDraft::submitted(form),
            assigned: AssignedPermissions { groups, ..AssignedPermissions::default() },
            collections: form.all("collections").map(str::to_owned).collect(),
            role: form.text("role").to_owned(),
        }
    }

    /// Input of the use case, if the form is valid.
    fn input(&self, errors: &mut FieldErrors) -> Option<(Vec<Email>, InvitedAccess)> {
        let emails = self.addresses.parse(errors);
        let role = CollectionRole::parse(&self.role);
        if role.is_none() && !self.collections.is_empty() {
            errors.add("role", t!("role-unknown"));
        }
        let invalid = |_| ValidationError::new("collections", t!("not-a-collection"));
        let ids: Result<Vec<CollectionId>, _> = self.collections.iter().map(|id| id.parse()).collect();
        let ids = errors.take("collections", ids.map_err(invalid))?;
        let collections = ids.into_iter().filter_map(|id| Some((id, role?))).collect();
        let access = InvitedAccess { groups: self.assigned.groups.clone(), collections };
        Some((emails?, access)).filter(|_| errors.is_empty())
    }

    async fn show(&self, staff: &Staff, context: &State, errors: &FieldErrors) -> PageResult {
        let (app, actor) = (&context.app, &staff.actor);
        let scope = scope::load(app, actor).await?;
        let shareable = browse::shareable(app, actor).await?;
        let named: Vec<_> =
            shareable.into_iter().map(|known| (known.id, collection_name(known.name.as_str()))).collect();
        let sends_email = verification::is_possible(app);
        let mut fields = self.addresses.fields(context);
        let mut pickers = vec![Picker::groups(actor, &scope, &groups::choices(app).await?, &self.assigned)];
        if !named.is_empty() {
            let roles = collections::roles();
            fields.push(
                Field::select("role", t!("invite-role"), &self.role, roles).help(t!("invite-role-help")),
            );
            let ticked: Vec<&str> = self.collections.iter().map(String::as_str).collect();
            pickers.push(Picker {
                label: t!("collections"),
                help: t!("invite-collections-help"),
                has_panes: true,
                ..Picker::collections(&named, &ticked)
            });
        }
        let page = InvitePage { form: FormView::of(fields, pickers, errors), sends_email };
        staff.show_with(errors.status(), context, "invitations", page)
    }
}

pub(super) async fn add(staff: Staff, context: State) -> PageResult {
    staff.authorize::<AddInvitations>()?;
    Draft::empty(&context).show(&staff, &context, &FieldErrors::default()).await
}

pub(super) async fn create(staff: Staff, context: State, form: OwnForm) -> PageResult {
    let grant = staff.authorize::<AddInvitations>()?;
    let mut errors = FieldErrors::default();
    let draft = Draft::submitted(&form, &mut errors);
    if let Some((emails, access)) = draft.input(&mut errors) {
        let app = &context.app;
        match use_case::invite(app, &staff.actor, &grant, &emails, &access, draft.addresses.delivery).await {
            Ok(outcomes) => {
                let page =
                    InvitedPage::of(&outcomes, section(&staff), |user| page_of(&staff, user), app.now());
                return staff.show(&context, "invitations", page);
            }
            Err(Error::Invalid(invalid)) => errors.add(invalid.field, language::reason(&invalid)),
            Err(Error::NotFound(RecordKind::Collection) | Error::Forbidden | Error::FixedCollection(_)) => {
                errors.add("collections", t!("invite-collections-refused"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    draft.show(&staff, &context, &errors).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for InvitePage {
        fn samples() -> Vec<Self> {
            let forms = FormView::samples().into_iter().zip([true, false]);
            forms.map(|(form, sends_email)| Self { form, sends_email }).collect()
        }
    }
}
