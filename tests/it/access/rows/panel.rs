//! Rows of the panel.

use super::*;

/// What managing the other account requires, which owns a closed collection: its role too.
const MANAGE: &[Permission] = &[ViewUser, ChangeUser, ViewCollection, ChangeCollection];
/// What taking it over requires: its data too.
const TAKE_OVER: &[Permission] = &[
    ViewUser,
    ChangeUser,
    ViewCollection,
    ChangeCollection,
    ViewDocument,
    AddDocument,
    ChangeDocument,
    DeleteDocument,
    ViewConversation,
    DeleteConversation,
    ViewWebhook,
    ChangeWebhook,
    DeleteWebhook,
];
/// What deleting it requires.
const DELETE: &[Permission] = &[ViewUser, DeleteUser, ViewCollection, ChangeCollection];

pub(super) const ROWS: &[Row] = &[
    // The panel's login.
    get("/admin", Staff),
    get("/admin/admin.css", Nothing),
    get("/admin/admin.js", Nothing),
    get("/admin/picker.js", Nothing),
    get("/admin/messages.js", Nothing),
    get("/admin/login", Nothing),
    row("GET", "/admin/login/code", Nothing, 303),
    post("/admin/login/code", Nothing, 415).with_payload(NO_BODY),
    post("/admin/login", Nothing, 415).with_payload(NO_BODY),
    post("/admin/logout", SignedIn, 303).consuming(Session),
    // Documents and conversations.
    get("/admin/documents", Panel(&[ViewDocument])),
    get("/admin/documents/upload", Panel(&[AddDocument])),
    post("/admin/documents/upload", Panel(&[AddDocument]), 303).with_payload(Files(0)),
    post("/admin/documents/upload", Panel(&[AddDocument]), 303).with_payload(Files(1)),
    post("/admin/documents/bulk", Panel(&[ViewDocument]), 200)
        .with_fields(&[("act", "delete"), ("id", "{document}")]),
    Row {
        // The page shows the result for each document.
        refusals: [403, 200],
        ..post("/admin/documents/bulk", Panel(&[ViewDocument, DeleteDocument]), 303)
            .with_fields(&[("act", "delete"), ("id", "{document}"), ("confirmed", "on"), ("word", "delete")])
            .consuming(Record)
    },
    get("/admin/documents/{id}", Panel(&[ViewDocument])),
    get("/admin/documents/{id}/chunks", Panel(&[ViewDocument])),
    get("/admin/documents/{id}/readers", Panel(&[ViewDocument, ViewCollection, ViewUser])),
    get("/admin/documents/{id}/file", Panel(&[ViewDocument])),
    Row {
        // The page shows the result for each document.
        refusals: [403, 200],
        ..post("/admin/documents/bulk", Panel(&[ViewDocument, ChangeDocument]), 303)
            .with_fields(&[
                ("act", "add"),
                ("id", "{document}"),
                ("collection", "{own collection}"),
                ("confirmed", "on"),
            ])
            .consuming(Record)
    },
    post("/admin/documents/{id}/attributes", Panel(&[ViewDocument, ChangeDocument]), 303),
    post("/admin/documents/{id}/attributes", Panel(&[ViewDocument]), 303).owned_by(Own),
    post("/admin/documents/{id}/retry", Panel(&[ViewDocument, ChangeDocument]), 409),
    post("/admin/documents/{id}/retry", Panel(&[ViewDocument]), 409).owned_by(Own),
    post("/admin/documents/{id}/delete", Panel(&[ViewDocument, DeleteDocument]), 303).consuming(Record),
    post("/admin/documents/{id}/delete", Panel(&[ViewDocument]), 303).owned_by(Own).consuming(Record),
    // Collections: managers need no permission, and for other staff those of other accounts do not exist.
    get("/admin/collections", Staff),
    get("/admin/collections/add", Staff),
    post("/admin/collections/add", Staff, 422),
    post("/admin/collections/add", Staff, 303).with_fields(&[("name", "Open"), ("role_of_all", "viewer")]),
    get("/admin/collections/{id}", Panel(&[ViewCollection])).hidden(),
    get("/admin/collections/{id}", Staff).owned_by(Own),
    post("/admin/collections/{id}", Panel(&[ViewCollection, ChangeCollection]), 422).hidden(),
    post("/admin/collections/{id}", Staff, 422).owned_by(Own),
    post("/admin/collections/{id}", Panel(&[ViewCollection, ChangeCollection]), 303)
        .with_fields(&[("name", "Open"), ("role_of_all", "viewer")])
        .hidden()
        .consuming(Record),
    post("/admin/collections/{id}", Staff, 303)
        .with_fields(&[("name", "Open"), ("role_of_all", "viewer")])
        .owned_by(Own)
        .consuming(Record),
    get("/admin/collections/{id}/delete", Panel(&[ViewCollection, DeleteCollection])).hidden(),
    get("/admin/collections/{id}/delete", Staff).owned_by(Own),
    post("/admin/collections/{id}/delete", Panel(&[ViewCollection, DeleteCollection]), 303)
        .hidden()
        .consuming(Record),
    post("/admin/collections/{id}/delete", Staff, 303).owned_by(Own).consuming(Record),
    post("/admin/collections/{id}/members", Panel(&[ViewCollection, ChangeCollection]), 303)
        .with_fields(&[("email", "{email}"), ("role", "manager")])
        .hidden(),
    post("/admin/collections/{id}/members", Staff, 303)
        .with_fields(&[("email", "{email}"), ("role", "manager")])
        .owned_by(Own),
    post("/admin/collections/{id}/members/remove", Panel(&[ViewCollection, ChangeCollection]), 303)
        .with_fields(&[("group", "{group}")])
        .hidden(),
    post("/admin/collections/{id}/members/remove", Staff, 303)
        .with_fields(&[("group", "{group}")])
        .owned_by(Own),
    get("/admin/conversations", Panel(&[ViewConversation])),
    get("/admin/search", Panel(&[ViewDocument])),
    get("/admin/answers", Panel(&[ViewConversation])),
    get("/admin/answers.jsonl", Panel(&[ViewConversation])),
    get("/admin/conversations/{id}", Panel(&[ViewConversation])),
    post("/admin/conversations/{id}/delete", Panel(&[ViewConversation, DeleteConversation]), 303)
        .consuming(Record),
    // Operations.
    get("/admin/webhooks", Panel(&[ViewWebhook])),
    get("/admin/webhooks/{id}", Panel(&[ViewWebhook])),
    post("/admin/webhooks/{id}/switch", Panel(&[ViewWebhook, ChangeWebhook]), 303)
        .with_fields(&[("active", "on")]),
    post("/admin/webhooks/{id}/replay", Panel(&[ViewWebhook, ChangeWebhook]), 303)
        .with_fields(&[("delivery", "{delivery}")]),
    post("/admin/webhooks/{id}/delete", Panel(&[ViewWebhook, DeleteWebhook]), 303).consuming(Record),
    get("/admin/find", Staff),
    get("/admin/service", Panel(&[ViewJob])),
    post("/admin/service", Panel(&[ViewJob]), 200),
    get("/admin/jobs", Panel(&[ViewJob])),
    get("/admin/model", Panel(&[ViewJob])),
    post("/admin/model", Panel(&[ViewJob]), 200),
    get("/admin/usage", Panel(&[ViewUsage])),
    get("/admin/usage.csv", Panel(&[ViewUsage])),
    get("/admin/audit", Panel(&[ViewAuditEntry])),
    get("/admin/audit/{id}", Panel(&[ViewAuditEntry])),
    // Accounts: only superusers can change superusers, and who takes over an account needs what opens its
    // data.
    get("/admin/users", Panel(&[ViewUser])),
    get("/admin/users/add", Panel(&[AddUser])),
    post("/admin/users/add", Panel(&[AddUser]), 422),
    get("/admin/users/{id}", Panel(&[ViewUser])),
    post("/admin/users/{id}", Panel(&[ViewUser, ChangeUser]), 422),
    post("/admin/users/{id}", Superuser, 303).owned_by(OtherSuperuser).with_fields(&[
        ("email", "{superuser's email}"),
        ("is_active", "on"),
        ("is_staff", "on"),
        ("is_superuser", "on"),
    ]),
    get("/admin/users/{id}/collections", Panel(&[ViewUser, ViewCollection])),
    get("/admin/users/{id}/password", Panel(TAKE_OVER)),
    get("/admin/users/{id}/password", Superuser).owned_by(OtherSuperuser),
    post("/admin/users/{id}/password", Panel(TAKE_OVER), 422),
    post("/admin/users/{id}/password", Superuser, 422).owned_by(OtherSuperuser),
    get("/admin/users/{id}/limits", Panel(MANAGE)),
    get("/admin/users/{id}/limits", Superuser).owned_by(OtherSuperuser),
    post("/admin/users/{id}/limits", Panel(MANAGE), 303),
    post("/admin/users/{id}/limits", Superuser, 303).owned_by(OtherSuperuser),
    get("/admin/users/{id}/delete", Panel(DELETE)),
    get("/admin/users/{id}/delete", Superuser).owned_by(OtherSuperuser),
    post("/admin/users/{id}/delete", Panel(DELETE), 303).consuming(Record),
    post("/admin/users/{id}/delete", Superuser, 303).owned_by(OtherSuperuser).consuming(Record),
    post("/admin/users/{id}/end-sessions", Panel(&[DeleteSession]), 303).consuming(Record),
    post("/admin/users/{id}/reset-second-factor", Panel(TAKE_OVER), 409),
    post("/admin/users/{id}/reset-second-factor", Superuser, 409).owned_by(OtherSuperuser),
    row("GET", "/admin/users/{id}/identities/disconnect", Panel(TAKE_OVER), 303),
    row("GET", "/admin/users/{id}/identities/disconnect", Superuser, 303).owned_by(OtherSuperuser),
    post("/admin/users/{id}/identities/disconnect", Panel(TAKE_OVER), 303),
    post("/admin/users/{id}/identities/disconnect", Superuser, 303).owned_by(OtherSuperuser),
    post("/admin/users/{id}/end-sessions", Staff, 303).owned_by(Own).consuming(Session),
    // Groups.
    get("/admin/groups", Panel(&[ViewGroup])),
    get("/admin/groups/add", Panel(&[AddGroup])),
    post("/admin/groups/add", Panel(&[AddGroup]), 422),
    get("/admin/groups/{id}", Panel(&[ViewGroup])),
    post("/admin/groups/{id}", Panel(&[ViewGroup, ChangeGroup]), 422),
    get("/admin/groups/{id}/delete", Panel(&[ViewGroup, DeleteGroup])),
    post("/admin/groups/{id}/members", Panel(&[ViewGroup, ViewUser, ChangeUser]), 422),
    post("/admin/groups/{id}/members/remove", Panel(&[ViewGroup, ChangeUser]), 303)
        .with_fields(&[("user", "{user}")]),
    post("/admin/groups/{id}/members/manager", Panel(&[ViewGroup, ChangeUser]), 303)
        .with_fields(&[("user", "{user}")]),
    post("/admin/groups/{id}/delete", Panel(&[ViewGroup, DeleteGroup]), 303).consuming(Record),
    // API keys: all staff can create and revoke their own.
    get("/admin/api-keys", Panel(&[ViewApiKey])),
    get("/admin/api-keys/add", Staff),
    post("/admin/api-keys/add", Staff, 422),
    post("/admin/api-keys/add", Panel(&[AddApiKey]), 422).with_fields(&[("account", "{email}")]),
    get("/admin/api-keys/{id}", Panel(&[ViewApiKey])).hidden(),
    get("/admin/api-keys/{id}", Staff).owned_by(Own),
    get("/admin/api-keys/{id}/revoke", Panel(&[ViewApiKey, DeleteApiKey])).hidden(),
    get("/admin/api-keys/{id}/revoke", Staff).owned_by(Own),
    post("/admin/api-keys/{id}/revoke", Panel(&[ViewApiKey, DeleteApiKey]), 303).hidden().consuming(Record),
    post("/admin/api-keys/{id}/revoke", Staff, 303).owned_by(Own).consuming(Record),
    // Sessions, invitations and links.
    get("/admin/sessions", Panel(&[ViewSession])),
    post("/admin/sessions/{id}/revoke", Panel(&[DeleteSession]), 303).consuming(Record),
    post("/admin/sessions/{id}/revoke", Staff, 303).owned_by(Own).consuming(Record),
    get("/admin/invitations", Panel(&[ViewInvitation])),
    get("/admin/invitations/add", Panel(&[AddInvitation])),
    post("/admin/invitations/add", Panel(&[AddInvitation]), 422),
    post("/admin/invitations/{id}/resend", Panel(&[AddInvitation]), 200),
    post("/admin/invitations/{id}/revoke", Panel(&[DeleteInvitation]), 303).consuming(Record),
    get("/admin/verifications", Panel(&[ViewVerification])),
    post("/admin/verifications/add", Panel(&[AddVerification]), 200)
        .with_fields(&[("user", "{user}"), ("purpose", "verify_email")]),
    post("/admin/verifications/add", Superuser, 200)
        .with_fields(&[("user", "{superuser}"), ("purpose", "reset_password")]),
    post("/admin/verifications/{id}/revoke", Panel(&[DeleteVerification]), 303).consuming(Record),
];
