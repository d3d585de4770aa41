# Skripte der Verwaltung und der Kontoseiten.

bulk-selected = { $count } ausgewählt
close = Schließen
columns = Spalten
copy-id = { $id } kopieren
delete = Löschen
error-status = Der Dienst hat mit dem Status { $status } geantwortet.
keys = Tasten
keys-single = Einzelne Tasten wie j und x benutzen
key-filters = Zu den Filtern
key-next-row = Nächste Zeile
key-open-row = Zeile öffnen
key-previous-row = Vorige Zeile
key-select-row = Zeile auswählen
list-unreachable = Der Dienst ist nicht erreichbar. Ändern Sie einen Filter, um es noch einmal zu versuchen.
palette-count = { $count ->
    [0] Keine Ergebnisse
    [one] { $count } Ergebnis
   *[other] { $count } Ergebnisse
}
palette-failed = Die Suche ist fehlgeschlagen. Versuchen Sie es gleich noch einmal.
palette-search = Seiten und Daten durchsuchen
picker-available = Verfügbar
picker-filter = Verfügbare filtern
picker-selected = Ausgewählt
upload-connection-lost = Die Verbindung ist abgebrochen. Versuchen Sie es noch einmal
upload-done = { $name }: hochgeladen, wird verarbeitet.
upload-failed = { $name }: nicht hochgeladen. { $reason }.
upload-progress = { $name } wird hochgeladen
upload-unexpected = Der Dienst hat mit dem Status { $status } geantwortet. Laden Sie diese Seite neu und versuchen Sie es noch einmal
upload-waiting = { $name }: wartet
view-delete = Ansicht { $name } löschen
view-deleted = Die Ansicht { $name } wurde gelöscht.
view-save-as = Diese Filter und Spalten speichern als
view-saved = Die Ansicht { $name } wurde gespeichert.
views = Ansichten
views-hint = Ansichten werden in diesem Browser gespeichert.
views-none = Noch keine gespeicherten Ansichten.
