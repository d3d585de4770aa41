//! Accounts and usage records in memory.

use super::{Tables, Transaction, insert_once, page_of, violation};
use async_trait::async_trait;
use docent_domain::collection::{Collection, Member};
use docent_domain::fault::Result;
use docent_domain::id::UserId;
use docent_domain::listing::{
    Page, PageRequest, UsageFilter, UsageGrouping, UsageSum, UserFilter, UserOrder,
};
use docent_domain::permission::Permission;
use docent_domain::text::{Email, composed};
use docent_domain::usage::{TokenUsage, UsageRecord};
use docent_domain::user::{Person, User};
use docent_ports::usage::{UsageReader, UsageWriter};
use docent_ports::users::{UserReader, UserWriter};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

#[async_trait]
impl UserReader for Transaction {
    async fn get(&mut self, id: UserId) -> Result<Option<User>> {
        Ok(self.read()?.users.get(&id).cloned())
    }

    async fn by_email(&mut self, email: &Email) -> Result<Option<User>> {
        Ok(holder(self.read()?, email).cloned())
    }

    async fn count(&mut self) -> Result<u64> {
        Ok(self.read()?.users.len() as u64)
    }

    async fn list(&mut self, filter: &UserFilter, page: PageRequest) -> Result<Page<User>> {
        let tables = self.read()?;
        let mut users: Vec<User> =
            tables.users.values().filter(|user| fits(tables, filter, user)).cloned().collect();
        match filter.order {
            UserOrder::Email => users.sort_by(|a, b| a.email.cmp(&b.email)),
            UserOrder::Newest => users.sort_by_key(|user| Reverse((user.created_at, user.id))),
            UserOrder::LastLogin => users.sort_by_key(|user| Reverse((user.last_login_at, user.id))),
        }
        Ok(page_of(users, page))
    }

    async fn people(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, Person>> {
        let users = &self.read()?.users;
        let person = |user: &User| Person { email: user.email.clone(), name: user.name.clone() };
        Ok(ids.iter().filter_map(|id| Some((*id, person(users.get(id)?)))).collect())
    }
}

#[async_trait]
impl UserWriter for Transaction {
    async fn insert(&mut self, user: &User) -> Result<bool> {
        self.write(|tables| {
            if holder(tables, &user.email).is_some() {
                return Ok(false);
            }
            insert_once(&mut tables.users, user.id, user)?;
            let personal = Collection::personal(user.id, user.created_at);
            tables.collections.entry(personal.id).or_insert(personal);
            Ok(true)
        })
    }

    async fn update(&mut self, user: &User) -> Result<bool> {
        self.write(|tables| {
            if !tables.users.contains_key(&user.id) {
                return Ok(false);
            }
            if holder(tables, &user.email).is_some_and(|other| other.id != user.id) {
                return Err(violation("the address is another account's"));
            }
            tables.users.insert(user.id, user.clone());
            Ok(true)
        })
    }

    async fn delete(&mut self, id: UserId) -> Result<bool> {
        self.write(|tables| {
            tables.rights.remove(&id);
            tables.api_keys.retain(|_, key| key.user != id);
            tables.sessions.retain(|_, session| session.user != id);
            tables.identities.retain(|_, identity| identity.user != id);
            tables.oauth_codes.retain(|_, code| code.user != id);
            tables.invitations.retain(|_, invitation| invitation.invited_by != Some(id));
            tables.verifications.retain(|_, token| token.user != id);
            tables.conversations.retain(|_, (conversation, _)| conversation.owner != id);
            tables.responses.retain(|_, response| response.owner != id);
            let conversations = &tables.conversations;
            tables.shared.retain(|(conversation, _)| conversations.contains_key(conversation));
            tables.webhooks.retain(|_, kept| kept.webhook.owner != id);
            let webhooks = &tables.webhooks;
            tables.deliveries.retain(|_, delivery| webhooks.contains_key(&delivery.webhook));
            for document in tables.documents.values_mut().filter(|document| document.owner == Some(id)) {
                document.owner = None;
            }
            tables.members.retain(|(_, member), _| *member != Member::User(id));
            tables.hidden.retain(|(user, _)| *user != id);
            for collection in
                tables.collections.values_mut().filter(|collection| collection.owner == Some(id))
            {
                collection.owner = None;
            }
            for job in tables.jobs.values_mut().filter(|job| job.owner == Some(id)) {
                job.owner = None;
            }
            Ok(tables.users.remove(&id).is_some())
        })
    }
}

fn fits(tables: &Tables, filter: &UserFilter, user: &User) -> bool {
    let is_member = |group| tables.rights.get(&user.id).is_some_and(|rights| rights.groups.contains(&group));
    let has = |text: &str, part: &String| text.to_lowercase().contains(&composed(part).to_lowercase());
    let name = user.name.as_ref().map_or("", |name| name.as_str());
    filter.text.as_ref().is_none_or(|part| has(user.email.as_str(), part) || has(name, part))
        && filter.is_active.is_none_or(|is_active| user.is_active == is_active)
        && filter.can_use_panel.is_none_or(|may_enter| (user.is_staff || user.is_superuser) == may_enter)
        && filter.is_superuser.is_none_or(|is_superuser| user.is_superuser == is_superuser)
        && filter.group.is_none_or(is_member)
        && filter.permission.is_none_or(|permission| has_permission(tables, user.id, permission))
}

/// Whether an account has a permission itself or through a group.
fn has_permission(tables: &Tables, user: UserId, permission: Permission) -> bool {
    tables.rights.get(&user).is_some_and(|rights| {
        let mut groups = rights.groups.iter().filter_map(|group| tables.groups.get(group));
        rights.permissions.contains(permission) || groups.any(|group| group.permissions.contains(permission))
    })
}

#[async_trait]
impl UsageReader for Transaction {
    async fn sums(
        &mut self,
        filter: &UsageFilter,
        grouping: UsageGrouping,
        page: PageRequest,
    ) -> Result<Page<UsageSum>> {
        let mut sums = BTreeMap::new();
        if grouping == UsageGrouping::default() {
            sums.insert((Reverse(None), None, None), (0, TokenUsage::default()));
        }
        for record in self.read()?.usage.values() {
            let fits = filter.user.is_none_or(|user| record.user == user)
                && filter.api_key.is_none_or(|key| record.api_key == Some(key))
                && filter.period.contains(record.at);
            if fits {
                let day = grouping.by_day.then(|| record.at.date_naive());
                let user = grouping.by_user.then_some(record.user);
                let key = record.api_key.filter(|_| grouping.by_key);
                let (answers, tokens) = sums.entry((Reverse(day), user, key)).or_default();
                *answers += 1;
                *tokens += record.tokens;
            }
        }
        let sums = sums.into_iter().map(|((Reverse(day), user, api_key), (answers, tokens))| UsageSum {
            day,
            user,
            api_key,
            answers,
            tokens,
        });
        Ok(page_of(sums.collect(), page))
    }
}

#[async_trait]
impl UsageWriter for Transaction {
    async fn insert(&mut self, record: &UsageRecord) -> Result<()> {
        self.write(|tables| insert_once(&mut tables.usage, record.id, record))
    }

    async fn total_for_user(&mut self, user: UserId) -> Result<TokenUsage> {
        let mut total = TokenUsage::default();
        for record in self.read()?.usage.values().filter(|record| record.user == user) {
            total += record.tokens;
        }
        Ok(total)
    }
}

fn holder<'t>(tables: &'t Tables, email: &Email) -> Option<&'t User> {
    tables.users.values().find(|user| user.email == *email)
}
