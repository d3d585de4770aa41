//! The dashboard: `/admin`.

use super::staff;
use docent_domain::permission::Permission;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::pdf::pdf;
use docent_tests::{rules, wait};

rules! {
    async fn dashboard_block_requires_its_permission(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[]).await;
        let blocks = ["Recent failures", "Jobs waiting", "Tokens per day"];
        let page = browser.get("/admin").await.expect(200).text;
        assert!(blocks.iter().all(|block| !page.contains(block)) && page.contains("Vector store"), "{page}");
        let permissions = [Permission::ViewDocument, Permission::ViewJob, Permission::ViewUsage];
        for (permission, block) in permissions.into_iter().zip(blocks) {
            app.permit(member.user.id, &[permission]).await;
            let page = browser.get("/admin").await.expect(200).text;
            let seen: Vec<_> = blocks.into_iter().filter(|block| page.contains(block)).collect();
            assert_eq!(seen, [block]);
        }
    }

    async fn charts_repeat_their_numbers_in_a_table(setup) {
        let app = setup.script([Turn::saying("hello world")]).start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewDocument, Permission::ViewUsage]).await;
        let page = browser.get("/admin").await.expect(200).text;
        assert!(page.contains("No data in this period.") && !page.contains("<svg viewBox"), "{page}");
        member.add("a.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        let _ = member.ask("hello world").await.expect(200);
        wait::until("usage is recorded", async || app.usage(member.user.id).await.prompt > 0).await;
        let page = browser.get("/admin").await.expect(200).text;
        let day = app.app.now().date_naive();
        assert_eq!(page.matches("<svg viewBox").count(), 2);
        assert!(page.contains(&format!("<tr><td>{day}</td><td class=\"number\">1</td><td class=\"number\">0</td>")), "{page}");
        assert!(page.contains("1 in 30 days") && page.contains(&format!("<title>{day}: 1</title>")));
    }
}
