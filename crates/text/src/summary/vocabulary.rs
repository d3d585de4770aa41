//! Words and phrases, in lower case, by which sentences are judged. Words are between spaces, phrases between bars.

/// First words of sentences that need the one before.
pub(super) const CONTINUATIONS: &str = " however but and or therefore thus hence additionally furthermore moreover also \
     then otherwise similarly likewise accordingly consequently he she they it these those such its their there \
     see note finally second secondly third yet jedoch aber und oder daher deshalb außerdem zudem dies sie er \
     es ";

/// Text of forms, licences, footers and references that says nothing about the document.
pub(super) const BOILERPLATE: &str = "|copyright|©|all rights reserved|http|www.|@|forward-looking|forward looking|\
     check mark|registrant|incorporated by reference|incorporated herein|pursuant to|undertake no obligation|\
     aggregate market value|exchange act|securities act|form 10-|form 8-k|hereunto|undersigned|exhibit |\
     see note|see notes|refer to note|refer to “|in conjunction with|please refer|see page|see section|see item|\
     see “|et al|arxiv|doi:|isbn|proceedings of|preprint|figure |fig. |table |click |permission|disclaimer|\
     liability|without notice|confidential|this page|sarbanes|internal control over|disclosure controls|\
     siehe seite|alle rechte vorbehalten|urheberrecht|haftung|abbildung |tabelle |supersede|";

/// Words for a document.
pub(super) const DOCUMENT_WORDS: &str = " document report paper agreement contract policy manual guide handbook booklet study presentation \
    brochure plan survey article book guideline guidelines instructions analysis chapter research release course programme \
    dokument bericht vertrag handbuch anleitung leitfaden studie richtlinie satzung arbeit artikel broschüre analyse \
    ordnung gesetz vorschrift ";

/// Words before one of those.
pub(super) const THIS: &str = " this the our dieses dieser diese diesem das der ";

/// Phrases of sentences that say what a document or its subject is.
pub(super) const DEFINING: &str = "|we propose|we present|we introduce|we study|we investigate|we describe|we analyze|\
     we analyse|we develop|we explore|the purpose of|the aim of|the goal of|the objective of|is designed to|\
     is intended|an overview of|aims to|we are a |we are an |our mission|we are the |we are one of| is a |\
      is an | is the world| is the leading| is one of the| are a |was founded|we seek to be|\
     principal business|is among the|examines|describes|explains|tells you how|ziel |zweck|beschreibt| ist ein|\
     regelt|gilt für|";

/// Beginnings of sentences that describe no document.
pub(super) const CONDITIONAL: &str = "|to the extent|in the event|if |except |notwithstanding|unless |this is |it is |that is |there is |there are |\
    no |nothing |when |for the |each |any |following |in the early |on |";

/// Phrases of sentences that are hard to understand on their own, or say little.
pub(super) const WEAK: &str = "| may | could | might |cannot predict|as discussed|as described|as a result|for example|\
     in addition|in contrast|further,|because |although |for the |non-current|fair value|differ materially|\
     are encouraged|above|below|following|not material|material effect|materially|accounting|stated at|\
     references to|refers to|we refer|terms “|prays|as mentioned|as shown|that case|siehe|zum beispiel|oben|\
     unten|in diesem fall|";

/// Words with at least four letters that are frequent in any text.
pub(super) const STOP_WORDS: &str = " about above across after again against also although always among another because been before \
    being below between both could does doing down during each either every from further have having here hers himself \
    however into itself just made make makes many more most much must myself need only other others ours over same shall \
    should since some such than that their them then there these they this those through under until upon used using very \
    well were what when where which while will with within without would your yours including included certain related \
    alle allem allen aller alles auch auf aus bei beim bereits bzw dabei dadurch dafür damit danach dann daran darauf das \
    dass dazu dem den denen der deren des dessen die dies diese diesem diesen dieser dieses doch durch eine einem einen \
    einer eines etwa für gegen haben hatte hier ihre ihrem ihren ihrer immer ist jede jedem jeden jeder jedes jedoch kann \
    kein keine können mehr muss müssen nach nicht noch nur oder ohne sehr sein seine seinem seinen seiner sich sie sind \
    sollte sollten sowie über und unter vom von vor wenn werden wird wurde wurden zum zur zwischen ";

/// The phrases of a list between bars.
pub(super) fn phrases(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split('|').filter(|phrase| !phrase.is_empty())
}
