//! Contract of every repository of conversations.

use super::records::{add_collections, add_documents, add_users, first};
use crate::builders::{at, collection, collection_id, conversation, document, id, question, user};
use crate::retrieval::found;
use docent_domain::chat::AgentName;
use docent_domain::chunk::{PageStart, Position, Span};
use docent_domain::conversation::{
    Conversation, ConversationMessage, ConversationSelection, ConversationTitle, MessageRole,
};
use docent_domain::document::Document;
use docent_domain::feedback::{Feedback, FeedbackComment, FeedbackReason, Rating};
use docent_domain::id::{ApiKeyId, MessageId};
use docent_domain::listing::{
    AnswerFilter, AnswerKind, ConversationFilter, ConversationPosition, PageRequest, Period,
    SharedConversations,
};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::scope::Scope;
use docent_domain::usage::TokenUsage;
use docent_ports::store::{ReadView, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

async fn add(store: &dyn Store, conversations: &[Conversation]) {
    let mut unit = store.begin().await.unwrap();
    for conversation in conversations {
        assert!(unit.conversations().insert(conversation).await.unwrap());
    }
    unit.commit().await.unwrap();
}

async fn append(store: &dyn Store, messages: &[ConversationMessage]) -> u32 {
    let mut unit = store.begin().await.unwrap();
    let first = unit.conversations().append(messages).await.unwrap();
    unit.commit().await.unwrap();
    first
}

fn answer(n: u32) -> ConversationMessage {
    let passage = ScoredChunk {
        document_id: id(1),
        version: 3,
        title: "Résumé 2025".into(),
        span: Span { start: Position { page: 3, offset: 7 }, end: Position { page: 4, offset: 9 } },
        pages: vec![PageStart { page: 3, at: 0 }, PageStart { page: 4, at: 6 }],
        score: 0.375,
        recognized: true,
        label: Some("Setup › Network".into()),
        ..found(1, 4, "words\nand 12.5 %")
    };
    let role = MessageRole::Agent {
        name: AgentName::parse("chat").unwrap(),
        sources: vec![passage],
        tokens: TokenUsage { prompt: 1 << 40, completion: 3 },
        is_complete: false,
        is_declined: true,
        best_score: Some(-1.5),
        fallback: Some(docent_domain::fallback::FallbackCause::QuotaExceeded),
        feedback: Some(rated_down()),
    };
    ConversationMessage { role, ordinal: 1, ..question(n, id(1)) }
}

/// An answer in the first conversation that cites these documents.
fn citing(n: u32, cited: &[u32]) -> ConversationMessage {
    let mut message = answer(n);
    if let MessageRole::Agent { sources, .. } = &mut message.role {
        *sources = cited.iter().map(|n| ScoredChunk { document_id: id(*n), ..sources[0].clone() }).collect();
    }
    message
}

/// A document in one collection.
fn document_in(n: u32, collection: u32) -> Document {
    Document { collections: [collection_id(collection)].into(), ..document(n) }
}

fn scope(collections: &[u32]) -> Scope {
    Scope::SERVICE.within(&collections.iter().map(|n| collection_id(*n)).collect::<Vec<_>>()).unwrap()
}

async fn share(store: &dyn Store, n: u32, collections: &[u32]) {
    let collections = collections.iter().map(|n| collection_id(*n)).collect();
    let mut unit = store.begin().await.unwrap();
    unit.conversations().share(id(n), &collections).await.unwrap();
    unit.commit().await.unwrap();
}

fn rated_down() -> Feedback {
    Feedback {
        rating: Rating::Down { reason: Some(FeedbackReason::WrongSources) },
        comment: Some(FeedbackComment::parse("Page 4\nis right.").unwrap()),
        at: at(8),
    }
}

fn rated_up() -> Feedback {
    Feedback { rating: Rating::Up, comment: None, at: at(9) }
}

async fn set_feedback(
    store: &dyn Store,
    conversation: u32,
    answer: u32,
    feedback: Option<&Feedback>,
) -> bool {
    let mut unit = store.begin().await.unwrap();
    let found = unit.conversations().set_feedback(id(conversation), id(answer), feedback).await.unwrap();
    unit.commit().await.unwrap();
    found
}

/// An answer in the conversation `n` with this ID and time.
fn answer_in(conversation: u32, n: u32, declined: bool, score: Option<f32>) -> ConversationMessage {
    let mut answer = answer(n);
    if let MessageRole::Agent { is_declined, best_score, feedback, .. } = &mut answer.role {
        (*is_declined, *best_score, *feedback) = (declined, score, None);
    }
    ConversationMessage { conversation: id(conversation), at: at(i64::from(n)), ..answer }
}

crate::battery! {
    conversations_contract in conversations (Arc<dyn Store>);

    /// All fields are stored and read unchanged, including messages with sources.
    async fn conversation_round_trips(store) {
        add_users(&*store, &[user(1)]).await;
        let selection = ConversationSelection { collections: Some(vec![id(3)]), documents: None };
        let added = Conversation { selection, is_pinned: true, limited_key: Some(id(5)), updated_at: at(7), ..conversation(1, user(1).id) };
        add(&*store, std::slice::from_ref(&added)).await;
        let said = [question(1, id(1)), answer(2)];
        assert_eq!(append(&*store, &said).await, 0);
        let mut view = store.read().await.unwrap();
        let known = view.conversations().get(id(1)).await.unwrap();
        assert_eq!(known, Some(added));
        assert_eq!(view.conversations().messages(id(1), first(9)).await.unwrap().records, said);
        assert_eq!(view.conversations().get(id(2)).await.unwrap(), None);
        assert_eq!(view.conversations().messages(id(2), first(9)).await.unwrap().total, 0);
    }

    /// Sizes are those of texts with comments and of sources in bytes, in the order of the messages.
    async fn message_sizes_are_in_bytes(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &[conversation(1, user(1).id)]).await;
        let question = ConversationMessage { content: "Wo ist das Müsli?".into(), ..question(1, id(1)) };
        append(&*store, &[question, answer(2)]).await;
        let mut view = store.read().await.unwrap();
        let sizes = view.conversations().message_sizes(id(1), first(9)).await.unwrap();
        assert_eq!((sizes.total, sizes.records[0].text), (2, 18));
        let answer = view.conversations().messages(id(1), first(9)).await.unwrap().records.remove(1);
        assert_eq!(sizes.records[1].text, (answer.content.len() + "Page 4\nis right.".len()) as u64);
        assert!(sizes.records[0].sources < 10 && sizes.records[1].sources >= 16, "{sizes:?}");
        let last = PageRequest { offset: 1, limit: 9 };
        let rest = view.conversations().message_sizes(id(1), last).await.unwrap();
        assert_eq!((rest.total, rest.records), (2, sizes.records[1..].to_vec()));
        assert_eq!(view.conversations().message_sizes(id(2), first(9)).await.unwrap().total, 0);
    }

    /// Replaced messages stay where they are, and keep the time of their first replacement.
    async fn messages_are_replaced_from_an_ordinal_on(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &[conversation(1, user(1).id), conversation(2, user(1).id)]).await;
        append(&*store, &[question(1, id(1)), answer(2), question(3, id(1)), answer(4)]).await;
        append(&*store, &[question(5, id(2))]).await;
        let ordinal = async |conversation: u32, answer: u32| {
            let mut view = store.read().await.unwrap();
            view.conversations().answer_ordinal(id(conversation), id(answer)).await.unwrap()
        };
        assert_eq!((ordinal(1, 4).await, ordinal(1, 2).await), (Some(3), Some(1)));
        assert_eq!((ordinal(2, 4).await, ordinal(1, 3).await, ordinal(1, 9).await), (None, None, None));
        for (from, time) in [(2, 20), (0, 21)] {
            let mut unit = store.begin().await.unwrap();
            unit.conversations().replace_from(id(1), from, at(time)).await.unwrap();
            unit.commit().await.unwrap();
        }
        append(&*store, &[question(6, id(1))]).await;
        let mut view = store.read().await.unwrap();
        let messages = view.conversations().messages(id(1), first(9)).await.unwrap().records;
        let replaced: Vec<_> = messages.iter().map(|message| message.replaced_at).collect();
        assert_eq!(replaced, [Some(at(21)), Some(at(21)), Some(at(20)), Some(at(20)), None]);
        let other = view.conversations().messages(id(2), first(9)).await.unwrap().records;
        assert_eq!(other[0].replaced_at, None);
        drop(view);
        assert_eq!(ordinal(1, 4).await, None);
    }

    /// IDs are unique, and the owner must exist.
    async fn insert_rejects_used_id_and_unknown_owner(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        add(&*store, &[conversation(1, user(1).id)]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(!unit.conversations().insert(&conversation(1, user(2).id)).await.unwrap());
        unit.commit().await.unwrap();
        let stranger = conversation(2, user(9).id);
        assert!(store.begin().await.unwrap().conversations().insert(&stranger).await.is_err());
        assert!(store.begin().await.unwrap().conversations().append(&[question(1, id(2))]).await.is_err());
    }

    /// Messages are appended in order, also concurrently.
    async fn append_numbers_messages(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &[conversation(1, user(1).id)]).await;
        let adding = (0..8).map(|n| {
            let store = Arc::clone(&store);
            let two = [question(2 * n + 1, id(1)), question(2 * n + 2, id(1))];
            tokio::spawn(async move { append(&*store, &two).await })
        });
        let mut firsts = Vec::new();
        for one in adding.collect::<Vec<_>>() {
            firsts.push(one.await.unwrap());
        }
        firsts.sort_unstable();
        assert_eq!(firsts, [0, 2, 4, 6, 8, 10, 12, 14]);
        let page = PageRequest { offset: 3, limit: 5 };
        let some = store.read().await.unwrap().conversations().messages(id(1), page).await.unwrap();
        assert_eq!(some.records.iter().map(|message| message.ordinal).collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
        assert_eq!(some.total, 16);
    }

    /// Feedback on an answer is replaced and removed; questions and other conversations have none.
    async fn feedback_is_set_on_answers_of_the_conversation(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &[conversation(1, user(1).id), conversation(2, user(1).id)]).await;
        append(&*store, &[question(1, id(1)), answer(2)]).await;
        for (feedback, n) in [(Some(rated_up()), 1), (Some(rated_down()), 2), (None, 3)] {
            assert!(set_feedback(&*store, 1, 2, feedback.as_ref()).await, "{n}");
            let mut view = store.read_latest().await.unwrap();
            let messages = view.conversations().messages(id(1), first(9)).await.unwrap().records;
            let MessageRole::Agent { feedback: stored, .. } = &messages[1].role else { panic!() };
            assert_eq!(*stored, feedback);
        }
        assert!(!set_feedback(&*store, 1, 1, Some(&rated_up())).await, "a question");
        assert!(!set_feedback(&*store, 2, 2, Some(&rated_up())).await, "of another conversation");
        assert!(!set_feedback(&*store, 1, 9, Some(&rated_up())).await, "an unknown message");
    }

    /// Answers are listed by kind and time, newest first, with the beginnings of their questions.
    async fn answers_are_listed_by_kind_and_time(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        add(&*store, &[conversation(1, user(1).id), conversation(2, user(2).id)]).await;
        let asked = |n, conversation, text: &str| ConversationMessage { content: text.into(), ..question(n, id(conversation)) };
        append(&*store, &[asked(1, 1, "Größe?"), answer_in(1, 11, true, None)]).await;
        append(&*store, &[asked(2, 1, "b"), answer_in(1, 12, false, Some(0.25))]).await;
        append(&*store, &[asked(3, 2, "c"), answer_in(2, 13, false, Some(2.0))]).await;
        append(&*store, &[asked(4, 2, "d"), answer_in(2, 14, false, None)]).await;
        assert!(set_feedback(&*store, 2, 13, Some(&rated_up())).await);
        assert!(set_feedback(&*store, 2, 14, Some(&rated_down())).await);
        let mut view = store.read_latest().await.unwrap();
        let mut list = async |kinds: &[AnswerKind], period, page| {
            let filter = AnswerFilter { kinds: kinds.to_vec(), period };
            view.conversations().answers(&filter, 3, page).await.unwrap()
        };
        let always = Period::default();
        for (kinds, expected) in [
            (&[][..], &[][..]),
            (&[AnswerKind::RatedUp], &[13]),
            (&[AnswerKind::RatedDown], &[14]),
            (&[AnswerKind::Declined], &[11]),
            (&[AnswerKind::ScoredBelow(0.5)], &[12]),
            (&[AnswerKind::ScoredBelow(0.25)], &[]),
            (&[AnswerKind::RatedDown, AnswerKind::Declined, AnswerKind::ScoredBelow(9.0)], &[14, 13, 12, 11]),
        ] {
            let found = list(kinds, always, first(9)).await;
            let ids: Vec<MessageId> = found.records.iter().map(|listed| listed.answer.id).collect();
            assert_eq!(ids, expected.iter().map(|n| id(*n)).collect::<Vec<_>>(), "{kinds:?}");
            assert_eq!(found.total, expected.len() as u64);
        }
        let declined = list(&[AnswerKind::Declined], always, first(9)).await.records.remove(0);
        assert_eq!((declined.owner, declined.question.as_str()), (user(1).id, "Grö"));
        let expected = ConversationMessage { content: String::new(), ..answer_in(1, 11, true, None) };
        assert_eq!(declined.answer, expected);
        let all = [AnswerKind::RatedDown, AnswerKind::Declined, AnswerKind::ScoredBelow(9.0)];
        let period = Period { from: Some(at(12)), to: Some(at(14)) };
        let page = list(&all, period, PageRequest { offset: 1, limit: 1 }).await;
        assert_eq!((page.total, page.records[0].answer.id, page.records[0].owner), (2, id(12), user(1).id));
    }

    /// A conversation is changed and deleted with its messages.
    async fn update_and_delete_change_conversation(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &[conversation(1, user(1).id), conversation(2, user(1).id)]).await;
        append(&*store, &[question(1, id(1))]).await;
        let renamed = Conversation {
            title: ConversationTitle::parse("Renamed").unwrap(),
            selection: ConversationSelection { collections: Some(Vec::new()), documents: Some(vec![id(7), id(6)]) },
            is_pinned: true,
            limited_key: Some(id(5)),
            updated_at: at(9),
            ..conversation(1, user(1).id)
        };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.conversations().update(&renamed).await.unwrap());
        assert!(!unit.conversations().update(&conversation(3, user(1).id)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(store.read().await.unwrap().conversations().get(id(1)).await.unwrap(), Some(renamed.clone()));
        let widened = Conversation { selection: ConversationSelection::default(), limited_key: None, ..renamed };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.conversations().update(&widened).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(store.read().await.unwrap().conversations().get(id(1)).await.unwrap(), Some(widened));
        let mut unit = store.begin().await.unwrap();
        assert!(unit.conversations().delete(id(1)).await.unwrap());
        assert!(!unit.conversations().delete(id(1)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.conversations().messages(id(1), first(9)).await.unwrap().total, 0);
    }

    /// Lists are last updated first, filtered by account and text, and count messages.
    async fn list_filters_and_sorts_by_update(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let (one, two) = (user(1).id, user(2).id);
        let talks = [
            Conversation { updated_at: at(9), ..conversation(1, one) },
            conversation(2, two),
            conversation(3, one),
        ];
        add(&*store, &talks).await;
        append(&*store, &[question(1, id(3)), question(2, id(3))]).await;
        let [talk1, talk2, talk3] = talks;
        let mut view = store.read().await.unwrap();
        let filter = ConversationFilter::default();
        let all = view.conversations().list(&filter, first(9)).await.unwrap();
        assert_eq!(all.records, [(talk1.clone(), 0), (talk3.clone(), 2), (talk2.clone(), 0)]);
        let filter = ConversationFilter { owner: Some(one), ..ConversationFilter::default() };
        let of_one = view.conversations().list(&filter, PageRequest { offset: 1, limit: 1 }).await.unwrap();
        assert_eq!((of_one.records, of_one.total), (vec![(talk3, 2)], 2));
        let filter = ConversationFilter { text: Some("TION 2".into()), ..ConversationFilter::default() };
        let second = view.conversations().list(&filter, first(9)).await.unwrap().records;
        assert_eq!(second, [(talk2.clone(), 0)]);
    }

    /// A search includes the text of messages only if that is asked for, and stays within the account.
    async fn list_searches_messages_of_the_account(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let (one, two) = (user(1).id, user(2).id);
        let pinned = Conversation { is_pinned: true, ..conversation(3, one) };
        add(&*store, &[conversation(1, one), conversation(2, two), pinned, conversation(4, one)]).await;
        let saying = |n, text: &str| ConversationMessage { content: text.into(), ..question(n, id(n)) };
        for message in [saying(1, "How long is the WARRANTY?"), saying(2, "warranty"), saying(3, "100 %_ of the warranty"), saying(4, "")] {
            append(&*store, &[message]).await;
        }
        let mut view = store.read().await.unwrap();
        let found = async |view: &mut dyn ReadView, filter: ConversationFilter| {
            let found = view.conversations().list(&filter, first(9)).await.unwrap();
            assert_eq!(found.total, found.records.len() as u64);
            found.records.iter().map(|(conversation, _)| conversation.id).collect::<Vec<_>>()
        };
        let filter = |text: &str| ConversationFilter {
            owner: Some(one), text: Some(text.into()), includes_messages: true, ..ConversationFilter::default()
        };
        assert_eq!(found(&mut *view, filter("Warranty")).await, [id(3), id(1)]);
        assert_eq!(found(&mut *view, filter("%_")).await, [id(3)]);
        assert_eq!(found(&mut *view, filter("tion 4")).await, [id(4)]);
        assert_eq!(found(&mut *view, ConversationFilter { owner: None, ..filter("warranty") }).await, [id(3), id(2), id(1)]);
        assert_eq!(found(&mut *view, ConversationFilter { includes_messages: false, ..filter("warranty") }).await, []);
        assert_eq!(found(&mut *view, ConversationFilter { is_pinned: Some(false), ..filter("warranty") }).await, [id(1)]);
        assert_eq!(found(&mut *view, ConversationFilter { is_pinned: Some(true), text: None, ..filter("") }).await, [id(3)]);
    }

    /// A list can be that of one API key.
    async fn list_has_conversations_of_an_api_key(store) {
        add_users(&*store, &[user(1)]).await;
        let owner = user(1).id;
        let of_key = |n, key| Conversation { limited_key: Some(id(key)), ..conversation(n, owner) };
        add(&*store, &[conversation(1, owner), of_key(2, 5), of_key(3, 6)]).await;
        let listed = async |limited_key: Option<ApiKeyId>| {
            let filter = ConversationFilter { owner: Some(owner), limited_key, ..ConversationFilter::default() };
            let found = store.read().await.unwrap().conversations().list(&filter, first(9)).await.unwrap();
            found.records.iter().map(|(conversation, _)| conversation.id).collect::<Vec<_>>()
        };
        assert_eq!(listed(Some(id(5))).await, [id(2)]);
        assert_eq!(listed(None).await, [id(3), id(2), id(1)]);
    }

    /// A conversation is shared with the collections that were named last, until it or a collection is deleted.
    async fn sharing_ends_with_the_conversation_or_the_collection(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        add_collections(&*store, &[collection(1), collection(2)]).await;
        add(&*store, &[conversation(1, user(1).id), conversation(2, user(2).id), conversation(3, user(1).id)]).await;
        let of = |numbers: &[u32]| numbers.iter().map(|n| collection_id(*n)).collect::<BTreeSet<_>>();
        let shared = async || {
            let found = store.read().await.unwrap().conversations().shared_with(&[id(1), id(2), id(3)]).await.unwrap();
            found.into_iter().collect::<BTreeMap<_, _>>()
        };
        share(&*store, 1, &[1]).await;
        share(&*store, 1, &[1, 2]).await;
        share(&*store, 2, &[2]).await;
        share(&*store, 3, &[1]).await;
        share(&*store, 3, &[]).await;
        assert_eq!(shared().await, [(id(1), of(&[1, 2])), (id(2), of(&[2]))].into());
        let mut unit = store.begin().await.unwrap();
        assert!(unit.collections().delete(collection_id(1)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(shared().await, [(id(1), of(&[2])), (id(2), of(&[2]))].into());
        let mut unit = store.begin().await.unwrap();
        assert!(unit.conversations().delete(id(1)).await.unwrap());
        assert!(unit.users().delete(user(2).id).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(shared().await, BTreeMap::new());
        let mut unit = store.begin().await.unwrap();
        assert!(unit.conversations().share(id(3), &of(&[1])).await.is_err(), "the collection is deleted");
    }

    /// The first answer that cites a document outside a scope is found, unless it was replaced.
    async fn first_unreadable_answer_is_that_of_the_scope(store) {
        add_users(&*store, &[user(1)]).await;
        add_collections(&*store, &[collection(1), collection(2)]).await;
        add_documents(&*store, &[document_in(1, 1), document_in(2, 2)]).await;
        add(&*store, &[conversation(1, user(1).id), conversation(2, user(1).id)]).await;
        let messages = [
            question(1, id(1)), citing(2, &[]), question(3, id(1)), citing(4, &[1]),
            question(5, id(1)), citing(6, &[1, 2]), question(7, id(1)), citing(8, &[3]),
        ];
        append(&*store, &messages).await;
        append(&*store, &[question(9, id(2))]).await;
        let first = async |collections: &[u32]| {
            let scope = scope(collections);
            store.read_latest().await.unwrap().conversations().first_unreadable(id(1), &scope).await.unwrap()
        };
        assert_eq!(first(&[]).await, Some(3));
        assert_eq!(first(&[1]).await, Some(5));
        assert_eq!(first(&[2]).await, Some(3));
        assert_eq!(first(&[1, 2]).await, Some(7), "the document does not exist");
        let mut unit = store.begin().await.unwrap();
        unit.conversations().replace_from(id(1), 6, at(9)).await.unwrap();
        unit.commit().await.unwrap();
        assert_eq!(first(&[1, 2]).await, None);
        let other = store.read().await.unwrap().conversations().first_unreadable(id(2), &scope(&[])).await.unwrap();
        assert_eq!(other, None, "a question cites nothing");
        let mut unit = store.begin().await.unwrap();
        assert!(unit.documents().mark_deleted(id(1), at(9)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(first(&[1, 2]).await, Some(3), "a deleted document");
    }

    /// A list of shared conversations has those of other accounts in the scope, and finds only what a reader sees.
    async fn shared_conversations_are_listed_and_searched_within_the_scope(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        add_collections(&*store, &[collection(1), collection(2)]).await;
        add_documents(&*store, &[document_in(1, 1), document_in(2, 2)]).await;
        add(&*store, &[conversation(1, user(1).id), conversation(2, user(2).id), conversation(3, user(1).id)]).await;
        share(&*store, 1, &[1]).await;
        share(&*store, 2, &[1]).await;
        let saying = |text: &str, message: ConversationMessage| ConversationMessage { content: text.into(), ..message };
        let messages = [
            saying("old question", question(1, id(1))), saying("old answer", citing(2, &[1])),
            saying("first question", question(3, id(1))), saying("first answer", citing(4, &[1])),
            saying("second question", question(5, id(1))), saying("second answer", citing(6, &[1, 2])),
            saying("third question", question(7, id(1))), saying("third answer", citing(8, &[])),
        ];
        append(&*store, &messages[..2]).await;
        let mut unit = store.begin().await.unwrap();
        unit.conversations().replace_from(id(1), 0, at(9)).await.unwrap();
        unit.commit().await.unwrap();
        append(&*store, &messages[2..]).await;
        let listed = async |reader: u32, collections: &[u32], text: Option<&str>| {
            let shared = Some(SharedConversations { reader: user(reader).id, scope: scope(collections) });
            let text = text.map(str::to_owned);
            let filter = ConversationFilter { shared, text, includes_messages: true, ..ConversationFilter::default() };
            let found = store.read().await.unwrap().conversations().list(&filter, first(9)).await.unwrap();
            assert_eq!(found.total, found.records.len() as u64);
            found.records.iter().map(|(conversation, _)| conversation.id).collect::<Vec<_>>()
        };
        assert_eq!(listed(2, &[1], None).await, [id(1)]);
        assert_eq!(listed(1, &[1, 2], None).await, [id(2)]);
        assert_eq!(listed(3, &[1], None).await, [id(2), id(1)]);
        assert_eq!(listed(2, &[2], None).await, []);
        assert_eq!(listed(2, &[], None).await, []);
        for (text, of_one, of_both) in [
            ("tion 1", true, true), ("first question", true, true), ("FIRST ANSWER", true, true),
            ("second question", false, true), ("second answer", false, true),
            ("third question", false, true), ("third answer", false, true),
            ("old question", false, false), ("old answer", false, false),
        ] {
            let of = |is_found| if is_found { vec![id(1)] } else { Vec::new() };
            assert_eq!(listed(2, &[1], Some(text)).await, of(of_one), "{text}");
            assert_eq!(listed(2, &[1, 2], Some(text)).await, of(of_both), "{text}");
        }
    }

    /// A list continues after any position, also among conversations updated at the same time.
    async fn list_continues_after_position(store) {
        add_users(&*store, &[user(1)]).await;
        let owner = user(1).id;
        let late = Conversation { updated_at: at(9), ..conversation(1, owner) };
        let talks = [late, conversation(4, owner), conversation(3, owner), conversation(2, owner)];
        let talks = talks.map(|talk| Conversation { updated_at: talk.updated_at.max(at(7)), ..talk });
        add(&*store, &talks).await;
        let mut view = store.read().await.unwrap();
        for (place, talk) in talks.iter().enumerate() {
            let after = Some(ConversationPosition { updated_at: talk.updated_at, id: talk.id });
            let filter = ConversationFilter { after, ..ConversationFilter::default() };
            let rest = view.conversations().list(&filter, first(9)).await.unwrap();
            let expected: Vec<_> = talks[place + 1..].iter().map(|talk| (talk.clone(), 0)).collect();
            assert_eq!((rest.records, rest.total), (expected, (talks.len() - place - 1) as u64));
        }
    }
}
