# Deutsche Texte.
#
# Anrede: Sie. Tasten und Befehle im Infinitiv („Schlüssel erstellen“), Überschriften und Felder als Nomen.
#
# Wortliste
#   account             Konto
#   administrator       Administration
#   admin panel         Verwaltung
#   answer              Antwort
#   API key             API-Schlüssel
#   audit log           Audit-Protokoll
#   authenticator app   Authenticator-App
#   collection          Sammlung
#   conversation        Unterhaltung
#   delivery            Zustellung
#   document            Dokument
#   email               E-Mail
#   group               Gruppe
#   ingestion           Verarbeitung
#   job                 Auftrag
#   language model      Sprachmodell
#   link                Link
#   member              Mitglied
#   page                Seite
#   passage             Textstelle
#   permission          Berechtigung
#   recovery code       Wiederherstellungscode
#   scope (of a key)    Bereich
#   second factor       zweiter Faktor
#   session             Sitzung
#   sign in, sign out   anmelden, abmelden
#   source              Quelle
#   summary             Zusammenfassung
#   upload              hochladen
#   usage               Verbrauch
#   webhook             Webhook

account = Konto
action = Aktion
all-documents = Alle Dokumente
api-keys = API-Schlüssel
at-page = Seite { $page }
at-pages = Seiten { $first }–{ $last }
cancel = Abbrechen
cannot-be-undone = Das lässt sich nicht rückgängig machen.
chat = Chat
code = Code
collection = Sammlung
collection-everyone = Alle
collection-personal = Persönlich
collections = Sammlungen
conversation = Unterhaltung
conversations = Unterhaltungen
copied = Kopiert
copy = Kopieren
created = Erstellt
delete-ask = Löschen…
deleted-account = ein gelöschtes Konto
document = Dokument
documents = Dokumente
download-again = Erneut herunterladen
download-starts = Der Download beginnt.
email = E-Mail
expires = Läuft ab
kind = Art
language = Sprache
language-name = Deutsch
last-used = Zuletzt benutzt
menu = Menü
menu-delete = Konto löschen
menu-of-account = Konto
menu-of-panel = Verwaltung
menu-other = Weitere Seiten
menu-profile = Profil
menu-sessions = Sitzungen
name = Name
never = nie
panel = Verwaltung
password = Passwort
place-label = { $kind ->
    [Row] Zeile { $at }
    [Rows] Zeilen { $at }
    [Line] Zeile { $at }
    [Lines] Zeilen { $at }
    [Slide] Folie { $at }
    [Message] Nachricht { $at }
    [Footnotes] Fußnoten { $at }
    [Endnotes] Endnoten { $at }
   *[other] Teil { $at }
}
place-part = { $place } (Teil { $part })
recovery-codes = Wiederherstellungscodes
remove = Entfernen
remove-name = { $name } entfernen
results = Ergebnisse
save = Speichern
search = Suchen
second-factor = Zweiter Faktor
show-keys = Tasten anzeigen
sign-in = Anmelden
sign-in-stay = 30 Tage angemeldet bleiben
sign-out = Abmelden
skip-to-content = Zum Inhalt
staff-panel = Verwaltung
started = Begonnen
state = Zustand
status-failed = Fehlgeschlagen
status-ingested-partly = Bereit, { $empty } von { $pages } Seiten ohne Text
status-ingested = Bereit
status-pending = In Arbeit
theme-switch = Zwischen hell und dunkel wechseln
title = Titel
your-account = Ihr Konto
your-account-of = Ihr Konto: { $email }

file-type-text = reiner Text
list-and = { $first } und { $last }
upload-types-setting = Die Einstellung DOCENT_UPLOAD_TYPES des Dienstes nennt die erlaubten Typen, zum Beispiel pdf,docx,md oder all

# Zeiten

time-exact = { $day }.{ $month }.{ $year }, { $time } UTC
time-now = gerade eben
time-soon = gleich
time-minutes-ago = { $count ->
    [one] vor { $count } Minute
   *[other] vor { $count } Minuten
}
time-in-minutes = { $count ->
    [one] in { $count } Minute
   *[other] in { $count } Minuten
}
time-hours-ago = { $count ->
    [one] vor { $count } Stunde
   *[other] vor { $count } Stunden
}
time-in-hours = { $count ->
    [one] in { $count } Stunde
   *[other] in { $count } Stunden
}
time-days-ago = { $count ->
    [one] vor { $count } Tag
   *[other] vor { $count } Tagen
}
time-in-days = { $count ->
    [one] in { $count } Tag
   *[other] in { $count } Tagen
}

# Datum und Zahlen
date = { $day }.{ $month }.{ $year }
decimal = { $whole },{ $fraction }

# Zustände

state-active = aktiv
state-ended = beendet
state-expired = abgelaufen
state-revoked = widerrufen
client-on = { $browser } unter { $system }
session-api = API
session-browser = Browser

# Fehler

errors-to-fix = Bitte beheben Sie diese Fehler:
field-error = { $field } { $reason }.
does-not-match = stimmt nicht überein
is-in-use = ist schon vergeben
is-incorrect = ist falsch
not-a-date = muss ein Datum wie 2030-12-31 sein
rule-email-address = muss eine E-Mail-Adresse sein
rule-future = muss in der Zukunft liegen
rule-max-bytes = darf höchstens { $count } Bytes haben
rule-max-characters = darf höchstens { $count } Zeichen haben
rule-min-characters = muss mindestens { $count } Zeichen haben
rule-no-control-characters = darf keine Steuerzeichen enthalten
rule-no-direction-characters = darf keine Zeichen enthalten, die die Schreibrichtung ändern
rule-no-address = darf kein „@“ enthalten: das haben nur E-Mail-Adressen
rule-not-common = ist zu leicht zu erraten; wählen Sie etwas anderes
rule-not-empty = darf nicht leer sein
rule-not-like-address = ist der E-Mail-Adresse zu ähnlich; wählen Sie etwas anderes
rule-line-without-address = müssen in jeder Zeile eine E-Mail-Adresse haben: Zeile { $line } hat keine oder eine ungültige
rule-other-address = ist schon die Adresse dieses Kontos
rule-scopes = muss mindestens eines von read, ingest, chat und admin sein

error-forbidden = Dazu sind Sie nicht berechtigt
error-missing-access = Dazu sind Sie nicht berechtigt: Ihnen fehlen { $missing }
# Was einem Konto fehlt, nach "Ihnen fehlen".
missing-and = { $first } sowie { $next }
missing-permissions = die Berechtigungen { $names }
missing-roles = Rollen auf Sammlungen (oder collections.view_collection und collections.change_collection)
missing-superuser = die Rechte von Superusern
error-opening-forbidden = Sie dürfen Sammlungen nicht für alle Konten öffnen
role-of-all-too-many = muss leer sein: { $max } Sammlungen sind bereits für alle offen
error-internal = Interner Fehler des Servers
error-invalid-request = Die Anfrage ist ungültig
error-too-many-requests = Zu viele Anfragen
form-expired = Das Formular ist abgelaufen
form-expired-retry = Das Formular ist abgelaufen. Bitte versuchen Sie es noch einmal.
page-not-found = Seite nicht gefunden
not-found-apikey = API-Schlüssel nicht gefunden
not-found-auditentry = Eintrag nicht gefunden
not-found-collection = Sammlung nicht gefunden
not-found-conversation = Unterhaltung nicht gefunden
not-found-document = Dokument nicht gefunden
not-found-group = Gruppe nicht gefunden
not-found-job = Auftrag nicht gefunden
not-found-session = Sitzung nicht gefunden
not-found-usagerecord = Verbrauch nicht gefunden
not-found-user = Konto nicht gefunden
not-found-invitation = Einladung nicht gefunden
not-found-verificationtoken = Link nicht gefunden
not-found-webhook = Webhook nicht gefunden
