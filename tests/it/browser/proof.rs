//! Proofs of identity in the web chat and in the panel, which keep what the user did.

use super::chat::ask;
use super::inspection::Inspection;
use super::sharing::{BOB, open_dialog, team};
use super::{journey_with, superuser_journey};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::PASSWORD;
use docent_tests::member::Member;
use docent_tests::wait;
use serde_json::json;
use std::time::Duration;

const TEN_MINUTES: Duration = Duration::from_secs(10 * 60);

/// Makes the page give Bob a role on the collection, which needs a proof, before it shares a conversation,
/// which does not.
const GIVE_BOB_A_ROLE: &str = "const [team, email] = arguments; const send = window.fetch;
    window.fetch = async (path, options) => {
        if (options?.method !== 'PUT' || !path.includes('/conversations/')) return send(path, options);
        const body = JSON.stringify({ email, role: 'manager' });
        const reply = await send(`/collections/${team}/members`, { ...options, body });
        return reply.ok ? send(path, options) : reply;
    };";

#[tokio::test]
async fn chat_asks_for_a_proof_and_repeats_the_request() {
    journey_with(
        |setup| setup.always(Turn::saying("Yes.")),
        async |app, window| {
            let (ada, team) = team(app, window).await;
            ask(window, "Who can read this?").await;
            window.see("Ask again").await;
            app.advance(TEN_MINUTES);
            window.run(GIVE_BOB_A_ROLE, vec![json!(team), json!(BOB)]).await;
            let ada = Member::login(app, ada.user).await;
            let role = async || {
                let members = ada.get(&format!("/collections/{team}/members")).await.expect(200).json();
                let members = members.as_array().unwrap().clone();
                members.into_iter().find(|member| member["name"] == BOB).unwrap()["role"].clone()
            };

            open_dialog(window).await;
            let choice = format!("#share-collections [value='{team}']");
            window.click(&choice).await;
            window.press("Save").await;
            window.find("#proof[open]").await;
            // The browser logs refused requests, here and below.
            window.console_errors().await;
            let mut inspection = Inspection::begin(window, "light").await;
            inspection.inspect("chat-proof").await;
            inspection.assert_no_findings();

            // Without the proof everything stays as it is.
            window.click("#proof .quiet").await;
            window.see("Nothing was changed: your password or a code is needed.").await;
            assert!(!window.has("#proof").await);
            assert!(window.has(&format!("#share[open] {choice}:checked")).await, "the choice is kept");
            assert_eq!(role().await, "viewer");

            window.press("Save").await;
            window.find("#proof[open]").await;
            window.fill("proof-field", "mistyped\n").await;
            window.see("The password or code is incorrect.").await;
            assert_eq!(role().await, "viewer");
            window.console_errors().await;
            window.fill("proof-field", &format!("{PASSWORD}\n")).await;
            window.see("Shared with Team.").await;
            wait::until("both dialogs are closed", async || !window.has("dialog[open]").await).await;
            assert_eq!(role().await, "manager");
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn panel_keeps_a_form_while_it_asks_for_a_proof() {
    superuser_journey(async |app, window| {
        window.goto("/admin/groups/add").await;
        window.fill("name", "Librarians").await;
        window.click("#permissions input[value='documents.view_document']").await;
        app.advance(TEN_MINUTES);
        window.press("Create group").await;
        window.see("What you entered is kept and will be sent when you continue.").await;
        let mut inspection = Inspection::begin(window, "light").await;
        inspection.inspect("account-confirm-kept").await;
        inspection.assert_no_findings();
        window.fill("proof", "mistyped").await;
        window.press("Continue").await;
        window.see("is incorrect").await;
        window.fill("proof", PASSWORD).await;
        window.press("Continue").await;
        window.see("Librarians").await;
        window.find("#permissions input[value='documents.view_document']:checked").await;
    })
    .await;
}
