//! Which traces are recorded.

use super::context::{Sampled, TraceId};

/// Decides; by the names of `OTEL_TRACES_SAMPLER`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sampler {
    pub(super) roots: Roots,
    pub(super) parents: Parents,
}

/// What becomes of traces that begin here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Roots {
    All,
    None,
    /// Such a part of them, by their names, so that everybody decides alike.
    Part(f64),
}

/// Whether it is followed what a caller decided for its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parents {
    Followed,
    Ignored,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { roots: Roots::All, parents: Parents::Followed }
    }
}

impl Sampler {
    /// Reads a name and its argument; what is wrong with them.
    pub(super) fn parse(name: &str, argument: Option<&str>) -> Result<Self, String> {
        let part = || match argument.map(str::trim).map(str::parse::<f64>) {
            None => Ok(Roots::Part(1.0)),
            Some(Ok(part)) if (0.0..=1.0).contains(&part) => Ok(Roots::Part(part)),
            Some(_) => Err("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1".to_owned()),
        };
        let (roots, parents) = match name {
            "always_on" => (Roots::All, Parents::Ignored),
            "always_off" => (Roots::None, Parents::Ignored),
            "traceidratio" => (part()?, Parents::Ignored),
            "parentbased_always_on" => (Roots::All, Parents::Followed),
            "parentbased_always_off" => (Roots::None, Parents::Followed),
            "parentbased_traceidratio" => (part()?, Parents::Followed),
            other => {
                return Err(format!(
                    "OTEL_TRACES_SAMPLER is {other:?}; known are always_on, always_off, traceidratio, and each of them \
                     after parentbased_"
                ));
            }
        };
        Ok(Self { roots, parents })
    }

    /// Whether a trace is recorded, where its caller decided so, or did not.
    pub(super) fn decide(&self, trace: TraceId, parent: Option<Sampled>) -> Sampled {
        if let (Some(decided), Parents::Followed) = (parent, self.parents) {
            return decided;
        }
        let yes = match self.roots {
            Roots::All => true,
            Roots::None => false,
            Roots::Part(part) => {
                let [.., a, b, c, d, e, f, g, h] = trace.0;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a part of all is no finer"
                )]
                let bound = (part * (1_u64 << 63) as f64) as u64;
                u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1 < bound
            }
        };
        if yes { Sampled::Yes } else { Sampled::No }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_decides_as_it_says() {
        let (low, high) = (TraceId([0; 16]), TraceId([0xff; 16]));
        let decide =
            |name: &str, argument, trace, parent| Sampler::parse(name, argument).unwrap().decide(trace, parent);
        for parent in [None, Some(Sampled::Yes), Some(Sampled::No)] {
            assert_eq!(decide("always_on", None, high, parent), Sampled::Yes);
            assert_eq!(decide("always_off", None, low, parent), Sampled::No);
            assert_eq!(decide("parentbased_always_on", None, low, parent), parent.unwrap_or(Sampled::Yes));
            assert_eq!(decide("parentbased_always_off", None, low, parent), parent.unwrap_or(Sampled::No));
            assert_eq!(decide("traceidratio", Some("0.5"), low, parent), Sampled::Yes);
            assert_eq!(decide("traceidratio", Some("0.5"), high, parent), Sampled::No);
        }
        assert_eq!(decide("parentbased_traceidratio", None, high, None), Sampled::Yes);
        assert!(Sampler::parse("sometimes", None).is_err());
        assert!(Sampler::parse("traceidratio", Some("2")).is_err());
    }
}
