//! Stores logins between commands, in one file that only its owner can read.

use anyhow::{Context, bail};
use reqwest::Url;
use serde_json::{Map, Value, json};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The tokens of a login.
#[derive(Clone)]
pub(super) struct Tokens {
    pub(super) email: String,
    pub(super) access_token: String,
    pub(super) refresh_token: String,
}

impl Tokens {
    /// Parses the token response of a service, or an entry of the file.
    pub(super) fn parse(answer: &Value, email: &str) -> anyhow::Result<Self> {
        let text = |name: &str| {
            let text = answer[name].as_str().map(str::to_owned);
            text.with_context(|| format!("the response has no {name}: is this a Docent service?"))
        };
        Ok(Self {
            email: email.to_owned(),
            access_token: text("access_token")?,
            refresh_token: text("refresh_token")?,
        })
    }
}

/// The file with the stored logins, by service.
pub(super) struct CredentialsFile(PathBuf);

impl CredentialsFile {
    /// Returns the given file, or the default one in the home directory.
    pub(super) fn at(file: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(file) = file {
            return Ok(Self(file.to_owned()));
        }
        let Some(home) = std::env::home_dir() else {
            bail!("there is no home directory to store logins in: give a file with --credentials");
        };
        Ok(Self(home.join(".config/docent/credentials.json")))
    }

    /// Reads the login for a service.
    pub(super) fn read(&self, service: &Url) -> anyhow::Result<Option<Tokens>> {
        match self.all()?.get(service.as_str()) {
            None => Ok(None),
            Some(entry) => {
                let email = entry["email"].as_str().unwrap_or_default();
                let tokens = Tokens::parse(entry, email);
                tokens.map(Some).with_context(|| format!("reading {}", self.0.display()))
            }
        }
    }

    /// Stores the login for a service, or removes it.
    pub(super) fn write(&self, service: &Url, tokens: Option<&Tokens>) -> anyhow::Result<()> {
        let mut all = self.all()?;
        match tokens {
            None => drop(all.remove(service.as_str())),
            Some(tokens) => {
                let entry = json!({
                    "email": tokens.email,
                    "access_token": tokens.access_token,
                    "refresh_token": tokens.refresh_token,
                });
                all.insert(service.to_string(), entry);
            }
        }
        self.replace(&serde_json::to_vec_pretty(&all)?)
            .with_context(|| format!("storing the login in {}", self.0.display()))
    }

    fn all(&self) -> anyhow::Result<Map<String, Value>> {
        let text = match std::fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Map::new()),
            Err(error) => return Err(error).with_context(|| format!("reading {}", self.0.display())),
        };
        serde_json::from_str(&text).with_context(|| format!("{} is not valid JSON", self.0.display()))
    }

    /// Replaces the file atomically, so that a killed command leaves the old file.
    fn replace(&self, bytes: &[u8]) -> std::io::Result<()> {
        let directory = self.0.parent().filter(|path| !path.as_os_str().is_empty());
        let directory = directory.unwrap_or_else(|| Path::new("."));
        std::fs::create_dir_all(directory)?;
        let next = self.0.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&next)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&next, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(email: &str) -> Tokens {
        Tokens { email: email.to_owned(), access_token: "a".to_owned(), refresh_token: "r".to_owned() }
    }

    #[test]
    fn logins_are_stored_per_service_and_private() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("below/credentials.json");
        let credentials = CredentialsFile::at(Some(&file)).unwrap();
        let [one, two] = ["http://one.example", "http://two.example"].map(|url| Url::parse(url).unwrap());
        assert!(credentials.read(&one).unwrap().is_none());
        credentials.write(&one, Some(&tokens("one"))).unwrap();
        credentials.write(&two, Some(&tokens("two"))).unwrap();
        assert_eq!(credentials.read(&one).unwrap().unwrap().email, "one");
        credentials.write(&one, None).unwrap();
        assert!(credentials.read(&one).unwrap().is_none());
        assert_eq!(credentials.read(&two).unwrap().unwrap().email, "two");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::write(&file, "{").unwrap();
        let error = format!("{:#}", credentials.write(&one, Some(&tokens("one"))).unwrap_err());
        assert!(error.contains("not valid JSON"), "{error}");
    }
}
