//! A Chromium window, driven through ChromeDriver.

use crate::app::{PASSWORD, TestApp};
use crate::wait;
use fantoccini::elements::Element;
use fantoccini::error::CmdError;
use fantoccini::wd::{WebDriverCompatibleCommand, WindowHandle};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use reqwest::{Method, Url};
use serde_json::{Value, json};
use std::path::Path;

/// ChromeDriver's address, such as `http://127.0.0.1:9515`.
const DRIVER: &str = "DOCENT_TEST_CHROMEDRIVER_URL";

/// Returns an environment variable.
///
/// # Panics
/// When the variable is not set: a skipped test would look like a passed one.
pub fn setting(variable: &str) -> String {
    optional_setting(variable).unwrap_or_else(|| panic!("{variable} must be set; see tests/README.md"))
}

/// Returns an environment variable, if it is set.
pub fn optional_setting(variable: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the environment is the only configuration of tests")]
    std::env::var(variable).ok()
}

/// Name of the session cookie.
const COOKIE: &str = "docent_session";

/// Chromium's arguments. It may run as root, has little shared memory in containers, and must reach only the service.
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

/// A window with its own profile.
#[derive(Debug)]
pub struct Chromium {
    client: Client,
    root: String,
}

/// A command of ChromeDriver that WebDriver does not define.
#[derive(Debug)]
struct ChromeDriverCommand {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for ChromeDriverCommand {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, <Url as std::str::FromStr>::Err> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

impl Chromium {
    /// Opens an empty window.
    ///
    /// # Panics
    /// When no ChromeDriver is configured or it does not respond.
    pub async fn open(app: &TestApp) -> Self {
        Self::open_at(format!("http://{}", app.address)).await
    }

    /// Opens an empty window for the service at this URL, whose certificate can be of any issuer.
    ///
    /// # Panics
    /// When no ChromeDriver is configured or it does not respond.
    pub async fn open_at(root: String) -> Self {
        let driver = setting(DRIVER);
        let mut capabilities = serde_json::Map::new();
        capabilities.insert("goog:chromeOptions".to_owned(), json!({ "args": ARGUMENTS }));
        capabilities.insert("acceptInsecureCerts".to_owned(), json!(true));
        capabilities.insert("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL" }));
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let builder = builder.capabilities(capabilities);
        let client = match builder.connect(&driver).await {
            Ok(client) => Ok(client),
            // On a busy machine Chromium sometimes ends before its window is open.
            Err(_) => builder.connect(&driver).await,
        };
        let client = client.unwrap_or_else(|error| panic!("no window of Chromium from {driver}: {error}"));
        Self { client, root }
    }

    /// Closes the window.
    pub async fn close(self) {
        self.client.close().await.unwrap();
    }

    /// Opens a page of the service.
    pub async fn goto(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.root)).await.unwrap();
    }

    /// Returns path and query of the current page.
    pub async fn path(&self) -> String {
        let url = self.client.current_url().await.unwrap();
        url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
    }

    /// Returns the address of the current page.
    pub async fn url(&self) -> String {
        self.client.current_url().await.unwrap().to_string()
    }

    /// Opens another tab of the window and switches to it. Returns the handles of the tab before and of the new one.
    pub async fn open_tab(&self) -> [WindowHandle; 2] {
        let before = self.client.window().await.unwrap();
        let tab = self.client.new_window(true).await.unwrap().handle;
        self.client.switch_to_window(tab.clone()).await.unwrap();
        [before, tab]
    }

    /// Switches to a tab.
    pub async fn switch_to(&self, tab: &WindowHandle) {
        self.client.switch_to_window(tab.clone()).await.unwrap();
    }

    /// Resizes the page.
    pub async fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Waits for a page whose path starts with this.
    pub async fn arrive(&self, path: &str) {
        wait::until(&format!("arriving at {path}"), async || self.path().await.starts_with(path)).await;
    }

    /// Waits for a visible element.
    pub async fn find(&self, css: &str) -> Element {
        self.located(Locator::Css(css)).await
    }

    /// Waits for a visible element and clicks it.
    pub async fn click(&self, css: &str) {
        self.click_on(Locator::Css(css)).await;
    }

    /// Clicks a button, link, label or summary by its text.
    pub async fn press(&self, label: &str) {
        let clickable = "self::a or self::button or self::label or self::summary";
        let xpath = format!("//*[{clickable}][normalize-space()='{label}']");
        self.click_on(Locator::XPath(&xpath)).await;
    }

    /// Replaces the text of the field with this ID.
    pub async fn fill(&self, id: &str, text: &str) {
        let field = self.find(&format!("[id='{id}']")).await;
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
    }

    /// Types into the element with the focus.
    pub async fn keys(&self, keys: &str) {
        self.client.active_element().await.unwrap().send_keys(keys).await.unwrap();
    }

    /// Chooses files in a file field.
    pub async fn choose(&self, css: &str, files: &[&Path]) {
        let paths: Vec<_> = files.iter().map(|path| path.to_str().unwrap()).collect();
        self.client.find(Locator::Css(css)).await.unwrap().send_keys(&paths.join("\n")).await.unwrap();
    }

    /// Returns the visible text of the page.
    pub async fn text(&self) -> String {
        self.text_of("body").await.unwrap_or_default()
    }

    /// Returns the page's title.
    pub async fn title(&self) -> String {
        self.client.title().await.unwrap()
    }

    /// Returns the texts of the elements that match a selector.
    pub async fn texts(&self, css: &str) -> Vec<String> {
        let mut texts = None;
        // Retried, since an element may be replaced while it is read.
        wait::until("the texts can be read", async || {
            let elements = self.client.find_all(Locator::Css(css)).await.unwrap();
            let read = elements.iter().map(|element| element.text());
            texts = futures::future::try_join_all(read).await.ok();
            texts.is_some()
        })
        .await;
        texts.unwrap()
    }

    /// Whether an element matches a selector.
    pub async fn has(&self, css: &str) -> bool {
        !self.client.find_all(Locator::Css(css)).await.unwrap().is_empty()
    }

    /// Waits until the page contains this text.
    pub async fn see(&self, text: &str) {
        if !wait::comes_true(async || self.text().await.contains(text)).await {
            panic!("{} does not contain {text:?}:\n{}", self.path().await, self.text().await);
        }
    }

    /// Runs the body of a function in the page and returns its result.
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute(script, arguments).await.unwrap()
    }

    /// Runs the body of an asynchronous function, which passes its result to its last argument.
    pub async fn run_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute_async(script, arguments).await.unwrap()
    }

    /// Calls a method of the DevTools protocol.
    pub async fn devtools(&self, method: &str, parameters: Value) -> Value {
        self.send_command("goog/cdp/execute", json!({ "cmd": method, "params": parameters })).await
    }

    /// Takes the connection of the page away, or gives it back.
    pub async fn connect(&self, is_connected: bool) {
        let network = json!({ "offline": !is_connected, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        self.devtools("Network.enable", json!({})).await;
        self.devtools("Network.emulateNetworkConditions", network).await;
    }

    /// Returns the console's errors and warnings since the last call: script errors, violations of the content security
    /// policy, failed requests.
    pub async fn console_errors(&self) -> Vec<String> {
        let entries = self.send_command("se/log", json!({ "type": "browser" })).await;
        let entries = entries.as_array().unwrap().iter();
        let loud = entries.filter(|entry| ["SEVERE", "WARNING"].contains(&entry["level"].as_str().unwrap()));
        loud.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns a screenshot of the window as PNG.
    pub async fn screenshot(&self) -> Vec<u8> {
        self.client.screenshot().await.unwrap()
    }

    /// Returns the panel's cookie, if set.
    pub async fn cookie(&self) -> Option<String> {
        let urls = json!({ "urls": [format!("{}/admin", self.root)] });
        let cookies = self.devtools("Network.getCookies", urls).await;
        let cookies = cookies["cookies"].as_array().unwrap();
        let panel = cookies.iter().find(|cookie| cookie["name"] == COOKIE)?;
        Some(panel["value"].as_str().unwrap().to_owned())
    }

    /// Sets the session cookie.
    pub async fn set_cookie(&self, value: &str) {
        let cookie = json!({
            "name": COOKIE, "value": value, "url": self.root, "path": "/", "httpOnly": true,
        });
        self.devtools("Network.setCookie", cookie).await;
    }

    /// Signs in to the panel with the form.
    pub async fn login(&self, email: &str) {
        self.goto("/admin/login").await;
        self.submit_login(email, PASSWORD).await;
        self.see("Dashboard").await;
    }

    /// Fills in and submits the current sign-in form.
    pub async fn submit_login(&self, email: &str, password: &str) {
        self.fill("email", email).await;
        self.fill("password", password).await;
        self.press("Sign in").await;
    }

    async fn send_command(&self, path: &'static str, body: Value) -> Value {
        self.client.issue_cmd(ChromeDriverCommand { path, body }).await.unwrap()
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

    /// Clicks a visible element. Retried, since the page may change between finding and clicking it.
    async fn click_on(&self, place: Locator<'_>) {
        wait::until(&format!("{place:?} can be clicked"), async || {
            let Some(element) = self.visible(place).await else { return false };
            element.click().await.is_ok()
        })
        .await;
    }
}
