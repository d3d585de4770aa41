# The viewer of documents in the web chat.

ask-selection = Ask about this selection
file-download = Download the file
file-none = This document has no file.
file-open = Open the file
file-open-at = Open the file at page { $page }
window-blocked = The browser blocked the new window. Allow pop-ups for this page and try again
find = Find
find-count = { $number } of { $total }
find-in-document = Find in this document
find-next = Next place
find-none = Not found
find-places = Places
find-previous = Previous place
find-text = Text to find in this document
loading = Loading…
# Follows the name of a page.
marked-passage = , with this passage marked: { $text }
marked-quote = , with this quote marked: { $quote }
of-pages = of { $pages }
other-version = The answer quotes version { $quoted } of this document. The page shown is of version { $shown }, and can differ.
page = Page
pages = Pages
page-enter = Enter a page from 1 to { $pages }.
page-failed = Page { $page } cannot be shown.
page-gone = Page not found: the document may have been deleted.
page-image = Page { $page } of { $title }
page-image-broken = The page image cannot be displayed
page-next = Next page
page-number = Page { $page }
page-of = Page { $page } of { $pages }
page-previous = Previous page
page-waits = Many pages are being drawn. This page follows soon…
passage-above = The passage is shown above as text.
passage-as-text = The passage as text
percent = { $number } %
quote-of = “{ $quote }” ({ $title }, { $place })
selection-quoted = The selected text is in the question field. Questions are answered from { $title }.
recognized-note = Recognised text: the page is an image, and its text may contain errors.
text = Text
viewer-close = Close the document
zoom = Zoom
zoom-fit = Fit to width
zoom-in = Zoom in
zoom-out = Zoom out

# Summaries
fallback-failed = The language model could not be reached. These are sentences of the document.
fallback-invalid = The language model wrote no usable summary. These are sentences of the document.
fallback-limit = Your language model limit is reached. These are sentences of the document.
fallback-timeout = The language model took too long. These are sentences of the document.
key-points = Key points
sections = Sections
summary = Summary
summary-by = Written by { $model }. Check the pages.
summary-none = No sentences found: this document has little running text.
summary-reading = Reading the document…
