# Der Rahmen der Verwaltung: Menü, Übersicht, Suche nach Namen, Listen, und Texte, die mehrere ihrer Seiten haben.

dashboard = Übersicht
menu-content = Inhalte
menu-access = Zugang
menu-operations = Betrieb

# Listen
any = alle
clear = Zurücksetzen
filter = Filtern
filter-from = Von
filter-to = Bis
order = Reihenfolge
order-by-email = nach E-Mail
order-by-title = nach Titel
order-largest = größte zuerst
order-last-login = letzte Anmeldung zuerst
order-newest = neueste zuerst
order-oldest = älteste zuerst
paging-first = Erste
paging-last = Letzte
paging-next = Nächste
paging-none = Keine
paging-previous = Vorige
paging-range = { $first }–{ $last } von { $total }
page-empty-first = Diese Seite ist leer. <a>Die ersten anzeigen</a>
page-empty-newest = Diese Seite ist leer. <a>Die neuesten anzeigen</a>
select-all = Alle auswählen
select-all-on-page = Alle auf dieser Seite auswählen
select-record = { $title } auswählen
show-all = Alle anzeigen

# Daten
api-key = API-Schlüssel
changed = Geändert
description = Beschreibung
email-placeholder = E-Mail
history = Verlauf
id = ID
id-to-copy = ID
message = Meldung
owner = Besitzer
owner-email = E-Mail des Besitzers
reason = Grund
record-stale = Jemand anderes hat dies inzwischen geändert. Es wurde nichts gespeichert; das Formular zeigt die aktuellen Werte.
role = Rolle
delete-permanently = Endgültig löschen
form-invalid = Das Formular ist ungültig
no = nein
off = aus
on = an
yes = ja

# Suche nach Namen
find-all = Alle { $count } unter { $kind }
find-no-match = Keine Seite und kein Eintrag hat „{ $text }“ im Namen.

# Übersicht
dashboard-charts = Die letzten 30 Tage
dashboard-counts = Dokumente und Aufträge
dashboard-failures = Letzte Fehlschläge
dashboard-no-failures = Keine fehlgeschlagenen Dokumente.
jobs-oldest = Ältester Auftrag
jobs-running = Laufende Aufträge
jobs-waiting = Wartende Aufträge

# Diagramme
chart-day = Tag (UTC)
chart-documents = Hinzugefügte Dokumente pro Tag
chart-empty = Keine Daten in diesem Zeitraum.
chart-input = Eingabe
chart-numbers = Zahlen
chart-output = Ausgabe
chart-summary = { $total } in { $days } Tagen, höchstens { $max } pro Tag
chart-description = { $label } vom { $first } bis zum { $last }: insgesamt { $total }, höchstens { $max } pro Tag. Die Tabelle darunter enthält die Zahlen.

# Gründe, die auf den Namen eines Felds folgen.
rule-active-account = ist nicht aktiv
rule-attribute-finite = Werte müssen endliche Zahlen sein
rule-attribute-key = Schlüssel müssen 1 bis { $count } Zeichen haben: Buchstaben, Ziffern, "_", "-" und "."
rule-attribute-max-characters = Werte dürfen höchstens { $count } Zeichen haben
rule-attribute-no-control-characters = Werte dürfen keine Steuerzeichen enthalten
rule-attribute-not-built-in = dürfen nicht den Schlüssel "{ $key }" haben, der ein eingebautes Attribut ist
rule-in-some-collection = dürfen nicht leer sein: löschen Sie stattdessen das Dokument
rule-exists = gibt es nicht
rule-in-collection = ist nicht in der Sammlung
rule-in-other-collection = ist in keiner anderen Sammlung: verschieben oder löschen Sie es stattdessen
rule-max-count = dürfen höchstens { $count } sein
rule-max-members = dürfen höchstens { $count } sein; benutzen Sie eine Gruppe
rule-not-deactivated = ist deaktiviert
rule-not-in-collection = ist schon in der Sammlung
rule-own-access = kann dem eigenen Konto nicht entzogen werden
rule-own-permissions = können nur vergeben oder entzogen werden, wenn Sie sie selbst haben
rule-owner-manages = muss Verwalten sein: Diesem Konto gehört die Sammlung
rule-processed = wurde nicht bearbeitet, weil eine Komponente ausgefallen ist
rule-superuser-only = kann nur von Superusern vergeben werden
rule-unknown-group = enthält eine Gruppe, die es nicht mehr gibt
rule-account-access = kann nicht geändert werden: Das verlangt alles, was das Konto darf; Ihnen fehlen { $missing }
rule-data-access = öffnen Daten des anderen Kontos; dafür brauchen Sie { $missing }
rule-group-access = können nur hinzugefügt oder entfernt werden, wenn Sie alle ihre Berechtigungen und Rollen haben; Ihnen fehlen { $missing }
rule-other-access = darf mehr als Sie; Ihnen fehlen { $missing }
