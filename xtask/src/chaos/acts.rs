//! What a call wants its server to do, and what its client does meanwhile.

use super::dice::Dice;
use super::meeting::{Era, Link, Peer};

/// What a server does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Act {
    /// Answers.
    Plain,
    /// Answers after a while.
    Late,
    /// Answers when nobody waits any more.
    Overdue,
    /// Tells of progress for longer than a silence may last, then answers.
    Progress,
    /// Answers twice.
    Twice,
    /// Answers under ids that are no call's, then under its own.
    Foreign,
    /// Writes what is no message, then answers.
    Junk,
    /// Tells of progress more often than anybody reads, then answers.
    Flood,
    /// Answers with a long text.
    Big,
    /// Answers with an error.
    Error,
    /// Never answers.
    Silent,
    /// Asks something first.
    Ask,
    /// Ends, or hangs up, in the middle of its answer.
    Cut,
    /// Ends instead of answering.
    Die,
}

impl Act {
    /// All, in the order of the table.
    pub(super) const ALL: [Self; 14] = [
        Self::Plain,
        Self::Late,
        Self::Overdue,
        Self::Progress,
        Self::Twice,
        Self::Foreign,
        Self::Junk,
        Self::Flood,
        Self::Big,
        Self::Error,
        Self::Silent,
        Self::Ask,
        Self::Cut,
        Self::Die,
    ];

    /// In a call's arguments.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Late => "late",
            Self::Overdue => "overdue",
            Self::Progress => "progress",
            Self::Twice => "twice",
            Self::Foreign => "foreign",
            Self::Junk => "junk",
            Self::Flood => "flood",
            Self::Big => "big",
            Self::Error => "error",
            Self::Silent => "silent",
            Self::Ask => "ask",
            Self::Cut => "cut",
            Self::Die => "die",
        }
    }

    /// For the table.
    pub(super) fn story(self) -> &'static str {
        match self {
            Self::Plain => "answers",
            Self::Late => "answers late",
            Self::Overdue => "answers when the time is over",
            Self::Progress => "tells of progress past the limit",
            Self::Twice => "answers twice",
            Self::Foreign => "answers under foreign ids first",
            Self::Junk => "writes junk first",
            Self::Flood => "floods with notifications",
            Self::Big => "answers with 300 KB",
            Self::Error => "answers with an error",
            Self::Silent => "never answers",
            Self::Ask => "asks first",
            Self::Cut => "is cut in its answer",
            Self::Die => "ends without an answer",
        }
    }

    /// The act that is meant.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.word() == word)
    }

    /// How often, among a hundred and some.
    fn weight(self, peer: &Peer, asking: bool) -> u64 {
        match self {
            Self::Plain => 40,
            Self::Late | Self::Twice | Self::Foreign => 8,
            Self::Progress | Self::Big => 4,
            Self::Junk | Self::Error => 5,
            Self::Flood => 2,
            Self::Overdue | Self::Silent => 1,
            // A question over a shared pipe names no call: only a session of its own has but one in flight.
            Self::Ask => u64::from(asking) * 12,
            // Over HTTP it ends a connection, over a pipe the server: that is the storm's to do.
            Self::Cut => u64::from(peer.link == Link::Http) * 2,
            Self::Die => 0,
        }
    }

    /// One by chance, that this server can be wanted to do.
    pub(super) fn throw(dice: &mut Dice, peer: &Peer, client: Era, asks: bool) -> Self {
        let shared = peer.link == Link::Stdio && peer.era == Era::Legacy && client == Era::Modern;
        let asking = asks && !shared;
        let all: u64 = Self::ALL.iter().map(|act| act.weight(peer, asking)).sum();
        let mut at = dice.below(all);
        for act in Self::ALL {
            let weight = act.weight(peer, asking);
            if at < weight {
                return act;
            }
            at -= weight;
        }
        Self::Plain
    }
}

/// What a client does while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Waits.
    Stays,
    /// Leaves after so many milliseconds.
    Leaves(u64),
    /// Reads a little at a time.
    ReadsSlowly,
}

impl Manner {
    /// One by chance.
    pub(super) fn throw(dice: &mut Dice) -> Self {
        match dice.below(100) {
            0..6 => Self::Leaves(dice.below(60)),
            6..12 => Self::ReadsSlowly,
            _ => Self::Stays,
        }
    }
}
