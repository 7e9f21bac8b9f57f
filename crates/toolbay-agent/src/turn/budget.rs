//! What a conversation may take, and what it took.

use crate::model::Usage;

/// What a conversation may take; no end where nothing is told. Looked at before each question to the model, so that the
/// question that goes over it is the last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// The most it may take, in tokens read and said together.
    pub tokens: Option<u64>,
    /// The most it may cost, in the currency of the prices. Without prices nothing is asked at all.
    pub cost: Option<f64>,
    /// What tokens cost.
    pub prices: Option<Prices>,
}

/// What a million tokens cost, in whatever currency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// Read.
    pub input: f64,
    /// Read, and kept by the provider from an earlier question.
    pub cached: f64,
    /// Said.
    pub output: f64,
}

/// What was taken so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// In tokens.
    pub usage: Usage,
    /// In questions to the model that were answered.
    pub questions: u64,
}

impl Prices {
    /// What such a usage costs.
    pub fn of(&self, usage: &Usage) -> f64 {
        let cached = usage.cached.min(usage.input);
        let parts = [(usage.input - cached, self.input), (cached, self.cached), (usage.output, self.output)];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price / 1e6).sum()
    }
}

impl Spent {
    pub(super) fn add(&mut self, usage: &Usage) {
        self.questions += 1;
        self.usage.input = self.usage.input.saturating_add(usage.input);
        self.usage.cached = self.usage.cached.saturating_add(usage.cached);
        self.usage.output = self.usage.output.saturating_add(usage.output);
    }
}

impl Budget {
    /// Why no further question may be asked.
    pub fn spent(&self, spent: &Spent) -> Option<String> {
        let tokens = spent.usage.input.saturating_add(spent.usage.output);
        if let Some(most) = self.tokens.filter(|most| tokens >= *most) {
            return Some(format!("{tokens} tokens of {most} are spent"));
        }
        let most = self.cost?;
        let Some(prices) = self.prices else {
            return Some("its cost is limited, and no prices are configured".into());
        };
        let cost = prices.of(&spent.usage);
        (cost >= most).then(|| format!("{cost:.4} of {most:.4} are spent"))
    }
}
