# The account pages: signing in, links of emails, and what every account can do with itself.

# Signing in
login-to-account = Sign in to your account
login-to-panel = Staff sign-in
login-no-access = This account has no access to the panel. You can use it in the <a>chat</a>. An administrator can make it a staff account.
login-forgot = Forgot your password?
login-forgot-ask = Forgot your password? Ask an administrator for a link to choose a new one.
login-with-password = Sign in with a password
login-code-hint = Enter the code that your authenticator app shows, or one of your recovery codes.
login-other-account = Use another account
login-incorrect = Invalid email or password.
login-invalid-code = This code is not valid.
login-too-many = Too many failed logins. Please wait before trying again.

# Pages of links
confirm = Confirm
confirm-email = Confirm your new email address
confirm-email-hint = Select the button to use this address for your account.
email-changed = Your email address has been changed
email-changed-advice = Sign in with the new address from now on.
email-not-valid = This is not a valid email address.
email-verified = Your email address is verified
email-verified-advice = You can close this page.
verify-email = Verify your email address
verify-email-hint = Select the button to confirm that this address is yours.
forgot-password = Forgot your password?
forgot-password-hint = Enter your email address. You get a link to choose a new password, which works once.
forgot-password-no-email = This service sends no email. Ask an administrator for a link to choose a new password.
back-to-sign-in = Back to sign-in
send-link = Send link
own-groups = Your groups
own-groups-hint = Groups have permissions and roles on collections, which you have as a member. Managers of a group add, invite and remove members.
own-groups-none = You are in no group.
invitation = Invitation
invitation-by = { $by } invites you to { $service }.
invitation-to = You are invited to { $service }.
invitation-hint = Your account has the address { $email }. Choose a password for it.
invitation-hint-provider = Your account has the address { $email }. Sign in with it to accept the invitation.
invitation-accept = Create account
invitation-accepted = Your account is ready
invitation-accepted-advice = Sign in with the address { $email } and your password.
invitation-invalid-advice = Ask the person who invited you for a new invitation. If you have an account already, sign in.
link-again = Open the link in the email again to retry.
link-invalid = This link is not valid: it was used, has expired or was revoked.
link-invalid-advice = Request a new link and open the most recent email.
link-sent = Check your email
link-sent-advice = If an active account has this address, we sent it a link to choose a new password. No email after a few minutes? Look in the spam folder, or ask an administrator.
reset-password = Choose a new password
password-reset = Your password has been changed
password-reset-advice = You can sign in with your new password now. All other sessions have ended.
# The subject of a sentence.
password-subject = The password

# Profile
profile-new-key = { $creator } created the API key “{ $name }” ({ $scopes }) for your account { $when }. If you did not expect this, <a>revoke it</a>.
profile-verified = (verified)
profile-change = Change
profile-change-by-administrator = an administrator can change it
profile-last-login = Last sign-in
theme = Theme
theme-system = Like the system
theme-light = Light
theme-dark = Dark
theme-hint = Kept in this browser, for the chat, your account and the panel.
language-of-browser = Like the browser
language-help = For the chat, your account and the panel.
language-saved = The language was saved.
your-name = Your name
your-name-help = Shown beside your email address to people you share documents and conversations with. Optional.
name-saved = Your name was saved.
privacy = Who can see your data
privacy-text = Your documents can be read by accounts that have a role on their collections, and by staff with the permission to view documents. Only those with whom you share a conversation can read it, but staff with the permission to view conversations can read all; each reader is recorded in the audit log once a day.

# Email address and password
email-change = Change your email address
email-change-hint = The address is { $email } now. We send a link to the new one; the address changes when you confirm there. The present address receives a notice.
email-change-by-administrator = The address { $email } can be changed only by an administrator, because this service sends no emails.
email-new = New email address
email-link-sent = We sent a link to { $email }. The address changes when you open the link and confirm.
password-change = Change your password
password-change-hint = This ends all of your other sessions, in the chat too. API keys keep working. Applications must be connected again.
password-change-verb = Change password
password-changed = Your password was changed, and your other sessions were ended.
password-current = Current password
password-new = New password
password-again = Repeat new password
password-help = At least { $min } characters.

# Confirming it is you
confirm-identity = Confirm it is you
confirm-identity-hint = Keys, permissions, accounts, limits, access to collections, second factors and exports need your password or a code from within the last 10 minutes. Nothing was changed yet.
confirm-identity-kept = What you entered is kept and will be sent when you continue.
confirm-identity-lost = After a sign-in at a provider, please enter it again.
confirm-proof = Password or code
confirm-proof-help = Your password, or a code of your authenticator app if you have set one up.
continue = Continue

# Second factor
second-factor-active = Signing in needs a code of your authenticator app, since { $when }.
second-factor-begin = Set up an authenticator app
second-factor-codes-left = Each recovery code replaces one code of the app, in case you lose your device. You have { $count } left.
second-factor-codes-replace = Replace the recovery codes
second-factor-expired = The setup has expired. Please begin again.
second-factor-hint = With a second factor, signing in needs your password and a code that an authenticator app on your phone or computer shows. A stolen password alone is then useless.
second-factor-key = Key:
second-factor-on = Turn on
second-factor-only-password = The password alone will suffice to sign in.
second-factor-qr = QR code for the authenticator app
second-factor-remove = Remove the second factor
second-factor-removed = The second factor was removed.
second-factor-required = Your account must have a second factor.
second-factor-required-reset = Your account must have a second factor. If you change your device, ask an administrator to reset it.
second-factor-scan = Scan this image with an authenticator app within 10 minutes, or enter the key by hand.
code-help = The 6 digits that the app shows now.
code-not-valid = is not valid; check the clock of your device and enter the code shown now
recovery-codes-keep = Keep these codes in a safe place now. They are not shown again, and earlier ones no longer work.
recovery-codes-hint = Each code replaces one code of your authenticator app, in case you lose your device.
done = Done

# Sessions
sessions-title = Your sessions
sessions-hint = A session begins with each sign-in with your password: in the chat, by programs, on these pages and in the panel. If you do not recognize one, end it and <a>change your password</a>.
sessions-shown = The { $shown } sessions used last of { $total }.
sessions-end-others = End all other sessions
session-ended = The session was ended.
sessions-ended = All other sessions were ended. Applications were disconnected.
session-address = Address
session-client = Client
session-this = (this device)
session-end = End

# API keys
keys-title = Your API keys
keys-disabled = API keys are disabled on this service. You can create keys; they will work once an administrator enables them.
keys-disabled-setting = API keys are disabled: <code>DOCENT_AUTH_BACKENDS</code> does not contain <code>api_key</code>. The key will work once it does.
keys-none = No API keys yet. <a>Create one</a> for a program that acts on your behalf.
keys-shown = The { $shown } newest keys of { $total }.
key-create = Create key
key-created = API key created
key-copy-now = Copy the key now. It will not be shown again.
key-copied = I have copied it
key-try = Try it on a command line:
key-use = The key gives access to the account { $account } within its scopes. Send it in the header <code>Authorization: Bearer KEY</code>.
key-name-help = For example the program that uses the key.
key-expires-help = The key stops working on this day (UTC). Leave empty for a key that does not expire.
key-prefix = Prefix
key-collections = Collections
key-collections-help = Without a choice, the key reaches all collections of its account.
key-limited = { $count ->
    [one] in { $count } collection only
   *[other] in { $count } collections only
}
key-scopes = Scopes
not-a-collection = must be collections of the list
key-scopes-help = Grant only the scopes that the program needs. A key can never do more than its account.
key-created-by = Created by
key-created-by-other = created by <b>{ $creator }</b>
key-by-command-line = command line
key-by-you = you
key-revoke-link = Revoke…
key-revoke-name = Revoke { $name }
key-revoke = Revoke the key
key-revoke-question = Revoke this key?
key-revoke-access = Programs that use this key lose access immediately.
key-revoked = The key { $name } was revoked.
scope-read = List, read and search documents.
scope-ingest = Add documents; retry and delete its account's own.
scope-chat = Ask agents, which answer from the documents.
scope-admin = Everything its account's permissions allow with records of others.

# Connected applications
applications = Applications
applications-title = Connected applications
applications-hint = Assistants and other programs that you gave access to your account. To connect an assistant, add this link to it: <code>{ $link }</code>
applications-off = Applications cannot be connected to this service, and those listed here have no access.
applications-none = No connected applications yet.
applications-shown = The { $shown } newest applications of { $total }.
application-connected = Connected
application-disconnect = Disconnect
application-disconnect-link = Disconnect…
application-disconnect-name = Disconnect { $name }
application-disconnect-question = Disconnect this application?
application-disconnect-access = The application loses access to your account immediately.
application-connect-again = You can connect it again later.
application-disconnected = The application { $name } was disconnected.
authorize-title = Connect { $name }
authorize-who = <b>{ $name }</b> asks for access to your account { $account }.
authorize-application = Application
authorize-unverified = name not verified
authorize-returns-to = Returns to
authorize-this-machine = a program on this device
authorize-app = the app with the scheme { $scheme }
authorize-access-to = Access to
authorize-mcp = search and reading of documents by an assistant (MCP)
authorize-api = the API
authorize-local-warning = Any program on this device can ask for access under this name. Continue only if you have just started the connection yourself.
authorize-scopes = The application may
authorize-collections-help = Without a choice, the application reaches all collections of your account.
authorize-end = You can end the access at any time under <a>connected applications</a>.
authorize-allow = Allow
authorize-deny = Deny
authorize-invalid = This link is not a valid request of an application
authorize-unknown-client = No application with this ID is known; begin the connection again in the application
authorize-client-document = The application's description cannot be used: { $reason }
authorize-redirect-uri = The application asks to return to an address that is not its own, so it gets no access

# Deleting the account
delete-title = Delete your account
delete-text = The account { $email } is deleted immediately. This cannot be undone.
delete-records = Your conversations, API keys, sessions and webhooks are permanently deleted.
delete-documents = Documents that you uploaded stay, without an owner, because other accounts use them. <a>Delete them in the chat</a> first if they should not stay.
delete-audit = The audit log keeps what your account did, with its email address.
delete-verb = Delete my account
delete-last-superuser = This is the last active superuser. Make another account a superuser first.

# Sign-in at identity providers.
sso-sign-in = Sign in with { $provider }
sso-confirm = Sign in again with { $provider }
sso-continue = The next page opens.
sso-expired = This sign-in has expired or was begun in another browser. Please try again.
sso-declined = The sign-in was cancelled or refused at the provider.
sso-unavailable = The sign-in provider does not answer. Please try again in a moment.
sso-unknown-provider = There is no such sign-in provider.
sso-invalid = The provider’s response is not valid. Please try again.
sso-no-email = The provider did not tell your email address. Ask your administrator.
sso-unverified-email = Your email address is not verified at the provider.
sso-foreign-domain = Accounts with this email domain cannot sign in here.
sso-no-new-accounts = You do not have an account yet. Ask your administrator for one.
sso-needs-connection = Your account is not connected with this provider, or with another identity there. Sign in with your password, and connect it on the page “Sign-in providers” of your account. If you have no password, ask an administrator.
sso-inactive = Your account is not active. Ask your administrator.
sso-connected-elsewhere = This identity belongs to another account.
sso-not-authenticated-again = The provider did not ask you to sign in again.

identities = Sign-in providers
identities-hint = Accounts of other services with which you can sign in.
identity-as = Connected as { $email }
identity-since = since { $when }
identity-none = Not connected.
identity-connect = Connect { $provider }
identity-disconnect = Disconnect { $provider }
identity-connected = The provider is connected.
identity-disconnected = The provider is disconnected.
identity-last = This provider is the only way to sign in to your account. Ask an administrator to set a password first.
password-none = Your account has no password: you sign in at a sign-in provider.
