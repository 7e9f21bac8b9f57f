//! What may be typed behind `toolbay chat`.

use std::path::PathBuf;

use clap::Args;
use toolbay_agent::turn::Prices;

use crate::args::Target;

/// What may be typed behind `toolbay chat`.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// What to say: one turn, and the answer on stdout. Without it, a conversation; where stdin is no terminal, it is read
    #[arg(value_name = "MESSAGE")]
    pub(super) message: Vec<String>,
    /// The model: anthropic:…, openai:…, gemini:… or ollama:… (default: $TOOLBAY_MODEL, then `host.model`)
    #[arg(long, value_name = "PROVIDER:MODEL")]
    pub(super) model: Option<String>,
    /// Where the model is, instead of its provider's own service: any server that speaks the same
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// Let the key go unencrypted to a model on another machine
    #[arg(long)]
    pub(super) unencrypted_key: bool,
    /// Only this server of the configuration; may be given again
    #[arg(long = "server", value_name = "NAME", conflicts_with_all = ["url", "command"])]
    pub(super) servers: Vec<String>,
    /// Add every step to this file, as JSON Lines; each call stands there before it is made
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// How many rounds of calls a turn may have (10); then the model is asked for an answer
    #[arg(long, value_name = "N")]
    pub(super) max_iterations: Option<u32>,
    /// Call these without asking: SERVER/TOOL or SERVER, with * for anything; may be given again
    #[arg(long, value_name = "PATTERN")]
    pub(super) allow: Vec<String>,
    /// Never call these; may be given again
    #[arg(long, value_name = "PATTERN")]
    pub(super) deny: Vec<String>,
    /// Call everything without asking that is not forbidden
    #[arg(long, short)]
    pub(super) yes: bool,
    /// The most tokens the conversation may take, read and said
    #[arg(long, value_name = "N")]
    pub(super) max_tokens: Option<u64>,
    /// The most it may cost, in the currency of the prices
    #[arg(long, value_name = "AMOUNT")]
    pub(super) max_cost: Option<f64>,
    /// What a million tokens cost: READ,SAID or READ,SAID,KEPT (read again from the provider's cache)
    #[arg(long, value_name = "PRICES", value_parser = prices)]
    pub(super) prices: Option<Prices>,
    /// A file with what the model is told before everything else
    #[arg(long, value_name = "FILE")]
    pub(super) system: Option<PathBuf>,
    #[command(flatten)]
    pub(super) target: Target,
}

fn prices(text: &str) -> Result<Prices, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    let unclear = || "write READ,SAID or READ,SAID,KEPT, such as 3,15,0.3".to_owned();
    let numbers = numbers.map_err(|_| unclear())?;
    if numbers.iter().any(|number| !number.is_finite() || *number < 0.0) {
        return Err(unclear());
    }
    match numbers[..] {
        [input, output] => Ok(Prices { input, output, cached: input }),
        [input, output, cached] => Ok(Prices { input, output, cached }),
        _ => Err(unclear()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_said_and_kept() {
        assert_eq!(prices("3, 15"), Ok(Prices { input: 3.0, output: 15.0, cached: 3.0 }));
        assert_eq!(prices("3,15,0.3"), Ok(Prices { input: 3.0, output: 15.0, cached: 0.3 }));
        for wrong in ["", "3", "a,b", "-1,2", "1,2,3,4", "inf,1"] {
            assert!(prices(wrong).is_err(), "{wrong}");
        }
    }
}
