//! Memberships and flags that follow the groups of a person at a provider.
//!
//! Only the groups that the operator has mapped are managed; other memberships stay as they are.

use super::SignInError;
use crate::App;
use crate::accounts::create::lock_unless_last_superuser;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::Error;
use docent_domain::audit::AuditAction;
use docent_domain::group::AssignedPermissions;
use docent_domain::identity::{IdentityClaims, ProviderRules};
use docent_domain::user::User;
use docent_ports::store::UnitOfWork;
use std::collections::BTreeSet;

/// Adds and removes memberships and flags of an account that signs in, with an audit entry if anything changes.
pub(super) async fn synchronize(
    app: &App,
    work: &mut dyn UnitOfWork,
    rules: &ProviderRules,
    claims: &IdentityClaims,
    user: &mut User,
    initiator: &Initiator,
) -> Result<(), SignInError> {
    if !rules.manages_groups() {
        return Ok(());
    }
    let before = user.clone();
    let (old, new) = memberships(work, rules, claims, user).await?;
    set_flags(work, rules, claims, user).await?;
    let names = async |work: &mut dyn UnitOfWork, assigned: &AssignedPermissions| {
        let ids: Vec<_> = assigned.groups.iter().copied().collect();
        let names: BTreeSet<String> = work.groups().names(&ids).await?.into_values().collect();
        Ok::<_, SignInError>(names.into_iter().collect::<Vec<_>>().join(", "))
    };
    let changes = Changes::default()
        .changed("groups", names(work, &old).await?, names(work, &new).await?)
        .changed("is_staff", before.is_staff, user.is_staff)
        .changed("is_superuser", before.is_superuser, user.is_superuser);
    if changes.is_empty() {
        return Ok(());
    }
    if old != new {
        work.groups().set_assigned_permissions(user.id, &new).await?;
    }
    work.users().update(user).await?;
    let changes = changes.added("identity_provider", &rules.name);
    Ok(app.audit(work, initiator, AuditAction::Change, AuditTarget::user(user), changes).await?)
}

/// The assigned permissions and groups before and after.
async fn memberships(
    work: &mut dyn UnitOfWork,
    rules: &ProviderRules,
    claims: &IdentityClaims,
    user: &User,
) -> Result<(AssignedPermissions, AssignedPermissions), SignInError> {
    let old = work.groups().assigned_permissions(user.id).await?;
    let mut new = old.clone();
    let targets: BTreeSet<_> = rules.groups.iter().map(|mapping| &mapping.group).collect();
    for name in targets {
        let Some(group) = work.groups().by_name(name).await? else {
            tracing::warn!(provider = %rules.name, group = name.as_str(), "a mapped group does not exist");
            continue;
        };
        let mut sources = rules.groups.iter().filter(|mapping| mapping.group.key() == name.key());
        if sources.any(|mapping| claims.groups.contains(&mapping.claim)) {
            new.groups.insert(group.id);
        } else {
            new.groups.remove(&group.id);
        }
    }
    Ok((old, new))
}

/// Sets the flags for which the operator has named a group. The last superuser stays one.
async fn set_flags(
    work: &mut dyn UnitOfWork,
    rules: &ProviderRules,
    claims: &IdentityClaims,
    user: &mut User,
) -> Result<(), SignInError> {
    if let Some(group) = &rules.superuser_group {
        let is_member = claims.groups.contains(group);
        if user.is_superuser && !is_member {
            match lock_unless_last_superuser(work, user.id).await {
                Ok(_) => user.is_superuser = false,
                Err(Error::LastSuperuser) => {
                    tracing::warn!(user = %user.id, "the last superuser remains one, against the identity provider's groups");
                }
                Err(error) => return Err(error.into()),
            }
        } else {
            user.is_superuser = is_member;
        }
    }
    if let Some(group) = &rules.staff_group {
        user.is_staff = claims.groups.contains(group);
    }
    Ok(())
}
