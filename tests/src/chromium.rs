//! A window of a real browser, driven by way of ChromeDriver.

use crate::{
    app::{PASSWORD, TestApp},
    wait,
};
use fantoccini::{
    Client, ClientBuilder, Locator, elements::Element, error::CmdError, wd::WebDriverCompatibleCommand,
};
use hyper_util::client::legacy::connect::HttpConnector;
use reqwest::{Method, Url};
use serde_json::{Value, json};
use std::path::Path;

/// Where ChromeDriver listens: `http://127.0.0.1:9515`.
const DRIVER: &str = "DOCENT_TEST_CHROMEDRIVER_URL";

/// What the environment says.
///
/// # Panics
/// When it says nothing, since a test that is left out shows nothing.
pub fn setting(variable: &str) -> String {
    optional_setting(variable).unwrap_or_else(|| panic!("{variable} must be set; see tests/README.md"))
}

/// What the environment says, if anything.
pub fn optional_setting(variable: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "tests have no other settings than what they run on")]
    std::env::var(variable).ok()
}

/// The panel's cookie.
const COOKIE: &str = "docent_admin";

/// What Chromium is started with. It runs as root where the tests do, has little shared memory in containers, and is
/// to reach nothing but the service.
const ARGUMENTS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--window-size=1440,900",
];

/// A window with a profile of its own.
#[derive(Debug)]
pub struct Chromium {
    client: Client,
    root: String,
}

/// A command of ChromeDriver's own.
#[derive(Debug)]
struct Own {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, <Url as std::str::FromStr>::Err> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

impl Chromium {
    /// Opens a window that shows nothing yet.
    ///
    /// # Panics
    /// When the environment names no ChromeDriver, or none answers there.
    pub async fn open(app: &TestApp) -> Self {
        let driver = setting(DRIVER);
        let mut wanted = serde_json::Map::new();
        wanted.insert("goog:chromeOptions".to_owned(), json!({ "args": ARGUMENTS }));
        wanted.insert("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL" }));
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let client = builder.capabilities(wanted).connect(&driver).await;
        let client = client.unwrap_or_else(|error| panic!("no window of Chromium from {driver}: {error}"));
        Self { client, root: format!("http://{}", app.address) }
    }

    /// Closes the window.
    pub async fn close(self) {
        self.client.close().await.unwrap();
    }

    /// Opens a page of the service.
    pub async fn goto(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.root)).await.unwrap();
    }

    /// Path and query of the page that is shown.
    pub async fn path(&self) -> String {
        let url = self.client.current_url().await.unwrap();
        url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
    }

    /// The address of the page that is shown.
    pub async fn url(&self) -> String {
        self.client.current_url().await.unwrap().to_string()
    }

    /// Gives the page another size.
    pub async fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Waits until a page is shown whose path begins like this.
    pub async fn arrive(&self, path: &str) {
        wait::until(&format!("arriving at {path}"), async || self.path().await.starts_with(path)).await;
    }

    /// Waits for an element that can be seen.
    pub async fn find(&self, css: &str) -> Element {
        self.located(Locator::Css(css)).await
    }

    /// Clicks what a selector names, once it can be seen.
    pub async fn click(&self, css: &str) {
        self.click_on(Locator::Css(css)).await;
    }

    /// Clicks a button, link, label or summary by what it says.
    pub async fn press(&self, label: &str) {
        let said = "self::a or self::button or self::label or self::summary";
        let xpath = format!("//*[{said}][normalize-space()='{label}']");
        self.click_on(Locator::XPath(&xpath)).await;
    }

    /// Types into the field with this id, in place of what it held.
    pub async fn fill(&self, id: &str, text: &str) {
        let field = self.find(&format!("[id='{id}']")).await;
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
    }

    /// Chooses files in a field.
    pub async fn choose(&self, css: &str, files: &[&Path]) {
        let paths: Vec<_> = files.iter().map(|path| path.to_str().unwrap()).collect();
        self.client.find(Locator::Css(css)).await.unwrap().send_keys(&paths.join("\n")).await.unwrap();
    }

    /// The text of the page, as it can be read.
    pub async fn text(&self) -> String {
        self.text_of("body").await.unwrap_or_default()
    }

    /// The page's title.
    pub async fn title(&self) -> String {
        self.client.title().await.unwrap()
    }

    /// The texts of the elements that a selector names.
    pub async fn texts(&self, css: &str) -> Vec<String> {
        let mut texts = None;
        // An element may be replaced while it is read.
        wait::until("the texts hold still", async || {
            let elements = self.client.find_all(Locator::Css(css)).await.unwrap();
            let read = elements.iter().map(|element| element.text());
            texts = futures::future::try_join_all(read).await.ok();
            texts.is_some()
        })
        .await;
        texts.unwrap()
    }

    /// Whether there is something that a selector names.
    pub async fn has(&self, css: &str) -> bool {
        !self.client.find_all(Locator::Css(css)).await.unwrap().is_empty()
    }

    /// Waits until the page says this.
    pub async fn see(&self, text: &str) {
        if !wait::comes_true(async || self.text().await.contains(text)).await {
            panic!("{} does not say {text:?} but:\n{}", self.path().await, self.text().await);
        }
    }

    /// Runs the body of a function in the page, and gives what it returns.
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute(script, arguments).await.unwrap()
    }

    /// The same for one that calls its last argument when it is done.
    pub async fn run_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute_async(script, arguments).await.unwrap()
    }

    /// Calls a method of the DevTools protocol.
    pub async fn devtools(&self, method: &str, parameters: Value) -> Value {
        self.own("goog/cdp/execute", json!({ "cmd": method, "params": parameters })).await
    }

    /// What the page has complained of since this was last asked: errors of scripts, refusals of the content security
    /// policy, answers that are errors.
    pub async fn complaints(&self) -> Vec<String> {
        let entries = self.own("se/log", json!({ "type": "browser" })).await;
        let entries = entries.as_array().unwrap().iter();
        let loud = entries.filter(|entry| ["SEVERE", "WARNING"].contains(&entry["level"].as_str().unwrap()));
        loud.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }

    /// What the window shows, as a PNG file.
    pub async fn picture(&self) -> Vec<u8> {
        self.client.screenshot().await.unwrap()
    }

    /// The panel's cookie, if there is one.
    pub async fn cookie(&self) -> Option<String> {
        let urls = json!({ "urls": [format!("{}/admin", self.root)] });
        let cookies = self.devtools("Network.getCookies", urls).await;
        let cookies = cookies["cookies"].as_array().unwrap();
        let own = cookies.iter().find(|cookie| cookie["name"] == COOKIE)?;
        Some(own["value"].as_str().unwrap().to_owned())
    }

    /// Puts this in the place of the panel's cookie.
    pub async fn set_cookie(&self, value: &str) {
        let cookie = json!({
            "name": COOKIE, "value": value, "url": format!("{}/admin", self.root), "path": "/admin", "httpOnly": true,
        });
        self.devtools("Network.setCookie", cookie).await;
    }

    /// Logs in by the form.
    pub async fn login(&self, email: &str) {
        self.goto("/admin/login").await;
        self.submit_login(email, PASSWORD).await;
        self.see("Dashboard").await;
    }

    /// Fills in the login form that is shown and sends it.
    pub async fn submit_login(&self, email: &str, password: &str) {
        self.fill("email", email).await;
        self.fill("password", password).await;
        self.press("Sign in").await;
    }

    async fn own(&self, path: &'static str, body: Value) -> Value {
        self.client.issue_cmd(Own { path, body }).await.unwrap()
    }

    async fn text_of(&self, css: &str) -> Result<String, CmdError> {
        self.client.find(Locator::Css(css)).await?.text().await
    }

    async fn located(&self, place: Locator<'_>) -> Element {
        let mut found = None;
        wait::until(&format!("{place:?} can be seen"), async || {
            found = self.visible(place).await;
            found.is_some()
        })
        .await;
        found.unwrap()
    }

    async fn visible(&self, place: Locator<'_>) -> Option<Element> {
        for element in self.client.find_all(place).await.ok()? {
            if element.is_displayed().await.ok()? {
                return Some(element);
            }
        }
        None
    }

    /// The page may change between the finding and the click, so both are tried until they go together.
    async fn click_on(&self, place: Locator<'_>) {
        wait::until(&format!("{place:?} can be clicked"), async || {
            let Some(element) = self.visible(place).await else { return false };
            element.click().await.is_ok()
        })
        .await;
    }
}
