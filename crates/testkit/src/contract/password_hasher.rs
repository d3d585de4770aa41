//! Contract of every password hasher.

use docent_domain::user::Password;
use docent_ports::password_hasher::PasswordHasher;
use std::sync::Arc;

fn password(text: &str) -> Password {
    Password::parse_existing(text.to_owned()).unwrap()
}

crate::battery! {
    password_hasher_contract in password_hasher (Arc<dyn PasswordHasher>);

    async fn hash_matches_only_its_password(hasher) {
        let hash = hasher.hash(password("Correct horse 🐎")).await.unwrap();
        assert!(hasher.verify(password("Correct horse 🐎"), Some(hash.clone())).await.unwrap());
        for wrong in ["correct horse 🐎", "Correct horse 🐎 ", "Correct horse", ""] {
            assert!(!hasher.verify(password(wrong), Some(hash.clone())).await.unwrap(), "{wrong:?}");
        }
        assert!(hasher.verify_reserved(password("Correct horse 🐎"), Some(hash.clone())).await.unwrap());
        assert!(!hasher.verify_reserved(password("Correct horse"), Some(hash)).await.unwrap());
    }

    /// Two hashes of one password differ, and neither contains the password.
    async fn hashes_are_salted(hasher) {
        let first = hasher.hash(password("correct horse")).await.unwrap();
        let second = hasher.hash(password("correct horse")).await.unwrap();
        assert_ne!(first, second);
        assert!(!first.as_phc().contains("correct horse"));
    }

    async fn verify_without_hash_returns_false(hasher) {
        assert!(!hasher.verify(password("correct horse"), None).await.unwrap());
        assert!(!hasher.verify(password(""), None).await.unwrap());
    }

    async fn long_password_is_not_truncated(hasher) {
        let long = "x".repeat(Password::MAX_BYTES);
        let hash = hasher.hash(password(&long)).await.unwrap();
        assert!(hasher.verify(password(&long), Some(hash.clone())).await.unwrap());
        let other = format!("{}y", &long[1..]);
        assert!(!hasher.verify(password(&other), Some(hash)).await.unwrap());
    }
}
