# Die Seiten des Audit-Protokolls in der Verwaltung.

audit-empty = Noch keine Einträge.
audit-no-match = Keine passenden Einträge.
audit-who = Wer
audit-when = Wann
audit-from = Adresse
audit-since = Seit
audit-until = Bis
audit-by-api-key = (API-Schlüssel)
audit-history = Verlauf
audit-record-to-copy = ID des Eintrags
audit-answers = Bewertete und abgelehnte Antworten
audit-unauthenticated = nicht angemeldet
changes = Änderungen
changes-none = Keine Felder geändert.
change-field = Feld
change-before = Vorher
change-after = Nachher

# Aktionen, nach den Namen im Protokoll und in der API.
audit-action-add = hinzufügen
audit-action-change = ändern
audit-action-delete = löschen
audit-action-revoke = widerrufen
audit-action-retry = erneut versuchen
audit-action-login = anmelden
audit-action-login_failed = Anmeldung fehlgeschlagen
audit-action-logout = abmelden
audit-action-set_password = Passwort setzen
audit-action-accept = annehmen
audit-action-verify_email = E-Mail bestätigen
audit-action-export = exportieren
audit-action-view = ansehen
audit-action-backup = sichern
