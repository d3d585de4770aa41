# Texts that several pages have.
#
# A message that is used with `t_html` can have elements without attributes; `<a>` becomes a link.
# Scripts can have values in braces, and one choice between forms.

account = Account
action = Action
all-documents = All documents
api-keys = API keys
at-page = page { $page }
at-pages = pages { $first }–{ $last }
cancel = Cancel
cannot-be-undone = This cannot be undone.
chat = Chat
code = Code
collection = Collection
collection-everyone = Everyone
collection-personal = Personal
collections = Collections
conversation = Conversation
conversations = Conversations
copied = Copied
copy = Copy
created = Created
delete-ask = Delete…
deleted-account = a deleted account
document = Document
documents = Documents
download-again = Download again
download-starts = The download starts.
email = Email
expires = Expires
kind = Kind
language = Language
# The name of this language in itself.
language-name = English
last-used = Last used
menu = Menu
menu-delete = Delete account
menu-of-account = Account
menu-of-panel = Panel
menu-other = Other pages
menu-profile = Profile
menu-sessions = Sessions
name = Name
never = never
panel = Admin panel
password = Password
place-label = { $kind ->
    [Row] Row { $at }
    [Rows] Rows { $at }
    [Line] Line { $at }
    [Lines] Lines { $at }
    [Slide] Slide { $at }
    [Message] Message { $at }
    [Footnotes] Footnotes { $at }
    [Endnotes] Endnotes { $at }
   *[other] Part { $at }
}
place-part = { $place } (part { $part })
recovery-codes = Recovery codes
remove = Remove
remove-name = Remove { $name }
results = Results
save = Save
search = Search
second-factor = Second factor
show-keys = Show the keys
sign-in = Sign in
sign-in-stay = Stay signed in for 30 days
sign-out = Sign out
skip-to-content = Skip to content
staff-panel = Staff panel
started = Started
state = State
status-failed = Failed
status-ingested-partly = Ready, { $empty } of { $pages } pages without text
status-ingested = Ready
status-pending = Processing
theme-switch = Switch between light and dark
title = Title
your-account = Your account
your-account-of = Your account: { $email }

file-type-text = plain text
list-and = { $first } and { $last }
# For staff, after the sentence that a file is of another type.
upload-types-setting = The setting DOCENT_UPLOAD_TYPES of the service lists the accepted types, such as pdf,docx,md or all

# Times

# `year`, `month`, `day` and `time` are digits.
time-exact = { $year }-{ $month }-{ $day } { $time } UTC
time-now = just now
time-soon = in a moment
time-minutes-ago = { $count ->
    [one] { $count } minute ago
   *[other] { $count } minutes ago
}
time-in-minutes = { $count ->
    [one] in { $count } minute
   *[other] in { $count } minutes
}
time-hours-ago = { $count ->
    [one] { $count } hour ago
   *[other] { $count } hours ago
}
time-in-hours = { $count ->
    [one] in { $count } hour
   *[other] in { $count } hours
}
time-days-ago = { $count ->
    [one] { $count } day ago
   *[other] { $count } days ago
}
time-in-days = { $count ->
    [one] in { $count } day
   *[other] in { $count } days
}

# Dates and numbers; their parts are digits.
date = { $year }-{ $month }-{ $day }
decimal = { $whole }.{ $fraction }

# States

state-active = active
state-ended = ended
state-expired = expired
state-revoked = revoked
client-on = { $browser } on { $system }
session-api = API
session-browser = browser

# Errors

errors-to-fix = Please fix these errors:
# `reason` is one of the predicates below.
field-error = { $field } { $reason }.
does-not-match = does not match
is-in-use = is already in use
is-incorrect = is incorrect
not-a-date = must be a date such as 2030-12-31
rule-email-address = must be an email address
rule-future = must be in the future
rule-max-bytes = must have at most { $count } bytes
rule-max-characters = must have at most { $count } characters
rule-min-characters = must have at least { $count } characters
rule-no-control-characters = must not contain control characters
rule-no-direction-characters = must not contain characters that change the text direction
rule-no-address = must not contain "@": only email addresses do
rule-not-common = is too easy to guess; choose another one
rule-not-empty = must not be empty
rule-not-like-address = is too close to the email address; choose another one
rule-line-without-address = must have an email address in each line: line { $line } has none, or an invalid one
rule-other-address = is already the address of this account
rule-scopes = must be one or more of read, ingest, chat and admin

error-forbidden = You do not have permission to do this
error-missing-access = You do not have permission to do this: you lack { $missing }
# What an account lacks, after "you lack".
missing-and = { $first }, and { $next }
missing-permissions = the permissions { $names }
missing-roles = a role on a collection (or collections.view_collection and collections.change_collection)
missing-superuser = the status of a superuser
error-opening-forbidden = You do not have permission to open collections to all accounts
role-of-all-too-many = must be empty: { $max } collections are open to all already
error-internal = Internal server error
error-invalid-request = The request is not valid
error-too-many-requests = Too Many Requests
form-expired = The form has expired
form-expired-retry = The form has expired. Please try again.
page-not-found = Page not found
not-found-apikey = API key not found
not-found-auditentry = Entry not found
not-found-collection = Collection not found
not-found-conversation = Conversation not found
not-found-document = Document not found
not-found-group = Group not found
not-found-job = Job not found
not-found-session = Session not found
not-found-usagerecord = Usage not found
not-found-user = Account not found
not-found-invitation = Invitation not found
not-found-verificationtoken = Link not found
not-found-webhook = Webhook not found
