//! `/admin/users/add` and `/admin/users/{id}`

use super::{
    field::{self, Field, Picker},
    kinds,
    tables::{EntryRow, KeyRow, SessionRow},
};
use crate::{
    admin::{
        ROOT,
        form::{FieldErrors, Form, OwnForm, STALE, mark},
        page::{self, Broken},
        session::Staff,
        times::Time,
    },
    api::documents::list::encode_query,
    context::State,
};
use actix_web::{HttpResponse, http::StatusCode, web::Path};
use docent_app::{
    accounts::{
        api_keys, groups, sessions,
        users::{self, Account, Wanted},
    },
    audit,
    error::Error,
    listing::{ApiKeyFilter, AuditFilter, Page, SessionFilter},
};
use docent_domain::{
    access::{
        AddUsers, AddVerifications, ChangeUsers, DeleteSessions, DeleteUsers, ViewApiKeys, ViewAuditLog,
        ViewSessions, ViewUsers,
    },
    error::Invalid,
    group::Rights,
    id::UserId,
    permission::{Permission, PermissionSet, RecordKind},
    text::Email,
    user::Password,
};

/// Lines of each table beside the form.
const BESIDE: Page = Page { offset: 0, limit: 10 };

/// What a form says of an account, right or wrong.
struct Draft {
    email: String,
    is_active: bool,
    is_staff: bool,
    is_superuser: bool,
    rights: Rights,
}

impl Draft {
    fn of(account: &Account) -> Self {
        let user = &account.user;
        Self {
            email: user.email.as_str().to_owned(),
            is_active: user.is_active,
            is_staff: user.is_staff,
            is_superuser: user.is_superuser,
            rights: account.rights.clone(),
        }
    }

    fn sent(form: &Form, errors: &mut FieldErrors) -> Self {
        let groups = form.all("groups").map(|id| {
            id.parse().map_err(|_| Invalid::new("groups", "names a group that does not exist any more"))
        });
        Self {
            email: form.text("email").trim().to_owned(),
            is_active: form.is_ticked("is_active"),
            is_staff: form.is_ticked("is_staff"),
            is_superuser: form.is_ticked("is_superuser"),
            rights: Rights {
                permissions: permissions(form, errors),
                groups: groups.filter_map(|id| errors.take("groups", id)).collect(),
            },
        }
    }

    fn wanted(&self, errors: &mut FieldErrors) -> Option<Wanted> {
        let email = errors.take("email", Email::parse(&self.email))?;
        Some(Wanted {
            email,
            is_active: self.is_active,
            is_staff: self.is_staff,
            is_superuser: self.is_superuser,
            rights: self.rights.clone(),
        })
    }

    fn fields(&self, staff: &Staff) -> Vec<Field> {
        let for_superusers = !staff.actor.is_superuser();
        vec![
            Field::line("email", "email", "E-mail", &self.email).required(),
            Field::tick("is_active", "Active", self.is_active).help(
                "An account that is not active cannot be used; its sessions end and its keys are refused.",
            ),
            Field::tick("is_staff", "Staff", self.is_staff)
                .help("May enter this panel, and do there what it has permissions for."),
            Field::tick("is_superuser", "Superuser", self.is_superuser)
                .help("Bypasses all permission checks. For superusers to give.")
                .disabled(for_superusers),
        ]
    }

    async fn pickers(&self, staff: &Staff, context: &State) -> Result<Vec<Picker>, Broken> {
        let groups = groups::names(&context.app).await?;
        Ok(vec![
            Picker::groups(&staff.actor, &groups, &self.rights),
            Picker::permissions(&staff.actor, self.rights.permissions),
        ])
    }
}

/// The permissions that are ticked.
pub(super) fn permissions(form: &Form, errors: &mut FieldErrors) -> PermissionSet {
    let parse = |name: &str| {
        Permission::parse(name).ok_or_else(|| Invalid::new("permissions", "hold one that does not exist"))
    };
    form.all("permissions").filter_map(|name| errors.take("permissions", parse(name))).collect()
}

/// The id of an address.
pub(super) fn id_of(id: &str) -> Result<UserId, Error> {
    id.parse().map_err(|_| Error::NotFound(RecordKind::User))
}

pub(super) async fn add(staff: Staff, context: State) -> Result<HttpResponse, Broken> {
    staff.may::<AddUsers>()?;
    let draft = Draft {
        email: String::new(),
        is_active: true,
        is_staff: false,
        is_superuser: false,
        rights: Rights::default(),
    };
    show_add(&staff, &context, StatusCode::OK, &draft, &FieldErrors::default()).await
}

async fn show_add(
    staff: &Staff,
    context: &State,
    status: StatusCode,
    draft: &Draft,
    errors: &FieldErrors,
) -> Result<HttpResponse, Broken> {
    let mut values = staff.page("users");
    let mut fields = draft.fields(staff);
    let password = Field::password("password", "Password", "new-password");
    fields.insert(1, password.help("At least 8 characters. It is not shown again."));
    field::insert(&mut values, fields, draft.pickers(staff, context).await?, errors);
    values.insert("account", &None::<()>);
    values.insert("may_change", &true);
    page::show(context, status, "user.html", &values)
}

pub(super) async fn create(
    staff: Staff,
    context: State,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    let grant = staff.may::<AddUsers>()?;
    let mut errors = FieldErrors::default();
    let draft = Draft::sent(&form, &mut errors);
    let password = errors.take("password", Password::chosen(form.text("password").to_owned()));
    let wanted = draft.wanted(&mut errors);
    if let (Some(wanted), Some(password), true) = (wanted, password, errors.is_empty()) {
        match users::create(&context.app, &staff.actor, grant, wanted, password).await {
            Ok(user) => {
                staff.say(format!("The account {} was created.", user.email.as_str()))?;
                let may_view = staff.actor.may::<ViewUsers>().is_ok();
                let onward = if may_view { format!("{ROOT}/users/{}", user.id) } else { ROOT.to_owned() };
                return Ok(page::see_other(&onward));
            }
            Err(error) => errors.hear(error)?,
        }
    }
    show_add(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, &draft, &errors).await
}

pub(super) async fn show(staff: Staff, context: State, id: Path<String>) -> Result<HttpResponse, Broken> {
    let account = users::get(&context.app, staff.may::<ViewUsers>()?, id_of(&id)?).await?;
    let draft = Draft::of(&account);
    show_account(&staff, &context, StatusCode::OK, &account, &draft, &FieldErrors::default()).await
}

pub(super) async fn change(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    let (view, grant) = (staff.may::<ViewUsers>()?, staff.may::<ChangeUsers>()?);
    let account = users::get(&context.app, view, id_of(&id)?).await?;
    if form.is_stale(&mark_of(&account)) {
        staff.complain(STALE)?;
        return Ok(page::see_other(&format!("{ROOT}/users/{}", account.user.id)));
    }
    let mut errors = FieldErrors::default();
    let draft = Draft::sent(&form, &mut errors);
    let wanted = draft.wanted(&mut errors);
    if let (Some(wanted), true) = (wanted, errors.is_empty()) {
        match users::change(&context.app, &staff.actor, grant, account.user.id, &wanted).await {
            Ok(user) => {
                staff.say("The account was saved.")?;
                return Ok(page::see_other(&format!("{ROOT}/users/{}", user.id)));
            }
            Err(error) => errors.hear(error)?,
        }
    }
    show_account(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, &account, &draft, &errors).await
}

/// The mark of what the form shows of an account.
fn mark_of(account: &Account) -> String {
    let Account { user, rights, .. } = account;
    let permissions: Vec<_> = rights.permissions.iter().map(|permission| permission.to_string()).collect();
    let flags = [user.is_active, user.is_staff, user.is_superuser];
    mark(&(user.email.as_str(), flags, &rights.groups, permissions))
}

async fn show_account(
    staff: &Staff,
    context: &State,
    status: StatusCode,
    account: &Account,
    draft: &Draft,
    errors: &FieldErrors,
) -> Result<HttpResponse, Broken> {
    let (user, actor, now) = (&account.user, &staff.actor, context.app.clock.now());
    let is_within_reach = actor.is_superuser() || !user.is_superuser;
    let may_change = is_within_reach && actor.may::<ChangeUsers>().is_ok();
    let is_own = user.id == actor.user();
    let mut values = staff.page("users");
    field::insert(&mut values, draft.fields(staff), draft.pickers(staff, context).await?, errors);
    values.insert("account", &user.id.to_string());
    values.insert("seen", &mark_of(account));
    values.insert("email", user.email.as_str());
    values.insert("is_superuser", &user.is_superuser);
    values.insert("is_active", &user.is_active);
    values.insert("created", &Time::of(user.created_at, now));
    values.insert("last_login", &user.last_login_at.map(|at| Time::of(at, now)));
    values.insert("verified", &user.email_verified_at.map(|at| Time::of(at, now)));
    values.insert("allowed", &kinds::allowed(account.permissions));
    values.insert("may_change", &may_change);
    let has_all = actor.permissions().contains_all(account.permissions);
    values.insert("may_set_password", &(may_change && has_all));
    let may_link = actor.may::<AddVerifications>().is_ok() && user.is_active;
    values.insert("may_link", &may_link);
    values.insert("may_link_password", &(may_link && is_within_reach && has_all));
    values
        .insert("may_delete", &(is_within_reach && has_all && !is_own && actor.may::<DeleteUsers>().is_ok()));
    values.insert("may_end_sessions", &actor.may_to::<DeleteSessions>(Some(user.id)).is_ok());
    beside(&mut values, staff, context, user.id, &user.email).await?;
    page::show(context, status, "user.html", &values)
}

/// The tables beside the form: of what the actor may see.
async fn beside(
    values: &mut tera::Context,
    staff: &Staff,
    context: &State,
    id: UserId,
    email: &Email,
) -> Result<(), Broken> {
    let (app, now) = (&context.app, context.app.clock.now());
    let emails = [(id, email.clone())].into_iter().collect();
    if let Ok(grant) = staff.actor.may::<ViewApiKeys>() {
        let filter = ApiKeyFilter { user: Some(id), ..ApiKeyFilter::default() };
        let found = api_keys::list(app, grant, &filter, BESIDE).await?;
        let rows: Vec<_> = found.records.iter().map(|key| KeyRow::of(key, &emails, staff, now)).collect();
        values.insert("keys", &rows);
        values.insert("key_total", &found.total);
    }
    if let Ok(grant) = staff.actor.may::<ViewSessions>() {
        let filter = SessionFilter { user: Some(id), good_at: Some(now), ..SessionFilter::default() };
        let found = sessions::list(app, grant, &filter, BESIDE).await?;
        let rows: Vec<_> = found.records.iter().map(|one| SessionRow::of(one, &emails, staff, now)).collect();
        values.insert("sessions", &rows);
        values.insert("session_total", &found.total);
    }
    if let Ok(grant) = staff.actor.may::<ViewAuditLog>() {
        let record = Some(id.to_string());
        let filter = AuditFilter { kind: Some(RecordKind::User), record, ..AuditFilter::default() };
        let found = audit::list(app, grant, &filter, BESIDE).await?;
        values.insert(
            "entries",
            &found.records.iter().map(|one| EntryRow::of(one, staff, now)).collect::<Vec<_>>(),
        );
    }
    for (flag, may) in [
        ("may_view_keys", staff.actor.may::<ViewApiKeys>().is_ok()),
        ("may_view_sessions", staff.actor.may::<ViewSessions>().is_ok()),
        ("may_view_audit", staff.actor.may::<ViewAuditLog>().is_ok()),
    ] {
        values.insert(flag, &may);
    }
    // An address may hold what means something in a query.
    values.insert("user_query", &encode_query(&[("user", Some(email.as_str()))]));
    values.insert("who_query", &encode_query(&[("who", Some(email.as_str()))]));
    values.insert("has_owner", &false);
    values.insert("back", &format!("{ROOT}/users/{id}"));
    Ok(())
}
