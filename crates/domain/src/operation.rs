//! Operations that require authorization, and what each requires.

use crate::api_key::ApiKeyScope;
use crate::permission::Permission;

/// Which accounts are allowed to perform an operation. Superusers are staff and have all permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRule {
    /// Every active account.
    ActiveAccount,
    /// Every active account, but no API key that is limited to collections.
    AllCollections,
    /// Accounts with access to the admin panel.
    Staff,
    /// Accounts with this permission.
    Permission(Permission),
}

/// An operation that requires authorization.
pub trait Operation {
    /// Which accounts are allowed to perform it.
    const RULE: AccessRule;
    /// Scope that an API key needs for it. If `None`, no API key is accepted.
    const SCOPE: Option<ApiKeyScope>;
    /// Scope that an API key needs for it on records of its own account.
    const OWN_SCOPE: Option<ApiKeyScope>;
    /// Whether a browser's session needs a recent proof of identity for it, so that an unattended browser or
    /// a stolen cookie is not enough: to give access that outlasts the session, to delete accounts, groups
    /// and collections, and to send data out of the service. Operations that only end access are quick.
    const NEEDS_PROOF: bool;
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident: $rule:expr, $scope:expr, $own:expr, $needs_proof:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Operation for $name {
            const RULE: AccessRule = $rule;
            const SCOPE: Option<ApiKeyScope> = $scope;
            const OWN_SCOPE: Option<ApiKeyScope> = $own;
            const NEEDS_PROOF: bool = $needs_proof;
        }
    )*};
}

/// Operations that require the given permission and, of an API key, the `admin` scope.
macro_rules! permitted {
    ($($(#[$doc:meta])* $name:ident: $permission:ident, $own:expr, $needs_proof:expr;)*) => {
        operations! {$(
            $(#[$doc])*
            $name: AccessRule::Permission(Permission::$permission), Some(ApiKeyScope::Admin), $own, $needs_proof;
        )*}
    };
}

/// Values of [`Operation::NEEDS_PROOF`].
const PROOF: bool = true;
const NO_PROOF: bool = false;

operations! {
    /// Creating collections.
    CreateCollections: AccessRule::AllCollections, Some(ApiKeyScope::Admin), Some(ApiKeyScope::Admin), NO_PROOF;
    /// Changing and deleting collections that the actor manages. A proof of identity is needed where the
    /// operation of staff, such as [`ShareCollections`], needs one.
    ManageCollections: AccessRule::ActiveAccount, Some(ApiKeyScope::Admin), Some(ApiKeyScope::Admin), NO_PROOF;
    /// Hiding collections from the lists and searches of one's own account.
    HideCollections: AccessRule::AllCollections, Some(ApiKeyScope::Admin), Some(ApiKeyScope::Admin), NO_PROOF;
    /// Creating and uploading documents.
    AddDocuments: AccessRule::ActiveAccount, Some(ApiKeyScope::Ingest), Some(ApiKeyScope::Ingest), NO_PROOF;
    /// Reading and searching documents.
    ReadDocuments: AccessRule::ActiveAccount, Some(ApiKeyScope::Read), Some(ApiKeyScope::Read), NO_PROOF;
    /// Asking agents and managing one's own conversations.
    Chat: AccessRule::ActiveAccount, Some(ApiKeyScope::Chat), Some(ApiKeyScope::Chat), NO_PROOF;
    /// Setting up and removing one's own second factor, and renewing its recovery codes. Not with API keys.
    ChangeSecondFactor: AccessRule::ActiveAccount, None, None, PROOF;
    /// Connecting one's own account with an identity provider, and disconnecting it. Not with API keys.
    ConnectIdentity: AccessRule::ActiveAccount, None, None, PROOF;
    /// Choosing where one's own webhooks send which events, and receiving their secrets.
    DirectWebhooks: AccessRule::AllCollections, Some(ApiKeyScope::Ingest), Some(ApiKeyScope::Ingest), PROOF;
    /// Adding, inviting and removing members of groups that the actor manages. Not with API keys.
    ManageGroups: AccessRule::ActiveAccount, None, None, PROOF;
    /// Managing one's own webhooks, which report documents of all collections.
    ManageWebhooks: AccessRule::AllCollections, Some(ApiKeyScope::Ingest), Some(ApiKeyScope::Ingest), NO_PROOF;
    /// Using the admin panel. API keys are not accepted.
    UseAdminPanel: AccessRule::Staff, None, None, NO_PROOF;
}

permitted! {
    /// Viewing documents in the admin panel.
    ViewDocuments: ViewDocument, None, NO_PROOF;
    /// Uploading documents in the admin panel.
    UploadDocuments: AddDocument, None, NO_PROOF;
    /// Changing documents of other accounts, such as retrying their ingestion.
    ChangeDocuments: ChangeDocument, Some(ApiKeyScope::Ingest), NO_PROOF;
    /// Deleting documents of other accounts.
    DeleteDocuments: DeleteDocument, Some(ApiKeyScope::Ingest), NO_PROOF;
    /// Viewing all collections and their members in the admin panel.
    ViewCollections: ViewCollection, None, NO_PROOF;
    /// Creating collections in the admin panel.
    AddCollections: AddCollection, None, NO_PROOF;
    /// Changing names and descriptions of all collections, and removing members.
    ChangeCollections: ChangeCollection, None, NO_PROOF;
    /// Opening collections to members and to all accounts, and changing their roles.
    ShareCollections: ChangeCollection, None, PROOF;
    /// Giving every account a role on collections that the actor manages.
    OpenCollections: OpenCollection, None, PROOF;
    /// Deleting collections of other accounts.
    DeleteCollections: DeleteCollection, None, PROOF;
    /// Viewing accounts.
    ViewUsers: ViewUser, None, NO_PROOF;
    /// Creating accounts.
    AddUsers: AddUser, None, PROOF;
    /// Changing accounts.
    ChangeUsers: ChangeUser, None, PROOF;
    /// Deleting accounts.
    DeleteUsers: DeleteUser, None, PROOF;
    /// Viewing groups and the list of permissions.
    ViewGroups: ViewGroup, None, NO_PROOF;
    /// Creating groups.
    AddGroups: AddGroup, None, PROOF;
    /// Changing groups.
    ChangeGroups: ChangeGroup, None, PROOF;
    /// Deleting groups.
    DeleteGroups: DeleteGroup, None, PROOF;
    /// Viewing API keys of all accounts.
    ViewApiKeys: ViewApiKey, None, NO_PROOF;
    /// Creating API keys for any account.
    AddApiKeys: AddApiKey, None, PROOF;
    /// Revoking API keys of any account.
    DeleteApiKeys: DeleteApiKey, None, NO_PROOF;
    /// Viewing invitations.
    ViewInvitations: ViewInvitation, None, NO_PROOF;
    /// Inviting people, and sending invitations again.
    AddInvitations: AddInvitation, None, PROOF;
    /// Revoking invitations.
    DeleteInvitations: DeleteInvitation, None, NO_PROOF;
    /// Viewing verification tokens.
    ViewVerifications: ViewVerification, None, NO_PROOF;
    /// Creating verification tokens and viewing their links.
    AddVerifications: AddVerification, None, PROOF;
    /// Revoking verification tokens.
    DeleteVerifications: DeleteVerification, None, NO_PROOF;
    /// Viewing sessions of all accounts.
    ViewSessions: ViewSession, None, NO_PROOF;
    /// Revoking sessions of any account.
    DeleteSessions: DeleteSession, None, NO_PROOF;
    /// Reading conversations of all accounts.
    ViewConversations: ViewConversation, None, NO_PROOF;
    /// Exporting the questions and answers of all accounts.
    ExportAnswers: ViewConversation, None, PROOF;
    /// Deleting conversations of any account.
    DeleteConversations: DeleteConversation, None, NO_PROOF;
    /// Viewing webhooks of all accounts.
    ViewWebhooks: ViewWebhook, None, NO_PROOF;
    /// Enabling and disabling webhooks of any account and resending deliveries.
    ChangeWebhooks: ChangeWebhook, None, NO_PROOF;
    /// Deleting webhooks of any account.
    DeleteWebhooks: DeleteWebhook, None, NO_PROOF;
    /// Viewing the token usage of all accounts.
    ViewUsageRecords: ViewUsage, None, NO_PROOF;
    /// Exporting the token usage of all accounts.
    ExportUsage: ViewUsage, None, PROOF;
    /// Viewing background jobs.
    ViewJobs: ViewJob, None, NO_PROOF;
    /// Reading the audit log.
    ViewAuditLog: ViewAuditEntry, None, NO_PROOF;
}
