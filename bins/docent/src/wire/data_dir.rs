//! The data directory: its ID, the secret key, and files of earlier versions.

use super::SystemPorts;
use anyhow::{Context, bail};
use docent::config::{Profile, Settings};
use docent_domain::id::LeaseId;
use docent_ports::entropy::Entropy;
use std::io::Write;
use std::path::Path;

/// The ID of the data directory as the owner of an embedded index.
pub(super) fn index_owner_id(data_dir: &Path, system: &SystemPorts) -> anyhow::Result<LeaseId> {
    let path = data_dir.join("index.owner");
    let id = stored(&path, 36, || {
        let mut random = [0; 10];
        system.entropy.fill(&mut random);
        LeaseId::generate(system.clock.now(), random).to_string()
    });
    let id = id.and_then(|id| Ok(String::from_utf8(id)?.trim().parse()?));
    id.with_context(|| format!("the ID of the data directory in {}", path.display()))
}

/// Returns the secret key from the settings, or a random one stored in the data directory. Only `docent dev`, and
/// `docent serve` with `debug`, may run without the setting. The random key of `docent worker`, which signs and checks no
/// tokens, is not stored.
pub(super) fn secret_key(
    profile: Profile,
    settings: &Settings,
    entropy: &dyn Entropy,
) -> anyhow::Result<Vec<u8>> {
    if let Some(secret) = &settings.accounts.secret_key {
        return Ok(secret.expose().as_bytes().to_owned());
    }
    match profile {
        Profile::Worker => {
            let mut random = vec![0; 32];
            entropy.fill(&mut random);
            return Ok(random);
        }
        Profile::Serve if !settings.service.debug => bail!("DOCENT_SECRET_KEY must be set"),
        Profile::Serve | Profile::Dev => {}
    }
    let path = settings.service.data_dir.join("secret_key");
    stored_secret(&path, entropy).with_context(|| format!("the secret key in {}", path.display()))
}

fn stored_secret(path: &Path, entropy: &dyn Entropy) -> anyhow::Result<Vec<u8>> {
    stored(path, 32, || {
        let mut random = [0; 32];
        entropy.fill(&mut random);
        random.iter().map(|byte| format!("{byte:02x}")).collect()
    })
}

/// Returns the contents of a private file, which is created with new contents if it is missing.
fn stored(path: &Path, min_bytes: usize, make: impl FnOnce() -> String) -> anyhow::Result<Vec<u8>> {
    match std::fs::read(path) {
        Ok(text) if text.len() >= min_bytes => return Ok(text),
        Ok(_) => bail!("the file is shorter than {min_bytes} bytes; remove it to generate a new one"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    let text = make();
    // Written to another file first: a crash must not leave a truncated one.
    let new = path.with_extension("new");
    let _ = std::fs::remove_file(&new);
    let mut file = private_file().create_new(true).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    Ok(text.into_bytes())
}

fn private_file() -> std::fs::OpenOptions {
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Removes the files in which earlier versions stored refresh tokens, which are now in the database. The
/// sessions in them end.
pub(super) fn remove_token_journal(data_dir: &Path) {
    for name in ["tokens.journal", "tokens.journal.lock", "tokens.journal.new"] {
        match std::fs::remove_file(data_dir.join(name)) {
            Ok(()) => tracing::info!(file = name, "removed the token file of an earlier version"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(file = name, %error, "cannot remove the token file of an earlier version")
            }
        }
    }
}

/// Creates a directory that only its owner can access; an existing one keeps its mode.
pub(super) fn create_private_dir(folder: &Path) -> anyhow::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).with_context(|| format!("creating the directory {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::super::system_ports;
    use super::*;
    use docent_services::system::SystemEntropy;

    #[test]
    fn secret_is_generated_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret_key");
        let secret = stored_secret(&path, &SystemEntropy).unwrap();
        assert_eq!(secret.len(), 64);
        assert_eq!(stored_secret(&path, &SystemEntropy).unwrap(), secret);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn token_journal_of_an_earlier_version_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["tokens.journal", "tokens.journal.lock", "secret_key"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        remove_token_journal(folder.path());
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        assert_eq!(files.collect::<Vec<_>>(), ["secret_key"]);
    }

    #[test]
    fn id_of_the_data_directory_stays_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let system = system_ports().unwrap();
        let id = index_owner_id(folder.path(), &system).unwrap();
        assert_eq!(index_owner_id(folder.path(), &system).unwrap(), id);
        std::fs::write(folder.path().join("index.owner"), [b'x'; 36]).unwrap();
        assert!(index_owner_id(folder.path(), &system).is_err());
    }

    #[test]
    fn truncated_secret_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret_key");
        std::fs::write(&path, "short").unwrap();
        assert!(stored_secret(&path, &SystemEntropy).is_err());
    }
}
