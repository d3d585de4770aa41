# The pages of conversations and rated answers in the panel.

# Conversations
conversations-empty = No conversations yet. Questions asked in the web chat, or with a <code>conversation_id</code>, appear here.
conversations-no-match = No matching conversations.
conversation-facts = Owner: { $owner }. Started { $started }, last message { $updated }.
conversation-shared-with = Shared with the readers of:
conversation-delete-consequence = The conversation and its messages will be permanently deleted.
conversation-deleted = The conversation was deleted.
conversation-empty = No messages yet: the first answer is still being generated.
conversation-show-all = Show all messages
messages = Messages
message-last = Last message
message-too-large = This message is too large to show here ({ $size }). <a>Show the whole message</a>
message-tokens = { $prompt } input tokens, { $completion } output tokens
message-incomplete = incomplete
message-fallback = quotes, model failed
message-empty = Empty answer.
sources-count = Sources: { $count }
source-recognized = recognised text
source-withheld = The document was deleted, or you do not have permission to read it.

# Answers
answers-title = Rated answers
answers-empty = No answers to review. Answers rated as bad, and those that found nothing in the documents, appear here.
answers-no-match = No matching answers.
answers-export = Export questions
answers-help = Answers in conversations that were rated, declined, or whose best passage scored low. Reading this list is recorded in the audit log.
answers-below = Score below
answer-at = Answered
answer-best-score = Best score
answer-declined = declined
answer-feedback = Feedback
answer-low = low score
answer-question = Question
answer-question-empty = Empty question
answer-review = to review
answer-rated-down = thumbs down
answer-rated-up = thumbs up
