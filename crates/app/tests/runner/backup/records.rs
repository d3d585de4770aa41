//! An installation with records of every kind, and what is compared after a restore.

use crate::service::Service;
use docent_domain::api_key::ApiKey;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::audit::AuditAction;
use docent_domain::chat::AgentName;
use docent_domain::chunk::{PageStart, Position, Span};
use docent_domain::collection::{Collection, CollectionRole, Member};
use docent_domain::conversation::{Conversation, ConversationMessage, ConversationSelection, MessageRole};
use docent_domain::document::{
    BlobKey, Document, DocumentState, Failed, Failure, FailureCode, Ingested, Replacement, StoredFile,
};
use docent_domain::external_file::{ExternalFile, ExternalId};
use docent_domain::extraction::{Coverage, RecognitionCoverage, RecognizedPageCoverage};
use docent_domain::fallback::FallbackCause;
use docent_domain::feedback::{Feedback, FeedbackComment, FeedbackReason, Rating};
use docent_domain::file_batch::{CollectionMetadata, FilePurpose, Metadata};
use docent_domain::file_type::FileType;
use docent_domain::group::{AssignedPermissions, Group};
use docent_domain::id::{ChunkId, CollectionId, DocumentId, VersionId};
use docent_domain::invitation::{Invitation, InvitedAccess};
use docent_domain::limits::AccountLimits;
use docent_domain::permission::Permission;
use docent_domain::recognition::RecognitionFailure;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::second_factor::{SecondFactor, TotpSecret};
use docent_domain::stored_response::StoredResponse;
use docent_domain::summary::{
    Description, DocumentSummary, Fallback, Heading, KeyPoint, Place, SuggestedQuestion,
};
use docent_domain::text::{LanguageTag, PersonName};
use docent_domain::usage::TokenUsage;
use docent_domain::user::User;
use docent_domain::verification::VerificationPurpose;
use docent_domain::webhook::WebhookSecret;
use docent_ports::store::{Store, UnitOfWork};
use docent_testkit::builders;
use std::collections::{BTreeMap, BTreeSet};

/// Creates an ingested, a failed and a pending document, and a usage record.
pub(super) async fn documents_in_each_status(service: &Service) -> [DocumentId; 3] {
    let ingested = service.upload("some words about pumps").await;
    let failed = service.upload("").await;
    service.drain().await;
    let waiting = service.upload("waiting words").await;
    let mut work = service.ports.store.begin().await.unwrap();
    work.usage().insert(&builders::usage(1, builders::user(1).id)).await.unwrap();
    work.commit().await.unwrap();
    [ingested, failed, waiting]
}

/// Returns all records, to be compared. A finished backup is recorded after its contents were read.
pub(super) async fn records(store: &dyn Store) -> impl PartialEq + std::fmt::Debug {
    let mut view = store.read().await.unwrap();
    let hidden_by = view.collections().hidden_by(CollectionId::EVERYONE).await.unwrap();
    let metadata = view.collections().metadata(&[CollectionId::EVERYONE]).await.unwrap();
    let documents: Vec<DocumentId> =
        view.inventory().documents(None, 99).await.unwrap().into_iter().map(|document| document.id).collect();
    let purposes = view.documents().purposes(&documents).await.unwrap();
    let mut with_documents = Vec::new();
    for id in documents {
        with_documents.push((
            view.documents().summary(id).await.unwrap(),
            view.documents().external_file(id).await.unwrap(),
        ));
    }
    let mut members = Vec::new();
    let collections = view.inventory().collections(None, 99).await.unwrap();
    for collection in &collections {
        members.push(view.collections().members(collection.id).await.unwrap());
    }
    let all = view.inventory();
    let mut audit = all.audit(None, 99).await.unwrap();
    audit.retain(|entry| entry.action != AuditAction::Backup);
    (
        all.users(None, 99).await.unwrap(),
        all.documents(None, 99).await.unwrap(),
        all.usage(None, 99).await.unwrap(),
        (
            all.groups(None, 99).await.unwrap(),
            all.api_keys(None, 99).await.unwrap(),
            all.invitations(None, 99).await.unwrap(),
        ),
        (all.conversations(None, 99).await.unwrap(), all.responses(None, 99).await.unwrap(), audit),
        (all.webhooks(None, 99).await.unwrap(), hidden_by, metadata, purposes, with_documents),
        (collections, members),
    )
}

/// Creates an account with a record of every kind that an account can have.
pub(super) async fn account_with_all_records(service: &Service) -> User {
    let document = service.upload("words").await;
    service.drain().await;
    let mut view = service.ports.store.read().await.unwrap();
    let [user]: [User; 1] = view.inventory().users(None, 9).await.unwrap().try_into().unwrap();
    drop(view);
    let user = User {
        name: PersonName::parse("Ada").ok(),
        language: LanguageTag::parse("de").ok(),
        last_login_at: Some(builders::at(2)),
        email_verified_at: Some(builders::at(1)),
        limits: AccountLimits { answers: Some(7), stored_bytes: Some(1 << 40), ..AccountLimits::default() },
        second_factor: Some(SecondFactor {
            secret: TotpSecret::from_bytes([7; 20]),
            begun_at: None,
            confirmed_at: Some(builders::at(3)),
            last_step: 58_907_520,
            recovery_codes: vec![[1; 32], [254; 32]],
        }),
        ..user
    };
    let mut work = service.ports.store.begin().await.unwrap();
    assert!(work.users().update(&user).await.unwrap());
    for n in 1..=2 {
        let permissions =
            [Permission::ViewJob, Permission::AddUser].into_iter().take(n as usize - 1).collect();
        assert!(work.groups().insert(&Group { permissions, ..builders::group(n) }).await.unwrap());
        let key = ApiKey {
            created_by: Some(user.id),
            collections: (n == 2).then(|| [CollectionId::EVERYONE].into()),
            expires_at: Some(builders::at(99)),
            ..if n == 1 { builders::api_key(n, user.id) } else { builders::connected(n, user.id) }
        };
        assert!(work.api_keys().insert(&key).await.unwrap());
        let access = InvitedAccess {
            groups: [builders::id(1)].into(),
            collections: [(CollectionId::EVERYONE, CollectionRole::Manager)].into(),
        };
        let invited_by = (n == 1).then_some(user.id);
        let invitation = Invitation { access, ..builders::invitation(n, invited_by) };
        assert!(work.invitations().insert(&invitation).await.unwrap());
        let documents = (n == 1).then(|| vec![builders::id(8), builders::id(7)]);
        let selection = ConversationSelection { collections: None, documents };
        let conversation =
            Conversation { selection, is_pinned: n == 1, ..builders::conversation(n, user.id) };
        assert!(work.conversations().insert(&conversation).await.unwrap());
        let shared_with = if n == 1 { [CollectionId::EVERYONE].into() } else { BTreeSet::new() };
        work.conversations().share(conversation.id, &shared_with).await.unwrap();
        let previous = (n == 2).then(|| builders::id(1));
        let limited_key = (n == 2).then(|| builders::id(1));
        let response = StoredResponse { previous, limited_key, ..builders::stored_response(n, user.id) };
        work.conversations().insert_response(&response).await.unwrap();
        let webhook = builders::webhook(n, user.id);
        let rotated = webhook.clone().rotated(WebhookSecret::from_bytes([99; 32]), builders::at(5));
        assert!(work.webhooks().insert(if n == 1 { &webhook } else { &rotated }).await.unwrap());
        work.webhooks().add_delivery(&builders::delivery(n, webhook.id)).await.unwrap();
        work.audit().append(&builders::audit_entry(n)).await.unwrap();
    }
    let assigned_permissions = AssignedPermissions {
        permissions: [Permission::ViewJob].into_iter().collect(),
        groups: [builders::group(2).id].into(),
        managed: [builders::group(1).id].into(),
    };
    work.groups().set_assigned_permissions(user.id, &assigned_permissions).await.unwrap();
    work.collections().set_hidden(user.id, CollectionId::EVERYONE, true).await.unwrap();
    let metadata = CollectionMetadata {
        entries: Metadata::new([("team".to_owned(), "pumps".to_owned())].into()).unwrap(),
        expires_after_days: Some(7),
        last_active_at: builders::at(8),
    };
    work.collections().set_metadata(CollectionId::EVERYONE, &metadata).await.unwrap();
    let shared = Collection {
        owner: Some(user.id),
        role_of_all: Some(CollectionRole::Viewer),
        ..builders::collection(1)
    };
    work.collections().insert(&shared).await.unwrap();
    for (member, role) in [
        (Member::User(user.id), CollectionRole::Manager),
        (Member::Group(builders::group(1).id), CollectionRole::Contributor),
    ] {
        work.collections().set_member(shared.id, member, Some(role)).await.unwrap();
    }
    document_with_all_records(&mut *work, document, shared.id).await;
    let failed = VersionId::from_uuid(uuid::Uuid::from_u128(77));
    let mut blob = service.ports.blobs.create(&BlobKey::of_version(failed)).await.unwrap();
    blob.write("more words".into()).await.unwrap();
    blob.finish().await.unwrap();
    let replacement = Replacement {
        version_id: failed,
        version: 4,
        file: StoredFile { file_type: FileType::Docx, ..builders::file(6, failed) },
        failure: Some(Failure::of(FailureCode::NoText)),
        at: builders::at(7),
    };
    let state =
        Failed { failure: Failure::because(FailureCode::PasswordRequired, "locked"), at: builders::at(4) };
    let document_of_none = Document {
        version: 3,
        version_id: builders::id(60),
        file: Some(builders::file(5, builders::id(60))),
        replacement: Some(replacement),
        state: DocumentState::Failed(state),
        ..builders::document(50)
    };
    work.documents().insert(&document_of_none).await.unwrap();
    let questions: Vec<_> =
        (1..=70).map(|n| builders::question(n, builders::conversation(1, user.id).id)).collect();
    let answer = MessageRole::Agent {
        name: AgentName::parse("chat").unwrap(),
        sources: vec![source()],
        tokens: TokenUsage { prompt: 7, completion: 3 },
        is_complete: false,
        is_declined: true,
        best_score: Some(0.25),
        fallback: Some(FallbackCause::Timeout),
        feedback: Some(Feedback {
            rating: Rating::Down { reason: Some(FeedbackReason::Outdated) },
            comment: Some(FeedbackComment::parse("See the new manual.").unwrap()),
            at: builders::at(6),
        }),
    };
    let answer = ConversationMessage {
        role: answer,
        replaced_at: Some(builders::at(9)),
        ..builders::question(71, questions[0].conversation)
    };
    work.conversations().append(&[questions, vec![answer]].concat()).await.unwrap();
    work.sessions().insert(&builders::session(1, user.id)).await.unwrap();
    work.verifications()
        .insert(&builders::verification(1, user.id, VerificationPurpose::ResetPassword))
        .await
        .unwrap();
    work.commit().await.unwrap();
    user
}

/// Adds a value of every kind to an ingested document.
async fn document_with_all_records(work: &mut dyn UnitOfWork, id: DocumentId, collection: CollectionId) {
    let document = work.documents().get(id).await.unwrap().unwrap();
    let DocumentState::Ingested(Ingested { at: ingested_at, .. }) = document.state else { panic!() };
    let covered = |page, confidence| RecognizedPageCoverage { page, confidence };
    let recognition = RecognitionCoverage {
        recognizer: "tesseract 5 deu".to_owned(),
        pages: vec![covered(1, 93)],
        picture_pages: vec![covered(2, 71)],
        failed_pages: vec![(3, RecognitionFailure::Timeout)],
    };
    let chunks = document.coverage.as_ref().unwrap().chunks;
    let coverage = Coverage {
        chunks,
        recognition: Some(recognition),
        page_labels: vec!["Slide 1".to_owned()].into(),
        described_pages: vec![1],
        undescribed_pages: vec![3],
        lacking_result_pages: vec![2],
        ..builders::coverage()
    };
    let attribute = |key: &str, value| (AttributeKey::parse(key).unwrap(), value);
    let attributes = Attributes::new(BTreeMap::from([
        attribute("team", AttributeValue::string("pumps").unwrap()),
        attribute("year", AttributeValue::number(2026.5).unwrap()),
        attribute("is_final", AttributeValue::Boolean(true)),
    ]));
    let document = Document {
        collections: [CollectionId::EVERYONE, collection].into(),
        attributes: attributes.unwrap(),
        coverage: Some(coverage),
        ..document
    };
    assert!(work.documents().update(&document).await.unwrap());
    let place = Place { page: 1, chunk: 0 };
    let summary = DocumentSummary {
        version: document.version_id,
        ingested_at,
        created_at: builders::at(12),
        description: Some(Description { text: "On pumps.".to_owned(), place: Some(place) }),
        points: vec![KeyPoint { text: "They pump.".to_owned(), place }],
        headings: vec![Heading { title: "Pumps".to_owned(), page: None }],
        years: vec![2026],
        questions: vec![SuggestedQuestion { text: "What do they do?".to_owned(), page: 1 }],
        model: None,
        fallback: Some(Fallback::ModelTimeout),
    };
    work.documents().set_summary(id, Some(&summary)).await.unwrap();
    work.documents().set_purpose(id, FilePurpose::UserData).await.unwrap();
    let external = |text| ExternalId::parse(text).unwrap();
    let file = ExternalFile { document: id, id: external("file-1"), entity: Some(external("entity-1")) };
    work.documents().set_external_file(&file).await.unwrap();
}

fn source() -> ScoredChunk {
    ScoredChunk {
        headings: String::new(),
        id: ChunkId::of(builders::id(1), 4),
        document_id: builders::id(1),
        version: 1,
        title: "Résumé".to_owned(),
        text: "words\nand more".to_owned(),
        span: Span { start: Position { page: 3, offset: 7 }, end: Position { page: 4, offset: 9 } },
        pages: vec![PageStart { page: 3, at: 0 }, PageStart { page: 4, at: 6 }],
        score: 0.375,
        recognized: true,
        label: Some("Slide 3".to_owned()),
    }
}
