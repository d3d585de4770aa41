//! Reports of one series, which differ in their period: “2023 Q1 Report” and “2023 Q2 Report”.

use super::kinds::has_any;

/// A year and a quarter; 0 without one.
pub(super) type Period = (u16, u8);

/// Which reports of a series a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// It does not say.
    Any,
    Latest,
    /// It compares them.
    Each,
}

const LATEST: [&str; 6] = ["latest", "most recent", "newest", "neueste", "jüngste", "aktuellste"];
/// Words before a period that say that it is one of several.
const SEVERAL: [&str; 13] = [
    "across",
    "between",
    "each",
    "every",
    "over",
    "previous",
    "prior",
    "reported",
    "these",
    "throughout",
    "frühere",
    "jedem",
    "über",
];
const PERIODS: [&str; 16] = [
    "time",
    "timeframe",
    "quarter",
    "quarters",
    "period",
    "periods",
    "year",
    "years",
    "reports",
    "10-qs",
    "10-ks",
    "ones",
    "quartale",
    "quartal",
    "jahre",
    "jahr",
];
/// Number of words between them and the period, such as “the reported”.
const BETWEEN: usize = 2;

/// Returns which reports of a series a question is about.
pub(super) fn asked(question: &str) -> Asked {
    let lower = question.to_lowercase();
    let words: Vec<&str> =
        lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let is_several = |at: usize| {
        let after = &words[at + 1..words.len().min(at + 2 + BETWEEN)];
        SEVERAL.contains(&words[at]) && after.iter().any(|word| PERIODS.contains(word))
    };
    match () {
        () if (0..words.len()).any(is_several) => Asked::Each,
        () if LATEST.iter().any(|phrase| lower.contains(phrase)) => Asked::Latest,
        () => Asked::Any,
    }
}

/// The periods and titles of reports.
type Reports<'a> = Vec<(Period, &'a str)>;

/// Maximum number of reports that are compared, and searched for that.
pub(super) const MAX_REPORTS: usize = 6;

impl Asked {
    /// Which titles of a list of documents are the reports of a series that a question is about, in order of time; none if there is no
    /// series. The list has lines such as “- Title (5 pages)”.
    pub(super) fn of(self, list: &str) -> Vec<String> {
        let titles = list.lines().filter_map(|line| Some(line.strip_prefix("- ")?.rsplit_once(" (")?.0));
        let mut series: Vec<(Vec<String>, Reports<'_>)> = Vec::new();
        for (title, (words, period)) in titles.filter_map(|title| Some((title, report(title)?))) {
            match series.iter_mut().find(|(other, _)| *other == words) {
                Some((_, reports)) => reports.push((period, title)),
                None => series.push((words, vec![(period, title)])),
            }
        }
        let longest = series.into_iter().map(|(_, reports)| reports).max_by_key(Vec::len);
        let mut reports = longest.filter(|reports| reports.len() > 1).unwrap_or_default();
        reports.sort_unstable();
        let wanted = match self {
            Self::Any => 0,
            Self::Latest => 1,
            Self::Each => MAX_REPORTS,
        };
        let older = reports.len().saturating_sub(wanted);
        reports.split_off(older).into_iter().map(|(_, title)| title.to_owned()).collect()
    }
}

/// Returns the words of a title that all reports of its series have, and its period; `None` without a year.
pub(super) fn report(title: &str) -> Option<(Vec<String>, Period)> {
    let mut series = Vec::new();
    let (mut year, mut quarter) = (None, 0);
    for word in title.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at_checked(4).unwrap_or((word, ""));
        match (self::year(first), self::quarter(rest), self::quarter(word)) {
            (Some(found), _, _) if rest.is_empty() => year = Some(found),
            (Some(found), Some(of_it), _) => (year, quarter) = (Some(found), of_it),
            (_, _, Some(found)) => quarter = found,
            _ => series.push(word.to_owned()),
        }
    }
    Some((series, (year?, quarter)))
}

/// Leaves out passages, by rank, of other reports than the question asks for: of older ones than the latest of a series, or of other
/// periods. Relevant passages say which reports there are.
pub(super) fn retain<'t>(
    question: &str,
    ranks: &mut Vec<usize>,
    title: impl Fn(usize) -> &'t str,
    is_relevant: impl Fn(&usize) -> bool,
) {
    if asked(question) == Asked::Latest {
        let relevant = ranks.iter().filter(|rank| is_relevant(rank));
        let reports: Vec<(Vec<String>, Period)> = relevant.filter_map(|rank| report(title(*rank))).collect();
        let is_superseded = |(series, period): (Vec<String>, Period)| {
            reports.iter().any(|other| other.0 == series && other.1 > period)
        };
        ranks.retain(|rank| !report(title(*rank)).is_some_and(is_superseded));
    }
    if let Some(named) = named(question) {
        let period = |rank: &usize| report(title(*rank)).map(|(_, period)| period);
        if ranks.iter().any(|rank| is_relevant(rank) && period(rank) == Some(named)) {
            // Reports of a year have no quarter.
            ranks.retain(|rank| period(rank).is_none_or(|period| period == named || period.1 == 0));
        }
    }
}

/// Returns the year and quarter that a question names; `None` if it names no quarter, or several of them or of years.
fn named(question: &str) -> Option<Period> {
    let lower = question.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let spelled = words.windows(2).filter(|pair| matches!(pair[1], "quarter" | "quartal"));
    let spelled = spelled.filter_map(|pair| {
        let number = ORDINALS.iter().position(|names| names.iter().any(|name| *name == pair[0]))?;
        u8::try_from(number + 1).ok()
    });
    let mut quarters: Vec<u8> = words.iter().filter_map(|word| quarter(word)).chain(spelled).collect();
    let mut years: Vec<u16> = words.iter().filter_map(|word| year(word)).collect();
    quarters.sort_unstable();
    quarters.dedup();
    years.sort_unstable();
    years.dedup();
    match (years.as_slice(), quarters.as_slice()) {
        ([year], [quarter]) => Some((*year, *quarter)),
        _ => None,
    }
}

/// Whether a question is about a part of a year.
pub(super) fn names_quarter(question: &str) -> bool {
    let lower = question.to_lowercase();
    ["quarter", "quartal", "months"].iter().any(|word| lower.contains(word))
        || names_part_of_year(question)
        || lower.split(|c: char| !c.is_alphanumeric()).any(|word| quarter(word).is_some())
}

/// What names a part of a year in texts and tables, and what a whole one.
const PARTS_OF_YEAR: [&str; 16] = [
    "quarter of",
    "quarter ended",
    "quarters ended",
    "first quarter",
    "second quarter",
    "third quarter",
    "fourth quarter",
    "three months",
    "six months",
    "nine months",
    "13 weeks",
    "26 weeks",
    "39 weeks",
    "thirteen weeks",
    "quartal",
    "halbjahr",
];
const WHOLE_YEARS: [&str; 8] = [
    "twelve months",
    "52 weeks",
    "53 weeks",
    "fifty-two weeks",
    "year ended",
    "years ended",
    "fiscal year",
    "geschäftsjahr",
];

/// Whether a text names a part of a year.
pub(super) fn names_part_of_year(text: &str) -> bool {
    has_any(text, &PARTS_OF_YEAR)
}

/// Whether a text names a whole year as a period.
pub(super) fn names_whole_year(text: &str) -> bool {
    has_any(text, &WHOLE_YEARS)
}

const ORDINALS: [[&str; 3]; 4] = [
    ["first", "erstes", "ersten"],
    ["second", "zweites", "zweiten"],
    ["third", "drittes", "dritten"],
    ["fourth", "viertes", "vierten"],
];

fn year(word: &str) -> Option<u16> {
    word.parse().ok().filter(|year| (1900..2100).contains(year))
}

fn quarter(word: &str) -> Option<u8> {
    let number = word.strip_prefix('q').or_else(|| word.strip_suffix('q'))?;
    number.parse().ok().filter(|quarter| (1..=4).contains(quarter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_have_a_series_and_a_period() {
        let report = |title| report(title).map(|(series, period)| (series.join(" "), period));
        assert_eq!(report("2023 Q2 Oriel.pdf"), Some(("oriel pdf".into(), (2023, 2))));
        assert_eq!(report("ORIEL_2023Q4_EARNINGS"), Some(("oriel earnings".into(), (2023, 4))));
        assert_eq!(report("Oriel 10-K 2018"), Some(("oriel 10 k".into(), (2018, 0))));
        assert_eq!(report("Oriel, 3Q 2018"), Some(("oriel".into(), (2018, 3))));
        assert_eq!(report("Oriel Q2"), None);
    }

    #[test]
    fn question_names_one_quarter() {
        assert_eq!(named("What was the profit in Q1 2023?"), Some((2023, 1)));
        assert_eq!(named("In the first quarter of 2023, what was the profit in Q1?"), Some((2023, 1)));
        assert_eq!(named("Wie hoch war der Gewinn im dritten Quartal 2022?"), Some((2022, 3)));
        for other in ["What was the profit in 2023?", "from Q1 2023 to Q2 2023", "Q1 2022 and Q1 2023", "Q1"]
        {
            assert_eq!(named(other), None, "{other}");
        }
        for (question, expected) in [
            ("in 2023?", false),
            ("Q1 and Q2 of 2023", true),
            ("the third quarter", true),
            ("the 13 weeks", true),
        ] {
            assert_eq!(names_quarter(question), expected, "{question}");
        }
    }

    #[test]
    fn reports_of_a_list_are_those_of_its_longest_series() {
        let list = "- Oriel 2018 Q2 (5 pages)\n- Reed 2018 Q2 (1 page)\n- Oriel 2017 Q4 (9 pages)\n- Rules (2 pages)";
        assert_eq!(Asked::Each.of(list), ["Oriel 2017 Q4", "Oriel 2018 Q2"]);
        assert_eq!(Asked::Latest.of(list), ["Oriel 2018 Q2"]);
        assert_eq!(Asked::Any.of(list), [""; 0]);
        assert_eq!(Asked::Each.of("- Oriel 2018 Q2 (5 pages)\n- Rules (2 pages)"), [""; 0]);
    }

    #[test]
    fn questions_ask_for_the_latest_report_or_for_each() {
        assert_eq!(asked("What was the margin in the most recent report?"), Asked::Latest);
        for question in [
            "How have sales changed over time?",
            "How does the latest quarter compare to previous quarters?",
            "What are the risks in these 10-Qs?",
            "How did it develop over the reported quarters?",
        ] {
            assert_eq!(asked(question), Asked::Each, "{question}");
        }
        assert_eq!(asked("What was the margin in 2018?"), Asked::Any);
    }
}
