use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{counted, instant, micros, number, stored};
use docent_domain::fault::Result;
use docent_domain::id::UserId;
use docent_domain::limits::AccountLimits;
use docent_domain::second_factor::{SecondFactor, TotpSecret};
use docent_domain::text::PersonName;
use docent_domain::user::{PasswordHash, User};
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub email: String,
    pub password_hash: String,
    pub is_active: bool,
    pub is_staff: bool,
    pub is_superuser: bool,
    pub created_at: i64,
    pub last_login_at: Option<i64>,
    pub email_verified_at: Option<i64>,
    pub sessions_from: i64,
    pub answers_limit: Option<i64>,
    pub tokens_limit: Option<i64>,
    pub bytes_limit: Option<i64>,
    pub images_limit: Option<i64>,
    /// JSON of [`StoredSecondFactor`].
    pub second_factor: Option<String>,
    pub language: Option<String>,
    pub name: Option<String>,
}

no_relations!();

impl Record for User {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let limit = |limit: Option<u64>| limit.map(|limit| number(limit, "a limit")).transpose();
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            email: self.email.as_str().to_owned(),
            password_hash: self.password.as_phc().to_owned(),
            is_active: self.is_active,
            is_staff: self.is_staff,
            is_superuser: self.is_superuser,
            created_at: micros(self.created_at),
            last_login_at: self.last_login_at.map(micros),
            email_verified_at: self.email_verified_at.map(micros),
            sessions_from: micros(self.sessions_from),
            answers_limit: limit(self.limits.answers)?,
            tokens_limit: limit(self.limits.tokens_per_day)?,
            bytes_limit: limit(self.limits.stored_bytes)?,
            images_limit: limit(self.limits.page_images_per_hour)?,
            second_factor: self.second_factor.as_ref().map(to_json).transpose()?,
            language: self.language.as_ref().map(|language| language.as_str().to_owned()),
            name: self.name.as_ref().map(String::from),
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "account's time");
        let limit = |limit: Option<i64>| limit.map(|limit| counted(limit, "account's limit")).transpose();
        Ok(User {
            id: UserId::from_uuid(row.id),
            email: stored(row.email, "account's address")?,
            password: PasswordHash::from_phc(row.password_hash),
            is_active: row.is_active,
            is_staff: row.is_staff,
            is_superuser: row.is_superuser,
            created_at: when(row.created_at)?,
            last_login_at: row.last_login_at.map(when).transpose()?,
            email_verified_at: row.email_verified_at.map(when).transpose()?,
            sessions_from: when(row.sessions_from)?,
            limits: AccountLimits {
                answers: limit(row.answers_limit)?,
                tokens_per_day: limit(row.tokens_limit)?,
                stored_bytes: limit(row.bytes_limit)?,
                page_images_per_hour: limit(row.images_limit)?,
            },
            second_factor: row.second_factor.as_deref().map(from_json).transpose()?,
            language: stored(row.language, "account's language")?,
            name: row.name.as_deref().map(name).transpose()?,
        })
    }
}

/// The name of a person.
pub fn name(text: &str) -> Result<PersonName> {
    PersonName::parse(text).map_err(|_| corrupt("account's name"))
}

#[derive(Serialize, Deserialize)]
struct StoredSecondFactor {
    secret: [u8; 20],
    /// Missing in records of earlier versions.
    begun_at: Option<i64>,
    confirmed_at: Option<i64>,
    last_step: u64,
    recovery_codes: Vec<[u8; 32]>,
}

fn to_json(factor: &SecondFactor) -> Result<String> {
    let stored = StoredSecondFactor {
        secret: *factor.secret.expose(),
        begun_at: factor.begun_at.map(micros),
        confirmed_at: factor.confirmed_at.map(micros),
        last_step: factor.last_step,
        recovery_codes: factor.recovery_codes.clone(),
    };
    serde_json::to_string(&stored).map_err(|_| corrupt(SECOND_FACTOR))
}

fn from_json(json: &str) -> Result<SecondFactor> {
    let stored: StoredSecondFactor = serde_json::from_str(json).map_err(|_| corrupt(SECOND_FACTOR))?;
    Ok(SecondFactor {
        secret: TotpSecret::from_bytes(stored.secret),
        begun_at: stored.begun_at.map(|at| instant(at, SECOND_FACTOR)).transpose()?,
        confirmed_at: stored.confirmed_at.map(|at| instant(at, SECOND_FACTOR)).transpose()?,
        last_step: stored.last_step,
        recovery_codes: stored.recovery_codes,
    })
}

const SECOND_FACTOR: &str = "account's second factor";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_factor_of_an_earlier_version_is_read() {
        let secret = [7_u8; 20];
        let json = format!(r#"{{"secret":{secret:?},"confirmed_at":5,"last_step":3,"recovery_codes":[]}}"#);
        let factor = from_json(&json).unwrap();
        assert_eq!((factor.begun_at, factor.last_step), (None, 3));
        assert_eq!(factor.confirmed_at, Some(instant(5, SECOND_FACTOR).unwrap()));
        let json = json.replace("5,", "null,");
        assert!(!from_json(&json).unwrap().is_being_set_up(instant(5, SECOND_FACTOR).unwrap()));
    }
}
