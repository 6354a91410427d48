//! Amounts of money in the notations of different countries.

use super::lexicon::Numerals;
use super::text::{Kind, Token};

/// The amounts that `tokens` name with a currency, in hundredths.
pub(crate) fn amounts(tokens: &[Token], numerals: &Numerals) -> Vec<u64> {
    let is_currency = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at))
            .is_some_and(|t| CURRENCIES.contains(&t.text.as_str()))
    };
    let in_words = (0..tokens.len())
        .filter(|&at| is_currency(Some(at)))
        .filter_map(|at| numerals.before(tokens, at)?.checked_mul(100));
    let numbers = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.kind == Kind::Number);
    numbers
        .filter(|&(at, _)| is_currency(at.checked_sub(1)) || is_currency(Some(at + 1)))
        .filter_map(|(at, _)| hundredths(&grouped(tokens, at)))
        .chain(in_words)
        .collect()
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

const CURRENCIES: [&str; 33] = [
    "€", "$", "£", "¥", "₹", "元", "円", "eur", "usd", "gbp", "chf", "jpy", "cny", "rmb", "brl",
    "r$", "euro", "euros", "dollar", "dollars", "pound", "pounds", "yen", "reais", "real", "pesos",
    "francs", "dólares", "dólar", "franken", "cents", "块", "inr",
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
        super::amounts(&tokens(text), pack.numerals())
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
}
