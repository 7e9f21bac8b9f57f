//! Places that are asked about, or around which something is looked for.

use std::ops::Range;

use super::names::{self, Sure};
use super::routes::Route;
use super::words::SPOTS;
use crate::slots::line::Line;
use crate::slots::words::{List, Words};

/// A place asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) range: Range<usize>,
    /// Whether it was only said where the place is: of a city, that asks about the city.
    pub(super) whereabouts: bool,
    /// Whether the name stands apart from the words that ask.
    pub(super) apart: bool,
}

const AROUND: &[&str] = &["附近", "周边", "周围", "旁边", "边上", "隔壁", "对面", "一带", "周遭"];
const WHERE: &[&str] =
    &["在哪", "在什么地方", "在什么位置", "在何处", "位于", "的位置", "位置在", "的地址", "地址", "哪里有", "是在哪"];
/// 在哪 that asks for a stop or a shop, not for the place before it.
const NOT_WHERE: &[&str] = &[
    "在哪个站",
    "在哪站",
    "在哪一站",
    "在哪里上",
    "在哪上",
    "在哪里下",
    "在哪下",
    "在哪里换",
    "在哪买",
    "在哪里买",
    "在哪里办",
    "在哪办",
];
/// Things that lie nowhere.
static NO_SPOTS: Words = Words::new(include_str!("../words/zh/spots-not.txt"));
/// What stands between a name and the words that ask.
static BETWEEN: Words = Words::new(include_str!("../words/zh/spots-between.txt"));
/// What says something of a place that was named before.
static SAYS: Words = Words::new(include_str!("../words/zh/spots-says.txt"));
/// What leads to a name that a later question is about.
static CHOSEN: Words = Words::new(include_str!("../words/zh/spots-chosen.txt"));
/// Clauses that name nothing.
static IDLE: Words = Words::new(include_str!("../words/zh/spots-idle.txt"));

/// The places asked about.
pub(super) fn find(line: &Line<'_>, routes: &[Route]) -> Vec<Spot> {
    let clauses = line.clauses();
    let mut spots: Vec<Spot> = Vec::new();
    let mut asked = None;
    for (row, clause) in clauses.iter().enumerate() {
        let questions = questions(line, clause);
        if questions.is_empty() {
            continue;
        }
        // The first that has a name before it; of 附近的药店在哪 that is the second.
        let nearby = questions.len() > 1 && questions[0].1 && line.is(questions[0].0 + 2, &["的"]);
        let tried = if nearby { &questions[..2] } else { &questions[..1] };
        let first = tried.iter().find_map(|(at, around)| named(line, clause, *at).map(|name| (name, *around)));
        match first {
            Some(((range, sure), around)) if !of_route(routes, &range) && (spots.is_empty() || sure > Sure::Place) => {
                spots.push(Spot { range, whereabouts: !around, apart: false })
            }
            Some(_) => {}
            None => asked = asked.or(Some(row)),
        }
    }
    let routed = routes.iter().any(|route| route.origin.is_some());
    if spots.is_empty() && !routed {
        if let Some(row) = asked {
            spots.extend(antecedent(line, &clauses[..=row]));
        }
        if spots.is_empty() {
            spots.extend(along(line).filter(|_| routes.is_empty()).or_else(|| within(line)));
        }
    }
    spots
}

/// Where the words that ask for a place begin, and whether they ask around it.
fn questions(line: &Line<'_>, clause: &Range<usize>) -> Vec<(usize, bool)> {
    let question = |at: usize| {
        if line.is(at, AROUND) && line.date_over(at).is_none() {
            Some((at, true))
        } else {
            (line.is(at, WHERE) && !line.is(at, NOT_WHERE)).then_some((at, false))
        }
    };
    clause.clone().filter(|at| !line.bracketed(*at)).filter_map(question).take(3).collect()
}

/// The name just before the words that ask.
fn named(line: &Line<'_>, clause: &Range<usize>, at: usize) -> Option<(Range<usize>, Sure)> {
    let mut end = at;
    while let Some(less) = line.word_before(end, clause.start, &BETWEEN) {
        end = less;
    }
    let mut floor = clause.start;
    // What is said after 在 or 从 near the end is the name.
    if let Some(within) = (floor..end).rev().find(|at| line.is(*at, &["在", "离"]) && line.place_over(*at).is_none())
    {
        floor = within + 1;
    }
    let name = names::leftward(line, floor, end)?;
    // What follows 在 must be a place by itself: 在键盘上的位置.
    let inner = floor > clause.start + 1 && line.before(floor) == '在' && line.is(at, WHERE);
    if inner && name.sure == Sure::Place {
        return None;
    }
    let start = start_of(line, &name.range);
    let range = start..cut(line, start..name.range.end);
    let text = line.text(range.clone());
    let vague = range.len() < 2
        || NO_SPOTS.ends(text).is_some()
        || line.contains(range.clone(), &["我", "你", "他们", "怎么", "什么", "哪", "出发地", "目的地"]);
    (!vague && !matches!(text, "地铁站" | "附近" | "地方" | "景点" | "酒店" | "餐馆")).then_some((range, name.sure))
}

/// 天坛的门票贵吗, 附近…: what is said about a name does not belong to it.
fn cut(line: &Line<'_>, range: Range<usize>) -> usize {
    const CUTS: &[&str] =
        &["的门票", "的电话", "的评分", "的价格", "的人均", "门票多", "有没有", "都有", "什么时候", "怎么样", "的推荐"];
    range.clone().skip(1).find(|at| line.is(*at, CUTS) && !line.bracketed(*at)).unwrap_or(range.end)
}

/// A verb of choice left before a name.
fn start_of(line: &Line<'_>, range: &Range<usize>) -> usize {
    line.word(range.start, &["就去", "想去", "要去", "去", "打算去", "喜欢"])
        .filter(|end| *end + 1 < range.end)
        .unwrap_or(range.start)
}

/// The name, in what was said before, that a bare "nearby" or "the address" is about.
fn antecedent(line: &Line<'_>, clauses: &[Range<usize>]) -> Option<Spot> {
    let mut best: Option<(u8, Range<usize>)> = None;
    let (last, before) = clauses.split_last()?;
    for clause in before.iter().chain(std::iter::once(last)) {
        let end = if clause == last { questions(line, clause).first()?.0 } else { clause.end };
        let Some((score, range)) = topic(line, clause.start..end) else { continue };
        if best.as_ref().is_none_or(|(most, _)| score >= *most) {
            best = Some((score, range));
        }
    }
    best.map(|(_, range)| Spot { range, whereabouts: false, apart: true })
}

/// What a clause is about, and how much speaks for it.
fn topic(line: &Line<'_>, clause: Range<usize>) -> Option<(u8, Range<usize>)> {
    let chosen = clause.clone().find_map(|at| line.word(at, &CHOSEN).filter(|_| !line.bracketed(at)));
    let mut score = 0;
    let mut start = names::skip_leads(line, clause.start, clause.end);
    if let Some(after) = chosen.filter(|after| *after >= start && line.text(clause.start..*after).chars().count() <= 8)
    {
        start = after;
        score += 2;
    }
    let start = names::skip_leads(line, start, clause.end);
    let start = line.word(start, &["吃", "住", "玩", "逛"]).filter(|_| score > 0).unwrap_or(start);
    let start = line.word(start, &["尝尝", "试试", "逛逛", "看看", "尝一尝", "试一试"]).unwrap_or(start);
    let said = (start + 1..clause.end).find(|at| {
        !line.bracketed(*at) && line.is(*at, &SAYS) && line.place_over(*at).is_none_or(|place| place.start >= *at)
    });
    let range = names::without_tail(line, line.trim(start..said.unwrap_or(clause.end)));
    let text = line.text(range.clone());
    if range.len() < 2 || range.len() > 30 || names::is_pointer(line, &range) || IDLE.starts(text).is_some() {
        return None;
    }
    if line.contains(range.clone(), &["我", "你", "什么", "怎么", "一家", "一个"]) {
        return None;
    }
    score += u8::from(said.is_some()) + 2 * u8::from(names::is_spot(text) || line.place_at(range.start).is_some());
    (score > 0).then_some((score, range))
}

/// 沿途的加油站, 附近有没有药店: the thing looked for is itself a place.
fn along(line: &Line<'_>) -> Option<Spot> {
    const ALONG: &[&str] = &[
        "沿途有没有",
        "沿途的",
        "沿途哪里有",
        "沿途有",
        "顺路的",
        "附近有没有",
        "附近哪里有",
        "附近哪儿有",
        "附近最近的",
        "最近的",
        "离我最近的",
        "哪里有",
        "哪儿有",
    ];
    let at = (0..line.len()).find(|at| line.is(*at, ALONG))?;
    let name = names::rightward(line, line.word(at, ALONG)?, line.clause(at).end)?;
    let along = line.is(at, &["沿途", "顺路"]);
    (along || name.sure >= Sure::Spot && line.contains(name.range.clone(), &SPOTS) && name.range.len() <= 8)
        .then_some(Spot { range: name.range, whereabouts: false, apart: false })
}

/// 我在郑州; 订一间鼓浪屿的民宿.
fn within(line: &Line<'_>) -> Option<Spot> {
    const STAYS: &[&str] = &["酒店", "民宿", "宾馆", "旅馆", "客栈", "房间", "住宿", "客房", "餐厅", "餐馆", "包间"];
    const BOOKS: &[&str] = &["订", "预订", "预定", "住"];
    if let Some(at) = (0..line.len()).find(|at| line.is(*at, &["在"]) && line.place_over(*at).is_none()) {
        let name = names::rightward(line, at + 1, line.clause(at).end);
        if let Some(name) = name.filter(|name| name.sure == Sure::Known) {
            return Some(Spot { range: name.range, whereabouts: true, apart: false });
        }
    }
    let books = (0..line.len()).find(|at| line.is(*at, BOOKS))?;
    let clause = line.clause(books);
    let place = line.places.iter().find(|place| place.start > books && place.end <= clause.end);
    let Some(place) = place else { return booked(line, books..clause.end, STAYS) };
    let stay = (place.end..clause.end).find(|at| line.is(*at, STAYS))?;
    let end = line.word_before(stay, place.end, &["的"]).unwrap_or(stay);
    let range = place.start..end;
    (range.len() <= 14 && !line.contains(range.clone(), &["的"])).then_some(Spot {
        range,
        whereabouts: false,
        apart: false,
    })
}

/// 订一家月牙屿上的客栈: a name that no table holds, if it ends like one.
fn booked(line: &Line<'_>, range: Range<usize>, stays: &[&str]) -> Option<Spot> {
    let stay = range.clone().skip(1).find(|at| line.is(*at, stays))?;
    let end = line.word_before(stay, range.start, &["上的", "里的", "边的", "的"]).unwrap_or(stay);
    let name =
        names::leftward(line, range.start, end).filter(|name| name.sure >= Sure::Spot && name.range.len() > 2)?;
    (!line.contains(name.range.clone(), &["的"])).then_some(Spot {
        range: name.range,
        whereabouts: false,
        apart: false,
    })
}

fn of_route(routes: &[Route], range: &Range<usize>) -> bool {
    let meets = |other: &Range<usize>| other.start < range.end && range.start < other.end;
    routes.iter().any(|route| {
        let both = route.origin.is_some();
        [&route.origin, &route.destination].into_iter().flatten().any(|name| both && meets(&name.range))
    })
}
