//! Serialised forms of records, which archives and JSON columns share.
//!
//! Each type of a field has a form, and `record!` derives the form of a record from the list of its fields. A
//! new field is one line of that list.
//!
//! Forms of earlier versions are read: a field that they lack is an `Option` or has `#[serde(default)]`, and
//! the names in `#[serde(rename)]` do not change.

use docent_domain::error::ValidationError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value with a serialised form.
pub trait Stored: Sized {
    /// The form, as serde writes and reads it.
    type Form: Serialize + DeserializeOwned;

    /// Returns the form of the value.
    fn to_form(&self) -> Self::Form;

    /// Returns the value of a form.
    ///
    /// # Errors
    /// If no version of this program writes this form.
    fn from_form(form: Self::Form) -> Result<Self, ValidationError>;
}

/// Implements [`Stored`] for a record. The form is an object of the listed fields, each in the form of its
/// type. Fields in `without` are not part of the form; a record that is read gets these values. `adjust` names
/// a function that completes a record that was read.
macro_rules! record {
    ($record:ident { $($(#[$attribute:meta])* $field:ident: $type:ty,)* }
        $(without { $($left_out:ident: $value:expr,)* })? $(adjust $adjust:expr)?) => {
        const _: () = {
            #[derive(serde::Serialize, serde::Deserialize)]
            pub struct Form {
                $($(#[$attribute])* $field: <$type as Stored>::Form,)*
            }

            impl Stored for $record {
                type Form = Form;

                fn to_form(&self) -> Form {
                    Form { $($field: self.$field.to_form(),)* }
                }

                fn from_form(form: Form) -> Result<Self, docent_domain::error::ValidationError> {
                    let record = $record {
                        $($field: Stored::from_form(form.$field)?,)*
                        $($($left_out: $value,)*)?
                    };
                    $(let record = $adjust(record);)?
                    Ok(record)
                }
            }
        };
    };
}

/// Implements [`Stored`] for an enum of a variant with fields and a variant without. The form is an optional
/// object.
macro_rules! optional_record {
    ($enum:ident: $empty:ident or $variant:ident { $($(#[$attribute:meta])* $field:ident: $type:ty,)* }) => {
        const _: () = {
            #[derive(serde::Serialize, serde::Deserialize)]
            pub struct Form {
                $($(#[$attribute])* $field: <$type as Stored>::Form,)*
            }

            impl Stored for $enum {
                type Form = Option<Form>;

                fn to_form(&self) -> Option<Form> {
                    match self {
                        Self::$empty => None,
                        Self::$variant { $($field,)* } => Some(Form { $($field: $field.to_form(),)* }),
                    }
                }

                fn from_form(form: Option<Form>) -> Result<Self, docent_domain::error::ValidationError> {
                    Ok(match form {
                        None => Self::$empty,
                        Some(form) => Self::$variant { $($field: Stored::from_form(form.$field)?,)* },
                    })
                }
            }
        };
    };
}

/// Implements [`Stored`] for records whose form is the array of their fields.
macro_rules! array {
    ($($record:ident { $($field:ident: $type:ty),* })*) => {$(
        impl Stored for $record {
            type Form = ($(<$type as Stored>::Form,)*);

            fn to_form(&self) -> Self::Form {
                ($(self.$field.to_form(),)*)
            }

            fn from_form(($($field,)*): Self::Form) -> Result<Self, docent_domain::error::ValidationError> {
                Ok($record { $($field: Stored::from_form($field)?,)* })
            }
        }
    )*};
}

mod access;
mod archived;
mod conversations;
mod documents;
mod values;

pub use archived::{ArchivedChunk, ArchivedCollection, ArchivedConversation, ArchivedDocument, ArchivedUser};
