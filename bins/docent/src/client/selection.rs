//! Finds the documents and collections of a selection.

use super::{ApiError, ServiceClient};
use crate::invocation::command;
use anyhow::{Context, bail};
use docent::cli::{CollectionArg, SelectionArgs};
use docent_domain::id::CollectionId;
use reqwest::Method;
use serde_json::Value;

impl ServiceClient {
    /// The ID of a collection. Of several with the name, that which the account owns: others can add it to theirs.
    ///
    /// # Errors
    /// If no collection of the account has the name, or several have it and the account owns none or several of them.
    pub(crate) async fn collection_id(&self, collection: &CollectionArg) -> anyhow::Result<CollectionId> {
        let name = match collection {
            CollectionArg::Id(id) => return Ok(*id),
            CollectionArg::Name(name) => name.trim(),
        };
        // An empty parameter would list all.
        if name.is_empty() {
            bail!("the name of the collection is empty");
        }
        let found = self.send(Method::GET, &["collections"], &[("q", name), ("include", "hidden")]).await?;
        let found: Vec<Value> = found.json().await.context("reading the collections")?;
        let id = |one: &&Value| one["id"].as_str().unwrap_or_default().to_owned();
        let named: Vec<&Value> = found.iter().filter(|one| one["name"] == name).collect();
        let own: Vec<String> = named.iter().filter(|one| one["is_own"] == true).map(id).collect();
        let ids = if own.len() == 1 { own } else { named.iter().map(id).collect() };
        match ids.as_slice() {
            [] => {
                let list = command("collections list");
                bail!("no collection is named {name:?}: `{list}` shows those of the account")
            }
            [id] => id.parse().with_context(|| format!("{id:?} is not a valid ID")),
            ids => bail!("{} collections are named {name:?}; use an ID: {}", ids.len(), ids.join(", ")),
        }
    }

    /// Adds the options of a selection to the body of a request.
    ///
    /// # Errors
    /// As [`collection_id`](Self::collection_id); if the account can read no document with one of the IDs, which the service would
    /// not search without a word.
    pub(crate) async fn select(&self, selection: &SelectionArgs, body: &mut Value) -> anyhow::Result<()> {
        for document in &selection.documents {
            let id = document.to_string();
            match self.get(&["documents", &id]).await {
                // A key that may only ask cannot look.
                Err(error) if ApiError::is_forbidden(&error) => {}
                read => {
                    read.with_context(|| format!("the document {id} cannot be searched"))?;
                }
            }
        }
        let mut ids = Vec::new();
        for collection in &selection.collections {
            ids.push(self.collection_id(collection).await?);
        }
        selection.add_to(&ids, body);
        Ok(())
    }
}
