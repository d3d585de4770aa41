//! Errors in the format of the OpenAI API.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::ServiceRequest;
use actix_web::http::StatusCode;
use actix_web::middleware::Next;
use docent_http::ApiError;
use docent_http::error::FieldError;
use docent_http::middleware::Answer;
use serde::Serialize;
use utoipa::ToSchema;

/// An error response of the OpenAI API.
#[derive(Serialize, ToSchema)]
pub(crate) struct OpenAiProblem {
    /// The error.
    error: OpenAiError,
}

/// An error.
#[derive(Serialize, ToSchema)]
pub(crate) struct OpenAiError {
    /// Sentence for people.
    message: String,
    /// Type of the error.
    r#type: ErrorType,
    /// Invalid field, such as `messages[0].role`.
    #[schema(required)]
    param: Option<String>,
    /// `invalid_api_key`, `insufficient_permissions`, `model_not_found`, `unsupported_model`, `unsupported_file`,
    /// `vector_store_expired`, `previous_response_not_found` or `rate_limit_exceeded`.
    #[schema(required)]
    code: Option<&'static str>,
}

/// Type of the error.
#[derive(Serialize, ToSchema)]
#[schema(as = OpenAiErrorType)]
pub(crate) enum ErrorType {
    /// The request is invalid.
    #[serde(rename = "invalid_request_error")]
    InvalidRequest,
    /// Too many requests.
    #[serde(rename = "rate_limit_error")]
    RateLimit,
    /// The service failed.
    #[serde(rename = "server_error")]
    Server,
}

/// Whether a path belongs to the OpenAI API.
pub(crate) fn is_openai_path(path: &str) -> bool {
    path.starts_with("/v1/")
}

/// Middleware: converts every error of a path below `/v1` to the format of the OpenAI API, including errors of other middleware.
pub async fn convert_errors(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let is_openai_path = is_openai_path(request.path());
    let answer = next.call(request).await.map(|response| response.map_into_boxed_body());
    if !is_openai_path {
        return answer;
    }
    match answer {
        Ok(response) => {
            let error = response.response().error().and_then(|error| error.as_error::<ApiError>());
            let Some((status, body)) = error.map(convert) else { return Ok(response) };
            Ok(response.map_body(|head, _| {
                head.status = status;
                BoxBody::new(body)
            }))
        }
        Err(mut error) => {
            if let Some((status, body)) = error.as_error::<ApiError>().map(convert) {
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

fn convert(error: &ApiError) -> (StatusCode, String) {
    // The OpenAI API uses 400 for validation errors and files of other types.
    let status = match error.status() {
        StatusCode::UNPROCESSABLE_ENTITY | StatusCode::UNSUPPORTED_MEDIA_TYPE => StatusCode::BAD_REQUEST,
        status => status,
    };
    let body = serde_json::to_string(&of(error));
    (status, body.unwrap_or_else(|_| "{}".to_owned()))
}

/// Builds the body of an error.
pub(crate) fn of(error: &ApiError) -> OpenAiProblem {
    let param = error.errors().first().map(FieldError::place);
    let message = error.sentences();
    let status = error.status();
    let kind = match status {
        StatusCode::TOO_MANY_REQUESTS => ErrorType::RateLimit,
        status if status.is_server_error() => ErrorType::Server,
        _ => ErrorType::InvalidRequest,
    };
    let code = error.code().or(match status {
        StatusCode::UNAUTHORIZED => Some("invalid_api_key"),
        StatusCode::FORBIDDEN => Some("insufficient_permissions"),
        StatusCode::TOO_MANY_REQUESTS => Some("rate_limit_exceeded"),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Some("unsupported_file"),
        _ => None,
    });
    OpenAiProblem { error: OpenAiError { message, r#type: kind, param, code } }
}

/// 404: unknown model.
pub(crate) fn no_such_model(name: &str) -> ApiError {
    // The name comes from the client and can have any length.
    let name: String = name.chars().take(100).collect();
    ApiError::new(StatusCode::NOT_FOUND, format!("The model `{name}` does not exist"))
        .with_code("model_not_found")
}

/// 400: the embedding model makes no vectors.
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
    fn error_has_message_type_param_and_code() {
        let loc = vec!["body".into(), "messages".into(), Loc::Index(2), "role".into()];
        let wrong = FieldError { loc, msg: "is required".to_owned() };
        let (status, body) = convert(&ApiError::invalid(vec![wrong]));
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
            let error = ApiError::new(StatusCode::from_u16(status).unwrap(), "No");
            let expected = json!({ "message": "No", "type": kind, "param": null, "code": code });
            assert_eq!(json!(of(&error)), json!({ "error": expected }));
        }
    }
}
