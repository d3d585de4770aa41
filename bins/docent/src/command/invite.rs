//! `docent users invite`.

use super::accounts::{account_service, open_store};
use crate::output;
use crate::wire;
use anyhow::{Context, bail};
use docent::cli::{CollectionRoleArg, InviteArgs};
use docent_app::accounts::invitations::{self, Delivery, NewInvitation};
use docent_app::error::Error;
use docent_domain::collection::CollectionKind;
use docent_domain::group::GroupName;
use docent_domain::id::CollectionId;
use docent_domain::invitation::{InvitedAccess, parse_addresses};
use docent_domain::listing::CollectionFilter;
use docent_domain::text::Email;
use docent_ports::store::{ReadView, Store};
use serde_json::{Value, json};
use std::io::Read;

/// Number of collections that are searched for one name.
const SEARCHED_COLLECTIONS: u64 = 1000;

/// Invites people, and prints the links or sends them.
pub(crate) async fn run(args: &InviteArgs) -> anyhow::Result<()> {
    let emails = addresses(args)?;
    let (store, settings) = open_store(args.installation.profile()).await?;
    let access = access(&mut *store.read().await?, args).await?;
    let system = wire::system_ports()?;
    let mailer = wire::mailer(&settings, &system.clock, &system.entropy)?;
    if args.send && !mailer.is_configured() {
        bail!(
            "--send needs a mail server: set DOCENT_SMTP_URL and DOCENT_MAIL_FROM, or pass on the links yourself"
        );
    }
    let delivery = if args.send { Delivery::Email } else { Delivery::Link };
    let (site, service) = (wire::public_url(&settings), account_service(&store, &system));
    for email in &emails {
        let new = match service.invite(email, &access, delivery, &site).await {
            Ok(new) => Some(new),
            Err(Error::EmailTaken) => None,
            Err(error) => return Err(error.into()),
        };
        if let Some(new) = new.as_ref().filter(|_| args.send) {
            let sent = mailer.send(&invitations::mail(&site, new, None)).await;
            sent.with_context(|| {
                format!("sending the invitation of {}; run the command again", email.as_str())
            })?;
        }
        let link = new.as_ref().filter(|_| !args.send).map(|new| new.link.as_str());
        output::print(
            args.installation.output,
            || match (&new, link) {
                (None, _) => format!("{} has an account already.", email.as_str()),
                (Some(_), Some(link)) => format!("{}\t{link}", email.as_str()),
                (Some(_), None) => format!("Invited {}.", email.as_str()),
            },
            || as_json(email, new.as_ref(), link),
        )?;
    }
    Ok(())
}

fn as_json(email: &Email, new: Option<&NewInvitation>, link: Option<&str>) -> Value {
    json!({
        "email": email.as_str(),
        "is_invited": new.is_some(),
        "link": link,
        "expires_at": new.map(|new| new.record.expires_at.to_rfc3339()),
    })
}

/// The addresses of the arguments and of the file.
fn addresses(args: &InviteArgs) -> anyhow::Result<Vec<Email>> {
    let mut emails: Vec<Email> = args
        .emails
        .iter()
        .map(|email| Email::parse(email).with_context(|| format!("`{email}`")))
        .collect::<Result<_, _>>()?;
    if let Some(path) = &args.from {
        let text = if path.as_os_str() == "-" {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
        } else {
            std::fs::read_to_string(path)
        };
        let text = text.with_context(|| format!("reading {}", path.display()))?;
        emails.extend(parse_addresses(&text)?);
    }
    Ok(emails)
}

/// The groups and collections of the arguments.
async fn access(view: &mut dyn ReadView, args: &InviteArgs) -> anyhow::Result<InvitedAccess> {
    let mut access = InvitedAccess::default();
    for name in &args.groups {
        let group = view.groups().by_name(&GroupName::parse(name)?).await?;
        access.groups.insert(group.with_context(|| format!("no group is named `{name}`"))?.id);
    }
    for CollectionRoleArg { collection, role } in &args.collections {
        access.collections.insert(find_collection(view, collection).await?, *role);
    }
    Ok(access)
}

/// Finds a collection that can be shared, by its ID or its name.
async fn find_collection(view: &mut dyn ReadView, text: &str) -> anyhow::Result<CollectionId> {
    let mut found = Vec::new();
    if let Ok(id) = text.parse() {
        found.extend(view.collections().get(id).await?);
    } else {
        let filter = CollectionFilter { name_contains: Some(text.to_owned()), ..CollectionFilter::default() };
        let named = view.collections().list(&filter, SEARCHED_COLLECTIONS).await?;
        found.extend(named.into_iter().filter(|collection| collection.name.as_str() == text));
    }
    found.retain(|collection| collection.kind != CollectionKind::Personal);
    match found.as_slice() {
        [only] => Ok(only.id),
        [] => bail!("no collection that can be shared is named `{text}`"),
        _ => {
            bail!("several collections are named `{text}`; use the ID, as `docent collections list` shows it")
        }
    }
}
