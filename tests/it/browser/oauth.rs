//! Connecting an application by a link.

use super::journey;
use crate::account::ADA;
use crate::oauth::{authorize_path, register};
use docent_app::accounts::create::Flags;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::chromium::Chromium;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A program on this machine that the browser returns to.
struct Program {
    listener: TcpListener,
    redirect_uri: String,
}

impl Program {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let redirect_uri = format!("http://{}/callback", listener.local_addr().unwrap());
        Self { listener, redirect_uri }
    }

    /// Waits for the browser, and returns the path and query that it asks for. Other requests, such as for an icon, are answered too.
    async fn returned(&self) -> String {
        loop {
            let (mut stream, _) = self.listener.accept().await.unwrap();
            let mut request = vec![0; 16 * 1024];
            let length = stream.read(&mut request).await.unwrap();
            let body = "You can close this window.";
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            // A connection that the browser has opened in advance may be closed.
            let _ = stream.write_all((head + body).as_bytes()).await;
            let request = String::from_utf8(request[..length].to_vec()).unwrap();
            if let Some(path) = request.split(' ').nth(1).filter(|path| path.starts_with("/callback")) {
                return path.to_owned();
            }
        }
    }
}

/// Opens the page that asks for access, after signing in.
async fn ask(app: &TestApp, window: &Chromium, program: &Program) {
    let client = register(app, &program.redirect_uri).await;
    let changes = [("redirect_uri", program.redirect_uri.as_str())];
    window.goto(&authorize_path(app, &client, &changes)).await;
    if window.path().await.starts_with("/account/login") {
        window.fill("email", ADA).await;
        window.fill("password", PASSWORD).await;
        window.press("Sign in").await;
    }
    window.see("asks for access to your account").await;
    window.see("a program on this device").await;
}

#[tokio::test]
async fn browser_returns_to_the_application_with_the_answer() {
    journey(async |app, window| {
        app.account(ADA, Flags::default()).await;
        let program = Program::start().await;
        ask(app, window, &program).await;
        assert!(window.console_errors().await.is_empty());
        let (returned, ()) = tokio::join!(program.returned(), window.press("Allow"));
        assert!(returned.starts_with("/callback?code="), "{returned}");
        window.see("You can close this window.").await;

        ask(app, window, &program).await;
        let (returned, ()) = tokio::join!(program.returned(), window.press("Deny"));
        assert!(returned.starts_with("/callback?error=access_denied"), "{returned}");
    })
    .await;
}
