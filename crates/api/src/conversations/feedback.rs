//! `PUT` and `DELETE /conversations/{id}/messages/{message}/feedback`

use crate::answers;
use crate::timestamp::rfc3339;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::conversations::own;
use docent_app::error::Error;
use docent_domain::access::Chat;
use docent_domain::feedback::{Feedback, FeedbackComment, FeedbackReason, Rating};
use docent_domain::id::{ConversationId, MessageId};
use docent_http::{Body, BodyErrors, Granted, PathId, Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Feedback on an answer.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "rating": "down", "reason": "incomplete", "comment": "The battery is missing." }))]
pub(crate) struct FeedbackBody {
    /// Whether the answer was good.
    rating: RatingName,
    /// What was wrong. Only with the rating `down`.
    #[deserr(default)]
    #[schema(value_type = Option<ReasonName>)]
    reason: Option<FeedbackReason>,
    /// Comment, trimmed.
    #[deserr(default)]
    #[schema(
        value_type = Option<String>,
        min_length = 1,
        max_length = 2000,
        pattern = r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F]*$"
    )]
    comment: Option<FeedbackComment>,
}

/// Whether an answer was good.
#[derive(Clone, Copy, Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase", as = FeedbackRating)]
pub(crate) enum RatingName {
    /// Thumbs up.
    Up,
    /// Thumbs down.
    Down,
}

/// What was wrong with an answer.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case", as = FeedbackReason)]
#[expect(dead_code, reason = "documents the names of the domain's reasons")]
pub(crate) enum ReasonName {
    /// The answer is wrong.
    Incorrect,
    /// Something is missing.
    Incomplete,
    /// The answer is about something else.
    OffTopic,
    /// The passages are not the right ones.
    WrongSources,
    /// The answer or its documents are out of date.
    Outdated,
    /// Something else.
    Other,
}

impl RatingName {
    const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// Feedback on an answer.
#[derive(Serialize, ToSchema)]
#[schema(as = Feedback, example = json!({
    "rating": "down",
    "reason": "incomplete",
    "comment": "The battery is missing.",
    "created_at": "2026-01-01T00:05:00.000000Z",
}))]
pub(crate) struct FeedbackResponse<'a> {
    /// Whether the answer was good.
    #[schema(value_type = RatingName)]
    rating: &'static str,
    /// What was wrong, if given.
    #[schema(value_type = Option<ReasonName>, required)]
    reason: Option<&'static str>,
    /// Comment, if given.
    #[schema(required, min_length = 1, max_length = 2000)]
    comment: Option<&'a str>,
    /// Time of the feedback.
    #[schema(format = "date-time")]
    created_at: String,
}

impl<'a> From<&'a Feedback> for FeedbackResponse<'a> {
    fn from(Feedback { rating, comment, at }: &'a Feedback) -> Self {
        Self {
            rating: rating.name(),
            reason: rating.reason().map(FeedbackReason::name),
            comment: comment.as_ref().map(FeedbackComment::as_str),
            created_at: rfc3339(*at),
        }
    }
}

/// Rate an answer (extension)
///
/// Replaces earlier feedback of the account on this answer. The ID of an answer is the header `X-Message-Id` of its stream, and in the
/// messages of its conversation.
#[utoipa::path(
    put, path = "/conversations/{id}/messages/{message}/feedback", operation_id = "put_feedback", tag = "Conversations",
    params(
        ("id" = String, Path, description = "ID of the conversation.", format = "uuid"),
        ("message" = String, Path, description = "ID of the answer.", format = "uuid"),
    ),
    request_body = FeedbackBody,
    responses(
        (status = 200, description = "The feedback.", body = FeedbackResponse<'_>),
        answers::UnknownAnswer, answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn put(
    by: Granted<Chat>,
    context: State,
    id: PathId<ConversationId>,
    message: PathId<MessageId>,
    body: Body,
) -> Reply {
    let (id, message) = (id.parse()?, message.parse()?);
    let FeedbackBody { rating, reason, comment } = body.read().await?;
    let rating = Rating::parse(rating.name(), reason).map_err(Error::from)?;
    let feedback = own::rate(&context.app, &by.grant, id, message, rating, comment).await?;
    Ok(HttpResponse::Ok().json(FeedbackResponse::from(&feedback)))
}

/// Withdraw feedback (extension)
///
/// Repeated requests have no effect.
#[utoipa::path(
    delete, path = "/conversations/{id}/messages/{message}/feedback", operation_id = "delete_feedback", tag = "Conversations",
    params(
        ("id" = String, Path, description = "ID of the conversation.", format = "uuid"),
        ("message" = String, Path, description = "ID of the answer.", format = "uuid"),
    ),
    responses((status = 204, description = "Removed, or there was none."), answers::UnknownAnswer, answers::StorageFull),
)]
pub(crate) async fn delete(
    by: Granted<Chat>,
    context: State,
    id: PathId<ConversationId>,
    message: PathId<MessageId>,
) -> Reply {
    own::withdraw_feedback(&context.app, &by.grant, id.parse()?, message.parse()?).await?;
    Ok(HttpResponse::NoContent().finish())
}
