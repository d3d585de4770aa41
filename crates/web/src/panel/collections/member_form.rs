//! Members on the page of a collection, and the form to add one

use super::{address, names};
use crate::language::t;
use crate::paging::{PageNumber, Paging};
use crate::panel::access::kinds;
use crate::signed_in::field::{Field, FormView};
use crate::signed_in::form::{FieldErrors, Form};
use crate::signed_in::page::PageError;
use crate::signed_in::session::Staff;
use docent_app::collections::browse::OpenCollection;
use docent_app::collections::members::{self as use_case, MemberName, NamedMember};
use docent_domain::collection::{CollectionKind, CollectionRole, Member};
use docent_domain::group::GroupName;
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_http::State;
use serde::Serialize;

/// Members of a collection, and the form to add one.
#[derive(Serialize)]
pub(super) struct MembersView {
    rows: Vec<Row>,
    paging: Paging,
    /// Names and labels of the roles.
    roles: Vec<(&'static str, String)>,
    form: FormView,
    /// Whether members can be added and changed.
    may_change: bool,
    /// Whether members can be removed.
    may_remove: bool,
}

#[derive(Serialize)]
struct Row {
    /// Field that names the member in forms: `user` or `group`.
    kind: &'static str,
    id: String,
    name: String,
    /// Name that the person chose.
    display_name: Option<String>,
    /// Page of the account or group, for actors who can view it.
    page: Option<String>,
    role: &'static str,
    /// Label of the role.
    role_name: String,
}

impl Row {
    fn of(member: &NamedMember, staff: &Staff) -> Self {
        let (kind, record, id) = match member.membership.member {
            Member::User(user) => ("user", RecordKind::User, user.to_string()),
            Member::Group(group) => ("group", RecordKind::Group, group.to_string()),
        };
        Self {
            kind,
            page: kinds::page(record, &id, &staff.actor),
            id,
            name: member.name.clone(),
            display_name: member.display_name.clone(),
            role: member.membership.role.name(),
            role_name: names::role_name(member.membership.role),
        }
    }
}

impl MembersView {
    pub(super) async fn read(
        staff: &Staff,
        context: &State,
        open: &OpenCollection,
        number: PageNumber,
        draft: &MemberDraft,
        errors: &FieldErrors,
    ) -> Result<Self, PageError> {
        let id = open.collection.id;
        let found = use_case::page(&context.app, &staff.actor, id, number.page()).await?;
        let is_personal = open.collection.kind == CollectionKind::Personal;
        Ok(Self {
            paging: Paging::of(number, found.records.len(), found.total, &address(id), &[]),
            rows: found.records.iter().map(|member| Row::of(member, staff)).collect(),
            roles: CollectionRole::ALL.iter().map(|role| (role.name(), names::role_name(*role))).collect(),
            form: FormView::of(draft.fields(), Vec::new(), errors),
            may_change: open.can_change && !is_personal,
            may_remove: open.can_change,
        })
    }
}

/// Form values of a new member, valid or not.
#[derive(Default)]
pub(super) struct MemberDraft {
    email: String,
    group: String,
    role: String,
}

impl MemberDraft {
    pub(super) fn submitted(form: &Form) -> Self {
        let text = |name| form.text(name).trim().to_owned();
        Self { email: text("email"), group: text("group"), role: text("role") }
    }

    fn fields(&self) -> Vec<Field> {
        let role = if self.role.is_empty() { CollectionRole::Viewer.name() } else { &self.role };
        vec![
            Field::line("email", "email", t!("member-email"), &self.email),
            Field::line("text", "group", t!("member-group"), &self.group).help(t!("member-group-help")),
            Field::select("role", t!("role"), role, names::roles()),
        ]
    }

    /// Input of the use case, if the form is valid.
    pub(super) fn parse(&self, errors: &mut FieldErrors) -> Option<(MemberName, CollectionRole)> {
        let role = CollectionRole::parse(&self.role);
        if role.is_none() {
            errors.add("role", t!("role-unknown"));
        }
        let member = match (self.email.as_str(), self.group.as_str()) {
            ("", "") => {
                errors.add("email", t!("member-email-or-group"));
                None
            }
            (email, "") => errors.take("email", Email::parse(email)).map(MemberName::User),
            ("", group) => errors.take("group", GroupName::parse(group)).map(MemberName::Group),
            _ => {
                errors.add("group", t!("member-group-not-empty"));
                None
            }
        };
        Some((member?, role?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl MembersView {
        /// Members that can be changed, that can only be viewed, and none.
        pub(crate) fn samples() -> [Self; 3] {
            let row = |kind, page: Option<&str>| Row {
                kind,
                id: "1".to_owned(),
                name: "a@example.com".to_owned(),
                display_name: Some("Ada".to_owned()),
                page: page.map(str::to_owned),
                role: "viewer",
                role_name: "viewer".to_owned(),
            };
            let [form, with_errors] = FormView::samples();
            let [other, _] = FormView::samples();
            let view = |rows, form, is_allowed| Self {
                rows,
                paging: Paging::sample(),
                roles: ["viewer", "manager"].map(|role| (role, role.to_owned())).into(),
                form,
                may_change: is_allowed,
                may_remove: is_allowed,
            };
            let rows = || vec![row("user", Some("/admin/users/1")), row("group", None)];
            [
                view(rows(), form, true),
                view(rows(), other, false),
                Self { paging: Paging::empty(), ..view(Vec::new(), with_errors, true) },
            ]
        }
    }
}
