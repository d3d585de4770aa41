# Die Kontoseiten: Anmeldung, Links aus E-Mails, und was jedes Konto mit sich selbst tun kann.

# Anmeldung
login-to-account = Melden Sie sich in Ihrem Konto an
login-to-panel = Anmeldung zur Verwaltung
login-no-access = Dieses Konto hat keinen Zugang zur Verwaltung. Sie können es im <a>Chat</a> benutzen. Die Administration kann ihm den Zugang geben.
login-forgot = Passwort vergessen?
login-forgot-ask = Passwort vergessen? Bitten Sie die Administration um einen Link für ein neues.
login-with-password = Mit Passwort anmelden
login-code-hint = Geben Sie den Code ein, den Ihre Authenticator-App zeigt, oder einen Ihrer Wiederherstellungscodes.
login-other-account = Anderes Konto benutzen
login-incorrect = E-Mail-Adresse oder Passwort ist falsch.
login-invalid-code = Dieser Code ist nicht gültig.
login-too-many = Zu viele fehlgeschlagene Anmeldungen. Bitte warten Sie, bevor Sie es noch einmal versuchen.

# Seiten von Links
confirm = Bestätigen
confirm-email = Bestätigen Sie Ihre neue E-Mail-Adresse
confirm-email-hint = Mit der Schaltfläche übernehmen Sie diese Adresse für Ihr Konto.
email-changed = Ihre E-Mail-Adresse wurde geändert
email-changed-advice = Melden Sie sich ab jetzt mit der neuen Adresse an.
email-not-valid = Das ist keine gültige E-Mail-Adresse.
email-verified = Ihre E-Mail-Adresse ist bestätigt
email-verified-advice = Sie können diese Seite schließen.
verify-email = Bestätigen Sie Ihre E-Mail-Adresse
verify-email-hint = Mit der Schaltfläche bestätigen Sie, dass diese Adresse Ihnen gehört.
forgot-password = Passwort vergessen?
forgot-password-hint = Geben Sie Ihre E-Mail-Adresse ein. Sie erhalten einen Link für ein neues Passwort, der einmal funktioniert.
forgot-password-no-email = Dieser Dienst versendet keine E-Mails. Bitten Sie die Administration um einen Link für ein neues Passwort.
back-to-sign-in = Zurück zur Anmeldung
send-link = Link senden
own-groups = Ihre Gruppen
own-groups-hint = Gruppen haben Berechtigungen und Rollen auf Sammlungen, die Sie als Mitglied haben. Wer eine Gruppe verwaltet, nimmt Mitglieder auf, lädt ein und entfernt sie.
own-groups-none = Sie sind in keiner Gruppe.
invitation = Einladung
invitation-by = { $by } lädt Sie zu { $service } ein.
invitation-to = Sie sind zu { $service } eingeladen.
invitation-hint = Ihr Konto hat die Adresse { $email }. Wählen Sie ein Passwort dafür.
invitation-hint-provider = Ihr Konto hat die Adresse { $email }. Melden Sie sich damit an, um die Einladung anzunehmen.
invitation-accept = Konto erstellen
invitation-accepted = Ihr Konto ist bereit
invitation-accepted-advice = Melden Sie sich mit der Adresse { $email } und Ihrem Passwort an.
invitation-invalid-advice = Bitten Sie die Person, die Sie eingeladen hat, um eine neue Einladung. Wenn Sie schon ein Konto haben, melden Sie sich an.
link-again = Öffnen Sie den Link in der E-Mail noch einmal, um es erneut zu versuchen.
link-invalid = Dieser Link ist nicht gültig: Er wurde schon benutzt, ist abgelaufen oder wurde widerrufen.
link-invalid-advice = Fordern Sie einen neuen Link an und öffnen Sie die neueste E-Mail.
link-sent = Sehen Sie in Ihre E-Mails
link-sent-advice = Wenn ein aktives Konto diese Adresse hat, haben wir ihm einen Link für ein neues Passwort gesendet. Nach ein paar Minuten noch keine E-Mail? Sehen Sie im Spam-Ordner nach oder fragen Sie die Administration.
reset-password = Wählen Sie ein neues Passwort
password-reset = Ihr Passwort wurde geändert
password-reset-advice = Sie können sich jetzt mit Ihrem neuen Passwort anmelden. Alle anderen Sitzungen wurden beendet.
password-subject = Das Passwort

# Profil
profile-new-key = { $creator } hat { $when } den API-Schlüssel „{ $name }“ ({ $scopes }) für Ihr Konto erstellt. Wenn Sie das nicht erwartet haben, <a>widerrufen Sie ihn</a>.
profile-verified = (bestätigt)
profile-change = Ändern
profile-change-by-administrator = die Administration kann sie ändern
profile-last-login = Letzte Anmeldung
theme = Erscheinungsbild
theme-system = Wie das System
theme-light = Hell
theme-dark = Dunkel
theme-hint = Wird in diesem Browser gespeichert, für den Chat, Ihr Konto und die Verwaltung.
language-of-browser = Wie der Browser
language-help = Für den Chat, Ihr Konto und die Verwaltung.
language-saved = Die Sprache wurde gespeichert.
your-name = Ihr Name
your-name-help = Wird neben Ihrer E-Mail-Adresse gezeigt, wenn Sie Dokumente und Unterhaltungen teilen. Freiwillig.
name-saved = Ihr Name wurde gespeichert.
privacy = Wer Ihre Daten sehen kann
privacy-text = Ihre Dokumente können von Konten gelesen werden, die eine Rolle in deren Sammlungen haben, und von Personal mit der Berechtigung, Dokumente anzusehen. Eine Unterhaltung kann nur lesen, mit wem Sie sie teilen, aber Personal mit der Berechtigung, Unterhaltungen anzusehen, kann alle lesen; wer das tut, wird einmal am Tag im Audit-Protokoll vermerkt.

# E-Mail-Adresse und Passwort
email-change = E-Mail-Adresse ändern
email-change-hint = Die Adresse ist jetzt { $email }. Wir senden einen Link an die neue; die Adresse ändert sich, wenn Sie dort bestätigen. Die bisherige Adresse erhält eine Nachricht.
email-change-by-administrator = Die Adresse { $email } kann nur die Administration ändern, weil dieser Dienst keine E-Mails versendet.
email-new = Neue E-Mail-Adresse
email-link-sent = Wir haben einen Link an { $email } gesendet. Die Adresse ändert sich, wenn Sie den Link öffnen und bestätigen.
password-change = Passwort ändern
password-change-hint = Damit werden alle Ihre anderen Sitzungen beendet, auch im Chat. API-Schlüssel funktionieren weiter. Anwendungen müssen neu verbunden werden.
password-change-verb = Passwort ändern
password-changed = Ihr Passwort wurde geändert, und Ihre anderen Sitzungen wurden beendet.
password-current = Aktuelles Passwort
password-new = Neues Passwort
password-again = Wiederholung des neuen Passworts
password-help = Mindestens { $min } Zeichen.

# Bestätigung der Person
confirm-identity = Bestätigen Sie, dass Sie es sind
confirm-identity-hint = Schlüssel, Berechtigungen, Konten, Grenzen, der Zugriff auf Sammlungen, zweite Faktoren und Exporte brauchen Ihr Passwort oder einen Code aus den letzten 10 Minuten. Es wurde noch nichts geändert.
confirm-identity-kept = Ihre Eingaben bleiben erhalten und werden gesendet, wenn Sie fortfahren.
confirm-identity-lost = Nach einer Anmeldung bei einem Anbieter geben Sie sie bitte erneut ein.
confirm-proof = Passwort oder Code
confirm-proof-help = Ihr Passwort, oder ein Code Ihrer Authenticator-App, wenn Sie eine eingerichtet haben.
continue = Weiter

# Zweiter Faktor
second-factor-active = Die Anmeldung braucht einen Code Ihrer Authenticator-App (eingerichtet { $when }).
second-factor-begin = Authenticator-App einrichten
second-factor-codes-left = Jeder Wiederherstellungscode ersetzt einen Code der App, falls Sie Ihr Gerät verlieren. Sie haben noch { $count }.
second-factor-codes-replace = Wiederherstellungscodes ersetzen
second-factor-expired = Die Einrichtung ist abgelaufen. Bitte beginnen Sie von vorn.
second-factor-hint = Mit einem zweiten Faktor braucht die Anmeldung Ihr Passwort und einen Code, den eine Authenticator-App auf Ihrem Telefon oder Computer zeigt. Ein gestohlenes Passwort allein ist dann nutzlos.
second-factor-key = Schlüssel:
second-factor-on = Einschalten
second-factor-only-password = Zur Anmeldung reicht dann das Passwort allein.
second-factor-qr = QR-Code für die Authenticator-App
second-factor-remove = Zweiten Faktor entfernen
second-factor-removed = Der zweite Faktor wurde entfernt.
second-factor-required = Ihr Konto muss einen zweiten Faktor haben.
second-factor-required-reset = Ihr Konto muss einen zweiten Faktor haben. Wenn Sie das Gerät wechseln, bitten Sie die Administration, ihn zurückzusetzen.
second-factor-scan = Scannen Sie dieses Bild innerhalb von 10 Minuten mit einer Authenticator-App, oder geben Sie den Schlüssel von Hand ein.
code-help = Die 6 Ziffern, die die App jetzt zeigt.
code-not-valid = ist nicht gültig; prüfen Sie die Uhr Ihres Geräts und geben Sie den Code ein, der jetzt angezeigt wird
recovery-codes-keep = Bewahren Sie diese Codes jetzt an einem sicheren Ort auf. Sie werden nicht noch einmal angezeigt, und frühere funktionieren nicht mehr.
recovery-codes-hint = Jeder Code ersetzt einen Code Ihrer Authenticator-App, falls Sie Ihr Gerät verlieren.
done = Fertig

# Sitzungen
sessions-title = Ihre Sitzungen
sessions-hint = Eine Sitzung beginnt mit jeder Anmeldung mit Ihrem Passwort: im Chat, durch Programme, auf diesen Seiten und in der Verwaltung. Wenn Sie eine nicht erkennen, beenden Sie sie und <a>ändern Sie Ihr Passwort</a>.
sessions-shown = Die { $shown } zuletzt benutzten Sitzungen von { $total }.
sessions-end-others = Alle anderen Sitzungen beenden
session-ended = Die Sitzung wurde beendet.
sessions-ended = Alle anderen Sitzungen wurden beendet. Anwendungen wurden getrennt.
session-address = Adresse
session-client = Programm
session-this = (dieses Gerät)
session-end = Beenden

# API-Schlüssel
keys-title = Ihre API-Schlüssel
keys-disabled = API-Schlüssel sind in diesem Dienst ausgeschaltet. Sie können Schlüssel erstellen; sie funktionieren, sobald die Administration sie einschaltet.
keys-disabled-setting = API-Schlüssel sind ausgeschaltet: <code>DOCENT_AUTH_BACKENDS</code> enthält nicht <code>api_key</code>. Der Schlüssel funktioniert, sobald das der Fall ist.
keys-none = Noch keine API-Schlüssel. <a>Erstellen Sie einen</a> für ein Programm, das in Ihrem Namen handelt.
keys-shown = Die { $shown } neuesten Schlüssel von { $total }.
key-create = Schlüssel erstellen
key-created = API-Schlüssel erstellt
key-copy-now = Kopieren Sie den Schlüssel jetzt. Er wird nicht noch einmal angezeigt.
key-copied = Ich habe ihn kopiert
key-try = So probieren Sie ihn auf einer Kommandozeile aus:
key-use = Der Schlüssel gibt im Rahmen seiner Bereiche Zugriff auf das Konto { $account }. Senden Sie ihn im Header <code>Authorization: Bearer KEY</code>.
key-name-help = Zum Beispiel das Programm, das den Schlüssel benutzt.
key-expires-help = Der Schlüssel funktioniert ab diesem Tag (UTC) nicht mehr. Lassen Sie das Feld leer für einen Schlüssel, der nicht abläuft.
key-prefix = Präfix
key-collections = Sammlungen
key-collections-help = Ohne Auswahl erreicht der Schlüssel alle Sammlungen seines Kontos.
key-limited = { $count ->
    [one] nur in { $count } Sammlung
   *[other] nur in { $count } Sammlungen
}
key-scopes = Bereiche
not-a-collection = müssen Sammlungen der Liste sein
key-scopes-help = Geben Sie nur die Bereiche, die das Programm braucht. Ein Schlüssel kann nie mehr als sein Konto.
key-created-by = Erstellt von
key-created-by-other = erstellt von <b>{ $creator }</b>
key-by-command-line = Kommandozeile
key-by-you = Ihnen
key-revoke-link = Widerrufen…
key-revoke-name = { $name } widerrufen
key-revoke = Schlüssel widerrufen
key-revoke-question = Diesen Schlüssel widerrufen?
key-revoke-access = Programme, die diesen Schlüssel benutzen, verlieren sofort den Zugriff.
key-revoked = Der Schlüssel { $name } wurde widerrufen.
scope-read = Dokumente auflisten, lesen und durchsuchen.
scope-ingest = Dokumente hinzufügen; die des eigenen Kontos erneut verarbeiten und löschen.
scope-chat = Agenten fragen, die aus den Dokumenten antworten.
scope-admin = Alles, was die Berechtigungen des Kontos mit Daten anderer erlauben.

# Verbundene Anwendungen
applications = Anwendungen
applications-title = Verbundene Anwendungen
applications-hint = Assistenten und andere Programme, denen Sie Zugriff auf Ihr Konto gegeben haben. Um einen Assistenten zu verbinden, tragen Sie dort diesen Link ein: <code>{ $link }</code>
applications-off = Mit diesem Dienst können keine Anwendungen verbunden werden, und die hier genannten haben keinen Zugriff.
applications-none = Noch keine verbundenen Anwendungen.
applications-shown = Die { $shown } neuesten Anwendungen von { $total }.
application-connected = Verbunden
application-disconnect = Trennen
application-disconnect-link = Trennen…
application-disconnect-name = { $name } trennen
application-disconnect-question = Diese Anwendung trennen?
application-disconnect-access = Die Anwendung verliert sofort den Zugriff auf Ihr Konto.
application-connect-again = Sie können sie später wieder verbinden.
application-disconnected = Die Anwendung { $name } wurde getrennt.
authorize-title = { $name } verbinden
authorize-who = <b>{ $name }</b> bittet um Zugriff auf Ihr Konto { $account }.
authorize-application = Anwendung
authorize-unverified = Name nicht geprüft
authorize-returns-to = Kehrt zurück zu
authorize-this-machine = einem Programm auf diesem Gerät
authorize-app = der App mit dem Schema { $scheme }
authorize-access-to = Zugriff auf
authorize-mcp = Suche und Lesen von Dokumenten durch einen Assistenten (MCP)
authorize-api = die API
authorize-local-warning = Jedes Programm auf diesem Gerät kann unter diesem Namen um Zugriff bitten. Fahren Sie nur fort, wenn Sie die Verbindung gerade selbst begonnen haben.
authorize-scopes = Die Anwendung darf
authorize-collections-help = Ohne Auswahl erreicht die Anwendung alle Sammlungen Ihres Kontos.
authorize-end = Sie können den Zugriff jederzeit unter <a>verbundene Anwendungen</a> beenden.
authorize-allow = Erlauben
authorize-deny = Ablehnen
authorize-invalid = Dieser Link ist keine gültige Anfrage einer Anwendung
authorize-unknown-client = Keine Anwendung mit dieser Kennung ist bekannt; beginnen Sie die Verbindung in der Anwendung noch einmal
authorize-client-document = Die Beschreibung der Anwendung kann nicht benutzt werden: { $reason }
authorize-redirect-uri = Die Anwendung möchte zu einer Adresse zurückkehren, die nicht ihre eigene ist, und bekommt deshalb keinen Zugriff

# Konto löschen
delete-title = Ihr Konto löschen
delete-text = Das Konto { $email } wird sofort gelöscht. Das lässt sich nicht rückgängig machen.
delete-records = Ihre Unterhaltungen, API-Schlüssel, Sitzungen und Webhooks werden endgültig gelöscht.
delete-documents = Dokumente, die Sie hochgeladen haben, bleiben ohne Besitzer erhalten, weil andere Konten sie benutzen. <a>Löschen Sie sie vorher im Chat</a>, wenn sie nicht bleiben sollen.
delete-audit = Das Audit-Protokoll behält, was Ihr Konto getan hat, mit seiner E-Mail-Adresse.
delete-verb = Mein Konto löschen
delete-last-superuser = Das ist der letzte aktive Superuser. Machen Sie zuerst ein anderes Konto zum Superuser.

# Anmeldung bei Identitätsanbietern.
sso-sign-in = Mit { $provider } anmelden
sso-confirm = Erneut mit { $provider } anmelden
sso-continue = Die nächste Seite wird geöffnet.
sso-expired = Diese Anmeldung ist abgelaufen oder wurde in einem anderen Browser begonnen. Bitte versuchen Sie es erneut.
sso-declined = Die Anmeldung wurde beim Anbieter abgebrochen oder abgelehnt.
sso-unavailable = Der Anmeldeanbieter antwortet nicht. Bitte versuchen Sie es gleich noch einmal.
sso-unknown-provider = Diesen Anmeldeanbieter gibt es nicht.
sso-invalid = Die Antwort des Anbieters ist nicht gültig. Bitte versuchen Sie es erneut.
sso-no-email = Der Anbieter hat Ihre E-Mail-Adresse nicht genannt. Wenden Sie sich an Ihre Administration.
sso-unverified-email = Ihre E-Mail-Adresse ist beim Anbieter nicht bestätigt.
sso-foreign-domain = Konten mit dieser E-Mail-Domain können sich hier nicht anmelden.
sso-no-new-accounts = Sie haben noch kein Konto. Bitten Sie Ihre Administration darum.
sso-needs-connection = Ihr Konto ist nicht mit diesem Anbieter verbunden oder mit einer anderen Identität dort. Melden Sie sich mit Ihrem Passwort an und verbinden Sie es auf der Seite „Anmeldeanbieter“ Ihres Kontos. Ohne Passwort fragen Sie die Administration.
sso-inactive = Ihr Konto ist nicht aktiv. Wenden Sie sich an Ihre Administration.
sso-connected-elsewhere = Diese Identität gehört zu einem anderen Konto.
sso-not-authenticated-again = Der Anbieter hat Sie nicht erneut zur Anmeldung aufgefordert.

identities = Anmeldeanbieter
identities-hint = Konten anderer Dienste, mit denen Sie sich anmelden können.
identity-as = Verbunden als { $email }
identity-since = seit { $when }
identity-none = Nicht verbunden.
identity-connect = { $provider } verbinden
identity-disconnect = { $provider } trennen
identity-connected = Der Anbieter ist verbunden.
identity-disconnected = Der Anbieter ist getrennt.
identity-last = Nur mit diesem Anbieter können Sie sich bei Ihrem Konto anmelden. Lassen Sie zuerst von Ihrer Administration ein Passwort setzen.
password-none = Ihr Konto hat kein Passwort: Sie melden sich bei einem Anmeldeanbieter an.
