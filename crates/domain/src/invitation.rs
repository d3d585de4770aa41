//! Invitations: links with which people create their accounts, with the access that the inviter gives them.

use crate::collection::CollectionRole;
use crate::error::{Rule, ValidationError};
use crate::id::{CollectionId, GroupId, InvitationId, UserId};
use crate::text::Email;
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of people who are invited at once.
pub const INVITATIONS_MAX: usize = 200;

/// An invitation that was not accepted yet. There is no account until it is; the secret is only in the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// ID of the invitation.
    pub id: InvitationId,
    /// Email address of the invited person, unique among invitations.
    pub email: Email,
    /// Groups and roles of the new account.
    pub access: InvitedAccess,
    /// Account that gives the access; none for the command line. It is deleted with its invitations.
    pub invited_by: Option<UserId>,
    /// Whether the link was sent to the address and shown to no one else, so that using it verifies the address.
    pub is_emailed: bool,
    /// SHA-256 digest of the secret, which has 260 random bits.
    pub sha256: [u8; 32],
    /// Time at which the link was created.
    pub created_at: DateTime<Utc>,
    /// Expiry time.
    pub expires_at: DateTime<Utc>,
}

impl Invitation {
    /// Whether the invitation can be accepted at `now`. Accepted ones are deleted.
    pub fn is_valid(&self, now: DateTime<Utc>) -> bool {
        now < self.expires_at
    }
}

/// What an invited account gets when the invitation is accepted. Groups and collections that were deleted since are
/// left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvitedAccess {
    /// Groups.
    pub groups: BTreeSet<GroupId>,
    /// Roles on collections.
    pub collections: BTreeMap<CollectionId, CollectionRole>,
}

/// Reads the addresses of people to invite from a pasted list, or from the content of a CSV file: each line has one
/// or more addresses, between any other cells. The first line can be a header. Repeated addresses count once.
///
/// # Errors
/// For the field `emails`: the line whose address is invalid or missing; no address at all; more than
/// [`INVITATIONS_MAX`].
pub fn parse_addresses(text: &str) -> Result<Vec<Email>, ValidationError> {
    let mut emails = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let cells = || line.split([',', ';', '\t']).map(address_in).filter(|cell| !cell.is_empty());
        let addresses: Vec<&str> = cells()
            .flat_map(str::split_whitespace)
            .map(address_in)
            .filter(|word| word.contains('@'))
            .collect();
        let is_header = at == 0 && text.lines().nth(1).is_some();
        if addresses.is_empty() && cells().next().is_some() && !is_header {
            return Err(ValidationError::of("emails", Rule::LineWithoutAddress(at + 1)));
        }
        for address in addresses {
            let email = Email::parse(address)
                .map_err(|_| ValidationError::of("emails", Rule::LineWithoutAddress(at + 1)))?;
            if !emails.contains(&email) {
                emails.push(email);
            }
        }
    }
    if emails.is_empty() {
        return Err(ValidationError::of("emails", Rule::NotEmpty));
    }
    if emails.len() > INVITATIONS_MAX {
        return Err(ValidationError::of("emails", Rule::MaxCount(INVITATIONS_MAX)));
    }
    Ok(emails)
}

/// A cell or word without the quotes of CSV and the brackets of `Name <address>`.
fn address_in(text: &str) -> &str {
    text.trim().trim_matches(|mark: char| matches!(mark, '"' | '\'' | '<' | '>' | '\u{feff}')).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> Result<Vec<String>, Option<Rule>> {
        let parsed = parse_addresses(text).map_err(|error| error.rule)?;
        Ok(parsed.iter().map(|email| email.as_str().to_owned()).collect())
    }

    #[test]
    fn addresses_are_read_from_lists_and_csv_files() {
        let both = || Ok(vec!["ada@example.org".to_owned(), "bob@example.org".to_owned()]);
        for text in [
            "ada@example.org\nbob@example.org\n",
            "ada@example.org, bob@example.org",
            "ada@example.org bob@example.org",
            "ada@example.org;bob@example.org;ADA@example.org",
            "\n  ada@example.org\r\n\r\nbob@example.org\r\n",
            "Ada Lovelace <ada@example.org>, \"Bob, the builder\" <bob@example.org>",
            "\u{feff}Name;Email\nAda;ada@example.org\nBob;bob@example.org",
            "name,email\n\"Ada\",\"ada@example.org\"\n\"Bob\",\"bob@example.org\"",
        ] {
            assert_eq!(addresses(text), both(), "{text:?}");
        }
    }

    #[test]
    fn line_without_a_valid_address_is_named() {
        for (text, line) in
            [("ada@example.org\nBob", 2), ("ada", 1), ("ada@", 1), ("Email\nada@example.org\n@\n", 3)]
        {
            assert_eq!(addresses(text), Err(Some(Rule::LineWithoutAddress(line))), "{text:?}");
        }
        assert_eq!(addresses(" \n"), Err(Some(Rule::NotEmpty)));
        let many: String = (0..=INVITATIONS_MAX).map(|n| format!("a{n}@example.org\n")).collect();
        assert_eq!(addresses(&many), Err(Some(Rule::MaxCount(INVITATIONS_MAX))));
    }

    #[test]
    fn invitation_is_valid_until_it_expires() {
        let end = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(7);
        let invitation = Invitation {
            id: InvitationId::generate(DateTime::UNIX_EPOCH, [1; 10]),
            email: Email::parse("ada@example.org").unwrap(),
            access: InvitedAccess::default(),
            invited_by: None,
            is_emailed: false,
            sha256: [0; 32],
            created_at: DateTime::UNIX_EPOCH,
            expires_at: end,
        };
        assert!(invitation.is_valid(end - chrono::TimeDelta::seconds(1)) && !invitation.is_valid(end));
    }
}
