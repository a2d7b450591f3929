//! `docs/cli.md`, made from what can be typed.

use clap::{ArgAction, Command, CommandFactory as _};

use crate::arguments::Arguments;

/// Returns the page.
fn page() -> String {
    let mut command = Arguments::command();
    command.build();
    let mut out = String::from(
        "# The command line\n\nGenerated from `deckle --help`; `UPDATE_DOCS=1 cargo test -p deckle` writes it anew.\n",
    );
    section(&mut out, &command, "deckle", 2);
    out
}

fn section(out: &mut String, command: &Command, name: &str, level: usize) {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    out.push_str(&format!("\n{} `{name}`\n\n{}\n", "#".repeat(level.min(4)), about.trim()));
    let mut usage = name.to_owned();
    let mut rows = Vec::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        if matches!(argument.get_id().as_str(), "help" | "version") || (level > 2 && argument.is_global_set()) {
            continue;
        }
        let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
        let values: Vec<String> = argument.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect();
        let takes = !matches!(argument.get_action(), ArgAction::SetTrue | ArgAction::Count);
        let form = if argument.is_positional() {
            let many = if matches!(argument.get_action(), ArgAction::Append) { "…" } else { "" };
            let shown = format!("{}{many}", values.join(" "));
            usage.push_str(&if argument.is_required_set() { format!(" {shown}") } else { format!(" [{shown}]") });
            shown
        } else {
            let names = [argument.get_short().map(|c| format!("-{c}")), argument.get_long().map(|long| format!("--{long}"))];
            let names: Vec<String> = names.into_iter().flatten().collect();
            if takes { format!("{} {}", names.join(", "), values.join(" ")) } else { names.join(", ") }
        };
        let defaults: Vec<String> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        let default = if takes && !defaults.is_empty() { format!(" (default: `{}`)", defaults.join(" ")) } else { String::new() };
        rows.push(format!("| `{}` | {}{default} |", form.replace('|', "\\|"), help.replace('\n', " ").replace('|', "\\|")));
    }
    let commands: Vec<&Command> = command.get_subcommands().filter(|one| one.get_name() != "help").collect();
    if commands.is_empty() {
        out.push_str(&format!(
            "\n```\n{usage}{}\n```\n",
            if rows.iter().any(|row| row.starts_with("| `-")) { " [OPTIONS]" } else { "" }
        ));
    }
    if !rows.is_empty() {
        out.push_str("\n| argument | |\n|---|---|\n");
        rows.iter().for_each(|row| out.push_str(&format!("{row}\n")));
    }
    for one in commands {
        section(out, one, &format!("{name} {}", one.get_name()), level + 1);
    }
}

#[test]
fn the_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(there == page, "docs/cli.md is stale; run `UPDATE_DOCS=1 cargo test -p deckle the_page_is_current`");
}

#[test]
fn the_command_line_is_consistent() {
    Arguments::command().debug_assert();
}
