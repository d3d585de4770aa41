# The frame of the panel: menu, dashboard, search by name, lists, and texts that several of its pages have.

dashboard = Dashboard
menu-content = Content
menu-access = Access
menu-operations = Operations

# Lists
any = any
clear = Clear
filter = Filter
filter-from = From
filter-to = To
order = Order
order-by-email = by email
order-by-title = by title
order-largest = largest first
order-last-login = last sign-in first
order-newest = newest first
order-oldest = oldest first
paging-first = First
paging-last = Last
paging-next = Next
paging-none = None
paging-previous = Previous
paging-range = { $first }–{ $last } of { $total }
page-empty-first = This page is empty. <a>Show the first ones</a>
page-empty-newest = This page is empty. <a>Show the newest ones</a>
select-all = Select all
select-all-on-page = Select all on this page
select-record = Select { $title }
show-all = Show all

# Records
api-key = API key
changed = Changed
description = Description
email-placeholder = email
history = History
id = ID
# What a button copies.
id-to-copy = the ID
message = Message
owner = Owner
owner-email = Owner’s email
reason = Reason
record-stale = This record was changed by someone else in the meantime. Nothing was saved; the form shows the current values.
role = Role
delete-permanently = Delete permanently
form-invalid = The form is invalid
no = no
off = off
on = on
yes = yes

# Search by name
find-all = All { $count } in { $kind }
find-no-match = No page or record has “{ $text }” in its name.

# Dashboard
dashboard-charts = The last 30 days
dashboard-counts = Documents and jobs
dashboard-failures = Recent failures
dashboard-no-failures = No failed documents.
jobs-oldest = Oldest job
jobs-running = Jobs running
jobs-waiting = Jobs waiting

# Charts
chart-day = Day (UTC)
chart-documents = Documents added per day
chart-empty = No data in this period.
chart-input = Input
chart-numbers = Numbers
chart-output = Output
chart-summary = { $total } in { $days } days, at most { $max } per day
chart-description = { $label } from { $first } to { $last }: { $total } in total, at most { $max } per day. The table below has the numbers.

# Reasons that follow the label of a field.
rule-active-account = is not active
rule-attribute-finite = values must be finite numbers
rule-attribute-key = keys must have 1 to { $count } characters: letters, digits, "_", "-" and "."
rule-attribute-max-characters = values must have at most { $count } characters
rule-attribute-no-control-characters = values must not contain control characters
rule-attribute-not-built-in = must not have the key "{ $key }", which is a built-in attribute
rule-in-some-collection = must not be empty: delete the document instead
rule-exists = does not exist
rule-in-collection = is not in the collection
rule-in-other-collection = is in no other collection: move or delete it instead
rule-max-count = must be at most { $count }
rule-max-members = must be at most { $count }; use a group
rule-not-deactivated = is deactivated
rule-not-in-collection = is in the collection already
rule-own-access = cannot be removed from your own account
rule-own-permissions = can be granted or revoked only if you have them yourself
rule-owner-manages = must be manager: this account owns the collection
rule-processed = was not processed because a component failed
rule-superuser-only = can be granted only by a superuser
rule-unknown-group = contains a group that no longer exists
rule-account-access = cannot be changed: this takes all access of the account; you lack { $missing }
rule-data-access = give access to data of the other account, for which you need { $missing }
rule-group-access = can be added or removed only if you have all of their permissions and roles; you lack { $missing }
rule-other-access = has access that you do not have; you lack { $missing }
