//! `GET /admin/conversations`

use super::{
    documents::{Q_MAX, email},
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, Broken},
    session::Staff,
    times::Time,
};
use actix_web::{HttpResponse, http::StatusCode};
use docent_app::{accounts::users, conversations as use_case, listing};
use docent_domain::{
    access::ViewConversations,
    listing::{ConversationFilter, Page},
};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;

#[derive(Serialize)]
struct Row {
    id: String,
    title: String,
    owner: String,
    messages: u64,
    created: Time,
    updated: Time,
}

pub(super) async fn conversations(
    staff: Staff,
    context: State,
    query: Query,
) -> Result<HttpResponse, Broken> {
    let grant = staff.authorize::<ViewConversations>()?;
    let cut = |text: &str| text.chars().take(Q_MAX).collect::<String>();
    let (q, owner) = (query.text("q").map(cut), query.text("owner").map(cut));
    let number = PageNumber::of(&query);
    let app = &context.app;
    let account = match &owner {
        Some(email) => listing::owner(app, email).await?,
        None => None,
    };
    let found = if owner.is_some() && account.is_none() {
        Page::default()
    } else {
        let filter = ConversationFilter { owner: account, text: q.clone(), after: None };
        use_case::list(app, grant, &filter, number.page()).await?
    };
    let owners: Vec<_> = found.records.iter().map(|(conversation, _)| conversation.owner).collect();
    let (emails, now) = (users::emails(app, &owners).await?, app.now());
    let rows = found.records.iter().map(|(conversation, messages)| Row {
        id: conversation.id.to_string(),
        title: conversation.title.as_str().to_owned(),
        owner: email(&emails, conversation.owner),
        messages: *messages,
        created: Time::of(conversation.created_at, now),
        updated: Time::of(conversation.updated_at, now),
    });
    let rows: Vec<Row> = rows.collect();

    let mut values = staff.page("conversations");
    let filters = [("q", q.as_deref()), ("owner", owner.as_deref())];
    let path = format!("{ROOT}/conversations");
    values.insert("paging", &Paging::of(number, rows.len(), found.total, &path, &filters));
    values.insert("conversations", &rows);
    values.insert("is_filtered", &(q.is_some() || owner.is_some()));
    values.insert("q", &q.unwrap_or_default());
    values.insert("owner", &owner.unwrap_or_default());
    page::show(&context, StatusCode::OK, "conversations.html", &values)
}
