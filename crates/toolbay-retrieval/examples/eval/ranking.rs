//! The ranking of the corpora: how often the right tools are among the first, how fast, and beside the other scorers.

mod corpus;
mod figures;
mod fit;
mod speed;
mod vectors;

use std::path::Path;

use anyhow::Result;
use toolbay_retrieval::{Query, Scorer, Weights};

use self::corpus::{Corpus, GROUPS};
use self::figures::{Recall, macro_mean};
use self::vectors::Vectors;
use super::report::{Figure, Goal, Group};

/// Measures the ranking; with a model where a folder of its vectors is named.
pub(crate) fn measure(corpora: &Path, vectors: Option<&Path>) -> Result<Vec<Group>> {
    let mut groups = Vec::new();
    for (name, sets, goals) in GROUPS {
        let sets: Vec<Corpus> = sets.iter().map(|set| Corpus::read(corpora, set)).collect::<Result<_>>()?;
        let mut figures = Vec::new();
        let mut rows = Vec::new();
        for set in &sets {
            let best = recall(set, &Scorer::Best, None);
            let plain = recall(set, &Scorer::Words, None);
            figures.push(Figure {
                name: format!("{}: R@5 above words alone", set.name),
                value: best.five - plain.five,
                goal: Goal::AtLeast(-1.0),
            });
            rows.push((set.name, best, plain));
        }
        let of = |pick: fn(&(&str, Recall, Recall)) -> Recall| macro_mean(rows.iter().map(pick));
        let mut out = of(|row| row.1).figures("no model", Goal::AtLeast(goals.plain));
        out.extend(of(|row| row.2).figures("words alone", Goal::None));
        let weighted = macro_mean(sets.iter().map(|set| recall(set, &Scorer::Weighted(Weights::default()), None)));
        out.extend(weighted.figures("prescribed", Goal::None));
        if let Some(folder) = vectors {
            let with = with_model(&sets, folder)?;
            for (set, found) in sets.iter().zip(&with) {
                let plain = rows.iter().find(|row| row.0 == set.name).map_or(0.0, |row| row.2.five);
                figures.push(Figure {
                    name: format!("{}: R@5 above words alone, with a model", set.name),
                    value: found.five - plain,
                    goal: Goal::AtLeast(-1.0),
                });
            }
            out.extend(macro_mean(with.iter().copied()).figures("with a model", Goal::AtLeast(goals.model)));
            for (set, found) in sets.iter().zip(with) {
                out.extend(found.figures(&format!("{} with a model", set.name), Goal::None));
            }
        }
        for (name, best, _) in &rows {
            out.extend(best.figures(name, Goal::None));
        }
        out.extend(figures);
        groups.push(Group { name: format!("ranking, {name}"), figures: out });
    }
    groups.push(fit::measure(corpora)?);
    groups.push(speed::measure(corpora)?);
    Ok(groups)
}

fn with_model(sets: &[Corpus], folder: &Path) -> Result<Vec<Recall>> {
    sets.iter().map(|set| Ok(recall(set, &Scorer::Best, Some(&Vectors::read(folder, set)?)))).collect()
}

fn recall(set: &Corpus, scorer: &Scorer, vectors: Option<&Vectors>) -> Recall {
    let mut index = set.index.clone();
    if let Some(vectors) = vectors {
        vectors.keep(set, &mut index);
    }
    let found = set.queries.iter().enumerate().map(|(at, wanted)| {
        let mut query = Query::new(&wanted.text).limit(10).by(scorer.clone());
        if let Some(vectors) = vectors {
            query = query.vector(vectors.of_query(at));
        }
        let hits = index.search(&query).hits;
        Recall::of(wanted, &hits.iter().map(|hit| &*hit.id).collect::<Vec<_>>())
    });
    macro_mean(found)
}
