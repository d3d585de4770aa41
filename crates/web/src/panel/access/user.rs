//! `/admin/users/add`, `/admin/users/{id}` and `/admin/users/{id}/delete`

use super::{
    editing::{Deletion, Editing},
    field::{self, Field, Picker},
    kinds, user_page,
};
use crate::panel::{
    form::{FieldErrors, Form, mark},
    page::{self, PageError, PageResult},
    session::Staff,
    times::Time,
};
use actix_web::http::StatusCode;
use docent_app::{
    App,
    accounts::{
        groups,
        users::{self, Account, AccountInput},
    },
    error::Error,
};
use docent_domain::{
    access::{Actor, AddUsers, AddVerifications, ChangeUsers, DeleteSessions, DeleteUsers, Grant, ViewUsers},
    error::ValidationError,
    group::AssignedPermissions,
    id::UserId,
    permission::RecordKind,
    text::Email,
    user::Password,
};
use docent_http::context::State;

/// Submitted form values of an account, valid or not.
pub(super) struct UserForm {
    email: String,
    is_active: bool,
    is_staff: bool,
    is_superuser: bool,
    assigned: AssignedPermissions,
}

impl Editing for UserForm {
    type Record = Account;
    type Id = UserId;
    type New = (AccountInput, Password);
    type Wanted = AccountInput;
    type View = ViewUsers;
    type Add = AddUsers;
    type Change = ChangeUsers;
    type Delete = DeleteUsers;

    const KIND: RecordKind = RecordKind::User;
    const SECTION: &'static str = "users";
    const NOUN: &'static str = "account";

    fn id(account: &Account) -> UserId {
        account.user.id
    }

    fn mark(account: &Account) -> String {
        let Account { user, assigned, .. } = account;
        let permissions: Vec<_> =
            assigned.permissions.iter().map(|permission| permission.to_string()).collect();
        let flags = [user.is_active, user.is_staff, user.is_superuser];
        mark(&(user.email.as_str(), flags, &assigned.groups, permissions))
    }

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

    fn sent(form: &Form, errors: &mut FieldErrors) -> Self {
        let groups = form.all("groups").map(|id| {
            id.parse().map_err(|_| ValidationError::new("groups", "contains a group that no longer exists"))
        });
        Self {
            email: form.text("email").trim().to_owned(),
            is_active: form.is_ticked("is_active"),
            is_staff: form.is_ticked("is_staff"),
            is_superuser: form.is_ticked("is_superuser"),
            assigned: AssignedPermissions {
                permissions: field::permissions(form, errors),
                groups: groups.filter_map(|id| errors.take("groups", id)).collect(),
            },
        }
    }

    fn new_record(&self, form: &Form, errors: &mut FieldErrors) -> Option<Self::New> {
        let password = errors.take("password", Password::parse_new(form.text("password").to_owned()));
        self.wanted(errors).zip(password)
    }

    fn wanted(&self, errors: &mut FieldErrors) -> Option<AccountInput> {
        let email = errors.take("email", Email::parse(&self.email))?;
        Some(AccountInput {
            email,
            is_active: self.is_active,
            is_staff: self.is_staff,
            is_superuser: self.is_superuser,
            assigned: self.assigned.clone(),
        })
    }

    async fn show(
        &self,
        staff: &Staff,
        context: &State,
        status: StatusCode,
        account: Option<&Account>,
        errors: &FieldErrors,
    ) -> PageResult {
        let mut values = staff.page(Self::SECTION);
        let mut fields = self.fields(staff);
        if account.is_none() {
            let password = Field::password("password", "Password", "new-password");
            fields.insert(1, password.help("At least 8 characters."));
        }
        field::insert(&mut values, fields, self.pickers(staff, context).await?, errors);
        values.insert("account", &account.map(|account| account.user.id.to_string()));
        values.insert("may_change", &account.is_none_or(|account| Self::may_change(account, &staff.actor)));
        if let Some(account) = account {
            insert_account(&mut values, staff, context, account);
            user_page::insert_beside(&mut values, staff, context, &account.user).await?;
        }
        page::show_values(context, status, "user.html", &values)
    }

    fn may_change(account: &Account, actor: &Actor) -> bool {
        actor.can_edit(&account.user) && actor.authorize::<ChangeUsers>().is_ok()
    }

    fn may_delete(account: &Account, actor: &Actor) -> bool {
        let is_own = account.user.id == actor.user();
        actor.can_manage(account.access()) && !is_own && actor.authorize::<DeleteUsers>().is_ok()
    }

    fn deletion(account: &Account) -> Deletion<'_> {
        Deletion {
            name: account.user.email.as_str(),
            consequences: &[
                "Its permissions, API keys, sessions and conversations will be permanently deleted.",
                "Its documents remain without an owner. Usage records and the audit log also remain.",
                "To only block access, deactivate the account instead.",
            ],
        }
    }

    async fn get(app: &App, grant: Grant<ViewUsers>, id: UserId) -> Result<Account, Error> {
        users::get(app, grant, id).await
    }

    async fn create(
        app: &App,
        actor: &Actor,
        grant: Grant<AddUsers>,
        (wanted, password): Self::New,
    ) -> Result<(UserId, String), Error> {
        let user = users::create(app, actor, grant, wanted, password).await?;
        Ok((user.id, user.email.as_str().to_owned()))
    }

    async fn change(
        app: &App,
        actor: &Actor,
        grant: Grant<ChangeUsers>,
        id: UserId,
        input: AccountInput,
    ) -> Result<(), Error> {
        users::change(app, actor, grant, id, &input).await.map(drop)
    }

    async fn delete(
        app: &App,
        actor: &Actor,
        grant: Grant<DeleteUsers>,
        id: UserId,
    ) -> Result<String, Error> {
        users::delete(app, actor, grant, id).await?;
        Ok("The account was deleted.".to_owned())
    }
}

impl UserForm {
    fn fields(&self, staff: &Staff) -> Vec<Field> {
        let for_superusers = !staff.actor.is_superuser();
        vec![
            Field::line("email", "email", "E-mail", &self.email).required(),
            Field::tick("is_active", "Active", self.is_active).help(
                "Users of inactive accounts cannot sign in; their sessions end and their API keys stop working.",
            ),
            Field::tick("is_staff", "Staff", self.is_staff)
                .help("Can sign in to this panel and use it according to their permissions."),
            Field::tick("is_superuser", "Superuser", self.is_superuser)
                .help("Bypasses all permission checks. Only superusers can grant this.")
                .disabled(for_superusers),
        ]
    }

    async fn pickers(&self, staff: &Staff, context: &State) -> Result<Vec<Picker>, PageError> {
        let groups = groups::choices(&context.app).await?;
        Ok(vec![
            Picker::groups(&staff.actor, &groups, &self.assigned),
            Picker::permissions(&staff.actor, self.assigned.permissions),
        ])
    }
}

/// What it is, and what the actor may do with it.
fn insert_account(values: &mut tera::Context, staff: &Staff, context: &State, account: &Account) {
    let (user, actor, now) = (&account.user, &staff.actor, context.app.now());
    values.insert("seen", &UserForm::mark(account));
    values.insert("email", user.email.as_str());
    values.insert("is_superuser", &user.is_superuser);
    values.insert("is_active", &user.is_active);
    values.insert("created", &Time::of(user.created_at, now));
    values.insert("last_login", &user.last_login_at.map(|at| Time::of(at, now)));
    values.insert("verified", &user.email_verified_at.map(|at| Time::of(at, now)));
    values.insert("allowed", &kinds::allowed(account.permissions));
    let has_all = actor.can_manage(account.access());
    let may_link = actor.authorize::<AddVerifications>().is_ok() && user.is_active;
    values.insert("may_set_password", &(has_all && UserForm::may_change(account, actor)));
    values.insert("may_link", &may_link);
    values.insert("may_link_password", &(has_all && may_link));
    values.insert("may_delete", &UserForm::may_delete(account, actor));
    values.insert("may_end_sessions", &actor.authorize_for::<DeleteSessions>(Some(user.id)).is_ok());
}
