//! `/oauth/authorize`: asks the account whether an application gets access, and returns to the application with the answer.

use super::page::{InAccount, show_and_redirect};
use crate::language::{collection_name, t};
use crate::signed_in::area::AUTHORIZE;
use crate::signed_in::field::{Choice, Choices, Picker, purpose};
use crate::signed_in::form::{FieldErrors, Form, OwnForm};
use crate::signed_in::key_form;
use crate::signed_in::page::{PageError, PageResult, requested_page, see_other};
use crate::signed_in::proof;
use crate::signed_in::session::SignedIn;
use crate::templates::pages;
use actix_web::http::StatusCode;
use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use docent_app::error::Error;
use docent_app::oauth::authorization::{
    self, Answer, AuthorizationError, AuthorizationParameters, AuthorizationRequest, Consent,
};
use docent_app::{collections, scope};
use docent_domain::access::{AddApiKeys, ReadDocuments};
use docent_domain::api_key::{ApiKeyScope, ApiKeyScopes};
use docent_domain::client_uri::{ClientId, RedirectTarget};
use docent_domain::connection::Resource;
use docent_domain::id::CollectionId;
use docent_domain::listing::AccountCollections;
use docent_http::extract::query::encode_query;
use docent_http::{ApiError, BaseUrl, State, routes};
use serde::Serialize;
use std::collections::BTreeSet;

/// Maximum number of collections that the form offers.
const CHOICES: u64 = 200;

routes! {
    below "/oauth/authorize":
    "" { GET => show, POST => submit }
}

pages! {
    InAccount<ConsentPage> => "account/authorize.html"
}

/// Adds the page to the server.
pub(crate) fn mount(config: &mut ServiceConfig) {
    config.service(
        web::scope(AUTHORIZE).wrap(from_fn(proof::ask)).configure(|config| configure(config, |_| true)),
    );
}

#[derive(Serialize)]
pub(super) struct ConsentPage {
    form_token: String,
    /// Target of the form: the same request.
    action: String,
    /// Name that the application gave itself.
    name: String,
    /// Host that the application was read from; none for one that registered itself.
    host: Option<String>,
    /// Where the browser returns to.
    target: String,
    /// Whether it is a program on a machine, which any program could pretend to be.
    is_local: bool,
    /// What the access is for.
    resource: String,
    /// Email address of the account.
    account: String,
    pickers: Vec<Picker>,
}

/// The choice of the account.
struct Chosen<'f> {
    scopes: Vec<&'f str>,
    collections: Vec<&'f str>,
}

pub(super) async fn show(
    signed_in: SignedIn,
    context: State,
    base: BaseUrl,
    request: HttpRequest,
) -> PageResult {
    let asked = match check(&context, &base, &request).await? {
        Ok(asked) => asked,
        Err(answer) => return Ok(return_to_application(&answer)),
    };
    // Allowing needs a recent proof of identity: it is asked for before the form is filled in.
    signed_in.authorize_own::<AddApiKeys>()?;
    // Applications begin with reading, unless the account gives more.
    let first = asked.scopes.iter().find(|scope| *scope == ApiKeyScope::Read).or(asked.scopes.iter().next());
    let scopes = first.map(ApiKeyScope::name).into_iter().collect();
    let chosen = Chosen { scopes, collections: Vec::new() };
    show_form(&signed_in, &context, &request, &asked, &chosen, &FieldErrors::default()).await
}

pub(super) async fn submit(
    signed_in: SignedIn,
    context: State,
    base: BaseUrl,
    request: HttpRequest,
    form: OwnForm,
) -> PageResult {
    let asked = match check(&context, &base, &request).await? {
        Ok(asked) => asked,
        Err(answer) => return Ok(return_to_application(&answer)),
    };
    if form.text("decision") != "allow" {
        return Ok(return_to_application(&authorization::deny(base.as_str(), asked)));
    }
    // The proof has become too old: the page asks for it. A form that is sent on could not leave the site.
    if let Err(PageError::Unproven) = signed_in.authorize_own::<AddApiKeys>() {
        return Ok(see_other(&requested_page(&request)));
    }
    let (chosen, mut errors) = (Chosen::of(&form), FieldErrors::default());
    if let Some(consent) = chosen.consent(&mut errors) {
        match authorization::allow(&context.app, base.as_str(), &signed_in.actor, asked.clone(), consent)
            .await
        {
            Ok(answer) => return Ok(return_to_application(&answer)),
            Err(error) => errors.add_from(error)?,
        }
    }
    show_form(&signed_in, &context, &request, &asked, &chosen, &errors).await
}

impl<'f> Chosen<'f> {
    fn of(form: &'f Form) -> Self {
        Self { scopes: form.all("scopes").collect(), collections: form.all("collections").collect() }
    }

    fn consent(&self, errors: &mut FieldErrors) -> Option<Consent> {
        let scopes = errors.take("scopes", ApiKeyScopes::parse(self.scopes.iter().copied()));
        let collections = errors.take("collections", key_form::collections(&self.collections));
        Some(Consent { scopes: scopes?, collections: collections? })
    }
}

/// The request of the URL, or the answer with its error. Errors that must not be sent to the redirect URI are pages.
async fn check(
    context: &State,
    base: &BaseUrl,
    request: &HttpRequest,
) -> Result<Result<AuthorizationRequest, Answer>, PageError> {
    if !context.app.settings().accepts_oauth {
        return Err(ApiError::new(StatusCode::NOT_FOUND, t!("page-not-found")).into());
    }
    let bad = |text: String| PageError::from(ApiError::new(StatusCode::BAD_REQUEST, text));
    let pairs = web::Query::<Vec<(String, String)>>::from_query(request.query_string());
    let pairs = pairs.map_err(|_| bad(t!("authorize-invalid")))?.into_inner();
    match authorization::check(&context.app, base.as_str(), parameters(&pairs)).await {
        Ok(asked) => Ok(Ok(asked)),
        Err(AuthorizationError::Answered(answer)) => Ok(Err(answer)),
        Err(AuthorizationError::UnknownClient) => Err(bad(t!("authorize-unknown-client"))),
        Err(AuthorizationError::ClientDocument(reason)) => {
            Err(bad(t!("authorize-client-document", reason = reason)))
        }
        Err(AuthorizationError::RedirectUri) => Err(bad(t!("authorize-redirect-uri"))),
        Err(AuthorizationError::Failed(error)) => Err(error.into()),
    }
}

fn parameters(pairs: &[(String, String)]) -> AuthorizationParameters<'_> {
    let value = |name: &str| {
        let found = pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        found.filter(|value| !value.is_empty())
    };
    let names: BTreeSet<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    AuthorizationParameters {
        client_id: value("client_id"),
        redirect_uri: value("redirect_uri"),
        response_type: value("response_type"),
        scope: value("scope"),
        state: value("state"),
        code_challenge: value("code_challenge"),
        code_challenge_method: value("code_challenge_method"),
        resource: value("resource"),
        has_repeated: names.len() < pairs.len(),
        has_request_object: names.contains("request") || names.contains("request_uri"),
    }
}

/// Sends the browser back to the application.
fn return_to_application(answer: &Answer) -> HttpResponse {
    let parameters: Vec<_> =
        answer.parameters.iter().map(|(name, value)| (*name, Some(value.as_str()))).collect();
    let uri = answer.redirect_uri.as_str();
    let separator = if uri.contains('?') { '&' } else { '?' };
    see_other(&format!("{uri}{separator}{}", encode_query(&parameters)))
}

async fn show_form(
    signed_in: &SignedIn,
    context: &State,
    request: &HttpRequest,
    asked: &AuthorizationRequest,
    chosen: &Chosen<'_>,
    errors: &FieldErrors,
) -> PageResult {
    let choices = collections(signed_in, context).await?;
    let mut pickers = vec![scopes(asked.scopes, &chosen.scopes)];
    if !choices.is_empty() {
        pickers.push(Picker {
            help: t!("authorize-collections-help"),
            ..Picker::collections(&choices, &chosen.collections)
        });
    }
    for picker in &mut pickers {
        picker.error = errors.of(picker.name).map(str::to_owned);
    }
    let target = asked.redirect_uri.target();
    let page = ConsentPage {
        form_token: signed_in.form_token.clone(),
        action: requested_page(request),
        name: asked.client.name.as_str().to_owned(),
        host: match &asked.client.id {
            ClientId::Document(url) => Some(url.host().to_owned()),
            ClientId::Registered(_) => None,
        },
        is_local: target == RedirectTarget::ThisMachine,
        target: match target {
            RedirectTarget::Site(host) => host,
            RedirectTarget::ThisMachine => t!("authorize-this-machine"),
            RedirectTarget::App(scheme) => t!("authorize-app", scheme = scheme),
        },
        resource: match asked.resource {
            Resource::Mcp => t!("authorize-mcp"),
            Resource::Api => t!("authorize-api"),
        },
        account: signed_in.email.as_str().to_owned(),
        pickers,
    };
    let title = t!("authorize-title", name = asked.client.name.as_str());
    Ok(show_and_redirect(context, errors.status(), title, page)?)
}

/// Collections that the account can read, with their names.
async fn collections(
    signed_in: &SignedIn,
    context: &State,
) -> Result<Vec<(CollectionId, String)>, PageError> {
    let (app, actor) = (&context.app, &signed_in.actor);
    let grant = actor.authorize::<ReadDocuments>().map_err(Error::from)?;
    let (user, scope) = (actor.user(), scope::load(app, actor).await?);
    let choices = AccountCollections { user, scope, name_contains: None, after: None, limit: CHOICES };
    let found = collections::list(app, grant, &choices).await?;
    let found = found.iter().map(|listed| &listed.collection);
    Ok(found.map(|of| (of.id, collection_name(of.name.as_str()))).collect())
}

/// The scopes that the application asks for, each with what it allows.
fn scopes(asked: ApiKeyScopes, ticked: &[&str]) -> Picker {
    let option = |scope: ApiKeyScope| Choice {
        value: scope.name().to_owned(),
        label: purpose(scope),
        purpose: String::new(),
        is_ticked: ticked.contains(&scope.name()),
        is_disabled: false,
    };
    let kinds = vec![Choices { title: String::new(), options: asked.iter().map(option).collect() }];
    Picker {
        name: "scopes",
        label: t!("authorize-scopes"),
        help: String::new(),
        base: String::new(),
        empty: String::new(),
        has_panes: false,
        kinds,
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ConsentPage {
        fn samples() -> Vec<Self> {
            let page = |host: Option<&str>, is_local| Self {
                form_token: "0f".to_owned(),
                action: "/oauth/authorize?client_id=1".to_owned(),
                name: "Reader".to_owned(),
                host: host.map(str::to_owned),
                target: "example.org".to_owned(),
                is_local,
                resource: "documents".to_owned(),
                account: "a@example.com".to_owned(),
                pickers: vec![scopes(ApiKeyScopes::all(), &["read"])],
            };
            vec![page(Some("example.org"), false), page(None, true)]
        }
    }
}
