# Die Seiten der Verwaltung über den Dienst: Komponenten, Aufträge, Sprachmodell, Verbrauch und Webhooks.

# Komponenten
component = Komponente
components = Komponenten
component-up = läuft
component-down = gestört
component-works = Funktioniert
component-database = Datenbank
component-key_value_store = Key-Value-Speicher
component-blob_store = Dateispeicher
component-vector_store = Vektorspeicher
component-embedding_back_end = Embedding-Dienst
component-reranking_back_end = Reranking-Dienst
component-chat_model = Sprachmodell
component-extraction_worker = Extraktionsprozess
component-text_recognizer = Texterkennung
component-mail_server = Mailserver
component-service = Dienst
the-component-database = Die Datenbank
the-component-key_value_store = Der Key-Value-Speicher
the-component-blob_store = Der Dateispeicher
the-component-vector_store = Der Vektorspeicher
the-component-embedding_back_end = Der Embedding-Dienst
the-component-reranking_back_end = Der Reranking-Dienst
the-component-chat_model = Das Sprachmodell
the-component-extraction_worker = Der Extraktionsprozess
the-component-text_recognizer = Die Texterkennung
the-component-mail_server = Der Mailserver
the-component-service = Der Dienst
fault-full = { $component } hat keinen Platz mehr
fault-in-use = { $component } wird von einem anderen Prozess benutzt
fault-internal = { $component } hatte einen internen Fehler
fault-invalid-response = { $component } hat ungültig geantwortet
fault-rate-limited = { $component } erhält zu viele Anfragen
fault-rejected = { $component } hat die Anfrage abgelehnt
fault-timeout = { $component } hat nicht rechtzeitig geantwortet
fault-unavailable = { $component } ist nicht erreichbar
fault-unconfigured = { $component } ist hier nicht eingerichtet: { $reason }
fault-tools-unsupported = { $component } unterstützt keine Werkzeuge
fault-context-length = { $component } kann so viel Text nicht lesen: die Kontextlänge ist überschritten
fault-out-of-memory = { $component } hat nicht genug Speicher
fault-loading = { $component } wird noch geladen
fault-overloaded = { $component } ist überlastet
fault-unknown-model = { $component } ist seinem Server nicht bekannt
fault-invalid-key = { $component } hat den API-Schlüssel abgelehnt
fault-quota-exceeded = { $component } hat kein Kontingent mehr
fault-content-filter = { $component } hat die Anfrage mit seinem Inhaltsfilter abgelehnt
fault-server-error = { $component } hat einen Fehler gemeldet
fault-interrupted = { $component } hat seine Antwort abgebrochen

# Dienst
service-version = Version
service-schema = Datenbankschema
service-schema-check = prüfen
service-disk = Speicherplatz
service-disk-low = knapp
service-proxy = Vorgeschalteter Proxy
service-proxy-untrusted = nicht vertrauenswürdig
service-proxy-help = Anfragen von { $peer } nennen in <code>X-Forwarded-For</code> oder <code>Forwarded</code> einen anderen Client, was ignoriert wird. Wenn das Ihr Proxy ist, nehmen Sie sein Netz in <code>DOCENT_TRUSTED_PROXIES</code> auf: Bis dahin zählen alle seine Benutzer für die Grenzen der Anfragen und der fehlgeschlagenen Anmeldungen als ein Client.
service-backup = Letzte Sicherung
service-backup-none = keine
service-backup-help = Führen Sie <code>docent backup FILE</code> auf dem Server aus, mit <code>--dev</code>, wenn <code>docent dev</code> seine Daten angelegt hat. Kopien mit anderen Werkzeugen sind hier nicht bekannt.
service-backups = Alle Sicherungen
service-test = Testen
service-test-all = Alle testen
service-test-of = { $name } testen
service-test-help = Ein Test benutzt die Komponente: Er liest, schreibt, bettet einen kurzen Text ein oder fragt das Modell nach einem Wort. Er kann bis zu einer Minute dauern, während ein Modell geladen wird.
service-tested = { $failed ->
    [0] Alle getesteten Komponenten funktionieren.
    [one] Eine Komponente funktioniert nicht.
   *[other] { $failed } Komponenten funktionieren nicht.
}
service-more = Die Seite <a>Sprachmodell</a> prüft Schritt für Schritt, ob das Modell suchen kann, und was dafür einzustellen ist. <code>docent doctor</code> (mit <code>--dev</code> wie oben) prüft auch, ob Einträge, Textstellen und Dateien zusammenpassen.
queue = Warteschlange
queue-counts = { $queued } wartend, { $running } laufend.
queue-counts-oldest = { $queued } wartend, { $running } laufend, der älteste erstellt { $oldest }.
queue-unknown = unbekannt
queue-unreadable = Die Datenbank kann nicht gelesen werden.
workers = Worker
workers-none = keiner gesehen
workers-start = Ein Auftrag ist fällig ({ $since }), und kein Worker übernimmt ihn. Starten Sie <code>docent serve</code> oder <code>docent worker</code>.
workers-last = zuletzt gesehen { $at }, als ein Auftrag übernommen oder beendet wurde
workers-none-yet = noch keiner gesehen: Es gab keine Aufträge
connected = Verbunden
connected-folder = Ordner
connected-mail-server = verbunden; E-Mails testen ihn
connected-none = nicht eingerichtet
connected-object-store = Objektspeicher
connected-part = Teil des Dienstes
connected-model = { $model } unter { $address }
duration = Zeit
milliseconds = { $count } ms
test-failed = fehlgeschlagen
test-works = funktioniert
space-free = { $free } frei von { $total } ({ $percent } %)
space-unknown = nicht bekannt: Dateien sind in einem Objektspeicher
schema-current = Das Datenbankschema ist aktuell
schema-newer = Das Datenbankschema ist neuer als dieses Programm
schema-older = Das Datenbankschema ist älter, als dieses Programm braucht
schema-missing = Die Datenbank hat noch kein Schema
missing-mail_server = Es gibt keine E-Mails: Neue Adressen werden nicht bestätigt, niemand kann das eigene Passwort zurücksetzen, und über neue Anmeldungen wird niemand benachrichtigt. Personal erstellt Links auf der Seite eines Kontos. Setzen Sie DOCENT_SMTP_URL und DOCENT_MAIL_FROM, um E-Mails zu versenden.
missing-text_recognizer = Text auf Bildern wird nicht erkannt: Scans schlagen fehl. Installieren Sie tesseract (Debian-Paket tesseract-ocr), setzen Sie DOCENT_OCR auf auto, falls es auf off steht, und verarbeiten Sie die fehlgeschlagenen Dokumente erneut.
missing-chat_model = Es ist kein Sprachmodell verbunden: Antworten sind Zitate aus Dokumenten. Setzen Sie DOCENT_LLM_BASE_URL und DOCENT_LLM_MODEL, um eines zu verbinden.
missing-reranking_back_end = Textstellen behalten die Reihenfolge, in der die Suche sie findet. Setzen Sie DOCENT_RERANK_BASE_URL, damit ein Modell sie ordnet.

# Aufträge
job = Auftrag
job-id-to-copy = ID des Auftrags
job-due = fällig { $at }
job-since = begonnen { $at }
# Mit bedingtem Trennstrich, damit die Tabelle auf einen Bildschirm passt.
job-interruptions = Unter­brechungen
job-last-error = Letzter Fehler
jobs-empty = Keine Aufträge. Jedes hochgeladene Dokument erzeugt einen; beendete Aufträge werden eine Zeit lang aufbewahrt.
jobs-no-match = Keine passenden Aufträge.
jobs-none = Keine Aufträge.
job-kind-delete = Löschen
job-kind-ingest = Verarbeitung
job-state-done = beendet
job-state-failed = fehlgeschlagen
job-state-queued = eingereiht
job-state-running = läuft
job-state-waiting = wartet

# Sprachmodell
model-at = <b>{ $model }</b> unter { $address }
model-check = Verbindung prüfen
model-check-help = Die Prüfung sendet ein paar Anfragen an das Modell, und eine, die so lang ist wie eine Frage mit Textstellen. Sie dauert höchstens fünf Minuten, das meiste davon, während das Modell geladen wird.
model-connect = Setzen Sie DOCENT_LLM_BASE_URL auf die Adresse einer Chat-Completions-API, zum Beispiel http://127.0.0.1:11434/v1, DOCENT_LLM_MODEL auf den Namen eines Modells, und DOCENT_LLM_API_KEY, wenn der Server einen Schlüssel braucht; starten Sie dann den Dienst neu.
model-none = Es ist kein Sprachmodell verbunden: Antworten sind Zitate aus Dokumenten.
model-steps = Schritte der Prüfung
model-settings = Einstellungen
model-settings-help = Setzen Sie diese, und starten Sie den Dienst neu.
model-unsearched = Bei { $unsearched } der letzten { $answers } Antworten hat das Modell nicht in den Dokumenten gesucht. Mit <code>DOCENT_AGENT_SEARCH=first</code> sucht der Dienst nach jeder Frage, bevor er das Modell aufruft; siehe <code>docs/how-to/local-llm.md</code>.
model-unusable = Das Modell kann so nicht benutzt werden.
model-usable = Das Modell kann benutzt werden.
model-result = Ergebnis
model-step = Schritt
model-step-answer = Gestreamte Antwort
model-step-context_length = Kontextlänge
model-step-embeddings = Vektoren
model-step-models = Liste der Modelle
model-step-system_messages = Zweite Systemnachricht
model-step-tool_arguments = Argumente des Aufrufs
model-step-tool_call = Werkzeugaufruf
model-step-tool_output = Antwort aus einem Suchergebnis
model-result-failed = fehlgeschlagen
model-result-not_supported = nicht unterstützt
model-result-passed = bestanden
model-result-warning = Warnung

# Verbrauch
usage-empty = Kein Verbrauch in diesem Zeitraum. Wählen Sie einen anderen Zeitraum, oder <a>zeigen Sie die letzten 30 Tage an</a>.
usage-export = Als CSV exportieren
usage-account-email = E-Mail des Kontos
usage-by = Nach
usage-by-day = Tag
usage-by-day-user = Tag und Konto
usage-by-day-user-key = Tag, Konto und API-Schlüssel
usage-by-user = Konto
usage-by-user-key = Konto und API-Schlüssel
usage-answers = Antworten
usage-input = Eingabe-Tokens
usage-output = Ausgabe-Tokens
usage-key-none = keiner
usage-show = Anzeigen

# Webhooks
webhook = Webhook
webhooks-empty = Noch keine Webhooks. Konten erstellen Webhooks mit <code>POST /webhooks</code>.
webhooks-no-match = Keine passenden Webhooks.
webhooks-on-or-off = an oder aus
webhook-url = URL
webhook-events = Ereignisse
webhook-events-all = { $events }, von allen Konten
webhook-facts = Besitzer: { $owner }. Ereignisse: { $events }. Erstellt { $created }, geändert { $updated }.
webhook-facts-all = Besitzer: { $owner }. Ereignisse: { $events }, Dokumente aller Konten. Erstellt { $created }, geändert { $updated }.
webhook-disable = Ausschalten
webhook-enable = Einschalten
webhook-disabled = Webhook ausgeschaltet.
webhook-enabled = Webhook eingeschaltet.
webhook-deleted = Der Webhook wurde gelöscht.
webhook-delete-consequence = Der Webhook und das Protokoll seiner Zustellungen werden endgültig gelöscht.
deliveries = Zustellungen
deliveries-none = Noch keine Zustellungen.
delivery-event = Ereignis
delivery-last = Letzte Antwort
delivery-next = Nächster Versuch
delivery-not-found = Zustellung nicht gefunden
delivery-send = Senden
delivery-send-again = { $event } vom { $at } noch einmal senden
delivery-will-be-sent = Die Nachricht wird noch einmal gesendet.
delivery-delivered = zugestellt
delivery-failed = fehlgeschlagen
delivery-pending = offen
