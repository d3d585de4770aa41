//! Declaration of the settings of a section.

/// Declares a section: `section! { /// Doc. Name "title" { /// Meaning. field: Type = defaults, check; … } }`.
/// A check takes the value and the [`Context`] and returns a refusal if the value is invalid.
macro_rules! section {
    (
        $(#[$doc:meta])*
        $name:ident $title:literal {
            $( $(#[doc = $meaning:literal])+ $field:ident: $type:ty = $defaults:expr $(, $check:expr)?; )+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $( $(#[doc = $meaning])+ pub $field: $type, )+
        }

        impl $name {
            /// The section's settings.
            pub const SETTINGS: &'static [$crate::config::declare::Setting] = &[$(
                $crate::config::declare::Setting {
                    name: stringify!($field),
                    section: $title,
                    kind: <$type as $crate::config::value::Value>::KIND,
                    dev: { const DEFAULTS: $crate::config::declare::Defaults = $defaults; DEFAULTS.dev },
                    serve: { const DEFAULTS: $crate::config::declare::Defaults = $defaults; DEFAULTS.serve },
                    meaning: concat!($($meaning),+),
                    is_secret: <$type as $crate::config::value::Value>::IS_SECRET,
                },
            )+];

            /// Reads the section; `None` if it has problems, which the reader collects.
            pub(in $crate::config) fn read(reader: &mut $crate::config::reader::Reader<'_>) -> Option<Self> {
                let mut settings = Self::SETTINGS.iter();
                // All settings are read before the first failure returns, so that every problem is reported.
                $( let $field = reader.read::<$type>(settings.next()?, &[$(&$check)?]); )+
                Some(Self { $( $field: $field?, )+ })
            }
        }
    };
}
pub(super) use section;
