# Der Chat, ohne den Betrachter von Dokumenten.

# Die Seite
side = Unterhaltungen und Dokumente
new-conversation = Neu<span> beginnen</span>
settings = Einstellungen
settings-title = Einstellungen: Passwort, Sitzungen, Sprache, Erscheinungsbild
no-script = Diese Seite braucht JavaScript, das ausgeschaltet oder blockiert ist. Ohne JavaScript benutzen Sie die HTTP-API oder die Kommandozeile.
conversations-search = Unterhaltungen durchsuchen
more-conversations = Mehr<span> Unterhaltungen</span> anzeigen
more-documents = Mehr<span> Dokumente</span> anzeigen
titles-search = Titel durchsuchen
turns = Fragen und Antworten
welcome = Was möchten Sie wissen?
welcome-hint = Die Antworten kommen aus Ihren Dokumenten, mit Seitenangaben.
your-question = Ihre Frage
your-question-edit = Ihre Frage bearbeiten
question-hint = Frage zu den Dokumenten
question-keys = <kbd>Enter</kbd> zum Senden, <kbd>Umschalt</kbd>+<kbd>Enter</kbd> für eine neue Zeile, <kbd>Esc</kbd> zum Anhalten, <kbd>/</kbd> zum Eingabefeld
quote-mode = Zitatmodus: Es ist kein Sprachmodell verbunden. <a>So verbinden Sie eines</a>
ask = Fragen
stop = Anhalten
try-again = Noch einmal versuchen

# Fehler
signed-out-title = Sie sind nicht angemeldet
signed-out = Ihre Sitzung ist beendet. Melden Sie sich wieder an.
still-signed-in = Sie sind noch angemeldet. { $reason }
error-second-factor-required = Dieses Konto muss einen zweiten Faktor haben; richten Sie ihn auf der Seite Ihres Kontos ein
error-proof-needed = Es wurde nichts geändert: Ihr Passwort oder ein Code ist nötig
failed-later = { $detail }. Es ist nichts verloren gegangen. Versuchen Sie es gleich noch einmal.
page-error = Auf dieser Seite ist etwas schiefgegangen: { $reason }.
status = Der Dienst hat mit dem Status { $status } geantwortet
too-many = Zu viele Anfragen. Versuchen Sie es später noch einmal.
too-many-in = Zu viele Anfragen. Versuchen Sie es in { $time } noch einmal.
seconds = { $count } s
minutes = { $count ->
    [one] { $count } Minute
   *[other] { $count } Minuten
}
unreachable = Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.
updated = Der Dienst wurde aktualisiert. Laden Sie diese Seite neu, um fortzufahren

# Bestätigen, dass Sie es sind
proof-elsewhere = Stattdessen erneut beim Anmeldeanbieter anmelden
proof-hint = Das braucht Ihr Passwort oder einen Code aus den letzten 10 Minuten. Es wurde noch nichts geändert, und Ihre Eingaben bleiben erhalten.
proof-incorrect = Das Passwort oder der Code ist falsch.

# Fragen und Antworten
steps = Schritte der Antwort
step-citations = { $count ->
    [one] Eine Quellenangabe ohne Textstelle wurde entfernt
   *[other] { $count } Quellenangaben ohne Textstelle wurden entfernt
}
step-searched = Nach „{ $query }“ gesucht
step-shortened = Die ältesten Nachrichten der Unterhaltung wurden weggelassen
searching = Die Dokumente werden durchsucht…
answer-cut-filter = Der Inhaltsfilter des Sprachmodells hat diese Antwort abgeschnitten.
answer-cut-length = Das Sprachmodell hat seine Grenze erreicht, und die Antwort endet vorzeitig.
answer-iterations = Das Sprachmodell hat immer weiter gesucht und die Antwort nicht beendet. Fragen Sie genauer.
answer-not-searched = Ohne Ihre Dokumente beantwortet
answer-reasoning-only = Das Sprachmodell hat über die Frage nachgedacht, aber nicht geantwortet. Versuchen Sie es noch einmal.
search-and-ask = Die Dokumente durchsuchen und neu antworten
answer-empty = Das Sprachmodell hat nicht geantwortet. Versuchen Sie es noch einmal oder fragen Sie anders.
answer-incomplete = Diese Antwort ist unvollständig oder wurde angehalten.
answer-incomplete-because = Die Antwort ist unvollständig: { $reason }
answer-none = Keine Antwort erhalten.
choices = Auswahl
question-kept = { $reason } Ihre Frage ist noch da: Stellen Sie sie unten noch einmal.
stopped = Angehalten.
ask-again = Erneut fragen
ask-model-again = Das Sprachmodell erneut fragen
quotes-unreachable = Das Sprachmodell ist nicht erreichbar.
quotes-timeout = Das Sprachmodell hat nicht rechtzeitig geantwortet.
quotes-overloaded = Das Sprachmodell ist überlastet.
quotes-loading = Das Sprachmodell wird noch gestartet.
quotes-quota = Das Kontingent des Sprachmodells ist aufgebraucht.
quotes-rejected = Das Sprachmodell hat die Anfrage abgelehnt.
quotes-length = Die Frage und ihre Unterhaltung sind zu lang für das Sprachmodell.
quotes-failed = Das Sprachmodell ist ausgefallen.
quotes-only = Dies sind Zitate aus Ihren Dokumenten.
reasoning = Überlegungen
question-edit = Frage bearbeiten
copy-blocked = Der Browser blockiert das Kopieren
earlier-version = Frühere Version: { $question }
table = Tabelle

# Rückmeldung
answer-good = Gute Antwort
answer-bad = Schlechte Antwort
comment = Kommentar
feedback-question = Was war falsch?
feedback-saved = Ihre Rückmeldung wurde gespeichert.
feedback-not-saved = Ihre Rückmeldung wurde nicht gespeichert. { $reason }
feedback-withdrawn = Ihre Rückmeldung wurde zurückgezogen.
reason-none = Grund wählen (freiwillig)
reason-incomplete = Unvollständig
reason-incorrect = Falsch
reason-off-topic = Am Thema vorbei
reason-other = Anderes
reason-outdated = Veraltet
reason-wrong-sources = Falsche Quellen
withdraw = Zurückziehen

# Die Quellen einer Frage
a-source = Eine Quelle
and-more = und { $count } weitere
answered-from = Fragen werden aus { $title } beantwortet.
answered-from-all = Fragen werden aus allen Dokumenten beantwortet.
choose-sources = Quellen wählen
change-sources = Quellen ändern
chosen = Quellen der Antwort
chosen-max = { $kind ->
    [collections] Höchstens { $max } Sammlungen können gewählt werden.
   *[other] Höchstens { $max } Dokumente können gewählt werden.
}
collections-chosen = { $count ->
    [one] { $count } Sammlung gewählt
   *[other] { $count } Sammlungen gewählt
}
documents-chosen = { $count ->
    [one] { $count } Dokument gewählt
   *[other] { $count } Dokumente gewählt
}
hide = Ausblenden
hide-name = { $name } ausblenden
hidden-name = { $name } ist in Ihren Listen, Suchen und Antworten ausgeblendet.
leave = Verlassen
leave-name = { $name } verlassen
leave-text = Sie können die Dokumente von { $name } nicht mehr lesen. Nur wer die Sammlung verwaltet, kann Sie wieder hinzufügen.
leave-title = Diese Sammlung verlassen?
left-name = Sie sind nicht mehr Mitglied von { $name }.
nothing = Nichts
picker-hint = Die Antworten kommen nur aus dem, was Sie wählen: entweder Sammlungen oder Dokumente.
picker-none-match = { $kind ->
    [collections] Keine passenden Sammlungen. Suchen Sie nach einem anderen Teil des Namens.
   *[other] Keine passenden Dokumente. Suchen Sie nach einem anderen Teil des Namens.
}
picker-search = Sammlungen und Dokumente durchsuchen
remove-unavailable = { $name } entfernen; nicht mehr verfügbar
removed = { $name } wurde entfernt.
search-by-name = Nach Namen suchen
show = Einblenden
show-hidden = Ausgeblendete Sammlungen zeigen
show-name = { $name } wieder einblenden
shown-name = { $name } wird wieder gezeigt.
show-more-of = Mehr { $kind } anzeigen
source-gone = Eine der gewählten Quellen ist nicht mehr verfügbar
sources-gone = Keine der gewählten Quellen ist mehr verfügbar. Wählen Sie andere Quellen, oder entfernen Sie sie, um alle Dokumente zu fragen.
unavailable = nicht mehr verfügbar
yours-alone = nur für Sie

# Die Quellen einer Antwort
sources = Quellen
further-sources = { $count ->
    [one] 1 weitere Textstelle wurde gefunden
   *[other] { $count } weitere Textstellen wurden gefunden
}
source-name = Quelle { $number }: { $title }, { $place }
recognized-at = { $place }, erkannter Text
passage-start = { $place }: Anfang der Textstelle
tap-again = Tippen Sie noch einmal, um die Seite zu öffnen.

# Die Liste der Unterhaltungen
conversation-actions = Aktionen für { $title }
conversation-delete = Diese Unterhaltung löschen?
conversation-delete-text = { $title } und ihre Nachrichten werden endgültig gelöscht.
conversation-gone = Diese Unterhaltung gibt es nicht mehr, oder sie ist nicht mit Ihnen geteilt.
conversations-none = Noch keine Unterhaltungen. Stellen Sie eine Frage, dann erscheint sie hier.
conversations-none-match = Keine passenden Unterhaltungen. Suchen Sie nach einem anderen Wort.
deleted = { $title } wurde gelöscht.
export = Exportieren
not-deleted = Nicht gelöscht. { $reason }
not-exported = Nicht exportiert. { $reason }
not-renamed = Nicht umbenannt. { $reason }
title-empty = Geben Sie einen Titel ein.
pin = Anheften
unpin = Lösen
pinned = Angeheftet
previous-days = Letzte { $count } Tage
rename = Umbenennen
today = Heute
yesterday = Gestern

# Geteilte Unterhaltungen
answer-withheld = Diese Antwort zitiert Dokumente, die Sie nicht lesen dürfen. Sie und alles Weitere werden nicht angezeigt.
collection-lost = eine Sammlung, die Sie nicht mehr lesen dürfen
exported-shared-by = Geteilt von { $owner }
exported-withheld = Die nächste Antwort zitiert Dokumente, die Sie nicht lesen dürfen. Sie und alles Weitere fehlen hier.
share-ask = Teilen…
share-copied = Der Link wurde kopiert.
share-copy = Link kopieren
share-ended = Die Unterhaltung ist nicht geteilt.
share-hint = Wer eine dieser Sammlungen lesen darf, kann dann die Unterhaltung lesen, auch was Sie später darin fragen, und sieht Ihre E-Mail-Adresse. Antworten bleiben denen verborgen, die die zitierten Dokumente nicht lesen dürfen.
share-link = Link
share-none = Sie können keine Sammlung lesen, die auch andere lesen.
share-not-saved = Nicht gespeichert. { $reason }
share-saved = Die Unterhaltung ist geteilt.
share-title = Unterhaltung teilen
shared = Geteilt
shared-by = Geteilt von { $owner }. Sie können diese Unterhaltung nur lesen.
shared-with = Geteilt mit { $collections }. Alle, die dort lesen dürfen, sehen auch, was Sie hier fragen.
shared-with-me = Mit mir geteilt

# Die Liste der Dokumente
advice = Was zu tun ist: { $advice }
ask-document = Dieses Dokument fragen
by = von { $account }
by-other = von einem anderen Konto
coverage = Seiten: { $pages }, davon { $read } mit Text.
details = Einzelheiten
details-of = zu { $title }
details-none = Noch keine Einzelheiten.
document-delete = Dieses Dokument löschen?
document-delete-text = { $title } und der daraus gelesene Text werden endgültig gelöscht. Antworten können es dann nicht mehr zitieren.
document-not-opened = Das Dokument kann nicht geöffnet werden. { $reason }
documents-none = Noch keine Dokumente. { $next }
documents-none-match = Keine passenden Dokumente. Suchen Sie nach einem anderen Teil des Titels.
failed-because = Fehlgeschlagen: { $reason }
in = in { $collections }
no-file = Für dieses Dokument wurde keine Datei hochgeladen.
not-retried = Nicht noch einmal versucht. { $reason }
stage = Wird verarbeitet.
stage-chunk = { $count ->
    [one] { $count } Seite wird in Textstellen geteilt.
   *[other] { $count } Seiten werden in Textstellen geteilt.
}
stage-embed = { $count ->
    [one] Die Textstellen von { $count } Seite werden eingebettet.
   *[other] Die Textstellen von { $count } Seiten werden eingebettet.
}
stage-extract = Der Text wird gelesen.
stage-index = { $count ->
    [one] { $count } Seite wird in den Suchindex aufgenommen.
   *[other] { $count } Seiten werden in den Suchindex aufgenommen.
}
stage-recognize = Der Text gescannter Seiten wird erkannt.
stage-recognize-page = Der Text von Seite { $page } von { $pages } wird erkannt.
waiting = Wartet auf die Verarbeitung.
waiting-for = Wartet: { $reason }.
warning = Warnung: { $warning }

# Hochladen
dismiss = Ausblenden
duplicate = Dieselbe Datei ist schon hier: { $document }
no-uploads = Sie können noch keine Dokumente hinzufügen: Bitten Sie jemanden, der eine Sammlung verwaltet, oder die Administration um das Recht dazu.
not-uploaded = { $name }: nicht hochgeladen. { $reason }
only-pdf = Nur PDF-Dateien werden unterstützt
readers-all = Alle mit einem Konto hier können es lesen.
readers-members = { $count ->
    [one] Mitglieder von { $name } ({ $count } Konto oder Gruppe) und die Administration können es lesen.
   *[other] Mitglieder von { $name } ({ $count } Konten oder Gruppen) und die Administration können es lesen.
}
readers-none = Nur Sie und die Administration können es lesen.
upload-bytes = { $sent } von { $size }
upload-drop = oder Dateien irgendwo auf dieser Seite ablegen
upload-files = Dateien hochladen
upload-not-allowed = Sie können dieser Sammlung keine Dokumente mehr hinzufügen.
upload-one = { $type ->
    [pdf] PDF hochladen
   *[other] Datei hochladen
}
upload-pdf = PDF-Dateien hochladen
upload-to-start = { $type ->
    [pdf] Laden Sie zuerst ein PDF hoch.
   *[other] Laden Sie zuerst eine Datei hoch.
}
upload-too-large = Die Datei ist größer, als der Dienst annimmt.
upload-unsupported = Nur Dateien dieser Typen werden unterstützt: { $types }.
uploaded = { $title } wurde hochgeladen und wird verarbeitet.
uploaded-to = Hochgeladen in { $collection }. { $readers }
uploads = Hochgeladene Dateien

# Erste Schritte
first-steps = Erste Schritte
question-about = Worum geht es in diesem Dokument?
step-ask = Eine Frage stellen
step-ask-hint = Hier werden Fragen vorgeschlagen, sobald das Dokument bereit ist.
step-check = Die Quelle auf ihrer Seite prüfen
step-check-hint = Zahlen in der Antwort öffnen die Seite mit dem markierten Zitat.
step-upload-hint = Es wird im Hintergrund verarbeitet.
suggested-questions = Vorgeschlagene Fragen
