# Die Seiten von Unterhaltungen und bewerteten Antworten in der Verwaltung.

# Unterhaltungen
conversations-empty = Noch keine Unterhaltungen. Fragen, die im Chat oder mit einer <code>conversation_id</code> gestellt werden, erscheinen hier.
conversations-no-match = Keine passenden Unterhaltungen.
conversation-facts = Besitzer: { $owner }. Begonnen { $started }, letzte Nachricht { $updated }.
conversation-shared-with = Geteilt mit den Lesern von:
conversation-delete-consequence = Die Unterhaltung und ihre Nachrichten werden endgültig gelöscht.
conversation-deleted = Die Unterhaltung wurde gelöscht.
conversation-empty = Noch keine Nachrichten: Die erste Antwort wird gerade geschrieben.
conversation-show-all = Alle Nachrichten anzeigen
messages = Nachrichten
message-last = Letzte Nachricht
message-too-large = Diese Nachricht ist zu groß, um sie hier zu zeigen ({ $size }). <a>Die ganze Nachricht anzeigen</a>
message-tokens = { $prompt } Eingabe-Tokens, { $completion } Ausgabe-Tokens
message-incomplete = unvollständig
message-fallback = Zitate, Modell ausgefallen
message-empty = Leere Antwort.
sources-count = Quellen: { $count }
source-recognized = erkannter Text
source-withheld = Das Dokument wurde gelöscht, oder Sie dürfen es nicht lesen.

# Antworten
answers-title = Bewertete Antworten
answers-empty = Keine Antworten zu prüfen. Schlecht bewertete Antworten und solche, die nichts in den Dokumenten fanden, erscheinen hier.
answers-no-match = Keine passenden Antworten.
answers-export = Fragen exportieren
answers-help = Antworten in Unterhaltungen, die bewertet wurden, die ohne Antwort blieben, oder deren beste Textstelle wenige Punkte hatte. Das Audit-Protokoll vermerkt, wer diese Liste liest.
answers-below = Punkte unter
answer-at = Beantwortet
answer-best-score = Höchste Punkte
answer-declined = ohne Antwort
answer-feedback = Rückmeldung
answer-low = wenige Punkte
answer-question = Frage
answer-question-empty = Leere Frage
answer-review = zu prüfen
answer-rated-down = Daumen runter
answer-rated-up = Daumen hoch
