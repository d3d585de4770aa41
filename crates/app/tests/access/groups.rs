use crate::fixture::{Fixture, missing, refused_field, set};
use docent_app::accounts::groups;
use docent_app::error::Error;
use docent_domain::group::{Group, GroupName};
use docent_domain::permission::Permission::{
    self, AddGroup, ChangeGroup, DeleteDocument, DeleteGroup, ViewGroup, ViewJob,
};

const EDITOR: &[Permission] = &[ViewGroup, AddGroup, ChangeGroup, ViewJob];

fn name(text: &str) -> GroupName {
    GroupName::parse(text).unwrap()
}

#[tokio::test]
async fn creating_a_group_requires_its_permissions() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("editor", EDITOR).await).await;
    let (app, grant) = (&fixture.0, || actor.authorize().unwrap());
    let created = groups::create(app, &actor, grant(), name("a"), set(&[DeleteDocument])).await;
    assert_eq!(refused_field(created), "permissions");
    assert!(groups::choices(app).await.unwrap().is_empty());
    let created = groups::create(app, &actor, grant(), name("a"), set(&[ViewJob])).await.unwrap();
    assert_eq!(created.permissions, set(&[ViewJob]));
    let again = groups::create(app, &actor, grant(), name("A"), set(&[])).await;
    assert!(matches!(again, Err(Error::NameTaken)));
}

#[tokio::test]
async fn changing_a_groups_permissions_requires_each_changed_permission() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("editor", EDITOR).await).await;
    let id = fixture.group("powerful", &[DeleteDocument]).await.id;
    let app = &fixture.0;
    let change = async |permissions: &[Permission]| {
        let grant = actor.authorize().unwrap();
        groups::change(app, &actor, grant, id, name("powerful"), set(permissions)).await
    };
    assert_eq!(refused_field(change(&[DeleteDocument, Permission::ViewUsage]).await), "permissions");
    change(&[DeleteDocument, ViewJob]).await.unwrap();
    assert_eq!(refused_field(change(&[ViewJob]).await), "permissions");
    change(&[DeleteDocument]).await.unwrap();
    assert_eq!(groups::choices(app).await.unwrap()[0].0.permissions, set(&[DeleteDocument]));
    let remover = fixture.actor(&fixture.staff("remover", &[ViewGroup, DeleteGroup]).await).await;
    let removed = groups::delete(app, &remover, remover.authorize().unwrap(), id).await;
    assert_eq!(missing(removed).permissions, set(&[DeleteDocument]));
}

#[tokio::test]
async fn renaming_a_group_requires_its_access() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("editor", EDITOR).await).await;
    let (powerful, known) =
        (fixture.group("powerful", &[DeleteDocument]).await, fixture.group("known", &[ViewJob]).await);
    let rename = async |group: &Group| {
        let grant = actor.authorize().unwrap();
        groups::change(&fixture.0, &actor, grant, group.id, name("renamed"), group.permissions).await
    };
    assert_eq!(missing(rename(&powerful).await).permissions, set(&[DeleteDocument]));
    rename(&known).await.unwrap();
}

#[tokio::test]
async fn members_have_group_permissions_until_the_group_is_deleted() {
    let fixture = Fixture::new();
    let root = fixture.actor(&fixture.superuser("root").await).await;
    let group = fixture.group("readers", &[ViewJob]).await;
    let member = fixture.staff("member", &[]).await;
    let mut input = fixture.current(member.id).await;
    input.assigned.groups.insert(group.id);
    docent_app::accounts::users::change(&fixture.0, &root, root.authorize().unwrap(), member.id, &input)
        .await
        .unwrap();
    assert_eq!(fixture.actor(&member).await.permissions(), set(&[ViewJob]));
    groups::delete(&fixture.0, &root, root.authorize().unwrap(), group.id).await.unwrap();
    assert!(fixture.actor(&member).await.permissions().is_empty());
}
