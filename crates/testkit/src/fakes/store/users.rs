//! Accounts, and what they used, in memory.

use super::{Session, Tables, violation};
use async_trait::async_trait;
use docent_domain::{
    id::UserId,
    text::Email,
    usage::{TokenUsage, UsageRecord},
    user::User,
};
use docent_ports::{
    error::Result,
    usage::UsageWriter,
    users::{UserReader, UserWriter},
};

#[async_trait]
impl UserReader for Session {
    async fn get(&mut self, id: UserId) -> Result<Option<User>> {
        Ok(self.read()?.users.get(&id).cloned())
    }

    async fn by_email(&mut self, email: &Email) -> Result<Option<User>> {
        Ok(holder(self.read()?, email).cloned())
    }

    async fn count(&mut self) -> Result<u64> {
        Ok(self.read()?.users.len() as u64)
    }
}

#[async_trait]
impl UserWriter for Session {
    async fn insert(&mut self, user: &User) -> Result<bool> {
        self.write(|tables| {
            if holder(tables, &user.email).is_some() {
                return Ok(false);
            }
            match tables.users.insert(user.id, user.clone()) {
                None => Ok(true),
                Some(_) => Err(violation("there is an account with this id")),
            }
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
}

#[async_trait]
impl UsageWriter for Session {
    async fn insert(&mut self, record: &UsageRecord) -> Result<()> {
        self.write(|tables| match tables.usage.insert(record.id, record.clone()) {
            None => Ok(()),
            Some(_) => Err(violation("there is a usage record with this id")),
        })
    }

    async fn total_of(&mut self, user: UserId) -> Result<TokenUsage> {
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
