//! `docent collections`: manages the collections of a running service.

use crate::client::ServiceClient;
use crate::invocation;
use crate::output::{self, sanitize};
use anyhow::{Context, bail};
use docent::cli::{
    ChangeCollectionArgs, ClientArgs, CollectionArg, CollectionsCommand, CreateCollectionArgs,
    ListCollectionsArgs, MembersCommand, OneCollectionArgs, RemoveMemberArgs, SetMemberArgs,
};
use docent_domain::id::UserId;
use reqwest::Method;
use serde_json::{Map, Value, json};

/// Runs a subcommand.
pub(crate) async fn run(command: &CollectionsCommand) -> anyhow::Result<()> {
    match command {
        CollectionsCommand::List(args) => list(args).await,
        CollectionsCommand::Show(args) => show(args).await,
        CollectionsCommand::Create(args) => create(args).await,
        CollectionsCommand::Change(args) => change(args).await,
        CollectionsCommand::Delete(args) => delete(args).await,
        CollectionsCommand::Hide(args) => hide(args, Method::PUT).await,
        CollectionsCommand::Unhide(args) => hide(args, Method::DELETE).await,
        CollectionsCommand::Members(MembersCommand::List(args)) => list_members(args).await,
        CollectionsCommand::Members(MembersCommand::Set(args)) => set_member(args).await,
        CollectionsCommand::Members(MembersCommand::Remove(args)) => remove_member(args).await,
    }
}

/// Opens a client, and finds the collection.
async fn open(client: &ClientArgs, collection: &CollectionArg) -> anyhow::Result<(ServiceClient, String)> {
    let client = ServiceClient::open(&client.remote)?;
    let id = client.collection_id(collection).await?.to_string();
    Ok((client, id))
}

async fn list(args: &ListCollectionsArgs) -> anyhow::Result<()> {
    let client = ServiceClient::open(&args.client.remote)?;
    let mut cursor: Option<String> = None;
    loop {
        let mut query: Vec<_> = args.name.as_deref().map(|name| ("q", name)).into_iter().collect();
        query.extend(args.hidden.then_some(("include", "hidden")));
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let response = client.send(Method::GET, &["collections"], &query).await?;
        let next = response.headers().get("X-Next-Cursor").and_then(|value| value.to_str().ok());
        let next = next.map(str::to_owned);
        let found: Vec<Value> = response.json().await.context("reading the list")?;
        for collection in found {
            let text = |name: &str| sanitize(collection[name].as_str().unwrap_or_default());
            let row = || {
                let size = format!("{:>6}", collection["documents"].to_string());
                format!("{}  {:11}  {size}  {}", text("id"), text("role"), text("name"))
            };
            output::print(args.client.output, row, || collection.clone())?;
        }
        match next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}

async fn hide(args: &OneCollectionArgs, method: Method) -> anyhow::Result<()> {
    let (client, id) = open(&args.client, &args.collection).await?;
    let is_hidden = method == Method::PUT;
    client.send(method, &["collections", &id, "hidden"], &[]).await?;
    let word = if is_hidden { "hidden" } else { "shown" };
    output::print(
        args.client.output,
        || format!("{id}  {word}"),
        || json!({ "id": id, "is_hidden": is_hidden }),
    )?;
    Ok(())
}

async fn show(args: &OneCollectionArgs) -> anyhow::Result<()> {
    let (client, id) = open(&args.client, &args.collection).await?;
    print(&args.client, &client.get(&["collections", &id]).await?)
}

async fn create(args: &CreateCollectionArgs) -> anyhow::Result<()> {
    let client = ServiceClient::open(&args.client.remote)?;
    let mut body = json!({ "name": args.name });
    set(&mut body, "description", args.description.as_deref());
    set(&mut body, "role_of_all", args.role_of_all.as_deref());
    let response = client.send_json(Method::POST, &["collections"], &body).await?;
    print(&args.client, &response.json().await.context("reading the collection")?)
}

async fn change(args: &ChangeCollectionArgs) -> anyhow::Result<()> {
    let (client, id) = open(&args.client, &args.collection).await?;
    let mut body = Value::Object(Map::new());
    set(&mut body, "name", args.name.as_deref());
    set(&mut body, "description", args.description.as_deref());
    set(&mut body, "role_of_all", args.role_of_all.as_deref());
    let response = client.send_json(Method::PATCH, &["collections", &id], &body).await?;
    print(&args.client, &response.json().await.context("reading the collection")?)
}

fn set(body: &mut Value, field: &str, value: Option<&str>) {
    if let Some(value) = value {
        body[field] = value.into();
    }
}

async fn delete(args: &OneCollectionArgs) -> anyhow::Result<()> {
    let (client, id) = open(&args.client, &args.collection).await?;
    client.send(Method::DELETE, &["collections", &id], &[]).await?;
    output::print(args.client.output, || format!("{id}  deleted"), || json!({ "id": id, "deleted": true }))?;
    Ok(())
}

async fn list_members(args: &OneCollectionArgs) -> anyhow::Result<()> {
    let (client, id) = open(&args.client, &args.collection).await?;
    for member in members(&client, &id).await? {
        output::print(args.client.output, || member_text(&member), || member.clone())?;
    }
    Ok(())
}

async fn set_member(args: &SetMemberArgs) -> anyhow::Result<()> {
    let (client, id) = open(&args.client, &args.collection).await?;
    let mut body = json!({ "role": args.role });
    set(&mut body, "email", args.member.email.as_deref());
    set(&mut body, "group", args.member.group.as_deref());
    let response = client.send_json(Method::PUT, &["collections", &id, "members"], &body).await?;
    let member: Value = response.json().await.context("reading the member")?;
    output::print(args.client.output, || member_text(&member), || member.clone())?;
    Ok(())
}

async fn remove_member(args: &RemoveMemberArgs) -> anyhow::Result<()> {
    let (client, id) = open(&args.client, &args.collection).await?;
    let member = match (args.member.as_deref(), args.group.as_deref()) {
        // Members that are not managers cannot list the others, but know their own ID.
        (Some(member), _) if member.parse::<UserId>().is_ok() => member.to_owned(),
        (Some(email), _) => find_member(&client, &id, "user", email).await?,
        (None, group) => find_member(&client, &id, "group", group.unwrap_or_default()).await?,
    };
    client.send(Method::DELETE, &["collections", &id, "members", &member], &[]).await?;
    output::print(
        args.client.output,
        || format!("{member}  removed"),
        || json!({ "id": member, "removed": true }),
    )?;
    Ok(())
}

async fn members(client: &ServiceClient, id: &str) -> anyhow::Result<Vec<Value>> {
    let members = client.get(&["collections", id, "members"]).await?;
    Ok(members.as_array().cloned().unwrap_or_default())
}

/// The ID of a member. Email addresses are compared without regard to case.
async fn find_member(client: &ServiceClient, id: &str, kind: &str, name: &str) -> anyhow::Result<String> {
    for member in members(client, id).await? {
        let is_named = member["name"].as_str().is_some_and(|other| other.eq_ignore_ascii_case(name));
        if let Some(id) = member["id"].as_str().filter(|_| is_named && member["kind"] == kind) {
            return Ok(id.to_owned());
        }
    }
    let list = invocation::command("collections members list COLLECTION");
    bail!("{name:?} is not a member of the collection: `{list}` shows them")
}

fn member_text(member: &Value) -> String {
    let text = |name: &str| sanitize(member[name].as_str().unwrap_or_default());
    format!("{}  {:5}  {:11}  {}", text("id"), text("kind"), text("role"), text("name"))
}

/// Prints a collection, one field per line.
fn print(args: &ClientArgs, collection: &Value) -> anyhow::Result<()> {
    output::print(args.output, || as_text(collection), || collection.clone())?;
    Ok(())
}

fn as_text(collection: &Value) -> String {
    let text = |name: &str| sanitize(collection[name].as_str().unwrap_or("none"));
    let mut lines = Vec::new();
    for (label, field) in [
        ("id", "id"),
        ("name", "name"),
        ("description", "description"),
        ("kind", "kind"),
        ("your role", "role"),
        ("role of all", "role_of_all"),
    ] {
        let value = text(field);
        if !value.is_empty() {
            lines.push(format!("{label:<11} {value}"));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collection_text_has_its_roles() {
        let collection = json!({
            "id": "7", "name": "a\u{7}b", "description": "", "kind": "shared", "role": "manager", "role_of_all": null,
        });
        let text =
            "id          7\nname        a b\nkind        shared\nyour role   manager\nrole of all none";
        assert_eq!(as_text(&collection), text);
    }
}
