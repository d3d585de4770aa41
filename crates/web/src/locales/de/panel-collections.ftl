# Die Seiten von Sammlungen in der Verwaltung.

collection-add = Sammlung hinzufügen
collection-create = Sammlung erstellen
collection-created = Die Sammlung { $name } wurde erstellt.
collection-deleted = Die Sammlung { $name } wurde gelöscht.
collection-saved = Die Sammlung wurde gespeichert.
collection-leave = Diese Sammlung verlassen
collections-empty = Noch keine Sammlungen.
collections-no-match = Keine passenden Sammlungen.
collections-own = Dies sind die Sammlungen, in denen Sie eine Rolle haben.
collection-delete-question = Diese Sammlung löschen?
collection-delete-documents = Dokumente bleiben in ihren anderen Sammlungen. Eine Sammlung mit Dokumenten, die in keiner anderen sind, wird nicht gelöscht.
collection-delete-access = Konten, die Dokumente nur durch diese Sammlung lesen, verlieren sofort den Zugriff.
collection-delete-verb = Sammlung löschen
collection-not-empty = { $count ->
    [one] Nicht gelöscht: { $count } Dokument ist in keiner anderen Sammlung. Löschen oder verschieben Sie es zuerst.
   *[other] Nicht gelöscht: { $count } Dokumente sind in keiner anderen Sammlung. Löschen oder verschieben Sie sie zuerst.
}
collection-readers = Leser der Dokumente: { $readers }, und Personal mit der Berechtigung, alle Dokumente anzusehen.
collection-owner-help = E-Mail-Adresse des Kontos, das die Sammlung immer verwaltet. Kann leer bleiben.
collection-owner-unknown = ist nicht die E-Mail-Adresse eines Kontos

# Rollen und Arten
role-of-all = Rolle jedes Kontos
role-of-all-help = Jedes Konto dieser Installation hat mindestens diese Rolle.
role-of-all-none = keine: nur der Besitzer und die Mitglieder benutzen sie
role-yours = Ihre Rolle
role-none = keine
role-unknown = muss Lesen, Beitragen oder Verwalten sein
role-viewer = Lesen
role-contributor = Beitragen
role-manager = Verwalten
role-choice-viewer = Lesen: Dokumente lesen
role-choice-contributor = Beitragen: auch Dokumente hinzufügen und eigene ändern
role-choice-manager = Verwalten: auch alle Dokumente, Einstellungen und Mitglieder ändern
collection-kind-everyone = für alle
collection-kind-personal = persönlich
collection-kind-shared = gemeinsam

# Mitglieder
members = Mitglieder
members-none = Noch keine Mitglieder.
member-add = Mitglied hinzufügen
member-add-title = Ein Mitglied hinzufügen
member-email = E-Mail-Adresse
member-group = Gruppe
member-group-help = Name einer Gruppe, in der Sie sind oder die Sie sehen dürfen, statt einer E-Mail-Adresse. Alle Konten der Gruppe bekommen die Rolle, auch die, die später dazukommen.
member-is-account = Konto
member-is-group = Gruppe
member-role-of = Rolle von { $name }
member-role-set = Setzen
member-role-set-of = Rolle von { $name } setzen
member-has-role = { $name } hat die Rolle „{ $role }“.
member-email-or-group = oder der Name einer Gruppe ist nötig
member-group-not-empty = muss leer sein, wenn eine E-Mail-Adresse angegeben ist
member-no-account = gehört zu keinem Konto
member-removed = Das Mitglied wurde entfernt.
member-removed-before = Dieses Mitglied wurde schon vorher entfernt.
member-left = Sie sind nicht mehr Mitglied.

# Wer die Dokumente einer Sammlung liest; Teile anderer Sätze.
reads-every-account = jedes Konto
reads-members = { $count ->
    [one] { $count } Mitglied
   *[other] { $count } Mitglieder
}
reads-no-account = kein Konto
reads-owner = nur der Besitzer
reads-owner-and-members = { $count ->
    [one] der Besitzer und { $count } Mitglied
   *[other] der Besitzer und { $count } Mitglieder
}
