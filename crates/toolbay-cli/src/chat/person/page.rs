//! A page that a server wants visited: shown with its host, opened on a yes alone.

use std::process::{Command, Stdio};

use toolbay_agent::{forms::Page, person::Answered};

use crate::chat::{
    exact,
    line::{Floor, Typed},
};

/// Asks whether the page is visited, and by whom it is opened.
pub(super) async fn visit(floor: &Floor<'_>, server: &str, message: &str, url: &str) -> Answered {
    floor.say(&format!("\nServer {} wants a page visited: {}", exact::text(server), exact::text(message)));
    let page = match Page::read(url) {
        Ok(page) => page,
        Err(why) => {
            floor.say(&format!("  {}\n  It is declined: {}", exact::text(url), exact::text(&why)));
            return Answered::Decline;
        }
    };
    floor.say(&format!("  host     {}\n  address  {}", page.host, page.address));
    page.warnings.iter().for_each(|warning| floor.say(&format!("  Careful: {}", exact::text(warning))));
    loop {
        match floor.answer("  [o] open it in the browser  [y] I open it myself  [n] no: ", "").await {
            Typed::Line(line) => match line.trim().to_lowercase().as_str() {
                "o" | "open" => match open(url) {
                    Ok(()) => return Answered::Accept(None),
                    Err(why) => floor.say(&format!("  it cannot be opened from here: {why}")),
                },
                "y" | "yes" => return Answered::Accept(None),
                "n" | "no" => return Answered::Decline,
                _ => floor.say("  o, y or n"),
            },
            Typed::Interrupted | Typed::End => return Answered::Cancel,
        }
    }
}

fn open(url: &str) -> std::io::Result<()> {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It is the browser's from here on.
    command.spawn().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::line::tests::{desk, lines};

    #[tokio::test]
    async fn a_page_is_shown_with_its_host_and_opened_by_nobody_unasked() {
        for (url, typed, expected, shown) in [
            ("https://id.example.com/a?b", vec!["", "y"], Answered::Accept(None), "host     id.example.com\n"),
            ("https://id.example.com:8443/", vec!["n"], Answered::Decline, "host     id.example.com:8443\n"),
            ("https://bank.com@evil.example/x", vec!["o"], Answered::Decline, "It is declined"),
            ("https://example.com/", vec![], Answered::Cancel, "address  https://example.com/"),
            ("file:///etc/passwd", vec!["o"], Answered::Decline, "It is declined"),
        ] {
            let (desk, kept, _) = desk(&lines(&typed));
            assert_eq!(visit(&desk.floor().await, "s", "please", url).await, expected, "{url}");
            assert!(kept.text().contains(shown), "{}", kept.text());
        }
    }
}
