//! Lists of the panel: filters while one types, columns, saved views, keys, and rows on a phone.

use super::inspection::Inspection;
use super::{ROOT, journey, journey_with, superuser, superuser_journey};
use crate::records::{self, Records};
use docent_app::accounts::create::Flags;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::pdf::pdf;
use serde_json::{Value, json};
use std::time::Duration;

/// Lists and pages with tables, with records of every kind.
const LISTS: &[&str] = &[
    "/admin",
    "/admin/documents",
    "/admin/documents?status=failed",
    "/admin/collections",
    "/admin/collections/{collection}",
    "/admin/documents/{ingested}",
    "/admin/documents/{ingested}/readers",
    "/admin/conversations",
    "/admin/search?q=pump",
    "/admin/answers",
    "/admin/users",
    "/admin/users/{user}",
    "/admin/users/{user}/collections",
    "/admin/groups",
    "/admin/api-keys",
    "/admin/sessions",
    "/admin/verifications",
    "/admin/service",
    "/admin/jobs",
    "/admin/webhooks",
    "/admin/webhooks/{webhook}",
    "/admin/usage",
    "/admin/audit",
    "/admin/audit/{entry}",
    "/account/sessions",
    "/account/api-keys",
];

/// Returns cells whose text is cut without a title, and tables that are wider than the page.
const CUT: &str = "const cut = [];
    for (const area of document.querySelectorAll('.scroll:not(.plain)')) {
        if (area.scrollWidth > area.clientWidth + 1) cut.push(`table of ${area.scrollWidth} in ${area.clientWidth}`);
    }
    for (const cell of document.querySelectorAll('td, th, td *')) {
        const isHidden = cell.closest('.visually-hidden') || getComputedStyle(cell).clipPath !== 'none';
        if (isHidden || cell.clientWidth < 2) continue;
        const isCut = cell.scrollWidth > cell.clientWidth + 1 && getComputedStyle(cell).overflowX !== 'visible';
        if (isCut && !cell.closest('[title]') && !cell.closest('input, select')) cut.push(cell.outerHTML.slice(0, 200));
    }
    return cut;";

/// Returns cells of a table on a phone that are not shown, or not with the name of their column.
const LOST: &str = "const lost = [];
    for (const table of document.querySelectorAll('.scroll:not(.plain) table')) {
        const names = [...table.querySelectorAll('thead th')].map((header) => header.textContent.trim());
        for (const row of table.querySelectorAll('tbody tr')) {
            [...row.cells].forEach((cell, index) => {
                const box = cell.getBoundingClientRect();
                const isEmpty = cell.childNodes.length === 0;
                const isShown = box.width > 0 && box.left >= 0 && box.right <= innerWidth;
                const isNamed = names[index] === (cell.dataset.label ?? '');
                if ((!isShown && !isEmpty) || !isNamed) lost.push(`${names[index]}: ${cell.outerHTML.slice(0, 200)}`);
            });
        }
    }
    return lost;";

// Invariant: Tables of the panel cut no text, and lose no column on a phone.
#[tokio::test]
async fn no_text_is_cut_on_a_desktop_and_no_column_is_lost_on_a_phone() {
    journey_with(
        |setup| {
            let setup = setup.api_keys().script(records::script());
            setup.settings(|settings| settings.access_token_ttl = Duration::from_secs(30 * 24 * 60 * 60))
        },
        async |app, window| {
            superuser(app, window).await;
            let records = Records::create(app).await;
            window.login(ROOT).await;
            let mut findings = Vec::new();
            for list in LISTS {
                let path = records.fill(list);
                for (width, script) in [(1440, CUT), (390, CUT), (390, LOST)] {
                    window.resize(width, 900).await;
                    window.goto(&path).await;
                    let Value::Array(found) = window.run(script, vec![]).await else { panic!("no list") };
                    findings.extend(found.iter().map(|what| format!("{list} at {width}: {what}")));
                }
            }
            assert!(findings.is_empty(), "{}", findings.join("\n"));
            assert_eq!(window.console_errors().await, [""; 0]);
            app.leave_jobs();
        },
    )
    .await;
}

#[tokio::test]
async fn units_of_a_search_are_readable_on_a_desktop_and_on_a_phone() {
    journey_with(
        |setup| setup.builtin_answerer(),
        async |app, window| {
            superuser(app, window).await;
            let ada = app.ada().await;
            let text =
                "The warranty of the pump lasts two years. A pump moves water from one place to another.";
            ada.add("The manual of the pump P9, which moves water in houses and gardens.pdf", pdf(&[text]))
                .await;
            app.run_jobs().await;
            let mut findings = Vec::new();
            for scheme in ["light", "dark"] {
                let mut inspection = Inspection::begin(window, scheme).await;
                window.goto("/admin/search?q=How+long+is+the+warranty+of+the+pump%3F").await;
                window.see("Units that could answer").await;
                inspection.inspect("search-units").await;
                inspection.assert_no_findings();
            }
            for (width, script) in [(1440, CUT), (390, CUT), (390, LOST)] {
                window.resize(width, 900).await;
                let Value::Array(found) = window.run(script, vec![]).await else { panic!("no list") };
                findings.extend(found.iter().map(|what| format!("{width}: {what}")));
            }
            assert!(findings.is_empty(), "{}", findings.join("\n"));
            window.click(".scroll:last-of-type tbody tr:nth-child(2) summary").await;
            window.see("The warranty of the pump lasts two years.").await;
            assert_eq!(window.console_errors().await, [""; 0]);
        },
    )
    .await;
}

/// Adds documents with these titles and opens their list.
async fn list_of(app: &TestApp, window: &Chromium, titles: &[&str]) {
    let ada = app.ada().await;
    for title in titles {
        ada.add(title, pdf(&["words"])).await;
        app.advance(Duration::from_secs(1));
    }
    app.run_jobs().await;
    window.goto("/admin/documents").await;
    window.find("[data-list-tools] summary").await;
}

async fn titles(window: &Chromium) -> Vec<String> {
    window.texts("tbody a.row").await
}

/// Waits for these titles in the list.
async fn see_titles(window: &Chromium, expected: &[&str]) {
    docent_tests::wait::until(&format!("the list has {expected:?}"), async || {
        titles(window).await == expected
    })
    .await;
}

/// The ID of the element with the focus, and the place of the caret.
async fn focus(window: &Chromium) -> Value {
    let script = "const field = document.activeElement; return [field.id, field.selectionStart ?? null]";
    window.run(script, vec![]).await
}

#[tokio::test]
async fn filters_apply_while_typing_and_back_restores_them() {
    superuser_journey(async |app, window| {
        list_of(app, window, &["Zebra one.pdf", "Zebra two.pdf", "Lion.pdf"]).await;
        assert!(window.has("form[data-filters] button[type=submit][hidden]").await);
        window.run("window.isSamePage = true", vec![]).await;
        window.fill("q", "Zebra").await;
        see_titles(window, &["Zebra two.pdf", "Zebra one.pdf"]).await;
        assert_eq!(window.path().await, "/admin/documents?q=Zebra&order=newest");
        assert_eq!(focus(window).await, json!(["q", 5]));
        let status =
            window.run("return document.querySelector('[data-list-status]').textContent", vec![]).await;
        assert_eq!(status, "1–2 of 2");
        window.press("Clear").await;
        window.arrive("/admin/documents").await;
        window.fill("q", "Zebra").await;
        see_titles(window, &["Zebra two.pdf", "Zebra one.pdf"]).await;
        window.run("window.isSamePage = true", vec![]).await;
        window.click("#status option[value='failed'], #status option:nth-of-type(4)").await;
        window.see("No matching documents.").await;
        assert!(window.path().await.contains("status=failed"));
        window.run("history.back()", vec![]).await;
        see_titles(window, &["Zebra two.pdf", "Zebra one.pdf"]).await;
        assert_eq!(window.run("return document.getElementById('status').value", vec![]).await, "");
        window.run("history.back()", vec![]).await;
        see_titles(window, &["Lion.pdf", "Zebra two.pdf", "Zebra one.pdf"]).await;
        assert_eq!(
            window.run("return [document.getElementById('q').value, window.isSamePage]", vec![]).await,
            json!(["", true])
        );
        // The list that was replaced has its scripts.
        window.click("tbody input[type=checkbox]").await;
        window.see("1 selected").await;
        assert_eq!(window.console_errors().await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn filters_work_without_scripts() {
    journey(async |app, window| {
        superuser(app, window).await;
        list_of(app, window, &["Zebra.pdf", "Lion.pdf"]).await;
        window.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
        window.goto("/admin/documents").await;
        window.fill("q", "Zebra").await;
        window.press("Filter").await;
        see_titles(window, &["Zebra.pdf"]).await;
        window.goto("/admin/find?q=lion").await;
        window.press("Lion.pdf").await;
        window.arrive("/admin/documents/").await;
    })
    .await;
}

#[tokio::test]
async fn ended_session_leads_to_the_sign_in() {
    superuser_journey(async |app, window| {
        list_of(app, window, &["Zebra.pdf"]).await;
        app.advance(Duration::from_secs(13 * 60 * 60));
        window.fill("q", "Lion").await;
        window.arrive("/admin/login").await;
    })
    .await;
}

/// Names of the shown columns.
async fn columns(window: &Chromium) -> Vec<String> {
    window.texts("thead th:not([hidden])").await.into_iter().filter(|name| !name.is_empty()).collect()
}

#[tokio::test]
async fn chosen_columns_are_in_the_address_and_remembered() {
    superuser_journey(async |app, window| {
        list_of(app, window, &["Zebra.pdf"]).await;
        assert_eq!(columns(window).await.len(), 8);
        window.press("Columns").await;
        for name in ["Size", "Chunks", "ID"] {
            window.press(name).await;
        }
        let shown = ["Title", "Status", "Owner", "Pages", "Created"];
        assert_eq!(columns(window).await, shown);
        let path = "/admin/documents?columns=status,owner,pages,created";
        assert_eq!(window.path().await, path);
        // Filters keep the choice, and so does the next visit.
        window.fill("q", "Zebra").await;
        window.arrive("/admin/documents?q=Zebra&order=newest&columns=status,owner,pages,created").await;
        assert_eq!(columns(window).await, shown);
        window.goto("/admin/documents").await;
        window.arrive(path).await;
        assert_eq!(columns(window).await, shown);
        window.goto("/admin/documents?columns=status").await;
        assert_eq!(columns(window).await, ["Title", "Status"]);
        window.goto("/admin/users").await;
        assert_eq!(columns(window).await.len(), 5);
        assert_eq!(window.console_errors().await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn saved_views_belong_to_the_account_and_its_list() {
    superuser_journey(async |app, window| {
        app.account("staff@example.org", Flags { is_staff: true, is_superuser: true }).await;
        window.goto("/admin/users?active=no").await;
        window.press("Views").await;
        window.see("No saved views yet.").await;
        window.fill("view-name", "Former colleagues").await;
        window.press("Save").await;
        window.find(".views a[aria-current]").await;
        window.goto("/admin/users").await;
        window.press("Views").await;
        window.press("Former colleagues").await;
        window.arrive("/admin/users?active=no").await;
        window.goto("/admin/groups").await;
        window.press("Views").await;
        window.see("No saved views yet.").await;
        window.press("Sign out").await;
        window.arrive("/admin/login").await;
        window.login("staff@example.org").await;
        window.goto("/admin/users").await;
        window.press("Views").await;
        window.see("No saved views yet.").await;
        window.login(ROOT).await;
        window.goto("/admin/users").await;
        window.press("Views").await;
        window.press("Delete").await;
        window.see("No saved views yet.").await;
        assert_eq!(window.console_errors().await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn keys_move_over_rows_select_and_open() {
    superuser_journey(async |app, window| {
        list_of(app, window, &["Zebra.pdf", "Lion.pdf", "Ant.pdf"]).await;
        window.keys("j").await;
        window.keys("j").await;
        window.keys("k").await;
        window.keys("\u{e015}").await;
        let focused = "return document.activeElement.textContent";
        assert_eq!(window.run(focused, vec![]).await, "Lion.pdf");
        window.keys("x").await;
        window.see("1 selected").await;
        window.resize(1440, 300).await;
        let bar = "const box = document.querySelector('[data-bulk-bar]').getBoundingClientRect();
            return [box.top >= 0, box.bottom <= innerHeight]";
        assert_eq!(window.run(bar, vec![]).await, json!([true, true]), "the bar is at the end of the window");
        window.resize(1440, 900).await;
        window.keys("/").await;
        assert_eq!(focus(window).await[0], "q");
        // Keys are letters in a field.
        window.keys("j").await;
        assert_eq!(window.run("return document.getElementById('q').value", vec![]).await, "j");
        window.goto("/admin/documents").await;
        window.keys("?").await;
        window.see("Select the row").await;
        window.press("Use single keys such as j and x").await;
        window.press("Close").await;
        window.keys("j").await;
        assert_eq!(window.run("return document.activeElement.matches('tbody *')", vec![]).await, false);
        window.click("button[data-keys]").await;
        window.press("Use single keys such as j and x").await;
        window.press("Close").await;
        window.run("document.activeElement.blur()", vec![]).await;
        window.keys("j").await;
        window.keys("\n").await;
        window.see("Ant.pdf").await;
        window.arrive("/admin/documents/").await;
        assert_eq!(window.console_errors().await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn palette_opens_pages_and_records() {
    superuser_journey(async |app, window| {
        list_of(app, window, &["Handbook of zebras.pdf", "Lion.pdf"]).await;
        window.fill("q", "Lion").await;
        window.keys("\u{e009}k").await;
        window.find(".palette [role=option]").await;
        assert_eq!(focus(window).await[0], "palette-input");
        assert!(window.texts(".palette [role=option]").await.contains(&"Audit log".to_owned()));
        window.fill("palette-input", "zebra").await;
        docent_tests::wait::until("the document is found", async || {
            window.texts(".palette [role=option]").await == ["Handbook of zebras.pdf"]
        })
        .await;
        assert_eq!(window.texts(".palette [role=group] p").await, ["Documents"]);
        assert_eq!(window.texts(".palette [role=status]").await, ["1 result"]);
        let active = "const input = document.getElementById('palette-input');
            const option = document.getElementById(input.getAttribute('aria-activedescendant'));
            return [option.textContent, option.getAttribute('aria-selected')]";
        assert_eq!(window.run(active, vec![]).await, json!(["Handbook of zebras.pdf", "true"]));
        window.fill("palette-input", "s").await;
        window.see("Sessions").await;
        window.keys("\u{e00c}").await;
        assert!(!window.has("dialog[open]").await);
        assert_eq!(focus(window).await[0], "q", "the focus returns");
        window.click("a[data-palette]").await;
        window.fill("palette-input", "nothing at all").await;
        window.see("No results").await;
        window.fill("palette-input", "web").await;
        docent_tests::wait::until("the page is found", async || {
            window.texts(".palette [role=option]").await == ["Webhooks"]
        })
        .await;
        window.keys("\n").await;
        window.arrive("/admin/webhooks").await;
        assert_eq!(window.console_errors().await, [""; 0]);
    })
    .await;
}
