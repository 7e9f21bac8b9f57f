//! Names of places that are part of other names: a beer, a bank, a team, a song.

use super::find::Place;
use crate::slots::line::Line;
use crate::slots::words::Words;

/// What makes another thing of the name before it.
static AFTER: Words = Words::new(include_str!("../words/zh/blocked-after.txt"));

/// What begins like one of those and is about the place all the same.
static NOT_AFTER: Words = Words::new(include_str!("../words/zh/blocked-not-after.txt"));

/// What makes another word of the name after it.
const BEFORE: &[&str] = &["超", "首都师范", "新东方", "叫", "姓", "歌曲", "电影", "歌", "小说", "电视剧"];

/// Verbs after which a bare name is a title, not a place.
const TITLES: &[&str] = &["播放", "唱", "听歌", "朗读", "背诵"];

/// What may follow a title that was called for.
const AFTER_TITLE: &[&str] = &["的天气", "天气", "新闻", "的新闻", "电台", "广播", "交通"];

/// Whether a name is only part of another name.
pub(in crate::slots) fn is_blocked(line: &Line<'_>, place: &Place) -> bool {
    let before = line.text(place.start.saturating_sub(4)..place.start);
    if BEFORE.iter().any(|word| before.ends_with(word))
        || (line.is(place.end, &AFTER) && !line.is(place.end, &NOT_AFTER))
    {
        return true;
    }
    let titled = TITLES.iter().any(|verb| before.ends_with(verb));
    let led = is_latin(line.before(place.start)) || is_latin(line.char(place.end));
    (titled && !line.is(place.end, AFTER_TITLE)) || led
}

fn is_latin(char: char) -> bool {
    char.is_ascii_alphanumeric()
}
