//! Reads settings from an environment.

use super::check::{Check, Context, Refusal};
use super::declare::{Default, Setting, variable};
use super::problem::{Problem, Problems, Warning};
use super::value::Value;
use super::{Inspection, Profile, former};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

const PREFIX: &str = "DOCENT_";
const FILE_SUFFIX: &str = "_FILE";
/// Maximum size in bytes of a file that contains a setting.
const MAX_FILE: u64 = 64 * 1024;

/// The variables with the prefix `DOCENT_`. Files that they name are read with the settings.
#[derive(Clone, Debug, std::default::Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
}

impl Environment {
    /// The environment of this process; nothing else in Docent reads it.
    pub fn of_process() -> Self {
        let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        Self::of(std::env::vars_os().filter_map(named))
    }

    /// An environment of the given variables; those without the prefix are dropped.
    pub fn of<N: Into<String>, V: Into<OsString>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { variables: variables.filter(|(name, _)| name.starts_with(PREFIX)).collect() }
    }

    /// The text of a setting, from its variable, from the file that its `_FILE` variable names, or from former settings.
    /// An empty variable counts as not set.
    pub(super) fn text(&self, name: &str) -> Result<Option<(String, Source)>, String> {
        let text = |name: &str| self.text_of(name, self.get(&variable(name)));
        former::merge(name, text(name)?, text)
    }

    /// The text of a setting that can be empty.
    fn verbatim_text(&self, name: &str) -> Result<Option<(String, Source)>, String> {
        let text = self.text_of(name, self.variables.get(&variable(name)))?;
        Ok(text.map(|(text, source)| match (source, text.strip_suffix('\n')) {
            (Source::File, Some(line)) => (line.to_owned(), source),
            _ => (text, source),
        }))
    }

    fn text_of(&self, name: &str, value: Option<&OsString>) -> Result<Option<(String, Source)>, String> {
        let variable = variable(name);
        let file = self.get(&format!("{variable}{FILE_SUFFIX}"));
        match (value, file) {
            (Some(_), Some(_)) => {
                Err(format!("and {variable}{FILE_SUFFIX} are both set; set only one of them"))
            }
            (Some(text), None) => match text.to_str() {
                Some(text) => Ok(Some((text.to_owned(), Source::Environment))),
                None => Err("is not UTF-8".to_owned()),
            },
            (None, Some(path)) => match read_file(Path::new(path)) {
                Ok(text) => Ok(Some((text, Source::File))),
                Err(error) => Err(format!("cannot be read from {}: {error}", path.display())),
            },
            (None, None) => Ok(None),
        }
    }

    /// The value of a variable. An empty variable counts as not set.
    fn get(&self, variable: &str) -> Option<&OsString> {
        self.variables.get(variable).filter(|value| !value.is_empty())
    }
}

/// Reads the file of a setting, up to the maximum size: it may be an endless pipe.
fn read_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        return Err(io::Error::other(format!("the file has more than {MAX_FILE} bytes")));
    }
    Ok(text)
}

/// Source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The default.
    Default,
    /// The variable itself.
    Environment,
    /// The file that `DOCENT_…_FILE` names.
    File,
}

/// The current value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The variable.
    pub variable: String,
    /// The value as it would be written; secrets are hidden.
    pub shown: String,
    /// Its source.
    pub source: Source,
}

/// Reads settings one by one and collects problems.
pub(super) struct Reader<'e> {
    environment: &'e Environment,
    context: Context,
    problems: Vec<Problem>,
    effective: Vec<Effective>,
    /// Name of the identity provider whose settings are read, if it has one.
    group: Option<String>,
    /// Variables of named identity providers.
    grouped: Vec<String>,
}

impl<'e> Reader<'e> {
    pub(super) fn new(profile: Profile, environment: &'e Environment) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let data_dir = PathBuf::from(".");
        let context = Context { profile, debug: false, data_dir, is_sqlite: false, cores };
        let (problems, effective, grouped) = (Vec::new(), Vec::new(), Vec::new());
        Self { environment, context, problems, effective, group: None, grouped }
    }

    /// Reads the following settings as those of a named identity provider.
    pub(super) fn set_group(&mut self, name: Option<&str>) {
        self.group = name.map(|name| name.replace('-', "_"));
    }

    /// The name of a setting, with that of its provider.
    fn name(&self, setting: &Setting) -> String {
        match (&self.group, setting.name.split_once('_')) {
            (Some(group), Some((section, field))) => format!("{section}_{group}_{field}"),
            _ => setting.name.to_owned(),
        }
    }

    /// Sets the values that later settings depend on.
    pub(super) fn set_context(&mut self, debug: bool, data_dir: &Path) {
        let is_sqlite = match self.set("database_url") {
            Ok(Some((url, _))) => url.trim_start().starts_with("sqlite:"),
            _ => false,
        };
        let Context { profile, cores, .. } = self.context;
        self.context = Context { profile, debug, data_dir: data_dir.to_owned(), is_sqlite, cores };
    }

    /// Reads one setting; `None` if it is invalid.
    pub(super) fn read<T: Value>(&mut self, setting: &Setting, checks: &[Check<'_, T>]) -> Option<T> {
        let name = variable(&self.name(setting));
        if self.group.is_some() {
            self.grouped.push(name.clone());
        }
        match self.value(setting, checks) {
            Ok((value, source)) => {
                let (variable, shown) = (name, value.show());
                self.effective.push(Effective { variable, shown, source });
                Some(value)
            }
            Err(refusal) => {
                self.refuse(name, refusal.wrong, refusal.accepted);
                None
            }
        }
    }

    fn value<T: Value>(&self, setting: &Setting, checks: &[Check<'_, T>]) -> Result<(T, Source), Refusal> {
        let refusal = |wrong| Refusal { wrong, accepted: T::accepted() };
        let found = match T::IS_VERBATIM {
            true => self.environment.verbatim_text(&self.name(setting)),
            false => self.set(&self.name(setting)),
        };
        let (value, source) = match found.map_err(refusal)? {
            Some((text, source)) => {
                let text = if T::IS_VERBATIM { text.as_str() } else { text.trim() };
                if text.is_empty() && !T::IS_VERBATIM {
                    return Err(refusal("contains only white space".to_owned()));
                }
                let wrong = |why| refusal(format!("{}{why}", quote::<T>(text)));
                (T::parse(text).map_err(wrong)?, source)
            }
            None => (self.default(setting)?, Source::Default),
        };
        checks.iter().try_for_each(|check| check(&value, &self.context))?;
        Ok((value, source))
    }

    fn default<T: Value>(&self, setting: &Setting) -> Result<T, Refusal> {
        let refusal = |wrong| Refusal { wrong, accepted: T::accepted() };
        let text = match setting.default(self.context.profile) {
            Default::Text(text) => text.to_owned(),
            Default::Computed { text, .. } => text(&self.context),
            Default::Unset(_) => return T::unset().ok_or_else(|| refusal("must be set".to_owned())),
        };
        T::parse(&text).map_err(|why| refusal(format!("has no usable default: {why}")))
    }

    /// The text of a setting, if it is set.
    pub(super) fn set(&self, name: &str) -> Result<Option<(String, Source)>, String> {
        self.environment.text(name)
    }

    /// Adds a problem.
    pub(super) fn refuse(&mut self, variable: String, wrong: impl Into<String>, accepted: impl Into<String>) {
        self.problems.push(Problem { variable, wrong: wrong.into(), accepted: accepted.into() });
    }

    /// Returns the values, problems and warnings.
    pub(super) fn finish(self, all: &[Setting]) -> Inspection {
        let warnings = warnings(self.environment, all, self.grouped);
        Inspection { effective: self.effective, problems: Problems(self.problems), warnings }
    }
}

/// Quotes the value for a message. Secrets, and values that may contain a password, are not quoted.
fn quote<T: Value>(text: &str) -> String {
    if T::IS_SECRET || text.contains('@') {
        return String::new();
    }
    let shown: String = text.chars().take(60).collect();
    let dots = if shown.len() < text.len() { "…" } else { "" };
    format!("is {shown:?}{dots}, which ")
}

/// Variables of client commands, which are not settings of the service.
const CLIENT_VARIABLES: [&str; 3] = ["DOCENT_SERVER", "DOCENT_API_KEY", "DOCENT_CREDENTIALS"];

fn warnings(environment: &Environment, all: &[Setting], grouped: Vec<String>) -> Vec<Warning> {
    let known: Vec<String> = all.iter().map(Setting::variable).chain(grouped).collect();
    let is_known = |name: &str| known.iter().any(|known| known == name) || CLIENT_VARIABLES.contains(&name);
    let unknown = environment
        .variables
        .keys()
        .filter(|name| !is_known(name) && !name.strip_suffix(FILE_SUFFIX).is_some_and(is_known));
    let advice = |name: &str| match meant(name, &known) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => "`docent config` lists the settings".to_owned(),
    };
    let warning = |name: &String| {
        let former = former::advice(name.strip_suffix(FILE_SUFFIX).unwrap_or(name));
        let (wrong, advice) = former.unwrap_or_else(|| ("is not a setting and is ignored", advice(name)));
        Warning { variable: name.clone(), wrong: wrong.to_owned(), advice }
    };
    unknown.map(warning).collect()
}

/// The setting of which a variable is probably a misspelling: one that differs in at most a quarter of the letters. Other variables,
/// such as a `DOCENT_KEY` of the user's own scripts, can mean anything.
fn meant(variable: &str, known: &[String]) -> Option<String> {
    let (name, suffix) = match variable.strip_suffix(FILE_SUFFIX) {
        Some(name) => (name, FILE_SUFFIX),
        None => (variable, ""),
    };
    let mistakes = name.strip_prefix(PREFIX)?.chars().count() / 4;
    let near = known.iter().map(|known| (distance(name, known), known));
    let (_, nearest) = near.filter(|(distance, _)| *distance <= mistakes).min()?;
    Some(format!("{nearest}{suffix}"))
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, meant};

    #[test]
    fn distance_counts_edits() {
        for (a, b, edits) in
            [("", "", 0), ("abc", "abc", 0), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 2)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }

    #[test]
    fn only_misspellings_of_real_length_mean_a_setting() {
        let known =
            ["DOCENT_OCR", "DOCENT_DEBUG", "DOCENT_SECRET_KEY", "DOCENT_LLM_MODEL"].map(str::to_owned);
        for (variable, setting) in [
            ("DOCENT_SECRETKEY", Some("DOCENT_SECRET_KEY")),
            ("DOCENT_SECRET_KYE", Some("DOCENT_SECRET_KEY")),
            ("DOCENT_SECRT_KEY_FILE", Some("DOCENT_SECRET_KEY_FILE")),
            ("DOCENT_DEBUGG", Some("DOCENT_DEBUG")),
            ("DOCENT_LLM_MODLE", Some("DOCENT_LLM_MODEL")),
            ("DOCENT_KEY", None),
            ("DOCENT_KEY_FILE", None),
            ("DOCENT_OCS", None),
            ("DOCENT_MODEL", None),
            ("DOCENT_HOME", None),
            ("DOCENT_", None),
        ] {
            assert_eq!(meant(variable, &known).as_deref(), setting, "{variable}");
        }
    }
}
