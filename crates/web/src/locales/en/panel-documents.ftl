# The pages of documents in the panel: list, upload, document, passages, readers, and the search for trying out.

# List
document-status = Status
document-size = Size
documents-empty = No documents yet.
documents-no-match = No matching documents.
documents-selected = Selected documents:
documents-upload = Upload documents
upload-by-api = Upload one with <code>POST /documents/upload</code>.
upload-first = Upload the first one
failure = Failure
retry-ask = Retry ingestion…
retry-all-ask = Retry all with this failure…
add-ask = Add…
move-ask = Move…
remove-ask = Remove…
document-id-to-copy = the document ID

# Actions on several documents
bulk-done-count = { $done } of { $total } done. Skipped documents are listed first with the reason.
bulk-none = None of the selected documents can be processed.
bulk-skipped = Skipped
bulk-will-be-skipped = Will be skipped
bulk-back = Back to the documents
bulk-select-one = Select at least one document.
bulk-too-many = At most { $max } documents can be selected at once
# The word is the same in all languages.
bulk-word = Type “{ $word }” to confirm
bulk-word-wrong = Type the word “{ $word }”. Nothing has been deleted.
retry-title = Retry ingestions
retry-effect = These documents will be ingested again from their stored files.
retry-will = Will be retried
retry-verb = Retry { $count }
retry-done = { $count ->
    [one] The ingestion of { $count } document will be retried.
   *[other] The ingestion of { $count } documents will be retried.
}
delete-documents-title = Delete documents
delete-documents-effect = The records, files and chunks of these documents will be permanently deleted.
delete-documents-will = Will be deleted
delete-documents-verb = Delete { $count }
delete-documents-done = { $count ->
    [one] Deleted { $count } document.
   *[other] Deleted { $count } documents.
}
move-title = Move documents to a collection
move-effect = These documents will be taken out of their collections and added to “{ $name }”, which is read by { $readers }.
move-will = Will be moved
move-verb = Move { $count }
move-done = { $count ->
    [one] Moved { $count } document.
   *[other] Moved { $count } documents.
}
add-title = Add documents to a collection
add-effect = These documents will be added to “{ $name }”, which is read by { $readers }, and stay in their other collections.
add-will = Will be added
add-verb = Add { $count }
add-done = { $count ->
    [one] Added { $count } document to the collection.
   *[other] Added { $count } documents to the collection.
}
remove-title = Remove documents from a collection
remove-effect = These documents will be taken out of “{ $name }”. Accounts that read them only there lose access immediately.
remove-will = Will be removed
remove-verb = Remove { $count }
remove-done = { $count ->
    [one] Removed { $count } document from the collection.
   *[other] Removed { $count } documents from the collection.
}
retry-not-failed = Only a failed document can be retried; this one is { $status }

# Upload
upload = Upload
upload-collection-help = Staff with the permission to view all documents can read them too.
upload-drop-hint = You can also drop them here.
upload-field-files = Files
upload-field-pdf = PDF files
upload-limits = Up to { $files } files of at most { $size } each.
upload-types = Accepted: { $types }.
upload-readers = { $name } – read by { $readers }
upload-refused = Not uploaded: { $count }
upload-rest = Remaining files
upload-select-one = Select at least one file.
upload-started = Uploaded and processing: { $count }
upload-too-many = Too many files in one upload
documents-uploaded = { $count ->
    [one] Uploaded { $count } document. Processing has started.
   *[other] Uploaded { $count } documents. Processing has started.
}

# Document
document-failed = Ingestion failed:
document-failed-kept = The file and this record are still stored.
document-retry = Retry the ingestion
document-retried = The retry is queued. This page shows its state.
document-deleted = The document was deleted.
document-delete-consequence = The record, the file and all chunks will be permanently deleted.
ingestion = Ingestion
ingestion-reload = Reload this page to see the progress.
step-done = done
step-queue = Queue
step-in-work = In work
step-extract = Extract
step-chunk = Chunk
step-embed = Embed
step-index = Index
record = Record
vector-id = Vector ID
vector-id-to-copy = the vector ID
file = File
file-without = This record was made without a file.
sha256 = SHA-256
sha256-to-copy = the digest
coverage-title = Coverage
coverage-none = No extraction result yet.
coverage-pages = { $pages }, { $read } with text
coverage-language = { $code ->
    [ar] Arabic
    [bg] Bulgarian
    [cs] Czech
    [da] Danish
    [de] German
    [el] Greek
    [en] English
    [es] Spanish
    [fi] Finnish
    [fr] French
    [hu] Hungarian
    [it] Italian
    [ja] Japanese
    [ko] Korean
    [nb] Norwegian
    [nl] Dutch
    [pl] Polish
    [pt] Portuguese
    [ro] Romanian
    [ru] Russian
    [sv] Swedish
    [tr] Turkish
    [uk] Ukrainian
    [zh] Chinese
   *[other] { $code }
}
coverage-language-unclear = not clear
coverage-empty = Empty pages
coverage-unreliable = Unreliable pages
coverage-truncated = Truncated pages
coverage-recognized = Recognised text
coverage-recognized-pages = { $pages }, confidence { $percent } %
coverage-not-recognized = Not recognised
coverage-recognizer = Recognizer
coverage-recognized-pictures = Text of pictures
coverage-unread-pictures = Pictures not read
coverage-described = Pictures described by a model
coverage-undescribed = Pictures not described
coverage-lacking-results = Formulas without result
coverage-pages-none = none
chunks = Chunks
tokens = Tokens
characters = Characters
attempt-last = Last attempt
attempts = Attempts
extractor = Extractor
stage-extracting = Extracting
stage-chunking = Chunking
stage-embedding = Embedding
stage-indexing = Indexing
warning-empty = { $count } of { $pages } pages: no text (blank, or a picture of text)
warning-unreliable = { $count } of { $pages } pages: text that cannot be read reliably, which is left out
warning-truncated = { $count } of { $pages } pages: cut at a limit, so that text may be missing
warning-shortened = { $count ->
    [one] 1 passage is longer than the embedding model takes: its vector is of its beginning
   *[other] { $count } passages are longer than the embedding model takes: their vectors are of their beginnings
}
warning-recognized = { $count } of { $pages } pages: recognised text, which may contain errors
warning-recognition-failed = { $count } of { $pages } pages: text recognition failed
warning-recognized-pictures = { $count } of { $pages } pages: recognised text of pictures, which may contain errors
warning-unread-pictures = { $count } of { $pages } pages: a picture whose text, if it shows any, was not read
warning-described-pictures = { $count } of { $pages } pages: pictures described by a model, which may be wrong
warning-description-failed = { $count } of { $pages } pages: the description of pictures failed
warning-lacking-results = { $count } of { $pages } pages: formulas without a saved result; save the file in a program that calculates them

# Attributes
attributes = Attributes
attributes-help = Searches and lists can be filtered by attributes. Empty a row to remove it; at most { $max }.
attributes-none = No attributes.
attributes-save = Save attributes
attributes-saved = The attributes were saved.
attributes-error = Attributes { $reason }.
attribute-boolean = yes or no
attribute-error = { $key }: { $reason }.
attribute-key = Key
attribute-key-number = Key { $number }
attribute-key-twice = the key is used twice
attribute-not-boolean = the value must be yes or no
attribute-not-number = the value must be a number
attribute-number = number
attribute-text = text
type = Type
attribute-type-number = Type { $number }
attribute-value = Value
attribute-value-number = Value { $number }

# Chunks
chunks-of = Chunks of { $title }
chunk-number = Chunk { $number }
chunk-characters = { $pages }, { $count } characters
chunks-none = This document has no chunks because none of its pages has text.
chunks-not-ready = The status of the document is “{ $status }”. Its chunks appear here when it is ready.

# Readers
account-or-group = Account or group
readers-of = Readers of { $title }
readers-title = Who can read this
readers-help = Accounts with several reasons are listed with each. Owning a document is no reason. Deactivated accounts read nothing until they are activated.
readers-all-reasons = All readers with their reasons ({ $count })
# The name of a collection follows.
reader-owner = owner of
reader-role = { $role } on
reader-permission = permission to view all documents in the panel
reader-superuser = superuser, who views all documents in the panel
reader-is-group = (group)

# Trying out the search
search-title = Try a search
search-help = Shows the passages that a question finds in all documents, and how much each field adds to their scores.
search-query = Query
search-filters = Filters
search-filters-invalid = Filters { $reason }
search-filters-placeholder = JSON, as in POST /search
search-score-reranked = The score is that of the reranker, which ignores the fields; it can be compared with those of other questions.
search-score-dense = The score is the sum of body, headings, title and lead, divided by the highest such sum of the search, plus dense.
search-score-sum = The score is the sum of body, headings, title and lead.
search-score-local = It can be compared only within this search.
search-units = Units that could answer
search-units-help = Without a language model, quotes answer. Each part of the first passages has a probability to answer: from { $answer } on it is an answer, and from { $decline } on it is shown as one that may help. Features are from 0 to 1; their weighted sum with the constant is the logarithm of the odds.
search-unit = Unit
search-unit-page = page { $page }
search-probability = Probability
search-weights = Constant and weights
search-no-match = No matching passages.
search-empty = The passages that are found appear here.
search-not-an-id = "{ $text }" is not an ID (expected a UUID)
search-no-collection = There is no collection with this ID
search-error = { $field } { $reason }
passage = Passage
score = Score
score-body = Body
score-dense = Dense
score-headings = Headings
score-lead = Lead
