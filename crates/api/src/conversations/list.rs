//! `GET /conversations`

use super::response::ConversationResponse;
use crate::answers;
use crate::paging;
use crate::selection::CollectionRef;
use docent_app::conversations::own::{self, ListedConversation, OwnFilter};
use docent_domain::access::Chat;
use docent_domain::listing::ConversationPosition;
use docent_http::{Query, Reply, Scoped, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum number of characters of the parameter `q`.
const TEXT_MAX: usize = 200;

/// A conversation with its number of messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConversationEntry<'a> {
    /// ID of the conversation.
    #[schema(format = "uuid")]
    id: String,
    /// Title.
    #[schema(min_length = 1, max_length = 200)]
    title: &'a str,
    /// Whether the account has pinned it.
    pinned: bool,
    /// Collections whose readers can read it, as far as the account can read them or owns the conversation.
    #[schema(value_type = Vec<CollectionRef>)]
    shared_with: Vec<String>,
    /// Email address of the owner if another account shares it; `null` for an own conversation.
    #[schema(required)]
    shared_by: Option<&'a str>,
    /// Name that the owner chose, if another account shares it and has one.
    #[schema(required)]
    shared_by_name: Option<&'a str>,
    /// Creation time.
    #[schema(format = "date-time")]
    created_at: String,
    /// Time of the last message or renaming.
    #[schema(format = "date-time")]
    updated_at: String,
    /// Number of messages.
    messages: u64,
}

impl<'a> From<&'a ListedConversation> for ConversationEntry<'a> {
    fn from(ListedConversation { conversation, messages, sharing }: &'a ListedConversation) -> Self {
        let ConversationResponse {
            id,
            title,
            pinned,
            shared_with,
            shared_by,
            shared_by_name,
            created_at,
            updated_at,
            ..
        } = ConversationResponse::of(conversation, sharing);
        Self {
            id,
            title,
            pinned,
            shared_with,
            shared_by,
            shared_by_name,
            created_at,
            updated_at,
            messages: *messages,
        }
    }
}

/// List conversations (extension)
///
/// Returns the conversations of the account, last changed first. The headers `Link` and `X-Next-Cursor` name the next page, if there
/// is one. Empty parameters are ignored.
#[utoipa::path(
    get, path = "/conversations", operation_id = "list_conversations", tag = "Conversations",
    params(
        paging::Parameters,
        (
            "q" = Option<String>, Query, description = "Only conversations with this text in the title or in a message.",
            max_length = 200, nullable = false,
        ),
        (
            "pinned" = Option<String>, Query, description = "`true`: only pinned conversations; `false`: only others.",
            nullable = false, pattern = "^(true|false)?$", example = "true",
        ),
        (
            "shared" = Option<String>, Query, nullable = false, pattern = "^(true|false)?$", example = "false",
            description = "`true`: conversations that other accounts share with collections of the account, instead of its own. `q` \
                           does not find what is withheld from the account.",
        ),
    ),
    responses(
        (status = 200, description = "The conversations.", body = [ConversationEntry<'_>]),
        answers::InvalidParameters,
    ),
)]
pub(crate) async fn list(by: Scoped<Chat>, context: State, mut query: Query) -> Reply {
    let limit = paging::limit(&mut query).unwrap_or(paging::DEFAULT_LIMIT);
    let after = paging::after(&mut query, paging::position);
    let mut flag = |name| query.parse(name, "must be true or false", |text| text.parse::<bool>().ok());
    let (is_pinned, is_shared) = (flag("pinned"), flag("shared"));
    let is_short = |text: &str| text.chars().count() <= TEXT_MAX;
    let text =
        query.parse("q", "must have at most 200 characters", |text| is_short(text).then(|| text.to_owned()));
    query.done()?;
    let after = after.map(|(updated_at, id)| ConversationPosition { updated_at, id });
    let filter = OwnFilter { text: text.clone(), is_pinned, is_shared: is_shared == Some(true), after };
    // One more than requested shows whether there is another page.
    let mut found = own::list(&context.app, &by.grant, &by.scope, filter, limit + 1).await?;
    let next = paging::truncate(&mut found, limit, |ListedConversation { conversation: last, .. }| {
        paging::cursor(last.updated_at, last.id)
    });
    let body: Vec<_> = found.iter().map(ConversationEntry::from).collect();
    let [pinned, shared] = [is_pinned, is_shared].map(|flag| flag.map(|is_set| is_set.to_string()));
    let parameters = [("q", text.as_deref()), ("pinned", pinned.as_deref()), ("shared", shared.as_deref())];
    Ok(paging::response(body, "/conversations", &parameters, limit, next))
}
