//! Refusals as that API words them.

use actix_web::{
    body::{BoxBody, MessageBody},
    dev::ServiceRequest,
    http::StatusCode,
    middleware::Next,
};
use docent_http::{
    error::{ApiError, FieldError},
    middleware::Answer,
};
use serde::Serialize;
use utoipa::ToSchema;

/// Why the answer is no, as that API says it.
#[derive(Serialize, ToSchema)]
pub(crate) struct OpenAiProblem {
    /// The reason.
    error: OpenAiError,
}

/// Why the answer is no.
#[derive(Serialize, ToSchema)]
pub(crate) struct OpenAiError {
    /// One sentence for people.
    message: String,
    /// Whose fault it is.
    r#type: ErrorType,
    /// The field that is wrong, such as `messages[0].role`.
    #[schema(required)]
    param: Option<String>,
    /// `invalid_api_key`, `insufficient_permissions`, `model_not_found`, `unsupported_model` or `rate_limit_exceeded`.
    #[schema(required)]
    code: Option<&'static str>,
}

/// Whose fault it is.
#[derive(Serialize, ToSchema)]
#[schema(as = OpenAiErrorType)]
pub(crate) enum ErrorType {
    /// The request's.
    #[serde(rename = "invalid_request_error")]
    InvalidRequest,
    /// There were too many.
    #[serde(rename = "rate_limit_error")]
    RateLimit,
    /// The service's.
    #[serde(rename = "server_error")]
    Server,
}

/// Whether a path speaks this dialect.
pub(crate) fn is_spoken(path: &str) -> bool {
    path.starts_with("/v1/")
}

/// Words every refusal of a path below `/v1` as that API does, whoever refuses.
pub async fn word(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let is_spoken = is_spoken(request.path());
    let answer = next.call(request).await.map(|response| response.map_into_boxed_body());
    if !is_spoken {
        return answer;
    }
    match answer {
        Ok(response) => {
            let refusal = response.response().error().and_then(|error| error.as_error::<ApiError>());
            let Some((status, body)) = refusal.map(worded) else { return Ok(response) };
            Ok(response.map_body(|head, _| {
                head.status = status;
                BoxBody::new(body)
            }))
        }
        Err(mut error) => {
            if let Some((status, body)) = error.as_error::<ApiError>().map(worded) {
                error.add_response_mapper(move |response| {
                    response.map_body(|head, _| {
                        head.status = status;
                        BoxBody::new(body.clone())
                    })
                });
            }
            Err(error)
        }
    }
}

fn worded(refusal: &ApiError) -> (StatusCode, String) {
    // That API has 400 for what breaks its rules.
    let status = match refusal.status() {
        StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
        status => status,
    };
    let body = serde_json::to_string(&of(refusal));
    (status, body.unwrap_or_else(|_| "{}".to_owned()))
}

/// The body of a refusal.
pub(crate) fn of(refusal: &ApiError) -> OpenAiProblem {
    let param = refusal.errors().first().map(FieldError::place);
    let message = refusal.sentences();
    let status = refusal.status();
    let kind = match status {
        StatusCode::TOO_MANY_REQUESTS => ErrorType::RateLimit,
        status if status.is_server_error() => ErrorType::Server,
        _ => ErrorType::InvalidRequest,
    };
    let code = refusal.code().or(match status {
        StatusCode::UNAUTHORIZED => Some("invalid_api_key"),
        StatusCode::FORBIDDEN => Some("insufficient_permissions"),
        StatusCode::TOO_MANY_REQUESTS => Some("rate_limit_exceeded"),
        _ => None,
    });
    OpenAiProblem { error: OpenAiError { message, r#type: kind, param, code } }
}

/// 404: nothing answers by this name.
pub(crate) fn no_such_model(name: &str) -> ApiError {
    // A name may be anything that somebody sends.
    let name: String = name.chars().take(100).collect();
    ApiError::new(StatusCode::NOT_FOUND, format!("The model `{name}` does not exist"))
        .with_code("model_not_found")
}

/// 400: there are no vectors to give.
pub(crate) fn no_vectors() -> ApiError {
    let detail = "The embedding model of this service makes no vectors; it finds passages by their words";
    ApiError::new(StatusCode::BAD_REQUEST, detail).with_code("unsupported_model")
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_http::error::Loc;
    use serde_json::{Value, json};

    #[test]
    fn a_refusal_has_message_type_param_and_code() {
        let loc = vec!["body".into(), "messages".into(), Loc::Index(2), "role".into()];
        let wrong = FieldError { loc, msg: "is required".to_owned() };
        let (status, body) = worded(&ApiError::invalid(vec![wrong]));
        let expected = json!({ "error": {
            "message": "messages[2].role: is required", "type": "invalid_request_error",
            "param": "messages[2].role", "code": null,
        } });
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status.as_u16(), body), (400, expected));
        for (status, kind, code) in [
            (401, "invalid_request_error", json!("invalid_api_key")),
            (403, "invalid_request_error", json!("insufficient_permissions")),
            (404, "invalid_request_error", json!(null)),
            (429, "rate_limit_error", json!("rate_limit_exceeded")),
            (502, "server_error", json!(null)),
        ] {
            let refusal = ApiError::new(StatusCode::from_u16(status).unwrap(), "No");
            let error = json!({ "message": "No", "type": kind, "param": null, "code": code });
            assert_eq!(json!(of(&refusal)), json!({ "error": error }));
        }
    }
}
