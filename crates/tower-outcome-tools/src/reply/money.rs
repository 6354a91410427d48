//! Amounts of money in the notations of different countries.

use super::lexicon::Pack;
use super::text::{Kind, Token};

/// The amounts that `tokens` name with a currency, in hundredths.
pub(crate) fn amounts(tokens: &[Token], pack: &Pack) -> Vec<u64> {
    let mut named: Vec<Amount> = Vec::new();
    for at in 0..tokens.len() {
        let found =
            in_digits(tokens, at, pack, &named).or_else(|| in_words(tokens, at, pack, &named));
        let Some(amount) = found else {
            continue;
        };
        // "5 euros and 50 cents" is one amount.
        match named
            .last_mut()
            .filter(|whole| amount.is_rest_of(whole, tokens, pack))
        {
            Some(whole) => {
                whole.hundredths = whole.hundredths.saturating_add(amount.hundredths);
                whole.unit = amount.unit;
                whole.end = amount.end;
            }
            None => named.push(amount),
        }
    }
    named.into_iter().map(|amount| amount.hundredths).collect()
}

/// An amount that the tokens from `start` to `end` name.
struct Amount {
    start: usize,
    end: usize,
    hundredths: u64,
    /// What the unit is worth, in hundredths.
    unit: u64,
}

impl Amount {
    /// Whether it follows `whole` directly and is of a smaller unit.
    fn is_rest_of(&self, whole: &Self, tokens: &[Token], pack: &Pack) -> bool {
        let between = tokens.get(whole.end..self.start);
        let joins = |token: &Token| token.text == "," || pack.numerals().is_joint(&token.text);
        self.unit < whole.unit && between.is_some_and(|between| between.iter().all(joins))
    }
}

/// The amount whose digits stand at `at`.
fn in_digits(tokens: &[Token], at: usize, pack: &Pack, named: &[Amount]) -> Option<Amount> {
    let token = &tokens[at];
    if token.kind == Kind::Id {
        return in_one_piece(token, at, pack);
    }
    if token.kind != Kind::Number {
        return None;
    }
    let hundredths = hundredths(&grouped(tokens, at))?;
    let (unit, words) = match pack.minor_units().at(&tokens[at + 1..], follows(named, at)) {
        Some(minor) => minor,
        None if is_currency(tokens.get(at + 1)) => (WHOLE, 1),
        None if at > 0 && is_currency(tokens.get(at - 1)) => (WHOLE, 0),
        None => return None,
    };
    Some(Amount {
        start: at,
        end: at + 1 + words,
        hundredths: hundredths.checked_mul(unit)? / WHOLE,
        unit,
    })
}

/// "50p" and "99ct".
fn in_one_piece(token: &Token, at: usize, pack: &Pack) -> Option<Amount> {
    let end = token
        .text
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','))?;
    let (digits, unit) = token.text.split_at(end);
    let (unit, _) = pack.minor_units().at(&super::text::tokens(unit), false)?;
    Some(Amount {
        start: at,
        end: at + 1,
        hundredths: hundredths(digits)?.checked_mul(unit)? / WHOLE,
        unit,
    })
}

/// The amount in words whose unit stands at `at`.
fn in_words(tokens: &[Token], at: usize, pack: &Pack, named: &[Amount]) -> Option<Amount> {
    let start = pack.numerals().start(tokens, at);
    let (unit, words) = match pack.minor_units().at(&tokens[at..], follows(named, start)) {
        Some(minor) => minor,
        None if is_currency(tokens.get(at)) => (WHOLE, 1),
        None => return None,
    };
    Some(Amount {
        start,
        end: at + words,
        hundredths: pack.numerals().before(tokens, at)?.checked_mul(unit)?,
        unit,
    })
}

/// Whether the last amount ends right before `start`.
fn follows(named: &[Amount], start: usize) -> bool {
    named.last().is_some_and(|amount| amount.end == start)
}

fn is_currency(token: Option<&Token>) -> bool {
    token.is_some_and(|token| CURRENCIES.contains(&token.text.as_str()))
}

/// The number that ends at `at`, with the thousands that a space sets apart: "1 250,00".
fn grouped(tokens: &[Token], at: usize) -> String {
    let mut number = tokens[at].text.clone();
    let mut group = number.split([',', '.']).next().map_or(0, str::len);
    for before in tokens[..at].iter().rev() {
        let leads = before.text.len() <= 3 && before.text.bytes().all(|b| b.is_ascii_digit());
        if before.kind != Kind::Number || !leads || group != 3 {
            break;
        }
        group = before.text.len();
        number.insert_str(0, &before.text);
    }
    number
}

/// "1,234.50", "1.234,50", "1234.5" and "1'234.50" are all 123450.
pub(crate) fn hundredths(text: &str) -> Option<u64> {
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    let separators: Vec<usize> = text.match_indices(['.', ',']).map(|(at, _)| at).collect();
    let is_mixed = text.contains('.') && text.contains(',');
    // A lone separator before three digits groups thousands.
    let decimal = separators
        .last()
        .copied()
        .filter(|at| is_mixed || separators.len() == 1 && text.len() - at != 4);
    let (whole, fraction) = decimal.map_or((text, ""), |at| text.split_at(at));
    let fraction: String = digits(fraction)
        .chars()
        .chain("00".chars())
        .take(2)
        .collect();
    format!("{}{fraction}", digits(whole)).parse().ok()
}

/// A whole unit, in hundredths.
const WHOLE: u64 = 100;

const CURRENCIES: [&str; 32] = [
    "€", "$", "£", "¥", "₹", "元", "円", "eur", "usd", "gbp", "chf", "jpy", "cny", "rmb", "brl",
    "r$", "euro", "euros", "dollar", "dollars", "pound", "pounds", "yen", "reais", "real", "pesos",
    "francs", "dólares", "dólar", "franken", "块", "inr",
];

#[cfg(test)]
mod tests {
    use super::hundredths;
    use crate::reply::lexicon::Lexicon;
    use crate::reply::text::tokens;

    fn amounts(language: &str, text: &str) -> Vec<u64> {
        let lexicon = Lexicon::builtin();
        let mut packs = lexicon.packs().iter();
        let pack = packs.find(|pack| pack.language() == language).unwrap();
        super::amounts(&tokens(text), pack)
    }

    #[test]
    fn notations_of_one_amount_are_equal() {
        for text in ["1,234.50", "1.234,50", "1234.50", "1234.5", "1'234.50"] {
            assert_eq!(hundredths(text), Some(123_450), "{text}");
        }
        assert_eq!(amounts("fr", "1 234 567,50 € et 12 €"), [123_456_750, 1200]);
        assert_eq!(hundredths("1,234"), Some(123_400));
        assert_eq!(hundredths("20"), Some(2000));
        assert_eq!(hundredths("1,234,567"), Some(123_456_700));
    }

    #[test]
    fn only_numbers_with_a_currency_are_amounts() {
        assert_eq!(
            amounts("en", "€20.00 and 30 EUR in 5 days for A-1001"),
            [2000, 3000]
        );
    }

    #[test]
    fn amounts_are_read_in_words() {
        for (language, text, amount) in [
            ("en", "twenty-five dollars", 25),
            ("en", "two hundred and thirty euros", 230),
            ("en", "one thousand two hundred ten pounds", 1210),
            ("de", "zweihunderteinundzwanzig Euro", 221),
            ("de", "tausend Euro", 1000),
            ("fr", "quatre-vingt-dix-sept euros", 97),
            ("fr", "deux cent soixante-quinze euros", 275),
            ("es", "treinta y cinco euros", 35),
            ("es", "dos mil quinientos pesos", 2500),
            ("pt", "cento e vinte reais", 120),
            ("zh", "一千二百三十元", 1230),
            ("zh", "两万块", 20_000),
            ("ja", "三千五百円", 3500),
        ] {
            assert_eq!(amounts(language, text), [amount * 100], "{text}");
        }
        assert_eq!(amounts("en", "the euro and twenty days"), [0; 0]);
    }

    #[test]
    fn parts_of_a_unit_are_hundredths_of_it() {
        for (language, text, amount) in [
            ("en", "50 cents", 50),
            ("en", "a refund of 50¢", 50),
            ("en", "75p", 75),
            ("en", "ninety-nine pence", 99),
            ("en", "5 euros and 50 cents", 550),
            ("en", "five dollars, twenty cents", 520),
            ("de", "50 Cent", 50),
            ("de", "zwanzig Euro und fünfzig Cent", 2050),
            ("de", "99ct", 99),
            ("fr", "deux euros et trente centimes", 230),
            ("es", "3 euros con 20 céntimos", 320),
            ("es", "veinte centavos", 20),
            ("pt", "10 reais e 5 centavos", 1005),
            ("zh", "三元五角", 350),
            ("zh", "3元5角2分", 352),
            ("zh", "五分钱", 5),
            ("ja", "50セント", 50),
        ] {
            assert_eq!(amounts(language, text), [amount], "{text}");
        }
        assert_eq!(amounts("en", "€5 or 50 cents"), [500, 50]);
    }

    #[test]
    fn words_that_only_look_like_parts_of_a_unit_are_none() {
        for (language, text) in [
            ("en", "50 per cent of 20 orders"),
            ("fr", "cent commandes"),
            ("zh", "5分钟后 100分"),
            ("ja", "5分以内"),
        ] {
            assert_eq!(amounts(language, text), [0; 0], "{text}");
        }
    }
}
