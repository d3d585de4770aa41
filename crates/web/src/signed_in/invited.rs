//! Addresses of a form that invites people, and the page that shows the outcomes.

use super::field::Field;
use super::form::{FieldErrors, Form};
use crate::language::t;
use crate::times::Time;
use chrono::{DateTime, Utc};
use docent_app::accounts::group_members;
use docent_app::accounts::invitations::{Delivery, InvitationOutcome, NewInvitation};
use docent_app::accounts::verification;
use docent_domain::id::UserId;
use docent_domain::invitation::parse_addresses;
use docent_domain::text::Email;
use docent_http::State;
use serde::Serialize;

/// How a form wants links to be delivered.
pub(crate) fn delivery(form: &Form) -> Delivery {
    if form.text("delivery") == "email" { Delivery::Email } else { Delivery::Link }
}

/// Addresses and delivery of a form, valid or not.
pub(crate) struct AddressDraft {
    emails: String,
    pub(crate) delivery: Delivery,
}

impl AddressDraft {
    pub(crate) fn empty(context: &State) -> Self {
        let sends_email = verification::is_possible(&context.app);
        Self { emails: String::new(), delivery: if sends_email { Delivery::Email } else { Delivery::Link } }
    }

    pub(crate) fn submitted(form: &Form) -> Self {
        Self { emails: form.text("emails").to_owned(), delivery: delivery(form) }
    }

    pub(crate) fn parse(&self, errors: &mut FieldErrors) -> Option<Vec<Email>> {
        errors.take("emails", parse_addresses(&self.emails))
    }

    /// The fields; the delivery can be chosen if emails can be sent.
    pub(crate) fn fields(&self, context: &State) -> Vec<Field> {
        let emails =
            Field::text_area("emails", t!("invite-emails"), &self.emails).help(t!("invite-emails-help"));
        if !verification::is_possible(&context.app) {
            return vec![emails];
        }
        let chosen = if self.delivery == Delivery::Email { "email" } else { "link" };
        let choices = [("email", t!("invite-by-email")), ("link", t!("invite-by-link"))];
        let choices = choices.map(|(value, label)| (value.to_owned(), label));
        vec![emails, Field::select("delivery", t!("invite-delivery"), chosen, choices)]
    }
}

/// Page that shows the outcome for each address, and new links once.
#[derive(Serialize)]
pub(crate) struct InvitedPage {
    rows: Vec<Row>,
    has_links: bool,
    expires: Option<Time>,
    /// Page that it belongs to, and its address if the user may open it.
    section: String,
    section_href: Option<String>,
}

#[derive(Serialize)]
struct Row {
    email: String,
    /// The outcome.
    outcome: String,
    /// New link to pass on.
    link: Option<String>,
    /// Page of the account, if it has one.
    page: Option<String>,
}

impl InvitedPage {
    /// `page_of` is the page of an account, if the user may view it.
    pub(crate) fn of(
        outcomes: &[(Email, InvitationOutcome)],
        section: (String, Option<String>),
        page_of: impl Fn(UserId) -> Option<String>,
        now: DateTime<Utc>,
    ) -> Self {
        let rows = outcomes.iter().map(|(email, outcome)| row(email, outcome, &page_of)).collect();
        Self::with_rows(rows, section, now)
    }

    /// The outcomes of adding addresses to a group.
    pub(crate) fn of_members(
        outcomes: &[(Email, group_members::MemberOutcome)],
        section: (String, Option<String>),
        page_of: impl Fn(UserId) -> Option<String>,
        now: DateTime<Utc>,
    ) -> Self {
        use group_members::MemberOutcome::{Added, Invited, IsMember, NeedsStaff, NoAccount};
        let plain = |email: &Email, outcome: String, page| {
            (Row { email: email.as_str().to_owned(), outcome, link: None, page }, None)
        };
        let of = |(email, outcome): &(Email, group_members::MemberOutcome)| match outcome {
            Added(user) => plain(email, t!("group-member-added"), page_of(user.id)),
            IsMember(user) => plain(email, t!("group-member-before"), page_of(user.id)),
            NoAccount => plain(email, t!("group-member-no-account"), None),
            NeedsStaff(user) => plain(email, t!("group-member-needs-staff"), page_of(user.id)),
            Invited(invited) => row(email, invited, &page_of),
        };
        Self::with_rows(outcomes.iter().map(of).collect(), section, now)
    }

    /// The new link of one invitation.
    pub(crate) fn of_link(
        new: &NewInvitation,
        section: (String, Option<String>),
        now: DateTime<Utc>,
    ) -> Self {
        let outcomes = [(new.record.email.clone(), InvitationOutcome::Invited(new.clone()))];
        Self::of(&outcomes, section, |_| None, now)
    }

    fn with_rows(
        rows: Vec<(Row, Option<DateTime<Utc>>)>,
        (section, section_href): (String, Option<String>),
        now: DateTime<Utc>,
    ) -> Self {
        let expires = rows.iter().find_map(|(_, expires)| *expires);
        let rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
        Self {
            has_links: rows.iter().any(|row| row.link.is_some()),
            rows,
            expires: expires.map(|at| Time::of(at, now)),
            section,
            section_href,
        }
    }
}

/// Row of an address, and when its new link expires.
fn row(
    email: &Email,
    outcome: &InvitationOutcome,
    page_of: &impl Fn(UserId) -> Option<String>,
) -> (Row, Option<DateTime<Utc>>) {
    let (text, link, page) = match outcome {
        InvitationOutcome::Invited(new) if new.record.is_emailed => (t!("invited-by-email"), None, None),
        InvitationOutcome::Invited(new) => (t!("invited-by-link"), Some(new.link.clone()), None),
        InvitationOutcome::HasAccount(user) => (t!("invited-has-account"), None, page_of(*user)),
        InvitationOutcome::IsInvited => (t!("invited-before"), None, None),
    };
    let expires = match outcome {
        InvitationOutcome::Invited(new) => Some(new.record.expires_at),
        InvitationOutcome::HasAccount(_) | InvitationOutcome::IsInvited => None,
    };
    (Row { email: email.as_str().to_owned(), outcome: text, link, page }, expires)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for InvitedPage {
        fn samples() -> Vec<Self> {
            let row = |link: Option<&str>, page: Option<&str>| Row {
                email: "guest@example.com".to_owned(),
                outcome: "has an account".to_owned(),
                link: link.map(str::to_owned),
                page: page.map(str::to_owned),
            };
            let page = |rows, has_links, href: Option<&str>| Self {
                rows,
                has_links,
                expires: has_links.then(Time::sample),
                section: "Invitations".to_owned(),
                section_href: href.map(str::to_owned),
            };
            vec![
                page(
                    vec![row(Some("https://example.com/"), None), row(None, None)],
                    true,
                    Some("/admin/invitations"),
                ),
                page(vec![row(None, Some("/admin/users/1"))], false, None),
            ]
        }
    }
}
