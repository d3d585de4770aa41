# The web chat, without the viewer of documents.

# The page
side = Conversations and documents
new-conversation = New<span> conversation</span>
settings = Settings
settings-title = Settings: password, sessions, language, theme
no-script = This page needs JavaScript, which is disabled or blocked. Without JavaScript, use the HTTP API or the command line.
conversations-search = Search conversations
more-conversations = Show more<span> conversations</span>
more-documents = Show more<span> documents</span>
titles-search = Search titles
turns = Questions and answers
welcome = What do you want to know?
welcome-hint = Answers come from your documents, with page references.
your-question = Your question
your-question-edit = Edit your question
question-hint = Ask about the documents
question-keys = <kbd>Enter</kbd> to send, <kbd>Shift</kbd>+<kbd>Enter</kbd> for a new line, <kbd>Esc</kbd> to stop, <kbd>/</kbd> to focus
quote-mode = Quote mode: no language model is connected. <a>How to connect one</a>
ask = Ask
stop = Stop
try-again = Try again

# Errors
signed-out-title = You are not signed in
signed-out = Your session has ended. Sign in again.
still-signed-in = You are still signed in. { $reason }
error-second-factor-required = This account must have a second factor; set it up on the account page
error-proof-needed = Nothing was changed: your password or a code is needed
failed-later = { $detail }. Nothing was lost. Try again in a moment.
page-error = Something went wrong on this page: { $reason }.
status = The service responded with status { $status }
too-many = Too many requests. Try again later.
too-many-in = Too many requests. Try again in { $time }.
seconds = { $count } s
minutes = { $count ->
    [one] { $count } minute
   *[other] { $count } minutes
}
unreachable = The service cannot be reached. Check your connection and try again.
updated = The service was updated. Reload this page to continue

# Confirming it is you
proof-elsewhere = Sign in again at your provider instead
proof-hint = This needs your password or a code from within the last 10 minutes. Nothing was changed yet, and what you entered is kept.
proof-incorrect = The password or code is incorrect.

# Questions and answers
steps = Steps of the answer
step-citations = { $count ->
    [one] One citation without a passage was removed
   *[other] { $count } citations without a passage were removed
}
step-searched = Searched for “{ $query }”
step-shortened = The oldest messages of the conversation were left out
searching = Searching the documents…
answer-cut-filter = The content filter of the language model cut this answer off.
answer-cut-length = The language model reached its limit, and the answer ends early.
answer-iterations = The language model kept searching and did not finish its answer. Ask a narrower question.
answer-not-searched = Answered without your documents
answer-reasoning-only = The language model thought about the question, but returned no answer. Try again.
search-and-ask = Search the documents and answer again
answer-empty = The model returned no answer. Try again or rephrase the question.
answer-incomplete = This answer is incomplete or was stopped.
answer-incomplete-because = The answer is incomplete: { $reason }
answer-none = No answer received.
choices = Choices
question-kept = { $reason } Your question is kept: ask it again below.
stopped = Stopped.
ask-again = Ask again
ask-model-again = Ask the model again
quotes-unreachable = The language model cannot be reached.
quotes-timeout = The language model did not answer in time.
quotes-overloaded = The language model is overloaded.
quotes-loading = The language model is still starting.
quotes-quota = The language model has no quota left.
quotes-rejected = The language model refused the request.
quotes-length = The question and its conversation are too long for the language model.
quotes-failed = The language model failed.
quotes-only = These are quotes from your documents.
reasoning = Reasoning
question-edit = Edit the question
copy-blocked = Copying is blocked by the browser
earlier-version = Earlier version: { $question }
table = Table

# Feedback
answer-good = Good answer
answer-bad = Bad answer
comment = Comment
feedback-question = What was wrong?
feedback-saved = Your feedback was saved.
feedback-not-saved = Your feedback was not saved. { $reason }
feedback-withdrawn = Your feedback was withdrawn.
reason-none = Choose a reason (optional)
reason-incomplete = Incomplete
reason-incorrect = Incorrect
reason-off-topic = Off topic
reason-other = Other
reason-outdated = Outdated
reason-wrong-sources = Wrong sources
withdraw = Withdraw

# The sources of a question
a-source = A source
and-more = and { $count } more
answered-from = Questions are answered from { $title }.
answered-from-all = Questions are answered from all documents.
choose-sources = Choose sources
change-sources = Change sources
chosen = Sources of the answer
# `kind` is `collections` or `documents`.
chosen-max = { $kind ->
    [collections] At most { $max } collections can be chosen.
   *[other] At most { $max } documents can be chosen.
}
collections-chosen = { $count ->
    [one] { $count } collection chosen
   *[other] { $count } collections chosen
}
documents-chosen = { $count ->
    [one] { $count } document chosen
   *[other] { $count } documents chosen
}
hide = Hide
hide-name = Hide { $name }
hidden-name = { $name } is hidden from your lists, searches and answers.
leave = Leave
leave-name = Leave { $name }
leave-text = You can no longer read the documents of { $name }. Only a manager of the collection can add you again.
leave-title = Leave this collection?
left-name = You are no longer a member of { $name }.
nothing = Nothing
picker-hint = Answers come only from what you choose: either collections or documents.
picker-none-match = { $kind ->
    [collections] No matching collections. Search for another part of the name.
   *[other] No matching documents. Search for another part of the name.
}
picker-search = Search collections and documents
remove-unavailable = Remove { $name }, which is no longer available
removed = { $name } was removed.
search-by-name = Search by name
show = Show
show-hidden = Show hidden collections
show-name = Show { $name } again
shown-name = { $name } is shown again.
# `kind` is the plural of what is shown.
show-more-of = Show more { $kind }
source-gone = One of the chosen sources is no longer available
sources-gone = None of the chosen sources is available any more. Choose other sources, or remove them to ask all documents.
unavailable = no longer available
yours-alone = yours alone

# The sources of an answer
sources = Sources
further-sources = { $count ->
    [one] 1 more passage was found
   *[other] { $count } more passages were found
}
source-name = Source { $number }: { $title }, { $place }
recognized-at = { $place }, recognised text
passage-start = { $place }: beginning of the passage
tap-again = Tap again to open the page.

# The list of conversations
conversation-actions = Actions for { $title }
conversation-delete = Delete this conversation?
conversation-delete-text = { $title } and its messages will be permanently deleted.
conversation-gone = This conversation no longer exists, or is not shared with you.
conversations-none = No conversations yet. Ask a question, and it appears here.
conversations-none-match = No matching conversations. Search for another word.
deleted = { $title } was deleted.
export = Export
not-deleted = Not deleted. { $reason }
not-exported = Not exported. { $reason }
not-renamed = Not renamed. { $reason }
title-empty = Enter a title.
pin = Pin
unpin = Unpin
pinned = Pinned
previous-days = Previous { $count } days
rename = Rename
today = Today
yesterday = Yesterday

# Shared conversations
answer-withheld = This answer cites documents that you may not read. It and what follows are not shown.
collection-lost = a collection that you can no longer read
exported-shared-by = Shared by { $owner }
exported-withheld = The next answer cites documents that you may not read. It and what follows are left out.
share-ask = Share…
share-copied = The link was copied.
share-copy = Copy link
share-ended = The conversation is not shared.
share-hint = Everyone who can read one of these collections can then read the conversation, also what you ask in it later, and sees your email address. Answers are hidden from those who may not read the documents that they cite.
share-link = Link
share-none = You can read no collection that has other readers.
share-not-saved = Not saved. { $reason }
share-saved = The conversation is shared.
share-title = Share conversation
shared = Shared
shared-by = Shared by { $owner }. You can only read this conversation.
shared-with = Shared with { $collections }. Everyone who can read there also sees what you ask here.
shared-with-me = Shared with me

# The list of documents
advice = What to do: { $advice }
ask-document = Ask this document
by = by { $account }
by-other = by another account
coverage = Pages: { $pages }, { $read } with text.
details = Details
# Follows the word before it.
details-of = of { $title }
details-none = No details yet.
document-delete = Delete this document?
document-delete-text = { $title } and its extracted text will be permanently deleted. Answers can no longer cite it.
document-not-opened = The document cannot be opened. { $reason }
documents-none = No documents yet. { $next }
documents-none-match = No matching documents. Search for another part of the title.
failed-because = Failed: { $reason }
in = in { $collections }
no-file = No file was uploaded for this document.
not-retried = Not tried again. { $reason }
stage = Processing.
stage-chunk = { $count ->
    [one] Splitting { $count } page into passages.
   *[other] Splitting { $count } pages into passages.
}
stage-embed = { $count ->
    [one] Embedding the passages of { $count } page.
   *[other] Embedding the passages of { $count } pages.
}
stage-extract = Reading the text.
stage-index = { $count ->
    [one] Adding { $count } page to the search index.
   *[other] Adding { $count } pages to the search index.
}
stage-recognize = Recognising the text of scanned pages.
stage-recognize-page = Recognising the text of page { $page } of { $pages }.
waiting = Waiting to be processed.
waiting-for = Waiting: { $reason }.
warning = Warning: { $warning }

# Uploads
dismiss = Dismiss
duplicate = The same file is already here: { $document }
no-uploads = You cannot add documents yet: ask a manager of a collection or an administrator for the right to add them.
not-uploaded = { $name }: not uploaded. { $reason }
only-pdf = Only PDF files are supported
readers-all = Everyone with an account here can read it.
readers-members = { $count ->
    [one] Members of { $name } ({ $count } account or group) and administrators can read it.
   *[other] Members of { $name } ({ $count } accounts or groups) and administrators can read it.
}
readers-none = Only you and administrators can read it.
upload-bytes = { $sent } of { $size }
upload-drop = or drop files anywhere on this page
upload-files = Upload files
upload-not-allowed = You can no longer add documents to this collection.
# `type` is `pdf` if the service accepts no other files.
upload-one = { $type ->
    [pdf] Upload a PDF
   *[other] Upload a file
}
upload-pdf = Upload PDF files
upload-to-start = { $type ->
    [pdf] Upload a PDF to start.
   *[other] Upload a file to start.
}
upload-too-large = The file is larger than the service accepts.
upload-unsupported = Only files of these types are supported: { $types }.
uploaded = { $title } was uploaded and is being processed.
uploaded-to = Uploaded to { $collection }. { $readers }
uploads = Uploads

# First steps
first-steps = First steps
question-about = What is this document about?
step-ask = Ask a question
step-ask-hint = Questions are suggested here when the document is ready.
step-check = Check the source on its page
step-check-hint = Numbers in the answer open the page, with the quoted passage marked.
step-upload-hint = It is processed in the background.
suggested-questions = Suggested questions
