//! `docent doctor`: what is wrong with an installation.

use super::config::load;
use crate::{output, progress::Shown, wire};
use async_trait::async_trait;
use docent::cli::DoctorArgs;
use docent_app::{
    App,
    maintenance::diagnostics::{CheckListener, Finding, Repair, SkippedCheck, check, repair},
};
use docent_ports::error::{Component, report};
use serde_json::{Value, json};
use std::{process::ExitCode, sync::Arc};

/// Something is wrong, and is still so.
const FOUND: u8 = 1;
/// Something could not be checked.
const UNCHECKED: u8 = 2;

/// Examines the installation and says what was found.
pub(crate) async fn run(args: DoctorArgs) -> ExitCode {
    match examined(args).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("docent: {error:#}");
            ExitCode::from(UNCHECKED)
        }
    }
}

async fn examined(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let settings = load(args.profile.into())?;
    let app = wire::upkeep(&settings, wire::store(&settings).await?)?;
    let shown = Shown::new();
    let mut report = Report { app: Arc::clone(&app), args, shown: &shown, found: 0, left: 0 };
    let left_out = check(&app, &shown, &mut report).await;
    Ok(report.conclude(&left_out))
}

/// Says what is found, and mends it if asked to.
struct Report<'a> {
    app: Arc<App>,
    args: DoctorArgs,
    shown: &'a Shown,
    found: u64,
    left: u64,
}

impl Report<'_> {
    fn say(&self, text: String, object: impl FnOnce() -> Value) {
        self.shown.say(&output::line(self.args.output, || text, object));
    }

    /// What was done about a finding, and whether it is dealt with.
    async fn mended(&self, finding: &Finding) -> (String, bool) {
        match repair(&self.app, finding).await {
            Ok(Repair::Done(what)) => (what.to_owned(), true),
            Ok(Repair::Resolved) => ("somebody else has dealt with it".to_owned(), true),
            Ok(Repair::NotSupported) => (finding.advice().unwrap_or_default().to_owned(), false),
            Err(error) => (format!("mending it failed: {}", report(&error)), false),
        }
    }

    fn conclude(&self, left_out: &[SkippedCheck]) -> ExitCode {
        for SkippedCheck { check: what, fault } in left_out {
            self.say(
                format!("unchecked  {what}: {}", fault.report()),
                || json!({"kind": "unchecked", "what": what, "why": fault.report()}),
            );
        }
        let (found, mended, unchecked) = (self.found, self.found - self.left, left_out.len());
        let text = match (found, unchecked) {
            (0, 0) => "Nothing is wrong.".to_owned(),
            _ => format!("Found {found}, mended {mended}, left out {unchecked} checks."),
        };
        self.say(
            text,
            || json!({"kind": "summary", "found": found, "mended": mended, "unchecked": unchecked}),
        );
        match (unchecked, self.left) {
            (0, 0) => ExitCode::SUCCESS,
            (0, _) => ExitCode::from(FOUND),
            _ => ExitCode::from(UNCHECKED),
        }
    }
}

#[async_trait]
impl CheckListener for Report<'_> {
    fn healthy(&mut self, part: Component, note: &str) {
        self.say(
            format!("works      {}: {note}", part.name()),
            || json!({"kind": "part", "part": part.code(), "note": note}),
        );
    }

    fn in_use(&mut self, part: Component) {
        self.say(
            format!("in use     {}: another process has it open, as a running docent does", part.name()),
            || json!({"kind": "in_use", "part": part.code()}),
        );
    }

    async fn found(&mut self, finding: Finding) {
        self.found += 1;
        let (code, id, what) = (finding.code(), finding.id(), finding.description());
        let fix = finding.remedy().or(finding.advice()).unwrap_or_default();
        let (done, is_mended) =
            if self.args.fix { self.mended(&finding).await } else { (String::new(), false) };
        self.left += u64::from(!is_mended);
        let then = match (self.args.fix, finding.remedy()) {
            (true, _) => done.clone(),
            (false, Some(remedy)) => format!("--fix {remedy}"),
            (false, None) => fix.to_owned(),
        };
        let word = if is_mended { "mended" } else { "found" };
        self.say(format!("{word:<10} {code} {id}: {what} ({then})"), || {
            json!({
                "kind": "finding", "code": code, "id": id, "what": what, "fix": finding.remedy(),
                "advice": finding.advice(), "mended": is_mended, "done": self.args.fix.then_some(done),
            })
        });
    }
}
