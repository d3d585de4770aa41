//! Which words of a query find which words of a text, and which do not.

use docent_text::lexical::{Analyzer, Lexicon, weighted_query_terms};
use std::collections::HashSet;

/// Whether a text has a term of a query.
fn finds(query: &str, text: &str) -> bool {
    let terms: HashSet<String> = Analyzer::of(text).terms(text).into_iter().collect();
    weighted_query_terms(query, &Lexicon::default()).iter().any(|term| terms.contains(&*term.text))
}

const FOUND: &[(&str, &str)] = &[
    // Hyphens and joined words.
    ("email", "Send an e-mail to the office."),
    ("e-mail", "Send an email to the office."),
    ("cooperation", "The co-operation of both firms began."),
    ("co-operation", "The cooperation of both firms began."),
    ("checkin", "The check-in opens at noon."),
    ("check-in", "The checkin opens at noon."),
    ("onboarding", "Every on-boarding takes a week."),
    ("offsite", "We meet off-site in May."),
    ("mother in law", "His mother-in-law signed it."),
    // Signs that are parts of names.
    ("C++", "It is written in C++."),
    ("c#", "We teach C# and Java."),
    ("F#", "F#, of course"),
    (".net", "It runs on .NET 8."),
    ("net", "It runs on .NET 8."),
    ("Notepad++", "Open it with Notepad++ first."),
    ("M&A", "The head of M&A left."),
    ("AT&T", "It was sold to AT&T."),
    ("USA", "He came from the U.S.A. by ship."),
    ("C++", "The code needs C++17."),
    ("ASP.NET", "Our ASP.NET site"),
    ("vuejs", "It is written in Vue.js today."),
    ("O'Neill", "ONeill signed it."),
    ("ONeill", "O’Neill signed it."),
    ("M.Sc.", "He has an MSc in law."),
    ("BSc", "She has a B.Sc. in law."),
    ("filename", "Set file_name first."),
    // Accents and letters with marks.
    ("Cæsar", "the wars of Caesar"),
    ("coeur", "Le cœur est dans la boîte."),
    ("IRMAK", "ırmak"),
    ("ırmak", "Irmak"),
    ("ΘΕΣΣΑΛΟΝΙΚΗ", "Θεσσαλονίκη"),
    ("resume", "Send your résumé."),
    ("naive", "It was a naïve idea."),
    ("istanbul", "The office in İstanbul is open."),
    ("ISTANBUL", "The office in İstanbul is open."),
    ("lodz", "The plant in Łódź is open."),
    ("malmo", "The plant in Malmö is open."),
    ("senor", "El señor no está en la casa."),
    ("francais", "Le cours de français est dans la salle."),
    ("strasse", "Die Straße ist bis auf weiteres gesperrt und nicht befahrbar."),
    ("Gebuehr", "Die Gebühr ist bis zum Ende des Monats zu zahlen."),
    ("ёлка", "Елка стоит во дворе."),
    // Titles of common words.
    ("The Who", "In 1970 we heard The Who at Leeds."),
    ("IT", "Ask the IT department."),
    ("to be or not to be", "Hamlet asks: to be or not to be."),
    ("WHO", "The WHO recommends it."),
    ("Let It Be", "Then they sang Let It Be again."),
    // Common words of other languages.
    ("war", "A war began."),
    ("son", "Her son left."),
    // Scripts without spaces.
    ("水", "飲料水の検査"),
    ("ﾃｽﾄ", "テストの結果"),
    ("テスト", "ﾃｽﾄの結果"),
    // Characters that stand for others.
    ("㎡", "20 m2"),
    ("20 kg", "20 ㎏"),
    ("µF", "5 μF"),
    ("2 1/2", "2½ cups"),
    ("m²", "It has 20 m² and 12½ rooms."),
    ("1250", "It costs 1\u{a0}250 € and ½ more."),
    ("café", "The cafe\u{301} with ½ price"),
    ("ガス", "ｶﾞｽ"),
    ("Ⅷ", "Chapter VIII"),
    // Inflection.
    ("قلم", "القلم على الطاولة"),
    ("معلمون", "اجتمع المعلمين"),
    ("τιμή", "Οι τιμές αλλάζουν."),
    ("faktura", "Faktury są w archiwum i nie są jawne, ponieważ należą do klienta, który je otrzymał."),
    ("kapı", "Kapılar ve pencereler bir yıl için garantili."),
    ("насос", "Насосы проверяются ежегодно."),
    ("договор аренды", "Договоры хранятся в сейфе."),
    ("компьютер", "The report (Компьютеры) is in Russian."),
    ("Pumpe", "Die Pumpen sind bis auf weiteres nicht in Betrieb."),
    // Parts of compounds.
    ("Gebühren", "Die Gebührenordnung ist nicht in der Akte."),
    ("Ordnung", "Die Gebührenordnung ist nicht in der Akte."),
    ("Versicherung", "Die Haftpflichtversicherung ist für alle Mitarbeiter."),
    ("Urlaub", "Der Urlaubsantrag ist bis zum Montag bei der Leitung."),
    ("Antrag", "Der Urlaubsantrag ist bis zum Montag bei der Leitung."),
    ("marknad", "Det är en arbetsmarknad som inte är för alla."),
    ("ziekenhuis", "De ziekenhuisopname is niet voor alle patiënten."),
    // Irregular plurals.
    ("foot", "It is six feet long."),
    ("teeth", "A tooth broke."),
    ("child", "Children pay half."),
    ("knife", "Knives are not allowed."),
    ("criterion", "The criteria are strict."),
    ("analysis", "Both analyses agree."),
    ("appendices", "See the appendix."),
    ("Thema", "Die Themen sind nicht in der Liste."),
    // British and American spelling.
    ("color", "The colour is red."),
    ("colour", "The color is red."),
    ("organization", "The organisation grew."),
    ("organise", "They organized it."),
    ("center", "The centre is closed."),
    ("meters", "It is two metres long."),
    ("pediatric", "The paediatric ward is open."),
    ("license", "The licence ended."),
    ("traveling", "He was travelling."),
    ("catalog", "The catalogue is online."),
    ("check", "Pay by cheque."),
    ("gray", "It is grey."),
    // Numbers in other notations.
    ("1,250 kg", "Er wiegt 1.250 kg."),
    ("1250", "It weighs 1,250 kg."),
    ("1 250", "It weighs 1,250 kg."),
    ("1234.50", "Der Preis ist 1.234,50 Euro."),
    ("1.234,50", "The price is 1,234.50 dollars."),
    ("1234567", "Es sind 1.234.567 Stück."),
    ("3.5", "Es sind 3,5 Prozent."),
    ("12345", "Es sind 12'345 Franken."),
    ("12345", "Il y a 12\u{202f}345 habitants."),
    ("5kW", "It has 5 kW."),
    ("0.75", "a dose of .75 mg"),
    (".75", "a dose of 0.75 mg"),
    ("9780306406157", "ISBN 978-0-306-40615-7"),
    ("978-0-306-40615-7", "ISBN 9780306406157"),
    // Dates.
    ("March 3, 2024", "Signed on 03.03.2024."),
    ("03.03.2024", "Signed on 3 March 2024."),
    ("2024-03-03", "Unterschrieben am 3. März 2024."),
    ("3/3/2024", "Signed on March 3rd, 2024."),
    ("March 2024", "Signed on 2024-03-17."),
    ("1 января 2025", "Начало: 01.01.2025."),
    ("20240317", "Signed on 2024-03-17."),
    ("17 marca 2024", "Umowa z 17.03.2024"),
    ("17 Mart 2024", "17.03.2024"),
];

const NOT_FOUND: &[(&str, &str)] = &[
    // Common words are not searched for.
    ("IT", "it is here and it works"),
    ("WHO", "who is there"),
    ("The Who", "the man who left"),
    ("US", "tell us"),
    ("OR", "this or that"),
    ("it", "Ask the IT department."),
    ("who", "The WHO recommends this."),
    ("to be or not to be", "It is to be done, or not."),
    ("AM", "I am here."),
    // Accents are meant.
    ("the résumé of an engineer", "Work will resume on Monday."),
    ("an exposé of the firm", "Do not expose it."),
    ("pâté", "A pate of stone."),
    ("Ähre", "die Ehre und der Ruhm, wie sie ist"),
    ("чай", "часто"),
    // Signs are meant.
    ("C++", "vitamin C"),
    ("C#", "plan C"),
    ("C", "C++"),
    ("F#", "grade F"),
    ("C++", "C# only"),
    ("A+", "plan A"),
    ("C+", "C+5 is a sum"),
    ("ll", "We'll go."),
    ("weare", "We're here."),
    ("TM", "Use the Pump™."),
    // Common words of other languages.
    ("war", "Das war nicht die Pumpe, die ich haben wollte."),
    // Numbers.
    ("12", "It has 2½ cups."),
    ("102", "10² pumps"),
    ("5", "0.5 mg"),
    ("20202021", "from 2020-2021"),
    ("1.5", "Es sind 15 Stück."),
    ("1250", "It costs 12.50."),
    ("2.1", "section 2.10"),
    ("3.14", "314 pumps"),
    ("2.0.1", "201 pumps"),
    ("1234.50", "1234.05"),
    ("12,5", "125 pumps"),
    ("1,250", "2,250"),
    ("v2.0", "version 20"),
    // Dates.
    ("3 March 2024", "Signed on 2023-03-03."),
    ("03.04.2024", "Signed on 5 April 2023."),
    // Other words.
    ("pump", "jump"),
    ("mouse", "house"),
    ("mice", "rice"),
    ("goose", "goods"),
    ("foot", "food"),
    ("leaf", "leave"),
    ("tyre", "tyranny"),
    ("color", "collar"),
    ("hour", "horn"),
    ("four", "form"),
    ("organ", "organisation chart"),
    ("analysis", "analogue"),
    ("center", "century"),
    ("email", "mail"),
    ("cooperation", "corporation"),
    ("index", "indication"),
    ("data", "date"),
    ("media", "median"),
    ("general", "generous"),
    ("account", "accordion"),
    ("Urlaub", "Der Laubbläser ist nicht in der Halle und wird nicht verliehen."),
    ("Amt", "Das ist das gesamte Team, wie es in der Liste steht."),
    ("Ei", "Die Leitung ist in der Halle und nicht im Büro."),
    ("Wagen", "Die Wange ist nicht in der Halle, sondern im Büro."),
    ("насос", "носок"),
    ("policy", "police"),
    ("iso", "is"),
    ("buy", "bu"),
    ("قلم", "قلب"),
    ("τιμή", "τιμόνι"),
    ("faktura", "fakty są znane i nie są jawne, ponieważ należą do klienta, który je otrzymał"),
    ("договор", "дорога"),
    ("東", "京都"),
    ("水", "氷"),
    ("テスト", "コース"),
];

#[test]
fn words_find_their_other_forms() {
    let missed: Vec<_> = FOUND.iter().filter(|(query, text)| !finds(query, text)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn words_do_not_find_other_words() {
    let found: Vec<_> = NOT_FOUND.iter().filter(|(query, text)| finds(query, text)).collect();
    assert!(found.is_empty(), "{found:#?}");
}
