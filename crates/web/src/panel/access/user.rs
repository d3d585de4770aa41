//! `/admin/users/add`, `/admin/users/{id}` and `/admin/users/{id}/delete`

use super::{
    editing::{Deletion, Editing},
    field::{self, Field, FormView, Picker},
    user_page::AccountView,
};
use crate::panel::{
    form::{FieldErrors, Form, revision},
    page::{PageError, PageResult},
    session::Staff,
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
    access::{Actor, AddUsers, ChangeUsers, DeleteUsers, Grant, ViewUsers},
    error::ValidationError,
    group::AssignedPermissions,
    id::UserId,
    permission::RecordKind,
    text::Email,
    user::Password,
};
use docent_http::context::State;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct UserPage {
    #[serde(flatten)]
    form: FormView,
    may_change: bool,
    /// None for a new account.
    account: Option<AccountView>,
}

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
    type CreateInput = (AccountInput, Password);
    type ChangeInput = AccountInput;
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

    fn revision(account: &Account) -> String {
        let Account { user, assigned, .. } = account;
        let permissions: Vec<_> =
            assigned.permissions.iter().map(|permission| permission.to_string()).collect();
        let flags = [user.is_active, user.is_staff, user.is_superuser];
        revision(&(user.email.as_str(), flags, &assigned.groups, permissions))
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

    fn create_input(&self, form: &Form, errors: &mut FieldErrors) -> Option<Self::CreateInput> {
        let password = errors.take("password", Password::parse_new(form.text("password").to_owned()));
        self.change_input(errors).zip(password)
    }

    fn change_input(&self, errors: &mut FieldErrors) -> Option<AccountInput> {
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
        let mut fields = self.fields(staff);
        if account.is_none() {
            let password = Field::password("password", "Password", "new-password");
            fields.insert(1, password.help("At least 8 characters."));
        }
        let page = UserPage {
            form: FormView::of(fields, self.pickers(staff, context).await?, errors),
            may_change: account.is_none_or(|account| Self::may_change(account, &staff.actor)),
            account: match account {
                Some(account) => Some(AccountView::read(staff, context, account).await?),
                None => None,
            },
        };
        staff.show_with(status, context, Self::SECTION, page)
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
        (input, password): Self::CreateInput,
    ) -> Result<(UserId, String), Error> {
        let user = users::create(app, actor, grant, input, password).await?;
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
