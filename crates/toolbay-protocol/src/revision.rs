//! Revisions, eras, and when the protocol gained or lost something: the only file that compares revisions.

use std::fmt;

/// A released revision, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named by their date")]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

use Revision::*;

/// How a connection carries its context: a handshake, or `_meta` on each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize` opens a session (until 2025-11-25).
    Legacy,
    /// Every request stands alone (since 2026-07-28).
    Modern,
}

macro_rules! history {
    ($($(#[doc = $doc:literal])+ $feature:ident : $since:ident .. $($until:ident)?),* $(,)?) => {
        /// Something that a revision may or may not carry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Feature { $($(#[doc = $doc])+ $feature),* }

        impl Feature {
            /// Every feature with a history.
            pub const ALL: &'static [Self] = &[$(Self::$feature),*];

            const fn span(self) -> (Revision, Option<Revision>) {
                match self { $(Self::$feature => ($since, history!(@until $($until)?))),* }
            }
        }
    };
    (@until) => { None };
    (@until $until:ident) => { Some($until) };
}

// spec: changelog of each revision
history! {
    /// `initialize`, sessions, requests from the server, `ping`, `logging/setLevel`, `resources/subscribe`.
    Handshake: V2024_11_05 .. V2026_07_28,
    /// Two HTTP endpoints, replies on a lasting event stream.
    TwoEndpoints: V2024_11_05 .. V2025_03_26,
    /// One HTTP endpoint for everything.
    StreamableHttp: V2025_03_26 ..,
    /// Several messages in one JSON array.
    Batch: V2025_03_26 .. V2025_06_18,
    /// Hints on tools: `readOnlyHint` and its kin.
    ToolAnnotations: V2025_03_26 ..,
    /// Audio content.
    Audio: V2025_03_26 ..,
    /// `message` on progress.
    ProgressMessage: V2025_03_26 ..,
    /// The capability `completions`.
    CompletionsCapability: V2025_03_26 ..,
    /// `MCP-Protocol-Version` on HTTP requests after the opening.
    VersionHeader: V2025_06_18 ..,
    /// `title` on named things.
    Titles: V2025_06_18 ..,
    /// `_meta` on tools, resources, prompts, content and roots.
    ItemMeta: V2025_06_18 ..,
    /// `structuredContent` and `outputSchema`.
    StructuredOutput: V2025_06_18 ..,
    /// Content that links to a resource.
    ResourceLink: V2025_06_18 ..,
    /// `elicitation/create`.
    Elicitation: V2025_06_18 ..,
    /// `context.arguments` on completion.
    CompletionContext: V2025_06_18 ..,
    /// `lastModified` on annotations.
    LastModified: V2025_06_18 ..,
    /// `_meta` on what a server asks for, and on the answers to elicitation and roots.
    AskMeta: V2024_11_05 .. V2026_07_28,
    /// Icons.
    Icons: V2025_11_25 ..,
    /// `description` and `websiteUrl` on implementations.
    ImplementationDetails: V2025_11_25 ..,
    /// Elicitation by URL, modes, defaults, titled and multiple choices.
    ElicitationModes: V2025_11_25 ..,
    /// `elicitationId`, its completion notification, and error −32042.
    ElicitationIds: V2025_11_25 .. V2026_07_28,
    /// Tools in sampling, content as an array, tool uses and results as content.
    SamplingTools: V2025_11_25 ..,
    /// Tasks as part of the core.
    CoreTasks: V2025_11_25 .. V2026_07_28,
    /// A priming event, `retry`, and streams the server may drop.
    Polling: V2025_11_25 .. V2026_07_28,
    /// Errors for messages whose id could not be read may leave the id out.
    IdlessError: V2025_11_25 ..,
    /// `resultType` on every result, `input_required` among its values.
    ResultType: V2026_07_28 ..,
    /// `ttlMs` and `cacheScope` on results that may be kept.
    CacheHints: V2026_07_28 ..,
    /// `server/discover`, `subscriptions/listen`, version and capabilities in each request's `_meta`.
    Stateless: V2026_07_28 ..,
    /// `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`.
    RoutingHeaders: V2026_07_28 ..,
    /// Schemas of any shape for output, structured content of any JSON type.
    AnyStructure: V2026_07_28 ..,
    /// Kinds of content that this table does not know may be sent, for the peer may be newer than we are.
    UnknownContent: V2026_07_28 ..,
    /// "Resource not found" as −32602 instead of −32002.
    NotFoundIsInvalidParams: V2026_07_28 ..,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
    /// The newest revision.
    pub const LATEST: Self = V2026_07_28;
    /// The newest revision that opens with a handshake.
    pub const LATEST_LEGACY: Self = V2025_11_25;
    /// What an HTTP request without a version header speaks (spec: 2025-06-18 basic/transports).
    pub const UNSTATED: Self = V2025_03_26;

    /// Its place in [`Revision::ALL`].
    pub const fn place(self) -> usize {
        self as usize
    }

    /// Whether this revision carries `feature`.
    pub fn has(self, feature: Feature) -> bool {
        let (since, until) = feature.span();
        self >= since && until.is_none_or(|gone| self < gone)
    }

    /// Which era this revision belongs to.
    pub fn era(self) -> Era {
        if self.has(Feature::Handshake) { Era::Legacy } else { Era::Modern }
    }

    /// The date that names this revision.
    pub const fn as_str(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision that `date` names.
    pub fn parse(date: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == date)
    }

    /// Every revision of `era`, newest first.
    pub fn of(era: Era) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().rev().filter(move |revision| revision.era() == era)
    }

    /// The newest revision of `era` that stands in `offered`.
    pub fn newest_of<'a>(era: Era, offered: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        offered.into_iter().filter_map(Self::parse).filter(|revision| revision.era() == era).max()
    }

    /// What a server answers to a handshake that offers `date`: the same where it is known, else its newest.
    pub fn answer_to(date: &str) -> Self {
        Self::parse(date).filter(|revision| revision.has(Feature::Handshake)).unwrap_or(Self::LATEST_LEGACY)
    }

    /// Whether what `from` wrote means the same to `self`, byte for byte.
    pub fn reads_verbatim(self, from: Self) -> bool {
        self == from
    }

    /// Whether `self` knows all that `from` could have written, envelopes aside.
    pub fn is_at_least(self, from: Self) -> bool {
        self >= from
    }

    /// Clears `field` where this revision cannot carry `feature`.
    pub fn keep<T>(self, feature: Feature, field: &mut Option<T>) {
        if !self.has(feature) {
            *field = None;
        }
    }

    /// Fills `field` where this revision must carry `feature`, and clears it where it cannot.
    pub fn need<T>(self, feature: Feature, field: &mut Option<T>, default: impl FnOnce() -> T) {
        if self.has(feature) {
            field.get_or_insert_with(default);
        } else {
            *field = None;
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_lives_in_its_span_and_nowhere_else() {
        for revision in Revision::ALL {
            assert_eq!(revision.has(Feature::Batch), revision == V2025_03_26);
            assert_eq!(revision.era() == Era::Modern, revision == V2026_07_28);
            assert_eq!(revision.has(Feature::Handshake), !revision.has(Feature::Stateless));
            assert_eq!(Revision::parse(revision.as_str()), Some(revision));
            for feature in Feature::ALL {
                let (mut kept, mut needed) = (Some(1), None);
                revision.keep(*feature, &mut kept);
                revision.need(*feature, &mut needed, || 2);
                assert_eq!((kept.is_some(), needed.is_some()), (revision.has(*feature), revision.has(*feature)));
            }
        }
    }

    #[test]
    fn a_handshake_is_answered_with_the_same_or_the_newest_legacy() {
        for (offer, answer) in [
            ("2024-11-05", V2024_11_05),
            ("2025-11-25", V2025_11_25),
            ("2026-07-28", V2025_11_25),
            ("1999-01-01", V2025_11_25),
        ] {
            assert_eq!(Revision::answer_to(offer), answer);
        }
        assert_eq!(Revision::newest_of(Era::Modern, ["2025-11-25", "2026-07-28", "2027-01-01"]), Some(V2026_07_28));
        assert_eq!(Revision::newest_of(Era::Modern, ["2025-11-25"]), None);
    }
}
