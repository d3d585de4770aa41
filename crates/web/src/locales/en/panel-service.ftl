# The pages of the panel about the service: components, jobs, chat model, usage and webhooks.

# Components
component = Component
components = Components
component-up = Up
component-down = Down
component-works = Works
component-database = Database
component-key_value_store = Key-value store
component-blob_store = Blob store
component-vector_store = Vector store
component-embedding_back_end = Embedding back end
component-reranking_back_end = Reranking back end
component-chat_model = Chat model
component-extraction_worker = Extraction worker
component-text_recognizer = Text recognizer
component-mail_server = Mail server
component-identity_provider = Identity provider
component-service = Service
# The subject of a sentence.
the-component-database = The database
the-component-key_value_store = The key-value store
the-component-blob_store = The blob store
the-component-vector_store = The vector store
the-component-embedding_back_end = The embedding back end
the-component-reranking_back_end = The reranking back end
the-component-chat_model = The chat model
the-component-extraction_worker = The extraction worker
the-component-text_recognizer = The text recognizer
the-component-mail_server = The mail server
the-component-identity_provider = The identity provider
the-component-service = The service
fault-full = { $component } has no room left
fault-in-use = { $component } is in use by another process
fault-internal = { $component } met an internal error
fault-invalid-response = { $component } returned an invalid response
fault-rate-limited = { $component } is receiving too many requests
fault-rejected = { $component } refused the request
fault-timeout = { $component } did not answer in time
fault-unavailable = { $component } cannot be reached
# `reason` names the setting.
fault-unconfigured = { $component } is not configured here: { $reason }
fault-tools-unsupported = { $component } does not support tools
fault-context-length = { $component } cannot read this much text: the context length is exceeded
fault-out-of-memory = { $component } is out of memory
fault-loading = { $component } is still loading
fault-overloaded = { $component } is overloaded
fault-unknown-model = { $component } is not known to its server
fault-invalid-key = { $component } rejected the API key
fault-quota-exceeded = { $component } has no quota left
fault-content-filter = { $component } blocked the request with its content filter
fault-server-error = { $component } reported an error
fault-interrupted = { $component } broke off its response

# Service
service-version = Version
service-schema = Database schema
service-schema-check = check
service-disk = Disk
service-disk-low = low
service-proxy = Proxy
service-proxy-untrusted = not trusted
service-proxy-help = Requests from { $peer } name another client in <code>X-Forwarded-For</code> or <code>Forwarded</code>, which is ignored. If it is your proxy, add its network to <code>DOCENT_TRUSTED_PROXIES</code>: until then all its users count as one client for the limits of requests and failed sign-ins.
service-backup = Last backup
service-backup-none = none
service-backup-help = Run <code>docent backup FILE</code> on the server, with <code>--dev</code> if <code>docent dev</code> made its data. Copies made with other tools are not known here.
service-backups = All backups
service-test = Test
service-test-all = Test all
service-test-of = Test the { $name }
service-test-help = A test uses the component: it reads, writes, embeds a short text or asks the model for one word. It can take up to a minute while a model is loaded.
service-tested = { $failed ->
    [0] All tested components work.
    [one] One component does not work.
   *[other] { $failed } components do not work.
}
service-more = The page <a>Chat model</a> checks step by step whether the model can search, and what to set for it. <code>docent doctor</code> (with <code>--dev</code> as above) also checks whether records, chunks and files fit together.
queue = Job queue
queue-counts = { $queued } waiting, { $running } running.
queue-counts-oldest = { $queued } waiting, { $running } running, the oldest created { $oldest }.
queue-unknown = unknown
queue-unreadable = The database cannot be read.
workers = Workers
workers-none = none seen
workers-start = A job has been due since { $since }, and no worker takes it. Start <code>docent serve</code> or <code>docent worker</code>.
workers-last = last seen { $at }, when a job was taken or finished
workers-none-yet = none seen yet: there were no jobs
connected = Connected
connected-folder = folder
connected-mail-server = connected; emails test it
connected-none = not configured
connected-object-store = object store
connected-part = part of the service
connected-model = { $model } at { $address }
duration = Time
milliseconds = { $count } ms
test-failed = failed
test-works = works
space-free = { $free } free of { $total } ({ $percent } %)
space-unknown = not known: files are in an object store
schema-current = The database schema is current
schema-newer = The database schema is newer than this program
schema-older = The database schema is older than this program needs
schema-missing = The database has no schema yet
# What does not work without a component.
missing-mail_server = There are no emails: new addresses are not confirmed, users cannot reset their passwords themselves, and are not notified of new sign-ins. Staff create links on the page of a user. Set DOCENT_SMTP_URL and DOCENT_MAIL_FROM to send emails.
missing-identity_provider = Accounts sign in with passwords alone. Set DOCENT_OIDC_ISSUER and DOCENT_OIDC_CLIENT_ID to let them sign in at an identity provider (OpenID Connect).
missing-text_recognizer = Text on images is not recognised: scans fail. Install tesseract (Debian package tesseract-ocr), set DOCENT_OCR to auto if it is off, and retry the failed documents.
missing-chat_model = No language model is connected: answers are quotes from documents. Set DOCENT_LLM_BASE_URL and DOCENT_LLM_MODEL to connect one.
missing-reranking_back_end = Passages keep the order in which the search finds them. Set DOCENT_RERANK_BASE_URL to let a model order them.

# Jobs
job = Job
job-id-to-copy = the job’s id
job-due = due { $at }
job-since = since { $at }
job-interruptions = Interruptions
job-last-error = Last error
jobs-empty = No jobs. Each upload creates one; finished jobs are kept for a while.
jobs-no-match = No matching jobs.
jobs-none = No jobs.
job-kind-delete = delete
job-kind-ingest = ingest
job-state-done = done
job-state-failed = failed
job-state-queued = queued
job-state-running = running
job-state-waiting = waiting

# Chat model
model-at = <b>{ $model }</b> at { $address }
model-check = Check the connection
model-check-help = The check sends a few requests to the model, and one as long as a question with passages. It takes at most five minutes, most of them while the model is loaded.
model-connect = Set DOCENT_LLM_BASE_URL to the address of a chat-completions API, such as http://127.0.0.1:11434/v1, DOCENT_LLM_MODEL to the name of a model, and DOCENT_LLM_API_KEY if the server needs a key; then restart the service.
model-none = No chat model is connected: answers are quotes from documents.
model-steps = Steps of the check
model-settings = Settings
model-settings-help = Set these, and restart the service.
model-unsearched = For { $unsearched } of the last { $answers } answers the model did not search the documents. With <code>DOCENT_AGENT_SEARCH=first</code> the service searches for each question before it calls the model; see <code>docs/how-to/local-llm.md</code>.
model-unusable = The model cannot be used as it is.
model-usable = The model can be used.
model-result = Result
model-step = Step
model-step-answer = Streamed answer
model-step-context_length = Context length
model-step-embeddings = Embeddings
model-step-models = List of models
model-step-pictures = Pictures
model-step-system_messages = Second system message
model-step-tool_arguments = Arguments of the call
model-step-tool_call = Tool call
model-step-tool_output = Answer from a search result
model-result-failed = failed
model-result-not_supported = not supported
model-result-passed = passed
model-result-warning = warning

# Usage
usage-empty = No usage in this period. Choose another period, or <a>show the last 30 days</a>.
usage-export = Export as CSV
usage-account-email = Account’s email
usage-by = By
usage-by-day = day
usage-by-day-user = day and account
usage-by-day-user-key = day, account and API key
usage-by-user = account
usage-by-user-key = account and API key
usage-answers = Answers
usage-input = Input tokens
usage-output = Output tokens
usage-key-none = none
usage-show = Show

# Webhooks
webhook = Webhook
webhooks-empty = No webhooks yet. Accounts create webhooks with <code>POST /webhooks</code>.
webhooks-no-match = No matching webhooks.
webhooks-on-or-off = on or off
webhook-url = URL
webhook-events = Events
webhook-events-all = { $events }, of all accounts
webhook-facts = Owner: { $owner }. Events: { $events }. Created { $created }, changed { $updated }.
webhook-facts-all = Owner: { $owner }. Events: { $events }, documents of all accounts. Created { $created }, changed { $updated }.
webhook-disable = Disable
webhook-enable = Enable
webhook-disabled = Webhook disabled.
webhook-enabled = Webhook enabled.
webhook-deleted = The webhook was deleted.
webhook-delete-consequence = The webhook and its delivery log will be permanently deleted.
deliveries = Deliveries
deliveries-none = No deliveries yet.
delivery-event = Event
delivery-last = Last response
delivery-next = Next attempt
delivery-not-found = Delivery not found
delivery-send = Send
delivery-send-again = Send { $event } of { $at } again
delivery-will-be-sent = The message will be sent again.
delivery-delivered = delivered
delivery-failed = failed
delivery-pending = pending
