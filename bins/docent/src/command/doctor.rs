//! `docent doctor`: checks an installation and repairs problems.

use super::config::load;
use crate::output::{self, paint};
use crate::progress::ProgressDisplay;
use crate::wire;
use async_trait::async_trait;
use docent::cli::DoctorArgs;
use docent::config::Settings;
use docent_app::App;
use docent_app::maintenance::diagnostics::{CheckListener, Finding, Repair, SkippedCheck, check, repair};
use docent_domain::fault::{Component, report};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Exit code: problems remain.
const PROBLEMS_REMAIN: u8 = 1;
/// Exit code: something could not be checked.
const UNCHECKED: u8 = 2;

/// Checks the installation and prints the findings.
pub(crate) async fn run(args: DoctorArgs) -> ExitCode {
    match run_checks(args).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("docent: {error:#}");
            ExitCode::from(UNCHECKED)
        }
    }
}

async fn run_checks(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let settings = load(args.installation.profile())?;
    let app = wire::maintenance(&settings, wire::store(&settings).await?).await?;
    let progress = ProgressDisplay::new();
    let mut report =
        Report { app: Arc::clone(&app), args, progress: &progress, found: 0, repaired: 0, unchecked: 0 };
    report.check_sandbox(&settings).await;
    let left_out = check(&app, &progress, &mut report).await;
    Ok(report.conclude(&left_out))
}

/// Prints findings and, with `--fix`, repairs them.
struct Report<'a> {
    app: Arc<App>,
    args: DoctorArgs,
    progress: &'a ProgressDisplay,
    found: u64,
    repaired: u64,
    /// Failed checks besides those of [`check`].
    unchecked: usize,
}

impl Report<'_> {
    fn print(&self, text: String, object: impl FnOnce() -> Value) {
        self.progress.print(&output::format(self.args.installation.output, || text, object));
    }

    /// Prints what PDF workers are confined by. An incomplete sandbox is no finding, because only another kernel completes it.
    async fn check_sandbox(&mut self, settings: &Settings) {
        let component = Component::Extractor;
        match wire::check_sandbox(settings).await {
            Ok(sandbox) if sandbox.missing().is_empty() => {
                self.healthy(component, "sandboxed by Landlock and seccomp");
            }
            Ok(sandbox) => {
                let missing = sandbox.missing().join(" and ");
                let note = format!("answers, without {missing}: the kernel or the container lacks them");
                self.healthy(component, &note);
            }
            Err(error) => {
                let (what, why) = (component.name(), format!("{error:#}"));
                self.unchecked += 1;
                self.print(
                    format!("{}  {what}: {why}", paint("unchecked")),
                    || json!({"kind": "unchecked", "what": what, "why": why}),
                );
            }
        }
    }

    /// Repairs a finding; returns a description and whether the problem is solved.
    async fn repair(&self, finding: &Finding) -> (String, bool) {
        match repair(&self.app, finding).await {
            Ok(Repair::Done(what)) => (what.to_owned(), true),
            Ok(Repair::Resolved) => ("already repaired by another process".to_owned(), true),
            Ok(Repair::NotSupported) => (finding.advice().unwrap_or_default().to_owned(), false),
            Err(error) => (format!("the repair failed: {}", report(&error)), false),
        }
    }

    fn conclude(&self, left_out: &[SkippedCheck]) -> ExitCode {
        for SkippedCheck { check: what, fault } in left_out {
            self.print(
                format!("{}  {what}: {}", paint("unchecked"), fault.report()),
                || json!({"kind": "unchecked", "what": what, "why": fault.report()}),
            );
        }
        let (found, repaired, unchecked) = (self.found, self.repaired, self.unchecked + left_out.len());
        let text = match (found, unchecked) {
            (0, 0) => "No problems found.".to_owned(),
            _ => format!("Found {found}, repaired {repaired}, skipped {unchecked} checks."),
        };
        self.print(
            text,
            // The field name of earlier releases. tidy: allow-word
            || json!({"kind": "summary", "found": found, "mended": repaired, "unchecked": unchecked}),
        );
        match (unchecked, found - repaired) {
            (0, 0) => ExitCode::SUCCESS,
            (0, _) => ExitCode::from(PROBLEMS_REMAIN),
            _ => ExitCode::from(UNCHECKED),
        }
    }
}

#[async_trait]
impl CheckListener for Report<'_> {
    fn healthy(&mut self, component: Component, note: &str) {
        self.print(
            format!("{} {}: {note}", paint("ok        "), component.name()),
            || json!({"kind": "part", "part": component.code(), "note": note}),
        );
    }

    fn in_use(&mut self, component: Component) {
        self.print(
            format!(
                "in use     {}: another process, such as a running service, has it open",
                component.name()
            ),
            || json!({"kind": "in_use", "part": component.code()}),
        );
    }

    async fn found(&mut self, finding: Finding) {
        self.found += 1;
        let (code, id, what) = (finding.code(), finding.id(), finding.description());
        let fix = finding.remedy().or(finding.advice()).unwrap_or_default();
        let (done, is_repaired) =
            if self.args.fix { self.repair(&finding).await } else { (String::new(), false) };
        self.repaired += u64::from(is_repaired);
        let action = match (self.args.fix, finding.remedy()) {
            (true, _) => done.clone(),
            (false, Some(remedy)) => format!("--fix {remedy}"),
            (false, None) => fix.to_owned(),
        };
        let word = if is_repaired { "repaired" } else { "found" };
        let word = paint(&format!("{word:<10}"));
        self.print(format!("{word} {code} {id}: {what} ({action})"), || {
            json!({
                "kind": "finding", "code": code, "id": id, "what": what, "fix": finding.remedy(),
                // tidy: allow-word
                "advice": finding.advice(), "mended": is_repaired, "done": self.args.fix.then_some(done),
            })
        });
    }
}
