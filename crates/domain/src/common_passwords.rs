//! Passwords that are guessed first.
//!
//! Lists of leaked passwords have few patterns at their top: a common word with digits around it, a walk over the
//! keyboard, a repetition, a date. The patterns are checked instead of a long list.

/// Words at the top of lists of leaked passwords, and words of this service, in lower case.
const WORDS: &[&str] = &[
    "aaron",
    "abc",
    "abcd",
    "abcdef",
    "access",
    "account",
    "admin",
    "administrator",
    "amanda",
    "andrea",
    "andrew",
    "angel",
    "angels",
    "anthony",
    "apple",
    "april",
    "arsenal",
    "asdf",
    "asdfgh",
    "ashley",
    "august",
    "austin",
    "autumn",
    "babygirl",
    "bailey",
    "banana",
    "barcelona",
    "baseball",
    "basketball",
    "batman",
    "berlin",
    "blink",
    "boomer",
    "brandon",
    "buster",
    "butterfly",
    "change",
    "changeme",
    "charlie",
    "cheese",
    "chelsea",
    "chicken",
    "chocolate",
    "computer",
    "cookie",
    "corvette",
    "cowboy",
    "cowboys",
    "dallas",
    "daniel",
    "december",
    "default",
    "demo",
    "diamond",
    "docent",
    "dolphin",
    "dragon",
    "eagles",
    "einstein",
    "elizabeth",
    "fall",
    "family",
    "february",
    "ferrari",
    "fish",
    "flower",
    "football",
    "forever",
    "frankfurt",
    "freedom",
    "friday",
    "gandalf",
    "george",
    "ginger",
    "google",
    "guest",
    "hallo",
    "hallo welt",
    "hamburg",
    "hammer",
    "hannah",
    "happy",
    "harley",
    "heather",
    "hello",
    "hello world",
    "helloworld",
    "hockey",
    "hunter",
    "iceman",
    "iloveu",
    "iloveyou",
    "internet",
    "jackson",
    "january",
    "jasmine",
    "jennifer",
    "jessica",
    "jesus",
    "jordan",
    "joshua",
    "juli",
    "july",
    "june",
    "juni",
    "justin",
    "killer",
    "kitten",
    "lakers",
    "letmein",
    "letmeinnow",
    "liverpool",
    "login",
    "london",
    "love",
    "lovely",
    "loveme",
    "loveyou",
    "lucky",
    "maggie",
    "manager",
    "march",
    "master",
    "matrix",
    "matthew",
    "maverick",
    "mercedes",
    "merlin",
    "michael",
    "michelle",
    "mickey",
    "monday",
    "money",
    "monkey",
    "monster",
    "mother",
    "mustang",
    "mypassword",
    "naruto",
    "newpassword",
    "nicole",
    "ninja",
    "november",
    "october",
    "office",
    "oktober",
    "oracle",
    "orange",
    "pa55word",
    "parol",
    "parola",
    "pass",
    "passw",
    "passwd",
    "password",
    "passwordpassword",
    "passwort",
    "passwort geheim",
    "patrick",
    "peanut",
    "pepper",
    "phoenix",
    "please",
    "pokemon",
    "porsche",
    "postgres",
    "prince",
    "princess",
    "private",
    "purple",
    "qazwsx",
    "qwer",
    "qwert",
    "qwerty",
    "qwertz",
    "rainbow",
    "ranger",
    "rangers",
    "robert",
    "root",
    "samantha",
    "samsung",
    "schatz",
    "secret",
    "secure",
    "security",
    "september",
    "service",
    "shadow",
    "silver",
    "slipknot",
    "snoopy",
    "soccer",
    "sommer",
    "sparky",
    "spiderman",
    "spring",
    "starwars",
    "steelers",
    "student",
    "summer",
    "sunday",
    "sunshine",
    "super",
    "superman",
    "superuser",
    "support",
    "sydney",
    "taylor",
    "teacher",
    "temp",
    "temporary",
    "test",
    "tester",
    "testing",
    "testtest",
    "thomas",
    "thunder",
    "tigger",
    "tinkerbell",
    "trustno",
    "user",
    "username",
    "victoria",
    "wachtwoord",
    "welcome",
    "whatever",
    "william",
    "willkommen",
    "winner",
    "winter",
    "wizard",
    "yamaha",
    "yankees",
    "zaq",
    "zxcvbn",
];

/// Rows and columns of keyboards, and the alphabet.
const WALKS: &[&str] = &[
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890123456789",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "1234567890qwertyuiop",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    "qazwsxedcrfvtgbyhnujm",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "1a2b3c4d5e6f7g8h9i",
    "a1b2c3d4e5f6g7h8i9",
];

/// Digits alone up to this length are dates, telephone numbers and codes.
const DIGITS_MAX: usize = 10;

/// Whether attackers try this password early.
pub(crate) fn is_common(password: &str) -> bool {
    let lower = password.to_lowercase();
    is_short_number(&lower) || is_repetition(&lower) || is_walk(&lower) || is_word(&lower)
}

fn is_short_number(text: &str) -> bool {
    text.len() <= DIGITS_MAX && text.bytes().all(|byte| byte.is_ascii_digit() || b"-./ ".contains(&byte))
}

/// A unit of at most four characters, repeated.
fn is_repetition(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    (1..=4).any(|unit| characters.iter().zip(characters.iter().skip(unit)).all(|(a, b)| a == b))
}

/// Neighbouring keys or letters, in either direction.
fn is_walk(text: &str) -> bool {
    let reversed: String = text.chars().rev().collect();
    WALKS.iter().any(|walk| walk.contains(text) || walk.contains(&reversed))
}

/// One or two common words with digits and symbols around them, also when letters are replaced by similar ones.
fn is_word(text: &str) -> bool {
    let is_common = |text: &str| {
        let is_listed = |text: &str| WORDS.binary_search(&text).is_ok();
        let words: Vec<&str> = text
            .split(|character: char| !character.is_alphabetic())
            .filter(|word| !word.is_empty())
            .collect();
        is_listed(core(text)) || (matches!(words.len(), 1..=2) && words.into_iter().all(is_listed))
    };
    let trimmed = text.trim_end_matches(|character: char| !character.is_alphabetic());
    is_common(text) || is_common(&letters(text)) || is_common(&letters(trimmed))
}

/// The text without the digits and symbols around it.
pub(crate) fn core(text: &str) -> &str {
    text.trim_matches(|character: char| !character.is_alphabetic())
}

/// The text with the letters that its digits and symbols stand for.
fn letters(text: &str) -> String {
    let letter = |character| match character {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_lower_case() {
        assert!(WORDS.is_sorted());
        assert!(WORDS.iter().all(|word| *word == word.to_lowercase()));
    }

    #[test]
    fn first_guesses_are_common() {
        for password in [
            "password",
            "Password1",
            "P@ssw0rd",
            "p@$$w0rd!",
            "Passw0rd2026!",
            "12345678",
            "01.02.1990",
            "aaaaaaaa",
            "abcabcabc",
            "19841984",
            "qwertyuiop",
            "poiuytrewq",
            "1q2w3e4r",
            "asdfghjkl",
            "qwertz123",
            "letmein!",
            "Welcome2026",
            "Sommer2025!",
            "docent123",
            "iloveyou1",
            "!!admin!!",
            "TrustNo1",
            "hello world",
            "password password",
            "password1password",
            "2026 Winter-Dragon!",
        ] {
            assert!(is_common(password), "{password}");
        }
    }

    #[test]
    fn other_passwords_are_not_common() {
        for password in [
            "correct horse",
            "battery staple",
            "tr0ub4dor&3",
            "winter is coming to us",
            "k7Qz!m2p",
            "37041985220417",
            "überraschung",
            "my dragon sleeps",
            "passwordless future",
            "abcdefgi",
        ] {
            assert!(!is_common(password), "{password}");
        }
    }
}
