//! A response of the service.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// A response with its complete body.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Status code.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub text: String,
}

impl Reply {
    pub(crate) async fn read(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, text: response.text().await.unwrap() }
    }

    /// Parses the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    /// Returns a header's value; empty when missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Checks the status and returns the response.
    #[must_use]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// Checks that this is an error with this status and a body of only this `detail`.
    pub fn refused(&self, status: u16, detail: &str) {
        assert_eq!((self.status, self.json()), (status, serde_json::json!({ "detail": detail })));
        assert_eq!(self.header("content-type"), "application/json");
    }

    /// Checks that this is a 422 with errors at these locations, such as `["body.title"]`.
    pub fn invalid(&self, places: &[&str]) {
        assert_eq!(self.status, 422, "{}", self.text);
        let body = self.json();
        assert!(body["detail"].is_string(), "{body}");
        let errors = body["errors"].as_array().unwrap();
        let place = |error: &Value| {
            assert!(error["msg"].as_str().is_some_and(|msg| !msg.is_empty()), "{error}");
            let steps = error["loc"].as_array().unwrap().iter();
            steps
                .map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned))
                .collect::<Vec<_>>()
                .join(".")
        };
        assert_eq!(errors.iter().map(place).collect::<Vec<_>>(), places);
    }

    /// Returns the text of an answer stream: its tokens, concatenated.
    pub fn answer(&self) -> String {
        self.tokens().concat()
    }

    /// Returns the tokens of an answer stream.
    pub fn tokens(&self) -> Vec<String> {
        self.events()
            .filter_map(|event| event.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    /// Returns the data of the stream's event of this name.
    pub fn event(&self, name: &str) -> Option<Value> {
        let prefix = format!("event: {name}\ndata: ");
        let data = self.events().find_map(|event| event.strip_prefix(prefix.as_str()))?;
        Some(serde_json::from_str(data).unwrap())
    }

    /// Returns the stream's events without their numbers.
    fn events(&self) -> impl Iterator<Item = &str> {
        let unnumbered = |event| match str::strip_prefix(event, "id: ") {
            Some(numbered) => numbered.split_once('\n').map_or("", |(_, event)| event),
            None => event,
        };
        self.text.split_terminator("\n\n").map(unnumbered)
    }
}
