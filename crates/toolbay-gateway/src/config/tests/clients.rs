//! Files of the clients themselves, as their documentation shows them.

use super::{lines, parse_at, parsed, remarks};
use crate::config::Fault;

/// What a file yields: each server in a line, then each remark that contains more than a place.
fn check(file: &str, text: &str, servers: &[&str], said: &[&str]) {
    let loaded = parse_at(file, text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(lines(&loaded), servers, "{text}");
    let remarks = remarks(&loaded);
    assert_eq!(remarks.len(), said.len(), "{remarks:#?}");
    for (remark, part) in remarks.iter().zip(said) {
        assert!(remark.contains(part), "{remark:?} should contain {part:?}");
    }
}

#[test]
fn claude_desktop_is_read() {
    check(
        "/home/ada/.config/Claude/claude_desktop_config.json",
        r#"{
          "globalShortcut": "Ctrl+Space",
          "mcpServers": {
            "filesystem": {
              "command": "npx",
              "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/Desktop"]
            },
            "github": { "command": "docker", "args": ["run", "-i"], "env": { "GITHUB_TOKEN": "ghp_x" } }
          }
        }"#,
        &[
            "filesystem run npx [-y] [@modelcontextprotocol/server-filesystem] [/home/ada/Desktop]",
            "github run docker [run] [-i] GITHUB_TOKEN=ghp_x",
        ],
        &["2:11 warning: `globalShortcut` is not a known key"],
    );
}

#[test]
fn claude_code_is_read() {
    check(
        "/work/project/.mcp.json",
        r#"{"mcpServers": {
          "api": { "type": "http", "url": "${API_BASE:-https://api.example.com}/mcp",
                   "headers": { "Authorization": "Bearer ${TOKEN}" } },
          "old": { "type": "sse", "url": "https://mcp.example.com/sse" },
          "local": { "type": "stdio", "command": "${HOME}/bin/server", "args": [], "env": { "PORT": "${PORT}" } }
        }}"#,
        &[
            "api http https://api.example.com/mcp authorization: Bearer s3cret",
            "old sse https://mcp.example.com/sse",
            "local run /home/ada/bin/server PORT=8080",
        ],
        &[],
    );
}

#[test]
fn cursor_is_read() {
    check(
        "/work/project/.cursor/mcp.json",
        r#"{"mcpServers": {
          "local": { "command": "python", "args": ["${workspaceFolder}/server.py"], "cwd": "tools",
                     "env": { "KEY": "${env:TOKEN}" }, "envFile": null },
          "remote": { "url": "http://localhost:3000/mcp", "headers": { "API_KEY": "value" } }
        }}"#,
        &[
            "local run python [/work/project/server.py] KEY=s3cret in /work/project/tools",
            "remote http http://localhost:3000/mcp api_key: value",
        ],
        &[],
    );
}

#[test]
fn vs_code_is_read_and_its_questions_are_explained() {
    check(
        "/work/project/.vscode/mcp.json",
        r#"{
          // asked once
          "inputs": [ { "type": "promptString", "id": "perplexity-key", "description": "API key", "password": true } ],
          "servers": {
            "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" },
            "perplexity": { "type": "stdio", "command": "npx", "args": ["-y", "server-perplexity-ask"],
                            "env": { "PERPLEXITY_API_KEY": "${input:perplexity-key}" } },
            "playwright": { "command": "npx", "args": ["-y", "@microsoft/mcp-server-playwright"],
                            "dev": { "watch": "x" }, "gallery": true, "sandboxEnabled": true },
          },
        }"#,
        &[
            "github http https://api.githubcopilot.com/mcp/",
            "perplexity broken: ${input:perplexity-key} is a question only VS Code can ask",
            "playwright run npx [-y] [@microsoft/mcp-server-playwright]",
        ],
        &[
            "3:11 warning: `inputs` are questions VS Code asks",
            "note: server `playwright`: `dev`",
            "`gallery`",
            "warning: server `playwright`: `sandboxEnabled`: it is not applied",
        ],
    );
}

#[test]
fn settings_of_vs_code_zed_amp_and_codex_are_read_with_a_note() {
    check(
        "/work/settings.json",
        r#"{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"a": {"command": "x"}}}}"#,
        &["a run x"],
        &["`mcp.servers` looks like VS Code's settings.json", "`editor.fontSize` is not a known key"],
    );
    check(
        "/work/settings.json",
        r#"{"mcp.servers": {"a": {"command": "x"}}}"#,
        &["a run x"],
        &["VS Code's settings.json"],
    );
    check(
        "/work/settings.json",
        r#"{"context_servers": {
             "new": {"source": "custom", "enabled": true, "command": "x", "args": ["1"], "env": {}},
             "old": {"command": {"path": "y", "args": ["2"], "env": {"A": "b"}}, "settings": {}},
             "off": {"enabled": false, "command": "z"},
             "far": {"url": "https://a.example/mcp"}
        }}"#,
        &["new run x [1]", "old run y [2] A=b", "off disabled", "far http https://a.example/mcp"],
        &["Zed's settings.json", "`source`", "`settings`"],
    );
    check("/work/s.json", r#"{"amp.mcpServers": {"a": {"command": "x"}}}"#, &["a run x"], &["Amp's settings.json"]);
    check(
        "/work/s.json",
        r#"{"mcp_servers": {"a": {"command": "x", "startup_timeout_sec": 20, "enabled_tools": ["t"]}}}"#,
        &["a run x"],
        &[
            "Codex's configuration",
            "is read as `startupTimeout`",
            "warning: server `a`: `enabled_tools`: it is not applied",
        ],
    );
}

#[test]
fn windsurf_gemini_cline_and_roo_are_read_with_notes() {
    check(
        "/home/ada/mcp.json",
        r#"{"mcpServers": {
          "w": { "serverUrl": "https://a.example/mcp" },
          "g": { "httpUrl": "https://b.example/mcp", "trust": true },
          "c": { "type": "streamableHttp", "url": "https://c.example/mcp", "autoApprove": ["x"], "timeout": 60, "disabled": false },
          "r": { "type": "streamable-http", "url": "https://d.example/mcp", "alwaysAllow": [], "disabledTools": ["rm"] },
          "l": { "type": "local", "command": "x", "tools": ["*"] }
        }}"#,
        &[
            "w http https://a.example/mcp",
            "g http https://b.example/mcp",
            "c http https://c.example/mcp",
            "r http https://d.example/mcp",
            "l run x",
        ],
        &[
            "`serverUrl` of Windsurf",
            "`httpUrl` of Gemini CLI",
            "`trust`",
            "`autoApprove`",
            "`alwaysAllow`",
            "warning: server `r`: `disabledTools`",
            "`tools`",
        ],
    );
}

#[test]
fn a_great_settings_file_gets_one_note() {
    let text =
        r#"{"numStartups": 1, "theme": "dark", "userID": "x", "projects": {}, "mcpServers": {"a": {"command": "x"}}}"#;
    check("/home/ada/.claude.json", text, &["a run x"], &["4 keys such as `numStartups` belong to another program"]);
}

#[test]
fn both_sections_are_merged_in_the_order_of_the_file() {
    let text = r#"{"servers": {"z": {"command": "1"}, "a": {"command": "2"}}, "mcpServers": {"m": {"command": "3"}}}"#;
    check("/work/x.json", text, &["z run 1", "a run 2", "m run 3"], &[]);
}

#[test]
fn a_file_without_servers_says_whose_it_looks_like() {
    fn check(text: &str, fault: Fault, problem: &str, remedy: &str) {
        let error = parsed(text).expect_err(text);
        assert_eq!(error.fault, fault, "{text}: {error}");
        assert!(error.problem.contains(problem), "{text}: {error}");
        assert!(error.remedy.contains(remedy), "{text}: {error}");
    }
    use Fault::{Foreign, Shape};
    check("[mcp_servers.a]\ncommand = \"x\"\n", Foreign, "Codex", "mcpServers");
    check("model = \"o\"\n\n[mcp_servers.a]\ncommand = \"x\"\n", Foreign, "Codex", "JSON file");
    check("extensions:\n  a:\n    cmd: x\n", Foreign, "goose", "command");
    check("mcpServers:\n  - name: a\n", Foreign, "YAML", "in JSON");
    check(r#"{"projects": {"/a": {"mcpServers": {}}}}"#, Foreign, ".claude.json", "copy");
    check(r#"{"permissions": {"allow": []}, "hooks": {}}"#, Foreign, "settings.json", ".mcp.json");
    check(r#"{"manifest_version": "0.3", "server": {"mcp_config": {}}}"#, Foreign, "bundle", "mcp_config");
    check(r#"{"name": "a/b", "packages": []}"#, Foreign, "server.json", "command");
    check(r#"{"extensions": {"a": {"cmd": "x"}}}"#, Foreign, "goose", "command");
    check(r#"{"mcp": {"a": {"type": "local", "command": ["x"]}}}"#, Foreign, "opencode", "mcpServers");
    check(r#"{"settings": {"mcpServers": {}}}"#, Shape, "inside `settings`", "top level");
    check(r#"{"a": {"b": {"mcpServers": {}}}}"#, Shape, "inside `a.b`", "top level");
    check(r#"{"command": "x", "args": []}"#, Shape, "one server without a name", "wrap");
    check(r#"{"a": {"command": "x"}, "b": {"url": "y"}}"#, Shape, "at the top level", "wrap");
    check(r#"{"mcpServer": {"a": {}}}"#, Shape, "`mcpServer` is not a known key", "did you mean `mcpServers`?");
    check(r#"{"MCPSERVERS": {}}"#, Shape, "not a known key", "`mcpServers`");
    check(r#"{"hello": 1}"#, Shape, "no `mcpServers` (its first key is `hello`)", "write {");
    check(r#"{"mcpServers": [{"name": "a"}]}"#, Shape, "`mcpServers` is a list", "write {");
    check(r#"{"mcp": {"servers": 1}}"#, Shape, "`mcp.servers` is a number", "write {");
}

#[test]
fn a_file_that_names_no_servers_is_no_error() {
    for text in ["{}", r#"{"$schema": "x", "_comment": 1}"#] {
        check("/x.json", text, &[], &["the file names no servers"]);
    }
    check("/x.json", r#"{"mcpServers": {}}"#, &[], &[]);
}
