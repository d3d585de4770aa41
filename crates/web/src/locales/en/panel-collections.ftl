# The pages of collections in the panel.

collection-add = Add collection
collection-create = Create collection
collection-created = The collection { $name } was created.
collection-deleted = The collection { $name } was deleted.
collection-saved = The collection was saved.
collection-leave = Leave this collection
collections-empty = No collections yet.
collections-no-match = No matching collections.
collections-own = These are the collections that you have a role on.
collection-delete-question = Delete this collection?
collection-delete-documents = Documents remain in their other collections. A collection with documents that are nowhere else is not deleted.
collection-delete-access = Accounts that read documents only through this collection lose access immediately.
collection-delete-verb = Delete the collection
collection-not-empty = { $count ->
    [one] Not deleted: { $count } document is in no other collection. Delete or move it first.
   *[other] Not deleted: { $count } documents are in no other collection. Delete or move them first.
}
collection-readers = Its documents are read by { $readers }, and by staff with the permission to view all documents.
collection-owner-help = Email address of the account that is always a manager of the collection. Can be empty.
collection-owner-unknown = is not the email address of an account

# Roles and kinds
role-of-all = Role of every account
role-of-all-help = Every account of this installation has at least this role.
role-of-all-none = none: only the owner and members use it
role-yours = Your role
role-none = none
role-unknown = must be viewer, contributor or manager
role-viewer = viewer
role-contributor = contributor
role-manager = manager
role-choice-viewer = viewer: reads documents
role-choice-contributor = contributor: also adds documents and changes own ones
role-choice-manager = manager: also changes all documents, settings and members
collection-kind-everyone = for everyone
collection-kind-personal = personal
collection-kind-shared = shared

# Members
members = Members
members-none = No members yet.
member-add = Add member
member-add-title = Add a member
member-email = Email address
member-group = Group
member-group-help = Name of a group that you are in or may view, instead of an email address. All accounts of the group get the role, also those that join it later.
member-is-account = account
member-is-group = group
member-role-of = Role of { $name }
member-role-set = Set
member-role-set-of = Set the role of { $name }
member-has-role = { $name } has the role { $role }.
member-email-or-group = or the name of a group is required
member-group-not-empty = must be empty if an email address is given
member-no-account = belongs to no account
member-removed = The member was removed.
member-removed-before = This member was removed before.
member-left = You are no longer a member.

# Who reads the documents of a collection; parts of other sentences.
reads-every-account = every account
reads-members = { $count ->
    [one] { $count } member
   *[other] { $count } members
}
reads-no-account = no account
reads-owner = only its owner
reads-owner-and-members = { $count ->
    [one] its owner and { $count } member
   *[other] its owner and { $count } members
}
