//! `docent complete-values`, which the completion scripts run: names of collections, and documents by ID or title.

use crate::client::ServiceClient;
use crate::output::{self, sanitize};
use clap::{Arg, Command};
use docent::cli::{CompleteValuesArgs, RemoteArgs, visible};
use reqwest::Method;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// Longer waits would make a terminal seem to hang.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The most values that are printed.
const MAX_VALUES: usize = 100;

/// Prints the values that complete the last word, one per line: the value, a tab, and a description. Prints nothing if they
/// are unknown, for example without a login: an error would be written into the line that is being typed.
pub(crate) async fn run(args: &CompleteValuesArgs) -> anyhow::Result<()> {
    let Some(request) = Request::parse(&args.words, args.remote.clone()) else { return Ok(()) };
    let values = match timeout(TIMEOUT, request.values()).await {
        Ok(Ok(values)) => values,
        Ok(Err(_)) | Err(_) => return Ok(()),
    };
    let lines = values.into_iter().take(MAX_VALUES);
    let lines: String = lines.map(|(value, description)| format!("{value}\t{description}\n")).collect();
    Ok(output::print_text(&lines)?)
}

/// What an argument names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Document,
    Collection,
}

impl Kind {
    /// What an argument of a command names; `None` if it is neither, or if the command is no client of a service.
    fn of(arg: &Arg, command: &Command) -> Option<Self> {
        command.get_arguments().find(|arg| arg.get_id() == "server")?;
        match arg.get_id().as_str() {
            "id" | "ids" | "documents" => Some(Self::Document),
            "collection" | "collections" | "add" | "remove" => Some(Self::Collection),
            _ => None,
        }
    }
}

/// A word that is being typed, and the service that knows its values.
struct Request {
    kind: Kind,
    part: String,
    remote: RemoteArgs,
}

impl Request {
    /// Finds the argument that the last word belongs to. Options for the service among the words replace those of `remote`.
    fn parse(words: &[String], mut remote: RemoteArgs) -> Option<Self> {
        let (part, before) = words.split_last()?;
        let mut all = visible();
        all.build();
        let (mut command, mut positionals, mut option) = (&all, 0, None::<&Arg>);
        for word in before {
            if let Some(arg) = option.take() {
                set(&mut remote, arg, word);
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let arg = command.get_arguments().find(|arg| arg.get_long() == Some(name));
                match (arg.filter(|arg| arg.get_action().takes_values()), value) {
                    (Some(arg), Some(value)) => set(&mut remote, arg, value),
                    (arg, None) => option = arg,
                    (None, Some(_)) => {}
                }
            } else if let Some(below) = command.find_subcommand(word) {
                command = below;
            } else {
                positionals += 1;
            }
        }
        let arg = match option {
            Some(arg) => arg,
            None if part.starts_with('-') => return None,
            None => {
                let mut args = command.get_positionals();
                let last = || command.get_positionals().last();
                args.nth(positionals).or_else(last)?
            }
        };
        Some(Self { kind: Kind::of(arg, command)?, part: part.clone(), remote })
    }

    /// The values that the word can become, each with a description.
    async fn values(&self) -> anyhow::Result<Vec<(String, String)>> {
        let client = ServiceClient::open(&self.remote)?;
        let (path, query) = match self.kind {
            Kind::Document => ("documents", vec![("limit", "1000")]),
            Kind::Collection => ("collections", Vec::new()),
        };
        let list: Vec<Value> = client.send(Method::GET, &[path], &query).await?.json().await?;
        Ok(matching(self.kind, &self.part, &list))
    }
}

fn set(remote: &mut RemoteArgs, arg: &Arg, value: &str) {
    match arg.get_id().as_str() {
        "server" => remote.server = value.to_owned(),
        "api_key" => remote.api_key = Some(value.to_owned()),
        "credentials" => remote.credentials = Some(value.into()),
        _ => {}
    }
}

/// The records that a part of an ID, title or name matches, without regard to case. Documents are named by their IDs,
/// collections by their names, or by their IDs if several have the same name.
fn matching(kind: Kind, part: &str, list: &[Value]) -> Vec<(String, String)> {
    let part = part.to_lowercase();
    let text = |one: &Value, field: &str| sanitize(one[field].as_str().unwrap_or_default());
    let value = |one: &Value| {
        let id = text(one, "id");
        let (name, matches) = match kind {
            Kind::Document => {
                let title = text(one, "title");
                let matches = title.to_lowercase().contains(&part);
                (title, matches)
            }
            Kind::Collection => {
                let name = text(one, "name");
                let matches = name.to_lowercase().starts_with(&part);
                (name, matches)
            }
        };
        let is_unique = || list.iter().filter(|other| other["name"] == one["name"]).count() == 1;
        let is_named = kind == Kind::Collection && is_unique();
        (matches || id.starts_with(&part)).then_some(if is_named { (name, id) } else { (id, name) })
    };
    list.iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(line: &str) -> Option<Request> {
        let remote = RemoteArgs { server: String::new(), api_key: None, credentials: None };
        Request::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), remote)
    }

    #[test]
    fn last_word_belongs_to_an_argument() {
        for (line, kind) in [
            ("documents show ", Some(Kind::Document)),
            ("documents delete 01 Han", Some(Kind::Document)),
            ("documents retry --failed no_text ", Some(Kind::Document)),
            ("search pumps --document han", Some(Kind::Document)),
            ("search --limit 3 pumps --collection Le", Some(Kind::Collection)),
            ("documents label 01 --add ", Some(Kind::Collection)),
            ("collections show Le", Some(Kind::Collection)),
            ("--color never collections show Le", Some(Kind::Collection)),
            ("search ", None),
            ("ingest --collection Legal fi", None),
            ("documents show --", None),
            ("documents", None),
            ("apikeys create ada@example.org --collection ", None),
            ("unknown ", None),
        ] {
            assert_eq!(parse(line).map(|request| request.kind), kind, "{line:?}");
        }
    }

    #[test]
    fn options_for_the_service_apply() {
        let remote =
            parse("documents show --server=http://a --api-key dk_x --credentials c.json ").unwrap().remote;
        let shown = (remote.server.as_str(), remote.api_key.as_deref(), remote.credentials.unwrap());
        assert_eq!(shown, ("http://a", Some("dk_x"), "c.json".into()));
    }

    #[test]
    fn records_match_by_id_and_by_title_or_name() {
        let documents =
            [json!({ "id": "01a", "title": "Hand\tbook" }), json!({ "id": "02b", "title": "Letter" })];
        let found = |part: &str| matching(Kind::Document, part, &documents);
        assert_eq!(found("BOOK"), [("01a".to_owned(), "Hand book".to_owned())]);
        assert_eq!(found("02"), [("02b".to_owned(), "Letter".to_owned())]);
        assert_eq!((found("").len(), found("x").len()), (2, 0));
        let collections = ["Legal", "Twice", "Twice"].iter().enumerate();
        let collections: Vec<Value> =
            collections.map(|(id, name)| json!({ "id": format!("{id}"), "name": name })).collect();
        let found = |part: &str| {
            let found = matching(Kind::Collection, part, &collections).into_iter();
            found.map(|(value, _)| value).collect::<Vec<_>>()
        };
        assert_eq!(
            (found("le"), found("twi"), found("gal")),
            (vec!["Legal".into()], vec!["1".into(), "2".into()], vec![])
        );
    }
}
