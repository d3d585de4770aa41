//! Usage: `/admin/usage` and `/admin/usage.csv`.

use super::staff;
use docent_domain::audit::AuditAction;
use docent_domain::chat::AgentName;
use docent_domain::id::UsageId;
use docent_domain::listing::{AuditFilter, PageRequest};
use docent_domain::permission::Permission;
use docent_domain::usage::{TokenUsage, UsageRecord};
use docent_tests::app::TestApp;
use docent_tests::member::Member;
use docent_tests::rules;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

/// Records the usage of one answer.
async fn record_usage(app: &TestApp, member: &Member, prompt: u64, completion: u64) {
    let record = UsageRecord {
        id: app.app.new_id(UsageId::generate),
        user: member.user.id,
        api_key: None,
        conversation: None,
        agent: AgentName::parse("chat").unwrap(),
        model: "m".to_owned(),
        tokens: TokenUsage { prompt, completion },
        at: app.app.now(),
    };
    docent_app::usage::record(&app.app, &record).await.unwrap();
}

rules! {
    async fn usage_is_summed_by_the_chosen_grouping(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        record_usage(&app, &ada, 10, 1).await;
        app.advance(DAY);
        let (mut browser, member) = staff(&app, &[Permission::ViewUsage]).await;
        record_usage(&app, &ada, 20, 2).await;
        record_usage(&app, &member, 300, 30).await;
        let day = app.app.now().date_naive();
        let labels = ["Answers", "Input tokens", "Output tokens", "Tokens"];
        let cell = |(label, n): (&str, u64)| format!("<td class=\"number\" data-label=\"{label}\">{n}</td>");
        let numbers = |numbers: [u64; 4]| labels.into_iter().zip(numbers).map(cell).collect::<String>();
        let page = browser.get("/admin/usage").await.expect(200).text.replace("\n    ", "");
        assert!(page.contains(&format!(">{day}</td>{}", numbers([2, 320, 32, 352]))), "{page}");
        let page = browser.get("/admin/usage?by=user").await.expect(200).text.replace("\n    ", "");
        assert!(page.contains(&format!(">ada@example.org</td>{}", numbers([2, 30, 3, 33]))), "{page}");
        let page = browser.get(&format!("/admin/usage?by=user-key&from={day}&to={day}&user=ada%40example.org")).await;
        let page = page.expect(200).text.replace("\n    ", "");
        assert!(page.contains(&format!(">none</td>{}", numbers([1, 20, 2, 22]))), "{page}");
        assert!(!page.contains(">staff@example.org</td>") && page.contains("1–1 of 1"));
        for empty in ["?user=unknown", "?to=2000-01-01"] {
            let page = browser.get(&format!("/admin/usage{empty}")).await.expect(200).text;
            assert!(page.contains("No usage in this period."), "{empty}");
        }
        for wrong in ["?from=x", "?by=x"] {
            let _ = browser.get(&format!("/admin/usage{wrong}")).await.expect(422);
        }
    }

    async fn usage_export_has_the_listed_rows_and_is_audited(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewUsage]).await;
        let formula = app.member("=1+1@example.org").await;
        record_usage(&app, &formula, 20, 2).await;
        record_usage(&app, &member, 300, 30).await;
        let day = app.app.now().date_naive();
        let file = browser.get("/admin/usage.csv?by=day-user").await.expect(200);
        assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
        assert_eq!(file.header("content-disposition"), format!("attachment; filename=\"usage-{day}.csv\""));
        let mut lines: Vec<_> = file.text.split_terminator("\r\n").collect();
        assert_eq!(lines.remove(0), "day,account,answers,prompt_tokens,completion_tokens,tokens");
        lines.sort_unstable();
        assert_eq!(lines, [format!("{day},\"'=1+1@example.org\",1,20,2,22"), format!("{day},staff@example.org,1,300,30,330")]);
        let mut view = app.ports.store.read().await.unwrap();
        let log = view.audit().list(&AuditFilter::default(), PageRequest { offset: 0, limit: 100 }).await.unwrap();
        let entry = log.records.iter().find(|entry| entry.action == AuditAction::Export).unwrap();
        assert_eq!(entry.changes["lines"].after.as_deref(), Some("2"));
    }
}
