//! What a scripted model says, as no provider writes it.

use serde_json::Value;

/// Whose words are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic, Messages.
    Anthropic,
    /// OpenAI, Chat Completions.
    OpenAiChat,
    /// OpenAI, Responses.
    OpenAiResponses,
    /// Gemini, generateContent.
    Gemini,
    /// Ollama, chat.
    Ollama,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini, Self::Ollama];
}

/// A question that came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// In whose words.
    pub dialect: Dialect,
    /// Of which model.
    pub model: String,
    /// Path and query.
    pub target: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The document.
    pub body: Value,
    /// Whether a stream was asked for.
    pub streamed: bool,
    /// The names of the tools it shows.
    pub tools: Vec<String>,
}

/// Something a model says.
#[derive(Clone, Debug, PartialEq)]
pub enum Say {
    /// Words.
    Text(String),
    /// A thought, with what its provider wants back.
    Thought(String),
    /// It wants a tool called.
    Intent {
        /// The name it was shown by.
        name: String,
        /// What it writes: an object, or anything else.
        arguments: Value,
    },
    /// It wants a tool called, and writes what is no JSON; where arguments are objects, a string.
    Garbled {
        /// The name it was shown by.
        name: String,
        /// What it writes.
        arguments: String,
    },
}

/// How a turn ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// In good order.
    Whole,
    /// It may not say more.
    Length,
    /// It will not say it.
    Refused,
    /// For a reason nobody has heard of.
    Strange,
    /// It wants to be asked again; only Anthropic has this, elsewhere it is [`Ending::Whole`].
    Paused,
    /// The connection breaks before the end.
    Cut,
    /// The connection ends in good order, but the end of the reply is missing.
    Early,
    /// The connection stays open, and nothing more comes.
    Stalls,
    /// The provider tells an error in place of the end.
    Breaks(String),
}

/// One reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// Something is said.
    Says {
        /// In order.
        says: Vec<Say>,
        /// How it ends.
        ending: Ending,
        /// Tokens: read in all, of those kept at the provider, said.
        usage: [u64; 3],
    },
    /// An error in place of a reply.
    Fails {
        /// The status; none for the one by which this provider says that it is overloaded.
        status: Option<u16>,
        /// In words.
        message: String,
        /// When to come back, in seconds.
        after: Option<u32>,
    },
    /// No answer at all, until the client leaves.
    Silent,
}

impl Turn {
    /// These things.
    pub fn says(says: impl IntoIterator<Item = Say>) -> Self {
        Self::Says { says: says.into_iter().collect(), ending: Ending::Whole, usage: [100, 40, 20] }
    }

    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::says([Say::Text(text.into())])
    }

    /// A call of one tool.
    pub fn intent(name: impl Into<String>, arguments: Value) -> Self {
        Self::says([Say::Intent { name: name.into(), arguments }])
    }

    /// Calls of several tools at once.
    pub fn intents<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        Self::says(calls.into_iter().map(|(name, arguments)| Say::Intent { name: name.into(), arguments }))
    }

    /// The provider has too much to do.
    pub fn overloaded() -> Self {
        Self::Fails { status: None, message: "Overloaded".into(), after: None }
    }

    /// An error.
    pub fn fails(status: u16, message: impl Into<String>) -> Self {
        Self::Fails { status: Some(status), message: message.into(), after: None }
    }

    /// The error, with when to come back.
    #[must_use]
    pub fn after(mut self, seconds: u32) -> Self {
        if let Self::Fails { after, .. } = &mut self {
            *after = Some(seconds);
        }
        self
    }

    /// The reply, with a thought before it.
    #[must_use]
    pub fn thinking(mut self, thought: impl Into<String>) -> Self {
        if let Self::Says { says, .. } = &mut self {
            says.insert(0, Say::Thought(thought.into()));
        }
        self
    }

    /// The reply, with words before its calls (after thoughts).
    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        if let Self::Says { says, .. } = &mut self {
            let at = says.iter().take_while(|say| matches!(say, Say::Thought(_))).count();
            says.insert(at, Say::Text(text.into()));
        }
        self
    }

    /// The reply, ending so.
    #[must_use]
    pub fn ending(mut self, how: Ending) -> Self {
        if let Self::Says { ending, .. } = &mut self {
            *ending = how;
        }
        self
    }

    /// The reply, with these tokens: read in all, of those kept at the provider, said.
    #[must_use]
    pub fn taking(mut self, tokens: [u64; 3]) -> Self {
        if let Self::Says { usage, .. } = &mut self {
            *usage = tokens;
        }
        self
    }
}

/// A reply that is being written, in the words of one provider.
#[derive(Debug)]
pub(super) struct Draft<'t> {
    pub(super) says: &'t [Say],
    pub(super) ending: &'t Ending,
    pub(super) usage: [u64; 3],
    pub(super) model: String,
    /// The number of this reply.
    pub(super) number: usize,
}

impl Draft<'_> {
    /// Whether it wants tools called.
    pub(super) fn wants_tools(&self) -> bool {
        self.says.iter().any(|say| matches!(say, Say::Intent { .. } | Say::Garbled { .. }))
    }

    /// The id of the intent at a place.
    pub(super) fn id(&self, prefix: &str, at: usize) -> String {
        format!("{prefix}{}x{at}", self.number)
    }

    /// What the provider wants back of a piece; valid base64.
    pub(super) fn seal(&self, at: usize) -> String {
        format!("c2VhbGVk{:03}x{:04}", self.number % 1000, at % 10_000)
    }
}

/// Arguments as text.
pub(super) fn written(say: &Say) -> (&str, String) {
    match say {
        Say::Intent { name, arguments } => (name, arguments.to_string()),
        Say::Garbled { name, arguments } => (name, arguments.clone()),
        Say::Text(_) | Say::Thought(_) => ("", String::new()),
    }
}

/// Arguments as JSON.
pub(super) fn object(say: &Say) -> (&str, Value) {
    match say {
        Say::Intent { name, arguments } => (name, arguments.clone()),
        Say::Garbled { name, arguments } => (name, arguments.as_str().into()),
        Say::Text(_) | Say::Thought(_) => ("", Value::Null),
    }
}

/// A text in pieces, cut where nobody expects it.
pub(super) fn cut(text: &str) -> Vec<&str> {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    let (first, second) = text.split_at(middle);
    [first, second].into_iter().filter(|piece| !piece.is_empty()).collect()
}
