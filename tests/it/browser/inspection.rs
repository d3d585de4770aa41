//! What every page is checked for.

use super::records::Records;
use docent_tests::chromium::{Chromium, optional_setting, setting};
use serde_json::{Value, json};
use std::{collections::BTreeSet, path::Path};

/// The file of axe-core that pages are checked with.
const AXE: &str = "DOCENT_TEST_AXE";
/// The folder for pictures of every page; none are taken without it.
const PICTURES: &str = "DOCENT_TEST_SCREENSHOTS";

/// A wide screen, a tablet, a phone.
const WIDTHS: [u32; 3] = [1440, 768, 360];

/// What a browser gets there and is no page.
const NO_PAGES: [&str; 5] = [
    "/admin/admin.css",
    "/admin/admin.js",
    "/admin/picker.js",
    "/admin/documents/{id}/file",
    "/admin/usage.csv",
];

/// A page of the panel: what pictures of it are called, and its address, in which `{…}` stands for a record.
pub(super) type Page = (&'static str, &'static str);

/// What is looked at, and what was found.
pub(super) struct Inspection<'a> {
    pub(super) window: &'a Chromium,
    scheme: &'static str,
    findings: Vec<String>,
    /// Patterns of the pages that were looked at.
    seen: BTreeSet<String>,
}

impl<'a> Inspection<'a> {
    pub(super) async fn begin(window: &'a Chromium, scheme: &'static str) -> Self {
        // Colours that fade would be caught half way.
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        window.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        Self { window, scheme, findings: Vec::new(), seen: BTreeSet::new() }
    }

    /// Opens pages one after the other.
    pub(super) async fn visit(&mut self, pages: &[Page], name: &str, records: &Records) {
        for (page, address) in pages {
            let path = records.fill(address);
            self.window.goto(&path).await;
            assert_eq!(self.window.path().await, path, "{page} leads elsewhere");
            self.look(&format!("{name}{page}")).await;
        }
    }

    /// Looks at the page that is shown, at each width.
    pub(super) async fn look(&mut self, page: &str) {
        for complaint in self.window.complaints().await {
            // The browser tells of a page that is an error by itself.
            let is_page =
                complaint.contains(&format!("{} - Failed to load resource", self.window.url().await));
            if !is_page {
                self.find(page, &complaint);
            }
        }
        let path = self.window.path().await;
        self.seen.insert(pattern(path.split('?').next().unwrap()));
        for width in WIDTHS {
            self.window.resize(width, 900).await;
            let size = "const root = document.documentElement; return [root.scrollWidth, root.scrollHeight]";
            let size = self.window.run(size, vec![]).await;
            if size[0].as_u64().unwrap() > u64::from(width) {
                self.find(page, &format!("scrolls sideways at {width}: its content is {} wide", size[0]));
            }
            if width != 768 {
                self.run_axe(page, width).await;
            }
            self.keep_picture(page, width, &size[1]).await;
        }
        self.window.resize(WIDTHS[0], 900).await;
    }

    /// Looks at the page as it is shown on a phone, in the state that it is in there.
    pub(super) async fn look_on_phone(&mut self, page: &str) {
        self.run_axe(page, WIDTHS[2]).await;
        self.keep_picture(page, WIDTHS[2], &json!(900)).await;
        self.window.resize(WIDTHS[0], 900).await;
    }

    /// Patterns of the pages that were not looked at.
    pub(super) fn unseen(&self) -> Vec<String> {
        let is_page = |(path, methods): &(&str, &[&str])| {
            let is_shown = path.starts_with("/admin") || path.starts_with("/account");
            is_shown && methods.contains(&"GET") && !NO_PAGES.contains(path)
        };
        let pages = docent_server::routes::all().filter(is_page).map(|(path, _)| path.replace("{id}", "{}"));
        pages.filter(|page| !self.seen.contains(page)).collect()
    }

    /// What was found.
    pub(super) fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Has axe-core look at the page; what it holds for serious or critical is a finding.
    async fn run_axe(&mut self, page: &str, width: u32) {
        let axe = std::fs::read_to_string(setting(AXE)).unwrap();
        self.window.run(&axe, vec![]).await;
        let check = "const done = arguments[0];
            axe.run(document, { resultTypes: ['violations'] })
                .then((results) => done(results.violations.map(({ id, impact, help, nodes }) =>
                    ({ id, impact, help, places: nodes.map((node) => node.target.join(' ')) }))))
                .catch((error) => done(String(error)))";
        let violations = self.window.run_async(check, vec![]).await;
        let violations = violations.as_array().unwrap_or_else(|| panic!("{page}: {violations}"));
        for violation in violations {
            if ["serious", "critical"].contains(&violation["impact"].as_str().unwrap_or_default()) {
                let Value::Array(places) = &violation["places"] else { continue };
                let places: Vec<_> = places.iter().filter_map(Value::as_str).take(4).collect();
                let (id, help) = (&violation["id"], &violation["help"]);
                self.find(page, &format!("{id} at {width}: {help}: {}", places.join(", ")));
            }
        }
    }

    /// Takes a picture of the whole page, if pictures are wanted.
    async fn keep_picture(&self, page: &str, width: u32, height: &Value) {
        let Some(folder) = optional_setting(PICTURES) else { return };
        let height = u32::try_from(height.as_u64().unwrap()).unwrap().clamp(600, 8000);
        self.window.resize(width, height).await;
        let path = Path::new(&folder).join(format!("{page}-{width}-{}.png", self.scheme));
        std::fs::write(path, self.window.picture().await).unwrap();
    }

    fn find(&mut self, page: &str, what: &str) {
        self.findings.push(format!("{page} ({}): {what}", self.scheme));
    }

    pub(super) fn end(self) {
        assert!(self.findings.is_empty(), "{} findings:\n{}", self.findings.len(), self.findings.join("\n"));
    }
}

/// A path with `{}` for each id.
fn pattern(path: &str) -> String {
    let is_id = |step: &str| step.len() == 36 && step.split('-').count() == 5;
    path.split('/').map(|step| if is_id(step) { "{}" } else { step }).collect::<Vec<_>>().join("/")
}
