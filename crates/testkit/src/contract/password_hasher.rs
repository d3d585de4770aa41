//! What every password hasher does.

use docent_domain::user::Password;
use docent_ports::password_hasher::PasswordHasher;
use std::sync::Arc;

fn password(text: &str) -> Password {
    Password::parse_existing(text.to_owned()).unwrap()
}

crate::battery! {
    password_hasher_contract in password_hasher (Arc<dyn PasswordHasher>);

    /// A hash fits its own password alone, to the letter.
    async fn a_hash_fits_its_password_alone(hasher) {
        let hash = hasher.hash(password("Correct horse 🐎")).await.unwrap();
        assert!(hasher.verify(password("Correct horse 🐎"), Some(hash.clone())).await.unwrap());
        for wrong in ["correct horse 🐎", "Correct horse 🐎 ", "Correct horse", ""] {
            assert!(!hasher.verify(password(wrong), Some(hash.clone())).await.unwrap(), "{wrong:?}");
        }
    }

    /// Two hashes of one password differ, and none shows the password.
    async fn hashes_are_salted(hasher) {
        let first = hasher.hash(password("correct horse")).await.unwrap();
        let second = hasher.hash(password("correct horse")).await.unwrap();
        assert_ne!(first, second);
        assert!(!first.as_phc().contains("correct horse"));
    }

    /// Without a hash no password fits.
    async fn without_a_hash_the_answer_is_no(hasher) {
        assert!(!hasher.verify(password("correct horse"), None).await.unwrap());
        assert!(!hasher.verify(password(""), None).await.unwrap());
    }

    /// The longest passwords count in full.
    async fn long_passwords_count_to_the_last_byte(hasher) {
        let long = "x".repeat(Password::MAX_BYTES);
        let hash = hasher.hash(password(&long)).await.unwrap();
        assert!(hasher.verify(password(&long), Some(hash.clone())).await.unwrap());
        let other = format!("{}y", &long[1..]);
        assert!(!hasher.verify(password(&other), Some(hash)).await.unwrap());
    }
}
