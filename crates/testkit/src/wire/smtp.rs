//! A mail server that keeps what it is given.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docent_domain::text::Email;
use docent_ports::mailer::Mail;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A mail server on this machine, without TLS. Clones are the same server; it ends with the last of them.
#[derive(Clone, Debug)]
pub struct FakeSmtp(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    port: u16,
    box_: Arc<Postbox>,
    task: JoinHandle<()>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Debug, Default)]
struct Postbox {
    /// The address that each message was for, and the message.
    taken: Mutex<Vec<(String, String)>>,
    refuses: AtomicBool,
    is_silent: AtomicBool,
}

impl FakeSmtp {
    /// Starts one on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let postbox = Arc::new(Postbox::default());
        let box_ = Arc::clone(&postbox);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let postbox = Arc::clone(&postbox);
                tokio::spawn(async move {
                    // A client that goes away is no fault of the server's.
                    let _ = postbox.talk(stream).await;
                });
            }
        });
        Self(Arc::new(Inner { port, box_, task }))
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.0.port)
    }

    /// The messages that it took, decoded.
    pub fn mails(&self) -> Vec<Mail> {
        self.0.box_.taken.lock().unwrap().iter().map(|(to, raw)| decode(to, raw)).collect()
    }

    /// The messages that it took, as they came.
    pub fn raw(&self) -> Vec<String> {
        self.0.box_.taken.lock().unwrap().iter().map(|(_, raw)| raw.clone()).collect()
    }

    /// Permanently rejects all further messages.
    pub fn refuse_all(&self) {
        self.0.box_.refuses.store(true, Ordering::Relaxed);
    }

    /// Takes connections from now on and says nothing.
    pub fn fall_silent(&self) {
        self.0.box_.is_silent.store(true, Ordering::Relaxed);
    }
}

impl Postbox {
    async fn talk(&self, stream: TcpStream) -> std::io::Result<()> {
        if self.is_silent.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        let (reading, mut writing) = stream.into_split();
        let mut lines = BufReader::new(reading).lines();
        let mut to = String::new();
        writing.write_all(b"220 test\r\n").await?;
        while let Some(line) = lines.next_line().await? {
            let verb = line.split([' ', ':']).next().unwrap_or("").to_ascii_uppercase();
            let answer = match verb.as_str() {
                "EHLO" => "250-test\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n",
                "RCPT" if self.refuses.load(Ordering::Relaxed) => "550 no\r\n",
                "RCPT" => {
                    to = line.split(['<', '>']).nth(1).unwrap_or("").to_owned();
                    "250 OK\r\n"
                }
                "DATA" => {
                    writing.write_all(b"354 go on\r\n").await?;
                    let mut message = String::new();
                    while let Some(line) = lines.next_line().await?.filter(|line| line != ".") {
                        message += line.strip_prefix('.').unwrap_or(&line);
                        message.push('\n');
                    }
                    self.taken.lock().unwrap().push((to.clone(), message));
                    "250 OK\r\n"
                }
                "MAIL" | "RSET" | "NOOP" => "250 OK\r\n",
                "QUIT" => "221 bye\r\n",
                _ => "502 what?\r\n",
            };
            writing.write_all(answer.as_bytes()).await?;
        }
        Ok(())
    }
}

fn base64(text: &str) -> String {
    let packed: String = text.split_whitespace().collect();
    String::from_utf8(STANDARD.decode(packed).expect("base64")).expect("UTF-8").replace("\r\n", "\n")
}

fn decode(to: &str, raw: &str) -> Mail {
    let (headers, body) = raw.split_once("\n\n").expect("headers and a body");
    let unfolded = headers.replace("\n ", " ");
    let subject = unfolded.lines().find_map(|line| line.strip_prefix("Subject: ")).unwrap_or("");
    let is_base64 = unfolded.to_ascii_lowercase().contains("content-transfer-encoding: base64");
    let text = if is_base64 { base64(body) } else { body.to_owned() };
    Mail { to: Email::parse(to).expect("an address"), subject: words(subject), text }
}

/// A header with its encoded words decoded (RFC 2047); between two of them white space does not count.
fn words(header: &str) -> String {
    let mut text = String::new();
    let mut was_encoded = true;
    for word in header.split(' ') {
        let encoded = word.strip_prefix("=?utf-8?b?").and_then(|rest| rest.strip_suffix("?="));
        if !(text.is_empty() || was_encoded && encoded.is_some()) {
            text.push(' ');
        }
        text += &encoded.map_or_else(|| word.to_owned(), base64);
        was_encoded = encoded.is_some();
    }
    text
}
