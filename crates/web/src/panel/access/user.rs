//! `/admin/users/add`, `/admin/users/{id}` and `/admin/users/{id}/delete`

use super::pickers;
use super::user_page::{AccountView, may_change, may_delete, revision};
use crate::language::{self, t};
use crate::panel::nav::ROOT;
use crate::signed_in::confirm::ConfirmPage;
use crate::signed_in::field::{Field, FormView, Picker};
use crate::signed_in::form::{FieldErrors, Form, OwnForm, is_stale};
use crate::signed_in::page::{self, PageError, PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::accounts::groups;
use docent_app::accounts::users::{self, Account, AccountInput};
use docent_app::error::Error;
use docent_app::scope;
use docent_domain::access::{AddUsers, ChangeUsers, DeleteUsers, ViewUsers};
use docent_domain::error::{Rule, ValidationError};
use docent_domain::group::AssignedPermissions;
use docent_domain::id::UserId;
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;
use docent_domain::text::Email;
use docent_domain::user::Password;
use docent_http::State;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct UserPage {
    #[serde(flatten)]
    form: FormView,
    may_change: bool,
    /// None for a new account.
    account: Option<AccountView>,
}

/// Form values of an account, valid or not.
struct Draft {
    email: String,
    is_active: bool,
    is_staff: bool,
    is_superuser: bool,
    assigned: AssignedPermissions,
}

impl Draft {
    fn empty() -> Self {
        Self {
            email: String::new(),
            is_active: true,
            is_staff: false,
            is_superuser: false,
            assigned: AssignedPermissions::default(),
        }
    }

    fn of(account: &Account) -> Self {
        let user = &account.user;
        Self {
            email: user.email.as_str().to_owned(),
            is_active: user.is_active,
            is_staff: user.is_staff,
            is_superuser: user.is_superuser,
            assigned: account.assigned.clone(),
        }
    }

    fn submitted(form: &Form, errors: &mut FieldErrors) -> Self {
        let groups = form
            .all("groups")
            .map(|id| id.parse().map_err(|_| ValidationError::of("groups", Rule::UnknownGroup)));
        Self {
            email: form.text("email").trim().to_owned(),
            is_active: form.is_ticked("is_active"),
            is_staff: form.is_ticked("is_staff"),
            is_superuser: form.is_ticked("is_superuser"),
            assigned: AssignedPermissions {
                permissions: pickers::permissions(form, errors),
                groups: groups.filter_map(|id| errors.take("groups", id)).collect(),
                ..AssignedPermissions::default()
            },
        }
    }

    /// Input of the use cases, if the form is valid.
    fn input(&self, errors: &mut FieldErrors) -> Option<AccountInput> {
        let email = errors.take("email", Email::parse(&self.email))?;
        errors.is_empty().then(|| AccountInput {
            email,
            is_active: self.is_active,
            is_staff: self.is_staff,
            is_superuser: self.is_superuser,
            assigned: self.assigned.clone(),
        })
    }

    /// Renders the form of an account, or of a new one.
    async fn show(
        &self,
        staff: &Staff,
        context: &State,
        account: Option<&Account>,
        errors: &FieldErrors,
    ) -> PageResult {
        let scope = scope::load(&context.app, &staff.actor).await?;
        let mut fields = self.fields(staff, &scope, account);
        if account.is_none() {
            let password = Field::password("password", t!("password"), "new-password");
            fields.insert(1, password.help(t!("password-help", min = Password::MIN)));
        }
        let page = UserPage {
            form: FormView::of(fields, self.pickers(staff, &scope, context).await?, errors),
            may_change: account.is_none_or(|account| may_change(account, &staff.actor)),
            account: match account {
                Some(account) => Some(AccountView::read(staff, context, account).await?),
                None => None,
            },
        };
        staff.show_with(errors.status(), context, "users", page)
    }

    fn fields(&self, staff: &Staff, scope: &Scope, account: Option<&Account>) -> Vec<Field> {
        let for_superusers = !staff.actor.is_superuser();
        let email = Field::line("email", "email", t!("email"), &self.email).required();
        let missing = account.map(|account| staff.actor.missing_of(scope, &account.access().with_data()));
        let email = match missing.filter(|missing| !missing.is_empty()) {
            Some(missing) => email.help(t!("user-email-help", missing = language::missing(missing))),
            None => email,
        };
        vec![
            email,
            Field::tick("is_active", t!("user-active"), self.is_active).help(t!("user-active-help")),
            Field::tick("is_staff", t!("user-staff"), self.is_staff).help(t!("user-staff-help")),
            Field::tick("is_superuser", t!("user-superuser"), self.is_superuser)
                .help(t!("user-superuser-help"))
                .disabled(for_superusers),
        ]
    }

    async fn pickers(&self, staff: &Staff, scope: &Scope, context: &State) -> Result<Vec<Picker>, PageError> {
        let groups = groups::choices(&context.app).await?;
        Ok(vec![
            Picker::groups(&staff.actor, scope, &groups, &self.assigned),
            Picker::permissions(&staff.actor, self.assigned.permissions),
        ])
    }
}

fn address(id: UserId) -> String {
    format!("{ROOT}/users/{id}")
}

async fn read(staff: &Staff, context: &State, id: &str) -> Result<Account, PageError> {
    let grant = staff.authorize::<ViewUsers>()?;
    Ok(users::get(&context.app, grant, id_of(RecordKind::User, id)?).await?)
}

pub(super) async fn add(staff: Staff, context: State) -> PageResult {
    staff.authorize::<AddUsers>()?;
    Draft::empty().show(&staff, &context, None, &FieldErrors::default()).await
}

pub(super) async fn create(staff: Staff, context: State, form: OwnForm) -> PageResult {
    let grant = staff.authorize::<AddUsers>()?;
    let mut errors = FieldErrors::default();
    let draft = Draft::submitted(&form, &mut errors);
    let password = errors.take("password", Password::parse_new(form.text("password").to_owned()));
    if let (Some(input), Some(password)) = (draft.input(&mut errors), password) {
        match users::create(&context.app, &staff.actor, grant, input, password).await {
            Ok(user) => {
                staff.notify(t!("user-created", email = user.email.as_str()))?;
                let may_view = staff.can::<ViewUsers>();
                return Ok(page::see_other(&if may_view { address(user.id) } else { ROOT.to_owned() }));
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    draft.show(&staff, &context, None, &errors).await
}

pub(super) async fn show(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let account = read(&staff, &context, &id).await?;
    let draft = Draft::of(&account);
    draft.show(&staff, &context, Some(&account), &FieldErrors::default()).await
}

pub(super) async fn change(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    staff.authorize::<ViewUsers>()?;
    let grant = staff.authorize::<ChangeUsers>()?;
    let account = read(&staff, &context, &id).await?;
    let id = account.user.id;
    if is_stale(&form, &revision(&account)) {
        staff.warn(t!("record-stale"))?;
        return Ok(page::see_other(&address(id)));
    }
    let mut errors = FieldErrors::default();
    let draft = Draft::submitted(&form, &mut errors);
    if let Some(input) = draft.input(&mut errors) {
        match users::change(&context.app, &staff.actor, grant, id, &input).await {
            Ok(_) => {
                staff.notify(t!("user-saved"))?;
                return Ok(page::see_other(&address(id)));
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    draft.show(&staff, &context, Some(&account), &errors).await
}

pub(super) async fn confirm(staff: Staff, context: State, id: Path<String>) -> PageResult {
    staff.authorize::<DeleteUsers>()?;
    let account = read(&staff, &context, &id).await?;
    let scope = scope::load(&context.app, &staff.actor).await?;
    if !may_delete(&account, &staff.actor, &scope) {
        return Err(Error::Forbidden.into());
    }
    let path = address(account.user.id);
    let page = ConfirmPage {
        section: t!("records-user"),
        section_href: format!("{ROOT}/users"),
        name: account.user.email.as_str(),
        question: t!("user-delete-question"),
        consequences: vec![
            t!("user-delete-records"),
            t!("user-delete-documents"),
            t!("user-delete-deactivate"),
        ],
        action: format!("{path}/delete"),
        verb: t!("user-delete-verb"),
        cancel: path,
    };
    staff.show(&context, "users", page)
}

pub(super) async fn delete(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    staff.authorize::<ViewUsers>()?;
    let (grant, id) = (staff.authorize::<DeleteUsers>()?, id_of(RecordKind::User, &id)?);
    users::delete(&context.app, &staff.actor, grant, id).await?;
    staff.notify(t!("user-deleted"))?;
    Ok(page::see_other(&format!("{ROOT}/users")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for UserPage {
        fn samples() -> Vec<Self> {
            let page = |form, account, may_change| Self { form, may_change, account };
            let form = || FormView::samples().into_iter();
            let new = form().map(|form| page(form, None, true));
            let accounts = AccountView::samples().into_iter().zip(form().chain(form()));
            new.chain(accounts.map(|(account, form)| page(form, Some(account), false))).collect()
        }
    }
}
