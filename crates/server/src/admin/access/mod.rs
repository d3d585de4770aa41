//! Accounts, groups, API keys, sessions and the audit log.

mod account;
mod api_key;
mod api_keys;
mod audit;
mod field;
mod group;
mod groups;
mod kinds;
mod sessions;
mod tables;
mod user;
mod user_actions;
mod users;
mod verifications;

use crate::routes::{on, resource};
use actix_web::{http::Method, web::ServiceConfig};

/// The templates of these pages; those that others extend or include are first.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    ("errors.html", include_str!("../../templates/errors.html")),
    ("fields.html", include_str!("../../templates/fields.html")),
    ("pickers.html", include_str!("../../templates/pickers.html")),
    ("key_table.html", include_str!("../../templates/key_table.html")),
    ("session_table.html", include_str!("../../templates/session_table.html")),
    ("entry_table.html", include_str!("../../templates/entry_table.html")),
    ("confirm.html", include_str!("../../templates/confirm.html")),
    ("users.html", include_str!("../../templates/users.html")),
    ("user.html", include_str!("../../templates/user.html")),
    ("password.html", include_str!("../../templates/password.html")),
    ("account.html", include_str!("../../templates/account.html")),
    ("groups.html", include_str!("../../templates/groups.html")),
    ("group.html", include_str!("../../templates/group.html")),
    ("api_keys.html", include_str!("../../templates/api_keys.html")),
    ("api_key.html", include_str!("../../templates/api_key.html")),
    ("api_key_form.html", include_str!("../../templates/api_key_form.html")),
    ("api_key_made.html", include_str!("../../templates/api_key_made.html")),
    ("sessions.html", include_str!("../../templates/sessions.html")),
    ("verifications.html", include_str!("../../templates/verifications.html")),
    ("verification_made.html", include_str!("../../templates/verification_made.html")),
    ("audit.html", include_str!("../../templates/audit.html")),
    ("audit_entry.html", include_str!("../../templates/audit_entry.html")),
];

/// Adds these pages to the panel.
pub(super) fn routes(config: &mut ServiceConfig) {
    accounts(config);
    let page = |path| resource(path, &[Method::GET]);
    let form = |path| resource(path, &[Method::POST]);
    let both = |path| resource(path, &[Method::GET, Method::POST]);
    config
        .service(page("/groups").route(on(Method::GET).to(groups::groups)))
        .service(
            both("/groups/add")
                .route(on(Method::GET).to(group::add))
                .route(on(Method::POST).to(group::create)),
        )
        .service(
            both("/groups/{id}")
                .route(on(Method::GET).to(group::show))
                .route(on(Method::POST).to(group::change)),
        )
        .service(
            both("/groups/{id}/delete")
                .route(on(Method::GET).to(group::confirm))
                .route(on(Method::POST).to(group::delete)),
        )
        .service(page("/api-keys").route(on(Method::GET).to(api_keys::api_keys)))
        .service(
            both("/api-keys/add")
                .route(on(Method::GET).to(api_key::add))
                .route(on(Method::POST).to(api_key::create)),
        )
        .service(page("/api-keys/{id}").route(on(Method::GET).to(api_key::show)))
        .service(
            both("/api-keys/{id}/revoke")
                .route(on(Method::GET).to(api_key::confirm))
                .route(on(Method::POST).to(api_key::revoke)),
        )
        .service(page("/sessions").route(on(Method::GET).to(sessions::sessions)))
        .service(form("/sessions/{id}/revoke").route(on(Method::POST).to(sessions::revoke)))
        .service(page("/verifications").route(on(Method::GET).to(verifications::verifications)))
        .service(form("/verifications/add").route(on(Method::POST).to(verifications::add)))
        .service(form("/verifications/{id}/revoke").route(on(Method::POST).to(verifications::revoke)))
        .service(page("/audit").route(on(Method::GET).to(audit::audit)))
        .service(page("/audit/{id}").route(on(Method::GET).to(audit::entry)));
}

fn accounts(config: &mut ServiceConfig) {
    let page = |path| resource(path, &[Method::GET]);
    let form = |path| resource(path, &[Method::POST]);
    let both = |path| resource(path, &[Method::GET, Method::POST]);
    config
        .service(page("/account").route(on(Method::GET).to(account::account)))
        .service(form("/account/password").route(on(Method::POST).to(account::change_password)))
        .service(page("/users").route(on(Method::GET).to(users::users)))
        .service(
            both("/users/add").route(on(Method::GET).to(user::add)).route(on(Method::POST).to(user::create)),
        )
        .service(
            both("/users/{id}")
                .route(on(Method::GET).to(user::show))
                .route(on(Method::POST).to(user::change)),
        )
        .service(
            both("/users/{id}/password")
                .route(on(Method::GET).to(user_actions::password))
                .route(on(Method::POST).to(user_actions::set_password)),
        )
        .service(
            both("/users/{id}/delete")
                .route(on(Method::GET).to(user_actions::confirm))
                .route(on(Method::POST).to(user_actions::delete)),
        )
        .service(form("/users/{id}/end-sessions").route(on(Method::POST).to(user_actions::end_sessions)));
}
