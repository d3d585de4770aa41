# Die Seiten von Konten, Gruppen, API-Schlüsseln, Sitzungen und Links in der Verwaltung.

# Konten
users-empty = Noch keine Konten.
users-no-match = Keine passenden Konten.
user-active = Aktiv
user-email-help = Sie können die Adresse nicht ändern, denn wer das Postfach hat, kann das Konto öffnen: Ihnen fehlen { $missing }.
user-active-help = Mit inaktiven Konten kann sich niemand anmelden; ihre Sitzungen enden, und ihre API-Schlüssel funktionieren nicht mehr.
user-staff = Personal
user-staff-help = Kann sich in dieser Verwaltung anmelden und sie nach den eigenen Berechtigungen benutzen.
user-superuser = Superuser
user-superuser-help = Für Superuser werden keine Berechtigungen geprüft. Nur Superuser können dies vergeben.
user-is-deactivated = deaktiviert
user-is-staff = Personal
user-is-superuser = Superuser
user-create = Konto erstellen
user-created = Das Konto { $email } wurde erstellt.
user-saved = Das Konto wurde gespeichert.
user-deleted = Das Konto wurde gelöscht.
user-read-only = Sie können dieses Konto ansehen, aber nicht ändern.
user-email-verified = E-Mail bestätigt
user-without-second-factor = keiner
user-delete-question = Dieses Konto löschen?
user-delete-records = Seine Berechtigungen, API-Schlüssel, Sitzungen und Unterhaltungen werden endgültig gelöscht.
user-delete-documents = Seine Dokumente bleiben ohne Besitzer erhalten. Auch der Verbrauch und das Audit-Protokoll bleiben.
user-delete-deactivate = Um nur den Zugang zu sperren, deaktivieren Sie stattdessen das Konto.
user-delete-verb = Konto löschen
user-end-sessions = Alle Sitzungen beenden
user-end-sessions-of = Alle Sitzungen von { $email } beenden
user-sessions-ended = Alle Sitzungen des Kontos wurden beendet.
user-keys-all = Alle Schlüssel dieses Kontos ({ $count })
user-keys-none = Keine API-Schlüssel.
user-sessions-all = Alle Sitzungen dieses Kontos
user-sessions-none = Keine aktiven Sitzungen.
user-history-full = Ganzer Verlauf
user-history-none = Kein Verlauf.
user-actions = Aktionen dieses Kontos
user-set-password = Passwort setzen
user-set-password-hint = Damit werden alle Sitzungen von { $email } beendet und seine Zugriffstokens ungültig.
user-set-password-verb = Passwort setzen
user-password-set = Das Passwort wurde gesetzt, und die Sitzungen des Kontos wurden beendet.
user-reset-second-factor = Zweiten Faktor zurücksetzen
user-second-factor-reset = Der zweite Faktor wurde entfernt, und die Sitzungen des Kontos wurden beendet.
user-provider = Anbieter
user-subject = ID beim Anbieter
user-disconnect = Trennen…
user-disconnect-question = { $provider } trennen?
user-disconnect-sign-in = Die Person kann sich mit { $provider } nicht mehr bei diesem Konto anmelden. Eine spätere Anmeldung dort gilt als die erste, die dieses Konto über die E-Mail-Adresse wieder verbinden kann.
user-disconnect-last = Nur so kann man sich bei diesem Konto anmelden. Danach braucht die Person ein Passwort, das Sie setzen können.
user-disconnect-sessions = Sitzungen bleiben bestehen. Beenden Sie sie auf der Seite des Kontos.
user-disconnect-verb = Trennen

# Was ein Konto lesen kann
reach-of = Sammlungen von { $email }
reach-title = Was dieses Konto lesen kann
reach-deactivated = Dieses Konto ist deaktiviert und liest nichts. Nach einer Aktivierung könnte es lesen:
reach-superuser = Als Superuser sieht dieses Konto alle Dokumente in der Verwaltung.
reach-permission = Mit der Berechtigung, Dokumente anzusehen, sieht dieses Konto alle in der Verwaltung.
reach-only-these = Suchen und Antworten finden nur Dokumente dieser Sammlungen.
reach-all = Alle Sammlungen dieses Kontos ({ $count })
reach-documents-of = Dokumente von { $name }
reach-by-owner = Besitzer
reach-by-member = Mitglied
reach-by-group = Gruppe { $name }
reach-by-everyone = Rolle jedes Kontos

# Grenzen
limits = Grenzen
limits-hint = In einem leeren Feld gilt die Einstellung dieser Installation; 0 ist keine Grenze. Die Einstellungen sind: { $settings }.
limits-setting = { $name }: { $value }
limits-none = keine Grenze
limits-set = Die Grenzen wurden gesetzt.
limits-not-a-number = muss eine ganze Zahl von 0 bis { $max } sein
limit-answers = Antworten gleichzeitig
tokens-per-day = Tokens pro Tag
limit-bytes = Gespeicherte Bytes
limit-images = Seitenbilder pro Stunde

# Gruppen
groups-empty = Noch keine Gruppen.
groups-empty-add = Noch keine Gruppen. <a>Fügen Sie eine Gruppe hinzu</a>, um mehreren Konten dieselben Berechtigungen zu geben.
groups-empty-view = Noch keine Gruppen. Gruppen geben mehreren Konten dieselben Berechtigungen.
groups-no-match = Keine passenden Gruppen.
groups-help = Mitglieder haben die Berechtigungen ihrer Gruppen und deren Rollen auf Sammlungen. Sie können nur Gruppen hinzufügen und entfernen, deren Berechtigungen und Rollen Sie haben.
group-needs = Ihnen fehlen { $missing }.
group-member-added = aufgenommen
group-member-before = nicht aufgenommen: ist schon Mitglied
group-member-needs-staff = nicht aufgenommen: nur Personal kann dieses Konto aufnehmen
group-member-no-account = nicht aufgenommen: hat kein Konto, und Sie können auf diesem Weg niemanden einladen
group-members-add = Mitglieder aufnehmen
group-members-add-hint = Konten mit diesen Adressen werden Mitglieder. Personen ohne Konto werden in die Gruppe eingeladen, wenn Sie das dürfen.
group-members-added = { $count ->
    [one] Ein Mitglied wurde aufgenommen.
   *[other] { $count } Mitglieder wurden aufgenommen.
}
group-manager = verwaltet die Gruppe
group-manager-make = Verwalten lassen
group-manager-make-of = Verwalten lassen: { $name }
group-manager-end = Verwaltung beenden
group-manager-end-of = Verwaltung beenden: { $name }
group-manager-made = Das Mitglied verwaltet die Gruppe: Es kann ohne Berechtigungen Mitglieder aufnehmen, einladen und entfernen.
group-manager-ended = Das Mitglied verwaltet die Gruppe nicht mehr.
group-add = Gruppe hinzufügen
group-create = Gruppe erstellen
group-created = Die Gruppe { $name } wurde erstellt.
group-saved = Die Gruppe wurde gespeichert.
group-deleted = Die Gruppe { $name } wurde gelöscht.
group-read-only = Sie können diese Gruppe ansehen, aber nicht ändern.
group-delete-question = Diese Gruppe löschen?
group-delete-members = Mitglieder verlieren sofort die Berechtigungen dieser Gruppe und ihre Rollen auf Sammlungen. Ihre Konten werden nicht gelöscht.
group-delete-verb = Gruppe löschen
group-managed-name = Anmeldungen bei { $providers } bestimmen, wer Mitglied der Gruppe mit diesem Namen ist (DOCENT_OIDC_GROUPS). Mit einem anderen Namen behält die Gruppe ihre Mitglieder, und die nächsten Anmeldungen fügen keine hinzu und entfernen keine.
group-managed-delete = Anmeldungen bei { $providers } bestimmen, wer Mitglied dieser Gruppe ist (DOCENT_OIDC_GROUPS). Die nächsten Anmeldungen legen sie nicht wieder an: Ihre Berechtigungen gibt es nur zurück, wenn eine Gruppe mit diesem Namen besteht.
group-permissions = Berechtigungen
group-permissions-help = Sie können nur Berechtigungen vergeben, die Sie selbst haben. Für den Zugang zur Verwaltung muss ein Konto auch Personal sein.
permissions-unknown = enthalten eine unbekannte Berechtigung

# API-Schlüssel
keys-off = API-Schlüssel sind ausgeschaltet: <code>DOCENT_AUTH_BACKENDS</code> enthält nicht <code>api_key</code>.
keys-off-create = API-Schlüssel sind ausgeschaltet: <code>DOCENT_AUTH_BACKENDS</code> enthält nicht <code>api_key</code>. Sie können Schlüssel erstellen; sie funktionieren, sobald das der Fall ist.
keys-empty = Noch keine API-Schlüssel. <a>Erstellen Sie einen</a> für ein Programm, das für ein Konto handelt.
keys-no-match = Keine passenden API-Schlüssel.
keys-filter = Name oder Präfix
key-account-help = Das Konto, für das der Schlüssel handelt. Es darf nicht mehr Berechtigungen oder Rollen auf Sammlungen als Sie haben, und sein Besitzer wird benachrichtigt.

# Sitzungen
sessions-empty = Noch keine Sitzungen.
sessions-no-match = Keine passenden Sitzungen.
session-had-ended = Die Sitzung war schon beendet.

# Einladungen
invite = Personen einladen
invite-hint = Jede Person öffnet einen Link, wählt ein Passwort oder meldet sich bei einem Identitätsanbieter an und hat von da an ein Konto.
invite-no-email = Diese Installation versendet keine E-Mails: Sie geben die Links selbst weiter.
invite-emails = E-Mail-Adressen
invite-emails-help = Eine pro Zeile oder durch Kommas getrennt. Sie können eine Spalte oder den Inhalt einer CSV-Datei einfügen; andere Zellen werden nicht beachtet.
invite-delivery = Versand der Links
invite-by-email = per E-Mail senden
invite-by-link = mir zum Weitergeben anzeigen
invite-role = Rolle auf den Sammlungen
invite-role-help = Für die Sammlungen, die Sie unten auswählen.
invite-collections-help = Sie können Sammlungen auswählen, die Sie verwalten. Die Sammlungen der gewählten Gruppen kommen mit den Gruppen.
invite-collections-refused = enthalten eine, auf der Sie keine Rollen geben können
invited-title = Einladungen erstellt
invited-copy-now = Kopieren Sie die Links jetzt. Sie werden nicht noch einmal angezeigt. Senden Sie jeden Link nur der Person mit der Adresse: Er öffnet das Konto.
invited-by = Eingeladen von
invited-by-email = eingeladen; die E-Mail wird gesendet
invited-by-link = eingeladen; geben Sie diesen Link weiter:
invited-has-account = nicht eingeladen: hat schon ein Konto
invited-before = nicht erneut eingeladen: hat schon eine Einladung
invitations-empty = Keine offenen Einladungen.
invitations-empty-add = Keine offenen Einladungen. <a>Laden Sie Personen ein</a>, per E-Mail oder mit Links.
invitations-no-match = Keine passenden Einladungen.
invitation-resend = Erneut senden
invitation-new-link = Neuer Link
invitation-sent = Die Einladung von { $email } wird erneut gesendet. Frühere Links funktionieren nicht mehr.
invitation-not-sent = Die Einladung wurde nicht erneut gesendet: Ihre Gruppen oder Sammlungen { $reason }.
invitation-revoked = Die Einladung wurde widerrufen.
invitation-had-ended = Die Einladung wurde schon angenommen oder widerrufen.

# Links
links-empty = Keine aktiven Links. Links werden per E-Mail angefordert; Personal erstellt sie auf der Seite eines Kontos.
links-no-match = Keine passenden Links.
link-created = Link erstellt
link-copy-now = Kopieren Sie den Link jetzt. Er wird nicht noch einmal angezeigt. Frühere Links funktionieren nicht mehr.
link-create-reset = Link für ein neues Passwort erstellen
link-create-verify = Link zur Bestätigung erstellen
link-title-reset = Link für ein neues Passwort
link-title-verify = Link zur Bestätigung
link-use-reset = Wer den Link hat, kann das Passwort von { $email } setzen. Senden Sie ihn nur an den Besitzer des Kontos.
link-use-verify = Er bestätigt die Adresse { $email }.
link-expires = Er funktioniert einmal und läuft { $expires } ab.
link-not-created = Es wurde kein Link erstellt: Das Konto { $reason }.
link-purpose = Zweck
link-purpose-change-email = neue E-Mail-Adresse
link-purpose-reset-password = neues Passwort
link-purpose-verify-email = Bestätigung der E-Mail-Adresse
link-revoked = Der Link wurde widerrufen.
link-had-ended = Der Link wurde schon benutzt oder war abgelaufen.
