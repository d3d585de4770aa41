# Die Seiten von Dokumenten in der Verwaltung: Liste, Hochladen, Dokument, Textstellen, Leser, und die Suche zum Ausprobieren.

# Liste
document-status = Status
document-size = Größe
documents-empty = Noch keine Dokumente.
documents-no-match = Keine passenden Dokumente.
documents-selected = Ausgewählte Dokumente:
documents-upload = Dokumente hochladen
upload-by-api = Laden Sie eines mit <code>POST /documents/upload</code> hoch.
upload-first = Das erste hochladen
failure = Fehler
retry-ask = Erneut verarbeiten…
retry-all-ask = Alle mit diesem Fehler erneut verarbeiten…
add-ask = Hinzufügen…
move-ask = Verschieben…
remove-ask = Entfernen…
document-id-to-copy = ID des Dokuments

# Aktionen mit mehreren Dokumenten
bulk-done-count = { $done } von { $total } erledigt. Übersprungene Dokumente stehen zuerst, mit dem Grund.
bulk-none = Keines der ausgewählten Dokumente kann bearbeitet werden.
bulk-skipped = Übersprungen
bulk-will-be-skipped = Werden übersprungen
bulk-back = Zurück zu den Dokumenten
bulk-select-one = Wählen Sie mindestens ein Dokument aus.
bulk-too-many = Höchstens { $max } Dokumente können auf einmal ausgewählt werden
bulk-word = Geben Sie zur Bestätigung „{ $word }“ ein
bulk-word-wrong = Geben Sie das Wort „{ $word }“ ein. Es wurde nichts gelöscht.
retry-title = Dokumente erneut verarbeiten
retry-effect = Diese Dokumente werden aus ihren gespeicherten Dateien erneut verarbeitet.
retry-will = Werden erneut verarbeitet
retry-verb = { $count } erneut verarbeiten
retry-done = { $count ->
    [one] { $count } Dokument wird erneut verarbeitet.
   *[other] { $count } Dokumente werden erneut verarbeitet.
}
delete-documents-title = Dokumente löschen
delete-documents-effect = Die Einträge, Dateien und Textstellen dieser Dokumente werden endgültig gelöscht.
delete-documents-will = Werden gelöscht
delete-documents-verb = { $count } löschen
delete-documents-done = { $count ->
    [one] { $count } Dokument wurde gelöscht.
   *[other] { $count } Dokumente wurden gelöscht.
}
move-title = Dokumente in eine Sammlung verschieben
move-effect = Diese Dokumente werden aus ihren Sammlungen genommen und zu „{ $name }“ hinzugefügt. Dort liest: { $readers }.
move-will = Werden verschoben
move-verb = { $count } verschieben
move-done = { $count ->
    [one] { $count } Dokument wurde verschoben.
   *[other] { $count } Dokumente wurden verschoben.
}
add-title = Dokumente zu einer Sammlung hinzufügen
add-effect = Diese Dokumente werden zu „{ $name }“ hinzugefügt und bleiben in ihren anderen Sammlungen. Dort liest: { $readers }.
add-will = Werden hinzugefügt
add-verb = { $count } hinzufügen
add-done = { $count ->
    [one] { $count } Dokument wurde zur Sammlung hinzugefügt.
   *[other] { $count } Dokumente wurden zur Sammlung hinzugefügt.
}
remove-title = Dokumente aus einer Sammlung entfernen
remove-effect = Diese Dokumente werden aus „{ $name }“ genommen. Konten, die sie nur dort lesen, verlieren sofort den Zugriff.
remove-will = Werden entfernt
remove-verb = { $count } entfernen
remove-done = { $count ->
    [one] { $count } Dokument wurde aus der Sammlung entfernt.
   *[other] { $count } Dokumente wurden aus der Sammlung entfernt.
}
retry-not-failed = Nur fehlgeschlagene Dokumente können erneut verarbeitet werden; dieses ist { $status ->
    [pending] in Arbeit
   *[other] bereit
}

# Hochladen
upload = Hochladen
upload-collection-help = Personal mit der Berechtigung, alle Dokumente anzusehen, kann sie auch lesen.
upload-drop-hint = Sie können sie auch hier ablegen.
upload-field-files = Dateien
upload-field-pdf = PDF-Dateien
upload-limits = Bis zu { $files } Dateien mit je höchstens { $size }.
upload-types = Erlaubt: { $types }.
upload-readers = { $name } – Leser: { $readers }
upload-refused = Nicht hochgeladen: { $count }
upload-rest = Übrige Dateien
upload-select-one = Wählen Sie mindestens eine Datei aus.
upload-started = Hochgeladen und in Arbeit: { $count }
upload-too-many = Zu viele Dateien auf einmal
documents-uploaded = { $count ->
    [one] { $count } Dokument wurde hochgeladen. Die Verarbeitung hat begonnen.
   *[other] { $count } Dokumente wurden hochgeladen. Die Verarbeitung hat begonnen.
}

# Dokument
document-failed = Verarbeitung fehlgeschlagen:
document-failed-kept = Die Datei und dieser Eintrag sind noch gespeichert.
document-retry = Erneut verarbeiten
document-retried = Die erneute Verarbeitung ist eingereiht. Diese Seite zeigt ihren Zustand.
document-deleted = Das Dokument wurde gelöscht.
document-delete-consequence = Der Eintrag, die Datei und alle Textstellen werden endgültig gelöscht.
ingestion = Verarbeitung
ingestion-reload = Laden Sie diese Seite neu, um den Fortschritt zu sehen.
step-done = fertig
step-queue = Warteschlange
step-in-work = In Arbeit
step-extract = Lesen
step-chunk = Teilen
step-embed = Einbetten
step-index = Aufnehmen
record = Eintrag
vector-id = Vektor-ID
vector-id-to-copy = Vektor-ID
file = Datei
file-without = Dieser Eintrag wurde ohne Datei erstellt.
sha256 = SHA-256
sha256-to-copy = Prüfsumme
coverage-title = Abdeckung
coverage-none = Noch kein Ergebnis.
coverage-pages = { $pages }, davon { $read } mit Text
coverage-language = { $code ->
    [ar] Arabisch
    [bg] Bulgarisch
    [cs] Tschechisch
    [da] Dänisch
    [de] Deutsch
    [el] Griechisch
    [en] Englisch
    [es] Spanisch
    [fi] Finnisch
    [fr] Französisch
    [hu] Ungarisch
    [it] Italienisch
    [ja] Japanisch
    [ko] Koreanisch
    [nb] Norwegisch
    [nl] Niederländisch
    [pl] Polnisch
    [pt] Portugiesisch
    [ro] Rumänisch
    [ru] Russisch
    [sv] Schwedisch
    [tr] Türkisch
    [uk] Ukrainisch
    [zh] Chinesisch
   *[other] { $code }
}
coverage-language-unclear = nicht eindeutig
coverage-empty = Leere Seiten
coverage-unreliable = Unzuverlässige Seiten
coverage-truncated = Gekürzte Seiten
coverage-recognized = Erkannter Text
coverage-recognized-pages = { $pages }, Zuverlässigkeit { $percent } %
coverage-not-recognized = Nicht erkannt
coverage-recognizer = Texterkennung
coverage-recognized-pictures = Text von Bildern
coverage-unread-pictures = Nicht gelesene Bilder
coverage-described = Von einem Modell beschriebene Bilder
coverage-undescribed = Nicht beschriebene Bilder
coverage-lacking-results = Formeln ohne Ergebnis
coverage-pages-none = keine
chunks = Textstellen
tokens = Tokens
characters = Zeichen
attempt-last = Letzter Versuch
attempts = Versuche
extractor = Extraktor
stage-extracting = Lesen
stage-chunking = Teilen in Textstellen
stage-embedding = Einbetten
stage-indexing = Aufnehmen in den Suchindex
warning-empty = { $count } von { $pages } Seiten: kein Text (leer, oder ein Bild von Text)
warning-unreliable = { $count } von { $pages } Seiten: Text, der nicht verlässlich gelesen werden kann und ausgelassen wird
warning-truncated = { $count } von { $pages } Seiten: an einer Grenze gekürzt, sodass Text fehlen kann
warning-shortened = { $count ->
    [one] 1 Textstelle ist länger, als das Embedding-Modell annimmt: Ihr Vektor ist der ihres Anfangs
   *[other] { $count } Textstellen sind länger, als das Embedding-Modell annimmt: Ihre Vektoren sind die ihrer Anfänge
}
warning-recognized = { $count } von { $pages } Seiten: erkannter Text, der Fehler enthalten kann
warning-recognition-failed = { $count } von { $pages } Seiten: Texterkennung fehlgeschlagen
warning-recognized-pictures = { $count } von { $pages } Seiten: erkannter Text von Bildern, der Fehler enthalten kann
warning-unread-pictures = { $count } von { $pages } Seiten: ein Bild, dessen Text nicht gelesen wurde, falls es welchen zeigt
warning-described-pictures = { $count } von { $pages } Seiten: Bilder, die ein Modell beschrieben hat, möglicherweise falsch
warning-description-failed = { $count } von { $pages } Seiten: Die Bilder konnten nicht beschrieben werden
warning-lacking-results = { $count } von { $pages } Seiten: Formeln ohne gespeichertes Ergebnis; speichern Sie die Datei in einem Programm, das sie berechnet

# Attribute
attributes = Attribute
attributes-help = Suchen und Listen können nach Attributen gefiltert werden. Leeren Sie eine Zeile, um sie zu entfernen; höchstens { $max }.
attributes-none = Keine Attribute.
attributes-save = Attribute speichern
attributes-saved = Die Attribute wurden gespeichert.
attributes-error = Attribute { $reason }.
attribute-boolean = ja oder nein
attribute-error = { $key }: { $reason }.
attribute-key = Schlüssel
attribute-key-number = Schlüssel { $number }
attribute-key-twice = der Schlüssel kommt zweimal vor
attribute-not-boolean = der Wert muss yes oder no sein
attribute-not-number = der Wert muss eine Zahl sein
attribute-number = Zahl
attribute-text = Text
type = Typ
attribute-type-number = Typ { $number }
attribute-value = Wert
attribute-value-number = Wert { $number }

# Textstellen
chunks-of = Textstellen von { $title }
chunk-number = Textstelle { $number }
chunk-characters = { $pages }, { $count } Zeichen
chunks-none = Dieses Dokument hat keine Textstellen, weil keine seiner Seiten Text hat.
chunks-not-ready = Der Status des Dokuments ist „{ $status }“. Seine Textstellen erscheinen hier, sobald es bereit ist.

# Leser
account-or-group = Konto oder Gruppe
readers-of = Leser von { $title }
readers-title = Wer dies lesen kann
readers-help = Konten mit mehreren Gründen stehen mit jedem in der Liste. Der Besitz eines Dokuments ist kein Grund. Deaktivierte Konten lesen nichts, bis sie aktiviert werden.
readers-all-reasons = Alle Leser mit ihren Gründen ({ $count })
reader-owner = Besitzer von
reader-role = { $role } in
reader-permission = Berechtigung, alle Dokumente in der Verwaltung anzusehen
reader-superuser = Superuser, der alle Dokumente in der Verwaltung sieht
reader-is-group = (Gruppe)

# Suche ausprobieren
search-title = Suche ausprobieren
search-help = Zeigt die Textstellen, die eine Frage in allen Dokumenten findet, und wie viel jedes Feld zu ihren Punkten beiträgt.
search-query = Suchtext
search-filters = Filter
# Die Gründe sind englisch wie die Sprache der Filter.
search-filters-invalid = Der Filter ist ungültig: { $reason }
search-filters-placeholder = JSON, wie in POST /search
search-score-reranked = Die Punkte sind die des Rerankers, der die Felder nicht beachtet; sie können mit denen anderer Fragen verglichen werden.
search-score-dense = Die Punkte sind die Summe von Text, Überschriften, Titel und Anfang, geteilt durch die höchste solche Summe der Suche, plus Vektor.
search-score-sum = Die Punkte sind die Summe von Text, Überschriften, Titel und Anfang.
search-score-local = Sie können nur innerhalb dieser Suche verglichen werden.
search-units = Einheiten, die antworten könnten
search-units-help = Ohne Sprachmodell antworten Zitate. Jeder Teil der ersten Textstellen hat eine Wahrscheinlichkeit, dass er antwortet: ab { $answer } ist er eine Antwort, und ab { $decline } wird er als möglicherweise hilfreich gezeigt. Merkmale sind von 0 bis 1; ihre gewichtete Summe mit der Konstante ist der Logarithmus der Chance.
search-unit = Einheit
search-unit-page = Seite { $page }
search-probability = Wahrscheinlichkeit
search-weights = Konstante und Gewichte
search-no-match = Keine passenden Textstellen.
search-empty = Hier erscheinen die gefundenen Textstellen.
search-not-an-id = „{ $text }“ ist keine ID (erwartet wird eine UUID)
search-no-collection = Es gibt keine Sammlung mit dieser ID
search-error = { $field } { $reason }
passage = Textstelle
score = Punkte
score-body = Text
score-dense = Vektor
score-headings = Überschriften
score-lead = Anfang
