//! `toolbay ask`: a request in plain words, planned and run without a model.

mod answers;
mod carry;
mod meanings;
mod questions;
mod shown;

use jiff::ZonedDateTime;
use toolbay_agent::planner::{Day, Offered, Plan, Planner, Reading, Rules, Scorer, Weights, run as run_plan};
use toolbay_gateway::{catalog::Listed, servers};

use crate::{
    args::{self, Ask},
    exit::Exit,
    show,
    target::{self, Reached, SILENCE},
};

/// Runs it.
pub(crate) async fn run(ask: Ask) -> Result<(), Exit> {
    let rules = rules(&ask)?;
    let reached = target::reach((&ask.target).into()).await?;
    reached.settled().await;
    let done = asked(&reached, &ask, rules).await;
    reached.close().await;
    done
}

async fn asked(reached: &Reached, ask: &Ask, rules: Rules) -> Result<(), Exit> {
    let request = ask.request.join(" ");
    let mut planner = Planner::new(offered(reached).await?, rules.clone());
    if rules.scorer == Scorer::Best {
        planner = meanings::known(planner, reached.embeddings.clone(), &request).await;
    }
    let mut plan = planner.plan(&request);
    if plan.groups.is_empty() {
        return Err(nothing_fits(&plan, ask));
    }
    if ask.plan {
        let text = if ask.target.json { shown::as_json(&plan).to_string() } else { shown::text(&plan, &rules) };
        show::line(&text);
        return Ok(());
    }
    let agreed = if ask.yes { questions::Agreed::ToAll } else { questions::Agreed::ToNothing };
    questions::settle(&mut plan, agreed);
    let carry = carry::Carry::over(&reached.connection, ask.deadline);
    let ran = tokio::select! {
        ran = run_plan(&plan, &carry, ask.deadline) => ran,
        // Dropping the run takes back what is in flight.
        _ = tokio::signal::ctrl_c() => return Err(Exit::interrupted()),
    };
    answers::tell(&plan, &ran, ask.target.json)
}

/// The tools there are.
async fn offered(reached: &Reached) -> Result<Vec<Offered>, Exit> {
    if let Some(bay) = reached.bay() {
        return Ok(Offered::of(bay));
    }
    let listed = servers::whole(&reached.connection, Listed::Tools, SILENCE).await;
    let listed = listed.map_err(|why| Exit::failed(format!("the tools cannot be listed: {why}")))?;
    let has = |name: &str| {
        listed
            .iter()
            .any(|tool| tool.get("name").and_then(|name| name.as_text().map(Into::into)) == Some(name.to_owned()))
    };
    if ["search_tools", "describe_tool", "call_tool"].into_iter().all(has) {
        return Err(Exit::failed(
            "this gateway shows its tools by search alone, which takes a model: write \"clients\": \
             {\"toolbay\": {\"expose\": \"all\"}} into its configuration, or ask there",
        ));
    }
    Ok(listed.iter().filter_map(|tool| Offered::listed(&tool.read().ok()?)).collect())
}

fn nothing_fits(plan: &Plan, ask: &Ask) -> Exit {
    if ask.target.json {
        show::line(&shown::as_json(plan).to_string());
    }
    let near: Vec<_> = plan.nearest.iter().map(|near| near.tool.name.as_str()).collect();
    let near = if near.is_empty() { String::new() } else { format!("; the nearest are {}", near.join(", ")) };
    Exit::unknown(format!("no tool fits {:?}{near}", plan.request))
}

fn rules(ask: &Ask) -> Result<Rules, Exit> {
    let scorer = match ask.scorer {
        args::Scorer::Best => Scorer::Best,
        args::Scorer::Words => Scorer::Words,
        args::Scorer::Weighted => Scorer::Weighted(weights(&ask.weights)?),
    };
    if scorer == Scorer::Best && !ask.weights.is_empty() {
        return Err(Exit::usage("--weight is for --scorer weighted"));
    }
    if !(0.0..=1.0).contains(&ask.threshold) {
        return Err(Exit::usage("--threshold is a number from 0 to 1"));
    }
    let reading = match ask.arguments {
        args::Arguments::Full => Reading::Full,
        args::Arguments::Prescribed => Reading::Prescribed,
    };
    Ok(Rules { scorer, threshold: ask.threshold, reading, today: today(), ..Rules::default() })
}

/// The weights as prescribed, and what was said otherwise.
fn weights(said: &[String]) -> Result<Weights, Exit> {
    let mut weights = Weights::default();
    for pair in said {
        let read =
            pair.split_once('=').and_then(|(key, number)| Some((key.trim(), number.trim().parse::<f64>().ok()?)));
        let (key, number) = read
            .filter(|(key, number)| !key.is_empty() && number.is_finite() && *number >= 0.0)
            .ok_or_else(|| Exit::usage(format!("{pair:?} is no weight: write name=0.4, search=10 or other=1")))?;
        match key {
            "name" => weights.name = number,
            "description" => weights.description = number,
            "category" => weights.category = number,
            "other" => weights.other = number,
            key => match weights.categories.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(key)) {
                Some((_, weight)) => *weight = number,
                None => weights.categories.push((key.to_owned(), number)),
            },
        }
    }
    Ok(weights)
}

/// Today where this machine stands.
fn today() -> Option<Day> {
    let now = ZonedDateTime::now();
    Day::new(now.year().into(), now.month().unsigned_abs(), now.day().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_the_prescribed_ones_until_somebody_says_otherwise() {
        let said = |pairs: &[&str]| weights(&pairs.iter().map(|pair| (*pair).to_owned()).collect::<Vec<_>>());
        assert_eq!(said(&[]).unwrap(), Weights::default());
        let changed = said(&["name=0.5", "Map=7", "news=3", "other=2"]).unwrap();
        assert_eq!((changed.name, changed.other), (0.5, 2.0));
        let weight = |name: &str| changed.categories.iter().find(|(known, _)| known == name).map(|(_, weight)| *weight);
        assert_eq!((weight("map"), weight("news"), weight("search")), (Some(7.0), Some(3.0), Some(10.0)));
        assert!(said(&["map"]).is_err() && said(&["map=many"]).is_err() && said(&["map=-1"]).is_err());
    }
}
