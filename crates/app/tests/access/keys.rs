use crate::fixture::{Fixture, refused_field};
use docent_app::accounts::api_keys::{self, ApiKeyInput};
use docent_app::accounts::{authenticate, sessions, users};
use docent_app::error::Error;
use docent_domain::api_key::{ApiKeyName, ApiKeyScopes};
use docent_domain::connection::Resource;
use docent_domain::id::UserId;
use docent_domain::permission::Permission::{
    AddApiKey, DeleteApiKey, DeleteDocument, ViewApiKey, ViewDocument, ViewJob,
};

pub(crate) fn request(user: UserId) -> ApiKeyInput {
    let name = ApiKeyName::parse("a key").unwrap();
    ApiKeyInput {
        user,
        name,
        scopes: ApiKeyScopes::parse(["read", "admin"]).unwrap(),
        collections: None,
        expires_at: None,
    }
}

#[tokio::test]
async fn own_keys_need_no_permission_and_others_do() {
    let fixture = Fixture::new();
    let (plain, other) = (fixture.staff("plain", &[]).await, fixture.staff("other", &[]).await);
    let (actor, app) = (fixture.actor(&plain).await, &fixture.0);
    let own = api_keys::create(app, &actor, request(plain.id)).await.unwrap().record.id;
    assert!(matches!(api_keys::create(app, &actor, request(other.id)).await, Err(Error::Forbidden)));
    let theirs = fixture.actor(&other).await;
    assert!(matches!(api_keys::get(app, &theirs, own).await, Err(Error::NotFound(_))));
    assert!(matches!(api_keys::revoke(app, &theirs, own).await, Err(Error::Forbidden)));
    let keeper = fixture.actor(&fixture.staff("keeper", &[ViewApiKey, DeleteApiKey]).await).await;
    assert_eq!(api_keys::get(app, &keeper, own).await.unwrap().user, plain.id);
    api_keys::revoke(app, &keeper, own).await.unwrap();
    assert!(api_keys::get(app, &actor, own).await.unwrap().revoked_at.is_some());
}

#[tokio::test]
async fn creating_a_key_for_an_account_with_more_permissions_is_refused() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("maker", &[AddApiKey, ViewJob, ViewDocument]).await).await;
    let (weaker, stronger) =
        (fixture.staff("weaker", &[ViewJob]).await, fixture.staff("stronger", &[DeleteDocument]).await);
    let (root, app) = (fixture.superuser("root").await, &fixture.0);
    api_keys::create(app, &actor, request(weaker.id)).await.unwrap();
    for id in [stronger.id, root.id] {
        assert_eq!(refused_field(api_keys::create(app, &actor, request(id)).await), "account");
    }
    let superuser = fixture.actor(&fixture.superuser("other").await).await;
    for id in [stronger.id, root.id] {
        api_keys::create(app, &superuser, request(id)).await.unwrap();
    }
    let mut input = fixture.current(weaker.id).await;
    input.is_active = false;
    users::change(app, &superuser, superuser.authorize().unwrap(), weaker.id, &input).await.unwrap();
    assert_eq!(refused_field(api_keys::create(app, &superuser, request(weaker.id)).await), "account");
}

#[tokio::test]
async fn api_key_cannot_create_keys_or_end_sessions() {
    let fixture = Fixture::new();
    let plain = fixture.staff("plain", &[]).await;
    let (actor, app) = (fixture.actor(&plain).await, &fixture.0);
    let key = api_keys::create(app, &actor, request(plain.id)).await.unwrap().key;
    let by_key = authenticate::bearer(app, &key, Resource::Api).await.unwrap();
    assert!(matches!(api_keys::create(app, &by_key, request(plain.id)).await, Err(Error::Forbidden)));
    assert!(matches!(sessions::revoke_all(app, &by_key, plain.id).await, Err(Error::Forbidden)));
}
