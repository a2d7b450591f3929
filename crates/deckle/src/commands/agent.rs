//! The agent on a terminal, and the server.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use deckle_doc::Diag;
use deckle_server::{Started, Turns};
use deckle_store::{Notices, SessionId};
use deckle_wire::{Envelope, Event, Hello, Outcome, ToolState, TurnRequest};

use crate::arguments::Arguments;
use crate::context;
use crate::failure::Failure;
use crate::price::Price;
use crate::show::{self, Paint};

pub async fn run(
    arguments: &Arguments,
    request: Option<&str>,
    resume: Option<&str>,
    branch: Option<&str>,
    ndjson: bool,
    paint: &Paint,
) -> Result<(), Failure> {
    let model = context::model()?;
    Price::from_environment()?;
    let workspace = context::open(arguments).await?;
    let turns = context::turns(&workspace, Some(model)).await?;
    let message = match (request, resume) {
        (Some(request), _) => request.to_owned(),
        (None, Some(_)) => "Go on where you left off.".to_owned(),
        (None, None) => {
            return Err(Diag::new("usage", "there is no request")
                .hint("say what is to be done: `deckle agent \"add the v2 warning to every guide\"`")
                .into());
        }
    };
    let session = resume.map(SessionId::parse).transpose()?;
    let started = turns.start(session.as_ref(), &TurnRequest { message, branch: branch.map(str::to_owned) }).await?;
    let outcome = follow(&turns, &started, ndjson, paint).await?;
    match outcome {
        Some(Outcome::Done) => Ok(()),
        _ => Err(Failure::Silent(1)),
    }
}

/// Shows the events of a turn until its end; Ctrl-C asks the run to end.
pub async fn follow(turns: &Turns, started: &Started, ndjson: bool, paint: &Paint) -> Result<Option<Outcome>, Failure> {
    let mut events = turns.events(&started.session, started.after).await?;
    let live = std::io::stdout().is_terminal() && !ndjson;
    let mut screen = Screen { live, paint, price: Price::from_environment()?, line: String::new(), talking: false };
    if ndjson {
        say!("{}", serde_json::to_string(&Hello { session_id: started.session.to_string() }).unwrap_or_default());
    } else {
        say!("{}", paint.dim(&format!("session {}, branch {}", started.session, started.branch)));
    }
    let mut outcome = None;
    let mut asked = false;
    loop {
        let envelope = tokio::select! {
            envelope = events.recv() => envelope,
            _ = tokio::signal::ctrl_c(), if !asked => {
                asked = true;
                eprintln!("cancelling; what is written stays on the branch");
                turns.cancel(&started.session).await?;
                continue;
            }
        };
        let Some(envelope) = envelope else { break };
        if let Event::AgentDone { outcome: ended, .. } = &envelope.event {
            outcome = Some(*ended);
        }
        if ndjson {
            say!("{}", serde_json::to_string(&envelope).unwrap_or_default());
        } else {
            screen.show(&envelope, started)?;
        }
    }
    Ok(outcome)
}

/// One line a tool call, rewritten in place on a terminal.
struct Screen<'p> {
    live: bool,
    paint: &'p Paint,
    price: Option<Price>,
    line: String,
    talking: bool,
}

impl Screen<'_> {
    fn show(&mut self, envelope: &Envelope, started: &Started) -> Result<(), Failure> {
        let paint = self.paint;
        match &envelope.event {
            Event::AgentStatus { status, message } if status == "retrying" => {
                self.print(&paint.dim(&format!("… {}", message.as_deref().unwrap_or("retrying"))))?
            }
            Event::AgentMessage { text } => {
                say_part!("{text}");
                std::io::stdout().flush()?;
                self.talking = !text.ends_with('\n');
            }
            Event::AgentTool { name, state: ToolState::Started, arguments, .. } => {
                self.line = format!("{name}{}", subject(arguments.as_ref()));
                if self.live {
                    self.end_talk()?;
                    say_part!("  {} {}", paint.cyan("▸"), self.line);
                    std::io::stdout().flush()?;
                }
            }
            Event::AgentTool { state, documents, blocks, text, .. } => {
                if self.live {
                    say_part!("\r\u{1b}[2K");
                } else {
                    self.end_talk()?;
                }
                let counts = match (documents.unwrap_or(0), blocks.unwrap_or(0)) {
                    (0, 0) => String::new(),
                    (documents, 0) => format!(" · {}", show::count(documents as usize, "document")),
                    (documents, blocks) => {
                        format!(" · {}, {}", show::count(documents as usize, "document"), show::count(blocks as usize, "block"))
                    }
                };
                if *state == ToolState::Ok {
                    say!("  {} {}{}", paint.green("✓"), self.line, paint.dim(&counts));
                } else {
                    say!("  {} {} {}", paint.red("✗"), self.line, paint.red("refused, nothing written"));
                    for line in text.as_deref().unwrap_or_default().lines() {
                        say!("      {}", paint.dim(line));
                    }
                }
            }
            Event::AgentProgress { message, done, total } => {
                let of = match (done, total) {
                    (Some(done), Some(total)) => format!(" ({done}/{total})"),
                    _ => String::new(),
                };
                self.print(&format!("  {} {message}{of}", paint.dim("·")))?;
            }
            Event::AgentError { message, .. } => {
                self.end_talk()?;
                eprintln!("{message}");
            }
            Event::AgentDone { outcome, summary, branch, documents, blocks, usage } => {
                self.end_talk()?;
                let how = match outcome {
                    Outcome::Done => "done",
                    Outcome::Cancelled => "cancelled",
                    Outcome::Failed => "failed",
                    Outcome::Limit => "stopped at a limit",
                };
                let cost = self.price.map_or_else(String::new, |price| format!(", ${:.4}", price.of(usage)));
                say!(
                    "\n{} — {}, {}; {} tokens in, {} out{cost}",
                    paint.bold(how),
                    show::count(*documents as usize, "document change"),
                    show::count(*blocks as usize, "block"),
                    usage.input_tokens,
                    usage.output_tokens
                );
                if *outcome != Outcome::Done || summary.lines().count() > 1 || branch.is_none() {
                    say!("{summary}");
                }
                match branch {
                    Some(branch) => say!("the changes are on branch {}\nnext: deckle diff {branch}", paint.bold(branch)),
                    None => say!("nothing was written"),
                }
                if *outcome != Outcome::Done {
                    say!("to go on: deckle agent --resume {} \"…\"", started.session);
                }
            }
            Event::AgentStatus { .. }
            | Event::AgentThinking { .. }
            | Event::AgentNavigate { .. }
            | Event::AgentDocComplete { .. } => {}
        }
        Ok(())
    }

    fn print(&mut self, line: &str) -> Result<(), Failure> {
        self.end_talk()?;
        say!("{line}");
        std::io::stdout().flush()?;
        Ok(())
    }

    fn end_talk(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.talking) {
            say!();
        }
        Ok(())
    }
}

/// What a call is about, in a few words.
fn subject(arguments: Option<&serde_json::Value>) -> String {
    let Some(arguments) = arguments else { return String::new() };
    for name in ["key", "query", "message", "folder"] {
        if let Some(text) = arguments[name].as_str() {
            let cut: String = text.chars().take(50).collect();
            let to = arguments["to"].as_str().map(|to| format!(" → {to}")).unwrap_or_default();
            return format!(" {cut}{to}");
        }
    }
    String::new()
}

pub async fn serve(arguments: &Arguments, port: u16, redis: Option<&str>, lease: u64) -> Result<(), Failure> {
    let workspace = context::open(arguments).await?;
    // Without a model the server answers everything but new turns.
    let model = match context::model() {
        Ok(model) => Some(model),
        Err(error) => {
            eprintln!("{}", Diag::from(&error));
            None
        }
    };
    let mut config = context::turns_config(&workspace, model).await?;
    config.lease = Duration::from_secs(lease);
    if let Some(url) = redis {
        config.notices = Notices::redis(url).await?;
    }
    // Of several servers on one database, one goes on with what another left. In a folder, the person who ended the process decides.
    config.resume = workspace.folder().is_none();
    let resume = config.resume;
    let turns = Turns::new(config);
    let settled = turns.recover().await?;
    if settled > 0 {
        let done = if resume { "going on with" } else { "closed" };
        eprintln!("{done} {} that a process left when it died", show::count(settled, "turn"));
    }
    let stop = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    let listening = |address: std::net::SocketAddr| {
        let _ = writeln!(std::io::stdout(), "listening on http://{address}");
    };
    let watch = turns.clone();
    let served = async {
        tokio::select! {
            served = deckle_server::serve(turns, port, listening, stop) => served,
            () = watch.watch() => Ok(()),
            () = watch.watch_folder() => Ok(()),
        }
    };
    served.await.map_err(|error| {
        Failure::from(
            Diag::new("port", format!("port {port} cannot be used: {error}"))
                .hint("choose another with `--port`; 0 takes a free one"),
        )
    })
}
