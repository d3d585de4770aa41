//! Reads the attachments in `winmail.dat`, the format in which Outlook sends messages to other Outlook programs (TNEF).

use crate::reader::one_line;

/// The first bytes.
const SIGNATURE: &[u8] = b"\x78\x9f\x3e\x22";
/// Length of the signature and the key after it.
const HEAD_BYTES: usize = 6;
/// Attributes of the message and of an attachment: a plain text, and the data, the name, and the beginning of a file.
const BODY: u32 = 0x0002_800c;
const DATA: u32 = 0x0006_800f;
const TITLE: u32 = 0x0001_8010;
const BEGIN: u32 = 0x0006_9002;
/// Maximum number of files.
const FILES_MAX: usize = 1000;

/// Whether a file is in this format.
pub(super) fn is_tnef(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Names and contents of the files, as far as they can be read; none of a file in another format. The text of the message is
/// one of them.
pub(super) fn files(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    if !is_tnef(bytes) {
        return files;
    }
    let mut rest = bytes.get(HEAD_BYTES..).unwrap_or_default();
    while let Some((id, data, after)) = attribute(rest) {
        rest = after;
        if files.len() == FILES_MAX {
            break;
        }
        match (id, files.last_mut()) {
            (BODY, _) => {
                let text = data.strip_suffix(b"\0").unwrap_or(data);
                files.push(("message.txt".to_owned(), text.to_vec()));
            }
            (BEGIN, _) => files.push(("without a name".to_owned(), Vec::new())),
            (TITLE, Some(file)) => file.0 = one_line(&super::encoding::decode_lossy(data)),
            (DATA, Some(file)) => file.1 = data.to_vec(),
            _ => {}
        }
    }
    files.retain(|(_, content)| !content.is_empty());
    files
}

/// The ID and the data of the first attribute, and what follows it: a level, the ID, the length, the data and a checksum.
fn attribute(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (id, length) = (number(1)?, usize::try_from(number(5)?).ok()?);
    let data = bytes.get(9..)?.get(..length)?;
    Some((id, data, bytes.get(9 + length + 2..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(attributes: &[(u32, &[u8])]) -> Vec<u8> {
        let mut bytes = [SIGNATURE, &[1, 0]].concat();
        for (id, data) in attributes {
            bytes.push(1);
            bytes.extend(id.to_le_bytes());
            bytes.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
            bytes.extend(*data);
            bytes.extend([0, 0]);
        }
        bytes
    }

    #[test]
    fn files_and_text_are_found() {
        let bytes = file(&[
            (0x0008_9006, b"\0\0\x01\0"),
            (BODY, b"Hello\0"),
            (BEGIN, &[0; 14]),
            (TITLE, b"plan.txt\0"),
            (DATA, b"Valve 77"),
            (BEGIN, &[0; 14]),
            (DATA, b"x"),
        ]);
        assert!(is_tnef(&bytes));
        let file = |name: &str, content: &[u8]| (name.to_owned(), content.to_vec());
        let expected =
            [file("message.txt", b"Hello"), file("plan.txt", b"Valve 77"), file("without a name", b"x")];
        assert_eq!(files(&bytes), expected);
        for end in 0..bytes.len() {
            assert!(files(&bytes[..end]).len() <= expected.len());
        }
    }
}
