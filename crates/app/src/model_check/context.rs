//! The length of the model's context, compared with what the service sends.

use super::call::{Caller, Output};
use super::{CheckedStep, RecommendedSetting, Report, Step, StepResult, advice};
use crate::agent::prompt::GROUNDED;
use crate::settings::Settings;
use docent_domain::chat::Message;
use docent_domain::fault::{Fault, FaultCause, FaultKind};
use docent_ports::chat_model::ChatRequest;

/// Tokens that are left for the answer.
const ANSWER: u64 = 1024;
/// Tokens of a question, with the definition of the tool and what models add to messages.
const QUESTION: u64 = 300;
/// Tokens that a passage has beside its text: its title and pages.
const PROVENANCE: u64 = 40;
/// Searches of an answer that must fit.
const SEARCHES: u64 = 2;
/// Tokens of history that are kept if fewer passages make room for them.
const GOOD_HISTORY: u64 = 2000;
/// Tokens of history without which a follow-up question cannot be understood.
const LEAST_HISTORY: u64 = 500;
/// Limits are recommended in steps of this many tokens.
const LIMIT_STEP: u64 = 500;
/// Tokens of the longest request that is tried.
const LONGEST_TRIAL: u64 = 12_000;
/// Number of requests that are tried, each of half the length of the previous one.
const TRIALS: u32 = 3;

/// Bytes of a token of English, about.
const TOKEN_BYTES: usize = 4;

const SENTENCE: &str = "The museum is open on every Sunday of the year. ";
/// Tokens of [`SENTENCE`].
const SENTENCE_TOKENS: u64 = 11;
const READY: &str = "Ignore the sentences above and answer with the one word: ready";

/// What the service sends for a question, in tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Prompt, question and answer.
    fixed: u64,
    passage: u64,
    passages: u64,
    stored_history: u64,
    client_history: u64,
}

impl Budget {
    pub(super) fn of(settings: &Settings) -> Self {
        let prompt = settings.system_prompt.as_deref().unwrap_or(GROUNDED);
        Self {
            fixed: (prompt.len() / TOKEN_BYTES) as u64 + QUESTION + ANSWER,
            passage: settings.chunk_size.tokens as u64 + PROVENANCE,
            passages: settings.search_limit as u64,
            stored_history: settings.conversation_history_tokens as u64,
            client_history: settings.client_history_tokens as u64,
        }
    }

    /// What is needed without history, with this many passages per search.
    fn needed(&self, passages: u64) -> u64 {
        self.fixed + SEARCHES * passages * self.passage
    }

    /// The most that the service sends, with room for the answer.
    fn most(&self) -> u64 {
        self.needed(self.passages) + self.stored_history.max(self.client_history)
    }

    /// What a question in a recorded conversation has.
    fn usual(&self) -> u64 {
        self.needed(self.passages) + self.stored_history - ANSWER
    }

    /// Compares the budget with a context. `None` if no settings make it fit.
    pub(super) fn fit(&self, context: u64) -> Option<Vec<RecommendedSetting>> {
        let room = |passages| context.checked_sub(self.needed(passages));
        let most = self.stored_history.max(self.client_history);
        if room(self.passages).is_some_and(|room| room >= most) {
            return Some(Vec::new());
        }
        let with_history = |least: u64| {
            let least = least.min(most);
            (1..=self.passages).rev().find(|passages| room(*passages).is_some_and(|room| room >= least))
        };
        let passages = with_history(GOOD_HISTORY).or_else(|| with_history(LEAST_HISTORY))?;
        let history = room(passages)? / LIMIT_STEP * LIMIT_STEP;
        let mut settings = Vec::new();
        for (name, set, fitting) in
            [("DOCENT_SEARCH_LIMIT", self.passages, passages), ("DOCENT_HISTORY_TOKENS", most, history)]
        {
            if set > fitting {
                settings.push(RecommendedSetting::new(name, fitting));
            }
        }
        Some(settings)
    }
}

/// Adds the step: by what the server says, or else by requests as long as those of the service.
pub(super) async fn check(report: &mut Report<'_>, caller: &mut Caller<'_>, settings: &Settings) {
    let budget = Budget::of(settings);
    let said = caller.in_time(async { Ok(caller.model.context_length().await) }).await;
    if let Ok(Some(length)) = said {
        let message = format!("The server has room for {length} tokens.");
        return compare(report, budget, length, message, None);
    }
    let mut tokens = budget.usual().min(LONGEST_TRIAL);
    let mut refused = None;
    for _ in 0..TRIALS {
        match (caller.call(long_request(tokens)).await, &refused) {
            (Ok(output), None) => match read_tokens(&output).filter(|read| *read < tokens / 2) {
                Some(read) => {
                    let message =
                        format!("The server read {read} of about {tokens} tokens, without an error.");
                    return compare(report, budget, read, message, None);
                }
                None => {
                    let message =
                        format!("{tokens} tokens are accepted. The server does not say how many more.");
                    report.add(CheckedStep::passed(Step::ContextLength, message));
                    return;
                }
            },
            (Ok(_), Some(fault)) => {
                let message = format!("The server accepts {tokens} tokens, and refuses twice as many.");
                return compare(report, budget, tokens, message, Some(fault));
            }
            (Err(fault), _) if is_too_long(&fault) => {
                if let Some(length) = fault.max_tokens() {
                    let message = format!("The server has room for {length} tokens.");
                    return compare(report, budget, length, message, Some(&fault));
                }
                refused = Some(fault);
                tokens /= 2;
            }
            (Err(fault), _) => {
                let (result, advice) = match fault.kind() {
                    FaultKind::Timeout | FaultKind::RateLimited => {
                        (StepResult::Warning, advice::SLOW_CONTEXT.to_owned())
                    }
                    _ => (
                        StepResult::Failed,
                        advice::for_fault(&fault, caller.model.address().as_deref(), &[]),
                    ),
                };
                report.add(CheckedStep::of_fault(Step::ContextLength, result, &fault, advice));
                return;
            }
        }
    }
    if let Some(fault) = refused {
        let failed = StepResult::Failed;
        report.add(CheckedStep::of_fault(Step::ContextLength, failed, &fault, advice::SMALL_CONTEXT));
    }
}

/// Whether the server refuses the request because of its length. Some say so without words.
fn is_too_long(fault: &Fault) -> bool {
    match fault.known_cause() {
        Some(cause) => cause == FaultCause::ContextLength,
        None => matches!(fault.status(), Some(400 | 413 | 422)),
    }
}

fn compare(report: &mut Report<'_>, budget: Budget, context: u64, message: String, fault: Option<&Fault>) {
    let step = Step::ContextLength;
    let fitting = budget.fit(context);
    let mut checked = match &fitting {
        Some(settings) if settings.is_empty() => CheckedStep::passed(step, message),
        Some(_) => {
            let message = format!("{message} The service can send up to {}.", budget.most());
            CheckedStep::warning(step, message, advice::SMALLER_HISTORY)
        }
        None => {
            let message = format!("{message} The service needs {}.", budget.needed(1) + LEAST_HISTORY);
            CheckedStep::failed(step, message, advice::SMALL_CONTEXT)
        }
    };
    checked.cause = fault.and_then(Fault::known_cause).map(FaultCause::code);
    report.add(checked);
    report.recommend(fitting.into_iter().flatten());
}

fn long_request(tokens: u64) -> ChatRequest {
    let sentences = SENTENCE.repeat((tokens / SENTENCE_TOKENS) as usize);
    let messages = vec![Message::User(format!("{sentences}\n\n{READY}"))];
    ChatRequest { messages, ..ChatRequest::default() }
}

/// Number of tokens of the request that the server counted.
fn read_tokens(output: &Output) -> Option<u64> {
    output.usage.map(|usage| usage.prompt).filter(|read| *read > 0)
}
