//! Ways: from where, and to where.

use std::ops::Range;

use super::names::{self, Name, Sure};
use super::words::FARES;
use crate::slots::line::Line;
use crate::slots::words::{List, Words};

/// A way; at least one end is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) origin: Option<Name>,
    pub(super) destination: Option<Name>,
    /// Whether the words can mean nothing but a way.
    pub(super) plain: bool,
}

const FROM: &[&str] = &["从", "由", "自"];
static NOT_FROM: Words = Words::new(include_str!("../words/zh/routes-not-from.txt"));
const NOT_FROM_AFTER: &[char] = &['理', '自', '服', '各', '独', '来', '缘', '顺', '听', '亲', '私', '经', '不'];

/// Cues that mean a way whatever follows.
static TOWARDS: Words = Words::new(include_str!("../words/zh/routes-towards.txt"));
/// Cues that need a place beside them.
const TO: &[&str] = &["到", "去", "至", "往", "飞", "回"];
static NOT_TO: Words = Words::new(include_str!("../words/zh/routes-not-to.txt"));
/// Characters before a short cue that make another word of it.
const NOT_TO_AFTER: &[(&str, &[char])] = &[
    (
        "到",
        &[
            '找', '收', '听', '看', '遇', '得', '搜', '感', '达', '直', '说', '提', '拿', '学', '迟', '签', '报', '等',
            '查', '碰', '受', '买', '接', '用', '做', '办', '轮', '周', '梦', '订', '抢',
        ],
    ),
    ("去", &['过', '失', '出', '进', '下', '上', '必', '除', '删', '离', '死', '拿', '减']),
    ("至", &['甚', '直', '截', '乃', '夏', '冬', '及', '备', '东', '周']),
    ("往", &['以', '交', '来']),
    ("飞", &['起', '放', '讯', '岳', '张', '双', '鸿', '腾']),
    ("回", &['收', '返', '撤', '召', '挽', '找', '一', '几', '每', '来', '驳', '退']),
];
/// What one goes to do, rather than where.
static ERRANDS: Words = Words::new(include_str!("../words/zh/routes-errands.txt"));
/// What stands between the name of a start and the word for the end.
static BETWEEN: Words = Words::new(include_str!("../words/zh/routes-between.txt"));
const PASSING: &[&str] = &["经过", "经由", "途经", "途径", "经"];
const STARTS: &[&str] = &["出发地", "起点", "始发站", "出发站", "始发地", "出发城市"];
const GOALS: &[&str] = &["目的地", "终点站", "终点", "到达站", "到达地", "到达城市", "目的城市"];
const ASKS_WAY: &[&str] = &[
    "怎么走",
    "怎么去",
    "怎么坐",
    "怎么到",
    "怎么过去",
    "如何走",
    "如何去",
    "怎样走",
    "怎样去",
    "咋走",
    "咋去",
    "该怎么走",
    "应该怎么走",
    "怎么开车",
];

/// The ways a request names.
pub(super) fn find(line: &Line<'_>) -> Vec<Route> {
    let mut routes = Vec::new();
    let mut floor = 0;
    let mut at = 0;
    let reminder = line.contains(0..line.len(), &["提醒", "闹钟", "备忘"]);
    while at < line.len() {
        if let Some(date) = line.date_over(at) {
            at = date.end;
        } else if line.bracketed(at) {
            at += 1;
        } else if let Some((end, route)) = labelled(line, at)
            .or_else(|| from(line, at))
            .or_else(|| apart(line, floor, at))
            .or_else(|| to(line, floor, at, reminder))
        {
            at = end.max(at + 1);
            floor = at;
            join(&mut routes, route);
        } else {
            // Within a known name no cue is looked for, but a cue may follow it at once.
            at = line.place_at(at).map_or(at + 1, |place| place.end);
        }
    }
    if routes.is_empty() {
        routes.extend(asked_way(line));
    }
    routes
}

/// 去拉萨，从成都出发: two halves of one way.
fn join(routes: &mut Vec<Route>, route: Route) {
    if let Some(last) = routes.last_mut() {
        if last.origin.is_none() && route.destination.is_none() {
            last.origin = route.origin;
            last.plain = true;
            return;
        }
        if last.destination.is_none() && route.origin.is_none() {
            last.destination = route.destination;
            last.plain = true;
            return;
        }
    }
    routes.push(route);
}

/// 出发地西安, 目的地是兰州.
fn labelled(line: &Line<'_>, at: usize) -> Option<(usize, Route)> {
    let (end, start) =
        line.word(at, STARTS).map(|end| (end, true)).or_else(|| line.word(at, GOALS).map(|end| (end, false)))?;
    let said = line.word(end, &["是", "为", "：", ":", "在", "定在", " "]);
    let stop = line.clause(said.unwrap_or(end)).end;
    let limit = (end..stop).find(|at| line.is(*at, STARTS) || line.is(*at, GOALS)).unwrap_or(stop);
    let name = names::rightward(line, said.unwrap_or(end), limit)?;
    if name.sure < Sure::Known && said.is_none() {
        return None;
    }
    let end = name.range.end;
    let route = if start {
        Route { origin: Some(name), ..Route::default() }
    } else {
        Route { destination: Some(name), ..Route::default() }
    };
    Some((end, Route { plain: true, ..route }))
}

/// 从 A 到 B.
fn from(line: &Line<'_>, at: usize) -> Option<(usize, Route)> {
    let after = line.word(at, FROM)?;
    if line.is(at, &NOT_FROM) || NOT_FROM_AFTER.contains(&line.before(at)) && line.place_at(after).is_none() {
        return None;
    }
    let after = line.word(after, FROM).unwrap_or(after);
    let stop = line.clause(at).end;
    let (split, goal) = split(line, after, stop);
    let origin = names::rightward(line, after, split).filter(|name| name.range.end <= split);
    let destination = goal.and_then(|goal| names::rightward(line, goal, line.clause(goal).end));
    let gone = line.is(split, &["出发", "动身", "启程", "走", "过来", "过去", "开始走"]);
    match (origin, destination) {
        (Some(origin), Some(destination)) => {
            let end = destination.range.end;
            Some((end, Route { origin: Some(origin), destination: Some(destination), plain: true }))
        }
        (None, Some(destination)) => {
            Some((destination.range.end, Route { origin: None, destination: Some(destination), plain: true }))
        }
        (Some(origin), None) if gone || origin.sure == Sure::Known && is_travel(line) => {
            Some((origin.range.end, Route { origin: Some(origin), destination: None, plain: true }))
        }
        _ => None,
    }
}

/// Where the start's name ends at the latest, and where the goal's begins.
fn split(line: &Line<'_>, from: usize, stop: usize) -> (usize, Option<usize>) {
    let mut at = from;
    let mut name_end = None;
    while at < stop {
        if line.bracketed(at) {
            at += 1;
            continue;
        }
        if let Some(place) = line.place_at(at) {
            at = place.end;
            continue;
        }
        if let Some(goal) = cue(line, at, true) {
            return (name_end.unwrap_or(at), Some(goal));
        }
        if at > from
            && name_end.is_none()
            && (line.is(at, &BETWEEN)
                && !line.is(at, &["走马", "经贸", "经济", "经纬", "开发", "飞云", "坐落", "开心", "经开"])
                || line.is(at, PASSING))
        {
            name_end = Some(at);
        }
        at += 1;
    }
    // 从成都出发，去拉萨: the goal may stand behind a comma.
    let goal = (name_end.is_some() && stop < line.len())
        .then(|| names::skip_leads(line, stop, line.len().min(stop + 8)))
        .and_then(|at| cue(line, at, true).or_else(|| cue(line, at.saturating_sub(1), true)));
    (name_end.unwrap_or(stop), goal)
}

/// Where a word for "towards" ends, if one begins here.
fn cue(line: &Line<'_>, at: usize, framed: bool) -> Option<usize> {
    if let Some(end) = line.word(at, &TOWARDS).filter(|end| !line.is(end - 1, &NOT_TO)) {
        let arrives = line.char(end) == '达' && line.before(end) == '到' && line.place_at(end).is_none();
        return Some(end + usize::from(arrives));
    }
    let end = line.word(at, TO)?;
    let word = line.text(at..end);
    let before = line.before(at);
    let torn = NOT_TO_AFTER.iter().any(|(cue, chars)| *cue == word && chars.contains(&before));
    let beside = line.place_before(at).is_some();
    // 学到 is a word, 大学到 is none.
    let school = before == '学' && line.word_before(at, at.saturating_sub(2), &["大学", "中学", "小学"]).is_some();
    let torn = torn && !school && line.date_over(at - 1).is_none();
    if line.is(at, &NOT_TO) && line.place_at(end).is_none_or(|place| place.weak) || torn && !beside {
        return None;
    }
    let end = line.word(end, &["趟", "一趟", "了趟"]).unwrap_or(end);
    let needs = matches!(word, "飞" | "回" | "往") || word == "至" && !framed;
    (!needs || beside || line.place_at(end).is_some()).then_some(end)
}

/// A 离 B 多远.
fn apart(line: &Line<'_>, floor: usize, at: usize) -> Option<(usize, Route)> {
    let after = line.word(at, &["离", "距离", "距"])?;
    let clause = line.clause(at);
    let origin = names::leftward(line, floor.max(clause.start), at).filter(|name| name.range.end == at)?;
    let destination = names::rightward(line, after, clause.end)?;
    let end = destination.range.end;
    let asked =
        line.is(end, &["多远", "有多远", "远不远", "远吗", "近吗", "多少公里", "有多少公里", "多久", "大概多远"]);
    asked.then_some((end, Route { origin: Some(origin), destination: Some(destination), plain: true }))
}

/// A 到 B without 从, and 去 B alone.
fn to(line: &Line<'_>, floor: usize, at: usize, reminder: bool) -> Option<(usize, Route)> {
    let end = cue(line, at, false)?;
    let strong = line.is(at, &TOWARDS);
    let clause = line.clause(at);
    let destination = names::rightward(line, end, clause.end)?;
    let floor = floor.max(clause.start);
    let origin = origin_before(line, floor, at);
    let placed = origin.as_ref().is_some_and(|origin| origin.sure == Sure::Known) || destination.sure == Sure::Known;
    let wanted = strong || asks_way(line, destination.range.end, clause.end);
    let sure = match destination.sure {
        Sure::Known => true,
        Sure::Spot => !reminder && !line.text(destination.range.clone()).contains('个'),
        Sure::Place => (wanted || is_wished(line, floor, at, &destination)) && !reminder || placed && origin.is_some(),
    };
    let errand = line.is(end, &ERRANDS) && destination.sure == Sure::Place;
    if !sure || errand {
        return None;
    }
    let origin = origin.filter(|origin| origin.sure > Sure::Place || placed && !strong);
    Some((destination.range.end, Route { plain: origin.is_some() || wanted, origin, destination: Some(destination) }))
}

/// 我要去某某: nothing but a wish before, and nothing behind.
fn is_wished(line: &Line<'_>, floor: usize, at: usize, destination: &Name) -> bool {
    let wish = line.word_before(at, floor, &["我要", "我想", "我们要", "我们想", "我准备", "我打算"]);
    let whole = destination.range.end == line.clause(at).end && (3..=10).contains(&destination.range.len());
    line.is(at, &["去", "到"]) && wish == Some(floor) && whole
}

/// The name before a word for "towards", and the one after 在 before it.
fn origin_before(line: &Line<'_>, floor: usize, at: usize) -> Option<Name> {
    let within =
        (floor..at).rev().find(|at| line.is(*at, &["在"]) && !line.bracketed(*at) && line.place_over(*at).is_none());
    if let Some(within) = within {
        let name = names::rightward(line, within + 1, at)?;
        return Some(name).filter(|name| name.sure > Sure::Place);
    }
    let floor = (floor..at)
        .rev()
        .find(|at| line.is(*at, FROM) && line.place_over(*at).is_none())
        .map_or(floor, |from| from + 1);
    let mut end = at;
    while let Some(less) = line.word_before(end, floor, &["有没有", "有", "能不能", "能", "可以"]) {
        end = less;
    }
    let name = names::leftward(line, floor, end)?;
    let apart = line.contains(name.range.clone(), &["的", "我", "你", "下", "周末", "提醒", "怎么", "要", "想"]);
    let known = name.sure == Sure::Known;
    Some(name).filter(|name| name.range.end == end && (known || !apart && end == at))
}

/// Whether what follows a name asks for a way, or for something to ride.
fn asks_way(line: &Line<'_>, at: usize, stop: usize) -> bool {
    let rest = line.text(at..stop.max(at));
    let rest = rest.strip_prefix('的').unwrap_or(rest);
    ["怎么走", "怎么去", "怎么坐", "怎么到", "走高速", "不走", "多远", "多久", "最", "该怎么", "应该怎么", "要多", "堵"]
        .iter()
        .any(|word| rest.starts_with(word))
        || FARES.starts(rest).is_some()
}

fn is_travel(line: &Line<'_>) -> bool {
    line.contains(0..line.len(), &FARES)
}

/// 人民公园怎么走.
fn asked_way(line: &Line<'_>) -> Option<Route> {
    let at = (0..line.len()).find(|at| line.is(*at, ASKS_WAY))?;
    let floor = line.clause(at).start;
    let name = names::leftward(line, floor, at)?;
    let text: Range<usize> = name.range.clone();
    if line.contains(text, &["我", "你", "的"]) {
        return None;
    }
    Some(Route { origin: None, destination: Some(name), plain: true })
}
