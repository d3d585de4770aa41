# Scripts of the panel and of the account pages.

bulk-selected = { $count } selected
close = Close
columns = Columns
copy-id = Copy { $id }
delete = Delete
error-status = The service responded with status { $status }.
keys = Keys
keys-single = Use single keys such as j and x
key-filters = Go to the filters
key-next-row = Next row
key-open-row = Open the row
key-previous-row = Previous row
key-select-row = Select the row
list-unreachable = The service cannot be reached. Change a filter to try again.
palette-count = { $count ->
    [0] No results
    [one] { $count } result
   *[other] { $count } results
}
palette-failed = The search failed. Try again in a moment.
palette-search = Search pages and records
picker-available = Available
picker-filter = Filter available options
picker-selected = Selected
upload-connection-lost = The connection was lost. Try again
upload-done = { $name }: uploaded, processing.
upload-failed = { $name }: not uploaded. { $reason }.
upload-progress = Uploading { $name }
upload-unexpected = The service responded with status { $status }. Reload this page and try again
upload-waiting = { $name }: waiting
view-delete = Delete the view { $name }
view-deleted = The view { $name } was deleted.
view-save-as = Save these filters and columns as
view-saved = The view { $name } was saved.
views = Views
views-hint = Views are saved in this browser.
views-none = No saved views yet.
