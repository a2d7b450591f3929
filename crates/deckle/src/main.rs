//! The `deckle` command: the only crate that prints, reads the environment or exits.
#![allow(clippy::print_stderr)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

/// Prints a line. A reader that went away ends the command; `println!` would panic.
macro_rules! say {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($part)*)?;
    }};
}

/// Prints without a line end.
macro_rules! say_part {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        write!(std::io::stdout(), $($part)*)?;
    }};
}

mod arguments;
mod commands;
mod context;
mod demo;
mod failure;
#[cfg(test)]
mod manual;
mod price;
mod show;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::Arguments;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error[runtime]: {error}");
            return ExitCode::from(70);
        }
    };
    let outcome = runtime.block_on(commands::run(&arguments));
    // What still waits on a closed pipe must not hold the process.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print(arguments.json, show::colour(arguments.color));
            ExitCode::from(failure.exit_code())
        }
    }
}
