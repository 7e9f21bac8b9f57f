//! Whether it is said honestly that nothing fits: of requests that are answered, and of those meant for other tools.

use std::path::Path;

use anyhow::Result;
use toolbay_retrieval::{Fit, Index, Query};

use super::corpus::{Corpus, Wanted};
use crate::report::{Figure, Group};

/// Catalogs, and the requests that are strange to them: those of the other sets of the language.
const STRANGE: [(&str, &[&str]); 3] =
    [("metatool", &["seal", "ace-en", "stabletoolbench"]), ("livemcp", &["seal", "ace-en"]), ("hand-zh", &["ace-zh"])];

/// Measures how often each is said.
pub(super) fn measure(corpora: &Path) -> Result<Group> {
    let mut figures = Vec::new();
    for (own, others) in STRANGE {
        let own = Corpus::read(corpora, own)?;
        let answered = own.queries.iter().filter(|wanted| answers(&own.index, wanted));
        let kept = share(answered.map(|wanted| fits(&own.index, wanted)));
        figures.push(Figure::shown(format!("{}: answered requests said to fit %", own.name), kept));
        for other in others {
            let strange = Corpus::read(corpora, other)?;
            let turned = share(strange.queries.iter().map(|wanted| !fits(&own.index, wanted)));
            figures.push(Figure::shown(format!("{}: requests of {other} said to fit nothing %", own.name), turned));
        }
    }
    Ok(Group { name: "ranking, whether anything fits".to_owned(), figures })
}

fn fits(index: &Index, wanted: &Wanted) -> bool {
    index.search(&Query::new(&wanted.text)).fit == Fit::Good
}

fn answers(index: &Index, wanted: &Wanted) -> bool {
    let hits = index.search(&Query::new(&wanted.text)).hits;
    hits.iter().any(|hit| wanted.relevant.iter().any(|id| **id == *hit.id))
}

fn share(all: impl Iterator<Item = bool>) -> f64 {
    let (mut count, mut yes) = (0.0, 0.0);
    for one in all {
        count += 1.0;
        yes += f64::from(u8::from(one));
    }
    100.0 * yes / f64::max(count, 1.0)
}
