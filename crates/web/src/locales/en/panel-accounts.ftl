# The pages of accounts, groups, API keys, sessions and links in the panel.

# Accounts
users-empty = No users yet.
users-no-match = No matching users.
user-active = Active
user-email-help = You cannot change the address, because the owner of the mailbox can open the account: you lack { $missing }.
user-active-help = Users of inactive accounts cannot sign in; their sessions end and their API keys stop working.
user-staff = Staff
user-staff-help = Can sign in to this panel and use it according to their permissions.
user-superuser = Superuser
user-superuser-help = Bypasses all permission checks. Only superusers can grant this.
user-is-deactivated = deactivated
user-is-staff = staff
user-is-superuser = superuser
user-create = Create account
user-created = The account { $email } was created.
user-saved = The account was saved.
user-deleted = The account was deleted.
user-read-only = You can view this account but not change it.
user-email-verified = Email verified
user-without-second-factor = none
user-delete-question = Delete this account?
user-delete-records = Its permissions, API keys, sessions and conversations will be permanently deleted.
user-delete-documents = Its documents remain without an owner. Usage records and the audit log also remain.
user-delete-deactivate = To only block access, deactivate the account instead.
user-delete-verb = Delete the account
user-end-sessions = End all sessions
user-end-sessions-of = End all sessions of { $email }
user-sessions-ended = All sessions of the account were ended.
user-keys-all = All keys of this account ({ $count })
user-keys-none = No API keys.
user-sessions-all = All sessions of this account
user-sessions-none = No active sessions.
user-history-full = Full history
user-history-none = No history.
user-actions = Actions by this account
user-set-password = Set password
user-set-password-hint = This ends all sessions of { $email } and invalidates its access tokens.
user-set-password-verb = Set the password
user-password-set = The password was set, and the account's sessions were ended.
user-reset-second-factor = Reset second factor
user-second-factor-reset = The second factor was removed, and the account's sessions were ended.
user-provider = Provider
user-subject = ID at the provider
user-disconnect = Disconnect…
user-disconnect-question = Disconnect { $provider }?
user-disconnect-sign-in = The person can no longer sign in to this account with { $provider }. A later sign-in there is treated as the first one, which can connect this account again by its email address.
user-disconnect-last = This is the only way to sign in to this account. Afterwards its owner needs a password, which you can set.
user-disconnect-sessions = Sessions remain. End them on the page of the account.
user-disconnect-verb = Disconnect

# What an account can read
reach-of = Collections of { $email }
reach-title = What this account can read
reach-deactivated = This account is deactivated and reads nothing. After an activation it would read:
reach-superuser = As a superuser, this account views all documents in the panel.
reach-permission = With the permission to view documents, this account views all of them in the panel.
reach-only-these = Searches and answers find only documents of these collections.
reach-all = All collections of this account ({ $count })
# Follows a number.
reach-documents-of = documents of { $name }
reach-by-owner = owner
reach-by-member = member
reach-by-group = group { $name }
reach-by-everyone = role of every account

# Limits
limits = Limits
limits-hint = An empty field applies the setting of this installation; 0 is no limit. The settings are: { $settings }.
limits-setting = { $name }: { $value }
limits-none = no limit
limits-set = The limits were set.
limits-not-a-number = must be a whole number from 0 to { $max }
limit-answers = Answers at the same time
tokens-per-day = Tokens per day
limit-bytes = Stored bytes
limit-images = Page images per hour

# Groups
groups-empty = No groups yet.
groups-empty-add = No groups yet. <a>Add a group</a> to give several accounts the same permissions.
groups-empty-view = No groups yet. Groups give several accounts the same permissions.
groups-no-match = No matching groups.
groups-help = Members have the permissions of their groups and their roles on collections. You can add and remove only groups whose permissions and roles you have.
group-needs = You lack { $missing }.
group-member-added = added
group-member-before = not added: is a member already
group-member-needs-staff = not added: only staff can add this account
group-member-no-account = not added: has no account, and you cannot invite people in this way
group-members-add = Add members
group-members-add-hint = Accounts with these addresses become members. People without an account are invited into the group, if you may invite people.
group-members-added = { $count ->
    [one] One member was added.
   *[other] { $count } members were added.
}
group-manager = manager
group-manager-make = Make manager
group-manager-make-of = Make manager: { $name }
group-manager-end = End management
group-manager-end-of = End management: { $name }
group-manager-made = The member manages the group: it can add, invite and remove members, without permissions.
group-manager-ended = The member no longer manages the group.
group-add = Add group
group-create = Create group
group-created = The group { $name } was created.
group-saved = The group was saved.
group-deleted = The group { $name } was deleted.
group-read-only = You can view this group but not change it.
group-delete-question = Delete this group?
group-delete-members = Members immediately lose the permissions of this group and its roles on collections. Their accounts are not deleted.
group-delete-verb = Delete the group
group-managed-name = Sign-ins at { $providers } decide who is a member of the group with this name (DOCENT_OIDC_GROUPS). With another name, the group keeps its members, and the next sign-ins neither add nor remove any.
group-managed-delete = Sign-ins at { $providers } decide who is a member of this group (DOCENT_OIDC_GROUPS). The next sign-ins do not create it again: people get its permissions back only if a group with this name exists.
group-permissions = Permissions
group-permissions-help = You can grant only permissions you have. To enter the panel, an account also needs Staff.
permissions-unknown = contain an unknown permission

# API keys
keys-off = API keys are disabled: <code>DOCENT_AUTH_BACKENDS</code> does not contain <code>api_key</code>.
keys-off-create = API keys are disabled: <code>DOCENT_AUTH_BACKENDS</code> does not contain <code>api_key</code>. You can create keys; they will work once it does.
keys-empty = No API keys yet. <a>Create one</a> for a program that acts for an account.
keys-no-match = No matching API keys.
keys-filter = Name or prefix
key-account-help = The account that the key acts for. It must not have more permissions or roles on collections than you, and its owner is notified.

# Sessions
sessions-empty = No sessions yet.
sessions-no-match = No matching sessions.
session-had-ended = The session had already ended.

# Invitations
invite = Invite people
invite-hint = Each person opens a link, chooses a password or signs in at an identity provider, and has an account from then on.
invite-no-email = This installation sends no emails: you pass on the links yourself.
invite-emails = Email addresses
invite-emails-help = One per line, or separated by commas. You can paste a column or the content of a CSV file; other cells are ignored.
invite-delivery = Delivery of the links
invite-by-email = send them by email
invite-by-link = show them to me, to pass on
invite-role = Role on the collections
invite-role-help = For the collections that you select below.
invite-collections-help = You can select collections that you manage. Collections of the selected groups come with the groups.
invite-collections-refused = contain one that you cannot give roles on
invited-title = Invitations created
invited-copy-now = Copy the links now. They will not be shown again. Send each link only to the person with the address: it opens the account.
invited-by = Invited by
invited-by-email = invited; the email is being sent
invited-by-link = invited; pass on this link:
invited-has-account = not invited: has an account already
invited-before = not invited again: has an invitation already
invitations-empty = No open invitations.
invitations-empty-add = No open invitations. <a>Invite people</a> by email or with links.
invitations-no-match = No matching invitations.
invitation-resend = Send again
invitation-new-link = New link
invitation-sent = The invitation of { $email } is being sent again. Earlier links no longer work.
invitation-not-sent = The invitation was not sent again: its groups or collections { $reason }.
invitation-revoked = The invitation was revoked.
invitation-had-ended = The invitation was already accepted or revoked.

# Links
links-empty = No active links. Users request links by email; staff create them on the page of an account.
links-no-match = No matching links.
link-created = Link created
link-copy-now = Copy the link now. It will not be shown again. Earlier links no longer work.
link-create-reset = Create password reset link
link-create-verify = Create verification link
link-title-reset = Password reset link
link-title-verify = Verification link
link-use-reset = Anyone with the link can set the password of { $email }. Send it only to the owner of the account.
link-use-verify = It verifies the address { $email }.
link-expires = It works once and expires { $expires }.
link-not-created = No link was created: the account { $reason }.
link-purpose = Purpose
link-purpose-change-email = email change
link-purpose-reset-password = password reset
link-purpose-verify-email = email verification
link-revoked = The link was revoked.
link-had-ended = The link was already used or had expired.
