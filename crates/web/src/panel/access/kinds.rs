//! Names of record kinds in the panel, and the pages of records.

use crate::panel::nav::ROOT;
use docent_domain::access::Actor;
use docent_domain::permission::{Action, Permission, PermissionSet, RecordKind};
use docent_http::error::sentence;
use serde::Serialize;

/// Heading for records of a kind.
pub(super) const fn title(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Document => "Documents",
        RecordKind::Collection => "Collections",
        RecordKind::User => "Users",
        RecordKind::Group => "Groups",
        RecordKind::ApiKey => "API keys",
        RecordKind::Verification => "Verification tokens",
        RecordKind::Session => "Sessions",
        RecordKind::Conversation => "Conversations",
        RecordKind::Webhook => "Webhooks",
        RecordKind::Usage => "Usage",
        RecordKind::Job => "Jobs",
        RecordKind::AuditEntry => "Audit log",
    }
}

/// Path of a record's page, if its kind has one and the actor can view it.
pub(in crate::panel) fn page(kind: RecordKind, record: &str, actor: &Actor) -> Option<String> {
    let section = match kind {
        RecordKind::Document => "documents",
        RecordKind::Collection => "collections",
        RecordKind::User => "users",
        RecordKind::Group => "groups",
        RecordKind::ApiKey => "api-keys",
        RecordKind::Conversation => "conversations",
        RecordKind::Webhook => "webhooks",
        RecordKind::AuditEntry => "audit",
        RecordKind::Verification | RecordKind::Session | RecordKind::Usage | RecordKind::Job => return None,
    };
    let view = |permission: Permission| permission.kind() == kind && permission.action() == Action::View;
    let may_view = actor.permissions().iter().any(view);
    // The failed login of an unknown account has no record.
    (may_view && !record.is_empty()).then(|| format!("{ROOT}/{section}/{record}"))
}

/// Permitted actions on records of a kind.
#[derive(Serialize)]
pub(crate) struct Allowed {
    title: &'static str,
    actions: String,
}

/// Groups a set of permissions by record kind.
pub(crate) fn allowed(permissions: PermissionSet) -> Vec<Allowed> {
    let of = |kind: &RecordKind| {
        let actions: Vec<_> =
            permissions.iter().filter(|permission| permission.kind() == *kind).map(action).collect();
        (!actions.is_empty()).then(|| Allowed { title: title(*kind), actions: actions.join(", ") })
    };
    RecordKind::ALL.iter().filter_map(of).collect()
}

fn action(permission: Permission) -> &'static str {
    match (permission.action(), permission.kind()) {
        (Action::Delete, RecordKind::ApiKey | RecordKind::Verification) => "revoke",
        (Action::Delete, RecordKind::Session) => "end",
        (action, _) => action.name(),
    }
}

/// Label of a permission's checkbox.
pub(super) fn label(permission: Permission) -> String {
    sentence(action(permission))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Allowed {
        pub(crate) fn samples() -> Vec<Self> {
            vec![Self { title: "Users", actions: "view, add".to_owned() }]
        }
    }

    #[test]
    fn permissions_are_grouped_by_kind_of_record() {
        let set =
            [Permission::ViewUser, Permission::DeleteSession, Permission::AddUser].into_iter().collect();
        let actions: Vec<_> = allowed(set).into_iter().map(|kind| (kind.title, kind.actions)).collect();
        assert_eq!(actions, [("Users", "view, add".to_owned()), ("Sessions", "end".to_owned())]);
    }
}
