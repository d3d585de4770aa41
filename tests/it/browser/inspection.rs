//! Checks that every page must pass: accessibility, width, browser console.

use crate::records::{PANEL_FILES, Records};
use docent_tests::chromium::{Chromium, optional_setting, setting};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Path of axe-core's script.
const AXE: &str = "DOCENT_TEST_AXE";
/// Folder for screenshots of every page; none are taken without it.
const SCREENSHOTS: &str = "DOCENT_TEST_SCREENSHOTS";

/// Widths of a desktop, a tablet and a phone.
const WIDTHS: [u32; 3] = [1440, 768, 360];

/// A page to inspect: the name of its screenshots, and its address, where `{…}` stands for a record's ID.
pub(super) type Page = (&'static str, &'static str);

/// The inspected window and its findings.
pub(super) struct Inspection<'a> {
    pub(super) window: &'a Chromium,
    scheme: &'static str,
    findings: Vec<String>,
    /// Path patterns of the inspected pages.
    inspected: BTreeSet<String>,
}

impl<'a> Inspection<'a> {
    pub(super) async fn begin(window: &'a Chromium, scheme: &'static str) -> Self {
        // Without animations, since a fading color would be measured halfway.
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        window.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        Self { window, scheme, findings: Vec::new(), inspected: BTreeSet::new() }
    }

    /// Opens and inspects pages one after the other.
    pub(super) async fn visit(&mut self, pages: &[Page], name: &str, records: &Records) {
        for (page, address) in pages {
            let path = records.fill(address);
            self.window.goto(&path).await;
            assert_eq!(self.window.path().await, path, "{page} redirects");
            self.inspect(&format!("{name}{page}")).await;
        }
    }

    /// Inspects the current page at each width.
    pub(super) async fn inspect(&mut self, page: &str) {
        for message in self.window.console_errors().await {
            // The browser logs an error for a page whose own status is an error.
            let is_page = message.contains(&format!("{} - Failed to load resource", self.window.url().await));
            if !is_page {
                self.report(page, &message);
            }
        }
        let path = self.window.path().await;
        self.inspected.insert(pattern(path.split('?').next().unwrap()));
        for width in WIDTHS {
            self.window.resize(width, 900).await;
            let size = "const root = document.documentElement; return [root.scrollWidth, root.scrollHeight]";
            let size = self.window.run(size, vec![]).await;
            if size[0].as_u64().unwrap() > u64::from(width) {
                self.report(page, &format!("scrolls sideways at {width}: its content is {} wide", size[0]));
            }
            if width == WIDTHS[0] {
                let hidden = "return Math.max(0, ...Array.from(document.querySelectorAll('.scroll'),
                    ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))";
                let hidden = self.window.run(hidden, vec![]).await;
                if hidden != 0 {
                    self.report(page, &format!("a table is clipped at {width}: {hidden} pixels are hidden"));
                }
            }
            if width != 768 {
                self.run_axe(page, width).await;
            }
            self.save_screenshot(page, width, &size[1]).await;
        }
        self.window.resize(WIDTHS[0], 900).await;
    }

    /// Inspects the current page at the width of a phone, without changing its state.
    pub(super) async fn inspect_on_phone(&mut self, page: &str) {
        self.run_axe(page, WIDTHS[2]).await;
        self.save_screenshot(page, WIDTHS[2], &json!(900)).await;
        self.window.resize(WIDTHS[0], 900).await;
    }

    /// Returns the path patterns of the pages that were not inspected.
    pub(super) fn not_inspected(&self) -> Vec<String> {
        let is_page = |(path, methods): &(&str, &[&str])| {
            let is_shown = path.starts_with("/admin") || path.starts_with("/account");
            is_shown && methods.contains(&"GET") && !PANEL_FILES.contains(path)
        };
        let pages = docent_server::routes::all().filter(is_page).map(|(path, _)| path.replace("{id}", "{}"));
        pages.filter(|page| !self.inspected.contains(page)).collect()
    }

    /// Returns the findings so far.
    pub(super) fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Runs axe-core; serious and critical violations are findings. The invisible text over page images, which is there to be
    /// selected, has no contrast.
    async fn run_axe(&mut self, page: &str, width: u32) {
        let axe = std::fs::read_to_string(setting(AXE)).unwrap();
        self.window.run(&axe, vec![]).await;
        let check = "const done = arguments[0];
            axe.run({ exclude: ['.words'] }, { resultTypes: ['violations'] })
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
                self.report(page, &format!("{id} at {width}: {help}: {}", places.join(", ")));
            }
        }
    }

    /// Takes a screenshot of the whole page, if a folder is set.
    async fn save_screenshot(&self, page: &str, width: u32, height: &Value) {
        let Some(folder) = optional_setting(SCREENSHOTS) else { return };
        let height = u32::try_from(height.as_u64().unwrap()).unwrap().clamp(600, 8000);
        self.window.resize(width, height).await;
        let path = Path::new(&folder).join(format!("{page}-{width}-{}.png", self.scheme));
        std::fs::write(path, self.window.screenshot().await).unwrap();
    }

    fn report(&mut self, page: &str, what: &str) {
        self.findings.push(format!("{page} ({}): {what}", self.scheme));
    }

    /// Fails the test if there are findings.
    pub(super) fn assert_no_findings(self) {
        assert!(self.findings.is_empty(), "{} findings:\n{}", self.findings.len(), self.findings.join("\n"));
    }
}

/// Replaces each ID in a path with `{}`.
fn pattern(path: &str) -> String {
    let is_id = |step: &str| step.len() == 36 && step.split('-').count() == 5;
    path.split('/').map(|step| if is_id(step) { "{}" } else { step }).collect::<Vec<_>>().join("/")
}
