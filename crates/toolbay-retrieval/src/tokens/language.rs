//! Which language a text is in, as far as ranking cares.

use super::chinese::is_chinese;

/// The languages that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// English, or any other language written in letters.
    English,
    /// Chinese, also where it names English things.
    Chinese,
}

impl Language {
    /// The language of a text: Chinese where at least one letter in ten is, for one character says as much as a word.
    pub fn of(text: &str) -> Self {
        let (mut chinese, mut others) = (0_usize, 0_usize);
        for c in text.chars().take(4096) {
            if is_chinese(c) {
                chinese += 1;
            } else if c.is_alphabetic() {
                others += 1;
            }
        }
        if chinese > 0 && chinese * 9 >= others { Self::Chinese } else { Self::English }
    }
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn a_request_with_foreign_names_keeps_its_language() {
        let check = |text: &str, language| assert_eq!(Language::of(text), language, "{text}");
        check("查一下GitHub上的issue", Language::Chinese);
        check("weather in Beijing", Language::English);
        check("translate 你好 into English and then post it to the channel named general please", Language::English);
        check("", Language::English);
        check("123", Language::English);
    }
}
