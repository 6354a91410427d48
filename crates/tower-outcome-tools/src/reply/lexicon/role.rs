//! What a phrase of the lexicon does in a sentence.

use std::fmt;

/// The job of a phrase; the name of its section in a lexicon file.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Role {
    Affirm,
    Again,
    All,
    And,
    Auxiliary,
    Base,
    Because,
    Being,
    But,
    By,
    Claim,
    Closing,
    Confirm,
    Cue,
    Determiner,
    Doubt,
    Ending,
    Except,
    Fail,
    FirstAttempt,
    Future,
    Generic,
    Hedge,
    If,
    Indefinite,
    Ing,
    Light,
    Mask,
    Me,
    Modal,
    No,
    Not,
    Number,
    Of,
    Ongoing,
    Only,
    Ordinal,
    Participle,
    Passive,
    Past,
    PastTime,
    Perfect,
    Present,
    Pronoun,
    Question,
    Range,
    Record,
    Redone,
    Rest,
    Result,
    Retry,
    Sent,
    Some,
    Split,
    Tag,
    That,
    Thing,
    Things,
    Third,
    Trouble,
    Twice,
    Unable,
    Unsure,
    Untrue,
    When,
    Yes,
    Yet,
    Your,
    Adverb,
    Did,
}

impl Role {
    /// The role that a section is named for.
    pub(crate) fn named(name: &str) -> Option<Self> {
        ROLES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, role)| role)
    }

    /// Whether a phrase of this role owns its words, so that no shorter phrase reads them again.
    pub(crate) fn owns_words(self) -> bool {
        !matches!(
            self,
            Self::Adverb
                | Self::Affirm
                | Self::All
                | Self::And
                | Self::Auxiliary
                | Self::Being
                | Self::By
                | Self::Cue
                | Self::Determiner
                | Self::Did
                | Self::Ending
                | Self::Generic
                | Self::Hedge
                | Self::Indefinite
                | Self::Me
                | Self::No
                | Self::Number
                | Self::Of
                | Self::Only
                | Self::Ordinal
                | Self::Passive
                | Self::PastTime
                | Self::Perfect
                | Self::Present
                | Self::Pronoun
                | Self::Question
                | Self::Range
                | Self::Record
                | Self::Rest
                | Self::Some
                | Self::Tag
                | Self::That
                | Self::Things
                | Self::Third
                | Self::Yes
                | Self::Yet
                | Self::Your
        )
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ROLES
            .iter()
            .find(|(_, role)| role == self)
            .map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

const ROLES: &[(&str, Role)] = &[
    ("adverb", Role::Adverb),
    ("affirm", Role::Affirm),
    ("again", Role::Again),
    ("all", Role::All),
    ("and", Role::And),
    ("aux", Role::Auxiliary),
    ("base", Role::Base),
    ("because", Role::Because),
    ("being", Role::Being),
    ("but", Role::But),
    ("by third", Role::By),
    ("claim", Role::Claim),
    ("closing", Role::Closing),
    ("confirm", Role::Confirm),
    ("cue", Role::Cue),
    ("determiner", Role::Determiner),
    ("did", Role::Did),
    ("doubt", Role::Doubt),
    ("ending", Role::Ending),
    ("except", Role::Except),
    ("fail", Role::Fail),
    ("first attempt", Role::FirstAttempt),
    ("future", Role::Future),
    ("generic", Role::Generic),
    ("hedge", Role::Hedge),
    ("if", Role::If),
    ("indefinite", Role::Indefinite),
    ("ing", Role::Ing),
    ("light", Role::Light),
    ("mask", Role::Mask),
    ("me", Role::Me),
    ("modal", Role::Modal),
    ("no", Role::No),
    ("not", Role::Not),
    ("number", Role::Number),
    ("of", Role::Of),
    ("ongoing", Role::Ongoing),
    ("only", Role::Only),
    ("ordinal", Role::Ordinal),
    ("participle", Role::Participle),
    ("passive", Role::Passive),
    ("past", Role::Past),
    ("pasttime", Role::PastTime),
    ("perfect", Role::Perfect),
    ("present", Role::Present),
    ("pronoun", Role::Pronoun),
    ("question", Role::Question),
    ("range", Role::Range),
    ("record", Role::Record),
    ("redone", Role::Redone),
    ("rest", Role::Rest),
    ("result", Role::Result),
    ("retry", Role::Retry),
    ("sent", Role::Sent),
    ("some", Role::Some),
    ("split", Role::Split),
    ("tag", Role::Tag),
    ("that", Role::That),
    ("thing", Role::Thing),
    ("things", Role::Things),
    ("third", Role::Third),
    ("trouble", Role::Trouble),
    ("twice", Role::Twice),
    ("unable", Role::Unable),
    ("unsure", Role::Unsure),
    ("untrue", Role::Untrue),
    ("when", Role::When),
    ("yes", Role::Yes),
    ("yet", Role::Yet),
    ("your", Role::Your),
];
