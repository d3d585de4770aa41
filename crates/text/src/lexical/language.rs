//! Language detection, stop words and stemming.

use super::english;
use frostem::{Algorithm, Stemmer};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A language with a stemmer and stop words.
///
/// Texts in other languages are treated as English: most of their words are unchanged, in passages as in queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Language {
    #[default]
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Swedish,
    Russian,
    Polish,
    Turkish,
}

/// Minimum number of stop words in a text to detect its language.
const MIN_STOP_WORDS: usize = 3;

impl Language {
    pub(super) const ALL: [Self; 11] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Italian,
        Self::Portuguese,
        Self::Dutch,
        Self::Swedish,
        Self::Russian,
        Self::Polish,
        Self::Turkish,
    ];

    /// Detects the language of lower-case words by the number of stop words; `None` if it is not clear.
    pub(super) fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let counts = counts(words);
        let most = counts.into_iter().max().filter(|most| *most >= MIN_STOP_WORDS)?;
        let mut with_most = Self::ALL.into_iter().zip(counts).filter(|(_, count)| *count == most);
        let (language, _) = with_most.next()?;
        with_most.next().is_none().then_some(language)
    }

    /// Returns the languages that a query of lower-case words may be in. Without stop words, these are all but
    /// those whose letters it does not have.
    pub(super) fn may_be<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        let words: Vec<&str> = words.into_iter().collect();
        let counts = counts(words.iter().copied());
        let most = counts.into_iter().max().unwrap_or(0);
        let has_letters = |language: Self| words.iter().any(|word| word.contains(language.letters()));
        Self::ALL
            .into_iter()
            .zip(counts)
            .filter(|(_, count)| *count == most)
            .map(|(language, _)| language)
            .filter(|language| most > 0 || language.letters().is_empty() || has_letters(*language))
            .collect()
    }

    /// Letters that tell a language. The stemmers of these languages would shorten the words of others.
    fn letters(self) -> &'static [char] {
        match self {
            Self::Polish => &['ą', 'ć', 'ę', 'ł', 'ń', 'ś', 'ź', 'ż'],
            Self::Turkish => &['ğ', 'ı', 'ş'],
            _ => &[],
        }
    }

    /// Whether a lower-case word is too common to be searched for.
    pub(super) fn is_stop_word(self, word: &str) -> bool {
        STOP_WORDS.get(word).is_some_and(|languages| languages & self.bit() != 0)
    }

    /// Returns the stem of a lower-case word. Words in another script than the Latin one are stemmed in the
    /// language that is written most in the script, in every text.
    pub(super) fn stem(self, word: &str) -> String {
        let algorithm = algorithm_of_script(word).unwrap_or(match self {
            Self::English => Algorithm::English,
            Self::German => Algorithm::German,
            Self::French => Algorithm::French,
            Self::Spanish => Algorithm::Spanish,
            Self::Italian => Algorithm::Italian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Dutch => Algorithm::Dutch,
            Self::Swedish => Algorithm::Swedish,
            Self::Russian => Algorithm::Russian,
            Self::Polish => Algorithm::Polish,
            Self::Turkish => Algorithm::Turkish,
        });
        let stem = Stemmer::new(algorithm).stem(word);
        // Capitals do not show whether an “I” has a dot.
        if stem.contains('ı') { stem.replace('ı', "i") } else { stem.into_owned() }
    }

    /// Returns what a word is the same as though its stem does not show it: the singular of an irregular plural, or the American
    /// spelling.
    pub(super) fn same_as(self, word: &str) -> Option<Cow<'static, str>> {
        let singular = IRREGULAR.get(&(self, word)).map(|singular| Cow::Borrowed(*singular));
        singular.or_else(|| english::american(word).filter(|_| self == Self::English).map(Cow::Owned))
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }

    fn stop_words(self) -> &'static str {
        match self {
            Self::English => ENGLISH,
            Self::German => GERMAN,
            Self::French => FRENCH,
            Self::Spanish => SPANISH,
            Self::Italian => ITALIAN,
            Self::Portuguese => PORTUGUESE,
            Self::Dutch => DUTCH,
            Self::Swedish => SWEDISH,
            Self::Russian => RUSSIAN,
            Self::Polish => POLISH,
            Self::Turkish => TURKISH,
        }
    }
}

/// The stemmer for a script that is not the Latin one.
fn algorithm_of_script(word: &str) -> Option<Algorithm> {
    // Letters of Persian and Urdu.
    const NOT_ARABIC: [char; 7] = ['پ', 'چ', 'ژ', 'گ', 'ک', 'ی', 'ے'];
    match word.chars().next()? {
        '\u{400}'..='\u{52f}' => Some(Algorithm::Russian),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Algorithm::Greek),
        '\u{620}'..='\u{64a}' => (!word.contains(NOT_ARABIC)).then_some(Algorithm::Arabic),
        _ => None,
    }
}

/// The singulars of irregular plurals.
static IRREGULAR: LazyLock<HashMap<(Language, &'static str), &'static str>> = LazyLock::new(|| {
    let mut singulars = HashMap::new();
    let mut language = Language::English;
    for line in include_str!("irregular.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        match words.next() {
            Some("[english]") => language = Language::English,
            Some("[german]") => language = Language::German,
            Some(singular) => singulars.extend(words.map(|plural| ((language, plural), singular))),
            None => {}
        }
    }
    singulars
});

/// Counts the stop words of each language, in the order of [`Language::ALL`].
fn counts<'a>(words: impl IntoIterator<Item = &'a str>) -> [usize; Language::ALL.len()] {
    let mut counts = [0; Language::ALL.len()];
    for languages in words.into_iter().filter_map(|word| STOP_WORDS.get(word)) {
        for (count, language) in counts.iter_mut().zip(Language::ALL) {
            *count += usize::from(languages & language.bit() != 0);
        }
    }
    counts
}

/// The stop words with a bit for each language that contains them.
static STOP_WORDS: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for language in Language::ALL {
        for word in language.stop_words().split(' ') {
            *all.entry(word).or_insert(0) |= language.bit();
        }
    }
    all
});

const ENGLISH: &str = "\
    a about above after again against all also am an and any are aren as at be because been before being \
    below between both but by can cannot could couldn did didn do does doesn doing don down during each \
    either else ever few for from further had hadn has hasn have haven having he her here hers herself him \
    himself his how i if in into is isn it its itself just let may me might more most must my myself neither \
    no nor not of off on once only or other our ours ourselves out over own same shall she should shouldn so \
    some such than that the their theirs them themselves then there these they this those through thus to \
    too under until up upon us very was wasn we were weren what when where whether which while who whom \
    whose why will with within without would wouldn yet you your yours yourself yourselves";

const GERMAN: &str = "\
    aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da \
    damit dann das dass daß dein deine dem den denn der des dessen dich die dies diese diesem diesen dieser \
    dieses dir doch dort du durch ein eine einem einen einer eines einige er es etwas euch euer eure für \
    gegen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in \
    indem ins ist ja jede jedem jeden jeder jedes jener jetzt kann kein keine keinem keinen keiner können \
    könnte man manche mein meine mich mir mit muss musste nach nein nicht nichts noch nun nur ob oder ohne \
    sehr sein seine seinem seinen seiner sich sie sind so soll sollte sondern sonst um und uns unser unsere \
    unter viel vom von vor wann war waren warum was weil welche welchem welchen welcher welches wenn wer \
    werde werden wie wieder wieviel will wir wird wo wurde wurden zu zum zur zwar zwischen über";

const FRENCH: &str = "\
    ai ainsi alors au aucun aussi autre autres aux avaient avait avec avoir ayant c ce cela ces cet cette \
    ceux chaque ci comme comment d dans de depuis des donc dont du elle elles en encore entre est et eu fait \
    il ils j je jusqu l la le les leur leurs lors lorsque lui m ma mais me mes moi mon même n ne ni nos \
    notre nous on ont ou où par parce pas peu peut plus pour pourquoi qu quand que quel quelle quelles quels \
    qui quoi s sa sans se sera ses si son sont sous sur t ta te tes ton tous tout toute toutes très tu un \
    une vos votre vous y à étaient était été être";

const SPANISH: &str = "\
    a al algo algunas algunos ante antes aquel aunque cada como con contra cual cuales cuando cuanto cuál \
    cuáles cuándo cuánta cuánto cuántos cómo de del desde donde dos durante dónde e el ella ellas ellos en \
    entre era eran es esa esas ese eso esos esta estaba estas este esto estos está están fue fueron ha había \
    han has hasta hay la las le les lo los me mi mis mucho muy más nada ni no nos nosotros o os otra otras \
    otro otros para pero poco por porque que quien quienes quién qué se sea ser si sido sin sobre son su sus \
    sí también tan tanto te tiene tienen todo todos tu tus un una uno unos y ya yo él";

const ITALIAN: &str = "\
    a ad agli ai al alla alle allo anche ancora avere aveva c che chi ci cioè come con contro cosa cui d da \
    dagli dai dal dalla dalle dallo degli dei del dell della delle dello di dopo dove e ed era erano essere \
    fa fra fu gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mentre mi mia mio molto ne \
    negli nei nel nell nella nelle nello no noi non nostra nostro o ogni oppure per perché però più poi \
    prima può qual quale quali quando quanta quante quanti quanto quella quelle quelli quello questa queste \
    questi questo qui quindi se sei senza si sia sono sopra sotto stata state stati stato su sua sue sugli \
    sui sul sulla sulle suo suoi tra tu tua tuo tutti tutto un una uno vi voi è";

const PORTUGUESE: &str = "\
    ao aos aquela aquele aquilo as até com como da das de dela dele deles depois do dos e ela elas ele eles \
    em entre era eram essa essas esse esses esta estas este estes está estão eu foi foram há isso isto já \
    lhe lhes mais mas me mesmo meu meus minha muito na nas nem no nos nossa nosso num numa não nós o os ou \
    para pela pelas pelo pelos por porque quais qual quando quanta quanto quantos que quem se sem ser será \
    seu seus sua suas só também te tem tinha tu tua têm um uma você vocês à às é";

const DUTCH: &str = "\
    aan al alleen alles als ben bij daar dan dat de deze die dit doch doen door dus een en er ge geen \
    geweest haar had heb hebben heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je jij kan \
    kon kunnen maar me meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat ons onze ook \
    op over reeds te tegen toch toen tot tussen u uit uw van veel voor waar waarom wanneer want waren was \
    wat welk welke werd wezen wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou";

const SWEDISH: &str = "\
    alla allt att av blev bli blir de dem den denna deras dess det detta dig din du där då efter ej eller en \
    er ett från för genom ha hade han hans har henne hon honom hur här i icke ingen inom inte jag ju kan \
    kunde man med mellan men mig min mot mycket ni nu när någon något några och om oss på samma sedan sig \
    sin sina sitt skulle som så till under upp ut utan vad var vara varför varit vem vi vid vilka vilken \
    vilket än är över";

const RUSSIAN: &str = "\
    а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее \
    если есть еще ещё её же за здесь и из или им их к как какая какие какой когда кто ли между меня мне \
    много может мы на над не него нее ней нет ни них но ну о об он она они оно от перед по под после потому \
    почему при с сам сколько со так также такой там то того тоже только том ты у уже чего чем что чтобы эта \
    эти это этого этой этом этот я";

/// Without words that are common in other languages, such as “do” and “to”: a short query has only one of them.
const POLISH: &str = "\
    aby albo bardzo bez będzie był była było były być czy czyli dla gdy gdzie ich jako jak jej jego jest jeśli \
    już kiedy kto która które którego której których który którym lub mają może mogą mu nad należy nie niż oraz \
    od pod przed przez przy się są tego tej tych tym tylko także też również więc wszystkich wszystkie został \
    została zostały że żeby";

/// Without words that are common in other languages, such as “de” and “en”.
const TURKISH: &str = "\
    ancak bazı bir biri bu buna bunu bunun böyle çok çünkü daha değil diye eğer fakat gibi göre hangi için ile \
    ise kadar kendi mı nasıl neden olan olarak oldu olduğu olması olur ona onun şey şu tarafından tüm ve veya \
    yani yok üzere";

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Language> {
        Language::of(text.split(' '))
    }

    #[test]
    fn language_is_detected_by_stop_words() {
        assert_eq!(
            of("the pump is a machine that moves water from one place to another"),
            Some(Language::English)
        );
        assert_eq!(
            of("die pumpe ist eine maschine die wasser von einem ort zum anderen bewegt"),
            Some(Language::German)
        );
        assert_eq!(
            of("la pompe est une machine qui déplace l eau d un lieu à un autre"),
            Some(Language::French)
        );
        assert_eq!(
            of("la bomba es una máquina que mueve el agua de un lugar a otro"),
            Some(Language::Spanish)
        );
        assert_eq!(
            of("la pompa è una macchina che sposta l acqua da un luogo all altro"),
            Some(Language::Italian)
        );
        assert_eq!(
            of("a bomba é uma máquina que move a água de um lugar para outro"),
            Some(Language::Portuguese)
        );
        assert_eq!(
            of("de pomp is een machine die water van de ene naar de andere plaats brengt"),
            Some(Language::Dutch)
        );
        assert_eq!(
            of("pumpen är en maskin som flyttar vatten från en plats till en annan"),
            Some(Language::Swedish)
        );
        assert_eq!(
            of("насос это машина которая перемещает воду из одного места в другое и не только"),
            Some(Language::Russian)
        );
        assert_eq!(
            of("pompa jest maszyną która nie tylko przenosi wodę z jednego miejsca na drugie"),
            Some(Language::Polish)
        );
        assert_eq!(
            of("pompa suyu bir yerden başka bir yere taşıyan ve çok kullanılan bir makinedir"),
            Some(Language::Turkish)
        );
    }

    #[test]
    fn names_and_figures_have_no_language() {
        assert_eq!(of("net sales 2,021 2,020"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn query_may_be_in_each_language_with_its_stop_words() {
        let may_be = |query: &str| Language::may_be(query.split(' '));
        assert_eq!(may_be("wie hoch war der umsatz"), [Language::German]);
        assert_eq!(may_be("what was the revenue in 2021"), [Language::English]);
        assert_eq!(may_be("umsatz 2021"), Language::ALL[..9]);
        assert_eq!(may_be("książka 2021"), Language::ALL[..10]);
    }

    #[test]
    fn stop_words_are_lower_case_words() {
        for language in Language::ALL {
            assert!(
                language.stop_words().split(' ').all(|word| !word.is_empty() && word == word.to_lowercase())
            );
        }
    }
}
