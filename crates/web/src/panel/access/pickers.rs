//! Choices of permissions and groups in forms.

use super::kinds;
use crate::language::{self, t};
use crate::signed_in::field::{Choice, Choices, Picker};
use crate::signed_in::form::{FieldErrors, Form};
use docent_domain::access::Actor;
use docent_domain::delegation::Access;
use docent_domain::error::ValidationError;
use docent_domain::group::{AssignedPermissions, Group};
use docent_domain::permission::{Permission, PermissionSet, RecordKind};
use docent_domain::scope::Scope;

impl Picker {
    /// Permissions by record kind. Permissions that the actor does not hold are disabled.
    pub(crate) fn permissions(actor: &Actor, ticked: PermissionSet) -> Self {
        let option = |permission: Permission| Choice {
            value: permission.to_string(),
            label: kinds::label(permission),
            purpose: kinds::purpose(permission),
            is_ticked: ticked.contains(permission),
            is_disabled: !ticked.contains(permission) && !actor.can_grant(permission),
        };
        let of = |kind: &RecordKind| Choices {
            title: kinds::title(*kind),
            options: PermissionSet::all().iter().filter(|p| p.kind() == *kind).map(option).collect(),
        };
        Self {
            name: "permissions",
            label: t!("group-permissions"),
            help: t!("group-permissions-help"),
            base: t!("every-account"),
            empty: String::new(),
            has_panes: true,
            kinds: RecordKind::ALL.iter().map(of).collect(),
            error: None,
        }
    }

    /// Groups by name. Groups with more access than the actor say what it lacks, and cannot be ticked.
    pub(crate) fn groups(
        actor: &Actor,
        scope: &Scope,
        groups: &[(Group, Access)],
        assigned: &AssignedPermissions,
    ) -> Self {
        let option = |(group, access): &(Group, Access)| {
            let (missing, is_ticked) = (actor.missing_of(scope, access), assigned.groups.contains(&group.id));
            let purpose = match missing.is_empty() {
                true => String::new(),
                false => t!("group-needs", missing = language::missing(missing)),
            };
            Choice {
                value: group.id.to_string(),
                label: group.name.as_str().to_owned(),
                purpose,
                is_ticked,
                is_disabled: !is_ticked && !missing.is_empty(),
            }
        };
        let options: Vec<_> = groups.iter().map(option).collect();
        Self {
            name: "groups",
            label: t!("records-group"),
            help: t!("groups-help"),
            base: String::new(),
            empty: t!("groups-empty"),
            has_panes: true,
            kinds: if options.is_empty() {
                Vec::new()
            } else {
                vec![Choices { title: String::new(), options }]
            },
            error: None,
        }
    }
}

/// Permissions selected in a submitted form.
pub(super) fn permissions(form: &Form, errors: &mut FieldErrors) -> PermissionSet {
    let parse = |name: &str| {
        Permission::parse(name).ok_or_else(|| ValidationError::new("permissions", t!("permissions-unknown")))
    };
    form.all("permissions").filter_map(|name| errors.take("permissions", parse(name))).collect()
}
