//! Whole requests, and text that is none.

use super::{Day, Kind, Slot, prescribed, read};

fn slots(text: &str) -> Vec<Slot> {
    read(text, Day::new(2026, 3, 12))
}

fn check(text: &str, expected: &[(Kind, &str)]) {
    let slots = slots(text);
    let said: Vec<_> = slots.iter().map(|slot| (slot.kind, slot.value.as_str())).collect();
    assert_eq!(said, expected, "{text}");
    assert!(slots.iter().all(|slot| text[slot.span.clone()] == slot.value), "{text}");
    assert!(slots.iter().all(|slot| slot.confidence > 0.0 && slot.confidence <= 1.0), "{text}");
}

#[test]
fn several_slots_stand_in_one_sentence() {
    use Kind::{City, Count, Date, Destination, Location, Origin, Query, Repeat};
    check("北京市今天天气", &[(City, "北京市"), (Date, "今天")]);
    check("从海淀区到朝阳区怎么走", &[(Origin, "海淀区"), (Destination, "朝阳区")]);
    check("金华、衢州明天的天气", &[(City, "金华"), (City, "衢州"), (Date, "明天")]);
    check(
        "从台州到温州和从温州到丽水哪段近",
        &[(Origin, "台州"), (Destination, "温州"), (Origin, "温州"), (Destination, "丽水")],
    );
    check("明早送我去宁波栎社机场", &[(Date, "明早"), (Destination, "宁波栎社机场")]);
    check("每天早上七点叫我", &[(Repeat, "每天早上七点")]);
    check("给我推荐三家月湖公园附近的面馆", &[(Count, "三"), (Location, "月湖公园")]);
    check("帮我搜一首摇篮曲吧", &[(Query, "摇篮曲")]);
}

#[test]
fn a_place_within_another_name_is_no_city() {
    for text in
        ["扬州炒饭怎么做", "重庆大学多大", "超市关门了吗", "首都在哪一年改的", "大同小异", "合作愉快", "哈尔滨啤酒好喝"]
    {
        assert!(slots(text).iter().all(|slot| slot.kind != Kind::City), "{text}");
    }
}

#[test]
fn dates_mean_what_they_say_on_the_day_they_are_said() {
    // The twelfth of March 2026 is a Thursday.
    let check = |text: &str, value: &str, normal: &str| {
        let slots = slots(text);
        let date = slots.iter().find(|slot| matches!(slot.kind, Kind::Date | Kind::Repeat)).expect(text);
        assert_eq!(date.value, value, "{text}");
        assert_eq!(date.normal.map(|normal| normal.to_string()).unwrap_or_default(), normal, "{text}");
    };
    check("后天有雨吗", "后天", "2026-03-14");
    check("大大后天呢", "大大后天", "2026-03-16");
    check("下周三开会", "下周三", "2026-03-18");
    check("周一开会", "周一", "2026-03-16");
    check("周四开会", "周四", "2026-03-12");
    check("上周五的会", "上周五", "2026-03-06");
    check("这周末去爬山", "这周末", "2026-03-14/2026-03-15");
    check("下个月5号交稿", "下个月5号", "2026-04-05");
    check("10月1号放假", "10月1号", "2026-10-01");
    check("二月一日的账", "二月一日", "2027-02-01");
    check("二〇二七年三月五日", "二〇二七年三月五日", "2027-03-05");
    check("2026-04-09 有空吗", "2026-04-09", "2026-04-09");
    check("今年国庆去哪玩", "今年国庆", "2026-10-01/2026-10-07");
    check("明年春节是哪天", "明年春节", "2027-02-06/2027-02-12");
    check("明天下午三点半", "明天下午三点半", "2026-03-13T15:30");
    check("晚上八点一刻", "晚上八点一刻", "20:15");
    check("明天的早上六点", "明天的早上六点", "2026-03-13T06:00");
    check("未来三天有雪吗", "未来三天", "2026-03-12/2026-03-14");
    check("三天后出发", "三天后", "2026-03-15");
    check("10月1号到10月7号休息", "10月1号到10月7号", "2026-10-01/2026-10-07");
    check("三点到五点有课", "三点到五点", "03:00/05:00");
    check("每天早上七点", "每天早上七点", "07:00");
    check("最近有雨吗", "最近", "");
    check("半小时后叫我", "半小时后", "");
    check("rain on March 3?", "March 3", "2027-03-03");
    check("meet me next Wednesday at 3:30 pm", "next Wednesday at 3:30 pm", "2026-03-18T15:30");
    check("call me tomorrow", "tomorrow", "2026-03-13");
    check("what is new in the next 3 days", "next 3 days", "2026-03-12/2026-03-14");
    assert_eq!(read("明天有雨吗", None)[0].normal, None);
    assert_eq!(read("三点半开会", None)[0].normal.map(|normal| normal.to_string()), Some("03:30".to_owned()));
}

#[test]
fn what_only_looks_like_a_date_is_none() {
    for text in ["一点都不难", "快一点", "7号线怎么换乘", "今日头条", "三心二意", "早上好", "第3号选手", "最近的药店"]
    {
        assert!(slots(text).iter().all(|slot| slot.kind != Kind::Date), "{text}: {:?}", slots(text));
    }
}

#[test]
fn any_text_is_read_in_bounded_time_without_a_panic() {
    let pieces = [
        "从",
        "到",
        "去",
        "在",
        "北京",
        "乌鲁木齐市",
        "明天",
        "三点",
        "3",
        "：",
        "(",
        "（",
        ")",
        "，",
        "的",
        "附近",
        "查",
        "怎么走",
        "每",
        "\u{0}",
        "\u{200d}",
        "👨‍👩‍👧",
        "é",
        "\u{301}",
        "ﷺ",
        "\u{10ffff}",
        " ",
        "\n",
        "from ",
        "to ",
        "9",
        "十",
        "年",
        "月",
        "号",
        "%",
        "𠮷",
        "İ",
        "ß",
        "next ",
        "in ",
        "am",
    ];
    let mut state: u64 = 7;
    for round in 0..3_000 {
        let mut text = String::new();
        for _ in 0..round % 40 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[usize::try_from(state >> 33).unwrap() % pieces.len()]);
        }
        for slot in slots(&text).into_iter().chain(prescribed::read(&text)) {
            assert_eq!(text[slot.span.clone()], slot.value, "{text:?}");
            assert!(!slot.value.is_empty(), "{text:?}");
        }
    }
}

#[test]
fn a_megabyte_costs_no_more_than_its_first_two_thousand_characters() {
    for piece in ["从北京到", "查", "在", "(", "三", "from to ", "附近", "a", "到去", "的", "明天", "提醒", "北京上海"]
    {
        let long = piece.repeat(1_000_000 / piece.len());
        let short: String = long.chars().take(2_000).collect();
        assert_eq!(slots(&long), slots(&short), "{piece}");
        assert_eq!(prescribed::read(&long), prescribed::read(&short), "{piece}");
    }
}

/// What a request says, as `kind value = meaning`.
fn told(text: &str) -> Vec<String> {
    let slots = slots(text);
    let told = slots.iter().map(|slot| {
        let meaning = slot.normal.map(|normal| format!(" = {normal}")).unwrap_or_default();
        format!("{} {}{meaning}", slot.kind.name(), slot.value)
    });
    told.collect()
}

fn meaning(text: &str) -> Option<String> {
    let slots = slots(text);
    slots.iter().find(|slot| slot.kind == Kind::Date).and_then(|slot| slot.normal).map(|normal| normal.to_string())
}

#[test]
fn hours_stand_in_their_part_of_the_day() {
    for (text, expected) in [
        ("明天凌晨三点叫我", "2026-03-13T03:00"),
        ("明天夜里三点叫我", "2026-03-13T03:00"),
        ("明天半夜两点叫我", "2026-03-13T02:00"),
        ("明天夜里十一点叫我", "2026-03-13T23:00"),
        ("明天晚上八点叫我", "2026-03-13T20:00"),
        ("明天晚上十二点叫我", "2026-03-14T00:00"),
        ("今晚十二点叫我", "2026-03-13T00:00"),
        ("明天24点叫我", "2026-03-14T00:00"),
        ("wake me tonight at midnight", "2026-03-13T00:00"),
        ("明天中午一点叫我", "2026-03-13T13:00"),
        ("明天中午十二点叫我", "2026-03-13T12:00"),
        ("明天傍晚六点叫我", "2026-03-13T18:00"),
        ("明天下午三点叫我", "2026-03-13T15:00"),
        ("明天下午15点叫我", "2026-03-13T15:00"),
        ("明天早上七点叫我", "2026-03-13T07:00"),
        ("wake me tomorrow at 12am", "2026-03-13T00:00"),
        ("wake me tomorrow at 12pm", "2026-03-13T12:00"),
        ("wake me tomorrow at noon", "2026-03-13T12:00"),
        ("wake me tomorrow at 9:30 pm", "2026-03-13T21:30"),
    ] {
        assert_eq!(meaning(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn the_end_of_a_stretch_is_as_its_begin() {
    for (text, expected) in [
        ("下午三点到五点开会", "15:00/17:00"),
        ("明天上午九点到十一点开会", "2026-03-13T09:00/2026-03-13T11:00"),
        ("明天晚上十点到凌晨两点", "2026-03-13T22:00/2026-03-14T02:00"),
        ("明天上午十点到两点开会", "2026-03-13T10:00/2026-03-13T14:00"),
        ("从9点到5点上班", "09:00/17:00"),
        ("meet from 3:30 to 5 pm", "15:30/17:00"),
        ("3月10日到15日的酒店", "2026-03-10/2026-03-15"),
        ("这周五到周一", "2026-03-13/2026-03-16"),
        ("3月15日到18日的酒店", "2026-03-15/2026-03-18"),
        ("下周一到周三出差", "2026-03-16/2026-03-18"),
        ("a hotel from March 15 to 18", "2026-03-15/2026-03-18"),
        ("a hotel from March 15 to April 2", "2026-03-15/2026-04-02"),
        ("meet tomorrow from 3 to 5 pm", "2026-03-13T15:00/2026-03-13T17:00"),
        ("meet from 11 to 1 pm", "11:00/13:00"),
        ("open from 9am to 5pm", "09:00/17:00"),
        ("from Monday to Friday", "2026-03-16/2026-03-20"),
    ] {
        assert_eq!(meaning(text).as_deref(), Some(expected), "{text}: {:?}", told(text));
    }
}

#[test]
fn months_are_those_of_the_calendar() {
    for (text, expected) in [
        ("一个月后提醒我", "2026-04-12"),
        ("三个月前的账单", "2025-12-12"),
        ("未来两个月的安排", "2026-03-12/2026-05-11"),
        ("remind me in two months", "2026-05-12"),
        ("the next 3 months", "2026-03-12/2026-06-11"),
        ("国庆之后的机票", "2026-10-08"),
        ("春节前的机票", "2027-02-05"),
        ("on the coming Friday", "2026-03-13"),
        ("next Friday", "2026-03-20"),
        ("2040年中秋", "2040-09-20"),
        ("at 2026-03-15T15:30:00+08:00", "2026-03-15T15:30"),
    ] {
        assert_eq!(meaning(text).as_deref(), Some(expected), "{text}: {:?}", told(text));
    }
}

#[test]
fn what_is_no_place_is_none() {
    let places = [Kind::City, Kind::Origin, Kind::Destination, Kind::Location];
    for text in [
        "the weather in the next 3 days",
        "the forecast in two weeks",
        "the weather in March",
        "convert 100 from USD to EUR",
        "convert the file from JSON to YAML",
        "translate from English to French",
        "open from 9am to 5pm",
        "from Monday to Friday",
        "temperature in celsius, the weather in general",
        "把一百块从美元换成人民币",
        "从周一到周五都有课",
        "从英语翻译到中文",
        "change the status from open to closed",
        "rename it from foo to bar",
        "translate it in Swedish",
    ] {
        let found: Vec<_> =
            told(text).into_iter().filter(|slot| places.iter().any(|kind| slot.starts_with(kind.name()))).collect();
        assert!(found.is_empty(), "{text}: {found:?}");
    }
    assert_eq!(told("从香港中文大学到尖沙咀怎么走"), ["origin 香港中文大学", "destination 尖沙咀"]);
    assert_eq!(told("从香港大学到尖沙咀怎么走"), ["origin 香港大学", "destination 尖沙咀"]);
    let both = ["city Paris", "city London"];
    assert_eq!(told("weather in Paris and London"), both);
    assert_eq!(told("weather in Paris, London and Rome"), ["city Paris", "city London", "city Rome"]);
    assert_eq!(told("How do I get from Palm Springs to Long Beach"), ["origin Palm Springs", "destination Long Beach"]);
}
