//! The score of the tools for a request's terms.

use super::postings::{FIELDS, Posting, Postings};

/// What one word of a request asks for: any of some terms, each worth a share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    /// The word as written.
    pub(crate) written: String,
    /// What the word is worth beside the others.
    pub(crate) weight: f32,
    /// The terms that answer it, each with its share; the best one counts.
    pub(crate) terms: Vec<(String, f32)>,
}

/// How fields and frequencies count; the fields are name, description, arguments and server, in that order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bm25 {
    /// What a field is worth.
    pub(crate) fields: [f32; FIELDS],
    /// How much a long field loses.
    pub(crate) length: [f32; FIELDS],
    /// How soon more of the same term counts no more.
    pub(crate) saturation: f32,
}

impl Bm25 {
    /// As measured to be best over all sets together: a long list of arguments is hardly a fault, a long name is one.
    pub(crate) const MEASURED: Self =
        Self { fields: [2.0, 1.0, 0.35, 0.8], length: [0.75, 0.7, 0.2, 0.3], saturation: 1.6 };
}

/// The scores of all places.
#[derive(Clone, Debug)]
pub(crate) struct Scores {
    /// By place.
    pub(crate) sums: Vec<f32>,
    /// The places that score at all, in no order.
    pub(crate) touched: Vec<u32>,
    /// What a tool would score that answered every word as well as can be.
    pub(crate) most: f32,
}

impl Scores {
    /// The highest.
    pub(crate) fn best(&self) -> f32 {
        self.touched.iter().map(|&place| self.sums[place as usize]).fold(0.0, f32::max)
    }
}

impl Bm25 {
    /// The scores for what is asked.
    pub(crate) fn scores(&self, postings: &Postings, asks: &[Ask]) -> Scores {
        let places = postings.places();
        let mut scores = Scores { sums: vec![0.0; places], touched: Vec::new(), most: 0.0 };
        let mut best = vec![0.0_f32; places];
        let mut at = Vec::new();
        let norms = self.norms(postings);
        for ask in asks {
            at.clear();
            let mut rarest: f32 = 0.0;
            for (term, share) in &ask.terms {
                let list = postings.list(term);
                let worth = ask.weight * share * rarity(postings.count(), list.len());
                rarest = rarest.max(worth);
                for posting in list {
                    let score = worth * self.frequency(norms, posting);
                    let place = &mut best[posting.tool as usize];
                    if *place == 0.0 {
                        at.push(posting.tool);
                    }
                    *place = place.max(score);
                }
            }
            scores.most += rarest;
            for &tool in &at {
                let sum = &mut scores.sums[tool as usize];
                if *sum == 0.0 {
                    scores.touched.push(tool);
                }
                *sum += std::mem::take(&mut best[tool as usize]);
            }
        }
        scores
    }

    /// What one ask is worth in the tool at that place, and the term that answers it best.
    pub(crate) fn explain<'a>(&self, postings: &Postings, ask: &'a Ask, tool: u32) -> Option<(&'a str, f32)> {
        let norms = self.norms(postings);
        ask.terms
            .iter()
            .filter_map(|(term, share)| {
                let times = postings.times(term, tool)?;
                let worth = ask.weight * share * rarity(postings.count(), postings.list(term).len());
                Some((term.as_str(), worth * self.frequency(norms, &Posting { tool, times })))
            })
            .max_by(|left, right| left.1.total_cmp(&right.1))
    }

    fn norms<'a>(&self, postings: &'a Postings) -> &'a [[f32; FIELDS]] {
        postings.norms(|field, length| self.fields[field] / (1.0 - self.length[field] + self.length[field] * length))
    }

    fn frequency(&self, norms: &[[f32; FIELDS]], posting: &Posting) -> f32 {
        let norms = norms[posting.tool as usize];
        let heard: f32 = posting.times.iter().zip(norms).map(|(&times, norm)| f32::from(times) * norm).sum();
        heard * (1.0 + self.saturation) / (heard + self.saturation)
    }
}

/// How much a term tells that so many of all tools hold.
pub(crate) fn rarity(all: usize, holding: usize) -> f32 {
    let (all, holding) = (all as f32, holding as f32);
    (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::{Ask, Bm25};
    use crate::bm25::Postings;

    fn postings(tools: &[[&str; 4]]) -> Postings {
        let mut postings = Postings::default();
        for (place, fields) in tools.iter().enumerate() {
            postings.insert(u32::try_from(place).unwrap(), &fields.map(|field| field.split_whitespace().collect()));
        }
        postings
    }

    fn ask(terms: &[(&str, f32)]) -> Ask {
        let terms = terms.iter().map(|(term, share)| ((*term).to_owned(), *share)).collect();
        Ask { written: "word".to_owned(), weight: 1.0, terms }
    }

    #[test]
    fn a_name_counts_more_than_a_description_and_a_rare_word_more_than_a_common_one() {
        let postings =
            postings(&[["mail", "x", "", ""], ["x", "mail", "", ""], ["x", "rare", "", ""], ["x", "x", "", ""]]);
        let scores = |term| Bm25::MEASURED.scores(&postings, &[ask(&[(term, 1.0)])]);
        assert!(scores("mail").sums[0] > scores("mail").sums[1]);
        assert!(scores("rare").sums[2] > scores("mail").sums[1]);
        assert!(scores("absent").touched.is_empty());
    }

    #[test]
    fn of_several_answers_to_one_word_the_best_counts_and_is_named() {
        let postings = postings(&[["delete erase", "", "", ""], ["erase", "", "", ""], ["other", "", "", ""]]);
        let asked = [ask(&[("delete", 1.0), ("erase", 0.5)])];
        let scores = Bm25::MEASURED.scores(&postings, &asked);
        let (term, score) = Bm25::MEASURED.explain(&postings, &asked[0], 0).unwrap();
        assert_eq!(term, "delete");
        assert!((score - scores.sums[0]).abs() < 1e-6);
        assert_eq!(Bm25::MEASURED.explain(&postings, &asked[0], 1).unwrap().0, "erase");
    }
}
