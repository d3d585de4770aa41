# The pages of the audit log in the panel.

audit-empty = No entries yet.
audit-no-match = No matching entries.
audit-who = Who
audit-when = When
audit-from = From
audit-since = Since
audit-until = Until
audit-by-api-key = (API key)
audit-history = history
audit-record-to-copy = the record ID
audit-answers = Rated and declined answers
audit-unauthenticated = unauthenticated
changes = Changes
changes-none = No fields changed.
change-field = Field
change-before = Before
change-after = After

# Actions, by the names that the log and the API have.
audit-action-add = add
audit-action-change = change
audit-action-delete = delete
audit-action-revoke = revoke
audit-action-retry = retry
audit-action-login = login
audit-action-login_failed = login failed
audit-action-logout = logout
audit-action-set_password = set password
audit-action-accept = accept
audit-action-verify_email = verify email
audit-action-export = export
audit-action-view = view
audit-action-backup = backup
