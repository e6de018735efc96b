//! The command `portolan`.
//!
//! Everything that reads, writes or listens is here; `codemod` does the porting and `site` the pages, both without IO.
//! [`args`] defines the command line, [`project`] finds and reads the files, [`port`] passes them to the engine and
//! [`output`] writes the result to the requested place.

mod api;
mod args;
mod events;
mod explain;
mod forward;
mod guides;
mod interruption;
mod kit;
mod larcv;
mod launch_fields;
mod launch_project;
mod launch_script;
mod matrix;
mod messages;
mod notebook_shell;
mod output;
mod port;
mod project;
mod reading;
mod recipes;
mod rehearse;
mod replacement;
mod said;
mod sarif;
mod script_programs;
mod series;
mod serve;
mod site;
mod totals;
mod usage;

use crate::said::say_line;
use args::{Cli, Command, RecipesCommand, SiteCommand};
use clap::Parser;
use clap::error::ErrorKind;
use codemod::RecipeSet;
use std::process::ExitCode;

/// A port and a build of the site allocate many small objects on two threads; the allocator of the C library takes a
/// tenth of the time for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    interruption::let_writes_fail();
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) if error.kind() == ErrorKind::DisplayVersion => {
            return status(output::print(&version()).map(|()| true));
        }
        Err(error) => error.exit(),
    };
    let done = match command {
        Command::Port(args) => port::run(&args),
        Command::Rehearse(args) => rehearse::run(&args),
        Command::Matrix(args) => matrix::run(&args),
        Command::Api(args) => api::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Launch(args) => launch_script::run(&args),
        Command::Forward(args) => forward::run(&args),
        Command::Events(args) => events::run(&args),
        Command::Recipes(RecipesCommand::Test { dir, added }) => recipes::test(&dir, added),
        Command::Recipes(RecipesCommand::List { format }) => recipes::list(format),
        Command::Site(SiteCommand::Build(args)) => site::build(&args),
        Command::Site(SiteCommand::Serve(args)) => serve::run(args),
    };
    status(done)
}

/// What `--version` prints: the hash is the one in the certificates of this build's ports.
fn version() -> String {
    format!("portolan {}\nguides {}\n", env!("CARGO_PKG_VERSION"), RecipeSet::embedded().hash())
}

fn status(done: anyhow::Result<bool>) -> ExitCode {
    match done {
        Ok(true) if said::lost() => ExitCode::from(1),
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            say_line!("portolan: {error:#}");
            // A signal that came when nothing was left to be done changes nothing.
            let interrupted = interruption::came().filter(|_| error.is::<interruption::Interrupted>());
            ExitCode::from(interrupted.unwrap_or(if error.is::<usage::Usage>() { 2 } else { 1 }))
        }
    }
}
