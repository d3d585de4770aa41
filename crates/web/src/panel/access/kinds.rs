//! Names of record kinds in the panel, and the pages of records.

use crate::language::{self, t};
use crate::panel::nav::ROOT;
use docent_domain::access::Actor;
use docent_domain::audit::AuditAction;
use docent_domain::permission::{Action, Permission, PermissionSet, RecordKind};
use serde::Serialize;

/// Heading for records of a kind.
pub(super) fn title(kind: RecordKind) -> String {
    language::named("records-", kind.name())
}

/// Name of an audited action.
pub(super) fn action(action: AuditAction) -> String {
    language::named("audit-action-", action.name())
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
        RecordKind::Invitation
        | RecordKind::Verification
        | RecordKind::Session
        | RecordKind::Usage
        | RecordKind::Job => return None,
    };
    let view = |permission: Permission| permission.kind() == kind && permission.action() == Action::View;
    let may_view = actor.permissions().iter().any(view);
    // The failed login of an unknown account has no record.
    (may_view && !record.is_empty()).then(|| format!("{ROOT}/{section}/{record}"))
}

/// Permitted actions on records of a kind.
#[derive(Serialize)]
pub(crate) struct Allowed {
    title: String,
    actions: Vec<AllowedAction>,
}

/// Permitted action and what it adds to what every account may do.
#[derive(Serialize)]
struct AllowedAction {
    label: String,
    purpose: String,
}

/// Groups a set of permissions by record kind.
pub(crate) fn allowed(permissions: PermissionSet) -> Vec<Allowed> {
    let of = |kind: &RecordKind| {
        let of_kind = permissions.iter().filter(|permission| permission.kind() == *kind);
        let line =
            |permission: Permission| AllowedAction { label: label(permission), purpose: purpose(permission) };
        let actions: Vec<_> = of_kind.map(line).collect();
        (!actions.is_empty()).then(|| Allowed { title: title(*kind), actions })
    };
    RecordKind::ALL.iter().filter_map(of).collect()
}

/// Label of a permission's checkbox.
pub(super) fn label(permission: Permission) -> String {
    match (permission.action(), permission.kind()) {
        (Action::Delete, RecordKind::ApiKey | RecordKind::Invitation | RecordKind::Verification) => {
            t!("permission-to-revoke")
        }
        (Action::Delete, RecordKind::Session) => t!("permission-to-end"),
        (Action::View, _) => t!("permission-to-view"),
        (Action::Add, _) => t!("permission-to-add"),
        (Action::Change, _) => t!("permission-to-change"),
        (Action::Open, _) => t!("permission-to-open"),
        (Action::Delete, _) => t!("permission-to-delete"),
    }
}

/// What a permission adds to what every account may do, as a sentence.
pub(super) fn purpose(permission: Permission) -> String {
    language::named("permission-", permission.to_string().split_once('.').map_or("", |(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Allowed {
        pub(crate) fn samples() -> Vec<Self> {
            allowed([Permission::ViewUser, Permission::AddUser].into_iter().collect())
        }
    }

    #[test]
    fn permissions_are_grouped_by_kind_of_record() {
        let set =
            [Permission::ViewUser, Permission::DeleteSession, Permission::AddUser].into_iter().collect();
        let labels = |kind: Allowed| {
            let labels: Vec<_> = kind.actions.into_iter().map(|action| action.label).collect();
            (kind.title, labels.join(", "))
        };
        let actions: Vec<_> = allowed(set).into_iter().map(labels).collect();
        assert_eq!(
            actions,
            [("Users".to_owned(), "View, Add".to_owned()), ("Sessions".to_owned(), "End".to_owned())]
        );
    }

    #[test]
    fn every_language_names_all_kinds_actions_and_permissions() {
        for language in language::all() {
            let has = |prefix: &str, name: &str| assert!(language.has(&format!("{prefix}{name}")), "{name}");
            for kind in RecordKind::ALL {
                has("records-", kind.name());
            }
            for action in AuditAction::ALL {
                has("audit-action-", action.name());
            }
            for permission in Permission::ALL {
                has("permission-", permission.to_string().split_once('.').unwrap().1);
            }
        }
    }
}
